"""docs/commands.md as it should be: every command with its help, exactly as an 80-column terminal prints it."""

from collections.abc import Iterator

import click
from click.testing import CliRunner

from caveat_command import SECTIONS
from registry.cli.main import cli

HEAD = """\
# Commands

Every command with its help, as `caveat … --help` prints it in a terminal 80 columns wide. This page is generated, and a test compares
it with the command; after a change: `CAVEAT_UPDATE_DOCS=1 pytest tests/docs`.

`caveat` answers on standard output and talks on standard error. Most commands take `--json` (one document with a `schema` field),
`--registry URL` and `--debug`; those that read take `--as-of DATE|ENTRY`. Exit codes: 0 yes or done, 1 the answer is no, 2 wrong usage
or bad input, 3 it could not be evaluated here ([errors](errors.md)).

Worked examples: [getting started](getting-started.md) (registry, claims, audits, supplements), [proposing claims](proposing.md)
(claim propose and its review), [planning a replay](replay.md) (analyze estimate, contrast and ablation, audit order, audit rate),
[checking a judge](judge.md), [scoring a run](scoring.md),
[the registry](registry.md) (disputes, revisions, findings), [when a card is revised](revisions.md) (card diff, claim reword),
[when a model is updated](updating.md) (model update; stale list, confirm, dismiss, apply),
[a study read again](contamination.md).
"""


def list_commands() -> list[tuple[str, ...]]:
    """Return the path of every group and command, groups before what is in them; the first is empty, for `caveat` itself."""
    return list(_walk(cli, ()))


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1] if path else "caveat")
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _walk(inner, (*path, name))


def print_help(path: tuple[str, ...]) -> str:
    """Return what `caveat PATH --help` prints at 80 columns."""
    cli.sections = SECTIONS  # as the installed command sets them
    result = CliRunner().invoke(cli, [*path, "--help"], prog_name="caveat", terminal_width=78)  # click leaves two columns free
    if result.exit_code != 0:
        raise AssertionError(f"caveat {' '.join(path)} --help ended with {result.exit_code}: {result.output}")
    return result.stdout


def compose_page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for path in list_commands():
        level = "##" if len(path) <= 1 else "###"
        parts.append(f"{level} {' '.join(('caveat', *path))}\n\n```text\n{print_help(path).rstrip()}\n```\n")
    return "\n".join(parts)
