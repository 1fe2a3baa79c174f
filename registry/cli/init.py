"""`caveat init`: a registry of one's own."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, pass_app
from registry.cli.parameters import refusing, shorten
from registry.config import EXAMPLE
from registry.errors import ConflictError, Fault, InputError
from registry.records.record import Authority, AuthorityRole

if TYPE_CHECKING:
    from rich.console import Console

    from registry.store.writer import Writer


@click.command()
@click.option("--code", default=None, metavar="CODE", help="Code of your authority: 2 to 12 capital letters or digits.")
@click.option("--example", is_flag=True, help="Try Caveat as EXAMPLE, whose statements never leave a registry.")
@click.option("--join", is_flag=True, help="Register a further authority in the registry that is here.")
@click.option("--name", default=None, help="Name of your authority.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in AuthorityRole]),
    default="auditor",
    show_default=True,
    help="What your authority is.",
)
@click.option("--no-key", is_flag=True, help="Make no keys: nothing can be signed here until caveat key add.")
@pass_app
def init(app: App, *, code: str | None, example: bool, join: bool, name: str | None, role: str, no_key: bool) -> None:
    """Make a registry, its authority and its keys in the current folder.

    Writes registry.cfg if there is none, creates the tables, registers the authority, names the log, and makes two keys: one signs the
    log's checkpoints, one signs PDF files. They are encrypted with CAVEAT_PASSPHRASE, or with what you are asked for on a terminal.
    On a terminal you are asked for the code of your authority; scripts give --code. Doing it twice changes nothing. A registry has one
    owner: with another code, add --join to register a further authority in it, or work in a folder of its own.
    """
    from registry.store.engine import describe_url, refuse_memory
    from registry.store.schema import upgrade

    refuse_memory(app.config.url)
    code = _choose_code(app, code, example=example)
    with refusing("--code"):
        authority = Authority(code=code, name=name or code, role=AuthorityRole(role))
    upgrade(app.config.url)
    has_keys = not (no_key or _is_begun(app))
    passphrase = app.choose_passphrase() if has_keys else None
    with app.change_keys() if has_keys else nullcontext(), app.ledger.write(actor=authority.code) as writer:
        known = writer.find_authority(authority.code)
        if known is None and not join:
            _refuse_second(writer, authority.code)
        keys = _register(app, writer, authority, passphrase, has_keys=has_keys) if known is None else None
    written = _write_config(app, authority.code)
    speaker = authority.code if written else app.config.authority
    document = {
        "schema": "caveat/init/1",
        "registry": describe_url(app.config.url),
        "authority": authority.code,
        "speaks_as": speaker,
        "new": known is None,
        "config": written,
        "keys": keys,
    }
    app.report(document, lambda console: _print(console, document))


def _choose_code(app: App, code: str | None, *, example: bool) -> str:
    """Return the code of the authority: as given, as configured, or as typed on a terminal. A registry is never EXAMPLE's by accident."""
    import sys

    if example:
        if code not in (None, EXAMPLE):
            raise click.UsageError(f"--example is for {EXAMPLE}, and --code names {code}.")
        return EXAMPLE
    if code is not None:
        return code
    if app.config.names_authority:
        return app.config.authority
    if sys.stdin is not None and sys.stdin.isatty():
        return str(click.prompt(f"Code of your authority, such as AISI ({EXAMPLE} to try Caveat)", err=True)).strip()
    found = "the registry needs the code of its authority, which is part of every identifier"
    advice = "caveat init --code CODE, 2 to 12 capital letters or digits; to try Caveat: caveat init --example"
    raise InputError(Fault(code="authority-missing", where="--code", found=found, advice=advice))


def _refuse_second(writer: "Writer", code: str) -> None:
    """Refuse a further authority nobody asked for: its files would be signed with the keys of the log's owner."""
    from registry.registration.key_registration import find_owner

    if writer.log_size == 0 and not writer.log_origin:
        return
    owner = find_owner(writer)
    found = f"this registry is {owner}'s ({writer.log_origin or 'its log has no name'}), and files published in it are signed with its keys"
    advice = f"work in a folder of its own, or register {code} as a further authority here: caveat init --code {code} --join"
    raise ConflictError(Fault(code="other-owner", where=f"--code {code}", found=found, advice=advice))


def _is_begun(app: App) -> bool:
    """Whether the log has a name or entries: then no keys are made here, and nobody is asked for a passphrase."""
    with app.ledger.view() as view:
        return view.log_size > 0 or bool(view.log_origin)


def _register(app: App, writer: "Writer", authority: Authority, passphrase: str | None, *, has_keys: bool) -> dict[str, Any] | None:
    """Register *authority*; in a new registry, name the log and make its keys. None where no keys are made."""
    import secrets

    from registry.registration.key_registration import KeyFolder, make_first_keys, name_own_log

    is_first = writer.log_size == 0 and not writer.log_origin
    log_key = name_own_log(writer, authority.code, secrets.token_hex(16), has_keys=has_keys) if is_first else None
    writer.append(authority)
    if log_key is None:
        return None
    log_entry, document_entry = make_first_keys(writer, authority, log_key, KeyFolder(path=app.config.keys, passphrase=passphrase))
    return {
        "folder": shorten(app.config.keys),
        "encrypted": bool(passphrase),
        "log": writer.log_origin,
        "vkey": log_key.vkey,
        "entries": [log_entry.seq, document_entry.seq],
    }


def _print(console: "Console", document: Mapping[str, Any]) -> None:
    code, speaker, keys = document["authority"], document["speaks_as"], document["keys"]
    console.print(f"Registry {document['registry']} is ready; you speak as {speaker}.", soft_wrap=True)
    if speaker != code:
        console.print(f"To speak as {code}, set `authority = {code}` in registry.cfg.", soft_wrap=True)
    if keys is not None:
        state = "encrypted" if keys["encrypted"] else "not encrypted, readable by you alone"
        console.print(f"Its log is {keys['log']}; the secret keys are in {keys['folder']} ({state}). Keep a copy of them elsewhere.")
    console.print("Next: caveat card add CARD.pdf --title … --publisher …   then: caveat claim propose CARD", soft_wrap=True)


def _write_config(app: App, code: str) -> str | None:
    """Write registry.cfg with what this call uses; return its path, None if there is one already."""
    path = Path("registry.cfg")
    if path.exists():
        return None
    path.write_text(f"[registry]\nurl = {app.config.url}\nauthority = {code}\n", encoding="utf-8")
    return str(path)
