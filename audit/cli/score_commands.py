"""`caveat audit score`: a run's responses become a score table, by a procedure, a judge or a person."""

import csv
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from audit.cli.analysis_options import FILE, send_key_option
from registry.cli.application import App, examples, pass_app
from registry.cli.fleet_parts import check_fleet, fleet_option, load_fleet_part, rate_option
from registry.codec.file_io import replacing
from registry.errors import AnswerNoError, CaveatError, ConflictError, Fault, InputError
from registry.present.blocks import Block
from registry.report.number_format import format_items

if TYPE_CHECKING:
    from audit.replay.call_engine import RunSummary
    from audit.replay.run_budget import Prices
    from audit.replay.run_store import Call, RunStore
    from audit.score.judging import JudgingPlan
    from audit.score.run_evidence import Side, SideCounts
    from registry.records.replay_run import Budget, Replay, Task
    from registry.records.specification import JudgeScorer, LabelScorer, Scorer

# The part of `caveat audit score` that asks a judge: its options, its calls, and what it tells of them.

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
    send_key_to: tuple[str, ...]
    batch: bool
    rate: float | None = None
    fleet: str | None = None
    """Address of the fleet whose workers score; None: this machine does."""


def judge_options(command: Command) -> Command:
    """Give *command* the options of a judge's calls, under the names of `JudgeOptions`."""
    options = (
        click.option("--dry-run", is_flag=True, help="Judge: say how many calls, tokens and dollars it would take, and make none."),
        click.option("--retry-failed", is_flag=True, help="Judge: ask again where there was no verdict, by calls of their own."),
        click.option("--prices", metavar="FILE", type=FILE, help="Judge: prices of models, for dollars (caveat admin schema prices)."),
        click.option(
            "--max-calls", metavar="N", type=click.IntRange(1), help="Judge: calls that RUN may hold, those of the replay included."
        ),
        click.option("--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="Judge: dollars that RUN may cost in all."),
        click.option("--batch", is_flag=True, help="Judge: by batches, after one first call; cheaper, and may take a day."),
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
        send_key_option("Judge: a "),
    )
    for option in reversed(options):
        command = option(command)
    return fleet_option(rate_option(command))


def judge(
    app: App, store: "RunStore", scorer: "JudgeScorer", replay_tasks: "tuple[Replay, dict[str, Task]]", options: JudgeOptions
) -> tuple[int, CaveatError | None]:
    """Ask for the verdicts that are missing; return how many scores are new, and why it ended early (None: it did not)."""
    from audit.cli.model_calls import Caller, FleetUse, count_up
    from audit.endpoints.endpoint_opening import follow_policy
    from audit.records.model_response import Purpose
    from audit.replay.call_engine import CallSettings, check_fleet_run
    from audit.replay.run_budget import check_prices
    from audit.score.judging import count_judgments, judge_run
    from registry.cli.application import track

    replay, tasks = replay_tasks
    prices, budget = _read_prices(options), _build_budget(replay, options)
    check_prices(budget, prices, {scorer.model, replay.policy.model})
    policy = follow_policy(replay.policy, scorer)
    settings = CallSettings(concurrency=options.concurrency, budget=budget, prices=prices)
    timeout_s, keys, purpose = options.timeout_s, options.send_key_to, Purpose.JUDGE
    fleet = None
    if options.fleet is not None:
        fleet = FleetUse(url=options.fleet, name=replay.name, purpose=purpose, policy=policy, timeout_s=timeout_s, rate=options.rate)
    caller = Caller(
        app=app, store=store, policy=policy, settings=settings, timeout_s=timeout_s, send_key_to=keys, fleet=fleet
    )  # fmt: skip

    def ask(calls: "Iterable[Call]", *, batch: bool) -> "RunSummary":
        # Only now: verdicts that are all here can be scored again without the fleet.
        check_fleet_run(store, purpose, on_fleet=options.fleet is not None)
        return caller.make(calls, show, batch=batch)

    with track(app, "judging", total=count_judgments(store, scorer), unit="verdicts") as advance:
        show = count_up(advance)
        done = judge_run(
            store,
            scorer,
            tasks,
            partial(ask, batch=options.batch),
            ask_first=partial(ask, batch=False),
            retry=options.retry_failed,
        )
    last, command = done.asked[-1] if done.asked else None, _name_command(store, replay, scorer, options.fleet)
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
    app.answer(document, _present_plan(scorer, plan))


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


def _present_plan(scorer: "JudgeScorer", plan: "JudgingPlan") -> Iterator[Block]:
    from audit.replay.run_budget import format_usd

    amount = plan.amount
    cost = "cost unknown: no price for it (--prices FILE)" if amount.usd is None else f"at most {format_usd(amount.usd)}"
    yield f"{plan.judgments:,} verdicts, {plan.settled:,} of them without a call of their own"
    if amount.calls:
        tokens = f"about {amount.input_tokens:,} input tokens and at most {amount.output_tokens:,} output tokens"
        yield f"{format_items(amount.calls, 'call')} to {scorer.model}: {tokens}; {cost}"
    else:
        yield "no call is to be made"


def _read_prices(options: JudgeOptions) -> "Prices":
    from audit.replay.run_budget import read_prices

    return {} if options.prices is None else read_prices(options.prices)


def _build_budget(replay: "Replay", options: JudgeOptions) -> "Budget":
    """The replay's budget, which is for the whole folder, with what the command line says instead."""
    from dataclasses import replace

    calls = replay.budget.calls if options.max_calls is None else options.max_calls
    usd = replay.budget.usd if options.max_usd is None else options.max_usd
    return replace(replay.budget, calls=calls, usd=usd)


def _name_command(store: "RunStore", replay: "Replay", scorer: "JudgeScorer", fleet: str | None) -> str:
    """What goes on with this judging; the replay's own scorer needs no name."""
    words = ["" if replay.scoring == scorer else " --scorer FILE|SCF-…@n", "" if fleet is None else f" --fleet {fleet}"]
    return f"caveat audit score {store.path.parent}{''.join(words)}"


def _find_end(folder: Path, last: "RunSummary | None", waiting: int, command: str) -> CaveatError | None:
    if last is None or (last.stopped is None and not last.interrupted):
        return None
    if last.stopped is not None and last.stopped.code != "budget-spent":
        return last.stopped
    if last.stopped is None:
        problem = f"ended by request with {waiting:,} verdicts still to be asked for; every answer that came is kept"
        return AnswerNoError(Fault("interrupted", str(folder), problem, advice=command))
    problem = f"{last.stopped.faults[0].found}; {waiting:,} verdicts are still to be asked for, and those that came are kept"
    advice = f"{command} --max-calls N or --max-usd USD, which count the replay's calls too"
    return AnswerNoError(Fault("budget-spent", last.stopped.faults[0].where, problem, advice=advice))


# `caveat audit score`: a run's responses become a score table.

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@examples(
    "audit score replay.run",
    "audit score replay.run --scorer judge.yaml --max-usd 5 --prices prices.yaml",
    "audit score replay.run --sheet labels.csv --items 50",
)
@click.command()
@click.argument("run", metavar="RUN", type=_FOLDER)
@click.option("--patterns-only", is_flag=True, help="Score by the tasks' patterns; no call is made, and a judge's scores stay.")
@click.option(
    "--scorer", "named", metavar="FILE|SCF-…@n", help="Score by this scorer instead of the replay's own (caveat admin schema scorer)."
)
@click.option("--sheet", type=_OUTPUT, help="Write a shuffled sheet of responses for a person to label, without arm and context.")
@click.option("--items", metavar="N", type=click.IntRange(1), help="Responses on the sheet, chosen at random; default: all.")
@click.option("--answers", type=FILE, help="Import the labels of a sheet; they are scores too, and written to labels.csv.")
@click.option("-o", "--output", type=_OUTPUT, help="The table; default: scores.csv in RUN, for another scorer scores-KIND.csv.")
@judge_options
@pass_app
def score(app: App, /, *, run: Path, output: Path | None, sheet: Path | None, items: int | None, **options: Any) -> None:
    """Score the responses of a run folder.

    By default the replay's own scorer is used. A judge is asked only for verdicts that RUN does not have yet. Each row of the score
    table is one scoring of one response; failed calls and unscorable responses are rows with their reasons. patterns.csv lists each
    pattern. The same scorer again changes nothing; scores by another one are added.
    """
    from audit.cli.score_presenter import present_scored, summarise_scored
    from audit.replay.run_store import get_replay, get_tasks, open_store
    from audit.score.scorers import digest_scorer

    named, patterns_only, answers = (options.pop(name) for name in ("named", "patterns_only", "answers"))
    check_fleet(options["fleet"], batch=options["batch"], rate=options["rate"])
    if sum(map(bool, (named, patterns_only, answers, sheet))) > 1:
        raise click.UsageError("give one of --patterns-only, --scorer, --sheet and --answers")
    if items is not None and sheet is None:
        raise click.UsageError("--items belongs to a sheet: --sheet FILE")
    store = open_store(run)
    try:
        replay, tasks = get_replay(store), get_tasks(store)
        if sheet is not None:
            write_sheet(app, store, tasks, sheet, items=items)
            return
        judging = JudgeOptions(**options)
        scorer = None if answers else _choose_scorer(app, replay, named, patterns_only=patterns_only)
        if judging.dry_run:
            _report_plan(app, store, scorer, tasks, judging)
            return
        scorer, changed, ended = _score(app, store, scorer or answers, (replay, tasks), judging)
        is_own = replay.scoring in (None, scorer)
        path = output or run / ("scores.csv" if is_own else f"scores-{scorer.kind}.csv")
        written, tallies = _write(store, scorer, path)
        summary, lines = _summarise_judging(store, scorer)
    finally:
        store.close()
    document = {
        **summarise_scored(written, scorer, digest_scorer(scorer), tallies, tasks.values(), changed=changed),
        "audits": list(replay.audits),
        **summary,
    }
    app.answer(document, present_scored(document, tallies, run if is_own else None, lines))
    if ended is not None:
        raise ended


def _choose_scorer(app: App, replay: "Replay", named: str | None, *, patterns_only: bool) -> "Scorer":
    """Return the scorer that the options name, or the replay's own."""
    from registry.records.specification import PatternScorer

    if patterns_only:
        return replay.scoring if isinstance(replay.scoring, PatternScorer) else PatternScorer(kind="pattern")
    if named is not None:
        return _find_registered(app, named) if named.startswith("SCF-") else _read_scorer(Path(named))
    if replay.scoring is None:
        raise InputError(Fault("scorer-missing", replay.name, "the replay names no scorer"))
    return replay.scoring


def _read_scorer(path: Path) -> "Scorer":
    from audit.score.scorers import read_scorer
    from registry.codec.file_io import read_document

    return read_scorer(read_document(path), where=str(path))


def _find_registered(app: App, reference: str) -> "Scorer":
    from registry.records.specification import ScoringSpec, SpecKind
    from registry.registration.specification_registration import get_spec

    with app.view() as view:
        body = view.open_spec(get_spec(view, SpecKind.SCORING, reference, owner=app.config.authority))
    if not isinstance(body, ScoringSpec) or body.procedure is None:
        text = "it is sealed" if body is None else "it is described only in words, without a procedure"
        raise InputError(Fault("scorer-missing", reference, f"{text}, so it cannot be run"))
    return body.procedure


def carry_out(
    app: App,
    store: "RunStore",
    scorer: "Scorer",
    replay_tasks: "tuple[Replay, dict[str, Task]]",
    options: JudgeOptions,
) -> tuple[int, CaveatError | None]:
    """Score what is not scored yet; return how many scores are new, and why a judge was not asked to the end (None: it was)."""
    from audit.score.scorers import is_deterministic, mark_here, score_run
    from registry.cli.application import track
    from registry.records.specification import JudgeScorer

    if isinstance(scorer, JudgeScorer):
        return judge(app, store, scorer, replay_tasks, options)
    if not is_deterministic(scorer):
        _refuse_fleet(options)
        problem = "the replay is scored by the labels of a person"
        advice = f"caveat audit score {store.path.parent} --sheet labels.csv writes a sheet to be filled in; --answers takes it in"
        raise InputError(Fault("labels-missing", str(store.path.parent), problem, advice=advice))
    with track(app, "scoring", total=store.count_cells(), unit="responses") as advance:
        mark_all = mark_here if options.fleet is None else partial(load_fleet_part("score"), options.fleet, tell=app.say)
        return score_run(store, scorer, replay_tasks[1], advance=advance, mark_all=mark_all), None


def _score(
    app: App,
    store: "RunStore",
    scorer_or_labels: "Scorer | Path",
    replayed: "tuple[Replay, dict[str, Task]]",
    judging: JudgeOptions,
) -> "tuple[Scorer, int, CaveatError | None]":
    """Score by a scorer, or take the labels of a file in; return whose scores they are, how many are new, and what ended a judge."""
    if isinstance(scorer_or_labels, Path):
        _refuse_fleet(judging)
        return *take_answers(store, replayed[0], scorer_or_labels), None
    return scorer_or_labels, *carry_out(app, store, scorer_or_labels, replayed, judging)


def _refuse_fleet(options: JudgeOptions) -> None:
    """Refuse a fleet where people score: what there is to do is to copy a file."""
    if options.fleet is not None:
        problem = "people give labels, and this command only copies them from a file: there is no work that workers could share"
        raise InputError(Fault("bad-option", "--fleet", problem, advice="leave out --fleet"))


def _report_plan(app: App, store: "RunStore", scorer: "Scorer | None", tasks: "dict[str, Task]", options: JudgeOptions) -> None:
    from registry.records.specification import JudgeScorer

    if not isinstance(scorer, JudgeScorer):
        raise click.UsageError("--dry-run is for a judge: this scorer makes no call")
    report_plan(app, store, scorer, tasks, options)


def _summarise_judging(store: "RunStore", scorer: "Scorer") -> tuple[dict[str, Any], list[str]]:
    """Return what a judge's scores come to, for document and terminal; nothing for other scorers."""
    from registry.records.specification import JudgeScorer

    if not isinstance(scorer, JudgeScorer):
        return {}, []
    document, lines = summarise_judging(store, scorer)
    return {"judging": document}, lines


def _write(store: "RunStore", scorer: "Scorer", path: Path) -> "tuple[dict[str, Path], dict[Side, SideCounts]]":
    """Write the table, and pattern tests or labels where there are any; return their paths by name, and the counts of each side."""
    from audit.replay.run_rows import list_rows, read_clusters, write_patterns, write_table
    from audit.score.run_evidence import sort_sides, watch_rows
    from audit.score.scorers import build_settled, digest_scorer, get_judge, list_dimensions, list_marks
    from registry.records.specification import LabelScorer, PatternScorer

    digest, counts = digest_scorer(scorer), dict[Any, Any]()
    rows = watch_rows(list_rows(store, digest, judge=get_judge(scorer)), counts)
    write_table(
        rows,
        path,
        dimensions=list_dimensions(scorer),
        marks=list_marks(scorer),
        is_settled=build_settled(scorer),
        clusters=read_clusters(store),
    )
    written = {"table": path}
    if isinstance(scorer, LabelScorer):
        written["labels"] = path.with_name(LABELS)
        write_labels(store, scorer, written["labels"])
    elif isinstance(scorer, PatternScorer):
        written["patterns"] = path.with_name("patterns.csv")
        write_patterns(list_rows(store, digest), written["patterns"])
    return written, sort_sides(counts)


# The part of `caveat audit score` that goes through a person: sheets out, labels in.

LABELS = "labels.csv"
"""What `caveat analyze judge --labels` reads."""


def write_sheet(app: App, store: "RunStore", tasks: "Mapping[str, Task]", sheet: Path, *, items: int | None) -> None:
    """Write a shuffled sheet of responses without arm or context to *sheet*; raises ConflictError where a file is."""
    from audit.score.scorers import SHEET_COLUMNS, sample_sheet
    from registry.present.answers import write_cell

    if sheet.exists():
        raise ConflictError(Fault("file-exists", str(sheet), "there is a file of this name, which may contain labels"))
    drawn = sample_sheet(store, tasks, seed=secrets.token_hex(16), items=items)
    rows = ((row.sheet, row.item, write_cell(row.task), write_cell(row.response), "") for row in drawn)
    _write_csv(sheet, SHEET_COLUMNS, rows)
    run = str(store.path.parent)
    following = f"fill in the column label, then: caveat audit score {quote(run)} --answers {quote(str(sheet))}"
    app.answer(
        {"schema": "caveat/label-sheet/1", "sheet": drawn[0].sheet, "file": str(sheet), "items": len(drawn)},
        f"{len(drawn):,} responses, shuffled, without arm and context: {sheet}\nNext: {following}",
    )


def take_answers(store: "RunStore", replay: "Replay", answers: Path) -> "tuple[LabelScorer, int]":
    """Keep the labels in *answers* as scores; return their scorer, and how many there were."""
    from audit.score.scorers import ANSWER_COLUMNS, take_labels
    from audit.sources.rating_files import read_fields
    from registry.records.specification import LabelScorer

    scorer = replay.scoring if isinstance(replay.scoring, LabelScorer) else LabelScorer(kind="label")
    return scorer, take_labels(store, scorer, read_fields(answers, required=ANSWER_COLUMNS, known=("task", "response")))


def write_labels(store: "RunStore", scorer: "LabelScorer", path: Path) -> None:
    """Write the labels next to their rows to *path*, as `caveat analyze judge --labels` reads them; contexts without a cue have none."""
    from audit.replay.run_rows import TableRow, list_rows
    from audit.score.scorers import digest_scorer

    rows = (row for row in list_rows(store, digest_scorer(scorer)) if isinstance(row, TableRow))
    labelled = (row for row in rows if row.value is not None and row.cell.cue_removed is None)
    columns = ("task_id", "arm", "spec", "context_id", "sample", "label")
    cells = ((row.cell, repr(row.value)) for row in labelled)
    _write_csv(
        path, columns, ((cell.task_id, cell.arm, cell.spec or "", cell.context_id, str(cell.sample), label) for cell, label in cells)
    )


def _write_csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
