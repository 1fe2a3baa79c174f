"""A registry with an audited claim, a revision, an objection, published files and hostile texts: made once, and copied for each test."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from registry.store.ledger import Ledger
from tests.browser import open_browser
from tests.cli.given_out import ask, inside, run
from tests.cli.scenario import CARD, CLAIMS, write_audit, write_scores
from tests.report.hostile import HOSTILE
from tests.web.rich_registry import build_rich

SCHEMING = {"name": "scheming rate", "class": "deception_scheming", "range": [0, 1], "direction": "lower_is_safer", "suppressible": True}


def _build(folder: Path) -> None:
    with inside(folder):
        run("init", "--code", "AISI")
        Path("card.md").write_text(CARD, encoding="utf-8")
        card = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
        Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
        first, second, _ = ask("claim", "add", "claims.yaml")["added"]
        hostile = {"quote": HOSTILE, "quote_status": "paraphrase", "note": HOSTILE, "form": "existence", "property": "scheming"}
        _write_claims("hostile.json", card, hostile)
        run("claim", "add", "hostile.json")
        run("audit", "conclude", write_audit(folder, first), write_scores(folder / "scores.csv", test=0.05, deploy=0.4))
        run("contest", "open", first, "--reason", HOSTILE)
        quote = "In our evaluation the model schemes in 5 % of cases"
        _write_claims("revised.json", card, {"quote": quote, "form": "prevalence", "reported": 0.05, "property": "scheming"})
        run("claim", "revise", first, "revised.json", "--reason", "The limit is another claim")
        run("report", second, "--html", "--json", "-o", "out", "--publish", "--yes")


def _write_claims(name: str, card: str, claim: dict[str, Any]) -> None:
    model = {"developer": "LAB", "name": "M", "version": "1"}
    document = {"schema": "caveat/claims/1", "card": card, "model": model, "properties": {"scheming": SCHEMING}, "claims": [claim]}
    Path(name).write_text(json.dumps(document), encoding="utf-8")


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    _build(folder)
    return folder


@pytest.fixture(scope="session")
def _rich(_built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with every other kind of record that has a page."""
    folder = tmp_path_factory.mktemp("rich")
    build_rich(_built, folder)
    return folder


@pytest.fixture
def folder(_built: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the registry, in which the test works."""
    place = tmp_path / "registry"
    shutil.copytree(_built, place)
    with inside(place):
        yield place


def open_ledger(folder: Path) -> Ledger:
    """Open the registry in *folder* for reading."""
    return Ledger.open(f"sqlite:///{folder / 'caveat.db'}", clock=lambda: datetime.now(UTC), salt=lambda: "0" * 32)


@pytest.fixture
def ledger(folder: Path) -> Iterator[Ledger]:
    """The registry, open."""
    opened = open_ledger(folder)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of a module."""
    with open_browser() as opened:
        yield opened
