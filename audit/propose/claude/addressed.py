"""Whether a card's words speak to whoever reads it by machine: told beside a proposal, and never obeyed."""

import re
from dataclasses import replace

from registry.records.passage import Outline
from registry.records.proposal import Confidence, Proposal, Proposals

NOTE = "the paragraph speaks to whoever reads the card by machine: look whether the card means what it says"
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


def doubt_addressed(proposals: Proposals, outline: Outline) -> Proposals:
    """Return *proposals*, those out of a paragraph that speaks to a machine with a note and low confidence, whatever engine read it."""
    blocks = {one.block for one in outline.passages if addresses_reader(one.words)}
    spans = [(one.start, one.stop) for one in outline.passages if one.block in blocks]

    def doubt(one: Proposal) -> Proposal:
        if NOTE in one.notes or not any(start < one.anchor.stop and one.anchor.start < stop for start, stop in spans):
            return one
        return replace(one, confidence=Confidence.LOW, notes=(NOTE, *one.notes))

    return replace(proposals, proposals=tuple(map(doubt, proposals.proposals)))
