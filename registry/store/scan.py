"""Every entry of a log looked at once, quickly: is it in its place, its leaf the hash of its text, and its text what its entry says.

Rows are read as the driver gives them and texts as bytes; what stands first in canonical JSON (actor, at, kind) is compared without
decoding. Only what does not agree is decoded, to say what differs.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import LargeBinary, Select, cast, func, select

from registry.codec.statement_encoding import decode_statement
from registry.errors import CaveatError, Fault
from registry.records.log_seal import Erasure
from registry.records.statement import StatementKind
from registry.store.reader import Reader, from_seconds
from registry.store.tables import body, entry

_STEP = 5_000
RESTORE = "restore the registry from a backup"

Row = tuple[int, str, str, int, bytes, bytes | None]
"""Number, kind, actor, time in seconds, leaf and text of an entry; no text where it is gone."""


class Scan(NamedTuple):
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


def scan_log(reader: Reader, progress: Callable[[int], None]) -> Scan:
    """Return what is found in the entries that *reader* sees; *progress* is told the number of entries done."""
    return _Scanner(reader).run(progress)


class _Scanner:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._faults: list[tuple[int, Fault]] = []
        self._leaves: list[bytes] = []
        self._times: list[int] = []
        self._last = (0, -(2**63))
        self._heads: dict[tuple[str, str, int], bytes] = {}
        self._without_text: list[int] = []
        self._erasures: dict[int, int] = {}

    def run(self, progress: Callable[[int], None]) -> Scan:
        for (seq,) in self._reader.plain_rows(select(entry.c.seq).where(self._reader.visible(entry), entry.c.seq < 1)):
            self._note(seq, "entries are numbered from 1")
        for rows in self._read():
            for row in self._pick_odd(rows):
                self._look_closer(row)
            self._place(rows)
            progress(rows[-1][0])
        erased = self._judge_missing_texts()
        self._faults += (
            (seq, _fault("entry-altered", seq, "a text is kept of an entry that is not in the log")) for seq in self._orphans()
        )
        self._faults.sort(key=lambda one: one[0])
        return Scan(self._leaves, self._times, self._last[0], erased, [fault for _, fault in self._faults])

    def _read(self) -> Iterator[list[Row]]:
        after = 0
        while rows := self._reader.plain_rows(self._select().where(entry.c.seq > after).order_by(entry.c.seq).limit(_STEP)):
            yield rows
            after = rows[-1][0]

    def _select(self) -> Select[Any]:
        text = cast(body.c.json, LargeBinary) if self._reader.engine == "sqlite" else func.convert_to(body.c.json, "UTF8")
        joined = entry.outerjoin(body, (body.c.log == entry.c.log) & (body.c.seq == entry.c.seq))
        columns = (entry.c.seq, entry.c.kind, entry.c.actor, entry.c.at, entry.c.leaf, text)
        return select(*columns).select_from(joined).where(self._reader.visible(entry))

    def _pick_odd(self, rows: list[Row]) -> list[Row]:
        """Return the rows that must be looked at more closely; wrong only on the side of looking. Written for speed."""
        odd = []
        heads, sha256, erasure = self._heads, hashlib.sha256, StatementKind.ERASURE.value
        for row in rows:
            _, kind, actor, at, leaf, text = row
            if text is not None and sha256(b"\x00" + text).digest() == leaf and kind != erasure:
                head = heads.get((kind, actor, at))
                if head is None:
                    head = self._remember_head(kind, actor, at)
                if head and text.startswith(head):
                    continue
            odd.append(row)
        return odd

    def _remember_head(self, kind: str, actor: str, at: int) -> bytes:
        if len(self._heads) > _STEP:
            self._heads.clear()
        head = self._heads[kind, actor, at] = _head_of(kind, actor, at)
        return head

    def _look_closer(self, row: Row) -> None:
        seq, kind, actor, at, leaf, text = row
        if text is None:
            self._without_text.append(seq)
            return
        hashed = hashlib.sha256(b"\x00" + text).digest()
        if hashed != leaf:
            self._note(seq, f"its leaf is {leaf.hex()}, the hash of its text {hashed.hex()}")
            return
        try:
            said = decode_statement(text, where=f"entry {seq}")
        except CaveatError as error:
            self._note(seq, f"its text is no statement: {error.faults[0].found}")
            return
        written = (("kind", said.kind.value, kind), ("actor", said.actor, actor), ("time", said.at.isoformat(), show_time(at)))
        for name, in_text, in_entry in written:
            if in_text != in_entry:
                self._note(seq, f"its {name} is {in_entry} in the entry and {in_text} in its text")
        if isinstance(said.payload, Erasure):
            self._erasures[said.payload.erased] = seq

    def _place(self, rows: list[Row]) -> None:
        """See that the entries follow each other, and keep their leaves as long as none is missing."""
        numbers = [self._last[0], *(row[0] for row in rows)]
        times = [self._last[1], *(row[3] for row in rows)]
        if rows[0][0] != self._last[0] + 1 or rows[-1][0] - rows[0][0] != len(rows) - 1:
            for before, seq in pairwise(numbers):
                self._check_number(before, seq)
        if times != sorted(times):
            for seq, (before, at) in zip(numbers[1:], pairwise(times), strict=True):
                if at < before:
                    self._note(seq, f"its time is {show_time(at)}, that of the entry before it {show_time(before)}")
        whole = [row for number, row in enumerate(rows, start=len(self._leaves) + 1) if row[0] == number]
        if len(self._leaves) == self._last[0]:
            self._leaves += [bytes(row[4]) for row in whole]
            self._times += [row[3] for row in whole]
        self._last = (rows[-1][0], rows[-1][3])

    def _check_number(self, before: int, seq: int) -> None:
        if seq > before + 1:
            which = "it is" if seq == before + 2 else f"entries {before + 1} to {seq - 1} are"
            self._note(before + 1, f"{which} missing")

    def _judge_missing_texts(self) -> int:
        gone = set(self._without_text)
        for seq in sorted(gone - self._erasures.keys()):
            self._faults.append((seq, _fault("text-missing", seq, "its text is gone, and no entry says that it was erased")))
        for seq in sorted(self._erasures.keys() - gone):
            by = self._erasures[seq]
            self._faults.append((by, _fault("text-present", seq, f"entry {by} says that its text was erased, and it is there")))
        return len(gone & self._erasures.keys())

    def _orphans(self) -> list[int]:
        there = select(entry.c.seq).where(entry.c.log == body.c.log, entry.c.seq == body.c.seq).exists()
        return [row[0] for row in self._reader.plain_rows(select(body.c.seq).where(self._reader.visible(body), ~there))]

    def _note(self, seq: int, found: str) -> None:
        self._faults.append((seq, _fault("entry-altered", seq, found)))


def _head_of(kind: str, actor: str, at: int) -> bytes:
    """How the canonical text of such a statement begins; empty where there can be none."""
    try:
        moment = from_seconds(at).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError, TypeError):
        return b""
    return f'{{"actor":{json.dumps(actor, ensure_ascii=False)},"at":"{moment}","kind":"{kind}","payload":'.encode()


def show_time(at: int) -> str:
    """Return the instant, or the bare number where there is no such time."""
    try:
        return from_seconds(at).isoformat()
    except (ValueError, OverflowError, OSError):
        return f"{at} seconds"


def _fault(code: str, seq: int, found: str) -> Fault:
    advice = {"text-missing": "if it was erased on purpose, say so: caveat log erase", "text-present": "erase it again: caveat log erase"}
    return Fault(code=code, where=f"entry {seq}", found=found, advice=advice.get(code, RESTORE))
