"""`caveat classify`: what becomes of one claim, without a registry."""

from pathlib import Path
from typing import Any

import click

from registry.cli.application import App, pass_app


def _print_schema(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  (click gives it so)
    if not wanted or ctx.resilient_parsing:
        return
    from audit.case_file import case_schema
    from registry.cli.terminal_output import print_json

    print_json(case_schema())
    ctx.exit()


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema, help="Print the JSON Schema of FILE.")
@pass_app
def classify(app: App, *, file: Path) -> None:
    """Classify the claim in FILE (YAML or JSON) and say what may still be claimed.

    FILE holds the claim, what is known without a replay, and optionally a score table beside it. The verdict is what the
    method says of the scores given: no lock is checked, and the checklist says so.
    """
    from audit.case_file import read_case
    from audit.cli.classify_text import print_outcome, summarise_outcome
    from audit.run import run_case

    case, scores = read_case(file)
    outcome = run_case(case, _read_scores(scores, case.claim.property.range))
    app.report(summarise_outcome(case, outcome), lambda console: print_outcome(console, case, outcome))


def _read_scores(scores: Path | None, range_: tuple[float, float]) -> Any:
    if scores is None:
        return None
    from audit.sources.score_table import read_table

    return read_table([scores], low=range_[0], high=range_[1])
