"""What a lock fixes, by the command line, and every way around it that somebody might try."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.records.analysis_plan import LockedItem
from tests.cli.conftest import Caveat
from tests.cli.locking import add_contexts, find_basis, import_scores, list_deviations, lock_all
from tests.cli.scenario import register, write_audit, write_scores


def test_what_is_kept_is_a_replay_without_deviation(caveat: Caveat, tmp_path: Path) -> None:
    """The same tasks and contexts as the lock fixes: nothing is recorded beside the outcome."""
    audit = lock_all(caveat, tmp_path)

    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    assert done.code == 0, done.err
    assert (find_basis(done), list_deviations(caveat, audit)) == ("replay", [])


def test_what_is_left_open_is_told_when_locking(caveat: Caveat, tmp_path: Path) -> None:
    """Each thing that could still be chosen has its own warning, and stands in the document."""
    claim = register(caveat, tmp_path)[0]

    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json")

    left_open = locked.document["not_fixed"]
    assert {"tasks", "test contexts", "deployment contexts (default)", "scoring", "budget", "stopping rule"} <= set(left_open)
    assert all(f"not fixed before the replay: {one};" in locked.err for one in left_open)


@pytest.mark.parametrize(
    ("change", "item"),
    [("t39,", "tasks"), ("deploy7,", "deploy_contexts"), ("test7,", "test_contexts")],
)
def test_other_tasks_or_contexts_restrict_and_never_establish(change: str, item: str, caveat: Caveat, tmp_path: Path) -> None:
    """The one that was exchanged after the lock is found, recorded without a reason, and takes the standing with it."""
    audit = lock_all(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    scores.write_text(scores.read_text(encoding="utf-8").replace(change, f"x{change}"), encoding="utf-8")

    done = import_scores(caveat, audit, scores)

    primary = done.document["restriction"]["classification"]["readings"][0]
    assert (find_basis(done), primary["standing"]) == ("reported", "candidate")
    assert "No lock preceded" not in primary["why"]
    assert "Not as locked" in done.document["restriction"]["text"]["restricted"]
    assert list_deviations(caveat, audit) == [(item, None, True)]
    assert f"deviates from the lock: {LockedItem(item).words}" in done.err


@pytest.mark.parametrize(
    ("dropped", "told"),
    [
        (lambda row: row["arm"] == "deploy" and row["task_id"] in ("t3", "t7"), "deployment: 38 tasks; excluded: t3, t7"),
        (lambda row: row["arm"] == "test" and row["task_id"] == "t3", "test: 39 tasks; excluded: t3"),
        (lambda row: row["context_id"] in ("deploy2", "deploy5") and row["score"] == "0", "pairs of task and context"),
    ],
)
def test_responses_excluded_of_one_side_are_chosen_scores(
    dropped: Callable[[dict[str, str]], bool], told: str, caveat: Caveat, tmp_path: Path
) -> None:
    """Every locked task and context still has some row, and yet the scores are not those that were planned."""
    audit = lock_all(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    head, *rows = scores.read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if not dropped(dict(zip(head.split(","), row.split(","), strict=True)))]
    scores.write_text("\n".join([head, *kept, ""]), encoding="utf-8")

    done = import_scores(caveat, audit, scores)

    assert (find_basis(done), told in done.err) == ("reported", True)
    assert ("tasks", None, True) in list_deviations(caveat, audit)


def test_of_a_random_subset_the_test_side_has_more_tasks(caveat: Caveat, tmp_path: Path) -> None:
    """Replayed are the tasks of the list; that the evaluation had others is how the plan has it."""
    audit = lock_all(caveat, tmp_path, more="plan: {random_subset: true}\n")
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, tasks=45)
    head, *rows = scores.read_text(encoding="utf-8").splitlines()
    more = {f"t{number}" for number in range(40, 45)}
    kept = [row for row in rows if row.split(",")[1] == "test" or row.split(",")[0] not in more]
    scores.write_text("\n".join([head, *kept, ""]), encoding="utf-8")

    done = import_scores(caveat, audit, scores)

    assert (find_basis(done), list_deviations(caveat, audit)) == ("replay", [])


def test_a_reason_explains_and_mends_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """A found deviation is explained by an entry of its own; the outcome stays what it is, and twice is once."""
    audit = lock_all(caveat, tmp_path)
    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, contexts=7))
    refused = caveat("audit", "deviate", audit, "tasks", "--reason", "none was found")
    told = [caveat("audit", "deviate", audit, "deploy_contexts", "--reason", "the server was down", "--json") for _ in range(2)]

    assert find_basis(done) == "reported"
    assert (refused.code, "deviation-ambiguous" in refused.err) == (2, True)
    assert [one.code for one in told] == [0, 2]  # explained once, nothing is left to explain
    assert ("deploy_contexts", "the server was down", False) in list_deviations(caveat, audit)
    assert "not explained" in " ".join(caveat("audit", "show", audit).out.split())


def test_tasks_told_before_the_import_count_as_well(caveat: Caveat, tmp_path: Path) -> None:
    """Who tells that others were asked, in words that no comparison could find, is taken at their word."""
    audit = lock_all(caveat, tmp_path)
    caveat("audit", "deviate", audit, "scoring", "--done", "another judge", "--reason", "the first was retired")

    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    assert find_basis(done) == "reported"


def test_the_first_tasks_of_the_order_alone_are_an_early_stop(caveat: Caveat, tmp_path: Path) -> None:
    """Stopping keeps the basis, and makes the verdict provisional: only anytime intervals allow it. Leaving out others is choosing."""
    audit = lock_all(caveat, tmp_path)
    first = caveat("audit", "order", tmp_path / "tasks.txt", "--audit", audit, "--json").document["tasks"][:30]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    head, *rows = scores.read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if row.split(",")[0] in first]
    scores.write_text("\n".join([head, *kept, ""]), encoding="utf-8")

    done = import_scores(caveat, audit, scores)

    reading = done.document["restriction"]["classification"]["readings"][0]
    assert find_basis(done) == "replay"
    assert list_deviations(caveat, audit) == [("stopping_rule", None, True)]
    assert reading["verdict_standing"] == "provisional"
    assert reading["conditions"][0]["note"] == "the run did not stop where the lock says, and only anytime intervals allow for that"


def test_another_model_and_a_larger_bill_are_found(caveat: Caveat, tmp_path: Path) -> None:
    """What the provenance says is held against the lock: another model decides, a budget does not."""
    audit = lock_all(caveat, tmp_path)
    (tmp_path / "provenance.yaml").write_text("{model_returned: m-2, budget_spent: '1,200 calls'}\n", encoding="utf-8")
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, model=None)

    done = import_scores(caveat, audit, scores, "--provenance", "provenance.yaml")

    assert find_basis(done) == "reported"
    assert sorted(item for item, *_ in list_deviations(caveat, audit)) == ["budget", "model"]


def test_a_new_version_of_a_locked_specification_changes_no_lock(caveat: Caveat, tmp_path: Path) -> None:
    """The lock names the version with its digest: what its owner says later is compared with nothing."""
    audit = lock_all(caveat, tmp_path)
    add_contexts(caveat, tmp_path, "deploy_context", "office", ids=range(3), why="fewer are enough")

    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    assert (find_basis(done), list_deviations(caveat, audit)) == ("replay", [])


def test_nothing_departs_from_what_every_outcome_is_computed_from(caveat: Caveat, tmp_path: Path) -> None:
    """θ, direction and margin are the lock's, whatever anybody tells; other settings are an exploration."""
    audit = lock_all(caveat, tmp_path)

    refused = caveat("audit", "deviate", audit, "theta", "--done", "0.5", "--reason", "it looks better")

    assert (refused.code, "deviation-not-possible" in refused.err) == (2, True)


def test_an_exploration_never_changes_status(caveat: Caveat, tmp_path: Path) -> None:
    """It is labelled, recorded with what differs, stands in its own section, and leaves the claim unaudited."""
    claim = register(caveat, tmp_path)[0]
    audit = caveat("audit", "open", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    looked = ("audit", "explore", audit, scores, "--question", "and with half the margin?", "--margin", "0.02")

    seen = caveat(*looked)
    again = caveat(*looked, "--json")
    caveat("report", claim, "--json", "-o", "out")

    assert seen.out.startswith("EXPLORATORY")
    assert (again.document["new"], again.document["exploration"]["differs"]) == (False, ["margin 0.02, where the plan says nothing"])
    assert caveat("claim", "show", claim, "--json").document["status"]["restriction"] == "unaudited"
    supplement = json.loads((tmp_path / "out" / f"{claim}.json").read_text())
    assert [one["payload"]["question"] for one in supplement["audit"]["explorations"]] == ["and with half the margin?"]
    assert supplement["audit"]["outcome"] is None


@pytest.mark.parametrize("where", [(), ("--where", "context_id=test0,test1,deploy0,deploy1")])
def test_scores_that_were_explored_before_the_lock_are_known(where: tuple[str, ...], caveat: Caveat, tmp_path: Path) -> None:
    """A lock made after somebody looked proves nothing, also where they looked at some of the rows."""
    claim = register(caveat, tmp_path)[0]
    file = write_audit(tmp_path, claim)
    opened = caveat("audit", "open", file, "--json").document["audit"]
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    explored = caveat("audit", "explore", opened, scores, "--question", "what is in it?", *where)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="question: is it?\n"), "--json").document["audit"]

    done = import_scores(caveat, audit, scores)

    assert explored.code == 0, explored.err
    assert (find_basis(done), done.document["restriction"]["post_hoc"]) == ("reported", True)


def test_every_fault_of_what_an_audit_refers_to_is_told_at_once(caveat: Caveat, tmp_path: Path) -> None:
    """Specifications, files and objections that are not there, a count that contradicts the list: nothing is recorded."""
    claim = register(caveat, tmp_path)[0]
    (tmp_path / "tasks.txt").write_text("a\nb\n", encoding="utf-8")
    extra = "test_contexts: nowhere\ndeploy_contexts: {other: nothing}\ntasks: tasks.txt\nplan: {tasks: 3}\nreplay: gone.yaml\n"
    extra += "objection: CON-AISI-2026-0001-A\n"
    size = caveat("admin", "log", "show", "--json").document["size"]

    refused = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=extra), "--json")

    codes = {one["code"] for one in json.loads(refused.err)["faults"]}
    assert refused.code == 2
    assert {"spec-not-found", "spec-not-named", "file-not-readable", "lock-contradicts-itself", "not-registered"} <= codes
    assert caveat("admin", "log", "show", "--json").document["size"] == size


def test_the_database_refuses_deviations_without_a_lock(caveat: Caveat, tmp_path: Path) -> None:
    """By hand as by command: no lock, no deviation; and none is changed or taken away once it is there."""
    audit = lock_all(caveat, tmp_path)
    caveat("audit", "deviate", audit, "budget", "--done", "900 calls", "--reason", "retries")
    database = sqlite3.connect(tmp_path / "caveat.db")
    database.execute("PRAGMA foreign_keys = ON")
    with database, pytest.raises(sqlite3.DatabaseError):
        database.execute("UPDATE deviation SET item = 'other'")
    with database, pytest.raises(sqlite3.DatabaseError):
        database.execute("DELETE FROM deviation")
    with database, pytest.raises(sqlite3.DatabaseError):
        database.execute("INSERT INTO deviation SELECT log, seq - 1, at, 'AUD-AISI-2026-0099-X', item, found FROM deviation")
    database.close()

    assert list_deviations(caveat, audit) == [("budget", "retries", False)]


def open_objection(caveat: Caveat, folder: Path, *, rival: str | None) -> tuple[str, str]:
    """Register a claim with contexts, contest its P_deploy, and return the claim and the objection."""
    claim = register(caveat, folder)[0]
    add_contexts(caveat, folder, "deploy_context", "office")
    add_contexts(caveat, folder, "deploy_context", "street")
    specs = {one["slug"]: f"{one['spec']}@{one['version']}" for one in caveat("spec", "list", "--json").document["specs"]}
    extra = ("--rival", specs[rival]) if rival else ()
    opened = caveat("contest", "open", specs["office"], "--reason", "no one works there", *extra, "--json")
    assert opened.code == 0, opened.err
    return claim, str(opened.document["objection"])


def test_a_replay_under_a_rival_plans_the_rival(caveat: Caveat, tmp_path: Path) -> None:
    """Without the rival among its contexts it is refused; with it, the objection knows its replay."""
    claim, contested = open_objection(caveat, tmp_path, rival="street")
    refused = caveat(
        "audit", "lock", "--yes", write_audit(tmp_path, claim, extra=f"objection: {contested}\ndeploy_contexts: {{default: office}}\n")
    )
    extra = f"objection: {contested}\ndeploy_contexts: {{default: street}}\n"

    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=extra), "--json")

    assert (refused.code, "rival-not-planned" in refused.err) == (2, True)
    assert locked.code == 0, locked.err
    assert locked.document["audit"] in caveat("contest", "show", contested, "--json").out


def test_a_objection_without_a_rival_has_no_replay(caveat: Caveat, tmp_path: Path) -> None:
    """There is nothing to replay under."""
    claim, contested = open_objection(caveat, tmp_path, rival=None)

    refused = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=f"objection: {contested}\n"))

    assert (refused.code, "rival-not-planned" in refused.err) == (2, True)
