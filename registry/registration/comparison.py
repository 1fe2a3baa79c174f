"""Two card texts to be compared: revisions of a registered card, or files, with the passages that are followed from one to the other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from registry.errors import Fault, InputError, NotFoundError
from registry.intake.changes import ChangedFigure, Changes, find_changed_numbers, summarise_changes
from registry.intake.follow import Followed, Follower
from registry.records.card import Anchor, Card, CardText
from registry.records.identifier import Kind, parse_identifier
from registry.records.survey import Fate
from registry.registration.cards import get_card, get_card_text
from registry.registration.sightings import Quoting, Sighted, find_quotes, list_quoting, look_up
from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two texts."""

    name: str
    """`CRD-…@n`, or the path of a file."""
    text: CardText
    card: Card | None
    """None for a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage that was followed."""

    name: str
    """`CLM-…@n`, or where a quote stands in a claims file."""
    old: Anchor
    found: Followed
    numbers: str | None
    """What a reworded passage changed in its numbers, as "4 → 5"; None where nothing did."""
    sighted: Sighted | None
    """Of a registered claim between two revisions of its card; None for everything else."""

    @property
    def is_alarm(self) -> bool:
        """Whether a person has to decide what becomes of it; as `Sighting.is_alarm`."""
        return self.found.fate is Fate.GONE or (self.found.fate is Fate.REWORDED and not self.found.differs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of the passages, and what else changed."""

    old: Side
    new: Side
    passages: tuple[Passage, ...]
    """In the order of the older text."""
    quoting: Quoting | None
    """The claims that quote the older revision; None where it is a file."""
    changes: Changes
    figures: tuple[ChangedFigure, ...]
    """Of `changes.figures` those in passages that none of the followed ones touches."""


def open_side(view: View, name: str, revision: int | None = None) -> Side:
    """Return the registered revision of a card that *name* and *revision* mean.

    Raises:
        InputError: *name* is no identifier of a card.
        NotFoundError: no such card or revision.
    """
    try:
        identifier = parse_identifier(name, Kind.CARD)
    except ValueError as error:
        raise InputError(Fault(code="bad-identifier", where=name, found=str(error))) from error
    card = get_card(view, identifier.bare, revision or identifier.revision)
    return Side(name=f"{card.card}@{card.revision}", text=get_card_text(view, card), card=card)


def open_pair(view: View, name: str, *, old: int | None, new: int | None) -> tuple[Side, Side]:
    """Return two revisions of the card *name*: the latest, or *new*, or the one that *name* gives, and the one before it, or *old*.

    Raises:
        NotFoundError: the card has one revision only, or not these.
        InputError: both are the same.
    """
    latest = open_side(view, name, new)
    card = latest.card
    if card is not None and card.revision == 1 and new is None and old is None:
        found = "has nothing before it to be compared with"
        advice = f"register the newer file (caveat card add FILE --revises {card.card} …), or name it: caveat card diff {card.card} FILE"
        raise NotFoundError(Fault(code="no-such-revision", where=latest.name, found=found, advice=advice))
    before = open_side(view, name.partition("@")[0], old or max((card.revision if card else 2) - 1, 1))
    if before.name == latest.name:
        found = f"{latest.name} would be compared with itself"
        raise InputError(Fault(code="nothing-to-compare", where="--from and --to", found=found, advice="name two revisions"))
    return before, latest


def compare_sides(view: View | None, old: Side, new: Side, *, quotes: list[tuple[str, str]]) -> Comparison:
    """Return what became of the claims that quote *old*, and of *quotes* (each with its name), in *new*.

    Raises:
        InputError: a quote does not stand in *old*.
    """
    follower = Follower(old.text, new.text)
    quoting = list_quoting(view, old.name) if view is not None and old.card is not None else None
    passages = list(_follow_claims(view, new, quoting, follower)) if view is not None and quoting is not None else []
    passages += [_build(name, anchor, follower.follow(anchor)) for name, anchor in find_quotes(old.text, quotes)]
    changes = summarise_changes(follower)
    spans = [(one.old.start, one.old.stop) for one in passages]
    untouched = tuple(one for one in changes.figures if not any(start < one.stop and one.start < stop for start, stop in spans))
    ordered = tuple(sorted(passages, key=lambda one: (one.old.start, one.name)))
    return Comparison(old=old, new=new, passages=ordered, quoting=quoting, changes=changes, figures=untouched)


def read_side(path: Path) -> Side:
    """Return the text of a file that need not be registered; raises InputError as the card readers do."""
    from registry.intake.read import read_card  # noqa: PLC0415  (the readers are needed for files alone)

    return Side(name=str(path), text=read_card(path), card=None)


def _follow_claims(view: View, new: Side, quoting: Quoting, follower: Follower) -> Iterator[Passage]:
    card = new.card
    known = {one.payload.claim: one.payload for one in view.list_sightings(card=new.name)} if card else {}
    for claim, anchor in quoting.anchored:
        if card is None or (claim.card or "").partition("@")[0] != card.card:
            yield _build(claim.reference, anchor, follower.follow(anchor))
            continue
        recorded = known.get(claim.reference)
        sighting = recorded or look_up(claim, anchor, new.name, follower)
        found = Followed(fate=sighting.fate, anchor=sighting.anchor, differs=sighting.differs)
        sighted = Sighted(claim=claim, anchor=anchor, sighting=sighting, is_recorded=recorded is not None)
        yield replace(_build(claim.reference, anchor, found), sighted=sighted)


def _build(name: str, anchor: Anchor, found: Followed) -> Passage:
    is_other = found.anchor is not None and found.fate is Fate.REWORDED and not found.differs
    numbers = find_changed_numbers(anchor.exact, found.anchor.exact) if is_other and found.anchor else None
    return Passage(name=name, old=anchor, found=found, numbers=numbers, sighted=None)
