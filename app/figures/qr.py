"""A link as a QR code, for paper and for the back row of a lecture hall."""

from io import BytesIO

import segno

MOST = 2953  # bytes that the largest code holds at its lowest redundancy


class TooLong(ValueError):
    """A link that no QR code holds."""


def qr(link: str, title: str = "", desc: str = "") -> str:
    """The code as SVG, black on white in any theme: a camera needs the contrast, and the quiet edge.

    Raises TooLong past 2,953 bytes.

    >>> found = qr("https://tilewise.example/widgets/online-softmax?scores=1,3&format=float32&step=2", "A step")
    >>> found.startswith("<svg"), "<title>A step</title>" in found, "viewBox" in found, "style" in found
    (True, True, True, False)
    """
    if len(link.encode()) > MOST:
        raise TooLong(f"this link has {len(link.encode()):,} bytes, and a QR code holds {MOST:,}: give fewer numbers, or a seed.")
    try:
        code = segno.make_qr(link, error="m")  # a quarter of it may be spoilt
    except segno.DataOverflowError:
        code = segno.make_qr(link, error="l")
    out = BytesIO()
    code.save(
        out, kind="svg", scale=8, border=4, dark="#000", light="#fff", xmldecl=False, nl=False, svgclass=None, lineclass=None,
        title=title or None, desc=desc or None, omitsize=True,
    )  # fmt: skip
    side = 8 * code.symbol_size(border=4)[0]
    return out.getvalue().decode().replace("<svg ", f'<svg width="{side}" height="{side}" ', 1)
