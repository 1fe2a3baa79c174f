"""Bad input and failures of a fleet: each is named, nothing is lost, and the rest goes on."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from audit.replay.call_engine import read_clock
from audit.replay.replay_file import read_replay
from audit.replay.replay_provenance import CONTEXTS
from audit.replay.run_store import get_tasks, open_store, put_version
from audit.score.run_evidence import read_run
from audit.score.scorers import score_run
from fleet.database import FleetDatabase, create_schema, describe_address, hold_name, parse_address
from fleet.queue.job_queue import Job
from fleet.runs.fleet_overview import list_runs, list_workers
from fleet.runs.leases import renew_leases, settle_expired
from fleet.runs.run_plan import check_server, write_folder
from fleet.runs.run_states import read_event
from fleet.runs.slice_store import SpillFile
from registry.codec.canonical_documents import to_document
from registry.errors import AlteredError, CaveatError, ConflictError, InputError, NotFoundError, UnavailableError
from registry.records.replay_run import Budget
from registry.records.specification import PatternScorer
from tests.endpoint.server import KEY, Asked, Endpoint, Refusal, Reply, run_endpoint
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_processes import QUICK
from tests.fleet.fleet_runs import (
    begin_session,
    describe_outcome,
    list_environ,
    list_keys,
    make_place,
    prepare_run,
    send,
    settle,
    take,
    work_on,
    write_outcome,
)
from tests.fleet.piece_workers import working
from tests.postgres import create_database
from tests.replay.conftest import Caveat
from tests.replay.conftest import caveat as caveat  # noqa: PLC0414 (a fixture of another folder)
from tests.replay.replay_files import press_when_submitted, write_replay

CALLS = 8


@pytest.fixture
def server() -> Iterator[Endpoint]:
    """A running endpoint."""
    with run_endpoint() as endpoint:
        yield endpoint


def read_messages(database: FleetDatabase) -> str:
    """Return what the workers say."""
    return " ".join(worker.message or "" for worker in list_workers(database, 30))


def test_a_worker_makes_the_calls_of_its_slice(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """Each once, and the run can be fetched as a run folder with every answer."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server)
    work_on(make_place(url, tmp_path, list_environ(server)), run, 0, 0, 7)
    count = write_folder(database, run, tmp_path / "fetched")
    store = open_store(tmp_path / "fetched")
    answered = [store.find_response(key) for _, key in store.list_cells()]
    store.close()

    assert (len(server.posts()), count, len(answered)) == (CALLS, CALLS, CALLS)
    assert all(response is not None and response.text == "ok" for response in answered)
    assert database.call("SELECT job FROM fleet.ignored") == f"replay:{run}:7"
    database.close()


def test_a_worker_without_the_key_takes_no_slice_and_is_named(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """The slice is free for the next worker, and nothing was sent."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server)
    work_on(make_place(url, tmp_path, list_environ(server, key=None)), run, 0)
    message = read_messages(database)

    assert "api-key-missing" in message
    assert server.posts() == []
    assert take(database, run).epoch == 2
    database.close()


def test_a_worker_of_another_version_or_address_takes_no_slice(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """It is told `worker-differs`, and its key goes nowhere else."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server, version="0.0.1")
    work_on(make_place(url, tmp_path, list_environ(server)), run, 0)
    version = read_messages(database)
    begin_session(database, run, tmp_path, None)
    work_on(make_place(url, tmp_path, list_environ(server)), run, 0)

    assert "worker-differs" in version
    assert "worker-differs: would ask" in read_messages(database)
    assert server.posts() == []
    database.close()


def test_another_model_stops_the_run_for_all(new_fleet: NewFleet, tmp_path: Path) -> None:
    """The answer that shows it is kept, and no worker sends more."""
    url = new_fleet()
    with run_endpoint(Endpoint(script=lambda _asked: Reply(model="another-model"))) as server:
        database, run = prepare_run(url, tmp_path, server, concurrency=1)
        work_on(make_place(url, tmp_path, list_environ(server)), run, 0)
        event = read_event(database, run)
        work_on(make_place(url, tmp_path, list_environ(server), name="two"), run, 0)

    assert event is not None
    assert event.state == "stopped"
    assert event.error is not None
    assert event.error.code == "model-changed"
    assert 1 <= len(server.posts()) < CALLS
    assert list_runs(database)[0].answered == len(server.posts())
    database.close()


def test_a_spent_budget_stops_the_run(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """Three calls are allowed, three are sent, and the run says why it stopped."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server, budget=Budget(calls=3))
    work_on(make_place(url, tmp_path, list_environ(server)), run, 0)
    event = read_event(database, run)

    assert len(server.posts()) == 3
    assert event is not None
    assert event.error is not None
    assert event.error.code == "budget-spent"
    database.close()


def test_a_later_slice_does_not_end_a_run_for_want_of_budget(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """Its worker lets go of it: calls of an earlier one may fit, as they would on one machine, which makes them first."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server, tasks=10, budget=Budget(calls=3))
    place = make_place(url, tmp_path, list_environ(server))
    work_on(place, run, 1)
    between = (read_event(database, run), len(server.posts()))
    work_on(place, run, 0)
    after = (read_event(database, run), len(server.posts()))

    assert (between[0].state if between[0] else None, between[1]) == ("running", 3)
    assert (after[0].error.code if after[0] and after[0].error else None, after[1]) == ("budget-spent", 3)
    database.close()


def test_a_refusal_for_too_many_requests_pauses_all_workers(new_fleet: NewFleet, tmp_path: Path) -> None:
    """The row of the endpoint has the pause, and every call is answered after it."""

    def refuse_first(asked: Asked) -> Reply | Refusal:
        return Refusal(status=429, headers={"retry-after": "1"}) if len(server.posts()) == 1 else Reply()

    url = new_fleet()
    with run_endpoint(Endpoint(script=refuse_first)) as server:
        database, run = prepare_run(url, tmp_path, server, concurrency=1)
        work_on(make_place(url, tmp_path, list_environ(server)), run, 0)

    assert database.call("SELECT paused_until > '-infinity' FROM fleet.quota") is True
    assert list_runs(database)[0].answered == CALLS
    database.close()


def test_answers_survive_a_database_that_is_away(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """They are on the disk of the worker, a living worker's file is no one else's, and delivered twice they count once."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server)
    lease, key = take(database, run), list_keys(database, run)[0]
    send(database, lease, key)
    spill = SpillFile(tmp_path / "spill" / "one.jsonl")
    outcome = {
        "key": key, "round": 1, "failure": None, "requested": "m", "returned": "m", "document": "{}", "calls": 1, "input_tokens": 1,
        "output_tokens": 1, "usd": 0.0,
    }  # fmt: skip
    spill.add(run, "one", [outcome, outcome])
    other = SpillFile(tmp_path / "spill" / "one.jsonl")
    with pytest.raises(ConflictError):
        other.deliver(database)
    with (tmp_path / "spill" / "one.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"run": "cut off')
    counts = [spill.deliver(database), spill.deliver(database)]
    spill.close()

    assert counts == [2, 0]
    assert database.call("SELECT count(*) FROM fleet.outcome") == 1
    assert not (tmp_path / "spill" / "one.jsonl").exists()
    database.close()


def test_a_wrong_clock_of_a_worker_has_no_effect(new_fleet: NewFleet, tmp_path: Path, server: Endpoint) -> None:
    """Leases use the time of the database: a worker far in the future neither takes what is held nor loses what it has."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server)
    lease = take(database, run)
    place = make_place(url, tmp_path, list_environ(server), name="future")
    place.clock = lambda: read_clock().replace(year=2099)
    work_on(place, run, 0)
    renew_leases(database, "one", [lease])

    assert server.posts() == []
    assert not lease.guard.is_lost
    database.close()


def test_a_second_coordinator_is_refused(new_fleet: NewFleet) -> None:
    """Only one connection holds the name of a run, and takes it again without harm."""
    url = new_fleet()
    first, second = FleetDatabase(url), FleetDatabase(url)
    with hold_name(first, "run") as take_again:
        with pytest.raises(ConflictError) as busy, hold_name(second, "run"):
            pass
        assert take_again()
    second.close()

    assert busy.value.code == "run-busy"


def test_a_moved_database_stops_a_run(new_fleet: NewFleet, tmp_path: Path) -> None:
    """Another system identifier or timeline than the run was begun on: rows that say what was sent may be missing."""
    database, run = prepare_run(new_fleet(), tmp_path)
    database.fetch("INSERT INTO fleet.runs (run, document, system, timeline) VALUES ('elsewhere', '{}', '123', 7)")

    assert check_server(database, run).timeline == 1
    with pytest.raises(ConflictError) as moved:
        check_server(database, "elsewhere")
    assert moved.value.code == "database-moved"
    database.close()


def test_a_server_that_may_lose_rows_is_refused(postgresql_server: str) -> None:
    """The test server of the other folders runs with fsync = off; nothing is created there."""
    url = create_database(postgresql_server)
    with pytest.raises(UnavailableError) as refused:
        create_schema(url, engine="procrastinate", unsent=["interrupted"], lease_s=30)

    assert refused.value.code == "fleet-not-durable"
    database = FleetDatabase(url)
    assert database.read_version() is None
    database.close()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A server that may lose what is committed."""
    from tests.postgres import run_server

    with run_server() as server:
        yield server


def test_a_schema_of_another_version_is_refused(new_fleet: NewFleet, durable_server: str) -> None:
    """So is a database without one; both messages say what to do."""
    url = new_fleet()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE fleet.meta SET value = '99' WHERE name = 'version'")
    codes = []
    for address in (url, create_database(durable_server)):
        with pytest.raises(ConflictError) as refused:
            FleetDatabase.open(address)
        codes.append((refused.value.code, refused.value.faults[0].advice is not None))

    assert codes == [("fleet-not-initialised", True)] * 2


def test_a_role_with_too_few_rights_is_refused(new_fleet: NewFleet) -> None:
    """Before anything is sent, with the commands that give the rights."""
    url = new_fleet()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS poor")
        connection.execute("CREATE ROLE poor LOGIN")
    with pytest.raises(UnavailableError) as refused:
        FleetDatabase.open(url.replace("caveat@", "poor@"))

    assert refused.value.code == "fleet-rights"
    assert "GRANT USAGE" in (refused.value.faults[0].advice or "")


@pytest.mark.parametrize("url", ["sqlite:///caveat.db", "http://db.example.org/fleet", "nothing", "postgresql://u@h/d?no_such=1"])
def test_what_is_no_address_of_a_fleet_is_refused(url: str) -> None:
    """A fleet is a PostgreSQL database."""
    with pytest.raises(InputError) as refused:
        parse_address(url)

    assert refused.value.code == "fleet-url"


def test_a_run_with_an_open_batch_does_not_go_to_a_fleet(new_fleet: NewFleet, tmp_path: Path, caveat: Caveat) -> None:
    """Its answers could never be collected. Once the batch is cancelled, workers make the calls."""
    write_replay(tmp_path, tasks=2)
    url = new_fleet(lease_s=30)
    with run_endpoint(Endpoint(batch_polls=10**9)) as server:
        pressing = press_when_submitted(server)
        caveat("audit", "run", "small.yaml", "--batch", server=server)
        pressing.join()
        refused = caveat("audit", "run", "small.yaml", "--fleet", url, server=server)
        cancelled = caveat("audit", "run", "small.yaml", "--cancel-batches", server=server)
        with working(url, tmp_path, 1, kinds=("replay",), patience=QUICK):
            ran = caveat("audit", "run", "small.yaml", "--fleet", url, "--retry-failed", "--json", server=server)
    database = FleetDatabase(url)
    calls = database.call("SELECT count(*) FROM fleet.call")
    database.close()

    assert "error[batch-open]" in refused.err
    assert "8 calls of it wait in a batch" in " ".join(refused.err.split())
    assert (refused.code, cancelled.code, ran.code) == (2, 0, 0), ran.err
    assert (len(server.posts()), calls) == (8, 8)


def test_a_password_on_the_command_line_is_refused_and_never_shown() -> None:
    """From the environment it is taken; in messages it is left out."""
    url = "postgresql://fleet:secret@db.example.org/fleet"
    with pytest.raises(InputError) as refused:
        parse_address(url, is_typed=True)

    assert "secret" not in str(refused.value)
    assert parse_address(url) == url
    assert describe_address(url) == "postgresql://fleet@db.example.org/fleet"


def test_a_database_that_is_away_is_named(tmp_path: Path) -> None:
    """With its address, without a traceback."""
    with pytest.raises(UnavailableError) as refused:
        FleetDatabase.open(f"postgresql://fleet@/fleet?host={tmp_path}")

    assert refused.value.code == "fleet-database-away"


def test_a_run_of_a_fleet_is_not_continued_on_one_machine(new_fleet: NewFleet, tmp_path: Path, caveat: Caveat, server: Endpoint) -> None:
    """Its calls could be paid twice. Options that exclude each other are refused too."""
    prepare_run(new_fleet(), tmp_path)[0].close()
    alone = caveat("audit", "run", "small.yaml", "-o", "small.run", server=server)
    batch = caveat("audit", "run", "small.yaml", "--fleet", "postgresql://u@h/d", "--batch", server=server)
    rate = caveat("audit", "run", "small.yaml", "-o", "other.run", "--rate", "5", server=server)

    assert (alone.code, batch.code, rate.code) == (2, 2, 2)
    assert "error[run-on-fleet]" in alone.err
    assert "error[bad-option]" in batch.err
    assert "error[bad-option]" in rate.err
    assert server.posts() == []


def test_the_commands_show_pause_resume_drain_and_fetch(new_fleet: NewFleet, tmp_path: Path, caveat: Caveat, server: Endpoint) -> None:
    """Each answers people and programs; an unknown run or worker is named with what there is."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path, server)
    lease, keys = take(database, run), list_keys(database, run)
    make_place(url, tmp_path, {})
    send(database, lease, *keys[:3])
    settle(database, run, keys[0])
    settle(database, run, keys[1], "time-out")
    shown = caveat("fleet", "show", "--fleet", url)
    document = caveat("fleet", "show", run, "--fleet", url, "--json").document
    states = [caveat("fleet", word, run, "--fleet", url).out for word in ("pause", "pause", "resume")]
    drained = caveat("fleet", "drain", "--fleet", url, "--json").document
    fetched = caveat("fleet", "fetch", run, "-o", "copy.run", "--fleet", url, "--json").document
    unknown = [
        caveat("fleet", "show", "nothing", "--fleet", url), caveat("fleet", "pause", "nothing", "--fleet", url),
        caveat("fleet", "fetch", "nothing", "-o", "x.run", "--fleet", url), caveat("fleet", "drain", "--worker", "x", "--fleet", url),
        caveat("fleet", "show"), caveat("fleet", "init", url, "--json"),
    ]  # fmt: skip

    assert f"{run}: running" in shown.out
    assert "1 of 8 answered, 1 under way" in shown.out
    assert (document["runs"][0]["failures"], document["runs"][0]["slices_held"]) == ({"time-out": 1}, 1)
    assert document["runs"][0]["spent"]["calls"] == 2
    assert [text.strip() for text in states] == [f"{run} is paused.", f"{run} is paused.", f"{run} is running."]
    assert (drained["workers"], fetched["new_outcomes"]) == (["one"], 2)
    assert [ran.code for ran in unknown] == [2, 2, 2, 2, 2, 0]
    assert unknown[-1].document["new"] is False
    database.close()


@pytest.mark.parametrize("part", ["key", "request"])
def test_a_response_in_the_row_of_another_call_is_not_fetched(new_fleet: NewFleet, tmp_path: Path, part: str) -> None:
    """A worker, or whoever edits rows, cannot make an answer count for another task, context or side."""
    database, run = prepare_run(new_fleet(), tmp_path)
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, *keys[:2])
    settle(database, run, keys[0])
    request = database.call("SELECT request FROM fleet.call WHERE run = %s AND key = %s", run, keys[1])
    own = describe_outcome(keys[1], request=request)
    other = describe_outcome(keys[0], request=request) if part == "key" else describe_outcome(keys[1], request="ab" * 32)
    write_outcome(database, run, own | {"document": other["document"]})

    with pytest.raises(AlteredError, match="is a response to"):
        write_folder(database, run, tmp_path / "copy.run")
    database.close()


def test_a_part_of_a_design_is_not_scored_as_the_whole(new_fleet: NewFleet, tmp_path: Path) -> None:
    """A folder that was fetched while the plan was being written has the replay without all of its cells, also with `unfinished`."""
    database, run = prepare_run(new_fleet(), tmp_path)
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, *keys)
    for key in keys:
        settle(database, run, key)
    folder = tmp_path / "copy.run"
    write_folder(database, run, folder)
    database.close()
    scorer = PatternScorer(kind="pattern", expected=("ok",))
    store = open_store(folder)
    file = read_replay(tmp_path / "small.yaml", None)
    put_version(store, CONTEXTS, {name: to_document(spec) for name, spec in file.contexts.items()})
    score_run(store, scorer, get_tasks(store))
    store.close()
    whole = read_run(folder, low=0, high=1, scorer=scorer).imported
    assert whole is not None

    with sqlite3.connect(folder / "responses.db") as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'cell'")]
        for name in names:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM cell WHERE id > 4")
    for unfinished in (False, True):
        with pytest.raises(ConflictError, match="4 cells that its replay plans are not in the folder"):
            read_run(folder, low=0, high=1, scorer=scorer, unfinished=unfinished)


def test_lost_calls_are_settled_when_no_worker_is_left(new_fleet: NewFleet, tmp_path: Path) -> None:
    """The coordinator gives the calls of dead workers their outcome, so that a stopped run has no call without one."""
    database, run = prepare_run(new_fleet(), tmp_path)
    lease, keys = take(database, run, lease_s=0.05), list_keys(database, run)
    send(database, lease, *keys[:2])
    database.fetch("SELECT pg_sleep(0.1)")

    assert settle_expired(database, run, read_clock()) == 1
    assert list_runs(database)[0].failures == {"lost-in-flight": len(keys[:2])} or list_runs(database)[0].under_way == 0
    database.close()


def test_errors_of_the_family_come_back_from_rows_alone(new_fleet: NewFleet, tmp_path: Path) -> None:
    """A row that names another class is read as an error of ours, and never as code."""
    database, run = prepare_run(new_fleet(), tmp_path)
    fault = '{"error": "os", "faults": [{"code": "model-changed", "where": "w", "found": "f", "advice": null}]}'
    database.fetch("INSERT INTO fleet.event (run, session, state, fault) VALUES (%s, 1, 'stopped', %s)", [run, fault])
    event = read_event(database, run)

    assert event is not None
    assert type(event.error) is CaveatError
    database.close()


def test_an_unknown_run_is_not_fetched(new_fleet: NewFleet, tmp_path: Path) -> None:
    """The message lists the runs that there are."""
    database = FleetDatabase(new_fleet())
    with pytest.raises(NotFoundError):
        write_folder(database, "nothing", tmp_path / "x.run")

    assert not (tmp_path / "x.run").exists()
    database.close()


def test_a_job_is_named_by_its_identifiers() -> None:
    """No prompt, key or score is in the queue."""
    assert Job(kind="replay", run="small-1", slice=3).name == "replay:small-1:3"
    assert KEY not in Job(kind="replay", run="small-1", slice=3).name
