"""Pages about the log: what was recorded last, what changed since an entry, errors, status; and the feeds."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from registry.cli.log_presenter import describe
from registry.codec.canonical_documents import write_json
from registry.errors import Fault, find_entry, list_explanations
from registry.present.blocks import Block, Facts, Subtitle, Table, Verbatim
from registry.present.html_fragment import render_fragment
from registry.records.record import Payload
from registry.records.statement import Entry
from registry.records.verdict import Restriction
from registry.report.claim_outcome import describe_disagreement
from registry.store.dossiers import TrailEntry, TrailQuery, list_trail
from registry.store.log_seals import find_root, list_checkpoints
from registry.store.registry_view import View
from web.facets import ClaimFilter, ClaimSource, SelectedClaim, count_claims
from web.pages import comparison_pages
from web.pages.addresses import Linker, find_page, find_subject_page
from web.pages.feeds import FeedItem, render_atom, render_json_feed
from web.pages.layout import PageLink, PageText, render
from web.pages.list_pages import EntryRow, build_rows
from web.tiles.log_files import write_prefix

LATEST = 100
"""Entries on the page of changes, and in a feed."""
_SUBJECT = re.compile(r"(?:CLM|CRD)-[A-Z0-9]+-\d{4}-\d+-[0-9A-Z](?:@[1-9]\d*)?")


def _state(view: View) -> str:
    return f"As of entry {view.log_size:,}."


def list_latest(view: View, *, since: int | None = None) -> list[TrailEntry]:
    """Return the latest entries, the last first; or those after *since*, at most ten times as many."""
    if since is None:
        return list_trail(view, TrailQuery(last=LATEST, start=max(1, view.log_size - LATEST + 1)))[::-1]
    return list_trail(view, TrailQuery(start=since + 1, stop=min(view.log_size, since + 10 * LATEST)))[::-1]


def _find_subjects(trail_entry: TrailEntry) -> list[str]:
    """Return the claims and cards that an entry names itself, in order."""
    if trail_entry.payload is None:
        return []
    named = [getattr(trail_entry.payload, name, None) for name in ("claim", "card", "subject", "target")]
    return [name for name in dict.fromkeys(named) if isinstance(name, str) and _SUBJECT.fullmatch(name)]


_NAMING = ("claim", "card", "subject", "target", "audit", "objection", "spec", "rival")
"""Fields of statements that name something with a page."""


def _find_named(trail_entry: TrailEntry) -> list[str]:
    """Return everything with a page that an entry names itself, in order."""
    named = [getattr(trail_entry.payload, name, None) for name in _NAMING]
    return [name for name in dict.fromkeys(named) if isinstance(name, str) and find_page(name)]


def build_entry_rows(entries: Iterable[TrailEntry], link: Linker, *, leave_out: str | None = None) -> tuple[EntryRow, ...]:
    """Return what a table shows of *entries*, each with links to what it names, but for the one to *leave_out*."""
    rows = []
    for one in entries:
        names = [name for name in _find_named(one) if name.partition("@")[0] != leave_out]
        links = [PageLink(text=name, href=link(page), is_code=True) for name in names if (page := find_page(name))]
        text = describe(one.payload) if one.payload else None
        kind = one.entry.kind.replace("_", " ")
        rows.append(EntryRow(seq=one.entry.seq, at=one.entry.at, actor=one.entry.actor, kind=kind, text=text, links=tuple(links)))
    return tuple(rows)


def render_changes(view: View, link: Linker, *, since: int | None = None, changed: Sequence[SelectedClaim] = ()) -> bytes:
    """Return the latest entries; with *since*, the claims that changed after that entry and the entries after it.

    Args:
        changed: the claims that changed since, for *since*.
    """
    entries = build_entry_rows(list_latest(view, since=since), link)
    groups = []
    if since is not None:
        rows = build_rows(view, changed, link)
        groups.append(_group("claims", "Claims that changed", claims=rows, caption=f"{len(rows):,} claims since entry {since:,}"))
    groups.append(_group("entries", "Entries of the log", entries=entries, caption=f"{len(entries):,} entries, the last first"))
    title = "Latest changes" if since is None else f"Changes since entry {since:,}"
    text = PageText(title=title, origin=view.log_origin, state=_state(view))
    return render("blocks.html.j2", text, {"body": "", "redline": (), "groups": groups}, link)


def _group(key: str, title: str, **parts: object) -> dict[str, object]:
    return {"key": key, "title": title, "note": None, "claims": (), "entries": (), "links": (), "caption": "", **parts}


def render_errors(view: View, link: Linker) -> bytes:
    """Return the catalogue of errors: each code with its meaning and what to do."""
    entries = [entry for code in sorted(list_explanations()) if (entry := find_entry(code)) is not None]
    return render("errors.html.j2", PageText(title="Errors", origin=view.log_origin, state=""), {"entries": entries}, link)


def render_status(view: View, claims: ClaimSource, link: Linker, *, faults: Sequence[Fault] = ()) -> bytes:
    """Return the state of the log: size, root, last entry and checkpoint; and *faults*, what is not as it was recorded."""
    last = view.find_entry(view.log_size)
    checkpoints = list_checkpoints(view)
    count = count_claims(claims)
    facts = [
        ("log", view.log_origin),
        ("entries", f"{view.log_size:,}"),
        ("root (SHA-256)", find_root(view, view.log_size)),
        ("last entry", f"{last.at:%Y-%m-%d %H:%M:%S} UTC, {last.actor}" if last else "none"),
        ("claims", "unknown" if count is None else f"{count:,}"),
        ("checkpoints", f"{len(checkpoints):,}"),
    ]
    blocks: list[Block] = [Facts(facts)]
    if faults:
        blocks += [
            Subtitle("Altered entries"),
            "Pages that rest on them are not shown.",
            Table(("where", "code", "found"), _list_rows(faults)),
        ]
    if checkpoints:
        blocks += [Subtitle("Latest checkpoint"), Verbatim(checkpoints[-1].note.strip())]
        prefix = link.write_absolute(write_prefix(view.log_origin))
        blocks += ["The log for programs, as C2SP tlog-tiles has it, begins at:", Verbatim(prefix)]
    text = PageText(title="Status of the log", origin=view.log_origin, state=_state(view))
    groups = []
    if others := [log for log in comparison_pages.list_logs(view) if not log.is_own]:
        note = f"Imported here: {', '.join(f'{log.origin} ({log.size:,} entries)' for log in others)}"
        compared = PageLink(text="Compare the logs", href=link(comparison_pages.INDEX))
        groups.append(_group("logs", "Logs of other registries", note=note, links=(compared,)))
    return render("blocks.html.j2", text, {"body": render_fragment(blocks, level=1), "redline": (), "groups": groups}, link)


def _list_rows(faults: Iterable[Fault]) -> list[tuple[str, str, str]]:
    return [(fault.where, fault.code, fault.found) for fault in faults]


def render_banner(fault: Fault, size: int) -> bytes:
    """Return the note over a page that shows entry *size*, the last state that could be read."""
    sentence = f"The registry cannot be read now ({fault.code}). This page shows it as of entry {size:,}."
    return b'\n<div class="banner" role="status">' + render_fragment([sentence]).encode() + b"</div>"


def render_missing(view: View, link: Linker) -> bytes:
    """Return the page that a web host shows where there is no page."""
    body = render_fragment(["No page of this registry has this address.", "Check the identifier: its last character is a check character."])
    text = PageText(title="Page not found", origin=view.log_origin, state="")
    return render("blocks.html.j2", text, {"body": body, "redline": (), "groups": ()}, link)


def render_fault(origin: str, faults: Sequence[Fault], status: int, link: Linker) -> bytes:
    """Return the page that says what is wrong with a request. Its links start at the root: it is shown at any address."""
    blocks: list[Block] = []
    for fault in faults:
        entry = find_entry(fault.code)
        blocks.append(Subtitle(entry.title if entry else fault.code))
        blocks.append(Facts([("code", fault.code), ("where", fault.where), ("found", fault.found), ("next", fault.advice or "–")]))
    first = find_entry(faults[0].code)
    text = PageText(title=f"{status}: {first.title if first else faults[0].code}", origin=origin, state="")
    body = render_fragment(blocks, level=1)
    return render("blocks.html.j2", text, {"body": body, "redline": (), "groups": ()}, link)


def render_erased(view: View, name: str, faults: Sequence[Fault], trail: Sequence[TrailEntry], link: Linker) -> bytes:
    """Return the page of a claim or card of which a statement was erased: its entries in *trail*, with what is left of each."""
    body = render_fragment([f"{fault.where}: {fault.found}" for fault in faults])
    entries = build_entry_rows(trail, link, leave_out=name.partition("@")[0])
    group = _group("entries", "Entries", entries=entries, caption="In the order of the log", note="Only the erased texts are missing.")
    text = PageText(title=f"{name}: text erased", origin=view.log_origin, state="")
    return render("blocks.html.j2", text, {"body": body, "redline": (), "groups": (group,)}, link)


def render_feed(view: View, link: Linker) -> bytes:
    """Return the latest entries that name a claim or card as the feed with the address *link*."""
    pages = [(one, names[0]) for one in list_latest(view) if (names := _find_subjects(one))]
    return _render_items(view, pages, link, origin=view.log_origin, title=view.log_origin)


def render_subject_feed(view: View, entries: Sequence[TrailEntry], link: Linker, *, origin: str, name: str) -> bytes:
    """Return the latest of *entries*, which are about the claim or card *name*, as the feed with the address *link*."""
    return _render_items(view, [(one, name) for one in entries[-LATEST:][::-1]], link, origin=origin, title=name)


def describe_news(view: View, entry: Entry, payload: Payload) -> str:
    """Return what *entry* recorded; of an outcome that another audit disagrees with, that it does."""
    text = describe(payload)
    if not isinstance(payload, Restriction):
        return text
    # A reader of a feed may see nothing else: the words of the record alone would be a verdict that does not count so.
    counted = view.find_counted([payload.claim]).get(entry.seq)
    return f"{text} {describe_disagreement(counted.audit, counted.verdict, counted.opposed)}" if counted and counted.opposed else text


def _render_items(view: View, entries: Sequence[tuple[TrailEntry, str]], link: Linker, *, origin: str, title: str) -> bytes:
    items = []
    for one, name in entries:
        page = find_subject_page(name)
        # What was erased is no news.
        if page is not None and one.payload is not None:
            head = f"{name}: {one.entry.kind.replace('_', ' ')} by {one.entry.actor}"
            items.append(
                FeedItem(seq=one.entry.seq, at=one.entry.at, title=head, text=describe_news(view, one.entry, one.payload), page=page)
            )
    render_as = render_atom if link.here.endswith(".atom") else render_json_feed
    return render_as(items, origin=origin, title=f"Caveat: {title}", link=link)


def render_index(view: View, claims: ClaimSource, link: Linker) -> bytes:
    """Return the documents of the interface for programs, and the state of the log that they show."""
    document: dict[str, Any] = {
        "schema": "caveat/web-index/1",
        "log": {"origin": view.log_origin, "size": view.log_size, "root": find_root(view, view.log_size)},
        "claims": [
            {"claim": f"{claim.claim}@{claim.revision}", "record": link(f"/api/1/claims/{claim.claim}.json")}
            for claim in claims.select(ClaimFilter(), limit=1_000_000).claims
        ],
        "feeds": [link("/feed.atom"), link("/feed.json")],
    }
    return write_json(document) + b"\n"
