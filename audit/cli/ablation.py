"""`caveat ablation`: what ED becomes when one cue is taken out of the contexts, without a registry or as a finding of an audit."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.table_options import table_options
from registry.cli.app import App, pass_app
from registry.cli.parameters import AUDIT
from registry.records.identifier import Identifier

if TYPE_CHECKING:
    from registry.records.case import Case
    from registry.records.plan import Plan

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=_FILE)
@click.option(
    "--claim", type=_FILE, help="A file as caveat classify reads it: its range and plan hold, and its class is given with each cue."
)
@click.option("--placebo", "placebos", metavar="CUE", multiple=True, help="A cue that is a placebo; so is any called placebo….")
@click.option("--spec", metavar="NAME", help="The P_deploy specification; needed where the table has several.")
@click.option("--test", metavar="ARM", default="test", show_default=True, help="The test-like arm.")
@click.option("--deploy", metavar="ARM", default="deploy", show_default=True, help="The deployment-continuous arm.")
@click.option("--range", "range_", nargs=2, type=float, help="Lowest and highest possible score; default: 0 1.")
@click.option("--contexts", type=click.Choice(["random", "fixed", "nested"]), help="What contexts are; default: random.")
@click.option("--margin", type=float, help="Materiality margin δ; default: 0.05 × range.")
@click.option("--level", type=float, help="Nominal coverage of the intervals; default: 0.95.")
@click.option("--replicates", type=int, help="Bootstrap replicates for the simultaneous intervals; default: 10000.")
@click.option("--seed", type=int, help="Seed of the bootstrap; default: 0.")
@click.option("--audit", "audit", type=AUDIT, metavar="AUD-…", help="Record the result as a finding of this audit.")
@table_options
@pass_app
def ablation(app: App, /, *, tables: tuple[Path, ...], claim: Path | None, audit: Identifier | None, **options: Any) -> None:
    """Estimate ΔED of each cue in score tables (CSV, JSONL or Parquet).

    The column cue_removed names the cue that was taken out of the row's context (test side) or put into it (deployment side); it is
    empty for contexts as they are. An edited context has the context_id of the one it was made from. ΔED = ED before − ED after:
    positive means that the cue raised ED. Holm's rule runs over the cues; a placebo is an edit of the same length that touches no cue.
    """
    from audit.ablation import ablate
    from audit.cli.ablation_text import print_ablation, summarise_ablation
    from audit.cli.record import record_finding
    from audit.sources.table import read_table
    from audit.versions import Setting

    case, plan, range_ = _read_question(claim, options)
    table = read_table(tables, low=range_[0], high=range_[1], score=options["score"], where=options["where"])
    setting = Setting(test=options["test"], deploy=options["deploy"], spec=options["spec"], placebos=frozenset(options["placebos"]))
    found = ablate(table, plan, range_=range_, setting=setting, case=case)
    record_finding(app, audit, found, source=", ".join(path.name for path in tables))
    app.report(summarise_ablation(found), lambda console: print_ablation(console, found))


def _read_question(claim: Path | None, options: dict[str, Any]) -> "tuple[Case | None, Plan, tuple[float, float]]":
    """Return the claim if there is one, the plan and the range: from the claim's file, or from the options, never from both."""
    from audit.case_file import read_case
    from registry.codec.documents import from_document
    from registry.records.plan import Plan

    names = ("contexts", "margin", "level", "replicates", "seed")
    given = {name: options[name] for name in names if options[name] is not None}
    if claim is None:
        return None, from_document(Plan, given, where="options"), options["range_"] or (0.0, 1.0)
    if given or options["range_"]:
        word = next(iter(given), "range")
        raise click.UsageError(f"--{word} stands in the plan of the file given with --claim; leave the option out")
    case, _ = read_case(claim)
    return case, case.plan, case.claim.property.range
