"""`caveat log checkpoint`: the log as it stands, signed; and what witnesses added to it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.cli.log_out import give_out, output_option

if TYPE_CHECKING:
    from registry.store.seals import StoredCheckpoint

_LARGEST_NOTE_BYTES = 1_000_000


@click.command()
@click.option("--attach", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Keep the cosignatures of this note.")
@click.option("--trust", multiple=True, metavar="VKEY|FILE", help="With --attach: the key of a witness.")
@output_option
@pass_app
def checkpoint(app: App, *, attach: Path | None, trust: tuple[str, ...], output: Path | None) -> None:
    """Sign the log as it stands with the log key here, keep the checkpoint, and print it: a signed note of C2SP tlog-checkpoint.

    Give it away: what others keep holds this log to its history. Without a log key here, the last checkpoint that is kept is printed.
    A note that came back from witnesses is kept with --attach, as far as their keys are known and their signatures hold.
    """
    if attach is not None:
        _attach(app, attach, trust, output)
        return
    if trust:
        raise click.UsageError("--trust goes with --attach")
    found = _sign_or_find(app)
    _give_out(app, found, output)


def find_checkpoint_to_prove(app: App, size: int | None, *, least: int) -> "StoredCheckpoint":
    """Return the checkpoint that a proof is to lead to: the one kept of *size* entries, or the newest that can be had, of *least* at least.

    Raises:
        NotFoundError: `checkpoint-not-found`.
    """
    from registry.errors import Fault, NotFoundError
    from registry.store.seals import find_checkpoint, list_checkpoints

    if size is None:
        found = _sign_or_find(app)
        if found.checkpoint.size >= least:
            return found
        kept = [found]
    else:
        with app.ledger.view() as view:
            if (there := find_checkpoint(view, size)) is not None and size >= least:
                return there
            kept = list(list_checkpoints(view))
    sizes = ", ".join(str(one.checkpoint.size) for one in kept[-8:]) or "no entries"
    wanted = f"of {size}" if size is not None and size >= least else f"of {least} or more"
    advice = "caveat log checkpoint makes one, where the log key is"
    raise NotFoundError(
        Fault(code="checkpoint-not-found", where=f"a checkpoint {wanted} entries", found=f"kept are those of {sizes}", advice=advice)
    )


def _sign_or_find(app: App) -> "StoredCheckpoint":
    """Return a checkpoint of the log as it stands, new if it has to be; the last that is kept where no key is here, and say so."""
    from registry.errors import Fault, NotFoundError, UnavailableError
    from registry.proving import sign_log
    from registry.store.seals import find_checkpoint, list_checkpoints, refuse_other_history

    with app.ledger.view() as view:
        refuse_other_history(view)
        size = view.log_size
        there = find_checkpoint(view, size)
    if size == 0:
        found, advice = "nothing is recorded yet, so there is nothing to sign", "caveat init"
        raise NotFoundError(Fault(code="empty-registry", where="registry", found=found, advice=advice))
    if there is not None:
        return there
    try:
        ring = app.read_keys()
        with app.ledger.write(actor=app.config.authority) as writer:
            return sign_log(writer, ring)
    except UnavailableError as error:
        if error.code not in {"no-log-key", "passphrase-missing"}:
            raise
        with app.ledger.view() as view:
            kept = list_checkpoints(view)
        if not kept:
            raise
        app.say(f"{error.faults[0].found}: the last checkpoint is taken, of {kept[-1].checkpoint.size} of {size} entries")
        return kept[-1]


def _attach(app: App, path: Path, trust: Sequence[str], output: Path | None) -> None:
    from registry.codec.files import read_text
    from registry.registration.key_registration import attach_cosignatures, list_witness_keys
    from registry.store.seals import find_checkpoint
    from registry.verification.trust import read_given

    text = read_text(path, largest=_LARGEST_NOTE_BYTES)
    given = [one.vkey for one in read_given(trust).keys if one.vkey is not None]
    trusted = [one if one.is_cosigner else one.as_cosigner() for one in given]
    with app.ledger.write(actor=app.config.authority) as writer:
        attached = attach_cosignatures(writer, text, [*trusted, *list_witness_keys(writer)], where=str(path))
        found = find_checkpoint(writer, attached.checkpoint.size)
    for one in attached.left_out:
        app.say(f"left out: {one.name}+{one.key}: {one.why}")
    app.say(f"kept: {', '.join(attached.kept) or 'no cosignature'}")
    if found is not None:
        _give_out(app, found, output, left_out=[f"{one.name}+{one.key}: {one.why}" for one in attached.left_out])


def _give_out(app: App, found: "StoredCheckpoint", output: Path | None, *, left_out: Sequence[str] = ()) -> None:
    said = found.checkpoint
    document = {
        "schema": "caveat/checkpoint/1",
        "origin": said.origin,
        "size": said.size,
        "root": said.root,
        "note": found.note,
        "left_out": list(left_out),
    }
    give_out(app, document, found.note, output)
