"""The run folder's memory: what was asked, what was about to be asked, and every answer. Nothing in it is changed or removed.

SQLite without an ORM: a run folder belongs to one machine and one process at a time, and its writes must survive SIGKILL at any
instant. A call is written down before it is sent (`intend`) and when it came back (`settle`); an intent without an outcome was lost in
flight: it may have been billed, and is not sent again unless somebody asks for that.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from audit.replay.bodies import find_body, keep_body
from audit.replay.scores import ScoreStore
from registry.codec.canonical import Json, canonical_bytes, digest
from registry.codec.documents import from_json, to_document
from registry.errors import ConflictError, Fault, NotFoundError
from registry.records.response import Cell, Purpose, Response

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
class Planned:
    """A cell of the design with the call that fills it."""

    cell: Cell
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A call that was written down before it was sent."""

    id: int
    key: str
    request: str
    purpose: Purpose
    at: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
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


class RunStore(ScoreStore):
    """One run folder's database. Methods may be called from any thread; each is one transaction."""

    # What is planned

    def put_document(self, name: str, document: Json) -> None:
        """Keep *document* under *name*; the same again changes nothing.

        Raises:
            ConflictError: another document stands there.
        """
        text = canonical_bytes(document).decode()
        with self._write() as write:
            write.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (name, text))
            known = write.execute("SELECT document FROM meta WHERE name = ?", (name,)).fetchone()[0]
        if known != text:
            found = f"holds another {name}; a run folder is for one replay"
            raise ConflictError(Fault(code="run-differs", where=str(self.path), found=found, advice="choose another folder with -o DIR"))

    def find_document(self, name: str) -> Any | None:
        """Return what is kept under *name*; None when nothing is."""
        with self._lock:
            row = self._connection.execute("SELECT document FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def add_cells(self, planned: Iterable[Planned]) -> None:
        """Write down the design; a cell that is there already stays, with its call.

        Raises:
            ConflictError: a cell is planned with another call than the one it has; nothing is written.
        """
        with self._write() as write:
            for one in planned:
                keep_body(write, one.call.request, one.call.body)
                place = _cell_values(one.cell)
                write.execute(
                    "INSERT INTO cell (task_id, arm, spec, context_id, cue_removed, sample, key, request) VALUES (?,?,?,?,?,?,?,?)"
                    " ON CONFLICT DO NOTHING",
                    (*place, one.call.key, one.call.request),
                )
                known = write.execute(
                    "SELECT key FROM cell WHERE (task_id, arm, spec, context_id, cue_removed, sample) = (?,?,?,?,?,?)", place
                ).fetchone()[0]
                if known != one.call.key:
                    where = f"{self.path}, task {one.cell.task_id}, arm {one.cell.arm}, context {one.cell.context_id}"
                    found = "was planned with another request; task, context or policy changed since"
                    raise ConflictError(Fault(code="run-differs", where=where, found=found, advice="choose another folder with -o DIR"))

    def list_cells(self, *, by_name: bool = False) -> Iterator[tuple[Cell, str]]:
        """Give every cell of the design with the key of its call, in the order of planning, or of their names: arm, …, task, sample."""
        order = "arm, spec, context_id, cue_removed, task_id, sample" if by_name else "id"
        sql = f"SELECT task_id, arm, spec, context_id, cue_removed, sample, key FROM cell ORDER BY {order}"  # noqa: S608 (one of two)
        for task, arm, spec, context, cue, sample, key in self._read(sql):
            cell = Cell(task_id=task, arm=arm, spec=spec or None, context_id=context, cue_removed=cue or None, sample=sample)
            yield cell, key

    def count_cells(self) -> int:
        """Return the number of cells of the design."""
        return int(next(self._read("SELECT count(*) FROM cell"))[0])

    def get_request(self, sha256: str) -> dict[str, Any]:
        """Return the request body with this digest, whole; raises NotFoundError."""
        with self._lock:
            found = find_body(self._connection, sha256)
        if found is None:
            raise NotFoundError(Fault(code="not-registered", where=str(self.path), found=f"no request has the digest {sha256}"))
        return found

    # What is sent, and what comes back

    def intend(self, calls: Sequence[Call], *, at: str) -> list[Intent]:
        """Write down that *calls* are about to be sent, before they are; return their intents in the same order."""
        with self._write() as write:
            intents = []
            for call in calls:
                keep_body(write, call.request, call.body)
                row = write.execute(
                    "INSERT INTO intent (key, request, purpose, at) VALUES (?,?,?,?)", (call.key, call.request, call.purpose.value, at)
                )
                intents.append(Intent(id=cast("int", row.lastrowid), key=call.key, request=call.request, purpose=call.purpose, at=at))
        return intents

    def settle(self, outcomes: Sequence[tuple[Intent, Response]]) -> None:
        """Write down what came back."""
        with self._write() as write:
            write.executemany(
                "INSERT INTO outcome (intent, key, purpose, failure, model_returned, input_tokens, output_tokens, document)"
                " VALUES (?,?,?,?,?,?,?,?)",
                [_outcome_values(intent, response) for intent, response in outcomes],
            )

    def find_beginning(self) -> str | None:
        """Return when the first call of the replay was written down to be sent, ISO 8601; None before that."""
        return cast("str | None", next(self._read("SELECT min(at) FROM intent WHERE purpose = ?", (Purpose.REPLAY.value,)))[0])

    def find_settled(self, keys: Iterable[str], *, failed: bool = True) -> set[str]:
        """Return those of *keys* that have an outcome; with *failed* false, only those whose latest outcome is an answer."""
        sql = "SELECT failure FROM outcome WHERE key = ? ORDER BY id DESC LIMIT 1"
        found = set()
        with self._lock:
            for key in keys:
                row = self._connection.execute(sql, (key,)).fetchone()
                if row is not None and (failed or row[0] is None):
                    found.add(key)
        return found

    def find_outcomes(self, keys: Iterable[str]) -> dict[str, str | None]:
        """Return by key, for those of *keys* that have an outcome, why the latest is no answer; None: it is one."""
        sql = "SELECT failure FROM outcome WHERE key = ? ORDER BY id DESC LIMIT 1"
        with self._lock:
            found = {key: self._connection.execute(sql, (key,)).fetchone() for key in keys}
        return {key: row[0] for key, row in found.items() if row is not None}

    def list_doubtful(self, failures: Iterable[str], *, errors: Iterable[str], statuses: Iterable[int]) -> Iterator[tuple[str, int]]:
        """Give request digest and number of requests for every call whose requests may have been billed without a count of tokens.

        Those are its attempts that ended in one of *errors* (a kind of our own) or *statuses* (of HTTP), and at least one where the
        call failed with one of *failures*.
        """
        lists = [json.dumps(list(one)) for one in (errors, statuses, failures)]
        sql = (
            "SELECT intent.request, max((SELECT count(*) FROM json_each(document, '$.attempts') WHERE"
            " json_extract(value, '$.error') IN (SELECT value FROM json_each(?1))"
            " OR json_extract(value, '$.status') IN (SELECT value FROM json_each(?2))),"
            " coalesce(failure IN (SELECT value FROM json_each(?3)), 0)) AS count"
            " FROM outcome JOIN intent ON intent.id = intent"
            " WHERE (failure IS NOT NULL OR json_array_length(document, '$.attempts') > 1) AND count > 0"
        )
        yield from self._read(sql, lists)

    def list_documents(self, purpose: Purpose) -> Iterator[str]:
        """Give the latest outcome of every call made for *purpose* as it is kept, ordered by key."""
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

    def list_lost(self) -> list[Intent]:
        """Return intents without an outcome, oldest first: calls that were in flight when a process was killed (or still runs)."""
        sql = (
            "SELECT intent.id, intent.key, intent.request, intent.purpose, intent.at FROM intent"
            " LEFT JOIN outcome ON outcome.intent = intent.id WHERE outcome.id IS NULL ORDER BY intent.id"
        )
        return [Intent(id=row[0], key=row[1], request=row[2], purpose=Purpose(row[3]), at=row[4]) for row in self._read(sql)]

    def find_response(self, key: str) -> Response | None:
        """Return the latest outcome of the call *key*; None when there is none."""
        with self._lock:
            row = self._connection.execute("SELECT document FROM outcome WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)).fetchone()
        return None if row is None else _read_response(row[0])

    def list_responses(self, purpose: Purpose) -> Iterator[Response]:
        """Give the latest outcome of every call made for *purpose*, in the order in which they came."""
        latest = "SELECT max(id) FROM outcome WHERE purpose = ? GROUP BY key"
        sql = f"SELECT document FROM outcome WHERE purpose = ? AND id IN ({latest}) ORDER BY id"  # noqa: S608 (no text of others)
        for (document,) in self._read(sql, (purpose.value, purpose.value)):
            yield _read_response(document)

    def sum_spent(self, *, unsent: Iterable[str] = ()) -> list[Spent]:
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
            Spent(
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
        found = f"is no run folder: there is no {DATABASE} in it"
        raise NotFoundError(Fault(code="run-not-found", where=str(folder), found=found, advice="caveat audit run REPLAY -o DIR makes one"))
    folder.mkdir(parents=True, exist_ok=True)
    return RunStore.open(path)


def _cell_values(cell: Cell) -> tuple[str | int, ...]:
    return cell.task_id, cell.arm, cell.spec or "", cell.context_id, cell.cue_removed or "", cell.sample


def _outcome_values(intent: Intent, response: Response) -> tuple[object, ...]:
    usage = response.usage
    known = [one for one in (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens) if one is not None]
    # The text stands in the content blocks too; it is kept once.
    kept = replace(response, text="", thinking=None) if response.content else response
    return (
        intent.id,
        response.key,
        response.purpose.value,
        None if response.failure is None else response.failure.code,
        response.model_returned,
        sum(known) if known else None,
        usage.output_tokens,
        canonical_bytes(to_document(kept)).decode(),
    )


def _read_response(document: str) -> Response:
    response = from_json(Response, document, where="a stored response")
    return (
        response if not response.content else replace(response, text=join_text(response.content), thinking=join_thinking(response.content))
    )


def join_text(content: Iterable[Mapping[str, object]]) -> str:
    """Return the text blocks of *content* joined, as the model said them; empty when it said nothing."""
    return "".join(str(block.get("text", "")) for block in content if block.get("type") == "text")


def join_thinking(content: Iterable[Mapping[str, object]]) -> str | None:
    """Return the reasoning blocks of *content* joined; None without one."""
    found = [str(block.get("thinking", "")) for block in content if block.get("type") == "thinking"]
    return "\n".join(found) if found else None
