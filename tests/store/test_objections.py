"""Contesting what is registered: who may take which step, what settles, and which outcome counts when a rival was replayed."""

from dataclasses import dataclass, replace

import pytest

from registry.errors import CaveatError
from registry.records.analysis_plan import LockedSpec
from registry.records.claim import Form
from registry.records.claim_status import Dispute, ObjectionEvent, ObjectionState, ObjectionStep
from registry.records.record import Kind, parse_identifier
from registry.records.specification import SpecKind
from registry.records.verdict import Basis, ClaimClass, RestrictionStatus, Standing
from registry.registration.objections import contest_target, record_step
from registry.report.claim_outcome import find_leading
from registry.report.status_account import describe_state
from registry.store.ledger import Ledger
from tests.store import builders as make

ANSWERED, UPHELD, REJECTED, ESCALATED = (
    ObjectionStep.ANSWERED,
    ObjectionStep.UPHELD,
    ObjectionStep.REJECTED,
    ObjectionStep.ESCALATED,
)
PEOPLE = ("LAB", "AISI", "REG", "UNI")


@dataclass(frozen=True)
class Quarrel:
    """A claim of the lab with its P_deploy, a rival of the institute's, and the institute's objection."""

    claim: str
    deploy: str
    rival: str
    objection: str


def contest(ledger: Ledger) -> Quarrel:
    """Record four authorities, a claim with its P_deploy, and the institute's objection with a rival."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        writer.append_many([make.authority(code) for code in PEOPLE[1:]])
        deploy = make.context_spec(make.allocate(writer, Kind.CONTEXT))
        writer.append(deploy)
        claim = make.add_claim(writer, phi, deploy_contexts=(f"{deploy.spec}@1",))
    with ledger.write(actor="AISI") as writer:
        rival = make.context_spec(make.allocate(writer, Kind.CONTEXT, "AISI"), owner="AISI")
        writer.append(rival)
        target, offered = (parse_identifier(identifier) for identifier in (deploy.spec, rival.spec))
        opened = contest_target(writer, target, grounds="too narrow", rival=offered, by="AISI")
    return Quarrel(claim, f"{deploy.spec}@1", f"{rival.spec}@1", opened.objection)


def take(ledger: Ledger, quarrel: Quarrel, *steps: tuple[ObjectionStep, str] | tuple[ObjectionStep, str, str]) -> None:
    """Record each step in the name of who takes it."""
    for step, actor, *to in steps:
        with ledger.write(actor=actor) as writer:
            step_event = ObjectionEvent(objection=quarrel.objection, step=step, note="so", to=to[0] if to else None)
            record_step(writer, step_event, actor=actor)


ROADS = [
    ((), ObjectionState.OPEN, Dispute.CONTESTED, "open, not yet answered"),
    (((ANSWERED, "LAB"),), ObjectionState.ANSWERED, Dispute.CONTESTED, "answered, not decided"),
    (((UPHELD, "LAB"),), ObjectionState.UPHELD, Dispute.UPHELD, "upheld by its owner LAB"),
    (((UPHELD, "UNI"),), ObjectionState.UPHELD, Dispute.UPHELD, "upheld by UNI"),
    (((REJECTED, "AISI"),), ObjectionState.REJECTED, Dispute.UNDISPUTED, "rejected by AISI, who contested it"),
    (((REJECTED, "UNI"),), ObjectionState.REJECTED, Dispute.UNDISPUTED, "rejected by UNI"),
    (((REJECTED, "LAB"),), ObjectionState.REJECTED_BY_OWNER, Dispute.CONTESTED, "rejected by its owner only, which resolves nothing"),
    (((REJECTED, "LAB"), (UPHELD, "UNI")), ObjectionState.UPHELD, Dispute.UPHELD, "upheld by UNI"),
    (((ESCALATED, "AISI", "REG"),), ObjectionState.ESCALATED, Dispute.CONTESTED, "escalated to REG, not decided"),
    (((ESCALATED, "LAB"), (REJECTED, "UNI")), ObjectionState.REJECTED, Dispute.UNDISPUTED, "rejected by UNI"),
    (((ESCALATED, "AISI", "REG"), (ANSWERED, "LAB"), (REJECTED, "REG")), ObjectionState.REJECTED, Dispute.UNDISPUTED, "rejected by REG"),
    (((ESCALATED, "AISI", "REG"), (ESCALATED, "REG", "UNI"), (UPHELD, "UNI")), ObjectionState.UPHELD, Dispute.UPHELD, "upheld by UNI"),
    (((ESCALATED, "AISI", "REG"), (UPHELD, "LAB")), ObjectionState.UPHELD, Dispute.UPHELD, "upheld by its owner LAB"),
]


@pytest.mark.parametrize(("steps", "state", "dispute", "words"), ROADS)
def test_where_a_objection_stands_follows_from_who_took_the_last_step(
    ledger: Ledger, steps: tuple[tuple[ObjectionStep, str], ...], state: ObjectionState, dispute: Dispute, words: str
) -> None:
    """The owner's own rejection settles nothing, giving way settles, and listing and page agree on the dispute."""
    quarrel = contest(ledger)

    take(ledger, quarrel, *steps)

    with ledger.view() as view:
        (file,) = view.list_objections(quarrel.deploy)
        assert (file.state, describe_state(file)) == (state, words)
        assert view.status(quarrel.claim).dispute is dispute
        assert view.dossier(quarrel.claim).status.dispute is dispute
        assert [summary.status.dispute for summary in view.list_claims()] == [dispute]


WRONG = [
    ((), (ANSWERED, "AISI"), "not-permitted"),
    ((), (ANSWERED, "UNI"), "not-permitted"),
    ((), (UPHELD, "AISI"), "not-permitted"),
    ((), (ESCALATED, "UNI"), "not-permitted"),
    ((), (ESCALATED, "AISI", "LAB"), "bad-escalation"),
    ((), (ESCALATED, "AISI", "GONE"), "authority-not-registered"),
    ((), (ANSWERED, "LAB", "REG"), "bad-escalation"),
    (((ESCALATED, "AISI", "REG"),), (REJECTED, "LAB"), "not-permitted"),
    (((ESCALATED, "AISI", "REG"),), (UPHELD, "UNI"), "not-permitted"),
    (((ESCALATED, "AISI", "REG"),), (UPHELD, "AISI"), "not-permitted"),
    (((UPHELD, "UNI"),), (REJECTED, "REG"), "objection-closed"),
    (((REJECTED, "UNI"),), (ESCALATED, "AISI", "REG"), "objection-closed"),
    (((REJECTED, "AISI"),), (ANSWERED, "LAB"), "objection-closed"),
]


@pytest.mark.parametrize(("steps", "wrong", "code"), WRONG)
def test_a_step_out_of_order_or_by_somebody_else_is_refused(
    ledger: Ledger, steps: tuple[tuple[ObjectionStep, str], ...], wrong: tuple[ObjectionStep, str], code: str
) -> None:
    """Nothing of it is recorded."""
    quarrel = contest(ledger)
    take(ledger, quarrel, *steps)

    with pytest.raises(CaveatError) as caught:
        take(ledger, quarrel, wrong)

    assert caught.value.code == code
    with ledger.view() as view:
        (file,) = view.list_objections()
        assert len(file.events) == len(steps)


def test_a_rival_takes_the_place_of_its_own_kind_alone(ledger: Ledger) -> None:
    """A test distribution is no rival of a P_deploy, and nothing is a rival of itself; another version of it is."""
    quarrel = contest(ledger)
    target = parse_identifier(quarrel.deploy)
    with ledger.write(actor="AISI") as writer:
        other = make.context_spec(make.allocate(writer, Kind.CONTEXT, "AISI"), SpecKind.TEST_CONTEXT, owner="AISI")
        writer.append(other)
    with ledger.write(actor="LAB") as writer:
        newer = make.context_spec(target.bare, version=2, why="wider")
        writer.append(newer)

    codes = []
    for rival in (other.spec, quarrel.deploy):
        with pytest.raises(CaveatError) as caught, ledger.write(actor="AISI") as writer:
            contest_target(writer, target, grounds="x", rival=parse_identifier(rival), by="AISI")
        codes.append(caught.value.code)
    with ledger.write(actor="AISI") as writer:
        opened = contest_target(writer, target, grounds="x", rival=parse_identifier(f"{target.bare}@2"), by="AISI")

    assert codes == ["bad-rival", "bad-rival"]
    assert (opened.target, opened.rival) == (quarrel.deploy, f"{target.bare}@2")


def audit_under(ledger: Ledger, quarrel: Quarrel, class_: ClaimClass, *, rival: bool, standing: Standing | None = None) -> str:
    """Record an audit with its outcome, from reported evidence, and return its name."""
    with ledger.write(actor="AISI") as writer:
        name = make.allocate(writer, Kind.AUDIT, "AISI")
        opening = make.audit(name, f"{quarrel.claim}@1", "AISI")
        writer.append(replace(opening, objection=quarrel.objection if rival else None))
        changes = {"resolves": "more tasks", "mode": None} if class_ is ClaimClass.UNDETERMINED else {}
        changes |= {"standing": standing, "basis": Basis.REPORTED}
        writer.append(make.restriction(name, f"{quarrel.claim}@1", make.verdict(Form.PREVALENCE, class_, **changes)))
    return name


def leading(ledger: Ledger, quarrel: Quarrel) -> tuple[str | None, RestrictionStatus, RestrictionStatus]:
    """Return the audit that counts, and the restriction that page and listing derive."""
    with ledger.view() as view:
        dossier = view.dossier(quarrel.claim)
        file, _ = find_leading(dossier)
        (listed,) = view.list_claims()
        return file.audit.payload.audit if file else None, dossier.status.restriction, listed.status.restriction


def test_an_outcome_under_the_rival_counts_once_it_is_upheld(ledger: Ledger) -> None:
    """Before that it stands beside, though it is later; then it leads, also before a later one under what was contested."""
    quarrel = contest(ledger)
    first = audit_under(ledger, quarrel, ClaimClass.STABLE, rival=False)
    under = audit_under(ledger, quarrel, ClaimClass.DEGRADED, rival=True)
    beside = leading(ledger, quarrel)
    take(ledger, quarrel, (UPHELD, "UNI"))
    upheld = leading(ledger, quarrel)
    audit_under(ledger, quarrel, ClaimClass.STABLE, rival=False)

    assert beside == (first, RestrictionStatus.NARROWED, RestrictionStatus.NARROWED)  # it holds, by what somebody reported
    assert upheld == (under, RestrictionStatus.NARROWED, RestrictionStatus.NARROWED)
    assert leading(ledger, quarrel) == upheld
    with ledger.view() as view:
        file = view.find_objection(quarrel.objection)
        assert file is not None
        assert [replay.payload.audit for replay in file.replays] == [under]


def test_a_rival_alone_does_not_audit_a_claim_before_it_is_upheld(ledger: Ledger) -> None:
    """Nor does one whose objection was rejected."""
    quarrel = contest(ledger)
    audit_under(ledger, quarrel, ClaimClass.STABLE, rival=True)
    before = leading(ledger, quarrel)
    take(ledger, quarrel, (REJECTED, "UNI"))

    assert before == (None, RestrictionStatus.UNAUDITED, RestrictionStatus.UNAUDITED)
    assert leading(ledger, quarrel) == before


def test_a_specification_that_only_a_lock_fixes_is_disputed_for_its_claim(ledger: Ledger) -> None:
    """Most claims name no P_deploy: the auditor's is what is contested, and the claim's page says so."""
    quarrel = contest(ledger)
    with ledger.write(actor="LAB") as writer:
        bare = make.add_claim(writer, make.add_property(writer, slug="other"))
        name = make.add_audit(writer, f"{bare}@1")
        fixed = LockedSpec(name="default", spec=quarrel.deploy, sha256="ab" * 32)
        writer.append(replace(make.lock(name, f"{bare}@1"), deploy=(fixed,)))

    with ledger.view() as view:
        dossier = view.dossier(bare)
        assert view.status(bare).dispute is Dispute.CONTESTED
        assert dossier.status.dispute is Dispute.CONTESTED
        assert quarrel.deploy in {f"{spec.payload.spec}@{spec.payload.version}" for spec in dossier.specs}
        assert [objection.objection.payload.objection for objection in dossier.objections] == [quarrel.objection]
