"""What surrounds a passage of a card, and which passages make claims about a model."""

import re
from bisect import bisect_left
from functools import lru_cache

from registry.records.system_card import Outline, Passage, PassageKind

# The surroundings of a passage: sections, neighbours, block, and the paragraph that introduces it. Facts of a figure
# are taken only from words tied to it. A borrowed fact would hide a missing one. Cost: facts stated once in another
# paragraph read "not stated".

_NUMBER = re.compile(
    r"(?:Appendix\s+|Section\s+|Chapter\s+)?((?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3}){0,7}|[A-Z](?:\.\d{1,3}){1,7})\.?\s", re.IGNORECASE
)
_OUTSIDE = frozenset({PassageKind.CONTENTS, PassageKind.FURNITURE})
"""Repeated from elsewhere: not what an author wrote beside a passage."""

_LISTED = frozenset({PassageKind.ITEM, PassageKind.ROW, PassageKind.HEAD, PassageKind.CAPTION})
"""What a paragraph may introduce."""

_GOES_ON = re.compile(
    r"\W*(?:It|Its|They|Their|This|These|That|Those|Here|However|Additionally|Moreover|Similarly|Across|Overall|"
    r"(?:In|On|For|With|From|Of) (?:this|these|those|both|such|all|contrast|addition))\b"
)
"""How a sentence begins that goes on with the one before it."""

_LONGEST_THREAD = 6
"""Sentences above that one may go on with."""

_REACH = 40
"""Blocks that are looked at above a list or table: beyond, what one finds does not introduce it."""


class PassageContext:
    """An outline with its passages put in order, so that each question about the surroundings of one is quick."""

    def __init__(self, outline: Outline, text: str) -> None:
        self.outline = outline
        self.text = text
        """The card's text, in which the passages stand."""
        self.passages = tuple(passage for passage in outline.passages if passage.kind not in _OUTSIDE)
        """In the order of the text, without contents and furniture."""
        self._starts = [one.start for one in self.passages]
        self._blocks = _group(self.passages, [one.block for one in self.passages])
        self._sections = _group(self.passages, [one.section for one in self.passages])
        self._titles = _nest(outline, text)

    def section_titles(self, passage: Passage) -> tuple[str, ...]:
        """Return the headings above *passage*, outermost first, by their numbers or marks; empty above the first heading."""
        return self._titles[passage.section] if passage.section is not None else ()

    def section(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the passages under the same heading, without those of headings below it."""
        return self._sections.get(passage.section, ())

    def neighbours(self, passage: Passage, *, before: int, after: int) -> tuple[Passage, ...]:
        """Return up to *before* passages above and *after* below that stand in the same section, in order, without itself."""
        place = bisect_left(self._starts, passage.start)
        near = (*self.passages[max(0, place - before) : place], *self.passages[place : place + after + 1])
        return tuple(one for one in near if one.section == passage.section and one.start != passage.start)

    def block(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the passages of the same paragraph, list item or table, itself among them."""
        return self._blocks.get(passage.block, (passage,))

    def continued(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the sentences that *passage* goes on with ("This fell to 3%."), the nearest first; empty where it begins anew.

        A row goes on with none: its neighbours stand beside it, not before it. An item stays inside its own list item.
        """
        if passage.kind not in (PassageKind.SENTENCE, PassageKind.ITEM):
            return ()
        is_item = passage.kind is PassageKind.ITEM
        passages: list[Passage] = []
        last = passage
        for one in reversed(self.neighbours(passage, before=_LONGEST_THREAD, after=0)):
            if _GOES_ON.match(last.words) is None or one.kind is not passage.kind or (is_item and one.block != passage.block):
                break
            passages.append(one)
            last = one
        return tuple(passages)

    def lead_in(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the sentences of the paragraph that introduces the list or table *passage* is in; empty for running text."""
        if passage.kind not in _LISTED:
            return ()
        place = bisect_left(self._starts, self.block(passage)[0].start) - 1
        for _ in range(_REACH):
            if place < 0 or self.passages[place].section != passage.section:
                return ()
            found = self.passages[place]
            if found.kind is PassageKind.SENTENCE:
                return self.block(found)
            place = bisect_left(self._starts, self.block(found)[0].start) - 1
        return ()


def _group(passages: tuple[Passage, ...], keys: list[int | None]) -> dict[int | None, tuple[Passage, ...]]:
    groups: dict[int | None, list[Passage]] = {}
    for passage, key in zip(passages, keys, strict=True):
        groups.setdefault(key, []).append(passage)
    return {key: tuple(members) for key, members in groups.items()}


def _nest(outline: Outline, text: str) -> list[tuple[str, ...]]:
    """Return for each heading the titles from the outermost to its own."""
    open_: list[tuple[int, str]] = []
    nested: list[tuple[str, ...]] = []
    for heading in outline.headings:
        depth = _read_depth(heading.title, text, heading.start)
        if depth is None:
            nested.append((heading.title,))
            continue
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        open_.append((depth, heading.title))
        nested.append(tuple(title for _, title in open_))
    return nested


def _read_depth(title: str, text: str, start: int) -> int | None:
    """Return how deep a heading lies, from 1: by its number, else by its hash marks; None where it shows neither.

    Bookmarks give titles without the numbers that stand in the text.
    """
    numbered = _NUMBER.match(title + " ") or _NUMBER.match(text[start : start + 40])
    if numbered:
        return numbered[1].count(".") + 1
    marks = re.search(r"#{1,6}(?=\s)", text[max(0, start - 8) : start + 8])
    return len(marks[0]) if marks else None


# Passages that make claims about a model, and the confidence before anything is read from them.

_READ = frozenset({PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.ROW, PassageKind.CAPTION, PassageKind.FOOTNOTE})


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


# Sections that say how a model was made, is used or is cited; their figures are not results.
_SECTIONS = _compile(
    r"^(?:[\dA-Z.]{1,10}\s)?(?:references?|bibliography|works\scited|citations?|bibtex|acknowledge?ments?|contributors|authors|licen[cs]e|contents"
    r"|table\sof\scontents|change\s?log|revision\shistory|release\snotes|glossary|contact|feedback|disclaimer|terms)\b",
    r"\btraining\s(?:data|dataset|corpus|details|infrastructure|procedure|compute|factors|energy|hyperparameters)\b",
    r"\b(?:pre-?training\sdata|data\s(?:mixture|freshness|collection|sources)|hardware|software|environmental|carbon|energy\suse|model\sarchitecture"
    r"|tokeni[sz]er|model\sdetails|crowd\sworkers)\b",
    r"\b(?:quick\s?start|installation|requirements|getting\sstarted|how\sto\suse|usage\b(?!\spolic)|deployment\sguide|run(?:ning)?\s(?:locally|with)"
    r"|inference|prompt\s(?:format|template)|chat\stemplate|best\spractices)\b",
)

# Sentences that describe how, not what came out.
_DESCRIPTIONS = _compile(
    # Training and machines, prices.
    r"\b(?:pre-?train(?:ed|ing)|trained\s(?:on|with|for|using)|fine-?tun(?:ed|ing)\s(?:on|with)|training\s(?:data|set|corpus|tokens|run|mix\w*)"
    r"|knowledge\scut-?off|learning\srate|batch\ssize|epochs?|optimizer|GPU[- ]hours?|H100|A100|TPU|t?CO2\w*|carbon|renewable)\b",
    r"\b(?:context\s(?:window|length)\sof|per\smillion\s(?:input|output)?\s?tokens)\b",
    # Methods, definitions, rubrics and statistics.
    r"\b(?:is|are|was|were)\s(?:defined|computed|calculated|counted|measured|normali[sz]ed|weighted|sampled|scored|graded|assigned|rated)"
    r"\s(?:as|by|from|on\sa|to\sbe|at|between|out|if|using)\b",
    r"\b(?:we|which)\s(?:define|compute|calculate)\b|\bwhere\s(?:0|1|10|100)\b|\bgrade\slevels?\b",
    r"\b(?:scale|rating|score|range)s?\s(?:from|of|between)\s\d+\s?(?:to|-|–|and)\s?\d+\b",
    r"\b(?:scores?|values?|figures?)\s(?:above|below|of|over|under)\s[\d.%]+\s(?:indicate|mean|correspond|represent|suggest|would)",
    r"\brepresents?\s(?:an?|the)\s(?:model|capability|system|threshold)\b|\b(?:denotes?|stands\sfor)\b",
    r"^[“\"]?[\w\s%-]{1,40}[”\"]?\srefers?\sto\b",
    r"\b(?:random|chance)\s(?:guessing|level|performance|baseline)\b|\bguessing\salone\b|\bpower\sto\sdetect\b",
    r"\berror\sbars?\b|\bconfidence\sintervals?\s(?:are|were|show|represent|indicate)|\bshaded\b|\bdashed\sline\b|\b[xy]-axis\b",
    # Statements that 100 % is not reached by design.
    r"\b(?:not|never)\s(?:\w+\s){0,6}100\s?%",
    # References, code, dialogue.
    r"\barXiv[:\s]|\bdoi\.org\b|\bet\sal\.[,\s]\s?\(?(?:19|20)\d\d\)?[.:]|\bProceedings\sof\b|\bIn:\s",
    r"`[^`\n]{0,80}(?:\(|=|\.(?:jsonl?|py|csv|txt|sh|md|ya?ml|log)\b)[^`\n]{0,80}`",
    r"```|\bpip\sinstall\b|\bfrom_pretrained\b|\bdef\s\w+\(|https?://huggingface\.co/\S+/resolve",
    r"^\s?(?:Human|User|Assistant|System|Question|Answer|Prompt|Q|A)\s?:",
    # Rules for users, and what would be.
    r"\b(?:users?|customers?|developers?|subscribers?|employees|participants|respondents|annotators|contractors)\s(?:aged|must|can|may|should)\b",
    r"^(?:if|when|suppose|imagine|assum(?:e|ing)|should)\b(?!.{0,120}\b(?:achiev|scor|refus|solv|reach|show|rate)).{0,200}\b(?:would|could|might)\b",
)

# Words for outcomes: what models do and fail to do, how figures move, and nouns of rates.
_OUTCOMES = _compile(
    r"\b(?:scor(?:ed?|es|ing)|achiev\w{1,3}|reach(?:ed|es|ing)?|attain\w{0,3}|solv(?:ed?|es|ing)|complet(?:ed?|es|ing|ion)|pass(?:ed|es|ing)?"
    r"|fail(?:ed|s|ing|ures?)?|succe\w{1,6}|answer(?:ed|s|ing)?|resolv\w{1,4}|finish\w{0,3}|perform(?:ed|s|ing|ance)?|met|meets|won|wins|beat|gave|give)\b",
    r"\b(?:refus\w{1,4}|compl(?:y|ied|ies|iance)|declin\w{1,3}|block(?:ed|s|ing)?|detect\w{0,4}|flag(?:ged|s)?|resist\w{0,4}|avoid\w{0,4}"
    r"|reject\w{0,4}|accept\w{0,4}|triggered|caught|catches|follow(?:ed|s)|obey\w{0,3}|prefer\w{0,4}|hedg\w{1,3}|handl\w{1,3}|respond\w{0,4})\b",
    r"\b(?:schem(?:ed|es|ing)|misle(?:d|ads?|ading)|misbehav\w{1,4}|(?:took|takes?|taking)\s(?:\w+\s){1,2}actions?|covert(?:ly)?|deni(?:ed|es)|whistle\w{4,8})\b",
    r"\b(?:hallucinat\w{1,4}|deceiv\w{1,3}|decepti\w{1,3}|reveal\w{0,3}|leak\w{0,4}|disclos\w{1,4}|bypass\w{0,4}|evad\w{1,4}|evasion|escap\w{1,4}"
    r"|persuad\w{1,4}|manipulat\w{1,4}|sabotag\w{1,4}|sandbag\w{0,4}|cheat\w{0,3}|lied|lies|lying|conceal\w{0,4}|hid(?:es|den|ing)?|hack\w{0,4}"
    r"|violat\w{1,4}|verbali[sz]\w{1,4}|mention\w{0,3}|distinguish\w{0,3}|comprehen\w{1,4}|truthful|cautio\w{1,3})\b",
    r"\b(?:outperform\w{0,3}|underperform\w{0,3}|surpass\w{0,3}|most\s(?:capable|robust)|exceed\w{0,3}|improv\w{1,5}|reduc\w{1,4}|drop(?:ped|s)?|fell|rose|increas\w{1,3}|decreas\w{1,3})\b",
    r"\b(?:reproduc\w{1,3}|produc\w{1,3}|generat\w{1,4}|exhibit\w{0,3}|display\w{0,3}|show(?:ed|s|ing|n)?|demonstrat\w{1,4}|engag\w{1,3}"
    r"|identif\w{1,4}|occur(?:red|s)?|observ\w{1,4}|found|impact(?:ed|s)?|affect(?:ed|s)?|continu(?:ed|es)|correct\w{0,3}|incorrect\w{0,3})\b",
    r"\b(?:rates?|accuracy|scores?|recall|precision|AUROC|AUC|F1|Elo|pass@\d+|success|win[- ]rate|error|asymmetr\w{1,4}|jailbreaks?"
    r"|attacks?|violations?|refusals?|errors?|harmless|propensity|uplift|toxic\w{0,3}|unsafe|false[\s-](?:positive|negative)s?|hallucinations?)\b",
)
_MODEL = _compile(
    r"\b(?:the|this|our|each|all|every|both|these|new|early|final)\s(?:\w+\s)?"
    r"(?:models?|assistant|snapshot|checkpoint|agent|system|classifiers?|monitors?|safeguards?)\b",
    r"\bmodels?\b|^it\b|\bits\b|\bit\s(?:\w+ed|is|was|does|did)\b|\bwe\s(?:saw|see|found|find|observed|observe|flag)\b",
)
_QUOTED = re.compile(r"^\s?[“\"«‘'].{20,}[”\"»’']\.?\s?$", re.DOTALL)
_LABELLED = re.compile(r"^.{2,80}?[:\s–-](?:\s?[<>~≈]?\s?\d[\d.,]{0,8}\s?(?:%|/\s?\d{1,6})?(?:\s?\([^()]{1,24}\))?){1,6}\s?\.?$")

# Sections in which a share is a result even where its sentence has no word for one.
_RESULTS = _compile(
    r"\b(?:evaluations?|results?|performance|benchmarks?|safety|robustness|red[- ]team\w{0,4}|alignment|refusals?|jailbreaks?|bias"
    r"|capabilit\w{1,3}|harm\w{0,8}|injection|honesty|deception|sabotage|sandbagging|monitor\w{0,8}|awareness|agentic|cyber\w{0,8}|bio\w{0,8}|autonomy|accuracy"
    r"|factuality|hallucinations?|toxicity|misuse)\b",
)

# Tables of settings and sizes, and columns that count what was asked and not what came out.
_SETTINGS = _compile(
    r"\b(?:hyper-?parameters?|architecture|learning\srate|batch\ssize|layers|hidden\ssize|vocab\w*|GPU|hardware|training\s(?:data|tokens|time|location|energy)"
    r"|context\s(?:window|length)|knowledge\scut-?off|licen[cs]e|pric(?:e|es|ing)|cost\sper|release\sdate|carbon|CO2|param(?:s|eters)\b|memory|VRAM"
    r"|throughput|latency|token\scount|download)\b"
)
COUNTING = re.compile(
    r"^\s?(?:#|n\b|no\.|num(?:ber)?\b|shots?\b|k\b|rank\b|sections?\b|dates?\b|years?\b|size\b|param|tokens?\b|length\b|context\slength|samples?\b"
    r"|trials?\b|responses?\b|tasks?\b|questions?\b|prompts?\b|problems?\b|items?\b|steps?\b|seeds?\b|temperature\b|cost\b|price\b|time\b|latency\b"
    r"|pages?\b|ids?\b|version\b|weights?\b|max\b|min\b|chance\b|random\b|attempts\b|count\b|total\b|correct\b(?!\s?(?:%|rate|\()))",
    re.IGNORECASE,
)


_SPACED_FROM = 12
"""Parts of a passage; a shorter one may list letters."""


def is_read(passage: Passage, around: PassageContext) -> bool:
    """Whether *passage* is of a kind, and in a section, in which claims are made."""
    return passage.kind in _READ and not any(_tells_how(title) for title in around.section_titles(passage)[-2:])


def is_letter_spaced(text: str) -> bool:
    """Whether most words of a passage's source are single letters, so that neither words nor the digits of a number hang together."""
    parts = text.split()
    return len(parts) >= _SPACED_FROM and sum(len(part) == 1 and part.isalpha() for part in parts) * 2 > len(parts)


def is_description(words: str) -> bool:
    """Whether they say how something was done or is meant, quote a dialogue or a source, or are code."""
    # A quoted sentence is another's words or a model's output, not a statement of the card.
    return _DESCRIPTIONS.search(words) is not None or _QUOTED.match(words) is not None


@lru_cache(maxsize=4096)
def _tells_how(title: str) -> bool:
    return _SECTIONS.search(title) is not None


def is_settings(passage: Passage) -> bool:
    """Whether a row lists what a model or a run is made of, and no results."""
    label = passage.cells[0].text if passage.cells else passage.words[:60]
    return bool(_SETTINGS.search(label) or _SETTINGS.search((passage.caption or "")[:120]))


def names_a_model(passage: Passage, *, is_named: bool) -> bool:
    """Whether the passage speaks of a model: by its name, or as "the model", "it", "all models"."""
    return is_named or _MODEL.search(passage.words) is not None


def tells_an_outcome(words: str) -> bool:
    """Whether they have a word for what came out of a measurement."""
    return _OUTCOMES.search(words) is not None


def is_about_results(titles: tuple[str, ...]) -> bool:
    """Whether a heading above announces results."""
    return any(_RESULTS.search(title) for title in titles)


def is_label_with_figures(words: str) -> bool:
    """Whether they are a few words that end in figures: “• model-a: 80%”, “– User prompts 77.8% 37.1%”."""
    return _LABELLED.match(words) is not None


def is_described(passage: Passage) -> bool:
    """Whether a row of a table says by a head or a caption what its figures are."""
    return passage.caption is not None or any(cell.column for cell in passage.cells)
