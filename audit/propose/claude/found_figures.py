"""Whether a figure that somebody gives stands in the card's words: what is taken is the card's figure, never the one given."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit.propose.figures.cells import find_row_quantities
from audit.propose.figures.numerals import blank_asides, read_number
from audit.propose.figures.quantities import find_quantities
from audit.propose.figures.quantity import Quantity, Unit
from audit.propose.figures.units import read_units
from registry.records.passage import Passage, PassageKind

_NUMBER = re.compile(
    r"(?<![\w.,/])[-−]?\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,12})?(?!\w|[.,]\d)|(?<![\w.,/])[-−]?\d{1,15}(?:\.\d{1,12})?(?!\w|[.,]\d)"
)
_PER_CENT = re.compile(r"%|\bper ?cent", re.IGNORECASE)
_ROUNDING = 0.0051
"""How far a share that was worked out from a fraction may lie from it: two decimals, rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A figure as it is said to be."""

    number: float | None
    """A share may be given in per cent."""
    written: str | None
    """As it is said to be written."""
    unit: Unit | None
    """What it is said to count in; None: not said."""


def list_figures(words: str, passage: Passage) -> tuple[Quantity, ...]:
    """Return the figures of a quote out of *passage*, as the rules read them: a row's by its cells, in per cent where heads say so."""
    if passage.kind is not PassageKind.ROW:
        return find_quantities(words)
    found = read_units(passage, find_row_quantities(passage))
    return tuple(one for one in found if one.written in words) or find_quantities(words)


def find_figure(given: Given, words: str, *, known: Sequence[Quantity] | None = None, around: Sequence[str] = ()) -> Quantity | None:
    """Return the figure of *words* that is meant; None where they hold no such figure.

    The figures that are read come first, by their value and then by their words; then bare numbers, in the unit that is said, or in per
    cent where *around* says so.

    Args:
        known: the figures of *words*; None: as `find_quantities` reads them.
        around: heads and caption of the table.
    """
    if given.number is None and not (given.written or "").strip():
        return None
    known = find_quantities(words) if known is None else known
    meant = [one for one in known if _is_meant(one, given)]
    exact = [one for one in meant if one.value is not None and given.number is not None and _is_close(one.value, given.number)]
    for group in (exact, meant):
        if group:
            return next((one for one in group if _is_written(one, given)), group[0])
    written = [one for one in known if _is_written(one, given)]
    if written:
        return written[0] if len(written) == 1 else None
    return next(_find_bare(given, words, around), None)


def holds_number(number: int, words: str) -> bool:
    """Return whether *words* hold the whole number *number*, alone or as the whole of a fraction."""
    if any(one.n == number for one in find_quantities(words)):
        return True
    plain = blank_asides(words)
    return any(read_number(hit[0].replace("−", "-")) == number for hit in _NUMBER.finditer(plain.replace("/", " ")))


def _is_meant(one: Quantity, given: Given) -> bool:
    if one.value is None or given.number is None:
        return False
    if _is_close(one.value, given.number):
        return True
    if one.unit not in (Unit.SHARE, Unit.POINTS):
        return False
    if one.n is not None and (abs(one.value - given.number) < _ROUNDING or _is_close(one.value * one.n, given.number)):
        return True
    return _is_close(one.value * 100, given.number)


def _is_written(one: Quantity, given: Given) -> bool:
    """Whether the words given are those of the figure, but for white space."""
    theirs, ours = _fold(given.written or ""), _fold(one.written)
    return bool(theirs) and (theirs == ours or (len(theirs) > 1 and theirs in ours) or (len(ours) > 1 and ours in theirs))


def _find_bare(given: Given, words: str, around: Sequence[str]) -> Iterator[Quantity]:
    """Numbers without a unit of their own that are the one given."""
    if given.number is None:
        return
    is_share = given.unit is Unit.SHARE or (given.unit is None and any(_PER_CENT.search(one) for one in around))
    for hit in _NUMBER.finditer(blank_asides(words)):
        number = read_number(hit[0].replace("−", "-"))
        shares = [round(number / 100, 10)] if is_share else []
        values = [one for one in (number, *shares) if _is_close(one, given.number)]
        if not values:
            continue
        value = shares[0] if is_share and abs(number) > 1 else values[0]
        unit = Unit.SHARE if is_share else given.unit or Unit.SCORE
        if unit is not Unit.SHARE or abs(value) <= 1:
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=unit, value=value)


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


def _fold(text: str) -> str:
    return "".join(text.split()).casefold().replace("−", "-")
