"""`caveat analyze contamination` from the command line."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from audit.modules.differential_estimate import estimate
from audit.sources.score_table import read_table
from registry.cli.main import cli, main
from registry.records.analysis_plan import ContextDesign, Plan
from tests.cli.refusals import run_limited
from tests.contamination.made_up import Run


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, ["analyze", "contamination", *words])


def test_the_summary_says_what_stands(tmp_path: Path) -> None:
    """What was read, the contrasts, and what to keep in mind."""
    result = call(str(Run().write(tmp_path)))

    assert result.exit_code == 0
    assert "3 skills, 9 tasks, 60 responses by writer-1, judged by judge-1" in result.stdout
    assert "Means over the 2 skills that the study kept, by skill" in result.stdout
    assert "warning: few-tasks: No verdict on a skill: each has 3 tasks, fewer than 20" in result.stdout
    assert result.stderr == ""


def test_json_is_one_document(tmp_path: Path) -> None:
    """The schema comes first; what does not exist is null."""
    result = call(str(Run().write(tmp_path)), "--json")

    document = json.loads(result.stdout)
    assert next(iter(document)) == "schema"
    assert document["schema"] == "caveat/contamination/1"
    assert document["compatibility"] is None
    assert document["skills"][0]["mitigation"]["identified"]["value"] is None


def test_files_are_written(tmp_path: Path) -> None:
    """results.json is what --json prints; contrasts.csv has one row per contrast; nothing is said on stdout but the answer."""
    folder, out = Run().write(tmp_path / "in"), tmp_path / "out"

    result = call(str(folder), "-o", str(out), "--json")

    assert sorted(path.name for path in out.iterdir()) == ["contamination.html", "contrasts.csv", "results.json", "scores.csv"]
    assert json.loads((out / "results.json").read_text()) == json.loads(result.stdout)
    with (out / "contrasts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    skills = [row for row in rows if row["unit"] == "task"]
    assert len(skills) == 3 + 5 + 3
    assert {row["unit"] for row in rows} == {"task", "skill"}
    assert result.stderr.count("written: ") == 4


def test_the_score_table_gives_the_same_contrast(tmp_path: Path) -> None:
    """scores.csv, read as any score table, gives B−A of the skill to the last digit."""
    folder, out = Run().write(tmp_path / "in"), tmp_path / "out"
    document = json.loads(call(str(folder), "-o", str(out), "--json", "--skill", "alpha-sdk").stdout)
    table = read_table([out / "scores.csv"], low=1, high=5)

    found = estimate(table, Plan(contexts=ContextDesign.FIXED, margin=0.2, replicates=0), range_=(1, 5), test="B", deploy="A").specs[0]

    measure = document["skills"][0]["effects"][0]["measure"]
    assert (measure["low"], measure["high"]) == (found.ed.low, found.ed.high)
    assert table.rows == 18


def test_a_selection(tmp_path: Path) -> None:
    """Several skills may be named."""
    document = json.loads(call(str(Run().write(tmp_path)), "--json", "--skill", "alpha-sdk", "--skill", "beta-docs").stdout)

    assert [one["skill"] for one in document["skills"]] == ["alpha-sdk", "beta-docs"]
    assert document["selected"] == ["alpha-sdk", "beta-docs"]


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (("--skill", "alpha-sdkk", "--skill", "omega"), ["unknown-name", "unknown-name"]),
        (("--level", "1.5", "--margin", "-1"), ["not-valid", "not-valid"]),
        (("--level", "nan", "--margin", "nan"), ["not-valid", "not-valid"]),
    ],
)
def test_wrong_options_are_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], codes: list[str]
) -> None:
    """Exit code 2, one fault each, and nothing on stdout."""
    monkeypatch.setattr("sys.argv", ["caveat", "analyze", "contamination", str(Run().write(tmp_path)), "--json", *words])

    with pytest.raises(SystemExit) as ended:
        main()

    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert [one["code"] for one in json.loads(said.err)["faults"]] == codes


def test_a_broken_run_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults come before files: the output folder is not even made."""
    run = Run()
    run.run("alpha-sdk", 0, 0)["baseline"]["judge"]["code_quality"] = 17
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["caveat", "analyze", "contamination", str(run.write(tmp_path / "in")), "-o", str(out)])

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    assert "  --> scores/alpha-sdk.json, tasks[0].runs[0].baseline.judge.code_quality" in capsys.readouterr().err
    assert not out.exists()


def test_names_cannot_drive_the_terminal(tmp_path: Path) -> None:
    """Control characters from a file are shown, not obeyed."""
    run = Run()
    run.documents["scores/alpha-sdk.json"]["skill_name"] = "alpha\u001b[31m"

    result = call(str(run.write(tmp_path)))

    assert "\u001b" not in result.stdout
    assert "alpha[U+001B][31m" in result.stdout


def test_names_in_tables_are_neither_computed_nor_obeyed(tmp_path: Path) -> None:
    """A skill called like a formula, or like a command to the terminal, is a text to both; the table is still read."""
    run = Run()
    run.documents["scores/alpha-sdk.json"]["skill_name"] = "=HYPERLINK(1)"
    run.documents["scores/beta-docs.json"]["skill_name"] = "beta\u001b[31m"

    call(str(run.write(tmp_path / "in")), "-o", str(tmp_path / "out"))

    for name in ("contrasts.csv", "scores.csv"):
        text = (tmp_path / "out" / name).read_text()
        cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
        assert [cell for cell in cells if cell.startswith(("=", "@"))] == []
        assert "'=HYPERLINK(1)" in cells
        assert "\u001b" not in text
    assert read_table([tmp_path / "out" / "scores.csv"], low=1, high=5).rows > 0


def test_a_full_disk_leaves_the_files_of_before(tmp_path: Path) -> None:
    """All four are replaced or none: a page would be read beside the tables of another run."""
    run = Run().write(tmp_path / "in")
    out = tmp_path / "out"
    first = call(str(run), "-o", str(out))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    largest = max(len(content) for content in before.values())

    refused = run_limited(tmp_path, largest // 2, "analyze", "contamination", str(run), "-o", str(out), "--level", "0.9")

    assert first.exit_code == 0
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "file-not-accessible" in refused.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
