"""How long planning 100,000 calls takes and what memory it needs, beside composing their texts and hashing them alone.

Run: python benchmarks/design.py
"""

import hashlib
import json
import resource
import time

from audit.replay.replay_design import build_design
from registry.records.replay_run import Arm, Policy, Replay, Task
from registry.records.specification import ContextBlock, ContextItem, ContextSpec

CONTEXTS, TASKS, SAMPLES = 10, 500, 10
TEXT = "A paragraph of a system prompt of some length, as products have them. " * 120


def make_spec(name: str) -> ContextSpec:
    items = tuple(ContextItem(id=f"{name}-{number}", system=("long", "own"), template=f"{number}: {{task}}") for number in range(CONTEXTS))
    return ContextSpec(
        name=name,
        description="for a benchmark",
        blocks={"long": ContextBlock(text=TEXT), "own": ContextBlock(text=f"You are {name}.")},
        contexts=items,
    )


def compose_alone(tasks: list[Task]) -> int:
    """Return how many bodies were joined and hashed, without rules, records or cells."""
    digests = set()
    for name in ("test", "deploy"):
        for number in range(CONTEXTS):
            for task in tasks:
                system = f"{TEXT}\n\nYou are {name}."
                body = {"system": system, "messages": [{"role": "user", "content": f"{number}: {task.prompt}"}]}
                digests.add(hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest())
    return len(digests)


def main() -> None:
    tasks = [Task(id=f"t{number}", prompt=f"Question {number}: " + "what is asked, in a few lines. " * 8) for number in range(TASKS)]
    arms = tuple(Arm(arm=name, context=name) for name in ("test", "deploy"))
    replay = Replay(name="b", tasks="-", policy=Policy(model="m", max_tokens=1), arms=arms, samples=SAMPLES)
    specs = {name: make_spec(name) for name in ("test", "deploy")}
    started = time.process_time()
    compose_alone(tasks)
    alone = time.process_time() - started
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    planned = build_design(replay, tasks, specs)
    ours = time.process_time() - started
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"design of {len(planned):,} calls, {len(planned) // SAMPLES:,} requests of 8 kB   {ours:.1f} s CPU, {memory:.0f} MiB")
    print(f"texts joined and hashed alone                     {alone:.1f} s CPU")


if __name__ == "__main__":
    main()
