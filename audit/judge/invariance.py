"""Three checks of whether a scorer depends on the context (method section 6, module 3).

They ask about the contexts that were used, whatever those are to the estimand: a scorer that errs there makes the judged ED wrong.
Their intervals are therefore over tasks alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from audit.judge.question import SpecScores
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.judge_correction import JudgedResponses, LinearEstimate, find_bias, find_bias_difference
from registry.report.units import Unit, share
from registry.records.estimates import Measure
from registry.records.module_findings import Invariance

_SHARE = Unit(low=0.0, high=1.0)
_TOLERANCE = 1e-9
"""Scores in [0, 1] that differ by no more are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
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


def compare_person(spec: SpecScores, column: str, bar: Bar) -> Invariance:
    """Return whether person − judge is the same on both sides, to within the margin."""
    sides = spec.test.judged, spec.deploy.judged
    found = _compare(*sides, bar, what="label of a person")
    note = f"Person less judge differs between the sides by {_tell(found, bar)}"
    return _conclude(
        _Check(check="person-judge", column=column, found=found, bar=bar, sides=sides), note, passed=_decide(found, bar.margin)
    )


def compare_rescored(spec: SpecScores, column: str, bar: Bar, *, steady: bool) -> Invariance:
    """Return whether responses kept their score when they were scored again with the context hidden or swapped.

    Passed only when the interval of the difference lies within the margin. If it does not, it failed where the interval lies wholly
    beyond the margin, where scores changed more often on one side than on the other by more than the margin's share of the range, or
    where any score of a *steady* judge changed, one that never scored a response differently the second time. A judge that varies by
    itself changes scores whatever the context is: that alone decides nothing.
    """
    sides = spec.test.rescored, spec.deploy.rescored
    found = _compare(*sides, bar, what="second score")
    changed = [int(np.count_nonzero(np.abs(side.errors()) > _TOLERANCE)) for side in sides]
    passed = _decide(found, bar.margin)
    if passed is None and found.value is not None and any(changed):
        passed = False if steady or _changes_unevenly(sides, bar) else None
    shares = " and ".join(
        f"{count} of {side.labels} scores ({_SHARE.score(count / side.labels)}) on the {name} side"
        if side.labels
        else f"none on the {name} side"
        for count, side, name in zip(changed, sides, ("test", "deployment"), strict=True)
    )
    note = f"Scoring again changed {shares}; the mean change differs between the sides by {_tell(found, bar)}"
    return _conclude(_Check(check="rescored", column=column, found=found, bar=bar, sides=sides), note, passed=passed)


def _changes_unevenly(sides: tuple[JudgedResponses, JudgedResponses], bar: Bar) -> bool:
    """Whether the share of scores that changed differs between the sides by more than the margin's share of the range."""
    test, deploy = (
        replace(side, score=np.zeros_like(side.score), label=np.where(side.labelled, np.abs(side.errors()) > _TOLERANCE, np.nan))
        for side in sides
    )
    margin = bar.margin / bar.scale.width
    return _decide(_compare(test, deploy, Bar(level=bar.level, margin=margin), what="second score"), margin) is False


def compare_marks(spec: SpecScores, column: str, bar: Bar) -> Invariance:
    """Return whether what *column* marks is as frequent on both sides, to within the margin; excluded responses count."""
    sides = spec.test.marks[column], spec.deploy.marks[column]
    found = _cut(_compare(*sides, bar, what="mark", find=_find_rate))
    rates = [_tell_rates(side, spec.context_names, name) for side, name in zip(sides, ("test", "deployment"), strict=True)]
    note = f"{column}: {'; '.join(rates)}; the sides differ by {_tell(found, bar)}"
    return _conclude(
        _Check(check="failure-rate", column=column, found=found, bar=bar, sides=sides), note, passed=_decide(found, bar.margin)
    )


def decide_overall(checks: Iterable[Invariance]) -> bool | None:
    """Return False if a check failed, True if at least one was made and all passed, None otherwise."""
    passed = [check.passed for check in checks]
    if False in passed:
        return False
    return True if passed and all(passed) else None


def _find_rate(side: JudgedResponses, *, level: float) -> LinearEstimate:
    """The rate of a mark, as certain as that of its opposite: what hardly ever fails is as rare an event as what hardly ever happens."""
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


def _cut(found: Measure) -> Measure:
    """Rates do not differ by more than 1."""
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))


def _compare(
    test: JudgedResponses, deploy: JudgedResponses, bar: Bar, *, what: str, find: Callable[..., LinearEstimate] = find_bias
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


def _decide(found: Measure, margin: float) -> bool | None:
    if found.low is None or found.high is None:
        return None
    if -margin <= found.low and found.high <= margin:
        return True
    return False if found.low > margin or found.high < -margin else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Check:
    """One check without its outcome."""

    check: Literal["person-judge", "rescored", "failure-rate"]
    column: str
    found: Measure
    bar: Bar
    sides: tuple[JudgedResponses, JudgedResponses]


def _conclude(made: _Check, note: str, *, passed: bool | None) -> Invariance:
    verdict = {True: "within the margin", False: "not the same on both sides", None: "not enough to tell"}[passed]
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


def _tell(found: Measure, bar: Bar) -> str:
    """A difference with its interval and the margin, in words."""
    if found.value is None:
        return f"an unknown amount ({found.reason})"
    cuts = (0.0, bar.margin, -bar.margin)
    value, margin = bar.unit.difference(found.value, *cuts), bar.unit.given_difference(bar.margin)
    if found.low is None or found.high is None:
        return f"{value}, without an interval ({found.reason}), against a margin of ±{margin}"
    return f"{value} ({share(bar.level)} interval {bar.unit.differences(found.low, found.high, *cuts)}), against a margin of ±{margin}"


def _tell_rates(side: JudgedResponses, names: tuple[str, ...], side_name: str) -> str:
    """How frequent a mark is on a side, and in which contexts least and most."""
    if not side.labels:
        return f"nothing on the {side_name} side"
    known = side.labelled
    counts = np.bincount(side.context[known])
    rates = np.bincount(side.context[known], weights=side.label[known]) / np.maximum(counts, 1)
    present = np.flatnonzero(counts)
    overall = f"{_SHARE.score(float((side.share() * np.nan_to_num(side.label)).sum()))} on the {side_name} side"
    least, most = present[np.argmin(rates[present])], present[np.argmax(rates[present])]
    if rates[least] == rates[most]:
        return overall
    return f"{overall}, from {_SHARE.score(float(rates[least]))} ({names[least]}) to {_SHARE.score(float(rates[most]))} ({names[most]})"
