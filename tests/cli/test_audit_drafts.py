"""Audit files before anything is recorded: filled in from a replay file, and checked as a whole by dry runs."""

import json
import shutil
from pathlib import Path

import pytest

from registry.codec.file_io import parse_document
from tests.cli.conftest import Caveat
from tests.cli.test_audit_logs import count_entries

REPLAY = Path(__file__).parents[2] / "examples" / "established"
FAULTY = """\
schema: caveat/audit/1
claim: {claim}
independence: third_party
question: …
plan: {{margin: 3, valid_until: 2020-01-01}}
exclusion_rules: 7
deploy_specs: [default, default]
replay: nothing.yaml
tasks: none.txt
scored_by: no-such
cues: [nope]
evidence:
  - {{layer: verbalised, access: sometimes}}
"""


@pytest.fixture
def replay(tmp_path: Path, registered: list[str]) -> Path:
    """A replay of 24 tasks in eight contexts a side, next to a registry with claims."""
    assert registered
    folder = tmp_path / "live"
    folder.mkdir()
    for name in ("replay.yaml", "tasks.yaml", "examination.yaml", "everyday.yaml", "frame.yaml"):
        shutil.copy(REPLAY / name, folder / name)
    return folder / "replay.yaml"


def test_an_audit_file_is_filled_in_from_a_replay_file(caveat: Caveat, registered: list[str], replay: Path) -> None:
    """Facts of the replay stand in the file; a lock refuses exactly what only the auditor can say."""
    text = caveat("audit", "new", registered[1], "--replay", "live/replay.yaml").out
    (replay.parent / "audit.yaml").write_text(text, encoding="utf-8")
    document = parse_document(text, where="audit.yaml")
    assert isinstance(document, dict)

    assert (document["replay"], document["budget"], document["deploy_specs"]) == ("replay.yaml", "384 calls", ["everyday-life"])
    assert "Drawn at random" in str(document["deployment"])
    for fact in ("smollm2-135m-instruct-q4_1", "temperature 0.7", "24 (tasks.yaml)", "8 test", "8 deploy", "1 to each task", "pattern"):
        assert fact in text.partition("schema:")[0]
    refused = json.loads(caveat("audit", "lock", "live/audit.yaml", "--dry-run", "--json").err)
    blanks = {fault["where"].rpartition(", ")[2] for fault in refused["faults"]}
    assert blanks == {"independence", "question", "exclusion_rules", "stopping_rule"}


def test_a_filled_in_file_can_be_locked_with_its_replay(caveat: Caveat, registered: list[str], replay: Path) -> None:
    text = caveat("audit", "new", registered[1], "--replay", "live/replay.yaml").out
    (replay.parent / "audit.yaml").write_text(text.replace(": … ", ": self ", 1).replace(": …", ": stated"), encoding="utf-8")

    checked = caveat("audit", "lock", "live/audit.yaml", "--dry-run", "--json")
    assert checked.code == 0, checked.err
    locked = caveat("audit", "lock", "--yes", "live/audit.yaml", "--json").document

    assert (checked.document["dry_run"], checked.document["audit"], checked.document["entry"]) == (True, None, None)
    assert (locked["dry_run"], locked["lock"]["model"], locked["lock"]["tasks"]["count"]) == (False, "smollm2-135m-instruct-q4_1", 24)
    assert locked["not_fixed"] == checked.document["not_fixed"]


def test_how_sealed_contexts_were_made_stays_out_of_the_audit_file(caveat: Caveat, registered: list[str], replay: Path) -> None:
    """A sealed context's texts are secret, and its construction may tell them."""
    name = replay.parent / "seal.yaml"
    name.write_text(
        f"schema: caveat/audit/1\nclaim: {registered[1]}\nindependence: self\nreplay: replay.yaml\ndeploy_specs: [everyday-life]\n"
    )
    assert caveat("audit", "lock", "--yes", "live/seal.yaml", "--seal").code == 0

    text = caveat("audit", "new", registered[1], "--replay", "live/replay.yaml").out

    assert "Drawn at random" not in text
    assert "description: …" in text


@pytest.mark.parametrize("command", ["lock", "open"])
def test_a_dry_run_reports_all_faults_of_an_audit_file_at_once(caveat: Caveat, registered: list[str], tmp_path: Path, command: str) -> None:
    """Placeholder, types, plan, specifications and files: each with its place, and nothing is recorded."""
    (tmp_path / "audit.yaml").write_text(FAULTY.format(claim=registered[0]))
    before = count_entries(caveat, tmp_path)

    done = caveat("audit", command, "audit.yaml", "--dry-run")

    places = {line.removeprefix("  --> ") for line in done.err.splitlines() if line.startswith("  --> ")}
    expected = {
        "audit.yaml, exclusion_rules", "audit.yaml, evidence[0].access", "plan.margin", "deploy_specs", "scored_by, no-such",
        "cues, nope", "none.txt", "nothing.yaml",
    }  # fmt: skip
    assert places == expected | ({"audit.yaml, question", "plan.valid_until"} if command == "lock" else set())
    assert done.code == 2
    assert count_entries(caveat, tmp_path) == before


def test_a_file_without_faults_is_not_recorded_by_a_dry_run(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(f"schema: caveat/audit/1\nclaim: {registered[0]}\nindependence: self\n")
    before = count_entries(caveat, tmp_path)

    for command in ("lock", "open"):
        done = caveat("audit", command, "audit.yaml", "--dry-run")
        assert done.code == 0, done.err
        assert "Nothing was recorded." in done.out

    assert count_entries(caveat, tmp_path) == before


def test_an_audit_file_is_not_taken_for_a_case(caveat: Caveat) -> None:
    """One message leads to the command for it, and none lists its keys as unknown."""
    refused = caveat("analyze", "classify", REPLAY.parent / "retrospective" / "browsecomp.yaml")

    assert (refused.code, refused.error, refused.err.count("error[")) == (2, "not-valid", 1)
    assert "fix: conclude it in its registry: caveat audit conclude " in refused.err
