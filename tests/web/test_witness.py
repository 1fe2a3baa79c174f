"""This registry as a witness over HTTP: it cosigns one history of a log, whatever is sent to it and whoever is faster."""

import json
import os
import secrets
import shutil
import signal
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette

from registry.cli.main import main
from registry.exchange.foreign_logs import find_equivocation
from registry.records.model_version import ModelRef, ModelVersion
from registry.seal.key_files import read_keys
from registry.seal.signed_notes import format_consistency, parse_note, parse_vkey, verify_note
from registry.store.ledger import Ledger
from registry.store.log_seals import consistency_path, list_witnessings
from tests.cli.given_out import ask, inside, run
from tests.web.test_log_tiles import read_root
from web.server.run import add_witness
from web.site.tile_export import export_tiles
from web.tiles.log_files import write_prefix
from web.witness.witness_answers import SIZE, Witness


def grow(place: Path, *versions: str) -> str:
    """Register model versions of the lab, and return its signed checkpoint."""
    with inside(place):
        for version in versions:
            run("model", "add", f"LAB/m/{version}")
        return str(ask("admin", "log", "checkpoint")["note"])


def open_log(place: Path) -> Ledger:
    return Ledger.open(f"sqlite:///{place / 'caveat.db'}", clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))


def read_vkey(place: Path) -> str:
    with inside(place):
        (own,) = (log for log in ask("admin", "log", "list")["logs"] if log["own"])
    return str(own["vkeys"][0])


def request(place: Path, note: str, old: int) -> bytes:
    """Return what asks to cosign *note* after *old* entries, as the log in *place* proves it."""
    ledger, size = open_log(place), parse_note(note, where="note").checkpoint.size
    with ledger.view() as view:
        path = consistency_path(view, old, size) if 0 < old < size else ()
    ledger.close()
    return format_consistency(old, path, note).encode()


@pytest.fixture(scope="module")
def _registries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("witness")
    with pytest.MonkeyPatch.context() as patch:
        for name, code in (("lab", "LAB"), ("wit", "WIT")):
            (folder / name).mkdir()
            with inside(folder / name):
                patch.setenv("CAVEAT_PASSPHRASE", "")
                run("init", "--code", code)
    return folder


@pytest.fixture
def registries(_registries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab and a witness that cosigns for it."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "")
    return Path(shutil.copytree(_registries, tmp_path / "registries"))


@pytest.fixture
def witness(registries: Path) -> Iterator[Witness]:
    ledger = open_log(registries / "wit")
    ring = read_keys(registries / "wit" / "caveat-keys", ask=lambda _path: "")
    yield Witness(ledger, ring, actor="WIT", keys=[parse_vkey(read_vkey(registries / "lab"), where="lab")])
    ledger.close()


def test_a_witness_follows_one_history_of_a_log(registries: Path, witness: Witness) -> None:
    """Each refusal has the status that tlog-witness gives it; nothing is recorded by one."""
    lab = registries / "lab"
    first = grow(lab, "1")
    size = parse_note(first, where="first").checkpoint.size
    with inside(registries / "wit"):
        own = str(ask("admin", "log", "checkpoint")["note"])

    assert witness.answer(b"\xff").status == 400
    assert witness.answer(b"old 9999\n\n" + first.encode()).status == 400
    assert witness.answer(format_consistency(0, (), own).encode()).status == 404
    # Another size than the one that was signed.
    altered = request(lab, first, 0).replace(f"\n{size}\n".encode(), f"\n{size + 1}\n".encode())
    assert witness.answer(altered).status == 403
    conflict = witness.answer(request(lab, first, size))
    assert (conflict.status, conflict.body, conflict.media_type) == (409, "0\n", SIZE)

    done = witness.answer(request(lab, first, 0))
    assert done.status == 200
    assert witness.answer(request(lab, first, size)).body == done.body
    second = grow(lab, "2", "3")
    assert witness.answer(request(lab, second, 0)).body == f"{size}\n"
    broken = request(lab, second, size).split(b"\n")
    broken[1] = b64encode(bytes(32))
    assert witness.answer(b"\n".join(broken)).status == 422
    after = witness.answer(request(lab, second, size))
    assert after.status == 200
    assert witness.answer(request(lab, first, 0)).status == 409
    # The lines verify with the witness's own key, on the note that was sent.
    key = parse_vkey(read_vkey(registries / "wit"), where="wit").as_cosigner()
    (line,) = verify_note(parse_note(second + after.body, where="cosigned"), [key])
    assert line.is_valid


def test_a_second_history_is_refused_and_recorded(registries: Path, witness: Witness) -> None:
    lab, fork = registries / "lab", registries / "fork"
    first = grow(lab, "1")
    size = parse_note(first, where="first").checkpoint.size
    shutil.copytree(lab, fork)
    assert witness.answer(request(lab, first, 0)).status == 200
    assert witness.answer(request(lab, grow(lab, "2"), size)).status == 200

    # As many entries as were seen, and others.
    same = witness.answer(request(fork, grow(fork, "other"), size))
    assert (same.status, same.media_type) == (409, SIZE)
    seen = parse_note(grow(lab), where="lab").checkpoint.size
    later = witness.answer(request(fork, grow(fork, "more"), seen))

    assert later.status == 422
    with witness._ledger.view() as view:
        origin = parse_note(first, where="first").checkpoint.origin
        assert len(find_equivocation(view, origin)) == 2
        assert [known.payload.size for known in list_witnessings(view, origin)] == [size, seen]


def test_of_two_requests_at_once_one_history_is_cosigned(registries: Path, witness: Witness) -> None:
    lab, fork = registries / "lab", registries / "fork"
    first = grow(lab, "1")
    shutil.copytree(lab, fork)
    bodies = [request(lab, grow(lab, "2"), 0), request(fork, grow(fork, "other"), 0)]

    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(witness.answer, bodies * 4))

    assert {answer.status for answer in answers} == {200, 409}
    with witness._ledger.view() as view:
        notes = {known.payload.root for known in list_witnessings(view, parse_note(first, where="first").checkpoint.origin)}
    assert len(notes) == 1


def test_a_killed_witness_goes_on_from_what_it_recorded(registries: Path, witness: Witness) -> None:
    """Killed at several moments, it has seen the checkpoint or not, and then cosigns it."""
    lab = registries / "lab"
    for number, delay_s in enumerate((0.0, 0.01, 0.03, 0.08)):
        note = grow(lab, str(number))
        size = parse_note(note, where="note").checkpoint.size
        seen = int(witness.answer(request(lab, note, size)).body) if number else 0
        body = request(lab, note, seen)
        child = os.fork()
        if child == 0:  # pragma: no cover
            try:
                own = open_log(registries / "wit")
                Witness(own, witness._ring, actor="WIT", keys=witness._keys).answer(body)
            finally:
                os._exit(0)
        time.sleep(delay_s)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

        again = witness.answer(body)
        assert (again.status, again.body) in ((200, again.body), (409, f"{size}\n"))
        assert witness.answer(request(lab, note, size)).status == 200
    with inside(registries / "wit"):
        assert ask("admin", "log", "check")["entries"] > 4


@pytest.fixture
def address(registries: Path, witness: Witness) -> Iterator[str]:
    """A server of the witness on the loopback, and the address of its log."""
    ledger = open_log(registries / "wit")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(add_witness(Starlette(), ledger, witness), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        with ledger.view() as view:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}{write_prefix(view.log_origin)}"
        server.should_exit = True
        thread.join()
    ledger.close()


def test_a_log_asks_its_witness_over_http(registries: Path, address: str, tmp_path: Path) -> None:
    """A checkpoint is published with the cosignatures that registry.cfg asks for, and not before."""
    lab, key = registries / "lab", read_vkey(registries / "wit")
    grow(lab, "1")
    with inside(lab):
        with Path("registry.cfg").open("a", encoding="utf-8") as config:
            config.write("\n[witness]\nquorum = 1\n")
        assert "note" not in json.loads(run("admin", "log", "checkpoint", "--json") or "{}")
        assert run("admin", "log", "tiles", "-o", str(tmp_path / "tiles")) == ""
        kept = ask("admin", "log", "checkpoint", "--witness", address, "--trust", key)
        assert kept["note"].count("— ") == 2
        run("model", "add", "LAB/m/2", "--developer", "LAB")
        run("model", "add", "LAB/m/2")
        grown = ask("admin", "log", "checkpoint", "--witness", address, "--trust", key)
        assert grown["size"] == kept["size"] + 1
        assert grown["note"].count("— ") == 2
        run("admin", "log", "tiles", "-o", str(tmp_path / "tiles"))
    folder = tmp_path / "tiles" / write_prefix(kept["origin"]).strip("/")
    assert (folder / "checkpoint").read_text() == grown["note"]
    assert read_root(grown["size"], lambda path: (folder / path).read_bytes()).hex() == grown["root"]


def test_a_script_learns_that_a_witness_did_not_cosign(
    registries: Path, address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note is written, the exit code is 1, and the message names the witness and no web page."""
    lab, key = registries / "lab", read_vkey(registries / "wit")
    grow(lab, "1")
    codes, messages = [], []
    with inside(lab):
        for rest in ((address[:-4], "--trust", key), (address,), (address, "--trust", key)):
            monkeypatch.setattr("sys.argv", ["caveat", "admin", "log", "checkpoint", "-o", "own.note", "--witness", *rest])
            with pytest.raises(SystemExit) as ended:
                main()
            codes.append(ended.value.code)
            messages.append(capsys.readouterr().err)
        note = Path("own.note").read_text()

    assert codes == [1, 1, 0]
    assert f"not cosigned: {address[:-4]}: it answers 404" in messages[0]
    assert "<" not in messages[0]
    assert "its key is not known here" in messages[1]
    assert note.count("— ") == 2


def test_tiles_of_logs_that_were_taken_over_are_mirrors(registries: Path, witness: Witness, tmp_path: Path) -> None:
    """With the checkpoint that was verified, and our cosignature where we gave it."""
    lab = registries / "lab"
    ledger = open_log(lab)
    with ledger.write(actor="LAB") as writer:
        models = [ModelRef(developer="LAB", name="m", version=str(number)) for number in range(300)]
        writer.append_many([ModelVersion(model=model) for model in models])
    ledger.close()
    note = grow(lab)
    size = parse_note(note, where="note").checkpoint.size
    with inside(lab):
        run("admin", "bundle", "write", "-o", str(tmp_path / "lab.zip"))
    with inside(registries / "wit"):
        run("admin", "bundle", "read", str(tmp_path / "lab.zip"), "--vkey", read_vkey(lab))
    assert witness.answer(request(lab, note, size)).status == 200

    with witness._ledger.view() as view:
        done = export_tiles(view, tmp_path / "tiles")
        again = export_tiles(view, tmp_path / "tiles")

    assert (again.written, again.unchanged) == (0, done.written)
    folder = tmp_path / "tiles" / write_prefix(parse_note(note, where="note").checkpoint.origin).strip("/")
    mirrored = parse_note((folder / "checkpoint").read_text(), where="mirror")
    assert len(mirrored.lines) == 2
    assert read_root(mirrored.checkpoint.size, lambda path: (folder / path).read_bytes()).hex() == mirrored.checkpoint.root
    assert (folder / "tile" / "entries" / "000").is_file()
