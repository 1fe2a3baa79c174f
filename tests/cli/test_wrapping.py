"""Lines that are too long for the terminal."""

import pytest

from registry.cli.terminal_output import print_blocks


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
