"""`caveat audit run` from the outside: what it prints, and how it ends."""

import sqlite3
from pathlib import Path

import pytest

from audit.replay.replay_provenance import build_provenance, digest_transcripts
from audit.replay.run_store import open_store
from tests.endpoint.server import KEY, Endpoint, Refusal, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

RUN = ("audit", "run", "small.yaml")
PRICES = "schema: caveat/prices/1\nprices:\n  claude-test-1-20261101: {input: 3, output: 15}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small replay of 40 calls."""
    write_replay(tmp_path)
    return tmp_path


def test_a_dry_run_sends_nothing_and_needs_no_key(folder: Path, caveat: Caveat) -> None:
    """Calls, tokens and cost by the price table; 40 calls of at most 40 tokens at 15 dollars a million are 0.024 dollars of output."""
    (folder / "prices.yaml").write_text(PRICES, encoding="utf-8")
    with run_endpoint() as server:
        ran = caveat(*RUN, "--dry-run", "--json", "--prices", "prices.yaml", key=None, server=server)
        document = ran.document

    (model,) = document["models"]
    assert ran.code == 0
    assert server.asked == []
    assert not (folder / "small.run").exists()
    assert (document["planned"], model["calls"], model["output_tokens"]) == (40, 40, 1600)
    assert 0.024 < model["usd"] < 0.03


def test_a_run_tells_each_arm_and_what_to_do_next(folder: Path, caveat: Caveat) -> None:
    """The table, the cost as unknown without a price, and the provenance of what came."""
    refusing = Endpoint(script=lambda asked: Reply(stop_reason="refusal", text=None) if "deploy two" in asked.body["system"] else Reply())
    with run_endpoint(refusing) as server:
        ran = caveat(*RUN, server=server)
    store = open_store(folder / "small.run")
    found = build_provenance(store)
    store.close()

    assert ran.code == 0, ran.err
    assert "exploratory" in ran.err
    assert [line.split()[:4] for line in ran.out.splitlines() if line.startswith(("test ", "deploy "))] == [
        ["deploy", "20", "20", "10"],
        ["test", "20", "20", "0"],
    ]
    assert "cost unknown" in ran.out
    assert "Next: caveat audit score small.run" in ran.out
    assert (found.model_requested, found.model_returned) == ("claude-test-1-20261101", "claude-test-1-20261101")
    assert found.endpoint == f"{server.url} (API version 2026-10-21)"
    assert found.sampling is not None
    assert "temperature not settable" in found.sampling
    assert found.budget_spent == "40 calls, 400 input tokens, 200 output tokens"
    assert found.tools == "no tools"


def test_the_digest_of_transcripts_is_that_of_the_stored_outcomes(folder: Path, caveat: Caveat) -> None:
    """SHA-256 over the documents ordered by key, worked out from the database itself."""
    import hashlib

    with run_endpoint() as server:
        caveat(*RUN, server=server)
    with sqlite3.connect(folder / "small.run" / "responses.db") as database:
        rows = database.execute("SELECT document FROM outcome ORDER BY key").fetchall()
    database.close()
    store = open_store(folder / "small.run")
    told = digest_transcripts(store)
    store.close()

    assert told == hashlib.sha256(b"".join(row[0].encode() + b"\n" for row in rows)).hexdigest()


def test_more_samples_in_the_file_are_only_the_new_calls(folder: Path, caveat: Caveat) -> None:
    """The same folder takes the replay with samples raised; another model is another replay."""
    with run_endpoint() as server:
        caveat(*RUN, server=server)
        write_replay(folder, samples=2)
        document = caveat(*RUN, "--json", server=server).document
        write_replay(folder, samples=2, model="claude-other-1")
        other = caveat(*RUN, server=server)

    assert (document["settled_before"], document["answered"]) == (40, 40)
    assert len(server.posts()) == 80
    assert other.code == 2
    assert "run-differs" in other.err


@pytest.mark.parametrize(
    ("key", "code"),
    [(None, "api-key-missing"), ("sk-wrong-000", "api-key-refused")],
)
def test_without_the_right_key_it_ends_with_3(folder: Path, caveat: Caveat, key: str | None, code: str) -> None:
    """And the key is printed nowhere."""
    with run_endpoint() as server:
        ran = caveat(*RUN, key=key, server=server)

    assert ran.code == 3
    assert code in ran.err
    assert "sk-wrong-000" not in ran.out + ran.err
    assert server.posts() == []


def test_a_spent_budget_ends_with_1_and_says_how_to_go_on(folder: Path, caveat: Caveat) -> None:
    """The answer to "is it complete" is no."""
    write_replay(folder, more="budget: {calls: 15}")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)
        received = len(server.posts())

    assert (ran.code, received) == (1, 15)
    assert "error[budget-spent]" in ran.err
    assert "  --> budget.calls" in ran.err
    assert "To go on: caveat audit run small.yaml" in ran.out


def test_dollars_without_a_price_are_refused_before_anything_is_sent(folder: Path, caveat: Caveat) -> None:
    """A cost that is not known cannot be kept within a budget."""
    write_replay(folder, more="budget: {usd: 1}")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert "price-missing" in ran.err
    assert server.asked == []


def test_an_audit_without_a_registry_is_refused_before_anything_is_sent(folder: Path, caveat: Caveat) -> None:
    """A lock that cannot be read precedes nothing."""
    write_replay(folder, more="audit: AUD-EXAMPLE-2026-0001-1")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 3
    assert "registry-not-found" in ran.err
    assert server.asked == []


def test_failed_calls_are_told_by_reason(folder: Path, caveat: Caveat) -> None:
    """They are rows, not a failed run."""
    script = Endpoint(script=lambda asked: Refusal(status=400, message="too long") if "What is 3 and" in str(asked.body) else Reply())
    with run_endpoint(script) as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 0
    assert "failed: 4 not-accepted; --retry-failed sends them again" in ran.out
    assert KEY not in ran.out
