"""Where a response says what its answer is: in a box, after "the answer is", behind four number signs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BOXED = re.compile(r"\\(?:boxed|fbox)\s?\{")
_LONGEST_BOX = 200
"""Characters of a box; in a longer one no answer is looked for."""

_BOX_FOLLOWS = re.compile(r"[\s*_$(\[\\:]{0,20}?\\(?:boxed|fbox)\s*\{")
"""Then "the answer is" and its box say one answer, in the box."""

_STATED = re.compile(
    r"(?:\b(?:answer|choice|option|solution|result)\b(?:\s+(?:choice|option|letter|here|to\s+(?:this|the)\s+(?:question|problem|task)))?"
    r"[\s*_]*(?:(?:is|was|would\s+be|should\s+be|must\s+be|will\s+be)(?!\s+not\b|n['’]t\b)(?:\s+(?:option|choice|answer|therefore|thus|then|indeed))*"
    r"[\s*_]*:?|[:=→])"
    r"|\b(?:I|I'd|I’d|I'll|I’ll|we)\s+(?:would\s+|will\s+)?(?:choose|chose|select|pick|go\s+(?:with|for))(?:\s+(?:option|choice|answer))?\s*:?"
    r"|^[ \t]*\#{4})",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a text an answer is said to stand."""

    start: int
    """First character of what is said."""
    end: int | None
    """First character behind it, for a box; None where a sentence goes on."""
    how: str
    """`boxed` or `stated`."""


def find_places(text: str) -> Iterator[Place]:
    """Give every place in which *text* says its answer, in the order of the text; the last is what it settles on."""
    boxes = ((found.end(), _find_end(text, found.end())) for found in _BOXED.finditer(text))
    boxed = [Place(start, end, "boxed") for start, end in boxes if end is not None]
    stated = [Place(found.end(), None, "stated") for found in _STATED.finditer(text) if not _BOX_FOLLOWS.match(text, found.end())]
    yield from sorted((*boxed, *stated), key=lambda one: one.start)


def _find_end(text: str, start: int) -> int | None:
    """Return where the brace is closed that was opened before *start*; None for a box that is cut or too long."""
    depth = 1
    for place in range(start, min(len(text), start + _LONGEST_BOX)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place
    return None
