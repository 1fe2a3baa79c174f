"""How analyses of scores look in a terminal: estimate, bands, contrasts, ablation, judges, link and shift."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console

from audit.cli.shared_presentation import print_warnings
from audit.records.contrast_result import Contrast, ContrastKind, Contrasts
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.records.analysis_plan import IntervalMethod
from registry.records.estimates import (
    Bands,
    Bootstrap,
    BoundedEstimate,
    Differential,
    Estimate,
    Measure,
    NormalisedDifferential,
    Regression,
    ScoreRange,
    SpecEstimate,
)
from registry.records.module_findings import (
    Ablation,
    CueChange,
    JudgeAgreement,
    JudgeReport,
    LinkGroup,
    RecognitionLink,
    RecognitionLinks,
    Repeats,
    Shift,
)
from registry.report.number_format import Unit, format_number, format_p, share

# How bootstrap bands look in a terminal.

_WAYS = ("tasks drawn", "contexts drawn", "both drawn")


def print_bands(console: Console, found: Bootstrap, unit: Unit) -> None:
    """Print the bands of one specification as one table, and why any of them is missing."""
    console.print(
        f"bootstrap bands: {found.replicates} replicates, seed {found.seed}, stretched by {found.stretch:.2f}; they decide nothing"
    )
    if found.standard_error is not None:
        errors = unit.difference(found.standard_error), unit.difference(found.expected_standard_error)
        console.print(f"standard error of ED over the replicates {errors[0]}, in closed form {errors[1]}")
    share = ", %" if unit.is_share else ""
    listed: list[tuple[str, Bands | None, Callable[[float], str]]] = [
        (f"Φ_test{share}", found.phi_test, unit.number),
        (f"Φ_deploy{share}", found.phi_deploy, unit.number),
        (f"ED, {unit.points}", found.ed, unit.number),
        ("nED", found.ned, format_number),
    ]
    rows = [(name, *_describe_band(bands, write)) for name, bands, write in listed if bands is not None]
    console.print(build_table(("", *_WAYS), rows, numbers=_WAYS))
    reasons = dict.fromkeys(bands.reason for _, bands, _ in listed if bands is not None and bands.reason)
    for reason in reasons:
        console.print(show(f"no band: {reason}"))


def _describe_band(bands: Bands, write: Callable[[float], str]) -> Iterator[str]:
    for band in (bands.task, bands.context, bands.two_way):
        yield "none" if band is None else f"{write(band.low)} to {write(band.high)}"


# How an estimate looks in a terminal.

_ESTIMATE_NUMBERS = ("value", "interval")
_MOST_TASKS = 50
_INTERVALS = {
    IntervalMethod.CLOSED_FORM: "intervals",
    IntervalMethod.GUARANTEED: "guaranteed intervals",
    IntervalMethod.ANYTIME: "anytime intervals (the replay may be stopped at any look)",
}


def print_estimate(console: Console, estimate: Estimate) -> None:
    """Print one block per specification of P_deploy, then the warnings."""
    unit = Unit(low=estimate.range[0], high=estimate.range[1])
    margin = unit.given_difference(estimate.margin)
    intervals = _INTERVALS[IntervalMethod(estimate.interval)]
    console.print(f"{intervals} at {share(estimate.level)}, margin ±{margin}, ε = {estimate.epsilon:g}, contexts {estimate.contexts}")
    for spec in estimate.specs:
        _print_spec(console, spec, unit, margin=estimate.margin)
    print_warnings(console, estimate.warnings, named=len(estimate.specs) > 1)


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
    console.print(build_table(("", "value", "interval"), rows, numbers=_ESTIMATE_NUMBERS))
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


def _print_regression(console: Console, regression: Regression, unit: Unit, cuts: tuple[float, ...]) -> None:
    counted = f"{regression.tasks_replayed} of {regression.tasks_all} tasks replayed"
    if regression.value is None:
        console.print(show(f"ED over all tasks by regression ({counted}): none: {regression.reason}"))
        return
    interval = (
        f"none: {regression.reason}"
        if regression.low is None or regression.high is None
        else unit.differences(regression.low, regression.high, *cuts)
    )
    value = unit.difference(regression.value, *cuts)
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


# How contrasts look in a terminal.

_TESTS = (
    "paired t test, two-sided; Wilcoxon signed-rank test (W+), two-sided, zeros dropped, mid-ranks for ties, exact by sign flips up to 20 "
    "differences that are not zero, then the normal curve with tie and continuity correction; d_z = mean by standard deviation of tasks"
)
_SUMS = (ContrastKind.DIFFERENCE, ContrastKind.DIFFERENCE_IN_DIFFERENCES)


def print_contrasts(console: Console, contrasts: Contrasts) -> None:
    """Print the arms, one line for each contrast, the tests on tasks, then what needs a sentence, and the warnings."""
    unit = Unit(low=contrasts.range[0], high=contrasts.range[1])
    margin = unit.given_difference(contrasts.margin)
    console.print(f"intervals at {share(contrasts.level)}, margin ±{margin}, contexts {contrasts.contexts}, Holm over {contrasts.family}\n")
    arms = [
        (arm.arm, unit.score(arm.mean), str(arm.tasks), str(arm.contexts), str(arm.responses), str(arm.excluded)) for arm in contrasts.arms
    ]
    columns = ("arm", "mean", "tasks", "contexts", "responses", "excluded")
    console.print(build_table(columns, arms, numbers=columns[1:]))
    judges = [contrast.judge for contrast in contrasts.contrasts if contrast.judge is not None]
    if judges:
        console.print(show(f"means of the judge {judges[0]}"), style="dim")
    console.print()
    rows = [_describe_contrast(one, unit, contrasts.margin) for one in contrasts.contrasts]
    numbers = ("tasks", "value", "p", "p (Holm)")
    console.print(build_table(("contrast", "tasks", "value", "interval", "p", "p (Holm)"), rows, numbers=numbers))
    if any(one.kind in _SUMS for one in contrasts.contrasts):
        console.print(f"differences in {unit.points}", style="dim")
    if any(one.kind not in _SUMS for one in contrasts.contrasts):
        console.print("p of a ratio tests 1; of a mitigation, 0: nothing of the effect is gone", style="dim")
    _print_tests(console, contrasts)
    for one in contrasts.contrasts:
        _print_notes(console, one, unit)
    for method in dict.fromkeys(one.method for one in contrasts.contrasts):
        console.print(show(f"method: {method}"))
    print_warnings(console, contrasts.warnings, named=True)


def _print_tests(console: Console, contrasts: Contrasts) -> None:
    rows = [_describe_tests(contrast) for contrast in contrasts.contrasts if contrast.kind in _SUMS]
    if rows:
        columns = ("contrast", "t", "p (t)", "W+", "not zero", "p (W+)", "d_z", "interval of d_z")
        console.print("\non tasks, with the contexts as they are:")
        console.print(build_table(columns, rows, numbers=columns[1:-1]))
        console.print(_TESTS, style="dim")


def _print_notes(console: Console, contrast: Contrast, unit: Unit) -> None:
    """Say what the table has no column for."""
    name = _name_contrast(contrast)
    for reason in _list_reasons(contrast):
        console.print(show(f"{name}{reason}"))
    if contrast.uncorrected is not None and contrast.uncorrected.value is not None:
        console.print(show(f"{name}: uncorrected, descriptive only: {_describe_measure(contrast.uncorrected, unit, contrast.kind)}"))
    if contrast.within_margin:
        console.print(show(f"{name}: the whole interval lies within the margin"))
    if contrast.pooled is not None:
        console.print(show(f"{name}: pooled over responses (cells are unequal) {_format_contrast(contrast.pooled, unit, contrast.kind)}"))
    if contrast.under_exclusions is not None:
        bounds = unit.differences(contrast.under_exclusions.low, contrast.under_exclusions.high, 0.0)
        console.print(show(f"{name}: under the worst and best scores of what was excluded: {bounds}"))
    _print_tasks(console, contrast, unit)


def _list_reasons(contrast: Contrast) -> list[str]:
    """Return why something is not there, each reason once."""
    whole = [reason for reason in (contrast.measure.reason, contrast.reason) if reason]
    tests = (("paired t", contrast.paired_t), ("Wilcoxon", contrast.wilcoxon), ("d_z", contrast.cohens_d))
    parts = [f", {what}: {test.reason}" for what, test in tests if test is not None and test.reason and test.reason not in whole]
    return [*(f": {reason}" for reason in dict.fromkeys(whole)), *parts]


def _print_tasks(console: Console, contrast: Contrast, unit: Unit) -> None:
    if contrast.pointwise is None:
        return
    name = _name_contrast(contrast)
    tasks = [(task.task_id, unit.difference(task.value, 0.0)) for task in contrast.pointwise[:_MOST_TASKS]]
    console.print(build_table(("task", name), tasks, numbers=(name,)))
    if len(contrast.pointwise) > _MOST_TASKS:
        console.print(f"… and {len(contrast.pointwise) - _MOST_TASKS} tasks more; --json gives all")


def _name_contrast(contrast: Contrast) -> str:
    return contrast.name if contrast.judge is None else f"{contrast.name} ({contrast.judge})"


def _describe_contrast(contrast: Contrast, unit: Unit, margin: float) -> tuple[str, ...]:
    cuts = (0.0, margin, -margin) if contrast.kind in _SUMS else (contrast.null,)
    value = "–" if contrast.measure.value is None else _format_contrast(contrast.measure.value, unit, contrast.kind, *cuts)
    band = (
        "–" if contrast.measure.low is None or contrast.measure.high is None else _write_band(contrast.measure, unit, contrast.kind, cuts)
    )
    tasks = str(contrast.tasks) if contrast.families is None else f"{contrast.tasks} ({contrast.families} families)"
    return (_name_contrast(contrast), tasks, value, band, format_p(contrast.p), format_p(contrast.p_holm))


def _describe_measure(measure: Measure, unit: Unit, kind: ContrastKind) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    value = _format_contrast(measure.value, unit, kind)
    return value if measure.low is None else f"{value} ({_write_band(measure, unit, kind, ())})"


def _format_contrast(value: float, unit: Unit, kind: ContrastKind, *cuts: float) -> str:
    return unit.number(value, *cuts) if kind in _SUMS else format_number(value, against=cuts)


def _write_band(measure: Measure, unit: Unit, kind: ContrastKind, cuts: tuple[float, ...]) -> str:
    return " to ".join(_format_contrast(end, unit, kind, *cuts) for end in (measure.low, measure.high) if end is not None)


def _describe_tests(contrast: Contrast) -> tuple[str, ...]:
    t, ranks, d = contrast.paired_t, contrast.wilcoxon, contrast.cohens_d
    interval = "–" if d is None or d.low is None or d.high is None else f"{format_number(d.low)} to {format_number(d.high)}"
    return (
        _name_contrast(contrast),
        "–" if t is None or t.statistic is None else format_number(t.statistic),
        format_p(None if t is None else t.p),
        "–" if ranks is None or ranks.statistic is None else f"{ranks.statistic:g}",
        "–" if ranks is None else str(ranks.n),
        format_p(None if ranks is None else ranks.p),
        "–" if d is None or d.value is None else format_number(d.value),
        interval,
    )


# How a cue ablation looks in a terminal.

_ABLATION_NUMBERS = ("tasks", "before", "after", "ΔED", "p (Holm)")
_WIDTH = 41
"""Columns of the forest, odd, so that 0 can stand in the middle."""


def print_ablation(console: Console, ablation: Ablation) -> None:
    """Print ED, one line for each cue, the forest of their intervals, what is relevant, then the warnings."""
    unit = Unit(low=ablation.range[0], high=ablation.range[1])
    margin = unit.given_difference(ablation.margin)
    cues = "1 cue" if ablation.family == 1 else f"{ablation.family} cues"
    console.print(f"intervals at {share(ablation.level)}, margin ±{margin}, contexts {ablation.contexts}, Holm over {cues}")
    ed = f"none: {ablation.ed.reason}" if ablation.ed.value is None else f"{_describe_interval_line(ablation.ed, unit)} {unit.points}"
    console.print(show(f"ED of the contexts as they are, against {ablation.spec}: {ed}\n"))
    rows = [_describe_change(change, unit) for change in ablation.changes]
    console.print(build_table(("cue", "arm", "tasks", "before", "after", "ΔED", "p (Holm)", "finding"), rows, numbers=_ABLATION_NUMBERS))
    console.print(f"ΔED = ED before − ED after, in {unit.points}", style="dim")
    console.print()
    for line in render_forest(ablation, unit):
        console.print(show(line), no_wrap=True, crop=False)
    console.print("─ interval after Holm (a placebo's own), ┆ margin, │ no change, ◆ ΔED", style="dim")
    _print_intervals(console, ablation, unit)
    if ablation.class_before is not None:
        after = ", ".join(f"{one.cue}: {one.class_after.value}" for one in ablation.changes if one.class_after is not None)
        console.print(show(f"\nclass of the claim as it is: {ablation.class_before.value}; with the change: {after}"))
    for inventory in ablation.inventories:
        listed = len(inventory.ablated) + len(inventory.not_ablated)
        sealed = f"; further cues are sealed as {inventory.held_out}" if inventory.held_out else ""
        console.print(show(f"\n{inventory.name} ({inventory.source}): {len(inventory.ablated)} of {listed} cues ablated{sealed}"))
    print_warnings(console, ablation.warnings)


def render_forest(ablation: Ablation, unit: Unit) -> list[str]:
    """Return one line for each cue, its interval drawn between the ends of the axis, then the axis."""
    shown = [(change, change.holm or _range(change.change)) for change in ablation.changes]
    ends = [abs(end) for one, band in shown for end in ((band.low, band.high) if band else (one.change.value,)) if end is not None]
    reach = max([*ends, ablation.margin]) or 1.0
    width = max(len(_name_cue(one)) for one, _ in shown)
    lines = [f"{_name_cue(one):<{width}}  {_draw(one, band, ablation.margin, reach)}" for one, band in shown]
    axis = unit.differences(-reach, reach)
    return [*lines, f"{'':<{width}}  {axis}"]


def _draw(change: CueChange, band: ScoreRange | None, margin: float, reach: float) -> str:
    def place(value: float) -> int:
        return round((value / reach + 1) / 2 * (_WIDTH - 1))

    cells = [" "] * _WIDTH
    if band is not None:
        cells[place(band.low) : place(band.high) + 1] = "─" * (place(band.high) - place(band.low) + 1)
    cells[place(-margin)] = cells[place(margin)] = "┆"
    cells[place(0.0)] = "│"
    if change.change.value is not None:
        cells[place(change.change.value)] = "◆"
    return "".join(cells)


def _name_cue(change: CueChange) -> str:
    return f"{change.cue}{' (placebo)' if change.placebo and not change.cue.startswith('placebo') else ''}"


def _range(measure: Measure) -> ScoreRange | None:
    return None if measure.low is None or measure.high is None else ScoreRange(low=measure.low, high=measure.high)


def _describe_change(change: CueChange, unit: Unit) -> tuple[str, ...]:
    value = "–" if change.change.value is None else unit.number(change.change.value, 0.0)
    before, after = unit.score(change.phi_before), unit.score(change.phi_after)
    return change.cue, change.arm, str(change.tasks), before, after, value, format_p(change.p_holm), _describe_finding(change)


def _describe_finding(change: CueChange) -> str:
    if change.placebo:
        return "placebo"
    if change.relevant is None:
        return "cannot be said"
    if not change.relevant:
        return "not shown to matter"
    return "audit-relevant" + ("" if change.material else ": the class changes")


def _print_intervals(console: Console, ablation: Ablation, unit: Unit) -> None:
    """Print every interval of every cue, and why one is missing."""
    columns = ["cue", share(ablation.level), "Holm", "all cues at once", "beyond the placebo"]
    rows = [
        (
            change.cue,
            _format_level(_range(change.change), unit),
            _format_level(change.holm, unit),
            _format_level(change.simultaneous, unit),
            "–" if change.beyond_placebo is None else _describe_interval_line(change.beyond_placebo, unit),
        )
        for change in ablation.changes
    ]
    console.print(f"\nintervals of ΔED, {unit.points}")
    console.print(build_table(columns, rows, numbers=columns[1:]))
    for one in ablation.changes:
        for reason in dict.fromkeys(filter(None, (one.change.reason, one.reason))):
            console.print(show(f"{_name_cue(one)}, arm {one.arm}: {reason}"))


def _describe_interval_line(measure: Measure, unit: Unit) -> str:
    """A difference with its interval, without their unit."""
    if measure.value is None:
        return "–"
    value = unit.number(measure.value, 0.0)
    return value if measure.low is None or measure.high is None else f"{value} ({unit.numbers(measure.low, measure.high, 0.0)})"


def _format_level(band: ScoreRange | None, unit: Unit) -> str:
    return "–" if band is None else unit.numbers(band.low, band.high, 0.0)


# How reports on judges look in a terminal and as JSON.

_SIDES = {"test": "test", "deploy": "deployment"}
_SHARE = Unit(low=0.0, high=1.0)
_PASSED = {True: "passed", False: "failed", None: "undecided"}


def summarise_reports(reports: Sequence[JudgeReport]) -> dict[str, Any]:
    """Return the reports as the document `caveat/judges/1`."""
    return {"schema": "caveat/judges/1", "reports": [to_document(report) for report in reports]}


def print_reports(console: Console, reports: Sequence[JudgeReport]) -> None:
    """Print one block for each judge and specification."""
    for number, report in enumerate(reports):
        if number:
            console.print()
        _print_report(console, report)


def _print_report(console: Console, judge_report: JudgeReport) -> None:
    unit = Unit(low=judge_report.range[0], high=judge_report.range[1])
    name = f"judge {judge_report.judge}" if judge_report.judge else "the judge"
    console.print(show(f"{name}, P_deploy specification {judge_report.spec}"), style="bold")
    margin = unit.given_difference(judge_report.margin)
    console.print(f"intervals at {share(judge_report.level)}, margin ±{margin}, contexts {judge_report.contexts}")
    lines = [_JudgeRow("judged", judge_report.phi_test, judge_report.phi_deploy, judge_report.ed)]
    lines += [_JudgeRow(each.method, each.phi_test, each.phi_deploy, each.ed) for each in judge_report.corrected]
    console.print(
        build_table(("", "Φ_test", "Φ_deploy", f"ED, {unit.points}"), [_describe_judge(line, unit, judge_report.margin) for line in lines])
    )
    for reason in dict.fromkeys(reason for line in lines for reason in line.list_reasons()):
        console.print(show(reason))
    for each in judge_report.corrected:
        console.print(show(f"{each.method}: {each.detail}"))
    _print_repeats(console, judge_report.repeats, unit)
    _print_labels(console, judge_report.labels, unit)
    _print_invariance(console, judge_report)
    print_warnings(console, judge_report.warnings)


class _JudgeRow(NamedTuple):
    """Φ and ED, judged or corrected."""

    name: str
    phi_test: Measure
    phi_deploy: Measure
    ed: Measure

    def list_reasons(self) -> list[str]:
        """Why something is missing."""
        named = (("Φ_test", self.phi_test), ("Φ_deploy", self.phi_deploy), ("ED", self.ed))
        return [f"{self.name}, {what}: {measure.reason}" for what, measure in named if measure.reason]


def _describe_judge(line: _JudgeRow, unit: Unit, margin: float) -> tuple[str, str, str, str]:
    difference = _write_difference(line.ed, unit, 0.0, margin, -margin)
    return line.name, _write_score(line.phi_test, unit), _write_score(line.phi_deploy, unit), difference


def _write_difference(measure: Measure, unit: Unit, *cuts: float) -> str:
    """A difference and its interval without their unit."""
    if measure.value is None:
        return "–"
    value = unit.number(measure.value, *cuts)
    return value if measure.low is None or measure.high is None else f"{value} ({unit.numbers(measure.low, measure.high, *cuts)})"


def _write_score(measure: Measure, unit: Unit) -> str:
    if measure.value is None:
        return "–"
    written = unit.score(measure.value)
    return written if measure.low is None or measure.high is None else f"{written} ({unit.numbers(measure.low, measure.high)})"


def _print_repeats(console: Console, repeats: Repeats | None, unit: Unit) -> None:
    if repeats is None:
        console.print("repeats: no response was scored twice, so nothing says how far the judge varies")
        return
    spread = "unknown" if repeats.deviation is None else unit.difference(repeats.deviation)
    alike = "" if repeats.identical is None else f", all alike for {_SHARE.score(repeats.identical)} of them"
    part = (
        f"{_SHARE.score(repeats.share)} of the variance of ED, inside its interval already" if repeats.share is not None else repeats.reason
    )
    console.print(f"repeats: {repeats.responses} responses scored {repeats.scorings} times{alike}; standard deviation {spread}; {part}")


def _print_labels(console: Console, labels: Sequence[JudgeAgreement], unit: Unit) -> None:
    if not labels:
        return
    rows = [
        (
            _SIDES[label.side],
            f"{label.labelled} of {label.responses}",
            _write_difference(label.bias, unit, 0.0),
            _write_rate(label.sensitivity),
            _write_rate(label.specificity),
        )
        for label in labels
    ]
    console.print()
    console.print(build_table(("side", "labelled", "judge less person", "sensitivity", "specificity"), rows))


def _write_rate(rate: Measure | None) -> str:
    if rate is None or rate.value is None:
        return "–"
    return _write_score(rate, _SHARE)


def _print_invariance(console: Console, judge_report: JudgeReport) -> None:
    if not judge_report.invariance:
        console.print("invariance: not checked; give labels, second scores (--rescored) or marks (--mark)")
        return
    console.print()
    for check in judge_report.invariance:
        console.print(show(f"{_PASSED[check.passed]}: {check.check}. {check.note}"))
    overall = {
        True: "the scorer passed every check that was made",
        False: "the scorer is not invariant: a difference of its scores is not a difference of behaviour",
        None: "whether the scorer is invariant is not decided",
    }[judge_report.invariant]
    console.print(overall, style="bold")


# How the link between recognition and ED looks in a terminal.


def print_links(console: Console, recognition_links: RecognitionLinks) -> None:
    """Print ED of both groups and their difference for each specification, then what is not known, then the warnings."""
    console.print(show(f"Recognition and ED: {recognition_links.interpretation}"), style="bold")
    console.print(
        show(f"mentions from {recognition_links.source}; intervals at {share(recognition_links.level)}; δ {recognition_links.margin:g}\n")
    )
    unit = Unit(low=recognition_links.range[0], high=recognition_links.range[1])
    for link in recognition_links.links:
        name = link.spec if link.judge is None else f"{link.spec}, judge {link.judge}"
        console.print(show(name))
        console.print(
            build_table(("test-side responses", "responses", "tasks", "contexts", "ED"), _list_rows(link, unit), numbers=("responses",))
        )
        console.print(show(f"difference, over {link.tasks} tasks with both: {_describe_link(link.difference, unit)}"))
        if link.unknown or link.deploy_mentioned:
            console.print(
                f"not known: {link.unknown} test-side responses; deployment responses that mention a test: {link.deploy_mentioned}"
            )
    print_warnings(console, recognition_links.warnings)


def _list_rows(recognition_link: RecognitionLink, unit: Unit) -> list[tuple[str, ...]]:
    groups: tuple[tuple[str, LinkGroup], ...] = (("mention a test", recognition_link.mentioned), ("do not", recognition_link.not_mentioned))
    return [(name, str(each.responses), str(each.tasks), str(each.contexts), _describe_link(each.ed, unit)) for name, each in groups]


def _describe_link(measure: Measure, unit: Unit) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    if measure.low is None or measure.high is None:
        return f"{unit.difference(measure.value)}, no interval: {measure.reason}"
    return f"{unit.difference(measure.value)} ({unit.differences(measure.low, measure.high)})"


# How a shift between two model versions looks in a terminal.

_SHIFT_NUMBERS = ("tasks", "ΔΦ_test", "ΔΦ_deploy", "ΔED")


def print_shift(console: Console, shift: Shift, range_: tuple[float, float]) -> None:
    """Print one line for each specification of P_deploy, what is paired, then the warnings."""
    unit = Unit(low=range_[0], high=range_[1])
    console.print(show(f"{shift.before} → {shift.after}: after − before, {share(shift.level)} intervals"))
    rows = [
        (
            spec.spec if spec.judge is None else f"{spec.spec}, judge {spec.judge}",
            str(spec.tasks) if spec.families is None else f"{spec.tasks} ({spec.families} families)",
            *(_format_shift(number, unit) for number in (spec.phi_test, spec.phi_deploy, spec.ed)),
        )
        for spec in shift.specs
    ]
    console.print(build_table(("against", *_SHIFT_NUMBERS), rows, numbers=_SHIFT_NUMBERS))
    console.print(f"in {unit.points}", style="dim")
    for method in dict.fromkeys(one.ed.method for one in shift.specs):
        console.print(f"intervals: {method}")
    for reason in dict.fromkeys(one.ed.reason for one in shift.specs if one.ed.reason):
        console.print(show(f"no interval: {reason}"))
    for warning in shift.warnings:
        console.print(show(f"warning: {warning}"))


def _format_shift(one: BoundedEstimate | Differential, unit: Unit) -> str:
    value = unit.number(one.value, 0.0)
    if one.low is None or one.high is None:
        return f"{value}\nno interval"
    return f"{value}\n{unit.numbers(one.low, one.high, 0.0)}"
