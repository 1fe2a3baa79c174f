"""What only two logs together show: tasks that are not the same, names that contradict arms, counts that must agree."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.errors import TableError
from audit.sources.log_import import read_rows
from audit.sources.log_rows import LogOptions
from tests.examples import scale
from tests.sources.eval_archive import build_header, build_sample, write_log
from tests.sources.log_fixtures import HARNESS, LOGS


def write_pair(folder: Path, **changes: Any) -> tuple[str, str]:
    """Two logs of two tasks; the second has *changes* in each sample."""
    paths = (
        write_log(folder, *(build_sample(f"s{place}", value, **extra) for place in range(2)), name=name)
        for name, value, extra in (("one.eval", "C", {}), ("two.eval", "I", changes))
    )
    first, second = map(str, paths)
    return first, second


def read_pair(paths: tuple[str, str], **said: Any) -> Any:
    return read_rows(paths, LogOptions(arms=dict(zip(paths, ("test", "deploy"), strict=True)), **said))


def test_tasks_of_another_benchmark_are_not_paired_by_their_numbers(tmp_path: Path) -> None:
    """Inspect numbers samples from 1 in any data set; two of these share identifiers and nothing else."""
    paths = write_pair(tmp_path, target="7")

    with pytest.raises(TableError) as caught:
        read_pair(paths)

    fault = caught.value.faults[0]
    assert [one.code for one in caught.value.faults] == ["task-texts-differ"]
    assert "so have 2 tasks in all" in fault.found
    assert "--task-field sample.id" in (fault.advice or "")


def test_who_says_what_a_task_is_pairs_by_it_and_is_warned(tmp_path: Path) -> None:
    """Shuffled choices give one question two letters as its target."""
    rows, imported = read_pair(write_pair(tmp_path, target="7"), task_field="sample.id")

    assert sorted({row.task_id for row in rows}) == ["s0", "s1"]
    assert [one for one in imported.files[0].warnings if "near-duplicates" not in one] == []
    assert imported.files[1].warnings == (
        "2 tasks have another target than in one.eval, and are paired with it by what --task-field names",
    )


@pytest.mark.parametrize("target", [["2"], "2", None, "", []])
def test_one_target_in_two_forms_or_none_is_no_other_task(tmp_path: Path, target: object) -> None:
    """A list of one text is that text; what states no target cannot differ."""
    rows, imported = read_pair(write_pair(tmp_path, target=target))

    assert (len(rows), imported.files[1].warnings) == (4, ())


@pytest.mark.parametrize(
    ("names", "warned"),
    [
        (("eval_deploy.eval", "eval_test.eval"), ["its name says deploy", "its name says test"]),
        (("a.eval", "b.eval"), []),
        (("latest.eval", "deployed.eval"), []),
        (("test_of_deploy.eval", "deploy_of_test.eval"), []),
    ],
)
def test_swapped_arms_are_seen_where_names_tell(tmp_path: Path, names: tuple[str, str], warned: list[str]) -> None:
    """The first log is given as `test`; only whole words of a name count, and a name that holds its own arm is right."""
    first, second = (str(write_log(tmp_path, build_sample(value=value), name=name)) for name, value in zip(names, "CI", strict=True))

    imported = read_pair((first, second))[1]

    told = [warning for file in imported.files for warning in file.warnings]
    assert len(told) == len(warned)
    assert all(said in one for said, one in zip(warned, told, strict=True))


SCORES = st.sampled_from(["C", "I", "P", 0.25, True, None, float("nan")])
SAMPLES = st.lists(
    st.tuples(SCORES, st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=8
)  # score, broken, invalid, scored at all
LAWS = settings(max_examples=scale(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(samples=SAMPLES, declared=st.integers(0, 10), again=st.integers(0, 2))
@LAWS
def test_the_accounts_of_an_inspect_log_add_up(
    tmp_path: Path, samples: list[tuple[Any, bool, bool, bool]], declared: int, again: int
) -> None:
    """Found is scored, excluded and superseded; rows are scored and excluded; what the header states is told as it is."""
    made = [
        build_sample(f"s{place}", value)
        | ({"error": {"message": "lost"}} if broken else {})
        | ({"invalidation": {"author": "Q"}} if invalid else {})
        | ({} if scored else {"scores": {}})
        for place, (value, broken, invalid, scored) in enumerate(samples)
    ]
    header = build_header(len(made)) | {"results": {"total_samples": declared, "completed_samples": declared}}
    path = str(write_log(tmp_path, *made, header=header))

    rows, imported = read_rows([path], LogOptions(arms={path: "test"}, scorer="match", unfinished=True))

    check_accounts(rows, imported, responses=len(made))
    assert imported.files[0].declared == declared
    assert (declared != len(made)) == any("the header states" in note for note in imported.files[0].notes if "completed" not in note)


@given(scores=st.lists(st.sampled_from([0.0, 1.0, None, float("nan"), float("inf")]), min_size=1, max_size=8), declared=st.integers(0, 10))
@LAWS
def test_the_accounts_of_a_harness_log_add_up(tmp_path: Path, scores: list[float | None], declared: int) -> None:
    """A document scored by two filters is one response of each; the other filter's lines are none."""
    results = json.loads((LOGS / "harness" / f"results_{HARNESS['test']}.json").read_text())
    results["n-samples"] = {"sums_free": {"original": 10, "effective": declared}}
    (tmp_path / f"results_{HARNESS['test']}.json").write_text(json.dumps(results))
    path = str(tmp_path / f"samples_sums_free_{HARNESS['test']}.jsonl")
    lines = [
        {"doc_id": place, "doc": {}, "arguments": {}, "filter": name, "metrics": ["exact_match"], "exact_match": score}
        for name in ("strict-match", "flexible-extract")
        for place, score in enumerate(scores)
    ]
    Path(path).write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    rows, imported = read_rows([path], LogOptions(arms={path: "test"}, key="strict-match", unfinished=True))

    check_accounts(rows, imported, responses=len(scores))
    assert imported.files[0].declared == declared


def check_accounts(rows: Any, imported: Any, *, responses: int) -> None:
    """What was found is its outcome."""
    file = imported.files[0]
    excluded = sum(one.count for one in file.excluded if one.is_row)
    assert file.found == responses == file.scored + sum(one.count for one in file.excluded)
    assert (file.scored, excluded) == (sum(row.score is not None for row in rows), sum(row.score is None for row in rows))
    assert all((row.score is None) == (row.excluded_reason is not None) for row in rows)


Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    "change",
    [
        lambda results: results.update(results={"sums_free": 4}),
        lambda results: results.update(configs={"sums_free": [1]}),
        lambda results: results.update({"n-samples": {"sums_free": {"effective": True, "original": -1}}}),
        lambda results: results.update({"n-samples": [], "versions": 3, "config": "x", "configs": None}),
    ],
)
def test_results_of_a_strange_form_state_nothing(tmp_path: Path, change: Change) -> None:
    """What is no object and no count is not taken for one, and breaks nothing."""
    name = f"samples_sums_free_{HARNESS['test']}.jsonl"
    (tmp_path / name).write_bytes((LOGS / "harness" / name).read_bytes())
    results = json.loads((LOGS / "harness" / f"results_{HARNESS['test']}.json").read_text())
    change(results)
    (tmp_path / f"results_{HARNESS['test']}.json").write_text(json.dumps(results))
    path = str(tmp_path / name)

    imported = read_rows([path], LogOptions(arms={path: "test"}, key="strict-match"))[1]

    assert imported.files[0].found == 6


def test_a_line_that_is_gone_is_missed_whichever_filter_is_read(tmp_path: Path) -> None:
    """Each document is scored by every filter: one line less shows that somebody cut the file."""
    name = f"samples_sums_free_{HARNESS['test']}.jsonl"
    lines = (LOGS / "harness" / name).read_text().splitlines(keepends=True)
    path = str(tmp_path / name)
    Path(path).write_text("".join(lines[:-1]))

    for key in ("strict-match", "flexible-extract"):
        with pytest.raises(TableError) as caught:
            read_rows([path], LogOptions(arms={path: "test"}, key=key))

        assert caught.value.code == "samples-missing"
