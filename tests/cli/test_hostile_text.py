"""Texts that try to drive a terminal, a browser, a template or a path: kept as they are, shown as what they are, on either database."""

import csv
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import pytest

from registry.cli.main import cli
from tests.cli.conftest import Answer, Caveat
from tests.cli.scenario import CARD, write_scores
from tests.postgres import NoServerError, create_database, run_server

HOSTILE = " ".join(  # noqa: FLY002  (in one line no one would read it)
    (
        "<script>alert(1)</script> {{7*7}} {% raw %} {{ supplement }} ${x} %s %(a)s {0} [bold red]markup[/]",
        "\x1b[31mred\x1b]0;title\x07 \x9b31m \x7f \x85 back\x08 \u202eevil\u2066 \u200b\ufeff\ufff9",
        "</style><img src=http://127.0.0.1:9/x onerror=alert(1)> javascript:alert(1) file:///etc/passwd ../../etc/passwd '\"& ]]>-->",
    )
)
QUOTE = "The model\x1b[31m never {{7*7}} <script>alert(1)</script> exceeded 5 % \u202eof cases."
TABLE = "\x1b[31mscores{{7*7}}<b>.csv"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server; without one the tests that need it are skipped."""
    try:
        with run_server() as started:
            yield started
    except NoServerError as error:
        pytest.skip(f"PostgreSQL cannot be started: {error}")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, on each engine in turn."""
    return create_database(request.getfixturevalue("server")) if request.param == "postgresql" else "sqlite:///caveat.db"


def write_files(folder: Path, card: str) -> None:
    """Write claims, an audit and scores in which every text is hostile."""
    prop = {"name": HOSTILE, "class": "deception_scheming", "range": [0, 1], "direction": "lower_is_safer"}
    words = {"evaluation": HOSTILE, "deployment": HOSTILE, "note": HOSTILE, "source": HOSTILE}
    claims = [
        {"quote": QUOTE, "form": "existence", "property": HOSTILE, **words},
        {"quote": "the model schemes in 5 % of cases", "form": "threshold", "relation": "<=", "theta": 0.1, "property": HOSTILE},
        {"quote": HOSTILE * 300, "quote_status": "paraphrase", "form": "existence", "property": HOSTILE},
    ]
    model = {"developer": HOSTILE, "name": HOSTILE, "version": HOSTILE}
    document = {"schema": "caveat/claims/1", "card": card, "model": model, "properties": {HOSTILE: prop}, "claims": claims}
    (folder / "claims.json").write_text(json.dumps(document), encoding="utf-8")
    write_scores(folder / "plain.csv", test=0.05, deploy=0.4, tasks=25, contexts=6)
    rows = list(csv.DictReader((folder / "plain.csv").read_text(encoding="utf-8").splitlines()))
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("task_id", "arm", "context_id", "sample", "score", "spec", "excluded_reason"))
        for number, row in enumerate(rows):
            score, reason = ("", HOSTILE) if number == 3 else (row["score"], "")
            spec = HOSTILE if row["arm"] == "deploy" else ""
            writer.writerow((HOSTILE + row["task_id"], row["arm"], HOSTILE + row["context_id"], 0, score, spec, reason))


def write_audit(folder: Path, claim: str) -> None:
    """Write an audit of *claim* in which every text is hostile."""
    evidence = [{"layer": "latent", "summary": HOSTILE, "source": HOSTILE, "location": HOSTILE, "finding": {"value": 0.1, "unit": HOSTILE}}]
    words = {"question": HOSTILE, "note": HOSTILE, "exclusion_rules": HOSTILE, "stopping_rule": HOSTILE, "budget": HOSTILE}
    document = {"claim": claim, "independence": "third_party", **words, "deploy_specs": [HOSTILE], "evidence": evidence}
    (folder / "audit.json").write_text(json.dumps(document), encoding="utf-8")


def check_terminal(answer: Answer, code: int = 0) -> Answer:
    """Check that the command ended well and that nothing it wrote can drive a terminal."""
    raw = {f"U+{ord(one):04X}" for one in answer.out + answer.err if not one.isprintable() and one != "\n"}

    assert (answer.code, raw) == (code, set()), answer.err
    return answer


def check_json(answer: Answer) -> Any:
    """Check that the answer is one JSON document with a `schema` field, and return it."""
    document = check_terminal(answer).document

    assert document["schema"].startswith("caveat/")
    return document


def test_hostile_texts_are_kept_and_shown_harmlessly(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Every command that records or shows them, as text and as JSON, then the supplements, the checked log and a rebuilt registry."""
    monkeypatch.setenv("CAVEAT_REGISTRY", url)
    check_terminal(caveat("init", "--code", "AISI", "--name", HOSTILE))
    (tmp_path / "card.md").write_text(f"# {HOSTILE}\n\n{QUOTE}\n\n{CARD}", encoding="utf-8")
    words = ("--publisher", HOSTILE, "--title", HOSTILE, "--url", HOSTILE)
    card = check_json(caveat("card", "add", "card.md", *words, "--json"))["card"]["card"]
    write_files(tmp_path, card)
    first, second, third = (one.partition("@")[0] for one in check_json(caveat("claim", "add", "claims.json", "--json"))["added"])
    write_audit(tmp_path, second)
    locked = check_json(caveat("audit", "lock", "--yes", "audit.json", "--json"))["audit"]
    (tmp_path / "unlocked.json").write_text((tmp_path / "audit.json").read_text().replace("third_party", "self"), encoding="utf-8")
    check_terminal(caveat("audit", "conclude", "unlocked.json", TABLE))
    check_terminal(caveat("analyze", "estimate", TABLE, "--pointwise"))
    objection = check_json(caveat("contest", "open", second, "--reason", HOSTILE, "--json"))["objection"]
    check_terminal(caveat("contest", "answer", objection, "--reason", HOSTILE))
    check_terminal(caveat("claim", "relate", first, "related", second, "--reason", HOSTILE))
    check_terminal(caveat("claim", "withdraw", third, "--reason", HOSTILE, "--yes"))
    document = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    document["claims"] = [{**document["claims"][1], "note": HOSTILE}]
    (tmp_path / "one.json").write_text(json.dumps(document), encoding="utf-8")
    check_terminal(caveat("claim", "revise", second, "one.json", "--reason", HOSTILE))
    check_terminal(caveat("model", "add", f"\u202edev/{{{{7*7}}}}/{'v' * 400}", "--note", HOSTILE))

    shown = [
        ("card", "list"), ("card", "show", card), ("card", "show", card, "--page", "1"), ("claim", "list"), ("claim", "show", first),
        ("claim", "show", second), ("claim", "history", second), ("claim", "diff", second), ("claim", "list", "--text", "script"),
        ("claim", "list", "--text", HOSTILE), ("spec", "list"), ("model", "list"), ("audit", "list"), ("audit", "show", locked),
        ("audit", "new", first), ("admin", "log", "show"), ("admin", "log", "check"), ("admin", "db", "check"),
        ("analyze", "estimate", TABLE),
    ]  # fmt: skip
    for command in shown:
        check_terminal(caveat(*command))
        check_json(caveat(*command, "--json"))
    assert check_json(caveat("claim", "show", first, "--json"))["revisions"][0]["payload"]["quote"] == QUOTE

    check_terminal(caveat("report", "--all", "--html", "--json", "-o", "o"))
    names = sorted(path.name for path in (tmp_path / "o").glob("C*"))
    assert names == sorted(f"{one}.{kind}" for one in (f"{card}@1", f"{first}@1", f"{second}@2", f"{third}@1") for kind in ("html", "json"))
    for path in (tmp_path / "o").glob("C*.html"):
        check_page(path.read_text(encoding="utf-8"))
    check_terminal(caveat("verify", *sorted((tmp_path / "o").glob("C*"))), 3)  # complete, and not published
    size = caveat("admin", "log", "show", "--json").document["size"]
    assert check_json(caveat("admin", "rebuild", "sqlite:///again.db", "--json"))["entries"] == size


class _Tags(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.addresses: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note scripts, addresses and event handlers of one tag."""
        self.scripts += tag == "script" and dict(attrs).get("type") != "application/json"
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def check_page(page: str) -> None:
    """Check that no text of a record became markup, script, template or address."""
    tags = _Tags()
    tags.feed(page)

    assert "{{7*7}}" in page
    assert (tags.scripts, tags.handlers) == (0, [])
    # Beside places of the page itself, only names of supplements in the same folder.
    beside = [one for one in tags.addresses if not one.startswith(("#", "data:"))]
    assert [one for one in beside if not re.fullmatch(r"(CLM|CRD)-[A-Z0-9]+-\d{4}-\d{4,}-[A-Z0-9]@\d+\.(html|pdf|json)", one)] == []


def test_a_text_that_a_database_cannot_keep_is_refused_by_both(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """PostgreSQL keeps no U+0000, so neither does SQLite: a registry must fit into either."""
    monkeypatch.setenv("CAVEAT_REGISTRY", url)
    caveat("init", "--code", "AISI")
    body = {"name": "n", "class": "capability", "range": [0, 1], "direction": "not_safety"}
    (tmp_path / "nul.json").write_text(json.dumps({**body, "name": "a\0b"}), encoding="utf-8")
    (tmp_path / "good.json").write_text(json.dumps(body), encoding="utf-8")
    caveat("spec", "add", "property", "p", "good.json")
    model = {"developer": "d", "name": "\0", "version": "v"}
    line = {"quote": "q\0", "quote_status": "paraphrase", "form": "existence", "property": "p", "model": model}
    (tmp_path / "nul.jsonl").write_text(json.dumps(line), encoding="utf-8")
    size = caveat("admin", "log", "show", "--json").document["size"]

    for command in (("spec", "add", "property", "s", "nul.json"), ("claim", "add", "nul.jsonl")):
        refused = caveat(*command)
        assert refused.code == 2
        assert "internal-error" not in refused.err
    assert caveat("admin", "log", "show", "--json").document["size"] == size


def test_faults_show_what_they_found_harmlessly(caveat: Caveat, tmp_path: Path) -> None:
    """Keys, values, arguments and file names of the user come back in messages, in words and as JSON."""
    caveat("init", "--example")
    name = "\x1b[31m\u202e.yaml"
    (tmp_path / name).write_bytes(json.dumps({HOSTILE: 1, "claims": [{"quote": HOSTILE, "form": HOSTILE}]}).encode())
    commands = [
        ("claim", "add", name), ("claim", "add", name, "--json"), ("analyze", "classify", name), ("card", "show", HOSTILE), (HOSTILE,),
        ("claim", HOSTILE), ("card", "list", f"--{HOSTILE}"), ("card", "add", HOSTILE, "--publisher", "x"), ("admin", "schema", HOSTILE),
        ("model", "add", HOSTILE), ("card", "list", "--as-of", HOSTILE), ("init", "--role", HOSTILE), ("audit", "conclude", HOSTILE),
        ("admin", "rebuild", HOSTILE), ("card", "list", "--registry", HOSTILE), ("admin", "db", "downgrade", HOSTILE),
        ("claim", "list", "--text", "\udcff"),
    ]  # fmt: skip

    for command in commands:
        refused = caveat(*command)
        assert refused.code == 2, refused
        assert "internal-error" not in refused.err
        assert {one for one in refused.err if not one.isprintable()} <= {"\n"}


def walk(command: click.Command, context: click.Context, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Give every command below *command* with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, context, (*path, name))


def test_every_command_explains_itself(caveat: Caveat) -> None:
    """Each has a help text of its own, each option a few words, and `--help` works."""
    for path, command in walk(cli, click.Context(cli)):
        shown = caveat(*path, "--help")

        assert shown.code == 0
        assert command.help, path
        assert command.help.splitlines()[0].rstrip(".") in " ".join(shown.out.split()), path
        assert [one.name for one in command.params if isinstance(one, click.Option) and not one.help] == [], path


def test_every_command_that_answers_in_json_says_which(caveat: Caveat, tmp_path: Path) -> None:
    """Without a registry, and with one that is empty, `--json` gives one document or one fault document."""
    plain = [
        path for path, command in walk(cli, click.Context(cli))
        if any("--json" in one.opts for one in command.params) and path[0] not in ("report", "demo")
    ]  # fmt: skip
    assert len(plain) > 30
    for folder in ("nothing", "empty"):
        (tmp_path / folder).mkdir()
        os.chdir(tmp_path / folder)
        if folder == "empty":
            caveat("init", "--example", "--registry", f"sqlite:///{tmp_path}/empty/caveat.db")
        for path in plain:
            answer = caveat(*path, "--json", "--registry", f"sqlite:///{tmp_path}/{folder}/caveat.db")
            if answer.code in (0, 1, 3) and answer.out:
                assert "schema" in answer.document, path
            else:
                assert json.loads(answer.err)["schema"] == "caveat/error/1", path
