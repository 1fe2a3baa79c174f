"""Shares of recognition with the intervals of every Φ: tasks and contexts are the units, not responses.

A share is Φ of the scores 1 (recognised) and 0, so its interval, and that of a difference of two shares, is made as `caveat estimate`
makes them. Passages without a class are left out, and bounds say what they could have been.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.judge.correction import correct_by_accuracy
from audit.records.model_response import ReplayCell
from audit.statistics.contrast_intervals import ArmScores, compute_arms, find_obstacle, find_tasks_of_all
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.intervals import IntervalBasis, find_sides
from audit.statistics.judge_correction import JudgeAccuracy
from audit.statistics.mean_intervals import difference_interval
from audit.statistics.missing_responses import ResponseSide
from audit.statistics.side_moments import Moments, average_tasks, compute_task_means
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Measure, ScoreRange
from registry.records.module_findings import CorrectedEstimate, RecognitionClass

_UNIT = ScoreScale(low=0.0, high=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One passage that holds a text, with its class."""

    cell: ReplayCell
    class_: RecognitionClass | None
    """None when *excluded* says why there is none."""
    excluded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The passages of one channel of one arm."""

    name: str
    verdicts: Sequence[Verdict]
    tasks: tuple[str, ...]
    """All task ids of the study, so that codes agree between groups."""
    contexts: tuple[str, ...]

    def score(self, holds: Callable[[RecognitionClass], bool], *, fill: float = float("nan")) -> ResponseSide:
        """Return 1 where the class *holds*, 0 where it does not, *fill* where there is no class."""
        task_codes = {label: code for code, label in enumerate(self.tasks)}
        context_codes = {label: code for code, label in enumerate(self.contexts)}
        scores = [fill if one.class_ is None else float(holds(one.class_)) for one in self.verdicts]
        return ResponseSide(
            task=np.array([task_codes[one.cell.task_id] for one in self.verdicts], dtype=np.int32),
            context=np.array([context_codes[one.cell.context_id] for one in self.verdicts], dtype=np.int32),
            score=np.array(scores, dtype=np.float64),
        )


def measure_share(group: Group, holds: Callable[[RecognitionClass], bool], plan: Plan) -> Measure:
    """Return the share of classified passages whose class *holds*, over the group's own tasks; there must be at least one."""
    arms = _compare(group, group, holds, plan)
    if arms is None:
        return Measure(value=None, reason="no passage has a class")
    moments = arms.first
    limits = find_sides(IntervalBasis(moments=moments), level=plan.level)[0]
    if limits is None:
        return Measure(value=moments.test.mean, reason=_explain(arms, group))
    return Measure(value=moments.test.mean, low=limits.low, high=limits.high)


def measure_difference(
    test: Group, deploy: Group, holds: Callable[[RecognitionClass], bool], plan: Plan, accuracy: JudgeAccuracy | None
) -> tuple[Measure, Measure | None, int]:
    """Return share of *test* − share of *deploy* over their common tasks, the same corrected (None without *accuracy*), and the tasks."""
    arms = _compare(test, deploy, holds, plan)
    if arms is None:
        nothing = Measure(value=None, reason="no task has a classified passage on both sides")
        return nothing, None if accuracy is None else nothing, 0
    limits = difference_interval(arms.first, level=plan.level)
    value = arms.first.difference
    plain = (
        Measure(value=value, reason=_explain(arms, test, deploy))
        if limits is None
        else Measure(value=value, low=limits.low, high=limits.high)
    )
    corrected = None if accuracy is None else _correct(arms.first, accuracy, plan).ed
    return plain, corrected, arms.tasks


def correct_share(group: Group, holds: Callable[[RecognitionClass], bool], plan: Plan, accuracy: JudgeAccuracy) -> Measure:
    """Return the share corrected for the classifier's errors (Rogan & Gladen); None with its reason where that cannot be."""
    arms = _compare(group, group, holds, plan)
    return Measure(value=None, reason="no passage has a class") if arms is None else _correct(arms.first, accuracy, plan).phi_test


def bound_share(group: Group, holds: Callable[[RecognitionClass], bool]) -> ScoreRange | None:
    """Return the lowest and the highest share that the passages without a class could give; None without a passage."""
    if not group.verdicts:
        return None
    low, high = (_average(group.score(holds, fill=fill), len(group.tasks)) for fill in (0.0, 1.0))
    return ScoreRange(low=low, high=high)


def _average(side: ResponseSide, tasks: int) -> float:
    cells = side.cells(fill=0.0)
    return average_tasks(compute_task_means(cells, find_tasks_of_all([cells], tasks=tasks)), None)


def _compare(first: Group, second: Group, holds: Callable[[RecognitionClass], bool], plan: Plan) -> ArmScores | None:
    """Moments of two groups, which may be one and the same, over the tasks that both have; None without one."""
    cells = [group.score(holds).scored().cells(fill=0.0) for group in (first, second)]
    common = find_tasks_of_all(cells, tasks=len(first.tasks))
    if not common.any():
        return None
    random = plan.contexts is ContextDesign.RANDOM
    return compute_arms({"first": cells[0], "second": cells[1]}, common, random=random, binary=True)


def _correct(moments: Moments, accuracy: JudgeAccuracy, plan: Plan) -> CorrectedEstimate:
    judged = difference_interval(moments, level=plan.level)
    return correct_by_accuracy(moments, (accuracy, accuracy), judged, _UNIT, level=plan.level)


def _explain(arms: ArmScores, *groups: Group) -> str:
    """Why there is no interval, in the words of contrasts, with the arms by their names."""
    reason = find_obstacle(arms) or "nothing says how the passages vary"
    if "context" not in reason:
        return reason
    alone = [group.name for group, side in zip(groups, ("first", "second"), strict=False) if arms.side(side).contexts < 2]
    return f"one context in arm {', '.join(dict.fromkeys(alone))}: nothing says how contexts vary"
