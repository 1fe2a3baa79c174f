"""The options that every command with a list takes, and the logs that it reads."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar

import click

from registry.cli.application import App

if TYPE_CHECKING:
    from registry.present.listings import Listing

R = TypeVar("R")
Row = TypeVar("Row")


class ListOutput:
    """Where a list goes: the columns, the order and the form that were asked for."""

    def __init__(self, app: App, *, columns: str | None, sort: str | None, is_reversed: bool, is_csv: bool) -> None:
        self._app = app
        self._columns = tuple(name.strip() for name in columns.split(",") if name.strip()) if columns else ()
        self._sort = sort
        self._is_reversed = is_reversed
        self._is_csv = is_csv

    @property
    def is_for_programs(self) -> bool:
        """Whether a program reads it, which wants all rows."""
        return self._is_csv or self._app.json

    @property
    def is_arranged(self) -> bool:
        """Whether columns or an order were chosen, so that only a table will do."""
        return bool(self._columns or self._sort or self._is_reversed)

    def report(self, listing: "Listing[Row]", *, limit: int | None = None) -> None:
        """Print *listing*, at most *limit* rows of it."""
        from registry.present.listings import ListChoice, build_answer, render_csv

        choice = ListChoice(columns=self._columns, sort=self._sort, is_reversed=self._is_reversed, limit=limit)
        if self._is_csv:
            # As bytes: a file that is opened in a spreadsheet is UTF-8, whatever the encoding of the terminal.
            click.echo(render_csv(listing, choice), nl=False)
        else:
            self._app.report(build_answer(listing, choice))


def list_options(function: Callable[Concatenate[App, ...], R]) -> Callable[Concatenate[App, ...], R]:
    """Give a command that lists something `--columns`, `--sort`, `--reverse` and `--csv`, as one argument `output`; under `pass_app`."""

    @functools.wraps(function)
    def command(app: App, /, *args: Any, **options: Any) -> R:
        is_csv = options.pop("is_csv")
        output = ListOutput(
            app,
            columns=options.pop("columns"),
            sort=options.pop("sort"),
            is_reversed=options.pop("is_reversed"),
            is_csv=is_csv,
        )
        if app.json and is_csv:
            raise click.UsageError("--csv and --json are two forms of one answer; give one of them.")
        return function(app, *args, output=output, **options)

    for option in (
        click.option("--csv", "is_csv", is_flag=True, help="Write CSV for spreadsheets (UTF-8 with byte order mark)."),
        click.option("--reverse", "is_reversed", is_flag=True, help="The last row first."),
        click.option("--sort", metavar="COLUMN", help="Sort by this column; rows without a value come last."),
        click.option("--columns", metavar="A,B,C", help="Only these columns, in this order."),
    ):
        command = option(command)
    return command
