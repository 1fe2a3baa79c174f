"""Render page one of the demo's documents for README and docs, one small image for each.

    python tools/gallery.py caveat-demo updated-demo

needs the folders that `caveat demo` and `caveat demo --update -o updated-demo` wrote, with PDF files.
"""

import sys
from pathlib import Path

import pypdfium2
from PIL import Image, ImageOps

IMAGES = Path(__file__).parent.parent / "docs/images"
PAGES = {
    "verdict-holds": "CLM-EXAMPLE-2026-0015-H@1",
    "verdict-does-not-carry-over": "CLM-EXAMPLE-2026-0014-J@1",
    "verdict-contradicted": "CLM-EXAMPLE-2026-0016-F@1",
    "verdict-in-doubt": "CLM-EXAMPLE-2026-0001-T@1",
    "verdict-inconclusive": "CLM-EXAMPLE-2026-0007-H@1",
    "verdict-unusable": "CLM-EXAMPLE-2026-0008-F@1",
    "verdict-not-audited": "CLM-EXAMPLE-2026-0009-D@1",
    "supplement": "CLM-EXAMPLE-2026-0016-F@1",
    "coverage": "CRD-EXAMPLE-2026-0001-J@1",
}
CHANGES = "changes-112-177"
"""The change report of the demo's update."""
SCALE = 1.405
"""Pixels per point: a page of A4 is 836 pixels wide."""
COLOURS = 48
_FOOTER, _MARGIN = 0.06, 24
"""Share of a page that is its footer, and pixels of paper that stay below the text."""


def render_page(source: Path, target: Path) -> None:
    """Write page one of the PDF file *source*, without its footer and the paper below the text, as a PNG file with a palette."""
    with pypdfium2.PdfDocument(source) as document:
        image = document[0].render(scale=SCALE).to_pil().convert("RGB")
    page = image.crop((0, 0, image.width, round(image.height * (1 - _FOOTER))))
    box = ImageOps.invert(page.convert("L")).getbbox()
    page = page.crop((0, 0, page.width, min(page.height, (box[3] if box else page.height) + _MARGIN)))
    page.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    """Render every image and print the total size."""
    demo, updated = (Path(argument) / "supplements" for argument in sys.argv[1:])
    sources = {**{name: demo / f"{identifier}.pdf" for name, identifier in PAGES.items()}, "changes": updated / f"{CHANGES}.pdf"}
    targets = [IMAGES / f"{name}.png" for name in sources]
    for target, source in zip(targets, sources.values(), strict=True):
        render_page(source, target)
    sys.stdout.write(f"{len(targets)} images, {sum(target.stat().st_size for target in targets):,} bytes\n")


if __name__ == "__main__":
    main()
