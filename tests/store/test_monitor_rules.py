"""The writer refuses what may not be said of monitors, with a reason, before the database does."""

import pytest

from registry.errors import CaveatError
from registry.records.claim import Form, Relation
from registry.records.monitor import Monitor, MonitorEnd
from registry.records.record import Kind, Payload
from registry.store.ledger import Ledger
from registry.store.registry_rebuild import verify
from tests.monitoring import plans
from tests.store import builders as make


def lock_monitor(ledger: Ledger) -> Monitor:
    """Return a monitor of LAB, locked."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi, form=Form.UPPER_BOUND, relation=Relation.AT_MOST, theta=0.05)}@1"
        writer.append(make.authority("OTHER"))
        monitor = Monitor(monitor=make.allocate(writer, Kind.MONITOR), claim=claim, plan=plans.plan(), by="LAB")
        writer.append(monitor)
    return monitor


def refuse(ledger: Ledger, payload: Payload, *, actor: str = "LAB") -> str:
    """Return the code by which *payload* is refused."""
    with ledger.write(actor=actor) as writer, pytest.raises(CaveatError) as refused:
        writer.append(payload)
    return refused.value.code


def test_only_the_authority_that_monitors_reports_and_ends(ledger: Ledger) -> None:
    """Otherwise anyone could raise the alarm of somebody else's monitor."""
    monitor = lock_monitor(ledger)
    (window,) = plans.windows_of(monitor, [([plans.cell(1000, 400)], None)])

    assert refuse(ledger, window, actor="OTHER") == "not-permitted"
    assert refuse(ledger, MonitorEnd(monitor=monitor.monitor, claim=monitor.claim, reason="enough"), actor="OTHER") == "not-permitted"


def test_windows_come_in_order_until_the_end(ledger: Ledger) -> None:
    monitor = lock_monitor(ledger)
    first, second = plans.windows_of(monitor, [([plans.cell(1000, 20)], None), ([plans.cell(1000, 400)], None)])

    assert refuse(ledger, second) == "window-missing"
    with ledger.write(actor="LAB") as writer:
        writer.append(first)
    assert refuse(ledger, first) == "window-missing"
    with ledger.write(actor="LAB") as writer:
        writer.append(second)
        writer.append(MonitorEnd(monitor=monitor.monitor, claim=monitor.claim, reason="The judge was replaced."))
    assert refuse(ledger, second) == "monitor-ended"
    with ledger.view() as view:
        (file,) = view.list_monitors(monitor.claim)
        (cause,) = view.status(monitor.claim.partition("@")[0]).causes
    assert [recorded.payload.number for recorded in file.windows] == [1, 2]
    assert cause.what == monitor.monitor
    verify(ledger)
