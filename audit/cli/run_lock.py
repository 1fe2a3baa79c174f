"""The lock that a replay answers to: there before its first call, about the same sides, and without an outcome yet."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from audit.docket import get_audit, get_claim
from audit.replay.store import DATABASE, open_store
from registry.errors import ConflictError, Fault, UnavailableError
from registry.records.dossier import AuditFile
from registry.records.plan import Lock
from registry.records.replay import Replay
from registry.store.view import View

_SIDES = ("test", "deploy")
_ONE_SPEC = "default"
"""What the score table calls the P_deploy specification where none is named."""


def check_lock(replay: Replay, name: str, view: View | None, path: Path, *, begun: datetime | None) -> str:
    """Return which claim the audit called *name* is about, for a person to see that it is the one meant.

    Args:
        replay: what is about to be asked, or asked on.
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
    faults = [*_find_time_faults(audit, audit.lock.entry.at, begun, where), *_find_side_faults(replay, audit.lock.payload, path)]
    if faults:
        raise ConflictError(faults)
    claim = get_claim(view, audit.audit.payload.claim)
    return f"{name}, locked {audit.lock.entry.at:%Y-%m-%d %H:%M:%S} UTC, is about {claim.reference}: {claim.quote}"


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
