"""Recognition suspends a claim above the floor of the plan, never below it, and where its rate is not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.verdict.verdict_conditions import weigh_recognition
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Access, Evidence, EvidenceKind, EvidenceLayer, PerturbationEffect, PublishedFigure

FLOOR = 0.01


def seen(value: float, unit: str = "share", n: int | None = None, *, other: PublishedFigure | None = None) -> Evidence:
    return Evidence(layer=EvidenceLayer.VERBALISED, finding=PublishedFigure(value=value, unit=unit, n=n), in_deployment=other)


@pytest.mark.parametrize(
    ("evidence", "suspends", "text"),
    [
        (seen(0.26, n=500), True, "26 % (n = 500, 95 % CI 22.2–30.1 %)"),
        (seen(26, "per cent", 500), True, "26 % (n = 500, 95 % CI 22.2–30.1 %)"),
        (seen(26, "%", 500), True, "26 % (n = 500, 95 % CI 22.2–30.1 %)"),
        (seen(130, "count", 500), True, "26 % (n = 500, 95 % CI 22.2–30.1 %)"),
        (seen(0.04, "%", 10_000), False, "0.04 % (n = 10,000, 95 % CI 0.01–0.1 %)"),
        (seen(0.04, "%"), False, "0.04 % (n not stated)"),
        (seen(0.02), True, "2 % (n not stated)"),
        (seen(0.02, n=50), False, "2 % (n = 50, 95 % CI 0.1–10.6 %)"),
        (seen(0, n=50), False, "0 % (n = 50, 95 % CI 0.0–7.1 %)"),
        (seen(1, n=1), True, "100 % (n = 1, 95 % CI 2.5–100.0 %)"),
    ],
)
def test_a_rate_suspends_by_its_lower_limit(evidence: Evidence, *, suspends: bool, text: str) -> None:
    """Limits are Clopper–Pearson's: 130 of 500 gives 22.2 to 30.1 % (R: binom.test(130, 500)). Without n the rate itself counts."""
    weight = weigh_recognition(evidence, FLOOR)

    assert (weight.suspends, weight.text) == (suspends, text)


@pytest.mark.parametrize(
    ("other", "suspends"),
    [
        (PublishedFigure(value=0.20, unit="share", n=400), True),
        (PublishedFigure(value=0.22, unit="share", n=400), False),
        (PublishedFigure(value=0.26, unit="share", n=400), False),
        (PublishedFigure(value=25.9, unit="%"), True),
        (PublishedFigure(value=26, unit="%"), False),
        (PublishedFigure(value=3, unit="count"), True),
    ],
)
def test_recognition_that_deployment_shows_too_suspends_nothing(other: PublishedFigure, *, suspends: bool) -> None:
    """The lower limit of the difference must exceed 0; a rate in deployment that is no rate takes nothing away."""
    assert weigh_recognition(seen(0.26, n=500, other=other), FLOOR).suspends is suspends


def test_the_difference_has_the_limits_of_mover() -> None:
    """D − √((p₁ − l₁)² + (u₂ − p₂)²), with Clopper–Pearson limits of both rates."""
    weight = weigh_recognition(seen(0.26, n=500, other=PublishedFigure(value=0.20, unit="share", n=400)), FLOOR)

    assert weight.difference is not None
    assert weight.difference.low == pytest.approx(0.06 - ((0.26 - 0.222077) ** 2 + (0.242621 - 0.20) ** 2) ** 0.5, abs=2e-4)


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(layer=EvidenceLayer.LATENT, summary="it knows"),
        seen(3, "count"),
        seen(4, "percentage points"),
        seen(1.2),
        Evidence(
            layer=EvidenceLayer.BEHAVIOURAL,
            kind=EvidenceKind.PERTURBATION,
            effect=PerturbationEffect.AGAINST_CLAIM,
            finding=PublishedFigure(value=0.001, unit="share", n=9000),
        ),
    ],
)
def test_recognition_without_a_rate_suspends(evidence: Evidence) -> None:
    """A rate that is not known is not zero, and the change of a score is no rate of recognition."""
    weight = weigh_recognition(evidence, FLOOR)

    assert weight.suspends
    assert weight.rate is None
    assert weight.text == "no rate stated"
    assert weight.reason.endswith("not zero")


def test_nothing_that_was_counted_is_no_recognition() -> None:
    """0 of an unknown number is still 0."""
    assert not weigh_recognition(seen(0, "count"), FLOOR).suspends


@given(value=st.floats(0, 1), n=st.none() | st.integers(1, 10_000), floor=st.floats(0, 0.5))
def test_no_rate_at_or_below_the_floor_suspends(value: float, n: int | None, floor: float) -> None:
    """A higher floor never suspends more, and a rate that does not exceed it never does."""
    weight = weigh_recognition(seen(value, n=n), floor)

    assert not (weight.suspends and value <= floor)
    assert weight.suspends or not weigh_recognition(seen(value, n=n), min(0.99, floor + 0.1)).suspends


def test_a_layer_that_was_not_looked_at_has_no_weight() -> None:
    """Nothing unavailable can be weighed, and a floor is a share."""
    with pytest.raises(ValueError, match="unavailable"):
        weigh_recognition(Evidence(layer=EvidenceLayer.LATENT, access=Access.UNAVAILABLE), FLOOR)
    with pytest.raises(ValueError, match="recognition_floor must lie in"):
        Plan(recognition_floor=1.0)
