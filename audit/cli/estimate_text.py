"""How an estimate looks in a terminal."""

from rich.console import Console

from audit.cli.bands_text import print_bands
from audit.cli.warnings_text import print_warnings
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.analysis_plan import IntervalMethod
from registry.records.estimates import BoundedEstimate, Differential, Estimate, NormalisedDifferential, Regression, SpecEstimate
from registry.report.numbers import format_number

_NUMBERS = ("value", "interval")
_MOST_TASKS = 50
_INTERVALS = {
    IntervalMethod.CLOSED_FORM: "intervals",
    IntervalMethod.GUARANTEED: "guaranteed intervals",
    IntervalMethod.ANYTIME: "anytime intervals (the replay may be stopped at any look)",
}


def print_estimate(console: Console, found: Estimate) -> None:
    """Print one block per specification of P_deploy, then the warnings."""
    unit = Unit(low=found.range[0], high=found.range[1])
    margin = unit.given_difference(found.margin)
    intervals = _INTERVALS[IntervalMethod(found.interval)]
    console.print(f"{intervals} at {share(found.level)}, margin ±{margin}, ε = {found.epsilon:g}, contexts {found.contexts}")
    for spec in found.specs:
        _print_spec(console, spec, unit, margin=found.margin)
    print_warnings(console, found.warnings, named=len(found.specs) > 1)


def _describe_ned(ned: NormalisedDifferential) -> str:
    if ned.low is None or ned.high is None:
        return ned.reason or ""
    return f"{format_number(ned.low)} to {format_number(ned.high)}, approximate"


def _print_spec(console: Console, spec: SpecEstimate, unit: Unit, *, margin: float) -> None:
    n = spec.n
    judge = f", judge {spec.judge}" if spec.judge else ""
    console.print(show(f"\nP_deploy specification {spec.spec}{judge}"), style="bold")
    cuts = (0.0, margin, -margin)
    rows = [
        ("Φ_test", unit.score(spec.phi_test.value), _describe_scores(spec.phi_test, unit)),
        ("Φ_deploy", unit.score(spec.phi_deploy.value), _describe_scores(spec.phi_deploy, unit)),
        ("ED", unit.difference(spec.ed.value, *cuts), _describe_difference(spec.ed, unit, cuts)),
        ("nED", "not defined" if spec.ned.value is None else format_number(spec.ned.value), _describe_ned(spec.ned)),
    ]
    console.print(build_table(("", "value", "interval"), rows, numbers=_NUMBERS))
    equivalent = spec.equivalence.equivalent
    console.print("the whole interval of ED lies within the margin" if equivalent else "ED is not shown to lie within the margin")
    if spec.minimum_detectable_ed is not None:
        console.print(_describe_power(spec.minimum_detectable_ed, unit))
    if spec.detectable_floor is not None:
        least = "any" if spec.detectable_floor > unit.high - unit.low else f"less than {unit.difference(spec.detectable_floor)}"
        console.print(f"without more contexts, no number of tasks or samples finds {least}")
    worth = "" if n.effective_tasks is None else f" (weighted, worth {n.effective_tasks:.1f})"
    families = "" if n.families is None else f" in {n.families} {'family' if n.families == 1 else 'families'}"
    templates = "" if n.templates_test is None else f" (from {n.templates_test} and {n.templates_deploy} templates)"
    console.print(
        f"{n.tasks} tasks{families}{worth}; contexts {n.contexts_test} test, {n.contexts_deploy} deployment{templates}; "
        f"responses {n.responses_test} and {n.responses_deploy}; excluded {n.excluded_test} and {n.excluded_deploy}"
    )
    if n.excluded_test or n.excluded_deploy:
        bounds = spec.ed_under_exclusions
        console.print(f"ED under the worst and best scores of what was excluded: {unit.differences(bounds.low, bounds.high, *cuts)}")
    if spec.regression is not None:
        _print_regression(console, spec.regression, unit, cuts)
    console.print(show(f"method: {spec.ed.method}"))
    if spec.bootstrap is not None:
        print_bands(console, spec.bootstrap, unit)
    _print_pointwise(console, spec, unit)


def _describe_power(detectable: float, unit: Unit) -> str:
    if detectable > unit.high - unit.low:
        return "this design finds no possible |ED| with 80 % power"
    return f"this design finds |ED| from {unit.difference(detectable)} with 80 % power"


def _print_regression(console: Console, found: Regression, unit: Unit, cuts: tuple[float, ...]) -> None:
    counted = f"{found.tasks_replayed} of {found.tasks_all} tasks replayed"
    if found.value is None:
        console.print(show(f"ED over all tasks by regression ({counted}): none: {found.reason}"))
        return
    interval = f"none: {found.reason}" if found.low is None or found.high is None else unit.differences(found.low, found.high, *cuts)
    value = unit.difference(found.value, *cuts)
    console.print(show(f"ED over all tasks by regression ({counted}): {value}, interval {interval}; it decides nothing"))


def _print_pointwise(console: Console, spec: SpecEstimate, unit: Unit) -> None:
    if spec.pointwise is None:
        return
    rows = [
        (one.task_id, unit.score(one.phi_test), unit.score(one.phi_deploy), unit.difference(one.ed, 0.0))
        for one in spec.pointwise[:_MOST_TASKS]
    ]
    console.print(build_table(("task", "test", "deployment", "ED"), rows, numbers=("test", "deployment", "ED")))
    if len(spec.pointwise) > _MOST_TASKS:
        console.print(f"… and {len(spec.pointwise) - _MOST_TASKS} tasks more; --json gives all")


def _describe_scores(bounded: BoundedEstimate, unit: Unit) -> str:
    if bounded.low is None or bounded.high is None:
        return f"none: {bounded.reason}"
    return unit.scores(bounded.low, bounded.high)


def _describe_difference(ed: Differential, unit: Unit, cuts: tuple[float, ...]) -> str:
    if ed.low is None or ed.high is None:
        return f"none: {ed.reason}"
    return unit.differences(ed.low, ed.high, *cuts)
