"""What the database itself refuses in the tables of trust: each rule is attacked by raw SQL, past all our code, on every engine."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from registry.records.record import Kind, format_identifier
from registry.store.database_engine import OWN_LOG
from registry.store.database_tables import METADATA
from registry.store.ledger import Ledger, begin
from tests.store import builders as make
from tests.store import sealing

Change = dict[str, Any]
DIGEST = b"\xab" * 32
SHORT = DIGEST[:31]
UNLOCKED = format_identifier(Kind.AUDIT, "LAB", 2026, 2)


@pytest.fixture(scope="module")
def filled(new_registry: Callable[[], str]) -> Iterator[Ledger]:
    """A registry with at least one row in every table of trust; every attack is rolled back, so all may share it."""
    ledger = Ledger.open(new_registry(), clock=make.ticking(), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = make.add_claim(writer, phi)
        audit, _ = (make.add_audit(writer, f"{claim}@1") for _ in range(2))
        writer.append(make.lock(audit, f"{claim}@1"))
        erased = writer.append(make.evidence(audit, f"{claim}@1"))
        writer.append_many([make.evidence(audit, f"{claim}@1")] * 20)
        sealing.fill(writer, audit, f"{claim}@1", erase=erased.seq)
        sealing.seal(writer, witnessed_at=make.START, size=16)
    yield ledger
    ledger.close()


def _attack(ledger: Ledger, table: str, change: Change) -> str:
    """Insert a copy of the table's first row, under an entry of its own, with *change*; return what the database says."""
    with ledger.connect() as connection:
        begin(connection)
        row = _first(connection, table) | {"seq": _new_entry(connection, table)} | change
        marks = ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * len(row))
        try:
            connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        except DBAPIError as error:
            return str(error.orig)
        finally:
            connection.rollback()
    return "accepted"


def _first(connection: Connection, table: str, condition: str = "") -> Change:
    order = ", ".join(column.name for column in METADATA.tables[table].primary_key)
    return dict(connection.exec_driver_sql(f"SELECT * FROM {table} {condition} ORDER BY {order} LIMIT 1").mappings().one())


def _new_entry(connection: Connection, table: str) -> int:
    """A forger would write the entry too."""
    last = int(connection.exec_driver_sql("SELECT max(seq) FROM entry").scalar_one())
    row = _first(connection, "entry", f"WHERE seq = {last}") | {"seq": last + 1, "leaf": DIGEST}
    row["kind"] = (
        table if table in {"key_event", "log_import", "witnessing", "time_anchor", "equivocation", "erasure", "reveal"} else "card"
    )
    marks = ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * len(row))
    connection.exec_driver_sql(f"INSERT INTO entry ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    return last + 1


FITTING: dict[str, Change] = {
    "node": {},
    "checkpoint": {},
    "cosignature": {"seq": 16, "line": "— another AAAA"},
    "key_event": {"key": DIGEST},
    "log_import": {},
    "witnessing": {},
    "time_anchor": {},
    "equivocation": {},
    "deviation": {},
    "exploration": {},
}


@pytest.mark.parametrize("table", FITTING)
def test_a_fitting_row_is_accepted(filled: Ledger, table: str) -> None:
    """The attacks below fail for their own reason: the same rows without the fault go in."""
    assert _attack(filled, table, FITTING[table]) == "accepted"


def test_an_erasure_with_the_leaf_of_its_entry_is_accepted(filled: Ledger) -> None:
    """And with any other it is not."""
    with filled.connect() as connection:
        leaf = bytes(_first(connection, "entry")["leaf"])

    assert _attack(filled, "erasure", {"erased": 1, "leaf": leaf}) == "accepted"
    assert "history-differs" in _attack(filled, "erasure", {"erased": 1, "leaf": DIGEST})


ROWS: list[tuple[str, str, Change]] = [
    ("a subtree of another level", "node", {"level": 5}),
    ("a subtree with a short hash", "node", {"hash": SHORT}),
    ("a subtree of no entry", "node", {"seq": 10_000}),
    ("a checkpoint with a short root", "checkpoint", {"root": SHORT}),
    ("a checkpoint beyond the log", "checkpoint", {"seq": 10_000}),
    ("a second checkpoint of one size", "checkpoint", {"seq": 16}),
    ("a cosignature of no checkpoint", "cosignature", {"line": "— another AAAA"}),
    ("a cosignature for the second time", "cosignature", {"seq": 16}),
    ("a key for the second time", "key_event", {}),
    ("a rotation that replaces nothing", "key_event", {"key": DIGEST, "event": "rotate", "has_reason": 1}),
    ("a new key that replaces another", "key_event", {"key": DIGEST, "replaces": DIGEST}),
    ("a revocation without reason", "key_event", {"event": "revoke"}),
    ("a short fingerprint", "key_event", {"key": SHORT}),
    ("a key that signs in no way we know", "key_event", {"key": DIGEST, "algorithm": "rsa"}),
    ("a key for anything", "key_event", {"key": DIGEST, "purpose": "anything"}),
    ("a key of no one", "key_event", {"key": DIGEST, "authority": "XX"}),
    ("an import with a short root", "log_import", {"root": SHORT}),
    ("a witnessing with a short root", "witnessing", {"root": SHORT}),
    ("a time stamp with a short root", "time_anchor", {"root": SHORT}),
    ("a time stamp over what comes later", "time_anchor", {"size": 10_000}),
    ("an erasure of what comes later", "erasure", {"erased": 10_000, "leaf": DIGEST}),
    ("an erasure for the second time", "erasure", {}),
    ("a reveal for the second time", "reveal", {}),
    ("a reveal of what is not sealed", "reveal", {"spec": format_identifier(Kind.PROPERTY, "LAB", 2026, 1)}),
    ("a deviation in no item", "deviation", {"item": "mood"}),
    ("a deviation without a lock", "deviation", {"audit": UNLOCKED}),
    ("a deviation half found", "deviation", {"found": 2}),
    ("an exploration of another revision", "exploration", {"revision": 2}),
    ("an exploration with a short digest", "exploration", {"scores": SHORT}),
]


@pytest.mark.parametrize(("why", "table", "change"), ROWS, ids=[why for why, _, _ in ROWS])
def test_a_row_keeps_the_rules(filled: Ledger, why: str, table: str, change: Change) -> None:
    """What must not happen cannot be written down, whoever writes."""
    assert _attack(filled, table, change) != "accepted"


def test_the_own_log_has_one_number(filled: Ledger) -> None:
    """No one can name a second log like the first, or give the first another name."""
    with filled.connect() as connection:
        origin = _first(connection, "log")["origin"]
        for row in ((2, origin), (OWN_LOG, "another")):
            begin(connection)
            with pytest.raises(DBAPIError):
                connection.exec_driver_sql(f"INSERT INTO log VALUES ({row[0]}, '{row[1]}', NULL)")
            connection.rollback()
