"""The words of a supplement for closed choices: what a reader sees in place of a name from a record."""

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum

from registry.completeness import states_words
from registry.records.analysis_plan import FEWEST_CONTEXTS, FEWEST_TASKS, ContextDesign, IntervalMethod, LockedItem
from registry.records.audit_case import Access, EvidenceKind, EvidenceLayer, Independence, Infeasible, PerturbationEffect, Sign
from registry.records.claim import ClaimEventKind, ClaimRelationKind, Direction, Form, PropertyClass, QuoteStatus, Relation
from registry.records.claim_status import CauseKind, Dispute, Lifecycle, ObjectionStep, Staleness, StalenessVerdict
from registry.records.dossier import MonitorFile
from registry.records.model_version import Descent, ModelEventKind, ModelRef
from registry.records.module_findings import Channel, FindingKind, RaterKind, RecognitionClass
from registry.records.monitor import Attribution, MonitorState, MonitorVerdict
from registry.records.record import AuthorityRole
from registry.records.replay_run import RunStatus
from registry.records.specification import ScoringMethod
from registry.records.supplement import Section, SpecRole
from registry.records.system_card import MatchResult
from registry.records.verdict import (
    Basis,
    ClaimClass,
    CompletenessItem,
    Condition,
    ConditionStatus,
    FigureInterval,
    ItemStatus,
    Mode,
    ReproductionStatus,
    RestrictionStatus,
    Standing,
    Verdict,
    VerdictStanding,
)
from registry.report.number_format import format_hundredths, format_items

DESIGN_RULE = f"A verdict needs at least {FEWEST_TASKS} tasks and {FEWEST_CONTEXTS} contexts on each side."
"""What a design must have, before anything else is planned."""
FIXED_CONTEXTS_KEY = "contexts: fixed"
"""What the plan of an audit file says for a verdict that is conditional on the contexts tested."""
FIXED_CONTEXTS_OPTION = "--contexts fixed"
"""The same on the command line."""

SHAPES: Mapping[str, str] = {
    "stable": "●",
    "degraded": "◆",
    "inverted": "▼",
    "undetermined": "○",
    "unaudited": "☐",
    "supported": "●",
    "narrowed": "◆",
    "suspended": "▼",
    "not_supported": "▼",
    "existence_only": "○",
    "not_resolved": "○",
}
"""A shape for each class and restriction, so that nothing is shown by colour alone."""

TITLES: Mapping[Section, str] = {
    Section.ESTIMATES: "Estimates",
    Section.READINGS: "Readings of the claim",
    Section.CONTEXTS: "Contexts and definitions",
    Section.NATURALNESS: "Rater studies",
    Section.ABLATION: "Cue ablation",
    Section.LAYERS: "Evidence layers",
    Section.JUDGE: "Scorer",
    Section.CONTROLS: "Controls",
    Section.EXCLUSIONS: "Exclusions and coverage",
    Section.PREREGISTRATION: "Locked plan and deviations",
    Section.EXPLORATIONS: "Exploratory analyses",
    Section.VERSIONS: "Model versions",
    Section.HISTORY: "History and disputes",
    Section.CHECKLIST: "Minimum reporting",
    Section.FORMS: "Reporting forms",
    Section.SPECIFICATION: "Claim record",
    Section.PROVENANCE: "Provenance",
    Section.NOT_DONE: "Not done",
    Section.VERIFICATION: "Verification",
    Section.APPENDIX: "Appendix: prompts",
}

# TRACE's own classes and standings keep their names as labels. Verdicts have words of their own,
# which name what follows for the claim.
_WORDS: tuple[tuple[StrEnum, str], ...] = (
    (Independence.SELF, "the publisher audits itself"),
    (Independence.COMMISSIONED, "commissioned by the publisher"),
    (Independence.THIRD_PARTY, "independent third party"),
    (AuthorityRole.LAB, "lab"),
    (AuthorityRole.INSTITUTE, "institute"),
    (AuthorityRole.REGULATOR, "regulator"),
    (AuthorityRole.AUDITOR, "auditor"),
    (Infeasible.TECHNICAL, "technically infeasible"),
    (Infeasible.ONTOLOGICAL, "ontologically infeasible: no defensible one can exist"),
    (Direction.HIGHER_IS_SAFER, "higher is safer"),
    (Direction.LOWER_IS_SAFER, "lower is safer"),
    (Direction.NOT_SAFETY, "not a safety property"),
    (PropertyClass.CAPABILITY, "capability"),
    (PropertyClass.COMPLIANCE_REFUSAL, "compliance and refusal"),
    (PropertyClass.REASONING_MONITORABILITY, "reasoning and monitorability"),
    (PropertyClass.DECEPTION_SCHEMING, "deception and scheming"),
    (PropertyClass.AGENCY_META_TASK, "agency on meta-tasks"),
    (Form.EXISTENCE, "existence: the behaviour was observed at least once"),
    (Form.UPPER_BOUND, "upper bound"),
    (Form.LOWER_BOUND, "lower bound"),
    (Form.PREVALENCE, "prevalence: the score is this high in deployment"),
    (Form.THRESHOLD, "threshold"),
    (Relation.AT_MOST, "≤"),
    (Relation.AT_LEAST, "≥"),
    (QuoteStatus.VERBATIM, "verbatim"),
    (QuoteStatus.PARAPHRASE, "paraphrase"),
    (ClaimClass.STABLE, "stable"),
    (ClaimClass.DEGRADED, "degraded"),
    (ClaimClass.INVERTED, "inverted"),
    (ClaimClass.UNDETERMINED, "undetermined"),
    (Standing.ESTABLISHED, "established"),
    (Standing.CANDIDATE, "candidate"),
    (Standing.STRUCTURAL_RISK, "structural risk"),
    (Standing.DIRECTION_VERIFIED, "direction verified"),
    (Standing.OBSERVED_CONDITION, "observed condition only"),
    (Standing.CONDITIONAL, "conditional on the contexts tested"),
    (Standing.PROVISIONAL, "provisional"),
    (Condition.REPLAY, "replay"),
    (Condition.LOCK, "lock before the run"),
    (Condition.RUNS, "one run under the lock"),
    (Condition.ENDPOINT, "model asked"),
    (Condition.DEPLOYMENT_CONSTRUCTION, "deployment contexts"),
    (Condition.NATURALNESS, "recognisable contexts"),
    (Condition.PLAN, "level and margins of the plan"),
    (Condition.CONTROL, "positive control"),
    (Condition.INVARIANCE, "invariance of the scorer"),
    (Condition.ACCOUNTING, "truncated and excluded responses"),
    (Condition.PROVENANCE, "dates, settings, model name"),
    (Condition.VALIDITY, "not expired"),
    (Condition.REPRODUCTION, "reproduction of the card's figure"),
    (Condition.CLUSTERS, "families and templates"),
    (ConditionStatus.MET, "met"),
    (ConditionStatus.FIXED_CONTEXTS, "for the listed contexts only"),
    (ConditionStatus.MISSING, "MISSING"),
    (ConditionStatus.NOT_CHECKED, "not checked"),
    (ReproductionStatus.REPRODUCED, "reproduced"),
    (ReproductionStatus.NOT_REPRODUCED, "not reproduced"),
    (ReproductionStatus.UNCLEAR, "unclear"),
    (ReproductionStatus.NO_FIGURE, "no figure"),
    (FigureInterval.STATED, "stated by the card"),
    (FigureInterval.WILSON, "from the number of trials (Wilson)"),
    (FigureInterval.EXACT, "taken as exact"),
    (Mode.TECHNICAL, "technical"),
    (Mode.ONTOLOGICAL, "ontological"),
    (Mode.NOISY, "noisy"),
    (Basis.REPLAY, "a locked replay"),
    (Basis.REPORTED, "reported evidence"),
    (Basis.NONE, "no evidence"),
    (ItemStatus.REPORTED, "reported"),
    (ItemStatus.MISSING, "MISSING"),
    (ItemStatus.NOT_APPLICABLE, "not applicable"),
    (ObjectionStep.ANSWERED, "answered"),
    (ObjectionStep.UPHELD, "upheld"),
    (ObjectionStep.REJECTED, "rejected"),
    (ObjectionStep.ESCALATED, "escalated"),
    (Lifecycle.RESERVED, "reserved"),
    (Lifecycle.REGISTERED, "registered"),
    (Lifecycle.PUBLISHED, "published"),
    (Lifecycle.SUPERSEDED, "superseded"),
    (Lifecycle.WITHDRAWN, "withdrawn"),
    (Lifecycle.REJECTED, "rejected"),
    (Dispute.UNDISPUTED, "undisputed"),
    (Dispute.CONTESTED, "contested"),
    (Dispute.UPHELD, "objection upheld"),
    (Staleness.CURRENT, "current"),
    (Staleness.NEEDS_REVIEW, "needs review"),
    (Staleness.STALE, "stale"),
    (CauseKind.SUCCESSOR, "another model version took its place"),
    (CauseKind.DEPRECATION, "the model version is no longer offered"),
    (CauseKind.CARD, "the card has a newer revision"),
    (CauseKind.SPEC, "a definition has a newer version"),
    (CauseKind.METHOD, "the method has a newer version"),
    (CauseKind.OBJECTION, "an objection was upheld"),
    (CauseKind.EXPIRY, "the last audit expired"),
    (CauseKind.MONITOR, "a monitor raised an alarm in production"),
    (CauseKind.REVISION, "the claim was revised"),
    (MonitorVerdict.OPEN, "open: nothing is settled"),
    (MonitorVerdict.HOLDS_SO_FAR, "holds so far: the average rate of the reported windows keeps to the limit"),
    (MonitorVerdict.VIOLATED, "contradicted in production: by its scores, or a verified incident, the limit was not kept at some time"),
    (MonitorVerdict.IN_DOUBT, "in doubt: an alarm was raised, and something is missing for more"),
    (MonitorVerdict.JUDGE_CHANGED, "the judge changed: the alarm says nothing about the model"),
    (Attribution.SYSTEM, "the anchors show no change of the judge"),
    (Attribution.JUDGE, "the anchors raised an alarm too: the judge changed"),
    (Attribution.CORRECTED, "labels of people correct the judge's error, so it does not explain the alarm"),
    (Attribution.OPEN, "whether the judge changed is not known yet"),
    (Attribution.UNKNOWN, "system or judge: there are no anchors"),
    (StalenessVerdict.CONFIRMED, "confirmed"),
    (StalenessVerdict.DISMISSED, "dismissed"),
    (Descent.SUCCESSOR, "successor"),
    (Descent.SNAPSHOT, "snapshot"),
    (Descent.FINE_TUNE, "fine-tune"),
    (ModelEventKind.FOLLOW, "follows"),
    (ModelEventKind.UNFOLLOW, "does not follow"),
    (ModelEventKind.DEPRECATE, "deprecated"),
    (ModelEventKind.REINSTATE, "offered again"),
    (FindingKind.NATURALNESS, "cue naturalness"),
    (FindingKind.ABLATION, "cue ablation"),
    (FindingKind.JUDGE, "scorer"),
    (FindingKind.PROBE, "recognition probe"),
    (FindingKind.SHIFT, "shift between model versions"),
    (FindingKind.CONTROL, "control"),
    (RestrictionStatus.UNAUDITED, "not audited"),
    (RestrictionStatus.SUPPORTED, "supported"),
    (RestrictionStatus.NARROWED, "narrowed"),
    (RestrictionStatus.NOT_SUPPORTED, "not supported"),
    (RestrictionStatus.SUSPENDED, "suspended"),
    (RestrictionStatus.EXISTENCE_ONLY, "existence only"),
    (RestrictionStatus.NOT_RESOLVED, "not resolved"),
    (Verdict.HOLDS, "holds in the contexts tested"),
    (Verdict.DOES_NOT_CARRY_OVER, "does not carry over"),
    (Verdict.CONTRADICTED, "contradicted"),
    (Verdict.NOT_REPRODUCED, "not reproduced"),
    (Verdict.OBSERVED, "observed"),
    (Verdict.CONTRADICTED_IN_PRODUCTION, "contradicted in production"),
    (Verdict.IN_DOUBT, "in doubt"),
    (Verdict.INCONCLUSIVE, "inconclusive"),
    (Verdict.NOT_TESTABLE, "not testable"),
    (VerdictStanding.ESTABLISHED, "established"),
    (VerdictStanding.CONDITIONAL, "conditional"),
    (VerdictStanding.PROVISIONAL, "provisional"),
    (Access.AVAILABLE, "available"),
    (Access.UNAVAILABLE, "unavailable"),
    (Access.WITHHELD, "withheld"),
    (PerturbationEffect.AGAINST_CLAIM, "against the claim"),
    (PerturbationEffect.WITH_CLAIM, "with the claim"),
    (PerturbationEffect.UNKNOWN, "unknown"),
    (EvidenceKind.OBSERVATION, "observation"),
    (EvidenceKind.DEPARTURE, "departure"),
    (EvidenceKind.PERTURBATION, "perturbation"),
    (EvidenceKind.RISK_AMPLIFYING, "risk-amplifying evaluation"),
    (EvidenceKind.ADVERSE, "adverse evaluation"),
    (EvidenceLayer.BEHAVIOURAL, "behavioural"),
    (EvidenceLayer.VERBALISED, "verbalised"),
    (EvidenceLayer.LATENT, "latent"),
    (EvidenceLayer.CUE_SENSITIVITY, "cue sensitivity"),
    (Channel.REASONING, "reasoning"),
    (Channel.OUTPUT, "output"),
    (RecognitionClass.AWARE, "aware"),
    (RecognitionClass.AWARE_BUT_INFORMED, "aware, but informed by the prompt"),
    (RecognitionClass.MONITORING_ONLY, "monitoring only"),
    (RecognitionClass.TASK_CONTENT, "task content"),
    (RecognitionClass.NONE, "none"),
    (Sign.POSITIVE, "positive: the evaluation scores higher than deployment"),
    (Sign.NEGATIVE, "negative: deployment scores higher than the evaluation"),
    (Sign.UNKNOWN, "unknown"),
    (ContextDesign.RANDOM, "random: the contexts are a sample"),
    (ContextDesign.FIXED, "fixed: the listed contexts are what is meant"),
    (ContextDesign.NESTED, "nested: each task has contexts of its own"),
    (IntervalMethod.CLOSED_FORM, "closed form, for a size fixed in advance"),
    (IntervalMethod.GUARANTEED, "guaranteed: exact at the fewer of tasks and contexts, whatever the shape of the scores"),
    (IntervalMethod.ANYTIME, "anytime-valid: they hold whenever the replay is stopped"),
    (RaterKind.PERSON, "person"),
    (RaterKind.MODEL, "model"),
    (ScoringMethod.PATTERN, "pattern"),
    (ScoringMethod.JUDGE, "judge"),
    (ScoringMethod.CHOICE, "choice"),
    (ScoringMethod.NUMBER, "number"),
    (ScoringMethod.LABEL, "human label"),
    (ScoringMethod.EXTERNAL, "external score"),
    (SpecRole.PROPERTY, "Property φ"),
    (SpecRole.SCORING, "Scoring function"),
    (SpecRole.TEST, "P_test"),
    (SpecRole.DEPLOY, "P_deploy"),
    (SpecRole.OTHER, "Definition"),
    (RunStatus.COMPLETED, "completed"),
    (RunStatus.ABORTED, "aborted"),
    (RunStatus.FAILED, "failed"),
    (ClaimEventKind.RESERVE, "reserved"),
    (ClaimEventKind.PUBLISH, "published"),
    (ClaimEventKind.SUPERSEDE, "superseded"),
    (ClaimEventKind.WITHDRAW, "withdrawn"),
    (ClaimEventKind.REJECT, "rejected"),
    (ClaimRelationKind.ALIAS, "is another name for"),
    (ClaimRelationKind.RELATED, "is related to"),
    (ClaimRelationKind.SPLITS, "splits"),
    (ClaimRelationKind.MERGES, "merges"),
    (ClaimRelationKind.RESTATES, "restates"),
    (CompletenessItem.EVALUATION, "evaluation named"),
    (CompletenessItem.SAMPLE_SIZE, "number of tasks or trials"),
    (CompletenessItem.GRADER, "who or what scored"),
    (CompletenessItem.ELICITATION, "how the model was asked"),
    (CompletenessItem.VERSION, "exact model version"),
    (CompletenessItem.THRESHOLD, "threshold θ"),
    (CompletenessItem.UNCERTAINTY, "uncertainty of the figure"),
    (LockedItem.THETA, "θ"),
    (LockedItem.DIRECTION, "direction"),
    (LockedItem.MARGIN, "margin"),
    (LockedItem.EPSILON, "ε"),
    (LockedItem.LEVEL, "level"),
    (LockedItem.INTERVAL, "intervals"),
    (LockedItem.TEST_CONTEXTS, "test contexts"),
    (LockedItem.DEPLOY_CONTEXTS, "deployment contexts"),
    (LockedItem.TASKS, "tasks"),
    (LockedItem.CUES, "cues"),
    (LockedItem.SCORING, "scoring"),
    (LockedItem.MODEL, "model"),
    (LockedItem.BUDGET, "budget"),
    (LockedItem.STOPPING_RULE, "stopping rule"),
    (LockedItem.EXCLUSIONS, "exclusions"),
    (LockedItem.OTHER, "another part of the replay"),
    (MatchResult.UNCHANGED, "unchanged"),
    (MatchResult.MOVED, "moved"),
    (MatchResult.REWORDED, "REWORDED"),
    (MatchResult.GONE, "GONE"),
)
# Built once: every cell of a table looks words up.
_BY_TYPE: Mapping[tuple[type, str], str] = {(type(key), key.value): words for key, words in _WORDS}
"""By type and value: members of two choices with one value are equal texts, and would be one key."""

LAYER_MEANING: Mapping[EvidenceLayer, tuple[str, str]] = {
    EvidenceLayer.BEHAVIOURAL: ("that behaviour changes with context", "by how much in the claimed deployment"),
    EvidenceLayer.VERBALISED: ("that the model mentions a test", "that its behaviour changes"),
    EvidenceLayer.LATENT: ("that the model represents being tested", "that it acts on that"),
    EvidenceLayer.CUE_SENSITIVITY: ("which features of a context a score depends on", "that deployment lacks those features"),
}
"""What each layer can and cannot support (paper section 4)."""


# In the order of the paper's Table 4.
ITEMS: Mapping[str, str] = {
    "task-context-mapping": "Task–context mapping",
    "system-prompts": "System prompts",
    "scaffolds-and-tools": "Scaffolds and tools",
    "evaluator-specific-markers": "Evaluator-specific markers",
    "raw-ed": "Raw ED",
    "ned-and-epsilon": "nED and ε",
    "phi-test-and-phi-deploy": "Φ_test and Φ_deploy",
    "sample-sizes": "Sample sizes",
    "task-families": "Families of tasks",
    "intervals-and-method": "Intervals and their method",
    "judge-scoring-uncertainty": "Judge and scoring uncertainty",
    "scorer-invariance-check": "Scorer invariance check",
    "theta-and-direction-fixed-before-replay": "θ and safety direction fixed before the replay",
    "endpoint-and-version-returned": "Endpoint and version as it returned it",
    "dates-of-access": "Dates of access",
    "sampling-parameters": "Sampling parameters",
    "tool-and-scaffold-configuration": "Tool and scaffold configuration",
    "query-budget": "Query budget and what was spent",
    "excluded-cases": "Excluded cases, with best and worst-case ED",
    "four-evidence-layers": "The four evidence layers",
    "latent-evidence-stated": "Latent evidence stated if unavailable",
    "per-property-ed": "ED per property",
    "replay-coverage": "Replay coverage",
    "deployment-owner-and-objections": "P_deploy owner and open objections",
}
"""The items of minimum reporting as they are printed."""


SHORT_ITEMS: Mapping[CompletenessItem, str] = {
    CompletenessItem.EVALUATION: "Evaluation",
    CompletenessItem.SAMPLE_SIZE: "n",
    CompletenessItem.GRADER: "Grader",
    CompletenessItem.ELICITATION: "Elicitation",
    CompletenessItem.VERSION: "Version",
    CompletenessItem.THRESHOLD: "θ",
    CompletenessItem.UNCERTAINTY: "Interval",
}
"""What a claim states of how its figure came about, as heads of narrow columns."""

CORRECTIONS: Mapping[str, str] = {
    "prediction-powered": "corrected by labels (prediction-powered)",
    "rogan-gladen": "corrected by sensitivity and specificity (Rogan–Gladen)",
}
"""How judged figures were corrected, as it is printed."""

CHECKS: Mapping[str, str] = {
    "person-judge": "judge compared with persons, on both sides",
    "rescored": "the same responses scored again, context hidden or swapped",
    "failure-rate": "rate of a mark that must not differ between the sides",
}
"""The checks of invariance as they are printed."""


def get_item(item: str) -> str:
    """Return the words for an item of the checklist; an item that is not known here is printed as it is called."""
    # Older or newer records can name items that this version does not know.
    return ITEMS.get(item, item.replace("-", " ").capitalize())


def get_words(value: StrEnum) -> str:
    """Return the words for *value*; raises KeyError for a choice that has none, which a test rules out."""
    return _BY_TYPE[type(value), value.value]


def describe_production(file: MonitorFile, today: date | None) -> str:
    """Return how the evidence of a monitor reads on *today*, in words; None leaves time out."""
    verdict = file.find_verdict(today)
    if verdict is MonitorVerdict.VIOLATED and file.plan.is_of_incidents:
        return "contradicted in production: a verified incident is on record"
    if verdict is MonitorVerdict.OPEN and file.windows and file.find_state(today) is MonitorState.SILENT:
        return "open: no window came for longer than planned, or the last one has no data, so nothing is settled"
    return get_words(verdict)


def describe_joint_error(files: Sequence[MonitorFile], today: date | None) -> str | None:
    """Return how many monitors watch a claim, how many contradict it on *today*, how often any of them is wrong; None for one."""
    if len(files) < 2:
        return None
    # Each plan states the error of its own monitor, and `family` is what its author wrote. Whoever locks several monitors looks
    # for the one that alarms, or shows the one that does not: without independence only the sum of the errors is a bound.
    contradicting = sum(file.find_verdict(today) is MonitorVerdict.VIOLATED for file in files)
    total = sum(file.plan.alpha / file.plan.family for file in files)
    error = f"a probability of at most {format_hundredths(total)}" if total < 1 else "a probability that nothing bounds"
    return f"{len(files)} monitors watch this claim, and {contradicting} of them contradict it; that any of them is ever wrong has {error}"


def describe_review(file: MonitorFile) -> str:
    """Return what items show that were reviewed at random in addition to incidents."""
    reading, plan = file.reading, file.plan
    if reading is None:
        return "no window was reported"
    bound = reading.average_limit if plan.relation is Relation.AT_MOST else 1 - reading.average_limit
    if bound >= 1:
        return f"{format_items(reading.reviewed, 'item')}; the event was seen, or items are pending or suppressed, so nothing is bounded"
    error = f"wrong with a probability of at most {plan.alpha / plan.family:.2%}, over all looks"
    seen = f"none among {format_items(reading.reviewed, 'item')}"
    limits = [f"{seen}, so it happens in at most {format_hundredths(bound)} of them on average; {error}"]
    # Ten conversations of one user may show no more than one of them.
    limits += ["it counts conversations of one user as independent"] if plan.counts_dependent else []
    gaps = sum(not window.cells for window in file.current)
    limits += [f"{format_items(gaps, 'window')} without data may have had the event"] if gaps else []
    return "; ".join(limits)


def name_model(model: ModelRef) -> str:
    """Return the name and version of *model*; a version that only says that there is none is reported as such."""
    return f"{model.name}, {model.version}" if states_words(model.version) else f"{model.name}, version not stated"


def format_verdict(verdict: Verdict, standing: VerdictStanding | None) -> str:
    """Return a verdict with how firm it is: `contradicted, established`."""
    return f"{get_words(verdict)}, {get_words(standing)}" if standing else get_words(verdict)
