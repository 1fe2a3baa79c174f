"""Plans, windows and streams of monitors, for tests."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from monitoring.evidence import WindowData, read_evidence
from monitoring.statistics.e_process import BETS
from registry.records.claim import Relation
from registry.records.forecast import Forecast, ForecastScore
from registry.records.model_version import ModelRef
from registry.records.monitor import (
    AnchorCounts,
    AnchorPlan,
    Evaluability,
    Monitor,
    MonitorDesign,
    MonitorIncident,
    MonitorPlan,
    MonitorStratum,
    MonitorWindow,
    StreamUnit,
    WindowCell,
)

START = datetime(2027, 1, 1, tzinfo=UTC)
WEEK = timedelta(days=7)
ANCHORS = AnchorPlan(sha256="ab" * 32, false_positive=0.05, false_negative=0.2, guard=300)


def plan(**changes: Any) -> MonitorPlan:
    """A plan for "at most 5 %", all items reviewed."""
    known = MonitorPlan(
        design=MonitorDesign.SAMPLE,
        evaluability=Evaluability.DIRECTLY_AUDITABLE,
        stream="Consumer chat",
        unit=StreamUnit.USER,
        start=START,
        every_days=7,
        silent_after_days=21,
        strata=(MonitorStratum(name="all", inclusion=1.0),),
        relation=Relation.AT_MOST,
        theta=0.05,
        bets=BETS,
        scored_by="SCF-LAB-2026-0001-C@1",
    )
    return replace(known, **changes)


def incident_plan(**changes: Any) -> MonitorPlan:
    """A plan for "never", refuted by incidents."""
    return plan(design=MonitorDesign.INCIDENTS, theta=0.0, strata=(), scored_by=None, **changes)


def incident(monitor: Monitor, name: str = "2027-a", **changes: Any) -> MonitorIncident:
    """A verified incident of the third day of *monitor*."""
    day = (monitor.plan.start + timedelta(days=2)).date()
    known: dict[str, Any] = {"framework": "oecd-aim", "occurred": day, "reported": day, "summary_sha256": "cd" * 32, "verified": True}
    return MonitorIncident(monitor=monitor.monitor, claim=monitor.claim, incident=name, **(known | changes))


def cell(items: int, total: float, *, stratum: str = "all", **changes: Any) -> WindowCell:
    """A cell of which every item was reviewed, with scores of 0 and 1."""
    known: dict[str, Any] = {"reviewed": items, "squares": total, "users": items}
    return WindowCell(stratum=stratum, items=items, total=total, **(known | changes))


def anchors(scored: int, wrong: int = 0) -> AnchorCounts:
    """Half good, half bad; *wrong* of the good ones were called bad."""
    return AnchorCounts(good=scored - scored // 2, bad=scored // 2, false_positive=wrong, false_negative=0)


def windows_of(monitor: Monitor, data: list[WindowData]) -> list[MonitorWindow]:
    """The statements of windows with *data*, each with its reading."""
    windows: list[MonitorWindow] = []
    for number, (cells, counts) in enumerate(data, start=1):
        last = windows[-1].reading if windows else None
        raised = (last.alarm, last.attribution) if last and last.alarm is not None and last.attribution else None
        start = monitor.plan.start + (number - 1) * WEEK
        windows.append(
            MonitorWindow(
                monitor=monitor.monitor,
                claim=monitor.claim,
                number=number,
                start=start,
                stop=start + WEEK,
                cells=tuple(cells),
                anchors=counts,
                reading=read_evidence(monitor.plan, data[:number], raised=raised),
            )
        )
    return windows


def forecast(monitor: Monitor, audit: str, *, by: str, **changes: Any) -> Forecast:
    """A forecast of 4 % for the first window."""
    known: dict[str, Any] = {"rate": 0.04, "low": 0.02, "high": 0.07, "level": 0.95, "responses": 192, "due": monitor.plan.start + WEEK}
    model = ModelRef(developer="LAB", name="M", version="1")
    return Forecast(monitor=monitor.monitor, claim=monitor.claim, audit=audit, spec="default", model=model, by=by, **(known | changes))


def forecast_score(forecast: Forecast, entry: int, **changes: Any) -> ForecastScore:
    """A score of *forecast* at 2 %."""
    known: dict[str, Any] = {"windows": 1, "reviewed": 1000, "observed": 0.02, "observed_low": 0.012, "observed_high": 0.031}
    known |= {"log_ratio": 0.30103, "within": True, "held": True, "distinguishable": True}
    return ForecastScore(monitor=forecast.monitor, claim=forecast.claim, forecast=entry, **(known | changes))
