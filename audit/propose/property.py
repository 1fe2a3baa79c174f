"""What a figure measures: a property with name, class, range and direction."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from audit.propose.around import Around
from audit.propose.measures import (
    CAPABILITY,
    DANGEROUS,
    DECEPTION,
    HARMFUL,
    HIGHER,
    LOWER,
    MEASURES,
    METRICS,
    NEITHER,
    NOT_RESPONSES,
    VOCABULARY,
    Measure,
)
from audit.propose.measuring import GENERIC_TITLES
from audit.propose.models import looks_like_model
from audit.propose.quantity import Quantity
from audit.propose.row import find_label
from audit.propose.scale import find_range
from registry.records.claim import Direction, PropertyClass
from registry.records.passage import Passage, PassageKind
from registry.records.spec import PropertySpec

_MEASURES = tuple((one, re.compile(rf"(?<![\w])(?:{one.pattern})", re.IGNORECASE)) for one in MEASURES)
_DANGEROUS = re.compile(DANGEROUS, re.IGNORECASE)
_MODELS = re.compile(r"\W*(?:models?|systems?|model names?)\W*$", re.IGNORECASE)
"""Head of the column that names whose a row is."""
_LEVEL = re.compile(r"(?:High|Critical|Medium|Tier|ASL|capability|critical)\b", re.IGNORECASE)
_GENERIC = re.compile(GENERIC_TITLES, re.IGNORECASE)
_HARMFUL = re.compile(HARMFUL, re.IGNORECASE)
_NOT_RESPONSES = re.compile(NOT_RESPONSES, re.IGNORECASE)
_METRICS = tuple((re.compile(one, re.IGNORECASE), name) for one, name in METRICS)
_VOCABULARY = tuple((class_, weight, re.compile(rf"(?<![\w])(?:{pattern})", re.IGNORECASE)) for class_, weight, pattern in VOCABULARY)
_NUMBERED = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})+)\s+")
_FIGURE = re.compile(r"^[<>≤≥~±]?\s?[-−]?\d[\d.,]*\s?%?")
_POINTS_BACK = re.compile(r"\W*(?:This|These|That|Those|It|Such|They)\b(?! (?:model|card|section|table|figure))")
"""A sentence about what the one before it said."""
_PLAIN_METRIC = re.compile(r"\b(?:accurac\w*|F1|AUROC|Elo|win[- ]rate|exact[- ]match|pass@\d+|perplexity)\b", re.IGNORECASE)
"""A passage that names one of these measures just that, whatever its section is about."""
_EMPTY_HEAD = re.compile(
    r"(?:results?|scores?|values?|shares?|rates?|%|per cent|percent(?:age)?|performance|overall|model|outcome|measure)?", re.IGNORECASE
)
"""Heads of columns that do not say what is measured."""
_NAME_LENGTH, _HEAD_LENGTH = 120, 60

_OTHER_CLAUSE = 400
"""A measure beyond a semicolon counts as this many characters farther away."""

_IN_PASSAGE, _IN_HEAD, _IN_TITLE, _ABOVE = 3, 3, 2, 1
"""How much a word of a class weighs by where it stands: said of this figure, of its column, of its section, of those around."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property as rules read it off a passage."""

    spec: PropertySpec
    slug: str
    """Lower case with hyphens; equal properties have equal slugs."""
    notes: tuple[str, ...] = ()
    """What a person should check, in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """The words that tell what is measured, by how near they are to the figure."""

    column: str
    passage: str
    at: int | None
    caption: str
    titles: tuple[str, ...]
    """Innermost first, without their numbers."""
    lead: str
    is_introduced: bool
    """Whether the lead is the paragraph that introduces a table or list, not just what stands above."""

    @property
    def everything(self) -> str:
        return " · ".join((self.column, self.passage, self.caption, self.lead, *self.titles))


def describe_property(
    passage: Passage, quantity: Quantity | None, *, around: Around, column: str | None, evaluation: str | None
) -> Property:
    """Return the property that the figure, or the passage without one, speaks of; *column* is the head of the figure's column."""
    sources = _read_sources(passage, quantity, around, column)
    measure = _find_measure(sources)
    class_ = measure.class_ if measure else _weigh(sources)
    direction, notes = _find_direction(measure, class_, sources)
    range_, guess = find_range(quantity)
    name = _name(measure, passage, sources, evaluation)
    suppressible = measure.is_suppressible if measure else class_ is DECEPTION
    spec = PropertySpec(name=name, class_=class_, range=range_, direction=direction, suppressible=suppressible)
    return Property(spec=spec, slug=slugify(name), notes=(*notes, *guess))


def slugify(name: str) -> str:
    """Return *name* in lower case with single hyphens, at most 80 characters, never empty."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "property"


def _read_sources(passage: Passage, quantity: Quantity | None, around: Around, column: str | None) -> _Sources:
    titles = tuple(_NUMBERED.sub("", one).strip() for one in reversed(around.section_titles(passage)))
    introduction = " ".join(one.words for one in around.lead_in(passage))
    lead = introduction
    if not lead:
        lead = " ".join(one.words for one in around.neighbours(passage, before=2, after=0) if one.kind is not PassageKind.ROW)
    return _Sources(
        column="" if column is None or looks_like_model(column) else column,
        passage=passage.words,
        at=quantity.start if quantity else None,
        caption=passage.caption or "",
        titles=titles,
        lead=lead,
        is_introduced=bool(introduction),
    )


def _find_measure(sources: _Sources) -> Measure | None:
    """Return what is measured: by the head of the column, else nearest to the figure, else by caption, section and introduction."""
    points_back = sources.at is not None and _POINTS_BACK.match(sources.passage) is not None
    return (
        find_measure(sources.column, None)
        or (
            (find_measure(sources.passage[: sources.at], sources.at) or find_measure(sources.lead, len(sources.lead)))
            if points_back
            else None
        )
        or find_measure(sources.passage, sources.at)
        or (None if _PLAIN_METRIC.search(f"{sources.column} · {sources.passage}") else _find_around(sources))
    )


def _find_around(sources: _Sources) -> Measure | None:
    """Return what caption, section or introduction name; what merely stands above says nothing of a dangerous capability."""
    title = sources.titles[0] if sources.titles else ""
    is_read = sources.is_introduced or not _DANGEROUS.search(f"{sources.passage} {title}")
    return (
        find_measure(sources.caption, None)
        or find_measure(title, None)
        or (find_measure(sources.lead, len(sources.lead)) if is_read else None)
    )


@lru_cache(maxsize=8192)
def find_measure(words: str, at: int | None) -> Measure | None:
    """Return the measure that *words* name nearest to character *at*, words before it counting as nearer; the first listed if equal."""
    best: tuple[float, int] | None = None
    for order, (_, pattern) in enumerate(_MEASURES):
        for match in pattern.finditer(words):
            distance = 0 if at is None else at - match.end() if match.end() <= at else (match.start() - at) * 1.5
            if at is not None and ";" in words[min(at, match.end()) : max(at, match.start())]:
                distance += _OTHER_CLAUSE
            if best is None or (max(0, distance) // 25, order) < best:
                best = (max(0, distance) // 25, order)
    return _MEASURES[best[1]][0] if best else None


def _weigh(sources: _Sources) -> PropertyClass:
    """Return the class whose words weigh most; capability where none has any, as the most general one."""
    weights: Counter[PropertyClass] = Counter()
    places = (
        (sources.passage, _IN_PASSAGE),
        (sources.column, _IN_HEAD),
        (sources.caption, _IN_TITLE),
        (" ".join(sources.titles[:1]), _IN_TITLE),
        (" ".join(sources.titles[1:]), _ABOVE),
    )
    for words, factor in places:
        for class_, weight, pattern in _VOCABULARY:
            weights[class_] += weight * factor * len({match[0].lower() for match in pattern.finditer(words)})
    best = max(weights.values(), default=0)
    return CAPABILITY if not best or weights[CAPABILITY] == best else next(one for one in weights if weights[one] == best)


def _find_direction(measure: Measure | None, class_: PropertyClass, sources: _Sources) -> tuple[Direction, tuple[str, ...]]:
    """Return which way is safer, and what a person should know about it."""
    if measure is not None and measure.name == "refusal rate":
        return _judge_refusal(sources)
    if measure is not None:
        return measure.direction, (measure.note,) if measure.note else ()
    near = " · ".join((sources.passage, sources.column, sources.caption, *sources.titles))
    if class_ is CAPABILITY:
        if _DANGEROUS.search(near):
            return LOWER, ("A higher figure is more capability, in an area where that is less safe.",)
        return NEITHER, ()
    return LOWER if re.search(r"\bfail\w*|\bunsafe|violat\w*|success", near, re.IGNORECASE) or class_ is DECEPTION else HIGHER, (
        "The direction is a guess from the section: the passage does not name what is measured.",
    )


def _judge_refusal(sources: _Sources) -> tuple[Direction, tuple[str, ...]]:
    near = f"{sources.column} · {sources.passage} · {sources.caption}"
    if _HARMFUL.search(near):
        return HIGHER, ()
    if _NOT_RESPONSES.search(near):
        return NEITHER, ("Refusals in a test of something else lower its score and say nothing of safety: check the direction.",)
    if _HARMFUL.search(" · ".join((*sources.titles, sources.lead))):
        return HIGHER, ("The passage does not say of what the refusals are; its surroundings speak of harmful requests.",)
    return NEITHER, ("The card does not say nearby whether what was refused is harmful: check the direction.",)


def _name(measure: Measure | None, passage: Passage, sources: _Sources, evaluation: str | None) -> str:
    """Return a short name in the field's terms: the measure and what it was measured in."""
    topic = next(_list_topics(passage, sources, evaluation), "")
    what = measure.name if measure else _find_metric(passage, sources)
    head = sources.column.strip()
    if (measure or what == "score") and head and len(head) <= _HEAD_LENGTH and not _EMPTY_HEAD.fullmatch(head):
        what = head
    if not topic or _covers(what, topic):
        return what[:_NAME_LENGTH]
    joined = f"{what}, {topic}" if measure else f"{topic} {what}"
    return (topic if _covers(topic, what) else joined)[:_NAME_LENGTH].strip()


def _list_topics(passage: Passage, sources: _Sources, evaluation: str | None) -> Iterator[str]:
    label = find_label(passage) if passage.cells else ""
    head = next((cell.column or "" for cell in passage.cells if cell.text.strip() == label), "")
    is_model = _MODELS.match(head) is not None or _names_model(label)
    if label and not is_model and not _FIGURE.match(label) and len(label) <= _NAME_LENGTH:
        yield label
    if evaluation:
        yield evaluation
    yield from (title for title in sources.titles if title and not _GENERIC.match(title))
    yield from (hit[0] for hit in _DANGEROUS.finditer(sources.passage) if not _LEVEL.match(hit[0]))


def _names_model(label: str) -> bool:
    """Whether a label names a model, or ends as such names do; what it measures is then said elsewhere."""
    return looks_like_model(label) or re.search(r"\d(?:\.\d+)?[Bb]?(?:\s?\([^)]*\))?$|\bPreview$", label) is not None


def _find_metric(passage: Passage, sources: _Sources) -> str:
    metric = next((cell.text for cell in passage.cells if (cell.column or "").strip().lower() == "metric"), "")
    for words in (metric, sources.column, sources.passage, sources.caption):
        for pattern, name in _METRICS:
            if found := pattern.search(words):
                return name or found[0]
    return "score"


def _covers(whole: str, part: str) -> bool:
    """Whether each word of *part* stands in *whole* already."""
    words = {word.rstrip("s") for word in re.findall(r"\w{3,}", whole.lower())}
    parts = {word.rstrip("s") for word in re.findall(r"\w{3,}", part.lower())} - {"rate", "score", "share"}
    return bool(parts) and parts <= words
