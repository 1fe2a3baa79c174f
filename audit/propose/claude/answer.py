"""What an answer about a window comes to: the claims it offers, read strictly, or the reason why it cannot be read.

Only the form is checked here; whether the card says what is offered is `audit.propose.claude.ground`'s to find out. Nothing is repaired.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from audit.replay.table import CUT
from audit.score.json_answer import NoObjectError, find_object
from registry.codec.documents import from_json
from registry.errors import InputError
from registry.records.claim import Direction, Form, PropertyClass
from registry.records.proposal import Confidence, Dropped
from registry.records.record import Record
from registry.records.response import Response

MOST_CLAIMS = 400
"""Claims of one answer that are read: a window of 24,000 characters has no more."""
LONGEST_QUOTE = 300
"""Characters that are kept of something dropped."""
MALFORMED = frozenset({"answer-empty", "answer-not-json", "answer-without-claims"})
"""Reasons for which the same question is asked once more."""
_REFUSED, _CUT_SHORT = "answer-refused", "answer-cut"
DIVIDED = frozenset({_REFUSED, _CUT_SHORT})
"""Reasons for which a window is asked about in two halves: what is refused, or too much, may be only a part of it."""


class OfferedUnit(StrEnum):
    """What a figure counts in, as the answer says."""

    SHARE = "share"
    POINTS = "points"
    COUNT = "count"
    MULTIPLE = "multiple"
    SCORE = "score"
    NONE = "none"


class OfferedRelation(StrEnum):
    """Of a bound or a threshold."""

    AT_MOST = "<="
    AT_LEAST = ">="
    NONE = "none"


class OfferedLayer(StrEnum):
    """Of an awareness statement."""

    BEHAVIOURAL = "behavioural"
    VERBALISED = "verbalised"
    LATENT = "latent"
    CUE_SENSITIVITY = "cue_sensitivity"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Record):
    """Words that are said to stand in the window."""

    quote: str
    line: int = 0
    """Number of the line they begin in; 0 where it is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedAwareness(Record):
    """A statement that the model recognised the evaluation."""

    quote: str
    line: int = 0
    layer: OfferedLayer = OfferedLayer.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedComparison(Record):
    """A figure for something else."""

    subject: str
    words: str
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedProperty(Record):
    """What is measured."""

    name: str
    class_: PropertyClass
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedFigure(Record):
    """What is said of the figure or bound; None: not stated."""

    value: float | None = None
    theta: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: OfferedUnit = OfferedUnit.NONE
    written: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Record):
    """One claim as an answer offers it; texts are None or empty where the card states nothing."""

    at: Place
    property: OfferedProperty
    form: Form
    figure: OfferedFigure = OfferedFigure()
    relation: OfferedRelation = OfferedRelation.NONE
    relative_to: str | None = None
    elsewhere: tuple[Place, ...] = ()
    model: str | None = None
    version: str | None = None
    evaluation: str | None = None
    grader: str | None = None
    elicitation: str | None = None
    comparisons: tuple[OfferedComparison, ...] = ()
    awareness: tuple[OfferedAwareness, ...] = ()
    confidence: Confidence = Confidence.LOW
    caution: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one answer says."""

    offers: tuple[Offer, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    """Entries that are no claims by their form."""
    excluded: str | None = None
    """Why there is nothing to read; None when there is, also an empty list."""
    model: str | None = None
    """What answered, as the endpoint returned it; None when nothing did."""


def read_answer(answer: Response | None) -> Reading:
    """Return what *answer* offers.

    Reasons for nothing: the code of a failed call, `not-asked` (no answer on record), `answer-refused`, `answer-cut` (the output limit),
    `answer-empty`, `answer-not-json`, `answer-without-claims` (an object of another shape). An entry that does not fit is dropped alone,
    with what is wrong with it.
    """
    if answer is None:
        return Reading(excluded="not-asked")
    if (reason := _find_reason(answer)) is not None:
        return Reading(excluded=reason, model=answer.model_returned)
    try:
        document = find_object(answer.text or "")
    except NoObjectError:
        return Reading(excluded="answer-not-json", model=answer.model_returned)
    claims = document.get("claims")
    if not isinstance(claims, list):
        return Reading(excluded="answer-without-claims", model=answer.model_returned)
    found = [_read_entry(entry) for entry in claims[:MOST_CLAIMS]]
    dropped = [one for one in found if isinstance(one, Dropped)]
    if len(claims) > MOST_CLAIMS:
        reason = f"the answer has {len(claims):,} entries for one window, of which {MOST_CLAIMS} are read"
        dropped.append(Dropped(quote="", reason=reason))
    return Reading(offers=tuple(one for one in found if isinstance(one, Offer)), dropped=tuple(dropped), model=answer.model_returned)


def cut(text: str) -> str:
    """Return the beginning of *text* as it is kept of something dropped, without half characters."""
    return text[:LONGEST_QUOTE].encode("utf-8", "replace").decode()


def tidy(text: str, longest: int) -> str:
    """Return *text* on one line, without control characters, cut."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _find_reason(answer: Response) -> str | None:
    if answer.failure is not None:
        return answer.failure.code
    if answer.stop_reason == "refusal":
        return _REFUSED
    if answer.stop_reason in CUT:
        return _CUT_SHORT
    return None if (answer.text or "").strip() else "answer-empty"


def _read_entry(entry: Any) -> Offer | Dropped:
    try:
        # As text again: the codec reads JSON, and refuses half a character (a lone surrogate) and what is nested too deep.
        return from_json(Offer, json.dumps(entry), where="the entry")
    except RecursionError:
        return Dropped(quote="", reason="the entry does not fit the form: it is nested too deep")
    except InputError as error:
        fault = error.faults[0]
        more = f", and {len(error.faults) - 1} more faults" if len(error.faults) > 1 else ""
        reason = tidy(f"the entry does not fit the form: {fault.where}: {fault.found}{more}", LONGEST_QUOTE)
        return Dropped(quote=cut(_find_words(entry)), reason=reason)


def _find_words(entry: Any) -> str:
    place = entry.get("at") if isinstance(entry, dict) else None
    quote = place.get("quote") if isinstance(place, dict) else None
    return quote if isinstance(quote, str) else ""
