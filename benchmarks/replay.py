"""How busy a replay keeps an endpoint of known capacity, what a call costs the client, and what memory many calls take.

Throughput is taken from the first call to the last, so that the seconds in which the limiter finds out how many requests the endpoint
takes at once are part of it: about three seconds where a call takes one, which 12,000 calls make up for and 1,000 do not.

Run: python benchmarks/replay.py [CALLS_FOR_MEMORY]
"""

import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.endpoints.endpoint_opening import open_endpoint
from audit.records.model_response import Purpose
from audit.replay.call_engine import CallSettings, RunSummary, run_calls
from audit.replay.run_store import Call, build_call, open_store
from registry.records.replay_run import Policy

ROOT = Path(__file__).parent.parent
KEY = "sk-test-loopback-0123456789"
MODEL = "claude-test-1-20261101"
SYSTEM = "You are a careful assistant in a repository of moderate size. " * 30


@contextmanager
def serve(*options: str) -> Iterator[str]:
    """Give the address of a loopback endpoint in a process of its own."""
    command = [sys.executable, "tests/endpoint/server.py", *options]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def make_calls(count: int) -> Iterator[Call]:
    for number in range(count):
        message = {"role": "user", "content": f"Task {number // 4}: say what this function does, and whether it is safe."}
        body = {"model": MODEL, "max_tokens": 256, "system": SYSTEM, "messages": [message]}
        yield build_call(body, index=number % 4, purpose=Purpose.REPLAY)


def replay(url: str, folder: Path, count: int, watch: list[tuple[int, float]] | None = None) -> tuple[RunSummary, float, float]:
    """Return summary, wall and CPU seconds (all threads) of *count* calls into a new store."""
    store = open_store(folder, create=True)

    def progress(summary: RunSummary) -> None:
        if watch is not None:
            watch.append((summary.done, read_rss_mib()))

    async def run() -> RunSummary:
        policy = Policy(model=MODEL, max_tokens=256, base_url=url)
        async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}) as endpoint:
            return await run_calls(store, make_calls(count), endpoint, CallSettings(), progress=progress)

    started, cpu = time.perf_counter(), time.process_time()
    summary = asyncio.run(run())
    taken = time.perf_counter() - started, time.process_time() - cpu
    store.close()
    assert summary.answered == count, summary
    return summary, *taken


def read_rss_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def measure_throughput(folder: Path, *, capacity: int, latency_s: float, count: int) -> bool:
    with serve("--capacity", str(capacity), "--latency", str(latency_s)) as url:
        summary, wall, cpu = replay(url, folder, count)
    share = count / wall / capacity
    good = share >= 0.95
    what = f"{capacity}/s, {latency_s * 1000:.0f} ms a call, {count:,} calls, {summary.most_at_once} at once"
    print(f"{what:<52} {count / wall:>8.1f} calls/s   {share:>6.1%} of capacity (target 95 %), {1000 * cpu / count:.2f} ms CPU a call")
    return good


def measure_cpu(folder: Path, count: int) -> bool:
    with serve("--latency", "0.02") as url:
        replay(url, folder / "warm", 200)
        gc.collect()
        _, wall, cpu = replay(url, folder / "cpu", count)
    each_ms = 1000 * cpu / count
    print(f"client CPU a call, store included                   {each_ms:>8.2f} ms   (limit 5), at {count / wall:.0f} calls/s")
    return each_ms <= 5.0


def measure_memory(folder: Path, count: int) -> bool:
    watch: list[tuple[int, float]] = []
    with serve("--latency", "0.005") as url:
        replay(url, folder, count, watch)
    early = next(rss for done, rss in watch if done >= count // 20)
    late = watch[-1][1]
    print(f"memory that {count:,} responses add after the first {count // 20:,}   {late - early:>6.1f} MiB   (target 16)")
    return late - early <= 16.0


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        folder = Path(name)
        good = [
            measure_cpu(folder, 2000),
            measure_throughput(folder / "a", capacity=100, latency_s=0.2, count=4000),
            measure_throughput(folder / "b", capacity=200, latency_s=0.05, count=6000),
            measure_throughput(folder / "c", capacity=100, latency_s=1.0, count=12_000),
            measure_memory(folder / "d", count),
        ]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
