"""Records refuse what cannot be."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from registry.records.analysis_plan import Plan
from registry.records.audit_case import Access, CaseClaim, Deployment, Evidence, EvidenceLayer, PublishedFigure
from registry.records.claim import (
    ClaimEvent,
    ClaimEventKind,
    ClaimRelation,
    ClaimRelationKind,
    Direction,
    Form,
    PropertyClass,
    Relation,
    Reported,
    check_form,
)
from registry.records.claim_status import Objection
from registry.records.estimates import BoundedEstimate
from registry.records.model_version import ModelRef
from registry.records.record import Authority, AuthorityRole
from registry.records.specification import PropertySpec, SpecKind, SpecVersion
from registry.records.statement import PAYLOADS, Statement
from registry.records.verdict import Classification

PROPERTY = PropertySpec(name="x", class_=PropertyClass.CAPABILITY, range=(0, 1), direction=Direction.NOT_SAFETY)
CLAIM = "CLM-EXAMPLE-2026-0001-T"


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda: Authority(code="aisi", name="x", role=AuthorityRole.LAB), "capital letters"),
        (lambda: BoundedEstimate(value=1, low=0, high=None), "together"),
        (lambda: BoundedEstimate(value=1, low=2, high=1), "must not exceed"),
        (lambda: CaseClaim(form=Form.PREVALENCE, property=PROPERTY, theta=0.1), "neither relation nor theta"),
        (lambda: CaseClaim(form=Form.THRESHOLD, property=PROPERTY), "needs its relation"),
        (lambda: CaseClaim(form=Form.UPPER_BOUND, property=PROPERTY, relation=Relation.AT_LEAST), "has the relation <="),
        (lambda: ClaimEvent(claim=CLAIM, event=ClaimEventKind.SUPERSEDE, reason="x"), "successor"),
        (lambda: ClaimEvent(claim=CLAIM, event=ClaimEventKind.WITHDRAW), "needs a reason"),
        (lambda: ClaimRelation(claim=CLAIM, relation=ClaimRelationKind.ALIAS, other=CLAIM), "itself"),
        (lambda: Classification(readings=(), inversion_margin=None), "at least one reading"),
        (lambda: Objection(objection="CON-…", target=CLAIM, by="LAB", grounds=" "), "grounds"),
        (lambda: Deployment(defensible=False), "infeasible"),
        (
            lambda: Evidence(layer=EvidenceLayer.LATENT, access=Access.WITHHELD, finding=PublishedFigure(value=1, unit="share")),
            "no finding",
        ),
        (lambda: Plan(level=0.4), "level must lie"),
        (lambda: Plan(margin=0), "margin must be above 0"),
        (lambda: Plan(replicates=-1), "replicates"),
        (lambda: Plan(replicates=1_000_001), "replicates must lie in"),
        (lambda: Plan(seed=2**53), "seed must lie in"),
        (lambda: Plan(seed=-(2**53)), "seed must lie in"),
        (lambda: Plan(tasks=0), "tasks must lie in"),
        (lambda: Plan(tasks=2**53), "tasks must lie in"),
        (lambda: Plan(level=2, margin=-1, tasks=0), "level must lie.*; margin must be above 0.*; tasks must lie"),
        (lambda: PropertySpec(name="x", class_=PropertyClass.CAPABILITY, range=(1, 1), direction=Direction.NOT_SAFETY), "low to high"),
        (lambda: Reported(value=1, low=2, high=1), "must not exceed"),
        (lambda: SpecVersion(spec="PRP-…", kind=SpecKind.PROPERTY, slug="x", version=1, owner="LAB"), "body or a commitment"),
        (lambda: SpecVersion(spec="PRP-…", kind=SpecKind.PROPERTY, slug="x", version=2, owner="LAB", body=PROPERTY), "reason"),
    ],
)
def test_what_cannot_be_is_refused_with_its_rule(build: Callable[[], object], why: str) -> None:
    """Each rule speaks for itself, so that a fault of a file can repeat its words."""
    with pytest.raises(ValueError, match=why):
        build()


@pytest.mark.parametrize(
    ("form", "relation", "theta", "why"),
    [
        (Form.THRESHOLD, None, 0.1, "needs its relation"),
        (Form.PREVALENCE, Relation.AT_MOST, None, "not to prevalence"),
        (Form.UPPER_BOUND, Relation.AT_LEAST, 0.1, "upper bound"),
        (Form.LOWER_BOUND, Relation.AT_MOST, 0.1, "lower bound"),
        (Form.EXISTENCE, None, 0.1, "not to existence"),
    ],
)
def test_form_relation_and_theta_go_together(form: Form, relation: Relation | None, theta: float | None, why: str) -> None:
    """Method section 2."""
    with pytest.raises(ValueError, match=why):
        check_form(form, relation, theta)


def test_a_threshold_may_be_unpublished() -> None:
    """Common in real cards."""
    check_form(Form.THRESHOLD, Relation.AT_MOST, None)


def test_kinds_and_payloads_are_one_to_one() -> None:
    """A statement's kind follows from its payload."""
    assert {noun.KIND: noun for noun in PAYLOADS.values()} == PAYLOADS
    payload = Authority(code="LAB", name="x", role=AuthorityRole.LAB)
    statement = Statement(actor="LAB", at=datetime(2026, 11, 21, tzinfo=UTC), payload=payload, salt="0" * 32)

    assert PAYLOADS[statement.kind] is Authority


def test_what_a_plan_leaves_open_is_a_share_of_the_range() -> None:
    """A margin or an ε that is not stated is never taken for zero."""
    assert (Plan().margin_on(4.0), Plan().epsilon_on(4.0)) == (0.2, 0.04)
    assert (Plan(margin=0.1, epsilon=0.0).margin_on(4.0), Plan(margin=0.1, epsilon=0.0).epsilon_on(4.0)) == (0.1, 0.0)


@pytest.mark.parametrize("version", ["not stated", "Unknown", "n/a", "–"])
def test_a_version_that_says_nothing_is_named_as_not_stated(version: str) -> None:
    """In a sentence, "Lumen not stated" would say that Lumen is not stated."""
    assert str(ModelRef(developer="Lab", name="Lumen", version=version)) == "Lab Lumen (version not stated)"
    assert str(ModelRef(developer="Lab", name="Lumen", version="1.2")) == "Lab Lumen 1.2"
