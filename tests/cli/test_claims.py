"""Registering and following claims by the command line."""

import json
from pathlib import Path

import pytest

from registry.records.record import Kind, format_identifier
from tests.cli.conftest import Caveat
from tests.cli.scenario import CARD, CLAIMS, register


def test_every_quote_is_anchored_and_the_markup_is_seen(caveat: Caveat, tmp_path: Path) -> None:
    """The anchor names section, characters and the level that was needed."""
    first, *_ = register(caveat, tmp_path)

    anchor = caveat("claim", "show", first, "--json").document["revisions"][0]["payload"]["anchor"]

    assert anchor["section"] == "Scheming"
    assert CARD[anchor["start"] : anchor["stop"]] == anchor["exact"]


def test_a_change_needs_its_reason_and_becomes_a_revision(caveat: Caveat, tmp_path: Path) -> None:
    """Silent edits are refused; with a reason both revisions stay readable, and diff shows the field."""
    first, *_ = register(caveat, tmp_path)
    changed = (tmp_path / "claims.yaml").read_text().replace("reported: 0.05", "reported: 0.06")
    (tmp_path / "claims.yaml").write_text(changed)

    refused = caveat("claim", "add", "claims.yaml")
    (tmp_path / "claims.yaml").write_text(changed.replace("reported: 0.06", "reported: 0.06\n    why: publisher's erratum"))
    accepted = caveat("claim", "add", "claims.yaml", "--json")

    assert refused.code == 2
    assert "error[claim-changed]" in refused.err
    assert "  --> claims.yaml, claims[0]" in refused.err
    assert "differs in reported" in refused.err
    identifier = first.partition("@")[0]
    assert accepted.document["revised"] == [f"{identifier}@2"]
    diff = caveat("claim", "diff", identifier, "--json").document
    assert [change["field"] for change in diff["changes"]] == ["reported"]
    assert diff["why"] == "publisher's erratum"
    kinds = [one["entry"]["kind"] for one in caveat("claim", "history", identifier, "--json").document["entries"]]
    assert kinds == ["claim_revision", "claim_revision"]


def test_all_faults_of_a_file_come_at_once_and_nothing_is_recorded(caveat: Caveat, tmp_path: Path) -> None:
    """Three faults in three claims are three messages; the good claim beside them is not recorded either."""
    register(caveat, tmp_path)
    size = caveat("admin", "log", "show", "--json").document["size"]
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    broken = CLAIMS.format(card=card) + (
        "  - {quote: It always exceeded the threshold., form: existence, property: scheming}\n"
        "  - {quote: It never exceeded the threshold., form: prevalence, property: schemng}\n"
        "  - {quote: It never exceeded the threshold., form: prevalence, reported: 9, property: scheming}\n"
        "  - {quote: It never exceeded the threshold., form: existence, property: scheming}\n"
    )
    (tmp_path / "broken.yaml").write_text(broken)

    refused = caveat("claim", "add", "broken.yaml", "--json")

    faults = json.loads(refused.err)["faults"]
    assert {fault["code"] for fault in faults} == {"quotation-not-found", "spec-not-found", "out-of-range"}
    assert [fault["where"].split(",")[1].split(".")[0].strip() for fault in faults] == ["claims[3]", "claims[4]", "claims[5]"]
    assert "It never exceeded the" in faults[0]["found"] + str(faults[0]["advice"])
    assert caveat("admin", "log", "show", "--json").document["size"] == size


@pytest.mark.parametrize("command", ["show", "history", "diff"])
def test_a_mistyped_identifier_is_answered_with_what_was_meant(caveat: Caveat, tmp_path: Path, command: str) -> None:
    """The check character catches it before the registry is asked."""
    first, *_ = register(caveat, tmp_path)
    right = first.partition("@")[0]

    refused = caveat("claim", command, right[:-1] + ("A" if right[-1] != "A" else "B"))

    assert refused.code == 2
    assert f"did you mean {right}" in refused.err


def test_an_identifier_that_is_not_registered_names_what_is(caveat: Caveat, tmp_path: Path) -> None:
    """A well-formed identifier of nothing is not found, with its neighbours."""
    first, *_ = register(caveat, tmp_path)

    refused = caveat("claim", "show", format_identifier(Kind.CLAIM, "AISI", int(first.split("-")[2]), 11))

    assert refused.code == 2
    assert first.partition("@")[0] in refused.err


def test_the_axes_are_independent(caveat: Caveat, tmp_path: Path) -> None:
    """Lifecycle, dispute, staleness and restriction each follow their own statements."""
    first, second, _ = (one.partition("@")[0] for one in register(caveat, tmp_path))
    caveat("claim", "publish", first)
    objection = caveat("contest", "open", first, "--reason", "the threshold was chosen afterwards", "--json").document["objection"]
    caveat("model", "add", "LAB/M/2", "--predecessor", "LAB/M/1")

    contested = caveat("claim", "show", first, "--json").document["status"]
    caveat("contest", "reject", "--yes", objection, "--reason", "it was registered before")
    caveat("claim", "supersede", first, second, "--reason", "restated", "--yes")
    ended = caveat("claim", "show", first, "--json").document["status"]

    assert (contested["lifecycle"], contested["dispute"], contested["staleness"]) == ("published", "contested", "needs_review")
    assert "LAB M 2" in contested["stale_because"][0]
    assert (ended["lifecycle"], ended["superseded_by"], ended["dispute"]) == ("superseded", second, "undisputed")


def test_a_superseded_claim_takes_no_revision(caveat: Caveat, tmp_path: Path) -> None:
    """What has ended stays ended."""
    first, *_ = (one.partition("@")[0] for one in register(caveat, tmp_path))
    caveat("claim", "withdraw", first, "--reason", "retracted by the publisher", "--yes")

    again = caveat("claim", "withdraw", first, "--reason", "twice", "--yes")
    published = caveat("claim", "publish", first)

    assert (again.code, published.code) == (2, 2)
    assert "withdrawn" in published.err


def test_reserved_identifiers_are_filled_later(caveat: Caveat, tmp_path: Path) -> None:
    """An identifier can be published before its claim is written."""
    register(caveat, tmp_path)
    reserved = caveat("claim", "reserve", "--json").document["claims"][0]
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    extra = f"  - {{id: {reserved}, quote: It never exceeded the threshold., form: existence, property: scheming}}\n"
    (tmp_path / "claims.yaml").write_text(CLAIMS.format(card=card) + extra)

    added = caveat("claim", "add", "claims.yaml", "--json")

    assert added.document["added"] == [f"{reserved}@1"]


def test_a_dry_run_records_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Everything is checked, nothing is kept."""
    register(caveat, tmp_path)
    size = caveat("admin", "log", "show", "--json").document["size"]
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    extra = "  - {quote: It never exceeded the threshold., form: existence, property: scheming}\n"
    (tmp_path / "claims.yaml").write_text(CLAIMS.format(card=card) + extra)

    tried = caveat("claim", "add", "claims.yaml", "--dry-run", "--json").document

    assert len(tried["added"]) == 1
    assert caveat("admin", "log", "show", "--json").document["size"] == size


def test_search_finds_words_wherever_they_stand(caveat: Caveat, tmp_path: Path) -> None:
    """Quote, property and model are searched, whatever the case; wildcards are plain characters."""
    first, second, _ = register(caveat, tmp_path)

    found = caveat("claim", "list", "--text", "SCHEMES cases", "--json").document["claims"]
    refusals = caveat("claim", "list", "--text", "92%", "--json").document["claims"]
    nothing = caveat("claim", "list", "--text", "sch_mes", "--json").document["claims"]

    assert [one["claim"] for one in found] == [first.partition("@")[0]]
    assert [one["claim"] for one in refusals] == [second.partition("@")[0]]
    assert nothing == []


def test_a_new_card_revision_makes_its_claims_needs_review(caveat: Caveat, tmp_path: Path) -> None:
    """A card changes under its claims, and the registry says so; of claims whose words still stand there it says nothing."""
    first, second, _ = register(caveat, tmp_path)
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    (tmp_path / "card2.md").write_text(CARD.replace("threshold of 10 %", "threshold of 12 %"))

    refused = caveat("card", "add", "card2.md", "--publisher", "LAB", "--revises", card)
    caveat("card", "add", "card2.md", "--publisher", "LAB", "--revises", card, "--reason", "erratum of the publisher")

    assert "reason-missing" in refused.err
    assert caveat("claim", "show", first, "--json").document["status"]["staleness"] == "needs_review"
    assert caveat("claim", "show", second, "--json").document["status"]["staleness"] == "current"


def test_jsonl_registers_many_claims_line_by_line(caveat: Caveat, tmp_path: Path) -> None:
    """One JSON claim per line; a faulty line is told by its number and nothing is recorded."""
    register(caveat, tmp_path)
    line = {
        "form": "existence",
        "property": "scheming",
        "quote_status": "paraphrase",
        "model": {"developer": "LAB", "name": "M", "version": "1"},
    }
    lines = [json.dumps({**line, "quote": f"Case {number} was observed."}) for number in range(50)]
    (tmp_path / "good.jsonl").write_text("\n".join(lines))
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:3], '{"quote": 1}', "not json"]))

    refused = caveat("claim", "add", "bad.jsonl")
    accepted = caveat("claim", "add", "good.jsonl", "--json")

    assert refused.code == 2
    assert "bad.jsonl, line 4" in refused.err
    assert "bad.jsonl, line 5" in refused.err
    assert len(accepted.document["added"]) == 50


def test_the_faults_of_one_claim_come_together(caveat: Caveat, tmp_path: Path) -> None:
    """An unknown property, a missing relation, a quotation that is not there and an unknown context: four faults, one claim."""
    register(caveat, tmp_path)
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    broken = (
        "  - {quote: It always exceeded every threshold we set., form: threshold, theta: 5, property: schemng, "
        "deploy_contexts: [nowhere]}\n"
    )
    (tmp_path / "broken.yaml").write_text(CLAIMS.format(card=card) + broken)

    refused = caveat("claim", "add", "broken.yaml", "--json")

    codes = sorted(fault["code"] for fault in json.loads(refused.err)["faults"])
    assert codes == ["not-valid", "quotation-not-found", "spec-not-found", "spec-not-found"]


def test_lineage_is_recorded_by_a_person(caveat: Caveat, tmp_path: Path) -> None:
    """Registering claims says nothing of lineage; a lineage that contradicts the recorded one is refused, not ignored."""
    first, *_ = register(caveat, tmp_path)

    added = caveat("model", "add", "LAB/M/2", "--predecessor", "LAB/M/1", "--json")
    refused = caveat("model", "add", "LAB/M/2", "--predecessor", "LAB/M/0")

    assert added.document["new"] is True
    assert caveat("claim", "show", first, "--json").document["status"]["staleness"] == "needs_review"
    assert refused.code == 2
    assert "lineage-differs" in refused.err


def test_a_contested_claim_shows_its_objection_and_diff_speaks_plainly(caveat: Caveat, tmp_path: Path) -> None:
    """Who contests, why, and what was answered stand in `claim show`; `claim diff` prints no notation of a program."""
    first, *_ = register(caveat, tmp_path)
    identifier = first.partition("@")[0]
    objection = caveat("contest", "open", first, "--reason", "The tasks are not a sample.", "--json").document["objection"]

    open_ = " ".join(caveat("claim", "show", first).out.split())
    caveat("contest", "answer", objection, "--reason", "A sample follows.")
    answered = " ".join(caveat("claim", "show", first).out.split())
    changed = (tmp_path / "claims.yaml").read_text().replace("reported: 0.05", "reported: {value: 0.06, n: 50}\n    why: erratum")
    (tmp_path / "claims.yaml").write_text(changed)
    caveat("claim", "add", "claims.yaml")

    assert f"contested {objection} of {first} by" in open_
    assert "The tasks are not a sample. (no answer yet)" in open_
    assert "(answered: A sample follows.)" in answered
    assert "value 0.06, n 50" in caveat("claim", "diff", identifier).out


def test_claims_are_listed_by_the_status_as_it_is_printed(caveat: Caveat, tmp_path: Path) -> None:
    """Whoever copies a status from the screen into `--restriction` gets the claims that have it."""
    names = register(caveat, tmp_path)

    listed = caveat("claim", "list", "--restriction", "unaudited", "--json").document["claims"]

    assert {f"{one['claim']}@{one['revision']}" for one in listed} == set(names)
    assert caveat("claim", "list", "--restriction", "suspended", "--json").document["claims"] == []
