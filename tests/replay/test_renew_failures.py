"""A renewal that something outside of it breaks: what was done stays, what could not be is told, and the exit code tells."""

from pathlib import Path
from typing import Any

from tests.endpoint.server import MODEL, Asked, Outcome, Refusal, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.renewals import CALLS, NEW, answer, endpoint

RENEW = ("stale", "renew", "--yes", "--ask", NEW, "-o", "renewed")
FIRST, SECOND = "CLM-AISI-2026-0001-S", "CLM-AISI-2026-0002-Q"


def get_states(document: Any) -> dict[str, str]:
    """By claim, how far its renewal has come."""
    return {one["claim"]: one["state"] for one in document["renewals"]}


def list_codes(document: Any) -> list[str]:
    """Why not all of it could be done."""
    return [one["code"] for job in document["replays"] for one in job["faults"]]


def test_a_folder_that_cannot_be_written_leaves_no_trace(caveat: Caveat, registry: Path) -> None:
    """Files come before the registry: nothing is recorded, and the message names the file."""
    before = caveat("claim", "list", "--json").document["log_size"]
    with run_endpoint(endpoint()) as server:
        ran = caveat("stale", "renew", "--yes", FIRST, "--ask", NEW, "-o", "card.md/renewed", server=server)

    assert ran.code == 3
    assert "error[file-not-accessible]" in ran.err
    assert "  --> card.md/renewed" in ran.err
    assert server.posts() == []
    assert caveat("claim", "list", "--json").document["log_size"] == before


def test_a_claim_that_is_withdrawn_meanwhile_stops_no_other(caveat: Caveat, registry: Path) -> None:
    """Between its lock and its outcome; the other audit of the same run is concluded."""
    with run_endpoint(endpoint()) as server:
        assert caveat(*RENEW, "--prepare-only", server=server).code == 3
        withdrawn = caveat("claim", "withdraw", SECOND, "--reason", "the card was wrong", "--yes")
        ran = caveat(*RENEW, "--json", server=server)

    assert withdrawn.code == 0, withdrawn.err
    assert get_states(ran.document) == {FIRST: "concluded"}
    assert {one["claim"]: one["code"] for one in ran.document["left"]}[SECOND] == "claim-ended"


def test_another_model_than_was_asked_is_never_taken_for_it(caveat: Caveat, registry: Path) -> None:
    """The endpoint knows the name, and its responses bear another: the replay stops, and no outcome is recorded."""
    with run_endpoint(endpoint(script=lambda _asked: Reply(text="no", model="claude-other-9-20260101"))) as server:
        ran = caveat(*RENEW, FIRST, "--json", server=server)
        last = caveat("audit", "list", "--json").document["audits"][-1]

    assert (ran.code, list_codes(ran.document)) == (3, ["model-changed"])
    assert get_states(ran.document) == {FIRST: "failed"}
    assert (last["locked_at"] is None, last["basis"]) == (False, None)


def test_an_endpoint_that_is_gone_in_the_middle_is_gone_on_with_later(caveat: Caveat, registry: Path) -> None:
    """What was answered is not asked again, nothing counts as an outcome before, and then everything is as if it had never been gone."""
    is_gone = {"after": 30}

    def script(asked: Asked) -> Outcome:
        is_gone["after"] -= 1
        return answer(asked) if is_gone["after"] >= 0 else Refusal(status=401, type="authentication_error")

    with run_endpoint(endpoint(script=script)) as server:
        first = caveat(*RENEW, FIRST, "--json", server=server)
        made = len(server.posts())
        is_gone["after"] = CALLS
        rest = caveat(*RENEW, FIRST, "--json", server=server)
        more = len(server.posts()) - made

    assert (first.code, get_states(first.document), list_codes(first.document)) == (3, {FIRST: "failed"}, ["api-key-refused"])
    assert (rest.code, get_states(rest.document), more) == (0, {FIRST: "concluded"}, CALLS - 30)


def test_a_table_of_the_old_responses_is_told_as_one_of_another_model(caveat: Caveat, registry: Path) -> None:
    """The scores of the earlier run, without its folder and under a later date: the column of models says whose they are."""
    with run_endpoint(endpoint()) as server:
        ran = caveat(*RENEW, FIRST, "--prepare-only", "--json", server=server)
    audit = ran.document["renewals"][0]["audit"]
    assert caveat("audit", "score", "recorded/shared.run").code == 0
    late = caveat("audit", "conclude", audit, "recorded/shared.run/scores.csv", "--run-date", "2026-01-01T00:00:00Z", "--json")

    assert late.code == 0, late.err
    assert late.document["restriction"]["post_hoc"] is True
    assert late.document["restriction"]["provenance"]["model_returned"] == MODEL
    assert "Not as locked: these scores are of other model than the lock fixes" in late.document["restriction"]["text"]["restricted"]
