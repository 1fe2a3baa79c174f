"""The tree over a log of which only the end is at hand: the peaks of what came before, and the leaves since."""

from collections.abc import Sequence

from registry.seal import tree


class Stretch:
    """Answers for every complete subtree that the peaks and leaves give, so that `registry.seal.tree` makes roots and proofs of it."""

    def __init__(self, since: int, peaks: Sequence[bytes], leaves: Sequence[bytes]) -> None:
        """Take the peaks of the first *since* leaves, the widest first, and the *leaves* after them.

        Raises:
            ValueError: a tree of *since* leaves has another number of peaks.
        """
        if len(peaks) != since.bit_count():
            raise ValueError(f"a tree of {since} leaves has {since.bit_count()} peaks, got {len(peaks)}")
        self.since = since
        self.size = since + len(leaves)
        """Of the whole log."""
        self.leaves = leaves
        """Those after *since*: leaf *since* comes first."""
        self._known: dict[tuple[int, int], bytes] = {}
        start = 0
        for peak in peaks:
            level = (since - start).bit_length() - 1
            self._known[level, start >> level] = peak
            start += 1 << level

    def find(self, level: int, index: int) -> bytes:
        """Return the root of the complete subtree of leaves `index · 2^level` to before `(index + 1) · 2^level`.

        Raises:
            ValueError: it lies within the peaks, or beyond the last leaf.
        """
        key = (level, index)
        if key not in self._known:
            start, stop = index << level, (index + 1) << level
            if stop > self.size or stop <= self.since:
                raise ValueError(f"the leaves {start} to {stop - 1} are not at hand")
            if start >= self.since:
                self._known[key] = tree.root_of(self.leaves[start - self.since : stop - self.since])
            else:
                self._known[key] = tree.node_hash(self.find(level - 1, 2 * index), self.find(level - 1, 2 * index + 1))
        return self._known[key]

    def root_at(self, size: int) -> bytes:
        """Return the root of the first *size* leaves; raises ValueError for fewer than came before the stretch, or more than there are."""
        if not self.since <= size <= self.size:
            raise ValueError(f"only sizes from {self.since} to {self.size} are at hand, got {size}")
        return tree.root_at(size, self.find)

    def consistency_path(self, old: int, new: int) -> list[bytes]:
        """Return the proof that the first *new* leaves begin with the first *old*; raises ValueError as `root_at`."""
        if not self.since <= old <= new <= self.size:
            raise ValueError(f"only sizes from {self.since} to {self.size} are at hand, got {old} and {new}")
        return tree.consistency_path(old, new, self.find)
