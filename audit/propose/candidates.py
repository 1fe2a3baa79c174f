"""Which passages of a card make claims about a model, and how sure that is before anything is read off them."""

import re
from functools import lru_cache

from audit.propose.about.around import Around
from registry.records.passage import Passage, PassageKind

_READ = frozenset({PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.ROW, PassageKind.CAPTION, PassageKind.FOOTNOTE})


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


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
    # What nobody expects to be complete.
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

# What came out of a measurement: what models do and fail to do, how figures move, and nouns of rates.
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


def is_read(passage: Passage, around: Around) -> bool:
    """Whether *passage* is of a kind, and in a section, in which claims are made."""
    return passage.kind in _READ and not any(_tells_how(title) for title in around.section_titles(passage)[-2:])


def is_letter_spaced(text: str) -> bool:
    """Whether most words of a passage's source are single letters, so that neither words nor the digits of a number hang together."""
    parts = text.split()
    return len(parts) >= _SPACED_FROM and sum(len(one) == 1 and one.isalpha() for one in parts) * 2 > len(parts)


def is_description(words: str) -> bool:
    """Whether they say how something was done or is meant, quote a dialogue or a source, or are code."""
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
