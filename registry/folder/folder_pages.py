"""The pages of a folder: the list of supplements and the Atom feed (RFC 4287)."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from registry.folder import folder_manifest as names
from registry.folder.folder_document import Folder, FolderFile, FolderItem, FolderReport, SupplementDigest
from registry.folder.folder_plan import order_names
from registry.records.claim_status import Dispute, Lifecycle, Staleness
from registry.records.record import Kind
from registry.records.statement import OutputFormat
from registry.report.card_coverage import count_results
from registry.report.claim_outcome import describe_outcome
from registry.report.html_rendering import render_page
from registry.report.quoted_text import show_text
from registry.report.supplement_wording import get_words

# The feed: Atom 1.0 (RFC 4287).
#
# List and feed are made from the manifest alone. Entries are named by UUIDs (RFC 9562, section 5.5)
# from log, subject and size of the log, so that the same thing has the same name in every copy; a
# `tag:` address would claim a domain (decision of 2026-11-22). Times are those of log entries.

MOST_ENTRIES = 1000
"""The newest stand in the feed; the page that lists the folder has all."""
_ATOM = "http://www.w3.org/2005/Atom"
_MEDIA_TYPES = {OutputFormat.PDF: "application/pdf", OutputFormat.HTML: "text/html", OutputFormat.JSON: "application/json"}
# HTML first: a feed reader opens the first link.
_ORDER = (OutputFormat.HTML, OutputFormat.PDF, OutputFormat.JSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
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
    # Newest first; ties are broken, so that the same folder gives the same bytes.
    news = sorted(_list_news(folder), key=lambda entry: (entry.updated, entry.log_size, entry.name), reverse=True)[:MOST_ENTRIES]
    feed = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    _add(feed, "id", _identify(folder.log_origin))
    _add(feed, "title", f"Caveat: supplements of {folder.log_origin}")
    _add(feed, "updated", _describe_time(max((new.updated for new in news), default=_find_moment(folder))))
    ET.SubElement(feed, "link", {"rel": "self", "href": names.FEED, "type": "application/atom+xml"})
    ET.SubElement(feed, "link", {"rel": "alternate", "href": names.INDEX, "type": "text/html"})
    _add(ET.SubElement(feed, "author"), "name", folder.log_origin or "a registry without a name")
    _add(feed, "generator", "Caveat")
    for new in news:
        _add_entry(feed, folder.log_origin, new)
    ET.indent(feed)
    text: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _list_news(folder: Folder) -> Iterator[FeedEntry]:
    for report in folder.reports:
        yield _describe_report(report)
    for item in folder.items:
        # Only what changed or came after the first rendering: the whole registry at once is no
        # news.
        if item.why or item.log_size > folder.began:
            yield _describe_item(item)


def _describe_report(report: FolderReport) -> FeedEntry:
    inverted = len(report.newly_inverted)
    claims = f"{report.changed:,} claim{'' if report.changed == 1 else 's'} changed"
    return FeedEntry(
        name=report.name,
        log_size=report.log_size,
        updated=report.made_at,
        title=f"Change report: entries {report.since + 1:,} to {report.log_size:,}",
        summary=f"{claims}; newly inverted: {', '.join(report.newly_inverted[:20]) if inverted else 'none'}"
        f"{f' and {inverted - 20:,} more' if inverted > 20 else ''}.",
        category="change-report",
        files=report.files,
    )


def _describe_item(item: FolderItem) -> FeedEntry:
    supplement_digest = item.summary
    gravest = supplement_digest.status.gravest if supplement_digest.status else None
    # An unaudited claim says so; it must not look like one without news.
    verdict = describe_outcome(gravest) if gravest else "not audited"
    if supplement_digest.claims is None:
        category, text = (
            gravest.verdict.value if gravest else "unaudited",
            f"“{supplement_digest.title}” ({supplement_digest.model}): {verdict}",
        )
    else:
        category, text = (
            "card",
            f"{supplement_digest.title}: {supplement_digest.audited:,} of {supplement_digest.claims:,} registered claims audited",
        )
    why = f" Why: {item.why}." if item.why else " New."
    staleness = f", {get_words(supplement_digest.status.staleness)}" if supplement_digest.status else ""
    return FeedEntry(
        name=item.name,
        log_size=item.log_size,
        updated=supplement_digest.made_at,
        title=f"{item.name}: {text.partition('): ')[2] or text}" if supplement_digest.claims is None else f"{item.name}: {text}",
        summary=f"{text}{staleness}.{why}",
        category=category,
        files=item.files,
    )


def _add_entry(feed: ET.Element, origin: str, news: FeedEntry) -> None:
    entry = ET.SubElement(feed, "entry")
    _add(entry, "id", _identify(origin, news.name, str(news.log_size)))
    _add(entry, "title", news.title)
    _add(entry, "updated", _describe_time(news.updated))
    files = sorted(news.files, key=lambda file: _ORDER.index(file.format))
    for place, file in enumerate(files):
        # Atom allows one `alternate` link of a type; the others are related files.
        about = {"rel": "related" if place else "alternate", "href": file.path, "type": _MEDIA_TYPES[file.format]}
        ET.SubElement(entry, "link", about)
    if news.category:
        ET.SubElement(entry, "category", {"term": news.category})
    _add(entry, "summary", news.summary)


def _add(parent: ET.Element, name: str, text: str) -> None:
    """Add an element with *text*, what is invisible or no character of XML written out."""
    # XML forbids most control characters, and hidden ones would mislead.
    ET.SubElement(parent, name).text = show_text(" ".join(text.split()))


def _identify(*parts: str) -> str:
    # Line breaks cannot occur in the parts, so no two lists of parts give one text.
    return uuid.uuid5(uuid.NAMESPACE_URL, "caveat:" + "\n".join(parts)).urn


def _describe_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _find_moment(folder: Folder) -> datetime:
    # A new folder has no date of its own; the clock would change the bytes.
    return max((item.summary.made_at for item in folder.items), default=datetime.fromtimestamp(0, tz=UTC))


# The list of a folder: by card and model version, every claim with its outcome, and what superseded
# what.

_MOST_LISTED = 40
"""Claims that one list of the summary names; the tables have all of them."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A file to be opened."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class EarlierSupplement:
    """What something else took the place of."""

    name: str
    links: tuple[PageLink, ...]
    log_size: int
    by: str
    """What says it now, in words."""
    why: str


@dataclass(frozen=True, slots=True)
class FolderClaimRow:
    """A claim in the table."""

    item: FolderItem
    summary: SupplementDigest
    claim: str
    """`CLM-…`."""
    links: tuple[PageLink, ...]
    older: tuple[EarlierSupplement, ...]
    """Newest first."""

    @property
    def href(self) -> str:
        """What its name leads to."""
        order = (OutputFormat.HTML, OutputFormat.PDF, OutputFormat.JSON)
        return min(self.item.files, key=lambda file: order.index(file.format)).path


@dataclass(frozen=True, slots=True)
class VersionGroup:
    """The claims of one card about one model version."""

    model: str
    rows: tuple[FolderClaimRow, ...]


@dataclass(frozen=True, slots=True)
class CardPart:
    """A card with its claims."""

    card: str
    """`CRD-…`; empty for claims that quote none."""
    title: str
    item: FolderItem | None
    """Its supplement; None where there is none in the folder."""
    links: tuple[PageLink, ...]
    older: tuple[EarlierSupplement, ...]
    groups: tuple[VersionGroup, ...]

    @property
    def count(self) -> int:
        """Number of its claims."""
        return sum(len(group.rows) for group in self.groups)


@dataclass(frozen=True, slots=True)
class FolderAlert:
    """Claims that a reader should see first."""

    key: str
    title: str
    rows: tuple[FolderClaimRow, ...]

    @property
    def shown(self) -> tuple[FolderClaimRow, ...]:
        """Those that are named."""
        return self.rows[:_MOST_LISTED]


def render_index(folder: Folder, *, proofs: Collection[str]) -> bytes:
    """Return `index.html` of *folder*: one file that needs no script and no network; the same folder gives the same bytes.

    Args:
        folder: what is known of it.
        proofs: paths of the proofs that are there, relative to the folder.
    """
    items = {item.name: item for item in folder.items}
    newest = _find_newest(items)
    rows = tuple(_build_row(name, items, proofs) for name in newest if name.startswith(f"{Kind.CLAIM}-"))
    # The newest report first.
    reports = tuple(reversed(folder.reports))
    facts = {
        "folder": folder,
        "moment": _find_newest_date(folder),
        "cards": _build_cards(rows, newest, items, proofs),
        "claims": len(rows),
        "audited": sum(row.summary.status is not None and row.summary.status.gravest is not None for row in rows),
        "results": count_results([row.summary.status.restriction for row in rows if row.summary.status is not None]) if rows else "",
        # An alert without rows would read as a warning.
        "alerts": tuple(alert for alert in _build_alerts(rows, reports) if alert.rows),
        "reports": tuple((report, _link(report.files, proofs)) for report in reports),
        "feed": names.FEED,
    }
    return render_page("index.html.j2", facts)


def _find_newest(items: Iterable[str]) -> tuple[str, ...]:
    """Return the newest revision of each claim and card that is there, by identifier."""
    # Sorted by revision, so that the last one stays.
    newest = {name.partition("@")[0]: name for name in sorted(items, key=order_names)}
    return tuple(newest.values())


def _build_row(name: str, items: Mapping[str, FolderItem], proofs: Collection[str]) -> FolderClaimRow:
    item = items[name]
    return FolderClaimRow(item, item.summary, name.partition("@")[0], _link(item.files, proofs), _list_older(name, items, proofs))


def _list_older(name: str, items: Mapping[str, FolderItem], proofs: Collection[str]) -> tuple[EarlierSupplement, ...]:
    """What the newest revision *name* took the place of: earlier revisions as they are described now, and earlier files of each."""
    bare = name.partition("@")[0]
    # Newest first.
    revisions = sorted((other for other in items if other.partition("@")[0] == bare), key=order_names, reverse=True)
    supplements: list[EarlierSupplement] = []
    for revision in revisions:
        item = items[revision]
        # An older revision is superseded by the newest one; older files by those of the same
        # revision.
        if revision != name:
            supplements.append(EarlierSupplement(revision, _link(item.files, proofs), item.log_size, name, "a newer revision was recorded"))
        supplements += (
            EarlierSupplement(revision, _link(old.files, proofs), old.log_size, f"{revision} as of entry {old.by:,}", old.why)
            for old in reversed(item.earlier)
        )
    return tuple(supplements)


def _build_cards(
    rows: Iterable[FolderClaimRow], newest: Iterable[str], items: Mapping[str, FolderItem], proofs: Collection[str]
) -> tuple[CardPart, ...]:
    by_card: dict[str, dict[str, list[FolderClaimRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_card[(row.summary.card or "").partition("@")[0]][row.summary.model or ""].append(row)
    supplements = {name.partition("@")[0]: name for name in newest if name.startswith(f"{Kind.CARD}-")}
    # Claims that quote no card come last.
    ordered = sorted({*by_card, *supplements}, key=lambda card: (not card, card))
    return tuple(_build_card(card, supplements.get(card), by_card.get(card, {}), items, proofs) for card in ordered)


def _build_card(
    card: str, name: str | None, groups: Mapping[str, list[FolderClaimRow]], items: Mapping[str, FolderItem], proofs: Collection[str]
) -> CardPart:
    item = items[name] if name else None
    title = item.summary.title if item else card or "Claims that quote no card"
    return CardPart(
        card,
        title,
        item,
        _link(item.files, proofs) if item else (),
        _list_older(name, items, proofs) if name else (),
        tuple(VersionGroup(model, tuple(groups[model])) for model in sorted(groups)),
    )


def _build_alerts(rows: Iterable[FolderClaimRow], reports: tuple[FolderReport, ...]) -> Iterable[FolderAlert]:
    rows = tuple(rows)
    # Only the latest report: earlier inversions are no news.
    latest = set(reports[0].newly_inverted) if reports else set()
    # A withdrawn or rejected claim needs no attention.
    standing = [row for row in rows if row.summary.status and row.summary.status.lifecycle not in (Lifecycle.WITHDRAWN, Lifecycle.REJECTED)]
    yield FolderAlert("newly-inverted", "Newly inverted", tuple(row for row in rows if row.claim in latest))
    yield FolderAlert("stale", "Stale, confirmed", tuple(_with_staleness(standing, Staleness.STALE)))
    yield FolderAlert("needs-review", "Needs review", tuple(_with_staleness(standing, Staleness.NEEDS_REVIEW)))
    disputed = (Dispute.CONTESTED, Dispute.UPHELD)
    yield FolderAlert(
        "contested", "Contested", tuple(row for row in standing if row.summary.status and row.summary.status.dispute in disputed)
    )


def _with_staleness(rows: Iterable[FolderClaimRow], staleness: Staleness) -> Iterable[FolderClaimRow]:
    return (row for row in rows if row.summary.status and row.summary.status.staleness is staleness)


def _find_newest_date(folder: Folder) -> datetime | None:
    """Return the date of the newest thing in the folder; None for an empty one."""
    summary = [item.summary.made_at for item in folder.items]
    return max((*summary, *(report.made_at for report in folder.reports)), default=None)


def _link(files: Iterable[FolderFile], proofs: Collection[str]) -> tuple[PageLink, ...]:
    links: list[PageLink] = []
    for file in files:
        links.append(PageLink(file.format.value.upper(), file.path))
        # Only a proof that is there gets a link.
        if (proof := f"{file.path}{names.PROOF}") in proofs:
            links.append(PageLink("proof", proof))
    return tuple(links)
