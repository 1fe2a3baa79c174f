"""What the fleet asks of a queue engine: four functions, and nothing else that an engine can do."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from registry.errors import Fault, InputError, UnavailableError

ENGINES = ("procrastinate", "pgqueuer")
_SHORTEST_TIMEOUT_S = 10.0
_CANCELLATIONS = 10
_AGAIN_S = 1.0
SCHEMA = "fleet_queue"
"""The schema with the tables of the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A unit of work. It carries identifiers only: no prompt, key or score is in the queue."""

    kind: str
    run: str
    slice: int

    @property
    def name(self) -> str:
        """What makes a repetition unnecessary while the job waits."""
        return f"{self.kind}:{self.run}:{self.slice}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What the queue holds."""

    waiting: Mapping[str, int]
    """Jobs by kind."""
    running: Mapping[str, int]
    stalled: Mapping[str, int]
    names: frozenset[str] = field(default=frozenset())
    """Of the waiting jobs."""


class QueueStop:
    """How a worker is asked to take no more jobs."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    @property
    def is_set(self) -> bool:
        """Whether it was asked."""
        return self.event.is_set()

    def request(self) -> None:
        """Ask. To be called in the thread of the event loop."""
        self.event.set()


async def end_tasks(tasks: Iterable[asyncio.Task[Any]], *, patience_s: float = _AGAIN_S) -> None:
    """Cancel *tasks*, and again each that goes on after *patience_s* seconds; return when all have ended, or will not obey.

    One cancellation can be lost: `asyncio.wait_for` of Python 3.11 drops it where it comes together with a result. An engine needs several
    to leave a database that does not answer.
    """
    pending = set(tasks)
    for _ in range(_CANCELLATIONS):
        if not pending:
            return
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=patience_s)
        patience_s = min(patience_s, _AGAIN_S)


Handle = Callable[[Job], Awaitable[None]]


class JobQueue(Protocol):
    """A queue engine. It delivers a job at least once, perhaps late, perhaps twice; a job that is lost is put again."""

    def put(self, jobs: Sequence[Job]) -> None:
        """Add *jobs*; a waiting job of the same name is not added again."""

    async def work(self, kinds: Collection[str], handle: Handle, *, slots: int, stop: QueueStop) -> None:
        """Run *handle* for jobs of *kinds*, at most *slots* at once, until *stop*; sweep jobs of dead workers."""

    def cancel(self, run: str) -> int:
        """Remove the waiting jobs of *run*; return how many there were."""

    def look(self, run: str | None = None) -> Backlog:
        """Return what the queue holds, of *run* or in all."""


OpenQueue = Callable[[str, float], JobQueue]
"""From the address of the database and the seconds after which a silent worker is taken for dead."""


def choose_timeout(lease_s: float) -> float:
    """Return after how many seconds of silence the engine takes a worker for dead: as a lease ends, and never at once."""
    # A busy machine is silent for a moment, and the coordinator puts a job again as soon as the lease has ended.
    return max(lease_s, _SHORTEST_TIMEOUT_S)


def open_queue(engine: str, url: str, timeout_s: float) -> JobQueue:
    """Return the queue of the *engine* called so; raises UnavailableError where it is not installed."""
    queue: JobQueue = load_engine(engine).open_queue(url, timeout_s)
    return queue


def install_queue(engine: str, url: str) -> None:
    """Create the tables of *engine* in the schema `fleet_queue`."""
    load_engine(engine).install(url)


def load_engine(engine: str) -> "_EngineModule":
    """Return the module of *engine*; raises UnavailableError where it is not installed."""
    if engine not in ENGINES:
        raise InputError(Fault("unknown-name", "engine", f"{engine!r} is no queue engine that Caveat knows: {', '.join(ENGINES)}"))
    try:
        module: _EngineModule = importlib.import_module(f"fleet.queue.{engine}_engine")
    except ModuleNotFoundError as error:
        problem = f"this needs the library {error.name}, which is not installed here"
        raise UnavailableError(Fault("part-not-installed", error.name or engine, problem, advice="pip install 'caveat[fleet]'")) from error
    return module


class _EngineModule(Protocol):
    def open_queue(self, url: str, timeout_s: float) -> JobQueue:
        """Return the queue."""

    def install(self, url: str) -> None:
        """Create its tables."""
