"""Values restated across cards: a registered claim about the same quantity that gives another number. Nothing is recorded here."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from registry.completeness import states_version
from registry.records.claim import ClaimRevision, Form, Relation, Reported
from registry.records.proposal import Proposal, Proposals, Restated
from registry.records.spec import PropertySpec, SpecVersion
from registry.records.status import Lifecycle
from registry.registration.same_quantity import (
    Figure,
    explain_sameness,
    find_step,
    is_other_number,
    list_model_keys,
    list_quantity_keys,
    name_model,
    name_section,
)
from registry.store.summary import ClaimSummary
from registry.store.view import View

_OVER = (Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED)
_CHUNK = 2_000
_MOST = 10
"""Registered claims that are named for one proposal."""
_MOST_COMPARED = 1_000
"""Of claims about one quantity, the latest that a figure is compared with: more of them are a series, not a restatement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestatedPair:
    """Two registered claims that give different numbers for what seems to be one quantity."""

    claim: Figure
    """The one that was registered later: it restates the other."""
    other: Figure
    why: str
    """What makes it one quantity, in words."""


def build_figure(claim: ClaimRevision, property_: SpecVersion) -> Figure | None:
    """Return the number that *claim* states: its figure, or its bound where only that is printed.

    None for a claim without a number, for a threshold without a figure (θ is what somebody wants, not what was measured), and
    where the property is sealed.
    """
    body = property_.body
    stated = _find_number(claim.form, claim.relation, claim.theta, claim.reported)
    if stated is None or not isinstance(body, PropertySpec):
        return None
    value, relation = stated
    return Figure(
        claim=claim.reference,
        card=claim.card.partition("@")[0] if claim.card else None,
        developer=claim.model.developer,
        model=claim.model.name,
        version=claim.model.version if states_version(claim.model.version) else None,
        property_id=property_.spec,
        slug=property_.slug,
        name=body.name,
        range=body.range,
        direction=claim.direction,
        evaluation=claim.evaluation,
        elicitation=claim.elicitation,
        quote=claim.quote,
        place=(claim.anchor.document, claim.anchor.start, claim.anchor.stop) if claim.anchor else None,
        value=value,
        relation=relation,
        step=find_step(value, claim.quote, top=body.range[1]),
        section=name_section(claim.anchor) if claim.anchor else None,
    )


def read_figures(view: View, *, progress: Callable[[int], None] = lambda _more: None) -> tuple[Figure, ...]:
    """Return the number of every registered claim that has one and still stands, in log order."""
    return tuple(_read_figures(view, view.list_claims(), progress))


class FigureIndex:
    """Figures by what they are of, so that one is compared with those alone that may be of its quantity."""

    def __init__(self, figures: Iterable[Figure] = ()) -> None:
        self._figures: list[Figure] = []
        self._places: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for figure in figures:
            self.add(figure)

    def add(self, figure: Figure) -> None:
        """Take *figure* in."""
        for key in _name_places(figure):
            self._places[key].append(len(self._figures))
        self._figures.append(figure)

    def find_near(self, figure: Figure) -> Iterator[Figure]:
        """Yield those that may be of the quantity of *figure*, in their order; of very many, the latest."""
        whole, *shorter = list_model_keys(name_model(figure)) or ((),)
        names = [("whole", whole), ("shorter", whole), *(("whole", one) for one in shorter)]
        keys = [(*name, key) for name in names for key in list_quantity_keys(figure)]
        places = sorted({place for key in keys for place in self._places.get(key, ())[-_MOST_COMPARED:]})
        yield from (self._figures[place] for place in places)


def find_pairs(figures: Iterable[Figure], *, card: str | None = None) -> Iterator[RestatedPair]:
    """Yield each two of *figures* that give another number for one quantity, in their order.

    Figures stand in log order, so that of each pair the later claim restates the earlier.

    Args:
        card: only pairs of which at least one claim quotes this card, `CRD-…`.
    """
    index = FigureIndex()
    for later in figures:
        for earlier in index.find_near(later):
            why = _explain(later, earlier) if card is None or card in (later.card, earlier.card) else None
            if why is not None:
                yield RestatedPair(claim=later, other=earlier, why=why)
        index.add(later)


def find_restated(proposal: Proposal, index: FigureIndex, *, card: str | None) -> tuple[Restated, ...]:
    """Return the registered claims that give another number for what *proposal*, or one of its comparisons, gives a figure of.

    Args:
        index: of registered claims, as `read_figures` gives them.
        card: `CRD-…` of the card that is read, with or without revision; None for one that is not registered.
    """
    found: dict[str, Restated] = {}
    for figure, said in _build_proposed(proposal, card=card.partition("@")[0] if card else None):
        for other in index.find_near(figure):
            why = _explain(figure, other)
            if why is not None and other.claim is not None:
                found.setdefault(other.claim, Restated(claim=other.claim, value=other.value, why=f"{said}; {why}" if said else why))
    return tuple(found.values())[:_MOST]


def add_restated(proposals: Proposals, figures: Iterable[Figure]) -> Proposals:
    """Return *proposals*, each with the registered claims that it, or one of its comparisons, gives another number for."""
    index = FigureIndex(figures)
    done = (replace(one, restates=find_restated(one, index, card=proposals.card)) for one in proposals.proposals)
    return replace(proposals, proposals=tuple(done))


def _explain(one: Figure, other: Figure) -> str | None:
    return explain_sameness(one, other) if is_other_number(one, other) else None


def _name_places(figure: Figure) -> Iterator[tuple[object, ...]]:
    for kind, name in zip(("whole", "shorter"), list_model_keys(name_model(figure)), strict=False):
        for key in list_quantity_keys(figure):
            yield kind, name, key


def _read_figures(view: View, claims: Iterable[ClaimSummary], progress: Callable[[int], None]) -> Iterator[Figure]:
    properties: dict[str, SpecVersion | None] = {}
    waiting: list[int] = []

    def read() -> Iterator[Figure]:
        for recorded in view.recorded(waiting):
            claim: ClaimRevision = recorded.payload
            if claim.property not in properties:
                spec = view.find_spec(claim.property)
                body = view.open_spec(spec.payload) if spec else None
                properties[claim.property] = replace(spec.payload, body=body, commitment=None) if spec and body else None
            version = properties[claim.property]
            figure = build_figure(claim, version) if version else None
            if figure is not None:
                yield figure
        progress(len(waiting))
        waiting.clear()

    for one in claims:
        if one.quote is not None and one.status.lifecycle not in _OVER:
            waiting.append(one.seq)
        if len(waiting) >= _CHUNK:
            yield from read()
    yield from read()


def _find_number(
    form: Form, relation: Relation | None, theta: float | None, reported: Reported | None
) -> tuple[float, Relation | None] | None:
    if reported is not None:
        return reported.value, None
    if theta is not None and form in (Form.UPPER_BOUND, Form.LOWER_BOUND):
        return theta, relation
    return None


def _build_proposed(proposal: Proposal, *, card: str | None) -> Iterator[tuple[Figure, str | None]]:
    """Yield what *proposal* states of its own model, and what it says of others, each with the words that say so."""
    stated = _find_number(proposal.form, proposal.relation, proposal.theta, proposal.reported)
    top = proposal.property.range[1]
    if stated is not None and proposal.model is not None and proposal.relative_to is None:
        value, relation = stated
        step = find_step(value, proposal.written or proposal.quote, top=top)
        own = _build_one(proposal, card, value, relation, step)
        yield replace(own, model=proposal.model, version=proposal.version), None
    for one in proposal.comparisons:
        if one.value is not None:
            other = _build_one(proposal, card, one.value, None, find_step(one.value, one.words, top=top))
            yield replace(other, model=one.subject, version=None), f"compared here with “{one.words}” for {one.subject}"


def _build_one(proposal: Proposal, card: str | None, value: float, relation: Relation | None, step: float) -> Figure:
    return Figure(
        claim=None,
        card=card,
        developer=None,
        model="",
        version=None,
        property_id=None,
        slug=proposal.slug,
        name=proposal.property.name,
        range=proposal.property.range,
        direction=proposal.property.direction,
        evaluation=proposal.evaluation,
        elicitation=proposal.elicitation,
        quote=proposal.quote,
        place=(proposal.anchor.document, proposal.anchor.start, proposal.anchor.stop),
        value=value,
        relation=relation,
        step=step,
        section=name_section(proposal.anchor),
    )
