"""What a monitor has seen of a stream: the sums from which evidence, limits and averages are computed.

An item of the stream has a score x in [0, 1] that is known only if the item was reviewed (S = 1), which happens with the known probability
π. Its weighted score is z = S·x/π. If π is right, z has the mean of x, whatever the sampler prefers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


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
    """Sum of the scores, each in [0, 1]."""
    squares: float | None = None
    """Sum of the squared scores; None where it was not reported. It is then taken as *total*, its largest possible value."""
    inclusion: float = 1.0
    """π: the probability that an item is reviewed, in (0, 1]."""
    pending: int = 0
    """Items that were chosen for review and have no score yet."""
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

    def complement(self) -> "StreamCell":
        """Return the cell with each score x replaced by 1 - x."""
        squares = None if self.suppressed or self.squares is None else self.reviewed - 2 * self.total + self.squares
        total = 0.0 if self.suppressed else self.reviewed - self.total
        return StreamCell(
            items=self.items, reviewed=self.reviewed, total=total, squares=squares, inclusion=self.inclusion, pending=self.pending,
            suppressed=self.suppressed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTally:
    """The sums of all windows so far. Adding cells in another order gives the same tally."""

    items: int = 0
    """Items in the stream, those without a score included."""
    events: Mapping[float, float] = field(default_factory=lambda: MappingProxyType({}))
    """Sum of scores for each inclusion probability."""

    def add(self, cells: Iterable[StreamCell]) -> "StreamTally":
        """Return the tally with *cells*. Pending items and suppressed cells count as items without an event."""
        events = dict(self.events)
        items = self.items
        for cell in cells:
            items += cell.items
            if cell.total and not cell.suppressed:
                events[cell.inclusion] = events.get(cell.inclusion, 0.0) + cell.total
        return StreamTally(items=items, events=MappingProxyType(dict(sorted(events.items()))))
