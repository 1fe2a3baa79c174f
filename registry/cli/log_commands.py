"""`caveat log`: entries of the log in order, the check of the log, and erasure of a text."""

import sys
from typing import TYPE_CHECKING

import click

from registry.cli.application import ANY, App, as_of_option, pass_app
from registry.cli.main import LazyGroup
from registry.errors import AnswerNoError, CaveatError, Fault, InputError, NotFoundError
from registry.records.record import Identifier
from registry.records.statement import StatementKind

if TYPE_CHECKING:
    from pathlib import Path

    from registry.seal.signed_notes import VerifierKey
    from registry.store.log_integrity import LogReport

# `caveat log`.

Texts = tuple[str, ...]
_LAST = 20


@click.group(cls=LazyGroup, entry_points="caveat.commands.log")
def log() -> None:
    """The log of statements: the audit trail, its checkpoints, and proofs from it."""


@log.command()
@click.option("--start", type=click.IntRange(1), help="First entry; default: the last twenty.")
@click.option("--stop", type=click.IntRange(1), help="Last entry.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice([one.value for one in StatementKind]), help="Only of this kind.")
@click.option("--actor", "actors", multiple=True, metavar="CODE", help="Only what this authority said.")
@click.option("--about", type=ANY, metavar="ID", help="Only what names this identifier, or belongs to it.")
@as_of_option
@pass_app
def show(
    app: App, *, start: int | None, stop: int | None, kinds: tuple[str, ...], actors: tuple[str, ...], about: Identifier | None
) -> None:
    """Show log entries: number, time, who, what. What was erased stands in its place, with the entry that says why.

    Without --start, the last twenty that fit. --json has every statement whole, with its leaf.
    """
    from registry.cli.log_presenter import print_trail, summarise_trace
    from registry.store.dossiers import TrailQuery, list_trail
    from registry.store.log_reader import find_backings

    wanted = TrailQuery(
        kinds=[StatementKind(kind) for kind in kinds],
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
    document = {"schema": "caveat/log/1", "origin": origin, "size": size, "entries": [summarise_trace(one, backed) for one in traces]}
    none = f"The log has {size} entries" + ("; none of them fits." if size else ".")
    app.report(document, lambda console: print_trail(console, traces, backed) if traces else console.print(none))


@log.command()
@click.option("--fast", is_flag=True, help="Entries, tree and checkpoints alone; not the rows that are derived from statements.")
@click.option("--note", "notes", multiple=True, type=click.Path(exists=True, dir_okay=False), help="A checkpoint kept elsewhere.")
@click.option("--key", "keys", multiple=True, metavar="VKEY|FILE", help="Verify checkpoints with this key too.")
@click.option("--log", "origin", metavar="ORIGIN", help="Check another registry's log that was taken over: caveat import.")
@pass_app
def check(app: App, *, fast: bool, notes: Texts, keys: Texts, origin: str | None) -> None:
    """Check that the log is what it was: every entry, the tree, every checkpoint, every row. Exit code 1 if something does not fit.

    What is altered is named, and since when: which checkpoint still fits and which does not. A checkpoint kept elsewhere (--note) holds
    the log to what it was when somebody took it away; those in the registry could have been altered with it.
    """
    from registry.cli.application import count_up, track
    from registry.cli.log_presenter import print_report, summarise_report
    from registry.codec.file_io import read_text
    from registry.store.log_integrity import check_log

    # Checkpoints from elsewhere hold the log to a state that no one here could alter.
    texts = [read_text(_path(note)) for note in notes]
    vkeys, faults = _find_keys(app, keys, origin)
    with track(app, "checking the log", unit="entries") as progress:
        report = check_log(app.ledger, vkeys=vkeys, progress=count_up(progress), log=origin, notes=texts)
    # All findings are reported together: what is wrong with keys, log and rows.
    faults += report.findings
    # Rows are derived from statements. If those are altered, comparing rows would only repeat the
    # finding; a log taken over has none of its own.
    rows = None if fast or origin is not None or faults else _check_rows(app, faults)
    if faults:
        raise AnswerNoError([*faults, *_count_unlisted(report)])
    document = {"schema": "caveat/log-check/1", **summarise_report(report), "rows": rows}
    app.report(document, lambda console: print_report(console, report, rows))


@log.command(name="list")
@pass_app
def list_(app: App) -> None:
    """List the logs that are kept here: the own one, and those of other registries that were taken over."""
    from registry.cli.log_presenter import build_logs_table, summarise_log

    found = [summarise_log(app.ledger, one) for one in app.ledger.list_logs()]
    app.report(
        {"schema": "caveat/logs/1", "logs": found},
        lambda console: console.print(build_logs_table(found) if found else "No log has an entry yet."),
    )


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
                vkeys += [parse_vkey(one.payload.vkey, where=origin) for one in list_imports(view, origin)[-1:]]
            vkeys += list_witness_keys(view)
    # Contradicting key entries are a finding, and must not stop the check.
    except CaveatError as error:
        return vkeys, list(error.faults)
    return list({str(one): one for one in vkeys}.values()), []


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


# `caveat log erase`: the text of an entry goes, its proof stays.


@click.command()
@click.argument("entry", type=click.IntRange(1))
@click.option("--why", required=True, help="The reason, which is recorded for good: do not repeat in it what is erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_app
def erase(app: App, *, entry: int, why: str, yes: bool) -> None:
    """Erase the text of ENTRY, for good, and record that and why.

    What stays: its number, time, author, kind and leaf, which prove that it was there; the rows derived from it, which hold no words; and
    every copy elsewhere (supplements, bundles, backups). Supplements of what rests on it cannot be made any more.
    """
    # The user sees which entry it is before anything is asked.
    with app.ledger.view() as view:
        place = view.find_entry(entry)
        size = view.log_size
    if place is None:
        raise NotFoundError(Fault("entry-not-found", f"entry {entry}", f"the log has {size} entries"))
    app.say(f"entry {entry}: {place.kind.value} by {place.actor} of {place.at:%Y-%m-%d %H:%M} UTC, leaf {place.leaf[:16]}…")
    app.say("its text is erased for good; number, time, author, kind, leaf and derived rows stay, and copies elsewhere are not touched")
    if not yes:
        _ask()
    with app.ledger.write(actor=app.config.authority) as writer:
        recorded = writer.erase(entry, why=why)
    app.report(
        {"schema": "caveat/erasure/1", "erased": entry, "leaf": place.leaf, "entry": recorded.seq, "why": why},
        lambda console: console.print(f"The text of entry {entry} is erased; entry {recorded.seq} says why."),
    )


def _ask() -> None:
    # Without a terminal a missing answer must not count as yes.
    if sys.stdin is None or not sys.stdin.isatty():
        found = "this needs a confirmation, and there is no terminal"
        raise InputError(Fault("not-a-terminal", "caveat log erase", found, advice="give --yes, if you are sure"))
    click.confirm("Erase it?", abort=True, err=True)
