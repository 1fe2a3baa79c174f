"""An interval for the mean score of one side, whose scores come in clusters.

Sources: E. L. Korn & B. I. Graubard, Survey Methodology 24 (1998) 193–201; NCHS, Vital and Health Statistics 2(175), 2017: the exact
binomial interval of C. J. Clopper & E. S. Pearson, Biometrika 26 (1934), at the sample size that the clusters are worth. C. Franco,
R. J. A. Little, T. A. Louis & E. V. Slud, Journal of Survey Statistics and Methodology 7 (2019), PMC6690503: such intervals miss too
often as long as that size rests on the observed variance alone, and a model of the population behind the clusters mends it. Here the
model says how alike the responses to one task, and those under one context, are at least.
Assumed: what `audit.statistics.moments` assumes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy.special import betaincinv, ndtri

from audit.statistics.halfwidth import ZERO_VARIANCE, Part, half_width, total_variance
from audit.statistics.moments import SideMoments

TASK_LIKENESS, CONTEXT_LIKENESS = 0.32, 0.08
"""Least intraclass correlation of the responses to one task, and under one context, each as a multiple of √(Φ(1 − Φ)) (1 − 2Φ)².

So at most 0.06 and 0.015, near Φ = 0.1 and 0.9, and none at 0, ½ and 1. Set so that no cell of the design grid (statistics.md section 5)
has more than 5 % false inversions, here and at rates and numbers of contexts between those of the grid.
"""

SKEWED = 1.5
"""From this squared coefficient of variation σ²/(Φ(1 − Φ))² on, single responses count as skewed as all-or-nothing ones, below it less.

All-or-nothing responses have 4 or more, scores in tenths with Φ = 0.05 about 3, scores that scatter with SD 0.1 about 0.85 have 0.6. Set so
that rare shares graded in quarters, tenths and twentieths keep to 5 % false inversions too.
"""

_SMALLEST_SIZE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Lower and upper end of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SideInterval:
    """The interval of one side, and the exact limits that the interval of the difference is made from."""

    exact: Limits
    """Clopper–Pearson at the effective size."""

    hull: Limits
    """What is reported: the exact limits and Φ ± h together, cut to [0, 1]."""


def clopper_pearson(*, successes: float, trials: float, level: float) -> Limits:
    """Return the exact binomial limits; counts may be fractions.

    Args:
        successes: between 0 and *trials*.
        trials: above 0.
        level: nominal coverage, between 0 and 1, both excluded.

    Raises:
        ValueError: an argument lies outside its range.
    """
    if not (trials > 0 and 0 <= successes <= trials and 0 < level < 1):
        raise ValueError(f"successes must lie in [0, trials] and level in (0, 1), got {successes}, {trials}, {level}")
    tail = (1 - level) / 2
    failures = trials - successes
    low = 0.0 if successes <= 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures <= 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return Limits(low=low, high=high)


def side_interval(side: SideMoments, *, random: bool, banerjee: bool, binary: bool, level: float) -> SideInterval | None:
    """Return the interval for Φ of one side, in [0, 1]; None when its variance cannot be estimated.

    Never of zero width: without variance the tasks are counted, so 0 of 20 gives [0, 0.168] at 95 %.
    """
    parts = side.parts(random=random)
    if parts is None:
        return None
    h = half_width(parts, level=level, banerjee=banerjee)
    size = side.effective_tasks
    if total_variance(parts) > ZERO_VARIANCE:
        widest = max(h, half_width(raise_variances(side, parts), level=level, banerjee=banerjee))
        size = max(_SMALLEST_SIZE, side.mean * (1 - side.mean) * (float(ndtri(0.5 + level / 2)) / widest) ** 2)
        size = min(size, side.responses) if binary else size
    # Rounding may put a product above its factor.
    exact = clopper_pearson(successes=min(size * side.mean, size), trials=size, level=level)
    hull = Limits(low=max(0.0, min(exact.low, side.mean - h)), high=min(1.0, max(exact.high, side.mean + h)))
    return SideInterval(exact=exact, hull=hull)


def raise_variances(side: SideMoments, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts, task first, none below what the least likeness of responses in a cluster makes of their spread.

    Where what is counted is rare, few tasks or contexts show it at all: when those that matter were not drawn, mean and variance come
    out too low together, and the interval ends short of the truth. A correlation that is the same at every Φ (beta-binomial) would widen
    the rarest shares more than is needed, one that falls as Φ(1 − Φ) (normal on the logit) less; this is their geometric mean. A share
    near ½ has no skewness, so there nothing is raised. Graded responses that vary little about their mean are not skewed either: what they
    lack of `SKEWED` their spread lacks of Φ(1 − Φ).
    """
    # Rounding may put a mean beyond the range.
    whole = max(0.0, side.mean * (1 - side.mean))
    likeness = math.sqrt(whole) * (1 - 2 * side.mean) ** 2
    spread = whole if side.spread is None or whole == 0 else min(whole, side.spread / (SKEWED * whole))
    clusters = ((TASK_LIKENESS, side.effective_tasks), (CONTEXT_LIKENESS, float(side.contexts)))
    # Contexts have no part where they are not sampled; what both parts contain stays as it is.
    raised = (
        replace(part, variance=max(part.variance, least * likeness * spread / count))
        for part, (least, count) in zip(parts, clusters, strict=False)
    )
    return (*raised, *parts[len(clusters) :])
