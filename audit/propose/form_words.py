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

# Right before one of these: its opposite.
DENIED = re.compile(r"(?:\b(?:not|never)|n[’']t)\s{1,2}(?:\w+\s{1,2}){0,2}$", re.IGNORECASE)
# A line that risk is ruled out by is satisfied from below; who exceeds it has crossed it.
RULE_OUT = _compile(r"\brule-?\s?out\b")
SATISFIES = _compile(r"\b(?:met|meets?|satisf\w{1,4}|pass(?:ed|es)?|cleared)\b")

# What is aimed for or expected, in the present tense: “lower than we expected” is a result.
GOALS = _compile(
    r"\b(?:we|our\s(?:team|developers))\s(?:\w+ly\s|also\s|still\s)?(?:aim|plan|target|intend|hope|strive|expect|want|commit)\s(?:for|to|that|at\b|(?:[\w.-]{1,30}\s){1,6}to\b)",
    r"\b[A-Z][\w.-]{1,30}\s(?:aims|plans|intends|hopes|strives|expects|wants|commits)\s(?:for|to|that|at\b|(?:[\w.-]{1,30}\s){1,6}to\b)",
    r"\b(?:our|the)\s(?:\w+\s)?(?:goal|objective|ambition|aim|plan|target)\s(?:is|remains)\b",
    r"\b(?:is|are)\s(?:planned|intended|targeted|expected|projected|aimed)\s(?:to|at)\b",
)
WILL = _compile(r"\b(?:will|shall|to)\b")
BY_YEAR = _compile(r"\bby\s(?:the\s(?:end|start|middle)\sof\s|late\s|early\s|mid-?|Q[1-4]\s)?20[2-9]\d\b")
# “We only ran 34 out of the 40 challenges”: what was tried.
RUNS = _compile(
    r"\bwe\s(?:have\s)?(?:\w+ly\s|then\s|also\s|were\sable\sto\s){0,2}(?:ran|run|use[d]?|included?|test(?:ed)?|evaluated?|administered|selected?|excluded?|omitted|considered|reviewed?"
    r"|sampled?|dropped|kept|inspected)\s(?:(?:it|them|the\smodels?|only|just|all|a\stotal\sof|on|about|against|manually)\s){0,3}$",
    r"\b(?:was|were)\s(?:only\s)?(?:run|tested|evaluated)\s(?:only\s)?(?:on|against|over)\s(?:only\s|just\s)?$",
)

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
    r"(?:\w+\s){0,2}(?:better|worse|safer|good|bad|preferable|desirable|less\ssafe|more\ssafe|stronger|weaker|more\srobust)\b",
    # “More failures than …, which we consider better”: the card judges the difference itself.
    r"\bwhich\s(?:we|the\steam)\s(?:\w+ly\s)?(?:consider|regard|view|see|count|treat|judge|deem)\s(?:\w+\s){0,4}?(?:better|worse|safer|good|bad|preferable|desirable"
    r"|improvements?|regressions?|progress)\b",
    r"\b(?:which|this)\sis\s(?:\w+\s){0,2}(?:better|worse|safer|preferable|desirable|(?:an?\s)?(?:improvement|regression))\b",
)
