"""What the database itself refuses: each rule is attacked by raw SQL, past all our code, on every engine."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert
from sqlalchemy.exc import DBAPIError

from registry.records.analysis_plan import Lock
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRelation, ClaimRelationKind, Form, Relation
from registry.records.claim_status import Objection, ObjectionEvent, ObjectionStep
from registry.records.log_seal import EntrySignature
from registry.records.model_version import ModelVersion
from registry.records.record import Kind, format_identifier
from registry.records.replay_run import assess_model_identity
from registry.records.specification import SpecKind
from registry.records.statement import OutputFormat, Publication
from registry.records.verdict import Basis, ClaimClass
from registry.store.database_engine import OWN_LOG
from registry.store.database_tables import ERASABLE, METADATA, signature
from registry.store.kinds.claim_kinds import claim_origin
from registry.store.ledger import Ledger, begin
from registry.store.log_reader import to_row
from registry.store.log_writer import Writer
from tests import findings
from tests.store import builders as make
from tests.store import sealing

Change = dict[str, Any]
DIGEST = b"\xab" * 32
NEWER = replace(make.MODEL, version="2")


@pytest.fixture(scope="module")
def filled(new_registry: Callable[[], str]) -> Iterator[Ledger]:
    """A registry with at least one row in every table; every attack is rolled back, so all may share it."""
    ledger = Ledger.open(new_registry(), clock=make.ticking(), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        writer.append(ModelVersion(model=make.MODEL))
        scoring = make.scoring_spec(make.allocate(writer, Kind.SCORING))
        test = make.context_spec(make.allocate(writer, Kind.CONTEXT), SpecKind.TEST_CONTEXT, "exam")
        deploy = make.context_spec(make.allocate(writer, Kind.CONTEXT))
        writer.append_many([scoring, test, deploy])
        card = make.add_card(writer)
        references = {
            "card": f"{card}@1",
            "scoring": f"{scoring.spec}@1",
            "test_context": f"{test.spec}@1",
            "deploy_contexts": (f"{deploy.spec}@1",),
        }
        name = make.add_claim(writer, phi, form=Form.THRESHOLD, relation=Relation.AT_LEAST, theta=0.9, **references)
        other = make.add_claim(writer, phi)
        adopted = {
            "log": OWN_LOG,
            "seq": writer.log_size,
            "origin": sealing.OTHER_LOG,
            "claim": name,
            "revision": 1,
            "entry": 4,
            "leaf": DIGEST,
        }
        writer.connection.execute(insert(claim_origin), [adopted | {"log": OWN_LOG, "seq": writer.log_size}])
        signed = EntrySignature(entry=1, key="cd" * 32, signature=b64encode(bytes(64)).decode())
        writer.connection.execute(insert(signature), [dict(zip(signature.c.keys(), to_row(signed, log_id=OWN_LOG), strict=True))])
        _fill(writer, name, other, deploy.spec)
        _fill_passages(writer, phi, card)
        writer.append_many([ModelVersion(model=NEWER), make.follow(NEWER, make.MODEL)])
        writer.append(make.review(f"{other}@1", *writer.status(other).causes))
        rivalled = replace(make.audit(make.allocate(writer, Kind.AUDIT), f"{other}@1"), objection=next(_objections(writer)))
        writer.append(rivalled)
        erased = writer.append(make.evidence(rivalled.audit, f"{other}@1"))
        sealing.fill(writer, next(iter(_locked(writer))), f"{name}@1", erase=erased.seq)
        sealing.seal(writer, witnessed_at=make.START, size=writer.log_size - 2)
    yield ledger
    ledger.close()


def _fill(writer: Any, name: str, other: str, deploy: str) -> None:
    writer.append(ClaimEvent(claim=name, event=ClaimEventKind.PUBLISH))
    writer.append(ClaimRelation(claim=name, relation=ClaimRelationKind.RELATED, other=other))
    audit, second = make.add_audit(writer, f"{name}@1"), make.add_audit(writer, f"{other}@1")
    locked = writer.append(make.lock(audit, f"{name}@1"))
    started = writer.append(make.run_start(audit))
    writer.append(make.run_end(audit, started.seq))
    run = writer.append(make.run(audit, locked.at + timedelta(hours=1), start=started.seq))
    result = writer.append(make.result(audit, run.seq))
    writer.append(make.evidence(audit, f"{name}@1"))
    writer.append(make.finding(audit, f"{name}@1", findings.judge()))
    writer.append(make.endpoint(make.MODEL, "m-1"))
    verdict = make.verdict(Form.THRESHOLD, ClaimClass.STABLE, basis=Basis.REPLAY)
    model_identity = assess_model_identity(writer.list_endpoint_names(), make.MODEL, ["m-1"], locked=None)
    writer.append(make.restriction(audit, f"{name}@1", verdict, result=result.seq, asked=model_identity, valid_until=date(2027, 11, 21)))
    writer.append(make.evidence(second, f"{other}@1"))
    objection = make.allocate(writer, Kind.OBJECTION)
    writer.append(Objection(objection=objection, target=f"{deploy}@1", by="LAB", grounds="too narrow"))
    writer.append(ObjectionEvent(objection=objection, step=ObjectionStep.ANSWERED, note="no"))
    digests = {"sha256": "ab" * 32, "record": "cd" * 32, "template": "ef" * 32}
    writer.append(Publication(subject=f"{name}@1", format=OutputFormat.PDF, log_size=writer.log_size, size_bytes=1, audit=audit, **digests))


def _fill_passages(writer: Any, phi: str, card: str) -> None:
    quoted = make.add_quoted(writer, phi, f"{card}@1", quote="quoted")
    make.add_card(writer, "cd" * 32)
    second = make.revise_card(writer, card)
    make.revise_card(writer, card, revision=3, document="12" * 32)
    writer.append_many([make.survey(second, (0, 35)), make.omission(f"{card}@1"), make.passage_match(f"{quoted}@1", second)])


def _objections(writer: Writer) -> Iterator[str]:
    yield from (entry.payload.objection for entry in writer.entries() if isinstance(entry.payload, Objection))


def _locked(writer: Writer) -> Iterator[str]:
    yield from (entry.payload.audit for entry in writer.entries() if isinstance(entry.payload, Lock))


def _last(connection: Connection, table: str) -> Change:
    key = [column.name for column in METADATA.tables[table].primary_key]
    order = ", ".join(f"{column} DESC" for column in key)
    row = connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY {order} LIMIT 1").mappings().one()
    return dict(row)


def _first(connection: Connection, table: str) -> Change:
    order = ", ".join(column.name for column in METADATA.tables[table].primary_key)
    return dict(connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY {order} LIMIT 1").mappings().one())


def _new_entry(connection: Connection, kind: str) -> int:
    """A forger would write the entry too."""
    last = _last(connection, "entry")
    connection.exec_driver_sql(
        f"INSERT INTO entry (log, seq, kind, actor, at, leaf) VALUES ({_marks(connection, 6)})",
        (OWN_LOG, last["seq"] + 1, kind, "LAB", last["at"], DIGEST),
    )
    return int(last["seq"]) + 1


def _marks(connection: Connection, count: int) -> str:
    return ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * count)


def _insert(connection: Connection, table: str, row: Change) -> None:
    connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({_marks(connection, len(row))})", tuple(row.values()))


def _attack(ledger: Ledger, table: str, change: Callable[[Connection], Change] | Change, *, kind: str | None = None) -> str:
    """Insert a copy of the table's first row, under an entry of its own, with *change*; return what the database says."""
    with ledger.connect() as connection:
        begin(connection)
        row = _first(connection, table) | {"seq": _new_entry(connection, kind or table)}
        row |= change(connection) if callable(change) else change
        try:
            _insert(connection, table, row)
        except DBAPIError as error:
            return str(error.orig)
        finally:
            connection.rollback()
    return "accepted"


TABLES = sorted(METADATA.tables)
SECOND = {"audit": format_identifier(Kind.AUDIT, "LAB", 2026, 2), "claim": format_identifier(Kind.CLAIM, "LAB", 2026, 2), "revision": 1}
UNSEEN = {"card_revision": 3}
"""A revision in which no one looked."""
CLAIM_2 = {"claim": "CLM-LAB-2026-0001-E", "revision": 2, "has_why": 1}


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_changed(filled: Ledger, table: str) -> None:
    """UPDATE is refused everywhere, DELETE wherever nothing may be erased, TRUNCATE everywhere."""
    column = METADATA.tables[table].columns[0].name
    attacks = [f"UPDATE {table} SET {column} = {column}"]
    attacks += [] if table in ERASABLE else [f"DELETE FROM {table}"]
    with filled.connect() as connection:
        if connection.dialect.name == "postgresql":
            attacks.append(f"TRUNCATE {table} CASCADE")
        for attack in attacks:
            begin(connection)
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() > 0
            with pytest.raises(DBAPIError, match="append-only"):
                connection.exec_driver_sql(attack)
            connection.rollback()


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_replaced(filled: Ledger, table: str) -> None:
    """INSERT OR REPLACE, and on PostgreSQL ON CONFLICT DO UPDATE, cannot walk through the other guards."""
    with filled.connect() as connection:
        begin(connection)
        row = _first(connection, table)
        values = f"({', '.join(row)}) VALUES ({_marks(connection, len(row))})"
        if connection.dialect.name == "sqlite":
            attack = f"INSERT OR REPLACE INTO {table} {values}"
        else:
            key = ", ".join(column.name for column in METADATA.tables[table].primary_key)
            changed = next(iter(row))
            attack = f"INSERT INTO {table} {values} ON CONFLICT ({key}) DO UPDATE SET {changed} = excluded.{changed}"
        with pytest.raises(DBAPIError, match=r"append-only|has-gap|window-missing|monitor-ended"):
            connection.exec_driver_sql(attack, tuple(row.values()))
        connection.rollback()


@pytest.mark.parametrize("table", sorted(ERASABLE))
def test_what_may_be_erased_can_be(filled: Ledger, table: str) -> None:
    """DELETE of a text is the one change there is."""
    with filled.connect() as connection:
        begin(connection)
        connection.exec_driver_sql(f"DELETE FROM {table}")

        assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() == 0
        connection.rollback()


def test_a_fitting_row_is_accepted(filled: Ledger) -> None:
    """The attacks below fail for their own reason: the same rows without the fault go in."""
    fitting: dict[str, Change] = {
        "claim_revision": CLAIM_2,
        "run": {},
        "result": {},
        "evidence": {},
        "finding": SECOND,
        "restriction": {},
        "claim_event": {},
        "publication": {},
        "objection_event": {},
        "survey": {},
        "omission": {"start": 0},
        "passage_match": UNSEEN,
        "model_endpoint": {"event": "retract"},
        "run_start": {"run": "cd" * 16},
        "run_end": {},
        "outcome_validity": {},
        "monitor_window": {"number": 3, "alarm": 2, "attribution": "unknown"},
        "monitor_incident": {},
        "monitor_end": {"monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 1)},
        "forecast_score": {},
        "asked_name": {"position": 1},
    }

    assert {table: _attack(filled, table, change, kind="claim_event") for table, change in fitting.items()} == dict.fromkeys(
        fitting, "accepted"
    )


def _other_audit(connection: Connection) -> Change:
    other = _last(connection, "audit")
    return {name: other[name] for name in ("audit", "claim", "revision")}


RESTRICTIONS: list[tuple[str, Change]] = [
    ("class inverted of a prevalence", {"reading": 1, "as_form": "prevalence", "class": "inverted", "standing": "candidate"}),
    ("class inverted of an existence", {"reading": 1, "as_form": "existence", "class": "inverted", "standing": "candidate"}),
    ("established without replay", {"class": "inverted", "standing": "established", "basis": "reported"}),
    ("established without result", {"class": "inverted", "standing": "established", "result": None}),
    ("replay without result", {"result": None}),
    ("undetermined without mode", {"class": "undetermined", "resolves": "more tasks"}),
    ("undetermined without what resolves it", {"class": "undetermined", "mode": "noisy"}),
    ("undetermined with an empty word", {"class": "undetermined", "mode": "noisy", "resolves": "  "}),
    ("a mode that is not asked for", {"mode": "noisy"}),
    ("a first reading in another form", {"as_form": "prevalence"}),
    ("a form that is not the claim's", {"form": "lower_bound", "as_form": "lower_bound"}),
    ("an unknown class", {"class": "fine"}),
]


@pytest.mark.parametrize(("why", "change"), RESTRICTIONS, ids=[why for why, _ in RESTRICTIONS])
def test_a_verdict_keeps_the_rules(filled: Ledger, why: str, change: Change) -> None:
    """What the method does not allow cannot be written down."""
    assert _attack(filled, "restriction", change) != "accepted"


@pytest.mark.parametrize("table", ["restriction", "evidence", "finding"])
def test_a_verdict_belongs_to_its_audit(filled: Ledger, table: str) -> None:
    """Neither another audit's claim nor another audit's result."""
    assert _attack(filled, table, lambda connection: {"audit": _other_audit(connection)["audit"]}) != "accepted"


def test_a_result_of_another_audit_is_refused(filled: Ledger) -> None:
    """All names agree, only the result belongs elsewhere."""
    other = {"form": "prevalence", "as_form": "prevalence"}

    assert _attack(filled, "restriction", lambda connection: _other_audit(connection) | other) != "accepted"
    assert _attack(filled, "restriction", lambda connection: _other_audit(connection) | other | {"result": None, "basis": "reported"}) == (
        "accepted"
    )


ROWS: list[tuple[str, str, Change]] = [
    ("an endpoint name of a version that no one registered", "model_endpoint", {"version": "9"}),
    ("an endpoint name that is empty", "model_endpoint", {"endpoint": ""}),
    ("an endpoint name that somebody guesses", "model_endpoint", {"event": "guess"}),
    ("a name asked in an audit that no one opened", "asked_name", {"audit": "AUD-LAB-2026-0099-X"}),
    ("a run that is started twice", "run_start", {}),
    ("a run that is started without a lock", "run_start", {"audit": format_identifier(Kind.AUDIT, "LAB", 2026, 2)}),
    ("a run that is started under a lock that is none", "run_start", {"run": "cd" * 16, "lock": 1}),
    ("a run with half a name", "run_start", {"run": "cd" * 8}),
    ("the end of a run that no one started", "run_end", {"start": 1}),
    ("the end of a run of another audit", "run_end", {"audit": format_identifier(Kind.AUDIT, "LAB", 2026, 2)}),
    ("a run that ended somehow", "run_end", {"status": "somehow"}),
    ("a run of fewer than no calls", "run_end", {"calls": -1}),
    ("a monitor with another time for its lock", "monitor", {"at": 0}),
    ("a window before the lock", "monitor_window", {"number": 3, "alarm": 2, "attribution": "unknown", "start": 0}),
    ("a window after a gap", "monitor_window", {"number": 4, "alarm": 2, "attribution": "unknown"}),
    ("a window for the second time", "monitor_window", {"number": 2, "alarm": 2, "attribution": "unknown"}),
    ("a window without the alarm that was raised", "monitor_window", {"number": 3}),
    ("an alarm without attribution", "monitor_window", {"number": 3, "alarm": 2}),
    ("an alarm in a later window", "monitor_window", {"number": 3, "alarm": 4, "attribution": "unknown"}),
    ("a window of a monitor that ended", "monitor_window", {"number": 1, "monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 2)}),
    ("a monitor that ends twice", "monitor_end", {}),
    ("an incident before the lock", "monitor_incident", {"occurred": 0}),
    ("an incident half verified", "monitor_incident", {"verified": 2}),
    ("an incident of a monitor that ended", "monitor_incident", {"monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 2)}),
    ("a forecast for the second time", "forecast", {"monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 2)}),
    ("a forecast after the first window", "forecast", {"monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 1), "spec": "other"}),
    ("a forecast above one", "forecast", {"monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 2), "spec": "other", "rate": 1.5}),
    ("a score without its forecast", "forecast_score", {"forecast": 1}),
    ("a score of another monitor's forecast", "forecast_score", {"monitor": format_identifier(Kind.MONITOR, "LAB", 2026, 2)}),
    ("a last day that is none", "outcome_validity", {"valid_until": "soon"}),
    ("a last day of an audit that no one opened", "outcome_validity", {"audit": "AUD-LAB-2026-0099-X"}),
    ("a run without its lock", "run", {"audit": format_identifier(Kind.AUDIT, "LAB", 2026, 2)}),
    ("a run under a lock that is none", "run", {"lock": 1}),
    ("a run with another time for its lock", "run", {"lock_at": 0}),
    ("a run that started before the lock", "run", {"started_at": 0}),
    ("a run with a short digest", "run", {"scores": b"\xab" * 31}),
    ("a result without a run", "result", {"run": 1}),
    ("a result of an audit without lock", "result", {"audit": format_identifier(Kind.AUDIT, "LAB", 2026, 2)}),
    ("a threshold without relation", "claim_revision", CLAIM_2 | {"relation": None, "theta": None}),
    ("an upper bound with >=", "claim_revision", CLAIM_2 | {"form": "upper_bound"}),
    ("a lower bound with <=", "claim_revision", CLAIM_2 | {"form": "lower_bound", "relation": "<="}),
    ("a prevalence with a relation", "claim_revision", CLAIM_2 | {"form": "prevalence", "theta": None}),
    ("a prevalence with θ", "claim_revision", CLAIM_2 | {"form": "prevalence", "relation": None}),
    ("a later revision without reason", "claim_revision", CLAIM_2 | {"has_why": 0}),
    ("a revision with a gap", "claim_revision", CLAIM_2 | {"revision": 3}),
    ("a revision for the second time", "claim_revision", {}),
    ("a property that is a context", "claim_revision", CLAIM_2 | {"property_kind": "deploy_context"}),
    ("a scoring that is a property", "claim_revision", CLAIM_2 | {"scoring": "PRP-LAB-2026-0001-X"}),
    ("a version that is not there", "claim_revision", CLAIM_2 | {"property_version": 2}),
    ("a card that is not there", "claim_revision", CLAIM_2 | {"card_revision": 9}),
    ("a claim no one named", "claim_revision", {"claim": "CLM-LAB-2026-0009-1", "revision": 1}),
    ("an event without reason", "claim_event", {"event": "withdraw"}),
    ("superseded by nothing", "claim_event", {"event": "supersede", "has_reason": 1}),
    ("published with a successor", "claim_event", {"successor": "CLM-LAB-2026-0002-C"}),
    ("superseded by itself", "claim_event", {"event": "supersede", "has_reason": 1, "successor": "CLM-LAB-2026-0001-E"}),
    ("withheld with a finding", "evidence", {"access": "withheld", "finding": 0.5}),
    ("unavailable with a kind", "evidence", {"access": "unavailable", "kind": "departure"}),
    ("a finding after the outcome", "finding", {}),
    ("a finding of no module", "finding", SECOND | {"what": "opinion"}),
    ("a finding about another revision", "finding", SECOND | {"revision": 2}),
    ("sealed and open", "spec_version", {"version": 2, "why": "x", "commitment": DIGEST}),
    ("neither sealed nor open", "spec_version", {"version": 2, "why": "x", "body": None}),
    ("a version with a gap", "spec_version", {"version": 3, "why": "x"}),
    ("a version without reason", "spec_version", {"version": 2}),
    ("a version of another kind", "spec_version", {"version": 2, "why": "x", "kind": "scoring"}),
    ("a short commitment", "spec_version", {"version": 2, "why": "x", "body": None, "commitment": b"\xab"}),
    ("a second lock", "lock", {}),
    ("a number with a gap", "identifier", {"id": "PRP-LAB-2026-0003-A", "number": 3}),
    ("a number for the second time", "identifier", {"id": "AUD-LAB-2026-0001-X", "kind": "AUD", "number": 1}),
    ("an identifier that does not agree", "identifier", {"id": "PRP-LAB-2026-0003-A", "kind": "AUD", "number": 3}),
    ("an identifier of no one", "identifier", {"id": "PRP-XX-2026-0001-A", "authority": "XX", "number": 1}),
    ("an authority for the second time", "authority", {"name": "Another"}),
    ("a card file for the second time", "card_revision", {"revision": 4, "why": "x"}),
    ("a card revision without reason", "card_revision", {"revision": 4, "document": DIGEST[:31] + b"\x00"}),
    ("a survey of a card that is not there", "survey", {"revision": 9}),
    ("an omission from a card that is not there", "omission", {"revision": 9}),
    ("a passage left out twice", "omission", {}),
    ("a passage that ends before it begins", "omission", {"start": 5, "stop": 5}),
    ("a passage before the text", "omission", {"start": -1}),
    ("a second passage_match in one revision", "passage_match", {}),
    ("a passage_match of a claim no one made", "passage_match", {"claim": "CLM-LAB-2026-0009-1"}),
    ("a passage_match of a revision no one made", "passage_match", {"revision": 2}),
    ("a passage_match of a paraphrase", "passage_match", {"claim": "CLM-LAB-2026-0001-E"}),
    ("a passage_match of a claim without a card", "passage_match", {"claim": "CLM-LAB-2026-0002-C"}),
    ("a passage_match where it is quoted from", "passage_match", {"card_revision": 1}),
    ("a passage_match in a revision that is not there", "passage_match", {"card_revision": 9}),
    (
        "a passage_match in another card",
        "passage_match",
        UNSEEN | {"card": format_identifier(Kind.CARD, "LAB", 2026, 2), "card_revision": 1},
    ),
    ("an unknown match_result", "passage_match", UNSEEN | {"match_result": "lost"}),
    ("gone with a place", "passage_match", UNSEEN | {"match_result": "gone", "alarm": 1}),
    ("gone and no alarm", "passage_match", UNSEEN | {"match_result": "gone", "start": None, "stop": None}),
    ("unchanged and an alarm", "passage_match", UNSEEN | {"alarm": 1}),
    ("reworded with two alarms", "passage_match", UNSEEN | {"match_result": "reworded", "alarm": 2}),
    ("moved without a place", "passage_match", UNSEEN | {"match_result": "moved", "start": None, "stop": None}),
    ("reworded with half a place", "passage_match", UNSEEN | {"match_result": "reworded", "stop": None}),
    ("a passage_match that ends before it begins", "passage_match", UNSEEN | {"start": 9, "stop": 3}),
    ("an objection of two things", "objection", {"claim": "CLM-LAB-2026-0001-E", "revision": 1}),
    ("a publication of what comes later", "publication", {"log_size": 10_000}),
    ("a publication with a short digest", "publication", {"sha256": b"\xab"}),
]


@pytest.mark.parametrize(("why", "table", "change"), ROWS, ids=[why for why, _, _ in ROWS])
def test_a_row_keeps_the_rules(filled: Ledger, why: str, table: str, change: Change) -> None:
    """What must not happen cannot be written down, whoever writes."""
    kind = table if table in ("run", "result", "lock", "claim_revision", "spec_version", "authority", "claim_event") else "card"

    assert _attack(filled, table, change, kind=kind) != "accepted"


@pytest.mark.parametrize(
    "change",
    [{"low": 0.2}, {"high": 0.05}, {"low": None}, {"corpus": 10, "replayed": 20}],
    ids=["ED below low", "ED above high", "half an interval", "replayed more than there is"],
)
def test_an_estimate_keeps_the_rules(filled: Ledger, change: Change) -> None:
    """Low ≤ ED ≤ high, and no one replays more tasks than the corpus has."""

    def beside(connection: Connection) -> Change:
        return {"seq": _first(connection, "result")["seq"], "position": 1, "spec": "other"}

    assert _attack(filled, "estimate", beside, kind="result") == "accepted"
    assert _attack(filled, "estimate", lambda connection: beside(connection) | change, kind="result") != "accepted"


@pytest.mark.parametrize(
    "change",
    [{"seq": 10_000}, {"seq": 1}, {"at": 0}, {"leaf": b"\xab" * 31}, {"kind": "gossip"}],
    ids=["a gap", "a second time", "before the one before it", "a short leaf", "an unknown kind"],
)
def test_an_entry_keeps_the_rules(filled: Ledger, change: Change) -> None:
    """The log is gapless and goes forward."""
    with filled.connect() as connection:
        begin(connection)
        row = _last(connection, "entry")
        with pytest.raises(DBAPIError):
            _insert(connection, "entry", row | {"seq": row["seq"] + 1} | change)
        connection.rollback()


def test_a_lock_has_the_time_of_its_entry(filled: Ledger) -> None:
    """Backdating a lock would let runs through that came before it."""
    with filled.connect() as connection:
        begin(connection)
        row = _first(connection, "lock") | _other_audit(connection)
        row["seq"] = _new_entry(connection, "lock")
        with pytest.raises(DBAPIError, match="not-its-time"):
            _insert(connection, "lock", row | {"at": 1})
        connection.rollback()
