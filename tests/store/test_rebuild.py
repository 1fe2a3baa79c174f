"""The log replayed gives the same registry, and a registry that was tampered with is found out."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import select

from registry.errors import ConflictError, InputError
from registry.records.claim import ClaimEvent, ClaimEventKind, Form
from registry.records.record import Kind
from registry.records.verdict import Basis, ClaimClass
from registry.store.database_tables import METADATA, create_guards, drop_statements
from registry.store.ledger import Ledger
from registry.store.registry_rebuild import RebuildReport, rebuild, verify
from tests import findings
from tests.store import builders as make


def _rows(ledger: Ledger) -> dict[str, list[tuple[object, ...]]]:
    with ledger.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in METADATA.sorted_tables
        }


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    """A registry with claims, a card, a reserved claim that was registered, and one erased text."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        card = make.add_card(writer)
        reserved = make.allocate(writer, Kind.CLAIM)
        writer.append(ClaimEvent(claim=reserved, event=ClaimEventKind.RESERVE))
        for number in range(3):
            make.add_claim(writer, phi, quote=f"Claim {number}.", card=f"{card}@1")
        writer.append(make.claim(reserved, phi))
        audit = make.add_audit(writer, f"{reserved}@1")
        locked = writer.append(make.lock(audit, f"{reserved}@1"))
        run = writer.append(make.run(audit, locked.at))
        two = [replace(make.estimate().specs[0], judge=judge) for judge in ("one", "other")]
        result = writer.append(make.result(audit, run.seq, specs=tuple(two)))
        writer.append_many([make.finding(audit, f"{reserved}@1", body) for body in (findings.naturalness(), findings.ablation())])
        verdict = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED, basis=Basis.REPLAY)
        writer.append(make.restriction(audit, f"{reserved}@1", verdict, result=result.seq))
        quoted = make.add_quoted(writer, phi, f"{card}@1", quote="Quoted.")
        second = make.revise_card(writer, card)
        writer.append_many([make.passage_match(f"{quoted}@1", second), make.omission(second, document="ef" * 32)])
        writer.erase(5, why="It named a person.")
    return ledger


def test_a_rebuilt_registry_is_the_same(filled: Ledger, new_url: Callable[[], str]) -> None:
    """Every row of every table, the erased text left erased."""
    target = new_url()
    counts: list[int] = []

    report = rebuild(filled.url, target, counts.append)

    copy = Ledger.open(target, clock=make.ticking(), salt=make.salting())
    assert report == RebuildReport(entries=20, erased=1, contents=1)
    assert counts[-1] == 20
    assert _rows(copy) == _rows(filled)
    assert verify(copy).erased == 1
    with pytest.raises(ConflictError, match="not-empty"):
        rebuild(filled.url, target, counts.append)
    with pytest.raises(ConflictError, match="not-empty"):
        rebuild(target, target, counts.append)
    copy.close()


def test_a_sound_registry_is_verified(filled: Ledger) -> None:
    """With the numbers of what was looked at."""
    report = verify(filled)

    assert (report.entries, report.erased) == (20, 1)
    assert report.rows > 20


TAMPERINGS = [
    ("UPDATE body SET json = replace(json, 'Claim 1', 'Claim 9') WHERE seq = 6", "its leaf is not the hash"),
    (
        "UPDATE claim_revision SET theta = NULL, form = 'existence' WHERE seq = 6",
        "  --> entry 6\n  claim_revision.form is 'existence', its statement gives 'prevalence'\n",
    ),
    (
        "UPDATE claim_revision SET natural_key = (SELECT leaf FROM entry WHERE log = 1 AND seq = 1) WHERE seq = 6",
        r"claim_revision\.natural_key is [0-9a-f]{64}, its statement gives [0-9a-f]{64}\n",
    ),
    ("UPDATE claim_text SET quote = 'Never said.' WHERE seq = 6", r"claim_text\.quote is 'Never said\.', its statement gives 'Claim 1\.'"),
    ("DELETE FROM claim_text WHERE seq = 6", "claim_text lacks the row that its statement gives: log 1, seq 6, "),
    ("UPDATE entry SET actor = 'OTHER' WHERE seq = 6", "its entry something else"),
    ("UPDATE finding SET what = 'judge' WHERE seq = 13", "row-differs"),
    ("DELETE FROM finding WHERE seq = 14", "row-differs"),
    ("UPDATE passage_match SET match_result = 'moved' WHERE seq = 18", "row-differs"),
    ("DELETE FROM passage_match WHERE seq = 18", "row-differs"),
    ("UPDATE omission SET stop = 50 WHERE seq = 19", "row-differs"),
    ("UPDATE identifier SET seq = 1 WHERE seq = 6", "row-differs"),
]


@pytest.mark.parametrize(("tampering", "problem"), TAMPERINGS, ids=[tampering.partition(" SET")[0] for tampering, _ in TAMPERINGS])
def test_who_tampers_is_found_out(filled: Ledger, tampering: str, problem: str) -> None:
    """The owner of a database can drop its triggers, but not make the log agree."""
    with filled.connect() as connection:
        for statement in (*drop_statements(connection.dialect.name), tampering):
            connection.exec_driver_sql(statement)
        create_guards(connection)
        connection.commit()

    with pytest.raises(InputError, match=problem):
        verify(filled)
