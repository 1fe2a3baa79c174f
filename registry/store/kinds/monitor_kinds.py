"""Statements of monitors after release: the locked plan, windows of production data, the end, and forecasts with their scores."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, func, select

from registry.errors import Fault
from registry.records.forecast import Forecast, ForecastScore
from registry.records.monitor import Attribution, Monitor, MonitorEnd, MonitorIncident, MonitorWindow
from registry.records.record import Kind
from registry.store.database_engine import (
    TriggerRule,
    begins,
    new_table,
    one_of,
    real_column,
    refers,
    text_column,
    text_columns,
    whole_column,
)
from registry.store.statement_kind import AUDIT, CLAIM, MONITOR, EntryPlace, Role, Row, StatementKind, split_reference

if TYPE_CHECKING:
    from registry.store.statement_rules import StatementRules

monitor = new_table(
    "monitor",
    *text_columns("monitor claim"),
    whole_column("revision"),
    text_column("authority"),
    whole_column("at"),
    real_column("theta", null=False),
    text_column("scoring", null=True),
    begins("monitor", Kind.MONITOR),
    UniqueConstraint("log", "monitor"),
    UniqueConstraint("log", "monitor", "claim", "revision"),
    refers("monitor", "identifier", "id"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("authority", "authority", "code"),
    Index(None, "log", "claim"),
    guards=(
        TriggerRule(
            broken="NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq)",
            message="not-its-time: monitor.at must be the time of its entry",
        ),
    ),
)
monitor_window = new_table(
    "monitor_window",
    *text_columns("monitor claim"),
    whole_column("revision"),
    whole_column("number"),
    whole_column("correction"),
    whole_column("start"),
    whole_column("alarm", null=True),
    text_column("attribution", null=True),
    whole_column("judge_alarm", null=True),
    one_of("attribution", Attribution),
    CheckConstraint("number >= 1 AND correction >= 0", name="counted"),
    CheckConstraint("(alarm IS NULL) = (attribution IS NULL)", name="alarm_is_attributed"),
    CheckConstraint("alarm <= number OR correction > 0", name="alarm_is_not_ahead"),
    UniqueConstraint("log", "monitor", "number", "correction"),
    refers("monitor claim revision", "monitor", "monitor claim revision"),
    Index(None, "log", "claim", "revision"),
    guards=(
        TriggerRule(
            broken="NEW.start < (SELECT at FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor)",
            message="window-before-lock: monitor_window.start must not be before the lock of its monitor",
        ),
        TriggerRule(
            broken="NEW.correction = 0 AND NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM monitor_window"
            " WHERE log = NEW.log AND monitor = NEW.monitor)",
            message="window-missing: monitor_window.number must follow the last one",
        ),
        TriggerRule(
            # A rebuild fills one table after the other: only an end before the window counts.
            broken="EXISTS (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq)",
            message="monitor-ended: monitor_window must not come after the end of its monitor",
        ),
        TriggerRule(
            # An alarm stays: no later window and no correction takes it back.
            broken="NEW.alarm IS NULL AND EXISTS (SELECT 1 FROM monitor_window"
            " WHERE log = NEW.log AND monitor = NEW.monitor AND alarm IS NOT NULL)",
            message="alarm-taken-back: monitor_window.alarm must stay once it was raised",
        ),
    ),
)
monitor_incident = new_table(
    "monitor_incident",
    *text_columns("monitor claim"),
    whole_column("revision"),
    text_column("incident"),
    whole_column("occurred"),
    whole_column("verified"),
    CheckConstraint("verified IN (0, 1)", name="verified_or_not"),
    refers("monitor claim revision", "monitor", "monitor claim revision"),
    Index(None, "log", "claim", "revision"),
    Index(None, "log", "monitor"),
    guards=(
        TriggerRule(
            broken="NEW.occurred < (SELECT at FROM monitor WHERE log = NEW.log AND monitor = NEW.monitor)",
            message="window-before-lock: monitor_incident.occurred must not be before the lock of its monitor",
        ),
        TriggerRule(
            broken="EXISTS (SELECT 1 FROM monitor_end WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq)",
            message="monitor-ended: monitor_incident must not come after the end of its monitor",
        ),
    ),
)
monitor_end = new_table(
    "monitor_end",
    *text_columns("monitor claim"),
    whole_column("revision"),
    UniqueConstraint("log", "monitor"),
    refers("monitor claim revision", "monitor", "monitor claim revision"),
    Index(None, "log", "claim"),
)

forecast = new_table(
    "forecast",
    *text_columns("monitor claim"),
    whole_column("revision"),
    *text_columns("audit spec authority"),
    real_column("rate", null=False),
    CheckConstraint("rate BETWEEN 0 AND 1", name="rate_is_share"),
    UniqueConstraint("log", "monitor", "audit", "spec"),
    refers("monitor claim revision", "monitor", "monitor claim revision"),
    refers("authority", "authority", "code"),
    Index(None, "log", "claim"),
    Index(None, "log", "audit"),
    guards=(
        TriggerRule(
            broken="EXISTS (SELECT 1 FROM monitor_window WHERE log = NEW.log AND monitor = NEW.monitor AND seq < NEW.seq)",
            message="forecast-too-late: forecast must come before the first window of its monitor",
        ),
    ),
)
forecast_score = new_table(
    "forecast_score",
    *text_columns("monitor claim"),
    whole_column("revision"),
    whole_column("forecast"),
    real_column("observed", null=False),
    CheckConstraint("observed BETWEEN 0 AND 1", name="observed_is_share"),
    refers("monitor claim revision", "monitor", "monitor claim revision"),
    Index(None, "log", "claim"),
    Index(None, "log", "monitor"),
    guards=(
        TriggerRule(
            broken="NOT EXISTS (SELECT 1 FROM forecast WHERE log = NEW.log AND seq = NEW.forecast AND monitor = NEW.monitor"
            " AND seq < NEW.seq)",
            message="forecast-unknown: forecast_score.forecast must be an earlier forecast for its monitor",
        ),
    ),
)

MONITORS = Role("monitor", "claim", CLAIM, "revision", "monitor")


def _find_monitor_faults(rules: "StatementRules", name: str, claim: str) -> Iterator[Fault]:
    """Yield why a statement on the monitor *name* of *claim* cannot be recorded now."""
    bare, revision = split_reference(claim)
    own = (monitor.c.monitor == name) & (monitor.c.claim == bare) & (monitor.c.revision == revision)
    rows = rules.view.rows(select(monitor.c.authority).where(rules.view.visible(monitor), own))
    if not rows:
        yield Fault("not-registered", name, f"is not a monitor of {claim}", advice="caveat monitor show")
    elif rows[0].authority != rules.actor:
        # Whoever could report for another could also raise its alarm.
        problem = f"{rows[0].authority} runs this monitor, and you act as {rules.actor}"
        yield Fault("not-permitted", name, problem, advice="lock a monitor of your own")
    elif rules.find_entry(monitor_end, monitor_end.c.monitor == name) is not None:
        yield Fault("monitor-ended", name, "it has ended, and takes no more windows", advice="plan and lock a new monitor")


def _find_midnight(day: date) -> int:
    """Return when *day* begins in UTC, in seconds since 1970."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


class MonitorKind(StatementKind[Monitor]):
    """A monitor of one claim revision. Its plan is locked from this entry on."""

    tables = (monitor,)
    names = (MONITORS, Role("monitor", "monitor", MONITOR))
    kept = "what was fixed before production was seen stays"
    reason = "a monitor was locked"
    importance = 12

    def build_rows(self, monitor: Monitor, place: EntryPlace) -> Iterator[Row]:
        target, plan = split_reference(monitor.claim), monitor.plan
        yield "monitor", (*place.here, monitor.monitor, *target, monitor.by, place.at, plan.theta, plan.scored_by)

    def find_faults(self, monitor: Monitor, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_number(monitor.monitor, 1, 1 if rules.view.is_used(monitor.monitor) else 0, "monitor")
        yield from rules.check_authority(monitor.by, monitor.monitor)
        yield from rules.check_revision(monitor.claim, monitor.monitor)

    def describe(self, payload: Monitor) -> str:
        plan = payload.plan
        return f"{payload.monitor} of {payload.claim}: {plan.relation.value} {plan.theta:g}, alpha {plan.alpha:g} / {plan.family}"

    def name_new(self, payload: Monitor) -> str:
        return payload.monitor


class MonitorWindowKind(StatementKind[MonitorWindow]):
    """A window of a monitor, after the ones before it."""

    tables = (monitor_window,)
    names = (Role("monitor_window", "claim", CLAIM, "revision", "monitor"), Role("monitor_window", "monitor", MONITOR))
    kept = "the evidence of later windows rests on it"
    reason = "a monitor reported a window"
    importance = 14

    def build_rows(self, window: MonitorWindow, place: EntryPlace) -> Iterator[Row]:
        attribution = window.reading.attribution.value if window.reading.attribution else None
        target = (window.monitor, *split_reference(window.claim), window.number, window.correction)
        reading = window.reading
        yield "monitor_window", (*place.here, *target, int(window.start.timestamp()), reading.alarm, attribution, reading.anchors_alarm)

    def find_faults(self, window: MonitorWindow, rules: "StatementRules") -> Iterator[Fault]:
        yield from _find_monitor_faults(rules, window.monitor, window.claim)
        same = rules.view.visible(monitor_window) & (monitor_window.c.monitor == window.monitor)
        ((last,),) = rules.view.rows(select(func.coalesce(func.max(monitor_window.c.number), 0)).where(same))
        where = f"{window.monitor}, window {window.number}"
        if window.correction == 0 and window.number != last + 1:
            known = "was reported" if window.number <= last else f"is not next: the last one is {last}"
            yield Fault("window-missing", where, f"it {known}", advice="report windows in order; a correction says what it corrects")
        if window.correction > 0 and window.number > last:
            yield Fault("window-missing", where, "it corrects a window that was not reported")

    def describe(self, payload: MonitorWindow) -> str:
        reading = payload.reading
        alarm = "" if reading.alarm is None else f", alarm in window {reading.alarm}"
        data = f"{reading.items:,} items so far" if payload.cells else "no data"
        return f"{payload.monitor} window {payload.number}: {data}{alarm}"

    def explain_change(self, payload: MonitorWindow) -> str | None:
        return "a monitor raised an alarm" if payload.reading.alarm is not None else self.reason


class MonitorIncidentKind(StatementKind[MonitorIncident]):
    """An event in production that was reported to a monitor of incidents."""

    tables = (monitor_incident,)
    names = (Role("monitor_incident", "claim", CLAIM, "revision", "monitor"), Role("monitor_incident", "monitor", MONITOR))
    kept = "what was reported stays, also when it is taken back"
    reason = "an incident was reported"
    importance = 13

    def build_rows(self, incident: MonitorIncident, place: EntryPlace) -> Iterator[Row]:
        target = (incident.monitor, *split_reference(incident.claim), incident.incident)
        yield "monitor_incident", (*place.here, *target, _find_midnight(incident.occurred), int(incident.verified))

    def find_faults(self, incident: MonitorIncident, rules: "StatementRules") -> Iterator[Fault]:
        yield from _find_monitor_faults(rules, incident.monitor, incident.claim)
        file = rules.view.find_monitor(incident.monitor)
        if file is None:
            return
        where = f"{incident.monitor}, incident {incident.incident}"
        if not file.plan.is_of_incidents:
            yield Fault("no-rate-from-incidents", where, "the monitor watches a rate, and single events have none")
        if _find_midnight(incident.occurred) < file.plan.start.timestamp():
            problem = f"it occurred on {incident.occurred}, and the stream begins on {file.plan.start:%Y-%m-%d}"
            yield Fault("window-before-lock", where, problem)
        if incident.reason is None and any(recorded.payload.incident == incident.incident for recorded in file.incidents):
            yield Fault("window-differs", where, "it is on record with other content")

    def describe(self, payload: MonitorIncident) -> str:
        verified = "verified" if payload.verified else "not verified"
        return f"{payload.monitor}: {payload.framework} {payload.incident} of {payload.occurred}, {verified}"

    def explain_change(self, payload: MonitorIncident) -> str | None:
        return "a verified incident was reported" if payload.verified else self.reason


class MonitorEndKind(StatementKind[MonitorEnd]):
    """The end of a monitor."""

    tables = (monitor_end,)
    names = (Role("monitor_end", "claim", CLAIM, "revision", "monitor"), Role("monitor_end", "monitor", MONITOR))
    reason = "a monitor ended"
    importance = 15

    def build_rows(self, end: MonitorEnd, place: EntryPlace) -> Iterator[Row]:
        yield "monitor_end", (*place.here, end.monitor, *split_reference(end.claim))

    def find_faults(self, end: MonitorEnd, rules: "StatementRules") -> Iterator[Fault]:
        yield from _find_monitor_faults(rules, end.monitor, end.claim)

    def describe(self, payload: MonitorEnd) -> str:
        return f"{payload.monitor}: {payload.reason}"


class ForecastKind(StatementKind[Forecast]):
    """The rate that an audit predicts for a monitor."""

    tables = (forecast,)
    names = (
        Role("forecast", "claim", CLAIM, "revision", "monitor"),
        Role("forecast", "monitor", MONITOR),
        Role("forecast", "audit", AUDIT, is_basis=False),
    )
    kept = "it is compared with what was observed later"
    reason = "an auditor made a forecast"
    importance = 33

    def build_rows(self, forecast: Forecast, place: EntryPlace) -> Iterator[Row]:
        target = (forecast.monitor, *split_reference(forecast.claim))
        yield "forecast", (*place.here, *target, forecast.audit, forecast.spec, forecast.by, forecast.rate)

    def find_faults(self, forecast: Forecast, rules: "StatementRules") -> Iterator[Fault]:
        file = rules.view.find_monitor(forecast.monitor)
        audit = rules.view.find_audit(forecast.audit)
        if file is None or file.monitor.payload.claim != forecast.claim:
            yield Fault("not-registered", forecast.monitor, f"is not a monitor of {forecast.claim}", advice="caveat monitor show")
            return
        if audit is None:
            yield rules.refuse_unknown("audit", forecast.audit)
        elif forecast.by != audit.audit.payload.auditor or forecast.by != rules.actor:
            # Hits and misses are those of the auditor, so that no one else can add to them.
            problem = f"{audit.audit.payload.auditor} made the audit, and you act as {rules.actor}"
            yield Fault("not-permitted", forecast.audit, problem, advice="make a forecast from an audit of your own")
        if file.windows:
            yield Fault("forecast-too-late", forecast.audit, f"{forecast.monitor} has reported a window already")

    def describe(self, payload: Forecast) -> str:
        return f"{payload.audit} for {payload.monitor}: {payload.rate:.2%} ({payload.low:.2%} to {payload.high:.2%})"


class ForecastScoreKind(StatementKind[ForecastScore]):
    """How a forecast came true."""

    tables = (forecast_score,)
    names = (Role("forecast_score", "claim", CLAIM, "revision", "monitor"), Role("forecast_score", "monitor", MONITOR))
    kept = "hits and misses of an auditor are counted together"
    reason = "a forecast was scored"
    importance = 34

    def build_rows(self, score: ForecastScore, place: EntryPlace) -> Iterator[Row]:
        yield "forecast_score", (*place.here, score.monitor, *split_reference(score.claim), score.forecast, score.observed)

    def find_faults(self, score: ForecastScore, rules: "StatementRules") -> Iterator[Fault]:
        file = rules.view.find_monitor(score.monitor)
        forecasts = {recorded.entry.seq for recorded in file.forecasts} if file else set()
        if file is None or file.monitor.payload.claim != score.claim or score.forecast not in forecasts:
            yield Fault("not-registered", f"{score.monitor}, entry {score.forecast}", "is not a forecast for this monitor")

    def describe(self, payload: ForecastScore) -> str:
        held = "held" if payload.held else "missed"
        return f"{payload.monitor}, entry {payload.forecast}: observed {payload.observed:.2%}, interval {held}"
