"""Claims and their passages found in another revision of a card, and the claim reworded after it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText, find_quote
from registry.intake.revision.passage_changes import (
    ChangedFigure,
    FollowedPassage,
    Follower,
    PassageEdit,
    RevisionChanges,
    SenseChange,
    find_changed_numbers,
    find_text_changes,
    find_turns,
)
from registry.intake.revision.row_comparison import compare_rows_at
from registry.records.claim import ClaimRevision
from registry.records.claim_status import Lifecycle
from registry.records.record import Kind, parse_identifier
from registry.records.specification import PropertySpec
from registry.records.system_card import Anchor, Card, CardText, MatchResult, PassageMatch
from registry.registration.card_registration import get_card, get_card_text
from registry.registration.quote_checks import find_mismatches
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Where the claims of a card appear in another of its revisions.

_ENDED = (Lifecycle.WITHDRAWN, Lifecycle.REJECTED, Lifecycle.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedClaim:
    """A claim, and where its passage stands in another revision."""

    claim: ClaimRevision
    anchor: Anchor
    """Where the claim quotes the card."""
    passage_match: PassageMatch
    is_recorded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotingClaims:
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
        # Aligning two texts takes seconds, and most claims of a card quote one revision.
        if revision not in self.aligned:
            self.aligned[revision] = Follower(self.open_text(revision), self.new)
        return self.aligned[revision]


def list_quoting(view: View, card: str) -> QuotingClaims:
    """Return the claims that quote *card*, `CRD-…` or `CRD-…@n`, by their current revisions."""
    anchored: list[tuple[ClaimRevision, Anchor]] = []
    paraphrased, ended = [], []
    for claim in view.list_claims(card=card):
        reference = f"{claim.claim}@{claim.revision}"
        revision = view.find_revision(claim.claim, claim.revision) if claim.quote is not None else None
        # Claims at their end need no decision, so they are listed but not matched.
        if claim.status.lifecycle in _ENDED:
            ended.append(reference)
        elif revision is None or revision.payload.anchor is None:
            paraphrased.append(reference)
        else:
            anchored.append((revision.payload, revision.payload.anchor))
    return QuotingClaims(anchored=tuple(anchored), paraphrased=tuple(paraphrased), ended=tuple(ended))


def open_followers(view: View, card: str, new: CardText) -> Followers:
    """Return the alignments of every revision of *card* that a claim quotes with the text *new*, made before anything is written.

    An alignment takes seconds, for which no transaction should stay open.
    """
    # Outside the transaction, because an alignment takes seconds and the write lock blocks everyone
    # else.
    followers = Followers(new=new, open_text=lambda revision: get_card_text(view, get_card(view, card, revision)))
    for claim, _ in list_quoting(view, card).anchored:
        followers.get(get_quoted_revision(claim))
    return followers


def match_claims(writer: Writer, card: Card, followers: Followers) -> tuple[PassageMatch, ...]:
    """Record where the claims that quote other revisions of *card* are in it, and return that; in the transaction of *card* itself."""
    # From here on texts are read inside the transaction; the alignments made before are reused.
    followers.open_text = lambda revision: get_card_text(writer, get_card(writer, card.card, revision))
    others = [claim for claim in list_quoting(writer, card.card).anchored if get_quoted_revision(claim[0]) != card.revision]
    sighted = find_passage_matches(writer, card, others, followers)
    record_passage_matches(writer, sighted)
    return tuple(claim.passage_match for claim in sighted)


def find_passage_matches(
    view: View, card: Card, claims: Iterable[tuple[ClaimRevision, Anchor]], followers: Followers
) -> tuple[MatchedClaim, ...]:
    """Return where *claims*, which quote other revisions of *card*, are in this one: as recorded, or found now."""
    reference = f"{card.card}@{card.revision}"
    # A recorded match is kept: what was found first stays, also if a newer version of the matcher
    # would decide differently.
    known = {match.payload.claim: match.payload for match in view.list_passage_matches(card=reference)}
    matched_claims = []
    for claim, anchor in claims:
        passage_match = known.get(claim.reference) or look_up(claim, anchor, reference, followers.get(get_quoted_revision(claim)))
        matched_claims.append(MatchedClaim(claim=claim, anchor=anchor, passage_match=passage_match, is_recorded=claim.reference in known))
    return tuple(matched_claims)


def look_up(claim: ClaimRevision, anchor: Anchor, card: str, follower: Follower) -> PassageMatch:
    """Return where *claim*, which quotes the older text of *follower* at *anchor*, is in the newer one, *card*."""
    # The match is recorded as found by the program. Whether it is the same claim stays a person's
    # decision.
    passage = follower.follow(anchor)
    return PassageMatch(claim=claim.reference, card=card, match_result=passage.match_result, anchor=passage.anchor, differs=passage.differs)


def record_passage_matches(writer: Writer, sighted: Iterable[MatchedClaim]) -> int:
    """Record those that are not recorded, each as a statement of its own, and return how many; the same again records none."""
    new = [claim.passage_match for claim in sighted if not claim.is_recorded]
    writer.append_many(new)
    return len(new)


def find_quotes(text: CardText, quotes: Iterable[tuple[str, str]]) -> list[tuple[str, Anchor]]:
    """Return where *quotes*, each with its name, are in *text*.

    Raises:
        InputError: one is not there, with the nearest passage.
    """
    anchored = AnchoredText(text)
    return [(name, anchored.find(quote, where=name)) for name, quote in quotes]


def get_quoted_revision(claim: ClaimRevision) -> int:
    """Return which revision of its card *claim* quotes."""
    return int((claim.card or "").partition("@")[2])


# Comparison of two card texts: revisions of a registered card, or files.

Quoted = tuple[ClaimRevision, Anchor]
"""A claim, and the passage it quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedText:
    """One of the two texts."""

    name: str
    """`CRD-…@n`, or the path of a file."""
    text: CardText
    card: Card | None
    """None for a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPassage:
    """A passage that was followed."""

    name: str
    """`CLM-…@n`, or where a quote stands in a claims file."""
    quoted: str
    """Where it is quoted from: the older side, or `CRD-…@n` of a revision before it."""
    old: Anchor
    found: FollowedPassage
    numbers: str | None
    """What a reworded passage changed in its numbers, as "4 → 5"; None where nothing did."""
    sighted: MatchedClaim | None
    """Of a registered claim between two revisions of its card; None for everything else."""

    @property
    def is_alarm(self) -> bool:
        """Whether a person has to decide what becomes of it; as `PassageMatch.is_alarm`."""
        return self.found.match_result is MatchResult.GONE or (self.found.match_result is MatchResult.REWORDED and not self.found.differs)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionComparison:
    """Outcome of the passages, and what else changed."""

    old: ComparedText
    new: ComparedText
    passages: tuple[ComparedPassage, ...]
    """In the order in which they stand in the texts they are quoted from."""
    quoting: QuotingClaims | None
    """The claims that quote the older card, in whichever revision; None where it is a file."""
    changes: RevisionChanges
    figures: tuple[ChangedFigure, ...]
    """Of `changes.figures` what no claim quotes, nor any followed passage, on either side."""
    edits: tuple[PassageEdit, ...]
    """Of `changes.edits` those in which something changed that no claim quotes: figures first, then changes of sense."""

    @property
    def is_backwards(self) -> bool:
        """Whether both are revisions of one card and the first is the newer."""
        ours, theirs = self.old.card, self.new.card
        return ours is not None and theirs is not None and ours.card == theirs.card and ours.revision > theirs.revision


def open_side(view: View, name: str, revision: int | None = None) -> ComparedText:
    """Return the registered revision of a card that *name* and *revision* mean.

    Raises:
        InputError: *name* is no identifier of a card.
        NotFoundError: no such card or revision.
    """
    try:
        identifier = parse_identifier(name, Kind.CARD)
    except ValueError as error:
        raise InputError(Fault("bad-identifier", name, str(error))) from error
    card = get_card(view, identifier.bare, revision or identifier.revision)
    return ComparedText(name=f"{card.card}@{card.revision}", text=get_card_text(view, card), card=card)


def open_pair(view: View, name: str, *, old: int | None, new: int | None) -> tuple[ComparedText, ComparedText]:
    """Return two revisions of the card *name*: the latest, or *new*, or the one that *name* gives, and the one before it, or *old*.

    Raises:
        NotFoundError: there is no revision before it, or the card has not these.
        InputError: both are the same.
    """
    later = open_side(view, name, new)
    bare, _, revision = later.name.partition("@")
    # The first revision has nothing before it, and "the latest two" is what the command compares by
    # default.
    if revision == "1" and old is None:
        raise NotFoundError(_first(bare, later.name, get_card(view, bare).revision))
    before = open_side(view, bare, old or int(revision) - 1)
    if before.name == later.name:
        raise InputError(Fault("nothing-to-compare", "--from and --to", f"{later.name} would be compared with itself"))
    return before, later


def compare_sides(view: View | None, old: ComparedText, new: ComparedText, *, quotes: list[tuple[str, str]]) -> RevisionComparison:
    """Return what became in *new* of *quotes* (each with its name) and of the claims that quote *old* or an earlier revision of its card.

    Raises:
        InputError: a quote is not in *old*.
    """
    follower = Follower(old.text, new.text)
    quoting = list_quoting(view, old.card.card) if view is not None and old.card is not None else None
    passages = list(_follow_claims(view, old, new, _choose_claims(old, new, quoting), follower)) if view is not None and quoting else []
    passages += [_build_comparison(name, old.name, anchor, follower.follow(anchor)) for name, anchor in find_quotes(old.text, quotes)]
    changes = find_text_changes(follower)
    ours, theirs = _find_quoted(view, old, new, passages, quoting)
    return RevisionComparison(
        old=old,
        new=new,
        passages=tuple(sorted(passages, key=lambda passage: (passage.old.start, passage.name))),
        quoting=quoting,
        changes=changes,
        # Edits that a claim quotes are reported with the claim. The rest starts with changed
        # figures.
        edits=tuple(
            sorted(
                (edit for edit in changes.edits if not edit.is_quoted(ours)),
                key=lambda passage_edit: (not passage_edit.has_figures, not passage_edit.turns),
            )
        ),
        figures=tuple(filter(None, (figure.leave_out(ours, theirs) for figure in changes.figures))),
    )


def read_side(path: Path) -> ComparedText:
    """Return the text of a file that need not be registered; raises InputError as the card readers do."""
    from registry.intake.card_reader import read_card  # noqa: PLC0415  (the readers are needed for files alone)

    return ComparedText(name=str(path), text=read_card(path), card=None)


def _first(card: str, name: str, latest: int) -> Fault:
    if latest > 1:
        problem = "is the first revision, so nothing is before it"
        advice = f"compare it with a later one: caveat card diff {card} --from 1"
    else:
        problem = "has nothing before it to be compared with"
        advice = f"register the newer file (caveat card add FILE --revises {card} …), or name it: caveat card diff {card} FILE"
    return Fault("revision-not-found", name, problem, advice=advice)


def _choose_claims(old: ComparedText, new: ComparedText, quoting: QuotingClaims | None) -> list[Quoted]:
    """Return the claims whose passages are followed: those of *old* and, towards what is newer, of the revisions before *new*."""
    if quoting is None or old.card is None:
        return []
    revision = old.card.revision
    newer = new.card.revision if new.card and new.card.card == old.card.card else revision + 1
    # Claims on all revisions before the new one, not just the previous: a claim that was never
    # reworded still quotes an old revision.
    chosen = range(1, newer) if newer > revision else (revision,)
    return [claim for claim in quoting.anchored if get_quoted_revision(claim[0]) in chosen]


def _follow_claims(view: View, old: ComparedText, new: ComparedText, claims: list[Quoted], follower: Follower) -> Iterator[ComparedPassage]:
    if old.card is None:
        return
    name, revision = old.card.card, old.card.revision
    followers = Followers(
        new=new.text, open_text=lambda number: get_card_text(view, get_card(view, name, number)), aligned={revision: follower}
    )
    # A file, or another card, cannot have recorded matches.
    if new.card is None or new.card.card != name:
        for claim, anchor in claims:
            passage = followers.get(get_quoted_revision(claim)).follow(anchor)
            yield _build_comparison(claim.reference, claim.card or "", anchor, passage)
        return
    for matched_claim in find_passage_matches(view, new.card, claims, followers):
        claim, recorded = matched_claim.claim, matched_claim.passage_match
        passage = FollowedPassage(match_result=recorded.match_result, anchor=recorded.anchor, differs=recorded.differs)
        comparison = _build_comparison(claim.reference, claim.card or "", matched_claim.anchor, passage)
        yield replace(comparison, sighted=matched_claim)


def _build_comparison(name: str, quoted: str, anchor: Anchor, followed_passage: FollowedPassage) -> ComparedPassage:
    is_other = (
        followed_passage.anchor is not None and followed_passage.match_result is MatchResult.REWORDED and not followed_passage.differs
    )
    numbers = find_changed_numbers(anchor.exact, followed_passage.anchor.exact) if is_other and followed_passage.anchor else None
    return ComparedPassage(name=name, quoted=quoted, old=anchor, found=followed_passage, numbers=numbers, sighted=None)


def _find_quoted(
    view: View | None, old: ComparedText, new: ComparedText, passages: list[ComparedPassage], quoting: QuotingClaims | None
) -> tuple[list[Anchor], list[Anchor]]:
    """Return what is quoted in *old* and in *new*: there, or where a passage of another revision is known to stand."""
    ours = [passage.old for passage in passages if passage.quoted == old.name]
    theirs = [compared_passage.found.anchor for compared_passage in passages if compared_passage.found.anchor]
    if view is not None and quoting is not None:
        current = {claim.reference for claim, _ in quoting.anchored}
        passage_matches = view.list_passage_matches(card=old.name)
        ours += [
            passage_match.payload.anchor
            for passage_match in passage_matches
            if passage_match.payload.anchor and passage_match.payload.claim in current
        ]
        theirs += [anchor for claim, anchor in quoting.anchored if claim.card == new.name]
    return ours, theirs


# Rewording: a person's decision that a changed passage makes the same claim.


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """What a claim quotes, and what it would quote instead."""

    claim: ClaimRevision
    """As recorded."""
    card: Card
    """The newest revision of its card."""
    passage_match: PassageMatch
    anchor: Anchor | None
    """The passage to quote; None if nothing needs doing, for the words stand there."""
    turns: tuple[SenseChange, ...] = ()
    """What changed in its sense, as far as single words tell: negations, opposites, how far it holds, names, heads and caption of a row."""


def find_rewording(view: View, claim_id: str, quote: str | None) -> Rewording:
    """Return where the claim's passage is in the newest revision of its card, or where *quote* does.

    Raises:
        NotFoundError: no such claim, or it has no text.
        InputError: it quotes no card; its card has no newer revision; its passage is gone and no *quote* is given; *quote* is not
            there; a number changed.
    """
    recorded = view.find_claim(claim_id)
    if recorded is None:
        view.dossier(claim_id)
        raise NotFoundError(Fault("not-registered", claim_id, "is reserved and has no text yet"))
    claim = recorded.payload
    if claim.card is None or claim.anchor is None:
        problem, advice = "quotes no passage of a registered card", f'revise it: caveat claim revise {claim.claim} FILE --reason "…"'
        raise InputError(Fault("claim-without-quote", claim.reference, problem, advice=advice))
    card = get_card(view, claim.card.partition("@")[0])
    if f"{card.card}@{card.revision}" == claim.card:
        raise InputError(Fault("quote-up-to-date", claim.reference, f"quotes {claim.card}, the newest revision of its card"))
    passage_match = _find_passage_match(view, claim, claim.anchor, card)
    # A passage that only moved, or changed in spelling, needs no decision.
    if quote is None and not passage_match.is_alarm:
        return Rewording(claim=claim, card=card, passage_match=passage_match, anchor=None)
    anchor = passage_match.anchor if quote is None else find_quote(get_card_text(view, card), quote, where="--quote")
    if anchor is None:
        raise InputError(_gone(claim, card))
    # Another number is another claim revision, whatever the words say.
    check_numbers(claim, claim.anchor.exact, anchor.exact)
    quoted = get_card_text(view, get_card(view, card.card, get_quoted_revision(claim)))
    # The same words under another head are another statement, which the words alone do not show.
    rows = _find_row_turns(quoted, get_card_text(view, card), old_start=claim.anchor.start, new_start=anchor.start)
    turns = (*find_turns(claim.anchor.exact, anchor.exact), *rows)
    return Rewording(claim=claim, card=card, passage_match=passage_match, anchor=anchor, turns=turns)


def _find_row_turns(old: CardText, new: CardText, *, old_start: int, new_start: int) -> tuple[SenseChange, ...]:
    """Return the changed column heads and caption of the row at *old_start*, which is at *new_start* in the newer text.

    Empty unless both are rows with known heads.
    """
    rows = compare_rows_at(read_outline(old), old_start, read_outline(new), new_start)
    if rows is None:
        return ()
    heads = f"{', '.join(rows.heads_removed)} → {', '.join(rows.heads_added) or 'nothing'}"
    turns = [SenseChange(what="a column head", words=heads)] if rows.heads_removed else []
    if rows.caption is not None:
        turns.append(SenseChange(what="the caption", words=" → ".join(rows.caption)))
    return tuple(turns)


def check_turns(rewording: Rewording, words: str | None) -> None:
    """Refuse a wording with another sense and without a reason why it is the same claim.

    Raises:
        InputError: a negation, an opposite, how far it holds, a name, a column head or a caption changed, and *words* are none.
    """
    # Decision of 2026-11-22: a negation, an opposite, a change of reach (all, some, likely) or of a
    # name needs a reason. The check uses word lists, and finding nothing proves nothing. The cost:
    # some synonyms ask for a reason.
    if not rewording.turns or (words and words.strip()):
        return
    claim = rewording.claim
    problem = f"{'; '.join(map(str, rewording.turns))}: this may be another claim, and no reason is given why it is the same"
    same = f'caveat claim reword {claim.claim} --reason "…"'
    advice = f'say why it is the same: {same}; or give the other claim: caveat claim revise {claim.claim} FILE --reason "…"'
    raise InputError(Fault("meaning-changed", claim.reference, problem, advice=advice))


def record_rewording(writer: Writer, rewording: Rewording, words: str | None) -> ClaimRevision:
    """Record the revision, and return it.

    Raises:
        ConflictError: the claim or its card was revised since *rewording* was found.
    """
    claim, card, anchor = rewording.claim, rewording.card, rewording.anchor
    current, newest = writer.find_claim(claim.claim), get_card(writer, card.card)
    # The text was compared outside the transaction. If claim or card changed since, the decision
    # was about something else.
    if anchor is None or current is None or current.payload != claim or newest != card:
        problem, advice = "was revised meanwhile, or its card was", f"look again: caveat card diff {card.card}"
        raise ConflictError(Fault("changed-meanwhile", claim.reference, problem, advice=advice))
    reason = f"same claim, new wording in {card.card}@{card.revision}" + (f": {words.strip()}" if words and words.strip() else "")
    revised = replace(
        claim, revision=claim.revision + 1, quote=anchor.exact, anchor=anchor, card=f"{card.card}@{card.revision}", why=reason
    )
    revised = replace(revised, mismatch_reason=_find_mismatch_reason(writer, revised, words))
    writer.append(revised)
    return revised


def _find_mismatch_reason(view: View, revised: ClaimRevision, words: str | None) -> str | None:
    """Return why θ or relation of *revised* differ from its new words; None where they do not.

    Raises:
        InputError: they differ, and no reason is given.
    """
    body = view.find_opened(revised.property)
    if not isinstance(body, PropertySpec):
        return revised.mismatch_reason
    faults = list(
        find_mismatches(
            revised.quote,
            form=revised.form,
            relation=revised.relation,
            theta=revised.theta,
            reported=revised.reported,
            range_=body.range,
            where=revised.reference,
        )
    )
    # An earlier reason continues to apply if the new words still differ.
    reason = words.strip() if words and words.strip() else revised.mismatch_reason
    if faults and reason is None:
        advice = f'give the new θ: caveat claim revise {revised.claim} FILE --reason "…"; or say why it differs: --reason'
        raise InputError(replace(fault, advice=advice) for fault in faults)
    return reason if faults else None


def check_numbers(claim: ClaimRevision, before: str, after: str) -> None:
    """Refuse *after* as another wording of *claim*, so far worded *before*, where a number changed; raises InputError."""
    # Figures in the quotation are compared as written; a change of any of them is refused here.
    numbers = find_changed_numbers(before, after)
    if numbers:
        problem = f"a number changed: {numbers}; another number is another claim revision, not another wording"
        advice = f'give the new figures: caveat claim revise {claim.claim} FILE --reason "…"'
        raise InputError(Fault("figure-changed", claim.reference, problem, advice=advice))


def _find_passage_match(view: View, claim: ClaimRevision, anchor: Anchor, card: Card) -> PassageMatch:
    """Return what is recorded of the claim's passage in *card*, or what is found now."""
    reference = f"{card.card}@{card.revision}"
    passage_matches = view.list_passage_matches(card=reference, claim=claim.reference)
    if passage_matches:
        return passage_matches[0].payload
    quoted = get_card(view, card.card, int((claim.card or "").partition("@")[2]))
    return look_up(claim, anchor, reference, Follower(get_card_text(view, quoted), get_card_text(view, card)))


def _gone(claim: ClaimRevision, card: Card) -> Fault:
    advice = (
        f'caveat claim withdraw {claim.claim} --reason "…"; or give the passage, if you found it: --quote "…"; or leave the claim as it is'
    )
    problem = f"{MatchResult.GONE.value} from {card.card}@{card.revision}: it contains nothing like the passage"
    return Fault("passage-not-found", claim.reference, problem, advice=advice)
