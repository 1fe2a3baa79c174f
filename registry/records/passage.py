"""What a card's text consists of: passages in the order of reading, and the tables some of them belong to."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.card import Heading
from registry.records.record import Record


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
class Cell(Record):
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
    cells: tuple[Cell, ...] = ()
    """Of a row, from left to right; empty for everything else, and for a row whose cells cannot be told apart."""
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
