"""Words by which a card sets one figure beside another."""

HUMANS: tuple[str, ...] = (
    # A baseline that is not a model.
    (
        r"(?:(?:human|domain|subject[- ]matter|consensus|median|average|top|PhD[- ]level|trained|skilled) )*"
        r"(?:expert|experts|novice|novices|human|humans|participant|participants|crowd ?workers|PhDs?)(?: (?:\w+ )?(?:baseline|"
        r"performance|score|average|level))?"
    ),
    (
        r"(?:the )?(?:(?:random|chance|majority|naive|no-skill|non-expert|internet-only|control) ){1,3}(?:guess(?:ing)?|baseline|"
        r"group|arm|performance)"
    ),
    r"(?:the )?(?:\w+ ){0,3}baselines?",
)

ASIDE: tuple[str, ...] = (
    # What stands between an own figure and those it is compared with: from here on, figures are of others.
    r"compar(?:ed|es|ing|able|ably) (?:to|with)",
    r"in (?:comparison|contrast) (?:to|with)",
    r"relative to",
    r"versus|vs\.?",
    r"(?:improv(?:ing|ed|es|ement)|gain(?:s|ed|ing)?|advantage|lead) (?:over|on|upon)",
    r"(?:similar|similarly|close|closer|closest|nearly identical|equal|equivalent|on par|in line|consistent)(?: \w+)? (?:to|with)",
    r"(?:up|down|reduced|increased|improved) from",
    r"as opposed to|as against|against|unlike|whereas|while|but",
    (
        r"(?:higher|lower|better|worse|more|less|fewer|greater|larger|smaller|weaker|stronger|safer|above|below|behind|"
        r"ahead)(?: \w+){0,2} (?:than|of)"
    ),
    r"than",
    r"exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|outperform(?:s|ed|ing)?|underperform(?:s|ed|ing)?|match(?:es|ed|ing)?|trail(?:s|ed|ing)?",
    r"followed by|ahead of|behind",
)

RELATIVE: tuple[str, ...] = (
    # A bound that is another figure: what is said holds relative to it alone.
    (
        r"(?:(?:over|more than|at least|about|around|roughly|approximately|nearly|almost|up to) )?(?:~ ?)?"
        r"(?:\d{1,4}(?:\.\d{1,2})?(?: ?[×x]| ?-?fold| times)|twice|double|triple|half|one[- ]half|one[- ]third|a third|a quarter)"
        r"(?: (?:higher|lower|more|less|fewer|greater|larger|smaller|better|worse|as (?:often|much|many|likely|high|low)(?: as)?|"
        r"(?:the |that )?(?:rates?|scores?|level|"
        r"frequency)?(?: of)?|an? (?:increase|decrease|reduction|drop|improvement)|decrease|increase|reduction|drop|improvement))*"
    ),
    (
        r"(?:(?:significantly|substantially|slightly|much|far|somewhat|marginally|considerably|consistently|statistically) )*"
        r"(?:higher|lower|better|worse|more|less|fewer|greater|larger|smaller|weaker|stronger|safer)"
    ),
    r"(?:outperform|underperform|exceed|surpass|trail|match|beat)(?:s|es|ed|ing)?",
    r"(?:roughly |broadly |very |largely |statistically )*(?:comparabl[ey]|similar(?:ly)?|equivalent|on par|in line)",
    r"(?:improv|regress|increas|decreas|declin|reduc)(?:es|ed|ing|tion|ements?)?",
)

LINKS = r"(?:to|than|of|over|from|with|as|on|those of|that of|compared (?:to|with)|relative to|in comparison (?:to|with)|versus|vs\.?)"
"""What joins such words to what they are relative to."""

GROUPS = (
    r"(?:(?:the|an?|any|all|every|no|other|its|our) )*(?:(?:most|least|next|second|best|strongest|top|leading|other)"
    r"(?:[- ][\w-]{1,20}){0,2} )?non-(?-i:[A-Z])\w{1,20} (?:models?|systems?|assistants?)|"
    r"(?:(?:the|our|a) )?(?:(?:next|second)[- ](?:best|most \w{1,20})|strongest|closest|nearest|leading|best|top)(?: [\w-]{1,20}){0,2} "
    r"(?:competitors?|competing models?|rivals?|alternatives?)|"
    r"no (?:other )?models? (?:apart from|except|other than|besides|but) "
    r"(?-i:[A-Z])[\w.-]{0,20}(?: (?-i:[A-Z\d])[\w.-]{0,20}){0,3}|"
    r"(?:all |any |every |most |our |the |its )*(?:other|previous|prior|earlier|older|recent|comparable|publicly available|"
    r"existing|preceding|predecessor)"
    r"(?: \w+){0,3} (?:models?|versions?|releases?|snapshots?|generations?)(?: (?:we )?(?:tested|evaluated|assessed))?|(?:its|"
    r"their) predecessors?"
)
"""Models that are not named one by one."""

ANNOUNCED = (
    r"\((?P<what>[^()]{0,80}\b(?:compared|comparison|relative|scores?|results?|rates?|numbers?|figures?|"
    r"values?)\b[^()]{3,160}?\b(?:in|shown in|given in)) (?:parenthes[ei]s|parentheses|brackets)\)"
)
"""A sentence that says what stands in its parentheses."""

SETTINGS = (
    r"^(?:#|no\.?|n|k|num(?:ber)?\b.*|count|total|max(?:imum)?(?: score)?|shots?|# ?shots?|.*\bshots?|samples?|responses?|trials?|"
    r"runs?|attempts?|prompts?|"
    r"(?:sample )?size|items|questions|tasks|scenarios|environments?|metric|unit|version|year|date|seed|temperature|weight|"
    r"parameters?|params|section|page)$"
)
"""Heads of columns that hold how something was measured, not what came out."""

IN_HEAD_ONLY = (
    r"\b(?:delta|Δ|difference|change|diff\.?|improvement|p-?value|significance|std\.?(?: dev)?|stderr|"
    r"standard (?:error|deviation)|±|ci|rank)\b"
)
"""Heads of columns that say something about other columns."""
