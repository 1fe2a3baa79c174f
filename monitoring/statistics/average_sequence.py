"""A confidence sequence for the average rate so far, which may change from item to item.

Empirical Bernstein sequence (Howard, Ramdas, McAuliffe and Sekhon 2021, Annals of Statistics 49(2), theorem 4). With any predictable
centre c_i of the weighted score z_i in [0, b], and V = Σ (z_i - c_i)², for every share g in (0, 1)

    exp( (g/b)·Σ(z_i - μ_i) - ψ(g)·V/b² ),  ψ(g) = -log(1 - g) - g

is a supermartingale, and so is that with the sign of the first sum turned. Mixing over g and Ville's inequality give limits for the
average of the conditional means μ_i that hold at all looks. The centre is the mean of the windows before, so sums of a window are enough.
The upper limit needs only z_i ≤ b + c_i: that labels of people make some z negative does not matter to it. Its exponent falls in z over the
whole range where c is a rate (2ψ(g) < g for g up to 1/2), so what is not known may be replaced by its highest z.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from monitoring.statistics.stream_tally import StreamCell

_SHARES = tuple(0.5**power for power in range(1, 15))
"""The shares g: from one for short streams with large variance to one for long streams."""
_PSI = tuple(-math.log1p(-share) - share for share in _SHARES)


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageSequence:
    """Sums for an upper limit of the average of z."""

    bound: float
    """b: the largest possible weighted score."""
    centre: float
    """The centre of the first window, fixed before it: the limit of the claim."""
    items: int = 0
    total: float = 0.0
    """Σz, in which what is not known counts at its highest."""
    spread: float = 0.0
    """V."""
    unknown: int = 0
    """Items of suppressed cells without labels of people, each of which may have any score."""

    def add(self, cells: list[StreamCell]) -> "AverageSequence":
        """Return the sums with the cells of one more window."""
        centre = min(max(self.total / self.items, 0.0), 1.0) if self.items else self.centre
        items, unknown, total, squares = 0, self.unknown, 0.0, 0.0
        for cell in cells:
            if cell.suppressed and cell.labels is None:
                unknown += cell.items
                continue
            items += cell.items
            highest = list(cell.list_highest())
            total += math.fsum(weighted * count for weighted, count in highest)
            squares += math.fsum(weighted**2 * count for weighted, count in highest)
            if cell.labels is None and cell.squares is not None:
                squares -= (cell.total - cell.squares) / cell.inclusion**2
        spread = squares - 2 * centre * total + items * centre**2
        return replace(
            self,
            items=self.items + items,
            total=self.total + total,
            spread=self.spread + max(spread, 0.0),
            unknown=unknown,
        )

    def find_upper_limit(self, threshold: float) -> float:
        """Return the upper limit of the average rate so far, with an error probability of 1/*threshold* over all looks; 1 without data."""
        count = self.items + self.unknown
        if not self.items:
            return 1.0
        wanted = math.log(threshold)
        shares, psi = np.asarray(_SHARES), np.asarray(_PSI)
        penalty = psi * self.spread / self.bound**2

        def has_reached(rate: float) -> bool:
            growth = shares / self.bound * (self.items * rate - self.total) - penalty
            highest = float(growth.max())
            return highest + math.log(float(np.exp(growth - highest).mean())) >= wanted

        if not has_reached(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if has_reached(middle) else (middle, high)
        return min(1.0, (high * self.items + self.unknown) / count)
