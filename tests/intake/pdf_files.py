"""Small real PDF files, built for the tests."""

import io
from collections.abc import Sequence

import pikepdf


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
