"""Bands of the estimate: where they lie, and what there is where nothing varies."""

import math
from dataclasses import replace

import numpy as np
import pytest

from audit.modules.differential_estimate import estimate
from audit.statistics.responses import ScoreTable, TableFile, TextColumn
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Bands, Bootstrap, ScoreRange
from tests.statistics.designs import bootstrap, make_scores, make_table
from tests.statistics.tables import build_crossed, build_table

CONTEXTS = [ContextDesign.FIXED, ContextDesign.NESTED]


def all_bands(found: Bootstrap) -> list[Bands]:
    return [bands for bands in (found.ed, found.phi_test, found.phi_deploy, found.ned) if bands is not None]


def certain(found: Bootstrap | None) -> Bootstrap:
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("tasks", "binary"), [(5, True), (30, False), (220, True)])
def test_two_way_bands_are_wider_than_their_parts(tasks: int, seed: int, *, binary: bool) -> None:
    """And every band holds its point here, lies in the range, and is stretched no less than 1."""
    table = make_table(tasks=tasks, contexts=(6, 6), samples=2, binary=binary, seed=seed)
    spec = estimate(table, Plan(), range_=(0, 1)).specs[0]
    found = certain(spec.bootstrap)

    assert found.scale >= 1
    for bands, value, lowest in ((found.ed, spec.ed.value, -1), (found.phi_test, spec.phi_test.value, 0), (found.ned, spec.ned.value, -99)):
        assert bands is not None
        assert value is not None
        assert bands.reason is None
        ranges = [band for band in (bands.task, bands.context, bands.two_way) if band is not None]
        assert len(ranges) == 3
        widths = [band.high - band.low for band in ranges]
        assert widths[2] >= 0.9 * max(widths[:2])
        for band in ranges:
            assert lowest <= band.low < value < band.high


def test_bands_are_stretched_to_the_closed_form() -> None:
    """The two-way band of ED is as wide as ED ± h where the replicates are nearly normal: 2 h, to a few per cent."""
    table = make_table(tasks=60, contexts=(12, 12), samples=5, binary=False)
    found = estimate(table, Plan(), range_=(0, 1)).specs[0]
    band = certain(found.bootstrap).ed.two_way
    assert band is not None
    assert found.minimum_detectable_ed is not None

    wide = estimate(table, Plan(level=0.6), range_=(0, 1)).specs[0].minimum_detectable_ed
    assert wide is not None

    # Minimum detectable: h(level) + h(0.6); at level 0.6 it is 2 h(0.6).
    assert band.high - band.low == pytest.approx(2 * (found.minimum_detectable_ed - wide / 2), rel=0.05)


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_contexts_that_are_no_sample_have_no_bands(contexts: ContextDesign) -> None:
    """The task band alone, with the reason for the others."""
    scores = make_scores(tasks=25, contexts=(4, 4), samples=2, binary=True)
    rows = [
        (f"t{task}", arm, f"c{context}-{task if contexts is ContextDesign.NESTED else 0}", str(sample), float(score))
        for arm, block in zip(("test", "deploy"), scores, strict=True)
        for (task, context, sample), score in np.ndenumerate(block)
    ]

    found = certain(bootstrap(build_table(rows), contexts=contexts))

    for bands in all_bands(found):
        assert bands.task is not None
        assert (bands.context, bands.two_way) == (None, None)
        assert bands.reason is not None
        assert contexts.value in bands.reason


def test_nested_contexts_are_sums_by_task_as_fixed_ones_are() -> None:
    """The same scores under names of contexts that are shared, or not, have the same task bands."""
    scores = make_scores(tasks=25, contexts=(4, 4), samples=2, binary=True)
    fixed = certain(bootstrap(build_crossed(*scores), contexts=ContextDesign.FIXED))
    rows = [
        (f"t{task:05d}", arm, f"c{context}-{task}", str(sample), float(score))
        for arm, block in zip(("test", "deploy"), scores, strict=True)
        for (task, context, sample), score in np.ndenumerate(block)
    ]

    nested = certain(bootstrap(build_table(rows), contexts=ContextDesign.NESTED))

    assert nested.ed.task == fixed.ed.task
    assert nested.standard_error == fixed.standard_error


def test_one_context_on_a_side_leaves_the_task_band() -> None:
    """Nothing says how contexts vary; k is that of the tasks alone."""
    found = certain(bootstrap(make_table(tasks=25, contexts=(1, 5), samples=2, binary=True)))

    assert found.ed.task is not None
    assert (found.ed.two_way, found.phi_deploy.context) == (None, None)
    assert found.ed.reason == "one context on a side: nothing says how contexts vary"


def test_one_task_has_no_bootstrap() -> None:
    """None, however many rows."""
    assert bootstrap(make_table(tasks=1, contexts=(6, 6), samples=50, binary=True)) is None


def test_no_replicates_are_no_bootstrap() -> None:
    """And the estimate says that none were made."""
    found = estimate(make_table(tasks=20, contexts=(6, 6), samples=1, binary=True), Plan(replicates=0), range_=(0, 1))

    assert found.specs[0].bootstrap is None
    assert found.replicates == 0


@pytest.mark.parametrize("level", [0.0, 0.3, 1.0])
def test_no_variance_is_no_band(level: float) -> None:
    """All scores alike: no band of zero width, but the reason; nED is 0 in every replicate."""
    block = np.full((20, 5, 3), level)

    found = certain(bootstrap(build_crossed(block, block)))

    assert (found.standard_error, found.expected_standard_error, found.scale) == (None, 0, 1)
    for bands in all_bands(found):
        assert (bands.task, bands.context, bands.two_way) == (None, None, None)
        assert bands.reason == "the replicates do not vary, which is no certainty"


def test_a_side_without_variance_has_no_band_while_the_other_has() -> None:
    """1 everywhere in the test: Φ_test has no band, ED has that of Φ_deploy."""
    deploy = make_scores(tasks=30, contexts=(6, 6), samples=2, binary=True)[1]

    found = certain(bootstrap(build_crossed(np.ones_like(deploy), deploy)))

    assert found.phi_test.two_way is None
    assert found.phi_deploy.two_way is not None
    assert found.ed.two_way is not None
    assert found.ed.two_way.low == pytest.approx(1 - found.phi_deploy.two_way.high, abs=1e-9)


def test_tasks_that_all_agree_have_no_task_band() -> None:
    """Contexts differ, tasks do not: the context band alone, the other two where they exist."""
    block = np.tile(np.array([0.0, 0.25, 0.5, 0.75, 1.0]), (20, 1))

    found = certain(bootstrap(build_crossed(block, block[:, ::-1])))

    assert found.ed.task is None
    assert found.ed.context is not None
    assert found.ed.two_way is not None
    assert found.ed.reason == "the replicates do not vary, which is no certainty"


@pytest.mark.parametrize(("replicates", "level", "given"), [(38, 0.95, False), (39, 0.95, True), (1, 0.5, False), (3, 0.5, True)])
def test_few_replicates_give_no_band(replicates: int, level: float, *, given: bool) -> None:
    """(B + 1)(1 − level)/2 must be at least 1: 39 replicates at 95 %."""
    found = certain(bootstrap(make_table(tasks=20, contexts=(6, 6), samples=2, binary=False), replicates=replicates, level=level))

    assert (found.ed.two_way is not None) == given
    if not given:
        assert found.ed.reason == f"{replicates} replicates are too few for a band at this level"


def test_normalised_differential_that_is_not_defined_has_no_band() -> None:
    """1 in the test and 0 in deployment: nED does not exist, nor do its bands; ED does not vary."""
    found = certain(bootstrap(build_crossed(np.ones((20, 5)), np.zeros((20, 5)))))

    assert found.ned is None


def test_replicates_without_spread_lie_beyond_the_others() -> None:
    """One odd score a side: in more than 2.5 % of the replicates neither is drawn and nED* does not exist, so there is no task band."""
    test, deploy = np.ones((20, 5)), np.zeros((20, 5))
    test[3, 2], deploy[7, 1] = 0, 1

    found = certain(bootstrap(build_crossed(test, deploy)))

    assert found.ned is not None
    assert found.ned.task is None
    assert found.ned.reason is not None
    assert "not defined in too many replicates" in found.ned.reason
    assert found.ed.task is not None


def test_two_of_everything_has_bands_within_the_range() -> None:
    """Two tasks, two contexts: nearly vacuous, and no error; k is large there."""
    found = certain(bootstrap(make_table(tasks=2, contexts=(2, 2), samples=1, binary=False)))

    assert found.scale > 5
    for bands, lowest in ((found.ed, -1), (found.phi_test, 0), (found.phi_deploy, 0)):
        assert bands.two_way is not None
        assert lowest <= bands.two_way.low < bands.two_way.high <= 1


def test_contexts_without_common_tasks_leave_some_replicates_empty() -> None:
    """Each context has a task of its own: replicates in which no drawn task met a drawn context are left out."""
    rows = [(f"t{task}", arm, f"c{task}", "0", (task % 3) / 2) for arm in ("test", "deploy") for task in range(4)]

    found = certain(bootstrap(build_table(rows)))

    assert found.phi_test.two_way is not None
    assert math.isfinite(found.standard_error)


def test_a_million_rows_of_two_tasks() -> None:
    """Sums, not rows, are resampled: two tasks, five contexts, 100,000 samples a cell."""
    arm, task, context, sample = (index.ravel().astype(np.int32) for index in np.indices((2, 2, 5, 50_000)))
    none = TextColumn(codes=np.full(len(task), -1, dtype=np.int32), labels=())
    table = ScoreTable(
        task=TextColumn(codes=task, labels=("a", "b")),
        arm=TextColumn(codes=arm, labels=("deploy", "test")),
        context=TextColumn(codes=context, labels=tuple("cdefg")),
        spec=none,
        sample=TextColumn(codes=sample, labels=tuple(f"{code:06}" for code in range(50_000))),
        excluded=none,
        score=((sample + task + 3 * context * arm) % 7 < 3).astype(np.float64),
        low=0.0,
        high=1.0,
        files=(TableFile(name="made", sha256="0" * 64, rows=len(task)),),
    )

    assert certain(bootstrap(table)).ed.task is not None


def test_another_range_stretches_the_bands() -> None:
    """Scores from 1 to 5: bands of ED four times as wide, those of nED as they were."""
    test, deploy = (np.round(4 * block) / 4 for block in make_scores(tasks=25, contexts=(6, 6), samples=2, binary=False))
    plain = certain(estimate(build_crossed(test, deploy), Plan(), range_=(0, 1)).specs[0].bootstrap)

    scaled = certain(estimate(build_crossed(1 + 4 * test, 1 + 4 * deploy, low=1, high=5), Plan(), range_=(1, 5)).specs[0].bootstrap)

    assert scaled.scale == plain.scale
    assert scaled.standard_error == pytest.approx(4 * plain.standard_error)
    assert ends(scaled.ed.two_way) == pytest.approx([4 * end for end in ends(plain.ed.two_way)])
    assert ends(scaled.phi_test.two_way) == pytest.approx([1 + 4 * end for end in ends(plain.phi_test.two_way)])
    assert plain.ned is not None
    assert scaled.ned is not None
    assert ends(scaled.ned.two_way) == pytest.approx(ends(plain.ned.two_way))


def ends(band: ScoreRange | None) -> list[float]:
    assert band is not None
    return [band.low, band.high]


def test_another_seed_moves_the_bands_by_chance_alone() -> None:
    """By less than a tenth of their width; the estimate itself stays, but for the interval of nED, which is a band."""
    table = make_table(tasks=40, contexts=(6, 6), samples=2, binary=True)
    first, second = (estimate(table, Plan(seed=seed), range_=(0, 1)).specs[0] for seed in (0, 1))

    assert replace(first, bootstrap=None, ned=second.ned) == replace(second, bootstrap=None)
    bands = [ends(certain(spec.bootstrap).ed.two_way) for spec in (first, second)]
    assert bands[0] != bands[1]
    assert bands[0] == pytest.approx(bands[1], abs=0.1 * (bands[0][1] - bands[0][0]))


def test_stretched_bands_cover_where_raw_percentiles_do_not() -> None:
    """ED of 12 tasks and three contexts a side, 300 tables: the two-way band covers at least 94 %, its raw percentiles under 92 %.

    Contexts have an SD of 0.15 in the score, as have tasks, cells one of 0.05; ED is 0.2.
    """
    rng = np.random.default_rng(17)
    covered = raw = 0
    tables = 300
    for _ in range(tables):
        task = rng.normal(0, 0.15, (12, 1))
        blocks = [0.5 + shift + task + rng.normal(0, 0.15, 3) + rng.normal(0, 0.05, (12, 3)) for shift in (0.1, -0.1)]
        spec = estimate(build_crossed(*(np.clip(block, -1, 2) for block in blocks), low=-1, high=2), Plan(replicates=400), range_=(-1, 2))
        found, value = certain(spec.specs[0].bootstrap), spec.specs[0].ed.value
        low, high = ends(found.ed.two_way)
        covered += low <= 0.2 <= high
        raw += value + (low - value) / found.scale <= 0.2 <= value + (high - value) / found.scale

    assert covered >= 0.94 * tables
    assert raw < 0.92 * tables
