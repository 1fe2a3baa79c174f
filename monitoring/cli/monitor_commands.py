"""`caveat monitor`: watch a claim after release, with control over ever being wrong."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.application import (
    CLAIM,
    App,
    IdentifierType,
    examples,
    logs_option,
    pass_app,
    pass_app_only,
    reason_option,
    record,
    yes_option,
)
from registry.cli.list_options import ListOutput, list_options
from registry.records.record import Identifier, Kind

if TYPE_CHECKING:
    from registry.records.dossier import MonitorFile
    from registry.store.log_writer import Writer

MONITOR = IdentifierType(Kind.MONITOR)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def monitor() -> None:
    """Watch a claim in production after release."""


@examples("monitor plan CLM-LAB-2026-0007-2")
@monitor.command()
@click.argument("claim_id", metavar="CLAIM", type=CLAIM)
@pass_app_only
def plan(app: App, *, claim_id: Identifier) -> None:
    """Print a plan to fill in for a claim with a limit."""
    from monitoring.plan_file import render_draft
    from monitoring.recording import get_claim

    with app.view() as view:
        claim, body = get_claim(view, str(claim_id))
    click.echo(render_draft(claim, body, now=app.config.now()), nl=False)


@examples("monitor lock monitor.yaml --dry-run", "monitor lock monitor.yaml")
@monitor.command()
@click.argument("file", type=FILE)
@click.option("--dry-run", is_flag=True, help="Check everything and record nothing.")
@yes_option
@pass_app
def lock(app: App, *, file: Path, dry_run: bool, yes: bool) -> None:
    """Fix a plan before the first item; a lock cannot be changed.

    Fixed are the limit, the stream, the inclusion probabilities, the scorer, alpha, the labels' delay, and the anchors by their digest. A
    changed sampler, judge or model needs a new monitor.
    """
    from monitoring.cli.monitor_presenter import present_lock
    from monitoring.plan_file import read_draft
    from monitoring.recording import lock_monitor

    draft = read_draft(file)
    if not dry_run:
        app.confirm(f"Lock the plan in {file.name} for good?", yes=yes)
    now = app.config.now()
    done = record(app, lambda writer: lock_monitor(writer, draft, by=app.config.authority, folder=file.parent, now=now), dry_run=dry_run)
    app.report(present_lock(done, dry_run=dry_run))


@examples(
    "monitor add MON-LAB-2026-0003-8 week-7.json",
    "monitor add MON-LAB-2026-0003-8 weeks.csv --dry-run",
    "monitor add MON-LAB-2026-0004-6 incidents.csv",
)
@monitor.command()
@click.argument("monitor_id", metavar="MONITOR", type=MONITOR)
@click.argument("files", metavar="FILE|FOLDER…", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show the evidence and record nothing.")
@reason_option("Why a window on record is corrected.", required=False)
@pass_app
def add(app: App, *, monitor_id: Identifier, files: tuple[Path, ...], dry_run: bool, reason: str | None) -> None:
    """Add windows of production data, or incidents.

    FILE has counts by stratum in JSON, JSON Lines or CSV, or traces with the OpenTelemetry conventions for generative AI. A CSV file with
    the columns id, framework, occurred, reported, summary, salt and verified has incidents; of a summary only a salted digest is recorded.
    FOLDER is a Langfuse export with observations_v2 and scores in JSON Lines.

    An alarm is printed first, and it stays on record. Windows come in order; one that is on record with the same content changes nothing,
    and one with other content needs a reason. A verified incident refutes a limit that no score may pass. Caveat does not read message
    texts in traces.
    """
    from monitoring.batch_file import read_batches
    from monitoring.cli.monitor_presenter import present_added
    from monitoring.incident_file import is_incidents, read_incidents
    from monitoring.langfuse_export import is_langfuse, read_export
    from monitoring.otlp_traces import is_otlp, read_traces
    from monitoring.recording import add_incidents, add_windows, get_monitor

    with app.view() as view:
        file = get_monitor(view, monitor_id.bare)
    batches, incidents, excluded = [], [], Counter[str]()
    for path in files:
        if is_incidents(path):
            incidents += read_incidents(path, file.monitor.payload)
        elif is_langfuse(path) or is_otlp(path):
            reading = (read_export if path.is_dir() else read_traces)(path, file, now=app.config.now())
            excluded.update(reading.excluded)
            batches += reading.batches
        else:
            batches += read_batches(path)

    def work(writer: "Writer"):  # type: ignore[no-untyped-def]  # noqa: ANN202
        reported = add_incidents(writer, monitor_id.bare, incidents, why=reason, today=app.config.today)
        return (*add_windows(writer, monitor_id.bare, batches, why=reason, now=app.config.now()), reported)

    done, windows, reported = record(app, work, dry_run=dry_run)
    app.report(present_added(done, windows, reported, excluded=excluded, today=app.config.today, dry_run=dry_run))


@examples(
    "monitor show",
    "monitor show MON-LAB-2026-0003-8",
    "monitor show MON-LAB-2026-0003-8 --figure band.svg",
)
@monitor.command()
@click.argument("monitor_id", metavar="[MONITOR]", required=False, type=MONITOR)
@click.option(
    "--figure", metavar="FILE.svg", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write the band as an SVG figure."
)
@logs_option
@pass_app
@list_options
def show(app: App, /, *, monitor_id: Identifier | None, figure: Path | None, output: ListOutput) -> None:
    """Show a monitor with its verdict and windows, or list all.

    The recorded evidence is computed again from the recorded windows. Exit code 1 after an alarm, 3 when the monitor is silent.

    Without MONITOR, a list of all monitors with the columns: monitor, claim, state, verdict, rate, theta, windows, items, lower, upper,
    alarm. It ends with 0.
    """
    if monitor_id is None and figure is not None:
        raise click.UsageError("--figure is of one monitor; name it.")
    if monitor_id is None:
        _list_monitors(app, output)
        return
    if output.is_arranged or (output.is_for_programs and not app.json):
        raise click.UsageError("--columns, --sort, --reverse and --csv are for the list of all monitors; leave the monitor out.")
    from monitoring.cli.monitor_presenter import build_document, present_monitor
    from monitoring.recording import check_readings, get_monitor
    from registry.errors import AlteredError, Fault
    from registry.records.monitor import MonitorState

    with app.view(by_clock=True) as view:
        file = get_monitor(view, monitor_id.bare)
        today = view.today or app.config.today
        monitors = view.list_monitors(file.monitor.payload.claim.partition("@")[0])
    if wrong := check_readings(file):
        raise AlteredError([Fault("evidence-differs", monitor_id.bare, text) for text in wrong])
    if figure is not None:
        _write_figure(figure, file)
    app.answer({"schema": "caveat/monitor-show/1", **build_document(file, today=today)}, present_monitor(file, monitors, today=today))
    state = file.find_state(today)
    if state in (MonitorState.ALARM, MonitorState.SILENT):
        click.get_current_context().exit(1 if state is MonitorState.ALARM else 3)


def _list_monitors(app: App, output: ListOutput) -> None:
    from monitoring.cli.monitor_presenter import describe_monitor, list_columns
    from registry.present.listings import Listing

    rows = [describe_monitor(file, today=app.config.today) for _, view in app.views(by_clock=True) for file in view.list_monitors()]
    output.report(
        Listing(
            document={"schema": "caveat/monitors/1"},
            field="monitors",
            rows=rows,
            describe=dict,
            columns=list_columns(),
            none="No monitors. Next: caveat monitor plan CLAIM > monitor.yaml",
        )
    )


def _write_figure(path: Path, file: "MonitorFile") -> None:
    from registry.cli.log_commands import write_whole
    from registry.errors import ConflictError, Fault
    from registry.report.band_figure import build_band
    from registry.report.html_rendering import render_band

    figure = build_band(file)
    if figure is None:
        raise ConflictError(
            Fault("figure-without-data", file.monitor.payload.monitor, "no window with data is reported, so there is no figure")
        )
    write_whole(path, render_band(figure))


@examples('monitor end MON-LAB-2026-0003-8 -m "new sampler"')
@monitor.command()
@click.argument("monitor_id", metavar="MONITOR", type=MONITOR)
@reason_option("Why it ends.")
@yes_option
@pass_app
def end(app: App, *, monitor_id: Identifier, reason: str, yes: bool) -> None:
    """End a monitor, with the reason; it takes no more windows."""
    from monitoring.cli.monitor_presenter import build_document
    from monitoring.recording import end_monitor

    app.confirm(f"End {monitor_id.bare} for good?", yes=yes)
    file = record(app, lambda writer: end_monitor(writer, monitor_id.bare, reason))
    document = {"schema": "caveat/monitor-show/1", **build_document(file, today=app.config.today)}
    app.answer(document, f"{monitor_id.bare} ended: {reason}")
