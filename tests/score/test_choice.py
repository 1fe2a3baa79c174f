"""The option that a response settles on."""

import json
from pathlib import Path

import pytest

from audit.score.answer_extraction import build_choice_marker, build_number_marker, check_choices, extract_option
from registry.errors import InputError
from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, NumberScorer

RECORDINGS = Path(__file__).parents[2] / "examples" / "recording"
mark_number = build_number_marker(NumberScorer(kind="number"))
DISTANCES = ("120 km", "150 km", "180 km", "135 km")
CLAUSES = ("WHERE", "ORDER BY", "HAVING", "LIMIT")
CENTS = ("10 cents", "5 cents", "1 cent", "15 cents")


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("B.", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("$B$", "B"),
        ("\\boxed{B}", "B"),
        ("\\(\\boxed{B}\\)", "B"),
        ("\\boxed{\\text{B}}", "B"),
        ("\\boxed{\\text{150 km}}", "B"),
        ("\\boxed{150}", "B"),
        ("The answer is B", "B"),
        ("The answer is B.", "B"),
        ("The correct answer is (b).", "B"),
        ("Answer: (b)", "B"),
        ("Answer: B) 150 km", "B"),
        ("**Answer:** B", "B"),
        ("**Answer: B**", "B"),
        ("The correct option is: **B**.", "B"),
        ("Final answer\n\nThe answer is:\n\nB", "B"),
        ("B) 150 km", "B"),
        ("**B) 150 km**\n\nBecause speed times time is distance.", "B"),
        ("I would choose B because 60 times 2.5 is 150.", "B"),
        ("I'll go with option B.", "B"),
        ("Option B is correct.", "B"),
        ("(B) is the right one.", "B"),
        ("150 km", "B"),
        ("The train travels 150 km.", "B"),
        ("It travels 60 km in one hour and 30 in the next half. So it goes 150 km.", "B"),
        ("The answer is A. Wait, that is wrong. The answer is B.", "B"),
        ("A) is too short. C) is too long. The answer is B.", "B"),
        ("The answer is B, not A.", "B"),
        ("#### B", "B"),
        ("The answer is B because A ignores the half hour.", "B"),
        ("The answer is A because it is right.", "A"),
        ("", None),
        ("I cannot answer that.", None),
        ("A or B", None),
        ("The answer is A or B.", None),
        ("The answer is either A or B", None),
        ("A) 120 km\nB) 150 km\nC) 180 km\nD) 135 km", None),
        ("It is 120 km or 150 km, depending on the train and the way, who knows?", None),
        ("It is 120 km, or 150 km.", None),
        ("Not 120 km but 150 km.", "B"),
        ("Is it 150 km?", "B"),
        ("The answer is a matter of taste.", None),
        ("Answer: A train needs fuel.", None),
        ("E", None),
        ("The answer is Z.", None),
        ("\\boxed{7}", None),
    ],
)
def test_the_option_that_a_response_settles_on(said: str, letter: str | None) -> None:
    """Letters, boxes, statements, labels and texts; later statements win; several options, or none, are not guessed between."""
    assert extract_option(said, DISTANCES)[0] == letter


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("The HAVING clause filters groups.", "C"),
        ("HAVING filters groups, unlike WHERE.", None),
        ("You want `HAVING`.", "C"),
        ("`ORDER BY`", "B"),
        ("The answer is HAVING.", "C"),
        ("The answer is: **HAVING**", "C"),
        ("I have no idea.", None),
    ],
)
def test_the_text_of_an_option_stands_for_it(said: str, letter: str | None) -> None:
    """A sentence that names one option settles on it; one that names two does not."""
    assert extract_option(said, CLAUSES)[0] == letter


def test_one_cent_is_not_read_out_of_eleven_cents() -> None:
    """Options are numbers with units: the number must be the option's, not a part of it."""
    assert extract_option("The ball costs 11 cents.", CENTS)[0] is None
    assert extract_option("The ball costs 1 cent.", CENTS)[0] == "C"
    assert extract_option("The ball costs \\(\\boxed{5}\\) cents.", CENTS)[0] == "B"


def test_an_answer_that_was_cut_in_the_middle_of_its_reasoning_has_no_option() -> None:
    """Numbers on the way are not where the way ends."""
    said = "First we compute the distance for the first hour. " * 8 + "The train then goes on for 150"

    assert extract_option(said, DISTANCES) == (None, "cut in the middle of a sentence")


@pytest.mark.parametrize("name", ["ed_correct", "ed_ablation"])
def test_where_we_differ_from_the_recorded_extractor_a_person_agrees_with_us(name: str) -> None:
    r"""All responses of a real model; each difference was read.

    The recorded extractor took the last letter or number that it could find. `57`, `8`, `Saturday` and `Friday` are options by their
    text (arith, slice, weekday). The other four were cut at the limit of tokens before they answered: `15` in a check, `30/`, `\\boxed{15`
    without its end, and `the number of such integers is 10`, which is no option.
    """
    recording = json.loads((RECORDINGS / f"{name}.json").read_text())
    tasks = {one["id"]: one for one in recording["tasks"]}

    differences = {
        (one["task"], one["context"], one["sample"]): (one["extracted"], ours)
        for one in recording["results"]
        if (ours := extract_option(one["response"], tasks[one["task"]]["options"])[0]) != one["extracted"]
    }

    known = {
        "ed_correct": {
            ("arith", "D1", 1): ("B", "A"),
            ("slice", "T3", 1): (None, "A"),
            ("ages", "D2", 1): ("D", None),
            ("handshake", "D4", 0): ("C", None),
            ("handshake", "T3", 0): ("B", None),
            ("mod", "T2", 1): ("A", None),
        },
        "ed_ablation": {("weekday", "T3a", 0): (None, "C"), ("weekday", "T3a", 1): (None, "B")},
    }
    assert differences == known[name]


def make(said: str, **fields: object) -> object:
    one = Task(id="t", prompt="How far?", options=DISTANCES, answer="150 km")
    return build_choice_marker(ChoiceScorer(kind="choice", **fields))(one, said)  # type: ignore[arg-type]


def test_an_answer_may_be_written_as_letter_or_text() -> None:
    """The task's answer is `150 km`; B is the same."""
    assert (make("B").score, make("C").score) == (1.0, 0.0)  # type: ignore[attr-defined]


def test_what_is_not_extracted_is_an_exclusion_unless_the_scorer_says_wrong() -> None:
    """Unknown is not zero, unless the plan says that it is."""
    excluded, wrong = make("Hm."), make("Hm.", unextracted="wrong")

    assert (excluded.score, excluded.excluded_reason) == (None, "unextracted")  # type: ignore[attr-defined]
    assert (wrong.score, wrong.excluded_reason) == (0.0, None)  # type: ignore[attr-defined]


def test_a_pattern_of_ones_own_replaces_our_reading() -> None:
    """Its last match counts, by its first group."""
    marked = make("The answer is A. FINAL=C FINAL=B", pattern=r"FINAL=(\w)")

    assert marked.detail["extracted"] == "B"  # type: ignore[attr-defined]


@pytest.mark.parametrize("unextracted", ["excluded", "wrong"])
def test_a_pattern_that_explodes_is_neither_wrong_nor_unextracted(unextracted: str) -> None:
    """The pattern ran out of time: the response is excluded for that, and the pattern is named."""
    marked = make("a" * 40 + "!", pattern=r"((?:a|a)+)$", unextracted=unextracted)

    assert (marked.score, marked.excluded_reason) == (None, "pattern-time-out")  # type: ignore[attr-defined]
    assert marked.detail["timed_out"] == r"((?:a|a)+)$"  # type: ignore[attr-defined]


@pytest.mark.parametrize("pattern", ["FINAL", "(", ""])
def test_a_pattern_that_extracts_nothing_is_refused(pattern: str) -> None:
    """No regular expression, or none with a group."""
    with pytest.raises(InputError):
        build_choice_marker(ChoiceScorer(kind="choice", pattern=pattern))


def test_tasks_whose_answer_is_no_option_are_refused_all_at_once() -> None:
    """Before anything is scored, with the task's name."""
    tasks = [Task(id="a", prompt="p", options=("x", "y"), answer="C"), Task(id="b", prompt="p"), Task(id="c", prompt="p", answer="C")]

    assert [fault.where for fault in check_choices(tasks)] == ["task a", "task b"]


HOSTILE = [
    "\n" * 200_000,
    " " * 200_000,
    "answer " * 40_000,
    "answer is " * 10_000,
    "the answer is" + " *" * 100_000,
    "answer is" + "(" * 200_000,
    "\\boxed{" * 10_000,
    "{" * 200_000,
    "-" * 200_000,
    "." * 200_000,
    "1" * 200_000,
    "1," * 100_000,
    "1 or " * 40_000,
    "A is " * 40_000,
    "(" * 200_000 + "A",
    "`*_" * 70_000 + "B",
]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("said", HOSTILE, ids=range(len(HOSTILE)))
def test_no_response_can_hold_the_reading_up(said: str) -> None:
    """Up to two hundred thousand characters made to be read slowly are read in a moment: by option, and by number."""
    extract_option(said, DISTANCES)
    extract_option(said, CLAUSES)
    mark_number(Task(id="t", prompt="p", answer="1"), said)
