"""Parts of the package `fleet`, which neither `registry` nor `audit` imports: entry points name them, and `--fleet` asks for them."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeVar

import click

from registry.errors import Fault, InputError, UnavailableError

_GROUP = "caveat.fleet"
F = TypeVar("F", bound=Callable[..., Any])


def load_fleet_part(name: str) -> Any:
    """Return the part of the fleet called *name*; raises UnavailableError where its libraries are not installed."""
    for point in entry_points(group=_GROUP, name=name):
        try:
            return point.load()
        except ModuleNotFoundError as error:
            problem = f"this needs the library {error.name}, which is not installed here"
            raise UnavailableError(
                Fault("part-not-installed", error.name or "library", problem, advice="pip install 'caveat[fleet]'")
            ) from error
    raise UnavailableError(Fault("part-not-installed", "fleet", f"this installation has no part {name!r} of a fleet"))


def fleet_option(function: F) -> F:
    """Add the option `--fleet`.

    The environment does not give it: a command that can work on this machine uses a fleet only where it says so. With a variable that
    was set for workers, paid calls could go elsewhere, and small work wait for a worker.
    """
    text = "Use the workers of this fleet (a PostgreSQL address); CAVEAT_FLEET_URL is not read here."
    return click.option("--fleet", metavar="URL", help=text)(function)


def rate_option(function: F) -> F:
    """Add the option `--rate`, for calls of models."""
    text = "With --fleet: most requests a second, of all workers."
    return click.option("--rate", metavar="N", type=click.FloatRange(0.01, 100_000), help=text)(function)


def check_fleet(url: str | None, *, batch: bool = False, rate: float | None = None, is_strict: bool = False) -> None:
    """Return where *url*, given with `--fleet`, can be the address of a fleet, and the other options go with it; raises InputError.

    Args:
        batch: whether calls are made in batches.
        rate: requests a second, for all workers.
        is_strict: whether the processors of workers are limited.
    """
    if url is not None:
        load_fleet_part("address")(url, is_typed=True)
    if url is not None and batch:
        problem = "workers of a fleet send single requests, and batches are submitted by one process"
        raise InputError(Fault("bad-option", "--batch", problem, advice="leave out --batch or --fleet"))
    limits = {"--rate": rate is not None, "--strict": is_strict}
    for name in (name for name, is_used in limits.items() if is_used and url is None):
        raise InputError(Fault("bad-option", name, "limits the workers of a fleet", advice=f"add --fleet, or leave out {name}"))
