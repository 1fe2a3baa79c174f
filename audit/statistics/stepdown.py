"""Levels for intervals of several comparisons at once, stepping down from the clearest.

Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70; intervals read as in `audit.across`.
"""

from collections.abc import Callable, Sequence

from audit.statistics.multiplicity import holm_levels

Excludes = Callable[[float], bool]
"""Whether a comparison's interval at a level excludes no difference."""


def step_down(comparisons: Sequence[Excludes], ps: Sequence[float | None], *, level: float) -> tuple[float, ...]:
    """Return the level at which each comparison's interval is to be given, in the order of *comparisons*.

    The comparison with the k-th smallest p gets 1 − α/(m − k + 1) as long as every interval so far excludes no difference. The first
    that does not stops the steps, and all later ones are given at its level: so an interval at its level excludes no difference
    exactly when Holm's rule rejects, if intervals are never shorter than those that p comes from. A comparison without p comes first if
    its interval at the strictest level excludes no difference, and last otherwise.

    Raises:
        ValueError: as many p as comparisons are needed, and a level between 0 and 1.
    """
    if not comparisons:
        return ()
    levels = holm_levels(len(comparisons), level=level)
    place = dict(zip(range(len(comparisons)), ps, strict=True))
    known = {k: p if p is not None else (0.0 if comparisons[k](levels[0]) else 1.0) for k, p in place.items()}
    found, stopped = dict.fromkeys(known, level), None
    for step, k in enumerate(sorted(known, key=lambda k: (known[k], k))):
        found[k] = stopped or levels[step]
        if stopped is None and not comparisons[k](levels[step]):
            stopped = levels[step]
    return tuple(found[k] for k in range(len(comparisons)))
