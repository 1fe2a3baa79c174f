"""`caveat admin authority` and `caveat admin key`: who makes statements, and the keys that sign them, checkpoints and PDF files."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import App, as_of_option, examples, logs_option, pass_app, reason_option, shorten, yes_option
from registry.cli.list_options import ListOutput, list_options
from registry.errors import Fault, InputError, NotFoundError
from registry.records.log_seal import KeyAlgorithm

if TYPE_CHECKING:
    from registry.records.record import Authority
    from registry.registration.key_registration import KeyState
    from registry.seal.signing_keys import SigningKey
    from registry.store.registry_view import View

_ALGORITHM = click.Choice([algorithm.value for algorithm in KeyAlgorithm])
_STATEMENTS = "A key of your authority, which signs what it states: every entry that a command records in its name."
_KINDS = "ed25519: checkpoints; ml-dsa-44: a second signature on them, against quantum computers; ecdsa-p256: PDF files."


@click.group()
def authority() -> None:
    """List those who make statements in a registry."""


@examples("admin authority list", "admin authority list --sort claims --reverse", "admin authority list --log all --csv > authorities.csv")
@authority.command("list")
@logs_option
@pass_app
@list_options
def list_authorities_(app: App, /, *, output: ListOutput) -> None:
    """List authorities with role, keys, claims and audits.

    Claims count for the authority that registered them, unless they are withdrawn, rejected or superseded. Audits count for their
    auditor. Keys are those in force. Columns: log, code, name, role, since, keys, claims, audits, concluded.
    """
    from registry.cli.log_presenter import build_authority_listing
    from registry.registration.log_survey import list_authorities

    app.settle_keys()
    rows = [listed for log, view in app.views() for listed in list_authorities(view, log=log)]
    output.report(build_authority_listing(rows))


@click.group()
def key() -> None:
    """Manage the keys that sign the log, files and statements."""


@examples("admin key list", "admin key list --as-of 2026-11-01", "admin key list --log all --csv > keys.csv")
@key.command("list")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput) -> None:
    """List the keys that the log names.

    For each key: its purpose, its status, and whether its secret is here. Columns: log, key, signs, algorithm, entry, authority, status,
    secret, fingerprint.
    """
    from registry.cli.log_presenter import build_key_listing
    from registry.registration.key_registration import list_keys
    from registry.seal.key_files import list_key_files

    # What a crash left is settled first, or the list would miss a key.
    app.settle_keys()
    keys = [(view.log_origin, state) for _, view in app.views() for state in list_keys(view)]
    # By fingerprint: the name of a file says nothing about its key.
    here = {key_file.text.fingerprint: shorten(key_file.path) for key_file in list_key_files(app.config.keys)}
    output.report(build_key_listing(keys, here))


@examples("admin key show", "admin key show --public > lab.keys")
@key.command()
@click.argument("fingerprint", required=False)
@click.option("--public", is_flag=True, help="Only what verifiers need: verifier keys as lines, certificates as PEM.")
@as_of_option
@pass_app
def show(app: App, *, fingerprint: str | None, public: bool) -> None:
    """Show the keys in force, for those who verify.

    With FINGERPRINT, show the key that begins so. Compare the fingerprint by telephone or in print: whoever can replace a file can
    replace the key next to it.
    """
    from registry.cli.log_presenter import describe_state, present_shown
    from registry.registration.key_registration import get_key, list_keys

    with app.view() as view:
        origin = view.log_origin
        states = [get_key(view, fingerprint)] if fingerprint else [key_state for key_state in list_keys(view) if key_state.in_force]
    if not states:
        raise NotFoundError(Fault("key-unknown", f"log {origin}", "no key is in force"))
    document = {"schema": "caveat/key/1", "log": origin, "keys": [describe_state(state) for state in states]}
    app.answer(document, present_shown(states, is_public_only=public))


@examples("admin key add --statements", "admin key add --algorithm ml-dsa-44")
@key.command()
@click.option("--algorithm", type=_ALGORITHM, default=KeyAlgorithm.ED25519.value, show_default=True, help=_KINDS)
@click.option("--statements", is_flag=True, help=_STATEMENTS)
@pass_app
def add(app: App, *, algorithm: str, statements: bool) -> None:
    """Make a key for a purpose that has none, and record it.

    With --statements, your authority signs its statements from the next entry on. No key can sign the entry that records an authority's
    first key: the operator of the registry asserts it. So give its fingerprint to those who verify by another way.
    """
    from registry.registration.key_registration import KeyFolder, make_another_key, make_authors_key, refuse_key_in_force

    _refuse_algorithm(algorithm, statements=statements)
    with app.ledger.view() as view:
        authority = _get_authority(app, view)
        # Before a passphrase is asked for.
        refuse_key_in_force(view, KeyAlgorithm(algorithm), authority=authority.code if statements else None)
    folder = KeyFolder(path=app.config.keys, passphrase=_find_passphrase(app))
    # The folder is held around the transaction: files are written first, and put in place when the
    # entry is committed.
    with app.change_keys(), app.ledger.write(actor=authority.code) as writer:
        if statements:
            made, entry = make_authors_key(writer, authority, folder)
        else:
            made, entry = make_another_key(writer, authority, KeyAlgorithm(algorithm), folder)
    _report_new(app, made.fingerprint, entry.seq, encrypted=bool(folder.passphrase))


@examples('admin key rotate -m "yearly rotation"', 'admin key rotate --statements -m "new computer"')
@key.command()
@click.option("--algorithm", type=_ALGORITHM, default=KeyAlgorithm.ED25519.value, show_default=True, help=_KINDS)
@click.option("--statements", is_flag=True, help=_STATEMENTS)
@reason_option("Why there is a new one.")
@pass_app
def rotate(app: App, *, algorithm: str, statements: bool, reason: str) -> None:
    """Replace a key in force, and keep its file.

    The old file is kept as NAME.retired.pem, and what the old key signed stays valid. For a log key, both keys sign a checkpoint that
    ends with this entry, so that those who trust the old key can follow. For a statement key, the old key signs the entry that records
    the new one. If others may have the old key, revoke it too.
    """
    from registry.registration.key_registration import KeyFolder, get_key, replace_authors_key, replace_key

    _refuse_algorithm(algorithm, statements=statements)
    # The old key must be here and readable, because it signs too.
    ring = app.read_keys()
    folder = KeyFolder(path=app.config.keys, passphrase=_find_passphrase(app))
    with app.ledger.view() as view:
        authority = _get_authority(app, view)
    # A statement key signs the entry that records its successor.
    old = _get_statement_key(app, authority.code) if statements else None
    with app.change_keys(), app.ledger.write(actor=authority.code) as writer:
        if old is None:
            made, entry = replace_key(writer, authority, KeyAlgorithm(algorithm), ring, folder, reason=reason)
        else:
            made, entry = replace_authors_key(writer, old, folder, reason=reason)
        # Read from the log, which decides what was replaced.
        replaced = get_key(writer, made.fingerprint).added.payload.replaces
    _report_new(app, made.fingerprint, entry.seq, encrypted=bool(folder.passphrase), replaces=replaced)


@examples(
    'admin key revoke 4f9a21c07d3e -m "laptop lost" --yes', 'admin key revoke 4f9a21c07d3e -m "laptop lost" --untrusted-from 2026-11-20'
)
@key.command()
@click.argument("fingerprint")
@reason_option("Why it is not to be trusted.")
@click.option("--untrusted-from", metavar="DATE", help="What it signed before this date or time stays good. Default: nothing does.")
@yes_option
@pass_app
def revoke(app: App, *, fingerprint: str, reason: str, untrusted_from: str | None, yes: bool) -> None:
    """Revoke a key. You cannot undo this.

    FINGERPRINT is the beginning of the key's fingerprint. Signatures of the key are no longer accepted, or only those before
    --untrusted-from. On a terminal you are asked to confirm; scripts give --yes.
    """
    from registry.registration.key_registration import get_key, revoke_key
    from registry.seal.key_files import list_key_files, retire_key

    # A revocation cannot be undone, so its date is checked first.
    since = _parse_time(untrusted_from, app.config.now())
    app.settle_keys()
    # The key is looked up before the question, and again in the transaction that revokes it.
    with app.ledger.view() as view:
        named = get_key(view, fingerprint)
    app.confirm(f"Revoke the key {named.fingerprint[:16]} for good?", yes=yes)
    with app.ledger.write(actor=app.config.authority) as writer:
        state = get_key(writer, fingerprint)
        entry = revoke_key(writer, state, reason=reason, untrusted_from=since)
    # No secret key is ever deleted: its file is only retired (decision of 2026-11-22).
    files = [key_file for key_file in list_key_files(app.config.keys) if key_file.text.fingerprint == state.fingerprint]
    retired = [shorten(path) for file in files if (path := retire_key(app.config.keys, file.slot))]
    document = {
        "schema": "caveat/key-revoked/1",
        "key": state.fingerprint,
        "entry": entry.seq,
        "untrusted_from": since.isoformat() if since else None,
        "retired": retired,
    }
    until = f"what it signed before {since.isoformat()} stays good" if since else "nothing it signed is trusted"
    command = "caveat admin key add --statements" if state.signs_for else "caveat admin key add"
    # Revoking the last key of its use leaves nothing to sign with.
    next_step = "" if any(_is_same_use(key_state, state) for key_state in _list_in_force(app)) else f"\nNext: {command}"
    app.answer(document, f"Revoked by entry {entry.seq}: {until}.{next_step}")


def _report_new(app: App, fingerprint: str, seq: int, *, encrypted: bool, replaces: str | None = None) -> None:
    document: dict[str, Any] = {
        "schema": "caveat/key-added/1",
        "key": fingerprint,
        "entry": seq,
        "encrypted": encrypted,
        "replaces": replaces,
    }
    place = f", in the place of {replaces[:16]}" if replaces else ""
    state = "" if encrypted else " It is not encrypted: set CAVEAT_PASSPHRASE to have that."
    text = f"Key {fingerprint[:16]} is in force by entry {seq}{place}.{state}\nNext: caveat admin key show {fingerprint[:8]}"
    app.answer(document, text)


def _find_passphrase(app: App) -> str | None:
    """What encrypts one more key of the folder: that of the others, so that one passphrase opens them all."""
    from registry.seal.key_files import list_key_files

    files = list_key_files(app.config.keys)
    if not files:
        return app.choose_passphrase()
    # The passphrase is tried on the existing keys before it encrypts another one.
    if any(file.text.is_encrypted for file in files):
        app.read_keys()
        return app.ask_passphrase()
    return app.config.passphrase or None


def _get_authority(app: App, view: "View") -> "Authority":
    authority = view.find_authority(app.config.authority)
    if authority is None:
        who = app.config.authority
        raise NotFoundError(
            Fault("authority-not-registered", who, f"no authority is registered as {who}", advice=f"run: caveat init --code {who} --join")
        )
    return authority.payload


def _list_in_force(app: App) -> "list[KeyState]":
    from registry.registration.key_registration import list_keys

    with app.ledger.view() as view:
        return [state for state in list_keys(view) if state.in_force]


def _is_same_use(key_state: "KeyState", other: "KeyState") -> bool:
    return key_state.added.payload.algorithm is other.added.payload.algorithm and key_state.signs_for == other.signs_for


def _refuse_algorithm(algorithm: str, *, statements: bool) -> None:
    if statements and algorithm != KeyAlgorithm.ED25519.value:
        raise click.UsageError(f"statements are signed with {KeyAlgorithm.ED25519.value} keys only: leave --algorithm out.")


def _get_statement_key(app: App, authority: str) -> "SigningKey":
    from registry.seal.key_files import read_statement_key

    key = read_statement_key(app.config.keys, authority, ask=app.ask_passphrase)
    if key is None:
        problem, advice = f"there is no secret statement key of {authority} here", "caveat admin key add --statements makes one"
        raise NotFoundError(Fault("key-file-missing", str(app.config.keys), problem, advice=advice))
    return key


def _parse_time(text: str | None, now: datetime) -> datetime | None:
    """A date is its first moment in UTC; a time without zone is taken as UTC."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        problem = f"{text!r} is neither a date such as 2026-11-21, nor a time such as 2026-11-21T12:00:00Z"
        raise InputError(Fault("bad-date", "--untrusted-from", problem)) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # A date ahead would keep trusting what a thief signs until then.
    if moment > now:
        problem = f"{moment.isoformat()} lies ahead: what is signed until then would be trusted"
        raise InputError(Fault("bad-date", "--untrusted-from", problem, advice="give when it may have been lost"))
    return moment.astimezone(UTC)
