"""The shelf: a SQLite file that follows the log, with the facets of every claim and the words of every revision.

Nothing in it is a record. It may be deleted at any time, and is built again; what a page shows comes from the registry itself. Each row
holds from one size of the log to another, so a walk through a long list sees one state, whatever is recorded meanwhile.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from registry.registration.claim_search import ClaimQuery, ListedClaim, read_claims, search_claims
from registry.store.changed_claims import find_candidates
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from web.facets import FACETS, ClaimFilter, Selection, split_words, write_searched
from web.shelf.bit_sets import ShelfRow, ShelfState, build_row

_VERSION = 1
"""Another version makes another file: this one is not changed, but built again."""
_MOST_STATES = 4
# Names of columns come from `FACETS`, and values are parameters.
_NAMES = tuple(f"f_{facet}" for facet in FACETS)
_COLUMNS = ", ".join(_NAMES)
_SCHEMA = f"""
CREATE TABLE state (size INTEGER PRIMARY KEY);
CREATE TABLE claim (claim TEXT, revision INTEGER, seq INTEGER, since INTEGER, until INTEGER, {_COLUMNS});
CREATE INDEX open_rows ON claim (claim) WHERE until IS NULL;
CREATE VIRTUAL TABLE words USING fts5(text, content='', detail='none', tokenize="ascii");
"""
_FIND_ROW = f"SELECT rowid, revision, {_COLUMNS} FROM claim WHERE claim = ? AND until IS NULL"  # noqa: S608
_ADD_ROW = f"INSERT INTO claim (claim, revision, seq, since, {_COLUMNS}) VALUES ({', '.join('?' * (len(_NAMES) + 4))})"  # noqa: S608
_READ_ROWS = f"SELECT claim, revision, seq, {_COLUMNS} FROM claim WHERE since <= ? AND (until IS NULL OR until > ?)"  # noqa: S608


def find_shelf(url: str, origin: str) -> Path:
    """Return where the shelf of the registry at *url* lies: next to a SQLite file, else in the user's cache folder."""
    name = f".caveat-shelf-{hashlib.sha256(f'{url} {origin}'.encode()).hexdigest()[:12]}-{_VERSION}.db"
    prefix, _, path = url.partition("sqlite:///")
    folder = Path(path).absolute().parent if not prefix and path and path != ":memory:" else None
    if folder is not None and os.access(folder, os.W_OK):
        return folder / name
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "caveat"
    cache.mkdir(parents=True, exist_ok=True)
    return cache / name


class Shelf:
    """The claims of one registry, for searching; use it in one thread at a time."""

    def __init__(self, ledger: Ledger, path: Path) -> None:
        self._ledger = ledger
        self._path = path
        self._states: dict[int, ShelfState] = {}

    def read(self, view: View) -> "ShelfReading":
        """Return the claims as *view* sees them; the file is brought up to the present size of the log before."""
        state = self._states.get(view.log_size)
        if state is None:
            state = self._load(view)
            self._states[view.log_size] = state
            # The oldest goes: walks through lists are short.
            while len(self._states) > _MOST_STATES:
                del self._states[min(self._states)]
        return ShelfReading(state, self)

    def _load(self, view: View) -> ShelfState:
        try:
            return self._follow(view)
        # Damaged, or no SQLite file: it is made again.
        except sqlite3.DatabaseError:
            self._discard()
            return self._follow(view)

    def _follow(self, view: View) -> ShelfState:
        with self._open() as connection:
            # One process writes; another that waited finds the work done.
            connection.execute("BEGIN IMMEDIATE")
            last = connection.execute("SELECT max(size) FROM state").fetchone()[0]
            is_known = connection.execute("SELECT 1 FROM state WHERE size = ?", (view.log_size,)).fetchone() is not None
            if is_known:
                connection.rollback()
                return _read_state(connection, view.log_size)
            if last is not None and last > view.log_size:
                # An earlier state that the file never held: found by looking at all claims.
                connection.rollback()
                return read_state(view)
            changed = self._find_changed(view, last)
            if changed is not None or last is None:
                claims = search_claims(view, ClaimQuery(), log="") if changed is None else read_claims(view, changed, log="")
                _write(connection, claims, view.log_size)
                connection.commit()
                return _read_state(connection, view.log_size)
            connection.rollback()
        # After an erasure its words must leave the file, and a search index forgets nothing.
        self._discard()
        return self._follow(view)

    def _find_changed(self, view: View, last: int | None) -> set[str] | None:
        if last is None:
            return None
        with self._ledger.view(last) as before:
            return find_candidates(before, view)

    def find_words(self, words: Iterable[str]) -> frozenset[int]:
        """Return the entries of the claim revisions in which all *words* occur."""
        query = " AND ".join(f'"{_encode(word)}"' for word in words)
        with self._open() as connection:
            return frozenset(row[0] for row in connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (query,)))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=30, isolation_level=None)) as connection:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            yield connection

    def _discard(self) -> None:
        self._states.clear()
        for ending in ("", "-journal", "-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)


def read_state(view: View) -> ShelfState:
    """Return the claims of *view* without a file: for all that is done once, and needs no words."""
    return ShelfState([build_row(claim) for claim in search_claims(view, ClaimQuery(), log="")], log_size=view.log_size)


class ShelfReading:
    """The shelf at one entry of the log."""

    def __init__(self, state: ShelfState, shelf: Shelf) -> None:
        self._state = state
        self._shelf = shelf

    def select(self, wanted: ClaimFilter, *, skip: int = 0, before: int | None = None, limit: int) -> Selection:
        """Return a selection; see `web.facets.ClaimSource`."""
        words = split_words(wanted.words)
        found = self._shelf.find_words(words) if words else None
        return self._state.select(wanted, found=found, skip=skip, before=before, limit=limit)


def _write(connection: sqlite3.Connection, claims: list[ListedClaim], size: int) -> None:
    """Let the rows of *claims* hold from *size* on, where they differ from those before."""
    for claim in claims:
        row = build_row(claim)
        before = connection.execute(_FIND_ROW, (row.claim,)).fetchone()
        if before is not None and before[1:] == (row.revision, *row.facets):
            continue
        if before is not None:
            connection.execute("UPDATE claim SET until = ? WHERE rowid = ?", (size, before[0]))
        connection.execute(_ADD_ROW, (row.claim, row.revision, row.seq, size, *row.facets))
        # The words of a revision never change.
        if before is None or before[1] != row.revision:
            text = " ".join(_encode(word) for word in split_words(write_searched(claim)))
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row.seq, text))
    connection.execute("INSERT INTO state (size) VALUES (?)", (size,))


def _read_state(connection: sqlite3.Connection, size: int) -> ShelfState:
    rows = connection.execute(_READ_ROWS, (size, size))
    return ShelfState([ShelfRow(claim=row[0], revision=row[1], seq=row[2], facets=row[3:]) for row in rows], log_size=size)


def _encode(word: str) -> str:
    # The tokenizer knows ASCII alone, so that SQLite and Python agree on what a word is, in any script.
    return "x" + word.encode().hex()
