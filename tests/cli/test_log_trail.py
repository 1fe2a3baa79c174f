"""`caveat admin log show`, `check`, `list` and `erase`: the audit trail, and whether it is still what was said."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register
from tests.cli.terminal import Terminal


@pytest.fixture
def lab(caveat: Caveat, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Caveat:
    """A registry with its authority, its two keys and two models: five entries; made once, and copied."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "")
    made = tmp_path_factory.getbasetemp() / "five-entries"
    if not made.exists():
        assert caveat("init", "--code", "LAB", "--name", "Some Lab").code == 0
        for name in ("m/1", "m/2"):
            assert caveat("model", "add", f"LAB/{name}").code == 0
        shutil.copytree(tmp_path, made)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return caveat


def _alter(sql: str, *values: object) -> None:
    """Change the database behind the log's back, as its owner could: without the triggers that guard it."""
    with sqlite3.connect("caveat.db") as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute(sql, values)
        for _, text in guards:
            connection.execute(text)
    connection.close()


def test_entries_are_chosen_by_kind_actor_and_place(lab: Caveat) -> None:
    """Filters narrow the trail, together; what does not fit is not shown."""
    entries = lab("admin", "log", "show", "--json").document["entries"]

    assert [one["entry"]["seq"] for one in entries] == [1, 2, 3, 4, 5]
    assert [one["entry"]["seq"] for one in lab("admin", "log", "show", "--kind", "key_event", "--json").document["entries"]] == [2, 3]
    both = lab("admin", "log", "show", "--kind", "key_event", "--kind", "authority", "--actor", "LAB", "--start", "2", "--json")
    assert [one["entry"]["seq"] for one in both.document["entries"]] == [2, 3]
    assert lab("admin", "log", "show", "--actor", "NOBODY", "--json").document["entries"] == []
    assert "none of them matches" in lab("admin", "log", "show", "--actor", "NOBODY").out


def test_the_last_twenty_that_fit_are_shown(lab: Caveat) -> None:
    """Without a first entry the end of the trail is shown, whatever the filter."""
    for number in range(3, 26):
        assert lab("model", "add", f"LAB/m/{number}").code == 0

    found = lab("admin", "log", "show", "--kind", "model_version", "--json").document["entries"]

    assert len(found) == 20
    assert found[-1]["entry"]["seq"] == 28
    assert len(lab("admin", "log", "show", "--kind", "model_version", "--start", "1", "--json").document["entries"]) == 25


def test_what_names_an_identifier_is_found_also_after_its_text_was_erased(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trail of an identifier keeps its places: words go, the entry that held them stays in the list."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "")
    claim = register(caveat, tmp_path)[0].partition("@")[0]
    before = caveat("admin", "log", "show", "--about", claim, "--json").document["entries"]
    seq = before[0]["entry"]["seq"]
    assert [one["entry"]["kind"] for one in before] == ["claim_revision"]
    assert caveat("admin", "log", "erase", str(seq), "--reason", "named a person", "--yes").code == 0

    (after,) = caveat("admin", "log", "show", "--about", claim, "--json").document["entries"]

    assert after == before[0] | {"payload": None, "erased": {"entry": after["erased"]["entry"], "why": "named a person"}}


def test_an_erased_entry_is_shown_as_erased(lab: Caveat) -> None:
    """It is not passed over: number, author and time stay, and the entry that says why is named."""
    done = lab("admin", "log", "erase", "5", "--reason", "a secret name", "--yes")
    shown = lab("admin", "log", "show")

    assert done.code == 0
    assert "The text of entry 5 is erased; entry 6 says why." in done.out
    assert "(text erased by entry 6: a secret name)" in shown.out
    assert "LAB m 2" not in shown.out
    assert lab("admin", "log", "check").code == 0


def test_erasing_asks_where_somebody_can_answer(lab: Caveat) -> None:
    """In a pipe it takes --yes; nothing is erased without it, nor for a number that is no entry."""
    asked = lab("admin", "log", "erase", "5", "--reason", "x")
    absent = lab("admin", "log", "erase", "99", "--reason", "x", "--yes")

    assert (asked.code, absent.code) == (2, 2)
    assert "not-a-terminal" in asked.err
    assert "entry-not-found" in absent.err
    assert lab("admin", "log", "show", "--json").document["size"] == 5


def test_keys_are_not_erased(lab: Caveat) -> None:
    """What verifies the log stays in it."""
    refused = lab("admin", "log", "erase", "2", "--reason", "x", "--yes")

    assert refused.code == 2
    assert "not-erasable" in refused.err


def test_a_sound_log_is_said_to_be_sound_and_what_that_rests_on(lab: Caveat) -> None:
    """Without a checkpoint the log vouches for itself alone, and the answer says so."""
    alone = lab("admin", "log", "check")
    assert lab("admin", "log", "checkpoint").code == 0
    sealed = lab("admin", "log", "check")
    fast = lab("admin", "log", "check", "--fast", "--json").document

    assert (alone.code, sealed.code) == (0, 0)
    assert "NO checkpoint" in alone.out
    assert "checkpoint at 5: fits, signed by the log, cosigned by no known witness" in sealed.out
    assert fast["rows"] is None
    assert [(one["size"], one["fits"], one["signed"]) for one in fast["checkpoints"]] == [(5, True, True)]


@pytest.mark.parametrize("options", [(), ("--fast",)], ids=["deep", "fast"])
def test_an_altered_statement_is_named(lab: Caveat, options: tuple[str, ...]) -> None:
    """Whoever edits the database is told which entry no longer is what was written."""
    _alter("UPDATE body SET json = replace(json, 'LAB', 'BAD') WHERE seq = 4")

    answer = lab("admin", "log", "check", *options)

    assert answer.code == 1
    assert "error[entry-altered]" in answer.err
    assert "  --> entry 4" in answer.err
    assert "fix: sign and publish nothing; restore the registry from a backup" in answer.err
    assert "caveat admin log check" not in answer.err


def test_a_log_rewritten_with_its_leaves_is_caught_by_a_checkpoint_kept_elsewhere(lab: Caveat) -> None:
    """Who alters text, leaf, tree and checkpoints together leaves a sound registry behind, but not the one that was sealed."""
    assert lab("admin", "log", "checkpoint", "-o", "kept.note").code == 0
    shutil.rmtree("caveat-keys")
    Path("caveat.db").unlink()
    assert lab("init", "--code", "LAB", "--name", "Some Lab").code == 0

    other = lab("admin", "log", "check", "--checkpoint", "kept.note")

    assert other.code == 1
    assert "wrong-log" in other.err


def test_a_cut_log_is_caught_by_a_checkpoint_kept_elsewhere(lab: Caveat) -> None:
    """An older copy of a registry is sound in itself; the note that was taken away says how long it was."""
    shutil.copy("caveat.db", "older.db")
    assert lab("model", "add", "LAB/m/3").code == 0
    assert lab("admin", "log", "checkpoint", "-o", "kept.note").code == 0
    shutil.copy("older.db", "caveat.db")

    assert lab("admin", "log", "check").code == 0
    held = lab("admin", "log", "check", "--checkpoint", "kept.note")

    assert held.code == 1
    assert "the log had 6 entries then, now it ends with 5" in held.err


def test_a_row_that_its_statement_does_not_give_is_found_by_the_deep_check_alone(lab: Caveat) -> None:
    """The fast check is of the log; rows are derived, and comparing them takes the statements again."""
    _alter("UPDATE model_version SET version = '9' WHERE seq = 4")

    assert lab("admin", "log", "check", "--fast").code == 0
    assert "row-differs" in lab("admin", "log", "check").err


def test_the_logs_are_listed_with_keys_and_checkpoints(lab: Caveat) -> None:
    """One line for each log; the whole keys stand in the document."""
    assert lab("admin", "log", "checkpoint").code == 0

    (own,) = lab("admin", "log", "list", "--json").document["logs"]

    assert (own["own"], own["entries"], own["checkpoint"], own["cosigned_by"]) == (True, 5, 5, [])
    assert own["vkeys"][0].startswith(own["origin"] + "+")
    assert own["origin"] in lab("admin", "log", "list").out


@pytest.mark.parametrize(("answer", "size"), [("n", 5), ("y", 6)])
def test_erasing_says_what_stays_before_it_asks(
    lab: Caveat, tmp_path: Path, answer: str, size: int, open_terminal: Callable[..., Terminal]
) -> None:
    """At a terminal the question comes after what is lost and what is not; no is an answer."""
    with open_terminal(tmp_path, "admin", "log", "erase", "5", "--reason", "x") as terminal:
        screen = terminal.wait_for("Erase it?")
        terminal.press(f"{answer}\r", answer)
        terminal.wait()

    assert "is erased for good" in " ".join(screen.split())
    assert lab("admin", "log", "show", "--json").document["size"] == size
