"""Findings of the probe in the registry: they go in, come out whole, and a downgrade never drops them."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import DBAPIError

from registry.records.module_findings import FindingKind
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.registry_rebuild import verify
from tests import findings
from tests.store import builders as make


def _open(url: str) -> Ledger:
    return Ledger.open(url, clock=lambda: datetime(2030, 1, 1, tzinfo=UTC), salt=make.salting())


def test_a_finding_of_the_probe_comes_out_as_it_went_in(new_url: Callable[[], str]) -> None:
    """Every part of it, on each engine, and a rebuild finds the same rows."""
    url = new_url()
    schema.upgrade(url)
    ledger = _open(url)
    body = findings.recognition(accuracy=findings.accuracy())
    with ledger.write(actor="LAB") as writer:
        reference = make.add_claim(writer, make.settle(writer)) + "@1"
        audit = make.add_audit(writer, reference)
        writer.append(make.finding(audit, reference, body))

    with ledger.view() as view:
        (recorded,) = view.dossier(reference.removesuffix("@1")).audits[0].findings

    assert recorded.payload.body == body
    assert recorded.payload.kind is FindingKind.PROBE
    assert verify(ledger).entries > 0
    ledger.close()


def test_no_finding_of_the_probe_can_be_deleted(new_url: Callable[[], str]) -> None:
    """The guards of the table refuse it."""
    url = new_url()
    schema.upgrade(url)
    ledger = _open(url)
    with ledger.write(actor="LAB") as writer:
        reference = make.add_claim(writer, make.settle(writer)) + "@1"
        writer.append(make.finding(make.add_audit(writer, reference), reference, findings.recognition()))

    with ledger.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
        connection.exec_driver_sql("DELETE FROM finding WHERE what = 'probe'")

    assert verify(ledger).entries > 0
    ledger.close()
