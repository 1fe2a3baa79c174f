"""Words whose change turns what a passage says, although no figure changed: negations, their opposites, how far it holds, names."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from registry.intake.revision.spelling import fold_spelling
from registry.intake.revision.words import read_words

_NEGATIONS = frozenset(
    ("not", "no", "never", "non", "none", "neither", "nor", "without", "cannot", "hardly", "rarely", "seldom", "few", "failed", "unable")
)
_ALSO_NEGATE = frozenset(
    ("nothing", "nobody", "nowhere", "barely", "scarcely", "fail", "fails", "failing", "failure", "lack", "lacks", "lacked", "lacking")
)
"""Negations of what follows or of the whole, which turn a passage only where they stand in it."""
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "de")
"""Before a word that stands on the other side, they make its opposite: able, unable."""
_SCOPES = (
    # holds everywhere
    frozenset("all always every everyone each any entirely completely fully invariably universally wholly only must".split()),  # noqa: SIM905
    # holds for more than half, or is said to be usual
    frozenset("most mostly majority usually generally typically often frequently largely mainly many".split()),  # noqa: SIM905
    # holds somewhere
    frozenset("some sometimes several occasionally partly partially".split()),  # noqa: SIM905
    # is not said for certain
    frozenset("may might could possibly perhaps potentially probably likely presumably apparently seems appears suggests".split()),  # noqa: SIM905
)
"""How far a statement holds: a word more or less of one of these kinds makes another statement."""
_OPPOSITES = tuple(
    (re.compile(rf"^(?:{ours})$"), re.compile(rf"^(?:{theirs})$"))
    for ours, theirs in (
        # which way it went
        (
            r"increas\w*|ris(?:e|es|en|ing)|rose|gr(?:ow|ows|ew|own|owth|owing)|higher|highest|more|greater|larger|gain\w*",
            r"decreas\w*|reduc\w*|declin\w*|f(?:all|alls|ell|allen|alling)|drop\w*|lower\w*|lowest|less|fewer|smaller|los(?:s|ses|t)",
        ),
        (
            r"improv\w*|better|best|outperform\w*|strong(?:er|est)?",
            r"worse\w*|worst|degrad\w*|deteriorat\w*|underperform\w*|weak(?:er|est)?",
        ),
        # on which side of a limit
        (r"above|exceed\w*|over|surpass\w*|minimum|least|beyond", r"below|under|beneath|maximum|most|within"),
        # how it ended
        (
            r"accept\w*|compl(?:y|ies|ied|iance)|agree\w*|allow\w*|permit\w*",
            r"refus\w*|reject\w*|declin\w*|prohibit\w*|forbid\w*|den(?:y|ies|ied)",
        ),
        (r"succe\w*|pass(?:es|ed|ing)?", r"fail\w*"),
        (r"true|correct\w*|right", r"false|wrong\w*"),
        (r"present|presence|with|includ\w*", r"absent|absence|without|exclud\w*"),
        (r"enabl\w*|on", r"disabl\w*|off"),
        (r"before|prior|pre", r"after|post|following"),
        (r"safe\w*|harmless|benign", r"danger\w*|harmful|malicious"),
    )
)
"""Words of which one in place of the other turns a statement, each side as a pattern of whole folded words."""
_BEGINNINGS = frozenset(
    "the a an this that these those we our it its they their he she his her in on at for of to with without when where while if as by from "  # noqa: SIM905
    "after before during over under all some most each every no not none both however also although because since and but or there here "
    "one two three overall finally moreover furthermore additionally thus therefore further such many few any".split()
)
"""Words that have a capital because a sentence begins with them, and are no names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One change of sense."""

    what: str
    """What changed, such as "a negation"."""
    words: str
    """The words of it, as "unable → able"; "nothing" stands for none."""

    def __str__(self) -> str:
        return f"{self.what} changed: {self.words}"


def is_negation(word: str) -> bool:
    """Return whether *word* negates what follows it."""
    return word.casefold() in _NEGATIONS or word.endswith("n't")


def find_turns(old: str, new: str) -> tuple[Turn, ...]:
    """Return the words in which two passages differ and that make another statement of it; empty where none was found.

    Negations and opposites are compared where they stand, since a "not" may move; how far it holds and names in the passage as a whole.
    That nothing is found does not say that both mean the same.
    """
    words = [list(words.words) for words in read_words(old, new)]
    runs = list(_find_runs(*words))
    negations = [_tell(left, right) for left, right in map(_compare_negations, runs) if left or right]
    opposites = [told for run in runs for told in _find_opposites(run)]
    scopes = [told for kind in _SCOPES if (told := _compare_whole(words, kind.__contains__))]
    names = _compare_names(runs, words)
    groups = (("a negation", negations), ("an opposite", opposites), ("how far it holds", scopes), ("a name", [names] if names else []))
    return tuple(Turn(what=what, words=told) for what, found in groups for told in dict.fromkeys(found))


_Run = tuple[Sequence[str], Sequence[str]]


def _find_runs(old: Sequence[str], new: Sequence[str]) -> Iterable[_Run]:
    """Yield the words that took each other's place; one side may be empty."""
    a = c = 0
    ours, theirs = ([fold_spelling(word) for word in words] for words in (old, new))
    for block in LCSseq.opcodes(ours, theirs).as_matching_blocks():
        if block.a > a or block.b > c:
            yield old[a : block.a], new[c : block.b]
        a, c = block.a + block.size, block.b + block.size


def _compare_negations(run: _Run) -> tuple[list[str], list[str]]:
    """Return the negating words of both sides of a run, none where both have as many."""
    sides = [[fold_spelling(word) for word in words] for words in run]
    ours, theirs = ([word for word in words if is_negation(word) or word in _ALSO_NEGATE] for words in sides)
    for mine, yours, negated, bare in ((sides[0], sides[1], ours, theirs), (sides[1], sides[0], theirs, ours)):
        pairs = [(word, word.removeprefix(prefix)) for word in mine for prefix in _PREFIXES if word.startswith(prefix)]
        negated.extend(word for word, rest in pairs if rest in yours and word not in negated)
        bare.extend(rest for _, rest in pairs if rest in yours)
    is_prefixed = any(not (is_negation(word) or word in _ALSO_NEGATE) for word in (*ours, *theirs))
    return (ours, theirs) if is_prefixed or len(ours) != len(theirs) else ([], [])


def _find_opposites(run: _Run) -> Iterable[str]:
    sides = [[fold_spelling(word) for word in words] for words in run]
    for first, second in _OPPOSITES:
        for one, other in ((first, second), (second, first)):
            left = [word for word in sides[0] if one.match(word)]
            right = [word for word in sides[1] if other.match(word)]
            kept = any(one.match(word) for word in sides[1]) and any(other.match(word) for word in sides[0])
            if left and right and not kept:
                yield _tell(left, right)


def _compare_whole(words: Sequence[Sequence[str]], is_wanted: Callable[[str], bool]) -> str | None:
    before, after = (Counter(folded for word in side if is_wanted(folded := fold_spelling(word))) for side in words)
    left, right = before - after, after - before
    if sum(left.values()) == sum(right.values()):
        return None  # another word of the same kind: "always" for "in all cases"
    return _tell(left.elements(), right.elements())


def _compare_names(runs: Sequence[_Run], words: Sequence[Sequence[str]]) -> str | None:
    """Return the names of which one took the place of another; None where none did."""
    folded = [{fold_spelling(word) for word in side} for side in words]
    left = [word for ours, _ in runs for word in ours if _is_name(word) and fold_spelling(word) not in folded[1]]
    right = [word for _, theirs in runs for word in theirs if _is_name(word) and fold_spelling(word) not in folded[0]]
    return _tell(left, right) if left and right else None


def _is_name(word: str) -> bool:
    return any(character.isupper() for character in word) and fold_spelling(word) not in _BEGINNINGS


def _tell(before: Iterable[str], after: Iterable[str]) -> str:
    return f"{' '.join(before) or 'nothing'} → {' '.join(after) or 'nothing'}"
