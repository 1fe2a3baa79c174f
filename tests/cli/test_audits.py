"""A claim on its whole way, by the command line: lock, scores, outcome, what the registry then says."""

import json
from datetime import UTC, datetime
from pathlib import Path

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit, write_scores


def now() -> str:
    """The moment, as `--run-date` takes it: after a lock that was made a moment ago, and before the import."""
    return datetime.now(UTC).isoformat()


def test_a_lock_before_the_run_gives_a_replay(caveat: Caveat, tmp_path: Path) -> None:
    """Scores dated after the lock are a replay; the verdict stays provisional, because only an option says when the run began."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    done = caveat("audit", "conclude", audit, scores, "--run-date", now(), "--json")

    assert done.code == 0, done.err
    restriction = done.document["restriction"]
    primary = restriction["classification"]["readings"][0]
    assert (primary["class"], primary["standing"], restriction["basis"]) == ("inverted", "candidate", "replay")
    assert (primary["verdict"], primary["verdict_standing"]) == ("contradicted", "provisional")
    missing = next(check for check in primary["conditions"] if check["status"] == "missing")
    assert missing["condition"] == "lock"
    assert missing["note"] == "when the run began is only the auditor's word; the data do not show it"
    assert restriction["post_hoc"] is False
    shown = caveat("claim", "show", claim, "--json").document
    assert shown["status"]["restriction"] == "suspended"
    assert [len(shown["audits"][0][part]) for part in ("runs", "results", "restrictions")] == [1, 1, 1]


def test_without_a_lock_the_same_scores_are_only_reported(caveat: Caveat, tmp_path: Path) -> None:
    """Reported evidence restricts and never establishes; the outcome is post hoc."""
    claim, *_ = register(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    restriction = caveat("audit", "conclude", write_audit(tmp_path, claim), scores, "--json").document["restriction"]

    primary = restriction["classification"]["readings"][0]
    assert (primary["class"], primary["standing"], restriction["basis"]) == ("inverted", "candidate", "reported")
    assert restriction["post_hoc"] is True
    assert caveat("claim", "show", claim, "--json").document["status"]["restriction"] == "suspended"


def test_a_run_older_than_its_lock_is_post_hoc(caveat: Caveat, tmp_path: Path) -> None:
    """A lock made when the scores were there already proves nothing; no run is recorded under it."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    restriction = caveat("audit", "conclude", audit, scores, "--run-date", "2020-01-01", "--json").document["restriction"]

    assert (restriction["basis"], restriction["post_hoc"], restriction["result"]) == ("reported", True, None)
    assert caveat("audit", "show", audit, "--json").document["runs"] == []


def test_reported_evidence_alone_is_a_retrospective_audit(caveat: Caveat, tmp_path: Path) -> None:
    """No lock, no scores: the decision table for reported evidence speaks."""
    claim, *_ = register(caveat, tmp_path)
    extra = "  - {layer: latent, finding: {value: 0.16, unit: share}}\n"

    restriction = caveat("audit", "conclude", write_audit(tmp_path, claim, extra=extra), "--json").document["restriction"]

    primary = restriction["classification"]["readings"][0]
    assert (primary["class"], primary["standing"]) == ("inverted", "candidate")
    assert restriction["estimate"] is None


def test_reported_evidence_is_added_to_an_open_audit(caveat: Caveat, tmp_path: Path) -> None:
    """It is recorded once, enters the verdict, and is refused where a lock or a verdict fixes what counts."""
    claim, other, _ = register(caveat, tmp_path)
    audit = caveat("audit", "open", write_audit(tmp_path, claim), "--json").document["audit"]
    before = len(caveat("audit", "show", audit, "--json").document["evidence"])
    Path("more.yaml").write_text("evidence:\n  - {layer: latent, access: unavailable, summary: not published}\n", encoding="utf-8")

    first, second = (caveat("audit", "evidence", audit, "more.yaml", "--json").document["entries"] for _ in range(2))
    shown = caveat("audit", "show", audit, "--json").document["evidence"]
    caveat("audit", "conclude", audit)
    late = caveat("audit", "evidence", audit, "more.yaml")
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, other), "--json").document["audit"]

    assert (len(first), second, len(shown)) == (1, [], before + 1)
    assert (late.code, late.error) == (2, "audit-concluded")
    assert caveat("audit", "evidence", locked, "more.yaml").error == "audit-is-locked"


def test_doing_it_twice_changes_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """The same lock, and the same scores, are recorded once."""
    claim, *_ = register(caveat, tmp_path)
    file = write_audit(tmp_path, claim)
    audit = caveat("audit", "lock", "--yes", file, "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    caveat("audit", "conclude", audit, scores, "--run-date", now())
    size = caveat("admin", "log", "show", "--json").document["size"]

    locked = caveat("audit", "lock", "--yes", file, "--json").document
    again = caveat("audit", "conclude", audit, scores, "--run-date", now(), "--json").document

    assert (locked["audit"], locked["new"], again["new"]) == (audit, False, False)
    assert caveat("admin", "log", "show", "--json").document["size"] == size


def test_a_locked_audit_needs_scores(caveat: Caveat, tmp_path: Path) -> None:
    """Importing nothing into a locked audit is refused with what to do."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]

    refused = caveat("audit", "conclude", audit)

    assert refused.code == 2
    assert "scores-missing" in refused.err
    assert f"caveat audit conclude {audit} TABLE" in refused.err


def test_a_template_claims_no_independence(caveat: Caveat, tmp_path: Path) -> None:
    """A file that is used as it comes says that the auditor is the publisher, which page one prints."""
    claim, *_ = register(caveat, tmp_path)

    assert "\nindependence: self " in caveat("audit", "new", claim).out


def test_a_template_is_locked_once_it_is_filled_in(caveat: Caveat, tmp_path: Path) -> None:
    """What `audit new` prints is refused with every placeholder that is left, and taken when none is."""
    claim, *_ = register(caveat, tmp_path)
    text = caveat("audit", "new", claim).out
    (tmp_path / "new.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "filled.yaml").write_text(text.replace("tasks: …", "tasks: 40").replace(": …", ": said"), encoding="utf-8")

    refused = caveat("audit", "lock", "--yes", "new.yaml", "--json")
    locked = caveat("audit", "lock", "--yes", "filled.yaml", "--json")

    codes = [one["code"] for one in json.loads(refused.err)["faults"]]
    assert (refused.code, codes) == (2, ["placeholder-left"] * 6)
    assert locked.code == 0, locked.err


def test_a_table_with_one_side_records_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Proposition 1: a marginal score never becomes a differential; neither audit nor evidence stay behind."""
    claim, *_ = register(caveat, tmp_path)
    scores = tmp_path / "scores.csv"
    scores.write_text("task_id,arm,context_id,sample,score\nt,test,c,0,1\n", encoding="utf-8")

    refused = caveat("audit", "conclude", write_audit(tmp_path, claim), scores)

    assert refused.code == 2
    assert caveat("audit", "list", "--json").document["audits"] == []


def test_status_is_what_it_was_as_of_an_entry(caveat: Caveat, tmp_path: Path) -> None:
    """A reading as of an earlier entry does not see the later audit."""
    claim, *_ = register(caveat, tmp_path)
    size = caveat("admin", "log", "show", "--json").document["size"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    caveat("audit", "conclude", write_audit(tmp_path, claim), scores)

    then = caveat("claim", "show", claim, "--as-of", str(size), "--json").document
    now = caveat("claim", "show", claim, "--json").document

    assert (then["status"]["restriction"], now["status"]["restriction"]) == ("unaudited", "suspended")
    assert then["audits"] == []


def test_a_lock_with_another_plan_is_another_audit(caveat: Caveat, tmp_path: Path) -> None:
    """What only the lock holds (specifications, rules, budget) tells two drafts apart; nothing of a file is dropped in silence."""
    claim, *_ = register(caveat, tmp_path)
    first = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document
    second = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="stopping_rule: after 40 tasks\n"), "--json").document
    again = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="stopping_rule: after 40 tasks\n"), "--json").document

    assert first["audit"] != second["audit"]
    assert (second["new"], again["new"], again["audit"]) == (True, False, second["audit"])


def test_scores_on_record_before_the_lock_are_post_hoc_whatever_their_date(caveat: Caveat, tmp_path: Path) -> None:
    """The registry itself knows that this table was there before the plan was fixed."""
    claim, *_ = register(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    caveat("audit", "conclude", write_audit(tmp_path, claim), scores)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]

    restriction = caveat("audit", "conclude", audit, scores, "--run-date", now(), "--json").document["restriction"]

    assert (restriction["basis"], restriction["post_hoc"], restriction["result"]) == ("reported", True, None)
    assert restriction["classification"]["readings"][0]["standing"] == "candidate"


def test_a_run_cannot_begin_after_its_import(caveat: Caveat, tmp_path: Path) -> None:
    """A date in the future is no date of these scores; nothing is recorded."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    size = caveat("admin", "log", "show", "--json").document["size"]

    refused = caveat("audit", "conclude", audit, scores, "--run-date", "2999-01-01")

    assert refused.code == 2
    assert "run-in-future" in refused.err
    assert caveat("admin", "log", "show", "--json").document["size"] == size


def test_arms_are_not_chosen_under_a_lock(caveat: Caveat, tmp_path: Path) -> None:
    """Exchanged arms would turn the sign of ED after the scores were seen."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    refused = caveat("audit", "conclude", audit, scores, "--run-date", now(), "--test", "deploy", "--deploy", "test")

    assert refused.code == 2
    assert "design-differs-from-lock" in refused.err


def test_a_lock_is_for_one_outcome(caveat: Caveat, tmp_path: Path) -> None:
    """A later, smaller table cannot take the place of what was found."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    caveat("audit", "conclude", audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4), "--run-date", now())

    refused = caveat("audit", "conclude", audit, write_scores(tmp_path / "few.csv", test=0.05, deploy=0.4, tasks=5), "--run-date", now())

    assert refused.code == 2
    assert "audit-concluded" in refused.err
    assert caveat("claim", "show", claim, "--json").document["status"]["restriction"] == "suspended"


def test_a_locked_audit_asks_when_the_run_began(caveat: Caveat, tmp_path: Path) -> None:
    """Without the date the outcome would be post hoc for good, so nothing is recorded."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]

    refused = caveat("audit", "conclude", audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    assert refused.code == 2
    assert "run-date-missing" in refused.err


def test_scores_known_before_the_lock_stay_known_in_another_file(caveat: Caveat, tmp_path: Path) -> None:
    """The same scores in another order are the same scores: a lock made after they were on record proves nothing."""
    claim, *_ = register(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    caveat("audit", "conclude", write_audit(tmp_path, claim), scores)
    head, *rows = scores.read_text().splitlines()
    (tmp_path / "again.csv").write_text("\n".join([head, *reversed(rows), ""]))
    file = write_audit(tmp_path, claim, extra="question: once more?\n")
    audit = caveat("audit", "lock", "--yes", file, "--json").document["audit"]

    restriction = caveat("audit", "conclude", audit, "again.csv", "--run-date", now(), "--json").document["restriction"]

    assert (restriction["basis"], restriction["post_hoc"]) == ("reported", True)


def test_a_run_counts_every_scored_response(caveat: Caveat, tmp_path: Path) -> None:
    """Also those of tasks that only one side has: 2 sides × 40 tasks × 8 contexts, and one more."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    scores.write_text(scores.read_text(encoding="utf-8") + "alone,test,test0,0,1,m-1\n", encoding="utf-8")
    caveat("audit", "conclude", audit, scores, "--run-date", now())

    (run,) = caveat("audit", "show", audit, "--json").document["runs"]

    assert run["payload"]["responses"] == 641


def test_the_day_of_the_lock_alone_does_not_say_which_came_first(caveat: Caveat, tmp_path: Path) -> None:
    """It is refused, because scores once recorded as post hoc stay so; with the time it is taken."""
    claim, *_ = register(caveat, tmp_path)
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    refused = caveat("audit", "conclude", locked["audit"], scores, "--run-date", locked["locked_at"][:10])
    taken = caveat("audit", "conclude", locked["audit"], scores, "--run-date", now(), "--json")

    assert (refused.code, "bad-date" in refused.err) == (2, True)
    assert taken.document["restriction"]["basis"] == "replay"


def test_dates_of_access_before_the_run_contradict_it(caveat: Caveat, tmp_path: Path) -> None:
    """Who dates a run later than its own provenance is asked which is right; nothing is recorded."""
    claim, *_ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    (tmp_path / "provenance.yaml").write_text("accessed: 2020-05-01T10:00:00Z to 2020-05-02T10:00:00Z\n", encoding="utf-8")

    refused = caveat("audit", "conclude", audit, scores, "--run-date", now(), "--provenance", "provenance.yaml")

    assert (refused.code, "accessed-before-run" in refused.err) == (2, True)
    assert caveat("audit", "show", audit, "--json").document["restrictions"] == []


def test_other_arms_of_the_same_table_are_another_outcome(caveat: Caveat, tmp_path: Path) -> None:
    """Without a lock arms may be chosen; what was asked for is what is answered, and asking again changes nothing."""
    claim, *_ = register(caveat, tmp_path)
    file, scores = write_audit(tmp_path, claim), write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    arms = ("--test", "deploy", "--deploy", "test")

    first = caveat("audit", "conclude", file, scores, "--json").document
    other = caveat("audit", "conclude", file, scores, *arms, "--json").document
    again = caveat("audit", "conclude", file, scores, *arms, "--json").document

    assert [one["new"] for one in (first, other, again)] == [True, True, False]
    assert other["restriction"]["classification"]["readings"][0]["not_met_in_test"] is True


def test_a_locked_file_is_not_imported_beside_its_lock(caveat: Caveat, tmp_path: Path) -> None:
    """Whoever locked a plan and then names the file, not the audit, is told which audit to name."""
    claim, *_ = register(caveat, tmp_path)
    file = write_audit(tmp_path, claim)
    audit = caveat("audit", "lock", "--yes", file, "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)

    refused = caveat("audit", "conclude", file, scores)

    assert refused.code == 2
    assert "audit-is-locked" in refused.err
    assert audit in refused.err


def test_a_small_or_unlocked_audit_does_not_clear_what_was_found(caveat: Caveat, tmp_path: Path) -> None:
    """A contradiction stays the claim's status and leads its supplement; the later, lighter outcomes stand in the history."""
    claim, *_ = register(caveat, tmp_path)
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    caveat("audit", "conclude", locked, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4), "--run-date", now())
    small = write_scores(tmp_path / "small.csv", test=0.05, deploy=0.05, tasks=5)
    early = caveat("audit", "conclude", locked, small, "--run-date", "2020-01-01")
    second = write_audit(tmp_path, claim, extra="question: and with five tasks?\n")
    unlocked = caveat("audit", "conclude", second, small, "--json").document["restriction"]

    caveat("report", claim, "--json", "-o", "out")

    assert "audit-concluded" in early.err
    assert unlocked["classification"]["readings"][0]["class"] == "undetermined"
    assert caveat("claim", "show", claim, "--json").document["status"]["restriction"] == "suspended"
    supplement = json.loads((tmp_path / "out" / f"{claim}.json").read_text())
    assert supplement["audit"]["opening"]["payload"]["audit"] == locked
    assert [one["class"] for one in supplement["other_audits"]] == ["undetermined"]


def test_a_withdrawn_audit_is_shown_with_its_reason_and_takes_nothing_more(caveat: Caveat, tmp_path: Path) -> None:
    """By its auditor, once; the same draft again is a new audit, whose better verdict names the withdrawn one."""
    claim, *_ = register(caveat, tmp_path)
    file, scores = write_audit(tmp_path, claim), write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    audit = caveat("audit", "conclude", file, scores, "--json").document["audit"]

    blank = caveat("audit", "withdraw", audit, "-m", " ", "--yes")
    done = caveat("audit", "withdraw", audit, "-m", "the scores were of a debug build", "--yes")
    again = caveat("audit", "withdraw", audit, "-m", "twice", "--yes")
    more = caveat("audit", "conclude", audit, scores)

    assert (blank.code, done.code, again.code, more.code) == (2, 0, 2, 2)
    assert (again.error, more.error) == ("audit-withdrawn", "audit-withdrawn")
    for command in (("audit", "show", audit), ("claim", "show", claim), ("claim", "history", claim)):
        assert "the scores were of a debug build" in " ".join(caveat(*command).out.split())
    listed = caveat("audit", "list", "--json").document["audits"]
    assert [(row["withdrawn"], row["verdict_standing"]) for row in listed] == [("the scores were of a debug build", "provisional")]

    better = write_scores(tmp_path / "better.csv", test=0.02, deploy=0.02)
    second = caveat("audit", "conclude", file, better, "--json").document
    assert second["audit"] != audit
    assert second["opposed"]["kind"] == "withdrawn"
    assert "; withdrawn)" in " ".join(caveat("audit", "list").out.split())
    assert caveat("report", claim, "--html", "--json", "-o", "out").code == 0
    record = json.loads(next((tmp_path / "out").glob("CLM-*.json")).read_text(encoding="utf-8"))
    assert record["verdict"].startswith(f"An audit was withdrawn: {audit}, which found")
    page = " ".join(next((tmp_path / "out").glob("CLM-*.html")).read_text(encoding="utf-8").split())
    assert "<strong>Withdrawn</strong>" in page
    assert "the scores were of a debug build" in page


def test_without_another_audit_a_withdrawn_one_that_holds_leaves_the_claim_unaudited(caveat: Caveat, tmp_path: Path) -> None:
    claim, *_ = register(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.0, deploy=0.0)
    concluded = caveat("audit", "conclude", write_audit(tmp_path, claim), scores, "--json").document
    assert concluded["restriction"]["classification"]["readings"][0]["verdict"] == "holds"

    assert caveat("audit", "withdraw", concluded["audit"], "-m", "the tasks were in the training data", "--yes").code == 0

    shown = caveat("claim", "show", claim, "--json").document
    assert (shown["status"]["restriction"], shown["status"]["gravest"]) == ("unaudited", None)
    assert caveat("report", claim, "--json", "-o", "out").code == 0
    record = json.loads(next((tmp_path / "out").glob("CLM-*.json")).read_text(encoding="utf-8"))
    assert record["verdict"].startswith(f"Not audited: {concluded['audit']} of this claim was withdrawn.")
    assert record["other_audits"][0]["withdrawn"]["payload"]["reason"] == "the tasks were in the training data"
