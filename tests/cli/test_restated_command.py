"""`caveat claim restated`: pairs are found, told with both figures, and recorded by no one but a person."""

from pathlib import Path

import pytest

from registry.records.record import Kind, format_identifier
from tests.cli.conftest import Caveat

CLAIMS = """\
schema: caveat/claims/1
card: {card}
model: {{developer: LAB, name: Sparrow 2, version: not stated}}
properties:
  covert: {{name: covert action rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer, suppressible: true}}
claims:
  - quote: {quote}
    form: prevalence
    reported: {value}
    property: covert
    evaluation: SHADE-Arena
"""
FIRST = "Sparrow 2 took covert action in 5% of runs of SHADE-Arena."
SECOND = "Sparrow 2 acted covertly in {value:.1%} of SHADE-Arena runs."


def add(caveat: Caveat, folder: Path, quote: str, value: float) -> tuple[str, str]:
    """Register a card of one sentence and its claim; return both."""
    name = f"card{len(list(folder.glob('*.md')))}"
    (folder / f"{name}.md").write_text(f"# {name}\n\n{quote}\n", encoding="utf-8")
    card = caveat("card", "add", f"{name}.md", "--publisher", "LAB", "--json").document["card"]["card"]
    (folder / "claims.yaml").write_text(CLAIMS.format(card=card, quote=quote, value=value), encoding="utf-8")
    return card, caveat("claim", "add", "claims.yaml", "--json").document["added"][0]


@pytest.fixture
def pair(caveat: Caveat, tmp_path: Path) -> tuple[tuple[str, str], tuple[str, str]]:
    caveat("init", "--code", "AISI")
    return add(caveat, tmp_path, FIRST, 0.05), add(caveat, tmp_path, SECOND.format(value=0.082), 0.082)


def test_a_pair_is_told_with_both_figures_and_the_command_that_records_it(
    caveat: Caveat, pair: tuple[tuple[str, str], tuple[str, str]]
) -> None:
    """A person sees both numbers, both passages and why, and decides."""
    (first_card, first), (second_card, second) = pair
    command = f"caveat claim relate {second[:-2]} restates {first[:-2]}"

    answer = caveat("claim", "restated")
    (found,) = caveat("claim", "restated", "--json").document["pairs"]

    assert answer.code == 0
    for part in (f"{second} states 0.082 ({second_card})", f"where {first} stated 0.05 ({first_card})", FIRST, "same property", command):
        assert part in answer.out
    assert found["command"] == command
    assert (found["claim"]["value"], found["restates"]["value"], found["recorded"]) == (0.082, 0.05, False)


def test_nothing_is_recorded_until_a_person_does_and_then_it_is_said(caveat: Caveat, pair: tuple[tuple[str, str], tuple[str, str]]) -> None:
    """The command it prints is one that runs; afterwards the pair is told as recorded."""
    before = caveat("claim", "restated", "--json").document
    assert caveat("claim", "restated", "--json").document["log_size"] == before["log_size"]

    assert caveat(*before["pairs"][0]["command"].split()[1:]).code == 0

    assert caveat("claim", "restated", "--json").document["pairs"][0]["recorded"] is True
    assert "recorded already" in caveat("claim", "restated", "--card", pair[0][0]).out


def test_what_agrees_after_rounding_is_no_restatement(caveat: Caveat, tmp_path: Path) -> None:
    """5 % and 5.2 %: the first card printed fewer digits."""
    caveat("init", "--code", "AISI")
    add(caveat, tmp_path, FIRST, 0.05)
    add(caveat, tmp_path, SECOND.format(value=0.052), 0.052)

    assert caveat("claim", "restated").out.splitlines() == ["0 pairs among 2 claims with a number."]


def test_a_withdrawn_claim_restates_nothing(caveat: Caveat, pair: tuple[tuple[str, str], tuple[str, str]]) -> None:
    """What its registrant took back is not held against another."""
    caveat("claim", "withdraw", pair[1][1], "--reason", "misread", "--yes")

    assert caveat("claim", "restated", "--json").document["pairs"] == []


def test_a_card_that_is_not_registered_is_refused(caveat: Caveat, pair: tuple[tuple[str, str], tuple[str, str]]) -> None:
    """An empty answer would look like a clean one."""
    unknown = format_identifier(Kind.CARD, "AISI", 2026, 99)

    answer = caveat("claim", "restated", "--card", unknown)

    assert answer.code == 2
    assert "not-registered" in answer.err
    assert unknown not in (pair[0][0], pair[1][0])


def test_more_than_the_limit_is_said(caveat: Caveat, tmp_path: Path) -> None:
    """No one takes the first page for the whole."""
    caveat("init", "--code", "AISI")
    for value in (0.05, 0.082, 0.11):
        add(caveat, tmp_path, SECOND.format(value=value), value)

    answer = caveat("claim", "restated", "--limit", "2")

    assert answer.out.splitlines()[-1] == "2 pairs among 3 claims with a number. There are more: --limit."
    assert caveat("claim", "restated", "--limit", "3", "--json").document["has_more"] is False
