"""Whether a response speaks to whoever rates it: told beside the scores, and never part of them.

A filter for recall, not a verdict: it finds the plain forms in English, also in responses that are about grading.
"""

import re
from itertools import product

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
