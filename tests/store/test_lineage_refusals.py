"""What the database itself refuses of lineage and of decisions on stale claims: attacked by raw SQL, past all our code, on every engine."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from registry.records.model_version import ModelVersion
from registry.store.database_engine import OWN_LOG
from registry.store.ledger import Ledger, begin
from tests.store import builders as make

Change = dict[str, Any]
OLDER = {f"predecessor_{name}": value for name, value in (("developer", "Example"), ("name", "m"), ("version", "1"))}
NOBODY = dict.fromkeys(OLDER)


@pytest.fixture(scope="module")
def filled(new_registry: Callable[[], str]) -> Iterator[Ledger]:
    """A registry with a link, and a decision on the claim that it made stale; every attack is rolled back, so all may share it."""
    ledger = Ledger.open(new_registry(), clock=make.ticking(), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        claim = make.add_claim(writer, make.settle(writer))
        newer = replace(make.MODEL, version="2")
        writer.append_many([ModelVersion(model=make.MODEL), ModelVersion(model=newer), make.follow(newer, make.MODEL)])
        writer.append(make.review(f"{claim}@1", *writer.status(claim).causes))
    yield ledger
    ledger.close()


def _attack(ledger: Ledger, table: str, change: Change) -> str:
    """Insert a copy of the table's row with *change*, under an entry of its own; return what the database says."""
    with ledger.connect() as connection:
        begin(connection)
        row = _first(connection, table) | {"seq": _new_entry(connection)} | change
        try:
            _insert(connection, table, row)
        except DBAPIError as error:
            return str(error.orig)
        finally:
            connection.rollback()
    return "accepted"


def _first(connection: Connection, table: str) -> Change:
    return dict(connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY log, seq LIMIT 1").mappings().one())


def _insert(connection: Connection, table: str, row: Change) -> None:
    marks = ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * len(row))
    connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def _new_entry(connection: Connection) -> int:
    """A forger would write the entry too."""
    last = connection.exec_driver_sql("SELECT seq, at FROM entry ORDER BY seq DESC LIMIT 1").one()
    row = {"log": OWN_LOG, "seq": last[0] + 1, "kind": "model_event", "actor": "LAB", "at": last[1], "leaf": b"\xab" * 32}
    _insert(connection, "entry", row)
    return int(last[0]) + 1


FITTING: list[tuple[str, Change]] = [
    ("model_event", {}),
    ("model_event", {"descent": "fine_tune"}),
    ("model_event", {"event": "unfollow", "descent": None, "has_reason": 1}),
    ("model_event", {"event": "deprecate", "descent": None, "has_reason": 1, **NOBODY}),
    ("model_event", {"event": "reinstate", "descent": None, "has_reason": 1, **NOBODY}),
    ("staleness_review", {}),
    ("staleness_review", {"verdict": "confirmed"}),
    ("reviewed_cause", {"seq": 7, "position": 1}),
]


def test_a_fitting_row_is_accepted(filled: Ledger) -> None:
    """The attacks below fail for their own reason: the same rows without the fault go in."""
    assert [_attack(filled, table, change) for table, change in FITTING] == ["accepted"] * len(FITTING)


ATTACKS: list[tuple[str, Change, str]] = [
    ("model_event", {"event": "replace"}, "event"),
    ("model_event", {"descent": "copy"}, "descent"),
    ("model_event", {"descent": None}, "follow_names_descent"),
    ("model_event", NOBODY, "link_names_predecessor"),
    ("model_event", {"predecessor_name": None}, "predecessor"),
    ("model_event", {"event": "unfollow", "has_reason": 1}, "follow_names_descent"),
    ("model_event", {"event": "unfollow", "descent": None}, "reason_given"),
    ("model_event", {"event": "deprecate", "descent": None, "has_reason": 1}, "link_names_predecessor"),
    ("model_event", {"event": "deprecate", "descent": None, **NOBODY}, "reason_given"),
    ("model_event", {"version": "1"}, "another_predecessor"),
    ("model_event", {"version": "9"}, "FOREIGN KEY|foreign key"),
    ("model_event", {"predecessor_version": "9"}, "FOREIGN KEY|foreign key"),
    ("staleness_review", {"verdict": "perhaps"}, "verdict"),
    ("staleness_review", {"revision": 2}, "FOREIGN KEY|foreign key"),
    ("staleness_review", {"claim": "CRD-LAB-2026-0001-J"}, "claim_begins|foreign key"),
    ("reviewed_cause", {"seq": 7, "position": 1, "kind": "rumour"}, "kind"),
    ("reviewed_cause", {}, "FOREIGN KEY|foreign key"),
    ("reviewed_cause", {"seq": 7}, "append-only|duplicate key"),
]


@pytest.mark.parametrize(("table", "change", "says"), ATTACKS, ids=[f"{number}-{table}" for number, (table, _, _) in enumerate(ATTACKS)])
def test_what_must_not_be_is_refused(filled: Ledger, table: str, change: Change, says: str) -> None:
    """By the database, whatever our code does."""
    output = _attack(filled, table, change)

    assert any(words in output for words in says.split("|")), output
