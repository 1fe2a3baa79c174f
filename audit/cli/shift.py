"""`caveat audit shift`: how far two replays of one design lie apart, model version against model version."""

from pathlib import Path
from typing import Any

import click

from audit.cli.options import TABLE, parse_where
from registry.cli.application import AUDIT, App, pass_app
from registry.records.record import Identifier


@click.command()
@click.argument("before_audit", metavar="BEFORE-AUDIT", type=AUDIT)
@click.argument("after_audit", metavar="AFTER-AUDIT", type=AUDIT)
@click.argument("before", metavar="BEFORE", type=TABLE)
@click.argument("after", metavar="AFTER", type=TABLE)
@click.option("--record", is_flag=True, help="Record it as a finding of AFTER-AUDIT, before its outcome.")
@click.option("--score", metavar="COLUMN", default="score", show_default=True, help="The column of scores.")
@click.option(
    "--where",
    metavar="COLUMN=VALUE[,VALUE...]",
    multiple=True,
    callback=lambda _context, _parameter, values: parse_where(values),
    help="Keep only rows with one of these values in COLUMN, any column of the files. May be repeated.",
)
@pass_app
def shift(app: App, /, *, before_audit: Identifier, after_audit: Identifier, before: Path, after: Path, **options: Any) -> None:
    """Estimate how far both sides and ED moved from one audit of a claim to another, over the tasks that both replays have.

    BEFORE and AFTER are the score tables of the two audits (CSV, JSONL or Parquet), made elsewhere; caveat audit renew does the same for
    replays of its own. Level and kind of contexts are those of the later plan. Contexts with the same id on a side are paired.
    """
    from audit.cli.record import record_finding
    from audit.cli.shift_text import print_shift
    from audit.comparing import compare, find_comparison
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document

    with app.ledger.view() as view:
        comparison = find_comparison(view, before_audit.bare, after_audit.bare)
    low, high = comparison.range
    tables = [read_table([path], low=low, high=high, score=options["score"], where=options["where"]) for path in (before, after)]
    found = compare(comparison, tables[0], tables[1])
    record_finding(app, after_audit if options["record"] else None, found, source=f"{before.name}, {after.name}")
    app.report(to_document(found), lambda console: print_shift(console, found, comparison.range))
