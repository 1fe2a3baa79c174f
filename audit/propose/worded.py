"""The ways in which cards make claims without a figure, as a table: the first that fits tells the form."""

import re
from dataclasses import dataclass

from audit.propose.form_words import NOT, REACH
from registry.records.claim import Form, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """One way to make a claim without a figure."""

    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    """Pieces of words in lower case; without any of them the pattern cannot fit, and looking for them is much cheaper."""
    form: Form
    relation: Relation | None = None
    note: str | None = None
    """What a person should know before accepting it."""
    is_none_seen: bool = False
    """Whether it says that nothing was seen, which is a reported 0."""
    is_relative: bool = False
    """Whether it is set against something else."""
    is_clear: bool = True
    """False where the words are often used for other things too."""


# Rules, definitions and intentions speak of models in general, or of what would be: they claim nothing.
GENERAL = re.compile(
    r"\bwhether\b|\bas\smodels\b|\bonce\b|\?$"
    r"|^(?:if|when|should|where|for\sany|models?\sthat|a\smodel|an\sAI|any\smodel|to\s(?:rule|determine|assess|test|measure))\b"
    r"|\b(?:is|are)\sdefined\b|\bdefines?\b|\bwe\s(?:would|may|might|could)\b|(?<!\bthat\s)(?<!\bwhich\s)\bwould\s(?:be|have|need|require)\b|\bmust\b"
    r"|\bdesigned\sto\b|\baims?\sto\b"
    r"|^(?:historically,?\s)?(?:prior|previous|earlier|older|other|existing)\s(?:\w+\s){0,2}models\b"
    r"|\b(?:may|might)\s(?:\w+\s){0,2}(?:in\s(?:some|rare|certain)|sometimes|occasionally|at\stimes)\b"
    r"|\bwill\b|\b(?:we|our)\s(?:\w+\s)?(?:intend\w{0,2}|intention|aim|goal|hope|want|plan|commit\w{0,6})\b"
    r"|\b(?:where|if|when|whenever|once|unless)\s(?:an?|any)\s(?:\w+\s)?models?\b"
    r"|\b(?:we|our\steam)\s(?:\w+ly\s)?expect\s(?:[\w.-]{1,30}\s){1,6}to\b"
    r"|\bto\s(?:confirm|verify|check|determine|assess|test|ensure|evaluate)\b",
    re.IGNORECASE,
)

# Levels that frameworks name. They are capitalised, so their patterns mind capitals.
_LEVEL = (
    r"(?:thresholds?|CCLs?|[Cc]apability\s[Ll]evels?|High\b|Critical\b|Tier\s?\d|ASL-?\s?\d\S{0,4}|CB-\d|AI\s?R&D-\d|BSL"
    r"|level\sof\s(?:risk|capability)|risk\slevels?)"
)
_UNABLE = r"\b(?:cannot|can\s?not|can[’']t|could\snot|unable\sto|not\sable\sto)\s(?:\w+\s)?(?:rule|ruling)\sout\b"
_TREATED = rf"\btreat(?:ing|ed|s)?\b[^.;]{{0,60}}\bas\s(?:\w+\s)?{_LEVEL}"
_WAS = r"(?:\s(?:\w+\s){0,4}?(?:was|were|is|are|has|have)(?:n[’']t)?)?"
_PASSIVE = r"(?:reached|crossed|met|exceeded|passed|surpassed|hit)\b"
_NOT_PASSED = rf"{_LEVEL}{_WAS}\s(?:not|never)\s(?:yet\s)?(?:been\s)?{_PASSIVE}"
_PASSED = rf"{_LEVEL}\s(?:\w+\s){{0,4}}?(?:was|were|is|are|has\sbeen|have\sbeen)\s(?:\w+\s)?{_PASSIVE}"
_NOT_REACHED = rf"\b{NOT}\s(?:yet\s)?(?:\w+\s){{0,2}}?{REACH}\b[^.;]{{0,90}}{_LEVEL}"
_STANDS = r"(?:remain\w{0,3}|stay\w{0,3}|f[ae]ll\w{0,3}|is|are|was|were|scor\w{1,3}|perform\w{0,3}|well|far|substantially)"
_NEEDED = (
    r"(?:(?:capabilit\w{1,3}|skills?|expertise|performance|proficiency|reliability|level)\s(?:\w+\s)?(?:needed|required|necessary|expected|of\s(?:an?\s)?(?:\w+\s)?"
    r"(?:experts?|professionals?))|(?:human|expert)[\s-](?:\w+\s)?(?:baselines?|level|performance|parity))"
)
_BELOW = rf"\b{_STANDS}\s(?:well\s|far\s|significantly\s|substantially\s)?(?:below|short\sof|under)\b[^.;]{{0,70}}(?:{_LEVEL}|{_NEEDED})"
# A rule-out threshold is met from below; not meeting it leaves the capability open.
_RULE_OUT = r"[^.;]{0,60}\b[Rr]ule-?\s?out\s(?:\w+\s)?(?:thresholds?|criteri\w{1,2}|bars?|levels?|limits?)"
_SATISFIES = r"(?:meet|met|satisf|pass|clear)\w{0,4}\b"
_MEETS_RULE_OUT = rf"\b{_SATISFIES}{_RULE_OUT}|\b(?:below|under|within)\b{_RULE_OUT}"
_FAILS_RULE_OUT = rf"\b{NOT}\s(?:yet\s)?(?:\w+\s){{0,2}}?{_SATISFIES}{_RULE_OUT}"
_RULED_OUT = rf"\b(?:rule|rules|ruled|ruling)\sout\b[^.;]{{0,60}}(?:{_LEVEL}|capabilit|need\sfor|risk)"
_NO_MODEL = rf"\bno\s(?:\w+\s){{0,2}}models?\s(?:\w+\s){{0,2}}{REACH}\b[^.;]{{0,60}}{_LEVEL}"
_REACHED = rf"\b(?:reach|cross|meet|met|exceed|pass|surpass|clear)(?:es|ed|s|ing)?\s(?:[\w-]+\s){{0,4}}?{_LEVEL}"
_ABOVE = rf"\b(?:is|are|was|were)\s(?:\w+\s)?(?:above|over)\s(?:\w+\s){{0,3}}{_LEVEL}"
_FIRST = r"\bmodel\sto\s(?:pass|reach|meet|cross)\b[^.;]{0,40}thresholds?"

_DOES_NOT = r"(?:does|do|did|would)(?:\s?n[o’']t|\snot)"
_ADDS = r"(?:introduce|pose|present|provide|add|constitute|create|enable|offer|give|increase)"
_NO_HARM = rf"\b{_DOES_NOT}\s(?:\w+\s)?{_ADDS}\b[^.;]{{0,60}}\b(?:risks?|uplift|harms?|capabilit\w{{1,3}}|threats?)\b"
_NO_UPLIFT = (
    r"\b(?:no|little|not)\s(?:meaningful|significant|substantial|material|additional|measurable)\s(?:\w+\s)?"
    r"(?:uplift|risk|increase\sin\srisk)\b"
)

_DONE = r"(?:solv|complet|succe|produc|exhibit|attempt|achiev|show|demonstrat|pass|exploit|engag)\w{0,4}"
_DID_NOT = rf"\b(?:did|does|do|could|was|were)(?:\s?n[o’']t|\snot)\s(?:able\sto\s)?{_DONE}\s(?:[\w-]+\s){{0,4}}?(?:any|a\ssingle|one)\b"
# A test that is named and was not passed: “did not solve “Cooling Tower””.
_FAILED = r"\bdid(?:\s?n[o’']t|\snot)\s(?:solve|complete|finish|pass|succeed\s(?:in|on|at)|manage\sto|accomplish)\b"
_DID_NONE = r"\b(?:solved|completed|passed|succeeded\s(?:in|on))\s(?:none|no\s\w+)\b"
_CASES = r"(?:instances?|cases?|examples?|signs?|jailbreaks?|attempts?|failures?|violations?)"
_SAW_NONE = (
    rf"\b(?:found|observed|saw|identified|produced|exhibited|resulted\sin|surfaced|detected)\s(?:none|no)\s(?:\w+\s){{0,2}}{_CASES}\b"
)
_DID_NOT_SEE = (
    r"\b(?:did|do)(?:\s?n[o’']t|\snot)\s(?:observe|find|see|identify|detect|encounter|surface|reveal|uncover|discover|notice|turn\sup|yield|elicit)"
    rf"\s(?:any|a\ssingle)\s(?:\w+\s){{0,3}}{_CASES}\b"
)
# What nobody looks for by cases: no evidence is a bound, no difference a comparison.
_NO_CASE = (
    r"(?!(?:\w+\s){0,2}(?:evidence|indications?|signs?|differences?|reasons?|causes?|need|support|correlations?|relationships?|effects?"
    r"|changes?|impacts?|improvements?|degradations?|regressions?|trends?|concerns?|uplift|significant|one)\b)"
)
_NONE_THERE = rf"\b(?:found|observed|saw|identified|detected|discovered)\sno\s{_NO_CASE}[a-z]"
_NONE_FOUND = (
    rf"\bno\s{_NO_CASE}(?:[\w-]+\s){{1,4}}?(?:was|were|has\sbeen|have\sbeen)\s"
    r"(?:found|observed|detected|identified|seen|discovered|reported|uncovered)\b"
)

_SMALL = r"(?<!not\s)(?:very\s(?:minor|small|low|limited)|minor|minimal|negligible|insignificant)"
_SMALL_EFFECT = (
    rf"\b(?:effects?|impacts?|changes?|differences?|risks?|propensit\w{{1,3}}|degradations?|regressions?)\b[^.;]{{0,80}}\b{_SMALL}\b"
)
_HAS = r"(?:has|have|had|show(?:s|ed)?|poses?|posed|presents?|exhibit(?:s|ed)?|is|are|was|were|with)"
_LOW_RISK = rf"\b{_HAS}\s(?:an?\s)?(?:\w+\s)?(?:low|minimal|negligible|limited)\s(?:\w+\s)?(?:propensity|likelihood|risks?|tendency)\b"
_UNLIKELY = r"\b(?:is|are|was|were)\s(?:very\s|highly\s|quite\s)?(?:unlikely|not\slikely)\sto\b"
_NO_EVIDENCE = (
    r"\b(?:no|little|not\sfind|not\sfound|not\sobserve|not\ssee)\s(?:any\s|clear\s|strong\s|significant\s)?"
    r"(?:evidence|indications?|signs)\s(?:of|that|for)\b"
)

_SOME_RATE = r"\b(?:low|high|lower|moderate|small|substantial|similar|comparable|perfect)\s(?:\w+\s){0,2}rates?\s(?:of|on|across|in|at)\b"
_RARELY = (
    r"\b(?:rarely|seldom|hardly\sever|very\sinfrequently|almost\snever|almost\salways|nearly\salways"
    r"|consistently\s(?:refus|declin|avoid|comp)\w{1,4})\b"
)
_NEARLY_PERFECT = r"\b(?:almost|nearly|near)[\s-]perfect\s(?:\w+\s)?(?:rate|score|accuracy|performance)\b"

_NOT_ZERO = r"\bnon-?zero\s(?:instances?|rates?|cases|number)\b"
_SOMETIMES = r"\b(?:sometimes|occasionally|on\soccasion|at\stimes)\b"
_IN_SOME = (
    r"\bin\s(?:some|rare|a\sfew|certain|several|isolated|a\ssmall\snumber\sof|a\shandful\sof)\s(?:\w+\s)?"
    r"(?:cases|instances|scenarios|tests|conversations|transcripts|episodes|situations|runs|rollouts|examples|trials)\b"
)
_SOMEBODY = r"(?:we|they|testers|red[- ]teamers|evaluators|AISI|Apollo|METR)"
_SAW = (
    rf"\b{_SOMEBODY}\s(?:also\s|have\s)?(?:observed|found|identified|saw|discovered|noticed|documented|encountered|uncovered)\s"
    r"(?:[\w-]+\s){0,4}(?:instances?|cases?|examples?|occurrences?|jailbreaks?|vulnerabilit\w{1,3})\b"
)
_ABLE = (
    r"\b(?:models?|it)\s(?:can|could|is\sable\sto|are\sable\sto|was\sable\sto|were\sable\sto)\s(?!be\b)(?:\w+ly\s)?"
    r"(?:distinguish|recogni[sz]e|detect|identif|solv|complet|evad|bypass|exploit|discover|tell)\w{0,3}\b"
)

_MORE = r"\b(?:higher|greater|more\s(?:often|frequent\w{0,2}|likely|prone))\b[^.;]{0,70}\bthan\b"
_FEWER = r"\b(?:lower|fewer|less\s(?:often|frequent\w{0,2}|likely|prone))\b[^.;]{0,70}\bthan\b"
_OTHERS = (
    r"(?:all|any|every|both|each|previous|prior|earlier|other|the\s(?:next|best|previous|strongest|second)|(?:the\s)?(?:human|expert|median|average|top|most)\b"
    r"|(?:[A-Z][\w.-]{0,30}|o\d)(?:\s[\w.-]{1,20}){0,2}?(?:\s(?:and|on|in|across|by|at|for)\b|,|\.|$))"
)
_BEATS = (
    r"\b(?:(?:outperform|surpass|exceed)(?:s|es|ed|ing)?|beats?|(?:improv(?:es|ed|ing)|improves?\ssignificantly)\s(?:up)?on)"
    rf"\s(?:\w+ly\s)?{_OTHERS}"
)
_MOST_OF_ALL = (
    r"\b(?:is|are|was|were|remain\w{0,3}|it)\s(?:\w+\s)?(?:the|our)\s(?:most\s[\w-]{3,20}|best|strongest|safest|highest[\w-]{0,12})\s(?:\w+\s){0,2}?(?:models?|of\sany)\b[^.;]{0,40}?"
    r"\b(?:evaluated|tested|to\sdate|released|deployed|trained|measured|so\sfar|yet|models?)\b"
)
_AGAINST = r"\s(?:\w+\s){0,4}(?:compared\sto|over|relative\sto)\b"

_NO_THETA = "the threshold's value is not given here; θ stays empty"
_NO_BOUND = "a bound in words, without a number; θ stays empty"
_NO_RATE = "a rate in words, without a number"
_NONE_SEEN = "the card says that none was seen; 0 stands as the figure"
_RELATIVE = "set against something else; θ stays empty"


def _exactly(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives))


def _anyhow(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST
_LEVELS = ("threshold", "ccl", "level", "high", "critical", "tier", "asl", "cb-", "r&d", "bsl")
_DENIES = ("not", "n't", "n’t", "never", "fail", "without", "unable")
WORDED: tuple[Worded, ...] = (
    # Doubt about a level is the card's reason to act as if it were reached.
    Worded(pattern=_exactly(_UNABLE, _TREATED), needs=("rul", "treat"), form=Form.THRESHOLD, relation=LEAST, note=_NO_THETA),
    Worded(pattern=_exactly(_FAILS_RULE_OUT), needs=("out",), form=Form.THRESHOLD, relation=LEAST, note=_NO_THETA),
    Worded(pattern=_exactly(_MEETS_RULE_OUT), needs=("out",), form=Form.THRESHOLD, relation=MOST, note=_NO_THETA),
    # A level that is not reached, or no added risk: a line without a number.
    Worded(pattern=_exactly(_NOT_REACHED, _NOT_PASSED, _NO_MODEL), needs=_LEVELS, form=Form.THRESHOLD, relation=MOST, note=_NO_THETA),
    Worded(
        pattern=_exactly(_BELOW, _RULED_OUT), needs=("below", "short", "under", "out"), form=Form.THRESHOLD, relation=MOST, note=_NO_THETA
    ),
    Worded(pattern=_anyhow(_NO_HARM, _NO_UPLIFT), needs=("no", "n't", "n’t", "little"), form=Form.THRESHOLD, relation=MOST, note=_NO_THETA),
    # A level that is reached, thresholds that are passed.
    Worded(pattern=_exactly(_REACHED, _PASSED, _ABOVE, _FIRST), needs=_LEVELS, form=Form.THRESHOLD, relation=LEAST, note=_NO_THETA),
    # Nothing was seen: an observation of none.
    Worded(
        pattern=_anyhow(_DID_NOT, _DID_NONE, _SAW_NONE, _DID_NOT_SEE),
        needs=("no", "n't", "n’t"),
        form=Form.EXISTENCE,
        is_none_seen=True,
        note=_NONE_SEEN,
    ),
    Worded(
        pattern=_anyhow(_NONE_THERE, _NONE_FOUND, _FAILED),
        needs=("no", "n't", "n’t"),
        form=Form.EXISTENCE,
        is_none_seen=True,
        is_clear=False,
        note=_NONE_SEEN,
    ),
    # Bounds in words, then rates in words.
    Worded(
        pattern=_anyhow(_SMALL_EFFECT, _LOW_RISK, _UNLIKELY, _NO_EVIDENCE),
        needs=("small", "low", "limited", "minor", "minimal", "negligible", "insignificant", "likely", "no", "little"),
        form=Form.UPPER_BOUND,
        relation=MOST,
        note=_NO_BOUND,
    ),
    Worded(
        pattern=_anyhow(_SOME_RATE, _RARELY, _NEARLY_PERFECT),
        needs=("rate", "rarely", "seldom", "ever", "infrequent", "always", "consistent", "perfect"),
        form=Form.PREVALENCE,
        note=_NO_RATE,
    ),
    # Something was seen at least once.
    Worded(pattern=_anyhow(_NOT_ZERO), needs=("zero",), form=Form.EXISTENCE),
    Worded(pattern=_anyhow(_SOMETIMES, _IN_SOME, _SAW, _ABLE), needs=(), form=Form.EXISTENCE, is_clear=False),
    # Set against other models, without figures.
    Worded(
        pattern=_anyhow(_MORE, rf"\b(?:increase|rise){_AGAINST}"),
        needs=("than", "increase", "rise"),
        form=Form.THRESHOLD,
        relation=LEAST,
        is_relative=True,
        is_clear=False,
        note=_RELATIVE,
    ),
    Worded(
        pattern=_anyhow(_FEWER, rf"\b(?:decrease|reduction|drop){_AGAINST}"),
        needs=("than", "decrease", "reduction", "drop"),
        form=Form.THRESHOLD,
        relation=MOST,
        is_relative=True,
        is_clear=False,
        note=_RELATIVE,
    ),
    Worded(
        pattern=_exactly(_BEATS, _MOST_OF_ALL),
        needs=("perform", "surpass", "exceed", "beat", "improv", "most", "best", "strongest", "safest", "highest"),
        form=Form.THRESHOLD,
        relation=LEAST,
        is_relative=True,
        is_clear=False,
        note=_RELATIVE,
    ),
)
