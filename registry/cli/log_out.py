"""Where a note or a proof goes: a new file, whole or not at all, or standard output as it is."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from registry.cli.app import App
from registry.codec.files import naming_file

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
    part = path.with_name(f".{path.name}.part")
    try:
        with naming_file(path):
            part.write_bytes(text.encode())
        os.replace(part, path)  # noqa: PTH105  (the point is that it is atomic)
    except OSError:
        part.unlink(missing_ok=True)
        raise
