"""Bootstrap bands of Φ_test, Φ_deploy, ED and nED, and the check that the run did what it should.

A band reaches from one percentile of the replicates to the other, stretched about the estimate by k = max(1, h/(z·SE)), with h the
closed-form half-width of ED, SE the standard deviation of ED over the replicates, and z the normal quantile of the level (1.96 at
95 %): percentiles alone are too narrow with few tasks or contexts (statistics.md section 5). All bands of a run have the k of ED. They
decide nothing.

Replicates are the same to the last bit on every machine; k rests on quantiles of t, so bands are the same to about 12 digits.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audit.statistics.draws import ENOUGH_UNITS
from audit.statistics.halfwidth import ZERO_VARIANCE, Part, half_width
from audit.statistics.layers import ScoredSide, SideReading, build_layers
from audit.statistics.moments import Moments
from audit.statistics.reading import Scale
from audit.statistics.resampling import Layer, Sums, resample
from audit.statistics.scores import Floats
from audit.statistics.sums import sum_all, sum_groups, sum_many
from registry.records.estimate import Bands, Bootstrap, Range
from registry.records.plan import ContextDesign, Plan

_NO_SPREAD = 1e-6
"""A spread or a difference of a replicate up to this is taken for the rounding of 0, scores in [0, 1]."""

_NO_WIDTH = 1e-9
_LARGE = 100_000_000

_NOT_SAMPLED = {
    ContextDesign.RANDOM: "one context on a side: nothing says how contexts vary",
    ContextDesign.FIXED: "contexts are fixed, not a sample",
    ContextDesign.NESTED: "contexts are nested: the task is the only cluster",
}


def build_bootstrap(
    sides: tuple[ScoredSide, ScoredSide], moments: Moments, plan: Plan, scale: Scale, *, ned: float | None, weights: Floats | None
) -> Bootstrap | None:
    """Return the bands in the unit of the score; None without replicates, or when nothing says how tasks vary.

    Never a band of zero width: where the replicates do not vary, which is no certainty, it is None with the reason.

    Args:
        sides: test and deployment.
        moments: of these sides.
        plan: level, ε (filled in), seed, replicates, what contexts are.
        scale: range of the score.
        ned: nED; None when it is not defined.
        weights: of the tasks by their codes; None when all weigh the same.
    """
    if not plan.replicates or moments.difference_variance is None:
        return None
    random = moments.random and moments.parts() is not None
    ready = build_layers(sides, moments, weights=weights, random=random)
    threads = min(4, os.cpu_count() or 1) if moments.test.tasks * plan.replicates > _LARGE else 1
    found = resample(ready.layers, ready.task_weights, random=random, replicates=plan.replicates, seed=plan.seed, threads=threads)
    epsilon = (plan.epsilon or 0.0) / scale.width
    drawn = tuple(
        None if sums is None else _replicate(sums, ready.readings, epsilon=epsilon) for sums in (found.task, found.context, found.two_way)
    )
    error = _deviation([way for way in drawn if way is not None][-1]["ed"])
    maker = _BandMaker(level=plan.level, stretch=_find_stretch(moments, error, level=plan.level), unsampled=_NOT_SAMPLED[plan.contexts])

    def bands(name: str, point: float, write: Callable[[float], float], *, lowest: float, highest: float) -> Bands:
        return maker.build([None if way is None else way[name] for way in drawn], point, lambda x: write(min(highest, max(lowest, x))))

    return Bootstrap(
        replicates=plan.replicates,
        seed=plan.seed,
        stretch=maker.stretch,
        standard_error=scale.stretch_difference(error) if error > math.sqrt(ZERO_VARIANCE) else None,
        expected_standard_error=scale.stretch_difference(expected_error(ready.layers, ready.task_weights, random=random)),
        ed=bands("ed", moments.difference, scale.stretch_difference, lowest=-1.0, highest=1.0),
        phi_test=bands("phi_test", moments.test.mean, scale.stretch, lowest=0.0, highest=1.0),
        phi_deploy=bands("phi_deploy", moments.deploy.mean, scale.stretch, lowest=0.0, highest=1.0),
        ned=None if ned is None else bands("ned", ned, float, lowest=-math.inf, highest=math.inf),
    )


def expected_error(layers: tuple[Layer, Layer], task_weights: Floats, *, random: bool) -> float:
    """Return the standard error of ED over infinitely many replicates, scores in [0, 1].

    With z scaled to add up to deviations of the mean, E(w_i w_j) = α + [i = j] and E(v_c v_d) = β + [c = d]:
    Var = Σ_i (z_test,i· − z_deploy,i·)² + Σ_sides [(β − 1) Σ_i z_i·² + α Σ_c z_·c² + Σ_ic z_ic²], with α = 1 − 1/T or β = 1 − 1/C where
    counts are multinomial and 1 where they are Poisson (A. B. Owen & D. Eckles, arXiv:1106.2125, on weights that are products). Exact for
    multinomial weights without missing cells; otherwise of the linearised ratio.
    """
    tasks = len(task_weights)
    by_task = [sum_groups(layer.deviation, layer.task, size=tasks) for layer in layers]
    variance = sum_many((by_task[0] - by_task[1]) ** 2 / 2) * 2
    if random:
        for layer, rows in zip(layers, by_task, strict=True):
            columns = sum_groups(layer.deviation, layer.context, size=layer.contexts)
            alpha, loss = 1 - _loss(tasks), _loss(layer.contexts)
            variance += alpha * sum_all(columns**2) + sum_many(layer.deviation**2) - loss * sum_many(rows**2)
    return math.sqrt(max(0.0, variance)) / sum_all(task_weights)


def _loss(units: int) -> float:
    """1 − E(w_i w_j) of two units."""
    return 1 / units if units < ENOUGH_UNITS else 0.0


def _find_stretch(moments: Moments, error: float, *, level: float) -> float:
    if error <= math.sqrt(ZERO_VARIANCE):
        return 1.0
    # One context on a side leaves ED no half-width: then it is that of the tasks alone.
    task = Part(variance=moments.difference_variance or 0.0, df=moments.test.effective_tasks - 1)
    parts = moments.parts()
    h = half_width((task,) if parts is None else parts, level=level, banerjee=parts is not None and moments.banerjee)
    return max(1.0, h / (float(ndtri(0.5 + level / 2)) * error))


def _replicate(sums: tuple[Sums, Sums], readings: tuple[SideReading, SideReading], *, epsilon: float) -> dict[str, Floats]:
    """The four statistics of each replicate; NaN where nothing was drawn, nED ±∞ where it is not defined."""
    test, deploy = (reading.means(side) for reading, side in zip(readings, sums, strict=True))
    first, second = (reading.variances(side) for reading, side in zip(readings, sums, strict=True))
    difference, spread = test - deploy, np.sqrt((first + second) / 2)
    # A replicate without spread whose sides differ lies beyond every other.
    undefined = np.where(np.abs(difference) <= _NO_SPREAD, 0.0, np.copysign(np.inf, difference))
    ned = np.where(spread <= _NO_SPREAD, undefined, difference / np.maximum(spread + epsilon, _NO_SPREAD))
    return {"phi_test": test, "phi_deploy": deploy, "ed": difference, "ned": ned}


def _deviation(values: Floats) -> float:
    """The standard deviation, the same on every machine."""
    kept = values[~np.isnan(values)]
    # Differences of means lie in [−1, 1], their squared deviations in [0, 4].
    return math.sqrt(4 * sum_many((kept - sum_many(kept) / len(kept)) ** 2 / 4) / len(kept)) if len(kept) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _BandMaker:
    level: float
    stretch: float
    unsampled: str
    """Why contexts are not resampled."""

    def build(self, drawn: list[Floats | None], point: float, write: Callable[[float], float]) -> Bands:
        """Bands of one statistic from its replicates by task, by context and by both."""
        ranges: list[Range | None] = []
        reasons: list[str] = []
        for values in drawn:
            found = self.unsampled if values is None else self._find_ends(values, point)
            ranges.append(None if isinstance(found, str) else Range(low=write(found[0]), high=write(found[1])))
            reasons += [found] if isinstance(found, str) else []
        return Bands(task=ranges[0], context=ranges[1], two_way=ranges[2], reason="; ".join(dict.fromkeys(reasons)) or None)

    def _find_ends(self, values: Floats, point: float) -> tuple[float, float] | str:
        """The stretched percentiles, or why there are none; A. C. Davison & D. V. Hinkley 1997, chapter 5: the (B + 1)α-th smallest."""
        kept = values[~np.isnan(values)]
        rank = math.floor((len(kept) + 1) * (1 - self.level) / 2 + 1e-9)
        if rank < 1:
            return f"{len(kept)} replicates are too few for a band at this level"
        kept = np.partition(kept, (rank - 1, len(kept) - rank))
        low, high = float(kept[rank - 1]), float(kept[-rank])
        if not math.isfinite(low) or not math.isfinite(high):
            return "not defined in too many replicates: their scores do not vary within the sides and yet the sides differ"
        if high - low <= _NO_WIDTH:
            return "the replicates do not vary, which is no certainty"
        return point + self.stretch * (low - point), point + self.stretch * (high - point)
