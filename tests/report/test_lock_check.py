"""Whether a lock comes before its replay, as `caveat verify` reads it from the record."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from registry.records.analysis_plan import Lock
from registry.records.claim import Direction, Relation
from registry.records.supplement import AuditPart, Supplement
from registry.report.supplement_assembly import assemble_claim
from registry.verify.proof_checks import Check, CheckAnswer
from registry.verify.record_checks import check_lock
from tests.report.builders import MADE_AT
from tests.report.dossiers import inverted, retrospective, unaudited


def locked() -> tuple[Supplement, AuditPart]:
    """A supplement whose audit has a lock and a run, with that audit; its claim was recorded before the lock."""
    supplement = assemble_claim(inverted(), made_at=MADE_AT)
    assert supplement.audit is not None
    assert supplement.audit.lock is not None
    claim = replace(supplement.claim, entry=replace(supplement.claim.entry, seq=1))
    said = replace(
        supplement.audit.lock.payload,
        theta=claim.payload.theta,
        relation=claim.payload.relation,
        direction=claim.payload.direction,
        claim=claim.payload.reference,
    )
    before = supplement.audit.runs[0].payload.started_at - timedelta(hours=1)
    lock = replace(supplement.audit.lock, payload=said, entry=replace(supplement.audit.lock.entry, at=before))
    audit = replace(supplement.audit, lock=lock)
    return replace(supplement, claim=claim, audit=audit), audit


def change_lock(**changes: object) -> Check:
    """The check of the supplement whose lock says *changes* instead."""
    supplement, audit = locked()
    assert audit.lock is not None
    said: Lock = replace(audit.lock.payload, **changes)  # type: ignore[arg-type]
    return check_lock(replace(supplement, audit=replace(audit, lock=replace(audit.lock, payload=said))), is_proven=True)


def test_a_lock_before_its_run_is_told_with_both_entries() -> None:
    """θ, direction, entries and times are named, and that no deviation is recorded."""
    supplement, audit = locked()
    assert audit.lock is not None

    check = check_lock(supplement, is_proven=True)

    assert check.answer is CheckAnswer.YES
    assert f"locked in entry {audit.lock.entry.seq} of" in check.note
    assert f"before the run of entry {audit.runs[0].entry.seq}" in check.note
    assert check.note.endswith("no deviation from it is recorded")


def test_entries_that_are_not_proven_show_no_order() -> None:
    """Order and time are the log's only where the entries are."""
    supplement, _ = locked()

    check = check_lock(supplement, is_proven=False)

    assert check.answer is CheckAnswer.NOT_CHECKED
    assert "its entries are not proven" in check.note


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"theta": 0.5}, "θ is"),
        ({"relation": Relation.AT_LEAST}, "relation is"),
        ({"direction": Direction.HIGHER_IS_SAFER}, "direction is"),
        ({"claim": "CLM-INST-2026-0009-X@2"}, "the lock in entry"),
        ({"audit": "AUD-INST-2026-0009-X"}, "the lock is of AUD-INST-2026-0009-X"),
    ],
)
def test_a_lock_of_something_else_is_named(changes: dict[str, object], told: str) -> None:
    """Another threshold, relation, direction, claim or audit than that of the supplement fixes nothing of it."""
    check = change_lock(**changes)

    assert check.answer is CheckAnswer.NO
    assert told in check.note


def test_a_run_before_its_lock_in_the_log_or_in_time_is_named() -> None:
    """By its entry, and by when its first response is said to have been made."""
    supplement, audit = locked()
    assert audit.lock is not None
    run = audit.runs[0]
    earlier = replace(run, entry=replace(run.entry, seq=audit.lock.entry.seq - 1))
    began = replace(run, payload=replace(run.payload, started_at=audit.lock.entry.at - timedelta(seconds=1)))

    checks = [check_lock(replace(supplement, audit=replace(audit, runs=(one,), result=None)), is_proven=True) for one in (earlier, began)]

    assert [one.answer for one in checks] == [CheckAnswer.NO, CheckAnswer.NO]
    assert "after it" in checks[0].note
    assert "before the lock of" in checks[1].note


def test_a_result_of_no_run_of_the_audit_is_named() -> None:
    """An estimate rests on a run that is there, and comes after it."""
    supplement, audit = locked()
    assert audit.result is not None
    foreign = replace(audit.result, payload=replace(audit.result.payload, run=1))

    check = check_lock(replace(supplement, audit=replace(audit, result=foreign)), is_proven=True)

    assert (check.answer, "is of run 1" in check.note) == (CheckAnswer.NO, True)


def test_without_a_replay_there_is_nothing_to_come_before() -> None:
    """No audit, no lock, no run: each is said, and none is a yes."""
    supplement, audit = locked()
    waiting = replace(supplement, audit=replace(audit, runs=(), result=None))
    others = [assemble_claim(one, made_at=MADE_AT) for one in (unaudited(), retrospective())]

    checks = [check_lock(one, is_proven=True) for one in (*others, waiting)]

    assert [one.answer for one in checks] == [CheckAnswer.NOT_CHECKED] * 3
    assert [word in one.note for word, one in zip(("has not been audited", "nothing was locked", "no replay"), checks, strict=True)] == [
        True
    ] * 3


def test_the_time_of_a_run_may_be_the_very_second_of_its_lock() -> None:
    """Times are whole seconds, and the entries still have their order."""
    supplement, audit = locked()
    assert audit.lock is not None
    at: datetime = audit.runs[0].payload.started_at
    same = replace(audit, lock=replace(audit.lock, entry=replace(audit.lock.entry, at=at)))

    assert check_lock(replace(supplement, audit=same), is_proven=True).answer is CheckAnswer.YES
