"""The logs for programs: where their checkpoints and tiles lie, and the bytes of each.

A log whose origin is `caveat.log/AISI/68ea…` has its files below `/tlog/AISI/68ea…/`. They are those of the newest signed checkpoint, which
clients read first. A log that was never signed has none. Logs that were imported from other registries are mirrored next to it, each with
the checkpoint that was verified then.
"""

from collections.abc import Iterator
from typing import NamedTuple

from registry.store.log_reader import LogReader
from registry.store.log_seals import find_mirror, list_imports
from web.tiles.log_tiles import build_tile, find_checkpoint, list_tile_paths, parse_tile_path

CHECKPOINT = "checkpoint"
_FOLDER = "/tlog/"
_SCHEME = "caveat.log/"


class _ServedLog(NamedTuple):
    """A log with the checkpoint that its clients read first."""

    reader: LogReader
    size: int
    """Entries of the checkpoint."""
    note: str


def write_prefix(origin: str) -> str:
    """Return the address below which the files of the log *origin* lie, with a slash at its end."""
    return f"{_FOLDER}{origin.removeprefix(_SCHEME)}/"


def list_addresses(reader: LogReader, *, quorum: int = 0) -> Iterator[str]:
    """Yield the checkpoint of each log, and the tiles of its size; nothing of a log without a checkpoint.

    Args:
        quorum: how many others must have cosigned a checkpoint of the own log.
    """
    for origin in _list_origins(reader):
        if (log := _find_log(reader, origin, quorum)) is not None:
            prefix = write_prefix(origin)
            yield f"{prefix}{CHECKPOINT}"
            yield from (f"{prefix}{tile}" for tile in list_tile_paths(log.size))


def _list_origins(reader: LogReader) -> list[str]:
    return [reader.log_origin, *dict.fromkeys(log_import.payload.origin for log_import in list_imports(reader))]


def _find_log(reader: LogReader, origin: str, quorum: int) -> _ServedLog | None:
    if origin == reader.log_origin:
        checkpoint = find_checkpoint(reader, quorum=quorum)
        return None if checkpoint is None else _ServedLog(reader, checkpoint.checkpoint.size, checkpoint.note)
    mirror = find_mirror(reader, origin)
    return None if mirror is None else _ServedLog(mirror.reader, mirror.reader.log_size, mirror.note)


def is_immutable(address: str) -> bool:
    """Whether the file at *address* never changes: hashes do not; statements can be erased."""
    return address.startswith(_FOLDER) and "/tile/" in address and "/tile/entries/" not in address


def find_file(reader: LogReader, address: str, *, quorum: int = 0) -> bytes | None:
    """Return the bytes of the file of a log at *address*; None where there is no file.

    Args:
        quorum: as in `list_addresses`.

    Raises:
        NotFoundError: as `build_tile`.
    """
    if not address.startswith(_FOLDER):
        return None
    for origin in _list_origins(reader):
        name = address.removeprefix(write_prefix(origin))
        if name == address:
            continue
        if name == CHECKPOINT:
            log = _find_log(reader, origin, quorum)
            return None if log is None else log.note.encode()
        tile = parse_tile_path(name)
        if tile is None:
            return None
        # Hashes of the own log need no checkpoint.
        log = None if origin == reader.log_origin else _find_log(reader, origin, quorum)
        return build_tile(reader if log is None else log.reader, tile)
    return None
