"""The report on each judge: noise, errors, and whether its scores depend on the context (method section 6, module 3)."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.modules.judge_error import (
    SIDES,
    JudgeQuestion,
    JudgeScores,
    SpecScores,
    correct_by_accuracy,
    correct_by_labels,
    describe_labels,
    gather,
    split_specs,
)
from audit.modules.score_sides import split_judges
from audit.statistics.estimate_intervals import ScoreScale, parse_moments
from audit.statistics.judge_correction import JudgedResponses, LinearEstimate, compare_unlabelled, find_bias, find_bias_difference
from audit.statistics.mean_intervals import ConfidenceLimits
from audit.statistics.responses import ScoreTable, find_noise_share, measure_noise
from audit.statistics.side_moments import total_variance
from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import Plan
from registry.records.estimates import BoundedEstimate, Differential, Estimate, EstimateWarning, Measure, SpecEstimate
from registry.records.module_findings import CorrectedEstimate, Invariance, JudgeAgreement, JudgeReport, Repeats
from registry.report.number_format import Unit, format_probability, share

# Three checks of whether a scorer depends on the context (method section 6, module 3).
#
# Invariance concerns the contexts that were used: a scorer that errs in them makes this ED wrong. The
# intervals are therefore over tasks only, and do not cover other contexts.

_SHARE = Unit(low=0.0, high=1.0)
_TOLERANCE = 1e-9
"""Scores in [0, 1] that differ by no more are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvarianceLimit:
    """What a difference is held against."""

    level: float
    margin: float
    """In the unit of the difference."""

    low: float = 0.0
    high: float = 1.0
    """Range of the score."""

    @property
    def scale(self) -> ScoreScale:
        """The way to the unit of the score."""
        return ScoreScale(low=self.low, high=self.high)

    @property
    def unit(self) -> Unit:
        """How numbers are written."""
        return Unit(low=self.low, high=self.high)


def compare_person(spec: SpecScores, column: str, bar: InvarianceLimit) -> Invariance:
    """Return whether person − judge is the same on both sides, to within the margin."""
    sides = spec.test.judged, spec.deploy.judged
    measure = _compare(*sides, bar, what="label of a person")
    note = f"Person less judge differs between the sides by {_describe(measure, bar)}"
    return _conclude(
        _InvarianceCheck(check="person-judge", column=column, found=measure, bar=bar, sides=sides),
        note,
        passed=_decide(measure, bar.margin),
    )


def compare_rescored(spec: SpecScores, column: str, bar: InvarianceLimit, *, steady: bool) -> Invariance:
    """Return whether responses kept their score when they were scored again with the context hidden or swapped.

    Passed only when the interval of the difference lies within the margin. If it does not, it failed where the interval lies wholly
    beyond the margin, where scores changed more often on one side than on the other by more than the margin's share of the range, or
    where any score of a *steady* judge changed, one that never scored a response differently the second time. A judge that varies by
    itself changes scores whatever the context is: that in itself decides nothing.
    """
    sides = spec.test.rescored, spec.deploy.rescored
    measure = _compare(*sides, bar, what="second score")
    # Changes are counted as 0 or 1: a judge that changes upwards and downwards would otherwise average
    # to nothing.
    changed = [int(np.count_nonzero(np.abs(side.errors()) > _TOLERANCE)) for side in sides]
    # A noisy judge changes scores whatever the context is. Without the evidence below it failed in 96
    # to 100 % of simulated tables although it never looked at the context. This narrows the letter of
    # the method's section 6.
    passed = _decide(measure, bar.margin)
    if passed is None and measure.value is not None and any(changed):
        passed = False if steady or _changes_unevenly(sides, bar) else None
    shares = " and ".join(
        f"{count} of {side.labels} scores ({_SHARE.score(count / side.labels)}) on the {name} side"
        if side.labels
        else f"none on the {name} side"
        for count, side, name in zip(changed, sides, ("test", "deployment"), strict=True)
    )
    note = f"Scoring again changed {shares}; the mean change differs between the sides by {_describe(measure, bar)}"
    return _conclude(_InvarianceCheck(check="rescored", column=column, found=measure, bar=bar, sides=sides), note, passed=passed)


def _changes_unevenly(sides: tuple[JudgedResponses, JudgedResponses], bar: InvarianceLimit) -> bool:
    """Whether the share of scores that changed differs between the sides by more than the margin's share of the range."""
    test, deploy = (
        replace(side, score=np.zeros_like(side.score), label=np.where(side.labelled, np.abs(side.errors()) > _TOLERANCE, np.nan))
        for side in sides
    )
    margin = bar.margin / bar.scale.width
    return _decide(_compare(test, deploy, InvarianceLimit(level=bar.level, margin=margin), what="second score"), margin) is False


def compare_marks(spec: SpecScores, column: str, bar: InvarianceLimit) -> Invariance:
    """Return whether what *column* marks is as frequent on both sides, to within the margin; excluded responses count."""
    sides = spec.test.marks[column], spec.deploy.marks[column]
    measure = _cut(_compare(*sides, bar, what="mark", find=_find_rate))
    rates = [_describe_rates(side, spec.context_names, name) for side, name in zip(sides, ("test", "deployment"), strict=True)]
    note = f"{column}: {'; '.join(rates)}; the sides differ by {_describe(measure, bar)}"
    return _conclude(
        _InvarianceCheck(check="failure-rate", column=column, found=measure, bar=bar, sides=sides),
        note,
        passed=_decide(measure, bar.margin),
    )


def decide_overall(checks: Iterable[Invariance]) -> bool | None:
    """Return False if a check failed, True if one that compares scores was made and all passed, else None."""
    made = list(checks)
    passed = [check.passed for check in made]
    if False in passed:
        return False
    # One failure outweighs any number of passes; a check that decided nothing prevents a pass. A mark that is as frequent on
    # both sides says nothing of the scores themselves: it can show that a scorer is not invariant, and never that it is.
    has_scores = any(check.check != "failure-rate" for check in made)
    return True if has_scores and all(passed) else None


def _find_rate(side: JudgedResponses, *, level: float) -> LinearEstimate:
    """The rate of a mark, as certain as that of its opposite: what hardly ever fails is as rare an event as what hardly ever happens."""
    # The rarer of a mark and its opposite is the event, on each side, so that the name of the column
    # cannot decide. Intervals near 100 % become wider.
    if float((side.share() * np.nan_to_num(side.label)).sum()) <= 1 / 2:
        return find_bias(side, level=level)
    turned = find_bias(replace(side, label=1 - side.label), level=level)
    return replace(
        turned,
        value=1 - turned.value,
        by_task=-turned.by_task,
        by_context=-turned.by_context,
        widened=None if turned.widened is None else (turned.widened[1], turned.widened[0]),
    )


def _cut(measure: Measure) -> Measure:
    """Rates do not differ by more than 1."""
    if measure.low is None or measure.high is None:
        return measure
    return replace(measure, low=max(-1.0, measure.low), high=min(1.0, measure.high))


def _compare(
    test: JudgedResponses, deploy: JudgedResponses, bar: InvarianceLimit, *, what: str, find: Callable[..., LinearEstimate] = find_bias
) -> Measure:
    """The mean error of the test side less that of the deployment side, in the unit of the bar."""
    empty = [name for name, side in (("test", test), ("deployment", deploy)) if not side.labels]
    if empty:
        return Measure(value=None, reason=f"no response of the {' and the '.join(empty)} side has a {what}")
    sides = [find(side, level=bar.level) for side in (test, deploy)]
    value = bar.scale.stretch_difference(sides[0].value - sides[1].value)
    band = find_bias_difference(sides[0], sides[1], level=bar.level)
    if band is None:
        return Measure(value=value, reason=f"on a side every {what} is of one task: nothing says how tasks vary")
    return Measure(value=value, low=bar.scale.stretch_difference(band.low), high=bar.scale.stretch_difference(band.high))


def _decide(measure: Measure, margin: float) -> bool | None:
    if measure.low is None or measure.high is None:
        return None
    # Passed needs the whole interval inside the margin, failed the whole interval outside. Anything
    # else is unresolved.
    if -margin <= measure.low and measure.high <= margin:
        return True
    return False if measure.low > margin or measure.high < -margin else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _InvarianceCheck:
    """One check without its outcome."""

    check: Literal["person-judge", "rescored", "failure-rate"]
    column: str
    found: Measure
    bar: InvarianceLimit
    sides: tuple[JudgedResponses, JudgedResponses]


def _conclude(made: _InvarianceCheck, note: str, *, passed: bool | None) -> Invariance:
    verdict = {True: "within the margin", False: "not the same on both sides", None: "not enough labels to decide"}[passed]
    return Invariance(
        check=made.check,
        column=made.column,
        difference=made.found,
        margin=made.bar.margin,
        n_test=made.sides[0].labels,
        n_deploy=made.sides[1].labels,
        passed=passed,
        note=f"{note}: {verdict}.",
    )


def _describe(measure: Measure, bar: InvarianceLimit) -> str:
    """A difference with its interval and the margin, in words."""
    if measure.value is None:
        return f"an unknown amount ({measure.reason})"
    cuts = (0.0, bar.margin, -bar.margin)
    value, margin = bar.unit.difference(measure.value, *cuts), bar.unit.given_difference(bar.margin)
    if measure.low is None or measure.high is None:
        return f"{value}, without an interval ({measure.reason}), against a margin of ±{margin}"
    return f"{value} ({share(bar.level)} interval {bar.unit.differences(measure.low, measure.high, *cuts)}), against a margin of ±{margin}"


def _describe_rates(side: JudgedResponses, names: tuple[str, ...], side_name: str) -> str:
    """How frequent a mark is on a side, and in which contexts least and most."""
    if not side.labels:
        return f"nothing on the {side_name} side"
    labelled = side.labelled
    counts = np.bincount(side.context[labelled])
    rates = np.bincount(side.context[labelled], weights=side.label[labelled]) / np.maximum(counts, 1)
    # Contexts without a known mark have no rate, and 0 would look like the lowest one.
    present = np.flatnonzero(counts)
    overall = f"{_SHARE.score(float((side.share() * np.nan_to_num(side.label)).sum()))} on the {side_name} side"
    least, most = present[np.argmin(rates[present])], present[np.argmax(rates[present])]
    if rates[least] == rates[most]:
        return overall
    return f"{overall}, from {_SHARE.score(float(rates[least]))} ({names[least]}) to {_SHARE.score(float(rates[most]))} ({names[most]})"


# From a score table and labels, rescorings and marks to a report on each judge. Judged and corrected
# numbers are both reported and never mixed.

_HARDLY = 0.01
"""A random subset differs from the rest with a smaller p in about one of a hundred sides."""


def examine(
    table: ScoreTable, plan: Plan, question: JudgeQuestion, *, range_: tuple[float, float], test: str = "test", deploy: str = "deploy"
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
        # The question is by row of the whole table; each judge takes its own rows.
        own = question if name is None or table.judge is None else question.keep(table.judge.codes == table.judge.find(name))
        judge = name or (table.judge.labels[0] if table.judge is not None else None)
        try:
            gathered = gather(scores, own, scale)
            result = estimate(gathered.averaged, plan, range_=range_, test=test, deploy=deploy)
            specs = split_specs(gathered, plan, scale, test=test, deploy=deploy)
            subject = _Subject(judge=judge, scores=gathered, found=result, plan=plan, digest=table.content)
            reports.extend(_report(subject, spec, spec_estimate) for spec, spec_estimate in zip(specs, result.specs, strict=True))
        # The faults of all judges are collected, so that one attempt shows them all.
        except CaveatError as error:
            faults.extend(error.faults)
    if faults:
        raise DesignError(dict.fromkeys(faults))
    return tuple(reports)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Subject:
    """One judge, with the estimate its scores give."""

    judge: str | None
    scores: JudgeScores
    found: Estimate
    plan: Plan
    digest: str

    @property
    def scale(self) -> ScoreScale:
        return ScoreScale(low=self.found.range[0], high=self.found.range[1])

    @property
    def question(self) -> JudgeQuestion:
        return self.scores.question


def _report(subject: _Subject, spec: SpecScores, spec_estimate: SpecEstimate) -> JudgeReport:
    result, question = subject.found, subject.question
    repeats = _describe_repeats(subject, spec, spec_estimate)
    # A judge that never varied on repeats is steady: any change on rescoring then comes from the
    # context.
    checks = tuple(_check(subject, spec, steady=repeats is not None and repeats.identical == 1))
    labels = () if question.labels is None else tuple(describe_labels(side, subject.scale, level=result.level) for side in spec.sides)
    return JudgeReport(
        judge=subject.judge,
        level=result.level,
        margin=result.margin,
        range=result.range,
        contexts=result.contexts,
        seed=result.seed,
        spec=spec_estimate.spec,
        phi_test=_measure(spec_estimate.phi_test),
        phi_deploy=_measure(spec_estimate.phi_deploy),
        ed=_measure(spec_estimate.ed),
        repeats=repeats,
        labels=labels,
        corrected=tuple(_correct(subject, spec, spec_estimate)),
        invariance=checks,
        invariant=decide_overall(checks),
        scores=subject.digest,
        warnings=(
            *(warning for warning in result.warnings if warning.spec in (None, spec_estimate.spec)),
            *_warn_bias(labels, result),
            # The corrections assume labels of a random subset, and the judge's own scores can
            # contradict that.
            *(_warn_selection(spec, result) if labels else ()),
        ),
    )


def _warn_bias(labels: tuple[JudgeAgreement, ...], result: Estimate) -> Iterator[EstimateWarning]:
    """A judge that errs alike on both sides passes the check of invariance, and its Φ are wrong all the same."""
    unit = Unit(low=result.range[0], high=result.range[1])
    for label in labels:
        low, high = label.bias.low, label.bias.high
        if label.bias.value is not None and low is not None and high is not None and (low > result.margin or high < -result.margin):
            message = (
                f"On the {SIDES[label.side]} side the judge is off by {unit.difference(label.bias.value, 0.0)} against a person "
                f"({unit.differences(low, high, 0.0)}), more than the margin: its Φ there is not what a person would say."
            )
            yield EstimateWarning(code="judge-off", message=message)


def _warn_selection(spec: SpecScores, result: Estimate) -> Iterator[EstimateWarning]:
    """Labels that were not drawn at random say nothing of the responses without one, and the scores of the judge may give that away."""
    unit = Unit(low=result.range[0], high=result.range[1])
    scale = ScoreScale(low=result.range[0], high=result.range[1])
    for side in spec.sides:
        selection = compare_unlabelled(side.judged)
        if selection is not None and selection.p < _HARDLY:
            labelled, others = (unit.score(scale.stretch(value)) for value in (selection.labelled, selection.others))
            message = (
                f"On the {SIDES[side.name]} side the judge gave labelled responses {labelled} on average and the others {others} "
                f"({format_probability(selection.p)}): the labels do not look like those of a random subset, which corrected numbers and "
                "the judge's errors take them for."
            )
            yield EstimateWarning(code="labels-not-random", message=message)


def _measure(bounded: BoundedEstimate | Differential) -> Measure:
    return Measure(value=bounded.value, low=bounded.low, high=bounded.high, reason=bounded.reason)


def _describe_repeats(subject: _Subject, spec: SpecScores, spec_estimate: SpecEstimate) -> Repeats | None:
    """None when no response of the two sides was scored twice."""
    scores = subject.scores
    # Noise is measured on the responses of these two sides only, as its share of this ED is reported.
    used = np.zeros(len(scores.counts), dtype=bool)
    for side in spec.sides:
        used[side.rows] = True
    noise = measure_noise(scores.responses, np.where(used[scores.responses.of_row], scores.scorings, np.nan))
    if noise is None:
        return None
    parts = parse_moments(subject.found, spec_estimate).parts()
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


def _correct(subject: _Subject, spec: SpecScores, spec_estimate: SpecEstimate) -> Iterator[CorrectedEstimate]:
    if subject.question.labels is not None:
        yield correct_by_labels(spec, subject.plan, subject.scale)
    if subject.question.accuracy is not None:
        width, ed = subject.scale.width, spec_estimate.ed
        limits = None if ed.low is None or ed.high is None else ConfidenceLimits(low=ed.low / width, high=ed.high / width)
        moments = parse_moments(subject.found, spec_estimate)
        yield correct_by_accuracy(moments, subject.question.accuracy, limits, subject.scale, level=subject.found.level)


def _check(subject: _Subject, spec: SpecScores, *, steady: bool) -> Iterator[Invariance]:
    result, question = subject.found, subject.question
    bar = InvarianceLimit(level=result.level, margin=result.margin, low=result.range[0], high=result.range[1])
    if question.labels is not None:
        yield compare_person(spec, question.label_source, bar)
    if question.rescored is not None:
        yield compare_rescored(spec, question.rescored_column, bar, steady=steady)
    # A rate has no unit of the score; its margin is the same share of [0, 1].
    rates = InvarianceLimit(level=result.level, margin=result.margin / subject.scale.width)
    for column in question.marks:
        yield compare_marks(spec, column, rates)
