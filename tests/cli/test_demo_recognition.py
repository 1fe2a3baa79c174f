"""What the demo says of recognition rests on the bundled recordings: whose prompts were rated, when, and what was never classified."""

import shutil
from datetime import datetime
from pathlib import Path

from audit.demo_sequel import JUDGE, rebuild_sheets
from audit.demo_story import REPLAY
from audit.records.model_response import Purpose
from audit.records.rating_sheet import RatingKey
from audit.replay.run_store import DATABASE, RunStore, open_store
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.configuration import find_resource

EXAMPLES = find_resource("examples")


def open_copy(source: Path, folder: Path) -> RunStore:
    """Open a copy of a bundled recording."""
    folder.mkdir()
    shutil.copyfile(source / DATABASE, folder / DATABASE)
    return open_store(folder)


def test_the_rated_prompts_are_those_of_the_replay_of_the_demo(tmp_path: Path) -> None:
    """The bundled key and sheets are what a draw from the demo's own run gives; no other prompt was rated."""
    sheets = EXAMPLES / "rating" / "sheets"
    key = from_document(RatingKey, read_document(sheets / "key.json"), where="key.json")
    run = open_copy(EXAMPLES / REPLAY.example / "run", tmp_path / "run")

    drawn = rebuild_sheets(run, key)
    run.close()

    assert drawn.key == key
    assert sorted(path.name for path in (sheets / "qwen").iterdir()) == ["instructions.txt", "sheet.csv"]


def test_judge_and_classifier_were_asked_after_the_outcomes(tmp_path: Path) -> None:
    """The reason that the demo prints is true of the recordings: a rating and a classification after the outcomes."""
    run = open_copy(EXAMPLES / REPLAY.example / "run", tmp_path / "run")
    judge = open_copy(EXAMPLES / "rating" / "sheets" / "judge", tmp_path / "judge")

    asked: list[datetime] = [each.sent_at for each in judge.list_responses(Purpose.RATING) if each.sent_at]
    models = {each.model_requested for each in judge.list_responses(Purpose.RATING)}
    classified = [each.sent_at for each in run.list_responses(Purpose.PROBE) if each.sent_at]
    run.close()
    judge.close()

    assert len(asked) == 24
    assert models == {JUDGE.model}
    assert min(asked) > REPLAY.concluded
    assert min(classified) > REPLAY.concluded
