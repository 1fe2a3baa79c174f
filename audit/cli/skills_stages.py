"""The stages of a skill study behind its commands: the run folder opened, its responses scored, the analysis written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.score_judge import JudgeOptions
from registry.cli.application import App

if TYPE_CHECKING:
    from audit.replay.run_store import RunStore
    from audit.skills.study_file import StudyFile
    from audit.sources.skill_study_records import ContaminationStudy
    from registry.errors import CaveatError


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
    from audit.cli.score_judge import judge
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
    from audit.cli.score_judge import report_plan

    if file.judge is None or patterns_only:
        raise click.UsageError("--dry-run is for a judge: patterns make no call")
    report_plan(app, store, file.judge, {task.id: task for task in file.list_tasks()}, options)


def list_judging_lines(store: "RunStore", file: "StudyFile") -> list[str]:
    """Return in lines what the judge's scores come to; empty without a judge."""
    from audit.cli.score_judge import summarise_judging

    return [] if file.judge is None else summarise_judging(store, file.judge)[1]


def analyze_run(
    store: "RunStore", file: "StudyFile", options: Mapping[str, Any], *, names: Sequence[str], output: Path | None
) -> "tuple[ContaminationStudy, list[Path]]":
    """Return the analysis of the run in *store*, and the files that were written of it: results into *output*, the export beside it."""
    from audit.cli.contamination_files import write_results
    from audit.contamination.contamination_analysis import build_study
    from audit.contamination.skill_contrasts import build_settings
    from audit.skills.study_export import build_export, write_export
    from audit.skills.study_recording import build_recording

    settings = build_settings(level=options["level"], margin=options["margin"])
    recording = build_recording(store, file)
    study = build_study(recording, settings, names=names)
    written = write_results(study, recording, output) if output else []
    return study, [*written, *(write_export(build_export(store, file), options["export"]) if options["export"] else ())]
