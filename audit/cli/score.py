"""`caveat score`: a run's responses become a score table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE
from audit.cli.score_judge import JudgeOptions, judge_options
from registry.cli.application import App, pass_app
from registry.errors import CaveatError, Fault, InputError

if TYPE_CHECKING:
    from audit.replay.run_store import RunStore
    from audit.score.run_evidence import Side, SideCounts
    from registry.records.replay_definition import Replay, Task
    from registry.records.specification import Scorer

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("run", metavar="RUN", type=_FOLDER)
@click.option("--patterns-only", is_flag=True, help="Score by the tasks' patterns; no call is made, and a judge's scores stay.")
@click.option("--scorer", "named", metavar="FILE|SCF-…@n", help="Score by this scorer instead of the replay's own (caveat schema scorer).")
@click.option("--sheet", type=_OUTPUT, help="Write a shuffled sheet of responses for a person to label, without arm and context.")
@click.option("--items", metavar="N", type=click.IntRange(1), help="Responses on the sheet, drawn by chance; default: all.")
@click.option("--answers", type=FILE, help="Take in the labels of a sheet; they are scores too, and stand in labels.csv.")
@click.option("-o", "--output", type=_OUTPUT, help="The table; default: scores.csv in RUN, for another scorer scores-KIND.csv.")
@judge_options
@pass_app
def score(app: App, /, *, run: Path, output: Path | None, sheet: Path | None, items: int | None, **options: Any) -> None:
    """Score or re-score the responses in the run folder RUN, and write its score table.

    By default the replay's own scorer is used; a judge is asked only for verdicts that RUN does not hold yet. Every row of the table
    is one scoring of one response; failed calls, and responses that cannot be scored, are rows with their reason. Patterns are also
    written one by one, to patterns.csv beside the table. Scoring again by the same scorer changes nothing; scores by another stand
    beside the first.
    """
    from audit.cli.score_labels import write_sheet
    from audit.cli.score_text import print_scored, summarise_scored
    from audit.replay.run_store import get_replay, get_tasks, open_store
    from audit.score.scorers import digest_scorer

    named, patterns_only, answers = (options.pop(name) for name in ("named", "patterns_only", "answers"))
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
        told, lines = _summarise_judging(store, scorer)
    finally:
        store.close()
    document = {
        **summarise_scored(written, scorer, digest_scorer(scorer), tallies, tasks.values(), changed=changed),
        "audits": list(replay.audits),
        **told,
    }
    app.report(document, lambda console: print_scored(console, document, tallies, run if is_own else None, lines))
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
        found = "the replay names no scorer"
        advice = "give one with --scorer FILE (caveat schema scorer), or --patterns-only for tasks with patterns"
        raise InputError(Fault(code="scorer-missing", where=replay.name, found=found, advice=advice))
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
        said = "it is sealed" if body is None else "it is described in words alone, without a procedure"
        raise InputError(Fault(code="scorer-missing", where=reference, found=f"{said}, so it cannot be carried out"))
    return body.procedure


def carry_out(
    app: App, store: "RunStore", scorer: "Scorer", asked: "tuple[Replay, dict[str, Task]]", options: JudgeOptions
) -> tuple[int, CaveatError | None]:
    """Score what is not scored yet; return how many scores are new, and why a judge was not asked to the end (None: it was)."""
    from audit.cli.score_judge import judge
    from audit.score.scorers import is_deterministic, score_run
    from registry.cli.application import track
    from registry.records.specification import JudgeScorer

    if isinstance(scorer, JudgeScorer):
        return judge(app, store, scorer, asked, options)
    if not is_deterministic(scorer):
        found = "the replay is scored by the labels of a person"
        advice = f"caveat score {store.path.parent} --sheet labels.csv writes a sheet to be filled in; --answers takes it in"
        raise InputError(Fault(code="labels-missing", where=str(store.path.parent), found=found, advice=advice))
    with track(app, "scoring", total=store.count_cells(), unit="responses") as advance:
        return score_run(store, scorer, asked[1], advance=advance), None


def _score(
    app: App, store: "RunStore", asked: "Scorer | Path", replayed: "tuple[Replay, dict[str, Task]]", judging: JudgeOptions
) -> "tuple[Scorer, int, CaveatError | None]":
    """Score by a scorer, or take the labels of a file in; return whose scores they are, how many are new, and what ended a judge."""
    from audit.cli.score_labels import take_answers

    if isinstance(asked, Path):
        return *take_answers(store, replayed[0], asked), None
    return asked, *carry_out(app, store, asked, replayed, judging)


def _report_plan(app: App, store: "RunStore", scorer: "Scorer | None", tasks: "dict[str, Task]", options: JudgeOptions) -> None:
    from audit.cli.score_judge import report_plan
    from registry.records.specification import JudgeScorer

    if not isinstance(scorer, JudgeScorer):
        raise click.UsageError("--dry-run is for a judge: this scorer makes no call")
    report_plan(app, store, scorer, tasks, options)


def _summarise_judging(store: "RunStore", scorer: "Scorer") -> tuple[dict[str, Any], list[str]]:
    """Return what a judge's scores come to, for document and terminal; nothing for other scorers."""
    from audit.cli.score_judge import summarise_judging
    from registry.records.specification import JudgeScorer

    if not isinstance(scorer, JudgeScorer):
        return {}, []
    document, lines = summarise_judging(store, scorer)
    return {"judging": document}, lines


def _write(store: "RunStore", scorer: "Scorer", path: Path) -> "tuple[dict[str, Path], dict[Side, SideCounts]]":
    """Write the table, and pattern tests or labels where there are any; return their paths by name, and the counts of each side."""
    from audit.cli.score_labels import LABELS, write_labels
    from audit.replay.run_rows import list_rows, read_clusters, write_patterns, write_table
    from audit.score.run_evidence import sort_sides, watch_rows
    from audit.score.scorers import build_settled, digest_scorer, get_judge, list_dimensions, list_marks
    from registry.records.specification import LabelScorer, PatternScorer

    digest, found = digest_scorer(scorer), dict[Any, Any]()
    rows = watch_rows(list_rows(store, digest, judge=get_judge(scorer)), found)
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
    return written, sort_sides(found)
