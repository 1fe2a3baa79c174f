"""`caveat log`: what was said, in order."""

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.errors import AnswerNoError, InputError


@click.group()
def log() -> None:
    """The log of statements, which is the audit trail."""


@log.command()
@click.option("--start", type=click.IntRange(1), help="First entry; default: the last twenty.")
@click.option("--stop", type=click.IntRange(1), help="Last entry.")
@as_of_option
@pass_app
def show(app: App, *, start: int | None, stop: int | None) -> None:
    """Show log entries: number, time, who, what."""
    from registry.cli.history_text import build_history_table, summarise_entry

    with app.view() as view:
        last = min(stop or view.log_size, view.log_size)
        said = list(view.entries(start or max(last - 19, 1), last + 1))
        size, origin = view.log_size, view.log_origin
    document = {"schema": "caveat/log/1", "origin": origin, "size": size, "entries": [summarise_entry(one) for one in said]}
    app.report(document, lambda console: console.print(build_history_table(said) if said else f"The log has {size} entries."))


@log.command()
@pass_app
def check(app: App) -> None:
    """Recompute every leaf and every row from the log; exit code 1 if something does not fit."""
    from registry.cli.progress import track
    from registry.store.rebuild import verify

    with track(app, "checking the log", unit="entries") as progress:
        try:
            report = verify(app.ledger, progress)
        except InputError as error:
            raise AnswerNoError(error.faults) from error
    app.report(
        {"schema": "caveat/log-check/1", "entries": report.entries, "erased": report.erased},
        lambda console: console.print(f"{report.entries} entries are gapless and every leaf fits; {report.erased} bodies are erased."),
    )
