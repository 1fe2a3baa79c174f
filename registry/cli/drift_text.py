"""How a claim over model versions looks in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from registry.cli.output import build_table
from registry.records.estimates import BoundedEstimate, Differential, SpecEstimate
from registry.records.supplement import Drift, DriftStep, VersionPoint
from registry.report.drift_figure import name_versions
from registry.report.numbers import format_level, format_number, format_range, format_signed
from registry.report.wording import get_words

_NUMBERS = ("Φ_test", "Φ_deploy", "ED")
_MOVED = ("ΔΦ_test", "ΔΦ_deploy", "ΔED")


def print_drift(console: Console, drift: Drift) -> None:
    """Print a line for each revision and specification, then how far the numbers moved."""
    names = dict(zip((point.claim for point in drift.points), name_versions(drift.points), strict=True))
    rows = [row for point in drift.points for row in _list_rows(point, names[point.claim])]
    console.print(build_table(("version", "class", "against", *_NUMBERS), rows, numbers=_NUMBERS))
    levels = {point.level for point in drift.points if point.level is not None}
    if levels:
        console.print(f"intervals at {' and '.join(map(format_level, sorted(levels)))}")
    if len({point.model for point in drift.points}) == 1:
        console.print("All of it is about one model version: there is nothing to compare.")
    if drift.steps:
        _print_steps(console, drift.steps, names)


def _list_rows(point: VersionPoint, name: str) -> Iterator[tuple[str, ...]]:
    version = f"{name}\n@{point.claim.rpartition('@')[2]}, entry {point.claim_entry.seq}"
    if not point.estimates:
        why = "not audited" if point.audit is None else "no estimate"
        yield (version, _describe(point), why, "–", "–", "–")
    for place, one in enumerate(point.estimates):
        first = ("", "") if place else (version, _describe(point))
        yield (*first, _name(one), *_write(point, one))


def _describe(point: VersionPoint) -> str:
    """Class, standing or mode, then who says so and where."""
    if point.class_ is None or point.outcome_entry is None:
        return "–"
    words = [get_words(one) for one in (point.class_, point.standing, point.mode) if one is not None]
    suggested = f", the point estimate suggests {get_words(point.point_class)}" if point.point_class else ""
    return f"{' · '.join(words)}{suggested}\n{point.audit}\n{point.auditor}, entry {point.outcome_entry.seq}"


def _name(one: SpecEstimate | DriftStep) -> str:
    return one.spec if one.judge is None else f"{one.spec}, judge {one.judge}"


def _write(point: VersionPoint, one: SpecEstimate) -> tuple[str, str, str]:
    lines = (*(point.range or ()), *(() if point.theta is None else (point.theta,)))
    margins = () if point.margin is None else (-point.margin, point.margin)
    return (
        _write_number(one.phi_test, lines, signed=False),
        _write_number(one.phi_deploy, lines, signed=False),
        _write_number(one.ed, margins, signed=True),
    )


def _write_number(one: BoundedEstimate | Differential, lines: Sequence[float], *, signed: bool) -> str:
    value = (format_signed if signed else format_number)(one.value, against=lines)
    if one.low is None or one.high is None:
        return f"{value}\nno interval"
    return f"{value}\n{format_range(one.low, one.high, against=lines, signed=signed)}"


def _print_steps(console: Console, steps: Sequence[DriftStep], names: dict[str, str]) -> None:
    console.print("\nhow far that moved, after − before", style="bold")
    rows = [
        (
            f"{names[one.before]} → {names[one.after]}",
            _name(one),
            *(_write_number(number, (), signed=True) for number in (one.phi_test, one.phi_deploy, one.ed)),
            f"task by task, entry {one.finding.seq}" if one.finding else "the two estimates alone",
        )
        for one in steps
    ]
    console.print(build_table(("from, to", "against", *_MOVED, "compared"), rows, numbers=_MOVED))
    for method in dict.fromkeys(one.ed.method for one in steps if one.ed.low is not None):
        console.print(f"intervals: {method}")
    for reason in dict.fromkeys(one.ed.reason for one in steps if one.ed.reason):
        console.print(reason)
