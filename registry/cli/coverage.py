"""`caveat card coverage`: how far the claims of a card are known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import CARD
from registry.records.claim_status import Dispute
from registry.records.record import Identifier
from registry.records.supplement import Coverage, PassageCounts, SectionCoverage

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 20
"""Passages that are listed without `--all`."""
_COLUMNS = ("proposed", "registered", "audited", "restricted", "left out", "undecided")
_WIDEST = 27


@click.command()
@click.argument("card_id", type=CARD)
@click.option("--all", "whole", is_flag=True, help="List every undecided passage and every passage left out, not only the first 20.")
@as_of_option
@pass_app
def coverage(app: App, *, card_id: Identifier, whole: bool) -> None:
    """Tell what of a card was proposed, registered, audited, restricted and left out, section by section.

    Proposed, left out and undecided count passages; registered, audited and restricted count claim families. A proposed passage is
    undecided if it has no character in common with the passage of a registered claim or one left out.
    """
    from registry.codec.documents import to_document
    from registry.publishing import collect_coverage

    with app.view() as view:
        recorded, found, untold = collect_coverage(view, card_id)
        size = view.log_size
        disputed = [one for one in view.list_claims(card=card_id.bare) if one.status.dispute is not Dispute.UNDISPUTED]
    card = recorded.payload
    reference = f"{card.card}@{card.revision}"
    document = {"schema": "caveat/coverage/1", "log_size": size, "card": reference, "title": card.title, **to_document(found)}
    document["untold"] = list(untold)
    document["disputed"] = [{"claim": f"{one.claim}@{one.revision}", "dispute": one.status.dispute.value} for one in disputed]

    def text(console: "Console") -> None:
        console.print(f"{reference}  {card.title} ({card.publisher})", style="bold")
        _print_survey(console, found, reference)
        _print_erased(console, found, untold)
        _print_table(console, found)
        if disputed:
            told = ", ".join(f"{one.claim} ({one.status.dispute.value})" for one in disputed[:_MOST])
            more = f" and {len(disputed) - _MOST} more" if len(disputed) > _MOST else ""
            console.print(f"contested: {_count(len(disputed), 'claim')}: {told}{more}")
        most = None if whole else _MOST
        _print_undecided(console, found, most)
        _print_omissions(console, found, most)

    app.report(document, text)


def _print_survey(console: "Console", found: Coverage, reference: str) -> None:
    if found.surveyed_by:
        console.print(f"surveyed by {', '.join(found.surveyed_by)}\n")
    else:
        stands = "stands in the log any more" if found.erased else "is recorded"
        console.print(f"No survey of this revision {stands}: how many of its passages make claims is not known.")
        console.print(f"Next: caveat claim propose {reference}\n")


def _print_erased(console: "Console", found: Coverage, untold: Sequence[str]) -> None:
    if found.erased:
        entries = ", ".join(str(one.seq) for one in found.erased)
        console.print(f"Erased, and so not counted: what was proposed or left out by {_count(len(found.erased), 'statement')} ({entries}).")
    if untold:
        verb = "rests" if len(untold) == 1 else "rest"
        names = ", ".join(untold[:_MOST]) + (f" and {len(untold) - _MOST} more" if len(untold) > _MOST else "")
        console.print(f"Erased, and so not counted: a statement that {_count(len(untold), 'claim')} {verb} on ({names}).")


def _print_table(console: "Console", found: Coverage) -> None:
    from registry.cli.output import build_table

    rows = [(_name(one, has_headings=found.has_headings), str(one.page or "–"), *_write(one.counts)) for one in found.sections]
    console.print(build_table(("section", "page", *_COLUMNS), [*rows, ("total", "", *_write(found.total))], numbers=("page", *_COLUMNS)))
    if found.silent_sections:
        console.print(
            f"{_count(found.silent_sections, 'section')} with none of it {'is' if found.silent_sections == 1 else 'are'} not listed."
        )


def _name(section: SectionCoverage, *, has_headings: bool) -> str:
    if not section.is_placed:
        return "(no place in this revision)"
    if section.title is not None:
        return section.title if len(section.title) <= _WIDEST else f"{section.title[: _WIDEST - 1]}…"
    return "(above the first heading)" if has_headings else f"(page {section.page or 1})"


def _write(counts: PassageCounts) -> tuple[str, ...]:
    numbers = (counts.proposed, counts.registered, counts.audited, counts.restricted, counts.left_out, counts.undecided)
    return tuple("?" if number is None else f"{number:,}" for number in numbers)


def _print_undecided(console: "Console", found: Coverage, most: int | None) -> None:
    if found.total.undecided is None:
        return
    if not found.undecided:
        console.print("\nEvery proposed passage is registered or left out; whether a person read each is not recorded.")
        return
    verb = "is" if len(found.undecided) == 1 else "are"
    console.print(f"\n{_count(len(found.undecided), 'proposed passage')} {verb} undecided: neither registered nor left out")
    for one in found.undecided[:most]:
        console.print(f"  {_locate(one.page, one.section)}: “{_shorten(one.readable or one.quote)}”")
    _print_rest(console, len(found.undecided), most)


def _print_omissions(console: "Console", found: Coverage, most: int | None) -> None:
    if not found.omissions:
        return
    verb = "was" if len(found.omissions) == 1 else "were"
    console.print(f"\n{_count(len(found.omissions), 'passage')} {verb} left out")
    for place, one in enumerate(found.omissions[:most]):
        said, words = one.payload, found.omitted[place] if found.omitted else one.payload.quote
        console.print(f"  {_locate(said.anchor.page, said.anchor.section)}: “{_shorten(words)}”")
        console.print(f"    {one.entry.actor}, {one.entry.at:%Y-%m-%d}: {said.reason}")
    _print_rest(console, len(found.omissions), most)


def _print_rest(console: "Console", total: int, most: int | None) -> None:
    if most is not None and total > most:
        console.print(f"  … and {total - most:,} more: --all")


def _locate(page: int | None, section: str | None) -> str:
    return ", ".join(part for part in (f"page {page}" if page else "", section or "") if part) or "above the first heading"


def _shorten(quote: str) -> str:
    from registry.cli.claim_text import shorten

    return shorten(quote)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
