"""A registry with a published record of a locked audit, made once and copied for each test."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.given_out import ask, inside, run
from tests.cli.scenario import CARD, CLAIMS, write_audit, write_scores


def _build(folder: Path) -> None:
    """As `tests.cli.given_out.build`, without the PDF, which takes seconds to lay out."""
    with inside(folder):
        run("init", "--code", "AISI")
        Path("card.md").write_text(CARD, encoding="utf-8")
        card = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
        Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
        claim = ask("claim", "add", "claims.yaml")["added"][0]
        audit = ask("audit", "lock", "--yes", write_audit(folder, claim))["audit"]
        scores = write_scores(folder / "scores.csv", test=0.05, deploy=0.4)
        run("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat())
        run("report", claim, "--json", "-o", "out", "--publish", "--yes")


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    _build(folder)
    return folder


@pytest.fixture
def folder(_built: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the registry, in which the test works."""
    place = tmp_path / "registry"
    shutil.copytree(_built, place)
    with inside(place):
        yield place
