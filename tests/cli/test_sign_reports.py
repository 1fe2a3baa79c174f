"""`caveat report --sign`: when PDF files are signed, with what, and what is said where they cannot be."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from registry.report.published_file import find_signature
from tests.cli.conftest import Caveat
from tests.cli.scenario import register


def read_pdf(folder: Path) -> bytes:
    (path,) = folder.glob("*.pdf")
    return path.read_bytes()


def test_signing_appends_to_what_is_drawn_without(caveat: Caveat, tmp_path: Path) -> None:
    """The key is the one that the log names, and the file without the signature is the unsigned one."""
    claim, *_ = register(caveat, tmp_path)

    assert caveat("report", claim, "--pdf", "-o", "plain").code == 0
    assert caveat("report", claim, "--pdf", "--sign", "-o", "signed").code == 0

    plain, signed = read_pdf(tmp_path / "plain"), find_signature(read_pdf(tmp_path / "signed"))
    keys = caveat("admin", "key", "list", "--json").out
    assert find_signature(plain) is None
    assert signed is not None
    assert signed.is_intact
    assert signed.unsigned == plain
    assert signed.fingerprint is not None
    assert signed.fingerprint in keys


def test_publishing_signs_unless_told_not_to(caveat: Caveat, tmp_path: Path) -> None:
    """And the log has the digest of the file before and after."""
    claim, *_ = register(caveat, tmp_path)

    assert caveat("report", claim, "--pdf", "--publish", "--yes", "-o", "given").code == 0
    assert caveat("report", claim, "--pdf", "--publish", "--yes", "--no-sign", "-o", "other").code == 0

    signed = find_signature(read_pdf(tmp_path / "given"))
    assert signed is not None
    assert signed.is_intact
    assert find_signature(read_pdf(tmp_path / "other")) is None


def test_without_a_key_signing_ends_before_anything_is_drawn(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for, it is exit code 3 with what to do; not asked for, the files are published unsigned and it is said."""
    claim, *_ = register(caveat, tmp_path)
    monkeypatch.setenv("CAVEAT_KEYS", str(tmp_path / "nowhere"))

    asked = caveat("report", claim, "--pdf", "--sign", "-o", "asked")
    silent = caveat("report", claim, "--pdf", "--publish", "--yes", "-o", "silent")

    assert asked.code == 3
    assert "no-signing-key" in asked.err
    assert "caveat admin key add" in asked.err
    assert not (tmp_path / "asked").exists()
    assert silent.code == 0
    assert "the PDF files are not signed" in silent.err
    assert find_signature(read_pdf(tmp_path / "silent")) is None


def test_only_pdf_is_signed(caveat: Caveat, tmp_path: Path) -> None:
    """Asking to sign HTML alone is a mistake, and said."""
    claim, *_ = register(caveat, tmp_path)

    answer = caveat("report", claim, "--html", "--sign", "-o", "out")

    assert answer.code == 2
    assert "bad-option" in answer.err


def test_a_replaced_key_signs_nothing_more(caveat: Caveat, tmp_path: Path) -> None:
    """The file of a key that the log says was replaced is refused, whoever kept it."""
    claim, *_ = register(caveat, tmp_path)
    kept = (tmp_path / "caveat-keys" / "document.pem").read_bytes()
    assert caveat("admin", "key", "rotate", "--algorithm", "ecdsa-p256", "--reason", "yearly").code == 0
    (tmp_path / "caveat-keys" / "document.pem").write_bytes(kept)

    answer = caveat("report", claim, "--pdf", "--sign", "-o", "out")

    assert answer.code == 2
    assert "key-not-in-force" in answer.err


def test_a_signed_file_is_drawn_again_from(caveat: Caveat, tmp_path: Path) -> None:
    """The record in it is that of the unsigned file."""
    claim, *_ = register(caveat, tmp_path)
    caveat("report", claim, "--pdf", "--sign", "-o", "signed")
    (path,) = (tmp_path / "signed").glob("*.pdf")

    assert caveat("report", "--from", path, "--pdf", "--json", "-o", "again").code == 0

    signed = find_signature(path.read_bytes())
    assert signed is not None
    assert read_pdf(tmp_path / "again") == signed.unsigned
    (record,) = (tmp_path / "again").glob("*.json")
    assert json.loads(record.read_text())["identifier"].startswith(claim)


def test_nothing_is_drawn_from_a_row_edited_by_hand(caveat: Caveat, tmp_path: Path) -> None:
    """A claim that was withdrawn, whose row of that is taken out, is not printed as if it stood."""
    claim, *_ = register(caveat, tmp_path)
    assert caveat("claim", "withdraw", claim.partition("@")[0], "--reason", "The card was withdrawn", "--yes").code == 0
    with closing(sqlite3.connect(tmp_path / "caveat.db")) as database:
        database.execute("DROP TRIGGER claim_event__delete")
        database.execute("DELETE FROM claim_event")
        database.commit()

    told = caveat("report", claim, "--json", "--publish", "--yes", "-o", "given")

    assert told.code == 3
    assert "row-differs" in told.err
    assert "caveat admin log check" in told.err
    assert not (tmp_path / "given").exists()
