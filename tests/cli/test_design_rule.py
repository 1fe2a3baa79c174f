"""What a design needs for a verdict is said first: by claim show, audit new and analyze estimate."""

import shutil
from pathlib import Path

import pytest

from registry.records.analysis_plan import FEWEST_CONTEXTS, FEWEST_TASKS
from tests.cli.conftest import Caveat
from tests.cli.scenario import write_audit
from tests.sources.log_fixtures import INSPECT

RULE = f"A verdict needs at least {FEWEST_TASKS} tasks and {FEWEST_CONTEXTS} contexts on each side."
PAIR = ("pair_T1_test.eval", "pair_D2_deploy.eval")
SOURCES = ("test=pair_T1_test.eval", "deploy=pair_D2_deploy.eval")


def write_table(path: Path, *, tasks: int, contexts: int) -> Path:
    lines = [
        f"t{task},{arm},{arm[0]}{context},1,{(task + context) % 2},m-1"
        for arm in ("test", "deploy")
        for task in range(tasks)
        for context in range(contexts)
    ]
    path.write_text("\n".join(["task_id,arm,context_id,sample,score,model_returned", *lines]) + "\n")
    return path


def test_a_claim_without_a_verdict_says_the_rule_before_anything_is_planned(caveat: Caveat, registered: list[str]) -> None:
    shown = " ".join(caveat("claim", "show", registered[0]).out.split())

    assert RULE in shown.partition("model ")[0]
    assert "`contexts: fixed`" in shown.partition("model ")[0]


def test_an_audit_file_begins_with_the_rule(caveat: Caveat, registered: list[str]) -> None:
    head = caveat("audit", "new", registered[0]).out.partition("schema:")[0]

    assert f"# {RULE}" in head
    assert "`contexts: fixed`" in head


def test_a_replay_to_be_filled_in_names_the_numbers_of_the_rule(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    assert caveat("audit", "new", registered[0], "--replay", "live").code == 0

    texts = [(tmp_path / "live" / name).read_text(encoding="utf-8") for name in ("tasks.yaml", "test.yaml", "deploy.yaml")]
    assert f"{FEWEST_TASKS} at least for a verdict" in texts[0]
    assert f"{FEWEST_CONTEXTS} at least for a verdict" in texts[1]
    assert f"{FEWEST_CONTEXTS} contexts at least for a verdict" in texts[2]


@pytest.mark.parametrize(
    ("size", "options", "needed"),
    [
        ((FEWEST_TASKS, FEWEST_CONTEXTS), (), None),
        ((FEWEST_TASKS - 1, FEWEST_CONTEXTS), (), RULE),
        ((FEWEST_TASKS, FEWEST_CONTEXTS - 1), (), RULE),
        ((FEWEST_TASKS, 1), ("--contexts", "fixed"), None),
        ((FEWEST_TASKS - 1, 1), ("--contexts", "fixed"), f"A verdict needs at least {FEWEST_TASKS} tasks on both sides."),
    ],
)
def test_an_estimate_that_is_too_small_says_so_before_the_numbers(
    caveat: Caveat, tmp_path: Path, size: tuple[int, int], options: tuple[str, ...], needed: str | None
) -> None:
    """At the limit nothing is said, one below it is; fixed contexts have no minimum."""
    tasks, contexts = size
    table = write_table(tmp_path / "scores.csv", tasks=tasks, contexts=contexts)
    text = caveat("analyze", "estimate", table, "--replicates", "0", *options).out
    design = caveat("analyze", "estimate", table, "--replicates", "0", "--json", *options).document["design"]

    assert (design["is_enough"], design["tasks"], design["contexts_test"]) == (needed is None, tasks, contexts)
    if needed is None:
        assert text.startswith("intervals at")
        assert design["shortfall"] is None
    else:
        assert text.startswith(needed)
        assert design["shortfall"].startswith(needed)
    assert ("--contexts fixed" in text.partition("intervals at")[0]) == (contexts < FEWEST_CONTEXTS and not options)


def test_an_estimate_of_logs_is_that_of_their_table(caveat: Caveat, tmp_path: Path) -> None:
    for name in PAIR:
        shutil.copy(INSPECT / name, tmp_path / name)
    assert caveat("audit", "table", *SOURCES, "-o", "scores.csv").code == 0

    by_table = caveat("analyze", "estimate", "scores.csv", "--json")
    by_logs = caveat("analyze", "estimate", *SOURCES, "--json")

    assert by_logs.code == 0, by_logs.err
    assert by_logs.document == by_table.document


def test_an_estimate_refuses_options_that_would_have_no_effect(caveat: Caveat, tmp_path: Path) -> None:
    for name in PAIR:
        shutil.copy(INSPECT / name, tmp_path / name)
    table = write_table(tmp_path / "scores.csv", tasks=2, contexts=1)

    assert caveat("analyze", "estimate", *SOURCES, "--where", "language=en").error == "option-for-tables"
    assert caveat("analyze", "estimate", table, "--arm-field", "metadata.arm").error == "option-for-logs"


def test_an_inconclusive_outcome_leaves_the_rule_in_place(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """Another audit is still to be planned."""
    few = write_table(tmp_path / "few.csv", tasks=2, contexts=1)
    assert caveat("audit", "conclude", write_audit(tmp_path, registered[0]), few, "--run-date", "2026-01-01").code == 0

    assert RULE in " ".join(caveat("claim", "show", registered[0]).out.split())


def test_a_claim_with_a_verdict_does_not_say_the_rule(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """An existence claim is observed by one positive response, so nothing is left to be planned."""
    table = write_table(tmp_path / "scores.csv", tasks=FEWEST_TASKS, contexts=FEWEST_CONTEXTS)
    done = caveat("audit", "conclude", write_audit(tmp_path, registered[2]), table, "--run-date", "2026-01-01", "--json")
    assert done.document["restriction"]["classification"]["readings"][0]["verdict"] == "observed"

    assert RULE not in " ".join(caveat("claim", "show", registered[2]).out.split())
