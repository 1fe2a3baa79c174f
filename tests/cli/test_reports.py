"""Supplements by the command line: drawn, read back, checked, published."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from registry.codec.canonical_documents import canonical_bytes
from registry.records.supplement import Supplement
from registry.report.html_rendering import digest_record
from registry.report.supplement_reading import read_supplement
from tests.cli.conftest import HERE, Caveat
from tests.cli.scenario import register, write_audit, write_scores
from tests.cli.terminal import Terminal


def audit_first_claim(caveat: Caveat, folder: Path) -> str:
    """Register the card and audit its first claim with unlocked scores; return its reference."""
    claim, *_ = register(caveat, folder)
    scores = write_scores(folder / "scores.csv", test=0.05, deploy=0.4)
    assert caveat("audit", "conclude", write_audit(folder, claim), scores).code == 0
    return claim


def test_a_file_read_back_draws_the_same_bytes(caveat: Caveat, tmp_path: Path) -> None:
    """PDF, HTML and JSON each carry the record they were drawn from."""
    claim = audit_first_claim(caveat, tmp_path)
    caveat("report", claim, "-o", "first")
    first = {path.suffix: path for path in (tmp_path / "first").glob("CLM*")}

    for source in first.values():
        assert caveat("report", "--from", source, "-o", source.suffix).code == 0
        for path in first.values():
            assert (tmp_path / source.suffix / path.name).read_bytes() == path.read_bytes()


def test_only_the_formats_asked_for_are_drawn(caveat: Caveat, tmp_path: Path) -> None:
    """Without a choice all three, with one that one."""
    claim = audit_first_claim(caveat, tmp_path)

    caveat("report", claim, "--html", "-o", "out")

    assert [path.suffix for path in (tmp_path / "out").glob("C*")] == [".html"]


def test_a_card_brings_its_claims(caveat: Caveat, tmp_path: Path) -> None:
    """The card supplement and one of each claim, audited or not; what was not audited is said."""
    audit_first_claim(caveat, tmp_path)
    card = caveat("card", "list", "--json").document["cards"][0]["card"]

    caveat("report", card, "--json", "-o", "out")

    documents = [json.loads(path.read_text()) for path in sorted((tmp_path / "out").glob("C*"))]
    assert sorted(one["schema"] for one in documents) == ["caveat/card-supplement/1", *["caveat/supplement/1"] * 3]
    card_document = next(one for one in documents if one["schema"] == "caveat/card-supplement/1")
    assert [row["class"] for row in card_document["claims"]].count(None) == 2


def test_a_supplement_as_of_an_earlier_entry_is_the_earlier_one(caveat: Caveat, tmp_path: Path) -> None:
    """What was printed then can be printed again after the registry has gone on: the same record, and before it what superseded it."""
    claim = audit_first_claim(caveat, tmp_path)
    caveat("report", claim, "-o", "then")
    size = caveat("admin", "log", "show", "--json").document["size"]
    caveat("claim", "withdraw", claim.partition("@")[0], "--reason", "retracted", "--yes")

    caveat("report", claim, "--as-of", str(size), "-o", "again")
    caveat("report", claim, "-o", "now")

    for path in (tmp_path / "then").glob("CLM*"):
        again = read_supplement((tmp_path / "again" / f"{path.stem}.entry-{size}{path.suffix}").read_bytes(), where="again")
        then, now = (read_supplement((tmp_path / folder / path.name).read_bytes(), where=folder) for folder in ("then", "now"))
        assert isinstance(again, Supplement)
        assert isinstance(now, Supplement)
        assert again.superseded is not None
        assert (replace(again, superseded=None), digest_record(again)) == (then, digest_record(then))
        assert (again.superseded.name, again.superseded.entry.seq) == (path.stem, size + 1)
        assert now.superseded is None
        assert now != then


def test_publishing_is_recorded_once(caveat: Caveat, tmp_path: Path) -> None:
    """The digests of what was published stand in the log, with the digest of the record."""
    claim = audit_first_claim(caveat, tmp_path)
    size = caveat("admin", "log", "show", "--json").document["size"]

    caveat("report", claim, "--json", "--html", "-o", "out", "--publish", "--yes", "--as-of", str(size))
    caveat("report", claim, "--json", "--html", "-o", "out", "--publish", "--yes", "--as-of", str(size))

    entries = caveat("admin", "log", "show", "--start", str(size + 1), "--json").document["entries"]
    assert [one["payload"]["format"] for one in entries] == ["html", "json"]
    assert len({one["payload"]["record"] for one in entries}) == 1


def test_verify_tells_an_altered_file(caveat: Caveat, tmp_path: Path) -> None:
    """A changed byte of the page is seen without a registry; a changed record is seen with one."""
    claim = audit_first_claim(caveat, tmp_path)
    caveat("report", claim, "--html", "--json", "-o", "out")
    html, record = sorted((tmp_path / "out").glob("CLM*"))

    sound = caveat("verify", *HERE, html, record, "--json")
    html.write_bytes(html.read_bytes().replace(b"You may not say", b"You may now say", 1))
    record.write_bytes(record.read_bytes().replace(b"schemes in 5 %", b"schemes in 1 %"))
    altered = caveat("verify", *HERE, html, record, "--json")

    assert sound.code == 0
    assert altered.code == 1
    answers = [{check["name"]: check["answer"] for check in one["checks"]} for one in altered.document["files"]]
    assert answers[0]["bytes"] == "no"
    assert answers[1]["registry"] == "no"


def test_a_record_without_some_of_its_fields_is_a_no(caveat: Caveat, tmp_path: Path) -> None:
    """A field that is missing was taken out: nothing of the kind is forgiven, and the field is named."""
    claim = audit_first_claim(caveat, tmp_path)
    caveat("report", claim, "--json", "-o", "out")
    (record,) = (tmp_path / "out").glob("CLM*")
    document = json.loads(record.read_bytes())
    del document["completeness"], document["passage_matches"]
    record.write_bytes(canonical_bytes(document))

    altered = caveat("verify", *HERE, record, "--json")

    assert altered.code == 1
    checks = {one["name"]: one for one in altered.document["files"][0]["checks"]}
    assert [checks[name]["answer"] for name in ("bytes", "record", "registry")] == ["no", "no", "no"]
    assert "completeness is missing; passage_matches is missing" in checks["record"]["note"]


def test_a_terminal_gets_the_first_files_of_many_and_a_program_all(
    caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]
) -> None:
    """A screen of paths hides what went wrong before it; a pipe is read by a program."""
    assert caveat("init", "--example", "--no-key").code == 0
    (tmp_path / "card.md").write_text("# Card\n\nThe model refuses 90 % of harmful requests.\n", encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"]
    properties = "".join(
        f"  p{number}: {{name: share {number}, class: capability, range: [0, 1], direction: higher_is_safer}}\n" for number in range(24)
    )
    claims = "".join(
        f"  - {{quote: The model refuses 90 % of harmful requests., form: prevalence, property: p{number}, reported: {{value: 0.9}}}}\n"
        for number in range(24)
    )
    head = f"card: {card}\nmodel: {{developer: L, name: M, version: '1'}}\n"
    (tmp_path / "claims.yaml").write_text(f"{head}properties:\n{properties}claims:\n{claims}", encoding="utf-8")
    names = caveat("claim", "add", "claims.yaml", "--json").document["added"]

    piped = caveat("report", *names, "--html", "-o", "out").out
    with open_terminal(tmp_path, "report", *names, "--html", "-o", "out") as terminal:
        shown = terminal.wait_for("nothing is due")
        assert terminal.wait() == 0

    assert piped.count(".html\n") == 24
    assert shown.count(".html") == 20
    assert "and 4 more files in out\n" in shown
