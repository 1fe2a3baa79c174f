"""The files of a skill-contamination study: results.json, contrasts.csv, scores.csv and contamination.html."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from audit.cli.contamination_page import build_page
from audit.cli.spreadsheet import write_cell
from audit.sources.skill_run_folder import StudyRecording
from audit.sources.skill_study_records import DIMENSIONS, ContaminationStudy, Effect
from registry.cli.terminal_output import render_json
from registry.codec.canonical_documents import to_document
from registry.codec.file_io import write_file

_SCORES = ("task_id", "arm", "context_id", "sample", "score", "excluded_reason", "skill", "task_type", "response_chars", *DIMENSIONS)
_CONTRASTS = (
    "skill",
    "contrast",
    "unit",
    "units",
    "points",
    "low",
    "high",
    "t",
    "p_t",
    "p_holm",
    "p_holm_all",
    "wilcoxon",
    "p_wilcoxon",
    "cohens_d",
    "seen_whole",
    "seen_whole_low",
    "seen_whole_high",
    "seen_whole_units",
    "published",
    "published_n",
    "published_t",
    "published_p_t",
    "published_w",
    "published_p_w",
    "published_d",
    "reason",
)


def write_results(study: ContaminationStudy, recording: StudyRecording, folder: Path) -> list[Path]:
    """Write the four files into *folder*, made if need be, and return their paths.

    Raises:
        OSError: the file system refuses. What stood in the folder before is whole.
    """
    texts = {
        "results.json": render_json(to_document(study)) + "\n",
        "contrasts.csv": _write_csv(_CONTRASTS, _list_contrasts(study)),
        "scores.csv": _write_csv(_SCORES, _list_scores(study, recording)),
        "contamination.html": build_page(study),
    }
    folder.mkdir(parents=True, exist_ok=True)
    parts = {folder / name: folder / f".{name}.part" for name in texts}
    try:
        for part, text in zip(parts.values(), texts.values(), strict=True):
            write_file(part, text)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return list(parts)


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([write_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return buffer.getvalue()


def _list_scores(study: ContaminationStudy, recording: StudyRecording) -> Iterable[Sequence[object]]:
    """Give one row per response, tasks named with their skill so that they are unique; columns that no score table has come last."""
    wanted = {one.skill for one in study.skills}
    for skill in recording.skills:
        types = {task.task_id: task.type_ for task in skill.tasks}
        for one in skill.responses if skill.name in wanted else ():
            scores = [one.dimensions.get(name) for name in DIMENSIONS]
            key = (f"{skill.name}/{one.task_id}", one.arm, one.arm, one.run)
            yield (*key, one.composite, one.excluded, skill.name, types[one.task_id], one.chars, *scores)


def _list_contrasts(study: ContaminationStudy) -> Iterable[Sequence[object]]:
    for skill in study.skills:
        yield from (_list_cells(skill.skill, effect) for effect in skill.effects)
    for aggregate in study.aggregates:
        name = "(mean over the skills that the study kept)" if aggregate.name == "kept" else "(mean over all skills)"
        yield from (_list_cells(name, effect) for effect in aggregate.effects)


def _list_cells(name: str, one: Effect) -> Sequence[object]:
    said = one.published
    printed = (None,) * 7 if said is None else (said.delta, said.n, said.t, said.t_p, said.wilcoxon_w, said.wilcoxon_p, said.cohens_d)
    return (
        name,
        one.name,
        one.unit,
        one.units,
        one.measure.value,
        one.measure.low,
        one.measure.high,
        one.paired_t.statistic,
        one.paired_t.p,
        one.p_holm,
        one.p_holm_all,
        one.wilcoxon.statistic,
        one.wilcoxon.p,
        one.cohens_d.value,
        one.seen_whole.value,
        one.seen_whole.low,
        one.seen_whole.high,
        one.seen_whole_units,
        *printed,
        one.measure.reason,
    )
