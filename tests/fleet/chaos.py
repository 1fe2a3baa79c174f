"""Random schedules of kills, pauses, cuts and restarts of a fleet at work; the endpoint counts what was sent."""

import contextlib
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import psycopg

from audit.records.model_response import Purpose
from audit.replay.run_store import open_store
from fleet.database import FleetDatabase, repeat_until
from tests.endpoint.server import Asked, Endpoint, Reply, run_endpoint
from tests.fleet.fleet_processes import start_coordinator, start_worker
from tests.postgres import restart_server
from tests.replay.processes import Started
from tests.replay.replay_files import write_replay

LOST = "lost-in-flight"
_WORKERS = 3
_LONGEST_S = 120.0
_restarting = threading.Lock()


@dataclass
class ChaosResult:
    """What one schedule came to, by the endpoint's count and by the run folder."""

    seed: int
    events: list[str]
    calls: int
    sent: int
    sent_twice: int
    answered: int
    lost: int
    failures: Counter[str]
    without_outcome: int
    surplus: int
    """Outcomes of the database that count beyond one for each call."""
    unheld: bool
    """Whether the purse holds nothing at the end, and has spent what was answered or lost."""
    unpaid_answers: int
    """Answered calls that the endpoint never saw: it must be 0."""
    ignored: int
    elapsed_s: float = 0.0

    def find_faults(self) -> list[str]:
        """Return the laws that were broken."""
        laws = {
            "sent twice": self.sent_twice,
            "cells without outcome": self.without_outcome,
            "surplus outcomes": self.surplus,
            "answers that no one gave": self.unpaid_answers,
            "other failures": sum(self.failures.values()) - self.lost,
            "sent, and neither answered nor lost": max(0, self.sent - self.answered - self.lost),
            "purse": not self.unheld,
        }
        return [f"seed {self.seed} ({', '.join(self.events)}): {name}: {count}" for name, count in laws.items() if count]


@dataclass
class _Fleet:
    url: str
    server: str
    endpoint: Endpoint
    folder: Path
    chance: random.Random
    hostile: bool
    workers: list[Started] = field(default_factory=list)
    coordinator: Started | None = None
    numbers: int = 0

    def draw_seed(self) -> int | None:
        return self.chance.randint(0, 10**9) if self.hostile else None

    def add_worker(self) -> None:
        self.numbers += 1
        name = f"worker-{self.numbers}"
        self.workers.append(start_worker(self.url, self.endpoint, self.folder, name=name, hostile_seed=self.draw_seed()))

    def add_coordinator(self) -> None:
        self.coordinator = start_coordinator(self.url, self.endpoint, self.folder, hostile_seed=self.draw_seed())

    def kill_worker(self) -> None:
        worker = self.workers.pop(self.chance.randrange(len(self.workers)))
        _signal(worker, signal.SIGKILL)
        worker.communicate(timeout=60)
        self.add_worker()

    def restart_workers(self) -> None:
        """Start workers again that found no database when they started, as systemd or Kubernetes would."""
        for worker in [worker for worker in self.workers if worker.returncode is not None]:
            _, err = worker.communicate(timeout=60)
            assert "away" in err.lower() or "DatabaseAwayError" in err, err
            self.workers.remove(worker)
            self.add_worker()

    def pause_worker(self) -> None:
        worker = self.chance.choice(self.workers)
        _signal(worker, signal.SIGSTOP)
        threading.Timer(self.chance.uniform(0.3, 2.5), _signal, (worker, signal.SIGCONT)).start()

    def cut_connections(self) -> None:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.url, autocommit=True) as connection:
            share = self.chance.choice([0.3, 1.0])
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND random() < %s",
                [share],
            )

    def restart_database(self) -> None:
        with _restarting:
            restart_server(self.server)

    def kill_coordinator(self) -> None:
        assert self.coordinator is not None
        _signal(self.coordinator, signal.SIGKILL)
        self.coordinator.communicate(timeout=60)
        self.add_coordinator()


def _signal(process: Started, number: int) -> None:
    # It may have ended by itself.
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def run_schedule(
    seed: int, server: str, new_fleet: Callable[[], str], folder: Path, *, tasks: int = 20, is_hostile: bool = False, events: int = 4
) -> ChaosResult:
    """Run a replay of *tasks* × 4 calls through a schedule of *events* drawn from *seed*, to its end; return what was counted."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    write_replay(folder, tasks=tasks)
    started = time.monotonic()
    delays = random.Random(seed + 1)

    def answer(_asked: Asked) -> Reply:
        return Reply(delay_s=delays.uniform(0.02, 0.4))

    with run_endpoint(Endpoint(script=answer)) as endpoint:
        # Another schedule may be restarting the server.
        with _restarting:
            url = new_fleet()
        fleet = _Fleet(url=url, server=server, endpoint=endpoint, folder=folder, chance=chance, hostile=is_hostile)
        try:
            names = _carry_out(fleet, chance, events, calls=tasks * 4, deadline=started + _LONGEST_S)
            result = _count(seed, names, fleet, endpoint)
        finally:
            # A schedule that failed leaves no process behind.
            for process in (*fleet.workers, *([fleet.coordinator] if fleet.coordinator else ())):
                _signal(process, signal.SIGKILL)
    result.elapsed_s = time.monotonic() - started
    return result


def _carry_out(fleet: _Fleet, chance: random.Random, events: int, *, calls: int, deadline: float) -> list[str]:
    """Start the fleet, let the events happen, and wait for the end of the run and of its workers; return the events."""
    for _ in range(_WORKERS):
        fleet.add_worker()
    fleet.add_coordinator()
    names = _draw_events(chance, events)
    # Each event comes at a random share of the work, so that it meets a fleet in the middle of it on any machine.
    for name, share in zip(names, sorted(chance.uniform(0.02, 0.9) for _ in names), strict=True):
        _wait(lambda share=share: len(fleet.endpoint.posts()) >= share * calls, fleet, deadline)  # type: ignore[misc]
        getattr(fleet, name)()
    _finish(fleet, deadline)
    for worker in fleet.workers:
        _signal(worker, signal.SIGCONT)
        _signal(worker, signal.SIGTERM)
    for worker in fleet.workers:
        worker.communicate(timeout=60)
    return names


def _draw_events(chance: random.Random, count: int) -> list[str]:
    kinds = ["kill_worker", "pause_worker", "cut_connections", "kill_coordinator", "restart_database"]
    return chance.choices(kinds, weights=[4, 3, 3, 2, 1], k=count)


def _wait(is_reached: Callable[[], bool], fleet: _Fleet, deadline: float) -> None:
    while not is_reached() and time.monotonic() < deadline:
        if fleet.coordinator is not None and fleet.coordinator.returncode is not None:
            # Done already: what is lost is never sent, so a share of the calls may not be reached.
            return
        fleet.restart_workers()
        time.sleep(0.02)


def _finish(fleet: _Fleet, deadline: float) -> None:
    """Wait for the end of the run; a coordinator that ended without it is started again, as its user would."""
    while True:
        assert fleet.coordinator is not None
        while fleet.coordinator.returncode is None:
            assert time.monotonic() < deadline, f"the run did not end: {_describe(fleet)}"
            fleet.restart_workers()
            time.sleep(0.05)
        code, (out, err) = fleet.coordinator.returncode, fleet.coordinator.communicate(timeout=10)
        if code == 0:
            return
        assert time.monotonic() < deadline, out + err
        # A database that was restarting, a slice that was set aside: the command says how to go on.
        assert any(name in err for name in ("fleet-database-away", "slice-poisoned", "run-busy")), err
        fleet.add_coordinator()


def _describe(fleet: _Fleet) -> str:
    database = FleetDatabase(fleet.url)
    return str(
        [
            database.fetch(
                "SELECT slice, epoch, worker, until::text, is_released, is_parked, deaths, messages FROM fleet.lease WHERE NOT is_done"
            ),
            database.fetch("SELECT state FROM fleet.event ORDER BY id"),
            database.fetch("SELECT worker, message, seen FROM fleet.worker"),
        ]
    )


def _count(seed: int, names: list[str], fleet: _Fleet, endpoint: Endpoint) -> ChaosResult:
    store = open_store(fleet.folder / "small.run")
    try:
        responses = {response.key: response for response in store.list_responses(Purpose.REPLAY)}
        keys = [key for _, key in store.list_cells()]
        # The body of each call, by its key: with one sample, body and call are the same thing.
        bodies = {call.key: call.body["messages"][0]["content"] + str(call.body.get("system")) for call in store.list_calls()}
    finally:
        store.close()
    seen = Counter(asked.body["messages"][0]["content"] + str(asked.body.get("system")) for asked in endpoint.posts())
    database = FleetDatabase(fleet.url)
    sql: LiteralString = (
        "SELECT (SELECT count(DISTINCT (key, round)) FROM fleet.outcome), (SELECT count(*) FROM fleet.intent), held_calls, spent_calls,"
        " (SELECT count(*) FROM fleet.ignored) FROM fleet.purse, fleet.read_account(run)"
    )
    # Another schedule may be restarting the server.
    give_up = time.monotonic() + 30
    rows = repeat_until(lambda: database.fetch(sql), lambda: time.monotonic() > give_up)
    outcomes, intents, held, spent, ignored = rows[0]
    database.close()
    answered = [key for key, response in responses.items() if response.failure is None]
    failures = Counter(response.failure.code for response in responses.values() if response.failure is not None)
    return ChaosResult(
        seed=seed,
        events=names,
        calls=len(keys),
        sent=len(endpoint.posts()),
        sent_twice=sum(count - 1 for count in seen.values()),
        answered=len(answered),
        lost=failures[LOST],
        failures=failures,
        without_outcome=sum(key not in responses for key in keys),
        surplus=outcomes - intents,
        unheld=held == 0 and spent == len(answered) + failures[LOST],
        unpaid_answers=sum(seen[bodies[key]] == 0 for key in answered),
        ignored=ignored,
    )
