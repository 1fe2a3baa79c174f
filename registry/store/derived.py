"""Rows held against the statements they were made from, for some entries: what a page says is decoded, what a status says is read off rows.

`registry.store.rebuild.verify` does so for all of them, by a replay. This is the quick look before something is given out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import ColumnElement, or_, select

from registry.errors import AlteredError, Fault
from registry.records.dossier import Recorded
from registry.store.reader import CHUNK, Reader, to_seconds
from registry.store.rows import Place, build_rows
from registry.store.tables import TYPED, body, identifier
from registry.store.writer import find_place

_COMPARED = [table for table in TYPED if table is not identifier]
_ADVICE = "caveat log check tells all of it; caveat rebuild URL makes sound rows from the log"


def check_rows(reader: Reader, entries: Collection[int], names: Collection[str]) -> None:
    """See that rows are what statements give: of *entries*, and of every entry whose text has one of *names* in it.

    Names find what a page would not show because its row was turned away or taken out. Entries whose text was erased are passed over.

    Raises:
        AlteredError: `row-differs`, for each entry whose rows are others; `entry-altered`.
    """
    numbers = sorted({*_find_texts(reader, [body.c.seq.in_(entries)] if entries else []), *_find_named(reader, names)})
    faults: list[Fault] = []
    for start in range(0, len(numbers), CHUNK):
        faults += _compare(reader, numbers[start : start + CHUNK])
    if faults:
        raise AlteredError(faults)


def _find_named(reader: Reader, names: Collection[str]) -> list[int]:
    return _find_texts(reader, [body.c.json.contains(name, autoescape=True) for name in sorted(names)])


def _find_texts(reader: Reader, conditions: list[ColumnElement[bool]]) -> list[int]:
    if not conditions:
        return []
    return [row[0] for row in reader.plain_rows(select(body.c.seq).where(reader.visible(body), or_(*conditions)))]


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
