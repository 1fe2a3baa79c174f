"""A registry that somebody edited by hand, cut off or swapped: named, with since when; and the outcome of what it said."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from tests.cli.conftest import HERE, Caveat
from tests.cli.given_out import NAME, ask, inside, run, take_copy
from tests.cli.test_verify_published import find_note, list_answers, read_vkey
from tests.store import builders as make


@pytest.fixture
def registry(given_out: Path, tmp_path: Path) -> Path:
    """A copy of the registry with its supplements, in the folder where `caveat` runs."""
    take_copy(given_out, tmp_path)
    return tmp_path


def edit(path: Path, *statements: str) -> None:
    """Do to the database what somebody with the file can do: drop what guards it, then change what it holds."""
    with sqlite3.connect(path) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)
    connection.close()


def test_a_sound_registry_is_in_order(caveat: Caveat, registry: Path) -> None:
    """By its URL or its file the same is asked; with the key that the user has, who signs it is known."""
    key = read_vkey(registry)

    here = caveat("verify", *HERE, "--key", key, "--json")
    file = caveat("verify", "caveat.db", "--key", key, "--json")
    before = (registry / "caveat.db").read_bytes()

    assert (here.code, file.code) == (0, 0)
    assert (here.document["registry"], file.document["registry"]) == (None, None)
    assert list_answers(here) == list_answers(file)
    assert {name for name, answer in list_answers(here).items() if answer != "yes"} == {"witnesses"}
    assert (registry / "caveat.db").read_bytes() == before


def test_a_changed_statement_is_named_with_its_entry(caveat: Caveat, registry: Path) -> None:
    """A text that is not what its leaf was made of is found, and the supplement it went into does not stand with the registry."""
    edit(registry / "caveat.db", "UPDATE body SET json = replace(json, 'schemes in 5 %', 'schemes in 1 %') WHERE seq = 7")

    registry_checked = caveat("verify", "caveat.db", "--json")
    supplement = caveat("verify", *HERE, f"out/{NAME}.json", "--json")

    assert (registry_checked.code, list_answers(registry_checked)["log"]) == (1, "no")
    assert "entry 7: its leaf is" in find_note(registry_checked, "log")
    assert list_answers(registry_checked)["rows"] == "not_checked"
    assert (supplement.code, list_answers(supplement)["registry"]) == (1, "no")


def test_a_statement_changed_with_its_leaf_is_told_since_when(caveat: Caveat, registry: Path) -> None:
    """Whoever mends the leaf too changes the root: the checkpoint no longer fits, and says since when."""
    from registry.codec.statement_encoding import leaf_hash

    with sqlite3.connect(registry / "caveat.db") as connection:
        text = connection.execute("SELECT json FROM body WHERE seq = 7").fetchone()[0].replace("schemes in 5 %", "schemes in 1 %")
    connection.close()
    edit(
        registry / "caveat.db",
        f"UPDATE body SET json = '{text}' WHERE seq = 7",
        f"UPDATE entry SET leaf = x'{leaf_hash(text.encode())}' WHERE seq = 7",
    )

    checked = caveat("verify", "caveat.db", "--json")
    supplement = caveat("verify", *HERE, f"out/{NAME}.json", "--json")

    answers = list_answers(checked)
    assert (checked.code, answers["log"], answers["checkpoints"]) == (1, "no", "no")
    assert "changed after 20" in find_note(checked, "checkpoints")
    assert "no smaller checkpoint fits" in find_note(checked, "checkpoints")
    assert {list_answers(supplement)[name] for name in ("registry", "consistency")} == {"no"}


def test_an_edited_row_and_a_dropped_guard_are_named(caveat: Caveat, registry: Path) -> None:
    """Rows are an index of the log: one that says something else is found though every leaf fits."""
    edit(registry / "caveat.db", "UPDATE claim_revision SET theta = 0.5 WHERE seq = 7")
    with sqlite3.connect(registry / "caveat.db") as connection:
        connection.execute("DROP TRIGGER entry__update")
    connection.close()

    checked = caveat("verify", "caveat.db", "--json")

    answers = list_answers(checked)
    assert (checked.code, answers["log"], answers["rows"], answers["guards"]) == (1, "yes", "no", "no")
    assert "entry 7" in find_note(checked, "rows")
    assert "entry__update" in find_note(checked, "guards")


def test_a_shorter_log_in_the_place_of_the_real_one_is_cut(caveat: Caveat, registry: Path) -> None:
    """A database put back to an earlier state has fewer entries than a signed checkpoint and a supplement know of."""
    edit(
        registry / "caveat.db",
        "DELETE FROM publication WHERE seq > 15",
        "DELETE FROM body WHERE seq > 15",
        "DELETE FROM checkpoint",
        "DELETE FROM node WHERE seq > 15",
        "DELETE FROM entry WHERE seq > 15",
    )

    supplement = caveat("verify", *HERE, f"out/{NAME}.json", "--json")

    answers = list_answers(supplement)
    assert (supplement.code, answers["consistency"], answers["registry"]) == (1, "no", "yes")
    assert "the registry here has 15 of this log: it was cut" in find_note(supplement, "consistency")


def test_a_log_cut_off_below_its_own_checkpoint_is_told_and_not_sealed_again(caveat: Caveat, registry: Path) -> None:
    """The checkpoint that is still kept says what is gone: checks answer no, and nothing is signed or leaves the house."""
    edit(registry / "caveat.db", *(f"DELETE FROM {table} WHERE seq > 15" for table in ("publication", "body", "node", "entry")))

    checks = [caveat("admin", "log", "check"), caveat("admin", "log", "check", "--fast"), caveat("verify", "caveat.db")]
    refused = [
        caveat("admin", "log", "checkpoint"),
        caveat("admin", "bundle", "write", "-o", "x.caveat"),
        caveat("admin", "backup", "x.db"),
    ]
    refused.append(caveat("report", NAME.partition("@")[0], "--json", "-o", "again", "--publish", "--yes"))

    assert [one.code for one in checks] == [1, 1, 1]
    assert all("now it ends with 15: it was cut off" in " ".join((one.out + one.err).split()) for one in checks)
    assert [one.code for one in refused] == [3, 3, 3, 3]
    assert all("history-differs" in one.err for one in refused)
    assert not list(registry.glob("x.*"))
    assert caveat("admin", "log", "show", "--json").document["size"] == 15


def test_a_checkpoint_that_is_gone_is_missed_where_files_were_given_out(caveat: Caveat, registry: Path) -> None:
    """Giving out seals the log, so a log without a checkpoint is not quietly fine; a key helps nothing there."""
    key = read_vkey(registry)
    edit(registry / "caveat.db", "DELETE FROM checkpoint")

    checked, log = caveat("verify", "caveat.db", "--key", key, "--json"), caveat("admin", "log", "check")

    assert (checked.code, list_answers(checked)["checkpoints"], log.code) == (1, "no", 1)
    assert "although 3 files were published, which seals the log" in find_note(checked, "checkpoints")
    assert "error[checkpoint-missing]" in log.err
    assert "  --> checkpoints\n  no checkpoint is kept, although 3 files were published" in log.err


def test_another_registry_in_its_place_is_another_log(caveat: Caveat, registry: Path) -> None:
    """A registry of the same authority that was made anew has another log; it speaks for nothing of the first."""
    (registry / "elsewhere").mkdir()
    with inside(registry / "elsewhere"):
        ask("init", "--code", "AISI")

    checked = caveat("verify", f"out/{NAME}.json", "--registry", f"sqlite:///{registry}/elsewhere/caveat.db", "--json")

    answers = list_answers(checked)
    assert (answers["registry"], answers["current"], answers["checkpoint"]) == ("not_checked",) * 3
    assert "has no log" in find_note(checked, "registry")


def test_what_was_recorded_since_is_told_and_is_nothing_false(caveat: Caveat, registry: Path) -> None:
    """A withdrawal makes a supplement no longer current; that is wrong only for who asks for the latest word."""
    caveat("claim", "withdraw", NAME.partition("@")[0], "--reason", "retracted", "--yes")

    told = caveat("verify", *HERE, f"out/{NAME}.json", "--json")
    asked = caveat("verify", *HERE, f"out/{NAME}.json", "--current", "--json")

    assert (told.code, asked.code, list_answers(told)["current"]) == (0, 1, "no")
    assert "first changed by entry 19" in find_note(told, "current")
    assert "It was withdrawn: “retracted” (entry 19)." in find_note(told, "current")
    assert (told.document["files"][0]["verdict"], told.document["files"][0]["superseded_by"]) == ("PASS", "entry 19")


def test_a_revoked_key_speaks_for_nothing(caveat: Caveat, registry: Path) -> None:
    """The registry says so, with the entry; who has the file alone cannot know, and is told that."""
    fingerprint = ask_document_key(registry)
    assert caveat("admin", "key", "revoke", fingerprint, "--reason", "stolen laptop", "--yes").code == 0

    here = caveat("verify", *HERE, f"out/{NAME}.pdf", "--json")

    assert (here.code, list_answers(here)["signature"]) == (1, "no")
    assert "stolen laptop" in find_note(here, "signature")


def test_what_a_replaced_key_signed_before_stays_good(caveat: Caveat, registry: Path) -> None:
    """The log key is rotated: the old proof holds by the old key and stays, a new one holds by the new."""
    before = read_vkey(registry)
    assert caveat("admin", "key", "rotate", "--reason", "yearly").code == 0
    after = read_vkey(registry)

    old = caveat("verify", *HERE, f"out/{NAME}.json", "--json")
    caveat("report", "--from", f"out/{NAME}.json", "--json", "-o", "again", "--publish", "--yes")
    new = [caveat("verify", *HERE, f"again/{NAME}.json", *extra, "--json") for extra in ((), ("--key", after))]

    assert before != after
    assert [one.code for one in (old, *new)] == [0, 0, 0]
    assert [list_answers(one)["checkpoint"] for one in (old, *new)] == ["yes"] * 3


def test_several_kinds_are_verified_at_once(caveat: Caveat, registry: Path) -> None:
    """A registry, a supplement and a checkpoint, each told by what is in it and in the order given."""
    proof = (registry / "out" / f"{NAME}.json.tlog-proof").read_text(encoding="utf-8")
    (registry / "note").write_text(proof.partition("\n\n")[2], encoding="utf-8")

    key = read_vkey(registry)
    checked = caveat("verify", *HERE, "note", "caveat.db", f"out/{NAME}.json", "--key", key, "--json")

    assert (checked.code, [one["kind"] for one in checked.document["files"]]) == (0, ["checkpoint", "registry", "supplement"])
    assert list_answers(checked) == {"checkpoint": "yes", "witnesses": "not_checked", "consistency": "yes"}


def test_a_registry_asked_for_and_not_there_is_no_answer(caveat: Caveat, tmp_path: Path) -> None:
    """Without files the registry is meant; where there is none, the command says so."""
    refused = caveat("verify", *HERE)

    assert (refused.code, "registry-not-found" in refused.err) == (3, True)


def ask_document_key(registry: Path) -> str:
    """Return the fingerprint of the registry's document key."""
    with inside(registry):
        entries = ask("admin", "log", "show", "--start", "3", "--stop", "3")["entries"]
    return str(json.loads(json.dumps(entries[0]["payload"]["key"])))


def test_the_file_of_a_registry_is_not_written_to(caveat: Caveat, registry: Path) -> None:
    """What is evidence stays as it was: it is read in a copy, even where its folder cannot be written."""
    shutil.move(registry / "caveat.db", registry / "evidence.db")
    before = (registry / "evidence.db").read_bytes()

    checked = caveat("verify", "evidence.db", "--json")

    assert checked.code == 3, "no key that is known here signed its checkpoints"
    assert (registry / "evidence.db").read_bytes() == before
    assert not list(registry.glob("evidence.db-*"))


def test_a_registry_that_took_a_log_over_vouches_for_its_files_until_it_has_evidence_of_two_histories(
    caveat: Caveat, given_out: Path, tmp_path: Path
) -> None:
    """Keys and entries of the other log are known here then; once it signed another history, nothing of it is believed."""
    key = read_vkey(given_out)
    for name in ("aisi", "fork"):
        take_copy(given_out, tmp_path / name)
        with inside(tmp_path / name):
            Path("other.md").write_text(f"# Another card\n\nOf {name}.\n", encoding="utf-8")
            ask("card", "add", "other.md", "--publisher", "LAB")
            run("admin", "bundle", "write", "-o", "log.caveat")
    caveat("init", "--code", "LAB")
    taken = caveat("admin", "bundle", "read", "aisi/log.caveat", "--vkey", key)
    file = f"aisi/out/{NAME}.json"

    before = caveat("verify", *HERE, file, "--json")
    (tmp_path / "alone").mkdir()
    shutil.copy(tmp_path / file, tmp_path / "alone")
    alone = caveat("verify", *HERE, f"alone/{NAME}.json", "--json")
    refused = caveat("admin", "bundle", "read", "fork/log.caveat")
    after, bundle = caveat("verify", *HERE, file, "--json"), caveat("verify", *HERE, "aisi/log.caveat", "--json")

    assert (taken.code, refused.code) == (0, 1), (taken.err, refused.err)
    assert (before.code, set(list_answers(before).values())) == (0, {"yes", "not_checked"})
    assert {name for name, answer in list_answers(before).items() if answer != "yes"} == {"authors", "witnesses"}
    assert "which the registry here took over" in find_note(before, "checkpoint")
    assert "the registry recorded in entry" in find_note(alone, "published")
    assert (after.code, list_answers(after)["checkpoint"]) == (1, "no")
    assert "it signed two histories, of which the registry here keeps the evidence in entry" in find_note(after, "checkpoint")
    assert (bundle.code, list_answers(bundle)["checkpoint"]) == (1, "no")


def test_what_never_ends_is_no_file(caveat: Caveat, tmp_path: Path) -> None:
    """A pipe that no one writes to, and a device that writes for ever, are refused before they are read."""
    os.mkfifo(tmp_path / "pipe")

    pipe, zero = caveat("verify", "pipe"), caveat("verify", "/dev/zero")

    assert (pipe.code, zero.code) == (2, 2)
    assert "it is a pipe or device" in pipe.err
    assert "it is a pipe or device" in zero.err


def test_a_registry_that_is_named_is_compared_with_or_missed(caveat: Caveat, registry: Path) -> None:
    """Who names one means it: where it is not there, the answer is not given without it."""
    checked = caveat("verify", "--registry", "sqlite:///elsewhere.db", f"out/{NAME}.json")

    assert checked.code == 3
    assert "registry-not-found" in checked.err


def test_a_log_that_was_renamed_in_the_database_is_told_by_its_name(caveat: Caveat, registry: Path) -> None:
    """The checkpoint is of another log than the registry says it keeps, and a key that is given is said to be another log's."""
    key = read_vkey(registry)
    name = key.partition("+")[0]
    edit(registry / "caveat.db", "UPDATE log SET origin = 'other.example/log' WHERE id = 1")

    checked = caveat("verify", "caveat.db", "--key", key, "--json")

    assert (checked.code, list_answers(checked)["checkpoints"], list_answers(checked)["checkpoint"]) == (1, "no", "not_checked")
    assert f"its note is of the log {name}, the log is called other.example/log here" in find_note(checked, "checkpoints")
    assert find_note(checked, "checkpoint").endswith(f"the keys known here are of {name}: give this log's with --key")


def test_a_verifier_key_that_was_changed_takes_no_other_answer_away(caveat: Caveat, registry: Path) -> None:
    """Of the own log: `keys` is no and the rest is answered, of the registry and of files beside it."""
    key = read_vkey(registry)
    edit(registry / "caveat.db", "UPDATE log SET vkey = replace(vkey, '+', '+0') WHERE id = 1")

    checked, named = caveat("verify", *HERE, "--json"), caveat("verify", "caveat.db", "--json")
    supplement = caveat("verify", *HERE, f"out/{NAME}.json", "--json")
    given = caveat("verify", *HERE, f"out/{NAME}.json", "--key", key, "--json")

    for one in (checked, named):
        assert (one.code, {name for name, answer in list_answers(one).items() if answer == "no"}) == (1, {"keys"})
    assert "the registry here contradicts itself on the keys of" in find_note(supplement, "checkpoint")
    assert (given.code, list_answers(given)["checkpoint"], list_answers(given)["registry"]) == (0, "yes", "yes")


def test_a_log_taken_over_whose_key_no_entry_adds_is_a_no_for_keys_alone(caveat: Caveat, registry: Path) -> None:
    """A row for another log that somebody wrote by hand; all else of the registry is in order."""
    vkey = read_vkey(registry).replace("'", "''")
    edit(registry / "caveat.db", f"INSERT INTO log VALUES (2, 'other.example/log', '{vkey}')")

    named, used = caveat("verify", "caveat.db", "--json"), caveat("verify", *HERE, "--json")

    for checked in (named, used):
        assert (checked.code, {name for name, answer in list_answers(checked).items() if answer == "no"}) == (1, {"keys"})
        assert "log other.example/log: its row names a verifier key" in find_note(checked, "keys")


def test_a_file_that_cannot_be_read_takes_no_answer_from_the_others(caveat: Caveat, registry: Path) -> None:
    """It has a block of its own with what is the matter; the exit code says that not everything was answered."""
    Path(registry, "empty.pdf").write_bytes(b"")
    Path(registry, "torn.tlog-proof").write_bytes(b"c2sp.org/tlog-proof@v1\nindex")
    files = ("empty.pdf", f"out/{NAME}.json", "torn.tlog-proof", "caveat.db")

    checked, read = caveat("verify", *HERE, *files, "--json"), caveat("verify", *HERE, *files)
    alone = caveat("verify", "empty.pdf", "torn.tlog-proof")

    kinds = [one["kind"] for one in checked.document["files"]]
    assert (checked.code, read.code, alone.code) == (3, 3, 2)
    assert kinds == ["unreadable", "supplement", "unreadable", "registry"]
    assert [bool(one["checks"]) for one in checked.document["files"]] == [False, True, False, True]
    assert [bool(one["faults"]) for one in checked.document["files"]] == [True, False, True, False]
    assert "Nothing of it was checked: not-a-supplement" in read.out
    assert read.out.splitlines()[0].startswith("INCOMPLETE  4 files: ")
    assert "empty.pdf" in alone.err
    assert "torn.tlog-proof" in alone.err


def test_a_registry_of_an_unknown_schema_is_not_verified_and_not_changed(caveat: Caveat, tmp_path: Path) -> None:
    """Given as a file it is refused with its revision; as the one in use it is left as it is, and no advice says to upgrade it."""
    url = f"sqlite:///{tmp_path / 'caveat.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor=make.LAB) as writer:
        make.add_claim(writer, make.settle(writer))
    ledger.close()
    with sqlite3.connect(tmp_path / "caveat.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.close()
    shutil.copy(tmp_path / "caveat.db", tmp_path / "old.db")

    itself, beside = caveat("verify", "caveat.db", "--json"), caveat("verify", *HERE, "old.db")

    assert itself.code == 2
    assert "'0000'" in itself.err
    assert beside.code != 0
    assert "registry-not-current" in beside.err
    assert "db upgrade" not in beside.err
    with sqlite3.connect(tmp_path / "caveat.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0000",)]
    connection.close()
