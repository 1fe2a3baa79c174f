"""Commands about a registry as a whole: init, status, db, rebuild, backup, restore, export, import, schema and explain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from registry.cli.application import App, as_of_option, examples, key_options, pass_app, refusing, shorten
from registry.cli.main import LazyGroup, find_commands
from registry.configuration import EXAMPLE
from registry.errors import ConflictError, Fault, InputError, NotFoundError, find_entry, list_explanations, suggest
from registry.present.answers import Answer
from registry.present.blocks import Block, Subtitle, Table, Verbatim
from registry.records.record import Authority, AuthorityRole

if TYPE_CHECKING:
    from registry.exchange.bundle_transfer import ImportResult
    from registry.present.answer_formats import AnswerFormat
    from registry.store.log_writer import Writer
    from registry.store.registry_view import View

# `caveat init`: a registry of one's own.


@examples('init --code LAB --name "Example Lab" --role lab', "init --example", 'init --join --code AUD --name "An Auditor" --role auditor')
@click.command()
@click.option("--code", default=None, metavar="CODE", help="Code of your authority: 2 to 12 capital letters or digits.")
@click.option("--example", is_flag=True, help="Try Caveat as EXAMPLE; its statements never leave a registry.")
@click.option("--join", is_flag=True, help="Register a further authority in the registry that is here.")
@click.option("--name", default=None, help="Name of your authority.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in AuthorityRole]),
    default="auditor",
    show_default=True,
    help="What your authority is.",
)
@click.option("--no-key", is_flag=True, help="Make no keys: nothing can be signed here until caveat admin key add.")
@pass_app
def init(app: App, *, code: str | None, example: bool, join: bool, name: str | None, role: str, no_key: bool) -> None:
    """Make a registry with keys in the current folder.

    Caveat writes registry.cfg if it is missing, creates the tables, registers the authority, names the log, and makes two keys: one
    signs checkpoints of the log, one signs PDF files. CAVEAT_PASSPHRASE, or a passphrase that you type on a terminal, encrypts them. A
    second run changes nothing. A registry has one owner: --join registers a further authority in it.
    """
    from registry.store.database_engine import describe_url, refuse_memory

    refuse_memory(app.config.url)
    code = _choose_code(app, code, example=example)
    with refusing("--code"):
        authority = Authority(code=code, name=name or code, role=AuthorityRole(role))
    is_new, keys = make_registry(app, authority, join=join, has_keys=not no_key, choose_passphrase=app.choose_passphrase)
    config = write_config(Path("registry.cfg"), url=app.config.url, code=authority.code)
    speaker = authority.code if config else app.config.authority
    document = {
        "schema": "caveat/init/1",
        "registry": describe_url(app.config.url),
        "authority": authority.code,
        "speaks_as": speaker,
        "new": is_new,
        "config": config,
        "keys": keys,
    }
    app.answer(document, _present(document))


def make_registry(
    app: App, authority: Authority, *, join: bool, has_keys: bool, choose_passphrase: Callable[[], str | None]
) -> tuple[bool, dict[str, Any] | None]:
    """Create the tables of this call's registry and register *authority*; return whether that was new, and the keys that were made.

    Args:
        join: whether the registry may be another authority's.
        has_keys: whether a new registry gets keys.
        choose_passphrase: what encrypts them, asked for only if keys are made.

    Raises:
        ConflictError: the registry is another authority's, and *join* is false.
    """
    from registry.store.database_schema import upgrade

    upgrade(app.config.url)
    has_keys = has_keys and not _is_begun(app)
    passphrase = choose_passphrase() if has_keys else None
    with app.change_keys() if has_keys else nullcontext(), app.ledger.write(actor=authority.code) as writer:
        known = writer.find_authority(authority.code)
        if known is None and not join:
            _refuse_second(writer, authority.code)
        keys = _register(app, writer, authority, passphrase, has_keys=has_keys) if known is None else None
    return known is None, keys


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
    problem = "the registry needs the code of its authority, which is part of every identifier"
    raise InputError(Fault("authority-missing", "--code", problem))


def _refuse_second(writer: "Writer", code: str) -> None:
    """Refuse a further authority no one asked for: its files would be signed with the keys of the log's owner."""
    from registry.registration.key_registration import find_owner

    if writer.log_size == 0 and not writer.log_origin:
        return
    owner = find_owner(writer)
    problem = (
        f"this registry is {owner}'s ({writer.log_origin or 'its log has no name'}), and files published in it are signed with its keys"
    )
    advice = f"work in a folder of its own, or register {code} as a further authority here: caveat init --code {code} --join"
    raise ConflictError(Fault("wrong-owner", f"--code {code}", problem, advice=advice))


def _is_begun(app: App) -> bool:
    """Whether the log has a name or entries: then no keys are made here, and no one is asked for a passphrase."""
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


def _present(document: Mapping[str, Any]) -> Iterator[Block]:
    code, speaker, keys = document["authority"], document["speaks_as"], document["keys"]
    yield f"Registry {document['registry']} is ready; you act as {speaker}."
    if speaker != code:
        yield f"To act as {code}, set `authority = {code}` in registry.cfg."
    if keys is not None:
        state = "encrypted" if keys["encrypted"] else "not encrypted, readable only by you"
        yield f"Its log is {keys['log']}; the secret keys are in {keys['folder']} ({state}). Keep a copy of them elsewhere."
    yield "Next: caveat card add CARD.pdf --title … --publisher …   then: caveat claim propose CARD"


def write_config(path: Path, *, url: str, code: str) -> str | None:
    """Write a `registry.cfg` for the registry at *url* and its authority; return its path, None if there is one already."""
    if path.exists():
        return None
    path.write_text(f"[registry]\nurl = {url}\nauthority = {code}\n", encoding="utf-8")
    return str(path)


# `caveat status`: what is registered, and what is left to do.


class OpenMatter(StrEnum):
    """A kind of work that a registry has left."""

    CARD_WITHOUT_CLAIMS = "card_without_claims"
    UNAUDITED_CLAIM = "unaudited_claim"
    UNCONCLUDED_AUDIT = "unconcluded_audit"
    OPEN_OBJECTION = "open_objection"
    STALE_CLAIM = "stale_claim"
    UNPUBLISHED_CLAIM = "unpublished_claim"


_TITLES = {
    OpenMatter.CARD_WITHOUT_CLAIMS: "card{} without claims",
    OpenMatter.UNAUDITED_CLAIM: "claim{} without a verdict",
    OpenMatter.UNCONCLUDED_AUDIT: "audit{} without a verdict",
    OpenMatter.OPEN_OBJECTION: "open objection{}",
    OpenMatter.STALE_CLAIM: "claim{} to review or stale",
    OpenMatter.UNPUBLISHED_CLAIM: "claim{} without a published supplement",
}
# The command names the first of them; a list of the others is one command away.
_COMMANDS = {
    OpenMatter.CARD_WITHOUT_CLAIMS: "caveat claim propose {} -o claims.yaml",
    OpenMatter.UNAUDITED_CLAIM: "caveat audit new {} > audit.yaml",
    OpenMatter.UNCONCLUDED_AUDIT: "caveat audit show {}",
    OpenMatter.OPEN_OBJECTION: "caveat contest show {}",
    OpenMatter.STALE_CLAIM: "caveat stale list",
    OpenMatter.UNPUBLISHED_CLAIM: "caveat report {} --publish",
}


@dataclass(frozen=True, slots=True)
class RegistryOverview:
    """Counts of what a registry holds, and the identifiers of what is left to do."""

    log: str
    log_size: int
    registered: dict[str, int]
    todo: dict[OpenMatter, Sequence[str]]


@examples("status", "status --as-of 2026-11-01", "status --json")
@click.command()
@as_of_option
@pass_app
def status(app: App) -> None:
    """Show what is registered, open, stale and unpublished.

    Each line of open work ends with the next command. Withdrawn, rejected and superseded claims need no work and are only counted.
    """
    with app.view(by_clock=True) as view:
        overview = build_overview(view)
    app.report(present_overview(overview))


def build_overview(view: "View") -> RegistryOverview:
    """Return counts and open work of the registry that *view* shows."""
    from registry.records.claim_status import Staleness
    from registry.store.status_derivation import TERMINAL

    claims = list(view.list_claims())
    active = [claim for claim in claims if claim.status.lifecycle not in TERMINAL]
    cards, audits, published = view.list_cards(), view.list_audits(), view.list_published_subjects()
    quoted = {(claim.card or "").partition("@")[0] for claim in claims}
    objections = [file.objection.payload.objection for file in view.list_objections() if not file.is_settled]
    todo: dict[OpenMatter, Sequence[str]] = {
        OpenMatter.CARD_WITHOUT_CLAIMS: [card.payload.card for card in cards if card.payload.card not in quoted],
        OpenMatter.UNAUDITED_CLAIM: [claim.claim for claim in active if claim.status.gravest is None],
        OpenMatter.UNCONCLUDED_AUDIT: [file.audit.payload.audit for file in audits if not file.restrictions and not file.withdrawn],
        OpenMatter.OPEN_OBJECTION: objections,
        OpenMatter.STALE_CLAIM: [claim.claim for claim in active if claim.status.staleness is not Staleness.CURRENT],
        OpenMatter.UNPUBLISHED_CLAIM: [claim.claim for claim in active if f"{claim.claim}@{claim.revision}" not in published],
    }
    registered = {
        "cards": len(cards),
        "claims": len(claims),
        "audits": len(audits),
        "models": len(view.list_models()),
        "specifications": len(view.list_specs()),
    }
    return RegistryOverview(log=view.log_origin, log_size=view.log_size, registered=registered, todo=todo)


def present_overview(overview: RegistryOverview) -> Answer:
    """Present *overview*; kinds of work of which nothing is left are not listed."""
    todo = [
        {"matter": matter.value, "count": len(names), "first": names[0], "next": _COMMANDS[matter].format(names[0])}
        for matter, names in overview.todo.items()
        if names
    ]
    document = {
        "schema": "caveat/status/1",
        "log": overview.log,
        "log_size": overview.log_size,
        "registered": overview.registered,
        "todo": todo,
    }
    return Answer(document, _list_blocks(overview))


def _list_blocks(overview: RegistryOverview) -> Iterator[Block]:
    yield f"{overview.log}, {overview.log_size:,} log entries"
    yield Table(tuple(overview.registered), [[f"{count:,}" for count in overview.registered.values()]], numbers=tuple(overview.registered))
    left = [(matter, names) for matter, names in overview.todo.items() if names]
    if not left:
        yield "Nothing is open, stale or unpublished." if overview.registered["cards"] else "Next: caveat card add CARD --publisher NAME"
    for matter, names in left:
        yield Subtitle(f"{len(names):,} {_TITLES[matter].format('' if len(names) == 1 else 's')}")
        yield Verbatim(f"  {_COMMANDS[matter].format(names[0])}")


# `caveat admin db` and `caveat admin rebuild`: the tables under the registry.


@click.group(cls=LazyGroup, entry_points="caveat.commands.admin")
def admin() -> None:
    """Manage log, keys, database, backups and bundles."""


@click.group()
def bundle() -> None:
    """Exchange logs with other registries."""


@click.group()
def db() -> None:
    """Upgrade, downgrade or check the database tables."""


@examples("admin db upgrade")
@db.command()
@click.option("--revision", default="head", show_default=True, help="The revision of the tables to go to.")
@pass_app
def upgrade(app: App, *, revision: str) -> None:
    """Bring the tables up to date.

    Recorded statements are not changed.
    """
    from registry.store.database_engine import describe_url, refuse_memory
    from registry.store.database_schema import check, upgrade

    refuse_memory(app.config.url)
    upgrade(app.config.url, revision)
    state = check(app.config.url)
    app.answer(
        {"schema": "caveat/db/1", "registry": describe_url(app.config.url), "revision": state.current},
        f"{describe_url(app.config.url)} is at revision {state.current}.",
    )


@examples("admin db downgrade 0001")
@db.command()
@click.argument("revision")
@pass_app
def downgrade(app: App, *, revision: str) -> None:
    """Take the tables back to an earlier revision.

    Caveat refuses if recorded statements would be lost.
    """
    from registry.store.database_engine import describe_url, refuse_missing
    from registry.store.database_schema import downgrade

    refuse_missing(app.config.url)
    downgrade(app.config.url, revision)
    app.answer(
        {"schema": "caveat/db/1", "registry": describe_url(app.config.url), "revision": revision},
        f"{describe_url(app.config.url)} is at revision {revision}.",
    )


@examples("admin db check", "admin db check --registry sqlite:///copy.db")
@db.command("check")
@pass_app
@click.pass_context
def check_(ctx: click.Context, app: App) -> None:
    """Compare the tables with the expected schema.

    The exit code is 1 if they differ.
    """
    from registry.store.database_engine import find_outdated_advice, refuse_missing
    from registry.store.database_schema import check

    refuse_missing(app.config.url)
    state = check(app.config.url)
    document = {
        "schema": "caveat/db-check/1",
        "current": state.current,
        "head": state.head,
        "is_current": state.is_current,
        "differences": list(state.differences),
    }
    words = "up to date" if state.is_current else "not up to date; next: caveat admin db upgrade"
    if state.current is None:
        words = "it holds no registry; next: caveat init"
    elif other := find_outdated_advice(state.current):
        words = f"not up to date, and made by another version of Caveat; next: {other.partition(';')[0]}"
    # The revision is right and the tables differ: they were changed by hand, or another development version made them.
    if state.differences and state.current == state.head:
        words = "the tables are not as they should be; next: caveat admin rebuild URL replays the log into sound ones"
    app.answer(document, ["\n".join([f"revision {state.current} of {state.head}: {words}", *state.differences])])
    ctx.exit(0 if state.is_current else 1)


@examples("admin rebuild sqlite:///rebuilt.db")
@click.command()
@click.argument("target", metavar="URL")
@pass_app
def rebuild(app: App, *, target: str) -> None:
    """Rebuild the database from the log.

    Caveat copies the log into the empty database at URL, checks every entry on the way, and derives all rows again. To move a registry,
    set `url` in registry.cfg to URL afterwards: statements in both databases would be two histories of one log.
    """
    from registry.cli.application import track
    from registry.store.database_engine import describe_url, refuse_memory
    from registry.store.registry_rebuild import rebuild

    # A database in memory would be gone when the command ends.
    refuse_memory(target)
    with track(app, "replaying the log", unit="entries") as progress:
        outcome = rebuild(app.config.url, target, progress)
    from registry.codec.canonical_documents import to_document

    app.answer(
        {"schema": "caveat/rebuild/1", **to_document(outcome)},
        f"Replayed {outcome.entries} entries into {describe_url(target)}; every entry hash is as it was.\n"
        f"Commands still use {describe_url(app.config.url)}. To move the registry, set url = {describe_url(target)} in registry.cfg.\n"
        "Then record nothing in the old database: the log would have two histories.",
    )


# `caveat admin backup`: all that the registry holds, in one file.


@examples("admin backup registry-2026-11.backup")
@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@pass_app
def backup(app: App, *, file: Path) -> None:
    """Write everything that the registry holds to a new FILE.

    Others can go on writing meanwhile. Caveat checks every entry and every checkpoint of the copy, and writes FILE.checkpoint, with
    which `admin restore` checks it again. The backup contains no secret keys.
    """
    from registry.cli.application import count_up, track
    from registry.codec.canonical_documents import to_document
    from registry.exchange.registry_backup import back_up
    from registry.registration.key_registration import get_log_keys

    with app.ledger.view() as view:
        # Keys first: reading them may ask for a passphrase, and writing takes long.
        ring = app.read_keys()
        keys, size = get_log_keys(view, ring) if ring.log else (), view.log_size
    with track(app, f"writing {file.name}", total=size, unit="entries") as progress:
        done = back_up(app.ledger, file, keys=keys, actor=app.config.authority, progress=count_up(progress))
    others = "".join(f"\nwith {log.size} entries of {log.origin}" for log in done.logs)
    signed = "signed" if done.is_signed else "NOT signed, because no log key is here: it shows accidents, no forgery"
    app.answer(
        {"schema": "caveat/backup/1", **to_document(done)},
        f"Wrote {done.path}: {done.entries} entries of {done.origin}, every leaf checked.{others}\n"
        f"Its checkpoint is {done.checkpoint}, {signed}. Keep a copy of it elsewhere.\n"
        f"The secret keys are not in it: keep a copy of {app.config.keys.name} too.",
    )


# `caveat admin restore`: a backup brought back.


@examples("admin restore registry-2026-11.backup", "admin restore old.backup --without-checkpoint")
@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Hold it against the checkpoint in this file; default: FILE.checkpoint.",
)
@click.option("--without-checkpoint", is_flag=True, help="Hold it against nothing but the checkpoints inside it.")
@key_options
@pass_app
def restore(
    app: App, *, file: Path, checkpoint: Path | None, without_checkpoint: bool, vkeys: tuple[str, ...], key_files: tuple[Path, ...]
) -> None:
    """Restore a backup into an empty registry.

    The registry of this folder must be empty or missing. The backup is checked against its checkpoint first; if entries are missing or
    altered, Caveat refuses with exit code 1. All rows are derived again from the log.
    """
    from registry.cli.application import count_up, read_vkeys, track
    from registry.codec.canonical_documents import to_document
    from registry.errors import Fault, InputError
    from registry.exchange.registry_backup import find_note, read_note, restore
    from registry.store.database_engine import describe_url, refuse_memory

    # Each says the opposite of the other.
    if checkpoint and without_checkpoint:
        raise click.UsageError("Give --checkpoint or --without-checkpoint, not both.")
    refuse_memory(app.config.url)
    beside = checkpoint or find_note(file)
    # Without a checkpoint nothing shows whether entries are missing at the end.
    if beside is None and not without_checkpoint:
        # An explicit option is needed, so that the check is not left out by accident.
        problem = "there is no checkpoint next to it to verify it with"
        raise InputError(Fault("checkpoint-not-found", str(file), problem))
    note = None if without_checkpoint or beside is None else read_note(beside)
    keys = read_vkeys(vkeys, key_files)
    with track(app, f"restoring {file.name}", unit="entries") as progress:
        done = restore(file, app.config.url, note=note, keys=keys, progress=count_up(progress))
    until = f", the last of {done.last_at:%Y-%m-%d %H:%M:%S} UTC" if done.last_at else ""
    app.answer(
        {"schema": "caveat/restore/1", "registry": describe_url(app.config.url), **to_document(done)},
        f"Restored {done.entries} entries of {done.origin} into {describe_url(app.config.url)}{until}.\n"
        f"{_describe_check(done.checkpoint.size if done.checkpoint else None, done.entries, done.signer, is_own_word=done.is_own_word)}\n"
        f"Secret keys are not in a backup: put them back into {app.config.keys.name} from your copy.",
    )


def _describe_check(size: int | None, entries: int, signer: str | None, *, is_own_word: bool) -> str:
    """What it was held against, and what that does not show."""
    from registry.exchange.bundle_check import shorten_vkey

    # A checkpoint of fewer entries vouches for its own only.
    if size is None:
        return "It was held against no checkpoint, as was asked: that nothing is missing at its end is not checked."
    rest = f" Entries {size + 1} to {entries} came after it, and nothing vouches for them." if size < entries else ""
    # Without a signature anyone could have written the checkpoint of the backup.
    if signer is None:
        return f"It agrees with the checkpoint at {size}, which is unsigned: that shows accidents, no forgery.{rest}"
    name = shorten_vkey(signer)
    own = ", a key known only from the backup: give yours with --vkey to be sure" if is_own_word else ""
    return f"It agrees with the checkpoint at {size}, signed with {name}{own}.{rest}"


# `caveat admin bundle write`: the log as a bundle for other registries.


@examples("admin bundle write -o lab.caveat", "admin bundle write --since 120 -o lab-120.caveat")
@bundle.command("write")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The new file; .caveat is compressed, .jsonl is not. Default: CODE-SIZE.caveat."
)
@click.option("--since", type=click.IntRange(0), default=0, metavar="SIZE", help="Leave out the first SIZE entries, which they have.")
@click.option("--without-cards", is_flag=True, help="Leave out the texts of cards, which are third-party texts.")
@click.option("--example", is_flag=True, help="Let statements of EXAMPLE out, to show how exporting works.")
@as_of_option
@pass_app
def write_bundle(app: App, *, output: Path | None, since: int, without_cards: bool, example: bool) -> None:
    """Write the log as one file for another registry.

    The bundle contains every statement, the texts of cards, and a signed checkpoint, so that its reader need not trust the sender. The
    checkpoint is signed with the log key here. Without one, the last signed checkpoint is used, with the entries up to it.
    """
    from registry.cli.application import track
    from registry.codec.canonical_documents import to_document
    from registry.exchange.bundle_transfer import export_bundle

    note = _find_note(app)
    with app.view() as view:
        path = output or Path(_name(note))
        with track(app, f"writing {path.name}", total=view.log_size - since, unit="entries") as progress:
            done = export_bundle(view, note, path, since=since, cards=not without_cards, example=example, progress=progress)
    erased = f"; {done.erased} of them without text, which was erased" if done.erased else ""
    texts = f", {done.contents} card {'text' if done.contents == 1 else 'texts'}" if done.contents else ""
    app.answer(
        {"schema": "caveat/bundle-write/1", **to_document(done)},
        f"Wrote {done.path}: entries {done.since + 1} to {done.size} of {done.origin}{erased}{texts}.\n"
        f"root {done.root}\nsha256 {done.sha256}\n"
        "Next: send it, and give your verifier key in another way: caveat admin key show",
    )


def _find_note(app: App) -> str:
    """The signed checkpoint to send: of another registry's log the one it came with."""
    from registry.exchange.bundle_transfer import find_imported_note, find_last_note
    from registry.registration.key_registration import get_log_keys, seal_log

    if (origin := app.log_origin) is not None:
        with app.ledger.view() as own:
            # The own log may be named, too; it has its own checkpoints.
            if own.log_origin != origin:
                return find_imported_note(own, origin)
    with app.view() as view:
        ring = app.read_keys()
        if not view.log_size:
            raise InputError(Fault("empty-registry", "registry", "nothing is recorded yet"))
        # Without a log key the bundle ends with the last signed checkpoint.
        if not ring.log:
            last = find_last_note(view)
            if last.checkpoint.size < view.log_size:
                app.say(f"no log key is here: entries up to the last checkpoint, {last.checkpoint.size} of {view.log_size}, are written")
            return last.note
        # The size is fixed here, so that entries written meanwhile are not signed unseen.
        keys, size = get_log_keys(view, ring), view.log_size
    with app.ledger.write(actor=app.config.authority) as writer:
        return seal_log(writer, keys, size=size).note


def _name(note: str) -> str:
    """A file name of the log's own words that are safe in one, and its size."""
    # The origin is foreign text, so only harmless words of it go into a file name.
    origin, size, *_ = note.split("\n")
    words = [word for word in origin.split("/") if word.isascii() and word.replace("-", "").isalnum()]
    return f"{words[0] if words else 'log'}-{size}.caveat"


# `caveat admin bundle read`: another registry's log, from a bundle.


@examples("admin bundle read institute.caveat --key institute.keys", "admin bundle read institute-200.caveat")
@bundle.command("read")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="Take statements of EXAMPLE, to try importing.")
@key_options
@pass_app
def read_bundle(app: App, *, file: Path, example: bool, vkeys: tuple[str, ...], key_files: tuple[Path, ...]) -> None:
    """Verify a bundle and import the log in it.

    The imported log is kept apart from this registry's own. The first time, give its verifier key, which you must get by another way
    than the bundle. Later bundles are verified with what the log signed before. If it signed another history before, Caveat records the
    evidence, nothing else, and the exit code is 1.
    """
    from registry.cli.application import read_vkeys, track
    from registry.codec.canonical_documents import to_document
    from registry.exchange.bundle_transfer import take_over

    keys = read_vkeys(vkeys, key_files)
    with track(app, f"verifying {file.name}", unit="entries") as progress:
        done = take_over(app.ledger, file, actor=app.config.authority, keys=keys, example=example, progress=progress)
    if done.equivocations:
        app.say(f"WARNING: {done.origin} signed two histories; others may be shown another one. See: caveat admin log show")
    app.answer({"schema": "caveat/bundle-read/1", **to_document(done)}, [_describe(done)])


def _describe(done: "ImportResult") -> str:
    from registry.exchange.bundle_check import shorten_vkey

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


# `caveat admin schema`: the JSON Schemas of the files that people write.

_ELSEWHERE = "caveat.schemas"
_ANSWERS = "caveat.answers"


def _find_nouns() -> dict[str, type]:
    from registry.folder.folder_document import Folder
    from registry.records.claim_draft import AuditDraft, ClaimDraft, ClaimsFile, EvidenceDraft
    from registry.records.replay_run import Provenance, Replay, Task, TasksFile
    from registry.records.specification import ContextSpec, CueInventorySpec, MethodSpec, PropertySpec, Scorer, ScoringSpec, SealFile
    from registry.records.supplement import CardSupplement, ChangeReport, Supplement

    return {
        "audit": AuditDraft,
        "card-supplement": CardSupplement,
        "change-report": ChangeReport,
        "claim": ClaimDraft,
        "claims": ClaimsFile,
        "context": ContextSpec,
        "cue-inventory": CueInventorySpec,
        "evidence": EvidenceDraft,
        "folder": Folder,
        "method": MethodSpec,
        "property": PropertySpec,
        "provenance": Provenance,
        "replay": Replay,
        "scorer": cast("type", Scorer),
        "scoring": ScoringSpec,
        "seal": SealFile,
        "supplement": Supplement,
        "task": Task,
        "tasks": TasksFile,
    }


def list_answer_formats() -> "dict[str, AnswerFormat]":
    """Return the formats of all documents that commands print with `--json`, by name."""
    formats = [answer_format for entry_point in find_commands(_ANSWERS).values() for answer_format in entry_point.load()()]
    return {answer_format.name: answer_format for answer_format in sorted(formats, key=lambda answer_format: answer_format.name)}


@examples("admin schema", "admin schema claims > claims.schema.json", "admin schema answers/status")
@click.command()
@click.argument("name", required=False)
@pass_app
def schema(app: App, /, *, name: str | None) -> None:
    """Print the JSON Schema of a file or an answer.

    NAME is a file format, or answers/NAME for the answer of a command with --json. Without NAME, list all formats.
    """
    from registry.codec.canonical_documents import json_schema

    nouns, elsewhere = _find_nouns(), find_commands(_ELSEWHERE)
    answers = {f"answers/{key}": answer_format for key, answer_format in list_answer_formats().items()} if "/" in (name or "/") else {}
    names = [*sorted({*nouns, *elsewhere}), *answers]
    if name is None:
        app.answer({"schema": "caveat/schemas/1", "names": names}, [Verbatim("\n".join(names))])
    elif name == "context":
        from registry.registration.context_specification import context_schema

        app.answer(context_schema())
    elif name in nouns:
        app.answer(json_schema(nouns[name]))
    elif name in elsewhere:
        app.answer(elsewhere[name].load()())
    elif name in answers:
        app.answer(answers[name].build_schema())
    else:
        known = "; see caveat admin schema" if "/" in name else f"; there are {', '.join(names)}, and answers/NAME"
        raise NotFoundError(Fault("unknown-name", name, f"no such format{known}"))


# `caveat explain`: the catalogue of errors, offline.


def _complete_codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in list_explanations() if code.startswith(incomplete)]


@examples("explain quotation-not-found", "explain")
@click.command()
@click.argument("code", required=False, shell_complete=_complete_codes)
@pass_app
def explain(app: App, /, *, code: str | None) -> None:
    """Explain the code of an error or a warning.

    Prints its meaning and the next step, from docs/errors.md, which is installed with Caveat. Without CODE, list all codes.
    """
    from dataclasses import asdict

    codes = list(list_explanations())
    if code is None:
        titles = {entry.code: entry.title for entry in map(find_entry, codes) if entry}
        lines = "\n".join(f"{name}: {title}" for name, title in titles.items())
        app.answer({"schema": "caveat/explanations/1", "titles": titles}, [Verbatim(lines)])
        return
    # A code copied from a message ends with its colon.
    entry = find_entry(code.removesuffix(":"))
    if entry is None:
        advice = suggest(code, codes) or "caveat explain lists them"
        raise NotFoundError(Fault("unknown-name", code, "no message has this code", advice=advice))
    text = f"{entry.code}: {entry.title}\n\n{entry.meaning}" + (f"\n\nfix: {entry.advice}" if entry.advice else "")
    app.answer({"schema": "caveat/explanation/1", **asdict(entry)}, text)
