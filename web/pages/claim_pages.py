"""The pages of one claim or card: the page itself, history, differences, record and citations."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from interchange.formats.citations import FORMATS, build_citation, write_sentence
from registry.cli.log_presenter import compare_revisions, show_value
from registry.errors import Fault, NotFoundError
from registry.present.blocks import Facts, Table
from registry.records.record import parse_identifier
from registry.records.supplement import CardSupplement, Section, Supplement
from registry.registration.claim_search import summarise_monitors
from registry.report.claim_outcome import find_absent, number_sections
from registry.report.html_rendering import render_json
from registry.report.quoted_text import build_redline
from registry.report.supplement_wording import TITLES
from registry.store.dossiers import TrailEntry
from registry.store.registry_view import View
from web.pages import card_pages
from web.pages.addresses import VERIFIER, Linker, PageSettings
from web.pages.audit_pages import collect_names, render_audits
from web.pages.feeds import MEDIA_TYPES
from web.pages.layout import PageLink, PageText, show_blocks
from web.pages.layout import render as render_page
from web.pages.log_pages import build_entry_rows, render_subject_feed
from web.pages.objection_pages import render_contest
from web.pages.supplement_files import Published, PublishedFile, build_files

CITATIONS = tuple(FORMATS)
HTML = "text/html; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedObjection:
    """An objection with an erased text."""

    link: PageLink
    seq: int | None
    """The entry that says why; None where none does."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedPages:
    """What the page of a claim leads to."""

    history: PageLink
    audits: PageLink
    contest: PageLink
    diffs: tuple[PageLink, ...]
    erased: tuple[ErasedObjection, ...]
    files: tuple[PublishedFile, ...]
    record: PageLink
    citation: str
    citations: tuple[PageLink, ...]
    verifier: PageLink


_DIGEST = re.compile(r"/([0-9a-f]{16,64})/")
"""After the revision: the start of the entry hash, which names exactly one text."""


def render(
    view: View,
    supplement: Supplement | CardSupplement,
    rest: str,
    *,
    settings: PageSettings,
    files: Published,
    has_erased: bool,
    trail: Callable[[], Sequence[TrailEntry]],
    address: str,
) -> tuple[bytes, str]:
    """Return bytes and media type of one page of *supplement*.

    Args:
        rest: what the address has after the identifier.
        files: the publications of the claim or card.
        has_erased: whether any text of the log was erased.
        trail: reads all entries about the claim or card, for the pages that need them.
        address: of the page.
    """
    link, is_newest = Linker(address, settings), "@" not in address
    if is_newest and rest.removeprefix("/") in MEDIA_TYPES:
        name = address.split("/")[1]
        return render_subject_feed(view, trail(), link, origin=supplement.log_origin, name=name), MEDIA_TYPES[rest[1:]]
    if isinstance(supplement, CardSupplement):
        body = card_pages.render_card_part(view, supplement, rest, settings=settings, files=files, link=link, is_newest=is_newest)
        media_type = JSON if rest == "api.json" else HTML
    elif rest == "/" or (digest := _DIGEST.fullmatch(rest)):
        here = f"/{supplement.claim.payload.reference}/" if rest == "/" else address
        if rest != "/" and not supplement.claim.entry.leaf.startswith(str(digest[1] if digest else "")):
            found = f"{supplement.claim.payload.reference} is recorded as #{supplement.claim.entry.leaf[:16]}"
            raise NotFoundError(Fault("digest-mismatch", address, found))
        body, media_type = _render_claim(view, supplement, Linker(here, settings), files, has_erased=has_erased), HTML
    else:
        body, media_type = _render_part(
            view, supplement, rest, settings=settings, has_erased=has_erased, trail=trail, link=link, is_newest=is_newest
        )
    if body is None:
        raise NotFoundError(Fault("address-not-found", address, "a claim or card has no page of this kind"))
    return body, media_type


def _render_part(
    view: View,
    supplement: Supplement,
    rest: str,
    *,
    settings: PageSettings,
    has_erased: bool,
    trail: Callable[[], Sequence[TrailEntry]],
    link: Linker,
    is_newest: bool,
) -> tuple[bytes | None, str]:
    """Return bytes and media type of one page of a claim; None for bytes where a claim has no such page."""
    claim = supplement.claim.payload
    if rest == "api.json":
        return render_json(supplement), JSON
    if rest in FORMATS:
        _, media_type, write = FORMATS[rest]
        address = f"{settings.base}/{claim.reference}/" if settings.base else None
        return write(build_citation(supplement, address=address)), media_type
    body = None
    if is_newest and rest == "/history/":
        body = _render_history(trail(), supplement, link)
    elif is_newest and rest == "/audits/":
        body = render_audits(view, supplement, link)
    elif is_newest and rest == "/contest/":
        body = render_contest(supplement, _name_erased(view, supplement) if has_erased else (), link)
    elif is_newest and rest.startswith("/diff/"):
        body = _render_difference(view, supplement, rest.removeprefix("/diff/").removesuffix("/"), link)
    return body, HTML


def _state(supplement: Supplement | CardSupplement) -> str:
    return f"Last changed by entry {supplement.log_size:,}."


def _render_claim(view: View, supplement: Supplement, link: Linker, files: Published, *, has_erased: bool) -> bytes:
    # As seen from the revision: the page of the newest revision has the same bytes at its address without `@n`.
    claim, settings = supplement.claim.payload, link.settings
    count = len(supplement.history)
    diffs = [f"{number}..{number + 1}" for number in range(1, count)][-6:]
    published = f"{settings.base}/{claim.reference}/" if settings.base else None
    record = link(f"/api/1/claims/{claim.claim}.json")
    related = RelatedPages(
        history=PageLink(text="History", href=link(f"/{claim.claim}/history/")),
        audits=PageLink(text="All audits", href=link(f"/{claim.claim}/audits/")),
        contest=PageLink(text="How to object", href=link(f"/{claim.claim}/contest/")),
        diffs=tuple(PageLink(text=f"Revisions {span}", href=link(f"/{claim.claim}/diff/{span}/")) for span in diffs),
        erased=tuple(_list_erased(view, supplement, link)) if has_erased else (),
        files=build_files(files, link),
        record=PageLink(text=f"{claim.claim}.json", href=record, is_code=True),
        citation=write_sentence(build_citation(supplement, address=published)),
        citations=tuple(PageLink(text=text, href=link(f"/{claim.reference}{ending}")) for ending, (text, _, _) in FORMATS.items()),
        verifier=PageLink(text="verify a file", href=link(VERIFIER)),
    )
    numbered = number_sections(find_absent(supplement))
    sections = [
        ("status", "Status"),
        *((section.value, TITLES[section]) for section in numbered if section is not Section.VERIFICATION),
        ("verification", "Files and proof"),
        ("cite", "How to cite"),
        ("object", "How to object"),
    ]
    text = PageText(
        title=f"{claim.reference}",
        description=supplement.verdict,
        origin=supplement.log_origin,
        state=_state(supplement),
        sections=sections,
        feed=f"/{claim.claim}/",
        names=collect_names(supplement),
    )
    # As the page as a whole: it does not change with the time, and says until when it holds.
    watched = [monitor for monitor in supplement.monitors if monitor.monitor.payload.claim == claim.reference]
    facts = {"related": related, "whole": record, "watched": watched, "monitoring": summarise_monitors(watched, None)}
    return render_page("claim.html.j2", text, facts, link, supplement=supplement)


def _name_erased(view: View, supplement: Supplement) -> tuple[str, ...]:
    """Return the objections to the claim, and to definitions that it rests on, of which a text was erased."""
    targets = [supplement.claim.payload.claim, *(part.reference for part in supplement.specs)]
    return tuple(dict.fromkeys(objection for target in targets for objection in view.list_erased_objections(target)))


def _list_erased(view: View, supplement: Supplement, link: Linker) -> Iterator[ErasedObjection]:
    for name in _name_erased(view, supplement):
        erasures = [one.erased_by for one in view.trail(parse_identifier(name)) if one.payload is None and one.erased_by is not None]
        yield ErasedObjection(
            link=PageLink(text=name, href=link(f"/{name}/"), is_code=True),
            seq=erasures[-1].entry.seq if erasures else None,
            why=erasures[-1].payload.why if erasures else "no entry says why",
        )


def _render_history(trail: Sequence[TrailEntry], supplement: Supplement, link: Linker) -> bytes:
    claim = supplement.claim.payload.claim
    rows = build_entry_rows(trail, link, leave_out=claim)
    group = {
        "key": "entries", "title": "Entries", "note": "Everything that the log has of the claim, its audits and its objections.",
        "claims": (), "entries": rows, "caption": "In the order of the log", "links": (),
    }  # fmt: skip
    pages = _list_links(supplement, link)
    # Entries of other claims are part of it, so it does not say by which the claim was changed last.
    text = PageText(title=f"History of {claim}", origin=supplement.log_origin, state="", feed=f"/{claim}/")
    return render_page("blocks.html.j2", text, {"body": "", "redline": (), "groups": (group, pages)}, link)


def _list_links(supplement: Supplement, link: Linker) -> dict[str, object]:
    links = [
        PageLink(
            text=one.payload.reference, href=link(f"/{one.payload.reference}/"), is_code=True, note=one.payload.why or "first registered"
        )
        for one in reversed(supplement.history)
    ]
    return {"key": "revisions", "title": "Revisions", "note": None, "claims": (), "entries": (), "caption": "", "links": tuple(links)}


def _render_difference(view: View, supplement: Supplement, span: str, link: Linker) -> bytes:
    claim = supplement.claim.payload.claim
    old, dots, new = span.partition("..")
    if not (dots and old.isascii() and old.isdecimal() and new.isascii() and new.isdecimal()) or len(span) > 20:
        raise NotFoundError(Fault("address-not-found", link.here, "two revisions are written 1..2"))
    before, after, rows = compare_revisions(view.dossier(claim, skips_erased=True), int(old), int(new))
    facts = [("from", before.reference), ("to", after.reference), ("reason of the newer one", after.why or "none stated")]
    # The words are shown as a redline.
    cells = [(field.replace("_", " "), show_value(left), show_value(right)) for field, left, right in rows if field != "quote"]
    blocks = [Facts(facts), *([Table(("field", "before", "after"), cells)] if cells else ["No other field differs."])]
    # It depends on revisions alone, and these never change.
    text = PageText(
        title=f"{claim}, revisions {before.revision} and {after.revision}",
        origin=supplement.log_origin,
        state="Revisions never change.",
    )
    redline = build_redline(before.quote, after.quote) if before.quote != after.quote else ()
    facts_of_page = {"body": show_blocks(blocks), "redline": redline, "groups": (_list_links(supplement, link),)}
    return render_page("blocks.html.j2", text, facts_of_page, link)
