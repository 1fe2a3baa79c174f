"""Cards made of a few lines, and what an outline says of them."""

import hashlib

from registry.intake.card_reader import find_headings, find_marked_pages, split_pages
from registry.intake.outline.card_passages import read_outline
from registry.records.system_card import CardText, Heading, MediaType, Outline, Passage, PassageKind


def card_of(text: str, media_type: MediaType = MediaType.PDF, *, headings: tuple[Heading, ...] = ()) -> CardText:
    """Return *text* as the intake would give it for such a file."""
    is_markdown = media_type is MediaType.MARKDOWN
    return CardText(
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        size_bytes=len(text.encode()),
        media_type=media_type,
        text=text,
        pages=(find_marked_pages(text) if is_markdown else ()) or split_pages(text),
        extractor="none",
        headings=headings or (find_headings(text) if is_markdown else ()),
    )


def outline_of(text: str, media_type: MediaType = MediaType.PDF) -> Outline:
    """Return the outline of a card with this text."""
    return read_outline(card_of(text, media_type))


def words_of(outline: Outline, *kinds: PassageKind) -> list[str]:
    """Return what the passages of these kinds say; of all kinds, if none is given."""
    return [passage.words for passage in outline.passages if not kinds or passage.kind in kinds]


def cells_of(passage: Passage) -> list[tuple[str | None, str]]:
    """Return column and text of each cell."""
    return [(cell.column, cell.text) for cell in passage.cells]


def rows_of(outline: Outline) -> list[Passage]:
    """Return the rows."""
    return [passage for passage in outline.passages if passage.kind is PassageKind.ROW]
