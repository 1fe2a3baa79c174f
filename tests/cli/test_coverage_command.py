"""`caveat card coverage`: what of a card is registered, left out, and not decided on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from registry.records.record import Kind, format_identifier
from tests.cli.conftest import Caveat
from tests.cli.scenario import register

SURVEYED = """\
schema: caveat/claims/1
card: {card}
proposed:
  by: rules 1
  document: {document}
  passages: {passages}
excluded:
  - quote: It never exceeded the threshold.
    reason: It says the same as the sentence before.
claims: []
"""
PASSAGES = (
    "In our evaluation the model schemes in 5 % of cases",
    "It never exceeded the\nthreshold.",
    "We observed one case",
    "0 of 50 benign",
)


@pytest.fixture
def card(caveat: Caveat, tmp_path: Path) -> str:
    """A card with three claims; no one searched it for more."""
    register(caveat, tmp_path)
    (one,) = caveat("card", "list", "--json").document["cards"]
    return str(one["card"])


def survey(caveat: Caveat, folder: Path, card: str, *, also: Sequence[tuple[int, int]] = ()) -> None:
    """Record which passages an engine proposed, and one that was left out."""
    (one,) = caveat("card", "list", "--json").document["cards"]
    text = (folder / "card.md").read_text(encoding="utf-8")
    found = [(text.index(words), text.index(words) + len(words)) for words in PASSAGES]
    passages = [list(one) for one in sorted({*found, *also})]
    (folder / "survey.yaml").write_text(SURVEYED.format(card=card, document=one["document"], passages=passages), encoding="utf-8")
    answer = caveat("claim", "add", "survey.yaml")
    assert answer.code == 0, answer.err


def test_a_card_that_nobody_searched_says_so(caveat: Caveat, card: str) -> None:
    """Question marks, and the command that searches."""
    answer = caveat("card", "coverage", card)

    assert answer.code == 0
    assert "No survey of this revision is recorded" in answer.out
    assert f"caveat claim propose {card}@1" in answer.out
    assert ["total", "?", "3", "0", "0", "0", "?"] in [line.split() for line in answer.out.splitlines()]


def test_a_surveyed_card_tells_what_was_decided_and_what_was_not(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Of four passages two are claims, one is left out; “0 of 50” lies beside a claim's words, and no one decided on it."""
    survey(caveat, tmp_path, card)

    answer, document = caveat("card", "coverage", card), caveat("card", "coverage", card, "--json").document

    assert document["schema"] == "caveat/coverage/1"
    assert document["card"] == f"{card}@1"
    told = {"proposed": 4, "registered": 3, "audited": 0, "restricted": 0, "undetermined": 0, "excluded": 1, "unreviewed": 1}
    assert document["total"] == told
    assert [one["quote"] for one in document["unreviewed"]] == ["0 of 50 benign"]
    assert "surveyed by rules 1" in answer.out
    assert "excluded and unreviewed are counted in passages; registered, audited and restricted in claims" in " ".join(answer.out.split())
    assert "1 proposed passage is unreviewed" in answer.out
    assert "Refusals: “0 of 50 benign”" in answer.out
    assert "It says the same as the sentence before." in answer.out


def test_as_of_an_earlier_entry_the_survey_was_not_there(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Coverage is read like everything else: as it was."""
    before = caveat("card", "coverage", card, "--json").document
    survey(caveat, tmp_path, card)

    assert caveat("card", "coverage", card, "--as-of", str(before["log_size"]), "--json").document == before


def test_a_long_list_is_cut_and_says_how_to_see_the_rest(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """Twenty on the screen, all with --all, all in the JSON."""
    start = (tmp_path / "card.md").read_text(encoding="utf-8").index("benign requests were") + 7
    survey(caveat, tmp_path, card, also=[(start + at, start + at + 1) for at in range(24)])

    short, whole = caveat("card", "coverage", card).out, caveat("card", "coverage", card, "--all").out

    assert "… and 5 more: --all" in short
    assert (short.count("Refusals: “"), whole.count("Refusals: “")) == (20, 25)
    assert "--all" not in whole


def test_a_card_that_is_not_registered_is_refused(caveat: Caveat, card: str) -> None:
    """With what is near."""
    answer = caveat("card", "coverage", format_identifier(Kind.CARD, "AISI", 2026, 2))

    assert answer.code == 2
    assert "not-registered" in answer.err
    assert card in answer.err


def test_claim_show_tells_what_a_claim_states_of_its_figure(caveat: Caveat, card: str) -> None:
    """Seven items, on the screen and in the JSON."""
    (first, *_) = caveat("claim", "list", "--card", card, "--json").document["claims"]

    answer, document = caveat("claim", "show", first["claim"]), caveat("claim", "show", first["claim"], "--json").document

    assert "☐ evaluation: the evaluation is not named" in answer.out
    assert "■ threshold: θ = 0.1" in answer.out
    assert [one["item"] for one in document["completeness"]][:2] == ["evaluation", "sample-size"]
    assert len(document["completeness"]) == 7


def test_a_card_that_is_decided_is_not_called_read(caveat: Caveat, tmp_path: Path, card: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every proposal registered or left out, nothing is said of who read them."""
    monkeypatch.setitem(globals(), "PASSAGES", PASSAGES[:3])
    survey(caveat, tmp_path, card)

    answer = caveat("card", "coverage", card)

    assert "Every proposed passage is registered or excluded; whether a person read each is not recorded." in answer.out


def test_what_was_erased_is_named_and_not_counted(caveat: Caveat, tmp_path: Path, card: str) -> None:
    """A survey, an omission and a claim whose text is gone: each is told as gone, and no one is told that there never was one."""
    survey(caveat, tmp_path, card)
    entries = caveat("admin", "log", "show", "--start", "1", "--json").document["entries"]
    claim = next(one["payload"]["claim"] for one in entries if one["entry"]["kind"] == "claim_revision")
    gone = [
        next(one["entry"]["seq"] for one in entries if one["entry"]["kind"] == kind) for kind in ("survey", "omission", "claim_revision")
    ]
    for entry in gone:
        assert caveat("admin", "log", "erase", str(entry), "--reason", "x", "--yes").code == 0

    answer, document = caveat("card", "coverage", card), caveat("card", "coverage", card, "--json").document

    assert answer.code == 0
    assert "No survey of this revision is in the log any more" in answer.out
    assert "by 2 statements (" in answer.out
    assert sorted(one["seq"] for one in document["erased"]) == sorted(gone[:2])
    assert document["not_counted"] == [claim]
    assert f"a statement that 1 claim rests on ({claim})" in answer.out
    assert document["total"]["registered"] == 2
