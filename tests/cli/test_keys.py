"""Keys from the command line: made by init, added, replaced, revoked, and never trusted beyond what the log says."""

import os
import signal
import sqlite3
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.records.log_seal import KeyAlgorithm
from registry.seal.key_files import hold_folder, write_key
from registry.seal.signed_notes import parse_note, parse_vkey, verify_note
from registry.seal.signing_keys import make_key
from tests.cli.conftest import Answer, Caveat
from tests.cli.terminal import Terminal
from tests.cli.test_kill import start


def list_keys(caveat: Caveat) -> list[dict[str, object]]:
    """What `caveat admin key list` says."""
    return list(caveat("admin", "key", "list", "--json").document["keys"])


def test_init_names_the_log_and_makes_two_keys(caveat: Caveat, tmp_path: Path) -> None:
    """One signs checkpoints under the log's name, one documents; both are entries, and doing it again changes nothing."""
    made = caveat("init", "--code", "AISI", "--json").document
    files = {path.name: path.read_bytes() for path in (tmp_path / "caveat-keys").iterdir()}
    again = caveat("init", "--code", "AISI", "--json").document
    keys = list_keys(caveat)

    assert made["keys"]["entries"] == [2, 3]
    assert made["keys"]["log"].startswith("caveat.log/AISI/")
    assert parse_vkey(made["keys"]["vkey"], where="key").name == made["keys"]["log"]
    assert (again["new"], again["keys"]) == (False, None)
    assert {path.name: path.read_bytes() for path in (tmp_path / "caveat-keys").iterdir()} == files
    assert [(key["algorithm"], key["in_force"], key["added"]) for key in keys] == [("ed25519", True, 2), ("ecdsa-p256", True, 3)]
    assert [key["secret"] for key in keys] == ["caveat-keys/log.pem", "caveat-keys/document.pem"]
    assert len(caveat("admin", "log", "show", "--json").document["entries"]) == 3


def test_init_without_keys_can_have_them_later(caveat: Caveat, tmp_path: Path) -> None:
    """The log has its name at once; a key added later bears it."""
    assert caveat("init", "--code", "AISI", "--no-key", "--json").document["keys"] is None
    assert not (tmp_path / "caveat-keys").exists()
    assert "names no key" in caveat("admin", "key", "list").out
    assert caveat("admin", "key", "show").code == 2

    assert caveat("admin", "key", "add").code == 0
    (key,) = list_keys(caveat)
    assert str(key["vkey"]).startswith("caveat.log/AISI/")
    assert "key-in-force" in caveat("admin", "key", "add").err


def test_keys_are_encrypted_where_there_is_a_passphrase(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys of a folder by one passphrase; without it nothing is signed, and nothing is recorded."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "geheim")
    assert caveat("init", "--code", "AISI", "--json").document["keys"]["encrypted"]
    assert caveat("admin", "key", "add", "--algorithm", "ml-dsa-44").code == 0
    assert all("ENCRYPTED" in path.read_text() for path in (tmp_path / "caveat-keys").glob("*.pem"))
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "falsch")
    assert _told(caveat("admin", "key", "rotate", "--reason", "x"), 2, "passphrase-wrong")
    monkeypatch.delenv("CAVEAT_PASSPHRASE")
    monkeypatch.setattr("sys.stdin", None)

    assert _told(caveat("admin", "key", "rotate", "--reason", "x"), 3, "passphrase-missing")
    assert len(list_keys(caveat)) == 3


def test_init_asks_twice_for_a_passphrase_on_a_terminal(caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """What is typed is not shown, and encrypts the keys; no one is asked where keys are there already."""
    with open_terminal(tmp_path, "init", "--code", "AISI") as terminal:
        terminal.wait_for("Passphrase for the secret keys")
        asked = terminal.press("geheim\r", "Repeat")
        done = terminal.press("geheim\r", "is ready")

        assert "geheim" not in asked + done
    assert all("ENCRYPTED" in path.read_text() for path in (tmp_path / "caveat-keys").glob("*.pem"))


def test_rotating_lets_both_keys_sign_once(caveat: Caveat, tmp_path: Path) -> None:
    """The old key vouches for the new one by a checkpoint that ends with the entry; then only the new one is in force."""
    caveat("init", "--code", "AISI")
    before = list_keys(caveat)[0]
    done = caveat("admin", "key", "rotate", "--reason", "Once a year", "--json").document
    old, _, new = list_keys(caveat)
    row = sqlite3.connect(tmp_path / "caveat.db").execute("SELECT seq, note FROM checkpoint").fetchall()
    note = parse_note(row[0][1], where="checkpoint")
    lines = verify_note(note, [parse_vkey(str(key["vkey"]), where="key") for key in (old, new)])

    assert (done["entry"], done["replaces"], done["key"]) == (4, before["fingerprint"], new["fingerprint"])
    assert (old["in_force"], old["replaced"], old["secret"]) == (False, 4, None)
    assert (new["in_force"], new["secret"]) == (True, "caveat-keys/log.pem")
    assert [(len(row), row[0][0], note.checkpoint.size)] == [(1, 4, 4)]
    assert [(line.vkey, line.is_valid) for line in lines] == [(old["vkey"], True), (new["vkey"], True)]
    assert str(old["vkey"]) in (tmp_path / "caveat-keys" / "log.retired.pem").read_text()
    assert caveat("admin", "log", "show").out.count("Once a year") == 1


def test_every_log_key_signs_when_one_is_replaced(caveat: Caveat, tmp_path: Path) -> None:
    """Whoever knows the Ed25519 key alone can verify that checkpoint too."""
    caveat("init", "--code", "AISI")
    assert _told(caveat("admin", "key", "rotate", "--algorithm", "ml-dsa-44", "--reason", "x"), 2, "key-file-missing")
    caveat("admin", "key", "add", "--algorithm", "ml-dsa-44")
    assert caveat("admin", "key", "rotate", "--algorithm", "ml-dsa-44", "--reason", "x").code == 0
    keys = [parse_vkey(str(key["vkey"]), where="key") for key in list_keys(caveat) if key["vkey"]]
    (text,) = sqlite3.connect(tmp_path / "caveat.db").execute("SELECT note FROM checkpoint").fetchone()

    lines = verify_note(parse_note(text, where="checkpoint"), keys)
    assert [(line.algorithm.value, line.is_valid) for line in lines] == [("ed25519", True), ("ml-dsa-44", True), ("ml-dsa-44", True)]


def test_a_document_key_is_replaced_too(caveat: Caveat, tmp_path: Path) -> None:
    """With its certificate, and without a checkpoint."""
    caveat("init", "--code", "AISI", "--name", "AI Safety Institute")

    assert caveat("admin", "key", "rotate", "--algorithm", "ecdsa-p256", "--reason", "New computer").code == 0
    assert [key["in_force"] for key in list_keys(caveat)] == [True, False, True]
    assert sqlite3.connect(tmp_path / "caveat.db").execute("SELECT count(*) FROM checkpoint").fetchone() == (0,)
    assert "BEGIN CERTIFICATE" in caveat("admin", "key", "show", "--public").out


def test_a_retired_key_signs_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Put back in its place by hand, it is named and refused."""
    caveat("init", "--code", "AISI")
    caveat("admin", "key", "rotate", "--reason", "x")
    (tmp_path / "caveat-keys" / "log.pem").write_text((tmp_path / "caveat-keys" / "log.retired.pem").read_text())

    assert _told(caveat("admin", "key", "rotate", "--reason", "y"), 2, "key-not-in-force")


def test_revoking_takes_a_fingerprint_as_people_write_it(caveat: Caveat, tmp_path: Path) -> None:
    """Its beginning, in groups and capitals; the secret is retired, and the key never comes back."""
    caveat("init", "--code", "AISI")
    fingerprint = str(list_keys(caveat)[0]["fingerprint"])
    typed = f"{fingerprint[:4]} {fingerprint[4:8]} {fingerprint[8:12]}".upper()

    assert _told(caveat("admin", "key", "revoke", fingerprint[:6], "--reason", "x", "--yes"), 2, "not-valid")
    assert _told(caveat("admin", "key", "revoke", "0" * 64, "--reason", "x", "--yes"), 2, "key-unknown")
    done = caveat("admin", "key", "revoke", typed, "--reason", "Laptop stolen", "--json", "--yes").document
    assert (done["key"], done["entry"], done["untrusted_from"]) == (fingerprint, 4, None)
    assert done["retired"] == ["caveat-keys/log.retired.pem"]
    assert _told(caveat("admin", "key", "revoke", fingerprint, "--reason", "again", "--yes"), 2, "key-not-in-force")
    assert list_keys(caveat)[0]["in_force"] is False
    assert caveat("admin", "key", "add").code == 0
    assert [key["in_force"] for key in list_keys(caveat)] == [False, True, True]


@pytest.mark.parametrize(
    ("given", "kept"), [("2026-11-01", "2026-11-01T00:00:00+00:00"), ("2026-11-01T12:00:00+02:00", "2026-11-01T10:00:00+00:00")]
)
def test_a_revocation_may_name_a_time(caveat: Caveat, given: str, kept: str) -> None:
    """A date is its first moment, so that the day itself is not trusted."""
    caveat("init", "--code", "AISI")
    fingerprint = str(list_keys(caveat)[0]["fingerprint"])

    assert (
        caveat("admin", "key", "revoke", fingerprint, "--reason", "x", "--untrusted-from", given, "--json", "--yes").document[
            "untrusted_from"
        ]
        == kept
    )


@pytest.mark.parametrize("given", ["soon", "2999-01-01", ""])
def test_a_revocation_names_no_time_ahead(caveat: Caveat, given: str) -> None:
    """What is signed until then would be trusted; what is no date is refused."""
    caveat("init", "--code", "AISI")
    fingerprint = str(list_keys(caveat)[0]["fingerprint"])

    assert _told(caveat("admin", "key", "revoke", fingerprint, "--reason", "x", "--untrusted-from", given, "--yes"), 2, "bad-date")
    assert list_keys(caveat)[0]["in_force"] is True


def test_an_authority_speaks_of_its_own_keys(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another authority of the same registry neither replaces nor revokes them, and nothing of the attempt stays."""
    caveat("init", "--code", "AISI")
    assert caveat("init", "--code", "LAB", "--join", "--json").document["keys"] is None
    monkeypatch.setenv("CAVEAT_AUTHORITY", "LAB")
    fingerprint = str(list_keys(caveat)[0]["fingerprint"])

    assert _told(caveat("admin", "key", "revoke", fingerprint, "--reason", "x", "--yes"), 2, "not-permitted")
    assert _told(caveat("admin", "key", "rotate", "--reason", "x"), 2, "not-permitted")
    assert len(caveat("admin", "log", "show", "--json").document["entries"]) == 4
    assert sorted(path.name for path in (tmp_path / "caveat-keys").glob("*.pem")) == ["document.pem", "log.pem"]


def test_a_key_that_others_can_read_is_not_used(caveat: Caveat, tmp_path: Path) -> None:
    """The command says what to do, and nothing is recorded."""
    caveat("init", "--code", "AISI")
    (tmp_path / "caveat-keys" / "log.pem").chmod(0o644)

    answer = caveat("admin", "key", "rotate", "--reason", "x")
    assert _told(answer, 2, "file-open-to-others")
    assert "chmod 600" in answer.err
    assert len(caveat("admin", "log", "show", "--json").document["entries"]) == 3


def test_keys_of_another_registry_are_not_used(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for signing, nor written over by a new registry in the same folder."""
    caveat("init", "--code", "AISI")
    (tmp_path / "caveat.db").unlink()

    assert _told(caveat("init", "--code", "AISI"), 2, "key-file-exists")
    assert caveat("init", "--code", "AISI", "--no-key").code == 0
    assert _told(caveat("admin", "key", "add"), 2, "key-file-exists")
    assert _told(caveat("admin", "key", "rotate", "--reason", "x"), 2, "key-not-registered")
    monkeypatch.setenv("CAVEAT_KEYS", "elsewhere")
    assert caveat("admin", "key", "add").code == 0
    assert [key["secret"] for key in list_keys(caveat)] == ["elsewhere/log.pem"]


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_crash_between_log_and_folder_loses_no_key(caveat: Caveat, tmp_path: Path, *, is_recorded: bool) -> None:
    """A new key that the log has recorded takes its place at the next call; one that it has not is set aside."""
    folder = tmp_path / "caveat-keys"
    caveat("init", "--code", "AISI")
    if is_recorded:
        (folder / "log.pem").rename(folder / "log.new.pem")
    else:
        write_key(folder, make_key(KeyAlgorithm.ED25519, "caveat.log/AISI/0"), passphrase=None, is_new=True)

    assert [key["secret"] for key in list_keys(caveat)] == ["caveat-keys/log.pem", "caveat-keys/document.pem"]
    assert not (folder / "log.new.pem").exists()


def test_a_key_that_another_process_is_recording_is_left_alone(caveat: Caveat, tmp_path: Path) -> None:
    """While somebody holds the folder, listing keys neither places nor removes what waits there."""
    folder = tmp_path / "caveat-keys"
    caveat("init", "--code", "AISI")
    write_key(folder, make_key(KeyAlgorithm.ED25519, "caveat.log/AISI/0"), passphrase=None, is_new=True)
    with hold_folder(folder, is_waiting=True) as is_held:
        assert is_held
        assert caveat("admin", "key", "list").code == 0
        assert (folder / "log.new.pem").exists()

    assert caveat("admin", "key", "list").code == 0
    assert not (folder / "log.new.pem").exists()


def test_many_rotations_at_once_keep_every_key(caveat: Caveat, tmp_path: Path) -> None:
    """Of processes that rotate together some are told that they came late; log and folder agree, and no secret is lost."""
    caveat("init", "--code", "AISI")
    processes = [start(tmp_path, "admin", "key", "rotate", "--reason", f"{number}") for number in range(3)]
    told = [process.communicate(timeout=120) for process in processes]
    codes = [process.returncode for process in processes]
    states = list_keys(caveat)
    secrets = "".join(path.read_text() for path in (tmp_path / "caveat-keys").glob("log*.pem"))

    assert set(codes) <= {0, 2}, told
    assert codes.count(0) == len(states) - 2 >= 1
    assert all(str(state["vkey"]) in secrets for state in states if state["vkey"])
    assert [state["secret"] for state in states if state["in_force"]] == ["caveat-keys/document.pem", "caveat-keys/log.pem"]


def test_a_verifier_key_changed_in_the_database_is_named(caveat: Caveat, tmp_path: Path) -> None:
    """Row and entry must name the same key: else whoever edits the database could name one of their own."""
    caveat("init", "--code", "AISI")
    forged = make_key(KeyAlgorithm.ED25519, str(list_keys(caveat)[0]["vkey"]).partition("+")[0])
    database = sqlite3.connect(tmp_path / "caveat.db")
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f'DROP TRIGGER "{name}"')
    database.execute("UPDATE log SET vkey = ?", (forged.vkey,))
    database.commit()

    for command in (("admin", "key", "list"), ("admin", "key", "show"), ("admin", "key", "rotate", "--reason", "x")):
        assert _told(caveat(*command), 2, "log-key-differs"), command


def test_show_is_for_the_telephone_and_for_a_file(caveat: Caveat) -> None:
    """Groups of four for people; with --public exactly what a verifier reads, one key a line."""
    caveat("init", "--code", "AISI")
    key = list_keys(caveat)[0]
    fingerprint = str(key["fingerprint"])

    shown = caveat("admin", "key", "show", fingerprint[:8]).out
    assert " ".join(fingerprint[at : at + 4] for at in range(0, 32, 4)) in shown
    assert str(key["vkey"]) in shown.splitlines()
    assert caveat("admin", "key", "show", fingerprint, "--public").out == f"{key['vkey']}\n"
    assert caveat("admin", "key", "show", "--json").document["keys"][0]["vkey"] == key["vkey"]
    assert _told(caveat("admin", "key", "show", "xyz"), 2, "not-valid")


def _told(answer: Answer, code: int, fault: str) -> bool:
    assert answer.code == code, answer.err
    assert f"error[{fault}]" in answer.err, answer.err
    return True


def test_killed_at_every_step_a_rotation_leaves_a_usable_registry(caveat: Caveat, tmp_path: Path) -> None:
    """Wherever the process ends: the log is whole, the key in force has its secret here, and it signs."""
    caveat("init", "--code", "AISI")
    steps = 0
    while _kill_at(steps, lambda: caveat("admin", "key", "rotate", "--reason", "x")):
        here = {state["secret"] for state in list_keys(caveat) if state["in_force"]}

        assert here == {"caveat-keys/log.pem", "caveat-keys/document.pem"}, steps
        assert caveat("admin", "log", "checkpoint").code == 0, steps
        steps += 1
    assert steps > 3
    assert caveat("admin", "log", "check", "--fast").code == 0


def test_killed_at_every_step_init_can_be_run_again(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it left is completed, with two keys in force and their secrets here."""
    steps = 0
    monkeypatch.chdir(_make(tmp_path / "0"))
    while _kill_at(steps, lambda: caveat("init", "--code", "AISI")):
        assert caveat("init", "--code", "AISI").code == 0, steps
        assert [state["secret"] for state in list_keys(caveat) if state["in_force"]] == ["caveat-keys/log.pem", "caveat-keys/document.pem"]
        assert caveat("admin", "log", "checkpoint").code == 0, steps
        steps += 1
        monkeypatch.chdir(_make(tmp_path / str(steps)))
    assert steps > 3


_STEPS = frozenset({"os.link", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect"})


def _kill_at(step: int, run: Callable[[], object]) -> bool:
    """Run in a process of its own that is killed just before it touches its folder for the time after *step*; False where it never did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of other threads, which the child does not need
        child = os.fork()
    if child == 0:
        here, left = str(Path.cwd()), [step]

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event in _STEPS and (event == "sqlite3.connect" or here in str(arguments[0]) or not str(arguments[0]).startswith("/")):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        run()
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def _make(folder: Path) -> Path:
    folder.mkdir()
    return folder
