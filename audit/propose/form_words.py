"""The words around a figure that show a claim's logical form, as data."""

import re
from dataclasses import dataclass


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Nouns for a line that results are measured against, and where they stand beside its number."""

    before: re.Pattern[str]
    after: re.Pattern[str]


_BAR = r"(?:thresholds?|baselines?|limits?|cut-?offs?|bars?|criterion|requirements?|ceilings?|floors?|trigger|rule-(?:in|out))"
BARS = Bars(
    # “threshold of 50 %”, “the expert baseline (54%)”, “baseline: 42%”; words between the noun and its number are few.
    before=_compile(
        rf"\b(?:{_BAR}|targets?)\s?(?:(?:score|level|value|accuracy|performance)\s)?(?:of|is|was|at|:|=|\(|set\sat|being)\s?"
        r"(?:about\s|approximately\s|~\s?|only\s)?\(?$"
    ),
    # “the 50% threshold”, “a 42 % expert baseline”.
    after=_compile(rf"^\s?-?\s?(?:[\w-]+\s){{0,3}}{_BAR}\b"),
)

# A result set against another's: “improving over Model A (6.1%)”. The name may have a version, hence points between digits.
COMPARATORS = re.compile(
    r"\b(?:improv(?:ing|ed|es|ement)\s(?:(?:up)?on|over)|outperform(?:ing|ed|s)?|underperform(?:ing|ed|s)?|surpass(?:ing|ed|es)?"
    r"|exceed(?:ing|ed|s)?|beat(?:ing|s)?|fall(?:ing|s)?\sshort\sof|trail(?:ing|ed|s)?|ahead\sof|behind|lagg(?:ing|ed)|lags)"
    r"\s(?:the\s|that\sof\s|both\s)?(?![\d<>~])[^,;()]{2,60}\s?\(\s?$",
    re.IGNORECASE,
)

NOT = (
    r"(?:(?:does|do|did|has|have|had|is|was|are|were|will|would|could|can)(?:\s?n[o’']t|not|\snot|\snever)|never|fail(?:s|ed|ing)?\sto"
    r"|without|unable\sto)"
)
REACH = r"(?:reach|cross|meet|met|exceed|pass|attain|surpass|hit|clear|satisf|outperform|beat|trigger|approach)\w{0,4}"
# Below a line, and above it; of several the last before the figure tells.
FALLS_SHORT = _compile(
    r"\b(?:below|under|beneath|underperform\w{0,3}|short\sof|less\sthan|lower\sthan|fewer\sthan|within|at\smost|behind|no\smore\sthan)\b",
    rf"\b{NOT}\s(?:yet\s)?(?:\w+\s)?{REACH}\b",
    r"\bnot\s(?:yet\s)?(?:reached|crossed|met|exceeded|passed|attained|surpassed)\b",
)
MEETS = _compile(r"\b(?:above|over|at\sleast|more\sthan|higher\sthan|greater\sthan)\b", rf"\b{REACH}\b")

# Which way a difference goes.
FALLS = _compile(r"\b(?:reduc|decreas|declin|regress|degrad|wors|drop|fell|lower|fewer|less|down|below|behind|smaller)\w{0,5}\b")
RISES = _compile(r"\b(?:improv|increas|ris|rose|gain|higher|more|greater|up|above|ahead|over|better|outperform|exceed)\w{0,5}\b")

# Who attacked and got through has shown that it can be done: existence, whatever the figure.
ATTACKS = _compile(
    r"\b(?:develop|discover|found|identif|construct|craft|built|build|creat|demonstrat)\w{0,4}\s(?:an?|one|two|three|several|multiple|\d{1,3})\s"
    r"(?:[\w-]{1,20}\s){0,3}(?:jailbreaks?|attacks?|exploits?|bypass(?:es)?|vulnerabilit(?:y|ies)|circumventions?|universal\sprompts?)\b"
)
# A count right behind one of these is what was found.
FINDS = _compile(
    r"\b(?:f(?:ou|i)nd|discover|identif|uncover|observ|detect|saw|record|report|produc|develop|document|commit|trigger|flag|elicit|obtain|made|solv|complet|pass|fail|refus|block|answer|exploit|finish|reproduc|there\swere|there\swas"
    r"|resulted\sin|encounter)\w{0,4}\s(?:(?:only|just|about|around|some|a\stotal\sof|all)\s){0,2}$"
)
# A bound behind one of these says when something counts, or what is needed.
CONDITIONS = _compile(
    r"\b(?:where|if|when|whenever|unless|provided|requir\w{1,4}|need(?:s|ed)?|must|should|consider\w{0,3}|deem\w{0,2}|regard\w{0,3})\s(?:[\w’'-]+\s){0,8}$",
)

HEDGES = _compile(
    r"\b(?:we\s(?:believe|think|suspect|estimate|judge|assess|expect)|appears?\sto|seems?\sto|suggest(?:s|ing|ed)?\sthat|may|might|likely|unlikely"
    r"|possibly|preliminary|lightweight|early\sresults|tentative\w{0,2}|cannot\srule\sout|no\sdefinitive|not\shave\sdefinitive|low\sconfidence"
    r"|limited\sevidence)\b",
)
DIRECTION_TOLD = _compile(
    r"\b(?:higher|lower|more|fewer|less|larger|smaller|greater)\b[\w\s,/-]{0,50}?\s(?:is|are|means?|indicates?|=|corresponds?\sto|represents?)\s"
    r"(?:\w+\s){0,2}(?:better|worse|safer|good|bad|preferable|desirable|less\ssafe|more\ssafe|stronger|weaker|more\srobust)\b"
)
