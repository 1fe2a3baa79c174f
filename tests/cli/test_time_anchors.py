"""`caveat admin log anchor` and the check `time-anchor`: an authority's clock, and answers that are not what was asked for."""

import base64
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.codec.canonical_documents import canonical_bytes
from registry.codec.statement_encoding import leaf_hash
from registry.exchange.http_requests import NoAnswerError, post
from tests.cli.conftest import Answer, Caveat
from tests.cli.time_stamping_authority import Authority, Reply, serve


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority") / "tsa")


@pytest.fixture(scope="session")
def _registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("registry")


@pytest.fixture
def lab(caveat: Caveat, _registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registry of four entries, made once and copied; the test works in it."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "")
    if not any(_registry.iterdir()):
        monkeypatch.chdir(_registry)
        assert caveat("init", "--code", "LAB").code == 0
        assert caveat("model", "add", "LAB/m/1").code == 0
        key = caveat("admin", "key", "show", "--public")
        Path("lab.keys").write_text(key.out, encoding="utf-8")
    place = tmp_path / "lab"
    shutil.copytree(_registry, place)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def anchored(caveat: Caveat, lab: Path, authority: Authority) -> Iterator[Answer]:
    """The registry with its checkpoint anchored in `lab.note`."""
    with serve(authority.reply) as url:
        yield caveat("admin", "log", "anchor", "--tsa", url, "--tsa-cert", authority.root, "-o", "lab.note", "--json")


def _find(answer: Answer, name: str = "time-anchor") -> tuple[str, str]:
    (file,) = answer.document["files"]
    check = next(check for check in file["checks"] if check["name"] == name)
    return check["answer"], check["note"]


def _list_faults(answer: Answer) -> list[str]:
    return [fault["code"] for fault in json.loads(answer.err)["faults"]]


def _size(caveat: Caveat) -> int:
    return int(caveat("admin", "log", "show", "--json").document["size"])


def test_a_stamp_over_a_checkpoint_is_written_recorded_and_verified_by_others(
    caveat: Caveat, anchored: Answer, lab: Path, authority: Authority
) -> None:
    document = anchored.document
    assert (document["verified"], document["policy"]) == (True, "1.2.3.4.1")
    command = ["openssl", "ts", "-verify", "-data", "lab.note", "-in", "lab.note.tsr", "-CAfile", str(authority.root)]
    assert subprocess.run(command, cwd=lab, capture_output=True, check=False).returncode == 0

    (entry,) = caveat("admin", "log", "show", "--kind", "time_anchor", "--json").document["entries"]
    payload = entry["payload"]
    assert base64.b64decode(payload["answer"]) == (lab / "lab.note.tsr").read_bytes()
    assert payload["note"].encode() == (lab / "lab.note").read_bytes()
    assert [payload[name] for name in ("sha256", "serial", "size")] == [document[name] for name in ("sha256", "serial", "size")]

    verified = caveat("verify", "lab.note", "--key", "lab.keys", "--tsa-cert", authority.root, "--require", "time-anchor", "--json")
    assert (verified.code, _find(verified)[0]) == (0, "yes")
    registry = caveat("verify", "--registry", "sqlite:///caveat.db", "--key", "lab.keys", "--tsa-cert", authority.root, "--json")
    assert (registry.code, _find(registry)[0]) == (0, "yes")
    checked = caveat("admin", "log", "check", "--tsa-cert", authority.root, "--json").document["time_anchor"]
    assert checked["answer"] == "yes"
    assert checked["note"].startswith(f"the log had its first {document['size']} entries by")


def test_without_a_certificate_a_stamp_is_not_checked_and_without_a_stamp_there_is_no_check(
    caveat: Caveat, lab: Path, authority: Authority
) -> None:
    with serve(authority.reply) as url:
        anchored = caveat("admin", "log", "anchor", "--tsa", url, "-o", "lab.note")
    assert "not checked: give the root certificate" in anchored.out

    verified = caveat("verify", "lab.note", "--key", "lab.keys", "--json")
    assert (verified.code, _find(verified)[0]) == (0, "not_checked")
    assert caveat("verify", "lab.note", "--key", "lab.keys", "--require", "time-anchor").code == 3
    assert caveat("admin", "log", "check", "--json").document["time_anchor"]["answer"] == "not_checked"
    (lab / "lab.note.tsr").unlink()
    names = [check["name"] for check in caveat("verify", "lab.note", "--key", "lab.keys", "--json").document["files"][0]["checks"]]
    assert "time-anchor" not in names
    missing = caveat("verify", "lab.note", "--key", "lab.keys", "--tsa-cert", authority.root, "--json")
    assert _find(missing) == ("not_checked", "no time stamp here: put NAME.tsr next to the checkpoint")


def test_cosignatures_that_come_later_do_not_break_a_stamp(caveat: Caveat, anchored: Answer, lab: Path, authority: Authority) -> None:
    cosigned = (lab / "lab.note").read_text(encoding="utf-8")
    (lab / "lab.note").write_text(f"{cosigned}— witness.example {base64.b64encode(bytes(80)).decode()}\n", encoding="utf-8")

    verified = caveat("verify", "lab.note", "--key", "lab.keys", "--tsa-cert", authority.root, "--json")
    assert (verified.code, _find(verified)[0]) == (0, "yes")


def test_a_stamp_of_another_checkpoint_a_damaged_one_and_one_of_a_stranger_are_wrong(
    caveat: Caveat, anchored: Answer, lab: Path, authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path / "stranger")
    note, stamp = (lab / "lab.note").read_bytes(), (lab / "lab.note.tsr").read_bytes()
    own = ("--tsa-cert", authority.root)

    def verify(*words: str | Path) -> tuple[int, str, str]:
        answer = caveat("verify", "lab.note", "--key", "lab.keys", *words, "--json")
        return answer.code, *_find(answer)

    assert verify("--tsa-cert", stranger.root)[:2] == (1, "no")
    changed = bytearray(stamp)
    changed[-1] ^= 1
    (lab / "lab.note.tsr").write_bytes(bytes(changed))
    assert verify(*own)[:2] == (1, "no")
    (lab / "lab.note.tsr").write_bytes(stamp[:-5])
    assert verify()[:2] == (1, "no")
    (lab / "lab.note.tsr").write_bytes(stamp)
    caveat("model", "add", "LAB/m/2")
    caveat("admin", "log", "checkpoint", "-o", "lab.note")
    code, answer, why = verify(*own)
    assert (code, answer) == (1, "no")
    assert "which is not the SHA-256 of this checkpoint" in why
    # The certificate of the signer alone is no root, and a file without one is refused.
    (lab / "lab.note").write_bytes(note)
    assert verify("--tsa-cert", authority.folder / "signer.pem")[:2] == (1, "no")
    refused = caveat("verify", "lab.note", "--tsa-cert", "lab.note", "--json")
    assert (refused.code, _list_faults(refused)) == (2, ["bad-certificate"])


def test_a_certificate_that_had_expired_when_it_signed_vouches_for_nothing(caveat: Caveat, lab: Path, tmp_path: Path) -> None:
    late = Authority(tmp_path / "late", days=-1)
    before = _size(caveat)
    with serve(late.reply) as url:
        refused = caveat("admin", "log", "anchor", "--tsa", url, "--tsa-cert", late.root, "-o", "lab.note", "--json")

    assert (refused.code, _list_faults(refused)) == (1, ["time-stamp-wrong"])
    assert "expired" in refused.err
    assert not (lab / "lab.note").exists()
    assert _size(caveat) == before


def _other_digest(authority: Authority, folder: Path) -> Reply:
    """A stamp over something else, with a nonce of its own."""
    (folder / "other").write_bytes(b"something else")

    def reply(_request: bytes) -> bytes:
        command = ["openssl", "ts", "-query", "-data", "other", "-sha256", "-cert"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
        return authority.reply(done.stdout)

    return reply


def test_an_answer_that_was_not_asked_for_is_refused_and_nothing_is_recorded(caveat: Caveat, lab: Path, authority: Authority) -> None:
    strict = Authority(authority.folder.parent / "strict", digests="sha512")

    def other_nonce(request: bytes) -> bytes:
        # An old answer, replayed: the same checkpoint, and the nonce of an earlier request.
        return authority.reply(authority.requests[0] if authority.requests else request)

    before = _size(caveat)
    with serve(authority.reply) as url:
        assert caveat("admin", "log", "anchor", "--tsa", url, "-o", "first.note").code == 0
    size = _size(caveat)
    (entry,) = caveat("admin", "log", "show", "--kind", "time_anchor", "--json").document["entries"]
    kept = str(entry["payload"]["size"])
    authority.requests[:] = authority.requests[-1:]
    for reply, code, fault, words in (
        (_other_digest(authority, lab), 1, "time-stamp-wrong", "the stamp is over"),
        (other_nonce, 1, "time-stamp-wrong", "nonce"),
        (strict.reply, 3, "time-stamp-refused", "did not grant it (rejection)"),
        (lambda _: (500, b"no"), 3, "time-stamp-refused", "it answers 500"),
        (lambda _: (302, b""), 3, "time-stamp-refused", "it answers 302"),
        (lambda _: b"", 3, "time-stamp-refused", "it is no answer"),
        (lambda _: b"<html>" * 100_000, 3, "time-stamp-refused", "bytes; at most"),
    ):
        with serve(reply) as url:
            refused = caveat("admin", "log", "anchor", "--tsa", url, "--size", kept, "-o", "lab.note", "--json")
        assert (refused.code, _list_faults(refused)) == (code, [fault]), words
        assert words in refused.err
    assert before < size == _size(caveat)
    assert not (lab / "lab.note").exists()
    closed = caveat("admin", "log", "anchor", "--tsa", "http://127.0.0.1:9", "-o", "lab.note", "--json")
    assert (closed.code, _list_faults(closed)) == (3, ["time-stamp-refused"])
    wrong = caveat("admin", "log", "anchor", "--tsa", "ftp://tsa.example", "-o", "lab.note", "--json")
    assert (wrong.code, _list_faults(wrong)) == (2, ["bad-option"])


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(lab: Path) -> None:
    """The limit of a socket begins again with each byte; that of a request does not."""
    listener = socket.create_server(("127.0.0.1", 0))
    is_over = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            while not is_over.wait(0.02):
                connection.sendall(b"H")

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    with pytest.raises(NoAnswerError, match="takes too long"):
        post(f"http://127.0.0.1:{listener.getsockname()[1]}", b"x", content_type="text/plain", most=10, timeout_s=0.2)
    is_over.set()
    thread.join()
    listener.close()


def test_a_recorded_stamp_that_was_changed_by_hand_is_found(caveat: Caveat, anchored: Answer, lab: Path, authority: Authority) -> None:
    """Even where the whole log was computed again: the stamp has its own signature."""
    database = sqlite3.connect("caveat.db")
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {name}")
    (seq,) = database.execute("SELECT seq FROM time_anchor").fetchone()
    (text,) = database.execute("SELECT json FROM body WHERE seq = ?", (seq,)).fetchone()
    changed = json.loads(text)
    changed["payload"]["stamped_at"] = "2020-01-01T00:00:00Z"
    content = canonical_bytes(changed)
    database.execute("UPDATE body SET json = ? WHERE seq = ?", (content.decode(), seq))
    database.execute("UPDATE entry SET leaf = ? WHERE seq = ?", (bytes.fromhex(leaf_hash(content)), seq))
    database.commit()
    database.close()

    checked = caveat("admin", "log", "check", "--fast", "--tsa-cert", authority.root, "--json")
    assert checked.code == 1
    assert "time-stamp-wrong" in _list_faults(checked)
    assert "its entry says something else" in checked.err


def test_without_the_library_nothing_is_asked_and_a_stamp_is_not_checked(
    caveat: Caveat, anchored: Answer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)

    refused = caveat("admin", "log", "anchor", "--tsa", "http://127.0.0.1:9", "-o", "lab.note", "--json")
    assert (refused.code, _list_faults(refused)) == (3, ["part-not-installed"])
    verified = caveat("verify", "lab.note", "--key", "lab.keys", "--tsa-cert", authority.root, "--json")
    assert _find(verified)[0] == "not_checked"
    assert "caveat[anchors]" in _find(verified)[1]
