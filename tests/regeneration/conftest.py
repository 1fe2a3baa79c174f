"""A registry with a card, three claims of which one is audited, and its folder of supplements: made once, copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.conftest import caveat as caveat  # noqa: PLC0414 (a fixture is found by its name here)
from tests.cli.given_out import ask, inside, run
from tests.cli.scenario import CARD, CLAIMS, write_audit, write_scores
from tests.regeneration.folders import Regenerated


@pytest.fixture(scope="session")
def _drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regeneration")
    with inside(folder):
        run("init", "--code", "AISI")
        Path("card.md").write_text(CARD, encoding="utf-8")
        card = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
        Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
        claim = ask("claim", "add", "claims.yaml")["added"][0]
        run("audit", "conclude", write_audit(folder, claim), write_scores(folder / "scores.csv", test=0.05, deploy=0.4))
        run("report", "--stale", "--html", "--json", "-o", "out")
    return folder


@pytest.fixture
def folder(_drawn: Path, caveat: Caveat, tmp_path: Path) -> Regenerated:
    """A copy, in which the test works."""
    shutil.copytree(_drawn, tmp_path, dirs_exist_ok=True)
    return Regenerated(caveat, tmp_path / "out")
