"""Blocks: what an answer says to a person, before it is known whether a terminal or a page shows it.

A presenter is a generator of blocks. It makes each block once; `registry.cli.terminal_output` and `registry.present.html_fragment` render
them. All text in a block is data: renderers escape it, and no block holds markup or control sequences.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Title:
    """What the following blocks are about."""

    text: str


@dataclass(frozen=True, slots=True)
class Subtitle:
    """Begins a new part of an answer; a terminal leaves a line before it."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence that explains a table or a figure, less important than either."""

    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text to be copied, such as a command or a key: lines are never wrapped."""

    text: str


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text from a card or a specification, marked on each line so that it cannot pass for a sentence of Caveat."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of a name and what is known under it."""

    rows: Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns; the columns in *numbers* are right-aligned, those in *spare* are left out where they do not fit."""

    columns: Sequence[str]
    rows: Iterable[Sequence[str]]
    numbers: Sequence[str] = field(default=(), kw_only=True)
    spare: Sequence[str] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Checks:
    """Rows without column names: mark, answer, name and note of each check."""

    rows: Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a tree, with what follows from it."""

    label: str
    note: str = ""
    branches: "tuple[Branch, ...]" = ()


@dataclass(frozen=True, slots=True)
class IntervalLine:
    """A row of an interval figure, in the unit of the figure; None for what is not known."""

    label: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class IntervalFigure:
    """Intervals on a common axis that is symmetric about 0."""

    rows: Sequence[IntervalLine]
    margin: float
    """Drawn on both sides of 0; in the unit of the rows, at least 0."""
    axis: str
    """Both ends of the axis, as text."""

    @property
    def reach(self) -> float:
        """The end of the axis: the largest absolute value of an end, a value without interval, or the margin; never 0."""
        ends = [abs(end) for row in self.rows for end in _list_ends(row) if end is not None]
        # An axis without length would divide by zero.
        return max([*ends, self.margin]) or 1.0


Block = str | Title | Subtitle | Remark | Verbatim | Quotation | Facts | Table | Checks | Branch | IntervalFigure
"""A plain text is a paragraph: one line or several, an indented line being a detail of the line before it."""


def _list_ends(row: IntervalLine) -> tuple[float | None, ...]:
    return (row.value,) if row.low is None or row.high is None else (row.low, row.high)
