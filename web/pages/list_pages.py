"""Pages that list claims: the front page, all claims, and the claims with one value of a facet or that pass a search."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any

from registry.cli.claim_list_command import describe_listed_claim, list_claim_list_columns
from registry.present.listings import ListChoice, Listing, render_csv, update_csv
from registry.records.monitor import MonitorVerdict
from registry.records.verdict import ClaimClass, RestrictionStatus, VerdictStanding
from registry.registration.claim_search import ListedClaim, describe_alike
from registry.report.html_rendering import render_part
from registry.report.supplement_wording import format_verdict, get_words, name_model
from registry.store.claim_listing import ClaimSummary
from registry.store.registry_view import View
from web.api.claim_rows import ListedRow, read_rows
from web.facets import LABELS, NONE, ClaimFilter, ClaimSource, FacetValue, SelectedClaim, Selection, describe_value, write_query
from web.pages.addresses import SEARCH_SCRIPT, Linker, find_authority_page, find_list_page, find_subject_page
from web.pages.layout import PageLink, PageText, describe_state, render
from web.pages.security import SEARCH_POLICY

ROWS = 100
"""Claims on one page of a list."""
MOST_VALUES = 30
"""Values of one facet that a list shows."""
_MOST_PAGES = 10
_LATEST = 20
_MOST_KEPT = 10_000
"""Rows of tables that are kept: a kilobyte each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """A claim in a table of a page."""

    name: str
    """`CLM-…@n`."""
    href: str
    quote: str | None
    """None where its text was erased."""
    alike: str | None
    """Property and figure of a claim that is quoted as another of the table, such as a row of the same table of a card."""
    verdict: str | None
    """None without an audit."""
    class_: ClaimClass | None
    """None without an audit, and for a provisional outcome."""
    tone: str
    """The class by which the verdict is coloured."""
    model: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """An entry of the log in a table of a page."""

    seq: int
    at: datetime
    actor: str
    kind: str
    text: str | None
    """None where it was erased."""
    links: tuple[PageLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValue:
    """A value of a facet on a page."""

    text: str
    count: int
    href: str | None
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetList:
    """A facet on a page."""

    label: str
    values: tuple[ShownValue, ...]
    rest: int
    """How many values are not shown."""


def number_pages(count: int, *, of_value: bool = False) -> range:
    """Return the numbers of the pages that a list of *count* claims has; an empty list has one.

    Args:
        of_value: whether the list is that of one value of a facet: it has the latest claims only, since the list of all has every claim.
    """
    pages = max(1, ceil(count / ROWS))
    return range(1, (min(pages, _MOST_PAGES) if of_value else pages) + 1)


def build_rows(view: View, claims: Sequence[SelectedClaim], link: Linker) -> tuple[str, ...]:
    """Return the rows of a table of *claims*, as HTML; texts and status come from the registry."""
    read = {row.claim.claim: row for row in read_rows(view, [claim for claim in claims if claim.summary is None])}
    # Lists have most of their rows in common. What is kept goes when the log grows, since an entry may be an erasure.
    kept = view.once("claim_rows", dict[ClaimRow, str])
    if len(kept) > _MOST_KEPT:
        kept.clear()

    def show(row: ClaimRow) -> str:
        if row not in kept:
            kept[row] = render_part("claim_row.html.j2", row)
        return kept[row]

    shown = [claim.summary or read[claim.claim] for claim in claims]
    alike = describe_alike(view, [(claim.claim, row.quote) for claim, row in zip(claims, shown, strict=True)])
    return tuple(show(_build_row(claim, row, words, link)) for claim, row, words in zip(claims, shown, alike, strict=True))


def _build_row(claim: SelectedClaim, shown: ClaimSummary | ListedRow, alike: str | None, link: Linker) -> ClaimRow:
    status, gravest = shown.status, shown.status.gravest
    class_ = ClaimClass(claim.class_) if claim.class_ != NONE else None
    words = format_verdict(gravest.verdict, gravest.standing) if gravest else None
    axes = [get_words(status.lifecycle), get_words(status.dispute), get_words(status.staleness)]
    # Where nothing was audited, the verdict says so.
    axes += [] if status.restriction is RestrictionStatus.UNAUDITED else [get_words(status.restriction)]
    # What production contradicts is said where the list is read.
    axes += [describe_value("production", claim.production)] if claim.production == MonitorVerdict.VIOLATED.value else []
    name = f"{claim.claim}@{claim.revision}"
    return ClaimRow(
        name=name,
        href=link(f"/{name}/"),
        quote=shown.quote,
        alike=alike,
        verdict=words,
        # TRACE's class alone says more than "provisional": a list has no room for its standing.
        class_=None if gravest is not None and gravest.standing is VerdictStanding.PROVISIONAL else class_,
        tone=find_tone(words, class_),
        model=name_model(claim.model),
        status=", ".join(axes),
    )


def find_tone(words: str | None, class_: ClaimClass | None) -> str:
    """Return the class by which the verdict *words* is coloured."""
    # Red is for what is contradicted, and the class of a doubt or an observation is no sign of it.
    if words and words.startswith("observed"):
        return "undetermined"
    return "degraded" if words and words.startswith("in doubt") else class_.value if class_ else "undetermined"


def render_front(view: View, claims: ClaimSource, link: Linker) -> bytes:
    """Return the front page."""
    selection = claims.select(ClaimFilter(), limit=_LATEST)
    audited = selection.total - sum(value.count for value in selection.facets["verdict"] if value.value == "not_audited")
    cards = view.list_cards()
    counts = {"claims": selection.total, "cards": len(cards), "audited": audited}
    listed = [
        PageLink(text=f"{card.payload.title} ({card.payload.publisher})", href=link(f"/{card.payload.card}/"))
        for card in cards[-MOST_VALUES:]
    ]
    if len(cards) > len(listed):
        listed.append(PageLink(text=f"all {len(cards):,} cards", href=link("/cards/")))
    facts = {
        "counts": counts,
        "facets": [_show_facet(name, selection, link, {}) for name in ("verdict", "standing", "staleness", "dispute")],
        "rows": build_rows(view, selection.claims, link),
        "cards": listed,
        "form": {"action": link("/claims/")} if link.settings.has_search else None,
    }
    text = PageText(title="Claim registry", origin=view.log_origin, state=f"As of entry {view.log_size:,}.")
    return render("front.html.j2", text, facts, link)


def render_list(view: View, claims: ClaimSource, link: Linker, *, facet: str | None, value: str | None, number: int) -> bytes | None:
    """Return page *number* of all claims, or of those with one *value* of *facet*; None where there is no such page."""
    chosen = {} if facet is None or value is None else {facet: (value,)}
    selection = claims.select(ClaimFilter(chosen=chosen), skip=(number - 1) * ROWS, limit=ROWS)
    numbers = number_pages(selection.total, of_value=bool(chosen))
    if number not in numbers:
        return None
    pages = [
        PageLink(text=str(page), href=link(find_list_page(facet, value, page)), is_current=page == number)
        for page in numbers
        if page in (1, numbers[-1]) or abs(page - number) <= 4
    ]
    title = "Claims" if facet is None or value is None else f"Claims: {LABELS[facet]}, {describe_value(facet, value)}"
    first = (number - 1) * ROWS + 1
    return _render_selection(
        view, selection, link, title=title, first=first, pages=pages if len(pages) > 1 else [], wanted=ClaimFilter(chosen=chosen),
        is_cut=selection.total > len(numbers) * ROWS,
    )  # fmt: skip


def render_search(view: View, claims: ClaimSource, link: Linker, wanted: ClaimFilter, *, before: int | None, limit: int) -> bytes:
    """Return one page of the claims that pass *wanted*; the next page is linked by the entry that this one ends with."""
    selection = claims.select(wanted, before=before, limit=limit)
    pages = []
    if len(selection.claims) == limit:
        more = {} if limit == ROWS else {"limit": str(limit)}
        query = write_query(wanted, {**more, "as_of": str(view.log_size), "after": str(selection.claims[-1].seq)})
        pages.append(PageLink(text="Next page", href=link(f"/claims/?{query}")))
    title = "Search" if wanted.words or wanted.chosen else "Claims"
    return _render_selection(view, selection, link, title=title, first=1, pages=pages, wanted=wanted)


def render_index_search(view: View, link: Linker) -> bytes:
    """Return the search page of a site of files; its script finds claims in the index of the site."""
    facts = {
        "policy": SEARCH_POLICY.partition("; frame-ancestors")[0],
        "script": link(SEARCH_SCRIPT),
        "index": link("/pagefind/pagefind.js"),
        "root": "../",
        "lists": link("/claims/"),
    }
    return render("search.html.j2", PageText(title="Search", origin=view.log_origin, state=describe_state(view, link)), facts, link)


def render_spreadsheet(claims: Sequence[ListedClaim]) -> bytes:
    """Return *claims* as CSV for a spreadsheet, with the columns of `caveat claim list`."""
    return render_csv(_list_claims(claims), ListChoice())


def update_spreadsheet(before: bytes, claims: Sequence[ListedClaim], changed: Collection[str]) -> bytes | None:
    """Return the spreadsheet *before* of all claims, with *claims* in place of those of *changed*, `CLM-…`; None where it is none."""
    return update_csv(before, _list_claims(claims), "claim", lambda name: name.partition("@")[0] in changed)


def _list_claims(claims: Sequence[ListedClaim]) -> Listing[ListedClaim]:
    return Listing(
        document={}, field="claims", rows=claims, describe=describe_listed_claim, columns=list_claim_list_columns(), none="No claims."
    )


def _render_selection(
    view: View, selection: Selection, link: Linker, *, title: str, first: int, pages: Iterable[PageLink], wanted: ClaimFilter,
    is_cut: bool = False,
) -> bytes:  # fmt: skip
    rows = build_rows(view, selection.claims, link)
    is_live = link.settings.has_search
    chosen = [
        PageLink(
            text=f"{LABELS[facet]}: {describe_value(facet, value)}",
            href=link(_remove(wanted, facet, value)) if is_live else link("/claims/"),
        )
        for facet in LABELS
        for value in wanted.chosen.get(facet, ())
    ]
    facts: dict[str, Any] = {
        "total": selection.total,
        "first": first,
        "last": first + len(rows) - 1,
        "rows": rows,
        "caption": "The latest revision first; quotations are shortened",
        "pages": tuple(pages),
        "chosen": chosen,
        # Facets count the whole list, so its first page shows them.
        "facets": [_show_facet(name, selection, link, wanted.chosen, words=wanted.words) for name in LABELS] if first == 1 else [],
        "all": link("/claims/") if is_cut else None,
        "form": None,
        "spreadsheet": None,
    }
    if is_live or not wanted.chosen:
        query = write_query(wanted)
        facts["spreadsheet"] = link(f"/claims.csv?{query}" if query else "/claims.csv")
    if is_live:
        kept = [{"name": facet, "value": value} for facet in LABELS for value in wanted.chosen.get(facet, ())]
        facts["form"] = {"action": link("/claims/"), "words": wanted.words, "kept": kept}
    # Only a server has feeds of searches.
    query = write_query(wanted) if is_live else ""
    text = PageText(
        title=title, origin=view.log_origin, state=describe_state(view, link), feed="/claims/", query=f"?{query}" if query else ""
    )
    return render("claims.html.j2", text, facts, link)


def _remove(wanted: ClaimFilter, facet: str, value: str) -> str:
    left = {**wanted.chosen, facet: tuple(one for one in wanted.chosen.get(facet, ()) if one != value)}
    query = write_query(ClaimFilter(chosen=left, words=wanted.words))
    return f"/claims/?{query}" if query else "/claims/"


def _show_facet(name: str, selection: Selection, link: Linker, chosen: Mapping[str, tuple[str, ...]], *, words: str = "") -> FacetList:
    shown, rest = selection.facets.list_most(name, MOST_VALUES)
    return FacetList(
        label=LABELS[name],
        values=tuple(
            ShownValue(text=value.label, count=value.count, href=_find_href(value, link, chosen, words), is_chosen=value.is_chosen)
            for value in shown
        ),
        rest=rest,
    )


def _find_href(value: FacetValue, link: Linker, chosen: Mapping[str, tuple[str, ...]], words: str) -> str | None:
    """Return where a value of a facet leads: to a narrower search on a server, to a page of its own in a folder of files."""
    if link.settings.has_search:
        added = {**chosen, value.facet: (*chosen.get(value.facet, ()), value.value)}
        return None if value.is_chosen else link(f"/claims/?{write_query(ClaimFilter(chosen=added, words=words))}")
    match value.facet:
        case "card":
            page = find_subject_page(value.value)
            return None if page is None else link(page)
        case "authority":
            return link(find_authority_page(value.value))
        case "model" | "version":
            # A name is that of a model only with its developer.
            return link("/models/")
        case _:
            return link(find_list_page(value.facet, value.value))
