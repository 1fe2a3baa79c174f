"""Identifiers in texts for users can be typed as they stand."""

import re
from pathlib import Path

import pytest

from registry.records.record import parse_identifier

ROOT = Path(__file__).parents[2]
WRITTEN = re.compile(r"\b[A-Z]{3}-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,}-[0-9A-Z]\b")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "registry").rglob("*.py"))]


@pytest.mark.parametrize("page", [page for page in PAGES if WRITTEN.search(page.read_text(encoding="utf-8"))], ids=lambda page: page.name)
def test_every_identifier_has_the_check_character_that_fits(page: Path) -> None:
    """No one who copies an example is told that it is mistyped."""
    for identifier in WRITTEN.findall(page.read_text(encoding="utf-8")):
        assert parse_identifier(identifier).bare == identifier
