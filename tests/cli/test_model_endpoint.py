"""Who was asked, by the command line: names are stated, fixed by the lock, compared at import and whenever an outcome is shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.locking import find_basis, import_scores, list_deviations, lock_all
from tests.cli.scenario import MODEL, register, write_audit, write_scores
from tests.cli.terminal import Terminal

RIVAL = "VENDOR/Rival/7"


def state(caveat: Caveat, model: str, name: str, *more: str) -> int:
    return caveat("model", "endpoint", model, name, "--reason", "It is served under this name", *more, "--json").code


def show_asked(caveat: Caveat, audit: str) -> tuple[str, str]:
    """What the outcome recorded of who was asked, and what holds now."""
    shown = caveat("audit", "show", audit, "--json").document
    return shown["restrictions"][-1]["payload"]["asked"]["status"], shown["asked_now"]["status"]


def page_one(caveat: Caveat, claim: str) -> str:
    drawn = caveat("report", claim.partition("@")[0], "--html", "-o", "out")
    assert drawn.code == 0, drawn.err
    return " ".join(next(Path("out").glob("CLM-*.html")).read_text(encoding="utf-8").split())


def test_a_locked_replay_of_another_vendors_model_establishes_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """The scores would be a replay of the claim's model; under another model's name they are not, and both names are told."""
    audit = lock_all(caveat, tmp_path)
    assert caveat("model", "add", RIVAL).code == 0
    assert state(caveat, RIVAL, "rival-7") == 0
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, model="rival-7")

    done = import_scores(caveat, audit, scores)

    restriction = done.document["restriction"]
    assert (find_basis(done), restriction["asked"]["status"]) == ("reported", "other")
    assert restriction["classification"]["readings"][0]["standing"] != "established"
    assert [one["model"]["name"] for one in restriction["asked"]["belongs_to"]] == ["Rival"]
    assert ("model", None, True) in list_deviations(caveat, audit)
    for shown in (
        caveat("audit", "show", audit).out,
        caveat("claim", "show", restriction["claim"]).out,
        page_one(caveat, restriction["claim"]),
    ):
        text = " ".join(shown.split())
        assert "returned rival-7 (a name of VENDOR Rival 7)" in text
        assert "the claim is about LAB M 1, and its endpoint names are m-1" in text


@pytest.mark.parametrize("model", [None, "m-1-mini", "m"])
def test_no_name_and_a_longer_or_shorter_one_are_reported_at_most(caveat: Caveat, tmp_path: Path, model: str | None) -> None:
    """Without a name nothing shows who was asked; the beginning of a name is another name."""
    audit = lock_all(caveat, tmp_path)

    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, model=model))

    status = done.document["restriction"]["asked"]["status"]
    assert (find_basis(done), status) == ("reported", "unidentified" if model is None else "other")


def test_one_response_without_a_name_is_enough(caveat: Caveat, tmp_path: Path) -> None:
    """A table in which one row names the model says nothing of the others."""
    audit = lock_all(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4)
    scores.write_text(scores.read_text(encoding="utf-8").replace(",m-1\n", ",\n", 1), encoding="utf-8")

    done = import_scores(caveat, audit, scores)

    asked = done.document["restriction"]["asked"]
    assert (find_basis(done), asked["status"], asked["unnamed_responses"]) == ("reported", "unidentified", 1)


def test_a_typed_name_identifies_nobody(caveat: Caveat, tmp_path: Path) -> None:
    """What an auditor types beside the scores is no name that the responses carry, and the field of the data cannot be typed."""
    audit = lock_all(caveat, tmp_path)
    scores = write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, model=None)
    (tmp_path / "typed.yaml").write_text("models_returned: [m-1]\n", encoding="utf-8")
    (tmp_path / "said.yaml").write_text("model_returned: m-1\n", encoding="utf-8")

    refused = import_scores(caveat, audit, scores, "--provenance", "typed.yaml")
    done = import_scores(caveat, audit, scores, "--provenance", "said.yaml")

    assert refused.code == 2
    assert (find_basis(done), done.document["restriction"]["asked"]["status"]) == ("reported", "unidentified")


def test_a_name_stated_after_the_lock_does_not_count(caveat: Caveat, tmp_path: Path) -> None:
    """The lock fixes which names count: a name added when the scores are there would be a choice."""
    audit = lock_all(caveat, tmp_path)
    assert state(caveat, MODEL, "m-1-late") == 0

    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4, model="m-1-late"))

    assert (find_basis(done), done.document["restriction"]["asked"]["status"]) == ("reported", "other")


def test_a_lock_without_names_says_so_and_how_to_state_one(caveat: Caveat, tmp_path: Path) -> None:
    """The warning holds the command to paste; locked again with a name, the lock fixes it, and a third time changes nothing."""
    claim = register(caveat, tmp_path)[0]
    for name in ("m-1", "claude-test-1-20261101"):
        assert state(caveat, MODEL, name, "--retract") == 0
    audit = write_audit(tmp_path, claim, extra="model: m-1\n")

    empty = caveat("audit", "lock", "--yes", audit, "--json")
    assert state(caveat, MODEL, "m-1") == 0
    named, again = (caveat("audit", "lock", "--yes", audit, "--json") for _ in range(2))

    assert f"caveat audit lock {audit} --endpoint-name m-1" in " ".join(empty.err.split())
    assert "model version as the endpoint returns it" in empty.document["not_fixed"]
    assert empty.document["lock"]["endpoint_names"] == []
    assert named.document["lock"]["endpoint_names"] == ["m-1"]
    assert (named.document["new"], again.document["new"], again.document["audit"]) == (True, False, named.document["audit"])


def test_a_lock_records_the_name_that_it_is_given_and_fixes_it(caveat: Caveat, tmp_path: Path) -> None:
    """One command instead of two; a dry run records neither, and a name that is recorded already changes nothing."""
    claim = register(caveat, tmp_path)[0]
    for name in ("m-1", "claude-test-1-20261101"):
        assert state(caveat, MODEL, name, "--retract") == 0
    audit = write_audit(tmp_path, claim, extra="model: m-1\n")

    caveat("audit", "lock", audit, "--dry-run", "--endpoint-name", "m-1")
    tried = caveat("audit", "lock", audit, "--dry-run")
    named, again = (caveat("audit", "lock", "--yes", audit, "--endpoint-name", "m-1", "--json") for _ in range(2))

    assert "no endpoint name is recorded" in tried.err
    assert named.document["lock"]["endpoint_names"] == ["m-1"]
    assert f"endpoints return {MODEL.replace('/', ' ')} as m-1" in named.err
    assert again.document["new"] is False
    assert "as m-1" not in again.err


def test_on_a_terminal_the_lock_asks_for_the_missing_name(caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """The plan's model is offered; a no locks without it, and a yes records it first."""
    claim = register(caveat, tmp_path)[0]
    for name in ("m-1", "claude-test-1-20261101"):
        assert state(caveat, MODEL, name, "--retract") == 0
    audit = write_audit(tmp_path, claim, extra="model: m-1\n")

    with open_terminal(tmp_path, "audit", "lock", str(audit)) as terminal:
        asked = terminal.wait_for("[y/N]")
        terminal.press("y\n", "for good? [y/N]")
        terminal.press("y\n", "Locked AUD-")
        assert terminal.wait() == 0

    assert "Record that endpoints return it as m-1?" in " ".join(asked.split())
    assert caveat("audit", "lock", "--yes", audit, "--json").document["lock"]["endpoint_names"] == ["m-1"]


def test_under_a_lock_without_names_nothing_is_bound(caveat: Caveat, tmp_path: Path) -> None:
    """A name that is stated when the scores are there comes too late for it."""
    register(caveat, tmp_path)
    claim = caveat("claim", "list", "--json").document["claims"][0]["claim"]
    for name in ("m-1", "claude-test-1-20261101"):
        state(caveat, MODEL, name, "--retract")
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, f"{claim}@1"), "--json").document["audit"]
    state(caveat, MODEL, "m-1")

    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    assert (find_basis(done), done.document["restriction"]["asked"]["status"]) == ("reported", "unbound")


def test_a_name_of_two_versions_is_recorded_and_tells_nobody_apart(caveat: Caveat, tmp_path: Path) -> None:
    """It is shown as a conflict on both sides; after the outcome it is a caution wherever that is shown."""
    audit = lock_all(caveat, tmp_path)
    done = import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))
    assert (find_basis(done), show_asked(caveat, audit)) == ("replay", ("bound", "bound"))
    claim = done.document["restriction"]["claim"]
    assert "also for VENDOR Rival 7" not in page_one(caveat, claim)

    caveat("model", "add", RIVAL)
    stated = caveat("model", "endpoint", RIVAL, "m-1", "--reason", "Ours too", "--json")

    assert [one["model"]["name"] for one in stated.document["conflicts"]] == ["M"]
    assert "does not show which of them was asked" in stated.err
    for model in (MODEL, RIVAL):
        assert caveat("model", "show", model, "--json").document["endpoint_conflicts"]
        assert "CONFLICT" in caveat("model", "show", model).out
    assert show_asked(caveat, audit) == ("bound", "conflicting")
    assert "m-1 also for VENDOR Rival 7" in page_one(caveat, claim)
    assert "m-1 also for VENDOR Rival 7" in " ".join(caveat("claim", "show", claim).out.split())
    state(caveat, RIVAL, "m-1", "--retract")
    assert show_asked(caveat, audit) == ("bound", "bound")


def test_a_retracted_name_takes_the_binding_with_it(caveat: Caveat, tmp_path: Path) -> None:
    """The lock is not changed; who was asked is read by what is stated now."""
    audit = lock_all(caveat, tmp_path)
    import_scores(caveat, audit, write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    assert state(caveat, MODEL, "m-1", "--retract") == 0

    assert show_asked(caveat, audit) == ("bound", "unbound")
    assert "retracted since" in " ".join(caveat("audit", "show", audit).out.split())


def test_statements_are_shown_repeated_and_refused_as_they_should_be(caveat: Caveat, tmp_path: Path) -> None:
    """The same again changes nothing, another reason or a second retraction is refused, a version no one knows too."""
    register(caveat, tmp_path)

    again = caveat("model", "endpoint", MODEL, "m-1", "--reason", "It is served under this name", "--json")
    other = caveat("model", "endpoint", MODEL, "m-1", "--reason", "Another", "--json")
    twice = [state(caveat, MODEL, "m-1", "--retract") for _ in range(2)]
    unknown = caveat("model", "endpoint", "LAB/N/1", "n-1", "--reason", "so", "--json")
    blank = caveat("model", "endpoint", MODEL, " ", "--reason", "so", "--json")

    assert (again.code, again.document["new"]) == (0, False)
    assert ("already-recorded" in other.err, twice[0]) == (True, 0)
    assert twice[1] != 0
    assert ("model-not-registered" in unknown.err, "not-valid" in blank.err) == (True, True)
    shown = caveat("model", "show", MODEL, "--json").document
    assert [one["name"] for one in shown["endpoint_names"]] == ["claude-test-1-20261101"]
    assert [one["payload"]["event"] for one in shown["endpoint_statements"]] == ["state", "state", "retract"]
    assert "retracts the endpoint name m-1" in " ".join(caveat("model", "show", MODEL).out.split())
