"""The words of Caveat (style guide, rules 5, 8, 18 and 19), in all texts of `texts.py`; the banned phrases are in tools/readability.py."""

import re
import shlex
from collections import Counter
from pathlib import Path

import click
import pytest

from registry.cli.main import cli
from tests.docs.texts import SOURCES, read_commands
from tests.docs.tools import load_tool

LONGEST = 25
"""Words of a sentence."""
MOST_HEADING_WORDS = 6


@pytest.mark.parametrize("source", SOURCES)
def test_no_banned_phrase(source: str) -> None:
    """Rule 8: a plain word takes the place of each."""
    banned = load_tool("readability").DIALECT
    hits = [(place, text) for place, text in SOURCES[source]() if banned.search(text)]

    assert hits == []


@pytest.mark.parametrize("source", [source for source in SOURCES if source not in ("headings", "docstrings")])
def test_no_long_sentence(source: str) -> None:
    """Rule 5: a sentence has 25 words at most; codes and commands count as the words that they are, signs and numbers do not."""
    sentences = ((place, part) for place, text in SOURCES[source]() for part in re.split(r"(?<=[.?!:;])\s+", " ".join(text.split())))
    hits = [(place, part) for place, part in sentences if len(re.findall(r"\S*[^\W\d_]\S*", part)) > LONGEST]

    assert hits == []


def test_headings_are_short_nouns_or_tasks() -> None:
    """Rule 18: six words at most, and no question."""
    headings = [(place, re.sub(r"^\d+\. ", "", heading)) for place, heading in SOURCES["headings"]()]
    questions = re.compile(r"\?$|^(?:what|who|why|when|where|which)\b", re.IGNORECASE)

    assert [hit for hit in headings if len(hit[1].split()) > MOST_HEADING_WORDS or questions.search(hit[1])] == []


@pytest.mark.parametrize("name", ["README.md", "GUIDES", "HELP"])
def test_readme_guides_and_help_meet_the_targets(name: str) -> None:
    """At most 2 dialect markers per 1,000 words, 5 % long and 30 % passive sentences; README and guides say *you* in 15 % of sentences."""
    tool = load_tool("readability")
    figures = tool.measure(dict(tool.list_texts(tool.DEMO))[name])

    assert 1000 * figures.markers <= 2 * figures.words
    assert figures.long <= 0.05 * figures.sentences
    assert figures.passive <= 0.30 * figures.sentences
    assert name == "HELP" or figures.you >= 0.15 * figures.sentences


def test_the_first_line_of_help_is_short() -> None:
    """Rule 19: one imperative sentence that no list of commands cuts off, then an empty line."""
    firsts = {path: (command.help or "").split("\n") for path, command in read_commands().items()}

    assert [(path, lines[0]) for path, lines in firsts.items() if not lines[0].endswith(".") or len(lines[0]) >= 60] == []
    assert [path for path, lines in firsts.items() if len(lines) > 1 and lines[1].strip()] == []


def list_examples() -> list[tuple[tuple[str, ...], str]]:
    """Each example of each command's help, whole."""
    examples = []
    for path, command in read_commands().items():
        text = (command.epilog or "").replace("\\\n", " ")
        examples += [(path, " ".join(line.split())) for line in text.splitlines() if line.startswith("  caveat ")]
    return examples


def test_every_command_has_examples() -> None:
    """One to three, of the command itself."""
    groups = {path[:-1] for path in read_commands()}
    examples = Counter(path for path, _ in list_examples())
    counts = {path: examples[path] for path in read_commands() if path not in groups}

    assert {path: count for path, count in counts.items() if not 1 <= count <= 3} == {}
    assert [line for path, line in list_examples() if not line.startswith(" ".join(("caveat", *path)))] == []


def test_every_example_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser of the command takes it: names, options, choices and identifiers; files are not looked for."""
    monkeypatch.setattr(click.Path, "convert", lambda _self, value, *_: Path(value))
    root = cli.make_context("caveat", [], resilient_parsing=True)

    for path, line in list_examples():
        words = shlex.split(line.partition(" > ")[0])[1 + len(path) :]
        read_commands()[path].make_context(path[-1], words, parent=root)


def test_no_example_is_wider_than_a_terminal() -> None:
    """It can be copied from a terminal of 80 columns."""
    wide = [line for command in read_commands().values() for line in (command.epilog or "").splitlines() if len(line) > 78]

    assert wide == []
