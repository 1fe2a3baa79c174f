"""Is a difference so small that it does not matter?

Source: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657–680 (two one-sided tests, TOST).
"""

from audit.statistics.halfwidth import one_sided_p
from audit.statistics.moments import Moments
from audit.statistics.proportion import Limits


def equivalence_p(moments: Moments, *, margin: float) -> float | None:
    """Return the larger p of the two one-sided tests of |ED| ≥ *margin*; None without a variance.

    Both tests use the standard error and degrees of freedom of ED ± h, so `is_equivalent` at a level implies
    p ≤ (1 − level)/2. The reverse need not hold: the reported interval also holds MOVER's limits and is the wider one.
    """
    parts = moments.parts()
    if parts is None:
        return None
    # The nearer end of [−margin, margin] has the larger p.
    return one_sided_p(margin - abs(moments.difference), parts, banerjee=moments.banerjee)


def difference_p(moments: Moments) -> float | None:
    """Return the two-sided p of ED = 0, from the standard error and degrees of freedom of ED ± h; None without a variance."""
    parts = moments.parts()
    p = None if parts is None else one_sided_p(abs(moments.difference), parts, banerjee=moments.banerjee)
    return None if p is None else min(1.0, 2 * p)


def is_equivalent(interval: Limits | None, *, margin: float) -> bool:
    """Tell whether the whole interval lies within ±margin; without an interval it does not."""
    return interval is not None and -margin <= interval.low and interval.high <= margin
