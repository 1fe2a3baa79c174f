"""How fast logs of Inspect become rows, beside Inspect's own reader in the same run, and how much memory each takes.

Run from the repository root: `python -m benchmarks.inspect_read [samples]`. The log is written by Inspect itself (its mock model, six
turns of 100 words each way). Times are of the processor. Prints one JSON line; exit 1 below the bar.
"""

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

SAMPLES, TURNS, WORDS = 300, 6, 100
BAR = 10.0
REPEATS = 3


def write_log(folder: Path, samples: int) -> None:
    """Write a log of *samples* samples of `TURNS` turns each; in a process of its own, so that its memory does not count."""
    os.environ["INSPECT_DISPLAY"] = "none"
    import numpy as np  # noqa: PLC0415  # only the writing process needs it
    from inspect_ai import Task  # noqa: PLC0415
    from inspect_ai import eval as run_inspect  # noqa: PLC0415
    from inspect_ai.dataset import Sample  # noqa: PLC0415
    from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model  # noqa: PLC0415
    from inspect_ai.scorer import includes  # noqa: PLC0415
    from inspect_ai.solver import Generate, Solver, TaskState, solver, system_message  # noqa: PLC0415

    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(5000)])

    def write_text() -> str:
        return " ".join(rng.choice(words, WORDS).tolist())

    @solver
    def talk() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for _ in range(TURNS):
                state = await generate(state)
                state.messages.append(ChatMessageUser(content=write_text()))
            return state

        return solve

    def answer() -> Generator[ModelOutput, None, None]:
        while True:
            output = ModelOutput.from_content("mockllm/model", write_text())
            output.usage = ModelUsage(input_tokens=1000, output_tokens=WORDS, total_tokens=1000 + WORDS)
            yield output

    dataset = [Sample(id=f"s{number}", input=write_text(), target="word7 ") for number in range(samples)]
    task = Task(dataset=dataset, solver=[system_message(write_text()), talk()], scorer=includes())
    model = get_model("mockllm/model", custom_outputs=answer())
    log = run_inspect(task, model=model, log_dir=str(folder), display="none", log_model_api=True)[0]
    Path(log.location.removeprefix("file://")).rename(folder / "log.eval")


def read_ours(path: Path) -> int:
    """Return the number of rows."""
    from audit.sources.inspect_log import read_inspect  # noqa: PLC0415  # loaded inside what is measured
    from audit.sources.log_rows import LogOptions  # noqa: PLC0415

    return len(read_inspect([path], LogOptions(arms={str(path): "test"}))[0])


def read_theirs(path: Path) -> int:
    """Return the number of samples that Inspect's own reader gives."""
    from inspect_ai.log import read_eval_log  # noqa: PLC0415

    return len(read_eval_log(path).samples or [])


def measure(read: Callable[[Path], int], path: Path, results: "multiprocessing.Queue[dict[str, float]]") -> None:
    """Put the least of `REPEATS` times, without imports, and what memory came on top of them."""
    small = path.with_name("one.eval")
    read(small)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, count = [], 0
    for _ in range(REPEATS):
        start = time.process_time()
        count = read(path)
        seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put({"count": count, "seconds": min(seconds), "added_mib": peak - before})


def main() -> int:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.eval"
        for count, name in ((1, "one.eval"), (samples, "log.eval")):
            place = Path(folder) / name.removesuffix(".eval")
            place.mkdir()
            writer = spawn.Process(target=write_log, args=(place, count))
            writer.start()
            writer.join()
            (place / "log.eval").rename(Path(folder) / name)
        figures = []
        for read in (read_ours, read_theirs):
            results: multiprocessing.Queue[dict[str, float]] = spawn.Queue()
            reader = spawn.Process(target=measure, args=(read, path, results))
            reader.start()
            figures.append(results.get(timeout=600))
            reader.join()
        size = path.stat().st_size / 1_000_000
    ours, theirs = figures
    times = theirs["seconds"] / ours["seconds"]
    print(
        json.dumps(
            {
                "samples": ours["count"],
                "file_mb": round(size, 1),
                "ours_s": round(ours["seconds"], 3),
                "inspect_s": round(theirs["seconds"], 3),
                "times": round(times, 1),
                "ours_added_mib": round(ours["added_mib"], 1),
                "inspect_added_mib": round(theirs["added_mib"], 1),
                "bar": BAR,
            }
        )
    )
    return 0 if times >= BAR and ours["count"] == theirs["count"] else 1


if __name__ == "__main__":
    sys.exit(main())
