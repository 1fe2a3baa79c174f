"""What a property is called: the card's own words, and at most one measure word of ours."""

import re
from collections.abc import Iterator

from audit.propose.about.measures import METRICS, Measure
from audit.propose.about.measuring import THINGS
from audit.propose.about.models import looks_like_model
from audit.propose.about.row import find_label
from audit.propose.about.vocabulary import DANGEROUS
from audit.propose.figures.quantity import Quantity, Unit
from registry.records.passage import Passage, PassageKind

LONGEST_NAME = 80
"""Characters of a property's name; what is longer is a sentence."""
_LONGEST_PART, _LONGEST_HEAD = 60, 300

_DANGEROUS = re.compile(DANGEROUS, re.IGNORECASE)
_METRICS = tuple((re.compile(one, re.IGNORECASE), name) for one, name in METRICS)
_MODELS = re.compile(r"\W*(?:models?|systems?|model names?)\W*$", re.IGNORECASE)
"""Head of the column that names whose a row is."""
_LEVEL = re.compile(r"(?:High|Critical|Medium|Tier|ASL|capability|critical)\b", re.IGNORECASE)
_FIGURE = re.compile(r"^[<>≤≥~±]?\s?[-−]?\d[\d.,]*\s?%?")
_EMPTY_HEAD = re.compile(
    r"(?:results?|scores?|values?|shares?|rates?|%|per cent|percent(?:age)?|performance|overall|model|outcome|measure|figures?)?",
    re.IGNORECASE,
)
"""Heads of columns that do not say what is measured."""
_SCALE = re.compile(
    r"\s?[(\[]\s?(?:%|n ?= ?[\d,]+|max\.? ?[\d.]+|[\d.]+ ?[-–] ?[\d.]+)\s?[)\]]|"
    r"\s?[(\[](?:out of|max(?:imum)?(?: of)?) \d[\d.,]*[)\]]|[,;]?\s?\b(?:out of|max(?:imum)?(?: of)?) \d[\d.,]*|"
    r"\s?[(\[](?:higher|lower)(?: scores?| values?)? (?:is|are) (?:better|worse|safer)[)\]]|"
    r"[,;]?\s?\b(?:higher|lower)(?: scores?| values?)? (?:is|are) (?:better|worse|safer)|\s?[↑↓]",
    re.IGNORECASE,
)
"""What a head says of its scale, which is no part of a name."""
_PLAIN = "rate"
"""A share of which nothing more is said; behind the label of a row it adds nothing."""
_METRIC_HEADS = ("metric", "metrics", "measure")
_PARENTHESES = re.compile(r"\s?\([^()]*(?:\)|$)")
_BREAKS = re.compile(
    r"[,;:(]| (?:with(?:out)?|for|of|in|on|by|to|from|and|across|under|when|using|at|over|per|as|that|which)\b", re.IGNORECASE
)
"""Where a long phrase may end."""
_SHARE_OF = re.compile(
    rf"\s*(?:\([^()]{{0,40}}\)\s*)?of (?:(?:all|the|its|their|our|these|those) )*(?P<what>(?:[a-z-]{{2,20}} ){{0,2}}{THINGS})\b"
)
_CONDITION = re.compile(
    r"\s*(?:\([^()]{0,60}\)\s*)?(?:of (?:the |all |its )?[\w-]{2,20}(?: \w{2,15}ly)? (?=(?:on|in|for|within|under|across|at|during) ))?"
    r"(?P<what>(?:of|on|in|for|within|under|with|without|across|at|during|against|after|before|when) [^,;:.()]{2,60})"
)
"""What follows one of several figures in a sentence and tells it from the others; what the share is of comes first, and tells nothing."""


_LABELLED = re.compile(r"[\s–—•*-]{0,6}(?P<what>[^\W\d][^\d<>~≥≤%:|]{2,60})(?:\s[<>~≥≤]?\s?\d[\d.,]{0,9}\s?%?){1,8}\s*")
_PART = re.compile(r"\b(?:[Oo]n|[Ff]or|[Ii]n) (?P<what>(?:[Cc]riterion|[Tt]ask|[Ss]tep|[Pp]art|[Pp]hase|[Ss]tage|[Cc]ategory) \d{1,2})\b")
"""A numbered part of an evaluation, which has a property of its own."""


def name_property(
    measure: Measure | None, passage: Passage, quantity: Quantity | None, *, column: str, topics: tuple[str, ...], is_one_of_several: bool
) -> str:
    """Return a short name: what is measured, and in what.

    Args:
        measure: in the field's terms; None where the card names none.
        column: head of the figure's column, empty where it has none or names a model.
        topics: what it was measured in, the most telling first: the evaluation, titles of sections.
        is_one_of_several: whether the passage gives more figures of its own, from which the words after this one may tell it.
    """
    head = _clean_head(column)
    what = head or (measure.name if measure else _find_metric(passage, quantity))
    found = next((one for one in _list_topics(passage, topics) if not (what and _covers(what, one))), "")
    topic = shorten(found, min(_LONGEST_PART, LONGEST_NAME - len(what) - 2)) if found else ""
    if not topic:
        name = what
    elif _covers(topic, what) or not what or (what == _PLAIN and passage.cells):
        name = topic
    else:
        name = f"{what}, {topic}" if head or measure else f"{topic} {what}"
    condition = _find_condition(passage, quantity) if is_one_of_several and not passage.cells else ""
    part = _PART.search(passage.words[: quantity.start]) if quantity is not None and not passage.cells else None
    condition = part["what"] if part else condition
    if condition and not _covers(name, condition) and len(name) + len(condition) + 2 <= LONGEST_NAME:
        name = f"{name}, {condition}"
    return name[:LONGEST_NAME].strip() or "result"


def shorten(text: str, limit: int) -> str:
    """Return *text*, or the longest beginning of at most *limit* characters that ends before a new part; empty where none is left."""
    if len(text) <= limit:
        return text
    ends = [one.start() for one in _BREAKS.finditer(text, 0, max(0, limit) + 1)]
    whole = text[: max(0, limit) + 1].rpartition(" ")[0]
    return (text[: ends[-1]] if ends and ends[-1] > 0 else whole).strip(" ,;:–—-")


def _clean_head(column: str) -> str:
    head = " ".join(_SCALE.sub("", column[:_LONGEST_HEAD]).split()).strip(" ,;:")
    head += ")" * max(0, head.count("(") - head.count(")"))
    if len(head) > _LONGEST_PART:
        head = _PARENTHESES.sub("", head).strip()
    return "" if _EMPTY_HEAD.fullmatch(head) else shorten(head, _LONGEST_PART)


def _list_topics(passage: Passage, topics: tuple[str, ...]) -> Iterator[str]:
    label = find_label(passage) if passage.cells else _find_row_label(passage)
    head = next((cell.column or "" for cell in passage.cells if cell.text.strip() == label), "")
    is_model = _MODELS.match(head) is not None or _names_model(label)
    if label and not is_model and not _FIGURE.match(label) and len(label) <= LONGEST_NAME:
        yield label
    yield from topics
    yield from (hit[0] for hit in _DANGEROUS.finditer(passage.words) if not _LEVEL.match(hit[0]))


def _find_row_label(passage: Passage) -> str:
    """Return the label of a row whose cells cannot be told apart, or of an item that is a label with figures."""
    found = _LABELLED.fullmatch(passage.words[:_LONGEST_HEAD]) if passage.kind in (PassageKind.ROW, PassageKind.ITEM) else None
    return found["what"].strip() if found else ""


def _names_model(label: str) -> bool:
    """Whether a label names a model, or ends as such names do; what it measures is then said elsewhere."""
    return looks_like_model(label) or re.search(r"\d(?:\.\d+)?[Bb]?(?:\s?\([^)]*\))?$|\bPreview$", label) is not None


def _find_metric(passage: Passage, quantity: Quantity | None) -> str:
    """Return the metric that row, passage or caption name; else a word for the figure's unit, empty for a claim without a figure."""
    metric = next((cell.text.strip() for cell in passage.cells if (cell.column or "").strip().lower() in _METRIC_HEADS), "")
    if metric and len(metric) <= _LONGEST_PART:
        return metric
    for words in (passage.words, passage.caption or ""):
        for pattern, name in _METRICS:
            if found := pattern.search(words):
                return name or found[0]
    if quantity is not None and quantity.unit is Unit.SHARE:
        things = _SHARE_OF.match(passage.words, quantity.stop)
        return f"share of {things['what']}" if things else _PLAIN
    if quantity is not None and quantity.unit is Unit.COUNT:
        return "count"
    return "score" if quantity is not None or re.search(r"\bscor", passage.words) else ""


def _find_condition(passage: Passage, quantity: Quantity | None) -> str:
    found = _CONDITION.match(passage.words, quantity.stop) if quantity is not None else None
    return shorten(re.split(r" (?:and|but|while|compared|versus|vs\.?) ", found["what"])[0], 40) if found else ""


def _covers(whole: str, part: str) -> bool:
    """Whether each word of *part* stands in *whole* already."""
    words = {word.rstrip("s") for word in re.findall(r"\w{3,}", whole.lower())}
    parts = {word.rstrip("s") for word in re.findall(r"\w{3,}", part.lower())} - {"rate", "score", "share"}
    return bool(parts) and parts <= words
