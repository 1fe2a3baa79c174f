"""What an outcome may rest on: `replay` needs a lock made before the run began, and scores of what it fixed.

Everything else is `reported`, which restricts and never establishes. It is decided here and nowhere else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from audit.adherence import Departure, compare_scores, is_told
from audit.findings import find_scores
from audit.statistics.responses import ScoreTable
from registry.errors import ConflictError, Fault, InputError
from registry.records.analysis_plan import IntervalMethod, Lock, LockedItem
from registry.records.dossier import AuditFile
from registry.records.estimates import Estimate
from registry.records.model_version import ModelRef
from registry.records.replay_run import ModelIdentity, Provenance, find_model_identity
from registry.records.specification import ContextSpec
from registry.records.verdict import Basis
from registry.store.lineage import fold_model
from registry.store.view import View

TEST_ARM, DEPLOY_ARM = "test", "deploy"
"""What the two arms of a score table are called unless somebody says otherwise; under a lock nobody can."""

_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A score table with what is known of how it came to be."""

    table: ScoreTable
    source: str
    """File names, as the report prints them."""
    started_at: datetime | None
    """When the first response was made; None when nobody says, and then no lock can have preceded it."""
    provenance: Provenance = Provenance()
    test_arm: str = TEST_ARM
    deploy_arm: str = DEPLOY_ARM
    is_dated_by_data: bool = False
    """Whether `started_at` comes from the responses or logs themselves, and not from an option alone."""
    unanswered: int = 0
    """Planned calls of a run folder that were never answered, and that were left out by somebody's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an outcome rests on, and why no more."""

    basis: Basis
    post_hoc: bool
    """Whether nothing shows that the plan preceded the scores."""
    departures: tuple[Departure, ...] = ()
    """In what the scores are not those that the lock planned: recorded before, or found now."""

    asked: ModelIdentity | None = None
    """Who was asked, as the names in the responses show it; None without scores."""

    @property
    def decisive(self) -> tuple[Departure, ...]:
        """Those that take the scores out of what was planned."""
        return tuple(one for one in self.departures if one.is_decisive)


def _decide_basis(view: View, file: AuditFile, scored: Scored | None) -> tuple[Basis, bool]:
    """Return the basis, and whether the outcome is post hoc: nothing shows that the plan preceded the scores."""
    if file.lock is None:
        return (Basis.REPORTED if scored or file.evidence else Basis.NONE), scored is not None
    if scored is None:
        raise ConflictError(
            Fault(
                code="scores-missing",
                where=file.audit.payload.audit,
                found="is locked, so its outcome needs scores",
                advice=f"caveat audit import {file.audit.payload.audit} TABLE --run-date DATE",
            )
        )
    if scored.started_at is None:
        found = "the plan is locked, and when the run began is not said; without it the outcome would be post hoc for good"
        advice = "give the moment of the first response with --run-date, such as 2026-11-21T12:00:00Z"
        raise InputError(Fault(code="run-date-missing", where=scored.source, found=found, advice=advice))
    preceded = scored.started_at >= file.lock.entry.at and not _was_known(view, file, scored)
    return (Basis.REPLAY, False) if preceded else (Basis.REPORTED, True)


def _was_known(view: View, file: AuditFile, scored: Scored) -> bool:
    """Tell whether any audit of the registry held these very scores, in whatever file, before the lock of *file* was made.

    A plan that is carried out again on another model may well come to the same scores, such as 1 for every response. Then they are others
    if both outcomes know the responses that they were made from, and those differ.
    """
    locked, content = file.lock.entry.seq if file.lock else 0, scored.table.content
    audits = [one for one in view.list_audits() if not _is_of_others(one, file, scored)]
    runs = (one.entry.seq for audit in audits for one in audit.runs if one.payload.scores == content)
    outcomes = (one.entry.seq for audit in audits for one in audit.restrictions if one.payload.scores == content)
    found = (one.entry.seq for audit in audits for one in audit.findings if find_scores(one.payload.body) == content)
    explored = (one.entry.seq for audit in audits for one in audit.explorations if one.payload.scores == content)
    return any(seq < locked for seq in (*runs, *outcomes, *found, *explored))


def _is_of_others(audit: AuditFile, file: AuditFile, scored: Scored) -> bool:
    """Tell whether *file* renews a plan, and *audit* has these scores from other responses, which both run folders hold."""
    if file.audit.payload.renews is None or scored.provenance.replayed is None or scored.provenance.transcripts is None:
        return False
    same = [one.payload.provenance for one in audit.runs if one.payload.scores == scored.table.content]
    return bool(same) and all(one.replayed and one.transcripts not in (None, scored.provenance.transcripts) for one in same)


def weigh(view: View, file: AuditFile, scored: Scored | None) -> Ground:
    """Return what an outcome from *scored* (None: from evidence alone) may rest on.

    Scores that do not show that the claim's model version was asked are `reported` at most.

    Raises:
        ConflictError: a locked audit without scores.
        InputError: scores of a locked audit without the date of their run.
    """
    basis, post_hoc = _decide_basis(view, file, scored)
    if scored is None:
        return Ground(basis=basis, post_hoc=post_hoc)
    lock = file.lock.payload if file.lock else None
    asked = find_model_identity(view.list_endpoint_names(), _get_model(view, file.audit.payload.claim), lock, scored.provenance)
    if lock is None:
        return Ground(basis=basis, post_hoc=post_hoc, asked=asked)
    if basis is not Basis.REPLAY:
        # Whatever else is otherwise, a plan that came after the scores was for none; but of another model they are not of this claim.
        others = tuple(one for one in weigh_departures(view, file, scored, None) if one.item is LockedItem.MODEL)
        return Ground(basis=basis, post_hoc=post_hoc, departures=others, asked=asked)
    ground = Ground(basis=basis, post_hoc=False, departures=weigh_departures(view, file, scored, None), asked=asked)
    return ground if asked.is_bound and not ground.decisive else replace(ground, basis=Basis.REPORTED)


def weigh_departures(view: View, file: AuditFile, scored: Scored, estimate: Estimate | None) -> tuple[Departure, ...]:
    """Return in what *scored* departs from the lock of *file*: as found now, then as somebody told it before."""
    if file.lock is None:
        return ()
    lock = file.lock.payload
    found = compare_scores(lock, scored.table, scored.provenance, estimate, _read_specs(view, lock))
    if scored.unanswered and lock.plan.interval is not IntervalMethod.ANYTIME:
        done = f"calls never answered: {scored.unanswered:,}; the rest was taken as it was"
        found = (*found, Departure(item=LockedItem.STOPPING_RULE, planned="every call that the replay plans", done=done))
    found = (*found, *_list_reused(view, file, scored))
    told = [one.payload for one in file.deviations]
    more = [Departure(item=one.item, planned=one.planned, done=one.done) for one in told]
    return (*found, *(one for one in dict.fromkeys(more) if one not in found))


def _list_reused(view: View, file: AuditFile, scored: Scored) -> Iterator[Departure]:
    """Give each audit of another model version that has these very responses on record: they cannot be of both.

    Of responses that nobody can tell apart, the same scores for the same claim count as the same.
    """
    this = file.audit.payload
    for other in view.list_audits():
        said = other.audit.payload
        runs = [(one.payload.provenance.transcripts, one.payload.scores) for one in other.runs]
        runs += [(one.payload.provenance.transcripts, one.payload.scores) for one in other.restrictions if one.payload.provenance]
        is_same_claim = said.claim.partition("@")[0] == this.claim.partition("@")[0]
        if not any(_are_same(scored, *one, is_same_claim=is_same_claim) for one in runs):
            continue
        own, model = _get_model(view, this.claim), _get_model(view, said.claim)
        if fold_model(own) != fold_model(model):
            done = f"the very responses that {said.audit} has of {model}"
            yield Departure(item=LockedItem.MODEL, planned=f"responses of {own}", done=done)


def _are_same(scored: Scored, transcripts: str | None, scores: str | None, *, is_same_claim: bool) -> bool:
    known = scored.provenance.transcripts
    return transcripts == known if transcripts and known else is_same_claim and scores == scored.table.content


def _get_model(view: View, claim: str) -> ModelRef:
    name, _, number = claim.partition("@")
    found = view.find_revision(name, int(number))
    if found is None:
        raise ValueError("an audit is of a revision that exists")
    return found.payload.model


def list_untold(file: AuditFile, departures: tuple[Departure, ...]) -> tuple[Departure, ...]:
    """Return the *departures* that are not on record yet."""
    told = [one.payload for one in file.deviations]
    return tuple(one for one in departures if not is_told(one, told))


def _read_specs(view: View, lock: Lock) -> dict[str, ContextSpec]:
    """Return what the locked specifications of contexts say, as far as they can be read."""
    found: dict[str, ContextSpec] = {}
    for one in (*lock.deploy, *((lock.test,) if lock.test else ())):
        body = view.find_opened(one.spec)
        if isinstance(body, ContextSpec):
            found[one.spec] = body
    return found


def check_access(scored: Scored | None) -> None:
    """The two statements on when the endpoint was asked must not contradict each other; compared by the day."""
    if scored is None or scored.started_at is None:
        return
    began = scored.started_at.astimezone(UTC)
    # A day may be written in any time zone.
    first = f"{began - timedelta(days=1):%Y-%m-%d}"
    earlier = [day for day in _DAY.findall(scored.provenance.accessed or "") if day < first]
    if earlier:
        found = f"names {earlier[0]} as a date of access, and {began:%Y-%m-%d} as the day of the first response"
        advice = "correct accessed in the provenance, or --run-date"
        raise ConflictError(Fault(code="accessed-before-run", where=scored.source, found=found, advice=advice))


def check_arms(lock: Lock, scored: Scored) -> None:
    """Which rows are P_test is part of the plan: chosen at import, it could turn the sign of ED after the scores were seen."""
    if (scored.test_arm, scored.deploy_arm) != (TEST_ARM, DEPLOY_ARM):
        raise ConflictError(
            Fault(
                code="arms-differ-from-lock",
                where=scored.source,
                found=f"{scored.test_arm!r} and {scored.deploy_arm!r} are named as its arms; under the lock of {lock.audit} "
                f"they are called {TEST_ARM!r} and {DEPLOY_ARM!r}",
                advice="call the arms so in the table that is planned, and leave --test and --deploy out",
            )
        )


def check_specs(lock: Lock, scored: Scored, estimate: Estimate) -> None:
    """The P_deploy specifications are those that the lock names; raises ConflictError."""
    found = sorted({one.spec for one in estimate.specs})
    if sorted(lock.deploy_specs) != found:
        raise ConflictError(
            Fault(
                code="specs-differ-from-lock",
                where=scored.source,
                found=f"has the P_deploy specifications {', '.join(found)}; the lock of {lock.audit} names {', '.join(lock.deploy_specs)}",
                advice="import the table that was planned, or open another audit for this one",
            )
        )
