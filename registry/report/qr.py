"""QR codes as SVG. The one door to segno."""

from io import BytesIO

import segno
from markupsafe import Markup


def draw_qr(text: str) -> Markup:
    """Return a QR code of *text* as SVG with a title; level M, so that it survives a bad copy."""
    buffer = BytesIO()
    segno.make(text, error="m", micro=False).save(
        buffer,
        kind="svg",
        xmldecl=False,
        svgns=True,
        border=2,
        scale=3,
        title="QR code: " + text.replace("\n", ", "),
        nl=False,
        omitsize=False,
        light="#ffffff",
    )
    return Markup(buffer.getvalue().decode())  # noqa: S704  (segno escapes the title)
