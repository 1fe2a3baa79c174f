"""The feed of a folder: Atom 1.0 (RFC 4287), an entry for each change report and each supplement that changed or came later. Pure.

Identifiers are UUIDs made of names (RFC 9562, section 5.5) from the log, the subject and the size of the log, so that the same thing has
the same one in every copy of the folder. Times are those of log entries.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from registry.records.statement import OutputFormat
from registry.regeneration import names
from registry.regeneration.folder_document import Folder, FolderFile, FolderItem, FolderReport, SupplementDigest
from registry.report.families import describe_outcome
from registry.report.visible import show_text
from registry.report.wording import get_words

MOST_ENTRIES = 1000
"""The newest stand in the feed; the page that lists the folder has all."""
_ATOM = "http://www.w3.org/2005/Atom"
_MEDIA_TYPES = {OutputFormat.PDF: "application/pdf", OutputFormat.HTML: "text/html", OutputFormat.JSON: "application/json"}
_ORDER = (OutputFormat.HTML, OutputFormat.PDF, OutputFormat.JSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """An entry of the feed."""

    name: str
    log_size: int
    updated: datetime
    title: str
    summary: str
    category: str | None
    files: tuple[FolderFile, ...]


def render_feed(folder: Folder) -> bytes:
    """Return `feed.xml` of *folder*; the same folder gives the same bytes."""
    news = sorted(_list_news(folder), key=lambda one: (one.updated, one.log_size, one.name), reverse=True)[:MOST_ENTRIES]
    feed = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    _add(feed, "id", _identify(folder.log_origin))
    _add(feed, "title", f"Caveat: supplements of {folder.log_origin}")
    _add(feed, "updated", _tell_time(max((one.updated for one in news), default=_find_moment(folder))))
    ET.SubElement(feed, "link", {"rel": "self", "href": names.FEED, "type": "application/atom+xml"})
    ET.SubElement(feed, "link", {"rel": "alternate", "href": names.INDEX, "type": "text/html"})
    _add(ET.SubElement(feed, "author"), "name", folder.log_origin or "a registry without a name")
    _add(feed, "generator", "Caveat")
    for one in news:
        _add_entry(feed, folder.log_origin, one)
    ET.indent(feed)
    text: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _list_news(folder: Folder) -> Iterator[News]:
    for report in folder.reports:
        yield _tell_report(report)
    for item in folder.items:
        if item.told is not None and (item.why or folder.began is None or item.log_size > folder.began):
            yield _tell_item(item, item.told)


def _tell_report(report: FolderReport) -> News:
    inverted = len(report.newly_inverted)
    claims = f"{report.changed:,} claim{'' if report.changed == 1 else 's'} changed"
    return News(
        name=report.name,
        log_size=report.log_size,
        updated=report.made_at,
        title=f"Change report: entries {report.since + 1:,} to {report.log_size:,}",
        summary=f"{claims}; newly inverted: {', '.join(report.newly_inverted[:20]) if inverted else 'none'}"
        f"{f' and {inverted - 20:,} more' if inverted > 20 else ''}.",
        category="change-report",
        files=report.files,
    )


def _tell_item(item: FolderItem, told: SupplementDigest) -> News:
    gravest = told.status.gravest if told.status else None
    verdict = describe_outcome(gravest) if gravest else "not audited"
    if told.claims is None:
        category, text = gravest.verdict.value if gravest else "unaudited", f"“{told.title}” ({told.model}): {verdict}"
    else:
        category, text = "card", f"{told.title}: {told.audited:,} of {told.claims:,} registered claims audited"
    why = f" Why: {item.why}." if item.why else " New."
    staleness = f", {get_words(told.status.staleness)}" if told.status else ""
    return News(
        name=item.name,
        log_size=item.log_size,
        updated=told.made_at,
        title=f"{item.name}: {text.partition('): ')[2] or text}" if told.claims is None else f"{item.name}: {text}",
        summary=f"{text}{staleness}.{why}",
        category=category,
        files=item.files,
    )


def _add_entry(feed: ET.Element, origin: str, news: News) -> None:
    entry = ET.SubElement(feed, "entry")
    _add(entry, "id", _identify(origin, news.name, str(news.log_size)))
    _add(entry, "title", news.title)
    _add(entry, "updated", _tell_time(news.updated))
    files = sorted(news.files, key=lambda one: _ORDER.index(one.format))
    for place, file in enumerate(files):
        about = {"rel": "related" if place else "alternate", "href": file.path, "type": _MEDIA_TYPES[file.format]}
        ET.SubElement(entry, "link", about)
    if news.category:
        ET.SubElement(entry, "category", {"term": news.category})
    _add(entry, "summary", news.summary)


def _add(parent: ET.Element, name: str, text: str) -> None:
    """Add an element with *text*, what is invisible or no character of XML written out."""
    ET.SubElement(parent, name).text = show_text(" ".join(text.split()))


def _identify(*parts: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, "caveat:" + "\n".join(parts)).urn


def _tell_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _find_moment(folder: Folder) -> datetime:
    return max((item.told.made_at for item in folder.items if item.told), default=datetime.fromtimestamp(0, tz=UTC))
