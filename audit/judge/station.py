"""From a score table and what is known beside it to a report on each judge.

Judged and corrected numbers stand side by side and are never mixed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audit.errors import DesignError
from audit.estimate import estimate
from audit.judge.correction import SIDES, correct_by_accuracy, correct_by_labels, describe_labels
from audit.judge.invariance import Bar, compare_marks, compare_person, compare_rescored, decide_overall
from audit.judge.question import Question, Scores, SpecScores, gather, split_specs
from audit.panel import split_judges
from audit.statistics.estimate_intervals import ScoreScale, parse_moments
from audit.statistics.judge_correction import compare_unlabelled
from audit.statistics.mean_intervals import ConfidenceLimits
from audit.statistics.responses import ScoreTable, find_noise_share, measure_noise
from audit.statistics.side_moments import total_variance
from registry.report.units import Unit
from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import Plan
from registry.records.estimates import BoundedEstimate, Differential, Estimate, EstimateWarning, Measure, SpecEstimate
from registry.records.module_findings import CorrectedEstimate, Invariance, JudgeAgreement, JudgeReport, Repeats
from registry.report.numbers import format_probability

_HARDLY = 0.01
"""A random subset differs from the rest with a smaller p in about one of a hundred sides."""


def examine(
    table: ScoreTable, plan: Plan, question: Question, *, range_: tuple[float, float], test: str = "test", deploy: str = "deploy"
) -> tuple[JudgeReport, ...]:
    """Return a report for each judge and each specification of P_deploy, judges first, in the order of their names.

    Args:
        table: checked scores.
        plan: margin, level and what contexts are; None in it means the default for *range_*.
        question: labels, second scores, marks and measured errors, row for row of *table*.
        range_: lowest and highest possible score.
        test: name of the test-like arm.
        deploy: name of the deployment-continuous arm.

    Raises:
        DesignError: no estimate can be made, or the labels of one response differ.
    """
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    reports: list[JudgeReport] = []
    faults: list[Fault] = []
    for name, scores in split_judges(table):
        own = question if name is None or table.judge is None else question.keep(table.judge.codes == table.judge.find(name))
        judge = name or (table.judge.labels[0] if table.judge is not None else None)
        try:
            gathered = gather(scores, own, scale)
            found = estimate(gathered.averaged, plan, range_=range_, test=test, deploy=deploy)
            specs = split_specs(gathered, plan, scale, test=test, deploy=deploy)
            subject = _Subject(judge=judge, scores=gathered, found=found, plan=plan, digest=table.content)
            reports.extend(_report(subject, spec, one) for spec, one in zip(specs, found.specs, strict=True))
        except CaveatError as error:
            faults.extend(error.faults)
    if faults:
        raise DesignError(dict.fromkeys(faults))
    return tuple(reports)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Subject:
    """One judge, with the estimate its scores give."""

    judge: str | None
    scores: Scores
    found: Estimate
    plan: Plan
    digest: str

    @property
    def scale(self) -> ScoreScale:
        return ScoreScale(low=self.found.range[0], high=self.found.range[1])

    @property
    def question(self) -> Question:
        return self.scores.question


def _report(subject: _Subject, spec: SpecScores, one: SpecEstimate) -> JudgeReport:
    found, question = subject.found, subject.question
    repeats = _describe_repeats(subject, spec, one)
    checks = tuple(_check(subject, spec, steady=repeats is not None and repeats.identical == 1))
    labels = () if question.labels is None else tuple(describe_labels(side, subject.scale, level=found.level) for side in spec.sides)
    return JudgeReport(
        judge=subject.judge,
        level=found.level,
        margin=found.margin,
        range=found.range,
        contexts=found.contexts,
        seed=found.seed,
        spec=one.spec,
        phi_test=_measure(one.phi_test),
        phi_deploy=_measure(one.phi_deploy),
        ed=_measure(one.ed),
        repeats=repeats,
        labels=labels,
        corrected=tuple(_correct(subject, spec, one)),
        invariance=checks,
        invariant=decide_overall(checks),
        scores=subject.digest,
        warnings=(
            *(warning for warning in found.warnings if warning.spec in (None, one.spec)),
            *_warn_bias(labels, found),
            *(_warn_selection(spec, found) if labels else ()),
        ),
    )


def _warn_bias(labels: tuple[JudgeAgreement, ...], found: Estimate) -> Iterator[EstimateWarning]:
    """A judge that errs alike on both sides passes the check of invariance, and its Φ are wrong all the same."""
    unit = Unit(low=found.range[0], high=found.range[1])
    for one in labels:
        low, high = one.bias.low, one.bias.high
        if one.bias.value is not None and low is not None and high is not None and (low > found.margin or high < -found.margin):
            message = (
                f"On the {SIDES[one.side]} side the judge is off by {unit.difference(one.bias.value, 0.0)} against a person "
                f"({unit.differences(low, high, 0.0)}), more than the margin: its Φ there is not what a person would say."
            )
            yield EstimateWarning(code="judge-off", message=message)


def _warn_selection(spec: SpecScores, found: Estimate) -> Iterator[EstimateWarning]:
    """Labels that were not drawn at random say nothing of the responses without one, and the scores of the judge may give that away."""
    unit = Unit(low=found.range[0], high=found.range[1])
    scale = ScoreScale(low=found.range[0], high=found.range[1])
    for side in spec.sides:
        selection = compare_unlabelled(side.judged)
        if selection is not None and selection.p < _HARDLY:
            labelled, others = (unit.score(scale.stretch(one)) for one in (selection.labelled, selection.others))
            message = (
                f"On the {SIDES[side.name]} side the judge gave labelled responses {labelled} on average and the others {others} "
                f"({format_probability(selection.p)}): the labels do not look like those of a random subset, which corrected numbers and "
                "the judge's errors take them for."
            )
            yield EstimateWarning(code="labels-not-random", message=message)


def _measure(bounded: BoundedEstimate | Differential) -> Measure:
    return Measure(value=bounded.value, low=bounded.low, high=bounded.high, reason=bounded.reason)


def _describe_repeats(subject: _Subject, spec: SpecScores, one: SpecEstimate) -> Repeats | None:
    """None when no response of the two sides was scored twice."""
    scores = subject.scores
    used = np.zeros(len(scores.counts), dtype=bool)
    for side in spec.sides:
        used[side.rows] = True
    noise = measure_noise(scores.responses, np.where(used[scores.responses.of_row], scores.scorings, np.nan))
    if noise is None:
        return None
    parts = parse_moments(subject.found, one).parts()
    weighed = (
        (spec.test.judged.weight, scores.counts[spec.test.rows]),
        (spec.deploy.judged.weight, scores.counts[spec.deploy.rows]),
    )
    variance = 0.0 if parts is None else total_variance(parts)
    share = find_noise_share(noise, weighed, variance=variance)
    return Repeats(
        responses=noise.responses,
        scorings=noise.scorings,
        deviation=subject.scale.stretch_difference(math.sqrt(noise.variance)),
        identical=noise.identical / noise.responses,
        share=share,
        reason=None if share is not None else "ED has no variance in this design",
    )


def _correct(subject: _Subject, spec: SpecScores, one: SpecEstimate) -> Iterator[CorrectedEstimate]:
    if subject.question.labels is not None:
        yield correct_by_labels(spec, subject.plan, subject.scale)
    if subject.question.accuracy is not None:
        width, ed = subject.scale.width, one.ed
        limits = None if ed.low is None or ed.high is None else ConfidenceLimits(low=ed.low / width, high=ed.high / width)
        moments = parse_moments(subject.found, one)
        yield correct_by_accuracy(moments, subject.question.accuracy, limits, subject.scale, level=subject.found.level)


def _check(subject: _Subject, spec: SpecScores, *, steady: bool) -> Iterator[Invariance]:
    found, question = subject.found, subject.question
    bar = Bar(level=found.level, margin=found.margin, low=found.range[0], high=found.range[1])
    if question.labels is not None:
        yield compare_person(spec, question.label_source, bar)
    if question.rescored is not None:
        yield compare_rescored(spec, question.rescored_column, bar, steady=steady)
    # A rate has no unit of the score: its margin is the same share of [0, 1].
    rates = Bar(level=found.level, margin=found.margin / subject.scale.width)
    for column in question.marks:
        yield compare_marks(spec, column, rates)
