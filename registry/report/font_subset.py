"""The fonts inside an HTML file, cut to the characters that it prints. The one door to fontTools.

The bundled `.woff2` files hold `COMMON`, the characters of nearly every document, and are put in as they are: cutting takes half a second
a face. A document with other characters gets its own cut of the full `.ttf`. The bytes follow from the characters alone.
"""

import base64
import html
import io
import re
from functools import cache, lru_cache
from pathlib import Path

from registry.configuration import find_resource

_FOLDER = "report_templates/fonts"
FACES = (
    ("Source Sans 3", "SourceSans3-Regular", 400, "normal"),
    ("Source Sans 3", "SourceSans3-Semibold", 600, "normal"),
    ("Source Sans 3", "SourceSans3-It", 400, "italic"),
    ("IBM Plex Mono", "IBMPlexMono-Regular", 400, "normal"),
)
"""Family, file, weight, style: every face a document may use. Each file exists as `.ttf`, and as `.woff2` with `COMMON` alone."""
COMMON = frozenset(
    map(ord, "".join(map(chr, (*range(0x20, 0x7F), *range(0xA0, 0x100)))) + "ΔΕΘΣΦδεθσφτ‐‑–—‘’“”„†•…⁄€™←↑→↓−≈≠≤≥×∞■□○●◆▲▼☐✓✗⁰⁴⁵⁶⁷⁸⁹⁻\u202f")
)
"""Latin, and the signs that templates and verdicts are written with."""
_FEATURES = ("ccmp", "kern", "liga", "lnum", "locl", "mark", "tnum")
"""What the style sheet or the letters ask for; small capitals, old figures and other forms are dropped."""
_MARKUP = re.compile(r"<script.*?</script>|<style.*?</style>|<[^>]*?(?:data-label=\"([^\"]*)\")?[^>]*>", re.DOTALL)


def build_font_faces(page: str) -> str:
    """Return the CSS rules with the fonts that the HTML *page* needs, inside the file."""
    # The record in its script element is not printed. CSS sets labels in capitals.
    text = html.unescape(_MARKUP.sub(lambda mark: f" {mark[1] or ''} ", page))
    printed = frozenset(ord(character) for character in text + text.upper() if character.isprintable())
    return _write_faces(printed if printed - COMMON else frozenset())


@cache
def list_characters(file: str) -> frozenset[int]:
    """Return the code points that the font *file* has glyphs for."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415  (a page of common characters needs none of it)

    with TTFont(find_resource(_FOLDER) / file, lazy=True) as font:
        return frozenset(font.getBestCmap())


def cut_font(file: Path, characters: frozenset[int]) -> bytes:
    """Return the font *file* with no other glyphs than those of *characters*, as WOFF2; the same bytes each time."""
    from fontTools.subset import Options, Subsetter  # noqa: PLC0415
    from fontTools.ttLib import TTFont  # noqa: PLC0415

    options = Options(layout_features=list(_FEATURES), hinting=False, notdef_outline=True)
    # The names keep copyright and licence: the Open Font License asks for them.
    options.name_IDs = [0, 1, 2, 13, 14]
    # The time of cutting must not get into the bytes.
    with TTFont(file, lazy=True, recalcTimestamp=False) as font:
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=sorted(characters))
        subsetter.subset(font)
        font.flavor = "woff2"
        written = io.BytesIO()
        font.save(written)
    return written.getvalue()


def write_common_fonts() -> None:
    """Write the bundled `.woff2` files anew: after a change of `COMMON`, or of a font."""
    for _, name, _, _ in FACES:
        file = find_resource(_FOLDER) / f"{name}.ttf"
        file.with_suffix(".woff2").write_bytes(cut_font(file, COMMON))


@lru_cache(maxsize=32)
def _write_faces(others: frozenset[int]) -> str:
    # Empty where the common characters are enough, which is so for nearly all documents.
    rules = []
    for family, name, weight, style in FACES:
        file = find_resource(_FOLDER) / f"{name}.ttf"
        missing = bool(others) and bool(others & list_characters(file.name) - COMMON)
        data = cut_font(file, others) if missing else file.with_suffix(".woff2").read_bytes()
        rules.append(
            f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{style};font-display:swap;'
            f'src:url("data:font/woff2;base64,{base64.b64encode(data).decode()}") format("woff2")}}'
        )
    return "\n".join(rules)
