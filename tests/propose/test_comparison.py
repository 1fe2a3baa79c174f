"""Whose each figure of a passage is."""

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from audit.propose.figure_ownership import SortedFigures, choose_own
from audit.propose.prose_figures import find_quantities
from audit.propose.table_figures import find_row_quantities
from registry.records.system_card import Passage, PassageKind
from tests.propose.written import OWN, lay_out, name_models, row, sentence, write

OTHERS = (OWN, OWN, "GPT-4.1", "Claude Opus 4.7", "Llama 3.3 70B")


def choose(words: str) -> SortedFigures:
    """Return what becomes of the figures of a sentence."""
    around, (first,) = write(words)
    return choose_own(first, find_quantities(words), around=around, models=name_models(around, *OTHERS))


def sort(*rows: Passage, at: int = 0) -> SortedFigures:
    """Return what becomes of the figures of one row of a table."""
    around = lay_out(*rows)
    return choose_own(rows[at], find_row_quantities(rows[at]), around=around, models=name_models(around, *OTHERS))


def read(choice: SortedFigures) -> tuple[list[float | None], list[tuple[str, float | None]]]:
    """Return the own figures, and the others with their subjects."""
    return [one.quantity.value for one in choice.own], [(one.subject, one.value) for one in choice.others]


SENTENCES = [
    (f"{OWN} refused 98% of requests.", [0.98], []),
    ("Claude Opus 4.7 refused 91% of requests.", [], [("Claude Opus 4.7", 0.91)]),
    ((f"{OWN} did so 12% of the time, compared with 3% of the time for GPT-4.1 and 1% of the time for both "
     "Claude Opus 4.7 and Llama 3.3 70B."),
     [0.12], [("GPT-4.1", 0.03), ("Claude Opus 4.7", 0.01), ("Llama 3.3 70B", 0.01)]),
    (f"{OWN} solved 9/20 tasks compared to GPT-4.1, which solved 13/20 tasks.", [0.45], [("GPT-4.1", 0.65)]),
    ("performing on par with GPT-4.1 (81% vs. 79%)", [0.81], [("GPT-4.1", 0.79)]),
    ((f"{OWN} reached (rates compared to GPT-4.1, Claude Opus 4.7 in parentheses) 70% (60%, 80%) "
     "on forensics and 50% (40%, 55%) on pwn tasks."),
     [0.7, 0.5], [("GPT-4.1", 0.6), ("Claude Opus 4.7", 0.8), ("GPT-4.1", 0.4), ("Claude Opus 4.7", 0.55)]),
    ("The filter cut the success rate of attacks from 31% to 4%.", [0.04], [("the earlier condition", 0.31)]),
    (f"GPT-4.1 refused 91%, while {OWN} refused 97%.", [0.97], [("GPT-4.1", 0.91)]),
    ("Unlike GPT-4.1, which complied in 4 of 50 cases, it complied in 1 of 50 cases.", [0.02], [("GPT-4.1", 0.08)]),
    ("Human experts scored 64%; the model scored 71%.", [0.71], [("Human experts", 0.64)]),
    ("It scored 63%, versus 40% for the internet-only control group.", [0.63], [("the internet-only control group", 0.4)]),
    ("With monitoring it hid 9% of actions, compared to 14% without monitoring.", [0.09], [("without monitoring", 0.14)]),
    ("It hid 9% of actions, approaching the unmonitored rate of 14%.", [0.09], [("the unmonitored rate", 0.14)]),
    ("The strongest non-Gemini model was Birch Two at 21%.", [], [("The strongest non-Gemini model", 0.21)]),
    ("Our closest competitor solved 41% of the tasks.", [], [("Our closest competitor", 0.41)]),
    ("No model apart from Birch Two, which managed 3/10, finished it.", [], [("No model apart from Birch Two", 0.3)]),
    ("The GPT-4.1 variant was 10 times as likely to fail.", [], [("GPT-4.1", 10)]),
]  # fmt: skip


def test_what_something_came_down_from_stands_beside_what_it_came_down_to() -> None:
    """In a sentence of two changes each figure has its own earlier one."""
    choice = choose("The success of attackers fell from 8% to 3% in long runs, and from 2% to 1% in short ones.")

    assert [(one.quantity.value, [beside.value for beside in one.comparisons]) for one in choice.own] == [(0.03, [0.08]), (0.01, [0.02])]


@pytest.mark.parametrize(("words", "own", "others"), SENTENCES)
def test_figures_of_a_sentence(words: str, own: list[float], others: list[tuple[str, float]]) -> None:
    """What the sentence says of its model is the claim's; what it says of others stands beside it."""
    figures, beside = read(choose(words))

    assert figures == pytest.approx(own)
    assert [name for name, _ in beside] == [name for name, _ in others]
    assert [value for _, value in beside] == pytest.approx([value for _, value in others])


def test_each_own_figure_has_its_counterpart() -> None:
    """Two figures against two of another model are compared one by one."""
    choice = choose(f"{OWN} failed in 5% of attempts and 3 of 14 scenarios, closer to GPT-4.1 (4% and 2/14 scenarios).")

    assert [[beside.words for beside in one.comparisons] for one in choice.own] == [["4%"], ["2/14"]]


@pytest.mark.parametrize(
    ("words", "relation"),
    [
        ("with rates over 7× higher than GPT-4.1.", "over 7× higher than GPT-4.1"),
        (f"{OWN} did so at a significantly higher rate than other models tested.", "significantly higher rate than other models tested"),
        ("Its rates were low, comparable to GPT-4.1 and Claude Opus 4.7.", "comparable to GPT-4.1 and Claude Opus 4.7"),
        (f"{OWN} refused 98% of requests.", None),
        ("It is safer and faster.", None),
    ],
)
def test_relations_are_the_passages_own_words(words: str, relation: str | None) -> None:
    """What a bound is relative to is quoted, never worded anew."""
    assert choose(words).relative_to == relation


@pytest.mark.parametrize(("words", "own", "others"), SENTENCES)
def test_no_figure_is_lost_or_doubled(words: str, own: list[float], others: list[tuple[str, float]]) -> None:
    """Each figure is the claim's or another's, never both."""
    choice = choose(words)

    spans = [(one.quantity.start, one.quantity.stop) for one in choice.own]
    assert len(spans) == len(set(spans))
    assert not {words[start:stop] for start, stop in spans} & {one.words for one in choice.others}


def test_columns_of_models() -> None:
    """The column of the card's model is the claim's, whichever place it has."""
    choice = sort(row(["MMLU", "5", "88.3", "90.8", "87.0"], ["Benchmark", "# Shots", "GPT-4.1", OWN, "Claude Opus 4.7"]))

    assert [(one.quantity.written, one.model) for one in choice.own] == [("90.8", OWN)]
    assert [(one.subject, one.words) for one in choice.others] == [("GPT-4.1", "88.3"), ("Claude Opus 4.7", "87.0")]


def test_columns_of_other_models_alone_make_no_claim() -> None:
    """A table without the card's model says nothing of it."""
    choice = sort(row(["MMLU", "88.3"], ["Benchmark", "GPT-4.1"]))

    assert (choice.own, len(choice.others)) == ((), 1)


def test_rows_of_models() -> None:
    """A row of another model is no claim; a row of the own one is, with the others' figures of its column."""
    columns = ["Model", "Refusals", "Over-refusals"]
    rows = [
        row([OWN, "98%", "1%"], columns, 0, block=1),
        row(["GPT-4.1", "91%", "3%"], columns, 50, block=1),
        row(["Human baseline", "95%", "0%"], columns, 90, block=1),
    ]

    own, other = sort(*rows), sort(*rows, at=1)

    assert [(one.column, [(beside.subject, beside.value) for beside in one.comparisons]) for one in own.own] == [
        ("Refusals", [("GPT-4.1", 0.91), ("Human baseline", 0.95)]),
        ("Over-refusals", [("GPT-4.1", 0.03), ("Human baseline", 0.0)]),
    ]
    assert (other.own, [one.words for one in other.others]) == ((), ["91%", "3%"])


def test_counts_beside_a_share_are_no_result() -> None:
    """A row with "9 | 24 | 37.5 %" reports one figure."""
    choice = sort(row(["Letter only", "9", "24", "37.5 %"], ["Context", "Correct", "Responses", "Share"]))

    assert [one.quantity.written for one in choice.own] == ["37.5 %"]


def test_a_row_without_cells_is_sorted_by_its_head() -> None:
    """Where cells cannot be told apart, as many figures as models in the head belong to them in order."""
    head = sentence(f"GPT-4.1 {OWN}", 0, kind=PassageKind.HEAD, block=1)
    body = sentence("Avoidance 0.66 0.88", 40, kind=PassageKind.ROW, block=1)

    choice = sort(head, body, at=1)

    assert [(one.quantity.written, one.model) for one in choice.own] == [("0.88", OWN)]
    assert [(one.subject, one.words) for one in choice.others] == [("GPT-4.1", "0.66")]


def test_a_passage_too_long_says_so() -> None:
    """Nothing is guessed from what cannot be a sentence."""
    choice = choose("x " * 4000 + f"{OWN} 5%")

    assert (len(choice.own), choice.notes) == (1, ("The passage is too long to tell whose its figures are.",))


PARTS = [
    OWN,
    "GPT-4.1",
    "98%",
    "3/14",
    "compared to",
    "than",
    "(",
    ")",
    "from",
    "to",
    "vs.",
    "for",
    "and",
    ",",
    ";",
    "7×",
    "twice",
    "the",
    "experts",
]


@given(lists(sampled_from(PARTS), max_size=14))
def test_any_order_of_words_can_be_sorted(parts: list[str]) -> None:
    """Whatever stands in a passage, own figures are figures of it, in order."""
    words = " ".join(parts)

    choice = choose(words)

    starts = [one.quantity.start for one in choice.own]
    assert starts == sorted(starts)
    assert all(words[one.quantity.start : one.quantity.stop] for one in choice.own)


def test_a_whole_number_is_a_result_under_a_head_that_says_so() -> None:
    """Beside shares, counts are settings; scores and ratings are not."""
    passage = row(["Charm", "42", "9", "12%"], ["Challenge", "Score (out of 100)", "Wins", "Success rate"])

    assert [one.column for one in sort(passage).own] == ["Score (out of 100)", "Success rate"]


def test_a_name_torn_into_two_cells_is_whole() -> None:
    """A row of another model is not the card's own because its table was read badly."""
    passage = row(["Claude Opus", "4.7 -2.2", "0.25"], ["Model", "First", "Second"])

    assert sort(passage).own == ()
