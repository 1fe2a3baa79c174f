"""Langfuse's scheduled export to a blob storage, read as windows of a monitor: `observations_v2/` and `scores/` in JSON Lines or JSON.

The fields are those of Langfuse's published reference of its export ("Blob storage export field reference", 2026). Inputs, outputs,
comments and texts of scores are never looked at; leave their field groups out of the export.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from monitoring.stream_items import (
    YES,
    StreamAnchor,
    StreamItem,
    TraceReading,
    check_planned,
    fill_windows,
    map_score,
    read_anchor,
    read_label,
)
from registry.codec.file_io import read_text
from registry.errors import ConflictError, Fault, InputError
from registry.records.dossier import MonitorFile
from registry.records.monitor import MonitorPlan, StreamUnit

OBSERVATIONS, SCORES = "observations_v2", "scores"
LARGEST_EXPORT = 2_000_000_000
"""Bytes of one file."""
_READABLE = (".jsonl", ".json")
_NUMERIC = ("NUMERIC", "BOOLEAN")

Row = Mapping[str, Any]


def is_langfuse(path: Path) -> bool:
    """Return whether *path* is a folder with the observations of a Langfuse export."""
    return path.is_dir() and (path / OBSERVATIONS).is_dir()


def read_export(folder: Path, file: MonitorFile, *, now: datetime) -> TraceReading:
    """Return the windows that the export in *folder* fills, from the first that is not on record to the last that is over.

    Raises:
        InputError: an observation of the stream without inclusion probability or unit, a score outside the range, a file in another
            format, or a plan that does not name the stream in traces.
        ConflictError: the scores come from several judges.
    """
    check_planned(file)
    plan, faults, excluded = file.plan, list[Fault](), Counter[str]()
    whole = hashlib.sha256()
    items: list[StreamItem] = []
    anchors: list[StreamAnchor] = []
    for row in _read_table(folder, OBSERVATIONS, whole):
        where = f"{folder.name}, observation {row.get('id')}"
        if (label := _get_metadata(row).get("caveat.anchor")) is not None:
            # Anchors are scored again outside of production.
            try:
                anchors.append(read_anchor(label, row["id"], _read_time(row.get("start_time"), where), where))
            except InputError as error:
                faults.extend(error.faults)
            continue
        if (reason := _find_exclusion(row, plan)) is not None:
            excluded[reason] += 1
            continue
        try:
            items.append(_read_item(row, plan, where))
        except InputError as error:
            faults.extend(error.faults)
    scores = _read_scores(folder, plan, whole, faults, excluded, anchors={anchor.response for anchor in anchors})
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    excluded["observations before the stream began"] = sum(item.at < plan.start for item in items)
    if plan.anchors is None:
        excluded["anchors, which the plan has not"] = len(anchors)
    batches = fill_windows(items, scores, file, anchors=anchors, now=now, digest=whole.hexdigest(), where=folder.name)
    return TraceReading(batches=batches, excluded={reason: count for reason, count in sorted(excluded.items()) if count})


def _read_table(folder: Path, name: str, whole: "hashlib._Hash") -> list[Row]:
    """Return the rows of one table, of each identifier the row that was updated last; the files' bytes go into *whole*."""
    latest: dict[str, Row] = {}
    for path in sorted(path for path in (folder / name).rglob("*") if path.is_file()):
        where = f"{name}/{path.name}"
        if path.suffix not in _READABLE:
            advice = "export JSON Lines without compression"
            raise InputError(Fault("not-valid", where, f"a file of format {path.suffix or 'unknown'} is not read", advice=advice))
        text = read_text(path, largest=LARGEST_EXPORT)
        whole.update(text.encode())
        for row in _parse(text, path.suffix, where):
            known = latest.get(str(row.get("id")))
            # An export repeats a row that was updated since.
            if known is None or str(known.get("updated_at") or "") <= str(row.get("updated_at") or ""):
                latest[str(row.get("id"))] = row
    return list(latest.values())


def _parse(text: str, suffix: str, where: str) -> Iterator[Row]:
    try:
        rows = json.loads(text) if suffix == ".json" else [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise InputError(Fault("not-json", where, f"it is not JSON: {error}")) from error
    for row in rows if isinstance(rows, list) else [rows]:
        if not isinstance(row, dict) or not row.get("id"):
            raise InputError(Fault("not-valid", where, "a row is no object with an id"))
        yield row


def _find_exclusion(row: Row, plan: MonitorPlan) -> str | None:
    """Return why an observation is not of the stream; None where it is."""
    if row.get("environment") != "production":
        return "observations of other environments"
    if row.get("type") != "GENERATION":
        return "observations that are no generation"
    return None if row.get("provided_model_name") in plan.models else "observations of other models, or of none"


def _read_item(row: Row, plan: MonitorPlan, where: str) -> StreamItem:
    known = _get_metadata(row)
    inclusion = _read_number(known.get("caveat.pi"))
    if inclusion is None:
        problem = "its metadata has no caveat.pi: with what probability it was chosen for review is not known"
        raise InputError(Fault("inclusion-unknown", where, problem))
    cluster = "user_id" if plan.unit is StreamUnit.USER else "session_id"
    unit = known.get("caveat.unit") or row.get(cluster)
    if not unit:
        raise InputError(Fault("not-valid", where, f"it has neither {cluster} nor caveat.unit: the {plan.unit.value} is not known"))
    chosen = YES.get(str(known.get("caveat.chosen", inclusion == 1 or None)).casefold())
    if chosen is None:
        # Without it, an item that was not chosen and one whose label is missing look alike.
        raise InputError(Fault("inclusion-unknown", where, "its metadata has no caveat.chosen: whether it was chosen is not known"))
    at = _read_time(row.get("start_time"), where)
    label = read_label(known, plan, where, is_chosen=chosen)
    return StreamItem(str(row["id"]), str(unit), str(known.get("caveat.stratum", "all")), inclusion, chosen, at, *label)


def _get_metadata(row: Row) -> Row:
    metadata = row.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _read_number(value: object) -> float | None:
    """Return a number, also one that is written as text, as exported metadata may have it."""
    try:
        return float(str(value))
    except ValueError:
        return None


def _read_time(value: object, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise InputError(Fault("not-valid", where, "its start_time is no time")) from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _read_scores(
    folder: Path, plan: MonitorPlan, whole: "hashlib._Hash", faults: list[Fault], excluded: Counter[str], *, anchors: Collection[str]
) -> dict[str, float]:
    """Return the scores of the plan's evaluation by observation; what is another's is counted in *excluded*."""
    scores: dict[str, float] = {}
    judges: set[str] = set()
    for row in _read_table(folder, SCORES, whole):
        is_anchor = row.get("observation_id") in anchors
        if row.get("name") != plan.evaluation or not (is_anchor or row.get("environment") == "production"):
            excluded["scores of other evaluations or environments"] += 1
        elif row.get("data_type") not in _NUMERIC or not isinstance(row.get("value"), int | float):
            excluded["scores that are no number"] += 1
        elif not row.get("observation_id"):
            excluded["scores of whole traces or sessions"] += 1
        elif str(row["observation_id"]) in scores:
            problem = f"the observation {row['observation_id']} has two scores of {plan.evaluation!r}"
            faults.append(Fault("duplicate", f"{SCORES}, score {row['id']}", problem))
        else:
            judges.add(" ".join(filter(None, (str(row.get("source")), row.get("evaluator_id") or ""))))
            try:
                scores[str(row["observation_id"])] = map_score(float(row["value"]), plan, f"{SCORES}, score {row['id']}")
            except InputError as error:
                faults.extend(error.faults)
    # Two judges under one name would make a change of the judge look like one of the system.
    if len(judges) > 1:
        problem = f"scores of {plan.evaluation!r} come from {len(judges)} judges: {', '.join(sorted(judges))}; locked is {plan.scored_by}"
        raise ConflictError(Fault("monitor-differs-from-lock", folder.name, problem))
    return scores
