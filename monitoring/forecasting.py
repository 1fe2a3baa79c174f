"""Forecasts become statements: an audit's estimate is locked before release, and scored by the windows of a monitor."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from monitoring.evidence import read_cell
from monitoring.recording import get_claim, get_monitor
from monitoring.statistics.observed_rate import estimate_rate, log_ratio, widen
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.claim import Relation
from registry.records.dossier import AuditFile, MonitorFile, Recorded
from registry.records.estimates import Estimate, SpecEstimate
from registry.records.forecast import CHANGE, FACTOR, Forecast, ForecastScore, TrackedForecast
from registry.records.monitor import MonitorWindow, WindowCell
from registry.store.log_writer import Writer
from registry.store.registry_view import View

DIGITS = 12
"""Significant digits of a score, so that processors with another rounding of the last ones record the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastRequest:
    """What a person asks to lock."""

    audit: str
    monitor: str | None
    """None: the only monitor of the claim without a window."""
    spec: str | None
    """None: the only specification."""
    due: datetime | None
    """None: the end of the first window."""
    baseline: str | None
    """A number, `MON-…`, or None."""


def lock_forecast(writer: Writer, request: ForecastRequest, *, by: str, now: datetime) -> tuple[Recorded[Forecast], bool]:
    """Record the forecast that an audit makes for a monitor; return it and whether it is new.

    Raises:
        NotFoundError: no such audit or monitor.
        InputError: the audit has no estimate with an interval, or it is not clear which monitor or specification is meant.
        ConflictError: the stream began, another audit's claim is monitored, or another forecast of this audit is locked.
    """
    audit = writer.find_audit(request.audit)
    if audit is None:
        near = writer.suggest(request.audit) or "caveat audit list shows all"
        raise NotFoundError(Fault("not-registered", request.audit, "no such audit is registered", advice=near))
    file = _find_monitor(writer, audit, request.monitor)
    forecast = _build(writer, audit, file, request, by=by)
    known = next((recorded for recorded in file.forecasts if _is_of(recorded.payload, forecast)), None)
    if known is not None and known.payload == forecast:
        return known, False
    if now >= file.plan.start or file.windows:
        problem = f"the stream of {forecast.monitor} began at {file.plan.start:%Y-%m-%d %H:%M} UTC, and it is {now:%Y-%m-%d %H:%M}"
        raise ConflictError(Fault("forecast-too-late", request.audit, problem))
    if known is not None:
        problem = f"another forecast from it for {forecast.monitor} is locked in entry {known.entry.seq}"
        raise ConflictError(Fault("forecast-differs", request.audit, problem))
    return Recorded(entry=writer.append(forecast), payload=forecast), True


def score_forecasts(writer: Writer, monitor: str) -> list[tuple[Recorded[Forecast], Recorded[ForecastScore], bool]]:
    """Record how the forecasts for *monitor* that are due came true; return each with its score and whether that is new.

    Raises:
        NotFoundError: no such monitor, or no forecast for it.
        ConflictError: no forecast is due yet, or nothing was reviewed until its day.
    """
    file = get_monitor(writer, monitor)
    if not file.forecasts:
        advice = f"before the first window: caveat forecast lock AUD-… --monitor {monitor}"
        raise NotFoundError(Fault("not-registered", monitor, "no forecast was locked for this monitor", advice=advice))
    reported = max((window.stop for window in file.current), default=file.plan.start)
    due = [forecast for forecast in file.forecasts if forecast.payload.due <= reported]
    if not due:
        first = min(forecast.payload.due for forecast in file.forecasts)
        problem = f"the first forecast is about the time until {first:%Y-%m-%d %H:%M} UTC, and the windows end at {reported:%Y-%m-%d %H:%M}"
        raise ConflictError(Fault("forecast-not-due", monitor, problem, advice=f"caveat monitor add {monitor} FILE"))
    scored = []
    for forecast in due:
        score = _score(writer, file, forecast)
        known = [recorded for recorded in file.scores if recorded.payload.forecast == forecast.entry.seq]
        # The track may have grown since: only what was observed is compared.
        if known and replace(known[-1].payload, track=()) == replace(score, track=()):
            scored.append((forecast, known[-1], False))
        else:
            scored.append((forecast, Recorded(entry=writer.append(score), payload=score), True))
    return scored


def list_track(
    view: View, *, by: str | None = None, developer: str | None = None
) -> Iterator[tuple[Recorded[Forecast], ForecastScore | None]]:
    """Yield all forecasts in the log with their last score, in log order; those *by* an auditor for a *developer* where these are given."""
    pairs = []
    for file in view.list_monitors():
        last = {recorded.payload.forecast: recorded.payload for recorded in file.scores}
        pairs += [(recorded, last.get(recorded.entry.seq)) for recorded in file.forecasts]
    for recorded, score in sorted(pairs, key=lambda pair: pair[0].entry.seq):
        forecast = recorded.payload
        if by in (None, forecast.by) and developer in (None, forecast.model.developer):
            yield recorded, score


def _find_monitor(view: View, audit: AuditFile, name: str | None) -> MonitorFile:
    claim = audit.audit.payload.claim.partition("@")[0]
    if name is None:
        files = [file for file in view.list_monitors(claim) if not file.windows and file.ended is None]
        if len(files) != 1:
            problem = f"{len(files) or 'no'} monitors of {claim} wait for their first window"
            advice = "name one with --monitor" if files else f"caveat monitor plan {claim} > monitor.yaml"
            raise InputError(Fault("forecast-not-possible", audit.audit.payload.audit, problem, advice=advice))
        return files[0]
    file = get_monitor(view, name)
    if file.monitor.payload.claim.partition("@")[0] != claim:
        problem = f"it watches {file.monitor.payload.claim}, and {audit.audit.payload.audit} is about {audit.audit.payload.claim}"
        raise ConflictError(Fault("wrong-claim", name, problem))
    return file


def _build(view: View, audit: AuditFile, file: MonitorFile, request: ForecastRequest, *, by: str) -> Forecast:
    opening, monitor = audit.audit.payload, file.monitor.payload
    if file.plan.is_of_incidents:
        raise InputError(Fault("no-rate-from-incidents", monitor.monitor, "a forecast is of a rate"))
    claim, _ = get_claim(view, monitor.claim)
    model = get_claim(view, opening.claim)[0].model
    if model != claim.model:
        problem = f"the audit asked {model}, and the monitor watches {claim.model}"
        raise ConflictError(Fault("wrong-claim", opening.audit, problem))
    estimate = _find_estimate(audit)
    spec = _find_spec(estimate, request.spec, where=opening.audit)
    phi = spec.phi_deploy
    if phi.low is None or phi.high is None:
        raise InputError(Fault("forecast-not-possible", opening.audit, f"its deployment rate has no interval: {phi.reason}"))
    low, high = estimate.range
    rate, *ends = (_turn(file, (value - low) / (high - low)) for value in (phi.value, phi.low, phi.high))
    baseline, source = _read_baseline(view, file, request.baseline)
    return Forecast(
        monitor=monitor.monitor,
        claim=monitor.claim,
        audit=opening.audit,
        spec=spec.spec,
        model=claim.model,
        by=by,
        rate=_round(rate),
        low=_round(min(*ends, rate)),
        high=_round(max(*ends, rate)),
        level=estimate.level,
        responses=spec.n.responses_deploy,
        due=request.due or monitor.plan.start + timedelta(days=monitor.plan.every_days),
        baseline=baseline,
        baseline_source=source,
    )


_NO_RATE = frozenset(
    {"no-deployment-technical", "no-deployment-ontological", "sides-distinguished", "other-model-asked", "scorer-not-invariant"}
)
"""Rules of the decision table whose estimate is of no deployment. Few tasks give a rate with a wide interval."""


def _find_estimate(audit: AuditFile) -> Estimate:
    outcome = audit.restrictions[-1].payload if audit.restrictions else None
    results = {result.entry.seq: result.payload.estimate for result in audit.results}
    estimate = results.get(outcome.result) if outcome and outcome.result else outcome.estimate if outcome else None
    name = audit.audit.payload.audit
    if audit.withdrawn is not None:
        raise InputError(Fault("forecast-not-possible", name, f"it was withdrawn: {audit.withdrawn.payload.reason}"))
    if outcome is not None and outcome.is_of_other_model:
        raise InputError(Fault("forecast-not-possible", name, "its responses are of another model version than the claim's"))
    # Contexts that raters distinguish, or a scorer that depends on them, give no rate of deployment.
    if outcome is not None and outcome.classification.primary.rule in _NO_RATE:
        raise InputError(Fault("forecast-not-possible", name, f"its estimate is no rate to expect: {outcome.classification.primary.why}"))
    if estimate is None or not estimate.specs:
        raise InputError(Fault("forecast-not-possible", name, "it has no estimate", advice=f"caveat audit conclude {name} TABLE"))
    return estimate


def _find_spec(estimate: Estimate, name: str | None, *, where: str) -> SpecEstimate:
    specs = [spec for spec in estimate.specs if name in (None, spec.spec)]
    if len(specs) != 1:
        names = ", ".join(dict.fromkeys(spec.spec for spec in estimate.specs))
        problem = f"{len(specs) or 'no'} estimates could be meant; its specifications of P_deploy are {names}"
        raise InputError(Fault("forecast-not-possible", where, problem, advice="name one with --spec"))
    return specs[0]


def _read_baseline(view: View, file: MonitorFile, text: str | None) -> tuple[float | None, str | None]:
    if text is None:
        return None, None
    if text.startswith("MON-"):
        other = get_monitor(view, text)
        if other.reading is None or other.reading.rate is None:
            raise InputError(Fault("forecast-not-possible", text, "it has seen no rate yet"))
        return _round(_turn(file, other.reading.rate)), text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(Fault("bad-option", "--baseline", f"expected a monitor MON-… or a rate in [0, 1], found {text!r}"))
    return _round(_turn(file, value)), "stated by the auditor"


def _turn(file: MonitorFile, value: float) -> float:
    """Return the share on the wrong side: 1 less the mean score for a claim with a lower limit."""
    return value if file.plan.relation is Relation.AT_MOST else 1 - value


def _is_of(forecast: Forecast, other: Forecast) -> bool:
    return (forecast.audit, forecast.spec) == (other.audit, other.spec)


def _score(view: View, file: MonitorFile, recorded: Recorded[Forecast]) -> ForecastScore:
    forecast, plan = recorded.payload, file.plan
    windows = [window for window in file.current if window.stop <= forecast.due]
    counted: list[WindowCell] = [cell for window in windows for cell in window.cells]
    stream = [read_cell(cell, plan) for cell in counted]
    cells = stream if plan.relation is Relation.AT_MOST else [cell.complement() for cell in stream]
    observed = estimate_rate(cells, level=forecast.level)
    if observed is None:
        problem = f"no item was reviewed until {forecast.due:%Y-%m-%d %H:%M} UTC"
        raise ConflictError(Fault("forecast-not-due", forecast.monitor, problem, advice="score it when labels are in"))
    wide = widen(observed, cells)
    ratio = log_ratio(forecast.rate, observed.rate, forecast_items=forecast.responses, observed_items=observed.effective)
    held = forecast.low <= observed.rate <= forecast.high
    score = ForecastScore(
        monitor=forecast.monitor,
        claim=forecast.claim,
        forecast=recorded.entry.seq,
        windows=windows[-1].number,
        gaps=tuple(_list_gaps(windows)),
        reviewed=sum(cell.reviewed for cell in counted if not cell.suppressed),
        observed=_round(observed.rate),
        observed_low=_round(wide.low),
        observed_high=_round(wide.high),
        log_ratio=_round(ratio),
        zeros=tuple(name for name, rate in (("forecast", forecast.rate), ("observed", observed.rate)) if not rate),
        within=10 ** abs(ratio) <= FACTOR * (1 + 1e-9),
        held=held,
        distinguishable=not (held and wide.low <= forecast.rate <= wide.high),
        direction=None if wide.low <= (forecast.baseline or 0.0) <= wide.high else _find_direction(forecast, observed.rate),
    )
    return replace(score, track=tuple(_list_tracked(view, recorded, score)))


def _list_gaps(windows: list[MonitorWindow]) -> Iterator[int]:
    yield from (window.number for window in windows if not window.cells)


def _find_direction(forecast: Forecast, observed: float) -> bool | None:
    before = forecast.baseline
    if before is None or before == observed:
        return None
    small, large = sorted((before, observed))
    # A change from or to zero is a change by any factor.
    if small > 0 and large / small < CHANGE:
        return None
    return (forecast.rate > before) == (observed > before) and forecast.rate != before


def _list_tracked(view: View, recorded: Recorded[Forecast], score: ForecastScore) -> Iterator[TrackedForecast]:
    own = recorded.payload
    for other, last in list_track(view, by=own.by, developer=own.model.developer):
        found = score if other.entry.seq == recorded.entry.seq else last
        yield TrackedForecast(
            entry=other.entry.seq,
            claim=other.payload.claim,
            monitor=other.payload.monitor,
            rate=other.payload.rate,
            observed=found.observed if found else None,
            held=found.held if found else None,
            within=found.within if found else None,
        )


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
