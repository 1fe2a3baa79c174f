"""`--seal`: the contexts of a replay are sealed before anything of them enters the record."""

from pathlib import Path

from audit.replay.replay_file import seal_contexts
from registry.cli.application import App
from registry.errors import Fault, InputError
from registry.registration.specification_registration import format_reference


def seal_replay(app: App, path: Path, *, dry_run: bool = False) -> None:
    """Seal the context files of the replay *path* that are not sealed yet, and say where their seal files stand.

    Raises:
        InputError: with *dry_run*: sealing writes files and log entries, and a dry run writes nothing.
        CaveatError: as `audit.replay.replay_file.seal_contexts`.
    """
    if dry_run:
        found = "--seal writes seal files and records commitments, and --dry-run writes nothing"
        raise InputError(Fault(code="bad-option", where="--seal", found=found, advice="leave one of them out"))
    with app.ledger.write(actor=app.config.authority) as writer:
        sealed = seal_contexts(writer, path, owner=app.config.authority)
    for version, file in sealed:
        app.say(f"sealed {format_reference(version)} ({version.slug}), commitment {version.commitment}; keep {file}, and keep it secret")
