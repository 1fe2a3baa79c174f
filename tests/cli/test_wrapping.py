"""Lines that are too long for the terminal."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.cli.terminal_output import print_blocks
from registry.present.blocks import Table
from tests.cli.conftest import Caveat
from tests.cli.scenario import register
from tests.cli.terminal import Terminal


def lines(text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_blocks([text])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("label", ["warning: ", "    ", "  why:       ", ""])
def test_a_long_line_goes_on_under_its_own_text(label: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Indent and label stand free on every further line, no line is wider than 100, and no word is lost."""
    words = " ".join(f"word{number}" for number in range(40))
    printed = lines(label + words, capsys)

    assert len(printed) > 1
    assert printed[0].startswith(f"{label}word0 ")
    assert all(line.startswith(" " * len(label)) and line[len(label)] != " " for line in printed[1:])
    assert max(map(len, printed)) <= 100
    assert " ".join(line[len(label) :] for line in printed) == words


def test_a_short_line_and_a_very_long_label_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is moved that fits, and no label leaves too little room for its text."""
    assert lines("warning: short", capsys) == ["warning: short"]
    assert lines(f"{'l' * 90}: {'text ' * 10}".strip(), capsys)[1].startswith("text")


def test_a_narrow_terminal_leaves_out_a_spare_column_and_breaks_no_identifier(capsys: pytest.CaptureFixture[str]) -> None:
    """Where identifiers fill the line, the spare column goes and words give way; without one to spare the table is wider than the line."""
    names = [f"CLM-EXAMPLE-2026-{number:04}-T@1" for number in range(3)]
    words = " ".join(["words"] * 20)
    table = Table(("a", "b", "c", "by", "text"), [(*names, "somebody-else", words)], spare=("by",))
    print_blocks([table])
    narrow = capsys.readouterr().out
    print_blocks([Table(("a", "b", "c", "d"), [(*names, names[0])])])
    wide = capsys.readouterr().out

    assert all(name in narrow for name in names)
    assert "somebody-else" not in narrow
    assert narrow.count("words") == 20
    assert max(map(len, narrow.splitlines())) <= 100
    assert wide.count(names[0]) == 2


def test_a_command_on_a_line_of_its_own_is_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    """It can be copied whole, also after `Next:`."""
    command = "Next: caveat stale list " + " ".join(f"--model 'Lab/Lumen {number}/1'" for number in range(6))
    assert lines(command, capsys) == [command]


def test_a_terminal_without_capabilities_breaks_no_identifier(
    caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]
) -> None:
    """In an editor's shell (`TERM=dumb`) a table may be wider than the line too."""
    claim = register(caveat, tmp_path)[0]
    with open_terminal(tmp_path, "claim", "list", "--columns", "claim,card,property,property_class", TERM="dumb") as terminal:
        assert terminal.wait() == 0
        lines = terminal.screen.splitlines()

    assert sum(claim in line and "CRD-" in line and "PRP-" in line for line in lines) == 1
    assert max(map(len, lines)) > 80
