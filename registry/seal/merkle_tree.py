"""The Merkle tree over a log: roots, and proofs of inclusion and consistency."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from registry.records.log_seal import Node

Find = Callable[[int, int], bytes]
"""Takes level and index and gives the root of that complete subtree; level 0 are the leaves."""

# RFC 6962, section 2.1: the hash of an empty tree is SHA-256 of the empty string.
EMPTY_ROOT: bytes = hashlib.sha256(b"").digest()
"""The root of a log without entries."""

LARGEST_SIZE = 2**63 - 1
"""No log is larger; proofs have at most 63 steps."""

_HASH_BYTES = 32
_HEXADECIMAL = frozenset("0123456789abcdef")


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 ‖ *left* ‖ *right*)."""
    # The prefix 0x01 separates inner nodes from leaves (0x00). Without it a node could be presented
    # as a leaf.
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(leaves: Iterable[bytes]) -> bytes:
    """Return the root over *leaves*, in order; `EMPTY_ROOT` where there are none. A node without a sibling goes up as it is."""
    row = list(leaves)
    if not row:
        return EMPTY_ROOT
    # RFC 6962 splits at the largest power of two below n. Pairing neighbours level by level and
    # passing an odd last node up gives the same tree without recursion.
    while len(row) > 1:
        row = _pair(row) + row[len(row) // 2 * 2 :]
    return row[0]


def list_levels(leaves: list[bytes]) -> list[list[bytes]]:
    """Return the roots of all complete subtrees over *leaves*, by level and index; level 0 are the leaves."""
    levels = [leaves]
    while len(levels[-1]) > 1:
        levels.append(_pair(levels[-1]))
    return levels


def _pair(row: list[bytes]) -> list[bytes]:
    """Hash neighbours together; one that has none is left out. As `node_hash`, without a call for each."""
    # A call of `node_hash` per pair would dominate the time for a million leaves.
    sha256, nodes = hashlib.sha256, iter(row)
    return [sha256(b"\x01" + left + right).digest() for left, right in zip(nodes, nodes, strict=False)]


# The peaks correspond to the bits of the size that are set, so the state has O(log n) hashes.
class Frontier:
    """The right edge of a growing tree: all that is needed to append and to know the root."""

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        """Go on from a tree of *size* leaves, whose complete subtrees have the roots *peaks*, the largest first.

        Raises:
            ValueError: a tree of that size has another number of peaks.
        """
        if size < 0 or len(peaks) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {max(size, 0).bit_count()} peaks, got {len(peaks)}")
        self._size = size
        self._peaks = list(peaks)

    @property
    def size(self) -> int:
        """Number of leaves."""
        return self._size

    @property
    def peaks(self) -> tuple[bytes, ...]:
        """Roots of the complete subtrees, the largest first."""
        return tuple(self._peaks)

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add *leaf* and return (level, index, root) of each subtree it completes, from level 1 up."""
        completed = []
        level, index = 0, self._size
        # Like a carry in binary addition: each trailing one bit of the old size merges two
        # subtrees.
        while index & 1:
            leaf = node_hash(self._peaks.pop(), leaf)
            level, index = level + 1, index >> 1
            completed.append((level, index, leaf))
        self._peaks.append(leaf)
        self._size += 1
        return completed

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        return _fold(self._peaks)


def root_at(size: int, find: Find) -> bytes:
    """Return the root of the first *size* leaves."""
    return _range_root(0, size, find) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, find: Find) -> list[bytes]:
    """Return the audit path of leaf *index* (from 0) in the tree of *size* leaves: its siblings, from below (RFC 6962 section 2.1.1).

    Raises:
        ValueError: there is no such leaf.
    """
    _refuse_outside(index, size)
    path = []
    level, last = 0, size - 1
    while last:
        sibling = index ^ 1
        # At the right edge a node may have no sibling. It moves up unchanged and adds nothing to
        # the path.
        if sibling <= last:
            path.append(_node_at(level, sibling, size, find))
        level, index, last = level + 1, index >> 1, last >> 1
    return path


def consistency_path(old: int, new: int, find: Find) -> list[bytes]:
    """Return the proof that the tree of *new* leaves begins with that of *old* (RFC 6962 section 2.1.2); empty for equal ones and for 0.

    Raises:
        ValueError: *old* exceeds *new*, or either is below 0.
    """
    if not 0 <= old <= new:
        raise ValueError(f"a log of {new} entries does not go on from one of {old}")
    if old in {0, new}:
        return []
    path = []
    # Iterative form of SUBPROOF in RFC 6962, section 2.1.2. `is_left` is its flag b: while it
    # holds, the old root itself need not be sent.
    start, end, is_left = 0, new, True
    while old != end:
        middle = start + (1 << (end - start - 1).bit_length() - 1)
        if old <= middle:
            path.append(_range_root(middle, end, find))
            end = middle
        else:
            path.append(_range_root(start, middle, find))
            start, is_left = middle, False
    if not is_left:
        path.append(_range_root(start, end, find))
    # The walk goes from the root down, and the RFC lists nodes from below.
    return path[::-1]


def root_from_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root that *path* leads to from *leaf* at *index* (RFC 9162 section 2.1.3.2); compare it with that of a checkpoint.

    Raises:
        ValueError: there is no such leaf, or *path* has not exactly the nodes that its place asks for.
    """
    _refuse_outside(index, size)
    _refuse_odd_hashes((leaf, *path))
    steps = iter(path)
    last = size - 1
    root = leaf
    while last:
        sibling = index ^ 1
        if sibling <= last:
            other = next(steps, None)
            if other is None:
                raise ValueError(f"the path is too short: {len(path)} nodes")
            root = node_hash(other, root) if index & 1 else node_hash(root, other)
        index, last = index >> 1, last >> 1
    # A path with extra nodes is refused. Otherwise one proof would have many encodings.
    if next(steps, None) is not None:
        raise ValueError(f"the path is too long: {len(path)} nodes")
    return root


def is_consistent(old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether *path* shows that the new tree begins with the old one (RFC 9162 section 2.1.4.2).

    With equal sizes the roots must be equal, and from 0 entries anything goes on; both take an empty path and no other.
    """
    if not 0 <= old_size <= new_size <= LARGEST_SIZE or any(len(digest) != _HASH_BYTES for digest in (old_root, new_root, *path)):
        return False
    # The two cases without nodes. The RFC starts at one entry; every log extends the empty one.
    if old_size in {0, new_size}:
        return not path and old_root == (EMPTY_ROOT if old_size == 0 else new_root) and (new_size > 0 or new_root == EMPTY_ROOT)
    # If the old size is a power of two, the old root is itself a node of the new tree and is not
    # sent.
    steps = [old_root, *path] if old_size & (old_size - 1) == 0 else list(path)
    return bool(path) and _walk_consistency(old_size - 1, new_size - 1, steps) == (old_root, new_root)


def old_root_of(old_size: int, new_size: int, new_root: bytes, path: Sequence[bytes]) -> bytes | None:
    """Return the root that the tree had at *old_size*, by the word of a consistency proof that leads to *new_root*.

    None where it leads elsewhere, and where *old_size* is 0, *new_size* or a power of two: then the proof does not say.
    """
    if not 0 < old_size < new_size <= LARGEST_SIZE or any(len(digest) != _HASH_BYTES for digest in (new_root, *path)):
        return None
    # In this case the proof starts from the old root instead of yielding it.
    if old_size & (old_size - 1) == 0 or not path:
        return None
    roots = _walk_consistency(old_size - 1, new_size - 1, path)
    return roots[0] if roots is not None and roots[1] == new_root else None


def proof_nodes(indexes: Collection[int], size: int, find: Find) -> tuple[Node, ...]:
    """Return the complete subtrees that hold none of the leaves *indexes* (from 0), as large as they come, by level and index.

    With the leaves themselves they give the root: one proof for many entries.

    Raises:
        ValueError: there is no such leaf.
    """
    return tuple(Node(level=level, index=index, hash=find(level, index).hex()) for level, index in _list_needed(indexes, size))


def root_from_nodes(leaves: Mapping[int, bytes], nodes: Iterable[Node], size: int) -> bytes:
    """Return the root that *leaves*, by index from 0, give with *nodes*, which must be exactly what `proof_nodes` lists.

    Raises:
        ValueError: there is no such leaf, or a node is missing, superfluous, doubled, out of order or no hash.
    """
    node_list = list(nodes)
    needed = _list_needed(leaves, size)
    # Exactly the required nodes in their order: a superfluous node would be unsigned content inside
    # a proof.
    if [(node.level, node.index) for node in node_list] != needed:
        raise ValueError(f"the proof has not exactly the {len(needed)} nodes that its {len(leaves)} entries need, in their order")
    known = {(0, index): leaf for index, leaf in leaves.items()}
    known |= {(node.level, node.index): _from_hexadecimal(node.hash) for node in node_list}
    _refuse_odd_hashes(known.values())
    return _climb(known, size)


def _list_needed(indexes: Collection[int], size: int) -> list[tuple[int, int]]:
    """Level by level: the sibling of what is known, and where the number of complete subtrees is odd, the last, a peak."""
    if not 0 <= size <= LARGEST_SIZE:
        raise ValueError(f"no log has {size} entries")
    for index in indexes:
        _refuse_outside(index, size)
    needed = []
    row = set(indexes)
    for level in range(size.bit_length()):
        count = size >> level
        siblings = {index ^ 1 for index in row} - row
        # The last complete subtree of an odd level is a peak. It has no sibling on its level and is
        # joined only by `_fold`.
        if count & 1:
            if count - 1 in row:
                siblings.discard(count)
                row.discard(count - 1)
            else:
                siblings.add(count - 1)
        needed += [(level, index) for index in sorted(siblings)]
        row = {index >> 1 for index in row}
    return needed


def _climb(known: dict[tuple[int, int], bytes], size: int) -> bytes:
    rows: list[dict[int, bytes]] = [{} for _ in range(size.bit_length())]
    for (level, index), root in known.items():
        rows[level][index] = root
    peaks = []
    for level, row in enumerate(rows):
        count = size >> level
        if count & 1:
            peaks.append(row.pop(count - 1))
        # Each pair is hashed once, from its left node.
        for index in row:
            if not index & 1:
                rows[level + 1][index >> 1] = node_hash(row[index], row[index + 1])
    return _fold(peaks[::-1])


def _fold(peaks: Sequence[bytes]) -> bytes:
    """The root over complete subtrees, the largest first."""
    if not peaks:
        return EMPTY_ROOT
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = node_hash(peak, root)
    return root


def _range_root(start: int, end: int, find: Find) -> bytes:
    """The root of leaves *start* to before *end*, where a subtree as large as the range may begin at *start*."""
    peaks = []
    while start < end:
        level = (end - start).bit_length() - 1
        peaks.append(find(level, start >> level))
        start += 1 << level
    return _fold(peaks)


def _node_at(level: int, index: int, size: int, find: Find) -> bytes:
    """A node of the tree of *size* leaves, complete or, on its right edge, not."""
    if (index + 1) << level <= size:
        return find(level, index)
    return _range_root(index << level, size, find)


def _walk_consistency(old: int, new: int, steps: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """The two roots that a consistency proof leads to; None where its length does not fit. *old* and *new* are the last indexes."""
    # Skip the levels on which the old tree's last node is a right child: there the old root's
    # subtree is complete (RFC 9162, section 2.1.4.2).
    while old & 1:
        old, new = old >> 1, new >> 1
    old_root = new_root = steps[0]
    for step in steps[1:]:
        if new == 0:
            return None
        if old & 1 or old == new:
            old_root, new_root = node_hash(step, old_root), node_hash(step, new_root)
            while old and not old & 1:
                old, new = old >> 1, new >> 1
        else:
            new_root = node_hash(new_root, step)
        old, new = old >> 1, new >> 1
    return (old_root, new_root) if new == 0 else None


def _refuse_outside(index: int, size: int) -> None:
    if not 0 <= index < size <= LARGEST_SIZE:
        raise ValueError(f"a log of {size} entries has no leaf {index} (from 0)")


def _refuse_odd_hashes(hashes: Iterable[bytes]) -> None:
    if any(len(hash_) != _HASH_BYTES for hash_ in hashes):
        raise ValueError("a hash has not 32 bytes")


def _from_hexadecimal(text: str) -> bytes:
    if len(text) != 2 * _HASH_BYTES or not _HEXADECIMAL.issuperset(text):
        raise ValueError("a node's hash is not 64 hexadecimal digits in lower case")
    return bytes.fromhex(text)
