"""Whether the replay of an evaluation gives the figure that the card reports: D = Φ_test − r with its interval.

A replay can show that evaluation and deployment agree while both disagree with the card. Without this check such a claim would be
called stable.

Sources: interval of a share, E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209–212; interval of a difference of
independent estimates (MOVER), G. Y. Zou & A. Donner, Statistics in Medicine 27 (2008) 1693–1702. The replay and the card's evaluation are
taken as independent: both ask the model anew.
"""

import math
from dataclasses import dataclass

from scipy.special import ndtri

from registry.records.claim import Reported
from registry.records.estimates import BoundedEstimate
from registry.records.verdict import FigureInterval, Reproduction, ReproductionStatus

NO_FIGURE = Reproduction(status=ReproductionStatus.NO_FIGURE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedInterval:
    """The interval of a figure that a card reports, in the unit of the score."""

    low: float
    high: float
    source: FigureInterval


def find_reported_interval(reported: Reported, *, range_: tuple[float, float], level: float) -> ReportedInterval:
    """Return the interval that the card states; else Wilson's, for a share with its number of trials; else the figure itself.

    Args:
        range_: of the property. A figure is a share where this is [0, 1].
        level: of Wilson's interval. A stated interval is taken as it is.
    """
    if reported.low is not None and reported.high is not None:
        return ReportedInterval(low=reported.low, high=reported.high, source=FigureInterval.STATED)
    if reported.n is not None and range_ == (0.0, 1.0):
        low, high = wilson(reported.value, reported.n, level=level)
        return ReportedInterval(low=low, high=high, source=FigureInterval.WILSON)
    return ReportedInterval(low=reported.value, high=reported.value, source=FigureInterval.EXACT)


def wilson(share: float, trials: int, *, level: float) -> tuple[float, float]:
    """Return Wilson's score interval of *share* in [0, 1] among *trials* independent trials."""
    z = float(ndtri((1 + level) / 2))
    shrink = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / shrink
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrink
    # Rounding may leave the end at 0 or 1 a bit inside of the figure itself.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def check_reproduction(
    reported: Reported | None, phi_test: BoundedEstimate, *, range_: tuple[float, float], level: float, margin: float
) -> Reproduction:
    """Return whether *phi_test* reproduces *reported*.

    Reproduced: the interval of D lies within ±*margin*. Not reproduced: it lies wholly outside. Unclear: otherwise, and where Φ_test has no
    interval.

    Args:
        phi_test: replicated mean score in the evaluation's contexts, with its interval at *level*.
        margin: δ of the plan, in the unit of the score.
    """
    if reported is None:
        return NO_FIGURE
    figure = find_reported_interval(reported, range_=range_, level=level)
    difference = phi_test.value - reported.value
    low = high = None
    status = ReproductionStatus.UNCLEAR
    if phi_test.low is not None and phi_test.high is not None:
        low = difference - math.hypot(phi_test.value - phi_test.low, figure.high - reported.value)
        high = difference + math.hypot(phi_test.high - phi_test.value, reported.value - figure.low)
        if -margin <= low and high <= margin:
            status = ReproductionStatus.REPRODUCED
        elif low > margin or high < -margin:
            status = ReproductionStatus.NOT_REPRODUCED
    return Reproduction(
        status=status,
        reported=reported.value,
        reported_low=figure.low,
        reported_high=figure.high,
        interval=figure.source,
        difference=difference,
        low=low,
        high=high,
    )
