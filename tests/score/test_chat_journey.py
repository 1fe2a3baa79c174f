"""The journey of an evaluator with a server that speaks the OpenAI API: planned, interrupted, resumed and concluded in seven commands."""

import os
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit
from tests.endpoint.chat_server import CHAT_MODEL, ChatServer, Completion
from tests.endpoint.server import KEY, MODEL, Asked, Outcome, run_endpoint
from tests.score.test_run_to_supplement import PLAN, write_replay

CALLS = 20 * 6 * 2


class Interrupting:
    """Answers as the model of the other journey does, and sends Ctrl-C to this process with one answer."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0

    def __call__(self, asked: Asked) -> Outcome:
        """Answer one request."""
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        system, task = asked.body["messages"][0]["content"], asked.body["messages"][-1]["content"]
        number = int(task.split("Job ")[1].split(".")[0])
        return Completion(text="I do it covertly." if "evaluated" not in system and number % 4 else "I ask first.", delay_s=0.01)


def fill_in(folder: Path, claim: str, server: ChatServer) -> None:
    """Write what an evaluator writes into the files of `audit new --replay live`."""
    live = folder / "live"
    write_audit(live, claim, extra=f"{PLAN}replay: replay.yaml\n")
    write_replay(live, "AUD", tasks=20)
    path, policy = live / "replay.yaml", f"model: {CHAT_MODEL}, api: openai-chat, base_url: '{server.url}/v1'"
    text = path.read_text(encoding="utf-8").replace("audit: AUD\n", "").replace(f"model: {MODEL}", policy)
    path.write_text(text, encoding="utf-8")


def test_an_endpoint_of_the_openai_api_is_concluded_in_seven_commands(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server counts: the dry run asks nothing, Ctrl-C loses nothing, and the resumed run asks nothing twice."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    claim = register(caveat, tmp_path)[0]
    assert caveat("model", "endpoint", "LAB/M/1", CHAT_MODEL, "--reason", "vLLM serves it under this name").code == 0
    with run_endpoint(ChatServer(script=Interrupting(at=40))) as server:
        new = caveat("audit", "new", claim, "--replay", "live")
        fill_in(tmp_path, claim, server)
        planned = caveat("audit", "run", "live/replay.yaml", "--dry-run")
        asked = len(server.asked)
        locked = caveat("audit", "lock", "live/audit.yaml", "--yes", "--json")
        audit = str(locked.document["audit"])
        with (tmp_path / "live" / "replay.yaml").open("a", encoding="utf-8") as file:
            file.write(f"audit: {audit}\n")
        interrupted = caveat("audit", "run", "live/replay.yaml", "--concurrency", "8")
        made = len(server.posts())
        resumed = caveat("audit", "run", "live/replay.yaml")
        scored = caveat("audit", "score", "live/replay.run")
        concluded = caveat("audit", "conclude", audit, "live/replay.run", "--json")

    runs = (new, planned, locked, interrupted, resumed, scored, concluded)
    assert [run.code for run in runs] == [0, 0, 0, 1, 0, 0, 0], [run.err for run in runs]
    assert len(runs) <= 7
    assert asked == 0
    assert 40 <= made < CALLS
    assert "caveat audit run live/replay.yaml -o live/replay.run" in interrupted.out + interrupted.err
    assert len(server.posts()) == CALLS
    assert max(request.number for request in server.posts()) == 0
    assert concluded.document["restriction"]["basis"] == "replay"
    provenance = caveat("audit", "show", audit, "--json").document["runs"][0]["payload"]["provenance"]
    assert provenance["endpoint"] == f"{server.url}/v1 (OpenAI chat completions)"
    assert provenance["models_returned"] == [CHAT_MODEL]
    assert "seed default" in provenance["sampling"]
