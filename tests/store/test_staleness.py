"""What claims may not have survived: each cause, what settles it, and what a person decides of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from registry.errors import ConflictError, InputError
from registry.records.analysis_plan import LockedSpec
from registry.records.claim import ClaimEvent, ClaimEventKind, Form
from registry.records.claim_status import (
    CauseKind,
    Dispute,
    Objection,
    ObjectionEvent,
    ObjectionStep,
    StaleCause,
    Staleness,
    StalenessReview,
    StalenessVerdict,
    Status,
)
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelRef, ModelVersion
from registry.records.record import Kind
from registry.records.specification import MethodSpec, SpecKind, SpecVersion
from registry.records.system_card import MatchResult
from registry.records.verdict import Basis, ClaimClass
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer, import_entries
from registry.store.registry_rebuild import rebuild, verify
from registry.store.registry_view import View
from registry.store.supplement_states import find_states
from tests.store import builders as make
from tests.store import sealing

CONFIRMED, DISMISSED = StalenessVerdict.CONFIRMED, StalenessVerdict.DISMISSED


def version(number: int) -> ModelRef:
    return replace(make.MODEL, version=str(number))


def follow(model: int, predecessor: int, descent: Descent = Descent.SUCCESSOR, **changes: Any) -> ModelEvent:
    return make.follow(version(model), version(predecessor), descent, **changes)


def review(claim: str, verdict: StalenessVerdict, *causes: StaleCause) -> StalenessReview:
    return make.review(claim, *causes, verdict=verdict)


def audit(writer: Writer, claim: str, *fixed: str, method: str = "closed-form/2, two-way", rival: str | None = None) -> str:
    """Record a whole audit of *claim* (`…@n`) whose lock fixes the definitions *fixed*; return its identifier."""
    name = make.allocate(writer, Kind.AUDIT)
    writer.append(replace(make.audit(name, claim), objection=rival))
    deploy = tuple(LockedSpec(name="default", spec=spec, sha256="ab" * 32) for spec in fixed)
    locked = writer.append(replace(make.lock(name, claim), deploy=deploy))
    run = writer.append(make.run(name, locked.at + timedelta(hours=1)))
    known = make.estimate().specs[0]
    result = writer.append(make.result(name, run.seq, specs=(replace(known, ed=replace(known.ed, method=method)),)))
    verdict = make.verdict(Form.PREVALENCE, ClaimClass.STABLE, basis=Basis.REPLAY)
    writer.append(make.restriction(name, claim, verdict, result=result.seq))
    return name


def method_spec(writer: Writer, slug: str = "closed-form", versions: int = 1) -> str:
    """Register a method with so many versions, and return its identifier."""
    name = make.allocate(writer, Kind.METHOD)
    for number in range(1, versions + 1):
        body = MethodSpec(name=slug, description="intervals")
        writer.append(SpecVersion(spec=name, kind=SpecKind.METHOD, slug=slug, version=number, owner="LAB", body=body, why="better"))
    return name


def uphold(writer: Writer, target: str) -> str:
    """Contest *target* and uphold that; return the objection."""
    name = make.allocate(writer, Kind.OBJECTION)
    writer.append(Objection(objection=name, target=target, by="LAB", grounds="too narrow"))
    writer.append(ObjectionEvent(objection=name, step=ObjectionStep.UPHELD, note="yes"))
    return name


def causes(view: View, claim: str) -> list[tuple[CauseKind, str]]:
    """Kind and what of each cause of *claim*; its sentences stand beside them, and lists and dossiers say the same."""
    status = view.status(claim)
    assert status.stale_because == tuple(cause.text for cause in status.causes)
    assert status == view.dossier(claim).status
    assert [summary.status for summary in view.list_claims() if summary.claim == claim] == [status]
    assert (status.staleness is Staleness.CURRENT) == (not status.causes)
    return [(cause.kind, cause.what) for cause in status.causes]


@pytest.fixture
def claim(ledger: Ledger) -> str:
    """A claim about version 1 with a deployment context; four versions are registered."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        deploy = make.context_spec(make.allocate(writer, Kind.CONTEXT))
        writer.append_many([deploy, *(ModelVersion(model=version(number)) for number in (1, 2, 3, 4))])
        return make.add_claim(writer, phi, deploy_contexts=(f"{deploy.spec}@1",))


def deploy_of(view: View, claim: str) -> str:
    known = view.find_claim(claim)
    assert known is not None
    return known.payload.deploy_contexts[0].partition("@")[0]


def widen(writer: Writer, spec: str, number: int = 2) -> None:
    writer.append(make.context_spec(spec, version=number, why="wider"))


def test_what_took_the_place_of_a_model_is_a_cause_and_a_fine_tune_is_none(ledger: Ledger, claim: str) -> None:
    """A successor, a snapshot beside it, and neither once they are taken back; each names the entry that says so."""
    with ledger.write(actor="LAB") as writer:
        writer.append(follow(4, 1, Descent.FINE_TUNE))
        tuned = causes(writer, claim)
        first = writer.append(follow(2, 1))
        writer.append(follow(3, 1, Descent.SNAPSHOT, branch=True))
        replaced, status = causes(writer, claim), writer.status(claim)
        for number in (2, 3):
            event = replace(follow(number, 1), event=ModelEventKind.UNFOLLOW, descent=None, reason="no")
            writer.append(event)

    with ledger.view() as view:
        assert causes(view, claim) == tuned == []
    assert replaced == [(CauseKind.SUCCESSOR, "Example m 2"), (CauseKind.SUCCESSOR, "Example m 3")]
    assert status.stale_because == ("Example m 1 was followed by Example m 2", "Example m 1 has a later snapshot, Example m 3")
    assert status.causes[0].entry == first.seq
    assert status.staleness is Staleness.NEEDS_REVIEW


def test_a_deprecated_model_is_a_cause_until_it_is_reinstated(ledger: Ledger, claim: str) -> None:
    """With the last day, where somebody says it."""
    with ledger.write(actor="LAB") as writer:
        gone = ModelEvent(model=version(1), event=ModelEventKind.DEPRECATE, on=date(2027, 1, 31), reason="announced")
        writer.append(gone)
        reasons = writer.status(claim).stale_because
        deprecated = causes(writer, claim)
        writer.append(replace(gone, event=ModelEventKind.REINSTATE, on=None))

    with ledger.view() as view:
        assert causes(view, claim) == []
    assert reasons == ("Example m 1 was deprecated, the last day it is offered is 2027-01-31",)
    assert deprecated == [(CauseKind.DEPRECATION, "Example m 1")]


def test_a_newer_definition_is_settled_by_a_later_audit_whose_lock_fixes_it(ledger: Ledger, claim: str) -> None:
    """Not by an audit that was opened before, nor by one that fixes the older version; the version after it is a cause anew."""
    seen = []
    with ledger.write(actor="LAB") as writer:
        spec = deploy_of(writer, claim)
        before = make.allocate(writer, Kind.AUDIT)
        writer.append(make.audit(before, f"{claim}@1"))
        widen(writer, spec)
        seen.append(causes(writer, claim))
        writer.append(replace(make.lock(before, f"{claim}@1"), deploy=(LockedSpec(name="default", spec=f"{spec}@2", sha256="ab" * 32),)))
        writer.append(make.restriction(before, f"{claim}@1", make.verdict(Form.PREVALENCE, ClaimClass.STABLE)))
        seen.append(causes(writer, claim))
        audit(writer, f"{claim}@1", f"{spec}@1")
        seen.append(causes(writer, claim))
        audit(writer, f"{claim}@1", f"{spec}@2")
        seen.append(causes(writer, claim))
        widen(writer, spec, 3)

    with ledger.view() as view:
        seen.append(causes(view, claim))
    cause = [(CauseKind.SPEC, f"{spec}@2")]
    assert seen == [cause, cause, cause, [], [(CauseKind.SPEC, f"{spec}@3")]]


def test_a_newer_method_is_a_cause_until_an_estimate_is_by_it(ledger: Ledger, claim: str) -> None:
    """Of all that are registered under the slug the highest; a method of another name, and one that is not newer, are none."""
    seen = []
    with ledger.write(actor="LAB") as writer:
        audit(writer, f"{claim}@1")
        method_spec(writer, "anytime", 9)
        name = method_spec(writer, versions=2)
        seen.append(causes(writer, claim))
        newer = SpecVersion(
            spec=name,
            kind=SpecKind.METHOD,
            slug="closed-form",
            version=3,
            owner="LAB",
            body=MethodSpec(name="n", description="d"),
            why="sharper",
        )
        entry = writer.append(newer)
        seen.append(causes(writer, claim))
        status = writer.status(claim)
        audit(writer, f"{claim}@1", method="closed-form/3")

    with ledger.view() as view:
        seen.append(causes(view, claim))
    assert seen == [[], [(CauseKind.METHOD, "closed-form/3")], []]
    assert status.stale_because == (f"its estimate is by closed-form/2, and closed-form/3 is registered ({name}@3)",)
    assert status.causes[0].entry == entry.seq


def test_a_method_of_a_reported_estimate_counts_and_an_erased_result_stops_nothing(ledger: Ledger, claim: str) -> None:
    """An outcome without a replay carries its own estimate; where a result's text is gone, the method of the other outcome still counts."""
    with ledger.write(actor="LAB") as writer:
        method_spec(writer, "clustered", 2)
        name = make.add_audit(writer, f"{claim}@1")
        known = make.estimate().specs[0]
        estimate = make.estimate(specs=(replace(known, ed=replace(known.ed, method="clustered/1")),))
        verdict = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED)
        writer.append(make.restriction(name, f"{claim}@1", verdict, estimate=estimate))
        reported = [cause.what for cause in writer.status(claim).causes]
        audit(writer, f"{claim}@1", method="clustered/1")
        replayed = [cause.what for cause in writer.status(claim).causes]
        (result,) = (audit_file.results[0].entry.seq for audit_file in writer.list_audits(claim) if audit_file.results)
        writer.erase(result, why="It named a person.")

    with ledger.view() as view:
        assert (reported, replayed) == (["clustered/2"], ["clustered/2"])
        assert [[cause.what for cause in summary.status.causes] for summary in view.list_claims()] == [["clustered/2"]]


@pytest.mark.parametrize("of", ["claim", "definition", "locked definition"])
def test_a_objection_upheld_after_the_audit_is_a_cause_until_the_next(ledger: Ledger, claim: str, of: str) -> None:
    """Of the claim or what it or its lock names; not before any outcome, and not for the audit that replays under the rival."""
    seen = []
    with ledger.write(actor="LAB") as writer:
        fixed = make.context_spec(make.allocate(writer, Kind.CONTEXT), slug="fixed")
        writer.append(fixed)
        target = {"claim": f"{claim}@1", "definition": f"{deploy_of(writer, claim)}@1", "locked definition": f"{fixed.spec}@1"}[of]
        uphold(writer, target)
        seen.append(causes(writer, claim))
        audit(writer, f"{claim}@1", f"{fixed.spec}@1")
        seen.append(causes(writer, claim))
        later = uphold(writer, target)
        seen.append(causes(writer, claim))
        disputed = writer.status(claim).dispute
        rivalled = audit(writer, f"{claim}@1", f"{fixed.spec}@1", rival=later)
        seen.append(causes(writer, claim))

    with ledger.view() as view:
        assert view.status(claim).dispute is disputed is Dispute.UPHELD
        assert rivalled in [audit_file.audit.payload.audit for audit_file in view.list_audits(claim)]
    assert seen == [[], [], [(CauseKind.OBJECTION, later)], []]


def test_an_audit_under_the_rival_is_no_reason_against_itself(ledger: Ledger, claim: str) -> None:
    """It was opened before its objection was upheld, and leads since; another objection upheld meanwhile is a cause all the same."""
    with ledger.write(actor="LAB") as writer:
        name = make.allocate(writer, Kind.OBJECTION)
        writer.append(Objection(objection=name, target=f"{claim}@1", by="LAB", grounds="too narrow"))
        audit(writer, f"{claim}@1", rival=name)
        writer.append(ObjectionEvent(objection=name, step=ObjectionStep.UPHELD, note="yes"))
        alone = causes(writer, claim)
        other = uphold(writer, f"{claim}@1")

    with ledger.view() as view:
        assert alone == []
        assert causes(view, claim) == [(CauseKind.OBJECTION, other)]


def test_a_person_confirms_or_dismisses_each_cause(ledger: Ledger, claim: str) -> None:
    """One confirmed makes the claim stale; a dismissed one is gone; the last word on each counts, and a new entry is a new question."""
    seen: list[tuple[Staleness, list[str]]] = []

    def look(writer: Writer) -> Status:
        status = writer.status(claim)
        seen.append((status.staleness, [cause.what for cause in status.causes]))
        causes(writer, claim)
        return status

    with ledger.write(actor="LAB") as writer:
        spec = deploy_of(writer, claim)
        widen(writer, spec)
        writer.append(follow(2, 1))
        first, second = look(writer).causes
        writer.append(review(f"{claim}@1", DISMISSED, first))
        look(writer)
        writer.append(review(f"{claim}@1", CONFIRMED, first, second))
        look(writer)
        writer.append(review(f"{claim}@1", DISMISSED, first, second))
        look(writer)
        widen(writer, spec, 3)
        look(writer)

    two, wide = "Example m 2", f"{spec}@2"
    may = Staleness.NEEDS_REVIEW
    assert seen == [
        (may, [two, wide]),
        (may, [wide]),
        (Staleness.STALE, [two, wide]),
        (Staleness.CURRENT, []),
        (may, [f"{spec}@3"]),
    ]
    with ledger.view() as view:
        assert [recorded.payload.verdict for recorded in view.list_reviews(claim)] == [DISMISSED, CONFIRMED, DISMISSED]
        assert view.list_reviews(f"{claim}@1") == view.list_reviews() == view.dossier(claim).reviews
        assert view.list_reviews(f"{claim}@2") == ()


def test_a_decision_does_not_speak_of_what_was_recorded_after_it(ledger: Ledger, claim: str) -> None:
    """Deprecated, dismissed, reinstated and deprecated again: the same name, another entry."""
    gone = ModelEvent(model=version(1), event=ModelEventKind.DEPRECATE, reason="announced")
    with ledger.write(actor="LAB") as writer:
        writer.append(gone)
        writer.append(review(f"{claim}@1", DISMISSED, *writer.status(claim).causes))
        dismissed = causes(writer, claim)
        writer.append_many([replace(gone, event=ModelEventKind.REINSTATE), gone])

    with ledger.view() as view:
        assert dismissed == []
        assert causes(view, claim) == [(CauseKind.DEPRECATION, "Example m 1")]


def test_behind_a_dismissed_successor_its_own_successors_are_seen(ledger: Ledger, claim: str) -> None:
    """Whoever says that version 2 changes nothing has not said so of 3; a confirmed one hides what came after it."""
    with ledger.write(actor="LAB") as writer:
        writer.append_many([follow(2, 1), follow(3, 2), follow(4, 3)])
        (first,) = writer.status(claim).causes
        writer.append(review(f"{claim}@1", DISMISSED, first))
        (second,) = writer.status(claim).causes
        candidates = writer.list_causes(claim)
        writer.append(review(f"{claim}@1", CONFIRMED, second))

    with ledger.view() as view:
        assert [candidate.what for candidate in candidates] == ["Example m 2", "Example m 3"]
        assert second.text == "Example m 2 was followed by Example m 3"
        assert (view.status(claim).staleness, view.status(claim).causes) == (Staleness.STALE, (second,))


def test_a_new_revision_is_asked_anew(ledger: Ledger, claim: str) -> None:
    """What was decided of revision 1 says nothing of 2; carried to the new version it has no successor, and only its audit is missing."""
    with ledger.write(actor="LAB") as writer:
        audit(writer, f"{claim}@1")
        writer.append(follow(2, 1))
        writer.append(review(f"{claim}@1", CONFIRMED, *writer.status(claim).causes))
        head = writer.find_claim(claim)
        assert head is not None
        writer.append(replace(head.payload, revision=2, why="carried", model=version(2)))

    with ledger.view() as view:
        assert causes(view, claim) == [(CauseKind.REVISION, f"{claim}@2")]
        earlier = view.dossier(f"{claim}@1").status
        assert earlier.staleness is Staleness.STALE
        assert [(cause.kind, cause.what) for cause in earlier.causes] == [
            (CauseKind.REVISION, f"{claim}@2"),
            (CauseKind.SUCCESSOR, "Example m 2"),
        ]
        assert [successor.payload.model for successor in view.dossier(claim).successors] == []
        assert [model_event.payload.event for model_event in view.dossier(claim).model_events] == [ModelEventKind.FOLLOW]


def test_what_was_found_of_a_passage_is_another_question_than_that_nobody_looked(ledger: Ledger) -> None:
    """A card revision is a cause; dismissed before somebody found the passage gone, it is a cause again."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        card = make.add_card(writer)
        name = make.add_quoted(writer, phi, f"{card}@1")
        second = make.revise_card(writer, card)
        (unseen,) = writer.status(name).causes
        writer.append(review(f"{name}@1", DISMISSED, unseen))
        dismissed = causes(writer, name)
        entry = writer.append(make.passage_match(f"{name}@1", second, MatchResult.GONE))

    with ledger.view() as view:
        assert dismissed == []
        assert view.status(name).causes == (
            StaleCause(kind=CauseKind.CARD, what=second, entry=entry.seq, text=f"its passage is gone from {second}"),
        )


def test_a_list_of_stale_claims_leaves_out_what_nobody_can_act_on(ledger: Ledger, claim: str) -> None:
    """Withdrawn claims keep their staleness and are not listed; of one model, and in log order."""
    with ledger.write(actor="LAB") as writer:
        phi = f"{writer.list_specs(SpecKind.PROPERTY)[0].payload.spec}@1"
        gone, other = make.add_claim(writer, phi, quote="gone"), make.add_claim(writer, phi, quote="other", model=version(3))
        fresh = make.add_claim(writer, phi, quote="fresh", model=version(4))
        writer.append_many([follow(2, 1), follow(4, 3)])
        writer.append(ClaimEvent(claim=gone, event=ClaimEventKind.WITHDRAW, reason="wrong"))

    with ledger.view() as view:
        assert [listed_claim.claim for listed_claim in view.list_stale()] == [claim, other]
        assert [listed_claim.claim for listed_claim in view.list_stale(model=version(3))] == [other]
        assert list(view.list_stale(model=version(4))) == []
        assert view.status(gone).staleness is Staleness.NEEDS_REVIEW
        assert view.status(fresh).staleness is Staleness.CURRENT


@pytest.fixture
def stale(ledger: Ledger, claim: str) -> Iterator[tuple[str, StaleCause]]:
    """The claim with the cause that its model has a successor."""
    with ledger.write(actor="LAB") as writer:
        writer.append(follow(2, 1))
        (cause,) = writer.status(claim).causes
    return iter([(claim, cause)])


def test_a_decision_on_nothing_is_refused(ledger: Ledger, stale: Iterator[tuple[str, StaleCause]]) -> None:
    """On a claim or revision that is not there, on an earlier revision, on a cause that it does not have, twice on one; all at once."""
    claim, cause = next(stale)
    other = replace(cause, what="Example m 3")
    for decision, code, problem in (
        (review(f"{claim}@2", DISMISSED, cause), "not-registered", "no such claim revision"),
        (review("CLM-LAB-2026-0099-X@1", DISMISSED, cause), "not-registered", "no such claim revision"),
        (review(f"{claim}@1", DISMISSED, other), "unknown-name", "its causes: successor Example m 2"),
        (review(f"{claim}@1", DISMISSED, other, cause, cause), "duplicate", "is named 2 times"),
    ):
        with pytest.raises(InputError, match=problem) as refused, ledger.write(actor="LAB") as writer:
            writer.append(decision)
        assert code in [fault.code for fault in refused.value.faults]
    with ledger.write(actor="LAB") as writer:
        head = writer.find_claim(claim)
        assert head is not None
        writer.append(replace(head.payload, revision=2, why="other words"))
    with pytest.raises(ConflictError, match=f"decide on {claim}@2"), ledger.write(actor="LAB") as writer:
        writer.append(review(f"{claim}@1", DISMISSED, cause))


def test_words_of_a_decision_may_be_erased_and_it_still_counts(ledger: Ledger, stale: Iterator[tuple[str, StaleCause]]) -> None:
    """The dossier is told without it; what was said of a model's lineage stays."""
    claim, cause = next(stale)
    with ledger.write(actor="LAB") as writer:
        entry = writer.append(review(f"{claim}@1", DISMISSED, cause))
        event = writer.list_model_events()[0].entry.seq
        with pytest.raises(InputError, match="not-erasable"):
            writer.erase(event, why="It named a person.")
        writer.erase(entry.seq, why="It named a person.")

    with ledger.view() as view:
        assert view.status(claim).staleness is Staleness.CURRENT
        assert view.dossier(claim).reviews == view.list_reviews() == ()
        assert view.dossier(claim).status == view.status(claim)


def test_another_registry_and_a_rebuilt_one_see_the_same(
    ledger: Ledger, stale: Iterator[tuple[str, StaleCause]], new_ledger: Callable[[], Ledger], new_url: Callable[[], str]
) -> None:
    """Lineage, causes, decisions and states go with the log: taken over, and replayed; every row is what its statement gives."""
    claim, cause = next(stale)
    with ledger.write(actor="LAB") as writer:
        widen(writer, deploy_of(writer, claim))
        writer.append(review(f"{claim}@1", CONFIRMED, cause))
    with ledger.view() as view:
        origin, entries, links = view.log_origin, list(view.log_entries()), view.lineage().links
        status, states, reviews = view.status(claim), find_states(view), view.list_reviews()
    copied, other = new_url(), new_ledger()
    rebuild(ledger.url, copied, lambda _done: None)
    with other.write(actor="LAB") as writer:
        writer.name_log("other.example/log")
        make.settle(writer)
        import_entries(writer, origin, sealing.log_key(origin).vkey or "", [(*entry, None) for entry in entries])

    again = Ledger.open(copied, clock=make.ticking(), salt=make.salting())
    with again.view() as mine, other.view(log=origin) as theirs, other.view() as own:
        for view in (mine, theirs):
            assert (view.status(claim), find_states(view), view.list_reviews()) == (status, states, reviews)
            assert view.lineage().links == links
        assert own.lineage().links == own.list_reviews() == ()
    assert status.staleness is Staleness.STALE
    assert verify(again).entries == verify(ledger).entries == len(entries)
    again.close()


def test_lineage_whose_words_are_gone_still_counts(ledger: Ledger, stale: Iterator[tuple[str, StaleCause]]) -> None:
    """Somebody deleted the text of a link past all our code: its row is read, and the dossier is told without the statement."""
    claim, cause = next(stale)
    with ledger.connect() as connection:
        connection.exec_driver_sql(f"DELETE FROM body WHERE seq = {cause.entry}")
        connection.commit()

    with ledger.view() as view:
        assert view.status(claim).causes == (cause,)
        assert view.dossier(claim).model_events == view.list_model_events() == ()
        assert view.lineage().deprecation(version(1)) is None
