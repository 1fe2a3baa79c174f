"""The same claim in other words: a person's decision, recorded as a revision that quotes the newer card."""

from dataclasses import dataclass, replace

from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.intake.anchor import find_quote
from registry.intake.revision.changes import find_changed_numbers
from registry.intake.revision.follow import Follower
from registry.intake.revision.sense import Turn, find_turns
from registry.records.card import Anchor, Card
from registry.records.claim import ClaimRevision
from registry.records.spec import PropertySpec
from registry.records.survey import Fate, Sighting
from registry.registration.bounds import find_mismatches
from registry.registration.cards import get_card, get_card_text
from registry.registration.sightings import look_up
from registry.store.view import View
from registry.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """What a claim quotes, and what it would quote instead."""

    claim: ClaimRevision
    """As recorded."""
    card: Card
    """The newest revision of its card."""
    sighting: Sighting
    anchor: Anchor | None
    """The passage to quote; None if nothing needs doing, for the words stand there."""
    turns: tuple[Turn, ...] = ()
    """What changed in its sense, as far as single words tell: negations, opposites, how far it holds, names."""


def find_rewording(view: View, claim_id: str, quote: str | None) -> Rewording:
    """Return where the claim's passage stands in the newest revision of its card, or where *quote* does.

    Raises:
        NotFoundError: no such claim, or it has no text.
        InputError: it quotes no card; its card has no newer revision; its passage is gone and no *quote* is given; *quote* is not
            there; a number changed.
    """
    recorded = view.find_claim(claim_id)
    if recorded is None:
        view.dossier(claim_id)
        raise NotFoundError(Fault(code="not-registered", where=claim_id, found="is reserved and has no text yet"))
    claim = recorded.payload
    if claim.card is None or claim.anchor is None:
        found, advice = "quotes no passage of a registered card", f'revise it: caveat claim revise {claim.claim} FILE --why "…"'
        raise InputError(Fault(code="quotes-no-passage", where=claim.reference, found=found, advice=advice))
    card = get_card(view, claim.card.partition("@")[0])
    if f"{card.card}@{card.revision}" == claim.card:
        found = f"quotes {claim.card}, the newest revision of its card"
        raise InputError(Fault(code="nothing-to-reword", where=claim.reference, found=found, advice="nothing needs doing"))
    sighting = _find_sighting(view, claim, claim.anchor, card)
    if quote is None and not sighting.is_alarm:
        return Rewording(claim=claim, card=card, sighting=sighting, anchor=None)
    anchor = sighting.anchor if quote is None else find_quote(get_card_text(view, card), quote, where="--quote")
    if anchor is None:
        raise InputError(_gone(claim, card))
    check_numbers(claim, claim.anchor.exact, anchor.exact)
    turns = find_turns(claim.anchor.exact, anchor.exact)
    return Rewording(claim=claim, card=card, sighting=sighting, anchor=anchor, turns=turns)


def check_turns(rewording: Rewording, words: str | None) -> None:
    """Refuse a wording whose sense changed and of which nobody says why it is the same claim all the same.

    Raises:
        InputError: a negation, an opposite, how far it holds, or a name changed, and *words* are none.
    """
    if not rewording.turns or (words and words.strip()):
        return
    claim = rewording.claim
    found = f"{'; '.join(map(str, rewording.turns))}: this may be another claim, and no reason is given why it is the same"
    same = f'caveat claim reword {claim.claim} --why "…"'
    advice = f'say why it is the same: {same}; or give the other claim: caveat claim revise {claim.claim} FILE --why "…"'
    raise InputError(Fault(code="sense-changed", where=claim.reference, found=found, advice=advice))


def record_rewording(writer: Writer, rewording: Rewording, words: str | None) -> ClaimRevision:
    """Record the revision, and return it.

    Raises:
        ConflictError: the claim or its card was revised since *rewording* was found.
    """
    claim, card, anchor = rewording.claim, rewording.card, rewording.anchor
    current, newest = writer.find_claim(claim.claim), get_card(writer, card.card)
    if anchor is None or current is None or current.payload != claim or newest != card:
        found, advice = "was revised meanwhile, or its card was", f"look again: caveat card diff {card.card}"
        raise ConflictError(Fault(code="revised-meanwhile", where=claim.reference, found=found, advice=advice))
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
            relation=revised.relation,
            theta=revised.theta,
            reported=revised.reported,
            range_=body.range,
            where=revised.reference,
        )
    )
    reason = words.strip() if words and words.strip() else revised.mismatch_reason
    if faults and reason is None:
        advice = f'give the new θ: caveat claim revise {revised.claim} FILE --why "…"; or say why it differs: --why'
        raise InputError(replace(fault, advice=advice) for fault in faults)
    return reason if faults else None


def check_numbers(claim: ClaimRevision, before: str, after: str) -> None:
    """Refuse *after* as another wording of *claim*, so far worded *before*, where a number changed; raises InputError."""
    numbers = find_changed_numbers(before, after)
    if numbers:
        found = f"a number changed: {numbers}; another number is another claim revision, not another wording"
        advice = f'give the new figures: caveat claim revise {claim.claim} FILE --why "…"'
        raise InputError(Fault(code="figure-changed", where=claim.reference, found=found, advice=advice))


def _find_sighting(view: View, claim: ClaimRevision, anchor: Anchor, card: Card) -> Sighting:
    """Return what is recorded of the claim's passage in *card*, or what is found now."""
    reference = f"{card.card}@{card.revision}"
    known = view.list_sightings(card=reference, claim=claim.reference)
    if known:
        return known[0].payload
    quoted = get_card(view, card.card, int((claim.card or "").partition("@")[2]))
    return look_up(claim, anchor, reference, Follower(get_card_text(view, quoted), get_card_text(view, card)))


def _gone(claim: ClaimRevision, card: Card) -> Fault:
    advice = (
        f'caveat claim withdraw {claim.claim} --reason "…"; or give the passage, if you found it: --quote "…"; or leave the claim as it is'
    )
    found = f"{Fate.GONE.value} from {card.card}@{card.revision}: nothing like its passage stands there"
    return Fault(code="passage-gone", where=claim.reference, found=found, advice=advice)
