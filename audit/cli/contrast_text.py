"""How contrasts look in a terminal."""

from rich.console import Console

from audit.cli.warnings_text import print_warnings
from audit.records.contrast_result import Contrast, ContrastKind, Contrasts
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import Measure
from registry.report.numbers import format_number, format_p

_MOST_TASKS = 50
_TESTS = (
    "paired t test, two-sided; Wilcoxon signed-rank test (W+), two-sided, zeros dropped, mid-ranks for ties, exact by sign flips up to 20 "
    "differences that are not zero, then the normal curve with tie and continuity correction; d_z = mean by standard deviation of tasks"
)
_SUMS = (ContrastKind.DIFFERENCE, ContrastKind.DIFFERENCE_IN_DIFFERENCES)


def print_contrasts(console: Console, found: Contrasts) -> None:
    """Print the arms, one line for each contrast, the tests on tasks, then what needs a sentence, and the warnings."""
    unit = Unit(low=found.range[0], high=found.range[1])
    margin = unit.given_difference(found.margin)
    console.print(f"intervals at {share(found.level)}, margin ±{margin}, contexts {found.contexts}, Holm over {found.family}\n")
    arms = [(one.arm, unit.score(one.mean), str(one.tasks), str(one.contexts), str(one.responses), str(one.excluded)) for one in found.arms]
    columns = ("arm", "mean", "tasks", "contexts", "responses", "excluded")
    console.print(build_table(columns, arms, numbers=columns[1:]))
    judges = [one.judge for one in found.contrasts if one.judge is not None]
    if judges:
        console.print(show(f"means of the judge {judges[0]}"), style="dim")
    console.print()
    rows = [_describe(one, unit, found.margin) for one in found.contrasts]
    numbers = ("tasks", "value", "p", "p (Holm)")
    console.print(build_table(("contrast", "tasks", "value", "interval", "p", "p (Holm)"), rows, numbers=numbers))
    if any(one.kind in _SUMS for one in found.contrasts):
        console.print(f"differences in {unit.points}", style="dim")
    if any(one.kind not in _SUMS for one in found.contrasts):
        console.print("p of a ratio tests 1; of a mitigation, 0: nothing of the effect is gone", style="dim")
    _print_tests(console, found)
    for one in found.contrasts:
        _print_notes(console, one, unit)
    for method in dict.fromkeys(one.method for one in found.contrasts):
        console.print(show(f"method: {method}"))
    print_warnings(console, found.warnings, named=True)


def _print_tests(console: Console, found: Contrasts) -> None:
    rows = [_describe_tests(one) for one in found.contrasts if one.kind in _SUMS]
    if rows:
        columns = ("contrast", "t", "p (t)", "W+", "not zero", "p (W+)", "d_z", "interval of d_z")
        console.print("\non tasks, with the contexts as they are:")
        console.print(build_table(columns, rows, numbers=columns[1:-1]))
        console.print(_TESTS, style="dim")


def _print_notes(console: Console, one: Contrast, unit: Unit) -> None:
    """Say what the table has no column for."""
    name = _name(one)
    for reason in _list_reasons(one):
        console.print(show(f"{name}{reason}"))
    if one.uncorrected is not None and one.uncorrected.value is not None:
        console.print(show(f"{name}: uncorrected, descriptive only: {_describe_measure(one.uncorrected, unit, one.kind)}"))
    if one.within_margin:
        console.print(show(f"{name}: the whole interval lies within the margin"))
    if one.pooled is not None:
        console.print(show(f"{name}: pooled over responses (cells are unequal) {_write(one.pooled, unit, one.kind)}"))
    if one.under_exclusions is not None:
        bounds = unit.differences(one.under_exclusions.low, one.under_exclusions.high, 0.0)
        console.print(show(f"{name}: under the worst and best scores of what was excluded: {bounds}"))
    _print_tasks(console, one, unit)


def _list_reasons(one: Contrast) -> list[str]:
    """Return why something is not there, each reason once."""
    whole = [reason for reason in (one.measure.reason, one.reason) if reason]
    tests = (("paired t", one.paired_t), ("Wilcoxon", one.wilcoxon), ("d_z", one.cohens_d))
    parts = [f", {what}: {test.reason}" for what, test in tests if test is not None and test.reason and test.reason not in whole]
    return [*(f": {reason}" for reason in dict.fromkeys(whole)), *parts]


def _print_tasks(console: Console, one: Contrast, unit: Unit) -> None:
    if one.pointwise is None:
        return
    name = _name(one)
    tasks = [(task.task_id, unit.difference(task.value, 0.0)) for task in one.pointwise[:_MOST_TASKS]]
    console.print(build_table(("task", name), tasks, numbers=(name,)))
    if len(one.pointwise) > _MOST_TASKS:
        console.print(f"… and {len(one.pointwise) - _MOST_TASKS} tasks more; --json gives all")


def _name(one: Contrast) -> str:
    return one.name if one.judge is None else f"{one.name} ({one.judge})"


def _describe(one: Contrast, unit: Unit, margin: float) -> tuple[str, ...]:
    cuts = (0.0, margin, -margin) if one.kind in _SUMS else (one.null,)
    value = "–" if one.measure.value is None else _write(one.measure.value, unit, one.kind, *cuts)
    band = "–" if one.measure.low is None or one.measure.high is None else _write_band(one.measure, unit, one.kind, cuts)
    tasks = str(one.tasks) if one.families is None else f"{one.tasks} ({one.families} families)"
    return (_name(one), tasks, value, band, format_p(one.p), format_p(one.p_holm))


def _describe_measure(measure: Measure, unit: Unit, kind: ContrastKind) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    value = _write(measure.value, unit, kind)
    return value if measure.low is None else f"{value} ({_write_band(measure, unit, kind, ())})"


def _write(value: float, unit: Unit, kind: ContrastKind, *cuts: float) -> str:
    return unit.number(value, *cuts) if kind in _SUMS else format_number(value, against=cuts)


def _write_band(measure: Measure, unit: Unit, kind: ContrastKind, cuts: tuple[float, ...]) -> str:
    return " to ".join(_write(end, unit, kind, *cuts) for end in (measure.low, measure.high) if end is not None)


def _describe_tests(one: Contrast) -> tuple[str, ...]:
    t, ranks, d = one.paired_t, one.wilcoxon, one.cohens_d
    interval = "–" if d is None or d.low is None or d.high is None else f"{format_number(d.low)} to {format_number(d.high)}"
    return (
        _name(one),
        "–" if t is None or t.statistic is None else format_number(t.statistic),
        format_p(None if t is None else t.p),
        "–" if ranks is None or ranks.statistic is None else f"{ranks.statistic:g}",
        "–" if ranks is None else str(ranks.n),
        format_p(None if ranks is None else ranks.p),
        "–" if d is None or d.value is None else format_number(d.value),
        interval,
    )
