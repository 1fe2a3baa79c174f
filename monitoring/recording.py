"""What is recorded of monitors: the lock, windows with the evidence after each, and the end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from monitoring.batch_file import WindowBatch, WindowDraft, fit_batch
from monitoring.evidence import WindowData, read_evidence
from monitoring.plan_file import MonitorDraft, build_monitor
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.claim import ClaimRevision
from registry.records.dossier import MonitorFile
from registry.records.monitor import Attribution, Monitor, MonitorEnd, MonitorIncident, MonitorWindow
from registry.records.record import Kind
from registry.records.specification import PropertySpec, SpecKind
from registry.store.log_writer import Writer
from registry.store.registry_view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedWindow:
    """One window of a file, and whether it is new."""

    window: MonitorWindow
    is_new: bool
    """False where exactly this window is on record."""


def get_claim(view: View, name: str) -> tuple[ClaimRevision, PropertySpec]:
    """Return the claim revision *name*, `CLM-…` or `CLM-…@n`, and its property.

    Raises:
        NotFoundError: not registered.
        InputError: its property is sealed, so the range of its scores is unknown.
    """
    bare, _, number = name.partition("@")
    claim = view.find_revision(bare, int(number)) if number.isdigit() else view.find_claim(bare)
    if claim is None:
        raise NotFoundError(Fault("not-registered", name, "no claim has this identifier here", advice=view.suggest(bare)))
    body = view.find_opened(claim.payload.property)
    if not isinstance(body, PropertySpec):
        raise InputError(Fault("no-limit-to-monitor", name, f"its property {claim.payload.property} is sealed"))
    return claim.payload, body


def get_monitor(view: View, name: str) -> MonitorFile:
    """Return the monitor *name*; raises NotFoundError with what is near."""
    file = view.find_monitor(name)
    if file is None:
        near = view.suggest(name) or "caveat monitor show lists them"
        raise NotFoundError(Fault("not-registered", name, "no monitor has this identifier here", advice=near))
    return file


def _check_scoring(view: View, name: str | None) -> None:
    """Refuse a plan that is scored by something that is not registered; raises NotFoundError or InputError."""
    if name is None:
        return
    bare, _, version = name.partition("@")
    spec = view.find_spec(bare, int(version)) if version.isdigit() else None
    if not version.isdigit():
        raise InputError(Fault("not-valid", "scored_by", f"{name} names no version", advice=f"write {bare}@1, or the version that is used"))
    if spec is None or spec.payload.kind is not SpecKind.SCORING:
        near = view.suggest(bare) or "caveat spec list --kind scoring shows what is registered"
        raise NotFoundError(Fault("not-registered", f"scored_by, {name}", "no scoring function has this identifier here", advice=near))


def lock_monitor(writer: Writer, draft: MonitorDraft, *, by: str, folder: Path, now: datetime) -> Monitor:
    """Record the monitor of *draft*, and return it.

    Raises:
        InputError: the plan does not fit the claim.
        NotFoundError: the scoring function is not registered.
        ConflictError: its stream began before now.
    """
    claim, body = get_claim(writer, draft.claim)
    _check_scoring(writer, draft.scored_by)
    monitor = build_monitor(draft, claim, body, identifier=writer.allocate(Kind.MONITOR, by)[0], by=by, folder=folder)
    if monitor.plan.start < now:
        problem = f"its stream starts at {monitor.plan.start:%Y-%m-%d %H:%M} UTC, and it is {now:%Y-%m-%d %H:%M}"
        raise ConflictError(Fault("window-before-lock", draft.claim, problem))
    writer.append(monitor)
    return monitor


def add_windows(
    writer: Writer, monitor_id: str, batches: Sequence[WindowBatch], *, why: str | None, now: datetime
) -> tuple[MonitorFile, list[RecordedWindow]]:
    """Record the windows of *batches*, in their order, with the evidence after each; return the monitor and the windows.

    Args:
        why: the reason of a correction; without one, a window that is on record with other content is refused.

    Raises:
        InputError, ConflictError: a window does not fit the plan, or the windows before it; then none is recorded.
    """
    results = []
    for batch in sorted(batches, key=lambda batch: batch.order):
        file = get_monitor(writer, monitor_id)
        results.append(_add_window(writer, file, fit_batch(batch, file.monitor.payload), why=why, now=now))
    file = get_monitor(writer, monitor_id)
    reading = file.reading
    if reading is not None and file.is_misled and file.ended is None:
        reason = f"The anchors raised an alarm in window {reading.anchors_alarm}: the judge changed"
        writer.append(MonitorEnd(monitor=monitor_id, claim=file.monitor.payload.claim, reason=reason))
        file = get_monitor(writer, monitor_id)
    return file, results


def _add_window(writer: Writer, file: MonitorFile, draft: WindowDraft, *, why: str | None, now: datetime) -> RecordedWindow:
    monitor = file.monitor.payload
    where = f"{monitor.monitor}, window {draft.number}"
    due = draft.stop + timedelta(days=monitor.plan.label_delay_days if draft.cells else 0)
    if due > now:
        raise InputError(
            Fault("not-matured", where, f"it ends at {draft.stop:%Y-%m-%d %H:%M} UTC, and its labels are in at {due:%Y-%m-%d %H:%M}")
        )
    current = {window.number: window for window in file.current}
    known = current.get(draft.number)
    if known is not None and _is_same(known, draft):
        return RecordedWindow(window=known, is_new=False)
    if known is not None and why is None:
        raise ConflictError(Fault("window-differs", where, "it is on record with other content"))
    data: dict[int, WindowData] = {number: (window.cells, window.anchors) for number, window in current.items()}
    data[draft.number] = (draft.cells, draft.anchors)
    reading = file.reading
    raised = (reading.alarm, reading.attribution) if reading and reading.alarm is not None and reading.attribution else None
    if missing := [number for number in range(1, max(data) + 1) if number not in data]:
        problem = f"window {', '.join(map(str, missing))} was not reported"
        raise ConflictError(Fault("window-missing", where, problem))
    window = MonitorWindow(
        monitor=monitor.monitor,
        claim=monitor.claim,
        number=draft.number,
        correction=0 if known is None else known.correction + 1,
        reason=draft.missing if known is None else why,
        start=draft.start,
        stop=draft.stop,
        cells=draft.cells,
        anchors=draft.anchors,
        opted_out=draft.opted_out,
        source=draft.source,
        reading=read_evidence(monitor.plan, [data[number] for number in sorted(data)], raised=raised),
    )
    writer.append(window)
    return RecordedWindow(window=window, is_new=True)


def add_incidents(
    writer: Writer, monitor_id: str, incidents: Sequence[MonitorIncident], *, why: str | None, today: date
) -> list[tuple[MonitorIncident, bool]]:
    """Record *incidents* and return each with whether it is new; one that is on record with the same content changes nothing.

    Args:
        why: the reason why an incident differs from what is on record.

    Raises:
        InputError, ConflictError: an incident does not fit the monitor, lies ahead, or differs without a reason; then none is recorded.
    """
    known = {recorded.payload.incident: recorded.payload for recorded in get_monitor(writer, monitor_id).known_incidents}
    results = []
    for incident in incidents:
        earlier = known.get(incident.incident)
        if max(incident.occurred, incident.reported) > today:
            problem = f"it is dated {max(incident.occurred, incident.reported)}, and it is {today}"
            raise InputError(Fault("not-matured", f"{monitor_id}, incident {incident.incident}", problem))
        if earlier is not None and replace(earlier, reason=None, source=None) == replace(incident, source=None):
            results.append((earlier, False))
            continue
        statement = replace(incident, reason=None if earlier is None else why)
        writer.append(statement)
        results.append((statement, True))
    return results


def end_monitor(writer: Writer, monitor_id: str, reason: str) -> MonitorFile:
    """Record the end of a monitor."""
    file = get_monitor(writer, monitor_id)
    writer.append(MonitorEnd(monitor=monitor_id, claim=file.monitor.payload.claim, reason=reason))
    return get_monitor(writer, monitor_id)


def check_readings(file: MonitorFile) -> list[str]:
    """Return in which windows the recorded evidence is not that of the recorded data, each in a sentence without full stop."""
    wrong = []
    data: dict[int, WindowData] = {}
    raised: tuple[int, Attribution] | None = None
    for recorded in file.windows:
        window = recorded.payload
        data[window.number] = (window.cells, window.anchors)
        again = read_evidence(file.plan, [data[number] for number in sorted(data)], raised=raised)
        if again != window.reading:
            wrong.append(f"entry {recorded.entry.seq}: the evidence after window {window.number} is not that of its data")
        reading = window.reading
        raised = (reading.alarm, reading.attribution) if reading.alarm is not None and reading.attribution else None
    return wrong


def _is_same(window: MonitorWindow, draft: WindowDraft) -> bool:
    return (window.cells, window.anchors, window.start, window.stop, window.opted_out) == (
        draft.cells,
        draft.anchors,
        draft.start,
        draft.stop,
        draft.opted_out,
    )
