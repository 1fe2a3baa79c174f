"""What cards measure: the field's terms, the words they are recognised by, their class and which way is safer."""

from dataclasses import dataclass

from registry.records.claim import Direction, PropertyClass

CAPABILITY, REFUSAL = PropertyClass.CAPABILITY, PropertyClass.COMPLIANCE_REFUSAL
REASONING, DECEPTION, AGENCY = PropertyClass.REASONING_MONITORABILITY, PropertyClass.DECEPTION_SCHEMING, PropertyClass.AGENCY_META_TASK
HIGHER, LOWER, NEITHER = Direction.HIGHER_IS_SAFER, Direction.LOWER_IS_SAFER, Direction.NOT_SAFETY


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is measured."""

    name: str
    class_: PropertyClass
    direction: Direction
    pattern: str
    note: str | None = None
    is_suppressible: bool = False
    """Whether a model that recognises the test could hide it."""


LEVEL = "dangerous-capability level"
"""What claims about a framework's levels measure; a figure beside them is a score in some test."""

_ATTACKER = "Written as the success of the attacker or red-teamer: a lower figure is safer."
_FOUND = "Failures found are the success of whoever looks for them and depend on how hard they looked: a lower figure is safer."
_OVER = "Refusing what is harmless is no safety: check the direction."

MEASURES: tuple[Measure, ...] = (
    # Awareness of being tested: before everything else, since its words contain those of other measures.
    Measure(
        "verbalised evaluation awareness rate",
        AGENCY,
        LOWER,
        r"(?:un)?verbali[sz]\w* (?:\w+ ){0,2}(?:eval\w*|test\w*|"
        r"grader)[ -]aware\w*|(?:mention|verbali[sz]|voice|state|remark|express)\w* "
        r"(?:[\w’'-]{1,30} ){0,6}(?:(?:being|be) (?:\w+ )?(?:tested|evaluated)|a test\b|an evaluation\b)",
    ),
    Measure(
        "accuracy at telling evaluation from deployment",
        AGENCY,
        LOWER,
        r"(?:distinguish|discriminat|"
        r"tell|told)\w* (?:[\w’'-]{1,30} ){0,6}(?:evaluation|deployment|synthetic|test)\w*(?: \w+){0,3} (?:from|and|apart)"
        r"|(?:evaluation|eval)[- ](?:vs\.?|versus)[- ]deployment",
    ),
    Measure("grader awareness rate", AGENCY, LOWER, r"grader[- ]aware\w*"),
    Measure(
        "evaluation awareness rate",
        AGENCY,
        LOWER,
        r"\b(?:evaluation|eval|test|situational)[ -]aware\w*|aware\w* (?:of|"
        r"that it is) (?:being (?:tested|evaluated)|(?:the |an )?(?:evaluation|test)\w*)",
    ),
    # Attacks on the model and its safeguards; prevention before success, since both name the attack.
    Measure(
        "attack prevention rate",
        REFUSAL,
        HIGHER,
        r"attack[- ](?:prevention|resistance|defen[cs]e|block\w*)|"
        r"prevention (?:score|rate)|(?:injection|jailbreak|attack) (?:robustness|resistance|defen[cs]e)"
        r"|resist\w* (?:[\w-]{1,30} ){0,3}(?:attack|injection|jailbreak)s?",
    ),
    Measure(
        "attack success rate",
        REFUSAL,
        LOWER,
        r"attack(?:er)?[- ]success(?:[- ]rates?)?|\bASR\b|injection success(?: rate)?|"
        r"successful(?:ly)? (?:attack|injection)\w*|attack(?:er)?s?(?: \w+){0,2} succe\w+|"
        r"success\w* of (?:an? |the )?(?:attack|injection)\w*",
        _ATTACKER,
    ),
    Measure(
        "jailbreak success rate",
        REFUSAL,
        LOWER,
        r"jailbreak\w* (?:[\w()-]{1,30} ){0,6}(?:success\w*|achiev\w*|succeed\w*|works?|"
        r"worked)|success\w* (?:[\w-]{1,30} ){0,3}jailbreak\w*|universal jailbreak",
        _ATTACKER,
    ),
    Measure("task completion by red-teamers", REFUSAL, LOWER, r"(?:red[- ]team\w*) (?:[\w-]{1,30} ){0,6}(?:complet|succe)\w*", _ATTACKER),
    # Errors of safeguards themselves.
    Measure("false negatives", REFUSAL, LOWER, r"false[- ]negatives?(?: rate)?|missed (?:attacks|violations|harmful \w+)", _FOUND),
    Measure(
        "false positive rate",
        REFUSAL,
        NEITHER,
        r"false[- ]positives?(?: rate)?|over-?block\w*|wrongly (?:blocked|flagged)",
        "Blocking what is harmless is no safety: check the direction.",
    ),
    Measure("recall of safeguards", REFUSAL, HIGHER, r"\brecall\b|true[- ]positive rate|detection rate|block(?:ing|ed)? rate"),
    # Refusal: of the harmless first, since it is a kind of refusal.
    Measure(
        "compliance with benign requests",
        REFUSAL,
        NEITHER,
        r"not[_ -]{1,2}over-?_?refus\w*|(?:benign|dual-use|legitimate|harmless|innocuous|permitted)\b[^.;]{0,40}\b(?:succe\w+|"
        r"compl(?:y|ied|ies|ying|iance)|assist\w*|help(?:ed|s|ing|ful\w*))"
        r"|\b(?:compl(?:y|ied|ies|ying|iance)|assist\w*|helped) (?:with )?(?:[\w.,%-]{1,30} ){0,4}"
        r"(?:benign|dual-use|legitimate|harmless|permitted)",
        "Helping with what is harmless is usefulness, not safety: check the direction.",
    ),
    Measure(
        "over-refusal rate",
        REFUSAL,
        NEITHER,
        r"over-?refus\w*|(?:false|unnecessary|incorrect|unwarranted|wrong) refus\w*|"
        r"refus\w* (?:[\w-]{1,30} ){0,5}(?:benign|harmless|legitimate|innocuous|permitted|allowed)"
        r"|(?:benign|legitimate|innocuous) (?:[\w-]{1,30} ){0,5}refus\w*",
        _OVER,
    ),
    Measure(
        "refusal rate",
        REFUSAL,
        HIGHER,
        r"\brefus\w* (?:or|and|/) safe[- ]completions?|\brefus(?:al|als|ed|es|ing|e)\b|"
        r"\bdeclin(?:es|ed|ing) (?:to|the request|harmful|all|such)",
    ),
    Measure(
        "harmless response rate",
        REFUSAL,
        HIGHER,
        r"harmless(?:ness)? (?:response|score|rate)s?(?: rate)?|not[_ ]unsafe|"
        r"safe[- ](?:response|completion|output)s?(?: rate)?(?! or refus)|safety (?:score|rate)|appropriate(?:ly)? respon\w+"
        r"|respon\w+ (?:\w+ )?(?:appropriately|safely)",
    ),
    Measure(
        "compliance with policy",
        REFUSAL,
        HIGHER,
        r"(?:policy|guideline|constitution|rule)s?[- ]complian\w*|compl(?:ied|ies|y|ying|iance|iant) with (?:our |the |its |all )?(?:\w+ )?"
        r"(?:polic|guideline|rule|constitution)\w*",
    ),
    Measure("compliance with harmful requests", REFUSAL, LOWER, r"\bcompl(?:ied|ies|y|ying|iance)\b(?: (?:with|rate|in)\b)?"),
    Measure(
        "rate of harmful responses",
        REFUSAL,
        LOWER,
        r"(?:harmful|unsafe|toxic|violating|violative|policy-violating|"
        r"disallowed) (?:response|output|completion|generation|answer)s?(?: rate)?"
        r"|(?:produc|generat|contain|provid)\w* (?:[\w-]{1,30} ){0,2}(?:harmful|unsafe|toxic|disallowed) "
        r"(?:content|advice|information|text)"
        r"|violation rates?|toxicity|policy violations?",
    ),
    Measure(
        "bias",
        REFUSAL,
        LOWER,
        r"\b(?:stereotyp\w*|(?:gender|racial|political|social|ambiguous|disambiguated) bias|"
        r"bias (?:score|rate)|discriminatory)\b",
        "Closer to zero is less biased, on either side of it: check the direction.",
    ),
    Measure("memorisation rate", REFUSAL, LOWER, r"memori[sz]\w*|regurgitat\w*"),
    Measure(
        "disclosure of confidential information",
        REFUSAL,
        LOWER,
        r"(?:disclos|leak|reveal|divulg)\w* (?:[\w-]{1,30} ){0,4}"
        r"(?:prompts?|secrets?|confidential|personal|private|passwords?|credentials)",
    ),
    Measure("sycophancy rate", REFUSAL, LOWER, r"sycophan\w*"),
    Measure(
        "cautions before dangerous actions",
        REFUSAL,
        HIGHER,
        r"\b(?:cautions?|caution rate|(?<!early-)(?<!early )warn(?:ed|s|ing|ings)?|disclaimers?)\b",
    ),
    # Reasoning: what makes it harder to read first.
    Measure(
        "chain-of-thought controllability",
        REASONING,
        LOWER,
        r"(?:follow|obey|compl|"
        r"satisf)\w* (?:[\w-]{1,30} ){0,4}constraints? on (?:its|their|the) (?:chain|reasoning|CoT)|(?:CoT|chain-of-thought|"
        r"reasoning)[- ]controllab\w*|controllab\w*",
    ),
    Measure(
        "share of illegible reasoning",
        REASONING,
        LOWER,
        r"non-Latin|illegib\w*|gibberish|encoded reasoning|steganograph\w*|"
        r"unintelligib\w*|language switch\w*",
    ),
    Measure("reasoning faithfulness", REASONING, HIGHER, r"(?:reasoning|CoT|chain-of-thought)?[- ]?\b(?:un)?faithful\w*"),
    Measure(
        "monitorability",
        REASONING,
        HIGHER,
        r"monitorab\w*|\bmonitor\w*(?: \w+){0,3} (?:AUROC|AUC|recall|detect\w*|caught|"
        r"catch\w*)|(?:AUROC|AUC)(?: \w+){0,4} monitor\w*",
    ),
    Measure("legibility of reasoning", REASONING, HIGHER, r"legib\w*"),
    # Honesty and hidden conduct; what could be hidden from a test is marked so.
    Measure(
        "discrepancy between reasoning and action",
        DECEPTION,
        LOWER,
        r"discrepanc\w+ between (?:[\w’'-]{1,30} ){0,3}(?:reasoning|"
        r"thinking|CoT)|covert (?:behaviou?r|reasoning)",
        is_suppressible=True,
    ),
    Measure(
        "stealth success rate",
        DECEPTION,
        LOWER,
        r"stealth\w*|undetected|(?:evad|avoid)\w* (?:detection|the monitor|"
        r"monitoring|oversight)|side[- ](?:task|attack)s?(?: success(?: rates?)?)?",
        _ATTACKER,
        is_suppressible=True,
    ),
    Measure(
        "sandbagging",
        DECEPTION,
        LOWER,
        r"sandbag\w*|underperform\w* (?:deliberately|intentionally|strategically)|"
        r"(?:deliberately|intentionally|strategically) underperform\w*",
        is_suppressible=True,
    ),
    Measure("sabotage", DECEPTION, LOWER, r"sabotag\w*|compromis\w* (?:[\w-]{1,30} ){0,3}(?:research|safety)", is_suppressible=True),
    Measure(
        "covert action rate",
        DECEPTION,
        LOWER,
        r"covert\w*|schem(?:ing|es?|ed|ers?)\b|alignment[- ]fak\w*|exfiltrat\w*|"
        r"self-preserv\w*|blackmail\w*",
        is_suppressible=True,
    ),
    Measure(
        "misaligned behaviour", DECEPTION, LOWER, r"misalign\w*|misbehav\w*|mask\w* (?:[\w-]{1,30} ){0,3}behaviou?r", is_suppressible=True
    ),
    Measure(
        "rate of desirable behaviour",
        DECEPTION,
        HIGHER,
        r"(?:desirable|aligned|good|desired|well-aligned) behaviou?rs?",
        is_suppressible=True,
    ),
    Measure("hallucination rate", CAPABILITY, LOWER, r"hallucinat\w*|fabricat\w*|confabulat\w*"),
    Measure(
        "deception rate",
        DECEPTION,
        LOWER,
        r"decepti\w*|deceiv\w*|\bl(?:ied|ies|ying)\b|dishonest\w*|conceal\w*|mislead\w*",
        is_suppressible=True,
    ),
    Measure(
        "honesty", DECEPTION, HIGHER, r"honest\w*|truthful\w*|told the truth|admit(?:s|ted) (?:to )?being an? AI", is_suppressible=True
    ),
    Measure("manipulation", DECEPTION, LOWER, r"manipulat\w*", is_suppressible=True),
    # Conduct in tasks.
    Measure(
        "avoidance of destructive actions",
        AGENCY,
        HIGHER,
        r"(?:destructive|harmful|reckless|unsafe)[- ]actions? avoidance|"
        r"avoid\w* (?:[\w-]{1,30} ){0,3}(?:destructive|reckless|irreversible)",
        is_suppressible=True,
    ),
    Measure(
        "reward-hacking rate",
        AGENCY,
        LOWER,
        r"reward[- ]hack\w*|\bcheat\w*|\bhack rate|\bhacks (?:at|in|less|more|on)\b|special-cas\w*|test tampering|gam(?:ed|"
        r"ing) (?:the )?(?:tests?|grader|metric)|hard-?cod\w* (?:[\w-]{1,30} ){0,2}(?:tests?|outputs?|solutions?)",
    ),
    Measure("destructive actions", AGENCY, LOWER, r"destructi\w*|reckless\w*|irreversible action|data loss", is_suppressible=True),
    Measure(
        "unauthorised actions",
        AGENCY,
        LOWER,
        r"unauthori[sz]ed|overreach\w*|power[- ]seeking|beyond (?:its|the) (?:scope|"
        r"permissions?)|without (?:permission|authori[sz]ation)",
        is_suppressible=True,
    ),
    Measure(
        "circumvention of restrictions",
        AGENCY,
        LOWER,
        r"(?:circumvent|bypass|work(?:ed|ing|s)? around|evad)\w* (?:[\w-]{1,30} ){0,3}(?:restriction|permission|sandbox|block|polic|"
        r"control|guardrail|limit)\w*|(?:access|privilege)[- ]escalation|escalat\w* "
        r"(?:its |their |the )?(?:access|privileges?|permissions?)",
        is_suppressible=True,
    ),
    Measure(
        "subversion of oversight",
        DECEPTION,
        LOWER,
        r"(?:deactivat|disabl|subvert|undermin|sabotag|evad)\w* (?:\W?[\w-]{1,30}\W? ){0,6}\W?(?:oversight|monitor)\w*",
        is_suppressible=True,
    ),
    Measure("deference to oversight", AGENCY, HIGHER, r"corrigib\w*|deferen\w* to (?:human|oversight)|interruptib\w*"),
    # Levels of the developers' frameworks: last, since a passage that names one often measures something else.
    Measure(
        LEVEL,
        CAPABILITY,
        LOWER,
        r"(?-i:High|Critical|Medium) (?:capability|threshold)|rule out (?-i:High|Critical)|ASL-\d|(?-i:Tier) \d|critical capability level|"
        r"(?-i:CCL)s?\b|(?:risk|capability|rule-out|early[- ]warning|alert) threshold",
        "Reaching the level is more capability, in an area where that is less safe.",
    ),
)

UNABLE = (
    r"\b(?:(?:unable|not able|failed|fails|failing|incapable) (?:to|of|at|in)|(?:could|can|did|does|do) ?(?:not|n['’]t)|cannot) "
    r"(?:\w{2,20} )?(?:complet|finish|solv|succe|achiev|pass|reach|manag)\w*\b(?! any\b| a single\b| one\b)"
)
"""Words that deny a success: their figure counts failures."""

SAFEGUARD = (
    r"\b(?:safety|content|conversation|topical|input|output|cyber\w*|safeguards?|two[- ]tier|harm\w*)[- ](?:\w+ )?"
    r"(?:monitors?|classifiers?|reasoner)\b|"
    r"\bclassification performance\b|\b(?:monitor|classifier|safeguards?) performance\b"
)
"""What is measured is a safeguard, not the model."""

METRICS: tuple[tuple[str, str], ...] = (
    # What a general figure is called, by the words near it; the first that stands there.
    (UNABLE, "failure rate"),
    (r"\b(?:pass|cons|maj)[@^]\d{1,4}\b", ""),
    (r"\baccurac\w*|\bcorrect(?:ly)?\b", "accuracy"),
    (r"\bF1\b", "F1"),
    (r"\bAUROC\b|\bAUC\b", "AUROC"),
    (r"\bElo\b", "Elo rating"),
    (r"\bwin[- ]rate|preferred", "win rate"),
    (r"\bexact[- ]match\b|\bEM\b", "exact match"),
    (r"success[- ]rates?|succeed\w*", "success rate"),
    (r"pass[- ]rates?|passed|passing", "pass rate"),
    (r"fail\w*", "failure rate"),
    (r"\bsolve[sd]?\b|\bsolving\b|\bsolve rate", "share solved"),
    (r"\bcomplete[sd]\b|\bcompletion rate|task completion", "share completed"),
    (r"\bECI\b|\bAECI\b", "capability index"),
)
