"""Is the log what it was? Every entry against its leaf, the tree against what is kept of it, and both against every signed checkpoint.

What is altered is named, and since when: checkpoints say what the log was at their time, so the last that still fits and the first that
does not enclose the change. `registry.store.rebuild.verify` goes deeper (every typed row against its statement) and takes longer.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from registry.errors import CaveatError, Fault
from registry.records.log_seal import Checkpoint
from registry.records.record import Record
from registry.seal import merkle_tree as tree
from registry.seal.signed_notes import SignedNote, VerifiedLine, VerifierKey, parse_note, verify_note
from registry.store.contents import find_altered
from registry.store.guards import find_missing
from registry.store.ledger import Ledger
from registry.store.nodes import STEP
from registry.store.reader import Reader
from registry.store.scan import RESTORE, Scan, scan_log, show_time
from registry.store.seal_tables import log_import, node
from registry.store.seals import StoredCheckpoint, list_checkpoints, tell_cut_off
from registry.store.signatures import find_signature_faults
from registry.store.tables import publication
from registry.store.writer import CLOCK_TOLERANCE

MOST_FINDINGS = 1_000
"""So many are told one by one; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCheckpoint(Record):
    """A signed note held against the log."""

    checkpoint: Checkpoint
    at: datetime | None
    """When it was recorded; None of a note that was brought along."""
    fits: bool | None
    """Whether the entries still give its root; None where that cannot be computed, because entries are missing."""
    is_signed: bool | None
    """Whether the log signed it, by one of the keys that were given; None when none was given for this log."""
    lines: tuple[VerifiedLine, ...]
    """Its signatures and cosignatures by keys that were given, each verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReport(Record):
    """What came of checking a log."""

    origin: str
    entries: int
    """Number of the last entry."""
    erased: int
    """Texts that are gone, and an entry says that they were erased."""
    root: str | None
    """Of the tree over all entries, hexadecimal; None when entries are missing."""
    checkpoints: tuple[CheckedCheckpoint, ...]
    """By size; those that were brought along after the one of their size that is kept."""
    last_fitting: CheckedCheckpoint | None
    """The largest checkpoint before the first that does not fit; None when there is none."""
    first_unfitting: CheckedCheckpoint | None
    """The smallest checkpoint that the entries do not give any more; None when all fit."""
    given_out_since: int
    """Files that were given out after the last checkpoint, though giving out seals the log where its key is: a checkpoint may be gone."""
    lacks_nodes: bool
    """Whether no subtree is kept where some could be: nothing rests on them; an alteration is told less closely, proofs are slower."""
    findings: tuple[Fault, ...]
    """Everything that is not as it was written, at most `MOST_FINDINGS`; empty when all is well."""
    unlisted: int
    """Number of findings beyond those."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def check_log(
    ledger: Ledger,
    *,
    vkeys: Collection[VerifierKey] = (),
    progress: Callable[[int], None] = lambda _done: None,
    log: str | None = None,
    notes: Sequence[str] = (),
) -> LogReport:
    """Return what is found in the log: nothing is raised for what is altered.

    Args:
        vkeys: keys whose signatures are verified; without one for this log, whether its checkpoints are signed is left open.
        progress: is told the number of entries done.
        log: origin of another registry's log that was taken over, held against the notes it was taken over by; None: the own log.
        notes: signed notes kept elsewhere, such as at a witness, that the log is held against beside its own.

    Raises:
        InputError: one of *notes* is no signed note.
        NotFoundError: no such log is here.
    """
    brought = [parse_note(text, where=f"note {number}") for number, text in enumerate(notes, 1)]
    if log is not None:
        brought += _list_imported(ledger, log)
    with ledger.view(log=log, is_steady=True) as view:
        check = _Check(view, vkeys, scan_log(view, progress))
        findings = list(check.scan.faults)
        checked = check.checkpoints(list_checkpoints(view, beyond=True), brought)
        findings += check.tree(checked)
        findings += check.missing_nodes()
        findings += check.faults
        findings += find_signature_faults(view)
        findings += view.ask(find_altered) if log is None else ()
        findings += [
            Fault(code="trigger-missing", where=name, found="what guards the table is missing or reads otherwise", advice="caveat db check")
            for name in view.ask(find_missing)
        ]
        sealed = max((one.checkpoint.size for one in checked), default=0)
        since = view.one_value(select(func.count()).where(view.visible(publication), publication.c.seq > sealed)) if log is None else 0
        if since and view.log_vkey is not None:
            findings.append(_missing_checkpoint(int(since), sealed))
    first = next((one for one in checked if one.fits is not True), None)
    fitting = [one for one in checked if one.fits and (first is None or one.checkpoint.size < first.checkpoint.size)]
    return LogReport(
        origin=check.origin,
        entries=check.scan.entries,
        erased=check.scan.erased,
        root=check.find_root(check.scan.entries),
        checkpoints=tuple(checked),
        last_fitting=fitting[-1] if fitting and first else None,
        first_unfitting=first,
        given_out_since=int(since),
        lacks_nodes=check.lacks_nodes(),
        findings=tuple(findings[:MOST_FINDINGS]),
        unlisted=max(0, len(findings) - MOST_FINDINGS),
    )


def tell_given_out(report: LogReport) -> str:
    """Say that files were given out and no checkpoint of that time is kept."""
    return _describe_unsealed(report.given_out_since, max((one.checkpoint.size for one in report.checkpoints), default=0))


def _describe_unsealed(count: int, sealed: int) -> str:
    """Say that *count* files were given out after the checkpoint of *sealed* entries; 0 where none is kept."""
    files = "1 file was" if count == 1 else f"{count:,} files were"
    kept = f"the last checkpoint is of {sealed} entries" if sealed else "no checkpoint is kept"
    since = " since" if sealed else ""
    return f"{kept}, although {files} given out{since}, which seals the log where its key is; ask for one kept elsewhere"


def _missing_checkpoint(count: int, sealed: int) -> Fault:
    """A log with a key is sealed whenever files are published: who deletes the checkpoint could change the entries behind it."""
    advice = (
        "hold the log against a checkpoint kept elsewhere; if its key was not at hand when the files were published: caveat log checkpoint"
    )
    return Fault(code="checkpoint-missing", where="checkpoints", found=_describe_unsealed(count, sealed), advice=advice)


class _Check:
    """One log: its leaves, the tree made of them, and what was found on the way."""

    def __init__(self, reader: Reader, vkeys: Collection[VerifierKey], scan: Scan) -> None:
        self._reader = reader
        self._vkeys = vkeys
        self.origin = reader.log_origin
        self.scan = scan
        self.faults: list[Fault] = []
        self._levels = tree.list_levels(scan.leaves)
        self._nodes = self._read_nodes()

    def find_root(self, size: int) -> str | None:
        """Return the root of the first *size* entries; None when one of them is missing."""
        if size > len(self.scan.leaves):
            return None
        return tree.root_at(size, lambda level, index: self._levels[level][index]).hex()

    def checkpoints(self, kept: Sequence[StoredCheckpoint], brought: Sequence[SignedNote]) -> list[CheckedCheckpoint]:
        """Return every checkpoint held against the log, by size; what is wrong with its note is kept in `faults`."""
        checked = []
        for one in kept:
            where = f"checkpoint at {one.checkpoint.size}"
            try:
                note = parse_note(one.note, where=where)
            except CaveatError as error:
                self._note("checkpoint-altered", where, error.faults[0].found)
                continue
            if note.checkpoint != one.checkpoint:
                self._note("checkpoint-altered", where, _tell_difference(note.checkpoint, one.checkpoint))
            checked.append(self._hold(note, one.at))
        for note in brought:
            if note.checkpoint.origin == self.origin:
                checked.append(self._hold(note, None))
            else:
                self._note("other-log", f"note of {note.checkpoint.origin}", f"this log is {self.origin}")
        return sorted(checked, key=lambda one: one.checkpoint.size)

    def _hold(self, note: SignedNote, at: datetime | None) -> CheckedCheckpoint:
        said = note.checkpoint
        where = f"checkpoint at {said.size}" if at else f"note of {said.origin} at {said.size}"
        lines = verify_note(note, self._vkeys)
        own = [key for key in self._vkeys if key.name == self.origin]
        signed = any(line.is_valid and line.name == self.origin for line in lines) if own else None
        for line in lines:
            if not line.is_valid:
                self._note("checkpoint-altered", where, f"the signature of {line.name} does not verify")
        if signed is False:
            self._note("checkpoint-unsigned", where, f"no key of {self.origin} that is trusted signed it")
        fits: bool | None = self.find_root(said.size) == said.root
        if len(self.scan.leaves) < said.size <= self.scan.entries:
            fits = None
        self.faults += self._compare_times(said.size, lines, where)
        return CheckedCheckpoint(checkpoint=said, at=at, fits=fits, is_signed=signed, lines=lines)

    def _compare_times(self, size: int, lines: Sequence[VerifiedLine], where: str) -> Iterator[Fault]:
        """Nobody can have cosigned an entry before it was written: if it says so, the clock was ahead.

        The contrary is no evidence: entries written after a checkpoint may well be older than its cosignature.
        """
        for line in lines:
            if not line.is_valid or line.at is None or line.name == self.origin:
                continue
            times = self.scan.times[:size]
            first = bisect_right(times, (line.at + CLOCK_TOLERANCE).timestamp()) + 1
            if first <= len(times):
                which = f"entry {first}" if first == len(times) else f"entries {first} to {len(times)}"
                at = show_time(times[first - 1])
                found = f"{line.name} cosigned at {line.at.isoformat()} what is dated {at} and later: the clock was ahead ({where})"
                advice = "read these times as not before their neighbours, and no more"
                yield Fault(code="clock-jumped", where=which, found=found, advice=advice)

    def tree(self, checked: Sequence[CheckedCheckpoint]) -> Iterator[Fault]:
        """Yield what the checkpoints and the kept subtrees say of entries whose leaves agree with their texts."""
        first = next((one for one in checked if not one.fits), None)
        odd = list(self._odd_nodes(sealed=max((one.checkpoint.size for one in checked if one.fits), default=0)))
        spans = [f"{start} to {stop}" for start, stop, _, is_row in odd if not is_row]
        if first is not None:
            yield self._since(first, checked, spans)
        elif spans:
            found = "each leaf is the hash of its text, but they are not what was kept when they were written"
            yield from (Fault(code="entry-altered", where=f"entries {span}", found=found, advice=RESTORE) for span in spans)
        for start, stop, level, _ in (one for one in odd if one[3]):
            found = f"the subtree of level {level} over entries {start} to {stop} is not what their leaves give"
            yield Fault(code="node-altered", where="node", found=found, advice="caveat rebuild makes it anew")

    def _since(self, first: CheckedCheckpoint, checked: Sequence[CheckedCheckpoint], spans: Sequence[str]) -> Fault:
        """Say what is enclosed by the last checkpoint that fits and the first that does not, and since when."""
        size = first.checkpoint.size
        before = [one for one in checked if one.fits and one.checkpoint.size < size]
        start = before[-1].checkpoint.size + 1 if before else 1
        later = [one for one in checked if one.checkpoint.size > size]
        wrong = [first, *(one for one in later if not one.fits)]
        since = _say_time(wrong[-1])
        until = next((_say_time(one) for one in later if one.fits and one.checkpoint.size > wrong[-1].checkpoint.size), None)
        if first.fits is None:
            found = f"entry {len(self.scan.leaves) + 1} is missing, and was there"
        elif size > self.scan.entries:
            found = tell_cut_off(size, self.scan.entries)
        else:
            named = f"; among entries {', '.join(spans)} by what is kept of the tree" if spans else ""
            found = f"an entry among {start} to {size} is not the one that was sealed{named}"
        fitting = f"the checkpoint of {start - 1} entries still fits" if before else "no smaller checkpoint fits"
        when = f"changed after {since}" + (f", before {until}" if until else "")
        found += f"; {fitting}, the one of {size} does not ({when})"
        return Fault(code="root-differs", where=f"checkpoint at {size}", found=found, advice=RESTORE)

    def missing_nodes(self) -> Iterator[Fault]:
        """Yield what is missing where some subtrees are kept; a registry that was upgraded and not written since keeps none at all."""
        missing = sorted(self._find_expected() - self._nodes.keys())
        if missing and self._nodes:
            level, index = missing[0]
            which = f"level {level} over entries {(index << level) + 1} to {(index + 1) << level}"
            found = f"{len(missing)} of the subtrees that are kept {'is' if len(missing) == 1 else 'are'} missing, the first of {which}"
            yield Fault(code="node-missing", where="node", found=found, advice="nothing rests on them; caveat rebuild makes them anew")

    def lacks_nodes(self) -> bool:
        """Whether no subtree is kept, and there are entries enough for one."""
        return not self._nodes and bool(self._find_expected())

    def _find_expected(self) -> set[tuple[int, int]]:
        return {(level, index) for level in range(STEP, len(self._levels), STEP) for index in range(len(self._levels[level]))}

    def _odd_nodes(self, *, sealed: int) -> Iterator[tuple[int, int, int, bool]]:
        """Yield first and last entry and level of kept subtrees that differ from what the leaves give, and whether the row was altered.

        Where the next larger one fits, or the checkpoint of the first *sealed* entries, the leaves are as they were, and it was the row;
        otherwise a leaf was. Of subtrees inside each other the smallest is told.
        """
        kept = self._nodes
        odd = {place for place in kept if kept[place] != self._compute(place) and self._can_compute(place)}
        for level, index in sorted(odd):
            parent = (level + STEP, index >> STEP)
            is_row = (index + 1) << level <= sealed or (parent in kept and parent not in odd)
            inside = any(one[0] == level - STEP and one[1] >> STEP == index for one in odd)
            if is_row or not inside:
                yield (index << level) + 1, (index + 1) << level, level, is_row

    def _read_nodes(self) -> dict[tuple[int, int], bytes]:
        rows = self._reader.plain_rows(select(node.c.seq, node.c.level, node.c.hash).where(self._reader.visible(node)))
        return {(level, (seq >> level) - 1): bytes(found) for seq, level, found in rows}

    def _can_compute(self, place: tuple[int, int]) -> bool:
        """Whether its entries are all there, or could never have been."""
        level, index = place
        stop = (index + 1) << level
        return stop <= len(self.scan.leaves) or stop > self.scan.entries

    def _compute(self, place: tuple[int, int]) -> bytes | None:
        level, index = place
        if level >= len(self._levels) or not 0 <= index < len(self._levels[level]):
            return None
        return self._levels[level][index]

    def _note(self, code: str, where: str, found: str) -> None:
        self.faults.append(Fault(code=code, where=where, found=found, advice=RESTORE))


def _list_imported(ledger: Ledger, origin: str) -> list[SignedNote]:
    with ledger.view() as view:
        said = view.recorded_by(select(log_import.c.seq).where(view.visible(log_import), log_import.c.origin == origin))
    return [parse_note(one.payload.checkpoint, where=f"entry {one.entry.seq}, checkpoint") for one in said]


def _tell_difference(sealed: Checkpoint, row: Checkpoint) -> str:
    """In what a note and the row it stands in differ: the log's own name too, which a database may give it anew."""
    pairs = [
        (f"the log {sealed.origin}", f"the log is called {row.origin} here"),
        (f"{sealed.size} entries", f"its row of {row.size}"),
        (f"root {sealed.root}", f"its row of root {row.root}"),
    ]
    differ = (sealed.origin != row.origin, sealed.size != row.size, sealed.root != row.root)
    return "; ".join(f"its note is of {there}, {here}" for (there, here), is_other in zip(pairs, differ, strict=True) if is_other)


def _say_time(one: CheckedCheckpoint) -> str:
    times = [line.at for line in one.lines if line.is_valid and line.at is not None]
    if times:
        return f"{max(times).isoformat()}, when it was cosigned"
    return "an unknown time" if one.at is None else one.at.isoformat()
