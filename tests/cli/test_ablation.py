"""`caveat analyze ablation`, as a user types it."""

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit

RECORDING = Path(__file__).parents[2] / "examples" / "recording" / "ablation.csv"
CASE = """
claim:
  form: prevalence
  property: {class: capability, range: [0, 1], direction: higher_is_safer}
plan: {contexts: fixed, margin: 0.1}
"""


def write_table(path: Path, *, cues: dict[str, int]) -> Path:
    """A table of 24 tasks and 6 contexts: a task is right in as many contexts as a cell's number says, and half of them in deployment."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("task_id", "arm", "context_id", "sample", "score", "cue_removed"))
        for arm, cue, right in [("test", "", 5), ("deploy", "", 3), *(("test", cue, right) for cue, right in cues.items())]:
            for task in range(24):
                for context in range(6):
                    writer.writerow((f"t{task}", arm, f"{arm}{context}", 0, int((context + task) % 6 < right - task % 2), cue))
    return path


def test_the_recording_is_printed_with_its_cue(caveat: Caveat) -> None:
    """The figures of its README, and what is missing."""
    answer = caveat("analyze", "ablation", RECORDING)

    assert answer.code == 0
    for words in ("letter_only_format", "57.3 %", "81.2 %", "−24.0", "not shown to matter", "no-placebo", "few-tasks", "◆"):
        assert words in answer.out


def test_the_document_has_its_schema_and_every_cue(caveat: Caveat, tmp_path: Path) -> None:
    """Order by size, the placebo last."""
    table = write_table(tmp_path / "t.csv", cues={"weak": 5, "strong": 3, "placebo": 5})

    document = caveat("analyze", "ablation", table, "--json").document

    assert document["schema"] == "caveat/ablation/1"
    assert [one["cue"] for one in document["changes"]] == ["strong", "weak", "placebo"]
    assert document["changes"][0]["relevant"] is True
    assert document["changes"][0]["beyond_placebo"]["low"] > 0
    assert document["family"] == 2


def test_a_claim_brings_its_plan_and_gets_its_class_before_and_after(caveat: Caveat, tmp_path: Path) -> None:
    """Contexts fixed and margin 10 points, as the file says."""
    table = write_table(tmp_path / "t.csv", cues={"strong": 3})
    (tmp_path / "case.yaml").write_text(CASE)

    answer = caveat("analyze", "ablation", table, "--claim", "case.yaml")

    assert answer.code == 0
    assert "margin ±10 percentage points, contexts fixed" in answer.out
    assert "class of the claim as it is: degraded; with the change: strong: stable" in answer.out


@pytest.mark.parametrize("option", [("--margin", "0.1"), ("--range", "0", "1"), ("--contexts", "random")])
def test_plan_options_beside_a_claim_are_refused(caveat: Caveat, tmp_path: Path, option: tuple[str, ...]) -> None:
    """One plan, said once."""
    (tmp_path / "case.yaml").write_text(CASE)

    answer = caveat("analyze", "ablation", RECORDING, "--claim", "case.yaml", *option)

    assert answer.code == 2
    assert f"{option[0]} is in the plan" in answer.err


def test_wrong_input_ends_with_its_code(caveat: Caveat, tmp_path: Path) -> None:
    """No cue, an unknown placebo, a plan that cannot be."""
    (tmp_path / "plain.csv").write_text("task_id,arm,context_id,sample,score\nt,test,a,0,1\nt,deploy,b,0,1\n")

    answers = [
        caveat("analyze", "ablation", "plain.csv"),
        caveat("analyze", "ablation", RECORDING, "--placebo", "letter_only"),
        caveat("analyze", "ablation", RECORDING, "--level", "0.2"),
        caveat("analyze", "ablation", RECORDING, "--spec", "everyday"),
    ]

    assert [answer.code for answer in answers] == [2, 2, 2, 2]
    assert [answer.error for answer in answers] == ["no-cues", "unknown-name", "not-valid", "unknown-name"]


def test_rows_can_be_chosen_as_in_an_estimate(caveat: Caveat, tmp_path: Path) -> None:
    """`--where` keeps the contexts asked for."""
    table = write_table(tmp_path / "t.csv", cues={"strong": 3})
    contexts = ",".join(f"{arm}{context}" for arm in ("test", "deploy") for context in range(5))

    assert caveat("analyze", "ablation", table, "--where", f"context_id={contexts}", "--json").document["changes"][0]["tasks"] == 24


def test_an_ablation_is_recorded_in_an_audit_once(caveat: Caveat, tmp_path: Path) -> None:
    """Said on standard error; the audit shows it."""
    claim = register(caveat, tmp_path)[1]
    write_audit(tmp_path, claim)
    audit = caveat("audit", "lock", "--yes", "audit.yaml", "--json").document["audit"]
    table = write_table(tmp_path / "t.csv", cues={"strong": 3})

    first, again = (caveat("analyze", "ablation", table, "--audit", audit) for _ in range(2))

    assert first.code == 0, first.err
    assert f"recorded as a finding of {audit}" in first.err
    assert f"recorded already as a finding of {audit}" in again.err
    assert "strong" in caveat("audit", "show", audit, "--json").out
