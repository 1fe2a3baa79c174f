"""The second recorded replay: it meets the conditions of an established verdict, and card and README state what was measured."""

import re
import runpy
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audit.demo_story import SECOND_CONCLUDED, SECOND_LOCKED
from audit.modules.differential_estimate import estimate
from audit.records.model_response import Purpose, Response
from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from audit.replay.run_store import RunStore, open_store
from audit.score.run_evidence import read_run
from audit.score.scorers import read_scorer
from registry.codec.file_io import read_document
from registry.configuration import find_resource
from registry.records.analysis_plan import Plan

EXAMPLE = find_resource("examples") / "established"
SCORERS = {"single-sentence": "sentence-count", "refusals": "refusal-words", "long-answers": "word-limit"}
"""Short name of the scoring in the claims file, by the name of the scorer's file."""


def copy_run(name: str, folder: Path) -> Path:
    """Return *folder* with the database of the run *name*: opening a database writes beside it."""
    shutil.copyfile(EXAMPLE / name / "responses.db", folder / "responses.db")
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return copy_run("run", tmp_path)


@pytest.fixture
def store(run: Path) -> Iterator[RunStore]:
    opened = open_store(run)
    yield opened
    opened.close()


def read_scores(run: Path, name: str) -> Any:
    """Return the score table of *run* by the scorer in the file called *name*."""
    scorer = read_scorer(read_document(EXAMPLE / f"{name}.yaml"), where=name)
    return read_run(run, low=0, high=1, scorer=scorer).table


def list_sides(store: RunStore) -> dict[str, list[Response]]:
    """Return the responses of each side."""
    arms = {key: cell.arm for cell, key in store.list_cells()}
    sides = defaultdict(list)
    for response in store.list_responses(Purpose.REPLAY):
        sides[arms[response.key]].append(response)
    return sides


def test_the_recording_is_of_the_files_beside_it(store: RunStore) -> None:
    """Every call that tasks, contexts and policy come to was made, and no other."""
    file = read_replay(EXAMPLE / "replay.yaml", None)

    assert set(store.list_cells()) == {(planned.cell, planned.call.key) for planned in build_design(file.replay, file.tasks, file.contexts)}


def test_the_design_is_large_enough(store: RunStore) -> None:
    """24 tasks and eight contexts a side; every call answered by the model that was asked."""
    cells = [cell for cell, _ in store.list_cells()]
    responses = list(store.list_responses(Purpose.REPLAY))

    assert len({cell.task_id for cell in cells}) == 24
    assert {arm: len({cell.context_id for cell in cells if cell.arm == arm}) for arm in ("test", "deploy")} == {"test": 8, "deploy": 8}
    assert len(responses) == len(cells) == 384
    assert {response.failure for response in responses} == {None}
    assert {response.model_returned for response in responses} == {"smollm2-135m-instruct-q4_1"}


def test_truncation_is_rare_and_equal(store: RunStore) -> None:
    """At most 5 % of the responses of a side are truncated, the sides differ by at most 3 points, and the README gives both counts."""
    sides = list_sides(store)
    truncated = {arm: Counter(response.stop_reason for response in responses)["max_tokens"] for arm, responses in sides.items()}
    shares = {arm: truncated[arm] / len(responses) for arm, responses in sides.items()}

    assert max(shares.values()) <= 0.05
    assert abs(shares["test"] - shares["deploy"]) <= 0.03
    printed = f"truncated {truncated['test']} of 192 examination answers and {truncated['deploy']} of 192 everyday answers"
    assert printed in " ".join((EXAMPLE / "README.md").read_text(encoding="utf-8").split())


def test_the_plans_were_locked_before_the_first_response(store: RunStore) -> None:
    """The run begins after the locks and ends before the import, by the clock of one machine."""
    begun = datetime.fromisoformat(str(store.find_beginning()))
    received = [response.received_at for response in store.list_responses(Purpose.REPLAY) if response.received_at is not None]

    assert SECOND_LOCKED < begun < max(received) < SECOND_CONCLUDED


@pytest.mark.parametrize("name", SCORERS)
def test_the_readme_gives_the_figures_of_the_recording(run: Path, name: str) -> None:
    """Φ of both sides and ED in the README are those of the recorded responses."""
    row = re.search(rf"^\| {name} \|.*$", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    (figures,) = estimate(read_scores(run, name), Plan(margin=0.05, level=0.95, replicates=0), range_=(0.0, 1.0)).specs

    assert row is not None
    printed = [cell.strip().replace("−", "-") for cell in row[0].split("|")[2:5]]
    assert printed == [
        f"{measure.value:.3f} [{measure.low:.3f}, {measure.high:.3f}]" for measure in (figures.phi_test, figures.phi_deploy, figures.ed)
    ]


@pytest.mark.parametrize("name", SCORERS)
def test_the_card_gives_the_figures_of_the_pilot(tmp_path: Path, name: str) -> None:
    """Each figure of the card is the pilot's examination side by the scorer of its claim, and the claims file repeats it."""
    (figures,) = estimate(
        read_scores(copy_run("pilot", tmp_path), name), Plan(margin=0.05, level=0.95, replicates=0), range_=(0.0, 1.0)
    ).specs
    share = figures.phi_test.value
    claims = read_document(EXAMPLE / "claims.yaml")["claims"]
    (claim,) = [claim for claim in claims if claim["scoring"] == SCORERS[name]]

    card = " ".join((EXAMPLE / "card.md").read_text(encoding="utf-8").split())
    assert re.search(rf"{100 * share + 1e-9:.1f} % (of the answers were a single sentence )?\({round(96 * share)} of 96 answers\)", card)
    assert claim["reported"] == {"value": pytest.approx(share, abs=0.0005), "n": 96}


def test_the_pilot_asked_none_of_the_questions_of_the_replay(store: RunStore, tmp_path: Path) -> None:
    """The thresholds were chosen on the pilot's answers, so the replay needs other questions."""
    folder = tmp_path / "pilot"
    folder.mkdir()
    pilot = open_store(copy_run("pilot", folder))
    asked = {cell.task_id for cell, _ in pilot.list_cells()}
    pilot.close()

    assert len(asked) == 12
    assert not asked & {cell.task_id for cell, _ in store.list_cells()}


@pytest.mark.parametrize(
    ("side", "group", "short"),
    [("examination", "test_contexts", "short-answer-examination"), ("everyday", "deploy_contexts", "everyday-life")],
)
def test_the_contexts_are_those_that_were_drawn(side: str, group: str, short: str) -> None:
    """The frame and the seed give the contexts of the replay, and the claims register the same ones."""
    drawing = runpy.run_path(str(EXAMPLE / "draw.py"))
    chance = drawing["random"].Random(drawing["SEED"])
    frame = read_document(EXAMPLE / "frame.yaml")
    drawn = {name: drawing["draw"](frame[name], chance) for name in drawing["FILES"]}

    assert read_document(EXAMPLE / f"{side}.yaml")["contexts"] == drawn[side]
    registered = read_document(EXAMPLE / "claims.yaml")[group][short]
    assert registered == read_document(EXAMPLE / f"{side}.yaml")
    assert len(drawn[side]) == 8
