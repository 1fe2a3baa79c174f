"""The four axes of a claim's status, each moved by what belongs to it and by nothing else."""

from datetime import timedelta
from typing import Any

import pytest

from registry.records.claim import ClaimEvent, ClaimEventKind, Form, Relation
from registry.records.claim_status import Dispute, Lifecycle, Objection, ObjectionEvent, ObjectionStep, Staleness
from registry.records.model_version import ModelRef, ModelVersion
from registry.records.record import Kind
from registry.records.verdict import Basis, ClaimClass, Mode, RestrictionStatus, Standing
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from tests.store import builders as make


def test_a_claim_lives(ledger: Ledger) -> None:
    """Reserved, registered, published, superseded; seen by each way of reading alike."""
    seen = []
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.allocate(writer, Kind.CLAIM)
        for payload in (
            ClaimEvent(claim=name, event=ClaimEventKind.RESERVE),
            make.claim(name, phi),
            ClaimEvent(claim=name, event=ClaimEventKind.PUBLISH),
        ):
            writer.append(payload)
            seen.append(writer.status(name).lifecycle)
        other = make.add_claim(writer, phi)
        writer.append(ClaimEvent(claim=name, event=ClaimEventKind.SUPERSEDE, successor=other, reason="merged"))

    with ledger.view() as view:
        status = view.status(name)
        assert seen == [Lifecycle.RESERVED, Lifecycle.REGISTERED, Lifecycle.PUBLISHED]
        assert (status.lifecycle, status.superseded_by) == (Lifecycle.SUPERSEDED, other)
        assert [summary.status for summary in view.list_claims()] == [status, view.status(other)]
        assert view.dossier(name).status == status
        assert view.status(other).dispute is Dispute.UNDISPUTED


VERDICTS: list[tuple[dict[str, Any], RestrictionStatus]] = [
    ({"class_": ClaimClass.STABLE, "basis": Basis.REPLAY}, RestrictionStatus.SUPPORTED),
    ({"class_": ClaimClass.DEGRADED}, RestrictionStatus.NARROWED),
    ({"class_": ClaimClass.STABLE}, RestrictionStatus.NARROWED),
    ({"class_": ClaimClass.INVERTED, "standing": Standing.CANDIDATE}, RestrictionStatus.SUSPENDED),
    ({"class_": ClaimClass.INVERTED, "standing": Standing.STRUCTURAL_RISK}, RestrictionStatus.SUSPENDED),
    ({"class_": ClaimClass.INVERTED, "standing": Standing.ESTABLISHED, "basis": Basis.REPLAY}, RestrictionStatus.NOT_SUPPORTED),
    ({"class_": ClaimClass.UNDETERMINED, "mode": Mode.NOISY, "resolves": "more tasks"}, RestrictionStatus.NOT_RESOLVED),
]


@pytest.mark.parametrize(("verdict", "expected"), VERDICTS, ids=[expected for _, expected in VERDICTS[:2]] + list("abcde"))
def test_a_restriction_follows_the_first_reading(ledger: Ledger, verdict: dict[str, Any], expected: RestrictionStatus) -> None:
    """It follows from the gravest outcome on the words; a new revision of the same words keeps it."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi, form=Form.THRESHOLD, relation=Relation.AT_LEAST, theta=0.9)
        result = _replay(writer, f"{name}@1")
        first = make.verdict(
            Form.THRESHOLD, verdict.get("class_", ClaimClass.STABLE), **{k: v for k, v in verdict.items() if k != "class_"}
        )
        second = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED)
        before = writer.status(name).restriction
        writer.append(make.restriction(result[0], f"{name}@1", first, second, result=result[1]))
        after = writer.status(name)
        writer.append(make.claim(name, phi, revision=2, why="other words"))
        revised = writer.status(name)

    assert before is RestrictionStatus.UNAUDITED
    assert after.restriction is expected
    assert (after.staleness, revised.restriction, revised.staleness) == (
        Staleness.CURRENT,
        expected,
        Staleness.NEEDS_REVIEW,
    )
    assert "after its last audit" in revised.stale_because[0]


def _replay(writer: Writer, claim: str) -> tuple[str, int]:
    audit = make.add_audit(writer, claim)
    locked = writer.append(make.lock(audit, claim))
    run = writer.append(make.run(audit, locked.at + timedelta(hours=1)))
    return audit, writer.append(make.result(audit, run.seq)).seq


def test_what_a_claim_refers_to_makes_it_stale(ledger: Ledger) -> None:
    """A successor of its model, a newer revision of its card, a newer version of each specification: a reason each."""
    newer = ModelRef(developer="Example", name="m", version="2")
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        deploy = make.context_spec(make.allocate(writer, Kind.CONTEXT))
        writer.append_many([deploy, ModelVersion(model=make.MODEL)])
        card = make.add_card(writer)
        name = make.add_quoted(writer, phi, f"{card}@1", deploy_contexts=(f"{deploy.spec}@1",))
        fresh = writer.status(name)
        writer.append(ModelVersion(model=newer, predecessor=make.MODEL))
        writer.append(make.card(card, writer.put_content(make.TEXT), "ef" * 32, revision=2, why="erratum"))
        writer.append(make.property_spec(phi.partition("@")[0], version=2, why="range"))
        writer.append(make.context_spec(deploy.spec, version=2, why="wider"))

    with ledger.view() as view:
        stale = view.dossier(name)
    assert fresh.staleness is Staleness.CURRENT
    assert stale.status.stale_because == (
        "Example m 1 was followed by Example m 2",
        f"{card}@1 has a newer revision, @2; the place of its passage there was not looked up (caveat card diff {card} --record)",
        f"{phi} has a newer version, @2",
        f"{deploy.spec}@1 has a newer version, @2",
    )
    assert [version.payload.model for version in stale.successors] == [newer]
    assert [revision.payload.revision for revision in stale.newer_cards] == [2]
    assert [spec.payload.spec for spec in stale.newer_specs] == [phi.partition("@")[0], deploy.spec]


STEPS = [
    ([], Dispute.CONTESTED),
    ([ObjectionStep.ANSWERED], Dispute.CONTESTED),
    ([ObjectionStep.ANSWERED, ObjectionStep.ESCALATED], Dispute.CONTESTED),
    ([ObjectionStep.UPHELD], Dispute.UPHELD),
    ([ObjectionStep.REJECTED], Dispute.UNDISPUTED),
    ([ObjectionStep.ESCALATED, ObjectionStep.REJECTED], Dispute.UNDISPUTED),
]


@pytest.mark.parametrize("target", ["claim", "specification"])
@pytest.mark.parametrize(("steps", "expected"), STEPS)
def test_a_objection_disputes(ledger: Ledger, target: str, steps: list[ObjectionStep], expected: Dispute) -> None:
    """Of the claim or of a P_deploy it refers to; it is dispute and not staleness, and touches no other claim."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        deploy = make.context_spec(make.allocate(writer, Kind.CONTEXT))
        writer.append(deploy)
        name = make.add_claim(writer, phi, deploy_contexts=(f"{deploy.spec}@1",))
        other = make.add_claim(writer, phi, quote="other")
        objection = make.allocate(writer, Kind.OBJECTION)
        aim = f"{name}@1" if target == "claim" else f"{deploy.spec}@1"
        writer.append(Objection(objection=objection, target=aim, by="LAB", grounds="too narrow"))
        writer.append_many([ObjectionEvent(objection=objection, step=step, note="so") for step in steps])

    with ledger.view() as view:
        assert view.status(name).dispute is expected
        assert view.status(name).staleness is Staleness.CURRENT
        assert view.status(other).dispute is Dispute.UNDISPUTED
        assert len(view.dossier(name).objections[0].events) == len(steps)
        file = view.find_objection(objection)
        assert file is not None
        assert file.objection.payload.target == aim


def test_one_open_objection_outweighs_settled_ones(ledger: Ledger) -> None:
    """Contested as long as any is open, upheld when one was and none is."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi)
        names = writer.allocate(Kind.OBJECTION, "LAB", 2)
        writer.append_many([Objection(objection=objection, target=f"{name}@1", by="LAB", grounds="no") for objection in names])
        writer.append(ObjectionEvent(objection=names[0], step=ObjectionStep.UPHELD, note="yes"))
        open_ = writer.status(name).dispute
        writer.append(ObjectionEvent(objection=names[1], step=ObjectionStep.REJECTED, note="no"))
        settled = writer.status(name).dispute

    assert (open_, settled) == (Dispute.CONTESTED, Dispute.UPHELD)


def test_an_earlier_revision_says_that_there_is_a_later_one(ledger: Ledger) -> None:
    """Whoever asks for revision 1 by its number is not told that it is current; as of before the second, it was."""
    with ledger.write(actor="LAB") as writer:
        name = make.add_claim(writer, make.settle(writer)).partition("@")[0]
    with ledger.view() as view:
        size = view.log_size
        phi = view.dossier(name).current.payload.property
    with ledger.write(actor="LAB") as writer:
        writer.append(make.claim(name, phi, revision=2, why="other words"))

    with ledger.view() as view, ledger.view(size) as then:
        earlier, latest, before = view.dossier(f"{name}@1"), view.dossier(name), then.dossier(f"{name}@1")

    assert earlier.status.staleness is Staleness.NEEDS_REVIEW
    assert earlier.status.stale_because == ("the claim has a newer revision, @2",)
    assert latest.status.staleness is before.status.staleness is Staleness.CURRENT
