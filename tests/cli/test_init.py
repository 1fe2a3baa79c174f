"""Whose registry it is: never EXAMPLE's by accident, one owner, and no files of others under the keys of EXAMPLE."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import CARD
from tests.cli.terminal import Terminal


def test_a_script_has_to_name_the_authority(caveat: Caveat, tmp_path: Path) -> None:
    """Without a terminal there is no one to ask; nothing is made."""
    refused = caveat("init")

    assert (refused.code, refused.error) == (2, "authority-missing")
    assert "caveat init --example" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_the_code_may_be_configured(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment or registry.cfg names the authority as well as an option does."""
    monkeypatch.setenv("CAVEAT_AUTHORITY", "AISI")

    assert caveat("init", "--json").document["authority"] == "AISI"
    monkeypatch.delenv("CAVEAT_AUTHORITY")
    assert caveat("init", "--json").document["authority"] == "AISI"


def test_a_trial_is_asked_for(caveat: Caveat) -> None:
    """`--example` makes a registry of EXAMPLE, and goes with no other code."""
    assert caveat("init", "--example", "--code", "AISI").code == 2
    assert caveat("init", "--example", "--json").document["authority"] == "EXAMPLE"


def test_on_a_terminal_the_code_is_asked_for(tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """A person types it; what is no code is refused as on the command line."""
    with open_terminal(tmp_path, "init", "--no-key") as terminal:
        terminal.wait_for("Code of your authority")
        terminal.press("AISI\r", "is ready")

    assert "authority = AISI" in (tmp_path / "registry.cfg").read_text(encoding="utf-8")


def test_a_second_init_with_another_code_refuses(caveat: Caveat, tmp_path: Path) -> None:
    """What is published in a registry is signed with its owner's keys, so another authority joins only when it says so."""
    caveat("init", "--code", "AISI")
    before = (tmp_path / "registry.cfg").read_bytes(), caveat("admin", "log", "show", "--json").document["size"]

    refused = caveat("init", "--code", "LAB")

    assert (refused.code, refused.error) == (2, "wrong-owner")
    assert "this registry is AISI's" in refused.err
    assert before == ((tmp_path / "registry.cfg").read_bytes(), caveat("admin", "log", "show", "--json").document["size"])
    assert caveat("init", "--code", "LAB", "--join", "--json").document["new"]
    assert caveat("init", "--code", "AISI").code == 0


@pytest.mark.parametrize("form", [(), ("--stale",)], ids=["report", "stale"])
def test_nobody_publishes_under_the_keys_of_example(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    """Another authority in a log for trials gets no file signed with its keys, and no folder is made."""
    caveat("init", "--example")
    caveat("init", "--code", "LAB", "--join")
    (tmp_path / "card.md").write_text(CARD, encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"]
    size = caveat("admin", "log", "show", "--json").document["size"]
    monkeypatch.setenv("CAVEAT_AUTHORITY", "LAB")

    refused = caveat("report", card, "--json", *form, "-o", "out", "--publish", "--yes")
    monkeypatch.delenv("CAVEAT_AUTHORITY")
    published = caveat("report", card, "--json", "-o", "out", "--publish", "--yes")

    assert (refused.code, refused.error) == (2, "example-log")
    assert "caveat init --code LAB" in refused.err
    assert published.code == 0, published.err
    assert caveat("admin", "log", "show", "--json").document["size"] == size + 1
