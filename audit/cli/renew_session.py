"""What one call of `caveat audit renew` works with: claims and audits that are chosen, their replays, and how far each has come."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audit.cli.run_session import look_ahead
from audit.model import choose_version
from audit.renewing.choice import Chosen, Left, Wish, choose
from audit.renewing.group import Group, Grouped, group
from audit.renewing.kept import Kept, read_kept, write_kept
from audit.renewing.record import build_renewed, record_group
from audit.replay.call_engine import RunForecast, RunSummary
from audit.replay.replay_design import build_design
from audit.replay.run_budget import SpentAmount, check_prices, read_prices
from audit.score.scorers import check_scorable
from registry.cli.application import App, track
from registry.errors import CaveatError, Fault
from registry.records.model_version import ModelRef
from registry.records.replay_definition import Policy
from registry.records.specification import JudgeScorer
from registry.store.view import View

_SQLITE = "sqlite:///"


@dataclass(slots=True, kw_only=True)
class Job:
    """One replay that is carried out again, with the audits that it answers to."""

    group: Group
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
        return all(one.is_concluded for one in self.group.chosen)

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

    wish: Wish
    output: Path
    options: Mapping[str, Any]
    kept: Kept
    jobs: list[Job]
    left: tuple[Left, ...]
    grouped: Grouped
    interrupted: bool = False

    @property
    def total(self) -> SpentAmount:
        """What all replays are still to take; dollars None where a price is not known."""
        return sum((one.forecast.total for one in self.jobs if one.forecast), start=SpentAmount())

    @property
    def chosen(self) -> list[Chosen]:
        """Every audit that is renewed."""
        return [one for job in self.jobs for one in job.group.chosen]

    def list_faults(self) -> Iterator[Fault]:
        """Give why a claim that should have been re-audited was not."""
        yield from (one.fault for one in self.left if one.is_open)
        for job in self.jobs:
            yield from job.faults
            if job.is_elsewhere and not (self.options["dry_run"] or self.options["prepare_only"]):
                yield from map(_tell_elsewhere, job.group.chosen)


def _tell_elsewhere(one: Chosen) -> Fault:
    audit = one.renewed.audit.payload.audit if one.renewed else one.lock.audit
    found = f"{audit} is locked, and its lock names no replay that could be run here"
    return Fault(code="run-elsewhere", where=one.claim.reference, found=found, advice=f"caveat audit import {audit} TABLE --run-date DATE")


def plan_renewal(app: App, wish: Wish, output: Path, options: Mapping[str, Any]) -> Renewal:
    """Return what is to be renewed and what it would take; nothing is sent, recorded or written.

    Raises:
        InputError, NotFoundError, ConflictError: a claim is named that is not there, claims would be carried to several versions, the
            folder is for another renewal, or the prices cannot be read.
    """
    kept = read_kept(output, ask=wish.ask, base_url=options["base_url"])
    prices = read_prices(options["prices"]) if options["prices"] else {}
    owner = app.config.authority
    wish = replace(wish, kept=() if wish.claims else kept.claims)
    with app.ledger.view() as view:
        choice = choose(view, wish, auditor=owner)
        with track(app, "looking for recordings", unit="folders") as advance:
            grouped = group(choice.chosen, options["runs"] or (_find_folder(app),), view, output, owner=owner, advance=advance)
        jobs = [_look_ahead(view, one, kept, prices, options) for one in grouped.groups]
    left = [*choice.left, *grouped.left, *(one for job in jobs for one in _part_late(job))]
    jobs = [job for job in jobs if job.group.chosen]
    return Renewal(wish=wish, output=output, options=options, kept=kept, jobs=jobs, left=tuple(left), grouped=grouped)


def _part_late(job: Job) -> list[Left]:
    """Take out of *job*, whose run has begun, what is not locked yet: its outcome would be post hoc for good; return it."""
    ahead, group_ = job.forecast, job.group
    if ahead is None or not (ahead.settled or ahead.failed or ahead.lost):
        return []
    job.group = replace(group_, chosen=tuple(one for one in group_.chosen if one.renewed is not None))
    found = f"{group_.run} holds responses already; a lock made now would come after them, and its outcome be post hoc for good"
    faults = [
        (one, Fault(code="run-before-lock", where=one.claim.reference, found=found, advice="choose another folder with -o DIR"))
        for one in group_.chosen
        if one.renewed is None
    ]
    return [Left(claim=one.claim.claim, audit=one.lock.audit, fault=fault) for one, fault in faults]


def record_renewal(app: App, renewal: Renewal, *, why: str | None) -> None:
    """Carry the claims and lock the audits of every replay, one transaction each; what cannot be is told in the job."""
    open_ = [job for job in renewal.jobs if not job.is_concluded and not job.faults]
    if open_:
        renewal.kept = write_kept(renewal.output, renewal.kept, (one.claim.claim for job in open_ for one in job.group.chosen))
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
    words = ["caveat", "audit", "renew", *renewal.wish.claims, "--ask", renewal.wish.ask, "-o", str(renewal.output)]
    for name, option in (("prices", "--prices"), ("served_by", "--served-by")):
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


def _look_ahead(view: View, one: Group, kept: Kept, prices: Mapping[str, Any], options: Mapping[str, Any]) -> Job:
    job = Job(group=one)
    if one.recording is None or job.is_concluded:
        return job
    try:
        renewed = build_renewed(one, view, ask=kept.ask, base_url=kept.base_url)
        if renewed is not None:
            file = renewed.file
            choose_version(file.replay.policy)
            check_prices(file.replay.budget, prices, {file.replay.policy.model})
            if file.replay.scoring is not None:
                check_scorable(file.replay.scoring, file.tasks)
            planned = tuple(build_design(file.replay, file.tasks, file.contexts))
            job.forecast, job.policy = look_ahead(planned, prices, one.run, options), file.replay.policy
            job.judge = file.replay.scoring.model if isinstance(file.replay.scoring, JudgeScorer) else None
    except CaveatError as error:
        job.faults.extend(error.faults)
    return job
