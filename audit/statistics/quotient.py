"""Ratios between the arms of a table: of two means, and of two differences of means.

The intervals are those of `audit.statistics.ratio`, with h and limits made as for ED; a ratio whose denominator's own interval
contains 0 is not identified. Sources and assumptions: `audit.statistics.ratio`, `audit.statistics.moments`.
"""

from collections.abc import Callable

from audit.statistics.combination import Arms, Coefficients, combine, combine_parts, find_correlation, find_obstacle, subtract
from audit.statistics.difference import difference_interval, find_side_intervals
from audit.statistics.halfwidth import half_width
from audit.statistics.proportion import Limits
from audit.statistics.ratio import NOT_IDENTIFIED, Term, ratio_interval
from audit.statistics.reading import Scale
from registry.records.measure import Measure


def ratio_of_means(arms: Arms, first: str, second: str, *, scale: Scale, level: float) -> Measure:
    """Return Φ_first / Φ_second in the unit of the score, so that a range that does not begin at 0 counts from its own 0.

    None where nothing says how tasks or contexts vary, and where the interval of Φ_second contains 0.
    """
    above, below = find_side_intervals(arms.pair(first, second), level=level)
    if above is None or below is None:
        return Measure(value=None, reason=find_obstacle(arms))
    if _contains_zero(_stretch(scale, below.hull)):
        return Measure(value=None, reason=NOT_IDENTIFIED)
    terms = (
        Term(value=scale.stretch(arms.side(first).mean), limits=_stretch(scale, above.exact)),
        Term(value=scale.stretch(arms.side(second).mean), limits=_stretch(scale, below.exact)),
    )
    found = _divide(arms, {first: 1.0}, {second: 1.0}, terms=terms, width=scale.width, level=level)
    # Means of scores that are never negative have a ratio that is not.
    return found if scale.low < 0 or found.low is None else Measure(value=found.value, low=max(0.0, found.low), high=found.high)


def ratio_of_differences(arms: Arms, above: tuple[str, str], below: tuple[str, str], *, level: float) -> Measure:
    """Return (Φ − Φ)/(Φ − Φ), a ratio of means of the tasks' differences; it has no unit.

    None where nothing says how tasks or contexts vary, and where the interval of the denominator contains 0.
    """
    limits = [difference_interval(arms.pair(*pair), level=level) for pair in (above, below)]
    if find_obstacle(arms) is not None or limits[0] is None or limits[1] is None:
        return Measure(value=None, reason=find_obstacle(arms))
    if _contains_zero(limits[1]):
        return Measure(value=None, reason=NOT_IDENTIFIED)
    first, second = ({ahead: 1.0, behind: -1.0} for ahead, behind in (above, below))
    terms = Term(value=combine(arms, first), limits=limits[0]), Term(value=combine(arms, second), limits=limits[1])
    return _divide(arms, first, second, terms=terms, width=1.0, level=level)


def _divide(arms: Arms, first: Coefficients, second: Coefficients, *, terms: tuple[Term, Term], width: float, level: float) -> Measure:
    numerator, denominator = terms
    limits = ratio_interval(
        numerator, denominator, correlation=find_correlation(arms, first, second), half_width=_measure(arms, first, second, width, level)
    )
    if limits is None:
        return Measure(value=None, reason=NOT_IDENTIFIED)
    return Measure(value=numerator.value / denominator.value, low=limits.low, high=limits.high)


def _measure(arms: Arms, first: Coefficients, second: Coefficients, width: float, level: float) -> Callable[[float], float]:
    """Return the function that gives h of first − ratio · second."""

    def measure(ratio: float) -> float:
        parts = combine_parts(arms, subtract(first, second, times=ratio))
        return 0.0 if parts is None else width * half_width(parts, level=level, banerjee=arms.banerjee)

    return measure


def _contains_zero(limits: Limits) -> bool:
    return limits.low <= 0 <= limits.high


def _stretch(scale: Scale, limits: Limits) -> Limits:
    return Limits(low=scale.stretch(limits.low), high=scale.stretch(limits.high))
