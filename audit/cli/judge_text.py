"""How reports on judges look in a terminal and as JSON."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.console import Console

from audit.cli.warnings_text import print_warnings
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.records.estimates import Measure
from registry.records.module_findings import JudgeAgreement, JudgeReport, Repeats

_SIDES = {"test": "test", "deploy": "deployment"}
_SHARE = Unit(low=0.0, high=1.0)
_PASSED = {True: "passed", False: "failed", None: "undecided"}


def summarise_reports(reports: Sequence[JudgeReport]) -> dict[str, Any]:
    """Return the reports as the document `caveat/judges/1`."""
    return {"schema": "caveat/judges/1", "reports": [to_document(one) for one in reports]}


def print_reports(console: Console, reports: Sequence[JudgeReport]) -> None:
    """Print one block for each judge and specification."""
    for number, one in enumerate(reports):
        if number:
            console.print()
        _print_report(console, one)


def _print_report(console: Console, one: JudgeReport) -> None:
    unit = Unit(low=one.range[0], high=one.range[1])
    name = f"judge {one.judge}" if one.judge else "the judge"
    console.print(show(f"{name}, P_deploy specification {one.spec}"), style="bold")
    margin = unit.given_difference(one.margin)
    console.print(f"intervals at {share(one.level)}, margin ±{margin}, contexts {one.contexts}")
    lines = [_Line("judged", one.phi_test, one.phi_deploy, one.ed)]
    lines += [_Line(each.method, each.phi_test, each.phi_deploy, each.ed) for each in one.corrected]
    console.print(build_table(("", "Φ_test", "Φ_deploy", f"ED, {unit.points}"), [_describe(line, unit, one.margin) for line in lines]))
    for reason in dict.fromkeys(reason for line in lines for reason in line.list_reasons()):
        console.print(show(reason))
    for each in one.corrected:
        console.print(show(f"{each.method}: {each.detail}"))
    _print_repeats(console, one.repeats, unit)
    _print_labels(console, one.labels, unit)
    _print_invariance(console, one)
    print_warnings(console, one.warnings)


class _Line(NamedTuple):
    """Φ and ED, judged or corrected."""

    name: str
    phi_test: Measure
    phi_deploy: Measure
    ed: Measure

    def list_reasons(self) -> list[str]:
        """Why something is missing."""
        named = (("Φ_test", self.phi_test), ("Φ_deploy", self.phi_deploy), ("ED", self.ed))
        return [f"{self.name}, {what}: {measure.reason}" for what, measure in named if measure.reason]


def _describe(line: _Line, unit: Unit, margin: float) -> tuple[str, str, str, str]:
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
            _SIDES[one.side],
            f"{one.labelled} of {one.responses}",
            _write_difference(one.bias, unit, 0.0),
            _write_rate(one.sensitivity),
            _write_rate(one.specificity),
        )
        for one in labels
    ]
    console.print()
    console.print(build_table(("side", "labelled", "judge less person", "sensitivity", "specificity"), rows))


def _write_rate(rate: Measure | None) -> str:
    if rate is None or rate.value is None:
        return "–"
    return _write_score(rate, _SHARE)


def _print_invariance(console: Console, one: JudgeReport) -> None:
    if not one.invariance:
        console.print("invariance: not checked; give labels, second scores (--rescored) or marks (--mark)")
        return
    console.print()
    for check in one.invariance:
        console.print(show(f"{_PASSED[check.passed]}: {check.check}. {check.note}"))
    overall = {
        True: "the scorer passed every check that was made",
        False: "the scorer is not invariant: a difference of its scores is not a difference of behaviour",
        None: "whether the scorer is invariant is not decided",
    }[one.invariant]
    console.print(overall, style="bold")
