"""`caveat estimate`: the Evaluation Differential of a score table, without a registry."""

from pathlib import Path
from typing import Any

import click

from audit.cli.options import arm_options, build_plan, plan_options, table_options
from registry.cli.application import App, pass_app


@click.command()
@arm_options
@table_options
@plan_options("contexts")
@click.option(
    "--interval",
    type=click.Choice(["closed_form", "guaranteed", "anytime"]),
    help="How intervals are made; anytime needs nested contexts, and may be looked at while the replay runs; default: closed_form.",
)
@click.option("--tasks", metavar="N", type=int, help="Tasks that were planned; stopping short of them is reported.")
@click.option("--random-subset", is_flag=True, help="The replayed tasks are a random subset: use the other test scores too.")
@plan_options("margin", "level")
@click.option("--epsilon", metavar="NUMBER", type=float, help="ε of nED; default: 0.01 × range.")
@plan_options("replicates", "seed")
@click.option("--pointwise", is_flag=True, help="Give ED of every task too.")
@pass_app
def estimate(
    app: App,
    /,
    *,
    tables: tuple[Path, ...],
    test: str,
    deploy: str,
    range_: tuple[float, float] | None,
    pointwise: bool,
    score: str,
    where: dict[str, tuple[str, ...]],
    **plan: Any,
) -> None:
    """Estimate ED = Φ_test − Φ_deploy from score tables (CSV, JSONL or Parquet).

    Columns: task_id, arm, context_id, sample, score; optional: spec, judge, judge_repeat, weight, family, template,
    excluded_reason. Each of several judges gives an estimate of its own; its repeats are averaged. Tasks of one family, and contexts of one
    template, count as one in every interval. A table with one side is refused: a mean over one side never becomes
    a differential. Bootstrap bands stand beside the intervals and decide nothing; --replicates 0 leaves them out.
    """
    from audit.cli.estimate_text import print_estimate
    from audit.estimate import estimate as compute
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document

    fixed = build_plan(plan)
    low, high = range_ or (0.0, 1.0)
    table = read_table(tables, low=low, high=high, score=score, where=where)
    found = compute(table, fixed, range_=(low, high), test=test, deploy=deploy, pointwise=pointwise)
    app.report(to_document(found), lambda console: print_estimate(console, found))
