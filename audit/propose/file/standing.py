"""What of an engine's proposals stands: quotes that are the card's own and can be found again, and claims that are not registered yet."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from registry.errors import CaveatError
from registry.intake.anchor import AnchoredText
from registry.records.card import Anchor, CardText
from registry.records.claim import ClaimRevision
from registry.records.proposal import Dropped, Proposal, Proposals
from registry.records.survey import Omission

_LONGEST = 300


def drop_unanchored(proposals: Proposals, card: CardText) -> Proposals:
    """Return *proposals* without those whose quote is not the card's own or could not be found again; they are counted as dropped.

    An engine takes quotes from the card. This is asked of every one all the same, so that nothing invented can enter.
    """
    text, kept, dropped = AnchoredText(card), [], []
    for one in proposals.proposals:
        reason = _find_reason(one, card, text)
        if reason is None:
            kept.append(one)
        else:
            dropped.append(Dropped(quote=one.quote[:_LONGEST], reason=reason))
    return replace(proposals, proposals=tuple(kept), dropped=(*proposals.dropped, *dropped))


def drop_registered(proposals: Proposals, claims: Iterable[ClaimRevision]) -> tuple[Proposals, int]:
    """Return *proposals* without those that *claims* make already, and how many these are.

    A claim makes a proposal if it is anchored in the same file, one quote holds the other or both have the same words, and form, θ and
    figure are the same.
    """
    known = [one for one in claims if one.anchor is not None and one.anchor.document == proposals.document]
    kept = tuple(one for one in proposals.proposals if not any(_is_made(one, claim) for claim in known))
    return replace(proposals, proposals=kept), len(proposals.proposals) - len(kept)


def drop_sighted(proposals: Proposals, sighted: Iterable[tuple[ClaimRevision, Anchor]]) -> tuple[Proposals, int]:
    """Return *proposals* without those that claims of another revision of the card make, and how many these are.

    Args:
        sighted: each of the claims with the place in this file where its passage stands, unchanged or moved, or spelled otherwise.
    """
    known = [replace(claim, anchor=anchor, quote=anchor.exact) for claim, anchor in sighted if anchor.document == proposals.document]
    kept = tuple(one for one in proposals.proposals if not any(_is_made(one, claim) for claim in known))
    return replace(proposals, proposals=kept), len(proposals.proposals) - len(kept)


def drop_left_out(proposals: Proposals, omissions: Iterable[Omission]) -> tuple[Proposals, int]:
    """Return *proposals* without those of passages that were left out of this file, and how many these are."""
    places = {(one.anchor.start, one.anchor.stop) for one in omissions if one.anchor.document == proposals.document}
    kept = tuple(one for one in proposals.proposals if (one.anchor.start, one.anchor.stop) not in places)
    return replace(proposals, proposals=kept), len(proposals.proposals) - len(kept)


def count_dropped(proposals: Proposals) -> Iterator[tuple[str, int]]:
    """Give each reason for which something was dropped, and how often, the most frequent first."""
    reasons = [one.reason for one in proposals.dropped]
    yield from sorted(((one, reasons.count(one)) for one in dict.fromkeys(reasons)), key=lambda pair: -pair[1])


def _find_reason(proposal: Proposal, card: CardText, text: AnchoredText) -> str | None:
    anchor = proposal.anchor
    if card.text[anchor.start : anchor.stop] != proposal.quote or "\0" in proposal.quote:
        return "the quote is not the card's text at its place"
    try:
        text.find(proposal.quote, page=anchor.page, near=anchor.start)
    except CaveatError as error:
        return error.code
    return None


def _is_made(proposal: Proposal, claim: ClaimRevision) -> bool:
    ours, theirs = proposal.anchor, claim.anchor
    if theirs is None or claim.form is not proposal.form:
        return False
    is_inside = (ours.start <= theirs.start and theirs.stop <= ours.stop) or (theirs.start <= ours.start and ours.stop <= theirs.stop)
    is_again = claim.quote.split() == proposal.quote.split()
    figure = claim.reported.value if claim.reported else None
    proposed = proposal.reported.value if proposal.reported else None
    low, high = proposal.property.range
    holds = {None, *(one for one in (proposed, proposal.theta) if one is not None and low <= one <= high)}  # others stand in the note
    is_same = (claim.theta, figure) == tuple(one if one in holds else None for one in (proposal.theta, proposed))
    return (is_inside or is_again) and is_same
