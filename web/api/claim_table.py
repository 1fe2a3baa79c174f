"""All claims as a table in Parquet, made group by group while it is sent. The one door of the web to pyarrow."""

import io
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from registry.cli.claim_list_command import list_claim_list_columns
from registry.present.listings import Column
from registry.registration.claim_search import ListedClaim, stream_claims
from registry.store.log_seals import find_root
from registry.store.registry_view import View

_TYPES = {"date": pa.date32(), "registered": pa.timestamp("s", tz="UTC")}


def write_table(view: View) -> Iterator[bytes]:
    """Yield the bytes of a table with the columns of `caveat claim list`."""
    columns = list_claim_list_columns()
    # Of empty columns too the type is known, and each group has the same.
    types = [(one.name, _TYPES.get(one.name, pa.float64() if one.is_number else pa.string())) for one in columns]
    # Which state the table shows is in the file itself.
    named = {"caveat.log": view.log_origin, "caveat.size": str(view.log_size), "caveat.root": find_root(view, view.log_size)}
    schema = pa.schema(types).with_metadata(named)
    sink = _GrowingFile()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        # One row group for each stretch: so many claims are in memory at once.
        for group in stream_claims(view, log=view.log_origin):
            writer.write_table(pa.Table.from_pylist([_build_row(claim, columns) for claim in group], schema=schema))
            yield sink.take()
    # The foot of the file names its groups.
    yield sink.take()


def _build_row(claim: ListedClaim, columns: Iterable[Column[ListedClaim]]) -> dict[str, Any]:
    cells = {column.name: column.read(claim) for column in columns}
    return {name: cell if cell is None or isinstance(cell, float | int | date | datetime) else str(cell) for name, cell in cells.items()}


class _GrowingFile(io.RawIOBase):
    """A file that only grows: what was written is taken and sent, and its place goes on."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()
        self._place = 0

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._place

    def write(self, data: Any) -> int:
        """Take *data* as the next bytes."""
        self._written += data
        self._place += len(data)
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        written = bytes(self._written)
        self._written.clear()
        return written
