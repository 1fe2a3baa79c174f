"""Roots of complete subtrees, found for proofs and kept while writing.

Kept are those of 16, 256, 4,096, … leaves (levels 4, 8, 12, …), each under the entry that completed it; the levels between are computed
from at most sixteen. What is missing is computed from the leaves.
"""

from collections.abc import Iterator

from sqlalchemy import func, select

from registry.errors import AlteredError, Fault
from registry.seal import merkle_tree as tree
from registry.store.reader import Reader
from registry.store.seal_tables import node

STEP = 4
"""Every fourth level is kept."""

_NODES = "SELECT seq, hash FROM node WHERE log = ? AND level = ? AND seq IN ({})"
_LEAVES = "SELECT leaf FROM entry WHERE log = ? AND seq BETWEEN ? AND ? ORDER BY seq"

NodeRow = tuple[int, int, int, bytes]
"""A row of `node`: log, entry that completes the subtree, level, hash."""


class NodeFinder:
    """Finds roots of complete subtrees for `registry.seal.merkle_tree`; what was read once is remembered."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[tuple[int, int], bytes] = {}
        self._read_already: set[tuple[int, int]] = set()

    def find(self, level: int, index: int) -> bytes:
        """Return the root of the complete subtree of leaves `index · 2^level` to before `(index + 1) · 2^level`.

        Raises:
            AlteredError: leaves under it are gone.
        """
        if (level, index) not in self._known:
            kept = level - level % STEP
            self._read(kept, index >> (STEP - level % STEP))
            if (level, index) not in self._known:
                self._known[level, index] = self._compute(level, index, kept)
        return self._known[level, index]

    def _read(self, level: int, group: int) -> None:
        """Read the sixteen subtrees of *level*, or as many as there are, that make up one of the next level that is kept."""
        if (level, group) in self._read_already:
            return
        self._read_already.add((level, group))
        first, width = group << STEP, 1 << level
        stop = min((first + (1 << STEP)) * width, self._reader.log_size)
        if level == 0:
            self._known.update(((0, index), leaf) for index, leaf in enumerate(self._read_leaves(first, stop), start=first))
            return
        numbers = [(index + 1) * width for index in range(first, stop // width)]
        if numbers:
            asked = (self._reader.log_id, level, *numbers)
            for seq, found in self._reader.driver_rows(_NODES.format(", ".join("?" * len(numbers))), *asked):
                self._known[level, seq // width - 1] = bytes(found)

    def _compute(self, level: int, index: int, kept: int) -> bytes:
        below = level - 1
        if level > kept:
            return tree.node_hash(self.find(below, 2 * index), self.find(below, 2 * index + 1))
        return tree.root_of(self._read_leaves(index << level, (index + 1) << level))

    def _read_leaves(self, first: int, stop: int) -> list[bytes]:
        if stop - first <= 1 << STEP:
            rows = self._reader.driver_rows(_LEAVES, self._reader.log_id, first + 1, stop)
            leaves = [bytes(row[0]) for row in rows]
        else:
            leaves = list(self._reader.leaves(first + 1, stop + 1))
        if len(leaves) != stop - first:
            found = f"{stop - first - len(leaves)} of the entries {first + 1} to {stop} are gone"
            advice = "caveat log check names them; restore the registry from a backup"
            raise AlteredError(Fault(code="entry-altered", where="log", found=found, advice=advice))
        return leaves


def load_frontier(reader: Reader) -> tuple[tree.Frontier, list[NodeRow]]:
    """Return the right edge of the log's tree, and the rows of `node` that are missing: of a registry upgraded and not written since."""
    size = reader.last_seq()
    last = select(func.max(node.c.seq)).where(node.c.log == reader.log_id, node.c.level == STEP)
    known = int(reader.one_value(last) or 0)
    find = NodeFinder(reader).find
    peaks = [find(level, (known >> level) - 1) for level in range(known.bit_length() - 1, -1, -1) if known >> level & 1]
    frontier = tree.Frontier(known, peaks)
    missing: list[NodeRow] = []
    for leaf in reader.leaves(known + 1, size + 1):
        missing += complete(frontier, leaf, log_id=reader.log_id)
    return frontier, missing


def complete(frontier: tree.Frontier, leaf: bytes, *, log_id: int) -> Iterator[NodeRow]:
    """Append *leaf* to *frontier*, and yield the rows of `node` for the subtrees it completes."""
    for level, _, found in frontier.append(leaf):
        if level % STEP == 0:
            yield log_id, frontier.size, level, found
