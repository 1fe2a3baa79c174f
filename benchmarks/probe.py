"""What a probe of many responses holds in memory: their texts, and not the requests that are made of them.

Run: python benchmarks/probe.py [RESPONSES]. The responses have reasoning and output of 1,000 characters each. Exit 1 above the limit.
"""

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

from audit.modules.recognition_passages import list_passages
from audit.modules.recognition_probe import plan_first, read_run
from audit.records.model_response import Purpose, ReplayCell, Response
from audit.replay.run_store import PlannedCall, build_call, open_store
from registry.codec.canonical_documents import Json
from registry.records.replay_run import Probe

LENGTH, BLOCK, LIMIT = 1_000, 5_000, 3.0
"""Characters of a text; responses written at once; times the texts themselves."""


def write_run(folder: Path, count: int) -> None:
    store = open_store(folder, create=True)
    for first in range(0, count, BLOCK):
        planned, answers = [], []
        for place in range(first, min(count, first + BLOCK)):
            body: dict[str, Json] = {"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": f"Task {place // 4}"}]}
            call = build_call(body, index=place % 4, purpose=Purpose.REPLAY)
            cell = ReplayCell(task_id=f"t{place // 4}", arm="test" if place // 4 % 2 else "deploy", context_id="c", sample=place % 4)
            planned.append(PlannedCall(cell=cell, call=call))
            said = f"{place} " + "so it is " * (LENGTH // 9)
            answers.append(
                Response(
                    key=call.key, request=call.request, purpose=Purpose.REPLAY, model_requested="m-1", model_returned="m-1",
                    text=said, thinking=said + "!", stop_reason="end_turn",
                )
            )  # fmt: skip
        store.add_cells(planned)
        store.settle(list(zip(store.intend([one.call for one in planned], at="2026-11-21T12:00:00Z"), answers, strict=True)))
    store.close()


def read_rss_mib() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 2**20


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        writer = multiprocessing.get_context("spawn").Process(target=write_run, args=(Path(name), count))
        writer.start()
        writer.join()
        before, start = read_rss_mib(), time.process_time()
        store = open_store(Path(name))
        said, _ = read_run(store)
        passages = list(list_passages(said))
        read, read_s = read_rss_mib(), time.process_time() - start
        calls = sum(1 for _ in plan_first(passages, None, Probe(model="judge-1")))
        planned, plan_s = read_rss_mib(), time.process_time() - start - read_s
        store.close()
    texts = 2 * count * LENGTH / 2**20
    print(f"{count:,} responses, {texts:.0f} MiB of texts: read {read - before:.0f} MiB in {read_s:.1f} s;", end=" ")
    print(f"{calls:,} calls planned, {planned - read:.0f} MiB more, {1e6 * plan_s / calls:.0f} µs each")
    sys.exit(0 if planned - before <= LIMIT * texts else 1)


if __name__ == "__main__":
    main()
