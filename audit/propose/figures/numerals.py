"""What numbers look like in English prose, and which numbers of a card are no figures of its claims."""

import re

BEFORE = r"(?<![\w.,/@])"
"""A figure does not begin inside a word, a longer number or a path."""
SIGN = r"(?:(?<![\w)%\]])[-−+])?"
"""Of a number; a dash after a word or a figure is none."""
NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,6})?|\d{1,9}(?:\.\d{1,6})?|\.\d{1,6})"
"""With commas between thousands; a point before the decimals."""

WORDS = {
    "none": 0, "no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100,
}  # fmt: skip
WORD = "(?:" + "|".join(WORDS) + ")"

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_PARTS = (
    r"(?:[Ss]ections?|[Ss]ec\.|[Tt]ables?|[Ff]igures?|[Ff]igs?\.|[Aa]ppendix|[Cc]hapters?|[Pp]ages?|pp?\.|[Ee]quation|[Ee]q\."
    r"|[Ff]ootnotes?|[Aa]nnex|[Bb]ox|[Ss]teps?|[Pp]arts?|[Qq]uestion|[Ii]tem|[Ss]tage|[Pp]hase|[Rr]ound|[Dd]ay|[Ww]eek|[Tt]urn|[Aa]ttempt)"
)
_NUMBERED = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_SIZES = (
    r"(?:[KMBTG]i?[Bb]?|kB|k|million|billion|trillion|tokens?|words?|characters?|param(?:eter)?s?|layers?|GPUs?|TPUs?|cores?|FLOPs?|bits?|bytes?|hours?|minutes?"
    r"|seconds?|days?|weeks?|months?|years?|ms|hrs?|mins?|languages?|participants|annotators|experts|people|users\saged)"
)
_EXTREME = r"(?:max(?:imum)?|min(?:imum)?|highest|top|lowest|perfect)"

# Numbers that count, date, name or price something else than a result. What any of them covers is no figure; their order does not matter.
_ASIDES = (
    # Citations and identifiers. An interval in brackets follows a per cent sign or the letters CI.
    r"(?<!%\s)(?<!%)(?<!CI\s)(?<!CI)(?<!CI:\s)(?<!CI\sof\s)(?<!interval\sof\s)\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,12}\]",
    r"(?:arXiv|doi|DOI|CVE|CWE|ISO|RFC)[:\s-]{0,2}[\d./-]{2,24}",
    # Dates and years, ordinals.
    r"\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{4}-\d{2}(?:-\d{2})?\b",
    rf"\b{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}\b(?:\s\d{{4}})?|\b{_MONTH}\s\d{{4}}\b",
    r"(?<![\d.,/])(?:19|20)\d{2}(?![\d.,/]*\d|\s?%|\s?/)",
    r"\b\d{1,4}(?:st|nd|rd|th)\b(?!\spercentiles?\s(?:of|among|relative|compared))|\b24/7\b",
    # Parts of the document, and steps of a list.
    rf"\b{_PARTS}\s{{0,2}}[A-Z]?{_NUMBERED}(?:\.?[A-Z])?(?:\s?(?:–|-|to|and|of)\s?{_NUMBERED})?\b|§\s?[\d.]{{1,12}}",
    # Levels and versions, which carry numbers as names.
    r"\b(?:[Tt]iers?|[Ll]evels?|ASL|CCL|TRL|[Vv]ersion|[Cc]ategory|[Cc]lass|[Gg]rade)[\s-]\d(?:\.\d{1,2})?\b(?!\s?%)|\b[vV]\d{1,3}(?:\.\d{1,3}){0,3}\b",
    # Settings of a measurement: repeats, sampling, scales.
    r"(?<!\d\s)\b(?:pass|cons|maj|recall|precision|hit|best|top|P|R)@\d{1,5}(?:k\b)?|\b[kKTNM]\s?=\s?\d[\d,.]{0,9}",
    r"\bbest[- ]of[- ]\d{1,5}\b|\b\d{1,3}[- ]shot\b",
    rf"\b{_EXTREME}\s(?:possible\s|attainable\s)?(?:scores?|ratings?|values?|marks?)\s(?:of|is|=)\s{NUMBER}(?![\d.]*\s?%|\d)",
    (
        r"\b(?:temperature|top[-_ ]p|top[-_ ]k|seed|alpha|α|max(?:imum)?|min(?:imum score)?|scale of)\s?(?:of|=|:)?\s?(?:0|1|2|10|100)?"
        r"(?:\.\d{1,3}|\b)(?![\d.]*\s?%)(?=[\s).,;]|$)"
    ),
    # Ranks.
    rf"\b(?:top|bottom|upper|lower)[\s-]{NUMBER}\s?(?:%|percent\b|per\scent\b)",
    # “Around 60 % depth”, “its 50 % time horizon”: where and how was measured.
    rf"(?<![\w.]){NUMBER}\s?%\s(?:depth|dropout|sparsity|time[- ]horizons?|horizons?|quantiles?|compression)\b",
    # Significance, confidence and power.
    r"\b[pP]\s?(?:[-–]?values?)?\s?(?:[<>=≤≥]|of|was|is)\s?(?:0?\.\d{1,6}|\d(?:\.\d)?\s?[×x]\s?10)",
    rf"(?:{NUMBER})\s?%[\s-](?:(?:statistical\s)?power\b|confidence|CIs?\b|credib|interval|bootstrap|HDI|level)",
    rf"\b(?:confidence|significance)\s(?:level\s)?(?:of\s)?{NUMBER}\s?%|(?<=[(\[;,])\s?9[059]\s?%\s?(?=[\[(]\s?[-−–]?\d)",
    # Prices, sizes, times, hardware, powers of ten.
    rf"[$€£¥]\s?{NUMBER}(?:\s?(?:k|K|M|B|million|billion)\b)?|\b{NUMBER}\s?(?:USD|EUR|dollars|euros)\b",
    rf"(?<![\w.]){NUMBER}\s?[-–]?\s?{_SIZES}\b(?!\s?/)",
    r"(?<![\w.])\d(?:\.\d{1,3})?\s?(?:[×x·*]\s?)10\s?\^?\s?[-−]?\{?\d{1,3}\}?|\b\d(?:\.\d{1,3})?e[+-]?\d{1,3}\b",
    r"\b\d{1,3}\s?[x×]\s?(?=[A-Z]?\d|[A-Z]\w)|\b(?:[A-HV]\d{2,4})\b",
)  # fmt: skip
_NOT_FIGURES = re.compile("|".join(f"(?:{one})" for one in _ASIDES))

# A name that ends in a version: “Model X 4.5”, “x-5.2”, “X 3.1 405B”. A number below one is never a version, a metric never a name.
_LITTLE = r"(?:In|On|At|Of|For|From|To|By|With|About|Around|Only|Over|Under|Nearly|And|Or|Both|All|The|Roughly|Across|These|Those)"
NAMED = re.compile(
    rf"(?<![\w.])(?!{_LITTLE}\s)(?:[A-Z][\w’'-]{{0,30}}|gpt|o)[ -]v?(?!0?\.\d)\d{{1,3}}(?:\.\d{{1,2}}){{0,2}}"
    r"(?![\d%]|\.\d|\s?%|\s?/\s?\d|\s(?:out\s)?of\s)(?:[a-zA-Z]\w{0,8})?"
)
"""Names that end in a version."""
_METRICS = re.compile(
    r"(?:AUROC|AUC|AUPRC|Elo|F1|BLEU|ROUGE|Recall|Precision|Accuracy|Mean|Median|Average|Score|Rate|MCC)\b", re.IGNORECASE
)


def read_number(written: str) -> float:
    """Return the number that *written* stands for, in digits or as a word of `WORDS`."""
    folded = written.strip().casefold()
    return float(WORDS[folded]) if folded in WORDS else float(folded.replace(",", ""))


def blank_asides(words: str) -> str:
    """Return *words* with every number that is no figure overwritten, character for character, so that positions stay."""
    blanked = _NOT_FIGURES.sub(lambda found: "_" * len(found[0]), words)
    return NAMED.sub(lambda found: found[0] if _METRICS.match(found[0]) else "_" * len(found[0]), blanked)
