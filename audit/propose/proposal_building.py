"""From what an engine read of a span to a proposal: every field grounded in the card's words, confidence from evidence and agreement."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from audit.propose.candidate_spans import CandidateSpan, CardReading
from audit.propose.card_figures import CardFigure
from audit.propose.card_models import fold_name
from audit.propose.claim_form import FormReading, settle_form
from audit.propose.claimed_property import PropertyReading, qualify, slugify
from audit.propose.evaluation_facts import EvaluationFacts
from audit.propose.figure_subject import FigureSubject
from audit.propose.vocabulary import find_rows, read_expression
from registry.completeness import StatedFacts, check_completeness
from registry.records.claim import Direction, PropertyClass
from registry.records.claim_draft import ComparisonNote, Confidence, FieldEvidence, Proposal
from registry.records.system_card import Outline, PassageKind

# The port that all engines share. An engine returns `ClaimReading`s of spans; nothing else it says enters a proposal.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReading:
    """What an engine read of one claim of a span: fields, each with the words it was read from."""

    span: CandidateSpan
    figure: CardFigure | None
    cell: int | None
    """Index of the figure's cell in a row; None outside tables."""
    form: FormReading
    subject: FigureSubject
    version: tuple[str, str] | None
    """The snapshot and its place."""
    property: PropertyReading
    facts: EvaluationFacts
    comparisons: tuple[ComparisonNote, ...] = ()
    signs: int = 2
    """How many of two signs show that a result of a model is told."""
    notes: tuple[str, ...] = ()


HIGH, MEDIUM = 0.9, 0.6
"""The least certainty of the weakest field; the calibration test holds that "high" is right in 95 % of its examples."""
_FEW_SIGNS = {0: 0.3, 1: 0.7, 2: 1.0}


def build_proposal(claim: ClaimReading, reading: CardReading) -> Proposal:
    """Return what *claim* comes to, as far as the card says it."""
    passage, prop, facts = claim.span.passage, claim.property, claim.facts
    anchor = reading.anchored.at(passage.start, passage.stop)
    form = settle_form(claim.form, anchor.exact, prop.spec.range)
    claim = replace(claim, form=form)
    evidence = tuple(_list_evidence(claim))
    reported = form.reported
    if reported is not None and reported.n is None and facts.n is not None and facts.n >= 1:
        reported = replace(reported, n=facts.n)
    version = claim.version[0] if claim.version else None
    stated = StatedFacts(
        form=form.form,
        theta=form.theta,
        reported=reported,
        evaluation=facts.evaluation,
        grader=facts.grader,
        elicitation=facts.elicitation,
        version=version,
    )
    proposal = Proposal(
        quote=anchor.exact,
        anchor=anchor,
        passage=passage.kind,
        form=form.form,
        relation=form.relation,
        theta=form.theta,
        reported=reported,
        written=form.written,
        property=prop.spec,
        slug=prop.slug,
        model=claim.subject.model,
        version=version,
        evaluation=facts.evaluation,
        grader=facts.grader,
        elicitation=facts.elicitation,
        relative_to=form.relative_to,
        comparisons=claim.comparisons,
        awareness=reading.awareness.find(passage, evaluation=facts.evaluation),
        completeness=check_completeness(stated),
        evidence=evidence,
        is_own=claim.subject.is_own,
        is_limit=form.is_limit,
        unknown=("direction",) if prop.direction is None else (),
        table=_name_table(claim),
        notes=(*form.notes, *claim.notes, *prop.notes, *_note_subject(claim.subject)),
    )
    return replace(proposal, confidence=rate_confidence(proposal))


def rate_confidence(proposal: Proposal) -> Confidence:
    """Return the confidence that the evidence of a proposal's fields gives: that of the weakest of form, model, property and direction."""
    found = {field.field: field.certainty for field in proposal.evidence}
    weakest = min(found.get(name, 0.0) for name in ("form", "model", "property"))
    if weakest >= HIGH and found.get("direction", 0.0) >= HIGH and proposal.is_own is True:
        return Confidence.HIGH
    return Confidence.MEDIUM if weakest >= MEDIUM and not (proposal.is_own is None and proposal.model is None) else Confidence.LOW


def _list_evidence(claim: ClaimReading) -> Iterator[FieldEvidence]:
    form, subject, prop, facts = claim.form, claim.subject, claim.property, claim.facts
    place = "cell" if claim.cell is not None else "sentence"
    certainty = round(form.certainty * _FEW_SIGNS[claim.signs], 3)
    words = form.written or (claim.span.passage.words[form.span[0] : form.span[1]] if form.span else "")
    if words:
        yield FieldEvidence(field="form", words=words, place=place, certainty=certainty)
    if subject.model is not None and subject.certainty > 0:
        yield FieldEvidence(field="model", words=subject.words or subject.model, place=subject.place, certainty=subject.certainty)
    measured, where = (facts.evaluation, facts.place) if prop.measure is None else (prop.measure, prop.place)
    if measured is not None:
        yield FieldEvidence(field="property", words=measured, place=where, certainty=round(prop.class_certainty, 3))
        if prop.direction is not None:
            yield FieldEvidence(field="direction", words=measured, place=where, certainty=round(prop.direction_certainty, 3))
    if claim.version is not None:
        yield FieldEvidence(field="version", words=claim.version[0], place=claim.version[1], certainty=0.9)
    if facts.evaluation is not None:
        yield FieldEvidence(
            field="evaluation", words=facts.evaluation, place=facts.place, certainty=0.9 if facts.place != "heading" else 0.75
        )


def _name_table(claim: ClaimReading) -> str | None:
    """The table whose rows fold: one of capabilities, since one decision usually covers all of them."""
    passage = claim.span.passage
    is_capability = claim.property.spec.class_ is PropertyClass.CAPABILITY and claim.property.spec.direction is Direction.NOT_SAFETY
    if passage.kind is not PassageKind.ROW or not is_capability:
        return None
    return f"{passage.block} · {(passage.caption or 'table')[:80]}"


def _note_subject(subject: FigureSubject) -> Iterator[str]:
    if subject.is_own is False:
        yield f"about {subject.model}, not about the card's own model"
    elif subject.is_own is None and subject.model is None:
        yield "the card does not say here which model this is about"


# Passages that address a machine reader. They are proposed with low confidence and a note, and never obeyed, whatever
# engine read them. Cost: some passages on prompt injection are doubted too.

NOTE = "the paragraph speaks to whoever reads the card by machine: look whether the card means what it says"
_ADDRESS = read_expression("address")


def addresses_reader(words: str) -> bool:
    """Return whether *words* have a form in which one speaks to a machine that reads; also true where a card quotes such words."""
    return _ADDRESS.search(" ".join(words.split())) is not None


def doubt_addressed(proposals: Sequence[Proposal], outline: Outline) -> tuple[Proposal, ...]:
    """Return *proposals*, those from a paragraph that speaks to a machine with a note and low confidence."""
    blocks = {passage.block for passage in outline.passages if addresses_reader(passage.words)}
    spans = [(one.start, one.stop) for one in outline.passages if one.block in blocks]

    def doubt(proposal: Proposal) -> Proposal:
        if NOTE in proposal.notes or not any(start < proposal.anchor.stop and proposal.anchor.start < stop for start, stop in spans):
            return proposal
        return replace(proposal, confidence=Confidence.LOW, notes=(NOTE, *proposal.notes))

    return tuple(map(doubt, proposals))


# All proposals of a card: repeats fold, and properties that one name would join are told apart by the card's own words,
# never by numbers.


def make_distinct(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Return the proposals with repeats folded, and a property of its own for each figure of a passage.

    Property, form, model and quote identify a claim. Where two figures of one passage would share them, the words beside each figure
    name it; where these do not differ either, only the first stays, with a note.
    """
    used: dict[tuple[object, ...], int] = {}
    distinct: list[Proposal] = []
    for proposal in _part_domains(_fold_repeats(_spell_alike(proposals))):
        named = proposal
        key = _identify(named)
        if key in used:
            named = _name_by_words(named)
            key = _identify(named)
        if key in used:
            first = distinct[used[key]]
            note = f"the passage has another figure for what looks like the same property: “{proposal.written}”"
            distinct[used[key]] = replace(first, notes=(*first.notes, note), confidence=Confidence.LOW)
            continue
        used[key] = len(distinct)
        distinct.append(named)
    return tuple(distinct)


def _spell_alike(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals with each model spelt as where it is named first: a registry refuses "All models" beside "all models"."""
    spelt: dict[str, str] = {}
    for proposal in proposals:
        if proposal.model is not None:
            spelt.setdefault(" ".join(proposal.model.split()).casefold(), proposal.model)
    return [replace(one, model=spelt[" ".join(one.model.split()).casefold()] if one.model is not None else None) for one in proposals]


def _identify(proposal: Proposal) -> tuple[object, ...]:
    return proposal.property.name, proposal.form, proposal.model, proposal.anchor.start, proposal.anchor.stop


_CONDITION = re.compile(
    r"^\s*(?:\([^()]{0,60}\)\s*)?(?P<what>(?:(?:of|on|in|for|within|under|with|without|across|at|during|against|after|before"
    r"|when)\s)[^,;:.()]{2,60})"
)
_SPLIT = re.compile(r"\s(?:and|but|while|compared|versus|vs\.?)\s")


def _name_by_words(proposal: Proposal) -> Proposal:
    """Return the proposal with its property named by the words after the figure, or else before it."""
    words = " ".join(proposal.quote.split())
    at = words.find(proposal.written) if proposal.written else -1
    if at < 0 or not proposal.written:
        return proposal
    after = _CONDITION.match(words[at + len(proposal.written) :])
    text = _SPLIT.split(after["what"])[0] if after else ""
    if not text:
        before = re.search(r"(?:,|;|\band\b)\s?(?P<what>[^,;.()]{3,50}?)\s?(?:\(|of|was|is|at|to|:)?\s?$", words[:at])
        text = before["what"] if before else proposal.written
    name = qualify(proposal.property.name, text.strip())
    return replace(proposal, property=replace(proposal.property, name=name), slug=slugify(name))


def _fold_repeats(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Let a claim that the card repeats in the same words occur once, where it comes first, and say how often it does."""
    kept: dict[tuple[object, ...], Proposal] = {}
    times: Counter[tuple[object, ...]] = Counter()
    within: Counter[tuple[object, ...]] = Counter()
    for place, one in enumerate(proposals):
        said = (" ".join(one.quote.split()), one.model, one.form, one.relation, one.theta, one.reported and one.reported.value, one.written)
        here = (*said, one.anchor.start)
        # The same words under other heads of a table are other results.
        key = (*said, place) if one.passage is PassageKind.ROW else (*said, within[here])
        within[here] += 1
        times[key] += 1
        kept.setdefault(key, one)
    return [
        one if times[key] == 1 else replace(one, notes=(*one.notes, f"stands {times[key]} times in the card, in the same words"))
        for key, one in kept.items()
    ]


def _part_domains(proposals: list[Proposal]) -> list[Proposal]:
    """Add the dangerous area to a name that would join figures of several: one on biology says nothing of cybersecurity."""
    areas = [tuple(row.name for row, _ in find_rows("areas", proposal.quote)) for proposal in proposals]
    shared: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for proposal, named in zip(proposals, areas, strict=True):
        shared[proposal.property.name].add(named)
    parted = []
    for whole, named in zip(proposals, areas, strict=True):
        proposal = whole
        known = {row.name for row, _ in find_rows("areas", proposal.property.name)}
        missing = [area for area in named if area not in known]
        if missing and len(shared[proposal.property.name] - {()}) > 1:
            name = qualify(proposal.property.name, " and ".join(missing[:2]))
            proposal = replace(proposal, property=replace(proposal.property, name=name), slug=slugify(name))
        parted.append(proposal)
    return parted


# Two engines on one card: where they agree, confidence rises; where they differ, it falls and a note says how.

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
