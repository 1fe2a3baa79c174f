"""Words by which cards say how something was measured."""

BENCHMARKS: tuple[str, ...] = (
    # Names that end as names of benchmarks do, with what tells their parts or versions apart.
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
    # Words that stand before such a noun and name nothing.
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
    # Somebody or something is said to have graded.
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
    # How the model was asked: attempts, effort, shots, prompts, tools, safeguards, red-teaming. Each by itself.
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
