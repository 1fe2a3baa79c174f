"""The pages of one claim or card: the page itself, history, differences, record and citations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from interchange.formats.citations import FORMATS, build_citation, write_sentence
from registry.cli.log_presenter import compare_revisions, show_value
from registry.errors import Fault, NotFoundError
from registry.present.blocks import Facts, Table
from registry.present.html_fragment import render_fragment
from registry.records.dossier import Recorded
from registry.records.statement import Publication
from registry.records.supplement import CardSupplement, Section, Supplement
from registry.report.claim_outcome import find_absent, number_sections
from registry.report.html_rendering import render_json
from registry.report.quoted_text import build_redline
from registry.report.supplement_wording import TITLES
from registry.store.dossiers import TrailEntry
from registry.store.registry_view import View
from web.pages.addresses import VERIFIER, Linker, PageSettings
from web.pages.feeds import MEDIA_TYPES
from web.pages.layout import PageLink, PageText
from web.pages.layout import render as render_page
from web.pages.log_pages import build_entry_rows, render_subject_feed

CITATIONS = tuple(FORMATS)
HTML = "text/html; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A file of a claim, as the log says it was published."""

    subject: str
    format: str
    at: object
    seq: int
    log_size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedPages:
    """What the page of a claim leads to."""

    history: PageLink
    diffs: tuple[PageLink, ...]
    files: tuple[PublishedFile, ...]
    record: PageLink
    citation: str
    citations: tuple[PageLink, ...]
    verifier: PageLink


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFile:
    """The registered file of a card."""

    document: str
    size: int
    published: str | None


def render(
    view: View,
    supplement: Supplement | CardSupplement,
    rest: str,
    *,
    settings: PageSettings,
    files: Sequence[Recorded[Publication]],
    trail: Callable[[], Sequence[TrailEntry]],
    address: str,
) -> tuple[bytes, str]:
    """Return bytes and media type of one page of *supplement*.

    Args:
        rest: what the address has after the identifier.
        files: the publications of the claim or card, in log order.
        trail: reads all entries about the claim or card, for the pages that need them.
        address: of the page.
    """
    link, is_newest = Linker(address, settings), "@" not in address
    if is_newest and rest.removeprefix("/") in MEDIA_TYPES:
        name = address.split("/")[1]
        return render_subject_feed(trail(), link, origin=supplement.log_origin, name=name), MEDIA_TYPES[rest[1:]]
    if isinstance(supplement, CardSupplement):
        body = _render_card(view, supplement, settings) if rest == "/" else None
        media_type = HTML
    else:
        body, media_type = _render_part(view, supplement, rest, settings=settings, files=files, trail=trail, link=link, is_newest=is_newest)
    if body is None:
        raise NotFoundError(Fault("address-not-found", address, "a claim or card has no page of this kind"))
    return body, media_type


def _render_part(
    view: View,
    supplement: Supplement,
    rest: str,
    *,
    settings: PageSettings,
    files: Sequence[Recorded[Publication]],
    trail: Callable[[], Sequence[TrailEntry]],
    link: Linker,
    is_newest: bool,
) -> tuple[bytes | None, str]:
    """Return bytes and media type of one page of a claim; None for bytes where a claim has no such page."""
    claim = supplement.claim.payload
    if rest == "/":
        return _render_claim(supplement, settings, files), HTML
    if rest == "api.json":
        return render_json(supplement), JSON
    if rest in FORMATS:
        _, media_type, write = FORMATS[rest]
        address = f"{settings.base}/{claim.reference}/" if settings.base else None
        return write(build_citation(supplement, address=address)), media_type
    body = None
    if is_newest and rest == "/history/":
        body = _render_history(trail(), supplement, link)
    elif is_newest and rest.startswith("/diff/"):
        body = _render_difference(view, supplement, rest.removeprefix("/diff/").removesuffix("/"), link)
    return body, HTML


def _state(supplement: Supplement | CardSupplement) -> str:
    return f"Last changed by entry {supplement.log_size:,}."


def _render_claim(supplement: Supplement, settings: PageSettings, files: Sequence[Recorded[Publication]]) -> bytes:
    claim = supplement.claim.payload
    # As seen from the revision: the page of the newest revision has the same bytes at its address without `@n`.
    link = Linker(f"/{claim.reference}/", settings)
    count = len(supplement.history)
    diffs = [f"{number}..{number + 1}" for number in range(1, count)][-6:]
    published = f"{settings.base}/{claim.reference}/" if settings.base else None
    related = RelatedPages(
        history=PageLink(text="History of the claim", href=link(f"/{claim.claim}/history/")),
        diffs=tuple(PageLink(text=f"Revisions {span}", href=link(f"/{claim.claim}/diff/{span}/")) for span in diffs),
        files=tuple(
            PublishedFile(
                subject=one.payload.subject,
                format=one.payload.format.value,
                at=one.entry.at,
                seq=one.entry.seq,
                log_size=one.payload.log_size,
                sha256=one.payload.sha256,
            )
            for one in files
        ),
        record=PageLink(text=f"{claim.claim}.json", href=link(f"/api/1/claims/{claim.claim}.json"), is_code=True),
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
    )
    return render_page("claim.html.j2", text, {"related": related}, link, supplement=supplement)


def _render_card(view: View, supplement: CardSupplement, settings: PageSettings) -> bytes:
    source = supplement.card
    link = Linker(f"/{source.card}@{source.revision}/", settings)
    recorded = view.find_card(source.card, source.revision)
    size = recorded.payload.size_bytes if recorded else 0
    related = CardFile(document=source.document, size=size, published=str(source.published) if source.published else None)
    text = PageText(
        title=f"{source.card}@{source.revision}",
        description=source.title,
        origin=supplement.log_origin,
        state=_state(supplement),
        sections=[("claims", "Claims"), ("coverage", "Coverage"), ("verification", "Card file")],
        feed=f"/{source.card}/",
    )
    return render_page("card.html.j2", text, {"related": related}, link, supplement=supplement)


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
    before, after, rows = compare_revisions(view.dossier(claim), int(old), int(new))
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
    facts_of_page = {"body": render_fragment(blocks, level=1), "redline": redline, "groups": (_list_links(supplement, link),)}
    return render_page("blocks.html.j2", text, facts_of_page, link)
