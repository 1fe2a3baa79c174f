"""What the log recorded last of claims and cards, as Atom (RFC 4287) and JSON Feed 1.1."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from registry.report.quoted_text import show_text
from web.pages.addresses import Linker

_ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPES = {"feed.atom": "application/atom+xml; charset=utf-8", "feed.json": "application/feed+json"}
"""By the end of the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """One entry of the log, as a feed reports it."""

    seq: int
    at: datetime
    title: str
    text: str
    page: str
    """The address of the page that it belongs to."""


def _identify(origin: str, *parts: str) -> str:
    # From the log and not from the address: a site that moves does not report everything again.
    return uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(("caveat:web", origin, *parts))).urn


def _write_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _clean(text: str) -> str:
    # XML forbids most control characters, and hidden ones would mislead.
    return show_text(" ".join(text.split()))


def _write_link(link: Linker, address: str) -> str:
    return link.write_absolute(address) if link.settings.base else link(address)


def render_atom(items: Sequence[FeedItem], *, origin: str, title: str, link: Linker, page: str = "/", query: str = "") -> bytes:
    """Return an Atom feed of *items*, which come newest first.

    Args:
        page: what shows the same.
        query: of the feed's own address, with its question mark.
    """
    feed = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    for name, text in (("id", _identify(origin, title, query)), ("title", title), ("updated", _write_time(_find_moment(items)))):
        ET.SubElement(feed, name).text = _clean(text)
    ET.SubElement(feed, "link", {"rel": "self", "href": _write_link(link, f"{link.here}{query}"), "type": "application/atom+xml"})
    ET.SubElement(feed, "link", {"rel": "alternate", "href": _write_link(link, page), "type": "text/html"})
    ET.SubElement(ET.SubElement(feed, "author"), "name").text = _clean(origin)
    for item in items:
        entry = ET.SubElement(feed, "entry")
        texts = (("id", _identify(origin, str(item.seq))), ("title", item.title), ("updated", _write_time(item.at)), ("summary", item.text))
        for name, text in texts:
            ET.SubElement(entry, name).text = _clean(text)
        ET.SubElement(entry, "link", {"rel": "alternate", "href": _write_link(link, item.page), "type": "text/html"})
    ET.indent(feed)
    text_bytes: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return text_bytes + b"\n"


def render_json_feed(items: Sequence[FeedItem], *, origin: str, title: str, link: Linker, page: str = "/", query: str = "") -> bytes:
    """Return a JSON Feed of *items*, which come newest first; *page* and *query* as for `render_atom`."""
    own = f"{link.here}{query}"
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        **({"home_page_url": link.write_absolute(page), "feed_url": link.write_absolute(own)} if link.settings.base else {}),
        "language": "en",
        "items": [
            {
                "id": _identify(origin, str(item.seq)),
                "url": _write_link(link, item.page),
                "title": _clean(item.title),
                "content_text": _clean(item.text),
                "date_published": _write_time(item.at),
            }
            for item in items
        ],
    }
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def _find_moment(items: Sequence[FeedItem]) -> datetime:
    return max((item.at for item in items), default=datetime(1970, 1, 1, tzinfo=UTC))
