"""Sealed contexts in a live replay: their texts are asked, and nothing but salted commitments enters the record before the reveal."""

import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.registration.context_specification import read_context_spec
from tests.cli.scenario import register, write_audit
from tests.endpoint.server import run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

RUN = ("audit", "run", "small.yaml", "--seal")
SCORING = 'scoring: {kind: pattern, score: any_expected, expected: ["ok"]}\n'


def read_log(folder: Path) -> str:
    """Return every statement of the log, as it is kept."""
    with sqlite3.connect(folder / "caveat.db") as connection:
        return "\n".join(str(row[0]) for row in connection.execute("SELECT json FROM body ORDER BY seq"))


def list_hidden(folder: Path) -> list[str]:
    """Return what would give a sealed context away: its texts, and unsalted digests of the file and of what it says."""
    found = ["You are in test one.", "You are in deploy two."]
    for name in ("test.yaml", "deploy.yaml"):
        spec = read_context_spec(folder / name)[0]
        found.append(hashlib.sha256(canonical_bytes(to_document(spec))).hexdigest())
        found.append(hashlib.sha256((folder / name).read_bytes()).hexdigest())
    return found


@pytest.fixture
def claim(caveat: Caveat, tmp_path: Path) -> str:
    """A registered claim, with a replay of 8 calls in files."""
    found = register(caveat, tmp_path)[0]
    write_replay(tmp_path, tasks=2, more=SCORING)
    return found


def test_one_command_seals_and_asks(caveat: Caveat, tmp_path: Path, claim: str) -> None:
    """The endpoint gets the texts; each context file has its own salt in a file for its owner's eyes; again, nothing is sealed anew."""
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)
        again = caveat(*RUN, server=server)

    seals = [json.loads((tmp_path / f"{name}.seal.yaml").read_text(encoding="utf-8")) for name in ("test", "deploy")]
    assert (ran.code, again.code) == (0, 0), ran.err + again.err
    assert {asked.body["system"] for asked in server.posts()} >= {"You are in test one.", "You are in deploy two."}
    assert (ran.err.count("sealed CTX-"), again.err.count("sealed CTX-")) == (2, 0)
    assert seals[0]["opening"]["salt"] != seals[1]["opening"]["salt"]
    assert {(tmp_path / f"{name}.seal.yaml").stat().st_mode & 0o777 for name in ("test", "deploy")} == {0o600}


def test_lock_run_and_import_hold_commitments_until_the_reveal(caveat: Caveat, tmp_path: Path, claim: str) -> None:
    """Neither log nor supplement has a text or an unsalted digest of a sealed context, and a reveal shows the text that was asked."""
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="replay: small.yaml\n"), "--seal", "--json")
    assert locked.code == 0, locked.err
    audit = locked.document["audit"]
    write_replay(tmp_path, tasks=2, more=f"{SCORING}audit: {audit}")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)
    assert ran.code == 0, ran.err
    assert caveat("audit", "score", "small.run").code == 0
    imported = caveat("audit", "conclude", audit, "small.run", "--json")
    assert imported.code in (0, 1), imported.err
    shown = caveat("audit", "show", audit, "--json").document
    assert caveat("report", claim.partition("@")[0], "--html", "-o", "out").code == 0
    page = next((tmp_path / "out").glob("CLM-*.html")).read_text(encoding="utf-8")

    asked = shown["runs"][0]["payload"]["provenance"]["replayed"]["contexts"]
    assert [(one["is_sealed"], one["spec"], one["file"]) for one in asked] == [(True, None, None)] * 2
    assert shown["deviations"] == []
    assert imported.document["restriction"]["basis"] == "replay"
    log = read_log(tmp_path)
    assert [one for one in list_hidden(tmp_path) if one in log or one in page] == []
    assert asked[1]["digest"] in page

    revealed = caveat("spec", "reveal", "deploy.seal.yaml", "--reason", "The replay is done", "--yes")
    assert revealed.code == 0, revealed.err
    assert caveat("report", claim.partition("@")[0], "--html", "-o", "later").code == 0
    later = next((tmp_path / "later").glob("CLM-*.html")).read_text(encoding="utf-8")
    assert "You are in deploy two." in later
    assert "You are in test one." not in later


def test_a_sealed_context_that_was_changed_is_refused(caveat: Caveat, tmp_path: Path, claim: str) -> None:
    """What is asked is what was sealed; nothing is sent."""
    with run_endpoint() as server:
        assert caveat(*RUN, server=server).code == 0
        path = tmp_path / "deploy.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("two.", "three."), encoding="utf-8")
        refused = caveat("audit", "run", "small.yaml", "-o", "other.run", server=server)

    assert (refused.code, "sealed-context-differs" in refused.err) == (2, True)
    assert len(server.posts()) == 8


def test_what_cannot_be_sealed_is_said(caveat: Caveat, tmp_path: Path, claim: str) -> None:
    """A public specification, a dry run, a seal that the registry does not have: each with its reason, and nothing is sent."""
    assert caveat("spec", "add", "deploy_context", "office", "deploy.yaml").code == 0
    path = tmp_path / "small.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("deploy.yaml", "office"), encoding="utf-8")
    with run_endpoint() as server:
        public = caveat(*RUN, server=server)
        dry = caveat(*RUN, "--dry-run", server=server)
        write_replay(tmp_path, tasks=2)
        assert caveat(*RUN, server=server).code == 0
        (tmp_path / "caveat.db").unlink()
        shutil.rmtree(tmp_path / "caveat-keys")
        assert caveat("init", "--code", "AISI").code == 0
        elsewhere = caveat("audit", "run", "small.yaml", "-o", "other.run", server=server)

    assert (public.code, "already-public" in public.err) == (2, True)
    assert (dry.code, "bad-option" in dry.err) == (2, True)
    assert (elsewhere.code, "seal-not-recorded" in elsewhere.err) == (2, True), elsewhere.err
    assert len(server.posts()) == 8
