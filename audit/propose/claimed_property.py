"""What a figure measures: a property with name, class, range, direction and domain."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from audit.propose.card_models import looks_like_model
from audit.propose.claim_passages import PassageContext
from audit.propose.evaluation_facts import is_of_others
from audit.propose.logical_form import find_stated_direction
from audit.propose.measure_vocabulary import (
    CAPABILITY,
    COMMAND,
    DANGEROUS,
    DECEPTION,
    GENERIC_TITLES,
    HARMFUL,
    HIGHER,
    LEVEL,
    LONGEST_NAME,
    LOWER,
    MEASURES,
    NEITHER,
    NOT_RESPONSES,
    REFUSAL,
    SAFEGUARD,
    UNABLE,
    UNWANTED,
    VOCABULARY,
    WANTED,
    MeasureTerm,
    name_property,
    shorten,
)
from audit.propose.prose_figures import CardFigure, FigureUnit
from registry.records.claim import Direction, PropertyClass
from registry.records.claim_draft import Proposal
from registry.records.specification import PropertySpec
from registry.records.system_card import Passage, PassageKind

# The range of a score.

_GUESSED = "The range {low:g} to {high:g} is a guess from the figure: set the scale's own."
_KNOWN: tuple[tuple[str, float, float], ...] = (
    # Scales with their own ends, by the name next to the figure.
    (r"\b(?:AUROC|AUC|F1|recall|precision|accuracy|pass@\d+|IoU|R2|R²|probability)\b", 0, 1),
    (r"\b(?:MCC|correlation|kappa|κ|Spearman|Pearson)\b", -1, 1),
    (r"\b(?:BLEU|chrF|ROUGE(?:-L)?)\b", 0, 100),
    (r"\bElo\b", 0, 4000),
)

_NUMBER = r"\d{1,6}(?:\.\d{1,4})?"
_TOLD = tuple(
    re.compile(one, re.IGNORECASE)
    for one in (
        # How cards state the ends of a scale; without a lower end it is 0.
        (
            rf"\b(?:scale|score[ds]?|rat(?:ed|ing)|rubric|ranging|range[sd]?)(?: \w+){{0,2}} (?:from |of |between )?(?P<low>{_NUMBER})"
            rf"\s?(?:–|-|to|and)\s?(?P<high>{_NUMBER})(?![\d%])"
        ),
        rf"(?<![\d.])(?P<low>{_NUMBER})\s?(?:–|-|to)\s?(?P<high>{_NUMBER})[- ](?:point )?(?:scale|rubric|rating)\b",
        rf"\bout of (?:a (?:maximum|total|possible) (?:of )?)?(?P<high>{_NUMBER})(?![\d%]|\.\d)",
        rf"\bmax(?:imum)?\.?(?: possible)?(?: score)?(?: of| is| =|:| ==)? ?(?P<high>{_NUMBER})(?![\d%]|\.\d)",
        rf"\b(?P<high>{_NUMBER}|five|seven|ten|hundred)[- ]points? (?:scale|rubric|rating|Likert)\b",
    )
)
_WORDS = {"five": "5", "seven": "7", "ten": "10", "hundred": "100"}


def find_range(quantity: CardFigure | None, near: tuple[str, ...] = ()) -> tuple[tuple[float, float], tuple[str, ...]]:
    """Return the lowest and highest possible value in the unit of the figure, and a sentence where they are a guess.

    Shares run from 0 to 1, also for a claim without a figure and for one relative to another figure.

    Args:
        near: words that may state the scale ("out of 32", "0-10 scale"), the most telling first.
    """
    # A multiple says nothing about the scale of what is measured, so the range of shares is assumed.
    if quantity is None or quantity.unit in (FigureUnit.SHARE, FigureUnit.MULTIPLE):
        return (0, 1), ()
    if quantity.unit is FigureUnit.POINTS:
        return (-1, 1), ()
    ends = [abs(value) for value in (quantity.value, quantity.low, quantity.high) if value is not None and math.isfinite(value)]
    largest = max(ends, default=1)
    if quantity.unit is FigureUnit.COUNT:
        high = float(quantity.n) if quantity.n and quantity.n >= largest else _round_up(largest)
        return (0, high), () if quantity.n else (_GUESSED.format(low=0, high=high),)
    for pattern, low, high in _KNOWN:
        if re.search(pattern, quantity.scale or "", re.IGNORECASE) and largest <= high:
            return (low, high), ()
    # The card's own statement comes before a guess, which always carries a note.
    if (told := _find_told(near, quantity, largest)) is not None:
        return told, ()
    top = _round_up(largest)
    bottom = -top if any(value is not None and value < 0 for value in (quantity.value, quantity.low)) else 0
    return (bottom, top), (_GUESSED.format(low=bottom, high=top),)


def _find_told(near: tuple[str, ...], quantity: CardFigure, largest: float) -> tuple[float, float] | None:
    """Return the ends that the first of *near* states and the figure lies within."""
    lowest = min(value for value in (quantity.value, quantity.low, largest) if value is not None)
    for words in near:
        for pattern in _TOLD:
            for match in pattern.finditer(words):
                low, high = float(match.groupdict().get("low") or 0), _read_number(match["high"])
                if low < high and low <= lowest and largest <= high:
                    return low, high
    return None


def _read_number(text: str) -> float:
    return float(_WORDS.get(text.lower()) or text.replace(",", ""))


def _round_up(value: float) -> float:
    """Return the next power of ten at or above *value*, at least 1."""
    return float(10 ** max(0, math.ceil(math.log10(value)))) if value > 0 else 1.0


# The property that a figure measures: name, class, range and direction.

_MEASURES = tuple((term, re.compile(rf"(?<![\w])(?:{term.pattern})", re.IGNORECASE)) for term in MEASURES)
_DANGEROUS = re.compile(DANGEROUS, re.IGNORECASE)
_GENERIC = re.compile(GENERIC_TITLES, re.IGNORECASE)
_HARMFUL = re.compile(HARMFUL, re.IGNORECASE)
_NOT_RESPONSES = re.compile(NOT_RESPONSES, re.IGNORECASE)
_VOCABULARY = tuple((class_, weight, re.compile(rf"(?<![\w])(?:{pattern})", re.IGNORECASE)) for class_, weight, pattern in VOCABULARY)
_NUMBERED = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})+)\s+")
_POINTS_BACK = re.compile(r"\W*(?:This|These|That|Those|It|Such|They)\b(?! (?:model|card|section|table|figure))")
"""A sentence about what the one before it said."""
_GOES_ON = re.compile(
    r"^\W*(?:It|They|However|Additionally|Moreover|Similarly|In (?:this|these|both|all|some|such|contrast)|"
    r"(?:For|On) (?:this|these)|Across|Overall)\b|\b(?:this|these|that|those|such|did so|do so|the same|rates?|here)\b",
    re.IGNORECASE,
)
"""A sentence that goes on with the one before it, or needs it."""
_PLAIN_METRIC = re.compile(r"\b(?:accurac\w*|F1|AUROC|Elo|win[- ]rate|exact[- ]match|pass@\d+|perplexity)\b", re.IGNORECASE)
"""A passage that names one of these measures just that, whatever its section is about."""
_COMMAND = re.compile(COMMAND, re.IGNORECASE)
_SAFEGUARD = re.compile(SAFEGUARD, re.IGNORECASE)
_UNABLE = re.compile(UNABLE, re.IGNORECASE)
_OF_SAFEGUARDS = MeasureTerm(
    "performance of safeguards", REFUSAL, HIGHER, SAFEGUARD, "Measured of a safeguard, not of the model: check the property."
)
_FAILED = "The card denies a success: the figure counts failures. Check the property."
_PERFECT = re.compile(r"\bperfect\b", re.IGNORECASE)
"""A perfect score is no rate of what should not happen, whatever the section is about."""

_CLAUSE_END = re.compile(r"[,;:](?!\d)")
_UPWARDS = re.compile(r"(?:higher|more|larger|greater)\b", re.IGNORECASE)
_WORSE = re.compile(r"\b(?:worse|bad|less safe|weaker)\b", re.IGNORECASE)
_UNWANTED = re.compile(UNWANTED, re.IGNORECASE)
_WANTED = re.compile(WANTED, re.IGNORECASE)

_AT_BEST = "A perfect score is read as the safe end: check the direction."
_FROM_SECTION = "The class is a guess from the section's title: the passage does not say what kind of thing is measured."
_FROM_TITLE = "What is measured is read off the section's title: check it."
_FROM_ABOVE = "What is measured is read off the sentences above: check it."

_OTHER_CLAUSE = 400
"""A measure beyond a semicolon counts as this many characters farther away."""

_HALVES = re.compile(r", (?:and|but|while|whereas) |\b(?:and|but|while|whereas) (?:never |it |they |not |$)", re.IGNORECASE)
_OTHER_HALF = 60
"""A measure in the other half of a sentence counts as this many characters farther away."""

_SAID = 3
"""How many of the places, in the order they are read, say something of this very figure."""

_IN_PASSAGE, _IN_HEAD, _IN_TITLE, _ABOVE = 3, 3, 2, 1
"""How much a word of a class weighs by where it stands: said of this figure, of its column, of its section, of those around."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProperty:
    """A property as rules read it off a passage."""

    spec: PropertySpec
    slug: str
    """Lower case with hyphens; equal properties have equal slugs."""
    notes: tuple[str, ...] = ()
    """What a person should check, in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PropertyWords:
    """The words that tell what is measured, by how near they are to the figure."""

    column: str
    passage: str
    at: int | None
    caption: str
    titles: tuple[str, ...]
    """Innermost first, without their numbers."""
    topics: tuple[str, ...]
    """Those of them that say what was tested; the card's own title only where there is no other."""
    lead: str
    above: str
    """The two sentences or items before it."""
    is_introduced: bool
    """Whether the lead is the paragraph that introduces a table or list, not just what stands above."""


def describe_property(
    passage: Passage,
    quantity: CardFigure | None,
    *,
    around: PassageContext,
    column: str | None,
    evaluation: str | None,
    is_one_of_several: bool = False,
) -> ReadProperty:
    """Return the property that the figure, or the passage without one, speaks of.

    Args:
        column: head of the figure's column; None outside tables.
        evaluation: what it was measured in, as far as the card says.
        is_one_of_several: whether the passage gives several figures of its own, so that the name needs what tells them apart.
    """
    sources = _read_sources(passage, quantity, around, column)
    measure, place = _deny(*_find_measure(sources), sources)
    class_, is_said = (measure.class_, True) if measure else _weigh(sources)
    direction, notes = (_read_told(sources) if place and class_ is not CAPABILITY else None) or _find_direction(measure, class_, sources)
    if not is_said:
        notes = (_FROM_SECTION, *notes)
    range_, guess = find_range(quantity, (sources.column, passage.words[sources.at or 0 :], sources.caption, sources.lead))
    name = name_property(
        measure,
        passage,
        quantity,
        column=sources.column,
        topics=(*([evaluation] if evaluation else []), *sources.topics),
        is_one_of_several=is_one_of_several,
    )
    suppressible = measure.is_suppressible if measure else class_ is DECEPTION
    spec = PropertySpec(name=name, class_=class_, range=range_, direction=direction, suppressible=suppressible)
    return ReadProperty(spec=spec, slug=slugify(name), notes=(*([place] if place else []), *notes, *guess))


def slugify(name: str) -> str:
    """Return *name* in lower case with single hyphens, at most 80 characters, never empty."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "property"


def _read_sources(passage: Passage, quantity: CardFigure | None, around: PassageContext, column: str | None) -> _PropertyWords:
    own = around.section_titles(passage)
    titles = tuple(_NUMBERED.sub("", name).strip() for name in reversed(own))
    card = around.outline.headings[0].title if around.outline.headings else None
    introduction = " ".join(one.words for one in around.lead_in(passage))
    above = " ".join(one.words for one in around.neighbours(passage, before=2, after=0) if one.kind is not PassageKind.ROW)
    return _PropertyWords(
        column="" if column is None or looks_like_model(column) else column,
        passage=passage.words,
        at=quantity.start if quantity else None,
        caption=passage.caption or "",
        titles=titles,
        topics=() if is_of_others(passage.words) else _choose_topics(titles[:-1] if len(own) > 1 and own[0] == card else titles),
        lead=introduction or above,
        above=above,
        is_introduced=bool(introduction),
    )


def _choose_topics(titles: tuple[str, ...]) -> tuple[str, ...]:
    """Return those that say what was tested; where all are general ("Safety"), these."""
    named = tuple(title for title in titles if title and not _COMMAND.match(title))
    return tuple(name for name in named if not _GENERIC.match(name)) or named


def _find_measure(sources: _PropertyWords) -> tuple[MeasureTerm | None, str | None]:
    """Return what is measured, and where it was read if not in the passage or the head of its column.

    The head of the column comes first, then what stands nearest to the figure, then caption, section and introduction.
    """
    if measure := find_measure(sources.column, None):
        return measure, None
    is_plain = _PLAIN_METRIC.search(f"{sources.column} · {sources.passage}") is not None
    # "This fell to 3 %" measures what the sentence before it speaks of.
    if sources.at is not None and _POINTS_BACK.match(sources.passage) and not is_plain:
        measure = find_measure(_cut_clause(sources.passage, sources.at), sources.at)
        above = None if measure else find_measure(sources.above, len(sources.above)) or find_measure(sources.lead, len(sources.lead))
        if measure or above:
            return measure or above, _FROM_ABOVE if above else None
    measure = find_measure(sources.passage, sources.at)
    if measure or is_plain:
        return measure, None
    measure, place = _find_around(sources)
    return (measure, place) if measure is None or sources.at is None else (_fit(measure, sources), place)


def _deny(measure_term: MeasureTerm | None, place: str | None, sources: _PropertyWords) -> tuple[MeasureTerm | None, str | None]:
    """Return the failure where the words deny the success that *found* counts; a safeguard's measure where only its title tells."""
    if measure_term is not None and "succe" in measure_term.name and _UNABLE.search(sources.passage[: sources.at]):
        turned = {LOWER: HIGHER, HIGHER: LOWER}.get(measure_term.direction, measure_term.direction)
        return replace(measure_term, name=re.sub(r"succe\w*", "failure", measure_term.name), direction=turned, note=_FAILED), place
    if (
        measure_term is None
        and sources.at is not None
        and _SAFEGUARD.search(" · ".join((sources.column, sources.caption, *sources.titles[:1])))
    ):
        return _OF_SAFEGUARDS, _FROM_TITLE
    return measure_term, place


def _cut_clause(words: str, at: int) -> str:
    """Return *words* up to the end of the clause with the figure at *at*."""
    end = _CLAUSE_END.search(words, at)
    return words[: end.start()] if end else words


def _fit(measure_term: MeasureTerm, sources: _PropertyWords) -> MeasureTerm | None:
    """Return what a figure measures under a heading that names *found*: no level of a framework, and no rate of failures if perfect."""
    if measure_term.direction is LOWER and _PERFECT.search(sources.passage):
        return replace(measure_term, name="score", direction=HIGHER, note=_AT_BEST)
    return None if measure_term.name == LEVEL else measure_term


def _find_around(sources: _PropertyWords) -> tuple[MeasureTerm | None, str | None]:
    """Return what caption, section or introduction name; what merely stands above says nothing of a dangerous capability."""
    title = sources.titles[0] if sources.titles else ""
    is_read = sources.is_introduced or (_GOES_ON.search(sources.passage) and not _DANGEROUS.search(f"{sources.passage} {title}"))
    if measure := find_measure(sources.caption, None):
        return measure, None
    if measure := find_measure(title, None):
        return measure, _FROM_TITLE
    measure = find_measure(sources.lead, len(sources.lead)) if is_read else None
    return measure, _FROM_ABOVE if measure else None


@lru_cache(maxsize=8192)
def find_measure(words: str, at: int | None) -> MeasureTerm | None:
    """Return the measure that *words* name nearest to character *at*, words before it counting as nearer; the first listed if equal."""
    best: tuple[float, int] | None = None
    for order, (_, pattern) in enumerate(_MEASURES):
        for match in pattern.finditer(words):
            # Words after the figure count as farther away: a sentence mostly names the measure first.
            distance = 0 if at is None else at - match.end() if match.end() <= at else (match.start() - at) * 1.5
            if at is not None:
                between = words[min(at, match.end()) : max(at, match.start())]
                distance += _OTHER_CLAUSE if ";" in between else _OTHER_HALF if at < len(words) and _HALVES.search(between) else 0
            # Distances are compared in steps of 25 characters. Within one step the order of the vocabulary decides,
            # which lists the more particular terms first.
            if best is None or (max(0, distance) // 25, order) < best:
                best = (max(0, distance) // 25, order)
    return _MEASURES[best[1]][0] if best else None


def _weigh(sources: _PropertyWords) -> tuple[PropertyClass, bool]:
    """Return the class whose words weigh most, and whether passage, head or caption have a word of it.

    Capability where none has any, as the most general one.
    """
    weights: Counter[PropertyClass] = Counter()
    classes: set[PropertyClass] = set()
    places = (
        (sources.passage, _IN_PASSAGE),
        (sources.column, _IN_HEAD),
        (sources.caption, _IN_TITLE),
        (" ".join(sources.titles[:1]), _IN_TITLE),
        (" ".join(sources.titles[1:]), _ABOVE),
    )
    for index, (words, factor) in enumerate(places):
        for class_, weight, pattern in _VOCABULARY:
            count = len({match[0].lower() for match in pattern.finditer(words)})
            weights[class_] += weight * factor * count
            if count and index < _SAID:
                classes.add(class_)
    best = max(weights.values(), default=0)
    # Capability is the most general class, so it wins ties.
    class_ = (
        CAPABILITY
        if not best or weights[CAPABILITY] == best
        else next(property_class for property_class in weights if weights[property_class] == best)
    )
    return class_, class_ in classes or class_ is CAPABILITY


def _find_direction(measure: MeasureTerm | None, class_: PropertyClass, sources: _PropertyWords) -> tuple[Direction, tuple[str, ...]]:
    """Return which way is safer, and what a person should know about it."""
    if measure is not None and measure.name == "refusal rate":
        return _judge_refusal(sources)
    if measure is not None:
        # The card's own word on its table counts more than what the measure's name suggests.
        told = None if measure.direction is NEITHER else _read_told(sources)
        return told or (measure.direction, (measure.note,) if measure.note else ())
    near = " · ".join((sources.passage, sources.column, sources.caption, *sources.titles))
    # A benchmark of usefulness has no safe direction unless its area is dangerous.
    if class_ is CAPABILITY:
        if _DANGEROUS.search(near):
            return LOWER, ("A higher figure is more capability, in an area where that is less safe.",)
        return NEITHER, ()
    return _guess_direction(class_, sources)


def _guess_direction(class_: PropertyClass, sources: _PropertyWords) -> tuple[Direction, tuple[str, ...]]:
    """Return which way is safer where no measure is named: as the card tells, else by words for wanted and unwanted conduct."""
    if (told := _read_told(sources)) is not None:
        return told
    here = f"{sources.column} · {sources.passage}"
    if class_ is DECEPTION or _UNWANTED.search(here):
        return LOWER, ("Read as a rate of unwanted conduct: check the direction.",)
    if _WANTED.search(here):
        return HIGHER, ("Read as a rate of wanted conduct: check the direction.",)
    around = " · ".join((sources.caption, *sources.titles))
    return LOWER if _UNWANTED.search(around) else HIGHER, (
        "The direction is a guess from the section: the passage does not name what is measured.",
    )


def _read_told(sources: _PropertyWords) -> tuple[Direction, tuple[str, ...]] | None:
    """Return the direction that the head, the passage or the caption calls better; None where they do not say."""
    stated_direction = (
        find_stated_direction(sources.column) or find_stated_direction(sources.passage) or find_stated_direction(sources.caption)
    )
    if stated_direction is None:
        return None
    is_up = _UPWARDS.match(stated_direction) is not None
    return HIGHER if is_up != (_WORSE.search(stated_direction) is not None) else LOWER, ("The direction is the one the card calls better.",)


def _judge_refusal(sources: _PropertyWords) -> tuple[Direction, tuple[str, ...]]:
    near = f"{sources.column} · {sources.passage} · {sources.caption}"
    if _HARMFUL.search(near):
        return HIGHER, ()
    if _NOT_RESPONSES.search(near):
        return NEITHER, ("Refusals in a test of something else lower its score and say nothing of safety: check the direction.",)
    if _HARMFUL.search(" · ".join((*sources.titles, sources.lead))):
        return HIGHER, ("The passage does not say of what the refusals are; its surroundings speak of harmful requests.",)
    return NEITHER, ("The card does not say nearby whether what was refused is harmful: check the direction.",)


# Domains of dangerous capability, each a property of its own: a figure on biology says nothing of cybersecurity.

_DOMAINS = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("biology", r"\bbiolog\w*|\bbio(?:security|weapons?|risks?|terror\w*)?\b|\bpathogens?\b|\bvirolog\w*"),
        ("chemistry", r"\bchemi(?:cal|stry)\w*"),
        ("nuclear and radiological", r"\bnuclear\b|\bradiolog\w*"),
        ("cybersecurity", r"\bcyber\w*|\bCTFs?\b|\bcapture[- ]the[- ]flag\b"),
        ("AI self-improvement", r"\bAI self-improvement\b|\bAI R&(?:amp;)?D\b"),
    )
)


def find_domains(words: str) -> tuple[str, ...]:
    """Return the domains that *words* name, in a fixed order."""
    return tuple(name for name, pattern in _DOMAINS if pattern.search(words))


def part_domains(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals with the domain in the property's name wherever one name stands for figures of different domains.

    A proposal whose words name no domain keeps the name.
    """
    domains: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for one in proposals:
        domains[one.property.name].add(find_domains(one.quote))
    # The domain is added only where figures would otherwise share one property: a figure on biology says nothing of
    # cybersecurity.
    shared = {name for name, domain in domains.items() if len(domain - {()}) > 1}
    return [_name_domain(proposal) if proposal.property.name in shared else proposal for proposal in proposals]


def _name_domain(proposal: Proposal) -> Proposal:
    missing = [domain for domain in find_domains(proposal.quote) if domain not in find_domains(proposal.property.name)]
    if not missing:
        return proposal
    domain = " and ".join(missing)
    name = f"{shorten(proposal.property.name, LONGEST_NAME - len(domain) - 2)}, {domain}"
    note = f"the card gives figures of several domains under one heading; this one is named by its own: {domain}"
    return replace(proposal, property=replace(proposal.property, name=name), slug=slugify(name), notes=(*proposal.notes, note))
