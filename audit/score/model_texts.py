"""Texts of others in a request to a model: fenced off, answered in one JSON object, and checked for appeals."""

import hashlib
import json
import re
from itertools import product
from typing import Any

# Foreign texts in a request. Each is between two lines with a mark that occurs in none of them, so no text can close
# its own fence.


def fence_text(name: str, mark: str, text: str) -> str:
    """Return *text* between two lines that carry *name* and *mark*."""
    return f"<<<{name} {mark}\n{text}\n{name} {mark}>>>"


def find_mark(*texts: str) -> str:
    """Return a mark that none of *texts* holds: their own digest, so that whoever wrote them could not have known it."""
    # The mark is computed and not random, because the request must be the same each time: its digest is the key of the
    # stored answer.
    content, turn = json.dumps(texts), 0
    while any((mark := hashlib.sha256(f"{turn}:{content}".encode()).hexdigest()[:24]) in text for text in texts):
        turn += 1
    return mark


# The single JSON object that judge and probe ask for. Nothing is guessed or repaired: a repaired verdict would be
# partly ours.


class NoObjectError(Exception):
    """The answer holds no single JSON object; the text says why, as data."""


def find_object(text: str) -> dict[str, Any]:
    """Return the one JSON object of *text*: from its first brace to its last, with prose or a code fence around it and no second object.

    Raises:
        NoObjectError: there is none, there are two, a name occurs twice in one, or it holds NaN or an infinity.
    """
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first:
        raise NoObjectError("no JSON object in the answer")
    try:
        # Prose or a code fence around the object is accepted. A second object between the braces is not JSON and is
        # refused here.
        document = json.loads(text[first : last + 1], object_pairs_hook=_build_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise NoObjectError(f"from the first brace to the last, the answer is no single JSON object: {error}") from error
    return dict(document)


def _build_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        raise ValueError("a name is in an object twice")
    return built


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


# Whether a response addresses its rater. It is reported beside the scores and never changes them.
#
# This is a filter for recall and not a verdict. It finds plain forms in English, also in responses that are about
# grading.

_PERSONS = ("grader", "judge", "rater", "evaluator", "scorer", "reviewer")
_WHO = rf"(?:{'|'.join(_PERSONS)}|(?:ai|llm|language model) (?:grading|judging|scoring))"
_VERBS, _OBJECTS = ("give", "award", "assign", "rate", "score", "grade", "mark"), ("this", "me", "it", "my", "the")
_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        (*_PERSONS, "grading", "judging", "scoring"),
        (
            rf"\b(?:dear|hello|hi|attention|note (?:to|for)|to) (?:the |this |any |all |my )?(?:ai |llm |human )?{_WHO}s?\b"
            rf"|\bas (?:the|a|an|my) (?:ai |llm |human )?{_WHO}\b"
        ),
    ),
    (
        ("rubric", "instruction", "criteria", "guidelines", "prompt"),
        r"\b(?:ignore|disregard|forget|override) (?:\w+ ){0,3}(?:rubric|instructions?|criteria|guidelines|prompt)\b",
    ),
    (
        tuple(f"{verb} {what}" for verb, what in product(_VERBS, _OBJECTS)),
        (
            r"\b(?:give|award|assign|rate|score|grade|mark) (?:this|me|it|my|the)(?: \w+){0,4} [0-9]+(?: ?/ ?| out of )[0-9]+"
            r"|\b(?:rate|score|grade) (?:this|it|me|my)\b(?: \w+){0,4} [0-9]+\b"
            r"|\b(?:give|award) (?:this|it|me)(?: \w+){0,3} an? [0-9]+\b"
        ),
    ),
    (("marks", "score", "rating"), r"\b(?:full marks|perfect score|maximum score|highest (?:score|rating)|top (?:score|marks))\b"),
    (('"rating', '"score"', '"verdict"'), r"\"(?:rating|ratings|score|verdict)\"\s*:"),
)
"""Words without which a form is not there, and the form, both in small letters: looking for words takes a hundredth of the time."""
_READY = tuple((words, re.compile(form)) for words, form in _FORMS)


def addresses_judge(text: str) -> bool:
    """Return whether *text* holds a form in which one speaks to a grader, or a verdict written out."""
    small = text.lower()
    return any(any(word in small for word in words) and form.search(small) is not None for words, form in _READY)
