"""`caveat log checkpoint`, `cosign` and `prove`: signed checkpoints, cosignatures and proofs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import App, pass_app
from registry.codec.file_io import replace_file

if TYPE_CHECKING:
    from registry.seal.signed_notes import ConsistencyProof
    from registry.store.log_seals import StoredCheckpoint

# A note or a proof goes to a new file, whole or not at all, or to standard output without a change:
# others verify these very bytes.

output_option = click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file.")


def write_or_print(app: App, document: Mapping[str, Any], text: str, output: Path | None, *, talk: Sequence[str] = ()) -> None:
    """Write *text* to *output*, or print it without a change where that is None; with `--json` print *document*.

    *talk* is said once the file is written: who stops listening (`| head -1`) has it all the same.
    """
    # The file first: whoever reads the messages can rely on it.
    if output is not None:
        write_whole(output, text)
    for line in talk:
        app.say(line)
    if app.json:
        app.report({**document, "file": None if output is None else str(output)})
    elif output is not None:
        app.report({**document, "file": str(output)}, lambda console: console.print(f"Wrote {output}", soft_wrap=True))
    else:
        # No line break is added, since it would be part of the note.
        click.echo(text, nl=False)


def write_whole(path: Path, text: str) -> None:
    """Write *text* to *path*, as a new file or in the place of one, whole or not at all."""
    replace_file(path, text.encode())


# `caveat log checkpoint`.

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
    _publish_checkpoint(app, found, output)


def find_checkpoint_to_prove(app: App, size: int | None, *, least: int) -> "StoredCheckpoint":
    """Return the checkpoint that a proof is to lead to: the one kept of *size* entries, or the newest that can be had, of *least* at least.

    Raises:
        NotFoundError: `checkpoint-not-found`.
    """
    from registry.errors import Fault, NotFoundError
    from registry.store.log_seals import find_checkpoint, list_checkpoints

    # A proof needs a checkpoint that covers its entry; a new one is signed where the key is here.
    if size is None:
        found = _sign_or_find(app)
        if found.checkpoint.size >= least:
            return found
        kept = [found]
    else:
        with app.ledger.view() as view:
            # A checkpoint of fewer entries proves nothing about a later one.
            if (there := find_checkpoint(view, size)) is not None and size >= least:
                return there
            kept = list(list_checkpoints(view))
    sizes = ", ".join(str(one.checkpoint.size) for one in kept[-8:]) or "no entries"
    wanted = f"of {size}" if size is not None and size >= least else f"of {least} or more"
    advice = "caveat log checkpoint makes one, where the log key is"
    raise NotFoundError(Fault("checkpoint-not-found", f"a checkpoint {wanted} entries", f"kept are those of {sizes}", advice=advice))


def _sign_or_find(app: App) -> "StoredCheckpoint":
    """Return a checkpoint of the log as it stands, new if it has to be; the last that is kept where no key is here, and say so."""
    from registry.errors import Fault, NotFoundError, UnavailableError
    from registry.folder.supplement_publishing import sign_log
    from registry.store.log_seals import find_checkpoint, list_checkpoints, refuse_other_history

    with app.ledger.view() as view:
        # The log is compared with every kept checkpoint before it is signed (decision of
        # 2026-11-22); otherwise its keeper would sign a second history. The cost is one more pass
        # over the leaves.
        refuse_other_history(view)
        size = view.log_size
        there = find_checkpoint(view, size)
    if size == 0:
        raise NotFoundError(Fault("empty-registry", "registry", "nothing is recorded yet, so there is nothing to sign"))
    # Signing the same state again would give a second checkpoint of one size.
    if there is not None:
        return there
    try:
        ring = app.read_keys()
        with app.ledger.write(actor=app.config.authority) as writer:
            return sign_log(writer, ring)
    except UnavailableError as error:
        # A missing key or passphrase is no reason to fail: an older checkpoint may serve.
        if error.code not in {"no-signing-key", "passphrase-missing"}:
            raise
        with app.ledger.view() as view:
            kept = list_checkpoints(view)
        if not kept:
            raise
        # Said, because the caller asked for the log as it stands.
        app.say(f"{error.faults[0].found}: the last checkpoint is taken, of {kept[-1].checkpoint.size} of {size} entries")
        return kept[-1]


def _attach(app: App, path: Path, trust: Sequence[str], output: Path | None) -> None:
    from registry.codec.file_io import read_text
    from registry.registration.key_registration import attach_cosignatures, list_witness_keys
    from registry.store.log_seals import find_checkpoint
    from registry.verify.verification_keys import read_given

    text = read_text(path, largest=_LARGEST_NOTE_BYTES)
    given = [key.vkey for key in read_given(trust).keys if key.vkey is not None]
    # One key can be given in its form as log key; witnesses sign with its form as cosigner.
    trusted = [one if one.is_cosigner else one.as_cosigner() for one in given]
    with app.ledger.write(actor=app.config.authority) as writer:
        attached = attach_cosignatures(writer, text, [*trusted, *list_witness_keys(writer)], where=str(path))
        found = find_checkpoint(writer, attached.checkpoint.size)
    # A cosignature by an unknown key is not kept, and the user must learn that.
    for one in attached.left_out:
        app.say(f"left out: {one.name}+{one.key}: {one.why}")
    app.say(f"kept: {', '.join(attached.kept) or 'no cosignature'}")
    if found is not None:
        _publish_checkpoint(app, found, output, left_out=[f"{one.name}+{one.key}: {one.why}" for one in attached.left_out])


def _publish_checkpoint(app: App, stored_checkpoint: "StoredCheckpoint", output: Path | None, *, left_out: Sequence[str] = ()) -> None:
    said = stored_checkpoint.checkpoint
    document = {
        "schema": "caveat/checkpoint/1",
        "origin": said.origin,
        "size": said.size,
        "root": said.root,
        "note": stored_checkpoint.note,
        "left_out": list(left_out),
    }
    write_or_print(app, document, stored_checkpoint.note, output)


# `caveat log cosign`: this registry as a witness of another log.

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
    from registry.exchange.foreign_logs import cosign_note
    from registry.verify.verification_keys import read_given

    text, steps = _read(note, proof)
    given = [key.vkey for key in read_given(vkeys).keys if key.vkey is not None]
    done = cosign_note(app.ledger, app.read_keys(), text, actor=app.config.authority, given=given, proof=steps)
    said = done.checkpoint
    talk = [f"{'recorded in' if done.is_new else 'cosigned before, in'} entry {done.entry}; the cosignature is verified with:"]
    talk += [f"  {vkey}" for vkey in done.vkeys]
    # Nothing was compared for the first checkpoint, and the witness's signature would suggest it
    # was.
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
    write_or_print(app, document, done.note, output, talk=talk)


def _read(note: Path, proof: Path | None) -> "tuple[str, ConsistencyProof | None]":
    """Return the signed note and the proof: of two files, or both of the one."""
    from registry.codec.file_io import read_text
    from registry.seal.signed_notes import is_consistency, parse_consistency

    text = read_text(note, largest=_LARGEST_NOTE_BYTES)
    steps = None if proof is None else parse_consistency(read_text(proof, largest=_LARGEST_NOTE_BYTES), where=str(proof))
    # A consistency proof has its note at the end, so one file is enough.
    if is_consistency(text) and proof is None:
        steps = parse_consistency(text, where=str(note))
        text = steps.note
    return text, steps


# `caveat log prove`.


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
    # Exactly one of the two questions.
    if (entry is None) == (since is None):
        raise click.UsageError("name an ENTRY, or give --since SIZE")
    if entry is not None:
        _prove_entry(app, entry, size, no_text=no_text, output=output)
    elif since is not None:
        _prove_growth(app, since, size, output)


def _prove_entry(app: App, entry: int, size: int | None, *, no_text: bool, output: Path | None) -> None:
    from registry.errors import Fault, NotFoundError
    from registry.seal.signed_notes import format_proof
    from registry.store.log_seals import inclusion_path

    with app.ledger.view() as view:
        place = view.find_entry(entry)
        if place is None:
            raise NotFoundError(Fault("entry-not-found", f"entry {entry}", f"the log has {view.log_size} entries"))
        if not no_text:
            view.recorded((entry,))  # raises where it was erased or altered
        ((_, text),) = view.log_entries(entry, entry + 1)
    # A new checkpoint may be signed here, so the view is opened again below.
    checkpoint = find_checkpoint_to_prove(app, size, least=entry)
    with app.ledger.view() as view:
        path = inclusion_path(view, entry, checkpoint.checkpoint.size)
    # Entries count from 1, leaves from 0.
    proof = format_proof(entry - 1, path, checkpoint.note, None if no_text else text)
    document = {"schema": "caveat/log-proof/1", "entry": entry, "leaf": place.leaf, **_describe(checkpoint), "proof": proof}
    write_or_print(app, document, proof, output)


def _prove_growth(app: App, since: int, size: int | None, output: Path | None) -> None:
    from registry.seal.signed_notes import format_consistency
    from registry.store.log_seals import consistency_path

    checkpoint = find_checkpoint_to_prove(app, size, least=max(since, 1))
    with app.ledger.view() as view:
        path = consistency_path(view, since, checkpoint.checkpoint.size)
    proof = format_consistency(since, path, checkpoint.note)
    document = {"schema": "caveat/consistency-proof/1", "since": since, **_describe(checkpoint), "proof": proof}
    write_or_print(app, document, proof, output)


def _describe(checkpoint: "StoredCheckpoint") -> dict[str, str | int]:
    said = checkpoint.checkpoint
    return {"origin": said.origin, "size": said.size, "root": said.root}
