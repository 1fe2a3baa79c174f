"""A replay that stops under anytime intervals: the longest complete prefix of the plan's order counts, chosen before any score is seen."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.cli.imported_evidence import read_evidence
from audit.endpoints.endpoint_opening import open_endpoint
from audit.replay.call_engine import run_calls
from audit.replay.replay_design import build_design, order_for_stopping
from audit.replay.replay_file import read_replay
from audit.replay.run_store import get_tasks, open_store, put_replay
from audit.score.run_evidence import drop_beyond, list_beyond
from audit.score.scorers import score_run
from audit.sources.log_rows import LogOptions, describe_accounts
from audit.sources.score_table import read_table
from audit.statistics.mean_intervals import list_beyond_prefix, order_tasks
from registry.records.specification import PatternScorer
from tests.endpoint.server import KEY, Endpoint, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

TASKS, CALLS, SEED = 10, 4, 7
SCORING = "scoring: {kind: pattern, score: any_expected, expected: [ok]}"
NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


def stop_after(folder: Path, count: int) -> Path:
    """Make the first *count* calls of a replay that is made task by task, and score them."""
    file = read_replay(write_replay(folder, tasks=TASKS, more=SCORING), None)
    planned = order_for_stopping(build_design(file.replay, file.tasks, file.contexts), file.tasks, seed=SEED)
    store = open_store(folder / "small.run", create=True)
    store.add_cells(planned)
    put_replay(store, file.replay, file.tasks)

    async def go(server: Endpoint) -> None:
        async with open_endpoint(file.replay.policy, environ={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}) as endpoint:
            await run_calls(store, [call.call for call in planned[:count]], endpoint)

    with run_endpoint() as server:
        asyncio.run(go(server))
    assert isinstance(file.replay.scoring, PatternScorer)
    score_run(store, file.replay.scoring, get_tasks(store))
    store.close()
    return folder / "small.run"


def test_calls_are_made_task_by_task_in_the_plans_order(tmp_path: Path) -> None:
    """Within a task arms and contexts stay mixed as they were."""
    file = read_replay(write_replay(tmp_path, tasks=TASKS), None)
    design = build_design(file.replay, file.tasks, file.contexts)
    ordered = order_for_stopping(design, file.tasks, seed=SEED)
    names = [task.id for task in file.tasks]
    tasks = list(dict.fromkeys(call.cell.task_id for call in ordered))

    assert tasks == [names[place] for place in order_tasks(names, seed=SEED)]
    assert [call.cell.task_id for call in ordered] == [task for task in tasks for _ in range(CALLS)]
    for task in tasks:
        assert [call for call in ordered if call.cell.task_id == task] == [call for call in design if call.cell.task_id == task]


def test_what_lies_beyond_the_prefix_is_kept_reported_and_does_not_count(tmp_path: Path) -> None:
    """Three tasks are complete and a fourth is half done: its two responses are in the account, and not in the table."""
    run = stop_after(tmp_path, 3 * CALLS + 2)
    options = LogOptions(unfinished=True)
    stopped = read_evidence([str(run)], options, low=0, high=1, prefix_seed=SEED)
    fixed = read_evidence([str(run)], options, low=0, high=1)
    store = open_store(run)
    beyond = list_beyond(store, SEED)
    count = sum(store.find_response(key) is not None for _, key in store.list_cells())
    store.close()
    assert stopped.imported is not None
    account = {responses.reason: (responses.count, responses.is_row) for responses in stopped.imported.files[0].excluded}

    assert len(beyond) == TASKS - 3
    assert (stopped.table.rows, fixed.table.rows, count) == (3 * CALLS, 3 * CALLS + 2, 3 * CALLS + 2)
    assert account == {"beyond-prefix": (2, False), "unanswered": ((TASKS - 3) * CALLS - 2, False)}
    assert "2 not taken: beyond-prefix" in describe_accounts(stopped.imported)


def test_a_complete_run_counts_as_a_whole(tmp_path: Path) -> None:
    """No task is beyond the prefix, and the table is the same with and without the rule."""
    run = stop_after(tmp_path, TASKS * CALLS)
    store = open_store(run)
    assert list_beyond(store, SEED) == frozenset()
    store.close()
    tables = [read_evidence([str(run)], LogOptions(), low=0, high=1, prefix_seed=seed).table for seed in (SEED, None)]

    assert tables[0].content == tables[1].content
    assert tables[0].rows == TASKS * CALLS


@given(NAMES, st.sets(st.sampled_from("abcdefgh")), st.integers(0, 50))
def test_the_prefix_is_the_longest_without_an_open_task(names: list[str], open_ids: set[str], seed: int) -> None:
    """Everything before it is complete, and the first task beyond it is not."""
    beyond = list_beyond_prefix(names, open_ids, seed=seed)
    order = [names[place] for place in order_tasks(names, seed=seed)]
    prefix = order[: len(order) - len(beyond)]

    assert [*prefix, *beyond] == order
    assert not open_ids & set(prefix)
    assert not beyond or beyond[0] in open_ids


def test_a_family_counts_as_a_whole() -> None:
    """One open task takes its family out, also tasks of it that come before."""
    kin = {name: name[0] for name in ("a1", "a2", "b1", "b2", "c1", "c2")}
    names = list(kin)
    order = [names[place] for place in order_tasks(names, seed=3, families=list(kin.values()))]
    # The second task of the second family.
    beyond = list_beyond_prefix(names, {order[3]}, seed=3, families=list(kin.values()))

    assert [kin[name] for name in order[2:4]] == [kin[order[2]]] * 2
    assert beyond == order[2:]


@pytest.mark.parametrize("interval", ["anytime", "guaranteed"])
def test_an_estimate_of_a_run_folder_says_what_does_not_count(tmp_path: Path, caveat: Caveat, interval: str) -> None:
    """With anytime intervals; the rows are dropped before the design is looked at."""
    run = stop_after(tmp_path, 3 * CALLS + 2)
    store = open_store(run)
    beyond = list_beyond(store, SEED)
    store.close()
    caveat("audit", "score", run)
    table = read_table([run / "scores.csv"], low=0, high=1)
    ran = caveat("analyze", "estimate", run, "--interval", interval, "--contexts", "nested", "--seed", str(SEED))

    assert drop_beyond(table, beyond).rows == 3 * CALLS
    assert ("2 responses to the 7 tasks" in ran.err) == (interval == "anytime")
