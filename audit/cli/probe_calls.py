"""The part of probe and model judge that asks a model: what it would take, its calls, and the limits on them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.cli.calls import Caller, count_up
from audit.cli.limits import allow, check_over, count_before
from audit.replay.call_engine import CallSettings
from audit.replay.run_budget import Prices, SpentAmount, check_prices, discount_batch, estimate_call, format_usd, read_prices
from audit.replay.run_store import Call, RunStore
from registry.cli.application import App, track
from registry.records.replay_definition import Budget, Policy, Probe
from registry.report.numbers import format_items


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What the calls of a command are for, in words."""

    schema: str
    """Of the document that says what they would take."""
    doing: str
    """The label of the progress bar."""
    open_: str
    """What is left to do where a limit ends them."""
    then: str = ""
    """What else would be asked; empty where nothing would."""


def report_plan(app: App, calls: Iterable[Call], wanted: Probe, options: Mapping[str, Any], asking: Asking) -> None:
    """Report what the calls that are known before the first one would come to; nothing is sent."""
    prices = _read_prices(options)
    amount = sum((estimate_call(one.body, discount_batch(prices) if options["batch"] else prices) for one in calls), SpentAmount())
    cost = "cost unknown: no price for it (--prices FILE)" if amount.usd is None else f"at most {format_usd(amount.usd)}"
    message = (
        f"{format_items(amount.calls, 'call')} to {wanted.model}: about {amount.input_tokens:,} input tokens, "
        f"at most {amount.output_tokens:,} output tokens; {cost}{asking.then}"
    )
    document = {
        "schema": asking.schema,
        "calls": amount.calls,
        "model": wanted.model,
        "input_tokens": amount.input_tokens,
        "most_output_tokens": amount.output_tokens,
        "most_usd": amount.usd if amount.calls else 0.0,
    }
    app.report(document, lambda console: console.print(message, markup=False))


def build_asker(
    app: App, store: RunStore, wanted: Probe, options: Mapping[str, Any], asking: Asking
) -> Callable[[Iterable[Call], int], None]:
    """Return what makes the calls of a command, within the limits that *options* set for all of them together.

    Raises:
        InputError: a limit in dollars without a price, also for the models that the folder holds calls to already.
    """
    prices = _read_prices(options)
    check_prices(Budget(usd=options["max_usd"]), prices, {wanted.model, *(one.model for one in store.sum_spent())})
    before = count_before(store, prices)

    def ask(calls: Iterable[Call], most: int) -> None:
        settings = CallSettings(
            concurrency=options["concurrency"],
            retry_failed=options["retry_failed"],
            repeat_lost=options["repeat_lost"],
            budget=allow(before, options),
            prices=prices,
        )
        policy = Policy(model=wanted.model, max_tokens=wanted.max_tokens, base_url=wanted.base_url)
        caller = Caller(app=app, store=store, policy=policy, settings=settings, timeout_s=options["timeout_s"])
        with track(app, asking.doing, total=most, unit="calls") as advance:
            summary = caller.make(calls, count_up(advance), batch=options["batch"])
        check_over(store, summary, open_=asking.open_)

    return ask


def _read_prices(options: Mapping[str, Any]) -> Prices:
    return {} if options["prices"] is None else read_prices(options["prices"])
