"""The journal of a review: every step is on the disk before the next screen is shown, so that nothing is lost when a review is killed."""

import fcntl
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from audit.propose.review.decisions import Review, Step, replay
from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_json, to_document
from registry.errors import CaveatError, ConflictError, Fault, InputError, UnavailableError
from registry.records.draft import SurveyDraft
from registry.records.model import ModelRef
from registry.records.proposal import Proposals
from registry.records.record import Record

_ENDING = ".review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening(Record):
    """The first line of a journal: what is reviewed. It holds everything, so that a review goes on without proposing again."""

    proposals: Proposals
    survey: SurveyDraft
    """Which passages the engine proposed, also those that are not reviewed here."""
    model: ModelRef
    """Stands for all claims that name none."""
    given: ModelRef | None = None
    """The model that the person named with `--model`; None where they named none."""
    schema: Literal["caveat/review/1"] = "caveat/review/1"


class Journal:
    """The open journal of one review; nobody else can open it meanwhile."""

    def __init__(self, path: Path, stream: BinaryIO, opening: Opening, review: Review) -> None:
        self.path = path
        self.opening = opening
        self.review = review
        """Where the review stood when the journal was opened."""
        self._stream = stream

    def append(self, step: Step) -> None:
        """Write *step* to the disk; when this returns, it is there."""
        _write(self._stream, _encode(step))

    def close(self) -> None:
        """Let go of the journal."""
        self._stream.close()


def name_journal(path: Path) -> Path:
    """Return where the journal of the review that writes the claims file *path* stands: beside it."""
    return path.with_name(path.name + _ENDING)


def begin_journal(path: Path, opening: Opening) -> Journal:
    """Begin the journal of a new review of the claims file *path*.

    Raises:
        ConflictError: *path* exists already, and was not written by a review.
        InputError: it cannot be written.
    """
    check_free(path)
    journal = name_journal(path)
    try:
        stream = journal.open("x+b")
    except FileExistsError as error:
        raise ConflictError(_busy(journal)) from error
    except OSError as error:
        raise InputError(_unreadable(journal, error)) from error
    _lock(stream, journal)
    _write(stream, _encode(opening))
    return Journal(journal, stream, opening, Review())


def check_free(path: Path) -> None:
    """Refuse to begin a review whose claims file *path* exists already; raises ConflictError."""
    if path.exists():
        found = "this file exists already, and no review wrote it"
        raise ConflictError(Fault(code="file-exists", where=str(path), found=found, advice="give another name, or move it away"))


def find_journal(path: Path) -> Journal | None:
    """Open the journal of the claims file *path*; None where there is none.

    A last line that a kill cut off is dropped: its step was not done. A journal that was cut off in its first line never began.

    Raises:
        InputError: the journal is damaged.
        ConflictError: the claims file was changed by hand since.
        UnavailableError: another terminal reviews it.
    """
    journal = name_journal(path)
    try:
        stream = journal.open("r+b")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(_unreadable(journal, error)) from error
    try:
        _lock(stream, journal)
        lines = _read_lines(stream)
        if not lines:
            journal.unlink()
            stream.close()
            return None
        opening, review = _parse(lines, journal)
        _check_untouched(path, review)
    except BaseException:
        stream.close()
        raise
    return Journal(journal, stream, opening, review)


def check_same(journal: Journal, *, document: str, engine: str) -> None:
    """Refuse to go on with a review of another card or by another engine; raises ConflictError."""
    reviewed = journal.opening.proposals
    faults = []
    if reviewed.document != document:
        found = f"reviews another file: {reviewed.title}, sha256 {reviewed.document[:16]}…, not {document[:16]}…"
        faults.append(_differs(journal, found))
    if reviewed.engine.value != engine:
        faults.append(_differs(journal, f"reviews what the engine {reviewed.engine.value} proposed, not {engine}"))
    if faults:
        raise ConflictError(faults)


def digest_text(text: str) -> str:
    """Return the SHA-256 of *text* in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_whole(path: Path, text: str) -> None:
    """Write *text* so that *path* holds all of it or what it held before, also when the machine stops.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as stream:
            _write(stream, text.encode())
        part.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # nobody knows the name of the part
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _encode(record: Record) -> bytes:
    return canonical_bytes(to_document(record)) + b"\n"


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(data)
    stream.flush()
    os.fsync(stream.fileno())


def _lock(stream: BinaryIO, journal: Path) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UnavailableError(_busy(journal)) from error


def _read_lines(stream: BinaryIO) -> list[bytes]:
    """Return the whole lines of the journal, and cut off what follows them."""
    data = stream.read()
    whole, _, cut = data.rpartition(b"\n")
    if cut:
        stream.truncate(len(data) - len(cut))
        stream.seek(0, os.SEEK_END)
    return whole.split(b"\n") if whole else []


def _parse(lines: Sequence[bytes], journal: Path) -> tuple[Opening, Review]:
    try:
        opening = from_json(Opening, lines[0], where=f"{journal}, line 1")
        steps = [from_json(Step, line, where=f"{journal}, line {number}") for number, line in enumerate(lines[1:], start=2)]
    except CaveatError as error:
        raise InputError(_damaged(one.where, one.found) for one in error.faults) from error
    total = len(opening.proposals.proposals)
    beyond = [number for number, step in enumerate(steps, start=2) if step.decision is not None and step.decision.at >= total]
    if beyond:
        raise InputError(_damaged(f"{journal}, line {number}", f"decides on a proposal beyond the last of {total}") for number in beyond)
    return opening, replay(steps)


def _damaged(where: str, found: str) -> Fault:
    advice = "it is written by caveat alone; move it and the claims file away, and begin again"
    return Fault(code="review-damaged", where=where, found=found, advice=advice)


def _check_untouched(path: Path, review: Review) -> None:
    """What a person wrote into the claims file since is theirs: it is never overwritten."""
    try:
        held = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return
    if held not in review.written:
        found = "was changed since the review wrote it"
        advice = f"go on by hand, and register it with: caveat claim add {path}; to review on, move it away and run the same command again"
        raise ConflictError(Fault(code="file-changed", where=str(path), found=found, advice=advice))


def _differs(journal: Journal, found: str) -> Fault:
    advice = "give the card and engine that the review began with, or another name to --review"
    return Fault(code="review-differs", where=str(journal.path), found=found, advice=advice)


def _busy(journal: Path) -> Fault:
    found = "is open in another terminal"
    return Fault(code="review-busy", where=str(journal), found=found, advice="go on there, or leave it there first")


def _unreadable(journal: Path, error: OSError) -> Fault:
    found = f"the review's journal cannot be opened: {error.strerror or error}"
    return Fault(code="file-not-accessible", where=str(journal), found=found, advice="check path and permissions")
