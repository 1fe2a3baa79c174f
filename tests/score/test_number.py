"""The number that a response ends in."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis.strategies import decimals, integers, sampled_from

from audit.score.answer_extraction import build_number_marker, check_answers, list_numbers, parse_number
from registry.records.replay_run import Task
from registry.records.specification import NumberScorer


def mark(said: str, answer: str, **fields: object) -> object:
    return build_number_marker(NumberScorer(kind="number", **fields))(Task(id="t", prompt="p", answer=answer), said)  # type: ignore[arg-type]


def test_a_pattern_that_explodes_is_neither_wrong_nor_unextracted() -> None:
    """The pattern ran out of time: that says nothing of the response."""
    marked = mark("1" * 40 + "!", "1", pattern=r"((?:1|1)+)$", unextracted="wrong")

    assert (marked.score, marked.excluded_reason) == (None, "pattern-time-out")  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["absolute_tolerance", "relative_tolerance"])
def test_a_tolerance_is_a_number_from_0(name: str, value: float) -> None:
    """A negative one would make every response wrong in silence."""
    with pytest.raises(ValueError, match=name):
        NumberScorer(kind="number", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("12", "12"),
        ("The answer is 12.", "12"),
        ("It is 12 (see step 3). The answer is 12 apples, in 3 bags.", "12"),
        ("3 + 4 = 7, so 7", "7"),
        ("\\boxed{1,234}", "1234"),
        ("\\boxed{\\frac{1}{3}}", "1/3"),
        ("The result is \\frac{-3}{4}", "-0.75"),
        ("#### 1,234,567.50", "1234567.5"),
        ("$1,200", "1200"),
        ("It costs €12,50", "12.5"),
        ("1.234.567,8", "1234567.8"),
        ("12 345", "12345"),
        ("1 234 567", "1234567"),
        ("1'234", "1234"),
        ("−5", "-5"),
        ("-5 degrees", "-5"),
        ("The range 3-5 ends in 5", "5"),
        ("about 1.5e3 units", "1500"),
        ("1.5 × 10^3", "1500"),
        ("6.02 \\times 10^{-2}", "0.0602"),
        ("25%", "25%"),
        ("25 percent", "25%"),
        ("25\\%", "25 %"),
        ("25", "25%"),
        ("0.25", "25%"),
        ("25%", "0.25"),
        (".5", "1/2"),
        ("The answer is 7; earlier I said 8.", "7"),
        ("The answer is 8. No: the answer is 7.", "7"),
        ("**Answer:** 42 km/h", "42"),
        ("The answer is approximately 3.14 metres per second.", "3.14"),
    ],
)
def test_the_number_is_read_as_it_was_meant(said: str, answer: str) -> None:
    """Boxes and statements before the last number; separators, currency, fractions, powers of ten, per cent."""
    assert mark(said, answer).score == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("said", "answer"), [("12.1", "12"), ("-5", "5"), ("25%", "2.5"), ("1,234", "1.234"), ("120", "12"), ("1/3", "0.333")]
)
def test_another_number_is_wrong(said: str, answer: str) -> None:
    """Without a tolerance the numbers are compared exactly."""
    assert mark(said, answer).score == 0.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("said", ["", "No idea.", "version v2", "x1 and y2", "twelve", "1/0"])
def test_no_number_is_an_exclusion(said: str) -> None:
    """Digits inside words are no numbers, and words for numbers are not read."""
    assert mark(said, "12").excluded_reason == "unextracted"  # type: ignore[attr-defined]


def test_a_comma_before_three_digits_is_said_to_be_ambiguous() -> None:
    """1,234 is read as a separator of thousands, 1.234 as a decimal point; the detail tells."""
    assert mark("1,234", "1234").detail["ambiguous"] == "separator"  # type: ignore[attr-defined]
    assert mark("1.234", "1.234").detail["ambiguous"] == "separator"  # type: ignore[attr-defined]
    assert "ambiguous" not in mark("0,234", "0.234").detail  # type: ignore[attr-defined]
    assert "ambiguous" not in mark("1,234.5", "1234.5").detail  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("said", "absolute", "relative", "score"),
    [("10.5", 0.5, 0.0, 1.0), ("10.6", 0.5, 0.0, 0.0), ("11", 0.0, 0.1, 1.0), ("11.1", 0.0, 0.1, 0.0), ("11", 0.5, 0.1, 1.0)],
)
def test_a_tolerance_includes_its_limit(said: str, absolute: float, relative: float, score: float) -> None:
    """The larger of the two counts; the relative one is a share of the answer, 10."""
    assert mark(said, "10", absolute_tolerance=absolute, relative_tolerance=relative).score == score  # type: ignore[attr-defined]


@given(integers(-(10**12), 10**12), sampled_from(["{:,}", "{}", "{:,}.00", "${:,}"]))
def test_a_written_integer_is_read_again(number: int, form: str) -> None:
    """With separators of thousands, decimals and currency."""
    if form.startswith("$") and number < 0:
        form = "{:,}"

    found = parse_number(form.format(number))

    assert found is not None
    assert found.value == number


@given(decimals(min_value=-(10**6), max_value=10**6, allow_nan=False, allow_infinity=False, places=3))
def test_a_written_decimal_is_read_again_exactly(number: object) -> None:
    """Fractions, not floats: three places come back as they were written."""
    found = parse_number(f"{number:f}")

    assert found is not None
    assert found.value == Fraction(str(number))


def test_dates_and_versions_are_no_last_number_of_a_stated_answer() -> None:
    """The statement wins over what stands behind it."""
    assert mark("The answer is 12. (Checked on 2026-11-21 with 1.2.3)", "12").score == 1.0  # type: ignore[attr-defined]


def test_tasks_without_a_number_are_refused() -> None:
    """None, words, and two numbers are no answer."""
    tasks = [Task(id=str(place), prompt="p", answer=answer) for place, answer in enumerate((None, "many", "1 or 2", "1,5"))]

    assert [fault.where for fault in check_answers(tasks)] == ["task 0", "task 1", "task 2"]


def test_numbers_of_a_text_come_in_their_order() -> None:
    """As they are written."""
    assert [one.written for one in list_numbers("From $1,200 to 1.5 % in 3 steps")] == ["$1,200", "1.5 %", "3"]


@pytest.mark.parametrize("said", ["9" * 5000, "1e999", "-1e999", "1/0", "1e-999", "0." + "1" * 5000])
def test_no_number_is_too_large_to_be_read(said: str) -> None:
    """What is longer than any number is none; what no float holds is compared all the same."""
    marked = mark(f"The answer is {said}.", "12")

    assert marked.score in (0.0, None)  # type: ignore[attr-defined]
