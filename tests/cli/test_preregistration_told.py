"""What a supplement tells of locks: what they fix, what departed from them, and how many there are."""

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Caveat
from tests.cli.locking import find_basis, import_scores, lock_all
from tests.cli.scenario import ENDPOINT_NAMES, MODEL, register, write_audit, write_scores


def test_the_supplement_says_what_was_fixed_what_not_and_what_departed(caveat: Caveat, tmp_path: Path) -> None:
    """Page one, the section on what was fixed, and the checklist tell the same."""
    audit = lock_all(caveat, tmp_path)
    import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, tasks=39))
    claim = caveat("audit", "show", audit, "--json").document["audit"]["payload"]["claim"]

    caveat("report", claim, "--html", "-o", "out")

    page = " ".join((tmp_path / "out" / f"{claim}.html").read_text(encoding="utf-8").split())
    assert "not as locked ·" in page
    assert "it is not explained" in page
    assert "It is not explained." in page
    assert "Not in the lock:" in page
    assert "✗ Not as locked: 39 tasks" in page


def test_a_deviation_that_is_told_after_the_outcome_is_on_page_one(caveat: Caveat, tmp_path: Path) -> None:
    """The outcome knew nothing of it and stays; whoever reads the page learns both."""
    audit = lock_all(caveat, tmp_path)
    import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))
    told = caveat("audit", "deviate", audit, "scoring", "--done", "another judge", "--reason", "no one had noticed")
    claim = caveat("audit", "show", audit, "--json").document["audit"]["payload"]["claim"]

    caveat("report", claim, "--json", "-o", "out")

    supplement = json.loads((tmp_path / "out" / f"{claim}.json").read_text(encoding="utf-8"))
    said = [one["text"] for one in supplement["limits"]]
    assert "warning: its outcome stays as it was recorded" in told.err
    assert supplement["audit"]["outcome"]["payload"]["basis"] == "replay"
    assert any("recorded after the outcome" in one for one in said)


def test_a_run_in_the_second_of_its_lock_is_told_so(caveat: Caveat, tmp_path: Path) -> None:
    """Entries have whole seconds: the page does not claim an order that the clocks do not show."""
    audit = lock_all(caveat, tmp_path)
    locked = caveat("audit", "show", audit, "--json").document["lock"]["entry"]["at"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    done = caveat("audit", "conclude", audit, scores, "--run-date", locked, "--json")
    claim = done.document["restriction"]["claim"]

    caveat("report", claim, "--html", "-o", "out")

    page = (tmp_path / "out" / f"{claim}.html").read_text(encoding="utf-8")
    assert find_basis(done) == "replay"
    assert "the clocks do not show which came first" in page


def read_supplement(caveat: Caveat, folder: Path, claim: str) -> tuple[dict[str, Any], str]:
    """The record and the page of *claim*, the page with single blanks."""
    drawn = caveat("report", claim, "--json", "--html", "-o", "out")
    assert drawn.code == 0, drawn.err
    name = claim if "@" in claim else f"{claim}@1"
    page = (folder / "out" / f"{name}.html").read_text(encoding="utf-8")
    return json.loads((folder / "out" / f"{name}.json").read_text(encoding="utf-8")), " ".join(page.split())


def test_one_of_several_locks_is_counted_with_those_that_came_to_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Who locks several margins and concludes one is told so when locking, on page one, and beside what the lock fixes."""
    claim = register(caveat, tmp_path)[0]
    locked = [
        caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=f"plan: {{margin: {margin}}}\n"), "--json")
        for margin in (0.01, 0.02, 0.03)
    ]
    import_scores(caveat, locked[1].document["audit"], write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    supplement, page = read_supplement(caveat, tmp_path, claim)

    told = "One of 3 locked audits of this claim, 2 of the others without an outcome."
    assert "2 other locked audits of this claim, 2 without an outcome" in locked[2].err
    assert any(one["text"].startswith(told) for one in supplement["limits"])
    assert page.count(told) == 3  # page one, beside what the lock fixes, and the attached record
    assert [one["locked"] is not None for one in supplement["other_audits"]] == [True, True]


def test_a_lock_about_another_model_version_is_not_counted(caveat: Caveat, tmp_path: Path) -> None:
    """Of a claim that was carried, plans for the earlier version are no choice among scores of this one."""
    claim = register(caveat, tmp_path)[0]
    caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="plan: {margin: 0.01}\n"))
    model = caveat("claim", "show", claim, "--json").document["revisions"][0]["payload"]["model"]
    old = f"{model['developer']}/{model['name']}/{model['version']}"
    assert caveat("model", "update", old, f"{old}-next").code == 0
    carried = caveat("stale", "apply", claim.partition("@")[0], "--reason", "the same is said of it")
    assert carried.code == 0, carried.err

    locked = [
        caveat("audit", "lock", "--yes", write_audit(tmp_path, f"{claim.partition('@')[0]}@2", extra=f"plan: {{margin: {margin}}}\n"))
        for margin in (0.01, 0.02)
    ]

    assert [one.code for one in locked] == [0, 0], locked[0].err
    assert "other locked audit" not in locked[0].err
    assert "1 other locked audit of this claim, 1 without an outcome" in locked[1].err


def test_an_outcome_without_lock_beside_a_lock_without_outcome_is_told(caveat: Caveat, tmp_path: Path) -> None:
    """Leaving the lock alone and importing without it leaves the lock on the page."""
    claim = register(caveat, tmp_path)[0]
    caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="plan: {margin: 0.01}\n"))
    caveat("audit", "conclude", write_audit(tmp_path, claim), write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    _, page = read_supplement(caveat, tmp_path, claim)

    assert "This audit has no lock, and 1 locked audit of the claim has no outcome" in page


def test_deviations_of_an_audit_that_does_not_lead_are_counted_beside_it(caveat: Caveat, tmp_path: Path) -> None:
    """What departs from a lock does not vanish with the outcome that it belongs to."""
    audit = lock_all(caveat, tmp_path)
    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, tasks=39))
    claim = done.document["restriction"]["claim"]
    again = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    import_scores(caveat, again, write_scores(tmp_path / "other.csv", test=0.05, deploy=0.5))

    supplement, page = read_supplement(caveat, tmp_path, claim)

    assert [(one["deviations"], one["unexplained"]) for one in supplement["other_audits"]] == [(2, 2)]
    assert "✗ 2 protocol deviations, 2 not explained" in page


def test_a_lock_that_fixes_next_to_nothing_is_told_on_page_one(caveat: Caveat, tmp_path: Path) -> None:
    """Its outcome stands on θ and margin alone: what was measured could be chosen afterwards."""
    claim = register(caveat, tmp_path)[0]
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    supplement, _ = read_supplement(caveat, tmp_path, claim)

    said = next(one["text"] for one in supplement["limits"] if one["text"].startswith("The lock does not fix"))
    assert all(word in said for word in ("test contexts", "deployment contexts (default)", "tasks", "scoring"))
    assert "model" not in said, "the endpoint names that count are fixed by the lock"


def test_a_second_reason_does_not_take_the_place_of_the_first(caveat: Caveat, tmp_path: Path) -> None:
    """Both are printed with who gave them and where; what was told after the outcome is marked."""
    audit = lock_all(caveat, tmp_path)
    import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))
    for why in ("it rained", "the judge had retired"):
        caveat("audit", "deviate", audit, "scoring", "--done", "another judge", "--reason", why)
    claim = caveat("audit", "show", audit, "--json").document["audit"]["payload"]["claim"]

    _, page = read_supplement(caveat, tmp_path, claim)
    shown = " ".join(caveat("audit", "show", audit).out.split())

    assert all(why in text for why in ("it rained", "the judge had retired") for text in (page, shown))
    assert "after the outcome" in page


def test_a_lock_that_is_repeated_for_its_endpoint_name_counts_once(caveat: Caveat, tmp_path: Path) -> None:
    """Caveat itself advises to lock again for the name; only another plan, or a run under the first lock, would be a choice."""
    claim = register(caveat, tmp_path)[0]
    for name in ENDPOINT_NAMES:
        caveat("model", "endpoint", MODEL, name, "--retract", "--reason", "not yet stated")
    first = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim))
    again = caveat("audit", "lock", "--yes", tmp_path / "audit.yaml", "--endpoint-name", ENDPOINT_NAMES[0], "--json")
    other = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="plan: {margin: 0.01}\n"))
    import_scores(caveat, again.document["audit"], write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    supplement, page = read_supplement(caveat, tmp_path, claim)

    assert "lock again before the run, which replaces this lock" in first.err
    assert "other locked audit" not in again.err
    assert "2 other locked audits" in other.err
    assert "One of 2 locked audits of this claim, 1 of the others without an outcome." in page
    assert [one["is_replaced"] for one in supplement["other_audits"]] == [True, False]
    assert "repeated by the leading audit to fix endpoint names" in page
