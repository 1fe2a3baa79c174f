"""Merkle trees: the vectors of Certificate Transparency, the definition of RFC 6962, and that no proof proves anything else."""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, sets

from registry.records.log_seal import Node
from registry.seal.merkle_tree import (
    EMPTY_ROOT,
    Frontier,
    consistency_path,
    inclusion_path,
    is_consistent,
    proof_nodes,
    root_at,
    root_from_inclusion,
    root_from_nodes,
    root_of,
)
from tests.seal.trees import define_root, find_in, make_leaves

ENTRIES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
"""Certificate Transparency's reference entries (certificate-transparency/python/ct/crypto/merkle_test.py), hexadecimal."""
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATH_5_OF_8 = [
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
]
FROM_6_TO_8 = [
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
]
REFERENCE = [hashlib.sha256(b"\0" + bytes.fromhex(entry)).digest() for entry in ENTRIES]
MANY = make_leaves(3_000)
FIND = find_in(MANY)


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_certificate_transparency(size: int) -> None:
    """The reference trees of 0 to 8 entries have the roots that everyone else computes."""
    assert root_of(REFERENCE[:size]).hex() == ROOTS[size]


def test_proofs_are_those_of_certificate_transparency() -> None:
    """Published audit path and consistency proof come out, to the node."""
    find = find_in(REFERENCE)

    assert [node.hex() for node in inclusion_path(5, 8, find)] == PATH_5_OF_8
    assert [node.hex() for node in consistency_path(6, 8, find)] == FROM_6_TO_8
    assert is_consistent(6, bytes.fromhex(ROOTS[6]), 8, bytes.fromhex(ROOTS[8]), [bytes.fromhex(node) for node in FROM_6_TO_8])


@pytest.mark.parametrize("size", range(71))
def test_root_is_the_one_that_rfc_6962_defines(size: int) -> None:
    """Level by level, by appending, and read off complete subtrees: always the recursive definition's root."""
    leaves = MANY[:size]
    frontier = Frontier()
    completed = [one for leaf in leaves for one in frontier.append(leaf)]

    assert root_of(leaves) == frontier.root() == root_at(size, FIND) == define_root(leaves)
    assert all(FIND(level, index) == root for level, index, root in completed)
    assert len(completed) == size - size.bit_count()
    assert Frontier(size, frontier.peaks).root() == frontier.root()


@pytest.mark.parametrize("size", range(1, 71))
def test_every_leaf_is_proven_and_no_other(size: int) -> None:
    """The path of each leaf leads to the root; under any other index, size or leaf it does not, or is refused."""
    root = define_root(MANY[:size])

    for index in range(size):
        path = inclusion_path(index, size, FIND)
        assert root_from_inclusion(MANY[index], index, size, path) == root
        for other in {0, index - 1, index + 1, size - 1, size // 2} - {index, -1, size}:
            assert _try_inclusion(MANY[index], other, size, path) != root
        assert _try_inclusion(MANY[size], index, size, path) != root
        assert _try_inclusion(MANY[index], index, size, [*path, MANY[0]]) is None
        assert not path or _try_inclusion(MANY[index], index, size, path[:-1]) is None


@pytest.mark.parametrize("new", range(1, 71))
def test_every_size_is_consistent_with_every_later_one(new: int) -> None:
    """Each smaller tree is the beginning of the larger; with another root, or a node more or less, it is not."""
    root = define_root(MANY[:new])

    for old in range(new + 1):
        before, path = define_root(MANY[:old]), consistency_path(old, new, FIND)
        assert is_consistent(old, before, new, root, path)
        assert not is_consistent(old, MANY[0] if old != 1 else MANY[1], new, root, path)
        assert not is_consistent(old, before, new, MANY[-1], path) or old == 0
        assert not is_consistent(old, before, new, root, [*path, MANY[0]])
        assert not path or not is_consistent(old, before, new, root, path[:-1])
        assert not path or not is_consistent(old, before, new, root, [*path[:-1], MANY[-1]])


@settings(deadline=None)
@given(integers(1, 3_000), integers(0, 2_999), integers(0, 3_000))
def test_large_trees_are_proven_too(size: int, index: int, old: int) -> None:
    """Inclusion and consistency hold for any sizes up to 3,000."""
    index, old = index % size, old % (size + 1)
    root = root_of(MANY[:size])

    assert root_from_inclusion(MANY[index], index, size, inclusion_path(index, size, FIND)) == root
    assert is_consistent(old, root_of(MANY[:old]), size, root, consistency_path(old, size, FIND))


@settings(deadline=None)
@given(integers(0, 300), sets(integers(0, 299), max_size=40))
def test_one_proof_for_many_entries(size: int, wanted: set[int]) -> None:
    """Leaves and nodes give the root, and no node could be left out: each covers leaves that nothing else covers."""
    indexes = {index for index in wanted if index < size}
    nodes = proof_nodes(indexes, size, FIND)
    covered = [leaf for node in nodes for leaf in range(node.index << node.level, node.index + 1 << node.level)]

    assert root_from_nodes({index: MANY[index] for index in indexes}, nodes, size) == root_of(MANY[:size])
    assert sorted([*covered, *indexes]) == list(range(size))
    assert list(nodes) == sorted(nodes, key=lambda node: (node.level, node.index))


@settings(deadline=None)
@given(integers(2, 300), sets(integers(0, 299), min_size=1, max_size=20), integers(0, 2**32))
def test_a_proof_of_many_entries_has_one_form(size: int, wanted: set[int], seed: int) -> None:
    """A node less, more, twice, elsewhere, split in two or written otherwise is refused; another hash or leaf gives another root."""
    indexes = sorted({index % size for index in wanted})
    leaves = {index: MANY[index] for index in indexes}
    nodes = list(proof_nodes(indexes, size, FIND))
    root = root_of(MANY[:size])
    rng = random.Random(seed)
    if nodes:
        at = rng.randrange(len(nodes))
        node = nodes[at]
        split = [Node(level=node.level - 1, index=2 * node.index + side, hash=FIND(0, 0).hex()) for side in (0, 1)] if node.level else []
        moved = Node(level=node.level, index=node.index + 1, hash=node.hash)
        shown = Node(level=node.level, index=node.index, hash=node.hash.upper() + " ")
        for forged in (nodes[:at] + nodes[at + 1 :], [*nodes, node], _replace(nodes, at, [moved]), _replace(nodes, at, [shown])):
            _refuse(leaves, forged, size)
        _refuse(leaves, _replace(nodes, at, split), size)
        _refuse(leaves, nodes[::-1], size) if len(nodes) > 1 else None
        other = Node(level=node.level, index=node.index, hash=MANY[-1].hex())
        assert root_from_nodes(leaves, _replace(nodes, at, [other]), size) != root
    chosen = rng.choice(indexes)
    assert root_from_nodes({**leaves, chosen: MANY[-1]}, nodes, size) != root


def test_degenerate_trees() -> None:
    """No leaves, one leaf, places outside, negative and enormous sizes: the empty root, the leaf, or a refusal."""
    assert root_of([]) == root_at(0, FIND) == Frontier().root() == root_from_nodes({}, (), 0) == EMPTY_ROOT
    assert root_of(MANY[:1]) == MANY[0] == root_from_inclusion(MANY[0], 0, 1, [])
    assert is_consistent(0, EMPTY_ROOT, 0, EMPTY_ROOT, [])
    assert is_consistent(0, EMPTY_ROOT, 9, MANY[0], [])
    assert not is_consistent(0, EMPTY_ROOT, 0, MANY[0], [])
    assert not is_consistent(0, MANY[0], 9, MANY[0], [])
    assert not is_consistent(2, MANY[0], 1, MANY[0], [])
    assert not is_consistent(1, MANY[0], 2**63, MANY[0], [MANY[0]] * 63)
    assert not is_consistent(1, b"short", 2, MANY[0], [MANY[0]])
    for index, size in ((0, 0), (-1, 1), (1, 1), (0, 2**63)):
        with pytest.raises(ValueError, match="has no leaf"):
            root_from_inclusion(MANY[0], index, size, [])
    with pytest.raises(ValueError, match="32 bytes"):
        root_from_inclusion(b"", 0, 1, [])
    with pytest.raises(ValueError, match="does not go on"):
        consistency_path(2, 1, FIND)
    with pytest.raises(ValueError, match="peaks"):
        Frontier(3, MANY[:1])
    with pytest.raises(ValueError, match="no log has"):
        root_from_nodes({}, (), -1)


def _try_inclusion(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    try:
        return root_from_inclusion(leaf, index, size, path)
    except ValueError:
        return None


def _replace(nodes: list[Node], at: int, by: list[Node]) -> list[Node]:
    return [*nodes[:at], *by, *nodes[at + 1 :]]


def _refuse(leaves: dict[int, bytes], nodes: list[Node], size: int) -> None:
    with pytest.raises(ValueError, match=r"exactly|hexadecimal"):
        root_from_nodes(leaves, nodes, size)
