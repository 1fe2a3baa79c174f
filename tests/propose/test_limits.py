"""Limits and risks that a card states in words: what the model may do wrong, cannot do, or was not made or tested for."""

from pathlib import Path

import pytest

from audit.propose.card_models import CardSource
from audit.propose.proposal_ranking import rank_proposals, select_top
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim import Form, Relation
from registry.records.claim_draft import Confidence, Proposal

UNDER_LIMITS = (
    "Heron 2 may generate text that is factually wrong, even when it sounds sure of itself.",
    "Outputs can be repetitive or drift off topic in long conversations.",
    "The model has not been tested in languages other than English and Spanish.",
    "Heron 2 was not trained on legal or medical text.",
    "It is not suitable for decisions that affect someone's health, safety or rights.",
    "The model inherits social biases from its training data.",
    "Its answers might reflect stereotypes of the training data.",
    "Answers in low-resource languages are noticeably less fluent and less accurate.",
    "Accuracy drops on documents that are longer than sixty thousand tokens.",
    "Safety tuning was done in English only and may not transfer to other languages.",
    "Heron 2 is vulnerable to prompt injection when it browses the web.",
    "We have not evaluated the model for use in vehicles or medical devices.",
    "There is a risk that the model discloses personal data.",
    "A determined user can still be harmful, and users can still elicit dangerous instructions.",
    "Our red teaming did not include audio.",
    "The use in high-stakes settings is out of scope.",
    "Despite our mitigations, these biases may still be present.",
    "Like other language models, Heron 2 can potentially behave in ways that are unfair or offensive.",
)
ANYWHERE = (
    "Heron 2 struggles with arithmetic beyond four digits.",
    "It sometimes refuses harmless requests that mention weapons or drugs.",
    "The model could be misused to write phishing messages or spam.",
    "The model's chain of thought does not always reflect how it reached its answer.",
    "Heron 2 is not aligned to human preferences.",
)
NO_LIMITS = (
    "Developers may fine-tune Heron 2 for their own languages.",
    "Users should verify important facts.",
    "This section describes known limitations of the model.",
    "Heron 2 is intended for research and commercial use.",
    "The licence may change in future versions.",
    "Language models can produce false statements.",
    "Our filters can detect harmful content in uploads.",
    "A harmful answer is one that could lead to injury.",
    "If the model produced an unsafe answer, the item counted as failed.",
    "Heron 2 can help people write better code with fewer errors.",
    "The model can be run on a single processor.",
    "The next version may support more languages.",
    "Some of its limitations are:",
)


def propose(folder: Path, heading: str, *sentences: str) -> tuple[Proposal, ...]:
    """Propose from a small card with these paragraphs under one heading."""
    path = folder / "card.md"
    path.write_text(
        f"# Heron 2 Model Card\n\nHeron 2 is made by Pellinor.\n\n## {heading}\n\n" + "\n\n".join(sentences) + "\n", encoding="utf-8"
    )
    card = read_card(path)
    return propose_by_rules(card, read_outline(card), CardSource(title="Heron 2 Model Card", publisher=None, card=None)).proposals


@pytest.mark.parametrize("heading", ["Limitations", "Ethical considerations", "Intended use and out-of-scope use"])
def test_limits_under_their_heading_are_claims_about_the_own_model(tmp_path: Path, heading: str) -> None:
    """Also if the sentence names no model, and if it speaks of the training."""
    claims = propose(tmp_path, heading, *UNDER_LIMITS)

    assert [words for words in UNDER_LIMITS if words not in {claim.quote for claim in claims}] == []
    assert {claim.model for claim in claims} == {"Heron 2"}
    assert Confidence.HIGH not in {claim.confidence for claim in claims}
    assert [claim.reported for claim in claims if claim.reported is not None] == []


def test_elsewhere_a_limit_is_a_claim_if_the_sentence_speaks_of_the_model(tmp_path: Path) -> None:
    """Tests and tools have limits too, and these are no claims about the model."""
    claims = propose(tmp_path, "Results", *ANYWHERE, "Benchmarks may not reflect real use.", "Long documents can contain errors.")

    assert [claim.quote for claim in claims] == list(ANYWHERE)


@pytest.mark.parametrize("heading", ["Limitations", "Results"])
def test_permissions_plans_definitions_and_abilities_are_no_limits(tmp_path: Path, heading: str) -> None:
    """The words may be the same; the form of the sentence differs."""
    assert [claim.quote for claim in propose(tmp_path, heading, *NO_LIMITS)] == []


def test_a_limit_set_against_something_is_a_threshold_without_a_value(tmp_path: Path) -> None:
    """How much worse is not stated."""
    (claim,) = propose(tmp_path, "Limitations", "Languages other than English will have worse performance than English.")

    assert (claim.form, claim.relation, claim.theta) == (Form.THRESHOLD, Relation.AT_MOST, None)


def test_limits_rank_behind_figures_and_do_not_push_them_out_of_the_top(tmp_path: Path) -> None:
    """Many limits and few figures: every figure is among the first."""
    figures = (
        "Heron 2 scored 71% on MMLU.",
        "GPT-4o scored 75% on MMLU, and Heron 2 refused 93% of the harmful requests.",
        "The accuracy on long documents was 62%.",
    )
    claims = propose(tmp_path, "Limitations", *UNDER_LIMITS, *figures)
    ranked = [claims[index] for index in rank_proposals(claims)]

    assert [claim.reported is not None for claim in ranked] == [True] * 3 + [False] * (len(claims) - 3)
    assert sum(claim.reported is not None for claim in select_top(claims, 5)) == 3


@pytest.mark.parametrize(
    ("block", "quotes"),
    [
        pytest.param(
            "**Limitations:** Outputs can be repetitive in long conversations.", ["Outputs can be repetitive"], id="label of a paragraph"
        ),
        pytest.param("Heron 2 is not suitable for medical advice.", ["Heron 2 is not suitable"], id="sentence in a passage of method"),
        pytest.param("After training, Heron 2 performs better than Heron 1 on MMLU.", ["After training, Heron 2"], id="comparison"),
    ],
)
def test_limits_and_comparisons_are_read_where_the_method_is_told(block: str, quotes: list[str], tmp_path: Path) -> None:
    """A label says what the heading does not."""
    found = [claim.quote for claim in propose(tmp_path, "Training data", block)]

    assert all(any(words in quote for quote in found) for words in quotes), found


def test_items_of_a_list_are_limits_by_the_words_above_it(tmp_path: Path) -> None:
    """Each is a fragment, and the sentence that it ends begins above."""
    items = "- produce inaccurate answers\n- amplify social biases"
    found = [claim.quote for claim in propose(tmp_path, "Limitations", "The model may:", items)]

    assert [any(words in quote for quote in found) for words in ("inaccurate answers", "social biases")] == [True, True]
