"""Small real PDF files, built for the tests."""

import io
from collections.abc import Sequence

import pikepdf


def build_table_pdf(lines: Sequence[Sequence[tuple[float, str]]]) -> bytes:
    """Return a PDF of one page; each line is texts, each with its distance from the left edge of the page in points."""
    document = pikepdf.new()
    font = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica))
    document.add_blank_page(page_size=(595, 842))
    page = document.pages[0]
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    shown = [f"1 0 0 1 {left} {780 - 14 * at} Tm ({text}) Tj" for at, line in enumerate(lines) for left, text in line]
    page.Contents = document.make_stream(("BT /F1 10 Tf\n" + "\n".join(shown) + "\nET").encode("cp1252"))
    stream = io.BytesIO()
    document.save(stream, static_id=True)
    return stream.getvalue()


def build_pdf(pages: Sequence[str], *, bookmarks: Sequence[tuple[str, int]] = (), password: str | None = None) -> bytes:
    """Return a PDF with one page for each text, its lines set in Helvetica; an empty text gives a page without text."""
    document = pikepdf.new()
    font = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica))
    for text in pages:
        document.add_blank_page(page_size=(595, 842))
        page = document.pages[-1]
        page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        page.Contents = document.make_stream(_content(text))
    with document.open_outline() as outline:
        outline.root.extend(pikepdf.OutlineItem(title, page) for title, page in bookmarks)
    stream = io.BytesIO()
    encryption = pikepdf.Encryption(owner=password, user=password) if password else None
    document.save(stream, encryption=encryption or False, static_id=password is None)
    return stream.getvalue()


def _content(text: str) -> bytes:
    lines = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.splitlines()]
    shown = "\n".join(f"({line}) Tj T*" for line in lines)
    return f"BT /F1 11 Tf 14 TL 72 770 Td\n{shown}\nET".encode("cp1252") if lines else b""
