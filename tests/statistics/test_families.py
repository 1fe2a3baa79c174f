"""Families of tasks and templates of contexts: the clusters of every module, against another program and against copies."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.arm_contrasts import contrast
from audit.modules.cue_ablation import ablate
from audit.modules.differential_estimate import estimate
from audit.modules.score_sides import find_clusters
from audit.modules.version_shift import measure_shift
from audit.records.contrast_result import Contrast
from audit.statistics.design_remarks import resolve_difference
from audit.statistics.estimate_intervals import parse_moments, relevel
from audit.statistics.judge_correction import JudgedResponses, correct
from audit.statistics.mean_intervals import difference_interval, order_tasks
from audit.statistics.responses import Floats, ScoreTable
from audit.statistics.side_moments import Cells, Clusters, compute_moments
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import SpecEstimate
from registry.records.model_version import ModelRef
from registry.records.module_findings import SpecShift
from tests.statistics.arms import ALL, make_rows
from tests.statistics.tables import build_crossed, build_nested, build_table, label

# statsmodels 0.15.0, a mean as a regression on a constant, clustered with G/(G − 1), the default:
# >>> y, d = [.2, .5, .9, .4, .7, .1, .6, .3], y - [.1, .6, .5, .2, .9, .1, .3, .4]; g = [0, 0, 0, 1, 1, 2, 2, 3]
# >>> fit = sm.OLS(y, np.ones(8)).fit(cov_type="cluster", cov_kwds={"groups": g}); fit.bse[0] ** 2
# answers 0.0031835937500000007, and 0.0022135416666666667 for d
# >>> fit = sm.WLS(y, np.ones(8), weights=[1, 2, 1, 4, 3, 1, 2, 2]).fit(cov_type="cluster", cov_kwds={"groups": g}); fit.bse[0] ** 2
# answers 0.0015230305989583332, and 0.0017020670572916667 for d
TEST = np.array([0.2, 0.5, 0.9, 0.4, 0.7, 0.1, 0.6, 0.3])
DEPLOY = np.array([0.1, 0.6, 0.5, 0.2, 0.9, 0.1, 0.3, 0.4])
FAMILIES = ("a", "a", "a", "b", "b", "c", "c", "d")
FIXED, RANDOM = Plan(contexts=ContextDesign.FIXED, replicates=0), Plan(replicates=0)


def name(table: ScoreTable, *, families: Sequence[str | None] | None = None, templates: Sequence[str | None] | None = None) -> ScoreTable:
    """The table with a family for each task, and a template for each context, in the order of their ids."""
    columns = {"family": (table.task, families), "template": (table.context, templates)}
    named = {
        column: label([names[code] for code in units.codes.tolist()]) for column, (units, names) in columns.items() if names is not None
    }
    return replace(table, **named)  # type: ignore[arg-type]  # names and kinds are those of the fields


def run(table: ScoreTable, plan: Plan = RANDOM) -> SpecEstimate:
    return estimate(table, plan, range_=(0, 1)).specs[0]


def warn(table: ScoreTable, plan: Plan = RANDOM) -> dict[str, str]:
    return {one.code: one.message for one in estimate(table, plan, range_=(0, 1)).warnings}


def draw(seed: int, *, tasks: int = 24, contexts: int = 6) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.random((tasks, contexts)), rng.random((tasks, contexts))


@pytest.mark.parametrize(
    ("weights", "expected"), [(None, (0.00318359375, 0.00221354166666)), ((1, 2, 1, 4, 3, 1, 2, 2), (0.001523030599, 0.00170206705729))]
)
def test_the_task_part_is_the_cluster_variance_of_statsmodels(weights: Sequence[int] | None, expected: tuple[float, float]) -> None:
    """Of one side and of the difference, with and without weights; degrees of freedom come from the families."""
    table = name(build_crossed(TEST[:, None], DEPLOY[:, None], weights=weights), families=FAMILIES)
    result = estimate(table, FIXED, range_=(0, 1))
    spec = result.specs[0]

    assert spec.variance is not None
    assert spec.variance.difference_task == pytest.approx(expected[1], rel=1e-9)
    # Of one side the families' spread sets a floor; that of statsmodels is in the difference alone.
    assert spec.variance.test_task is not None
    assert spec.variance.test_task > expected[0]
    assert (spec.n.tasks, spec.n.families) == (8, 4)
    parts = parse_moments(result, spec).parts()
    sizes = np.bincount([0, 0, 0, 1, 1, 2, 2, 3], weights=weights)
    assert parts is not None
    assert parts[0].df == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum() - 1)


@pytest.mark.parametrize("plan", [RANDOM, replace(RANDOM, interval=IntervalMethod.GUARANTEED), FIXED])
def test_copies_in_one_family_and_template_change_no_interval(plan: Plan) -> None:
    """Three copies of each task and two of each context are no evidence: with the columns everything is as without the copies."""
    test, deploy = draw(1)
    once = run(build_crossed(test, deploy), plan)
    copied = np.repeat(np.repeat(test, 3, axis=0), 2, axis=1), np.repeat(np.repeat(deploy, 3, axis=0), 2, axis=1)
    table = name(
        build_crossed(*copied), families=[f"f{task // 3}" for task in range(72)], templates=[f"v{context // 2}" for context in range(12)]
    )

    found = run(table, plan)

    for one, other in ((found.ed, once.ed), (found.phi_test, once.phi_test), (found.phi_deploy, once.phi_deploy)):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-9)
    assert found.p_ed == pytest.approx(once.p_ed, rel=1e-6)
    assert (found.n.tasks, found.n.families, found.n.contexts_test, found.n.templates_test) == (72, 24, 12, 6)
    assert found.detectable_floor == pytest.approx(once.detectable_floor)


def test_the_bootstrap_draws_families_and_templates() -> None:
    """Copies leave its standard errors, the simulated and the expected one, as they are."""
    test, deploy = draw(2)
    plan = Plan(replicates=2000, seed=5)
    copied = np.repeat(np.repeat(test, 3, axis=0), 2, axis=1), np.repeat(np.repeat(deploy, 3, axis=0), 2, axis=1)
    families, templates = [f"f{task // 3}" for task in range(72)], [f"v{context // 2}" for context in range(12)]

    once, found = run(build_crossed(test, deploy), plan), run(name(build_crossed(*copied), families=families, templates=templates), plan)

    assert once.bootstrap is not None
    assert found.bootstrap is not None
    assert found.bootstrap.expected_standard_error == pytest.approx(once.bootstrap.expected_standard_error, rel=1e-9)
    assert found.bootstrap.standard_error == pytest.approx(once.bootstrap.standard_error, rel=0.05)


def test_the_expected_bootstrap_error_is_met_with_unequal_families() -> None:
    """Missing cells, weights and families of 1 to 5 tasks: the run has the standard error that the closed form expects."""
    rng = np.random.default_rng(3)
    test, deploy = rng.random((60, 6)), rng.random((60, 6))
    test[rng.random((60, 6)) < 0.1] = np.nan
    families = [f"f{family}" for family in np.repeat(np.arange(24), rng.integers(1, 5, 24))[:60]]
    table = name(build_crossed(test, deploy, weights=rng.uniform(1, 3, 60).round(2).tolist()), families=families)

    found = run(table, Plan(replicates=4000)).bootstrap

    assert found is not None
    assert found.standard_error == pytest.approx(found.expected_standard_error, rel=0.06)


def test_families_of_one_task_and_templates_of_one_context_change_nothing() -> None:
    """To the last bit, and the estimate says so."""
    table = build_crossed(*draw(4))
    single = name(table, families=[f"f{task}" for task in range(24)], templates=[f"v{context}" for context in range(6)])

    one, other = run(table), run(single)

    assert (one.ed.low, one.ed.high, one.variance) == (other.ed.low, other.ed.high, other.variance)
    assert {"families-single", "templates-single"} <= set(warn(single))
    assert not {"families-single", "few-families"} & set(warn(table))


def test_points_do_not_depend_on_families_or_templates() -> None:
    """Also with cells missing at random, where means over families would be others."""
    rng = np.random.default_rng(5)
    test, deploy = rng.random((24, 6, 2)), rng.random((24, 6, 2))
    test[rng.random(test.shape) < 0.4] = np.nan
    table = build_crossed(test, deploy)
    named = name(table, families=[f"f{int(np.sqrt(task))}" for task in range(24)], templates=["v", "v", "v", "w", "w", "x"])

    one, other = run(table), run(named)

    assert (one.ed.value, one.phi_test.value, one.ned.value) == (other.ed.value, other.phi_test.value, other.ned.value)
    assert one.pooled_ed == other.pooled_ed


def test_a_record_with_families_is_read_again_as_it_was_written() -> None:
    """At its own level: intervals come from the counts of families and templates in the record."""
    table = name(build_crossed(*draw(6)), families=[f"f{task // 4}" for task in range(24)], templates=["v", "v", "w", "x", "y", "z"])
    result = estimate(table, RANDOM, range_=(0, 1))

    again = relevel(result, result.specs[0], level=0.95)

    assert (again.ed, again.phi_test) == (result.specs[0].ed, result.specs[0].phi_test)
    more = resolve_difference(result, result.specs[0], boundary=result.specs[0].ed.value + 0.02)
    assert more is not None


def list_numbers(one: Contrast) -> tuple[float | None, ...]:
    return one.measure.value, one.measure.low, one.measure.high, one.p


def test_contrasts_of_all_kinds_count_families() -> None:
    """Differences, differences in differences, ratios and mitigations: copies of tasks in one family change none of their numbers."""
    rows = make_rows(7, tasks=22, contexts=5, samples=1)
    copies = [(f"{task}-{copy}", *rest) for (task, *rest), copy in product(rows, range(3))]
    table = build_table(copies)  # type: ignore[arg-type]  # a row again
    named = name(table, families=[task[:3] for task in table.task.labels])

    once, found = (contrast(one, RANDOM, ALL, range_=(0, 1)) for one in (build_table(rows), named))

    for one, other in zip(found.contrasts, once.contrasts, strict=True):
        assert list_numbers(one) == pytest.approx(list_numbers(other), rel=1e-6)
        assert (one.tasks, one.families) == (66, 22)
    assert found.contrasts[0].wilcoxon is not None
    assert found.contrasts[0].wilcoxon.p is None


def test_anytime_intervals_walk_over_families_in_the_seeded_order() -> None:
    """Copies in families of one size, of which the last may be incomplete, give the walk of the families."""
    test, deploy = draw(8, tasks=25, contexts=2)
    plan = Plan(contexts=ContextDesign.NESTED, interval=IntervalMethod.ANYTIME, seed=3, replicates=0)
    names = [f"f{family:02}" for family in range(25)]
    last = order_tasks(names, seed=3)[-1]
    families = [family for family in range(25) for _ in range(1 if family == last else 2)]

    once = estimate_renamed(build_nested(test, deploy), names, plan)
    found = run(name(build_nested(test[families], deploy[families]), families=[names[family] for family in families]), plan)

    assert (found.phi_deploy.low, found.phi_deploy.high) == pytest.approx((once.phi_deploy.low, once.phi_deploy.high), abs=0.02)
    assert found.sequence is not None
    assert once.sequence is not None
    assert found.sequence.ed.centre == pytest.approx(once.sequence.ed.centre)
    with pytest.raises(DesignError, match="families of one size"):
        run(name(build_nested(test, deploy), families=["big"] * 5 + [f"s{task}" for task in range(20)]), plan)


def estimate_renamed(table: ScoreTable, names: Sequence[str], plan: Plan) -> SpecEstimate:
    """Tasks are called as the families, so that both have one order."""
    return run(replace(table, task=replace(table.task, labels=tuple(names))), plan)


def test_corrections_by_labels_sum_their_influences_by_family() -> None:
    """Copies of tasks with their labels leave the corrected mean and its parts as they are."""
    rng = np.random.default_rng(9)
    score, shown = rng.random(40), rng.random(40) < 0.8
    value = np.where(shown, np.clip(score + rng.normal(0, 0.1, 40), 0, 1), np.nan)
    task, context = np.arange(40, dtype=np.int32), np.arange(40, dtype=np.int32) % 5
    plain = JudgedResponses(task=task, context=context, score=score, label=value, weight=np.full(40, 1 / 40), tasks=40)
    twice = JudgedResponses(
        task=np.tile(task, 2),
        context=np.concatenate([context, context + 5]),
        template=np.tile(context, 2),
        score=np.tile(score, 2),
        label=np.tile(value, 2),
        weight=np.full(80, 1 / 80),
        tasks=40,
    )

    one, other = (correct(side, weight=1.0, level=0.95) for side in (plain, twice))

    assert one.value == pytest.approx(other.value)
    assert [part.variance for part in one.parts(random=True) or ()] == pytest.approx([p.variance for p in other.parts(random=True) or ()])
    assert (one.tasks, one.contexts) == (other.tasks, other.contexts)


def test_one_family_has_no_interval_and_says_why() -> None:
    """No number of tasks in it says how other families would differ."""
    found = run(name(build_crossed(*draw(10)), families=["f"] * 24))

    assert (found.ed.low, found.phi_deploy.low) == (None, None)
    assert found.ed.reason == "one family of tasks: nothing says how families vary"
    assert found.n.families == 1


def test_one_template_on_a_side_has_no_interval_and_says_why() -> None:
    """As one context has none."""
    found = run(name(build_crossed(*draw(11)), templates=["v"] * 6))

    assert (found.ed.low, found.ed.reason) == (None, "one template on the test side: nothing says how templates vary")


def test_labels_that_meet_in_one_task_are_one_family() -> None:
    """A task of family a on the test side and of family b on the deployment side joins the two, with a warning that names it."""
    table = build_crossed(*draw(12))
    families = [
        ("a" if task < 12 else "b") if arm == 0 or task else "b" for task, arm in zip(table.task.codes, table.arm.codes, strict=True)
    ]
    crossed = replace(table, family=label(families))

    assert run(crossed).n.families == 1
    assert "several families (a, b)" in warn(crossed)["families-merged"]


def test_a_family_named_on_one_side_counts_for_both() -> None:
    """The warning says which rows name none."""
    table = build_crossed(*draw(13))
    family = [
        f"f{task // 4}" if arm == table.arm.find("test") else None for task, arm in zip(table.task.codes, table.arm.codes, strict=True)
    ]

    assert run(replace(table, family=label(family))).n.families == 6
    assert "none in deploy" in warn(replace(table, family=label(family)))["family-one-side"]


def test_blank_cells_are_counted_and_named() -> None:
    """Each task without a family counts as one, and the record says how many those are: unknown is not independent."""
    table = name(build_crossed(*draw(14)), families=[None] * 4 + [f"f{task // 4}" for task in range(20)])

    found = run(table)

    assert (found.n.families, found.n.unnamed) == (9, 4)
    assert "4 tasks name no family (t00000" in warn(table)["family-blank"]


def test_nested_contexts_of_one_template_are_refused_across_tasks() -> None:
    """They are not nested: the task is no cluster of its own then."""
    table = build_nested(*draw(15))
    with pytest.raises(DesignError, match="template of context"):
        run(name(table, templates=["v"] * len(table.context.labels)), Plan(contexts=ContextDesign.NESTED, replicates=0))


def test_families_follow_shuffled_rows_and_other_names() -> None:
    """The bits of an estimate depend neither on the order of rows nor on what families are called."""
    table = name(build_crossed(*draw(16)), families=[f"f{task // 3}" for task in range(24)])
    shuffled = table.keep(np.random.default_rng(0).permutation(table.rows))
    other = name(build_crossed(*draw(16)), families=[f"z{20 - task // 3}" for task in range(24)])

    assert run(table) == run(shuffled)
    assert run(table) == run(other)
    assert find_clusters(table).family is not None


def cover(seed: int, *, replays: int, declared: bool) -> float:
    """How often the interval of ED holds 0 with 20 families of ten tasks that agree within a family (ICC .8), over four fixed contexts."""
    rng = np.random.default_rng(seed)
    task, context = np.divmod(np.arange(800), 4)
    clusters = Clusters(family=np.arange(200) // 10 * 10 if declared else None)
    hits = 0
    for _ in range(replays):
        sides = []
        for _ in range(2):
            effect = np.repeat(rng.normal(0, np.sqrt(0.8), 20), 10) + rng.normal(0, np.sqrt(0.2), 200)
            mean = np.clip(0.5 + 0.15 * effect[task] + 0.05 * rng.normal(size=800), 0, 1)
            sides.append(Cells(task=task, context=context, mean=mean, count=np.ones(800, dtype=np.int64), clusters=clusters))
        moments = compute_moments(sides[0], sides[1], np.ones(200, dtype=bool), random=False, binary=False)
        limits = difference_interval(moments, level=0.95)
        hits += limits is not None and limits.low <= 0 <= limits.high
    return hits / replays


def test_declared_families_are_covered_and_undeclared_are_not() -> None:
    """Seeded: at least .93 with the column, far below .9 without it."""
    assert cover(1, replays=250, declared=True) >= 0.93
    assert cover(1, replays=250, declared=False) < 0.8


def copy_tasks(table: ScoreTable) -> ScoreTable:
    """Three copies of each task under names of their own, with the original's name as family."""
    tripled = table.keep(np.repeat(np.arange(table.rows), 3))
    task = [f"{table.task.labels[code]}-{row % 3}" for row, code in enumerate(tripled.task.codes.tolist())]
    family = [tripled.task.labels[code] for code in tripled.task.codes.tolist()]
    return replace(tripled, task=label(task), family=label(family))


def test_ablations_count_families() -> None:
    """ΔED, its intervals alone, by Holm and jointly, and p are those of the tasks without copies."""
    rng = np.random.default_rng(17)
    rows, cues = [], []
    for arm, cue, shift in (
        ("test", None, 0.3),
        ("deploy", None, 0.0),
        ("test", "format", 0.1),
        ("test", "tone", 0.28),
        ("test", "placebo", 0.3),
    ):
        for task, context in product(range(24), range(6)):
            rows.append((f"t{task:02}", arm, f"c{context}", "0", float(np.clip(0.4 + shift + rng.normal(0, 0.15), 0, 1))))
            cues.append(cue)
    table = build_table(rows, cues=cues)

    once, found = (ablate(one, Plan(replicates=400), range_=(0, 1)) for one in (table, copy_tasks(table)))

    for one, other in zip(found.changes, once.changes, strict=True):
        assert (one.change.low, one.change.high, one.p) == pytest.approx((other.change.low, other.change.high, other.p), rel=1e-6)
        if other.simultaneous is not None and one.simultaneous is not None:
            assert one.simultaneous.low == pytest.approx(other.simultaneous.low, rel=1e-6)


def test_shifts_count_families_of_either_replay() -> None:
    """The column in one of the replays is enough: what depends on each other in one does in both."""
    model = ModelRef(developer="lab", name="sparrow", version="2")
    tables = [build_crossed(*draw(seed)) for seed in (18, 19)]
    copied = [copy_tasks(table) for table in tables]

    def shift(before: ScoreTable, after: ScoreTable) -> SpecShift:
        return measure_shift(before, after, RANDOM, range_=(0, 1), models=(model, model), audit="AUD-EXT-2026-0001-0").specs[0]

    once, found = shift(*tables), shift(replace(copied[0], family=None), copied[1])

    assert (found.ed.low, found.ed.high) == pytest.approx((once.ed.low, once.ed.high), rel=1e-6)
    assert (found.phi_test.low, found.phi_test.high) == pytest.approx((once.phi_test.low, once.phi_test.high), rel=1e-6)
    assert (found.tasks, found.families) == (72, 24)


def test_a_random_subset_is_regressed_by_family() -> None:
    """With families of one task the regression keeps its value, and with copies its interval."""
    test, deploy = draw(20, tasks=60, contexts=2)
    deploy = 0.5 * test + 0.5 * deploy
    deploy[30:] = np.nan
    plan = replace(FIXED, random_subset=True)
    table = build_crossed(test, deploy)

    once = run(name(table, families=[f"f{task}" for task in range(60)]), plan).regression
    found = run(copy_tasks(table), plan).regression

    assert once is not None
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((once.value, once.low, once.high), rel=1e-6)
