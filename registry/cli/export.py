"""`caveat export`: the log as a bundle for other registries."""

from pathlib import Path

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.errors import Fault, InputError


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The new file; .caveat is compressed, .jsonl is not. Default: CODE-SIZE.caveat.",
)
@click.option("--since", type=click.IntRange(0), default=0, metavar="SIZE", help="Leave out the first SIZE entries, which they have.")
@click.option("--without-cards", is_flag=True, help="Leave out the texts of cards, which are third-party texts.")
@click.option("--example", is_flag=True, help="Let statements of EXAMPLE out, to show how exporting works.")
@as_of_option
@pass_app
def export(app: App, *, output: Path | None, since: int, without_cards: bool, example: bool) -> None:
    """Write the log as a bundle: one file that another registry verifies without trusting who sends it.

    In it: every statement, the texts of cards, and the signed checkpoint. The checkpoint is made with the key here; where none
    is here, the last one that was made is used, with the entries up to it.
    """
    from registry.cli.progress import track
    from registry.codec.documents import to_document
    from registry.transfer.export import export_bundle

    note = _find_note(app)
    with app.view() as view:
        path = output or Path(_name(note))
        with track(app, f"writing {path.name}", total=view.log_size - since, unit="entries") as progress:
            done = export_bundle(view, note, path, since=since, cards=not without_cards, example=example, progress=progress)
    erased = f"; {done.erased} of them without text, which was erased" if done.erased else ""
    texts = f", {done.contents} card {'text' if done.contents == 1 else 'texts'}" if done.contents else ""
    app.report(
        {"schema": "caveat/export/1", **to_document(done)},
        lambda console: console.print(
            f"Wrote {done.path}: entries {done.since + 1} to {done.size} of {done.origin}{erased}{texts}.\n"
            f"root {done.root}\nsha256 {done.sha256}\n"
            "Next: send it, and tell your verifier key some other way: caveat key show",
            soft_wrap=True,
        ),
    )


def _find_note(app: App) -> str:
    """The signed checkpoint to send: of another registry's log the one it came with."""
    from registry.registration.key_registration import get_log_keys, seal_log
    from registry.transfer.export import find_imported_note, find_last_note

    if app.log is not None:
        with app.ledger.view() as own:
            if own.log_origin != app.log:
                return find_imported_note(own, app.log)
    with app.view() as view:
        ring = app.read_keys()
        if not view.log_size:
            raise InputError(Fault(code="empty-registry", where="registry", found="nothing is recorded yet", advice="caveat card add FILE"))
        if not ring.log:
            last = find_last_note(view)
            if last.checkpoint.size < view.log_size:
                app.say(f"no log key is here: entries up to the last checkpoint, {last.checkpoint.size} of {view.log_size}, are written")
            return last.note
        keys, size = get_log_keys(view, ring), view.log_size
    with app.ledger.write(actor=app.config.authority) as writer:
        return seal_log(writer, keys, size=size).note


def _name(note: str) -> str:
    """A file name of the log's own words that are safe in one, and its size."""
    origin, size, *_ = note.split("\n")
    words = [word for word in origin.split("/") if word.isascii() and word.replace("-", "").isalnum()]
    return f"{words[0] if words else 'log'}-{size}.caveat"
