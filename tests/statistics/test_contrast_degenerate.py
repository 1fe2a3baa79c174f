"""Contrasts of thin, flat, uneven and weighted tables: nothing of zero width, and nothing said that does not exist."""

import dataclasses

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.arm_contrasts import contrast
from audit.modules.differential_estimate import estimate
from audit.records.contrast_result import ContrastRequest
from audit.statistics.responses import Floats
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from tests.statistics.arms import ALL, DIFFERENCE, DOUBLE, MITIGATION, RATIO, ask, ends, make_rows, only
from tests.statistics.tables import Row, build_table, label


def make_flat(values: dict[str, float], *, tasks: int = 20, contexts: int = 5) -> list[Row]:
    """Every response of an arm has the same score."""
    return [(f"t{i:02}", arm, f"{arm}{c}", "0", score) for arm, score in values.items() for i in range(tasks) for c in range(contexts)]


@pytest.mark.parametrize("contexts", [ContextDesign.RANDOM, ContextDesign.FIXED])
def test_scores_that_never_vary_give_no_zero_width_and_no_p(contexts: ContextDesign) -> None:
    """0 of n against 0 of n: intervals of difference and double difference stay open; tests do not exist; ratio not identified."""
    rows = make_flat(dict.fromkeys("ABDE", 0.0))

    found = ask(rows, contexts=contexts).contrasts

    for one in found[:2]:
        assert one.measure.value == 0
        assert ends(one)[0] < -0.1
        assert ends(one)[1] > 0.1
        assert (one.p, one.reason) == (None, "no variance: a p-value from it does not exist")
        assert one.paired_t is not None
        assert one.wilcoxon is not None
        assert one.cohens_d is not None
        assert (one.paired_t.p, one.wilcoxon.reason, one.cohens_d.value) == (None, "every difference is zero", None)
    for one in found[2:]:
        assert (one.measure.value, one.measure.reason) == (None, "not identified: the denominator's interval contains 0")


def test_all_against_none_has_a_ratio_on_one_side_only() -> None:
    """N of n by 0 of n is not identified; 0 of n by n of n is 0 with an upper limit."""
    rows = make_flat({"A": 0.0, "B": 1.0})

    above, below = only(rows, RATIO, "B", "A"), only(rows, RATIO, "A", "B")

    assert above.measure.value is None
    assert below.measure.value == 0
    assert ends(below)[0] == 0
    assert 0 < ends(below)[1] < 0.3


def test_one_task_and_one_context_have_no_interval() -> None:
    """Points with the reason; with fixed contexts one context is enough, one task never is."""
    one_task, one_context = make_rows(1, tasks=1), make_rows(1, contexts=1)

    for found in ask(one_task).contrasts[:2]:
        assert found.measure.value is not None
        assert (found.measure.low, found.p, found.measure.reason) == (None, None, "one task: nothing says how tasks vary")
    for found in ask(one_context).contrasts[:2]:
        assert (found.measure.low, found.p) == (None, None)
        assert (found.measure.reason or "").startswith("one context in arm ")
        assert found.paired_t is not None
        assert found.paired_t.p is not None
    for found in ask(one_task).contrasts[2:] + ask(one_context).contrasts[2:]:
        assert found.measure.value is None
        assert found.measure.reason is not None
    assert all(one.measure.low is not None for one in ask(one_context, contexts=ContextDesign.FIXED).contrasts[:2])


def test_only_tasks_that_all_arms_have_count() -> None:
    """Tasks that an arm lacks are left out of every contrast with it, and said."""
    rows = [row for row in make_rows(2) if not (row[1] == "E" and row[0] < "t10")]

    found = ask(
        rows, ContrastRequest(kind=DIFFERENCE, arms=("B", "A")), ContrastRequest(kind=DOUBLE, arms=("B", "A", "D", "E")), pointwise=True
    )

    assert [one.tasks for one in found.contrasts] == [24, 14]
    assert [task.task_id for task in found.contrasts[1].pointwise or ()] == [f"t{i}" for i in range(10, 24)]
    assert np.mean([task.value for task in found.contrasts[1].pointwise or ()]) == pytest.approx(found.contrasts[1].measure.value)
    assert [one.code for one in found.warnings] == ["few-tasks", "tasks-dropped"]
    assert found.contrasts[0].pooled is None
    assert found.contrasts[1].pooled is not None


def test_unequal_cells_show_the_pooled_value_and_a_turned_sign() -> None:
    """Simpson's trap: every task is higher in B, and the mean over responses is lower, because B ran the hard task ten times as often."""
    rows: list[Row] = []
    for arm, scores, counts in (("A", (0.2, 0.8), (2, 20)), ("B", (0.3, 0.9), (20, 2))):
        for i, (score, count) in enumerate(zip(scores, counts, strict=True)):
            rows.extend((f"t{i}", arm, "c", str(k), score) for k in range(count))

    found = ask(rows, ContrastRequest(kind=DIFFERENCE, arms=("B", "A")), contexts=ContextDesign.FIXED)

    assert found.contrasts[0].measure.value == pytest.approx(0.1)
    assert found.contrasts[0].pooled == pytest.approx((0.3 * 20 + 0.9 * 2) / 22 - (0.2 * 2 + 0.8 * 20) / 22)
    assert "unequal-cells" in [one.code for one in found.warnings]


def test_holm_runs_over_everything_that_was_asked() -> None:
    """Also over contrasts that have no p; the family is named."""
    asked = (*ALL, ContrastRequest(kind=MITIGATION, arms=("D", "B", "A")))

    found = ask(make_rows(4), *asked)

    ps = sorted(one.p for one in found.contrasts if one.p is not None)
    smallest = min(found.contrasts, key=lambda one: one.p if one.p is not None else 2)
    assert len(ps) == 4
    assert smallest.p_holm == pytest.approx(min(1, 5 * ps[0]))
    assert found.family == "all 5 contrasts asked for"


def test_weights_enter_intervals_and_close_the_tests() -> None:
    """The difference is that of the weighted estimate; paired t, Wilcoxon and d know no weights and say so."""
    rows = make_rows(6, arms="AB")
    table = build_table(rows)
    weighted = dataclasses.replace(table, weight=label([str(1 + int(row[0][1:]) % 3) for row in rows]))

    found = contrast(weighted, Plan(), [ContrastRequest(kind=DIFFERENCE, arms=("B", "A"))], range_=(0, 1)).contrasts[0]

    theirs = estimate(weighted, Plan(replicates=0), range_=(0, 1), test="B", deploy="A").specs[0]
    assert (found.measure.value, *ends(found), found.p) == (theirs.ed.value, theirs.ed.low, theirs.ed.high, theirs.p_ed)
    assert found.effective_tasks == theirs.n.effective_tasks
    assert found.paired_t is not None
    assert found.cohens_d is not None
    assert (found.paired_t.p, found.cohens_d.value) == (None, None)
    assert "tasks have weights" in (found.paired_t.reason or "")


def test_a_thousand_rows_of_one_task_are_one_task() -> None:
    """However many responses: nothing says how tasks vary, and the tests do not exist."""
    block: Floats = np.tile([0.2, 0.6], 1000)
    rows: list[Row] = [("t", arm, f"c{k % 5}", str(k), float(score)) for arm in "AB" for k, score in enumerate(block)]

    found = only(rows, DIFFERENCE, "B", "A")

    assert (found.tasks, found.measure.low, found.p) == (1, None, None)
    assert found.wilcoxon is not None
    assert found.wilcoxon.p is None


def test_weights_worth_fewer_than_two_tasks_have_no_interval() -> None:
    """One task outweighs all: how tasks vary is not said, neither of differences nor of ratios."""
    rows = make_rows(6)
    heavy = dataclasses.replace(build_table(rows), weight=label(["1000000" if row[0] == "t00" else "1" for row in rows]))

    found = contrast(heavy, Plan(), ALL, range_=(0, 1))

    for one in found.contrasts:
        assert (one.measure.low, one.p) == (None, None)
        assert one.measure.reason == "the weights of the tasks are worth fewer than two tasks: nothing says how tasks vary"
    assert "few-tasks" in [one.code for one in found.warnings]
    assert "worth 1 of equal weight" in found.warnings[0].message


@pytest.mark.parametrize("interval", [IntervalMethod.GUARANTEED, IntervalMethod.ANYTIME])
def test_other_intervals_than_closed_form_are_refused(interval: IntervalMethod) -> None:
    """A plan that asks for them is not answered with something else."""
    plan = Plan(interval=interval, contexts=ContextDesign.NESTED)

    with pytest.raises(DesignError) as caught:
        contrast(build_table(make_rows(6)), plan, ALL, range_=(0, 1))

    assert caught.value.faults[0].code == "interval-not-available"


def test_a_thin_arm_can_leave_the_ratio_unbounded() -> None:
    """B − A just excludes 0 by itself; beside an arm of two contexts all parts have Banerjee's wider quantiles, and it does not."""
    rows = [row for row in make_rows(9, tasks=6) if row[1] != "D" or row[2] in ("D0", "D1")]
    plain, mitigation = ContrastRequest(kind=DIFFERENCE, arms=("B", "A")), ContrastRequest(kind=MITIGATION, arms=("D", "B", "A", "E"))
    low, high = 0.9, 1 - 1e-12
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if ends(ask(rows, plain, level=middle).contrasts[0])[0] > 0 else (low, middle)

    found = ask(rows, plain, mitigation, level=low).contrasts

    assert ends(found[0])[0] > 0
    assert found[1].measure.reason == "not identified: the denominator's interval contains 0"
