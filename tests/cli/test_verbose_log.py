"""`caveat -v` logs files, databases, requests and cache decisions on standard error, and no secret."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat

SECRET = "hunter2-of-the-test"  # noqa: S105  (of no one)


@pytest.fixture(autouse=True)
def quiet_again() -> Iterator[None]:
    """The command runs in this process: its logger is as it was afterwards."""
    logger = logging.getLogger("caveat")
    before = list(logger.handlers), logger.level, logger.propagate
    yield
    logger.handlers[:], logger.level, logger.propagate = before


def test_nothing_is_logged_unless_it_is_asked_for(caveat: Caveat) -> None:
    """Standard error is for people and for errors."""
    caveat("init", "--example")

    assert "caveat.registry" not in caveat("claim", "list").err


def test_files_and_the_database_are_named(caveat: Caveat, tmp_path: Path) -> None:
    """One line each with the time, the part of Caveat and what it did; the answer on standard output is the same."""
    caveat("init", "--example")
    (tmp_path / "claims.yaml").write_text("schema: caveat/claims/1\nclaims: []\n", encoding="utf-8")
    listed = caveat("-v", "claim", "list")
    read = caveat("-v", "claim", "add", "claims.yaml")

    assert listed.out == caveat("claim", "list").out
    assert re.search(r"^\d+ ms caveat\.registry: open sqlite:///caveat\.db$", listed.err, re.MULTILINE)
    assert re.search(r"^\d+ ms caveat\.files: read \S*claims\.yaml \(\d+ bytes\)$", read.err, re.MULTILINE)


def test_what_is_up_to_date_is_said_to_be(caveat: Caveat, registered: list[str]) -> None:
    """A folder that is current is not rendered again, and the log says so."""
    claim = registered[0].partition("@")[0]
    first = caveat("-v", "report", claim, "--html", "-o", "out")
    second = caveat("-v", "report", claim, "--html", "-o", "out")

    assert "out: 1 of 1 due" in first.err
    assert "caveat.files: wrote" in first.err
    assert "out: 0 of 1 due" in second.err


def test_no_password_and_no_control_character_is_logged(caveat: Caveat, tmp_path: Path) -> None:
    """The password of a database is left out, and a file name cannot write to the terminal."""
    refused = caveat("-v", "--registry", f"postgresql://me:{SECRET}@127.0.0.1:9/none", "claim", "list")
    caveat("init", "--example")
    (tmp_path / "claims\x1b[2J.yaml").write_text("schema: caveat/claims/1\n", encoding="utf-8")
    named = caveat("-v", "claim", "add", "claims\x1b[2J.yaml")

    assert "caveat.registry: open postgresql://" in refused.err
    assert SECRET not in refused.err
    assert "claims[U+001B][2J.yaml" in named.err
    assert "\x1b" not in named.err
