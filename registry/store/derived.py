"""Rows held against the statements they were made from, for some entries: what a page says is decoded, what a status says is read off rows.

`registry.store.rebuild.verify` does so for all of them, by a replay. This is the quick look before something is given out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import select

from registry.errors import AlteredError, Fault
from registry.records.dossier import Recorded
from registry.records.record import IDENTIFIER, Kind
from registry.records.statement import StatementKind
from registry.store.reader import CHUNK, Reader, to_seconds
from registry.store.rows import Place, build_rows
from registry.store.tables import TYPED, body, entry, identifier
from registry.store.writer import find_place

_COMPARED = [table for table in TYPED if table is not identifier]
_LINEAGE = (StatementKind.MODEL_VERSION.value, StatementKind.MODEL_EVENT.value, StatementKind.MODEL_ENDPOINT.value)
_DEFINING = frozenset({StatementKind.SPEC_VERSION, StatementKind.CARD, StatementKind.CONTESTATION, StatementKind.REVEAL})
"""Statements that make stale, dispute or show what names a definition or a card, without naming any claim."""
_ADVICE = "caveat log check tells all of it; caveat rebuild URL makes sound rows from the log"


def check_rows(reader: Reader, entries: Collection[int], names: Collection[str]) -> None:
    """Do once what `RowCheck.check` does for many subjects."""
    RowCheck(reader).check(entries, names)


class RowCheck:
    """One reading of a registry, for all subjects that are given out of it: texts are searched once, and an entry is compared once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._sound: set[int] = set()
        self._named: _Named | None = None
        self._lineage: frozenset[int] | None = None

    def check(self, entries: Collection[int], names: Collection[str]) -> None:
        """See that rows are what statements give: of *entries*, of every entry whose text has one of *names* in it, and of all lineage.

        Names find what a page would not show because its row was turned away or taken out. So do the audits, contestations, definitions
        and cards that these texts name in turn: a newer version of a definition is said without the name of any claim. That a model has
        a successor is said without any identifier, and a newer method by its slug alone, so wherever something is named, everything said
        of model versions and methods is compared. Entries whose text was erased are passed over.

        Args:
            entries: their numbers.
            names: identifiers without revision, `CLM-…`.

        Raises:
            AlteredError: `row-differs`, for each entry whose rows are others; `entry-altered`.
        """
        wanted = {*entries, *(self._list_named(names) if names else ())} - self._sound
        faults: list[Fault] = []
        for numbers in self._find_texts(wanted):
            faults += _compare(self._reader, numbers)
        if faults:
            raise AlteredError(faults)
        self._sound |= wanted

    def _list_named(self, names: Collection[str]) -> Iterator[int]:
        if self._named is None:
            self._named = _Named(self._reader)
        yield from self._find_lineage()
        yield from self._named.find(names)

    def _find_lineage(self) -> frozenset[int]:
        if self._lineage is None:
            said = select(entry.c.seq).where(self._reader.visible(entry), entry.c.kind.in_(_LINEAGE))
            self._lineage = frozenset(row[0] for row in self._reader.plain_rows(said))
        return self._lineage

    def _find_texts(self, entries: Collection[int]) -> Iterator[list[int]]:
        """Yield those of *entries* whose text is there, some at a time."""
        ordered = sorted(entries)
        for start in range(0, len(ordered), CHUNK):
            there = select(body.c.seq).where(self._reader.visible(body), body.c.seq.in_(ordered[start : start + CHUNK]))
            yield sorted(row[0] for row in self._reader.plain_rows(there))


class _Named:
    """Which entries name what, read off the texts of all statements once."""

    def __init__(self, reader: Reader) -> None:
        self._entries: dict[str, list[int]] = defaultdict(list)
        """By identifier: the entries whose text names it."""
        self._defining: dict[str, list[int]] = defaultdict(list)
        """By identifier: those of them that define, reveal or dispute it."""
        self._names: dict[int, frozenset[str]] = {}
        self._methods: list[int] = []
        same = (entry.c.log == body.c.log) & (entry.c.seq == body.c.seq)
        texts = select(body.c.seq, entry.c.kind, body.c.json).join(entry, same).where(reader.visible(body))
        shared: dict[frozenset[str], frozenset[str]] = {}
        for seq, kind, text in reader.plain_rows(texts):
            names = frozenset(IDENTIFIER.findall(text))
            self._names[seq] = shared.setdefault(names, names)
            for name in names:
                self._entries[name].append(seq)
                if kind in _DEFINING:
                    self._defining[name].append(seq)
            if kind == StatementKind.SPEC_VERSION and any(name.startswith(f"{Kind.METHOD}-") for name in names):
                self._methods.append(seq)

    def find(self, names: Collection[str]) -> set[int]:
        """Return the entries that name one of *names*, and those of what they name in turn, claims excepted; all of methods too."""
        found = {*self._methods, *(seq for name in names for seq in self._entries.get(name, ()))}
        told, waiting = set(names), list(found)
        while waiting:
            new = self._names[waiting.pop()] - told
            told |= new
            also = {seq for name in new for seq in self._follow(name)} - found
            found |= also
            waiting += also
        return found

    def _follow(self, name: str) -> list[int]:
        """Return what is to be looked at of *name*, which a text names: all of an audit or contestation, of the rest what defines it."""
        if name.startswith(f"{Kind.CLAIM}-"):
            return []
        whole = name.startswith((f"{Kind.AUDIT}-", f"{Kind.CONTESTATION}-"))
        return (self._entries if whole else self._defining).get(name, [])


def _compare(reader: Reader, numbers: list[int]) -> Iterator[Fault]:
    there: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    for table in _COMPARED:
        for row in reader.plain_rows(select(table).where(table.c.log == reader.log_id, table.c.seq.in_(numbers))):
            there[row[1]].add((table.name, *map(_plain, row)))
    for one in reader.recorded(numbers):
        given = set(_build(reader, one))
        if given != there[one.entry.seq]:
            names = " and ".join(sorted({row[0] for row in given ^ there[one.entry.seq]}))
            found = f"its rows in {names} are not what its statement gives"
            yield Fault(code="row-differs", where=f"entry {one.entry.seq}", found=found, advice=_ADVICE)


def _build(reader: Reader, one: Recorded[Any]) -> Iterator[tuple[Any, ...]]:
    place = Place(seq=one.entry.seq, at=to_seconds(one.entry.at), actor=one.entry.actor, log=reader.log_id)
    for table, values in build_rows(one.payload, find_place(reader, one.payload, place)):
        yield (table, *values)


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value
