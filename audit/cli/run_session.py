"""What one call of `caveat audit run` works with: the replay, its design, its folder, and what it would take."""

import asyncio
import shlex
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.address import check_address, is_loopback
from audit.cli.run_entry import enter, record_end
from audit.cli.run_lock import Bound, check_lock, find_beginning, refuse_departures
from audit.cli.run_seal import seal_replay
from audit.model import Endpoint, choose_version, describe_sampling, open_endpoint
from audit.near_duplicates import find_alike_tasks, warn_of_near_duplicates
from audit.replay.call_engine import LOST, UNSENT, CallSettings, HaltRequest, RunForecast, RunSummary, forecast, hold_run, run_calls
from audit.replay.replay_design import build_design
from audit.replay.replay_file import ReplayFile, read_replay
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
from audit.replay.run_store import DATABASE, Call, PlannedCall, RunStore, list_versions, open_store, put_replay, put_version
from audit.score.scorers import check_scorable
from registry.cli.application import App
from registry.codec.canonical_documents import to_document
from registry.errors import ConflictError, Fault, UnavailableError
from registry.records.replay_definition import Replay
from registry.store.view import View

_TOLD = (("concurrency", "--concurrency", 256), ("timeout_s", "--time-out", 600), ("served_by", "--served-by", None))
"""Options that a run goes on with, each with what it is where nobody says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
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
    """What to call when all is done; None: `caveat score` on the folder."""
    keep: Callable[[RunStore], None] | None = None
    """What else is checked against the folder and kept there, before the design is."""
    served_by: ServedBy | None = None
    """Who serves a model that is no hosted one; None: not told."""
    bounds: tuple[Bound, ...] = ()
    """The locks that the replay answers to."""

    def __post_init__(self) -> None:
        """Refuse addresses that must not be kept in a run folder, before there is one."""
        replay = self.file.replay
        scoring = getattr(replay.scoring, "base_url", None)
        for where, address in (("policy", replay.policy.base_url), ("scoring", scoring), ("probe", replay.probe and replay.probe.base_url)):
            if address:
                check_address(address, where=f"{self.path}, {where}.base_url")

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
        words += ["--seal"] if self.options.get("seal") else []
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


def open_session(app: App, path: Path, folder: Path, options: Mapping[str, Any]) -> Session:
    """Return what is to be done; nothing is sent or written.

    Raises:
        InputError, ConflictError: the replay, its files, its scorer, its prices or the lock that it answers to do not hold together.
    """
    if options.get("seal"):
        seal_replay(app, path, dry_run=options["dry_run"])
    bounds: list[Bound] = []
    with _open_view(app) as view:
        file = read_replay(path, view, owner=app.config.authority)
        for audit in file.replay.audits:
            bounds.append(check_lock(file, audit, view, path, begun=find_beginning(folder)))
            app.say(bounds[-1].told)
    for bound in () if options.get("deviation") else bounds:
        refuse_departures(bound, path)
    choose_version(file.replay.policy)
    if file.replay.scoring is not None:
        check_scorable(file.replay.scoring, file.tasks)
    planned = tuple(build_design(file.replay, file.tasks, file.contexts))
    prices = read_prices(options["prices"]) if options["prices"] else {}
    check_prices(file.replay.budget, prices, {file.replay.policy.model})
    return Session(
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


def _read_served_by(path: Path | None, replay: Replay) -> ServedBy | None:
    if path is None:
        return None
    served = read_served_by(path)
    check_served_by(served, model=replay.policy.model, base_url=None, where=str(path))
    return served


def make_calls(app: App, session: Session, store: RunStore, progress: Callable[[RunSummary], None]) -> RunSummary:
    """Make the calls of *session*; Ctrl-C ends the run with what is under way, a second one leaves that too.

    A run under a lock is entered in the log before its first call, and its end is recorded there.
    """

    async def run() -> RunSummary:
        policy = session.replay.policy
        halt = HaltRequest()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: _ask(app, halt))
        async with open_endpoint(policy, timeout_s=session.options["timeout_s"]) as endpoint:
            await _introduce(app, session, store, endpoint)
            _enter(app, session, store)
            settings = CallSettings(
                concurrency=session.options["concurrency"],
                retry_failed=session.options["retry_failed"],
                repeat_lost=session.options["repeat_lost"],
                allow_alias=policy.allow_alias,
                budget=session.replay.budget,
                prices=session.prices,
            )
            if session.options["batch"]:
                return await _make_batches(app, session, store, endpoint, settings, progress=progress, halt=halt)
            return await run_calls(store, _list_calls(session), endpoint, settings, progress=progress, stop=halt)

    summary = asyncio.run(run())
    if session.bounds and not summary.is_waiting:
        record_end(app, store, [one.audit for one in session.bounds], summary)
    return summary


def _enter(app: App, session: Session, store: RunStore) -> None:
    """Enter a run under a lock that has a call to make; one without sends nothing, and starts nothing."""
    ahead = session.forecast
    if session.bounds and ahead.total.calls:
        audits = [one.audit for one in session.bounds]
        enter(app, store, audits, model=session.replay.policy.model, planned=len(session.planned), before=ahead.settled)


def _list_calls(session: Session) -> Iterator[Call]:
    """Give the calls that the replay's file plans as it stands now; cells of an earlier version of it stay open."""
    return (one.call for one in session.planned)


async def _make_batches(
    app: App,
    session: Session,
    store: RunStore,
    endpoint: Endpoint,
    settings: CallSettings,
    *,
    progress: Callable[[RunSummary], None],
    halt: HaltRequest,
) -> RunSummary:
    from audit.replay.message_batches import run_batches

    found = await run_batches(store, _list_calls(session), endpoint, settings, progress=progress, tell=app.say, stop=halt)
    if found.running:
        app.say(f"still being worked on at the endpoint: {', '.join(found.running)}; running again waits for them")
    return found.run if not found.running else replace(found.run, interrupted=True, is_waiting=True)


def _ask(app: App, halt: HaltRequest) -> None:
    halt.request()
    app.say("ending: waiting for the calls under way; Ctrl-C again leaves them" if halt.times == 1 else "leaving the calls under way")


async def _introduce(app: App, session: Session, store: RunStore, endpoint: Endpoint) -> None:
    """Ask the endpoint about the model, and write down whom this session talks to."""
    policy = session.replay.policy
    if (alike := warn_of_near_duplicates(find_alike_tasks(session.file.tasks))) is not None:
        app.say(f"warning: {alike}")
    facts = await endpoint.describe_model(policy.model, allow_alias=policy.allow_alias)
    if facts.note:
        app.say(f"model {policy.model}: {facts.note}; the first answer will show whether it is there")
    if facts.lifecycle not in (None, "active"):
        app.say(
            f"warning: the endpoint calls {policy.model} {facts.lifecycle}; it retires {facts.retires_at or 'at a date it does not tell'}"
        )
    if endpoint.base_url.startswith("http://") and not is_loopback(endpoint.base_url):
        app.say(f"warning: the key and every text go unencrypted to {endpoint.base_url}")
    place = {"base_url": endpoint.base_url, "api_version": endpoint.api_version, "betas": list(policy.betas)}
    served = None if session.served_by is None else to_document(session.served_by)
    if session.served_by is not None:
        check_served_by(session.served_by, model=policy.model, base_url=endpoint.base_url, where=str(session.options["served_by"]))
    _check_sessions(session, list_versions(store, SESSION), place)
    sampling = add_defaults(describe_sampling(policy, api_version=endpoint.api_version), session.served_by)
    model = {"id": facts.id, "lifecycle": facts.lifecycle, "note": facts.note}
    software = {"sdk": f"anthropic {version('anthropic')}", "caveat": version("caveat")}
    told = {} if served is None else {"served_by": served}
    put_version(store, SESSION, {**place, **software, "sampling": sampling, "model": model, **told})


def _check_sessions(session: Session, known: Sequence[Mapping[str, Any]], place: Mapping[str, Any]) -> None:
    """Raise when this session talks to another endpoint, or another server or model behind it, than earlier ones of the folder."""
    differing = [(name, known[0][name], value) for name, value in place.items() if known and known[0][name] != value]
    for one in known:
        if session.served_by is not None and "served_by" in one and not differing:
            now = to_document(session.served_by)
            names = find_differences(session.served_by, one["served_by"])
            differing = [(f"served by {name}", one["served_by"].get(name), now.get(name)) for name in names]
    if differing:
        before = ", ".join(f"{name} {value}" for name, value, _ in differing)
        now_is = ", ".join(f"{name} {value}" for name, _, value in differing)
        found = f"was begun with {before}; now it is {now_is}"
        raise ConflictError(Fault(code="run-differs", where=str(session.folder), found=found, advice="choose another folder with -o DIR"))


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
    """Return what *planned* would take, beside what *folder* holds already."""
    again = UNSENT | ({LOST} if options["repeat_lost"] else frozenset())
    store = open_store(folder) if (folder / DATABASE).is_file() else None
    try:
        return forecast(
            planned, discount_batch(prices) if options["batch"] else prices, store, again=again, retry_failed=options["retry_failed"]
        )
    finally:
        if store is not None:
            store.close()
