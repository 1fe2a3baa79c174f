"""ED for all tasks of the test side when only a random subset of them was replayed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.statistics.mean_intervals import ConfidenceLimits
from audit.statistics.responses import Floats, sum_all, sum_groups
from audit.statistics.side_moments import (
    ENOUGH_CONTEXTS,
    ZERO_VARIANCE,
    Cells,
    Clusters,
    VariancePart,
    compute_context_variance,
    compute_task_means,
    count_contexts,
    find_units,
    half_width,
)

# Regression estimator of survey sampling: X̄_N is the mean test score of all tasks, x̄_n that of the
# replayed ones, b the slope. No verdict depends on it.
FEWEST_REPLAYED = 20
"""From so many replayed tasks on the estimate is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetEstimate:
    """ED by regression, in [−1, 1]; whatever is None is explained by `reason`."""

    value: float | None
    limits: ConfidenceLimits | None
    slope: float | None
    tasks_all: int
    tasks_replayed: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _RegressionLine:
    """The least-squares line of y on x over the replayed tasks."""

    slope: float
    value: float
    """ED by the estimator."""

    mean_deploy: float
    """ȳ_n."""

    gap: float
    """X̄_N − x̄_n."""

    spread: float
    """Σ(x − x̄_n)²."""

    residual: float
    """s_e², with n − 2."""


def estimate_from_subset(test: Cells, deploy: Cells, common: npt.NDArray[np.bool_], *, random: bool, level: float) -> SubsetEstimate:
    """Return ED for all tasks of *test*, of which the *common* ones were replayed; cells of tasks without test scores are excluded."""
    every = np.zeros(len(common), dtype=bool)
    every[test.task] = True
    deploy = deploy.keep(common)
    x_all, x, y = compute_task_means(test, every), compute_task_means(test, common), compute_task_means(deploy, common)

    def give(*, reason: str | None, line: _RegressionLine | None = None, limits: ConfidenceLimits | None = None) -> SubsetEstimate:
        return SubsetEstimate(
            value=None if line is None else min(1.0, max(-1.0, line.value)),
            limits=limits,
            slope=None if line is None else line.slope,
            tasks_all=len(x_all),
            tasks_replayed=len(x),
            reason=reason,
        )

    # Families are the independent units, so they are what the minimum counts.
    replayed = find_units(test.clusters, common, None)
    if replayed.number < FEWEST_REPLAYED:
        counted = "tasks" if replayed.of_task is None else "families of tasks"
        return give(reason=f"{replayed.number} {counted} were replayed; the regression needs at least {FEWEST_REPLAYED}")
    line = _fit(x_all, x, y)
    if line is None:
        return give(reason="test scores do not vary over the replayed tasks, so nothing can be regressed on them")
    if line.residual <= ZERO_VARIANCE:
        return give(line=line, reason="the replayed tasks lie on the regression line: nothing says how others would scatter about it")
    weights = (1 - line.slope) / np.count_nonzero(every) * every + line.slope / np.count_nonzero(common) * common
    # Context parts are not scaled by 1 − b: a context effect moves X̄_N and x̄_n alike, so the
    # regression does not remove it. The gain is smaller with few contexts.
    contexts = _find_context_parts(test, deploy, line, weights, replayed=len(x)) if random else ()
    if contexts is None:
        return give(line=line, reason="one context on a side: nothing says how contexts vary")
    families = _find_family_part(test.clusters, line, (x_all, x, y), (every, common))
    parts = (*(families or _find_task_parts(line, x_all, len(x))), *contexts)
    banerjee = random and min(count_contexts(test), count_contexts(deploy)) < ENOUGH_CONTEXTS
    # Clamping keeps the point inside the limits, since ED cannot leave [−1, 1].
    h = half_width(parts, level=level, banerjee=banerjee)
    value = min(1.0, max(-1.0, line.value))
    return give(line=line, limits=ConfidenceLimits(low=max(-1.0, value - h), high=min(1.0, value + h)), reason=None)


def _fit(x_all: Floats, x: Floats, y: Floats) -> _RegressionLine | None:
    """None where x does not vary."""
    n = len(x)
    mean_x, mean_y, mean_all = sum_all(x) / n, sum_all(y) / n, sum_all(x_all) / len(x_all)
    off_x, off_y = x - mean_x, y - mean_y
    # Least squares over the replayed tasks; all sums are exact, so no order of tasks changes a bit.
    spread = sum_all(off_x**2)
    if spread / n <= ZERO_VARIANCE:
        return None
    slope = sum_all(off_x * off_y) / spread
    gap = mean_all - mean_x
    residual = sum_all((off_y - slope * off_x) ** 2) / (n - 2)
    return _RegressionLine(
        slope=slope, value=mean_all - (mean_y + slope * gap), mean_deploy=mean_y, gap=gap, spread=spread, residual=residual
    )


def _find_task_parts(line: _RegressionLine, x_all: Floats, replayed: int) -> tuple[VariancePart, VariancePart]:
    everyone = len(x_all)
    variance = sum_all((x_all - sum_all(x_all) / everyone) ** 2) / (everyone - 1)
    return (
        # First the scatter of the replayed tasks about the line, then what all N tasks, a sample
        # themselves, still add.
        VariancePart(variance=line.residual * (1 / replayed + line.gap**2 / line.spread), df=replayed - 2),
        VariancePart(variance=(1 - line.slope) ** 2 * variance / everyone, df=everyone - 1),
    )


def _find_family_part(
    clusters: Clusters,
    line: _RegressionLine,
    means: tuple[Floats, Floats, Floats],
    masks: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]],
) -> tuple[VariancePart, ...]:
    """The task part from what each task adds to the estimator's deviation, summed by family; empty without families."""
    if clusters.family is None:
        return ()
    (x_all, x, y), (every, common) = means, masks
    off_x = x - sum_all(x) / len(x)
    residuals = y - line.mean_deploy - line.slope * off_x
    deviations = np.zeros(len(every))
    deviations[every] = (1 - line.slope) * (x_all - sum_all(x_all) / len(x_all)) / len(x_all)
    deviations[common] -= residuals * (1 / len(x) + line.gap * off_x / line.spread)
    sums = sum_groups(deviations, clusters.family[: len(every)], size=len(every))
    families, replayed = (find_units(clusters, mask, None).number for mask in masks)
    return (VariancePart(variance=sum_all(sums**2) * families / (families - 1), df=replayed - 2),)


def _find_context_parts(
    test: Cells, deploy: Cells, line: _RegressionLine, weights: Floats, *, replayed: int
) -> tuple[VariancePart, VariancePart] | None:
    """None where a side has one context."""
    counts = count_contexts(test), count_contexts(deploy)
    mean_test = line.value + line.mean_deploy
    first = compute_context_variance(test, mean_test, tasks=len(weights), by_code=weights)
    second = compute_context_variance(deploy, line.mean_deploy, tasks=replayed, by_code=None)
    if first is None or second is None:
        return None
    return VariancePart(variance=first, df=counts[0] - 1), VariancePart(variance=second, df=counts[1] - 1)
