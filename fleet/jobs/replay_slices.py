"""A worker makes the calls of slices with the replay engine."""

import asyncio
import hashlib
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version

from audit.endpoints.endpoint_opening import get_api, open_endpoint
from audit.endpoints.messages_api import KEY
from audit.endpoints.model_endpoint import OPENAI_KEY, Endpoint
from audit.records.model_response import Purpose
from audit.replay.call_engine import CallSettings, HaltRequest, build_changed, is_changed, make_calls
from audit.replay.request_pacing import RequestLimiter
from fleet.database import DatabaseAwayError, FleetDatabase
from fleet.jobs.slice_handler import UNABLE_S, SliceHandler, UnableError, WorkerPlace
from fleet.limits import RateGate, SliceLimiter, SlicePurse, SlotGrant
from fleet.runs.leases import SliceLease
from fleet.runs.run_states import SessionSettings, add_event, read_settings
from fleet.runs.slice_store import RepeatRule, SliceStore, read_slice, report_limits
from registry.errors import AnswerNoError, CaveatError, Fault, UnavailableError
from registry.records.replay_run import Policy
from registry.records.specification import NO_KEY, ModelApi

KINDS = (Purpose.REPLAY.value, Purpose.JUDGE.value)
"""Kinds of calls. One handler makes them all, so that they share the limits of an endpoint and a key."""
_AHEAD = 0.25
"""Share of the requests under way that more calls have begun: their intents are written, or their outcomes, while no place is idle. A
worker that is killed loses these calls too, although they were not sent."""
_GATHER_S = 0.1
"""Seconds that intents and outcomes wait for others at most. A transaction costs PostgreSQL a millisecond, however few they are."""
_OVER_BUDGET_S = 0.3
"""Seconds after which a slice asks again for the budget that calls under way may leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What the slices of one session of a run share in this worker."""

    settings: SessionSettings
    endpoint: Endpoint
    address: tuple[str, str]
    gate: RateGate
    limiter: RequestLimiter
    purse: SlicePurse


class ReplayHandler(SliceHandler):
    """Makes the calls of slices; limits are shared by the slices that one worker has at the same time."""

    def __init__(self, place: WorkerPlace) -> None:
        super().__init__(place)
        self._limiters: dict[tuple[str, str], RequestLimiter] = {}
        self._sessions: dict[tuple[str, int], _Session] = {}
        self._stack = AsyncExitStack()

    async def close(self) -> None:
        """Let go of the endpoints, when no slice is under way."""
        await super().close()
        await self._stack.aclose()

    async def work(self, database: FleetDatabase, lease: SliceLease, has_room: asyncio.Event) -> None:
        """Make the open calls of *lease*; what stops the run for a reason of its own is an event of the run."""
        place = self._place
        await asyncio.to_thread(place.note, database, f"calls of slice {lease.slice} of {lease.run}")
        try:
            session = await self._open_session(database, lease)
        except DatabaseAwayError:
            raise
        except CaveatError as error:
            raise UnableError(error) from error
        settings = session.settings
        halt, loop = HaltRequest(), asyncio.get_running_loop()
        calls = await asyncio.to_thread(read_slice, database, lease.run, lease.slice, lease.session)

        def watch(models: list[tuple[str, str]]) -> None:
            name = settings.policy.model
            returned = [answer for asked, answer in models if asked == name]
            if is_changed(name, returned, allow_alias=settings.policy.allow_alias):
                error = build_changed(session.endpoint, name, returned, calls[0][0].key)
                if add_event(database, lease.run, "stopped", error=error, worker=place.name):
                    loop.call_soon_threadsafe(halt.request)

        def free() -> None:
            loop.call_soon_threadsafe(has_room.set)

        store = SliceStore(
            database,
            lease,
            calls,
            rule=RepeatRule(session=lease.session, retry_failed=settings.retry_failed, repeat_lost=settings.repeat_lost),
            purse=session.purse,
            gate=session.gate,
            worker=place.name,
            endpoint=session.address,
            spill=place.spill,
            watch=watch,
            # The next slice is taken while the last answers of this one are awaited: no place at the endpoint is idle meanwhile.
            all_sent=free,
        )
        place.halts.add(halt)
        try:
            await self._repeat(database, lease, store, session, halt)
        finally:
            place.halts.discard(halt)

    async def _repeat(self, database: FleetDatabase, lease: SliceLease, store: SliceStore, session: "_Session", halt: HaltRequest) -> None:
        """Make the open calls until none is left, or none may be sent."""
        place, settings = self._place, session.settings
        calls = {call.key: call for call, _ in store.calls}
        how = CallSettings(
            concurrency=settings.concurrency,
            allow_alias=settings.policy.allow_alias,
            gather_s=_GATHER_S,
            prices=settings.prices,
            patience=place.patience,
        )

        def report(rate: float | None, pause_s: float) -> None:
            self._report(session.address, settings, rate, pause_s)

        while (keys := store.list_open()) and store.refused is None and not lease.guard.is_over and not halt.times:
            summary = await make_calls(
                store,
                [calls[key] for key in keys],
                session.endpoint,
                how,
                limiter=SliceLimiter(session.limiter, session.gate, lease.guard, report=report),
                purse=session.purse,
                clock=place.clock,
                stop=halt,
            )
            if summary.stopped is not None:
                await asyncio.to_thread(add_event, database, lease.run, "stopped", error=summary.stopped, worker=place.name)
                return
            if store.is_over_budget:
                if store.is_idle and store.is_first:
                    problem = "the next call could exceed it, and nothing is under way"
                    error = AnswerNoError(Fault("budget-spent", "budget", problem, advice="raise the budget, and run the command again"))
                    await asyncio.to_thread(add_event, database, lease.run, "stopped", error=error, worker=place.name)
                    return
                await asyncio.sleep(_OVER_BUDGET_S)
                if store.is_idle:
                    # Calls of an earlier slice come first, and may need this worker.
                    return
                store.is_over_budget = False

    async def _open_session(self, database: FleetDatabase, lease: SliceLease) -> "_Session":
        """Return the endpoint and the limits of the session of *lease*, which its slices share."""
        known = self._sessions.get((lease.run, lease.session))
        if known is not None:
            return known
        settings = await asyncio.to_thread(read_settings, database, lease.run, lease.session)
        endpoint = await self._stack.enter_async_context(self._open(settings))
        address = (endpoint.base_url, _fingerprint(settings.policy, self._place.environ))
        gate = self._find_gate(address)
        if settings.rate is not None:
            await asyncio.to_thread(report_limits, database, address, settings.rate, 0.0)
            gate.is_limited = True
        session = _Session(
            settings=settings,
            endpoint=endpoint,
            address=address,
            gate=gate,
            limiter=self._limiters.setdefault(address, RequestLimiter(cap=settings.concurrency, clock=time.monotonic, ahead=_AHEAD)),
            purse=SlicePurse(settings.prices),
        )
        return self._sessions.setdefault((lease.run, lease.session), session)

    def _open(self, settings: SessionSettings) -> Endpoint:
        """Return the endpoint as this worker's own environment has it; a run cannot send the key anywhere else."""
        place = self._place
        if settings.version != version("caveat"):
            problem = f"is Caveat {version('caveat')}, and the coordinator is {settings.version}"
            raise UnavailableError(Fault("worker-differs", place.name, problem))
        endpoint = open_endpoint(settings.policy, environ=place.environ, timeout_s=settings.timeout_s, send_key_to=place.send_key_to)
        if endpoint.base_url != settings.base_url:
            problem = f"would ask {endpoint.base_url}, and the coordinator named {settings.base_url}"
            raise UnavailableError(Fault("worker-differs", place.name, problem))
        return endpoint

    def _find_gate(self, address: tuple[str, str]) -> RateGate:
        if address not in self._place.gates:
            database = self._place.open_database()
            self._stack.callback(database.close)

            def ask(wanted: int) -> SlotGrant:
                # A worker that cannot ask sends nothing: its lease ends the wait.
                try:
                    answer = database.call("SELECT fleet.grant_slots(%s, %s, %s)", *address, wanted)
                except CaveatError:
                    return SlotGrant(count=0, wait_s=UNABLE_S)
                return SlotGrant(count=answer["count"], wait_s=answer["wait_s"], spacing_s=answer.get("spacing_s") or 0.0)

            self._place.gates[address] = RateGate(ask)
        return self._place.gates[address]

    def _report(self, address: tuple[str, str], settings: SessionSettings, rate: float | None, pause_s: float) -> None:
        """Tell all workers what was learned of the limits of *address*. A rate that the user stated is not replaced by a measured one."""
        known = rate if settings.rate is None else None
        if known is None and pause_s == 0:
            return

        def write() -> None:
            database = self._place.open_database()
            try:
                report_limits(database, address, known, pause_s)
            except CaveatError:
                return
            finally:
                database.close()

        asyncio.get_running_loop().run_in_executor(None, write)


def _fingerprint(policy: Policy, environ: Mapping[str, str]) -> str:
    """Return what tells keys apart without showing them: a rate limit belongs to a key."""
    name = policy.key or (OPENAI_KEY if get_api(policy) is ModelApi.OPENAI_CHAT else KEY)
    value = "" if name == NO_KEY else environ.get(name, "").strip()
    return hashlib.sha256(value.encode()).hexdigest()[:12]
