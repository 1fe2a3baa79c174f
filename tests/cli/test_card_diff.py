"""Outcome of a card's claims in its next revision, from the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import CARD, CLAIMS, register, write_audit

_REFUSES = "The model refused 92% of harmful requests"
_COVERT = "We observed one case of covert action."


def revise(caveat: Caveat, folder: Path, *changes: tuple[str, str], name: str = "card2.md") -> Path:
    """Write the scenario's card with *changes*."""
    text = CARD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def add_revision(caveat: Caveat, path: Path) -> str:
    """Register *path* as the next revision of the scenario's card; return what was printed."""
    card = caveat("card", "list", "--json").document["cards"][0]["card"]
    added = caveat("card", "add", path, "--publisher", "LAB", "--revises", card, "--reason", "Corrected")
    assert added.code == 0, added.err
    return added.out


def card_of(caveat: Caveat) -> str:
    """Return the identifier of the scenario's card."""
    return str(caveat("card", "list", "--json").document["cards"][0]["card"])


def test_a_new_revision_says_at_once_what_became_of_the_claims(caveat: Caveat, tmp_path: Path) -> None:
    """Adding the file counts and records; the diff shows each claim that is not unchanged with its redline and the next step."""
    schemes, refuses, covert = register(caveat, tmp_path)
    path = revise(
        caveat, tmp_path, ("92%", "82%"), (_COVERT, ""), ("It never exceeded the\nthreshold.", "It never exceeded\nthe threshold.")
    )

    added = add_revision(caveat, path)
    shown = caveat("card", "diff", card_of(caveat))

    assert "Of 3 claims 1 unchanged, 1 reworded, 1 gone." in added
    assert shown.code == 0
    assert f"{covert}  gone" in shown.out
    assert "The model refused [-92%-]{+82%+} of harmful requests" in shown.out
    assert f"A number changed (92 → 82). Next: caveat claim revise {refuses.partition('@')[0]}" in shown.out
    assert schemes not in shown.out
    listed = caveat("claim", "list", "--json").document["claims"]
    assert [one["status"]["staleness"] for one in listed] == ["current", "needs_review", "needs_review"]


def test_spelling_and_layout_alarm_nobody(caveat: Caveat, tmp_path: Path) -> None:
    """Claims of a card that went American and was set anew stay current; the spelling is named."""
    register(caveat, tmp_path)
    path = revise(caveat, tmp_path, ("of covert action", "of covert\naction"), ("harmful requests", "**harmful** requests"))

    assert "Of 3 claims 3 unchanged." in add_revision(caveat, path)
    path = revise(caveat, tmp_path, ("cases, below", "cases; below"), ("of covert action", "of Covert action"), name="card3.md")
    assert "1 unchanged, 2 reworded (only in spelling)." in add_revision(caveat, path)
    listed = caveat("claim", "list", "--json").document["claims"]
    assert {one["status"]["staleness"] for one in listed} == {"current"}
    shown = caveat("card", "diff", card_of(caveat), "--from", "1").out
    assert "2 only in spelling, no alarm" in shown
    assert "Nothing to do: covert → Covert" in shown


def test_a_passage_in_another_section_has_moved(caveat: Caveat, tmp_path: Path) -> None:
    """It is told from where to where, and its audits stand."""
    _, _, covert = register(caveat, tmp_path)
    path = revise(caveat, tmp_path, (f" {_COVERT}", ""), ("were refused).", f"were refused).\n\n{_COVERT}"))
    add_revision(caveat, path)

    shown = caveat("card", "diff", card_of(caveat)).out

    assert f"{covert}  moved\n  Scheming → Refusals" in shown
    assert caveat("claim", "show", covert, "--json").document["status"]["staleness"] == "current"


def test_the_same_revision_again_records_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """The log does not grow when the file is added twice, nor by `--record` when all is recorded."""
    register(caveat, tmp_path)
    path = revise(caveat, tmp_path, ("92%", "82%"))
    add_revision(caveat, path)
    size = caveat("claim", "list", "--json").document["log_size"]

    again = caveat("card", "add", path, "--publisher", "LAB")
    recorded = caveat("card", "diff", card_of(caveat), "--record", "--json")

    assert "nothing changed" in again.out
    assert recorded.document["recorded"] == 0
    assert caveat("claim", "list", "--json").document["log_size"] == size
    assert caveat("admin", "log", "check").code == 0


def test_claims_registered_later_are_recorded_when_asked(caveat: Caveat, tmp_path: Path) -> None:
    """A claim of the older revision, registered after the newer one, is followed at once and recorded by `--record`, once."""
    register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("92%", "82%")))
    card = card_of(caveat)
    claims = (tmp_path / "claims.yaml").read_text(encoding="utf-8").replace(card, f"{card}@1")
    late = claims.replace(_COVERT, "It never exceeded the threshold.").replace("refused 92% of", "refused 92% of harmful")
    late = late.replace("harmful harmful", "harmful").replace("In our evaluation the model", "the model")
    (tmp_path / "late.yaml").write_text(late, encoding="utf-8")
    assert caveat("claim", "add", "late.yaml").code == 0

    before = caveat("card", "diff", card, "--json").document
    recorded = caveat("card", "diff", card, "--record", "--json").document["recorded"]

    missing = [one for one in before["claims"] if not one["recorded"]]
    assert recorded == len(missing) > 0
    assert caveat("card", "diff", card, "--record", "--json").document["recorded"] == 0


def test_files_need_not_be_registered(caveat: Caveat, tmp_path: Path) -> None:
    """Two files beside each other, with the quotes of a claims file; a registered card beside a file; nothing is recorded."""
    register(caveat, tmp_path)
    path = revise(caveat, tmp_path, ("92%", "82%"), ("## Refusals", "## 2 Refusals of requests"), (_COVERT, ""))
    size = caveat("claim", "list", "--json").document["log_size"]

    files = caveat("card", "diff", "card.md", path, "--json").document
    quoted = caveat("card", "diff", "card.md", path, "--claims", "claims.yaml", "--json").document
    mixed = caveat("card", "diff", card_of(caveat), path, "--json").document

    assert files["claims"] == []
    assert [one["numbers"] for one in files["figures_without_claim"]] == ["92 → 82"]
    assert files["changes"]["sections_renamed"] == [{"old": "Refusals", "new": "2 Refusals of requests"}]
    assert quoted["counts"] == mixed["counts"] == {"unchanged": 1, "moved": 0, "reworded": 1, "gone": 1}
    assert quoted["figures_without_claim"] == mixed["figures_without_claim"] == []
    assert caveat("claim", "list", "--json").document["log_size"] == size


def test_old_and_new_swapped_swap_what_is_gone(caveat: Caveat, tmp_path: Path) -> None:
    """Seen from the newer file, what was deleted was added, and what is reworded is reworded back."""
    register(caveat, tmp_path)
    path = revise(caveat, tmp_path, ("92%", "82%"), (_COVERT, ""))

    forth = caveat("card", "diff", "card.md", path, "--json").document["changes"]
    back = caveat("card", "diff", path, "card.md", "--json").document["changes"]

    assert (forth["removed"], forth["added"]) == (back["added"], back["removed"]) == (1, 0)
    assert forth["reworded"] == back["reworded"] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("{card}",), "revision-not-found"),
        (("{card}@2",), "not-registered"),
        (("{card}", "--from", "1", "--to", "1"), "nothing-to-compare"),
        (("card.md", "{card}", "--record"), "nothing-to-record"),
        (("{card}", "nowhere.md"), "not-valid"),
        (("nowhere.md",), "not-valid"),
        (("card.md",), "name the file it is compared with"),
        (("{card}@1", "{card}@1", "--from", "1"), "--from and --to choose revisions of one card"),
        (("{card}", "--record", "--as-of", "1"), "--record writes now"),
        (("CRD-AISI-2026-0009-X", "card.md"), "bad-identifier"),
    ],
)
def test_what_cannot_be_compared_is_said(caveat: Caveat, tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    """Each refusal has its code and is no failure of the program."""
    register(caveat, tmp_path)
    card = card_of(caveat)

    refused = caveat("card", "diff", *(one.format(card=card) for one in arguments))

    assert refused.code in (2, 3)
    assert code in refused.err


def test_a_claim_goes_on_in_its_new_wording(caveat: Caveat, tmp_path: Path) -> None:
    """The decision is a revision that quotes the newer card, with its reason; the claim is current, and there is nothing left to reword."""
    _, refuses, _ = register(caveat, tmp_path)
    path = revise(caveat, tmp_path, ("refused 92% of harmful requests", "declined 92% of all harmful requests"))
    add_revision(caveat, path)
    claim = refuses.partition("@")[0]

    done = caveat("claim", "reword", claim, "--reason", "refused and declined mean the same here", "--yes", "--json")
    again = caveat("claim", "reword", claim, "--yes")

    assert done.document["revised"] == f"{claim}@2"
    assert "[-refused 92% of-]{+declined 92% of all+}" in done.err
    shown = caveat("claim", "show", claim, "--json").document
    assert shown["revisions"][1]["payload"]["quote"] == "The model declined 92% of all harmful requests"
    assert shown["revisions"][1]["payload"]["why"] == (
        f"same claim, new wording in {card_of(caveat)}@2: refused and declined mean the same here"
    )
    assert shown["status"]["staleness"] == "current"
    assert "quote-up-to-date" in again.err


def test_without_a_person_nothing_is_reworded(caveat: Caveat, tmp_path: Path) -> None:
    """Unanswered, the question records nothing."""
    _, refuses, _ = register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("The model refused", "Lumen refused")))

    asked = caveat("claim", "reword", refuses.partition("@")[0])

    assert asked.code != 0
    assert len(caveat("claim", "show", refuses.partition("@")[0], "--json").document["revisions"]) == 1


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        (("refused 92% of harmful", "refused 82% of harmful"), (), "figure-changed"),
        (("refused 92% of harmful", "refused <92% of harmful"), (), "figure-changed"),
        ((_REFUSES, "Nothing was measured"), (), "passage-not-found"),
        ((_REFUSES, "Nothing was measured"), ("--quote", "It was fine."), "quotation-not-found"),
    ],
)
def test_another_figure_is_no_other_wording(
    caveat: Caveat, tmp_path: Path, change: tuple[str, str], options: tuple[str, ...], code: str
) -> None:
    """A changed figure or a passage that is gone is refused, and nothing is recorded."""
    _, refuses, _ = register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, change))

    refused = caveat("claim", "reword", refuses.partition("@")[0], *options, "--yes")

    assert code in refused.err
    assert len(caveat("claim", "show", refuses.partition("@")[0], "--json").document["revisions"]) == 1


@pytest.mark.parametrize(
    ("passage", "turned"),
    [
        ("The model never refused 92% of harmful requests", "a negation changed: nothing → never"),
        ("The model accepted 92% of harmful requests", "an opposite changed: refused → accepted"),
        ("The model refused 92% of all harmful requests", "how far it holds changed: nothing → all"),
    ],
)
def test_a_turned_sense_needs_a_reason(caveat: Caveat, tmp_path: Path, passage: str, turned: str) -> None:
    """Without one, nothing is recorded, with or without --yes; the change is shown; with one, it is a person's decision."""
    _, refuses, _ = register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, (_REFUSES, passage)))
    claim = refuses.partition("@")[0]

    refused = caveat("claim", "reword", claim, "--yes")
    blank = caveat("claim", "reword", claim, "--yes", "--reason", " ")
    asked = caveat("claim", "reword", claim)
    reasoned = caveat("claim", "reword", claim, "--yes", "--reason", "the publisher explains it on page 9")

    assert (refused.code, blank.code, asked.code) == (2, 2, 2)
    assert "error[meaning-changed]" in refused.err
    assert f"  --> {refuses}\n  {turned}" in refused.err
    assert f"ATTENTION: {turned}" in asked.err
    assert f'caveat claim reword {claim} --reason "…"' in asked.err
    assert reasoned.code == 0
    assert len(caveat("claim", "show", claim, "--json").document["revisions"]) == 2


_TABLE = """
Table 1: Refusals in tests

| Model | Refused |
|---|---|
| Model M | 81 % |
| Model L | 62 % |
"""


@pytest.mark.parametrize(
    ("change", "turned"),
    [
        (("| Model | Refused |", "| Model | Refused politely |"), "a column head changed: Refused → Refused politely"),
        (
            ("Table 1: Refusals in tests", "Table 1: Refusals in deployment"),
            "the caption changed: Refusals in tests → Refusals in deployment",
        ),
    ],
)
def test_the_same_row_under_another_head_or_caption_needs_a_reason(
    caveat: Caveat, tmp_path: Path, change: tuple[str, str], turned: str
) -> None:
    """The row has the same words, but its figure is said of something else."""
    (tmp_path / "card.md").write_text(CARD + _TABLE, encoding="utf-8")
    assert caveat("init", "--code", "LAB").code == 0
    assert caveat("card", "add", tmp_path / "card.md", "--publisher", "LAB").code == 0
    row = '  - {quote: "| Model M | 81 % |", form: prevalence, reported: 0.81, property: refusal}\n'
    claims = CLAIMS.partition("  - quote")[0].format(card=card_of(caveat)) + row
    (tmp_path / "claims.yaml").write_text(claims, encoding="utf-8")
    assert caveat("claim", "add", tmp_path / "claims.yaml").code == 0
    claim = caveat("claim", "list", "--json").document["claims"][0]["claim"]
    (tmp_path / "card2.md").write_text((CARD + _TABLE).replace(*change), encoding="utf-8")
    assert "1 reworded" in add_revision(caveat, tmp_path / "card2.md")

    refused = caveat("claim", "reword", claim, "--yes")
    reasoned = caveat("claim", "reword", claim, "--yes", "--reason", "the publisher explains it on page 9")

    assert refused.code == 2
    assert "error[meaning-changed]" in refused.err
    assert turned in refused.err
    assert f'caveat claim reword {claim} --reason "…"' in refused.err
    assert reasoned.code == 0, reasoned.err
    assert len(caveat("claim", "show", claim, "--json").document["revisions"]) == 2


def test_what_stands_needs_no_rewording(caveat: Caveat, tmp_path: Path) -> None:
    """For an unchanged passage the command says so, and is content."""
    schemes, _, _ = register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("92%", "82%")))

    told = caveat("claim", "reword", schemes.partition("@")[0])

    assert told.code == 0
    assert "Nothing needs doing" in told.out


def test_three_revisions_are_one_history(caveat: Caveat, tmp_path: Path) -> None:
    """Outcome of a claim in the latest revision is told from whichever it quotes; a figure that a claim quotes there has a claim."""
    schemes, refuses, covert = register(caveat, tmp_path)
    second = revise(caveat, tmp_path, ("refused 92% of harmful", "declined 92% of all harmful"), ("5 % of cases", "6 % of cases"))
    add_revision(caveat, second)
    assert caveat("claim", "reword", refuses.partition("@")[0], "--reason", "both speak of all of them", "--yes").code == 0
    add_revision(caveat, revise(caveat, tmp_path, ("0 of 50", "1 of 50"), name="card3.md"))
    card = card_of(caveat)

    latest = caveat("card", "diff", card, "--json").document
    shown = caveat("card", "diff", card, "--from", "1").out
    between = caveat("card", "diff", card, "--from", "1", "--to", "2", "--json").document

    assert {one["claim"]: (one["quoted"], one["match"]) for one in latest["claims"]} == {
        schemes: (f"{card}@1", "unchanged"),
        refuses.replace("@1", "@2"): (f"{card}@2", "reworded"),
        covert: (f"{card}@1", "unchanged"),
    }
    assert [one["numbers"] for one in latest["figures_without_claim"]] == ["0 → 1"]
    assert f"@2  reworded, quoted from {card}@2" in shown
    assert between["counts"] == {"unchanged": 1, "moved": 0, "reworded": 1, "gone": 0}
    assert between["figures_without_claim"] == []


def test_a_claim_registered_late_is_recorded_in_the_latest_revision(caveat: Caveat, tmp_path: Path) -> None:
    """The status of a claim of the first of three revisions says what to run, and running it is enough."""
    register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("92%", "82%")))
    add_revision(caveat, revise(caveat, tmp_path, ("92%", "72%"), name="card3.md"))
    card = card_of(caveat)
    late = (tmp_path / "claims.yaml").read_text(encoding="utf-8").replace(card, f"{card}@1").split("  - quote")
    late[1] = late[1].replace("In our evaluation the model", "the model")
    (tmp_path / "late.yaml").write_text("  - quote".join(late[:2]), encoding="utf-8")
    claim = caveat("claim", "add", "late.yaml", "--json").document["added"][0]
    advised = caveat("claim", "show", claim, "--json").document["status"]["stale_because"][0]

    assert f"caveat card diff {card} --record" in advised
    assert caveat("card", "diff", card, "--record", "--json").document["recorded"] == 1
    assert caveat("claim", "show", claim, "--json").document["status"]["staleness"] == "current"


def test_the_first_revision_is_compared_with_a_later_one(caveat: Caveat, tmp_path: Path) -> None:
    """Asked what led to the first revision, the refusal names the command that shows what followed it."""
    register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("92%", "82%")))
    card = card_of(caveat)

    refused = caveat("card", "diff", f"{card}@1")

    assert "revision-not-found" in refused.err
    assert f"caveat card diff {card} --from 1" in refused.err


def test_another_card_is_no_revision(caveat: Caveat, tmp_path: Path) -> None:
    """A file with hardly a passage in common is refused before anything is recorded, unless a person says that it is a revision."""
    register(caveat, tmp_path)
    card = card_of(caveat)
    body = " ".join(f"Sentence {number} speaks of another matter, {number * 7}." for number in range(40))
    (tmp_path / "other.md").write_text(f"# Another card\n\n{body}\n", encoding="utf-8")
    added = ("card", "add", "other.md", "--publisher", "LAB", "--revises", card, "--reason", "Corrected")
    (tmp_path / "long.md").write_text(f"{CARD}\n{' '.join(body.split()[::-1])}\n", encoding="utf-8")

    longer = caveat("card", "add", "long.md", "--publisher", "LAB", "--revises", card, "--reason", "A section was added")
    refused = caveat(*added)

    assert longer.code == 0
    assert refused.code == 2
    assert "revision-unrelated" in refused.err
    assert "add --unlike" in refused.err
    assert len(caveat("card", "list", "--json").document["cards"]) == 1
    assert caveat(*added, "--unlike", "--json").document["card"]["revision"] == 3


def test_spelling_alone_is_told_wherever_a_passage_match_is(caveat: Caveat, tmp_path: Path) -> None:
    """Claim, history and rewording say that nothing but spelling differs, and in what."""
    _, _, covert = register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("of covert action", "of Covert action")))
    claim = covert.partition("@")[0]

    shown = caveat("claim", "show", claim).out
    history = " ".join(caveat("claim", "history", claim).out.split())
    told = caveat("claim", "reword", claim).out

    assert f"{card_of(caveat)}@2: reworded only in spelling (covert → Covert)" in shown
    assert "reworded only in spelling" in history
    assert f"{covert} is reworded only in spelling" in told


def test_who_rewords_is_told_what_becomes_of_the_audits(caveat: Caveat, tmp_path: Path) -> None:
    """Before the question, the audits of the old wording are counted; their outcomes become history, and the diff says what changed."""
    _, refuses, _ = register(caveat, tmp_path)
    assert caveat("audit", "lock", "--yes", write_audit(tmp_path, refuses)).code == 0
    add_revision(caveat, revise(caveat, tmp_path, ("The model refused", "Model M refused")))
    claim = refuses.partition("@")[0]

    done = caveat("claim", "reword", claim, "--yes")
    changed = caveat("claim", "diff", claim).out

    assert f"1 audit of {refuses} speaks of the old wording only; their outcomes stay as history." in done.err
    assert "found at N0" in changed
    assert "document" not in changed


def test_a_claims_file_says_where_it_names_a_card_that_is_not_registered(caveat: Caveat, tmp_path: Path) -> None:
    """A card that is well named and not registered is refused at each place that names it, with what is registered."""
    register(caveat, tmp_path)
    card = card_of(caveat)
    path = tmp_path / "claims.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("    form: existence", f"    form: existence\n    card: {card}@7"), encoding="utf-8"
    )

    refused = caveat("claim", "add", "claims.yaml")

    assert refused.code == 2
    assert "error[not-registered]" in refused.err
    assert f"  --> claims.yaml, claims[2].card\n  {card}@7 is not registered\n  fix: caveat card list" in refused.err


def test_what_no_claim_quotes_is_listed_when_it_turns_or_goes(caveat: Caveat, tmp_path: Path) -> None:
    """A dropped "never" is shown with its redline, a removed figure counts as a changed one, and no all-clear is given."""
    (tmp_path / "a.md").write_text(
        "# M\n\nIt never exceeded the threshold. Errors fell to 0.03 % of runs.\n\nIt helps.\n", encoding="utf-8"
    )
    (tmp_path / "b.md").write_text("# M\n\nIt exceeded the threshold.\n\nIt helps.\n", encoding="utf-8")

    shown = caveat("card", "diff", "a.md", "b.md").out
    document = caveat("card", "diff", "a.md", "b.md", "--json").document

    assert "1 removed (1 with figures)" in shown
    assert "0.03 → nothing (removed)" in shown
    assert "a negation changed: never → nothing" in shown
    assert "No figure changed" not in shown
    assert [one["new"] for one in document["passages_without_claim"]] == ["", "It exceeded the threshold"]


def test_backwards_is_said(caveat: Caveat, tmp_path: Path) -> None:
    """From the newer revision to the older one is allowed, and named."""
    register(caveat, tmp_path)
    add_revision(caveat, revise(caveat, tmp_path, ("92%", "82%")))

    shown = caveat("card", "diff", card_of(caveat), "--from", "2", "--to", "1")

    assert "compared backwards: from the newer to the older" in shown.out
