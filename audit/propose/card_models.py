"""Which models a card names, under which spellings, and which of them the card is about."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from audit.propose.passage_context import PassageContext
from audit.propose.vocabulary import read_words
from registry.records.system_card import PassageKind


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
    """Names of model versions that the registry knows of this developer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMention:
    """One model named in a text."""

    start: int
    """First character in the text."""
    stop: int
    name: str
    """The model's name in the card's most frequent full spelling."""
    written: str
    is_own: bool | None
    """Whether it is a model the card is about; None where the card does not say which one that is, and for its family with other sizes."""


# A name is a family of the table with a version, size or variant; or the card's own name with another number; or the
# label of a row under a head such as "Model". Cost: a model of an unlisted maker that only prose names is not seen.

_VARIANT = "|".join(re.escape(word) for word in read_words("families", "variant"))
_SIZE = r"(?:A?(?:\d{1,2}x)?\d{1,4}(?:\.\d{1,2})?[Bb](?:x\d{1,4}E)?|\d{2,4}M)\b"
_VERSION = r"v?\d{1,3}(?:\.\d{1,3}){0,2}(?:[a-z](?![a-z]))?(?![\w%/×]|\.\d|\s?%)"
_CHAINED = (
    r"-(?!(?:based|style|class|like|level|generated|powered|era|written|family|series|specific|only|derived|trained|assisted|judged|graded|"
    r"evaluation)\b)\w{1,15}(?:\.\d{1,2})?"
)
_STAGE = "SFT|DPO|RM|ORPO|KTO"
"""Stages of training: what is named after one is a model on the way to the card's."""
_STAGED = re.compile(rf"-(?:{_STAGE})$", re.IGNORECASE)
_TAIL = rf"(?:[- ]?{_SIZE}|[- ](?:{_VARIANT}|mini|nano|pro|lite|flash|turbo|{_STAGE})(?![\w-])|{_CHAINED})"
_PLAIN = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(map(re.escape, read_words('families', 'plain')))})"
    rf"(?:[- ]?{_SIZE}|[- ]?\s?{_VERSION}|[- ][A-Z]\d{{1,2}}(?:\.\d)?(?!\w|\.\d)|[- ](?:{_VARIANT})\b(?:[- ]{_VERSION})?"
    rf"|(?=-?\d)){_TAIL}{{0,5}}",
    re.IGNORECASE,
)
_CLAUDE = re.compile(rf"\bClaude (?:[A-Z][a-z]{{2,12}} (?:{_VERSION}|Preview\b)|{_VERSION} [A-Z][a-z]{{2,12}}\b)")
_WORDS = "|".join(map(re.escape, read_words("families", "word")))
_WORD = re.compile(rf"\b(?:(?:{_WORDS})[- ](?:[A-Z]?(?:{_SIZE}|{_VERSION})|Preview\b)|(?<!-)(?i:{_WORDS})-{_VERSION}){_TAIL}{{0,3}}")
"""A word of English is a name with a capital, or with a hyphen: "Phi 4", "phi-4"."""
_SERIES = re.compile(
    r"(?<![\w.-])(?:OpenAI[- ])?o[1-9](?:[- ](?:\d{4}(?!\d)|mini|pro|preview|high|medium|low|deep-research))?(?![\w.%]|-\w)"
)
_SIZED = re.compile(rf"\b[A-Z][A-Za-z]{{1,14}}(?:[- ][A-Z][A-Za-z]{{1,14}}){{0,2}}[- ][A-Z]?(?:{_SIZE}|{_VERSION}){_TAIL}{{0,3}}")
_JOINED = re.compile(rf"[A-Z][A-Za-z]{{2,14}}\d{{1,2}}(?:\.\d)?-(?:{_SIZE}){_TAIL}{{0,3}}")
"""The label of a row under "Model" whose version has no hyphen: "IbisChat2-7B"."""
_PATTERNS = (_CLAUDE, _PLAIN, _WORD, _SERIES)
_ENOUGH = re.compile(r"\d|\b(?:Preview|Ultra|Large|Medium|Small|Instant)\b")
"""A family's name alone is no model; with one of these it is."""
_NO_MODEL = re.compile(r"Bench|Arena|Eval|CTF|QA\b|Suite|MATH|AIME", re.IGNORECASE)
_NOT = frozenset(read_words("families", "not"))
_LEADING = re.compile(
    r"^\W*(?:(?:The|System|Model|Card|Technical|Report|Addendum|While|Whereas|Unlike|Like|Both|For|In|On|With|Than|But|And)[- ])+"
)
_MODEL_HEAD = re.compile(r"\W*(?:models?|systems?)(?: names?)?\W*", re.IGNORECASE)
_TITLE_WORD = re.compile(
    r"(?i:system|model|card|technical|report|addendum|overview|safety|evaluation|preparedness|framework|the|and|for|lab|labs|team|open|"
    r"language|large|reasoning|introduction|abstract)"
)
_STAMP = re.compile(r"\W*(?:arXiv|https?:|www\.|doi)", re.IGNORECASE)
"""What archives print above a title."""
_SPLIT = re.compile(r"[\s_-]+")
_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<matter>.{0,50000}?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_INDEXED = re.compile(r"^model-index:\s{0,4}\n\s{0,4}-\s{1,4}name:\s{0,4}[\"']?(?P<name>[^\"'\n]{2,80})", re.MULTILINE)
_BUILT_ON = re.compile(r"^base_model:(?P<names>[^\n]{0,200}(?:\n\s{0,4}-[^\n]{0,200}){0,8})", re.MULTILINE)
"""Front matter of a README: the model that the card indexes, and those that it was made from, which are other models."""
_CARD_FOR = re.compile(r"^\W*(?:(?:the|system|model|technical)\s){0,2}(?:card|report)\b(?:\s(?:for|of)\b)?[\s:–-]*", re.IGNORECASE)
_CARD_END = re.compile(r"(?<=\w)\s(?:system|model|technical)\s(?:card|report)\W*$|(?<=\w)(?::\s|\s[–—|]\s|\?).*$", re.IGNORECASE)
_MOST_NAMES, _TEXTS_ON_TOP, _OFTEN = 300, 6, 5


class CardModels:
    """The models of one card."""

    def __init__(self, names: dict[str, str], own: tuple[str, ...], relatives: re.Pattern[str] | None) -> None:
        self._names, self._relatives = names, relatives
        self.own = own
        """Names of the card's own models, the most named first; empty where nothing tells."""
        keys = [fold_name(name) for name in own]
        aliases = (alias for key in keys for find in (_find_aliases, _find_unversioned) for alias in find(key, list(names)))
        self._own = (*keys, *aliases)
        self._families = {name for key in keys for name in _find_families(key, list(names))} - set(self._own)
        stems = {match[0] for name in own if (match := re.match(r"[A-Za-z][A-Za-z]{2,}", name)) and match[0].lower() not in _NOT}
        stems = {form for stem in stems for form in ((stem.capitalize(), stem.upper()) if stem.islower() else (stem,))}
        others = [key for key in names if not any(_is_variant(key, name) for name in self._own)]
        stems = {stem for stem in stems if not any(re.match(rf"{stem.lower()}(?![a-z])", key) for key in others)}
        self.bare = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(stems)))})(?![\w-])") if stems else None
        """Finds the own model's name without its version; None where another model has that name too."""
        # A passage is looked at for each of its figures, and again from the passages around it.
        self.find = lru_cache(maxsize=20_000)(self._find)

    def is_meant(self, text: str) -> bool:
        """Return whether *text* names a model, or the own one without its version."""
        return bool(self.find(text)) or (self.bare is not None and self.bare.search(text) is not None)

    def is_bare(self, label: str) -> bool:
        """Return whether a head or label is the name of the only own model without its version."""
        return len(self.own) == 1 and self.bare is not None and self.bare.fullmatch(label.strip(" *_†‡")) is not None

    def _find(self, text: str) -> tuple[ModelMention, ...]:
        """Return the models named in *text*, in order."""
        mentions = []
        for start, stop in _find_spans(text, self._relatives):
            key = fold_name(text[start:stop])
            name = self._names.get(key, text[start:stop])
            is_own = any(self._is_of(fold_name(name), own) for own in self._own) if self._own and key not in self._families else None
            mentions.append(ModelMention(start=start, stop=stop, name=name, written=text[start:stop], is_own=is_own))
        return tuple(mentions)

    @staticmethod
    def _is_of(key: str, own: str) -> bool:
        """Whether a folded name is *own* or a variant of it, and no stage on the way to it."""
        stage = _STAGED.search(key)
        return _is_variant(key, own) and (stage is None or own.endswith(stage[0]))


def read_models(around: PassageContext, source: CardSource) -> CardModels:
    """Return the models that the card names; own are those of its title, their variants, or else the one it names most."""
    title = re.sub(r"[_/]", " ", re.sub(r"\.(?:pdf|md|html?|txt)$", "", source.title, flags=re.IGNORECASE))
    title, spelt = _read_title(title, around.text)
    matter = read_matter(around.text)
    named = [hit["name"].strip() for hit in _INDEXED.finditer(matter)]
    titles = (heading.title for heading in around.outline.headings[:3] if not _STAMP.match(heading.title))
    headings = (re.sub(r"[_/*`]", " ", title) for title in islice(titles, 1))
    named += [_CARD_END.sub("", _CARD_FOR.sub("", heading).strip()).strip() for heading in headings]
    members = [name for heading in named for name in _list_members(heading)]
    top = [title, *source.models, *named, *members]
    # A row of heads is several names in a line, which are read from its cells.
    opening = (passage for passage in around.passages[:_TEXTS_ON_TOP] if passage.kind is not PassageKind.HEAD and not passage.cells)
    short = [passage.words for passage in opening if len(passage.words) < 120]
    # A model of an unlisted maker, or one without a version: the word of the title that the card uses as a name.
    stem = None if any(map(_names_model, top)) else _find_stem(top, around)
    top += short
    relatives = _find_relatives(top, (*members, *source.models), tuple(_list_labels(around)), stem, spelt)
    spellings: dict[str, Counter[str]] = {}
    for text in (*top, *_list_texts(around)):
        for start, stop in _find_spans(text, relatives):
            spellings.setdefault(fold_name(text[start:stop]), Counter())[text[start:stop]] += 1
    kept = sorted(spellings, key=lambda key: (-spellings[key].total(), key))[:_MOST_NAMES]
    names = {key: min(spellings[key], key=lambda form: (form.islower(), -spellings[key][form], form)) for key in kept}
    # "Opus 4.7" is "Claude Opus 4.7" where the card has both.
    for key in kept:
        longer = [other for other in kept if other.endswith(f"-{key}")]
        if len(longer) == 1:
            names[key] = names[longer[0]]
    sources = {fold_name(name) for hit in _BUILT_ON.finditer(matter) for name in re.findall(r"[\w.-]+(?=[\"']?\s*(?:\n|$))", hit["names"])}
    own = _find_own(kept, names, spellings, top, sources)
    variants = [names[key] for key in kept if any(_is_variant(key, fold_name(name)) for name in own)]
    words = _find_short_names(list(dict.fromkeys(variants)), kept)
    if words:
        forms = [*([relatives.pattern] if relatives else []), rf"(?<![\w.-])(?:{'|'.join(map(re.escape, words))})(?![\w-])"]
        relatives = re.compile("|".join(forms))
    return CardModels(names | {word.lower(): name for word, name in words.items()}, tuple(own), relatives)


def read_matter(text: str) -> str:
    """Return the front matter of a card (YAML before the text); empty without one."""
    match = _MATTER.match(text)
    return match["matter"] if match is not None else ""


def fold_name(name: str) -> str:
    """Return *name* as it is compared: lower case, no accents, one hyphen between its parts, without the maker of Llama."""
    parts = (part.strip("[](){}") for part in _SPLIT.split(_drop_accents(name).lower()))
    return re.sub(r"^(?:meta-)+", "", "-".join(part for part in parts if part))


def _drop_accents(text: str) -> str:
    """Return *text* with each letter without its accents, at the same place."""
    return text if text.isascii() else "".join(unicodedata.normalize("NFD", letter)[0] for letter in text)


def _is_variant(key: str, own: str) -> bool:
    """Whether a folded name is *own* or a variant of it, whether or not a hyphen is before the version: "Ibis 2" is "Ibis2"."""
    spelt, known = (re.sub(r"(?<=[a-z])(?:chat)?-?v?(?=\d+(?:\.\d+)*(?:-|$))|(?<=\d)\.0(?=-|$)", "", name) for name in (key, own))
    is_same = key.replace("-", "") == own.replace("-", "")
    return key.startswith(f"{own}-") or is_same or spelt == known or spelt.startswith(f"{known}-") or _is_member(key, own)


def _is_member(key: str, own: str) -> bool:
    """Whether a folded name has a word between the name and version of *own*: "ibis-nano-1.5-3b" of "ibis-1.5"."""
    stem, _, version = own.rpartition("-")
    return (
        re.fullmatch(rf"{re.escape(stem)}-[a-z]+-{re.escape(version)}(?:-.+)?", key) is not None if stem and version[0].isdigit() else False
    )


def looks_like_model(words: str) -> bool:
    """Return whether *words*, a label or the head of a column, begin with a listed model's name, whatever card they are from."""
    return any(pattern.match(words.strip(" *[(")) for pattern in _PATTERNS)


_SIZED_LABEL = re.compile(
    r"[a-z][a-z0-9.]*(?:-[a-z][a-z0-9.]*)*-(?:\d{1,2}x)?\d{1,3}(?:\.\d{1,2})?b(?:-[a-z0-9.]+)*(?![\w-])", re.IGNORECASE
)


def is_strange_model(label: str, own: tuple[str, ...]) -> bool:
    """Return whether the label of a row is a model's with its size, of whatever maker ("heron-base-7b"), and no *own* one begins alike."""
    stem = re.sub(r"[^a-z]", "", label.lower())[:5]
    return _SIZED_LABEL.match(label) is not None and all(re.sub(r"[^a-z]", "", name.lower())[:5] != stem for name in own)


SIZE_HEAD = re.compile(rf"(?P<size>{_SIZE})(?:\s(?:params?|parameters?|models?))?", re.IGNORECASE)
"""A head or label that is the size of a model and nothing else."""


def read_size(head: str, own: tuple[str, ...]) -> tuple[str, bool] | None:
    """Return the model that a head or label names by its size alone ("7B", "2B Params"), and whether it is an own one.

    Beside an own model with a size, other sizes are other models; of a family without one, each size is its own.
    """
    match = SIZE_HEAD.fullmatch(head.strip(" *_"))
    if match is None or len(own) != 1:
        return None
    size = re.search(rf"(?<![\w.]){_SIZE}", own[0])
    if size is None:
        return f"{own[0]} {match['size']}", True
    is_own = size[0].lower() == match["size"].lower()
    return (own[0] if is_own else f"{own[0][: size.start()]}{match['size']}{own[0][size.end() :]}"), is_own


def _find_spans(text: str, relatives: re.Pattern[str] | None) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    text = _drop_accents(text)
    for pattern in (*_PATTERNS, *([relatives] if relatives else [])):
        for match in pattern.finditer(text):
            span = match.span()
            is_name = _NO_MODEL.search(match[0]) is None if pattern is relatives else _ENOUGH.search(match[0])
            if is_name and not any(span[0] < stop and start < span[1] for start, stop in spans):
                spans.append(span)
    return sorted(spans)


def _names_model(title: str) -> bool:
    """Whether a title has a whole name of a model, perhaps behind its maker's: "acme-ibis-2"."""
    ends = [title[match.end() :] for match in re.finditer(r"^|[-\s]", title)]
    return any(_find_spans(text, _find_relatives([text], (), (), None)) for text in ends)


_STEM = re.compile(r"[A-Za-z][A-Za-z]+(?:\d{1,2}[A-Za-z]*){0,2}")
_LETTERS = re.compile(r"[-\s][αβγδ]")


def _find_stem(top: list[str], around: PassageContext) -> str | None:
    """Return the word of title or first heading that the card uses as a name, as an expression; None without one.

    A name has a capital or a hyphen wherever it is; a size, version or variant behind it tells it from the name of its maker.
    """
    texts = list(_list_texts(around))
    labels = [passage.cells[0].text for passage in around.passages if passage.cells]
    best: tuple[float, str] | None = None
    folded = [text.lower() for text in top]
    for word in dict.fromkeys(match[0].lower() for text in top for part in _SPLIT.split(text) if (match := _STEM.match(part))):
        if word in _NOT or _TITLE_WORD.fullmatch(word) or re.fullmatch(rf"(?i:{_VARIANT})|{_SIZE}", word):
            continue
        form = rf"(?<![\w.-])(?i:{re.escape(word)})(?![a-zA-Z]|\d)"
        named = re.compile(rf"{form}(?P<tail>[- ]?{_SIZE}|-\w|[- ](?:{_VARIANT})\b|[- ]{_VERSION})?")
        hits = [hit for text in (*texts, *labels) for hit in named.finditer(text)]
        plain = sum(hit[0].islower() and not hit["tail"] and not re.search(r"\d", hit[0]) for hit in hits)
        tailed = sum(hit["tail"] is not None for hit in hits)
        # What title and first heading share need not be frequent.
        enough = 1 if sum(word in text for text in folded) > 1 else 3 if tailed else _OFTEN
        if len(hits) < enough or plain * 4 > len(hits):
            continue
        forms = {hit[0][: len(word)] for hit in hits}
        spelt = "".join(f"{re.escape(written)}|" for written in sorted(forms) if not written.islower() or re.search(r"\d", word))
        score = 3 * tailed + len(hits) / 10
        if best is None or score > best[0]:
            best = score, rf"(?:{spelt}(?i:{re.escape(word)})(?=-\w))(?:[- ]?\s?{_VERSION})?"
    return best[1] if best else None


_MEMBERS = re.compile(
    r"(?P<stem>[A-Z][\w.-]+(?: \d[\w.]*)?) (?P<first>[A-Z]\w+)(?P<more>(?:, (?:and )?[A-Z]\w+)+|,? (?:and|&) [A-Z]\w+)(?=$|\W)"
)


def _list_members(heading: str) -> list[str]:
    """Return the models that a heading lists under one name: "Ibis Core, Flash, and Edge"."""
    hit = _MEMBERS.match(heading)
    if hit is None or _TITLE_WORD.fullmatch(hit["stem"]):
        return []
    return [f"{hit['stem']} {word}" for word in (hit["first"], *re.findall(r"[A-Z]\w+", hit["more"]))]


def _find_relatives(
    top: list[str], members: tuple[str, ...], labels: tuple[str, ...], stem: str | None, spelt: tuple[str, ...] = ()
) -> re.Pattern[str] | None:
    """Return what finds the card's own name with any number, and the labels of rows under "Model"."""
    names = [_LEADING.sub("", match[0]) for text in top for match in _SIZED.finditer(_LEADING.sub(lambda lead: " " * len(lead[0]), text))]
    # A word such as "Step" names a model if both title and heading say so.
    agreed = [name for name in names if sum(name in text for text in top) > 1 and not _is_name(name) and not _NO_MODEL.search(name)]
    own = [name for name in names if _is_name(name) and not looks_like_model(name)]
    families = sorted({re.split(r"[- ][A-Zv]?\d", name, maxsplit=1)[0] for name in own}, key=lambda item: (-len(item), item))
    parts = [rf"(?:{'|'.join(map(re.escape, families))})(?:[- ][A-Z]?)?(?:{_SIZE}|{_VERSION}){_TAIL}{{0,5}}"] if families else []
    parts += [rf"{re.escape(name)}(?!\w)" for name in (*members, *agreed)]
    parts += [rf"{stem}(?:{_TAIL}|{_LETTERS.pattern}){{0,5}}(?!\w|\.\d)"] if stem else []
    parts += [rf"{re.escape(label)}(?![\w.]\d|\w)" for label in sorted(set(labels), key=lambda item: (-len(item), item))[:_MOST_NAMES]]
    parts += [rf"{re.escape(name)}{_TAIL}{{0,5}}(?!\w)" for name in spelt]
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(parts)})") if parts else None


def _is_name(text: str) -> bool:
    words = [part.lower() for part in _SPLIT.split(text) if part]
    place = next((index for index, word in enumerate(words) if re.search(r"\d", word)), 0)
    return place > 0 and words[place - 1] not in _NOT and not _NO_MODEL.search(text)


def _list_labels(around: PassageContext) -> Iterator[str]:
    rows = (passage for passage in around.passages if passage.cells and _MODEL_HEAD.fullmatch(passage.cells[0].column or ""))
    for label in (" ".join(row.cells[0].text.split()).strip(" *_†‡") for row in rows):
        joined, sized = _JOINED.match(label), _SIZED.match(label)
        match = joined or (sized if sized and _is_name(sized[0]) else None)
        if match and not looks_like_model(label):
            yield match[0]


def _list_texts(around: PassageContext) -> Iterator[str]:
    yield from (passage.words for passage in around.passages if passage.kind is not PassageKind.HEAD)
    # Heads on two levels are joined in the cells and nowhere else: "Qwen3-8B" over "Base".
    yield from dict.fromkeys(cell.column for passage in around.passages for cell in passage.cells if cell.column)


def _read_title(title: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Return *title* without the words before a name that the text has only without them, and how the text spells that name.

    Without the maker, "acme-ibis-2" of a text about "Ibis 2" is "ibis-2". Only what no word of English is counts as a spelling.
    """
    parts, folded = [part for part in _SPLIT.split(title) if part], fold_name(text)
    for place in range(len(parts)):
        named = parts[place:]
        name = fold_name("-".join(named))
        if all(map(_TITLE_WORD.fullmatch, named)) or (place == len(parts) - 1 and not re.fullmatch(r"[a-z]{4,}(?:\.?[a-z]*\d)?", name)):
            break
        if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\d)", folded):
            form = rf"(?<![\w.-]){r'[-_ ]'.join(map(re.escape, named))}(?!\w|[-.]\d)"
            hits = [hit[0] for hit in re.finditer(form, text, re.IGNORECASE)]
            # Without a figure it is a name if the text has it often, and never in small letters.
            is_told = len(named) > 1 and len(hits) >= _OFTEN and not any(map(str.islower, hits))
            is_name = (re.search(r"\d", name) or is_told) and name[:1].isalpha() and not any(map(_TITLE_WORD.fullmatch, named))
            spelt = dict.fromkeys(hits) if is_name else {}
            return "-".join(named) if place else title, tuple(spelt)
    return title, ()


def _find_own(kept: list[str], names: dict[str, str], spellings: dict[str, Counter[str]], top: list[str], sources: set[str]) -> list[str]:
    known = {fold_name(text) for text in top[1:]}
    kept = [key for key in kept if key not in sources]
    keys = next((found for text in top if (found := _find_in(kept, fold_name(text)))), [])
    keys += [key for key in kept if key in known]
    # A card is mostly about its own model, also where the title does not name it; "Ibis 2 - Heron 70B" names what it was made from.
    related = [key for key in kept if any(key == own or key.startswith(f"{own}-") for own in keys)]
    named = [_find_in(kept, fold_name(text)) for text in top]
    beside = {key for found in named if not set(found).isdisjoint(keys) for key in found}
    # Beside a model of the title, a listed one of another name is a judge or a rival, however often the card names it.
    parts = {part for text in (*keys, fold_name(top[0])) for part in text.split("-")}
    is_rival = bool(keys and kept) and kept[0].split("-", maxsplit=1)[0] not in parts and looks_like_model(names[kept[0]])
    if (
        kept
        and not is_rival
        and kept[0] not in beside
        and not any(key.startswith(f"{kept[0]}-") for key in keys)
        and spellings[kept[0]].total() > max(_OFTEN, sum(spellings[key].total() for key in related))
    ):
        keys.append(kept[0])
    # What only the title says may be the name of a file.
    said = [key for key in keys if spellings[key].total() > len(re.findall(rf"(?<![\w.]){re.escape(key)}(?!\w|\.\d)", fold_name(top[0])))]
    keys = said or keys
    own = dict.fromkeys(names[key] for key in sorted(set(keys), key=lambda key: (-spellings[key].total(), key)))
    return list(own)


_COMMON = re.compile(
    r"(?i:base|chat|thinking|reasoning|vision|preview|large|small|medium|mini|next|fast|zero|plus|instruct|math|audio|guard)"
)


def _find_short_names(members: list[str], kept: list[str]) -> dict[str, str]:
    """Return the words that may stand for an own model, and its name: "Opus" of "Claude 3 Opus" beside others, "K2" of "Kimi K2"."""
    short: dict[str, str] = {}
    for name in members:
        word = re.split(r"[ -]", name)[-1]
        having = [key for key in kept if word.lower() in key.split("-") and key != word.lower()]
        form = r"[A-Z][a-z]{3,}|[A-Z]\d{1,2}(?:\.\d)?" if len(members) > 1 else r"[A-Z]\d{1,2}(?:\.\d)?"
        if re.fullmatch(form, word) and not _COMMON.fullmatch(word) and having == [fold_name(name)]:
            short[word] = name
    return short


_LIKE = re.compile(rf"(?:{_SIZE}|\d{{4}}(?:\d{{4}})?|instruct|instruction|tuned|chat|it|in)", re.IGNORECASE)
"""Parts of a name that may be left out: size, date, and that it was tuned to instructions."""


def _find_families(key: str, kept: list[str]) -> Iterator[str]:
    """Give the names that *key* has with its size or tuning: "ibis-2" of "ibis-2-14b-instruct", also beside other sizes."""
    for name in kept:
        if name not in _NOT and key.startswith(f"{name}-") and all(map(_LIKE.fullmatch, key.removeprefix(f"{name}-").split("-"))):
            yield name


def _find_aliases(key: str, kept: list[str]) -> Iterator[str]:
    """Give other names of the own model *key*: "ibis-2" of "ibis-2-14b-instruct", where the card has no other size or variant of it."""
    own = set(key.split("-"))
    for name in kept:
        parts = set(name.split("-"))
        longer = {part for other in kept if other.startswith(f"{name}-") for part in other.removeprefix(f"{name}-").split("-")}
        is_like = all(_LIKE.fullmatch(part) for part in own ^ parts | longer)
        # A name without a figure is short for the own one only if nothing but its tuning is left out.
        is_short = re.search(r"\d", name) or (key.startswith(f"{name}-") and "-" in name)
        if name != key and is_like and is_short and not any(part[0].isdigit() for part in (parts | longer) - own):
            yield name


def _find_unversioned(key: str, kept: list[str]) -> Iterator[str]:
    """Give names without the version of *key*, if its stem has no other version and a variant of it has their size: "Ibis PT 9B"."""
    stem = key.split("-", maxsplit=1)[0]
    family = [name for name in kept if name.split("-", maxsplit=1)[0] == stem]
    own = [name for name in family if _is_variant(name, key)]
    sizes = {part for name in own for part in name.split("-") if re.fullmatch(_SIZE, part, re.IGNORECASE)}
    bare = [name for name in family if name not in own and not any(_VERSION_PART.fullmatch(part) for part in name.split("-"))]
    # Of several sizes that the card has with and without the version, the latter are of the version before.
    unversioned = {"-".join(part for part in name.split("-") if not _VERSION_PART.fullmatch(part)) for name in own}
    bare = [] if len(unversioned & set(bare)) > 1 else bare
    # The sizes of a first version may have no version: "Ibis-7B" of "Ibis v1".
    is_first = not sizes and re.fullmatch(r"v?1(?:\.0)?", key.rsplit("-", maxsplit=1)[-1]) is not None
    if bare and len(own) + len(bare) == len(family):
        yield from (name for name in bare if is_first or sizes & set(name.split("-")))


_VERSION_PART = re.compile(rf"(?!{_SIZE}$)v?\d[\w.]*", re.IGNORECASE)


def _find_in(kept: list[str], title: str) -> list[str]:
    """Return the keys that the title has whole, the longest at each place: not "gpt-5.3" in "gpt-5.3-codex"."""
    ordered = "|".join(re.escape(key) for key in sorted(kept, key=lambda key: (-len(key), key)))
    return re.findall(rf"(?<![\w.])(?:{ordered})(?!\w|\.\d)", title) if kept else []
