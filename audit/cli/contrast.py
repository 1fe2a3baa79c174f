"""`caveat contrast`: what the arms of a score table say beside each other, without a registry."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import build_plan, plan_options, table_options
from registry.cli.application import App, pass_app

if TYPE_CHECKING:
    from audit.records.contrast_result import ContrastRequest

_PLAN = ("contexts", "margin", "level")


@click.command()
@click.option("--contrast", "differences", metavar="B A", nargs=2, multiple=True, help="The difference B − A.")
@click.option("--did", "double", metavar="B A D C", nargs=4, multiple=True, help="The difference in differences (B − A) − (D − C).")
@click.option("--ratio", "ratios", metavar="B A", nargs=2, multiple=True, help="The ratio of means B / A.")
@click.option(
    "--mitigation", "mitigations", metavar="D B A", nargs=3, multiple=True, help="How much of B − A is gone in D: 1 − (D − E) / (B − A)."
)
@click.option("--matching-baseline", metavar="E", help="The baseline in the context of D; without it a mitigation is not identified.")
@table_options
@plan_options(*_PLAN)
@click.option("--pointwise", is_flag=True, help="Give the contrast of every task too.")
@pass_app
def contrast(app: App, /, *, tables: tuple[Path, ...], range_: tuple[float, float] | None, **options: Any) -> None:
    """Compare arms of score tables (CSV, JSONL or Parquet): differences, ratios, mitigation.

    Every option for a contrast may be repeated. A difference is estimated exactly as ED is, over the tasks that both arms have; p-values
    are adjusted by Holm's rule over all contrasts of the call. Beside it stand paired t, Wilcoxon and Cohen's d, on tasks.
    """
    from audit.cli.contrast_text import print_contrasts
    from audit.contrast import contrast as compute
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document

    asked = _list_asked(options)
    plan = build_plan({name: options[name] for name in _PLAN})
    low, high = range_ or (0.0, 1.0)
    table = read_table(tables, low=low, high=high, score=options["score"], where=options["where"])
    found = compute(table, plan, asked, range_=(low, high), pointwise=options["pointwise"])
    app.report(to_document(found), lambda console: print_contrasts(console, found))


def _list_asked(options: dict[str, Any]) -> "list[ContrastRequest]":
    """Return the contrasts kind by kind, each in the order of the command line."""
    from audit.records.contrast_result import ContrastKind, ContrastRequest

    baseline = options["matching_baseline"]
    if baseline is not None and not options["mitigations"]:
        raise click.UsageError("--matching-baseline belongs to a mitigation; name one with --mitigation D B A")
    own = () if baseline is None else (baseline,)
    kinds = (
        (ContrastKind.DIFFERENCE, options["differences"]),
        (ContrastKind.DIFFERENCE_IN_DIFFERENCES, options["double"]),
        (ContrastKind.RATIO, options["ratios"]),
        (ContrastKind.MITIGATION, [(*arms, *own) for arms in options["mitigations"]]),
    )
    return [ContrastRequest(kind=kind, arms=tuple(arms)) for kind, listed in kinds for arms in listed]
