"""`caveat report`: supplements, as PDF, HTML and JSON."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app_only
from registry.cli.parameters import ANY
from registry.errors import CaveatError, Fault, InputError, NotFoundError
from registry.records.identifier import Identifier, Kind

if TYPE_CHECKING:
    from registry.publishing import Collector, Subject, Written
    from registry.seal.keys import SigningKey
    from registry.store.view import View

_FORMATS = ("pdf", "html", "json")
_TOGETHER = 40
"""Supplements of which the statements are read together."""
_NOT_WITH_STALE = ("--from", "--confidential", "--all", "--as-of")
_NO_KEY = (
    "published without proofs: there is no log key here to sign the log with\n"
    "  next: name its folder (CAVEAT_KEYS) or make a key (caveat key add), and publish the same files again"
)


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
@click.option("--publish", is_flag=True, help="Record in the log that these files were given out, by their digests.")
@click.option("--sign/--no-sign", default=None, help="Sign the PDF files. Without it: with --publish, if there is a document key here.")
@click.option("--stale", is_flag=True, help="Keep the folder up to date: draw only what is new or changed there.")
@click.option("--check", is_flag=True, help="With --stale: draw nothing, list what is due; exit code 1 if anything is.")
@as_of_option
@pass_app_only
def report(app: App, /, *, subjects: tuple[Identifier, ...], output: Path, **options: Any) -> None:
    """Draw the supplements of claims (CLM-…) and cards (CRD-…; with all their claims) into a folder.

    The same records give the same bytes; signing a PDF appends to them. One that cannot be drawn does not stop the others; the exit code is
    then 3.

    With --stale the folder is kept up to date: without ID with every revision of every claim and every card. What others take the place of
    is kept beside them; a page (index.html), a feed and a report of what changed are written. Stopped, it goes on where it was.
    """
    from registry.cli.progress import track
    from registry.cli.report_changes import compare, refuse_with_since
    from registry.publishing import sign_written, write_supplements
    from registry.records.publication import OutputFormat

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
    if options["stale"]:
        from registry.cli.report_stale import regenerate

        publish = _publish if options["publish"] else None
        regenerate(app, output, subjects, chosen, check=options["check"], key=key, publish=publish)
        return
    with ExitStack() as stack:
        collected = _collect(app, subjects, everything=options["everything"], sources=options["sources"])
        collected = compare(app, since, subjects) if since else collected
        found, count, untold = stack.enter_context(collected)
        progress = stack.enter_context(track(app, "drawing supplements", total=count * len(chosen), unit="files"))
        opened = _open(found, options["seals"])
        limit = app.config.time_limit_s
        written = write_supplements(opened, chosen, output, time_limit_s=limit, workers=os.cpu_count() or 1, progress=progress)
    if untold and not written:
        raise untold[0]
    if key is not None:
        written = sign_written(written, key, at=app.config.now())
    if options["publish"]:
        _publish(app, written)
    _tell(app, written, untold)


def _refuse_combinations(app: App, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options of which one would be passed over."""
    if options["check"] and not options["stale"]:
        raise click.UsageError("--check goes with --stale.")
    keys = {"--from": "sources", "--confidential": "seals", "--all": "everything", "ID": "subjects"}
    given = {name for name, key in keys.items() if options[key]} | ({"--as-of"} if app.as_of is not None else set())
    given |= {f"--{name}" for name in ("publish", "sign") if options[name]}
    for option, why, refused in (
        ("stale", "--stale keeps a folder as the registry is now, of all of it or of the IDs given", _NOT_WITH_STALE),
        ("check", "--check draws nothing", ("--publish", "--sign")),
        ("sources", "--from draws what a file carries, and no registry is read for it", ("ID", "--all", "--as-of")),
    ):
        if options[option] and (clash := [one for one in refused if one in given]):
            raise click.UsageError(f"{why}: it takes no {clash[0]}.")


def _refuse_publishing(app: App) -> None:
    """Raise ConflictError before anything is drawn where this authority cannot publish in this log."""
    from registry.registration.keys import refuse_publishing

    with app.ledger.view() as view:
        refuse_publishing(view, app.config.authority)


def _find_key(app: App, *, sign: bool | None, publish: bool, draws_pdf: bool) -> "SigningKey | None":
    """Return what PDF files are signed with; None where they are not. It may be missing, so it is asked for before anything is drawn."""
    from registry.registration.keys import get_document_key

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
    if not subjects and not everything:
        found = "nothing to report on"
        advice = "name claims or cards, or give --all; caveat claim list shows what there is"
        raise InputError(Fault(code="nothing-asked", where="caveat report", found=found, advice=advice))
    with app.view() as view, app.ledger.view(log=app.log) as latest:
        wanted = _expand(view, subjects, everything=everything)
        collector = Collector(view, now=latest if app.as_of else None, subjects=() if len(wanted) == 1 else None)
        yield _assemble(collector, wanted, untold), len(wanted), untold


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
    from registry.registration.sealing import read_seal
    from registry.report.disclosure import add_openings

    openings = [read_seal(path).opening for path in seals]
    return (replace(one, supplement=add_openings(one.supplement, openings)) for one in found) if openings else found


def _expand(view: "View", subjects: Sequence[Identifier], *, everything: bool) -> "list[Identifier]":
    """Return the subjects with the claims of each card, each once, in order."""
    from registry.publishing import list_claims_of
    from registry.records.identifier import parse_identifier

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


def _publish(app: App, written: "Sequence[Written]") -> None:
    """Record what was given out and, with a log key here, seal the log and write the proof of each file beside it."""
    from registry.proving import record_publications, sign_log, write_proofs

    others = {one.name for one in written if one.facts is not None and not one.facts.is_recordable}
    for name in sorted(others):
        app.say(f"not recorded: {name} is about no one claim or card, so the log cannot say that it was given out; sign it (--sign)")
    written = [one for one in written if one.name not in others]
    if not written:
        return
    ring = app.read_keys()
    with app.ledger.write(actor=app.config.authority) as writer:
        record_publications(writer, written)
        checkpoint = sign_log(writer, ring) if ring.log else None
    if checkpoint is None:
        app.say(_NO_KEY)
        return
    with app.ledger.view() as view:
        proofs = write_proofs(view, written, checkpoint)
    for one in proofs:
        click.echo(str(one.path))


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
