"""A person's review of proposals: what each step makes of it, without a terminal and without files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from registry.records.draft import ClaimDraft
from registry.records.proposal import Proposal
from registry.records.record import Record
from registry.records.spec import PropertySpec


class Verdict(StrEnum):
    """What a person decided on one proposal."""

    ACCEPTED = "accepted"
    """As proposed, edited, or split into several claims."""
    LEFT_OUT = "left out"
    """Deliberately not registered, with the reason."""
    SKIPPED = "skipped"
    """Looked at, and still open."""


class Move(StrEnum):
    """What a step of a review is."""

    DECIDE = "decide"
    UNDO = "undo"
    """The last decision that is not undone becomes what it was before."""
    WRITE = "write"
    """The claims file is about to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Record):
    """What a person decided on one proposal."""

    at: int
    """Index of the proposal, from 0."""
    verdict: Verdict
    claims: tuple[ClaimDraft, ...] = ()
    """What becomes of an accepted one: one claim, or several of a split; empty for the other verdicts."""
    properties: dict[str, PropertySpec] | None = None
    """Those of the claims, by short name; without registered ones that they name."""
    reason: str | None = None
    """Given exactly for what is left out."""

    def __post_init__(self) -> None:
        if self.at < 0:
            raise ValueError("proposals are counted from 0")
        if (self.verdict is Verdict.ACCEPTED) != bool(self.claims):
            raise ValueError("claims belong to what is accepted, and only to it")
        if (self.verdict is Verdict.LEFT_OUT) != bool(self.reason and self.reason.strip()):
            raise ValueError("a reason belongs to what is left out, and only to it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Record):
    """One step of a review, as its journal keeps it."""

    move: Move
    decision: Decision | None = None
    """Given exactly for a decision."""
    sha256: str | None = None
    """Of the claims file, hexadecimal; given exactly where it is written."""

    def __post_init__(self) -> None:
        if (self.move is Move.DECIDE) != (self.decision is not None) or (self.move is Move.WRITE) != (self.sha256 is not None):
            raise ValueError("a decision belongs to decide, a digest to write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Where a review stands."""

    decisions: Mapping[int, Decision] = field(default_factory=dict)
    """By index of the proposal; what is not in it was never decided on."""
    before: tuple[tuple[int, Decision | None], ...] = ()
    """For each decision that can be undone, in order: its index, and what stood there before."""
    written: frozenset[str] = frozenset()
    """Digests of the claims files that this review wrote."""

    @property
    def last(self) -> int | None:
        """Index of the proposal that was decided on last; None at the beginning."""
        return self.before[-1][0] if self.before else None

    def count(self, verdict: Verdict) -> int:
        """Return how many proposals have this verdict."""
        return sum(one.verdict is verdict for one in self.decisions.values())

    def is_open(self, at: int) -> bool:
        """Whether nobody has decided on the proposal at *at*, or it was skipped."""
        return at not in self.decisions or self.decisions[at].verdict is Verdict.SKIPPED


def take(review: Review, step: Step) -> Review:
    """Return *review* after *step*; undoing where nothing was decided changes nothing."""
    match step.move:
        case Move.DECIDE:
            if step.decision is None:
                raise ValueError("a decision is missing")
            at = step.decision.at
            before = (*review.before, (at, review.decisions.get(at)))
            return replace(review, decisions={**review.decisions, at: step.decision}, before=before)
        case Move.UNDO:
            return _undo(review)
        case Move.WRITE:
            return replace(review, written=review.written | {step.sha256 or ""})


def replay(steps: Iterable[Step]) -> Review:
    """Return where a review stands after *steps*."""
    review = Review()
    for step in steps:
        review = take(review, step)
    return review


def find_open(review: Review, total: int, *, after: int | None) -> int | None:
    """Return the first proposal after *after* that nobody decided on, going round; those skipped come last. None: all are decided on."""
    start = 0 if after is None else after + 1
    order = [(start + step) % total for step in range(total)] if total else []
    untouched = (at for at in order if at not in review.decisions)
    skipped = (at for at in order if review.is_open(at))
    return next(untouched, next(skipped, None))


def find_words(proposals: Iterable[Proposal], words: str, *, after: int) -> int | None:
    """Return the next proposal after *after*, going round, in whose quote, property, model, evaluation or section *words* stand.

    None where they stand in no proposal.
    """
    wanted = " ".join(words.split()).casefold()
    found = [at for at, one in enumerate(proposals) if wanted in _gather(one)]
    return next((at for at in found if at > after), found[0] if found else None)


def _undo(review: Review) -> Review:
    if not review.before:
        return review
    at, stood = review.before[-1]
    kept = {place: one for place, one in review.decisions.items() if place != at}
    return replace(review, decisions=kept if stood is None else {**kept, at: stood}, before=review.before[:-1])


def _gather(proposal: Proposal) -> str:
    return " ".join(" ".join(_list_texts(proposal)).split()).casefold()


def _list_texts(proposal: Proposal) -> Iterator[str]:
    anchor = proposal.anchor
    yield from (proposal.quote, proposal.property.name, proposal.slug, proposal.form.value, proposal.confidence.value)
    yield from (one for one in (proposal.model, proposal.evaluation, anchor.section, proposal.written) if one)
