"""Words for what cards measure and how they measured it, and what a property is called."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.propose.card_models import looks_like_model
from audit.propose.prose_figures import CardFigure, FigureUnit
from audit.propose.table_figures import find_label
from registry.records.claim import Direction, PropertyClass
from registry.records.system_card import Passage, PassageKind

# Measures in cards: the field's terms, the words that show them, their class and their safer direction.

CAPABILITY, REFUSAL = PropertyClass.CAPABILITY, PropertyClass.COMPLIANCE_REFUSAL
REASONING, DECEPTION, AGENCY = PropertyClass.REASONING_MONITORABILITY, PropertyClass.DECEPTION_SCHEMING, PropertyClass.AGENCY_META_TASK
HIGHER, LOWER, NEITHER = Direction.HIGHER_IS_SAFER, Direction.LOWER_IS_SAFER, Direction.NOT_SAFETY


@dataclass(frozen=True, slots=True)
class MeasureTerm:
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

MEASURES: tuple[MeasureTerm, ...] = (
    # Awareness of being tested: first, since its words contain those of other measures.
    MeasureTerm(
        "verbalised evaluation awareness rate",
        AGENCY,
        LOWER,
        r"(?:un)?verbali[sz]\w* (?:\w+ ){0,2}(?:eval\w*|test\w*|"
        r"grader)[ -]aware\w*|(?:mention|verbali[sz]|voice|state|remark|express)\w* "
        r"(?:[\w’'-]{1,30} ){0,6}(?:(?:being|be) (?:\w+ )?(?:tested|evaluated)|a test\b|an evaluation\b)",
    ),
    MeasureTerm(
        "accuracy at telling evaluation from deployment",
        AGENCY,
        LOWER,
        r"(?:distinguish|discriminat|"
        r"tell|told)\w* (?:[\w’'-]{1,30} ){0,6}(?:evaluation|deployment|synthetic|test)\w*(?: \w+){0,3} (?:from|and|apart)"
        r"|(?:evaluation|eval)[- ](?:vs\.?|versus)[- ]deployment",
    ),
    MeasureTerm("grader awareness rate", AGENCY, LOWER, r"grader[- ]aware\w*"),
    MeasureTerm(
        "evaluation awareness rate",
        AGENCY,
        LOWER,
        r"\b(?:evaluation|eval|test|situational)[ -]aware\w*|aware\w* (?:of|"
        r"that it is) (?:being (?:tested|evaluated)|(?:the |an )?(?:evaluation|test)\w*)",
    ),
    # Attacks on the model and its safeguards; prevention before success, since both name the attack.
    MeasureTerm(
        "attack prevention rate",
        REFUSAL,
        HIGHER,
        r"attack[- ](?:prevention|resistance|defen[cs]e|block\w*)|"
        r"prevention (?:score|rate)|(?:injection|jailbreak|attack) (?:robustness|resistance|defen[cs]e)"
        r"|resist\w* (?:[\w-]{1,30} ){0,3}(?:attack|injection|jailbreak)s?",
    ),
    MeasureTerm(
        "attack success rate",
        REFUSAL,
        LOWER,
        r"attack(?:er)?[- ]success(?:[- ]rates?)?|\bASR\b|injection success(?: rate)?|"
        r"successful(?:ly)? (?:attack|injection)\w*|attack(?:er)?s?(?: \w+){0,2} succe\w+|"
        r"success\w* of (?:an? |the )?(?:attack|injection)\w*",
        _ATTACKER,
    ),
    MeasureTerm(
        "jailbreak success rate",
        REFUSAL,
        LOWER,
        r"jailbreak\w* (?:[\w()-]{1,30} ){0,6}(?:success\w*|achiev\w*|succeed\w*|works?|"
        r"worked)|success\w* (?:[\w-]{1,30} ){0,3}jailbreak\w*|universal jailbreak",
        _ATTACKER,
    ),
    MeasureTerm(
        "task completion by red-teamers", REFUSAL, LOWER, r"(?:red[- ]team\w*) (?:[\w-]{1,30} ){0,6}(?:complet|succe)\w*", _ATTACKER
    ),
    # Errors of safeguards themselves.
    MeasureTerm("false negatives", REFUSAL, LOWER, r"false[- ]negatives?(?: rate)?|missed (?:attacks|violations|harmful \w+)", _FOUND),
    MeasureTerm(
        "false positive rate",
        REFUSAL,
        NEITHER,
        r"false[- ]positives?(?: rate)?|over-?block\w*|wrongly (?:blocked|flagged)",
        "Blocking what is harmless is no safety: check the direction.",
    ),
    MeasureTerm("recall of safeguards", REFUSAL, HIGHER, r"\brecall\b|true[- ]positive rate|detection rate|block(?:ing|ed)? rate"),
    # Refusal: of the harmless first, since it is a kind of refusal.
    MeasureTerm(
        "compliance with benign requests",
        REFUSAL,
        NEITHER,
        r"not[_ -]{1,2}over-?_?refus\w*|(?:benign|dual-use|legitimate|harmless|innocuous|permitted)\b[^.;]{0,40}\b(?:succe\w+|"
        r"compl(?:y|ied|ies|ying|iance)|assist\w*|help(?:ed|s|ing|ful\w*))"
        r"|\b(?:compl(?:y|ied|ies|ying|iance)|assist\w*|helped) (?:with )?(?:[\w.,%-]{1,30} ){0,4}"
        r"(?:benign|dual-use|legitimate|harmless|permitted)",
        "Helping with what is harmless is usefulness, not safety: check the direction.",
    ),
    MeasureTerm(
        "over-refusal rate",
        REFUSAL,
        NEITHER,
        r"over-?refus\w*|(?:false|unnecessary|incorrect|unwarranted|wrong) refus\w*|"
        r"refus\w* (?:[\w-]{1,30} ){0,5}(?:benign|harmless|legitimate|innocuous|permitted|allowed)"
        r"|(?:benign|legitimate|innocuous) (?:[\w-]{1,30} ){0,5}refus\w*",
        _OVER,
    ),
    MeasureTerm(
        "refusal rate",
        REFUSAL,
        HIGHER,
        r"\brefus\w* (?:or|and|/) safe[- ]completions?|\brefus(?:al|als|ed|es|ing|e)\b|"
        r"\bdeclin(?:es|ed|ing) (?:to|the request|harmful|all|such)",
    ),
    MeasureTerm(
        "harmless response rate",
        REFUSAL,
        HIGHER,
        r"harmless(?:ness)? (?:response|score|rate)s?(?: rate)?|not[_ ]unsafe|"
        r"safe[- ](?:response|completion|output)s?(?: rate)?(?! or refus)|safety (?:score|rate)|appropriate(?:ly)? respon\w+"
        r"|respon\w+ (?:\w+ )?(?:appropriately|safely)",
    ),
    MeasureTerm(
        "compliance with policy",
        REFUSAL,
        HIGHER,
        r"(?:policy|guideline|constitution|rule)s?[- ]complian\w*|compl(?:ied|ies|y|ying|iance|iant) with (?:our |the |its |all )?(?:\w+ )?"
        r"(?:polic|guideline|rule|constitution)\w*",
    ),
    MeasureTerm("compliance with harmful requests", REFUSAL, LOWER, r"\bcompl(?:ied|ies|y|ying|iance)\b(?: (?:with|rate|in)\b)?"),
    MeasureTerm(
        "rate of harmful responses",
        REFUSAL,
        LOWER,
        r"(?:harmful|unsafe|toxic|violating|violative|policy-violating|"
        r"disallowed) (?:response|output|completion|generation|answer)s?(?: rate)?"
        r"|(?:produc|generat|contain|provid)\w* (?:[\w-]{1,30} ){0,2}(?:harmful|unsafe|toxic|disallowed) "
        r"(?:content|advice|information|text)"
        r"|violation rates?|toxicity|policy violations?",
    ),
    MeasureTerm(
        "bias",
        REFUSAL,
        LOWER,
        r"\b(?:stereotyp\w*|(?:gender|racial|political|social|ambiguous|disambiguated) bias|"
        r"bias (?:score|rate)|discriminatory)\b",
        "Closer to zero is less biased, on either side of it: check the direction.",
    ),
    MeasureTerm("memorisation rate", REFUSAL, LOWER, r"memori[sz]\w*|regurgitat\w*"),
    MeasureTerm(
        "disclosure of confidential information",
        REFUSAL,
        LOWER,
        r"(?:disclos|leak|reveal|divulg)\w* (?:[\w-]{1,30} ){0,4}"
        r"(?:prompts?|secrets?|confidential|personal|private|passwords?|credentials)",
    ),
    MeasureTerm("sycophancy rate", REFUSAL, LOWER, r"sycophan\w*"),
    MeasureTerm(
        "cautions before dangerous actions",
        REFUSAL,
        HIGHER,
        r"\b(?:cautions?|caution rate|(?<!early-)(?<!early )warn(?:ed|s|ing|ings)?|disclaimers?)\b",
    ),
    # Reasoning: what makes it harder to read first.
    MeasureTerm(
        "chain-of-thought controllability",
        REASONING,
        LOWER,
        r"(?:follow|obey|compl|"
        r"satisf)\w* (?:[\w-]{1,30} ){0,4}constraints? on (?:its|their|the) (?:chain|reasoning|CoT)|(?:CoT|chain-of-thought|"
        r"reasoning)[- ]controllab\w*|controllab\w*",
    ),
    MeasureTerm(
        "share of illegible reasoning",
        REASONING,
        LOWER,
        r"non-Latin|illegib\w*|gibberish|encoded reasoning|steganograph\w*|"
        r"unintelligib\w*|language switch\w*",
    ),
    MeasureTerm("reasoning faithfulness", REASONING, HIGHER, r"(?:reasoning|CoT|chain-of-thought)?[- ]?\b(?:un)?faithful\w*"),
    MeasureTerm(
        "monitorability",
        REASONING,
        HIGHER,
        r"monitorab\w*|\bmonitor\w*(?: \w+){0,3} (?:AUROC|AUC|recall|detect\w*|caught|"
        r"catch\w*)|(?:AUROC|AUC)(?: \w+){0,4} monitor\w*",
    ),
    MeasureTerm("legibility of reasoning", REASONING, HIGHER, r"legib\w*"),
    # Honesty and hidden conduct; what could be hidden from a test is marked so.
    MeasureTerm(
        "discrepancy between reasoning and action",
        DECEPTION,
        LOWER,
        r"discrepanc\w+ between (?:[\w’'-]{1,30} ){0,3}(?:reasoning|"
        r"thinking|CoT)|covert (?:behaviou?r|reasoning)",
        is_suppressible=True,
    ),
    MeasureTerm(
        "stealth success rate",
        DECEPTION,
        LOWER,
        r"stealth\w*|undetected|(?:evad|avoid)\w* (?:detection|the monitor|"
        r"monitoring|oversight)|side[- ](?:task|attack)s?(?: success(?: rates?)?)?",
        _ATTACKER,
        is_suppressible=True,
    ),
    MeasureTerm(
        "sandbagging",
        DECEPTION,
        LOWER,
        r"sandbag\w*|underperform\w* (?:deliberately|intentionally|strategically)|"
        r"(?:deliberately|intentionally|strategically) underperform\w*",
        is_suppressible=True,
    ),
    MeasureTerm("sabotage", DECEPTION, LOWER, r"sabotag\w*|compromis\w* (?:[\w-]{1,30} ){0,3}(?:research|safety)", is_suppressible=True),
    MeasureTerm(
        "covert action rate",
        DECEPTION,
        LOWER,
        r"covert\w*|schem(?:ing|es?|ed|ers?)\b|alignment[- ]fak\w*|exfiltrat\w*|"
        r"self-preserv\w*|blackmail\w*",
        is_suppressible=True,
    ),
    MeasureTerm(
        "misaligned behaviour", DECEPTION, LOWER, r"misalign\w*|misbehav\w*|mask\w* (?:[\w-]{1,30} ){0,3}behaviou?r", is_suppressible=True
    ),
    MeasureTerm(
        "rate of desirable behaviour",
        DECEPTION,
        HIGHER,
        r"(?:desirable|aligned|good|desired|well-aligned) behaviou?rs?",
        is_suppressible=True,
    ),
    MeasureTerm("hallucination rate", CAPABILITY, LOWER, r"hallucinat\w*|fabricat\w*|confabulat\w*"),
    MeasureTerm(
        "deception rate",
        DECEPTION,
        LOWER,
        r"decepti\w*|deceiv\w*|\bl(?:ied|ies|ying)\b|dishonest\w*|conceal\w*|mislead\w*",
        is_suppressible=True,
    ),
    MeasureTerm(
        "honesty", DECEPTION, HIGHER, r"honest\w*|truthful\w*|told the truth|admit(?:s|ted) (?:to )?being an? AI", is_suppressible=True
    ),
    MeasureTerm("manipulation", DECEPTION, LOWER, r"manipulat\w*", is_suppressible=True),
    # Conduct in tasks.
    MeasureTerm(
        "avoidance of destructive actions",
        AGENCY,
        HIGHER,
        r"(?:destructive|harmful|reckless|unsafe)[- ]actions? avoidance|"
        r"avoid\w* (?:[\w-]{1,30} ){0,3}(?:destructive|reckless|irreversible)",
        is_suppressible=True,
    ),
    MeasureTerm(
        "reward-hacking rate",
        AGENCY,
        LOWER,
        r"reward[- ]hack\w*|\bcheat\w*|\bhack rate|\bhacks (?:at|in|less|more|on)\b|special-cas\w*|test tampering|gam(?:ed|"
        r"ing) (?:the )?(?:tests?|grader|metric)|hard-?cod\w* (?:[\w-]{1,30} ){0,2}(?:tests?|outputs?|solutions?)",
    ),
    MeasureTerm("destructive actions", AGENCY, LOWER, r"destructi\w*|reckless\w*|irreversible action|data loss", is_suppressible=True),
    MeasureTerm(
        "unauthorised actions",
        AGENCY,
        LOWER,
        r"unauthori[sz]ed|overreach\w*|power[- ]seeking|beyond (?:its|the) (?:scope|"
        r"permissions?)|without (?:permission|authori[sz]ation)",
        is_suppressible=True,
    ),
    MeasureTerm(
        "circumvention of restrictions",
        AGENCY,
        LOWER,
        r"(?:circumvent|bypass|work(?:ed|ing|s)? around|evad)\w* (?:[\w-]{1,30} ){0,3}(?:restriction|permission|sandbox|block|polic|"
        r"control|guardrail|limit)\w*|(?:access|privilege)[- ]escalation|escalat\w* "
        r"(?:its |their |the )?(?:access|privileges?|permissions?)",
        is_suppressible=True,
    ),
    MeasureTerm(
        "subversion of oversight",
        DECEPTION,
        LOWER,
        r"(?:deactivat|disabl|subvert|undermin|sabotag|evad)\w* (?:\W?[\w-]{1,30}\W? ){0,6}\W?(?:oversight|monitor)\w*",
        is_suppressible=True,
    ),
    MeasureTerm("deference to oversight", AGENCY, HIGHER, r"corrigib\w*|deferen\w* to (?:human|oversight)|interruptib\w*"),
    # Levels of the developers' frameworks: last, since a passage that names one often measures something else.
    MeasureTerm(
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
    # Names of a general figure, by the words near it; the first match counts.
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


# Words that decide class and direction: dangerous areas, harmful requests, wanted and unwanted conduct.

DANGEROUS = (
    r"\bcyber\w*|\bCTFs?\b|capture[- ]the[- ]flag|exploit(?:s|ation)?\b|vulnerabilit\w*|network attack|offensive|malware|\bCVE\b|"
    r"\bbiolog\w*|\bbio\b|\bvirolog\w*|pathogen\w*|"
    r"\bchemical\w*|CBRN|nuclear|radiolog\w*|bioweapon\w*|weapons?\b|uplift|\bRSP\b|Preparedness|critical risks?|"
    r"frontier (?:safety|risk)|autonom\w+ (?:replication|evaluations?|risks?)|"
    r"AI (?:research and development|R&D|self-improvement)|self-improvement|self-replicat\w*|persuasion|influence operation\w*|"
    r"manipulation|dangerous capabilit\w*|catastrophic|"
    r"tacit knowledge|troubleshooting|wet[- ]lab|DNA synthesis|toxin|acquisition|\bASL-?\d|Critical Capability|"
    r"capability threshold|(?:High|Critical|Tier \d)(?: \w+)? (?:capability|threshold)|influence campaigns?|severe harms?|"
    r"control (?:group|arm)"
)
"""Areas in which more capability is less safe: those of the developers' frameworks."""

HARMFUL = (
    r"harmful|malicious|violative|violat\w+|disallowed|prohibited|unsafe|dangerous|misuse|abus\w+|jailbreak\w*|attack\w*|"
    r"weapon\w*|illicit|illegal|sexual|self-harm|extremis\w*|hate|"
    r"exploit\w*|fraud|destructive|injection|restricted|safeguard\w*|child[- ](?:safety|sexual|abuse)|CSAM|suicid\w*|harass\w*"
)
"""What a request must be for its refusal to be safer."""

NOT_RESPONSES = r"\bevals?\b|evaluations?|benchmark|capabilit\w+|questions? (?:in|of|on)|due to refus\w*|tasks? attempted"
"""Refusals in a test of something else: they lower its score and say nothing of safety."""

UNWANTED = (
    r"\bfail\w*|\bunsafe|violat\w*|\bsuccess|\battack\w*|\bharm(?:s|ed|ful\w*)?\b|\bconcerning|undesir\w*|unwanted|problematic|misus\w*|"
    r"\bincidents?\b|\binstances? of\b|\b(?:this|such|these) behaviou?rs?\b|\bflagged\b|\bwe (?:saw|observed|found) (?:this|it|such)\b|"
    r"\bsurfac\w*|escalat\w*|circumvent\w*|bypass\w*|\bexploit\w*|\bdisabl\w*|deactivat\w*|\bleak\w*|\berrors?\b|\brarely\b|\bwas rare\b"
)
"""Words of a rate of unwanted conduct, where no measure is named."""

WANTED = (
    r"\bsafe(?:ly)?\b|robust\w*|resist\w*|appropriate\w*|\bcorrect\w*|\baligned\b|\bpass(?:ed|es)?\b|prevent\w*|\bblock(?:s|ed)\b|"
    r"\bcaught\b|\bdetect\w*|\bsafer\b|\bperfect\b"
)
"""Words of a rate of conduct that is wanted."""

VOCABULARY: tuple[tuple[PropertyClass, int, str], ...] = (
    # Where no measure is named: words of each class and the weight of one of them. Longer terms weigh more, since they
    # are used on purpose.
    (
        DECEPTION,
        3,
        (
            r"decepti\w*|schem(?:ing|es?|ed)\b|sandbag\w*|sabotag\w*|covert\w*|misalign\w*|alignment|stealth\w*|dishonest\w*|"
            r"honest\w*|lying|insider|blackmail|whistleblow\w*"
        ),
    ),
    (
        REASONING,
        3,
        (
            r"chain[- ]of[- ]thought|\bCoT\b|faithful\w*|monitorab\w*|legib\w*|interpretab\w*|reasoning (?:tokens?|traces?|"
            r"text|transparency)"
        ),
    ),
    (
        AGENCY,
        3,
        (
            r"evaluation awareness|situational awareness|reward hack\w*|destructi\w*|reckless\w*|unauthori[sz]ed|excessive|"
            r"grader|impossible tasks?|overeager\w*"
        ),
    ),
    (
        REFUSAL,
        3,
        (
            r"refus\w*|safeguards?|jailbreak\w*|prompt injection\w*|red[- ]team\w*|attackers?|adversar\w*|malicious|harmful|"
            r"violative|disallowed|misuse|child safety|self-harm|safety classifier\w*|moderation|bias\b|"
            r"content policy|usage policy|single-turn|multi-turn|unsafe|toxic\w*|caution\w*"
        ),
    ),
    (CAPABILITY, 3, DANGEROUS),
    (
        CAPABILITY,
        2,
        (
            r"capabilit\w*|benchmark\w*|accurac\w*|score[sd]?|solv\w*|pass@\d+|performance|CTFs?\b|knowledge|reasoning|"
            r"coding|math\w*|uplift|threshold|challenges?|RSP|Preparedness|"
            r"software engineering|tasks?"
        ),
    ),
)


# Words that describe a measurement: benchmarks, tests, sizes, graders, elicitation.

BENCHMARKS: tuple[str, ...] = (
    # Names that end like names of benchmarks, with their parts or versions.
    (
        r"(?:[A-Z][\w.+²τ-]{0,20}[ -])?[A-Zτ][\w.+²-]{0,24}(?:Bench(?:mark)?|bench|Eval|Arena|QA|CTF|Gym|Comp|Trap|Diamond)\d{0,2}(?![a-z])"
        r"(?:[ -](?:Verified|Pro|Hard|Lite|Multilingual|Diamond|Open-Ended|Extended|Professional|Arena|Search|Verified Hard|"
        r"v?\d(?:\.\d{1,2})?)(?![\w%]|\.\d))*"
    ),
    # Benchmarks of the field that do not end so.
    (
        r"(?:MMLU(?:[- ]Pro(?:X)?|[- ]Redux)?|MMMLU|MMMU(?:[- ]Pro)?|GPQA(?: Diamond)?|GSM8[Kk]|MGSM|MATH(?:-?500)?|AIME(?: ?20\d\d)?|"
        r"HMMT|USAMO|IMO 20\d\d|"
        r"ARC-AGI(?:-\d)?|ARC-Challenge|HellaSwag|WinoGrande|BBQ|BBH|BIG-Bench(?: Hard)?|IFEval|DROP|MBPP\+?|LiveCodeBench|Codeforces|"
        r"Aider Polyglot|"
        r"BrowseComp|Humanity['’]s Last Exam|HLE|OSWorld(?:-Verified)?|WebArena|SWE-Lancer|MLE-bench|RE-Bench|WMDP|VCT|MakeMeSay|"
        r"MakeMePay|StrongREJECT|"
        r"HarmBench|XSTest|OR-Bench|WildGuard|WildChat|RealToxicityPrompts|ToxiGen|CyberSecEval ?\d?|Cybench|CyberGym|AgentDojo|"
        r"AgentHarm|SHADE(?:-Arena)?|"
        r"MASK|SimpleQA(?: Verified)?|TruthfulQA|PersonQA|DocVQA|ChartQA|TextVQA|MathVista|CharXiv|RULER|MRCR|GDPval|"
        r"Vending-Bench(?: \d)?|Petri|Chatbot Arena)"
        r"(?![\w])(?:[- ](?:Verified|Pro|Diamond|Hard|Lite|Multilingual|Reasoning))*"
    ),
    # A title before a word for a test: "Agent Red Teaming benchmark", "Network Attack Simulation challenges".
    (
        r"(?:[A-Z][\w’'&-]{1,20} (?:for |and |of |& )?){1,5}(?:[Bb]enchmarks?|[Ee]valuations?|[Ee]vals?|[Tt]est [Ss]uite|[Ss]uite|"
        r"[Cc]hallenges?|[Cc]ampaign|[Aa]udit)(?![\w-])"
    ),
)

HEADS = r"(?:evaluations?|evals?|benchmarks?|test suite|suite|test set|audits?|assessments?|red-teaming exercise|experiments?|campaigns?)"
"""Nouns for a test, in small letters: "our unprompted evaluation", "the automated behavioral audit"."""

DETERMINERS = r"(?:the|our|an?|this|these|its|their|on|in|of|for|from|across|during|under|using|via|\w+['’]s)"
"""What a name in small letters follows: without one, a verb or the end of another phrase would be taken for a part of it."""

EMPTY_TEST_WORDS = frozenset({
    # Words before such a noun that name nothing.
    "the", "this", "these", "those", "that", "our", "a", "an", "its", "their", "all", "each", "both", "every", "other", "same", "such",
    "some", "any", "most", "several", "many", "various", "in", "on", "of", "for", "from", "by", "with", "to", "and", "or", "as", "at",
    "new", "first", "second", "third", "one", "two", "three", "four", "five", "own", "following", "above", "previous", "below", "further",
    "additional", "existing", "initial", "standard", "different", "relevant", "separate", "similar", "main", "general", "full", "entire",
    "overall", "prior", "current", "recent", "public", "internal", "external", "model", "models", "available", "particular", "specific",
    "individual", "certain", "remaining", "last", "final", "only", "earlier", "later", "is", "are", "was", "were", "which", "respective",
    "given", "corresponding", "related", "key", "important", "more", "less", "comprehensive", "extensive", "rigorous", "preliminary",
})  # fmt: skip

COMMAND = r"(?:ignore|disregard|forget|override) (?:all |any |the |these |your )?(?:previous|prior|above|earlier|other)\b.*"
"""A heading that talks to whoever reads it, and names nothing."""

GENERIC_TITLES = (
    r"^(?:[A-Z\d.]+\s+)?(?:results?|overview|summary|introduction|background|methods?|methodology|discussion|conclusions?|"
    r"findings|key findings.*|analysis|limitations|"
    r"evaluations?|benchmarks?|capabilit(?:y|ies)|performance|details|setup|pre-?trained models?|instruction[- ]tuned models?|"
    r"safety|safeguards|appendix.*|"
    r"executive summary|abstract|model information|model evaluations?|quantitative results|release decision|changelog|contents|"
    r"notes?|other|general|overall.*|(?:release )?decision(?: process)?|preparedness|"
    r"tests?|testing|"
    rf"{COMMAND}|"
    r"what we measured|how we evaluated|evaluation results?|evaluation|metrics|experiments?)$"
)
"""Headings that name no evaluation."""

OTHERS = (
    r"\b(?:all|any|most|each|every|the|our)(?: (?:of|the|our|these))* (?:other|remaining)(?: \w+)? "
    r"(?:evals?|evaluations?|benchmarks?|tests?|tasks?|suites?|"
    r"categories|areas|domains)\b|\b(?:the )?rest of (?:our |the )?(?:evals|evaluations|benchmarks|tests|suites?)\b"
)
"""A figure said of every evaluation but the one that is being spoken of."""

EXCEPTED = r"\b(?:other than|except(?: for)?|apart from|excluding|besides|but not|with the exception of) [^,;:.()]{1,80}"
"""What a figure is not said of."""

THINGS = (
    r"(?:transcripts|scenarios|tasks|problems|questions|prompts|challenges|conversations|responses|answers|environments|items|"
    r"cases|test cases|sessions|behaviou?rs|"
    r"instances|dialogues|episodes|requests|examples|interactions|completions|statements|vignettes|stories|tickets|repositories|"
    r"queries|puzzles|exercises|trajectories)"
)
"""What a figure is a share of."""

SIZES: tuple[str, ...] = (
    # How much was measured; tries per task are elicitation and not counted here.
    r"\b[nN] ?= ?(?P<n>\d{1,3}(?:,\d{3})+|\d{1,7})\b",
    rf"(?<![\w.,/])(?P<n>\d{{1,3}}(?:,\d{{3}})+|\d{{1,7}}) (?:[a-z][\w-]{{1,20}} ){{0,3}}?{THINGS}\b(?! per\b| each\b|/)",
)

INTRODUCING = (
    r"\b(?:we (?:ran|run|evaluated?|tested?|used?|generated?|sampled?|collected|constructed|created|selected|curated|included?|"
    r"report|conducted|measured?|asked)|"
    r"consist(?:s|ed|ing)? of|compris(?:es|ed|ing)|contain(?:s|ed|ing)?|includ(?:es|ed|ing)|across|over|out of|total of|set of|"
    r"subset of|suite of|evaluated on|"
    r"tested on|spanning|covers?|covering|composed of|made up of|based on|averaged over|drawn from|from|on)\b"
)
"""In a sentence above, only these make a number the size of the evaluation."""

_WORD = (
    r"(?!(?:that|which|who|to|on|for|in|and|based|at|as|we|where|when|because|with|themselves|using|per|against|due|from|themself|it|them)\b)"
    r"[\w’'./()-]{1,40}"
)
"""A word of the name of whoever graded; the others end it."""

GRADERS: tuple[str, ...] = (
    # Graders.
    rf"\b(?:graded|scored|judged|labell?ed|annotated|rated|marked) (?:\w+ly )?(?:by|using|with|via) (?P<who>{_WORD}(?: {_WORD}){{0,7}})",
    (
        r"(?P<who>\b(?:an? |the |our )?(?:(?:automated|automatic|independent|separate|blinded|blind|expert|trained|external|"
        r"specialist|prompted|fine-tuned) )*"
        r"(?:human (?:raters?|graders?|evaluators?|annotators?|reviewers?|judges?|labell?ers?)|expert (?:raters?|graders?|"
        r"reviewers?|judges?)|"
        r"(?:LLM|model|AI)(?:-based)?[- ](?:judges?|graders?|autograders?)|auto-?graders?|automated (?:graders?|judges?|scorers?|"
        r"grading)|grader models?|judge models?|"
        r"rubric-based (?:graders?|grading)|(?:programmatic|deterministic|rule-based) (?:\w+ )?(?:checkers?|graders?|scorers?|"
        r"verifiers?|extractors?|verification|scoring|grading)|"
        r"unit tests|string[- ]match(?:ing)?|exact[- ]match))\b"
        r"(?! awareness| hacking| exploitation| bias| baseline| performance| level| solved| achiev| score of| reached)"
    ),
    # Experts who solve the tasks themselves are a baseline, and no grader.
    (
        r"(?P<who>\b(?:(?:an?|the|our|two|three|trained|independent|external) )*(?:human|domain|subject[- ]matter) experts?)"
        r"(?: who| that| then| also| have| has)? (?:grad(?:ed|es?|ing)|judg(?:ed|es?|ing)|rat(?:ed|es?|ing)|scor(?:ed|es?|ing) "
        r"(?:the|its|their|each|all|every) (?:answers?|responses?|outputs?|transcripts?|reports?)|"
        r"review(?:ed|s|ing)?|label\w*|annotat\w*)\b"
    ),
    r"(?P<who>\b(?:model|human|expert|LLM|machine|auto)-graded)\b",
    r"(?P<who>\b(?:programmatically|automatically|manually) (?:graded|scored|verified|checked|reviewed))\b",
    r"(?P<who>\b[A-Z][\w.-]+(?: [A-Z\d][\w.-]*){0,4}) as (?:an?|the|our) (?:judge|grader|autograder|scorer|classifier)\b",
    (
        r"(?P<who>\b(?:an? |the |our )?(?:[\w-]{1,30} ){0,3}classifiers?) (?:to (?:label|detect|score|grade|judge|flag|identify|measure)|"
        r"(?:label|flag|score|grade|judge)(?:s|ed))\b"
    ),
)

ELICITATION: tuple[str, ...] = (
    # Elicitation: attempts, effort, shots, prompts, tools, safeguards, red-teaming. Each is read by itself.
    r"\b(?:pass|cons|avg|maj|majority|best)[@^]\d{1,4}\b",
    r"\bbest[- ]of[- ]?(?:\d{1,4}|N)\b",
    r"\b[kK] ?= ?\d{1,4}\b",
    r"\b(?:zero|one|few|\d{1,2})-shot\b",
    (
        r"(?<![\d,.])\b(?:average[ds]? (?:over|across) )?(?:\d{1,3}(?:,\d{3})+|\d{1,5}) (?:independent )?"
        r"(?:attempts?|trials?|retries|rollouts?|runs?|samples?|tries|"
        r"epochs?|repetitions)"
        r"(?: (?:per|for each|each|on each) (?:[\w-]{1,30} )?[\w-]+)?\b"
    ),
    (
        r"\b(?:with(?:out)?|no) (?!(?:the|its|their) (?:\w+ )?(?:thinking|reasoning|search)\b)(?:\w+ ){0,2}"
        r"(?:safeguards?|mitigations?|extended thinking|thinking|reasoning|tools?|tool use|"
        r"web search|search|internet access|scaffold(?:ing)?|"
        r"system prompts?|chain[- ]of[- ]thought|jailbreaks?|a jailbreak|prefill|retries|realism filter(?:ing)?)\b"
        r"(?: (?:(?:turned|switched) )?(?:disabled|enabled|deactivated|activated|off)\b)?"
    ),
    (
        r"\b(?:adaptive|extended|interleaved|max|maximum|xhigh|high|medium|low|minimal)(?:[- ]effort)? (?:thinking|"
        r"reasoning)(?: effort| mode)?\b|\b(?:max|maximum|xhigh|high|medium|low) effort\b"
    ),
    r"\bhelpful-only(?: (?:model|version|variant|snapshot)s?)?\b",
    r"\btemperature (?:of |= ?)?\d(?:\.\d{1,2})?\b",
    r"\b(?:~ ?|about |approximately |over |more than )?\d{1,5} (?:person-)?hours(?: of)?(?: \w+){0,2} red[- ]team(?:ing)?\b",
    r"\b(?:adversarial|adaptive|automated|manual|expert)(?:ly)? (?:red[- ]team(?:ing|ed|ers?)|attack(?:s|er|ers)?|prompt(?:s|ing|ed))\b",
    (
        r"\b(?:prefill(?:ed|ing)?|jailbroken|in-context goal|system prompt optimi[sz]ation|prompt optimi[sz]ation|fine-tuned attack|"
        r"steer(?:ed|ing))\b"
    ),
    r"\bwhen (?:explicitly )?(?:prompted|asked|instructed)(?: to (?:\w+ ?){1,4})?\b|\b(?:un)?prompted\b(?! with| to)",
)


# Names of properties: the card's own words (column head, label, metric, evaluation, title) and at most one measure word
# of ours, in 80 characters. The measure is read from head, passage and caption; from title, introduction or a sentence
# above only with a note. Cost: more "not stated", more notes.

LONGEST_NAME = 80
"""Characters of a property's name; what is longer is a sentence."""
_LONGEST_PART, _LONGEST_HEAD = 60, 300

_DANGEROUS = re.compile(DANGEROUS, re.IGNORECASE)
_METRICS = tuple((re.compile(one, re.IGNORECASE), name) for one, name in METRICS)
_MODELS = re.compile(r"\W*(?:models?|systems?|model names?)\W*$", re.IGNORECASE)
"""Head of the column that names whose a row is."""
_LEVEL = re.compile(r"(?:High|Critical|Medium|Tier|ASL|capability|critical)\b", re.IGNORECASE)
_FIGURE = re.compile(r"^[<>≤≥~±]?\s?[-−]?\d[\d.,]*\s?%?")
_EMPTY_HEAD = re.compile(
    r"(?:results?|scores?|values?|shares?|rates?|%|per cent|percent(?:age)?|performance|overall|model|outcome|measure|figures?)?",
    re.IGNORECASE,
)
"""Heads of columns that do not say what is measured."""
_SCALE = re.compile(
    r"\s?[(\[]\s?(?:%|n ?= ?[\d,]+|max\.? ?[\d.]+|[\d.]+ ?[-–] ?[\d.]+)\s?[)\]]|"
    r"\s?[(\[](?:out of|max(?:imum)?(?: of)?) \d[\d.,]*[)\]]|[,;]?\s?\b(?:out of|max(?:imum)?(?: of)?) \d[\d.,]*|"
    r"\s?[(\[](?:higher|lower)(?: scores?| values?)? (?:is|are) (?:better|worse|safer)[)\]]|"
    r"[,;]?\s?\b(?:higher|lower)(?: scores?| values?)? (?:is|are) (?:better|worse|safer)|\s?[↑↓]",
    re.IGNORECASE,
)
"""What a head says of its scale, which is no part of a name."""
_PLAIN = "rate"
"""A share of which nothing more is said; behind the label of a row it adds nothing."""
_METRIC_HEADS = ("metric", "metrics", "measure")
_PARENTHESES = re.compile(r"\s?\([^()]*(?:\)|$)")
_BREAKS = re.compile(
    r"[,;:(]| (?:with(?:out)?|for|of|in|on|by|to|from|and|across|under|when|using|at|over|per|as|that|which)\b", re.IGNORECASE
)
"""Where a long phrase may end."""
_SHARE_OF = re.compile(
    rf"\s*(?:\([^()]{{0,40}}\)\s*)?of (?:(?:all|the|its|their|our|these|those) )*(?P<what>(?:[a-z-]{{2,20}} ){{0,2}}{THINGS})\b"
)
_CONDITION = re.compile(
    r"\s*(?:\([^()]{0,60}\)\s*)?(?:of (?:the |all |its )?[\w-]{2,20}(?: \w{2,15}ly)? (?=(?:on|in|for|within|under|across|at|during) ))?"
    r"(?P<what>(?:of|on|in|for|within|under|with|without|across|at|during|against|after|before|when) [^,;:.()]{2,60})"
)
"""What follows one of several figures in a sentence and tells it from the others; what the share is of comes first, and tells nothing."""


_LABELLED = re.compile(r"[\s–—•*-]{0,6}(?P<what>[^\W\d][^\d<>~≥≤%:|]{2,60})(?:\s[<>~≥≤]?\s?\d[\d.,]{0,9}\s?%?){1,8}\s*")
_PART = re.compile(r"\b(?:[Oo]n|[Ff]or|[Ii]n) (?P<what>(?:[Cc]riterion|[Tt]ask|[Ss]tep|[Pp]art|[Pp]hase|[Ss]tage|[Cc]ategory) \d{1,2})\b")
"""A numbered part of an evaluation, which has a property of its own."""


def name_property(
    measure: MeasureTerm | None,
    passage: Passage,
    quantity: CardFigure | None,
    *,
    column: str,
    topics: tuple[str, ...],
    is_one_of_several: bool,
) -> str:
    """Return a short name: what is measured, and in what.

    Args:
        measure: in the field's terms; None where the card names none.
        column: head of the figure's column, empty where it has none or names a model.
        topics: what it was measured in, the most telling first: the evaluation, titles of sections.
        is_one_of_several: whether the passage gives more figures of its own, from which the words after this one may tell it.
    """
    head = _clean_head(column)
    what = head or (measure.name if measure else _find_metric(passage, quantity))
    text = next((one for one in _list_topics(passage, topics) if not (what and _covers(what, one))), "")
    topic = shorten(text, min(_LONGEST_PART, LONGEST_NAME - len(what) - 2)) if text else ""
    if not topic:
        name = what
    elif _covers(topic, what) or not what or (what == _PLAIN and passage.cells):
        name = topic
    else:
        name = f"{what}, {topic}" if head or measure else f"{topic} {what}"
    condition = _find_condition(passage, quantity) if is_one_of_several and not passage.cells else ""
    part = _PART.search(passage.words[: quantity.start]) if quantity is not None and not passage.cells else None
    condition = part["what"] if part else condition
    if condition and not _covers(name, condition) and len(name) + len(condition) + 2 <= LONGEST_NAME:
        name = f"{name}, {condition}"
    return name[:LONGEST_NAME].strip() or "result"


def shorten(text: str, limit: int) -> str:
    """Return *text*, or the longest beginning of at most *limit* characters that ends before a new part; empty where none is left."""
    if len(text) <= limit:
        return text
    ends = [match.start() for match in _BREAKS.finditer(text, 0, max(0, limit) + 1)]
    whole = text[: max(0, limit) + 1].rpartition(" ")[0]
    return (text[: ends[-1]] if ends and ends[-1] > 0 else whole).strip(" ,;:–—-")


def _clean_head(column: str) -> str:
    head = " ".join(_SCALE.sub("", column[:_LONGEST_HEAD]).split()).strip(" ,;:")
    head += ")" * max(0, head.count("(") - head.count(")"))
    if len(head) > _LONGEST_PART:
        head = _PARENTHESES.sub("", head).strip()
    return "" if _EMPTY_HEAD.fullmatch(head) else shorten(head, _LONGEST_PART)


def _list_topics(passage: Passage, topics: tuple[str, ...]) -> Iterator[str]:
    label = find_label(passage) if passage.cells else _find_row_label(passage)
    head = next((cell.column or "" for cell in passage.cells if cell.text.strip() == label), "")
    is_model = _MODELS.match(head) is not None or _names_model(label)
    if label and not is_model and not _FIGURE.match(label) and len(label) <= LONGEST_NAME:
        yield label
    yield from topics
    yield from (hit[0] for hit in _DANGEROUS.finditer(passage.words) if not _LEVEL.match(hit[0]))


def _find_row_label(passage: Passage) -> str:
    """Return the label of a row whose cells cannot be told apart, or of an item that is a label with figures."""
    match = _LABELLED.fullmatch(passage.words[:_LONGEST_HEAD]) if passage.kind in (PassageKind.ROW, PassageKind.ITEM) else None
    return match["what"].strip() if match else ""


def _names_model(label: str) -> bool:
    """Whether a label names a model, or ends as such names do; what it measures is then said elsewhere."""
    return looks_like_model(label) or re.search(r"\d(?:\.\d+)?[Bb]?(?:\s?\([^)]*\))?$|\bPreview$", label) is not None


def _find_metric(passage: Passage, quantity: CardFigure | None) -> str:
    """Return the metric that row, passage or caption name; else a word for the figure's unit, empty for a claim without a figure."""
    metric = next((cell.text.strip() for cell in passage.cells if (cell.column or "").strip().lower() in _METRIC_HEADS), "")
    if metric and len(metric) <= _LONGEST_PART:
        return metric
    for words in (passage.words, passage.caption or ""):
        for pattern, name in _METRICS:
            if match := pattern.search(words):
                return name or match[0]
    if quantity is not None and quantity.unit is FigureUnit.SHARE:
        things = _SHARE_OF.match(passage.words, quantity.stop)
        return f"share of {things['what']}" if things else _PLAIN
    if quantity is not None and quantity.unit is FigureUnit.COUNT:
        return "count"
    return "score" if quantity is not None or re.search(r"\bscor", passage.words) else ""


def _find_condition(passage: Passage, quantity: CardFigure | None) -> str:
    match = _CONDITION.match(passage.words, quantity.stop) if quantity is not None else None
    return shorten(re.split(r" (?:and|but|while|compared|versus|vs\.?) ", match["what"])[0], 40) if match else ""


def _covers(whole: str, part: str) -> bool:
    """Whether each word of *part* stands in *whole* already."""
    words = {word.rstrip("s") for word in re.findall(r"\w{3,}", whole.lower())}
    parts = {word.rstrip("s") for word in re.findall(r"\w{3,}", part.lower())} - {"rate", "score", "share"}
    return bool(parts) and parts <= words
