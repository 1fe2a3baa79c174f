"""Intervals that hold for several contrasts of the same tasks at once: max-|t| over shared bootstrap weights.

Sources: P. H. Westfall & S. S. Young, Resampling-Based Multiple Testing (Wiley 1993), section 2.5; T. Hothorn, F. Bretz & P. Westfall,
Biometrical Journal 50 (2008) 346–363 (simultaneous intervals from the joint distribution of the t statistics); Z. Šidák, Journal of
the American Statistical Association 62 (1967) 626–633 (independence is the widest case).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from audit.statistics.draws import count_rows, draw_uniforms, draw_weights, open_stream
from audit.statistics.halfwidth import ZERO_VARIANCE
from audit.statistics.proportion import Limits
from audit.statistics.scores import Floats

ENOUGH_UNITS = 20
"""Below so many tasks or contexts their resampled sums have too short tails: with five, intervals held jointly in 88 to 92 % of samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simultaneous:
    """What each of several intervals must be made at, so that all of them hold at once."""

    critical: float
    """estimate ± critical · standard error."""

    level: float
    """The same as the level of each interval taken alone, for half-widths with degrees of freedom of their own."""

    def limits(self, estimate: float, standard_error: float) -> Limits:
        """Return the simultaneous interval of one contrast."""
        return Limits(low=estimate - self.critical * standard_error, high=estimate + self.critical * standard_error)


def find_simultaneous(
    differences: Floats,
    standard_errors: Floats,
    *,
    level: float,
    replicates: int,
    seed: int,
    contexts: Sequence[Floats] = (),
) -> Simultaneous | None:
    """Return the critical value for m contrasts, all resampled with the same weights; None when no contrast has a standard error.

    The statistic of a replicate is the largest |estimate* − estimate|/SE. Its quantile is that of nearly normal statistics; with
    few tasks the standard errors vary too, so it is carried over to Student's t: the level at which the normal quantile is the
    bootstrap's gives the t quantile with (fewest tasks of a contrast) − 1 degrees of freedom. So it is never below the t
    quantile of a single interval, and never above Bonferroni's, which is enough whatever the correlation. It is Bonferroni's without
    replicates, and where a contrast rests on fewer than `ENOUGH_UNITS` tasks, or contexts.

    What of SE² neither *differences* nor *contexts* account for is drawn apart for each contrast, which is conservative.

    Args:
        differences: [tasks, m], the difference of each task in each contrast; NaN where a task lacks one.
        standard_errors: of the m estimates, all parts included; NaN or 0 leaves the contrast out.
        level: to hold jointly, between 0 and 1.
        replicates: 0 or more.
        seed: of the weights.
        contexts: for each sampled set of contexts [contexts, m], the share of each context in the estimate's deviation
            (Σ over tasks of a(m − Φ)/T); NaN where it has none.

    Raises:
        ValueError: shapes do not fit, *level* is not between 0 and 1, or *replicates* is negative.
    """
    _check(differences, standard_errors, contexts, level=level, replicates=replicates)
    tasks = np.count_nonzero(~np.isnan(differences), axis=0)
    used = np.flatnonzero((tasks >= 2) & (standard_errors > math.sqrt(ZERO_VARIANCE)))
    if not len(used):
        return None
    df = int(tasks[used].min()) - 1
    bonferroni = 1 - (1 - level) / len(used)
    errors = standard_errors[used]
    rank = math.ceil((replicates + 1) * level)
    joint = bonferroni
    if rank <= replicates and _count_fewest([differences[:, used], *(part[:, used] for part in contexts)]) >= ENOUGH_UNITS:
        parts = [_deviate(differences[:, used] - np.nanmean(differences[:, used], axis=0), divisor=tasks[used])]
        parts += [_deviate(part[:, used], divisor=1) for part in contexts]
        largest = _resample(parts, errors, replicates=replicates, seed=seed)
        reached = float(2 * ndtr(np.partition(largest, rank - 1)[rank - 1]) - 1)
        joint = min(bonferroni, max(level, reached))
    return Simultaneous(critical=float(stdtrit(df, 0.5 + joint / 2)), level=joint)


def _check(differences: Floats, standard_errors: Floats, contexts: Sequence[Floats], *, level: float, replicates: int) -> None:
    contrasts = standard_errors.shape
    if len(contrasts) != 1 or any(part.ndim != 2 or part.shape[1:] != contrasts for part in (differences, *contexts)):
        shapes = ", ".join(str(part.shape) for part in (differences, *contexts))
        raise ValueError(f"expected matrices with one column for each of {contrasts} standard errors, got {shapes}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if replicates < 0:
        raise ValueError(f"replicates must not be negative, got {replicates}")


def _count_fewest(parts: Sequence[Floats]) -> int:
    """The fewest tasks, or contexts, that any contrast rests on; contexts that a contrast has none of do not count."""
    counts = np.concatenate([np.count_nonzero(~np.isnan(part), axis=0) for part in parts])
    return int(counts[counts > 0].min())


def _deviate(deviations: Floats, *, divisor: int | Floats) -> Floats:
    """Deviations such that their squares add up to the part's variance; in an order that names cannot change."""
    present = np.count_nonzero(~np.isnan(deviations), axis=0)
    scaled: Floats = np.nan_to_num(deviations / divisor * np.sqrt(present / np.maximum(1, present - 1)), nan=0.0)
    return scaled[np.lexsort(scaled.T)]


def _resample(parts: Sequence[Floats], errors: Floats, *, replicates: int, seed: int) -> Floats:
    """The largest |t*| of each replicate."""
    explained = np.sum([np.sum(part**2, axis=0) for part in parts], axis=0)
    # What is left by rounding alone would be noise of its own.
    rest = np.sqrt(np.where(errors**2 - explained > 1e-9 * explained, errors**2 - explained, 0.0))
    scale = np.sqrt(np.maximum(errors**2, explained))
    rows = count_rows(max(len(part) for part in parts))
    found = []
    for block in range(-(-replicates // rows)):
        stream = open_stream(seed, block)
        total: Floats = ndtri(draw_uniforms(stream, rows=rows, columns=len(errors))) * rest
        for part in parts:
            # Deviations add up to 0, so weights need no centring.
            total += draw_weights(stream, rows=rows, units=len(part)) @ part
        found.append(np.abs(total / scale).max(axis=1))
    return np.concatenate(found)[:replicates] if found else np.empty(0)
