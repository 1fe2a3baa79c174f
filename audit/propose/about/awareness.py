"""Statements of a card that the model recognised an evaluation, or may have."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest

from audit.propose.about.around import Around
from registry.records.evidence import Layer
from registry.records.passage import Passage, PassageKind
from registry.records.proposal import AwarenessNote

_TEST = r"(?:evaluation|eval|test|testing|grader|assessment|audit|simulation|red[- ]teaming)s?"
_BEING = r"being (?:\w+ )?(?:tested|evaluated|assessed|audited|graded|red[- ]teamed|examined)"
_IT_IS = (
    r"(?:it|they|the model)(?:['’]s)?(?: (?:is|was|are|were|may|might|could|must|likely|probably|possibly|be)){0,4} (?:being )?"
    r"(?:tested|evaluated|assessed|graded|(?:in|inside|part of|undergoing|under) (?:an? |some )?(?:\w+ ){0,2}(?:evaluation|test|"
    r"testing|simulation)\b)"
)
_TESTED = rf"(?:{_BEING}|{_IT_IS})"
_BELIEVES = r"(?:believ|think|suspect|recogni[sz]|reali[sz]|guess|infer|conclud|speculat|notic|assum|aware)\w*"
_SAYS = (
    r"(?:mention|verbali[sz]|voic|stat(?:e|ing)|remark|express|note|noting|say|said|writ(?:e|ing|ten)|acknowledg|reason|"
    r"comment|flag|articulat)\w*"
)

STATEMENTS: tuple[tuple[str, Layer | None], ...] = (
    # What a card says of recognition, and by which layer it is known; the first that fits a sentence decides. The more telling stand first.
    # Internals: probes, steering, unverbalised awareness.
    (rf"\b(?:unverbali[sz]ed|latent|internal\w*|implicit) (?:\w+ ){{0,3}}{_TEST}[- ]aware\w*", Layer.LATENT),
    (
        (
            r"(?:probes?|steer\w*|activations?|internal representations?|representations? (?:of|related)|sparse autoencoders?|"
            r"\bSAEs?\b|\bNLAs?\b|white-?box|interpretability)"
            rf"\b[^.;]{{0,160}}\b(?:{_TEST}[- ]aware\w*|{_TESTED})"
        ),
        Layer.LATENT,
    ),
    (
        (
            rf"{_TEST}[- ]aware\w*[^.;]{{0,120}}\b(?:probes?|steer\w*|activations?|representations?|vectors?|sparse autoencoders?|"
            rf"\bSAEs?\b|\bNLAs?\b)"
        ),
        Layer.LATENT,
    ),
    (
        (
            r"\b(?:distinguish|discriminat)\w* (?:[\w’'-]{1,30} ){0,6}(?:evaluation|deployment|test|synthetic)\w*"
            r"(?: [\w’'-]+){0,4} (?:from|"
            r"and|versus|vs\.?)\b"
        ),
        Layer.LATENT,
    ),
    (r"\btell\w* (?:[\w’'-]{1,30} ){0,4}(?:evaluations?|tests?|deployment)(?: \w+){0,3} (?:apart|from)", Layer.LATENT),
    # What the model does differently.
    (
        (
            r"\b(?:behav|act|perform|respond|compl|refus)\w* (?:\w+ ){0,3}(?:differently|better|worse|more \w+|less \w+)(?: \w+){0,3} "
            rf"(?:when|if|because|once|after)\b[^.;]{{0,80}}(?:{_TESTED}|observed|monitored|watched|an? (?:evaluation|test)\b)"
        ),
        Layer.BEHAVIOURAL,
    ),
    (
        (
            r"\b(?:evaluation|eval|test)[ -]gaming\b|\binvalidat\w* [^.;]{0,80}(?:scenarios?|evaluations?|tests?|"
            r"results?)\b(?=[^.]{0,120}aware)"
        ),
        Layer.BEHAVIOURAL,
    ),
    # What changes when the test looks more or less like one.
    (
        (
            r"\brealism (?:filter|classifier|scor|judg|rating|grader|method|intervention|improve)\w*|"
            r"\b(?:un)?realistic\w*\b(?=[^.;]{0,120}\baware)"
        ),
        Layer.CUE_SENSITIVITY,
    ),
    (
        (
            rf"\b(?:remov|add|hid|conceal|reduc)\w* (?:[\w-]{{1,30}} ){{0,4}}(?:cues?|hints?|signs?|artefacts?|"
            rf"artifacts?)\b[^.;]{{0,100}}(?:aware|{_TESTED}|{_TEST}\b)"
        ),
        Layer.CUE_SENSITIVITY,
    ),
    (
        (
            r"\b(?:seem|look|appear|sound|feel)\w*(?: \w+){0,3} (?:contrived|artificial|unrealistic|staged|fake|like an? (?:test|"
            r"evaluation))"
        ),
        Layer.CUE_SENSITIVITY,
    ),
    # What it says.
    (
        (
            rf"\bverbali[sz]\w*(?: \w+){{0,4}} (?:{_TEST}[- ]aware|aware|suspicio|recogni|{_TEST}\b)\w*|"
            rf"\b{_TEST}[- ]aware\w*(?: \w+){{0,3}} verbali[sz]\w*"
        ),
        Layer.VERBALISED,
    ),
    (rf"\b{_SAYS} (?:[\w’'-]{{1,30}} ){{0,8}}{_TESTED}", Layer.VERBALISED),
    (rf"\bexplicit\w* (?:[\w’'-]{{1,30}} ){{0,4}}{_TEST}[- ]aware\w*", Layer.VERBALISED),
    # Recognition without a word on how it is known.
    (r"\b(?<!human )(?:evaluation|eval|test|grader)[- ](?:aware\w*|recognition|suspicion)", None),
    (rf"\b{_BELIEVES} (?:[\w’'-]{{1,30}} ){{0,4}}{_TESTED}", None),
    (r"\brecogni[sz]\w* (?:(?:[\w’'-]{1,30} ){1,3}as )?(?:an?|the) (?:\w+ ){0,2}(?:evaluation|test|simulation)\b", None),
    (rf"\b(?:aware|awareness|suspicio\w+|suspect\w*) (?:of|that|about)(?: \w+){{0,4}} {_TESTED}", None),
)

NOT_THE_MODEL = (
    r"\b(?:we|our (?:team|researchers)|users?|raters?|graders?|annotators?|participants?|experts?|humans?|reviewers?|"
    r"researchers?) (?:are|were|was|is|became|remain\w*) (?:\w+ )?aware\b"
    r"|\bwe (?:\w+ )?(?:recogni[sz]e|acknowledge|reali[sz]e)\b|\b(?:public|cyber|security|health|spatial|cultural) awareness\b"
)
"""Awareness of somebody else, or of something else."""

_STATEMENTS = tuple((re.compile(pattern, re.IGNORECASE), layer) for pattern, layer in STATEMENTS)
_NOT_THE_MODEL = re.compile(NOT_THE_MODEL, re.IGNORECASE)
_HINT = re.compile(
    r"aware|realis|realiz|unrealistic|verbali|distinguish|discriminat|recogni|suspect|suspici|tested|evaluated|\btest\b|evaluation|simulation|"
    r"contrived|artificial|gaming|\btell",
    re.IGNORECASE,
)
"""Without one of these a sentence is not looked at further."""
_READ = frozenset({PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.CAPTION, PassageKind.FOOTNOTE, PassageKind.ROW})
_REFERENCE = re.compile(r"\b[Ss]ections? (?P<number>\d{1,3}(?:\.\d{1,3}){1,7})(?!\.?\d)")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,7}(?!\.?\d)")
_MOST = 6
"""Statements given for one claim: the nearest ones; a section on awareness has dozens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """One statement, with what it is looked up by."""

    passage: Passage
    note: AwarenessNote
    folded: str
    """Its words in lower case."""
    sections: frozenset[str]
    """Numbers of the sections it refers to."""


class Awareness:
    """All such statements of one card, found once."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._said = tuple(_find_all(around))
        self._here: dict[int | None, list[_Said]] = {}
        for one in self._said:
            self._here.setdefault(one.passage.section, []).append(one)
        self._elsewhere: dict[tuple[str | None, str | None], tuple[_Said, ...]] = {}
        self.notes = tuple(one.note for one in self._said)
        """In the order of the card."""

    def find(self, passage: Passage, *, evaluation: str | None) -> tuple[AwarenessNote, ...]:
        """Return the nearest statements of the same section, and those elsewhere that name the same evaluation or section, in order."""
        name = evaluation.lower() if evaluation and _is_a_name(evaluation) else None
        number = self._number(passage)
        here = self._here.get(passage.section, [])
        at = bisect_left(here, passage.start, key=lambda one: one.note.start)
        near = sorted(here[max(0, at - _MOST) : at + _MOST], key=lambda one: abs(one.note.start - passage.start))[:_MOST]
        if len(near) < _MOST:
            beyond = (one for one in self._find_elsewhere(name, number) if one.passage.section != passage.section)
            near += nsmallest(_MOST - len(near), beyond, key=lambda one: abs(one.note.start - passage.start))
        return tuple(sorted((one.note for one in near), key=lambda note: note.start))

    def _find_elsewhere(self, name: str | None, number: str | None) -> tuple[_Said, ...]:
        """Return the statements of the whole card that name the evaluation or the section, looked for once for each."""
        if (name, number) not in self._elsewhere:
            self._elsewhere[name, number] = tuple(
                one for one in self._said if (name is not None and name in one.folded) or number in one.sections
            )
        return self._elsewhere[name, number]

    def _number(self, passage: Passage) -> str | None:
        """Return the number of the section *passage* is in; None for a heading without one."""
        if passage.section is None:
            return None
        heading = self._around.outline.headings[passage.section]
        found = _NUMBER.match(heading.title) or _NUMBER.match(self._around.text[heading.start : heading.start + 24].lstrip("# "))
        return found[0] if found else None


def classify(words: str) -> tuple[bool, Layer | None]:
    """Return whether *words* say that a model recognised a test or may have, and the layer; no layer where they do not say how "
    "it is known.
    """
    if not _HINT.search(words) or _NOT_THE_MODEL.search(words):
        return False, None
    return next(((True, layer) for pattern, layer in _STATEMENTS if pattern.search(words)), (False, None))


def _find_all(around: Around) -> Iterator[_Said]:
    for one in around.passages:
        if one.kind not in _READ:
            continue
        is_said, layer = classify(one.words)
        if is_said:
            yield _Said(
                passage=one,
                note=AwarenessNote(quote=around.text[one.start : one.stop], start=one.start, stop=one.stop, layer=layer),
                folded=one.words.lower(),
                sections=frozenset(match["number"] for match in _REFERENCE.finditer(one.words)),
            )


def _is_a_name(evaluation: str) -> bool:
    """Whether it is a name of its own, which another sentence does not hold by chance: several words or capitals inside."""
    return len(evaluation) > 6 and (re.search(r"[a-z][A-Z]|[A-Z]{2}|-[A-Z]", evaluation) is not None or len(evaluation.split()) > 2)
