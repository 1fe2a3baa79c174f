"""One call of `caveat stale renew`: the claims and audits chosen, their runs one after the other, and their outcomes."""

import asyncio
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audit.cli.analysis_options import list_key_hosts
from audit.cli.run_session import look_ahead, make_calls, open_session, watch
from audit.cli.score_commands import JudgeOptions, carry_out
from audit.endpoints.endpoint_opening import check_policy, open_endpoint
from audit.protocol.audit_record import get_audit
from audit.renew.renewal_choice import ClaimRenewal, RenewalRequest, SkippedClaim, choose_renewals
from audit.renew.renewal_outcome import (
    RenewalFolder,
    build_renewed,
    find_scorer,
    measure,
    read_renewal_folder,
    record_group,
    record_outcome,
    write_renewal_folder,
)
from audit.renew.renewal_replays import RenewalGroup, RenewalGroups, group, list_runs
from audit.replay.call_engine import LOST, RunSummary
from audit.replay.replay_design import build_design
from audit.replay.replay_provenance import count_arm_outcomes
from audit.replay.run_budget import SpentAmount, check_prices, read_prices
from audit.replay.run_forecast import RunForecast
from audit.replay.run_store import RunStore, get_replay, get_tasks, open_store
from audit.score.run_evidence import find_scorer as find_own_scorer
from audit.score.scorers import check_scorable
from registry.cli.application import App, track
from registry.errors import CaveatError, ConflictError, Fault
from registry.records.model_version import ModelRef
from registry.records.replay_run import Policy
from registry.records.specification import JudgeScorer
from registry.store.registry_view import View

# What one call of `caveat stale renew` works with: claims and audits that are chosen, their replays, and how far each has come.

_SQLITE = "sqlite:///"


@dataclass(slots=True, kw_only=True)
class RenewalJob:
    """One replay that is carried out again, with the audits that it answers to."""

    group: RenewalGroup
    forecast: RunForecast | None = None
    """What is still to be asked; None for runs made elsewhere, for replays that are concluded, and for such as cannot be planned."""
    policy: Policy | None = None
    """Whom the replay asks, where it can be planned."""
    judge: str | None = None
    """The model that scores the responses, whose calls are not in the forecast; None without one."""
    summary: RunSummary | None = None
    """What the run of this call came to; None where there was none."""
    faults: list[Fault] = field(default_factory=list)
    """Why not all of it could be done."""
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By audit, what could not be measured of it."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether its run is made elsewhere."""
        return self.group.recording is None and not self.is_concluded

    @property
    def is_concluded(self) -> bool:
        """Whether every audit of it has its outcome."""
        return all(renewal.is_concluded for renewal in self.group.chosen)

    @property
    def is_waiting(self) -> bool:
        """Whether any call is still to be made: a run that is complete is not opened again, for one of its audits may be concluded."""
        return self.forecast is None or self.forecast.total.calls > 0

    @property
    def is_open(self) -> bool:
        """Whether there is a run to be made or scored, and nothing against it is known."""
        return not (self.faults or self.is_elsewhere or self.is_concluded)


@dataclass(slots=True, kw_only=True)
class Renewal:
    """Everything that one call is about."""

    wish: RenewalRequest
    output: Path
    options: Mapping[str, Any]
    kept: RenewalFolder
    jobs: list[RenewalJob]
    left: tuple[SkippedClaim, ...]
    grouped: RenewalGroups
    interrupted: bool = False

    @property
    def total(self) -> SpentAmount:
        """What all replays are still to take; dollars None where a price is not known."""
        return sum((job.forecast.total for job in self.jobs if job.forecast), start=SpentAmount())

    @property
    def chosen(self) -> list[ClaimRenewal]:
        """Every audit that is renewed."""
        return [renewal for job in self.jobs for renewal in job.group.chosen]

    def list_pending(self) -> list[ClaimRenewal]:
        """Return what is not on record yet: claims that are to be applied, and audits that are to be locked."""
        jobs = [job for job in self.jobs if not job.is_concluded and not job.faults]
        return [claim_renewal for job in jobs for claim_renewal in job.group.chosen if claim_renewal.renewed is None]

    def list_faults(self) -> Iterator[Fault]:
        """Give why a claim that should have been re-audited was not."""
        yield from (claim.fault for claim in self.left if claim.is_open)
        for job in self.jobs:
            yield from job.faults
            if job.is_elsewhere and not (self.options["dry_run"] or self.options["prepare_only"]):
                yield from map(_describe_elsewhere, job.group.chosen)


def _describe_elsewhere(claim_renewal: ClaimRenewal) -> Fault:
    audit = claim_renewal.renewed.audit.payload.audit if claim_renewal.renewed else claim_renewal.lock.audit
    problem = f"{audit} is locked, and its lock names no replay that could be run here"
    return Fault("replay-not-here", claim_renewal.claim.reference, problem, advice=f"caveat audit conclude {audit} TABLE --run-date DATE")


def plan_renewal(app: App, wish: RenewalRequest, output: Path, options: Mapping[str, Any]) -> Renewal:
    """Return what is to be renewed and what it would take; nothing is sent, recorded or written.

    Raises:
        InputError, NotFoundError, ConflictError: a claim is named that is not there, claims would be applied to several versions, the
            folder is for another renewal, or the prices cannot be read.
    """
    kept = read_renewal_folder(output, ask=wish.ask, base_url=options["base_url"])
    prices = read_prices(options["prices"]) if options["prices"] else {}
    owner = app.config.authority
    wish = replace(wish, kept=() if wish.claims else kept.claims)
    with app.ledger.view() as view:
        choice = choose_renewals(view, wish, auditor=owner)
        with track(app, "looking for recordings", unit="folders") as advance:
            grouped = group(choice.chosen, options["runs"] or (_find_folder(app),), view, output, owner=owner, advance=advance)
        jobs = [_look_ahead(view, renewal_group, kept, prices, options) for renewal_group in grouped.groups]
    left = [*choice.left, *grouped.left, *(claim for job in jobs for claim in _part_late(job))]
    jobs = [job for job in jobs if job.group.chosen]
    return Renewal(wish=wish, output=output, options=options, kept=kept, jobs=jobs, left=tuple(left), grouped=grouped)


def _part_late(job: RenewalJob) -> list[SkippedClaim]:
    """Take out of *job*, whose run has begun, what is not locked yet: its outcome would be post hoc for good; return it."""
    ahead, group_ = job.forecast, job.group
    if ahead is None or not (ahead.settled or ahead.failed or ahead.lost):
        return []
    job.group = replace(group_, chosen=tuple(renewal for renewal in group_.chosen if renewal.renewed is not None))
    problem = f"{group_.run} holds responses already; a lock made now would come after them, and its outcome be post hoc for good"
    faults = [
        (renewal, Fault("run-before-lock", renewal.claim.reference, problem, advice="choose another folder with -o DIR"))
        for renewal in group_.chosen
        if renewal.renewed is None
    ]
    return [SkippedClaim(claim=renewal.claim.claim, audit=renewal.lock.audit, fault=fault) for renewal, fault in faults]


def record_renewal(app: App, renewal: Renewal, *, why: str | None) -> None:
    """Apply the claims and lock the audits of every replay, one transaction each; what cannot be is reported in the job."""
    open_ = [job for job in renewal.jobs if not job.is_concluded and not job.faults]
    if open_:
        renewal.kept = write_renewal_folder(
            renewal.output, renewal.kept, (claim_renewal.claim.claim for job in open_ for claim_renewal in job.group.chosen)
        )
    for job in open_:
        try:
            job.group = record_group(
                app.ledger, job.group, auditor=app.config.authority, ask=renewal.wish.ask, base_url=renewal.kept.base_url, why=why
            )
        except CaveatError as error:
            job.faults.extend(error.faults)


def write_command(renewal: Renewal, app: App) -> str:
    """Return the command that goes on with *renewal*, to be pasted into a shell."""
    options = renewal.options
    words = ["caveat", "stale", "renew", *renewal.wish.claims, "--ask", renewal.wish.ask, "-o", str(renewal.output)]
    words += ["--yes"] if options["yes"] else []
    words += [word for host in options["send_key_to"] for word in ("--send-key-to", host)]
    for name, option in (("prices", "--prices"), ("base_url", "--base-url"), ("served_by", "--served-by")):
        words += [option, str(options[name])] if options[name] else []
    for place in options["runs"]:
        words += ["--runs", str(place)]
    for name, option in (("model", "--model"), ("to", "--to")):
        if (model := getattr(renewal.wish, name)) is not None:
            words += [option, _write_model(model)]
    words += ["--batch"] if options["batch"] else []
    words += ["--registry", app.registry] if app.registry and "@" not in app.registry else []
    return shlex.join(words)


def _write_model(model: ModelRef) -> str:
    return f"{model.developer}/{model.name}/{model.version}"


def _find_folder(app: App) -> Path:
    """Return the folder of the registry, where it is a file; else the current one."""
    url = app.config.url
    return Path(url.removeprefix(_SQLITE)).parent if url.startswith(_SQLITE) else Path()


def _look_ahead(
    view: View, renewal_group: RenewalGroup, kept: RenewalFolder, prices: Mapping[str, Any], options: Mapping[str, Any]
) -> RenewalJob:
    job = RenewalJob(group=renewal_group)
    if renewal_group.recording is None or job.is_concluded:
        return job
    try:
        renewed = build_renewed(renewal_group, view, ask=kept.ask, base_url=kept.base_url)
        if renewed is not None:
            file = renewed.file
            check_policy(file.replay.policy)
            check_prices(file.replay.budget, prices, {file.replay.policy.model})
            if file.replay.scoring is not None:
                check_scorable(file.replay.scoring, file.tasks)
            planned = tuple(build_design(file.replay, file.tasks, file.contexts))
            job.forecast, job.policy = look_ahead(planned, prices, renewal_group.run, options), file.replay.policy
            job.judge = file.replay.scoring.model if isinstance(file.replay.scoring, JudgeScorer) else None
    except CaveatError as error:
        job.faults.extend(error.faults)
    return job


# The runs of a renewal, one after the other under one bar, then their scores and outcomes; what fails stops nothing else.


def ask_endpoints(renewal: Renewal) -> None:
    """Ask every endpoint whether it knows the model, before a lock fixes its name for good; what is wrong is reported in the job."""
    for job in renewal.jobs:
        if job.policy is not None and job.is_open and any(claim_renewal.renewed is None for claim_renewal in job.group.chosen):
            try:
                asyncio.run(_describe(job.policy, renewal.options))
            except CaveatError as error:
                job.faults.extend(error.faults)


async def _describe(policy: Policy, options: Mapping[str, Any]) -> None:
    async with open_endpoint(policy, timeout_s=options["timeout_s"], send_key_to=list_key_hosts(options)) as endpoint:
        await endpoint.describe_model(policy.model, allow_alias=policy.allow_alias)


def run_jobs(app: App, renewal: Renewal) -> None:
    """Make the calls of every replay that has any left; Ctrl-C ends all with what came, a failing replay only itself."""
    open_ = [job for job in renewal.jobs if job.is_open and job.is_waiting]
    whole = RunForecast(cells=0, shared=0, settled=0, failed=0, by_model=_sum_models(open_))
    with watch(app, whole) as progress:
        show = _Shown(progress)
        for job in open_:
            try:
                job.summary = _run(app, renewal, job, show)
            except CaveatError as error:
                job.faults.extend(error.faults)
                continue
            show.close(job.summary)
            if job.summary.stopped is not None:
                job.faults.extend(job.summary.stopped.faults)
            if job.summary.interrupted:
                renewal.interrupted = True
                return


def conclude_jobs(app: App, renewal: Renewal) -> None:
    """Score every run that is complete, and record findings and outcomes; what cannot be is reported in the job."""
    for job in [renewal_job for renewal_job in renewal.jobs if renewal_job.is_open]:
        chosen = []
        for claim_renewal in job.group.chosen:
            try:
                chosen.append(_conclude(app, renewal, job, claim_renewal))
            except CaveatError as error:
                job.faults.extend(error.faults)
                chosen.append(claim_renewal)
        job.group = replace(job.group, chosen=tuple(chosen))


def _sum_models(jobs: list[RenewalJob]) -> dict[str, SpentAmount]:
    amounts: dict[str, SpentAmount] = {}
    for job in jobs:
        for model, amount in (job.forecast.by_model if job.forecast else {}).items():
            amounts[model] = amounts.get(model, SpentAmount()) + amount
    return amounts


class _Shown:
    """Tells one bar of the calls of several runs."""

    def __init__(self, progress: Callable[[RunSummary], None]) -> None:
        self._progress = progress
        self._answered = 0
        self._elapsed_s = 0.0

    def __call__(self, summary: RunSummary) -> None:
        self._progress(replace(summary, answered=summary.answered + self._answered, elapsed_s=summary.elapsed_s + self._elapsed_s))

    def close(self, summary: RunSummary) -> None:
        """Count what *summary* came to among what is over."""
        self._answered += summary.done
        self._elapsed_s += summary.elapsed_s


def _run(app: App, renewal: Renewal, job: RenewalJob, show: Callable[[RunSummary], None]) -> RunSummary:
    options = {**renewal.options, "deviation": None}
    session = open_session(app, job.group.replay, job.group.run, options)
    with session.open_store() as store:
        return make_calls(app, session, store, show)


def _conclude(app: App, renewal: Renewal, job: RenewalJob, claim_renewal: ClaimRenewal) -> ClaimRenewal:
    """Return *claim_renewal* with the outcome of its renewed audit recorded."""
    if claim_renewal.renewed is None or claim_renewal.is_concluded:
        return claim_renewal
    with closing(open_store(job.group.run)) as store:
        _check_answered(store, job, renewal, app)
        _score(app, renewal, store, claim_renewal)
    earlier = list_runs(renewal.grouped.search, claim_renewal, but=job.group.run)
    with app.ledger.view() as view:
        measured = measure(view, claim_renewal, job.group.run, earlier)
    with app.ledger.write(actor=app.config.authority) as writer:
        concluded = record_outcome(writer, claim_renewal, measured)
        done = replace(claim_renewal, renewed=get_audit(writer, concluded.audit))
    job.remarks[concluded.audit] = measured.remarks
    for departure in concluded.found:
        app.say(
            f"warning: {concluded.audit}: deviates from the lock: {departure.item.words}: {departure.done}; planned: {departure.planned}"
        )
    return done


def _check_answered(store: RunStore, job: RenewalJob, renewal: Renewal, app: App) -> None:
    """Refuse a run with failed calls that were not sent again: a lock is for one outcome, and they would be excluded for good."""
    failures: Counter[str] = Counter()
    for arm in count_arm_outcomes(store):
        failures.update(arm.failures)
    lost, others = failures.pop(LOST, 0), sum(failures.values())
    options = [*(["--retry-failed"] if others else []), *(["--repeat-lost"] if lost else [])]
    if not options or (renewal.options["retry_failed"] and not lost):
        return
    losses = ", ".join(_tell(failures, lost))
    problem = f"{losses} of {store.count_cells():,} planned calls have no answer, and an outcome would exclude them for good"
    advice = f"{write_command(renewal, app)} {' '.join(options)} sends them again; what fails then too is excluded with its reason"
    raise ConflictError(Fault("calls-failed", str(job.group.run), problem, advice=advice))


def _tell(failures: Counter[str], lost: int) -> Iterator[str]:
    yield from (f"{count:,} ({code})" for code, count in sorted(failures.items()))
    if lost:
        yield f"{lost:,} ({LOST})"


def _score(app: App, renewal: Renewal, store: RunStore, claim_renewal: ClaimRenewal) -> None:
    """Score the run for *claim_renewal* by its scorer, as `caveat audit score` does."""
    with app.ledger.view() as view:
        scorer = find_scorer(view, claim_renewal) or find_own_scorer(store)
    options = JudgeOptions(
        retry_failed=renewal.options["retry_failed"],
        dry_run=False,
        prices=renewal.options["prices"],
        max_calls=None,
        max_usd=None,
        concurrency=renewal.options["concurrency"],
        timeout_s=renewal.options["timeout_s"],
        send_key_to=list_key_hosts(renewal.options),
        batch=renewal.options["batch"],
    )
    _, ended = carry_out(app, store, scorer, (get_replay(store), get_tasks(store)), options)
    if ended is not None:
        raise ended
