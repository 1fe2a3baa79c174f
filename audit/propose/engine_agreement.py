"""Two engines on one card: where they agree, confidence rises; where they differ, it falls and a note says how."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from audit.propose.card_models import fold_name
from audit.propose.proposal_building import rate_confidence
from registry.records.claim_draft import FieldEvidence, Proposal

_SAME_VALUE = 1e-6
_COMPARED = ("form", "model", "direction")
_DIFFERENT = 0.5
"""What is left of a field's certainty where the other engine reads it otherwise."""


def combine_engines(proposals: Sequence[Proposal], others: Sequence[Proposal], *, by: str) -> tuple[Proposal, ...]:
    """Return *proposals* with their fields compared to what another engine read of the same figure of the same passage.

    A field on which both agree is wrong only where both are: its certainty is 1 - (1 - a)(1 - b). What only one of them proposes keeps
    its own confidence.

    Args:
        by: name of the other engine.
    """
    places: dict[int, list[Proposal]] = defaultdict(list)
    for other in others:
        places[other.anchor.start].append(other)
    return tuple(_compare(proposal, _find_same(proposal, places[proposal.anchor.start]), by) for proposal in proposals)


def _find_same(proposal: Proposal, others: Sequence[Proposal]) -> Proposal | None:
    return next((other for other in others if _list_values(other) == _list_values(proposal)), None)


def _list_values(proposal: Proposal) -> tuple[float | None, ...]:
    values = (proposal.theta, proposal.reported.value if proposal.reported else None)
    return tuple(None if value is None else round(value / _SAME_VALUE) * _SAME_VALUE for value in values)


def _compare(proposal: Proposal, other: Proposal | None, by: str) -> Proposal:
    if other is None:
        return proposal
    theirs = {field.field: field for field in other.evidence}
    same = {
        "form": (proposal.form, proposal.relation) == (other.form, other.relation),
        "model": proposal.model is not None and other.model is not None and fold_name(proposal.model) == fold_name(other.model),
        "direction": proposal.property.direction is other.property.direction and not (proposal.unknown or other.unknown),
        "property": proposal.property.class_ is other.property.class_,
    }
    evidence = tuple(_weigh(field, theirs.get(field.field), is_same=same.get(field.field)) for field in proposal.evidence)
    differing = [name for name in _COMPARED if not same[name] and name in theirs]
    note = f"{by} reads the same {', '.join(name for name in same if same[name])}" if any(same.values()) else f"{by} reads it otherwise"
    if differing:
        note += f"; it differs in {', '.join(differing)}: {other.form.value}, {other.model or 'no model'}, {other.property.direction.value}"
    combined = replace(proposal, evidence=evidence, notes=(*proposal.notes, note))
    return replace(combined, confidence=rate_confidence(combined))


def _weigh(field: FieldEvidence, other: FieldEvidence | None, *, is_same: bool | None) -> FieldEvidence:
    if other is None or is_same is None:
        return field
    certainty = 1 - (1 - field.certainty) * (1 - other.certainty) if is_same else field.certainty * _DIFFERENT
    return replace(field, certainty=round(certainty, 3))
