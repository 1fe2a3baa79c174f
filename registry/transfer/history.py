"""What a bundle is to what is known here of its log: new entries, nothing new, less than is known, or another history."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.errors import AlteredError, ConflictError, Fault, InputError
from registry.records.log_seal import Equivocation, KeyEventKind, LogImport, Witnessing
from registry.records.record import Record
from registry.seal.keys import fingerprint_of_vkey
from registry.seal.note import VerifierKey, parse_note, parse_vkey, verify_note
from registry.store.key_events import list_key_events
from registry.store.ledger import Ledger
from registry.store.seen import list_equivocations, list_imports, list_witnessings
from registry.store.view import View
from registry.transfer.check import Bundle
from registry.transfer.equivocation import Side, build_equivocation, build_proof
from registry.transfer.stretch import Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What this registry has of another log."""

    origin: str
    last: LogImport | None
    """The last take-over; None where there was none."""
    stretch: Stretch
    """The tree over its entries that are here."""
    witnessings: tuple[Witnessing, ...]
    equivocations: tuple[Equivocation, ...]
    """Evidence against it."""
    ended: Mapping[str, str]
    """Keys that its entries here revoke or replace: fingerprint to what was done to it, in words."""

    @property
    def vkeys(self) -> tuple[VerifierKey, ...]:
        """Keys of the log that were believed here before."""
        said = [one.vkey for one in (self.last, *self.witnessings[-1:]) if one is not None]
        return tuple(parse_vkey(vkey, where=f"log {self.origin}") for vkey in dict.fromkeys(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Record):
    """Where a bundle goes on."""

    known: int
    """Entries of its log that are here."""
    new: int
    """Entries that it adds; 0: everything in it is here."""


def find_known(ledger: Ledger, origin: str) -> Known:
    """Return what is recorded here of the log *origin*.

    Raises:
        AlteredError: the entries here do not give the root that was verified when they were taken over.
        ConflictError: it is this registry's own log.
    """
    with ledger.view() as view:
        if view.log_origin == origin:
            advice = "import another registry's bundle; to bring this one back: caveat restore"
            raise ConflictError(Fault(code="own-log", where=origin, found="it is this registry's own log", advice=advice))
        imports = list_imports(view, origin)
        witnessings = tuple(one.payload for one in list_witnessings(view, origin))
        equivocations = tuple(one.payload for one in list_equivocations(view, origin))
    last = imports[-1].payload if imports else None
    leaves: list[bytes] = []
    ended: dict[str, str] = {}
    if last is not None:
        with ledger.view(log=origin) as foreign:
            leaves = list(foreign.leaves())
            ended = dict(_list_ended(foreign))
    stretch = Stretch(0, (), leaves)
    if last is not None and (stretch.size != last.size or stretch.root_at(last.size).hex() != last.root):
        found = f"{stretch.size} of its entries are here and do not give the root of the {last.size} that were taken over"
        advice = "caveat log check names them; restore the registry from a backup"
        raise AlteredError(Fault(code="entry-altered", where=f"log {origin}", found=found, advice=advice))
    return Known(origin=origin, last=last, stretch=stretch, witnessings=witnessings, equivocations=equivocations, ended=ended)


def add_doubts(said: Equivocation, known: Known) -> Equivocation:
    """Return *said* with what speaks for a thief: the key of the second note was revoked or replaced in the history that is here."""
    ended = known.ended.get(fingerprint_of_vkey(said.vkey))
    if ended is None:
        return said
    doubt = f"; in the history here {ended}: whoever had that key may have signed this, its authority or not"
    return replace(said, finding=said.finding + doubt)


def place_bundle(bundle: Bundle, signer: VerifierKey, known: Known) -> Place | Equivocation:
    """Return what *bundle*, signed by *signer*, adds to what is *known*, or the evidence that its log has two histories.

    Raises:
        InputError: `bundle-apart`, entries between are missing; `bundle-older`, more is known already.
    """
    here, size = known.stretch.size, bundle.header.size
    if bundle.header.since > here:
        found = f"it begins after entry {bundle.header.since}; {here} entries of this log are here"
        raise _fault("bundle-apart", bundle, found, f"ask for: caveat export{f' --since {here}' if here else ''}")
    for finding in (_compare_import(bundle, signer, known), _compare_witnessings(bundle, signer, known)):
        if finding is not None:
            return finding
    seen = max([here, *(one.size for one in known.witnessings)])
    if size < seen:
        found = f"it has {size} entries, and {seen} were seen here before: nothing in it is new, and it may be given out to hide the rest"
        raise _fault("bundle-older", bundle, found, "ask for the log as it is now")
    return Place(known=here, new=size - here)


def _compare_import(bundle: Bundle, signer: VerifierKey, known: Known) -> Equivocation | None:
    if known.last is None:
        return None
    since = bundle.header.since
    common = min(known.stretch.size, bundle.header.size)
    if since and known.stretch.root_at(since) != bundle.stretch.root_at(since):
        common, finding = since, f"its first {since} entries are others than those taken over here before"
    else:
        seq = _find_other(bundle.stretch.leaves[: common - since], known.stretch.leaves[since:common], since)
        if seq is None:
            return None
        here, there = known.stretch.leaves[seq - 1].hex(), bundle.stretch.leaves[seq - 1 - since].hex()
        finding = f"entry {seq} has the leaf {here} in the history taken over before, and {there} in this one"
    return _build(bundle, signer, known, first=known.last.checkpoint, size=common, finding=finding)


def _compare_witnessings(bundle: Bundle, signer: VerifierKey, known: Known) -> Equivocation | None:
    """A cosigned checkpoint holds its log to a history, also where no entry was taken over."""
    for one in known.witnessings:
        if not bundle.header.since <= one.size <= bundle.header.size or bundle.stretch.root_at(one.size).hex() == one.root:
            continue
        finding = f"its first {one.size} entries have the root {bundle.stretch.root_at(one.size).hex()}, cosigned here was {one.root}"
        return _build(bundle, signer, known, first=one.note, size=one.size, finding=finding)
    return None


def _build(bundle: Bundle, signer: VerifierKey, known: Known, *, first: str, size: int, finding: str) -> Equivocation:
    """Evidence out of the first note, whose log has *size* entries in common with the bundle's, but not what they are."""
    said = parse_note(first, where="checkpoint recorded here").checkpoint
    vkey = _find_key(first, known)
    if said.size == size:
        one = Side(vkey=vkey, root=said.root, path=())
    else:
        path = known.stretch.consistency_path(size, said.size)
        one = Side(vkey=vkey, root=known.stretch.root_at(size).hex(), path=tuple(step.hex() for step in path))
    path = bundle.stretch.consistency_path(size, bundle.header.size)
    two = Side(vkey=str(signer), root=bundle.stretch.root_at(size).hex(), path=tuple(step.hex() for step in path))
    proof = None if said.size == bundle.header.size and vkey == str(signer) else build_proof(size, one, two)
    return build_equivocation((first, bundle.note), proof, vkey=str(signer), finding=finding)


def _list_ended(view: View) -> Iterator[tuple[str, str]]:
    for one in list_key_events(view):
        if one.payload.replaces is not None:
            yield one.payload.replaces, f"entry {one.entry.seq} put another key in the place of the one that signs it"
        if one.payload.event is KeyEventKind.REVOKE:
            yield one.payload.key, f"entry {one.entry.seq} revokes the key that signs it"


def _find_key(note: str, known: Known) -> str:
    """The key that a note recorded here was verified with."""
    said = [one.vkey for one in (known.last, *known.witnessings) if one is not None]
    for vkey in dict.fromkeys(said):
        lines = verify_note(parse_note(note, where="checkpoint recorded here"), [parse_vkey(vkey, where="recorded here")])
        if any(line.is_valid for line in lines):
            return vkey
    found = "the checkpoint recorded here is not signed any more"
    raise AlteredError(Fault(code="entry-altered", where=f"log {known.origin}", found=found))


def _find_other(there: Sequence[bytes], here: Sequence[bytes], since: int) -> int | None:
    """The first entry whose leaves differ; None where none does."""
    return next((seq for seq, (one, other) in enumerate(zip(there, here, strict=True), since + 1) if one != other), None)


def _fault(code: str, bundle: Bundle, found: str, advice: str) -> InputError:
    return InputError(Fault(code=code, where=str(bundle.path), found=found, advice=advice))
