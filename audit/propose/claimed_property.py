"""What a figure measures: the property's name, class, safer direction and range, each with the words that say so."""

import math
import re
from dataclasses import dataclass, replace

from audit.propose.card_figures import CardFigure, FigureUnit
from audit.propose.card_models import CardModels, looks_like_model
from audit.propose.evaluation_facts import find_benchmark, find_label, list_topics
from audit.propose.passage_context import PassageContext
from audit.propose.vocabulary import VocabularyRow, find_rows, has_word, read_vocabulary
from registry.records.claim import Direction, PropertyClass
from registry.records.specification import PropertySpec
from registry.records.system_card import Passage, PassageKind

LONGEST_NAME = 80
_LONGEST_PART = 60
_LEVEL = "dangerous-capability level"
_DIRECTIONS = {"higher": Direction.HIGHER_IS_SAFER, "lower": Direction.LOWER_IS_SAFER, "neither": Direction.NOT_SAFETY}
_HEAD, _SENTENCE, _CAPTION, _HEADING, _ABOVE, _DEFAULT = 0.95, 0.93, 0.88, 0.72, 0.65, 0.4
"""Certainties by where a measure was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyReading:
    """A property as it was read."""

    spec: PropertySpec
    """With "not a safety property" where the direction is not known."""
    slug: str
    direction: Direction | None
    """None where the card does not show which way is safer."""
    measure: str | None
    """The words that name what is measured."""
    place: str
    class_certainty: float
    direction_certainty: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is measured, with the words and their place."""

    row: VocabularyRow | None
    words: str
    place: str
    certainty: float


def read_property(
    passage: Passage,
    figure: CardFigure | None,
    *,
    at: int | None,
    cell: int | None,
    evaluation: str | None,
    around: PassageContext,
    models: CardModels,
) -> PropertyReading:
    """Return the property that the figure, or the passage without one, speaks of.

    Args:
        at: where in the words the figure or claim begins; None for a row.
        cell: index of the figure's cell in a row; None outside tables.
    """
    column = _clean_head(passage, cell, models)
    label = _clean_label(passage, models)
    topics = list_topics(passage, around)
    part = (figure.label if figure is not None else None) or ""
    near = _list_sources(passage, column or _cut_models(passage, cell, models), label, part, around)
    measure = _find_measure(near, figure, at, is_benchmark=bool(label) and _is_benchmark_table(passage, around))
    class_, class_certainty = _find_class(measure, near, topics)
    direction, certainty, notes = _find_direction(measure, class_, near, passage, around)
    if measure.row is not None and _OPPOSITE.get(measure.row.fields[2]) is not None and not _is_direction(direction, measure.row):
        # The card calls the other way better than such a measure has, or neither: the card's own words name it.
        measure = replace(measure, row=None)
    span, guess = find_range(figure, tuple(words for words, _, _ in near))
    name = _name(measure, passage, figure, column=column, label=label, topics=[*([evaluation] if evaluation else []), *topics])
    if cell is not None and part and not models.find(part):
        name = qualify(name, part)
    suppressible = measure.row.fields[3] == "y" if measure.row else class_ is PropertyClass.DECEPTION_SCHEMING
    spec = PropertySpec(name=name, class_=class_, range=span, direction=direction or Direction.NOT_SAFETY, suppressible=suppressible)
    return PropertyReading(
        spec=spec,
        slug=slugify(name),
        direction=direction,
        measure=measure.words or None,
        place=measure.place,
        class_certainty=class_certainty,
        direction_certainty=certainty,
        notes=(*notes, *guess),
    )


def _is_direction(direction: Direction | None, row: VocabularyRow) -> bool:
    return direction is not None and direction.value.partition("_")[0] == row.fields[2]


def forget_direction(reading: PropertyReading) -> PropertyReading:
    """Return *reading* with a safer direction that is not known."""
    return replace(reading, spec=replace(reading.spec, direction=Direction.NOT_SAFETY), direction=None, direction_certainty=0.0)


def qualify(name: str, words: str) -> str:
    """Return *name* with *words* that set it apart from others behind it, both shortened to fit."""
    part = shorten(words, LONGEST_NAME // 2)
    return f"{shorten(name, LONGEST_NAME - len(part) - 2)}, {part}"


def slugify(name: str) -> str:
    """Return *name* in lower case with single hyphens, at most 80 characters, never empty."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "property"


def _list_sources(passage: Passage, column: str, label: str, cell: str, around: PassageContext) -> list[tuple[str, str, float]]:
    """The words that may say what is measured, the most telling first: text, place, certainty."""
    titles = list(reversed(around.section_titles(passage)))
    above = " ".join(one.words for one in around.lead_in(passage)[-2:])
    if passage.kind is PassageKind.ROW:
        metric = next(
            (one.words for one in around.neighbours(passage, before=_METRIC_REACH, after=0)[::-1] if _METRIC.search(one.words)), ""
        )
        stated = (metric, "sentence on the metric", _ABOVE)
        # A label such as "personal data" tells what was asked; what was counted the sentence on the metric tells.
        labels = [(label, "row label", _HEAD), stated] if _RATE.search(label) else [stated, (label, "row label", _HEAD)]
        return [
            (cell, "cell", _HEAD),
            (column, "column head", _HEAD),
            *labels,
            ((passage.cells[0].column or "") if passage.cells else "", "column head", _CAPTION),
            (passage.caption or "", "caption", _CAPTION),
            *((title, "heading", _HEADING) for title in titles[:1]),
            (above, "sentence above", _ABOVE),
            *((title, "heading", _ABOVE) for title in titles[1:]),
        ]
    goes_on = " ".join(one.words for one in reversed(around.continued(passage)[:2]))
    return [
        (passage.words, "sentence", _SENTENCE),
        (goes_on, "sentence above", _ABOVE),
        (above, "sentence above", _ABOVE),
        *((title, "heading", _HEADING if place == 0 else _ABOVE) for place, title in enumerate(titles)),
    ]


_METRIC_REACH = 40
_METRIC = re.compile(
    r"\b(?:metrics?\b|evaluate (?:them |responses |outputs )?for\b|(?:scores?|figures?|numbers?|values?|rates?) (?:are|is) the\b)",
    re.IGNORECASE,
)
"""A sentence of the section that says what its tables measure."""


def _find_measure(sources: list[tuple[str, str, float]], figure: CardFigure | None, at: int | None, *, is_benchmark: bool) -> _Measure:
    for words, place, given in sources:
        if not words:
            continue
        row, match, is_mixed = _find_nearest(words, figure, at) if place == "sentence" else _find_nearest(words, None, None)
        certainty = min(given, 0.75) if is_mixed else given
        # A framework's level in a heading does not say what a score under it measures.
        if row is not None and match is not None and not (place == "heading" and row.name == _LEVEL):
            # A score beside a framework's level is one of some test: the level is then less certain.
            return _Measure(row, match[0], place, min(certainty, 0.8) if row.name == _LEVEL else certainty)
        # A plain metric of the passage measures just that, whatever its section is about.
        if place in ("sentence", "row label", "column head") and (name := find_benchmark(words, is_named=True)):
            return _Measure(None, name, place, certainty)
        # A row of an area, such as biology, is not about the subject that the caption names for other rows.
        if place == "row label" and (is_benchmark or find_rows("areas", words)):
            return _Measure(None, words, place, _SENTENCE)
    return _Measure(None, "", "", _DEFAULT)


def _is_benchmark_table(passage: Passage, around: PassageContext) -> bool:
    """Whether most rows beside this one are benchmarks that are known by name: then so is this one."""
    labels = [find_label(row) for row in around.block(passage) if row.cells]
    return len(labels) > 2 and 3 * sum(find_benchmark(label, is_named=True) is not None for label in labels) >= len(labels)


_WHOLE = re.compile(r"^[^a-z]{0,40}(?:overall\s)?(?:\([^()]*\)\s)?of\s(?:[\w-]+\s){0,3}$")
"""Between a figure and what it is a share of: "49 % of destructive requests" measures no destructive requests."""
_OPPOSITE = {"higher": "lower", "lower": "higher"}


def _find_nearest(words: str, figure: CardFigure | None, at: int | None) -> tuple[VocabularyRow | None, re.Match[str] | None, bool]:
    """The measure named nearest to character *at*, rather before than after it; without a place the first in the table.

    Also whether a measure with the opposite direction is almost as near: then neither is evident.
    """
    hits: list[tuple[float, int, VocabularyRow, re.Match[str]]] = []
    folded = words.lower()
    for order, row in enumerate(read_vocabulary("measures")):
        for match in row.find(words, folded):
            distance = 0.0
            if at is not None:
                distance = at - match.end() if match.end() <= at else (match.start() - at) * 1.5
                between = words[min(at, match.end()) : max(at, match.start())]
                distance = max(0.0, distance) + (
                    400 if ";" in between else 60 if re.search(r", (?:and|but|while|whereas) ", between) else 0
                )
                if figure is not None and match.start() >= figure.stop and _WHOLE.match(words[figure.stop : match.start()]):
                    distance += 200
            # Within 25 characters the order of the table decides, which has the more particular measures first.
            hits.append((distance // 25, order, row, match))
    if not hits:
        return None, None, False
    best = min(hits, key=lambda hit: hit[:2])
    taken = (best[3].start(), best[3].end())
    is_mixed = at is not None and any(
        hit[2].fields[2] == _OPPOSITE.get(best[2].fields[2])
        and hit[0] - best[0] <= 2
        and not (hit[3].start() < taken[1] and taken[0] < hit[3].end())
        for hit in hits
    )
    return best[2], best[3], is_mixed


def _find_class(measure: _Measure, sources: list[tuple[str, str, float]], topics: list[str]) -> tuple[PropertyClass, float]:
    if measure.row is not None:
        return PropertyClass(measure.row.fields[1]), measure.certainty
    if measure.words:
        topic = None if find_rows("areas", measure.words) else _find_safety_topic(sources)
        return (PropertyClass.CAPABILITY, measure.certainty) if topic is None else (topic[0], min(topic[1], measure.certainty))
    weak: tuple[PropertyClass, float] | None = None
    for words, place, certainty in sources:
        rows = find_rows("classes", words)
        if not rows:
            continue
        is_alone = len({row.name for row, _ in rows}) == 1
        found = PropertyClass(rows[0][0].name), certainty - 0.05 if is_alone else min(certainty, _ABOVE)
        # "Performance" and "knowledge" in a sentence say less than a heading on safety above it.
        if found[0] is PropertyClass.CAPABILITY and place != "heading":
            weak = weak or found
        elif found[0] is not PropertyClass.CAPABILITY or weak is None:
            return found
    if weak is not None:
        return weak
    is_area = any(find_rows("areas", topic) for topic in topics)
    return PropertyClass.CAPABILITY, _ABOVE if is_area else _DEFAULT


def _find_safety_topic(sources: list[tuple[str, str, float]]) -> tuple[PropertyClass, float] | None:
    """Return the class of the first group, table or section around that is on safety alone: its rows are no capabilities."""
    for words, place, certainty in sources:
        if place in ("column head", "caption", "heading"):
            # "Alignment tasks" are those of a chat model.
            rows = [row.name for row, hit in find_rows("classes", words) if not hit[0].lower().startswith("alignment")]
            if rows and PropertyClass.CAPABILITY not in rows:
                return PropertyClass(rows[0]), certainty
            if _SAFETY.search(words):
                return PropertyClass.COMPLIANCE_REFUSAL, certainty
        elif place == "row label" and re.match(r"\W*safety\b", words, re.IGNORECASE):
            return PropertyClass.COMPLIANCE_REFUSAL, certainty
    return None


_SAFETY = re.compile(r"\bsafety\b(?!.*\b(?:capabilit|general|performance))", re.IGNORECASE)
_Direction = tuple[Direction | None, float, tuple[str, ...]]


def _find_direction(
    measure: _Measure, class_: PropertyClass, sources: list[tuple[str, str, float]], passage: Passage, around: PassageContext
) -> _Direction:
    near = " · ".join(words for words, place, _ in sources if place not in ("heading", "sentence above"))
    stated = find_stated_direction(near)
    kind = measure.row.fields[2] if measure.row is not None else "unknown"
    if class_ is PropertyClass.CAPABILITY and measure.row is None:
        return _judge_capability(measure, near, passage, around)
    if kind == "depends":
        # Fewer refusals of benign requests are better, and no safety all the same: what is refused decides first.
        judged = _judge_refusal(near, " · ".join(words for words, _, _ in sources), measure.certainty)
        if judged[0] is not None:
            return judged
    if stated is not None and kind != "neither" and class_ is not PropertyClass.CAPABILITY:
        return stated[0], _HEAD, (f"the card says which way is better: “{stated[1]}”",)
    if kind == "depends":
        return None, 0.0, (_UNKNOWN,)
    # What is around a table tells its topic, and in a section on harmful requests its labels do; whether the figures are of failures or
    # of their absence only a word such as "rate" tells.
    if passage.kind is PassageKind.ROW and kind in _OPPOSITE and not _RATE.search(measure.words):
        topics = " · ".join(words for words, place, _ in sources if place in _AROUND)
        is_asked = measure.place == "row label" and has_word("harms", "harmful", topics)
        kind = "unknown" if is_asked or measure.place in _AROUND else kind
    # An F1 on "Toxicity" is of a test that detects it, and no rate of it.
    if kind == "lower" and measure.place in ("cell", "column head", "row label") and _SKILL.search(near):
        kind = "unknown"
    return (None, 0.0, (_UNKNOWN,)) if kind == "unknown" else (_DIRECTIONS[kind], measure.certainty, ())


_AROUND = ("caption", "heading", "sentence above")
_RATE = re.compile(r"\b(?:rate|share|success|accuracy|score|recall|level|threshold|probability|percent\w*)", re.IGNORECASE)
_SKILL = re.compile(r"\b(?:F1|acc|accuracy|AUC|AUROC|precision|recall|EM|exact match|BLEU|ROUGE|chrF)\b", re.IGNORECASE)
_UNKNOWN = "which way is safer is not evident from the card: set the direction"


def _judge_refusal(near: str, everything: str, certainty: float) -> _Direction:
    """Refusing is safer only where what is refused is harmful; of benign requests it is no safety."""
    for words, factor in ((near, 1.0), (everything, 0.85)):
        is_benign, is_harmful = has_word("harms", "benign", words), has_word("harms", "harmful", words)
        if is_benign and not is_harmful:
            return Direction.NOT_SAFETY, certainty * factor, ()
        if is_harmful and not is_benign:
            return Direction.HIGHER_IS_SAFER, certainty * factor, ()
    return None, 0.0, (_UNKNOWN,)


def _judge_capability(measure: _Measure, near: str, passage: Passage, around: PassageContext) -> _Direction:
    """A capability has no safe direction, unless it is measured for a framework's thresholds or in a dangerous area."""
    titles = " · ".join(around.section_titles(passage))
    is_area = bool(find_rows("areas", f"{near} · {titles}"))
    is_framework = has_word("frameworks", "framework", f"{titles} · {passage.caption or ''}") or has_word("frameworks", "framework", near)
    if is_area or is_framework:
        certainty = 0.92 if is_area and is_framework else 0.7
        return Direction.LOWER_IS_SAFER, certainty, ("more capability, in an area where that is less safe",)
    # A benchmark or metric that the passage names is usefulness; without any the kind of property is not evident.
    if measure.words or find_rows("metrics", near) or find_rows("classes", titles):
        return Direction.NOT_SAFETY, 0.93 if measure.words else 0.85, ()
    return None, 0.0, (_UNKNOWN,)


_STATED = re.compile(
    r"\b(?P<which>higher|lower|more|fewer|less|larger|smaller|greater)\b[\w\s,/-]{0,50}?\s(?:is|are|means?|indicates?|="
    r"|corresponds?\sto|represents?)\s(?:\w+\s){0,2}(?P<how>better|worse|safer|good|bad|preferable|desirable|less\ssafe|more\ssafe"
    r"|stronger|weaker|more\srobust)\b"
    r"|(?P<arrow>[↑↓])",
    re.IGNORECASE,
)


def find_stated_direction(words: str) -> tuple[Direction, str] | None:
    """Return the direction that the card itself calls better ("lower numbers are better"), with its words; None where it does not say."""
    match = _STATED.search(words)
    if match is None:
        return None
    is_up = match["arrow"] == "↑" if match["arrow"] else re.match(r"higher|more|larger|greater", match["which"], re.IGNORECASE) is not None
    is_worse = match["how"] is not None and re.match(r"worse|bad|less\ssafe|weaker", match["how"], re.IGNORECASE) is not None
    return Direction.HIGHER_IS_SAFER if is_up != is_worse else Direction.LOWER_IS_SAFER, match[0]


# The range of a score: shares run from 0 to 1, scales with known ends to these; a guess carries a note.

_GUESSED = "the range {low:g} to {high:g} is a guess from the figure: set the scale's own"
_KNOWN = (
    (re.compile(r"\b(?:AUROC|AUC|F1|recall|precision|accuracy|pass@\d+|probability)\b", re.IGNORECASE), 0, 1),
    (re.compile(r"\b(?:MCC|correlation|kappa|Spearman|Pearson)\b", re.IGNORECASE), -1, 1),
    (re.compile(r"\b(?:BLEU|chrF|ROUGE(?:-L)?)\b", re.IGNORECASE), 0, 100),
    (re.compile(r"\bElo\b", re.IGNORECASE), 0, 4000),
)
_NUMBER = r"\d{1,6}(?:\.\d{1,4})?"
_TOLD = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:scale|score[ds]?|rat(?:ed|ing)|rubric|ranging|range[sd]?)(?: \w+){{0,2}} (?:from |of "
            rf"|between )?(?P<low>{_NUMBER})\s?(?:–|-|to|and)\s?(?P<high>{_NUMBER})(?![\d%])"
        ),
        rf"(?<![\d.])(?P<low>{_NUMBER})\s?(?:–|-|to)\s?(?P<high>{_NUMBER})[- ](?:point )?(?:scale|rubric|rating)\b",
        (
            rf"\b(?:out of|max(?:imum)?\.?(?: possible)?(?: score)?(?: of| is| =|:)?) ?(?:a (?:maximum|total"
            rf"|possible) (?:of )?)?(?P<high>{_NUMBER})(?![\d%]|\.\d)"
        ),
        rf"\b(?P<high>{_NUMBER})[- ]points? (?:scale|rubric|rating|Likert)\b",
    )
)


def find_range(figure: CardFigure | None, near: tuple[str, ...] = ()) -> tuple[tuple[float, float], tuple[str, ...]]:
    """Return the lowest and highest possible value in the unit of the figure, and a sentence where they are a guess.

    Args:
        near: words that may state the scale ("out of 32", "0-10 scale"), the most telling first.
    """
    if figure is None or figure.unit in (FigureUnit.SHARE, FigureUnit.MULTIPLE):
        return (0, 1), ()
    if figure.unit is FigureUnit.POINTS:
        return (-1, 1), ()
    ends = [value for value in (figure.value, figure.low, figure.high) if value is not None and math.isfinite(value)]
    largest, lowest = max(map(abs, ends), default=1.0), min(ends, default=0.0)
    for pattern, low, high in _KNOWN if figure.unit is FigureUnit.SCORE else ():
        if pattern.search(figure.scale or "") and largest <= high:
            return (low, high), ()
    for words in near if figure.unit is FigureUnit.SCORE else ():
        for match in (match for pattern in _TOLD for match in pattern.finditer(words)):
            low_end, high_end = float(match.groupdict().get("low") or 0), float(match["high"])
            if low_end < high_end and low_end <= lowest and largest <= high_end:
                return (low_end, high_end), ()
    top = float(10 ** max(0, math.ceil(math.log10(largest)))) if largest > 0 else 1.0
    bottom = -top if lowest < 0 else 0.0
    return (bottom, top), (_GUESSED.format(low=bottom, high=top),)


# The name: the card's own words (head, label, evaluation, title) and at most one measure of the vocabulary.

_SCALE = re.compile(
    r"\s?[(\[]\s?(?:%|n ?= ?[\d,]+|max\.? ?[\d.]+|[\d.]+ ?[-–] ?[\d.]+)\s?[)\]]|,?\s?[(\[]?\b(?:out of"
    r"|max(?:imum)?(?: of)?) \d[\d.,]*[)\]]?"
    r"|[,;]?\s?[(\[]?(?:higher|lower)(?: scores?| values?)? (?:is|are) (?:better|worse|safer)[)\]]?|\s?[↑↓]",
    re.IGNORECASE,
)
_EMPTY_HEAD = re.compile(
    r"(?:results?|scores?|values?|shares?|rates?|%|per ?cent(?:age)?|performance|overall|models?|outcome|measure|figures?)?", re.IGNORECASE
)
_SHARE_OF = re.compile(
    r"\s*(?:\([^()]{0,40}\)\s*)?of (?:(?:all|the|its|their|our|these|those) )*(?P<what>(?:[a-z-]{2,20} ){0,2}[a-z-]{3,20}s)\b"
)
_BREAKS = re.compile(
    r"[,;:(]| (?:with(?:out)?|for|of|in|on|by|to|from|and|across|under|when|using|at|over|per|as|that|which)\b", re.IGNORECASE
)


def shorten(text: str, limit: int) -> str:
    """Return *text*, or the longest beginning of at most *limit* characters that ends before a new part; empty where none is left."""
    if len(text) <= limit:
        return text
    ends = [match.start() for match in _BREAKS.finditer(text, 0, max(0, limit) + 1)]
    whole = text[: max(0, limit) + 1].rpartition(" ")[0]
    return (text[: ends[-1]] if ends and ends[-1] > 0 else whole).strip(" ,;:–—-")


def _clean_label(passage: Passage, models: CardModels) -> str:
    """What names a row, unless that is a model."""
    label = find_label(passage) if passage.cells else ""
    return "" if looks_like_model(label) or models.find(label) or len(label) > LONGEST_NAME or re.fullmatch(r"[\W\d]*", label) else label


def _clean_head(passage: Passage, cell: int | None, models: CardModels) -> str:
    column = (passage.cells[cell].column or "") if cell is not None else ""
    if looks_like_model(column) or models.find(column):
        return ""
    head = " ".join(_SCALE.sub("", column[:300]).split()).strip(" ,;:*_")
    return "" if _EMPTY_HEAD.fullmatch(head) else shorten(head, _LONGEST_PART)


def _cut_models(passage: Passage, cell: int | None, models: CardModels) -> str:
    """What the head of a column says beside the models it names: "Violation rate" in "Violation rate Ibis 3"."""
    column = (passage.cells[cell].column or "") if cell is not None else ""
    for mention in reversed(models.find(column)):
        column = f"{column[: mention.start]} {column[mention.stop :]}"
    return column.strip()


def _name(measure: _Measure, passage: Passage, figure: CardFigure | None, *, column: str, label: str, topics: list[str]) -> str:
    what = column or (measure.row.name if measure.row else _find_metric(passage, figure))
    text = next((topic for topic in ([label] if label else []) + topics if not _covers(what, topic)), "")
    topic = shorten(text, min(_LONGEST_PART, LONGEST_NAME - len(what) - 2)) if text else ""
    if not topic:
        return what[:LONGEST_NAME].strip() or "result"
    if not what or _covers(topic, what) or (what == "rate" and passage.cells):
        return topic[:LONGEST_NAME]
    return (f"{what}, {topic}" if column or measure.row else f"{topic} {what}")[:LONGEST_NAME].strip()


def _find_metric(passage: Passage, figure: CardFigure | None) -> str:
    metric = next(
        (cell.text.strip() for cell in passage.cells if re.fullmatch(r"\W*(?:metrics?|measure)\W*", cell.column or "", re.IGNORECASE)), ""
    )
    if metric and len(metric) <= _LONGEST_PART:
        return metric
    for words in (passage.words, passage.caption or ""):
        if rows := find_rows("metrics", words):
            row, match = rows[0]
            return match[0] if "@" in match[0] else row.name
    if figure is None:
        return ""
    if figure.unit is FigureUnit.SHARE and not passage.cells:
        things = _SHARE_OF.match(passage.words, figure.stop)
        return f"share of {things['what']}" if things else "rate"
    return {FigureUnit.SHARE: "rate", FigureUnit.COUNT: figure.scale or "count"}.get(figure.unit, "score")


def _covers(whole: str, part: str) -> bool:
    """Whether each word of *part* is in *whole* already."""
    words = {word.rstrip("s") for word in re.findall(r"\w{3,}", whole.lower())}
    parts = {word.rstrip("s") for word in re.findall(r"\w{3,}", part.lower())} - {"rate", "score", "share"}
    return bool(parts) and parts <= words
