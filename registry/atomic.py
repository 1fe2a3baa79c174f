"""The one writer of files that must not be lost: whole or not at all, and on the disk when it returns.

A file is written under another name, synced, and renamed; then its folder is synced, without which a power cut may take the rename back.
Several files are written first and renamed only when all of them are on the disk, so a disk that fills up changes nothing.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path


def name_part(path: Path) -> Path:
    """Return where *path* is written before it takes its place."""
    return path.with_name(f".{path.name}.part")


def replace_file(path: Path, data: bytes) -> None:
    """Write *data* to *path*, as `replace_files`."""
    replace_files([(path, data)])


def replace_files(files: Iterable[tuple[Path, bytes]]) -> None:
    """Write every file, or none of them: an error before the last one is on the disk leaves all as they were.

    Raises:
        OSError: with the name of the file that could not be written.
    """
    paths: list[Path] = []
    try:
        for path, data in files:
            paths.append(path)
            write_part(path, data)
        put_in_place(paths)
    except BaseException:
        for path in paths:
            name_part(path).unlink(missing_ok=True)
        raise


def put_in_place(paths: Sequence[Path]) -> None:
    """Rename what was written for each of *paths*, which is on the disk, and sync their folders before and after."""
    sync_folders(paths)
    for path in paths:
        os.replace(name_part(path), path)  # noqa: PTH105  (the point is that it is atomic)
    sync_folders(paths)


def write_part(path: Path, data: bytes) -> None:
    """Write *data* under the other name of *path* and sync it; raises OSError with the name of *path*."""
    part = name_part(path)
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk is told without a name


def sync_folders(paths: Iterable[Path]) -> None:
    """Sync the folders that *paths* lie in, each once."""
    for folder in dict.fromkeys(path.parent for path in paths):
        sync(folder)


def sync(path: Path) -> None:
    """Wait until the file or folder at *path* is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
