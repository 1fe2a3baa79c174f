"""Numbers in sentences: few decimals, and as many as keep the sentence true."""

import pytest

from registry.report.number_format import Unit, join, share

SHARE = Unit(low=0.0, high=1.0)


@pytest.mark.parametrize(
    ("value", "cuts", "written"),
    [
        (0.25, (), "25.0 %"),
        (0.0999, (0.1,), "9.99 %"),
        (0.0999999, (0.1,), "9.99999 %"),
        (0.1000001, (0.1,), "10.00001 %"),
        (0.1, (0.1,), "10.0 %"),
        (0.1 + 1e-14, (0.1,), "10.0 %"),
        (-0.0000001, (), "0.0 %"),
        (-0.0000001, (0.0,), "−0.00001 %"),
        (1.0, (), "100.0 %"),
    ],
)
def test_a_score_keeps_its_side(value: float, cuts: tuple[float, ...], written: str) -> None:
    """Decimals grow until the number stands on its side of every cut; what equals the cut may be written like it."""
    assert SHARE.score(value, *cuts) == written


@pytest.mark.parametrize(("width", "written"), [(0.1, "0.0123"), (1.5, "0.01"), (100.0, "0.0"), (5000.0, "0")])
def test_a_score_of_another_range_is_a_plain_number(width: float, written: str) -> None:
    """Decimals follow the width of the range."""
    assert Unit(low=0.0, high=width).score(0.0123456) == written


def test_a_bound_is_rounded_to_the_side_on_which_it_holds() -> None:
    """`at least 12.4 %` would be false of 12.36 %; what is round already stays."""
    assert (SHARE.at_least(0.1236), SHARE.at_most(0.4012)) == ("12.3 %", "40.2 %")
    assert (SHARE.at_least(0.1 + 0.2), SHARE.at_most(0.1 + 0.2)) == ("30.0 %", "30.0 %")
    assert (Unit(low=-1.0, high=1.0).at_least(-0.1236), Unit(low=1.0, high=5.0).at_most(4.321)) == ("−0.13", "4.33")


def test_a_range_is_rounded_inwards_and_never_to_nothing() -> None:
    """Every number in the printed range lies in the range itself."""
    assert SHARE.within(0.05, 0.1236) == ("5.0 %", "12.3 %")
    assert SHARE.within(0.05012, 0.05034) == ("5.02 %", "5.03 %")


def test_a_chosen_number_keeps_all_its_digits() -> None:
    """θ and δ are written as they were given."""
    assert SHARE.given(0.1) == "10 %"
    assert SHARE.given(0.0001234) == "0.01234 %"
    assert SHARE.given(0.0) == "0 %"
    assert SHARE.given_difference(0.05) == "5 percentage points"
    assert Unit(low=1.0, high=5.0).given(2.5) == "2.5"


def test_an_interval_of_differences_names_its_unit_once() -> None:
    """With the typographic minus."""
    assert SHARE.differences(-0.357, -0.0098, 0.0) == "−35.7 to −1.0 percentage points"


def test_a_level_is_written_without_noise() -> None:
    """1 − 0.05/2 is 97.5 %."""
    assert share(1 - (1 - 0.95) / 2) == "97.5 %"


def test_any_finite_number_can_be_written() -> None:
    """Also one with more digits than a decimal has by default."""
    assert Unit(low=0.0, high=1e40).score(1e30) == "1" + "0" * 30
    assert share(1e40).startswith("1")


def test_joined_sentences_stand_once() -> None:
    """Empty ones are left out."""
    assert join(["A.", "", "B.", "A."]) == "A. B."
