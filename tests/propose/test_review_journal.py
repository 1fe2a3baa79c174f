"""The journal of a review on the disk: kills, damage, other cards, changes by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from audit.propose.proposal_review import (
    JournalOpening,
    ProposalDecision,
    ProposalVerdict,
    ReviewJournal,
    ReviewMove,
    ReviewStep,
    begin_journal,
    check_same,
    digest_text,
    find_journal,
    name_journal,
    replay_steps,
)
from audit.propose.proposed_claims_file import KnownModels, build_survey
from registry.codec.file_io import replace_file
from registry.errors import ConflictError, InputError, UnavailableError
from tests.propose.made import propose_example, read_example

PROPOSALS = propose_example(read_example())
MODEL = KnownModels(publisher="Example Lab").choose_default(PROPOSALS.proposals)
OPENING = JournalOpening(proposals=PROPOSALS, survey=build_survey(PROPOSALS), model=MODEL)
STEPS = [
    ReviewStep(
        move=ReviewMove.DECIDE, decision=ProposalDecision(at=0, verdict=ProposalVerdict.EXCLUDED, reason="of another model\n\u202e")
    ),
    ReviewStep(move=ReviewMove.DECIDE, decision=ProposalDecision(at=1, verdict=ProposalVerdict.SKIPPED)),
    ReviewStep(move=ReviewMove.UNDO),
]


def keep(path: Path, steps: list[ReviewStep]) -> Path:
    """Write a journal of *steps*, and return where it is."""
    journal = begin_journal(path, OPENING)
    for step in steps:
        journal.append(step)
    journal.close()
    return name_journal(path)


def reopen(path: Path) -> ReviewJournal:
    journal = find_journal(path)
    assert journal is not None
    journal.close()
    return journal


def test_a_journal_comes_back_as_it_was_left(tmp_path: Path) -> None:
    """Proposals and steps, word for word."""
    keep(tmp_path / "claims.yaml", STEPS)

    journal = reopen(tmp_path / "claims.yaml")

    assert journal.opening == OPENING
    assert journal.review == replay_steps(STEPS)


def test_a_journal_that_was_cut_goes_on_with_its_whole_lines(tmp_path: Path) -> None:
    """A kill in the middle of a line loses that step and no other, and the next step stands on a line of its own."""
    path = tmp_path / "claims.yaml"
    journal = keep(path, STEPS)
    whole = journal.read_bytes()
    first = whole.index(b"\n") + 1

    for length in (*range(first, len(whole), 5), len(whole)):
        journal.write_bytes(whole[:length])
        opened = find_journal(path)
        assert opened is not None
        done = whole[first:length].count(b"\n")
        assert opened.review == replay_steps(STEPS[:done])
        opened.append(STEPS[1])
        opened.close()
        assert reopen(path).review == replay_steps([*STEPS[:done], STEPS[1]])


def test_a_journal_cut_in_its_first_line_never_began(tmp_path: Path) -> None:
    """There is nothing to go on with, and nothing in the way of beginning."""
    path = tmp_path / "claims.yaml"
    journal = keep(path, [])
    journal.write_bytes(journal.read_bytes()[:1000])

    assert find_journal(path) is None
    begin_journal(path, OPENING).close()


def test_no_journal_is_none(tmp_path: Path) -> None:
    """A first review has none."""
    assert find_journal(tmp_path / "claims.yaml") is None


def test_a_damaged_line_is_told_with_its_number(tmp_path: Path) -> None:
    """Whatever is wrong in the midst of it, nothing is guessed."""
    path = tmp_path / "claims.yaml"
    journal = keep(path, STEPS)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], b"{not json}\n", *lines[2:]]))

    with pytest.raises(InputError, match=r"(?s)review-damaged.*line 2"):
        find_journal(path)


def test_a_decision_beyond_the_proposals_is_damage(tmp_path: Path) -> None:
    """A number that names no proposal is told, not ignored."""
    path = tmp_path / "claims.yaml"
    keep(path, [ReviewStep(move=ReviewMove.DECIDE, decision=ProposalDecision(at=99, verdict=ProposalVerdict.SKIPPED))])

    with pytest.raises(InputError, match="beyond the last of 5"):
        find_journal(path)


def test_a_file_changed_by_hand_is_left_alone(tmp_path: Path) -> None:
    """What the review wrote is known by its digest; anything else is a person's."""
    path = tmp_path / "claims.yaml"
    keep(path, [*STEPS, ReviewStep(move=ReviewMove.WRITE, sha256=digest_text("a: 1\n"))])
    replace_file(path, b"a: 1\n")
    assert reopen(path).review.written == {digest_text("a: 1\n")}

    path.write_text("a: 2\n")

    with pytest.raises(ConflictError, match="file-changed"):
        find_journal(path)
    assert path.read_text() == "a: 2\n"


def test_a_file_that_no_review_wrote_is_not_overwritten(tmp_path: Path) -> None:
    """Also where there is no journal yet."""
    path = tmp_path / "claims.yaml"
    path.write_text("mine")

    with pytest.raises(ConflictError, match="file-exists"):
        begin_journal(path, OPENING)
    assert not name_journal(path).exists()


def test_two_cannot_review_at_once(tmp_path: Path) -> None:
    """The second is told where the first is."""
    journal = begin_journal(tmp_path / "claims.yaml", OPENING)

    with pytest.raises(UnavailableError, match="in-use"):
        find_journal(tmp_path / "claims.yaml")
    journal.close()


def test_a_journal_of_another_card_or_engine_is_refused(tmp_path: Path) -> None:
    """Both are told at once."""
    keep(tmp_path / "claims.yaml", STEPS)
    journal = reopen(tmp_path / "claims.yaml")

    check_same(journal, document=PROPOSALS.document, engine="rules")
    with pytest.raises(ConflictError) as error:
        check_same(journal, document="0" * 64, engine="claude")
    assert [one.code for one in error.value.faults] == ["review-differs", "review-differs"]


def test_a_journal_that_is_no_file_is_told(tmp_path: Path) -> None:
    """A folder in its place ends in an error, not in a traceback."""
    name_journal(tmp_path / "claims.yaml").mkdir()

    with pytest.raises(InputError, match="file-not-accessible"):
        find_journal(tmp_path / "claims.yaml")


def test_an_opening_with_any_text_comes_back(tmp_path: Path) -> None:
    """Titles of cards may hold line ends and signs of all kinds."""
    strange = replace(OPENING, proposals=replace(PROPOSALS, title='a\nb\u2028"\x1b'))
    begin_journal(tmp_path / "x.yaml", strange).close()

    assert reopen(tmp_path / "x.yaml").opening == strange
