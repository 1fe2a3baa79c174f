# ruff: noqa: D102, T201
"""A kind of statement that is declared in this file only, taken through a registry; prints what its commands answer, as JSON.

A process of its own, because a declared kind stays declared, and the schema of other tests has no table for it.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Index

from registry.errors import CaveatError, Fault
from registry.records.record import Kind, Payload
from registry.store.database_engine import new_table, refers, text_column
from registry.store.statement_kind import CLAIM, EntryPlace, Role, Row, StatementKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark(Payload):
    """What a reader remarks on a claim."""

    KIND = "remark"
    claim: str
    words: str


remark = new_table("remark", text_column("claim"), refers("claim", "identifier", "id"), Index(None, "log", "claim"))


class RemarkKind(StatementKind[Remark]):
    """A remark on a claim that exists."""

    tables = (remark,)
    names = (Role("remark", "claim", CLAIM, is_basis=False),)
    reason = "a remark was made"

    def build_rows(self, payload: Remark, place: EntryPlace) -> Iterator[Row]:
        yield "remark", (*place.here, payload.claim)

    def find_faults(self, payload: Remark, rules: Any) -> Iterator[Fault]:
        if not rules.view.claim_exists(payload.claim):
            yield rules.refuse_unknown("claim", payload.claim)

    def describe(self, payload: Remark) -> str:
        return f"{payload.claim}: {payload.words}"


def migrate(folder: Path) -> None:
    """Renew the initial migration in a copy, as `tools/initial_migration.py` does for a new kind, and let the store read the copy."""
    from registry.configuration import find_resource
    from registry.store import database_schema
    from tools import initial_migration

    shutil.copytree(find_resource("migrations"), folder)
    (folder / "sql" / "0001.sqlite.sql").write_text(initial_migration.write_statements("sqlite"), encoding="utf-8")
    database_schema.find_resource = lambda name: folder if name == "migrations" else find_resource(name)


def main(folder: Path) -> dict[str, Any]:
    """Return what the commands of the log would say of a remark."""
    from registry.cli.log_presenter import describe
    from registry.records.record import Identifier, parse_identifier
    from registry.store.database_schema import upgrade
    from registry.store.dossiers import TrailQuery, list_trail
    from registry.store.ledger import Ledger
    from registry.store.registry_rebuild import rebuild, verify
    from tests.store import builders as make

    migrate(folder / "migrations")
    url = f"sqlite:///{folder / 'registry.db'}"
    upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    document: dict[str, Any] = {}
    with ledger.write(actor=make.LAB) as writer:
        claim = make.add_claim(writer, make.settle(writer))
        made = writer.append(Remark(claim=claim, words="I wonder."))
        document["codes"] = []
        try:
            writer.append(Remark(claim=make.allocate(writer, Kind.CLAIM), words="Of nothing."))
        except CaveatError as error:
            document["codes"] = [fault.code for fault in error.faults]
    with ledger.view() as view:
        named: Identifier = parse_identifier(claim)
        document["listed"] = [describe(trail.payload) for trail in list_trail(view, TrailQuery(kinds=["remark"])) if trail.payload]
        document["in_history"] = made.seq in {recorded.entry.seq for recorded in view.history(claim)}
        document["named"] = made.seq in {trail.entry.seq for trail in list_trail(view, TrailQuery(about=named))}
    document["rebuilt"] = rebuild(url, f"sqlite:///{folder / 'rebuilt.db'}", lambda _done: None).entries
    with ledger.write(actor=make.LAB) as writer:
        writer.erase(made.seq, why="It named a person.")
    with ledger.view() as view:
        # The text is gone, so the rows of the kind are what finds the entry.
        (trail,) = [trail_entry for trail_entry in list_trail(view, TrailQuery(about=named)) if trail_entry.entry.seq == made.seq]
        document["erased"] = trail.payload is None and trail.erased_by is not None
    document["verified"] = verify(ledger).erased
    return {**document, "claim": claim, "entry": made.seq}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
