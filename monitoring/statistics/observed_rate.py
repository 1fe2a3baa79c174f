"""The rate that a stream had in a fixed time, with an interval for one look, and the error of a forecast of it.

The rate is the weighted mean of the scores (Hájek), and its variance is that of a ratio with inclusion probabilities. The interval is exact
for a binomial count at the effective number of items (E. L. Korn & B. I. Graubard, Survey Methodology 24, 1998), so it holds also where
events are few. It assumes that items are independent, as users are.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import betaincinv

from monitoring.statistics.stream_tally import StreamCell, find_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRate:
    """A rate with its interval at one look."""

    rate: float
    low: float
    high: float
    effective: float
    """Independent items that would give the same precision."""


def estimate_rate(cells: Iterable[StreamCell], *, level: float) -> ObservedRate | None:
    """Return the rate of *cells* with its interval; None without a reviewed item. Suppressed cells and pending items enter as unknown.

    Unknown items widen the interval: none of them has an event at its lower end, and each at its upper end.
    """
    known = [cell for cell in cells if not cell.suppressed and cell.correct()]
    rate = find_rate(known)
    if rate is None:
        return None
    weight = math.fsum(cell.reviewed / cell.inclusion for cell in known)
    squares = math.fsum(cell.reviewed / cell.inclusion**2 for cell in known)
    spread = math.fsum(_spread(cell, rate) / cell.inclusion**2 for cell in known)
    most = weight**2 / squares
    # Without variance there are no two scores that differ: the count itself is what is known.
    effective = min(most, rate * (1 - rate) * weight**2 / spread) if spread > 0 and 0 < rate < 1 else most
    events, error = rate * effective, (1 - level) / 2
    low = float(betaincinv(events, effective - events + 1, error)) if events > 0 else 0.0
    high = float(betaincinv(events + 1, effective - events, 1 - error)) if events < effective else 1.0
    return ObservedRate(rate=rate, low=min(low, rate), high=max(high, rate), effective=effective)


def widen(observed: ObservedRate, cells: Iterable[StreamCell]) -> ObservedRate:
    """Return *observed* with the interval that suppressed cells and pending items allow."""
    everything = list(cells)
    items = sum(cell.items for cell in everything)
    unknown = sum(min(cell.items, round(_count_unknown(cell))) for cell in everything)
    share = unknown / items if items else 0.0
    low, high = (1 - share) * observed.low, (1 - share) * observed.high + share
    return ObservedRate(rate=observed.rate, low=low, high=high, effective=observed.effective)


def log_ratio(forecast: float, observed: float, *, forecast_items: float, observed_items: float) -> float:
    """Return log10 of *forecast* over *observed*; a rate of zero is (0 + 1/2)/(n + 1)."""
    numerator = forecast or 0.5 / (forecast_items + 1)
    return math.log10(numerator) - math.log10(observed or 0.5 / (observed_items + 1))


def _count_unknown(cell: StreamCell) -> float:
    """Return for how many items of the stream the scores stand that are not known."""
    if cell.suppressed or not cell.correct():
        return cell.items
    return (cell.pending + (cell.labels.pending / cell.labels.share if cell.labels else 0)) / cell.inclusion


def _spread(cell: StreamCell, rate: float) -> float:
    """Return Σ(z − rate)² of the cell; where squares were not reported their largest possible value."""
    total, squares = cell.correct() or (0.0, 0.0)
    return max(0.0, squares - 2 * rate * total + cell.reviewed * rate**2)
