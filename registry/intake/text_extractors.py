"""One extractor, run as a program: the file on standard input, one JSON answer on standard output."""

import io
import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

_BOOKMARKS = 10_000


class _RefusedError(Exception):
    """The file cannot be accepted: code, what was found, what to do."""


def read_with_pdfium(data: bytes, limits: dict[str, Any]) -> dict[str, Any]:
    """Return every page's text as PDFium reads it, lines ended by a line feed."""
    import pypdfium2  # noqa: PLC0415 - the other extractor does without
    import pypdfium2.raw  # noqa: PLC0415

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _explain(pypdfium2.raw.FPDF_GetLastError() if "password" not in str(error).lower() else 4, str(error)) from error
    count = len(document)
    if count == 0:
        raise _RefusedError("card-unreadable", "the PDF has no pages that can be read", "download it again")
    # Limits are checked while reading, so that a hostile file does not fill the memory first.
    if count > limits["maximum_pages"]:
        found = f"{count:,} pages, expected at most {limits['maximum_pages']:,}"
        raise _RefusedError("card-too-long", found, "give the part of it that is the card")
    pages: list[str] = []
    characters = 0
    for index in range(count):
        pages.append(_read_page(document, index, limits["maximum_on_a_page"]))
        characters += len(pages[-1])
        if characters > limits["maximum_characters"]:
            found = f"more than {limits['maximum_characters']:,} characters by page {index + 1:,} of {count:,}"
            raise _RefusedError("card-too-long", found, "give the part of it that is the card")
    bookmarks = _read_bookmarks(document, pypdfium2.PdfiumError)
    return {"extractor": f"pypdfium2 {version('pypdfium2')}", "pages": pages, "bookmarks": bookmarks}


def read_with_pdfminer(data: bytes, limits: dict[str, Any]) -> dict[str, Any]:
    """Return the text of the pages in `limits["sample"]` as pdfminer.six reads them."""
    from pdfminer.high_level import extract_text  # noqa: PLC0415 - the other extractor does without
    from pdfminer.layout import LAParams  # noqa: PLC0415

    # Without boxes_flow pdfminer does much less work. The reading order suffers, but words are only counted.
    text = extract_text(io.BytesIO(data), page_numbers=set(limits["sample"]), laparams=LAParams(boxes_flow=None))
    return {"extractor": f"pdfminer.six {version('pdfminer.six')}", "pages": [_clean(page) for page in text.split("\f")]}


def read_with_lexbor(data: bytes, _limits: dict[str, Any]) -> dict[str, Any]:
    """Return the text of an HTML page in UTF-8, on one page, and its headings."""
    from registry.intake.html_reader import describe_excluded, read_hypertext  # noqa: PLC0415 - the other extractors do without

    source = data.decode("utf-8")
    text, headings = read_hypertext(source)
    return {
        "extractor": f"selectolax {version('selectolax')}",
        "pages": [_clean(text)],
        "headings": [(heading.start, heading.title) for heading in headings],
        "warnings": describe_excluded(source),
    }


def _read_page(document: Any, index: int, most: int) -> str:
    page = document[index]
    text_page = page.get_textpage()
    if text_page.count_chars() > most:
        found = f"{text_page.count_chars():,} characters on page {index + 1:,}, expected at most {most:,}"
        raise _RefusedError("card-too-long", found, "give the part of it that is the card")
    text: str = text_page.get_text_range()
    text_page.close()
    page.close()
    # PDFium writes U+FFFE for a hyphen at a line end and drops the line end.
    return _clean(text.replace("\r\n", "\n").replace("\ufffe", "-\n"))


def _clean(text: str) -> str:
    """Form feeds stand between pages only; what is no character at all cannot be kept."""
    return text.replace("\f", "\n").encode("utf-8", errors="replace").decode("utf-8")


def _read_bookmarks(document: Any, error: type[Exception]) -> list[tuple[str, int]]:
    bookmarks: list[tuple[str, int]] = []
    try:
        for bookmark in document.get_toc(max_depth=8):
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                bookmarks.append((_clean(bookmark.get_title()), page))
            if len(bookmarks) >= _BOOKMARKS:
                break
    except error:
        pass  # a broken outline costs the sections below it, not the card
    return bookmarks


def _explain(code: int, message: str) -> _RefusedError:
    if code == 4:  # FPDF_ERR_PASSWORD
        return _RefusedError("card-encrypted", "the PDF asks for a password", "save it without a password and register that file")
    if code == 5:  # FPDF_ERR_SECURITY
        return _RefusedError("card-encrypted", "the PDF is encrypted in a way that cannot be opened", "save it without protection")
    return _RefusedError("card-unreadable", f"the PDF cannot be opened ({message})", "download it again; it may be cut off or damaged")


def main(extractor: str, limits: str) -> None:
    """Answer for the PDF on standard input."""
    warnings.simplefilter("ignore")
    read = {"pdfium": read_with_pdfium, "pdfminer": read_with_pdfminer, "lexbor": read_with_lexbor}[extractor]
    try:
        answer = read(sys.stdin.buffer.read(), json.loads(limits))
    except _RefusedError as refusal:
        answer = dict(zip(("code", "found", "advice"), refusal.args, strict=True))
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8"))
