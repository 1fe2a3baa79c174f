"""The run folder's database: requests, intents, responses, scores and documents; nothing in it is changed or removed."""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any, Protocol, Self, cast

from audit.records.model_response import Purpose, ReplayCell, Response
from registry.codec.canonical_documents import Json, canonical_bytes, digest, from_document, from_json, to_document
from registry.errors import ConflictError, Fault, NotFoundError, UnavailableError
from registry.records.record import Record
from registry.records.replay_run import Replay, Task, TasksFile

# The SQLite file of a run folder.
#
# It uses the standard library and no ORM. A run folder belongs to one machine and one process at a time, it is appended
# to at every call, and it must be correct at the instant of a SIGKILL. The registry does not take over this file. It
# takes the score table, its digest and the provenance. Cost: a second small schema, without migrations so far.

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
                # sqlite3's context manager commits, or rolls back when the block raises, so every method of the store
                # is all or nothing.
                with self._connection as write:
                    yield write
            except sqlite3.OperationalError as error:
                raise build_not_writable(self.path, error) from error

    def _read(self, sql: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Give rows from a cursor of their own, so that a long reading holds no memory and no one up."""
        with self._lock:
            # Each query has its own cursor and holds the lock only while it fetches a block of rows. A writer can
            # therefore work while a long list is read, and the memory used does not depend on the size of the run.
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
    problem = f"the run folder cannot be written: {error}"
    return UnavailableError(Fault("file-not-accessible", str(path), problem, advice="check free space and permissions"))


def _connect(path: Path) -> sqlite3.Connection:
    connection = None
    try:
        # Calls come from the event loop, its worker threads and the writer's thread. `_lock` serialises them, so
        # sqlite3's own check of the thread is switched off.
        connection = sqlite3.connect(path, check_same_thread=False, timeout=30)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        # `synchronous = FULL` makes a commit wait for the disk, in WAL mode too: a power cut cannot lose the intent of a call that may have
        # been billed. Keys are digests, so rows change pages all over an index: SQLite's own cache is too small for 300,000 calls.
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -65536"):
            connection.execute(f"PRAGMA {pragma}")
        if version == 0:
            # Tables and version are written in one transaction: a process that is killed here leaves version 0, and the
            # next one begins again.
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
    except sqlite3.DatabaseError as error:
        if connection is not None:
            connection.close()
        # OperationalError means a full disk, missing permission or a lock. Every other DatabaseError means that the
        # file is no SQLite database.
        if isinstance(error, sqlite3.OperationalError):
            raise build_not_writable(path, error) from error
        raise ConflictError(Fault("run-not-readable", str(path), f"is not the database of a run: {error}")) from error
    # A later Caveat may have changed the meaning of a table, so the file is refused instead of read wrongly.
    if version > VERSION:
        connection.close()
        problem = f"was made by a later Caveat (version {version}, this one reads {VERSION})"
        raise ConflictError(Fault("run-not-readable", str(path), problem))
    return connection


# Request bodies. Each is kept once, and each long text in a body is kept once under its digest: thousands of requests
# share a system prompt.

_LONG = 64
"""Characters from which a text of a request is kept once, by its digest."""


def keep_body(write: sqlite3.Connection, sha256: str, body: Mapping[str, Json]) -> None:
    """Keep the request *body*, with the digest *sha256*; the same again changes nothing."""
    # The digest is that of the whole body, so an equal digest means an equal body.
    if write.execute("SELECT 1 FROM request WHERE sha256 = ?", (sha256,)).fetchone():
        return
    folded, texts = fold_body(body)
    write.executemany("INSERT INTO text VALUES (?, ?) ON CONFLICT DO NOTHING", texts.items())
    write.execute("INSERT INTO request VALUES (?, ?)", (sha256, folded))


def find_body(read: sqlite3.Connection, sha256: str) -> dict[str, Any] | None:
    """Return the request body with this digest, whole; None when none has it."""
    row = read.execute("SELECT folded FROM request WHERE sha256 = ?", (sha256,)).fetchone()

    def get_text(digest: str) -> str:
        return str(read.execute("SELECT content FROM text WHERE sha256 = ?", (digest,)).fetchone()[0])

    return None if row is None else unfold_body(row[0], get_text)


def fold_body(body: Mapping[str, Json]) -> tuple[str, dict[str, str]]:
    """Return the request *body* as JSON with digests in place of its long texts, and those texts by their digests."""
    texts: dict[str, str] = {}
    return json.dumps(_fold(body, texts), ensure_ascii=False, separators=(",", ":")), texts


def unfold_body(folded: str, get_text: Callable[[str], str]) -> dict[str, Any]:
    """Return the request body that `fold_body` made *folded* of; *get_text* gives the text with a digest."""
    return cast("dict[str, Any]", _unfold(json.loads(folded), get_text))


def _fold(value: Any, texts: dict[str, str]) -> Any:
    """Return *value* with its long texts replaced by their digests, which go into *texts*; a key that begins with $ gets another."""
    if isinstance(value, str) and len(value) >= _LONG:
        sha256 = hashlib.sha256(value.encode()).hexdigest()
        texts[sha256] = value
        return {"$text": sha256}
    if isinstance(value, Mapping):
        # `$text` marks a folded text. A key of the body that begins with `$` gets a second one, so it cannot be
        # mistaken for that mark.
        return {f"${key}" if key.startswith("$") else key: _fold(item, texts) for key, item in value.items()}
    return [_fold(item, texts) for item in value] if isinstance(value, (list, tuple)) else value


def _unfold(value: Any, get_text: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$text"}:
            return get_text(value["$text"])
        return {key.removeprefix("$") if key.startswith("$$") else key: _unfold(item, get_text) for key, item in value.items()}
    return [_unfold(item, get_text) for item in value] if isinstance(value, list) else value


# Scores. Every scoring is kept, and the latest of a response, scorer and repeat counts: a person may score again, and
# the earlier result stays readable.


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Record):
    """One scoring of one response: a number, or the reason why there is none."""

    response: str
    """Key of the response."""
    scorer: str
    """SHA-256 of the scorer's canonical document, hexadecimal."""
    score: float | None
    excluded_reason: str | None = None
    judge: str | None = None
    """Model that judged, as it was returned; None for a deterministic scorer."""
    repeat: int | None = None
    """From 0, for a judge that judges some responses several times; else None."""
    dimensions: dict[str, float] | None = None
    """A judge's ratings by name; a pattern scorer's rates by name."""
    detail: dict[str, object] | None = None
    """What else the scorer found: every pattern with its match, the option extracted, the judge's quote, what was cut."""
    call: str | None = None
    """Key of the judge's call; None for a deterministic scorer."""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.excluded_reason is None):
            raise ValueError("a scoring has either a score or the reason why there is none")


class ScoreStore(Database):
    """The part of a run folder's database that holds scores."""

    def add_scores(self, scores: Iterable[Score]) -> None:
        """Keep *scores*; a later scoring of the same response, scorer and repeat counts, and the earlier stays."""
        with self._write() as write:
            write.executemany(
                "INSERT INTO score (response, scorer, repeat, document) VALUES (?,?,?,?)",
                (
                    # The column is NOT NULL; −1 means "no repeat" and sorts before every number.
                    (
                        score.response,
                        score.scorer,
                        -1 if score.repeat is None else score.repeat,
                        canonical_bytes(to_document(score)).decode(),
                    )
                    for score in scores
                ),
            )

    def list_scores(self, scorer: str) -> Iterator[Score]:
        """Give the scores that count of the scorer with this digest, by response and repeat."""
        sql = (
            "SELECT document FROM score WHERE id IN (SELECT max(id) FROM score WHERE scorer = ? GROUP BY response, repeat)"
            " ORDER BY response, repeat"
        )
        for (document,) in self._read(sql, (scorer,)):
            yield from_json(Score, document, where=str(self.path))

    def find_scores(self, scorer: str, response: str) -> list[Score]:
        """Return the scores that count of one response by the scorer with this digest, by repeat; empty when it was not scored."""
        latest = "SELECT max(id) FROM score WHERE scorer = ? AND response = ? GROUP BY repeat"
        sql = f"SELECT document FROM score WHERE id IN ({latest}) ORDER BY repeat"  # noqa: S608 (no text of others)
        with self._lock:
            rows = self._connection.execute(sql, (scorer, response)).fetchall()
        return [from_json(Score, document, where=str(self.path)) for (document,) in rows]

    def list_scorers(self) -> list[str]:
        """Return the digests of the scorers that scored anything here, in the order of their digests."""
        return [scorer for (scorer,) in self._read("SELECT DISTINCT scorer FROM score ORDER BY scorer")]

    def list_judges(self, scorer: str) -> list[str]:
        """Return the models that judged for the scorer with this digest, as they were returned, in the order of their names."""
        sql = "SELECT DISTINCT json_extract(document, '$.judge') AS judge FROM score WHERE scorer = ? AND judge IS NOT NULL ORDER BY judge"
        return [judge for (judge,) in self._read(sql, (scorer,))]


# Requests, intents and outcomes.
#
# "No request twice" holds under SIGKILL: an intent is written before a call is sent (`intend`), and its outcome when
# the call came back (`settle`), both in groups. An intent without an outcome was lost in flight. It may have been
# billed, so it becomes an excluded row (`lost-in-flight`) and is sent again only with `--repeat-lost`. Cost: a kill
# loses as many responses as were under way.
#
# A call is the digest of its whole canonical body and the number of its sample. The bytes that are sent are those of
# the digest, so raising the number of samples reuses the existing answers.

DATABASE = "responses.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call to be made: a whole request, and which of several answers to it is meant."""

    body: Mapping[str, Json]
    """The request as it is sent: model, system, messages, tools, parameters."""
    index: int
    """Sample of a replay, repeat of a judge; from 0."""
    purpose: Purpose
    request: str
    """SHA-256 of the canonical *body*."""

    @property
    def key(self) -> str:
        """SHA-256 of request digest and index: two calls with the same key are one call."""
        return hashlib.sha256(f"{self.request}:{self.index}".encode()).hexdigest()


def build_call(body: Mapping[str, Json], *, index: int, purpose: Purpose) -> Call:
    """Return the call that *body* is for; raises InputError for a body that canonical JSON cannot hold."""
    return Call(body=body, index=index, purpose=purpose, request=digest(body))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A cell of the design with the call that fills it."""

    cell: ReplayCell
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class CallIntent:
    """A call that was written down before it was sent."""

    id: int
    key: str
    request: str
    purpose: Purpose
    at: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A call that was made elsewhere, with its outcome."""

    at: str
    """When it was written down to be sent: ISO 8601, UTC."""
    response: Response
    document: str
    """What `dump_response` made of *response*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """What the outcomes of one model come to."""

    model: str
    purpose: Purpose
    calls: int
    failures: int
    input_tokens: int
    """With both cache fields; calls whose usage is not told count 0 and are counted in `untold`."""
    output_tokens: int
    untold: int
    batched: bool = False
    """Whether they were made in batches, which have a price of their own."""


class CallStore(Protocol):
    """What a run of calls writes to: the run folder of this machine, or rows that several machines share."""

    path: Path
    """Where it is, for messages."""

    def find_outcomes(self, keys: Iterable[str]) -> dict[str, str | None]:
        """Return by key, for those of *keys* that have an outcome, why the latest is no answer; None: it is one."""

    def list_lost(self) -> list[CallIntent]:
        """Return intents without an outcome, oldest first."""

    def list_models(self) -> list[tuple[str, str]]:
        """Return every pair of model requested and model that answered."""

    def write(self, outcomes: Sequence[tuple[CallIntent, Response]], calls: Sequence[Call], *, at: str) -> Sequence[CallIntent | None]:
        """Write down what came back, and that *calls* are about to be sent; return their intents, None for those that must not be sent."""


class RunStore(ScoreStore):
    """One run folder's database. Methods may be called from any thread; each is one transaction."""

    # What is planned

    def put_document(self, name: str, document: Json) -> None:
        """Keep *document* under *name*; the same again changes nothing.

        Raises:
            ConflictError: another document is there.
        """
        text = canonical_bytes(document).decode()
        with self._write() as write:
            # Insert, then compare what is there: two threads that write the same name cannot both believe that theirs
            # was kept.
            write.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (name, text))
            known = write.execute("SELECT document FROM meta WHERE name = ?", (name,)).fetchone()[0]
        if known != text:
            raise ConflictError(Fault("run-differs", str(self.path), f"holds another {name}; a run folder is for one replay"))

    def find_document(self, name: str) -> Any | None:
        """Return what is kept under *name*; None when nothing is."""
        with self._lock:
            row = self._connection.execute("SELECT document FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def dump_documents(self) -> dict[str, Any]:
        """Return everything that is kept under a name."""
        return {name: json.loads(document) for name, document in self._read("SELECT name, document FROM meta ORDER BY name")}

    def count_intents(self, purpose: Purpose) -> dict[str, int]:
        """Return by key how often each call made for *purpose* was written down to be sent."""
        return dict(self._read("SELECT key, count(*) FROM intent WHERE purpose = ? GROUP BY key", (purpose.value,)))

    def add_cells(self, planned: Iterable[PlannedCall]) -> None:
        """Write down the design; a cell that is there already stays, with its call.

        Raises:
            ConflictError: a cell is planned with another call than the one it has; nothing is written.
        """
        with self._write() as write:
            waiting = iter(planned)
            while block := list(islice(waiting, _CELLS)):
                for request, body in {call.call.request: call.call.body for call in block}.items():
                    keep_body(write, request, body)
                self._add_cells(write, [(call.cell, call.call.key, call.call.request) for call in block])

    def add_fetched_cells(self, cells: Iterable[tuple[ReplayCell, str, str]]) -> None:
        """Write down a design that was planned elsewhere: cells, keys of calls, digests of requests. Raises as `add_cells`."""
        with self._write() as write:
            waiting = iter(cells)
            while block := list(islice(waiting, _CELLS)):
                self._add_cells(write, block)

    def _add_cells(self, write: sqlite3.Connection, cells: Sequence[tuple[ReplayCell, str, str]]) -> None:
        places = [_cell_values(cell) for cell, _, _ in cells]
        rows = [(*place, key, request) for place, (_, key, request) in zip(places, cells, strict=True)]
        # A run that is resumed or enlarged plans its cells again, and those that exist stay. Another call in the same cell would give one
        # response two designs, so it is refused with the whole transaction.
        sql = "INSERT INTO cell (task_id, arm, spec, context_id, cue_removed, sample, key, request) VALUES (?,?,?,?,?,?,?,?)"
        if write.executemany(f"{sql} ON CONFLICT DO NOTHING", rows).rowcount == len(rows):
            return
        sql = "SELECT key FROM cell WHERE (task_id, arm, spec, context_id, cue_removed, sample) = (?,?,?,?,?,?)"
        for place, (cell, key, _) in zip(places, cells, strict=True):
            if write.execute(sql, place).fetchone()[0] != key:
                where = f"{self.path}, task {cell.task_id}, arm {cell.arm}, context {cell.context_id}"
                problem = "was planned with another request; task, context or policy changed since"
                raise ConflictError(Fault("run-differs", where, problem))

    def list_cells(self, *, by_name: bool = False) -> Iterator[tuple[ReplayCell, str]]:
        """Give every cell of the design with the key of its call, in the order of planning, or of their names: arm, …, task, sample."""
        order = "arm, spec, context_id, cue_removed, task_id, sample" if by_name else "id"
        sql = f"SELECT task_id, arm, spec, context_id, cue_removed, sample, key FROM cell ORDER BY {order}"  # noqa: S608 (one of two)
        for task, arm, spec, context, cue, sample, key in self._read(sql):
            cell = ReplayCell(task_id=task, arm=arm, spec=spec or None, context_id=context, cue_removed=cue or None, sample=sample)
            yield cell, key

    def count_cells(self) -> int:
        """Return the number of cells of the design."""
        return int(next(self._read("SELECT count(*) FROM cell"))[0])

    def get_request(self, sha256: str) -> dict[str, Any]:
        """Return the request body with this digest, whole; raises NotFoundError."""
        with self._lock:
            body = find_body(self._connection, sha256)
        if body is None:
            raise NotFoundError(Fault("not-registered", str(self.path), f"no request has the digest {sha256}"))
        return body

    # What is sent, and what comes back

    def intend(self, calls: Sequence[Call], *, at: str) -> list[CallIntent]:
        """Write down that *calls* are about to be sent, before they are; return their intents in the same order."""
        with self._write() as write:
            intents = []
            for call in calls:
                keep_body(write, call.request, call.body)
                intents.append(_add_intent(write, call, at))
        return intents

    def write(self, outcomes: Sequence[tuple[CallIntent, Response]], calls: Sequence[Call], *, at: str) -> list[CallIntent]:
        """As `settle`, in a transaction of its own: it has been paid for. Then as `intend`."""
        self.settle(outcomes)
        return self.intend(calls, at=at)

    def settle(self, outcomes: Sequence[tuple[CallIntent, Response]]) -> None:
        """Write down what came back."""
        with self._write() as write:
            write.executemany(
                _ADD_OUTCOME, [_outcome_values(intent.id, response, dump_response(response)) for intent, response in outcomes]
            )

    def add_made_calls(self, calls: Sequence[MadeCall], requests: Mapping[str, str], texts: Mapping[str, str]) -> None:
        """Write down *calls* that were made elsewhere.

        Args:
            calls: in the order in which they get their numbers.
            requests: folded bodies by digest: those of these calls that are not here yet.
            texts: by digest, of those bodies.
        """
        with self._write() as write:
            write.executemany("INSERT INTO text VALUES (?, ?) ON CONFLICT DO NOTHING", texts.items())
            write.executemany("INSERT INTO request VALUES (?, ?) ON CONFLICT DO NOTHING", requests.items())
            first = write.execute("SELECT coalesce(max(id), 0) + 1 FROM intent").fetchone()[0]
            responses = [call.response for call in calls]
            write.executemany(
                "INSERT INTO intent (id, key, request, purpose, at) VALUES (?,?,?,?,?)",
                [
                    (number, response.key, response.request, response.purpose.value, call.at)
                    for number, (call, response) in enumerate(zip(calls, responses, strict=True), start=first)
                ],
            )
            write.executemany(
                _ADD_OUTCOME, [_outcome_values(first + place, call.response, call.document) for place, call in enumerate(calls)]
            )

    def find_requests(self, digests: Iterable[str]) -> set[str]:
        """Return those of *digests* with a request body here."""
        with self._lock:
            sql = "SELECT sha256 FROM request WHERE sha256 IN (SELECT value FROM json_each(?))"
            return {sha256 for (sha256,) in self._connection.execute(sql, (json.dumps(list(digests)),))}

    def find_beginning(self) -> str | None:
        """Return when the first call of the replay was written down to be sent, ISO 8601; None before that."""
        return cast("str | None", next(self._read("SELECT min(at) FROM intent WHERE purpose = ?", (Purpose.REPLAY.value,)))[0])

    def find_settled(self, keys: Iterable[str], *, failed: bool = True) -> set[str]:
        """Return those of *keys* that have an outcome; with *failed* false, only those with a latest outcome that is an answer."""
        # A call may have several outcomes, since failed calls can be sent again. The latest counts everywhere in this
        # class.
        sql = "SELECT failure FROM outcome WHERE key = ? ORDER BY id DESC LIMIT 1"
        texts = set()
        with self._lock:
            for key in keys:
                row = self._connection.execute(sql, (key,)).fetchone()
                if row is not None and (failed or row[0] is None):
                    texts.add(key)
        return texts

    def find_outcomes(self, keys: Iterable[str]) -> dict[str, str | None]:
        """Return by key, for those of *keys* that have an outcome, why the latest is no answer; None: it is one."""
        sql = "SELECT failure FROM outcome WHERE key = ? ORDER BY id DESC LIMIT 1"
        with self._lock:
            rows = {key: self._connection.execute(sql, (key,)).fetchone() for key in keys}
        return {key: row[0] for key, row in rows.items() if row is not None}

    def list_doubtful(self, failures: Iterable[str], *, errors: Iterable[str], statuses: Iterable[int]) -> Iterator[tuple[str, int]]:
        """Give request digest and number of requests for every call with requests that may have been billed without a count of tokens.

        Those are its attempts that ended in one of *errors* (a kind of our own) or *statuses* (of HTTP), and at least one where the
        call failed with one of *failures*.
        """
        # SQLite binds a limited number of parameters, so each list is one JSON parameter.
        lists = [json.dumps(list(item)) for item in (errors, statuses, failures)]
        sql = (
            "SELECT intent.request, max((SELECT count(*) FROM json_each(document, '$.attempts') WHERE"
            " json_extract(value, '$.error') IN (SELECT value FROM json_each(?1))"
            " OR json_extract(value, '$.status') IN (SELECT value FROM json_each(?2))),"
            " coalesce(failure IN (SELECT value FROM json_each(?3)), 0)) AS count"
            # Most calls are answered by their first attempt. This condition skips them without reading their attempts.
            " FROM outcome JOIN intent ON intent.id = intent"
            " WHERE (failure IS NOT NULL OR json_array_length(document, '$.attempts') > 1) AND count > 0"
        )
        yield from self._read(sql, lists)

    def list_documents(self, purpose: Purpose) -> Iterator[str]:
        """Give the latest outcome of every call made for *purpose* as it is kept, ordered by key."""
        # The order by key makes the digest of all transcripts independent of the order in which the answers arrived.
        latest = "SELECT max(id) FROM outcome WHERE purpose = ? GROUP BY key"
        for (document,) in self._read(f"SELECT document FROM outcome WHERE id IN ({latest}) ORDER BY key", (purpose.value,)):  # noqa: S608 (no text of others)
            yield document

    def list_models(self) -> list[tuple[str, str]]:
        """Return every pair of model requested and model that answered."""
        sql = "SELECT DISTINCT json_extract(document, '$.model_requested'), model_returned FROM outcome WHERE model_returned IS NOT NULL"
        return [(row[0], row[1]) for row in self._read(sql)]

    def list_calls(self) -> Iterator[Call]:
        """Give the call of every cell of the design, in the order of planning; bodies are read as they are needed."""
        sql = "SELECT request, sample FROM cell ORDER BY id"
        for request, sample in self._read(sql):
            yield Call(body=self.get_request(request), index=sample, purpose=Purpose.REPLAY, request=request)

    def list_lost(self) -> list[CallIntent]:
        """Return intents without an outcome, oldest first: calls that were in flight when a process was killed (or still runs)."""
        sql = (
            "SELECT intent.id, intent.key, intent.request, intent.purpose, intent.at FROM intent"
            " LEFT JOIN outcome ON outcome.intent = intent.id WHERE outcome.id IS NULL ORDER BY intent.id"
        )
        return [CallIntent(id=row[0], key=row[1], request=row[2], purpose=Purpose(row[3]), at=row[4]) for row in self._read(sql)]

    def find_response(self, key: str) -> Response | None:
        """Return the latest outcome of the call *key*; None when there is none."""
        with self._lock:
            row = self._connection.execute("SELECT document FROM outcome WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)).fetchone()
        return None if row is None else load_response(row[0])

    def list_responses(self, purpose: Purpose) -> Iterator[Response]:
        """Give the latest outcome of every call made for *purpose*, in the order in which they came."""
        latest = "SELECT max(id) FROM outcome WHERE purpose = ? GROUP BY key"
        sql = f"SELECT document FROM outcome WHERE purpose = ? AND id IN ({latest}) ORDER BY id"  # noqa: S608 (no text of others)
        for (document,) in self._read(sql, (purpose.value, purpose.value)):
            yield load_response(document)

    def sum_spent(self, *, unsent: Iterable[str] = ()) -> list[ModelUsage]:
        """Return calls and tokens by model requested, purpose and way, failed calls and repeated ones included.

        Args:
            unsent: codes of failures that were no calls.
        """
        sql = (
            "SELECT json_extract(document, '$.model_requested'), purpose, count(*), count(failure), coalesce(sum(input_tokens), 0),"
            " coalesce(sum(output_tokens), 0), sum(output_tokens IS NULL), json_extract(document, '$.batch') IS NOT NULL AS batched"
            " FROM outcome WHERE failure IS NULL OR failure NOT IN (SELECT value FROM json_each(?))"
            " GROUP BY 1, 2, batched ORDER BY 1, 2, batched"
        )
        return [
            ModelUsage(
                model=row[0],
                purpose=Purpose(row[1]),
                calls=row[2],
                failures=row[3],
                input_tokens=row[4],
                output_tokens=row[5],
                untold=row[6],
                batched=bool(row[7]),
            )
            for row in self._read(sql, (json.dumps(list(unsent)),))
        ]


def open_store(folder: Path, *, create: bool = False) -> RunStore:
    """Return the store of the run folder *folder*.

    Args:
        create: make folder and database where there are none.

    Raises:
        NotFoundError: there is no run in the folder.
        ConflictError: it was made by a later Caveat, or is no run's database.
        UnavailableError: it cannot be opened for writing.
    """
    path = folder / DATABASE
    if not create and not path.is_file():
        advice = "make the calls first: caveat audit run REPLAY -o DIR, or of a skill study caveat analyze skills generate STUDY"
        raise NotFoundError(Fault("run-not-found", str(folder), f"is not a run folder: there is no {DATABASE} in it", advice=advice))
    folder.mkdir(parents=True, exist_ok=True)
    return RunStore.open(path)


_CELLS = 500
"""Cells that are written at once."""
_ADD_OUTCOME = (
    "INSERT INTO outcome (intent, key, purpose, failure, model_returned, input_tokens, output_tokens, document) VALUES (?,?,?,?,?,?,?,?)"
)


def _add_intent(write: sqlite3.Connection, call: Call, at: str) -> CallIntent:
    row = write.execute("INSERT INTO intent (key, request, purpose, at) VALUES (?,?,?,?)", (call.key, call.request, call.purpose.value, at))
    return CallIntent(id=cast("int", row.lastrowid), key=call.key, request=call.request, purpose=call.purpose, at=at)


def _cell_values(cell: ReplayCell) -> tuple[str | int, ...]:
    # An empty text stands for None, because a UNIQUE constraint treats two NULLs as different and would accept a cell
    # twice.
    return cell.task_id, cell.arm, cell.spec or "", cell.context_id, cell.cue_removed or "", cell.sample


def _outcome_values(intent: int, response: Response, document: str) -> tuple[object, ...]:
    usage = response.usage
    # All three are input that was processed. When the endpoint counted none of them the column is NULL, because unknown
    # is not zero.
    known = [
        number for number in (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens) if number is not None
    ]
    return (
        intent,
        response.key,
        response.purpose.value,
        None if response.failure is None else response.failure.code,
        response.model_returned,
        sum(known) if known else None,
        usage.output_tokens,
        document,
    )


def dump_response(response: Response) -> str:
    """Return *response* as it is kept."""
    # The text is part of the content blocks and is not stored a second time. `load_response` restores it.
    kept = replace(response, text="", thinking=None) if response.content else response
    return canonical_bytes(to_document(kept)).decode()


def load_response(document: str) -> Response:
    """Return the response that `dump_response` wrote."""
    response = from_json(Response, document, where="a stored response")
    return (
        response if not response.content else replace(response, text=join_text(response.content), thinking=join_thinking(response.content))
    )


def join_text(content: Iterable[Mapping[str, object]]) -> str:
    """Return the text blocks of *content* joined, as the model said them; empty when it said nothing."""
    return "".join(str(block.get("text", "")) for block in content if block.get("type") == "text")


def join_thinking(content: Iterable[Mapping[str, object]]) -> str | None:
    """Return the reasoning blocks of *content* joined; None without one."""
    texts = [str(block.get("thinking", "")) for block in content if block.get("type") == "thinking"]
    return "\n".join(texts) if texts else None


# Documents of a run folder: the replay that it holds, and the tasks that were asked, whole. A replay may grow. Each
# version is kept as a document of its own (`replay`, `replay-2`, …), because nothing in the folder is changed.

_REPLAY, _TASKS = "replay", "tasks"
_NAME = "run-name"


def put_replay(store: RunStore, replay: Replay, tasks: Sequence[Task]) -> None:
    """Keep what the run folder is for; the same again changes nothing.

    A replay may grow: more samples, arms, tasks or budget, another scorer. Each version stays, and the latest counts. What was asked
    already cannot change under it: the store refuses a cell that is planned with another request.
    """
    put_version(store, _REPLAY, to_document(replay))
    put_version(store, _TASKS, to_document(TasksFile(tasks=tuple(tasks))))


def put_version(store: RunStore, name: str, document: dict[str, Any]) -> None:
    """Keep *document* as the latest of those called *name*; when it is that already, nothing changes."""
    versions = list_versions(store, name)
    if not versions or versions[-1] != document:
        store.put_document(f"{name}-{len(versions) + 1}" if versions else name, document)


def list_versions(store: RunStore, name: str) -> list[dict[str, Any]]:
    """Return every document that was kept as *name*, the latest last."""
    documents: list[dict[str, Any]] = []
    while (document := store.find_document(f"{name}-{len(documents) + 1}" if documents else name)) is not None:
        documents.append(document)
    return documents


def name_run(store: RunStore, draw: Callable[[], str]) -> str:
    """Return the random name of the run in this folder, made by *draw* and written down if it has none yet."""
    known = find_name(store)
    if known is None:
        # The name is on the disk before it enters a log. A run that is resumed after a crash at any moment finds the
        # same name.
        known = draw()
        store.put_document(_NAME, {"run": known})
    return known


def find_name(store: RunStore) -> str | None:
    """Return the random name of the run in this folder; None before it was entered in a log."""
    document = store.find_document(_NAME)
    return None if document is None else str(document["run"])


def _find_latest(store: RunStore, name: str) -> dict[str, Any] | None:
    versions = list_versions(store, name)
    return versions[-1] if versions else None


def get_replay(store: RunStore) -> Replay:
    """Return the replay that the folder holds; raises NotFoundError."""
    document = _find_latest(store, _REPLAY)
    if document is None:
        raise _missing(store, "replay")
    return from_document(Replay, document, where=f"{store.path}, replay")


def get_tasks(store: RunStore) -> dict[str, Task]:
    """Return the tasks that were asked, by identifier; raises NotFoundError."""
    document = _find_latest(store, _TASKS)
    if document is None:
        raise _missing(store, "tasks")
    return {task.id: task for task in from_document(TasksFile, document, where=f"{store.path}, tasks").tasks}


def list_states(store: RunStore, *names: str) -> Iterator[tuple[Replay, tuple[Task, ...], list[dict[str, Any]]]]:
    """Give every replay that the folder was for with every file of tasks and every document called one of *names*, latest first.

    Which versions went together is not kept, so each is given with each; the latest of all are the replay as it is now. A folder
    that holds no replay, no tasks or no document of such a name gives none.

    Raises:
        InputError: what is kept is no replay, or no tasks.
    """
    kept = [[*reversed(list_versions(store, name))] for name in (_REPLAY, _TASKS, *names)]
    # A lock may fix an earlier version than the latest. A search over all combinations finds the one that digests to
    # the lock.
    for replay, tasks, *others in product(*kept):
        yield (
            from_document(Replay, replay, where=f"{store.path}, replay"),
            from_document(TasksFile, tasks, where=f"{store.path}, tasks").tasks,
            others,
        )


def _missing(store: RunStore, what: str) -> NotFoundError:
    problem = f"the folder holds no {what}: the run was never planned to its end"
    return NotFoundError(Fault("run-not-found", str(store.path), problem, advice="run it again: caveat audit run REPLAY -o DIR"))
