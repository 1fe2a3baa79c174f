"""Sentences that no rule reads: which look like claims, and what is proposed from them."""

from pathlib import Path

import pytest

from audit.propose.card_figures import FigureUnit, find_figures, find_quantity
from audit.propose.card_models import CardSource, ModelMention
from audit.propose.claim_sentences import fold_sentence, score_sentence
from audit.propose.proposal_ranking import rank_proposals
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import Confidence, Proposal


def propose(folder: Path, *sentences: str) -> tuple[Proposal, ...]:
    """Propose from a small card of Heron 2 with these paragraphs."""
    path = folder / "card.md"
    path.write_text("# Heron 2 System Card\n\nHeron 2 is made by Pellinor.\n\n## 1 Tests\n\n" + "\n\n".join(sentences) + "\n")
    card = read_card(path)
    return propose_by_rules(card, read_outline(card), CardSource(title="Heron 2 System Card", publisher=None, card=None)).proposals


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("Nudging the agent to plan first made its reports more complete.", "The agent is asked to plan first and to write a report."),
        ("Heron 2 shines in chemistry and in legal drafting.", "Heron 2 is a dense model with an open licence and two sizes."),
        ("We saw that the tendency vanished after the second round.", "The second round uses the same data in another order."),
    ],
)
def test_a_claim_scores_higher_than_a_description_of_the_same_matter(claim: str, other: str) -> None:
    """None of these sentences is among the examples of the training."""
    assert score_sentence(fold_sentence(claim, ())) > score_sentence(fold_sentence(other, ())) + 0.2


def test_names_and_numbers_of_a_card_do_not_change_the_score() -> None:
    """Only whether a model is the card's own counts."""
    mention = ModelMention(start=0, stop=7, name="Heron 2", written="Heron 2", is_own=True)
    longer = ModelMention(start=0, stop=12, name="Plover X 8.1", written="Plover X 8.1", is_own=True)

    assert fold_sentence("Heron 2 won 14 games.", (mention,)) == fold_sentence("Plover X 8.1 won 9,305 games.", (longer,))


def test_a_likely_claim_has_low_confidence_and_an_open_direction(tmp_path: Path) -> None:
    """No rule reads it, so every field is to be checked."""
    (claim,) = propose(tmp_path, "Longer drafts lead to a consistent improvement in the quality of the reports.")

    assert claim.confidence is Confidence.LOW
    assert (claim.reported, claim.theta) == (None, None)
    assert "direction" in claim.unknown
    assert any("check every field" in note for note in claim.notes)


def test_a_likely_claim_about_another_model_is_not_proposed(tmp_path: Path) -> None:
    """A subject that is another model is no claim of this card."""
    claims = propose(tmp_path, "GPT-4o excels in chemistry and is far more consistent in legal drafting.")

    assert not any(claim.is_own for claim in claims)


def test_what_only_may_be_a_claim_ranks_last(tmp_path: Path) -> None:
    """Also if it comes first in the card."""
    claims = propose(
        tmp_path,
        "Longer drafts lead to a consistent improvement in the quality of the reports.",
        "Heron 2 refused 97% of the harmful requests.",
    )

    assert [claims[index].reported is not None for index in rank_proposals(claims)] == [True, False]


def test_an_amount_of_money_and_a_number_of_things_are_quantities() -> None:
    """Prices and counts are no rates or scores; of several it is not known which one is claimed."""
    price, things = find_quantity("The mean cost of a run was $1.75."), find_quantity("The agent reported 112 crashes in a week.")

    assert price is not None
    assert (price.value, price.unit, price.scale) == (1.75, FigureUnit.SCORE, "$")
    assert things is not None
    assert (things.value, things.unit) == (112, FigureUnit.COUNT)
    assert find_quantity("It found 12 bugs in 30 projects.") is None


def test_a_drop_of_a_share_compares_with_another_figure() -> None:
    """As a share it would claim a rate of 40 %."""
    (figure,) = find_figures("We saw a drop of 40% in harmful answers.")

    assert (figure.unit, figure.value) == (FigureUnit.MULTIPLE, 0.6)


def test_a_model_that_measured_something_is_no_subject(tmp_path: Path) -> None:
    """“A classifier based on GPT-4o found no signs” is said of the card's model."""
    claims = propose(tmp_path, "A review of internal use with a GPT-4o classifier found no signs of deceptive behavior.")

    assert [claim.model for claim in claims] == ["Heron 2"]
