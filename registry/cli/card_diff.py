"""`caveat card diff`: what became of a card's claims in another revision of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.errors import Fault, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from registry.registration.passage_matching import ComparedText, RevisionComparison

_PREFIX = "CRD-"


@click.command()
@click.argument("old", metavar="CARD|FILE")
@click.argument("newer", metavar="[CARD|FILE]", required=False)
@click.option("--from", "before", type=click.IntRange(1), help="Revision to compare from; default: the one before.")
@click.option("--to", "after", type=click.IntRange(1), help="Revision to compare to; default: the latest.")
@click.option("--claims", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A claims file whose quotes are followed too.")
@click.option("--record", is_flag=True, help="Record what was found of claims that were registered after the newer revision.")
@click.option("--all", "whole", is_flag=True, help="List every change without a claim, not only the first 20 of each kind.")
@as_of_option
@pass_app
def diff(app: App, /, *, old: str, newer: str | None, record: bool, whole: bool, claims: Path | None, **revisions: int | None) -> None:
    """Show what became of the claims of a card in another revision of it, and what else changed.

    One CARD: its latest revision (or --to, or CRD-…@n) beside the one before it (or --from). Two: the first is the older; each
    is CRD-…@n or a file, which need not be registered.
    """
    from registry.cli.card_diff_text import print_comparison, summarise_comparison

    if newer is not None and (revisions["before"] or revisions["after"]):
        raise click.UsageError("--from and --to choose revisions of one card; with two, write CRD-…@n for each.")
    if record and (app.as_of or app.log):
        raise click.UsageError("--record writes now, into this registry's own log; --as-of and --log read another.")
    found = _compare(app, old, newer, claims, **revisions)
    recorded = _record(app, found) if record else None
    document = {"schema": "caveat/card-diff/1", "recorded": recorded, **summarise_comparison(found)}

    def text(console: "Console") -> None:
        print_comparison(console, found, whole=whole)
        if recorded is not None:
            console.print(f"\nRecorded {recorded} of {len(found.passages)}; the others were recorded before." if found.passages else "")

    app.report(document, text)


def _compare(app: App, old: str, newer: str | None, claims: Path | None, *, before: int | None, after: int | None) -> "RevisionComparison":
    from registry.registration.passage_matching import compare_sides, open_pair

    quotes = _read_quotes(claims) if claims else []
    if newer is not None and not (_is_card(old) or _is_card(newer)):
        return compare_sides(None, _read_file(old), _read_file(newer), quotes=quotes)
    with app.view() as view:
        if newer is None:
            if not _is_card(old):
                _read_file(old)
                raise click.UsageError(f"{old} is a file; name the file it is compared with, or a registered card (CRD-…).")
            first, second = open_pair(view, old, old=before, new=after)
        else:
            first, second = (_open(view, name) for name in (old, newer))
        return compare_sides(view, first, second, quotes=quotes)


def _is_card(name: str) -> bool:
    return name.upper().startswith(_PREFIX) and not Path(name).is_file()


def _open(view: Any, name: str) -> "ComparedText":
    from registry.registration.passage_matching import open_side

    return open_side(view, name) if _is_card(name) else _read_file(name)


def _read_file(name: str) -> "ComparedText":
    from registry.registration.passage_matching import read_side

    if not Path(name).is_file():
        found = "is no file, and no identifier of a card (CRD-…)"
        raise InputError(Fault(code="not-valid", where=name, found=found, advice="name a registered card (caveat card list) or a file"))
    return read_side(Path(name))


def _read_quotes(path: Path) -> list[tuple[str, str]]:
    """Return the word-for-word quotes of a claims file, each with its place in the file."""
    from registry.codec.documents import from_document
    from registry.codec.files import read_document
    from registry.records.claim import QuoteStatus
    from registry.records.claim_draft import ClaimsFile

    file = from_document(ClaimsFile, read_document(path), where=str(path))
    drafts = enumerate(file.claims)
    return [(f"{path}, claims[{at}].quote", one.quote) for at, one in drafts if one.quote_status is QuoteStatus.VERBATIM]


def _record(app: App, found: "RevisionComparison") -> int:
    from registry.registration.passage_matching import record_passage_matches

    sighted = [one.sighted for one in found.passages if one.sighted is not None]
    cards = {side.card.card if side.card else side.name for side in (found.old, found.new)}
    if found.old.card is None or len(cards) > 1 or len(sighted) < len(found.passages):
        what = "only what claims of a registered card become in another registered revision of it is recorded"
        advice = "register the newer file: caveat card add FILE --revises CRD-… --why …"
        raise InputError(Fault(code="nothing-to-record", where="--record", found=what, advice=advice))
    with app.ledger.write(actor=app.config.authority) as writer:
        return record_passage_matches(writer, sighted)
