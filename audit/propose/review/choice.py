"""Which part of a card is proposed from: sections, pages, and how sure the engine must be."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from registry.errors import Fault, InputError
from registry.records.card import CardText, Heading
from registry.records.passage import Outline
from registry.records.proposal import Confidence, Proposal, Proposals

_NUMBER = re.compile(r"((?:[A-Z]|\d{1,3})(?:\.\d{1,3}){0,5})\.?(?=\s)")
_RANKS = {one: rank for rank, one in enumerate(Confidence)}
_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person asked for; None stands for everything."""

    section: str | None = None
    """How a section's number or title begins; its subsections, as far as headings are numbered, belong to it."""
    pages: tuple[int, int] | None = None
    """First and last page."""
    confidence: Confidence | None = None
    """The least."""

    def describe(self) -> str:
        """Return the part that was chosen, such as `section 5, pages 31-40`; empty for the whole card."""
        section = "" if self.section is None else f"section {' '.join(self.section.split())}"
        pages = "" if self.pages is None else f"pages {self.pages[0]}-{self.pages[1]}"
        return ", ".join(one for one in (section, pages) if one)

    def narrow(self, outline: Outline, card: CardText) -> Outline:
        """Return *outline* with the passages of the chosen sections and pages alone; headings stay.

        Raises:
            InputError: no heading begins so, the card has no such page, or it has no pages.
        """
        chosen = None if self.section is None else _find_sections(self.section, outline.headings)
        if self.pages is not None:
            _check_pages(self.pages, card)
        kept = (
            one
            for one in outline.passages
            if (chosen is None or one.section in chosen)
            and (self.pages is None or (one.page is not None and self.pages[0] <= one.page <= self.pages[1]))
        )
        return replace(outline, passages=tuple(kept))

    def keep(self, proposals: Proposals, outline: Outline) -> tuple[Proposals, int]:
        """Return *proposals* without those beyond the passages of *outline* or not sure enough, and how many were not sure enough."""
        spans = [(one.start, one.stop) for one in outline.passages]
        inside = _keep_inside(proposals, spans) if self.section is not None or self.pages is not None else proposals.proposals
        sure = [one for one in inside if self.confidence is None or _RANKS[one.confidence] <= _RANKS[self.confidence]]
        passages = min(proposals.passages, len(spans))  # a model may have read fewer
        return replace(proposals, proposals=tuple(sure), passages=passages), len(inside) - len(sure)


def parse_pages(text: str) -> tuple[int, int]:
    """Return the first and last page written as `31` or `31-40`; raises ValueError."""
    found = re.fullmatch(r"\s*(\d{1,6})\s*(?:[-–]\s*(\d{1,6})\s*)?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise ValueError(f"{text!r} is no range of pages; write 31 or 31-40")
    return first, last


def _keep_inside(proposals: Proposals, spans: Sequence[tuple[int, int]]) -> tuple[Proposal, ...]:
    return tuple(one for one in proposals.proposals if any(start < one.anchor.stop and one.anchor.start < stop for start, stop in spans))


def _find_sections(wanted: str, headings: Sequence[Heading]) -> frozenset[int]:
    """Return the indices of the headings that begin with *wanted*, by number or title, and of their numbered subsections."""
    words = " ".join(wanted.split()).casefold()
    chosen = {index for index, one in enumerate(headings) if _begins(one.title, words)}
    if not chosen:
        titles = [one.title for one in headings]
        listed = "; ".join(titles[:_SHOWN]) + (f"; and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else "")
        found = f"no heading begins with {wanted!r}; headings: {listed}" if titles else "no heading was found in this card"
        raise InputError(Fault(code="no-such-section", where="--section", found=found, advice="give a number or the beginning of a title"))
    numbers = tuple(f"{number}." for index in chosen if (number := _find_number(headings[index].title)))
    chosen |= {index for index, one in enumerate(headings) if (_find_number(one.title) or "").startswith(numbers or ("\0",))}
    return frozenset(chosen)


def _begins(title: str, words: str) -> bool:
    folded = " ".join(title.split()).casefold()
    number = _find_number(title)
    rest = folded[len(number) :].lstrip(". ") if number else folded
    after = folded[len(words) : len(words) + 1]
    is_cut = words[-1:].isdigit() and after.isdigit()  # section 5 is not section 50
    return bool(words) and (rest.startswith(words) or (folded.startswith(words) and not is_cut))


def _find_number(title: str) -> str | None:
    found = _NUMBER.match(" ".join(title.split()) + " ")
    return found[1] if found else None


def _check_pages(pages: tuple[int, int], card: CardText) -> None:
    last = card.pages[-1].number
    if len(card.pages) == 1 and card.media_type != "application/pdf":
        found, advice = f"this {card.media_type} card has no pages", "choose by --section"
    elif pages[0] > last:
        found, advice = f"the card has pages 1 to {last}", "pages are counted from the first of the file"
    else:
        return
    raise InputError(Fault(code="no-such-page", where=f"--page {pages[0]}-{pages[1]}", found=found, advice=advice))
