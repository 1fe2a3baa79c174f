"""No waiting for the disk: what a test writes need not survive a power cut.

SQLite's own waiting and `os.fsync` are left out in the processes of the tests and in the commands that they fork. That the product waits is
tested where it is asked: by the order of its calls, as the system sees them (`tests/regeneration/test_published_killed.py`), and by its
settings (`tests/store/test_durability.py`).
"""

import functools
import os
from typing import Any

from registry.store import database_engine


def skip_syncs() -> None:
    """Let this process and its forks write without waiting for the disk."""
    prepare = database_engine._prepare_sqlite

    @functools.wraps(prepare)
    def prepare_without_waiting(connection: Any, record: Any, *, wait_ms: int | None) -> None:
        prepare(connection, record, wait_ms=wait_ms)
        connection.execute("PRAGMA synchronous = OFF")

    database_engine._prepare_sqlite = prepare_without_waiting
    os.fsync = _ignore


def _ignore(descriptor: int) -> None:
    os.fstat(descriptor)  # an error of the caller stays one
