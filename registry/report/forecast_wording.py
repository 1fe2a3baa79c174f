"""Forecasts and how they came true, in words: in supplements and in a terminal."""

from registry.records.forecast import CHANGE, Forecast, ForecastScore
from registry.report.number_format import format_hundredths


def describe_error(forecast: Forecast, score: ForecastScore) -> str:
    """Return how a forecast came true, as a clause."""
    rates = f"{format_hundredths(forecast.rate)} forecast, {format_hundredths(score.observed)} observed"
    if not score.distinguishable:
        return f"{rates}: not distinguishable"
    if score.held:
        return f"{rates}: its interval holds the observed rate"
    # Few items show little: a rate outside the forecast's interval is no miss while its own interval reaches into it.
    reaches = score.observed_low <= forecast.high and forecast.low <= score.observed_high
    observed = f" (interval {format_hundredths(score.observed_low)} to {format_hundredths(score.observed_high)}, which overlaps it)"
    return f"{rates}: its interval misses the observed rate{observed if reaches else ''}"


def describe_ratio(score: ForecastScore) -> str:
    """Return the error as a factor, and whether it is below 10."""
    factor = 10 ** abs(score.log_ratio)
    side = "too high" if score.log_ratio > 0 else "too low"
    zero = f"; the {' and the '.join(score.zeros)} rate is zero and counts as half an event" if score.zeros else ""
    near = "within a factor of 10" if score.within else "beyond a factor of 10"
    return f"{factor:.2g} times {side}, {near}{zero}" if factor > 1.005 else f"no error, {near}{zero}"


def describe_direction(forecast: Forecast, score: ForecastScore) -> str:
    """Return whether the change from the baseline had the direction that was forecast."""
    if forecast.baseline is None:
        return "no baseline"
    if score.direction is None:
        return f"not scored: a change of at least {CHANGE:g} times is not shown"
    return "as forecast" if score.direction else "not as forecast"


def describe_track(forecast: Forecast, score: ForecastScore) -> str:
    """Return the auditor's forecasts for this developer, hits and misses, in a sentence."""
    scored = [tracked for tracked in score.track if tracked.held is not None]
    held, within = sum(bool(tracked.held) for tracked in scored), sum(bool(tracked.within) for tracked in scored)
    total = len(score.track)
    return (
        f"{forecast.by} has made {total} {'forecast' if total == 1 else 'forecasts'} for {forecast.model.developer} in this log: "
        f"{len(scored)} scored, {held} with the observed rate in the interval, {within} within a factor of 10, "
        f"{total - len(scored)} still open."
    )
