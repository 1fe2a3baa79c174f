"""The tables of the shelf: revisions of claims, their facets from one size of the log to another, and their words.

Texts are found here and never shown from here: the index of words keeps no text.
"""

import hashlib
import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from registry.codec.canonical_documents import from_json
from registry.records.claim_status import Status
from registry.registration.claim_search import ListedClaim
from web.shelf.bit_sets import GROUPS, Codes, Combination, Describe, Numbers, ShelfState, narrow_codes, split_groups
from web.shelf.shelf_entries import ClaimDescriber, ShelfEntry

VERSION = 4
"""Another version makes another file: this one is not changed, but built again."""
# Codes are one text, which is read faster than a column for each group of facets. Most claims share their status with many others, so
# each status is kept once.
_SCHEMA = """
CREATE TABLE state (size INTEGER PRIMARY KEY);
CREATE TABLE combination (part INTEGER, code INTEGER, facets TEXT NOT NULL, PRIMARY KEY (part, code)) WITHOUT ROWID;
CREATE TABLE status (code INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE revision (seq INTEGER PRIMARY KEY, claim TEXT NOT NULL, revision INTEGER NOT NULL);
CREATE TABLE period (seq INTEGER, since INTEGER, until INTEGER, codes TEXT NOT NULL, status INTEGER NOT NULL,
    PRIMARY KEY (seq, since)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, content='', detail='none', tokenize="ascii tokenchars '_'");
"""
_INDEX = "CREATE INDEX claim_revision ON revision (claim)"
_BATCH_COLUMNS = ", ".join(f"json_extract(value, '$[{place}]')" for place in range(3))
_ADD_REVISIONS = f"INSERT INTO revision (seq, claim, revision) SELECT {_BATCH_COLUMNS} FROM json_each(?)"  # noqa: S608
_ADD_PERIODS = """
    INSERT INTO period (seq, since, codes, status)
    SELECT json_extract(value, '$[0]'), ?, json_extract(value, '$[3]'), json_extract(value, '$[5]') FROM json_each(?)
"""
_ADD_WORDS = "INSERT INTO words (rowid, text) SELECT json_extract(value, '$[0]'), json_extract(value, '$[4]') FROM json_each(?)"
_HOLDING = "since <= :size AND (until IS NULL OR until > :size)"
_READ_PERIODS = f"SELECT seq, codes FROM period WHERE {_HOLDING} ORDER BY seq"  # noqa: S608
_FIND_PERIODS = f"""
    SELECT revision.claim, seq, since, codes, status FROM period JOIN revision USING (seq)
     WHERE {_HOLDING} AND seq IN (SELECT seq FROM revision WHERE claim IN (SELECT value FROM json_each(:claims)))
"""  # noqa: S608
_NAME = "SELECT seq, claim, revision FROM revision WHERE seq IN (SELECT value FROM json_each(?))"
_DESCRIBE = f"""
    SELECT seq, claim, revision, (
        SELECT text FROM period JOIN status ON status.code = period.status WHERE period.seq = revision.seq AND {_HOLDING}
    )
      FROM revision WHERE seq IN (SELECT value FROM json_each(:entries))
"""  # noqa: S608
_MEMORY = 32 << 20
"""Bytes of words that are gathered before the index writes a segment of its own."""
_WAITING = 2
_ROWS = 50_000


class _Period(NamedTuple):
    """The facets of a claim from one size of the log on."""

    claim: str
    seq: int
    since: int
    codes: str
    status: int


class FacetCombinations:
    """The combinations of values that claims have of each group of facets, each with its number, as the file has them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._codes: list[dict[Combination, int]] = [{} for _ in GROUPS]
        for part, code, facets in connection.execute("SELECT part, code, facets FROM combination ORDER BY part, code"):
            self._codes[part][tuple(json.loads(facets))] = code
        self._stored = [len(known) for known in self._codes]

    def write_codes(self, facets: Sequence[str]) -> str:
        """Return the codes of *facets*, one for each group; new combinations get the next number."""
        groups = zip(self._codes, split_groups(facets), strict=True)
        return ",".join([str(known.setdefault(combination, len(known))) for known, combination in groups])

    def store(self, connection: sqlite3.Connection) -> None:
        """Store the combinations that are new."""
        for part, known in enumerate(self._codes):
            new = list(known)[self._stored[part] :]
            rows = [(part, code, json.dumps(facets)) for code, facets in enumerate(new, start=self._stored[part])]
            connection.executemany("INSERT INTO combination VALUES (?, ?, ?)", rows)
            self._stored[part] = len(known)

    @property
    def listed(self) -> list[tuple[Combination, ...]]:
        """The combinations of each group, by code."""
        return [tuple(known) for known in self._codes]


class StatusTexts:
    """The statuses of claims as texts, each kept once, by number."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._codes: dict[str, int] = {}
        self._next: int = connection.execute("SELECT coalesce(max(code), 0) + 1 FROM status").fetchone()[0]
        self._is_empty = self._next == 1
        self._new: list[tuple[int, bytes, str]] = []

    def find_code(self, text: str) -> int:
        """Return the number of the status *text*; a new one gets the next."""
        code = self._codes.get(text)
        if code is None:
            digest = hashlib.sha256(text.encode()).digest()
            row = None if self._is_empty else self._connection.execute("SELECT code FROM status WHERE digest = ?", (digest,)).fetchone()
            if row is None:
                code, self._next = self._next, self._next + 1
                self._new.append((code, digest, text))
            else:
                code = int(row[0])
            self._codes[text] = code
        return code

    def store(self) -> None:
        """Store the statuses that are new."""
        self._connection.executemany("INSERT INTO status VALUES (?, ?, ?)", self._new)
        self._new.clear()


def open_tables(path: Path) -> sqlite3.Connection:
    """Open the file at *path*; a new one gets its tables."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} {_INDEX}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def build_tables(path: Path, claims: Iterable[Sequence[ShelfEntry]], size: int) -> None:
    """Write a new file with all *claims* of the log of *size* entries, in log order; nothing reads it before this returns."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA} BEGIN;")
        connection.execute("INSERT INTO words (words, rank) VALUES ('hashsize', ?)", (_MEMORY,))
        combinations, statuses = FacetCombinations(connection), StatusTexts(connection)
        # SQLite lets go of the interpreter only within one statement, so a batch is one statement: the
        # other core then writes it while this one reads the next claims.
        with ThreadPoolExecutor(max_workers=1) as pool:
            waiting: deque[Future[None]] = deque()
            for stretch in claims:
                batch = json.dumps([_encode(claim, combinations, statuses) for claim in stretch], ensure_ascii=False)
                while len(waiting) >= _WAITING:
                    waiting.popleft().result()
                waiting.append(pool.submit(_add_batch, connection, batch, size))
            for added in waiting:
                added.result()
        combinations.store(connection)
        statuses.store()
        connection.execute("INSERT INTO state (size) VALUES (?)", (size,))
        connection.execute(_INDEX)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _encode(claim: ShelfEntry, combinations: FacetCombinations, statuses: StatusTexts) -> tuple[int, str, int, str, str, int]:
    seq, name, revision, facets, words, status = claim
    return seq, name, revision, combinations.write_codes(facets), words, statuses.find_code(status)


def _add_batch(connection: sqlite3.Connection, batch: str, size: int) -> None:
    connection.execute(_ADD_REVISIONS, (batch,))
    connection.execute(_ADD_PERIODS, (size, batch))
    connection.execute(_ADD_WORDS, (batch,))


def update_tables(connection: sqlite3.Connection, claims: Iterable[ListedClaim], size: int) -> None:
    """Let the facets of *claims* hold from *size* on, where they differ from those before; in a transaction of the caller."""
    combinations, statuses = FacetCombinations(connection), StatusTexts(connection)
    described = {row[1]: row for row in (_encode(claim, combinations, statuses) for claim in ClaimDescriber().describe(claims))}
    before = {period.claim: period for period in _find_periods(connection, described, size)}
    added = []
    for claim, row in described.items():
        known = before.get(claim)
        if known is not None and (known.seq, known.codes, known.status) == (row[0], row[3], row[5]):
            continue
        if known is not None:
            connection.execute("UPDATE period SET until = ? WHERE seq = ? AND since = ?", (size, known.seq, known.since))
        added.append(row)
    combinations.store(connection)
    statuses.store()
    # The words of a revision never change.
    new = json.dumps([row for row in added if row[1] not in before or before[row[1]].seq != row[0]])
    connection.execute(_ADD_REVISIONS, (new,))
    connection.execute(_ADD_WORDS, (new,))
    connection.execute(_ADD_PERIODS, (size, json.dumps(added)))
    connection.execute("INSERT INTO state (size) VALUES (?)", (size,))


def _find_periods(connection: sqlite3.Connection, claims: Iterable[str], size: int) -> Iterator[_Period]:
    listed = json.dumps(list(claims))
    return (_Period(*row) for row in connection.execute(_FIND_PERIODS, {"size": size, "claims": listed}))


def read_state(connection: sqlite3.Connection, size: int, describe: Describe) -> ShelfState:
    """Return the claims as of *size*, one of the sizes that the file knows."""
    cursor = connection.execute(_READ_PERIODS, {"size": size})
    parts = [(np.zeros(0, dtype=np.int64), _parse_codes(()))]
    # A million rows of Python would take four times the memory of the arrays.
    while rows := cursor.fetchmany(_ROWS):
        parts.append((np.fromiter((row[0] for row in rows), dtype=np.int64), _parse_codes([row[1] for row in rows])))
    seqs = np.concatenate([part for part, _ in parts])
    codes = np.concatenate([part for _, part in parts], axis=1)
    return _build_state(FacetCombinations(connection), seqs, codes, size, describe)


def _parse_codes(codes: Sequence[str]) -> NDArray[np.uint32]:
    """Return the codes of each group of facets, one row a group."""
    numbers = np.fromstring(",".join(codes), dtype=np.uint32, sep=",") if codes else np.zeros(0, dtype=np.uint32)
    return np.ascontiguousarray(numbers.reshape(-1, len(GROUPS)).T)


def _build_state(
    combinations: FacetCombinations, seqs: Numbers, codes: Sequence[Codes] | NDArray[np.uint32], size: int, describe: Describe
) -> ShelfState:
    listed = combinations.listed
    narrow = [narrow_codes(numbers.astype(np.uint32, copy=False), len(known)) for numbers, known in zip(codes, listed, strict=True)]
    return ShelfState(log_size=size, seqs=seqs, combinations=listed, codes=narrow, describe=describe)


def change_state(
    connection: sqlite3.Connection,
    state: ShelfState,
    claims: Iterable[ListedClaim],
    names: Iterable[str],
    *,
    size: int,
    describe: Describe,
) -> ShelfState:
    """Return the claims as of *size*: those of *state*, without the claims *names*, and with *claims* as they are at *size*.

    The file has to know all revisions of *claims*, or else they are written to it.
    """
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        combinations, statuses = FacetCombinations(connection), StatusTexts(connection)
        added = [_encode(claim, combinations, statuses) for claim in ClaimDescriber().describe(claims)]
        known = {row[0] for row in connection.execute(_NAME, (json.dumps([row[0] for row in added]),))}
        if new := [row for row in added if row[0] not in known]:
            # An earlier revision, which was not there any more when the file was built.
            batch = json.dumps(new)
            connection.execute(_ADD_REVISIONS, (batch,))
            connection.execute(_ADD_WORDS, (batch,))
        combinations.store(connection)
    removed = connection.execute("SELECT seq FROM revision WHERE claim IN (SELECT value FROM json_each(?))", (json.dumps(list(names)),))
    gone = np.fromiter((row[0] for row in removed), dtype=np.int64)
    kept = ~np.isin(state.seqs, gone)
    seqs = np.concatenate((state.seqs[kept], np.array([row[0] for row in added], dtype=np.int64)))
    fresh = _parse_codes([row[3] for row in added])
    order = np.argsort(seqs, kind="stable")
    codes = [np.concatenate((numbers[kept], more))[order] for numbers, more in zip(state.codes, fresh, strict=True)]
    return _build_state(combinations, seqs[order], codes, size, describe)


def name_entries(connection: sqlite3.Connection, entries: Sequence[int]) -> dict[int, str]:
    """Return the claim of which each of *entries* recorded a revision."""
    return {seq: claim for seq, claim, _ in connection.execute(_NAME, (json.dumps(list(entries)),))}


def describe_entries(connection: sqlite3.Connection, entries: Sequence[int], size: int) -> dict[int, tuple[str, int, Status | None]]:
    """Return the claim and the revision that each of *entries* recorded, with its status at *size* where the file has it."""
    rows = connection.execute(_DESCRIBE, {"entries": json.dumps(list(entries)), "size": size})
    return {seq: (claim, revision, None if text is None else _read_status(text)) for seq, claim, revision, text in rows}


@lru_cache(maxsize=4096)
def _read_status(text: str) -> Status:
    return from_json(Status, text, where="status")


def find_words(connection: sqlite3.Connection, words: Iterable[str]) -> Numbers:
    """Return the entries of the claim revisions in which all *words* occur, ascending."""
    query = " AND ".join(f'"{word}"' for word in words)
    # One text of all numbers: a row of Python for each would take longer than the search.
    (listed,) = connection.execute("SELECT group_concat(rowid) FROM words WHERE words MATCH ?", (query,)).fetchone()
    return np.fromstring(listed, dtype=np.int64, sep=",") if listed else np.zeros(0, dtype=np.int64)
