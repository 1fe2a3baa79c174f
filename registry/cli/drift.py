"""`caveat claim drift`: one claim over model versions."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import CLAIM
from registry.errors import Fault, NotFoundError
from registry.records.record import Identifier

if TYPE_CHECKING:
    from registry.records.supplement import Drift
    from registry.report.drift_figure import DriftFigure


@click.command()
@click.argument("claim_id", type=CLAIM)
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw it to this file too, as SVG.")
@click.option("--spec", help="With --figure: against this specification of P_deploy, not the first.")
@as_of_option
@pass_app
def drift(app: App, *, claim_id: Identifier, figure: Path | None, spec: str | None) -> None:
    """Show a claim over model versions: what was found of each, and how far that moved.

    Movements are those of a recorded comparison task by task, where there is one; else the differences of the recorded estimates,
    with intervals that are wide.
    """
    from registry.cli.drift_text import print_drift
    from registry.cli.log_out import write_whole
    from registry.codec.documents import to_document
    from registry.report.drift import build_points

    if spec is not None and figure is None:
        raise click.UsageError("--spec is for --figure")
    with app.view() as view:
        dossier = view.dossier(str(claim_id))
    if not dossier.revisions:
        found = "is reserved and has no text yet, so no version of a model is spoken of"
        raise NotFoundError(Fault(code="only-reserved", where=dossier.claim, found=found, advice="register it: caveat claim add FILE"))
    found_drift = build_points(dossier)
    if figure is not None:
        from registry.report.html import render_drift

        write_whole(figure, render_drift(_choose(found_drift, spec)))
    document = {**to_document(found_drift), "log_size": dossier.log_size, "figure": None if figure is None else str(figure)}
    app.report(document, lambda console: print_drift(console, found_drift))
    if figure is not None:
        app.say(f"Wrote {figure}")


def _choose(drift: "Drift", spec: str | None) -> "DriftFigure":
    """Return the figure that is asked for.

    Raises:
        NotFoundError: no revision has an estimate, or none against *spec*.
    """
    from registry.report.drift_figure import build_drift_figures, count_keys

    figures = build_drift_figures(drift, most=count_keys(drift))
    if not figures:
        found, advice = "no revision has an estimate, so there is nothing to draw", "see what there is without --figure"
        raise NotFoundError(Fault(code="nothing-to-draw", where=drift.claim, found=found, advice=advice))
    if spec is None:
        return figures[0]
    chosen = next((one for one in figures if spec in (one.spec, one.name)), None)
    if chosen is None:
        found = f"no estimate is against {spec!r}; there are estimates against: {', '.join(one.name for one in figures[:10])}"
        raise NotFoundError(Fault(code="nothing-to-draw", where=drift.claim, found=found, advice="name one of these with --spec"))
    return chosen
