"""Where the claims of a card stand in another of its revisions, found and recorded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from registry.intake.anchor import AnchoredText
from registry.intake.revision.follow import Follower
from registry.records.card import Anchor, Card, CardText
from registry.records.claim import ClaimRevision
from registry.records.status import Lifecycle
from registry.records.survey import Sighting
from registry.registration.cards import get_card, get_card_text
from registry.store.view import View
from registry.store.writer import Writer

_ENDED = (Lifecycle.WITHDRAWN, Lifecycle.REJECTED, Lifecycle.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighted:
    """A claim, and where its passage stands in another revision."""

    claim: ClaimRevision
    anchor: Anchor
    """Where the claim quotes the card."""
    sighting: Sighting
    is_recorded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoting:
    """The claims whose current revision quotes a card, or one revision of it."""

    anchored: tuple[tuple[ClaimRevision, Anchor], ...]
    """In log order."""
    paraphrased: tuple[str, ...]
    """`CLM-…@n` of those in our words, which have no passage to be followed."""
    ended: tuple[str, ...]
    """Of those that are withdrawn, rejected or superseded."""


@dataclass(slots=True)
class Followers:
    """The texts of a card's revisions, each aligned with one newer text when first needed."""

    new: CardText
    open_text: Callable[[int], CardText]
    """Gives the text of a revision."""
    aligned: dict[int, Follower] = field(default_factory=dict)
    """By revision, as far as they were needed."""

    def get(self, revision: int) -> Follower:
        """Return the alignment of *revision* with the newer text."""
        if revision not in self.aligned:
            self.aligned[revision] = Follower(self.open_text(revision), self.new)
        return self.aligned[revision]


def list_quoting(view: View, card: str) -> Quoting:
    """Return the claims that quote *card*, `CRD-…` or `CRD-…@n`, by their current revisions."""
    anchored: list[tuple[ClaimRevision, Anchor]] = []
    paraphrased, ended = [], []
    for one in view.list_claims(card=card):
        reference = f"{one.claim}@{one.revision}"
        found = view.find_revision(one.claim, one.revision) if one.quote is not None else None
        if one.status.lifecycle in _ENDED:
            ended.append(reference)
        elif found is None or found.payload.anchor is None:
            paraphrased.append(reference)
        else:
            anchored.append((found.payload, found.payload.anchor))
    return Quoting(anchored=tuple(anchored), paraphrased=tuple(paraphrased), ended=tuple(ended))


def open_followers(view: View, card: str, new: CardText) -> Followers:
    """Return the alignments of every revision of *card* that a claim quotes with the text *new*, made before anything is written.

    An alignment takes seconds, for which no transaction should stay open.
    """
    followers = Followers(new=new, open_text=lambda revision: get_card_text(view, get_card(view, card, revision)))
    for claim, _ in list_quoting(view, card).anchored:
        followers.get(get_quoted_revision(claim))
    return followers


def sight_claims(writer: Writer, card: Card, followers: Followers) -> tuple[Sighting, ...]:
    """Record where the claims that quote other revisions of *card* stand in it, and return that; in the transaction of *card* itself."""
    followers.open_text = lambda revision: get_card_text(writer, get_card(writer, card.card, revision))
    others = [one for one in list_quoting(writer, card.card).anchored if get_quoted_revision(one[0]) != card.revision]
    sighted = find_sightings(writer, card, others, followers)
    record_sightings(writer, sighted)
    return tuple(one.sighting for one in sighted)


def find_sightings(view: View, card: Card, claims: Iterable[tuple[ClaimRevision, Anchor]], followers: Followers) -> tuple[Sighted, ...]:
    """Return where *claims*, which quote other revisions of *card*, stand in this one: as recorded, or found now."""
    reference = f"{card.card}@{card.revision}"
    known = {one.payload.claim: one.payload for one in view.list_sightings(card=reference)}
    found = []
    for claim, anchor in claims:
        sighting = known.get(claim.reference) or look_up(claim, anchor, reference, followers.get(get_quoted_revision(claim)))
        found.append(Sighted(claim=claim, anchor=anchor, sighting=sighting, is_recorded=claim.reference in known))
    return tuple(found)


def look_up(claim: ClaimRevision, anchor: Anchor, card: str, follower: Follower) -> Sighting:
    """Return where *claim*, which quotes the older text of *follower* at *anchor*, stands in the newer one, *card*."""
    found = follower.follow(anchor)
    return Sighting(claim=claim.reference, card=card, fate=found.fate, anchor=found.anchor, differs=found.differs)


def record_sightings(writer: Writer, sighted: Iterable[Sighted]) -> int:
    """Record those that are not recorded, each as a statement of its own, and return how many; the same again records none."""
    new = [one.sighting for one in sighted if not one.is_recorded]
    writer.append_many(new)
    return len(new)


def find_quotes(text: CardText, quotes: Iterable[tuple[str, str]]) -> list[tuple[str, Anchor]]:
    """Return where *quotes*, each with its name, stand in *text*.

    Raises:
        InputError: one is not there, with the nearest passage.
    """
    anchored = AnchoredText(text)
    return [(name, anchored.find(quote, where=name)) for name, quote in quotes]


def get_quoted_revision(claim: ClaimRevision) -> int:
    """Return which revision of its card *claim* quotes."""
    return int((claim.card or "").partition("@")[2])
