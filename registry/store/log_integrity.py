"""The check of a log: entries against leaves, the tree against checkpoints, and rows against statements."""

import hashlib
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import LargeBinary, cast, func, select

from registry.codec.statement_encoding import LONGEST_ENTRY, decode_statement, leaf_hash
from registry.errors import AlteredError, CaveatError, Fault
from registry.records.dossier import Recorded
from registry.records.log_seal import Checkpoint, Erasure
from registry.records.record import IDENTIFIER, Kind, Record
from registry.records.specification import SpecVersion
from registry.seal import merkle_tree as tree
from registry.seal.signed_notes import SignedNote, VerifiedLine, VerifierKey, parse_note, verify_note
from registry.store.database_tables import TYPED, body, entry, find_missing, identifier, node
from registry.store.kinds.log_kinds import log_import, publication
from registry.store.ledger import Ledger
from registry.store.log_reader import CHUNK, STEP, LogReader, find_altered, find_signature_faults, from_seconds, to_seconds
from registry.store.log_seals import StoredCheckpoint, describe_truncated, list_checkpoints
from registry.store.log_writer import CLOCK_TOLERANCE
from registry.store.statement_kind import KINDS, EntryPlace, build_rows, kind_of

# One fast pass over all entries. It checks that each is in its place, that its leaf is the hash of
# its text, and that the text agrees with the columns of its entry.
#
# Canonical JSON sorts its keys, so actor, at and kind are the first bytes of every text. They are
# compared as bytes without decoding. Only texts that disagree are decoded, to name the difference.

_STEP = 5_000

Row = tuple[int, str, str, int, bytes]
"""Number, kind, actor, time in seconds and leaf of an entry."""
Texts = dict[int, bytes]
"""By the number of the entry."""


class LogScan(NamedTuple):
    """What was found in one pass over the entries."""

    leaves: list[bytes]
    """Of the entries up to the first that is missing."""
    times: list[int]
    """Of the same entries, in seconds."""
    entries: int
    """Number of the last entry."""
    erased: int
    """Texts that are gone, and an entry says that they were erased."""
    faults: list[Fault]
    """What is wrong, in the order of the log."""


def scan_log(reader: LogReader, progress: Callable[[int], None]) -> LogScan:
    """Return what is found in the entries that *reader* sees; *progress* receives the number of entries done."""
    return _Scanner(reader).run(progress)


class _Scanner:
    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._faults: list[tuple[int, Fault]] = []
        self._leaves: list[bytes] = []
        self._times: list[int] = []
        self._last = (0, -(2**63))
        self._heads: dict[tuple[str, str, int], bytes] = {}
        self._without_text: list[int] = []
        self._erasures: dict[int, int] = {}

    def run(self, progress: Callable[[int], None]) -> LogScan:
        # The main pass starts at entry 1, so numbers below 1 need a query of their own.
        for (seq,) in self._reader.plain_rows(select(entry.c.seq).where(self._reader.visible(entry), entry.c.seq < 1)):
            self._note(seq, "entries are numbered from 1")
        orphans: list[int] = []
        for rows, texts in self._read():
            for row, text in self._pick_odd(rows, texts):
                self._look_closer(row, text)
            orphans += texts.keys() - {row[0] for row in rows}
            self._place(rows)
            progress(rows[-1][0])
        erased = self._judge_missing_texts()
        self._faults += (
            (seq, _fault("entry-altered", seq, "a text is kept of an entry that is not in the log"))
            for seq in (*orphans, *self._list_outside())
        )
        # Faults come from several passes. Readers expect them in the order of the log.
        self._faults.sort(key=lambda fault: fault[0])
        return LogScan(self._leaves, self._times, self._last[0], erased, [fault for _, fault in self._faults])

    def _read(self) -> Iterator[tuple[list[Row], Texts]]:
        # Two scans instead of a join: a join looks for the text of each entry anew, and shows no text
        # that has no entry. Bytes, not text: the driver would decode each document to a string, which
        # is then encoded again for hashing.
        text = cast(body.c.json, LargeBinary) if self._reader.engine == "sqlite" else func.convert_to(body.c.json, "UTF8")
        texts = select(body.c.seq, text).where(body.c.log == self._reader.log_id)
        entries = select(entry.c.seq, entry.c.kind, entry.c.actor, entry.c.at, entry.c.leaf).where(self._reader.visible(entry))
        # Paging by the last number seen, not by OFFSET, whose cost grows with the position.
        after = 0
        while rows := self._reader.plain_rows(entries.where(entry.c.seq > after).order_by(entry.c.seq).limit(_STEP)):
            last = rows[-1][0]
            # The last entry is the only upper bound: with a second one SQLite reads on to the end of the log.
            yield rows, dict(self._reader.plain_rows(texts.where(body.c.seq > after, body.c.seq <= last)))
            after = last

    def _pick_odd(self, rows: list[Row], texts: Texts) -> list[tuple[Row, bytes | None]]:
        """Return the rows and texts that must be looked at more closely; wrong only on the side of looking. Written for speed."""
        odd = []
        # Local names, because this loop runs once per entry. The prefix 0x00 marks a leaf (RFC
        # 6962, section 2.1).
        heads, sha256, erasure = self._heads, hashlib.sha256, Erasure.KIND
        for row in rows:
            seq, kind, actor, at, leaf = row
            text = texts.get(seq)
            # Of a long text the log does not hash the text itself.
            if text is not None and len(text) <= LONGEST_ENTRY and sha256(b"\x00" + text).digest() == leaf and kind != erasure:
                head = heads.get((kind, actor, at))
                if head is None:
                    head = self._remember_head(kind, actor, at)
                if head and text.startswith(head):
                    continue
            odd.append((row, text))
        return odd

    def _remember_head(self, kind: str, actor: str, at: int) -> bytes:
        # A log in which every entry has another second would otherwise keep one head per entry.
        if len(self._heads) > _STEP:
            self._heads.clear()
        head = self._heads[kind, actor, at] = _head_of(kind, actor, at)
        return head

    def _look_closer(self, row: Row, text: bytes | None) -> None:
        seq, kind, actor, at, leaf = row
        if text is None:
            self._without_text.append(seq)
            return
        hashed = leaf_hash(text)
        # The first disagreement decides. If the hash is wrong, comparing the fields of the text
        # adds nothing.
        if hashed != leaf.hex():
            self._note(seq, f"its leaf is {leaf.hex()}, the hash of its text {hashed}")
            return
        try:
            statement = decode_statement(text, where=f"entry {seq}")
        except CaveatError as error:
            self._note(seq, f"its text is no statement: {error.faults[0].found}")
            return
        written = (("kind", statement.kind, kind), ("actor", statement.actor, actor), ("time", statement.at.isoformat(), format_time(at)))
        for name, in_text, in_entry in written:
            if in_text != in_entry:
                self._note(seq, f"its {name} is {in_entry} in the entry and {in_text} in its text")
        if isinstance(statement.payload, Erasure):
            self._erasures[statement.payload.erased] = seq

    def _place(self, rows: list[Row]) -> None:
        """See that the entries follow each other, and keep their leaves as long as none is missing."""
        numbers = [self._last[0], *(row[0] for row in rows)]
        times = [self._last[1], *(row[3] for row in rows)]
        # Two comparisons replace a loop in the normal case: first and last number fit, and as many
        # rows lie between them.
        if rows[0][0] != self._last[0] + 1 or rows[-1][0] - rows[0][0] != len(rows) - 1:
            for before, seq in pairwise(numbers):
                self._check_number(before, seq)
        if times != sorted(times):
            for seq, (before, at) in zip(numbers[1:], pairwise(times), strict=True):
                if at < before:
                    self._note(seq, f"its time is {format_time(at)}, that of the entry before it {format_time(before)}")
        whole = [row for number, row in enumerate(rows, start=len(self._leaves) + 1) if row[0] == number]
        # After a missing entry no root can be computed, so leaves are collected only up to the
        # first gap.
        if len(self._leaves) == self._last[0]:
            self._leaves += [bytes(row[4]) for row in whole]
            self._times += [row[3] for row in whole]
        self._last = (rows[-1][0], rows[-1][3])

    def _check_number(self, before: int, seq: int) -> None:
        if seq > before + 1:
            which = "it is" if seq == before + 2 else f"entries {before + 1} to {seq - 1} are"
            self._note(before + 1, f"{which} missing")

    def _judge_missing_texts(self) -> int:
        # Texts and erasures are compared in both directions, after the pass, because an erasure
        # comes later than its entry.
        gone = set(self._without_text)
        for seq in sorted(gone - self._erasures.keys()):
            self._faults.append((seq, _fault("text-missing", seq, "its text is gone, and no entry says that it was erased")))
        for seq in sorted(self._erasures.keys() - gone):
            by = self._erasures[seq]
            self._faults.append((by, _fault("text-present", seq, f"entry {by} says that its text was erased, and it is there")))
        return len(gone & self._erasures.keys())

    def _list_outside(self) -> list[int]:
        """Return the numbers of texts before the first entry and after the last, which have no entry."""
        there = select(entry.c.seq).where(entry.c.log == body.c.log, entry.c.seq == body.c.seq).exists()
        outside = select(body.c.seq).where(self._reader.visible(body), ~there)
        ranges = (body.c.seq < 1, body.c.seq > self._last[0])
        return [row[0] for within in ranges for row in self._reader.plain_rows(outside.where(within))]

    def _note(self, seq: int, text: str) -> None:
        self._faults.append((seq, _fault("entry-altered", seq, text)))


def _head_of(kind: str, actor: str, at: int) -> bytes:
    """How the canonical text of such a statement begins; empty where there can be none."""
    try:
        moment = from_seconds(at).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError, TypeError):
        return b""
    return f'{{"actor":{json.dumps(actor, ensure_ascii=False)},"at":"{moment}","kind":"{kind}","payload":'.encode()


def format_time(at: int) -> str:
    """Return the instant, or the bare number where there is no such time."""
    try:
        return from_seconds(at).isoformat()
    except (ValueError, OverflowError, OSError):
        return f"{at} seconds"


_RESTORE = "sign and publish nothing; restore the registry from a backup"
"""The usual advice for an altered log begins with the check that found it here."""


def _fault(code: str, seq: int, text: str) -> Fault:
    return Fault(code, f"entry {seq}", text, advice=_RESTORE if code == "entry-altered" else None)


# Check of a log: each entry against its leaf, the tree against the stored subtrees, and both
# against every signed checkpoint.
#
# Decision of 2026-11-22: checkpoints bracket an alteration. The last one that still matches and the
# first one that does not give the two times, and stored subtrees narrow the entries in between. The
# cost: an entry that was edited without its leaf is named, but not dated.
#
# `registry.store.registry_rebuild.verify` also compares every typed row with its statement and
# takes longer.

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
    """Files that were published after the last checkpoint, though giving out seals the log where its key is: a checkpoint may be gone."""
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
        vkeys: keys that verify signatures; without one for this log, whether its checkpoints are signed is left open.
        progress: called with the number of entries done.
        log: origin of another registry's log that was taken over, held against the notes it was taken over by; None: the own log.
        notes: signed notes kept elsewhere, such as at a witness, that the log is held against next to its own.

    Raises:
        InputError: one of *notes* is no signed note.
        NotFoundError: no such log is here.
    """
    brought = [parse_note(text, where=f"note {number}") for number, text in enumerate(notes, 1)]
    if log is not None:
        brought += _list_imported(ledger, log)
    # A steady view: an erasure by another process during the check would look like a missing text.
    with ledger.view(log=log, is_steady=True) as view:
        check = _LogCheck(view, vkeys, scan_log(view, progress))
        findings = list(check.scan.faults)
        checked = check.checkpoints(list_checkpoints(view, beyond=True), brought)
        findings += check.tree(checked)
        findings += check.missing_nodes()
        findings += check.faults
        findings += find_signature_faults(view)
        findings += view.ask(find_altered) if log is None else ()
        findings += [
            Fault("guard-missing", name, "the trigger that guards the table is missing or altered") for name in view.ask(find_missing)
        ]
        # A log with a key is sealed at each publication. Publications after the last checkpoint
        # suggest that a checkpoint was deleted.
        sealed = max((checkpoint.checkpoint.size for checkpoint in checked), default=0)
        since = view.one_value(select(func.count()).where(view.visible(publication), publication.c.seq > sealed)) if log is None else 0
        if since and view.log_vkey is not None:
            findings.append(_missing_checkpoint(int(since), sealed))
    first = next((checkpoint for checkpoint in checked if checkpoint.fits is not True), None)
    fitting = [
        checkpoint for checkpoint in checked if checkpoint.fits and (first is None or checkpoint.checkpoint.size < first.checkpoint.size)
    ]
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


def describe_published(report: LogReport) -> str:
    """Say that files were published and no checkpoint of that time is kept."""
    return _describe_unsealed(report.given_out_since, max((checkpoint.checkpoint.size for checkpoint in report.checkpoints), default=0))


def _describe_unsealed(count: int, sealed: int) -> str:
    """Say that *count* files were published after the checkpoint of *sealed* entries; 0 where none is kept."""
    files = "1 file was" if count == 1 else f"{count:,} files were"
    kept = f"the last checkpoint is of {sealed} entries" if sealed else "no checkpoint is kept"
    since = " since" if sealed else ""
    return f"{kept}, although {files} published{since}, which seals the log where its key is; ask for one kept elsewhere"


def _missing_checkpoint(count: int, sealed: int) -> Fault:
    """A log with a key is sealed whenever files are published: who deletes the checkpoint could change the entries behind it."""
    return Fault("checkpoint-missing", "checkpoints", _describe_unsealed(count, sealed))


class _LogCheck:
    """One log: its leaves, the tree made of them, and what was found on the way."""

    def __init__(self, reader: LogReader, vkeys: Collection[VerifierKey], scan: LogScan) -> None:
        self._reader = reader
        self._vkeys = vkeys
        self.origin = reader.log_origin
        self.scan = scan
        self.faults: list[Fault] = []
        self._levels = tree.list_levels(scan.leaves)
        self._nodes = self._read_nodes()

    def find_root(self, size: int) -> str | None:
        """Return the root of the first *size* entries; None when one of them is missing."""
        # A root over missing leaves does not exist. None means "cannot be computed", not "differs".
        if size > len(self.scan.leaves):
            return None
        return tree.root_at(size, lambda level, index: self._levels[level][index]).hex()

    def checkpoints(self, kept: Sequence[StoredCheckpoint], brought: Sequence[SignedNote]) -> list[CheckedCheckpoint]:
        """Return every checkpoint held against the log, by size; what is wrong with its note is kept in `faults`."""
        checked = []
        for checkpoint in kept:
            where = f"checkpoint at {checkpoint.checkpoint.size}"
            try:
                note = parse_note(checkpoint.note, where=where)
            except CaveatError as error:
                self._note("checkpoint-altered", where, error.faults[0].found)
                continue
            # The row repeats what the note says. A changed row would hide a checkpoint from
            # queries.
            if note.checkpoint != checkpoint.checkpoint:
                self._note("checkpoint-altered", where, _describe_difference(note.checkpoint, checkpoint.checkpoint))
            checked.append(self._hold(note, checkpoint.at))
        for note in brought:
            if note.checkpoint.origin == self.origin:
                checked.append(self._hold(note, None))
            else:
                self._note("wrong-log", f"note of {note.checkpoint.origin}", f"this log is {self.origin}")
        return sorted(checked, key=lambda checkpoint: checkpoint.checkpoint.size)

    def _hold(self, note: SignedNote, at: datetime | None) -> CheckedCheckpoint:
        checkpoint = note.checkpoint
        where = f"checkpoint at {checkpoint.size}" if at else f"note of {checkpoint.origin} at {checkpoint.size}"
        lines = verify_note(note, self._vkeys)
        # Without a key for this log nothing can be said about its signature: None, not False.
        own = [key for key in self._vkeys if key.name == self.origin]
        signed = any(line.is_valid and line.name == self.origin for line in lines) if own else None
        for line in lines:
            if not line.is_valid:
                self._note("checkpoint-altered", where, f"the signature of {line.name} does not verify")
        if signed is False:
            self._note("checkpoint-unsigned", where, f"no key of {self.origin} that is trusted signed it")
        fits: bool | None = self.find_root(checkpoint.size) == checkpoint.root
        # Entries are missing below the size of the checkpoint, so its root is neither confirmed nor
        # refuted.
        if len(self.scan.leaves) < checkpoint.size <= self.scan.entries:
            fits = None
        self.faults += self._compare_times(checkpoint.size, lines, where)
        return CheckedCheckpoint(checkpoint=checkpoint, at=at, fits=fits, is_signed=signed, lines=lines)

    def _compare_times(self, size: int, lines: Sequence[VerifiedLine], where: str) -> Iterator[Fault]:
        """No witness can have cosigned an entry before it was written: if it says so, the clock was ahead.

        The contrary is no evidence: entries written after a checkpoint may well be older than its cosignature.
        """
        for line in lines:
            if not line.is_valid or line.at is None or line.name == self.origin:
                continue
            times = self.scan.times[:size]
            # Times in a log do not decrease, so a binary search finds the first entry dated after
            # the cosignature.
            first = bisect_right(times, (line.at + CLOCK_TOLERANCE).timestamp()) + 1
            if first <= len(times):
                which = f"entry {first}" if first == len(times) else f"entries {first} to {len(times)}"
                at = format_time(times[first - 1])
                problem = f"{line.name} cosigned at {line.at.isoformat()} what is dated {at} and later: the clock was ahead ({where})"
                yield Fault("clock-jumped", which, problem)

    def tree(self, checked: Sequence[CheckedCheckpoint]) -> Iterator[Fault]:
        """Yield what the checkpoints and the kept subtrees say of entries with leaves that agree with their texts."""
        # A failed checkpoint is the stronger evidence, since it is signed. Without one the stored
        # subtrees are reported by themselves.
        first = next((checkpoint for checkpoint in checked if not checkpoint.fits), None)
        odd = list(self._odd_nodes(sealed=max((checkpoint.checkpoint.size for checkpoint in checked if checkpoint.fits), default=0)))
        spans = [f"{start} to {stop}" for start, stop, _, is_row in odd if not is_row]
        if first is not None:
            yield self._since(first, checked, spans)
        elif spans:
            problem = "each leaf is the hash of its text, but they are not what was kept when they were written"
            yield from (Fault("entry-altered", f"entries {span}", problem) for span in spans)
        for start, stop, level, _ in (node_row for node_row in odd if node_row[3]):
            problem = f"the subtree of level {level} over entries {start} to {stop} is not what their leaves give"
            yield Fault("tree-node-differs", "node", problem)

    def _since(self, first: CheckedCheckpoint, checked: Sequence[CheckedCheckpoint], spans: Sequence[str]) -> Fault:
        """Say what is enclosed by the last checkpoint that fits and the first that does not, and since when."""
        size = first.checkpoint.size
        # The largest matching checkpoint below the first failing one proves all entries up to its
        # size.
        before = [checkpoint for checkpoint in checked if checkpoint.fits and checkpoint.checkpoint.size < size]
        start = before[-1].checkpoint.size + 1 if before else 1
        later = [checkpoint for checkpoint in checked if checkpoint.checkpoint.size > size]
        wrong = [first, *(checkpoint for checkpoint in later if not checkpoint.fits)]
        since = _describe_time(wrong[-1])
        # A later checkpoint that matches again dates the end of the alteration.
        until = next(
            (
                _describe_time(checkpoint)
                for checkpoint in later
                if checkpoint.fits and checkpoint.checkpoint.size > wrong[-1].checkpoint.size
            ),
            None,
        )
        if first.fits is None:
            problem = f"entry {len(self.scan.leaves) + 1} is missing, and was there"
        elif size > self.scan.entries:
            problem = describe_truncated(size, self.scan.entries)
        else:
            named = f"; among entries {', '.join(spans)} by what is kept of the tree" if spans else ""
            problem = f"an entry among {start} to {size} is not the one that was sealed{named}"
        fitting = f"the checkpoint of {start - 1} entries still fits" if before else "no smaller checkpoint fits"
        when = f"changed after {since}" + (f", before {until}" if until else "")
        problem += f"; {fitting}, the one of {size} does not ({when})"
        return Fault("history-differs", f"checkpoint at {size}", problem, advice=_RESTORE)

    def missing_nodes(self) -> Iterator[Fault]:
        """Yield what is missing where some subtrees are kept; a registry that was upgraded and not written since keeps none at all."""
        missing = sorted(self._find_expected() - self._nodes.keys())
        # A registry that was upgraded and not written to since has no subtrees at all. That is
        # normal. Some missing among others is not.
        if missing and self._nodes:
            level, index = missing[0]
            which = f"level {level} over entries {(index << level) + 1} to {(index + 1) << level}"
            problem = f"{len(missing)} of the subtrees that are kept {'is' if len(missing) == 1 else 'are'} missing, the first of {which}"
            yield Fault("tree-node-differs", "node", problem)

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
        # A differing subtree has two causes: its row was altered, or one of its leaves. A matching
        # parent or checkpoint rules out the leaves.
        kept = self._nodes
        odd = {place for place in kept if kept[place] != self._compute(place) and self._can_compute(place)}
        for level, index in sorted(odd):
            parent = (level + STEP, index >> STEP)
            is_row = (index + 1) << level <= sealed or (parent in kept and parent not in odd)
            inside = any(node_row[0] == level - STEP and node_row[1] >> STEP == index for node_row in odd)
            if is_row or not inside:
                yield (index << level) + 1, (index + 1) << level, level, is_row

    def _read_nodes(self) -> dict[tuple[int, int], bytes]:
        rows = self._reader.plain_rows(select(node.c.seq, node.c.level, node.c.hash).where(self._reader.visible(node)))
        return {(level, (seq >> level) - 1): bytes(digest) for seq, level, digest in rows}

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

    def _note(self, code: str, where: str, text: str) -> None:
        self.faults.append(Fault(code, where, text))


def _list_imported(ledger: Ledger, origin: str) -> list[SignedNote]:
    with ledger.view() as view:
        imports = view.recorded_by(select(log_import.c.seq).where(view.visible(log_import), log_import.c.origin == origin))
    return [parse_note(recorded.payload.checkpoint, where=f"entry {recorded.entry.seq}, checkpoint") for recorded in imports]


def _describe_difference(sealed: Checkpoint, row: Checkpoint) -> str:
    """In what a note and the row it stands in differ: the log's own name too, which a database may give it anew."""
    pairs = [
        (f"the log {sealed.origin}", f"the log is called {row.origin} here"),
        (f"{sealed.size} entries", f"its row of {row.size}"),
        (f"root {sealed.root}", f"its row of root {row.root}"),
    ]
    differ = (sealed.origin != row.origin, sealed.size != row.size, sealed.root != row.root)
    return "; ".join(f"its note is of {there}, {here}" for (there, here), is_other in zip(pairs, differ, strict=True) if is_other)


def _describe_time(checked_checkpoint: CheckedCheckpoint) -> str:
    times = [line.at for line in checked_checkpoint.lines if line.is_valid and line.at is not None]
    if times:
        return f"{max(times).isoformat()}, when it was cosigned"
    return "an unknown time" if checked_checkpoint.at is None else checked_checkpoint.at.isoformat()


# Comparison of rows with their statements, for selected entries. A page decodes statements, but a
# status is computed from rows, so both must agree before a supplement is published.
#
# Decision of 2026-11-22: a supplement may rest on rows, but the rows of its entries, and of every
# entry that names its subject, are first compared with their statements. The cost: one pass over
# all texts for each report, and the identifiers of each text are kept in memory.

_COMPARED = [(table.name, ", ".join(f'"{column.name}"' for column in table.columns)) for table in TYPED if table is not identifier]
"""Every table with its columns."""


def check_rows(reader: LogReader, entries: Collection[int], names: Collection[str]) -> None:
    """Do once what `RowCheck.check` does for many subjects."""
    RowCheck(reader).check(entries, names)


class RowCheck:
    """One reading of a registry, for all subjects that are published of it: texts are searched once, and an entry is compared once."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._sound: set[int] = set()
        self._named: _NamedEntries | None = None
        self._lineage: frozenset[int] | None = None

    def check(self, entries: Collection[int], names: Collection[str]) -> None:
        """See that rows are what statements give: of *entries*, of every entry with text that has one of *names* in it, and of all lineage.

        Names find what a page would not show because its row was turned away or taken out. So do the audits, objections, definitions
        and cards that these texts name in turn: a newer version of a definition is said without the name of any claim. That a model has
        a successor is said without any identifier, and a newer method by its slug only, so wherever something is named, everything said
        of model versions and methods is compared. Entries with an erased text are passed over.

        Args:
            entries: their numbers.
            names: identifiers without revision, `CLM-…`.

        Raises:
            AlteredError: `row-differs`, for each entry with rows that are others; `entry-altered`.
        """
        # Entries that an earlier subject of the same report already verified are skipped.
        wanted = {*entries, *(self._list_named(names) if names else ())} - self._sound
        faults: list[Fault] = []
        ordered = sorted(wanted)
        for start in range(0, len(ordered), CHUNK):
            faults += _compare(self._reader, ordered[start : start + CHUNK])
        # Raised for all faults of this subject before any of its entries counts as sound.
        if faults:
            raise AlteredError(faults)
        self._sound |= wanted

    def _list_named(self, names: Collection[str]) -> Iterator[int]:
        if self._named is None:
            self._named = _NamedEntries(self._reader)
        yield from self._find_lineage()
        yield from self._named.find(names)

    def _find_lineage(self) -> frozenset[int]:
        if self._lineage is None:
            selection = select(entry.c.seq).where(
                self._reader.visible(entry), entry.c.kind.in_([name for name, kind in KINDS.items() if kind.is_lineage])
            )
            self._lineage = frozenset(row[0] for row in self._reader.plain_rows(selection))
        return self._lineage


class _NamedEntries:
    """Which entries name what, read off the texts of all statements once."""

    def __init__(self, reader: LogReader) -> None:
        self._entries: dict[str, list[int]] = defaultdict(list)
        """By identifier: the entries whose text names it."""
        self._defining: dict[str, list[int]] = defaultdict(list)
        """By identifier: those of them that define, reveal or dispute it."""
        self._names: dict[int, frozenset[str]] = {}
        self._methods: list[int] = []
        same = (entry.c.log == body.c.log) & (entry.c.seq == body.c.seq)
        texts = select(body.c.seq, entry.c.kind, body.c.json).join(entry, same).where(reader.visible(body))
        # Many statements name the same set of identifiers. Sharing equal sets keeps memory
        # proportional to the number of distinct ones.
        shared: dict[frozenset[str], frozenset[str]] = {}
        for seq, kind, text in reader.plain_rows(texts):
            names = frozenset(IDENTIFIER.findall(text))
            self._names[seq] = shared.setdefault(names, names)
            for name in names:
                self._entries[name].append(seq)
                if KINDS[kind].is_defining:
                    self._defining[name].append(seq)
            # A newer version of a method makes outcomes stale without naming any claim. So methods
            # are always compared.
            if kind == SpecVersion.KIND and any(name.startswith(f"{Kind.METHOD}-") for name in names):
                self._methods.append(seq)

    def find(self, names: Collection[str]) -> set[int]:
        """Return the entries that name one of *names*, and those of what they name in turn, claims excepted; all of methods too."""
        # A breadth-first walk over names. Each name is followed once, so cycles end.
        numbers = {*self._methods, *(seq for name in names for seq in self._entries.get(name, ()))}
        followed, waiting = set(names), list(numbers)
        while waiting:
            new = self._names[waiting.pop()] - followed
            followed |= new
            also = {seq for name in new for seq in self._follow(name)} - numbers
            numbers |= also
            waiting += also
        return numbers

    def _follow(self, name: str) -> list[int]:
        """Return what is to be looked at of *name*, which a text names: all of an audit or objection, of the rest what defines it."""
        # Claims are not followed: related claims would pull in most of the registry.
        if name.startswith(f"{Kind.CLAIM}-"):
            return []
        whole = name.startswith((f"{Kind.AUDIT}-", f"{Kind.OBJECTION}-"))
        return (self._entries if whole else self._defining).get(name, [])


def _compare(reader: LogReader, numbers: list[int]) -> Iterator[Fault]:
    there: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    for name, columns in _find_tables(reader, numbers):
        statement = f'SELECT {columns} FROM "{name}" WHERE log = ? AND seq IN ({_mark(numbers)})'  # noqa: S608
        for row in reader.driver_rows(statement, reader.log_id, *numbers):
            there[row[1]].add((name, *map(_plain, row)))
    for recorded in reader.recorded(numbers, skips_erased=True):
        # Sets, not lists: the order of rows within one entry has no meaning.
        rows = set(_build(reader, recorded))
        if rows != there[recorded.entry.seq]:
            names = " and ".join(sorted({row[0] for row in rows ^ there[recorded.entry.seq]}))
            yield Fault("row-differs", f"entry {recorded.entry.seq}", f"its rows in {names} are not what its statement gives")


def _find_tables(reader: LogReader, numbers: Sequence[int]) -> list[tuple[str, str]]:
    """Return those tables, each with its columns, that have rows of the entries *numbers*: a page rests on few of them."""
    # One question for all tables, instead of one for each.
    questions = ", ".join(f'EXISTS (SELECT 1 FROM "{name}" WHERE log = ? AND seq IN ({_mark(numbers)}))' for name, _ in _COMPARED)  # noqa: S608
    (row,) = reader.driver_rows(f"SELECT {questions}", *(reader.log_id, *numbers) * len(_COMPARED))
    return [table for table, is_filled in zip(_COMPARED, row, strict=True) if is_filled]


def _mark(numbers: Sequence[int]) -> str:
    return ", ".join("?" * len(numbers))


def _build(reader: LogReader, recorded: Recorded[Any]) -> Iterator[tuple[Any, ...]]:
    place = EntryPlace(seq=recorded.entry.seq, at=to_seconds(recorded.entry.at), actor=recorded.entry.actor, log=reader.log_id)
    for table, values in build_rows(recorded.payload, kind_of(recorded.payload).complete_place(recorded.payload, place, reader)):
        yield (table, *values)


def _plain(value: Any) -> Any:
    # psycopg returns memoryview for bytes, which never equals the bytes of a statement.
    return bytes(value) if isinstance(value, memoryview) else value
