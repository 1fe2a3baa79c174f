"""How bootstrap bands look in a terminal."""

from collections.abc import Callable

from rich.console import Console

from audit.wording import Unit
from registry.cli.output import build_table, show
from registry.records.estimate import Bands, Bootstrap, Range

_WAYS = ("tasks drawn", "contexts drawn", "both drawn")


def print_bands(console: Console, found: Bootstrap, unit: Unit) -> None:
    """Print the bands of one specification as one table, and why any of them is missing."""
    errors = unit.difference(found.standard_error), unit.difference(found.expected_standard_error)
    console.print(
        f"bootstrap bands: {found.replicates} replicates, seed {found.seed}, stretched by {found.stretch:.2f}; they decide nothing\n"
        f"standard error of ED over the replicates {errors[0]}, in closed form {errors[1]}"
    )
    listed = [
        ("Φ_test", found.phi_test, unit.score),
        ("Φ_deploy", found.phi_deploy, unit.score),
        ("ED", found.ed, unit.difference),
        ("nED", found.ned, _write_plain),
    ]
    rows = [_describe(name, bands, write) for name, bands, write in listed if bands is not None]
    console.print(build_table(("", *_WAYS), rows, numbers=_WAYS))
    reasons = dict.fromkeys(bands.reason for _, bands, _ in listed if bands is not None and bands.reason)
    for reason in reasons:
        console.print(show(f"no band: {reason}"))


def _describe(name: str, bands: Bands, write: Callable[[float], str]) -> tuple[str, ...]:
    # The unit stands once, beside the name.
    unit = write(0.0).partition(" ")[2]
    cells = [_write_range(band, write) for band in (bands.task, bands.context, bands.two_way)]
    return (f"{name}, {unit}" if unit else name, *cells)


def _write_range(band: Range | None, write: Callable[[float], str]) -> str:
    return "none" if band is None else " to ".join(write(end).partition(" ")[0] for end in (band.low, band.high))


def _write_plain(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
