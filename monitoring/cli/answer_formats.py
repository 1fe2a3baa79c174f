"""The documents of `caveat monitor`, from which the JSON Schemas are made."""

from registry.present.answer_formats import AnswerFormat, answer, group
from registry.records.dossier import MonitorFile
from registry.records.monitor import Monitor, MonitorReading, MonitorState, MonitorVerdict


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the monitoring commands."""
    figures = {"rate": float | None, "lower": float | None, "upper": float | None, "theta": float, "alarm": int | None}
    row = group(monitor=str, claim=str, state=MonitorState, verdict=MonitorVerdict, windows=int, items=int, **figures)
    lists = {"doubts": list[str], "gaps": list[int], "corrected": list[int]}
    added = {"added": list[int], "known": list[int], "verdict": MonitorVerdict, "reading": MonitorReading | None}
    return (
        answer("monitor-lock", "monitor lock", dry_run=bool, monitor=Monitor),
        answer("monitor-add", "monitor add", dry_run=bool, **added),
        answer("monitors", "monitor list", monitors=list[row]),
        answer("monitor-show", ("monitor show", "monitor end"), MonitorFile, state=MonitorState, verdict=MonitorVerdict, **lists),
    )
