"""A log exported as a bundle, and another registry's log imported from one."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from registry.codec.canonical_documents import from_document
from registry.codec.file_io import new_file
from registry.codec.statement_encoding import decode_statement, leaf_hash
from registry.configuration import EXAMPLE
from registry.errors import AlteredError, AnswerNoError, CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.exchange.bundle_check import Bundle, KeyStep, find_signer, open_bundle, read_whole, shorten_vkey
from registry.exchange.bundle_format import (
    COMPRESSED,
    BundleEnd,
    BundleHeader,
    BundleLine,
    ContentLine,
    EntryLine,
    NoteLine,
    compressing,
    digest_file,
    encode_line,
    read_bundle,
)
from registry.exchange.foreign_logs import KnownLog, add_doubts, find_known, place_bundle, record_equivocation
from registry.records.log_seal import Checkpoint, EntrySignature, Equivocation, KeyPurpose, LogImport
from registry.records.record import Record
from registry.records.statement import Entry
from registry.records.system_card import Card
from registry.seal.merkle_tree import Frontier
from registry.seal.signed_notes import SignedNote, VerifierKey, parse_note, parse_vkey, verify_note
from registry.store.database_engine import OWN_LOG
from registry.store.ledger import Ledger
from registry.store.log_reader import NodeFinder, list_key_events, list_signatures
from registry.store.log_seals import StoredCheckpoint, list_checkpoints, list_imports, refuse_other_history
from registry.store.log_writer import ForeignEntry, import_entries
from registry.store.registry_view import View

# Export: a log, or a part of it, is written as a bundle.

_EVERY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult(Record):
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
    # Only a signed checkpoint shows who vouches for an exported log.
    kept = list_checkpoints(view)
    if not kept:
        problem = "no checkpoint is kept, and no key is here to make one"
        raise NotFoundError(Fault("checkpoint-not-found", view.log_origin, problem))
    return kept[-1]


def find_imported_note(view: View, origin: str) -> str:
    """Return the signed checkpoint that the log *origin* was last taken over with; raises NotFoundError."""
    imports = list_imports(view, origin)
    if not imports:
        problem = "it was not taken over from another registry"
        raise NotFoundError(Fault("log-not-found", origin, problem, advice="caveat admin log show names the logs here"))
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
) -> ExportResult:
    """Write the entries after *since* up to the size of the signed checkpoint *note* to the new file *path*, whole or not at all.

    Args:
        view: of the log, its own or another that was taken over; it must see at least as many entries.
        since: leave out so many entries: those who get the bundle have them.
        cards: with the texts of the cards that its statements name; they are third-party texts.
        example: let statements of EXAMPLE out, which are for demonstrations.
        progress: called with how many more entries were written, now and then.

    Raises:
        InputError: nothing comes after *since*; `example-not-exported`.
        ConflictError: the file exists; `history-differs`, the entries do not give the root of *note*.
        AlteredError: the text of an entry or a card is not the one that was recorded, or the log was cut off or altered since it was
            sealed.
    """
    writing = _prepare(view, note, since=since, cards=cards, example=example)
    checkpoint = writing.checkpoint
    with new_file(path) as stream, ExitStack() as stack:
        packed = stack.enter_context(compressing(stream)) if path.name.endswith(COMPRESSED) else stream
        for count, line in enumerate(writing.list_lines(note), start=1):
            packed.write(line)
            if count % _EVERY == 0:
                progress(_EVERY)
    counts = {"entries": checkpoint.size - since, "erased": writing.erased, "contents": writing.sent}
    digest = digest_file(path)
    return ExportResult(
        path=os.fspath(path), sha256=digest, origin=checkpoint.origin, since=since, size=checkpoint.size, root=checkpoint.root, **counts
    )


def stream_bundle(view: View, note: str, *, since: int, example: bool) -> Iterator[bytes]:
    """Return the lines of a bundle without the texts of cards, one after the other; arguments and errors as `export_bundle`.

    What is wrong with the arguments or with the log is raised here, before the first line.
    """
    return _prepare(view, note, since=since, cards=False, example=example).list_lines(note)


def _prepare(view: View, note: str, *, since: int, cards: bool, example: bool) -> "_BundleWriter":
    # Decision of 2026-11-22: before the log is sealed, exported or backed up it is compared with
    # every stored checkpoint. Otherwise its keeper would publish a second history. The cost: one
    # more pass over the leaves.
    if view.log_id == OWN_LOG:
        refuse_other_history(view)
    checkpoint = parse_note(note, where="checkpoint").checkpoint
    if since >= checkpoint.size:
        problem = f"the checkpoint is of {checkpoint.size} entries, so none comes after entry {since}"
        raise InputError(Fault("nothing-to-export", "--since", problem, advice=f"give less than {checkpoint.size}"))
    return _BundleWriter(view, checkpoint, since=since, cards=cards, example=example)


class _BundleWriter:
    """One bundle on its way out."""

    def __init__(self, view: View, checkpoint: Checkpoint, *, since: int, cards: bool, example: bool) -> None:
        self._view = view
        self.checkpoint = checkpoint
        self._since = since
        self._cards = cards
        self._example = example
        self._contents: set[str] = set()
        # Starts with the peaks of the omitted entries, so that the root at the end can be compared
        # with the checkpoint.
        self._frontier = Frontier(since, find_peaks(view, since))
        self.erased = 0
        self.sent = 0

    def list_lines(self, note: str) -> Iterator[bytes]:
        """Yield every line, the last with the digest of those before it."""
        hashed, count = hashlib.sha256(), 0
        for line in self._lines(note):
            text = encode_line(line)
            yield text
            hashed.update(text)
            count += 1
        yield encode_line(BundleEnd(lines=count, sha256=hashed.hexdigest()))

    def _lines(self, note: str) -> Iterator[BundleLine]:
        events = [key_event for key_event in list_key_events(self._view) if key_event.entry.seq <= self.checkpoint.size]
        vkeys = tuple(dict.fromkeys(event.payload.vkey for event in events if event.payload.vkey is not None))
        peaks = tuple(peak.hex() for peak in self._frontier.peaks)
        size = self.checkpoint.size
        yield BundleHeader(origin=self.checkpoint.origin, since=self._since, peaks=peaks, size=size, cards=self._cards, vkeys=vkeys)
        # In groups, so that signatures are queried once per group and memory stays flat.
        entries = self._view.log_entries(self._since + 1, size + 1)
        while places := list(islice(entries, _EVERY)):
            signed = {signature.entry: signature for signature in list_signatures(self._view, (place.seq for place, _ in places))}
            for place, text in places:
                yield self._entry(place, text, signed.get(place.seq))
        # Checked while writing, from the entries actually written. The unfinished file is then
        # removed.
        if (self._frontier.size, self._frontier.root().hex()) != (size, self.checkpoint.root):
            problem = f"its entries have the root {self._frontier.root().hex()}, the checkpoint at {size} says {self.checkpoint.root}"
            raise ConflictError(Fault("history-differs", self.checkpoint.origin, problem, advice="run: caveat admin log check"))
        # Sorted by digest, the only valid order of texts in a bundle.
        for sha256 in sorted(self._contents if self._cards else ()):
            if self._view.has_content(sha256):
                self.sent += 1
                yield ContentLine(content=self._view.get_content(sha256), sha256=sha256)
        yield from (NoteLine(checkpoint=name) for name in list_vouching(self._view, since=self._since, size=size))
        yield NoteLine(checkpoint=note)

    def _entry(self, place: Entry, text: bytes | None, signed: EntrySignature | None) -> EntryLine:
        # Demonstration statements in a real exchange could be taken for real evidence.
        if place.actor == EXAMPLE and not self._example:
            problem = f"entry {place.seq} is stated by {EXAMPLE}; its statements are for demonstrations and stay in this registry"
            advice = "act as your own authority (caveat init --code); to show how exporting works: --example"
            raise InputError(Fault("example-not-exported", self.checkpoint.origin, problem, advice=advice))
        self._frontier.append(bytes.fromhex(place.leaf))
        # An altered text must not leave the registry under a valid checkpoint.
        if text is not None and leaf_hash(text) != place.leaf:
            problem, advice = "its text is not the one that was recorded", "caveat admin log check"
            raise AlteredError(Fault("entry-altered", f"entry {place.seq}", problem, advice=advice))
        # For an erased text the receiver gets the leaf, which keeps the tree complete.
        if text is None:
            self.erased += 1
            return EntryLine(seq=place.seq, text=None, actor=place.actor, at=place.at, kind=place.kind, leaf=place.leaf, signature=signed)
        if place.kind == Card.KIND:
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
    events = [
        key_event for key_event in list_key_events(view) if key_event.payload.purpose is KeyPurpose.LOG and key_event.entry.seq <= size
    ]
    kept = [checkpoint for checkpoint in list_checkpoints(view) if since < checkpoint.checkpoint.size < size]
    known: list[VerifierKey] = []
    chosen: dict[int, str] = {}
    for event in events:
        # For each key change the receiver needs one checkpoint signed by a key from before it.
        # Other checkpoints are omitted.
        if known and event.entry.seq > since:
            stored_checkpoint = next(
                (candidate for candidate in kept if candidate.checkpoint.size >= event.entry.seq and _is_signed(candidate, known)), None
            )
            if stored_checkpoint is not None:
                chosen[stored_checkpoint.checkpoint.size] = stored_checkpoint.note
        if event.payload.vkey is not None:
            known.append(parse_vkey(event.payload.vkey, where=f"entry {event.entry.seq}"))
    yield from (chosen[number] for number in sorted(chosen))


def _is_signed(kept: StoredCheckpoint, keys: Sequence[VerifierKey]) -> bool:
    try:
        note = parse_note(kept.note, where="kept checkpoint")
    # A stored note that cannot be read vouches for nothing; `caveat admin log check` reports it.
    except CaveatError:
        return False
    return any(line.is_valid for line in verify_note(note, keys))


# Import: a bundle is verified as a whole and then recorded as a whole, or not at all.


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult(Record):
    """What an import came to."""

    origin: str
    size: int
    """Entries of the log that are here now."""
    root: str
    new: int
    """Entries that this bundle added; 0: all of it was here, and nothing was recorded."""
    erased: int
    """Entries of the bundle that came without text."""
    contents: int
    """Card texts that came with it."""
    vkey: str
    """The key that its checkpoint is signed with."""
    cosigned: int
    """Signature lines beside it, by keys that are not known here."""
    entry: int | None
    """The entry of this registry's log that says so; None where nothing was recorded."""
    equivocations: int
    """How often this log was found, earlier, to have signed two histories."""


def take_over(
    ledger: Ledger,
    path: Path,
    *,
    actor: str,
    keys: Sequence[VerifierKey] = (),
    example: bool = False,
    progress: Callable[[int], None] = lambda _more: None,
) -> ImportResult:
    """Verify the bundle *path* and record what it adds, in one transaction.

    Args:
        keys: keys to believe; none: those that earlier bundles or checkpoints of the log were verified with.
        example: take statements of EXAMPLE, which are for demonstrations.
        progress: called with how many more entries were read.

    Raises:
        InputError: it is no sound bundle, or not signed by a key that is believed; nothing is recorded.
        AnswerNoError: `equivocation`: its log signed another history before. The evidence is recorded, and nothing else.
        ConflictError: it is this registry's own log, or its statements cannot follow each other.
    """
    # The order matters: completeness first, then the key, then the comparison with what is known,
    # then recording. Nothing is written before all checks passed.
    bundle = read_whole(path, progress=progress)
    if EXAMPLE in bundle.actors and not example:
        problem = f"it has statements of {EXAMPLE}, which are for demonstrations and should never have left their registry"
        advice = "ask for a log without them; to try importing: --example"
        raise InputError(Fault("example-not-exported", str(bundle.path), problem, advice=advice))
    known = find_known(ledger, bundle.header.origin)
    signer = _find_signer(ledger, bundle, known, keys)
    placed = place_bundle(bundle, signer, known)
    if isinstance(placed, Equivocation):
        raise _keep_evidence(ledger, add_doubts(placed, known), actor, bundle)
    entry = _record(ledger, bundle, signer, known, actor=actor) if placed.new else None
    return ImportResult(
        origin=bundle.header.origin,
        size=bundle.header.size,
        root=bundle.checkpoint.checkpoint.root,
        new=placed.new,
        erased=bundle.erased,
        contents=bundle.contents,
        vkey=str(signer),
        cosigned=sum(line.name != signer.name for line in bundle.checkpoint.lines),
        entry=entry,
        equivocations=len(known.equivocations),
    )


def _find_signer(ledger: Ledger, bundle: Bundle, known_log: KnownLog, verifier_keys: Sequence[VerifierKey]) -> VerifierKey:
    # Keys in the header are the sender's own statement and are never trusted.
    believed = tuple(verifier_keys) or known_log.vkeys
    if not believed:
        offered = ", ".join(map(shorten_vkey, bundle.header.vkeys[:4])) or "none"
        problem = f"no key of {bundle.header.origin} is known here; it names itself {offered}, which proves nothing"
        raise InputError(Fault("log-key-missing", str(bundle.path), problem))
    steps, notes = _recall(ledger, bundle, known_log)
    return find_signer(bundle.checkpoint, believed, [*steps, *bundle.steps], [*notes, *bundle.notes])


def _recall(ledger: Ledger, bundle: Bundle, known_log: KnownLog) -> tuple[list[KeyStep], list[SignedNote]]:
    """What is here of the log's keys before the bundle begins."""
    # A complete bundle contains all key events itself.
    if known_log.last is None or not bundle.header.since:
        return [], []
    with ledger.view(min(bundle.header.since, known_log.stretch.size), log=known_log.origin) as view:
        steps = [KeyStep(seq=key_event.entry.seq, at=key_event.entry.at, event=key_event.payload) for key_event in list_key_events(view)]
    return steps, [parse_note(known_log.last.checkpoint, where="checkpoint recorded here")]


def _keep_evidence(ledger: Ledger, equivocation: Equivocation, actor: str, bundle: Bundle) -> AnswerNoError:
    # The evidence is the only thing recorded; the entries of the second history are not.
    with ledger.write(actor=actor) as writer:
        is_new = record_equivocation(writer, equivocation)
    kept = "the evidence is recorded" if is_new else "the evidence was recorded before"
    problem = f"{equivocation.origin} signed two histories: {equivocation.finding}; {kept}, nothing was imported"
    advice = "show both signed notes to the authority and to others who rely on it: caveat admin log show --json"
    return AnswerNoError(Fault("equivocation", str(bundle.path), problem, advice=advice))


def _record(ledger: Ledger, bundle: Bundle, signer: VerifierKey, known_log: KnownLog, *, actor: str) -> int:
    here = known_log.stretch.size
    log_import = LogImport(
        origin=bundle.header.origin,
        size=bundle.header.size,
        root=bundle.checkpoint.checkpoint.root,
        vkey=str(signer),
        checkpoint=bundle.note,
        bundle=bundle.sha256,
    )
    with ledger.write(actor=actor) as writer, open_bundle(bundle.path) as stream:
        contents: list[ContentLine] = []
        # The file is read a second time instead of keeping all entries in memory. Leaves and digest
        # are compared again, because it may have changed in between.
        import_entries(
            writer, log_import.origin, log_import.vkey, _read_entries(read_bundle(stream, where=str(bundle.path)), here, bundle, contents)
        )
        # After the entries: a refused entry then leaves no text behind.
        for content in contents:
            writer.put_content(content.content)
        if digest_file(bundle.path) != bundle.sha256:
            raise InputError(Fault("file-changed", str(bundle.path), "it was changed while it was read"))
        return writer.append(log_import).seq


def _read_entries(lines: Iterator[object], here: int, bundle: Bundle, contents: list[ContentLine]) -> Iterator[ForeignEntry]:
    """Yield the entries that are not here yet; card texts, which follow them, are laid aside."""
    for line in lines:
        if isinstance(line, ContentLine):
            contents.append(line)
        if not isinstance(line, EntryLine) or line.seq <= here:
            continue
        if line.leaf != bundle.stretch.leaves[line.seq - 1 - bundle.header.since].hex():
            raise InputError(Fault("file-changed", str(bundle.path), "it was changed while it was read"))
        yield _to_entry(line)


def _to_entry(line: EntryLine) -> ForeignEntry:
    if line.text is None:
        assert line.kind is not None and line.actor is not None and line.at is not None  # noqa: S101, PT018  (the format asks for them)
        return Entry(seq=line.seq, kind=line.kind, actor=line.actor, at=line.at, leaf=line.leaf), None, line.signature
    statement = json.loads(line.text)  # decoded as a whole when the bundle was checked, and again when its rows are made
    at = from_document(datetime, statement["at"], where=f"entry {line.seq}, at")
    place = Entry(seq=line.seq, kind=statement["kind"], actor=statement["actor"], at=at, leaf=line.leaf)
    return place, line.text.encode(), line.signature
