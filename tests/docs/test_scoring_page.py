"""What docs/scoring.md shows is what `caveat audit score` prints for the run that the page describes."""

import os
from pathlib import Path

from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer
from tests.docs.transcripts import hide_what_varies, run_page
from tests.score.runs import Said, write_run

PAGE = Path(__file__).parents[2] / "docs" / "scoring.md"
TASKS = (
    Task(
        id="train",
        prompt="A train goes 60 km/h for 2.5 hours. How far?\nA) 120 km\nB) 150 km",
        options=("120 km", "150 km"),
        answer="B",
        expected=(r"150\s*km", r"60 (×|\*|x) 2\.5"),
        anti=("(?i)as an ai",),
    ),
    Task(id="clause", prompt="Which clause filters groups?", options=("WHERE", "HAVING"), answer="B", expected=(r"\bHAVING\b",)),
)
SAID = (
    Said(task="train", arm="test", context="T1", text="B"),
    Said(task="train", arm="test", context="T1", sample=1, text="A"),
    Said(task="clause", arm="test", context="T1", text="B) HAVING"),
    Said(task="clause", arm="test", context="T1", sample=1, failure="time-out"),
    Said(task="train", arm="deploy", context="D1", text="60 × 2.5 = 150, so it goes 150 km."),
    Said(task="train", arm="deploy", context="D1", sample=1, text="Let us first see how far it goes in", stop_reason="max_tokens"),
    Said(task="clause", arm="deploy", context="D1", text="You want HAVING; it filters the groups."),
    Said(task="clause", arm="deploy", context="D1", sample=1, text="**Answer:** B"),
)


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path, forked_commands: Path) -> None:
    """The run folder is made as the engine leaves it; the page's commands score it."""
    write_run(tmp_path / "run", TASKS, SAID, ChoiceScorer(kind="choice")).close()
    shown = PAGE.read_text(encoding="utf-8")

    printed = run_page(shown, tmp_path, forked_commands)
    if os.environ.get("CAVEAT_UPDATE_DOCS") and hide_what_varies(printed) != hide_what_varies(shown):
        PAGE.write_text(printed, encoding="utf-8")
        shown = printed

    assert hide_what_varies(printed) == hide_what_varies(shown)
