"""A log, or a stretch of it, written as a bundle."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from registry.codec.canonical import leaf_hash
from registry.codec.statements import decode_statement
from registry.config import EXAMPLE
from registry.errors import AlteredError, CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.records.log_seal import Checkpoint, EntrySignature, KeyPurpose
from registry.records.record import Record
from registry.records.statement import Entry, StatementKind
from registry.records.system_card import Card
from registry.seal.note import VerifierKey, parse_note, parse_vkey, verify_note
from registry.seal.tree import Frontier
from registry.store.key_events import list_key_events
from registry.store.nodes import NodeFinder
from registry.store.seals import StoredCheckpoint, list_checkpoints, refuse_other_history
from registry.store.seen import list_imports
from registry.store.signatures import list_signatures
from registry.store.tables import OWN_LOG
from registry.store.view import View
from registry.transfer.bundle import ContentLine, End, EntryLine, Header, Line, NoteLine, encode_line
from registry.transfer.files import new_file
from registry.transfer.lines import COMPRESSED, compressing, digest_file

_EVERY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported(Record):
    """What was written."""

    path: str
    sha256: str
    """Of the file's bytes, hexadecimal."""
    origin: str
    since: int
    size: int
    root: str
    entries: int
    erased: int
    """Entries whose text was erased here: their leaves alone are in the bundle."""
    contents: int
    """Texts of cards."""


def find_last_note(view: View) -> StoredCheckpoint:
    """Return the last signed checkpoint of the log as it is seen.

    Raises:
        NotFoundError: there is none.
    """
    kept = list_checkpoints(view)
    if not kept:
        found, advice = "no checkpoint is kept, and no key is here to make one", "name the folder of its keys (CAVEAT_KEYS)"
        raise NotFoundError(Fault(code="checkpoint-not-found", where=view.log_origin, found=found, advice=advice))
    return kept[-1]


def find_imported_note(view: View, origin: str) -> str:
    """Return the signed checkpoint that the log *origin* was last taken over with; raises NotFoundError."""
    imports = list_imports(view, origin)
    if not imports:
        found = "it was not taken over from another registry"
        raise NotFoundError(Fault(code="log-not-found", where=origin, found=found, advice="caveat log show names the logs here"))
    return imports[-1].payload.checkpoint


def export_bundle(
    view: View,
    note: str,
    path: Path,
    *,
    since: int = 0,
    cards: bool = True,
    example: bool = False,
    progress: Callable[[int], None] = lambda _more: None,
) -> Exported:
    """Write the entries after *since* up to the size of the signed checkpoint *note* to the new file *path*, whole or not at all.

    Args:
        view: of the log, its own or another that was taken over; it must see at least as many entries.
        since: leave out so many entries: those who get the bundle have them.
        cards: with the texts of the cards that its statements name; they are third-party texts.
        example: let statements of EXAMPLE out, which are for demonstrations.
        progress: is told how many more entries were written, now and then.

    Raises:
        InputError: nothing comes after *since*; `example-stays`.
        ConflictError: the file exists; `root-differs`, the entries do not give the root of *note*.
        AlteredError: the text of an entry or a card is not the one that was recorded, or the log was cut off or altered since it was
            sealed.
    """
    if view.log_id == OWN_LOG:
        refuse_other_history(view)
    said = parse_note(note, where="checkpoint").checkpoint
    if since >= said.size:
        found = f"the checkpoint is of {said.size} entries, so none comes after entry {since}"
        raise InputError(Fault(code="nothing-to-export", where="--since", found=found, advice=f"give less than {said.size}"))
    writing = _Writing(view, said, since=since, cards=cards, example=example)
    with new_file(path) as stream, ExitStack() as stack:
        packed = stack.enter_context(compressing(stream)) if path.name.endswith(COMPRESSED) else stream
        writing.write(packed, note, progress)
    counts = {"entries": said.size - since, "erased": writing.erased, "contents": writing.sent}
    digest = digest_file(path)
    return Exported(path=os.fspath(path), sha256=digest, origin=said.origin, since=since, size=said.size, root=said.root, **counts)


class _Writing:
    """One bundle on its way out."""

    def __init__(self, view: View, said: Checkpoint, *, since: int, cards: bool, example: bool) -> None:
        self._view = view
        self._said = said
        self._since = since
        self._cards = cards
        self._example = example
        self._contents: set[str] = set()
        self._frontier = Frontier(since, find_peaks(view, since))
        self.erased = 0
        self.sent = 0

    def write(self, stream: BinaryIO, note: str, progress: Callable[[int], None]) -> None:
        """Write every line, the last with the digest of those before it."""
        hashed, count = hashlib.sha256(), 0
        for line in self._lines(note):
            text = encode_line(line)
            stream.write(text)
            hashed.update(text)
            count += 1
            if count % _EVERY == 0:
                progress(_EVERY)
        stream.write(encode_line(End(lines=count, sha256=hashed.hexdigest())))

    def _lines(self, note: str) -> Iterator[Line]:
        events = [one for one in list_key_events(self._view) if one.entry.seq <= self._said.size]
        vkeys = tuple(dict.fromkeys(one.payload.vkey for one in events if one.payload.vkey is not None))
        peaks = tuple(peak.hex() for peak in self._frontier.peaks)
        size = self._said.size
        yield Header(origin=self._said.origin, since=self._since, peaks=peaks, size=size, cards=self._cards, vkeys=vkeys)
        entries = self._view.log_entries(self._since + 1, size + 1)
        while places := list(islice(entries, _EVERY)):
            signed = {one.entry: one for one in list_signatures(self._view, (place.seq for place, _ in places))}
            for place, text in places:
                yield self._entry(place, text, signed.get(place.seq))
        if (self._frontier.size, self._frontier.root().hex()) != (size, self._said.root):
            found = f"its entries have the root {self._frontier.root().hex()}, the checkpoint at {size} says {self._said.root}"
            raise ConflictError(Fault(code="root-differs", where=self._said.origin, found=found, advice="run: caveat log check"))
        for sha256 in sorted(self._contents if self._cards else ()):
            if self._view.has_content(sha256):
                self.sent += 1
                yield ContentLine(content=self._view.get_content(sha256), sha256=sha256)
        yield from (NoteLine(checkpoint=one) for one in list_vouching(self._view, since=self._since, size=size))
        yield NoteLine(checkpoint=note)

    def _entry(self, place: Entry, text: bytes | None, signed: EntrySignature | None) -> EntryLine:
        if place.actor == EXAMPLE and not self._example:
            found = f"entry {place.seq} is said by {EXAMPLE}, whose statements are for demonstrations and stay where they are made"
            advice = "speak as your own authority (caveat init --code); to show how exporting works: --example"
            raise InputError(Fault(code="example-stays", where=self._said.origin, found=found, advice=advice))
        self._frontier.append(bytes.fromhex(place.leaf))
        if text is not None and leaf_hash(text) != place.leaf:
            found, advice = "its text is not the one that was recorded", "run: caveat log check"
            raise AlteredError(Fault(code="entry-altered", where=f"entry {place.seq}", found=found, advice=advice))
        if text is None:
            self.erased += 1
            return EntryLine(seq=place.seq, text=None, actor=place.actor, at=place.at, kind=place.kind, leaf=place.leaf, signature=signed)
        if place.kind is StatementKind.CARD:
            payload = decode_statement(text, where=f"entry {place.seq}").payload
            assert isinstance(payload, Card)  # noqa: S101  (the kind decides)
            self._contents.add(payload.text)
        return EntryLine(seq=place.seq, text=text.decode(), leaf=place.leaf, signature=signed)


def find_peaks(view: View, size: int) -> list[bytes]:
    """Return the roots of the complete subtrees of the first *size* entries, the widest first."""
    find, start, peaks = NodeFinder(view).find, 0, []
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            peaks.append(find(level, start >> level))
            start += 1 << level
    return peaks


def list_vouching(view: View, *, since: int, size: int) -> Iterator[str]:
    """Yield the kept checkpoints before *size* by which keys vouch for those after them: for each key event after *since* the first that
    covers it and is signed by a log key named before it.
    """
    events = [one for one in list_key_events(view) if one.payload.purpose is KeyPurpose.LOG and one.entry.seq <= size]
    kept = [one for one in list_checkpoints(view) if since < one.checkpoint.size < size]
    known: list[VerifierKey] = []
    chosen: dict[int, str] = {}
    for event in events:
        if known and event.entry.seq > since:
            found = next((one for one in kept if one.checkpoint.size >= event.entry.seq and _is_signed(one, known)), None)
            if found is not None:
                chosen[found.checkpoint.size] = found.note
        if event.payload.vkey is not None:
            known.append(parse_vkey(event.payload.vkey, where=f"entry {event.entry.seq}"))
    yield from (chosen[one] for one in sorted(chosen))


def _is_signed(kept: StoredCheckpoint, keys: Sequence[VerifierKey]) -> bool:
    try:
        note = parse_note(kept.note, where="kept checkpoint")
    except CaveatError:
        return False
    return any(line.is_valid for line in verify_note(note, keys))
