"""Whether a bundle is whole and says what its checkpoint seals: leaves from texts, the root from leaves, everything before a key is asked.

What nobody signed is worth nothing yet: `registry.transfer.trust` says whose checkpoint it is.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from registry.codec.canonical import canonical_bytes
from registry.codec.statements import decode_statement
from registry.errors import Fault, InputError
from registry.records.dossier import Recorded
from registry.records.log_seal import EntrySignature, KeyEvent
from registry.records.statement import KINDS, Entry, Payload
from registry.records.system_card import Card
from registry.seal.note import SignedNote, VerifierKey, parse_note
from registry.seal.statement_signature import StatementKeys
from registry.transfer.bundle import ContentLine, End, EntryLine, Header, Line, NoteLine
from registry.transfer.lines import digest_file
from registry.transfer.read import read_bundle
from registry.transfer.stretch import Stretch
from registry.transfer.trust import KeyStep, find_signer

_EVERY = 1_000
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle that is whole, and whose entries give the root of its checkpoint; whether to believe its signature is not asked yet."""

    path: Path
    sha256: str
    """Of the file's bytes, hexadecimal."""
    header: Header
    stretch: Stretch
    """The tree over its entries and what it says came before."""
    erased: int
    """Entries that come without text: kind, author and time are the sender's word."""
    contents: int
    """Texts of cards."""
    actors: frozenset[str]
    """Whose statements they are."""
    steps: tuple[KeyStep, ...]
    """What its entries say of the log's keys."""
    notes: tuple[SignedNote, ...]
    """Signed checkpoints whose roots fit, by size; the last is at `header.size`."""
    note: str
    """The last, word for word."""
    signed: int = 0
    """Entries that their authors signed, each signature verified."""
    signed_unknown: int = 0
    """Entries that are signed with keys which the log names before the bundle begins: an import verifies them."""

    @property
    def checkpoint(self) -> SignedNote:
        """The last of `notes`."""
        return self.notes[-1]


def read_whole(path: Path, *, progress: Callable[[int], None] = lambda _more: None) -> Bundle:
    """Return the bundle in the file *path* after all of it was read and every leaf and root computed.

    Args:
        progress: is told how many more entries were read, now and then.

    Raises:
        InputError: as `registry.transfer.read.read_bundle`; `unknown-statement` where a newer caveat wrote it; `log-broken`, `other-log`,
            `bundle-forged` where entries and checkpoint do not fit each other.
    """
    where = str(path)
    gathered = _Gathered(where=where)
    with open_bundle(path) as stream:
        lines = read_bundle(stream, where=where)
        header = next(lines)
        assert isinstance(header, Header)  # noqa: S101  (read_bundle begins with it)
        for number, line in enumerate(lines, 1):
            gathered.take(line)
            if number % _EVERY == 0:
                progress(_EVERY)
    signed = gathered.check_signatures(header)
    gathered.raise_faults()
    stretch = Stretch(header.since, [bytes.fromhex(one) for one in header.peaks], gathered.leaves)
    notes = tuple(_check_notes(gathered.notes, header, stretch, where))
    return Bundle(
        path=path,
        sha256=digest_file(path),
        header=header,
        stretch=stretch,
        erased=gathered.erased,
        contents=gathered.contents,
        actors=frozenset(gathered.actors),
        steps=tuple(gathered.steps),
        notes=notes,
        note=gathered.notes[-1],
        signed=signed,
        signed_unknown=len(gathered.signed) - signed,
    )


def check_bundle(
    path: Path, given: tuple[VerifierKey, ...], *, progress: Callable[[int], None] = lambda _more: None
) -> tuple[Bundle, VerifierKey]:
    """Return the bundle in the file *path* and the key that signs it, one of *given* or one that the log puts in its place.

    Raises:
        InputError: as `read_whole` and `registry.transfer.trust.find_signer`.
    """
    bundle = read_whole(path, progress=progress)
    return bundle, find_signer(bundle.checkpoint, given, bundle.steps, bundle.notes)


def open_bundle(path: Path) -> BinaryIO:
    """Open the file *path* to be read; raises InputError `file-not-readable` where it is none."""
    try:
        if path.is_file():
            return path.open("rb")
        found = "it is no file" if path.exists() else "there is no such file"
    except (OSError, ValueError) as error:
        raise InputError(Fault(code="file-not-readable", where=str(path), found=str(error), advice="check its permissions")) from error
    raise InputError(Fault(code="file-not-readable", where=str(path), found=found, advice="check its name"))


@dataclass(kw_only=True)
class _Gathered:
    """What the lines of a bundle say, as far as they are read."""

    where: str
    leaves: list[bytes] = field(default_factory=list)
    erased: int = 0
    contents: int = 0
    actors: set[str] = field(default_factory=set)
    steps: list[KeyStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    at: datetime | None = None
    wanted: set[str] = field(default_factory=set)
    events: list[Recorded[KeyEvent]] = field(default_factory=list)
    signed: list[tuple[Entry, EntrySignature]] = field(default_factory=list)

    def take(self, line: Line) -> None:
        """Take one line after the header."""
        match line:
            case EntryLine():
                self.leaves.append(bytes.fromhex(line.leaf))
                if len(self.faults) < _MOST_FAULTS:
                    self._entry(line)
            case ContentLine():
                self._content(line)
            case NoteLine():
                self.notes.append(line.checkpoint)
            case Header() | End():
                raise AssertionError("read_bundle yields one header and no end")

    def check_signatures(self, header: Header) -> int:
        """Return how many signatures are their authors'; what is wrong with the others goes to `faults`.

        In a bundle that leaves out its log's beginning, signatures with keys named there are left to who has that beginning.
        """
        keys = StatementKeys(header.origin, self.events, {one.entry: one for _, one in self.signed})
        known = {one.fingerprint for one in keys.keys}
        is_whole = header.since == 0
        if is_whole:
            self.faults += keys.faults[:_MOST_FAULTS]
        checked = 0
        for place, one in self.signed:
            if is_whole or one.key in known:
                checked += 1
                if len(self.faults) < _MOST_FAULTS and (fault := keys.find_fault(place, one)) is not None:
                    self.faults.append(replace(fault, where=f"{self.where}, {fault.where}"))
        return checked

    def raise_faults(self) -> None:
        """Refuse the bundle with what is wrong in its statements."""
        if self.faults:
            raise InputError(self.faults)

    def _content(self, line: ContentLine) -> None:
        self.contents += 1
        if line.sha256 not in self.wanted and not self.faults:
            found = "no statement of the bundle names this text"
            self.faults.append(Fault(code="bundle-line", where=f"{self.where}, card text {line.sha256}", found=found))

    def _entry(self, line: EntryLine) -> None:
        actor, at, kind = line.actor, line.at, line.kind
        if line.text is None:
            self.erased += 1
        else:
            try:
                payload, actor, at = _decode(line.text, f"{self.where}, entry {line.seq}")
                kind = KINDS[type(payload)]
            except InputError as error:
                self.faults += error.faults
                return
            match payload:
                case KeyEvent():
                    self.steps.append(KeyStep(seq=line.seq, at=at, event=payload))
                    place = Entry(seq=line.seq, kind=kind, actor=actor, at=at, leaf=line.leaf)
                    self.events.append(Recorded(entry=place, payload=payload))
                case Card():
                    self.wanted.add(payload.text)
                case _:
                    pass
        if at is not None and self.at is not None and at < self.at:
            found = f"its time, {at.isoformat()}, lies before that of the entry before it"
            self.faults.append(_broken(f"{self.where}, entry {line.seq}", found))
        self.at = at or self.at
        if line.signature is not None and kind is not None and actor is not None and at is not None:
            self.signed.append((Entry(seq=line.seq, kind=kind, actor=actor, at=at, leaf=line.leaf), line.signature))
        self.actors.add(actor or "")


def _decode(text: str, where: str) -> tuple[Payload, str, datetime]:
    """Return payload, author and time of a statement; its text must have the one form that reads alike everywhere."""
    statement = decode_statement(text, where=where)
    if canonical_bytes(json.loads(text)) != text.encode():
        raise InputError(_broken(where, "its text is not in canonical JSON (RFC 8785)"))
    return statement.payload, statement.actor, statement.at


def _check_notes(texts: list[str], header: Header, stretch: Stretch, where: str) -> Iterator[SignedNote]:
    before = header.since
    for text in texts:
        note = parse_note(text, where=f"{where}, checkpoint")
        said = note.checkpoint
        place = f"{where}, checkpoint at {said.size}"
        if said.origin != header.origin:
            found = f"it is of the log {said.origin}, the bundle of {header.origin}"
            raise InputError(Fault(code="other-log", where=place, found=found, advice="ask for the bundle again"))
        if not before < said.size <= header.size:
            found = f"it is of {said.size} entries, expected more than {before} and at most {header.size}"
            raise InputError(Fault(code="bundle-reordered", where=place, found=found, advice="ask for the bundle again"))
        root = stretch.root_at(said.size).hex()
        if root != said.root:
            found = f"the entries have the root {root}, it says {said.root}: an entry, or the checkpoint, was changed"
            raise InputError(Fault(code="bundle-forged", where=place, found=found, advice="do not use it; ask its authority for a copy"))
        before = said.size
        yield note
    if before != header.size:
        found = f"the last checkpoint is of {before} entries, the bundle has {header.size}"
        raise InputError(Fault(code="bundle-truncated", where=where, found=found, advice="ask for a whole copy"))


def _broken(where: str, found: str) -> Fault:
    return Fault(code="log-broken", where=where, found=found, advice="tell the authority: its log is not sound")
