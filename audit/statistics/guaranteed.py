"""Intervals that ask nothing of the shape of the scores, and pay for it in width (statistics.md section 2, guaranteed mode).

Each side counts as so many all-or-nothing draws as it has independent clusters: tasks, or contexts where they are sampled and
fewer. Among scores in [0, 1] of a given mean such draws vary most. Source of the limits: C. J. Clopper & E. S. Pearson,
Biometrika 26 (1934). The difference asks nothing of how the sides vary together either: each side errs at half of what is allowed
(C. E. Bonferroni's inequality), and the difference reaches from the lowest of the one less the highest of the other upwards.
Assumed: what `audit.statistics.moments` assumes.
"""

from audit.statistics.halfwidth import half_width
from audit.statistics.moments import Moments, SideMoments
from audit.statistics.proportion import Limits, SideInterval, clopper_pearson, side_interval


def count_clusters(side: SideMoments, *, random: bool) -> float:
    """Return min(tasks, contexts) where contexts are sampled, otherwise the tasks; weighted tasks by their effective number."""
    return min(side.effective_tasks, float(side.contexts)) if random else side.effective_tasks


def guaranteed_side(side: SideMoments, *, random: bool, banerjee: bool, binary: bool, level: float) -> SideInterval | None:
    """Return the interval for Φ of one side, in [0, 1]; None when its variance cannot be estimated.

    The hull of the closed form's interval, which a tiny design can make the wider one, and the exact limits at so many draws as
    there are clusters.
    """
    plain = side_interval(side, random=random, banerjee=banerjee, binary=binary, level=level)
    if plain is None:
        return None
    size = count_clusters(side, random=random)
    # Rounding may put a product above its factor.
    exact = clopper_pearson(successes=min(size * side.mean, size), trials=size, level=level)
    return SideInterval(exact=_join(exact, plain.exact), hull=_join(exact, plain.hull))


def guaranteed_sides(moments: Moments, *, level: float) -> tuple[SideInterval | None, SideInterval | None]:
    """Return the intervals of the test and of the deployment side; each None when it cannot be given."""
    test, deploy = (
        guaranteed_side(side, random=moments.random, banerjee=moments.banerjee, binary=moments.binary, level=level)
        for side in (moments.test, moments.deploy)
    )
    return test, deploy


def guaranteed_difference(moments: Moments, *, level: float) -> Limits | None:
    """Return the interval for ED, cut to [−1, 1]; None without a variance.

    The hull of ED ± h and of all differences of two means in the intervals of the sides, each at the level (1 + *level*)/2.
    """
    parts, (test, deploy) = moments.parts(), guaranteed_sides(moments, level=(1 + level) / 2)
    if parts is None or test is None or deploy is None:
        return None
    h = half_width(parts, level=level, banerjee=moments.banerjee)
    low = min(test.hull.low - deploy.hull.high, moments.difference - h)
    high = max(test.hull.high - deploy.hull.low, moments.difference + h)
    return Limits(low=max(-1.0, low), high=min(1.0, high))


def _join(first: Limits, second: Limits) -> Limits:
    return Limits(low=min(first.low, second.low), high=max(first.high, second.high))
