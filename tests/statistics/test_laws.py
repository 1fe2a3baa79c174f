"""What must stay the same, and what must turn, when a table is changed."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audit.modules.differential_estimate import estimate
from audit.statistics.responses import Floats, sum_groups, sum_many
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import SpecEstimate
from tests.examples import scale
from tests.statistics.tables import build_crossed, build_table, list_rows

SHAPES = st.tuples(st.integers(2, 12), st.integers(2, 7), st.integers(1, 3))
BLOCKS = SHAPES.flatmap(
    lambda shape: st.tuples(*[arrays(np.float64, shape, elements=st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)))] * 2)
)
DESIGNS = st.sampled_from([ContextDesign.RANDOM, ContextDesign.FIXED])


def only(test: Floats, deploy: Floats, contexts: ContextDesign = ContextDesign.RANDOM) -> SpecEstimate:
    return estimate(build_crossed(test, deploy), Plan(contexts=contexts, replicates=0), range_=(0, 1)).specs[0]


def ends(spec: SpecEstimate) -> tuple[float, float]:
    assert spec.ed.low is not None
    assert spec.ed.high is not None
    return spec.ed.low, spec.ed.high


@given(blocks=BLOCKS, contexts=DESIGNS)
@settings(max_examples=scale(60), deadline=None)
def test_every_interval_holds_its_point_and_lies_in_the_range(blocks: tuple[Floats, Floats], contexts: ContextDesign) -> None:
    """And none has zero width."""
    spec = only(*blocks, contexts)

    for bounded, floor in ((spec.phi_test, 0), (spec.phi_deploy, 0), (spec.ed, -1)):
        assert bounded.low is not None
        assert bounded.high is not None
        assert floor <= bounded.low <= bounded.value <= bounded.high <= 1
        assert bounded.low < bounded.high


@given(blocks=BLOCKS, contexts=DESIGNS)
@settings(max_examples=scale(60), deadline=None)
def test_swapping_the_sides_mirrors_the_interval(blocks: tuple[Floats, Floats], contexts: ContextDesign) -> None:
    """ED changes its sign, its interval turns over, p and detectable ED stay."""
    there, back = only(*blocks, contexts), only(blocks[1], blocks[0], contexts)

    assert back.ed.value == -there.ed.value
    assert ends(back) == pytest.approx((-ends(there)[1], -ends(there)[0]), abs=1e-12)
    assert (back.p_ed, back.equivalence.p, back.minimum_detectable_ed) == (there.p_ed, there.equivalence.p, there.minimum_detectable_ed)


@given(blocks=BLOCKS, contexts=DESIGNS, seed=st.integers(0, 1000))
@settings(max_examples=scale(60), deadline=None)
def test_names_and_order_of_rows_do_not_matter_to_the_last_bit(blocks: tuple[Floats, Floats], contexts: ContextDesign, seed: int) -> None:
    """Shuffled rows under other names of tasks, contexts and samples give an equal record."""
    shuffle = random.Random(seed)
    rows = list_rows(*blocks)
    renamed = {
        kind: {name: f"n{shuffle.random()}" for name in {row[place] for row in rows}} for kind, place in (("t", 0), ("c", 2), ("s", 3))
    }
    other = [(renamed["t"][task], arm, renamed["c"][context], renamed["s"][sample], score) for task, arm, context, sample, score in rows]
    shuffle.shuffle(other)
    plan = Plan(contexts=contexts, replicates=0)

    first, second = (estimate(build_table(each), plan, range_=(0, 1)) for each in (other, rows))
    # Fixed contexts are named in the record; the names are all that may differ.
    nameless = (replace(one, specs=tuple(replace(spec, fixed_contexts=()) for spec in one.specs)) for one in (first, second))
    assert next(nameless) == next(nameless)


@given(blocks=BLOCKS, shift=st.floats(-5, 5), width=st.floats(0.01, 100))
@settings(max_examples=scale(60), deadline=None)
def test_another_range_scales_what_it_measures(blocks: tuple[Floats, Floats], shift: float, width: float) -> None:
    """Scores a + w·s in [a, a + w]: ED, intervals and deviation times w, nED and p as they were."""
    plain = only(*blocks)
    high = shift + width
    table = build_crossed(*(np.clip(shift + width * block, shift, high) for block in blocks), low=shift, high=high)

    scaled = estimate(table, Plan(replicates=0), range_=(shift, high)).specs[0]

    # Subtracting the shift again leaves its rounding, which a small width magnifies; scores at an end stay at an end.
    slack = 1e-6 * max(1.0, width)
    assert scaled.ed.value == pytest.approx(width * plain.ed.value, abs=slack)
    assert scaled.sigma_pool == pytest.approx(width * (plain.sigma_pool or 0), abs=slack)
    assert scaled.phi_test.value == pytest.approx(shift + width * plain.phi_test.value, abs=slack)


def test_another_range_scales_the_interval() -> None:
    """A judged score from 1 to 5, compared with the same in [0, 1]."""
    rng = np.random.default_rng(11)
    test, deploy = (rng.integers(0, 5, (25, 6, 2)) / 4 for _ in range(2))
    plain = only(test, deploy)

    scaled = estimate(build_crossed(1 + 4 * test, 1 + 4 * deploy, low=1, high=5), Plan(replicates=0), range_=(1, 5)).specs[0]

    assert ends(scaled) == pytest.approx([4 * end for end in ends(plain)], abs=1e-12)
    assert scaled.ned.value == pytest.approx(plain.ned.value, rel=1e-12)
    assert scaled.p_ed == pytest.approx(plain.p_ed, rel=1e-9)


@given(blocks=BLOCKS, constant=st.floats(0, 0.5))
@settings(max_examples=scale(40), deadline=None)
def test_a_constant_added_to_every_score_changes_no_differential(blocks: tuple[Floats, Floats], constant: float) -> None:
    """Point and standard error are those of before; the exact limits know where in the range they lie and may differ."""
    test, deploy = (block / 2 for block in blocks)

    before, after = only(test, deploy), only(test + constant, deploy + constant)

    assert after.ed.value == pytest.approx(before.ed.value, abs=1e-12)
    assert after.sigma_pool == pytest.approx(before.sigma_pool, abs=1e-12)
    if before.minimum_detectable_ed is not None and before.minimum_detectable_ed > 1e-6:
        assert after.minimum_detectable_ed == pytest.approx(before.minimum_detectable_ed, rel=1e-6)


@given(blocks=BLOCKS, contexts=DESIGNS)
@settings(max_examples=scale(40), deadline=None)
def test_copies_of_every_sample_are_no_evidence(blocks: tuple[Floats, Floats], contexts: ContextDesign) -> None:
    """Each response twice: the same point and standard error. Only nED's n − 1 may tell."""
    test, deploy = (np.concatenate([block, block], axis=2) for block in blocks)

    once, twice = only(*blocks, contexts), only(test, deploy, contexts)

    assert twice.ed.value == pytest.approx(once.ed.value, abs=1e-12)
    if once.minimum_detectable_ed is not None and once.minimum_detectable_ed > 1e-6:
        assert twice.minimum_detectable_ed == pytest.approx(once.minimum_detectable_ed, rel=1e-6)


@given(blocks=BLOCKS, level=st.floats(0.5, 0.99))
@settings(max_examples=scale(40), deadline=None)
def test_equivalence_follows_from_the_interval_and_implies_a_small_p(blocks: tuple[Floats, Floats], level: float) -> None:
    """`equivalent` is the interval within ±margin, so that p is at most (1 − level)/2; p = 1/2 where |ED| is the margin."""
    table = build_crossed(*blocks)
    wide = ends(estimate(table, Plan(level=level, replicates=0), range_=(0, 1)).specs[0])
    margin = max(abs(end) for end in wide)
    # An interval cut at the end of what is possible says nothing about the margin.
    assume(margin < 1)

    within = estimate(table, Plan(replicates=0, level=level, margin=margin), range_=(0, 1)).specs[0]
    beyond = estimate(table, Plan(replicates=0, level=level, margin=margin * 0.999), range_=(0, 1)).specs[0]

    assert within.equivalence.equivalent
    assert not beyond.equivalence.equivalent
    assert within.equivalence.p is None or within.equivalence.p <= (1 - level) / 2 + 1e-9


@given(values=st.lists(st.floats(-1, 1), min_size=1, max_size=60), seed=st.integers(0, 100))
def test_sums_do_not_know_the_order(values: list[float], seed: int) -> None:
    """Shuffled values have the same bits as sum, which is right to 2⁻⁵³ a value."""
    shuffled = list(values)
    random.Random(seed).shuffle(shuffled)
    groups = np.zeros(len(values), dtype=np.int32)

    sums = [sum_groups(np.array(order), groups, size=2).tolist() for order in (values, shuffled)]

    assert sums[0] == sums[1]
    assert sums[0][0] == pytest.approx(sum(values), abs=len(values) * 2.0**-50)
    assert sums[0][1] == 0
    assert sum_many(np.array(values)) == sum_many(np.array(shuffled))
