"""The address of a fleet on the command line, and its libraries, which may not be installed."""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

import click

from registry.errors import Fault, InputError, UnavailableError

VARIABLE = "CAVEAT_FLEET_URL"
F = TypeVar("F", bound=Callable[..., Any])


def load_or_refuse(module: str, name: str) -> Any:
    """Return *name* of *module*; raises UnavailableError where its libraries are not installed."""
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        problem = f"this needs the library {error.name}, which is not installed here"
        raise UnavailableError(
            Fault("part-not-installed", error.name or "library", problem, advice="pip install 'caveat[fleet]'")
        ) from error


def get_address(url: str | None) -> str:
    """Return the address of the fleet that the command names with its parameter `url`.

    Raises:
        InputError: there is none, it is no address, or it has a password on the command line.
    """
    if not url:
        problem = f"no fleet is named: give the address of its PostgreSQL database, or set {VARIABLE}"
        raise InputError(Fault("fleet-url", "fleet URL", problem))
    is_typed = click.get_current_context().get_parameter_source("url") is click.core.ParameterSource.COMMANDLINE
    address: str = load_or_refuse("fleet.database", "parse_address")(url, is_typed=is_typed)
    return address


def url_argument(function: F) -> F:
    """Add the argument URL, which the environment may give."""
    return click.argument("url", required=False, envvar=VARIABLE)(function)


def url_option(function: F) -> F:
    """Add the option `--fleet`, which the environment may give."""
    return click.option("--fleet", "url", metavar="URL", envvar=VARIABLE, help=f"The fleet; default: {VARIABLE}.")(function)
