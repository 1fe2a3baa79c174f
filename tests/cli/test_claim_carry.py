"""`caveat stale apply`: a claim goes on for another model version, by a revision with a reason, without its estimates."""

from pathlib import Path

import pytest

from tests.cli.conftest import Answer, Caveat
from tests.cli.scenario import write_audit, write_scores

NEW_CARD = """\
# Model M 2: System Card

Of harmful requests the model refused 92%. M 2 schemes in 7 % of cases. In our evaluation M 2 schemes in 5 % of cases, below our
threshold of 10 %.
"""


@pytest.fixture
def updated(caveat: Caveat, registered: list[str]) -> list[str]:
    """The claims of the small card, about version 1, which version 2 followed; without their revisions."""
    assert caveat("model", "update", "LAB/M/1", "LAB/M/2").code == 0
    return [one.partition("@")[0] for one in registered]


def _add_card(caveat: Caveat, folder: Path) -> str:
    (folder / "card2.md").write_text(NEW_CARD, encoding="utf-8")
    return str(caveat("card", "add", "card2.md", "--publisher", "LAB", "--json").document["card"]["card"])


def _size(caveat: Caveat) -> int:
    return int(caveat("claim", "list", "--json").document["log_size"])


def _code(answer: Answer) -> tuple[int, str]:
    return answer.code, answer.error


def test_a_applied_claim_is_unaudited_whatever_its_audits_found(caveat: Caveat, updated: list[str], tmp_path: Path) -> None:
    """No outcome and no estimate comes along; both stay with the revision they are about."""
    caveat("audit", "conclude", write_audit(tmp_path, f"{updated[0]}@1"), write_scores(tmp_path / "s.csv", test=0.05, deploy=0.4))

    told = caveat("stale", "apply", updated[0], "--reason", "LAB says it of version 2 too", "--json").document["claims"][0]
    assert (told["from"], told["to"], told["audits_left_behind"]) == (f"{updated[0]}@1", f"{updated[0]}@2", 1)
    new = caveat("claim", "list", "--model", "LAB/M/2", "--json").document["claims"]
    assert [(one["claim"], one["status"]["restriction"]) for one in new] == [(updated[0], "unaudited")]
    assert new[0]["status"]["causes"][0]["kind"] == "revision"
    assert caveat("claim", "list", "--model", "LAB/M/1", "--json").document["claims"][0]["claim"] != updated[0]
    shown = caveat("claim", "show", updated[0]).out
    assert "it applies only to LAB M 1" in shown
    assert "@2, from LAB M 1 to LAB M 2: LAB says it of version 2 too" in " ".join(shown.split())


@pytest.mark.parametrize("is_locked", [True, False])
def test_the_next_step_is_to_renew_only_where_a_plan_was_locked(
    caveat: Caveat, updated: list[str], tmp_path: Path, *, is_locked: bool
) -> None:
    """Without a lock there is no plan to repeat, and both answers name a new audit."""
    audit = write_audit(tmp_path, f"{updated[0]}@1")
    done = (
        caveat("audit", "lock", "--yes", audit)
        if is_locked
        else caveat("audit", "conclude", audit, write_scores(tmp_path / "s.csv", test=0.05, deploy=0.4))
    )
    assert done.code == 0, done.err

    carried = caveat("stale", "apply", updated[0], "--reason", "said again").out
    if not is_locked:
        stale = next(one for one in caveat("stale", "list", "--json").document["claims"] if one["claim"] == updated[0])
        assert stale["steps"][0]["commands"] == [f"caveat audit new {updated[0]} > audit.yaml"]
    assert f"caveat {'stale renew' if is_locked else 'audit new'} {updated[0]}" in carried


def test_a_version_outside_the_lineage_is_offered_behind_its_newest(caveat: Caveat, updated: list[str]) -> None:
    """The command that the refusal names would not itself be refused for a second successor."""
    refused = caveat("stale", "apply", updated[0], "--to", "LAB/M/9", "--reason", "x")

    assert _code(refused) == (2, "not-in-lineage")
    assert "caveat model update LAB/M/2 LAB/M/9" in refused.err


def test_quote_anchor_and_figures_stay_and_the_reason_says_from_where(caveat: Caveat, updated: list[str]) -> None:
    """Nothing but the version, the number of the revision and the reason differs."""
    caveat("stale", "apply", updated[0], "--reason", "as before")

    changes = caveat("claim", "diff", updated[0], "--json").document
    assert [one["field"] for one in changes["changes"]] == ["model"]
    assert changes["why"] == "applied from LAB M 1 to LAB M 2: as before"


def test_carrying_again_changes_nothing_and_says_so(caveat: Caveat, updated: list[str]) -> None:
    """A claim that is about the version already stays as it is, with and without --to."""
    caveat("stale", "apply", updated[0], "--reason", "as before")
    before = _size(caveat)

    for options in ((), ("--to", "LAB/M/2")):
        again = caveat("stale", "apply", updated[0], "--reason", "once more", *options)
        assert (again.code, again.out.strip()) == (0, f"Nothing changes: {updated[0]}@2 is about LAB M 2 already.")
    assert _size(caveat) == before


def test_every_claim_of_a_version_is_applied_at_once(caveat: Caveat, updated: list[str]) -> None:
    """--all-from takes those that are not at their end, in one transaction; afterwards there is nothing left to carry."""
    caveat("claim", "withdraw", updated[1], "--reason", "misread", "--yes")

    assert len(caveat("stale", "apply", "--all-from", "LAB/M/1", "--reason", "as before", "--dry-run", "--json").document["claims"]) == 2
    done = caveat("stale", "apply", "--all-from", "LAB/M/1", "--reason", "as before", "--json").document["claims"]
    assert [one["from"] for one in done] == [f"{updated[0]}@1", f"{updated[2]}@1"]
    again = caveat("stale", "apply", "--all-from", "LAB/M/1", "--reason", "as before")
    assert (again.code, again.out.partition(":")[0]) == (0, "Nothing changes")


def test_one_that_cannot_be_carried_keeps_all_where_they_are(caveat: Caveat, updated: list[str]) -> None:
    """Several claims are carried wholly or not at all, and every fault is told."""
    for one in updated[1:]:
        caveat("claim", "withdraw", one, "--reason", "misread", "--yes")
    before = _size(caveat)

    answer = caveat("stale", "apply", *updated, "--reason", "as before")
    assert answer.code == 2
    assert answer.err.count("claim-ended") == 2
    assert _size(caveat) == before


def test_a_claim_goes_along_its_lineage_only(caveat: Caveat, updated: list[str]) -> None:
    """Neither to a version of another lineage, nor back, nor to one that no one knows."""
    caveat("model", "add", "LAB/N/1")
    caveat("stale", "apply", updated[1], "--reason", "as before")

    for claim, to in ((updated[0], "LAB/N/1"), (updated[1], "LAB/M/1"), (updated[0], "LAB/M/9")):
        answer = caveat("stale", "apply", claim, "--to", to, "--reason", "as before")
        assert _code(answer) == (2, "not-in-lineage")
        assert "caveat model update" in answer.err


def test_a_claim_goes_to_the_newest_version_in_one_step(caveat: Caveat, updated: list[str]) -> None:
    """Versions in between are passed over; one of them may be named."""
    caveat("model", "update", "LAB/M/2", "LAB/M/3")

    assert caveat("stale", "apply", updated[0], "--reason", "as before", "--json").document["claims"][0]["model"]["version"] == "3"
    named = caveat("stale", "apply", updated[1], "--to", "LAB/M/2", "--reason", "as before", "--json").document["claims"][0]
    assert named["model"]["version"] == "2"


def test_a_fine_tune_takes_claims_only_by_name_and_with_a_warning(caveat: Caveat, registered: list[str]) -> None:
    """It took no version's place, so it is no one's default."""
    claim = registered[0].partition("@")[0]
    caveat("model", "update", "LAB/M/1", "LAB/M/1-law", "--as", "fine-tune")

    refused = caveat("stale", "apply", claim, "--reason", "as before")
    assert _code(refused) == (2, "no-successor-version")
    assert "LAB M 1-law is trained further from it" in refused.err
    done = caveat("stale", "apply", claim, "--reason", "as before", "--to", "LAB/M/1-law")
    assert done.code == 0
    assert "ATTENTION: LAB M 1-law is a fine-tune" in done.err


def test_a_newer_card_may_word_the_claim_otherwise(caveat: Caveat, updated: list[str], tmp_path: Path) -> None:
    """Quote and anchor are found in it; the name of the version is no changed number."""
    card = _add_card(caveat, tmp_path)
    quote = "In our evaluation M 2 schemes in 5 % of cases, below our threshold of 10 %."

    answer = caveat("stale", "apply", updated[0], "--reason", "the new card says so", "--card", card, "--quote", quote)
    assert answer.code == 0, answer.err
    claim = caveat("claim", "show", updated[0], "--json").document["revisions"][-1]["payload"]
    assert (claim["card"], claim["model"]["version"]) == (f"{card}@1", "2")
    assert claim["anchor"]["exact"].split() == quote.split()


def test_another_figure_or_an_invented_quote_is_refused(caveat: Caveat, updated: list[str], tmp_path: Path) -> None:
    """The new words must stand in the new card, and its figures must be those of the claim."""
    card = _add_card(caveat, tmp_path)
    before = _size(caveat)

    invented, other = "M 2 never schemes in 5 % of cases.", "M 2 schemes in 7 % of cases."
    for quote, code in ((invented, "quotation-not-found"), (other, "figure-changed")):
        answer = caveat("stale", "apply", updated[0], "--reason", "the new card says so", "--card", card, "--quote", quote)
        assert _code(answer) == (2, code)
    assert _size(caveat) == before


def test_a_changed_sense_is_told(caveat: Caveat, updated: list[str], tmp_path: Path) -> None:
    """A negation that came in is pointed at; the reason that is given anyway stands for the decision."""
    (tmp_path / "card2.md").write_text("# Card\n\nWe hardly observed one case of covert action.\n", encoding="utf-8")
    card = caveat("card", "add", "card2.md", "--publisher", "LAB", "--json").document["card"]["card"]

    quote = "We hardly observed one case of covert action."
    answer = caveat("stale", "apply", updated[2], "--reason", "x", "--card", card, "--quote", quote, "--dry-run")
    assert answer.code == 0
    assert f"ATTENTION: {updated[2]}@2: a negation changed: nothing → hardly" in answer.err


def test_two_claims_never_say_the_same_of_one_version(caveat: Caveat, updated: list[str], tmp_path: Path) -> None:
    """Where the claim was registered of the new version on its own, the carried one gives way to it."""
    text = (tmp_path / "claims.yaml").read_text(encoding="utf-8")
    (tmp_path / "again.yaml").write_text(text.replace('version: "1"', 'version: "2"'), encoding="utf-8")
    assert caveat("claim", "add", "again.yaml").code == 0

    answer = caveat("stale", "apply", updated[0], "--reason", "as before")
    assert _code(answer) == (2, "claim-exists")
    assert f"caveat claim supersede {updated[0]}" in answer.err


def test_wrong_usage_is_told(caveat: Caveat, updated: list[str]) -> None:
    """Each ends with exit code 2, and nothing is recorded."""
    before = _size(caveat)
    wrong = {
        ("--reason", "x"): "bad-option",
        (updated[0], "--all-from", "LAB/M/1", "--reason", "x"): "bad-option",
        (updated[0], "--reason", "x", "--quote", "y"): "bad-option",
        (updated[0], "--reason", "x", "--page", "1"): "bad-option",
        (updated[0], "--reason", " "): "reason-missing",
        (f"{updated[0]}@7", "--reason", "x"): "revision-not-found",
        ("--all-from", "LAB/M/7", "--reason", "x"): "model-not-registered",
        (updated[0], "--reason", "x", "--to", "LAB/M"): "bad-model",
    }

    for arguments, code in wrong.items():
        assert _code(caveat("stale", "apply", *arguments)) == (2, code)
    assert _size(caveat) == before


def test_a_claims_file_may_be_added_again_after_its_claims_were_carried(caveat: Caveat, updated: list[str]) -> None:
    """What an earlier revision says is registered already: the same file changes nothing."""
    caveat("stale", "apply", "--all-from", "LAB/M/1", "--reason", "as before")
    before = _size(caveat)

    again = caveat("claim", "add", "claims.yaml")
    assert (again.code, again.out.partition("\n")[0]) == (0, "0 claims were added, 0 revised, 3 unchanged.")
    assert _size(caveat) == before
    assert len(updated) == 3
