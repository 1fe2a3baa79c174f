"""What all pages of a site have in common: head, links to the parts of the site, and foot."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.present.blocks import Block
from registry.present.html_fragment import render_fragment
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import render_linked_page
from registry.store.registry_view import View
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
    """What the feeds of the page begin with: those of the whole registry, or of a claim, card, model or authority."""
    query: str = ""
    """Of the feeds: that of a search, with its question mark."""
    names: frozenset[str] = frozenset()
    """Audits, objections and definitions that the page names and that have pages: the names lead there."""


def describe_state(view: View, link: Linker) -> str:
    """Return as of which entry a list is: by the page that names it, which is next to the list, also below `/as-of/117/`.

    With the number on it, each list would change with every entry of the log, also with those that have nothing to do with it.
    """
    if link.settings.as_of is None:
        return "As of the entry that the page Status names."
    return f"As of entry {view.log_size:,}."


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
            FeedLink(title="Changes (Atom)", href=link(f"{text.feed}feed.atom{text.query}"), media_type="application/atom+xml"),
            FeedLink(title="Changes (JSON Feed)", href=link(f"{text.feed}feed.json{text.query}"), media_type="application/feed+json"),
        ),
        sections=tuple(PageLink(text=heading, href=f"#{fragment}") for fragment, heading in text.sections),
    )

    def find_link(name: str) -> str | None:
        return link(f"/{name}/") if name in text.names else link.find_subject(name)

    return render_linked_page(template, {"page": page, **facts}, find_link=find_link, supplement=supplement)


_NAME = re.compile(r"(?:CLM|CRD|AUD|CON|CTX|PRP|SCF|CUE|MTH)-[A-Z0-9]+-\d{4}-\d+-[0-9A-Z](?:@[1-9]\d*)?")
_TAG = re.compile(r"(<[^>]*>)")
# Comparisons in a terminal have signs for what was removed and added; pages have elements, as those of supplements.
_REMOVED = re.compile(r"(?<!\\)\[-(.+?)-\]", re.DOTALL)
_DELETED = r'<span class="mark">[removed:</span> <del>\1</del><span class="mark">]</span> '
_ADDED = re.compile(r"(?<!\\)\{\+(.+?)\+\}", re.DOTALL)
_INSERTED = r'<span class="mark">[added:</span> <ins>\1</ins><span class="mark">]</span>'
_BROKEN = re.compile(r"&[^;]{0,8}$")


LONGEST = 5_000
"""Characters of one text in a block that a page shows."""


def show_blocks(
    blocks: Iterable[Block], *, find: Callable[[str], str | None] = lambda _name: None, level: int = 1, whole: str | None = None
) -> str:
    """Return *blocks* as HTML in which names lead to their pages, and long texts are cut.

    Args:
        find: returns the link to what has this name; None for a name without a page.
        level: of the headings.
        whole: where the whole of a text that is cut can be read; None where there is no such page.
    """
    fragment = render_fragment(blocks, level=level)

    def replace_name(name: re.Match[str]) -> str:
        address = find(name[0])
        return name[0] if address is None else f'<a class="mono small" href="{address}">{name[0]}</a>'

    def show_text(text: str) -> str:
        if len(text) <= LONGEST:
            return _ADDED.sub(_INSERTED, _REMOVED.sub(_DELETED, _NAME.sub(replace_name, text)))
        # An escaped character is not cut in two.
        begin = _BROKEN.sub("", text[:LONGEST])
        rest = f'<a href="{whole}">the whole text</a>' if whole else "shortened"
        return f"{begin}… ({rest})"

    # Text outside of tags only; a fragment has no link of its own, and an address that we write has nothing to escape.
    parts = _TAG.split(str(fragment))
    return type(fragment)("".join(part if part.startswith("<") else show_text(part) for part in parts))
