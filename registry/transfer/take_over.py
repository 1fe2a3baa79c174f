"""Another registry's log taken over from a bundle: verified as a whole, then recorded as a whole, or not at all."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from registry.codec.documents import from_document
from registry.config import EXAMPLE
from registry.errors import AnswerNoError, Fault, InputError
from registry.records.log_seal import Equivocation, LogImport
from registry.records.record import Record
from registry.records.statement import Entry, StatementKind
from registry.seal.note import SignedNote, VerifierKey, parse_note
from registry.store.foreign import ForeignEntry, import_entries
from registry.store.key_events import list_key_events
from registry.store.ledger import Ledger
from registry.transfer.bundle import ContentLine, EntryLine
from registry.transfer.check import Bundle, open_bundle, read_whole
from registry.transfer.equivocation import record_equivocation
from registry.transfer.history import Known, add_doubts, find_known, place_bundle
from registry.transfer.lines import digest_file
from registry.transfer.read import read_bundle
from registry.transfer.trust import KeyStep, find_signer, shorten_vkey

_EVERY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver(Record):
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
    given: Sequence[VerifierKey] = (),
    example: bool = False,
    progress: Callable[[int], None] = lambda _more: None,
) -> TakenOver:
    """Verify the bundle *path* and record what it adds, in one transaction.

    Args:
        given: keys to believe; none: those that earlier bundles or checkpoints of the log were verified with.
        example: take statements of EXAMPLE, which are for demonstrations.
        progress: is told how many more entries were read.

    Raises:
        InputError: it is no sound bundle, or not signed by a key that is believed; nothing is recorded.
        AnswerNoError: `equivocation`: its log signed another history before. The evidence is recorded, and nothing else.
        ConflictError: it is this registry's own log, or its statements cannot follow each other.
    """
    bundle = read_whole(path, progress=progress)
    _refuse_example(bundle, example=example)
    known = find_known(ledger, bundle.header.origin)
    signer = _find_signer(ledger, bundle, known, given)
    placed = place_bundle(bundle, signer, known)
    if isinstance(placed, Equivocation):
        raise _keep_evidence(ledger, add_doubts(placed, known), actor, bundle)
    entry = _record(ledger, bundle, signer, known, actor=actor) if placed.new else None
    return TakenOver(
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


def _refuse_example(bundle: Bundle, *, example: bool) -> None:
    if EXAMPLE in bundle.actors and not example:
        found = f"it has statements of {EXAMPLE}, which are for demonstrations and should never have left their registry"
        advice = "ask for a log without them; to try importing: --example"
        raise InputError(Fault(code="example-stays", where=str(bundle.path), found=found, advice=advice))


def _find_signer(ledger: Ledger, bundle: Bundle, known: Known, given: Sequence[VerifierKey]) -> VerifierKey:
    believed = tuple(given) or known.vkeys
    if not believed:
        offered = ", ".join(map(shorten_vkey, bundle.header.vkeys[:4])) or "none"
        found = f"no key of {bundle.header.origin} is known here; it names itself {offered}, which anybody could write"
        advice = "get its verifier key from its authority some other way, and give it with --vkey or --key"
        raise InputError(Fault(code="key-needed", where=str(bundle.path), found=found, advice=advice))
    steps, notes = _recall(ledger, bundle, known)
    return find_signer(bundle.checkpoint, believed, [*steps, *bundle.steps], [*notes, *bundle.notes])


def _recall(ledger: Ledger, bundle: Bundle, known: Known) -> tuple[list[KeyStep], list[SignedNote]]:
    """What is here of the log's keys before the bundle begins."""
    if known.last is None or not bundle.header.since:
        return [], []
    with ledger.view(min(bundle.header.since, known.stretch.size), log=known.origin) as view:
        steps = [KeyStep(seq=one.entry.seq, at=one.entry.at, event=one.payload) for one in list_key_events(view)]
    return steps, [parse_note(known.last.checkpoint, where="checkpoint recorded here")]


def _keep_evidence(ledger: Ledger, said: Equivocation, actor: str, bundle: Bundle) -> AnswerNoError:
    with ledger.write(actor=actor) as writer:
        is_new = record_equivocation(writer, said)
    kept = "the evidence is recorded" if is_new else "the evidence was recorded before"
    found = f"{said.origin} signed two histories: {said.finding}; {kept}, nothing was imported"
    advice = "show both signed notes to the authority and to others who rely on it: caveat log show --json"
    return AnswerNoError(Fault(code="equivocation", where=str(bundle.path), found=found, advice=advice))


def _record(ledger: Ledger, bundle: Bundle, signer: VerifierKey, known: Known, *, actor: str) -> int:
    here = known.stretch.size
    said = LogImport(
        origin=bundle.header.origin,
        size=bundle.header.size,
        root=bundle.checkpoint.checkpoint.root,
        vkey=str(signer),
        checkpoint=bundle.note,
        bundle=bundle.sha256,
    )
    with ledger.write(actor=actor) as writer, open_bundle(bundle.path) as stream:
        contents: list[ContentLine] = []
        import_entries(writer, said.origin, said.vkey, _read_entries(read_bundle(stream, where=str(bundle.path)), here, bundle, contents))
        for one in contents:
            writer.put_content(one.content)
        if digest_file(bundle.path) != bundle.sha256:
            found = "it was changed while it was read"
            raise InputError(Fault(code="file-changed", where=str(bundle.path), found=found, advice="import a copy that nobody writes to"))
        return writer.append(said).seq


def _read_entries(lines: Iterator[object], here: int, bundle: Bundle, contents: list[ContentLine]) -> Iterator[ForeignEntry]:
    """Yield the entries that are not here yet; card texts, which follow them, are laid aside."""
    for line in lines:
        if isinstance(line, ContentLine):
            contents.append(line)
        if not isinstance(line, EntryLine) or line.seq <= here:
            continue
        if line.leaf != bundle.stretch.leaves[line.seq - 1 - bundle.header.since].hex():
            found = "it was changed while it was read"
            raise InputError(Fault(code="file-changed", where=str(bundle.path), found=found, advice="import a copy that nobody writes to"))
        yield _to_entry(line)


def _to_entry(line: EntryLine) -> ForeignEntry:
    if line.text is None:
        assert line.kind is not None and line.actor is not None and line.at is not None  # noqa: S101, PT018  (the format asks for them)
        return Entry(seq=line.seq, kind=line.kind, actor=line.actor, at=line.at, leaf=line.leaf), None, line.signature
    said = json.loads(line.text)  # decoded as a whole when the bundle was checked, and again when its rows are made
    at = from_document(datetime, said["at"], where=f"entry {line.seq}, at")
    place = Entry(seq=line.seq, kind=StatementKind(said["kind"]), actor=said["actor"], at=at, leaf=line.leaf)
    return place, line.text.encode(), line.signature
