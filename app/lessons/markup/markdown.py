"""Markdown to HTML: CommonMark with tables, footnotes, formulas, containers, and lines in double brackets.

HTML in the text is shown as text, so a lesson cannot carry script. No style attribute comes out: the site's policy forbids them.
"""

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from app.lessons.markup import directives, links
from app.lessons.markup.code import coloured
from app.lessons.markup.containers import Env, containers_plugin
from app.lessons.markup.context import Context, Heading
from app.lessons.markup.latex import as_latex, mathml
from app.lessons.problems import Invalid

_NAMED = re.compile(r"\s*\{#([A-Za-z][\w-]*)\}\s*$")
_PLACED = re.compile(r"\[\[[ \t]*[a-z]+(?:[ \t].*)?\]\][ \t]*$")


def html(text: str, context: Context) -> str:
    """The page of a text whose expressions are marked. What is wrong with it is in `context.problems`.

    >>> from app.lessons.expressions.sandbox import Scope
    >>> context = Context("a", "a.md", "plain", Scope(), None)
    >>> print(html(context.mark("So {{ (1 / 8) | to(2) }} is *less* than $e^0$."), context).strip())
    <p>So 0.13 is <em>less</em> than <math><msup><mi>e</mi><mn>0</mn></msup></math>.</p>
    """
    context.lines = text.split("\n")
    context.inline = lambda words, line: str(_MARKDOWN.renderInline(words, {"context": context, "at": line}))
    return str(_MARKDOWN.render(text, {"context": context, "track": context.track}))


def _blocks(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A line in double brackets. A caption may run over several lines, up to the closing brackets."""
    if state.is_code_block(first) or not state.src.startswith("[[", state.bMarks[first] + state.tShift[first]):
        return False
    line, text = first, ""
    while line < last and not state.isEmpty(line):
        text += ("\n" if text else "") + state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        line += 1
        if text.rstrip().endswith("]]"):
            break
    if not _PLACED.fullmatch(text.replace("\n", " ")):
        return False
    if silent:
        return True
    token = state.push("placed", "", 0)
    token.content, token.map = text.replace("\n", " ").strip(), [first, line]
    state.line = line
    return True


def _name_headings(state: StateCore) -> None:
    """{#name} at a heading's end is its id."""
    for token, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if token.type == "heading_open":
            found = _NAMED.search(inline.content)
            if found:
                inline.content = inline.content[: found.start()]
                token.meta["id"] = found[1]


def _fill(state: StateCore) -> None:
    """Expressions' values where text is; as typed inside code. Then what depends on the text: headings, links, cells."""
    context: Context = state.env["context"]
    span: Any = None
    for place, token in enumerate(state.tokens):
        if token.map:
            span = token.map
        if token.type == "inline":
            _fill_inline(context, token.children or [], _span(state.env, span))
        elif token.type in ("fence", "code_block"):
            values = token.type == "fence" and token.info.split()[1:] == ["values"]
            token.content = context.filled(token.content) if values else context.typed(token.content)
        elif token.type == "heading_open":
            following = state.tokens[place + 1]
            _fill_inline(context, following.children or [], token.map)
            _heading(context, token, following)
        elif token.type in ("td_open", "th_open"):
            side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
            if side:
                token.attrs["class"] = side
        token.meta.setdefault("span", span)


def _span(env: Env, span: Any) -> Any:
    return [env["at"] - 1, env["at"]] if "at" in env else span


def _fill_inline(context: Context, children: list[Token], span: Any) -> None:
    for token in children:
        if token.meta.get("filled"):
            continue
        token.meta["filled"], token.meta["span"] = True, span
        if token.type == "text":
            token.content = context.filled(token.content)
        elif token.type == "code_inline":
            token.content = context.typed(token.content)
        elif token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            line = context.line_of(span, href.split("%")[0])
            try:
                token.attrs["href"] = links.resolved(context, href, line)
            except Invalid as error:
                context.wrong(line, str(error))
        elif token.type == "image":
            context.wrong(context.line_of(span, "!["), "pictures come from the machines: use [[figure …]]")
        _fill_inline(context, token.children or [], span)


def _heading(context: Context, token: Token, inline: Token) -> None:
    line = (token.map or [0])[0] + 1
    level = int(token.tag[1])
    title = "".join(one.content for one in inline.children or [] if one.type in ("text", "code_inline", "math_inline"))
    before = context.headings[-1].level if context.headings else 1
    if level == 1:
        context.wrong(line, "the title is in the front matter: headings start at ##")
    elif level > before + 1:
        context.wrong(line, f"a heading of level {level} after one of level {before}: none may be skipped")
    name = context.name(token.meta.get("id") or slug(title), line)
    token.attrs["id"] = name
    context.headings.append(Heading(level, name, title))


def slug(title: str) -> str:
    """A name made from words.

    >>> slug("Why one factor is enough!")
    'why-one-factor-is-enough'
    """
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-") or "section"


def _maths(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    token, context = tokens[place], env["context"]
    display = token.type != "math_inline"
    line = context.line_of(_span(env, token.map or token.meta.get("span")), token.content.strip().split("\n")[0])
    try:
        found = mathml(context.filled_maths(token.content, as_latex).strip(), display)
    except Invalid as error:
        context.wrong(line, str(error))
        return "?"
    return f'<div class="formula" tabindex="0" role="group" aria-label="Formula">{found}</div>\n' if display else found


def _fence(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    token, context = tokens[place], env["context"]
    language = (token.info.split() or ["text"])[0]
    try:
        return code_box(coloured(token.content, language))
    except Invalid as error:
        context.wrong((token.map or [0])[0] + 1, str(error))
        return ""


def code_box(coloured_code: str) -> str:
    return f'<pre class="code" tabindex="0" role="group" aria-label="Code"><code>{coloured_code}</code></pre>\n'


def _placed(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    token, context = tokens[place], env["context"]
    line = (token.map or [0])[0] + 1
    try:
        return directives.made(context, token.content, line)
    except Invalid as error:
        context.wrong(line, str(error))
        return ""


def _table_open(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    return "</table></div>\n"


def _backref(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env) -> str:
    name = self.rules["footnote_anchor_name"](tokens, place, options, env)
    return f' <a href="#fnref{name}" class="footnote-backref" aria-label="Back to the text">↩︎</a>'


def _made() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    md.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=False)
    md.use(footnote_plugin).use(containers_plugin)
    above: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "placed", _blocks, above)
    md.core.ruler.before("inline", "name_headings", _name_headings)
    md.core.ruler.push("fill", _fill)
    rules = {
        "math_inline": _maths, "math_inline_double": _maths, "math_block": _maths, "fence": _fence, "code_block": _fence, "placed": _placed,
        "table_open": _table_open, "table_close": _table_close,
        "footnote_anchor": _backref,
    }  # fmt: skip
    for name, rule in rules.items():
        md.add_render_rule(name, rule)
    return md


_MARKDOWN = _made()
