"""What a monitor has seen of a stream: the sums from which evidence, limits and averages are computed.

An item of the stream has a score g in [0, 1] that is known only if the item was reviewed (S = 1), which happens with the known probability
π. Its weighted score is z = S·g/π. If π is right, z has the mean of g, whatever the sampler prefers.

Where people label a random share ρ of the reviewed items (L = 1), their score Y corrects the judge's: z = S·(g + (L/ρ)·(Y - g))/π. It has
the mean of Y, whatever the judge says (AIPW; arXiv:2601.21471), and lies between (1 - 1/ρ)/π and 1/(ρ·π).

z is linear in (g, max(Y - g, 0), max(g - Y, 0)), and each item is a mixture of four kinds: both scores 0, both 1, only the judge's 1, only
people's 1. So sums over items of concave functions of z are at least, and of convex ones at most, those over the kinds with the joint sums
as numbers of items. With scores of 0 and 1 they are the same.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLabels:
    """Labels of people in a cell, each chosen at random whatever the scores.

    Raises:
        ValueError: for a share outside (0, 1], or sums that cannot be.
    """

    share: float
    """ρ: the probability that a reviewed item is labelled."""
    items: int = 0
    """Labelled items."""
    both: float = 0.0
    """Σ min(g, Y) over them."""
    judge_only: float = 0.0
    """Σ max(g - Y, 0)."""
    people_only: float = 0.0
    """Σ max(Y - g, 0)."""
    pending: int = 0
    """Items chosen for a label that have none yet."""
    pending_total: float = 0.0
    """Σ g of these."""
    most: int = 0
    """In a suppressed cell: the most labelled items it may have."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share of labels {self.share} is not in (0, 1]")
        sums = (self.both, self.judge_only, self.people_only)
        if min(self.items, self.pending, *sums) < 0 or sum(sums) > self.items + 1e-9:
            raise ValueError(f"joint sums {sums} of {self.items} labelled items cannot be")
        if not 0 <= self.pending_total <= self.pending:
            raise ValueError(f"scores in [0, 1] of {self.pending} items without a label cannot sum to {self.pending_total}")

    def complement(self) -> "StreamLabels":
        """Return the labels with each score x replaced by 1 - x."""
        return StreamLabels(
            share=self.share, items=self.items, both=max(0.0, self.items - self.both - self.judge_only - self.people_only),
            judge_only=self.people_only, people_only=self.judge_only, pending=self.pending, pending_total=self.pending - self.pending_total,
            most=self.most,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCell:
    """The items of one stratum in one window.

    Raises:
        ValueError: for counts that cannot be.
    """

    items: int
    """Items in the stream, reviewed or not."""
    reviewed: int = 0
    """Items with a score."""
    total: float = 0.0
    """Sum of the judge's scores, each in [0, 1]."""
    squares: float | None = None
    """Sum of the squared scores; None where it was not reported. It is then taken as *total*, its largest possible value."""
    inclusion: float = 1.0
    """π: the probability that an item is reviewed, in (0, 1]."""
    pending: int = 0
    """Items that were chosen for review and have no score yet."""
    labels: StreamLabels | None = None
    """None where the judge's scores are the last word."""
    suppressed: bool = False
    """Whether only the number of items is known, because a smaller cell would reveal single users."""

    def __post_init__(self) -> None:
        if not 0 < self.inclusion <= 1:
            raise ValueError(f"inclusion probability {self.inclusion} is not in (0, 1]")
        if self.items < 0 or self.reviewed < 0 or self.pending < 0 or self.reviewed + self.pending > self.items:
            raise ValueError(f"{self.reviewed} reviewed and {self.pending} pending of {self.items} items cannot be")
        if not 0 <= self.total <= self.reviewed:
            raise ValueError(f"scores in [0, 1] of {self.reviewed} items cannot sum to {self.total}")
        if self.squares is not None and not self.total**2 <= self.squares * max(self.reviewed, 1) + 1e-9:
            raise ValueError(f"squares {self.squares} are smaller than the sum {self.total} allows")
        if self.squares is not None and self.squares > self.total + 1e-9:
            raise ValueError(f"squares of scores in [0, 1] cannot exceed their sum {self.total}")
        if self.labels is not None and not self.suppressed and not self._holds(self.labels):
            raise ValueError(f"{self.labels} cannot be among {self.reviewed} reviewed items with scores of {self.total}")

    def _holds(self, labels: StreamLabels) -> bool:
        """Whether what is left without *labels* are scores in [0, 1] of the other reviewed items."""
        others = self.reviewed - labels.items - labels.pending
        left = self.total - labels.both - labels.judge_only - labels.pending_total
        return -1e-9 <= left <= others + 1e-9

    def complement(self) -> "StreamCell":
        """Return the cell with each score x replaced by 1 - x."""
        squares = None if self.suppressed or self.squares is None else self.reviewed - 2 * self.total + self.squares
        total = 0.0 if self.suppressed else self.reviewed - self.total
        return StreamCell(
            items=self.items, reviewed=self.reviewed, total=total, squares=squares, inclusion=self.inclusion, pending=self.pending,
            labels=self.labels.complement() if self.labels else None, suppressed=self.suppressed,
        )  # fmt: skip

    def list_lowest(self) -> Iterator[tuple[float, float]]:
        """Yield weighted scores z with the number of items that have them, the unknown ones at their lowest; the others have z = 0.

        A label that is pending is taken as 0, which gives the lowest z. Pending and suppressed items are taken as z = 0. That need not be
        their lowest, and it suffices on average over the choice of labels. For pending items this choice does not depend on how long a
        judge takes. For a cell that is suppressed because fewer than k items are labelled, let M be its factor and M(0) that with every
        z = 0. Given the scores, E[M·1{labelled < k}] ≥ P(labelled < k)·M(0): items with Y ≥ g have z ≥ 0, and for the others both z and
        the event fall with L (Harris' inequality).
        """
        if self.suppressed:
            return
        if self.labels is None:
            yield 1 / self.inclusion, self.total
            return
        labels = self.labels
        wrong = labels.judge_only + labels.pending_total
        yield 1 / self.inclusion, max(0.0, self.total - wrong)
        yield 1 / (self.inclusion * labels.share), labels.people_only
        yield (1 - 1 / labels.share) / self.inclusion, wrong

    def list_highest(self) -> Iterator[tuple[float, float]]:
        """Yield weighted scores z with the number of items that have them, the unknown ones at their highest; the others have z = 0.

        A suppressed cell has as many labelled items as it may have, each as a bad item that the judge missed. Without labels its items have
        no z, and are left to the caller.
        """
        labels = self.labels
        if labels is None:
            if not self.suppressed:
                yield 1 / self.inclusion, self.total + self.pending
        elif self.suppressed:
            most = min(self.items, labels.most)
            yield 1 / self.inclusion, self.items - most
            yield 1 / (self.inclusion * labels.share), most
        else:
            yield 1 / self.inclusion, max(0.0, self.total - labels.judge_only) + self.pending
            yield 1 / (self.inclusion * labels.share), labels.people_only + labels.pending - labels.pending_total
            yield (1 - 1 / labels.share) / self.inclusion, labels.judge_only

    def correct(self) -> tuple[float, float] | None:
        """Return Σz and Σz² of the reviewed items for an estimate of the rate, without the weight 1/π; None where no label is in.

        Labels count with the share that was reached and not with ρ, which makes the estimate more precise and no longer unbiased.
        """
        if self.labels is None:
            return self.total, self.total if self.squares is None else self.squares
        if not self.labels.items:
            return None
        weight, missed, wrong = self.reviewed / self.labels.items, self.labels.people_only, self.labels.judge_only
        squares = self.total - wrong + missed * weight**2 + wrong * (1 - weight) ** 2
        return self.total + weight * (missed - wrong), squares


def find_rate(cells: Iterable[StreamCell]) -> float | None:
    """Return the weighted mean of the scores, Σ(z/π)/Σ(1/π) over reviewed items (Hájek); None without one."""
    known = [(cell, corrected) for cell in cells if not cell.suppressed and (corrected := cell.correct())]
    weight = math.fsum(cell.reviewed / cell.inclusion for cell, _ in known)
    total = math.fsum(corrected[0] / cell.inclusion for cell, corrected in known)
    return min(1.0, max(0.0, total / weight)) if weight else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTally:
    """The sums of all windows so far. Adding cells in another order gives the same tally."""

    floor: float = 0.0
    """The smallest weighted score that the plan allows, at most 0: bets are bounded by it."""
    items: int = 0
    """Items in the stream, those without a score included."""
    weights: Mapping[float, float] = field(default_factory=lambda: MappingProxyType({}))
    """Number of items by weighted score z; all other items have z = 0."""

    def __post_init__(self) -> None:
        if self.floor > 0 or any(weighted < self.floor for weighted in self.weights):
            raise ValueError(f"weighted scores {sorted(self.weights)} are below the floor {self.floor}, or it is above 0")

    def add(self, cells: Iterable[StreamCell]) -> "StreamTally":
        """Return the tally with *cells*, with what is unknown in them at its lowest."""
        weights = dict(self.weights)
        items = self.items
        for cell in cells:
            items += cell.items
            for weighted, count in cell.list_lowest():
                # An item with z = 0 is in the number of items already.
                if count and weighted:
                    weights[weighted] = weights.get(weighted, 0.0) + count
        return StreamTally(floor=self.floor, items=items, weights=MappingProxyType(dict(sorted(weights.items()))))
