"""What would resolve a verdict: how often a new replay of a size would be enough."""

import numpy as np
import pytest

from audit.modules.differential_estimate import estimate
from audit.statistics.design_remarks import LIKELY, PresentPrecision, find_likely_half_width, find_present, predict_chance
from audit.verdict.verdict_phrases import describe_chance
from registry.records.analysis_plan import Plan
from tests.statistics.tables import build_crossed


def test_the_size_that_suffices_at_the_present_point_suffices_about_half_the_time() -> None:
    """The new point falls nearer to the limit as often as further away, and now and then beyond it on the other side."""
    present = PresentPrecision(point=0.3, error=0.01, df=30)

    assert 0.5 <= predict_chance(present, [0.4], half_width=0.1) < 0.55


def test_the_chance_is_that_of_simulated_replays() -> None:
    """A truth about the present point, a new point about the truth: the share whose interval leaves out both limits."""
    present, limits, half_width = PresentPrecision(point=0.02, error=0.03, df=8), (-0.05, 0.05), 0.02
    rng = np.random.default_rng(9)
    truth = 0.02 + 0.03 * rng.standard_t(8, 100_000)
    point = truth + half_width / 2 * rng.standard_normal(100_000)
    inside = np.abs(point) < 0.05 - half_width
    beyond = np.abs(point) > 0.05 + half_width

    assert predict_chance(present, limits, half_width=half_width) == pytest.approx(float(np.mean(inside | beyond)), abs=0.015)


def test_the_likely_size_has_the_chance_it_is_named_for() -> None:
    """It is smaller than the distance to the limit, and resolves two replays in three."""
    present = PresentPrecision(point=0.3, error=0.08, df=12)
    half_width = find_likely_half_width(present, [0.4])

    assert half_width is not None
    assert half_width < 0.1
    assert predict_chance(present, [0.4], half_width=half_width) == pytest.approx(LIKELY, abs=0.01)


def test_a_limit_at_the_point_promises_nothing() -> None:
    """No half-width leaves out the point itself often enough to be worth naming, where the present error is tiny."""
    assert find_likely_half_width(PresentPrecision(point=0.3, error=1e-6, df=12), [0.3]) is None


def test_the_present_error_is_that_of_the_record() -> None:
    """In the unit of the score; None where there is no variance."""
    rng = np.random.default_rng(4)
    block = rng.random((24, 6))
    unit, wide = (
        estimate(build_crossed(top * block, top * block[::-1], high=top), Plan(replicates=0), range_=(0, top)) for top in (1.0, 10.0)
    )
    small, large = (find_present(result, result.specs[0], difference=True) for result in (unit, wide))
    flat = estimate(build_crossed(np.ones((24, 6)), np.ones((24, 6))), Plan(replicates=0), range_=(0, 1))

    assert small is not None
    assert large is not None
    assert large.error == pytest.approx(10 * small.error)
    assert find_present(flat, flat.specs[0], difference=True) is None


@pytest.mark.parametrize(("share", "words"), [(0.52, "one replay in two"), (0.66, "two replays in three"), (0.97, "nine replays in ten")])
def test_a_chance_is_told_in_simple_fractions(share: float, words: str) -> None:
    """The nearest of a few, and never a certainty."""
    assert describe_chance(share) == words
