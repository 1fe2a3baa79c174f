"""A change of a rate: a Shiryaev-Roberts e-detector (Shin, Ramdas and Rinaldo 2022, arXiv:2203.03532).

While the conditional means are at most the tolerated rate, the expected number of steps until the alarm is at least the run length A. A
step is a window: its factor is a lower bound of the product of its items, so the expected number of items is at least A as well.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from monitoring.statistics.stream_tally import StreamCell

BETS: tuple[float, ...] = (0.1, 0.3, 0.6, 1.2, 2.4)
"""The bets λ on z - θ₀; only those below 1/θ₀ are used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftDetector:
    """The state of a detector after some steps."""

    tolerated: float
    """θ₀, in (0, 1)."""
    logs: tuple[float, ...] | None = None
    """log R for each bet; None before the first step."""

    def add(self, cells: Iterable[StreamCell]) -> "DriftDetector":
        """Return the detector after one more step."""
        bets = [bet for bet in BETS if bet * self.tolerated < 1]
        before: Sequence[float] = self.logs if self.logs is not None else [-math.inf] * len(bets)
        growth = np.zeros(len(bets))
        lost = np.log1p(-np.asarray(bets) * self.tolerated)
        for cell in cells:
            events = 0.0 if cell.suppressed else cell.total
            growth += (cell.items - events) * lost + events * np.log1p(np.asarray(bets) * (1 / cell.inclusion - self.tolerated))
        logs = tuple(float(np.logaddexp(past, 0.0) + grown) for past, grown in zip(before, growth, strict=True))
        return DriftDetector(tolerated=self.tolerated, logs=logs)

    @property
    def log_statistic(self) -> float:
        """Log of the mean of R over the bets; minus infinity before the first step."""
        if self.logs is None:
            return -math.inf
        return float(np.logaddexp.reduce(self.logs)) - math.log(len(self.logs))

    def has_alarmed(self, run_length: float) -> bool:
        """Return whether the statistic is at *run_length* or above."""
        return self.log_statistic >= math.log(run_length)
