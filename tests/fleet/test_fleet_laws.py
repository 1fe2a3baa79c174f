"""The laws of the fleet's rows, attacked by raw SQL: the database keeps them whoever asks."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from audit.replay.call_engine import read_clock
from fleet.database import FleetDatabase
from fleet.runs.leases import SliceLease, acquire_lease, release_lease, renew_leases, settle_expired
from fleet.runs.run_states import add_event
from registry.records.replay_run import Budget
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_runs import begin_session, describe_outcome, expire, list_keys, prepare_run, send, settle, take


@pytest.fixture
def planned(new_fleet: NewFleet, tmp_path: Path) -> Iterator[tuple[FleetDatabase, str]]:
    """A database with a run of eight calls."""
    database, run = prepare_run(new_fleet(), tmp_path / "plan")
    yield database, run
    database.close()


Planned = tuple[FleetDatabase, str]
_INTENT = (
    "INSERT INTO fleet.intent (run, key, round, slice, epoch, session, at, why, ticket, worker, input_tokens, output_tokens)"
    " VALUES (%s, %s, %s, 0, %s, 1, '2026-11-20T12:00:00+00:00', %s, gen_random_uuid(), 'raw', 1, 1)"
)


def read_states(database: FleetDatabase) -> dict[str, list[tuple[int, str | None, bool, bool]]]:
    """Return by key the outcomes: round, failure, late, counted."""
    states: dict[str, list[tuple[int, str | None, bool, bool]]] = {}
    for key, *state in database.fetch("SELECT key, round, failure, is_late, is_counted FROM fleet.outcome ORDER BY id"):
        states.setdefault(key, []).append((state[0], state[1], state[2], state[3]))
    return states


def read_purse(database: FleetDatabase) -> tuple[int, int]:
    """Return the calls that are held and those that were spent."""
    row = database.fetch("SELECT held_calls, spent_calls FROM fleet.purse, fleet.read_account(run)")[0]
    return row[0], row[1]


def refuse(database: FleetDatabase, sql: str, *values: object) -> str:
    """Run *sql*, which the database must refuse; return what it says."""
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation) as refused:
        database.fetch(sql, list(values))  # type: ignore[arg-type]
    return str(refused.value)


def test_a_call_is_sent_in_one_round_only(planned: Planned) -> None:
    """The same call again may not be sent under another ticket; the same ticket gives the same answer."""
    database, run = planned
    lease, keys = take(database, run), list_keys(database, run)
    first = send(database, lease, *keys[:3], ticket=1)
    again = send(database, lease, *keys[:4], ticket=2)
    repeated = send(database, lease, *keys[:3], ticket=1)

    assert (sorted(first["sent"]), again["sent"]) == (sorted(keys[:3]), [keys[3]])
    assert sorted(repeated["sent"]) == sorted(keys[:3])
    assert read_purse(database) == (4, 0)


@pytest.mark.parametrize("why", [None, "retry-failed", "repeat-lost", "unsent", "because"])
def test_raw_sql_cannot_open_a_second_round_without_its_outcome(planned: Planned, why: str | None) -> None:
    """A second round is refused while the first has no outcome, and after an answer, for whatever reason."""
    database, run = planned
    lease, key = take(database, run), list_keys(database, run)[0]
    send(database, lease, key)

    assert "may not be sent in round 2" in refuse(database, _INTENT, run, key, 2, lease.epoch, why)
    settle(database, run, key)
    assert "may not be sent in round 2" in refuse(database, _INTENT, run, key, 2, lease.epoch, why)
    assert "may not be sent in round 1" in refuse(database, _INTENT, run, list_keys(database, run)[1], 1, lease.epoch, "unsent")


@pytest.mark.parametrize(("failure", "why"), [("time-out", "retry-failed"), ("lost-in-flight", "repeat-lost"), ("interrupted", "unsent")])
def test_each_failure_has_one_reason_to_be_sent_again(planned: Planned, failure: str, why: str) -> None:
    """The matching reason opens round 2, every other one is refused, and round 3 needs an outcome of round 2."""
    database, run = planned
    lease, key = take(database, run), list_keys(database, run)[0]
    send(database, lease, key)
    settle(database, run, key, failure)
    for other in {"retry-failed", "repeat-lost", "unsent", None} - {why}:
        refuse(database, _INTENT, run, key, 2, lease.epoch, other)
    answer = send(database, lease, key, number=2, why=why, ticket=2)

    assert answer["sent"] == [key]
    refuse(database, _INTENT, run, key, 3, lease.epoch, why)


def test_an_intent_under_an_old_epoch_is_refused(planned: Planned) -> None:
    """After a take-over the old owner can write nothing, by function or by raw SQL; so it is after the end of a lease."""
    database, run = planned
    old, keys = take(database, run), list_keys(database, run)
    expire(database)
    ended = send(database, old, keys[0])
    by_hand = refuse(database, _INTENT, run, keys[0], 1, old.epoch, None)
    new = take(database, run, worker="two")

    assert (ended["refused"], new.epoch) == ("lease", old.epoch + 1)
    assert "is not leased" in by_hand
    assert send(database, old, keys[0])["refused"] == "lease"
    assert "is not leased" in refuse(database, _INTENT, run, keys[0], 1, old.epoch, None)
    assert send(database, new, keys[0])["sent"] == [keys[0]]


def test_a_call_of_another_slice_is_refused(planned: Planned) -> None:
    """A lease on one slice is no right to send the calls of another, or calls that no one planned."""
    database, run = planned
    lease = take(database, run)

    assert "is not in slice" in refuse(database, _INTENT, run, "0" * 64, 1, lease.epoch, None)


@pytest.mark.parametrize("table", ["intent", "outcome", "call", "cell", "request", "text", "runs", "session", "event", "model", "document"])
def test_rows_are_never_changed_or_removed(planned: Planned, table: str) -> None:
    """UPDATE, DELETE and TRUNCATE are refused for everything that says what was planned, sent or received."""
    database, run = planned
    lease, key = take(database, run), list_keys(database, run)[0]
    send(database, lease, key)
    settle(database, run, key)
    column = {"text": "content", "request": "folded", "runs": "document"}.get(table, "run")
    database.fetch("INSERT INTO fleet.text VALUES ('0', '0') ON CONFLICT DO NOTHING")

    for sql in (f"UPDATE fleet.{table} SET {column} = {column}", f"DELETE FROM fleet.{table}", f"TRUNCATE fleet.{table} CASCADE"):
        assert "append-only" in refuse(database, sql)


def test_a_taken_over_slice_has_no_open_call(planned: Planned) -> None:
    """What the dead owner left open is lost in flight, at its worst case, and is not sent again in this session."""
    database, run = planned
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, *keys[:2])
    settle(database, run, keys[0])
    expire(database)
    take(database, run, worker="two")

    assert read_states(database)[keys[1]] == [(1, "lost-in-flight", False, True)]
    assert read_states(database)[keys[0]] == [(1, None, False, True)]
    assert read_purse(database) == (0, 2)


def test_a_late_answer_counts_until_the_run_is_closed(planned: Planned) -> None:
    """It is kept once, as late; after the close it is kept and not counted; the purse is charged for the answer instead of the loss."""
    database, run = planned
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, *keys[:2])
    expire(database)
    settle_expired(database, run, read_clock())
    settle(database, run, keys[0])
    settle(database, run, keys[0])
    add_event(database, run, "closed")
    settle(database, run, keys[1])
    tokens = database.call("SELECT spent_output_tokens FROM fleet.purse, fleet.read_account(run)")

    assert read_states(database)[keys[0]] == [(1, "lost-in-flight", False, True), (1, None, True, True)]
    assert read_states(database)[keys[1]] == [(1, "lost-in-flight", False, True), (1, None, True, False)]
    assert read_purse(database) == (0, 2)
    assert tokens == 2 * 5


def test_a_late_answer_forbids_to_repeat_the_loss(planned: Planned) -> None:
    """A call that was answered late is answered: `repeat-lost` does not send it again."""
    database, run = planned
    lease, key = take(database, run), list_keys(database, run)[0]
    send(database, lease, key)
    expire(database)
    new = take(database, run, worker="two")
    settle(database, run, key)

    assert "may not be sent" in refuse(database, _INTENT, run, key, 2, new.epoch, "repeat-lost")


def test_only_an_answer_to_a_lost_call_is_late(planned: Planned) -> None:
    """A second outcome of a call that was answered or failed changes nothing, and raw SQL cannot write one as late."""
    database, run = planned
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, *keys[:2])
    settle(database, run, keys[0])
    settle(database, run, keys[0])
    settle(database, run, keys[0], "time-out")
    settle(database, run, keys[1], "time-out")
    settle(database, run, keys[1])
    sql = "INSERT INTO fleet.outcome (run, key, round, is_late, is_counted, document) VALUES (%s, %s, 1, true, true, '{}')"

    assert read_states(database) == {keys[0]: [(1, None, False, True)], keys[1]: [(1, "time-out", False, True)]}
    assert "is late" in refuse(database, sql, run, keys[0])


def test_a_call_that_does_not_fit_holds_back_those_after_it_alone(new_fleet: NewFleet, tmp_path: Path) -> None:
    """In one sending the order is that of the plan, whatever the keys are: what one machine would send is sent."""
    database, run = prepare_run(new_fleet(), tmp_path / "plan", budget=Budget(output_tokens=100))
    lease = take(database, run)
    # The call that does not fit would come first by its key.
    keys = sorted(list_keys(database, run), reverse=True)[:4]
    answer = send(database, lease, *keys, outputs=dict(zip(keys, (50, 40, 80, 10), strict=True)))
    database.close()

    assert (answer["sent"], answer["over"]) == (sorted(keys[:2]), keys[2:])
    assert (answer["is_idle"], answer["is_first"]) == (False, True)


def test_outcomes_that_come_with_a_sending_are_kept_also_where_nothing_may_be_sent(planned: Planned) -> None:
    """Each answer has been paid for. The second sending comes after the end of the lease."""
    database, run = planned
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, keys[0], keys[1])
    outcomes = [describe_outcome(key) for key in keys[:2]]
    both = send(database, lease, keys[2], ticket=2, outcomes=outcomes[:1])
    expire(database)
    refused = send(database, lease, keys[3], ticket=3, outcomes=outcomes[1:])

    assert (both["sent"], both["models"], refused["refused"], refused["models"]) == ([keys[2]], [["m", "m"]], "lease", [["m", "m"]])
    assert read_states(database) == {key: [(1, None, False, True)] for key in keys[:2]}


def test_the_budget_holds_the_worst_case_of_all_workers(new_fleet: NewFleet, tmp_path: Path) -> None:
    """Calls beyond the budget are not sent; what a settled call leaves is free again; an idle purse says that the budget is spent."""
    database, run = prepare_run(new_fleet(), tmp_path / "plan", budget=Budget(output_tokens=90))
    lease, keys = take(database, run), list_keys(database, run)
    first = send(database, lease, *keys[:3])
    settle(database, run, first["sent"][0])
    second = send(database, lease, *first["over"], ticket=2)
    settle(database, run, first["sent"][1])
    settle(database, run, second["sent"][0])
    third = send(database, lease, keys[3], ticket=3, output_tokens=80)

    assert (len(first["sent"]), len(first["over"]), first["is_idle"]) == (2, 1, False)
    assert second["sent"] == first["over"]
    assert (third["sent"], third["over"], third["is_idle"]) == ([], [keys[3]], True)
    database.close()


def test_a_paused_run_sends_nothing(planned: Planned) -> None:
    """The state is read in the sending transaction, so a pause holds for every worker at once."""
    database, run = planned
    lease, key = take(database, run), list_keys(database, run)[0]
    add_event(database, run, "paused")
    paused = send(database, lease, key)
    add_event(database, run, "running", after=("paused",))

    assert paused["refused"] == "paused"
    assert send(database, lease, key)["sent"] == [key]


def test_a_slice_has_one_owner_at_a_time(planned: Planned) -> None:
    """A live lease is no one else's; a release gives it free; a lost lease cannot be renewed."""
    database, run = planned
    old = take(database, run)
    second = acquire_lease(database, run, 0, worker="two", lease_s=30, now=read_clock())
    expire(database)
    new = take(database, run, worker="two")
    renew_leases(database, "one", [old])
    renew_leases(database, "two", [new])
    done = release_lease(database, new)

    assert (second, old.guard.is_lost, new.guard.is_lost, done) == (None, True, False, False)
    assert take(database, run, worker="three").epoch == new.epoch + 1


def make_die(database: FleetDatabase, run: str, times: int, *, answer: bool) -> SliceLease | None:
    """Let *times* owners of the first slice die, each after an answer if so wished."""
    lease: SliceLease | None = None
    keys = iter(list_keys(database, run))
    for number in range(times):
        lease = take(database, run, worker=f"worker-{number}")
        if answer:
            key = next(keys)
            send(database, lease, key, ticket=number)
            settle(database, run, key)
        expire(database)
    return acquire_lease(database, run, 0, worker="last", lease_s=30, now=read_clock())


def test_a_slice_that_kills_three_workers_is_set_aside(planned: Planned) -> None:
    """The fourth worker does not get it; the row names the three; a new session tries again."""
    database, run = planned
    refused = make_die(database, run, 3, answer=False)
    parked, messages = database.fetch("SELECT is_parked, messages FROM fleet.lease")[0]

    assert (refused, parked) == (None, True)
    assert [message["worker"] for message in messages] == ["worker-0", "worker-1", "worker-2"]


def test_deaths_with_progress_do_not_poison_a_slice(planned: Planned) -> None:
    """A slice whose workers die for other reasons goes on: each of them had an answer."""
    database, run = planned

    assert make_die(database, run, 4, answer=True) is not None


def test_a_done_slice_is_opened_by_a_session_that_repeats(new_fleet: NewFleet, tmp_path: Path) -> None:
    """`--retry-failed` opens slices with failed calls, `--repeat-lost` those with lost ones, and neither opens answered ones."""
    database, run = prepare_run(new_fleet(), tmp_path / "plan")
    lease, keys = take(database, run), list_keys(database, run)
    send(database, lease, *keys)
    for key in keys:
        settle(database, run, key, "time-out" if key == keys[0] else None)
    done = release_lease(database, lease)
    opened = []
    for settings in ({}, {"repeat_lost": True}, {"retry_failed": True}):
        begin_session(database, run, tmp_path / "plan", **settings)
        opened.append(not database.call("SELECT is_done FROM fleet.lease"))

    assert done
    assert opened == [False, False, True]
    database.close()
