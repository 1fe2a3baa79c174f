"""Settings for all tests."""

import gc
from typing import Any

from hypothesis import settings
from sqlalchemy import Engine, create_engine

from registry.store import database_engine as engines

# A law is not a measurement of time: how long an example takes depends on what else the machine does.
settings.register_profile("caveat", deadline=None)
settings.load_profile("caveat")

_SHARED = create_engine("sqlite://", query_cache_size=2000)
_SHARED.connect().close()


def _create_engine(url: Any, **options: Any) -> Engine:
    """Return an engine that keeps the text of its statements with those of other SQLite files.

    Whoever uses Caveat compiles a statement once a command; the tests carry out thousands of commands in a process, each with an engine of
    its own.
    """
    engine = create_engine(url, **options)
    if engine.dialect.name == "sqlite":
        engine.dialect = _SHARED.dialect
        engine._compiled_cache = _SHARED._compiled_cache
    return engine


engines.create_engine = _create_engine  # type: ignore[assignment]


def pytest_collection_finish() -> None:
    """What the modules hold stays to the end: no need to look through it again and again for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
