"""The replay that docs/contexts.md shows is what the page says, and its score table goes straight into the ablation."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from audit.modules.cue_ablation import AblationSetting, find_versions
from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from audit.replay.run_store import PlannedCall
from audit.sources.score_table import read_table
from registry.store.ledger import Ledger

PAGE = (Path(__file__).parents[2] / "docs" / "contexts.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> list[PlannedCall]:
    """The design of the page's replay, its contexts from files and from the registry that the page makes."""
    folder = tmp_path_factory.mktemp("page")
    for name, body in re.findall(r"<!-- save: ([\w.-]+) -->\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(body, encoding="utf-8")
    for arguments in (
        ("init", "--code", "EXAMPLE"),
        ("spec", "add", "deploy_context", "chat", "chat.yaml"),
        ("spec", "add", "deploy_context", "editor", "editor.yaml"),
    ):
        subprocess.run([str(Path(sys.executable).parent / "caveat"), *arguments], cwd=folder, check=True, capture_output=True)
    ledger = Ledger.open(f"sqlite:///{folder / 'caveat.db'}", clock=lambda: pytest.fail("nothing is written"), salt=str)
    try:
        with ledger.view(None) as view:
            found = read_replay(folder / "replay.yaml", view, owner="EXAMPLE")
    finally:
        ledger.close()
    return build_design(found.replay, found.tasks, found.contexts)


def test_the_page_says_how_many_calls_there_are(planned: list[PlannedCall]) -> None:
    """Its sum is the number that is planned, arm by arm."""
    (said,) = re.findall(r"It makes (\d+) calls", PAGE)
    counts = Counter((one.cell.arm, one.cell.spec) for one in planned)

    assert int(said) == len(planned)
    assert counts == {("test", None): 3 * 2 * 3 * 2, ("deploy", "chat"): 3 * 2 * 2, ("deploy", "editor"): 2 * 2 * 2}


def test_a_language_without_a_snippet_gets_the_fallback(planned: list[PlannedCall]) -> None:
    """Rust has no block of its own in the exam, Go has."""
    systems = {one.cell.task_id: str(one.call.body["system"]) for one in planned if one.cell.context_id == "exam-1"}

    assert systems["leap"].endswith("Write as the language's own style guide asks.")
    assert systems["primes"].endswith("func Add(a, b int) int { return a + b }")


def test_the_code_of_a_rule_is_sent_as_it_stands(planned: list[PlannedCall]) -> None:
    """Braces of a system prompt are no places."""
    assert all('Use f"{name}" rather than' in str(one.call.body["system"]) for one in planned if one.cell.arm == "test")


def test_its_table_goes_straight_into_the_ablation(planned: list[PlannedCall], tmp_path: Path) -> None:
    """Cues and placebos are told apart by what the design calls them, and pair with the contexts as they are."""
    rows = ["task_id,arm,context_id,sample,spec,cue_removed,score"]
    for one in planned:
        cell = one.cell
        rows.append(f"{cell.task_id},{cell.arm},{cell.context_id},{cell.sample},{cell.spec or ''},{cell.cue_removed or ''},1")
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n")
    table = read_table([tmp_path / "scores.csv"], low=0, high=1)

    versions = find_versions(table, AblationSetting(spec="chat"))

    assert [(one.cue, one.arm, one.placebo, len(one.rows)) for one in versions.edited] == [
        ("announcement", "test", False, 12),
        ("placebo-role", "test", True, 12),
    ]
    assert {arm: len(rows) for arm, rows in versions.as_is.items()} == {"test": 12, "deploy": 12}
