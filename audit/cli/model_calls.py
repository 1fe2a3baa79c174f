"""Calls that a command makes to a model: one way to send them, their limits, their plan, and how far they are."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from audit.cli.analysis_options import list_key_hosts
from audit.endpoints.endpoint_opening import open_endpoint
from audit.endpoints.model_endpoint import Endpoint
from audit.records.model_response import Purpose
from audit.replay.call_engine import UNSENT, CallSettings, HaltRequest, RunSummary, run_calls
from audit.replay.message_batches import run_batches
from audit.replay.run_budget import (
    Prices,
    SpentAmount,
    check_prices,
    count_spent,
    count_waiting,
    discount_batch,
    estimate_call,
    format_usd,
    read_prices,
)
from audit.replay.run_store import Call, RunStore
from registry.cli.application import App, track
from registry.cli.fleet_parts import load_fleet_part
from registry.errors import AnswerNoError, Fault, InputError
from registry.records.replay_run import Budget, Policy, Probe
from registry.report.number_format import format_items

# Calls made from the command line for judge and probe: one way to send them, to end at Ctrl-C, and to show how far they are.


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetUse:
    """Calls that the workers of a fleet make instead of this process, under the same limits."""

    url: str
    name: str
    """Of the replay: the run on the fleet is called after it."""
    purpose: Purpose
    policy: Policy
    timeout_s: float
    rate: float | None = None
    """Requests a second, for all workers together."""

    async def make(
        self,
        app: App,
        store: RunStore,
        calls: Iterable[Call],
        endpoint: Endpoint,
        settings: CallSettings,
        *,
        progress: Callable[[RunSummary], None],
        stop: HaltRequest,
    ) -> RunSummary:
        """Have *calls* made; the package `fleet` is found by an entry point and loaded here."""
        run_replay, request_type = load_fleet_part("replay"), load_fleet_part("replay-request")
        request = request_type(
            url=self.url,
            name=self.name,
            purpose=self.purpose,
            calls=calls,
            policy=self.policy,
            settings=settings,
            timeout_s=self.timeout_s,
            rate=self.rate,
        )
        summary: RunSummary = await run_replay(store, endpoint, request, progress=progress, tell=app.say, stop=stop)
        return summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What all calls of one command have in common."""

    app: App
    store: RunStore
    policy: Policy
    settings: CallSettings
    timeout_s: float = 600.0
    """Seconds that one request may take."""
    send_key_to: tuple[str, ...] = ()
    """Hosts that the user allows to get the key."""
    fleet: FleetUse | None = None
    """Who makes the calls; None: this process."""

    def make(self, calls: Iterable[Call], show: Callable[[RunSummary], None], *, batch: bool = False) -> RunSummary:
        """Make *calls*; Ctrl-C ends with what is under way, a second one leaves that too.

        Args:
            show: receives the progress.
            batch: by Message Batches; what the endpoint still works on at the end counts as interrupted.
        """
        return asyncio.run(self._make(calls, show, batch=batch))

    async def _make(self, calls: Iterable[Call], show: Callable[[RunSummary], None], *, batch: bool) -> RunSummary:
        halt, loop = HaltRequest(), asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: self._request(halt))
        try:
            async with open_endpoint(self.policy, timeout_s=self.timeout_s, send_key_to=self.send_key_to) as endpoint:
                if self.fleet is not None:
                    return await self.fleet.make(self.app, self.store, calls, endpoint, self.settings, progress=show, stop=halt)
                if not batch:
                    return await run_calls(self.store, calls, endpoint, self.settings, progress=show, stop=halt)
                done = await run_batches(self.store, calls, endpoint, self.settings, progress=show, tell=self.app.say, stop=halt)
                return replace(done.run, interrupted=True) if done.running else done.run
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _request(self, halt: HaltRequest) -> None:
        halt.request()
        self.app.say(
            "ending: waiting for the calls under way; Ctrl-C again leaves them" if halt.times == 1 else "leaving the calls under way"
        )


def count_up(advance: Callable[[int], None]) -> Callable[[RunSummary], None]:
    """Return what shows a run's summaries on a bar that *advance* moves: calls that are over, earlier ones included, never backwards."""
    shown = 0

    def show(summary: RunSummary) -> None:
        nonlocal shown
        done = summary.settled_before + summary.done
        advance(max(0, done - shown))
        shown = max(shown, done)

    return show


# Limits on the calls that one command makes now, in a run folder that may hold calls from before.


def count_before(store: RunStore, prices: Prices) -> SpentAmount:
    """Return what the folder has spent before: a replay, earlier commands, calls lost in flight, and batches under way."""
    spent = count_spent(store, prices, UNSENT)
    return replace(spent + count_waiting(store, prices), calls=spent.calls + len(store.list_lost()))


def allow(before: SpentAmount, options: Mapping[str, Any]) -> Budget:
    """Return the budget of the folder in which the calls of now keep to `max_calls` and `max_usd`; budgets are for a folder as a whole.

    Raises:
        InputError: a limit in dollars, and the cost of the calls before is not known.
    """
    calls, usd = options["max_calls"], options["max_usd"]
    # `check_prices` sees the models that answered. A request that was lost in flight or waits in a batch may be another model's.
    if usd is not None and before.usd is None:
        problem = f"is {usd:g}, and this folder has calls under way of a model without a price"
        advice = "add that model to --prices FILE, or limit the calls instead"
        raise InputError(Fault("price-missing", "--max-usd", problem, advice=advice))
    return Budget(
        calls=None if calls is None else before.calls + calls, usd=None if usd is None or before.usd is None else before.usd + usd
    )


def check_over(store: RunStore, summary: RunSummary, *, open_: str, earlier: Sequence[RunSummary] = ()) -> None:
    """Make an end before the last call an error, so that nothing is concluded from a part.

    Args:
        earlier: the rounds of this command before it, and their failed calls are counted too.
        open_: what is still to be done, such as "passages are still to be asked about".

    Raises:
        AnswerNoError: a limit was reached, or it was ended by request; what was answered is kept.
        CaveatError: what stopped it.
    """
    folder = str(store.path.parent)
    if summary.stopped is not None and summary.stopped.code != "budget-spent":
        raise summary.stopped
    if summary.stopped is not None:
        rounds = (*earlier, summary)
        failed, advice = _describe_failed(rounds), "run the same command again, or raise the limit"
        if failed and not any(run_summary.answered for run_summary in rounds):
            advice = "see that the endpoint answers (--base-url, the key, the name of the model) before the limit is raised"
        problem = f"the limit on the calls of now is reached, and {open_}; {failed or 'every answer that came is kept'}"
        raise AnswerNoError(Fault("budget-spent", folder, problem, advice=advice))
    if summary.interrupted:
        raise AnswerNoError(Fault("interrupted", folder, "ended by request before its last call; every answer that came is kept"))


def _describe_failed(rounds: Sequence[RunSummary]) -> str | None:
    """Return how many of the calls of now had no answer, and by which codes; None where each had one."""
    failures = sum((Counter(summary.failures) for summary in rounds), Counter[str]())
    if not failures:
        return None
    answered = sum(summary.answered for summary in rounds)
    codes = ", ".join(f"{many} × {code}" for code, many in sorted(failures.items(), key=lambda pair: (-pair[1], pair[0])))
    kept = f"the {answered:,} that were answered are kept" if answered else "nothing was answered"
    return f"{failures.total():,} of {sum(summary.done for summary in rounds):,} calls failed ({codes}), {kept}"


# The part of probe and model judge that asks a model: what it would take, its calls, and the limits on them.


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPurpose:
    """What the calls of a command are for, in words."""

    schema: str
    """Of the document that says what they would take."""
    doing: str
    """The label of the progress bar."""
    open_: str
    """What is left to do where a limit ends them."""
    then: str = ""
    """What else would be asked; empty where nothing would."""


def describe_amount(amount: SpentAmount, *, recipient: str = "") -> str:
    """Return in words what calls that are still to be made would take."""
    cost = "cost unknown: no price for it (--prices FILE)" if amount.usd is None else f"at most {format_usd(amount.usd)}"
    tokens = f"about {amount.input_tokens:,} input tokens, at most {amount.output_tokens:,} output tokens"
    return f"{format_items(amount.calls, 'call')}{recipient}: {tokens}; {cost}"


def report_plan(app: App, calls: Iterable[Call], wanted: Probe, options: Mapping[str, Any], asking: CallPurpose) -> None:
    """Report what the calls that are known before the first one would come to; nothing is sent."""
    prices = find_prices(options)
    amount = sum((estimate_call(call.body, discount_batch(prices) if options["batch"] else prices) for call in calls), SpentAmount())
    message = f"{describe_amount(amount, recipient=f' to {wanted.model}')}{asking.then}"
    document = {
        "schema": asking.schema,
        "calls": amount.calls,
        "model": wanted.model,
        "input_tokens": amount.input_tokens,
        "most_output_tokens": amount.output_tokens,
        "most_usd": amount.usd if amount.calls else 0.0,
    }
    app.answer(document, message)


def build_asker(
    app: App, store: RunStore, wanted: Probe, options: Mapping[str, Any], asking: CallPurpose
) -> Callable[[Iterable[Call], int], None]:
    """Return what makes the calls of a command, in one or several rounds, within the limits that *options* set for all of them together.

    Where every call has an outcome already, no endpoint is opened and no key is needed: recorded answers can be read by everyone.

    Raises:
        InputError: a limit in dollars without a price, also for the models that the folder holds calls to already.
    """
    prices = find_prices(options)
    check_prices(Budget(usd=options["max_usd"]), prices, {wanted.model, *(usage.model for usage in store.sum_spent())})
    before = count_before(store, prices)
    rounds: list[RunSummary] = []

    def ask(calls: Iterable[Call], most: int) -> None:
        remaining = _skip_settled(store, calls, options)
        if remaining is None:
            return
        settings = CallSettings(
            concurrency=options["concurrency"],
            retry_failed=options["retry_failed"],
            repeat_lost=options["repeat_lost"],
            budget=allow(before, options),
            prices=prices,
        )
        policy = Policy(model=wanted.model, max_tokens=wanted.max_tokens, base_url=wanted.base_url, api=wanted.api, key=wanted.key)
        hosts = list_key_hosts(options)
        caller = Caller(app=app, store=store, policy=policy, settings=settings, timeout_s=options["timeout_s"], send_key_to=hosts)
        with track(app, asking.doing, total=most, unit="calls") as advance:
            summary = caller.make(remaining, count_up(advance), batch=options["batch"])
        check_over(store, summary, open_=asking.open_, earlier=rounds)
        rounds.append(summary)

    return ask


def _skip_settled(store: RunStore, calls: Iterable[Call], options: Mapping[str, Any]) -> Iterator[Call] | None:
    """Return *calls* from the first chunk on that may have one to be made; None where there is none."""
    waiting, again = iter(calls), options["retry_failed"] or options["repeat_lost"]
    while chunk := list(islice(waiting, 500)):
        outcomes = store.find_outcomes(call.key for call in chunk)
        # A call that failed before it was sent is always made.
        if any(call.key not in outcomes or (failure := outcomes[call.key]) in UNSENT or (again and failure is not None) for call in chunk):
            return chain(chunk, waiting)
    return None


def find_prices(options: Mapping[str, Any]) -> Prices:
    """Return the prices of the file that *options* name; none without one."""
    return {} if options["prices"] is None else read_prices(options["prices"])
