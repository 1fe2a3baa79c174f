"""What comes out where there is little or nothing to estimate from."""

import math

import numpy as np
import pytest

from audit.modules.differential_estimate import estimate
from audit.statistics.mean_intervals import task_correlation
from audit.statistics.responses import ScoreTable, TableFile, TextColumn
from audit.statistics.side_moments import Moments, SideMoments
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import SpecEstimate
from tests.statistics.tables import build_crossed, build_table

CONTEXTS = [ContextDesign.RANDOM, ContextDesign.FIXED]


def only(test: np.ndarray, deploy: np.ndarray, contexts: ContextDesign = ContextDesign.RANDOM) -> SpecEstimate:
    return estimate(build_crossed(test, deploy), Plan(contexts=contexts, replicates=0), range_=(0, 1)).specs[0]


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("level", [0.0, 1.0, 0.5])
def test_no_variance_is_no_certainty(level: float, contexts: ContextDesign) -> None:
    """All scores alike on both sides: intervals as wide as 20 tasks deserve, no p, no detectable ED."""
    block = np.full((20, 5, 3), level)

    spec = only(block, block, contexts)

    assert spec.phi_test.low is not None
    assert spec.phi_test.high is not None
    assert spec.phi_test.high - spec.phi_test.low > 0.16
    assert spec.ed.low is not None
    assert spec.ed.high is not None
    assert spec.ed.low < -0.1
    assert spec.ed.high > 0.1
    assert (spec.equivalence.p, spec.minimum_detectable_ed, spec.p_ed) == (None, None, None)
    assert (spec.undefined or "").startswith("no variance")
    assert spec.ned.value == 0


def test_none_of_twenty_tasks_leaves_room_for_one_in_six() -> None:
    """0 of 20 tasks: [0, 0.168], however many samples."""
    block = np.zeros((20, 5, 10))

    phi = only(block, block).phi_test

    assert (phi.low, phi.high) == pytest.approx((0, 0.1684335), abs=1e-6)


def test_all_of_twenty_tasks_is_the_mirror_image() -> None:
    """20 of 20 tasks: [0.832, 1]."""
    block = np.ones((20, 5, 10))

    phi = only(block, block).phi_deploy

    assert (phi.low, phi.high) == pytest.approx((1 - 0.1684335, 1), abs=1e-6)


def test_opposite_certainties_are_normalised_by_epsilon_and_marked() -> None:
    """1 everywhere in test and 0 in deployment: ED 1, nED = ED/ε as the paper defines it, the interval still short of certainty."""
    spec = only(np.ones((20, 5)), np.zeros((20, 5)))

    assert spec.ed.value == 1
    assert spec.ned.value == pytest.approx(100)
    assert spec.ned.reason == "both sides deterministic: ED/ε"
    # Nothing says how the sides vary together, so MOVER takes the worst: correlation −1.
    assert spec.ed.low == pytest.approx(1 - 0.1684335 * 2, abs=1e-6)
    assert spec.ed.high == 1


def test_one_task_has_no_interval_and_says_why() -> None:
    """Nothing says how tasks vary, whatever contexts are."""
    rng = np.random.default_rng(3)

    for contexts in CONTEXTS:
        spec = only(rng.random((1, 6, 4)), rng.random((1, 6, 4)), contexts)

        assert (spec.ed.low, spec.ed.high, spec.phi_test.low, spec.phi_deploy.high) == (None, None, None, None)
        assert spec.ed.reason is not None
        assert "one task" in spec.ed.reason
        assert spec.phi_test.reason == spec.ed.reason
        assert not spec.equivalence.equivalent


def test_one_random_context_takes_the_interval_of_its_side_and_of_the_differential() -> None:
    """The other side keeps its own; with fixed contexts all are there."""
    rng = np.random.default_rng(3)
    test, deploy = rng.random((30, 6)), rng.random((30, 1))

    spec = only(test, deploy)

    assert spec.phi_test.low is not None
    assert spec.phi_deploy.low is None
    assert spec.ed.low is None
    assert spec.ed.reason is not None
    assert "deployment" in spec.ed.reason
    assert only(test, deploy, ContextDesign.FIXED).ed.low is not None


def test_two_contexts_are_nearly_vacuous() -> None:
    """12.7 standard errors: the interval is there and says little."""
    rng = np.random.default_rng(8)
    effect = np.array([0.2, -0.2])
    test, deploy = (np.clip(rng.random((40, 2)) * 0.2 + 0.4 + effect, 0, 1) for _ in range(2))

    spec = only(test, deploy)

    assert spec.ed.low is not None
    assert spec.ed.high is not None
    assert spec.ed.high - spec.ed.low > 1.5


def test_one_response_a_side_has_a_point_and_nothing_else() -> None:
    """Two responses in all: means, ED, and every other number None with its reason."""
    spec = only(np.ones((1, 1)), np.zeros((1, 1)))

    assert (spec.ed.value, spec.ed.low, spec.sigma_pool, spec.ned.value) == (1, None, None, None)
    assert spec.ned.reason is not None
    assert "fewer than two" in spec.ned.reason


def test_a_million_responses_to_one_task_are_one_task() -> None:
    """Size does not replace tasks."""
    rng = np.random.default_rng(1)
    size = 1_000_000
    none, zero = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
    table = ScoreTable(
        task=TextColumn(codes=zero, labels=("only",)),
        arm=TextColumn(codes=(np.arange(size) % 2).astype(np.int32), labels=("deploy", "test")),
        context=TextColumn(codes=(np.arange(size) // 2 % 10).astype(np.int32), labels=tuple("0123456789")),
        spec=TextColumn(codes=none, labels=()),
        sample=TextColumn(codes=zero, labels=("0",)),
        excluded=TextColumn(codes=none, labels=()),
        score=rng.random(size),
        low=0.0,
        high=1.0,
        files=(TableFile(name="big", sha256="0" * 64, rows=size),),
    )

    result = estimate(table, Plan(replicates=0), range_=(0, 1))

    assert result.specs[0].ed.low is None
    assert "one-task" in [warning.code for warning in result.warnings]
    assert result.specs[0].phi_test.value == pytest.approx(float(table.score[1::2].mean()), abs=1e-12)


def test_a_wide_sparse_grid_is_counted_by_its_cells() -> None:
    """4,000 tasks with contexts of their own would be 48 million cells; only those present are held."""
    rows = [
        (f"t{task}", arm, f"c{task}-{arm}-{context}", "0", float((task + context) % 2))
        for task in range(4000)
        for arm in ("test", "deploy")
        for context in range(2)
    ]

    spec = estimate(build_table(rows), Plan(contexts=ContextDesign.NESTED, replicates=0), range_=(0, 1)).specs[0]

    assert (spec.n.tasks, spec.n.contexts_test, spec.ed.value) == (4000, 8000, 0)


def test_sides_that_cannot_be_compared_are_taken_as_uncorrelated() -> None:
    """Without a covariance the correlation is 0, which widens."""
    side = SideMoments(mean=0.5, tasks=1, contexts=5, responses=5, task_variance=None, context_variance=0.1)

    moments = Moments(test=side, deploy=side, random=True, binary=False, difference_variance=None, covariance=None)

    assert task_correlation(moments) == 0


def test_a_side_without_variance_is_uncorrelated_whatever_rounding_leaves() -> None:
    """A variance that counts as none gives no correlation: only noise of the arithmetic would speak in it."""
    noise, real = 1e-34, 1e-3
    test = SideMoments(mean=0.1, tasks=20, contexts=5, responses=100, task_variance=noise, context_variance=0.0)
    deploy = SideMoments(mean=0.5, tasks=20, contexts=5, responses=100, task_variance=real, context_variance=0.0)
    moments = Moments(
        test=test, deploy=deploy, random=True, binary=False, difference_variance=real, covariance=0.9 * math.sqrt(noise * real)
    )

    assert task_correlation(moments) == 0.0
