"""A run folder when the disk is full, when it is no folder of ours, and when the replay's file changes between two runs."""

import resource
from itertools import islice
from pathlib import Path

from audit.replay.run_store import open_store
from tests.endpoint.server import KEY, MODEL, Refusal, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import start, write_replay

RUN = ("audit", "run", "small.yaml")


def limit_files() -> None:
    """Let no file grow beyond 400 KB, as on a full disk; `ulimit -f` does the same."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))


def test_a_full_disk_ends_the_run_and_loses_nothing_that_was_told(tmp_path: Path, caveat: Caveat) -> None:
    """Exit 3 with what to do; with room again the same command makes the rest, and only what was in flight is asked once more."""
    write_replay(tmp_path, tasks=60)
    with run_endpoint() as server:
        full = start(server, tmp_path, "--concurrency", "8", prepare=limit_files)
        err = full.communicate(timeout=120)[1]
        made = len(server.posts())
        rest = caveat(*RUN, "--json", server=server).document
        lost = rest["lost"]

    assert full.returncode == 3, err
    assert "file-not-accessible" in err
    assert "free space" in err
    assert 0 < made < 240
    assert rest["settled_before"] + rest["answered"] == 240
    assert lost <= 8
    assert max(asked.number for asked in server.posts()) == 0


def test_a_folder_that_cannot_be_opened_is_told_as_that(tmp_path: Path, caveat: Caveat) -> None:
    """Not as a damaged database, which is another thing; and a file in the folder's place is refused."""
    write_replay(tmp_path, tasks=2)
    (tmp_path / "a.run" / "responses.db").mkdir(parents=True)
    (tmp_path / "b.run").mkdir()
    (tmp_path / "b.run" / "responses.db").write_bytes(b"this is no database, and long enough to be looked at" * 50)
    with run_endpoint() as server:
        cannot = caveat(*RUN, "-o", "a.run", server=server)
        damaged = caveat(*RUN, "-o", "b.run", server=server)

    assert (cannot.code, damaged.code) == (3, 2)
    assert "file-not-accessible" in cannot.err
    assert "run-not-readable" in damaged.err
    assert server.asked == []


def test_a_context_that_was_edited_is_refused_by_name(tmp_path: Path, caveat: Caveat) -> None:
    """A cell keeps the request that it was planned with: which task, arm and context differ is told, and nothing is sent."""
    write_replay(tmp_path, tasks=2)
    with run_endpoint() as server:
        caveat(*RUN, server=server)
        context = tmp_path / "deploy.yaml"
        context.write_text(context.read_text(encoding="utf-8").replace("deploy two", "deploy two, then"), encoding="utf-8")
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert "arm deploy, context deploy-2" in ran.err
    assert len(server.posts()) == 8


def test_what_the_file_no_longer_asks_for_is_not_asked(tmp_path: Path, caveat: Caveat) -> None:
    """Samples lowered after a run that was cut short: the dry run and the run agree, and what stays open is told."""
    write_replay(tmp_path, tasks=2, samples=3, more="budget: {calls: 5}")
    with run_endpoint() as server:
        caveat(*RUN, server=server)
        write_replay(tmp_path, tasks=2, samples=1)
        ahead = caveat(*RUN, "--dry-run", "--json", server=server).document
        ran = caveat(*RUN, server=server)

    assert len(server.posts()) == 5 + ahead["calls"]
    assert ran.code == 0
    assert f"{24 - len(server.posts())} open responses are of an earlier version" in ran.out


def test_failed_calls_are_sent_again_only_on_request(tmp_path: Path, caveat: Caveat) -> None:
    """Running again leaves them, --retry-failed sends just them, and the failure stays on record behind the answer."""
    write_replay(tmp_path, tasks=2)
    with run_endpoint() as server:
        server.script = lambda asked: Refusal(status=400, message="no") if "test one" in asked.body["system"] else Reply()
        caveat(*RUN, server=server)
        server.script = lambda _asked: Reply()
        plain = caveat(*RUN, "--json", server=server).document
        retried = caveat(*RUN, "--json", "--retry-failed", server=server).document

    assert (plain["requests"], plain["arms"][1]["failures"]) == (0, {"not-accepted": 2})
    assert (retried["requests"], retried["answered"], retried["arms"][1]["failures"]) == (2, 2, {})
    assert len(server.posts()) == 10


def test_what_sends_a_failed_call_again_is_told_by_its_reason(tmp_path: Path, caveat: Caveat) -> None:
    """A call that was lost in flight is not sent by --retry-failed, so that option is not what is advised."""
    write_replay(tmp_path, tasks=2)
    with run_endpoint() as server:
        caveat(*RUN, server=server)
        store = open_store(tmp_path / "small.run")
        store.intend(list(islice(store.list_calls(), 1)), at="2026-11-21T12:00:00+00:00")
        store.close()
        ran = caveat(*RUN, server=server)
        ahead = caveat(*RUN, "--dry-run", "--retry-failed", server=server)
        again = caveat(*RUN, "--repeat-lost", server=server)

    assert "failed: 1 lost-in-flight; --repeat-lost sends them again" in ran.out
    assert "1 calls were in flight when an earlier run ended; --repeat-lost sends them again" in ahead.out
    assert "0 calls to make" in ahead.out
    assert "lost-in-flight" not in again.out


def test_an_alias_is_refused_before_anything_is_paid(tmp_path: Path, caveat: Caveat) -> None:
    """`-latest` may come to mean another version."""
    write_replay(tmp_path, tasks=2, model="claude-test-latest")
    with run_endpoint() as server:
        server.models = (MODEL, "claude-test-latest")
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert "model-alias" in ran.err
    assert server.posts() == []


def test_a_login_in_the_address_reaches_neither_folder_nor_screen(tmp_path: Path, caveat: Caveat) -> None:
    """Also in the addresses of a judge and a probe; a dry run refuses it too."""
    path = write_replay(tmp_path, tasks=2, more="probe: {model: p, base_url: 'https://me:hunter2@example.org'}")
    text = path.read_text(encoding="utf-8")
    codes = []
    for words in ((), ("--dry-run",)):
        ran = caveat(*RUN, *words)
        codes.append((ran.code, "bad-endpoint" in ran.err, "hunter2" in ran.out + ran.err))
    path.write_text(text.replace("max_tokens: 40}", "max_tokens: 40, base_url: 'https://hunter2@example.org'}"), encoding="utf-8")
    ran = caveat(*RUN)

    assert codes == [(2, True, False)] * 2
    assert (ran.code, "hunter2" in ran.out + ran.err) == (2, False)
    assert not (tmp_path / "small.run").exists()


def test_the_command_that_goes_on_says_what_was_asked_for(tmp_path: Path, caveat: Caveat) -> None:
    """Options that are not as usual are in it, and the key is in no file of the folder."""
    write_replay(tmp_path, tasks=4, more="budget: {calls: 5}")
    with run_endpoint() as server:
        ran = caveat(*RUN, "--concurrency", "3", "--time-out", "30", server=server)
    written = b"".join(one.read_bytes() for one in (tmp_path / "small.run").iterdir())

    assert "To go on: caveat audit run small.yaml -o small.run --concurrency 3 --time-out 30" in " ".join(ran.out.split())
    assert KEY.encode() not in written
