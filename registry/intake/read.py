"""A card file in, its text out.

What a file is, is read from its bytes; a name that says otherwise is an error, since somebody believes it.
"""

import hashlib
import stat
from pathlib import Path, PurePath

from registry.errors import Fault, InputError
from registry.intake.apart import ask_extractor
from registry.intake.decode import decode_text
from registry.intake.markdown import find_headings, find_marked_pages, looks_like_markdown
from registry.intake.pdf import read_pdf
from registry.intake.signatures import find_signature
from registry.records.card import CardText, Heading, MediaType, Page

MAXIMUM_BYTES = 100_000_000
"""A card file larger than this is refused unread."""
MAXIMUM_CHARACTERS = 20_000_000
"""A card with more text than this is refused."""
HYPERTEXT_SECONDS = 30
"""How long an HTML page may take to parse; deep nesting costs the square of its depth."""
_BY_SUFFIX = {
    ".pdf": MediaType.PDF,
    ".html": MediaType.HTML,
    ".htm": MediaType.HTML,
    ".xhtml": MediaType.HTML,
    ".md": MediaType.MARKDOWN,
    ".markdown": MediaType.MARKDOWN,
    ".txt": MediaType.PLAIN,
    ".text": MediaType.PLAIN,
}


def read_card(path: Path) -> CardText:
    """Return the text of the card file at *path*, with its pages, headings, and warnings about what could not be read.

    Raises:
        InputError: card-not-found, card-not-readable, card-too-large, card-empty, card-not-what-it-claims, card-not-supported,
            card-encrypted, card-damaged, card-too-long, card-too-slow, card-without-text.
    """
    data = _read_bytes(path)
    media_type = detect_media_type(data, path)
    if media_type is MediaType.PDF:
        card = read_pdf(data, where=str(path), maximum_characters=MAXIMUM_CHARACTERS)
    else:
        card = _read_text(data, media_type, path)
    if not any(character.isalnum() for character in card.text):
        raise _refuse("card-without-text", path, *_explain_empty(card))
    return card


def _explain_empty(card: CardText) -> tuple[str, str]:
    """What was found in a file without text, and what to do."""
    if card.media_type is MediaType.HTML:
        left_out = " ".join(card.warnings)
        found = f"no letter or digit shows in the page. {left_out}".strip()
        return found, "a page that scripts fill has no text in its file: open it in a browser, print it to PDF, and register that"
    return "no letter or digit in it", "give the file that has the card's text"


def detect_media_type(data: bytes, path: PurePath) -> MediaType:
    """Return what the bytes are; the name only decides between kinds of text.

    Raises:
        InputError: card-not-what-it-claims, card-not-supported.
    """
    claimed = _BY_SUFFIX.get(path.suffix.lower())
    signature = find_signature(data)
    if signature == "PDF":
        if claimed in (None, MediaType.PDF):
            return MediaType.PDF
        raise _refuse("card-not-what-it-claims", path, f"the name says {claimed}, the content is a PDF", "rename the file to end in .pdf")
    if signature is not None:
        code = "card-not-supported" if claimed is None else "card-not-what-it-claims"
        raise _refuse(code, path, f"expected PDF, HTML, Markdown or plain text, found {signature}", "give the card in one of these forms")
    is_hypertext = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))
    if claimed is MediaType.PDF:
        found = "an HTML page, perhaps an error page saved in its place" if is_hypertext else "text"
        raise _refuse("card-not-what-it-claims", path, f"the name says PDF, the content is {found}", "download the PDF again")
    if claimed is not None:
        return claimed
    if is_hypertext:
        return MediaType.HTML
    return MediaType.MARKDOWN if looks_like_markdown(data) else MediaType.PLAIN


def _read_bytes(path: Path) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _refuse("card-not-readable", path, "expected a file, found a directory or device", "give the path of the card file")
        if found.st_size > MAXIMUM_BYTES:
            raise _too_large(path, found.st_size)
        with path.open("rb") as stream:
            data = stream.read(MAXIMUM_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _refuse("card-not-found", path, "there is no such file", "check the path") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refuse("card-not-readable", path, f"it cannot be read: {reason}", "check its permissions") from error
    if len(data) > MAXIMUM_BYTES:
        raise _too_large(path, len(data))
    if not data:
        raise _refuse("card-empty", path, "the file has 0 bytes", "download the card again")
    return data


def _read_text(data: bytes, media_type: MediaType, path: Path) -> CardText:
    decoded = decode_text(data, where=str(path), is_hypertext=media_type is MediaType.HTML)
    if len(decoded.text) > MAXIMUM_CHARACTERS:
        found = f"{len(decoded.text):,} characters, expected at most {MAXIMUM_CHARACTERS:,}"
        raise _refuse("card-too-long", path, found, "give the part of it that is the card")
    text, extractor, warnings = decoded.text, decoded.reader, decoded.warnings
    headings: tuple[Heading, ...] = ()
    pages: tuple[Page, ...] = ()
    if media_type is MediaType.HTML:
        answer = ask_extractor("lexbor", {}, decoded.text.encode("utf-8"), where=str(path), seconds=HYPERTEXT_SECONDS)
        text, extractor, warnings = answer["pages"][0], answer["extractor"], (*decoded.warnings, *answer["warnings"])
        headings = tuple(Heading(start=start, title=title) for start, title in answer["headings"])
    elif media_type is MediaType.MARKDOWN:
        headings, pages = find_headings(text), find_marked_pages(text)
    return CardText(
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        media_type=media_type,
        text=text,
        pages=pages or split_pages(text),
        extractor=extractor,
        warnings=warnings,
        headings=headings,
    )


def split_pages(text: str) -> tuple[Page, ...]:
    """Return the pages of a text in which form feeds stand between them."""
    pages: list[Page] = []
    start = 0
    for number, page in enumerate(text.split("\f"), start=1):
        pages.append(Page(number=number, start=start, stop=start + len(page)))
        start += len(page) + 1
    if len(pages) > 1 and not text[pages[-1].start :].strip():
        pages.pop()  # pdftotext ends the last page with a form feed too
    return tuple(pages)


def _too_large(path: Path, size_bytes: int) -> InputError:
    found = f"{size_bytes:,} bytes, expected at most {MAXIMUM_BYTES:,}; it was not read"
    return _refuse("card-too-large", path, found, "give the text of the card without its images")


def _refuse(code: str, path: PurePath, found: str, advice: str) -> InputError:
    return InputError(Fault(code=code, where=str(path), found=found, advice=advice))
