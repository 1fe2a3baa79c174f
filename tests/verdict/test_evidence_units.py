"""Published figures stand in the unit of the property, or are refused."""

import pytest

from audit.protocol.audit_lock import settle_draft
from audit.protocol.case_outcome import run_case
from audit.verdict.case_file import read_case, settle_evidence
from registry.configuration import find_resource
from registry.errors import Fault, InputError
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Evidence, EvidenceLayer, Independence, PublishedFigure
from registry.records.claim_draft import AuditDraft

SHARES, SCALE = (0.0, 1.0), (0.0, 15.0)


def build(finding: PublishedFigure, summary: str | None = None) -> Evidence:
    return Evidence(layer=EvidenceLayer.BEHAVIOURAL, finding=finding, summary=summary)


def settle(finding: PublishedFigure, range_: tuple[float, float]) -> PublishedFigure:
    (one,) = settle_evidence([build(finding)], range_, where="evidence")
    assert one.finding is not None
    return one.finding


def refuse(finding: PublishedFigure, range_: tuple[float, float]) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as refused:
        settle_evidence([build(finding)], range_, where="a.yaml, evidence")
    return refused.value.faults


def test_percentage_points_of_a_scale_become_its_points() -> None:
    """24 % of a scale of 15 are 3.6 points, with the interval; the source's own words stay beside it."""
    found = settle(PublishedFigure(value=24, low=20, high=30, unit="percentage points of the scale", n=26400), SCALE)

    assert found == PublishedFigure(
        value=3.6, low=3.0, high=4.5, unit="points", n=26400, stated="24 (20 to 30) percentage points of the scale"
    )


@pytest.mark.parametrize(
    ("value", "unit", "range_", "expected"),
    [
        (16, "per cent", SHARES, (0.16, "share")),
        (16, "%", SCALE, (0.16, "share")),
        (0.16, "Fraction", SHARES, (0.16, "share")),
        (24, "percentage points of the scale", SHARES, (24, "percentage points")),
        (-24, "percentage points", SCALE, (-24, "percentage points")),
        (15, "points", SCALE, (15, "points")),
        (11, "problems", SHARES, (11, "problems")),
        (-2.93, "coefficient", SCALE, (-2.93, "coefficient")),
    ],
)
def test_units_are_read_in_the_terms_of_the_property(
    value: float, unit: str, range_: tuple[float, float], expected: tuple[float, str]
) -> None:
    """Each unit that can be converted is; what is of the property already, and what is of a unit of its own, stays."""
    found = settle(PublishedFigure(value=value, unit=unit), range_)

    assert (found.value, found.unit) == expected


def test_settling_again_changes_nothing() -> None:
    """Evidence that an audit carries on from another one keeps its figures and the source's words."""
    once = settle(PublishedFigure(value=24, unit="percentage points of the scale"), SCALE)

    assert settle(once, SCALE) == once


@pytest.mark.parametrize(
    ("finding", "range_"),
    [
        (PublishedFigure(value=24, unit="points"), SCALE),
        (PublishedFigure(value=24, unit="points"), SHARES),
        (PublishedFigure(value=16, unit="score"), SCALE),
        (PublishedFigure(value=16, unit="share"), SHARES),
        (PublishedFigure(value=101, unit="per cent"), SHARES),
        (PublishedFigure(value=120, unit="percentage points"), SHARES),
        (PublishedFigure(value=120, unit="percentage points of the scale"), SCALE),
        (PublishedFigure(value=12, unit="count", n=11), SHARES),
        (PublishedFigure(value=-1, unit="count"), SHARES),
    ],
)
def test_a_figure_that_cannot_be_is_refused(finding: PublishedFigure, range_: tuple[float, float]) -> None:
    """No figure of a scale lies beyond the scale: the message names place, what is possible, what is there, and what to write."""
    (fault,) = refuse(finding, range_)

    assert (fault.code, fault.where) == ("out-of-range", "a.yaml, evidence[0].finding.value")
    assert fault.found.startswith("expected ")
    assert fault.found.endswith(f"found {finding.value:g}")
    assert fault.advice


def test_every_impossible_figure_is_told_at_once() -> None:
    """An end of an interval is a figure too."""
    faults = refuse(PublishedFigure(value=0.5, low=-2, high=3, unit="share"), SHARES)

    assert [fault.where.rpartition(".")[2] for fault in faults] == ["low", "high"]


def test_a_sentence_does_not_count_more_points_than_its_scale_has() -> None:
    """`24 points of the 0 to 15 scale` is refused wherever it stands; 24 percentage points of it are possible."""
    finding = PublishedFigure(value=3.6, unit="points")
    with pytest.raises(InputError) as refused:
        settle_evidence([build(finding, "It differs by 24 points of the 0 to 15 scale.")], SCALE, where="evidence")

    assert [(one.code, one.where) for one in refused.value.faults] == [("out-of-range", "evidence[0].summary")]
    assert settle_evidence([build(finding, "It differs by 24 percentage points of the 0 to 15 scale.")], SCALE, where="evidence")
    assert settle_evidence([build(finding, "It differs by 3.6 points of the 0 to 15 scale.")], SCALE, where="evidence")


def test_an_audit_file_is_refused_with_the_faults_of_its_plan_and_of_its_evidence() -> None:
    """Both are told together."""
    draft = AuditDraft(
        claim="CLM-X", independence=Independence.SELF, plan=Plan(margin=20.0), evidence=(build(PublishedFigure(value=24, unit="points")),)
    )

    with pytest.raises(InputError) as refused:
        settle_draft(draft, SCALE)
    assert [fault.where for fault in refused.value.faults] == ["plan.margin", "evidence[0].finding.value"]


def test_the_sycophancy_case_says_no_more_points_than_its_scale_has() -> None:
    """The sentence of the verdict gives the difference in points of the 0 to 15 scale."""
    case, _ = read_case(find_resource("examples") / "reference" / "sycophancy.yaml")

    why = run_case(case, None).classification.primary.why

    assert "3.6 points" in why
    assert "24" not in why
