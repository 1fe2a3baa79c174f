"""`caveat model`: links between versions, what they make stale, and what is refused."""

from pathlib import Path

import pytest

from tests.cli.conftest import Answer, Caveat
from tests.cli.scenario import write_audit, write_scores


def _update(caveat: Caveat, old: str, new: str, *options: str) -> Answer:
    return caveat("model", "update", f"LAB/M/{old}", f"LAB/M/{new}", *options)


def _size(caveat: Caveat) -> int:
    return int(caveat("claim", "list", "--json").document["log_size"])


def _staleness(caveat: Caveat) -> list[str]:
    return [one["status"]["staleness"] for one in caveat("claim", "list", "--json").document["claims"]]


def test_update_tells_which_claims_became_stale(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """Every claim about the earlier version is named, by property class and card, with what is on record of it.

    The earlier version is on record by its endpoint names, so that only the later one is new.
    """
    caveat("audit", "conclude", write_audit(tmp_path, registered[0]), write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))

    told = _update(caveat, "1", "2", "--json").document
    assert (told["new"], told["descent"], [one["version"] for one in told["registered"]]) == (True, "successor", ["2"])
    assert sorted(told["stale"]["claims"]) == sorted(registered)
    assert told["stale"]["newly"] == len(registered)
    assert told["stale"]["by_class"] == {"deception_scheming": 2, "compliance_refusal": 1}
    first = told["stale"]["first"][0]
    assert (first["claim"], first["class"]) == (registered[0], "inverted")
    assert first["ed"][0]["value"] < -0.2
    assert any(one.startswith("caveat stale apply") for one in told["next"])

    assert _staleness(caveat) == ["needs_review"] * len(registered)


def test_the_same_update_again_changes_nothing_and_says_so(caveat: Caveat, registered: list[str]) -> None:
    """A link that is on record is not recorded twice; what is stale because of it is told all the same."""
    _update(caveat, "1", "2", "--released", "2026-05-01")
    before = _size(caveat)

    again = _update(caveat, "1", "2", "--released", "2026-05-01")
    assert again.code == 0
    assert again.out.startswith("Nothing changes: LAB M 2 as successor of LAB M 1 is on record")
    assert "3 claims about LAB M 1 may no longer hold" in again.out
    assert _size(caveat) == before


def test_a_dry_run_records_nothing(caveat: Caveat, registered: list[str]) -> None:
    """What would become stale is told, and the log stays as long as it was."""
    before = _size(caveat)

    told = _update(caveat, "1", "2", "--dry-run", "--json").document
    assert (told["dry_run"], len(told["stale"]["claims"])) == (True, 3)
    assert _size(caveat) == before
    assert _staleness(caveat) == ["current"] * 3


def test_a_fine_tune_leaves_claims_as_they_are(caveat: Caveat, registered: list[str]) -> None:
    """A fine-tune is another model: claims stay current, and the answer says that none of them speaks for it."""
    told = _update(caveat, "1", "1-law", "--as", "fine-tune")
    assert "3 claims about LAB M 1 stay as they are, and none of them speaks for LAB M 1-law" in told.out
    assert _staleness(caveat) == ["current"] * 3


@pytest.mark.usefixtures("registered")
def test_a_snapshot_takes_the_place_of_its_version(caveat: Caveat) -> None:
    """A later state of the same version marks claims for review as a successor does."""
    _update(caveat, "1", "1-2026-05-01", "--as", "snapshot")
    assert _staleness(caveat) == ["needs_review"] * 3


@pytest.mark.parametrize(
    ("old", "new", "options", "code"),
    [
        ("2", "1", (), "lineage-cycle"),
        ("3", "1", (), "lineage-cycle"),
        ("1", "1", (), "self-reference"),
        ("1", "4", (), "successor-exists"),
        ("1", "4", ("--as", "snapshot"), "successor-exists"),
        ("3", "4", ("--released", "2026-05-31"), "successor-older"),
        ("1", "2", ("--as", "fine-tune"), "lineage-differs"),
        ("1", "2", ("--released", "2020-01-01"), "model-differs"),
        ("3", "4", ("--released", "next week"), "bad-date"),
    ],
)
@pytest.mark.usefixtures("registered")
def test_what_cannot_be_is_refused_and_nothing_recorded(caveat: Caveat, old: str, new: str, options: tuple[str, ...], code: str) -> None:
    """Circles, a second successor, one that is older, and a link that is on record otherwise end with exit code 2."""
    assert _update(caveat, "1", "2", "--released", "2026-05-01").code == 0
    assert _update(caveat, "2", "3", "--released", "2026-06-01").code == 0
    before = _size(caveat)

    answer = _update(caveat, old, new, *options)
    assert answer.code == 2
    assert answer.error == code
    assert "fix:" in answer.err or code == "self-reference"
    assert _size(caveat) == before


@pytest.mark.parametrize(("old", "new"), [("lab/M/1", "LAB/M/2"), ("LAB/m/1", "LAB/M/2")])
@pytest.mark.usefixtures("registered")
def test_a_version_that_claims_spell_otherwise_is_refused_before_anybody_registered_it(caveat: Caveat, old: str, new: str) -> None:
    """A slip of the shift key would register a version that no claim is about, and leave every claim current."""
    answer = caveat("model", "update", old, new)
    assert (answer.code, answer.error) == (2, "model-case-differs")
    assert "LAB/M/1" in answer.err


@pytest.mark.usefixtures("registered")
def test_a_registered_version_that_changed_case_is_refused(caveat: Caveat) -> None:
    """Neither end of a link may be a registered version in another case; one fault says so, not two."""
    _update(caveat, "1", "2-Beta")

    for old, new in (("2-beta", "3"), ("1", "2-BETA")):
        answer = _update(caveat, old, new)
        assert answer.code == 2
        assert answer.err.count("model-case-differs") == 1
        assert "model-not-registered" not in answer.err


@pytest.mark.usefixtures("registered")
def test_a_misspelt_version_that_nobody_knows_is_registered_with_a_question(caveat: Caveat) -> None:
    """No claim is about it, and the answer names the version that was probably meant."""
    answer = _update(caveat, "l", "2")
    assert "No claim is about LAB M l. Claims are about LAB M 1: was that meant?" in answer.out


def test_a_lineage_branches_only_on_purpose(caveat: Caveat, registered: list[str]) -> None:
    """With --branch a second version takes the same place, and a claim goes to the one that is named."""
    _update(caveat, "1", "2")

    assert _update(caveat, "1", "2b", "--branch").code == 0
    refused = caveat("stale", "apply", registered[0], "--reason", "as before")
    assert (refused.code, refused.error) == (2, "choice-needed")
    assert "--to LAB/M/2 or --to LAB/M/2b" in refused.err
    assert caveat("stale", "apply", registered[0], "--reason", "as before", "--to", "LAB/M/2b").code == 0


@pytest.mark.usefixtures("registered")
def test_unlink_takes_back_what_was_wrong(caveat: Caveat) -> None:
    """Claims are current again, the link may be said anew, and the record keeps all three."""
    _update(caveat, "1", "2")

    assert caveat("model", "unlink", "LAB/M/2", "LAB/M/1", "--reason", "another product line").code == 0
    assert _staleness(caveat) == ["current"] * 3
    again = caveat("model", "unlink", "LAB/M/2", "LAB/M/1", "--reason", "again")
    assert (again.code, again.error) == (2, "nothing-to-retract")
    assert _update(caveat, "1", "2", "--as", "fine-tune").code == 0
    events = caveat("model", "show", "LAB/M/2", "--json").document["events"]
    assert [one["payload"]["event"] for one in events] == ["follow", "unfollow", "follow"]


@pytest.mark.usefixtures("registered")
def test_a_deprecation_makes_stale_until_it_is_taken_back(caveat: Caveat) -> None:
    """A version that claims alone name is registered on the way; the same again changes nothing."""
    first = caveat("model", "deprecate", "LAB/M/1", "--reason", "end of life", "--on", "2026-12-31", "--json").document
    again = caveat("model", "deprecate", "LAB/M/1", "--reason", "end of life", "--on", "2026-12-31", "--json").document
    assert (first["new"], again["new"], first["entry"] == again["entry"]) == (True, False, True)
    assert _staleness(caveat) == ["needs_review"] * 3
    assert "offered until 2026-12-31" in caveat("model", "list").out
    assert caveat("model", "reinstate", "LAB/M/1", "--reason", "on request").code == 0
    assert _staleness(caveat) == ["current"] * 3
    refused = caveat("model", "reinstate", "LAB/M/1", "--reason", "on request")
    assert (refused.code, refused.error) == (2, "nothing-to-retract")


@pytest.mark.parametrize("step", ["deprecate", "reinstate", "show"])
@pytest.mark.usefixtures("registered")
def test_a_version_that_nobody_named_is_not_found(caveat: Caveat, step: str) -> None:
    """What may have been meant is named."""
    answer = caveat("model", step, "LAB/M/11", *(() if step == "show" else ("--reason", "x")))
    assert (answer.code, answer.error) == (2, "model-not-registered")
    assert "LAB/M/1" in answer.err


@pytest.mark.parametrize("step", [("deprecate", "LAB/M/1"), ("reinstate", "LAB/M/1"), ("unlink", "LAB/M/2", "LAB/M/1")])
@pytest.mark.usefixtures("registered")
def test_a_blank_reason_is_refused(caveat: Caveat, step: tuple[str, ...]) -> None:
    """Corrections without a reason are none."""
    _update(caveat, "1", "2")
    if step[0] == "reinstate":
        caveat("model", "deprecate", "LAB/M/1", "--reason", "end")

    answer = caveat("model", *step, "--reason", "  ")
    assert (answer.code, answer.error) == (2, "not-valid")


@pytest.mark.usefixtures("registered")
def test_the_list_is_a_tree_and_keeps_its_fields(caveat: Caveat) -> None:
    """Each version stands under what it comes from; the document has what was registered, the links in force and the number of claims."""
    _update(caveat, "1", "2", "--released", "2026-05-01", "--reason", "all weights new")
    _update(caveat, "2", "2-law", "--as", "fine-tune")
    caveat("model", "add", "LAB/N/1")

    lines = caveat("model", "list").out.splitlines()
    assert [line.rstrip() for line in lines] == [
        "LAB M 1  3 claims: not audited 3",
        "└── LAB M 2  successor  released 2026-05-01  (all weights new)  no claims",
        "    └── LAB M 2-law  fine-tune  no claims",
        "LAB N 1  no claims",
    ]
    document = caveat("model", "list", "--json").document
    assert document["schema"] == "caveat/models/1"
    second = document["models"][1]
    assert {"model", "registered", "comes_from", "deprecation", "claims", "audited", "outcomes"} <= second.keys()
    assert {"predecessor", "note", "released"} <= second["registered"].keys()
    assert second["registered"]["released"] == "2026-05-01"
    assert second["comes_from"][0]["descent"] == "successor"
    assert [one["claims"] for one in document["models"]] == [3, 0, 0, 0]


@pytest.mark.usefixtures("registered")
def test_add_with_a_predecessor_and_update_say_the_same(caveat: Caveat) -> None:
    """Either is on record for the other: nothing is recorded twice."""
    caveat("model", "add", "LAB/M/2", "--predecessor", "LAB/M/1", "--released", "2026-05-01")
    before = _size(caveat)

    assert _update(caveat, "1", "2").out.startswith("Nothing changes")
    _update(caveat, "2", "3")
    assert caveat("model", "add", "LAB/M/3", "--predecessor", "LAB/M/2").out.startswith("Registered already")
    assert caveat("model", "add", "LAB/M/3", "--predecessor", "LAB/M/1").error == "lineage-differs"
    assert _size(caveat) == before + 2


def test_show_counts_claims_by_what_is_known_of_them(caveat: Caveat, registered: list[str], tmp_path: Path) -> None:
    """Audited claims, those to review, stale and ended ones are counted separately."""
    caveat("audit", "conclude", write_audit(tmp_path, registered[0]), write_scores(tmp_path / "scores.csv", test=0.05, deploy=0.4))
    _update(caveat, "1", "2")
    _update(caveat, "2", "3")
    caveat("stale", "confirm", registered[0], "--reason", "looked")
    caveat("claim", "withdraw", registered[1], "--reason", "misread", "--yes")

    told = caveat("model", "show", "LAB/M/1", "--json").document
    assert told["claims"] == {"current": 2, "audited": 1, "needs_review": 1, "stale": 1, "ended": 1}
    assert [one["version"] for one in told["newest"]] == ["3"]
    newest = caveat("model", "show", "LAB/M/3", "--json").document
    assert [one["version"] for one in newest["ancestors"]] == ["2", "1"]
    assert "of which 1 audited, 1 to review, 1 stale; 1 more withdrawn" in " ".join(caveat("model", "show", "LAB/M/1").out.split())


@pytest.mark.usefixtures("registered")
def test_hostile_names_drive_no_terminal_and_no_shell(caveat: Caveat) -> None:
    """A version called like a command is quoted where it is printed as part of one; control characters are shown."""
    answer = caveat("model", "update", "LAB/M/1", "LAB/M/2; rm -rf ~\x1b[31m$(id)")
    assert "\x1b" not in answer.out
    assert "'LAB/M/2; rm -rf ~[U+001B][31m$(id)'" in answer.out


def test_a_version_may_hold_slashes_and_no_book(caveat: Caveat, registered: list[str]) -> None:
    """What stands behind the second slash is the version, also where a cause is named by it."""
    assert _update(caveat, "1", "2/beta/x", "--json").document["model"]["version"] == "2/beta/x"
    decided = caveat("stale", "dismiss", registered[0].partition("@")[0], "--cause", "successor:LAB/M/2/beta/x", "--reason", "the same")
    refused = _update(caveat, "2/beta/x", "3" * 1000)

    assert decided.code == 0, decided.err
    assert (refused.code, refused.error) == (2, "bad-model")
    assert len(refused.err) < 300


def test_commands_to_be_typed_are_never_broken(caveat: Caveat, registered: list[str]) -> None:
    """However long names are: a line break inside a command would end it in the shell."""
    long = "LAB/M/" + "2-with-a-name-" * 12
    told = caveat("model", "update", "LAB/M/1", long).out.splitlines()
    every = caveat("stale", "list").out.splitlines()
    for claim in registered[1:]:
        assert caveat("claim", "withdraw", claim, "--reason", "misread", "--yes").code == 0
    single = caveat("stale", "list").out.splitlines()

    for_all = f'  caveat stale apply --all-from LAB/M/1 --to {long} --reason "…"'
    assert for_all in told
    assert for_all in every
    assert f'  caveat stale apply {registered[0].partition("@")[0]} --to {long} --reason "…"' in single


def test_links_may_be_recorded_in_any_order_and_the_next_step_leads_to_the_newest(caveat: Caveat, registered: list[str]) -> None:
    """The later link first: what is to be done after the earlier one names the version that claims would be carried to in the end."""
    _update(caveat, "2", "3")

    told = _update(caveat, "1", "2", "--json").document["next"]
    steps = caveat("stale", "list", "--json").document["claims"][0]["steps"]

    assert told[1].startswith("caveat stale apply --all-from LAB/M/1 --to LAB/M/3 ")
    assert "--to LAB/M/3 " in steps[0]["commands"][0]
    assert registered


@pytest.mark.usefixtures("registered")
def test_branches_that_meet_again_do_not_double_the_list(caveat: Caveat) -> None:
    """What follows from a version with two origins stands once; the second time it says that it stands above."""
    for old, new in (("1", "2a"), ("1", "2b"), ("2a", "3"), ("2b", "3"), ("3", "4a"), ("3", "4b"), ("4a", "5"), ("4b", "5"), ("5", "6")):
        assert _update(caveat, old, new, "--branch").code == 0

    listed = caveat("model", "list").out.splitlines()

    assert sum("LAB M 3 " in line for line in listed) == 2
    assert sum("LAB M 6 " in line for line in listed) == 1
    assert sum(line.endswith("and what follows, as above") for line in listed) == 2


@pytest.mark.parametrize("version", ["1.0", "v1", "Version 1.0.0", "1.1", "10", "1.0b"])
def test_a_version_that_may_be_another_under_a_new_name_is_recorded_with_a_warning(
    caveat: Caveat, registered: list[str], tmp_path: Path, version: str
) -> None:
    """By registration, update and claims file, once; two versions called so may exist, so nothing is refused."""
    assert registered
    claims, is_near = CLAIMS.replace("VERSION", version), version in ("1.0", "v1", "Version 1.0.0")
    (tmp_path / "near.yaml").write_text(claims, encoding="utf-8")
    warning = f"warning: LAB M {version} and LAB M 1 are two model versions here"

    trial = _update(caveat, "1", version, "--dry-run")
    listed = caveat("claim", "add", "near.yaml")
    again = caveat("claim", "add", "near.yaml")
    added = caveat("model", "add", f"LAB/M/{version}")

    assert (trial.code, listed.code, again.code, added.code) == (0, 0, 0, 0)
    assert [warning in answer.err for answer in (trial, listed, again, added)] == [is_near, is_near, False, is_near]


CLAIMS = """\
schema: caveat/claims/1
model: {developer: LAB, name: M, version: "VERSION"}
properties:
  maths: {name: accuracy in mathematics, class: capability, range: [0, 1], direction: higher_is_safer}
claims:
  - {quote: It solves most problems., quote_status: paraphrase, source: a talk, form: lower_bound, theta: 0.5, property: maths}
"""
