"""The part of `caveat claim propose` that asks a language model: what it would take, its calls, and the limits on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.cli.calls import Caller, count_up
from audit.cli.limits import allow, check_over, count_before
from audit.cli.propose_card import Found
from audit.propose.claude_engine import AnswerSession, forecast_calls, plan_calls, propose_by_claude
from audit.propose.window_questions import QuestionSettings
from audit.replay.call_engine import UNSENT, CallSettings, RunSummary
from audit.replay.run_budget import Prices, SpentAmount, check_prices, count_spent, format_usd, read_prices
from audit.replay.run_store import Call, RunStore, open_store
from registry.cli.application import App, track
from registry.records.claim_draft import Proposals
from registry.records.replay_definition import Budget, Policy
from registry.records.system_card import Outline
from registry.report.numbers import format_items


def report_plan(app: App, found: Found, outline: Outline, options: Mapping[str, Any]) -> None:
    """Report what asking about the card would come to; nothing is sent, and no folder is made."""
    asking, prices, folder = _build_asking(options), _read_prices(options), _name_folder(found, options)
    store = open_store(folder) if (folder / "responses.db").is_file() else None
    try:
        plan = forecast_calls(plan_calls(found.text, outline, asking, store=store), prices, store)
    finally:
        if store is not None:
            store.close()
    amount = plan.amount
    cost = "cost unknown: no price for it (--prices FILE)" if amount.usd is None else f"at most {format_usd(amount.usd)}"
    document = {
        "schema": "caveat/proposal-plan/1",
        "model": asking.model,
        "windows": plan.windows,
        "answered": plan.answered,
        "calls": amount.calls,
        "input_tokens": amount.input_tokens,
        "most_output_tokens": amount.output_tokens,
        "most_usd": amount.usd if amount.calls else 0.0,
    }
    tokens = f"about {amount.input_tokens:,} input tokens and at most {amount.output_tokens:,} output tokens"
    message = f"{format_items(amount.calls, 'call')} to {asking.model}: {tokens}; {cost}" if amount.calls else "no call is to be made"
    heading = f"{plan.windows:,} windows, {plan.answered:,} of them answered in {folder}"
    app.report(document, lambda console: console.print(f"{heading}\n{message}", markup=False))


def propose(app: App, found: Found, outline: Outline, options: Mapping[str, Any]) -> Proposals:
    """Return what the language model proposes; answers are kept in the run folder, and never asked for twice.

    Raises:
        CaveatError: a limit was reached, the endpoint cannot be used, or it was ended by request: what was answered is kept.
    """
    asking = _build_asking(options)
    with _open(_name_folder(found, options)) as store:
        prices = _read_prices(options)
        ask, before = _build_asker(app, store, asking, options), count_spent(store, prices, UNSENT)
        session = AnswerSession(store=store, ask=ask, retry_failed=options["retry_failed"], repeat_lost=options["repeat_lost"])
        try:
            return propose_by_claude(found.text, outline, found.source, asking, session)
        finally:
            app.say(_tell_spent(store, before, count_spent(store, prices, UNSENT)))


def _tell_spent(store: RunStore, before: SpentAmount, spent: SpentAmount) -> str:
    """Tell what was sent now, and what the run folder has cost in all."""
    cost = "cost unknown: no price for it (--prices FILE)" if spent.usd is None else format_usd(spent.usd)
    tokens = f"{spent.input_tokens:,} input, {spent.output_tokens:,} output"
    return f"{store.path.parent}: calls {spent.calls - before.calls:,} now, {spent.calls:,} in all; tokens in all {tokens}; {cost}"


def _build_asking(options: Mapping[str, Any]) -> QuestionSettings:
    asking = QuestionSettings(model=options["with_model"])
    return asking if options["max_tokens"] is None else replace(asking, max_tokens=options["max_tokens"])


def _name_folder(found: Found, options: Mapping[str, Any]) -> Path:
    """Where answers are kept: a folder for each card, so that the same command goes on."""
    run: Path | None = options["run"]
    return run or Path(f"{found.text.sha256[:12]}.proposing")


def _build_asker(app: App, store: RunStore, asking: QuestionSettings, options: Mapping[str, Any]) -> Callable[[Iterable[Call], int], None]:
    prices = _read_prices(options)
    check_prices(Budget(usd=options["max_usd"]), prices, {asking.model, *(one.model for one in store.sum_spent())})
    before = count_before(store, prices)
    policy = Policy(model=asking.model, max_tokens=asking.max_tokens, base_url=options["base_url"])

    rounds: list[RunSummary] = []

    def ask(calls: Iterable[Call], most: int) -> None:
        settings = CallSettings(
            concurrency=options["concurrency"],
            retry_failed=options["retry_failed"],
            repeat_lost=options["repeat_lost"],
            budget=allow(before, options),
            prices=prices,
        )
        caller = Caller(app=app, store=store, policy=policy, settings=settings, timeout_s=options["timeout_s"])
        with track(app, f"asking {asking.model}", total=most, unit="calls") as advance:
            summary = caller.make(calls, count_up(advance))
        check_over(store, summary, open_="parts of the card are still to be read", earlier=rounds)
        rounds.append(summary)

    return ask


def _read_prices(options: Mapping[str, Any]) -> Prices:
    return {} if options["prices"] is None else read_prices(options["prices"])


@contextmanager
def _open(folder: Path) -> Iterator[RunStore]:
    store = open_store(folder, create=True)
    try:
        yield store
    finally:
        store.close()
