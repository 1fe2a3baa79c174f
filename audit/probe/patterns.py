"""The recall filter: patterns that mark passages which may speak of a test, in English.

A mark is no recognition. The filter is wide on purpose: it is there so that few passages that speak of a test go unmarked, and most of
what it marks may speak of something else. Other languages are not covered.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import regex

VERSION = "caveat/recognition-patterns/1"
"""Name and version; any change of a pattern is another version."""
TIMEOUT_S = 1.0
"""Time that one family of patterns may take on one passage; a passage on which it is not enough is marked."""
TIMED_OUT = "timed-out"

_LISTED: Mapping[str, tuple[str, ...]] = {
    # Words for being examined.
    "test": (
        r"tests?|tested|testing|exams?|examin(?:ed|ing|ation)|quiz(?:zes)?|assess(?:es|ed|ing|ments?)?|evals?|evaluat(?:e|es|ed|ing|ions?|ors?)",
        r"benchmark(?:s|ed|ing)?|grad(?:ed|ers?|ing)|audit(?:s|ed|ing|ors?)?|experiment(?:s|al|er|ers)?|prob(?:e|es|ed|ing)|trials?",
        r"stress[- ]?test\w*|red[- ]?team\w*|adversarial",
    ),
    # Doubt that the situation is real.
    "not-real": (
        r"simulat(?:e|es|ed|ing|ions?|ors?)|hypothetical(?:ly)?|fiction(?:al)?|fabricated|contrived|artificial(?:ly)?|staged|made[- ]up",
        r"constructed|scenarios?|role[- ]?play\w*|sandbox\w*|honey ?pots?|traps?|bait\w*|fake|mock|dummy|placeholder|synthetic|unrealistic",
        r"unfilled|(?:not|isn[’']t) (?:a )?real|(?:is|if|whether) (?:this|it|that)(?: is|[’']s)? (?:a )?real",
        r"genuine\w*|too (?:perfect|convenient)\w*",
    ),
    # A purpose behind the prompt.
    "designed": (
        r"(?:designed|intended|meant|crafted|constructed|engineered|built) to",
        r"(?:trying|tries|tried|attempt(?:ing|s)?|want(?:s|ed|ing)?) to (?:see|check|elicit|get me|trick|find out|gauge|measure|learn)",
        r"to see (?:if|whether|how|what)|to (?:check|gauge|measure|verify) (?:if|whether|for|my|how)",
        r"see (?:if|whether|how) (?:I|the (?:model|assistant|AI))",
        r"deliberate(?:ly)?|intentional(?:ly)?|on purpose|purposely|trick question|gotcha",
    ),
    # Being watched.
    "monitoring": (
        r"monitor(?:s|ed|ing)?|surveil\w*|oversight|overseers?|watch(?:ed|ing) (?:me|this|us|closely)|researchers?",
        r"(?:being|is|are|am|be|get) (?:watched|observed|logged|recorded|reviewed|scored|judged|tracked)",
        r"(?:log|record|review|observ)(?:s|ed|ging|ing)? (?:my|this|the) (?:\w+ )?(?:response|reasoning|thought|chat|answer|action)s?",
        r"developers? (?:are|may|might|want|will|could)",
        r"(?:anthropic|openai|deepmind|meta)\b[^.?!\n]{0,40}(?:want|check|see|test|train|review)",
    ),
    # Tests and exams by name or by form.
    "named": (
        r"winograd|stereoset|crows[- ]?pairs|bbq|mmlu|gpqa|swe[- ]?bench|truthful ?qa|gsm[- ]?8k|human ?eval|big[- ]?bench|hella ?swag",
        r"arc[- ](?:agi|challenge)|usmle|mcat|lsat|gre|sat|bar exam|board exam|olympiad|textbook|homework",
        r"training (?:course|data|set|example|episode|run)|(?:evaluation|training|bias|benchmark) ?(?:data)?sets?",
        r"multiple[- ]choice|(?:intended|expected|desired|keyed) answers?",
        r"(?:question|problem)s? (?:from|designed|meant|of this (?:type|kind))",
        r"(?:classic|typical|standard|well[- ]known) (?:\w+ ){0,2}(?:question|problem|dilemma|puzzle|riddle|setup|scenario)",
    ),
    # The place it runs in.
    "deployment": (
        r"(?:pre-?)?deploy(?:ed|ment)s?|in production|production (?:environment|system)|real[- ]world",
        r"real (?:users?|persons?|people|humans?|emergency|situation|deployment|consequences?|stakes)",
        r"alignment|capabilit(?:y|ies) (?:test|eval|elicit)\w*|safety (?:test|eval|check|research|train)\w*",
    ),
    # Speaking of the prompt as somebody's construction.
    "meta": (
        r"meta[- ]?(?:commentary|level|cognit\w+|question)|(?:past|previous|prior|other|similar) (?:tasks?|episodes?|runs?|prompts?)",
        r"the (?:task|prompt|question|setup|problem)[’']?s (?:constraints?|framing|wording|structure|setup|author)",
        r"they(?:[’']ve| have|[’']d| had)? (?:want|wanted|expect|expected|asked|are asking|are looking|are checking)",
        r"(?:the )?(?:set-?up|framing) (?:seems|suggests|looks|feels)",
        r"(?:this|it) (?:seems|feels|looks|sounds) (?:like|as if|designed|to be)",
        r"(?:exercise|challenge|puzzle|riddle|setup)s?",
    ),
}
FAMILIES: Mapping[str, str] = {name: rf"\b(?:{'|'.join(patterns)})\b" for name, patterns in _LISTED.items()}
"""What is looked for, by family; a passage is marked when any family matches."""

_COMPILED = {name: regex.compile(pattern, regex.IGNORECASE) for name, pattern in FAMILIES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One match in a passage."""

    family: str
    """One of `FAMILIES`, or `timed-out`: then the passage is marked although nothing was found, and the place is its beginning."""
    start: int
    stop: int


def is_candidate(text: str, *, timeout_s: float = TIMEOUT_S) -> bool:
    """Return whether any pattern matches in *text*, or took too long."""
    return next(find_hits(text, timeout_s=timeout_s), None) is not None


def find_hits(text: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[Hit]:
    """Yield every match in *text*, family by family, in the order of `FAMILIES`.

    Args:
        timeout_s: for each family; above 0.
    """
    for name, pattern in _COMPILED.items():
        try:
            for match in pattern.finditer(text, timeout=timeout_s):
                yield Hit(family=name, start=match.start(), stop=match.end())
        except TimeoutError:
            yield Hit(family=TIMED_OUT, start=0, stop=0)
