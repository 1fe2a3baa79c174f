"""`caveat log prove`: that an entry stands in the log, or that the log goes on from what somebody saw."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.cli.log_checkpoint import find_checkpoint_to_prove
from registry.cli.log_out import give_out, output_option

if TYPE_CHECKING:
    from registry.store.seals import StoredCheckpoint


@click.command()
@click.argument("entry", type=click.IntRange(1), required=False)
@click.option("--since", type=click.IntRange(0), metavar="SIZE", help="Prove instead that the log goes on from its first SIZE entries.")
@click.option("--size", type=click.IntRange(1), metavar="SIZE", help="Against the checkpoint kept of so many entries.")
@click.option("--no-text", is_flag=True, help="Leave out what the entry says; who checks the proof must have it.")
@output_option
@pass_app
def prove(app: App, *, entry: int | None, since: int | None, size: int | None, no_text: bool, output: Path | None) -> None:
    """Prove that ENTRY stands in the log (a .tlog-proof), or with --since that nothing of what somebody saw was changed.

    The proof leads to a signed checkpoint: a new one where the log key is here, otherwise the last that is kept. Anybody checks it
    without this registry: caveat verify, or any program that knows C2SP tlog-proof.
    """
    if (entry is None) == (since is None):
        raise click.UsageError("name an ENTRY, or give --since SIZE")
    if entry is not None:
        _prove_entry(app, entry, size, no_text=no_text, output=output)
    elif since is not None:
        _prove_growth(app, since, size, output)


def _prove_entry(app: App, entry: int, size: int | None, *, no_text: bool, output: Path | None) -> None:
    from registry.errors import Fault, NotFoundError
    from registry.seal.proof import format_proof
    from registry.store.seals import inclusion_path

    with app.ledger.view() as view:
        place = view.find_entry(entry)
        if place is None:
            raise NotFoundError(Fault(code="entry-not-found", where=f"entry {entry}", found=f"the log has {view.log_size} entries"))
        if not no_text:
            view.recorded((entry,))  # raises where it was erased or altered
        ((_, text),) = view.log_entries(entry, entry + 1)
    checkpoint = find_checkpoint_to_prove(app, size, least=entry)
    with app.ledger.view() as view:
        path = inclusion_path(view, entry, checkpoint.checkpoint.size)
    proof = format_proof(entry - 1, path, checkpoint.note, None if no_text else text)
    document = {"schema": "caveat/log-proof/1", "entry": entry, "leaf": place.leaf, **_describe(checkpoint), "proof": proof}
    give_out(app, document, proof, output)


def _prove_growth(app: App, since: int, size: int | None, output: Path | None) -> None:
    from registry.seal.consistency import format_consistency
    from registry.store.seals import consistency_path

    checkpoint = find_checkpoint_to_prove(app, size, least=max(since, 1))
    with app.ledger.view() as view:
        path = consistency_path(view, since, checkpoint.checkpoint.size)
    proof = format_consistency(since, path, checkpoint.note)
    document = {"schema": "caveat/consistency-proof/1", "since": since, **_describe(checkpoint), "proof": proof}
    give_out(app, document, proof, output)


def _describe(checkpoint: "StoredCheckpoint") -> dict[str, str | int]:
    said = checkpoint.checkpoint
    return {"origin": said.origin, "size": said.size, "root": said.root}
