"""A bundle read line by line, in the one order it may have; what is missing, doubled, moved or added is named."""

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from registry.errors import Fault, InputError
from registry.transfer.bundle import MOST_ENTRIES, MOST_NOTES, ContentLine, End, EntryLine, Header, Line, NoteLine, parse_line
from registry.transfer.lines import read_lines

_MOST_CONTENTS = 1_000_000
_ASK_AGAIN = "ask for the bundle again"


def read_bundle(stream: BinaryIO, *, where: str) -> Iterator[Line]:
    """Yield the lines of a bundle: the header, entries, card texts, notes. All were there, in order, when this ends without an error.

    Raises:
        InputError: `not-a-bundle`, `bundle-line`, `bundle-too-large`, `bundle-truncated`, `bundle-gap`, `bundle-reordered`,
            `bundle-duplicate`, `bundle-trailing` or `bundle-altered`.
    """
    lines = read_lines(stream, where=where)
    hashed = hashlib.sha256()
    order = _Order(where)
    count = 0
    for text in lines:
        line = _parse(text, count + 1, where)
        if isinstance(line, End):
            order.close()
            _check_end(line, count, hashed.hexdigest(), where)
            _refuse_more(lines, where)
            return
        try:
            order.check(line)
        except _MissingEntryError as error:
            raise _name_missing(lines, error.seq, where, count + 1) from error
        hashed.update(text)
        count += 1
        yield line
    raise _fault("bundle-truncated", where, f"it ends after line {count}, without the line that ends a bundle", "ask for a whole copy")


class _MissingEntryError(Exception):
    """Another entry was expected."""

    def __init__(self, seq: int) -> None:
        super().__init__(seq)
        self.seq = seq


class _Order:
    """What came so far, and what may come now."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._header: Header | None = None
        self._seq = 0
        self._stage = 0
        self._contents = self._notes = 0
        self._last_content = ""

    def check(self, line: Line) -> None:
        """Take the next line; raises InputError, or _MissingEntryError where a later entry came."""
        stage = _STAGES[type(line)]
        if self._header is None or isinstance(line, Header):
            self._begin(line)
            return
        if stage < self._stage:
            raise _fault("bundle-reordered", self._where, f"{_describe(line)} stands behind what follows it", _ASK_AGAIN)
        if stage > 1 and self._seq < self._header.size:
            raise _MissingEntryError(self._seq + 1)
        self._stage = stage
        match line:
            case EntryLine():
                self._entry(line, self._header)
            case ContentLine():
                self._content(line, self._header)
            case NoteLine():
                self._count_note()
            case End():
                pass

    def close(self) -> None:
        """Refuse an end before everything came."""
        if self._header is None:
            raise _fault("not-a-bundle", self._where, "its first line is no header of a bundle", _NEXT)
        if self._seq < self._header.size:
            found = f"entries {self._seq + 1} to {self._header.size} are missing"
            raise _fault("bundle-gap", self._where, found, _ASK_AGAIN)
        if not self._notes:
            raise _fault("bundle-truncated", self._where, "the signed checkpoint is missing", _ASK_AGAIN)

    def _begin(self, line: Line) -> None:
        if self._header is not None:
            raise _fault("bundle-duplicate", self._where, "a second header", _ASK_AGAIN)
        if not isinstance(line, Header):
            raise _fault("not-a-bundle", self._where, "its first line is no header of a bundle", _NEXT)
        if line.size - line.since > MOST_ENTRIES:
            found = f"it has {line.size - line.since:,} entries; at most {MOST_ENTRIES:,} are read at once"
            raise _fault("bundle-too-large", self._where, found, "ask for it in parts: caveat export --since N")
        self._header, self._seq = line, line.since

    def _entry(self, line: EntryLine, header: Header) -> None:
        if header.since < line.seq <= self._seq:
            raise _fault("bundle-duplicate", self._where, f"entry {line.seq} stands there twice", _ASK_AGAIN)
        if not header.since < line.seq <= header.size:
            found = f"entry {line.seq} is none of the entries {header.since + 1} to {header.size} that the header announces"
            raise _fault("bundle-line", self._where, found, _ASK_AGAIN)
        if line.seq != self._seq + 1:
            raise _MissingEntryError(self._seq + 1)
        self._seq = line.seq

    def _content(self, line: ContentLine, header: Header) -> None:
        self._contents += 1
        if line.sha256 == self._last_content:
            raise _fault("bundle-duplicate", self._where, f"the card text {line.sha256} stands there twice", _ASK_AGAIN)
        if line.sha256 < self._last_content:
            raise _fault("bundle-reordered", self._where, f"the card text {line.sha256} stands behind a later one", _ASK_AGAIN)
        if not header.cards or self._contents > _MOST_CONTENTS:
            raise _fault("bundle-line", self._where, "a card text that the header does not announce, or one too many", _ASK_AGAIN)
        self._last_content = line.sha256

    def _count_note(self) -> None:
        self._notes += 1
        if self._notes > MOST_NOTES:
            raise _fault("bundle-too-large", self._where, f"it has more than {MOST_NOTES:,} checkpoints", _ASK_AGAIN)


_STAGES: dict[type[Line], int] = {Header: 0, EntryLine: 1, ContentLine: 2, NoteLine: 3, End: 4}
_NEXT = "a bundle is written by: caveat export"


def _parse(text: bytes, number: int, where: str) -> Line:
    if not text.endswith(b"\n"):
        if number == 1 and not text.startswith(b'{"cards"'):
            raise _fault("not-a-bundle", where, "its first line is no header of a bundle", _NEXT)
        raise _fault("bundle-truncated", where, f"it breaks off in line {number}", "ask for a whole copy")
    try:
        return parse_line(text[:-1], where=f"{where}, line {number}")
    except InputError as error:
        if number == 1:
            raise _fault("not-a-bundle", where, f"its first line is no header of a bundle: {error.faults[0].found}", _NEXT) from error
        raise


def _check_end(end: End, count: int, digest: str, where: str) -> None:
    if end.lines > count:
        raise _fault("bundle-truncated", where, f"it had {end.lines} lines before its end, and has {count}", "ask for a whole copy")
    if end.lines < count:
        raise _fault("bundle-altered", where, f"it had {end.lines} lines before its end, and has {count}", _ASK_AGAIN)
    if end.sha256 != digest:
        raise _fault("bundle-altered", where, f"the SHA-256 of its lines is {digest}, its end says {end.sha256}", _ASK_AGAIN)


def _refuse_more(lines: Iterator[bytes], where: str) -> None:
    if next(lines, None) is not None:
        raise _fault("bundle-trailing", where, "something stands behind the line that ends a bundle", _ASK_AGAIN)


def _name_missing(lines: Iterator[bytes], seq: int, where: str, number: int) -> InputError:
    """Tell an entry that stands later from one that does not come; the rest is read for it, within its limits."""
    for text in islice(lines, 2 * MOST_ENTRIES):
        try:
            line = parse_line(text.removesuffix(b"\n"), where=where)
        except InputError:
            continue
        if isinstance(line, EntryLine) and line.seq == seq:
            return _fault("bundle-reordered", f"{where}, line {number}", f"entry {seq} should stand here and stands later", _ASK_AGAIN)
    return _fault("bundle-gap", f"{where}, line {number}", f"entry {seq} is missing", _ASK_AGAIN)


def _describe(line: Line) -> str:
    match line:
        case EntryLine():
            return f"entry {line.seq}"
        case ContentLine():
            return f"the card text {line.sha256}"
        case _:
            return "a line"


def _fault(code: str, where: str, found: str, advice: str) -> InputError:
    return InputError(Fault(code=code, where=where, found=found, advice=advice))
