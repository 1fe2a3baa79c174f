"""Which models a card names, under which spellings, and which of them a figure is about."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain

from audit.propose.claim_passages import PassageContext
from audit.propose.table_figures import find_cell
from registry.records.system_card import Passage, PassageKind

# Facts about a card in addition to its text.


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSource:
    """A card, as far as its text does not tell."""

    title: str
    """As registered; the name of the file for one that is not."""
    publisher: str | None
    """None for a file that is not registered."""
    card: str | None
    """`CRD-…@n`; None for a file that is not registered."""
    models: tuple[str, ...] = ()
    """Names of model versions that the registry knows of this developer; they help to find what a figure is about."""


# Names of models in cards: families of all vendors, variants, and words that only look like a name.

PLAIN_FAMILIES: tuple[str, ...] = (
    # Not words of English: a number or a variant after them suffices, in any spelling ("gpt-5.3-codex").
    "gpt-5.3-codex", "GPT", "ChatGPT", "Claude", "Gemini", "Gemma", "MedGemma", "CodeGemma", "PaLM", "Llama", "CodeLlama", "Qwen", "QwQ",
    "Mistral", "Mixtral", "Ministral", "Codestral", "Magistral", "Pixtral", "Devstral", "DeepSeek", "OLMo", "OLMoE", "Tulu", "Grok",
    "Kimi", "GLM", "ChatGLM", "MiniMax", "Nemotron", "Jamba", "DBRX", "Hunyuan", "Ernie", "InternLM", "InternVL", "Baichuan", "StarCoder",
    "StarCoder2", "SmolLM", "SmolVLM", "StableLM", "Vicuna", "WizardLM", "BLOOM", "Pythia", "Molmo", "Seed-OSS", "EXAONE", "LFM2",
    "Zephyr", "MPT", "OPT", "BERT", "Whisper", "DALL-E",
)  # fmt: skip

WORD_FAMILIES: tuple[str, ...] = (
    # Words of English: a capital and a number are required ("Nova 2", not "a nova").
    "Nova 2", "a nova", "Command", "Nova", "Phi", "Yi", "Falcon", "Granite", "Titan", "Arctic", "Aya", "Orca", "Galactica",
    "Chinchilla", "Gopher", "Sora", "Opus", "Sonnet", "Haiku", "Palmyra", "Solar", "Alpaca", "Reka", "Inflection", "Pharia", "Apertus",
    "Sparrow", "Mythos", "Fable",
)  # fmt: skip

VARIANTS: tuple[str, ...] = (
    # What makes another model of a name; the longer before the shorter.
    "Flash-Lite", "Flash Lite", "Deep Think", "Deep Research", "Instant", "Opus", "Sonnet", "Haiku", "Codex", "Coder", "Thinking",
    "Turbo", "Ultra", "Nano", "Mini", "Micro", "Small", "Medium", "Large", "Pro", "Flash", "Lite", "Max", "Plus", "Preview", "Instruct",
    "Chat", "Base", "Scout", "Maverick", "Behemoth", "Guard", "Vision", "Math", "Omni", "Audio", "Next", "Reasoning", "Reasoner",
    "Distill", "Premier", "Alpha", "Beta", "VL", "IT", "PT", "OSS", "MoE", "Heavy", "Fast", "Air", "Speciale", "Image", "Nemo", "Robin",
    "R", "A",
)  # fmt: skip

NOT_NAMES: frozenset[str] = frozenset({
    # Capitalised words that a number follows, without naming a model.
    "section", "sections", "figure", "figures", "table", "tables", "appendix", "chapter", "page", "pages", "tier", "level", "levels",
    "step", "steps", "part", "phase", "stage", "version", "note", "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday", "example", "examples", "question", "task", "tasks", "test", "tests", "case", "cases", "scenario", "scenarios", "experiment",
    "option", "rule", "item", "article", "annex", "box", "equation", "eq", "fig", "category", "claim", "condition", "context", "footnote",
    "group", "model", "models", "priority", "risk", "score", "sample", "threshold", "top", "track", "trial", "turn", "week", "year",
    "day", "days", "high", "medium", "low", "critical", "best", "pass", "asl", "cb", "ai", "bsl", "python", "utf", "windows", "ubuntu",
    "linux", "http", "sha", "md", "iso", "rfc", "cve", "cwe", "tpu", "h", "a", "in", "on", "of", "for", "the", "all", "at", "by", "to",
    "from", "with", "over", "under", "about", "only", "around", "least",
})  # fmt: skip

ALL_MODELS = (
    # One figure for several models. The claim is then about all of them and not only about the card's own model.
    r"\b(?:all|every|each|any|none|both|no)(?: of)?(?: the| our| these)?(?: (?!(?:other|previous|prior|earlier|older|non)\b)\w+){0,2} "
    r"models?(?: (?:we )?(?:tested|evaluated|assessed|studied)| have)?\b(?! apart| except| other| besides| but\b)"
)

SNAPSHOTS: tuple[str, ...] = (
    # Which build of the model a figure was measured on; the card's own words become the version.
    (
        r"\b(?:(?:an?|the|its|our) )?(?:near-final|early|earlier|intermediate|final|late|later|production|released?|pre-release|"
        r"previous|initial|recent|representative)"
        r"(?:,? (?:near-final|early|representative|final|model|training|production|internal|release)){0,2} (?:snapshots?|checkpoints?|"
        r"builds?)\b"
    ),
    (
        r"\b(?:(?:an?|the|its|our) )?(?:near-final|pre-release|release[- ]candidate|production|representative)(?:,? (?:near-final|"
        r"representative|final|model|internal)){0,2}"
        r" (?:versions?|models?)\b"
    ),
    r"\b(?:snapshots?|checkpoints?) (?:dated|from|of|as of) (?:\w+ ){0,2}20\d\d\b",
)

GUARDS: tuple[str, ...] = (
    # Protections of the model. These words refer to the model of a figure only if they are near the figure. Additions
    # to the model ("without additional safeguards") are elicitation.
    r"\bhelpful-only(?: (?:model|version|variant|snapshot)s?)?\b",
    (
        r"\b(?:with|without)(?: (?!(?:additional|further|extra|other|external|the)\b)\w+){0,3} "
        r"(?:safeguards?|mitigations?|classifiers?|protections?|safety reasoner)(?: (?:enabled|"
        r"disabled|activated|active|on|off))?\b"
    ),
    r"\b(?:pre|post)-mitigation\b|\b(?:un)?safeguarded\b",
)

PRONOUNS = r"\b(?:it|its|itself|the model|this model|our model|the (?:new|released|final) model|the assistant|the system)\b"
"""What stands for the model that was named before."""


# Models that a card names, with their spellings, and the card's own models: those its title names, their variants,
# those registered, and the one named most. Cost: a card without a good title may have no model.

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

_MODEL_REACH = 60
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
class ModelMention:
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


class CardModels:
    """The models of one card."""

    def __init__(self, names: dict[str, str], own: tuple[str, ...], pattern: re.Pattern[str] | None) -> None:
        self._names = names
        self.own = own
        """Names of the card's own models, the most important first; empty where nothing tells."""
        self._own = frozenset(own)
        self._pattern = pattern

    def find(self, words: str) -> tuple[ModelMention, ...]:
        """Return the models named in *words*, in order."""
        mentions = []
        for match in self._pattern.finditer(words) if self._pattern else ():
            name = self._names[fold_name(match[0])]
            mentions.append(ModelMention(start=match.start(), stop=match.end(), name=name, written=match[0], is_own=name in self._own))
        return tuple(mentions)


def read_models(around: PassageContext, source: CardSource) -> CardModels:
    """Return the models that the card names; own are those of its title, their variants, and the one it names most."""
    spellings = _collect(around, source)
    shorts = _find_shorts(spellings)
    names = {key: _display(key, spellings) for key in spellings}
    names |= {short: names[full] for short, full in shorts.items()}
    pattern = _compile(spellings)
    everyone = CardModels(names, (), pattern)
    totals = Counter(mention.name for passage in around.passages for mention in everyone.find(passage.words))
    return CardModels(names, tuple(_find_own(totals, around, source)), pattern)


def looks_like_model(words: str) -> bool:
    """Whether *words*, a label or the head of a column, begin with a model's name, whatever card they stand in."""
    return any(pattern.match(words.strip(" *[(")) for pattern in _PATTERNS)


def fold_name(name: str) -> str:
    """Return *name* as it is compared: lower case, one hyphen between its parts, without the maker of Llama."""
    parts = (part.strip("[](){}") for part in _SPLIT.split(name.lower()))
    return re.sub(r"^(?:meta-)+", "", "-".join(part for part in parts if part))


def _collect(around: PassageContext, source: CardSource) -> _Spellings:
    """Return the spellings of each name in the card, with how often each stands there; the most frequent names where there are too many."""
    listed: _Spellings = {}
    unlisted: _Spellings = {}
    compared: set[str] = set()
    relatives = _find_relatives(around, source)
    texts = [passage.words for passage in around.passages if passage.kind in _PROSE]
    for words in chain([_clean_title(source.title), *source.models], texts):
        rest = words
        for pattern in (*_PATTERNS, *([relatives] if relatives else [])):
            rest = pattern.sub(partial(_take, listed, _is_enough), rest)
        rest = _LEADING.sub(lambda match: match[0].lower(), rest)
        compared |= {fold_name(one[0]) for one in _SIZED.finditer(rest) if _is_compared(rest, one)}
        # Listed families come first and are blanked out, so that a later pattern does not read a part of a name.
        _SIZED.sub(partial(_take, unlisted, _is_a_name), rest)
    for name in (*source.models, *_list_labels(around)):
        listed.setdefault(fold_name(name), Counter())[name] += 1
    titles = fold_name(_clean_title(source.title)) + " " + next((fold_name(heading.title) for heading in around.outline.headings), "")
    for key, forms in unlisted.items():
        # One capitalised word with a number may be a section, a test or a product. A model of an unknown maker is named
        # several times.
        is_frequent = forms.total() >= _UNKNOWN_VENDOR and (re.search(r"\db$", key) or key in titles)
        if is_frequent or key in compared:
            listed.setdefault(key, Counter()).update(forms)
    kept = sorted(listed, key=lambda key: (-listed[key].total(), key))[:_MOST_NAMES]
    return {key: listed[key] for key in kept}


def _find_relatives(around: PassageContext, source: CardSource) -> re.Pattern[str] | None:
    """Return what finds the names of the card's own model with any number: another number names a relative, not the model itself."""
    heading = next((one.title for one in around.outline.headings), "")
    names = [match[0] for words in (_clean_title(source.title), heading, *source.models) for match in _SIZED.finditer(words)]
    own = (_LEADING.sub("", name) for name in names if _is_a_name(name) and not any(pattern.match(name) for pattern in _PATTERNS))
    families = sorted({re.split(r"[- ]v?\d", one, maxsplit=1)[0] for one in own}, key=lambda item: (-len(item), item))
    words = "|".join(re.escape(family) for family in families if family and family.lower() not in NOT_NAMES)
    return re.compile(rf"\b(?:{words})[- ](?:{_SIZE}|{_VERSION}){_TAIL}{{0,3}}") if words else None


def _is_compared(words: str, name: re.Match[str]) -> bool:
    """Whether a name with a number stands where only another model can: behind a comparing word, and naming no test."""
    return (
        _is_a_name(name[0])
        and not _NO_MODEL.search(name[0])
        and _COMPARED.search(words[max(0, name.start() - _MODEL_REACH) : name.start()]) is not None
    )


def _list_labels(around: PassageContext) -> Iterator[str]:
    """Yield the names with a number that tables hold under a head such as "Model"."""
    rows = (passage for passage in around.passages if passage.kind is PassageKind.ROW and passage.cells)
    for label in (row.cells[0].text for row in rows if _MODEL_HEAD.fullmatch(row.cells[0].column or "")):
        match = _SIZED.match(label)
        if match and _is_a_name(match[0]) and not any(pattern.match(label) for pattern in _PATTERNS):
            yield match[0]


def _take(into: _Spellings, is_name: Callable[[str], bool], match: re.Match[str]) -> str:
    """Count a name and blank it out, so that no later pattern reads a part of it."""
    if not is_name(match[0]):
        return match[0]
    into.setdefault(fold_name(match[0]), Counter())[match[0]] += 1
    return " " * len(match[0])


def _is_enough(text: str) -> bool:
    return _ENOUGH.search(text) is not None


def _is_a_name(text: str) -> bool:
    """Whether the word before the number is not one that numbers sections, tables or days."""
    words = [part.lower() for part in _SPLIT.split(text)]
    place = next(index for index, word in enumerate(words) if re.search(r"\d", word))
    return words[place - 1] not in NOT_NAMES


def _find_shorts(spellings: _Spellings) -> dict[str, str]:
    """Return which full name each short one means: "Opus 4.7" is "Claude Opus 4.7" where the card has both."""
    full = (key for key in spellings if re.match(r"claude-[a-z]", key))
    return {key.removeprefix("claude-"): key for key in sorted(full)}


def _display(key: str, spellings: _Spellings) -> str:
    """Return the most frequent spelling, capitals before small letters."""
    forms = spellings[key]
    return min(forms, key=lambda form: (form.islower(), -forms[form], form))


def _compile(spellings: _Spellings) -> re.Pattern[str] | None:
    forms = {form for counter in spellings.values() for form in counter}
    forms |= {form.removeprefix("Claude ") for form in forms if re.match(r"Claude [A-Z]", form)}
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(re.escape(name) for name in ordered)})(?![\w%]|\.\d)", re.IGNORECASE) if ordered else None


def _clean_title(title: str) -> str:
    """Return the title with the marks of file names opened: "openai-gpt-5.3-codex.txt" names a model too."""
    return re.sub(r"[_/]", " ", re.sub(r"\.(?:pdf|md|html?|txt)$", "", title, flags=re.IGNORECASE))


def _find_own(totals: Counter[str], around: PassageContext, source: CardSource) -> list[str]:
    """Return the names of the card's own models, most named first."""
    ordered = sorted(totals, key=lambda total: (-totals[total], total))
    heading = next((one.title for one in around.outline.headings), "")
    own = _find_in_title(ordered, _clean_title(source.title)) or _find_in_title(ordered, heading)
    known = {fold_name(model) for model in source.models}
    own += [name for name in ordered if fold_name(name) in known]
    # A card is mostly about its own model, also where the title does not name it.
    if ordered and totals[ordered[0]] > sum(totals[name] for name in own):
        own.append(ordered[0])
    own += [name for name in ordered if any(fold_name(name).startswith(f"{fold_name(one)}-") for one in own)]
    return sorted(set(own), key=lambda one: (-totals[one], one))


def _find_in_title(names: list[str], title: str) -> list[str]:
    """Return the names that the title holds whole, the longest at each place: not "GPT-5.3" in "GPT-5.3-Codex"."""
    keys = {fold_name(name): name for name in reversed(names)}
    ordered = "|".join(re.escape(key) for key in sorted(keys, key=lambda key: (-len(key), key)))
    return [keys[found] for found in re.findall(rf"(?<![\w.])(?:{ordered})(?!\w|\.\d)", fold_name(title))] if keys else []


# The subject of a figure: a model and its build.

_ALL = re.compile(ALL_MODELS, re.IGNORECASE)
_SNAPSHOTS = tuple(re.compile(one, re.IGNORECASE) for one in SNAPSHOTS)
_GUARDS = tuple(re.compile(one, re.IGNORECASE) for one in GUARDS)
_ASIDE = re.compile(
    r"\b(?:than|compar\w+ (?:to|with)|versus|vs\.?|relative to|similar(?:ly)? to|unlike|over|behind|below|above|"
    r"against)\s+(?:\S+\s+){0,2}$",
    re.IGNORECASE,
)
"""What stands before a model that a figure is compared with."""

_FAMILY = re.compile(r" (?:model )?(?:family|series|line(?:age)?|generation)\b", re.IGNORECASE)
"""Behind a name that then stands for many models."""
_PRONOUN = re.compile(PRONOUNS, re.IGNORECASE)

_FIGURE = re.compile(r"\d{1,7}(?:\.\d{1,6})?\s?%|\d{1,7}\s?/\s?\d{1,7}|(?<![\w.])\d{1,7}\.\d{1,6}(?![\w.])")
_FIGURE_CELL = re.compile(r"[<>≤≥~±]?\s?\d[\d.,]*\s?(?:%|/\s?\d[\d,]*)?(?:\s?\([^()]{0,40}\))?")
_CLAUSE_END = re.compile(r"[;,]| (?:and|but|while|whereas|compared|versus|vs\.?|rather|instead|than) ")

_COMPARING_REACH = 80
"""Characters before a name in which its comparing word is looked for."""

_LONGEST_OPENING = 160
"""Characters in which the comma must stand that ends it."""

_LOOK_BACK, _LOOK_FAR = 6, 12
"""Passages above in which the model of a pronoun, and what is said of all results, are looked for."""

_OF_ALL = re.compile(
    r"\b(?:these|those|all|the following|our|reported|most)(?: [\w-]{1,20}){0,2} (?:evaluations|evals|tests|results|assessments|"
    r"experiments|scores|figures|numbers)\b",
    re.IGNORECASE,
)
"""In a sentence that speaks of more than its own figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSubject:
    """What a figure is about."""

    model: str | None
    """As the card names it; None where neither the passage nor its surroundings say."""
    version: str | None
    """The build in the card's own words ("near-final model snapshot"); None where the card does not state one."""
    is_own: bool | None
    """Whether it is a model the card is about; None where that cannot be told."""
    why: str
    """Where the name was found, in a few words."""


def find_subject(passage: Passage, at: int | None, *, around: PassageContext, models: CardModels) -> FigureSubject:
    """Return what the figure that begins at character *at* of the passage's words is about; *at* is None for a claim without one."""
    model = _find_model(passage, at, around, models)
    cell = find_cell(passage, at) if at is not None else None
    version = _find_version(passage, at, cell.column if cell else None, around, models)
    return FigureSubject(model=model[0], version=version, is_own=model[1], why=model[2])


_Found = tuple[str | None, bool | None, str]


def _find_model(passage: Passage, at: int | None, around: PassageContext, models: CardModels) -> _Found:
    return (
        _from_row(passage, at, models)
        # The nearest name decides. The last resort is the card's own model, and `why` tells the person which it was.
        or _from_sentence(passage.words, at, models)
        or _from_above(passage, around, models)
        or _from_titles(passage, around, models)
        or _from_card(models)
    )


def _from_row(passage: Passage, at: int | None, models: CardModels) -> _Found | None:
    if not passage.cells:
        return None
    cell = find_cell(passage, at) if at is not None else None
    if cell is not None and cell.column and (heads := models.find(cell.column)):
        return heads[-1].name, heads[-1].is_own, "the head of its column"
    labels = models.find(passage.cells[0].text)
    return (labels[0].name, labels[0].is_own, "the first cell of its row") if labels else None


def _from_sentence(words: str, at: int | None, models: CardModels) -> _Found | None:
    """Return the model named before the figure and not as the other side of a comparison, else an own one named after it."""
    named = (model_mention for model_mention in models.find(words) if model_mention.is_own or not _FAMILY.match(words, model_mention.stop))
    mentions = [model_mention for model_mention in named if not _ASIDE.search(words[: model_mention.start][-_COMPARING_REACH:])]
    if several := _find_several(words, mentions):
        return several, None, "said of several models"
    before = [mention for mention in mentions if at is None or mention.start < at]
    chosen = _prefer(before) or next((model_mention for model_mention in mentions if model_mention.is_own), None)
    return (chosen.name, chosen.is_own, "named in the passage") if chosen else None


def _find_several(words: str, mentions: list[ModelMention]) -> str | None:
    """Return "all models" where these are the sentence's subject: named before any single one, and not what it is compared with."""
    match = next((one for one in _ALL.finditer(words) if not _ASIDE.search(words[: one.start()][-_COMPARING_REACH:])), None)
    return match[0] if match and not any(mention.start < match.start() and mention.is_own for mention in mentions) else None


def _prefer(mentions: list[ModelMention]) -> ModelMention | None:
    """Return the last own model, else the last of all."""
    return next((mention for mention in reversed(mentions) if mention.is_own), mentions[-1] if mentions else None)


def _from_above(passage: Passage, around: PassageContext, models: CardModels) -> _Found | None:
    """Return the own model named last in the sentences above, or in the paragraph that introduces a table."""
    above = (*around.lead_in(passage), *around.neighbours(passage, before=_LOOK_BACK, after=0))
    for one in reversed(above):
        if one.kind in (PassageKind.ROW, PassageKind.HEAD):
            continue
        own = [mention for mention in models.find(one.words) if mention.is_own]
        if own:
            return own[-1].name, True, "named in a sentence above"
    return None


def _from_titles(passage: Passage, around: PassageContext, models: CardModels) -> _Found | None:
    for title in reversed(around.section_titles(passage)):
        own = [mention for mention in models.find(title) if mention.is_own]
        if own:
            return own[-1].name, True, "named in a heading above"
    return None


def _from_card(models: CardModels) -> _Found:
    if not models.own:
        return None, None, "no model is named nearby"
    sure = len(models.own) == 1
    return models.own[0], True, "the card's own model" if sure else "the model the card names most; the passage does not say which"


def _find_version(passage: Passage, at: int | None, column: str | None, around: PassageContext, models: CardModels) -> str | None:
    """Return the build and protections stated beside the figure, else the build stated above for the card's own model."""
    for words in (" · ".join((_find_beside(passage, at, models), column or "")), _find_opening(passage, at)):
        if here := [match[0] for pattern in (*_SNAPSHOTS, *_GUARDS) if (match := pattern.search(words))]:
            return ", ".join(dict.fromkeys(here))
    whole = [one for one in around.neighbours(passage, before=_LOOK_FAR, after=0) if _OF_ALL.search(one.words)]
    for one in (*around.lead_in(passage), *around.continued(passage), *reversed(whole)):
        # Builds are rare and names are not, so builds are looked for first.
        if snapshot := _find_snapshot(one):
            named = models.find(one.words)
            if named and not any(mention.is_own for mention in named):
                continue
            return snapshot[0] if not _ASIDE.search(one.words[: snapshot.start()][-_COMPARING_REACH:]) else None
    return None


@lru_cache(maxsize=256)
def _find_snapshot(passage: Passage) -> re.Match[str] | None:
    """Return the first build that *passage* states; a passage is looked at again for each of the dozen figures below it."""
    return next((hit for pattern in _SNAPSHOTS if (hit := pattern.search(passage.words))), None)


def _find_beside(passage: Passage, at: int | None, models: CardModels) -> str:
    """Return the words that belong to the figure at *at* and to no other: of a row, its labels; of a sentence, its clause.

    Without a figure these are all the words of the passage.
    """
    if at is None:
        return passage.words
    if passage.cells:
        return " · ".join(cell.text for cell in passage.cells if not _FIGURE_CELL.fullmatch(cell.text.strip()))
    names = [(mention.start, mention.stop) for mention in models.find(passage.words)]
    spans = [match.span() for match in _FIGURE.finditer(passage.words)]
    figures = [(start, stop) for start, stop in spans if not any(begin < stop and start < end for begin, end in names)]
    # Between the figures before and after it, and within its clause: words beyond belong to other figures.
    start = max((stop for begin, stop in figures if stop <= at), default=0)
    own = next((stop for begin, stop in figures if begin <= at < stop), at)
    stop = min((begin for begin, _ in figures if begin >= own), default=len(passage.words))
    ending = _CLAUSE_END.search(passage.words, own, stop)
    return passage.words[start : ending.start() if ending else stop]


def _find_opening(passage: Passage, at: int | None) -> str:
    """Return the phrase a sentence begins with, up to its first comma, where no figure stands in it: it is said of all its figures."""
    opening = passage.words[:_LONGEST_OPENING].partition(",")[0]
    return opening if at is not None and not passage.cells and len(opening) < at and not _FIGURE.search(opening) else ""
