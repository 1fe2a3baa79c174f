"""`caveat analyze skills` from files to an analysis, over real HTTP: what is asked, what is kept, what is compared."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Caveat
from tests.endpoint.server import MODEL, Asked, Endpoint, Refusal, Reply
from tests.skills.studies import JUDGE, Study, answer

# Two tasks and two samples: A, B, D, E of three skills, and C of the one with hidden references.
CELLS = 3 * 4 * 2 * 2 + 2 * 2


def list_asked(endpoint: Endpoint, model: str = MODEL) -> list[Asked]:
    return [one for one in endpoint.posts() if one.body["model"] == model]


def find_codes(answer: Answer) -> list[str]:
    """Return the codes of the faults; what is said before them is no part of the document."""
    return re.findall(r'"code": "([\w-]+)"', answer.err)


def analyze(caveat: Caveat, study: Path, *options: object) -> Any:
    return caveat("analyze", "skills", "analyze", study, "--json", *map(str, options)).document


def make(caveat: Caveat, study: Path) -> None:
    assert caveat("analyze", "skills", "generate", study).code == 0
    assert caveat("analyze", "skills", "score", study).code == 0


def test_a_study_is_generated_scored_and_analysed(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Every condition is asked as it is written, every response judged whole, and the contrasts are those that the endpoint made."""
    study = Study().write(tmp_path)

    generated = caveat("analyze", "skills", "generate", study, "--json").document
    scored = caveat("analyze", "skills", "score", study, "--json").document
    found = analyze(caveat, study)

    arms = {one["arm"]: one["cells"] for one in generated["arms"]}
    effects = {one["skill"]: {each["name"]: each["measure"]["value"] for each in one["effects"]} for one in found["skills"]}
    assert arms == {"A": 12, "B": 12, "C": 4, "D": 12, "E": 12}
    assert len(list_asked(endpoint)) == CELLS
    assert scored["verdicts_new"] == CELLS
    # Two of four dimensions fall by one for the skill and by one for its references; a context alone is worth 0.25 in one of two tasks.
    assert effects["alpha"] == {"B−A": -0.5, "D−A": -0.375, "B−D": -0.125, "D−E": -0.5, "E−A": 0.125}
    assert effects["beta"]["B−A"] == -1.0
    assert effects["beta"]["B−C"] == -0.5
    assert {one["skill"]: one["seen_whole_units"] for skill in found["skills"] for one in [{**skill, **skill["effects"][0]}]} == {
        "alpha": 2,
        "beta": 2,
        "gamma": 2,
    }
    assert [one["beyond_judge"] for one in found["inventory"]["arms"]] == [0] * 5


def test_a_judge_sees_the_whole_response_and_never_the_condition(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """What the judge is sent holds the end of an answer of 8,000 characters, and no word of system prompt or skill."""
    make(caveat, Study().write(tmp_path))

    asked = [json.dumps(one.body) for one in list_asked(endpoint, JUDGE)]

    assert asked
    assert all(one.count(" x") >= 4000 for one in asked)
    assert not any("Skill text of" in one or "coding agent" in one or "realistic" in one for one in asked)


def test_conditions_differ_by_what_they_are_about(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """References come in the order of names; the snippet is that of the task's language; the baselines hold no skill."""
    caveat("analyze", "skills", "generate", Study().write(tmp_path), "--skill", "beta", "--samples", "1")

    sent = [one.body for one in list_asked(endpoint)]
    systems = [(one.get("system", ""), one["messages"]) for one in sent]

    whole = [system for system, _ in systems if "Reference" in system]
    assert all(system.index("Reference a of beta") < system.index("Reference b of beta") for system in whole)
    assert len(whole) == 4
    assert sum("Skill text of beta" in system and "Reference" not in system for system, _ in systems) == 2
    realistic = [messages for system, messages in systems if "coding agent" in system]
    assert all(("src/store.py" in messages[1]["content"]) == ("Task 0" in messages[2]["content"]) for messages in realistic)
    assert len(realistic) == 2 + 2
    assert sum("Skill text" not in system for system, _ in systems) == 2 + 2


def test_more_samples_and_other_parts_add_only_what_is_new(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """A part makes its own calls alone, the whole the rest, more samples the new ones; nothing is asked twice."""
    study = Study().write(tmp_path)
    counts = []
    for options in (
        ["--skill", "alpha", "--condition", "A", "--condition", "with_skill"],
        ["--task", "alpha-0"],
        [],
        ["--samples", "3"],
        [],
    ):
        assert caveat("analyze", "skills", "generate", study, *options).code == 0
        counts.append(len(list_asked(endpoint)))

    assert counts == [8, 8 + 4, CELLS, CELLS * 3 // 2, CELLS * 3 // 2]
    assert max(one.number for one in list_asked(endpoint)) == 2


def test_an_interrupted_part_is_not_made_by_another(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Calls that a budget left open belong to their part; another part makes its own only."""
    parts = Study()
    study = parts.write(tmp_path)
    parts.study["budget"] = {"calls": 3}
    parts.write(tmp_path)
    stopped = caveat("analyze", "skills", "generate", study, "--skill", "alpha")
    parts.study["budget"] = {}
    parts.write(tmp_path)

    caveat("analyze", "skills", "generate", study, "--skill", "beta")

    assert stopped.code == 1
    prompts = [one.body["messages"][-1]["content"] for one in list_asked(endpoint)]
    assert (sum("alpha" in one for one in prompts), sum("beta" in one for one in prompts)) == (3, 20)


def test_a_part_is_scored_alone(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """The judge is asked for the verdicts of the part, then only for the others."""
    study = Study().write(tmp_path)
    caveat("analyze", "skills", "generate", study)

    part = caveat("analyze", "skills", "score", study, "--skill", "alpha", "--json").document
    between = len(list_asked(endpoint, JUDGE))
    rest = caveat("analyze", "skills", "score", study, "--json").document

    judged = {one["name"]: sum(each["judged"] for each in one["conditions"]) for one in part["skills"]}
    assert judged == {"alpha": 16, "beta": 0, "gamma": 0}
    assert (part["verdicts_new"], between, rest["verdicts_new"]) == (16, 16, CELLS - 16)
    assert len(list_asked(endpoint, JUDGE)) == CELLS


def test_patterns_are_looked_for_again_without_a_call_and_verdicts_stay(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """--patterns-only makes no call and changes no verdict."""
    study = Study().write(tmp_path)
    make(caveat, study)
    asked, before = len(endpoint.posts()), analyze(caveat, study)

    again = caveat("analyze", "skills", "score", study, "--patterns-only", "--json").document

    assert (again["patterns_changed"], again["verdicts_new"], len(endpoint.posts())) == (0, 0, asked)
    assert analyze(caveat, study) == before


def test_a_failed_call_is_an_exclusion_with_its_reason(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Neither a generation nor a judgment that failed is dropped: each is counted, named, and bounds the contrast."""

    def fail(asked: Asked) -> Reply | Refusal:
        said = json.dumps(asked.body["messages"])
        if asked.body["model"] == MODEL and "Task 0 of alpha" in said and "Skill text" in str(asked.body.get("system")):
            return Refusal(status=400, type="invalid_request_error", message="refused here")
        if asked.body["model"] == JUDGE and "Task 1 of gamma" in said:
            return Reply(text="I would rather not.")
        return answer(asked)

    endpoint.script = fail
    study = Study().write(tmp_path)
    caveat("analyze", "skills", "generate", study)
    caveat("analyze", "skills", "score", study)

    found = analyze(caveat, study)
    caveat("analyze", "skills", "analyze", study, "--output", str(tmp_path / "out"))
    with (tmp_path / "out" / "scores.csv").open(encoding="utf-8", newline="") as file:
        failed = [row for row in csv.DictReader(file) if row["excluded_reason"].startswith("the generation failed")]

    reasons = {(one["skill"], one["task_id"], one["arm"]): one["reason"] for one in found["inventory"]["exclusions"]}
    alpha = next(one for one in found["skills"] if one["skill"] == "alpha")["effects"][0]
    assert len(found["inventory"]["exclusions"]) == 4 + 8
    assert reasons["alpha", "alpha-0", "B"].startswith("the generation failed: not-accepted: ")
    assert reasons["gamma", "gamma-1", "E"].startswith("not judged: judge-")
    assert {row["response_chars"] for row in failed} == {""}
    assert alpha["units"] == 1
    assert alpha["under_exclusions"]["low"] < alpha["measure"]["value"] < alpha["under_exclusions"]["high"]


def test_an_export_is_read_as_the_run_is(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """`caveat analyze contamination` over the published layout gives every number that the analysis of the run gives."""

    def fail(asked: Asked) -> Reply | Refusal:
        if asked.body["model"] == MODEL and "Task 0 of alpha" in str(asked.body["messages"]) and asked.number:
            return Refusal(status=400, type="invalid_request_error", message="refused here")
        return answer(asked)

    endpoint.script = fail
    parts = Study()
    parts.study["skills"]["gamma"]["excluded"] = "still being written"
    study = parts.write(tmp_path)
    caveat("analyze", "skills", "generate", study, "--skill", "beta", "--condition", "A", "--samples", "3")
    make(caveat, study)

    found = analyze(caveat, study, "--export", tmp_path / "export")
    again = caveat("analyze", "contamination", tmp_path / "export", "--json").document

    different = {name for name in found if found[name] != again[name]}
    excluded = [one["skill"] for one in found["inventory"]["excluded"]]
    assert different <= {"files", "inventory", "patterns", "rematch"}
    # A call that failed has its reason in the run, and no record of patterns in the export; what was matched is the same.
    assert [one["patterns"] for one in found["patterns"]] == [one["patterns"] for one in again["patterns"]]
    assert found["rematch"]["searches"] == again["rematch"]["searches"] == again["rematch"]["compared"]
    assert (found["rematch"]["compared"], again["rematch"]["differ"]) == (None, [])
    assert {key for key in found["inventory"] if found["inventory"][key] != again["inventory"][key]} <= {"notes"}
    assert excluded == [one["skill"] for one in again["inventory"]["excluded"]] == ["gamma"]


def test_the_long_table_goes_into_contrast_and_estimate(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """scores.csv has the arms A to E; B against A is what the analysis says of all tasks, and mitigation has its matching baseline."""
    study = Study().write(tmp_path)
    make(caveat, study)
    caveat("analyze", "skills", "analyze", study, "--output", tmp_path / "out")

    table = tmp_path / "out" / "scores.csv"
    one = caveat(
        "analyze", "estimate", table, "--test", "B", "--deploy", "A", "--range", "1", "5", "--contexts", "fixed", "--json"
    ).document
    asked = ("--mitigation", "D", "B", "A", "--matching-baseline", "E", "--range", "1", "5", "--contexts", "fixed")
    contrast = caveat("analyze", "contrast", table, *asked, "--json").document["contrasts"][0]

    with table.open(newline="", encoding="utf-8") as file:
        arms = {row["arm"] for row in csv.DictReader(file)}
    assert arms == {"A", "B", "C", "D", "E"}
    assert one["specs"][0]["ed"]["value"] == pytest.approx((-0.5 - 1.0 - 0.5) / 3)
    # Three skills do not vary alike, so the denominator is not told from 0; what is not missing is the baseline.
    assert contrast["measure"]["reason"] == "not identified: the denominator's interval contains 0"


def test_mitigation_is_identified_by_the_baseline_in_the_realistic_context(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """With arm E, D−E over B−A; without it, the reason why not."""
    study = Study().write(tmp_path)
    make(caveat, study)
    found = analyze(caveat, study)["skills"][0]["mitigation"]

    without = Study()
    without.study["conditions"] = "conditions.yaml"
    without.texts["conditions.yaml"] = without.texts["conditions.yaml"].partition("  - id: realistic_baseline")[0]
    other = without.write(tmp_path / "other")
    make(caveat, other)
    unknown = analyze(caveat, other)["skills"][0]["mitigation"]

    # D−E is B−A in both tasks, so nothing is mitigated; D−A, −0.5 and −0.25, holds what the context does to the baseline.
    assert found["identified"]["value"] == pytest.approx(0, abs=1e-9)
    assert found["descriptive"]["value"] == pytest.approx(0.25)
    assert unknown["identified"]["value"] is None
    assert unknown["identified"]["reason"].startswith("not identified: no baseline was run in the realistic context")


def test_a_skill_is_excluded_by_the_file_alone_and_not_after_the_run(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """What was planned stays as it was said; a skill more is no change."""
    parts = Study()
    study = parts.write(tmp_path)
    make(caveat, study)

    refusals = []
    for key, value in (("excluded", "its result is odd"), ("risk_level", "low"), ("structural_score", 0.1)):
        changed = Study()
        changed.study["skills"]["beta"][key] = value
        refused = caveat("analyze", "skills", "analyze", changed.write(tmp_path), "--json")
        refusals.append((refused.code, find_codes(refused)))
    gone = Study()
    del gone.study["skills"]["gamma"]
    gone.write(tmp_path)
    (tmp_path / "tasks" / "gamma.json").unlink()
    removed = caveat("analyze", "skills", "generate", study, "--json")

    assert refusals == [(2, ["skill-changed"])] * 3
    assert find_codes(removed) == ["skill-changed"]


def test_a_changed_skill_text_needs_a_folder_of_its_own(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """What was asked cannot change under a run folder: the text is part of the request."""
    parts = Study()
    study = parts.write(tmp_path)
    caveat("analyze", "skills", "generate", study)
    parts.texts["skills/alpha/SKILL.md"] = "Another text."
    parts.write(tmp_path)

    refused = caveat("analyze", "skills", "generate", study, "--json")

    assert find_codes(refused) == ["run-differs"]
    assert len(list_asked(endpoint)) == CELLS


def test_patterns_alone_make_a_study_without_a_judge(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """There is no composite score then, and the patterns are compared all the same."""
    parts = Study()
    del parts.study["judge"]
    study = parts.write(tmp_path)
    make(caveat, study)

    found = analyze(caveat, study, "--output", tmp_path / "out")

    anti = [one for one in found["aggregates"][0]["properties"] if one["property"] == "anti-patterns found"]
    assert all(one["measure"]["value"] is None for skill in found["skills"] for one in skill["effects"])
    assert {one["contrast"]: one["measure"]["value"] for one in anti} == {"B−A": 1.0, "D−A": 1.0, "B−D": 0.0}
    assert (tmp_path / "out" / "contamination.html").stat().st_size > 10_000


def test_the_listing_tells_how_far_a_study_is(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Before the run nothing is done; after a part, that part is."""
    parts = Study()
    parts.study["skills"]["gamma"]["excluded"] = "still being written"
    study = parts.write(tmp_path)

    before = caveat("analyze", "skills", "list", study, "--json").document
    caveat("analyze", "skills", "generate", study, "--skill", "beta")
    after = caveat("analyze", "skills", "list", study, "--json").document
    printed = caveat("analyze", "skills", "list", study).out

    def sum_up(document: Any) -> dict[str, tuple[int, int]]:
        return {
            one["name"]: (sum(each["calls"] for each in one["conditions"]), sum(each["answered"] for each in one["conditions"]))
            for one in document["skills"]
        }

    # Two tasks and two samples under four conditions; beta has a fifth.
    assert sum_up(before) == {"alpha": (16, 0), "beta": (20, 0), "gamma": (16, 0)}
    assert sum_up(after) == {"alpha": (16, 0), "beta": (20, 20), "gamma": (16, 0)}
    assert "gamma: excluded from the means over skills (still being written)" in printed


def test_the_listing_counts_planned_calls_with_all_samples(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Samples of the study and samples that a run folder has beyond it are planned calls: never more are answered than planned."""
    study = Study().write(tmp_path)
    assert caveat("analyze", "skills", "generate", study, "--skill", "alpha", "--task", "alpha-0", "--samples", "5").code == 0

    document = caveat("analyze", "skills", "list", study, "--json").document
    printed = caveat("analyze", "skills", "list", study).out

    calls = {one["name"]: {each["arm"]: each["calls"] for each in one["conditions"]} for one in document["skills"]}
    assert calls["alpha"] == dict.fromkeys("ABDE", 5 + 2)
    assert calls["beta"] == dict.fromkeys("ABCDE", 2 * 2)
    assert "20 of 28" in printed
    assert "0 of 20" in printed


def test_a_response_that_was_never_made_leaves_the_counts_of_its_condition_known(
    caveat: Caveat, tmp_path: Path, endpoint: Endpoint
) -> None:
    """A gap has no length, which is unknown and not 0, and does not make what is known of the others unknown."""
    study = Study().write(tmp_path)
    caveat("analyze", "skills", "generate", study, "--skill", "alpha", "--condition", "A", "--samples", "2")
    caveat("analyze", "skills", "generate", study, "--skill", "alpha", "--condition", "B", "--samples", "1")
    caveat("analyze", "skills", "score", study)

    found = analyze(caveat, study, "-o", tmp_path / "out")

    with (tmp_path / "out" / "scores.csv").open(encoding="utf-8", newline="") as file:
        lengths = {(row["arm"], row["sample"]): row["response_chars"] for row in csv.DictReader(file)}
    arms = {one["arm"]: one for one in found["inventory"]["arms"]}
    assert lengths["B", "1"] == ""
    assert int(lengths["B", "0"]) > 0
    assert (arms["B"]["responses"], arms["B"]["scored"]) == (4, 2)
    assert (arms["B"]["beyond_judge"], arms["B"]["at_token_limit"], arms["B"]["cached"]) == (0, 0, 0)


def test_a_stopped_study_goes_on_where_it_stood_also_in_batches(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """What a budget left open is made by the same command later; in a batch, only the part that is asked for, and nothing twice."""
    parts = Study()
    parts.study["budget"] = {"calls": 5}
    study = parts.write(tmp_path)
    stopped = caveat("analyze", "skills", "generate", study, "--skill", "alpha", "--samples", "1")
    parts.study["budget"] = {}
    parts.write(tmp_path)

    batched = caveat("analyze", "skills", "generate", study, "--skill", "alpha", "--samples", "1", "--batch", "--json")
    whole = caveat("analyze", "skills", "generate", study, "--json").document

    requests = [len(one["requests"]) for batch in endpoint.posts("/v1/messages/batches") for one in [batch.body]]
    assert (stopped.code, batched.code) == (1, 0)
    assert "caveat analyze skills generate" in stopped.out
    assert "--skill alpha --samples 1" in re.sub(r"\s+", " ", stopped.out)
    assert requests == [3]
    assert len(list_asked(endpoint)) == CELLS - 3
    assert sum(one["answered"] for one in whole["arms"]) == CELLS
