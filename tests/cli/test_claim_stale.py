"""`caveat stale list`, `confirm`, `dismiss`: what may no longer stand, in which order, what settles it, and what people decide."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import CARD, write_audit, write_scores

REFUSAL = "name: refusal rate\nclass: compliance_refusal\nrange: [0, 1]\ndirection: higher_is_safer\ndescription: {}\n"


def _list(caveat: Caveat, *options: str) -> dict[str, Any]:
    document: dict[str, Any] = caveat("stale", "list", "--json", *options).document
    return document


def _names(document: dict[str, Any]) -> list[str]:
    return [f"{one['claim']}@{one['revision']}" for one in document["claims"]]


def _size(caveat: Caveat) -> int:
    return int(caveat("claim", "list", "--json").document["log_size"])


def _status(caveat: Caveat, claim: str) -> Any:
    return caveat("claim", "show", claim, "--json").document["status"]


def test_a_registry_without_changes_has_nothing_stale(caveat: Caveat, registered: list[str]) -> None:
    """The answer says so, and --check ends with 0."""
    answer = caveat("stale", "list", "--check")

    assert (answer.code, answer.out) == (0, "No claim is stale, or may be.\n")
    assert len(registered) == 3


def test_check_answers_no_where_there_is_any(caveat: Caveat, registered: list[str]) -> None:
    """With --check the exit code is 1; the list is printed all the same, and without --check the command is done."""
    caveat("model", "update", "LAB/M/1", "LAB/M/2")

    assert caveat("stale", "list").code == 0
    answer = caveat("stale", "list", "--check")
    assert (answer.code, answer.out.count("\nCLM-")) == (1, len(registered))
    assert caveat("stale", "list", "--check", "--model", "LAB/M/2").code == 0


def test_claims_that_people_rely_on_come_first(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """An outcome that lets a claim stand before one that warns, that before none; and published before others."""
    caveat("audit", "conclude", write_audit(tmp_path, registered[0]), write_scores(tmp_path / "bad.csv", test=0.05, deploy=0.4))
    caveat("audit", "conclude", write_audit(tmp_path, registered[1]), write_scores(tmp_path / "good.csv", test=0.92, deploy=0.5))
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    suspended, restricted, unaudited = registered

    assert _names(_list(caveat)) == [restricted, suspended, unaudited]
    caveat("claim", "publish", unaudited.partition("@")[0])
    assert _names(_list(caveat)) == [restricted, suspended, unaudited]
    assert _names(_list(caveat, "--limit", "1")) == [restricted]
    assert _list(caveat, "--limit", "1")["has_more"] is True


def test_published_and_confirmed_claims_come_before_their_equals(caveat: Caveat, registered: list[str]) -> None:
    """Among claims with the same standing, what others read comes first, then what a person confirmed."""
    first, second, third = (one.partition("@")[0] for one in registered)
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    caveat("stale", "confirm", second, "--reason", "looked")
    caveat("claim", "publish", third)

    assert [one["claim"] for one in _list(caveat)["claims"]] == [third, second, first]
    assert _list(caveat)["confirmed"] == 1


def test_every_cause_comes_with_the_command_that_settles_it(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """Model, deprecation, card, definition and objection: each with its sentence, what settles it, and the next step as it is typed."""
    claim = registered[1].partition("@")[0]
    caveat("audit", "conclude", write_audit(tmp_path, registered[1]), write_scores(tmp_path / "good.csv", test=0.92, deploy=0.5))
    (tmp_path / "refusal.yaml").write_text(REFUSAL.format("as before"), encoding="utf-8")
    assert caveat("spec", "add", "property", "refusal", "refusal.yaml", "--reason", "told more").code == 0
    (tmp_path / "newer.md").write_text(CARD.replace("The model refused 92% of", "92% was what the model refused of"), encoding="utf-8")
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    assert caveat("card", "add", "newer.md", "--publisher", "LAB", "--revises", card, "--reason", "reworded").code == 0
    contested = caveat("contest", "open", claim, "--reason", "fifty requests", "--json").document["objection"]
    assert caveat("contest", "uphold", "--yes", contested, "--reason", "they are few").code == 0
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    caveat("model", "deprecate", "LAB/M/1", "--reason", "end")

    one = next(one for one in _list(caveat)["claims"] if one["claim"] == claim)
    steps = {step["kind"]: step for step in one["steps"]}
    assert {kind: step["remedy"] for kind, step in steps.items()} == {
        "successor": "revision",
        "deprecation": "person",
        "card": "person",
        "spec": "audit",
        "objection": "audit",
    }
    assert steps["successor"]["commands"] == [f'caveat stale apply {claim} --to LAB/M/2 --reason "…"']
    assert steps["card"]["commands"] == [f"caveat claim reword {claim}"]
    assert steps["spec"]["commands"] == [f"caveat audit new {claim} > audit.yaml"]
    assert steps["objection"]["commands"] == [f"caveat audit new {claim} > audit.yaml"]
    assert len(one["status"]["causes"]) == len(one["steps"]) == len(one["status"]["stale_because"])
    document = _list(caveat)
    assert document["by_cause"] == {"successor": 3, "deprecation": 3, "card": 1, "spec": 1, "objection": 1}


def test_a_card_narrows_the_list(caveat: Caveat, registered: list[str]) -> None:
    """By card, and by one revision of it; a card that is not there is not found."""
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    card = caveat("card", "list", "--json").document["cards"][0]["card"]

    assert _list(caveat, "--card", card)["count"] == _list(caveat, "--card", f"{card}@1")["count"] == len(registered)
    assert caveat("stale", "list", "--card", f"{card}@2").code == 2
    assert caveat("stale", "list", "--model", "LAB/M/7").error == "model-not-registered"


def test_a_dismissed_cause_no_longer_counts_until_it_is_confirmed(caveat: Caveat, registered: list[str]) -> None:
    """The last decision counts, and all of them stay in the history."""
    claim = registered[0].partition("@")[0]
    caveat("model", "update", "LAB/M/1", "LAB/M/2")

    assert caveat("stale", "dismiss", claim, "--reason", "only the price changed").code == 0
    assert _status(caveat, claim)["staleness"] == "current"
    assert caveat("stale", "confirm", claim, "--cause", "successor", "--reason", "it did not").code == 0
    assert _status(caveat, claim)["staleness"] == "stale"
    assert caveat("stale", "dismiss", claim, "--cause", "successor:LAB/M/2", "--reason", "it did").code == 0
    assert _status(caveat, claim)["staleness"] == "current"
    history = caveat("claim", "history", claim, "--json").document["entries"]
    verdicts = [one["payload"]["verdict"] for one in history if one["entry"]["kind"] == "staleness_review"]
    assert verdicts == ["dismissed", "confirmed", "dismissed"]
    assert f"{claim}@1 dismissed successor:" in " ".join(caveat("claim", "history", claim).out.split())


def test_the_same_decision_again_changes_nothing(caveat: Caveat, registered: list[str]) -> None:
    """Each verdict is recorded once for each cause; what is decided already is told."""
    claim = registered[0].partition("@")[0]
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    for verdict in ("confirm", "dismiss"):
        caveat("stale", verdict, claim, "--cause", "successor", "--reason", "looked")
        before = _size(caveat)

        again = caveat("stale", verdict, claim, "--cause", "successor", "--reason", "looked again")
        assert (again.code, again.out) == (0, "1 decided so already; nothing was recorded of it.\n")
        assert _size(caveat) == before


def test_dismissing_lets_no_claim_speak_for_another_version(caveat: Caveat, registered: list[str]) -> None:
    """The claim stays about its own version; a version that comes later is another cause."""
    claim = registered[0].partition("@")[0]
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    caveat("stale", "dismiss", claim, "--reason", "only the price changed")

    assert claim not in [one["claim"] for one in caveat("claim", "list", "--model", "LAB/M/2", "--json").document["claims"]]
    caveat("model", "update", "LAB/M/2", "LAB/M/3")
    assert [one["what"] for one in _status(caveat, claim)["causes"]] == ["LAB M 3"]


def test_all_claims_of_a_version_are_decided_at_once(caveat: Caveat, registered: list[str]) -> None:
    """--model takes those that another version made stale, and that cause alone."""
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    caveat("model", "deprecate", "LAB/M/1", "--reason", "end")

    done = caveat("stale", "confirm", "--model", "LAB/M/1", "--reason", "all weights new", "--json").document
    assert [one["causes"] for one in done["claims"]] == [["successor:LAB M 2"]] * len(registered)
    assert _list(caveat)["confirmed"] == len(registered)
    assert caveat("stale", "dismiss", "--model", "LAB/M/2", "--reason", "x").error == "nothing-to-review"


def test_one_claim_that_cannot_be_decided_keeps_all_undecided(caveat: Caveat, registered: list[str]) -> None:
    """Several claims are decided wholly or not at all, and every fault is told."""
    first, second, third = (one.partition("@")[0] for one in registered)
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    for one in (second, third):
        caveat("stale", "apply", one, "--reason", "as before")
    before = _size(caveat)

    answer = caveat("stale", "confirm", first, second, third, "--reason", "looked")
    assert (answer.code, answer.err.count("nothing-to-review")) == (2, 2)
    assert _size(caveat) == before


def test_wrong_causes_and_usage_are_told(caveat: Caveat, registered: list[str]) -> None:
    """A cause that the claim does not have, or that is none, ends with exit code 2 and names those that it has."""
    claim = registered[0].partition("@")[0]
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    before = _size(caveat)
    wrong = {
        (claim, "--cause", "card", "--reason", "x"): "unknown-name",
        (claim, "--cause", "successor:LAB/M/7", "--reason", "x"): "unknown-name",
        (claim, "--cause", "weather", "--cause", "mood", "--reason", "x"): "unknown-name",
        (claim, "--reason", " "): "reason-missing",
        ("--reason", "x"): "bad-option",
        (claim, "--model", "LAB/M/1", "--reason", "x"): "bad-option",
        (f"{claim}@9", "--reason", "x"): "revision-not-found",
    }

    for arguments, code in wrong.items():
        answer = caveat("stale", "dismiss", *arguments)
        assert (answer.code, answer.error) == (2, code)
    assert caveat("stale", "dismiss", claim, "--cause", "weather", "--cause", "mood", "--reason", "x").err.count("unknown-name") == 2
    assert "successor:LAB M 2" in caveat("stale", "dismiss", claim, "--cause", "card", "--reason", "x").err
    assert _size(caveat) == before


def test_lists_tell_confirmed_from_potential(caveat: Caveat, registered: list[str]) -> None:
    """`stale?` is a question, `stale` is a decision."""
    claim = registered[0].partition("@")[0]
    caveat("model", "update", "LAB/M/1", "LAB/M/2")
    caveat("stale", "confirm", claim, "--reason", "looked")

    text = " ".join(caveat("claim", "list").out.split())
    assert text.count("not audited, stale?") == 2
    assert text.count("not audited, stale ") == 1
    assert "confirmed, entry" in caveat("claim", "show", claim).out


@pytest.mark.usefixtures("registered")
def test_a_claim_without_a_passage_is_not_sent_to_look_for_one(caveat: Caveat, tmp_path: Path) -> None:
    """A paraphrase of a revised card has nothing that could be looked up: a person decides."""
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    text = (tmp_path / "claims.yaml").read_text(encoding="utf-8").partition("claims:")[0]
    (tmp_path / "own.yaml").write_text(
        f"{text}claims:\n  - {{quote: It refuses mostly., quote_status: paraphrase, source: card, form: existence, property: refusal}}\n",
        encoding="utf-8",
    )
    own = caveat("claim", "add", "own.yaml", "--json").document["added"][0].partition("@")[0]
    (tmp_path / "newer.md").write_text(f"{CARD}\nOne more word.\n", encoding="utf-8")
    assert caveat("card", "add", "newer.md", "--publisher", "LAB", "--revises", card, "--reason", "longer").code == 0

    (one,) = _list(caveat)["claims"]
    assert (one["claim"], [step["remedy"] for step in one["steps"]]) == (own, ["person"])
    assert one["steps"][0]["commands"][0] == f'caveat stale dismiss {own} --cause card --reason "…"'
