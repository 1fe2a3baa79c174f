"""How the accounts of an import look in a terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from audit.records.model_response import ImportedFile, ImportedLog
from registry.cli.terminal_output import build_table, show
from registry.records.replay_run import Provenance


def print_accounts(console: Console, imported: ImportedLog) -> None:
    """Print per file what was declared, found and scored; then what was left out, what must be known, and what the logs say of the run."""
    rows = [
        (Path(file.name).name, file.arm or "by field", "–" if file.declared is None else str(file.declared), *map(str, _count(file)))
        for file in imported.files
    ]
    console.print(
        build_table(("file", "arm", "declared", "found", "scored", "excluded"), rows, numbers=("declared", "found", "scored", "excluded"))
    )
    for file in imported.files:
        _print_file(console, file, several=len(imported.files) > 1)
    for line in describe_origin(imported):
        console.print(show(line))


def _count(file: ImportedFile) -> tuple[int, int, int]:
    return file.found, file.scored, sum(one.count for one in file.left_out if one.is_row)


def _print_file(console: Console, file: ImportedFile, *, several: bool) -> None:
    lines = [
        f"{one.count} {'without a score' if one.is_row else 'not taken'}: {one.reason} ({', '.join(one.examples)}"
        f"{', …' if one.count > len(one.examples) else ''})"
        for one in file.left_out
    ]
    lines += (*(f"warning: {one}" for one in file.warnings), *file.notes)
    if lines and several:
        console.print(show(f"\n{Path(file.name).name} ({file.format})"))
    for line in lines:
        console.print(show(f"  - {line}"))


def describe_origin(imported: ImportedLog) -> Sequence[str]:
    """Return what the logs say of model and date, and what they do not."""
    known: Provenance = imported.provenance
    model = known.model_returned or known.model_requested or "the logs do not say"
    began = imported.started_at or "the logs do not say; give --run-date for a locked audit"
    return ("", f"model: {model}", f"first response: {began}", f"scores: {known.judge or 'the logs do not say by what'}")
