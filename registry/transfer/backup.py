"""A backup: one SQLite file with all that a registry holds, checked, and beside it the checkpoint that it can be held to.

Keys are no part of it: they are files of their own.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.codec.files import write_file
from registry.errors import AnswerNoError, Fault, InputError
from registry.records.log_seal import Checkpoint
from registry.records.record import Record
from registry.registration.key_registration import seal_log
from registry.seal.keys import SigningKey
from registry.seal.note import checkpoint_text
from registry.store.integrity import check_log
from registry.store.ledger import Ledger
from registry.store.logs import LogSummary
from registry.store.seen import list_imports
from registry.store.snapshot import copy_registry
from registry.transfer.files import put_in_place, refuse_existing, working_folder
from registry.transfer.lines import digest_file

NOTE_SUFFIX = ".checkpoint"
"""What the name of the checkpoint's file has behind that of the backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp(Record):
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
) -> BackedUp:
    """Write what *ledger* holds now to the new file *path*, and its checkpoint beside it, each whole or not at all.

    Args:
        keys: that sign the log's checkpoints; where there is none, the checkpoint is not signed.
        progress: is told the number of entries checked.

    Raises:
        AlteredError: with *keys*: the log was cut off or altered since it was sealed, and is not sealed again.
        AnswerNoError: the registry is altered: what is not as it was written is named, and nothing is kept.
        ConflictError: one of the two files exists.
        InputError: nothing is recorded yet.
    """
    beside = path.with_name(path.name + NOTE_SUFFIX)
    for one in (path, beside):
        refuse_existing(one)
    with ledger.view() as view:
        size = view.log_size
    if keys and size:
        _seal(ledger, keys, actor, size)  # so that it is in the copy too, where nobody else writes meanwhile
    with working_folder(path) as folder:
        part = folder / "registry.db"
        copy_registry(ledger, part, progress)
        said, erased, logs = _check(part, progress)
        note = _seal(ledger, keys, actor, said.size) if keys else checkpoint_text(said)
        text = folder / "checkpoint"
        write_file(text, note)
        put_in_place(text, beside)
        try:
            put_in_place(part, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    return BackedUp(
        path=os.fspath(path),
        sha256=digest_file(path),
        checkpoint=os.fspath(beside),
        is_signed=bool(keys),
        origin=said.origin,
        entries=said.size,
        root=said.root,
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
            found, advice = "nothing is recorded yet, so there is nothing to keep", "run: caveat init"
            raise InputError(Fault(code="empty-registry", where="registry", found=found, advice=advice))
        faults: list[Fault] = []
        with copy.view() as view:
            notes = {one.payload.origin: one.payload.checkpoint for one in list_imports(view)}
        reports = [
            check_log(
                copy, log=None if one.is_own else one.origin, notes=[notes[one.origin]] if one.origin in notes else [], progress=progress
            )
            for one in logs
        ]
        for report in reports:
            faults += report.findings
        if faults:
            raise AnswerNoError(faults)
    finally:
        copy.release()
    own = reports[0]
    assert own.root is not None  # noqa: S101  (a log without findings has a root)
    return Checkpoint(origin=own.origin, size=own.entries, root=own.root), own.erased, logs[1:]


def _never() -> Any:
    raise AssertionError("nothing is said in a backup")
