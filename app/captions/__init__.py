"""One sentence for each event, written or spoken.

The sentence is the caption, the screen reader's line, the picture's description and the line in print. Each machine
has a module here with `sentence(voice, spec, moment)`; it says everything through a Voice, so that both forms come
from the same words.
"""

from collections.abc import Callable
from typing import Any

from app.captions import division, merge, online, passes, standard, tiled
from app.captions.voice import SPOKEN, WRITTEN, Voice
from app.machines.run import Moment

SENTENCES: dict[str, Callable[[Voice, Any, Moment], str]] = {
    "online-softmax": online.sentence,
    "softmax-passes": passes.sentence,
    "division-order": division.sentence,
    "merge": merge.sentence,
    "tiled-attention": tiled.sentence,
    "standard-attention": standard.sentence,
}

__all__ = ["SENTENCES", "SPOKEN", "WRITTEN", "Voice"]
