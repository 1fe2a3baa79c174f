"""Forecasts: an audit's estimate as a statement on production, locked before release and scored when production is seen."""

from dataclasses import dataclass
from datetime import datetime

from registry.records.model_version import ModelRef
from registry.records.record import Payload, Record

FACTOR = 10.0
"""A forecast within this factor of what was observed counts as near."""
CHANGE = 1.5
"""The direction is scored only if production changed by at least this factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Payload):
    """The rate that an audit predicts for a monitor. All rates are of scores on the wrong side of the claim."""

    KIND = "forecast"
    monitor: str
    """`MON-…` that will see production."""
    claim: str
    """`CLM-…@n`, as the monitor has it."""
    audit: str
    """`AUD-…` with the estimate."""
    spec: str
    """The specification of P_deploy."""
    model: ModelRef
    by: str
    """Code of the auditor."""
    rate: float
    """Φ_deploy mapped to [0, 1]; 1 less it for a claim with a lower limit."""
    low: float
    high: float
    level: float
    responses: int
    """Scored deployment responses behind it."""
    due: datetime
    """End of the time that it is about, UTC."""
    baseline: float | None = None
    """The rate of the version before, for the direction of the change; None without one."""
    baseline_source: str | None = None
    """Where that rate is from: `MON-…`, or in words."""

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.rate <= self.high <= 1:
            raise ValueError(f"a forecast needs 0 <= low <= rate <= high <= 1, got {self.low}, {self.rate}, {self.high}")
        if self.baseline is not None and not 0 <= self.baseline <= 1:
            raise ValueError(f"the baseline must lie in [0, 1], got {self.baseline}")
        if (self.baseline is None) != (self.baseline_source is None):
            raise ValueError("a baseline and its source belong together")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedForecast(Record):
    """One forecast of the auditor for the developer, as it was when another one was scored."""

    entry: int
    """Of the forecast."""
    claim: str
    monitor: str
    rate: float
    observed: float | None = None
    """None where it was not scored."""
    held: bool | None = None
    """Whether its interval held what was observed; None where it was not scored."""
    within: bool | None = None
    """Whether it was within a factor of 10; None where it was not scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastScore(Payload):
    """A forecast compared with what a monitor saw until its day. A later score, after corrections of windows, takes its place."""

    KIND = "forecast_score"
    monitor: str
    claim: str
    """`CLM-…@n`, as the monitor has it."""
    forecast: int
    """Entry of the forecast."""
    windows: int
    """Number of the last window that counts."""
    gaps: tuple[int, ...] = ()
    """Numbers of windows without data."""
    reviewed: int
    observed: float
    """Weighted rate of scores on the wrong side, by the monitor's judge."""
    observed_low: float
    observed_high: float
    """At the level of the forecast."""
    log_ratio: float
    """log10 of forecast over observed; a rate of zero counts as half an event."""
    zeros: tuple[str, ...] = ()
    """Which of the two rates was zero: `forecast`, `observed`."""
    within: bool
    """Whether they differ by a factor of at most 10."""
    held: bool
    """Whether the forecast's interval holds the observed rate."""
    distinguishable: bool
    """False where each rate lies in the interval of the other: then the error says nothing."""
    direction: bool | None = None
    """Whether it moved from the baseline as forecast; None without a baseline, where the change is below 1.5 times, or where the interval
    of the observed rate contains the baseline."""
    track: tuple[TrackedForecast, ...] = ()
    """All forecasts of the auditor for this developer in this log, with this score: hits, misses and those still open."""
