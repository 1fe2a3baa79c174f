"""`caveat ablation`: what ED becomes when one cue is taken out of the contexts, without a registry or as a finding of an audit."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE, arm_options, audit_option, build_plan, plan_options, table_options
from registry.cli.application import App, pass_app
from registry.records.record import Identifier

if TYPE_CHECKING:
    from registry.records.analysis_plan import Plan
    from registry.records.audit_case import Case

_PLAN = ("contexts", "margin", "level", "replicates", "seed")


@click.command()
@click.option(
    "--claim", type=FILE, help="A file as caveat classify reads it: its range and plan hold, and its class is given with each cue."
)
@click.option(
    "--placebo", "placebos", metavar="CUE", multiple=True, help="A cue that is a placebo; so is any called placebo…. May be repeated."
)
@click.option(
    "--cues", "inventories", metavar="FILE|CUE-…@n", multiple=True, help="The cue inventory that should be ablated. May be repeated."
)
@click.option("--spec", metavar="NAME", help="The P_deploy specification; needed where the table has several.")
@arm_options
@table_options
@plan_options(*_PLAN)
@audit_option
@pass_app
def ablation(app: App, /, *, tables: tuple[Path, ...], claim: Path | None, audit: Identifier | None, **options: Any) -> None:
    """Estimate ΔED of each cue in score tables (CSV, JSONL or Parquet).

    The column cue_removed names the cue that was taken out of the row's context (test side) or put into it (deployment side); it is
    empty for contexts as they are. An edited context has the context_id of the one it was made from. ΔED = ED before − ED after:
    positive means that the cue raised ED. Holm's rule runs over the cues, and the bootstrap gives intervals that hold for all at once; a
    placebo is an edit of the same length that touches no cue. --cues says which cues of an inventory were not ablated.
    """
    from audit.ablation import ablate
    from audit.cli.ablation_text import print_ablation
    from audit.cli.cues import read_inventory
    from audit.cli.record import record_finding
    from audit.cue_inventory import cover_inventories
    from audit.sources.score_table import read_table
    from audit.versions import Setting
    from registry.codec.canonical_documents import to_document

    case, plan, range_ = _read_question(claim, options)
    table = read_table(tables, low=range_[0], high=range_[1], score=options["score"], where=options["where"])
    setting = Setting(test=options["test"], deploy=options["deploy"], spec=options["spec"], placebos=frozenset(options["placebos"]))
    listed = [read_inventory(app, name) for name in options["inventories"]]
    found = cover_inventories(ablate(table, plan, range_=range_, setting=setting, case=case), listed)
    record_finding(app, audit, found, source=", ".join(path.name for path in tables))
    app.report(to_document(found), lambda console: print_ablation(console, found))


def _read_question(claim: Path | None, options: dict[str, Any]) -> "tuple[Case | None, Plan, tuple[float, float]]":
    """Return the claim if there is one, the plan and the range: from the claim's file, or from the options, never from both."""
    from audit.case_file import read_case

    given = {name: options[name] for name in _PLAN if options[name] is not None}
    if claim is None:
        return None, build_plan(given), options["range_"] or (0.0, 1.0)
    if given or options["range_"]:
        word = next(iter(given), "range")
        raise click.UsageError(f"--{word} stands in the plan of the file given with --claim; leave the option out")
    case, _ = read_case(claim)
    return case, case.plan, case.claim.property.range
