"""The files of the logs for programs, as a folder that any file server serves."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.codec.file_io import replace_file
from registry.errors import ConflictError, Fault, NotFoundError
from registry.store.log_reader import LogReader
from web.tiles import log_files

_FOLDER = "tlog"


@dataclass(frozen=True, slots=True, kw_only=True)
class TileResult:
    """Outcome of an export."""

    written: int
    unchanged: int
    removed: int
    logs: tuple[str, ...]
    """The folders of the logs, as seen from the output folder."""


def export_tiles(reader: LogReader, folder: Path, *, quorum: int = 0) -> TileResult:
    """Write checkpoint and tiles of every log into *folder*, those of hashes before the checkpoint that names them.

    Args:
        quorum: how many others must have cosigned a checkpoint of the own log.

    Raises:
        ConflictError: `file-in-the-way`, the folder has files that are none of these.
        NotFoundError: `checkpoint-not-found`, there is no such checkpoint.
    """
    addresses = list(log_files.list_addresses(reader, quorum=quorum))
    if not addresses:
        advice = "caveat admin log checkpoint signs one"
        raise NotFoundError(Fault("checkpoint-not-found", "log", "no checkpoint can be published, so there are no tiles", advice=advice))
    _refuse_others(folder)
    written = unchanged = 0
    kept: set[Path] = set()
    # A client that reads the new checkpoint must find its tiles.
    for address in sorted(addresses, key=lambda name: name.endswith(log_files.CHECKPOINT)):
        path = folder / address.lstrip("/")
        if log_files.is_immutable(address) and path.is_file():
            kept.add(path)
            unchanged += 1
            continue
        try:
            data = log_files.find_file(reader, address, quorum=quorum)
        except NotFoundError as error:
            if error.code != "bundle-not-served":
                raise
            continue
        if data is None:
            continue
        kept.add(path)
        if path.is_file() and path.read_bytes() == data:
            unchanged += 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
        written += 1
    removed = 0
    # A client that still has an older checkpoint needs its partial tiles of hashes; a bundle with an erased statement has to go.
    for path in list(_list_bundles(folder)):
        if path not in kept:
            path.unlink()
            removed += 1
    logs = tuple(address.removeprefix("/").removesuffix(log_files.CHECKPOINT) for address in addresses if address.endswith("/checkpoint"))
    return TileResult(written=written, unchanged=unchanged, removed=removed, logs=logs)


def _refuse_others(folder: Path) -> None:
    if folder.is_dir() and any(path.name != _FOLDER for path in folder.iterdir()):
        raise ConflictError(Fault("file-in-the-way", str(folder), "the folder has files that are no tiles", advice="name an empty folder"))


def _list_bundles(folder: Path) -> Iterator[Path]:
    return (path for path in (folder / _FOLDER).rglob("*") if path.is_file() and "/tile/entries/" in path.as_posix())
