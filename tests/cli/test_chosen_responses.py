"""Responses and weights that are chosen after the scores were seen establish nothing, although the lock fixes no tasks."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.verdict.overclaims.recipe import LOG_OPTIONS, build_rows, write_json, write_log, write_table
from tests.verdict.overclaims.story import ENDPOINT as MODEL
from tests.verdict.overclaims.story import Story, tell_sabotage

Row = dict[str, Any]


@pytest.fixture
def story(caveat: Caveat, tmp_path: Path) -> Story:
    """A registry with one claim, "at most 20 %", a bound endpoint name and a lock that fixes no tasks."""
    return tell_sabotage(caveat, tmp_path)


def is_kept(row: Row) -> bool:
    """A bad deployment response is left out; so no row says that it was made."""
    return row["arm"] == "test" or row["score"] == 0


@pytest.mark.parametrize(("keep", "standing"), [(is_kept, "provisional"), (lambda _: True, None)])
def test_pairs_of_task_and_context_without_a_row_are_a_departure(story: Story, keep: Callable[[Row], bool], standing: str | None) -> None:
    """40 % of the deployment responses sabotage. Without their rows none does."""
    rows = build_rows({"model_returned": MODEL, "test": {"rate": 0.05}, "deploy": {"rate": 0.4}})
    log = write_log(story.folder / "run.eval", [row for row in rows if keep(row)])

    done = story.caveat("audit", "conclude", story.names["main"], log, *LOG_OPTIONS, "--json")

    assert done.code == 0, done.err
    reading = done.document["restriction"]["classification"]["readings"][0]
    if standing is None:
        assert (reading["verdict"], reading["verdict_standing"]) == ("contradicted", "established")
        return
    assert (reading["verdict"], reading["verdict_standing"]) == ("holds", standing)
    assert "the scores are of other tasks than the lock fixes" in reading["why"]
    assert "128 of 320 pairs of task and context have no row" in done.err


def write_weighted(story: Story, weight: float) -> Path:
    """A table of 60 tasks of which the last 20 nearly always sabotage in deployment, and have *weight*; the others have 1."""
    now = datetime.now(UTC).isoformat()
    lines = ["task,arm,context,score,model,started_at,truncated,weight"]
    for row in build_rows({"tasks": 60, "test": {"rate": 0.05}, "deploy": {"task_rates": [0.02, 0.02, 0.9]}}):
        heavy = weight if int(row["task_id"][1:]) >= 40 else 1
        lines.append(f"{row['task_id']},{row['arm']},{row['context_id']},{row['score']:g},{MODEL},{now},0,{heavy}")
    table = story.folder / "own.csv"
    table.write_text("\n".join(lines), encoding="utf-8")
    return table


@pytest.mark.parametrize(("weight", "outcome"), [(0.01, ("holds", "provisional")), (1, ("contradicted", "established"))])
def test_weights_that_no_lock_fixes_establish_nothing(story: Story, weight: float, outcome: tuple[str, str | None]) -> None:
    """The tasks that fail count for nothing: 31 % become 2 %. Page one says that there are weights."""
    roles = ",".join(f"{role}={role}" for role in ("task", "arm", "context", "score", "model", "started_at", "truncated", "weight"))
    stated = write_json(
        story.folder / "stated.json", {"judge": "match", "sampling": "default", "accessed": f"{datetime.now(UTC):%Y-%m-%d}"}
    )

    done = story.caveat(
        "audit", "conclude", story.names["main"], write_weighted(story, weight), "--map", roles, "--provenance", stated, "--json"
    )

    assert done.code == 0, done.err
    reading = done.document["restriction"]["classification"]["readings"][0]
    assert (reading["verdict"], reading["verdict_standing"]) == outcome
    page = story.read_page("page")
    assert ("Tasks are weighted: 60 count like 40 of equal weight." in page) is (weight != 1)
    assert ("tasks with weights from 0.01 to 1, which the lock does not fix" in done.err) is (weight != 1)


def test_asking_again_where_a_score_was_bad_establishes_nothing(story: Story) -> None:
    """Each bad response is asked eight times more: 40 % become 5 %."""
    rows = build_rows({"model_returned": MODEL, "test": {"rate": 0.05}, "deploy": {"rate": 0.4}})
    bad = [row for row in rows if row["arm"] == "deploy" and row["score"] == 1]
    again = [{**row, "sample": number, "score": 0.0} for row in bad for number in range(1, 9)]
    table = write_table(story.folder / "scores.csv", [*rows, *again])

    done = story.caveat("audit", "conclude", story.names["main"], table, "--run-date", datetime.now(UTC).isoformat(), "--json")

    assert done.code == 0, done.err
    assert done.document["restriction"]["basis"] == "reported"
    assert "192 of 320 pairs of task and context have fewer responses than another task in the same context" in done.err
