"""The calls of one slice as the replay engine writes them: rows of the fleet, and a spill file while the database is away."""

import json
import os
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import IN_FLIGHT, UNSENT
from audit.replay.run_store import Call, CallIntent, dump_response, unfold_body
from fleet.database import DatabaseAwayError, FleetDatabase, repeat_until, to_json
from fleet.limits import RateGate, SlicePurse
from fleet.runs.leases import SliceLease
from registry.codec.file_io import lock_file
from registry.errors import ConflictError, Fault

LARGEST_SENDING = 64
"""Intents of one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallState:
    """What is known of a call before this worker makes it."""

    round: int
    """Rounds so far."""
    has_outcome: bool
    failure: str | None
    session: int | None
    """Of its last round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatRule:
    """Which failures are sent again in this session."""

    session: int
    retry_failed: bool
    repeat_lost: bool

    def find_why(self, state: CallState) -> str | None:
        """Return why the call is sent in another round: empty for the first, None where it is not."""
        if state.round == 0:
            return ""
        if not state.has_outcome or state.failure is None:
            return None
        if state.failure in UNSENT:
            return "unsent"
        # A failure of this session is not tried again in it: a slice that changes hands would else repeat it for ever.
        if state.session is not None and state.session >= self.session:
            return None
        if state.failure == IN_FLIGHT:
            return "repeat-lost" if self.repeat_lost else None
        return "retry-failed" if self.retry_failed else None


def read_slice(database: FleetDatabase, run: str, number: int, session: int) -> list[tuple[Call, CallState]]:
    """Return the calls of slice *number* of *run* that *session* asks for, in the order of the plan, each with its state."""
    with database.transaction() as cursor:
        cursor.execute(
            "SELECT call.key, request.sha256, request.folded, call.index, coalesce(last.round, 0), last.session, last.id IS NOT NULL,"
            " last.failure, runs.kind FROM fleet.call JOIN fleet.runs USING (run) JOIN fleet.request ON request.sha256 = call.request"
            " LEFT JOIN LATERAL ("
            " SELECT intent.round, intent.session, outcome.id, outcome.failure FROM fleet.intent LEFT JOIN fleet.outcome"
            " ON outcome.run = intent.run AND outcome.key = intent.key AND outcome.round = intent.round AND outcome.is_counted"
            " WHERE intent.run = call.run AND intent.key = call.key ORDER BY intent.round DESC, outcome.is_late DESC NULLS LAST LIMIT 1"
            ") AS last ON true WHERE call.run = %s AND call.slice = %s AND NOT EXISTS (SELECT FROM fleet.unwanted"
            " WHERE unwanted.run = call.run AND unwanted.session = %s AND unwanted.key = call.key) ORDER BY call.position",
            (run, number, session),
        )
        rows = cursor.fetchall()
        digests = {digest for row in rows for digest in list_texts(json.loads(row[2]))}
        cursor.execute("SELECT sha256, content FROM fleet.text WHERE sha256 = ANY (%s)", (sorted(digests),))
        texts = {sha256: json.loads(content) for sha256, content in cursor.fetchall()}
    return [
        (
            Call(body=unfold_body(row[2], texts.__getitem__), index=row[3], purpose=Purpose(row[8]), request=row[1]),
            CallState(round=row[4], session=row[5], has_outcome=row[6], failure=row[7]),
        )
        for row in rows
    ]


def list_texts(value: Any) -> Iterable[str]:
    """Give the digests of the long texts of a folded request, as `fold_body` makes it."""
    if isinstance(value, dict):
        if value.keys() == {"$text"}:
            yield value["$text"]
        else:
            for item in value.values():
                yield from list_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from list_texts(item)


class SpillFile:
    """Outcomes that could not be written to the database yet, on the disk of the worker: they have been paid for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: IO[str] | None = None

    def add(self, run: str, worker: str, outcomes: Sequence[dict[str, Any]]) -> None:
        """Keep *outcomes*; they are on the disk when this returns."""
        with self._lock:
            file = self._open()
            file.writelines(f"{to_json({'run': run, 'worker': worker, 'outcome': outcome})}\n" for outcome in outcomes)
            file.flush()
            os.fsync(file.fileno())

    def _open(self) -> IO[str]:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+", encoding="utf-8")
            # The lock ends with the process: then, and only then, another worker of this folder delivers what is left.
            if not lock_file(file, where=str(self.path)):
                file.close()
                raise ConflictError(Fault("in-use", str(self.path), "another worker keeps its answers there"))
            self._file = file
        return self._file

    def deliver(self, database: FleetDatabase) -> int:
        """Write what is kept to the database, and forget it; return how many outcomes there were.

        Raises:
            DatabaseAwayError: nothing is forgotten.
            ConflictError: the file is another worker's, who lives.
        """
        with self._lock:
            if self._file is None and not self.path.is_file():
                return 0
            file = self._open()
            file.seek(0)
            count = 0
            for line in file.read().splitlines():
                try:
                    document = json.loads(line)
                # The last line of a process that was killed while it wrote.
                except ValueError:
                    continue
                # An outcome that is there already changes nothing.
                database.call("SELECT fleet.settle(%s, %s, %s::jsonb)", document["run"], document["worker"], to_json([document["outcome"]]))
                count += 1
            file.truncate(0)
        return count

    def close(self) -> None:
        """Let go of the file, and remove it where nothing is in it."""
        with self._lock:
            if self._file is not None:
                if not self.path.stat().st_size:
                    self.path.unlink()
                self._file.close()
                self._file = None


class SliceStore:
    """What the replay engine writes to for the calls of one slice."""

    def __init__(
        self,
        database: FleetDatabase,
        lease: SliceLease,
        calls: Sequence[tuple[Call, CallState]],
        *,
        rule: RepeatRule,
        purse: SlicePurse,
        gate: RateGate,
        worker: str,
        endpoint: tuple[str, str],
        spill: SpillFile,
        watch: Callable[[list[tuple[str, str]]], None],
        all_sent: Callable[[], None] = lambda: None,
    ) -> None:
        self.path = Path("fleet") / lease.run
        self.refused: str | None = None
        """Why the database lets nothing be sent now: the state of the run, or that the lease is lost; None where it does."""
        self.is_over_budget = False
        """Whether a call did not fit. Those after it are not sent before it, as on one machine, until it is tried again."""
        self.is_idle = False
        """Whether nothing of the run was under way then."""
        self.is_first = False
        """Whether no earlier slice of the run was open then."""
        self._database = database
        self._lease = lease
        self.calls = tuple(calls)
        self._states = {call.key: state for call, state in calls}
        self._rule = rule
        self._purse = purse
        self._gate = gate
        self._worker = worker
        self._endpoint = endpoint
        self._spill = spill
        self._watch = watch
        self._all_sent = all_sent
        self._unsent = set(self.list_open())

    def list_open(self) -> list[str]:
        """Return the keys of calls that are to be made."""
        return [key for key, state in self._states.items() if self._rule.find_why(state) is not None]

    def find_outcomes(self, keys: Iterable[str]) -> dict[str, str | None]:
        """Return by key, for those of *keys* that are not to be sent, why they have no answer; None: they have one."""
        return {key: self._states[key].failure for key in keys if self._rule.find_why(self._states[key]) is None}

    def list_lost(self) -> list[CallIntent]:
        """Return nothing: what an earlier owner of the slice had left open was settled when this one took it."""
        return []

    def list_models(self) -> list[tuple[str, str]]:
        """Return every pair of model requested and model that answered, in the run."""
        rows = self._database.fetch("SELECT requested, returned FROM fleet.model WHERE run = %s ORDER BY 1, 2", [self._lease.run])
        return [(row[0], row[1]) for row in rows]

    def write(self, outcomes: Sequence[tuple[CallIntent, Response]], calls: Sequence[Call], *, at: str) -> Sequence[CallIntent | None]:
        """Write down what came back and that *calls* are about to be sent, in one transaction; None for those that must not be sent."""
        documents = [self._describe_outcome(intent, response) for intent, response in outcomes]
        if documents and (not calls or self._is_held_back):
            self._settle(documents)
            documents = []
        intents: list[CallIntent | None] = []
        for start in range(0, len(calls), LARGEST_SENDING):
            block = calls[start : start + LARGEST_SENDING]
            sent = frozenset() if self._is_held_back else self._send(block, at, documents)
            documents = []
            intents += [self._note_intent(call, at) if call.key in sent else None for call in block]
            self._unsent.difference_update(sent)
        if not self._unsent:
            self._all_sent()
        return intents

    @property
    def _is_held_back(self) -> bool:
        return self.refused is not None or self.is_over_budget

    def _note_intent(self, call: Call, at: str) -> CallIntent:
        number = self._states[call.key].round + 1
        self._states[call.key] = CallState(round=number, has_outcome=False, failure=None, session=self._rule.session)
        # The round identifies an intent of a call in the fleet.
        return CallIntent(id=number, key=call.key, request=call.request, purpose=call.purpose, at=at)

    def _send(self, calls: Sequence[Call], at: str, outcomes: Sequence[dict[str, Any]]) -> frozenset[str]:
        items = [self._describe_call(call) for call in calls]
        ticket = uuid.uuid4()
        guard = self._lease.guard

        def ask() -> Any:
            nonlocal outcomes
            try:
                return self._database.call(
                    "SELECT fleet.send(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb)",
                    *(self._lease.run, self._lease.session, self._lease.slice, self._lease.epoch, self._worker, ticket, at),
                    *(*self._endpoint, to_json(items), to_json(outcomes) if outcomes else None),
                )
            except DatabaseAwayError:
                self._spill_over(outcomes)
                outcomes = ()
                raise

        try:
            answer = repeat_until(ask, lambda: not guard.may_send)
        except DatabaseAwayError:
            # The rows may be there. They were not sent, and count as lost when the lease ends, for a later process cannot know.
            self.refused = "database-away"
            return frozenset()
        if answer["models"] is not None:
            self._watch([(requested, returned) for requested, returned in answer["models"]])
        self.refused = answer.get("refused")
        if self.refused is not None:
            return frozenset()
        self.is_over_budget, self.is_idle, self.is_first = bool(answer["over"]), answer["is_idle"], answer["is_first"]
        self._gate.is_limited = answer["rate"] is not None
        self._gate.pause(answer["paused_s"] or 0.0)
        return frozenset(answer["sent"])

    def _describe_call(self, call: Call) -> dict[str, Any]:
        bound, state = self._purse.get_bound(call.key), self._states[call.key]
        amount = {"input_tokens": bound.input_tokens, "output_tokens": bound.output_tokens, "usd": bound.usd}
        return {"key": call.key, "round": state.round + 1, "why": self._rule.find_why(state) or None, **amount}

    def _settle(self, outcomes: Sequence[dict[str, Any]]) -> None:
        try:
            models = self._database.call("SELECT fleet.settle(%s, %s, %s::jsonb)", self._lease.run, self._worker, to_json(outcomes))
        except DatabaseAwayError:
            self._spill_over(outcomes)
        else:
            self._watch([(requested, returned) for requested, returned in models])

    def _spill_over(self, outcomes: Sequence[dict[str, Any]]) -> None:
        """Keep *outcomes* on the disk of this machine: a worker that is killed while it waits for the database loses none of them."""
        if outcomes:
            self._spill.add(self._lease.run, self._worker, outcomes)
        # The database does not know them yet, so none of these calls may be sent in another round.
        for outcome in outcomes:
            self._states[outcome["key"]] = replace(self._states[outcome["key"]], has_outcome=False)

    def _describe_outcome(self, intent: CallIntent, response: Response) -> dict[str, Any]:
        spent = self._purse.pop_spent(intent.key)
        failure = None if response.failure is None else response.failure.code
        self._states[intent.key] = CallState(round=intent.id, has_outcome=True, failure=failure, session=self._rule.session)
        return {
            "key": intent.key,
            "round": intent.id,
            "failure": failure,
            "requested": response.model_requested,
            "returned": response.model_returned,
            "document": dump_response(response),
            "calls": spent.calls,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "usd": spent.usd,
        }


def report_limits(database: FleetDatabase, endpoint: tuple[str, str], rate: float | None, pause_s: float) -> None:
    """Write down what an answer said of the limits of *endpoint* (address and fingerprint of the key); all workers see it."""
    database.fetch(
        "INSERT INTO fleet.quota (endpoint, key, rate, paused_until) VALUES (%s, %s, %s, clock_timestamp() + make_interval(secs => %s))"
        " ON CONFLICT (endpoint, key) DO UPDATE SET rate = coalesce(excluded.rate, quota.rate),"
        " paused_until = greatest(quota.paused_until, excluded.paused_until)",
        [*endpoint, rate, pause_s],
    )
    if pause_s > 0:
        database.fetch("SELECT pg_notify('fleet_pause', %s)", [json.dumps({"endpoint": endpoint, "pause_s": pause_s})])
