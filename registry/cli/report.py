"""`caveat report`: supplements, as PDF, HTML and JSON."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app_only
from registry.cli.parameters import ANY
from registry.cli.report_folder import NO_KEY, keep
from registry.errors import CaveatError, Fault, InputError, NotFoundError
from registry.records.record import Identifier, Kind

if TYPE_CHECKING:
    from registry.proving import Publisher
    from registry.publishing import Collector, Subject, Written
    from registry.records.statement import OutputFormat
    from registry.regeneration.look import Wish
    from registry.seal.keys import SigningKey
    from registry.store.view import View

_FORMATS = ("pdf", "html", "json")
_TOGETHER = 40
"""Supplements of which the statements are read together."""
_NOT_WITH_STALE = ("--from", "--confidential", "--all", "--as-of")


@click.command()
@click.argument("subjects", type=ANY, nargs=-1, metavar="ID…")
@click.option("--all", "everything", is_flag=True, help="Every card and every claim of the registry.")
@click.option("--from", "sources", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True, metavar="FILE",
              help="Draw again what a supplement (PDF, HTML or JSON) carries; no registry is read.")  # fmt: skip
@click.option(
    "--since", metavar="ENTRY|DATE", help="The change report alone: what changed since then, of all claims or of ID…, up to --as-of."
)
@click.option("--pdf", is_flag=True, help="Only PDF (with --html or --json: these too).")
@click.option("--html", is_flag=True, help="Only HTML.")
@click.option("--json", is_flag=True, help="Only JSON.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("supplements"),
    show_default=True,
    help="The folder of the files.",
)
@click.option(
    "--confidential",
    "seals",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="SEAL",
    help="Show the sealed specification that this seal file opens, on pages marked CONFIDENTIAL; may be given again.",
)
@click.option("--publish", is_flag=True, help="Record in the log that these files are published, and add the proof to each.")
@click.option("--sign/--no-sign", default=None, help="Sign the PDF files. Without it: with --publish, if there is a document key here.")
@click.option("--stale", is_flag=True, help="Keep the folder up to date: draw only what is new or changed there.")
@click.option("--check", is_flag=True, help="With --stale: draw nothing, list what is due; exit code 1 if anything is.")
@as_of_option
@pass_app_only
def report(app: App, /, *, subjects: tuple[Identifier, ...], output: Path, **options: Any) -> None:
    """Draw the supplements of claims (CLM-…) and cards (CRD-…; with all their claims) into a folder.

    Only what is due is drawn; a page (index.html) lists the folder. Published and signed files stay as they are: newer ones get a name
    of their own, NAME.entry-N. One that cannot be drawn does not stop the others; the exit code is then 3.

    With --stale the folder is kept up to date: without ID with every revision of every claim and every card, a feed and a report of what
    changed. Stopped, it goes on where it was.
    """
    from registry.cli.report_changes import refuse_with_since
    from registry.records.statement import OutputFormat

    since = refuse_with_since(options)
    if options["publish"] and app.log:
        raise click.UsageError("--publish records in this registry's own log; --log reads another.")
    chosen = [OutputFormat(name) for name in _FORMATS if options[name]] or [OutputFormat(name) for name in _FORMATS]
    _refuse_combinations(app, options | {"subjects": subjects})
    if options["publish"]:
        _refuse_publishing(app)
    key = None
    if not options["check"]:
        key = _find_key(app, sign=options["sign"], publish=options["publish"], draws_pdf=OutputFormat.PDF in chosen)
    publisher = _build_publisher(app, key, publishes=options["publish"] and not options["check"])
    if since or app.as_of is not None or options["sources"] or options["seals"]:
        _draw_apart(app, subjects, chosen, output, options=options, publisher=publisher)
        return
    _refuse_nothing(subjects, everything=options["everything"] or options["stale"])
    is_kept = options["stale"]
    keep(
        app,
        output,
        partial(_build_wish, subjects, chosen, is_kept=is_kept, publishes=options["publish"], proves=bool(publisher.ring.log)),
        check=options["check"],
        is_whole=is_kept and not subjects,
        lists_all=not is_kept,
        sign=key is not None,
        publisher=publisher,
    )


def _draw_apart(
    app: App,
    subjects: "Sequence[Identifier]",
    formats: "Sequence[OutputFormat]",
    output: Path,
    *,
    options: Mapping[str, Any],
    publisher: "Publisher",
) -> None:
    """Draw what is not kept up to date: of an earlier entry, of files, confidential files, a change report."""
    from registry.cli.progress import track
    from registry.cli.report_changes import compare
    from registry.proving import publish_files
    from registry.publishing import sign_written, write_supplements

    with ExitStack() as stack:
        collected = _collect(app, subjects, everything=options["everything"], sources=options["sources"])
        collected = compare(app, options["since"], subjects) if options["since"] else collected
        found, count, untold = stack.enter_context(collected)
        progress = stack.enter_context(track(app, "drawing supplements", total=count * len(formats), unit="files"))
        opened = _open(found, options["seals"])
        limit = app.config.time_limit_s
        written = write_supplements(opened, formats, output, time_limit_s=limit, workers=os.cpu_count() or 1, progress=progress)
    if untold and not written:
        raise untold[0]
    if options["publish"]:
        others = {one.name for one in written if one.facts is not None and not one.facts.is_recordable}
        for name in sorted(others):
            app.say(f"not recorded: {name} is about no one claim or card, so the log cannot say that it was published; sign it (--sign)")
        if not publish_files(publisher, written):
            app.say(NO_KEY)
    elif publisher.key is not None:
        sign_written(written, publisher.key, at=publisher.at)
    _tell(app, written, untold)


def _build_publisher(app: App, key: "SigningKey | None", *, publishes: bool) -> "Publisher":
    from registry.proving import Publisher
    from registry.seal.keys import KeyRing

    ring = app.read_keys() if publishes else KeyRing()
    actor = app.config.authority if publishes else ""
    return Publisher(ledger=lambda: app.ledger, actor=actor, ring=ring, key=key, at=app.config.now())


def _build_wish(
    subjects: "Sequence[Identifier]",
    formats: "Sequence[OutputFormat]",
    view: "View",
    *,
    is_kept: bool,
    publishes: bool,
    proves: bool,
) -> "Wish":
    """Return what is asked of the folder; raises as `Collector.collect` where the registry has no supplement of a subject."""
    from registry.regeneration.look import Wish

    asked = None
    if subjects:
        wanted = _expand(view, subjects, everything=False)
        asked = frozenset(map(str, wanted))
        if not is_kept:
            _refuse_unknown(view, subjects)
    return Wish(formats=tuple(formats), asked=asked, newest_only=not is_kept, publishes=publishes, proves=proves)


def _refuse_unknown(view: "View", subjects: "Sequence[Identifier]") -> None:
    """Raise what drawing one of *subjects* would, for those that the registry has no text of."""
    from registry.publishing import Collector
    from registry.store.states import find_states

    known = find_states(view)
    bare = {name.partition("@")[0] for name in known}
    for subject in subjects:
        if str(subject) not in known and str(subject) not in bare:
            Collector(view).collect(subject)


def _refuse_nothing(subjects: "Sequence[Identifier]", *, everything: bool) -> None:
    if not subjects and not everything:
        found = "nothing to report on"
        advice = "name claims or cards, or give --all; caveat claim list shows what there is"
        raise InputError(Fault(code="nothing-asked", where="caveat report", found=found, advice=advice))


def _refuse_combinations(app: App, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options of which one would be passed over."""
    if options["check"] and not options["stale"]:
        raise click.UsageError("--check goes with --stale.")
    keys = {"--from": "sources", "--confidential": "seals", "--all": "everything", "ID": "subjects"}
    given = {name for name, key in keys.items() if options[key]} | ({"--as-of"} if app.as_of is not None else set())
    given |= {f"--{name}" for name in ("publish", "sign") if options[name]}
    for option, why, refused in (
        ("stale", "--stale keeps a folder as the registry is now, of all of it or of the IDs given", _NOT_WITH_STALE),
        ("check", "--check draws nothing", ("--sign",)),
        ("sources", "--from draws what a file carries, and no registry is read for it", ("ID", "--all", "--as-of")),
    ):
        if options[option] and (clash := [one for one in refused if one in given]):
            raise click.UsageError(f"{why}: it takes no {clash[0]}.")


def _refuse_publishing(app: App) -> None:
    """Raise ConflictError before anything is drawn where this authority cannot publish in this log."""
    from registry.registration.key_registration import refuse_publishing

    with app.ledger.view() as view:
        refuse_publishing(view, app.config.authority)


def _find_key(app: App, *, sign: bool | None, publish: bool, draws_pdf: bool) -> "SigningKey | None":
    """Return what PDF files are signed with; None where they are not. It may be missing, so it is asked for before anything is drawn."""
    from registry.registration.key_registration import get_document_key

    if sign and not draws_pdf:
        found, advice = "only PDF files are signed, and none is drawn", "give --pdf too, or leave --sign out"
        raise InputError(Fault(code="nothing-to-sign", where="--sign", found=found, advice=advice))
    if not draws_pdf or not (publish if sign is None else sign):
        return None
    ring = app.read_keys()
    if sign is None and ring.document is None:
        app.say("the PDF files are not signed: there is no document key here (caveat key add makes one)")
        return None
    with app.ledger.view() as view:
        return get_document_key(view, ring)


@contextmanager
def _collect(
    app: App, subjects: Sequence[Identifier], *, everything: bool, sources: Sequence[Path]
) -> "Iterator[tuple[Iterable[Subject], int, list[CaveatError]]]":
    """Give the supplements to draw, how many at most, and why others, of which a statement was erased, cannot be; the last grows meanwhile.

    The registry is read as they are taken, so that one of any size needs no more memory than a few of its supplements.
    """
    from registry.publishing import Collector, read_supplements

    untold: list[CaveatError] = []
    if sources:
        read = read_supplements(sources)
        yield read, len(read), untold
        return
    _refuse_nothing(subjects, everything=everything)
    with app.view() as view, app.ledger.view(log=app.log) as latest:
        wanted = _expand(view, subjects, everything=everything)
        collector = Collector(view, now=latest if app.as_of else None, subjects=() if len(wanted) == 1 else None)
        assembled = _assemble(collector, wanted, untold)
        named = (replace(one, is_of_entry=True) for one in assembled) if app.as_of is not None else assembled
        yield named, len(wanted), untold


def _assemble(collector: "Collector", wanted: "Iterable[Identifier]", untold: "list[CaveatError]") -> "Iterator[Subject]":
    """Yield the supplement of each of *wanted*; those of which a statement was erased are added to *untold*."""
    rest = iter(wanted)
    while stretch := list(islice(rest, _TOGETHER)):
        collector.gather(stretch)
        for subject in stretch:
            try:
                yield collector.collect(subject)
            except NotFoundError as error:
                if error.code != "body-erased":
                    raise
                untold.append(NotFoundError([replace(one, where=f"{subject}, {one.where}") for one in error.faults]))


def _open(found: "Iterable[Subject]", seals: Sequence[Path]) -> "Iterable[Subject]":
    """Give *found* with what the seal files open beside the public record; as it is without any."""
    from registry.registration.specification_registration import read_seal
    from registry.report.disclosure import add_openings

    openings = [read_seal(path).opening for path in seals]
    return (replace(one, supplement=add_openings(one.supplement, openings)) for one in found) if openings else found


def _expand(view: "View", subjects: Sequence[Identifier], *, everything: bool) -> "list[Identifier]":
    """Return the subjects with the claims of each card, each once, in order."""
    from registry.publishing import list_claims_of
    from registry.records.record import parse_identifier

    wanted: dict[str, Identifier] = {}
    if everything:
        subjects = [parse_identifier(one.payload.card) for one in view.list_cards()]
        subjects += [parse_identifier(one.claim) for one in view.list_claims()]
    for subject in subjects:
        if subject.kind not in (Kind.CARD, Kind.CLAIM):
            found = f"names a {subject.kind.name.lower()}; supplements are made of claims (CLM-…) and cards (CRD-…)"
            raise InputError(Fault(code="bad-identifier", where=str(subject), found=found))
        wanted[str(subject)] = subject
        if subject.kind is Kind.CARD:
            wanted |= {claim: parse_identifier(claim) for claim in list_claims_of(view, subject)}
    return list(wanted.values())


def _tell(app: App, written: "Sequence[Written]", untold: "Sequence[CaveatError]") -> None:
    failed = [one for one in written if one.error is not None]
    for one in written:
        if one.error is None:
            click.echo(str(one.path))
    for error in (*untold, *(one.error for one in failed)):
        app.say(str(error))
    if failed:
        app.say(f"{len(failed)} of {len(written)} files could not be drawn")
    if failed or untold:
        click.get_current_context().exit(3)
