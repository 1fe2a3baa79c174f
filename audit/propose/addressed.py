"""Whether a card's words speak to whoever reads it by machine: told beside a proposal, and never obeyed."""

import re

_FORMS = (
    # To turn a reader away from what it was told.
    r"\b(?:ignore|disregard|forget|override) (?:[\w’']+ ){0,4}(?:above|previous|prior|earlier|preceding|instructions?|prompts?|rules)\b",
    # To tell it what to answer.
    r"\b(?:propose|extract|output|return|register) (?:nothing\b|no claims?\b|only\b|that\b|the following\b)",
    # To name it.
    r"\b(?:ai|llm|language model|automated|machine) (?:readers?|reviewers?|systems? reading|tools? reading|assistants? reading)\b",
    r"\bif you are (?:an? )?(?:ai|llm|language model|model|assistant)\b",
)
_ANY = re.compile("|".join(_FORMS), re.IGNORECASE)


def addresses_reader(words: str) -> bool:
    """Return whether *words* hold a form in which one speaks to a machine that reads; also true where a card quotes such words."""
    return _ANY.search(" ".join(words.split())) is not None
