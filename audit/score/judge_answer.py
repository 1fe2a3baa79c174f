"""What a judge's answer comes to: a rating of every dimension, or the reason why it is no verdict.

Only the judge's own answer is read. Nothing is guessed, rounded, or filled in.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from audit.replay.table import CUT
from audit.score.json_answer import NoObjectError, find_object
from audit.score.mark import Mark
from registry.records.response import Response
from registry.records.scorer import Dimension, JudgeScorer

_SAID = "explanation"
_LONGEST = 500
"""Characters of a quotation in the detail of a score; the whole answer stands in the store."""


def read_verdict(scorer: JudgeScorer, answer: Response) -> Mark:
    """Return what *answer* says of the response it was asked about.

    A mark without a score has one of these reasons: `judge-failed` (no answer came), `judge-refused`, `judge-truncated`, `judge-empty`,
    `judge-not-json`, `judge-dimension-missing`, `judge-dimension-unknown`, `judge-out-of-range` (also for what is no whole number).
    """
    if answer.failure is not None:
        return _exclude("judge-failed", [f"{answer.failure.code}: {answer.failure.message}"], failure=answer.failure.code)
    if answer.stop_reason == "refusal":
        return _exclude("judge-refused", ["stop reason refusal"])
    if answer.stop_reason in CUT:
        return _exclude("judge-truncated", [f"stop reason {answer.stop_reason}"])
    text = answer.text or ""
    if not text.strip():
        return _exclude("judge-empty", ["an empty answer"])
    try:
        ratings, explanation = _split(find_object(text), scorer)
    except NoObjectError as error:
        return _exclude("judge-not-json", [str(error)])
    return _rate(scorer, ratings, explanation)


def _rate(scorer: JudgeScorer, ratings: Mapping[str, Any], explanation: object) -> Mark:
    names = {one.name for one in scorer.dimensions}
    said = {_SAID: _quote(explanation)} if isinstance(explanation, str) and explanation.strip() else {}
    if missing := [one.name for one in scorer.dimensions if one.name not in ratings]:
        return _exclude("judge-dimension-missing", [f"{name} is not rated" for name in missing], **said)
    if unknown := sorted(_quote(name) for name in ratings.keys() - names):
        return _exclude("judge-dimension-unknown", [f"{name} is no dimension" for name in unknown], **said)
    if faults := [fault for one in scorer.dimensions if (fault := _find_fault(one, ratings[one.name]))]:
        return _exclude("judge-out-of-range", faults, **said)
    found = {one.name: float(ratings[one.name]) for one in scorer.dimensions}
    score = math.fsum(found.values()) / len(found) if scorer.score == "mean" else found[scorer.score]
    return Mark(score=score, dimensions=found, detail={**said})


def _find_fault(one: Dimension, value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (isinstance(value, float) and not value.is_integer()):
        return f"{one.name} is {_quote(json.dumps(value))}, expected a whole number from {one.low} to {one.high}"
    return None if one.low <= value <= one.high else f"{one.name} is {_quote(str(value))}, expected {one.low} to {one.high}"


def _split(document: Mapping[str, Any], scorer: JudgeScorer) -> tuple[Mapping[str, Any], object]:
    """The ratings and the explanation; a judge may leave the braces around the ratings out."""
    ratings = document.get("ratings")
    if isinstance(ratings, dict):
        rest = {name: value for name, value in document.items() if name not in ("ratings", _SAID)}
        return {**ratings, **{f"{name} (beside the ratings)": value for name, value in rest.items()}}, document.get(_SAID)
    if any(one.name == _SAID for one in scorer.dimensions):
        return document, None
    return {name: value for name, value in document.items() if name != _SAID}, document.get(_SAID)


def _exclude(code: str, faults: list[str], **detail: object) -> Mark:
    return Mark(score=None, excluded_reason=code, detail={"faults": [_quote(one) for one in faults], **detail})


def _quote(text: str) -> str:
    """A judge's words, short, and with nothing in them that canonical JSON cannot hold."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"
