"""A backup of all that a registry holds, in one file with a checkpoint, and its return into an empty registry."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.codec.file_io import place_new_file, refuse_existing, working_folder, write_file
from registry.errors import AnswerNoError, CaveatError, ConflictError, Fault, InputError
from registry.exchange.bundle_check import KeyStep, find_signer
from registry.exchange.bundle_format import digest_file
from registry.records.log_seal import Checkpoint
from registry.records.record import Record
from registry.registration.key_registration import seal_log, trusted_vkeys
from registry.seal.merkle_tree import root_of
from registry.seal.signed_notes import LARGEST_NOTE, SignedNote, VerifierKey, checkpoint_text, parse_note
from registry.seal.signing_keys import SigningKey
from registry.store import database_schema as schema
from registry.store.database_engine import find_file
from registry.store.ledger import Ledger
from registry.store.log_integrity import LogReport, check_log
from registry.store.log_reader import LogSummary, list_key_events
from registry.store.log_seals import list_checkpoints, list_imports
from registry.store.registry_rebuild import copy_registry, rebuild
from registry.store.registry_view import View

# A backup: one SQLite file with everything a registry contains, checked, and next to it the
# checkpoint that it can be compared with. Keys are separate files and not included.

NOTE_SUFFIX = ".checkpoint"
"""What the name of the checkpoint's file has behind that of the backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult(Record):
    """What was written."""

    path: str
    sha256: str
    """Of the file's bytes, hexadecimal."""
    checkpoint: str
    """The file beside it."""
    is_signed: bool
    """Whether that is a signed note; if not, only the text that would be signed."""
    origin: str
    entries: int
    root: str
    erased: int
    """Entries whose text was erased before."""
    logs: tuple[LogSummary, ...]
    """The logs of other registries in it."""


def back_up(
    ledger: Ledger, path: Path, *, keys: Sequence[SigningKey], actor: str, progress: Callable[[int], None] = lambda _done: None
) -> BackupResult:
    """Write what *ledger* holds now to the new file *path*, and its checkpoint next to it, each whole or not at all.

    Args:
        keys: that sign the log's checkpoints; where there is none, the checkpoint is not signed.
        progress: called with the number of entries checked.

    Raises:
        AlteredError: with *keys*: the log was cut off or altered since it was sealed, and is not sealed again.
        AnswerNoError: the registry is altered: what is not as it was written is named, and nothing is kept.
        ConflictError: one of the two files exists.
        InputError: nothing is recorded yet.
    """
    beside = path.with_name(path.name + NOTE_SUFFIX)
    # Refused before the copy, which can take minutes.
    for target in (path, beside):
        refuse_existing(target)
    # The size is fixed before sealing, so that entries that others add meanwhile are not expected
    # in the copy.
    with ledger.view() as view:
        size = view.log_size
    if keys and size:
        _seal(ledger, keys, actor, size)  # so that it is in the copy too, where no one else writes meanwhile
    # In the same folder, so that the finished file can be moved without copying.
    with working_folder(path) as folder:
        part = folder / "registry.db"
        copy_registry(ledger, part, progress)
        checkpoint, erased, logs = _check(part, progress)
        note = _seal(ledger, keys, actor, checkpoint.size) if keys else checkpoint_text(checkpoint)
        text = folder / "checkpoint"
        write_file(text, note)
        # The checkpoint first: a backup without one could not be compared with anything.
        place_new_file(text, beside)
        try:
            place_new_file(part, path)
        # Both files or none: a checkpoint without its backup would be misleading.
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    return BackupResult(
        path=os.fspath(path),
        sha256=digest_file(path),
        checkpoint=os.fspath(beside),
        is_signed=bool(keys),
        origin=checkpoint.origin,
        entries=checkpoint.size,
        root=checkpoint.root,
        erased=erased,
        logs=logs,
    )


def _seal(ledger: Ledger, keys: Sequence[SigningKey], actor: str, size: int) -> str:
    with ledger.write(actor=actor) as writer:
        return seal_log(writer, keys, size=size).note


def _check(part: Path, progress: Callable[[int], None]) -> tuple[Checkpoint, int, tuple[LogSummary, ...]]:
    copy = Ledger.open(f"sqlite:///{part}", clock=_never, salt=_never)
    try:
        logs = copy.list_logs()
        if not logs or not logs[0].size:
            raise InputError(Fault("empty-registry", "registry", "nothing is recorded yet, so there is nothing to keep"))
        faults: list[Fault] = []
        # Imported logs are compared with the notes they were imported by.
        with copy.view() as view:
            notes = {log_import.payload.origin: log_import.payload.checkpoint for log_import in list_imports(view)}
        reports = [
            check_log(
                copy, log=None if log.is_own else log.origin, notes=[notes[log.origin]] if log.origin in notes else [], progress=progress
            )
            for log in logs
        ]
        for report in reports:
            faults += report.findings
        # An altered registry is not backed up, because a later restore would make the alteration
        # permanent.
        if faults:
            raise AnswerNoError(faults)
    finally:
        copy.release()
    own = reports[0]
    assert own.root is not None  # noqa: S101  (a log without findings has a root)
    return Checkpoint(origin=own.origin, size=own.entries, root=own.root), own.erased, logs[1:]


def _never() -> Any:
    raise AssertionError("nothing is said in a backup")


# Restoring: the backup is compared with its checkpoint and then replayed into an empty registry, so
# that all rows are derived from their statements.

_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult(Record):
    """What was brought back."""

    origin: str
    entries: int
    last_at: datetime | None
    """Time of the last entry; None where nothing is recorded."""
    checkpoint: Checkpoint | None
    """What it was held against; None where it was held against nothing, as was asked."""
    signer: str | None
    """The verifier key that signed that checkpoint; None if there is none."""
    is_own_word: bool
    """Whether that key is known from the backup alone: it shows no forgery, only accidents."""


def find_note(path: Path) -> Path | None:
    """Return the file with the checkpoint of the backup *path*; None where there is none next to it."""
    beside = path.with_name(path.name + NOTE_SUFFIX)
    return beside if beside.is_file() else None


def read_note(path: Path) -> str:
    """Return the text of a checkpoint's file; raises InputError where it is too large, or no text."""
    try:
        with path.open("rb") as stream:
            data = stream.read(4 * LARGEST_NOTE + 1)
        if len(data) > 4 * LARGEST_NOTE:
            raise InputError(Fault("bad-note", str(path), f"it has more than {4 * LARGEST_NOTE:,} bytes"))
        return data.decode()
    except OSError as error:
        raise InputError(Fault("file-not-readable", str(path), error.strerror or str(error))) from error
    except UnicodeDecodeError as error:
        raise InputError(Fault("not-utf-8", str(path), f"byte {error.start} is not UTF-8")) from error


def restore(
    path: Path, url: str, *, note: str | None, keys: Sequence[VerifierKey] = (), progress: Callable[[int], None] = lambda _done: None
) -> RestoreResult:
    """Bring the backup *path* back into the empty or missing registry at *url*, and say what it was held against.

    Args:
        note: the checkpoint, signed or the bare text; None holds it against nothing but the checkpoints inside.
        keys: keys that may have signed it; none: those that the backup itself names.
        progress: called with the number of entries done.

    Raises:
        AnswerNoError: `backup-shorter`, `backup-altered`, or everything that is altered in it, and since when; nothing is restored.
        InputError: it is no backup, or no one believed signed its checkpoint.
        ConflictError: the registry at *url* is not empty.
    """
    file = find_file(url)
    with working_folder(file) if file else TemporaryDirectory(prefix="caveat-restore-") as name:
        folder = Path(name)
        copy = f"sqlite:///{_copy(path, folder)}"
        schema.upgrade(copy)
        restored = _check_copy(copy, note, keys, progress)
        # An existing registry is filled in its own transaction. A new file is built aside and
        # appears only when complete.
        if file is None or file.exists():
            rebuild(copy, url, progress)
            return restored
        whole = folder / "whole.db"
        rebuild(copy, f"sqlite:///{whole}", progress)
        place_new_file(whole, file, mode=0o644)
    return restored


def _copy(path: Path, folder: Path) -> Path:
    """Databases are opened for writing, and a backup is not to be touched."""
    target = folder / "backup.db"
    try:
        with path.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise InputError(Fault("not-a-backup", str(path), "it is not an SQLite database"))
        # SQLite may write to a file that it only reads (journal, WAL), and the backup must stay as
        # it is.
        shutil.copyfile(path, target)
    except OSError as error:
        raise InputError(Fault("file-not-readable", os.fspath(path), error.strerror or str(error))) from error
    return target


def _check_copy(url: str, note: str | None, verifier_keys: Sequence[VerifierKey], progress: Callable[[int], None]) -> RestoreResult:
    copy = Ledger.open(url, clock=_never_when_restoring, salt=_never_when_restoring)
    try:
        checkpoint, signed = (None, None) if note is None else _parse(note)
        report = check_log(copy, progress=progress, notes=[note] if signed and note else [])
        if checkpoint is not None:
            _hold_against(copy, report, checkpoint)
        faults = [*report.findings]
        for log in copy.list_logs()[1:]:
            faults += check_log(copy, log=log.origin, progress=progress).findings
        if faults:
            raise AnswerNoError(faults)
        # Who signed is decided last. Alterations are reported even if no key is known.
        signer = None if signed is None else _find_signer(copy, signed, verifier_keys)
        with copy.view() as view:
            last = view.find_entry(view.log_size)
    finally:
        copy.release()
    return RestoreResult(
        origin=report.origin,
        entries=report.entries,
        last_at=last.at if last else None,
        checkpoint=checkpoint,
        signer=None if signer is None else str(signer),
        is_own_word=signer is not None and not verifier_keys,
    )


def _parse(note: str) -> tuple[Checkpoint, SignedNote | None]:
    """Read a signed note, or the bare text that `backup` writes where no key is."""
    if "\n\n" in note:
        signed = parse_note(note, where="checkpoint")
        return signed.checkpoint, signed
    # An unsigned checkpoint is the three signed lines alone. A dummy signature line lets the same
    # parser read it.
    unsigned = parse_note(f"{note}\n— no-signer AAAAAAA=\n", where="checkpoint").checkpoint
    if checkpoint_text(unsigned) != note:
        raise InputError(Fault("bad-note", "checkpoint", "it is not written as a checkpoint is"))
    return unsigned, None


def _hold_against(copy: Ledger, report: LogReport, checkpoint: Checkpoint) -> None:
    """Refuse a backup that is not what the checkpoint says; what is altered, and since when, comes with it."""
    if checkpoint.origin != report.origin:
        problem = f"the checkpoint is of {checkpoint.origin}, the backup of {report.origin or 'no log'}"
        raise ConflictError(Fault("wrong-log", "backup", problem, advice="give the checkpoint that belongs to it"))
    with copy.view() as view:
        last = view.find_entry(view.log_size)
        if checkpoint.size > report.entries:
            until = f"; the last that is there is of {last.at:%Y-%m-%d %H:%M:%S} UTC" if last else ""
            first = report.entries + 1
            gone = f"entry {first} is missing" if first == checkpoint.size else f"{first} to {checkpoint.size} are missing"
            raise AnswerNoError(Fault("backup-shorter", "backup", f"the checkpoint is of {checkpoint.size} entries: {gone}{until}"))
        root = None if report.root is None else _find_root(view, checkpoint.size)
    if root is not None and root != checkpoint.root:
        since = _describe_since(report, checkpoint)
        problem = f"its first {checkpoint.size} entries have the root {root}, the checkpoint says {checkpoint.root}; {since}"
        fault = Fault("backup-altered", "backup", problem)
        raise AnswerNoError([fault, *report.findings])


def _describe_since(report: LogReport, checkpoint: Checkpoint) -> str:
    """Between which two checkpoints it was altered."""
    fitting = [
        checked_checkpoint
        for checked_checkpoint in report.checkpoints
        if checked_checkpoint.fits and checked_checkpoint.checkpoint.size < checkpoint.size
    ]
    if not fitting:
        return "no checkpoint inside it still fits, so any entry may be altered"
    # The largest matching checkpoint bounds the range in which the alteration can be.
    last = fitting[-1]
    when = f" of {last.at:%Y-%m-%d %H:%M:%S} UTC" if last.at else ""
    return (
        f"the checkpoint at {last.checkpoint.size}{when} still fits, so it is among entries {last.checkpoint.size + 1} to {checkpoint.size}"
    )


def _find_root(view: View, size: int) -> str:
    """Kept nodes are not asked: they lie in the same file."""
    # From the leaves: stored subtrees are in the same file and can be altered with it.
    return root_of(view.leaves(1, size + 1)).hex()


def _find_signer(copy: Ledger, note: SignedNote, verifier_keys: Sequence[VerifierKey]) -> VerifierKey:
    with copy.view() as view:
        # Key events up to the size of the note only. A later revocation could otherwise decide
        # about its own backup.
        steps = [KeyStep(seq=key_event.entry.seq, at=key_event.entry.at, event=key_event.payload) for key_event in list_key_events(view)]
        notes = [*_read_kept(view, note.checkpoint.size), note]
        known = tuple(verifier_keys) or trusted_vkeys(view)
    return find_signer(note, known, [step for step in steps if step.seq <= note.checkpoint.size], notes)


def _read_kept(view: View, size: int) -> list[SignedNote]:
    kept = []
    for checkpoint in list_checkpoints(view):
        try:
            kept.append(parse_note(checkpoint.note, where="kept checkpoint"))
        except CaveatError:
            continue
    return [note for note in kept if note.checkpoint.size < size]


def _never_when_restoring() -> Any:
    raise AssertionError("nothing is said while a backup is brought back")
