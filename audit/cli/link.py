"""`caveat audit link`: ED where the model mentioned a test, and where it did not."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE, arm_options, audit_option, build_plan, plan_options, table_options
from registry.cli.application import App, pass_app
from registry.records.record import Identifier

if TYPE_CHECKING:
    from audit.linking import Mentions
    from audit.statistics.responses import ScoreTable


@click.command()
@table_options
@click.option("--mentions", metavar="CSV", type=FILE, help="What each response says, as caveat probe --mentions wrote it.")
@click.option("--column", metavar="NAME", help="A column of TABLE instead: 1 where the response mentions a test, 0 where not, or empty.")
@plan_options("contexts", "margin", "level")
@arm_options
@audit_option
@pass_app
def link(app: App, /, *, tables: tuple[Path, ...], audit: Identifier | None, **options: Any) -> None:
    """Compare ED where a test is mentioned and where not.

    The test-side responses in TABLE (CSV, JSONL or Parquet, or a scored run folder) are split by whether they mention a test. Each
    group is compared with all deployment responses of its tasks, and both with each other over the tasks that have both. This is an
    association, not a cause. A group that is empty, or has fewer than 5 tasks, has no number and says why.

    \b
    Examples:
      caveat probe RUN --judge MODEL --mentions mentions.csv
      caveat audit link RUN --mentions mentions.csv --audit AUD-EXAMPLE-2026-0001-H
    """
    from audit.cli.link_text import print_links
    from audit.cli.record import record_finding
    from audit.linking import link as link_mentions
    from registry.codec.canonical_documents import to_document

    if (options["mentions"] is None) == (options["column"] is None):
        raise click.UsageError("give --mentions FILE or --column NAME")
    plan = build_plan({name: options[name] for name in ("contexts", "margin", "level")})
    range_ = options["range_"] or (0.0, 1.0)
    table, mentions = _read(tables, options, range_)
    found = link_mentions(table, mentions, plan, range_=range_, test=options["test"], deploy=options["deploy"])
    files = (*tables, *([options["mentions"]] if options["mentions"] else []))
    record_finding(app, audit, found, source=", ".join(path.name for path in files))
    app.report(to_document(found), lambda console: print_links(console, found))


def _read(tables: tuple[Path, ...], options: dict[str, Any], range_: tuple[float, float]) -> "tuple[ScoreTable, Mentions]":
    """Return the scores, and whether each row's response mentions a test."""
    from audit.linking import Mentions
    from audit.sources.score_columns import ColumnSelection
    from audit.sources.score_table import parse_marks, read_columns, read_labels

    column, file = options["column"], options["mentions"]
    selection = ColumnSelection(score=options["score"], where=options["where"], also=(column,) if column else ())
    table, columns = read_columns(tables, selection, low=range_[0], high=range_[1])
    if file is None:
        return table, Mentions(values=parse_marks(columns[column], name=column), source=f"column {column}")
    return table, Mentions(values=read_labels([file], table, column="mentioned", range_=(0.0, 1.0)), source=file.name)
