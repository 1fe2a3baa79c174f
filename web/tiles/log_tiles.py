"""Tiles of a log: the path of each, and its bytes (C2SP tlog-tiles).

A tile of level L holds up to 256 hashes of complete subtrees of 256^L leaves. An entry bundle holds up to 256 statements, whose leaf hashes
are in the tile of level 0 with the same number. Full tiles never change. A partial tile, `….p/W`, has the first W hashes of the last one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from registry.errors import Fault, NotFoundError
from registry.store.log_reader import LogReader, NodeFinder
from registry.store.log_seals import StoredCheckpoint, count_cosignatures, list_checkpoints

WIDTH = 256
"""Hashes of a full tile."""
_HEIGHT = 8
"""Levels of the tree that one level of tiles spans."""
_HIGHEST = 63
_LONGEST_STATEMENT = 65_535
"""Bytes: an entry bundle gives the length of each statement in sixteen bits."""
_PATH = re.compile(r"tile/(entries|0|[1-9]\d?)/((?:x\d{3}/)*\d{3})(?:\.p/([1-9]\d{0,2}))?")

# A bundle with a statement that was erased, or is too long for its format, is not served: whoever needs
# the leaf of such an entry takes the tile of level 0, which has it. Nothing here is computed from
# statements, so an erased one leaves all tiles of hashes as they are.


@dataclass(frozen=True, slots=True)
class TilePath:
    """What the path of a tile says."""

    level: int | None
    """Level of the hashes, 0 to 63; None for an entry bundle."""
    number: int
    """From 0."""
    width: int
    """Hashes or entries: 256 for a full tile, 1 to 255 for a partial one."""

    def __str__(self) -> str:
        """Return the path, such as `tile/0/x001/234.p/5`."""
        level = "entries" if self.level is None else self.level
        return f"tile/{level}/{_write_number(self.number)}{'' if self.width == WIDTH else f'.p/{self.width}'}"

    @property
    def start(self) -> int:
        """Index of the first hash on its level, from 0."""
        return self.number * WIDTH


def parse_tile_path(path: str) -> TilePath | None:
    """Return what *path* says; None where it is no path of a tile in its one form."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    level, number, width = match.groups()
    parsed = TilePath(
        level=None if level == "entries" else int(level),
        number=int(number.replace("x", "").replace("/", "")),
        width=int(width or WIDTH),
    )
    # Leading zeros and `.p/256` would give one tile two paths.
    is_canonical = str(parsed) == path and (parsed.level is None or parsed.level <= _HIGHEST)
    return parsed if is_canonical else None


def list_tile_paths(size: int, *, since: int = 0) -> Iterator[TilePath]:
    """Yield the tiles of a log of *size* entries that its clients fetch, without full ones that a log of *since* entries had already."""
    for level in (None, *range(_HIGHEST + 1)):
        count, earlier = (size, since) if level is None else (size >> (_HEIGHT * level), since >> (_HEIGHT * level))
        if count == 0:
            return
        for number in range(earlier // WIDTH, count // WIDTH):
            yield TilePath(level, number, WIDTH)
        if count % WIDTH and count != earlier:
            yield TilePath(level, count // WIDTH, count % WIDTH)


def build_tile(reader: LogReader, tile: TilePath) -> bytes:
    """Return the bytes of *tile*: hashes of 32 bytes each, or statements, each after its length in two bytes.

    Raises:
        NotFoundError: `tile-not-found`: the log as *reader* sees it has not so many entries; `bundle-not-served`: a statement in the bundle
            was erased, or is longer than the format allows.
    """
    stop = tile.start + tile.width
    count = reader.log_size >> (_HEIGHT * (tile.level or 0))
    if stop > count:
        level = "" if tile.level is None else f" of level {tile.level}"
        found = f"the log has {count} hashes{level} and the tile would end at {stop}" if level else f"the log has {count} entries"
        raise NotFoundError(Fault("tile-not-found", str(tile), found))
    if tile.level is None:
        return b"".join(_list_statements(reader, tile, stop))
    if tile.level == 0:
        return b"".join(reader.leaves(tile.start + 1, stop + 1))
    # Every fourth level of the tree is stored, so a tile above level 0 is read and not computed.
    finder = NodeFinder(reader)
    return b"".join(finder.find(_HEIGHT * tile.level, index) for index in range(tile.start, stop))


def _list_statements(reader: LogReader, tile: TilePath, stop: int) -> Iterator[bytes]:
    for place, statement in reader.log_entries(tile.start + 1, stop + 1):
        if statement is None or len(statement) > _LONGEST_STATEMENT:
            reason = "was erased" if statement is None else f"has {len(statement):,} bytes, and the format allows {_LONGEST_STATEMENT:,}"
            raise NotFoundError(Fault("bundle-not-served", str(tile), f"the statement of entry {place.seq} {reason}"))
        yield len(statement).to_bytes(2, "big") + statement


def find_checkpoint(reader: LogReader, *, quorum: int = 0) -> StoredCheckpoint | None:
    """Return the newest checkpoint that was signed of the log as *reader* sees it, with its cosignatures; None before the first.

    Args:
        quorum: how many others must have cosigned it.
    """
    cosigned = (checkpoint for checkpoint in reversed(list_checkpoints(reader)) if count_cosignatures(checkpoint) >= quorum)
    return next(cosigned, None)


def _write_number(number: int) -> str:
    groups = [f"{number % 1000:03}"]
    while number >= 1000:
        number //= 1000
        groups.append(f"x{number % 1000:03}")
    return "/".join(reversed(groups))
