"""`caveat backup`: all that the registry holds, in one file."""

from pathlib import Path

import click

from registry.cli.app import App, pass_app


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@pass_app
def backup(app: App, *, file: Path) -> None:
    """Write all that the registry holds now to the new FILE, and beside it FILE.checkpoint, which it can be held to.

    Others can go on writing meanwhile. What is written is checked: every leaf, and every checkpoint. Secret keys are not in it.
    """
    from registry.cli.progress import count_up, track
    from registry.codec.documents import to_document
    from registry.registration.key_registration import get_log_keys
    from registry.transfer.backup import back_up

    with app.ledger.view() as view:
        ring = app.read_keys()
        keys, size = get_log_keys(view, ring) if ring.log else (), view.log_size
    with track(app, f"writing {file.name}", total=size, unit="entries") as progress:
        done = back_up(app.ledger, file, keys=keys, actor=app.config.authority, progress=count_up(progress))
    others = "".join(f"\nwith {one.size} entries of {one.origin}" for one in done.logs)
    signed = "signed" if done.is_signed else "NOT signed, because no log key is here: it shows accidents, no forgery"
    app.report(
        {"schema": "caveat/backup/1", **to_document(done)},
        lambda console: console.print(
            f"Wrote {done.path}: {done.entries} entries of {done.origin}, every leaf checked.{others}\n"
            f"Its checkpoint is {done.checkpoint}, {signed}. Keep a copy of it elsewhere.\n"
            f"The secret keys are not in it: keep a copy of {app.config.keys.name} too.",
            soft_wrap=True,
        ),
    )
