"""Trees of the tests: leaves, and all their complete subtrees, worked out by the definition of RFC 6962 rather than by ours."""

import hashlib
from collections.abc import Callable, Sequence


def make_leaves(count: int, *, seed: int = 0) -> list[bytes]:
    """Return *count* leaves, all different, the same for the same *seed*."""
    return [hashlib.sha256(f"\0{seed}/{number}".encode()).digest() for number in range(count)]


def define_root(leaves: Sequence[bytes]) -> bytes:
    """Return MTH(D[n]) as RFC 6962 section 2.1 defines it, recursively."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\x01" + define_root(leaves[:half]) + define_root(leaves[half:])).digest()


def find_in(leaves: Sequence[bytes]) -> Callable[[int, int], bytes]:
    """Return what gives the roots of complete subtrees of *leaves*, and fails for one that is not complete."""
    rows = [list(leaves)]
    while len(rows[-1]) > 1:
        row = rows[-1]
        rows.append([hashlib.sha256(b"\x01" + row[at] + row[at + 1]).digest() for at in range(0, len(row) - 1, 2)])
    return lambda level, index: rows[level][index]
