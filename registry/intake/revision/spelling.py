"""Whether words differ in spelling alone, or say something else.

A word with a digit in it is never a matter of spelling, nor is a negation, a plural, or another real word. A typing error is taken
for one only where one of the two is no English word.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from rapidfuzz.distance import OSA, LCSseq

from registry.intake.rules import SOFT_SPACE

_SHORTEST_TYPO = 5
_AMERICAN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # behaviour, favourite, coloured; four letters and fewer ("four", "tour") are other words
        (r"^(\w{3,})our(s|ed|ing|ings|able|ably|al|ally|ful|ite|ites|er|ers|less|hood)?$", r"\1or\2"),
        # generalise, analysed, organisation
        (r"^(\w{3,})is(e|es|ed|er|ers|ing|able|ation|ations|ational)$", r"\1iz\2"),
        (r"^(\w{3,})ys(e|es|ed|er|ers|ing)$", r"\1yz\2"),
        # modelling, labelled, signalled: of words whose last syllable is not stressed
        (r"^(\w{3,}(?:el|al|ol|il))l(ed|ing|ings|er|ers)$", r"\1\2"),
        (r"^(fu|du|di)(el|al)l(ed|ing|er|ers)$", r"\1\2\3"),
        # centre, metre, theatre
        (r"^(cent|met|kilomet|millimet|theat|fib|lit|calib|spect|somb|meag)re(s|d)?$", r"\1er\2"),
        # defence, licence
        (r"^(defen|offen|licen|preten)ce(s|d|less)?$", r"\1se\2"),
        (r"^practis(e|es|ed|ing)$", r"practic\1"),
        # catalogue, dialogue
        (r"^(catal|dial|anal|monol|epil|prol)ogue?(s|d)?$", r"\1og\2"),
        # sceptical, grey, programme, judgement, ageing, artefact, fulfil
        (r"^scep(tic\w*)$", r"skep\1"),
        (r"^gr[ae]y(s|ed|ing|er)?$", r"gray\1"),
        (r"^programme(s)?$", r"program\1"),
        (r"^((?:mis)?judg|acknowledg)ement(s)?$", r"\1ment\2"),
        (r"^ageing$", "aging"),
        (r"^artefact(s|ual)?$", r"artifact\1"),
        (r"^(fulfil|enrol|instal|skil|wil)l?(s|ment|ments|ful|fully)?$", r"\1l\2"),
        (r"^(learn|burn|spell|dream|lean)t$", r"\1ed"),
        (r"^(toward|backward|forward|afterward|upward|downward)s$", r"\1"),
        (r"^(whil|among|amid)st$", r"\1"),
        (r"^(an|p)ae(\w{3,})$", r"\1e\2"),
        (r"^(alumin)ium$", r"\1um"),
        (r"^(cosy|tyre|sulphur\w*|plough\w*|cheque\w*|mould\w*|moult\w*)$", r"\1"),
    )
)
"""British spellings and what American ones make of them, in order; the first that fits is applied. Where two real words would fall
together ("filled" and "filed"), a rule leaves them alone."""
_SAME = {"&": "and", "\u00a7": "section", "percent": "%", "maths": "math"}
"""Other ways to write the same word."""
_GROUPED = re.compile(r"^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_APART = frozenset(["a", "an", "in", "no", "un", "im", "dis", "all", "any", "some", "every", "may"])
"""Words that make another word with the one after them: "a typical" is not "atypical", nor "may be" "maybe"."""


@cache
def fold_spelling(word: str) -> str:
    """Return *word* as all its spellings are folded to: small letters, American, digits without grouping commas.

    A word with digits keeps its case: "5M" is not "5m".
    """
    word = word.replace(SOFT_SPACE, "")
    if any(character.isdigit() for character in word):
        plain = word.replace(",", "") if _GROUPED.match(word) else word
        return re.sub(r"^(-?)\.", r"\g<1>0.", plain)
    small = word.casefold()
    if small in _SAME:
        return _SAME[small]
    for pattern, replacement in _AMERICAN:
        found = pattern.match(small)
        if found:
            return found.expand(replacement)
    return small


def find_spelling(old: Sequence[str], new: Sequence[str], counts: Counter[str]) -> tuple[str, ...] | None:
    """Return the differences of spelling between *old* and *new*, as "colour → color"; None if they differ in more than that.

    Args:
        counts: how often each folded word stands in both texts together; what is used again and again is a term and no typing error.
    """
    found: dict[str, None] = {}
    for ours, theirs in _find_runs(old, new):
        left, right = ([fold_spelling(word) for word in words] for words in (ours, theirs))
        is_spaced = any(SOFT_SPACE in word for word in (*ours, *theirs))
        if left != right and not (is_spaced and "".join(left) == "".join(right)) and not _is_same_run(left, right, counts):
            return None
        before, after = (" ".join(words).replace(SOFT_SPACE, "") for words in (ours, theirs))
        if before != after and not is_spaced:
            found[f"{before} → {after}"] = None
    return tuple(found)


def _find_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the words that correspond: one by one where they are folded alike, in runs where they are not."""
    ours, theirs = [fold_spelling(word) for word in old], [fold_spelling(word) for word in new]
    a = c = 0
    for block in LCSseq.opcodes(ours, theirs).as_matching_blocks():
        if block.a > a or block.b > c:
            yield old[a : block.a], new[c : block.b]
        yield from (([left], [right]) for left, right in zip(old[block.a :][: block.size], new[block.b :][: block.size], strict=True))
        a, c = block.a + block.size, block.b + block.size


def _is_same_run(ours: list[str], theirs: list[str], counts: Counter[str]) -> bool:
    """Whether two runs of folded words are the same words written together, apart, or with a typing error."""
    if not (ours and theirs) or any(character.isdigit() for word in (*ours, *theirs) for character in word):
        return False
    if "".join(ours) == "".join(theirs):
        return ours[0] not in _APART and theirs[0] not in _APART
    return len(ours) == len(theirs) and all(
        left == right or _is_typo(left, right, counts) for left, right in zip(ours, theirs, strict=True)
    )


def _is_typo(left: str, right: str, counts: Counter[str]) -> bool:
    """Whether one of two words of five letters or more is the other with one letter wrong, and no word of its own."""
    if min(len(left), len(right)) < _SHORTEST_TYPO or not (left.isalpha() and right.isalpha()) or OSA.distance(left, right) != 1:
        return False
    if left[0] != right[0] or left[:-1] == right or right[:-1] == left or left[:-1] == right[:-1]:
        return False  # "atypical", "models", "tested" and "tester": the ends of a word carry its meaning
    known = [_is_word(one) for one in (left, right)]
    unknown = right if known[0] else left
    return known[0] != known[1] and counts[unknown] <= 2


@cache
def _load_dictionary() -> frozenset[str]:
    from spellchecker import SpellChecker  # noqa: PLC0415  (0.2 s, needed where two words are one letter apart)

    return frozenset(SpellChecker(language="en").word_frequency.dictionary)


def _is_word(word: str) -> bool:
    return word in _load_dictionary()
