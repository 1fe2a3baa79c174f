"""`caveat audit explore`: scores looked at with settings that nobody fixed before."""

from pathlib import Path
from typing import Any

import click

from audit.cli.options import TABLE, arm_options, parse_where, plan_options
from registry.cli.application import AUDIT, App, pass_app
from registry.records.record import Identifier


@click.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("tables", metavar="TABLE|RUN...", nargs=-1, required=True, type=TABLE)
@click.option("--question", metavar="TEXT", required=True, help="What is looked for.")
@arm_options
@click.option("--score", metavar="COLUMN", default="score", show_default=True, help="The column of scores.")
@click.option(
    "--where",
    metavar="COLUMN=VALUE[,VALUE...]",
    multiple=True,
    callback=lambda _context, _parameter, values: parse_where(values),
    help="Keep only rows with one of these values in COLUMN, any column of the file. May be repeated.",
)
@plan_options("contexts")
@click.option("--interval", type=click.Choice(["closed_form", "guaranteed", "anytime"]), help="How intervals are made.")
@plan_options("margin", "level")
@click.option("--epsilon", metavar="NUMBER", type=float, help="ε of nED.")
@plan_options("replicates", "seed")
@pass_app
def explore(
    app: App,
    /,
    *,
    audit_id: Identifier,
    tables: tuple[Path, ...],
    question: str,
    test: str,
    deploy: str,
    score: str,
    where: dict[str, tuple[str, ...]],
    **options: Any,
) -> None:
    """Look at scores with any settings, and record that they were looked at: an exploration, no verdict rests on it.

    What is not given is as in the audit's plan. The audit needs no lock (caveat audit open FILE). The scores count as known from then
    on: under a lock that is made later they are post hoc. Supplements show explorations in a section of their own.
    """
    from audit.basis import Scored
    from audit.cli.explore_text import print_exploration
    from audit.exploring import explore as record
    from audit.exploring import get_range
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document
    from registry.records.analysis_plan import ContextDesign, IntervalMethod

    chosen = {name: kind(value) for name, kind in (("contexts", ContextDesign), ("interval", IntervalMethod)) if (value := options[name])}
    with app.ledger.write(actor=app.config.authority) as writer:
        low, high = get_range(writer, audit_id.bare)
        table = read_table(tables, low=low, high=high, score=score, where=where)
        # What was looked at is the whole table: choosing rows from it shows them all first.
        whole = read_table(tables, low=low, high=high, score=score) if where else None
        scored = Scored(table=table, source=", ".join(map(str, tables)), started_at=None, test_arm=test, deploy_arm=deploy)
        said, is_new = record(writer, audit_id.bare, scored, question=question, options={**options, **chosen}, whole=whole)
    document = {"schema": "caveat/audit-explore/1", "new": is_new, "entry": said.entry.seq, "exploration": to_document(said.payload)}
    app.report(document, lambda console: print_exploration(console, said, is_new=is_new))
