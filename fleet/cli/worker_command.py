"""`caveat worker`: one process that works for a fleet."""

from pathlib import Path
from typing import Any

import click

from audit.cli.analysis_options import list_key_hosts, send_key_option
from fleet.cli.fleet_address import get_address, load_or_refuse, url_argument
from registry.cli.application import App, examples, pass_app_only


@examples(
    "worker postgresql://fleet@db.example.org/fleet",
    "worker postgresql://fleet@db.example.org/fleet --slots 4 --spill /var/lib/caveat",
    "worker postgresql://fleet@db.example.org/fleet --can score,estimate,draw",
)
@click.command()
@url_argument
@click.option(
    "--can", metavar="KINDS", help="Kinds of work: replay, judge, score, estimate, draw; default: all that this installation can."
)
@click.option("--slots", metavar="N", type=click.IntRange(1, 64), default=2, show_default=True, help="Slices at the same time.")
@click.option("--name", metavar="NAME", help="What `fleet show` calls it; default: host and process.")
@click.option(
    "--spill", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), default=Path(".caveat-worker"), show_default=True,
    help="Where answers are kept while the database is away.",
)  # fmt: skip
@send_key_option()
@pass_app_only
def worker(app: App, /, *, url: str | None, can: str | None, slots: int, name: str | None, spill: Path, **options: Any) -> None:
    """Work for a fleet until SIGTERM or Ctrl-C.

    Start as many as you like, on any machine, under Kubernetes, Slurm, systemd or a shell. Keys of models are read from this
    process's environment and are sent only where they may go (--send-key-to); they are never in the database.

    Scores, estimates and drawings are made only with the versions of the machine that asks for them, so that their bytes are the same. A
    worker that differs gets none of them: `fleet show` says why.

    The first signal finishes the slices under way. A second one finishes the calls under way, and a third one leaves them: they count as
    lost in flight. A worker that is killed loses the calls under way, and another takes its slices over when its lease ends.
    """
    run = load_or_refuse("fleet.cli.worker_session", "work")
    kinds = None if can is None else tuple(dict.fromkeys(kind.strip() for kind in can.split(",") if kind.strip()))
    run(app, get_address(url), kinds=kinds, slots=slots, name=name, spill=spill, send_key_to=list_key_hosts(options))
