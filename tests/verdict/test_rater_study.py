"""The stopping rule: raters who tell the sides apart take a verdict away, a model judge can only make it provisional."""

from dataclasses import replace

import pytest

from audit.protocol.evidence_basis import check_raters
from audit.verdict.claim_classification import classify
from registry.records.audit_case import RaterCheck, RaterStatus
from registry.records.estimates import Measure
from registry.records.module_findings import RaterKind
from registry.records.verdict import ClaimClass, Condition, ConditionStatus, Mode, Verdict, VerdictStanding
from tests import findings
from tests.verdict.cases import build_case, build_estimate

LIMIT = 0.75


def persons(value: float, low: float | None, high: float | None) -> object:
    reason = None if low is not None else "one person"
    return findings.naturalness(accuracy=Measure(value=value, low=low, high=high, reason=reason), raters=(findings.rater("ana", 30),))


@pytest.mark.parametrize(
    ("accuracy", "status"),
    [
        ((0.9, 0.8, 0.95), RaterStatus.TOLD_APART),
        ((0.8, 0.7, 0.9), RaterStatus.SUSPECTED),
        ((0.8, None, None), RaterStatus.SUSPECTED),
        ((0.1, 0.05, 0.2), RaterStatus.SUSPECTED),
        ((0.7, 0.6, 0.8), RaterStatus.UNRESOLVED),
        ((0.5, None, None), RaterStatus.UNRESOLVED),
        ((0.5, 0.4, 0.6), RaterStatus.WITHIN),
        ((0.75, 0.7, 0.75), RaterStatus.WITHIN),
    ],
)
def test_persons_are_weighed_by_their_whole_interval(accuracy: tuple[float, float | None, float | None], status: RaterStatus) -> None:
    """Only an interval wholly above the limit stops; equality is within it; who swaps the sides tells them apart too."""
    check = check_raters([persons(*accuracy)], limit=LIMIT)  # type: ignore[list-item]

    assert check is not None
    assert check.status is status


def test_persons_who_always_give_one_answer_show_nothing() -> None:
    """They are right half of the time whatever the contexts are: 50 % is then no sign that the sides look alike."""
    careless = replace(findings.rater("ben", 30), said_test=60)
    accuracy = Measure(value=0.5, low=0.34, high=0.66)

    check = check_raters([findings.naturalness(accuracy=accuracy, raters=(findings.rater("ana", 30), careless))], limit=LIMIT)

    assert check is not None
    assert check.status is RaterStatus.UNRESOLVED
    assert "1 of 2 persons gave every item the same answer" in check.note


@pytest.mark.parametrize(("correct", "low", "high"), [(58, 0.88, 0.99), (2, 0.01, 0.12)])
def test_one_person_who_distinguishes_the_sides_is_not_hidden_by_others(correct: int, low: float, high: float) -> None:
    """Eleven persons who guess bring the accuracy of all near a half."""
    telling = findings.rater("ana", correct, low=low, high=high)
    accuracy = Measure(value=0.54, low=0.45, high=0.64)

    check = check_raters([findings.naturalness(accuracy=accuracy, raters=(telling, findings.rater("ben", 30)))], limit=LIMIT)

    assert check is not None
    assert check.status is RaterStatus.SUSPECTED
    assert "the blind rater ana distinguished the contexts" in check.note


def test_a_model_judge_can_only_weaken() -> None:
    """Above the limit it makes suspect; within it, it shows nothing, and it never outweighs persons."""
    assert check_raters([findings.realism(low=0.5, high=0.6)], limit=LIMIT) is None
    assert check_raters([], limit=LIMIT) is None
    suspected = check_raters([findings.realism(low=0.9, high=0.9)], limit=LIMIT)
    assert suspected is not None
    assert suspected.status is RaterStatus.SUSPECTED
    both = check_raters([persons(0.5, 0.4, 0.6), findings.realism(low=0.9, high=0.9)], limit=LIMIT)  # type: ignore[list-item]
    assert both == suspected


def test_what_a_judge_left_unanswered_counts_as_the_worst() -> None:
    """Half of the items without an answer may all have been right, and the note says so."""
    check = check_raters([findings.realism(low=0.4, high=0.9)], limit=LIMIT)

    assert check is not None
    assert "90.0 %, with 10 unanswered counted as right" in check.note


def test_a_model_among_the_raters_is_a_judge_too() -> None:
    """It never enters the persons' accuracy, and above the limit it makes suspect."""
    model = findings.rater("gpt", 51, kind=RaterKind.MODEL)
    calm = findings.naturalness(accuracy=Measure(value=0.5, low=0.4, high=0.6), raters=(findings.rater("ana", 30), model))

    check = check_raters([calm], limit=LIMIT)

    assert check is not None
    assert check.status is RaterStatus.SUSPECTED


@pytest.mark.parametrize(
    ("status", "verdict", "standing", "condition"),
    [
        (None, Verdict.CONTRADICTED, VerdictStanding.ESTABLISHED, ConditionStatus.NOT_CHECKED),
        (RaterStatus.WITHIN, Verdict.CONTRADICTED, VerdictStanding.ESTABLISHED, ConditionStatus.MET),
        (RaterStatus.UNRESOLVED, Verdict.CONTRADICTED, VerdictStanding.ESTABLISHED, ConditionStatus.NOT_CHECKED),
        (RaterStatus.SUSPECTED, Verdict.CONTRADICTED, VerdictStanding.PROVISIONAL, ConditionStatus.MISSING),
        (RaterStatus.TOLD_APART, Verdict.INCONCLUSIVE, None, None),
    ],
)
def test_the_verdict_follows_the_raters(
    status: RaterStatus | None, verdict: Verdict, standing: VerdictStanding | None, condition: ConditionStatus | None
) -> None:
    """From no study to told apart a verdict only loses; the reason is printed."""
    note = "blind raters told the sides apart"
    case = replace(build_case(theta=0.1), raters=None if status is None else RaterCheck(status=status, note=note))

    reading = classify(case, build_estimate()).primary

    assert (reading.verdict, reading.verdict_standing) == (verdict, standing)
    checks = {one.condition: one.status for one in reading.conditions}
    assert checks.get(Condition.NATURALNESS) is condition
    if status in (RaterStatus.SUSPECTED, RaterStatus.TOLD_APART):
        assert note in reading.why
    if status is RaterStatus.TOLD_APART:
        assert (reading.class_, reading.mode, reading.point_class) == (ClaimClass.UNDETERMINED, Mode.TECHNICAL, None)
        assert "at most 75 %" in (reading.resolves or "")
