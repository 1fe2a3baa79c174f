"""Rows that were edited by hand: found before anything is published that rests on them."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection

from registry.errors import AlteredError
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.dossier import Dossier
from registry.records.model_version import ModelVersion
from registry.records.record import Kind
from registry.records.specification import MethodSpec, SpecKind
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_rows
from tests.store import builders

EDITS = {
    "direction": "UPDATE claim_revision SET direction = 'not_safety'",
    "quote": "UPDATE claim_text SET quote = 'It never schemes.'",
    "hidden event": "DELETE FROM claim_event",
    "event of another claim": "UPDATE claim_event SET claim = (SELECT max(claim) FROM claim_revision)",
    "event turned": "UPDATE claim_event SET event = 'publish'",
    "hidden successor": "DELETE FROM model_event",
    "successor made a fine-tune": "UPDATE model_event SET descent = 'fine_tune'",
    "hidden endpoint name": "DELETE FROM model_endpoint",
    "endpoint name of another version": "UPDATE model_endpoint SET version = '2'",
    "hidden decision": "DELETE FROM reviewed_cause",
    "hidden version of a definition": "DELETE FROM spec_version WHERE version = 2",
    "hidden version of a method": "DELETE FROM spec_version WHERE kind = 'method'",
    "hidden revision of a card": "DELETE FROM card_revision WHERE revision = 2",
}


def withdraw(ledger: Ledger) -> tuple[str, Dossier]:
    """Record two claims of which the first is withdrawn, and return that."""
    with ledger.write(actor=builders.LAB) as writer:
        phi = builders.settle(writer)
        card = builders.add_card(writer)
        name, _other = (builders.add_quoted(writer, phi, f"{card}@1", note=f"no. {at}") for at in range(2))
        newer = replace(builders.MODEL, version="2")
        writer.append_many([ModelVersion(model=builders.MODEL), ModelVersion(model=newer), builders.follow(newer, builders.MODEL)])
        writer.append(builders.endpoint(builders.MODEL, "m-1"))
        writer.append(builders.property_spec(phi.partition("@")[0], version=2, why="wider"))
        method = {"kind": SpecKind.METHOD, "slug": "clustered", "body": MethodSpec(name="clustered", description="intervals")}
        writer.append(builders.property_spec(builders.allocate(writer, Kind.METHOD), **method))
        builders.revise_card(writer, card)
        writer.append(builders.review(f"{name}@1", *writer.status(name).causes))
        writer.append(ClaimEvent(claim=name, event=ClaimEventKind.WITHDRAW, reason="wrong"))
    with ledger.view() as view:
        return name, view.dossier(name)


def drop_guards(connection: Connection) -> None:
    """Do what somebody with the database in hand does first."""
    for table in (
        "claim_revision",
        "claim_text",
        "claim_event",
        "model_event",
        "model_endpoint",
        "reviewed_cause",
        "spec_version",
        "card_revision",
    ):
        if connection.dialect.name == "sqlite":
            for change in ("update", "delete"):
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}__{change}")
        else:
            connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE TRIGGER USER")


def list_entries(dossier: Dossier) -> list[int]:
    """Return the entries that a page on the claim would show."""
    return [*(revision.entry.seq for revision in dossier.revisions), *(event.entry.seq for event in dossier.events)]


def test_rows_as_they_were_written_are_sound(ledger: Ledger) -> None:
    """Nothing is found where nothing was changed, whatever was recorded."""
    name, dossier = withdraw(ledger)

    with ledger.view() as view:
        check_rows(view, range(1, view.log_size + 1), {name})
        check_rows(view, list_entries(dossier), {name})
        check_rows(view, (), ())


@pytest.mark.parametrize("edit", EDITS)
def test_a_row_edited_by_hand_is_named_before_it_is_believed(edit: str, ledger: Ledger) -> None:
    """Also a row that was taken away or turned to another claim, so that no page would ask for its entry."""
    name, _ = withdraw(ledger)
    with ledger.connect() as connection:
        drop_guards(connection)
        connection.exec_driver_sql(EDITS[edit])
        connection.commit()
    with ledger.view() as view:
        shown = view.dossier(name)

        with pytest.raises(AlteredError) as refused:
            check_rows(view, list_entries(shown), {name})

    assert {fault.code for fault in refused.value.faults} == {"row-differs"}
