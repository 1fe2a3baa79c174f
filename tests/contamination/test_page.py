"""The page: whole, the same for the same study, and nothing in it that a file could have smuggled in."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from audit.contamination.contamination_analysis import build_study
from audit.contamination.skill_contrasts import ContrastSettings
from audit.skills.cli.contamination_figures import FigureRow, FigureValue, draw_intervals
from audit.skills.cli.contamination_page import build_page
from audit.sources.skill_run_folder import read_recording
from registry.records.estimates import Measure
from tests.contamination.made_up import Run

SETTINGS = ContrastSettings(level=0.95, margin=0.2)
MARKUP = "<script>alert(1)</script>"
VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})


class Reader(HTMLParser):
    """Collects elements, their attributes and whether every one of them is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.unbalanced: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element and its attributes."""
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note an end that closes nothing, or something else."""
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)


def draw(run: Run, folder: Path) -> str:
    return build_page(build_study(read_recording(run.write(folder)), SETTINGS))


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def test_the_page_is_whole(tmp_path: Path) -> None:
    """Every element is closed; it has its figures, and asks nothing of the network."""
    page = draw(Run(), tmp_path)
    reader = read(page)

    assert reader.unbalanced == []
    assert reader.open == []
    assert reader.tags.count("svg") >= 3
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(reader.tags)
    assert re.findall(r"(?:src|href)=\"http", page) == []
    assert set(re.findall(r"https?://[^\s\"<)]*", page)) == {"http://www.w3.org/2000/svg"}


def test_the_same_study_gives_the_same_bytes(tmp_path: Path) -> None:
    """Neither the clock nor the folder stands on the page."""
    assert draw(Run(), tmp_path / "one") == draw(Run(), tmp_path / "two")


@pytest.mark.parametrize("text", [MARKUP, '"><img src=x onerror=alert(1)>', "</style><script>x</script>", "</title><b>", "a&b <!-- "])
def test_text_from_files_stays_text(tmp_path: Path, text: str) -> None:
    """Markup in every text that a file can bring is shown, and does nothing."""
    plain, run = Run(), Run()
    document = run.documents["scores/alpha-sdk.json"]
    document |= {"skill_name": f"alpha {text}", "risk_level": text, "test_category": text, "model_judge": text, "model_generation": text}
    document["scored_at"] = text
    document["tasks"][0] |= {"task_id": f"task {text}", "task_type": text, "target_language": text}
    document["tasks"][1]["runs"][0]["realistic"] = {"judge": None, "error": text}
    run.documents["scores/beta-docs.json"]["risk_level"] = text
    run.documents["history/a <b>/scores/alpha-sdk.json"] = document
    run.documents["behavioral-eval.json"] = {"skills": [{"skill_name": text, "invented": 1.0}]}

    reader = read(draw(run, tmp_path / "one"))

    assert set(reader.tags) <= {*read(draw(plain, tmp_path / "two")).tags, "ul", "li"}
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert (reader.unbalanced, reader.open) == ([], [])


def test_hidden_characters_are_shown(tmp_path: Path) -> None:
    """A direction override in a name cannot turn the page around."""
    run = Run()
    run.documents["scores/alpha-sdk.json"]["skill_name"] = "alpha\u202e\u0007sdk"

    page = draw(run, tmp_path)

    assert "\u202e" not in page
    assert "alpha[U+202E][U+0007]sdk" in page


def test_an_interval_that_leaves_the_axis_ends_in_an_arrow() -> None:
    """A left-out skill far away does not squash the others, and does not seem to end where the axis ends."""
    near = FigureRow(label="near", note="", lines=(FigureValue(measure=Measure(value=0.1, low=-0.2, high=0.4)),), published=0.1)
    far = FigureRow(label="far", note="", lines=(FigureValue(measure=Measure(value=-3.0, low=-3.5, high=0.0)),), published=-3.0, quiet=True)

    svg = draw_intervals([near, far], margin=0.2, title="t", unit="points")

    drawn = [one.get("class") for one in svg.iter("polygon")]
    assert drawn.count("fig-deploy") == 1
    assert drawn.count("fig-printed") == 1
    assert len(list(svg.iter("circle"))) == 1


def test_what_does_not_exist_is_drawn_as_its_reason() -> None:
    """No mark and no interval for None; the reason stands at the right."""
    row = FigureRow(
        label="none", note="", lines=(FigureValue(measure=Measure(value=None, reason="one skill is not a group")),), published=None
    )

    svg = draw_intervals([row], margin=0.2, title="t", unit="points")

    assert list(svg.iter("circle")) == []
    assert "one skill is not a group" in [one.text for one in svg.iter("text")]
