"""The documents of `caveat monitor`, from which the JSON Schemas are made."""

from registry.present.answer_formats import AnswerFormat, answer, group
from registry.records.dossier import MonitorFile
from registry.records.forecast import Forecast, ForecastScore
from registry.records.monitor import Monitor, MonitorReading, MonitorState, MonitorVerdict


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the monitoring commands."""
    figures = {"rate": float | None, "lower": float | None, "upper": float | None, "theta": float, "alarm": int | None}
    row = group(monitor=str, claim=str, state=MonitorState, verdict=MonitorVerdict, windows=int, items=int, **figures)
    lists = {"doubts": list[str], "gaps": list[int], "corrected": list[int]}
    added = {
        "added": list[int],
        "known": list[int],
        "incidents": list[group(incident=str, verified=bool, new=bool)],
        "excluded": dict[str, int],
        "verdict": MonitorVerdict,
        "reading": MonitorReading | None,
    }
    listed = group(
        entry=int, audit=str, monitor=str, developer=str, by=str, due=str, forecast=float, low=float, high=float,
        observed=float | None, held=bool | None, within=bool | None,
    )  # fmt: skip
    return (
        answer("forecast-lock", "forecast lock", dry_run=bool, new=bool, entry=int | None, forecast=Forecast),
        answer("forecast-score", "forecast score", dry_run=bool, scores=list[group(ForecastScore, new=bool, audit=str)]),
        answer("forecasts", "forecast list", forecasts=list[listed]),
        answer("monitor-lock", "monitor lock", dry_run=bool, monitor=Monitor),
        answer("monitor-add", "monitor add", dry_run=bool, **added),
        answer("monitors", "monitor show", monitors=list[row]),
        answer("monitor-show", ("monitor show", "monitor end"), MonitorFile, state=MonitorState, verdict=MonitorVerdict, **lists),
    )
