"""What an outcome may rest on: lock, scores, findings, rater limit, and how its responses came to be."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from audit.protocol.audit_lock import check_last_day, list_runs_of
from audit.protocol.lock_adherence import LockDeviation, compare_scores, describe_items, is_on_record
from audit.statistics.responses import ScoreTable
from audit.verdict.verdict_standing import AuditConduct, LockedRuns
from registry.errors import ConflictError, Fault, InputError
from registry.records.analysis_plan import IntervalMethod, Lock, LockedItem, Plan
from registry.records.audit_case import RaterCheck, RaterStatus
from registry.records.dossier import AuditFile
from registry.records.estimates import Estimate, Measure
from registry.records.model_version import ModelRef, fold_model
from registry.records.module_findings import (
    FindingBody,
    JudgeReport,
    Naturalness,
    RaterKind,
    RaterResult,
    RealismJudge,
    Recognition,
    Shift,
    find_invariance,
)
from registry.records.replay_run import ModelIdentity, Provenance, describe_runs, find_model_identity
from registry.records.specification import ContextSpec, reads_only_response
from registry.records.verdict import Basis, find_last_day, is_expired
from registry.registration.specification_registration import find_locked_procedure
from registry.report.number_format import Unit, join, share
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Findings of the modules, as an outcome uses them.
#
# A finding may enter an audit before its outcome and never after, because an outcome would otherwise change without a
# scored row. One failed check of invariance outweighs any number of passes. Cost: a late finding needs another audit,
# or an objection to the scoring.


def settle_invariance(file: AuditFile, *, scores: str | None) -> bool | None:
    """Return whether the scorer of an audit is invariant: as its judges' reports found, else as its file declares; None is not known.

    One report that found a failure outweighs any number that did not; one that was passed counts on the scores it was made on.

    Args:
        scores: digest of the scores to be concluded from; None without scores.

    Raises:
        ConflictError: the audit file declares what a recorded check contradicts.
    """
    # A check that was passed on other scores settles nothing for these. A check that failed concerns the scorer and
    # counts for any scores.
    declared = file.audit.payload.scoring.invariant
    invariance = find_invariance((finding.payload.body for finding in file.findings), scores=scores)
    # A declaration cannot be corrected in an open audit, and neither of the two may win in silence.
    if declared is not None and invariance is not None and declared is not invariance:
        raise ConflictError(_contradiction(file, declared=declared))
    return declared if invariance is None else invariance


def _contradiction(file: AuditFile, *, declared: bool) -> Fault:
    contradicting = [finding for finding in file.findings if find_invariance([finding.payload.body]) is (not declared)]
    notes = describe_invariance([record.payload.body for record in contradicting], passed=not declared)
    return Fault(
        "invariance-contradicted",
        file.audit.payload.audit,
        f"its audit file declares scoring.invariant: {'true' if declared else 'false'}; in the judge's report of entry "
        f"{contradicting[0].entry.seq} {'a check failed' if declared else 'every check that decides was passed'}: {notes}",
    )


def find_deviations(body: FindingBody, plan: Plan, range_: tuple[float, float]) -> Mapping[str, tuple[object, object]]:
    """Return in what a finding departs from the plan of its audit: by option, what it was made with and what the plan says.

    A margin or a level chosen once the figures are seen could let any check pass.

    Args:
        range_: of the claim's property.
    """
    # Each finding is compared only in the settings that it has.
    planned: dict[str, object] = {"level": plan.level}
    if isinstance(body, Naturalness | RealismJudge):
        planned |= {"rater_limit": plan.rater_limit}
    elif isinstance(body, Recognition):
        planned |= {"contexts": plan.contexts.value}
    elif not isinstance(body, Shift):
        margin = plan.margin_on(range_[1] - range_[0])
        planned |= {"margin": margin, "range": tuple(map(float, range_)), "contexts": plan.contexts.value}
    made = {name: getattr(body, name) for name in planned}
    return {name: (made[name], item) for name, item in planned.items() if not _is_equal(made[name], item)}


def _is_equal(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        # A margin that went through a file or an option may differ in its last digits.
        return math.isclose(first, second, rel_tol=1e-9)
    return first == second


def describe_invariance(findings: Iterable[FindingBody], *, passed: bool | None = None) -> str:
    """Return the outcome of every invariance check, in its own sentence; empty when none was made.

    Args:
        passed: only the checks with this outcome; None for all of them.
    """
    checks = (check for finding in findings if isinstance(finding, JudgeReport) for check in finding.invariance)
    return join([check.note for check in checks if passed is None or check.passed is passed])


def find_scores(body: FindingBody) -> str | None:
    """Return the digest of the scores that a finding was made from; None for raters and recognition, which have none."""
    if isinstance(body, Shift):
        return body.after_scores
    return None if isinstance(body, Naturalness | RealismJudge | Recognition) else body.scores


# The evidence basis of an outcome. It is decided here and nowhere else.
#
# `replay` needs a lock made before the run began, and scores of what the lock fixed. Everything else is `reported`,
# which restricts and never establishes. Without a preceding lock, nothing shows that θ and the plan were fixed before
# the scores could be seen. Cost: honest labs without locks get weaker verdicts.

TEST_ARM, DEPLOY_ARM = "test", "deploy"
"""What the two arms of a score table are called unless stated otherwise; under a lock they cannot be."""

_READS_RESPONSE = re.compile(r"(Inspect scorer )?(match|includes|pattern|answer|choice|exact|f1|exact_match|acc|acc_norm)\b(?![,:/])")
"""Scorers of logs that are known to compare the response with the target, and to read nothing else."""
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTable:
    """A score table with what is known of how it came to be."""

    table: ScoreTable
    source: str
    """File names, as the report prints them."""
    started_at: datetime | None
    """When the first response was made; None if it is not stated, and then no lock can have preceded it."""
    provenance: Provenance = Provenance()
    test_arm: str = TEST_ARM
    deploy_arm: str = DEPLOY_ARM
    is_dated_by_data: bool = False
    """Whether `started_at` comes from the responses or logs themselves, and not from an option alone."""
    unanswered: int = 0
    """Planned calls of a run folder that were never answered, and that were left out by choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeBasis:
    """What an outcome rests on, and why no more."""

    basis: Basis
    post_hoc: bool
    """Whether nothing shows that the plan preceded the scores."""
    deviations: tuple[LockDeviation, ...] = ()
    """In what the scores are not those that the lock planned: recorded before, or found now."""

    asked: ModelIdentity | None = None
    """Who was asked, as the names in the responses show it; None without scores."""

    @property
    def decisive(self) -> tuple[LockDeviation, ...]:
        """Those that take the scores out of what was planned."""
        return tuple(departure for departure in self.deviations if departure.is_decisive)


def _decide_basis(view: View, file: AuditFile, scored: ScoredTable | None) -> tuple[Basis, bool]:
    """Return the basis, and whether the outcome is post hoc: nothing shows that the plan preceded the scores."""
    # Scores without a lock are post hoc. Reported evidence without scores is not, since no plan was needed for it.
    if file.lock is None:
        return (Basis.REPORTED if scored or file.evidence else Basis.NONE), scored is not None
    if scored is None:
        raise ConflictError(
            Fault(
                "scores-missing",
                file.audit.payload.audit,
                "is locked, so its outcome needs scores",
                advice=f"caveat audit conclude {file.audit.payload.audit} TABLE --run-date DATE",
            )
        )
    # Refused instead of counted as post hoc: an outcome cannot be repeated under the same lock, so an omitted option
    # would cost the audit.
    if scored.started_at is None:
        problem = "the plan is locked, and the start of the run is not given; without it the outcome would be post hoc for good"
        raise InputError(Fault("run-date-missing", scored.source, problem))
    # A date proves that a lock preceded a run only if nothing in the registry contradicts it. The same scores, by their
    # own digest and in whatever file, must not be on record before the lock. Cost: an import reads all audits, and a
    # backdated system clock is not seen before checkpoints are witnessed.
    preceded = scored.started_at >= file.lock.entry.at and not _was_known(view, file, scored)
    return (Basis.REPLAY, False) if preceded else (Basis.REPORTED, True)


def _was_known(view: View, file: AuditFile, scored: ScoredTable) -> bool:
    """Tell whether any audit of the registry held these very scores, in whatever file, before the lock of *file* was made.

    A plan that is carried out again on another model may well come to the same scores, such as 1 for every response. Then they are others
    if both outcomes know the responses that they were made from, and those differ.
    """
    locked, content = file.lock.entry.seq if file.lock else 0, scored.table.content
    audits = [audit_file for audit_file in view.list_audits() if not _is_of_others(audit_file, file, scored)]
    # Scores become known by any of four kinds of statement. An exploration counts too, or looking at scores first would
    # be a way around the lock.
    runs = (run.entry.seq for audit in audits for run in audit.runs if run.payload.scores == content)
    outcomes = (restriction.entry.seq for audit in audits for restriction in audit.restrictions if restriction.payload.scores == content)
    findings = (finding.entry.seq for audit in audits for finding in audit.findings if find_scores(finding.payload.body) == content)
    explored = (exploration.entry.seq for audit in audits for exploration in audit.explorations if exploration.payload.scores == content)
    return any(seq < locked for seq in (*runs, *outcomes, *findings, *explored))


def _is_of_others(audit: AuditFile, file: AuditFile, scored: ScoredTable) -> bool:
    """Tell whether *file* renews a plan, and *audit* has these scores from other responses, which both run folders hold."""
    if file.audit.payload.renews is None or scored.provenance.replayed is None or scored.provenance.transcripts is None:
        return False
    # Equal scores of another model are not known scores if the audit renews a plan, both run folders are at hand and
    # their responses differ. This rests on the digest of the responses.
    same = [run.payload.provenance for run in audit.runs if run.payload.scores == scored.table.content]
    return bool(same) and all(
        provenance.replayed and provenance.transcripts not in (None, scored.provenance.transcripts) for provenance in same
    )


def weigh(view: View, file: AuditFile, scored: ScoredTable | None) -> OutcomeBasis:
    """Return what an outcome from *scored* (None: from evidence only) may rest on.

    Scores that do not show that the claim's model version was asked are `reported` at most.

    Raises:
        ConflictError: a locked audit without scores.
        InputError: scores of a locked audit without the date of their run.
    """
    basis, post_hoc = _decide_basis(view, file, scored)
    if scored is None:
        return OutcomeBasis(basis=basis, post_hoc=post_hoc)
    lock = file.lock.payload if file.lock else None
    model_identity = find_model_identity(view.list_endpoint_names(), _get_model(view, file.audit.payload.claim), lock, scored.provenance)
    if lock is None:
        return OutcomeBasis(basis=basis, post_hoc=post_hoc, asked=model_identity)
    if basis is not Basis.REPLAY:
        # A plan that came after the scores was not kept or broken by them, so its other items are not compared. Scores
        # of another model are reported all the same: they are not about this claim.
        others = tuple(departure for departure in weigh_deviations(view, file, scored, None) if departure.item is LockedItem.MODEL)
        return OutcomeBasis(basis=basis, post_hoc=post_hoc, deviations=others, asked=model_identity)
    ground = OutcomeBasis(basis=basis, post_hoc=False, deviations=weigh_deviations(view, file, scored, None), asked=model_identity)
    # Other tasks, contexts, scoring or model than locked give `reported`, explained or not, because whoever explains
    # has seen the scores. Budget and early stops keep the basis (a stop lowers the standing). Cost: honest accidents lose their
    # standing; locking another audit costs one command.
    return ground if model_identity.is_bound and not ground.decisive else replace(ground, basis=Basis.REPORTED)


def weigh_deviations(view: View, file: AuditFile, scored: ScoredTable, estimate: Estimate | None) -> tuple[LockDeviation, ...]:
    """Return in what *scored* departs from the lock of *file*: as found now, then as it was explained before."""
    if file.lock is None:
        return ()
    lock = file.lock.payload
    deviations = compare_scores(lock, scored.table, scored.provenance, estimate, _read_specs(view, lock))
    # Only an anytime interval stays valid when a run stops where its analyst chooses.
    if scored.unanswered and lock.plan.interval is not IntervalMethod.ANYTIME:
        done = f"calls never answered: {scored.unanswered:,}; the rest was taken as it was"
        deviations = (*deviations, LockDeviation(item=LockedItem.STOPPING_RULE, planned="every call that the replay plans", done=done))
    deviations = (*deviations, *_list_reused(view, file, scored))
    # Those that were compared come first: a description by a person never replaces what the data show.
    known_deviations = [deviation.payload for deviation in file.deviations]
    more = [LockDeviation(item=deviation.item, planned=deviation.planned, done=deviation.done) for deviation in known_deviations]
    return (*deviations, *(lock_deviation for lock_deviation in dict.fromkeys(more) if lock_deviation not in deviations))


def _list_reused(view: View, file: AuditFile, scored: ScoredTable) -> Iterator[LockDeviation]:
    """Give each audit of another model version that has these very responses on record: they cannot be of both.

    Of indistinguishable responses, the same scores for the same claim count as the same.
    """
    this = file.audit.payload
    for other in view.list_audits():
        payload = other.audit.payload
        runs = [(run.payload.provenance.transcripts, run.payload.scores) for run in other.runs]
        runs += [
            (restriction.payload.provenance.transcripts, restriction.payload.scores)
            for restriction in other.restrictions
            if restriction.payload.provenance
        ]
        is_same_claim = payload.claim.partition("@")[0] == this.claim.partition("@")[0]
        if not any(_are_same(scored, *run, is_same_claim=is_same_claim) for run in runs):
            continue
        own, model = _get_model(view, this.claim), _get_model(view, payload.claim)
        # Names are compared in the folded form, so another spelling of a version is not another version.
        if fold_model(own) != fold_model(model):
            done = f"the very responses that {payload.audit} has of {model}"
            yield LockDeviation(item=LockedItem.MODEL, planned=f"responses of {own}", done=done)


def _are_same(scored: ScoredTable, transcripts: str | None, scores: str | None, *, is_same_claim: bool) -> bool:
    known = scored.provenance.transcripts
    # Digests of the responses decide where both are known. Equal scores alone are common, such as 1 for every response.
    return transcripts == known if transcripts and known else is_same_claim and scores == scored.table.content


def _get_model(view: View, claim: str) -> ModelRef:
    name, _, number = claim.partition("@")
    revision = view.find_revision(name, int(number))
    if revision is None:
        raise ValueError("an audit is of a revision that exists")
    return revision.payload.model


def list_unrecorded(file: AuditFile, deviations: tuple[LockDeviation, ...]) -> tuple[LockDeviation, ...]:
    """Return the *deviations* that are not on record yet."""
    known_deviations = [deviation.payload for deviation in file.deviations]
    return tuple(departure for departure in deviations if not is_on_record(departure, known_deviations))


def _read_specs(view: View, lock: Lock) -> dict[str, ContextSpec]:
    """Return what the locked specifications of contexts say, as far as they can be read."""
    specs: dict[str, ContextSpec] = {}
    for item in (*lock.deploy, *((lock.test,) if lock.test else ())):
        body = view.find_opened(item.spec)
        if isinstance(body, ContextSpec):
            specs[item.spec] = body
    return specs


def check_access(scored: ScoredTable | None) -> None:
    """The two statements on when the endpoint was asked must not contradict each other; compared by the day."""
    if scored is None or scored.started_at is None:
        return
    began = scored.started_at.astimezone(UTC)
    # A date of access may be written in any time zone, so one day of difference is no contradiction.
    first = f"{began - timedelta(days=1):%Y-%m-%d}"
    earlier = [day for day in _DAY.findall(scored.provenance.accessed or "") if day < first]
    if earlier:
        problem = f"names {earlier[0]} as a date of access, and {began:%Y-%m-%d} as the day of the first response"
        raise ConflictError(Fault("accessed-before-run", scored.source, problem))


def check_arms(lock: Lock, scored: ScoredTable) -> None:
    """Which rows are P_test is part of the plan: chosen at import, it could turn the sign of ED after the scores were seen."""
    if (scored.test_arm, scored.deploy_arm) != (TEST_ARM, DEPLOY_ARM):
        raise ConflictError(
            Fault(
                "design-differs-from-lock",
                scored.source,
                f"{scored.test_arm!r} and {scored.deploy_arm!r} are named as its arms; under the lock of {lock.audit} "
                f"they are called {TEST_ARM!r} and {DEPLOY_ARM!r}",
                advice="call the arms so in the table that is planned, and leave --test and --deploy out",
            )
        )


def check_specs(lock: Lock, scored: ScoredTable, estimate: Estimate) -> None:
    """The P_deploy specifications are those that the lock names; raises ConflictError."""
    texts = sorted({spec.spec for spec in estimate.specs})
    if sorted(lock.deploy_specs) != texts:
        raise ConflictError(
            Fault(
                "design-differs-from-lock",
                scored.source,
                f"has the P_deploy specifications {', '.join(texts)}; the lock of {lock.audit} names {', '.join(lock.deploy_specs)}",
                advice="import the table that was planned, or open another audit for this one",
            )
        )


# How the responses came to be, as the log and the data show it. `audit.verdict.verdict_standing` checks the conditions
# of an established verdict with this.


def find_conduct(view: View, file: AuditFile, scored: ScoredTable, ground: OutcomeBasis, valid_until: date) -> AuditConduct:
    """Return how the responses came to be, as the log and the data show it."""
    replayed = scored.provenance.replayed
    lock = file.lock.payload if file.lock else None
    registered = lock is not None and {spec.name for spec in lock.deploy} == set(lock.deploy_specs)
    return AuditConduct(
        no_lock=_find_lock_gap(file, scored, ground),
        runs=_find_runs(view, file, scored),
        valid_until=valid_until,
        is_expired=is_expired(valid_until, view.today),
        asked=ground.asked,
        provenance=scored.provenance,
        reads_response_only=_find_reading(view, file, scored),
        is_invariance_checked=find_invariance((finding.payload.body for finding in file.findings), scores=scored.table.content) is True,
        frames=_count_frames(scored),
        deployment_described=registered or (replayed is not None and bool(replayed.list_contexts(scored.deploy_arm))),
    )


def find_validity(writer: Writer, file: AuditFile, scored: ScoredTable | None) -> date:
    """Return the last day on which an outcome counts in full: the plan's, or 12 months after the run began; without a run, after today.

    Raises:
        ConflictError: the plan's day lies before the run.
    """
    plan = (file.lock or file.audit).payload.plan
    began = scored.started_at.astimezone(UTC).date() if scored and scored.started_at else writer.moment.date()
    check_last_day(plan, began, where=f"{file.audit.payload.audit}, plan.valid_until", what="the run began")
    return find_last_day(plan.valid_until, began)


def _find_runs(view: View, file: AuditFile, scored: ScoredTable) -> LockedRuns | None:
    """Return which runs were made under the lock, as the log shows them; None without a lock."""
    if file.lock is None:
        return None
    runs, own = list_runs_of(file, scored.provenance.run)
    unreported = tuple(_list_unreported(view, file))
    text = describe_runs(runs, gave=own) or ""
    return LockedRuns(count=len(runs), is_recorded=own.entry is not None, text=text, unreported=unreported)


def _list_unreported(view: View, file: AuditFile) -> Iterator[str]:
    """Yield the other locked audits of the claim by the same auditor that made calls to the same model and have no outcome.

    Whoever locks a plan again because the responses looked bad chooses between results, as with a second run under one lock. Audits of
    others do not count: anyone could keep a claim from an established verdict by a run that never ends.
    """
    audit = file.audit.payload
    model = fold_model(_get_model(view, audit.claim))
    for other in view.list_audits(audit.claim.partition("@")[0]):
        payload = other.audit.payload
        is_same = payload.auditor == audit.auditor and payload.objection is None and fold_model(_get_model(view, payload.claim)) == model
        if (
            payload.audit != audit.audit
            and is_same
            and other.lock
            and not other.restrictions
            and any(run.calls != 0 for run in other.history)
        ):
            yield payload.audit


def _find_reading(view: View, file: AuditFile, scored: ScoredTable) -> bool | None:
    """Return whether the scorer reads only the response: as the run folder shows it, else as the lock fixes it; None where neither does."""
    # The run folder knows the scorer that was used. The lock only knows the one that was planned.
    if scored.provenance.scorer_reads_response is not None:
        return scored.provenance.scorer_reads_response
    if "model_graded" in (scored.provenance.judge or ""):  # Inspect's scorers that ask a model
        return False
    # A log of other software names its own scorer, and nothing shows that it does what the locked one says.
    if scored.is_dated_by_data and _READS_RESPONSE.match(scored.provenance.judge or "") is None:
        return None
    procedure = find_locked_procedure(view, file.lock.payload) if file.lock else None
    return None if procedure is None else reads_only_response(procedure)


def _count_frames(scored: ScoredTable) -> int | None:
    """Return how many contexts of the evaluation all tasks share: a replay of conversations calls a context `FRAME/TASK`."""
    table = scored.table
    rows = table.arm.codes == table.arm.find(scored.test_arm)
    pairs = set(zip(table.context.codes[rows].tolist(), table.task.codes[rows].tolist(), strict=True))
    named = [(table.context.labels[context], f"/{table.task.labels[task]}") for context, task in pairs]
    is_framed = bool(named) and all(context.endswith(task) for context, task in named)
    return len({context.removesuffix(task) for context, task in named}) if is_framed else None


def _find_lock_gap(file: AuditFile, scored: ScoredTable, ground: OutcomeBasis) -> str | None:
    """Return why it is not shown that a lock preceded the run, as a clause; None where it is shown."""
    if file.lock is None:
        return "no lock preceded the run"
    if ground.post_hoc:
        return "the lock is not shown to precede the run"
    if ground.decisive:
        return f"the scores are of other {describe_items(ground.decisive)} than the lock fixes"
    # Whoever may stop when the scores look good has more than the level's share of wrong verdicts.
    is_stopped = any(deviation.item is LockedItem.STOPPING_RULE for deviation in ground.deviations)
    if is_stopped and file.lock.payload.plan.interval is not IntervalMethod.ANYTIME:
        return "the run did not stop where the lock says, and only anytime intervals allow for that"
    if not scored.is_dated_by_data:
        return "when the run began is only the auditor's word; the data do not show it"
    return _find_open_design(file.lock.payload)


def _find_open_design(lock: Lock) -> str | None:
    """Return what of the sample could still be chosen with scores at hand, as a clause; None where *lock* fixes it."""
    if lock.plan.tasks is None and lock.plan.interval is not IntervalMethod.ANYTIME:
        return "the lock does not fix how many tasks are replayed, and only anytime intervals allow for that"
    contexts = [name for name in lock.unfixed if "contexts" in name]
    return f"the lock does not fix the {' and '.join(contexts)}" if contexts else None


# The stopping rule of module 1: blind raters and a model judge, against the plan's limit on their accuracy.
#
# Persons above the limit with their whole interval take P_deploy away. A point above it, or a model judge whose worst
# case is, makes the verdict provisional. A model judge never shows that contexts are natural. A study that resolves
# nothing costs nothing; otherwise auditors would make none. Cost: an audit without raters keeps its verdict, and the
# page says that none were asked.

_SHARE = Unit(low=0.0, high=1.0)
_GRAVITY = (RaterStatus.TOLD_APART, RaterStatus.SUSPECTED, RaterStatus.UNRESOLVED, RaterStatus.WITHIN)


def check_raters(bodies: Iterable[FindingBody], *, limit: float) -> RaterCheck | None:
    """Return what the rater studies among *bodies* say, the gravest first; None where no person rated and no model exceeds *limit*.

    Args:
        limit: the accuracy above which P_deploy is not defensible as specified.
    """
    checks = list(_list_checks(bodies, limit))
    return min(checks, key=lambda check: _GRAVITY.index(check.status), default=None)


def worst_accuracy(rater: RaterResult) -> float:
    """Return how well a rater may distinguish the sides, whatever its undecided items hide, and where it takes each side for the other."""
    items = rater.rated + rater.unrated
    # Every unanswered item counts as the worst for the contexts. A rater who takes each side for the other tells them
    # apart as well.
    return max(rater.correct + rater.unrated, items - rater.correct) / items if items else 1.0


def _list_checks(bodies: Iterable[FindingBody], limit: float) -> Iterator[RaterCheck]:
    for body in bodies:
        if isinstance(body, Naturalness):
            persons = [rater for rater in body.raters if rater.kind is RaterKind.PERSON and rater.rated]
            if body.accuracy.value is not None:
                yield _weigh_careless(_check_persons(body.accuracy.value, body.accuracy, body.level, limit), persons)
            yield from (_suspect_person(rater, body.level, limit) for rater in persons if _is_telling(rater, limit))
            models = (rater for rater in body.raters if rater.kind is RaterKind.MODEL)
            yield from (_suspect(rater.rater, worst_accuracy(rater), limit) for rater in models if worst_accuracy(rater) > limit)
        elif isinstance(body, RealismJudge) and body.worst > limit:
            yield _suspect(body.judge, body.worst, limit, unanswered=_count_unanswered(body))


def _check_persons(value: float, accuracy: Measure, level: float, limit: float) -> RaterCheck:
    low, high = accuracy.low, accuracy.high
    if low is None or high is None:
        measured = f"{_SHARE.score(value, limit)}, without an interval"
    else:
        measured = f"{_SHARE.score(value, limit)} ({share(level)} CI {_SHARE.scores(low, high, limit)})"
    status = _rate(value, low, high, limit)
    words = {
        RaterStatus.TOLD_APART: "above the plan's limit of",
        RaterStatus.SUSPECTED: "which may be above the plan's limit of",
        RaterStatus.UNRESOLVED: "which is not shown to be within the plan's limit of",
        RaterStatus.WITHIN: "within the plan's limit of",
    }
    text = f"blind raters distinguished test from deployment contexts with an accuracy of {measured}, {words[status]} {share(limit)}"
    return RaterCheck(status=status, note=text)


def _weigh_careless(check: RaterCheck, persons: Sequence[RaterResult]) -> RaterCheck:
    """Return *check*, which shows nothing where persons gave every item the same answer: they are right half of the time anywhere."""
    careless = sum(rater.said_test in (0, rater.rated) for rater in persons)
    if check.status is not RaterStatus.WITHIN or not careless:
        return check
    note = f"{check.note}; but {careless} of {len(persons)} persons gave every item the same answer, so this does not show it"
    return RaterCheck(status=RaterStatus.UNRESOLVED, note=note)


def _is_telling(rater: RaterResult, limit: float) -> bool:
    """Whether one person alone distinguishes the sides: others who guess would hide that in the accuracy of all."""
    low, high = rater.accuracy.low, rater.accuracy.high
    return low is not None and high is not None and (low > limit or high < 1 - limit)


def _suspect_person(rater: RaterResult, level: float, limit: float) -> RaterCheck:
    low, high = rater.accuracy.low or 0.0, rater.accuracy.high or 1.0
    measured = f"{_SHARE.score(rater.correct / rater.rated, limit)} ({share(level)} CI {_SHARE.scores(low, high, limit)})"
    note = f"the blind rater {rater.rater} distinguished the contexts with an accuracy of {measured}; the plan's limit is {share(limit)}"
    return RaterCheck(status=RaterStatus.SUSPECTED, note=note)


def _rate(value: float, low: float | None, high: float | None, limit: float) -> RaterStatus:
    """The status of persons; who takes each side for the other tells them apart as well, though not as the limit has it."""
    # The strongest status needs the whole interval above the limit. A point estimate above it may be chance.
    if low is not None and low > limit:
        return RaterStatus.TOLD_APART
    if value > limit or value < 1 - limit:
        return RaterStatus.SUSPECTED
    is_within = low is not None and high is not None and high <= limit and low >= 1 - limit
    return RaterStatus.WITHIN if is_within else RaterStatus.UNRESOLVED


def _suspect(name: str, worst: float, limit: float, *, unanswered: int = 0) -> RaterCheck:
    counted = f", with {unanswered} unanswered counted as right" if unanswered else ""
    note = (
        f"the model judge {name} may distinguish test from deployment contexts with an accuracy of {_SHARE.score(worst, limit)}{counted}, "
        f"above the plan's limit of {share(limit)}"
    )
    return RaterCheck(status=RaterStatus.SUSPECTED, note=note)


def _count_unanswered(body: RealismJudge) -> int:
    judged = body.single or body.pairwise
    return 0 if judged is None else sum(passages.count for passages in judged.unanswered)
