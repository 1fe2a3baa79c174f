"""A registry with a locked audit, its supplements published and proven: made once, and copied for each test."""

import contextlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from registry.cli.main import main
from tests.cli.scenario import CARD, CLAIMS, write_audit, write_scores

NAME = "CLM-AISI-2026-0001-S@1"


def run(*arguments: str | Path) -> str:
    """Run `caveat` in this process and folder; return what it printed."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setattr("sys.argv", ["caveat", *map(str, arguments)])
        with contextlib.suppress(SystemExit):
            main()
    return out.getvalue()


def ask(*arguments: str | Path) -> Any:
    """Run `caveat … --json` and return its document."""
    return json.loads(run(*arguments, "--json"))


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in *folder*, without the environment's own settings."""
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CAVEAT_REGISTRY", "CAVEAT_AUTHORITY", "CAVEAT_KEYS", "CAVEAT_PASSPHRASE", "SOURCE_DATE_EPOCH"):
            patch.delenv(name, raising=False)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def build(folder: Path) -> None:
    """Make a registry in *folder*, lock and import an audit of its first claim, and publish the supplement in all forms into `out`."""
    with inside(folder):
        run("init", "--code", "AISI")
        Path("card.md").write_text(CARD, encoding="utf-8")
        card = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
        Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
        claim = ask("claim", "add", "claims.yaml")["added"][0]
        audit = ask("audit", "lock", "--yes", write_audit(folder, claim))["audit"]
        scores = write_scores(folder / "scores.csv", test=0.05, deploy=0.4)
        run("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat())
        run("report", claim, "-o", "out", "--publish", "--yes")


def take_copy(source: Path, target: Path) -> Path:
    """Copy the files of *source* into *target*, keys and database with their modes; return the folder of the supplements."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    return target / "out"
