"""Words by which what is measured is judged: dangerous areas, harmful requests, wanted and unwanted conduct, and each class."""

from audit.propose.about.measures import AGENCY, CAPABILITY, DECEPTION, REASONING, REFUSAL
from registry.records.claim import PropertyClass

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
"""Words of a rate of conduct nobody wants, where no measure is named."""

WANTED = (
    r"\bsafe(?:ly)?\b|robust\w*|resist\w*|appropriate\w*|\bcorrect\w*|\baligned\b|\bpass(?:ed|es)?\b|prevent\w*|\bblock(?:s|ed)\b|"
    r"\bcaught\b|\bdetect\w*|\bsafer\b|\bperfect\b"
)
"""Words of a rate of conduct that is wanted."""

VOCABULARY: tuple[tuple[PropertyClass, int, str], ...] = (
    # Where no measure is named: words of each class and what one of them weighs. Longer terms weigh more, since they are said on purpose.
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
