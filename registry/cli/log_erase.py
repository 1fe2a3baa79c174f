"""`caveat log erase`: the text of an entry goes, its proof stays."""

import sys

import click

from registry.cli.app import App, pass_app
from registry.errors import Fault, InputError, NotFoundError


@click.command()
@click.argument("entry", type=click.IntRange(1))
@click.option("--why", required=True, help="The reason, which is recorded for good: do not repeat in it what is erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_app
def erase(app: App, *, entry: int, why: str, yes: bool) -> None:
    """Erase the text of ENTRY, for good, and record that and why.

    What stays: its number, time, author, kind and leaf, which prove that it was there; the rows derived from it, which hold no words; and
    every copy elsewhere (supplements, bundles, backups). Supplements of what rests on it cannot be made any more.
    """
    with app.ledger.view() as view:
        place = view.find_entry(entry)
        size = view.log_size
    if place is None:
        raise NotFoundError(Fault(code="entry-not-found", where=f"entry {entry}", found=f"the log has {size} entries"))
    app.say(f"entry {entry}: {place.kind.value} by {place.actor} of {place.at:%Y-%m-%d %H:%M} UTC, leaf {place.leaf[:16]}…")
    app.say("its text is erased for good; number, time, author, kind, leaf and derived rows stay, and copies elsewhere are not touched")
    if not yes:
        _ask()
    with app.ledger.write(actor=app.config.authority) as writer:
        recorded = writer.erase(entry, why=why)
    app.report(
        {"schema": "caveat/erasure/1", "erased": entry, "leaf": place.leaf, "entry": recorded.seq, "why": why},
        lambda console: console.print(f"The text of entry {entry} is erased; entry {recorded.seq} says why."),
    )


def _ask() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        found = "nobody is at a terminal to confirm it"
        raise InputError(Fault(code="not-a-terminal", where="caveat log erase", found=found, advice="give --yes, if you are sure"))
    click.confirm("Erase it?", abort=True, err=True)
