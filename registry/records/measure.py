"""A number that may not exist, with its interval and its reason: what every module beside the estimate reports."""

from dataclasses import dataclass

from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Record):
    """A statistic with its interval. Whatever is None is explained by `reason`; unknown is never written as 0."""

    value: float | None
    """None when the statistic does not exist, and then `reason` says why."""
    low: float | None = None
    """Lower end of the interval; None together with `high` when no interval can be given honestly."""
    high: float | None = None
    reason: str | None = None
    """Why the value, or its interval, is not there; None when both are."""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high are given together or not at all")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")
        if (self.value is None or self.low is None) and self.reason is None:
            raise ValueError("a value or interval that is not there needs its reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisTest(Record):
    """A test of a hypothesis; None wherever the statistic does not exist, with the reason."""

    statistic: float | None
    p: float | None
    """Two-sided unless `method` says otherwise; None when the statistic does not exist."""
    method: str
    """Name of the test and its variant, such as how zeros and ties were treated."""
    n: int
    """Units that entered it: tasks, items or raters."""
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.p is None and self.reason is None:
            raise ValueError("a p-value that is not there needs its reason")
