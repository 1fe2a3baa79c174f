"""What a claims file says beyond its claims: what is left out, what was proposed, and what is restated."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from registry.records.record import Kind, format_identifier
from tests.cli.conftest import Caveat
from tests.cli.scenario import CARD, CLAIMS, register

ONE_CASE = "We observed one case of covert action."
REFUSED = "The model refused 92% of harmful requests"
NEVER = "It never exceeded the\nthreshold."
ROW = "Other model: 9 %"


def _span(words: str, text: str = CARD) -> tuple[int, int]:
    start = text.index(words)
    return start, start + len(words)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def card(caveat: Caveat, tmp_path: Path) -> str:
    """A registry with a card and nothing else; the card's identifier."""
    assert caveat("init", "--code", "AISI").code == 0
    (tmp_path / "card.md").write_text(CARD, encoding="utf-8")
    return str(caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"])


def _write(folder: Path, card: str | None, **parts: Any) -> None:
    """Write claims.yaml as JSON, which is YAML too."""
    known: dict[str, Any] = {"card": card, "model": {"developer": "LAB", "name": "M", "version": "1"}, "claims": []}
    known["properties"] = {
        "refusal": {"name": "refusal rate", "class": "compliance_refusal", "range": [0, 1], "direction": "higher_is_safer"}
    }
    document = {key: value for key, value in (known | parts).items() if value is not None}
    (folder / "claims.yaml").write_text(json.dumps(document), encoding="utf-8")


def _claim(**changes: Any) -> dict[str, Any]:
    return {"quote": REFUSED, "form": "prevalence", "property": "refusal", "reported": 0.92} | changes


def _proposed(*words: str, by: str = "rules 1") -> dict[str, Any]:
    return {"by": by, "document": _digest(CARD), "passages": sorted(_span(one) for one in words)}


def _faults(caveat: Caveat, *options: str) -> list[tuple[str, str]]:
    refused = caveat("claim", "add", "claims.yaml", "--json", *options)
    assert refused.code == 2
    return [(fault["code"], fault["where"].partition(", ")[2]) for fault in json.loads(refused.err)["faults"]]


def _size(caveat: Caveat) -> int:
    return int(caveat("admin", "log", "show", "--json").document["size"])


def test_a_file_registers_omits_and_surveys_in_one_go(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """What was recorded is told and found again; the same file again changes nothing."""
    excluded = [{"quote": ONE_CASE, "reason": "One case is no rate."}]
    _write(tmp_path, card, claims=[_claim()], excluded=excluded, proposed=_proposed(REFUSED, ONE_CASE, NEVER))
    size = _size(caveat)

    tried = caveat("claim", "add", "claims.yaml", "--dry-run")
    assert (tried.code, _size(caveat)) == (0, size)
    added = caveat("claim", "add", "claims.yaml", "--json").document
    again = caveat("claim", "add", "claims.yaml", "--json").document

    assert "1 passage would be excluded, 0 unchanged." in tried.out
    assert "3 proposed passages would be recorded, 0 unchanged." in tried.out
    assert (len(added["added"]), added["excluded"]) == (1, {"added": 1, "unchanged": 0})
    assert added["proposed"] == {"added": 3, "unchanged": 0}
    assert (again["added"], again["unchanged"]) == ([], 1)
    assert (again["excluded"], again["proposed"]) == ({"added": 0, "unchanged": 1}, {"added": 0, "unchanged": 3})
    history = caveat("claim", "history", card, "--json").document["entries"]
    said = {one["entry"]["kind"]: one["payload"] for one in history}
    assert (said["omission"]["anchor"]["exact"], said["omission"]["reason"]) == (ONE_CASE, "One case is no rate.")
    assert said["omission"]["anchor"]["section"] == "Scheming"
    assert [tuple(one) for one in said["survey"]["passages"]] == sorted([_span(REFUSED), _span(ONE_CASE), _span(NEVER)])
    assert caveat("admin", "log", "check").code == 0


def test_a_file_without_claims_is_a_file(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Somebody read the card and registers nothing of it, with the reason."""
    _write(tmp_path, card, excluded=[{"quote": ONE_CASE, "reason": "One case is no rate."}], proposed=_proposed(ONE_CASE))

    added = caveat("claim", "add", "claims.yaml")

    assert added.code == 0
    assert added.out.splitlines() == [
        "0 claims were added, 0 revised, 0 unchanged.",
        "1 passage was excluded, 0 unchanged.",
        "1 proposed passage was recorded, 0 unchanged.",
    ]


def test_all_faults_of_all_parts_come_at_once(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Each with the path to what is wrong, in a trial too; nothing is recorded."""
    size = _size(caveat)
    excluded = [
        {"quote": "The model never lies.", "reason": "No figure."},
        {"quote": ONE_CASE, "reason": "  "},
        {"quote": REFUSED, "reason": "Another model."},
        {"quote": NEVER, "reason": "No figure."},
        {"quote": NEVER, "reason": "Too vague."},
        {"quote": NEVER, "reason": "No figure.", "card": "CRD-AISI-2026-0009-X"},
    ]
    wrong = {"by": " ", "document": "ab" * 32, "passages": [[30, 40], [10, 20], [50, 50], [0, 99_999]]}
    _write(tmp_path, card, claims=[_claim(), _claim(quote="Not there at all.")], excluded=excluded, proposed=wrong)

    for options in ((), ("--dry-run",)):
        assert _faults(caveat, *options) == [
            ("quotation-not-found", "claims[1].quote"),
            ("quotation-not-found", "excluded[0].quote"),
            ("not-valid", "excluded[1].reason"),
            ("omission-conflict", "excluded[2].quote"),
            ("omission-conflict", "excluded[4].quote"),
            ("bad-identifier", "excluded[5].card"),
            ("wrong-document", "proposed.document"),
            ("not-valid", "proposed.passages[1]"),
            ("not-in-text", "proposed.passages[2]"),
            ("not-in-text", "proposed.passages[3]"),
            ("not-valid", "proposed.by"),
        ]
    assert _size(caveat) == size


def test_a_card_that_nobody_named_is_missed_once(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """A mistyped card of the file is one fault, not one for everything that stands in it."""
    _write(tmp_path, None, excluded=[{"quote": ONE_CASE, "reason": "No figure."}], proposed=_proposed(ONE_CASE))
    missing = _faults(caveat)
    _write(
        tmp_path, card[:-1] + ("A" if card[-1] != "A" else "B"), claims=[_claim(), _claim()], excluded=[{"quote": ONE_CASE, "reason": "x"}]
    )

    assert missing == [("not-valid", "excluded[0].card"), ("not-valid", "proposed")]
    assert _faults(caveat) == [("bad-identifier", "card")]


def test_another_reason_for_the_same_passage_is_refused(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """What was said stands; white space is no other reason."""
    _write(tmp_path, card, excluded=[{"quote": ONE_CASE, "reason": "One case is no rate."}])
    assert caveat("claim", "add", "claims.yaml").code == 0
    _write(tmp_path, card, excluded=[{"quote": ONE_CASE, "reason": "One case\n is no rate."}])
    assert caveat("claim", "add", "claims.yaml").code == 0
    _write(tmp_path, card, excluded=[{"quote": ONE_CASE, "reason": "Not interesting."}])

    refused = caveat("claim", "add", "claims.yaml")

    assert refused.code == 2
    assert "error[omission-conflict]" in refused.err
    assert "  --> claims.yaml, excluded[0].reason" in refused.err
    assert "another reason: One case is no rate." in refused.err


def test_who_wants_the_passage_after_all_registers_it(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """An omission does not stand in the way of a later claim, and the file that made it can still be added again."""
    _write(tmp_path, card, excluded=[{"quote": REFUSED, "reason": "Not yet."}])
    first = (tmp_path / "claims.yaml").read_text()
    assert caveat("claim", "add", "claims.yaml").code == 0
    _write(tmp_path, card, claims=[_claim()])

    assert caveat("claim", "add", "claims.yaml", "--json").document["added"]
    (tmp_path / "claims.yaml").write_text(first)
    assert caveat("claim", "add", "claims.yaml", "--json").document["excluded"] == {"added": 0, "unchanged": 1}


def test_surveys_by_one_engine_add_up(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Section by section, or again after some claims are registered: only what is new is recorded, and nothing is taken back."""
    told = []
    for words in ([ONE_CASE], [NEVER, ONE_CASE], [], [NEVER]):
        _write(tmp_path, card, proposed=_proposed(*words))
        told.append(caveat("claim", "add", "claims.yaml", "--json").document["proposed"])

    assert [(one["added"], one["unchanged"]) for one in told] == [(1, 0), (1, 1), (0, 0), (0, 1)]
    history = caveat("claim", "history", card, "--json").document["entries"]
    found = [one["payload"]["passages"] for one in history if one["entry"]["kind"] == "survey"]
    assert found == [[list(_span(ONE_CASE))], [list(_span(NEVER))]]


def test_an_engine_that_proposed_nothing_has_read_the_card(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """An empty survey is recorded, once: nothing proposed is another thing than no one looked."""
    _write(tmp_path, card, proposed=_proposed())
    size = _size(caveat)

    first = caveat("claim", "add", "claims.yaml").out
    assert caveat("claim", "add", "claims.yaml").out == first
    assert "0 proposed passages were recorded, 0 unchanged." in first
    assert _size(caveat) == size + 2


def test_a_survey_of_another_revision_says_which(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """The file quotes the latest revision, the survey read the first: positions mean nothing there."""
    (tmp_path / "second.md").write_text(CARD + "\nMore.\n", encoding="utf-8")
    assert caveat("card", "add", "second.md", "--publisher", "LAB", "--revises", card, "--reason", "more").code == 0
    _write(tmp_path, card, proposed=_proposed(ONE_CASE))

    refused = caveat("claim", "add", "claims.yaml")
    _write(tmp_path, f"{card}@1", proposed=_proposed(ONE_CASE))

    assert "error[wrong-document]" in refused.err
    assert "  --> claims.yaml, proposed.document" in refused.err
    assert f"write card: {card}@1" in refused.err
    assert caveat("claim", "add", "claims.yaml").code == 0


def test_rows_with_the_same_words_are_told_apart_by_where_they_were_proposed(caveat: Caveat, tmp_path: Path) -> None:
    """Of three like rows one is a claim and two are left out: each speaks of a row of its own, today and when added again."""
    text = f"# Card\n\nFirst table.\n\n{ROW}\n\nSecond table.\n\n{ROW}\n\nThird table.\n\n{ROW}\n"
    assert caveat("init", "--code", "AISI").code == 0
    (tmp_path / "rows.md").write_text(text, encoding="utf-8")
    card = caveat("card", "add", "rows.md", "--publisher", "LAB", "--json").document["card"]["card"]
    starts = [start for start in range(len(text)) if text.startswith(ROW, start)]
    spans = [[start, start + len(ROW)] for start in starts]
    proposed = {"by": "rules 1", "document": _digest(text), "passages": spans}
    excluded = [{"quote": ROW, "reason": "Another model."}] * 2
    _write(tmp_path, card, claims=[_claim(quote=ROW, reported=0.09)], excluded=excluded, proposed=proposed)

    assert caveat("claim", "add", "claims.yaml", "--json").document["excluded"] == {"added": 2, "unchanged": 0}

    history = caveat("claim", "history", card, "--json").document["entries"]
    found = [one["payload"]["anchor"] for one in history if one["entry"]["kind"] == "omission"]
    assert [[one["start"], one["stop"]] for one in found] == spans[1:]
    assert caveat("claim", "add", "claims.yaml", "--json").document["excluded"] == {"added": 0, "unchanged": 2}


def test_a_passage_excluded_twice_for_one_reason_is_excluded_once(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Several proposals may quote one row; whoever wants none of them says so for each."""
    _write(tmp_path, card, excluded=[{"quote": ONE_CASE, "reason": "No rate."}] * 3)

    assert caveat("claim", "add", "claims.yaml", "--json").document["excluded"] == {"added": 1, "unchanged": 0}


def test_what_a_claim_restates_becomes_a_relation(caveat: Caveat, tmp_path: Path) -> None:
    """With the claim, once; again with a claim that is registered already; and the content of the claim is the same with or without."""
    first, second, _ = (one.partition("@")[0] for one in register(caveat, tmp_path))
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    _write(tmp_path, card, claims=[_claim(reported={"value": 0.92, "n": 50}, restates=[f"{first}@1", first])])

    added = caveat("claim", "add", "claims.yaml", "--json").document
    again = caveat("claim", "add", "claims.yaml", "--json").document

    assert added["restates"] == [{"claim": second, "other": first}]
    assert (added["unchanged"], again["unchanged"], again["restates"]) == (1, 1, [])
    relations = caveat("claim", "show", first, "--json").document["relations"]
    assert [(one["payload"]["claim"], one["payload"]["relation"]) for one in relations] == [(second, "restates")]


def test_a_new_claim_restates_in_the_same_transaction(caveat: Caveat, tmp_path: Path) -> None:
    """Its identifier is given while the file is recorded; a trial records neither."""
    first = register(caveat, tmp_path)[0].partition("@")[0]
    size = _size(caveat)
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    _write(tmp_path, card, claims=[_claim(quote="0 of 50 benign requests were refused", reported=0, restates=[first])])

    tried = caveat("claim", "add", "claims.yaml", "--dry-run")
    assert _size(caveat) == size
    added = caveat("claim", "add", "claims.yaml")

    assert f"restates {first}" in tried.out
    assert f"restates {first}" in added.out
    assert _size(caveat) == size + 2


def test_what_is_restated_must_be_there(caveat: Caveat, tmp_path: Path) -> None:
    """No identifier, nothing registered, a revision that is not there, and the claim itself: each says its path."""
    _, second, _ = (one.partition("@")[0] for one in register(caveat, tmp_path))
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    size = _size(caveat)
    unknown = format_identifier(Kind.CLAIM, "AISI", 2026, 99)
    _write(tmp_path, card, claims=[_claim(restates=["CLM-1", unknown, f"{second}@7", card])])
    named = _faults(caveat)
    _write(tmp_path, card, claims=[_claim(reported={"value": 0.92, "n": 50}, restates=[second])])

    assert named == [
        ("bad-identifier", "claims[0].restates[0]"),
        ("not-registered", "claims[0].restates[1]"),
        ("not-registered", "claims[0].restates[2]"),
        ("bad-identifier", "claims[0].restates[3]"),
    ]
    assert _faults(caveat) == [("self-reference", "claims[0].restates")]
    assert _size(caveat) == size


def test_grader_and_elicitation_go_with_the_claim(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """From file to revision; another grader is a change that needs its reason, and diff shows it."""
    _write(tmp_path, card, claims=[_claim(grader="two raters", elicitation="ten attempts")])
    reference = caveat("claim", "add", "claims.yaml", "--json").document["added"][0]
    _write(tmp_path, card, claims=[_claim(grader="a model", elicitation="ten attempts")])
    assert _faults(caveat) == [("claim-changed", "claims[0]")]
    _write(tmp_path, card, claims=[_claim(grader="a model", elicitation="ten attempts", why="misread")])
    assert caveat("claim", "add", "claims.yaml").code == 0

    first = caveat("claim", "show", reference, "--json").document["revisions"][0]["payload"]
    changes = caveat("claim", "diff", reference.partition("@")[0], "--json").document["changes"]

    assert (first["grader"], first["elicitation"]) == ("two raters", "ten attempts")
    assert changes == [{"field": "grader", "before": "two raters", "after": "a model"}]


def test_a_revision_may_leave_out_too(caveat: Caveat, tmp_path: Path) -> None:
    """`caveat claim revise` takes the file whole: nothing that stands in it is passed over in silence."""
    _, second, _ = (one.partition("@")[0] for one in register(caveat, tmp_path))
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    _write(tmp_path, card, claims=[_claim(reported=0.9)], excluded=[{"quote": NEVER, "reason": "No figure."}])

    assert caveat("claim", "revise", second, "claims.yaml", "--reason", "erratum").code == 0

    kinds = [one["entry"]["kind"] for one in caveat("claim", "history", card, "--json").document["entries"]]
    assert kinds == ["card", "omission"]


def test_the_claims_file_of_the_scenario_has_nothing_to_leave_out(caveat: Caveat, tmp_path: Path) -> None:
    """A file that says nothing of omissions and surveys is told about as before."""
    register(caveat, tmp_path)
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    (tmp_path / "claims.yaml").write_text(CLAIMS.format(card=card))

    assert caveat("claim", "add", "claims.yaml").out.splitlines() == ["0 claims were added, 0 revised, 3 unchanged."]
