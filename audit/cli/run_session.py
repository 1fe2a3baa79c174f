"""One call of `caveat audit run`: the replay, its lock, its entry in the log, its calls, and how far they are."""

import asyncio
import secrets
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.cli.analysis_options import list_key_hosts
from audit.cli.model_calls import FleetUse
from audit.endpoints.endpoint_opening import (
    check_destination,
    check_policy,
    describe_client,
    describe_sampling,
    follow_policy,
    get_api,
    open_endpoint,
)
from audit.endpoints.model_answers import check_address, is_loopback
from audit.endpoints.model_endpoint import Endpoint
from audit.protocol.audit_lock import count_calls, describe_replay, digest_sides, end_run, enter_run, try_step
from audit.protocol.audit_record import get_audit, get_claim
from audit.protocol.lock_adherence import LockDeviation, PlannedReplay, compare_replay, is_on_record
from audit.records.model_response import Purpose
from audit.replay.call_engine import LOST, UNSENT, CallSettings, HaltRequest, RunSummary, check_fleet_run, hold_run, run_calls
from audit.replay.replay_design import build_design, order_for_stopping
from audit.replay.replay_file import ReplayFile, read_replay, seal_contexts
from audit.replay.replay_provenance import (
    CONTEXTS,
    SESSION,
    SOURCES,
    ServedBy,
    add_defaults,
    check_served_by,
    find_differences,
    read_served_by,
)
from audit.replay.run_budget import TokenPrice, check_prices, discount_batch, read_prices
from audit.replay.run_forecast import RunForecast, forecast
from audit.replay.run_store import (
    DATABASE,
    Call,
    PlannedCall,
    RunStore,
    find_name,
    list_versions,
    name_run,
    open_store,
    put_replay,
    put_version,
)
from audit.score.scorers import check_scorable
from audit.sources.score_table import find_alike_tasks, warn_of_near_duplicates
from registry.cli.application import App
from registry.codec.canonical_documents import to_document
from registry.errors import CaveatError, ConflictError, Fault, InputError, UnavailableError
from registry.records.analysis_plan import IntervalMethod, Lock
from registry.records.dossier import AuditFile
from registry.records.replay_run import Probe, Replay, RunStatus, Task
from registry.records.specification import JudgeScorer
from registry.registration.specification_registration import format_reference
from registry.store.registry_view import View

# The lock that a replay answers to: there before its first call, about the same sides, and without an outcome yet.

_SIDES = ("test", "deploy")
_ONE_SPEC = "default"
"""What the score table calls the P_deploy specification where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayLock:
    """A lock that a replay answers to."""

    audit: str
    told: str
    """Which claim it is about, for a person to see that it is the one meant."""
    deviations: tuple[LockDeviation, ...]
    """In what the replay is not the locked one, without an explanation."""
    stopping_seed: int | None
    """Of a plan with anytime intervals, which orders the tasks; None for other plans."""


def check_lock(file: ReplayFile, name: str, view: View | None, path: Path, *, begun: datetime | None) -> ReplayLock:
    """Return the lock of the audit called *name*, and in what the replay departs from it.

    Args:
        file: what is about to be asked, or asked on.
        name: `AUD-…`.
        view: the registry; None where there is none.
        path: the replay's file.
        begun: when the first call of its run folder was written down; None before that.

    Raises:
        UnavailableError: there is no registry to read the lock in.
        NotFoundError: the audit is not registered.
        ConflictError: it has no lock, or one that is not about this replay or came after its first call; or it has its outcome.
    """
    where = f"{path}, audit {name}"
    if view is None:
        problem = "no registry is open, so the lock cannot be read"
        raise UnavailableError(Fault("registry-not-found", where, problem, advice="give --registry URL, or leave audit out"))
    audit = get_audit(view, name)
    if audit.lock is None:
        raise ConflictError(Fault("not-locked", where, "has no lock: its scores could not be shown to come after the plan"))
    lock = audit.lock.payload
    faults = [*_find_time_faults(audit, audit.lock.entry.at, begun, where), *_find_side_faults(file.replay, lock, path)]
    if faults:
        raise ConflictError(faults)
    claim = get_claim(view, audit.audit.payload.claim)
    description = f"{name}, locked {audit.lock.entry.at:%Y-%m-%d %H:%M:%S} UTC, is about {claim.reference}: {claim.quote}"
    known = [deviation.payload for deviation in audit.deviations]
    deviations = tuple(
        lock_deviation for lock_deviation in compare_replay(lock, _describe(file)) if not is_on_record(lock_deviation, known)
    )
    seed = lock.plan.seed if lock.plan.interval is IntervalMethod.ANYTIME else None
    return ReplayLock(audit=name, told=description, deviations=deviations, stopping_seed=seed)


def refuse_deviations(bound: ReplayLock, path: Path) -> None:
    """Raise ConflictError with everything in which the replay is not the locked one."""
    if bound.deviations:
        where = f"{path}, audit {bound.audit}"
        raise ConflictError(
            Fault(
                "replay-differs-from-lock",
                where,
                f"{departure.item.words}: locked is {departure.planned}; this replay has {departure.done}",
            )
            for departure in bound.deviations
        )


def _describe(file: ReplayFile) -> PlannedReplay:
    replay = file.replay
    return PlannedReplay(
        tasks=tuple(task.id for task in file.tasks),
        sides=digest_sides(file),
        model=replay.policy.model,
        calls=count_calls(file),
        parts=describe_replay(file),
        sealed=tuple(file.sealed.values()),
    )


def find_beginning(folder: Path) -> datetime | None:
    """Return when the first call of the run folder *folder* was written down to be sent; None before that."""
    if not (folder / DATABASE).is_file():
        return None
    store = open_store(folder)
    try:
        begun = store.find_beginning()
    finally:
        store.close()
    return None if begun is None else datetime.fromisoformat(begun)


def _find_time_faults(audit: AuditFile, locked: datetime, begun: datetime | None, where: str) -> Iterator[Fault]:
    if audit.restrictions:
        problem = "has its outcome; responses that come now could not enter it"
        yield Fault("audit-concluded", where, problem)
    if begun is not None and begun < locked:
        problem = f"was locked at {locked:%Y-%m-%d %H:%M:%S} UTC, and the run folder holds calls from {begun:%Y-%m-%d %H:%M:%S} on"
        yield Fault("run-before-lock", where, problem, advice="choose another folder with -o DIR, or leave audit out")


def _find_side_faults(replay: Replay, lock: Lock, path: Path) -> Iterator[Fault]:
    for name in sorted({arm.arm for arm in replay.arms} - set(_SIDES)):
        problem = f"{name!r} is neither test nor deploy, which the lock is about"
        yield Fault("design-differs-from-lock", f"{path}, arms", problem, advice="replay other arms in a file of their own")
    for name in sorted(set(_SIDES) - {arm.arm for arm in replay.arms}):
        yield Fault("design-differs-from-lock", f"{path}, arms", f"there is no arm {name!r}, and the lock is about both")
    specs = sorted({arm.spec or _ONE_SPEC for arm in replay.arms if arm.arm == "deploy"})
    locked = sorted(lock.deploy_specs)
    if specs and specs != locked:
        problem = f"the deploy arms are of {', '.join(specs)}; the lock names {', '.join(locked)}"
        yield Fault("design-differs-from-lock", f"{path}, arms", problem, advice="set spec in each deploy arm")


# What a live replay tells the log of itself: that it starts, before its first call, and how it ended.


def record_start(app: App, store: RunStore, audits: Sequence[str], *, model: str, planned: int, before: int) -> None:
    """Enter the run of *store* under the lock of each of *audits*, before its first call; a run that is entered already stays as it is.

    Raises:
        CaveatError: the registry cannot be written to: nothing was sent, and nothing is lost.
    """
    name = name_run(store, lambda: secrets.token_hex(16))
    with app.ledger.write(actor=app.config.authority) as writer:
        new = enter_run(writer, audits, name, model=model, planned=planned, before=before)
        others = {
            identifier: len(file.starts) - 1
            for identifier in new
            if (file := writer.find_audit(identifier)) is not None and len(file.starts) > 1
        }
    for audit, count in others.items():
        runs = "another run was" if count == 1 else f"{count} other runs were"
        app.say(f"warning: {runs} started under the lock of {audit}; an outcome will name all of them and be provisional")


def record_end(app: App, store: RunStore, audits: Sequence[str], summary: RunSummary, *, is_canceled: bool = False) -> None:
    """Record how the run of *store* ended. A registry that cannot be written to now ends nothing: the responses are in the folder.

    Args:
        is_canceled: whether the user gave up its open batches.
    """
    is_aborted = summary.interrupted or is_canceled
    status = RunStatus.FAILED if summary.stopped else RunStatus.ABORTED if is_aborted else RunStatus.COMPLETED
    why = summary.stopped.code if summary.stopped else None
    try:
        name = find_name(store)
        if name is not None:
            with app.ledger.write(actor=app.config.authority) as writer:
                end_run(writer, audits, name, status=status, calls=summary.spent.calls, why=why)
    except CaveatError as error:
        fault = error.faults[0]
        app.say(f"warning: the end of this run was not recorded ({fault.code}: {fault.found}); running again or importing it records it")


# `--seal`: the contexts of a replay are sealed before anything of them enters the record.


def seal_replay(app: App, path: Path, *, dry_run: bool = False) -> None:
    """Seal the context files of the replay *path* that are not sealed yet, and say where their seal files are.

    Raises:
        InputError: with *dry_run*: sealing writes files and log entries, and a dry run writes nothing.
        CaveatError: as `audit.replay.replay_file.seal_contexts`.
    """
    if dry_run:
        problem = "--seal writes seal files and records commitments, and --dry-run writes nothing"
        raise InputError(Fault("bad-option", "--seal", problem, advice="leave one of them out"))
    with app.ledger.write(actor=app.config.authority) as writer:
        sealed = seal_contexts(writer, path, owner=app.config.authority)
    for spec_version, file in sealed:
        sealed_as = f"sealed {format_reference(spec_version)} ({spec_version.slug}), commitment {spec_version.commitment}"
        app.say(f"{sealed_as}; keep {file}, and keep it secret")


# What one call of `caveat audit run` works with: the replay, its design, its folder, and what it would take.

_TOLD = (("concurrency", "--concurrency", 256), ("timeout_s", "--time-out", 600), ("served_by", "--served-by", None))
"""Options that a run goes on with, each with what it is if not stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSession:
    """Everything that is known before the first call."""

    path: Path
    folder: Path
    file: ReplayFile
    planned: tuple[PlannedCall, ...]
    prices: Mapping[str, TokenPrice]
    forecast: RunForecast
    options: Mapping[str, Any]
    words: tuple[str, ...] = ("audit", "run")
    """The command that this is a call of, with the arguments that come first; after them stand path and folder."""
    more: tuple[str, ...] = ()
    """Further options of the command that resuming needs."""
    following: str | None = None
    """What to call when all is done; None: `caveat audit score` on the folder."""
    keep: Callable[[RunStore], None] | None = None
    """What else is checked against the folder and kept there, before the design is."""
    served_by: ServedBy | None = None
    """Who serves a model that is no hosted one; None: not told."""
    bounds: tuple[ReplayLock, ...] = ()
    """The locks that the replay answers to."""

    def __post_init__(self) -> None:
        """Refuse addresses that must not be kept in a run folder, before there is one."""
        replay = self.file.replay
        judges = (("scoring", replay.scoring), ("probe", replay.probe))
        others = [(name, follow_policy(replay.policy, judge)) for name, judge in judges if isinstance(judge, JudgeScorer | Probe)]
        for where, policy in (("policy", replay.policy), *others):
            if policy.base_url:
                check_address(policy.base_url, api=get_api(policy), where=f"{self.path}, {where}.base_url")

    @property
    def replay(self) -> Replay:
        """The replay as its file says it."""
        return self.file.replay

    @property
    def resume_command(self) -> str:
        """What goes on with this run, to be pasted into a shell."""
        words = ["caveat", *self.words, str(self.path), "-o", str(self.folder), *self.more]
        words += ["--prices", str(self.options["prices"])] if self.options["prices"] else []
        words += ["--batch"] if self.options["batch"] else []
        words += ["--fleet", self.options["fleet"]] if self.options.get("fleet") else []
        words += ["--seal"] if self.options.get("seal") else []
        words += [word for host in self.options["send_key_to"] for word in ("--send-key-to", host)]
        for name, option, default in _TOLD:
            value = self.options.get(name, default)
            words += [] if value == default else [option, f"{value:g}" if isinstance(value, float) else str(value)]
        return shlex.join(words)

    @contextmanager
    def open_store(self) -> Iterator[RunStore]:
        """Give the run folder's store with the design in it.

        Raises:
            ConflictError: the folder is for another replay.
        """
        store = open_store(self.folder, create=True)
        try:
            with hold_run(store):
                if self.keep is not None:
                    self.keep(store)
                store.add_cells(self.planned)
                put_replay(store, self.replay, self.file.tasks)
                put_version(store, CONTEXTS, {name: to_document(spec) for name, spec in self.file.contexts.items()})
                sealed = {"sealed": dict(self.file.sealed)} if self.file.sealed else {}
                put_version(store, SOURCES, {"files": dict(self.file.sources), "specs": dict(self.file.references), **sealed})
            yield store
        finally:
            store.close()


def open_session(app: App, path: Path, folder: Path, options: Mapping[str, Any]) -> RunSession:
    """Return what is to be done; nothing is sent or written.

    Raises:
        InputError, ConflictError: the replay, its files, its scorer, its prices or the lock that it answers to do not hold together.
    """
    if options.get("seal"):
        seal_replay(app, path, dry_run=options["dry_run"])
    bounds: list[ReplayLock] = []
    prices = read_prices(options["prices"]) if options["prices"] else {}
    with _open_view(app) as view:
        check = partial(_check_calls, prices=prices, options=options)
        file = read_replay(path, view, owner=app.config.authority, check=check)
        for audit in file.replay.audits:
            bounds.append(check_lock(file, audit, view, path, begun=find_beginning(folder)))
            app.say(bounds[-1].told)
    for bound in () if options.get("deviation") else bounds:
        refuse_deviations(bound, path)
    design = build_design(file.replay, file.tasks, file.contexts)
    seed = next((bound.stopping_seed for bound in bounds if bound.stopping_seed is not None), None)
    planned = tuple(design if seed is None else order_for_stopping(design, file.tasks, seed=seed))
    return RunSession(
        path=path,
        folder=folder,
        file=file,
        planned=planned,
        prices=prices,
        forecast=look_ahead(planned, prices, folder, options),
        options=options,
        # An address with a password is not printed; where it comes from the environment, it is there the next time too.
        more=("--registry", app.registry) if app.registry and "@" not in app.registry else (),
        served_by=_read_served_by(options["served_by"], file.replay),
        bounds=tuple(bounds),
    )


def _check_calls(replay: Replay, tasks: Sequence[Task], *, prices: Mapping[str, TokenPrice], options: Mapping[str, Any]) -> None:
    """Return when the calls of *replay* can be made and scored; raises InputError with all faults, nothing is sent."""
    faults: list[Fault] = []
    # Where the policy itself is wrong, the key's destination cannot be known.
    try_step(lambda: check_policy(replay.policy), faults)
    if not faults:
        try_step(lambda: check_destination(replay.policy, send_key_to=list_key_hosts(options)), faults)
    if replay.scoring is not None:
        scoring = replay.scoring
        try_step(lambda: check_scorable(scoring, tasks), faults)
    try_step(lambda: check_prices(replay.budget, prices, {replay.policy.model}), faults)
    if faults:
        raise InputError(faults)


def _read_served_by(path: Path | None, replay: Replay) -> ServedBy | None:
    if path is None:
        return None
    served = read_served_by(path)
    check_served_by(served, model=replay.policy.model, base_url=None, where=str(path))
    return served


def make_calls(app: App, session: RunSession, store: RunStore, progress: Callable[[RunSummary], None]) -> RunSummary:
    """Make the calls of *session*; Ctrl-C ends the run with what is under way, a second one leaves that too.

    A run under a lock is entered in the log before its first call, and its end is recorded there.
    """
    check_fleet_run(store, Purpose.REPLAY, on_fleet=bool(session.options.get("fleet")))

    async def run() -> RunSummary:
        policy, options = session.replay.policy, session.options
        halt = HaltRequest()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: _ask(app, halt))
        async with open_endpoint(policy, timeout_s=options["timeout_s"], send_key_to=list_key_hosts(options)) as endpoint:
            await _introduce(app, session, store, endpoint)
            if not options.get("cancel_batches"):
                _enter(app, session, store)
            settings = CallSettings(
                concurrency=options["concurrency"],
                retry_failed=options["retry_failed"],
                repeat_lost=options["repeat_lost"],
                allow_alias=policy.allow_alias,
                budget=session.replay.budget,
                prices=session.prices,
            )
            if options.get("fleet"):
                fleet = FleetUse(
                    url=options["fleet"],
                    name=session.replay.name,
                    purpose=Purpose.REPLAY,
                    policy=policy,
                    timeout_s=options["timeout_s"],
                    rate=options["rate"],
                )
                calls = _list_calls(session)
                return await fleet.make(app, store, calls, endpoint, settings, progress=progress, stop=halt)
            if options["batch"] or options.get("cancel_batches"):
                return await _make_batches(app, session, store, endpoint, settings, progress=progress, halt=halt)
            return await run_calls(store, _list_calls(session), endpoint, settings, progress=progress, stop=halt)

    summary = asyncio.run(run())
    if session.bounds and not summary.is_waiting:
        is_canceled = bool(session.options.get("cancel_batches"))
        record_end(app, store, [bound.audit for bound in session.bounds], summary, is_canceled=is_canceled)
    return summary


def _enter(app: App, session: RunSession, store: RunStore) -> None:
    """Enter a run under a lock that has a call to make; one without sends nothing, and starts nothing."""
    ahead = session.forecast
    if session.bounds and ahead.total.calls:
        audits = [bound.audit for bound in session.bounds]
        record_start(app, store, audits, model=session.replay.policy.model, planned=len(session.planned), before=ahead.settled)


def _list_calls(session: RunSession) -> Iterator[Call]:
    """Give the calls that the replay's file plans as it stands now; cells of an earlier version of it stay open."""
    return (call.call for call in session.planned)


async def _make_batches(
    app: App,
    session: RunSession,
    store: RunStore,
    endpoint: Endpoint,
    settings: CallSettings,
    *,
    progress: Callable[[RunSummary], None],
    halt: HaltRequest,
) -> RunSummary:
    from audit.replay.message_batches import cancel_batches, run_batches

    calls = _list_calls(session)
    if session.options.get("cancel_batches"):
        canceled = await cancel_batches(store, endpoint)
        app.say(f"asked the endpoint to stop {', '.join(canceled)}" if canceled else f"{session.folder} has no open batch")
        calls = iter(())
    batches = await run_batches(store, calls, endpoint, settings, progress=progress, tell=app.say, stop=halt)
    if batches.running:
        app.say(f"still being worked on at the endpoint: {', '.join(batches.running)}; running again waits for them")
    return batches.run if not batches.running else replace(batches.run, interrupted=True, is_waiting=True)


def _ask(app: App, halt: HaltRequest) -> None:
    halt.request()
    app.say("ending: waiting for the calls under way; Ctrl-C again leaves them" if halt.times == 1 else "leaving the calls under way")


def warn_of_alike_tasks(app: App, session: RunSession) -> None:
    """Say which tasks have nearly the same text and no common family; before a lock there is still time to declare one."""
    if (alike := warn_of_near_duplicates(find_alike_tasks(session.file.tasks))) is not None:
        app.say(f"warning: {alike}")


async def _introduce(app: App, session: RunSession, store: RunStore, endpoint: Endpoint) -> None:
    """Ask the endpoint about the model, and write down whom this session talks to."""
    policy = session.replay.policy
    warn_of_alike_tasks(app, session)
    facts = await endpoint.describe_model(policy.model, allow_alias=policy.allow_alias)
    if facts.note:
        app.say(f"model {policy.model}: {facts.note}; the first answer will show whether it is there")
    if facts.lifecycle not in (None, "active"):
        app.say(
            f"warning: the endpoint calls {policy.model} {facts.lifecycle}; it retires {facts.retires_at or 'at a date it does not state'}"
        )
    if endpoint.base_url.startswith("http://") and not is_loopback(endpoint.base_url):
        app.say(f"warning: the key and every text go unencrypted to {endpoint.base_url}")
    place = {"base_url": endpoint.base_url, "api_version": endpoint.api_version, "betas": list(policy.betas)}
    served = None if session.served_by is None else to_document(session.served_by)
    if session.served_by is not None:
        check_served_by(session.served_by, model=policy.model, base_url=endpoint.base_url, where=str(session.options["served_by"]))
    # A session without an answer binds nothing: its address may have spoken another API.
    _check_sessions(session, list_versions(store, SESSION) if store.list_models() else (), place)
    sampling = add_defaults(describe_sampling(policy, endpoint, facts), session.served_by)
    model = {"id": facts.id, "lifecycle": facts.lifecycle, "note": facts.note}
    software = {**describe_client(endpoint), "caveat": version("caveat")}
    server = {} if served is None else {"served_by": served}
    put_version(store, SESSION, {**place, **software, "sampling": sampling, "model": model, **server})


def _check_sessions(session: RunSession, known: Sequence[Mapping[str, Any]], place: Mapping[str, Any]) -> None:
    """Raise when this session talks to another endpoint, or another server or model behind it, than earlier ones of the folder."""
    differing = [(name, known[0][name], value) for name, value in place.items() if known and known[0][name] != value]
    for document in known:
        if session.served_by is not None and "served_by" in document and not differing:
            now = to_document(session.served_by)
            names = find_differences(session.served_by, document["served_by"])
            differing = [(f"served by {name}", document["served_by"].get(name), now.get(name)) for name in names]
    if differing:
        before = ", ".join(f"{name} {value}" for name, value, _ in differing)
        now_is = ", ".join(f"{name} {value}" for name, _, value in differing)
        raise ConflictError(Fault("run-differs", str(session.folder), f"was begun with {before}; now it is {now_is}"))


@contextmanager
def _open_view(app: App) -> Iterator[View | None]:
    """Give the registry as it stands; None where there is none, and then every context is a file."""
    try:
        ledger = app.ledger
    except UnavailableError as error:
        if error.code != "registry-not-found":
            raise
        yield None
        return
    with ledger.view(None) as view:
        yield view


def look_ahead(planned: tuple[PlannedCall, ...], prices: Mapping[str, TokenPrice], folder: Path, options: Mapping[str, Any]) -> RunForecast:
    """Return what *planned* would take, next to what *folder* holds already."""
    again = UNSENT | ({LOST} if options["repeat_lost"] else frozenset())
    store = open_store(folder) if (folder / DATABASE).is_file() else None
    try:
        return forecast(
            planned, discount_batch(prices) if options["batch"] else prices, store, again=again, retry_failed=options["retry_failed"]
        )
    finally:
        if store is not None:
            store.close()


# How far a replay is, on standard error: a bar on a terminal, a line every half minute elsewhere.

_LINE_EVERY_S = 30.0


@contextmanager
def watch(app: App, forecast: RunForecast) -> Iterator[Callable[[RunSummary], None]]:
    """Give a function that receives the progress."""
    total = forecast.total.calls
    if app.json or not sys.stderr.isatty():
        yield _LineProgress(app, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("first answers awaited", total=total)
        yield lambda summary: bar.update(task, completed=summary.done, description=describe_progress(summary))


class _LineProgress:
    def __init__(self, app: App, total: int) -> None:
        self._app = app
        self._total = total
        self._next = time.monotonic() + _LINE_EVERY_S

    def __call__(self, summary: RunSummary) -> None:
        if self._app.json or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LINE_EVERY_S
        rate = summary.done / max(summary.elapsed_s, 1e-9)
        left = f", about {(self._total - summary.done) / rate / 60:.0f} min left" if rate > 0 else ""
        self._app.say(f"{summary.done} of {self._total} calls, {describe_progress(summary)}{left}")


def describe_progress(summary: RunSummary) -> str:
    """Return rate, failures and cost so far in a few words."""
    parts = [f"{summary.done / max(summary.elapsed_s, 1e-9):.1f}/s"]
    failed = sum(summary.failures.values())
    parts += [f"{failed} failed"] if failed else []
    parts += [f"${summary.spent.usd:.2f}"] if summary.spent.usd else []
    return ", ".join(parts)
