"""The style sheet and the fonts of a site: files that are named by their digest, so that they never change."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache

from registry.configuration import find_resource
from registry.report.font_subset import FACES
from registry.report.html_rendering import read_template

_DIGITS = 16


def _name(data: bytes, ending: str) -> str:
    return f"/assets/{hashlib.sha256(data).hexdigest()[:_DIGITS]}.{ending}"


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r'("[^"]*")')
_AROUND = re.compile(r"\s*([{};,])\s*|(?<=:)\s+")


def _shorten(style: str) -> str:
    """Return a style sheet without comments and without blanks that mean nothing; its texts stay as they are."""
    parts = _TEXT.split(_COMMENT.sub("", style))
    return "".join(part if part.startswith('"') else _AROUND.sub(r"\1", part) for part in parts).replace(";}", "}")


@cache
def list_assets() -> Mapping[str, bytes]:
    """Return every file that pages load, by its address; the style sheet comes last."""
    files: dict[str, bytes] = {}
    rules = []
    for family, name, weight, style in FACES:
        data = (find_resource("report_templates/fonts") / f"{name}.woff2").read_bytes()
        address = _name(data, "woff2")
        files[address] = data
        # The style sheet lies in the same folder as the fonts.
        source = f'url("{address.rpartition("/")[2]}") format("woff2")'
        rules.append(f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{style};font-display:swap;src:{source}}}')
    styles = (read_template(name) for name in ("base.css", "screen.css", "web/site.css"))
    sheet = "".join([*rules, *map(_shorten, styles)]).encode()
    return {**files, _name(sheet, "css"): sheet}


def find_style() -> str:
    """Return the address of the style sheet."""
    return list(list_assets())[-1]
