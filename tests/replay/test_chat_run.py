"""`caveat audit run` against a server that speaks chat completions: planned, killed, resumed, and nothing asked twice."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from audit.replay.replay_provenance import build_provenance
from audit.replay.run_store import open_store
from tests.endpoint.chat_server import CHAT_MODEL, ChatServer, Completion
from tests.endpoint.server import KEY, MODEL, Asked, Broken, Endpoint, Outcome, Refusal, run_endpoint
from tests.replay.calling import read_all
from tests.replay.conftest import Caveat, Ran
from tests.replay.replay_files import start, write_replay
from tests.replay.test_kill_resume import Gate


def write(folder: Path, server: Endpoint, policy: str = "", **options: Any) -> None:
    """Write a small replay for *server* into *folder*, with *policy* among the policy's keys."""
    path = write_replay(folder, model=CHAT_MODEL, **options)
    more = f"api: openai-chat, base_url: '{server.url}/v1'{policy}"
    path.write_text(path.read_text(encoding="utf-8").replace("max_tokens: 40}", f"max_tokens: 40, {more}}}"), encoding="utf-8")


def run(caveat: Caveat, *words: str) -> Ran:
    """Run the replay of this folder."""
    return caveat("audit", "run", "small.yaml", *words, key=None)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the server in the environment, and nothing else of OpenAI's."""
    for name in ("OPENAI_BASE_URL", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def read_provenance(folder: Path) -> Any:
    """Return what the run folder states of its replay."""
    store = open_store(folder)
    try:
        return build_provenance(store)
    finally:
        store.close()


def test_a_killed_run_is_resumed_and_no_call_is_made_twice(tmp_path: Path) -> None:
    """Planned without a request, killed, resumed: the server counts, and what was in flight is repeated on request alone."""
    gate = Gate(delay_s=0.03)
    with run_endpoint(ChatServer(script=gate)) as server:
        write(tmp_path, server, tasks=10)
        planned = start(server, tmp_path, "--dry-run")
        planned.communicate(timeout=60)
        before = len(server.asked)
        process = start(server, tmp_path, "--concurrency", "4")
        came = gate.wait(9)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        whole = start(server, tmp_path, "--json")
        document = json.loads(whole.communicate(timeout=60)[0])
        received, twice = len(server.posts()), max(asked.number for asked in server.posts())
        again = start(server, tmp_path, "--json", "--repeat-lost")
        again.communicate(timeout=60)

    lost = sum(arm["failures"].get("lost-in-flight", 0) for arm in document["arms"])
    assert (came, before, planned.returncode, whole.returncode, again.returncode) == (True, 0, 0, 0, 0)
    assert twice == 0
    assert sum(arm["answered"] for arm in document["arms"]) + lost == 40
    assert len(server.posts()) == received + lost


def test_refused_limited_and_broken_answers_are_counted_as_what_they_are(caveat: Caveat, tmp_path: Path) -> None:
    """Truncated and refused answers are answers; 429 with retry-after and 500 are repeated; prose is a failed call."""
    seen: dict[str, int] = {}

    def script(asked: Asked) -> Outcome:
        task = asked.body["messages"][-1]["content"].split()[2]
        seen[asked.digest] = seen.get(asked.digest, 0) + 1
        outcomes: dict[str, Outcome] = {
            "1": Completion(text="half", stop_reason="max_tokens"),
            "2": Completion(text=None, refusal="No."),
            "3": Completion() if seen[asked.digest] > 1 else Refusal(status=429, headers={"retry-after": "0.2"}),
            "4": Completion() if seen[asked.digest] > 1 else Refusal(status=500),
            "5": Broken.PROSE,
        }
        return outcomes.get(task, Completion())

    with run_endpoint(ChatServer(script=script)) as server:
        write(tmp_path, server, tasks=6)
        ran = run(caveat, "--json", "--concurrency", "1")
        document = ran.document
        requests = len(server.posts())
        again = run(caveat, "--json")

    assert (ran.code, again.code) == (0, 0), ran.err
    counts = [sum(arm[name] for arm in document["arms"]) for name in ("answered", "truncated", "refused")]
    assert counts == [20, 4, 4]
    assert document["failures"] == {"bad-answer": 4}
    assert requests == 24 + 8
    assert len(server.posts()) == requests
    assert {response.text for response in read_all(tmp_path / "small.run") if response.stop_reason == "refusal"} == {"No."}


def test_provenance_says_what_was_asked_and_who_answered(caveat: Caveat, tmp_path: Path) -> None:
    """API, name of the limit, seed of each sample, parameters that were left out, and every fingerprint that came."""
    fingerprints = iter(["fp_a"] * 5 + ["fp_b"] * 100)
    with run_endpoint(ChatServer(script=lambda _: Completion(fingerprint=next(fingerprints)))) as server:
        write(tmp_path, server, ", temperature: 0.5, seed: 7, extra: {min_p: 0.05}", tasks=2, samples=2)
        ran = run(caveat)
        seeds = sorted(asked.body["seed"] for asked in server.posts())
    found = read_provenance(tmp_path / "small.run")

    assert ran.code == 0, ran.err
    assert "warning: the system fingerprint changed during the run: fp_a, fp_b" in ran.out + ran.err
    assert seeds == [7] * 8 + [8] * 8
    assert found.endpoint == f"{server.url}/v1 (OpenAI chat completions)"
    assert found.model_returned == f"{CHAT_MODEL} (system fingerprints fp_a, fp_b)"
    assert found.models_returned == (CHAT_MODEL,)
    assert found.sampling == (
        "temperature 0.5 (set), top_p default, top_k default, max_tokens 40, effort default, thinking default, "
        "service_tier default, min_p 0.05, seed 7 + number of the sample (set)"
    )


def test_another_model_that_answers_ends_the_run(caveat: Caveat, tmp_path: Path) -> None:
    """As with the other API: the answer is kept, and nothing more is asked."""
    with run_endpoint(ChatServer(script=lambda _: Completion(model="qwen-test-8b"))) as server:
        write(tmp_path, server, tasks=10)
        ran = run(caveat, "--concurrency", "1")

    assert ran.code == 1
    assert "model-changed" in ran.err
    assert len(server.posts()) < 40


def test_the_wrong_api_is_named_and_the_folder_stays_valid(caveat: Caveat, tmp_path: Path) -> None:
    """The file without `api` gets one message; with it, the same folder is filled."""
    with run_endpoint(ChatServer(key="")) as server:
        write_replay(tmp_path, tasks=2, model=CHAT_MODEL)
        wrong = caveat("audit", "run", "small.yaml", server=server)
        write(tmp_path, server, tasks=2)
        right = run(caveat, "--json")

    assert wrong.code == 2
    assert "error[wrong-api]" in wrong.err
    assert "this server speaks the OpenAI API: set `api: openai-chat`" in " ".join(wrong.err.split())
    assert right.code == 0, right.err
    assert right.document["answered"] == 8
    assert read_provenance(tmp_path / "small.run").endpoint == f"{server.url}/v1 (OpenAI chat completions)"


def test_a_server_of_the_messages_api_is_named_too(caveat: Caveat, tmp_path: Path) -> None:
    """The reverse mistake gets the reverse message."""
    with run_endpoint(Endpoint(models=(MODEL, CHAT_MODEL))) as server:
        write(tmp_path, server, tasks=2)
        ran = run(caveat)

    assert ran.code == 2
    assert "this server speaks the Messages API: set `api: messages`" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        ({"max_tokens": "unsupported_parameter"}, "max_tokens_field: max_completion_tokens"),
        ({"temperature": "unsupported_value"}, "leave it out of the policy"),
    ],
)
def test_a_refused_parameter_ends_the_run_with_what_to_do(caveat: Caveat, tmp_path: Path, refused: dict[str, str], says: str) -> None:
    """Nothing was answered, so a new name of the limit continues in the same folder."""
    with run_endpoint(ChatServer(refused=refused)) as server:
        write(tmp_path, server, ", temperature: 0.5", tasks=2)
        ran = run(caveat)
        write(tmp_path, server, ", temperature: 0.5, max_tokens_field: max_completion_tokens", tasks=2)
        again = run(caveat) if "max_tokens" in refused else None

    assert ran.code == 2
    assert "error[parameter-refused]" in ran.err
    assert says in " ".join(ran.err.split())
    assert again is None or again.code == 0, again.err if again else ""


def test_a_server_without_batches_leaves_the_calls_to_be_made_one_by_one(caveat: Caveat, tmp_path: Path) -> None:
    """The same folder goes on without --batch."""
    with run_endpoint(ChatServer(has_batches=False)) as server:
        write(tmp_path, server, tasks=2)
        refused, ran = run(caveat, "--batch"), run(caveat)

    assert (refused.code, ran.code) == (2, 0)
    assert "batch-refused" in refused.err
    assert "--batch" in refused.err.partition("fix:")[2]


def test_a_key_that_is_missing_or_not_allowed_ends_the_run_before_a_request(caveat: Caveat, tmp_path: Path) -> None:
    """A variable that is not set, and an address that only the file names; the option of the error lets it go on."""
    with run_endpoint(ChatServer()) as server:
        write(tmp_path, server, ", key: LAB_KEY", tasks=2)
        missing = run(caveat)
        path = tmp_path / "small.yaml"
        text = path.read_text(encoding="utf-8").replace(", key: LAB_KEY", "")
        # Port 9 of an address for documentation (RFC 5737), which no machine has.
        path.write_text(text.replace(f"{server.url}/v1", "http://192.0.2.1:9/v1"), encoding="utf-8")
        stranger = run(caveat)

    assert (missing.code, stranger.code) == (3, 2)
    assert "LAB_KEY" in missing.err
    assert "error[key-not-allowed]" in stranger.err
    assert "--send-key-to 192.0.2.1:9" in stranger.err
    assert server.asked == []


def test_a_dry_run_reports_a_key_that_is_not_allowed_with_all_other_faults(caveat: Caveat, tmp_path: Path) -> None:
    """A stranger's address, a context without a file and a budget without a price: three faults of one answer."""
    with run_endpoint(ChatServer()) as server:
        write(tmp_path, server, tasks=2)
        path = tmp_path / "small.yaml"
        text = path.read_text(encoding="utf-8").replace(f"{server.url}/v1", "http://192.0.2.1:9/v1")
        path.write_text(text, encoding="utf-8")
        alone = run(caveat, "--dry-run", "--json")
        allowed = run(caveat, "--dry-run", "--send-key-to", "192.0.2.1:9")
        broken = text.replace("context: test.yaml", "context: missing.yaml")
        assert broken != text, text
        path.write_text(broken + "\nbudget: {usd: 5}\n", encoding="utf-8")
        together = run(caveat, "--dry-run")

    assert (alone.code, allowed.code, together.code) == (2, 0, 2), allowed.err
    assert "error[key-not-allowed]" in together.err
    assert "error[price-missing]" in together.err
    assert "missing.yaml" in together.err
    assert server.asked == []


def test_a_key_in_the_other_api_s_header_is_refused_with_the_api_to_set(caveat: Caveat, tmp_path: Path) -> None:
    """A server that wants a key refuses the Messages API's header; the form of its error shows what it speaks."""
    with run_endpoint(ChatServer(key="sk-another-key-0123456789")) as server:
        write_replay(tmp_path, tasks=2, model=CHAT_MODEL)
        ran = caveat("audit", "run", "small.yaml", server=server)

    assert ran.code == 3
    assert "error[api-key-refused]" in ran.err
    assert "if the server speaks it, set `api: openai-chat`" in " ".join(ran.err.split())
    assert KEY not in ran.out + ran.err


JUDGE = """\
scoring:
  kind: judge
  model: judge-1
  rubric: Is it right?
  dimensions: [{name: right, question: Is it right?, low: 0, high: 1}]
"""


def test_a_judge_at_the_replay_s_address_speaks_its_api(caveat: Caveat, tmp_path: Path) -> None:
    """The schema goes as response_format, and the verdicts are read as those of the other API."""

    def script(asked: Asked) -> Outcome:
        is_judge = asked.body["model"] == "judge-1"
        return Completion(text=json.dumps({"explanation": "It is.", "ratings": {"right": 1}}) if is_judge else "4")

    with run_endpoint(ChatServer(script=script, models=(CHAT_MODEL, "judge-1"))) as server:
        write(tmp_path, server, tasks=2, more=JUDGE)
        ran = run(caveat)
        scored = caveat("audit", "score", "small.run", "--json", key=None)
        forms = [asked.body["response_format"]["type"] for asked in server.posts() if asked.body["model"] == "judge-1"]

    assert (ran.code, scored.code) == (0, 0), ran.err + scored.err
    assert set(forms) == {"json_schema"}
    assert [side["mean"] for side in scored.document["sides"]] == [1.0, 1.0]
