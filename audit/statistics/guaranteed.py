"""Intervals that ask nothing of the shape of the scores, and pay for it in width (statistics.md section 2, guaranteed mode).

Each side counts as so many all-or-nothing draws as it has independent clusters: tasks, or contexts where they are sampled and
fewer. Among scores in [0, 1] of a given mean such draws vary most. Source of the limits: C. J. Clopper & E. S. Pearson,
Biometrika 26 (1934); of the difference: `audit.statistics.difference`, with no correlation taken as known.
Assumed: what `audit.statistics.moments` assumes.
"""

from audit.statistics.difference import join_sides
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
    """Return the interval for ED: the hull of ED ± h and MOVER with correlation 0, cut to [−1, 1]; None without a variance."""
    return join_sides(moments, guaranteed_sides(moments, level=level), level=level, correlation=0.0)


def _join(first: Limits, second: Limits) -> Limits:
    return Limits(low=min(first.low, second.low), high=max(first.high, second.high))
