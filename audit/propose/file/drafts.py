"""Proposed claims as the drafts that a claims file holds, each with what a person should see beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

from audit.propose.file.claim_model import KnownModels
from registry.completeness import states_version
from registry.intake.show import show_text
from registry.records.claim import Form, Reported
from registry.records.classification import ItemStatus
from registry.records.completeness import CompletenessItem
from registry.records.draft import ClaimDraft
from registry.records.model import ModelRef
from registry.records.proposal import AwarenessNote, Comparison, Proposal
from registry.records.spec import PropertySpec

_LONGEST_WORDS = 160
"""Characters of a statement nearby that are shown beside a claim; the whole of it is in `--json`."""
_MOST_NEARBY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One claim of a claims file in the making."""

    draft: ClaimDraft
    """Its `model` is None where the file's stands for it; its `property` is the short name that is wished for."""
    spec: PropertySpec | None
    """The property; None where the draft names a registered one."""
    comments: tuple[str, ...] = ()
    """For the person who reads the file, one thought each."""


def draft_claim(proposal: Proposal, known: KnownModels, default: ModelRef) -> ClaimDraft:
    """Return *proposal* as a draft; what a draft has no field for stands in its note.

    Args:
        known: what names of models stand for.
        default: the file's model; a claim about it names none.
    """
    model = known.resolve(proposal.model, proposal.version)
    return ClaimDraft(
        quote=proposal.quote,
        page=proposal.anchor.page,
        form=proposal.form,
        relation=proposal.relation if proposal.form is Form.THRESHOLD else None,
        theta=proposal.theta if _is_inside(proposal.theta, proposal) else None,
        reported=_simplify(proposal.reported) if proposal.reported and _is_inside(proposal.reported.value, proposal) else None,
        property=proposal.slug,
        evaluation=proposal.evaluation,
        grader=proposal.grader,
        elicitation=proposal.elicitation,
        model=None if model in (None, default) else model,
        restates=tuple(one.claim.partition("@")[0] for one in proposal.restates),
        note=" ".join(_list_unheld(proposal)) or None,
    )


def comment_proposal(proposal: Proposal, number: int, model: ModelRef) -> tuple[str, ...]:
    """Return what a person should see beside *proposal*: where it stands, how sure the engine is, what is missing, what stands nearby.

    Args:
        number: of the proposal, from 1.
        model: what the claim is taken to be about.
    """
    return tuple(_list_comments(proposal, number, model))


def list_missing(proposal: Proposal, model: ModelRef) -> list[str]:
    """Return the items that are not stated for *proposal*, in words; the version is, where *model*, which it is taken for, has one."""
    missing = [one.item for one in proposal.completeness if one.status is ItemStatus.MISSING]
    is_known = states_version(model.version)
    return [one.value.replace("-", " ") for one in missing if not (is_known and one is CompletenessItem.VERSION)]


def describe_comparison(one: Comparison) -> str:
    """Return a figure for something else in words."""
    return f"{one.subject}: {one.words}"


def describe_awareness(one: AwarenessNote) -> str:
    """Return a statement of evaluation awareness, cut, with the layer it speaks of."""
    return f"“{show_text(one.quote, limit=_LONGEST_WORDS)}” ({one.layer.value if one.layer else 'how it is known is not said'})"


def _list_comments(proposal: Proposal, number: int, model: ModelRef) -> Iterator[str]:
    yield f"{number} · {describe_place(proposal)} · confidence {proposal.confidence.value}"
    if proposal.written is not None:
        yield f"the card writes: {proposal.written}"
    if missing := list_missing(proposal, model):
        yield f"not stated: {', '.join(missing)}"
    if proposal.model is None:
        yield f"the passage names no model; taken for {model.name}"
    for comparison in proposal.comparisons:
        yield f"compared with {describe_comparison(comparison)}"
    for note in proposal.awareness[:_MOST_NEARBY]:
        yield f"evaluation awareness nearby: {describe_awareness(note)}"
    if len(proposal.awareness) > _MOST_NEARBY:
        yield f"and {len(proposal.awareness) - _MOST_NEARBY} more statements of evaluation awareness in this section"
    for restated in proposal.restates:
        yield f"may restate {restated.claim}, which says {restated.value:g}: {restated.why}"
    yield from proposal.notes


def describe_place(proposal: Proposal) -> str:
    """Return the page and section of *proposal* as one line."""
    section = show_text(proposal.anchor.section, limit=90) if proposal.anchor.section else "before the first heading"
    return section if proposal.anchor.page is None else f"page {proposal.anchor.page} · {section}"


def _is_inside(value: float | None, proposal: Proposal) -> bool:
    low, high = proposal.property.range
    return value is not None and low <= value <= high


def _simplify(reported: Reported) -> float | Reported:
    return reported.value if reported.low is reported.high is reported.n is None else reported


def _list_unheld(proposal: Proposal) -> Iterator[str]:
    """Give what the fields of a draft cannot say, in sentences."""
    if proposal.relative_to is not None and proposal.theta is not None:
        yield f"θ is the figure of {' '.join(proposal.relative_to.split())}, not a line that the card draws."
    elif proposal.relative_to is not None:
        yield f"The bound is relative to {' '.join(proposal.relative_to.split())}, so there is no θ."
    elif proposal.form is Form.THRESHOLD and proposal.theta is None:
        yield "The card does not give the threshold's value."
    values = {"θ": proposal.theta, "reported": proposal.reported.value if proposal.reported else None}
    low, high = proposal.property.range
    for name, value in values.items():
        if value is not None and not _is_inside(value, proposal):
            yield f"The card's {name} is {value:g}, outside the range {low:g} to {high:g} of the property."
