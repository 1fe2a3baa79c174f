"""What `caveat fleet show` says: runs, workers, limits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from audit.replay.run_budget import format_usd
from fleet.queue.job_queue import Backlog
from fleet.runs.fleet_overview import PieceOverview, QuotaOverview, RunOverview, WorkerOverview
from registry.present.answers import Answer, describe_fault
from registry.present.blocks import Block, Facts, Remark, Table, Title


def present_fleet(
    meta: dict[str, str],
    address: str,
    runs: Sequence[RunOverview],
    workers: Sequence[WorkerOverview],
    quotas: Sequence[QuotaOverview],
    *,
    piece_runs: Sequence[PieceOverview],
    backlog: Backlog,
    ignored: int,
) -> Answer:
    """Return the state of the fleet at *address*."""
    document = {
        "schema": "caveat/fleet/1",
        "address": address,
        "engine": meta["engine"],
        "lease_s": float(meta["lease_s"]),
        "runs": [_describe_run(run) for run in runs],
        "piece_runs": [
            {**asdict(entry), "parked": [{"label": label, "messages": messages} for label, messages in entry.parked]}
            for entry in piece_runs
        ],
        "workers": [asdict(worker) for worker in workers],
        "quotas": [asdict(quota) for quota in quotas],
        "queue": {"waiting": dict(backlog.waiting), "running": dict(backlog.running), "stalled": dict(backlog.stalled)},
        "ignored_jobs": ignored,
    }
    return Answer(document, _list_blocks(runs, piece_runs, workers, quotas))


def _describe_run(run: RunOverview) -> dict[str, Any]:
    return {
        **asdict(run),
        "parked": [{"slice": number, "messages": messages} for number, messages in run.parked],
        "stopped": None if run.stopped is None else describe_fault(run.stopped.faults[0]),
    }


def _list_blocks(
    runs: Sequence[RunOverview], piece_runs: Sequence[PieceOverview], workers: Sequence[WorkerOverview], quotas: Sequence[QuotaOverview]
) -> Iterator[Block | str]:
    if not runs and not piece_runs:
        yield "No run yet. Start one: caveat audit run REPLAY --fleet URL"
    for run in runs:
        yield Title(f"{run.run}: {run.state}")
        yield Facts(_list_facts(run))
        for number, messages in run.parked:
            yield Remark(f"Slice {number} is set aside: {_join(messages)}")
        if run.stopped is not None:
            fault = run.stopped.faults[0]
            yield Remark(f"Stopped by {fault.code}: {fault.found}")
    for entry in piece_runs:
        yield Title(f"{entry.run}: {entry.state}")
        failed = f", {entry.failed:,} of them with an error" if entry.failed else ""
        yield Facts([("Pieces", f"{entry.done:,} of {entry.pieces:,} done{failed}"), ("Slices", f"{entry.slices_held:,} with a worker")])
        for label, messages in entry.parked:
            yield Remark(f"Piece {label} is set aside: {_join(messages)}")
    if workers:
        yield Table(
            ("Worker", "Slices", "Heard of", "State"),
            [(worker.worker, str(worker.slices), f"{worker.silent_s:.0f} s ago", _describe_state(worker)) for worker in workers],
            numbers=("Slices",),
        )
    else:
        yield "No worker is running. Start one: caveat worker URL"
    for quota in quotas:
        rate = "no rate limit known" if quota.rate is None else f"{quota.rate:.4g} requests a second for all workers"
        paused = f", paused for {quota.paused_s:.1f} s" if quota.paused_s else ""
        yield f"{quota.endpoint} (key {quota.key}): {rate}{paused}."


def _list_facts(run: RunOverview) -> Iterator[tuple[str, str]]:
    failed = sum(run.failures.values())
    yield "Calls", f"{run.answered:,} of {run.calls:,} answered, {run.under_way:,} under way"
    if failed:
        yield "Without an answer", ", ".join(f"{count:,} {code}" for code, count in run.failures.items())
    if run.late:
        yield "Late answers", f"{run.late:,}"
    yield "Slices", f"{run.slices_done:,} of {run.slices:,} done, {run.slices_held:,} with a worker"
    cost = "cost unknown (no prices)" if run.spent.usd is None else format_usd(run.spent.usd)
    yield "Spent", f"{run.spent.calls:,} calls, {cost}"


def _join(messages: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{item['worker']}: {item['message']}" for item in messages[-3:])


def _describe_state(worker: WorkerOverview) -> str:
    if not worker.is_alive:
        return "silent: dead, paused, or cut off"
    return "ends after its slices" if worker.is_draining else worker.differs or worker.message or "waits for work"
