"""Reading as of an entry gives exactly what a registry gave whose log ended there."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.errors import CaveatError
from registry.records.claim import ClaimEvent, ClaimEventKind, Form
from registry.records.claim_status import Objection, ObjectionEvent, ObjectionStep
from registry.records.model_version import ModelRef, ModelVersion
from registry.records.record import Kind
from registry.records.system_card import MatchResult
from registry.records.verdict import ClaimClass
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View
from tests.examples import scale
from tests.store import builders as make

Step = Callable[[Writer], object]


def _pick(names: list[str], number: int) -> str:
    return names[number % len(names)]


def _claims(writer: Writer) -> list[str]:
    return [claim.claim for claim in writer.list_claims()]


def _add(number: int, writer: Writer) -> None:
    make.add_claim(writer, "PRP-LAB-2026-0001-X@1", quote=f"Claim {number}.")


def _revise(number: int, writer: Writer) -> None:
    name = _pick(_claims(writer), number)
    now = writer.find_claim(name)
    assert now is not None
    writer.append(make.claim(name, "PRP-LAB-2026-0001-X@1", revision=now.payload.revision + 1, why="again", quote=f"Revised {number}."))


def _happen(event: ClaimEventKind, number: int, writer: Writer) -> None:
    names = _claims(writer)
    name = _pick(names, number)
    successor = next((other for other in names if other != name), None) if event is ClaimEventKind.SUPERSEDE else None
    if event is not ClaimEventKind.SUPERSEDE or successor:
        writer.append(ClaimEvent(claim=name, event=event, successor=successor, reason="so"))


def _audit(number: int, writer: Writer) -> None:
    now = writer.find_claim(_pick(_claims(writer), number))
    assert now is not None
    claim = now.payload.reference
    audit = make.add_audit(writer, claim)
    locked = writer.append(make.lock(audit, claim))
    run = writer.append(make.run(audit, locked.at + timedelta(minutes=number)))
    writer.append(make.result(audit, run.seq))
    writer.append(make.restriction(audit, claim, make.verdict(Form.PREVALENCE, (ClaimClass.STABLE, ClaimClass.DEGRADED)[number % 2])))


def _contest(number: int, writer: Writer) -> None:
    name = make.allocate(writer, Kind.OBJECTION)
    target = f"{_pick(_claims(writer), number)}@1" if number % 2 else "PRP-LAB-2026-0001-X@1"
    writer.append(Objection(objection=name, target=target, by="LAB", grounds="no"))
    writer.append(ObjectionEvent(objection=name, step=list(ObjectionStep)[number % 4], note="so"))


def _succeed(number: int, writer: Writer) -> None:
    """The claims' model first, then its successors one after the other."""
    known = len(writer.list_models())
    versions = [ModelRef(developer="Example", name="m", version=str(count)) for count in (known, known + 1)]
    writer.append(ModelVersion(model=versions[1], predecessor=versions[0] if known else None))


def _renew(number: int, writer: Writer) -> None:
    latest = writer.find_spec("PRP-LAB-2026-0001-X")
    assert latest is not None
    writer.append(make.property_spec("PRP-LAB-2026-0001-X", version=latest.payload.version + 1, why="range"))


def _reprint(number: int, writer: Writer) -> None:
    """A newer revision of the card that one claim is quoted from."""
    (latest,) = writer.list_cards()
    revision = latest.payload.revision + 1
    make.revise_card(writer, latest.payload.card, revision=revision, document=f"{revision:064x}")


def _look(number: int, writer: Writer) -> None:
    """Where the passage stands in the newest revision, if no one looked there before."""
    (latest,) = writer.list_cards()
    card = f"{latest.payload.card}@{latest.payload.revision}"
    if latest.payload.revision > 1 and not writer.list_passage_matches(card=card):
        writer.append(make.passage_match("CLM-LAB-2026-0001-E@1", card, list(MatchResult)[number % 4], latest.payload.document))


def _leave_out(number: int, writer: Writer) -> None:
    (latest,) = writer.list_cards()
    card = f"{latest.payload.card}@{latest.payload.revision}"
    if not writer.list_omissions(card):
        writer.append_many([make.omission(card, document=latest.payload.document), make.survey(card, (0, 1 + number))])


_events = [ClaimEventKind.PUBLISH, ClaimEventKind.WITHDRAW, ClaimEventKind.SUPERSEDE]
ACTIONS: list[Callable[[int, Writer], None]] = [
    _add,
    _revise,
    _audit,
    _contest,
    _succeed,
    _renew,
    _reprint,
    _look,
    _leave_out,
    *(partial(_happen, event) for event in _events),
]
histories = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9)), min_size=1, max_size=10)


def _read(view: View) -> dict[str, Any]:
    """Everything that can be read."""
    names = [claim.claim for claim in view.list_claims()]
    return {
        "size": view.log_size,
        "entries": list(view.entries()),
        "claims": list(view.list_claims()),
        "dossiers": [view.dossier(name) for name in names],
        "histories": [view.history(name) for name in names],
        "audits": view.list_audits(),
        "specs": view.list_specs(),
        "models": view.list_models(),
        "surveys": [view.list_surveys(card.payload.card) for card in view.list_cards()],
        "omissions": [view.list_omissions(card.payload.card) for card in view.list_cards()],
        "passage_matches": view.list_passage_matches(),
        "search": list(view.list_claims(text="revised")),
    }


@settings(max_examples=scale(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(history=histories)
def test_as_of_is_what_was_read_then(new_ledger: Callable[[], Ledger], history: list[tuple[Callable[[int, Writer], None], int]]) -> None:
    """Whatever comes later is not seen, in no list, status, dossier or search."""
    ledger = new_ledger()
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        make.add_quoted(writer, phi, f"{make.add_card(writer)}@1")
    then: list[dict[str, Any]] = []
    for action, number in history:
        with ledger.view() as view:
            then.append(_read(view))
        try:
            with ledger.write(actor="LAB") as writer:
                action(number, writer)
        except CaveatError as error:
            assert error.code == "claim-ended"

    for before in then:
        with ledger.view(before["size"]) as view:
            assert _read(view) == before
    ledger.close()


@settings(max_examples=scale(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(history=histories)
def test_many_dossiers_at_once_are_those_read_one_by_one(
    new_ledger: Callable[[], Ledger], history: list[tuple[Callable[[int, Writer], None], int]]
) -> None:
    """What claims share is read once; nothing of one claim gets into the dossier of another."""
    ledger = new_ledger()
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        make.add_quoted(writer, phi, f"{make.add_card(writer)}@1")
        make.add_claim(writer, phi)
        make.allocate(writer, Kind.CLAIM)
    for action, number in history:
        try:
            with ledger.write(actor="LAB") as writer:
                action(number, writer)
        except CaveatError as error:
            assert error.code == "claim-ended"

    with ledger.view() as view:
        names = [claim.claim for claim in view.list_claims()][::-1]
        assert list(view.dossiers(names)) == [view.dossier(name) for name in names]
        assert [dossier.status for dossier in view.dossiers(names)] == [view.status(name) for name in names]
    ledger.close()
