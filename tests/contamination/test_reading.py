"""A run as it lies in a folder: what is read, what is told, and what is refused."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.contamination.contamination_analysis import build_inventory, compare_states
from audit.contamination.skill_contrasts import ContrastSettings
from audit.errors import TableError
from audit.sources.skill_run_folder import SkillResponse, StudyRecording, read_recording
from tests.contamination.made_up import DIMENSIONS, Run

SETTINGS = ContrastSettings(level=0.95, margin=0.2)


def read(run: Run, folder: Path) -> StudyRecording:
    return read_recording(run.write(folder))


def find(recording: StudyRecording, skill: str, task: int, run: int, arm: str) -> SkillResponse:
    (found,) = [
        one
        for known in recording.skills
        if known.name == skill
        for one in known.responses
        if (one.task_id, one.run, one.arm) == (f"{skill}-{task}", run, arm)
    ]
    return found


def list_codes(error: TableError) -> list[str]:
    return [fault.code for fault in error.faults]


def test_a_run_is_read_whole(tmp_path: Path) -> None:
    """Every response of every skill is there with its arm; a condition that a skill was not tried under is not."""
    recording = read(Run(), tmp_path)

    assert [(one.name, len(one.responses)) for one in recording.skills] == [("alpha-sdk", 18), ("beta-docs", 24), ("gamma-flow", 18)]
    assert recording.skills[0].find("C") == ()
    assert find(recording, "alpha-sdk", 1, 0, "A").composite == 4.5
    assert find(recording, "alpha-sdk", 1, 0, "B").chars == 51
    assert recording.skills[2].excluded == "behavioral_override"
    assert recording.notes == ()
    assert len(recording.files) == 10


def test_a_failed_judgment_is_an_exclusion(tmp_path: Path) -> None:
    """A response that the judge could not score is counted with its reason, never dropped and never 0."""
    inventory = build_inventory(recording := read(Run(), tmp_path), recording.skills)

    (only,) = inventory.exclusions
    assert (only.skill, only.task_id, only.run, only.arm) == ("alpha-sdk", "alpha-sdk-3", 1, "D")
    assert only.reason == "the judge gave no usable answer"


def test_reasons_are_told_apart(tmp_path: Path) -> None:
    """A failed generation, an empty answer, a dimension left out, a response never scored: each says what it is."""
    run = Run()
    run.run("alpha-sdk", 0, 0)["with_skill"] = {"error": "empty output", "judge": None, "patterns": None}
    run.run("alpha-sdk", 0, 0, of="generations")["with_skill"] = {"output": "", "error": "Connection error.", "cached": False}
    run.run("alpha-sdk", 0, 1)["with_skill"] = {"error": "empty output", "judge": None, "patterns": None}
    del run.run("alpha-sdk", 1, 0)["with_skill"]["judge"]["code_quality"]
    run.run("alpha-sdk", 1, 1)["with_skill"] = None

    recording = read(run, tmp_path)

    assert find(recording, "alpha-sdk", 1, 0, "B").excluded == "the generation failed: Connection error."
    assert find(recording, "alpha-sdk", 1, 1, "B").excluded == "not judged: empty output"
    assert find(recording, "alpha-sdk", 2, 0, "B").excluded == "the judge omitted code_quality"
    assert find(recording, "alpha-sdk", 2, 1, "B").excluded == "the response was not scored"
    assert find(recording, "alpha-sdk", 2, 0, "B").composite is None


def test_a_failed_call_has_no_length(tmp_path: Path) -> None:
    """An empty text beside an error is no response of 0 characters; an empty answer without an error is one."""
    run = Run()
    run.run("alpha-sdk", 0, 0)["with_skill"] = None
    run.run("alpha-sdk", 0, 0, of="generations")["with_skill"] = {"output": "", "error": "Connection error.", "cached": False}
    run.run("alpha-sdk", 0, 1, of="generations")["with_skill"] = {"output": "", "cached": False}

    recording = read(run, tmp_path)

    failed, empty = (find(recording, "alpha-sdk", 1, number, "B") for number in (0, 1))
    assert (failed.failed, failed.chars, failed.digest) == (True, None, None)
    assert (empty.failed, empty.chars) == (False, 0)


def test_counts_per_arm(tmp_path: Path) -> None:
    """Cut responses, responses at the token limit and cached ones are counted for each arm."""
    inventory = build_inventory(recording := read(Run(), tmp_path), recording.skills)

    counts = {one.arm: (one.responses, one.scored, one.beyond_judge, one.at_token_limit, one.cached) for one in inventory.arms}
    assert counts == {"A": (18, 18, 0, 6, 0), "B": (18, 18, 6, 6, 0), "C": (6, 6, 0, 2, 0), "D": (18, 17, 0, 6, 0)}


def test_what_nobody_says_is_unknown(tmp_path: Path) -> None:
    """Without texts and facts there are no lengths and no limit: None, not 0."""
    run = Run()
    del run.documents["skills.json"]
    for name in ("alpha-sdk", "beta-docs", "gamma-flow"):
        del run.documents[f"generations/{name}.json"]

    inventory = build_inventory(recording := read(run, tmp_path), recording.skills)

    assert {(one.beyond_judge, one.at_token_limit, one.cached) for one in inventory.arms} == {(None, None, None)}
    assert [one.kind for one in inventory.notes] == ["no-generations"] * 3
    assert inventory.excluded == ()


def test_parts_that_disagree_are_told(tmp_path: Path) -> None:
    """A planned task without a run, a skill without scores and one that is not listed are notes, with their names."""
    run = Run()
    run.documents["tasks/alpha-sdk.json"]["tasks"].append({"id": "alpha-sdk-4"})
    run.documents["tasks/beta-docs.json"]["tasks"].pop()
    run.documents["skills.json"]["skills"]["delta-tool"] = {"config": {}}
    del run.documents["skills.json"]["skills"]["gamma-flow"]

    notes = {one.kind: (one.where, one.message) for one in read(run, tmp_path).notes}

    assert notes == {
        "task-not-run": ("alpha-sdk", "1 of 4 planned tasks have no run: alpha-sdk-4"),
        "task-not-planned": ("beta-docs", "tasks/ does not know: beta-docs-3"),
        "skill-without-scores": ("delta-tool", "skills.json names it, and scores/ has nothing of it"),
        "skill-not-listed": ("gamma-flow", "skills.json does not name it"),
    }


def break_json(run: Run) -> None:
    run.texts["scores/alpha-sdk.json"] = '{"skill_name": '


def write_a_list(run: Run) -> None:
    run.texts["scores/alpha-sdk.json"] = "[]"


def write_nan(run: Run) -> None:
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = math.nan


def write_out_of_range(run: Run) -> None:
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = 6


def write_a_long_number(run: Run) -> None:
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = 10**400


def write_zero(run: Run) -> None:
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = 0


def write_text_score(run: Run) -> None:
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = "5"


def write_true(run: Run) -> None:
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = True


def misname_condition(run: Run) -> None:
    one = run.run("alpha-sdk", 0, 0)
    one["with_skil"] = one.pop("with_skill")


def repeat_run(run: Run) -> None:
    run.run("alpha-sdk", 0, 1)["run_index"] = 0


def repeat_task(run: Run) -> None:
    run.documents["scores/alpha-sdk.json"]["tasks"][1]["task_id"] = "alpha-sdk-1"


def repeat_skill(run: Run) -> None:
    run.documents["scores/other.json"] = run.documents["scores/alpha-sdk.json"]


def forget_name(run: Run) -> None:
    del run.documents["scores/alpha-sdk.json"]["skill_name"]


def forget_runs(run: Run) -> None:
    run.documents["scores/alpha-sdk.json"]["tasks"][0]["runs"] = None


def nest_deep(run: Run) -> None:
    run.texts["scores/alpha-sdk.json"] = '{"a":' * 5000 + "1" + "}" * 5000


BAD: list[tuple[Callable[[Run], None], str, str]] = [
    (break_json, "not-json", "scores/alpha-sdk.json, line 1, column 16"),
    (write_a_list, "not-json", "scores/alpha-sdk.json"),
    (write_nan, "not-finite", "scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality"),
    (write_out_of_range, "score-out-of-range", "scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality"),
    (write_a_long_number, "score-out-of-range", "scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality"),
    (write_zero, "score-out-of-range", "scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality"),
    (write_text_score, "score-not-number", "scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality"),
    (write_true, "score-not-number", "scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality"),
    (misname_condition, "unknown-name", "scores/alpha-sdk.json, tasks[0].runs[0].with_skil"),
    (repeat_run, "duplicate-row", "scores/alpha-sdk.json, tasks[0].runs[1]"),
    (repeat_task, "duplicate-row", "scores/alpha-sdk.json, tasks[1]"),
    (repeat_skill, "duplicate-row", "scores/other.json"),
    (forget_name, "not-valid", "scores/alpha-sdk.json, skill_name"),
    (forget_runs, "not-valid", "scores/alpha-sdk.json, tasks[0].runs"),
    (nest_deep, "too-deep", "scores/alpha-sdk.json"),
]


@pytest.mark.parametrize(("spoil", "code", "where"), BAD, ids=[spoil.__name__ for spoil, _, _ in BAD])
def test_bad_input_is_refused_with_its_place(tmp_path: Path, spoil: Callable[[Run], None], code: str, where: str) -> None:
    """Each fault names the file and the path inside it."""
    run = Run()
    spoil(run)

    with pytest.raises(TableError) as caught:
        read(run, tmp_path)

    assert [(fault.code, fault.where) for fault in caught.value.faults] == [(code, where)]


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    """Broken JSON in one file, scores in another, a condition in a third: one message tells all."""
    run = Run()
    run.texts["scores/alpha-sdk.json"] = "{"
    run.run("beta-docs", 0, 0)["baseline"]["judge"]["code_quality"] = 9
    run.run("beta-docs", 2, 1)["realistic"]["judge"]["api_idiomaticity"] = "high"
    one = run.run("gamma-flow", 1, 0)
    one["realstic"] = one.pop("realistic")

    with pytest.raises(TableError) as caught:
        read(run, tmp_path)

    assert sorted(list_codes(caught.value)) == ["not-json", "score-not-number", "score-out-of-range", "unknown-name"]
    assert "did you mean realistic?" in str(caught.value)


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    """The message says what was expected."""
    with pytest.raises(TableError, match="expected a folder scores/") as caught:
        read_recording(tmp_path)

    assert list_codes(caught.value) == ["unknown-format"]


def test_an_earlier_state_is_compared(tmp_path: Path) -> None:
    """A score that changed with the text unchanged was given anew; the contrast then and now stand side by side."""
    run = Run()
    earlier = json.loads(json.dumps(run.documents["scores/alpha-sdk.json"]))
    earlier["scored_at"] = "2026-01-01T00:00:00+00:00"
    earlier["tasks"][0]["runs"][0]["with_skill"]["judge"] = dict.fromkeys(DIMENSIONS, 5)
    run.documents["history/first/scores/alpha-sdk.json"] = earlier
    texts = json.loads(json.dumps(run.documents["generations/alpha-sdk.json"]))
    texts["tasks"][1]["runs"][0]["baseline"]["output"] = "another text"
    run.documents["history/first/generations/alpha-sdk.json"] = texts

    recording = read(run, tmp_path)
    (state,) = compare_states(recording, recording.skills, SETTINGS)

    assert (state.state, state.skill, state.compared, state.failed) == ("first", "alpha-sdk", 18, 1)
    assert (state.texts_changed, state.scores_changed, state.rescored) == (1, 1, 1)
    # One composite of six under B was 5 and is 4; it is one of two runs of one of three tasks.
    then, now = state.deltas["B−A"]
    assert then is not None
    assert now is not None
    assert then - now == pytest.approx(1 / 2 / 3)


def test_unreadable_history_is_told_too(tmp_path: Path) -> None:
    """An earlier state is checked as strictly as the present one."""
    run = Run()
    run.texts["history/first/scores/alpha-sdk.json"] = "no json"

    with pytest.raises(TableError) as caught:
        read(run, tmp_path)

    assert [fault.where for fault in caught.value.faults] == ["history/first/scores/alpha-sdk.json"]
