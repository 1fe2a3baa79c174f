"""Complete files of any length, made while they are sent: the log as a bundle, and all claims as JSON Lines or Parquet."""

import io
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from registry.cli.claim_list_command import describe_listed_claim, list_claim_list_columns
from registry.errors import Fault, UnavailableError
from registry.exchange.bundle_transfer import find_last_note, stream_bundle
from registry.registration.claim_search import ListedClaim, iterate_claims
from registry.store.log_seals import find_root
from registry.store.registry_view import View

if TYPE_CHECKING:
    import pyarrow

_CHUNK_BYTES = 65_536
_GROUP = 5_000
"""Claims of one row group of a table: so many are in memory at once."""


def join_chunks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *parts* joined to chunks, so that a line is not a packet."""
    joined = bytearray()
    for part in parts:
        joined += part
        if len(joined) >= _CHUNK_BYTES:
            yield bytes(joined)
            joined.clear()
    if joined:
        yield bytes(joined)


def write_bundle(view: View, *, since: int) -> Iterator[bytes]:
    """Return the log up to its last signed checkpoint as a bundle, without the texts of cards: these belong to others.

    Raises:
        NotFoundError: no checkpoint was signed.
        InputError: nothing comes after *since*.
    """
    # Whether statements of EXAMPLE may be seen is decided before the server starts.
    return join_chunks(stream_bundle(view, find_last_note(view).note, since=since, example=True))


def write_claim_lines(view: View) -> Iterator[bytes]:
    """Return every claim as a line of JSON, in log order."""
    return join_chunks(_list_lines(view))


def _list_lines(view: View) -> Iterator[bytes]:
    for claim in iterate_claims(view, log=view.log_origin):
        yield orjson.dumps({"schema": "caveat/web-claim-line/1", "log_size": view.log_size, **describe_listed_claim(claim)}) + b"\n"


def write_claim_table(view: View) -> Iterator[bytes]:
    """Return every claim as a table in Parquet, with the columns of `caveat claim list` and the quotation.

    Raises:
        UnavailableError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415  (it takes a while to load, and only this needs it)
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        found = "tables in Parquet need the library pyarrow, which this server does not have"
        advice = "ask for /api/1/claims.jsonl"
        raise UnavailableError(Fault("part-not-installed", "pyarrow", found, advice=advice)) from error
    columns = list_claim_list_columns()
    schema = pa.schema([*(pa.field(column.name, _find_type(pa, column.name, column.is_number)) for column in columns), ("quote", pa.string())])
    # Which state the table shows is in the file itself.
    named = {"caveat.log": view.log_origin, "caveat.size": str(view.log_size), "caveat.root": find_root(view, view.log_size)}
    return _write_groups(view, pq, pa, schema.with_metadata(named))


def _find_type(pa: Any, name: str, is_number: bool) -> "pyarrow.DataType":  # noqa: FBT001  (of the column)
    match name:
        case "date":
            return pa.date32()
        case "registered":
            return pa.timestamp("s", tz="UTC")
        case _:
            return pa.float64() if is_number else pa.string()


def _write_groups(view: View, pq: Any, pa: Any, schema: "pyarrow.Schema") -> Iterator[bytes]:
    sink = io.BytesIO()
    columns = list_claim_list_columns()
    claims = iterate_claims(view, log=view.log_origin)
    with pq.ParquetWriter(_Forward(sink), schema, compression="zstd") as writer:
        while group := list(islice(claims, _GROUP)):
            rows = [_build_row(claim, columns) for claim in group]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            yield _drain(sink)
    # The foot of the file names its groups.
    yield _drain(sink)


def _build_row(claim: ListedClaim, columns: Iterable[Any]) -> dict[str, Any]:
    cells = {column.name: column.read(claim) for column in columns}
    written = {name: cell if cell is None or isinstance(cell, float | int | date | datetime) else str(cell) for name, cell in cells.items()}
    return {**written, "quote": claim.summary.quote}


def _drain(sink: io.BytesIO) -> bytes:
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written


class _Forward(io.RawIOBase):
    """A file that only grows: what is written goes to *sink*, which is emptied as it is sent, and the place in the file goes on."""

    def __init__(self, sink: io.BytesIO) -> None:
        super().__init__()
        self._sink = sink
        self._place = 0

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._place

    def write(self, data: Any) -> int:
        """Take *data* as the next bytes."""
        written = self._sink.write(data)
        self._place += written
        return written
