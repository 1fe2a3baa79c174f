"""Statements that a model recognised the test."""

from dataclasses import replace

import pytest

from audit.propose.evaluation_facts import AwarenessIndex, classify_awareness
from audit.propose.passage_context import PassageContext
from registry.records.audit_case import EvidenceLayer
from registry.records.system_card import Outline
from tests.propose.written import sentence, write

SAID: list[tuple[str, EvidenceLayer | None]] = [
    ("9% of transcripts showed verbalised evaluation awareness.", EvidenceLayer.VERBALISED),
    ("It mentioned the possibility of being tested in 2% of runs.", EvidenceLayer.VERBALISED),
    ("In one transcript it remarked that it might be in a test.", EvidenceLayer.VERBALISED),
    ("White-box probes indicate that it knew it was being evaluated.", EvidenceLayer.LATENT),
    ("We found unverbalised evaluation awareness in a third of them.", EvidenceLayer.LATENT),
    ("Steering against evaluation awareness raised misaligned actions.", EvidenceLayer.LATENT),
    ("All models can distinguish our evaluations from deployment when asked.", EvidenceLayer.LATENT),
    ("It behaves better when it believes it is being observed and it is being tested.", EvidenceLayer.BEHAVIOURAL),
    ("A realism filter removed scenarios that seemed staged.", EvidenceLayer.CUE_SENSITIVITY),
    ("It suspected that it was being evaluated.", None),
    ("Evaluation awareness may have affected these scores.", None),
    ("A model that recognises an evaluation may behave otherwise in it.", None),
]

NOT_SAID = [
    "We evaluated it with human raters.",
    "Human evaluation was done by three annotators.",
    "We note that all models were evaluated with extended thinking.",
    "It has not been tested on humans.",
    "We recognise that these evaluations are imperfect.",
    "We are aware that the test set is small.",
    "It raises public awareness of safety testing.",
    "The model was tested in a simulation of a power plant.",
    "It distinguishes cats from dogs.",
    "Users were aware of being tested.",
    "Responses looked realistic to reviewers.",
]


@pytest.mark.parametrize(("words", "layer"), SAID)
def test_recognition_is_found_with_its_layer(words: str, layer: EvidenceLayer | None) -> None:
    """What the sentence says of how it is known gives the layer; without it there is none."""
    assert classify_awareness(words) == (True, layer)


@pytest.mark.parametrize("words", NOT_SAID)
def test_evaluation_alone_is_no_recognition(words: str) -> None:
    """That something was evaluated, or that people were aware, says nothing of the model."""
    assert classify_awareness(words) == (False, None)


def test_notes_are_of_the_same_section() -> None:
    """A statement elsewhere that names nothing of it does not count."""
    around, (said, claim) = write("It suspected that it was being evaluated.", "It refused 98%.", titles=("1 Audit", "2 Refusals"))
    far, (_, other) = write("It suspected that it was being evaluated.", "It refused 98%.", section=None)
    lonely = sentence("It refused 98%.", 500, section=1)

    assert [one.quote for one in AwarenessIndex(around).find(claim, evaluation=None)] == [said.words]
    assert AwarenessIndex(far).find(other, evaluation=None)
    assert AwarenessIndex(around).find(lonely, evaluation=None) == ()


def test_a_statement_elsewhere_counts_if_it_names_the_evaluation() -> None:
    """The name of the evaluation ties a statement to a claim."""
    around, _ = write("It suspected that it was being evaluated in VendingBench.", titles=("1 Summary", "4.2 Misalignment"))
    awareness = AwarenessIndex(around)
    elsewhere = sentence("It refused 98%.", 500, section=None)

    assert awareness.find(elsewhere, evaluation="VendingBench")
    assert not awareness.find(elsewhere, evaluation="audit")


def test_quotes_are_the_cards_own_characters() -> None:
    """The note gives what stands between start and stop, markup and line breaks included."""
    text = "It **suspected** that\nit was being evaluated.\n"
    passage = replace(sentence("It suspected that it was being evaluated."), stop=len(text) - 1)
    around = PassageContext(Outline(passages=(passage,), headings=()), text)

    (note,) = AwarenessIndex(around).find(passage, evaluation=None)

    assert note.quote == text[note.start : note.stop] == text.rstrip("\n")


def test_only_the_nearest_are_given() -> None:
    """A section on awareness has dozens; the nearest six are shown, in the order of the card."""
    around, passages = write(*(f"In case {index} it suspected that it was being evaluated." for index in range(30)))

    notes = AwarenessIndex(around).find(passages[15], evaluation=None)

    assert len(notes) == 6
    assert [one.start for one in notes] == sorted(one.start for one in notes)
    assert passages[15].start in {one.start for one in notes}
