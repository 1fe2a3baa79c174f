"""What serves a local model is kept with the recording, and another server behind the same name is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from audit.replay.replay_provenance import build_provenance
from audit.replay.run_store import open_store
from tests.endpoint.server import MODEL, Endpoint, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

RUN = ("audit", "run", "small.yaml", "--served-by", "server.json")


def write_facts(folder: Path, **others: Any) -> None:
    """Write what tools/localmodel.py writes of its server into *folder*."""
    facts = {
        "base_url": None,
        "model": MODEL,
        "weights": "small.gguf",
        "weights_sha256": "b1" * 32,
        "server": "llama.cpp in xllamacpp 1.2, build b7000",
        "chat_template_sha256": "c2" * 32,
        "threads": 2,
        "slots": 4,
        "context_tokens_per_slot": 2048,
        "sampling_defaults": {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.0, "seed": 4294967295},
    }
    (folder / "server.json").write_text(json.dumps({**facts, **others}), encoding="utf-8")


def test_what_serves_the_model_stands_in_the_provenance(caveat: Caveat, tmp_path: Path) -> None:
    """Weights, build, template, threads and slots beside the address; the server's defaults beside each parameter left to it."""
    write_replay(tmp_path, tasks=2)
    path = tmp_path / "small.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("max_tokens: 40}", "max_tokens: 40, temperature: 0.5}"), encoding="utf-8")
    with run_endpoint() as server:
        write_facts(tmp_path, base_url=f"{server.url}/")
        ran = caveat(*RUN, "--concurrency", "2", server=server)
        again = caveat(*RUN, server=server)
    store = open_store(tmp_path / "small.run")
    found = build_provenance(store)
    store.close()

    assert (ran.code, again.code) == (0, 0), ran.err
    assert found.endpoint == (
        f"{server.url} (API version 2023-06-01; llama.cpp in xllamacpp 1.2, build b7000; weights small.gguf SHA-256 {'b1' * 32}; "
        f"chat template SHA-256 {'c2' * 32}; 2 threads, 4 slots, 2048 context tokens a slot)"
    )
    assert found.sampling is not None
    assert "temperature 0.5 (set), top_p default (0.95), top_k default (40)" in found.sampling


@pytest.mark.parametrize(("name", "value"), [("weights_sha256", "d3" * 32), ("server", "another"), ("threads", 3)])
def test_another_server_behind_the_same_name_is_another_replay(caveat: Caveat, tmp_path: Path, name: str, value: object) -> None:
    """The name that answers does not change; what is behind it did, and nothing more is asked."""
    write_replay(tmp_path, tasks=2)
    write_facts(tmp_path)
    with run_endpoint() as server:
        caveat(*RUN, server=server)
        write_replay(tmp_path, tasks=2, samples=2)
        write_facts(tmp_path, **{name: value})
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert "run-differs" in ran.err
    assert f"served by {name}" in ran.err
    assert len(server.posts()) == 8


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"model": "another"}, "server.json, model"),
        ({"base_url": "http://127.0.0.1:1"}, "server.json, base_url"),
        ({"server": None}, "server"),
        ({"threds": 2}, "threds"),
        ({"slots": "four"}, "slots"),
    ],
)
def test_the_file_of_another_server_is_refused(caveat: Caveat, tmp_path: Path, others: dict[str, Any], said: str) -> None:
    """So are keys that no one knows and values that cannot be."""
    write_replay(tmp_path, tasks=2)
    write_facts(tmp_path, **others)
    with run_endpoint(Endpoint()) as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert said in ran.err
    assert server.posts() == []
