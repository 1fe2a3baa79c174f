"""`caveat import`: another registry's log, from a bundle."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.cli.vkeys import key_options

if TYPE_CHECKING:
    from registry.transfer.take_over import TakenOver


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="Take statements of EXAMPLE, to try importing.")
@key_options
@pass_app
def import_(app: App, *, file: Path, example: bool, vkeys: tuple[str, ...], key_files: tuple[Path, ...]) -> None:
    """Verify the bundle FILE and take over the log in it, beside this registry's own.

    The first time, give its verifier key, which you got some other way; later bundles are verified with what the log signed
    before. Exit code 1 if it signed another history before: then the evidence is recorded, and nothing else.
    """
    from registry.cli.progress import track
    from registry.cli.vkeys import read_vkeys
    from registry.codec.documents import to_document
    from registry.transfer.take_over import take_over

    given = read_vkeys(vkeys, key_files)
    with track(app, f"verifying {file.name}", unit="entries") as progress:
        done = take_over(app.ledger, file, actor=app.config.authority, given=given, example=example, progress=progress)
    if done.equivocations:
        app.say(f"WARNING: {done.origin} signed two histories; others may be shown another one. See: caveat log show")
    app.report({"schema": "caveat/import/1", **to_document(done)}, lambda console: console.print(_tell(done), soft_wrap=True))


def _tell(done: "TakenOver") -> str:
    from registry.transfer.trust import shorten_vkey

    if not done.new:
        return f"All {done.size} entries of {done.origin} are here already; nothing was recorded."
    erased = f"\n{done.erased} came without text, which was erased: what they said is not known." if done.erased else ""
    cosigned = f"\n{done.cosigned} more signatures, by keys that are not known here: not checked." if done.cosigned else ""
    noun = "entry" if done.new == 1 else "entries"
    return (
        f"Took over {done.new} {noun} of {done.origin}, {done.size} in all, recorded as entry {done.entry}.\n"
        f"Every leaf fits, and the root is the one signed with {shorten_vkey(done.vkey)}.{erased}{cosigned}\n"
        f"Next: caveat claim list --log {done.origin}"
    )
