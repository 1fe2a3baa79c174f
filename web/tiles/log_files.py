"""The log for programs: where its checkpoint and tiles lie, and the bytes of each.

A log whose origin is `caveat.log/AISI/68ea…` has its files below `/tlog/AISI/68ea…/`. They are those of the newest signed checkpoint, which
clients read first. A log that was never signed has none.
"""

from collections.abc import Iterator

from registry.store.log_reader import LogReader
from web.tiles.log_tiles import build_tile, find_checkpoint, list_tile_paths, parse_tile_path

CHECKPOINT = "checkpoint"
_FOLDER = "/tlog/"
_SCHEME = "caveat.log/"


def write_prefix(reader: LogReader) -> str:
    """Return the address below which the files of the log lie, with a slash at its end."""
    return f"{_FOLDER}{reader.log_origin.removeprefix(_SCHEME)}/"


def list_addresses(reader: LogReader) -> Iterator[str]:
    """Yield the checkpoint, and the tiles of its size; nothing where no checkpoint was signed."""
    checkpoint = find_checkpoint(reader)
    if checkpoint is not None:
        prefix = write_prefix(reader)
        yield f"{prefix}{CHECKPOINT}"
        yield from (f"{prefix}{tile}" for tile in list_tile_paths(checkpoint.checkpoint.size))


def is_immutable(address: str) -> bool:
    """Whether the file at *address* never changes: hashes do not; statements can be erased."""
    return address.startswith(_FOLDER) and "/tile/" in address and "/tile/entries/" not in address


def find_file(reader: LogReader, address: str) -> bytes | None:
    """Return the bytes of the file of the log at *address*; None where it has no file there.

    Raises:
        NotFoundError: as `build_tile`.
    """
    prefix = write_prefix(reader)
    if not address.startswith(prefix):
        return None
    name = address.removeprefix(prefix)
    if name == CHECKPOINT:
        checkpoint = find_checkpoint(reader)
        return None if checkpoint is None else checkpoint.note.encode()
    tile = parse_tile_path(name)
    return None if tile is None else build_tile(reader, tile)
