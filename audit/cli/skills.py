"""`caveat skills`: a skill-contamination study, run as an audit: list, generate, score, analyse, or all of it by run."""

from pathlib import Path
from typing import Any

import click

from audit.cli.score_judge import JudgeOptions, judge_options
from audit.cli.skills_options import FOLDER, RUN, SKILL, STUDY, TASK, analysis_options, call_options
from audit.cli.skills_run import run_study
from audit.cli.skills_stages import analyze_run, list_judging_lines, open_run, report_judging_plan, score_part
from registry.cli.application import App, pass_app


@click.group()
def skills() -> None:
    """Run a skill-contamination study: does loading a skill make the generated code worse?

    STUDY names skills, tasks, conditions, model and judge (caveat schema skill-study). Conditions are arms: A nothing loaded, B the
    skill, C the skill without its references, D the skill in a realistic context, E that context without the skill.
    """


@skills.command("list")
@STUDY
@RUN
@pass_app
def list_(app: App, /, *, path: Path, folder: Path | None) -> None:
    """List the skills of STUDY, and what was generated and scored of each so far."""
    from audit.cli.skills_text import print_listing, summarise_listing
    from audit.replay.run_store import DATABASE
    from audit.skills.study_file import read_study
    from audit.skills.study_plan import StudySelection, build_replay, plan_calls
    from audit.skills.study_recording import count_stages, list_outcomes

    file = read_study(path)
    planned = {one.cell for one in plan_calls(file, build_replay(file), StudySelection())}
    run = folder or path.with_suffix(".run")
    stages = {}
    if (run / DATABASE).is_file():
        with open_run(file, run) as store:
            outcomes = list_outcomes(store, file)
        stages = count_stages(outcomes)
        planned |= {one.cell for each in outcomes.values() for one in each}
    document = summarise_listing(file, planned, stages, run)
    app.report(document, lambda console: print_listing(console, document))


@skills.command()
@STUDY
@call_options
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
@STUDY
@RUN
@SKILL
@TASK
@click.option("--patterns-only", is_flag=True, help="Look for the patterns alone; no call is made, and the judge's scores stay.")
@judge_options
@pass_app
def score(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Score the responses of STUDY by its tasks' patterns and its judge.

    The judge sees task and response, the whole of it, and never the condition. It is asked only for verdicts that the run folder does
    not hold yet; patterns are looked for anew each time, which makes no call.
    """
    from audit.cli.skills_text import print_scored, summarise_scored
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
    app.report(document, lambda console: print_scored(console, document))
    if ended is not None:
        raise ended


@skills.command()
@STUDY
@RUN
@SKILL
@click.option("-o", "--output", metavar="DIR", type=FOLDER, help="Write results.json, two tables and a page here.")
@analysis_options
@pass_app
def analyze(app: App, /, *, path: Path, folder: Path | None, skills_: tuple[str, ...], **options: Any) -> None:
    """Compare the conditions of STUDY, as `caveat contamination` does: by task, after Holm, with intervals.

    What could not be generated or judged is an exclusion with its reason. A skill that the study leaves out is shown, and stands in no
    mean over skills.
    """
    from audit.cli.contamination_text import print_study
    from audit.contamination.skill_contrasts import build_settings
    from audit.skills.study_file import read_study
    from registry.codec.canonical_documents import to_document

    build_settings(level=options["level"], margin=options["margin"])
    file = read_study(path)
    with open_run(file, folder or path.with_suffix(".run")) as store:
        study, written = analyze_run(store, file, options, names=skills_, output=options["output"])
    for place in written:
        app.say(f"written: {place}")
    app.report(to_document(study), lambda console: print_study(console, study))


skills.add_command(run_study)
