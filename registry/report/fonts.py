"""The bundled fonts: what they have, and nothing from the machine."""

from functools import cache
from pathlib import Path

from registry.configuration import find_resource

FACES = (
    ("Source Sans 3", "SourceSans3-Regular.ttf", 400, "normal"),
    ("Source Sans 3", "SourceSans3-Semibold.ttf", 600, "normal"),
    ("Source Sans 3", "SourceSans3-It.ttf", 400, "italic"),
    ("IBM Plex Mono", "IBMPlexMono-Regular.ttf", 400, "normal"),
)
"""Family, file, weight, style: every face a printed supplement may use."""

SCHEME = "bundled:"


def find_font(name: str) -> Path:
    """Return the file of the bundled font *name*; raises FileNotFoundError for anything else."""
    if name not in {file for _, file, _, _ in FACES}:
        raise FileNotFoundError(f"{name} is not one of the bundled fonts")
    return find_resource("report_templates") / "fonts" / name


def build_font_faces() -> str:
    """Return the CSS that names the bundled fonts by the `bundled:` scheme, which only our own fetcher understands."""
    return "\n".join(
        f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{style};src:url("{SCHEME}{file}")}}'
        for family, file, weight, style in FACES
    )


def is_covered(character: str) -> bool:
    """Whether the bundled fonts have a glyph for *character*."""
    return ord(character) in _covered()


@cache
def _covered() -> frozenset[int]:
    """Every text style falls back on both families, so one union serves them all; each weight has the same characters."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415  (only printing needs it)

    points: set[int] = set()
    for name in ("SourceSans3-Regular.ttf", "IBMPlexMono-Regular.ttf"):
        with TTFont(find_font(name), lazy=True) as font:
            points |= set(font.getBestCmap())
    return frozenset(points)
