"""The pages of one card: the card with its claims, its coverage, and what changed from one revision to the next."""

from collections.abc import Iterator
from dataclasses import dataclass

from registry.cli.card_comparison_presenter import present_comparison
from registry.errors import Fault, NotFoundError
from registry.present.blocks import Block, Title
from registry.records.supplement import CardSupplement
from registry.registration.card_registration import get_card
from registry.registration.passage_matching import RevisionComparison, compare_sides, open_pair
from registry.report.html_rendering import render_json
from registry.store.registry_view import View
from web.pages.addresses import Linker, PageSettings
from web.pages.layout import PageLink, PageText, render, show_blocks
from web.pages.supplement_files import Published, PublishedFile, build_files


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFile:
    """The registered file of a card, and the pages that lead on from it."""

    document: str
    size: int
    published: str | None
    coverage: PageLink
    diffs: tuple[PageLink, ...]
    files: tuple[PublishedFile, ...]
    """The published supplements of the card."""


def render_card_part(
    view: View, supplement: CardSupplement, rest: str, *, settings: PageSettings, files: Published, link: Linker, is_newest: bool
) -> bytes | None:
    """Return one page of a card; None where a card has no page of this kind.

    Args:
        rest: what the address has after the identifier.
        files: the publications of the card, each with its file.
        link: as seen from the address that was asked for.
    """
    if rest == "/":
        return _render_card(view, supplement, settings, files)
    if rest == "api.json":
        return render_json(supplement)
    if is_newest and rest == "/coverage/":
        return _render_coverage(supplement, link)
    if is_newest and rest.startswith("/diff/"):
        return _render_difference(view, supplement, rest.removeprefix("/diff/").removesuffix("/"), link)
    return None


def _state(supplement: CardSupplement) -> str:
    return f"Last changed by entry {supplement.log_size:,}."


def _render_card(view: View, supplement: CardSupplement, settings: PageSettings, files: Published) -> bytes:
    source = supplement.card
    link = Linker(f"/{source.card}@{source.revision}/", settings)
    recorded = view.find_card(source.card, source.revision)
    last = source.newer or source.revision
    spans = [f"{number}..{number + 1}" for number in range(1, last)][-6:]
    related = CardFile(
        document=source.document,
        size=recorded.payload.size_bytes if recorded else 0,
        published=str(source.published) if source.published else None,
        coverage=PageLink(text="Coverage of the card", href=link(f"/{source.card}/coverage/")),
        diffs=tuple(PageLink(text=f"Revisions {span}", href=link(f"/{source.card}/diff/{span}/")) for span in spans),
        files=build_files(files, link),
    )
    objections = [file.objection.payload.objection for file in supplement.objections]
    text = PageText(
        title=f"{source.card}@{source.revision}",
        description=source.title,
        origin=supplement.log_origin,
        state=_state(supplement),
        sections=[("claims", "Claims"), ("coverage", "Coverage"), ("verification", "Files")],
        feed=f"/{source.card}/",
        names=frozenset(objections),
    )
    return render("card.html.j2", text, {"related": related}, link, supplement=supplement)


def _render_coverage(supplement: CardSupplement, link: Linker) -> bytes:
    source = supplement.card
    text = PageText(
        title=f"Coverage of {source.card}@{source.revision}",
        description=f"Registered, audited, excluded and unreviewed passages of {source.title}",
        origin=supplement.log_origin,
        state=_state(supplement),
        feed=f"/{source.card}/",
    )
    return render("coverage.html.j2", text, {}, link, supplement=supplement)


def _render_difference(view: View, supplement: CardSupplement, span: str, link: Linker) -> bytes:
    card = supplement.card.card
    old, dots, new = span.partition("..")
    if not (dots and old.isascii() and old.isdecimal() and new.isascii() and new.isdecimal()) or len(span) > 20:
        raise NotFoundError(Fault("address-not-found", link.here, "two revisions are written 1..2"))
    numbers = [int(old), int(new)]
    cards = [get_card(view, card, number or None) for number in numbers]
    blocks: list[Block]
    known: set[str] = set()
    if numbers[0] == numbers[1] or 0 in numbers:
        raise NotFoundError(Fault("address-not-found", link.here, "two revisions are compared, the first one is 1"))
    if all(view.has_content(side.text) for side in cards):
        comparison = compare_sides(view, *open_pair(view, card, old=numbers[0], new=numbers[1]), quotes=[])
        blocks = list(_present(comparison))
        known = {passage.name for passage in comparison.passages if passage.name.startswith("CLM-")}
    else:
        blocks = ["The text of one revision was erased, so that the two cannot be compared."]
    text = PageText(
        title=f"{card}, revisions {old} and {new}",
        description=f"What changed in {supplement.card.title}",
        origin=supplement.log_origin,
        state="",
        feed=f"/{card}/",
    )
    revisions = tuple(PageLink(text=f"{card}@{number}", href=link(f"/{card}@{number}/"), is_code=True) for number in numbers)
    group = {"key": "revisions", "title": "Revisions", "note": None, "claims": (), "entries": (), "links": revisions, "caption": ""}
    body = show_blocks(blocks, find=lambda name: link(f"/{name}/") if name in known else None)
    return render("blocks.html.j2", text, {"body": body, "redline": (), "groups": (group,)}, link)


def _present(comparison: RevisionComparison) -> Iterator[Block]:
    """Yield the comparison without what only its owner can do: the next commands, and how to see more in a terminal."""
    for block in present_comparison(comparison, whole=False):
        if isinstance(block, Title):
            continue
        if not isinstance(block, str):
            yield block
        elif block.strip().startswith("Next:") or block.strip().endswith(": --all"):
            continue
        else:
            yield block.partition(" Next:")[0]
