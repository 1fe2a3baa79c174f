"""The figures of a passage, sorted by whose they are."""

from dataclasses import dataclass

from audit.propose.figures.quantity import Quantity
from registry.records.proposal import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """One figure that a claim can be made of, with what the passage sets beside it."""

    quantity: Quantity
    model: str | None
    """The model it is about, where the passage or its table names it beside the figure; None where it does not."""
    column: str | None
    """Head of its column in a table; None outside tables."""
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What became of the figures of a passage."""

    own: tuple[Own, ...]
    """In the order of the passage; empty where every figure belongs to something else."""
    others: tuple[Comparison, ...] = ()
    """The figures of something else, in order."""
    relative_to: str | None = None
    """What the passage relates its claim to, in its own words ("over 7× higher than Claude Opus 4.1"); None for none."""
    notes: tuple[str, ...] = ()
