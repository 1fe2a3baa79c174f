"""Authors' keys from the command line: made, used by every command that records, replaced, revoked, and never used for others."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from registry.codec.canonical_documents import canonical_bytes
from tests.cli.conftest import Caveat
from tests.cli.scenario import register
from tests.cli.test_verify_published import find_note, list_answers


def list_backed(caveat: Caveat, *options: str) -> list[tuple[str, str]]:
    """Return author and who stands behind it, of each entry of the log."""
    entries = caveat("admin", "log", "show", "--start", "1", "--json", *options).document["entries"]
    return [(one["entry"]["actor"], one["backed_by"]) for one in entries]


def find_file(folder: Path) -> Path:
    return folder / "caveat-keys" / "statement-AISI.pem"


@pytest.fixture
def signing(caveat: Caveat, tmp_path: Path) -> dict[str, Any]:
    """A registry of AISI with a statement key: entry 4."""
    caveat("init", "--code", "AISI")
    return dict(caveat("admin", "key", "add", "--statements", "--json").document)


def add_model(caveat: Caveat, version: str) -> int:
    return int(caveat("model", "add", f"LAB/M/{version}", "--json").code)


def test_what_commands_record_is_signed_once_the_key_is_there(caveat: Caveat, signing: dict[str, Any], tmp_path: Path) -> None:
    """What came before, and the first key itself, is the operator's assertion; a second key beside it is refused."""
    assert add_model(caveat, "1") == 0
    shown = caveat("admin", "key", "list", "--json").document["keys"][-1]

    assert signing["entry"] == 4
    assert (shown["purpose"], shown["authority"], shown["secret"]) == ("statement", "AISI", "caveat-keys/statement-AISI.pem")
    assert str(shown["public"]).startswith("AISI+")
    assert list_backed(caveat) == [("AISI", "operator")] * 4 + [("AISI", "author")]
    assert "asserted by the registry's operator" in " ".join(caveat("admin", "log", "show").out.split())
    assert "key-in-force" in caveat("admin", "key", "add", "--statements").err
    assert caveat("admin", "log", "check").code == 0
    assert caveat("admin", "key", "add", "--statements", "--algorithm", "ml-dsa-44").code == 2


def test_each_authority_signs_with_its_own_key_alone(
    caveat: Caveat, signing: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another authority of the registry without a key signs nothing with this one's; with a key of its own it signs its statements."""
    caveat("init", "--code", "LAB", "--join")
    monkeypatch.setenv("CAVEAT_AUTHORITY", "LAB")
    add_model(caveat, "1")
    assert caveat("admin", "key", "add", "--statements").code == 0
    add_model(caveat, "2")
    keys = {one["authority"]: one["fingerprint"] for one in caveat("admin", "key", "list", "--json").document["keys"] if one["public"]}
    rows = sqlite3.connect(tmp_path / "caveat.db").execute("SELECT seq, hex(key) FROM signature").fetchall()

    assert list_backed(caveat)[4:] == [("LAB", "operator")] * 3 + [("LAB", "author")]
    assert rows == [(8, str(keys["LAB"]).upper())]


def test_the_old_key_signs_its_successor_and_nothing_after(caveat: Caveat, signing: dict[str, Any], tmp_path: Path) -> None:
    """The entry that rotates is the old key's, the next the new one's; the old file is kept aside."""
    done = caveat("admin", "key", "rotate", "--statements", "--reason", "Once a year", "--json").document
    add_model(caveat, "1")
    rows = sqlite3.connect(tmp_path / "caveat.db").execute("SELECT seq, lower(hex(key)) FROM signature").fetchall()

    assert rows == [(5, signing["key"]), (6, done["key"])]
    assert done["replaces"] == signing["key"]
    assert (tmp_path / "caveat-keys" / "statement-AISI.retired.pem").exists()
    assert caveat("admin", "log", "check").code == 0


def test_a_revoked_key_signs_no_more_and_its_statements_are_the_operators(caveat: Caveat, signing: dict[str, Any], tmp_path: Path) -> None:
    """Its own revocation is the last it signs; a key made after that is asserted by the operator like the first."""
    add_model(caveat, "1")
    assert (
        "caveat admin key add --statements" in caveat("admin", "key", "revoke", str(signing["key"]), "--reason", "Laptop lost", "--yes").out
    )
    add_model(caveat, "2")
    caveat("admin", "key", "add", "--statements")
    add_model(caveat, "3")

    assert not find_file(tmp_path).with_name("statement-AISI.new.pem").exists()
    assert [backing for _, backing in list_backed(caveat)[4:]] == ["withdrawn", "author", "operator", "operator", "author"]
    assert caveat("admin", "log", "check").code == 0


def test_an_encrypted_key_asks_for_its_passphrase_or_nothing_is_recorded(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement is never recorded unsigned because no one typed the passphrase."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "geheim")
    caveat("init", "--code", "AISI")
    caveat("admin", "key", "add", "--statements")
    assert add_model(caveat, "1") == 0
    monkeypatch.delenv("CAVEAT_PASSPHRASE")
    monkeypatch.setattr("sys.stdin", None)

    refused = caveat("model", "add", "LAB/M/2")
    assert (refused.code, "passphrase-missing" in refused.err) == (3, True)
    assert len(list_backed(caveat)) == 5


def test_a_key_of_another_registry_signs_nothing(caveat: Caveat, signing: dict[str, Any], tmp_path: Path) -> None:
    """Nothing is recorded before the folder is right."""
    shutil.copy(find_file(tmp_path), tmp_path / "kept.pem")
    caveat("admin", "key", "rotate", "--statements", "--reason", "Once a year")
    shutil.copy(tmp_path / "kept.pem", find_file(tmp_path))
    find_file(tmp_path).chmod(0o600)

    refused = caveat("model", "add", "LAB/M/1")
    assert "key-not-registered" in refused.err
    assert len(list_backed(caveat)) == 5


def test_a_key_that_a_crash_left_waiting_signs_the_next_statement(caveat: Caveat, signing: dict[str, Any], tmp_path: Path) -> None:
    """The log has recorded it: the next command that records puts it in its place."""
    find_file(tmp_path).rename(find_file(tmp_path).with_name("statement-AISI.new.pem"))

    assert add_model(caveat, "1") == 0
    assert list_backed(caveat)[-1] == ("AISI", "author")


def test_a_supplement_carries_the_signatures_of_its_statements(caveat: Caveat, signing: dict[str, Any], tmp_path: Path) -> None:
    """They can be checked offline; swapped, they are a failure by name; taken out, they are the operator's assertions."""
    claim = register(caveat, tmp_path)[0]
    caveat("report", claim, "-o", "out", "--json", "--html")
    path = next((tmp_path / "out").glob("CLM-*.json"))
    page = next((tmp_path / "out").glob("CLM-*.html")).read_text(encoding="utf-8")
    right = caveat("verify", path, "--json")
    record = json.loads(path.read_bytes())
    signatures = record["inclusion"]["signatures"]
    first, second = signatures[0], signatures[1]
    first["signature"], second["signature"] = second["signature"], first["signature"]
    path.write_bytes(canonical_bytes(record))
    swapped = caveat("verify", path, "--json")
    record["inclusion"]["signatures"] = []
    path.write_bytes(canonical_bytes(record))
    bare = caveat("verify", path, "--json")

    assert list_answers(right)["authors"] == "yes"
    assert f"of AISI by key {str(signing['key'])[:16]}" in find_note(right, "authors")
    assert "statements of AISI: signed by its author" in " ".join(page.split())
    assert (swapped.code, list_answers(swapped)["authors"]) == (1, "no")
    assert "signature-not-valid: entry" in find_note(swapped, "authors")
    assert list_answers(bare)["authors"] == "not_checked"
    assert "asserted by the registry's operator" in find_note(bare, "authors")


def test_a_supplement_without_signatures_says_whose_word_it_is(caveat: Caveat, tmp_path: Path) -> None:
    """In the page and in the terminal: the operator's."""
    claim = register(caveat, tmp_path)[0]
    caveat("report", claim, "-o", "out", "--html")
    page = next((tmp_path / "out").glob("CLM-*.html")).read_text(encoding="utf-8")

    assert "asserted by the registry’s operator" in page
    assert "signed by its author" not in page
    assert "asserted by the registry's operator" in " ".join(caveat("claim", "show", claim).out.split())
    assert "operator" in caveat("claim", "history", claim.partition("@")[0]).out
