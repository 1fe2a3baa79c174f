"""What all pages of a site have in common: head, links to the parts of the site, and foot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import render_linked_page
from web.pages.addresses import SEARCH, Linker
from web.pages.assets import find_style

PARTS = (
    ("/", "Registry"),
    ("/claims/", "Claims"),
    ("/cards/", "Cards"),
    ("/models/", "Models"),
    ("/authorities/", "Authorities"),
    ("/changes/", "Changes"),
    ("/status/", "Status"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link of a page."""

    text: str
    href: str
    is_code: bool = False
    """Whether the text is an identifier."""
    is_current: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedLink:
    """A feed that a page announces."""

    title: str
    href: str
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """What head and foot of a page say."""

    title: str
    description: str
    origin: str
    """Of the log."""
    state: str
    """Which state of the log the page shows, in a sentence."""
    style: str
    parts: tuple[PageLink, ...]
    feeds: tuple[FeedLink, ...] = ()
    sections: tuple[PageLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """What a page says of itself."""

    title: str
    origin: str
    state: str
    description: str = ""
    sections: Sequence[tuple[str, str]] = field(default=())
    """The parts of a long page: fragment and heading of each."""
    feed: str = "/"
    """What the feeds of the page begin with: those of the whole registry, or of a claim or card."""


def render(
    template: str, text: PageText, facts: Mapping[str, Any], link: Linker, *, supplement: Supplement | CardSupplement | None = None
) -> bytes:
    """Return the page that *template* makes of *facts*.

    Args:
        link: gives links as seen from the page.
        supplement: what the page shows, for templates that show one.
    """
    here = "/" + link.here.split("/")[1] + "/" if link.here.count("/") > 1 else link.here
    page = PageHead(
        title=text.title,
        description=text.description or text.title,
        origin=text.origin,
        state=text.state,
        style=link(find_style()),
        parts=tuple(
            PageLink(text=name, href=link(address), is_current=address == here)
            for address, name in (*PARTS, *([(SEARCH, "Search")] if link.settings.has_index else []))
        ),
        feeds=(
            FeedLink(title="Changes (Atom)", href=link(f"{text.feed}feed.atom"), media_type="application/atom+xml"),
            FeedLink(title="Changes (JSON Feed)", href=link(f"{text.feed}feed.json"), media_type="application/feed+json"),
        ),
        sections=tuple(PageLink(text=heading, href=f"#{fragment}") for fragment, heading in text.sections),
    )
    return render_linked_page(template, {"page": page, **facts}, find_link=link.find_subject, supplement=supplement)
