"""The coordinator of calls on a fleet: it writes the plan, keeps the queue filled, and brings the outcomes into the run folder."""

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from audit.endpoints.model_endpoint import Endpoint
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import (
    LOST,
    UNSENT,
    CallSettings,
    HaltRequest,
    Progress,
    RunSummary,
    RunTally,
    find_fleet_run,
    hold_run,
    is_doubtful,
    name_fleet_document,
    read_clock,
    settle_lost,
)
from audit.replay.run_budget import SpentAmount, count_spent
from audit.replay.run_store import Call, RunStore
from fleet.database import DatabaseAwayError, FleetDatabase, hold_name, parse_address, read_meta
from fleet.queue.job_queue import Job, JobQueue, OpenQueue, choose_timeout, open_queue
from fleet.runs.leases import settle_expired
from fleet.runs.run_plan import WantedCalls, check_server, copy_outcomes, upload_plan
from fleet.runs.run_states import (
    SessionSettings,
    SliceCounts,
    add_event,
    count_slices,
    list_free_slices,
    open_session,
    read_event,
    read_spent,
    read_stop,
)
from registry.errors import AnswerNoError, CaveatError, ConflictError, Fault
from registry.records.replay_run import Policy
from registry.report.number_format import format_items

_SHORTEST_WAIT_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReplay:
    """Calls of a run folder that the fleet is asked to make: those of its replay, or of a judge of its responses."""

    url: str
    name: str
    """Of the replay; the run's name begins with it."""
    purpose: Purpose = Purpose.REPLAY
    calls: Iterable[Call]
    """In the order of the plan; read once. The same call twice is one call."""
    policy: Policy
    settings: CallSettings
    timeout_s: float
    rate: float | None = None


async def run_replay(
    store: RunStore,
    endpoint: Endpoint,
    request: FleetReplay,
    *,
    progress: Progress,
    tell: Callable[[str], None],
    stop: HaltRequest,
    make_queue: OpenQueue | None = None,
) -> RunSummary:
    """Have workers make the calls of *request* that have no outcome yet, and return what came of them in the run folder *store*.

    Raises:
        ConflictError: `run-busy`, another coordinator works on it; `batch-open`, calls wait in a batch; `database-moved`, the server is
            not the one the run was begun on.
        UnavailableError: the database cannot be reached.
    """
    url = parse_address(request.url)
    database = await asyncio.to_thread(FleetDatabase.open, url)
    with contextlib.closing(database), hold_run(store):
        # The calls that were under way when a process of this machine was killed may have been billed.
        lost = settle_lost(store, read_clock)
        _check_batches(store, request.purpose)
        # The name is on the disk before anything is in the database, so that a coordinator that is killed finds its run again.
        run = name_fleet_run(store, request.name, request.purpose)
        with hold_name(database, run) as take:
            meta = read_meta(database)
            make = make_queue or (lambda url, timeout_s: open_queue(meta["engine"], url, timeout_s))
            queue = make(url, choose_timeout(float(meta["lease_s"])))
            coordinator = _Coordinator(database, queue, run, store, request, lease_s=float(meta["lease_s"]), take=take, lost=lost)
            coordinator.prepare(endpoint)
            if coordinator.wanted:
                calls = format_items(coordinator.wanted, "call")
                tell(f"run {run}: {calls} for the workers of the fleet; caveat fleet show says who works on them")
            return await coordinator.run(progress, tell, stop)


def _check_batches(store: RunStore, purpose: Purpose) -> None:
    """Raise ConflictError where calls for *purpose* wait in a batch: this machine must collect it, and makes no call of a fleet."""
    waiting = sum(intent.purpose is purpose for intent in store.list_lost())
    if waiting:
        problem = f"{format_items(waiting, 'call')} of it wait in a batch at the endpoint, which a fleet does not collect"
        advice = "run the command with `--batch` until the batch has ended, or with `--cancel-batches`; then with `--fleet`"
        raise ConflictError(Fault("batch-open", str(store.path.parent), problem, advice=advice))


def name_fleet_run(store: RunStore, name: str, purpose: Purpose = Purpose.REPLAY) -> str:
    """Return the name of the run folder's run for *purpose* on the fleet, made of *name* and random digits if it has none yet."""
    run = find_fleet_run(store, purpose)
    if run is None:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "run"
        run = "-".join([plain, *([] if purpose is Purpose.REPLAY else [purpose.value]), secrets.token_hex(4)])
        store.put_document(name_fleet_document(purpose), {"run": run})
    return run


class _Coordinator:
    def __init__(
        self,
        database: FleetDatabase,
        queue: JobQueue,
        run: str,
        store: RunStore,
        request: FleetReplay,
        *,
        lease_s: float,
        take: Callable[[], bool],
        lost: int,
    ) -> None:
        self._database = database
        self._queue = queue
        self._run = run
        self._store = store
        self._request = request
        self._lease_s = lease_s
        self._take = take
        self._session = 0
        self._started = time.monotonic()
        self._before = SpentAmount()
        self._calls = 0
        self._lost = lost
        self.wanted = 0
        """Calls that are to be made now."""

    def prepare(self, endpoint: Endpoint) -> None:
        """Write plan and settings to the database, and begin a session."""
        settings, policy, purpose, store = self._request.settings, self._request.policy, self._request.purpose, self._store
        facts = check_server(self._database, self._run)
        # What an earlier coordinator left in the database comes first: it is part of what the folder has.
        for _ in copy_outcomes(self._database, self._run, store):
            pass
        is_replay = purpose is Purpose.REPLAY
        wanted = WantedCalls(
            purpose=purpose,
            calls=self._request.calls,
            cells=store.list_cells() if is_replay else (),
            documents=store.dump_documents() if is_replay else {name_fleet_document(purpose): {"run": self._run}},
            find_settled=self._find_settled,
            before=store.count_intents(purpose),
        )
        plan = upload_plan(self._database, self._run, wanted, facts)
        self._calls, self.wanted = plan.calls, plan.open
        # What the folder had spent before it came to the fleet.
        self._before = count_spent(self._store, settings.prices, UNSENT) - read_spent(self._database, self._run)
        self._session = open_session(
            self._database,
            self._run,
            SessionSettings(
                policy=policy,
                base_url=endpoint.base_url,
                concurrency=settings.concurrency,
                timeout_s=self._request.timeout_s,
                retry_failed=settings.retry_failed,
                repeat_lost=settings.repeat_lost,
                prices=dict(settings.prices),
                version=version("caveat"),
                rate=self._request.rate,
            ),
            settings.budget,
            self._before,
            unwanted=plan.unwanted,
        )

    def _find_settled(self, keys: Collection[str]) -> set[str]:
        """Return those of *keys* that are not to be sent now, as the engine of one machine decides it."""
        settings = self._request.settings
        again = UNSENT | ({LOST} if settings.repeat_lost else frozenset())
        known = self._store.find_outcomes(keys)
        return {
            key
            for key, failure in known.items()
            if failure is None or not (failure in again or (settings.retry_failed and failure != LOST))
        }

    async def run(self, progress: Progress, tell: Callable[[str], None], stop: HaltRequest) -> RunSummary:
        """Keep the queue filled until no slice is open, or the run is stopped; then close the session."""
        woken = asyncio.Event()
        stop.listen(woken.set)
        is_away = False
        wait_s, longest_wait_s = _SHORTEST_WAIT_S, min(1.0, self._lease_s / 4)
        counts: SliceCounts | None = None
        while True:
            try:
                counts = await asyncio.to_thread(self._step, stop)
                is_away = False
            except DatabaseAwayError as error:
                if not is_away:
                    tell(f"the database is away, and workers send nothing more: {error.faults[0].found}")
                is_away = True
                if stop.times > 1:
                    raise
            if counts is not None and not is_away:
                if counts.open == 0 or (counts.held == 0 and await asyncio.to_thread(self._is_stopped)) or stop.times > 1:
                    break
                progress(await asyncio.to_thread(self._summarise_progress))
            woken.clear()
            try:
                await asyncio.wait_for(woken.wait(), wait_s)
            except TimeoutError:
                # A run of a few calls, such as the first one of a judge, is over soon.
                wait_s = min(1.5 * wait_s, longest_wait_s)
        return await asyncio.to_thread(self._close, progress, counts, interrupted=bool(stop.times))

    def _step(self, stop: HaltRequest) -> SliceCounts:
        """Compare the open slices with the queue, and put what is missing there; return how far the slices are."""
        if not self._take():
            raise ConflictError(Fault("run-busy", self._run, "another coordinator took it while the database was away"))
        if stop.times:
            # Workers finish what is under way and send no more.
            add_event(self._database, self._run, "stopped")
            with contextlib.suppress(Exception):
                self._queue.cancel(self._run)
            if stop.times > 1:
                return count_slices(self._database, self._run)
        event = read_event(self._database, self._run)
        if event is not None and event.state == "running":
            free = list_free_slices(self._database, self._run)
            # The queue is a hint, and engines raise what they like while the database is away. The next step puts what is missing.
            with contextlib.suppress(Exception):
                self._fill_queue([Job(kind=self._request.purpose.value, run=self._run, slice=number) for number in free])
        elif event is not None and event.state == "stopped":
            settle_expired(self._database, self._run, read_clock())
        return count_slices(self._database, self._run)

    def _fill_queue(self, jobs: Sequence[Job]) -> None:
        waiting = self._queue.look(self._run).names if jobs else frozenset()
        self._queue.put([job for job in jobs if job.name not in waiting])

    def _is_stopped(self) -> bool:
        event = read_event(self._database, self._run)
        return event is not None and event.state == "stopped"

    def _close(self, progress: Progress, counts: SliceCounts, *, interrupted: bool) -> RunSummary:
        settle_expired(self._database, self._run, read_clock())
        add_event(self._database, self._run, "closed", after=("running", "paused", "stopped"))
        tally = RunTally(settled_before=self._calls - self.wanted, lost=self._lost)
        for session, response in copy_outcomes(self._database, self._run, self._store):
            if session == self._session:
                _count(tally, response)
        stopped = read_stop(self._database, self._run, self._session)
        if stopped is None and counts.parked and not interrupted:
            stopped = self._describe_poisoned(counts.parked)
        summary = self._summarise(tally, stopped=stopped, interrupted=interrupted)
        progress(summary)
        return summary

    def _describe_poisoned(self, parked: int) -> CaveatError:
        rows = self._database.fetch(
            "SELECT slice, messages FROM fleet.lease WHERE run = %s AND is_parked ORDER BY slice LIMIT 3", [self._run]
        )
        lines = [
            f"slice {number}: " + "; ".join(f"{message['worker']}: {message['message']}" for message in messages[-3:])
            for number, messages in rows
        ]
        problem = f"{parked} slices ended three workers each and were set aside; the others are done. {' | '.join(lines)}"
        return AnswerNoError(Fault("slice-poisoned", self._run, problem))

    def _summarise_progress(self) -> RunSummary:
        rows = self._database.fetch(
            "SELECT failure, sum(outcomes)::bigint FROM fleet.tally WHERE run = %s AND session = %s AND is_counted GROUP BY 1",
            [self._run, self._session],
        )
        tally = RunTally(settled_before=self._calls - self.wanted)
        for failure, count in rows:
            if failure:
                tally.failures[failure] = count
            else:
                tally.answered = count
        return self._summarise(tally, stopped=None, interrupted=False)

    def _summarise(self, tally: RunTally, *, stopped: CaveatError | None, interrupted: bool) -> RunSummary:
        return tally.summarise(
            spent=self._before + read_spent(self._database, self._run),
            elapsed_s=time.monotonic() - self._started,
            most_at_once=0,
            stopped=stopped,
            interrupted=interrupted and stopped is None,
        )


def _count(tally: RunTally, response: Response) -> None:
    """Add an outcome of this session to *tally*, with what the engine of the worker counted of its requests."""
    tally.add_model(response)
    tally.attempts += len(response.attempts)
    tally.maybe_billed_twice += sum(is_doubtful(attempt) for attempt in response.attempts[:-1])
    if response.failure is not None and response.failure.code == LOST:
        tally.lost += 1
    else:
        tally.add(response)
