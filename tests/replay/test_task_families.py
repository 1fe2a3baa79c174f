"""Families of tasks in task files, run folders, the plan's order and locks."""

from dataclasses import replace
from pathlib import Path

import pytest

from audit.modules.differential_estimate import estimate
from audit.protocol.lock_adherence import compare_scores
from audit.records.model_response import ReplayCell
from audit.replay.replay_design import read_tasks
from audit.replay.replay_file import digest_tasks
from audit.replay.run_rows import NamedClusters, list_rows, read_clusters, write_table
from audit.score.scorers import digest_scorer, score_run
from audit.sources.score_table import read_table, read_task_families
from audit.statistics.mean_intervals import order_tasks
from registry.errors import InputError
from registry.records.analysis_plan import Lock, LockedItem, LockedTasks, Plan
from registry.records.claim import Direction
from registry.records.replay_run import Provenance
from tests.score.runs import write_run
from tests.score.test_run_table import CHOICE, TASKS, answer

FAMILIES = tuple(replace(task, family=f"f{place // 2}") for place, task in enumerate(TASKS))


def test_a_family_is_a_key_of_a_task_and_a_column_of_a_csv_file(tmp_path: Path) -> None:
    """It is no field of the task; white space around it is refused."""
    path = tmp_path / "tasks.csv"
    path.write_text("id,prompt,family\na,One?,f\nb,Two?,\n", encoding="utf-8")

    assert [(task.family, task.fields) for task in read_tasks(path)] == [("f", None), (None, None)]
    path.write_text("id,prompt,family\na,One?, f\n", encoding="utf-8")
    with pytest.raises(InputError, match="white space"):
        read_tasks(path)


def test_the_table_of_a_run_has_the_families_of_its_tasks(tmp_path: Path) -> None:
    """The estimate of six tasks in three families counts three."""
    store = write_run(tmp_path, FAMILIES, answer({"test": 4, "deploy": 5}), CHOICE)
    score_run(store, CHOICE, {task.id: task for task in FAMILIES})
    write_table(list_rows(store, digest_scorer(CHOICE)), tmp_path / "scores.csv", clusters=read_clusters(store))
    store.close()

    table = read_table([tmp_path / "scores.csv"], low=0, high=1)

    assert estimate(table, Plan(replicates=0), range_=(0, 1)).specs[0].n.families == 3


def test_templates_go_by_arm_and_context() -> None:
    """A context of the same name in the other arm may have another template, and a run without any has no column."""
    named = NamedClusters(families={}, templates={("test", "c1"): "plain"}, weights={})
    cells = [ReplayCell(task_id="t", arm=arm, context_id="c1", sample=0) for arm in ("test", "deploy")]

    assert named.columns == ("template",)
    assert [named.list_values(cell) for cell in cells] == [("plain",), (None,)]


def test_the_order_keeps_the_tasks_of_a_family_together(tmp_path: Path) -> None:
    """Families come in the order of their names' digests, as tasks without families do."""
    path = tmp_path / "tasks.csv"
    path.write_text("task_id,family\n" + "".join(f"t{task},f{task % 4}\n" for task in range(12)), encoding="utf-8")

    named = read_task_families(path)
    ordered = [list(named.values())[place] for place in order_tasks(list(named), seed=7, families=[str(one) for one in named.values()])]

    assert len(named) == 12
    assert list(dict.fromkeys(ordered)) == [f"f{place}" for place in order_tasks(["f0", "f1", "f2", "f3"], seed=7)]
    assert [ordered[start] == ordered[start + 2] for start in (0, 3, 6, 9)] == [True] * 4


def test_scores_in_other_families_than_the_lock_are_a_departure(tmp_path: Path) -> None:
    """Families that are chosen after the scores were seen would move every interval."""
    path = tmp_path / "scores.csv"
    ids = [f"t{task}" for task in range(4)]
    lock = Lock(
        audit="AUD-1",
        claim="CLM-1@1",
        plan=Plan(margin=0.05),
        relation=None,
        theta=None,
        direction=Direction.LOWER_IS_SAFER,
        deploy_specs=("default",),
        tasks=LockedTasks(count=4, sha256=digest_tasks(ids), ids=tuple(ids), families=("a", "a", "b", "b")),
    )

    def compare(families: str) -> list[LockedItem]:
        rows = [f"{task},{arm},c1,0,1,{family}" for arm in ("test", "deploy") for task, family in zip(ids, families, strict=True)]
        path.write_text("task_id,arm,context_id,sample,score,family\n" + "\n".join(rows) + "\n", encoding="utf-8")
        deviations = compare_scores(lock, read_table([path], low=0, high=1), Provenance(), None, {})
        return [one.item for one in deviations if "another family" in one.done]

    assert compare("aabb") == []
    assert compare("abab") == [LockedItem.TASKS]
