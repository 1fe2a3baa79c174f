"""The SQLite file of a run folder: its tables, one transaction at a time, and what goes wrong with files as Caveat's own errors."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from registry.errors import ConflictError, Fault, UnavailableError

VERSION = 1

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE TABLE text (sha256 TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE request (sha256 TEXT PRIMARY KEY, folded TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE cell (
    id INTEGER PRIMARY KEY, task_id TEXT NOT NULL, arm TEXT NOT NULL, spec TEXT NOT NULL, context_id TEXT NOT NULL,
    cue_removed TEXT NOT NULL, sample INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL REFERENCES request (sha256),
    UNIQUE (task_id, arm, spec, context_id, cue_removed, sample)
) STRICT;
CREATE TABLE intent (id INTEGER PRIMARY KEY, key TEXT NOT NULL, request TEXT NOT NULL, purpose TEXT NOT NULL, at TEXT NOT NULL) STRICT;
CREATE INDEX intent_key ON intent (key);
CREATE TABLE outcome (
    id INTEGER PRIMARY KEY, intent INTEGER NOT NULL UNIQUE REFERENCES intent (id), key TEXT NOT NULL, purpose TEXT NOT NULL,
    failure TEXT, model_returned TEXT, input_tokens INTEGER, output_tokens INTEGER, document TEXT NOT NULL
) STRICT;
CREATE INDEX outcome_key ON outcome (key);
CREATE TABLE score (
    id INTEGER PRIMARY KEY, response TEXT NOT NULL, scorer TEXT NOT NULL, repeat INTEGER NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE INDEX score_scorer ON score (scorer, response);
"""


class Database:
    """One open file. Methods may be called from any thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the database in the file *path*, which is made when it is not there.

        Raises:
            ConflictError: it was made by a later Caveat, or is no run's database.
            UnavailableError: the file cannot be opened for writing.
        """
        return cls(_connect(path), path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Give the connection in a transaction, which is taken back when anything goes wrong; raises UnavailableError on a full disk."""
        with self._lock:
            try:
                with self._connection as write:
                    yield write
            except sqlite3.OperationalError as error:
                raise build_not_writable(self.path, error) from error

    def _read(self, sql: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Give rows from a cursor of their own, so that a long reading holds no memory and nobody up."""
        with self._lock:
            cursor = self._connection.cursor()
            cursor.execute(sql, values)
        while True:
            with self._lock:
                rows = cursor.fetchmany(500)
            if not rows:
                return
            yield from rows


def build_not_writable(path: Path, error: Exception) -> UnavailableError:
    """Return the error for a run folder that cannot be written."""
    found = f"the run folder cannot be written: {error}"
    return UnavailableError(Fault(code="run-not-writable", where=str(path), found=found, advice="check free space and permissions"))


def _connect(path: Path) -> sqlite3.Connection:
    connection = None
    try:
        connection = sqlite3.connect(path, check_same_thread=False, timeout=30)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        if version == 0:
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
    except sqlite3.DatabaseError as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise build_not_writable(path, error) from error
        raise ConflictError(Fault(code="run-not-readable", where=str(path), found=f"is no database of a run: {error}")) from error
    if version > VERSION:
        connection.close()
        found = f"was made by a later Caveat (version {version}, this one reads {VERSION})"
        raise ConflictError(Fault(code="run-not-readable", where=str(path), found=found, advice="upgrade Caveat"))
    return connection
