"""Parts of the package `fleet`, which neither `registry` nor `audit` imports: entry points name them, and `--fleet` asks for them."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click

from registry.errors import Fault, UnavailableError

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


def has_password(url: str) -> bool:
    """Return whether *url* contains a password."""
    return urlsplit(url).password is not None


def fleet_option(*, is_inherited: bool = False) -> Callable[[F], F]:
    """Return the option `--fleet`.

    Args:
        is_inherited: whether the environment may give it. It may for calls of models, which begin and end on one fleet. Pure work waits
            for a worker that can do it, and does so only where the command says it.
    """
    text = "Use the workers of this fleet (a PostgreSQL address)."
    return click.option("--fleet", metavar="URL", envvar="CAVEAT_FLEET_URL" if is_inherited else None, help=text)


def check_fleet(url: str | None) -> None:
    """Return where *url*, given with `--fleet` or by the environment, can be the address of a fleet; raises InputError."""
    if url is not None:
        is_typed = click.get_current_context().get_parameter_source("fleet") is click.core.ParameterSource.COMMANDLINE
        load_fleet_part("address")(url, is_typed=is_typed)
