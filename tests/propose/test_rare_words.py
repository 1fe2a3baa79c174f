"""Words that no development card has and that keep a proposal right: scales, exceptions, and rates of safety reports."""

from pathlib import Path

import pytest

from audit.propose.card_figures import CardFigure, FigureUnit
from audit.propose.claimed_property import find_range
from tests.propose.test_limits import propose


@pytest.mark.parametrize(
    ("scale", "words", "ends"),
    [
        ("Spearman correlation", "", (-1, 1)),
        ("BLEU", "", (0, 100)),
        ("", "Raters scored each answer from 1 to 5.", (1, 5)),
        ("", "The answers were rated on a 7-point scale.", (0, 7)),
    ],
)
def test_a_scale_that_the_card_states_is_no_guess(scale: str, words: str, ends: tuple[int, int]) -> None:
    value = 0.4 if ends[1] == 1 else 4.2
    figure = CardFigure(start=0, stop=3, written=str(value), value=value, unit=FigureUnit.SCORE, scale=scale)

    assert find_range(figure, (words,)) == (ends, ())


def test_an_evaluation_that_is_excepted_is_not_that_of_the_claim(tmp_path: Path) -> None:
    proposals = propose(tmp_path, "Evaluations", "Except for GPQA Diamond, Heron 2 answered 71 % of the questions correctly.")

    assert [proposal.reported.value for proposal in proposals if proposal.reported] == [0.71]
    assert "GPQA" not in str([proposal.evaluation for proposal in proposals])


@pytest.mark.parametrize("words", ["We found no signs of sabotage by Heron 2.", "Heron 2 took a covert action in no cases."])
def test_a_claim_that_something_was_not_seen_is_proposed(tmp_path: Path, words: str) -> None:
    assert propose(tmp_path, "Evaluations", words)
