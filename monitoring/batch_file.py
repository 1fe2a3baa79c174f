"""Windows of a monitor as files: counts by stratum in JSON or CSV. No text of users is read, and none can be in such a file."""

import csv
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from registry.codec.canonical_documents import Json, from_document, json_schema
from registry.codec.file_io import complete_days, parse_document, read_text
from registry.errors import ConflictError, Fault, InputError
from registry.records.monitor import AnchorCounts, Monitor, WindowCell, is_chosen_as_planned
from registry.records.record import Record

_LABELS = ("items", "both", "judge_only", "people_only", "users", "pending", "pending_total")
_COLUMNS = (
    "monitor",
    "order",
    "from",
    "to",
    "stratum",
    "items",
    "reviewed",
    "total",
    "squares",
    "users",
    "inclusion",
    "pending",
    "suppressed",
    *(f"labels_{name}" for name in _LABELS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBatch(Record):
    """One window as a file has it."""

    monitor: str
    order: int
    from_: datetime
    to: datetime
    cells: tuple[WindowCell, ...] = ()
    missing: str | None = None
    """Why there are no data."""
    opted_out: float | None = None
    anchors: AnchorCounts | None = None
    judge: str | None = None
    """`SCF-…@n`: must be that of the plan."""
    source_sha256: str | None = None
    schema: Literal["caveat/monitor-batch/1"] = "caveat/monitor-batch/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowDraft:
    """A window that fits its plan, before its evidence is computed."""

    number: int
    start: datetime
    stop: datetime
    cells: tuple[WindowCell, ...]
    anchors: AnchorCounts | None
    opted_out: float | None
    missing: str | None
    source: str


_ENDS = frozenset({"from", "to"})


def read_batches(path: Path) -> list[WindowBatch]:
    """Return the windows in *path*: one in a JSON file, one a line in JSON Lines, one cell a row in CSV.

    Raises:
        InputError: with all faults of the file.
    """
    text = read_text(path)
    match path.suffix.casefold():
        case ".csv":
            documents: list[Json] = list(_group_rows(text, path.name))
        case ".jsonl":
            documents = [parse_document(line, where=f"{path.name}, line {number}") for number, line in _lines(text)]
        case _:
            documents = [parse_document(text, where=path.name)]
    if not documents:
        raise InputError(Fault("not-valid", path.name, "it has no window"))
    faults: list[Fault] = []
    batches = []
    for place, document in enumerate(documents, start=1):
        where = path.name if len(documents) == 1 else f"{path.name}, window {place}"
        try:
            batches.append(from_document(WindowBatch, complete_days(document, _ENDS), where=where))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return [replace(batch, source_sha256=batch.source_sha256 or digest) for batch in batches]


def fit_batch(batch: WindowBatch, monitor: Monitor) -> WindowDraft:
    """Return the window of *batch* as *monitor* takes it.

    Raises:
        InputError, ConflictError: with all that does not fit the plan.
    """
    where = f"{batch.monitor}, window {batch.order}"
    if differing := list(_find_differences(batch, monitor, where)):
        raise ConflictError(differing)
    if faults := list(_find_faults(batch, monitor, where)):
        raise InputError(faults)
    return WindowDraft(
        number=batch.order,
        start=_to_utc(batch.from_),
        stop=_to_utc(batch.to),
        # The plan has the inclusion probabilities, and they agree.
        cells=tuple(replace(cell, inclusion=None) for cell in batch.cells),
        anchors=batch.anchors,
        opted_out=batch.opted_out,
        missing=batch.missing,
        source=batch.source_sha256 or "",
    )


def _find_differences(batch: WindowBatch, monitor: Monitor, where: str) -> Iterator[Fault]:
    """Yield in what *batch* is not what was locked."""
    if batch.monitor != monitor.monitor:
        yield Fault("monitor-differs-from-lock", where, f"the file is of {batch.monitor}, and not of {monitor.monitor}")
    if batch.judge is not None and batch.judge != monitor.plan.scored_by:
        yield Fault("monitor-differs-from-lock", where, f"scored by {batch.judge}; locked is {monitor.plan.scored_by}")
    if batch.anchors is not None and monitor.plan.anchors is None:
        yield Fault("monitor-differs-from-lock", where, "it has anchors, and the plan has none")
    known = {stratum.name: stratum.inclusion for stratum in monitor.plan.strata}
    for cell in batch.cells:
        if cell.stratum not in known:
            problem = f"the plan has no stratum {cell.stratum!r}; it has {', '.join(known)}"
            yield Fault("monitor-differs-from-lock", where, problem)
        elif cell.inclusion is not None and cell.inclusion != known[cell.stratum]:
            problem = f"items of {cell.stratum} were reviewed with probability {cell.inclusion:g}; locked is {known[cell.stratum]:g}"
            yield Fault("inclusion-differs", where, problem)
        elif not cell.suppressed and not _is_chosen_as_planned(cell, known[cell.stratum]):
            chosen = cell.reviewed + cell.pending
            problem = f"{chosen:,} of {cell.items:,} items of {cell.stratum} are reviewed or pending; "
            problem += f"the plan chooses each with probability {known[cell.stratum]:g}"
            yield Fault("inclusion-differs", where, problem)
        if cell.labels is not None and not monitor.plan.is_corrected:
            problem = f"{cell.stratum} has labels of people, and the plan does not say which share people label"
            yield Fault("monitor-differs-from-lock", where, problem)


def _is_chosen_as_planned(cell: WindowCell, inclusion: float) -> bool:
    chosen = cell.reviewed + cell.pending
    # Counts that cannot be have a fault of their own.
    return not 0 <= chosen <= cell.items or is_chosen_as_planned(items=cell.items, chosen=chosen, inclusion=inclusion)


def _find_faults(batch: WindowBatch, monitor: Monitor, where: str) -> Iterator[Fault]:
    """Yield what *batch* cannot be."""
    start, stop, plan = _to_utc(batch.from_), _to_utc(batch.to), monitor.plan
    expected = plan.start.timestamp() + (batch.order - 1) * plan.every_days * 86_400
    if batch.order < 1 or start.timestamp() != expected or stop.timestamp() != expected + plan.every_days * 86_400:
        first, last = (datetime.fromtimestamp(expected + days * 86_400, UTC) for days in (0, plan.every_days))
        problem = f"it covers {start:%Y-%m-%d %H:%M} to {stop:%Y-%m-%d %H:%M}; "
        problem += f"window {batch.order} is planned from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}"
        yield Fault("window-not-as-planned", where, problem)
    if (batch.missing is None) == (not batch.cells):
        yield Fault("not-valid", where, "give cells, or say in `missing` why there are none")
    strata = [cell.stratum for cell in batch.cells]
    for name in sorted({name for name in strata if strata.count(name) > 1}):
        yield Fault("cell-impossible", where, f"stratum {name} has more than one cell")
    if batch.cells and (lacking := [stratum.name for stratum in plan.strata if stratum.name not in strata]):
        yield Fault("cell-impossible", where, f"it lacks a cell for {', '.join(lacking)}; a stratum without items has items: 0")
    if batch.opted_out is not None and not 0 <= batch.opted_out < 1:
        yield Fault("not-valid", where, f"opted_out must lie in [0, 1), got {batch.opted_out}")
    shares = {stratum.name: stratum.label_share for stratum in plan.strata}
    for cell in batch.cells:
        place = f"{where}, {cell.stratum}"
        faults = list(_find_cell_faults(cell, plan.min_users, place))
        share = shares.get(cell.stratum)
        yield from faults if faults or share is None or cell.suppressed else _find_label_faults(cell, share, plan.min_users, place)


def _find_cell_faults(cell: WindowCell, min_users: int, where: str) -> Iterator[Fault]:
    if cell.items < 0 or cell.reviewed < 0 or cell.pending < 0 or cell.reviewed + cell.pending > cell.items:
        yield Fault("cell-impossible", where, f"{cell.reviewed} reviewed and {cell.pending} pending of {cell.items} items cannot be")
        return
    if cell.suppressed:
        if cell.reviewed or cell.total or cell.users or cell.labels:
            yield Fault("cell-impossible", where, "a suppressed cell has only items")
        return
    if not 0 <= cell.total <= cell.reviewed:
        yield Fault("cell-impossible", where, f"scores in [0, 1] of {cell.reviewed} items cannot sum to {cell.total:g}")
    squares = cell.squares
    # Σx² lies between (Σx)²/n and Σx for scores in [0, 1].
    if squares is not None and not (cell.total**2 <= squares * max(cell.reviewed, 1) + 1e-9 and squares <= cell.total + 1e-9):
        yield Fault("cell-impossible", where, f"squares of scores that sum to {cell.total:g} cannot sum to {squares:g}")
    if cell.users is not None and cell.users > cell.items:
        yield Fault("cell-impossible", where, f"{cell.users} users of {cell.items} items cannot be")
    if cell.items > 0 and (cell.users is None or cell.users < min_users):
        number = "an unknown number of" if cell.users is None else str(cell.users)
        problem = f"it is of {number} users; cells of fewer than {min_users} are suppressed"
        yield Fault("cell-too-small", where, problem)


def _find_label_faults(cell: WindowCell, share: float, min_users: int, where: str) -> Iterator[Fault]:
    """Yield what the labels of a cell cannot be under a plan in which people label the share *share* of the reviewed items."""
    labels = cell.labels
    if labels is None:
        # Without a reviewed item there is none to label.
        if cell.reviewed:
            yield Fault("cell-impossible", where, "it lacks the labels of people, of which the plan has a share; give labels, also if 0")
        return
    chosen = labels.items + labels.pending
    sums = (labels.both, labels.judge_only, labels.people_only)
    others, left = cell.reviewed - chosen, cell.total - labels.both - labels.judge_only - labels.pending_total
    if min(labels.items, labels.pending, labels.users, labels.pending_total, *sums) < 0:
        yield Fault("cell-impossible", where, "labels cannot be negative")
    elif chosen > cell.reviewed:
        yield Fault("cell-impossible", where, f"{chosen} items chosen for a label of {cell.reviewed} reviewed items cannot be")
    elif sum(sums) > labels.items + 1e-9 or labels.pending_total > labels.pending:
        problem = (
            f"joint sums of {sum(sums):g} and {labels.pending_total:g} cannot be of {labels.items} labelled and {labels.pending} pending"
        )
        yield Fault("cell-impossible", where, problem)
    elif not -1e-9 <= left <= others + 1e-9:
        problem = f"the judge's scores of {others} items without a label cannot sum to {left:g}, what labels leave of {cell.total:g}"
        yield Fault("cell-impossible", where, problem)
    elif labels.users > chosen:
        yield Fault("cell-impossible", where, f"{labels.users} users of {chosen} items chosen for a label cannot be")
    elif cell.reviewed and labels.users < min_users:
        problem = f"people label items of {labels.users} users; a cell with labels of fewer than {min_users} is suppressed"
        yield Fault("cell-too-small", where, problem)
    elif not is_chosen_as_planned(items=cell.reviewed, chosen=chosen, inclusion=share):
        problem = f"{chosen} of {cell.reviewed} reviewed items were chosen for a label; locked is a random share of {share:g}"
        yield Fault("choice-not-random", where, problem)


def _to_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, line


def _group_rows(text: str, where: str) -> Iterator[Json]:
    """Yield the window documents of a CSV file with one cell a row; windows come in the order of their first row."""
    reader = csv.DictReader(text.splitlines())
    names = tuple(reader.fieldnames or ())
    if unknown := [name for name in names if name not in _COLUMNS]:
        # A column that is not known could hold texts of users.
        raise InputError(Fault("text-in-batch", where, f"column {', '.join(map(repr, unknown))} is not part of the format"))
    if lacking := [name for name in ("monitor", "order", "from", "to", "stratum", "items") if name not in names]:
        raise InputError(Fault("not-valid", where, f"it lacks the column {', '.join(lacking)}"))
    windows: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(reader, start=2):
        if None in row or None in row.values():
            raise InputError(Fault("not-valid", f"{where}, row {number}", f"it does not have {len(names)} values"))
        window = windows.setdefault(row["order"], {"schema": "caveat/monitor-batch/1", "cells": []})
        head = {"monitor": row["monitor"], "order": _number(row["order"]), "from": row["from"], "to": row["to"]}
        if any(window.setdefault(key, value) != value for key, value in head.items()):
            raise InputError(Fault("not-valid", f"{where}, row {number}", f"window {row['order']} has another head than in an earlier row"))
        window["cells"].append(_read_row(row))
    yield from windows.values()


def _read_row(row: Mapping[str, str]) -> dict[str, Any]:
    cell: dict[str, Any] = {"stratum": row["stratum"]}
    for name in ("items", "reviewed", "total", "squares", "users", "inclusion", "pending"):
        if row.get(name, ""):
            cell[name] = _number(row[name])
    labels = {name: _number(row[f"labels_{name}"]) for name in _LABELS if row.get(f"labels_{name}", "")}
    if labels:
        cell["labels"] = labels
    if row.get("suppressed", ""):
        cell["suppressed"] = {"true": True, "1": True, "false": False, "0": False}.get(row["suppressed"].casefold(), row["suppressed"])
    return cell


def _number(text: str) -> int | float | str:
    """Return the number in *text*; what is none stays text, and the record refuses it with its place."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def batch_schema() -> dict[str, Any]:
    """Return the JSON Schema of one window of a monitor."""
    return json_schema(WindowBatch)
