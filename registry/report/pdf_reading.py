"""A PDF read strictly and within limits: its objects and its tables. Nothing is repaired, and no library is needed."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

# Readers of PDFs repair what is wrong and differ in how, so two people can see two documents in one
# file. A verifier must not repair (decision of 2026-11-26): whatever Caveat never writes is an
# error here. What it has to read is little, since qpdf and `published_file` write each file:
# objects, object streams, both kinds of table (ISO 32000-2, 7.3 and 7.5), and one filter.
#
# pypdf, pyHanko and pdfminer recover from damage before they report it, and none limits how many
# items an array has. pikepdf does both well, and brings Pillow and lxml (43 MB) that reading one
# file never needs. It still writes the files, and the tests let it judge what is read here.

LARGEST_STREAM_BYTES = 50_000_000
"""Of what any compressed stream may inflate to."""
MOST_OBJECTS = 500_000
_MOST_ITEMS = 500_000
"""In one object, with all that is nested in it."""
_MOST_NESTING = 100
_MOST_TABLES = 100
_LONGEST_INDEX_BYTES = 20 * MOST_OBJECTS
_LONGEST_END_BYTES = 1_054
"""The end is looked for there, as qpdf does. Bytes after it are another check's."""

_W, _NOT_REGULAR = rb"[\x00\t\n\x0c\r ]", rb"(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])"
# Possessive, so that no text takes more than one pass.
_SPACE = rb"(?:" + _W + rb"++|%[^\r\n]*+)*+"
_TOKEN = re.compile(
    _SPACE + rb"(?:(?P<open><<|\[)|(?P<close>>>|\])|/(?P<name>[^\x00\t\n\x0c\r ()<>\[\]{}/%]*+)|(?P<text>\()|<(?P<hex>[0-9A-Fa-f\s]*+)>"
    rb"|(?P<reference>\d{1,10}" + _W + rb"++\d{1,5}" + _W + rb"++R" + _NOT_REGULAR + rb")"
    rb"|(?P<number>[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20}))" + _NOT_REGULAR + rb"|(?P<word>true|false|null)" + _NOT_REGULAR + rb")"
)  # fmt: skip
_TEXT_PART = re.compile(rb"[^\\()]++|\\.|[()]", re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(\r\n|.))", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"\n": b"", b"\r": b"", b"\r\n": b""}
_HASH = re.compile(r"#([0-9A-Fa-f]{2})?")
# Not the end of a longer number: a table that is one byte off would find another object.
_HEAD = re.compile(rb"(?<=[\r\n ])(\d{1,10})" + _W + rb"++(\d{1,5})" + _W + rb"++obj" + _NOT_REGULAR)
_TAIL = re.compile(_SPACE + rb"(?:(endobj)" + _NOT_REGULAR + rb"|stream\r?\n)")
_STREAM_TAIL = re.compile(rb"(?:\r\n|\n|\r)?endstream" + _W + rb"++endobj" + _NOT_REGULAR)
_START = re.compile(rb"startxref" + _W + rb"++(\d{1,12})" + _W + rb"++%%EOF")
_SECTION = re.compile(_W + rb"*+(\d{1,10}) (\d{1,10})[ \r\n]++")
_ROW = re.compile(rb"(\d{10}) (\d{5}) ([nf])(?: \r| \n|\r\n)")
_TRAILER = re.compile(_W + rb"*+trailer" + _NOT_REGULAR)
_FREE, _PLAIN, _PACKED = 0, 1, 2
"""Kinds of row in a table: no object, one at an offset, one in an object stream."""
_UP = 2
"""The PNG predictor that subtracts the row above."""
_FIRST_PNG_PREDICTOR = 10


class PdfDamageError(ValueError):
    """The file does not follow its own tables or the syntax: a reader would have to repair it."""


class PdfSizeError(ValueError):
    """Something in the file is larger than in any supplement."""


class PdfName(str):
    """A name without its slash, such as `Type`, with what was escaped written out."""

    __slots__ = ()


class PdfReference(NamedTuple):
    """A reference to an indirect object."""

    number: int
    generation: int


@dataclass(frozen=True, slots=True)
class PdfStream:
    """A stream: its dictionary, and its bytes as they are in the file."""

    dictionary: "PdfDictionary"
    data: bytes

    def inflate(self, *, is_table: bool = False) -> bytes:
        """Return the content; raises PdfSizeError, PdfDamageError, or ValueError for another filter than Flate.

        Args:
            is_table: `DecodeParms` are permitted, which the caller applies.
        """
        filters = self.dictionary.get("Filter")
        if not is_table and self.dictionary.get("DecodeParms") is not None:
            raise ValueError("a stream is encoded in another way than Caveat encodes it")
        if filters in (None, []):
            return self.data
        if filters != "FlateDecode" and filters != [PdfName("FlateDecode")]:
            raise ValueError("a stream is encoded in another way than Caveat encodes it")
        inflater = zlib.decompressobj()
        try:
            content = inflater.decompress(self.data, LARGEST_STREAM_BYTES + 1)
        except zlib.error as error:
            raise PdfDamageError("a compressed stream is damaged") from error
        if len(content) > LARGEST_STREAM_BYTES:
            raise PdfSizeError(f"something in it inflates to more than {LARGEST_STREAM_BYTES:,} bytes")
        # Bytes after the end would be content that some readers show.
        if not inflater.eof or inflater.unused_data:
            raise PdfDamageError("a compressed stream ends too early or too late")
        return content


PdfValue: TypeAlias = "bool | int | float | bytes | PdfName | PdfReference | PdfStream | list[PdfValue] | dict[str, PdfValue] | None"
PdfDictionary: TypeAlias = dict[str, PdfValue]
Row: TypeAlias = tuple[int, int, int]
"""Kind of row; offset and generation, or object stream and place in it."""


def decode_text(value: PdfValue) -> str:
    """Return the text string *value* (ISO 32000-2, 7.9.2.2), with U+FFFD for what is not valid; raises ValueError if it is no string."""
    if not isinstance(value, bytes):
        raise ValueError("a text is missing in it")  # noqa: TRY004  (a damaged file, not a mistake of the caller)
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "replace")
    return value[3:].decode("utf-8", "replace") if value.startswith(b"\xef\xbb\xbf") else value.decode("latin-1")


def get_number(value: PdfValue) -> int:
    """Return the number of the object that *value* refers to; raises ValueError if it is no reference."""
    if not isinstance(value, PdfReference):
        raise ValueError("a reference is missing in it")  # noqa: TRY004  (as above)
    return value.number


def list_values(value: PdfValue) -> Iterator[PdfValue]:
    """Yield *value* and all that is in it, keys of dictionaries too, without following references."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, PdfStream):
            waiting.append(value.dictionary)
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += map(PdfName, value)
            waiting += value.values()


def parse_value(data: bytes, position: int) -> tuple[PdfValue, int]:
    """Return the value at *position* of *data*, and where it ends; raises PdfDamageError, or ValueError for endless nesting."""
    waiting: list[tuple[bytes, list[PdfValue]]] = []
    for _ in range(_MOST_ITEMS):
        match = _TOKEN.match(data, position)
        if match is None:
            raise PdfDamageError(f"what is at byte {position:,} is no value")
        position, kind = match.end(), match.lastgroup
        if kind == "open":
            waiting.append((match["open"], []))
            if len(waiting) > _MOST_NESTING:
                raise ValueError(f"something in it is nested more than {_MOST_NESTING} deep")
            continue
        value: PdfValue
        if kind == "close":
            value = _close(waiting, match["close"], position)
        elif kind == "text":
            value, position = _parse_text(data, position)
        else:
            value = _parse_plain(str(kind), match[str(kind)])
        if not waiting:
            return value, position
        waiting[-1][1].append(value)
    raise PdfDamageError(f"an object has more than {_MOST_ITEMS:,} items")


def _close(waiting: list[tuple[bytes, list[PdfValue]]], bracket: bytes, position: int) -> PdfValue:
    opening, items = waiting.pop() if waiting else (b"", [])
    if opening + bracket == b"[]":
        return items
    keys = items[::2]
    names = [key for key in keys if isinstance(key, PdfName)]
    if opening + bracket != b"<<>>" or len(names) != len(keys) or len(items) % 2:
        raise PdfDamageError(f"brackets do not match, or a key is missing, before byte {position:,}")
    # Of two values under one key, readers take different ones.
    if len(set(names)) != len(names):
        raise PdfDamageError(f"a dictionary has one key twice, before byte {position:,}")
    return dict(zip(names, items[1::2], strict=True))


def _parse_plain(kind: str, text: bytes) -> PdfValue:
    match kind:
        case "name":
            return PdfName(_HASH.sub(_unescape_name, text.decode("latin-1")))
        case "number":
            return float(text) if b"." in text else int(text)
        case "reference":
            number, generation, _ = text.split()
            return PdfReference(int(number), int(generation))
        case "hex":
            digits = b"".join(text.split()).decode("ascii")
            return bytes.fromhex(digits + "0" * (len(digits) % 2))
        case _:
            return {b"true": True, b"false": False}.get(text)


def _parse_text(data: bytes, position: int) -> tuple[bytes, int]:
    parts: list[bytes] = []
    depth = 1
    while match := _TEXT_PART.match(data, position):
        position = match.end()
        depth += {b"(": 1, b")": -1}.get(match[0], 0)
        if not depth:
            return _ESCAPE.sub(_unescape, b"".join(parts)), position
        parts.append(match[0])
    raise PdfDamageError("a text in it has no end")


def _unescape_name(match: re.Match[str]) -> str:
    if match[1] is None:
        raise PdfDamageError("a name has # in it without the code of a character")
    return chr(int(match[1], 16))


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8) & 255]) if match[1] else _ESCAPED.get(match[2], match[2])


class PdfDocument:
    """The objects of one PDF, each read when it is asked for."""

    def __init__(self, data: bytes) -> None:
        """Read the tables of *data*; raises ValueError, PdfDamageError or PdfSizeError."""
        self._data = data
        self._rows: dict[int, Row] = {}
        self._container: tuple[int, bytes, list[int], list[int]] | None = None
        start = _START.match(data, max(0, data.rfind(b"startxref", -_LONGEST_END_BYTES)))
        if not data.startswith(b"%PDF-") or start is None:
            raise ValueError("its beginning or its end is missing")
        self.trailer = self._read_tables(int(start[1]))
        root = self.follow(self.trailer, "Root")
        if not isinstance(root, dict):
            raise ValueError("it has no catalog")  # noqa: TRY004  (a damaged file, not a mistake of the caller)
        self.root = root

    @property
    def size(self) -> int:
        """One more than the largest number of an object."""
        return max(self._rows) + 1

    def list_objects(self) -> list[int]:
        """Return the number of every object."""
        return sorted(number for number, (kind, _, _) in self._rows.items() if kind != _FREE)

    def follow(self, value: PdfValue, *keys: str) -> PdfValue:
        """Return *value*, or what lies in it under *keys*, each reference replaced by its object; None where there is nothing.

        Raises:
            ValueError: something on the way is no dictionary; or as `read_object`.
        """
        value = self._resolve(value)
        for key in keys:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise ValueError(f"what has the key {key} is no dictionary")  # noqa: TRY004  (as above)
            value = self._resolve(value.get(key))
        return value

    def follow_list(self, value: PdfValue, *keys: str) -> list[PdfValue]:
        """Return the list that lies in *value* under *keys*; raises ValueError if there is none, or as `follow`."""
        items = self.follow(value, *keys)
        if not isinstance(items, list):
            raise ValueError(f"{' '.join(keys)} is no list")  # noqa: TRY004  (as above)
        return items

    def has(self, reference: PdfReference) -> bool:
        """Whether there is such an object."""
        kind, _, generation = self._rows.get(reference.number, (_FREE, 0, 0))
        return kind != _FREE and reference.generation == (generation if kind == _PLAIN else 0)

    def _resolve(self, value: PdfValue) -> PdfValue:
        if not isinstance(value, PdfReference):
            return value
        # A missing object is null (7.3.10); so is one of another generation.
        if not self.has(value):
            return None
        target = self.read_object(value.number)
        if isinstance(target, PdfReference):
            raise PdfDamageError(f"object {value.number} is a reference")
        return target

    def read_object(self, number: int) -> PdfValue:
        """Return the object *number*, which `list_objects` returned; raises PdfSizeError, or as `parse_value`."""
        kind, place, rest = self._rows[number]
        if kind == _PACKED:
            data, position = self._open_container(number, place, rest)
            return parse_value(data, position)[0]
        head = _HEAD.match(self._data, place)
        if head is None or (int(head[1]), int(head[2])) != (number, rest):
            raise PdfDamageError(f"object {number} is not where the table says")
        return self._read_body(head.end())

    def read_text(self, number: int) -> bytes:
        """Return the object *number*, which is no stream, as it is written in the file."""
        kind, place, rest = self._rows[number]
        head = None if kind == _PACKED else _HEAD.match(self._data, place)
        data, position = self._open_container(number, place, rest) if head is None else (self._data, head.end())
        return data[position : parse_value(data, position)[1]].strip()

    def _read_body(self, position: int) -> PdfValue:
        value, position = parse_value(self._data, position)
        tail = _TAIL.match(self._data, position)
        if tail is None or (tail[1] is None and not isinstance(value, dict)):
            raise PdfDamageError(f"the object that ends at byte {position:,} has no end")
        if tail[1] is not None or not isinstance(value, dict):
            return value
        length = value.get("Length")
        if isinstance(length, PdfReference):
            length = self._read_length(length)
        end = tail.end() + length if isinstance(length, int) and length >= 0 else len(self._data)
        if _STREAM_TAIL.match(self._data, end) is None:
            raise PdfDamageError(f"the stream at byte {tail.end():,} is not as long as it says")
        return PdfStream(value, self._data[tail.end() : end])

    def _read_length(self, reference: PdfReference) -> PdfValue:
        # Not by `read_object`: a length that is a stream with this very length would have no end.
        kind, place, _ = self._rows.get(reference.number, (_FREE, 0, 0))
        head = _HEAD.match(self._data, place) if kind == _PLAIN else None
        return parse_value(self._data, head.end())[0] if head else None

    def _open_container(self, number: int, container: int, place: int) -> tuple[bytes, int]:
        """Return the content of the object stream *container*, and where object *number* begins in it."""
        # Only the last one is kept: they are asked for in order, and many would take much memory.
        if self._container is None or self._container[0] != container:
            if self._rows.get(container, (_FREE, 0, 0))[0] != _PLAIN:
                raise PdfDamageError(f"object {number} is in an object stream that does not exist")
            self._container = (container, *_read_index(self.read_object(container)))
        _, data, numbers, starts = self._container
        if place >= len(numbers) or numbers[place] != number:
            raise PdfDamageError(f"object {number} is not in the object stream that the table names")
        return data, starts[place]

    def _read_tables(self, position: int | None) -> PdfDictionary:
        """Read every table, the newest first, whose rows count before those of older ones; return the newest trailer."""
        newest: PdfDictionary | None = None
        positions: set[int] = set()
        while position is not None:
            if position in positions or len(positions) >= _MOST_TABLES:
                raise ValueError("its cross-references have no end")
            positions.add(position)
            is_classic = self._data.startswith(b"xref", position)
            rows, trailer = self._read_classic(position) if is_classic else self._read_table_stream(position)
            self._rows = rows | self._rows
            if len(self._rows) > MOST_OBJECTS:
                raise PdfSizeError(f"it has more than {MOST_OBJECTS:,} objects")
            newest = trailer if newest is None else newest
            # A table for old readers with another for new ones: two documents in one file.
            if "XRefStm" in trailer:
                raise ValueError("it has two tables for two kinds of reader")
            previous = trailer.get("Prev")
            if not (previous is None or isinstance(previous, int)):
                raise PdfDamageError("the place of its earlier table is no number")
            position = previous
        return newest or {}

    def _read_classic(self, position: int) -> tuple[dict[int, Row], PdfDictionary]:
        rows: dict[int, Row] = {}
        position += len(b"xref")
        while section := _SECTION.match(self._data, position):
            first, count, position = int(section[1]), int(section[2]), section.end()
            if count > MOST_OBJECTS:
                raise PdfSizeError(f"it has more than {MOST_OBJECTS:,} objects")
            for number in range(first, first + count):
                row = _ROW.match(self._data, position)
                if row is None:
                    raise PdfDamageError(f"row {number} of its table is damaged")
                if number in rows:
                    raise PdfDamageError(f"object {number} is in its table twice")
                rows[number] = (_PLAIN if row[3] == b"n" else _FREE, int(row[1]), int(row[2]))
                position = row.end()
        head = _TRAILER.match(self._data, position)
        trailer = parse_value(self._data, head.end())[0] if head else None
        if not isinstance(trailer, dict):
            raise PdfDamageError("its table has no trailer")
        return rows, trailer

    def _read_table_stream(self, position: int) -> tuple[dict[int, Row], PdfDictionary]:
        head = _HEAD.match(self._data, position)
        stream = self._read_body(head.end()) if head else None
        if not isinstance(stream, PdfStream) or stream.dictionary.get("Type") != "XRef":
            raise ValueError("there is no table where its end says")
        widths = _list_numbers(stream.dictionary.get("W"), most=8)
        spans = _list_numbers(stream.dictionary.get("Index", [0, stream.dictionary.get("Size")]), most=MOST_OBJECTS)
        if len(widths) != 3 or len(spans) % 2 or not any(widths):
            raise PdfDamageError("its table is damaged")
        if sum(spans[1::2]) > MOST_OBJECTS:
            raise PdfSizeError(f"it has more than {MOST_OBJECTS:,} objects")
        numbers = [number for first, count in zip(spans[::2], spans[1::2], strict=True) for number in range(first, first + count)]
        content, width = _undo_predictor(stream), sum(widths)
        if len(content) != width * len(numbers) or len(set(numbers)) != len(numbers):
            raise PdfDamageError("its table has more or fewer rows than it says, or one twice")
        ends = (widths[0], widths[0] + widths[1], width)
        rows: dict[int, Row] = {}
        for number, at in zip(numbers, range(0, len(content), width), strict=True):
            row = content[at : at + width]
            # Without a first column every row is of an object at an offset.
            kind = int.from_bytes(row[: ends[0]]) if widths[0] else _PLAIN
            rows[number] = (kind, int.from_bytes(row[ends[0] : ends[1]]), int.from_bytes(row[ends[1] :]))
            if kind > _PACKED:
                raise PdfDamageError(f"row {number} of its table is damaged")
        return rows, stream.dictionary


def _list_numbers(value: PdfValue, *, most: int) -> list[int]:
    numbers = [item for item in value if isinstance(item, int) and 0 <= item <= 10**12] if isinstance(value, list) else []
    if not isinstance(value, list) or len(numbers) != len(value) or max(numbers, default=0) > 10**10 or len(numbers) > 2 * most:
        raise PdfDamageError("its table is damaged")
    return numbers


def _read_index(stream: PdfValue) -> tuple[bytes, list[int], list[int]]:
    """Return the content of an object stream (7.5.7), the numbers of its objects, and where each begins."""
    if not isinstance(stream, PdfStream) or stream.dictionary.get("Type") != "ObjStm":
        raise PdfDamageError("what should be an object stream is none")
    count, first = stream.dictionary.get("N"), stream.dictionary.get("First")
    data = stream.inflate()
    if not isinstance(count, int) or not isinstance(first, int) or not 0 <= first <= min(len(data), _LONGEST_INDEX_BYTES):
        raise PdfDamageError("an object stream has no index")
    words = data[:first].split()
    if len(words) != 2 * count or not all(word.isdigit() and len(word) <= 10 for word in words):
        raise PdfDamageError("the index of an object stream is damaged")
    return data, [int(word) for word in words[::2]], [first + int(word) for word in words[1::2]]


def _undo_predictor(stream: PdfStream) -> bytes:
    """Return the content of a table, whose rows may be differences from the row above (7.4.4.4)."""
    content, parameters = stream.inflate(is_table=True), stream.dictionary.get("DecodeParms")
    if isinstance(parameters, list) and len(parameters) == 1:
        (parameters,) = parameters
    if not isinstance(parameters, dict) or parameters.get("Predictor", 1) == 1:
        return content
    columns, predictor = parameters.get("Columns"), parameters.get("Predictor")
    if not isinstance(columns, int) or not isinstance(predictor, int) or predictor < _FIRST_PNG_PREDICTOR or not 0 < columns <= 64:
        raise ValueError("its table is encoded in another way than Caveat encodes it")
    above, rows = bytes(columns), []
    for at in range(0, len(content), columns + 1):
        method, row = content[at], content[at + 1 : at + 1 + columns]
        if method not in (0, _UP) or len(row) != columns:
            raise ValueError("its table is encoded in another way than Caveat encodes it")
        above = bytes((low + high) & 255 for low, high in zip(row, above, strict=True)) if method == _UP else row
        rows.append(above)
    return b"".join(rows)
