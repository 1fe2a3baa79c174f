"""`caveat card`: documents, their revisions, and how many of their claims are registered."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from registry.cli.application import ALL_LOGS, CARD, App, as_of_option, examples, logs_option, pass_app, reason_option
from registry.cli.list_options import ListOutput, list_options
from registry.cli.main import LazyGroup
from registry.errors import Fault, InputError
from registry.present.blocks import Block, Table, Title
from registry.records.claim_status import Dispute
from registry.records.record import Identifier
from registry.records.supplement import Coverage, PassageCounts, SectionCoverage
from registry.records.system_card import Card

if TYPE_CHECKING:
    from registry.present.listings import Column
    from registry.records.system_card import CardText, PassageMatch
    from registry.registration.card_registration import CardNote
    from registry.registration.passage_matching import ComparedText, Followers, RevisionComparison

# `caveat card`: documents and their revisions.


@click.group(cls=LazyGroup, entry_points="caveat.commands.card")
def card() -> None:
    """Register system cards, list and compare them."""


@examples("card add card.pdf --publisher Lab", 'card add card-2.pdf --publisher Lab --revises CRD-LAB-2026-0001-J -m "Table 3 corrected"')
@card.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--title", help="Title of the card; default: that of the revision before, or the name of the file.")
@click.option("--publisher", required=True, help="Who published it.")
@click.option("--published", type=click.DateTime(["%Y-%m-%d"]), help="Date of publication.")
@click.option("--url", help="Where it was published.")
@click.option("--revises", type=CARD, help="The registered card of which this file is a new revision.")
@reason_option("Why there is a new revision.", required=False)
@click.option("--unlike", is_flag=True, help="It is a revision though hardly a passage of the one before is in it.")
@pass_app
def add(
    app: App, /, *, file: Path, publisher: str, published: datetime | None, revises: Identifier | None, unlike: bool, **words: str | None
) -> None:
    """Register a system card with its digest and text.

    FILE is a PDF, HTML, Markdown or plain text. The same file again changes nothing. For a new revision (--revises) Caveat records
    where the claims of the card occur in it; see caveat card diff.
    """
    from registry.intake.card_reader import read_card
    from registry.registration.card_registration import CardNote, register_card
    from registry.registration.passage_matching import match_claims

    # Reading comes first and holds no transaction: it runs in a child process and can take seconds.
    text = read_card(file)
    note = CardNote(
        title=words["title"],
        file_name=file.stem,
        publisher=publisher,
        revises=revises.bare if revises else None,
        published=published.date() if published else None,
        url=words["url"],
        why=words["reason"],
    )
    # Matching is computed before the transaction, for the same reason.
    followers = _align(app, note, text, unlike=unlike)
    with app.ledger.write(actor=app.config.authority) as writer:
        registered, is_new = register_card(writer, text, note, authority=app.config.authority)
        # Matches are recorded with the revision, or not at all.
        passage_matches = match_claims(writer, registered, followers) if is_new and followers else ()
    for warning in text.warnings:
        app.say(f"warning: {warning}")
    document = {"schema": "caveat/card-add/1", "new": is_new, "card": _summarise(registered), "warnings": list(text.warnings)}

    def tell() -> Iterator[Block]:
        yield (
            f"{'Registered' if is_new else 'Registered already, nothing changed:'} {registered.card}@{registered.revision}  "
            f"{_count_pages(registered)}, {len(text.text):,} characters, sha256 {registered.document[:16]}…"
        )
        yield from _describe_passage_matches(registered, passage_matches)

    app.answer({**document, "passage_matches": [_summarise_passage_match(passage_match) for passage_match in passage_matches]}, tell())


def _align(app: App, note: "CardNote", text: "CardText", *, unlike: bool) -> "Followers | None":
    """Return the revisions that claims quote, aligned with *text*; None where that is no new revision, or will be refused.

    Unless it may be *unlike*, a file that can hardly be a revision is refused here, before anything is written.
    """
    from registry.registration.card_registration import check_alike
    from registry.registration.passage_matching import open_followers

    # Without a reason the registration will be refused, so nothing is computed.
    if note.revises is None or not note.why:
        return None
    with app.ledger.view() as view:
        # The file is registered already, so there is no new revision.
        if view.find_card_by_document(text.sha256):
            return None
        # A revision cannot be taken back, so a file that is hardly one is refused first: below 20 %
        # of five-word runs in common (Broder 1997; decision of 2026-11-22).
        if not unlike:
            check_alike(view, text, note)
        return open_followers(view, note.revises, text)


def _describe_passage_matches(card: Card, passage_matches: "Sequence[PassageMatch]") -> Iterator[Block]:
    from collections import Counter

    from registry.cli.card_comparison_presenter import describe_match_results

    if passage_matches:
        respelled = sum(bool(passage_match.differs) for passage_match in passage_matches)
        counts = Counter(passage_match.match_result for passage_match in passage_matches)
        yield f"Of {len(passage_matches)} claims {describe_match_results(counts, respelled)}."
        yield f"Next: caveat card diff {card.card}"


def _summarise_passage_match(passage_match: "PassageMatch") -> dict[str, Any]:
    return {
        "claim": passage_match.claim,
        "match": passage_match.match_result.value,
        "alarm": passage_match.is_alarm,
        "differs": list(passage_match.differs),
    }


@examples("card list", "card list --sort published --reverse", "card list --columns card,document --csv > cards.csv")
@card.command("list")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput) -> None:
    """List the registered cards, in their latest revision.

    Columns: log, card, title, publisher, published, pages, url, document.
    """
    from registry.present.listings import Column, Listing

    rows = [(log, recorded.payload) for log, view in app.views() for recorded in view.list_cards()]
    columns: tuple[Column[tuple[str, Card]], ...] = (
        Column(name="log", read=lambda row: row[0], is_shown=app.log == ALL_LOGS),
        Column(name="card", read=lambda row: f"{row[1].card}@{row[1].revision}"),
        Column(name="title", read=lambda row: row[1].title),
        Column(name="publisher", read=lambda row: row[1].publisher),
        Column(name="published", read=lambda row: row[1].published),
        Column(name="pages", read=lambda row: len(row[1].pages), is_number=True),
        Column(name="url", read=lambda row: row[1].url, is_shown=False),
        Column(name="document", read=lambda row: row[1].document, is_shown=False),
    )
    none = "No cards are registered. Next: caveat card add FILE"
    listing = Listing(
        document={"schema": "caveat/cards/1"}, field="cards", rows=rows, describe=lambda row: {"log": row[0], **_summarise(row[1])},
        columns=columns, none=none,
    )  # fmt: skip
    output.report(listing)


@examples("card show CRD-LAB-2026-0001-J", "card show CRD-LAB-2026-0001-J --page 3")
@card.command()
@click.argument("card_id", type=CARD)
@click.option("--page", type=click.IntRange(1), help="Show the text of one page.")
@as_of_option
@pass_app
def show(app: App, *, card_id: Identifier, page: int | None) -> None:
    """Show a card and its claims, or the text of one page."""
    from registry.cli.claim_presenter import build_claim_table
    from registry.codec.canonical_documents import to_document
    from registry.registration.card_registration import get_card, get_card_text
    from registry.registration.claim_search import describe_alike

    with app.view() as view:
        card = get_card(view, card_id.bare, card_id.revision)
        if page is not None:
            _show_page(app, card, get_card_text(view, card).text, page)
            return
        claims = list(view.list_claims(card=card.card))
        alike = describe_alike(view, [(claim.claim, claim.quote) for claim in claims])
    document = {"schema": "caveat/card/1", "card": _summarise(card), "claims": [to_document(claim) for claim in claims]}

    def text() -> Iterator[Block]:

        yield f"{card.card}@{card.revision}  {card.title} ({card.publisher}, {card.published or 'no date'})"
        yield f"{card.media_type.value}, {card.size_bytes:,} bytes, {_count_pages(card)}, sha256 {card.document}"
        agreement = "no second opinion" if card.agreement is None else f"{card.second_extractor} agrees on {card.agreement:.1%} of words"
        yield f"read by {card.extractor}; {agreement}\n"
        yield build_claim_table(claims, alike=alike) if claims else "No claims of it are registered. Next: caveat claim add claims.yaml"

    app.answer(document, text())


def _show_page(app: App, card: Card, text: str, number: int) -> None:
    from registry.errors import Fault, NotFoundError

    page = next((candidate for candidate in card.pages if candidate.number == number), None)
    if page is None:
        last = card.pages[-1].number
        raise NotFoundError(Fault("page-not-found", f"--page {number}", f"{card.card} has pages 1 to {last}"))
    passage = text[page.start : page.stop]
    document = {"schema": "caveat/page/1", "card": card.card, "revision": card.revision, "page": number, "text": passage}
    app.answer(document, passage)


def _count_pages(card: Card) -> str:
    """Return `1 page`, `39 pages`."""
    return "1 page" if len(card.pages) == 1 else f"{len(card.pages)} pages"


def _summarise(card: Card) -> dict[str, Any]:
    from registry.codec.canonical_documents import to_document

    document = to_document(card)
    # Pages and headings are long, and of use to programs that read the text only.
    return {**{key: value for key, value in document.items() if key not in ("pages", "headings")}, "pages": len(card.pages)}


# `caveat card diff`: a card's claims in another revision of it.

_PREFIX = "CRD-"


@examples("card diff CRD-LAB-2026-0001-J", "card diff CRD-LAB-2026-0001-J card-3.pdf", "card diff card-2.pdf card-3.pdf")
@click.command()
@click.argument("old", metavar="CARD|FILE")
@click.argument("newer", metavar="[CARD|FILE]", required=False)
@click.option("--from", "before", type=click.IntRange(1), help="Revision to compare from; default: the one before.")
@click.option("--to", "after", type=click.IntRange(1), help="Revision to compare to; default: the latest.")
@click.option("--claims", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A claims file; its quotes are followed too.")
@click.option("--record", is_flag=True, help="Record what was found of claims that were registered after the newer revision.")
@click.option("--all", "whole", is_flag=True, help="List every change without a claim, not only the first 20 of each kind.")
@as_of_option
@pass_app
def diff(app: App, /, *, old: str, newer: str | None, record: bool, whole: bool, claims: Path | None, **revisions: int | None) -> None:
    """Match the claims of a card in another revision.

    With one CARD: its latest revision (or --to, or CRD-…@n) against the one before it (or --from). With two, the first is the older.
    Each is CRD-…@n or a file, which need not be registered.
    """
    from registry.cli.card_comparison_presenter import present_comparison, summarise_comparison

    if newer is not None and (revisions["before"] or revisions["after"]):
        raise click.UsageError("--from and --to choose revisions of one card; with two, write CRD-…@n for each.")
    # Recording another log's matches, or as of the past, is impossible.
    if record and (app.as_of or app.log):
        raise click.UsageError("--record writes now, into this registry's own log; --as-of and --log read another.")
    comparison = _compare(app, old, newer, claims, **revisions)
    recorded = _record(app, comparison) if record else None
    document = {"schema": "caveat/card-diff/1", "recorded": recorded, **summarise_comparison(comparison)}

    def text() -> Iterator[Block]:
        yield from present_comparison(comparison, whole=whole)
        if recorded is not None:
            yield f"\nRecorded {recorded} of {len(comparison.passages)}; the others were recorded before." if comparison.passages else ""

    app.answer(document, text())


def _compare(app: App, old: str, newer: str | None, claims: Path | None, *, before: int | None, after: int | None) -> "RevisionComparison":
    from registry.registration.passage_matching import compare_sides, open_pair

    quotes = _read_quotes(claims) if claims else []
    # Two files need no registry at all.
    if newer is not None and not (_is_card(old) or _is_card(newer)):
        return compare_sides(None, _read_file(old), _read_file(newer), quotes=quotes)
    with app.view() as view:
        if newer is None:
            if not _is_card(old):
                # A file that does not exist has its own error, which comes first.
                _read_file(old)
                raise click.UsageError(f"{old} is a file; name the file it is compared with, or a registered card (CRD-…).")
            first, second = open_pair(view, old, old=before, new=after)
        else:
            first, second = (_open(view, name) for name in (old, newer))
        return compare_sides(view, first, second, quotes=quotes)


def _is_card(name: str) -> bool:
    # A file may be called like a card.
    return name.upper().startswith(_PREFIX) and not Path(name).is_file()


def _open(view: Any, name: str) -> "ComparedText":
    from registry.registration.passage_matching import open_side

    return open_side(view, name) if _is_card(name) else _read_file(name)


def _read_file(name: str) -> "ComparedText":
    from registry.registration.passage_matching import read_side

    if not Path(name).is_file():
        problem = "is neither a file nor an identifier of a card (CRD-…)"
        raise InputError(Fault("not-valid", name, problem, advice="name a registered card (caveat card list) or a file"))
    return read_side(Path(name))


def _read_quotes(path: Path) -> list[tuple[str, str]]:
    """Return the word-for-word quotes of a claims file, each with its place in the file."""
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.claim import QuoteStatus
    from registry.records.claim_draft import ClaimsFile

    file = from_document(ClaimsFile, read_document(path), where=str(path))
    drafts = enumerate(file.claims)
    # Paraphrases have no passage to follow.
    return [(f"{path}, claims[{at}].quote", draft.quote) for at, draft in drafts if draft.quote_status is QuoteStatus.VERBATIM]


def _record(app: App, revision_comparison: "RevisionComparison") -> int:
    from registry.registration.passage_matching import record_passage_matches

    sighted = [passage.sighted for passage in revision_comparison.passages if passage.sighted is not None]
    cards = {side.card.card if side.card else side.name for side in (revision_comparison.old, revision_comparison.new)}
    # A match belongs to a registered claim and a registered revision of its card.
    if revision_comparison.old.card is None or len(cards) > 1 or len(sighted) < len(revision_comparison.passages):
        what = "only match results of claims of a registered card in another registered revision are recorded"
        raise InputError(Fault("nothing-to-record", "--record", what))
    with app.ledger.write(actor=app.config.authority) as writer:
        return record_passage_matches(writer, sighted)


# `caveat card coverage`: how far the claims of a card are known.

_MOST = 20
"""Passages that are listed without `--all`."""
_COLUMNS = ("proposed", "registered", "audited", "restricted", "excluded", "unreviewed")
_WIDEST = 27


@examples(
    "card coverage CRD-LAB-2026-0001-J",
    "card coverage CRD-LAB-2026-0001-J --all",
    "card coverage CRD-LAB-2026-0001-J --sort unreviewed --reverse",
)
@click.command()
@click.argument("card_id", type=CARD)
@click.option("--all", "whole", is_flag=True, help="List all unreviewed and all excluded passages, not only the first 20.")
@as_of_option
@pass_app
@list_options
def coverage(app: App, /, *, output: ListOutput, card_id: Identifier, whole: bool) -> None:
    """Count the passages of a card by their status.

    By section: proposed, excluded and unreviewed passages; registered, audited and restricted claim families. A proposed passage is
    unreviewed if it shares no character with a registered or excluded one. Columns: section, page, proposed, registered, audited,
    restricted, excluded, unreviewed.
    """
    from registry.codec.canonical_documents import to_document
    from registry.folder.supplement_publishing import collect_coverage
    from registry.present.listings import Listing

    with app.view() as view:
        recorded, card_coverage, uncounted = collect_coverage(view, card_id)
        size = view.log_size
        disputed = [claim for claim in view.list_claims(card=card_id.bare) if claim.status.dispute is not Dispute.UNDISPUTED]
    card = recorded.payload
    reference = f"{card.card}@{card.revision}"
    document = {"schema": "caveat/coverage/1", "log_size": size, "card": reference, "title": card.title, **to_document(card_coverage)}
    document["not_counted"] = list(uncounted)
    document["disputed"] = [
        {"claim": f"{summary.claim}@{summary.revision}", "dispute": summary.status.dispute.value} for summary in disputed
    ]

    def text() -> Iterator[Block]:
        yield Title(f"{reference}  {card.title} ({card.publisher})")
        yield from _present_survey(card_coverage, reference)
        yield from _present_erased(card_coverage, uncounted)
        yield from _present_table(card_coverage)
        if disputed:
            names = ", ".join(f"{summary.claim} ({summary.status.dispute.value})" for summary in disputed[:_MOST])
            more = f" and {len(disputed) - _MOST} more" if len(disputed) > _MOST else ""
            yield f"contested: {_count(len(disputed), 'claim')}: {names}{more}"
        most = None if whole else _MOST
        yield from _present_unreviewed(card_coverage, most)
        yield from _present_omissions(card_coverage, most)

    if not card_coverage.sections and not output.is_for_programs:
        app.answer(document, text())
        return
    document.pop("sections")
    listing = Listing(
        document=document, field="sections", rows=card_coverage.sections, describe=to_document,
        columns=_list_section_columns(card_coverage), none="No sections.", present=None if output.is_arranged else lambda _: text(),
    )  # fmt: skip
    output.report(listing)


def _list_section_columns(card_coverage: Coverage) -> "tuple[Column[SectionCoverage], ...]":
    from registry.present.listings import Column

    def count(name: str) -> Column[SectionCoverage]:
        def read(section: SectionCoverage) -> int | None:
            return cast("int | None", getattr(section.counts, name))

        return Column(name=name, read=read, show=lambda section: _write_number(read(section)), is_number=True)

    return (
        Column(name="section", read=lambda section: _name(section, has_headings=card_coverage.has_headings, widest=None)),
        Column(name="page", read=lambda section: section.page, is_number=True),
        *map(count, _COLUMNS),
    )


def _present_survey(coverage: Coverage, reference: str) -> Iterator[Block]:
    # Without a survey nothing is known of the unreviewed passages, and the next step is to make
    # one.
    if coverage.surveyed_by:
        yield f"surveyed by {', '.join(coverage.surveyed_by)}\n"
    else:
        stands = "is in the log any more" if coverage.erased else "is recorded"
        yield f"No survey of this revision {stands}: how many of its passages make claims is not known."
        yield f"Next: caveat claim propose {reference}\n"


def _present_erased(coverage: Coverage, uncounted: Sequence[str]) -> Iterator[Block]:
    # Counts without erased statements would be taken for complete.
    if coverage.erased:
        entries = ", ".join(str(entry.seq) for entry in coverage.erased)
        yield f"Erased, and so not counted: passages proposed or excluded by {_count(len(coverage.erased), 'statement')} ({entries})."
    if uncounted:
        verb = "rests" if len(uncounted) == 1 else "rest"
        names = ", ".join(uncounted[:_MOST]) + (f" and {len(uncounted) - _MOST} more" if len(uncounted) > _MOST else "")
        yield f"Erased, and so not counted: a statement that {_count(len(uncounted), 'claim')} {verb} on ({names})."


def _present_table(coverage: Coverage) -> Iterator[Block]:
    rows = [
        (_name(section, has_headings=coverage.has_headings), str(section.page or "–"), *_write(section.counts))
        for section in coverage.sections
    ]
    yield Table(
        ("section", "page", *_COLUMNS),
        [*rows, ("total", "", *_write(coverage.total))],
        numbers=("page", *_COLUMNS),
        spare=("audited", "restricted"),
    )
    yield "Proposed, excluded and unreviewed are counted in passages; registered, audited and restricted in claims."
    if coverage.silent_sections:
        verb = "is" if coverage.silent_sections == 1 else "are"
        yield f"{_count(coverage.silent_sections, 'section')} with none of it {verb} not listed."


def _name(section: SectionCoverage, *, has_headings: bool, widest: int | None = _WIDEST) -> str:
    if not section.is_placed:
        return "(no place in this revision)"
    if section.title is not None:
        return section.title if widest is None or len(section.title) <= widest else f"{section.title[: widest - 1]}…"
    return "(above the first heading)" if has_headings else f"(page {section.page or 1})"


def _write(counts: PassageCounts) -> tuple[str, ...]:
    numbers = (counts.proposed, counts.registered, counts.audited, counts.restricted, counts.excluded, counts.unreviewed)
    return tuple(map(_write_number, numbers))


def _write_number(number: int | None) -> str:
    # An unknown number is no zero.
    return "?" if number is None else f"{number:,}"


def _present_unreviewed(coverage: Coverage, most: int | None) -> Iterator[Block]:
    # Unknown without a survey; said above.
    if coverage.total.unreviewed is None:
        return
    if not coverage.unreviewed:
        # Registered or left out does not mean read.
        yield "\nEvery proposed passage is registered or excluded; whether a person read each is not recorded."
        return
    verb = "is" if len(coverage.unreviewed) == 1 else "are"
    yield f"\n{_count(len(coverage.unreviewed), 'proposed passage')} {verb} unreviewed: neither registered nor excluded"
    for passage in coverage.unreviewed[:most]:
        yield f"  {_locate(passage.page, passage.section)}: “{_shorten(passage.readable or passage.quote)}”"
    yield from _present_rest(len(coverage.unreviewed), most)


def _present_omissions(coverage: Coverage, most: int | None) -> Iterator[Block]:
    if not coverage.omissions:
        return
    verb = "was" if len(coverage.omissions) == 1 else "were"
    yield f"\n{_count(len(coverage.omissions), 'passage')} {verb} excluded"
    for place, omission in enumerate(coverage.omissions[:most]):
        passage, words = omission.payload, coverage.omitted[place] if coverage.omitted else omission.payload.quote
        yield f"  {_locate(passage.anchor.page, passage.anchor.section)}: “{_shorten(words)}”"
        yield f"    {omission.entry.actor}, {omission.entry.at:%Y-%m-%d}: {passage.reason}"
    yield from _present_rest(len(coverage.omissions), most)


def _present_rest(total: int, most: int | None) -> Iterator[Block]:
    if most is not None and total > most:
        yield f"  … and {total - most:,} more: --all"


def _locate(page: int | None, section: str | None) -> str:
    return ", ".join(part for part in (f"page {page}" if page else "", section or "") if part) or "above the first heading"


def _shorten(quote: str) -> str:
    from registry.cli.claim_presenter import shorten

    return shorten(quote)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
