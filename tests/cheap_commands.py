"""What makes thousands of commands in one process, or forked from it, cheap: statements are compiled once, and no one waits for the disk.

What a test writes need not survive a power cut. SQLite's own waiting and `os.fsync` are left out in the processes of the tests and in the
commands that they fork. That the product waits is tested where it is asked: by the order of its calls, as the system sees them
(`tests/regeneration/test_published_killed.py`), and by its settings (`tests/store/test_durability.py`).
"""

import functools
import os
from typing import Any

from sqlalchemy import Engine, create_engine

from registry.store import database_engine


def share_statements() -> None:
    """Let engines of SQLite files keep the text of their statements together; whoever uses Caveat compiles a statement once a command."""
    shared = create_engine("sqlite://", query_cache_size=2000)
    shared.connect().close()

    def create(url: Any, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        if engine.dialect.name == "sqlite":
            engine.dialect = shared.dialect
            engine._compiled_cache = shared._compiled_cache
        return engine

    database_engine.create_engine = create  # type: ignore[assignment]


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
