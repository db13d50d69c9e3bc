"""What an author pastes: a state as a link, a frame, a picture or a line of TeX, each escaped for where it goes."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import parse_qsl, quote

from app.machines import MACHINES
from app.stories import BY_NAME

# width of a frame where its host does not say
FRAME_WIDTH = 720
CARD = (1200, 630)  # the size of a link's picture that chats and social sites ask for
THUMB = (400, 210)
# what a widget leaves out on a slide, and the room it then takes
SLIDE = {"controls": "step", "hide": "legend,note,credit,table,ledger,readout,verdict,exact"}
SLIDE_SIZE = (960, 540)
_SHOWN = 800  # width at which a picture is shown; a figure that says its own size is shown at that


@dataclass(frozen=True)
class Share:
    """The addresses of one state and what to paste for it. Everything is text, ready to be copied; escape it to show it.

    title, caption   what it is called, and the sentence that says it: a picture's alt text
    page … script    see `share`
    """

    title: str
    caption: str
    page: str
    embed: str
    svg: str
    png: str
    card: str
    gif: str
    csv: str
    json: str
    qr: str
    oembed: str
    link: str
    iframe: str
    slide: str
    jsx: str
    notebook: str
    markdown: str
    html: str
    latex: str
    script: str

    @property
    def snippets(self) -> tuple[tuple[str, str, str], ...]:
        """Name, label and text of each thing to paste, in the order that a menu shows them."""
        return (
            ("link", "Link", self.link),
            ("iframe", "Frame (iframe)", self.iframe),
            ("script", "Script element", self.script),
            ("slide", "Slides (a frame of fixed height)", self.slide),
            ("jsx", "JSX and MDX", self.jsx),
            ("notebook", "Notebook (Python)", self.notebook),
            ("html", "Picture with link (HTML), also for print", self.html),
            ("markdown", "Picture with link (Markdown)", self.markdown),
            ("latex", "LaTeX", self.latex),
        )

    @property
    def downloads(self) -> tuple[tuple[str, str, str], ...]:
        """Name, label and address of each file."""
        return (
            ("svg", "Picture, SVG", self.svg),
            ("png", "Picture, PNG", self.png),
            ("gif", "The whole run, moving (GIF)", self.gif),
            ("csv", "The run's numbers, CSV", self.csv),
            ("json", "The run's snapshots, JSON", self.json),
            ("qr", "QR code of the link, SVG", self.qr),
        )


def share(
    shot: Mapping[str, Any], root: str, options: Mapping[str, str] | None = None, size: tuple[int, int] | None = None, extra: str = ""
) -> Share:
    """A snapshot's addresses and snippets.

    shot      a snapshot with a page of its own (its links have "page")
    root      where the site is, as its readers see it: https://host/path, without a slash at its end
    options   what an embed's address says besides spec and step, such as theme
    size      the figure's own width and height; where left out, a width and no height
    extra     what the page's link says besides, such as "&beside=other"

    Raises KeyError for a run too long for a page.

    >>> from app.runs import snapshot
    >>> online = MACHINES["online-softmax"]
    >>> found = share(snapshot(online, online.spec(scores=(1.0, 3.0)), 2), "https://tilewise.example")
    >>> found.link
    'https://tilewise.example/widgets/online-softmax?scores=1,3&format=float32&step=2'
    >>> found.script.splitlines()[1]
    '<tilewise-widget machine="online-softmax" scores="1,3" format="float32" step="2">'
    """
    machine, links = MACHINES[shot["machine"]], shot["links"]
    title = f"{machine.title}, step {shot['step']} of {shot['steps']}"
    caption = str(shot["caption"])
    page = f"{root}/{links['page']}{extra}"
    query = links["page"].partition("?")[2]
    chosen = {name: value for name, value in (options or {}).items() if value}
    bare = f"{root}/{links['embed']}"
    embed = bare + _more(chosen)
    slide = bare + _more(chosen | SLIDE)
    png = f"{root}/{links['png']}"
    run = query.partition("&step=")[0]  # a file of the whole run has one address, whatever the step
    figure = {ending: f"{root}/figures/{machine.name}.{ending}?{run}" for ending in ("gif", "csv", "json")}
    width, height = size or (_SHOWN, 0)
    picture = _element("img", src=png, alt=caption, width=width, height=height or None, loading="lazy", style="max-width:100%;height:auto")
    fields = dict(parse_qsl(query, keep_blank_values=True))
    step = fields.pop("step")
    element = _element("tilewise-widget", machine=machine.name, **fields, step=step, **chosen)
    here = _element("a", href=page)
    return Share(
        title=title,
        caption=caption,
        page=page,
        embed=embed,
        svg=f"{root}/{links['svg']}",
        png=png,
        card=f"{png}&size=card",
        gif=figure["gif"],
        csv=figure["csv"],
        json=figure["json"],
        qr=f"{root}/figures/{machine.name}.qr.svg?{query}",
        oembed=f"{root}/oembed?url={quote(page, safe='')}&format=json",
        link=page,
        iframe=iframe(embed, page, title, FRAME_WIDTH, frame_height(machine.name)),
        slide=iframe(slide, page, title, *SLIDE_SIZE),
        jsx=jsx(embed, page, title, frame_height(machine.name)),
        notebook=f"from IPython.display import IFrame\n\nIFrame({json.dumps(embed)}, width={FRAME_WIDTH}, height={frame_height(machine.name)})",
        markdown=f"[![{_markdown(caption)}]({png})]({page})",
        html=f"{here}{picture}</a>",
        latex=latex(page, png, f"{machine.name}-step-{shot['step']}", title, caption),
        script=f'<script src="{escape(root)}/static/embed.js" async></script>\n{element}\n{here}{picture}</a>\n</tilewise-widget>',
    )


def frame_height(name: str) -> int:
    """The height at which a widget is of use in a frame whose host does not listen."""
    return BY_NAME[name].frame_height


def iframe(embed: str, page: str, title: str, width: int, height: int) -> str:
    """A frame that waits until it is near the screen, never wider than its column, and a link after it, which stays where frames are taken out.

    >>> print(iframe("https://a.example/e?x=1&y=2", "https://a.example/p", 'A "title"', 720, 400))
    <iframe src="https://a.example/e?x=1&amp;y=2" title="A &quot;title&quot;" width="720" height="400" loading="lazy" style="max-width:100%;border:0"></iframe>
    <p><a href="https://a.example/p">A &quot;title&quot;</a></p>
    """
    frame = _element("iframe", src=embed, title=title, width=width, height=height, loading="lazy", style="max-width:100%;border:0")
    return f"{frame}</iframe>\n{_link(page, title)}"


def jsx(embed: str, page: str, title: str, height: int) -> str:
    """The same as JSX, where a style is no text and every tag is closed; MDX takes it too.

    >>> print(jsx("https://a.example/e?x=1&y=2", "https://a.example/p", "A {title}", 400))
    <iframe src="https://a.example/e?x=1&amp;y=2" title="A &#123;title&#125;" width="100%" height="400" loading="lazy" />
    <p><a href="https://a.example/p">A &#123;title&#125;</a></p>
    """
    frame = _element("iframe", src=embed, title=title, width="100%", height=height, loading="lazy").removesuffix(">") + " />"
    return f"{frame}\n{_link(page, title)}".replace("{", "&#123;").replace("}", "&#125;")


def _link(page: str, title: str) -> str:
    return f"<p>{_element('a', href=page)}{escape(title)}</a></p>"


def _more(options: Mapping[str, str]) -> str:
    return "".join(f"&{name}={quote(value, safe=',')}" for name, value in options.items())


def latex(page: str, png: str, file: str, title: str, caption: str) -> str:
    """A figure for a paper: the downloaded picture, linked, its caption, and the link in words.

    >>> print(latex("https://a.example/p?x=1,2&y=50%25", "https://a.example/p.png", "p-step-2", "P, step 2", "ℓ is 50% of 2"))
    % Needs \\usepackage{graphicx} and \\usepackage{hyperref}. Save the picture beside this file as p-step-2.png:
    % https://a.example/p.png
    \\begin{figure}
      \\centering
      \\href{https://a.example/p?x=1,2\\&y=50\\%25}{\\includegraphics[width=\\linewidth]{p-step-2.png}}
      \\caption{$\\ell$ is 50\\% of 2}
      \\href{https://a.example/p?x=1,2\\&y=50\\%25}{Step through it: P, step 2}
    \\end{figure}
    """
    target = re.sub(r"[%#&]", r"\\\g<0>", re.sub(r"[\\{}^~\s]", lambda found: quote(found[0]).replace("~", "%7E"), page))
    return (
        f"% Needs \\usepackage{{graphicx}} and \\usepackage{{hyperref}}. Save the picture beside this file as {file}.png:\n"
        f"% {png}\n"
        "\\begin{figure}\n  \\centering\n"
        f"  \\href{{{target}}}{{\\includegraphics[width=\\linewidth]{{{file}.png}}}}\n"
        f"  \\caption{{{tex(caption)}}}\n"
        f"  \\href{{{target}}}{{Step through it: {tex(title)}}}\n"
        "\\end{figure}"
    )


_TEX = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "%": "\\%", "&": "\\&", "#": "\\#", "_": "\\_", "$": "\\$",
    "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''",
    "−": "$-$", "×": "$\\times$", "·": "$\\cdot$", "∞": "$\\infty$", "≈": "$\\approx$", "≤": "$\\le$", "≥": "$\\ge$", "≠": "$\\ne$",
    "ℓ": "$\\ell$", "α": "$\\alpha$", "√": "$\\surd$", "ᵀ": "$^{T}$", "½": "1/2", "→": "$\\to$", "Σ": "$\\Sigma$", "∑": "$\\sum$",
    "’": "'", "‘": "`", "“": "``", "”": "''", "–": "--", "—": "---", "…": "\\ldots{}", "\u00a0": "~", "\u2009": "\\,", "\u202f": "\\,",
}  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋₊", "0123456789-+")


def tex(words: str) -> str:
    """Words for TeX: its own signs escaped, and the letters of our captions as any engine knows them.

    >>> tex("100% of a_b: 3.40×10³⁸ − ∞")
    '100\\\\% of a\\\\_b: 3.40$\\\\times$10$^{38}$ $-$ $\\\\infty$'
    """
    parts = re.split(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+|[₀₁₂₃₄₅₆₇₈₉₋₊]+)", " ".join(words.split()))
    found = []
    for at, part in enumerate(parts):
        if at % 2:
            found.append(f"$^{{{part.translate(_RAISED)}}}$" if part[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺" else f"$_{{{part.translate(_LOWERED)}}}$")
        else:
            found.append("".join(_TEX.get(letter, letter) for letter in part))
    return "".join(found)


def _element(name: str, **attributes: Any) -> str:
    said = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items() if value is not None)
    return f"<{name}{said}>"


def _markdown(words: str) -> str:
    """Words inside a picture's brackets: nothing in them ends the brackets or starts markup."""
    return re.sub(r"[\\`*_\[\]<>!|~&]", r"\\\g<0>", " ".join(words.split()))
