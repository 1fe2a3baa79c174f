"""A claim that a person carried from one model version to another: what its card spoke of, and who says that it holds for another too."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.records.claim import ClaimRevision, find_spoken_of
from registry.records.dossier import Recorded
from registry.records.model_version import ModelRef
from registry.records.statement import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """The last step from one model version to another in the history of a claim."""

    before: ModelRef
    """The version that the revision before was about."""
    after: ModelRef
    card_spoke_of: ModelRef | None
    """The version that the passage quoted is about (`find_spoken_of`); None where it speaks of the one that the claim is about now."""
    revision: str
    """`CLM-…@n` that took the step."""
    earlier: str
    """`CLM-…@n` before it."""
    why: str
    """As it was given, without the versions, which `caveat claim carry` writes before it."""
    entry: Entry
    """Of that revision; its actor carried the claim."""


def find_carry(history: Sequence[Recorded[ClaimRevision]]) -> Carry | None:
    """Return the last step to another model version in *history*, revisions in order; None for a claim about one version all along."""
    steps = [at for at in range(1, len(history)) if history[at].payload.model != history[at - 1].payload.model]
    if not steps:
        return None
    before, step = history[steps[-1] - 1].payload, history[steps[-1]]
    return Carry(
        before=before.model,
        after=step.payload.model,
        card_spoke_of=find_spoken_of([one.payload for one in history]),
        revision=step.payload.reference,
        earlier=before.reference,
        why=_tell_why(step.payload.why, before.model, step.payload.model),
        entry=step.entry,
    )


def _tell_why(why: str | None, before: ModelRef, after: ModelRef) -> str:
    return (why or "").removeprefix(f"carried from {before} to {after}: ")
