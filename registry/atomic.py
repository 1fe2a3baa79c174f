"""The one writer of files that must not be lost: whole or not at all, and on the disk when it returns.

A file is written under another name, synced, and renamed; then its folder is synced, without which a power cut may take the rename back.
Several files are written first and renamed only when all of them are on the disk, so a disk that fills up changes nothing.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


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


def create_file(path: Path, data: bytes, *, mode: int) -> None:
    """Write *data* to the new file *path* with the permissions *mode*, from its first byte on.

    Raises:
        FileExistsError: there is a file at *path*; it stays as it is. A rename would replace it, so the file is linked instead.
        OSError: with the name of the file that could not be written.
    """
    _write_with_mode(path, data, mode)
    part = name_part(path)
    try:
        os.link(part, path)
    finally:
        part.unlink()
    sync(path.parent)


def replace_private(path: Path, data: bytes) -> None:
    """Write *data* to *path* as `replace_file`, readable by its owner alone from its first byte on."""
    _write_with_mode(path, data, 0o600)
    put_in_place([path])


def _write_with_mode(path: Path, data: bytes, mode: int) -> None:
    part = name_part(path)
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    os.close(descriptor)
    write_part(path, data)


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Give a text stream, and put what was written to it at *path* when the block ends without an error.

    A device or a pipe at *path* is written to as it is: it cannot be replaced.

    Raises:
        OSError: with the name of *path*; what was there before stays.
    """
    is_special = path.exists() and not path.is_file()
    part = path if is_special else name_part(path)
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
            stream.flush()
            if not is_special:
                os.fsync(stream.fileno())
        if not is_special:
            put_in_place([path])
    except OSError as error:
        _drop(part, path)
        if error.filename is None or error.filename == str(part):
            error.filename = str(path)  # a full disk is reported without a name
        raise
    except BaseException:
        _drop(part, path)
        raise


def _drop(part: Path, path: Path) -> None:
    if part != path:
        with suppress(OSError):
            part.unlink(missing_ok=True)


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
