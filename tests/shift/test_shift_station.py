"""Two replays of one design: what moved, what is paired, what is told, and what is refused."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.modules.version_shift import measure_shift
from audit.statistics.responses import Floats, ScoreTable
from benchmarks.shift_coverage import World, draw, judge
from registry.codec.canonical_documents import from_document, to_document
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.model_version import ModelRef
from registry.records.module_findings import Shift, SpecShift
from tests.statistics.tables import Row, build_crossed, build_nested, build_table, label

OLD, NEW = (ModelRef(developer="lab", name="sparrow", version=version) for version in ("2.1", "2.2"))
AUDIT = "AUD-EXT-2026-0001-0"
FIXED, NESTED = Plan(contexts=ContextDesign.FIXED), Plan(contexts=ContextDesign.NESTED)


def draw_sides(seed: int, *, tasks: int = 24, contexts: int = 6) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.random((tasks, contexts)), rng.random((tasks, contexts))


def shift(before: ScoreTable, after: ScoreTable, plan: Plan | None = None, *, range_: tuple[float, float] = (0, 1)) -> Shift:
    return measure_shift(before, after, plan or Plan(), range_=range_, models=(OLD, NEW), audit=AUDIT)


def only(found: Shift) -> SpecShift:
    assert len(found.specs) == 1
    return found.specs[0]


def rename(table: ScoreTable, **columns: Callable[[str], str]) -> ScoreTable:
    """The table with the labels of columns called otherwise."""
    changed = {}
    for name, call in columns.items():
        column = getattr(table, name)
        changed[name] = label([None if code < 0 else call(column.labels[code]) for code in column.codes.tolist()])
    return replace(table, **changed)  # type: ignore[arg-type]  # names and kinds are those of the fields


def codes(error: pytest.ExceptionInfo[DesignError]) -> list[str]:
    return [fault.code for fault in error.value.faults]


def test_movements_are_the_differences_of_the_two_estimates() -> None:
    """Where both replays have every task and context, nothing else is compared than what was estimated."""
    tables = [build_crossed(*draw_sides(seed)) for seed in (1, 2)]
    one, two = (estimate(table, Plan(replicates=0), range_=(0, 1)).specs[0] for table in tables)

    found = only(shift(*tables))

    assert found.phi_test.value == pytest.approx(two.phi_test.value - one.phi_test.value, abs=1e-12)
    assert found.phi_deploy.value == pytest.approx(two.phi_deploy.value - one.phi_deploy.value, abs=1e-12)
    assert found.ed.value == pytest.approx(two.ed.value - one.ed.value, abs=1e-12)
    assert found.ed.value == pytest.approx(found.phi_test.value - found.phi_deploy.value, abs=1e-12)
    assert found.tasks == 24


def test_the_record_says_what_was_compared() -> None:
    """Models, audit, level, digests of the scores themselves; and it survives being written and read."""
    before, after = (build_crossed(*draw_sides(seed)) for seed in (1, 2))

    found = shift(before, after, Plan(level=0.9))

    assert (found.before, found.after, found.before_audit, found.level) == (OLD, NEW, AUDIT, 0.9)
    assert (found.before_scores, found.after_scores) == (before.content, after.content)
    assert found.warnings == ()
    assert from_document(Shift, to_document(found), where="shift") == found


def test_the_intervals_are_those_whose_coverage_is_measured() -> None:
    """The benchmark goes by arrays, the station by tables: the same limits."""
    world = World(design="random", shared=True, contexts=6, tasks=24, rates="gap opens", judged=False)
    drawn = draw(world, np.random.default_rng(3))
    before, after = (build_crossed(*sides) for sides in drawn)

    found = only(shift(before, after))

    assert found.ed.low is not None
    assert found.ed.high is not None
    assert found.ed.high - found.ed.low == pytest.approx(judge(world, drawn)[1], abs=1e-12)


def test_no_bit_depends_on_the_order_of_rows_or_on_names() -> None:
    """In either table."""
    before, after = (build_crossed(*draw_sides(seed)) for seed in (3, 4))
    order = np.random.default_rng(0).permutation(before.rows)
    called = {"task": lambda one: f"z{99999 - int(one[1:])}", "context": lambda one: one[::-1]}

    plain = only(shift(before, after))

    assert only(shift(before.keep(order), after.keep(order[::-1]))) == plain
    assert only(shift(rename(before, **called), rename(after, **called))) == plain


def test_a_range_stretches_every_number() -> None:
    """Scores from −10 to 10 move twenty times as far."""
    blocks = [draw_sides(seed) for seed in (5, 6)]
    plain = only(shift(*(build_crossed(*each) for each in blocks)))
    wide = [build_crossed(20 * test - 10, 20 * deploy - 10, low=-10, high=10) for test, deploy in blocks]

    found = only(shift(*wide, range_=(-10, 10)))

    for one, other in ((found.phi_test, plain.phi_test), (found.phi_deploy, plain.phi_deploy), (found.ed, plain.ed)):
        assert other.low is not None
        assert other.high is not None
        expected = [20 * number for number in (other.value, other.low, other.high)]
        assert [one.value, one.low, one.high] == pytest.approx(expected, abs=1e-9)


def test_other_contexts_count_as_independent_draws_and_method_says_so() -> None:
    """A context effect that both replays share no longer cancels."""
    rng = np.random.default_rng(7)
    context = rng.uniform(-0.3, 0.3, (1, 6))
    before, after = (build_crossed(*(0.5 + context + rng.uniform(-0.1, 0.1, (24, 6)) for _ in range(2))) for _ in range(2))

    paired = only(shift(before, after))
    told = shift(before, rename(after, context=lambda one: f"new-{one}"))

    apart = only(told)
    assert "test contexts paired, deployment contexts paired" in paired.ed.method
    assert "test contexts independent, deployment contexts independent" in apart.ed.method
    assert apart.ed.value == pytest.approx(paired.ed.value, abs=1e-12)
    assert paired.ed.low is not None
    assert paired.ed.high is not None
    assert apart.ed.low is not None
    assert apart.ed.high is not None
    assert apart.ed.high - apart.ed.low > 2 * (paired.ed.high - paired.ed.low)
    assert sum("share no context id" in one for one in told.warnings) == 2


def test_fixed_contexts_are_conditional_and_nested_ones_belong_to_their_task() -> None:
    """Neither varies; other fixed contexts would be another question, which is said."""
    before, after = (build_crossed(*draw_sides(seed, contexts=2)) for seed in (8, 9))
    own = [build_nested(*draw_sides(seed, contexts=2)) for seed in (8, 9)]

    fixed, nested = shift(before, after, FIXED), shift(own[0], own[1], NESTED)
    other = shift(before, rename(after, context=lambda one: f"new-{one}"), FIXED)

    assert "conditional on these contexts" in only(fixed).ed.method
    assert "contexts nested in tasks" in only(nested).ed.method
    assert only(nested).ed.low == pytest.approx(only(fixed).ed.low, abs=1e-12)
    assert fixed.warnings == nested.warnings == ()
    assert [one for one in other.warnings if "two questions" in one]


def test_tasks_and_cells_of_one_replay_alone_are_excluded_and_told() -> None:
    """The numbers are of what both have."""
    before, after = (build_crossed(*draw_sides(seed)) for seed in (10, 11))
    few = after.keep((after.task.codes >= 2) & ~((after.task.codes == 5) & (after.context.codes == 1)))
    same = before.keep((before.task.codes >= 2) & ~((before.task.codes == 5) & (before.context.codes == 1)))

    found = shift(before, few)

    assert only(found).tasks == 22
    assert only(found) == only(shift(same, few))
    assert [one for one in found.warnings if "2 of the earlier replay" in one and "22 remain" in one]
    assert [one for one in found.warnings if one.startswith("13 cells of task and context on the test side")]


def test_responses_lost_at_different_rates_are_told() -> None:
    """An excluded response takes its cell out of both replays."""
    test, deploy = draw_sides(12)
    lost = test.copy()
    lost[3, 2] = np.nan

    found = shift(build_crossed(test, deploy), build_crossed(lost, deploy))

    assert [one for one in found.warnings if "0 of 144 before, 1 of 144 after" in one]
    assert [one for one in found.warnings if one.startswith("1 cells of task and context on the test side")]


@pytest.mark.parametrize(
    ("tasks", "contexts", "plan", "reason"),
    [
        (1, 6, Plan(), "one task"),
        (24, 1, Plan(), "one context on the test side"),
        (24, 1, FIXED, None),
        (1, 1, FIXED, "one task"),
    ],
)
def test_what_says_nothing_of_variation_gets_no_interval_but_its_reason(tasks: int, contexts: int, plan: Plan, reason: str | None) -> None:
    """The number itself is still there."""
    before, after = (build_crossed(*draw_sides(seed, tasks=tasks, contexts=contexts)) for seed in (13, 14))

    found = only(shift(before, after, plan))

    numbers = (found.phi_test, found.phi_deploy, found.ed)
    assert all((one.low is None) == (reason is not None) for one in numbers)
    assert reason is None or (found.ed.reason is not None and found.ed.reason.startswith(reason))


def test_replays_without_any_variation_have_an_interval_of_some_width() -> None:
    """No task of 20 moved: still up to 16.8 points either way on each side."""
    same = build_crossed(np.ones((20, 5)), np.zeros((20, 5)))

    found = shift(same, replace(same, files=same.files))

    moved = only(found)
    assert (moved.phi_test.value, moved.ed.value) == (0.0, 0.0)
    assert moved.phi_test.high == pytest.approx(0.168, abs=5e-4)
    assert moved.ed.high is not None
    assert moved.ed.high > 0.168
    assert [one for one in found.warnings if "exactly the same scores" in one]


def test_each_specification_moves_by_itself() -> None:
    """Over the tasks it has; what only one replay has is left out and told."""
    rows: list[Row] = []
    specs: list[str | None] = []
    rng = np.random.default_rng(15)
    for task in range(20):
        for context in range(5):
            for arm, spec in (("test", None), ("deploy", "api"), ("deploy", "chat")):
                rows.append((f"t{task}", arm, f"{spec}{context}", "0", float(rng.random())))
                specs.append(spec)
    before = build_table(rows, specs=specs)
    kept = [place for place, row in enumerate(rows) if specs[place] != "chat" or row[0] != "t3"]
    after = build_table([(*rows[place][:4], 1 - (rows[place][4] or 0)) for place in kept], specs=[specs[place] for place in kept])
    api = before.keep(before.spec.codes != before.spec.find("chat"))

    found, less = shift(before, after), shift(api, after)

    assert [(one.spec, one.tasks) for one in found.specs] == [("api", 20), ("chat", 19)]
    assert [one for one in found.warnings if one.startswith("chat: Tasks without scores")]
    assert [one.spec for one in less.specs] == ["api"]
    assert "Only the later replay has the specification of P_deploy chat, which is excluded." in less.warnings


def test_each_judge_is_compared_with_itself() -> None:
    """A judge of one replay alone is left out and told; other judges altogether are refused."""
    before, after = (build_crossed(*draw_sides(seed)) for seed in (16, 17))

    def judged(table: ScoreTable, *names: str) -> ScoreTable:
        parts = [table.keep(np.arange(table.rows)) for _ in names]
        rows = np.tile(np.arange(table.rows), len(names))
        return replace(table.keep(rows), judge=label([name for name, part in zip(names, parts, strict=True) for _ in range(part.rows)]))

    both = shift(judged(before, "ann", "bob"), judged(after, "ann", "bob"))
    one = shift(judged(before, "ann", "bob"), judged(after, "bob"))
    unnamed = shift(before, judged(after, "bob"))
    with pytest.raises(DesignError) as error:
        shift(judged(before, "ann"), judged(after, "bob"))

    assert [part.judge for part in both.specs] == ["ann", "bob"]
    assert replace(both.specs[0], judge=None) == only(shift(before, after)) == only(one)
    assert "Only the earlier replay has the judge ann, which is excluded." in one.warnings
    assert [told for told in unnamed.warnings if "nothing says that the same judge" in told]
    assert codes(error) == ["judges-differ"]


def test_what_cannot_be_compared_is_refused_with_the_faults_of_both_tables() -> None:
    """One side alone, no common task, no common specification, other weights, nested contexts that are shared."""
    before, after = (build_crossed(*draw_sides(seed)) for seed in (18, 19))
    alone = before.keep(before.arm.codes == before.arm.find("test"))

    def refused(one: ScoreTable, two: ScoreTable, plan: Plan | None = None) -> list[str]:
        with pytest.raises(DesignError) as error:
            shift(one, two, plan)
        return codes(error)

    weighted = build_crossed(*draw_sides(18), weights=[1] * 23 + [2])
    named = build_table([("t1", "test", "c", "0", 0.5), ("t1", "deploy", "c", "0", 0.5)], specs=[None, "api"])
    assert refused(alone, alone) == ["one-sided", "one-sided"]
    assert refused(before, rename(after, task=lambda task: f"other-{task}")) == ["no-common-task"]
    assert refused(before, named) == ["no-common-spec"]
    assert refused(weighted, after) == ["weights-differ"]
    assert refused(before, after, NESTED) == ["contexts-shared"] * 4
    assert refused(replace(before, score=before.score + 1), after) == ["score-out-of-range"]


def test_weights_in_the_same_ratios_are_the_same_weights() -> None:
    """Only ratios matter."""
    one = build_crossed(*draw_sides(20), weights=list(range(1, 25)))
    two, doubled = (build_crossed(*draw_sides(21), weights=[times * weight for weight in range(1, 25)]) for times in (1, 2))

    assert only(shift(one, doubled)) == only(shift(one, two))


def test_anytime_plans_are_told_that_this_interval_is_for_a_fixed_size() -> None:
    """Another promise than that of the estimate."""
    tables = [build_nested(*draw_sides(seed, contexts=1)) for seed in (22, 23)]

    found = shift(tables[0], tables[1], Plan(contexts=ContextDesign.NESTED, interval=IntervalMethod.ANYTIME))

    assert [one for one in found.warnings if "at any look" in one]
