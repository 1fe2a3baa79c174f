"""`caveat claim drift` and `caveat audit shift`: a claim over model versions, and the comparison of two replays made elsewhere."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

import pytest

from audit.protocol.audit_record import warn_of_designs
from registry.records.model_version import ModelRef
from registry.records.module_findings import Shift
from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit, write_scores


@dataclass(frozen=True)
class Story:
    """A claim about two versions: the first audited, the second with a locked audit and scores that are not imported yet."""

    claim: str
    old: str
    new: str


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first story is kept for the others."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def story(caveat: Caveat, tmp_path: Path, kept: Path) -> Story:
    told = kept / "story"
    if not told.exists():
        built = build_story(caveat, tmp_path)
        copytree(tmp_path, kept / "files")
        told.write_text(f"{built.claim}\n{built.old}\n{built.new}", encoding="utf-8")
        return built
    copytree(kept / "files", tmp_path, dirs_exist_ok=True)
    return Story(*told.read_text(encoding="utf-8").split())


def build_story(caveat: Caveat, folder: Path) -> Story:
    claim, *_ = register(caveat, folder)
    write_scores(folder / "one.csv", test=0.05, deploy=0.06)
    write_scores(folder / "two.csv", test=0.05, deploy=0.4, model="m-2")  # responses of version 1 would be no point of version 2
    old = lock(caveat, folder, claim)
    conclude(caveat, old, "one.csv")
    bare = claim.partition("@")[0]
    assert caveat("model", "update", "LAB/M/1", "LAB/M/2").code == 0
    carried = caveat("stale", "apply", bare, "--reason", "M 2 took the place of M 1")
    assert carried.code == 0, carried.err
    return Story(claim=bare, old=old, new=lock(caveat, folder, f"{bare}@2"))


def lock(caveat: Caveat, folder: Path, claim: str) -> str:
    return str(caveat("audit", "lock", "--yes", write_audit(folder, claim), "--json").document["audit"])


def conclude(caveat: Caveat, audit: str, table: str) -> None:
    done = caveat("audit", "conclude", audit, table, "--run-date", datetime.now(UTC).isoformat())
    assert done.code == 0, done.err


def test_a_version_that_nobody_audited_says_so_and_has_no_numbers(caveat: Caveat, story: Story) -> None:
    """One line for each version, in order."""
    answer = caveat("claim", "drift", story.claim)
    document = caveat("claim", "drift", story.claim, "--json").document

    assert answer.code == 0
    assert "not audited" in answer.out
    assert document["schema"] == "caveat/drift/1"
    assert [point["model"]["version"] for point in document["points"]] == ["1", "2"]
    assert [len(point["estimates"]) for point in document["points"]] == [1, 0]
    assert document["steps"] == []


def test_a_recorded_comparison_gives_the_movement_task_by_task(caveat: Caveat, story: Story, tmp_path: Path) -> None:
    """Measured from both tables, recorded before the outcome, printed, and the same again changes nothing."""
    first = caveat("audit", "shift", story.old, story.new, "one.csv", "two.csv", "--record", "--json")
    assert first.code == 0, first.err
    again = caveat("audit", "shift", story.old, story.new, "one.csv", "two.csv", "--record")
    conclude(caveat, story.new, "two.csv")

    (step,) = caveat("claim", "drift", story.claim, "--json").document["steps"]
    text = caveat("claim", "drift", story.claim).out
    shown = caveat("audit", "show", story.new).out

    measured = first.document["specs"][0]
    assert {name: step[name] for name in ("phi_test", "phi_deploy", "ed")} == {
        name: measured[name] for name in ("phi_test", "phi_deploy", "ed")
    }
    assert step["finding"]["kind"] == "finding"
    assert f"task by task, entry {step['finding']['seq']}" in " ".join(text.split())
    assert "recorded already" in again.err
    assert "shift" in shown


def test_without_a_comparison_the_recorded_estimates_are_subtracted(caveat: Caveat, story: Story) -> None:
    """With half-widths added, and it is said."""
    conclude(caveat, story.new, "two.csv")

    document = caveat("claim", "drift", story.claim, "--json").document
    text = " ".join(caveat("claim", "drift", story.claim).out.split())

    (step,) = document["steps"]
    ends = [point["estimates"][0]["ed"] for point in document["points"]]
    assert step["finding"] is None
    assert step["ed"]["low"] == ends[1]["low"] - ends[0]["high"]
    assert "only the two estimates" in text
    assert "half-widths added" in text


def test_the_figure_is_drawn_to_a_file_against_the_specification_asked_for(caveat: Caveat, story: Story, tmp_path: Path) -> None:
    """One SVG that needs nothing else; another name than those there are is refused, and nothing is written."""
    drawn = caveat("claim", "drift", story.claim, "--figure", "drift.svg")
    refused = caveat("claim", "drift", story.claim, "--figure", "other.svg", "--spec", "nope")
    alone = caveat("claim", "drift", story.claim, "--spec", "default")

    assert drawn.code == 0
    svg = (tmp_path / "drift.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "not audited" in svg
    assert (refused.code, alone.code) == (2, 2)
    assert "nothing-to-draw" in refused.err
    assert not (tmp_path / "other.svg").exists()


def test_as_of_an_earlier_entry_there_is_one_version(caveat: Caveat, story: Story) -> None:
    """The registry as it was then; a claim about one version has nothing to compare, and one without an estimate no figure."""
    size = caveat("claim", "drift", story.claim, "--json").document["points"][1]["claim_entry"]["seq"] - 1

    then = caveat("claim", "drift", story.claim, "--as-of", str(size))
    bare = caveat("claim", "drift", story.claim, "--as-of", "8", "--figure", "none.svg")

    assert "there is nothing to compare" in then.out
    assert bare.code == 2
    assert "nothing-to-draw" in bare.err


def test_only_the_very_scores_of_two_audits_of_one_claim_are_compared(caveat: Caveat, story: Story, tmp_path: Path) -> None:
    """Another table than the outcome rests on, one audit twice, another claim: each refused by name, nothing recorded."""
    write_scores(tmp_path / "three.csv", test=0.06, deploy=0.06)
    other = lock(caveat, tmp_path, caveat("claim", "list", "--json").document["claims"][1]["claim"])

    def refused(*arguments: str) -> str:
        answer = caveat("audit", "shift", *arguments, "--record")
        assert answer.code == 2
        return answer.error

    assert refused(story.old, story.new, "three.csv", "two.csv") == "scores-differ-from-outcome"
    assert refused(story.old, story.old, "one.csv", "two.csv") == "single-version"
    assert refused(story.old, other, "one.csv", "two.csv") == "wrong-claim"
    assert refused(story.old, "AUD-AISI-2026-0099-X", "one.csv", "two.csv")
    assert caveat("claim", "drift", story.claim, "--json").document["steps"] == []


def test_a_comparison_after_the_outcome_comes_too_late(caveat: Caveat, story: Story) -> None:
    """It is printed without --record, and not recorded with it."""
    conclude(caveat, story.new, "two.csv")

    printed = caveat("audit", "shift", story.old, story.new, "one.csv", "two.csv")
    late = caveat("audit", "shift", story.old, story.new, "one.csv", "two.csv", "--record")

    assert printed.code == 0
    assert "LAB M 1 → LAB M 2" in printed.out
    assert late.code == 2
    assert "audit-concluded" in late.err


def test_ids_of_which_nobody_knows_the_texts_are_told(caveat: Caveat, story: Story) -> None:
    """Two plain tables share ids; nothing on record says that the same prompts and contexts stand behind them."""
    found = caveat("audit", "shift", story.old, story.new, "one.csv", "two.csv", "--json").document

    unknown = "Texts with the same ID may differ between the replays; not on record: tasks, test contexts, deployment contexts."
    assert found["warnings"][0] == unknown


@pytest.mark.parametrize(
    ("after", "warning"),
    [
        ({"tasks": "1", "test": "2", "deploy": "3"}, None),
        ({"tasks": "1", "test": "2", "deploy": "4"}, "The replays differ in deployment contexts: this may explain a change"),
        ({"tasks": "1", "test": "2"}, "Texts with the same ID may differ between the replays; not on record: deployment contexts."),
    ],
)
def test_designs_are_compared_as_far_as_they_are_on_record(after: dict[str, str], warning: str | None) -> None:
    """By the digests of their parts."""
    model = ModelRef(developer="LAB", name="M", version="1")
    bare = Shift(before=model, after=model, before_audit="AUD", before_scores="0", after_scores="1", level=0.95, specs=())

    told = warn_of_designs(bare, {"tasks": "1", "test": "2", "deploy": "3"}, after).warnings

    assert len(told) == (warning is not None)
    assert warning is None or told[0].startswith(warning)
