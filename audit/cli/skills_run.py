"""`caveat skills run`: every stage of a study by one command that goes on where it stood."""

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.score_judge import JudgeOptions
from audit.cli.skills_options import FOLDER, STUDY, analysis_options, call_options
from audit.cli.skills_stages import analyze_run, list_judging_lines, open_run, score_part
from registry.cli.application import App, pass_app
from registry.errors import CaveatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from audit.cli.run_session import Session
    from audit.skills.study_file import StudyFile
    from audit.sources.skill_study_records import ContaminationStudy

_STAGES = ("plan", "ask", "match", "judge", "analyse")
_OPEN = "not reached: an earlier stage is not finished"


@click.command("run")
@STUDY
@call_options
@click.option("--max-calls", metavar="N", type=click.IntRange(1), help="Calls that the run folder may hold, the judge's included.")
@click.option("--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="Dollars that the run folder may cost in all.")
@click.option("--results", metavar="DIR", type=FOLDER, help="Write results.json, two tables and a page here.")
@analysis_options
@pass_app
def run_study(app: App, /, *, path: Path, folder: Path | None, **options: Any) -> None:
    """Carry out all stages: plan, ask, match, judge, analyse.

    Run again, it goes on where it stood: after Ctrl-C, a crash, or a spent budget. The budget holds for responses and judge together.
    The analysis, and what --results and --export write, are made once every call of the part was made. Failed calls are exclusions
    with their reasons.

    \b
    Examples:
      caveat skills run study.yaml --dry-run
      caveat skills run study.yaml --prices prices.yaml --max-usd 20 --results out
    """
    from audit.cli.skills_session import open_study_session
    from audit.contamination.skill_contrasts import build_settings
    from audit.replay.run_budget import check_prices
    from audit.skills.study_file import read_study

    build_settings(level=options["level"], margin=options["margin"])
    file = read_study(path)
    session = open_study_session(path, folder or path.with_suffix(".run"), options, verb="run", more=_list_more(options))
    if file.judge is not None:
        check_prices(session.replay.budget, session.prices, {file.judge.model, session.replay.policy.model})
    _show_stage(app, "plan")
    if options["dry_run"]:
        _report_forecast(app, session, file)
        return
    document, study, ended = _carry_out(app, session, file)
    app.report(document, lambda console: _print_end(console, document, study))
    if ended is not None:
        raise _advise(ended, session)


def _carry_out(app: App, session: "Session", file: "StudyFile") -> "tuple[dict[str, Any], ContaminationStudy | None, CaveatError | None]":
    """Return what came of the stages, the analysis, and what ended them early; the analysis is None exactly where something did."""
    from audit.cli.run import find_early_end, make_all_calls
    from audit.cli.run_text import summarise_run
    from audit.skills.study_plan import PartStore, select_part
    from registry.codec.canonical_documents import to_document

    options = session.options
    _show_stage(app, "ask")
    summary, arms = make_all_calls(app, session)
    document = _start_document(session, file, summarise_run(session, summary, arms))
    if ended := find_early_end(session, summary):
        return document, None, ended
    selection = select_part(file, skills=options["skills_"], tasks=options["tasks"], conditions=options["conditions"])
    judging = JudgeOptions(**{field.name: options[field.name] for field in fields(JudgeOptions)})
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


def _start_document(session: "Session", file: "StudyFile", generation: "Mapping[str, Any]") -> dict[str, Any]:
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


def _report_forecast(app: App, session: "Session", file: "StudyFile") -> None:
    from audit.cli.run_text import print_forecast, summarise_forecast

    judging = _forecast_judging(session, file)
    document = {**summarise_forecast(session), "judging": judging}

    def write(console: "Console") -> None:
        print_forecast(console, session)
        if judging is None:
            console.print("The study names no judge: patterns make no call.")
        else:
            most = f"at most {judging['most_verdicts']:,} verdicts and {judging['most_output_tokens']:,} output tokens"
            message = f"Judge {judging['model']}: {most}; input tokens and cost unknown: {judging['reason']}."
            console.print(message, markup=False)

    app.report(document, write)


def _forecast_judging(session: "Session", file: "StudyFile") -> dict[str, Any] | None:
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
        "reason": "the judge reads the responses, which this forecast does not know (caveat skills score --dry-run, once they are there)",
    }


def _print_end(console: "Console", document: "Mapping[str, Any]", study: "ContaminationStudy | None") -> None:
    from audit.cli.contamination_text import print_study
    from registry.cli.terminal_output import show

    if study is not None:
        print_study(console, study)
        for place in document["written"]:
            console.print(show(f"written: {place}"))
        console.print(show(f"All {len(_STAGES)} stages are finished; the responses are in {document['folder']}"))
        return
    for number, (name, reason) in enumerate(document["stages"].items(), start=1):
        console.print(show(f"stage {number} {name}: {reason or 'finished'}"))


def _advise(error: CaveatError, session: "Session") -> CaveatError:
    """Return *error* with the command that goes on with all stages."""
    advice = session.resume_command
    if error.code == "budget-spent":
        advice += " (with a larger --max-calls or --max-usd)"
    first, *rest = error.faults
    return type(error)([replace(first, advice=advice), *rest]) if error.code in ("interrupted", "budget-spent") else error
