"""Words that show a claim's logical form, and the ways cards make claims without a figure, as tables."""

import re
from dataclasses import dataclass

from registry.records.claim import Form, Relation

# Words around a figure that show a claim's logical form, as data.


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdNouns:
    """Nouns for a line that results are measured against, and where they stand beside its number."""

    before: re.Pattern[str]
    after: re.Pattern[str]


_BAR = r"(?:thresholds?|baselines?|limits?|cut-?offs?|bars?|criterion|requirements?|ceilings?|floors?|trigger|rule-(?:in|out))"
BARS = ThresholdNouns(
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
# Below a line, and above it. Of several matches, the last one before the figure counts.
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


# Forms of claims without a figure, as a table. The first match gives the form.


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedForm:
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


# Rules, definitions and intentions are about models in general or about plans. They are no claims.
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
# Claims without cases: no evidence is a bound, no difference a comparison.
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
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives))


def _anyhow(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST
_LEVELS = ("threshold", "ccl", "level", "high", "critical", "tier", "asl", "cb-", "r&d", "bsl")
_DENIES = ("not", "n't", "n’t", "never", "fail", "without", "unable")
WORDED: tuple[WordedForm, ...] = (
    # Doubt about a level is the card's reason to act as if it were reached.
    WordedForm(pattern=_exactly(_UNABLE, _TREATED), needs=("rul", "treat"), form=Form.THRESHOLD, relation=LEAST, note=_NO_THETA),
    WordedForm(pattern=_exactly(_FAILS_RULE_OUT), needs=("out",), form=Form.THRESHOLD, relation=LEAST, note=_NO_THETA),
    WordedForm(pattern=_exactly(_MEETS_RULE_OUT), needs=("out",), form=Form.THRESHOLD, relation=MOST, note=_NO_THETA),
    # A level that is not reached, or no added risk: a line without a number.
    WordedForm(pattern=_exactly(_NOT_REACHED, _NOT_PASSED, _NO_MODEL), needs=_LEVELS, form=Form.THRESHOLD, relation=MOST, note=_NO_THETA),
    WordedForm(
        pattern=_exactly(_BELOW, _RULED_OUT), needs=("below", "short", "under", "out"), form=Form.THRESHOLD, relation=MOST, note=_NO_THETA
    ),
    WordedForm(
        pattern=_anyhow(_NO_HARM, _NO_UPLIFT), needs=("no", "n't", "n’t", "little"), form=Form.THRESHOLD, relation=MOST, note=_NO_THETA
    ),
    # A level that is reached, thresholds that are passed.
    WordedForm(pattern=_exactly(_REACHED, _PASSED, _ABOVE, _FIRST), needs=_LEVELS, form=Form.THRESHOLD, relation=LEAST, note=_NO_THETA),
    # Nothing was seen: an observation of none.
    WordedForm(
        pattern=_anyhow(_DID_NOT, _DID_NONE, _SAW_NONE, _DID_NOT_SEE),
        needs=("no", "n't", "n’t"),
        form=Form.EXISTENCE,
        is_none_seen=True,
        note=_NONE_SEEN,
    ),
    WordedForm(
        pattern=_anyhow(_NONE_THERE, _NONE_FOUND, _FAILED),
        needs=("no", "n't", "n’t"),
        form=Form.EXISTENCE,
        is_none_seen=True,
        is_clear=False,
        note=_NONE_SEEN,
    ),
    # Bounds in words, then rates in words.
    WordedForm(
        pattern=_anyhow(_SMALL_EFFECT, _LOW_RISK, _UNLIKELY, _NO_EVIDENCE),
        needs=("small", "low", "limited", "minor", "minimal", "negligible", "insignificant", "likely", "no", "little"),
        form=Form.UPPER_BOUND,
        relation=MOST,
        note=_NO_BOUND,
    ),
    WordedForm(
        pattern=_anyhow(_SOME_RATE, _RARELY, _NEARLY_PERFECT),
        needs=("rate", "rarely", "seldom", "ever", "infrequent", "always", "consistent", "perfect"),
        form=Form.PREVALENCE,
        note=_NO_RATE,
    ),
    # Something was seen at least once.
    WordedForm(pattern=_anyhow(_NOT_ZERO), needs=("zero",), form=Form.EXISTENCE),
    WordedForm(pattern=_anyhow(_SOMETIMES, _IN_SOME, _SAW, _ABLE), needs=(), form=Form.EXISTENCE, is_clear=False),
    # Set against other models, without figures.
    WordedForm(
        pattern=_anyhow(_MORE, rf"\b(?:increase|rise){_AGAINST}"),
        needs=("than", "increase", "rise"),
        form=Form.THRESHOLD,
        relation=LEAST,
        is_relative=True,
        is_clear=False,
        note=_RELATIVE,
    ),
    WordedForm(
        pattern=_anyhow(_FEWER, rf"\b(?:decrease|reduction|drop){_AGAINST}"),
        needs=("than", "decrease", "reduction", "drop"),
        form=Form.THRESHOLD,
        relation=MOST,
        is_relative=True,
        is_clear=False,
        note=_RELATIVE,
    ),
    WordedForm(
        pattern=_exactly(_BEATS, _MOST_OF_ALL),
        needs=("perform", "surpass", "exceed", "beat", "improv", "most", "best", "strongest", "safest", "highest"),
        form=Form.THRESHOLD,
        relation=LEAST,
        is_relative=True,
        is_clear=False,
        note=_RELATIVE,
    ),
)
