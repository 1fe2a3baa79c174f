"""The shelf: a SQLite file that follows the log, with the facets of every claim and the words of every revision.

Nothing in it is a record. It may be deleted at any time, and is built again; what a page shows comes from the registry itself. Each row
holds from one size of the log to another, so a walk through a long list sees one state, whatever is recorded meanwhile.
"""

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from registry.errors import CaveatError, Fault, UnavailableError
from registry.records.claim_status import Status
from registry.records.log_seal import Erasure
from registry.registration.claim_search import read_claims, stream_claims
from registry.store.changed_claims import find_candidates
from registry.store.database_engine import OWN_LOG
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from web.facets import ClaimFilter, Selection, split_words
from web.shelf import shelf_tables as tables
from web.shelf.bit_sets import Describe, NamedRevision, Numbers, ShelfState, build_row, build_state
from web.shelf.shelf_entries import list_shelf_entries

LOG = logging.getLogger("caveat.web")

_MOST_STATES = 3
_MOST_SEARCHES = 200
_SMALL = 50_000
"""Claims of a file that is built anew, after an erasure, while a reader waits: some five seconds."""
_PASSING = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")
"""Errors that a new file would have, too, by the beginnings of their names; but what was cut off has `SQLITE_IOERR_SHORT_READ`."""
_LONGEST_SEARCH_S = 0.25
"""Of computing, as for one question to the registry."""
_STEPS = 10_000
"""Steps of SQLite between two looks at the clock."""
_ENDINGS = ("", "-journal", "-wal", "-shm")


def find_shelf(url: str, origin: str) -> Path:
    """Return where the shelf of the registry at *url* lies: next to a SQLite file, else in the user's cache folder."""
    name = f".caveat-shelf-{hashlib.sha256(f'{url} {origin}'.encode()).hexdigest()[:12]}-{tables.VERSION}.db"
    prefix, _, path = url.partition("sqlite:///")
    folder = Path(path).absolute().parent if not prefix and path and path != ":memory:" else None
    if folder is not None and os.access(folder, os.W_OK):
        return folder / name
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "caveat"
    cache.mkdir(parents=True, exist_ok=True)
    return cache / name


class Shelf:
    """The claims of one registry, for searching; use it in one thread at a time."""

    def __init__(self, ledger: Ledger, path: Path, *, small: int = _SMALL) -> None:
        """Take the file at *path*; a file of up to *small* claims is built anew while its reader waits."""
        self._ledger = ledger
        self._small = small
        self._path = path
        self._states: OrderedDict[int, ShelfState] = OrderedDict()
        self._searches: OrderedDict[tuple[str, ...], Numbers] = OrderedDict()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._building: threading.Thread | None = None

    def read(self, view: View) -> "ShelfReading":
        """Return the claims as *view* sees them, and bring the file up to the present size of the log before.

        After an erasure a file of many claims is built anew by a thread. Until it is there, the reading is that of the last size before the
        erasure (see `ShelfReading.log_size`), without the claims of which a text was erased.
        """
        try:
            state = self._find_state(view)
        # Damaged, or no SQLite file: it is made again.
        except sqlite3.DatabaseError as error:
            is_cut = error.sqlite_errorname == "SQLITE_IOERR_SHORT_READ"
            if error.sqlite_errorname.startswith(_PASSING) and not is_cut:
                where, advice = str(self._path), "try again; if it stays so, look at the disk of this folder"
                raise UnavailableError(Fault("search-unavailable", where, str(error), advice=advice)) from error
            self._discard()
            state = self._find_state(view)
        return ShelfReading(state, self)

    def close(self) -> None:
        """Wait until nothing is being built, and close the file."""
        self.wait()
        self._disconnect()

    def wait(self) -> None:
        """Wait until nothing is being built."""
        if self._building is not None:
            self._building.join()

    def _find_state(self, view: View) -> ShelfState:
        connection = self._connect()
        if (state := self._states.get(view.log_size)) is not None:
            self._states.move_to_end(view.log_size)
            return state
        last: int | None = connection.execute("SELECT max(size) FROM state").fetchone()[0]
        if last is None:
            self._build(view.log_size)
            return self._find_state(view)
        if view.log_size < last:
            return self._keep(self._read_earlier(connection, view))
        with self._ledger.view(last) as before:
            candidates = find_candidates(before, view)
        if candidates is not None:
            return self._keep(self._follow(connection, view, candidates))
        # After an erasure its words must leave the file, and a search index forgets nothing.
        newest = self._load(connection, last)
        if len(newest.seqs) <= self._small:
            self._discard()
            return self._find_state(view)
        if self._building is None or not self._building.is_alive():
            self._building = threading.Thread(target=self._build, args=(view.log_size,), daemon=True)
            self._building.start()
        return self._hide_erased(connection, newest, view)

    def _follow(self, connection: sqlite3.Connection, view: View, candidates: Iterable[str]) -> ShelfState:
        """Write what the entries since changed, and return the new state."""
        names = sorted(candidates)
        claims = read_claims(view, names, log="")
        # One process writes; another that waited finds the work done.
        connection.execute("BEGIN IMMEDIATE")
        try:
            last: int = connection.execute("SELECT max(size) FROM state").fetchone()[0]
            before = self._states.get(last)
            if last < view.log_size:
                tables.update_tables(connection, claims, view.log_size)
                self._searches.clear()
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        if last > view.log_size:
            return self._read_earlier(connection, view)
        if before is None or last == view.log_size:
            return self._read_state(connection, view.log_size)
        return tables.change_state(connection, before, claims, names, size=view.log_size, describe=self._describe_at(view.log_size))

    def _read_earlier(self, connection: sqlite3.Connection, view: View) -> ShelfState:
        """Return an earlier state: the file has it, or what changed between it and the next one is read from the log."""
        later: int = connection.execute("SELECT min(size) FROM state WHERE size >= ?", (view.log_size,)).fetchone()[0]
        if later == view.log_size:
            return self._read_state(connection, later)
        with self._ledger.view(later) as after:
            candidates = find_candidates(view, after)
        if candidates is None:
            return read_state(view)
        names = sorted(candidates)
        state = self._load(connection, later)
        # Words of revisions that are no more are added to the file.
        self._searches.clear()
        claims = read_claims(view, names, log="")
        # What did not change until the next size of the file has the status that it has there.
        describe = self._describe_at(later, {claim.summary.seq: claim.summary.status for claim in claims})
        return tables.change_state(connection, state, claims, names, size=view.log_size, describe=describe)

    def _load(self, connection: sqlite3.Connection, size: int) -> ShelfState:
        return self._states.get(size) or self._read_state(connection, size)

    def _read_state(self, connection: sqlite3.Connection, size: int) -> ShelfState:
        return tables.read_state(connection, size, self._describe_at(size))

    def _keep(self, state: ShelfState) -> ShelfState:
        self._states[state.log_size] = state
        # Walks through lists are short, and the newest state is asked for most.
        while len(self._states) > _MOST_STATES:
            self._states.popitem(last=False)
        return state

    def _hide_erased(self, connection: sqlite3.Connection, state: ShelfState, view: View) -> ShelfState:
        erased = {entry.payload.erased for entry in view.entries(state.log_size + 1) if isinstance(entry.payload, Erasure)}
        names = list(tables.name_entries(connection, sorted(erased)).values())
        describe = self._describe_at(state.log_size)
        return tables.change_state(connection, state, (), names, size=state.log_size, describe=describe) if names else state

    def _build(self, size: int) -> None:
        """Build a new file, and put it in the place of the old one."""
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        try:
            new.unlink(missing_ok=True)
            with self._ledger.view(size) as view:
                tables.build_tables(new, list_shelf_entries(view, self._ledger.url), size)
            new.replace(self._path)
        except (CaveatError, sqlite3.Error):
            if threading.current_thread() is not self._building:
                raise
            # The next reader tries again.
            LOG.exception("the shelf could not be built")
        finally:
            new.unlink(missing_ok=True)

    # Words.

    def find_words(self, words: Sequence[str]) -> Numbers:
        """Return the entries of the claim revisions in which all *words* occur, ascending."""
        key = tuple(sorted(set(words)))
        entries = self._searches.get(key)
        if entries is None:
            entries = self._searches[key] = self._look_up(key)
            while len(self._searches) > _MOST_SEARCHES:
                self._searches.popitem(last=False)
        return entries

    def _look_up(self, words: tuple[str, ...]) -> Numbers:
        """Return the entries in which all *words* occur; raises sqlite3.OperationalError, `interrupted`, where that takes too long."""
        connection = self._connect()
        deadline = time.thread_time() + _LONGEST_SEARCH_S
        connection.set_progress_handler(lambda: time.thread_time() > deadline, _STEPS)
        try:
            return tables.find_words(connection, words)
        finally:
            connection.set_progress_handler(None, 0)

    def _describe_at(self, size: int, own: Mapping[int, Status] | None = None) -> Describe:
        """Return what describes revisions with the status that each has at *size*, or that *own* has of it."""

        def describe(entries: Sequence[int]) -> list[NamedRevision]:
            named = tables.describe_entries(self._connect(), entries, size)
            described = ((seq, *named[seq]) for seq in entries)
            return [(claim, revision, (own or {}).get(seq, status), None) for seq, claim, revision, status in described]

        return describe

    # The file.

    def _connect(self) -> sqlite3.Connection:
        """Return the connection to the file; another process may have put a new one in its place."""
        if self._connection is not None and self._identity == self._identify():
            return self._connection
        self._disconnect()
        self._connection = tables.open_tables(self._path)
        self._identity = self._identify()
        return self._connection

    def _identify(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _disconnect(self) -> None:
        self._states.clear()
        self._searches.clear()
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _discard(self) -> None:
        self._disconnect()
        for ending in _ENDINGS:
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)


def read_state(view: View) -> ShelfState:
    """Return the claims of *view* without a file: for all that is done once, and needs no words."""
    return build_state((build_row(claim) for stretch in stream_claims(view, log="") for claim in stretch), log_size=view.log_size)


@contextmanager
def hold_claims(ledger: Ledger, view: View) -> Iterator[ShelfState]:
    """Give the claims of *view*, from the file where it can be used, and else from the registry."""
    # The file is of the own log, and while it is built anew it has an earlier size.
    if view.log_id != OWN_LOG:
        yield read_state(view)
        return
    shelf: Shelf | None = None
    state: ShelfState | None = None
    try:
        with suppress(UnavailableError, sqlite3.Error, OSError):
            shelf = Shelf(ledger, find_shelf(ledger.url, view.log_origin))
            reading = shelf.read(view)
            state = reading.state if reading.log_size == view.log_size else None
        yield state or read_state(view)
    finally:
        if shelf is not None:
            shelf.close()


class ShelfReading:
    """The shelf at one entry of the log."""

    def __init__(self, state: ShelfState, shelf: Shelf) -> None:
        self._state = state
        self._shelf = shelf

    @property
    def state(self) -> ShelfState:
        """The claims as arrays."""
        return self._state

    @property
    def log_size(self) -> int:
        """The size of the log that the claims are as of."""
        return self._state.log_size

    def select(self, wanted: ClaimFilter, *, skip: int = 0, before: int | None = None, limit: int) -> Selection:
        """Return a selection; see `web.facets.ClaimSource`."""
        words = split_words(wanted.words)
        entries = self._shelf.find_words(words) if words else None
        if wanted.words and entries is None:
            wanted = ClaimFilter(chosen=wanted.chosen)
        return self._state.select(wanted, entries=entries, skip=skip, before=before, limit=limit)
