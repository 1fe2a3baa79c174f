"""Proposals as the YAML claims file that a person edits and `caveat claim add` takes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from textwrap import wrap

from registry.codec.canonical_documents import to_document
from registry.codec.yaml_text import WIDTH, render_key
from registry.completeness import states_version
from registry.errors import CaveatError
from registry.intake.quote_anchor import AnchoredText, show_text
from registry.records.claim import ClaimRevision, Form, Reported
from registry.records.claim_draft import (
    AwarenessNote,
    ClaimDraft,
    OmissionDraft,
    Proposal,
    Proposals,
    RejectedOffer,
    SurveyDraft,
)
from registry.records.model_version import ModelRef
from registry.records.specification import PropertySpec
from registry.records.system_card import Anchor, CardText, Omission
from registry.records.verdict import CompletenessItem, ItemStatus

# The model version of a proposed claim, as the record needs it: developer, name and version.

NOT_STATED = "not stated"
"""Stands where the record needs a word and the card has none; completeness counts it as missing."""
_TOKEN = re.compile(r"[^\s\-_/()]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """What is known of the models a card may speak of."""

    publisher: str | None
    """Of the card; None for a file that is not registered."""
    given: ModelRef | None = None
    """What the person says that the card is about."""
    registered: tuple[ModelRef, ...] = ()

    def resolve(self, name: str | None, version: str | None) -> ModelRef | None:
        """Return the model version that *name* and *version* stand for, None without a name.

        The given model comes first, then the one registered version that fits, then the words of the card with "not stated" for what they
        do not say. A name fits one that contains it: "Haiku 4.5" fits "Claude Haiku 4.5", and "Llama 4 Scout" does not fit "Llama 4".
        """
        if name is None or not name.strip():
            return None
        if self.given is not None and _fits(name, self.given.name):
            return self.given
        fitting = [ref for ref in self.registered if _fits(name, ref.name) and version in (None, ref.version)]
        exact = [ref for ref in fitting if _split(ref.name) == _split(name)]
        # Several versions that fit are no answer: choosing one would give the claim a version that the card does not
        # state.
        for choice in (exact, fitting):
            if len(choice) == 1:
                return choice[0]
        return ModelRef(developer=self._developer, name=" ".join(name.split()), version=version or NOT_STATED)

    def choose_default(self, proposals: Sequence[Proposal]) -> ModelRef:
        """Return the model version that stands for the whole file: the given one, otherwise the one most proposals are about."""
        if self.given is not None:
            return self.given
        # The most frequent model becomes the file's default, so that most claims need no model of their own.
        named = Counter(ref for proposal in proposals if (ref := self.resolve(proposal.model, proposal.version)) is not None)
        if named:
            return named.most_common(1)[0][0]
        return ModelRef(developer=self._developer, name=NOT_STATED, version=NOT_STATED)

    @property
    def _developer(self) -> str:
        return self.publisher or (self.given.developer if self.given else NOT_STATED)


def _fits(name: str, text: str) -> bool:
    """Whether the words of *name* stand in *known*, next to each other."""
    inner, outer = _split(name), _split(text)
    return bool(inner) and any(outer[start : start + len(inner)] == inner for start in range(len(outer) - len(inner) + 1))


def _split(name: str) -> tuple[str, ...]:
    return tuple(token.casefold() for token in _TOKEN.findall(name))


# Proposed claims as drafts of a claims file, with comments for the person who decides.

_LONGEST_WORDS = 160
"""Characters of a statement nearby that are shown beside a claim; the whole of it is in `--json`."""
_MOST_NEARBY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftEntry:
    """One claim of a claims file in the making."""

    draft: ClaimDraft
    """Its `model` is None where the file's stands for it; its `property` is the short name that is wished for."""
    spec: PropertySpec | None
    """The property; None where the draft names a registered one."""
    comments: tuple[str, ...] = ()
    """For the person who reads the file, one thought each."""


def draft_claim(proposal: Proposal, known_models: KnownModels, default: ModelRef) -> ClaimDraft:
    """Return *proposal* as a draft; what a draft has no field for stands in its note.

    Args:
        known: what names of models stand for.
        default: the file's model; a claim about it names none.
    """
    model = known_models.resolve(proposal.model, proposal.version)
    reported = proposal.reported if proposal.reported and _is_inside(proposal.reported.value, proposal) else None
    is_plain = reported is not None and reported.low is reported.high is reported.n is None
    return ClaimDraft(
        quote=proposal.quote,
        page=proposal.anchor.page,
        form=proposal.form,
        relation=proposal.relation if proposal.form is Form.THRESHOLD else None,
        theta=proposal.theta if _is_inside(proposal.theta, proposal) else None,
        reported=reported.value if reported is not None and is_plain else reported,
        property=proposal.slug,
        evaluation=proposal.evaluation,
        grader=proposal.grader,
        elicitation=proposal.elicitation,
        model=None if model in (None, default) else model,
        # A restatement needs equal model, property, evaluation and conditions, and shared words. Nothing is related
        # without a person.
        restates=tuple(restate.claim.partition("@")[0] for restate in proposal.restates),
        note=" ".join(_list_unheld(proposal)) or None,
    )


def list_missing(proposal: Proposal, model: ModelRef) -> list[str]:
    """Return the items that are not stated for *proposal*, in words; the version is, where *model*, which it is taken for, has one."""
    missing = [completeness.item for completeness in proposal.completeness if completeness.status is ItemStatus.MISSING]
    is_known = states_version(model.version)
    return [item.value.replace("-", " ") for item in missing if not (is_known and item is CompletenessItem.VERSION)]


def describe_awareness(one: AwarenessNote) -> str:
    """Return a statement of evaluation awareness, cut, with the layer it speaks of."""
    return f"“{show_text(one.quote, limit=_LONGEST_WORDS)}” ({one.layer.value if one.layer else 'how it is known is not said'})"


def list_comments(proposal: Proposal, number: int, model: ModelRef) -> Iterator[str]:
    """Give what a person should see beside *proposal*: where it is, how sure the engine is, what is missing, what is nearby.

    Args:
        number: of the proposal, from 1.
        model: what the claim is taken to be about.
    """
    yield f"{number} · {describe_place(proposal)} · confidence {proposal.confidence.value}"
    if proposal.written is not None:
        yield f"the card writes: {proposal.written}"
    if missing := list_missing(proposal, model):
        yield f"not stated: {', '.join(missing)}"
    if proposal.model is None:
        yield f"the passage names no model; taken for {model.name}"
    for comparison in proposal.comparisons:
        yield f"compared with {comparison.subject}: {comparison.words}"
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


# Proposals that are kept: the quote is the card's own and can be found again, and the claim is not registered yet. This
# is checked for every engine, so that nothing invented can enter.

_LONGEST = 300


def drop_unanchored(proposals: Proposals, card: CardText) -> Proposals:
    """Return *proposals* without those whose quote is not the card's own or could not be found again; they are counted as dropped.

    An engine takes quotes from the card. This is asked of every one all the same, so that nothing invented can enter.
    """
    text, kept, dropped = AnchoredText(card), [], []
    for proposal in proposals.proposals:
        reason = _find_reason(proposal, card, text)
        if reason is None:
            kept.append(proposal)
        else:
            dropped.append(RejectedOffer(quote=proposal.quote[:_LONGEST], reason=reason))
    return replace(proposals, proposals=tuple(kept), dropped=(*proposals.dropped, *dropped))


def drop_registered(proposals: Proposals, claims: Iterable[ClaimRevision]) -> tuple[Proposals, int]:
    """Return *proposals* without those that *claims* make already, and how many these are.

    A claim makes a proposal if it is anchored in the same file, one quote holds the other or both have the same words, and form, θ and
    figure are the same.
    """
    known = [revision for revision in claims if revision.anchor is not None and revision.anchor.document == proposals.document]
    return _drop(proposals, lambda proposal: any(_is_made(proposal, claim) for claim in known))


def drop_sighted(proposals: Proposals, sighted: Iterable[tuple[ClaimRevision, Anchor]]) -> tuple[Proposals, int]:
    """Return *proposals* without those that claims of another revision of the card make, and how many these are.

    Args:
        sighted: each of the claims with the place in this file where its passage stands, unchanged or moved, or spelled otherwise.
    """
    return drop_registered(proposals, (replace(claim, anchor=anchor, quote=anchor.exact) for claim, anchor in sighted))


def drop_excluded(proposals: Proposals, omissions: Iterable[Omission]) -> tuple[Proposals, int]:
    """Return *proposals* without those of passages that were left out of this file, and how many these are."""
    places = {(omission.anchor.start, omission.anchor.stop) for omission in omissions if omission.anchor.document == proposals.document}
    return _drop(proposals, lambda proposal: (proposal.anchor.start, proposal.anchor.stop) in places)


def _drop(proposals: Proposals, is_dropped: Callable[[Proposal], bool]) -> tuple[Proposals, int]:
    kept = tuple(proposal for proposal in proposals.proposals if not is_dropped(proposal))
    return replace(proposals, proposals=kept), len(proposals.proposals) - len(kept)


def count_dropped(proposals: Proposals) -> list[tuple[str, int]]:
    """Return each reason for which something was dropped, and how often, the most frequent first."""
    return Counter(offer.reason for offer in proposals.dropped).most_common()


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
    # Values outside the range of the property are in the note.
    is_same = (claim.theta, figure) == tuple(value if _is_inside(value, proposal) else None for value in (proposal.theta, proposed))
    return (is_inside or is_again) and is_same


# The claims file for `caveat claim add`, with comments for the person who edits it. It also has the positions of all
# proposed passages, and `claim add` records them as a survey, so that coverage can tell what was not decided on. Cost:
# positions at the end of a file for people.

_ORDER = (
    *("id", "why", "quote", "quote_status", "card", "page", "form", "relation", "theta", "reported", "property", "direction"),
    *("evaluation", "grader", "elicitation", "model", "scoring", "test_context", "deploy_contexts", "deployment", "source", "restates"),
    "note",
)
_LONGEST_COMMENT = 600
_WHY_PROPOSED = "Which passages were proposed, so that caveat card coverage can count the passages without a decision. Leave it as it is."
_HOW_TO_LEAVE_OUT = """\
What of the card is deliberately not registered, with the reason; it counts in the card's coverage. Write it like this:
excluded:
  - quote: The words as the card has them.
    reason: A figure of another model.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsSheet:
    """Everything that goes into one claims file."""

    head: tuple[str, ...]
    """Comments at the top, one thought each."""
    card: str | None
    """`CRD-…@n`; None for a file that is not registered."""
    model: ModelRef
    """Stands for all claims that name none."""
    entries: tuple[DraftEntry, ...]
    """In the order of the file."""
    excluded: tuple[OmissionDraft, ...] = ()
    proposed: SurveyDraft | None = None
    registered: Mapping[str, PropertySpec | None] | None = None
    """Short names of properties that the registry has already, with what they stand for there; None for a sealed one."""


def build_survey(proposals: Proposals) -> SurveyDraft:
    """Return which passages *proposals* quote: all that the engine proposed, not only those that a person asked for."""
    passages = sorted({(proposal.anchor.start, proposal.anchor.stop) for proposal in proposals.proposals})
    return SurveyDraft(by=proposals.by, document=proposals.document, passages=tuple(passages))


def build_entries(proposals: Sequence[Proposal], known_models: KnownModels, default: ModelRef) -> tuple[DraftEntry, ...]:
    """Return the claims that *proposals* come to, in their order, numbered from 1."""
    return tuple(build_entry(proposal, number, known_models, default) for number, proposal in enumerate(proposals, start=1))


def build_entry(proposal: Proposal, number: int, known_models: KnownModels, default: ModelRef) -> DraftEntry:
    """Return the claim that *proposal* comes to.

    Args:
        number: of the proposal, from 1.
        known: what names of models stand for.
        default: the file's model.
    """
    draft = draft_claim(proposal, known_models, default)
    return DraftEntry(draft=draft, spec=proposal.property, comments=tuple(list_comments(proposal, number, draft.model or default)))


def render_sheet(sheet: ClaimsSheet) -> str:
    """Return *sheet* as YAML.

    Equal properties stand in it once; where one short name is wished for two properties, the second gets a number. The same words that make
    the same claim twice stand once; where they give another figure, their property is told apart, so that the file can be registered.
    """
    properties, entries = _settle(sheet)
    lines = [*_comment(sheet.head), "schema: caveat/claims/1"]
    lines += render_key("card", sheet.card, 0) if sheet.card else ["# card: CRD-…   (what caveat card add prints)"]
    lines += render_key("model", to_document(sheet.model), 0)
    if properties:
        lines += ["", "properties:"]
        for slug, spec in properties.items():
            lines += render_key(slug, _drop_empty(to_document(spec)), 2)
    lines += ["", "claims:" if entries else "claims: []"]
    for entry in entries:
        lines += ["", *_comment(entry.comments, "  "), *_render_item(_order(entry.draft))]
    lines += ["", *_render_excluded(sheet.excluded)]
    if sheet.proposed is not None:
        lines += ["", *_comment((_WHY_PROPOSED,)), "proposed:"]
        for key, value in to_document(sheet.proposed).items():
            lines += render_key(key, value, 2)
    return "\n".join(lines) + "\n"


def render_drafts(entries: Sequence[DraftEntry], head: Sequence[str] = ()) -> str:
    """Return claims with their properties as a small claims file for an editor, with the comments *head* at its top."""
    lines = [*_comment(head)]
    specs = {entry.draft.property: entry.spec for entry in entries if entry.spec is not None}
    lines += ["properties:"] if specs else []
    for slug, spec in specs.items():
        body = _drop_empty(to_document(spec))
        lines += [f"  {slug}:", *(line for key, value in body.items() for line in render_key(key, value, 4))]
    lines.append("claims:")
    for entry in entries:
        lines += _render_item(_order(entry.draft))
    return "\n".join(lines) + "\n"


def _settle(sheet: ClaimsSheet) -> tuple[dict[str, PropertySpec], list[DraftEntry]]:
    """Return the properties by the short names they get, and the claims under these names, each once."""
    names = _PropertyNames(sheet.registered or {})
    settled: list[DraftEntry] = []
    groups: dict[tuple[object, ...], list[int]] = {}
    for entry in sheet.entries:
        named = _rename(entry, names)
        group = groups.setdefault(_key(named, sheet), [])
        # The same words with the same claim are one entry. With another figure they get a property of their own, since
        # one property cannot have two values.
        same = next((place for place in group if _is_same(settled[place].draft, named.draft)), None)
        if same is not None:
            page = "" if named.draft.page is None else f" on page {named.draft.page}"
            settled[same] = _add_comment(settled[same], f"the same words stand again{page}")
            continue
        if group and entry.spec is not None:
            named = _rename(_tell_apart(entry, entry.spec, len(group) + 1), names)
        group.append(len(settled))
        settled.append(named)
    return names.used, settled


class _PropertyNames:
    """Gives properties their short names: equal ones the same, others never."""

    def __init__(self, registered: Mapping[str, PropertySpec | None]) -> None:
        self._registered = registered
        self.used: dict[str, PropertySpec] = {}

    def give(self, wish: str, spec: PropertySpec) -> str:
        """Return the short name of *spec*: the wish, or the wish with the first free number."""
        name = next(one for one in chain((wish,), (f"{wish}-{number}" for number in count(2))) if self._may_be(one, spec))
        self.used[name] = spec
        return name

    def _may_be(self, name: str, spec: PropertySpec) -> bool:
        """Whether *name* stands for nothing else, in this file and in the registry."""
        if name in self.used:
            return self.used[name] == spec
        return name not in self._registered or self._registered[name] == spec


def _rename(entry: DraftEntry, names: _PropertyNames) -> DraftEntry:
    if entry.spec is None:
        return entry
    return replace(entry, draft=replace(entry.draft, property=names.give(entry.draft.property, entry.spec)))


def _tell_apart(entry: DraftEntry, spec: PropertySpec, number: int) -> DraftEntry:
    """Give a claim that has the words of another a property of its own: two figures cannot be one quantity."""
    told = replace(entry, spec=replace(spec, name=f"{spec.name} (figure {number} of the passage)"))
    return _add_comment(told, "these words make another claim above too: name in the property what this figure measures")


def _add_comment(entry: DraftEntry, comment: str) -> DraftEntry:
    return replace(entry, comments=(*entry.comments, comment))


def _key(entry: DraftEntry, sheet: ClaimsSheet) -> tuple[object, ...]:
    """What makes two claims of the file one claim, as `registry.store.statement_rows` has it."""
    draft = entry.draft
    return " ".join(draft.quote.split()), draft.property, draft.form, draft.model or sheet.model, draft.card, draft.source


def _is_same(claim_draft: ClaimDraft, other: ClaimDraft) -> bool:
    """Whether two claims say the same, wherever they stand and whatever else is noted."""
    fields = ("theta", "reported", "relation", "evaluation", "grader", "elicitation")
    return all(_plain(getattr(claim_draft, name)) == _plain(getattr(other, name)) for name in fields)


def _plain(value: object) -> object:
    return Reported(value=value) if isinstance(value, float) else value


def _order(draft: ClaimDraft) -> dict[str, object]:
    document = _drop_empty(to_document(draft))
    if document.get("quote_status") == "verbatim":
        del document["quote_status"]
    return {key: document[key] for key in _ORDER if key in document}


def _drop_empty(document: Mapping[str, object]) -> dict[str, object]:
    """Leave out what says nothing: None, empty lists, and `false`, which is the default where it occurs; also inside."""
    kept = {key: _drop_empty(value) if isinstance(value, dict) else value for key, value in document.items()}
    return {key: value for key, value in kept.items() if value is not None and value is not False and value not in ([], ())}


def _render_item(document: Mapping[str, object]) -> list[str]:
    lines = [line for key, value in document.items() for line in render_key(key, value, 4)]
    return [f"  - {lines[0].removeprefix('    ')}", *lines[1:]]


def _render_excluded(excluded: Iterable[OmissionDraft]) -> list[str]:
    items = [line for draft in excluded for line in _render_item(_drop_empty(to_document(draft)))]
    return ["excluded:", *items] if items else [f"# {line}" for line in _HOW_TO_LEAVE_OUT.splitlines()]


def _comment(thoughts: Iterable[str], indent: str = "") -> Iterator[str]:
    """Give *thoughts* as comment lines; whatever they hold, none can end the comment or steer a terminal."""
    for thought in thoughts:
        shown = show_text(thought, limit=_LONGEST_COMMENT)
        for place, line in enumerate(wrap(shown, WIDTH - len(indent) - 4, break_on_hyphens=False)):
            yield f"{indent}# {'  ' if place else ''}{line}"
