"""How long a track takes, from its words and from what there is to do in it."""

import math
import re

from markdown_it import MarkdownIt

from app.lessons.markup.containers import containers_plugin
from app.lessons.source import Track

WORDS_A_MINUTE = 180
_TO_DO = {"quiz": 0.7, "widget": 0.7, "figure": 0.2, "figures": 0.3, "trace": 0.4, "code": 0.7, "download": 0.0, "chart": 0.5}  # minutes
_OUTLINE = MarkdownIt("commonmark", {"html": False}).use(containers_plugin)
_OUTLINE.core.ruler.enableOnly(["normalize", "block", "nest"])


def minutes(text: str, track: Track) -> int:
    """Minutes to read a track and to do what is in it; never less than one.

    >>> minutes("word " * 400 + "\\n\\n::: deep\\nmore\\n:::\\n", "plain")
    3
    """
    left_out: set[int] = set()
    fences = [token.map for token in _OUTLINE.parse(text, {"track": track, "left_out": left_out}) if token.type == "fence"]
    fenced = {line for span in fences if span for line in range(*span)}
    spent = 0.0
    for number, line in enumerate(text.split("\n")):
        if number in left_out:
            continue
        directive = re.match(r"\[\[(\w+)", line)
        if directive:
            spent += _TO_DO.get(directive[1], 0.0)
        elif number not in fenced:
            spent += len(re.sub(r"\{\{.*?\}\}|\$[^$]*\$", "x", line).split()) / WORDS_A_MINUTE
    return max(1, math.ceil(spent))
