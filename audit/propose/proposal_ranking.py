"""Which proposals matter most: those a person should review first."""

from collections.abc import Sequence

from registry.records.claim import Direction, Form, PropertyClass
from registry.records.claim_draft import Confidence, Proposal
from registry.records.system_card import PassageKind

TOP = 40
"""Proposals shown at first: about ten minutes of review."""

_CONFIDENCE = {Confidence.HIGH: 2, Confidence.MEDIUM: 1, Confidence.LOW: 0}
_BOUNDING = (Form.UPPER_BOUND, Form.LOWER_BOUND, Form.THRESHOLD)


def rank_proposals(proposals: Sequence[Proposal]) -> list[int]:
    """Return the indexes of *proposals*, the most important first.

    A safety property counts most, then a bound, then a figure, then confidence. The first figure of each table of capabilities is
    ranked with the others; its further figures come last, since one decision usually covers them all. Ties keep the order of the card.
    """
    tables: set[tuple[int | None, str | None]] = set()
    keys: list[tuple[int, int, int]] = []
    for index, proposal in enumerate(proposals):
        table = (proposal.anchor.page, proposal.anchor.section)
        is_further = is_capability_row(proposal) and table in tables
        if is_capability_row(proposal):
            tables.add(table)
        keys.append((is_further, -weigh_proposal(proposal), index))
    return [index for _, _, index in sorted(keys)]


def weigh_proposal(proposal: Proposal) -> int:
    """Return how much a proposal matters, from 0."""
    is_safety = proposal.property.direction is not Direction.NOT_SAFETY
    has_figure = proposal.reported is not None or proposal.theta is not None
    return 8 * is_safety + 3 * (proposal.form in _BOUNDING and has_figure) + 2 * has_figure + 2 * _CONFIDENCE[proposal.confidence]


def is_capability_row(proposal: Proposal) -> bool:
    """Return whether a proposal is a row of a table of capabilities."""
    return (
        proposal.passage is PassageKind.ROW
        and proposal.property.class_ is PropertyClass.CAPABILITY
        and proposal.property.direction is Direction.NOT_SAFETY
    )


def select_top(proposals: Sequence[Proposal], count: int) -> tuple[Proposal, ...]:
    """Return the *count* most important of *proposals*, in the order of the card."""
    kept = sorted(rank_proposals(proposals)[:count])
    return tuple(proposals[index] for index in kept)
