"""A system card: its text and pages, the passages read from it, and what people and programs did with them."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from registry.records.record import Payload, Record

# A system card: its files, their text with pages, and the position of a quotation.


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
        """Return the number of the page on which the character at *position* is."""
        # The form feed between two pages belongs to no page and counts to the next one.
        return next((page.number for page in self.pages if position < page.stop), self.pages[-1].number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Payload):
    """One revision of a card as registered: a file known by its digest. Revisions of one card share its identifier."""

    KIND = "card"
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
# Two selectors: the position finds the passage quickly, the words with prefix and suffix show that
# it is the right one.
class Anchor(Record):
    """Where a passage is: W3C Web Annotation TextQuoteSelector and TextPositionSelector together, and the page."""

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


# Passages of a card's text in reading order, and the tables that some of them belong to.


class PassageKind(StrEnum):
    """What a piece of a card's text is."""

    HEADING = "heading"
    SENTENCE = "sentence"
    """A sentence of running text."""
    ITEM = "item"
    """A sentence of a list item; the first begins with its bullet or number."""
    ROW = "row"
    """A row of a table."""
    HEAD = "head"
    """A row of a table that names its columns."""
    CAPTION = "caption"
    """What stands above or below a table or figure."""
    FOOTNOTE = "footnote"
    CONTENTS = "contents"
    """A line of the table of contents."""
    FURNITURE = "furniture"
    """Page numbers and running heads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell(Record):
    """One cell of a table row."""

    text: str
    """Readable, as `Passage.words`."""
    column: str | None
    """What the heads above it say, joined with a space; None where no head is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage(Record):
    """A piece of a card's text, and what surrounds it."""

    kind: PassageKind
    start: int
    """First character in the card's text."""
    stop: int
    """One past the last character; what stands between is the passage as the card has it."""
    words: str
    """As a person reads it: white space folded, markup, soft hyphens and hyphens at line ends taken out, ligatures opened."""
    page: int | None
    """From 1; None for media without pages."""
    section: int | None
    """Index into the headings of the outline; None above the first."""
    block: int
    """Number of the paragraph, list item or table in which it stands; passages of one block are neighbours."""
    cells: tuple[TableCell, ...] = ()
    """Of a row, from left to right; empty for everything else, and for a row whose cells cannot be distinguished."""
    caption: str | None = None
    """Of a row: what is written above or below its table; None where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline(Record):
    """A card's text, read into passages."""

    passages: tuple[Passage, ...]
    """In the order of the text; they do not overlap."""
    headings: tuple[Heading, ...]
    """Those of the card, or those its numbered lines show where the file declares none."""
    notes: tuple[str, ...] = ()
    """What could not be read, or was guessed (columns, headings, language), in sentences."""

    def find_section(self, position: int) -> int | None:
        """Return the index of the nearest heading at or above the character at *position*; None above the first."""
        above = [index for index, heading in enumerate(self.headings) if heading.start <= position]
        return above[-1] if above else None


# What a person or program recorded about passages: proposals, exclusions, and matches in another
# revision.


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey(Payload):
    """Which passages of a card an engine proposed as claims. Several by one engine add up: it may have read part of the card first."""

    KIND = "survey"
    card: str
    """`CRD-…@n`."""
    by: str
    """The engine with its version, as in `Proposals.by`."""
    passages: tuple[tuple[int, int], ...]
    """Start and stop of each in the card's text, in order; several proposals may quote one passage."""

    def __post_init__(self) -> None:
        if any(not 0 <= start < stop for start, stop in self.passages):
            raise ValueError("a passage starts at 0 or later and stops after its start")
        # One order and no repetition, so that equal surveys are equal statements.
        if list(self.passages) != sorted(set(self.passages)):
            raise ValueError("passages must be in the order of the card, each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission(Payload):
    """A passage left unregistered on purpose as a claim."""

    KIND = "omission"
    card: str
    """`CRD-…@n`."""
    quote: str
    anchor: Anchor
    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("an excluded passage needs its reason")


class MatchResult(StrEnum):
    """Outcome of a claim's passage in another revision of its card."""

    UNCHANGED = "unchanged"
    """Word for word, in the same section; layout may differ. A row whose cells stand under the same heads, also if columns were added."""
    MOVED = "moved"
    """Word for word, in another section."""
    REWORDED = "reworded"
    """A passage like it stands there in other words, or a row under another head or caption. Whether it is the same claim is a person's
    decision, unless spelling is all that differs (`PassageMatch.differs`)."""
    GONE = "gone"
    """Nothing like it stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageMatch(Payload):
    """Where a claim's passage is in another revision of its card, as this program found it."""

    KIND = "passage_match"
    claim: str
    """`CLM-…@n`."""
    card: str
    """`CRD-…@n` that was searched; another revision than the one the claim quotes."""
    match_result: MatchResult
    anchor: Anchor | None
    """The passage there; None exactly for what is gone."""
    differs: tuple[str, ...] = ()
    """Of a reworded passage from which nothing but spelling differs: each difference, as "colour → color". Empty for all others."""

    def __post_init__(self) -> None:
        if (self.anchor is None) != (self.match_result is MatchResult.GONE):
            raise ValueError("a passage has its place exactly if it is not gone")

    @property
    def is_alarm(self) -> bool:
        """Whether a person has to decide what becomes of the claim: it is gone, or reworded in more than its spelling."""
        # Spelling alone does not change a claim.
        return self.match_result is MatchResult.GONE or (self.match_result is MatchResult.REWORDED and not self.differs)
