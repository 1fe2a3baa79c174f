"""Where a note or a proof goes: a new file, whole or not at all, or standard output as it is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from registry.atomic import replace_file
from registry.cli.app import App

output_option = click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file.")


def give_out(app: App, document: Mapping[str, Any], text: str, output: Path | None, *, talk: Sequence[str] = ()) -> None:
    """Write *text* to *output*, or print it without a change where that is None; with `--json` print *document*.

    *talk* is said once the file is written: who stops listening (`| head -1`) has it all the same.
    """
    if output is not None:
        write_whole(output, text)
    for line in talk:
        app.say(line)
    if app.json:
        app.report({**document, "file": None if output is None else str(output)})
    elif output is not None:
        app.report({**document, "file": str(output)}, lambda console: console.print(f"Wrote {output}", soft_wrap=True))
    else:
        click.echo(text, nl=False)


def write_whole(path: Path, text: str) -> None:
    """Write *text* to *path*, as a new file or in the place of one, whole or not at all."""
    replace_file(path, text.encode())
