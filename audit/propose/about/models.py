"""Which models a card names, under how many spellings, and which of them are its own."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from audit.propose.about.around import Around
from audit.propose.about.model_names import NOT_NAMES, PLAIN_FAMILIES, VARIANTS, WORD_FAMILIES
from audit.propose.source import Source
from registry.records.passage import PassageKind

_VARIANT = "|".join(re.escape(one) for one in VARIANTS)
_SIZE = r"(?:(?:\d{1,2}x)?\d{1,4}(?:\.\d{1,2})?[Bb](?:x\d{1,4}E)?|\d{2,4}M)\b"
_VERSION = r"v?\d{1,3}(?:\.\d{1,3}){0,2}(?:[a-z](?![a-z]))?(?![\w%/×]|\.\d|\s?%)"
_CHAINED = (
    r"-(?!(?:based|style|class|like|level|generated|powered|era|written|family|series|specific|only|derived|trained|assisted|judged|graded|"
    r"evaluation)\b)\w{1,15}(?:\.\d{1,2})?"
)
_TAIL = rf"(?:[- ]?(?:{_SIZE}|(?:{_VARIANT})\b)|{_CHAINED})"
"""What may follow family and version: variants, and what hangs on by a hyphen. A number after a space belongs to the sentence or
the next cell."""
_PLAIN = re.compile(
    rf"\b(?:{'|'.join(re.escape(one) for one in PLAIN_FAMILIES)})"
    rf"(?:[- ]?{_SIZE}|[- ]?\s?{_VERSION}|[- ][A-Z]\d{{1,2}}(?:\.\d)?(?![\w.]\d)|"
    rf"[- ](?:{_VARIANT})\b(?:[- ]{_VERSION})?|(?=-?\d)){_TAIL}{{0,5}}",
    re.IGNORECASE,
)
_CLAUDE = re.compile(rf"\bClaude (?:[A-Z][a-z]{{2,12}} (?:{_VERSION}|Preview\b)|{_VERSION} [A-Z][a-z]{{2,12}}\b)")
_WORDS = re.compile(rf"\b(?:{'|'.join(WORD_FAMILIES)})[- ]{_VERSION}{_TAIL}{{0,3}}")
_SERIES = re.compile(r"\bo[1-9](?:[- ](?:mini|pro|preview|high|medium|low|deep-research))?(?![\w.%]|-\w)")
_SIZED = re.compile(rf"\b[A-Z][A-Za-z]{{1,14}}(?:[- ][A-Z][A-Za-z]{{1,14}}){{0,2}}[- ](?:{_SIZE}|{_VERSION}){_TAIL}{{0,3}}")
_PATTERNS = (_CLAUDE, _PLAIN, _WORDS, _SERIES)
_ENOUGH = re.compile(r"\d|\b(?:Preview|Ultra|Large|Medium|Small|Instant)\b")
"""A family's name alone is no model; with one of these it is."""
_SPLIT = re.compile(r"[\s_-]+")

_Spellings = dict[str, Counter[str]]
"""By folded name: how often each spelling stands in the card."""

_MOST_NAMES = 300
"""More names than any card has; a text made of names must not make one search of thousands."""

_MODEL_HEAD = re.compile(r"\W*models?(?: names?)?\W*", re.IGNORECASE)
"""Head of a column whose cells are names of models, also of a maker not listed."""

_REACH = 60
"""Characters before a name in which its comparing word is looked for."""

_UNKNOWN_VENDOR = 3
"""How often a capitalised name with a number must stand in a card to be taken for a model of a maker not listed."""

_COMPARED = re.compile(
    r"\b(?:than|unlike|versus|vs\.?|over|from|outperform\w*|exceed\w*|match\w*|(?:compar\w*|relative|similar(?:ly)?|equivalent|contrast|predecessor)"
    r"(?: \w+)? (?:to|with)|predecessor,?|like)(?: (?:the|its|our|older|earlier|previous|both|that of))* $|"
    r"\d\s?% for $",
    re.IGNORECASE,
)
"""What stands before a name that something is compared with: one such name and number is enough."""
_LEADING = re.compile(
    r"^\W*(?:(?:The|System|Model|Card|Technical|Report|Addendum|While|Whereas|Unlike|Like|Both|For|In|On|With|Than|But|And)[- ])+"
)
"""Capitalised words before a name that are no part of it."""
_NO_MODEL = re.compile(r"Bench|Arena|Eval|CTF|QA\b|Criterion|Suite", re.IGNORECASE)
"""Names with a number that tests and their parts bear."""

_PROSE = frozenset(
    {
        PassageKind.SENTENCE,
        PassageKind.ITEM,
        PassageKind.ROW,
        PassageKind.HEAD,
        PassageKind.HEADING,
        PassageKind.CAPTION,
        PassageKind.FOOTNOTE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One model named in a passage."""

    start: int
    """First character in the words of the passage."""
    stop: int
    name: str
    """The model's name in the card's most frequent full spelling."""
    written: str
    """As it stands there."""
    is_own: bool
    """Whether it is a model the card is about."""


class Models:
    """The models of one card."""

    def __init__(self, names: dict[str, str], own: tuple[str, ...], pattern: re.Pattern[str] | None) -> None:
        self._names = names
        self.own = own
        """Names of the card's own models, the most important first; empty where nothing tells."""
        self._own = frozenset(own)
        self._pattern = pattern

    def find(self, words: str) -> tuple[Mention, ...]:
        """Return the models named in *words*, in order."""
        found = []
        for match in self._pattern.finditer(words) if self._pattern else ():
            name = self._names[fold_name(match[0])]
            found.append(Mention(start=match.start(), stop=match.end(), name=name, written=match[0], is_own=name in self._own))
        return tuple(found)


def read_models(around: Around, source: Source) -> Models:
    """Return the models that the card names; own are those of its title, their variants, and the one it names most."""
    spellings = _collect(around, source)
    shorts = _find_shorts(spellings)
    names = {key: _display(key, spellings) for key in spellings}
    names |= {short: names[full] for short, full in shorts.items()}
    pattern = _compile(spellings)
    everyone = Models(names, (), pattern)
    totals = Counter(mention.name for one in around.passages for mention in everyone.find(one.words))
    return Models(names, tuple(_find_own(totals, around, source)), pattern)


def looks_like_model(words: str) -> bool:
    """Whether *words*, a label or the head of a column, begin with a model's name, whatever card they stand in."""
    return any(pattern.match(words.strip(" *[(")) for pattern in _PATTERNS)


def fold_name(name: str) -> str:
    """Return *name* as it is compared: lower case, one hyphen between its parts, without the maker of Llama."""
    parts = (part.strip("[](){}") for part in _SPLIT.split(name.lower()))
    return re.sub(r"^(?:meta-)+", "", "-".join(part for part in parts if part))


def _collect(around: Around, source: Source) -> _Spellings:
    """Return the spellings of each name in the card, with how often each stands there; the most frequent names where there are too many."""
    listed: _Spellings = {}
    unlisted: _Spellings = {}
    compared: set[str] = set()
    relatives = _find_relatives(around, source)
    texts = [one.words for one in around.passages if one.kind in _PROSE]
    for words in chain([_clean_title(source.title), *source.models], texts):
        rest = words
        for pattern in (*_PATTERNS, *([relatives] if relatives else [])):
            rest = pattern.sub(partial(_take, listed, _is_enough), rest)
        rest = _LEADING.sub(lambda match: match[0].lower(), rest)
        compared |= {fold_name(one[0]) for one in _SIZED.finditer(rest) if _is_compared(rest, one)}
        _SIZED.sub(partial(_take, unlisted, _is_a_name), rest)
    for name in (*source.models, *_list_labels(around)):
        listed.setdefault(fold_name(name), Counter())[name] += 1
    titles = fold_name(_clean_title(source.title)) + " " + next((fold_name(one.title) for one in around.outline.headings), "")
    for key, forms in unlisted.items():
        is_frequent = forms.total() >= _UNKNOWN_VENDOR and (re.search(r"\db$", key) or key in titles)
        if is_frequent or key in compared:
            listed.setdefault(key, Counter()).update(forms)
    kept = sorted(listed, key=lambda key: (-listed[key].total(), key))[:_MOST_NAMES]
    return {key: listed[key] for key in kept}


def _find_relatives(around: Around, source: Source) -> re.Pattern[str] | None:
    """Return what finds the names of the card's own model with any number: another number names a relative, not the model itself."""
    heading = next((one.title for one in around.outline.headings), "")
    names = [found[0] for words in (_clean_title(source.title), heading, *source.models) for found in _SIZED.finditer(words)]
    own = (_LEADING.sub("", one) for one in names if _is_a_name(one) and not any(pattern.match(one) for pattern in _PATTERNS))
    families = sorted({re.split(r"[- ]v?\d", one, maxsplit=1)[0] for one in own}, key=lambda one: (-len(one), one))
    words = "|".join(re.escape(one) for one in families if one and one.lower() not in NOT_NAMES)
    return re.compile(rf"\b(?:{words})[- ](?:{_SIZE}|{_VERSION}){_TAIL}{{0,3}}") if words else None


def _is_compared(words: str, name: re.Match[str]) -> bool:
    """Whether a name with a number stands where only another model can: behind a comparing word, and naming no test."""
    return (
        _is_a_name(name[0])
        and not _NO_MODEL.search(name[0])
        and _COMPARED.search(words[max(0, name.start() - _REACH) : name.start()]) is not None
    )


def _list_labels(around: Around) -> Iterator[str]:
    """Yield the names with a number that tables hold under a head such as "Model"."""
    rows = (one for one in around.passages if one.kind is PassageKind.ROW and one.cells)
    for label in (row.cells[0].text for row in rows if _MODEL_HEAD.fullmatch(row.cells[0].column or "")):
        found = _SIZED.match(label)
        if found and _is_a_name(found[0]) and not any(pattern.match(label) for pattern in _PATTERNS):
            yield found[0]


def _take(into: _Spellings, is_name: Callable[[str], bool], match: re.Match[str]) -> str:
    """Count a name and blank it out, so that no later pattern reads a part of it."""
    if not is_name(match[0]):
        return match[0]
    into.setdefault(fold_name(match[0]), Counter())[match[0]] += 1
    return " " * len(match[0])


def _is_enough(written: str) -> bool:
    return _ENOUGH.search(written) is not None


def _is_a_name(written: str) -> bool:
    """Whether the word before the number is not one that numbers sections, tables or days."""
    words = [part.lower() for part in _SPLIT.split(written)]
    place = next(index for index, word in enumerate(words) if re.search(r"\d", word))
    return words[place - 1] not in NOT_NAMES


def _find_shorts(spellings: _Spellings) -> dict[str, str]:
    """Return which full name each short one means: "Opus 4.7" is "Claude Opus 4.7" where the card has both."""
    full = (key for key in spellings if re.match(r"claude-[a-z]", key))
    return {key.removeprefix("claude-"): key for key in sorted(full)}


def _display(key: str, spellings: _Spellings) -> str:
    """Return the most frequent spelling, capitals before small letters."""
    forms = spellings[key]
    return min(forms, key=lambda one: (one.islower(), -forms[one], one))


def _compile(spellings: _Spellings) -> re.Pattern[str] | None:
    forms = {form for counter in spellings.values() for form in counter}
    forms |= {form.removeprefix("Claude ") for form in forms if re.match(r"Claude [A-Z]", form)}
    ordered = sorted(forms, key=lambda one: (-len(one), one))
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(re.escape(one) for one in ordered)})(?![\w%]|\.\d)", re.IGNORECASE) if ordered else None


def _clean_title(title: str) -> str:
    """Return the title with the marks of file names opened: "openai-gpt-5.3-codex.txt" names a model too."""
    return re.sub(r"[_/]", " ", re.sub(r"\.(?:pdf|md|html?|txt)$", "", title, flags=re.IGNORECASE))


def _find_own(totals: Counter[str], around: Around, source: Source) -> list[str]:
    """Return the names of the card's own models, most named first."""
    ordered = sorted(totals, key=lambda one: (-totals[one], one))
    heading = next((one.title for one in around.outline.headings), "")
    own = _find_in_title(ordered, _clean_title(source.title)) or _find_in_title(ordered, heading)
    known = {fold_name(model) for model in source.models}
    own += [name for name in ordered if fold_name(name) in known]
    if ordered and totals[ordered[0]] > sum(totals[name] for name in own):
        own.append(ordered[0])
    own += [name for name in ordered if any(fold_name(name).startswith(f"{fold_name(one)}-") for one in own)]
    return sorted(set(own), key=lambda one: (-totals[one], one))


def _find_in_title(names: list[str], title: str) -> list[str]:
    """Return the names that the title holds whole, the longest at each place: not "GPT-5.3" in "GPT-5.3-Codex"."""
    keys = {fold_name(name): name for name in reversed(names)}
    ordered = "|".join(re.escape(key) for key in sorted(keys, key=lambda one: (-len(one), one)))
    return [keys[found] for found in re.findall(rf"(?<![\w.])(?:{ordered})(?!\w|\.\d)", fold_name(title))] if keys else []
