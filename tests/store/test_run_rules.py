"""The writer refuses what may not be said of runs, with a reason, before the database does."""

from datetime import timedelta

import pytest

from registry.errors import CaveatError
from registry.records.claim import Form, Relation
from registry.records.record import Payload
from registry.records.verdict import Basis, ClaimClass
from registry.store.ledger import Ledger
from registry.store.registry_rebuild import verify
from tests.store import builders as make


def open_audit(ledger: Ledger, *, locked: bool) -> tuple[str, str]:
    """Return an audit, with a lock if *locked*, and its claim."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi, form=Form.THRESHOLD, relation=Relation.AT_LEAST, theta=0.9)}@1"
        audit = make.add_audit(writer, claim)
        if locked:
            writer.append(make.lock(audit, claim))
    return audit, claim


def refuse(ledger: Ledger, payload: Payload) -> str:
    """Return the code by which *payload* is refused."""
    with ledger.write(actor="LAB") as writer, pytest.raises(CaveatError) as refused:
        writer.append(payload)
    return refused.value.code


def test_a_run_needs_its_lock_and_is_started_once(ledger: Ledger) -> None:
    """Without a lock, of an audit that is not there, twice under one name: each with its code."""
    audit, _ = open_audit(ledger, locked=False)

    assert refuse(ledger, make.run_start(audit)) == "not-locked"
    assert refuse(ledger, make.run_start("AUD-LAB-2026-0099-X")) == "not-registered"


def test_what_ends_a_run_names_its_start(ledger: Ledger) -> None:
    """An end and scores name a start of their own audit, and a resumed run is not started again."""
    audit, _ = open_audit(ledger, locked=True)
    with ledger.write(actor="LAB") as writer:
        started = writer.append(make.run_start(audit))
        later = started.at + timedelta(hours=1)

    assert refuse(ledger, make.run_start(audit)) == "already-recorded"
    assert refuse(ledger, make.run_end(audit, 1)) == "not-registered"
    assert refuse(ledger, make.run(audit, later, start=1)) == "not-registered"


def test_no_run_is_started_after_the_outcome(ledger: Ledger) -> None:
    """A run that was under way may still end; its rows come back from the log as they were."""
    audit, claim = open_audit(ledger, locked=True)
    with ledger.write(actor="LAB") as writer:
        started = writer.append(make.run_start(audit))
        run = writer.append(make.run(audit, started.at + timedelta(hours=1), start=started.seq))
        result = writer.append(make.result(audit, run.seq))
        verdict = make.verdict(Form.THRESHOLD, ClaimClass.STABLE, basis=Basis.REPLAY)
        writer.append(make.restriction(audit, claim, verdict, result=result.seq))
        writer.append(make.run_end(audit, started.seq))

    assert refuse(ledger, make.run_start(audit, "cd" * 16)) == "audit-concluded"
    verify(ledger)
    with ledger.view() as view:
        file = view.find_audit(audit)
    assert file is not None
    assert [(start.status, start.imported is not None) for start in file.history] == [("completed", True)]
