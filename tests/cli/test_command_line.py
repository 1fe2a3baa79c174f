"""What all commands share: wrong usage, suggestions, confirmations, and tables; and `caveat status`."""

import csv
import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from registry.cli.main import cli
from registry.cli.terminal_output import print_blocks
from registry.errors import count_edits, suggest
from registry.present.blocks import Table
from tests.cli.conftest import Caveat


@pytest.mark.parametrize(
    ("words", "code", "advice"),
    [
        (("clam",), "unknown-command", "did you mean caveat claim?"),
        (("claimz", "list"), "unknown-command", "did you mean caveat claim?"),
        (("claim", "lst"), "unknown-command", "did you mean caveat claim list?"),
        (("claim", "frobnicate"), "unknown-command", "caveat claim --help"),
        (("claim", "list", "--crad", "x"), "unknown-option", "did you mean --card?"),
        (("claim", "show"), "option-missing", "caveat claim show --help"),
        (("claim", "list", "--limit", "x"), "bad-option", "caveat claim list --help"),
        (("audit", "order", "x", "--seed"), "bad-option", "caveat audit order --help"),
    ],
)
def test_wrong_usage_is_an_error_like_others(caveat: Caveat, words: tuple[str, ...], code: str, advice: str) -> None:
    """Code, place and advice, as text and with --json; a suggestion only where a name that exists is near."""
    text, document = caveat(*words), caveat(*words, "--json")

    assert (text.code, text.error, f"\n  fix: {advice}\n" in text.err) == (2, code, True)
    (fault,) = json.loads(document.err)["faults"]
    assert (document.code, fault["code"], fault["advice"]) == (2, code, advice)


def test_a_missing_option_is_explained(caveat: Caveat, tmp_path: Path) -> None:
    """What to give is said at once, not only where to read it."""
    (tmp_path / "card.md").write_text("# Card", encoding="utf-8")

    answer = caveat("card", "add", "card.md", "--title", "Card")

    assert "it is needed: Who published it." in answer.err


@pytest.mark.parametrize(
    ("word", "other", "edits"),
    [("test", "test", 0), ("tset", "test", 1), ("claim", "clam", 1), ("lock", "look", 1), ("a", "abc", 2), ("", "abc", 3)],
)
def test_edits_are_counted(word: str, other: str, edits: int) -> None:
    """Letters added, removed, changed, or swapped with the next; either way round."""
    assert (count_edits(word, other), count_edits(other, word)) == (edits, edits)


def test_a_suggestion_is_near() -> None:
    """Two edits at most, and in a short word fewer."""
    assert suggest("deplyo", ["deploy", "test"]) == "did you mean deploy?"
    assert suggest("arm-1", ["arm-2", "arm-3", "other"], most=2) == "did you mean arm-2 or arm-3?"
    assert suggest("xy", ["ab"]) is None
    assert suggest("production", ["deploy"]) is None


def test_what_cannot_be_undone_needs_a_confirmation(caveat: Caveat, registered: list[str]) -> None:
    """Without a terminal and without --yes nothing is recorded."""
    claim = registered[0].partition("@")[0]
    calls = [("claim", "withdraw", claim, "-m", "wrong"), ("claim", "supersede", claim, registered[1], "-m", "wrong")]
    calls.append(("admin", "log", "erase", "3", "-m", "wrong"))
    size = caveat("status", "--json").document["log_size"]

    refused = [caveat(*call).error for call in calls]

    assert refused == ["not-a-terminal"] * 3
    assert caveat("status", "--json").document["log_size"] == size
    assert caveat(*calls[0], "--yes").code == 0


def test_status_names_what_is_left_to_do(caveat: Caveat, registered: list[str]) -> None:
    """Counts, and for each kind of open work the first of it with the next command."""
    claim = registered[0].partition("@")[0]
    caveat("contest", "open", claim, "-m", "too few")

    text, document = caveat("status"), caveat("status", "--json").document

    assert {name: document["registered"][name] for name in ("cards", "claims", "audits")} == {"cards": 1, "claims": 3, "audits": 0}
    todo = {work["matter"]: work for work in document["todo"]}
    assert (todo["unaudited_claim"]["count"], todo["unaudited_claim"]["first"]) == (3, claim)
    assert todo.keys() == {"unaudited_claim", "open_objection", "unpublished_claim"}
    assert all(f"  {work['next']}\n" in text.out for work in document["todo"])


def test_a_list_of_claims_is_narrowed_and_written_as_csv(caveat: Caveat, registered: list[str]) -> None:
    """Property, text and verdict narrow it; the CSV has a line for each claim."""
    listed = caveat("claim", "list", "--json").document["claims"]
    spec = listed[0]["property"].partition("@")[0]

    by_property = [claim["claim"] for claim in caveat("claim", "list", "--property", spec, "--json").document["claims"]]
    rows = list(csv.DictReader(caveat("claim", "list", "--verdict", "not_audited", "--csv").out.splitlines()))

    assert by_property == [claim["claim"] for claim in listed if claim["property"].startswith(spec)]
    assert [row["claim"] for row in rows] == registered
    assert caveat("claim", "list", "--verdict", "holds").out == "No claim passes these filters.\n"


def test_a_table_breaks_no_identifier_and_no_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The columns of words give way, and fold."""
    name, command = "CLM-EXAMPLE-2026-0001-T@12", f"caveat audit new CLM-EXAMPLE-2026-0001-T > {tmp_path.name[:8]}.yaml"
    print_blocks([Table(("claim", "words", "next"), [(name, "many words " * 12, command)])])
    lines = capsys.readouterr().out.splitlines()

    assert (name in lines[1], command in lines[1]) == (True, True)
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("words", "start", "kind"),
    [
        (["claim", "show"], "CLM-", "CLM-"),
        (["claim", "list", "--card"], "crd", "CRD-"),
        (["report"], "", ""),
        (["--registry", "sqlite:///caveat.db", "claim", "show"], "", "CLM-"),
        (["--registry", "sqlite:///absent.db", "claim", "show"], "", None),
    ],
)
def test_a_shell_completes_identifiers_of_the_registry(registered: list[str], words: list[str], start: str, kind: str | None) -> None:
    """Only those of the kinds that the command takes; without a registry there are none, and no message disturbs the line."""
    offered = [item.value for item in ShellComplete(cli, {}, "caveat", "_CAVEAT_COMPLETE").get_completions(words, start)]

    claims = [name.partition("@")[0] for name in registered]
    assert set(claims) <= set(offered) if kind in ("CLM-", "") else not set(claims) & set(offered)
    assert all(name.startswith(kind) for name in offered) if kind is not None else offered == []
    assert bool(offered) is (kind is not None)
