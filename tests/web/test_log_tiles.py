"""Tiles of a log, read as an independent client reads them: the root that they give is that of the checkpoint."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import NotFoundError
from registry.records.record import Authority, AuthorityRole
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.log_seals import find_root
from tests.store.builders import salting, ticking
from web.tiles.log_tiles import TilePath, build_tile, list_tile_paths, parse_tile_path

# A client of C2SP tlog-tiles in twenty lines, which shares nothing with ours.


def read_root(size: int, fetch: Callable[[str], bytes]) -> bytes:
    """Return the root that the tiles of a log of *size* entries give."""

    def hash_at(level: int, index: int) -> bytes:
        tile_level, inner = divmod(level, 8)
        if inner:
            return hashlib.sha256(b"\x01" + hash_at(level - 1, 2 * index) + hash_at(level - 1, 2 * index + 1)).digest()
        number, place = divmod(index, 256)
        width = min(256, (size >> (8 * tile_level)) - 256 * number)
        digits = f"{number:03}" if number < 1000 else f"x{number // 1000:03}/{number % 1000:03}"
        tile = fetch(f"tile/{tile_level}/{digits}" + ("" if width == 256 else f".p/{width}"))
        assert len(tile) == 32 * width
        return tile[32 * place : 32 * place + 32]

    peaks, start = [], 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            peaks.append(hash_at(level, start >> level))
            start += 1 << level
    root = peaks.pop()
    while peaks:
        root = hashlib.sha256(b"\x01" + peaks.pop() + root).digest()
    return root


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    url = f"sqlite:///{tmp_path_factory.mktemp('log') / 'registry.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=ticking(), salt=salting())
    with ledger.write(actor="X0") as writer:
        writer.append_many([Authority(code=f"X{number}", name=f"Authority {number}", role=AuthorityRole.LAB) for number in range(600)])
    yield ledger
    ledger.close()


def test_a_client_finds_the_root_in_the_tiles_at_every_size(long_log: Ledger) -> None:
    """Around the ends of tiles, and with partial tiles of both levels."""
    for size in (1, 2, 3, 255, 256, 257, 511, 512, 513, 600):
        with long_log.view(size) as view:
            root = read_root(size, lambda path: build_tile(view, parse_tile_path(path)))  # type: ignore[arg-type]

            assert root.hex() == find_root(view)


def test_an_entry_bundle_holds_the_statements_of_its_leaves(long_log: Ledger) -> None:
    """Each after its length in two bytes; the leaf hash of each is in the tile of level 0."""
    with long_log.view() as view:
        bundle, leaves = (build_tile(view, TilePath(level, 1, 256)) for level in (None, 0))
    place = 0
    for start in range(0, len(leaves), 32):
        length = int.from_bytes(bundle[place : place + 2], "big")
        statement = bundle[place + 2 : place + 2 + length]
        place += 2 + length
        assert hashlib.sha256(b"\x00" + statement).digest() == leaves[start : start + 32]
    assert place == len(bundle)


def test_an_entry_bundle_holds_a_long_statement_by_the_digest_of_its_payload(tmp_path: Path) -> None:
    """What is served hashes to the leaf, and names what it leaves out; the text that is in the database says the same."""
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=ticking(), salt=salting())
    with ledger.write(actor="X0") as writer:
        writer.append_many(
            [Authority(code=code, name=name, role=AuthorityRole.LAB) for code, name in (("X0", "Lab"), ("X1", "x" * 70_000))]
        )
    with ledger.view() as view:
        bundle, leaves = (build_tile(view, TilePath(level, 0, 2)) for level in (None, 0))
        *_, (_, text) = view.log_entries()
    ledger.close()
    first = int.from_bytes(bundle[:2], "big")
    served = bundle[2 + first + 2 :]

    assert text is not None
    assert int.from_bytes(bundle[2 + first : 4 + first], "big") == len(served) < 400 < len(text)
    assert hashlib.sha256(b"\x00" + served).digest() == leaves[32:]
    payload = text[text.index(b'"payload":') + 10 : text.rindex(b',"salt":')]
    assert json.loads(served)["payload_sha256"] == hashlib.sha256(payload).hexdigest()
    assert {**json.loads(served), "payload": json.loads(payload)}.items() >= json.loads(text).items()


def test_what_the_log_does_not_have_is_not_found(long_log: Ledger) -> None:
    """A tile beyond its end, a wider one, and a level that is not complete."""
    with long_log.view(300) as view:
        for tile in (TilePath(0, 2, 1), TilePath(0, 1, 45), TilePath(1, 0, 2), TilePath(None, 1, 45), TilePath(2, 0, 1)):
            with pytest.raises(NotFoundError) as caught:
                build_tile(view, tile)
            assert caught.value.code == "tile-not-found"


def test_the_tiles_of_a_log_are_those_that_its_clients_fetch() -> None:
    """Full and partial ones of each level; those that are new since an earlier size."""
    assert list(map(str, list_tile_paths(600))) == [
        *("tile/entries/000", "tile/entries/001", "tile/entries/002.p/88"),
        *("tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2"),
    ]
    assert list(map(str, list_tile_paths(600, since=520))) == ["tile/entries/002.p/88", "tile/0/002.p/88"]
    assert list(list_tile_paths(0)) == list(list_tile_paths(600, since=600)) == []


@given(
    level=st.one_of(st.none(), st.integers(0, 63)),
    number=st.one_of(st.integers(0, 5000), st.integers(0, 2**40)),
    width=st.integers(1, 256),
)
def test_a_path_that_is_written_is_read_again(level: int | None, number: int, width: int) -> None:
    """Each tile has one path."""
    tile = TilePath(level, number, width)

    assert parse_tile_path(str(tile)) == tile


@pytest.mark.parametrize(
    "path",
    ["tile/0/1", "tile/00/001", "tile/64/000", "tile/0/000.p/256", "tile/0/000.p/0", "tile/0/x000/001", "tile/0/001.p/01", "tile/0/000/",
     "tile/entries/../000", "tile/0/x01/001", "tile/data/000", "tile/0/٠٠٠"],
)  # fmt: skip
def test_another_form_is_no_path_of_a_tile(path: str) -> None:
    """Leading zeros, widths that are none, other digits and dots."""
    assert parse_tile_path(path) is None
