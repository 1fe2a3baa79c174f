"""The contrast station: differences are ED, sums are made from the same parts, ratios invert, and nothing is said that does not exist."""

import math
import random

import numpy as np
import pytest
import statsmodels.api as sm  # type: ignore[import-untyped]  # it ships no types
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.modules.arm_contrasts import contrast, name_contrast
from audit.modules.differential_estimate import estimate
from audit.records.contrast_result import ContrastRequest
from audit.statistics.contrast_intervals import compute_arms, find_tasks_of_all
from audit.statistics.mean_intervals import difference_interval
from audit.statistics.side_moments import build_cells
from registry.records.analysis_plan import ContextDesign, Plan
from tests.examples import scale
from tests.statistics.arms import ALL, DIFFERENCE, DOUBLE, MITIGATION, RATIO, ask, ends, make_rows, only
from tests.statistics.tables import Row, build_table

DESIGNS = st.sampled_from([ContextDesign.RANDOM, ContextDesign.FIXED])


@given(seed=st.integers(0, 1000), contexts=DESIGNS, lost=st.sampled_from([0.0, 0.3]))
@settings(max_examples=scale(15), deadline=None)
def test_a_difference_is_estimated_exactly_like_ed(seed: int, contexts: ContextDesign, lost: float) -> None:
    """To the last bit: value, interval, p, method, pooled value, bounds under exclusions, equivalence."""
    rows = make_rows(seed, arms="AB", lost=lost)
    table = build_table(rows)

    ours = only(rows, DIFFERENCE, "B", "A", contexts=contexts)

    theirs = estimate(table, Plan(contexts=contexts, replicates=0), range_=(0, 1), test="B", deploy="A").specs[0]
    assert (ours.measure.value, *ends(ours)) == (theirs.ed.value, theirs.ed.low, theirs.ed.high)
    assert (ours.p, ours.method, ours.tasks) == (theirs.p_ed, theirs.ed.method, theirs.n.tasks)
    assert ours.pooled == (None if theirs.pooled_ed is None else pytest.approx(theirs.pooled_ed, abs=1e-12))
    assert ours.within_margin == theirs.equivalence.equivalent
    assert (ours.under_exclusions is None) == (lost == 0)
    assert ours.under_exclusions in (None, theirs.ed_under_exclusions)


def test_a_difference_in_differences_is_the_t_test_of_double_differences() -> None:
    """Fixed contexts: the point, its ± h and p are scipy's and statsmodels' one-sample t on the tasks' double differences."""
    rows = make_rows(5)
    means = {arm: np.array([np.mean([r[4] for r in rows if r[1] == arm and r[0] == f"t{i:02}"]) for i in range(24)]) for arm in "ABDE"}
    double = (means["B"] - means["A"]) - (means["D"] - means["E"])

    found = only(rows, DOUBLE, "B", "A", "D", "E", contexts=ContextDesign.FIXED)

    theirs = stats.ttest_1samp(double, 0)
    assert found.measure.value == pytest.approx(double.mean(), abs=1e-12)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found.paired_t is not None
    assert (found.paired_t.statistic, found.paired_t.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    # The same from least squares: double differences on a constant.
    fitted = sm.OLS(double, np.ones(24)).fit()
    low, high = fitted.conf_int()[0]
    assert ends(found)[0] <= low + 1e-12
    assert high - 1e-12 <= ends(found)[1]
    assert ends(found) == pytest.approx((low, high), abs=0.25 * (high - low))


@given(seed=st.integers(0, 1000))
@settings(max_examples=scale(15), deadline=None)
def test_random_contexts_of_all_four_arms_are_in_the_variance(seed: int) -> None:
    """V is that of the tasks' double differences and of the context means of each arm, less each arm's residual mean square."""
    rows = make_rows(seed)
    cube = {arm: np.zeros((24, 6)) for arm in "ABDE"}
    for task, arm, context, _, score in rows:
        cube[arm][int(task[1:]), int(context[1:])] += (score or 0) / 2
    double = cube["B"].mean(1) - cube["A"].mean(1) - cube["D"].mean(1) + cube["E"].mean(1)
    parts = [double.var(ddof=1) / 24, *(block.mean(0).var(ddof=1) / 6 for block in cube.values())]
    rests = [block - block.mean(1, keepdims=True) - block.mean(0) + block.mean() for block in cube.values()]
    parts += [-(rest**2).sum() / (23 * 5) / (24 * 6) for rest in rests]
    variance = max(sum(parts), *parts)
    df = variance**2 / sum(part**2 / n for part, n in zip(parts, (23, 5, 5, 5, 5, 115, 115, 115, 115), strict=True))

    found = only(rows, DOUBLE, "B", "A", "D", "E")

    assert found.p == pytest.approx(2 * stats.t.sf(abs(double.mean()) / math.sqrt(variance), df), rel=1e-6)


@given(seed=st.integers(0, 1000), contexts=DESIGNS)
@settings(max_examples=scale(15), deadline=None)
def test_a_shared_arm_counts_once(seed: int, contexts: ContextDesign) -> None:
    """(B − A) − (D − A) is B − D, to the last bit of its interval and to rounding of its p."""
    rows = make_rows(seed)

    double, plain = only(rows, DOUBLE, "B", "A", "D", "A", contexts=contexts), only(rows, DIFFERENCE, "B", "D", contexts=contexts)

    assert double.measure.value == pytest.approx(plain.measure.value, abs=1e-12)
    assert ends(double) == ends(plain)
    assert double.p == pytest.approx(plain.p, rel=1e-6)


@given(seed=st.integers(0, 1000), contexts=DESIGNS)
@settings(max_examples=scale(15), deadline=None)
def test_swapped_arms_turn_the_sign(seed: int, contexts: ContextDesign) -> None:
    """Differences and double differences mirror; a ratio becomes its reciprocal; p stays."""
    rows = make_rows(seed)

    for kind, there, back in ((DIFFERENCE, "BA", "AB"), (DOUBLE, "BADE", "ABED"), (DOUBLE, "BADE", "DEBA")):
        first, second = only(rows, kind, *there, contexts=contexts), only(rows, kind, *back, contexts=contexts)
        assert second.measure.value == pytest.approx(-(first.measure.value or 0), abs=1e-12)
        assert ends(second) == pytest.approx((-ends(first)[1], -ends(first)[0]), abs=1e-9)
        assert second.p == pytest.approx(first.p, rel=1e-6)
    ratio, reciprocal = only(rows, RATIO, "B", "A", contexts=contexts), only(rows, RATIO, "A", "B", contexts=contexts)
    assert ends(reciprocal) == pytest.approx((1 / ends(ratio)[1], 1 / ends(ratio)[0]), rel=1e-6)


@given(seed=st.integers(0, 1000), contexts=DESIGNS, shift=st.floats(-3, 3), width=st.sampled_from([0.01, 4.0, 1000.0]))
@settings(max_examples=scale(15), deadline=None)
def test_another_range_scales_what_has_a_unit(seed: int, contexts: ContextDesign, shift: float, width: float) -> None:
    """Scores a + w·s in [a, a + w]: differences times w, mitigation, p and d as they were."""
    rows = make_rows(seed)
    high = shift + width
    other = [(task, arm, context, sample, min(high, shift + width * (score or 0))) for task, arm, context, sample, score in rows]
    asked = (ALL[0], ALL[1], ALL[3])

    plain = ask(rows, *asked, contexts=contexts).contrasts
    scaled = contrast(build_table(other, low=shift, high=high), Plan(contexts=contexts), asked, range_=(shift, high)).contrasts

    for one, two in zip(plain, scaled, strict=True):
        unit = 1 if one.kind is MITIGATION else width
        assert (two.measure.value, *ends(two)) == pytest.approx(
            [unit * end for end in (one.measure.value or 0.0, *ends(one))], rel=1e-5, abs=1e-8 * unit
        )
        assert two.p == pytest.approx(one.p, rel=1e-4)


@given(seed=st.integers(0, 1000), contexts=DESIGNS)
@settings(max_examples=scale(10), deadline=None)
def test_order_of_rows_and_names_of_samples_change_no_bit(seed: int, contexts: ContextDesign) -> None:
    """Shuffled rows under other names of contexts and samples give equal contrasts."""
    shuffle = random.Random(seed)
    rows = make_rows(seed, lost=0.1)
    other = [(task, arm, f"x{context}", f"s{sample}", score) for task, arm, context, sample, score in rows]
    shuffle.shuffle(other)

    there, back = ask(rows, contexts=contexts, pointwise=True), ask(other, contexts=contexts, pointwise=True)

    assert back.contrasts == there.contrasts
    assert back.warnings == there.warnings


def test_a_ratio_puts_its_limits_where_the_difference_could_be_zero() -> None:
    """At each end r, B − r A has p ≥ α: the hull is never shorter than Fieller's interval by scipy on the tasks."""
    rows = make_rows(11)
    means = {arm: np.array([np.mean([r[4] for r in rows if r[1] == arm and r[0] == f"t{i:02}"]) for i in range(24)]) for arm in "AB"}

    found = only(rows, RATIO, "B", "A", contexts=ContextDesign.FIXED)

    assert found.measure.value == pytest.approx(means["B"].mean() / means["A"].mean(), rel=1e-12)
    ps = [stats.ttest_1samp(means["B"] - end * means["A"], 0).pvalue for end in ends(found)]
    assert max(ps) <= 0.05 + 1e-6
    assert found.p == pytest.approx(stats.ttest_rel(means["B"], means["A"]).pvalue, rel=1e-6)
    assert found.null == 1
    assert (found.paired_t, found.wilcoxon, found.cohens_d) == (None, None, None)


def test_a_mitigation_is_one_minus_a_ratio_of_means_of_differences() -> None:
    """With the matching baseline: 1 − (D − E)/(B − A); its p is that of the difference in differences."""
    rows = make_rows(3)

    found, double = only(rows, MITIGATION, "D", "B", "A", "E"), only(rows, DOUBLE, "D", "E", "B", "A")

    mean = {one.arm: one.mean for one in ask(rows).arms}
    assert found.measure.value == pytest.approx(1 - (mean["D"] - mean["E"]) / (mean["B"] - mean["A"]), rel=1e-9)
    assert ends(found)[0] < (found.measure.value or 0) < ends(found)[1]
    assert (found.null, found.p) == (0, double.p)
    assert (found.name, found.uncorrected) == ("1 − (D − E) / (B − A)", None)


def test_a_mitigation_without_its_baseline_is_not_identified() -> None:
    """The context of D and the mitigation are mixed: no value, no p; the uncorrected ratio is there as a description."""
    rows = make_rows(3)

    found = only(rows, MITIGATION, "D", "B", "A")

    mean = {one.arm: one.mean for one in ask(rows).arms}
    assert (found.measure.value, found.measure.low, found.p, found.p_holm) == (None, None, None, None)
    assert found.measure.reason is not None
    assert found.measure.reason.startswith("not identified: no matching baseline in the context of D is named")
    assert found.reason == found.measure.reason
    assert found.uncorrected is not None
    assert found.uncorrected.value == pytest.approx(1 - (mean["D"] - mean["A"]) / (mean["B"] - mean["A"]), rel=1e-9)
    assert found.uncorrected.low is not None


def test_the_plain_baseline_matches_where_the_context_is_the_same() -> None:
    """If D was run where A was, naming A says so, and the uncorrected ratio is the answer."""
    rows = make_rows(3)

    named, unnamed = only(rows, MITIGATION, "D", "B", "A", "A"), only(rows, MITIGATION, "D", "B", "A")

    assert named.measure == unnamed.uncorrected


def test_an_effect_that_could_be_zero_identifies_no_mitigation() -> None:
    """B − A straddles 0: neither value nor p, with the reason."""
    rng = np.random.default_rng(1)
    rows: list[Row] = [(*row[:4], float(rng.random())) for row in make_rows(1)]

    found, ratio = only(rows, MITIGATION, "D", "B", "A", "E"), only(rows, DIFFERENCE, "B", "A")

    assert ends(ratio)[0] <= 0 <= ends(ratio)[1]
    assert (found.measure.value, found.p) == (None, None)
    assert found.measure.reason == "not identified: the denominator's interval contains 0"


@given(seed=st.integers(0, 100))
@settings(max_examples=scale(5), deadline=None)
def test_a_higher_level_gives_a_wider_interval(seed: int) -> None:
    """For every kind."""
    rows = make_rows(seed)

    narrow, wide = ask(rows, level=0.8).contrasts, ask(rows, level=0.99).contrasts

    for one, two in zip(narrow, wide, strict=True):
        assert two.measure.value is None or (ends(two)[0] <= ends(one)[0] and ends(one)[1] <= ends(two)[1])


def test_contrasts_are_named_by_their_formula() -> None:
    """As a reader would write them."""
    assert [name_contrast(one) for one in ALL] == ["B − A", "(B − A) − (D − E)", "B / A", "1 − (D − E) / (B − A)"]
    assert name_contrast(ContrastRequest(kind=MITIGATION, arms=("D", "B", "A"))) == "1 − (D − ?) / (B − A)"


def test_a_contrast_of_a_wrong_number_of_arms_is_none() -> None:
    """The record refuses it."""
    for kind, arms in ((DIFFERENCE, ("A",)), (DOUBLE, ("A", "B", "C")), (RATIO, ("A", "B", "C")), (MITIGATION, ("A", "B"))):
        with pytest.raises(ValueError, match="arms of a"):
            ContrastRequest(kind=kind, arms=arms)


def test_the_interval_of_a_pair_is_the_same_whichever_way_it_is_kept() -> None:
    """Moments of A − B turned round are those of B − A."""
    rng = np.random.default_rng(9)
    task = np.repeat(np.arange(12), 6).astype(np.int32)
    context = np.tile(np.arange(6), 12).astype(np.int32)
    cells = {name: build_cells(task=task, context=context, score=rng.random(72)) for name in "AB"}
    arms = compute_arms(cells, find_tasks_of_all(list(cells.values()), tasks=12), random=True, binary=False)

    there, back = (difference_interval(arms.pair(*pair), level=0.95) for pair in (("A", "B"), ("B", "A")))

    assert there is not None
    assert back is not None
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-12)
