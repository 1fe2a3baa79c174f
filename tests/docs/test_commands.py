"""docs/commands.md is what the commands say of themselves."""

import os
from pathlib import Path

from tests.docs.commands import compose_page, list_commands, print_help

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_what_the_commands_print() -> None:
    """Every help text stands on the page as it is printed; nothing else does."""
    wanted = compose_page()
    if os.environ.get("CAVEAT_UPDATE_DOCS"):
        PAGE.write_text(wanted, encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == wanted


def test_every_command_has_its_heading() -> None:
    """Groups and commands alike can be found by their whole name."""
    headings = {line.lstrip("# ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("##")}

    assert headings == {" ".join(("caveat", *path)) for path in list_commands()}


def test_every_command_says_what_it_does() -> None:
    """A command without a word of help cannot be documented."""
    silent = [path for path in list_commands() if not print_help(path).partition("\n\n")[2].strip() or "\n  " not in print_help(path)]

    assert silent == []
