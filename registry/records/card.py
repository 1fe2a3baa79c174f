"""A system card: its files, their text with pages, and where a quotation stands in it."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from registry.records.record import Record


class MediaType(StrEnum):
    """The kinds of file a card may be."""

    PDF = "application/pdf"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    PLAIN = "text/plain"


class MatchLevel(StrEnum):
    """Which normalisations were needed to find a quotation; each level includes those before it."""

    N0 = "N0"
    """None: the same characters."""
    N1 = "N1"
    """White space folded."""
    N2 = "N2"
    """Quotation marks, dashes, ellipses and multiplication signs unified, ligatures and compatibility forms opened."""
    N3 = "N3"
    """Hyphenation at line ends undone."""
    N4 = "N4"
    """Markup (Markdown emphasis, links, HTML tags) ignored."""
    N5 = "N5"
    """A footnote mark, page number or running head inside the passage skipped."""
    N6 = "N6"
    """Letter-spaced text closed up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Record):
    """Where one page's text stands in the text of the card."""

    number: int
    """From 1."""
    start: int
    """First character, counted from 0 in Unicode code points."""
    stop: int
    """One past the last character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading(Record):
    """Where a heading begins in the text of the card."""

    start: int
    """First character of the heading."""
    title: str
    """Without markup, white space folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardText(Record):
    """The text of one card file, as an extractor reads it."""

    sha256: str
    """Of the file's bytes, hexadecimal."""
    size_bytes: int
    media_type: MediaType
    text: str
    """Everything readable, pages joined by form feeds; never empty."""
    pages: tuple[Page, ...]
    """In order and gapless but for the form feeds; one page for media without pages."""
    extractor: str
    """Name and version of what read it."""
    second_extractor: str | None = None
    """Who gave the second opinion; None where there is none to ask."""
    agreement: float | None = None
    """Share in [0, 1] of the words on which both extractors agree; None without a second opinion."""
    warnings: tuple[str, ...] = ()
    """What could not be read, in sentences."""
    headings: tuple[Heading, ...] = ()
    """In order; empty where the file declares none (a PDF without bookmarks, plain text)."""

    def get_page_number(self, position: int) -> int:
        """Return the number of the page on which the character at *position* stands."""
        return next((page.number for page in self.pages if position < page.stop), self.pages[-1].number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Record):
    """One revision of a card as registered: a file known by its digest. Revisions of one card share its identifier."""

    card: str
    """The identifier, `CRD-…`."""
    revision: int
    """From 1."""
    title: str
    publisher: str
    document: str
    """SHA-256 of the file, hexadecimal."""
    size_bytes: int
    media_type: MediaType
    text: str
    """SHA-256 of the extracted text in UTF-8, hexadecimal; the text itself lies in the content table."""
    pages: tuple[Page, ...]
    extractor: str
    second_extractor: str | None = None
    agreement: float | None = None
    published: date | None = None
    url: str | None = None
    why: str | None = None
    """Why there is a new revision; required from the second."""
    headings: tuple[Heading, ...] = ()
    """As in the text of the card, so that a passage finds its section without the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor(Record):
    """Where a passage stands: W3C Web Annotation TextQuoteSelector and TextPositionSelector together, and the page."""

    document: str
    """SHA-256 of the file that was searched."""
    start: int
    """First character in the extracted text."""
    stop: int
    """One past the last character."""
    exact: str
    """The passage as the document has it, which may differ from the quotation by what `level` declares."""
    prefix: str
    """Up to 32 characters before it."""
    suffix: str
    """Up to 32 characters after it."""
    level: MatchLevel
    """The normalisation that was needed."""
    page: int | None = None
    """Page on which it begins, from 1; None for media without pages."""
    section: str | None = None
    """The nearest heading above; None if there is none."""
    occurrences: int = 1
    """How often the quotation occurs at this level; the anchor names the one that was meant."""
