"""`caveat verify`: does a supplement say what its record says?"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.errors import UnavailableError

if TYPE_CHECKING:
    from registry.verification.check import Check


@click.command()
@click.argument("files", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=-1, required=True)
@pass_app
def verify(app: App, *, files: tuple[Path, ...]) -> None:
    """Check supplements (PDF, HTML, JSON): drawn again from the record they carry, they must be the same bytes.

    With a registry (--registry, or one in this folder), what it says as of the same entry is compared too. Exit code 1 if a check fails.
    """
    checks = _verify(app, tuple(dict.fromkeys(files)))
    document = {
        "schema": "caveat/verify/1",
        "files": [
            {"file": name, "checks": [{"name": one.name, "answer": one.answer.value, "note": one.note} for one in found]}
            for name, found in checks.items()
        ],
    }
    lines = [
        line for name, found in checks.items() for line in (name, *(f"  {one.answer.value:11}  {one.name}: {one.note}" for one in found))
    ]
    app.report(document, lambda console: console.print("\n".join(lines), soft_wrap=True))
    is_wrong = any(one.answer.value == "no" and one.name.value != "current" for found in checks.values() for one in found)
    click.get_current_context().exit(1 if is_wrong else 0)


def _verify(app: App, paths: tuple[Path, ...]) -> "dict[str, Sequence[Check]]":
    from registry.cli.progress import track
    from registry.publishing import read_bytes
    from registry.verification.files import Given, Means, verify_files

    try:
        ledger = app.ledger
    except UnavailableError as error:
        if app.registry or error.code != "registry-not-found":
            raise  # somebody means a registry that cannot be read: not comparing would hide it
        ledger = None
    files = [Given(name=str(path), data=read_bytes(path)) for path in paths]
    limit_s, workers = app.config.time_limit_s, os.cpu_count() or 1
    with track(app, "checking supplements", total=len(files), unit="files") as advance:
        found = verify_files(files, Means(ledger=ledger), time_limit_s=limit_s, workers=workers, progress=advance)
    return {one.name: one.checks for one in found}
