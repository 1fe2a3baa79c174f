"""The runs of a renewal, one after the other under one bar, then their scores and outcomes; what fails stops nothing else."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

from audit.cli.renew_session import Job, Renewal, write_command
from audit.cli.run_progress import watch
from audit.cli.run_session import make_calls, open_session
from audit.cli.score import carry_out
from audit.cli.score_judge import JudgeOptions
from audit.docket import get_audit
from audit.model import open_endpoint
from audit.renewing.choice import Chosen
from audit.renewing.conclude import find_scorer, measure, record_outcome
from audit.renewing.group import list_runs
from audit.replay.call_engine import LOST, RunForecast, RunSummary
from audit.replay.replay_provenance import count_arm_outcomes
from audit.replay.run_budget import SpentAmount
from audit.replay.run_store import RunStore, get_replay, get_tasks, open_store
from audit.score.run_evidence import find_scorer as find_own_scorer
from registry.cli.application import App
from registry.errors import CaveatError, ConflictError, Fault
from registry.records.replay_definition import Policy


def ask_endpoints(renewal: Renewal) -> None:
    """Ask every endpoint whether it knows the model, before a lock fixes its name for good; what is wrong is told in the job."""
    for job in renewal.jobs:
        if job.policy is not None and job.is_open and any(one.renewed is None for one in job.group.chosen):
            try:
                asyncio.run(_describe(job.policy, renewal.options["timeout_s"]))
            except CaveatError as error:
                job.faults.extend(error.faults)


async def _describe(policy: Policy, timeout_s: float) -> None:
    async with open_endpoint(policy, timeout_s=timeout_s) as endpoint:
        await endpoint.describe_model(policy.model, allow_alias=policy.allow_alias)


def run_jobs(app: App, renewal: Renewal) -> None:
    """Make the calls of every replay that has any left; Ctrl-C ends them all with what came, a replay that fails ends alone."""
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
    """Score every run that is complete, and record findings and outcomes; what cannot be is told in the job."""
    for job in [one for one in renewal.jobs if one.is_open]:
        chosen = []
        for one in job.group.chosen:
            try:
                chosen.append(_conclude(app, renewal, job, one))
            except CaveatError as error:
                job.faults.extend(error.faults)
                chosen.append(one)
        job.group = replace(job.group, chosen=tuple(chosen))


def _sum_models(jobs: list[Job]) -> dict[str, SpentAmount]:
    found: dict[str, SpentAmount] = {}
    for job in jobs:
        for model, amount in (job.forecast.by_model if job.forecast else {}).items():
            found[model] = found.get(model, SpentAmount()) + amount
    return found


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


def _run(app: App, renewal: Renewal, job: Job, show: Callable[[RunSummary], None]) -> RunSummary:
    options = {**renewal.options, "deviation": None}
    session = open_session(app, job.group.replay, job.group.run, options)
    with session.open_store() as store:
        return make_calls(app, session, store, show)


def _conclude(app: App, renewal: Renewal, job: Job, one: Chosen) -> Chosen:
    """Return *one* with the outcome of its renewed audit recorded."""
    if one.renewed is None or one.is_concluded:
        return one
    with closing(open_store(job.group.run)) as store:
        _check_answered(store, job, renewal, app)
        _score(app, renewal, store, one)
    earlier = list_runs(renewal.grouped.search, one, but=job.group.run)
    with app.ledger.view() as view:
        measured = measure(view, one, job.group.run, earlier)
    with app.ledger.write(actor=app.config.authority) as writer:
        concluded = record_outcome(writer, one, measured)
        done = replace(one, renewed=get_audit(writer, concluded.audit))
    job.remarks[concluded.audit] = measured.remarks
    for departure in concluded.found:
        app.say(
            f"warning: {concluded.audit}: otherwise than locked: {departure.item.words}: {departure.done}; planned: {departure.planned}"
        )
    return done


def _check_answered(store: RunStore, job: Job, renewal: Renewal, app: App) -> None:
    """Refuse a run with failed calls that nobody asked to send again: a lock is for one outcome, and they would be excluded for good."""
    failures: Counter[str] = Counter()
    for arm in count_arm_outcomes(store):
        failures.update(arm.failures)
    lost, others = failures.pop(LOST, 0), sum(failures.values())
    options = [*(["--retry-failed"] if others else []), *(["--repeat-lost"] if lost else [])]
    if not options or (renewal.options["retry_failed"] and not lost):
        return
    told = ", ".join(_tell(failures, lost))
    found = f"{told} of {store.count_cells():,} planned calls have no answer, and an outcome would exclude them for good"
    advice = f"{write_command(renewal, app)} {' '.join(options)} sends them again; what fails then too is excluded with its reason"
    raise ConflictError(Fault(code="calls-failed", where=str(job.group.run), found=found, advice=advice))


def _tell(failures: Counter[str], lost: int) -> Iterator[str]:
    yield from (f"{count:,} ({code})" for code, count in sorted(failures.items()))
    if lost:
        yield f"{lost:,} ({LOST})"


def _score(app: App, renewal: Renewal, store: RunStore, one: Chosen) -> None:
    """Score the run for *one* by its scorer, as `caveat score` does."""
    with app.ledger.view() as view:
        scorer = find_scorer(view, one) or find_own_scorer(store)
    options = JudgeOptions(
        retry_failed=renewal.options["retry_failed"],
        dry_run=False,
        prices=renewal.options["prices"],
        max_calls=None,
        max_usd=None,
        concurrency=renewal.options["concurrency"],
        timeout_s=renewal.options["timeout_s"],
        batch=renewal.options["batch"],
    )
    _, ended = carry_out(app, store, scorer, (get_replay(store), get_tasks(store)), options)
    if ended is not None:
        raise ended
