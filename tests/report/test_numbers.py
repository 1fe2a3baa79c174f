"""Numbers as they are printed: rounding never moves one across a line that matters."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers, lists

from registry.report.number_format import (
    format_count,
    format_exact,
    format_items,
    format_level,
    format_number,
    format_percent,
    format_probability,
    format_range,
    format_signed,
)

SHARES = floats(min_value=0, max_value=1)
DIFFERENCES = floats(min_value=-1, max_value=1)
SLACK = 1e-12


def read(text: str) -> Decimal:
    """The number that a reader takes from *text*."""
    plain = text.replace("−", "-").replace("+", "").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return Decimal(plain.replace(" × 10", "e"))


@given(value=DIFFERENCES, lines=lists(DIFFERENCES, max_size=3))
def test_a_rounded_number_stays_on_its_side_of_every_line(value: float, lines: list[float]) -> None:
    """What lies above θ, a margin or zero is printed above it, what lies below is printed below."""
    shown = read(format_number(value, against=lines))

    for line in (0.0, *lines):
        if abs(value - line) > SLACK and all(abs(value - other) > SLACK for other in (0.0, *lines)):
            exact = Decimal(repr(line))
            assert (shown > exact) == (value > line)
            assert (shown < exact) == (value < line)


@given(theta=SHARES, nudge=floats(min_value=2e-12, max_value=1e-4))
def test_a_number_just_beyond_theta_is_not_printed_as_theta(theta: float, nudge: float) -> None:
    """The closest of calls is still seen as a call."""
    beyond = theta + nudge

    assert read(format_number(beyond, against=(theta,))) > read(format_exact(theta))


@given(value=floats(min_value=-1e9, max_value=1e9))
def test_rounding_is_close(value: float) -> None:
    """What is printed is no farther from the number than half of its third decimal."""
    shown = read(format_number(value))

    assert abs(shown - Decimal(repr(value))) <= Decimal("0.0005001")


@given(value=floats(allow_nan=False, allow_infinity=False))
def test_exact_numbers_read_back(value: float) -> None:
    """θ, δ and ε are printed with every digit that was written."""
    shown = read(format_exact(value))

    assert float(shown) == value or float(shown) == pytest.approx(value, rel=1e-15)


@given(value=DIFFERENCES)
def test_a_sign_is_printed_exactly_when_there_is_one(value: float) -> None:
    """Plus above zero, a true minus below, none at zero; never a hyphen and never minus zero."""
    text = format_signed(value)

    assert "-" not in text
    assert text.startswith("+") == (value > SLACK)
    assert text.startswith("−") == (value < -SLACK)


@pytest.mark.parametrize(
    ("value", "against", "expected"),
    [
        (0.25, (0.1,), "0.250"),
        (-0.0, (), "0.000"),
        (0.1, (0.1,), "0.100"),
        (0.1 + 1e-13, (0.1,), "0.100"),
        (0.10004, (0.1,), "0.10004"),
        (0.09996, (0.1,), "0.09996"),
        (0.9996, (1.0,), "0.9996"),
        (-0.0004, (), "−0.0004"),
        (1e-9, (), "1.00 × 10⁻⁹"),
        (12.3456, (), "12.346"),
    ],
)
def test_known_numbers(value: float, against: tuple[float, ...], expected: str) -> None:
    """The cases that a reader would doubt first."""
    assert format_number(value, against=against) == expected


def test_what_is_no_number_is_refused() -> None:
    """NaN is never printed as if it were a result."""
    with pytest.raises(ValueError, match="cannot be shown"):
        format_number(float("nan"))


@given(share=SHARES)
def test_per_cent_says_nothing_and_all_only_when_it_is_so(share: float) -> None:
    """0 % and 100 % are kept for none and all."""
    text = format_percent(share)

    assert (text == "0 %") == (share == 0)
    assert (text == "100 %") == (share == 1)


@given(number=integers(min_value=0, max_value=10**12))
def test_counts_read_back(number: int) -> None:
    """Grouping loses no digit."""
    assert int(format_count(number).replace("\u202f", "")) == number


def test_levels_and_probabilities() -> None:
    """A level keeps its digits, and no p-value is zero."""
    assert format_level(0.95) == "95 %"
    assert format_level(0.975) == "97.5 %"
    assert format_probability(0.0) == "p < 0.001"
    assert format_probability(0.04) == "p = 0.040"


@given(low=DIFFERENCES, high=DIFFERENCES, theta=DIFFERENCES)
def test_an_interval_keeps_its_sides_and_its_order(low: float, high: float, theta: float) -> None:
    """An interval that excludes θ or zero is printed as excluding it, and its ends are never swapped."""
    low, high = sorted((low, high))
    ends = [read(end) for end in format_range(low, high, against=(theta,)).strip("[]").split(", ")]

    assert ends[0] <= ends[1]
    for line in (0.0, theta):
        if low - line > SLACK and low > SLACK:
            assert ends[0] > Decimal(repr(line))


def test_both_ends_have_the_same_decimals() -> None:
    """What one end needs to stay clear of a line, the other shows too."""
    assert format_range(0.10001, 0.10007, against=(0.1,)) == "[0.10001, 0.10007]"
    assert format_range(-0.2, 0.05, signed=True) == "[−0.200, +0.050]"


def test_one_of_a_thing_is_no_plural() -> None:
    """1 call, and 0 or 1,204 calls."""
    assert [format_items(number, "call") for number in (0, 1, 1204)] == ["0 calls", "1 call", "1,204 calls"]
