"""The patterns that define a match: where they come from, and what matching them anew gives beside what a study records."""

import json
from pathlib import Path

from audit.contamination.contamination_analysis import build_study
from audit.contamination.skill_contrasts import ContrastSettings
from audit.skills.cli.contamination_page import build_page
from audit.skills.cli.skill_study_presenter import describe_rematch
from audit.sources.skill_run_folder import read_recording
from audit.sources.skill_study_records import ContaminationStudy
from registry.codec.canonical_documents import to_document
from tests.contamination.made_up import Run

SETTINGS = ContrastSettings(level=0.95, margin=0.2)
EXPECTED, ANTI = {"pattern": ".", "matched": True}, {"pattern": "#", "matched": False}
NAMES = ("alpha-sdk", "beta-docs", "gamma-flow")


def study(run: Run, folder: Path) -> ContaminationStudy:
    return build_study(read_recording(run.write(folder)), SETTINGS)


def name_patterns(run: Run, *expected: str) -> None:
    """Give the first task of alpha-sdk its patterns in tasks/, with a source."""
    run.documents["tasks/alpha-sdk.json"]["tasks"][0] |= {
        "expected_patterns": list(expected),
        "anti_patterns": ["#"],
        "pattern_sources": [{"url": "https://example.org/docs", "description": "made <b>up</b>"}],
    }


def test_every_difference_from_the_recorded_matches_is_listed(tmp_path: Path) -> None:
    """Which pattern, in which response, and both results; the match made here is the one that is counted."""
    run = Run()
    run.run("alpha-sdk", 0, 1)["realistic"]["patterns"] = {
        "expected_results": [{"pattern": "no such text", "matched": True}],
        "anti_results": [{"pattern": r"\.\.", "matched": False}],
    }

    made = study(run, tmp_path)

    differ = [
        (entry.skill, entry.task_id, entry.run, entry.arm, entry.kind, entry.recorded, entry.matched) for entry in made.rematch.differ
    ]
    place = ("alpha-sdk", "alpha-sdk-1", 1, "D")
    assert differ == [(*place, "expected", True, False), (*place, "anti", False, True)]
    assert (made.rematch.responses, made.rematch.searches, made.rematch.compared) == (60, 120, 120)
    assert "2 of 120 differ from what the study records; the match made here counts." in describe_rematch(made.rematch)


def test_responses_that_cannot_be_matched_are_counted_by_reason(tmp_path: Path) -> None:
    """No text, no pattern named, nothing recorded: three reasons, and where recorded results are used instead it is said."""
    run = Run()
    del run.run("alpha-sdk", 0, 0, of="generations")["baseline"]
    del run.run("alpha-sdk", 0, 1)["baseline"]["patterns"]["anti_results"][0]["pattern"]
    run.run("alpha-sdk", 1, 0)["baseline"]["patterns"] = None

    unmatched = study(run, tmp_path).rematch.unmatched

    assert {(entry.reason, entry.responses, entry.copied) for entry in unmatched} == {
        ("the text of the response is not there", 1, 1),
        ("the study does not name the patterns that it matched", 1, 1),
        ("the study records no patterns for the response", 1, 0),
    }


def test_a_study_without_recorded_patterns_compares_nothing_and_says_why(tmp_path: Path) -> None:
    """Null with a reason, for the comparison and for each task."""
    run = Run()
    for name in NAMES:
        for task in run.documents[f"scores/{name}.json"]["tasks"]:
            for each in task["runs"]:
                for condition in each.values():
                    if isinstance(condition, dict):
                        condition["patterns"] = None

    made = study(run, tmp_path)

    assert (made.rematch.compared, made.rematch.reason) == (None, "no response was matched here")
    assert {(entry.patterns, entry.reason) for entry in made.patterns} == {((), "the study records no patterns for the response")}


def test_patterns_are_printed_with_their_file_and_digest_as_data(tmp_path: Path) -> None:
    """JSON and page hold the expression as it is written; on the page nothing of it is markup."""
    run, pattern = Run(), "<script>alert(1)</script>|."
    name_patterns(run, pattern)
    for each in run.documents["scores/alpha-sdk.json"]["tasks"][0]["runs"]:
        for condition in ("baseline", "with_skill", "realistic"):
            each[condition]["patterns"]["expected_results"][0]["pattern"] = pattern

    made = study(run, tmp_path)
    first, second = made.patterns[:2]
    page = build_page(made)

    assert (first.file, first.sha256) == ("tasks/alpha-sdk.json", made.files["tasks/alpha-sdk.json"])
    assert [(entry.kind, entry.pattern, entry.responses, entry.found) for entry in first.patterns] == [
        ("expected", pattern, 6, 6),
        ("anti", "#", 6, 0),
    ]
    assert [(entry.url, entry.description) for entry in first.sources] == [("https://example.org/docs", "made <b>up</b>")]
    # tasks/ names no patterns of the second task, so those that the scores name are printed with that file.
    assert (second.file, second.sha256) == ("scores/alpha-sdk.json", made.files["scores/alpha-sdk.json"])
    assert pattern in json.dumps(to_document(made))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;|." in page
    assert "<script" not in page
    assert "made &lt;b&gt;up&lt;/b&gt;" in page
    assert str(first.sha256)[:12] in page


def test_patterns_that_changed_after_the_study_are_told(tmp_path: Path) -> None:
    """tasks/ with other patterns than the recorded matches is a note; the recorded ones are matched."""
    run = Run()
    name_patterns(run, "something else")

    made = study(run, tmp_path)

    assert [(note.kind, note.where) for note in made.inventory.notes] == [("patterns-changed", "alpha-sdk")]
    assert made.patterns[0].file == "scores/alpha-sdk.json"
    assert made.rematch.differ == ()


def test_what_one_skill_and_missing_conditions_leave_open_has_a_reason(tmp_path: Path) -> None:
    """A study of one skill without condition C or E: no mean over skills, no contrast of what was not run, each null with its reason."""
    run = Run()
    run.documents = {name: document for name, document in run.documents.items() if "alpha" in name}

    made = study(run, tmp_path)

    assert all(entry.measure.value is None and entry.measure.reason for entry in made.absent)
    reasons = {(entry.contrast, entry.of): entry.measure.reason for entry in made.absent}
    assert reasons["B−A", "mean"] == "one skill has it, and a mean over skills needs two"
    assert reasons["C−A", "skill"] == "no response under C skill_md_only"
    assert reasons["D−E", "skill"] == "no response under E realistic_baseline"
    assert "one-skill" in [warning.code for warning in made.warnings]
