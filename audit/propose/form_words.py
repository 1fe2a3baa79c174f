"""The words that show a claim's logical form, as data, in the order in which they are tried."""

import re
from dataclasses import dataclass

from registry.records.claim import Form, Relation


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
    before=re.compile(rf"\b(?:{_BAR}|targets?)\s?(?:(?:score|level|value|accuracy|performance)\s)?(?:of|is|was|at|:|=|\(|set\sat|being)\s?(?:about\s|approximately\s|~\s?|only\s)?\(?$", re.IGNORECASE),
    # “the 50% threshold”, “a 42 % expert baseline”.
    after=re.compile(rf"^\s?-?\s?(?:[\w-]+\s){{0,3}}{_BAR}\b", re.IGNORECASE),
)  # fmt: skip

# A result set against another's: “improving over Model A (6.1%)”. The name may have a version, hence points between digits.
COMPARATORS = re.compile(
    r"\b(?:improv(?:ing|ed|es|ement)\s(?:up)?on|improv(?:ing|ed|es|ement)\sover|outperform(?:ing|ed|s)?|underperform(?:ing|ed|s)?|surpass(?:ing|ed|es)?|exceed(?:ing|ed|s)?|"
    r"beat(?:ing|s)?|fall(?:ing|s)?\sshort\sof|trail(?:ing|ed|s)?|ahead\sof|behind|lagg(?:ing|ed)|lags)\s(?:the\s|that\sof\s|both\s)?(?![\d<>~])[^,;()]{2,60}\s?\(\s?$",
    re.IGNORECASE,
)  # fmt: skip

_NOT = r"(?:(?:does|do|did|has|have|had|is|was|are|were|will|would|could|can)(?:\s?n[o’']t|not|\snot|\snever)|never|fail(?:s|ed|ing)?\sto|without|unable\sto)"
_REACH_VERBS = r"(?:reach|cross|meet|met|exceed|pass|attain|surpass|hit|clear|satisf|outperform|beat|trigger|approach)\w{0,4}"
FALLS_SHORT = _compile(
    r"\b(?:below|under|beneath|underperform\w{0,3}|short\sof|less\sthan|lower\sthan|fewer\sthan|within|at\smost|behind|no\smore\sthan)\b",
    rf"\b{_NOT}\s(?:yet\s)?(?:\w+\s)?{_REACH_VERBS}\b",
    r"\bnot\s(?:yet\s)?(?:reached|crossed|met|exceeded|passed|attained|surpassed)\b",
)
MEETS = _compile(r"\b(?:above|over|at\sleast|more\sthan|higher\sthan|greater\sthan)\b", rf"\b{_REACH_VERBS}\b")

# Which way a difference goes.
FALLS = _compile(r"\b(?:reduc|decreas|declin|regress|degrad|wors|drop|fell|lower|fewer|less|down|below|behind|smaller)\w{0,5}\b")
RISES = _compile(r"\b(?:improv|increas|ris|rose|gain|higher|more|greater|up|above|ahead|over|better|outperform|exceed)\w{0,5}\b")

# Who attacked and got through has shown that it can be done: existence, whatever the figure.
ATTACKS = re.compile(
    r"\b(?:develop|discover|found|identif|construct|craft|built|build|creat|demonstrat)\w{0,4}\s(?:an?|one|two|three|several|multiple|\d{1,3})\s(?:[\w-]{1,20}\s){0,3}"
    r"(?:jailbreaks?|attacks?|exploits?|bypass(?:es)?|vulnerabilit(?:y|ies)|circumventions?|universal\sprompts?)\b",
    re.IGNORECASE,
)  # fmt: skip

FINDS = re.compile(
    r"\b(?:f(?:ou|i)nd|discover|identif|uncover|observ|detect|saw|record|report|produc|develop|document|commit|trigger|flag|elicit|obtain|made|resulted\sin|encounter)\w{0,4}"
    r"\s(?:(?:only|just|about|around|some|a\stotal\sof|all)\s){0,2}$",
    re.IGNORECASE,
)  # fmt: skip

HEDGES = _compile(
    r"\b(?:we\s(?:believe|think|suspect|estimate|judge|assess|expect)|appears?\sto|seems?\sto|suggest(?:s|ing|ed)?\sthat|may|might|likely|unlikely|possibly|"
    r"preliminary|lightweight|early\sresults|tentative\w{0,2}|cannot\srule\sout|no\sdefinitive|not\shave\sdefinitive|low\sconfidence|limited\sevidence)\b",
)
DIRECTION_TOLD = re.compile(
    r"\b(?:higher|lower|more|fewer|less|larger|smaller|greater)\b[\w\s,/-]{0,50}?\s(?:is|are|means?|indicates?|=|corresponds?\sto|represents?)\s"
    r"(?:\w+\s){0,2}(?:better|worse|safer|good|bad|preferable|desirable|less\ssafe|more\ssafe|stronger|weaker|more\srobust)\b",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """One way to make a claim without a figure."""

    pattern: re.Pattern[str]
    form: Form
    relation: Relation | None = None
    unless: re.Pattern[str] | None = None
    """Words that make it none."""
    is_none_seen: bool = False
    """Whether it says that nothing was seen, which is a reported 0."""
    is_relative: bool = False
    is_clear: bool = True
    note: str | None = None


# Levels that frameworks name; a result is said to reach them or not, and their numbers are mostly not published.
_LEVEL = r"(?:thresholds?|CCLs?|[Cc]apability\s[Ll]evels?|High\b|Critical\b|Tier\s?\d|ASL-?\s?\d\S{0,4}|CB-\d|AI\s?R&D-\d|BSL|level\sof\s(?:risk|capability)|risk\slevels?)"
# Rules and definitions speak of models in general, or of what would be.
_GENERAL = _compile(
    r"\bwhether\b|\bas\smodels\b|\bonce\b|^(?:if|when|should|where|for\sany|models?\sthat|a\smodel|an\sAI|any\smodel|to\s(?:rule|determine|assess|test|measure))\b",
    r"\b(?:is|are)\sdefined\b|\bdefines?\b|\bwe\s(?:would|will)\b|\bwould\s(?:be|have|need|require)\b|\bmust\b|\bdesigned\sto\b|\baims?\sto\b|\b(?:intended|intention|goal|hope|want|plan|commit\w*)\b|\?$",
)
_UNPUBLISHED = "the threshold's value is not given here; θ stays empty"

WORDED: tuple[Worded, ...] = (
    # Doubt about a level is the card's reason to act as if it were reached.
    Worded(
        pattern=re.compile(rf"\b(?:cannot|can\s?not|can[’']t|could\snot|unable\sto|not\sable\sto)\s(?:\w+\s)?(?:rule|ruling)\sout\b|\btreat(?:ing|ed|s)?\b[^.;]{{0,60}}\bas\s(?:\w+\s)?{_LEVEL}"),
        form=Form.THRESHOLD, relation=Relation.AT_LEAST, unless=_GENERAL, note=_UNPUBLISHED,
    ),
    # A level that is not reached.
    Worded(
        pattern=re.compile(
            rf"\b{_NOT}\s(?:yet\s)?(?:\w+\s){{0,2}}?{_REACH_VERBS}\b[^.;]{{0,90}}{_LEVEL}"
            rf"|\b(?:remain\w{{0,3}}|stay\w{{0,3}}|f[ae]ll\w{{0,3}}|is|are|was|were|scor\w{{1,3}}|perform\w{{0,3}}|well|far|substantially)\s(?:well\s|far\s|significantly\s)?(?:below|short\sof|under)\b[^.;]{{0,70}}{_LEVEL}"
            rf"|\b(?:rule|rules|ruled|ruling)\sout\b[^.;]{{0,60}}(?:{_LEVEL}|capabilit|need\sfor|risk)"
            rf"|\bno\s(?:\w+\s){{0,2}}models?\s(?:\w+\s){{0,2}}{_REACH_VERBS}\b[^.;]{{0,60}}{_LEVEL}"
        ),
        form=Form.THRESHOLD, relation=Relation.AT_MOST, unless=_GENERAL, note=_UNPUBLISHED,
    ),
    # No added risk or uplift: a line without a number.
    Worded(
        pattern=_compile(
            r"\b(?:does|do|did|would)(?:\s?n[o’']t|\snot)\s(?:\w+\s)?(?:introduce|pose|present|provide|add|constitute|create|enable|offer|give|increase)\b[^.;]{0,60}\b(?:risks?|uplift|harms?|capabilit\w{1,3}|threats?)\b",
            r"\b(?:no|little|not)\s(?:meaningful|significant|substantial|material|additional|measurable)\s(?:\w+\s)?(?:uplift|risk|increase\sin\srisk)\b",
        ),
        form=Form.THRESHOLD, relation=Relation.AT_MOST, unless=_GENERAL, note=_UNPUBLISHED,
    ),
    # A level that is reached, thresholds that are passed.
    Worded(
        pattern=re.compile(
            rf"\b(?:reach|cross|meet|met|exceed|pass|surpass|clear)(?:es|ed|s|ing)?\s(?:\w+\s){{0,4}}?{_LEVEL}"
            rf"|\b(?:is|are|was|were)\s(?:\w+\s)?(?:above|over)\s(?:\w+\s){{0,3}}{_LEVEL}|\bmodel\sto\s(?:pass|reach|meet|cross)\b[^.;]{{0,40}}thresholds?",
        ),
        form=Form.THRESHOLD, relation=Relation.AT_LEAST, unless=_GENERAL, note=_UNPUBLISHED,
    ),
    # Nothing was seen: an observation of none.
    Worded(
        pattern=_compile(
            r"\b(?:did|does|do|could|was|were)(?:\s?n[o’']t|\snot)\s(?:able\sto\s)?(?:solv|complet|succe|produc|exhibit|attempt|achiev|show|demonstrat|pass|exploit|engag)\w{0,4}\s(?:(?:in|on|at|to)\s)?(?:any|a\ssingle|one)\b",
            r"\b(?:solved|completed|passed|succeeded\s(?:in|on))\s(?:none|no\s\w+)\b",
            r"\b(?:found|observed|saw|identified|produced|exhibited|resulted\sin)\s(?:none|no)\s(?:\w+\s){0,2}(?:instances?|cases?|examples?|jailbreaks?|attempts?|failures?|violations?)\b",
            r"\b(?:did|do)(?:\s?n[o’']t|\snot)\s(?:observe|find|see|identify|detect|encounter)\s(?:any|a\ssingle)\s(?:\w+\s){0,3}(?:instances?|cases?|examples?|signs?|jailbreaks?|attempts?)\b",
        ),
        form=Form.EXISTENCE, is_none_seen=True, unless=_GENERAL, note="the card says that none was seen; 0 stands as the figure",
    ),
    # Bounds in words.
    Worded(
        pattern=_compile(
            r"\b(?:effects?|impacts?|changes?|differences?|risks?|propensit\w{1,3}|degradations?|regressions?)\b[^.;]{0,80}\b(?<!not\s)(?:very\s(?:minor|small|low|limited)|minor|minimal|negligible|insignificant)\b",
            r"\b(?:has|have|had|show(?:s|ed)?|poses?|posed|presents?|exhibit(?:s|ed)?|is|are|was|were|with)\s(?:an?\s)?(?:\w+\s)?(?:low|minimal|negligible|limited)\s(?:\w+\s)?(?:propensity|likelihood|risks?|tendency)\b",
            r"\b(?:is|are|was|were)\s(?:very\s|highly\s|quite\s)?(?:unlikely|not\slikely)\sto\b",
            r"\b(?:no|little|not\sfind|not\sfound|not\sobserve|not\ssee)\s(?:any\s|clear\s|strong\s|significant\s)?(?:evidence|indications?|signs)\s(?:of|that|for)\b",
        ),
        form=Form.UPPER_BOUND, relation=Relation.AT_MOST, unless=_GENERAL, note="a bound in words, without a number; θ stays empty",
    ),
    # Rates in words.
    Worded(
        pattern=_compile(
            r"\b(?:very\s|overall\s|extremely\s|relatively\s)?(?:low|high|lower|moderate|small|substantial|similar|comparable|perfect)\s(?:\w+\s){0,2}rates?\s(?:of|on|across|in|at)\b",
            r"\b(?:rarely|seldom|hardly\sever|very\sinfrequently|almost\snever|almost\salways|nearly\salways|consistently\s(?:refus|declin|avoid|comp)\w{1,4})\b",
            r"\b(?:almost|nearly|near)[\s-]perfect\s(?:\w+\s)?(?:rate|score|accuracy|performance)\b",
        ),
        form=Form.PREVALENCE, unless=_GENERAL, note="a rate in words, without a number",
    ),
    # Something was seen at least once.
    Worded(
        pattern=_compile(
            r"\bnon-?zero\s(?:instances?|rates?|cases|number)\b",
            r"\b(?:sometimes|occasionally|on\soccasion|at\stimes)\b",
            r"\bin\s(?:some|rare|a\sfew|certain|several|isolated|a\ssmall\snumber\sof|a\shandful\sof)\s(?:\w+\s)?(?:cases|instances|scenarios|tests|conversations|transcripts|episodes|situations|runs|rollouts|examples|trials)\b",
            r"\b(?:we|they|testers|red[- ]teamers|evaluators|AISI|Apollo|METR)\s(?:also\s|have\s)?(?:observed|found|identified|saw|discovered|noticed|documented|encountered|uncovered)\s(?:[\w-]+\s){0,4}(?:instances?|cases?|examples?|occurrences?|jailbreaks?|vulnerabilit\w{1,3})\b",
            r"\b(?:models?|it)\s(?:can|could|is\sable\sto|are\sable\sto|was\sable\sto|were\sable\sto)\s(?!be\b)(?:\w+ly\s)?(?:distinguish|recogni[sz]e|detect|identif|solv|complet|evad|bypass|exploit|discover|tell)\w{0,3}\b",
        ),
        form=Form.EXISTENCE, unless=_GENERAL, is_clear=False,
    ),
    # Set against other models, without figures.
    Worded(
        pattern=_compile(r"\b(?:higher|greater|more\s(?:often|frequent\w{0,2}|likely|prone))\b[^.;]{0,70}\bthan\b", r"\b(?:increase|rise)\s(?:\w+\s){0,4}(?:compared\sto|over|relative\sto)\b"),
        form=Form.THRESHOLD, relation=Relation.AT_LEAST, unless=_GENERAL, is_relative=True, is_clear=False, note="set against something else; θ stays empty",
    ),
    Worded(
        pattern=_compile(r"\b(?:lower|fewer|less\s(?:often|frequent\w{0,2}|likely|prone))\b[^.;]{0,70}\bthan\b", r"\b(?:decrease|reduction|drop)\s(?:\w+\s){0,4}(?:compared\sto|over|relative\sto)\b"),
        form=Form.THRESHOLD, relation=Relation.AT_MOST, unless=_GENERAL, is_relative=True, is_clear=False, note="set against something else; θ stays empty",
    ),
)  # fmt: skip
