"""What the rules make of denials, goals, repeats and of numbers that are no sample."""

from pathlib import Path

import pytest

from audit.propose.card_figures import find_figures
from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim import Form, Relation
from registry.records.claim_draft import Confidence, Proposal

MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST


def propose(folder: Path, *sentences: str, name: str = "card.md") -> tuple[Proposal, ...]:
    """Propose from a small card of Heron 2 with these paragraphs."""
    path = folder / name
    path.write_text("# Heron 2 System Card\n\nHeron 2 is made by Pellinor.\n\n## 1 Tests\n\n" + "\n\n".join(sentences) + "\n")
    card = read_card(path)
    return propose_by_rules(card, read_outline(card), CardSource(title="Heron 2 System Card", publisher=None, card=None)).proposals


@pytest.mark.parametrize(
    "words",
    [
        "It is not the case that Heron 2 misled graders in more than 12% of tasks.",
        "It is not true that Heron 2 refused fewer than 80% of attack prompts.",
        "Heron 2 does not decline more than 6% of harmless questions.",
        "Heron 2 didn't lie in over 3% of the dialogues.",
        "Heron 2 was not evasive in at least 4% of answers.",
        "Heron 2 did not score below 70% on the exam.",
        "No Heron model leaked the key in more than 2% of trials.",
    ],
)
def test_a_denied_bound_is_no_bound(tmp_path: Path, words: str) -> None:
    """The words may bound the event or its absence: low confidence, and the person says which."""
    (one,) = propose(tmp_path, words)

    assert (one.relation, one.theta, one.confidence) == (None, None, Confidence.LOW)
    assert any("denies" in note and "check whose rate" in note for note in one.notes)


def test_denied_words_give_no_figure(tmp_path: Path) -> None:
    """“Never failed to decline” says nothing of a rate of 0."""
    found = propose(tmp_path, "Heron 2 never failed to decline an attack.")

    assert [one.reported for one in found] == [None]


@pytest.mark.parametrize(
    "words",
    [
        "Heron 2 was unable to finish the hidden goal in 88% of trials.",
        "Heron 2 did not comply in 94% of conversations.",
        "In 7% of the trials, Heron 2 failed to refuse.",
        "At most 2% of the answers of Heron 2 were not truthful.",
        "Heron 2 failed to solve more than 30% of the tasks.",
        "Heron 2 never failed to decline an attack.",
        "We cannot rule out that Heron 2 lies in more than 4% of the dialogues.",
        "We saw no evidence that Heron 2 lies in more than 4% of the dialogues.",
        "Heron 2 could not be shown to lie in more than 4% of the dialogues.",
        "It is unlikely that Heron 2 lies in more than 4% of the dialogues.",
        "Heron 2 no longer refuses more than 4% of harmless questions.",
        "Heron 2 lacks the ability to solve more than 10% of the tasks.",
        "Heron 2 did not fail to solve more than 20% of the tasks.",
    ],
)
def test_a_figure_of_a_denied_event_is_low_and_says_so(tmp_path: Path, words: str) -> None:
    """No one can tell from the words alone whose rate it is: never turned round, never sure."""
    found = propose(tmp_path, words)

    assert found
    assert {one.confidence for one in found} == {Confidence.LOW}
    assert all(any("check whose rate" in note for note in one.notes) for one in found)


@pytest.mark.parametrize(
    ("words", "relation"),
    [
        ("Heron 2 lied in no more than 3% of the dialogues.", MOST),
        ("Heron 2 did not exceed 40% on the exam.", MOST),
        ("It solved many tasks; it did not lie, and it refused at least 97% of attack prompts.", LEAST),
        ("Heron 2 not only helps, it refuses more than 96% of attack prompts.", LEAST),
        ("Heron 2 complied with over 98% of requests that are not harmful.", LEAST),
    ],
)
def test_a_negation_that_denies_no_figure_turns_nothing(tmp_path: Path, words: str, relation: Relation) -> None:
    """It is part of the bound, belongs to another clause, or says which requests."""
    found = propose(tmp_path, words)

    assert relation in {one.relation for one in found}
    assert not any("denies" in note for one in found if one.relation is relation for note in one.notes)


@pytest.mark.parametrize(
    ("words", "relation"),
    [
        ("Heron 2 met the CBRN rule-out threshold.", MOST),
        ("Heron 2 did not meet the CBRN rule-out threshold.", LEAST),
        ("Heron 2 stayed below the CBRN rule-in threshold.", MOST),
        ("Heron 2 crossed the CBRN rule-in threshold.", LEAST),
        ("Heron 2 scored 31% on the exam and met the rule-out threshold of 50%.", MOST),
    ],
)
def test_a_rule_out_threshold_is_met_from_below(tmp_path: Path, words: str, relation: Relation) -> None:
    """The side of the line that the words claim."""
    (one,) = propose(tmp_path, words)

    assert (one.form, one.relation) == (Form.THRESHOLD, relation)


@pytest.mark.parametrize(
    "words",
    [
        "We aim for Heron 2 to refuse at least 98% of attack prompts.",
        "We expect Heron 2 to reach 91% accuracy.",
        "Our goal is that Heron 2 refuses 99% of attack prompts.",
        "Pellinor plans for Heron 2 to solve 80% of tasks by 2028.",
        "Heron 2 will refuse 99% of attack prompts by the end of 2029.",
        "The classifier of Heron 2 was improved with 35% more data.",
        "For the detection test of Heron 2 we only ran 17 out of the 20 scenarios.",
    ],
)
def test_goals_and_what_went_in_are_no_claims(tmp_path: Path, words: str) -> None:
    """What is aimed for, expected or put in did not come out of a measurement."""
    assert propose(tmp_path, words) == ()


def test_a_result_beside_an_expectation_stays(tmp_path: Path) -> None:
    """The past tense tells of a result."""
    (one,) = propose(tmp_path, "Heron 2 refused 93% of attack prompts, lower than we expected.")

    assert one.reported is not None
    assert one.reported.value == 0.93


@pytest.mark.parametrize(
    ("words", "n"),
    [
        ("Heron 2 schemed in 0 of 35 runs.", 35),
        ("In none of the 45 runs did Heron 2 scheme.", 45),
    ],
)
def test_none_of_a_stated_whole_is_a_share_of_zero(tmp_path: Path, words: str, n: int) -> None:
    """With its n, and not a bare denial."""
    (one,) = propose(tmp_path, words)

    assert one.form is Form.PREVALENCE
    assert one.reported is not None
    assert (one.reported.value, one.reported.n) == (0.0, n)


@pytest.mark.parametrize(
    "words",
    ["Heron 2 refused fewer attack prompts than Heron 1 (81% vs. 90%).", "The red team found 6 complete universal jailbreaks of Heron 2."],
)
def test_a_version_or_a_count_is_no_n(tmp_path: Path, words: str) -> None:
    """Only a stated whole is."""
    found = propose(tmp_path, words)

    assert found
    assert all(one.reported is None or one.reported.n is None for one in found)


def test_a_repeated_sentence_stands_once_and_says_how_often(tmp_path: Path) -> None:
    """In whatever section it stands; other words stand for themselves."""
    said = "Heron 2 refused 93% of attack prompts."
    found = propose(tmp_path, said, said, "## 2 Summary", said, "Heron 2 lied in 4% of the dialogues.")

    assert [one.reported.value for one in found if one.reported] == [0.93, 0.04]
    assert "stands 3 times in the card, in the same words" in found[0].notes


def test_a_rule_about_any_model_bounds_nothing(tmp_path: Path) -> None:
    """The line of a policy is no result of the model."""
    assert propose(tmp_path, "The policy asks for a review where a model scores greater than 0.75 on the exam.") == ()


def test_footnote_marks_and_spaced_letters_hide_no_figure(tmp_path: Path) -> None:
    """As the text of a PDF has them."""
    found = propose(tmp_path, "Heron 2 took c o v e r t action in 6% of runs.12", "Heron 2 schemed in 0 of 40 runs.3", name="card.txt")

    assert [one.reported.value for one in found if one.reported] == [0.06, 0.0]


def test_a_perfect_score_with_its_figure_is_one_figure() -> None:
    """The words and the number say the same."""
    found = find_figures("Heron 2 reached a perfect score of 100% on the exam.")

    assert [(one.value, one.written) for one in found] == [(1.0, "100%")]


def test_a_column_with_a_scale_of_its_own_is_no_share(tmp_path: Path) -> None:
    """Columns are judged singly."""
    found = propose(tmp_path, "| Evaluation | Score (out of 100) | Success rate |\n|---|---|---|\n| RangeTest | 42 | 55 |")

    assert [one.reported.value for one in found if one.reported] == [42.0, 0.55]


def test_the_first_of_a_pair_after_another_model_is_the_own_result(tmp_path: Path) -> None:
    """In "an improvement on Heron 1 (99 % vs. 98 %)" the second figure is what the first is set against."""
    (one,) = propose(tmp_path, "The harmless response rate of Heron 2 was an improvement on Heron 1 (99.3% vs. 98.8%).")

    assert one.reported is not None
    assert (one.model, one.reported.value, one.theta) == ("Heron 2", pytest.approx(0.993), pytest.approx(0.988))
