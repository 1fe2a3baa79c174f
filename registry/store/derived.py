"""Rows held against the statements they were made from, for some entries: what a page says is decoded, what a status says is read off rows.

`registry.store.rebuild.verify` does so for all of them, by a replay. This is the quick look before something is given out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import select

from registry.errors import AlteredError, Fault
from registry.records.dossier import Recorded
from registry.records.identifier import IDENTIFIER
from registry.records.statement import StatementKind
from registry.store.reader import CHUNK, Reader, to_seconds
from registry.store.rows import Place, build_rows
from registry.store.tables import TYPED, body, entry, identifier
from registry.store.writer import find_place

_COMPARED = [table for table in TYPED if table is not identifier]
_LINEAGE = (StatementKind.MODEL_VERSION.value, StatementKind.MODEL_EVENT.value)
_ADVICE = "caveat log check tells all of it; caveat rebuild URL makes sound rows from the log"


def check_rows(reader: Reader, entries: Collection[int], names: Collection[str]) -> None:
    """Do once what `RowCheck.check` does for many subjects."""
    RowCheck(reader).check(entries, names)


class RowCheck:
    """One reading of a registry, for all subjects that are given out of it: texts are searched once, and an entry is compared once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._sound: set[int] = set()
        self._entries_by_name: dict[str, list[int]] | None = None
        self._lineage: frozenset[int] | None = None

    def check(self, entries: Collection[int], names: Collection[str]) -> None:
        """See that rows are what statements give: of *entries*, of every entry whose text has one of *names* in it, and of all lineage.

        Names find what a page would not show because its row was turned away or taken out. That a model has a successor is said without
        the name of any claim, so wherever something is named, everything said of model versions is compared. Entries whose text was
        erased are passed over.

        Args:
            entries: their numbers.
            names: identifiers without revision, `CLM-…`.

        Raises:
            AlteredError: `row-differs`, for each entry whose rows are others; `entry-altered`.
        """
        named = self._find_named() if names else {}
        lineage = self._find_lineage() if names else ()
        wanted = {*entries, *lineage, *(seq for name in names for seq in named.get(name, ()))} - self._sound
        numbers = sorted(_find_texts(self._reader, wanted))
        faults: list[Fault] = []
        for start in range(0, len(numbers), CHUNK):
            faults += _compare(self._reader, numbers[start : start + CHUNK])
        if faults:
            raise AlteredError(faults)
        self._sound |= wanted

    def _find_lineage(self) -> frozenset[int]:
        if self._lineage is None:
            said = select(entry.c.seq).where(self._reader.visible(entry), entry.c.kind.in_(_LINEAGE))
            self._lineage = frozenset(row[0] for row in self._reader.plain_rows(said))
        return self._lineage

    def _find_named(self) -> dict[str, list[int]]:
        if self._entries_by_name is None:
            self._entries_by_name = defaultdict(list)
            for seq, text in self._reader.plain_rows(select(body.c.seq, body.c.json).where(self._reader.visible(body))):
                for name in set(IDENTIFIER.findall(text)):
                    self._entries_by_name[name].append(seq)
        return self._entries_by_name


def _find_texts(reader: Reader, entries: Collection[int]) -> Iterator[int]:
    """Yield those of *entries* whose text is there."""
    ordered = sorted(entries)
    for start in range(0, len(ordered), CHUNK):
        there = select(body.c.seq).where(reader.visible(body), body.c.seq.in_(ordered[start : start + CHUNK]))
        yield from (row[0] for row in reader.plain_rows(there))


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
