"""Forecasts in a terminal and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer
from registry.present.blocks import Block, Facts
from registry.present.listings import Column
from registry.records.dossier import Recorded
from registry.records.forecast import Forecast, ForecastScore
from registry.report.forecast_wording import describe_direction, describe_error, describe_ratio, describe_track
from registry.report.number_format import format_hundredths, share


def describe_forecast(recorded: Recorded[Forecast], score: ForecastScore | None) -> dict[str, Any]:
    """Return a forecast as a row of a list has it."""
    forecast = recorded.payload
    return {
        "entry": recorded.entry.seq,
        "audit": forecast.audit,
        "monitor": forecast.monitor,
        "developer": forecast.model.developer,
        "by": forecast.by,
        "due": f"{forecast.due:%Y-%m-%d}",
        "forecast": forecast.rate,
        "low": forecast.low,
        "high": forecast.high,
        "observed": score.observed if score else None,
        "held": score.held if score else None,
        "within": score.within if score else None,
    }


def list_columns() -> list[Column[Mapping[str, Any]]]:
    """Return the columns of `caveat forecast list`."""

    def column(name: str, *, is_number: bool = False, is_spare: bool = False) -> Column[Mapping[str, Any]]:
        show = None
        if name in {"forecast", "low", "high", "observed"}:
            show = lambda row: "open" if row[name] is None else format_hundredths(row[name])  # noqa: E731  (one line a column)
        elif name in {"held", "within"}:
            show = lambda row: {None: "open", True: "yes", False: "no"}[row[name]]  # noqa: E731
        return Column(name=name, read=lambda row: row[name], show=show, is_number=is_number, is_spare=is_spare)

    spare = {"entry", "developer", "by", "low", "high"}
    numbers = {"entry", "forecast", "low", "high", "observed"}
    names = ("entry", "audit", "monitor", "developer", "by", "due", "forecast", "low", "high", "observed", "held", "within")
    return [column(name, is_number=name in numbers, is_spare=name in spare) for name in names]


def present_forecast(recorded: Recorded[Forecast], *, is_new: bool, dry_run: bool) -> Answer:
    """Present a forecast that was locked."""
    forecast = recorded.payload
    document = {
        "schema": "caveat/forecast-lock/1",
        "dry_run": dry_run,
        "new": is_new,
        "entry": None if dry_run and is_new else recorded.entry.seq,
        "forecast": to_document(forecast),
    }
    done = "Would lock" if dry_run else f"Locked (entry {recorded.entry.seq})" if is_new else f"Locked already (entry {recorded.entry.seq})"
    blocks: list[Block] = [f"{done}: the forecast of {forecast.audit} for {forecast.monitor}", Facts(list(_list_facts(forecast)))]
    blocks.append(f"Next: caveat monitor add {forecast.monitor} FILE, then: caveat forecast score {forecast.monitor}")
    return Answer(document, blocks)


def present_scores(scored: Sequence[tuple[Recorded[Forecast], Recorded[ForecastScore], bool]], *, dry_run: bool) -> Answer:
    """Present forecasts with the observed rates."""
    document = {
        "schema": "caveat/forecast-score/1",
        "dry_run": dry_run,
        "scores": [{"new": is_new, "audit": forecast.payload.audit, **to_document(score.payload)} for forecast, score, is_new in scored],
    }
    return Answer(document, _list_scores(scored, dry_run=dry_run))


def _list_scores(scored: Sequence[tuple[Recorded[Forecast], Recorded[ForecastScore], bool]], *, dry_run: bool) -> Iterator[Block]:
    for recorded, scored_entry, is_new in scored:
        forecast, score = recorded.payload, scored_entry.payload
        done = "would be recorded" if dry_run and is_new else "recorded" if is_new else "recorded already"
        yield f"forecast of {forecast.audit}: {describe_error(forecast, score)} ({done})"
        observed = (
            f"{format_hundredths(score.observed)} ({format_hundredths(score.observed_low)} to {format_hundredths(score.observed_high)})"
        )
        facts = [*_list_facts(forecast), ("observed", f"{observed}; {score.reviewed:,} items reviewed, windows 1 to {score.windows}")]
        facts += [("error", describe_ratio(score))]
        facts += [("direction", describe_direction(forecast, score))] if forecast.baseline is not None else []
        facts += [("no data", f"windows {', '.join(map(str, score.gaps))}")] if score.gaps else []
        yield Facts(facts)
    if scored:
        yield describe_track(scored[-1][0].payload, scored[-1][1].payload)


def _list_facts(forecast: Forecast) -> Iterator[tuple[str, str]]:
    ends = f"{share(forecast.level)} CI {format_hundredths(forecast.low)} to {format_hundredths(forecast.high)}"
    yield "forecast", f"{format_hundredths(forecast.rate)} on the wrong side ({ends})"
    yield "about", f"the time until {forecast.due:%Y-%m-%d}; made from the specification {forecast.spec}"
    if forecast.baseline is not None:
        yield "before", f"{format_hundredths(forecast.baseline)} ({forecast.baseline_source})"
