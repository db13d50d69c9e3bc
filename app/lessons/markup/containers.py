"""Containers: from a line `::: name Title` to a bare `:::`, which closes the one opened last, however many colons it has.

The container plugin of mdit-py-plugins closes an outer container at the first `:::` of as many colons, so it does not fit. Here each such line is
one token, and `nest` pairs them; a track that is not shown is dropped with all its tokens, before anything in it is read or computed.
"""

import re
from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from app.lessons.source import TRACKS

Env = MutableMapping[str, Any]
ADMONITIONS = ("note", "warning", "tip")
NAMES = (*TRACKS, *ADMONITIONS, "answer", "summary")
_COLONS = re.compile(r":{3,}[ \t]*(\S*)[ \t]*(.*?)[ \t]*")
_INDENTED = re.compile(r":{3,}(?:[ \t].*)?")


def containers_plugin(md: MarkdownIt) -> None:
    md.block.ruler.before("fence", "container", _line, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.core.ruler.after("block", "nest", _nest)
    for name, rule in {"container_open": _open, "container_titled": _titled, "container_close": _close}.items():
        md.add_render_rule(name, rule)


def _wrong(env: Env, line: int, words: str) -> None:
    if "context" in env:
        env["context"].wrong(line + 1, words)


def _line(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    start = state.bMarks[first] + state.tShift[first]
    text = state.src[start : state.eMarks[first]]
    found = _COLONS.fullmatch(text)
    if found is None or state.is_code_block(first):
        return False
    if start and state.src[start - 1] != "\n":
        if _INDENTED.fullmatch(text):
            _wrong(state.env, first, "a container's ::: starts at the left margin")
        return False
    if not silent:
        token = state.push("container", "", 0)
        token.info, token.content, token.map = found[1], found[2], [first, first + 1]
        state.line = first + 1
    return True


def _nest(state: StateCore) -> None:
    """Pairs of lines become containers; the tokens of other tracks than env["track"] go."""
    tokens, env = [], state.env
    opened: list[Token] = []

    def shown() -> bool:
        return all(box.info not in TRACKS or box.info == env.get("track") for box in opened)

    for token in state.tokens:
        first, last = token.map or (0, 0)
        if token.type == "fence" and not _is_closed(token, state.src):
            _wrong(env, first, "a code fence is not closed")
        if token.type != "container":
            if shown():
                tokens.append(token)
            elif token.type == "footnote_reference_open":
                del env["footnotes"]["refs"][f":{token.meta['label']}"]
        elif token.info:
            if token.info not in NAMES:
                _wrong(env, first, f"there is no container {token.info!r}: use {', '.join(NAMES)}")
            outer = next((box.info for box in opened if box.info in TRACKS), None)
            if outer and token.info in TRACKS:
                _wrong(env, first, f"::: {token.info} inside ::: {outer}: tracks do not nest")
            opened.append(token)
            if shown() and token.info not in TRACKS:
                tokens += _opening(token)
        elif not opened:
            _wrong(env, first, "this ::: closes nothing")
        else:
            visible, box = shown(), opened.pop()
            if visible and box.info not in TRACKS:
                tokens.append(Token("container_close", "", -1, info=box.info))
            if "left_out" in env and box.map and box.info in TRACKS:
                env["left_out"].update((box.map[0], first) if visible else range(box.map[0], last))
    for box in opened:
        _wrong(env, (box.map or [0])[0], f"::: {box.info} is not closed")
    state.tokens = tokens


def _is_closed(fence: Token, source: str) -> bool:
    first, last = fence.map or (0, 0)
    return last - first > 1 and source.split("\n")[last - 1].strip(" \t>").startswith(fence.markup)


def _opening(mark: Token) -> list[Token]:
    title = Token("inline", "", 0, content=mark.content, map=mark.map, children=[])
    return [
        Token("container_open", "", 1, info=mark.info, map=mark.map, block=True),
        title,
        Token("container_titled", "", 0, info=mark.info),
    ]


def _open(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    name = tokens[place].info
    if name == "answer":
        return '<details class="answer"><summary>'
    if name == "summary":
        return '<div class="box-summary" role="note" aria-label="Summary"><p class="box-title">'
    word = name.capitalize() if name in ADMONITIONS else ""
    colon = ": " if tokens[place + 1].content else ""
    return f'<div class="admonition {escape(name)}" role="note"><p class="box-title"><span class="word">{word}{colon}</span>'


def _titled(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    if tokens[place].info == "answer":
        return f"{'' if tokens[place - 1].content else 'Show the answer'}</summary>\n<div>"
    return "</p>\n"


def _close(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    return "</div></details>\n" if tokens[place].info == "answer" else "</div>\n"
