"""Feeds of the claims that pass a filter: of a model version, an authority, or a saved search."""

from registry.records.record import Kind
from registry.store.dossiers import IN_HISTORY, PARTS_IN_HISTORY, find_concerns
from registry.store.registry_view import View
from web.facets import ClaimFilter, ClaimSource
from web.pages.addresses import Linker
from web.pages.feeds import FeedItem, render_atom, render_json_feed
from web.pages.log_pages import LATEST, describe_news

MOST_CLAIMS = 1_000
"""Claims of a selection whose entries a feed looks through: those with the latest revisions."""


def render_selection_feed(
    view: View, claims: ClaimSource, wanted: ClaimFilter, link: Linker, *, title: str, page: str, query: str = ""
) -> bytes:
    """Return the latest entries about the claims that pass *wanted* now, as the feed with the address *link*.

    A claim that passes since its verdict changed comes with the entry that changed it.

    Args:
        page: the page that shows the selection.
        query: of the search, with its question mark; two searches have two feeds.
    """
    selected = [claim.claim for claim in claims.select(wanted, limit=MOST_CLAIMS).claims]
    named = _find_entries(view, selected)
    latest = sorted(named, reverse=True)[:LATEST]
    items = []
    for seq, recorded in sorted(view.find_recorded(latest).items(), reverse=True):
        # What was erased is no news: it is not among what is found.
        claim, entry = named[seq], recorded.entry
        head = f"{claim}: {entry.kind.replace('_', ' ')} by {entry.actor}"
        items.append(FeedItem(seq=seq, at=entry.at, title=head, text=describe_news(view, entry, recorded.payload), page=f"/{claim}/"))
    render_as = render_atom if link.here.endswith(".atom") else render_json_feed
    return render_as(items, origin=view.log_origin, title=f"Caveat: {title}", link=link, page=f"{page}{query}", query=query)


def _find_entries(view: View, claims: list[str]) -> dict[int, str]:
    """Return the entries about *claims*, each with the claim that it is about."""
    concerns = find_concerns(view, IN_HISTORY[Kind.CLAIM], claims) if claims else []
    named = {concern.seq: concern.name for concern in concerns}
    belonging = {concern.own: concern.name for concern in concerns if concern.own is not None}
    parts = find_concerns(view, PARTS_IN_HISTORY, belonging) if belonging else []
    return {**{concern.seq: belonging[concern.name] for concern in parts}, **named}
