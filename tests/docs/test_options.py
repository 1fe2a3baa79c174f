"""Every option that a page, a help text, an example or an advice gives to a command is one that the command has."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from registry.cli.main import cli
from tests.docs.codes import read_source
from tests.docs.commands import list_commands

ROOT = Path(__file__).parents[2]
_CALL = re.compile(r"\bcaveat ((?:[a-z][a-z-]* ?)+)([^`\n\"”]*)")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
_NEXT = re.compile(r"[|;&#)]| then | and |, |\. |: ")
_EVERYWHERE = {"--help", "--version"}


@cache
def find_commands() -> frozenset[tuple[str, ...]]:
    return frozenset(list_commands())


@cache
def find_options(path: tuple[str, ...]) -> frozenset[str]:
    """Return the options of the command at *path*, and those that `caveat` itself takes."""
    command: click.Command = cli
    options = set(_EVERYWHERE)
    for name in (None, *path):
        if name is not None:
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command), name)
            assert found is not None
            command = found
        options |= {text for one in command.params for text in (*one.opts, *one.secondary_opts)}
    return frozenset(options)


def list_calls(text: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Give each call of a command in *text* with the options that stand behind it; a group whose command is filled in is none."""
    known = find_commands()
    groups = {path[:-1] for path in known if path}
    for call in _CALL.finditer(text):
        words = tuple(call[1].split())
        path = next((words[:length] for length in (3, 2, 1) if words[:length] in known), None)
        if path is not None and path not in groups:
            yield path, set(_OPTION.findall(_NEXT.split(f"{' '.join(words[len(path) :])} {call[2]}")[0]))


def list_texts() -> Iterator[tuple[str, str]]:
    """Give pages and examples whole, and of the code every string: help texts, docstrings and advice."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8").replace("\\\n", " ")
    for path in (*sorted((ROOT / "examples").rglob("*.yaml")), *sorted((ROOT / "report_templates").glob("*.j2"))):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for name, module in read_source(ROOT).items():
        yield name, "\n".join(_list_strings(module))


def _list_strings(module: ast.Module) -> Iterator[str]:
    """Give each string of a module; what is filled in is a word that is no option."""
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


def test_a_wrong_option_would_be_seen() -> None:
    """The reading itself: path, options behind it up to the next command, nothing of what follows."""
    text = "run `caveat audit conclude AUD-1 t.csv --no-such X`, or caveat verify F --key K | caveat admin log show --since 3"

    assert list(list_calls(text)) == [(("audit", "conclude"), {"--no-such"}), (("verify",), {"--key"})]
    assert "--no-such" not in find_options(("audit", "conclude"))
    assert {"--json", "--registry"} <= find_options(("audit", "conclude"))


def test_every_option_that_is_named_with_a_command_exists() -> None:
    """What a reader copies from a page, a help text, an example or an advice is accepted by the command."""
    wrong = [
        (name, " ".join(path), option)
        for name, text in list_texts()
        for path, options in list_calls(text)
        for option in sorted(options - find_options(path))
    ]

    assert wrong == []
