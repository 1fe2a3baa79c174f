"""Page one of a claim supplement beside verdict and figure: why nothing is resolved, the limits by harm, and the audit in a line."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from registry.records.analysis_plan import ContextDesign, IntervalMethod
from registry.records.audit_case import Independence
from registry.records.claim import ClaimRevision, Direction
from registry.records.claim_status import Dispute, Lifecycle, Staleness, Status
from registry.records.estimates import Estimate, SpecEstimate, Truncation, TruncationCounts
from registry.records.model_version import ModelRef
from registry.records.module_findings import Ablation, FindingBody, Naturalness, RealismJudge, find_invariance
from registry.records.replay_run import NearDuplicates, Provenance, describe_doubts
from registry.records.statement import Entry
from registry.records.supplement import AuditPart, AuditSummary, Section, StatusReason
from registry.records.verdict import FIRM, Basis, Mode, ReadingVerdict, ReproductionStatus, Restriction, Verdict
from registry.report.claim_outcome import CHANCE, describe_identity, find_interval, format_measure_value
from registry.report.number_format import SHARES, Unit, format_items, format_level, format_percent, join
from registry.report.preregistration import build_choice_reasons, build_deviation_reasons
from registry.report.supplement_wording import get_words

UNSTATED = "The words of the claim"
"""Beginning of the remark that these do not state what was tested."""
SCORER_FAILED = "scorer-not-invariant"
"""The row of the decision table that states a failed check of the scorer itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvidence:
    """What an outcome rests on, as far as its limits follow from it."""

    audit: AuditPart
    outcome: Restriction
    model: ModelRef
    """Of the claim."""
    findings: Collection[FindingBody]
    other_findings: Collection[FindingBody]
    """Of other audits of the same revision."""
    other_audits: Sequence[AuditSummary]

    @property
    def primary(self) -> ReadingVerdict:
        """The reading in the claim's own form."""
        return self.outcome.classification.primary


# Why nothing is resolved.


def explain_outcome(evidence: AuditEvidence) -> str | None:
    """Return why the outcome resolves nothing or only raises a doubt, and what would resolve it; None for a firm verdict."""
    primary, estimate = evidence.primary, evidence.audit.estimate
    if primary.verdict in FIRM and primary.resolves is None:
        return None
    resolves = f"To resolve it: {_lower(primary.resolves)}" if primary.resolves else ""
    # The figure has tasks, contexts and the interval: page one says once that it is too wide.
    if primary.mode is Mode.NOISY and estimate is not None and estimate.specs:
        return join(["Interval too wide.", primary.resolves or ""])
    if primary.rule == SCORER_FAILED:
        # The verdict sentence is the reason.
        return resolves or None
    why = primary.why
    for sentence in evidence.outcome.text.surviving:
        why = why.replace(sentence, "")
    return join([" ".join(why.split()), resolves])


def _lower(text: str) -> str:
    # Symbols and names keep their case.
    return f"{text[0].lower()}{text[1:]}" if text[:2].istitle() or text[1:2] == " " else text


# The limits of an outcome, ordered by harm: what can turn its sign comes before what can only weaken
# it (decision of 2026-11-24). A count of missing reporting items says nothing of harm and is left to
# the checklist.


def build_limits(evidence: AuditEvidence) -> Iterator[StatusReason]:
    """Yield what limits the outcome, the most harmful first."""
    estimate, origin = evidence.audit.estimate, evidence.audit.origin
    # Chosen or changed responses can turn any sign.
    if origin is not None and origin.doubts:
        yield StatusReason(text=f"Doubtful files: {describe_doubts(origin.doubts)}.", section=Section.PROVENANCE)
    if estimate is not None and estimate.specs:
        yield from _list_truncated(estimate.specs)
        yield from _list_unconfirmed(evidence, estimate)
        yield from _list_alike(origin)
        yield from _list_scorer(evidence)
        yield from _list_recognisable(evidence.findings)
    if caution := describe_identity(evidence.audit.asked_now, evidence.outcome.asked):
        yield StatusReason(text=caution, section=Section.PROVENANCE)
    yield from build_deviation_reasons(evidence.audit)
    yield from _list_without_lock(evidence)
    yield from build_choice_reasons(evidence.audit, evidence.other_audits, evidence.model)
    if evidence.primary.hangs_on_one_spec:
        text = "The verdict depends on one contestable deployment specification."
        yield StatusReason(text=text, section=Section.ESTIMATES)
    if estimate is not None and estimate.specs:
        yield from _list_excluded(estimate.specs)
        yield from _list_weighted(estimate.specs)
        yield from _list_assumptions(evidence, estimate)
    if interest := _describe_interest(evidence.audit):
        yield StatusReason(text=f"{interest}.", section=Section.PROVENANCE)


def _describe_interest(audit: AuditPart) -> str | None:
    """Return who audited and in whose interest; None for an independent third party, which the account names."""
    # The code of who audits itself is in every identifier, and the provenance has the name.
    by = audit.auditor.name or audit.auditor.code
    match audit.opening.payload.independence:
        case Independence.THIRD_PARTY:
            return None
        case Independence.SELF:
            return f"Self-audit by {audit.auditor.code}"
        case Independence.COMMISSIONED:
            return f"Commissioned audit by {by}"


def _list_unconfirmed(evidence: AuditEvidence, estimate: Estimate) -> Iterator[StatusReason]:
    check = evidence.primary.reproduction
    # Within the margin the replay gives the card's figure, only less exactly.
    misses = check is not None and check.difference is not None and abs(check.difference) > estimate.margin
    if misses and check is not None and check.status is ReproductionStatus.UNCLEAR and check.reported is not None:
        reported = Unit(low=estimate.range[0], high=estimate.range[1]).given(check.reported)
        yield StatusReason(text=f"The replay neither confirms nor refutes the card's {reported}.", section=Section.READINGS)


def _find_alike(origin: Provenance | None) -> NearDuplicates | None:
    """Return the tasks with nearly the same text and no common family; None where none were seen."""
    alike = None if origin is None else origin.near_duplicates
    return alike if alike and alike.pairs else None


def _list_alike(origin: Provenance | None) -> Iterator[StatusReason]:
    # Several answers to one question count as several questions: too narrow an interval can establish a verdict.
    if alike := _find_alike(origin):
        pairs = "1 pair of tasks has" if alike.found == 1 else f"{alike.found:,} pairs of tasks have"
        example = " and ".join(alike.pairs[0])
        text = f"{pairs} nearly the same text ({example}) and no common family: the intervals are too narrow."
        yield StatusReason(text=text, section=Section.ESTIMATES)


def _list_truncated(specs: Sequence[SpecEstimate]) -> Iterator[StatusReason]:
    counted = [spec.truncation for spec in specs if spec.truncation is not None]
    if not counted:
        yield StatusReason(text="Not stated which responses were truncated.", section=Section.EXCLUSIONS)
        return
    # The specification with the largest loss stands for all: the others lost less. Responses that were
    # truncated when nothing could change their score any more weaken no verdict; the section on
    # exclusions counts them.
    worst = max(counted, key=lambda sides: (not _is_final(sides), max(_share(sides.test), _share(sides.deploy))))
    if not _is_final(worst):
        deploy, test = format_percent(_share(worst.deploy)), format_percent(_share(worst.test))
        text = f"{deploy} of deployment and {test} of evaluation responses truncated."
        yield StatusReason(text=text, section=Section.EXCLUSIONS)
    refused = (worst.deploy.refused or 0, worst.test.refused or 0)
    if any(refused):
        of = (worst.deploy.responses, worst.test.responses)
        text = f"{refused[0]:,} of {of[0]:,} deployment and {refused[1]:,} of {of[1]:,} evaluation responses refused."
        yield StatusReason(text=text, section=Section.EXCLUSIONS)


def _is_final(sides: Truncation) -> bool:
    return all(side.settled == side.truncated for side in (sides.test, sides.deploy))


def _share(side: TruncationCounts) -> float:
    return side.truncated / side.responses if side.responses else 0.0


def _list_scorer(evidence: AuditEvidence) -> Iterator[StatusReason]:
    # One failed check outweighs any number of passes. Checks of other audits count too: they are
    # about the same revision.
    if find_invariance(evidence.findings) is False:
        if evidence.primary.rule != SCORER_FAILED:
            yield StatusReason(text="The scorer failed an invariance check.", section=Section.JUDGE)
        return
    if find_invariance(evidence.other_findings) is False:
        yield StatusReason(text="The scorer failed an invariance check in another audit of this claim.", section=Section.JUDGE)
    origin, declared = evidence.audit.origin, evidence.audit.opening.payload.scoring.invariant
    reads_response = origin is not None and origin.scorer_reads_response
    if evidence.audit.checked_invariance is None and not reads_response and evidence.primary.rule != SCORER_FAILED:
        text = "Scorer invariance asserted by the auditor, not checked." if declared else "Scorer not checked for invariance."
        yield StatusReason(text=text, section=Section.JUDGE)


def _list_recognisable(findings: Collection[FindingBody]) -> Iterator[StatusReason]:
    for body in findings:
        if isinstance(body, Naturalness) and body.distinguishable:
            # The line at chance: an accuracy just above it must not be rounded onto it.
            accuracy = format_measure_value(body.accuracy, SHARES, against=(CHANCE,))
            text = f"Blind raters distinguished test from deployment contexts: accuracy {accuracy}, chance {SHARES.given(CHANCE)}."
            yield StatusReason(text=text, section=Section.NATURALNESS)
        elif isinstance(body, RealismJudge) and body.exceeds_limit:
            text = (
                f"A model judge ({body.judge}) may distinguish the contexts with an accuracy of up to {SHARES.score(body.worst)}; "
                f"the plan allows {format_level(body.rater_limit)}."
            )
            yield StatusReason(text=text, section=Section.NATURALNESS)
        elif isinstance(body, Ablation) and any(change.relevant for change in body.changes):
            yield StatusReason(text=_describe_relevant(body), section=Section.ABLATION)
    if not any(isinstance(body, Naturalness) for body in findings):
        text = "No rater study: contexts may be recognisable as tests."
        yield StatusReason(text=text, section=Section.NATURALNESS)


def _describe_relevant(body: Ablation) -> str:
    # A placebo touches no cue, so its effect is a check and no finding.
    relevant = [change for change in body.changes if change.relevant and not change.placebo]
    first, lines = relevant[0], (-body.margin, body.margin)
    more = f"; {format_items(len(relevant) - 1, 'other cue')} too" if len(relevant) > 1 else ""
    adds = format_measure_value(find_interval(first), Unit(low=body.range[0], high=body.range[1]), against=lines, signed=True)
    return f"ED depends on cues that can be removed: “{first.cue}” adds {adds}{more}."


def _list_without_lock(evidence: AuditEvidence) -> Iterator[StatusReason]:
    outcome = evidence.outcome
    # The reason of the verdict may state it already.
    if outcome.post_hoc and (evidence.primary.rule == SCORER_FAILED or "post hoc" not in evidence.primary.why.lower()):
        text = "Post hoc: nothing shows that limit and plan preceded the scores."
        yield StatusReason(text=text, section=Section.PREREGISTRATION)
    # Reported figures without an estimate support a restriction and establish nothing.
    if outcome.basis is Basis.REPORTED and evidence.audit.estimate is None:
        yield StatusReason(text="Published figures only.", section=Section.LAYERS)


def _list_excluded(specs: Sequence[SpecEstimate]) -> Iterator[StatusReason]:
    worst = max(specs, key=lambda spec: spec.n.excluded_test + spec.n.excluded_deploy).n
    if worst.excluded_test or worst.excluded_deploy:
        text = f"Excluded: {format_items(worst.excluded_deploy, 'deployment response')} and {worst.excluded_test:,} of the evaluation."
        yield StatusReason(text=text, section=Section.EXCLUSIONS)


def _list_weighted(specs: Sequence[SpecEstimate]) -> Iterator[StatusReason]:
    # Weights move every figure, and nothing else on page one shows that there are any.
    counts = [(spec.n.effective_tasks, spec.n.tasks) for spec in specs if spec.n.effective_tasks is not None]
    if counts:
        effective, tasks = min(counts)
        text = f"Tasks are weighted: {tasks:,} count like {effective:.0f} of equal weight."
        yield StatusReason(text=text, section=Section.ESTIMATES)


# What a verdict assumes and no check shows.
#
# The rates come from `benchmarks/FALSE_VERDICTS.md`, and a test compares them: how often *holds* is
# false where 1 deployment context in 10 makes the model behave differently, at the limit where that
# happens most often. docs/limitations.md explains them.

ENOUGH = 30
"""From so many deployment contexts on, page one prints the unseen-context bound alone."""
FALSE_HOLDS = {5: 0.367, 8: 0.365, 20: 0.126}
"""By number of deployment contexts. The rate does not fall steadily, so it is not interpolated."""


def _list_assumptions(evidence: AuditEvidence, estimate: Estimate) -> Iterator[StatusReason]:
    primary, remarks = evidence.primary, evidence.outcome.text.remarks
    yield from (StatusReason(text=text, section=Section.READINGS) for text in remarks if text.startswith(UNSTATED))
    if few := describe_few_contexts(primary, estimate):
        yield StatusReason(text=few, section=Section.ESTIMATES)
    elif primary.verdict is Verdict.HOLDS:
        yield from (StatusReason(text=text, section=Section.READINGS) for text in remarks if "not have been sampled" in text)
    if primary.control:
        yield StatusReason(text=primary.control, section=Section.CONTROLS)
    if assumed := describe_unchecked(primary, estimate, are_alike=_find_alike(evidence.audit.origin) is not None):
        yield StatusReason(text=assumed, section=Section.ESTIMATES)


def describe_unchecked(primary: ReadingVerdict, estimate: Estimate | None, *, are_alike: bool = False) -> str:
    """Return what *primary* assumes and no check shows, as a sentence; empty for a verdict that no replay gave, or that is open.

    Args:
        primary: the reading that leads.
        estimate: of its replay.
        are_alike: whether a check found tasks alike, so that their independence is no open question.
    """
    # An inconclusive verdict asserts nothing, so it assumes nothing.
    if estimate is None or primary.verdict not in FIRM:
        return ""
    if are_alike:
        return "Assumed, not checked: no rare kind of task was missed."
    # Declared families are the independent units only if every specification has them.
    declared = all(spec.n.families is not None for spec in estimate.specs)
    units = "the declared families of tasks" if declared else "tasks"
    return f"Assumed, not checked: {units} are independent, no rare kind was missed."


def describe_few_contexts(primary: ReadingVerdict, estimate: Estimate | None) -> str | None:
    """Return how often a verdict like *primary* was false in simulations with a rare trigger context.

    None where it is no *holds* of a replay, where enough contexts were sampled, where contexts are fixed, since the verdict is about the
    named ones only, and under guaranteed intervals, which allow for contexts that were not sampled.
    """
    if primary.verdict is not Verdict.HOLDS or estimate is None:
        return None
    if ContextDesign(estimate.contexts) is ContextDesign.FIXED or IntervalMethod(estimate.interval) is IntervalMethod.GUARANTEED:
        return None
    # The specification with the fewest contexts is the weakest part of the verdict.
    sampled = min(_count_sampled(spec, ContextDesign(estimate.contexts)) for spec in estimate.specs)
    if sampled >= ENOUGH:
        return None
    # Only a number of contexts that was simulated has a rate of its own.
    rates = {sampled: FALSE_HOLDS[sampled]} if sampled in FALSE_HOLDS else FALSE_HOLDS
    many = ", ".join(f"{100 * rate:.0f} %{'' if sampled in rates else f' with {contexts}'}" for contexts, rate in rates.items())
    return f"Few contexts ({sampled} of deployment): with 1 trigger context in 10, up to {many} of simulated verdicts like this were false."


def _count_sampled(spec: SpecEstimate, design: ContextDesign) -> int:
    # Nested contexts belong to one task and are not independent of each other, so a task counts
    # once.
    contexts = spec.n.deploy_clusters
    return min(contexts, spec.n.task_clusters) if design is ContextDesign.NESTED else contexts


# The audit in one line: every page one states n, a date and whether a plan was locked.


def describe_account(claim: ClaimRevision, entry: Entry, audit: AuditPart | None, status: Status) -> str:
    """Return what was done for the outcome of *claim*, and as of when, in one line.

    Args:
        entry: of the claim revision.
        audit: the one that leads; None for a claim without one.
    """
    parts = [*(_account_claim(claim, entry) if audit is None else _account_audit(audit))]
    # Whoever sees the figures needs to know which way is safe.
    if claim.direction is not Direction.NOT_SAFETY:
        parts.append(get_words(claim.direction))
    if status.lifecycle not in (Lifecycle.REGISTERED, Lifecycle.PUBLISHED):
        parts.append(get_words(status.lifecycle))
    objections = {Dispute.UNDISPUTED: "no objections", Dispute.CONTESTED: "objection open", Dispute.UPHELD: "objection upheld"}
    current = {Staleness.CURRENT: "current", Staleness.NEEDS_REVIEW: "needs review", Staleness.STALE: "stale"}
    return " · ".join([*parts, objections[status.dispute], current[status.staleness]])


def _account_claim(claim: ClaimRevision, entry: Entry) -> Iterator[str]:
    yield f"registered {entry.at:%Y-%m-%d}"
    yield "no locked plan"
    n = claim.reported.n if claim.reported else None
    yield "n not stated" if n is None else f"card: n = {n:,}"


def _account_audit(audit: AuditPart) -> Iterator[str]:
    opening, outcome = audit.opening, audit.outcome.payload if audit.outcome else None
    by = audit.auditor.name or audit.auditor.code
    if outcome is None:
        yield f"audit open since {opening.entry.at:%Y-%m-%d}"
        yield "plan locked" if audit.lock else "no locked plan"
        yield f"no responses scored yet, {by}"
        return
    yield "locked plan" if is_replay_as_locked(outcome) else "not as locked" if audit.lock else "no locked plan"
    estimate = audit.estimate
    if estimate is None or not estimate.specs:
        yield f"no replay · {by}, {opening.entry.at:%Y-%m-%d}"
        yield from _state_validity(audit)
        return
    yield f"run {audit.runs[-1].payload.started_at:%Y-%m-%d}" if audit.runs else f"recorded {opening.entry.at:%Y-%m-%d}"
    # Tasks and contexts stand in the figure, once.
    n, first = estimate.specs[0].n, f" (first of {len(estimate.specs)} specifications)" if len(estimate.specs) > 1 else ""
    yield f"n = {n.responses_test + n.responses_deploy:,} responses{first}"
    names = audit.asked_now.names_returned if audit.asked_now else ()
    yield f"model asked: {', '.join(names) if names else 'not stated'}"
    # The limits name an auditor with an interest in the result.
    if _describe_interest(audit) is None:
        yield by
    yield from _state_validity(audit)


def is_replay_as_locked(outcome: Restriction) -> bool:
    """Whether the scores of *outcome* follow a locked plan: a lock that they do not follow is not a lock for them."""
    return outcome.basis is Basis.REPLAY and not outcome.post_hoc


def _state_validity(audit: AuditPart) -> Iterator[str]:
    # The verdict of an expired audit begins with its last day.
    if audit.outcome is not None and audit.outcome.payload.valid_until is not None and not audit.is_expired:
        yield f"valid until {audit.outcome.payload.valid_until}"


_STATUS_WORDS = (": not supported.", ": not resolved.", ": not testable.")


def strip_status(sentence: str) -> str:
    """Return what may not be said without the status words that repeat the verdict above it."""
    ending = next((words for words in _STATUS_WORDS if sentence.endswith(words)), "")
    return f"{sentence.removesuffix(ending)}." if ending else sentence
