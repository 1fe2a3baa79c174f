"""Production traces in OTLP JSON with OpenTelemetry's conventions for generative AI, read as windows of a monitor.

Only identifiers, times, inclusion probabilities and scores are read. Message texts are never looked at, and nothing of a trace but the
sums of its window is kept.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from monitoring.stream_items import StreamAnchor, StreamItem, TraceReading, check_planned, fill_windows, map_score, read_anchor, read_label
from registry.codec.file_io import read_text
from registry.errors import Fault, InputError
from registry.records.dossier import MonitorFile
from registry.records.monitor import MonitorPlan

LARGEST_TRACES = 2_000_000_000
"""Bytes of a file of traces."""
_EVENT = "gen_ai.evaluation.result"
_HEAD = 4096


def is_otlp(path: Path) -> bool:
    """Whether the file *path* begins as OTLP JSON does."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return b'"resourceSpans"' in head or b'"resourceLogs"' in head


def read_traces(path: Path, file: MonitorFile, *, now: datetime) -> TraceReading:
    """Return the windows that the traces in *path* fill, from the first that is not on record to the last that is over.

    Raises:
        InputError: a span of the stream without inclusion probability, stratum or unit, or with a score outside the range; then the
            plan lacks what names the stream in traces.
    """
    check_planned(file)
    plan = file.plan
    text = read_text(path, largest=LARGEST_TRACES)
    scores: dict[str, float] = {}
    items: list[StreamItem] = []
    anchors: list[StreamAnchor] = []
    faults: list[Fault] = []
    excluded: Counter[str] = Counter()
    for document in _read_documents(text, path.name):
        excluded += _count_results(document, plan)
        scores |= _read_logged_scores(document, plan, path.name, faults)
        for attributes, span in _list_spans(document, plan, excluded):
            read = _read_anchor if "caveat.anchor" in attributes else _read_item
            item = read(attributes, span, plan, path.name, faults)
            if isinstance(item, StreamAnchor):
                anchors.append(item)
            elif item is not None:
                items.append(item)
            if item is not None:
                for score in _read_span_scores(span, plan, path.name, faults):
                    scores[item.response] = score
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    excluded["spans before the stream began"] = sum(item.at < plan.start for item in items)
    if plan.anchors is None:
        excluded["anchors, which the plan has not"] = len(anchors)
    digest = hashlib.sha256(text.encode()).hexdigest()
    batches = fill_windows(items, scores, file, anchors=anchors, now=now, digest=digest, where=path.name)
    return TraceReading(batches=batches, excluded={reason: count for reason, count in sorted(excluded.items()) if count})


def _count_results(document: Mapping[str, Any], plan: MonitorPlan) -> Counter[str]:
    """Count the results of other evaluations than the plan's, in spans and log records."""
    spans = (
        span
        for resource in document.get("resourceSpans", ())
        for scope in resource.get("scopeSpans", ())
        for span in scope.get("spans", ())
    )
    logs = (
        entry
        for resource in document.get("resourceLogs", ())
        for scope in resource.get("scopeLogs", ())
        for entry in scope.get("logRecords", ())
    )
    results = [_read_attributes(event) for span in spans for event in span.get("events", ()) if event.get("name") == _EVENT]
    results += [
        attributes
        for entry in logs
        for attributes in (_read_attributes(entry),)
        if entry.get("eventName", attributes.get("event.name")) == _EVENT
    ]
    return Counter({"results of other evaluations": sum(result.get("gen_ai.evaluation.name") != plan.evaluation for result in results)})


def _read_documents(text: str, where: str) -> list[Mapping[str, Any]]:
    """Return the documents of a file: one, or one a line."""
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise InputError(Fault("not-valid", where, f"it is not JSON: {error}")) from error
    if not all(isinstance(document, dict) for document in documents):
        raise InputError(Fault("not-valid", where, "OTLP JSON is an object"))
    return documents


def _read_attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, event or resource; a text that is not read stays where it is."""
    attributes = {}
    for attribute in holder.get("attributes", ()):
        value = attribute.get("value", {})
        for kind in ("stringValue", "doubleValue", "intValue", "boolValue"):
            if kind in value:
                attributes[str(attribute.get("key"))] = int(value[kind]) if kind == "intValue" else value[kind]
    return attributes


def _list_spans(
    document: Mapping[str, Any], plan: MonitorPlan, excluded: Counter[str]
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield the spans of the stream, each with its attributes: of production, and of the model."""
    for resource in document.get("resourceSpans", ()):
        is_production = _read_attributes(resource.get("resource", {})).get("deployment.environment.name") == "production"
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                attributes = _read_attributes(span)
                # Anchors are scored again outside of production.
                if "caveat.anchor" in attributes:
                    yield attributes, span
                elif not is_production:
                    excluded["spans of other environments"] += 1
                elif attributes.get("gen_ai.response.model") not in plan.models:
                    excluded["spans of other models, or of none"] += 1
                else:
                    yield attributes, span


def _read_item(
    attributes: Mapping[str, Any], span: Mapping[str, Any], plan: MonitorPlan, where: str, faults: list[Fault]
) -> StreamItem | None:
    place = f"{where}, span {span.get('spanId', '?')}"
    inclusion, stratum = attributes.get("caveat.pi"), attributes.get("caveat.stratum", "all")
    unit = attributes.get("caveat.unit") or attributes.get("gen_ai.conversation.id")
    response = attributes.get("gen_ai.response.id") or span.get("spanId")
    if inclusion is None:
        faults.append(Fault("inclusion-unknown", place, "it has no caveat.pi: with what probability it was chosen for review is not known"))
        return None
    if unit is None or response is None:
        faults.append(Fault("not-valid", place, "it has neither caveat.unit nor gen_ai.conversation.id: the user of the item is not known"))
        return None
    is_chosen = attributes.get("caveat.chosen", True if float(inclusion) == 1 else None)
    if is_chosen is None:
        # Without it, an item that was not chosen and one whose label is missing look alike.
        faults.append(Fault("inclusion-unknown", place, "it has no caveat.chosen: whether it was chosen for review is not known"))
        return None
    try:
        label = read_label(attributes, plan, place, is_chosen=bool(is_chosen))
    except InputError as error:
        faults.extend(error.faults)
        return None
    return StreamItem(str(response), str(unit), str(stratum), float(inclusion), bool(is_chosen), _read_time(span), *label)


def _read_anchor(
    attributes: Mapping[str, Any], span: Mapping[str, Any], _plan: MonitorPlan, where: str, faults: list[Fault]
) -> StreamAnchor | None:
    place, response = f"{where}, span {span.get('spanId', '?')}", attributes.get("gen_ai.response.id") or span.get("spanId")
    try:
        return read_anchor(attributes["caveat.anchor"], response, _read_time(span), place)
    except InputError as error:
        faults.extend(error.faults)
        return None


def _read_time(span: Mapping[str, Any]) -> datetime:
    return datetime.fromtimestamp(int(span.get("startTimeUnixNano", 0)) / 1e9, UTC)


def _read_span_scores(span: Mapping[str, Any], plan: MonitorPlan, where: str, faults: list[Fault]) -> Iterator[float]:
    for event in span.get("events", ()):
        if event.get("name") == _EVENT:
            yield from _read_score(_read_attributes(event), plan, where, faults)


def _read_logged_scores(document: Mapping[str, Any], plan: MonitorPlan, where: str, faults: list[Fault]) -> dict[str, float]:
    """Return the scores that came later, as log records, by the response that they are of."""
    scores: dict[str, float] = {}
    for resource in document.get("resourceLogs", ()):
        for scope in resource.get("scopeLogs", ()):
            for entry in scope.get("logRecords", ()):
                attributes = _read_attributes(entry)
                if entry.get("eventName", attributes.get("event.name")) == _EVENT and "gen_ai.response.id" in attributes:
                    scores |= {str(attributes["gen_ai.response.id"]): score for score in _read_score(attributes, plan, where, faults)}
    return scores


def _read_score(attributes: Mapping[str, Any], plan: MonitorPlan, where: str, faults: list[Fault]) -> Iterator[float]:
    if attributes.get("gen_ai.evaluation.name") != plan.evaluation or "gen_ai.evaluation.score.value" not in attributes:
        return
    try:
        yield map_score(float(attributes["gen_ai.evaluation.score.value"]), plan, where)
    except InputError as error:
        faults.extend(error.faults)
