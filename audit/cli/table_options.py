"""The options that choose rows and the score column of a table, for every command that reads one."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from registry.errors import Fault, InputError

Command = TypeVar("Command", bound=Callable[..., object])


def table_options(command: Command) -> Command:
    """Give *command* the options `--score` and `--where`, as arguments `score: str` and `where: dict[str, tuple[str, ...]]`.

    Both go to `audit.sources.table.read_table` as they are.
    """
    where = click.option(
        "--where",
        metavar="COLUMN=VALUE[,VALUE...]",
        multiple=True,
        callback=lambda _context, _parameter, values: parse_where(values),
        help="Keep only rows with one of these values in COLUMN, any column of the file. May be repeated.",
    )
    score = click.option("--score", metavar="COLUMN", default="score", show_default=True, help="The column of scores.")
    return score(where(command))


def parse_where(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values to keep by column; several options for one column are taken together.

    Raises:
        InputError: a text has no `=`, or nothing before it.
    """
    found: dict[str, tuple[str, ...]] = {}
    faults = []
    for text in texts:
        column, sign, values = text.partition("=")
        if not sign or not column.strip():
            advice = "write for example --where model=gpt-5 or --where context_id=chat,agent"
            faults.append(Fault(code="bad-where", where="--where", found=f"expected COLUMN=VALUE, found {text!r}", advice=advice))
            continue
        wanted = tuple(value.strip() for value in values.split(","))
        found[column.strip()] = tuple(dict.fromkeys((*found.get(column.strip(), ()), *wanted)))
    if faults:
        raise InputError(faults)
    return found
