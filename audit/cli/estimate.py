"""`caveat estimate`: the Evaluation Differential of a score table, without a registry."""

from pathlib import Path
from typing import Any

import click

from audit.cli.table_options import table_options
from registry.cli.app import App, pass_app


@click.command()
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--test", metavar="ARM", default="test", show_default=True, help="The test-like arm.")
@click.option("--deploy", metavar="ARM", default="deploy", show_default=True, help="The deployment-continuous arm.")
@click.option("--range", "range_", nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Lowest and highest possible score.")
@click.option(
    "--contexts", type=click.Choice(["random", "fixed", "nested"]), default="random", show_default=True, help="What contexts are."
)
@click.option(
    "--interval",
    type=click.Choice(["closed_form", "guaranteed", "anytime"]),
    default="closed_form",
    show_default=True,
    help="How intervals are made; anytime needs nested contexts, and may be looked at while the replay runs.",
)
@click.option("--tasks", metavar="N", type=int, help="Tasks that were planned; stopping short of them is reported.")
@click.option("--random-subset", is_flag=True, help="The replayed tasks are a random subset: use the other test scores too.")
@click.option("--margin", type=float, help="Materiality margin δ; default: 0.05 × range.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Nominal coverage of the intervals.")
@click.option("--epsilon", type=float, help="ε of nED; default: 0.01 × range.")
@click.option(
    "--replicates",
    type=int,
    default=10_000,
    show_default=True,
    help="Bootstrap replicates; 0 for no bands.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--pointwise", is_flag=True, help="Give ED of every task too.")
@table_options
@pass_app
def estimate(
    app: App,
    /,
    *,
    tables: tuple[Path, ...],
    test: str,
    deploy: str,
    range_: tuple[float, float],
    pointwise: bool,
    score: str,
    where: dict[str, tuple[str, ...]],
    **plan: Any,
) -> None:
    """Estimate ED = Φ_test − Φ_deploy from score tables (CSV, JSONL or Parquet).

    Columns: task_id, arm, context_id, sample, score; optional: spec, judge, judge_repeat, weight, excluded_reason. Each of several
    judges gives an estimate of its own; its repeats are averaged. A table with one side is refused: a
    mean over one side never becomes a differential.
    """
    from audit.cli.estimate_text import print_estimate, summarise_estimate
    from audit.estimate import estimate as compute
    from audit.sources.table import read_table
    from registry.codec.documents import from_document
    from registry.records.plan import Plan

    fixed = from_document(Plan, {name: value for name, value in plan.items() if value is not None}, where="options")
    table = read_table(tables, low=range_[0], high=range_[1], score=score, where=where)
    found = compute(table, fixed, range_=range_, test=test, deploy=deploy, pointwise=pointwise)
    app.report(summarise_estimate(found), lambda console: print_estimate(console, found))
