"""The part of `caveat score` that asks a judge: its options, its calls, and what it tells of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from audit.cli.options import FILE
from registry.cli.application import App
from registry.errors import AnswerNoError, CaveatError, Fault
from registry.report.numbers import format_items

if TYPE_CHECKING:
    from rich.console import Console

    from audit.replay.call_engine import RunSummary
    from audit.replay.run_budget import Prices
    from audit.replay.run_store import RunStore
    from audit.score.judging import JudgingPlan
    from registry.records.replay_definition import Budget, Replay, Task
    from registry.records.specification import JudgeScorer

Command = TypeVar("Command", bound=Callable[..., object])


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """What the command line says of a judge's calls."""

    retry_failed: bool
    dry_run: bool
    prices: Path | None
    max_calls: int | None
    max_usd: float | None
    concurrency: int
    timeout_s: float
    batch: bool


def judge_options(command: Command) -> Command:
    """Give *command* the options of a judge's calls, under the names of `JudgeOptions`."""
    options = (
        click.option("--dry-run", is_flag=True, help="Judge: say how many calls, tokens and dollars it would take, and make none."),
        click.option("--retry-failed", is_flag=True, help="Judge: ask again where there was no verdict, by calls of their own."),
        click.option("--prices", metavar="FILE", type=FILE, help="Judge: prices of models, for dollars (caveat schema prices)."),
        click.option(
            "--max-calls", metavar="N", type=click.IntRange(1), help="Judge: calls that RUN may hold, those of the replay included."
        ),
        click.option("--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="Judge: dollars that RUN may cost in all."),
        click.option("--batch", is_flag=True, help="Judge: by Message Batches, after a first call alone; cheaper, and may take a day."),
        click.option(
            "--concurrency", metavar="N", type=click.IntRange(1), default=64, show_default=True, help="Judge: calls at once, at most."
        ),
        click.option(
            "--time-out",
            "timeout_s",
            metavar="SECONDS",
            type=click.FloatRange(1, 3600),
            default=600,
            show_default=True,
            help="Judge: of a call.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def judge(
    app: App, store: "RunStore", scorer: "JudgeScorer", asked: "tuple[Replay, dict[str, Task]]", options: JudgeOptions
) -> tuple[int, CaveatError | None]:
    """Ask for the verdicts that are missing; return how many scores are new, and why it ended early (None: it did not)."""
    from audit.cli.calls import Caller, count_up
    from audit.replay.call_engine import CallSettings
    from audit.replay.run_budget import check_prices
    from audit.score.judging import count_judgments, judge_run
    from registry.cli.application import track
    from registry.records.replay_definition import Policy

    replay, tasks = asked
    prices, budget = _read_prices(options), _build_budget(replay, options)
    check_prices(budget, prices, {scorer.model, replay.policy.model})
    policy = Policy(model=scorer.model, max_tokens=scorer.max_tokens, base_url=scorer.base_url or replay.policy.base_url)
    settings = CallSettings(concurrency=options.concurrency, budget=budget, prices=prices)
    caller = Caller(app=app, store=store, policy=policy, settings=settings, timeout_s=options.timeout_s)

    with track(app, "judging", total=count_judgments(store, scorer), unit="verdicts") as advance:
        show = count_up(advance)
        done = judge_run(
            store,
            scorer,
            tasks,
            lambda calls: caller.make(calls, show, batch=options.batch),
            ask_first=lambda calls: caller.make(calls, show),
            retry=options.retry_failed,
        )
    last, command = done.asked[-1] if done.asked else None, _name_command(store, replay, scorer)
    return done.verdicts, _find_end(store.path.parent, last, done.waiting, command)


def report_plan(app: App, store: "RunStore", scorer: "JudgeScorer", tasks: "dict[str, Task]", options: JudgeOptions) -> None:
    """Report what judging would come to; nothing is sent."""
    from audit.score.judging import plan_judging

    plan = plan_judging(store, scorer, tasks, _read_prices(options), retry=options.retry_failed)
    amount = plan.amount
    document = {
        "schema": "caveat/judging-plan/1",
        "model": scorer.model,
        "judgments": plan.judgments,
        "settled": plan.settled,
        "calls": amount.calls,
        "input_tokens": amount.input_tokens,
        "most_output_tokens": amount.output_tokens,
        "most_usd": amount.usd if amount.calls else 0.0,
    }
    app.report(document, lambda console: _print_plan(console, scorer, plan))


def summarise_judging(store: "RunStore", scorer: "JudgeScorer") -> tuple[dict[str, Any], list[str]]:
    """Return what the judge's scores come to, as a document and in lines."""
    from audit.score.judging import account_judging, describe_judge, describe_judging, describe_repeats

    account = account_judging(store, scorer)
    document = {
        "judge": describe_judge(scorer, account),
        "judge_uncertainty": describe_repeats(account),
        "arms": [
            {
                "arm": arm.arm,
                "responses": arm.responses,
                "judged": arm.judged,
                "excluded": dict(sorted(arm.excluded.items())),
                "cut": arm.cut,
                "mentions_scoring": arm.mentions_scoring,
            }
            for arm in account.arms
        ],
        "structured": account.structured,
        "plain": account.plain,
        "retried": account.retried,
    }
    return document, describe_judging(account)


def _print_plan(console: "Console", scorer: "JudgeScorer", plan: "JudgingPlan") -> None:
    from audit.replay.run_budget import format_usd
    from registry.cli.terminal_output import show

    amount = plan.amount
    cost = "cost unknown: no price for it (--prices FILE)" if amount.usd is None else f"at most {format_usd(amount.usd)}"
    console.print(show(f"{plan.judgments:,} verdicts, {plan.settled:,} of them without a call of their own"))
    if amount.calls:
        tokens = f"about {amount.input_tokens:,} input tokens and at most {amount.output_tokens:,} output tokens"
        console.print(show(f"{format_items(amount.calls, 'call')} to {scorer.model}: {tokens}; {cost}"))
    else:
        console.print("no call is to be made")


def _read_prices(options: JudgeOptions) -> "Prices":
    from audit.replay.run_budget import read_prices

    return {} if options.prices is None else read_prices(options.prices)


def _build_budget(replay: "Replay", options: JudgeOptions) -> "Budget":
    """The replay's budget, which is for the whole folder, with what the command line says instead."""
    from dataclasses import replace

    calls = replay.budget.calls if options.max_calls is None else options.max_calls
    usd = replay.budget.usd if options.max_usd is None else options.max_usd
    return replace(replay.budget, calls=calls, usd=usd)


def _name_command(store: "RunStore", replay: "Replay", scorer: "JudgeScorer") -> str:
    """What goes on with this judging; the replay's own scorer needs no name."""
    return f"caveat score {store.path.parent}{'' if replay.scoring == scorer else ' --scorer FILE|SCF-…@n'}"


def _find_end(folder: Path, last: "RunSummary | None", waiting: int, command: str) -> CaveatError | None:
    if last is None or (last.stopped is None and not last.interrupted):
        return None
    if last.stopped is not None and last.stopped.code != "budget-spent":
        return last.stopped
    if last.stopped is None:
        found = f"ended by request with {waiting:,} verdicts still to be asked for; every answer that came is kept"
        return AnswerNoError(Fault(code="interrupted", where=str(folder), found=found, advice=command))
    found = f"{last.stopped.faults[0].found}; {waiting:,} verdicts are still to be asked for, and those that came are kept"
    advice = f"{command} --max-calls N or --max-usd USD, which count the replay's calls too"
    return AnswerNoError(Fault(code="budget-spent", where=last.stopped.faults[0].where, found=found, advice=advice))
