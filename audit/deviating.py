"""Departures from a lock that a person tells or explains; those that a comparison finds are recorded by `audit.docket`."""

from collections.abc import Iterable

from audit.adherence import Departure, is_told
from audit.docket import get_audit
from registry.errors import ConflictError, Fault, InputError
from registry.records.analysis_plan import COMPUTED, Deviation, Lock, LockedItem, LockedSpec, list_departures
from registry.records.dossier import AuditFile, Recorded
from registry.store.writer import Writer


def add_departures(writer: Writer, audit: str, departures: Iterable[Departure], *, why: str) -> int:
    """Record *departures* that are about to happen, each with the reason *why*; return how many were not on record yet.

    Raises:
        NotFoundError, InputError: no such audit; no reason.
    """
    told = [one.payload for one in get_audit(writer, audit).deviations]
    new = [one for one in departures if not is_told(one, told)]
    writer.append_many([_build(audit, one, why) for one in new])
    return len(new)


def deviate(
    writer: Writer, audit: str, item: LockedItem, *, planned: str | None, done: str | None, why: str
) -> tuple[Recorded[Deviation], bool]:
    """Record that *item* was done otherwise than the lock of *audit* says; return it and whether it is new.

    Args:
        planned: what was planned; None for what the lock says of it.
        done: what was done; None explains the departures in *item* that were found and that nobody has explained.
        why: the reason; never empty.

    Raises:
        NotFoundError: no such audit.
        ConflictError: the audit has no lock, or every outcome under a lock is computed from the item.
        InputError: no reason, nothing done, or more than one departure that could be meant.
    """
    file = get_audit(writer, audit)
    if file.lock is None:
        found = "it has no lock to deviate from"
        raise ConflictError(Fault(code="not-locked", where=audit, found=found, advice="caveat audit lock FILE fixes a plan"))
    _refuse_computed(item, audit)
    departure = _find_unexplained(file, item) if done is None else _describe(file.lock.payload, item, planned, done)
    said = _build(audit, departure, why)
    known = next((one for one in file.deviations if one.payload == said), None)
    return (known, False) if known else (Recorded(entry=writer.append(said), payload=said), True)


def _build(audit: str, one: Departure, why: str) -> Deviation:
    if not why.strip():
        raise InputError(Fault(code="reason-missing", where=audit, found="the reason is empty", advice="say why it was done otherwise"))
    return Deviation(audit=audit, item=one.item, planned=one.planned, done=one.done, reason=why.strip())


def _refuse_computed(item: LockedItem, audit: str) -> None:
    if item in COMPUTED:
        found = f"{item.value}: every outcome under a lock is computed from it, so nothing can depart from it"
        advice = f"caveat audit explore {audit} TABLE --question … looks at scores with other settings; no verdict rests on that"
        raise ConflictError(Fault(code="not-a-deviation", where=audit, found=found, advice=advice))


def _find_unexplained(file: AuditFile, item: LockedItem) -> Departure:
    """Return the one departure in *item* that was found and that nobody has explained."""
    audit = file.audit.payload.audit
    departures = list_departures(one.payload for one in file.deviations)
    open_ = [one for one in departures if one.item is item and one.reason is None]
    if len(open_) != 1:
        found = f"{len(open_) or 'no'} departures in {item.value} were found and not explained"
        done = f" (one of: {'; '.join(one.done for one in open_)})" if open_ else ""
        raise InputError(Fault(code="deviation-not-clear", where=audit, found=found, advice=f"say what was done with --done{done}"))
    return Departure(item=item, planned=open_[0].planned, done=open_[0].done)


def _describe(lock: Lock, item: LockedItem, planned: str | None, done: str) -> Departure:
    if not done.strip():
        raise InputError(Fault(code="deviation-not-clear", where=lock.audit, found="what was done is empty", advice="say it with --done"))
    return Departure(item=item, planned=planned or describe_planned(lock, item), done=done.strip())


def describe_planned(lock: Lock, item: LockedItem) -> str:
    """Return what *lock* says of *item*, in words; that it says nothing where it leaves the item open."""
    tasks = f"the {lock.tasks.count} tasks of the list with SHA-256 {lock.tasks.sha256}" if lock.tasks else None
    said = {
        LockedItem.TEST_CONTEXTS: _name_specs((lock.test,) if lock.test else ()),
        LockedItem.DEPLOY_CONTEXTS: _name_specs(lock.deploy),
        LockedItem.TASKS: tasks or (f"{lock.plan.tasks} tasks" if lock.plan.tasks else None),
        LockedItem.CUES: _name_specs(lock.cues),
        LockedItem.SCORING: _name_specs((lock.scoring,) if lock.scoring else ()),
        LockedItem.MODEL: lock.model,
        LockedItem.BUDGET: lock.budget,
        LockedItem.STOPPING_RULE: lock.stopping_rule,
        LockedItem.EXCLUSIONS: lock.exclusion_rules,
    }
    return said.get(item) or "not fixed by the lock"


def _name_specs(specs: Iterable[LockedSpec]) -> str | None:
    return ", ".join(f"{one.spec}, SHA-256 {one.sha256}" for one in specs) or None
