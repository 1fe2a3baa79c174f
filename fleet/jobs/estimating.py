"""Estimates as pieces: a score table and a plan in, an estimate out."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from importlib.metadata import version
from platform import python_version_tuple
from typing import Any

import numpy as np

from audit.modules.differential_estimate import EstimateOutcome, EstimateRequest, estimate_request
from audit.statistics.responses import ScoreTable, TableFile, TextColumn
from fleet.jobs.piece_run import PieceOrder, do_pieces
from fleet.pieces import ESTIMATE, Equipment, Piece
from registry.codec.canonical_documents import from_document, from_json, to_document
from registry.records.analysis_plan import Plan
from registry.records.estimates import Estimate

_SLICE, _AHEAD = 20, 400
_COLUMNS = tuple(field.name for field in fields(ScoreTable) if "TextColumn" in str(field.type))


def read_equipment(*, is_strict: bool = False) -> Equipment:
    """Return the versions that an estimate depends on.

    Args:
        is_strict: whether the extensions of the processor are one of them. With others, a bootstrap band may differ after its twelfth
            digit; bands decide nothing.
    """
    versions = {name: version(name) for name in ("caveat", "numpy", "scipy")} | {"python": ".".join(python_version_tuple()[:2])}
    cpu = read_dispatch()
    return Equipment(kind=ESTIMATE, versions=versions | {"cpu": cpu} if is_strict else versions, variant=cpu)


def list_equipment() -> tuple[Equipment, ...]:
    """Return what this machine can work as, the strictest last."""
    return read_equipment(), read_equipment(is_strict=True)


def read_dispatch() -> str:
    """Return the extensions of the processor that NumPy uses: with others a sum may differ in its last digits."""
    return " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", ()))


def estimate_on_fleet(
    url: str, requests: Iterable[EstimateRequest], *, tell: Callable[[str], None], is_strict: bool = False
) -> Iterator[EstimateOutcome]:
    """Have the workers of the fleet at *url* estimate, and give the outcomes as they are done. Raises as `do_pieces`.

    Args:
        is_strict: take no estimate of a machine with other processor extensions than this one. If not, *tell* says which were taken.
    """
    order = PieceOrder(url=url, equipment=read_equipment(is_strict=is_strict), slice_size=_SLICE, ahead=_AHEAD)
    pieces = (Piece(label=request.label, inputs=dump_request(request)) for request in requests)
    for outcome in do_pieces(order, pieces, tell=tell):
        result = outcome.result
        estimate = from_json(Estimate, result, where=f"estimate {outcome.position}") if isinstance(result, bytes) else result
        yield EstimateOutcome(position=outcome.position, result=estimate)


def do_piece(inputs: bytes, _settings: dict[str, Any]) -> bytes:
    """Return the estimate of *inputs* as JSON."""
    return _to_json(to_document(estimate_request(load_request(inputs))))


# A table crosses as a line of JSON and the bytes of its arrays, in the order of the columns.


def dump_request(request: EstimateRequest) -> bytes:
    """Return *request* as bytes; the same table gives the same bytes on every machine."""
    table = request.table
    columns = {name: column for name in _COLUMNS if (column := getattr(table, name)) is not None}
    header = {
        "plan": to_document(request.plan),
        "range": list(request.range),
        "test": request.test,
        "deploy": request.deploy,
        "pointwise": request.pointwise,
        "rows": table.rows,
        "low": table.low,
        "high": table.high,
        "files": [asdict(file) for file in table.files],
        "doubts": list(table.doubts),
        "columns": {name: list(column.labels) for name, column in columns.items()},
    }
    arrays = [column.codes.astype("<i4").tobytes() for column in columns.values()]
    return b"\n".join([_to_json(header), b"".join([*arrays, table.score.astype("<f8").tobytes()])])


def load_request(data: bytes) -> EstimateRequest:
    """Return the request that `dump_request` wrote; what people call it is not in it."""
    line, _, arrays = data.partition(b"\n")
    header = json.loads(line)
    rows, offset = header["rows"], 0
    columns: dict[str, TextColumn | None] = dict.fromkeys(_COLUMNS)
    for name in (name for name in _COLUMNS if name in header["columns"]):
        codes = np.frombuffer(arrays, dtype="<i4", count=rows, offset=offset).astype(np.int32)
        columns[name] = TextColumn(codes=codes, labels=tuple(header["columns"][name]))
        offset += 4 * rows
    score = np.frombuffer(arrays, dtype="<f8", count=rows, offset=offset).astype(np.float64)
    files = tuple(TableFile(**file) for file in header["files"])
    known = {"score": score, "low": header["low"], "high": header["high"], "files": files, "doubts": tuple(header["doubts"])}
    table = ScoreTable(**known, **columns)  # type: ignore[arg-type]  # by name
    low, high = header["range"]
    return EstimateRequest(
        label="", table=table, plan=from_document(Plan, header["plan"], where="plan"), range=(low, high), test=header["test"],
        deploy=header["deploy"], pointwise=header["pointwise"],
    )  # fmt: skip


def _to_json(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()
