"""A lab's own table, by the command line: guessed, confirmed or mapped, to scores, an estimate and an audit."""

import csv
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit
from tests.cli.terminal import Terminal
from tests.sources.sheet_fixtures import HEAD, ROWS, write_text, write_xlsx

MAPPED = ("--map", "task=prompt_id,arm=condition,score=passed", "--arms", "test=Eval,deploy=Prod")


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A spreadsheet in the current folder."""
    return write_xlsx(tmp_path / "runs.xlsx").name


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_without_a_terminal_the_guess_is_shown_with_the_command_to_paste(caveat: Caveat, tmp_path: Path, table: str) -> None:
    """Nothing is written; the pasted command writes the table."""
    done = caveat("audit", "table", table, "-o", "scores.csv")

    assert (done.code, done.error, (tmp_path / "scores.csv").exists()) == (2, "mapping-needed", False)
    assert [line.split()[:2] for line in done.out.splitlines()[2:5]] == [["prompt_id", "task"], ["condition", "arm"], ["passed", "score"]]
    command = done.err.partition("fix: ")[2].strip()
    assert caveat(*shlex.split(command)[1:]).code == 0
    assert {(row["task_id"], row["arm"], row["sample"]) for row in read_csv(tmp_path / "scores.csv")} == {
        (f"q{task}", arm, "1") for task in range(4) for arm in ("test", "deploy")
    }


def test_a_complete_guess_is_taken_with_yes_alone(caveat: Caveat, table: str) -> None:
    """The account is the answer."""
    done = caveat("audit", "table", table, "-o", "scores.csv", "--yes", "--json")

    # With --json the guess is not printed: standard output holds one document.
    assert (done.code, done.document["rows"]) == (0, 8)
    assert "columns: task = prompt_id, arm = condition, score = passed" in done.document["imported"]["files"][0]["notes"]


def test_a_guess_that_does_not_know_the_arms_is_never_taken(caveat: Caveat, tmp_path: Path) -> None:
    """The command to paste has words in capitals where the arms belong."""
    write_text(tmp_path / "runs.csv", [(task, "red" if arm == "Eval" else "blue", score) for task, arm, score in ROWS])

    done = caveat("audit", "table", "runs.csv", "-o", "scores.csv", "--yes")

    assert (done.code, done.error) == (2, "mapping-needed")
    assert "cannot know which value is the test-like arm: red, blue" in done.err
    assert "--arms test=VALUE,deploy=OTHER-VALUE" in done.err


def test_a_table_with_one_arm_is_refused_at_once(caveat: Caveat, tmp_path: Path) -> None:
    """With what to do."""
    write_text(tmp_path / "runs.csv", [row for row in ROWS if row[1] == "Eval"])

    assert caveat("audit", "table", "runs.csv", "-o", "scores.csv", "--yes").error == "one-sided"


def test_columns_that_were_never_computed_are_named_instead_of_a_missing_score(caveat: Caveat, tmp_path: Path) -> None:
    """And a column that occurs twice."""
    write_xlsx(tmp_path / "runs.xlsx", [(*row[:2], "=1+1") for row in ROWS])
    write_text(tmp_path / "runs.csv", [(*row, row[2]) for row in ROWS], head=(*HEAD, "passed"))

    assert caveat("audit", "table", "runs.xlsx", "-o", "scores.csv").error == "formula-without-value"
    assert caveat("audit", "table", "runs.csv", "-o", "scores.csv").error == "duplicate-column"


def test_on_a_terminal_a_person_names_the_arms_and_confirms(tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """And gets the command that asks nothing."""
    write_text(tmp_path / "runs.csv", [(task, "red" if arm == "Eval" else "blue", score) for task, arm, score in ROWS])

    with open_terminal(tmp_path, "audit", "table", "runs.csv", "-o", "scores.csv") as terminal:
        terminal.wait_for("Which value is the test-like arm (red, blue)")
        terminal.press("red\n", "Take these columns?")
        terminal.press("y\n", "wrote 8 rows")
        assert "--arms test=red,deploy=blue" in terminal.screen.replace("\n", " ")
        assert terminal.wait() == 0

    assert {row["arm"] for row in read_csv(tmp_path / "scores.csv")} == {"test", "deploy"}


def test_estimate_and_conclude_read_the_table_directly(caveat: Caveat, tmp_path: Path, table: str) -> None:
    """The scores are those of the converted table, and the account is recorded with the audit."""
    caveat("audit", "table", table, *MAPPED, "-o", "scores.csv")
    direct = caveat("analyze", "estimate", table, *MAPPED, "--json").document
    assert direct["specs"] == caveat("analyze", "estimate", "scores.csv", "--json").document["specs"]
    _, claim, _ = register(caveat, tmp_path)

    done = caveat("audit", "conclude", write_audit(tmp_path, claim), table, *MAPPED, "--json")

    assert done.code == 0, done.err
    assert done.document["imported"]["files"][0]["format"] == "table: XLSX, sheet 'Runs'"
    assert "8 found, 8 scored" in done.document["restriction"]["provenance"]["imported"]


def test_a_table_that_needs_a_mapping_says_so_in_every_command(caveat: Caveat, table: str) -> None:
    """With the guess to paste."""
    done = caveat("analyze", "estimate", table)

    assert (done.code, done.error) == (2, "mapping-needed")
    assert "--map task=prompt_id,arm=condition,score=passed --arms test=Eval,deploy=Prod" in done.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--map", "task"), "bad-option"),
        (("--map", "task=a,task=b"), "bad-option"),
        (("--arms", "test=Eval,deploy=Eval"), "bad-option"),
        (("--score-values", "pass=good"), "bad-option"),
        ((*MAPPED, "--key", "x"), "option-for-logs"),
        ((*MAPPED, "--where", "condition=Lab"), "unknown-name"),
        ((*MAPPED, "--range", "5", "6"), "score-out-of-range"),
    ],
)
def test_an_option_that_does_not_match_the_table_is_refused(options: tuple[str, ...], code: str, caveat: Caveat, tmp_path: Path) -> None:
    """Nothing is written."""
    write_text(tmp_path / "runs.csv")

    done = caveat("audit", "table", "runs.csv", *options, "-o", "scores.csv")

    assert (done.code, done.error, (tmp_path / "scores.csv").exists()) == (2, code, False)


def test_a_column_with_a_comma_is_named_in_quotation_marks(caveat: Caveat, tmp_path: Path) -> None:
    """As in a CSV file; the command to paste does it too."""
    write_xlsx(tmp_path / "runs.xlsx", head=("prompt_id", "condition", "passed, final"))

    done = caveat("audit", "table", "runs.xlsx", "-o", "scores.csv")

    assert caveat(*shlex.split(done.err.partition("fix: ")[2].strip())[1:]).code == 0
