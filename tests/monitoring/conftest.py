"""A registry of the authority EXAMPLE with one claim and a monitor that is locked: made once, and copied for each test."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat, caveat  # noqa: F401  (a fixture)
from tests.cli.given_out import ask, inside, run
from tests.cli.scenario import CARD, CLAIMS

LOCKED_AT = datetime(2026, 12, 30, 12, tzinfo=UTC)
FIRST = datetime(2027, 1, 1, tzinfo=UTC)
MONITOR = "MON-EXAMPLE-2026-0001-Q"
PLAN = """\
schema: caveat/monitor/1
claim: {claim}
design: sample
evaluability: directly_auditable
stream: {{description: Consumer chat, unit: user, start: 2027-01-01, models: [m-1], evaluation: scheming}}
inclusion: {{flagged: 1, rest: 0.1}}
scored_by: SCF-EXAMPLE-2026-0001-T@1
anchors: {{file: anchors.csv, false_positive: 0.02, false_negative: 0.2}}
drift: {{tolerated: 0.1, run_length: 50}}
"""


def set_clock(patch: pytest.MonkeyPatch, moment: datetime) -> None:
    patch.setenv("SOURCE_DATE_EPOCH", str(int(moment.timestamp())))


def lock_monitor(folder: Path, prepare: Callable[[], None]) -> Path:
    """Make a registry in *folder* as of the lock: *prepare* registers the claims and writes monitor.yaml."""
    with inside(folder), pytest.MonkeyPatch.context() as patch:
        set_clock(patch, LOCKED_AT)
        run("init", "--code", "EXAMPLE")
        prepare()
        ask("monitor", "lock", "monitor.yaml", "--yes")
    return folder


def add_claims(card: str, claims: str) -> list[str]:
    """Register a card with its claims, and return their references."""
    Path("card.md").write_text(card, encoding="utf-8")
    identifier = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
    Path("claims.yaml").write_text(claims.format(card=identifier), encoding="utf-8")
    added: list[str] = ask("claim", "add", "claims.yaml")["added"]
    return added


def _prepare_rate() -> None:
    claim = add_claims(CARD, CLAIMS)[0]
    Path("judge.yaml").write_text("{name: judge, method: label, description: a person reads it}", encoding="utf-8")
    ask("spec", "add", "scoring", "judge", "judge.yaml")
    Path("monitor.yaml").write_text(PLAN.format(claim=claim), encoding="utf-8")
    Path("anchors.csv").write_text("task,label\n1,0\n", encoding="utf-8")


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with a monitor of a rate. A module with another monitor has its own fixture of this name."""
    return lock_monitor(tmp_path_factory.mktemp("monitor"), _prepare_rate)


@pytest.fixture
def watched(locked: Path, caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811  (the fixture)
    """A copy of the registry, in which the test works, long after the first windows."""
    place = tmp_path / "registry"
    shutil.copytree(locked, place)
    monkeypatch.chdir(place)  # after the fixture `caveat`, which goes to a folder of its own
    set_clock(monkeypatch, FIRST + timedelta(days=90))
    return place


def window(number: int, *, bad: float = 0.02, **changes: Any) -> dict[str, Any]:
    """A window of 400 flagged items and 4,000 others, of which one in ten was reviewed."""
    start = FIRST + timedelta(days=7 * (number - 1))
    counted = {"reviewed": 400, "total": round(400 * bad), "squares": round(400 * bad), "users": 390}
    return {
        "schema": "caveat/monitor-batch/1",
        "monitor": MONITOR,
        "order": number,
        "from": start.isoformat(),
        "to": (start + timedelta(days=7)).isoformat(),
        "cells": [
            {"stratum": "flagged", "items": 400, **counted, "inclusion": 1},
            {"stratum": "rest", "items": 4000, **counted, "inclusion": 0.1},
        ],
        "anchors": {"good": 100, "bad": 100, "false_positive": 1, "false_negative": 9},
        **changes,
    }


@pytest.fixture
def write(watched: Path) -> Callable[..., Path]:
    """Write windows to a file, one JSON document or one a line."""

    def write(*windows: dict[str, Any]) -> Path:
        path = watched / ("window.json" if len(windows) == 1 else "windows.jsonl")
        path.write_text("\n".join(json.dumps(document) for document in windows), encoding="utf-8")
        return path

    return write
