"""`caveat report`: supplements, as PDF, HTML and JSON."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app_only
from registry.cli.parameters import ANY
from registry.errors import Fault, InputError
from registry.records.identifier import Identifier, Kind

if TYPE_CHECKING:
    from registry.publishing import Subject, Written

_FORMATS = ("pdf", "html", "json")


@click.command()
@click.argument("subjects", type=ANY, nargs=-1, metavar="ID…")
@click.option("--all", "everything", is_flag=True, help="Every card and every claim of the registry.")
@click.option("--from", "sources", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True, metavar="FILE",
              help="Draw again what a supplement (PDF, HTML or JSON) carries; no registry is read.")  # fmt: skip
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
@click.option("--publish", is_flag=True, help="Record in the log that these files were given out, by their digests.")
@as_of_option
@pass_app_only
def report(app: App, /, *, subjects: tuple[Identifier, ...], output: Path, **options: Any) -> None:
    """Draw the supplements of claims (CLM-…) and cards (CRD-…; with all their claims) into a folder.

    The same records give the same bytes. One that cannot be drawn does not stop the others; the exit code is then 3.
    """
    from registry.cli.progress import track
    from registry.publishing import write_supplements
    from registry.records.publication import OutputFormat

    chosen = [OutputFormat(name) for name in _FORMATS if options[name]] or [OutputFormat(name) for name in _FORMATS]
    found = _collect(app, subjects, everything=options["everything"], sources=options["sources"])
    with track(app, "drawing supplements", total=len(found) * len(chosen), unit="files") as progress:
        written = write_supplements(
            found, chosen, output, time_limit_s=app.config.time_limit_s, workers=os.cpu_count() or 1, progress=progress
        )
    if options["publish"]:
        _publish(app, written)
    _tell(app, written)


def _collect(app: App, subjects: Sequence[Identifier], *, everything: bool, sources: Sequence[Path]) -> "list[Subject]":
    from registry.publishing import collect_supplements, read_supplements

    if sources:
        return read_supplements(sources)
    if not subjects and not everything:
        found = "nothing to report on"
        advice = "name claims or cards, or give --all; caveat claim list shows what there is"
        raise InputError(Fault(code="nothing-asked", where="caveat report", found=found, advice=advice))
    with app.view() as view:
        return list(collect_supplements(view, list(_expand(view, subjects, everything=everything))))


def _expand(view: Any, subjects: Sequence[Identifier], *, everything: bool) -> "list[Identifier]":
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
    from registry.publishing import build_publication

    with app.ledger.write(actor=app.config.authority) as writer:
        known = {one.sha256 for one in written if one.sha256 and writer.find_publications(one.sha256)}
        writer.append_many([build_publication(one) for one in written if one.sha256 and one.sha256 not in known])


def _tell(app: App, written: "Sequence[Written]") -> None:
    failed = [one for one in written if one.error is not None]
    for one in written:
        if one.error is None:
            click.echo(str(one.path))
    for one in failed:
        app.say(str(one.error))
    if failed:
        app.say(f"{len(failed)} of {len(written)} files could not be drawn")
        click.get_current_context().exit(3)
