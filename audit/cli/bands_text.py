"""How bootstrap bands look in a terminal."""

from collections.abc import Callable, Iterator

from rich.console import Console

from registry.report.units import Unit
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import Bands, Bootstrap
from registry.report.numbers import format_number

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
    rows = [(name, *_describe(bands, write)) for name, bands, write in listed if bands is not None]
    console.print(build_table(("", *_WAYS), rows, numbers=_WAYS))
    reasons = dict.fromkeys(bands.reason for _, bands, _ in listed if bands is not None and bands.reason)
    for reason in reasons:
        console.print(show(f"no band: {reason}"))


def _describe(bands: Bands, write: Callable[[float], str]) -> Iterator[str]:
    for band in (bands.task, bands.context, bands.two_way):
        yield "none" if band is None else f"{write(band.low)} to {write(band.high)}"
