"""A kind of statement is declared in one place: its record, and its class in `registry.store.kinds`."""

import json
import subprocess
import sys
from pathlib import Path

from registry.records.statement import PAYLOADS
from registry.store.database_tables import TYPED
from registry.store.statement_kind import KINDS

ROOT = Path(__file__).parent.parent.parent


def test_every_payload_has_a_kind_that_describes_its_own_record() -> None:
    """A record that joins the log without rows, rule and summary would fail at its first statement."""
    assert {name: kind.record for name, kind in KINDS.items()} == dict(PAYLOADS)


def test_every_typed_table_belongs_to_a_kind() -> None:
    """A table that no kind fills would be empty, and a role would read nothing from a table that its kind does not have."""
    declared = {table.name for kind in KINDS.values() for table in kind.tables}

    assert declared == {table.name for table in TYPED} - {"identifier"}
    assert {role.table for kind in KINDS.values() for role in kind.names} <= declared
    for kind in KINDS.values():
        tables = {table.name: table for table in kind.tables}
        for role in kind.names:
            assert role.column in tables[role.table].c


def test_every_column_that_names_an_identifier_has_an_index() -> None:
    """Dossier and state of one claim must not read all rows of a table."""
    for kind in KINDS.values():
        tables = {table.name: table for table in kind.tables}
        for role in kind.names:
            table = tables[role.table]
            keys = [[column.name for column in index.columns] for index in table.indexes]
            keys += [[column.name for column in part.columns] for part in table.constraints if hasattr(part, "columns")]
            assert any(key[:2] == ["log", role.column] for key in keys), role


def test_the_reasons_of_supplements_are_ranked() -> None:
    """Two kinds with one importance would make the shown reason depend on the order of entries."""
    ranks = [kind.importance for kind in KINDS.values() if kind.reason is not None]

    assert sorted(ranks) == list(range(1, len(ranks) + 1))


def test_a_new_kind_needs_no_other_edit(tmp_path: Path) -> None:
    """Append, rule, list, history, rebuild, erasure and check read its declaration."""
    toy = [sys.executable, "-m", "tests.store.toy_kind", str(tmp_path)]
    answer = subprocess.run(toy, cwd=ROOT, capture_output=True, text=True, check=False)

    assert answer.returncode == 0, answer.stderr
    answer_document = json.loads(answer.stdout)
    claim, entry = answer_document.pop("claim"), answer_document.pop("entry")
    assert answer_document == {
        "codes": ["not-registered"],
        "listed": [f"{claim}: I wonder."],
        "in_history": True,
        "named": True,
        "rebuilt": entry,
        "erased": True,
        "verified": 1,
    }
