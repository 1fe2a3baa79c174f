"""Render page one of the demo's supplements for docs/gallery.md, one small image for each verdict.

    python tools/gallery.py caveat-demo

needs the folder that `caveat demo` (`make demo`) wrote, with PDF files.
"""

import sys
from pathlib import Path

import pypdfium2
from PIL import Image

IMAGES = Path(__file__).parent.parent / "docs/images"
VERDICTS = {
    "holds": "CLM-EXAMPLE-2026-0015-H@1",
    "does-not-carry-over": "CLM-EXAMPLE-2026-0014-J@1",
    "contradicted": "CLM-EXAMPLE-2026-0016-F@1",
    "in-doubt": "CLM-EXAMPLE-2026-0001-T@1",
    "inconclusive": "CLM-EXAMPLE-2026-0007-H@1",
    "unusable": "CLM-EXAMPLE-2026-0008-F@1",
    "not-audited": "CLM-EXAMPLE-2026-0009-D@1",
}
SCALE = 1.35
"""Pixels per point: a page of A4 is 803 pixels wide."""
COLOURS = 32


def render_page(source: Path, target: Path) -> None:
    """Write page one of the PDF file *source* as a PNG file with a palette."""
    with pypdfium2.PdfDocument(source) as document:
        image = document[0].render(scale=SCALE).to_pil().convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    """Render every image and print the total size."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "caveat-demo") / "supplements"
    targets = [IMAGES / f"verdict-{name}.png" for name in VERDICTS]
    for target, identifier in zip(targets, VERDICTS.values(), strict=True):
        render_page(folder / f"{identifier}.pdf", target)
    sys.stdout.write(f"{len(targets)} images, {sum(target.stat().st_size for target in targets):,} bytes\n")


if __name__ == "__main__":
    main()
