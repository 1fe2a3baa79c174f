"""`caveat admin bundle write`, `import`, `backup` and `restore`, run as a user would run them in two folders."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.cli.main import main
from tests.transfer.registries import Institute

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `caveat` in a folder and give exit code, output and talk."""
    for name in ("CAVEAT_REGISTRY", "CAVEAT_AUTHORITY", "CAVEAT_KEYS", "CAVEAT_PASSPHRASE", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)

    def call(folder: Path, *arguments: object) -> tuple[int, str, str]:
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["caveat", *map(str, arguments)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return call


def test_a_claim_shows_what_others_say_of_the_same_passage(aisi: Institute, lab: Institute, run: Run, tmp_path: Path) -> None:
    """Two institutes quote one passage; after an import each verdict is shown beside the other, and the foreign log can be read."""
    theirs, ours = aisi.find_claim("CLM-AISI-2026-0001-S"), lab.add_quoted()
    aisi.export(tmp_path / "a.caveat")
    (tmp_path / "aisi.keys").write_text(f"{aisi.vkey}\n", encoding="utf-8")
    here = tmp_path / "here"
    url = ("--registry", lab.ledger.url)

    before = run(here, "claim", "show", ours, "--json", *url)
    (here / "registry.cfg").write_text("[registry]\nauthority = LAB\n", encoding="utf-8")
    taken = run(here, "admin", "bundle", "read", tmp_path / "a.caveat", "--key", tmp_path / "aisi.keys", "--json", *url)
    after = run(here, "claim", "show", ours, "--json", *url)
    as_before = run(here, "claim", "show", ours, "--as-of", "5", "--json", *url)
    listed = run(here, "claim", "list", "--log", aisi.origin, "--json", *url)

    assert (taken[0], json.loads(taken[1])["new"]) == (0, 7)
    assert json.loads(before[1])["elsewhere"] == json.loads(as_before[1])["elsewhere"] == []
    (other,) = json.loads(after[1])["elsewhere"]
    assert (other["origin"], other["claim"], other["outcome"]) == (aisi.origin, theirs.reference, None)
    assert len(json.loads(listed[1])["claims"]) == 3


def test_an_equivocation_is_a_no(aisi: Institute, lab: Institute, institutes: Callable[..., Institute], run: Run, tmp_path: Path) -> None:
    """Exit code 1, the evidence in the log; the next import of the first history warns."""
    fork = institutes("AISI", 1, "fork")
    fork.add_claims(4)
    aisi.export(tmp_path / "a.caveat")
    fork.export(tmp_path / "fork.caveat")
    here = tmp_path / "here"
    here.mkdir()
    (here / "registry.cfg").write_text(f"[registry]\nurl = {lab.ledger.url}\nauthority = LAB\n", encoding="utf-8")
    run(here, "admin", "bundle", "read", tmp_path / "a.caveat", "--vkey", aisi.vkey)

    code, _, talk = run(here, "admin", "bundle", "read", tmp_path / "fork.caveat")
    log = run(here, "admin", "log", "show")
    aisi.add_claims(1)
    aisi.export(tmp_path / "more.caveat")
    more = run(here, "admin", "bundle", "read", tmp_path / "more.caveat")

    assert (code, "error[equivocation]" in talk, "equivocation" in log[1]) == (1, True, True)
    assert (more[0], "WARNING" in more[2]) == (0, True)


def test_a_registry_goes_and_comes_back(run: Run, tmp_path: Path) -> None:
    """From init over backup to restore and export, with the keys of the folder; without them nothing is signed, and that is said."""
    home, back = tmp_path / "home", tmp_path / "back"
    run(home, "init", "--code", "LAB", "--role", "lab")
    kept = run(home, "admin", "backup", "b.db", "--json")
    exported = run(home, "admin", "bundle", "write", "--json")
    restored = run(back, "admin", "restore", home / "b.db", "--json")
    bare = run(back, "admin", "backup", "bare.db")
    without = run(back, "admin", "bundle", "write", "-o", "x.jsonl")
    none = run(tmp_path / "none", "admin", "restore", back / "bare.db", "--checkpoint", home / "b.db.checkpoint", "--json")

    assert json.loads(kept[1])["is_signed"] is True
    assert (json.loads(exported[1])["size"], json.loads(restored[1])["entries"]) == (3, 3)
    assert "NOT signed" in bare[1]
    assert (without[0], none[0]) == (0, 0)
    assert [run(home, "admin", "backup", "b.db")[0], run(back, "admin", "restore", home / "b.db")[0]] == [2, 2]


def test_no_checkpoint_is_asked_for_and_can_be_done_without(run: Run, tmp_path: Path) -> None:
    """A backup without its checkpoint comes back only when somebody says so, and is told to be unproven."""
    home, back = tmp_path / "home", tmp_path / "back"
    run(home, "init", "--code", "LAB", "--role", "lab")
    run(home, "admin", "backup", "b.db")
    (home / "b.db.checkpoint").unlink()

    refused = run(back, "admin", "restore", home / "b.db")
    done = run(back, "admin", "restore", home / "b.db", "--without-checkpoint")

    assert (refused[0], "checkpoint-not-found" in refused[2]) == (2, True)
    assert (done[0], "is not checked" in done[1]) == (0, True)
