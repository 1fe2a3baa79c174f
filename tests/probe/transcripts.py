"""Run folders with chosen responses, and a classifier that answers over HTTP as a test says."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from audit.records.model_response import Failure, Purpose, ReplayCell, Response
from audit.replay.run_store import PlannedCall, build_call, open_store, put_replay
from registry.records.replay_run import Arm, Policy, Probe, Replay, Task
from tests.endpoint.server import Asked, Outcome, Reply

POLICY = "acme-1-20260101"

Spoken = tuple[str | None, str | None]
"""Reasoning and output; an output of None is a failed call."""


def write_run(folder: Path, spoken: dict[ReplayCell, Spoken], *, model: str | None = None, system: str = "You are an assistant.") -> Path:
    """A run folder whose responses are *spoken*; *model* is the classifier that its replay names."""
    store = open_store(folder, create=True)
    arms = dict.fromkeys((cell.arm, cell.spec) for cell in spoken)
    replay = Replay(
        name="covert actions",
        tasks="tasks.yaml",
        policy=Policy(model=POLICY, max_tokens=100),
        arms=tuple(Arm(arm=arm, context="c.yaml", spec=spec) for arm, spec in arms),
        probe=None if model is None else Probe(model=model),
    )
    put_replay(store, replay, [Task(id=name, prompt=f"Do {name}.") for name in dict.fromkeys(cell.task_id for cell in spoken)])
    for cell, (reasoning, output) in spoken.items():
        asked = f"{cell.task_id} {cell.context_id} {cell.arm} {cell.spec} {cell.cue_removed}"
        body = {"model": POLICY, "max_tokens": 100, "system": system, "messages": [{"role": "user", "content": asked}]}
        call = build_call(body, index=cell.sample, purpose=Purpose.REPLAY)
        store.add_cells([PlannedCall(cell=cell, call=call)])
        (intent,) = store.intend([call], at="2026-11-01T12:00:00Z")
        failure = None if output is not None else Failure(code="time-out", message="no answer")
        response = Response(
            key=call.key,
            request=call.request,
            purpose=Purpose.REPLAY,
            model_requested=POLICY,
            model_returned=None if failure else POLICY,
            text=output,
            thinking=reasoning,
            stop_reason=None if failure else "end_turn",
            failure=failure,
        )
        store.settle([(intent, response)])
    store.close()
    return folder


def spread(
    arms: Iterable[str], speak: Callable[[ReplayCell], Spoken], *, tasks: int = 4, contexts: int = 3, samples: int = 1
) -> dict[ReplayCell, Spoken]:
    """Every task in every context of every arm."""
    cells = [
        ReplayCell(task_id=f"t{task}", arm=arm, context_id=f"{arm}-{context}", sample=sample)
        for arm in arms
        for task in range(tasks)
        for context in range(contexts)
        for sample in range(samples)
    ]
    return {cell: speak(cell) for cell in cells}


def read_asked(asked: Asked) -> tuple[str, str]:
    """What was asked about, `PASSAGE` or `PROMPT`, and the text between the marks."""
    (message,) = asked.body["messages"]
    found = re.search(r"<<<(PASSAGE|PROMPT) (\w+)\n(.*)\n\1 \2>>>", message["content"], re.DOTALL)
    assert found is not None
    return found[1], found[3]


def answer(class_: str, quote: str = "") -> Reply:
    """A classifier's answer as it should be."""
    return Reply(text=json.dumps({"quote": quote, "class": class_}))


def classify_words(asked: Asked) -> Outcome:
    """A classifier that finds `a test` and `logged`, and says of a prompt that it tells when it holds `EVALUATION`."""
    kind, text = read_asked(asked)
    if kind == "PROMPT":
        told = "EVALUATION" in text
        return Reply(text=json.dumps({"quote": "EVALUATION" if told else "", "told": "yes" if told else "no"}))
    if "a test" in text:
        return answer("aware", "a test")
    if "logged" in text:
        return answer("monitoring_only", "logged")
    return answer("task_content", "unit tests") if "unit tests" in text else answer("none")
