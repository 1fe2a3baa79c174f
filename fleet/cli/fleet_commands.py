"""`caveat fleet`: what many machines are doing, and how they are held, ended and read."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.fleet_address import get_address, load_or_refuse, url_argument, url_option
from registry.cli.application import App, examples, pass_app
from registry.errors import ConflictError, Fault, NotFoundError

if TYPE_CHECKING:
    from fleet.database import FleetDatabase

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def fleet() -> None:
    """Set up and watch the work over many machines."""


@examples("fleet init postgresql://fleet@db.example.org/fleet", "fleet init postgresql://fleet@db.example.org/fleet --lease 60")
@fleet.command()
@url_argument
@click.option("--engine", type=click.Choice(["procrastinate", "pgqueuer"]), default="procrastinate", show_default=True,
              help="The queue that hands out work.")  # fmt: skip
@click.option("--lease", "lease_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=30, show_default=True,
              help="How long a silent worker keeps its slices.")  # fmt: skip
@pass_app
def init(app: App, *, url: str | None, engine: str, lease_s: float) -> None:
    """Create the schema of a fleet in a PostgreSQL database.

    It may be the database of the registry or another. Nothing else in it is touched. A server that may lose committed rows
    (fsync = off) is refused: a lost row could let a call be paid twice.
    """
    create_schema = load_or_refuse("fleet.database", "create_schema")
    install_queue = load_or_refuse("fleet.queue.job_queue", "install_queue")
    check_engine = load_or_refuse("fleet.queue.job_queue", "load_engine")
    describe_address = load_or_refuse("fleet.database", "describe_address")
    from audit.replay.call_engine import UNSENT

    check_engine(engine)
    address = get_address(url)
    new = create_schema(address, engine=engine, unsent=sorted(UNSENT), lease_s=lease_s)
    if new:
        install_queue(engine, address)
    document = {"schema": "caveat/fleet-created/1", "address": describe_address(address), "engine": engine, "lease_s": lease_s, "new": new}
    sentence = "Created the fleet." if new else "The fleet is there already; nothing was changed."
    app.answer(document, f"{sentence} Next: caveat worker URL on each machine, and caveat audit run REPLAY --fleet URL.")


@examples("fleet show", "fleet show small-1f3b9a02 --fleet postgresql://fleet@db.example.org/fleet --json")
@fleet.command()
@click.argument("run", required=False)
@url_option
@pass_app
def show(app: App, *, run: str | None, url: str | None) -> None:
    """Show runs, workers, limits and what waits."""
    from fleet.cli.fleet_presenter import present_fleet
    from fleet.database import describe_address, read_meta
    from fleet.queue.job_queue import choose_timeout, open_queue
    from fleet.runs.fleet_overview import count_ignored, list_piece_runs, list_quotas, list_runs, list_workers

    database = _open(url)
    meta = read_meta(database)
    lease_s = float(meta["lease_s"])
    runs = list_runs(database, run)
    piece_runs = list_piece_runs(database, run)
    if run is not None and not runs and not piece_runs:
        raise _build_unknown(database, run)
    backlog = open_queue(meta["engine"], database.url, choose_timeout(lease_s)).look(run)
    app.report(
        present_fleet(
            meta,
            describe_address(database.url),
            runs,
            list_workers(database, lease_s),
            list_quotas(database),
            piece_runs=piece_runs,
            backlog=backlog,
            ignored=count_ignored(database),
        )
    )


@examples("fleet pause small-1f3b9a02")
@fleet.command()
@click.argument("run")
@url_option
@pass_app
def pause(app: App, *, run: str, url: str | None) -> None:
    """Send no more calls of a run until it is resumed.

    Workers finish the calls under way. The coordinator keeps waiting.
    """
    _change(app, url, run, state="paused", before="running")


@examples("fleet resume small-1f3b9a02")
@fleet.command()
@click.argument("run")
@url_option
@pass_app
def resume(app: App, *, run: str, url: str | None) -> None:
    """Go on with a run that was paused.

    A run that was stopped goes on with the command that started it: caveat audit run REPLAY --fleet URL.
    """
    _change(app, url, run, state="running", before="paused")


@examples("fleet drain", "fleet drain --worker node7-4121-0c2f9e")
@fleet.command()
@click.option("--worker", metavar="NAME", help="Only this worker.")
@url_option
@pass_app
def drain(app: App, *, worker: str | None, url: str | None) -> None:
    """Ask workers to finish their slices and end."""
    from fleet.runs.fleet_overview import drain_workers

    database = _open(url)
    names = drain_workers(database, worker)
    if worker is not None and not names:
        raise NotFoundError(Fault("unknown-name", "--worker", f"no worker is called {worker!r}", advice="caveat fleet show lists them"))
    sentence = f"Asked {len(names)} workers to end: {', '.join(names)}." if names else "No worker is running."
    app.answer({"schema": "caveat/fleet-drained/1", "workers": names}, sentence)


@examples("fleet fetch small-1f3b9a02 -o small.run")
@fleet.command()
@click.argument("run")
@click.option("-o", "--output", "folder", metavar="DIR", type=_FOLDER, required=True, help="The run folder that is written.")
@url_option
@pass_app
def fetch(app: App, *, run: str, folder: Path, url: str | None) -> None:
    """Write a run as a run folder.

    Every later step reads such a folder: audit score, analyze, audit conclude. The coordinator writes it too, so this is for another
    machine, or for a look at a run that goes on.
    """
    from fleet.runs.run_plan import write_folder

    database = _open(url)
    count = write_folder(database, run, folder)
    document = {"schema": "caveat/fleet-fetched/1", "run": run, "folder": str(folder), "new_outcomes": count}
    app.answer(document, f"Wrote {count:,} outcomes of {run} to {folder}. Next: caveat audit score {folder}")


def _open(url: str | None) -> "FleetDatabase":
    database: FleetDatabase = load_or_refuse("fleet.database", "FleetDatabase").open(get_address(url))
    # However the command ends.
    click.get_current_context().call_on_close(database.close)
    return database


def _build_unknown(database: "FleetDatabase", run: str) -> NotFoundError:
    names = ", ".join(name for (name,) in database.fetch("SELECT run FROM fleet.runs ORDER BY run")) or "none"
    return NotFoundError(Fault("run-not-found", run, f"the fleet has no run of this name; it has: {names}", advice="caveat fleet show"))


def _change(app: App, url: str | None, run: str, *, state: str, before: str) -> None:
    from fleet.runs.run_states import add_event, read_event

    database = _open(url)
    event = read_event(database, run)
    if event is None:
        raise _build_unknown(database, run)
    changed = add_event(database, run, state, after=(before,))
    if not changed and event.state != state:
        problem = f"is {event.state}, not {before}"
        raise ConflictError(Fault("run-state", run, problem))
    app.answer({"schema": "caveat/fleet-state/1", "run": run, "state": state, "changed": changed}, f"{run} is {state}.")
