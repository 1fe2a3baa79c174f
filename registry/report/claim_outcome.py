"""The outcome that leads for a claim, and what qualifies it: other audits, families, findings, assumptions, validity."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.records.analysis_plan import Exploration, list_deviations
from registry.records.claim import ClaimRevision, Reported, find_spoken_of
from registry.records.claim_status import Family, FamilyOutcome, ObjectionState, Opposition, OppositionKind, is_void
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.estimates import BoundedEstimate, Measure, SpecEstimate
from registry.records.model_version import EndpointName, ModelRef, list_endpoint_names
from registry.records.module_findings import (
    CueChange,
    Finding,
    FindingKind,
)
from registry.records.replay_run import ModelIdentity, find_model_identity
from registry.records.statement import Entry
from registry.records.supplement import (
    AuditPart,
    AuditSummary,
    MissingPart,
    Section,
    SpecPart,
    SpecRole,
    Supplement,
    SupplementParty,
    ThreeFigures,
)
from registry.records.verdict import (
    ReadingVerdict,
    Restriction,
    Standing,
    Verdict,
    VerdictStanding,
    find_gravity,
    is_expired,
    lower_reading,
    weaken,
)
from registry.report.number_format import Unit, format_day
from registry.report.supplement_wording import format_verdict, get_words

# Which outcome counts: the gravest, and of equally grave ones the latest (decision of 2026-11-21).
# Otherwise a small or unlocked audit that came later would clear what an earlier one found. The
# cost is that an older outcome leads until a graver or equal one follows. All outcomes are printed.


def find_leading(dossier: Dossier) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the outcome of the current revision that counts, with its audit; without any outcome the latest audit only.

    Of several outcomes the gravest counts, of equals the latest. One under the rival of an objection counts once the objection is
    upheld, a withdrawn one as `FamilyOutcome.is_withdrawn` says. Outcomes of the other claims of the family are in `Dossier.family`; the
    status of the claim follows from the gravest there.
    """
    return find_leading_of(dossier, dossier.current.payload.reference)


def find_leading_of(dossier: Dossier, claim: str) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the same of the revision *claim*, `CLM-…@n`, by the same rules."""
    # A replay under the rival definition counts only after the objection is upheld. Until then
    # it is listed with the objection, because anyone could choose a definition that clears a
    # claim.
    upheld = {objection.objection.payload.objection for objection in dossier.objections if objection.state is ObjectionState.UPHELD}
    audits = [audit for audit in dossier.audits if audit.audit.payload.claim == claim]
    audits = [
        audit_file for audit_file in audits if audit_file.audit.payload.objection is None or audit_file.audit.payload.objection in upheld
    ]
    finished = [
        (file, outcome)
        for file in audits
        for outcome in file.restrictions
        if not is_void(outcome.payload.classification.primary.verdict, is_withdrawn=file.withdrawn is not None)
    ]
    if finished:
        # `find_gravity` ranks the gravest lowest; the negative entry number puts the latest first.
        return min(finished, key=lambda pair: (pair[0].withdrawn is not None, _weigh(dossier, pair[1])))
    # Without an outcome the page still describes the latest open audit.
    return max((audit for audit in audits if audit.withdrawn is None), key=lambda audit: audit.audit.entry.seq, default=None), None


def find_counted(dossier: Dossier, outcome: Recorded[Restriction]) -> FamilyOutcome | None:
    """Return *outcome* as it counts next to the others of the claim family of *dossier*; None where it is not one of them."""
    return next((member for member in dossier.family.outcomes if member.log is None and member.seq == outcome.entry.seq), None)


def find_counted_standing(dossier: Dossier, outcome: Recorded[Restriction]) -> VerdictStanding | None:
    """Return how firm the verdict of *outcome* is on the day of *dossier*, next to the other outcomes of its family."""
    counted = find_counted(dossier, outcome)
    primary = outcome.payload.classification.primary
    return counted.standing if counted else weaken(primary.verdict_standing, outcome.payload.valid_until, dossier.today)


def find_counted_trace(dossier: Dossier, outcome: Recorded[Restriction]) -> Standing | None:
    """Return TRACE's standing of *outcome* on that day: no more than its verdict has."""
    return lower_reading(outcome.payload.classification.primary, find_counted_standing(dossier, outcome)).standing


def _weigh(dossier: Dossier, outcome: Recorded[Restriction]) -> tuple[tuple[int, int], int]:
    # An expired outcome weighs as provisional, so that a valid one of the same verdict leads.
    primary = outcome.payload.classification.primary
    return find_gravity(primary.verdict, weaken(primary.verdict_standing, outcome.payload.valid_until, dossier.today)), -outcome.entry.seq


# The audits that do not lead, with what they found. They are printed, because a reader must be able
# to see that several audits were made.


def find_party(dossier: Dossier, code: str) -> SupplementParty:
    """Return who *code* is, as far as the registry knows."""
    for authority in dossier.authorities:
        if authority.payload.code == code:
            return SupplementParty(code=code, name=authority.payload.name, role=authority.payload.role)
    return SupplementParty(code=code, name=None, role=None)


def find_other_findings(dossier: Dossier, leading: AuditFile | None) -> tuple[Recorded[Finding], ...]:
    """Return what was found in other audits of the current revision: an audit without a check does not undo the check of another."""
    reference = dossier.current.payload.reference
    others = (file for file in dossier.audits if file is not leading and file.audit.payload.claim == reference)
    return tuple(sorted((finding for file in others for finding in file.findings), key=lambda finding: finding.entry.seq))


def find_other_explorations(dossier: Dossier, leading: AuditFile | None) -> tuple[Recorded[Exploration], ...]:
    """Return what was looked at in other audits of the current revision: there may have been a look before the plan that leads."""
    reference = dossier.current.payload.reference
    others = (file for file in dossier.audits if file is not leading and file.audit.payload.claim == reference)
    return tuple(
        sorted((exploration for file in others for exploration in file.explorations), key=lambda exploration: exploration.entry.seq)
    )


def build_other_audits(dossier: Dossier, leading: AuditFile | None, counts: Recorded[Restriction] | None) -> Iterator[AuditSummary]:
    """Give every outcome but the one that *counts*, of all revisions, and every audit without one but the *leading*."""
    for file in dossier.audits:
        for outcome in file.restrictions:
            if outcome is not counts:
                yield _build_audit_summary(dossier, file, outcome)
        if not file.restrictions and file is not leading:
            is_replaced = leading is not None and file.is_replaced_by(leading)
            yield replace(_build_audit_summary(dossier, file, None), is_replaced=is_replaced)


def _build_audit_summary(dossier: Dossier, file: AuditFile, outcome: Recorded[Restriction] | None) -> AuditSummary:
    primary = outcome.payload.classification.primary if outcome else None
    # One deviation may be explained by several statements; it counts once.
    deviations = list_deviations(deviation.payload for deviation in file.deviations)
    # An audit may be about a later revision than the one that the document is about.
    revisions = {revision.payload.reference: revision.payload for revision in (*dossier.revisions, *dossier.later)}
    return AuditSummary(
        model=revisions[file.audit.payload.claim].model,
        claim=file.audit.payload.claim,
        audit=file.audit.payload.audit,
        auditor=find_party(dossier, file.audit.payload.auditor),
        independence=file.audit.payload.independence,
        entry=outcome.entry if outcome else file.audit.entry,
        class_=primary.class_ if primary else None,
        standing=find_counted_trace(dossier, outcome) if outcome else None,
        mode=primary.mode if primary else None,
        point_class=primary.printed_point_class if primary else None,
        verdict=describe_counted_verdict(dossier, outcome) if outcome else None,
        objection=file.audit.payload.objection,
        locked=file.lock.entry if file.lock else None,
        withdrawn=file.withdrawn,
        deviations=len(deviations),
        unexplained=sum(departure.reason is None for departure in deviations),
        estimate=None if outcome is None else find_first_spec(file, outcome.payload)[0],
    )


def find_first_spec(file: AuditFile, outcome: Restriction) -> tuple[SpecEstimate | None, int]:
    """Return the estimate against the first specification and the number of specifications; none of another model's responses."""
    if outcome.is_of_other_model:
        return None, 0
    # An outcome takes its estimate from the result that it names, else from itself.
    estimate = next((result.payload.estimate for result in file.results if result.entry.seq == outcome.result), outcome.estimate)
    return (None, 0) if estimate is None or not estimate.specs else (estimate.specs[0], len({spec.spec for spec in estimate.specs}))


# Page one prints three figures in one unit: the card's, the replicated evaluation and deployment.

_MOST_SPECS = 6


def build_three_figures(
    reported: Reported | None, specs: Sequence[SpecEstimate], *, range_: tuple[float, float] | None, theta: float | None
) -> ThreeFigures | None:
    """Return the figures as they are printed; None where neither card nor replay gives one.

    Args:
        reported: the card's figure, if it is of the claim's model version.
        specs: the estimate against each specification of P_deploy.
        range_: of the property; None where it is not known, and then [0, 1] is assumed for figures inside of it.
        theta: no number is rounded across it.
    """
    if reported is None and not specs:
        return None
    # The unit must hold every value. A value outside [0, 1] switches it to plain numbers, because
    # 120 % of a share would be nonsense.
    values = [*([reported.value] if reported else []), *(spec.phi_deploy.value for spec in specs)]
    low, high = range_ or (0.0, 1.0)
    unit = Unit(low=min(low, *values), high=max(high, *values))
    # No figure is rounded across the limit of the claim: that would change its verdict.
    cuts = () if theta is None else (theta,)
    # One specification needs no name; several are named by theirs.
    several = len(specs) > 1
    return ThreeFigures(
        card=None if reported is None else _describe_reported(reported, unit),
        # Every specification has the same test rows, so the first stands for all.
        evaluation=_describe(specs[0].phi_test, unit, cuts) if specs else None,
        deployment=tuple(
            f"{_name(spec)}: {_describe(spec.phi_deploy, unit, cuts)}" if several else _describe(spec.phi_deploy, unit, cuts)
            for spec in specs[:_MOST_SPECS]
        ),
        excluded=max(0, len(specs) - _MOST_SPECS),
    )


def describe_three_figures(figures: ThreeFigures) -> list[tuple[str, str]]:
    """Return the figures as rows of a table: a label and a number with its interval; what does not exist says so."""
    more = f"; {figures.excluded} more" if figures.excluded else ""
    return [
        ("card reports", figures.card or "no figure"),
        ("evaluation, replicated", figures.evaluation or "not replayed"),
        ("deployment-like", ("; ".join(figures.deployment) or "not replayed") + more),
    ]


def _describe(side: BoundedEstimate, unit: Unit, cuts: tuple[float, ...]) -> str:
    value = unit.score(side.value, *cuts)
    if side.low is None or side.high is None:
        return f"{value} (no interval)"
    return f"{value} ({unit.scores(side.low, side.high, *cuts)})"


def _describe_reported(reported: Reported, unit: Unit) -> str:
    parts = [f"n = {reported.n:,}"] if reported.n is not None else []
    if reported.low is not None and reported.high is not None:
        parts.insert(0, f"{unit.plain(reported.low)}–{unit.given(reported.high)}")
    # Without n a reader cannot judge the card's figure, so its absence is printed.
    return f"{unit.given(reported.value)} ({', '.join(parts) or 'n not stated'})"


def _name(spec: SpecEstimate) -> str:
    return spec.spec if spec.judge is None else f"{spec.spec}, judge {spec.judge}"


# How firmly an outcome stands on the day of the document.


def describe_own_verdict(audit: AuditPart) -> str | None:
    """Return the verdict of *audit*'s outcome in its sentence, after notes that it expired or audits disagree; None without one."""
    if audit.outcome is None:
        return None
    return _add_notes(audit.outcome.payload, is_expired=audit.is_expired, opposed=audit.opposed)


def describe_counted_verdict(dossier: Dossier, outcome: Recorded[Restriction]) -> str:
    """Return the verdict of *outcome* in its sentence, with the same notes as on page one of its claim."""
    counted = find_counted(dossier, outcome)
    expired = is_expired(outcome.payload.valid_until, dossier.today)
    return _add_notes(outcome.payload, is_expired=expired, opposed=counted.opposed if counted else None)


def _add_notes(outcome: Restriction, *, is_expired: bool, opposed: Opposition | None) -> str:
    parts = [outcome.text.verdict]
    # The words of the record stay, after a note: neither expiry nor another audit makes them false.
    if is_expired and outcome.valid_until is not None:
        parts.insert(0, f"Expired: this audit was valid until {format_day(outcome.valid_until)}, and the claim needs review.")
    if opposed is not None:
        parts.insert(0, describe_disagreement(outcome.audit, outcome.classification.primary.verdict, opposed))
    return " ".join(parts)


# The words recorded were true of their day. Quoted alone, they would claim more than the verdict does now.
def describe_restricted(audit: AuditPart) -> str | None:
    """Return the restricted claim of *audit*'s outcome as it may be quoted now; None without an outcome."""
    if audit.outcome is None:
        return None
    return name_condition(is_expired=audit.is_expired, opposed=audit.opposed) + audit.outcome.payload.text.restricted


def describe_counted_restricted(dossier: Dossier, outcome: Recorded[Restriction]) -> str:
    """Return the restricted claim of *outcome* as it may be quoted on the day of *dossier*."""
    counted, expired = find_counted(dossier, outcome), is_expired(outcome.payload.valid_until, dossier.today)
    return name_condition(is_expired=expired, opposed=counted.opposed if counted else None) + outcome.payload.text.restricted


def name_condition(*, is_expired: bool, opposed: Opposition | None) -> str:
    """Return the condition under which the words of an outcome may be quoted, before them; empty without one."""
    if opposed is not None:
        what = "an audit was withdrawn" if opposed.kind is OppositionKind.WITHDRAWN else "audits disagree"
        return f"Only together with the statement that {what}: "
    return "Only together with the statement that the audit expired: " if is_expired else ""


def describe_disagreement(audit: str, verdict: Verdict, opposed: Opposition) -> str:
    """Return that *audit* with its *verdict* and the *opposed* one disagree, or which was withdrawn, in a sentence that names both."""
    other = f"{opposed.audit} in the log {opposed.log}" if opposed.log else opposed.audit
    if opposed.kind is OppositionKind.WITHDRAWN:
        if opposed.audit == audit:
            return f"An audit was withdrawn: {audit}, which found this. It establishes nothing."
        return f"An audit was withdrawn: {other}, which found “{get_words(opposed.verdict)}”. {audit} establishes nothing."
    if opposed.kind is OppositionKind.WORDS:
        return f"Audits disagree: {other} found “{get_words(opposed.verdict)}” of a claim on the same words. {audit} establishes nothing."
    if opposed.kind is OppositionKind.INTERVAL:
        return f"Audits disagree: the intervals of {audit} and {other} exclude each other. Neither verdict is established."
    return f"Audits disagree: {audit} found “{get_words(verdict)}”, {other} “{get_words(opposed.verdict)}”. Neither verdict is established."


def find_standing_now(audit: AuditPart | None, reading: ReadingVerdict | None) -> VerdictStanding | None:
    """Return how firm the verdict of *reading* is on the day of the document: provisional at most once it is lowered."""
    if reading is None or reading.verdict_standing is None:
        return None
    # An expired or opposed audit is provisional at most, like an outcome with a missing condition.
    return VerdictStanding.PROVISIONAL if audit is not None and audit.is_lowered else reading.verdict_standing


def find_trace_now(audit: AuditPart | None, reading: ReadingVerdict | None) -> Standing | None:
    """Return TRACE's standing of *reading* on the day of the document: no more than its verdict has."""
    return None if reading is None else read_now(audit, reading).standing


def read_now(audit: AuditPart | None, reading: ReadingVerdict) -> ReadingVerdict:
    """Return *reading* with both standings as they are on the day of the document."""
    return lower_reading(reading, find_standing_now(audit, reading))


# A claim family: the claims and revisions on the same words, and the outcome that leads among them
# (decision of 2026-11-23: outcomes follow the words).


def describe_verdict(outcome: FamilyOutcome) -> str:
    """Return the verdict with its standing in words."""
    return format_verdict(outcome.verdict, outcome.standing)


def describe_place(outcome: FamilyOutcome) -> str:
    """Return which revision an outcome is of, where it is recorded, and when."""
    log = f" in the log {outcome.log}" if outcome.log else ""
    return f"{outcome.claim}{log}, {outcome.at:%Y-%m-%d}"


def describe_outcome(outcome: FamilyOutcome, *, of: str | None = None) -> str:
    """Return an outcome in one line; where it is of the revision *of* itself, without naming that again."""
    # On its own page the identifier would only repeat the title.
    place = f"{outcome.at:%Y-%m-%d}" if of is not None and is_own(outcome, of) else describe_place(outcome)
    expired = f"; expired {outcome.valid_until}" if outcome.is_expired else ""
    return f"{describe_verdict(outcome)} ({place}{expired}{name_opposition(outcome)})"


def name_opposition(outcome: FamilyOutcome | None, *, is_here: bool = False) -> str:
    """Return after a semicolon which audits disagree on *outcome*, or which was withdrawn; empty where none was.

    Args:
        is_here: its own audit is named there already.
    """
    if outcome is None or outcome.opposed is None:
        return ""
    if outcome.opposed.kind is OppositionKind.WITHDRAWN:
        return "; withdrawn" if outcome.is_withdrawn and is_here else f"; an audit was withdrawn: {outcome.opposed.audit}"
    return f"; audits disagree: {outcome.audit}, {outcome.opposed.audit}"


def describe_subject(outcome: FamilyOutcome) -> str:
    """Return what an outcome on the same words is about: property and model version."""
    return f"{outcome.property}, {outcome.model}"


def is_own(outcome: FamilyOutcome, claim: ClaimRevision | str) -> bool:
    """Whether *outcome* is one of the revision *claim* itself, `CLM-…@n`."""
    # An outcome in another log never counts as the revision's own, even with an equal identifier.
    return outcome.log is None and outcome.claim == (claim if isinstance(claim, str) else claim.reference)


def join_leading(family: Family, claim: ClaimRevision, own: str | None) -> str | None:
    """Return the first sentences of page one of *claim*: the outcome of its *family* that leads, if another one's, then its *own*."""
    leading = _describe_leading(family, claim)
    if leading is None or own is None:
        return leading or own
    return f"{leading} Of this revision: {own}"


def _describe_leading(family: Family, claim: ClaimRevision) -> str | None:
    gravest = family.gravest
    if gravest is None or is_own(gravest, claim):
        return None
    words = describe_verdict(gravest)
    leading = f"{words[0].upper()}{words[1:]}: audit {gravest.audit} of {describe_place(gravest)}, on the same words of the card."
    return f"{describe_disagreement(gravest.audit, gravest.verdict, gravest.opposed)} {leading}" if gravest.opposed else leading


# Which modules were not run. Each states its consequence, because an absent section reads as if
# nothing was wrong.

CHANCE = 0.5
"""How often a coin toss tells test from deployment."""

_NATURALNESS = MissingPart(
    section=Section.NATURALNESS, consequence="The deployment contexts may be recognisable as tests; only their owner describes them."
)
_ABLATION = MissingPart(
    section=Section.ABLATION, consequence="No cue was removed, so the cause of a difference between evaluation and deployment is unknown."
)
_JUDGE = MissingPart(section=Section.JUDGE, consequence="The intervals do not contain the scorer’s own error.")
_MODULES = {FindingKind.NATURALNESS: _NATURALNESS, FindingKind.ABLATION: _ABLATION, FindingKind.JUDGE: _JUDGE}


def find_not_made(kinds: Iterable[FindingKind]) -> tuple[MissingPart, ...]:
    """Return the modules that found nothing because they were not made, each with its consequence; *kinds* are those on record."""
    made = set(kinds)
    return tuple(part for kind, part in _MODULES.items() if kind not in made)


_NOTHING: Mapping[Section, str | None] = {
    Section.ESTIMATES: "No replay: the figure was not measured in deployment-like contexts.",
    Section.READINGS: None,
    Section.CONTEXTS: None,
    Section.NATURALNESS: None,
    Section.ABLATION: None,
    Section.LAYERS: "No evidence of any layer (behavioural, verbalised, latent, cue sensitivity) is recorded.",
    Section.JUDGE: None,
    Section.CONTROLS: None,
    Section.EXCLUSIONS: None,
    Section.PREREGISTRATION: "No locked plan: the limit could have been chosen after the scores were seen.",
    Section.EXPLORATIONS: None,
    Section.VERSIONS: None,
    Section.HISTORY: None,
    Section.CHECKLIST: "No audit with reporting that could be checked.",
    Section.FORMS: None,
    Section.PROVENANCE: "No audit: there are no responses to trace.",
    Section.APPENDIX: None,
}
"""What an absent section means; None where that is said elsewhere, or where absence has no consequence."""


def find_absent(supplement: Supplement) -> dict[Section, str | None]:
    """Return the sections of *supplement* without content, each with its consequence, in order; None where it has none."""
    audit, outcome = supplement.audit, supplement.outcome
    estimate = audit.estimate if audit else None
    findings = [finding.payload for finding in (*(audit.findings if audit else ()), *supplement.other_findings)]
    kinds = {finding.kind for finding in findings}
    is_changed = len(supplement.history) > 1 or supplement.status.stale_because or supplement.reviews or supplement.events
    has_history = (
        bool(supplement.monitors)
        or is_changed
        or supplement.objections
        or supplement.other_audits
        or supplement.relations
        or supplement.passage_matches
    )
    present = {
        Section.ESTIMATES: estimate is not None and bool(estimate.specs),
        Section.READINGS: outcome is not None,
        Section.CONTEXTS: audit is not None or any(_needs_notice(part) for part in supplement.specs),
        Section.NATURALNESS: FindingKind.NATURALNESS in kinds,
        Section.ABLATION: FindingKind.ABLATION in kinds,
        Section.LAYERS: FindingKind.PROBE in kinds or any(part.access is not None for part in supplement.layers),
        Section.JUDGE: FindingKind.JUDGE in kinds or audit is not None,
        Section.CONTROLS: FindingKind.CONTROL in kinds or bool(audit and audit.lock and audit.lock.payload.controls),
        Section.EXCLUSIONS: estimate is not None and bool(estimate.specs),
        Section.PREREGISTRATION: audit is not None and audit.lock is not None,
        Section.EXPLORATIONS: bool(supplement.other_explorations or (audit and audit.explorations)),
        Section.VERSIONS: supplement.drift is not None or FindingKind.SHIFT in kinds,
        Section.HISTORY: bool(has_history or supplement.model_events or (outcome is not None and outcome.text.edit)),
        Section.CHECKLIST: outcome is not None,
        Section.FORMS: bool(supplement.forms),
        Section.PROVENANCE: audit is not None,
        Section.APPENDIX: _has_prompts(supplement),
    }
    modules = {part.section: part.consequence for part in supplement.not_made}
    # Without an audit the missing replay says it all; each missing module would only repeat it.
    without_audit = dict.fromkeys((Section.CHECKLIST, Section.PROVENANCE))
    consequences = {**_NOTHING, **(without_audit if audit is None else modules)}
    return {section: consequences[section] for section, is_there in present.items() if not is_there}


def _needs_notice(part: SpecPart) -> bool:
    """Whether a definition that the claim names is more than a name: disputed, sealed, unknown, or outdated."""
    version = part.version
    return bool(part.objections or part.newer or version is None or version.payload.commitment)


def _has_prompts(supplement: Supplement) -> bool:
    """Whether the texts of contexts are printed: of those that were used, or else of those that an audited claim names."""
    if supplement.audit is None:
        return False
    replayed = supplement.audit.origin.replayed if supplement.audit.origin else None
    return replayed is not None or any(part.version and part.role in (SpecRole.TEST, SpecRole.DEPLOY) for part in supplement.specs)


def number_sections(absent: Collection[Section]) -> dict[Section, int]:
    """Return the numbers of the sections that are printed: all but the *absent*."""
    return {section: number for number, section in enumerate((section for section in Section if section not in absent), start=1)}


def format_measure_value(measure: Measure, unit: Unit, *, against: Sequence[float] = (), signed: bool = False) -> str:
    """Return a measure for a sentence: `70.6 % (59.4–79.8 %)`, a difference (*signed*) in points; or why there is nothing to print."""
    if measure.value is None:
        return measure.reason or "not defined"
    value = f"{unit.signed(measure.value, *against)} {unit.points}" if signed else unit.score(measure.value, *against)
    if measure.low is None or measure.high is None:
        return f"{value} (no interval: {measure.reason})"
    ends = unit.signed_numbers if signed else unit.scores
    return f"{value} ({ends(measure.low, measure.high, *against)})"


def find_interval(change: CueChange) -> Measure:
    """Return ΔED with the interval that decides: Holm's for a cue, its own for a placebo or where Holm gives none."""
    # Holm's interval decides for cues: a cue is relevant only if it excludes 0. Near a threshold,
    # chance alone changed the class in 24 % of tables (decision of 2026-11-21).
    if change.holm is None:
        return change.change
    return Measure(value=change.change.value, low=change.holm.low, high=change.holm.high, reason=change.change.reason)


def is_immaterial(change: CueChange, margin: float) -> bool:
    """Whether the interval that decides excludes a change of *margin* or more: only then is it shown that a cue does not matter."""
    interval = find_interval(change)
    # "Not shown to matter" is not "shown not to matter": only an interval inside the margin shows
    # that.
    return interval.low is not None and interval.high is not None and -margin < interval.low and interval.high < margin


# Which model answered, by the endpoint names that are stated now. An outcome may have been recorded
# before anyone stated them, so both answers can differ.


def find_current_identity(file: AuditFile, names: Iterable[EndpointName], model: ModelRef) -> ModelIdentity | None:
    """Return who was asked for the scores of the last outcome of *file*, by the *names* in force; None without scores or outcome.

    Args:
        names: in force, of every model version that a returned name may belong to.
        model: the version that the audited revision of the claim is about.
    """
    if not file.restrictions:
        return None
    # The last outcome is the one that the audit came to.
    outcome = file.restrictions[-1].payload
    run = next((recorded.payload for recorded in reversed(file.runs)), None)
    # Scores from a run folder have the run's provenance; imported ones state theirs with the
    # outcome.
    provenance = outcome.provenance if outcome.result is None or run is None else run.provenance
    if outcome.scores is None or provenance is None:
        return None
    return find_model_identity(names, model, file.lock.payload if file.lock else None, provenance)


def find_claim_identity(dossier: Dossier, file: AuditFile) -> ModelIdentity | None:
    """Return `find_current_identity` for an audit of the current revision of *dossier*; None for an audit of another one."""
    current = dossier.current.payload
    if file.audit.payload.claim != current.reference:
        return None
    return find_current_identity(file, list_endpoint_names(dossier.model_endpoints), current.model)


def describe_identity(now: ModelIdentity | None, then: ModelIdentity | None) -> str | None:
    """Return the caution that belongs to an outcome: None where its scores are of the claim's model, now as when it was recorded.

    Args:
        now: by the names in force.
        then: as the outcome recorded it.
    """
    if now is None:
        return None
    # Unchanged and bound to the claim's model: there is nothing to warn of.
    if not now.differs_from(then):
        return None if now.is_bound else now.text
    before = "Who was asked was not recorded with the outcome" if then is None else f"When the outcome was recorded: {then.text}"
    return f"{now.text} {before if before.endswith('.') else f'{before}.'}"


# A claim that was carried to another model version: the version its card describes, and who applied
# the claim to the newer one. Outcomes do not come along, and a figure of the old version is never
# repeated (decision of 2026-11-22).


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimApplication:
    """The last step from one model version to another in the history of a claim."""

    before: ModelRef
    """The version that the revision before was about."""
    after: ModelRef
    card_spoke_of: ModelRef | None
    """The version that the passage quoted is about (`find_spoken_of`); None where it speaks of the one that the claim is about now."""
    revision: str
    """`CLM-…@n` that took the step."""
    earlier: str
    """`CLM-…@n` before it."""
    why: str
    """As it was given, without the versions, which `caveat stale apply` writes before it."""
    entry: Entry
    """Of that revision; its actor carried the claim."""


def find_carry(history: Sequence[Recorded[ClaimRevision]]) -> ClaimApplication | None:
    """Return the last step to another model version in *history*, revisions in order; None for a claim about one version all along."""
    # The last step decides: a claim may have been carried several times.
    steps = [at for at in range(1, len(history)) if history[at].payload.model != history[at - 1].payload.model]
    if not steps:
        return None
    before, step = history[steps[-1] - 1].payload, history[steps[-1]]
    return ClaimApplication(
        before=before.model,
        after=step.payload.model,
        card_spoke_of=find_spoken_of([revision.payload for revision in history]),
        revision=step.payload.reference,
        earlier=before.reference,
        why=strip_models(step.payload.why, before.model, step.payload.model),
        entry=step.entry,
    )


def strip_models(why: str | None, before: ModelRef, after: ModelRef) -> str:
    """Return the reason of an applied claim without the two model versions that it begins with."""
    # `caveat stale apply` puts both versions before the reason; here they stand in fields of their
    # own.
    return (why or "").removeprefix(f"applied from {before} to {after}: ")
