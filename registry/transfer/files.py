"""New files that appear whole or not at all, and never in the place of another."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from registry.atomic import sync
from registry.codec.files import naming_file
from registry.errors import ConflictError, Fault


@contextmanager
def new_file(path: Path, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Give a stream whose bytes become the new file *path*, on the disk, when the block ends well.

    Raises:
        ConflictError: `file-exists`.
    """
    refuse_existing(path)
    with working_folder(path) as folder:
        part = folder / "part"
        with naming_file(path), part.open("xb") as stream:
            yield stream
        put_in_place(part, path, mode=mode)


@contextmanager
def working_folder(path: Path) -> Iterator[Path]:
    """Give a new folder beside *path*, for what is not whole yet; it is removed with all that is left in it.

    A process that is killed leaves it behind: its name says what it was for, and nobody reads it.
    """
    with TemporaryDirectory(prefix=f".{path.name}.", suffix=".part", dir=path.parent) as name:
        yield Path(name)


def put_in_place(part: Path, path: Path, *, mode: int = 0o600) -> None:
    """Let *part*, a whole file in a folder beside it, become the new file *path*, written through to the disk.

    Raises:
        ConflictError: `file-exists`: somebody made it meanwhile.
    """
    part.chmod(mode)
    sync(part)
    try:
        path.hardlink_to(part)
    except FileExistsError as error:
        raise _exists(path) from error
    part.unlink()
    sync(path.parent)


def refuse_existing(path: Path) -> None:
    """Refuse to write over *path*; raises ConflictError `file-exists`."""
    if os.path.lexists(path):
        raise _exists(path)


def _exists(path: Path) -> ConflictError:
    found = "there is a file of this name already, and nothing is written over"
    return ConflictError(Fault(code="file-exists", where=os.fspath(path), found=found, advice="give another name"))
