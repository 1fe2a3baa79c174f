"""The page that lists a folder: by card and model version every claim with what became of it, and what superseded what. Pure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from registry.records.claim_status import Dispute, Lifecycle, Staleness
from registry.records.record import Kind
from registry.records.statement import OutputFormat
from registry.records.verdict import ClaimClass
from registry.regeneration import names
from registry.regeneration.folder_document import Folder, FolderFile, FolderItem, FolderReport, SupplementDigest
from registry.regeneration.plan import order_names
from registry.report.html import render_page

_MOST_LISTED = 40
"""Claims that one list of the summary names; the tables have all of them."""


@dataclass(frozen=True, slots=True)
class Link:
    """A file to be opened."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Older:
    """What something else took the place of."""

    name: str
    links: tuple[Link, ...]
    log_size: int
    by: str
    """What says it now, in words."""
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """A claim in the table."""

    item: FolderItem
    told: SupplementDigest
    claim: str
    """`CLM-…`."""
    links: tuple[Link, ...]
    older: tuple[Older, ...]
    """Newest first."""

    @property
    def href(self) -> str:
        """What its name leads to."""
        return _get_first(self.item)


@dataclass(frozen=True, slots=True)
class Group:
    """The claims of one card about one model version."""

    model: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class CardPart:
    """A card with its claims."""

    card: str
    """`CRD-…`; empty for claims that quote none."""
    title: str
    item: FolderItem | None
    """Its supplement; None where there is none in the folder."""
    links: tuple[Link, ...]
    older: tuple[Older, ...]
    groups: tuple[Group, ...]

    @property
    def count(self) -> int:
        """Number of its claims."""
        return sum(len(group.rows) for group in self.groups)


@dataclass(frozen=True, slots=True)
class Alert:
    """Claims that a reader should see first."""

    key: str
    title: str
    rows: tuple[Row, ...]

    @property
    def shown(self) -> tuple[Row, ...]:
        """Those that are named."""
        return self.rows[:_MOST_LISTED]


def render_index(folder: Folder, *, proofs: Collection[str]) -> bytes:
    """Return `index.html` of *folder*: one file that needs no script and no network; the same folder gives the same bytes.

    Args:
        folder: what is known of it.
        proofs: paths of the proofs that are there, relative to the folder.
    """
    items = {item.name: item for item in folder.items if item.told is not None}
    newest = _find_newest(items)
    rows = tuple(_build_row(name, items, proofs) for name in newest if name.startswith(f"{Kind.CLAIM}-"))
    reports = tuple(reversed(folder.reports))
    facts = {
        "folder": folder,
        "moment": _find_moment(folder),
        "cards": _build_cards(rows, newest, items, proofs),
        "claims": len(rows),
        "audited": sum(row.told.status is not None and row.told.status.gravest is not None for row in rows),
        "classes": _count(rows),
        "alerts": tuple(alert for alert in _build_alerts(rows, reports) if alert.rows),
        "reports": tuple((report, _link(report.files, proofs)) for report in reports),
        "feed": names.FEED,
    }
    return render_page("index.html.j2", facts)


def _find_newest(items: Iterable[str]) -> tuple[str, ...]:
    """Return the newest revision of each claim and card that is there, by identifier."""
    newest = {name.partition("@")[0]: name for name in sorted(items, key=order_names)}
    return tuple(newest.values())


def _build_row(name: str, items: Mapping[str, FolderItem], proofs: Collection[str]) -> Row:
    item = items[name]
    if item.told is None:
        raise ValueError("a row needs what its supplement says")
    return Row(item, item.told, name.partition("@")[0], _link(item.files, proofs), _list_older(name, items, proofs))


def _list_older(name: str, items: Mapping[str, FolderItem], proofs: Collection[str]) -> tuple[Older, ...]:
    """What the newest revision *name* took the place of: earlier revisions as they are told now, and earlier files of each."""
    bare = name.partition("@")[0]
    revisions = sorted((one for one in items if one.partition("@")[0] == bare), key=order_names, reverse=True)
    found: list[Older] = []
    for one in revisions:
        item = items[one]
        if one != name:
            found.append(Older(one, _link(item.files, proofs), item.log_size, name, "a newer revision was recorded"))
        found += (
            Older(one, _link(old.files, proofs), old.log_size, f"{one} as of entry {old.by:,}", old.why) for old in reversed(item.earlier)
        )
    return tuple(found)


def _build_cards(
    rows: Iterable[Row], newest: Iterable[str], items: Mapping[str, FolderItem], proofs: Collection[str]
) -> tuple[CardPart, ...]:
    by_card: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_card[(row.told.card or "").partition("@")[0]][row.told.model or ""].append(row)
    supplements = {name.partition("@")[0]: name for name in newest if name.startswith(f"{Kind.CARD}-")}
    ordered = sorted({*by_card, *supplements}, key=lambda card: (not card, card))
    return tuple(_build_card(card, supplements.get(card), by_card.get(card, {}), items, proofs) for card in ordered)


def _build_card(
    card: str, name: str | None, groups: Mapping[str, list[Row]], items: Mapping[str, FolderItem], proofs: Collection[str]
) -> CardPart:
    item = items[name] if name else None
    title = item.told.title if item and item.told else card or "Claims that quote no card"
    return CardPart(
        card,
        title,
        item,
        _link(item.files, proofs) if item else (),
        _list_older(name, items, proofs) if name else (),
        tuple(Group(model, tuple(groups[model])) for model in sorted(groups)),
    )


def _build_alerts(rows: Iterable[Row], reports: tuple[FolderReport, ...]) -> Iterable[Alert]:
    rows = tuple(rows)
    latest = set(reports[0].newly_inverted) if reports else set()
    standing = [row for row in rows if row.told.status and row.told.status.lifecycle not in (Lifecycle.WITHDRAWN, Lifecycle.REJECTED)]
    yield Alert("newly-inverted", "Newly inverted", tuple(row for row in rows if row.claim in latest))
    yield Alert("stale", "Stale, confirmed", tuple(_with_staleness(standing, Staleness.STALE)))
    yield Alert("potentially-stale", "Potentially stale", tuple(_with_staleness(standing, Staleness.POTENTIALLY_STALE)))
    disputed = (Dispute.CONTESTED, Dispute.UPHELD)
    yield Alert("contested", "Contested", tuple(row for row in standing if row.told.status and row.told.status.dispute in disputed))


def _with_staleness(rows: Iterable[Row], staleness: Staleness) -> Iterable[Row]:
    return (row for row in rows if row.told.status and row.told.status.staleness is staleness)


def _count(rows: Iterable[Row]) -> tuple[tuple[ClaimClass, int], ...]:
    counts = Counter(row.told.class_ for row in rows)
    return tuple((one, counts[one]) for one in ClaimClass if counts[one])


def _find_moment(folder: Folder) -> datetime | None:
    """Return the date of the newest thing in the folder; None for an empty one."""
    told = [item.told.made_at for item in folder.items if item.told]
    return max((*told, *(report.made_at for report in folder.reports)), default=None)


def _get_first(item: FolderItem) -> str:
    """Return the file that is best to read: HTML, else PDF, else JSON."""
    order = (OutputFormat.HTML, OutputFormat.PDF, OutputFormat.JSON)
    return min(item.files, key=lambda one: order.index(one.format)).path


def _link(files: Iterable[FolderFile], proofs: Collection[str]) -> tuple[Link, ...]:
    found: list[Link] = []
    for file in files:
        found.append(Link(file.format.value.upper(), file.path))
        if (proof := f"{file.path}{names.PROOF}") in proofs:
            found.append(Link("proof", proof))
    return tuple(found)
