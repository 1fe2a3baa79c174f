"""The checks of a registry: its log, its rows, what guards them, and checkpoints that others may hold it to."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.errors import CaveatError, ConflictError, Fault, InputError, UnavailableError
from registry.exchange.bundle_check import KeyStep, find_signer
from registry.registration.key_registration import KeyState, list_keys
from registry.seal.signed_notes import VerifierKey, parse_note, parse_vkey
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.log_integrity import LogReport, check_log, describe_published
from registry.store.log_reader import list_key_events
from registry.store.log_seals import StoredCheckpoint, list_checkpoints
from registry.store.registry_rebuild import verify
from registry.verify.proof_checks import Check, CheckName, check_witnesses, describe_others, no, not_checked, yes
from registry.verify.time_anchor_checks import check_recorded_anchors
from registry.verify.verification_keys import VerificationMeans, list_forks

# Findings that belong to checkpoints or guards are reported there, not as faults of the log.
_OF_CHECKPOINTS = frozenset({"checkpoint-altered", "checkpoint-missing", "checkpoint-unsigned", "history-differs", "clock-jumped"})
_OF_GUARDS = frozenset({"guard-missing"})
_MOST_LISTED = 5

Progress = Callable[[int], None]


@contextmanager
def open_copy(path: Path) -> Iterator[Ledger]:
    """Give the registry in a copy of the SQLite file *path*: what is evidence is not written to, not even by opening it.

    A registry of an earlier release is brought up to date in the copy.

    Raises:
        UnavailableError: it holds no registry, or none that this release can read.
    """
    with TemporaryDirectory(prefix="caveat-verify-") as folder:
        copy = Path(folder, "registry.db")
        # The write-ahead log may hold the last entries.
        for suffix in ("", "-wal"):
            if Path(f"{path}{suffix}").is_file():
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        ledger = _open(f"sqlite:///{copy}")
        try:
            yield ledger
        finally:
            ledger.close()


def check_ledger(ledger: Ledger, means: VerificationMeans, *, progress: Progress = lambda _more: None) -> tuple[Check, ...]:
    """Return the checks of a registry, in order.

    Args:
        progress: receives how many entries are done.
    """
    keys, states = _check_keys(ledger)
    # Given keys replace the registry's own word on its keys.
    own = means.given.list_log_keys(_find_origin(ledger)) or tuple(_list_vkeys(states))
    # The whole log is read and hashed once.
    report = check_log(ledger, vkeys=(*own, *means.given.list_witness_keys(_find_origin(ledger))), progress=progress)
    with ledger.view() as view:
        kept, forks = list_checkpoints(view, beyond=True), list_forks(view)
    return (
        _check_log(report),
        _check_rows(ledger, report),
        _check_guards(ledger),
        _check_checkpoints(report),
        _check_signed(ledger, kept, means, forks),
        _check_witnesses(kept, means),
        *check_recorded_anchors(ledger, means.stamp_certificates),
        keys,
    )


def _open(url: str) -> Ledger:
    try:
        # No clock and no salts: a verification must record nothing.
        return Ledger.open(url, clock=_never, salt=_never)
    except UnavailableError as error:
        if error.code != "registry-not-current":
            raise
    # An older schema is brought up to date in the copy, which is thrown away.
    schema.upgrade(url)
    return Ledger.open(url, clock=_never, salt=_never)


def _never() -> Any:
    raise AssertionError("a verification records nothing")


def _find_origin(ledger: Ledger) -> str:
    with ledger.view() as view:
        return view.log_origin


def _check_keys(ledger: Ledger) -> tuple[Check, tuple[KeyState, ...]]:
    try:
        with ledger.view() as view:
            states = list_keys(view)
    except CaveatError as error:
        return no(CheckName.KEYS, _describe(error.faults)), ()
    # Logs that were taken over are checked, too: their keys would be believed.
    if wrong := [fault for log in ledger.list_logs()[1:] for fault in _find_contradictions(ledger, log.origin)]:
        return no(CheckName.KEYS, _describe(wrong)), states
    if not states:
        return not_checked(CheckName.KEYS, "the log names no key"), ()
    force = sum(state.in_force for state in states)
    ended = "; ".join(_describe_end(key_state) for key_state in states if not key_state.in_force)
    note = f"{len(states)} recorded, {force} in force{'; ' if ended else ''}{ended}; each is the one that its entry names"
    return yes(CheckName.KEYS, note), states


def _find_contradictions(ledger: Ledger, origin: str) -> tuple[Fault, ...]:
    """What is not in order with the keys of a log that was taken over."""
    try:
        with ledger.view(log=origin) as view:
            list_keys(view)
    except CaveatError as error:
        return error.faults
    return ()


def _describe_end(state: KeyState) -> str:
    if state.revoked is not None:
        return f"{state.fingerprint[:16]} revoked in entry {state.revoked.entry.seq}"
    return f"{state.fingerprint[:16]} replaced in entry {state.replaced.entry.seq if state.replaced else '?'}"


def _list_vkeys(states: tuple[KeyState, ...]) -> Iterator[VerifierKey]:
    # Document keys have no verifier key.
    for state in states:
        if state.added.payload.vkey is not None:
            yield parse_vkey(state.added.payload.vkey, where=f"entry {state.added.entry.seq}")


def _check_log(report: LogReport) -> Check:
    wrong = [finding for finding in report.findings if finding.code not in _OF_CHECKPOINTS | _OF_GUARDS]
    if wrong:
        return no(CheckName.LOG, _describe(wrong, unlisted=report.unlisted))
    # The leaves fit their texts, so the whole history was rewritten, or part of it is missing.
    if any(fault.code == "history-differs" for fault in report.findings):
        return no(CheckName.LOG, "every leaf fits its text, and these are not, or not all, the entries that were sealed: see checkpoints")
    erased = f"; {report.erased} texts were erased, and entries say so" if report.erased else ""
    note = f"{report.entries} entries of {report.origin}, no gaps and in order, every entry hash that of its text, root {report.root}"
    # Subtrees are a cache: proofs become slower without them, and nothing becomes unproven.
    nodes = "; no subtree is kept, which slows proofs and no more: caveat admin rebuild makes them anew" if report.lacks_nodes else ""
    return yes(CheckName.LOG, note + erased + nodes)


def _check_rows(ledger: Ledger, report: LogReport) -> Check:
    # Rows are derived from statements. Of altered statements there is nothing to compare them with.
    if any(finding.code not in _OF_CHECKPOINTS | _OF_GUARDS for finding in report.findings):
        return not_checked(CheckName.ROWS, "the log itself was altered")
    # Of a log that was cut off, rows would be reported that have lost their statements.
    if any(checkpoint.checkpoint.size > report.entries for checkpoint in report.checkpoints):
        return not_checked(CheckName.ROWS, "the log itself was cut off")
    try:
        verify_report = verify(ledger)
    except (ConflictError, InputError) as error:
        return no(CheckName.ROWS, _describe(error.faults))
    return yes(CheckName.ROWS, f"{verify_report.rows:,} rows are what their statements give")


def _check_guards(ledger: Ledger) -> Check:
    try:
        differences = schema.check(ledger.url).differences
    # A database of another engine may not show its schema.
    except CaveatError as error:
        return not_checked(CheckName.GUARDS, f"the whole schema could not be compared: {error.faults[0].found}")
    if differences:
        left = f"; and {len(differences) - _MOST_LISTED} more" if len(differences) > _MOST_LISTED else ""
        return no(CheckName.GUARDS, "; ".join(differences[:_MOST_LISTED]) + left)
    return yes(CheckName.GUARDS, "the whole schema is that of this release, and nothing else: the database refuses to change records")


def _check_checkpoints(report: LogReport) -> Check:
    wrong = [finding for finding in report.findings if finding.code in _OF_CHECKPOINTS]
    if wrong:
        return no(CheckName.CHECKPOINTS, _describe(wrong))
    # Published supplements name roots that no kept checkpoint covers.
    if report.given_out_since and not report.checkpoints:
        return not_checked(CheckName.CHECKPOINTS, describe_published(report))
    # Without a checkpoint nothing sealed says what the log was before.
    if not report.checkpoints:
        return not_checked(
            CheckName.CHECKPOINTS, "none is kept: nothing sealed says what the log was before now; next: caveat admin log checkpoint"
        )
    last = report.checkpoints[-1]
    when = f" of {last.at:%Y-%m-%d %H:%M} UTC" if last.at else ""
    note = f"the log still gives the root of each of {len(report.checkpoints)}, the last at {last.checkpoint.size} entries{when}"
    if report.given_out_since:
        note += f"; {describe_published(report)}"
    return yes(CheckName.CHECKPOINTS, note)


def _check_signed(ledger: Ledger, kept: tuple[StoredCheckpoint, ...], means: VerificationMeans, forks: Mapping[str, str]) -> Check:
    """A registry's own word on its keys proves nothing about who keeps it: only keys that the user gives do."""
    if not kept:
        return not_checked(CheckName.CHECKPOINT, "no checkpoint is kept")
    origin = kept[-1].checkpoint.origin
    # The name of the log is what the user expects, not what the file says.
    if means.origin is not None and origin != means.origin:
        return no(CheckName.CHECKPOINT, f"it is the registry of the log {origin}; expected was {means.origin}")
    if fork := forks.get(origin) or means.trust.forks.get(origin):
        return no(CheckName.CHECKPOINT, f"the log {origin} is not to be believed: {fork}")
    # A registry's own keys would only show that it agrees with itself.
    log_keys = means.given.list_log_keys(origin)
    if not log_keys:
        others = sorted({known_key.vkey.name for known_key in means.given.keys if known_key.vkey is not None})
        note = f"only the registry itself says who signs {origin}; {describe_others(others)}"
        return not_checked(CheckName.CHECKPOINT, note)
    try:
        with ledger.view() as view:
            steps = [
                KeyStep(seq=key_event.entry.seq, at=key_event.entry.at, event=key_event.payload) for key_event in list_key_events(view)
            ]
        notes = [
            parse_note(stored_checkpoint.note, where=f"checkpoint at {stored_checkpoint.checkpoint.size}") for stored_checkpoint in kept
        ]
        # The last checkpoint, by a chain of keys that begins with a given one.
        key = find_signer(notes[-1], log_keys, steps, notes)
    except CaveatError as error:
        return no(CheckName.CHECKPOINT, f"{error.faults[0].code}: {error.faults[0].found}")
    checkpoint = kept[-1].checkpoint
    note = f"{origin} at {checkpoint.size} entries, root {checkpoint.root}, signed by {key.name}+{key.key_id.hex()}"
    return yes(CheckName.CHECKPOINT, note, rests_on_given_key=True)


def _check_witnesses(kept: tuple[StoredCheckpoint, ...], means: VerificationMeans) -> Check:
    if not kept:
        return not_checked(CheckName.WITNESSES, "no checkpoint is kept")
    try:
        # Cosignatures, too, are believed by given keys only.
        return check_witnesses(parse_note(kept[-1].note, where="checkpoint"), means.given)
    except InputError as error:
        return no(CheckName.WITNESSES, error.faults[0].found)


def _describe(faults: tuple[Fault, ...] | list[Fault], *, unlisted: int = 0) -> str:
    problems = "; ".join(f"{fault.where}: {fault.found}" for fault in faults[:_MOST_LISTED])
    # The report leaves findings out beyond a number; they are counted.
    left = len(faults) - _MOST_LISTED + unlisted
    return f"{problems}; and {left} more" if left > 0 else problems
