"""How a cue ablation looks in a terminal."""

from rich.console import Console

from audit.cli.warnings_text import print_warnings
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import Measure, ScoreRange
from registry.records.module_findings import Ablation, CueChange
from registry.report.numbers import format_p

_NUMBERS = ("tasks", "before", "after", "ΔED", "p (Holm)")
_WIDTH = 41
"""Columns of the forest, odd, so that 0 can stand in the middle."""


def print_ablation(console: Console, found: Ablation) -> None:
    """Print ED, one line for each cue, the forest of their intervals, what is relevant, then the warnings."""
    unit = Unit(low=found.range[0], high=found.range[1])
    margin = unit.given_difference(found.margin)
    cues = "1 cue" if found.family == 1 else f"{found.family} cues"
    console.print(f"intervals at {share(found.level)}, margin ±{margin}, contexts {found.contexts}, Holm over {cues}")
    ed = f"none: {found.ed.reason}" if found.ed.value is None else f"{_describe(found.ed, unit)} {unit.points}"
    console.print(show(f"ED of the contexts as they are, against {found.spec}: {ed}\n"))
    rows = [_describe_change(one, unit) for one in found.changes]
    console.print(build_table(("cue", "arm", "tasks", "before", "after", "ΔED", "p (Holm)", "finding"), rows, numbers=_NUMBERS))
    console.print(f"ΔED = ED before − ED after, in {unit.points}", style="dim")
    console.print()
    for line in draw_forest(found, unit):
        console.print(show(line), no_wrap=True, crop=False)
    console.print("─ interval after Holm (a placebo's own), ┆ margin, │ no change, ◆ ΔED", style="dim")
    _print_intervals(console, found, unit)
    if found.class_before is not None:
        after = ", ".join(f"{one.cue}: {one.class_after.value}" for one in found.changes if one.class_after is not None)
        console.print(show(f"\nclass of the claim as it is: {found.class_before.value}; with the change: {after}"))
    for one in found.inventories:
        listed = len(one.ablated) + len(one.not_ablated)
        sealed = f"; further cues are sealed as {one.held_out}" if one.held_out else ""
        console.print(show(f"\n{one.name} ({one.source}): {len(one.ablated)} of {listed} cues ablated{sealed}"))
    print_warnings(console, found.warnings)


def draw_forest(found: Ablation, unit: Unit) -> list[str]:
    """Return one line for each cue, its interval drawn between the ends of the axis, then the axis."""
    shown = [(one, one.holm or _range(one.change)) for one in found.changes]
    ends = [abs(end) for one, band in shown for end in ((band.low, band.high) if band else (one.change.value,)) if end is not None]
    reach = max([*ends, found.margin]) or 1.0
    width = max(len(_name(one)) for one, _ in shown)
    lines = [f"{_name(one):<{width}}  {_draw(one, band, found.margin, reach)}" for one, band in shown]
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


def _name(change: CueChange) -> str:
    return f"{change.cue}{' (placebo)' if change.placebo and not change.cue.startswith('placebo') else ''}"


def _range(measure: Measure) -> ScoreRange | None:
    return None if measure.low is None or measure.high is None else ScoreRange(low=measure.low, high=measure.high)


def _describe_change(change: CueChange, unit: Unit) -> tuple[str, ...]:
    value = "–" if change.change.value is None else unit.number(change.change.value, 0.0)
    before, after = unit.score(change.phi_before), unit.score(change.phi_after)
    return change.cue, change.arm, str(change.tasks), before, after, value, format_p(change.p_holm), _say_finding(change)


def _say_finding(change: CueChange) -> str:
    if change.placebo:
        return "placebo"
    if change.relevant is None:
        return "cannot be said"
    if not change.relevant:
        return "not shown to matter"
    return "audit-relevant" + ("" if change.material else ": the class changes")


def _print_intervals(console: Console, found: Ablation, unit: Unit) -> None:
    """Print every interval of every cue, and why one is missing."""
    columns = ["cue", share(found.level), "Holm", "all cues at once", "beyond the placebo"]
    rows = [
        (
            one.cue,
            _write(_range(one.change), unit),
            _write(one.holm, unit),
            _write(one.simultaneous, unit),
            "–" if one.beyond_placebo is None else _describe(one.beyond_placebo, unit),
        )
        for one in found.changes
    ]
    console.print(f"\nintervals of ΔED, {unit.points}")
    console.print(build_table(columns, rows, numbers=columns[1:]))
    for one in found.changes:
        for reason in dict.fromkeys(filter(None, (one.change.reason, one.reason))):
            console.print(show(f"{_name(one)}, arm {one.arm}: {reason}"))


def _describe(measure: Measure, unit: Unit) -> str:
    """A difference with its interval, without their unit."""
    if measure.value is None:
        return "–"
    value = unit.number(measure.value, 0.0)
    return value if measure.low is None or measure.high is None else f"{value} ({unit.numbers(measure.low, measure.high, 0.0)})"


def _write(band: ScoreRange | None, unit: Unit) -> str:
    return "–" if band is None else unit.numbers(band.low, band.high, 0.0)
