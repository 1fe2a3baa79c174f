"""`caveat contrast`: what the arms of a score table say beside each other, without a registry."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.table_options import table_options
from registry.cli.app import App, pass_app

if TYPE_CHECKING:
    from registry.records.contrast import Asked


@click.command()
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--contrast", "differences", metavar="B A", nargs=2, multiple=True, help="The difference B − A.")
@click.option("--did", "double", metavar="B A D C", nargs=4, multiple=True, help="The difference in differences (B − A) − (D − C).")
@click.option("--ratio", "ratios", metavar="B A", nargs=2, multiple=True, help="The ratio of means B / A.")
@click.option(
    "--mitigation", "mitigations", metavar="D B A", nargs=3, multiple=True, help="How much of B − A is gone in D: 1 − (D − E) / (B − A)."
)
@click.option("--matching-baseline", metavar="E", help="The baseline in the context of D; without it a mitigation is not identified.")
@click.option("--range", "range_", nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Lowest and highest possible score.")
@click.option(
    "--contexts", type=click.Choice(["random", "fixed", "nested"]), default="random", show_default=True, help="What contexts are."
)
@click.option("--margin", type=float, help="Materiality margin δ; default: 0.05 × range.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Nominal coverage of the intervals.")
@click.option("--pointwise", is_flag=True, help="Give the contrast of every task too.")
@table_options
@pass_app
def contrast(app: App, /, *, tables: tuple[Path, ...], range_: tuple[float, float], **options: Any) -> None:
    """Compare arms of score tables (CSV, JSONL or Parquet): differences, ratios, mitigation.

    Every option for a contrast may be repeated. A difference is estimated exactly as ED is, over the tasks that both arms have; p-values
    are adjusted by Holm's rule over all contrasts of the call. Beside it stand paired t, Wilcoxon and Cohen's d, on tasks.
    """
    from audit.cli.contrast_text import print_contrasts, summarise_contrasts
    from audit.contrast import contrast as compute
    from audit.sources.table import read_table
    from registry.codec.documents import from_document
    from registry.records.plan import Plan

    asked = _list_asked(options)
    given = {name: options[name] for name in ("contexts", "margin", "level") if options[name] is not None}
    plan = from_document(Plan, given, where="options")
    table = read_table(tables, low=range_[0], high=range_[1], score=options["score"], where=options["where"])
    found = compute(table, plan, asked, range_=range_, pointwise=options["pointwise"])
    app.report(summarise_contrasts(found), lambda console: print_contrasts(console, found))


def _list_asked(options: dict[str, Any]) -> "list[Asked]":
    """Return the contrasts kind by kind, each in the order of the command line."""
    from registry.records.contrast import Asked, ContrastKind

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
    return [Asked(kind=kind, arms=tuple(arms)) for kind, listed in kinds for arms in listed]
