"""A range for an estimate."""

from dataclasses import dataclass

from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Record):
    """A range for an estimate, with the coverage it was built for."""

    low: float
    """Lower end, in the unit of the estimate."""

    high: float
    """Upper end, in the unit of the estimate; never below `low`."""

    level: float
    """Nominal coverage, between 0 and 1, both excluded."""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level}")
