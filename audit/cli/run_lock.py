"""The lock that a replay answers to: there before its first call, about the same sides, and without an outcome yet."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from audit.adherence import Asked, Departure, compare_replay, is_told
from audit.docket import get_audit, get_claim
from audit.fixing import describe_replay, digest_sides
from audit.replay.replay_design import build_design
from audit.replay.replay_file import ReplayFile
from audit.replay.run_store import DATABASE, open_store
from registry.errors import ConflictError, Fault, UnavailableError
from registry.records.analysis_plan import Lock
from registry.records.dossier import AuditFile
from registry.records.replay_definition import Replay
from registry.store.view import View

_SIDES = ("test", "deploy")
_ONE_SPEC = "default"
"""What the score table calls the P_deploy specification where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A lock that a replay answers to."""

    audit: str
    told: str
    """Which claim it is about, for a person to see that it is the one meant."""
    departures: tuple[Departure, ...]
    """In what the replay is not the locked one, and nobody has told yet."""


def check_lock(file: ReplayFile, name: str, view: View | None, path: Path, *, begun: datetime | None) -> Bound:
    """Return the lock of the audit called *name*, and in what the replay departs from it.

    Args:
        file: what is about to be asked, or asked on.
        name: `AUD-…`.
        view: the registry; None where there is none.
        path: the replay's file.
        begun: when the first call of its run folder was written down; None before that.

    Raises:
        UnavailableError: there is no registry to read the lock in.
        NotFoundError: the audit is not registered.
        ConflictError: it has no lock, or one that is not about this replay or came after its first call; or it has its outcome.
    """
    where = f"{path}, audit {name}"
    if view is None:
        found = "no registry is open, so the lock cannot be read"
        raise UnavailableError(Fault(code="registry-not-found", where=where, found=found, advice="give --registry URL, or leave audit out"))
    audit = get_audit(view, name)
    if audit.lock is None:
        found = "has no lock: its scores could not be shown to come after the plan"
        raise ConflictError(Fault(code="not-locked", where=where, found=found, advice="caveat audit lock FILE, or leave audit out"))
    lock = audit.lock.payload
    faults = [*_find_time_faults(audit, audit.lock.entry.at, begun, where), *_find_side_faults(file.replay, lock, path)]
    if faults:
        raise ConflictError(faults)
    claim = get_claim(view, audit.audit.payload.claim)
    told = f"{name}, locked {audit.lock.entry.at:%Y-%m-%d %H:%M:%S} UTC, is about {claim.reference}: {claim.quote}"
    known = [one.payload for one in audit.deviations]
    departures = tuple(one for one in compare_replay(lock, _describe(file)) if not is_told(one, known))
    return Bound(audit=name, told=told, departures=departures)


def refuse_departures(bound: Bound, path: Path) -> None:
    """Raise ConflictError with everything in which the replay is not the locked one."""
    if bound.departures:
        where = f"{path}, audit {bound.audit}"
        advice = "replay what is locked, or lock another audit with this replay; --deviation WHY goes on, and its outcome restricts at most"
        raise ConflictError(
            Fault(
                code="replay-differs-from-lock",
                where=where,
                found=f"{one.item.words}: locked is {one.planned}; this replay has {one.done}",
                advice=advice,
            )
            for one in bound.departures
        )


def _describe(file: ReplayFile) -> Asked:
    replay = file.replay
    planned = len(build_design(replay, file.tasks, file.contexts)) if replay.budget.calls is None else replay.budget.calls
    return Asked(
        tasks=tuple(task.id for task in file.tasks),
        sides=digest_sides(file),
        model=replay.policy.model,
        calls=planned,
        parts=describe_replay(file),
        sealed=tuple(file.sealed.values()),
    )


def find_beginning(folder: Path) -> datetime | None:
    """Return when the first call of the run folder *folder* was written down to be sent; None before that."""
    if not (folder / DATABASE).is_file():
        return None
    store = open_store(folder)
    try:
        begun = store.find_beginning()
    finally:
        store.close()
    return None if begun is None else datetime.fromisoformat(begun)


def _find_time_faults(audit: AuditFile, locked: datetime, begun: datetime | None, where: str) -> Iterator[Fault]:
    if audit.restrictions:
        found = "has its outcome; responses that come now could not enter it"
        yield Fault(code="audit-concluded", where=where, found=found, advice="lock another audit, or leave audit out")
    if begun is not None and begun < locked:
        found = f"was locked at {locked:%Y-%m-%d %H:%M:%S} UTC, and the run folder holds calls from {begun:%Y-%m-%d %H:%M:%S} on"
        yield Fault(code="run-before-lock", where=where, found=found, advice="choose another folder with -o DIR, or leave audit out")


def _find_side_faults(replay: Replay, lock: Lock, path: Path) -> Iterator[Fault]:
    for name in sorted({arm.arm for arm in replay.arms} - set(_SIDES)):
        found = f"{name!r} is neither test nor deploy, which the lock is about"
        yield Fault(code="arms-differ-from-lock", where=f"{path}, arms", found=found, advice="replay other arms in a file of their own")
    for name in sorted(set(_SIDES) - {arm.arm for arm in replay.arms}):
        yield Fault(code="arms-differ-from-lock", where=f"{path}, arms", found=f"there is no arm {name!r}, and the lock is about both")
    specs = sorted({arm.spec or _ONE_SPEC for arm in replay.arms if arm.arm == "deploy"})
    locked = sorted(lock.deploy_specs)
    if specs and specs != locked:
        found = f"the deploy arms are of {', '.join(specs)}; the lock names {', '.join(locked)}"
        yield Fault(code="specs-differ-from-lock", where=f"{path}, arms", found=found, advice="set spec in each deploy arm")
