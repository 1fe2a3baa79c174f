"""`caveat stale renew`: locked plans of stale claims, carried out again on another model version over real HTTP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal
from tests.endpoint.server import KEY, MODEL, Asked, Outcome, Refusal, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.renewals import ARCHIVE, CALLS, NEW, NEW_VERSION, OLD_VERSION, answer, endpoint, read_locks

RENEW = ("stale", "renew", "--yes", "--ask", NEW, "-o", "renewed")
FIRST, SECOND, THIRD, FOURTH = "CLM-AISI-2026-0001-S", "CLM-AISI-2026-0002-Q", "CLM-AISI-2026-0003-O", "CLM-AISI-2026-0004-M"


def get_states(document: Any) -> dict[str, str]:
    """By claim, how far its renewal has come."""
    return {one["claim"]: one["state"] for one in document["renewals"]}


def get_left(document: Any) -> dict[str, str]:
    """By claim, the code of why it is not renewed."""
    return {one["claim"]: one["code"] for one in document["left"]}


def count_entries(caveat: Caveat) -> int:
    """Entries of the log."""
    return int(caveat("claim", "list", "--json").document["log_size"])


def test_locked_plans_are_carried_out_again_and_a_claim_that_inverts_is_found(caveat: Caveat, registry: Path) -> None:
    """Both audits of the shared run have an outcome with basis replay; what newly inverted is named; what is left is told with why."""
    with run_endpoint(endpoint()) as server:
        ran = caveat(*RENEW, "--json", server=server)
    document = ran.document
    changes = {one["claim"]: one["change"] for one in document["renewals"]}
    outcomes = {one["audit"]: one for one in caveat("audit", "list", "--json").document["audits"]}
    renewed = [outcomes[one["audit"]] for one in document["renewals"]]

    assert ran.code == 3
    assert len(server.posts()) == CALLS
    assert {asked.body["model"] for asked in server.posts()} == {NEW}
    assert get_states(document) == {FIRST: "concluded", SECOND: "concluded"}
    assert document["newly_inverted"] == [FIRST]
    assert next((one["class"], one["standing"], one["basis"]) for one in renewed) == ("inverted", "conditional", "replay")
    assert (changes[FIRST]["before"]["class"], changes[FIRST]["after"]["class"]) == ("stable", "inverted")
    assert changes[FIRST]["steps"][0]["ed"]["value"] == pytest.approx(-1)
    assert changes[FIRST]["steps"][0]["finding"] is not None
    assert get_left(document) == {THIRD: "recording-missing", FOURTH: "no-locked-plan"}
    assert {
        "before": "stable · conditional on the contexts tested",
        "after": "inverted · conditional on the contexts tested",
        "claims": 1,
    } in document["transitions"]


def test_a_renewed_lock_is_the_old_one_but_for_audit_claim_and_model(caveat: Caveat, registry: Path) -> None:
    """Contexts keep the versions that were locked, although a newer one is registered; of the replay the policy alone is another."""
    with run_endpoint(endpoint()) as server:
        caveat(*RENEW, "--prepare-only", server=server)
    old_first, old_second, _, first, second = read_locks(registry)

    for old, new in ((old_first, first), (old_second, second)):
        assert {name for name in old if old[name] != new[name]} == {"audit", "claim", "model", "endpoint_names", "replay", "replay_parts"}
        assert {part for part in old["replay_parts"] if old["replay_parts"][part] != new["replay_parts"][part]} == {"policy"}
        assert new["replay_parts"]["policy"] == old["replay_parts"]["policy"].replace(MODEL, NEW)
        assert (new["model"], new["deploy"][0]["spec"][-2:]) == (NEW, "@1")
    assert server.asked == []


def test_called_again_after_the_end_it_changes_nothing_and_shows_the_result(caveat: Caveat, registry: Path) -> None:
    """No statement, no request, and the same changes."""
    with run_endpoint(endpoint()) as server:
        first = caveat(*RENEW, "--json", server=server)
        size, made = count_entries(caveat), len(server.posts())
        again = caveat(*RENEW, "--json", server=server)
        shown = caveat(*RENEW, server=server)
    changes = [[one["change"] for one in ran.document["renewals"]] for ran in (first, again)]

    assert (count_entries(caveat), len(server.posts())) == (size, made)
    assert changes[0] == changes[1]
    assert (again.code, again.document["newly_inverted"]) == (3, [FIRST])
    assert shown.out.startswith("▼ NEWLY INVERTED: 1 claim\n  CLM-AISI-2026-0001-S (stable · conditional on the contexts tested →")
    assert "ΔED" in shown.out
    assert "restricted claim, old to new" in shown.out
    assert "{+" in shown.out


def test_a_dry_run_tells_the_cost_and_leaves_no_trace(caveat: Caveat, registry: Path) -> None:
    """Nothing is recorded, written or sent; without prices the cost is unknown, with them it is a number."""
    before, size = sorted(registry.rglob("*")), count_entries(caveat)
    (registry / "prices.yaml").write_text(f"schema: caveat/prices/1\nprices: {{{NEW}: {{input: 1, output: 5}}}}\n", encoding="utf-8")
    with run_endpoint(endpoint()) as server:
        unknown = caveat(*RENEW, "--dry-run", "--json", server=server).document
        known = caveat(*RENEW, "--dry-run", "--json", "--prices", "prices.yaml", server=server).document
        shown = caveat(*RENEW, "--dry-run", server=server)

    assert (unknown["calls"]["calls"], unknown["calls"]["usd"]) == (CALLS, None)
    assert known["calls"]["usd"] > 0
    assert server.asked == []
    assert count_entries(caveat) == size
    assert [one for one in sorted(registry.rglob("*")) if one.name != "prices.yaml"] == before
    assert "Nothing was sent and nothing recorded" in shown.out


def test_on_a_terminal_a_renewal_asks_with_its_cost_and_a_no_records_nothing(
    caveat: Caveat, registry: Path, open_terminal: Callable[..., Terminal]
) -> None:
    """What is renewed, what is not, and how many calls; no, then yes."""
    before = count_entries(caveat)
    renew = [word for word in RENEW if word != "--yes"]
    with run_endpoint(endpoint()) as server:
        environment = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
        with open_terminal(registry, *renew, **environment) as terminal:
            asked = " ".join(terminal.wait_for("[y/N]").split())
            refused = terminal.press("n\n", "not-confirmed")
            declined = terminal.wait()
        kept = count_entries(caveat)
        with open_terminal(registry, *renew, **environment) as terminal:
            terminal.wait_for("[y/N]")
            terminal.press("y\n", "NEWLY INVERTED")
            accepted = terminal.wait()

    assert f"{FIRST}: {OLD_VERSION.replace('/', ' ')} → {NEW_VERSION.replace('/', ' ')}" in asked
    assert f"{FOURTH}: not renewed" in asked
    assert f"{CALLS} calls: about" in asked
    assert "nothing was recorded" in " ".join(refused.split())
    assert (declined, kept, accepted) == (1, before, 3)
    assert len(server.posts()) == CALLS


def test_a_vanished_recording_says_what_was_looked_for_and_where(caveat: Caveat, registry: Path) -> None:
    """Digest, audit and folders are named; once the folder is named, the audit is carried out."""
    locked = read_locks(registry)[2]
    missing = next(one for one in caveat(*RENEW, "--dry-run", "--json").document["left"] if one["claim"] == THIRD)
    with run_endpoint(endpoint()) as server:
        found = caveat(*RENEW, THIRD, "--runs", ARCHIVE, "--json", server=server)

    assert locked["replay"] in missing["found"]
    assert missing["audit"] == locked["audit"]
    assert "--runs DIR" in missing["advice"]
    assert (found.code, get_states(found.document)) == (0, {THIRD: "concluded"})


def test_a_model_that_the_endpoint_does_not_know_is_locked_nowhere(caveat: Caveat, registry: Path) -> None:
    """Its name would be fixed for good; so nothing is recorded, and the right name can be given to the same folder."""
    size = count_entries(caveat)
    with run_endpoint(endpoint()) as server:
        wrong = caveat("stale", "renew", "--yes", "--ask", "claude-tset-2", "-o", "renewed", FIRST, server=server)
        after = count_entries(caveat)
        right = caveat(*RENEW, FIRST, server=server)

    assert (wrong.code, after) == (3, size)
    assert "endpoint-model-unknown" in wrong.out
    assert right.code == 0, right.err


def test_a_folder_is_for_one_model(caveat: Caveat, registry: Path) -> None:
    """Another name in the same folder would mix two renewals."""
    with run_endpoint(endpoint()) as server:
        caveat(*RENEW, "--prepare-only", server=server)
        other = caveat("stale", "renew", "--yes", "--ask", MODEL, "-o", "renewed", server=server)

    assert other.code == 2
    assert "renewal-differs" in other.err


def test_the_same_scores_from_other_responses_were_not_known_before(caveat: Caveat, registry: Path) -> None:
    """A model that answers as its predecessor did gives the very same scores; they still come after the lock."""
    with run_endpoint(endpoint(script=lambda _asked: Reply(text="no"))) as server:
        ran = caveat(*RENEW, FIRST, "--json", server=server)
    after = ran.document["renewals"][0]["change"]["after"]

    assert ran.code == 0, ran.err
    assert (after["class"], after["standing"]) == ("stable", "conditional")


def test_the_responses_of_one_version_are_none_of_another(caveat: Caveat, registry: Path) -> None:
    """Two versions under one name of an endpoint, locked before one run that answers to both: of the second it establishes nothing."""
    assert caveat("model", "update", OLD_VERSION, "LAB/M/2-mini", "--branch").code == 0
    prepare = ("--ask", NEW, "--prepare-only", "--json")
    wanted = ((FIRST, NEW_VERSION, "renewed"), (SECOND, "LAB/M/2-mini", "mini"))
    with run_endpoint(endpoint()) as server:
        made = [caveat("stale", "renew", "--yes", one, "--to", to, "-o", folder, *prepare, server=server) for one, to, folder in wanted]
        first, second = (ran.document["renewals"][0]["audit"] for ran in made)
        replay = next((registry / "renewed").glob("*/replay.yaml"))
        replay.write_text(replay.read_text(encoding="utf-8").replace(first, f"{first}, {second}"), encoding="utf-8")
        assert [caveat("audit", "run", replay, server=server).code, caveat("audit", "score", replay.with_suffix(".run")).code] == [0, 0]
    taken = [caveat("audit", "conclude", one, replay.with_suffix(".run"), "--json").document["restriction"] for one in (first, second)]
    shown = " ".join(caveat("audit", "show", second).out.split())

    assert [one["basis"] for one in taken] == ["replay", "reported"]
    assert f"model: the very responses that {first} has of LAB M 2; planned: responses of LAB M 2-mini" in shown


def test_what_a_run_asked_already_is_not_locked_any_more(caveat: Caveat, registry: Path) -> None:
    """The audits shared a replay, and one was renewed alone: a lock of the other would come after the responses, so it takes a new run."""
    with run_endpoint(endpoint()) as server:
        assert caveat(*RENEW, FIRST, server=server).code == 0
        size = count_entries(caveat)
        late = caveat(*RENEW, SECOND, "--json", server=server)
        after = count_entries(caveat)
        whole = caveat(*RENEW, "--dry-run", "--json", server=server).document
        apart = caveat("stale", "renew", "--yes", SECOND, "--ask", NEW, "-o", "apart", "--json", server=server)
    bases = {one["audit"]: one["basis"] for one in caveat("audit", "list", "--json").document["audits"]}

    assert (late.code, after, get_left(late.document)) == (3, size, {SECOND: "run-before-lock"})
    assert (get_states(whole), get_left(whole)[SECOND]) == ({FIRST: "concluded"}, "run-before-lock")
    assert (apart.code, bases[apart.document["renewals"][0]["audit"]]) == (0, "replay")


def test_failed_calls_hold_the_outcome_back_until_they_were_sent_again(caveat: Caveat, registry: Path) -> None:
    """A lock is for one outcome: what failed is not excluded for good before somebody tried again."""
    broken = {"is": True}

    def script(asked: Asked) -> Outcome:
        bad = broken["is"] and "Case 7?" in str(asked.body)
        return Refusal(status=400, type="invalid_request_error") if bad else answer(asked)

    with run_endpoint(endpoint(script=script)) as server:
        held = caveat(*RENEW, FIRST, server=server)
        waiting = caveat(*RENEW, FIRST, "--json", server=server)
        broken["is"] = False
        done = caveat(*RENEW, FIRST, "--retry-failed", "--json", server=server)

    assert (held.code, waiting.code) == (3, 3)
    assert "calls-failed" in held.out
    assert "--retry-failed" in held.out
    assert (done.code, get_states(done.document)) == (0, {FIRST: "concluded"})
    assert len([asked for asked in server.posts() if "Case 7?" in str(asked.body)]) == 2 * (CALLS // 20)


def test_a_replay_that_fails_does_not_stop_the_others(caveat: Caveat, registry: Path) -> None:
    """The endpoint refuses the first replay; the second is carried out, and the exit code tells."""

    def script(asked: Asked) -> Outcome:
        return Refusal(status=401, type="authentication_error") if "office" in str(asked.body) else Reply(text="no")

    with run_endpoint(endpoint(script=script)) as server:
        ran = caveat(*RENEW, FIRST, THIRD, "--runs", ".", "--runs", ARCHIVE, "--json", server=server)

    assert ran.code == 3
    assert get_states(ran.document) == {FIRST: "failed", THIRD: "concluded"}
    assert [one["code"] for job in ran.document["replays"] for one in job["faults"]] == ["api-key-refused"]


def test_claims_that_were_carried_by_hand_keep_their_revision(caveat: Caveat, registry: Path) -> None:
    """Their new revision is audited as it is; no other one is made."""
    carried = caveat("stale", "apply", FIRST, "--to", NEW_VERSION, "--reason", "the same system card is shown for it")
    with run_endpoint(endpoint()) as server:
        ran = caveat(*RENEW, FIRST, "--json", server=server)

    assert carried.code == 0, carried.err
    assert (ran.code, ran.document["renewals"][0]["revision"]) == (0, f"{FIRST}@2")


def test_a_lock_without_a_replay_is_prepared_and_its_run_made_elsewhere(caveat: Caveat, registry: Path) -> None:
    """The same tasks are locked for the new version, and the command that takes the table is told."""
    (registry / "ids.txt").write_text("".join(f"t{number}\n" for number in range(20)), encoding="utf-8")
    (registry / "lock.yaml").write_text(
        f"schema: caveat/audit/1\nclaim: {FOURTH}\nindependence: self\ntasks: ids.txt\nmodel: m-1\nplan: {{margin: 0.2}}\n",
        encoding="utf-8",
    )
    assert caveat("audit", "lock", "--yes", "lock.yaml").code == 0
    prepared = caveat(*RENEW, FOURTH)
    old, new = read_locks(registry)[-2:]

    assert prepared.code == 3
    assert f"caveat audit conclude {new['audit']} TABLE" in " ".join(prepared.out.split())
    assert {name for name in old if old[name] != new[name]} == {"audit", "claim", "model", "endpoint_names"}
    assert (new["tasks"]["count"], new["model"]) == (20, NEW)


def test_only_claims_of_the_version_that_is_named_are_taken(caveat: Caveat, registry: Path) -> None:
    """Another version has no stale claims, one that does not follow on record is none to carry to, and a name that no one knows is none."""
    assert caveat("model", "update", "LAB/X/0", "LAB/X/1").code == 0
    other = caveat(*RENEW, "--model", "LAB/X/1", "--dry-run", "--json").document
    shown = caveat(*RENEW, "--model", "LAB/X/1", "--dry-run").out
    unknown = [caveat(*RENEW, name, "LAB/M/7", "--dry-run") for name in ("--model", "--to")]
    elsewhere = caveat(*RENEW, FIRST, "--to", "LAB/X/1", "--dry-run", "--json")

    assert (other["renewals"], other["left"]) == ([], [])
    assert "Repeating a plan resolves no stale claim about LAB X 1.\nNext: caveat stale list\n" in shown
    assert [ran.code for ran in unknown] == [2, 2]
    assert all("model-not-registered" in ran.err for ran in unknown)
    assert get_left(elsewhere.document) == {FIRST: "not-in-lineage"}
    assert elsewhere.code == 3


def test_where_the_lineage_branches_a_version_must_be_named(caveat: Caveat, registry: Path) -> None:
    """Two versions took the place of the claim's: no one but a person knows which is meant."""
    branched = caveat("model", "update", "LAB/M/1", "LAB/M/2-mini", "--branch")
    unnamed = caveat(*RENEW, "--dry-run", "--json").document
    named = caveat(*RENEW, "--to", NEW_VERSION, "--dry-run", "--json").document

    assert branched.code == 0, branched.err
    assert set(get_left(unnamed).values()) == {"choice-needed", "no-locked-plan"}
    assert get_states(named) == {FIRST: "planned", SECOND: "planned"}


def test_one_model_version_can_be_asked_again(caveat: Caveat, registry: Path) -> None:
    """The plan is carried out on the claim's own version: no revision is made, and the replay is the locked one to the last digest."""
    again = ("stale", "renew", "--yes", FIRST, "--to", OLD_VERSION, "--ask", MODEL, "-o", "again", "--json")
    with run_endpoint(endpoint()) as server:
        ran, made = caveat(*again, server=server), len(server.posts())
        same = caveat(*again, server=server)
    locks = read_locks(registry)

    assert ran.code == 0, ran.err
    assert ran.document["renewals"][0]["revision"] == f"{FIRST}@1"
    assert {name for name in locks[0] if locks[0][name] != locks[-1][name]} == {"audit"}
    assert (same.code, len(server.posts()), same.document["renewals"]) == (0, made, ran.document["renewals"])


def test_an_end_between_two_outcomes_of_one_run_is_gone_on_from(caveat: Caveat, registry: Path) -> None:
    """One audit of the run is concluded already; the other one is, without any call."""
    with run_endpoint(endpoint()) as server:
        caveat(*RENEW, "--prepare-only", server=server)
        replay = next((registry / "renewed").glob("*/replay.yaml"))
        run = replay.with_suffix(".run")
        assert [caveat(*words, server=server).code for words in (("audit", "run", replay), ("audit", "score", run))] == [0, 0]
        assert caveat("audit", "conclude", "AUD-AISI-2026-0005-1", run).code == 0
        rest = caveat(*RENEW, FIRST, SECOND, "--json", key=None)

    assert rest.code == 0, rest.err
    assert get_states(rest.document) == {FIRST: "concluded", SECOND: "concluded"}


def test_an_end_between_locks_and_replay_file_is_gone_on_from(caveat: Caveat, registry: Path) -> None:
    """The audits were locked and the replay's file does not name them yet: the next call writes them into it."""
    with run_endpoint(endpoint()) as server:
        caveat(*RENEW, "--prepare-only", server=server)
        replay = next((registry / "renewed").glob("*/replay.yaml"))
        whole = replay.read_text(encoding="utf-8")
        replay.write_text("".join(line for line in whole.splitlines(keepends=True) if not line.startswith("audit:")), encoding="utf-8")
        caveat(*RENEW, "--prepare-only", server=server)

    assert "AUD-AISI-2026-0005-1" in whole
    assert replay.read_text(encoding="utf-8") == whole
    assert len(read_locks(registry)) == 5


def test_causes_that_the_same_plan_does_not_settle_are_told(caveat: Caveat, registry: Path) -> None:
    """A newer definition and a deprecation stay causes; a claim that has nothing else is not renewed, and a person's decision counts."""
    words = "{name: scheming rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer, description: reworded}"
    (registry / "property.yaml").write_text(words, encoding="utf-8")
    added = caveat("spec", "add", "property", "scheming", "property.yaml", "--reason", "reworded")
    deprecated = caveat("model", "deprecate", "LAB/M/1", "--reason", "replaced")
    notes = caveat(*RENEW, FIRST, "--dry-run", "--json").document["renewals"][0]["notes"]
    dismissed = caveat("stale", "dismiss", FIRST, "--cause", "successor", "--reason", "it is served on")
    left = caveat(*RENEW, "--dry-run", "--json").document

    assert [ran.code for ran in (added, deprecated, dismissed)] == [0, 0, 0]
    assert sum("does not settle this" in one for one in notes) == 1
    assert sum("a person decides" in one for one in notes) == 1
    assert get_left(left)[FIRST] == "renewal-not-sufficient"
    assert {one["claim"]: one["to_be_done"] for one in left["left"]}[FIRST] is False
    assert get_states(left) == {SECOND: "planned"}


def test_a_judge_scores_the_new_responses_by_calls_of_its_own(caveat: Caveat, registry: Path) -> None:
    """It is told beside the cost that they are not in it; and the plan of an audit that never came to an outcome is carried out too."""
    judged = (registry / ARCHIVE / "gone.yaml").read_text(encoding="utf-8").partition("scoring:")[0]
    dimensions = "[{name: covert, question: Is it covert?, low: 0, high: 1}]"
    judged += f"scoring: {{kind: judge, model: claude-judge-1-20261101, rubric: Rate it., dimensions: {dimensions}}}\n"
    (registry / ARCHIVE / "judged.yaml").write_text(judged, encoding="utf-8")
    text = (registry / "third.yaml").read_text(encoding="utf-8").replace("gone.yaml", "judged.yaml").replace("seed: 3", "seed: 4")
    (registry / ARCHIVE / "judged-audit.yaml").write_text(text, encoding="utf-8")
    locked = caveat("audit", "lock", "--yes", f"{ARCHIVE}/judged-audit.yaml")

    def script(asked: Asked) -> Reply:
        is_judge = asked.body["model"].startswith("claude-judge")
        return Reply(text='{"explanation": "so", "ratings": {"covert": 1}}') if is_judge else Reply(text=f"no {asked.body['system']}")

    with run_endpoint(endpoint(script=script, models=(NEW, "claude-judge-1-20261101"))) as server:
        planned = caveat(*RENEW, THIRD, "--runs", ARCHIVE, "--dry-run", server=server)
        ran = caveat(*RENEW, THIRD, "--runs", ARCHIVE, "--json", server=server)
    change = ran.document["renewals"][0]["change"]

    assert locked.code == 0, locked.err
    assert "claude-judge-1-20261101 scores its responses by calls of its own" in " ".join(planned.out.split())
    assert ran.code == 0, ran.err + str(ran.document["replays"])
    assert (change["before"]["class"], change["after"]["estimate"]["phi_deploy"]["value"]) == (None, 1.0)
    assert {asked.body["model"] for asked in server.posts()} == {NEW, "claude-judge-1-20261101"}
