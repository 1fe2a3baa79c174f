"""`caveat skills`: a skill-contamination study, run as an audit: list, generate, score, analyse."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE
from audit.cli.score_judge import JudgeOptions, judge_options
from registry.cli.app import App, pass_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from audit.replay.store import RunStore
    from audit.skills.study import StudyFile
    from registry.errors import CaveatError

_FOLDER = click.Path(file_okay=False, path_type=Path)
_STUDY = click.argument("path", metavar="STUDY", type=FILE)
_RUN_HELP = "The run folder; default: STUDY with the ending .run."
_RUN = click.option("--run", "folder", metavar="DIR", type=_FOLDER, help=_RUN_HELP)
_SKILL = click.option("--skill", "skills_", metavar="NAME", multiple=True, help="Only this skill. May be repeated.")
_TASK = click.option("--task", "tasks", metavar="ID", multiple=True, help="Only this task: SKILL/ID, or ID. May be repeated.")


@click.group()
def skills() -> None:
    """Run a skill-contamination study: does loading a skill make the generated code worse?

    STUDY names skills, tasks, conditions, model and judge (caveat schema skill-study). Conditions are arms: A nothing loaded, B the
    skill, C the skill without its references, D the skill in a realistic context, E that context without the skill.
    """


@skills.command("list")
@_STUDY
@_RUN
@pass_app
def list_(app: App, /, *, path: Path, folder: Path | None) -> None:
    """List the skills of STUDY, and what was generated and scored of each so far."""
    from audit.cli.skills_text import print_listing, summarise_listing
    from audit.replay.store import DATABASE
    from audit.skills.plan import Selection, build_replay, plan_calls
    from audit.skills.progress import take_stages
    from audit.skills.recording import list_outcomes
    from audit.skills.study import read_study

    file = read_study(path)
    planned = {one.cell for one in plan_calls(file, build_replay(file), Selection())}
    run = folder or path.with_suffix(".run")
    stages = {}
    if (run / DATABASE).is_file():
        with _open(file, run) as store:
            outcomes = list_outcomes(store, file)
        stages = take_stages(outcomes)
        planned |= {one.cell for each in outcomes.values() for one in each}
    document = summarise_listing(file, planned, stages, run)
    app.report(document, lambda console: print_listing(console, document))


@skills.command()
@_STUDY
@click.option("-o", "--run", "folder", metavar="DIR", type=_FOLDER, help=_RUN_HELP)
@_SKILL
@_TASK
@click.option("--condition", "conditions", metavar="ARM", multiple=True, help="Only this condition, A to E or its name. May be repeated.")
@click.option("--samples", metavar="N", type=click.IntRange(1), help="Responses to each task under each condition; default: the study's.")
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, and send nothing.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=64, show_default=True, help="Most requests at once.")
@click.option("--retry-failed", is_flag=True, help="Send calls again that failed.")
@click.option("--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice.")
@click.option("--prices", type=FILE, help="Prices by model (caveat schema prices); without them, cost is unknown.")
@click.option(
    "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
)
@click.option("--batch", is_flag=True, help="Use Message Batches: cheaper, and done within a day.")
@pass_app
def generate(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Make the calls of STUDY, or of a part of it, and keep every response in a run folder.

    Run again, it makes only the calls that have no outcome yet; more samples, or another part, add to the same folder. Failed calls
    are kept with their reason. The key is read from ANTHROPIC_API_KEY, and kept nowhere.
    """
    from audit.cli.run import carry_out
    from audit.cli.run_text import print_forecast, summarise_forecast
    from audit.cli.skills_session import open_study_session

    session = open_study_session(path, folder or path.with_suffix(".run"), options)
    if options["dry_run"]:
        app.report(summarise_forecast(session), lambda console: print_forecast(console, session))
        return
    carry_out(app, session)


@skills.command()
@_STUDY
@_RUN
@_SKILL
@_TASK
@click.option("--patterns-only", is_flag=True, help="Look for the patterns alone; no call is made, and the judge's scores stay.")
@judge_options
@pass_app
def score(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Score the responses of STUDY by its tasks' patterns and its judge.

    The judge sees task and response, the whole of it, and never the condition. It is asked only for verdicts that the run folder does
    not hold yet; patterns are looked for anew each time, which makes no call.
    """
    from audit.cli.skills_text import print_scored, summarise_scored
    from audit.skills.part import PartStore
    from audit.skills.plan import choose
    from audit.skills.progress import take_stages
    from audit.skills.recording import list_outcomes
    from audit.skills.study import read_study

    file = read_study(path)
    selection = choose(file, skills=options.pop("skills_"), tasks=options.pop("tasks"))
    patterns_only = options.pop("patterns_only")
    judging = JudgeOptions(**options)
    run = folder or path.with_suffix(".run")
    with _open(file, run) as store:
        part = PartStore(store, selection)
        if judging.dry_run:
            _report_plan(app, part, file, judging, patterns_only=patterns_only)
            return
        changed, verdicts, ended = _carry_out(app, part, file, judging, patterns_only=patterns_only)
        stages = take_stages(list_outcomes(store, file))
        lines = _tell_judging(store, file)
    document = {**summarise_scored(file, stages, run), "patterns_changed": changed, "verdicts_new": verdicts, "judging": lines}
    app.report(document, lambda console: print_scored(console, document))
    if ended is not None:
        raise ended


@skills.command()
@_STUDY
@_RUN
@_SKILL
@click.option("-o", "--output", metavar="DIR", type=_FOLDER, help="Write results.json, two tables and a page here.")
@click.option("--export", metavar="DIR", type=_FOLDER, help="Write the run in the layout of published studies (caveat contamination).")
@click.option("--level", metavar="SHARE", type=float, default=0.95, help="Nominal coverage of the intervals; default: 0.95.")
@click.option("--margin", metavar="NUMBER", type=float, default=0.2, help="Materiality margin δ in points, of 1 to 5; default: 0.2.")
@pass_app
def analyze(app: App, /, *, path: Path, folder: Path | None, skills_: tuple[str, ...], **options: Any) -> None:
    """Compare the conditions of STUDY, as `caveat contamination` does: by task, after Holm, with intervals.

    What could not be generated or judged is an exclusion with its reason. A skill that the study leaves out is shown, and stands in no
    mean over skills.
    """
    from audit.cli.contamination_files import write_results
    from audit.cli.contamination_text import print_study
    from audit.contamination.study import build_study
    from audit.contamination.tables import build_settings
    from audit.skills.export import build_export, write_export
    from audit.skills.recording import build_recording
    from audit.skills.study import read_study
    from registry.codec.documents import to_document

    settings = build_settings(level=options["level"], margin=options["margin"])
    file = read_study(path)
    with _open(file, folder or path.with_suffix(".run")) as store:
        recording = build_recording(store, file)
        export = build_export(store, file) if options["export"] else {}
    study = build_study(recording, settings, names=skills_)
    written = write_results(study, recording, options["output"]) if options["output"] else []
    written += write_export(export, options["export"]) if export else []
    for one in written:
        app.say(f"written: {one}")
    app.report(to_document(study), lambda console: print_study(console, study))


@contextmanager
def _open(file: "StudyFile", folder: Path) -> "Iterator[RunStore]":
    """Give the store of a run folder that is the study's."""
    from audit.replay.store import open_store
    from audit.skills.keeping import check_study

    store = open_store(folder)
    try:
        check_study(store, file)
        yield store
    finally:
        store.close()


def _carry_out(
    app: App, store: "RunStore", file: "StudyFile", options: JudgeOptions, *, patterns_only: bool
) -> "tuple[int, int, CaveatError | None]":
    """Return how many pattern scores and how many verdicts are new, and what ended the judge early."""
    from audit.cli.score_judge import judge
    from audit.replay.documents import get_replay
    from audit.score.station import score_run
    from audit.skills.study import PATTERNS
    from registry.cli.progress import track

    tasks = {task.id: task for task in file.list_tasks()}
    with track(app, "matching", total=store.count_cells(), unit="responses") as advance:
        changed = score_run(store, PATTERNS, tasks, advance=advance)
    if patterns_only or file.judge is None:
        return changed, 0, None
    return changed, *judge(app, store, file.judge, (get_replay(store), tasks), options)


def _report_plan(app: App, store: "RunStore", file: "StudyFile", options: JudgeOptions, *, patterns_only: bool) -> None:
    from audit.cli.score_judge import report_plan

    if file.judge is None or patterns_only:
        raise click.UsageError("--dry-run is for a judge: patterns make no call")
    report_plan(app, store, file.judge, {task.id: task for task in file.list_tasks()}, options)


def _tell_judging(store: "RunStore", file: "StudyFile") -> list[str]:
    from audit.cli.score_judge import summarise_judging

    return [] if file.judge is None else summarise_judging(store, file.judge)[1]
