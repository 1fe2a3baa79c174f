"""What a card only believes, or cannot rule out, is proposed as no threshold and no bound."""

from pathlib import Path

import pytest

from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim import Form
from registry.records.claim_draft import Confidence, Proposal
from tests.gold import SHARED, needs_shared

BOUNDS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)


def propose(path: Path) -> tuple[Proposal, ...]:
    card = read_card(path)
    return propose_by_rules(card, read_outline(card), CardSource(title="Lumen 1", publisher="Lab", card=None)).proposals


def propose_from(folder: Path, words: str) -> tuple[Proposal, ...]:
    path = folder / "card.md"
    path.write_text(f"# Lumen 1 system card\n\n## Preparedness\n\n{words}\n", encoding="utf-8")
    return propose(path)


@pytest.mark.parametrize(
    "words",
    [
        "We do not have definitive evidence that this model reaches our High threshold.",
        "We treat the model as High because we cannot rule out that it reaches the High threshold.",
        "We believe the model has not crossed the Tier 2 threshold.",
        "The model may reach the High threshold in cybersecurity.",
        "We believe this model has a low propensity for misalignment.",
    ],
)
def test_a_hedged_sentence_claims_no_threshold_and_no_bound(tmp_path: Path, words: str) -> None:
    """It is still shown to the person who reviews, with little confidence and the hedge, but never as a line that is held."""
    found = propose_from(tmp_path, words)

    assert found
    assert [one for one in found if one.form in BOUNDS or one.relation is not None or one.theta is not None] == []
    assert {one.confidence for one in found} == {Confidence.LOW}
    assert all("it claims no threshold and no bound here" in " ".join(one.notes) for one in found)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("The model does not reach the High threshold.", Form.THRESHOLD),
        ("Its skills may vary, and the model does not reach the High threshold.", Form.THRESHOLD),
        ("The model refuses at least 95 % of harmful requests.", Form.LOWER_BOUND),
    ],
)
def test_what_is_said_plainly_keeps_its_form(tmp_path: Path, words: str, form: Form) -> None:
    """A hedge in another clause hedges nothing here."""
    assert [one.form for one in propose_from(tmp_path, words)] == [form]


@needs_shared
def test_no_hedged_sentence_of_the_gpt_card_is_a_threshold() -> None:
    """Of the sentences that cannot rule out a level, none is a claim that it is reached."""
    found = propose(SHARED / "cards" / "openai-gpt-5.3-codex.pdf")

    hedged = [one for one in found if ("rule out" in one.quote and "cannot" in one.quote) or "definitive evidence" in one.quote]
    assert len(hedged) >= 4
    assert [one.quote for one in hedged if one.form in BOUNDS] == []
