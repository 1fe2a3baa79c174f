"""Lists: filters, columns, order and CSV, of every command that lists something; one log or all of them."""

import csv
import io
import json
from pathlib import Path

import click
import pytest

from registry.cli.answer_formats import list_formats
from registry.cli.main import cli
from registry.exchange.log_names import get_origin, shorten_origins
from tests.cli.conftest import Answer, Caveat
from tests.cli.scenario import write_audit, write_scores
from tests.cli.test_answers import list_json_commands

BOM = "\ufeff"


def find_command(path: str) -> click.Command:
    command: click.Command = cli
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


def read_csv(answer: Answer) -> list[dict[str, str]]:
    assert answer.code == 0, answer.err
    assert answer.out.startswith(BOM)
    return list(csv.DictReader(io.StringIO(answer.out.removeprefix(BOM))))


def test_every_list_takes_columns_and_writes_csv(caveat: Caveat, registered: list[str]) -> None:
    """Each command called `list` takes the options, and so does each that is declared for chosen columns; all print CSV with a header."""
    declared = set(next(answer_format for answer_format in list_formats() if answer_format.name == "rows").commands)
    taking = {path for path in list_json_commands(cli) if any("--columns" in parameter.opts for parameter in find_command(path).params)}
    lists = {path for path in list_json_commands(cli) if path.endswith(" list")}

    assert taking == declared
    assert lists <= taking
    assert len(registered) == 3
    for path in sorted(taking - {"compare", "claim history", "card coverage", "analyze skills list"}):
        answer = caveat(*path.split(), "--csv")
        header = answer.out.removeprefix(BOM).partition("\n")[0].split(",")
        assert (answer.code, len(header) > 3) == (0, True), path
        chosen = caveat(*path.split(), "--json", "--columns", f"{header[1]},{header[0]}").document
        assert (chosen["schema"], chosen["columns"]) == ("caveat/rows/1", [header[1], header[0]]), path
        assert all(list(row) == chosen["columns"] for row in chosen["rows"])


def test_an_unknown_column_names_those_that_exist(caveat: Caveat, registered: list[str]) -> None:
    """For columns and for the order alike, with the name that was meant where one is near."""
    for option in ("--columns", "--sort"):
        refused = caveat("claim", "list", option, "verdct")
        assert (refused.code, refused.error) == (2, "unknown-name")
        assert "did you mean verdict?" in refused.err
        assert "property_class" in refused.err
    assert caveat("claim", "list", "--csv", "--json").code == 2
    assert len(registered) == 3


def test_claims_are_found_by_what_is_known_of_them(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """By verdict, class, property class, model pattern, status and date; values of one filter add up, filters combine."""
    caveat("audit", "conclude", write_audit(tmp_path, registered[0]), write_scores(tmp_path / "bad.csv", test=0.05, deploy=0.4))
    caveat("claim", "publish", registered[1].partition("@")[0])
    rows = read_csv(caveat("claim", "list", "--csv"))
    audited = rows[0]

    def find(*options: str) -> list[str]:
        return [row["claim"] for row in caveat("claim", "list", "--json", "--columns", "claim", *options).document["rows"]]

    assert [row["claim"] for row in rows] == registered
    assert find("--verdict", audited["verdict"]) == find("--class", audited["class"]) == [registered[0]]
    assert find("--verdict", audited["verdict"], "--verdict", "not_audited") == registered
    assert find("--property-class", audited["property_class"], "--verdict", audited["verdict"]) == [registered[0]]
    assert find("--status", "published") == [registered[1]]
    assert find("--status", "published", "--verdict", audited["verdict"]) == []
    assert find("--model", "lab/*/*") == find("--model", "LAB/M/1") == registered
    assert find("--model", "*/*/9*") == []
    assert caveat("claim", "list", "--model", "LAB/M/9").error == "model-not-registered"
    assert find("--since", audited["date"]) == find("--until", audited["date"]) == registered
    assert find("--until", "2000-01-01") == []
    assert caveat("claim", "list", "--since", "2026-02-01", "--until", "2026-01-01").error == "bad-date"


def test_an_unknown_number_is_empty_and_sorts_last(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """ED of a claim without an estimate is an empty cell or null, never 0, and last in either direction; a negative ED stays a number."""
    for claim, test, deploy in ((registered[1], 0.05, 0.4), (registered[2], 0.9, 0.3)):
        scores = write_scores(tmp_path / "scores.csv", test=test, deploy=deploy)
        assert caveat("audit", "conclude", write_audit(tmp_path, claim), scores).code == 0
    upwards = read_csv(caveat("claim", "list", "--sort", "ed", "--csv"))
    downwards = caveat("claim", "list", "--sort", "ed", "--reverse", "--json", "--columns", "claim,ed").document["rows"]

    assert [row["claim"] for row in upwards] == [registered[1], registered[2], registered[0]]
    assert (float(upwards[0]["ed"]) < 0 < float(upwards[1]["ed"]), upwards[2]["ed"]) == (True, "")
    assert [row["claim"] for row in downwards] == [registered[2], registered[1], registered[0]]
    assert downwards[2]["ed"] is None


def test_a_text_that_a_spreadsheet_would_compute_is_guarded(caveat: Caveat) -> None:
    """The title of a card that begins like a formula gets an apostrophe in CSV, and stays as it is in JSON."""
    caveat("init", "--code", "AISI", "--no-key")
    Path("card.md").write_text("# A card\n\nIt refused 92% of requests.\n", encoding="utf-8")
    assert caveat("card", "add", "card.md", "--publisher", "LAB", "--title", "=1+1").code == 0

    assert read_csv(caveat("card", "list", "--csv"))[0]["title"] == "'=1+1"
    assert caveat("card", "list", "--json").document["cards"][0]["title"] == "=1+1"


def test_versions_that_only_claims_name_are_listed(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """Each with its claims and their verdicts; a withdrawn claim does not count."""
    caveat("audit", "conclude", write_audit(tmp_path, registered[0]), write_scores(tmp_path / "bad.csv", test=0.05, deploy=0.4))
    caveat("claim", "withdraw", registered[2].partition("@")[0], "-m", "wrong", "--yes")
    (version,) = caveat("model", "list", "--json").document["models"]

    assert (version["claims"], version["audited"], sum(version["outcomes"].values())) == (2, 1, 1)
    text = caveat("model", "list").out
    assert "2 claims: " in text
    assert "not audited 1" in text


def test_a_log_has_a_short_name_that_is_unique() -> None:
    """The authority, with digits where it has several logs; a name of several logs is refused with the candidates."""
    origins = ["caveat.log/LAB/60e5a83288344e6b", "caveat.log/AISI/1111222233334444", "caveat.log/AISI/1111999933334444"]
    names = shorten_origins(origins)

    assert list(names.values()) == ["LAB", "AISI/11112", "AISI/11119"]
    assert [get_origin(name, origins) for name in names.values()] == origins
    assert get_origin("lab", origins) == origins[0]
    with pytest.raises(Exception, match="2 logs are called so: AISI/11112"):
        get_origin("AISI", origins)
    with pytest.raises(Exception, match="the logs here are LAB, AISI/11112"):
        get_origin("MINE", origins)


@pytest.mark.parametrize("path", sorted(list_json_commands(cli)))
def test_wrong_usage_under_json_is_an_error_document(caveat: Caveat, path: str) -> None:
    """A wrong option of any command is a `caveat/error/1` document on standard error, and nothing on standard output."""
    answer = caveat(*path.split(), "--no-such-option", "--json")

    assert (answer.code, answer.out) == (2, "")
    document = json.loads(answer.err)
    assert (document["schema"], document["faults"][0]["code"]) == ("caveat/error/1", "unknown-option")


@pytest.mark.parametrize("call", [("audit", "lock", "audit.yaml"), ("contest", "uphold"), ("contest", "reject"), ("report", "--publish")])
def test_a_statement_for_good_asks_first(caveat: Caveat, registered: list[str], tmp_path: Path, call: tuple[str, ...]) -> None:
    """Without a terminal and without --yes, a lock, a decision on an objection and a publication are refused, and nothing is recorded."""
    write_audit(tmp_path, registered[0])
    opened = caveat("contest", "open", registered[0], "-m", "too few", "--json").document["objection"]
    words = (opened, "-m", "no") if call[0] == "contest" else (registered[0],) if call[0] == "report" else ()
    size = caveat("status", "--json").document["log_size"]

    assert caveat(*call, *words).error == "not-a-terminal"
    assert caveat("status", "--json").document["log_size"] == size


def test_authorities_are_listed_with_role_keys_claims_and_audits(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """A lab that joins has no key and nothing registered; withdrawn claims and audits without an outcome count as such."""
    assert caveat("init", "--code", "LAB", "--join", "--name", "Lumen Lab", "--role", "lab").code == 0
    assert caveat("claim", "withdraw", registered[0].partition("@")[0], "-m", "No longer current.", "--yes").code == 0
    assert caveat("audit", "lock", "--yes", write_audit(tmp_path, registered[1])).code == 0

    rows = {row["code"]: row for row in read_csv(caveat("admin", "authority", "list", "--csv"))}
    listed = caveat("admin", "authority", "list", "--json").document["authorities"]

    institute = rows["AISI"]
    assert (rows["LAB"]["name"], rows["LAB"]["role"], rows["LAB"]["keys"], rows["LAB"]["claims"]) == ("Lumen Lab", "lab", "", "0")
    assert (institute["claims"], institute["audits"], institute["concluded"]) == ("2", "1", "0")
    assert [key["purpose"] for key in listed[0]["keys"]] == ["log", "document"]
    assert "LAB   Lumen Lab" in caveat("admin", "authority", "list", "--columns", "code,name").out


def test_the_sections_of_a_card_and_restated_claims_are_lists_too(caveat: Caveat, registered: list[str]) -> None:
    """They sort and write CSV; without a choice the page is as before."""
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    rows = read_csv(caveat("card", "coverage", card, "--csv"))
    ranked = caveat("card", "coverage", card, "--sort", "registered", "--reverse", "--columns", "section,registered", "--json").document
    pairs = caveat("claim", "restated", "--csv").out.removeprefix(BOM)

    assert sum(int(row["registered"]) for row in rows) == len(registered)
    assert [row["registered"] for row in ranked["rows"]] == sorted((int(row["registered"]) for row in rows), reverse=True)
    assert pairs.startswith("claim,value,restates,stated,why,recorded,command")
    assert "total" in caveat("card", "coverage", card).out
    assert "among" in caveat("claim", "restated").out


ROWS = """\
schema: caveat/claims/1
card: {card}
model: {{developer: L, name: M, version: "1"}}
properties:
  maths: {{name: accuracy in mathematics, class: capability, range: [0, 1], direction: higher_is_safer}}
  law: {{name: accuracy in law, class: capability, range: [0, 1], direction: higher_is_safer}}
claims:
  - {{quote: The model answers most questions., form: prevalence, property: maths, reported: {{value: 0.81, n: 90}}}}
  - {{quote: The model answers most questions., form: lower_bound, property: law, theta: 0.6}}
  - {{quote: It was trained in May., form: existence, property: law}}
"""


def test_claims_of_two_models_with_the_same_words_are_listed_with_the_model(caveat: Caveat, tmp_path: Path) -> None:
    """Where all claims on a sentence are of one model, its name distinguishes nothing and is not there."""
    assert caveat("init", "--example", "--no-key").code == 0
    (tmp_path / "card.md").write_text("# Card\n\nThe model answers most questions. It was trained in May.\n", encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "L", "--json").document["card"]["card"]
    rows = ROWS.format(card=card)
    for name in ("M", "N"):
        (tmp_path / f"{name}.yaml").write_text(rows.replace("name: M,", f"name: {name},"), encoding="utf-8")
        assert caveat("claim", "add", f"{name}.yaml").code == 0

    for command in (("claim", "list"), ("card", "show", card)):
        listed = " ".join(word for word in caveat(*command).out.split() if not word.startswith("CLM-"))
        for name in ("M", "N"):
            assert f"L {name} 1, accuracy in mathematics, 81 % (n = 90): The model answers most" in listed
    alone = " ".join(caveat("claim", "list", "--model", "L/M/*").out.split())
    assert "accuracy in mathematics" in alone
    assert "L M 1," not in alone


def test_claims_with_the_same_words_are_listed_with_property_and_figure(caveat: Caveat, tmp_path: Path) -> None:
    """Rows of one table have one quotation; a claim with words of its own is listed by these alone."""
    assert caveat("init", "--example", "--no-key").code == 0
    (tmp_path / "card.md").write_text("# Card\n\nThe model answers most questions. It was trained in May.\n", encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "L", "--json").document["card"]["card"]
    (tmp_path / "rows.yaml").write_text(ROWS.format(card=card), encoding="utf-8")
    assert caveat("claim", "add", "rows.yaml").code == 0

    for command in (("claim", "list"), ("card", "show", card)):
        listed = " ".join(word for word in caveat(*command).out.split() if not word.startswith("CLM-"))
        assert "accuracy in mathematics, 81 % (n = 90): The model answers most" in listed
        assert "accuracy in law, at least 60 %: The model answers most" in listed
        assert "not audited It was trained in May." in listed
