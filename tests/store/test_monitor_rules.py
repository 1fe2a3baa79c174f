"""The writer refuses what may not be said of monitors, with a reason, before the database does."""

from datetime import timedelta

import pytest

from registry.errors import CaveatError
from registry.records.claim import Form, Relation
from registry.records.monitor import Monitor, MonitorEnd, MonitorState, MonitorVerdict
from registry.records.record import Kind, Payload
from registry.store.changed_claims import find_candidates
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


def test_a_verified_incident_is_a_cause_once_and_an_unverified_one_is_none(ledger: Ledger) -> None:
    """A monitor of a rate takes none, an earlier one is refused, and a second report needs a reason."""
    rated = lock_monitor(ledger)
    with ledger.write(actor="LAB") as writer:
        monitor = Monitor(monitor=make.allocate(writer, Kind.MONITOR), claim=rated.claim, plan=plans.incident_plan(), by="LAB")
        writer.append_many([monitor, plans.incident(monitor, verified=False)])
    name = monitor.claim.partition("@")[0]
    before = monitor.plan.start.date() - timedelta(days=1)

    assert refuse(ledger, plans.incident(rated)) == "no-rate-from-incidents"
    assert refuse(ledger, plans.incident(monitor)) == "window-differs"
    assert refuse(ledger, plans.incident(monitor, "b", occurred=before)) == "window-before-lock"
    assert refuse(ledger, plans.incident(monitor, "b"), actor="OTHER") == "not-permitted"
    with ledger.view() as view:
        assert view.status(name).causes == ()
    with ledger.write(actor="LAB") as writer:
        writer.append(plans.incident(monitor, reason="A person looked at it."))
        writer.append(plans.incident(monitor, verified=False, reason="It was another model."))
    with ledger.view() as view:
        (cause,) = view.status(name).causes
        file = view.find_monitor(monitor.monitor)
    assert cause.what == monitor.monitor
    assert file is not None
    assert (file.find_state(None), file.find_verdict(None)) == (MonitorState.ALARM, MonitorVerdict.VIOLATED)
    assert [recorded.payload.verified for recorded in file.known_incidents] == [False]
    verify(ledger)


def test_a_judge_that_changed_is_a_cause_for_its_other_claims(ledger: Ledger) -> None:
    """Anchors of one monitor show it; the claims of other monitors by the same judge need review, and those of another judge do not."""
    wrong = [([plans.cell(300, 3)], plans.anchors(300, wrong=100))] * 3
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        limits = {"form": Form.UPPER_BOUND, "relation": Relation.AT_MOST, "theta": 0.05}
        claims = [f"{make.add_claim(writer, phi, **limits)}@1" for _ in range(3)]
        judges = ("SCF-LAB-2026-0001-C@1", "SCF-LAB-2026-0001-C@1", "SCF-LAB-2026-0001-C@2")
        monitors = [
            Monitor(
                monitor=make.allocate(writer, Kind.MONITOR), claim=claim, plan=plans.plan(anchors=plans.ANCHORS, scored_by=judge), by="LAB"
            )
            for claim, judge in zip(claims, judges, strict=True)
        ]
        writer.append_many(monitors)
        before = writer.log_size
        windows = plans.windows_of(monitors[0], list(wrong))
        assert windows[-1].reading.anchors_alarm is not None
        writer.append_many(windows)
    with ledger.view() as view, ledger.view(before) as earlier:
        causes = [view.status(claim.partition("@")[0]).causes for claim in claims]
        candidates = find_candidates(earlier, view)
    assert [[cause.what for cause in some] for some in causes] == [[], [monitors[0].monitor], []]
    assert "judge SCF-LAB-2026-0001-C@1 changed" in causes[1][0].text
    assert candidates is None or claims[1].partition("@")[0] in candidates
    verify(ledger)
