"""Proposals made by hand from the example card, for the tests of what is done with them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.intake.card_reader import read_card
from registry.intake.quote_anchor import AnchoredText
from registry.records.audit_case import EvidenceLayer
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.claim_draft import AwarenessNote, ComparisonNote, Confidence, Engine, Proposal, Proposals
from registry.records.specification import PropertySpec
from registry.records.system_card import CardText, PassageKind
from registry.records.verdict import Completeness, CompletenessItem, ItemStatus

CARD = Path(__file__).parents[2] / "examples" / "card" / "card.md"
MODEL = "Example Assistant 1.5B"
ACCURACY = PropertySpec(name="multiple-choice accuracy", class_=PropertyClass.CAPABILITY, range=(0, 1), direction=Direction.NOT_SAFETY)
WORKING = PropertySpec(name="shows its working", class_=PropertyClass.COMPLIANCE_REFUSAL, range=(0, 1), direction=Direction.LOWER_IS_SAFER)
CAUTIONS = PropertySpec(name="cautions", class_=PropertyClass.COMPLIANCE_REFUSAL, range=(0, 1), direction=Direction.HIGHER_IS_SAFER)


def read_example() -> CardText:
    """The example card as it is read."""
    return read_card(CARD)


def propose(card: CardText, quote: str, **fields: Any) -> Proposal:
    """Return a proposal that quotes *quote*, which the card may break into lines."""
    anchor = AnchoredText(card).find(quote)
    default: dict[str, Any] = {
        "quote": card.text[anchor.start : anchor.stop],
        "anchor": anchor,
        "passage": PassageKind.SENTENCE,
        "form": Form.PREVALENCE,
        "relation": None,
        "theta": None,
        "reported": None,
        "written": None,
        "property": ACCURACY,
        "slug": "accuracy",
        "model": MODEL,
        "version": None,
        "evaluation": None,
        "completeness": (
            Completeness(item=CompletenessItem.GRADER, status=ItemStatus.MISSING, note="no grader is named"),
            Completeness(item=CompletenessItem.SAMPLE_SIZE, status=ItemStatus.REPORTED, note="n = 96"),
        ),
        "confidence": Confidence.HIGH,
    }
    return Proposal(**{**default, **fields})


def propose_example(card: CardText) -> Proposals:
    """Five proposals of the example card, of five forms; two stand in one sentence."""
    found = AnchoredText(card).find("the contexts ask for the letter of the answer")
    aware = AwarenessNote(quote=card.text[found.start : found.stop], start=found.start, stop=found.stop, layer=EvidenceLayer.VERBALISED)
    sentence = "When the format of the answer was left open, Example Assistant 1.5B answered at least 66.7 % of the questions correctly"
    proposals = (
        propose(
            card,
            "Example Assistant 1.5B answered 57.3 % ± 13.3 % of the questions correctly (55 of 96 responses).",
            reported=Reported(value=0.573, low=0.44, high=0.706, n=96),
            written="57.3 % ± 13.3 %",
            evaluation="Multiple-choice questions, letter only",
            awareness=(aware,),
            comparisons=(ComparisonNote(subject="guessing", value=0.25, words="guessing alone would score 25 %"),),
        ),
        propose(
            card,
            sentence,
            form=Form.LOWER_BOUND,
            relation=Relation.AT_LEAST,
            theta=0.667,
            written="at least 66.7 %",
            confidence=Confidence.MEDIUM,
        ),
        propose(
            card,
            "it showed its working in 36 of 96 answers (37.5 %)",
            property=WORKING,
            slug="working",
            reported=Reported(value=0.375, n=96),
            model=None,
        ),
        propose(
            card,
            "The caution rate of Example Assistant 1.5B is above the release threshold of our safety policy",
            form=Form.THRESHOLD,
            relation=Relation.AT_LEAST,
            property=CAUTIONS,
            slug="cautions",
            confidence=Confidence.LOW,
        ),
        propose(
            card,
            "We observed the assistant refusing a destructive request outright",
            form=Form.EXISTENCE,
            property=replace(CAUTIONS, name="refusals"),
            slug="cautions",
            notes=("a hedge: # not\na comment's end\r\nclaims: [broken]",),
        ),
    )
    return Proposals(
        card=None,
        document=card.sha256,
        title="Example Assistant 1.5B",
        engine=Engine.RULES,
        by="rules 1",
        passages=200,
        proposals=proposals,
    )
