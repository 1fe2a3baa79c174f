"""A judge's scores on both sides, and Φ and ED corrected for its errors, beside the judged numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError
from audit.modules.score_sides import SidePair, build_pairs, check_contexts, check_range, drop_ablations, find_arm, name_files
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.judge_correction import (
    ENOUGH_TO_TUNE,
    FEWEST_LABELS,
    CorrectedShare,
    JudgeAccuracy,
    JudgedResponses,
    LinearEstimate,
    correct,
    correct_difference,
    correct_share,
    correct_shared_difference,
    find_bias,
    find_difference,
    find_effective_size,
    find_limits,
    find_mean_limits,
    has_rare_errors,
    measure_rate,
    tune,
    weigh_responses,
)
from audit.statistics.mean_intervals import ConfidenceLimits, task_correlation
from audit.statistics.responses import Floats, RepeatedResponses, ScoreTable, average_repeats, find_relative_weights, find_responses
from audit.statistics.side_moments import Moments, find_units
from registry.errors import Fault
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Measure
from registry.records.module_findings import CorrectedEstimate, JudgeAgreement

# The questions about a judge, and the responses of both sides that they concern, for one specification
# of P_deploy.

Rows = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeQuestion:
    """What is known beside the scores; arrays hold one number for each row of the table, NaN where there is none."""

    labels: Floats | None = None
    """A person's, in the unit of the score; None: there are none."""

    label_source: str = "label"
    """The column, or the file, they come from."""

    rescored: Floats | None = None
    """What the judge gave the same response with its context hidden or swapped, in the unit of the score; None: not asked."""

    rescored_column: str = "rescored"
    marks: Mapping[str, Floats] = field(default_factory=dict)
    """By column, 0 or 1: whether something went wrong with the response or its score, such as `truncated`."""

    accuracy: tuple[JudgeAccuracy, JudgeAccuracy] | None = None
    """Of the judge on the test and on the deployment side, measured elsewhere; None: not known. The same object twice: one
    measurement for both sides."""

    def keep(self, rows: npt.NDArray[np.bool_]) -> "JudgeQuestion":
        """Return the question for some rows of the table (a mask)."""
        return replace(
            self,
            labels=None if self.labels is None else self.labels[rows],
            rescored=None if self.rescored is None else self.rescored[rows],
            marks={name: values[rows] for name, values in self.marks.items()},
        )

    def average(self, responses: RepeatedResponses, scale: ScoreScale) -> "JudgeQuestion":
        """Return the question by response instead of by row, labels and scores mapped to [0, 1]."""
        return replace(
            self,
            labels=None if self.labels is None else responses.average(scale.shrink(self.labels)),
            rescored=None if self.rescored is None else responses.average(scale.shrink(self.rescored)),
            marks={name: responses.average(values) for name, values in self.marks.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeScores:
    """What one judge gave."""

    averaged: ScoreTable
    """One row for each response, repeats averaged, without ablations."""

    question: JudgeQuestion
    """By response, in [0, 1]."""

    responses: RepeatedResponses
    scorings: Floats
    """Every scoring, in [0, 1]; NaN where the judge gave none."""

    counts: Counts
    """By response: how often it was scored."""


def gather(table: ScoreTable, question: JudgeQuestion, scale: ScoreScale) -> JudgeScores:
    """Return the scores of one judge, with the question by response.

    Raises:
        DesignError: two scorings of one response have different labels.
    """
    # Labels and marks are by row of the whole table, so they lose the same rows as the table.
    if table.cue_removed is not None:
        question = question.keep(table.cue_removed.codes < 0)
    table, _ = drop_ablations(table)
    responses, scorings = find_responses(table), scale.shrink(table.score)
    _check_labels(table, responses, question, scale)
    return JudgeScores(
        averaged=average_repeats(table),
        question=question.average(responses, scale),
        responses=responses,
        scorings=scorings,
        counts=responses.count(scorings),
    )


def _check_labels(table: ScoreTable, responses: RepeatedResponses, question: JudgeQuestion, scale: ScoreScale) -> None:
    if question.labels is None:
        return
    labels = scale.shrink(question.labels)
    # A label belongs to the response. Two labels of one response would be averaged silently.
    differs = int(np.count_nonzero(np.abs(labels - responses.average(labels)[responses.of_row]) > _EQUAL))
    if differs:
        problem = f"{differs} rows have another label than other scorings of the same response"
        where = f"{name_files(table)}, {question.label_source}"
        raise DesignError(Fault("labels-differ", where, problem))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideScores:
    """One side, its responses in an order that does not depend on the table's."""

    name: Literal["test", "deploy"]
    judged: JudgedResponses
    """Scored responses to tasks that both sides have scores for, with the person's labels."""

    rescored: JudgedResponses
    """The same, with what the judge gave when it scored them again in place of labels."""

    marks: Mapping[str, JudgedResponses]
    """By column: all responses, excluded ones too; the mark stands as label, and the score is 0."""

    rows: Rows
    """Of the responses of `judged` in the averaged table."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpecScores:
    """Both sides for one specification of P_deploy."""

    pair: SidePair
    test: SideScores
    deploy: SideScores
    context_names: tuple[str, ...]
    """By context code."""

    @property
    def sides(self) -> tuple[SideScores, SideScores]:
        """The test side, then the deployment side."""
        return self.test, self.deploy


def split_specs(scores: JudgeScores, plan: Plan, scale: ScoreScale, *, test: str, deploy: str) -> Iterator[SpecScores]:
    """Yield both sides for each specification of P_deploy, in the order of their names.

    Raises:
        DesignError: a side is missing, the sides share no task, weights are no weights, or the contexts contradict the plan.
    """
    table = scores.averaged
    check_range(table, scale)
    test_rows = find_arm(table, test, deploy)
    pairs = build_pairs(table, scale, test_rows, test=test, deploy=deploy)
    check_contexts(table, pairs, plan, test=test, deploy=deploy)
    deploy_rows = np.flatnonzero(table.arm.codes == table.arm.find(deploy))
    for pair in pairs:
        code = table.spec.find(pair.spec)
        # A table without named specifications has one, with all deployment rows.
        own = deploy_rows if code is None else deploy_rows[table.spec.codes[deploy_rows] == code]
        yield SpecScores(
            pair=pair,
            test=_build_side(scores, pair, "test", test_rows, own),
            deploy=_build_side(scores, pair, "deploy", own, test_rows),
            context_names=table.context.labels,
        )


def _build_side(scores: JudgeScores, pair: SidePair, name: Literal["test", "deploy"], rows: Rows, other: Rows) -> SideScores:
    table, question = scores.averaged, scores.question
    # A fixed order of responses makes every sum independent of the table's order.
    rows = rows[np.lexsort([table.sample.codes[rows], table.context.codes[rows], table.task.codes[rows]])]
    # Φ is over tasks that both sides have, so the correction uses the same responses.
    used = rows[pair.common[table.task.codes[rows]] & (scores.counts[rows] > 0)]
    nothing = np.full(table.rows, np.nan)
    score = scores.responses.average(scores.scorings)
    both = np.zeros(len(pair.labels), dtype=bool)
    # A mark such as `truncated` exists for excluded responses too. Its rate needs tasks with any
    # response on both sides, not tasks with scores.
    both[np.intersect1d(table.task.codes[rows], table.task.codes[other])] = True
    every, marked = replace(pair, common=both), rows[both[table.task.codes[rows]]]
    return SideScores(
        name=name,
        judged=_judge(table, pair, used, score=score, label=nothing if question.labels is None else question.labels),
        rescored=_judge(table, pair, used, score=score, label=nothing if question.rescored is None else question.rescored),
        marks={column: _judge(table, every, marked, score=np.zeros(table.rows), label=values) for column, values in question.marks.items()},
        rows=used,
    )


def _judge(table: ScoreTable, pair: SidePair, rows: Rows, *, score: Floats, label: Floats) -> JudgedResponses:
    common = pair.common
    task, context = (np.cumsum(common) - 1).astype(np.int32)[table.task.codes[rows]], table.context.codes[rows]
    tasks = int(np.count_nonzero(common))
    relative = find_relative_weights(pair.weights, common)
    clusters = pair.test.clusters
    units = find_units(clusters, common, relative)
    return JudgedResponses(
        task=task if units.of_task is None else units.of_task.astype(np.int32)[task],
        context=context,
        template=None if clusters.template is None else clusters.template.astype(np.int32)[context],
        score=score[rows],
        label=label[rows],
        weight=weigh_responses(task, context, relative, tasks=tasks),
        tasks=units.number,
    )


# Φ and ED corrected for a judge's errors. They are reported next to the judged numbers and never
# replace them.

SIDES = {"test": "test", "deploy": "deployment"}
"""What a side is called in a sentence."""


def describe_labels(side: SideScores, scale: ScoreScale, *, level: float) -> JudgeAgreement:
    """Return how the judge's scores of one side compare with a person's."""
    judged = side.judged
    if not judged.labels:
        nothing = Measure(value=None, reason=f"no response of the {SIDES[side.name]} side has a label")
        return JudgeAgreement(side=side.name, labelled=0, responses=len(judged.score), bias=nothing, sensitivity=None, specificity=None)
    bias = find_bias(judged, level=level)
    limits = find_limits(bias, random=False, level=level)
    reason = None if limits is not None else "all labels are of one task: nothing says how tasks vary"
    labelled = judged.labelled
    score, label, task = judged.score[labelled], judged.label[labelled], judged.task[labelled]
    # Sensitivity and specificity are defined for two answers only.
    binary = bool((((score == 0) | (score == 1)) & ((label == 0) | (label == 1))).all())
    return JudgeAgreement(
        side=side.name,
        labelled=judged.labels,
        responses=len(judged.score),
        bias=Measure(
            # The bias is reported as judge − person; the statistics compute person − judge.
            value=scale.stretch_difference(-bias.value),
            low=None if limits is None else scale.stretch_difference(max(-1.0, -limits.high)),
            high=None if limits is None else scale.stretch_difference(min(1.0, -limits.low)),
            reason=reason,
        ),
        sensitivity=_measure(measure_rate(score == 1, among=label == 1, task=task, level=level), "positive") if binary else None,
        specificity=_measure(measure_rate(score == 0, among=label == 0, task=task, level=level), "negative") if binary else None,
    )


def _measure(rate: tuple[float, ConfidenceLimits] | None, kind: str) -> Measure:
    if rate is None:
        return Measure(value=None, reason=f"the person called no labelled response {kind}")
    return Measure(value=rate[0], low=rate[1].low, high=rate[1].high)


def correct_by_labels(spec: SpecScores, plan: Plan, scale: ScoreScale) -> CorrectedEstimate:
    """Return the prediction-powered Φ and ED; what too few labels, or a design, does not allow is None with its reason."""
    random = plan.contexts is ContextDesign.RANDOM
    sides = (spec.test, spec.deploy)
    # Below the limit on either side λ stays 1 on both.
    tuned = all(side.judged.labels >= ENOUGH_TO_TUNE for side in sides)
    estimates: list[LinearEstimate | None] = []
    weights: list[float | None] = []
    for side in sides:
        enough = side.judged.labels >= FEWEST_LABELS
        # With rare errors λ stays 1: only there do the exact limits of rare errors apply
        # (`judge_correction.correct`).
        weight = tune(side.judged) if tuned and not has_rare_errors(side.judged) else 1.0
        weights.append(weight if enough else None)
        estimates.append(correct(side.judged, weight=weight, level=plan.level) if enough else None)
    measures = [
        _measure_side(side, estimate, scale, random=random, level=plan.level) for side, estimate in zip(sides, estimates, strict=True)
    ]
    cut = [side for side, estimate in zip(sides, estimates, strict=True) if estimate is not None and not 0 <= estimate.value <= 1]
    return CorrectedEstimate(
        method="prediction-powered",
        detail="; ".join([*_describe_weights(sides, weights, tuned=tuned), *_describe_clusters(cut, random=random)]),
        phi_test=measures[0],
        phi_deploy=measures[1],
        ed=_measure_difference(estimates, (measures[0], measures[1]), scale, random=random, level=plan.level),
        lambda_test=weights[0],
        lambda_deploy=weights[1],
    )


def _measure_side(side: SideScores, linear_estimate: LinearEstimate | None, scale: ScoreScale, *, random: bool, level: float) -> Measure:
    if linear_estimate is None:
        return Measure(
            value=None, reason=f"{side.judged.labels} labels on the {SIDES[side.name]} side; at least {FEWEST_LABELS} are needed"
        )
    value = scale.stretch(min(1.0, max(0.0, linear_estimate.value)))
    limits = find_mean_limits(linear_estimate, random=random, level=level)
    if limits is None:
        what = "task" if linear_estimate.tasks < 2 else "context"
        return Measure(value=value, reason=f"all labels of the {SIDES[side.name]} side are of one {what}: nothing says how {what}s vary")
    return Measure(value=value, low=scale.stretch(limits.low), high=scale.stretch(limits.high))


def _measure_difference(
    linear_estimates: list[LinearEstimate | None], sides: tuple[Measure, Measure], scale: ScoreScale, *, random: bool, level: float
) -> Measure:
    test, deploy = linear_estimates
    reasons = [side.reason for side in sides if side.reason]
    if test is None or deploy is None:
        return Measure(value=None, reason="; ".join(reasons))
    value = scale.stretch_difference(min(1.0, max(-1.0, test.value - deploy.value)))
    limits = [find_mean_limits(estimate, random=random, level=level) for estimate in (test, deploy)]
    if limits[0] is None or limits[1] is None:
        return Measure(value=value, reason="; ".join(reasons))
    band = find_difference(test, deploy, (limits[0], limits[1]), random=random, level=level)
    return Measure(value=value, low=scale.stretch_difference(max(-1.0, band.low)), high=scale.stretch_difference(min(1.0, band.high)))


def _describe_weights(sides: tuple[SideScores, SideScores], weights: list[float | None], *, tuned: bool) -> list[str]:
    if all(side.judged.labelled.all() for side in sides):
        return ["every response has a label, so the judge plays no part"]
    numbers = [f"{weight:.3g}" for weight in weights if weight is not None]
    how = "tuned on each side" if tuned else f"tuned from {ENOUGH_TO_TUNE} labels a side on"
    return [f"λ = {' and '.join(dict.fromkeys(numbers))} ({how})"] if numbers else []


def _describe_clusters(cut: list[SideScores], *, random: bool) -> list[str]:
    return [
        "tasks and contexts as clusters" if random else "tasks as clusters, conditional on these contexts",
        "labels taken for a random subset of each side",
        *(f"Φ of the {SIDES[side.name]} side cut to the range" for side in cut),
    ]


def correct_by_accuracy(
    moments: Moments, accuracy: tuple[JudgeAccuracy, JudgeAccuracy], judged: ConfidenceLimits | None, scale: ScoreScale, *, level: float
) -> CorrectedEstimate:
    """Return Φ and ED after Rogan & Gladen; None with the reason where scores are not binary or the judge is no better than chance.

    Args:
        moments: of the judged scores.
        accuracy: on the test and on the deployment side; the same object twice is one measurement for both.
        judged: interval of the judged ED, in [−1, 1]; None without one.
        scale: range of the scores.
        level: nominal coverage.
    """
    # One measurement for both sides is one error for both: it scales ED and cannot differ between
    # sides.
    shared = accuracy[0] is accuracy[1]
    detail = "sensitivity {}/{} and specificity {}/{}"
    described = [
        detail.format(
            judge_accuracy.sensitivity.right,
            judge_accuracy.sensitivity.cases,
            judge_accuracy.specificity.right,
            judge_accuracy.specificity.cases,
        )
        for judge_accuracy in accuracy
    ]
    detail = f"{described[0]} on both sides" if shared else f"{described[0]} on the test side, {described[1]} on the deployment side"
    refused = _refuse_accuracy(moments, accuracy)
    if refused is not None:
        nothing = Measure(value=None, reason=refused)
        return CorrectedEstimate(method="rogan-gladen", detail=detail, phi_test=nothing, phi_deploy=nothing, ed=nothing)
    sides = []
    for side, judge_accuracy in zip((moments.test, moments.deploy), accuracy, strict=True):
        size = find_effective_size(side, random=moments.random, banerjee=moments.banerjee, level=level)
        # Without a size there is no interval; the value does not depend on the size.
        sides.append((correct_share(share=side.mean, size=size or 1.0, accuracy=judge_accuracy, level=level), size is not None))
    shares, limits = [share for share, _ in sides], None
    if all(known for _, known in sides) and judged is not None:
        difference = moments.difference
        limits = (
            correct_shared_difference(difference=difference, limits=judged, accuracy=accuracy[0], level=level)
            if shared
            else _widen(correct_difference(shares[0], shares[1], correlation=_oppose(moments)), shares, difference, judged)
        )
        # The scaled interval assumes that neither share was cut to [0, 1]. Where one was, the wider
        # separate form is added.
        if shared and any(share.uncut != share.value for share in shares):
            apart = correct_difference(shares[0], shares[1])
            limits = ConfidenceLimits(low=min(limits.low, apart.low), high=max(limits.high, apart.high))
    cut = [name for name, share in zip(SIDES.values(), shares, strict=True) if share.uncut != share.value]
    value = shares[0].value - shares[1].value
    reason = None if limits is not None else "the judged scores have no interval in this design"
    return CorrectedEstimate(
        method="rogan-gladen",
        detail="; ".join([detail, "interval after Lang and Reiczigel", *(f"Φ of the {name} side cut to [0, 1]" for name in cut)]),
        phi_test=_measure_prevalence(shares[0], scale, known=sides[0][1]),
        phi_deploy=_measure_prevalence(shares[1], scale, known=sides[1][1]),
        ed=Measure(
            value=scale.stretch_difference(value),
            low=None if limits is None else scale.stretch_difference(min(limits.low, value)),
            high=None if limits is None else scale.stretch_difference(max(limits.high, value)),
            reason=reason,
        ),
    )


def _widen(
    limits: ConfidenceLimits, corrected_shares: Sequence[CorrectedShare], difference: float, judged: ConfidenceLimits
) -> ConfidenceLimits:
    """The limits, at least as far from the value as the judged ones: correcting never makes an estimate surer."""
    value = corrected_shares[0].value - corrected_shares[1].value
    low, high = min(limits.low, value - (difference - judged.low)), max(limits.high, value + (judged.high - difference))
    return ConfidenceLimits(low=max(-1.0, low), high=min(1.0, high))


def _oppose(moments: Moments) -> float:
    """How far tasks go against each other on the two sides: their correlation, at most 0."""
    return min(0.0, task_correlation(moments))


def _refuse_accuracy(moments: Moments, accuracy: tuple[JudgeAccuracy, JudgeAccuracy]) -> str | None:
    if not moments.binary:
        return "not all scores are the lowest or the highest possible; sensitivity and specificity are of binary scores"
    for name, judge_accuracy in zip(SIDES.values(), accuracy, strict=True):
        if not judge_accuracy.informative:
            total = judge_accuracy.sensitivity.rate + judge_accuracy.specificity.rate
            return f"sensitivity and specificity on the {name} side sum to {total:.3g}: with a case of each kind added, no more than chance"
    return None


def _measure_prevalence(corrected_share: CorrectedShare, scale: ScoreScale, *, known: bool) -> Measure:
    value = scale.stretch(corrected_share.value)
    if not known:
        return Measure(value=value, reason="the judged scores have no interval in this design")
    return Measure(value=value, low=scale.stretch(corrected_share.limits.low), high=scale.stretch(corrected_share.limits.high))
