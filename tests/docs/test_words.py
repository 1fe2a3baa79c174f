"""The words of Caveat (style guide, rules 5, 8 and 19): help, errors and messages have short sentences and none of the banned phrases."""

import ast
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from registry.cli.main import cli
from registry.errors import find_entry, list_explanations
from tests.docs.codes import read_source
from tests.docs.commands import list_commands

ROOT = Path(__file__).parents[2]
Texts = Iterator[tuple[str, str]]
"""Places with their texts."""

BANNED = re.compile(
    r"\b(?:nobody|somebody|anybody|told|stands?|beside|alone|otherwise|given out|carried|drawn|whose|what became of)\b", re.IGNORECASE
)
LONGEST = 25
"""Words of a sentence."""
_CALLS = {"Fault", "UsageError", "say"}


@cache
def read_commands() -> dict[tuple[str, ...], click.Command]:
    """Every group and command by its path."""
    commands: dict[tuple[str, ...], click.Command] = {(): cli}
    for path in list_commands()[1:]:
        group = commands[path[:-1]]
        assert isinstance(group, click.Group)
        found = group.get_command(click.Context(group), path[-1])
        assert found is not None
        commands[path] = found
    return commands


def list_help() -> Texts:
    """The help of each command and of each of its options."""
    for path, command in read_commands().items():
        # What a paragraph of its own lines shows, such as lines for a shell, is no sentence.
        paragraphs = (paragraph for paragraph in (command.help or "").split("\n\n") if not paragraph.startswith("\b"))
        yield " ".join(("caveat", *path)), "\n\n".join(paragraphs)
        for param in command.params:
            if isinstance(param, click.Option) and param.help:
                yield f"{' '.join(('caveat', *path))} {param.opts[-1]}", param.help


def list_errors() -> Texts:
    """Meaning and advice of each code of the catalogue."""
    for entry in filter(None, map(find_entry, list_explanations())):
        yield entry.code, entry.meaning
        yield f"{entry.code}, next", entry.advice or ""


def list_messages() -> Texts:
    """What commands print besides their answers: the findings and advice of errors, wrong usage, and notices."""
    for name, module in read_source(ROOT).items():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _CALLS:
                for part in (*node.args, *(keyword.value for keyword in node.keywords)):
                    yield f"{name}:{part.lineno}", "".join(_list_strings(part))


def _list_strings(node: ast.AST) -> Iterator[str]:
    """The constant parts of a text, a word for each that is filled in."""
    if isinstance(node, ast.JoinedStr):
        yield from ("X" if isinstance(part, ast.FormattedValue) else str(getattr(part, "value", "")) for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.IfExp, ast.BoolOp, ast.BinOp)):
        for part in ast.iter_child_nodes(node):
            yield from _list_strings(part)


SOURCES: dict[str, Callable[[], Texts]] = {"help": list_help, "errors": list_errors, "messages": list_messages}
"""Where texts come from; a further source of words, such as pages or templates, is one more entry."""


@pytest.mark.parametrize("source", SOURCES)
def test_no_banned_phrase(source: str) -> None:
    """Rule 8: a plain word takes the place of each."""
    found = [(place, text) for place, text in SOURCES[source]() if BANNED.search(text)]

    assert found == []


@pytest.mark.parametrize("source", ["help", "errors"])
def test_no_long_sentence(source: str) -> None:
    """Rule 5: a sentence has 25 words at most; codes and commands count as the words that they are."""
    sentences = ((place, part) for place, text in SOURCES[source]() for part in re.split(r"(?<=[.?!:;])\s+", " ".join(text.split())))
    found = [(place, part) for place, part in sentences if len(part.split()) > LONGEST]

    assert found == []


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
