"""Monitors in a terminal and as JSON."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from monitoring.recording import RecordedWindow
from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer
from registry.present.blocks import Block, Facts, Remark, Subtitle, Table, Title
from registry.present.listings import Column
from registry.records.claim import Relation
from registry.records.dossier import MonitorFile
from registry.records.monitor import Monitor, MonitorIncident, MonitorPlan, MonitorReading, MonitorState, MonitorWindow
from registry.report.number_format import format_hundredths, format_items
from registry.report.supplement_wording import describe_joint_error, describe_production, describe_review, get_words

_STATES = {
    MonitorState.LOCKED: "locked, no window yet",
    MonitorState.RUNNING: "running",
    MonitorState.SILENT: "silent: no data for longer than planned",
    MonitorState.ALARM: "alarm",
    MonitorState.ENDED: "ended",
}


def describe_monitor(file: MonitorFile, *, today: date) -> dict[str, Any]:
    """Return a monitor as a row of a list has it."""
    monitor, reading = file.monitor.payload, file.reading
    return {
        "monitor": monitor.monitor,
        "claim": monitor.claim,
        "state": file.find_state(today).value,
        "verdict": file.find_verdict(today).value,
        "windows": len(file.current),
        "items": reading.items if reading else 0,
        "rate": reading.rate if reading else None,
        "lower": reading.lower if reading else None,
        "upper": reading.upper if reading else None,
        "theta": monitor.plan.theta,
        "alarm": reading.alarm if reading else None,
    }


def list_columns() -> list[Column[Mapping[str, Any]]]:
    """Return the columns of `caveat monitor show` without a monitor."""

    def column(name: str, *, is_number: bool = False, is_spare: bool = False) -> Column[Mapping[str, Any]]:
        show = (lambda row: _share(row[name])) if name in {"rate", "lower", "upper", "theta"} else None
        return Column(name=name, read=lambda row: row[name], show=show, is_number=is_number, is_spare=is_spare)

    numbers = ("rate", "theta", "windows", "items", "lower", "upper", "alarm")
    return [
        *(column(name) for name in ("monitor", "claim", "state", "verdict")),
        *(column(name, is_number=True, is_spare=True) for name in numbers),
    ]


def build_document(file: MonitorFile, *, today: date) -> dict[str, Any]:
    """Return a monitor as JSON has it: the statements, and what follows from them today."""
    return {
        **to_document(file),
        "state": file.find_state(today).value,
        "verdict": file.find_verdict(today).value,
        "doubts": list(file.list_doubts()),
        "gaps": [window.number for window in file.current if not window.cells],
        "corrected": sorted({recorded.payload.number for recorded in file.windows if recorded.payload.correction}),
    }


def present_lock(monitor: Monitor, *, dry_run: bool) -> Answer:
    """Present a plan that was locked."""
    done = "would be locked" if dry_run else f"{monitor.monitor} locked"
    blocks: list[Block] = [f"{done}: {monitor.claim} {_limit(monitor.plan)}", Facts(list(_list_plan(monitor.plan)))]
    blocks += [f"warning: an alarm will stay in doubt: {doubt}" for doubt in monitor.plan.list_doubts()]
    if not dry_run:
        blocks.append(f"Next: caveat monitor add {monitor.monitor} {'incidents' if monitor.plan.is_of_incidents else 'windows'}.csv")
    document = {"schema": "caveat/monitor-lock/1", "dry_run": dry_run, "monitor": to_document(monitor)}
    return Answer(document, blocks)


def present_added(
    file: MonitorFile,
    windows: Sequence[RecordedWindow],
    incidents: Sequence[tuple[MonitorIncident, bool]],
    *,
    excluded: Mapping[str, int],
    today: date,
    dry_run: bool,
) -> Answer:
    """Present windows and incidents that were added, each incident with whether it is new: an alarm first."""
    document = {
        "schema": "caveat/monitor-add/1",
        "dry_run": dry_run,
        "added": [recorded.window.number for recorded in windows if recorded.is_new],
        "known": [recorded.window.number for recorded in windows if not recorded.is_new],
        "incidents": [{"incident": incident.incident, "verified": incident.verified, "new": is_new} for incident, is_new in incidents],
        "excluded": dict(excluded),
        "verdict": file.find_verdict(today).value,
        "reading": to_document(file.reading) if file.reading else None,
    }

    def blocks() -> Iterator[Block]:
        reading = file.reading
        if reading is not None and reading.alarm is not None:
            yield f"ALARM in window {reading.alarm}. {_say_verdict(file, today)}"
        what = "would be added to" if dry_run else "added to"
        if file.refutation is not None:
            yield f"ALARM by incident {file.refutation.payload.incident}. {_say_verdict(file, today)}"
        if incidents:
            new_count, verified = sum(is_new for _, is_new in incidents), sum(incident.verified for incident, _ in incidents)
            counted = f"{new_count} of {format_items(len(incidents), 'incident')}, {verified} of them verified,"
            yield f"{counted} {what} {file.monitor.payload.monitor}"
        if not windows:
            return
        new = [recorded for recorded in windows if recorded.is_new]
        yield f"{len(new)} of {len(windows)} windows {what} {file.monitor.payload.monitor}" + (
            "" if len(new) == len(windows) else "; the others are on record already"
        )
        yield from (f"excluded: {count:,} {reason}" for reason, count in sorted(excluded.items()))
        yield _build_windows([recorded.window for recorded in windows])
        if file.ended is not None:
            yield f"The monitor ended: {file.ended.payload.reason}"

    return Answer(document, blocks())


def present_monitor(file: MonitorFile, monitors: Sequence[MonitorFile], *, today: date) -> Iterator[Block]:
    """Present one monitor, of all *monitors* of its claim: verdict, evidence, what is missing, plan, windows."""
    monitor, plan, reading = file.monitor.payload, file.plan, file.reading
    yield Title(f"{monitor.monitor} of {monitor.claim}")
    yield _say_verdict(file, today)
    if joint_error := describe_joint_error(monitors, today):
        yield joint_error
    yield Facts([("state", _STATES[file.find_state(today)]), ("limit", _limit(plan)), *(_list_evidence(file, reading) if reading else ())])
    if doubts := file.list_doubts():
        yield Subtitle("what is missing")
        yield from (f"  {doubt}" for doubt in doubts)
    yield Subtitle("plan")
    yield Facts(list(_list_plan(plan)))
    if file.incidents:
        yield Subtitle("incidents")
        yield _build_incidents(file)
        refutation = file.refutation
        current = {recorded.payload.incident: recorded.payload for recorded in file.known_incidents}
        if refutation is not None and not (last := current[refutation.payload.incident]).verified:
            yield f"  {last.incident} was verified in entry {refutation.entry.seq}, and later not: {last.reason}. The alarm stays."
    if file.windows:
        yield Subtitle("windows")
        yield _build_windows(file.current)
    corrected = [recorded.payload for recorded in file.windows if recorded.payload.correction]
    for window in corrected:
        yield f"  window {window.number} was corrected: {window.reason}"
    for window in file.current:
        if not window.cells:
            yield f"  window {window.number} has no data: {window.reason}"
    if file.ended is not None:
        yield f"ended: {file.ended.payload.reason}"
    yield Remark("Production gives no ED: the tasks of users are not those of the test.")


def _say_verdict(file: MonitorFile, today: date) -> str:
    text = describe_production(file, today)
    return text[0].upper() + text[1:]


def _build_incidents(file: MonitorFile) -> Table:
    rows = [
        (incident.incident, incident.framework, f"{incident.occurred}", f"{incident.reported}", "yes" if incident.verified else "no")
        for incident in (recorded.payload for recorded in file.known_incidents)
    ]
    return Table(("incident", "framework", "occurred", "reported", "verified"), rows)


def _list_evidence(file: MonitorFile, reading: MonitorReading) -> Iterator[tuple[str, str]]:
    plan = file.plan
    people = f", and people labelled {file.labelled:,} of these" if plan.is_corrected else ""
    yield "items", f"{reading.items:,}, of which {reading.reviewed:,} reviewed{people}"
    if plan.is_of_incidents:
        yield "reviewed at random", describe_review(file)
        return
    corrected = ", corrected by labels of people" if plan.is_corrected else ""
    yield "rate so far", f"{_share(reading.rate)} (weighted by inclusion, by the scores of {plan.scored_by}{corrected})"
    error = f"each limit is wrong with a probability of at most {plan.alpha / plan.family:.2%}, over all looks"
    yield "highest rate", f"at some time above {_share(reading.lower)}; {error}"
    yield "lowest rate", f"at some time below {_share(reading.upper)}"
    side = "at most" if plan.relation is Relation.AT_MOST else "at least"
    yield "average so far", f"{side} {_share(reading.average_limit)}"
    yield "evidence", f"log M = {reading.log_evidence:.2f}; the alarm is at {plan.threshold:g} (log {math.log(plan.threshold):.2f})"
    if reading.alarm is not None and reading.attribution is not None:
        yield "alarm", f"window {reading.alarm}; {get_words(reading.attribution)}"
    if plan.drift is not None:
        up = "up" if reading.drift else "quiet"
        yield "drift alarm", f"{up}; expected once in {plan.drift.run_length:g} windows or more even without drift; changes no status"
    opted = [window.opted_out for window in file.current if window.opted_out is not None]
    if opted and reading.rate is not None:
        share = max(opted)
        needed = (plan.theta - (1 - share) * reading.rate) / share if share else None
        if needed is not None:
            possible = f"{_share(needed)} of them" if 0 <= needed <= 1 else "no rate among them"
            yield "opted out", f"up to {share:.0%} of users; {possible} would put the average at the limit"


def _write_start(start: datetime) -> str:
    """Return the day of *start*, with its time unless that is midnight."""
    return f"{start:%Y-%m-%d}" if start.time() == time() else f"{start:%Y-%m-%dT%H:%M:%SZ}"


def _list_plan(plan: MonitorPlan) -> Iterator[tuple[str, str]]:
    if plan.is_of_incidents:
        yield "stream", f"{plan.stream}, from {_write_start(plan.start)}"
        yield "evidence", "incidents: a verified one refutes the claim; they give no rate, and none reported says nothing"
        if not plan.strata:
            return
    else:
        windows = format_items(plan.every_days, "day")
        yield "stream", f"{plan.stream}, from {_write_start(plan.start)}, windows of {windows}, item: {plan.unit.value}"
    yield "reviewed", ", ".join(f"{stratum.name} with probability {stratum.inclusion:g}" for stratum in plan.strata)
    if plan.is_of_incidents:
        return
    if plan.is_corrected:
        shares = ", ".join(f"{stratum.name} with probability {stratum.label_share:g}" for stratum in plan.strata)
        yield "labels of people", f"chosen at random among reviewed items: {shares}"
    family = f"over {format_items(plan.family, 'claim')} monitored together"
    yield "error", f"the alarm is ever wrong with a probability of at most {plan.alpha:g}, {family}"
    anchors = plan.anchors
    text = "none" if anchors is None else (
        f"false positives up to {anchors.false_positive:g}, false negatives up to {anchors.false_negative:g}, guard {anchors.guard}"
    )  # fmt: skip
    if anchors is not None or not plan.is_corrected:
        yield "anchors", text
    yield "cells", f"of fewer than {plan.min_users} users are suppressed"


def _build_windows(windows: Sequence[MonitorWindow]) -> Table:
    rows = []
    for window in windows:
        reading = window.reading
        cells = [cell for cell in window.cells if not cell.suppressed]
        items = f"{sum(cell.items for cell in window.cells):,}" if window.cells else "no data"
        hidden = sum(cell.suppressed for cell in window.cells)
        rows.append(
            (
                str(window.number),
                f"{window.start:%Y-%m-%d}",
                items,
                f"{sum(cell.reviewed for cell in cells):,}",
                f"{sum(cell.pending for cell in cells):,}",
                str(hidden),
                f"{reading.log_evidence:.2f}",
                _share(reading.lower),
                _share(reading.upper),
                _share(reading.average_limit),
            )
        )
    columns = ("window", "from", "items", "reviewed", "pending", "suppressed", "log M", "lower", "upper", "average")
    return Table(columns, rows, numbers=columns[2:], spare=("suppressed", "pending"))


def _limit(plan: MonitorPlan) -> str:
    return f"{'at most' if plan.relation is Relation.AT_MOST else 'at least'} {_share(plan.theta)}"


def _share(value: float | None) -> str:
    return "not known" if value is None else format_hundredths(value)
