"""What the demo says of recognition rests on the bundled recordings: whose prompts were rated, when, and what was never classified."""

import shutil
from datetime import datetime
from pathlib import Path

from audit.demo import REPLAY
from audit.demo_recognition import JUDGE, draw_again
from audit.replay.store import DATABASE, RunStore, open_store
from registry.codec.documents import from_document
from registry.codec.files import read_document
from registry.records.rating import RatingKey
from registry.records.response import Purpose
from registry.resources import find_resource

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

    drawn = draw_again(run, key)
    run.close()

    assert drawn.key == key
    assert sorted(path.name for path in (sheets / "qwen").iterdir()) == ["instructions.txt", "sheet.csv"]


def test_the_judge_was_asked_after_the_outcomes_and_no_response_has_a_class(tmp_path: Path) -> None:
    """The two reasons that the demo prints are true of the recordings: a rating after the outcomes, and a run without a classification."""
    run = open_copy(EXAMPLES / REPLAY.example / "run", tmp_path / "run")
    judge = open_copy(EXAMPLES / "rating" / "sheets" / "judge", tmp_path / "judge")

    asked: list[datetime] = [each.sent_at for each in judge.list_responses(Purpose.RATING) if each.sent_at]
    models = {each.model_requested for each in judge.list_responses(Purpose.RATING)}
    classes = list(run.list_documents(Purpose.PROBE))
    run.close()
    judge.close()

    assert len(asked) == 24
    assert models == {JUDGE.model}
    assert min(asked) > REPLAY.concluded
    assert classes == []
