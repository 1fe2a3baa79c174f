"""What a lock fixed before the replay, compared with what was done."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from registry.records.analysis_plan import DECISIVE, Deviation, Lock, LockedItem, LockedSpec, Plan, list_deviations
from registry.records.claim import ClaimRevision
from registry.records.dossier import Recorded
from registry.records.estimates import DEVIATIONS, Estimate
from registry.records.model_version import ModelRef
from registry.records.module_findings import ControlReport
from registry.records.replay_run import Provenance, ReplayAccount, describe_runs, list_runs
from registry.records.statement import Entry
from registry.records.supplement import AuditPart, AuditSummary, Section, StatusReason, Supplement
from registry.report.number_format import Unit, format_count, format_day, format_exact, format_level
from registry.report.supplement_wording import get_words

# A lock fixes a plan before scores can be seen. Tasks, contexts, scoring or model that differ from
# it make an outcome *reported*, explained or not, because whoever explains has seen the scores.
# Budget and early stops are printed only (decision of 2026-11-22). The cost: honest accidents lose
# their standing, and locking another audit costs one command.
KEPT, DEPARTED, UNKNOWN = "✓", "✗", "–"
"""Compared, and the same; not the same; not compared, for the reason that stands behind it."""

_SEVERAL = "Who locks several plans can choose, once scores are seen, which of them to bring to an outcome."
"""What a count of locks is told for."""

_MEASURED = ("test contexts", "deployment contexts", "tasks", "scoring", "model")
"""How `Lock.unfixed` begins where what is open decides which scores were planned."""
_OTHERWISE = (DEPARTED, "not as locked: see the deviations below")
_NO_RUN = (UNKNOWN, "no run yet")
_TABLE = (UNKNOWN, "the texts were not compared: a score table names contexts, and does not hold them")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRow:
    """One thing that a lock fixes, or leaves open."""

    label: str
    value: str | None
    """None where the lock leaves it open."""
    reference: str | None = None
    """Identifier of a specification."""
    digest: str | None = None
    mark: str = UNKNOWN
    done: str = ""
    """What is known of what was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationRow:
    """One departure from a lock with everything that was said of it."""

    departure: Deviation
    """As it came to be known first."""
    entry: Entry
    is_late: bool
    """Whether it came to be known after the outcome."""
    told: tuple[Recorded[Deviation], ...]
    """Each reason given, in log order: a later one takes no earlier one's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LockFacts:
    """What the rows may look at."""

    lock: Lock
    claim: ClaimRevision
    unit: Unit
    estimate: Estimate | None
    origin: Provenance | None
    departed: Collection[LockedItem]
    has_other_tasks: bool
    """Whether comparing found other tasks than the lock fixes, or fewer; a word about how it was stopped says nothing of them."""

    @property
    def replayed(self) -> ReplayAccount | None:
        return self.origin.replayed if self.origin else None


def build_fixed_rows(supplement: Supplement) -> tuple[FixedRow, ...]:
    """Return a row for everything that a lock can fix, with what was done; empty without a lock."""
    audit = supplement.audit
    if audit is None or audit.lock is None:
        return ()
    range_ = audit.estimate.range if audit.estimate else supplement.property.range if supplement.property else (0.0, 1.0)
    known = _LockFacts(
        lock=audit.lock.payload,
        claim=supplement.claim.payload,
        unit=Unit(low=range_[0], high=range_[1]),
        estimate=audit.estimate if audit.result else None,
        # The last run is the one that the outcome rests on.
        origin=audit.runs[-1].payload.provenance if audit.runs else None,
        departed={deviation.payload.item for deviation in audit.deviations},
        has_other_tasks=any(_is_of_tasks(recorded.payload) for recorded in audit.deviations),
    )
    lock = known.lock
    fixed = [*_list_computed(known), *_list_specs(known), *_list_sizes(known), *_list_worded(known), *_list_controls(audit, lock)]
    # What the lock leaves open is listed too: a lock that fixes little still gives the basis
    # *replay*.
    return (*fixed, *(FixedRow(label=name, value=None, mark=UNKNOWN, done="") for name in lock.unfixed if not name.startswith("θ")))


def _list_controls(audit: AuditPart, lock: Lock) -> Iterator[FixedRow]:
    """Give the controls that the lock names, and whether each has a result."""
    bodies = [finding.payload.body for finding in audit.findings]
    reported = {body.plan.name for body in bodies if isinstance(body, ControlReport)}
    for control in lock.controls:
        mark, done = (KEPT, "a result is on record") if control.name in reported else (UNKNOWN, "no result is on record")
        yield FixedRow(label=f"Control {control.name}", value=control.subject, mark=mark, done=done)


def _is_of_tasks(deviation: Deviation) -> bool:
    # A stopping rule in words counts only where a comparison found another number of tasks.
    return deviation.item is LockedItem.TASKS or (deviation.item is LockedItem.STOPPING_RULE and deviation.found)


def find_deviations(audit: AuditPart | None) -> tuple[Deviation, ...]:
    """Return each departure from the lock of *audit* once, with its reason, if one was given."""
    return list_deviations(deviation.payload for deviation in audit.deviations) if audit else ()


def build_deviation_rows(audit: AuditPart | None) -> tuple[DeviationRow, ...]:
    """Return each departure from the lock of *audit* once, in the order in which it came to be known."""
    rows: dict[tuple[LockedItem, str, str], list[Recorded[Deviation]]] = {}
    for deviation in audit.deviations if audit else ():
        # Several people can explain one deviation, and no reason replaces another.
        rows.setdefault(deviation.payload.departure, []).append(deviation)
    # What became known after the outcome could not lower it.
    end = audit.outcome.entry.seq if audit and audit.outcome else None
    return tuple(
        DeviationRow(
            departure=row[0].payload,
            entry=row[0].entry,
            is_late=end is not None and row[0].entry.seq > end,
            told=tuple(recorded for recorded in row if recorded.payload.reason),
        )
        for row in rows.values()
    )


def list_late(audit: AuditPart | None) -> tuple[DeviationRow, ...]:
    """Return the decisive deviations that were reported after the outcome, which knew nothing of them."""
    return tuple(
        deviation_row for deviation_row in build_deviation_rows(audit) if deviation_row.is_late and deviation_row.departure.item in DECISIVE
    )


def is_in_one_second(audit: AuditPart | None) -> bool:
    """Whether a run began within the second of its lock, so that the clocks by themselves do not show which came first."""
    if audit is None or audit.lock is None:
        return False
    # Entries and runs are dated to the second, so within one second the order is not shown.
    at = audit.lock.entry.at.replace(microsecond=0)
    return any(run.payload.started_at.replace(microsecond=0) == at for run in audit.runs)


def build_deviation_reasons(audit: AuditPart) -> Iterator[StatusReason]:
    """Yield how the replay departed from its plan: what the estimate warns of, then what the lock fixed differently."""
    # The same deviation can be in the estimate's warnings and in the log; it is printed once.
    warned = [warning.message for warning in (audit.estimate.warnings if audit.estimate else ()) if warning.code in DEVIATIONS]
    for message in dict.fromkeys(warned):
        yield StatusReason(text=message, section=Section.EXCLUSIONS)
    deviations = [departure for departure in find_deviations(audit) if departure.done not in warned]
    if deviations:
        yield StatusReason(text=_sum_up(deviations), section=Section.PREREGISTRATION)
    if list_late(audit):
        text = "A deviation in what was measured was recorded after the outcome, which ignores it: read it as reported, not established."
        yield StatusReason(text=text, section=Section.PREREGISTRATION)


def describe_lock_runs(audit: AuditPart | None) -> str | None:
    """Return the outcome of every run under the lock of *audit*, as a sentence; None without a lock or without a run."""
    if audit is None or audit.lock is None:
        return None
    text = describe_runs(list_runs(audit.starts, audit.ends, audit.runs))
    return None if text is None else f"{text}."


def describe_locks(audit: AuditPart | None, others: Sequence[AuditSummary], model: ModelRef) -> str | None:
    """Return how many plans of this claim were locked, of any revision about *model*, and what came of them.

    None where *audit* (the one that leads) is the only one with a lock, where it has none and every lock next to it has its outcome, and
    where an older supplement does not say it. Replays under a rival are reported with their objection and not counted; scores of another
    model version are no choice next to those of this one, nor is a lock that was repeated before its run to fix endpoint names.
    """
    # Replays under a rival definition belong to their objection, and another model version
    # offers no choice between scores.
    beside = [other for other in others if other.objection is None and other.model in (model, None)]
    claim = "claim" if all(other.model in (model, None) for other in others) else "claim about this model version"
    if audit is None:
        return None
    this = audit.opening.payload.audit
    # Several locks are counted and printed, not forbidden: repeating an audit honestly is allowed,
    # but whoever locks several plans can choose among them (decision of 2026-11-22).
    has_outcome = {
        summary.audit: summary.class_ is not None
        for summary in beside
        if summary.locked is not None and summary.audit != this and not summary.is_replaced
    }
    waiting = sum(not is_done for is_done in has_outcome.values())
    if audit.lock is not None and has_outcome:
        rest = f"{format_count(waiting)} of the others without an outcome" if waiting else "each of the others with an outcome"
        return f"One of {format_count(len(has_outcome) + 1)} locked audits of this {claim}, {rest}. {_SEVERAL}"
    # A locked plan without an outcome may have been abandoned because of its scores.
    if audit.lock is None and waiting:
        locks = f"1 locked audit of the {claim} has" if waiting == 1 else f"{format_count(waiting)} locked audits of the {claim} have"
        return f"This audit has no lock, and {locks} no outcome: the result of the planned audit is not reported."
    return None


def build_choice_reasons(audit: AuditPart, others: Sequence[AuditSummary], model: ModelRef) -> Iterator[StatusReason]:
    """Yield what could have been chosen after scores were seen: between several locks, and what the lock itself leaves open."""
    if locks := describe_locks(audit, others, model):
        yield StatusReason(text=locks, section=Section.HISTORY)
    left_open = list_open(audit)
    # A post hoc outcome has its own sentence, which says more.
    if left_open and not (audit.outcome and audit.outcome.payload.post_hoc):
        text = f"The lock does not fix everything that was measured: {', '.join(left_open)} could be chosen after scores were seen."
        yield StatusReason(text=text, section=Section.PREREGISTRATION)


def list_open(audit: AuditPart) -> tuple[str, ...]:
    """Return what decides which scores were planned and the lock of *audit* leaves open, in words; empty without a lock."""
    if audit.lock is None:
        return ()
    # Matched by how the name begins, since a name can add which specification it means.
    return tuple(name for name in audit.lock.payload.unfixed if name.startswith(_MEASURED))


def _sum_up(deviations: list[Deviation]) -> str:
    items = ", ".join(dict.fromkeys(get_words(departure.item) for departure in deviations))
    open_ = sum(deviation.reason is None for deviation in deviations)
    if len(deviations) == 1:
        explanation = "it is not explained" if open_ else "it is explained"
        return f"One thing was not done as locked ({items}); {explanation}."
    explanation = f"{format_count(open_)} of them are not explained" if open_ else "each is explained"
    return f"{format_count(len(deviations))} things were not done as locked ({items}); {explanation}."


def _list_computed(lock_facts: _LockFacts) -> Iterator[FixedRow]:
    """Give what every outcome under a lock is computed from, held against the estimate that it was."""
    lock, plan = lock_facts.lock, lock_facts.lock.plan
    mark, done = _check_claim(lock_facts)
    yield FixedRow(label="Claim", value="the revision under audit", reference=lock.claim, mark=mark, done=done)
    if lock.relation is not None:
        theta = "not published" if lock.theta is None else lock_facts.unit.given(lock.theta)
        yield FixedRow(label="θ", value=f"{get_words(lock.relation)} {theta}", mark=mark, done=done)
    yield FixedRow(label="Safety direction", value=get_words(lock.direction), mark=mark, done=done)
    mark, done = _check_plan(plan, lock_facts.estimate)
    numbers = [] if plan.margin is None else [f"δ = {lock_facts.unit.given_difference(plan.margin)}"]
    # ε is added to a standard deviation, and has the unit of the scores as they are.
    numbers += [] if plan.epsilon is None else [f"ε = {format_exact(plan.epsilon)}"]
    yield FixedRow(label="Margin, ε, level", value=", ".join([*numbers, f"level {format_level(plan.level)}"]), mark=mark, done=done)
    how = f"{get_words(plan.interval)}; contexts {plan.contexts.value}, seed {plan.seed}, {format_count(plan.replicates)} replicates"
    yield FixedRow(label="Intervals", value=how, mark=mark, done=done)
    floor = f"recognition suspends the claim above {format_level(plan.recognition_floor)}"
    yield FixedRow(label="Recognition floor", value=floor, mark=KEPT, done="every outcome under the lock is computed from it")
    limit = f"P_deploy is not defensible if blind raters distinguish it with accuracy above {format_level(plan.rater_limit)}"
    yield FixedRow(label="Limit on raters", value=limit, mark=KEPT, done="every outcome under the lock is computed from it")
    if plan.valid_until is not None:
        day = format_day(plan.valid_until)
        yield FixedRow(label="Valid until", value=day, mark=KEPT, done="an outcome under the lock expires after it")


def _check_claim(lock_facts: _LockFacts) -> tuple[str, str]:
    """An outcome takes θ and relation from the lock, and the direction from the claim's revision: both must say the same."""
    lock, claim = lock_facts.lock, lock_facts.claim
    # The outcome takes limits from the lock and the direction from the revision, so a difference
    # would mix two claims.
    if (lock.claim, lock.relation, lock.theta, lock.direction) == (claim.reference, claim.relation, claim.theta, claim.direction):
        return KEPT, "as in the claim’s revision, which is the one audited"
    return DEPARTED, "the claim’s revision differs"


def _check_plan(plan: Plan, estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return _NO_RUN
    # Compared with the estimate on record, not with what the audit says of itself.
    made = (estimate.margin, estimate.epsilon, estimate.level, estimate.seed, estimate.contexts, estimate.interval)
    if made == (plan.margin, plan.epsilon, plan.level, plan.seed, plan.contexts.value, plan.interval.value):
        return KEPT, "the estimate on record was computed with it"
    return DEPARTED, "the estimate on record was computed with other settings"


def _list_specs(lock_facts: _LockFacts) -> Iterator[FixedRow]:
    lock = lock_facts.lock
    if lock.test is not None:
        yield _build_spec(lock_facts, "Test contexts", lock.test, LockedItem.TEST_CONTEXTS)
    for cue in lock.deploy:
        yield _build_spec(lock_facts, f"Deployment contexts ({cue.name})", cue, LockedItem.DEPLOY_CONTEXTS)
    if lock.scoring is not None:
        yield _build_spec(lock_facts, "Scoring", lock.scoring, LockedItem.SCORING)
    if lock.scorer is not None:
        mark, done = (
            _OTHERWISE if LockedItem.SCORING in lock_facts.departed else (KEPT, "its scores were taken") if lock_facts.origin else _NO_RUN
        )
        yield FixedRow(label="Scorer of the logs", value=lock.scorer, mark=mark, done=done)
    for cue in lock.cues:
        yield _build_spec(lock_facts, "Cues", cue, LockedItem.CUES)


def _build_spec(lock_facts: _LockFacts, label: str, spec: LockedSpec, item: LockedItem) -> FixedRow:
    mark, done = _check_spec(lock_facts, spec, item)
    value = "sealed: the commitment to its text" if spec.is_sealed else "the text of this version"
    return FixedRow(label=label, value=value, reference=spec.spec, digest=spec.sha256, mark=mark, done=done)


_SEALED = "not compared: its text is sealed"


def _check_spec(lock_facts: _LockFacts, spec: LockedSpec, item: LockedItem) -> tuple[str, str]:
    # A recorded deviation decides; the digests below say nothing more.
    if item in lock_facts.departed:
        return _OTHERWISE
    if lock_facts.origin is None:
        return _NO_RUN
    if item in (LockedItem.SCORING, LockedItem.CUES):
        # Scoring and cues are compared by people: no digest of the replay covers them.
        judge = f"the scores name: {lock_facts.origin.judge}" if lock_facts.origin.judge else "who scored is not stated"
        return UNKNOWN, judge if item is LockedItem.SCORING else "for a reader to hold against the sections on cues"
    # A score table names contexts without holding them, so nothing can be compared.
    if lock_facts.replayed is None:
        return (UNKNOWN, _SEALED) if spec.is_sealed else _TABLE
    side = "test" if item is LockedItem.TEST_CONTEXTS else "deploy"
    same = spec.sha256 in {contexts.digest for contexts in lock_facts.replayed.list_contexts(side)}
    # A sealed text is known by its commitment alone.
    if spec.is_sealed:
        return (KEPT, "the run folder asked under the contexts of this very commitment") if same else (UNKNOWN, _SEALED)
    return (KEPT, "the run folder asked under this very text") if same else (UNKNOWN, "not found among the contexts of the run folder")


def _list_sizes(lock_facts: _LockFacts) -> Iterator[FixedRow]:
    lock = lock_facts.lock
    # A reason in words for stopping early does not show other tasks.
    departed = lock_facts.has_other_tasks
    if lock.tasks is not None:
        mark, done = _OTHERWISE if departed else (KEPT, "the scores are of the same identifiers") if lock_facts.origin else _NO_RUN
        value = f"{format_count(lock.tasks.count)} tasks by their identifiers"
        yield FixedRow(label="Tasks", value=value, digest=lock.tasks.sha256, mark=mark, done=done)
    # A number without identifiers still leaves open which tasks were asked.
    elif lock.plan.tasks is not None:
        mark, done = _OTHERWISE if departed else (KEPT, "as many were scored") if lock_facts.origin else _NO_RUN
        yield FixedRow(label="Number of tasks", value=f"{format_count(lock.plan.tasks)}; which ones is not fixed", mark=mark, done=done)
    if lock.replay is not None:
        mark, done = _check_replay(lock_facts)
        value = f"the replay file with all it refers to: {', '.join(lock.replay_parts or ())}"
        yield FixedRow(label="Replay", value=value, digest=lock.replay, mark=mark, done=done)


def _check_replay(lock_facts: _LockFacts) -> tuple[str, str]:
    if lock_facts.origin is None:
        return _NO_RUN
    # Without the run folder nothing shows how the scores were produced.
    if lock_facts.replayed is None:
        return DEPARTED, "the scores came without their run folder"
    # Parts are compared one by one, so that the differing one can be named.
    if lock_facts.replayed.parts == lock_facts.lock.replay_parts:
        return KEPT, "the run folder holds the same, part by part"
    return _OTHERWISE


def _list_worded(lock_facts: _LockFacts) -> Iterator[FixedRow]:
    """Give what is fixed in words: only limits and names in it can be compared."""
    lock, origin = lock_facts.lock, lock_facts.origin
    returned = origin.model_returned if origin else None
    spent = origin.budget_spent if origin else None
    requested = origin.model_requested if origin else None
    marks = {
        # Asking for the locked model is compared. The name that came back can be an alias, and is
        # printed.
        LockedItem.MODEL: (KEPT, f"asked for: {requested}")
        if requested == lock.model
        else (UNKNOWN, f"returned: {returned}" if returned else "what the endpoint was asked for is not stated"),
        LockedItem.BUDGET: (UNKNOWN, f"spent: {spent}" if spent else "what was spent is not stated"),
        LockedItem.STOPPING_RULE: (
            UNKNOWN,
            "in words; Caveat compared only the number of tasks, which is the same"
            if lock.plan.tasks
            else "in words, for the reader to compare",
        ),
        LockedItem.EXCLUSIONS: (UNKNOWN, "in words, for the reader to compare with the excluded responses"),
    }
    worded = (
        ("Model", lock.model, LockedItem.MODEL),
        ("Budget", lock.budget, LockedItem.BUDGET),
        ("Stopping rule", lock.stopping_rule, LockedItem.STOPPING_RULE),
        ("Exclusion rules", lock.exclusion_rules, LockedItem.EXCLUSIONS),
    )
    for label, value, item in worded:
        if value:
            # A deviation outweighs what was compared.
            mark, done = _OTHERWISE if item in lock_facts.departed else marks[item] if origin else _NO_RUN
            yield FixedRow(label=label, value=value, mark=mark, done=done)
    if lock.endpoint_names:
        mark, done = _check_names(lock_facts)
        yield FixedRow(label="Endpoint names", value=", ".join(lock.endpoint_names), mark=mark, done=done)


def _check_names(lock_facts: _LockFacts) -> tuple[str, str]:
    """Every name that the responses carry is one of those that the lock fixes."""
    if lock_facts.origin is None:
        return _NO_RUN
    names = lock_facts.origin.models_returned
    # One foreign name among the answers is enough: those responses are of something else.
    if not set(names) <= set(lock_facts.lock.endpoint_names):
        return DEPARTED, f"returned: {', '.join(names)}"
    # An answer without a name could be of any model.
    if not names or lock_facts.origin.unnamed_responses:
        return UNKNOWN, "not every response carries a model name"
    return KEPT, f"returned: {', '.join(names)}"
