"""`caveat analyze skills` and `caveat analyze contamination`: a skill-contamination study run as an audit, or read again."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from audit.cli.analysis_options import FILE, send_key_option
from audit.cli.score_commands import JudgeOptions, judge_options
from registry.cli.application import App, examples, pass_app
from registry.cli.list_options import ListOutput, list_options
from registry.errors import CaveatError
from registry.present.blocks import Block

if TYPE_CHECKING:
    from audit.cli.run_session import RunSession
    from audit.replay.replay_file import ReplayFile
    from audit.replay.run_store import RunStore
    from audit.skills.study_file import StudyFile
    from audit.sources.skill_study_records import ContaminationStudy

# Arguments and options that several commands of `caveat analyze skills` share.

Command = TypeVar("Command", bound=Callable[..., object])

FOLDER = click.Path(file_okay=False, path_type=Path)
RUN_HELP = "The run folder; default: STUDY with the ending .run."
STUDY = click.argument("path", metavar="STUDY", type=FILE)
RUN = click.option("--run", "folder", metavar="DIR", type=FOLDER, help=RUN_HELP)
SKILL = click.option("--skill", "skills_", metavar="NAME", multiple=True, help="Only this skill. May be repeated.")
TASK = click.option("--task", "tasks", metavar="ID", multiple=True, help="Only this task: SKILL/ID, or ID. May be repeated.")

_CALLS = (
    click.option("-o", "--run", "folder", metavar="DIR", type=FOLDER, help=RUN_HELP),
    SKILL,
    TASK,
    click.option(
        "--condition", "conditions", metavar="ARM", multiple=True, help="Only this condition, A to E or its name. May be repeated."
    ),
    click.option(
        "--samples", metavar="N", type=click.IntRange(1), help="Responses to each task under each condition; default: the study's."
    ),
    click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, and send nothing."),
    click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=64, show_default=True, help="Most requests at once."),
    click.option("--retry-failed", is_flag=True, help="Send calls again that failed."),
    click.option(
        "--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice."
    ),
    click.option("--prices", type=FILE, help="Prices by model (caveat admin schema prices); without them, cost is unknown."),
    click.option(
        "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
    ),
    send_key_option(),
    click.option("--batch", is_flag=True, help="Use batches: cheaper, and done within a day."),
)
_ANALYSIS = (
    click.option(
        "--export", metavar="DIR", type=FOLDER, help="Write the run in the layout of published studies (caveat analyze contamination)."
    ),
    click.option("--level", metavar="SHARE", type=float, default=0.95, help="Nominal coverage of the intervals; default: 0.95."),
    click.option("--margin", metavar="NUMBER", type=float, default=0.2, help="Materiality margin δ in points, of 1 to 5; default: 0.2."),
)


def call_options(command: Command) -> Command:
    """Give *command* the options of the calls that make responses."""
    return _add(command, _CALLS)


def analysis_options(command: Command) -> Command:
    """Give *command* the options of the analysis."""
    return _add(command, _ANALYSIS)


def _add(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


# The stages of a skill study behind its commands: the run folder opened, its responses scored, the analysis written.


@contextmanager
def open_run(file: "StudyFile", folder: Path) -> "Iterator[RunStore]":
    """Give the store of a run folder that is the study's."""
    from audit.replay.run_store import open_store
    from audit.skills.study_plan import check_study

    store = open_store(folder)
    try:
        check_study(store, file)
        yield store
    finally:
        store.close()


def score_part(
    app: App, store: "RunStore", file: "StudyFile", options: JudgeOptions, *, patterns_only: bool
) -> "tuple[int, int, CaveatError | None]":
    """Return how many pattern scores and how many verdicts are new, and what ended the judge early."""
    from audit.cli.score_commands import judge
    from audit.replay.run_store import get_replay
    from audit.score.scorers import score_run
    from audit.skills.study_file import PATTERNS
    from registry.cli.application import track

    tasks = {task.id: task for task in file.list_tasks()}
    with track(app, "matching", total=store.count_cells(), unit="responses") as advance:
        changed = score_run(store, PATTERNS, tasks, advance=advance)
    if patterns_only or file.judge is None:
        return changed, 0, None
    return changed, *judge(app, store, file.judge, (get_replay(store), tasks), options)


def report_judging_plan(app: App, store: "RunStore", file: "StudyFile", options: JudgeOptions, *, patterns_only: bool) -> None:
    """Report what the judging of *store* would come to; nothing is sent."""
    from audit.cli.score_commands import report_plan

    if file.judge is None or patterns_only:
        raise click.UsageError("--dry-run is for a judge: patterns make no call")
    report_plan(app, store, file.judge, {task.id: task for task in file.list_tasks()}, options)


def list_judging_lines(store: "RunStore", file: "StudyFile") -> list[str]:
    """Return in lines what the judge's scores come to; empty without a judge."""
    from audit.cli.score_commands import summarise_judging

    return [] if file.judge is None else summarise_judging(store, file.judge)[1]


def analyze_run(
    store: "RunStore", file: "StudyFile", options: Mapping[str, Any], *, names: Sequence[str], output: Path | None
) -> "tuple[ContaminationStudy, list[Path]]":
    """Return the analysis of the run in *store*, and the files that were written of it: results into *output*, the export next to it."""
    from audit.contamination.contamination_analysis import build_study
    from audit.contamination.skill_contrasts import build_settings
    from audit.skills.cli.contamination_page import write_results
    from audit.skills.study_export import build_export, write_export
    from audit.skills.study_recording import build_recording

    settings = build_settings(level=options["level"], margin=options["margin"])
    recording = build_recording(store, file)
    study = build_study(recording, settings, names=names)
    written = write_results(study, recording, output) if output else []
    return study, [*written, *(write_export(build_export(store, file), options["export"]) if options["export"] else ())]


# `caveat analyze skills run`: every stage of a study by one command that goes on where it stood.

_STAGES = ("plan", "ask", "match", "judge", "analyse")
_OPEN = "not reached: an earlier stage is not finished"


@examples("analyze skills run study.yaml --dry-run", "analyze skills run study.yaml --prices prices.yaml --max-usd 20 --results out")
@click.command("run")
@STUDY
@call_options
@click.option("--max-calls", metavar="N", type=click.IntRange(1), help="Calls that the run folder may hold, the judge's included.")
@click.option("--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="Dollars that the run folder may cost in all.")
@click.option("--results", metavar="DIR", type=FOLDER, help="Write results.json, two tables and a page here.")
@analysis_options
@pass_app
def run_study(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Run all stages of a study: ask, match, judge, analyse.

    A second run continues after Ctrl-C, a crash or a spent budget. The budget covers responses and judge together. The analysis,
    --results and --export follow when every call of the part was made. Failed calls are exclusions with their reasons.
    """
    from audit.contamination.skill_contrasts import build_settings
    from audit.replay.run_budget import check_prices
    from audit.skills.study_file import read_study

    build_settings(level=options["level"], margin=options["margin"])
    file = read_study(path)
    session = _open_session(path, folder or path.with_suffix(".run"), options, verb="run", more=_list_more(options))
    if file.judge is not None:
        check_prices(session.replay.budget, session.prices, {file.judge.model, session.replay.policy.model})
    _show_stage(app, "plan")
    if options["dry_run"]:
        _report_forecast(app, session, file)
        return
    document, study, ended = _carry_out(app, session, file)
    app.answer(document, _present_end(document, study))
    if ended is not None:
        raise _advise(ended, session)


def _carry_out(
    app: App, session: "RunSession", file: "StudyFile"
) -> "tuple[dict[str, Any], ContaminationStudy | None, CaveatError | None]":
    """Return what came of the stages, the analysis, and what ended them early; the analysis is None exactly where something did."""
    from audit.cli.replay_commands import find_early_end, make_all_calls
    from audit.cli.replay_presenter import present_run
    from audit.skills.study_plan import PartStore, select_part
    from registry.codec.canonical_documents import to_document

    options = session.options
    _show_stage(app, "ask")
    summary, arms = make_all_calls(app, session)
    document = _start_document(session, file, present_run(session, summary, arms).document)
    if ended := find_early_end(session, summary):
        return document, None, ended
    selection = select_part(file, skills=options["skills_"], tasks=options["tasks"], conditions=options["conditions"])
    judging = JudgeOptions(**{field.name: options[field.name] for field in fields(JudgeOptions) if field.name in options})
    with open_run(file, session.folder) as store:
        _show_stage(app, "match")
        _show_stage(app, "judge" if file.judge is not None else "judge: none, the study names no judge")
        changed, verdicts, ended = score_part(app, PartStore(store, selection), file, judging, patterns_only=False)
        document["scores"] = {"patterns_changed": changed, "verdicts_new": verdicts, "judging": list_judging_lines(store, file)}
        document["stages"] |= {"match": None, "judge": _OPEN if ended else None}
        if ended is not None:
            return document, None, ended
        _show_stage(app, "analyse")
        study, written = analyze_run(store, file, options, names=options["skills_"], output=options["results"])
    document |= {"complete": True, "written": [str(place) for place in written], "analysis": to_document(study)}
    document["stages"] = dict.fromkeys(_STAGES)
    return document, study, None


def _start_document(session: "RunSession", file: "StudyFile", generation: "Mapping[str, Any]") -> dict[str, Any]:
    """Return the document of a run that has asked: by stage, null where it is finished, else why not."""
    is_over = generation["complete"]
    return {
        "schema": "caveat/skill-run/1",
        "study": file.study.name,
        "folder": str(session.folder),
        "complete": False,
        "stages": {"plan": None, "ask": None if is_over else "calls are left", **dict.fromkeys(_STAGES[2:], _OPEN)},
        "generation": generation,
        "scores": None,
        "written": [],
        "analysis": None,
    }


def _show_stage(app: App, name: str) -> None:
    app.say(f"stage {_STAGES.index(name.partition(':')[0]) + 1} of {len(_STAGES)}: {name}")


def _list_more(options: "Mapping[str, Any]") -> list[str]:
    """Return the options that going on needs, beside those of the calls."""
    places = ("max_calls", "max_usd", "results", "export")
    words = [word for name in places if options[name] is not None for word in (f"--{name.replace('_', '-')}", str(options[name]))]
    for name, default in (("level", 0.95), ("margin", 0.2)):
        words += [] if options[name] == default else [f"--{name}", f"{options[name]:g}"]
    return words


def _report_forecast(app: App, session: "RunSession", file: "StudyFile") -> None:
    from audit.cli.replay_presenter import present_forecast

    forecast, judging = present_forecast(session), _forecast_judging(session, file)
    if judging is None:
        message = "The study names no judge: patterns make no call."
    else:
        most = f"at most {judging['most_verdicts']:,} verdicts and {judging['most_output_tokens']:,} output tokens"
        message = f"Judge {judging['model']}: {most}; input tokens and cost unknown: {judging['reason']}."
    app.answer({**forecast.document, "judging": judging}, [*(forecast.blocks or ()), message])


def _forecast_judging(session: "RunSession", file: "StudyFile") -> dict[str, Any] | None:
    """Return what the judge may come to, None without one; its input is not known before there are responses."""
    from audit.score.judge_requests import count_repeats

    judge = file.judge
    if judge is None:
        return None
    verdicts = sum(count_repeats(judge, key) for key in {planned.call.key for planned in session.planned})
    return {
        "model": judge.model,
        "most_verdicts": verdicts,
        "input_tokens": None,
        "most_output_tokens": verdicts * judge.max_tokens,
        "usd": None,
        "reason": "the judge reads the responses, unknown to this forecast (caveat analyze skills score --dry-run, once there are)",
    }


def _present_end(document: "Mapping[str, Any]", study: "ContaminationStudy | None") -> Iterator[Block]:
    from audit.skills.cli.skill_study_presenter import present_study

    if study is not None:
        yield from present_study(study)
        for place in document["written"]:
            yield f"written: {place}"
        yield f"All {len(_STAGES)} stages are finished; the responses are in {document['folder']}"
        return
    for number, (name, reason) in enumerate(document["stages"].items(), start=1):
        yield f"stage {number} {name}: {reason or 'finished'}"


def _advise(error: CaveatError, session: "RunSession") -> CaveatError:
    """Return *error* with the command that goes on with all stages."""
    advice = session.resume_command
    if error.code == "budget-spent":
        advice += " (with a larger --max-calls or --max-usd)"
    first, *rest = error.faults
    return type(error)([replace(first, advice=advice), *rest]) if error.code in ("interrupted", "budget-spent") else error


# `caveat analyze skills`: a skill-contamination study, run as an audit: list, generate, score, analyse, or all of it by run.


@click.group()
def skills() -> None:
    """Run a skill-contamination study.

    Does loading a skill make generated code worse? STUDY names skills, tasks, conditions, model and judge (caveat admin schema
    skill-study). Conditions are arms: A nothing loaded, B the skill, C the skill without its references, D the skill in a realistic
    context, E that context without the skill.
    """


@examples("analyze skills list study.yaml", "analyze skills list study.yaml --run run --columns skill,calls,answered --csv")
@skills.command("list")
@STUDY
@RUN
@pass_app
@list_options
def list_(_app: App, /, *, output: ListOutput, path: Path, folder: Path | None) -> None:
    """List the skills of a study and their progress.

    Columns: skill, risk, category, score, tasks, arms, calls, answered, patterns, judged, excluded.
    """
    from audit.replay.run_store import DATABASE
    from audit.skills.cli.skill_study_presenter import build_skill_listing, summarise_listing
    from audit.skills.study_file import read_study
    from audit.skills.study_plan import StudySelection, build_replay, plan_calls
    from audit.skills.study_recording import count_stages, list_outcomes

    file = read_study(path)
    planned = {call.cell for call in plan_calls(file, build_replay(file), StudySelection())}
    run = folder or path.with_suffix(".run")
    stages = {}
    if (run / DATABASE).is_file():
        with open_run(file, run) as store:
            outcomes = list_outcomes(store, file)
        stages = count_stages(outcomes)
        planned |= {cell_outcome.cell for outcome in outcomes.values() for cell_outcome in outcome}
    output.report(build_skill_listing(summarise_listing(file, planned, stages, run), is_arranged=output.is_arranged))


@examples("analyze skills generate study.yaml --dry-run", "analyze skills generate study.yaml --skill sql-style --samples 1")
@skills.command()
@STUDY
@call_options
@pass_app
def generate(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Make the model calls of a study, or of a part of it.

    Every response is kept in a run folder. A second run makes only missing calls; more samples or another part add to the same folder.
    Failed calls are kept with their reasons. The key is read from ANTHROPIC_API_KEY and stored nowhere.
    """
    from audit.cli.replay_commands import carry_out
    from audit.cli.replay_presenter import present_forecast

    session = _open_session(path, folder or path.with_suffix(".run"), options)
    if options["dry_run"]:
        app.report(present_forecast(session))
        return
    carry_out(app, session)


@examples("analyze skills score study.yaml --patterns-only", "analyze skills score study.yaml --max-usd 5 --prices prices.yaml")
@skills.command()
@STUDY
@RUN
@SKILL
@TASK
@click.option("--patterns-only", is_flag=True, help="Only search for the patterns, without calls; the judge's scores stay.")
@judge_options
@pass_app
def score(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Score the responses of a study.

    Patterns of the tasks are searched each time, without a call. The judge sees task and whole response, never the condition, and is
    asked only for verdicts that the run folder does not have yet.
    """
    from audit.skills.cli.skill_study_presenter import present_scored, summarise_scored
    from audit.skills.study_file import read_study
    from audit.skills.study_plan import PartStore, select_part
    from audit.skills.study_recording import count_stages, list_outcomes

    file = read_study(path)
    selection = select_part(file, skills=options.pop("skills_"), tasks=options.pop("tasks"))
    patterns_only = options.pop("patterns_only")
    judging = JudgeOptions(**options)
    run = folder or path.with_suffix(".run")
    with open_run(file, run) as store:
        part = PartStore(store, selection)
        if judging.dry_run:
            report_judging_plan(app, part, file, judging, patterns_only=patterns_only)
            return
        changed, verdicts, ended = score_part(app, part, file, judging, patterns_only=patterns_only)
        stages = count_stages(list_outcomes(store, file))
        lines = list_judging_lines(store, file)
    document = {**summarise_scored(file, stages, run), "patterns_changed": changed, "verdicts_new": verdicts, "judging": lines}
    app.answer(document, present_scored(document))
    if ended is not None:
        raise ended


@examples("analyze skills analyze study.yaml -o out", "analyze skills analyze study.yaml --skill sql-style")
@skills.command()
@STUDY
@RUN
@SKILL
@click.option("-o", "--output", metavar="DIR", type=FOLDER, help="Write results.json, two tables and a page here.")
@analysis_options
@pass_app
def analyze(app: App, /, *, path: Path, folder: Path | None, skills_: tuple[str, ...], **options: Any) -> None:
    """Compare the conditions of a study.

    The analysis is that of `caveat analyze contamination`: by task, with intervals and Holm's method. Calls that failed are exclusions
    with their reasons. A skill that the study excludes is shown, and enters no mean over skills.
    """
    from audit.contamination.skill_contrasts import build_settings
    from audit.skills.cli.skill_study_presenter import present_study
    from audit.skills.study_file import read_study
    from registry.codec.canonical_documents import to_document

    build_settings(level=options["level"], margin=options["margin"])
    file = read_study(path)
    with open_run(file, folder or path.with_suffix(".run")) as store:
        study, written = analyze_run(store, file, options, names=skills_, output=options["output"])
    for place in written:
        app.say(f"written: {place}")
    app.answer(to_document(study), present_study(study))


skills.add_command(run_study)


# `caveat analyze contamination`: a skill-contamination study read again.

_FOLDER = click.Path(file_okay=False, path_type=Path)


@examples("analyze contamination study", "analyze contamination study -o page --skill sql-style")
@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--output", metavar="DIR", type=_FOLDER, help="Write results.json, two tables and a page here.")
@click.option("--skill", "names", metavar="NAME", multiple=True, help="Only this skill. May be repeated.")
@click.option("--level", metavar="SHARE", type=float, default=0.95, help="Nominal coverage of the intervals; default: 0.95.")
@click.option("--margin", metavar="NUMBER", type=float, default=0.2, help="Materiality margin δ in points, of 1 to 5; default: 0.2.")
@pass_app
def contamination(app: App, /, *, folder: Path, output: Path | None, names: tuple[str, ...], level: float, margin: float) -> None:
    """Reanalyse a published skill-contamination run.

    DIR contains scores/, and generations/, tasks/, skills.json, behavioral-eval.json and history/ if they exist. Arms: A baseline, B
    with the skill, C the skill without its references, D the skill in a realistic context. Published figures are recomputed if the
    files allow it, and compared with contrasts by task, with intervals and Holm's method.
    """
    from audit.contamination.contamination_analysis import build_study
    from audit.contamination.skill_contrasts import build_settings
    from audit.skills.cli.contamination_page import write_results
    from audit.skills.cli.skill_study_presenter import present_study
    from audit.sources.skill_run_folder import read_recording
    from registry.cli.application import track
    from registry.codec.canonical_documents import to_document

    settings = build_settings(level=level, margin=margin)
    with track(app, "reading", total=1) as progress:
        recording = read_recording(folder)
        progress(1)
    study = build_study(recording, settings, names=names)
    if output is not None:
        for path in write_results(study, recording, output):
            app.say(f"written: {path}")
    app.answer(to_document(study), present_study(study))


# A skill study, or a part of it, as a session of calls.


def _open_session(
    path: Path, folder: Path, options: Mapping[str, Any], *, verb: str = "generate", more: Sequence[str] = ()
) -> "RunSession":
    """Return what is to be done for the study in *path*; nothing is sent or written.

    Args:
        verb: the command of `caveat analyze skills` that this is a call of. Its limits on the run folder, where it takes any, replace the
            study's.
        more: further options that resuming needs.

    Raises:
        InputError: the study, its files, its prices or the part that is asked for do not hold together.
    """
    from audit.cli.run_session import RunSession, look_ahead
    from audit.endpoints.endpoint_opening import check_policy
    from audit.replay.run_budget import check_prices, read_prices
    from audit.skills.study_file import read_study
    from audit.skills.study_plan import build_replay, keep_study, plan_calls, select_part

    study = read_study(path)
    selection = select_part(study, skills=options["skills_"], tasks=options["tasks"], conditions=options["conditions"])
    file = _limit(build_replay(study, samples=options["samples"]), options)
    planned = plan_calls(study, file, selection)
    policy = file.replay.policy
    check_policy(policy)
    prices = read_prices(options["prices"]) if options["prices"] else {}
    check_prices(file.replay.budget, prices, {policy.model})
    return RunSession(
        path=path,
        folder=folder,
        file=file,
        planned=planned,
        prices=prices,
        forecast=look_ahead(planned, prices, folder, options),
        options=options,
        words=("analyze", "skills", verb),
        more=(*_list_study_part(options), *more),
        following=shlex.join(["caveat", "analyze", "skills", "score", str(path), "--run", str(folder)]),
        keep=lambda store: keep_study(store, study),
    )


def _limit(file: "ReplayFile", options: Mapping[str, Any]) -> "ReplayFile":
    """Return the replay with the limits that the command line sets for its run folder, instead of the study's."""
    limits = {name: options[f"max_{name}"] for name in ("calls", "usd") if options.get(f"max_{name}") is not None}
    return replace(file, replay=replace(file.replay, budget=replace(file.replay.budget, **limits))) if limits else file


def _list_study_part(options: Mapping[str, Any]) -> list[str]:
    words = [word for name in options["skills_"] for word in ("--skill", name)]
    words += [word for name in options["tasks"] for word in ("--task", name)]
    words += [word for name in options["conditions"] for word in ("--condition", name)]
    return [*words, "--samples", str(options["samples"])] if options["samples"] else words
