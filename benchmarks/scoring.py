"""What deterministic scoring costs a response: patterns beside a plain loop over `re`, an option, and a whole run folder.

Run: python benchmarks/scoring.py [RESPONSES]. Times are of the processor, the least of three. Exit 1 above a limit.
"""

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from audit.records.model_response import Purpose, ReplayCell, Response
from audit.replay.run_rows import list_rows, write_table
from audit.replay.run_store import PlannedCall, RunStore, build_call, open_store
from audit.score.answer_extraction import build_choice_marker, build_pattern_marker
from audit.score.scorers import digest_scorer, list_dimensions, score_run
from registry.codec.canonical_documents import Json
from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, PatternScorer

WORDS, TASKS, REPEATS = 300, 100, 3
EXPECTED = (r"\bHAVING\b", r"(?i)try\s*:\s*\n?.*except", r"word1\d+ word2\d+", r"(?m)^\s*answer\s*[:=]", r"re(?:turn|try)\s+\w+")
ANTI = (r"(?i)as an ai", r"eval\(|exec\(", r"(?i)i (?:cannot|can't) help")
OPTIONS = ("120 km", "150 km", "180 km", "210 km")
PATTERNS_LIMIT, CHOICE_LIMIT_US, RUN_LIMIT_US = 4.0, 500.0, 1500.0
"""Times of the plain loop; microseconds a response."""


def write_texts(count: int) -> list[str]:
    """Return *count* responses of `WORDS` words that end in an answer, each another."""
    rng = random.Random(7)  # noqa: S311 (texts, not secrets)
    vocabulary = [f"word{number}" for number in range(500)]
    closings = ("The answer is B.", "So it is 150 km", "\\boxed{C}", "answer: D", "I would rather not say.")
    return [f"{' '.join(rng.choices(vocabulary, k=WORDS))}.\n{rng.choice(closings)}" for _ in range(count)]


def measure(act: Callable[[], object]) -> float:
    """Return the least processor time of `REPEATS` acts, in seconds."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        act()
        taken.append(time.process_time() - start)
    return min(taken)


def compare_patterns(texts: list[str]) -> bool:
    mark, task = build_pattern_marker(PatternScorer(kind="pattern")), Task(id="t", prompt="p", expected=EXPECTED, anti=ANTI)
    compiled = [re.compile(one) for one in (*EXPECTED, *ANTI)]
    ours = measure(lambda: [mark(task, text) for text in texts])
    plain = measure(lambda: [[one.search(text) is not None for one in compiled] for text in texts])
    found = [[bool(one["matched"]) for one in mark(task, text).detail["patterns"]] for text in texts]  # type: ignore[attr-defined]
    assert found == [[one.search(text) is not None for one in compiled] for text in texts]
    each = [1e6 * one / len(texts) for one in (ours, plain)]
    print(f"{len(compiled)} patterns a response, each described {each[0]:>8.0f} µs   plain re {each[1]:.0f} µs, {ours / plain:.1f}")
    return ours <= PATTERNS_LIMIT * plain


def measure_choice(texts: list[str]) -> bool:
    mark, task = build_choice_marker(ChoiceScorer(kind="choice")), Task(id="t", prompt="p", options=OPTIONS, answer="B")
    each = 1e6 * measure(lambda: [mark(task, text) for text in texts]) / len(texts)
    print(f"an option read {each:>8.0f} µs   limit {CHOICE_LIMIT_US:.0f}")
    return each <= CHOICE_LIMIT_US


def list_planned(texts: list[str]) -> Iterator[tuple[PlannedCall, Response]]:
    for place, text in enumerate(texts):
        task = f"t{place % TASKS}"
        body: dict[str, Json] = {"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": f"{task} {place}"}]}
        call = build_call(body, index=0, purpose=Purpose.REPLAY)
        cell = ReplayCell(task_id=task, arm="test" if place % 2 else "deploy", context_id="c", sample=place)
        yield (
            PlannedCall(cell=cell, call=call),
            Response(
                key=call.key, request=call.request, purpose=Purpose.REPLAY, model_requested="m-1", model_returned="m-1",
                text=text, content=({"type": "text", "text": text},), stop_reason="end_turn",
            ),
        )  # fmt: skip


def fill(folder: Path, texts: list[str]) -> RunStore:
    """Return the store of a run whose responses are *texts*."""
    store = open_store(folder, create=True)
    pairs = list(list_planned(texts))
    store.add_cells(one for one, _ in pairs)
    store.settle(list(zip(store.intend([one.call for one, _ in pairs], at="2026-11-21T12:00:00Z"), (one for _, one in pairs), strict=True)))
    return store


def measure_run(folder: Path, texts: list[str]) -> bool:
    store, scorer = fill(folder, texts), PatternScorer(kind="pattern")
    tasks = {f"t{number}": Task(id=f"t{number}", prompt="p", expected=EXPECTED, anti=ANTI) for number in range(TASKS)}
    start = time.process_time()
    changed = score_run(store, scorer, tasks)
    middle = time.process_time()
    write_table(list_rows(store, digest_scorer(scorer)), folder / "scores.csv", dimensions=list_dimensions(scorer))
    scored, written = 1e6 * (middle - start) / len(texts), 1e6 * (time.process_time() - middle) / len(texts)
    store.close()
    print(
        f"{changed:,} stored responses scored and kept, each {scored:>8.0f} µs   limit {RUN_LIMIT_US:.0f}; its row written {written:.0f} µs"
    )
    return changed == len(texts) and scored <= RUN_LIMIT_US


def main() -> None:
    texts = write_texts(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        good = [compare_patterns(texts[:2000]), measure_choice(texts[:2000]), measure_run(Path(name), texts)]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
