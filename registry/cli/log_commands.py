"""`caveat admin log`: the audit trail, its checks, checkpoints, cosignatures and proofs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import ANY, App, as_of_option, examples, pass_app, reason_option, yes_option
from registry.cli.list_options import ListOutput, list_options
from registry.cli.main import LazyGroup
from registry.codec.file_io import replace_file
from registry.errors import AnswerNoError, CaveatError, Fault, NotFoundError, UnavailableError
from registry.records.record import Identifier
from registry.records.statement import PAYLOADS

if TYPE_CHECKING:
    from registry.seal.signed_notes import ConsistencyProof, VerifierKey
    from registry.store.log_integrity import LogReport
    from registry.store.log_seals import StoredCheckpoint
    from registry.verify.proof_checks import Check

# `caveat admin log`: entries of the log in order, the check of the log, and erasure of a text.

# `caveat admin log`.

Texts = tuple[str, ...]
_LAST = 20


@click.group(cls=LazyGroup, entry_points="caveat.commands.admin.log")
def log() -> None:
    """Read the log of statements, check, sign and prove it."""


@examples("admin log show", "admin log show --about CLM-LAB-2026-0001-E --kind claim_revision", "admin log show --start 1 --stop 50 --json")
@log.command()
@click.option("--start", type=click.IntRange(1), help="First entry; default: the last twenty.")
@click.option("--stop", type=click.IntRange(1), help="Last entry.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(sorted(PAYLOADS)), help="Only of this kind.")
@click.option("--actor", "actors", multiple=True, metavar="CODE", help="Only what this authority said.")
@click.option("--about", type=ANY, metavar="ID", help="Only what names this identifier, or belongs to it.")
@as_of_option
@pass_app
@list_options
def show(
    app: App, /, *, output: ListOutput, start: int | None, stop: int | None, kinds: Texts, actors: Texts, about: Identifier | None
) -> None:
    """Show log entries: number, time, author, content.

    Without --start, the last twenty that match. Erased entries are listed, with the entry that gives the reason. --json contains whole
    statements with their hashes. Columns: entry, at, by, backed_by, kind, what.
    """
    from registry.cli.log_presenter import build_trail_listing
    from registry.store.dossiers import TrailQuery, list_trail
    from registry.store.log_reader import find_backings

    wanted = TrailQuery(
        kinds=kinds,
        actors=actors,
        about=about,
        start=start or 1,
        stop=stop,
        # Without a first entry the end of the log is what people look for.
        last=None if start else _LAST,
    )
    with app.view() as view:
        traces = list_trail(view, wanted)
        size, origin = view.log_size, view.log_origin
        backed = find_backings(view, (trace.entry for trace in traces))
    none = f"The log has {size} entries" + ("; none of them matches." if size else ".")
    document = {"schema": "caveat/log/1", "origin": origin, "size": size}
    output.report(build_trail_listing(document, traces, backed, none=none))


@examples("admin log check", "admin log check --checkpoint kept-elsewhere.note")
@log.command()
@click.option("--fast", is_flag=True, help="Check entries, tree and checkpoints, and not the rows derived from statements.")
@click.option("--checkpoint", "notes", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A checkpoint kept elsewhere.")
@click.option("--key", "keys", multiple=True, metavar="VKEY|FILE", help="Verify checkpoints with this key too.")
@click.option("--tsa-cert", "certificates", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Verify recorded time stamps with this root certificate (PEM).")  # fmt: skip
@click.option("--log", metavar="NAME", help="Check this imported log instead (caveat admin log list).")
@pass_app
def check(app: App, *, fast: bool, notes: Texts, keys: Texts, certificates: tuple[Path, ...]) -> None:
    """Check that the log was not changed.

    Caveat checks every entry, the tree, every checkpoint and every derived row. It names what was altered, and the last checkpoint that
    is still valid. A checkpoint kept elsewhere (--checkpoint) also detects changes by those who control the database. The exit code is
    1 if anything does not match.
    """
    from registry.cli.application import count_up, track
    from registry.cli.log_presenter import present_report, summarise_check, summarise_report
    from registry.codec.file_io import read_text
    from registry.store.log_integrity import check_log

    # Checkpoints from elsewhere hold the log to a state that no one here could alter.
    texts = [read_text(_path(note)) for note in notes]
    origin = app.log_origin
    vkeys, faults = _find_keys(app, keys, origin)
    with track(app, "checking the log", unit="entries") as progress:
        report = check_log(app.ledger, vkeys=vkeys, progress=count_up(progress), log=origin, notes=texts)
    # All findings are reported together: what is wrong with keys, log and rows.
    faults += report.findings
    anchors = _check_anchors(app, certificates, origin, faults)
    # Rows are derived from statements. If those are altered, comparing rows would only repeat the
    # finding; a log taken over has none of its own.
    rows = None if fast or origin is not None or faults else _check_rows(app, faults)
    if faults:
        raise AnswerNoError([*faults, *_count_unlisted(report)])
    document = {"schema": "caveat/log-check/1", **summarise_report(report), "rows": rows, "time_anchor": summarise_check(anchors)}
    app.answer(document, present_report(report, rows, anchors))


@examples("admin log list")
@log.command(name="list")
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput) -> None:
    """List the logs in this registry.

    These are its own log and the logs imported from other registries. --log takes the short name of a log. Columns: name, log, kind,
    entries, checkpoint, cosigned_by, keys.
    """
    from registry.cli.log_presenter import list_log_columns, summarise_log
    from registry.exchange.log_names import shorten_origins
    from registry.present.listings import Listing

    logs = app.ledger.list_logs()
    names = shorten_origins([log.origin for log in logs])
    rows = [{"name": names[log.origin], **summarise_log(app.ledger, log)} for log in logs]
    document, none = {"schema": "caveat/logs/1"}, "No log has an entry yet."
    output.report(Listing(document=document, field="logs", rows=rows, describe=dict, columns=list_log_columns(), none=none))


def _path(text: str) -> "Path":
    from pathlib import Path

    return Path(text)


def _find_keys(app: App, texts: Texts, origin: str | None) -> "tuple[list[VerifierKey], list[Fault]]":
    """Return the keys to verify with, and what is wrong with those that the log itself names: that is an answer, not a hindrance."""
    from registry.registration.key_registration import list_witness_keys, trusted_vkeys
    from registry.seal.signed_notes import parse_vkey
    from registry.store.log_seals import list_imports
    from registry.verify.verification_keys import read_given

    vkeys = [key.vkey for key in read_given(texts).keys if key.vkey is not None]
    # A witness may sign with the same key in its other form.
    vkeys += [vkey.as_cosigner() for vkey in vkeys if not vkey.is_cosigner]
    try:
        with app.ledger.view() as view:
            if origin is None or origin == view.log_origin:
                vkeys += trusted_vkeys(view)
            else:
                # A log that was taken over is verified with the key of its last import.
                vkeys += [parse_vkey(log_import.payload.vkey, where=origin) for log_import in list_imports(view, origin)[-1:]]
            vkeys += list_witness_keys(view)
    # Contradicting key entries are a finding, and must not stop the check.
    except CaveatError as error:
        return vkeys, list(error.faults)
    return list({str(verifier_key): verifier_key for verifier_key in vkeys}.values()), []


def _check_anchors(app: App, certificates: Sequence[Path], origin: str | None, faults: "list[Fault]") -> "Check | None":
    """Return the check of the recorded time stamps, None where there is none; one that is wrong goes to *faults*."""
    from registry.seal.time_stamps import read_certificates
    from registry.verify.proof_checks import CheckAnswer
    from registry.verify.time_anchor_checks import check_recorded_anchors

    trusted = tuple(certificate for path in certificates for certificate in read_certificates(path))
    for check in check_recorded_anchors(app.ledger, trusted, log=origin):
        if check.answer is CheckAnswer.NO:
            faults.append(Fault("time-stamp-wrong", "time-anchor", check.note))
        return check
    return None


def _check_rows(app: App, faults: list[Fault]) -> int | None:
    """Return how many rows are what their statements give; what is not goes to *faults*."""
    from registry.cli.application import count_up, track
    from registry.store.registry_rebuild import verify

    with track(app, "comparing rows", unit="entries") as progress:
        try:
            return verify(app.ledger, count_up(progress)).rows
        except CaveatError as error:
            faults += error.faults
            return None


def _count_unlisted(report: "LogReport") -> list[Fault]:
    return [Fault("more-faults", report.origin, f"and {report.unlisted:,} more findings like these")] if report.unlisted else []


# `caveat admin log erase`: the text of an entry goes, its proof stays.


@examples('admin log erase 57 -m "court order of 3 November" --yes')
@click.command()
@click.argument("entry", type=click.IntRange(1))
@reason_option("The reason, which is recorded for good: do not repeat in it what is erased.")
@yes_option
@pass_app
def erase(app: App, *, entry: int, reason: str, yes: bool) -> None:
    """Erase the text of an entry. You cannot undo this.

    The log keeps the number, time, author, kind and hash of ENTRY, which prove that it existed, and derived rows without words. Copies
    elsewhere (supplements, bundles, backups) are not touched. Supplements that need the text can no longer be made. On a terminal you
    are asked to confirm; scripts give --yes.
    """
    # The user sees which entry it is before anything is asked.
    with app.ledger.view() as view:
        place = view.find_entry(entry)
        size = view.log_size
    if place is None:
        raise NotFoundError(Fault("entry-not-found", f"entry {entry}", f"the log has {size} entries"))
    app.say(f"entry {entry}: {place.kind} by {place.actor} of {place.at:%Y-%m-%d %H:%M} UTC, leaf {place.leaf[:16]}…")
    app.say("its text is erased for good; number, time, author, kind, leaf and derived rows stay, and copies elsewhere are not touched")
    app.confirm("Erase it?", yes=yes)
    with app.ledger.write(actor=app.config.authority) as writer:
        recorded = writer.erase(entry, why=reason)
    app.answer(
        {"schema": "caveat/erasure/1", "erased": entry, "leaf": place.leaf, "entry": recorded.seq, "why": reason},
        f"The text of entry {entry} is erased; entry {recorded.seq} says why.",
    )


# `caveat admin log checkpoint`, `cosign` and `prove`: signed checkpoints, cosignatures and proofs.

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
        app.answer({**document, "file": None if output is None else str(output)})
    elif output is not None:
        app.answer({**document, "file": str(output)}, f"Wrote {output}")
    else:
        # No line break is added, since it would be part of the note.
        click.echo(text, nl=False)


def write_whole(path: Path, text: str) -> None:
    """Write *text* to *path*, as a new file or in the place of one, whole or not at all."""
    replace_file(path, text.encode())


# `caveat admin log checkpoint`.

_LARGEST_NOTE_BYTES = 1_000_000


@examples(
    "admin log checkpoint -o lab.note",
    "admin log checkpoint --attach lab-cosigned.note --trust witness.keys",
    "admin log checkpoint --witness https://witness.example.org/tlog/AISI/68ea0cbe5f3c2a1d --trust witness.keys",
)
@click.command()
@click.option("--attach", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Keep the cosignatures of this note.")
@click.option("--witness", "witnesses", multiple=True, metavar="URL", help="Ask the witness at this prefix to cosign it.")
@click.option("--trust", multiple=True, metavar="VKEY|FILE", help="With --attach or --witness: the key of a witness.")
@output_option
@pass_app
def checkpoint(app: App, *, attach: Path | None, witnesses: tuple[str, ...], trust: tuple[str, ...], output: Path | None) -> None:
    """Sign the present state of the log and print it.

    The checkpoint is a signed note (C2SP tlog-checkpoint). Publish it: copies kept elsewhere prove later that the log was not
    rewritten. Without a log key here, the last checkpoint is printed. --attach keeps the cosignatures of witnesses that you trust;
    --witness asks for them over HTTP (C2SP tlog-witness); the exit code is 1 if one of these witnesses gave none that is trusted.
    `[witness] quorum` in registry.cfg says how many a checkpoint needs.
    """
    if attach is not None and witnesses:
        raise click.UsageError("--attach and --witness are two ways to one cosignature; give one of them")
    if trust and attach is None and not witnesses:
        raise click.UsageError("--trust goes with --attach or --witness")
    if attach is not None:
        _attach(app, attach, trust, output)
        return
    stored_checkpoint = _sign_or_find(app)
    excluded: list[str] = []
    has_all = True
    for url in witnesses:
        others, is_kept = _ask_witness(app, stored_checkpoint, url, trust)
        excluded += others
        has_all = has_all and is_kept
    _publish_checkpoint(app, stored_checkpoint, output, excluded=excluded)
    if not has_all:
        # The note is written all the same: the quorum of registry.cfg decides whether that is enough to publish it.
        click.get_current_context().exit(1)


def find_checkpoint_to_prove(app: App, size: int | None, *, least: int) -> "StoredCheckpoint":
    """Return the checkpoint that a proof is to lead to: the one kept of *size* entries, or the newest that can be had, of *least* at least.

    Raises:
        NotFoundError: `checkpoint-not-found`.
    """
    from registry.store.log_seals import find_checkpoint, list_checkpoints

    # A proof needs a checkpoint that covers its entry; a new one is signed where the key is here.
    if size is None:
        stored_checkpoint = _sign_or_find(app)
        if stored_checkpoint.checkpoint.size >= least:
            return stored_checkpoint
        kept = [stored_checkpoint]
    else:
        with app.ledger.view() as view:
            # A checkpoint of fewer entries proves nothing about a later one.
            if (there := find_checkpoint(view, size)) is not None and size >= least:
                return there
            kept = list(list_checkpoints(view))
    sizes = ", ".join(str(kept_checkpoint.checkpoint.size) for kept_checkpoint in kept[-8:]) or "no entries"
    wanted = f"of {size}" if size is not None and size >= least else f"of {least} or more"
    advice = "caveat admin log checkpoint makes one, where the log key is"
    raise NotFoundError(Fault("checkpoint-not-found", f"a checkpoint {wanted} entries", f"kept are those of {sizes}", advice=advice))


def _sign_or_find(app: App) -> "StoredCheckpoint":
    """Return a checkpoint of the log as it stands, new if it has to be; the last that is kept where no key is here, and say so."""
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


def _ask_witness(app: App, checkpoint: "StoredCheckpoint", url: str, trust: Sequence[str]) -> tuple[list[str], bool]:
    """Ask one witness; return the lines that were not kept, and whether one was. One that refuses is named, and the others are asked."""
    from registry.exchange.witness_requests import ask_witness, check_witness_address

    address = check_witness_address(url)
    try:
        with app.ledger.view() as view:
            note = ask_witness(view, checkpoint, address)
    except UnavailableError as error:
        app.say(f"not cosigned: {error.faults[0].where}: {error.faults[0].found}\n  fix: {error.faults[0].advice}")
        return [], False
    _, excluded, is_kept = _keep_cosignatures(app, note, trust, where=url)
    return excluded, is_kept


def _attach(app: App, path: Path, trust: Sequence[str], output: Path | None) -> None:
    from registry.codec.file_io import read_text

    stored_checkpoint, excluded, _ = _keep_cosignatures(app, read_text(path, largest=_LARGEST_NOTE_BYTES), trust, where=str(path))
    if stored_checkpoint is not None:
        _publish_checkpoint(app, stored_checkpoint, output, excluded=excluded)


def _keep_cosignatures(app: App, text: str, trust: Sequence[str], *, where: str) -> "tuple[StoredCheckpoint | None, list[str], bool]":
    """Keep what *trust* verifies; return the checkpoint, the lines that were not kept, and whether one was."""
    from registry.registration.key_registration import attach_cosignatures, list_witness_keys
    from registry.store.log_seals import find_checkpoint
    from registry.verify.verification_keys import read_given

    keys = [key.vkey for key in read_given(trust).keys if key.vkey is not None]
    # One key can be given in its form as log key; witnesses sign with its form as cosigner.
    trusted = [verifier_key if verifier_key.is_cosigner else verifier_key.as_cosigner() for verifier_key in keys]
    with app.ledger.write(actor=app.config.authority) as writer:
        attached = attach_cosignatures(writer, text, [*trusted, *list_witness_keys(writer)], where=where)
        stored_checkpoint = find_checkpoint(writer, attached.checkpoint.size)
    # A cosignature by an unknown key is not kept, and the user must learn that.
    excluded = [f"{cosignature.name}+{cosignature.key}: {cosignature.why}" for cosignature in attached.excluded]
    for line in excluded:
        app.say(f"excluded: {line}")
    app.say(f"kept: {', '.join(attached.kept) or 'no cosignature'}")
    return stored_checkpoint, excluded, bool(attached.kept)


def _publish_checkpoint(app: App, stored_checkpoint: "StoredCheckpoint", output: Path | None, *, excluded: Sequence[str] = ()) -> None:
    from registry.store.log_seals import count_cosignatures, find_checkpoint

    checkpoint = stored_checkpoint.checkpoint
    with app.ledger.view() as view:
        # As it is kept now, with the cosignatures that came since it was signed.
        stored_checkpoint = find_checkpoint(view, checkpoint.size) or stored_checkpoint
    if (count := count_cosignatures(stored_checkpoint)) < app.config.quorum:
        cosigners = f"{count} {'witness' if count == 1 else 'witnesses'}"
        found = f"{cosigners} cosigned the checkpoint of {checkpoint.size:,} entries, and registry.cfg asks for {app.config.quorum}"
        raise AnswerNoError(Fault("quorum-missing", "registry.cfg, [witness] quorum", found))
    document = {
        "schema": "caveat/checkpoint/1",
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root,
        "note": stored_checkpoint.note,
        "excluded": list(excluded),
    }
    write_or_print(app, document, stored_checkpoint.note, output)


# `caveat admin log anchor`: a time stamp over a checkpoint.


@examples(
    "admin log anchor --tsa https://tsa.example.org/tsr --tsa-cert tsa-root.pem -o lab.note",
    "admin log anchor --tsa https://tsa.example.org/tsr --size 120 -o lab.note",
)
@click.command()
@click.option("--tsa", "url", required=True, metavar="URL", help="Ask the time-stamping authority (RFC 3161) at this address.")
@click.option("--tsa-cert", "certificates", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Its root certificate (PEM), learnt elsewhere; without it nothing vouches for the stamp.")  # fmt: skip
@click.option("--size", type=click.IntRange(1), metavar="SIZE", help="Anchor the checkpoint kept of so many entries.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True,
              help="Write the checkpoint to this file, and the stamp to FILE.tsr.")  # fmt: skip
@pass_app
def anchor(app: App, *, url: str, certificates: tuple[Path, ...], size: int | None, output: Path) -> None:
    """Stamp a checkpoint with the time of an authority.

    The authority gets the SHA-256 of the checkpoint, and nothing else. Its answer proves to others that the log had these entries by
    then, whatever the clock here says. The log records the answer, and you get it as FILE.tsr: `caveat verify FILE --tsa-cert ROOT`
    checks it, and so does `openssl ts -verify -data FILE -in FILE.tsr -CAfile ROOT`. Nothing is recorded for a wrong answer.
    """
    from registry.exchange.time_anchors import anchor_checkpoint
    from registry.seal.time_stamps import SUFFIX, read_certificates, refuse_missing_library

    refuse_missing_library()
    trusted = tuple(certificate for path in certificates for certificate in read_certificates(path))
    stored_checkpoint = find_checkpoint_to_prove(app, size, least=1)
    anchored = anchor_checkpoint(app.ledger, stored_checkpoint, url, actor=app.config.authority, certificates=trusted)
    stamp_file = output.with_name(output.name + SUFFIX)
    replace_file(output, anchored.anchor.note.encode())
    replace_file(stamp_file, anchored.stamp)
    document = {
        "schema": "caveat/time-anchor/1",
        "entry": anchored.entry,
        "origin": stored_checkpoint.checkpoint.origin,
        "size": anchored.anchor.size,
        "root": anchored.anchor.root,
        "sha256": anchored.anchor.sha256,
        "stamped_at": anchored.anchor.stamped_at.isoformat(),
        "policy": anchored.anchor.policy,
        "serial": anchored.anchor.serial,
        "verified": anchored.is_verified,
        "file": str(output),
        "stamp_file": str(stamp_file),
    }
    is_vouched = "verified with --tsa-cert" if anchored.is_verified else "not checked: give the root certificate with --tsa-cert"
    app.answer(
        document,
        f"Anchored {anchored.anchor.size} entries at {anchored.anchor.stamped_at:%Y-%m-%d %H:%M:%S} UTC, entry {anchored.entry}.\n"
        f"  signature  {is_vouched}\n"
        f"  wrote      {output}, {stamp_file}",
    )


# `caveat admin log cosign`: this registry as a witness of another log.

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@examples(
    "admin log cosign lab.note --vkey lab.keys -o lab-cosigned.note", "admin log cosign lab.note --proof lab.proof -o lab-cosigned.note"
)
@click.command()
@click.argument("note", type=_FILE)
@click.option(
    "--proof", type=_FILE, help="What leads from the last checkpoint seen here to this one: their caveat admin log prove --since."
)
@click.option("--vkey", "vkeys", multiple=True, metavar="VKEY|FILE", help="The log's key, learnt from its authority.")
@output_option
@pass_app
def cosign(app: App, *, note: Path, proof: Path | None, vkeys: tuple[str, ...], output: Path | None) -> None:
    """Cosign the checkpoint of another log, as its witness.

    NOTE is the signed note, or a proof file that ends with it. Caveat cosigns if the log's key signed it and it extends the last
    checkpoint of that log seen here; the first is accepted as it is. If it belongs to another history, both notes are recorded as
    evidence, and the exit code is 1.
    """
    from registry.exchange.foreign_logs import cosign_note
    from registry.verify.verification_keys import read_given

    text, steps = _read(note, proof)
    keys = [key.vkey for key in read_given(vkeys).keys if key.vkey is not None]
    done = cosign_note(app.ledger, app.read_keys(), text, actor=app.config.authority, keys=keys, proof=steps)
    checkpoint = done.checkpoint
    talk = [f"{'recorded in' if done.is_new else 'cosigned before, in'} entry {done.entry}; the cosignature is verified with:"]
    talk += [f"  {vkey}" for vkey in done.vkeys]
    # Nothing was compared for the first checkpoint, and the witness's signature would suggest it
    # was.
    if done.seen is None:
        talk.insert(0, f"this is the first checkpoint of {checkpoint.origin} seen here: what came before it is its keeper's word")
    document = {
        "schema": "caveat/cosigned/1",
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root,
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


# `caveat admin log prove`.


@examples("admin log prove 57 -o entry-57.tlog-proof", "admin log prove --since 120 -o since-120.proof")
@click.command()
@click.argument("entry", type=click.IntRange(1), required=False)
@click.option("--since", type=click.IntRange(0), metavar="SIZE", help="Prove instead that the log goes on from its first SIZE entries.")
@click.option("--size", type=click.IntRange(1), metavar="SIZE", help="Against the checkpoint kept of so many entries.")
@click.option("--no-text", is_flag=True, help="Leave out what the entry says; who checks the proof must have it.")
@output_option
@pass_app
def prove(app: App, *, entry: int | None, since: int | None, size: int | None, no_text: bool, output: Path | None) -> None:
    """Prove that an entry is in the log.

    The proof (.tlog-proof) leads to a signed checkpoint: a new one if the log key is here, else the last one. With --since it proves
    that the first SIZE entries were not changed. `caveat verify` and any C2SP tlog-proof program can check it without this registry.
    """
    # Exactly one of the two questions.
    if (entry is None) == (since is None):
        raise click.UsageError("name an ENTRY, or give --since SIZE")
    if entry is not None:
        _prove_entry(app, entry, size, no_text=no_text, output=output)
    elif since is not None:
        _prove_growth(app, since, size, output)


def _prove_entry(app: App, entry: int, size: int | None, *, no_text: bool, output: Path | None) -> None:
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
    signed_checkpoint = checkpoint.checkpoint
    return {"origin": signed_checkpoint.origin, "size": signed_checkpoint.size, "root": signed_checkpoint.root}
