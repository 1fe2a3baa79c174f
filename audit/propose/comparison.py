"""Which figures of a passage are its claim's own, and which it gives for something else."""

from dataclasses import dataclass

from audit.propose.around import Around
from audit.propose.models import Models
from audit.propose.quantity import Quantity
from registry.records.passage import Passage
from registry.records.proposal import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """One figure that a claim can be made of, with what the passage sets beside it."""

    quantity: Quantity
    model: str | None
    """Of several own models the one it is about; None where the passage does not name it beside the figure."""
    column: str | None
    """Head of its column in a table; None outside tables."""
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The figures of a passage, sorted by whose they are."""

    own: tuple[Own, ...]
    """In the order of the passage; empty where every figure belongs to something else."""
    others: tuple[Comparison, ...] = ()
    """The figures of something else, in order."""
    relative_to: str | None = None
    """What the passage relates the own figure to, in its own words ("over 7× higher than Claude Opus 4.1"); None for none."""
    notes: tuple[str, ...] = ()


def choose_own(passage: Passage, quantities: tuple[Quantity, ...], *, around: Around, models: Models) -> Choice:
    """Return whose each of *quantities* is. Quantities that are neither a result nor a comparison should be left out before."""
    return Choice(own=tuple(Own(quantity=one, model=None, column=None) for one in quantities))
