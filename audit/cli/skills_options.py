"""Arguments and options that several commands of `caveat skills` share."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from audit.cli.options import FILE

Command = TypeVar("Command", bound=Callable[..., object])

FOLDER = click.Path(file_okay=False, path_type=Path)
RUN_HELP = "The run folder; default: STUDY with the ending .run."
STUDY = click.argument("path", metavar="STUDY", type=FILE)
RUN = click.option("--run", "folder", metavar="DIR", type=FOLDER, help=RUN_HELP)
SKILL = click.option("--skill", "skills_", metavar="NAME", multiple=True, help="Only this skill. May be repeated.")
TASK = click.option("--task", "tasks", metavar="ID", multiple=True, help="Only this task: SKILL/ID, or ID. May be repeated.")

_CALLS = (
    click.option("-o", "--run", "folder", metavar="DIR", type=FOLDER, help=RUN_HELP),
    SKILL,
    TASK,
    click.option(
        "--condition", "conditions", metavar="ARM", multiple=True, help="Only this condition, A to E or its name. May be repeated."
    ),
    click.option(
        "--samples", metavar="N", type=click.IntRange(1), help="Responses to each task under each condition; default: the study's."
    ),
    click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, and send nothing."),
    click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=64, show_default=True, help="Most requests at once."),
    click.option("--retry-failed", is_flag=True, help="Send calls again that failed."),
    click.option(
        "--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice."
    ),
    click.option("--prices", type=FILE, help="Prices by model (caveat schema prices); without them, cost is unknown."),
    click.option(
        "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
    ),
    click.option("--batch", is_flag=True, help="Use Message Batches: cheaper, and done within a day."),
)
_ANALYSIS = (
    click.option("--export", metavar="DIR", type=FOLDER, help="Write the run in the layout of published studies (caveat contamination)."),
    click.option("--level", metavar="SHARE", type=float, default=0.95, help="Nominal coverage of the intervals; default: 0.95."),
    click.option("--margin", metavar="NUMBER", type=float, default=0.2, help="Materiality margin δ in points, of 1 to 5; default: 0.2."),
)


def call_options(command: Command) -> Command:
    """Give *command* the options of the calls that make responses."""
    return _add(command, _CALLS)


def analysis_options(command: Command) -> Command:
    """Give *command* the options of the analysis."""
    return _add(command, _ANALYSIS)


def _add(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
