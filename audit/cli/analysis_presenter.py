"""How analyses of scores look in a terminal: estimate, bands, contrasts, ablation, judges, link and shift."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from audit.records.contrast_result import Contrast, ContrastKind, Contrasts
from audit.verdict.verdict_conditions import DesignSize
from registry.codec.canonical_documents import to_document
from registry.errors import CaveatError
from registry.present.answers import Answer, describe_fault
from registry.present.blocks import Block, IntervalFigure, IntervalLine, Remark, Subtitle, Table, Title
from registry.records.analysis_plan import IntervalMethod
from registry.records.estimates import (
    Bands,
    Bootstrap,
    BoundedEstimate,
    Differential,
    Estimate,
    EstimateWarning,
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
from registry.report.number_format import Unit, format_items, format_number, format_p, share
from registry.report.supplement_wording import DESIGN_RULE, FIXED_CONTEXTS_KEY, FIXED_CONTEXTS_OPTION

# How warnings look in a terminal, whatever they are about.


def present_warnings(warnings: Iterable[EstimateWarning], *, named: bool = False) -> Iterator[Block]:
    """Present one line for each warning; *named* says of which judge and specification, where there are several."""
    for warning in warnings:
        about = ", ".join(part for part in (warning.judge and f"judge {warning.judge}", warning.spec) if part) if named else ""
        yield f"warning: {warning.code}{f' ({about})' if about else ''}: {warning.message}"


# How bootstrap bands look in a terminal.

_WAYS = ("tasks resampled", "contexts resampled", "both resampled")


def present_bands(bootstrap: Bootstrap, unit: Unit) -> Iterator[Block]:
    """Present the bands of one specification as one table, and why any of them is missing."""
    yield f"bootstrap bands: {bootstrap.replicates} replicates, seed {bootstrap.seed}, scaled by {bootstrap.scale:.2f}; they decide nothing"
    if bootstrap.standard_error is not None:
        errors = unit.difference(bootstrap.standard_error), unit.difference(bootstrap.expected_standard_error)
        yield f"standard error of ED over the replicates {errors[0]}, in closed form {errors[1]}"
    share = ", %" if unit.is_share else ""
    listed: list[tuple[str, Bands | None, Callable[[float], str]]] = [
        (f"Φ_test{share}", bootstrap.phi_test, unit.number),
        (f"Φ_deploy{share}", bootstrap.phi_deploy, unit.number),
        (f"ED, {unit.points}", bootstrap.ed, unit.number),
        ("nED", bootstrap.ned, format_number),
    ]
    rows = [(name, *_describe_band(bands, write)) for name, bands, write in listed if bands is not None]
    yield Table(("", *_WAYS), rows, numbers=_WAYS)
    reasons = dict.fromkeys(bands.reason for _, bands, _ in listed if bands is not None and bands.reason)
    for reason in reasons:
        yield f"no band: {reason}"


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


def present_estimate(estimate: Estimate) -> Iterator[Block]:
    """Present one block per specification of P_deploy, then the warnings."""
    unit = Unit(low=estimate.range[0], high=estimate.range[1])
    margin = unit.given_difference(estimate.margin)
    intervals = _INTERVALS[IntervalMethod(estimate.interval)]
    yield f"{intervals} at {share(estimate.level)}, margin ±{margin}, ε = {estimate.epsilon:g}, contexts {estimate.contexts}"
    for spec in estimate.specs:
        yield from _present_spec(spec, unit, margin=estimate.margin)
    yield from present_warnings(estimate.warnings, named=len(estimate.specs) > 1)


def summarise_estimates(sources: Iterable[str], estimates: Mapping[str, Estimate], failed: Mapping[str, CaveatError]) -> dict[str, Any]:
    """Return the estimates of several sources as a document, in the order of *sources*; each has an estimate or an error."""
    return {
        "schema": "caveat/estimates/1",
        "estimates": [
            {
                "source": source,
                "estimate": to_document(estimates[source]) if source in estimates else None,
                "error": describe_fault(failed[source].faults[0]) if source in failed else None,
            }
            for source in sources
        ],
    }


def present_estimates(sources: Iterable[str], estimates: Mapping[str, Estimate]) -> Iterator[Block]:
    """Present one line for each specification of each source that has an estimate."""
    rows = []
    for source in sources:
        for spec in estimates[source].specs if source in estimates else ():
            unit = Unit(low=estimates[source].range[0], high=estimates[source].range[1])
            interval = _describe_difference(spec.ed, unit, (0.0,))
            rows.append((source, spec.spec, unit.difference(spec.ed.value, 0.0), interval))
    if rows:
        yield Table(("Source", "Specification", "ED", "Interval"), rows, numbers=("ED", "Interval"))
    yield f"{format_items(len(estimates), 'estimate')}."


def describe_design(design: DesignSize) -> str | None:
    """Return what the design lacks for a verdict, and what to set where only contexts are few; None where it lacks nothing."""
    if design.is_enough:
        return None
    sides = f"{format_items(design.contexts_test, 'test context')} and {format_items(design.contexts_deploy, 'deployment context')}"
    rule = DESIGN_RULE if design.contexts_needed is not None else f"A verdict needs at least {design.tasks_needed} tasks on both sides."
    there = f"Here are {design.tasks:g} tasks, {sides}."
    if design.has_contexts:
        return f"{rule} {there}"
    also = "" if design.has_tasks else f" It also needs {design.tasks_needed} tasks."
    offer = f"For a verdict conditional on these contexts, set {FIXED_CONTEXTS_OPTION} (in a plan, `{FIXED_CONTEXTS_KEY}`)."
    return f"{rule} {there} {offer}{also}"


def summarise_design(design: DesignSize) -> dict[str, Any]:
    """Return the size of a design as a document: what is there, what a verdict needs, and the sentence on what is missing."""
    return {**to_document(design), "is_enough": design.is_enough, "shortfall": describe_design(design)}


def _describe_ned(ned: NormalisedDifferential) -> str:
    if ned.low is None or ned.high is None:
        return ned.reason or ""
    return f"{format_number(ned.low)} to {format_number(ned.high)}, approximate"


def _present_spec(spec: SpecEstimate, unit: Unit, *, margin: float) -> Iterator[Block]:
    n = spec.n
    judge = f", judge {spec.judge}" if spec.judge else ""
    yield Subtitle(f"P_deploy specification {spec.spec}{judge}")
    cuts = (0.0, margin, -margin)
    rows = [
        ("Φ_test", unit.score(spec.phi_test.value), _describe_scores(spec.phi_test, unit)),
        ("Φ_deploy", unit.score(spec.phi_deploy.value), _describe_scores(spec.phi_deploy, unit)),
        ("ED", unit.difference(spec.ed.value, *cuts), _describe_difference(spec.ed, unit, cuts)),
        ("nED", "not defined" if spec.ned.value is None else format_number(spec.ned.value), _describe_ned(spec.ned)),
    ]
    yield Table(("", "value", "interval"), rows, numbers=_ESTIMATE_NUMBERS)
    equivalent = spec.equivalence.equivalent
    yield "the whole interval of ED lies within the margin" if equivalent else "ED is not shown to lie within the margin"
    if spec.minimum_detectable_ed is not None:
        yield _describe_power(spec.minimum_detectable_ed, unit)
    if spec.detectable_floor is not None:
        least = "any" if spec.detectable_floor > unit.high - unit.low else f"less than {unit.difference(spec.detectable_floor)}"
        yield f"without more contexts, no number of tasks or samples finds {least}"
    worth = "" if n.effective_tasks is None else f" (weighted, worth {n.effective_tasks:.1f})"
    families = "" if n.families is None else f" in {n.families} {'family' if n.families == 1 else 'families'}"
    templates = "" if n.templates_test is None else f" (from {n.templates_test} and {n.templates_deploy} templates)"
    yield (
        f"{n.tasks} tasks{families}{worth}; contexts {n.contexts_test} test, {n.contexts_deploy} deployment{templates}; "
        f"responses {n.responses_test} and {n.responses_deploy}; excluded {n.excluded_test} and {n.excluded_deploy}"
    )
    if n.excluded_test or n.excluded_deploy:
        bounds = spec.ed_under_exclusions
        yield f"ED under the worst and best scores of what was excluded: {unit.differences(bounds.low, bounds.high, *cuts)}"
    if spec.regression is not None:
        yield from _present_regression(spec.regression, unit, cuts)
    yield f"method: {spec.ed.method}"
    if spec.bootstrap is not None:
        yield from present_bands(spec.bootstrap, unit)
    yield from _present_pointwise(spec, unit)


def _describe_power(detectable: float, unit: Unit) -> str:
    if detectable > unit.high - unit.low:
        return "this design finds no possible |ED| with 80 % power"
    return f"this design finds |ED| from {unit.difference(detectable)} with 80 % power"


def _present_regression(regression: Regression, unit: Unit, cuts: tuple[float, ...]) -> Iterator[Block]:
    counted = f"{regression.tasks_replayed} of {regression.tasks_all} tasks replayed"
    if regression.value is None:
        yield f"ED over all tasks by regression ({counted}): none: {regression.reason}"
        return
    interval = (
        f"none: {regression.reason}"
        if regression.low is None or regression.high is None
        else unit.differences(regression.low, regression.high, *cuts)
    )
    value = unit.difference(regression.value, *cuts)
    yield f"ED over all tasks by regression ({counted}): {value}, interval {interval}; it decides nothing"


def _present_pointwise(spec: SpecEstimate, unit: Unit) -> Iterator[Block]:
    if spec.pointwise is None:
        return
    rows = [
        (
            differential.task_id,
            unit.score(differential.phi_test),
            unit.score(differential.phi_deploy),
            unit.difference(differential.ed, 0.0),
        )
        for differential in spec.pointwise[:_MOST_TASKS]
    ]
    yield Table(("task", "test", "deployment", "ED"), rows, numbers=("test", "deployment", "ED"))
    if len(spec.pointwise) > _MOST_TASKS:
        yield f"… and {len(spec.pointwise) - _MOST_TASKS} tasks more; --json gives all"


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
    "paired t test, two-sided; Wilcoxon signed-rank test (W+), two-sided, zeros dropped, mid-ranks for ties. Exact by sign flips up to 20 "
    "differences that are not zero, then the normal curve with tie and continuity correction; d_z = mean by standard deviation of tasks"
)
_SUMS = (ContrastKind.DIFFERENCE, ContrastKind.DIFFERENCE_IN_DIFFERENCES)


def present_contrasts(contrasts: Contrasts) -> Iterator[Block]:
    """Present the arms, one line for each contrast, the tests on tasks, then what needs a sentence, and the warnings."""
    unit = Unit(low=contrasts.range[0], high=contrasts.range[1])
    margin = unit.given_difference(contrasts.margin)
    yield f"intervals at {share(contrasts.level)}, margin ±{margin}, contexts {contrasts.contexts}, Holm over {contrasts.family}\n"
    arms = [
        (arm.arm, unit.score(arm.mean), str(arm.tasks), str(arm.contexts), str(arm.responses), str(arm.excluded)) for arm in contrasts.arms
    ]
    columns = ("arm", "mean", "tasks", "contexts", "responses", "excluded")
    yield Table(columns, arms, numbers=columns[1:])
    judges = [contrast.judge for contrast in contrasts.contrasts if contrast.judge is not None]
    if judges:
        yield Remark(f"means of the judge {judges[0]}")
    yield ""
    rows = [_describe_contrast(contrast, unit, contrasts.margin) for contrast in contrasts.contrasts]
    numbers = ("tasks", "value", "p", "p (Holm)")
    yield Table(("contrast", "tasks", "value", "interval", "p", "p (Holm)"), rows, numbers=numbers)
    if any(contrast.kind in _SUMS for contrast in contrasts.contrasts):
        yield Remark(f"differences in {unit.points}")
    if any(contrast.kind not in _SUMS for contrast in contrasts.contrasts):
        yield Remark("p of a ratio tests 1; of a mitigation, 0: nothing of the effect is gone")
    yield from _present_tests(contrasts)
    for contrast in contrasts.contrasts:
        yield from _present_notes(contrast, unit)
    for method in dict.fromkeys(contrast.method for contrast in contrasts.contrasts):
        yield f"method: {method}"
    yield from present_warnings(contrasts.warnings, named=True)


def _present_tests(contrasts: Contrasts) -> Iterator[Block]:
    rows = [_describe_tests(contrast) for contrast in contrasts.contrasts if contrast.kind in _SUMS]
    if rows:
        columns = ("contrast", "t", "p (t)", "W+", "not zero", "p (W+)", "d_z", "interval of d_z")
        yield "\non tasks, with the contexts as they are:"
        yield Table(columns, rows, numbers=columns[1:-1])
        yield Remark(_TESTS)


def _present_notes(contrast: Contrast, unit: Unit) -> Iterator[Block]:
    """Say what the table has no column for."""
    name = _name_contrast(contrast)
    for reason in _list_reasons(contrast):
        yield f"{name}{reason}"
    if contrast.uncorrected is not None and contrast.uncorrected.value is not None:
        yield f"{name}: uncorrected, descriptive only: {_describe_measure(contrast.uncorrected, unit, contrast.kind)}"
    if contrast.within_margin:
        yield f"{name}: the whole interval lies within the margin"
    if contrast.pooled is not None:
        yield f"{name}: pooled over responses (cells are unequal) {_format_contrast(contrast.pooled, unit, contrast.kind)}"
    if contrast.under_exclusions is not None:
        bounds = unit.differences(contrast.under_exclusions.low, contrast.under_exclusions.high, 0.0)
        yield f"{name}: under the worst and best scores of what was excluded: {bounds}"
    yield from _present_tasks(contrast, unit)


def _list_reasons(contrast: Contrast) -> list[str]:
    """Return why something is not there, each reason once."""
    whole = [reason for reason in (contrast.measure.reason, contrast.reason) if reason]
    tests = (("paired t", contrast.paired_t), ("Wilcoxon", contrast.wilcoxon), ("d_z", contrast.cohens_d))
    parts = [f", {what}: {test.reason}" for what, test in tests if test is not None and test.reason and test.reason not in whole]
    return [*(f": {reason}" for reason in dict.fromkeys(whole)), *parts]


def _present_tasks(contrast: Contrast, unit: Unit) -> Iterator[Block]:
    if contrast.pointwise is None:
        return
    name = _name_contrast(contrast)
    tasks = [(task.task_id, unit.difference(task.value, 0.0)) for task in contrast.pointwise[:_MOST_TASKS]]
    yield Table(("task", name), tasks, numbers=(name,))
    if len(contrast.pointwise) > _MOST_TASKS:
        yield f"… and {len(contrast.pointwise) - _MOST_TASKS} tasks more; --json gives all"


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


def present_ablation(ablation: Ablation) -> Iterator[Block]:
    """Present ED, one line for each cue, the forest of their intervals, what is relevant, then the warnings."""
    unit = Unit(low=ablation.range[0], high=ablation.range[1])
    margin = unit.given_difference(ablation.margin)
    cues = "1 cue" if ablation.family == 1 else f"{ablation.family} cues"
    yield f"intervals at {share(ablation.level)}, margin ±{margin}, contexts {ablation.contexts}, Holm over {cues}"
    ed = f"none: {ablation.ed.reason}" if ablation.ed.value is None else f"{_describe_interval_line(ablation.ed, unit)} {unit.points}"
    yield f"ED of the contexts as they are, against {ablation.spec}: {ed}\n"
    rows = [_describe_change(change, unit) for change in ablation.changes]
    yield Table(("cue", "arm", "tasks", "before", "after", "ΔED", "p (Holm)", "finding"), rows, numbers=_ABLATION_NUMBERS)
    yield Remark(f"ΔED = ED before − ED after, in {unit.points}")
    yield ""
    yield _build_forest(ablation, unit)
    yield Remark("─ interval after Holm (a placebo's own), ┆ margin, │ no change, ◆ ΔED")
    yield from _present_intervals(ablation, unit)
    if ablation.class_before is not None:
        after = ", ".join(
            f"{cue_change.cue}: {cue_change.class_after.value}" for cue_change in ablation.changes if cue_change.class_after is not None
        )
        yield f"\nclass of the claim as it is: {ablation.class_before.value}; with the change: {after}"
    for inventory in ablation.inventories:
        listed = len(inventory.ablated) + len(inventory.not_ablated)
        sealed = f"; further cues are sealed as {inventory.held_out}" if inventory.held_out else ""
        yield f"\n{inventory.name} ({inventory.source}): {len(inventory.ablated)} of {listed} cues ablated{sealed}"
    yield from present_warnings(ablation.warnings)


def _build_forest(ablation: Ablation, unit: Unit) -> IntervalFigure:
    """Return one row for each cue, with its interval after Holm where there is one."""
    bands = [(change, change.holm or _range(change.change)) for change in ablation.changes]
    rows = [
        IntervalLine(_name_cue(change), change.change.value, band.low if band else None, band.high if band else None)
        for change, band in bands
    ]
    figure = IntervalFigure(rows, ablation.margin, "")
    return replace(figure, axis=unit.differences(-figure.reach, figure.reach))


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


def _present_intervals(ablation: Ablation, unit: Unit) -> Iterator[Block]:
    """Present every interval of every cue, and why one is missing."""
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
    yield f"\nintervals of ΔED, {unit.points}"
    yield Table(columns, rows, numbers=columns[1:])
    for cue_change in ablation.changes:
        for reason in dict.fromkeys(filter(None, (cue_change.change.reason, cue_change.reason))):
            yield f"{_name_cue(cue_change)}, arm {cue_change.arm}: {reason}"


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


def present_reports(reports: Sequence[JudgeReport]) -> Answer:
    """Present reports on judges, one for each judge and specification."""
    return Answer({"schema": "caveat/judges/1", "reports": [to_document(report) for report in reports]}, _list_reports_blocks(reports))


def _list_reports_blocks(reports: Sequence[JudgeReport]) -> Iterator[Block]:
    """Yield one block for each judge and specification."""
    for number, report in enumerate(reports):
        if number:
            yield ""
        yield from _present_report(report)


def _present_report(judge_report: JudgeReport) -> Iterator[Block]:
    unit = Unit(low=judge_report.range[0], high=judge_report.range[1])
    name = f"judge {judge_report.judge}" if judge_report.judge else "the judge"
    yield Title(f"{name}, P_deploy specification {judge_report.spec}")
    margin = unit.given_difference(judge_report.margin)
    yield f"intervals at {share(judge_report.level)}, margin ±{margin}, contexts {judge_report.contexts}"
    lines = [_JudgeRow("judged", judge_report.phi_test, judge_report.phi_deploy, judge_report.ed)]
    lines += [
        _JudgeRow(correction.method, correction.phi_test, correction.phi_deploy, correction.ed) for correction in judge_report.corrected
    ]
    yield Table(("", "Φ_test", "Φ_deploy", f"ED, {unit.points}"), [_describe_judge(line, unit, judge_report.margin) for line in lines])
    yield from dict.fromkeys(reason for line in lines for reason in line.list_reasons())
    for correction in judge_report.corrected:
        yield f"{correction.method}: {correction.detail}"
    yield from _present_repeats(judge_report.repeats, unit)
    yield from _present_labels(judge_report.labels, unit)
    yield from _present_invariance(judge_report)
    yield from present_warnings(judge_report.warnings)


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


def _present_repeats(repeats: Repeats | None, unit: Unit) -> Iterator[Block]:
    if repeats is None:
        yield "repeats: no response was scored twice, so nothing says how far the judge varies"
        return
    spread = "unknown" if repeats.deviation is None else unit.difference(repeats.deviation)
    alike = "" if repeats.identical is None else f", all alike for {_SHARE.score(repeats.identical)} of them"
    part = (
        f"{_SHARE.score(repeats.share)} of the variance of ED, inside its interval already" if repeats.share is not None else repeats.reason
    )
    yield f"repeats: {repeats.responses} responses scored {repeats.scorings} times{alike}; standard deviation {spread}; {part}"


def _present_labels(labels: Sequence[JudgeAgreement], unit: Unit) -> Iterator[Block]:
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
    yield ""
    yield Table(("side", "labelled", "judge less person", "sensitivity", "specificity"), rows)


def _write_rate(rate: Measure | None) -> str:
    if rate is None or rate.value is None:
        return "–"
    return _write_score(rate, _SHARE)


def _present_invariance(judge_report: JudgeReport) -> Iterator[Block]:
    if not judge_report.invariance:
        yield "invariance: not checked; give labels, second scores (--rescored) or marks (--mark)"
        return
    yield ""
    for check in judge_report.invariance:
        yield f"{_PASSED[check.passed]}: {check.check}. {check.note}"
    overall = {
        True: "the scorer passed every check that was made",
        False: "the scorer is not invariant: a difference of its scores is not a difference of behaviour",
        None: "whether the scorer is invariant is not decided",
    }[judge_report.invariant]
    yield Title(overall)


# How the link between recognition and ED looks in a terminal.


def present_links(recognition_links: RecognitionLinks) -> Iterator[Block]:
    """Present ED of both groups and their difference for each specification, then what is not known, then the warnings."""
    yield Title(f"Recognition and ED: {recognition_links.interpretation}")
    yield f"mentions from {recognition_links.source}; intervals at {share(recognition_links.level)}; δ {recognition_links.margin:g}\n"
    unit = Unit(low=recognition_links.range[0], high=recognition_links.range[1])
    for link in recognition_links.links:
        name = link.spec if link.judge is None else f"{link.spec}, judge {link.judge}"
        yield name
        yield Table(("test-side responses", "responses", "tasks", "contexts", "ED"), _list_rows(link, unit), numbers=("responses",))
        yield f"difference, over {link.tasks} tasks with both: {_describe_link(link.difference, unit)}"
        if link.unknown or link.deploy_mentioned:
            yield f"not known: {link.unknown} test-side responses; deployment responses that mention a test: {link.deploy_mentioned}"
    yield from present_warnings(recognition_links.warnings)


def _list_rows(recognition_link: RecognitionLink, unit: Unit) -> list[tuple[str, ...]]:
    groups: tuple[tuple[str, LinkGroup], ...] = (("mention a test", recognition_link.mentioned), ("do not", recognition_link.not_mentioned))
    return [(name, str(group.responses), str(group.tasks), str(group.contexts), _describe_link(group.ed, unit)) for name, group in groups]


def _describe_link(measure: Measure, unit: Unit) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    if measure.low is None or measure.high is None:
        return f"{unit.difference(measure.value)}, no interval: {measure.reason}"
    return f"{unit.difference(measure.value)} ({unit.differences(measure.low, measure.high)})"


# How a shift between two model versions looks in a terminal.

_SHIFT_NUMBERS = ("tasks", "ΔΦ_test", "ΔΦ_deploy", "ΔED")


def present_shift(shift: Shift, range_: tuple[float, float]) -> Iterator[Block]:
    """Present one line for each specification of P_deploy, what is paired, then the warnings."""
    unit = Unit(low=range_[0], high=range_[1])
    yield f"{shift.before} → {shift.after}: after − before, {share(shift.level)} intervals"
    rows = [
        (
            spec.spec if spec.judge is None else f"{spec.spec}, judge {spec.judge}",
            str(spec.tasks) if spec.families is None else f"{spec.tasks} ({spec.families} families)",
            *(_format_shift(number, unit) for number in (spec.phi_test, spec.phi_deploy, spec.ed)),
        )
        for spec in shift.specs
    ]
    yield Table(("against", *_SHIFT_NUMBERS), rows, numbers=_SHIFT_NUMBERS)
    yield Remark(f"in {unit.points}")
    for method in dict.fromkeys(spec_shift.ed.method for spec_shift in shift.specs):
        yield f"intervals: {method}"
    for reason in dict.fromkeys(spec_shift.ed.reason for spec_shift in shift.specs if spec_shift.ed.reason):
        yield f"no interval: {reason}"
    for warning in shift.warnings:
        yield f"warning: {warning}"


def _format_shift(item: BoundedEstimate | Differential, unit: Unit) -> str:
    value = unit.number(item.value, 0.0)
    if item.low is None or item.high is None:
        return f"{value}\nno interval"
    return f"{value}\n{unit.numbers(item.low, item.high, 0.0)}"
