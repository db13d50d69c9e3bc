"""LaTeX to MathML, on the server. No style attribute comes out of it, since the site's policy forbids them."""

import re

from math_core import LatexError, LatexToMathML

from app.lessons.problems import Invalid

_CONVERTER = LatexToMathML(pretty_print="never", fancy_error=False, max_expansions=1000)
_ALIGNED = {
    "text-align: right;justify-items: end;padding-right: 0;": "cell-right",
    "text-align: left;justify-items: start;padding-left: 0;": "cell-left",
    "text-align: left;justify-items: start;padding-right: 0;": "cell-case",
    "text-align: left;justify-items: start;padding-right: 0;padding-left:1em;": "cell-when",
    "text-align: left;justify-items: start;": "cell-start",
    "text-align: right;justify-items: end;": "cell-end",
}
_STYLE = re.compile(r' style="([^"]*)"')
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 5000


def mathml(latex: str, display: bool) -> str:
    """MathML for a formula; Invalid with the converter's words where it cannot be read.

    >>> mathml("e^{-2}", False)
    '<math><msup><mi>e</mi><mrow><mo lspace="0" rspace="0">−</mo><mn>2</mn></mrow></msup></math>'
    >>> mathml(r"\\nope", False)
    Traceback (most recent call last):
    ...
    app.lessons.problems.Invalid: this formula cannot be read: Unknown command "\\nope"
    """
    if len(latex) > LONGEST:
        raise Invalid(f"a formula of {len(latex):,} letters: at most {LONGEST:,} are allowed")
    try:
        found = str(_CONVERTER.convert_with_local_state(latex, displaystyle=display))
    except LatexError as error:
        words = [line.strip() for line in _ANSI.sub("", str(error)).splitlines() if line.strip()]
        said = re.sub(r"^(Error:|\d+:)\s*", "", words[0]) if words else "unknown"
        raise Invalid(f"this formula cannot be read: {said.rstrip('.')}") from None

    def classed(match: re.Match[str]) -> str:
        if match[1] not in _ALIGNED:
            raise Invalid("a formula cannot carry a colour or a style here: leave it out")
        return f' class="{_ALIGNED[match[1]]}"'

    return _STYLE.sub(classed, found)


def as_latex(text: str) -> str:
    """A written number inside a formula.

    >>> as_latex("−1.5\\xa0×\\xa010³⁸"), as_latex("[1, ∞]"), as_latex("1,000")
    ('-1.5 \\\\times 10^{38}', '[1, \\\\infty ]', '1{,}000')
    """
    powers = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"^{{{found[0].translate(powers)}}}", text)
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "{,}", text)
    text = (
        re.sub(r"\s*×\s*", r" \\times ", text.replace("\xa0", " ")).replace("−", "-").replace("∞", "\\infty ").replace("NaN", "\\text{NaN}")
    )
    if re.search(r"[#$%&_~]", text):
        raise Invalid(f"{text[:40]!r} cannot stand in a formula")
    return text
