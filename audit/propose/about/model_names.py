"""Words by which cards name models: families of all vendors, variants, and what only looks like a name."""

PLAIN_FAMILIES: tuple[str, ...] = (
    # Not words of English: a number or a variant after them suffices, in any spelling ("gpt-5.3-codex").
    "gpt-5.3-codex", "GPT", "ChatGPT", "Claude", "Gemini", "Gemma", "MedGemma", "CodeGemma", "PaLM", "Llama", "CodeLlama", "Qwen", "QwQ",
    "Mistral", "Mixtral", "Ministral", "Codestral", "Magistral", "Pixtral", "Devstral", "DeepSeek", "OLMo", "OLMoE", "Tulu", "Grok",
    "Kimi", "GLM", "ChatGLM", "MiniMax", "Nemotron", "Jamba", "DBRX", "Hunyuan", "Ernie", "InternLM", "InternVL", "Baichuan", "StarCoder",
    "StarCoder2", "SmolLM", "SmolVLM", "StableLM", "Vicuna", "WizardLM", "BLOOM", "Pythia", "Molmo", "Seed-OSS", "EXAONE", "LFM2",
    "Zephyr", "MPT", "OPT", "BERT", "Whisper", "DALL-E",
)  # fmt: skip

WORD_FAMILIES: tuple[str, ...] = (
    # Words of English: a capital and a number are required ("Nova 2", not "a nova").
    "Nova 2", "a nova", "Command", "Nova", "Phi", "Yi", "Falcon", "Granite", "Titan", "Arctic", "Aya", "Orca", "Galactica",
    "Chinchilla", "Gopher", "Sora", "Opus", "Sonnet", "Haiku", "Palmyra", "Solar", "Alpaca", "Reka", "Inflection", "Pharia", "Apertus",
    "Sparrow", "Mythos", "Fable",
)  # fmt: skip

VARIANTS: tuple[str, ...] = (
    # What makes another model of a name; the longer before the shorter.
    "Flash-Lite", "Flash Lite", "Deep Think", "Deep Research", "Instant", "Opus", "Sonnet", "Haiku", "Codex", "Coder", "Thinking",
    "Turbo", "Ultra", "Nano", "Mini", "Micro", "Small", "Medium", "Large", "Pro", "Flash", "Lite", "Max", "Plus", "Preview", "Instruct",
    "Chat", "Base", "Scout", "Maverick", "Behemoth", "Guard", "Vision", "Math", "Omni", "Audio", "Next", "Reasoning", "Reasoner",
    "Distill", "Premier", "Alpha", "Beta", "VL", "IT", "PT", "OSS", "MoE", "Heavy", "Fast", "Air", "Speciale", "Image", "Nemo", "Robin",
    "R", "A",
)  # fmt: skip

NOT_NAMES: frozenset[str] = frozenset({
    # Capitalised words that a number follows, without naming a model.
    "section", "sections", "figure", "figures", "table", "tables", "appendix", "chapter", "page", "pages", "tier", "level", "levels",
    "step", "steps", "part", "phase", "stage", "version", "note", "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday", "example", "examples", "question", "task", "tasks", "test", "tests", "case", "cases", "scenario", "scenarios", "experiment",
    "option", "rule", "item", "article", "annex", "box", "equation", "eq", "fig", "category", "claim", "condition", "context", "footnote",
    "group", "model", "models", "priority", "risk", "score", "sample", "threshold", "top", "track", "trial", "turn", "week", "year",
    "day", "days", "high", "medium", "low", "critical", "best", "pass", "asl", "cb", "ai", "bsl", "python", "utf", "windows", "ubuntu",
    "linux", "http", "sha", "md", "iso", "rfc", "cve", "cwe", "tpu", "h", "a", "in", "on", "of", "for", "the", "all", "at", "by", "to",
    "from", "with", "over", "under", "about", "only", "around", "least",
})  # fmt: skip

ALL_MODELS = (
    # One figure for several models; the claim is then about all of them, and is not the card's own model's alone.
    r"\b(?:all|every|each|any|none|both|no)(?: of)?(?: the| our| these)?(?: (?!(?:other|previous|prior|earlier|older|non)\b)\w+){0,2} "
    r"models?(?: (?:we )?(?:tested|evaluated|assessed|studied)| have)?\b(?! apart| except| other| besides| but\b)"
)

SNAPSHOTS: tuple[str, ...] = (
    # Which build of the model a figure was measured on; the card's own words become the version.
    (
        r"\b(?:(?:an?|the|its|our) )?(?:near-final|early|earlier|intermediate|final|late|later|production|released?|pre-release|"
        r"previous|initial|recent|representative)"
        r"(?:,? (?:near-final|early|representative|final|model|training|production|internal|release)){0,2} (?:snapshots?|checkpoints?|"
        r"builds?)\b"
    ),
    (
        r"\b(?:(?:an?|the|its|our) )?(?:near-final|pre-release|release[- ]candidate|production|representative)(?:,? (?:near-final|"
        r"representative|final|model|internal)){0,2}"
        r" (?:versions?|models?)\b"
    ),
    r"\b(?:snapshots?|checkpoints?) (?:dated|from|of|as of) (?:\w+ ){0,2}20\d\d\b",
)

GUARDS: tuple[str, ...] = (
    # With which protections it ran; these words mean the model of a figure only where they stand beside the figure. What is
    # additional to the model ("without additional safeguards") is how it was asked.
    r"\bhelpful-only(?: (?:model|version|variant|snapshot)s?)?\b",
    (
        r"\b(?:with|without)(?: (?!(?:additional|further|extra|other|external|the)\b)\w+){0,3} "
        r"(?:safeguards?|mitigations?|classifiers?|protections?|safety reasoner)(?: (?:enabled|"
        r"disabled|activated|active|on|off))?\b"
    ),
    r"\b(?:pre|post)-mitigation\b|\b(?:un)?safeguarded\b",
)

PRONOUNS = r"\b(?:it|its|itself|the model|this model|our model|the (?:new|released|final) model|the assistant|the system)\b"
"""What stands for the model that was named before."""
