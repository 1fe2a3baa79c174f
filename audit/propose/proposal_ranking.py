"""Which proposals matter most, and which rows of tables of capabilities fold into one proposal."""

from collections import Counter
from collections.abc import Sequence

from registry.records.claim import Direction, Form
from registry.records.claim_draft import Confidence, Proposal

TOP = 40
"""Proposals shown at first: about ten minutes of review. A folded table counts as one."""

DOUBTFUL = 0.4
"""The most that is certain of a form that no rule reads, or that the words around it put in doubt."""
NAMED = 0.85
"""The least that is certain of a model that the passage itself names, or means by a pronoun beside its name."""
_CONFIDENCE = {Confidence.HIGH: 4, Confidence.MEDIUM: 2, Confidence.LOW: 0}
_BOUNDING = (Form.UPPER_BOUND, Form.LOWER_BOUND, Form.THRESHOLD)


def rank_proposals(proposals: Sequence[Proposal]) -> list[int]:
    """Return the indexes of *proposals*, the most important first.

    Claims about the card's own model come first, then safety properties, figures, models that the passage names, bounds, and
    confidence. Of a table of capabilities only the first row is ranked with the others, and of one property the first proposal before
    its repetitions. Behind them come claims in words that say what may happen, then the further rows of tables, and last what only may
    be a claim. Ties keep the order of the card.
    """
    tables: set[str] = set()
    repeated: Counter[tuple[str, str | None]] = Counter()
    keys: list[tuple[bool, bool, bool, int, int]] = []
    for index, proposal in enumerate(proposals):
        is_folded = proposal.table is not None and proposal.table in tables
        tables |= {proposal.table} if proposal.table is not None else set()
        name = (proposal.slug, proposal.model)
        weight = weigh_proposal(proposal) - min(6, 2 * repeated[name])
        repeated[name] += 1
        keys.append((is_doubtful(proposal), is_folded, proposal.is_limit, -weight, index))
    return [index for *_, index in sorted(keys)]


def is_doubtful(proposal: Proposal) -> bool:
    """Return whether it is hardly known what a proposal claims, or that it is a claim at all."""
    return any(field.field == "form" and field.certainty <= DOUBTFUL for field in proposal.evidence)


def weigh_proposal(proposal: Proposal) -> int:
    """Return how much a proposal matters; a doubtful one about another model least."""
    is_safety = proposal.property.direction is not Direction.NOT_SAFETY or "direction" in proposal.unknown
    has_figure = proposal.reported is not None or proposal.theta is not None
    is_named = any(field.field == "model" and field.certainty >= NAMED for field in proposal.evidence)
    weight = {True: 10, None: 3, False: 0}[proposal.is_own]
    weight += 5 * is_safety + 4 * has_figure + 4 * is_named + 2 * (proposal.form in _BOUNDING and proposal.relative_to is None)
    return weight + _CONFIDENCE[proposal.confidence] + (0 if proposal.unknown else 2)


def find_folded(proposals: Sequence[Proposal]) -> dict[int, tuple[int, ...]]:
    """Return for the first row of each table of capabilities the indexes of its further rows."""
    first: dict[str, int] = {}
    folded: dict[int, list[int]] = {}
    for index, proposal in enumerate(proposals):
        if proposal.table is not None:
            head = first.setdefault(proposal.table, index)
            if head != index:
                folded.setdefault(head, []).append(index)
    return {head: tuple(rows) for head, rows in folded.items()}


def select_top(proposals: Sequence[Proposal], count: int, *, with_rows: bool = False) -> tuple[Proposal, ...]:
    """Return the *count* most important of *proposals*, in the order of the card; a folded table is its first row.

    Args:
        with_rows: also return the further rows of the tables that are chosen, for a review that expands them.
    """
    chosen = set(rank_proposals(proposals)[:count])
    if with_rows:
        folded = find_folded(proposals)
        chosen |= {row for head in chosen for row in folded.get(head, ())}
    return tuple(proposal for index, proposal in enumerate(proposals) if index in chosen)
