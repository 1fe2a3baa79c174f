"""How far who and what a figure is about agrees with the hand-coded claims of real cards; skipped where those are not here."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from audit.propose.card_models import CardModels, CardSource, find_subject, fold_name, read_models
from audit.propose.claim_passages import PassageContext
from audit.propose.claimed_property import describe_property
from audit.propose.evaluation_facts import AwarenessIndex, describe_evaluation
from audit.propose.figure_ownership import OwnFigure, choose_own
from audit.propose.prose_figures import find_quantities
from audit.propose.table_figures import find_row_quantities
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText
from registry.records.system_card import Passage, PassageKind
from tests.gold import card_path, needs_shared, read_gold

FLOORS = {"model": 0.9, "class": 0.85, "direction": 0.85, "comparison": 0.85, "awareness": 0.85}
"""Shares of the coded claims on which we agree at least. Below what is reached, so that one claim read otherwise is no alarm."""


@cache
def open_card(path: Path) -> tuple[PassageContext, AnchoredText, CardModels, AwarenessIndex]:
    """Return a real card as the rules see it."""
    card = read_card(path)
    around = PassageContext(read_outline(card), card.text)
    return around, AnchoredText(card), read_models(around, CardSource(title=path.name, publisher=None, card=None)), AwarenessIndex(around)


@cache
def count_agreement() -> tuple[Counter[str], Counter[str]]:
    """Return on how many coded claims we agree, and how many there are, by what is compared."""
    agreed: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for gold in read_gold():
        for name, is_equal in compare(gold).items():
            asked[name] += 1
            agreed[name] += is_equal
    return agreed, asked


def compare(gold: dict[str, Any]) -> dict[str, bool]:
    """Return whether we agree with one coded claim."""
    around, anchored, models, awareness = open_card(card_path(gold))
    anchor = anchored.find(gold["quote"])
    passage = max(around.passages, key=lambda one: min(one.stop, anchor.stop) - max(one.start, anchor.start))
    named = tuple((one.start, one.stop) for one in models.find(passage.words))
    found = find_row_quantities(passage, named) if passage.kind is PassageKind.ROW else find_quantities(passage.words)
    own = pick(choose_own(passage, found, around=around, models=models).own, gold)
    at = own.quantity.start if own else None
    subject = find_subject(passage, at, around=around, models=models)
    facts = describe_evaluation(passage, around=around, at=at)
    spec = describe_property(
        passage, own.quantity if own else None, around=around, column=own.column if own else None, evaluation=facts.evaluation
    ).spec
    answer = {
        "model": is_same_model((own.model if own else None) or subject.model, gold["subject_model"]),
        "class": spec.class_.value.removesuffix("_task") == gold["property_class"],
        "direction": spec.direction.value == gold["safety_direction"],
        "awareness": bool(awareness.find(passage, evaluation=facts.evaluation)) is gold["eval_awareness"]["reported"],
    }
    if gold["comparison"]:
        answer["comparison"] = has_all(own, gold["comparison"])
    return answer


def pick(own: tuple[OwnFigure, ...], gold: dict[str, Any]) -> OwnFigure | None:
    """Return the figure that was coded, else the last."""
    coded = (gold["reported"] or gold["theta"] or {}).get("value")
    expected = [] if coded is None else [coded, coded / 100, *(coded / one.quantity.n for one in own if one.quantity.n)]
    return next((one for one in own if any(one.quantity.value == pytest.approx(value) for value in expected)), own[-1] if own else None)


def is_same_model(found: str | None, coded: str) -> bool:
    """Whether two names mean one model; the coder's words on builds are left out."""
    if "all " in coded:
        return found is not None and "all " in found.lower()
    plain = coded.removeprefix("near-final snapshot of ").removeprefix("near-final ").split(" with ")[0].split(" (")[0]
    return found is not None and fold_name(found) == fold_name(plain)


def has_all(own: OwnFigure | None, coded: list[list[Any]]) -> bool:
    """Whether each coded comparison is there with its figure."""
    beside = {fold_name(one.subject).removeprefix("claude-"): one.value for one in own.comparisons} if own else {}
    return all(is_close(beside.get(fold_name(name)), value) for name, value in coded)


def is_close(found: float | None, coded: float | str) -> bool:
    if isinstance(coded, str):
        part, whole = coded.split("/")
        coded = float(part) / float(whole)
    return found is not None and (found == pytest.approx(coded) or found == pytest.approx(coded / 100))


@needs_shared
@pytest.mark.parametrize("name", FLOORS)
def test_agreement_with_the_coder(name: str) -> None:
    """Of the coded claims, at least the floor is read as the coder read it."""
    agreed, asked = count_agreement()

    assert agreed[name] / asked[name] >= FLOORS[name], f"{name}: {agreed[name]} of {asked[name]}"


@needs_shared
def test_words_given_are_words_of_the_card() -> None:
    """No fact of how a figure was measured is worded anew."""
    around, _, _, awareness = open_card(card_path(read_gold()[0]))
    everything = " ".join(dict.fromkeys(_texts(around)))

    for passage in around.passages:
        facts = describe_evaluation(passage, around=around)
        for fact in (facts.evaluation, facts.grader):
            assert fact is None or fact in everything
    assert all(around.text[one.start : one.stop] == one.quote for one in awareness.notes)


def _texts(around: PassageContext) -> list[str]:
    titles = [one.title for one in around.outline.headings]
    return [
        *titles,
        *(one.words for one in around.passages),
        *(one.caption for one in around.passages if one.caption),
        *_cells(around.passages),
    ]


def _cells(passages: tuple[Passage, ...]) -> list[str]:
    return [text for one in passages for cell in one.cells for text in (cell.text, cell.column or "")]
