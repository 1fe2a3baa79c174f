"""Pure work on a fleet: the bytes of one machine from any number of workers, and what happens to a piece that is not so pure."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from audit.errors import DesignError
from audit.modules.differential_estimate import EstimateRequest, estimate_here
from audit.replay.call_engine import read_clock
from audit.sources.score_table import read_table
from fleet.database import FleetDatabase, hold_name
from fleet.jobs.drawing import read_equipment as read_press
from fleet.jobs.drawing import render_on_fleet
from fleet.jobs.estimating import dump_request, estimate_on_fleet, list_equipment, load_request, read_equipment
from fleet.jobs.piece_run import PieceOrder, do_pieces
from fleet.jobs.piece_slices import PieceHandler
from fleet.pieces import DRAW, ESTIMATE, Equipment, Piece
from fleet.queue.job_queue import Job
from fleet.runs.fleet_overview import list_piece_runs, list_workers
from fleet.runs.leases import acquire_lease
from fleet.runs.piece_store import (
    PieceRun,
    add_pieces,
    begin_run,
    count_variants,
    end_run,
    keep_result,
    list_poisoned,
    list_results,
    read_pieces,
    refuse_contradictions,
)
from registry.errors import AlteredError, AnswerNoError, ConflictError
from registry.records.analysis_plan import Plan
from registry.records.statement import OutputFormat
from registry.records.supplement import Supplement
from registry.report.render_workers import RenderJob, render_many
from registry.report.supplement_assembly import assemble_claim
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_runs import make_place
from tests.fleet.piece_workers import working
from tests.replay.conftest import Caveat
from tests.replay.conftest import caveat as caveat  # noqa: PLC0414 (a fixture of another folder)
from tests.report.builders import MADE_AT
from tests.report.dossiers import degraded, inverted, unaudited
from tests.soaking import IS_SOAK

WORKERS = (1, 2, 4, *((8,) if IS_SOAK else ()))
TOOLS = Equipment(kind=ESTIMATE, versions={"numpy": "2"})


def write_tables(folder: Path, count: int) -> list[Path]:
    """Write score tables of a few tasks, each with other scores."""
    paths = []
    for number in range(count):
        rows = [
            f"t{task},{arm},{arm}-{context},{sample},{(task * 7 + context * 3 + sample + number * (arm == 'test')) % 5 % 2}"
            for task in range(6)
            for arm in ("test", "deploy")
            for context in range(3)
            for sample in range(2)
        ]
        paths.append(folder / f"table-{number}.csv")
        paths[-1].write_text("task_id,arm,context_id,sample,score\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return paths


def make_request(path: Path) -> EstimateRequest:
    """Return what is to be estimated from a table."""
    table = read_table([path], low=0.0, high=1.0)
    return EstimateRequest(
        label=path.name, table=table, plan=Plan(replicates=50), range=(0.0, 1.0), test="test", deploy="deploy", pointwise=True
    )


def begin(url: str, *inputs: bytes, slice_size: int = 10, equipment: Equipment = TOOLS) -> tuple[FleetDatabase, PieceRun]:
    """Begin a run with pieces of these inputs."""
    database = FleetDatabase.open(url)
    piece_run = PieceRun(run="estimate-1", equipment=equipment, settings={})
    begin_run(database, piece_run)
    pieces = [Piece(label=f"piece {number}", inputs=data) for number, data in enumerate(inputs)]
    add_pieces(database, piece_run, pieces, first=0, slice_size=slice_size)
    return database, piece_run


def die(database: FleetDatabase, number: int, *, worker: str) -> bool:
    """Let a worker take a slice and die of it; return whether it could take it."""
    lease = acquire_lease(database, "estimate-1", number, worker=worker, lease_s=30, now=read_clock())
    database.fetch("UPDATE fleet.worker SET message = 'estimate piece 0' WHERE worker = %s", [worker])
    database.fetch("UPDATE fleet.lease SET until = '-infinity' WHERE NOT is_released")
    return lease is not None


@pytest.fixture(scope="module")
def jobs() -> list[RenderJob]:
    """Supplements in all formats."""
    dossiers = {"unaudited": unaudited, **({"inverted": inverted, "degraded": degraded} if IS_SOAK else {})}
    supplements: Mapping[str, Supplement] = {name: assemble_claim(build(), made_at=MADE_AT) for name, build in dossiers.items()}
    made = [
        RenderJob(key=f"{name}.{kind.value}", supplement=supplement, format=kind, neighbours=(OutputFormat.PDF,), is_apart=True)
        for name, supplement in supplements.items()
        for kind in OutputFormat
    ]
    return [*made, RenderJob(key="html-alone", supplement=supplements["unaudited"], format=OutputFormat.HTML)]


def test_a_fleet_of_any_size_draws_the_bytes_of_one_machine(new_fleet: NewFleet, tmp_path: Path, jobs: list[RenderJob]) -> None:
    """PDF, HTML and JSON of 0, 1, 2 and 4 workers (8 in `make soak`)."""
    here = {made.key: made.data for made in render_many(jobs, workers=2, time_limit_s=60)}
    results = {}
    for count in WORKERS:
        url = new_fleet(lease_s=30)
        with working(url, tmp_path, count, kinds=(DRAW,)):
            results[count] = {made.key: made.data for made in render_on_fleet(url, iter(jobs), time_limit_s=60, tell=print)}

    assert None not in here.values()
    assert [{key for key in here if result.get(key) != here[key]} for result in results.values()] == [set()] * len(WORKERS)


def test_a_fleet_of_any_size_estimates_as_one_machine(new_fleet: NewFleet, tmp_path: Path) -> None:
    """Every field of every estimate, in any order; a table that has no estimate has the error that it has here."""
    requests = [make_request(path) for path in write_tables(tmp_path, 6)]
    requests[2] = replace(requests[2], deploy="nowhere")
    here = {outcome.position: outcome for outcome in estimate_here(requests)}
    url = new_fleet(lease_s=30)
    for count in WORKERS:
        with working(url, tmp_path, count, kinds=(ESTIMATE,)):
            there = {outcome.position: outcome for outcome in estimate_on_fleet(url, requests, tell=print)}

        assert there.keys() == here.keys()
        assert [there[number].result == here[number].result for number in here if number != 2] == [True] * 5
        error, own = there[2].result, here[2].result
        assert isinstance(error, DesignError)
        assert isinstance(own, DesignError)
        assert (type(error), error.faults) == (type(own), own.faults)
    database = FleetDatabase(url)
    # What no run needs any more is gone; the digests are compared with those of the next time.
    assert database.fetch("SELECT count(*), count(result), count(inputs), count(digest) FROM fleet.piece") == [(6, 0, 0, 6)]
    database.close()


def test_the_commands_give_the_same_bytes_with_a_fleet(new_fleet: NewFleet, tmp_path: Path, caveat: Caveat) -> None:
    """`analyze estimate`, also with --each, which goes on after a table that is none."""
    paths = [path.name for path in write_tables(tmp_path, 3)]
    (tmp_path / "bad.csv").write_text("no,table\n", encoding="utf-8")
    url = new_fleet(lease_s=30)
    single = ("analyze", "estimate", paths[0], "--json", "--replicates", "20")
    each = ("analyze", "estimate", paths[0], "bad.csv", *paths[1:], "--each", "--json", "--replicates", "20")
    here = [caveat(*single), caveat(*each)]
    with working(url, tmp_path, 2, kinds=(ESTIMATE,)):
        there = [caveat(*single, "--fleet", url), caveat(*each, "--fleet", url)]
        shown = caveat(*each[:-3], "--fleet", url)

    assert [(ran.code, ran.out) for ran in there] == [(ran.code, ran.out) for ran in here]
    assert [ran.code for ran in here] == [0, 3]
    document = here[1].document
    assert [entry["source"] for entry in document["estimates"]] == [paths[0], "bad.csv", *paths[1:]]
    assert [entry["estimate"] is None for entry in document["estimates"]] == [False, True, False, False]
    assert here[0].document["specs"] == document["estimates"][0]["estimate"]["specs"]
    assert "3 estimates." in shown.out


def test_a_request_crosses_unchanged(tmp_path: Path) -> None:
    """Every column, also those that tables seldom have."""
    path = tmp_path / "table.csv"
    header = (
        "task_id,arm,context_id,sample,score,excluded_reason,judge,judge_repeat,weight,family,template,spec,truncated,refused,cue_removed"
        ",error"
    )
    rows = ["t1,test,c,0,0.25,,m,0,2,f,p,,no,no,,timeout", "t1,deploy,d,0,,refused,m,0,2,f,p,s,yes,yes,cue,"]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    request = make_request(path)
    again = load_request(dump_request(request))

    assert again.table.content == request.table.content
    assert dump_request(again) == dump_request(request)
    assert (again.plan, again.table.files) == (request.plan, request.table.files)
    assert again.table.doubts == request.table.doubts == ("table.csv: 1 of 1 scored rows are marked in the column error",)


def test_a_piece_that_kills_three_workers_is_set_aside_and_the_others_go_on(new_fleet: NewFleet) -> None:
    """The pieces behind it get a slice of their own after the first death. Its workers' last messages are kept."""
    database, _ = begin(new_fleet(), b"deadly", b"harmless", b"as well")
    for name in ("a", "b", "c"):
        database.fetch("INSERT INTO fleet.worker (worker, version, kinds, slots, facts) VALUES (%s, '0', '{estimate}', 1, '{}')", [name])
    taken = [die(database, 0, worker=name) for name in ("a", "b", "c", "d")]
    slices = database.fetch("SELECT slice, array_agg(label ORDER BY position) FROM fleet.run_piece GROUP BY 1 ORDER BY 1")
    poisoned = list_poisoned(database, "estimate-1")
    overview = list_piece_runs(database)[0]
    database.close()

    assert taken == [True, True, True, False]
    assert [labels for _, labels in slices] == [["piece 0"], ["piece 1", "piece 2"]]
    assert [(piece.label, [message["worker"] for message in piece.messages]) for piece in poisoned] == [("piece 0", ["a", "b", "c"])]
    assert poisoned[0].messages[0]["message"] == "estimate piece 0"
    assert (overview.pieces, overview.done, len(overview.parked)) == (3, 0, 1)


def test_the_coordinator_gives_a_poisoned_piece_its_error(new_fleet: NewFleet, tmp_path: Path) -> None:
    """Inputs that no worker can read end the work on them three times, and nothing else."""
    url = new_fleet(lease_s=30)
    good = Piece(label="good", inputs=dump_request(make_request(write_tables(tmp_path, 1)[0])))
    order = PieceOrder(url=url, equipment=read_equipment(), slice_size=5, ahead=50)
    with working(url, tmp_path, 1, kinds=(ESTIMATE,)):
        outcomes = {outcome.position: outcome for outcome in do_pieces(order, [Piece(label="bad", inputs=b"{}"), good], tell=print)}

    assert isinstance(outcomes[1].result, bytes)
    error = outcomes[0].result
    assert isinstance(error, AnswerNoError)
    assert error.code == "piece-poisoned"
    assert "worker-0" in str(error)


def test_a_command_that_was_stopped_finds_what_is_done(new_fleet: NewFleet, tmp_path: Path) -> None:
    """By the names of the pieces, without a worker. When it has ended, nothing is left of either run."""
    url = new_fleet(lease_s=30)
    order = PieceOrder(url=url, equipment=read_equipment(), slice_size=1, ahead=10)
    pieces = [Piece(label=path.name, inputs=dump_request(make_request(path))) for path in write_tables(tmp_path, 3)]
    with working(url, tmp_path, 1, kinds=(ESTIMATE,)):
        stopped = do_pieces(order, pieces, tell=print)
        first = [next(stopped) for _ in pieces]
        stopped.close()
    again = list(do_pieces(order, [*pieces, pieces[0]], tell=print))
    database = FleetDatabase(url)

    assert sorted(outcome.position for outcome in again) == [0, 1, 2, 3]
    assert {outcome.result for outcome in again} == {outcome.result for outcome in first}
    assert database.fetch("SELECT count(result), count(digest) FROM fleet.piece") == [(0, 3)]
    assert database.fetch("SELECT DISTINCT fleet.read_state(run) FROM fleet.runs") == [("closed",)]
    database.close()


def test_the_same_result_twice_is_harmless_and_another_is_a_contradiction(new_fleet: NewFleet) -> None:
    """The first result stays. The command ends with `piece-differs` and names both workers."""
    database, piece_run = begin(new_fleet(), b"one")
    (piece,) = read_pieces(database, piece_run, 0)
    for name in ("a", "b"):
        assert keep_result(database, piece, worker=name, facts=f"facts of {name}", variant="", data=b"5", is_failure=False, message="")
    refuse_contradictions(database, "estimate-1")
    other = keep_result(database, piece, worker="c", facts="facts of c", variant="", data=b"6", is_failure=False, message="")
    with pytest.raises(ConflictError) as refused:
        refuse_contradictions(database, "estimate-1")
    results = list_results(database, [piece.name])

    assert other is False
    assert refused.value.code == "piece-differs"
    assert "facts of a" in str(refused.value)
    assert "facts of c" in str(refused.value)
    assert [(result.worker, result.result) for result in results] == [("a", b"5")]
    database.close()


def test_machines_of_two_variants_may_differ(new_fleet: NewFleet) -> None:
    """The first result stays, also for the run; when it is gone, the next one is kept, and compared within its variant."""
    database, piece_run = begin(new_fleet(), b"one")
    (piece,) = read_pieces(database, piece_run, 0)

    def keep(variant: str, data: bytes) -> bool:
        return keep_result(database, piece, worker=variant, facts="", variant=variant, data=data, is_failure=False, message="")

    kept = [keep("AVX2", b"5"), keep("AVX512F", b"6")]
    results = [result.result for result in list_results(database, [piece.name])]
    counts = count_variants(database, piece_run.run)
    end_run(database, "estimate-1")
    later = PieceRun(run="estimate-2", equipment=TOOLS, settings={})
    begin_run(database, later)
    add_pieces(database, later, [Piece(label="piece", inputs=b"one")], first=0, slice_size=1)
    again = [keep("AVX512F", b"6"), keep("AVX512F", b"7")]
    with pytest.raises(ConflictError):
        refuse_contradictions(database, "estimate-2")
    database.close()

    assert (kept, results, counts) == ([True, True], [b"5"], {"AVX2": 1})
    assert again == [True, False]


def test_estimates_of_another_processor_are_reported_or_refused(new_fleet: NewFleet, tmp_path: Path) -> None:
    """With `--strict` a worker that differs listens to another lane."""
    url = new_fleet(lease_s=30)
    piece = Piece(label="good", inputs=dump_request(make_request(write_tables(tmp_path, 1)[0])))
    told: list[str] = []
    loose, strict = list_equipment()
    with working(url, tmp_path, 1, kinds=(ESTIMATE,)):
        order = PieceOrder(url=url, equipment=replace(loose, variant="ELSEWHERE"), slice_size=1, ahead=4)
        (outcome,) = do_pieces(order, [piece], tell=told.append)
        same = list(do_pieces(replace(order, equipment=strict), [piece], tell=told.append))
    other = replace(strict, versions={**strict.versions, "cpu": "ELSEWHERE"})
    fault = other.find_difference("worker-0", strict.versions)

    assert outcome.result == same[0].result
    assert "1 of 1 results come from processors" in told[0]
    assert "without ELSEWHERE" in told[0]
    assert len(told) == 1
    assert len({loose.lane, strict.lane, other.lane}) == 3
    assert fault is not None
    assert fault.code == "worker-differs"


def test_a_result_is_compared_with_that_of_an_earlier_run(new_fleet: NewFleet) -> None:
    """Its bytes are gone by then; its digest is not."""
    database, piece_run = begin(new_fleet(), b"one")
    (piece,) = read_pieces(database, piece_run, 0)
    keep_result(database, piece, worker="a", facts="", variant="", data=b"5", is_failure=False, message="")
    end_run(database, "estimate-1")
    later = PieceRun(run="estimate-2", equipment=TOOLS, settings={})
    begin_run(database, later)
    add_pieces(database, later, [Piece(label="piece", inputs=b"one")], first=0, slice_size=1)

    assert [again.name for again in read_pieces(database, later, 0)] == [piece.name]
    assert not keep_result(database, piece, worker="b", facts="", variant="", data=b"6", is_failure=False, message="")
    with pytest.raises(ConflictError):
        refuse_contradictions(database, "estimate-2")
    database.close()


@pytest.mark.parametrize(
    "attack",
    [
        "UPDATE fleet.piece SET result = 'other'",
        "UPDATE fleet.piece SET digest = repeat('0', 64)",
        "UPDATE fleet.piece SET equipment = '{}'",
        "UPDATE fleet.piece SET name = 'x'",
    ],
)
def test_a_result_is_not_replaced_by_raw_sql(new_fleet: NewFleet, attack: str) -> None:
    """The database refuses it, whatever the role."""
    database, piece_run = begin(new_fleet(), b"one")
    (piece,) = read_pieces(database, piece_run, 0)
    keep_result(database, piece, worker="a", facts="", variant="", data=b"5", is_failure=False, message="")
    with psycopg.connect(database.url, autocommit=True) as connection, pytest.raises(psycopg.errors.IntegrityError):
        connection.execute(attack.encode())
    database.close()


def test_inputs_that_were_changed_are_not_worked_on(new_fleet: NewFleet) -> None:
    """The name of the piece is their check."""
    database, piece_run = begin(new_fleet(), b"one")
    database.fetch("UPDATE fleet.piece SET inputs = 'two'")
    with pytest.raises(AlteredError):
        read_pieces(database, piece_run, 0)
    database.close()


def test_a_worker_with_another_press_gets_no_job_and_is_named(new_fleet: NewFleet, tmp_path: Path) -> None:
    """It listens to another lane. A forged job on its own lane does not change that."""
    url = new_fleet(lease_s=30)
    press = read_press()
    other = Equipment(kind=DRAW, versions={**press.versions, "pango": "1.0"})
    database, piece_run = begin(url, b"one", equipment=other)
    told: list[str] = []

    def stop(message: str) -> None:
        told.append(message)
        raise KeyboardInterrupt

    with hold_name(FleetDatabase.open(url), piece_run.run), working(url, tmp_path, 1, kinds=(DRAW,)):
        shown = [worker.differs for worker in list_workers(database, 30)]
        order = PieceOrder(url=url, equipment=other, slice_size=1, ahead=4)
        with pytest.raises(KeyboardInterrupt):
            list(do_pieces(order, [Piece(label="a", inputs=b"x")], tell=stop))
    place = make_place(url, tmp_path, {})

    async def forge() -> None:
        handler = PieceHandler(place, press)
        await handler.handle(Job(kind=press.lane, run=piece_run.run, slice=0))
        await handler.close()

    asyncio.run(forge())
    messages = [worker.message for worker in list_workers(database, 30) if worker.worker == "one"]
    done = database.call("SELECT count(*) FROM fleet.piece WHERE digest IS NOT NULL")
    database.close()

    assert shown[0] is not None
    assert "press-differs" in shown[0]
    assert "press-differs" in told[0]
    assert "pango" in told[0]
    assert "press-differs" in (messages[0] or "")
    assert done == 0


def test_equipment_names_pieces() -> None:
    """Other inputs, another kind or another version make another piece; what people call it does not."""
    names = {
        Piece(label=label, inputs=inputs).name(equipment)
        for label in ("a", "b")
        for inputs in (b"1", b"2")
        for equipment in (TOOLS, Equipment(kind=DRAW, versions=TOOLS.versions), Equipment(kind=ESTIMATE, versions={"numpy": "3"}))
    }

    assert len(names) == 6
    assert TOOLS.find_difference("w", {"numpy": "2"}) is None
    fault = TOOLS.find_difference("w", {"numpy": "3", "scipy": "1"})
    assert fault is not None
    assert (fault.code, fault.where) == ("worker-differs", "w")
    assert fault.found == "has numpy 3, and not 2"
