"""The part of `caveat score` that goes through a person: sheets out, labels in."""

import csv
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from registry.cli.application import App
from registry.codec.file_io import replacing
from registry.errors import ConflictError, Fault

if TYPE_CHECKING:
    from audit.replay.run_store import RunStore
    from registry.records.replay_definition import Replay, Task
    from registry.records.specification import LabelScorer

LABELS = "labels.csv"
"""What `caveat judge --labels` reads."""


def write_sheet(app: App, store: "RunStore", tasks: "Mapping[str, Task]", sheet: Path, *, items: int | None) -> None:
    """Write a shuffled sheet of responses without arm or context to *sheet*; raises ConflictError where a file is."""
    from audit.cli.spreadsheet import write_cell
    from audit.score.scorers import SHEET_COLUMNS, sample_sheet

    if sheet.exists():
        found = "there is a file of this name, and labels may stand in it"
        raise ConflictError(Fault(code="file-exists", where=str(sheet), found=found, advice="choose another name"))
    drawn = sample_sheet(store, tasks, seed=secrets.token_hex(16), items=items)
    rows = ((one.sheet, one.item, write_cell(one.task), write_cell(one.response), "") for one in drawn)
    _write(sheet, SHEET_COLUMNS, rows)
    run = str(store.path.parent)
    following = f"fill in the column label, then: caveat score {quote(run)} --answers {quote(str(sheet))}"
    app.report(
        {"schema": "caveat/label-sheet/1", "sheet": drawn[0].sheet, "file": str(sheet), "items": len(drawn)},
        lambda console: console.print(f"{len(drawn):,} responses, shuffled, without arm and context: {sheet}\nNext: {following}"),
    )


def take_answers(store: "RunStore", replay: "Replay", answers: Path) -> "tuple[LabelScorer, int]":
    """Keep the labels in *answers* as scores; return the scorer whose they are, and how many there were."""
    from audit.score.scorers import ANSWER_COLUMNS, take_labels
    from audit.sources.rating_files import read_fields
    from registry.records.specification import LabelScorer

    scorer = replay.scoring if isinstance(replay.scoring, LabelScorer) else LabelScorer(kind="label")
    return scorer, take_labels(store, scorer, read_fields(answers, required=ANSWER_COLUMNS, known=("task", "response")))


def write_labels(store: "RunStore", scorer: "LabelScorer", path: Path) -> None:
    """Write the labels beside their rows to *path*, as `caveat judge --labels` reads them; contexts without a cue have none."""
    from audit.replay.run_rows import TableRow, list_rows
    from audit.score.scorers import digest_scorer

    rows = (row for row in list_rows(store, digest_scorer(scorer)) if isinstance(row, TableRow))
    labelled = (row for row in rows if row.value is not None and row.cell.cue_removed is None)
    columns = ("task_id", "arm", "spec", "context_id", "sample", "label")
    cells = ((row.cell, repr(row.value)) for row in labelled)
    _write(path, columns, ((one.task_id, one.arm, one.spec or "", one.context_id, str(one.sample), label) for one, label in cells))


def _write(path: Path, header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
