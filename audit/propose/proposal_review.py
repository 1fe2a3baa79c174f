"""A person's review of proposals: what to review, each decision, and the journal that keeps every step."""

import hashlib
import os
import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from pathlib import Path
from typing import BinaryIO, Literal

from audit.propose.passage_context import OUTSIDE
from registry.codec.canonical_documents import canonical_bytes, from_json, to_document
from registry.codec.file_io import lock_file
from registry.errors import CaveatError, ConflictError, Fault, InputError, UnavailableError
from registry.intake.quote_anchor import AnchoredText, show_text
from registry.records.claim import Direction, Form, PropertyClass, QuoteStatus
from registry.records.claim_draft import ClaimDraft, ClaimsFile, Confidence, Proposal, Proposals, SurveyDraft
from registry.records.model_version import ModelRef
from registry.records.record import Record
from registry.records.specification import PropertySpec
from registry.records.system_card import Anchor, CardText, Heading, Outline, Passage, PassageKind
from registry.registration.claims_file_registration import check_figures

# The part of a card to propose from: sections, pages, and the least confidence.

_NUMBER = re.compile(r"((?:[A-Z]|\d{1,3})(?:\.\d{1,3}){0,5})\.?(?=\s)")
_RANKS = {one: rank for rank, one in enumerate(Confidence)}
_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSelection:
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
        return ", ".join(name for name in (section, pages) if name)

    def narrow(self, outline: Outline, card: CardText) -> Outline:
        """Return *outline* with the passages of the chosen sections and pages alone; headings stay.

        Raises:
            InputError: no heading begins so, the card has no such page, or it has no pages.
        """
        chosen = None if self.section is None else _find_sections(self.section, outline.headings)
        if self.pages is not None:
            _check_pages(self.pages, card)
        kept = (
            passage
            for passage in outline.passages
            if (chosen is None or passage.section in chosen)
            and (self.pages is None or (passage.page is not None and self.pages[0] <= passage.page <= self.pages[1]))
        )
        return replace(outline, passages=tuple(kept))

    def keep(self, proposals: Proposals, outline: Outline) -> tuple[Proposals, int]:
        """Return *proposals* without those beyond the passages of *outline* or not sure enough, and how many were not sure enough."""
        spans = [(passage.start, passage.stop) for passage in outline.passages]
        is_part = self.section is not None or self.pages is not None
        inside = [
            proposal
            for proposal in proposals.proposals
            if not is_part or any(start < proposal.anchor.stop and proposal.anchor.start < stop for start, stop in spans)
        ]
        sure = [proposal for proposal in inside if self.confidence is None or _RANKS[proposal.confidence] <= _RANKS[self.confidence]]
        passages = min(proposals.passages, len(spans))  # a model may have read fewer
        return replace(proposals, proposals=tuple(sure), passages=passages), len(inside) - len(sure)


def parse_pages(text: str) -> tuple[int, int]:
    """Return the first and last page written as `31` or `31-40`; raises ValueError."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*(?:[-–]\s*(\d{1,6})\s*)?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise ValueError(f"{text!r} is no range of pages; write 31 or 31-40")
    return first, last


def _find_sections(wanted: str, headings: Sequence[Heading]) -> frozenset[int]:
    """Return the indices of the headings that begin with *wanted*, by number or title, and of their numbered subsections."""
    words = " ".join(wanted.split()).casefold()
    chosen = {index for index, heading in enumerate(headings) if _begins(heading.title, words)}
    if not chosen:
        titles = [one.title for one in headings]
        listed = "; ".join(titles[:_SHOWN]) + (f"; and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else "")
        found = f"no heading begins with {wanted!r}; headings: {listed}" if titles else "no heading was found in this card"
        raise InputError(Fault("section-not-found", "--section", found))
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
    match = _NUMBER.match(" ".join(title.split()) + " ")
    return match[1] if match else None


def _check_pages(pages: tuple[int, int], card: CardText) -> None:
    last = card.pages[-1].number
    if len(card.pages) == 1 and card.media_type != "application/pdf":
        found = f"this {card.media_type} card has no pages"
    elif pages[0] > last:
        found = f"the card has pages 1 to {last}"
    else:
        return
    raise InputError(Fault("page-not-found", f"--page {pages[0]}-{pages[1]}", found))


# The surroundings of a proposal, for the person who judges it.

_NEARBY = 300
"""Characters shown before and after a passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSurroundings:
    """A quote with its neighbours; all texts on one line, control and direction characters visible."""

    before: str
    """The passage before; empty where there is none."""
    lead: str
    """Of the quote's own passage, what stands before the quote; empty where it begins with it."""
    quote: str
    """Of a table row, as a person reads it; of everything else, as the card has it."""
    tail: str
    """Of the quote's own passage, what stands after it."""
    after: str
    caption: str | None = None
    """Of a table row, what is written above or below its table."""
    cells: tuple[tuple[str, str], ...] = ()
    """Of a table row: column and cell, from left to right; "" for a column without a head."""


class PassageNeighbours:
    """A card's passages, made ready to find what stands around many quotes."""

    def __init__(self, card: CardText, outline: Outline) -> None:
        self._text = card.text
        self._passages = [passage for passage in outline.passages if passage.kind not in OUTSIDE]
        self._starts = [one.start for one in self._passages]

    def find(self, anchor: Anchor) -> QuoteSurroundings:
        """Return what stands around the quote at *anchor*."""
        own = list(self._find_own(anchor))
        start, stop = (min(own[0][1].start, anchor.start), max(own[-1][1].stop, anchor.stop)) if own else (anchor.start, anchor.stop)
        # A quote that no passage holds is between two, which are both beside the neighbours to show.
        place = bisect_right(self._starts, anchor.start)
        first, last = (own[0][0], own[-1][0]) if own else (place, place - 1)
        row = next((passage for _, passage in own if passage.kind is PassageKind.ROW), None)
        return QuoteSurroundings(
            before=self._show(first - 1, is_end=True),
            lead=_shorten_start(self._text[start : anchor.start]),
            quote=show_text(self._text[anchor.start : anchor.stop] if row is None else row.words, limit=2_000),
            tail=show_text(self._text[anchor.stop : stop], limit=_NEARBY),
            after=self._show(last + 1, is_end=False),
            caption=show_text(row.caption) if row is not None and row.caption else None,
            cells=tuple((show_text(cell.column or ""), show_text(cell.text)) for cell in row.cells) if row is not None else (),
        )

    def _find_own(self, anchor: Anchor) -> Iterator[tuple[int, Passage]]:
        """Give the passages that the quote touches, with their places."""
        for place in range(max(0, bisect_right(self._starts, anchor.start) - 1), len(self._passages)):
            passage = self._passages[place]
            if passage.start >= anchor.stop:
                return
            if passage.stop > anchor.start:
                yield place, passage

    def _show(self, place: int, *, is_end: bool) -> str:
        if not 0 <= place < len(self._passages):
            return ""
        words = self._passages[place].words
        return _shorten_start(words) if is_end else show_text(words, limit=_NEARBY)


def _shorten_start(text: str) -> str:
    """Keep the end: what stands right before a quote matters most."""
    folded = " ".join(text[-20 * _NEARBY :].split())
    return show_text(folded if len(folded) <= _NEARBY else f"…{folded[-_NEARBY + 1 :]}", limit=2 * _NEARBY)


# Checks of edited claims. What `caveat claim add` would refuse is reported while the person is still editing.


def check_claims(file: ClaimsFile, text: AnchoredText, registered: Mapping[str, PropertySpec | None], *, fewest: int, where: str) -> None:
    """Raise InputError unless every claim of *file* could be registered.

    Args:
        text: the card, in which every verbatim quote must stand.
        registered: short names of properties that the registry has.
        fewest: claims that are expected at least.
        where: what the file is, as the person knows it.
    """
    faults = []
    if len(file.claims) < fewest:
        found = f"{len(file.claims)} claims, expected {fewest} at least"
        faults.append(Fault("not-valid", f"{where}, claims", found, advice="copy the claim, and cut each quote to its part"))
    for name in ("scorings", "test_contexts", "deploy_contexts", "excluded"):
        if getattr(file, name):
            found = "is not kept by a review"
            faults.append(Fault("not-valid", f"{where}, {name}", found, advice="write it into the claims file afterwards"))
    for position, draft in enumerate(file.claims):
        faults += _check_claim(draft, text, {**registered, **(file.properties or {})}, f"{where}, claims[{position}]")
    if faults:
        raise InputError(faults)


def _check_claim(draft: ClaimDraft, text: AnchoredText, specs: Mapping[str, PropertySpec | None], where: str) -> Iterator[Fault]:
    if draft.quote_status is QuoteStatus.VERBATIM:
        try:
            text.find(draft.quote, page=draft.page, where=f"{where}.quote")
        except CaveatError as error:
            yield from error.faults
    try:
        check_figures(draft, specs.get(draft.property), where)
    except CaveatError as error:
        yield from error.faults
    if draft.property not in specs and not draft.property.startswith("PRP-"):
        found = f"no property {draft.property!r} here; there are: {', '.join(sorted(specs)) or 'none'}"
        yield Fault("spec-not-found", f"{where}.property", found, advice="define it under properties:, or name one of these")


# A review of proposals: pure steps, without terminal and files. Replaying the steps gives the same review, which the
# tests hold as a law.


class ProposalVerdict(StrEnum):
    """What a person decided on one proposal."""

    ACCEPTED = "accepted"
    """As proposed, edited, or split into several claims."""
    EXCLUDED = "left out"
    """Deliberately not registered, with the reason."""
    SKIPPED = "skipped"
    """Looked at, and still open."""


class ReviewMove(StrEnum):
    """What a step of a review is."""

    DECIDE = "decide"
    UNDO = "undo"
    """The last decision that is not undone becomes what it was before."""
    WRITE = "write"
    """The claims file is about to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalDecision(Record):
    """What a person decided on one proposal."""

    at: int
    """Index of the proposal, from 0."""
    verdict: ProposalVerdict
    claims: tuple[ClaimDraft, ...] = ()
    """What becomes of an accepted one: one claim, or several of a split; empty for the other verdicts."""
    properties: dict[str, PropertySpec] | None = None
    """Those of the claims, by short name; without registered ones that they name."""
    reason: str | None = None
    """Given exactly for what is left out."""

    def __post_init__(self) -> None:
        if self.at < 0:
            raise ValueError("proposals are counted from 0")
        if (self.verdict is ProposalVerdict.ACCEPTED) != bool(self.claims):
            raise ValueError("claims belong to what is accepted, and only to it")
        if (self.verdict is ProposalVerdict.EXCLUDED) != bool(self.reason and self.reason.strip()):
            raise ValueError("a reason belongs to what is left out, and only to it")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewStep(Record):
    """One step of a review, as its journal keeps it."""

    move: ReviewMove
    decision: ProposalDecision | None = None
    """Given exactly for a decision."""
    sha256: str | None = None
    """Of the claims file, hexadecimal; given exactly where it is written."""

    def __post_init__(self) -> None:
        if (self.move is ReviewMove.DECIDE) != (self.decision is not None) or (self.move is ReviewMove.WRITE) != (self.sha256 is not None):
            raise ValueError("a decision belongs to decide, a digest to write")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalReview:
    """Where a review stands."""

    decisions: Mapping[int, ProposalDecision] = field(default_factory=dict)
    """By index of the proposal; what is not in it was never decided on."""
    before: tuple[tuple[int, ProposalDecision | None], ...] = ()
    """For each decision that can be undone, in order: its index, and what stood there before."""
    written: frozenset[str] = frozenset()
    """Digests of the claims files that this review wrote."""

    @property
    def last(self) -> int | None:
        """Index of the proposal that was decided on last; None at the beginning."""
        return self.before[-1][0] if self.before else None

    def count(self, verdict: ProposalVerdict) -> int:
        """Return how many proposals have this verdict."""
        return sum(decision.verdict is verdict for decision in self.decisions.values())

    def is_open(self, at: int) -> bool:
        """Whether the proposal is undecided at *at*, or it was skipped."""
        return at not in self.decisions or self.decisions[at].verdict is ProposalVerdict.SKIPPED


def take_step(review: ProposalReview, step: ReviewStep) -> ProposalReview:
    """Return *review* after *step*; undoing where nothing was decided changes nothing."""
    match step.move:
        case ReviewMove.DECIDE:
            if step.decision is None:
                raise ValueError("a decision is missing")
            at = step.decision.at
            before = (*review.before, (at, review.decisions.get(at)))
            return replace(review, decisions={**review.decisions, at: step.decision}, before=before)
        case ReviewMove.UNDO:
            return _undo(review)
        case ReviewMove.WRITE:
            return replace(review, written=review.written | {step.sha256 or ""})


def replay_steps(steps: Iterable[ReviewStep]) -> ProposalReview:
    """Return where a review stands after *steps*."""
    return reduce(take_step, steps, ProposalReview())


def find_open(review: ProposalReview, total: int, *, after: int | None, hidden: Container[int] = ()) -> int | None:
    """Return the first proposal after *after* that is undecided, going round; those skipped come last. None: all are decided on.

    Args:
        hidden: proposals that are not gone through: rows of folded tables, and those that a filter leaves out.
    """
    start = 0 if after is None else after + 1
    order = [at for step in range(total) if (at := (start + step) % total) not in hidden]
    # Skipped proposals come last, so that a person who skips does not see the same one again at once.
    untouched = (at for at in order if at not in review.decisions)
    skipped = (at for at in order if review.is_open(at))
    return next(untouched, next(skipped, None))


def find_words(proposals: Iterable[Proposal], words: str, *, after: int) -> int | None:
    """Return the next proposal after *after*, going round, in whose quote, property, model, evaluation or section *words* stand.

    None where they stand in no proposal.
    """
    wanted = " ".join(words.split()).casefold()
    found = [at for at, proposal in enumerate(proposals) if wanted in " ".join(" ".join(_list_texts(proposal)).split()).casefold()]
    return next((at for at in found if at > after), found[0] if found else None)


FILTERS = {
    "own": "about the card's own model",
    "other": "about another model, or about none that the card names",
    "high": "of high confidence",
    "medium": "of medium confidence",
    "low": "of low confidence",
    "unknown": "whose safer direction is not known",
}
"""Words of a filter beside classes, directions and forms, which stand for themselves."""


def find_outside(proposals: Sequence[Proposal], words: Iterable[str]) -> frozenset[int]:
    """Return the proposals that a filter leaves out; a proposal must fit each of *words*.

    Raises:
        ValueError: a word is no filter.
    """
    wanted = tuple(words)
    known = {*FILTERS, *PropertyClass, *Direction, *Form}
    unknown = [word for word in wanted if word not in known]
    if unknown:
        raise ValueError(f"no filter {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    return frozenset(at for at, proposal in enumerate(proposals) if not set(wanted) <= _list_marks(proposal))


def _list_marks(proposal: Proposal) -> set[str]:
    marks = {proposal.confidence.value, proposal.property.class_.value, proposal.form.value, "own" if proposal.is_own else "other"}
    return marks | ({"unknown"} if proposal.unknown else {proposal.property.direction.value})


class DecisionScope(StrEnum):
    """What one decision covers."""

    ROW = "row"
    """All proposals of the passage."""
    TABLE = "table"
    """All rows of its table, or all proposals of its block."""
    SECTION = "section"


def find_scope(proposals: Sequence[Proposal], at: int, scope: DecisionScope) -> tuple[int, ...]:
    """Return the proposals that a decision on the one at *at* covers under *scope*, itself among them."""
    chosen = proposals[at]
    match scope:
        case DecisionScope.ROW:
            return tuple(place for place, proposal in enumerate(proposals) if proposal.anchor.start == chosen.anchor.start)
        case DecisionScope.TABLE:
            same = (proposal.table is not None and proposal.table == chosen.table for proposal in proposals)
            return tuple(place for place, is_same in enumerate(same) if is_same or place == at)
        case DecisionScope.SECTION:
            return tuple(place for place, proposal in enumerate(proposals) if proposal.anchor.section == chosen.anchor.section)


def _undo(review: ProposalReview) -> ProposalReview:
    if not review.before:
        return review
    at, stood = review.before[-1]
    kept = {place: decision for place, decision in review.decisions.items() if place != at}
    return replace(review, decisions=kept if stood is None else {**kept, at: stood}, before=review.before[:-1])


def _list_texts(proposal: Proposal) -> Iterator[str]:
    anchor = proposal.anchor
    yield from (proposal.quote, proposal.property.name, proposal.slug, proposal.form.value, proposal.confidence.value)
    yield from (name for name in (proposal.model, proposal.evaluation, anchor.section, proposal.written) if name)


# The journal of a review, a file of steps beside the claims file, synced at every key. Its first line holds all
# proposals, so resuming proposes nothing anew. Cost: 130 kB for a card of 40 pages.

_ENDING = ".review"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOpening(Record):
    """The first line of a journal: what is reviewed. It holds everything, so that a review goes on without proposing again."""

    proposals: Proposals
    survey: SurveyDraft
    """Which passages the engine proposed, also those that are not reviewed here."""
    model: ModelRef
    """Stands for all claims that name none."""
    given: ModelRef | None = None
    """The model that the person named with `--model`; None where they named none."""
    schema: Literal["caveat/review/1"] = "caveat/review/1"


class ReviewJournal:
    """The open journal of one review; no one else can open it meanwhile."""

    def __init__(self, path: Path, stream: BinaryIO, opening: JournalOpening, review: ProposalReview) -> None:
        self.path = path
        self.opening = opening
        self.review = review
        """Where the review stood when the journal was opened."""
        self._stream = stream

    def append(self, step: ReviewStep) -> None:
        """Write *step* to the disk; when this returns, it is there."""
        _write(self._stream, _encode(step))

    def close(self) -> None:
        """Let go of the journal."""
        self._stream.close()


def name_journal(path: Path) -> Path:
    """Return where the journal of the review that writes the claims file *path* stands: beside it."""
    return path.with_name(path.name + _ENDING)


def begin_journal(path: Path, opening: JournalOpening) -> ReviewJournal:
    """Begin the journal of a new review of the claims file *path*.

    Raises:
        ConflictError: *path* exists already, and was not written by a review.
        InputError: it cannot be written.
    """
    check_free(path)
    journal = name_journal(path)
    try:
        # "x": two terminals that begin at once cannot both create the journal.
        stream = journal.open("x+b")
    except FileExistsError as error:
        raise ConflictError(_busy(journal)) from error
    except OSError as error:
        raise InputError(_unreadable(journal, error)) from error
    _lock(stream, journal)
    _write(stream, _encode(opening))
    return ReviewJournal(journal, stream, opening, ProposalReview())


def check_free(path: Path) -> None:
    """Refuse to begin a review whose claims file *path* exists already; raises ConflictError."""
    if path.exists():
        raise ConflictError(Fault("file-exists", str(path), "this file exists already, and no review wrote it"))


def find_journal(path: Path) -> ReviewJournal | None:
    """Open the journal of the claims file *path*; None where there is none.

    A last line that a kill cut off is dropped: its step was not done. A journal that was cut off in its first line never began.

    Raises:
        InputError: the journal is damaged.
        ConflictError: the claims file was changed by hand since.
        UnavailableError: another terminal reviews it.
    """
    journal = name_journal(path)
    try:
        stream = journal.open("r+b")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(_unreadable(journal, error)) from error
    try:
        _lock(stream, journal)
        lines = _read_lines(stream)
        # A journal that was cut off in its first line never began, so the review begins anew.
        if not lines:
            journal.unlink()
            stream.close()
            return None
        opening, review = _parse(lines, journal)
        _check_untouched(path, review)
    except BaseException:
        stream.close()
        raise
    return ReviewJournal(journal, stream, opening, review)


def check_same(journal: ReviewJournal, *, document: str, engine: str) -> None:
    """Refuse to go on with a review of another card or by another engine; raises ConflictError."""
    reviewed = journal.opening.proposals
    differences = []
    if reviewed.document != document:
        differences.append(f"reviews another file: {reviewed.title}, sha256 {reviewed.document[:16]}…, not {document[:16]}…")
    if reviewed.engine.value != engine:
        differences.append(f"reviews what the engine {reviewed.engine.value} proposed, not {engine}")
    if differences:
        raise ConflictError([Fault("review-differs", str(journal.path), difference) for difference in differences])


def digest_text(text: str) -> str:
    """Return the SHA-256 of *text* in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _encode(record: Record) -> bytes:
    return canonical_bytes(to_document(record)) + b"\n"


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(data)
    stream.flush()
    os.fsync(stream.fileno())


def _lock(stream: BinaryIO, journal: Path) -> None:
    if not lock_file(stream, where=str(journal)):
        raise UnavailableError(_busy(journal))


def _read_lines(stream: BinaryIO) -> list[bytes]:
    """Return the whole lines of the journal, and cut off what follows them."""
    data = stream.read()
    whole, _, cut = data.rpartition(b"\n")
    if cut:
        # A line without its end was cut off by a kill. Its step was never shown as done.
        stream.truncate(len(data) - len(cut))
        stream.seek(0, os.SEEK_END)
    return whole.split(b"\n") if whole else []


def _parse(lines: Sequence[bytes], journal: Path) -> tuple[JournalOpening, ProposalReview]:
    try:
        opening = from_json(JournalOpening, lines[0], where=f"{journal}, line 1")
        steps = [from_json(ReviewStep, line, where=f"{journal}, line {number}") for number, line in enumerate(lines[1:], start=2)]
    except CaveatError as error:
        raise InputError(_damaged(fault.where, fault.found) for fault in error.faults) from error
    total = len(opening.proposals.proposals)
    beyond = [number for number, step in enumerate(steps, start=2) if step.decision is not None and step.decision.at >= total]
    if beyond:
        raise InputError(_damaged(f"{journal}, line {number}", f"decides on a proposal beyond the last of {total}") for number in beyond)
    return opening, replay_steps(steps)


def _damaged(where: str, text: str) -> Fault:
    return Fault("review-damaged", where, text)


def _check_untouched(path: Path, review: ProposalReview) -> None:
    """What a person wrote into the claims file since is theirs: it is never overwritten."""
    try:
        held = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return
    if held not in review.written:
        found = "was changed since the review wrote it"
        advice = f"go on by hand, and register it with: caveat claim add {path}; to review on, move it away and run the same command again"
        raise ConflictError(Fault("file-changed", str(path), found, advice=advice))


def _busy(journal: Path) -> Fault:
    return Fault("in-use", str(journal), "is open in another terminal")


def _unreadable(journal: Path, error: OSError) -> Fault:
    found = f"the review's journal cannot be opened: {error.strerror or error}"
    return Fault("file-not-accessible", str(journal), found, advice="check path and permissions")
