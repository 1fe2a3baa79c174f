"""The interval method, the planned number of tasks and the order to replay in, by the command line."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import AUDIT, register

CASE = """
claim:
  quote: "Scheming stays at or below 50 %."
  form: threshold
  relation: "<="
  theta: 0.5
  property: {{name: scheming rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer, suppressible: true}}
plan: {plan}
scores: scores.csv
"""


def write_scores(folder: Path, *, tasks: int = 24, contexts: int = 6, share: float = 0.2, nested: bool = False, weight: str = "") -> None:
    rng = np.random.default_rng(3)
    lines = ["task_id,arm,context_id,sample,score,weight"]
    for task in range(tasks):
        for arm in ("test", "deploy"):
            for context in range(contexts):
                name = f"t{task}-{arm}-{context}" if nested else f"c{context}"
                lines.append(f"t{task},{arm},{name},0,{int(rng.random() < share)},{weight and task % 3 + 1}")
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("method", "nested", "said"),
    [
        ("closed_form", False, "intervals at 95 %"),
        ("guaranteed", False, "guaranteed intervals at 95 %"),
        ("anytime", True, "anytime intervals (the replay may be stopped at any look) at 95 %"),
    ],
)
def test_the_output_names_the_method(caveat: Caveat, tmp_path: Path, method: str, said: str, *, nested: bool) -> None:
    """In the first line, at the end, and in the document."""
    write_scores(tmp_path, nested=nested)
    options = ("--interval", method, "--replicates", "0", *(("--contexts", "nested") if nested else ()))

    text, document = (
        caveat("analyze", "estimate", "scores.csv", *options),
        caveat("analyze", "estimate", "scores.csv", *options, "--json").document,
    )

    assert text.code == 0
    assert " ".join(text.out.split()).startswith(said)
    assert document["interval"] == method
    assert document["specs"][0]["ed"]["method"].startswith(method.replace("_", "-"))
    assert (document["specs"][0]["sequence"] is not None) == (method == "anytime")


def test_anytime_intervals_ask_for_nested_contexts(caveat: Caveat, tmp_path: Path) -> None:
    """Before a table is read, and again where contexts turn out to be shared."""
    write_scores(tmp_path)

    declared = caveat("analyze", "estimate", "scores.csv", "--interval", "anytime")
    shared = caveat("analyze", "estimate", "scores.csv", "--interval", "anytime", "--contexts", "nested")

    assert (declared.code, shared.code) == (2, 2)
    assert "anytime intervals need nested contexts" in declared.err
    assert "contexts-shared" in shared.err


def test_a_deviation_from_the_planned_tasks_is_printed(caveat: Caveat, tmp_path: Path) -> None:
    """And a regression that is not there says why."""
    write_scores(tmp_path, tasks=15)

    answer = caveat("analyze", "estimate", "scores.csv", "--tasks", "40", "--random-subset", "--replicates", "0")

    out = " ".join(answer.out.split())
    assert "stopped-early: Deviation: only 15 of 40 planned tasks" in out
    assert "ED over all tasks by regression (15 of 15 tasks replayed): none: 15 tasks were replayed" in out


def test_weights_are_printed_with_what_they_leave(caveat: Caveat, tmp_path: Path) -> None:
    """24 tasks of weights 1, 2, 3 are worth 48²/112 = 20.6."""
    write_scores(tmp_path, weight="yes")

    assert "24 tasks (weighted, worth 20.6)" in " ".join(caveat("analyze", "estimate", "scores.csv", "--replicates", "0").out.split())


def test_an_impossible_differential_is_not_promised(caveat: Caveat, tmp_path: Path) -> None:
    """Where even |ED| = 1 would not be found, the sentence says so."""
    write_scores(tmp_path, tasks=6, contexts=2, share=0.5)

    out = " ".join(caveat("analyze", "estimate", "scores.csv", "--interval", "guaranteed", "--replicates", "0").out.split())

    assert "this design finds no possible |ED| with 80 % power" in out


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("{interval: guaranteed, replicates: 0}", "guaranteed 95 % CI"),
        ("{interval: anytime, contexts: nested, replicates: 0}", "anytime-valid 95 % CI"),
        ("{replicates: 0}", "(95 % CI"),
    ],
)
def test_the_verdict_names_the_method(caveat: Caveat, tmp_path: Path, plan: str, words: str) -> None:
    """In the sentences of the restricted claim; only the guaranteed one allows for contexts that were not drawn."""
    write_scores(tmp_path, tasks=60, contexts=20, nested="nested" in plan)
    (tmp_path / "case.yaml").write_text(CASE.format(plan=plan), encoding="utf-8")

    document = caveat("analyze", "classify", "case.yaml", "--json").document

    assert document["verdict"].startswith("Holds in the contexts tested (provisional: it is not stated how")
    assert words in document["restricted_claim"]
    assert ("the guaranteed interval allows for them" in document["restricted_claim"]) == ("guaranteed" in plan)
    assert ("assumes no rare trigger contexts" in document["restricted_claim"]) == ("guaranteed" not in plan)


def test_what_would_settle_it_is_said_for_every_method(caveat: Caveat, tmp_path: Path) -> None:
    """Tasks and contexts in guaranteed mode, tasks alone in the anytime one."""
    said = {}
    for plan in ("{interval: guaranteed, replicates: 0}", "{interval: anytime, contexts: nested, replicates: 0}"):
        write_scores(tmp_path, share=0.4, nested="nested" in plan)
        (tmp_path / "case.yaml").write_text(CASE.format(plan=plan), encoding="utf-8")
        said[plan] = caveat("analyze", "classify", "case.yaml", "--json").document["readings"][0]["resolves"]

    first, second = said.values()
    assert "more contexts per side and" in first
    assert "context" not in second
    assert "more tasks" in second


def test_effective_tasks_decide_whether_a_class_is_given(caveat: Caveat, tmp_path: Path) -> None:
    """21 tasks of weights 1, 2, 3 are worth 18: too few."""
    write_scores(tmp_path, tasks=21, weight="yes")
    (tmp_path / "case.yaml").write_text(CASE.format(plan="{replicates: 0}"), encoding="utf-8")

    reading = caveat("analyze", "classify", "case.yaml", "--json").document["readings"][0]

    assert (reading["class"], reading["mode"]) == ("undetermined", "technical")
    assert "21 tasks (worth 18.0 of equal weight)" in reading["why"]
    assert "3 tasks more" in reading["resolves"]


def test_the_order_is_printed_for_lists_and_tables(caveat: Caveat, tmp_path: Path) -> None:
    """One id a line; the same tasks in the same order, whatever file they stand in."""
    write_scores(tmp_path)
    (tmp_path / "tasks.txt").write_text("\n".join(f"t{task}" for task in reversed(range(24))) + "\n")
    (tmp_path / "tasks.jsonl").write_text("".join(f'{{"task_id": "t{task}", "prompt": "…"}}\n' for task in range(24)), encoding="utf-8")

    answers = [caveat("audit", "order", name, "--seed", "5") for name in ("scores.csv", "tasks.txt", "tasks.jsonl")]

    lines = answers[0].out.split()
    assert sorted(lines) == sorted(f"t{task}" for task in range(24))
    assert [answer.out for answer in answers[1:]] == [answers[0].out] * 2
    document = caveat("audit", "order", "tasks.txt", "--seed", "5", "--json").document
    assert document == {"schema": "caveat/task-order/1", "seed": 5, "tasks": lines}
    assert caveat("audit", "order", "tasks.txt").out.split() != lines


def test_the_order_of_an_audit_has_the_seed_of_its_lock(caveat: Caveat, tmp_path: Path) -> None:
    """`--audit` reads it from the registry; a seed beside it is refused."""
    claim = register(caveat, tmp_path)[0]
    draft = AUDIT.format(claim=claim) + "plan: {seed: 11, contexts: nested, interval: anytime, tasks: 30}\n"
    (tmp_path / "audit.yaml").write_text(draft, encoding="utf-8")
    audit = caveat("audit", "lock", "--yes", "audit.yaml", "--json").document["audit"]
    (tmp_path / "tasks.txt").write_text("a\nb\nc\nd\n")

    answer = caveat("audit", "order", "tasks.txt", "--audit", audit, "--json")

    assert answer.document["seed"] == 11
    assert answer.document["tasks"] == caveat("audit", "order", "tasks.txt", "--seed", "11").out.split()
    assert caveat("audit", "order", "tasks.txt", "--audit", audit, "--seed", "1").code == 2
    locked = caveat("audit", "show", audit, "--json").document["lock"]["payload"]["plan"]
    assert (locked["interval"], locked["tasks"], locked["seed"]) == ("anytime", 30, 11)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("tasks.csv", "id,score\n1,2\n", "column-missing"),
        ("tasks.jsonl", '{"id": 1}\n', "column-missing"),
        ("tasks.jsonl", "[1]\n", "column-missing"),
        ("tasks.jsonl", "{oops\n", "file-not-readable"),
        ("tasks.parquet", "no parquet", "file-not-readable"),
        ("tasks.txt", "\n\n", "table-empty"),
        ("tasks.csv", "task_id\n", "table-empty"),
    ],
)
def test_a_file_without_tasks_is_refused(caveat: Caveat, tmp_path: Path, name: str, content: str, code: str) -> None:
    """With what it lacks."""
    (tmp_path / name).write_text(content)

    answer = caveat("audit", "order", name)

    assert answer.code == 2
    assert code in answer.err
