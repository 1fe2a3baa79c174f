"""Values restated across cards: other figures for the same quantity."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz

from registry.completeness import states_version
from registry.records.claim import ClaimRevision, Direction, Form, Relation, Reported
from registry.records.claim_draft import Proposal, Proposals, RestatedFigure
from registry.records.claim_status import Lifecycle
from registry.records.specification import PropertySpec, SpecVersion
from registry.records.system_card import Anchor
from registry.store.claim_listing import ClaimSummary
from registry.store.registry_view import View

# Whether two figures are about one quantity and give different numbers. Precision before recall: in
# doubt they are not.
#
# Only what a claim states about itself is compared: model, property, evaluation, elicitation, and
# conditions in its words. Two words count as the same if they begin alike and differ little, which
# covers plural and spelling ("audits", "behavior") but never "without" for "with" or "unfaithful"
# for "faithful".

ALIKE = 85.0
"""`rapidfuzz.fuzz.ratio` (normalised indel similarity, 0 to 100) from which two words that begin alike count as the same."""


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that do not identify an evaluation.
_GENERAL = _list(
    "a an and at by for from in its of on or our the their this to we evaluation evaluations eval evals benchmark benchmarks suite "
    "suites test tests testing tested dataset datasets task tasks run runs"
)

# Words that do not identify a property: every property is a rate or a score.
_MEASURES = _list("average fraction frequency mean number overall percentage proportion rate rates score scores share value")

# Words that make the name one of another model: a snapshot, a differently trained or guarded
# variant, another size.
_VARIANTS = _list(
    "base early earlier final guarded helpful initial internal near old older pretrained raw untrained "
    "chat code codex distilled fast flash instant instruct large lite light max medium micro mini nano pro quantised quantized "
    "reasoning small thinking tiny turbo ultra vision"
)

# Words that reverse a condition: a figure with them is not the figure without them.
_TURNS = _list("after baseline before disabled except excluding final initial no off only prior removed unless unprompted without")

# Words that open a condition. The next two words say which one.
_OPENS = _list("after before despite during if under unless using via when where while with without")

# Words of every sentence. Two passages need words beyond these in common.
_COMMON = _list(
    "about above across achieved all also and any are been being below both but can compared could did does each for found from had has "
    "have higher how into its less lower made more most much not observed only other our out over per reported saw scored set showed shows "
    "some such than that the their them then these they this those time times two under use used very was well were what when where "
    "which while who will with without would"
)

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_PARAMETER = re.compile(r"\b(pass|maj|best[ -]of|top|k|attempts?)\s?[@=-]?\s?(\d{1,6})\b", re.IGNORECASE)
_LENGTH = re.compile(r"\b(\d{1,6})\s?([km])\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,15}(?:,\d{3}){0,5}(?:\.(\d{1,15}))?|\.(\d{1,15}))(?:\s?(%|per ?cent))?", re.IGNORECASE)
_BEGINNING = 3
"""Letters in which two words agree that count as the same."""
_SHARED = 0.5
"""Of the words of the shorter passage, without those that every sentence has, the share that must stand in the other."""
_SHARED_WITHIN = 0.6
"""The same within one card."""
_LONGEST = 2_000
"""Characters of a quote that are read for its conditions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantityFigure:
    """One number stated of a model, and what it is stated of."""

    claim: str | None
    """`CLM-…@n`; None for what is only proposed."""
    card: str | None
    """`CRD-…`, without revision; None where none is registered."""
    developer: str | None
    model: str
    """As the card names it."""
    version: str | None
    """None where it is not stated."""
    property_id: str | None
    """`PRP-…`, without version; None for one that is not registered."""
    slug: str | None
    name: str
    """Of the property."""
    range: tuple[float, float]
    direction: Direction
    evaluation: str | None
    elicitation: str | None
    quote: str
    place: tuple[str, int, int] | None
    """Digest of the card's file, first character and one past the last; None without an anchor."""
    value: float
    """In the unit of the range."""
    relation: Relation | None
    """For a bound that is printed without a figure; None for a figure."""
    step: float
    """Of its last printed digit; 0 where it is exact ("15/32", "never")."""
    section: str | None = None
    """Where its passage stands: the heading above it, or its page; None where neither is known."""


def name_section(anchor: Anchor) -> str | None:
    """Return the heading above the passage; where there is none its page, None for a card without pages too."""
    return anchor.section or (f"page {anchor.page}" if anchor.page else None)


def find_step(value: float, words: str, *, top: float) -> float:
    """Return what the last printed digit of *value* is worth, in its unit: 0.01 for 0.05 that *words* print as "5%".

    A value that no number in *words* prints has the digits of its shortest decimal; 0 and *top*, the end of the range, which are
    often written in words ("never", "all"), then count as exact.
    """
    # The printed form decides the precision: 5 % and 5.0 % differ in what they can contradict.
    for number in _NUMBER.finditer(words[:_LONGEST]):
        written = float(number[1].replace(",", ""))
        digits = 10.0 ** -len(number[2] or number[3] or "")
        if _is_equal(written, value) and not (number[4] and top == 1.0):
            return digits
        if (number[4] or top == 1.0) and _is_equal(written / 100, value):
            return digits / 100
    if value in (0.0, top):
        return 0.0
    mantissa, _, exponent = repr(abs(value)).partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2].rstrip("0"))))


def is_other_number(figure: QuantityFigure, other: QuantityFigure) -> bool:
    """Whether the two cannot both be right: they differ after rounding to the coarser as written, or one breaks the other's bound.

    Two bounds on the same side may both hold.
    """
    # Half a unit of the coarser last digit: 5 % and 5.3 % agree. The small terms absorb
    # floating-point error.
    slack = max(figure.step, other.step) / 2 * (1 + 1e-9) + 1e-12
    if figure.relation is None and other.relation is None:
        return abs(figure.value - other.value) > slack
    # "At most 5 %" and "at most 3 %" can both hold.
    if figure.relation is other.relation:
        return False
    is_upper = figure.relation is Relation.AT_MOST or other.relation is Relation.AT_LEAST
    upper, lower = (figure, other) if is_upper else (other, figure)
    return lower.value - upper.value > slack


def explain_sameness(figure: QuantityFigure, other: QuantityFigure) -> str | None:
    """Return in words what makes the two figures one quantity; None where they are not, or where it is in doubt."""
    # Every criterion must hold. Ranges and directions come first because they are cheapest.
    model = _explain_model(figure, other)
    if model is None or figure.range != other.range or _opposes(figure.direction, other.direction) or _stand_together(figure, other):
        return None
    quantity = _explain_quantity(figure, other)
    if quantity is None or not _has_same_conditions(figure, other) or not _speaks_alike(figure, other):
        return None
    return f"{model}; {quantity}"


def is_same_model(text: str, other: str) -> bool:
    """Whether two names mean one model: the same words, or one with its family's name before it ("Claude Opus 4", "Opus 4")."""
    first, second = list_model_keys(text), list_model_keys(other)
    return bool(first and second) and (first[0] in second or second[0] in first)


@lru_cache(maxsize=16_384)
def list_model_keys(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of *name* in order, and those without the family's name before them where they still name a model.

    Two names mean one model exactly if the first of one is among those of the other. Empty for a name without a word.
    """
    words = tuple(_read_words(name))
    if not words:
        return ()
    # "Claude Opus 4" and "Opus 4" are one model. But a first word such as "mini" is part of the
    # name and not a family.
    has_family = len(words) > 2 and not words[0][0].isdigit() and words[0] not in _VARIANTS
    return (tuple(sorted(words)), tuple(sorted(words[1:]))) if has_family else (tuple(sorted(words)),)


def list_quantity_keys(figure: QuantityFigure) -> tuple[tuple[object, ...], ...]:
    """Return keys of which two figures of one quantity share at least one: for finding, not for deciding."""
    keys: list[tuple[object, ...]] = []
    for kind, words in (("evaluation", _read_evaluation(figure.evaluation or "")), ("property", _read_property(figure.name))):
        if words:
            keys.append((kind, figure.range, *(word[:_BEGINNING] if word[0].isalpha() else word for word in sorted(words))))
    keys += [(kind, name) for kind, name in (("registered", figure.property_id), ("slug", figure.slug)) if name]
    return tuple(keys)


def name_model(figure: QuantityFigure) -> str:
    """Return the name of the figure's model without its developer before it."""
    words, first = figure.model.split(), _fold(figure.developer or "")
    return " ".join(words[1:]) if len(words) > 1 and first and _fold(words[0]) == first else figure.model


def _explain_model(figure: QuantityFigure, other: QuantityFigure) -> str | None:
    if not is_same_model(name_model(figure), name_model(other)):
        return None
    if figure.developer and other.developer and _fold(figure.developer) != _fold(other.developer):
        return None
    if figure.version and other.version:
        return f"both of {figure.model} {figure.version}" if _fold(figure.version) == _fold(other.version) else None
    return f"both of {figure.model}; {'no version is' if not (figure.version or other.version) else 'one version is not'} stated"


def _explain_quantity(figure: QuantityFigure, other: QuantityFigure) -> str | None:
    """Where both name an evaluation it must be the same; where one does not, only one property by name makes them one quantity."""
    both = bool(figure.evaluation and other.evaluation)
    if both and not _are_alike(_read_evaluation(figure.evaluation or ""), _read_evaluation(other.evaluation or "")):
        return None
    property_ = _explain_property(figure, other, within_evaluation=both)
    if property_ is None:
        return None
    if both:
        return f"{property_}; the same evaluation, “{figure.evaluation}”"
    if figure.evaluation or other.evaluation:
        return f"{property_}; only one names its evaluation, “{figure.evaluation or other.evaluation}”"
    return f"{property_}; neither names its evaluation"


def _explain_property(figure: QuantityFigure, other: QuantityFigure, *, within_evaluation: bool) -> str | None:
    first, second = (_read_property(side.name) for side in (figure, other))
    # Outside a common evaluation a property named by one word is too general to be the same
    # quantity.
    is_specific = within_evaluation or len(first) > 1
    if figure.property_id and figure.property_id == other.property_id:
        return f"the same property, “{figure.name}”" if is_specific else None
    if figure.slug and figure.slug == other.slug and len(_read_property(figure.slug)) >= (1 if within_evaluation else 2):
        return f"properties of one short name, “{figure.slug}”"
    if first and _are_alike(first, second):
        return f"properties of one name, “{figure.name}”" if is_specific else None
    if (
        within_evaluation
        and _list_numbers(first) == _list_numbers(second)
        and (_is_within(first, second, figure.evaluation or "") or _is_within(second, first, figure.evaluation or ""))
    ):
        return f"properties that differ by general words, “{figure.name}” and “{other.name}”"
    return None


def _has_same_conditions(figure: QuantityFigure, other: QuantityFigure) -> bool:
    """Whether nothing in their words tells the two apart. Within one card every condition counts; across cards wordings differ more."""
    if (
        figure.elicitation
        and other.elicitation
        and not _are_alike(_read_evaluation(figure.elicitation), _read_evaluation(other.elicitation))
    ):
        return False
    texts = [" ".join((side.quote[:_LONGEST], side.name, side.evaluation or "", side.elicitation or "")) for side in (figure, other)]
    parameters = [_find_parameters(text) for text in texts]
    turns = [_TURNS & set(_read_words(side.quote[:_LONGEST])) for side in (figure, other)]
    # Within one card, wording is consistent, so any difference counts. Across cards an unstated
    # parameter is not a contradiction.
    if figure.card is not None and figure.card == other.card:
        conditions = [_find_conditions(side.quote) for side in (figure, other)]
        return parameters[0] == parameters[1] and turns[0] == turns[1] and conditions[0] == conditions[1]
    return turns[0] == turns[1] and (parameters[0] == parameters[1] or not all(parameters))


def _speaks_alike(figure: QuantityFigure, other: QuantityFigure) -> bool:
    """Whether the two passages share words of their own: names of properties and evaluations may be no more than those of a section."""
    left = _list_words(figure.quote, figure.model, other.model)
    right = _list_words(other.quote, figure.model, other.model)
    # Measured against the shorter passage, so that a long paragraph does not dilute the overlap.
    few, many = sorted((left, right), key=lambda words: (len(words), sorted(words)))
    shared = sum(any(_is_same_word(word, candidate) for candidate in many) for word in few)
    within = figure.card is not None and figure.card == other.card
    return shared >= (3 if within else 2) and shared >= len(few) * (_SHARED_WITHIN if within else _SHARED)


def _list_words(quote: str, *models: str) -> frozenset[str]:
    named = {word for model in models for word in _read_words(model)}
    words = (word for word in _read_words(quote[:_LONGEST]) if len(word) > 2 and word[0].isalpha())
    return frozenset(word for word in words if word not in _COMMON and word not in _MEASURES and word not in _GENERAL and word not in named)


def _list_numbers(words: tuple[str, ...]) -> list[str]:
    return sorted(word for word in words if word[0].isdigit())


def _stand_together(figure: QuantityFigure, other: QuantityFigure) -> bool:
    """Two figures in one passage are two quantities, and in one section of one file too: neither would give one quantity twice.

    Of the pairs that all else let through on two real cards every one was of this kind: two subsets, easier and harder problems.
    """
    if figure.place is None or other.place is None or figure.place[0] != other.place[0]:
        return " ".join(figure.quote.split()) == " ".join(other.quote.split())
    if figure.section is not None and figure.section == other.section:
        return True
    return figure.place[1] < other.place[2] and other.place[1] < figure.place[2]


def _opposes(direction: Direction, other: Direction) -> bool:
    return {direction, other} == {Direction.HIGHER_IS_SAFER, Direction.LOWER_IS_SAFER}


def _is_equal(number: float, other: float) -> bool:
    return abs(number - other) <= 1e-9 * max(abs(number), abs(other), 1e-3)


def _find_parameters(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((match[1].casefold(), match[2].casefold()) for pattern in (_PARAMETER, _LENGTH) for match in pattern.finditer(text))


def _find_conditions(quote: str) -> frozenset[tuple[str, ...]]:
    words = _read_words(quote[:_LONGEST])
    return frozenset(tuple(words[at : at + 3]) for at, word in enumerate(words) if word in _OPENS)


def _is_within(part: tuple[str, ...], whole: tuple[str, ...], evaluation: str) -> bool:
    known = (*whole, *_read_evaluation(evaluation))
    return all(any(_is_same_word(word, candidate) for candidate in known) for word in part)


@lru_cache(maxsize=65_536)
def _are_alike(texts: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the same words stand in both, in any order; sorted, so that each word meets its counterpart."""
    return bool(texts) and len(texts) == len(other) and all(_is_same_word(*pair) for pair in zip(sorted(texts), sorted(other), strict=True))


@lru_cache(maxsize=65_536)
def _is_same_word(text: str, other: str) -> bool:
    if text == other:
        return True
    if text[:1].isdigit() or other[:1].isdigit():
        return False
    return text[:_BEGINNING] == other[:_BEGINNING] and fuzz.ratio(text, other) >= ALIKE


@lru_cache(maxsize=16_384)
def _read_evaluation(text: str) -> tuple[str, ...]:
    return tuple(word for word in _read_words(text) if word not in _GENERAL)


@lru_cache(maxsize=16_384)
def _read_property(text: str) -> tuple[str, ...]:
    return tuple(word for word in _read_words(text) if word not in _GENERAL and word not in _MEASURES)


def _read_words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _fold(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


# Restated values: registered claims on the same quantity that give another number. Nothing is
# recorded here.

_OVER = (Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED)
_CHUNK = 2_000
_MOST = 10
"""Registered claims that are named for one proposal."""
_MOST_COMPARED = 1_000
"""Of claims about one quantity, the latest that a figure is compared with: more of them are a series, not a restatement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestatedPair:
    """Two registered claims that give different numbers for what seems to be one quantity."""

    claim: QuantityFigure
    """The one that was registered later: it restates the other."""
    other: QuantityFigure
    why: str
    """What makes it one quantity, in words."""


def build_figure(claim: ClaimRevision, property_: SpecVersion) -> QuantityFigure | None:
    """Return the number that *claim* states: its figure, or its bound where only that is printed.

    None for a claim without a number, for a threshold without a figure (θ is a requirement, not a measurement), and
    where the property is sealed.
    """
    body = property_.body
    stated = _find_number(claim.form, claim.relation, claim.theta, claim.reported)
    if stated is None or not isinstance(body, PropertySpec):
        return None
    value, relation = stated
    return QuantityFigure(
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


def read_figures(view: View, *, progress: Callable[[int], None] = lambda _more: None) -> tuple[QuantityFigure, ...]:
    """Return the number of every registered claim that has one and is still valid, in log order."""
    return tuple(_read_figures(view, view.list_claims(), progress))


class FigureIndex:
    """Figures by what they are of, so that one is compared with those alone that may be of its quantity."""

    def __init__(self, figures: Iterable[QuantityFigure] = ()) -> None:
        self._figures: list[QuantityFigure] = []
        self._places: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for figure in figures:
            self.add(figure)

    def add(self, figure: QuantityFigure) -> None:
        """Take *figure* in."""
        for key in _name_places(figure):
            self._places[key].append(len(self._figures))
        self._figures.append(figure)

    def find_near(self, figure: QuantityFigure) -> Iterator[QuantityFigure]:
        """Yield those that may be of the quantity of *figure*, in their order; of very many, the latest."""
        whole, *shorter = list_model_keys(name_model(figure)) or ((),)
        names = [("whole", whole), ("shorter", whole), *(("whole", texts) for texts in shorter)]
        keys = [(*name, key) for name in names for key in list_quantity_keys(figure)]
        # The latest figures win where one quantity has very many: these are a series and not a
        # restatement.
        places = sorted({place for key in keys for place in self._places.get(key, ())[-_MOST_COMPARED:]})
        yield from (self._figures[place] for place in places)


def find_pairs(figures: Iterable[QuantityFigure], *, card: str | None = None) -> Iterator[RestatedPair]:
    """Yield each two of *figures* that give another number for one quantity, in their order.

    Figures are in log order, so that of each pair the later claim restates the earlier.

    Args:
        card: only pairs of which at least one claim quotes this card, `CRD-…`.
    """
    index = FigureIndex()
    for later in figures:
        for earlier in index.find_near(later):
            why = _explain(later, earlier) if card is None or card in (later.card, earlier.card) else None
            if why is not None:
                yield RestatedPair(claim=later, other=earlier, why=why)
        # Added after the search, so that each pair is found once, from its later claim.
        index.add(later)


def find_restated(proposal: Proposal, index: FigureIndex, *, card: str | None) -> tuple[RestatedFigure, ...]:
    """Return the registered claims that give another number for what *proposal*, or one of its comparisons, gives a figure of.

    Args:
        index: of registered claims, as `read_figures` gives them.
        card: `CRD-…` of the card that is read, with or without revision; None for one that is not registered.
    """
    figures: dict[str, RestatedFigure] = {}
    for figure, text in _build_proposed(proposal, card=card.partition("@")[0] if card else None):
        for other in index.find_near(figure):
            why = _explain(figure, other)
            if why is not None and other.claim is not None:
                figures.setdefault(other.claim, RestatedFigure(claim=other.claim, value=other.value, why=f"{text}; {why}" if text else why))
    return tuple(figures.values())[:_MOST]


def add_restated(proposals: Proposals, figures: Iterable[QuantityFigure]) -> Proposals:
    """Return *proposals*, each with the registered claims that it, or one of its comparisons, gives another number for."""
    index = FigureIndex(figures)
    done = (replace(proposal, restates=find_restated(proposal, index, card=proposals.card)) for proposal in proposals.proposals)
    return replace(proposals, proposals=tuple(done))


def _explain(figure: QuantityFigure, other: QuantityFigure) -> str | None:
    return explain_sameness(figure, other) if is_other_number(figure, other) else None


def _name_places(figure: QuantityFigure) -> Iterator[tuple[object, ...]]:
    for kind, name in zip(("whole", "shorter"), list_model_keys(name_model(figure)), strict=False):
        for key in list_quantity_keys(figure):
            yield kind, name, key


def _read_figures(view: View, claims: Iterable[ClaimSummary], progress: Callable[[int], None]) -> Iterator[QuantityFigure]:
    properties: dict[str, SpecVersion | None] = {}
    waiting: list[int] = []

    def read() -> Iterator[QuantityFigure]:
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

    for summary in claims:
        if summary.quote is not None and summary.status.lifecycle not in _OVER:
            waiting.append(summary.seq)
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


def _build_proposed(proposal: Proposal, *, card: str | None) -> Iterator[tuple[QuantityFigure, str | None]]:
    """Yield what *proposal* states of its own model, and what it says of others, each with the words that say so."""
    stated = _find_number(proposal.form, proposal.relation, proposal.theta, proposal.reported)
    top = proposal.property.range[1]
    if stated is not None and proposal.model is not None and proposal.relative_to is None:
        value, relation = stated
        step = find_step(value, proposal.written or proposal.quote, top=top)
        own = _build_one(proposal, card, value, relation, step)
        yield replace(own, model=proposal.model, version=proposal.version), None
    for comparison in proposal.comparisons:
        if comparison.value is not None:
            other = _build_one(proposal, card, comparison.value, None, find_step(comparison.value, comparison.words, top=top))
            yield (
                replace(other, model=comparison.subject, version=None),
                f"compared here with “{comparison.words}” for {comparison.subject}",
            )


def _build_one(proposal: Proposal, card: str | None, value: float, relation: Relation | None, step: float) -> QuantityFigure:
    return QuantityFigure(
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
