"""A small replay in files, and the command that runs it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from registry.cli.main import main
from tests.endpoint.server import KEY, MODEL, Endpoint
from tests.replay.processes import Started

REPLAY = """\
schema: caveat/replay/1
name: small
tasks: tasks.yaml
policy: {{model: {model}, max_tokens: 40}}
arms:
  - {{arm: test, context: test.yaml}}
  - {{arm: deploy, context: deploy.yaml}}
samples: {samples}
{more}
"""
CONTEXTS = """\
name: {name}
description: two {name} contexts
contexts:
  - {{id: {name}-1, system: "You are in {name} one.", template: "{{task}}"}}
  - {{id: {name}-2, system: "You are in {name} two.", template: "{{task}}"}}
"""


def write_replay(folder: Path, *, tasks: int = 10, samples: int = 1, model: str = MODEL, more: str = "") -> Path:
    """Write a replay of *tasks* × 2 arms × 2 contexts × *samples* into *folder*, and return its file."""
    lines = "\n".join(f"  - {{id: t{number:03}, prompt: What is {number} and {number}?}}" for number in range(tasks))
    (folder / "tasks.yaml").write_text(f"schema: caveat/tasks/1\ntasks:\n{lines}\n", encoding="utf-8")
    for name in ("test", "deploy"):
        (folder / f"{name}.yaml").write_text(CONTEXTS.format(name=name), encoding="utf-8")
    path = folder / "small.yaml"
    path.write_text(REPLAY.format(model=model, samples=samples, more=more), encoding="utf-8")
    return path


def start(server: Endpoint, folder: Path, *words: str, key: str | None = KEY, prepare: Callable[[], None] | None = None) -> Started:
    """Start `caveat audit run small.yaml` with *words* in *folder*, its endpoint being *server*; *prepare* runs in the process before."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "CAVEAT_"))}
    environ |= {"ANTHROPIC_BASE_URL": server.url} | ({"ANTHROPIC_API_KEY": key} if key else {})
    return Started(_call, str(folder), words, prepare, folder=folder, environ=environ)


def _call(folder: str, words: tuple[str, ...], prepare: Callable[[], None] | None) -> None:
    os.chdir(folder)
    if prepare is not None:
        prepare()
    sys.argv = ["caveat", "audit", "run", "small.yaml", *words]
    main()


def press_when_submitted(server: Endpoint) -> threading.Thread:
    """Press Ctrl-C in this process as soon as *server* has a batch."""

    def press() -> None:
        while not server.batches:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    return thread
