"""The part of `caveat probe` that asks a classifier: what it would take, its calls, and the limits on them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from audit.cli.calls import Caller, count_up
from audit.replay.budget import Amount, check_prices, count_spent, count_waiting, estimate_call
from audit.replay.engine import UNSENT, Settings
from audit.replay.prices import Prices, discount, format_usd, read_prices
from audit.replay.store import Call, RunStore
from audit.replay.summary import RunSummary
from registry.cli.app import App
from registry.cli.progress import track
from registry.errors import AnswerNoError, Fault
from registry.records.replay import Budget, Policy, Probe


def report_plan(app: App, calls: Iterable[Call], wanted: Probe, options: Mapping[str, Any]) -> None:
    """Report what the calls that are known before the first one would come to; nothing is sent."""
    prices = _read_prices(options)
    amount = sum((estimate_call(one.body, discount(prices) if options["batch"] else prices) for one in calls), Amount())
    cost = "cost unknown: no price for it (--prices FILE)" if amount.usd is None else f"at most {format_usd(amount.usd)}"
    message = (
        f"{amount.calls:,} calls to {wanted.model}: about {amount.input_tokens:,} input tokens, at most {amount.output_tokens:,} output "
        f"tokens; {cost}; then one call for each prompt of a recognised passage"
    )
    document = {
        "schema": "caveat/probe-plan/1",
        "calls": amount.calls,
        "model": wanted.model,
        "input_tokens": amount.input_tokens,
        "most_output_tokens": amount.output_tokens,
        "most_usd": amount.usd if amount.calls else 0.0,
    }
    app.report(document, lambda console: console.print(message, markup=False))


def build_asker(app: App, store: RunStore, wanted: Probe, options: Mapping[str, Any]) -> Callable[[Iterable[Call], int], None]:
    """Return what makes the calls of a probe, within the limits that *options* set for all of them together.

    Raises:
        InputError: a limit in dollars without a price, also for the models that the folder holds calls to already.
    """
    prices = _read_prices(options)
    check_prices(Budget(usd=options["max_usd"]), prices, {wanted.model, *(one.model for one in store.sum_spent())})
    before = _count(store, prices)

    def ask(calls: Iterable[Call], most: int) -> None:
        settings = Settings(
            concurrency=options["concurrency"],
            retry_failed=options["retry_failed"],
            repeat_lost=options["repeat_lost"],
            budget=_allow(before, options),
            prices=prices,
        )
        policy = Policy(model=wanted.model, max_tokens=wanted.max_tokens, base_url=wanted.base_url)
        caller = Caller(app=app, store=store, policy=policy, settings=settings, timeout_s=options["timeout_s"])
        with track(app, "classifying", total=most, unit="calls") as advance:
            summary = caller.make(calls, count_up(advance), batch=options["batch"])
        _check_over(store, summary)

    return ask


def _read_prices(options: Mapping[str, Any]) -> Prices:
    return {} if options["prices"] is None else read_prices(options["prices"])


def _count(store: RunStore, prices: Prices) -> Amount:
    """Return what the folder has spent before this probe: the replay, earlier probes, calls lost in flight, and batches under way."""
    spent = count_spent(store, prices, UNSENT)
    return replace(spent + count_waiting(store, prices), calls=spent.calls + len(store.list_lost()))


def _allow(before: Amount, options: Mapping[str, Any]) -> Budget:
    """Return the budget of the folder in which the calls of now keep to their limits; budgets are for a folder as a whole."""
    calls, usd = options["max_calls"], options["max_usd"]
    return Budget(calls=None if calls is None else before.calls + calls, usd=None if usd is None else (before.usd or 0.0) + usd)


def _check_over(store: RunStore, summary: RunSummary) -> None:
    """An end before the last call is an error, so that no rate is made from a part."""
    folder = str(store.path.parent)
    if summary.stopped is not None and summary.stopped.code != "budget-spent":
        raise summary.stopped
    if summary.stopped is not None:
        found = "the limit on the calls of now is reached, and passages are still to be asked about; every answer that came is kept"
        raise AnswerNoError(Fault(code="budget-spent", where=folder, found=found, advice="run the same command again, or raise the limit"))
    if summary.interrupted:
        found = "ended by request before its last call; every answer that came is kept"
        raise AnswerNoError(Fault(code="interrupted", where=folder, found=found, advice="run the same command again"))
