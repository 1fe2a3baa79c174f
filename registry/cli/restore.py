"""`caveat restore`: a backup brought back."""

from pathlib import Path

import click

from registry.cli.app import App, pass_app
from registry.cli.vkeys import key_options


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Hold it against the checkpoint in this file; default: FILE.checkpoint.",
)
@click.option("--without-checkpoint", is_flag=True, help="Hold it against nothing but the checkpoints inside it.")
@key_options
@pass_app
def restore(
    app: App, *, file: Path, checkpoint: Path | None, without_checkpoint: bool, vkeys: tuple[str, ...], key_files: tuple[Path, ...]
) -> None:
    """Bring the backup FILE back into the registry of this folder, which must be empty or missing.

    It is held against its checkpoint first: refused (exit code 1) if entries are missing or altered. Every row is made anew from
    the log.
    """
    from registry.cli.progress import count_up, track
    from registry.cli.vkeys import read_vkeys
    from registry.codec.documents import to_document
    from registry.errors import Fault, InputError
    from registry.store.engine import describe_url, refuse_memory
    from registry.transfer.restore import find_note, read_note, restore

    if checkpoint and without_checkpoint:
        raise click.UsageError("Give --checkpoint or --without-checkpoint, not both.")
    refuse_memory(app.config.url)
    beside = checkpoint or find_note(file)
    if beside is None and not without_checkpoint:
        found, advice = "there is no checkpoint beside it to hold it against", "give --checkpoint NOTE, or --without-checkpoint"
        raise InputError(Fault(code="checkpoint-not-found", where=str(file), found=found, advice=advice))
    note = None if without_checkpoint or beside is None else read_note(beside)
    given = read_vkeys(vkeys, key_files)
    with track(app, f"restoring {file.name}", unit="entries") as progress:
        done = restore(file, app.config.url, note=note, given=given, progress=count_up(progress))
    until = f", the last of {done.last_at:%Y-%m-%d %H:%M:%S} UTC" if done.last_at else ""
    app.report(
        {"schema": "caveat/restore/1", "registry": describe_url(app.config.url), **to_document(done)},
        lambda console: console.print(
            f"Restored {done.entries} entries of {done.origin} into {describe_url(app.config.url)}{until}.\n"
            f"{_tell_check(done.checkpoint.size if done.checkpoint else None, done.entries, done.signer, is_own_word=done.is_own_word)}\n"
            f"Secret keys are not in a backup: put them back into {app.config.keys.name} from your copy.",
            soft_wrap=True,
        ),
    )


def _tell_check(size: int | None, entries: int, signer: str | None, *, is_own_word: bool) -> str:
    """What it was held against, and what that does not show."""
    from registry.transfer.trust import shorten_vkey

    if size is None:
        return "It was held against no checkpoint, as was asked: that nothing is missing at its end is not checked."
    rest = f" Entries {size + 1} to {entries} came after it, and nothing vouches for them." if size < entries else ""
    if signer is None:
        return f"It agrees with the checkpoint at {size}, which nobody signed: that shows accidents, no forgery.{rest}"
    name = shorten_vkey(signer)
    own = ", a key known from the backup alone: give yours with --vkey to be sure" if is_own_word else ""
    return f"It agrees with the checkpoint at {size}, signed with {name}{own}.{rest}"
