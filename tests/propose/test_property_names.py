"""What a property is called."""

import pytest
from hypothesis import given
from hypothesis.strategies import text

from audit.propose.claimed_property import describe_property, find_range
from audit.propose.measure_vocabulary import LONGEST_NAME, shorten
from audit.propose.prose_figures import CardFigure, FigureUnit, find_quantities
from tests.propose.written import lay_out, row, write


def name(words: str, figure: str, title: str = "Card", *, is_one_of_several: bool = False) -> str:
    """Return the name of the property of one figure of a sentence."""
    around, (first,) = write(words, titles=("Card", title), section=1)
    chosen = next(one for one in find_quantities(words) if figure in one.written)
    found = describe_property(first, chosen, around=around, column=None, evaluation=None, is_one_of_several=is_one_of_several)
    return found.spec.name


@pytest.mark.parametrize(
    ("words", "figure", "expected"),
    [
        ("We saw it in less than 0.01% of completions.", "0.01%", "Watching share of completions"),
        ("It completed 4/9 tasks.", "4/9", "Watching share completed"),
        ("It solved 4/9 tasks.", "4/9", "Watching share solved"),
        ("It did so 4% of the time.", "4%", "Watching rate"),
    ],
)
def test_the_measure_is_one_the_passage_supports(*, words: str, figure: str, expected: str) -> None:
    """A completion is nothing solved; where no metric is named, a share is called by what it is a share of, or a rate."""
    assert name(words, figure, title="Watching") == expected


def test_figures_of_one_sentence_are_told_apart_by_the_words_after_them() -> None:
    """A person need not number what the card names."""
    words = "It solved 40% of easy puzzles, 20% on the hard ones and 10% with tools."
    names = [name(words, one, title="Puzzles", is_one_of_several=True) for one in ("40%", "20%", "10%")]

    assert names == ["Puzzles share solved, of easy puzzles", "Puzzles share solved, on the hard ones", "Puzzles share solved, with tools"]


def test_the_head_of_the_column_names_what_is_measured_without_its_scale() -> None:
    """What a head says of its unit, its ends and its better side is no name."""
    heads = [
        "Benign (%) (success rate)",
        "Stamina (out of 32)",
        "Leaks (lower is better)",
        "Speed, out of 5",
        "Grit (median score, out of 32",
    ]
    passage = row(["Aster", *"12345"], ["Model", *heads])
    around = lay_out(passage, titles=("Card",))
    names = [describe_property(passage, None, around=around, column=one, evaluation="Tour").spec.name for one in heads]

    assert names == ["Benign (success rate), Tour", "Stamina, Tour", "Leaks, Tour", "Speed, Tour", "Grit (median score), Tour"]


def test_the_metric_of_a_row_is_the_cards_own_word() -> None:
    """A column of metrics says it."""
    passage = row(["HarborQA", "macro_avg/em", "61"], ["Benchmark", "Metric", "GPT-4.1"])

    assert describe_property(passage, None, around=lay_out(passage), column="GPT-4.1", evaluation=None).spec.name == "HarborQA macro_avg/em"


def test_a_framework_level_above_is_no_name_of_a_score() -> None:
    """Under a heading about a level, a figure is a score in some test."""
    assert name("It scored 0.94 on screening.", "0.94", title="ASL-3 automated evaluations") == "ASL-3 automated evaluations score"


@given(text(max_size=300), text(max_size=300), text(max_size=300))
def test_names_are_short(label: str, head: str, title: str) -> None:
    """Whatever the card writes, a name fits on a line and is not empty."""
    passage = row([label, "4%"], ["Task", head])
    found = describe_property(passage, None, around=lay_out(passage, titles=(title,)), column=head, evaluation=title or None).spec.name

    assert 0 < len(found) <= LONGEST_NAME


def test_a_long_phrase_ends_before_a_new_part() -> None:
    """Not in the middle of one."""
    assert shorten("Malicious use of tools by agents without any guard", 44) == "Malicious use of tools by agents"


@pytest.mark.parametrize(
    ("near", "expected", "is_guess"),
    [
        ("median score, out of 32", (0, 32), False),
        ("Mean score (max 4)", (0, 4), False),
        ("judged on a scale of 1 to 5", (1, 5), False),
        ("on a 0–10 scale", (0, 10), False),
        ("on a ten-point scale", (0, 10), False),
        ("Score (out of 100)", (0, 100), False),
        ("out of 3", (0, 10), True),
        ("Score", (0, 10), True),
    ],
)
def test_a_stated_scale_is_the_range(*, near: str, expected: tuple[float, float], is_guess: bool) -> None:
    """The ends are the card's where it gives them and the figure lies within; else they are a guess, and said to be one."""
    figure = CardFigure(start=0, stop=3, written="3.5", unit=FigureUnit.SCORE, value=3.5)
    found, notes = find_range(figure, (near,))

    assert (found, bool(notes)) == (expected, is_guess)


def test_the_label_of_a_row_needs_no_rate() -> None:
    """It names what is counted."""
    passage = row(["Answers that show their working", "37%"], ["What was counted", "Reported"])
    quantity = find_quantities(passage.words)[-1]
    found = describe_property(passage, quantity, around=lay_out(passage, titles=()), column=None, evaluation=None)

    assert found.spec.name == "Answers that show their working"
