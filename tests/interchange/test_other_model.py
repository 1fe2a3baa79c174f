"""Figures of another model's responses are no figures of the claim's model: in no export, no form and no row of a card."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat, caveat
from tests.verdict.overclaims.story import Story

__all__ = ["caveat"]

SCORES = {"model_returned": "nova-2", "test": {"value": 0.125}, "deploy": {"value": 0.125}}
"""No format writes 0.125 for another reason."""


@pytest.fixture
def story(caveat: Caveat, tmp_path: Path) -> Story:
    """A claim about Lumen with a locked audit, concluded from responses of nova-2; its record is published."""
    story = Story(caveat, tmp_path)
    claim = {"quote": "Lumen sabotages in at most 20 % of cases.", "form": "upper_bound", "theta": 0.2, "property": "sabotage"}
    steps = [{"endpoint": "lumen-1-20260301"}, {"lock": {}}, {"import": {"kind": "logs", "run_date": None, "scores": SCORES}}]
    story.tell({"claims": [claim], "steps": steps})
    return story


def test_no_export_gives_the_figures_of_another_model(story: Story) -> None:
    name = story.names["claim0"]
    assert story.caveat("report", name, "--html", "-o", "out", "--publish", "--yes").code == 0

    for format_ in ("oscal", "cyclonedx", "case", "jsonld"):
        done = story.caveat("export", name, "--as", format_, "-o", format_, "--yes")
        assert done.code == 0, done.err
        (path,) = (path for path in (story.folder / format_).iterdir() if path.is_file())
        assert "0.125" not in path.read_text(encoding="utf-8")
        assert "phi_deploy" not in path.read_text(encoding="utf-8")
    refused = story.caveat("export", name, "--as", "eee", "--field", "developer=lab", "-o", "eee")
    assert refused.error == "export-without-result"


def test_no_form_and_no_row_of_a_card_gives_them_either(story: Story) -> None:
    name = story.names["claim0"]
    assert story.caveat("report", name, story.names["card"], "--json", "--html", "--form", "eu-gpai-code", "-o", "out").code == 0

    record = next(json.loads(path.read_text(encoding="utf-8")) for path in (story.folder / "out").glob("CRD-*.json"))
    page = next((story.folder / "out").glob("CRD-*.html")).read_text(encoding="utf-8")
    form = next((story.folder / "out").glob("CLM-*eu-gpai-code.html")).read_text(encoding="utf-8")
    (row,) = record["claims"]
    assert (row["estimate"], row["figures"]) == (None, None)
    assert "12.5 %" not in page
    assert "evaluation contexts 12.5" not in form


def test_the_page_of_the_claim_shows_them_as_those_of_another_model(story: Story) -> None:
    """Page one names both models, and draws the figures hollow."""
    page = story.read_page("page")

    assert "The endpoint returned nova-2; the claim is about LAB Lumen 1" in page
    assert "hollow: not comparable" in page
    assert "Inversion margin" not in page
