"""`caveat audit table`: the logs of other infrastructure as one score table, with its accounts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.evidence import build_reading, reading_options
from registry.cli.application import App, pass_app
from registry.codec.file_io import replacing
from registry.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.sources.log_rows import LogRow

_OUT = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command()
@click.argument("sources", metavar="[ARM=]LOG...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", required=True, type=_OUT, help="The CSV file to write.")
@click.option("--range", "range_", nargs=2, type=float, metavar="LOW HIGH", help="Refuse scores outside; default: any number.")
@reading_options
@pass_app
def table(app: App, /, *, sources: tuple[str, ...], output: Path, range_: tuple[float, float] | None, **options: Any) -> None:
    """Turn logs into one score table, and account for every response.

    \b
    caveat audit table test=eval.eval deploy=agent.eval -o scores.csv
    caveat audit table test=samples_a.jsonl deploy=samples_b.jsonl --scorer exact_match --key strict-match -o scores.csv
    caveat audit table runs --scorer composite --arm C=test --arm D=deploy -o scores.csv

    LOGs are of Inspect, lm-evaluation-harness, Every Eval Ever, or a folder of skill-contamination runs; docs/logs.md tells of each.
    """
    from audit.cli.accounts_text import print_accounts
    from audit.errors import LARGEST_SCORE
    from audit.sources.log_import import build_row_table, read_rows
    from registry.codec.canonical_documents import to_document

    paths, reading = build_reading(sources, options)
    _refuse_input(output, paths)
    rows, imported = read_rows(paths, reading)
    low, high = range_ or (-LARGEST_SCORE, LARGEST_SCORE)
    built = build_row_table(rows, imported, low=low, high=high)
    _write(output, rows)
    document = {"schema": "caveat/audit-table/1", "table": str(output), "rows": built.rows, "imported": to_document(imported)}
    app.report(document, lambda console: print_accounts(console, imported))
    app.say(f"wrote {built.rows} rows to {output}")


def _refuse_input(output: Path, paths: "Sequence[str]") -> None:
    if any(output.absolute() == Path(path).absolute() for path in paths):
        found = "is one of the logs, and would be overwritten"
        raise InputError(Fault(code="bad-option", where=f"-o {output}", found=found, advice="name another file"))


def _write(output: Path, rows: "Sequence[LogRow]") -> None:
    """Write beside the place and move there: a table is whole or not there."""
    from audit.sources.log_import import write_rows

    with replacing(output) as file:
        write_rows(rows, file)
