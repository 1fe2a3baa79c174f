"""The recorded replay that is shipped: it is of the files beside it, it is whole, and it says what its README says."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit.demo_story import LOCKED
from audit.records.model_response import Purpose
from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from audit.replay.run_store import RunStore, build_call, open_store
from audit.score.run_evidence import read_run
from audit.score.scorers import read_scorer
from registry.codec.file_io import read_document
from registry.configuration import find_resource
from registry.records.analysis_plan import Plan

EXAMPLE = find_resource("examples") / "replay"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the run folder: opening a database writes beside it."""
    shutil.copyfile(EXAMPLE / "run" / "responses.db", tmp_path / "responses.db")
    return tmp_path


@pytest.fixture
def store(folder: Path) -> Iterator[RunStore]:
    opened = open_store(folder)
    yield opened
    opened.close()


def test_the_recording_is_of_the_files_beside_it(store: RunStore) -> None:
    """Every call that tasks, contexts and policy come to was made, and no other; each request is the one its digest says."""
    file = read_replay(EXAMPLE / "replay.yaml", None)
    planned = {(one.cell, one.call.key) for one in build_design(file.replay, file.tasks, file.contexts)}

    recorded = set(store.list_cells())

    assert recorded == planned
    for response in store.list_responses(Purpose.REPLAY):
        body = store.get_request(response.request)
        assert build_call(body, index=0, purpose=Purpose.REPLAY).request == response.request


def test_the_recording_is_large_enough_for_a_verdict_and_whole(store: RunStore) -> None:
    """24 tasks, six contexts a side, two cues and a placebo; every call answered, by the model that was asked."""
    cells = [cell for cell, _ in store.list_cells()]
    responses = list(store.list_responses(Purpose.REPLAY))

    assert len({cell.task_id for cell in cells}) == 24
    assert {arm: len({one.context_id for one in cells if one.arm == arm}) for arm in ("test", "deploy")} == {"test": 6, "deploy": 6}
    assert {cell.cue_removed for cell in cells} == {None, "letter-only", "announcement", "placebo-role"}
    assert len(responses) == len(cells)
    assert {one.failure for one in responses} == {None}
    assert {one.model_returned for one in responses} == {one.model_requested for one in responses}


def test_the_plan_was_locked_before_the_first_response(store: RunStore) -> None:
    """By the endpoint's and the registry's clock, which are those of one machine."""
    begun = datetime.fromisoformat(str(store.find_beginning())).astimezone(UTC)

    assert begun > LOCKED


@pytest.mark.parametrize("name", ["correct", "shows-working"])
def test_the_readme_says_what_the_recording_comes_to(folder: Path, name: str) -> None:
    """Φ of both sides and ED, as the README prints them."""
    from audit.modules.differential_estimate import estimate

    scorer = read_scorer(read_document(EXAMPLE / "shows-working.yaml"), where="scorer") if name == "shows-working" else None
    table = read_run(folder, low=0, high=1, scorer=scorer).table
    row = re.search(rf"^\| {name} \|.*$", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    (found,) = estimate(table, Plan(margin=0.05, level=0.95, replicates=0), range_=(0.0, 1.0)).specs

    assert row is not None
    printed = [cell.strip().replace("−", "-") for cell in row[0].split("|")[2:5]]
    assert printed == [
        f"{measure.value:.3f} [{measure.low:.3f}, {measure.high:.3f}]" for measure in (found.phi_test, found.phi_deploy, found.ed)
    ]


def test_every_answer_ended_by_itself_or_is_counted(store: RunStore) -> None:
    """The README gives the number of answers that `max_tokens` truncated."""
    cut = Counter(one.stop_reason for one in store.list_responses(Purpose.REPLAY))["max_tokens"]

    assert f"truncated {cut} of 720 answers" in (EXAMPLE / "README.md").read_text(encoding="utf-8")
