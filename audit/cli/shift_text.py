"""How a shift between two model versions looks in a terminal."""

from rich.console import Console

from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import BoundedEstimate, Differential
from registry.records.module_findings import Shift

_NUMBERS = ("tasks", "ΔΦ_test", "ΔΦ_deploy", "ΔED")


def print_shift(console: Console, found: Shift, range_: tuple[float, float]) -> None:
    """Print one line for each specification of P_deploy, what is paired, then the warnings."""
    unit = Unit(low=range_[0], high=range_[1])
    console.print(show(f"{found.before} → {found.after}: after − before, {share(found.level)} intervals"))
    rows = [
        (
            one.spec if one.judge is None else f"{one.spec}, judge {one.judge}",
            str(one.tasks) if one.families is None else f"{one.tasks} ({one.families} families)",
            *(_write(number, unit) for number in (one.phi_test, one.phi_deploy, one.ed)),
        )
        for one in found.specs
    ]
    console.print(build_table(("against", *_NUMBERS), rows, numbers=_NUMBERS))
    console.print(f"in {unit.points}", style="dim")
    for method in dict.fromkeys(one.ed.method for one in found.specs):
        console.print(f"intervals: {method}")
    for reason in dict.fromkeys(one.ed.reason for one in found.specs if one.ed.reason):
        console.print(show(f"no interval: {reason}"))
    for warning in found.warnings:
        console.print(show(f"warning: {warning}"))


def _write(one: BoundedEstimate | Differential, unit: Unit) -> str:
    value = unit.number(one.value, 0.0)
    if one.low is None or one.high is None:
        return f"{value}\nno interval"
    return f"{value}\n{unit.numbers(one.low, one.high, 0.0)}"
