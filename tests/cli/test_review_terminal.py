"""The review of proposals in a real terminal: keys, kills, editors, and the file that it writes."""

import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.propose.cli.review_session import hold_interrupt
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.records.claim_draft import ClaimsFile
from tests.cli.conftest import Caveat
from tests.cli.terminal import Terminal

CARD = """\
# Lumen 1

System card of Example Lab.

## 1 Refusals

Lumen 1 refused 96 % of 50 harmful requests. It refused 2 of 40 harmless requests, and 9 of 30 ambiguous ones.

## 2 Knowledge

Lumen 1 answered 71.5 % of the questions of the LawQA benchmark correctly. Nova 3 answered 60 % of them.

## 3 Sabotage

In 3 of 120 simulated deployments Lumen 1 deleted a backup. We observed no sabotage of oversight.
"""


SPLIT = """\
head, first, second = text.split('  - quote:')
first = re.sub('.*', ' It refused 2 of 40 harmless requests', first, count=1)
second = re.sub('.*', ' 9 of 30 ambiguous ones', second, count=1)
text = '  - quote:'.join([head, first, second])
"""
"""Two quotes in the place of one, each a line."""


@pytest.fixture
def card(caveat: Caveat, tmp_path: Path) -> str:
    """A registry with one card, and the card's identifier."""
    (tmp_path / "card.md").write_text(CARD, encoding="utf-8")
    assert caveat("init", "--code", "LAB").code == 0
    identifier: str = caveat("card", "add", "card.md", "--publisher", "Example Lab", "--json").document["card"]["card"]
    return identifier


@pytest.fixture
def editors(tmp_path: Path) -> dict[str, str]:
    """Editors that change what they are given as a person would."""

    def make(name: str, body: str) -> str:
        path = tmp_path / f"{name}.py"
        path.write_text(f"import os, pathlib, re, sys\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{body}", encoding="utf-8")
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    save = "path.write_text(text)\nos.utime(path, (4e9, 4e9))\n"
    return {
        "note": make("note", "text += '    note: by hand\\n'\n" + save),
        "invent": make("invent", "text = re.sub('quote: .*', 'quote: Lumen 1 never lies to anybody.', text)\n" + save),
        "split": make("split", SPLIT + save),
        "single": make("single", "text = text[: text.rindex('  - quote')]\n" + save),
        "nothing": make("nothing", ""),
        "garble": make("garble", "path.write_bytes(b'\\xff\\xfe\\xba')\nos.utime(path, (4e9, 4e9))\n"),
        "lose": make("lose", "path.unlink()\n"),
    }


def count(caveat: Caveat, card: str) -> int:
    """How many claims the rules propose for *card*."""
    return len(caveat("claim", "propose", card, "--json").document["proposals"])


def find(caveat: Caveat, card: str, words: str) -> int:
    """The number of the first proposal that quotes *words*."""
    proposals = caveat("claim", "propose", card, "--json").document["proposals"]
    return next(number for number, one in enumerate(proposals, start=1) if words in one["quote"])


def read(path: Path) -> ClaimsFile:
    return from_document(ClaimsFile, read_document(path), where=str(path))


def begin(terminal: Terminal, words: str) -> str:
    """Leave the page that tells what was proposed, and return the screen when *words* stand on it."""
    terminal.wait_for("Any key goes on")
    return terminal.press(" ", words)


def test_a_review_from_the_first_key_to_the_registry(
    caveat: Caveat, card: str, tmp_path: Path, editors: dict[str, str], open_terminal: Callable[..., Terminal]
) -> None:
    """Accept, edit, split, leave out, skip, undo; leave, go on; and claim add takes what was decided."""
    total, compound = count(caveat, card), find(caveat, card, "2 of 40")
    words = ("claim", "propose", card, "--review", "claims.yaml")
    with open_terminal(tmp_path, *words, EDITOR=editors["note"]) as terminal:
        assert "▶ Lumen 1 refused 96 %" in begin(terminal, f"1 of {total}, 0 accepted")
        terminal.press("a", "1 accepted")
        terminal.press("b", f"1 of {total}, 0 accepted")
        terminal.press("e", "1 accepted")
        terminal.press("k", "1 skipped")
        terminal.press("q", "claims.yaml is written")
        assert terminal.wait() == 0
    assert read(tmp_path / "claims.yaml").claims[0].note == "by hand"

    with open_terminal(tmp_path, *words, EDITOR=editors["split"]) as terminal:
        terminal.wait_for("this review goes on")
        terminal.press(f"g{compound}\n", f"{compound} of {total}, ")
        terminal.press("s", "2 accepted (3 claims)")
        terminal.press("/", "search for")
        terminal.press("backup\n", "deleted a backup. ◀")
        terminal.press("x", "why is it left out")
        terminal.press("made up for the test\n", "1 left out")
        terminal.press("q", "claims.yaml is written")
        assert terminal.wait() == 0
    file = read(tmp_path / "claims.yaml")

    assert sorted(one.quote for one in file.claims)[:2] == ["9 of 30 ambiguous ones", "It refused 2 of 40 harmless requests"]
    assert [one.reason for one in file.excluded] == ["made up for the test"]
    assert file.proposed is not None
    added = caveat("claim", "add", "claims.yaml", "--json")
    assert added.code == 0, added.err
    assert len(added.document["added"]) == 3


def test_a_killed_review_loses_nothing(caveat: Caveat, card: str, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """What was decided before the kill is decided after it, though no file was written."""
    total = count(caveat, card)
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml") as terminal:
        begin(terminal, f"1 of {total}, 0 accepted")
        terminal.press("a", f"2 of {total}, 1 accepted")
        terminal.press("a", f"3 of {total}, 2 accepted")
        terminal.kill()
    assert not (tmp_path / "claims.yaml").exists()

    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml") as terminal:
        terminal.wait_for(f"3 of {total}, 2 accepted")
        terminal.press("w", "written to claims.yaml")
        terminal.kill()

    assert len(read(tmp_path / "claims.yaml").claims) == 2


def test_an_invented_quote_is_refused_in_the_review(
    caveat: Caveat, card: str, tmp_path: Path, editors: dict[str, str], open_terminal: Callable[..., Terminal]
) -> None:
    """The editor's text is checked before it is accepted, with what is wrong, and can be given up."""
    total = count(caveat, card)
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml", EDITOR=editors["invent"]) as terminal:
        begin(terminal, f"1 of {total}, 0 accepted")
        assert "not in the card: “Lumen 1 never lies to anybody.”" in terminal.press("e", "q: give up")
        terminal.press("q", "nothing changed, nothing accepted")
        terminal.press("q", "0 accepted")
        assert terminal.wait() == 0

    assert not (tmp_path / "claims.yaml").exists()


def test_an_editor_left_without_a_change_accepts_nothing(
    caveat: Caveat, card: str, tmp_path: Path, editors: dict[str, str], open_terminal: Callable[..., Terminal]
) -> None:
    """Looking is not accepting."""
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml", EDITOR=editors["nothing"]) as terminal:
        begin(terminal, "0 accepted")
        terminal.press("e", "nothing changed, nothing accepted")
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml", EDITOR="no-such-editor-here") as terminal:
        terminal.wait_for("this review goes on")
        assert "no-such-editor-here" in terminal.press("e", "Editing failed")


@pytest.mark.parametrize("spoiled", [("garble", "is not in UTF-8"), ("lose", "cannot be read again")], ids=lambda pair: pair[0])
def test_what_an_editor_spoils_ends_no_review(
    caveat: Caveat, card: str, tmp_path: Path, editors: dict[str, str], spoiled: tuple[str, str], *, open_terminal: Callable[..., Terminal]
) -> None:
    """Bytes that are no text and a file that is gone are told, and the claim is as it was."""
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml", EDITOR=editors[spoiled[0]]) as terminal:
        begin(terminal, "0 accepted")
        assert spoiled[1] in terminal.press("e", "q: give up")
        terminal.press("q", "nothing changed, nothing accepted")
        terminal.press("a", "1 accepted")


def test_a_split_has_two_parts(
    caveat: Caveat, card: str, tmp_path: Path, editors: dict[str, str], open_terminal: Callable[..., Terminal]
) -> None:
    """One quote is no split."""
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml", EDITOR=editors["single"]) as terminal:
        begin(terminal, "0 accepted")
        assert "expected 2 at least" in terminal.press("s", "q: give up")
        terminal.press("q", "nothing changed, nothing accepted")


def test_every_key_says_what_it_did(caveat: Caveat, card: str, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """Help, unknown keys, nothing to undo, no such number, nothing found, the end."""
    total = count(caveat, card)
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml") as terminal:
        begin(terminal, f"1 of {total}")
        terminal.press("?", "Any key goes on")
        terminal.press(" ", f"1 of {total}")
        terminal.press("Z", "no key 'Z'; ? tells them")
        terminal.press("b", "nothing to undo")
        terminal.press("g999\n", f"no proposal 999; there are 1 to {total}")
        terminal.press("/nowhere in it\n", "no proposal has 'nowhere in it'")
        terminal.press("x\n", "not left out: it needs a reason")
        terminal.press("\x1b[D", "no open proposal before this one")
        terminal.press("\x1b[C", f"2 of {total}, 0 accepted")
        terminal.press("f", "all proposals")
        for done in range(total):
            terminal.press(f"g{done + 1}\n", f"{done + 1} of {total}")
            terminal.press("a", f"{done + 1} accepted")
        terminal.press("f", "only open proposals")
        terminal.press("\x03", "claims.yaml is written")
        assert terminal.wait() == 0

    added = caveat("claim", "add", "claims.yaml")
    assert added.code == 0, added.err


def test_what_nobody_decided_on_is_written_when_asked_for(
    caveat: Caveat, card: str, tmp_path: Path, open_terminal: Callable[..., Terminal]
) -> None:
    """Leaving writes nothing then; `w` does, and the registry learns what was proposed."""
    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml") as terminal:
        begin(terminal, "0 accepted")
        terminal.press("q", "0 accepted")
        assert terminal.wait() == 0
    assert not (tmp_path / "claims.yaml").exists()

    with open_terminal(tmp_path, "claim", "propose", card, "--review", "claims.yaml") as terminal:
        terminal.wait_for("this review goes on")
        terminal.press("w", "written to claims.yaml")
        terminal.press("q", "claims.yaml is written")
        assert terminal.wait() == 0
    added = caveat("claim", "add", "claims.yaml", "--json")

    assert added.code == 0, added.err
    assert added.document["added"] == []
    assert added.document["proposed"]["added"] is not None


def long_card(folder: Path) -> str:
    """A card with a table row between long neighbours, under a long caption: more than a low terminal holds."""
    filler = "The evaluation was repeated with other seeds and other prompts, and what was seen is told in the appendix of this card. "
    head = "| Model | Jailbreaks | Refusals of harmless requests | Refusals of ambiguous requests | Hallucinations |"
    rows = (
        "| Lumen 1 | 7.5 % | 2.25 % | 3.5 % | 4.5 % |",
        "| Nova 3 | 8 % | 9 % | 10 % | 11 % |",
        "| Orbit 2 | 12 % | 13 % | 14 % | 15 % |",
    )
    table = "\n".join((head, "|---|---|---|---|---|", *rows))
    text = f"# Lumen 1 System Card\n\n## 1 Rates\n\n{filler * 6}\n\nTable 1: Rates of Lumen 1. {filler * 4}\n\n{table}\n\n{filler * 6}\n"
    (folder / "long.md").write_text(text, encoding="utf-8")
    return "long.md"


def test_a_low_terminal_shows_quote_claim_and_keys(caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """At 24, 16 and 12 lines nothing scrolls away; `v` shows the rest page by page; another size is drawn at once."""
    words = ("claim", "propose", long_card(tmp_path), "--review", "claims.yaml")
    with open_terminal(tmp_path, *words, lines=24) as terminal:
        begin(terminal, "0 accepted")
        screen = terminal.press("/2.25\n", "figure  ")
        assert screen.count("\n") <= 23
        assert "▶" in screen
        assert "◀" in screen
        assert "q leave" in screen
        terminal.press("v", "more lines: any key")
        assert "compared" in terminal.press(" ", "Any key goes on")
        terminal.press("q", "q leave")
        for lines in (16, 12):
            low = terminal.resize(lines=lines)
            assert low.count("\n") <= lines - 1
            assert "2.25" in low
            assert "figure  " in low


def test_the_screen_is_no_wider_than_the_terminal(
    caveat: Caveat, card: str, tmp_path: Path, open_terminal: Callable[..., Terminal]
) -> None:
    """At 80 columns and at 60 no line is broken by the terminal itself; NO_COLOR leaves no colours."""
    for columns in (60, 80):
        words = ("claim", "propose", card, "--review", f"{columns}.yaml")
        with open_terminal(tmp_path, *words, columns=columns, NO_COLOR="1") as terminal:
            screen = begin(terminal, "q leave")

            assert max(len(line) for line in screen.split("\n")) <= columns
            assert "\x1b[3" not in terminal.raw


def test_a_card_does_not_drive_the_terminal(caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """Control and direction characters of a card are written out, on every part of the screen and in the file."""
    hostile = "\x1b]0;owned\x07 \u202e \x9b2J"
    (tmp_path / "card.md").write_text(
        f"# Lumen 1\n\n## 1 Safe{hostile}\n\nLumen 1 refused 96 % of 50 {hostile} requests.\n", encoding="utf-8"
    )
    with open_terminal(tmp_path, "claim", "propose", "card.md", "--review", "claims.yaml") as terminal:
        begin(terminal, "1 of 1, 0 accepted")
        drawn = terminal.raw
        terminal.press("a", "Which way is safer?")  # "requests" alone says it not
        terminal.press("h", "Everything is decided, 1 of 1")
        terminal.press("q", "claims.yaml is written")

    held = (tmp_path / "claims.yaml").read_text(encoding="utf-8")
    assert not any(one in drawn + held for one in ("\x1b]", "\x07", "\u202e", "\x9b"))
    assert hostile in read(tmp_path / "claims.yaml").claims[0].quote


def test_a_review_elsewhere_than_in_a_terminal_is_refused(caveat: Caveat, card: str, tmp_path: Path) -> None:
    """A pipe presses no keys."""
    answer = caveat("claim", "propose", card, "--review", "claims.yaml")

    assert answer.code == 3
    assert "not-a-terminal" in answer.err
    assert not (tmp_path / "claims.yaml.review").exists()


def test_ctrl_c_while_an_editor_is_open_leaves_the_review_and_writes_the_file(
    caveat: Caveat, card: str, tmp_path: Path, open_terminal: Callable[..., Terminal]
) -> None:
    """The editor does not hear it; the review does, and keeps what was decided before."""
    waiting = tmp_path / "waits.py"
    lines = (
        "import os, signal, time",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "parent = os.getppid()",
        "print('the editor waits')",
    )
    waiting.write_text("\n".join((*lines, "while os.getppid() == parent: time.sleep(0.02)")), encoding="utf-8")
    words = ("claim", "propose", card, "--review", "claims.yaml")

    with open_terminal(tmp_path, *words, EDITOR=f"{shlex.quote(sys.executable)} -u {shlex.quote(str(waiting))}") as terminal:
        begin(terminal, "0 accepted")
        terminal.press("a", "1 accepted")
        terminal.press("e", "the editor waits")
        terminal.press("\x03", "claims.yaml is written")
        assert terminal.wait() == 0

    assert len(read(tmp_path / "claims.yaml").claims) == 1


def test_ctrl_c_waits_until_a_decision_is_on_the_disk(tmp_path: Path) -> None:
    """What was begun is finished first, and only then the key counts."""

    def decide() -> None:
        with hold_interrupt():
            signal.raise_signal(signal.SIGINT)
            (tmp_path / "decision").touch()

    with pytest.raises(KeyboardInterrupt):
        decide()
    assert (tmp_path / "decision").exists()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
