"""`caveat log cosign`: this registry as a witness of another's log."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.cli.log_out import give_out, output_option

if TYPE_CHECKING:
    from registry.seal.consistency import ConsistencyProof

_LARGEST_NOTE_BYTES = 1_000_000
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("note", type=_FILE)
@click.option("--proof", type=_FILE, help="What leads from the last checkpoint seen here to this one: their caveat log prove --since.")
@click.option("--vkey", "vkeys", multiple=True, metavar="VKEY|FILE", help="The log's key, learnt from its authority.")
@output_option
@pass_app
def cosign(app: App, *, note: Path, proof: Path | None, vkeys: tuple[str, ...], output: Path | None) -> None:
    """Cosign another log's checkpoint as its witness, and print the note with the cosignature.

    NOTE is the signed note, or the proof file, which has the note at its end. It is cosigned only if the log's key signed it and it goes
    on from the last checkpoint of this log that was cosigned or taken over here; the first is taken as it is. If it is of another
    history, the two signed notes are recorded as evidence, and the exit code is 1.
    """
    from registry.transfer.cosigning import cosign_note
    from registry.verification.trust import read_given

    text, steps = _read(note, proof)
    given = [one.vkey for one in read_given(vkeys).keys if one.vkey is not None]
    done = cosign_note(app.ledger, app.read_keys(), text, actor=app.config.authority, given=given, proof=steps)
    said = done.checkpoint
    talk = [f"{'recorded in' if done.is_new else 'cosigned before, in'} entry {done.entry}; the cosignature is verified with:"]
    talk += [f"  {vkey}" for vkey in done.vkeys]
    if done.seen is None:
        talk.insert(0, f"this is the first checkpoint of {said.origin} seen here: what came before it is its keeper's word")
    document = {
        "schema": "caveat/cosigned/1",
        "origin": said.origin,
        "size": said.size,
        "root": said.root,
        "seen": done.seen,
        "entry": done.entry,
        "new": done.is_new,
        "vkeys": list(done.vkeys),
        "note": done.note,
    }
    give_out(app, document, done.note, output, talk=talk)


def _read(note: Path, proof: Path | None) -> "tuple[str, ConsistencyProof | None]":
    """Return the signed note and the proof: of two files, or both of the one."""
    from registry.codec.files import read_text
    from registry.seal.consistency import is_consistency, parse_consistency

    text = read_text(note, largest=_LARGEST_NOTE_BYTES)
    steps = None if proof is None else parse_consistency(read_text(proof, largest=_LARGEST_NOTE_BYTES), where=str(proof))
    if is_consistency(text) and proof is None:
        steps = parse_consistency(text, where=str(note))
        text = steps.note
    return text, steps
