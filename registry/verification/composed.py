"""What a supplement tells in its own words and the statements beside it settle: held against them, part by part.

Much of a supplement is composed from what was recorded and is no entry itself. Where that takes no more than to copy, it is compared
here; for the rest whoever gave the file out vouches, or a registry that composes it anew.
"""

from collections import Counter
from collections.abc import Iterator

from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport, ClaimState, SpecPart, SpecRole, Supplement
from registry.report.change import is_newly_inverted


def list_contradictions(supplement: AnySupplement) -> tuple[str, ...]:
    """Return each part that says something else than the statement it is copied from, in words; empty where none does.

    A change report quotes no statement: of it the order of its entries, and what follows from its own numbers, is looked at.
    """
    if isinstance(supplement, ChangeReport):
        return tuple(_check_changes(supplement))
    if isinstance(supplement, CardSupplement):
        card = supplement.card
        return tuple(_check_identifier(supplement.identifier, f"{card.card}@{card.revision}", card.entry.leaf))
    claim = supplement.claim
    return (
        *_check_identifier(supplement.identifier, claim.payload.reference, claim.entry.leaf),
        *_check_verdict(supplement),
        *_check_parties(supplement),
        *_check_card(supplement),
        *(told for part in supplement.specs for told in _check_spec(part)),
        *_check_property(supplement),
        *_check_history(supplement),
    )


def _check_identifier(said: str, reference: str, leaf: str) -> Iterator[str]:
    if said != (expected := f"{reference}#{leaf[:16]}"):
        yield f"identifier: it says {said}, its entry is {expected}"


def _check_verdict(supplement: Supplement) -> Iterator[str]:
    outcome = supplement.outcome
    if outcome is not None and supplement.verdict != outcome.text.verdict:
        yield f"verdict: it says {supplement.verdict[:100]!r}, the outcome recorded {outcome.text.verdict[:100]!r}"


def _check_parties(supplement: Supplement) -> Iterator[str]:
    pairs = [("claimant", supplement.claimant.code, supplement.claim.entry.actor)]
    if supplement.audit is not None:
        pairs.append(("audit.auditor", supplement.audit.auditor.code, supplement.audit.opening.payload.auditor))
    for part, said, recorded in pairs:
        if said != recorded:
            yield f"{part}: it says {said}, recorded was {recorded}"


def _check_card(supplement: Supplement) -> Iterator[str]:
    card = supplement.card
    if card is not None and (said := f"{card.card}@{card.revision}") != supplement.claim.payload.card:
        yield f"card: it says {said}, the claim quotes {supplement.claim.payload.card or 'none'}"


def _check_spec(part: SpecPart) -> Iterator[str]:
    if part.version is None:
        return
    version = part.version.payload
    if part.reference != (recorded := f"{version.spec}@{version.version}"):
        yield f"specs: it says {part.reference}, beside it stands {recorded}"
    if part.owner is not None and part.owner.code != version.owner:
        yield f"owner of {part.reference}: it says {part.owner.code}, recorded was {version.owner}"


def _check_property(supplement: Supplement) -> Iterator[str]:
    wanted = supplement.claim.payload.property
    part = next((one for one in supplement.specs if one.role is SpecRole.PROPERTY), None)
    if part is not None and part.reference != wanted:
        yield f"property: the specification shown is {part.reference}, the claim is of {wanted}"
    elif part is not None and part.version is not None:
        body = part.reveal.payload.opening.body if part.reveal else part.version.payload.body
        if supplement.property != body:
            yield f"property: it is not the body of {wanted} as recorded"


def _check_history(supplement: Supplement) -> Iterator[str]:
    numbers = [one.payload.revision for one in supplement.history]
    claim = supplement.claim.payload
    if numbers != list(range(1, claim.revision + 1)) or any(one.payload.claim != claim.claim for one in supplement.history):
        told = ", ".join(map(str, numbers[:20])) or "none"
        yield f"history: it shows revisions {told} of {claim.claim}; of revision {claim.revision} each from 1 belongs there, once, in order"
    elif supplement.history[-1] != supplement.claim:
        yield f"history: its last revision is not the claim {claim.reference} that is shown"


def _check_changes(report: ChangeReport) -> Iterator[str]:
    yield from (f"{name} stands there twice" for name, times in Counter(one.claim for one in report.changes).items() if times > 1)
    for one in report.changes:
        for state, last in ((one.before, report.since), (one.after, report.log_size)):
            if state is not None:
                yield from _check_state(one.claim, state, last)
        outside = [entry.seq for entry in one.entries if not report.since < entry.seq <= report.log_size]
        if outside:
            yield f"{one.claim}: entry {outside[0]} is not between {report.since} and {report.log_size}"
        if one.newly_inverted != is_newly_inverted(one.before, one.after):
            yield f"{one.claim}: newly inverted is {one.newly_inverted}, which its classes do not say"


def _check_state(claim: str, state: ClaimState, last: int) -> Iterator[str]:
    reference, _, digest = state.identifier.partition("#")
    if reference.partition("@")[0] != claim or digest != state.claim_entry.leaf[:16]:
        yield f"{claim}: {state.identifier} is not what its entry {state.claim_entry.seq} is called"
    for entry in (state.claim_entry, state.outcome_entry):
        if entry is not None and entry.seq > last:
            yield f"{claim}: entry {entry.seq} cannot have been known at entry {last}"
