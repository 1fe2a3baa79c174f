"""Two card texts to be compared: revisions of a registered card, or files, with the passages that are followed from one to the other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from registry.errors import Fault, InputError, NotFoundError
from registry.intake.revision.changes import ChangedFigure, Changes, Edit, find_changed_numbers, summarise_changes
from registry.intake.revision.follow import Followed, Follower
from registry.records.card import Anchor, Card, CardText
from registry.records.claim import ClaimRevision
from registry.records.identifier import Kind, parse_identifier
from registry.records.survey import Fate
from registry.registration.cards import get_card, get_card_text
from registry.registration.sightings import Followers, Quoting, Sighted, find_quotes, find_sightings, get_quoted_revision, list_quoting
from registry.store.view import View

Quoted = tuple[ClaimRevision, Anchor]
"""A claim, and the passage it quotes."""


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
    quoted: str
    """Where it is quoted from: the older side, or `CRD-…@n` of a revision before it."""
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
    """In the order in which they stand in the texts they are quoted from."""
    quoting: Quoting | None
    """The claims that quote the older card, in whichever revision; None where it is a file."""
    changes: Changes
    figures: tuple[ChangedFigure, ...]
    """Of `changes.figures` what no claim quotes, nor any followed passage, on either side."""
    edits: tuple[Edit, ...]
    """Of `changes.edits` those in which something changed that no claim quotes: figures first, then changes of sense."""

    @property
    def is_backwards(self) -> bool:
        """Whether both are revisions of one card and the first is the newer."""
        ours, theirs = self.old.card, self.new.card
        return ours is not None and theirs is not None and ours.card == theirs.card and ours.revision > theirs.revision


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
        NotFoundError: there is no revision before it, or the card has not these.
        InputError: both are the same.
    """
    later = open_side(view, name, new)
    bare, _, revision = later.name.partition("@")
    if revision == "1" and old is None:
        raise NotFoundError(_first(bare, later.name, get_card(view, bare).revision))
    before = open_side(view, bare, old or int(revision) - 1)
    if before.name == later.name:
        found = f"{later.name} would be compared with itself"
        raise InputError(Fault(code="nothing-to-compare", where="--from and --to", found=found, advice="name two revisions"))
    return before, later


def compare_sides(view: View | None, old: Side, new: Side, *, quotes: list[tuple[str, str]]) -> Comparison:
    """Return what became in *new* of *quotes* (each with its name) and of the claims that quote *old* or an earlier revision of its card.

    Raises:
        InputError: a quote does not stand in *old*.
    """
    follower = Follower(old.text, new.text)
    quoting = list_quoting(view, old.card.card) if view is not None and old.card is not None else None
    passages = list(_follow_claims(view, old, new, _choose_claims(old, new, quoting), follower)) if view is not None and quoting else []
    passages += [_build(name, old.name, anchor, follower.follow(anchor)) for name, anchor in find_quotes(old.text, quotes)]
    changes = summarise_changes(follower)
    ours, theirs = _find_quoted(view, old, new, passages, quoting)
    return Comparison(
        old=old,
        new=new,
        passages=tuple(sorted(passages, key=lambda one: (one.old.start, one.name))),
        quoting=quoting,
        changes=changes,
        edits=tuple(
            sorted((one for one in changes.edits if not one.is_quoted(ours)), key=lambda one: (not one.has_figures, not one.turns))
        ),
        figures=tuple(filter(None, (one.leave_out(ours, theirs) for one in changes.figures))),
    )


def read_side(path: Path) -> Side:
    """Return the text of a file that need not be registered; raises InputError as the card readers do."""
    from registry.intake.read import read_card  # noqa: PLC0415  (the readers are needed for files alone)

    return Side(name=str(path), text=read_card(path), card=None)


def _first(card: str, name: str, latest: int) -> Fault:
    if latest > 1:
        found = "is the first revision, and nothing stands before it"
        advice = f"compare it with a later one: caveat card diff {card} --from 1"
    else:
        found = "has nothing before it to be compared with"
        advice = f"register the newer file (caveat card add FILE --revises {card} …), or name it: caveat card diff {card} FILE"
    return Fault(code="no-such-revision", where=name, found=found, advice=advice)


def _choose_claims(old: Side, new: Side, quoting: Quoting | None) -> list[Quoted]:
    """Return the claims whose passages are followed: those of *old* and, towards what is newer, of the revisions before *new*."""
    if quoting is None or old.card is None:
        return []
    revision = old.card.revision
    newer = new.card.revision if new.card and new.card.card == old.card.card else revision + 1
    chosen = range(1, newer) if newer > revision else (revision,)
    return [one for one in quoting.anchored if get_quoted_revision(one[0]) in chosen]


def _follow_claims(view: View, old: Side, new: Side, claims: list[Quoted], follower: Follower) -> Iterator[Passage]:
    if old.card is None:
        return
    name, revision = old.card.card, old.card.revision
    followers = Followers(new=new.text, open_text=lambda one: get_card_text(view, get_card(view, name, one)), aligned={revision: follower})
    if new.card is None or new.card.card != name:
        for claim, anchor in claims:
            found = followers.get(get_quoted_revision(claim)).follow(anchor)
            yield _build(claim.reference, claim.card or "", anchor, found)
        return
    for one in find_sightings(view, new.card, claims, followers):
        found = Followed(fate=one.sighting.fate, anchor=one.sighting.anchor, differs=one.sighting.differs)
        yield replace(_build(one.claim.reference, one.claim.card or "", one.anchor, found), sighted=one)


def _build(name: str, quoted: str, anchor: Anchor, found: Followed) -> Passage:
    is_other = found.anchor is not None and found.fate is Fate.REWORDED and not found.differs
    numbers = find_changed_numbers(anchor.exact, found.anchor.exact) if is_other and found.anchor else None
    return Passage(name=name, quoted=quoted, old=anchor, found=found, numbers=numbers, sighted=None)


def _find_quoted(
    view: View | None, old: Side, new: Side, passages: list[Passage], quoting: Quoting | None
) -> tuple[list[Anchor], list[Anchor]]:
    """Return what is quoted in *old* and in *new*: there, or where a passage of another revision is known to stand."""
    ours = [one.old for one in passages if one.quoted == old.name]
    theirs = [one.found.anchor for one in passages if one.found.anchor]
    if view is not None and quoting is not None:
        current = {claim.reference for claim, _ in quoting.anchored}
        known = view.list_sightings(card=old.name)
        ours += [one.payload.anchor for one in known if one.payload.anchor and one.payload.claim in current]
        theirs += [anchor for claim, anchor in quoting.anchored if claim.card == new.name]
    return ours, theirs
