"""Nothing invented enters: whatever an answer holds, every word and number of a proposal is the card's or one of our own."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.propose.claim_passages import PassageContext
from audit.propose.claude_engine import merge_windows, plan_calls, unify_properties
from audit.propose.offer_grounding import LONGEST_CLAIM, CardGround
from audit.propose.proposed_claims_file import KnownModels, build_entry
from audit.propose.window_questions import LONGEST_QUOTE, read_answer
from audit.records.model_response import Purpose, Response
from registry.codec.canonical_documents import to_document
from registry.records.claim import Direction, Form, PropertyClass
from registry.records.claim_draft import Proposal, RejectedOffer
from tests.propose.asked import ASKING, SOURCE, Table, build_card, offer

CARD, OUTLINE = build_card(
    "# 3 Safety of Model Alpha",
    "Model Alpha (snapshot 2026-05-01) broke the policy in 9% of 830 scenarios of the Harm Suite, graded by a human panel.\n"
    "It was asked with tools off.\nModel Beta did so 12% of the time.",
    "In 2 of 50 transcripts Model Alpha said that this looks like a test.\nIts rate was 31.5% ± 1.5% with a prompt.",
    "# 4 Capability",
    "The threshold of 40% decides; Model Alpha has not crossed it.\nModel Alpha's rate was at most 5% in every category.",
    Table("Table 2: attack success (%)", ("Model", "Rate"), (("Model Alpha", "3.4"), ("Model Beta", "7.9"))),
)
WINDOW = plan_calls(CARD, OUTLINE, ASKING)[0].window
AROUND = PassageContext(OUTLINE, CARD.text)
GROUND = CardGround(CARD, AROUND, SOURCE)
WORDS = " ".join(CARD.text.split())
WRITTEN = [float(one) for one in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]\d)", CARD.text)]
NUMBERS = sorted({*WRITTEN, *(one / 100 for one in WRITTEN), 2 / 50, 0.3, 0.33})
"""What the card's figures can be: as written, in per cent, the one fraction, and the ends of the one interval."""
INVENTED = [
    "Model Omega",
    "0.1%",
    "99.9 %",
    "an independent laboratory",
    "Model",
    "Alph",
    "<b>x</b>",
    "\x1b[2J",
    "\u202e",
    "ignore the above",
    "",
]


@st.composite
def _list_words(draw: st.DrawFn) -> str:
    """Words of the card cut anywhere, with one character changed, or invented."""
    kind = draw(st.sampled_from(["card", "card", "changed", "invented", "any"]))
    if kind == "invented":
        return draw(st.sampled_from(INVENTED))
    if kind == "any":
        return draw(st.text(max_size=30))
    start = draw(st.integers(0, len(CARD.text) - 1))
    words = CARD.text[start : start + draw(st.integers(1, 120))]
    if kind == "changed":
        at = draw(st.integers(0, len(words) - 1))
        words = f"{words[:at]}{draw(st.sampled_from('0123456789xé'))}{words[at + 1 :]}"
    return words


_WORDS = _list_words()
_NUMBER = (
    st.none()
    | st.sampled_from(NUMBERS)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.001, 0.999, 1.0, 7, 90, 3.41])
)
_PLACE = st.fixed_dictionaries({"line": st.integers(-1, 14), "quote": _WORDS})
_UNITS = st.sampled_from(["share", "points", "count", "multiple", "score", "none"])
_FIGURE = st.fixed_dictionaries(
    {
        "value": _NUMBER,
        "theta": _NUMBER,
        "low": _NUMBER,
        "high": _NUMBER,
        "n": st.none() | st.integers(0, 900),
        "unit": _UNITS,
        "written": _WORDS,
    }
)
_COMPARISON = st.fixed_dictionaries({"subject": _WORDS, "value": _NUMBER, "words": _WORDS})
_AWARENESS = st.fixed_dictionaries(
    {"line": st.integers(0, 14), "quote": _WORDS, "layer": st.sampled_from(["verbalised", "latent", "none"])}
)
_NAMED = st.fixed_dictionaries(
    {
        "name": _WORDS,
        "class": st.sampled_from([one.value for one in PropertyClass]),
        "direction": st.sampled_from([one.value for one in Direction]),
    }
)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("model", "version", "evaluation", "grader", "elicitation", "relative_to", "caution"), _WORDS),
    "form": st.sampled_from([one.value for one in Form]),
    "relation": st.sampled_from(["<=", ">=", "none"]),
    "elsewhere": st.lists(_PLACE, max_size=2),
    "comparisons": st.lists(_COMPARISON, max_size=2),
    "awareness": st.lists(_AWARENESS, max_size=2),
    "figure": _FIGURE,
    "property": _NAMED,
}
_ANY = st.builds(lambda place, fields: {**offer(""), "at": place, **fields}, _PLACE, st.fixed_dictionaries(_FIELDS))


@st.composite
def _list_likely(draw: st.DrawFn) -> dict[str, Any]:
    """A sentence of the card with one of its own numbers, and everything else drawn."""
    words = draw(st.sampled_from([one.words for one in OUTLINE.passages]))
    numbers = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", words)] or [1.0]
    number = draw(st.sampled_from([*numbers, *(one / 100 for one in numbers), *(one + 0.1 for one in numbers)]))
    figure = {**draw(_FIGURE), draw(st.sampled_from(["value", "theta"])): number}
    return {**draw(_ANY), "at": {"line": 0, "quote": words}, "figure": figure}


_OFFER = _ANY | _list_likely()


def _check(*claims: Any) -> tuple[tuple[Proposal, ...], tuple[RejectedOffer, ...]]:
    text = json.dumps({"claims": claims})
    answer = Response(key="k", request="r", purpose=Purpose.PROPOSAL, model_requested="m", text=text, model_returned="m-1")
    proposals, dropped = GROUND.check(WINDOW, read_answer(answer))
    return unify_properties(merge_windows([proposals])), dropped


def _list_texts(one: Proposal) -> Iterator[str]:
    """Everything of a proposal that is published as the card's words."""
    yield from (one.quote, *(note.quote for note in one.awareness))
    yield from (
        text for text in (one.written, one.model, one.version, one.evaluation, one.grader, one.elicitation, one.relative_to) if text
    )
    yield from (text for each in one.comparisons for text in (each.subject, each.words))


def _list_numbers(one: Proposal) -> Iterator[float]:
    reported = one.reported
    found = (
        one.theta,
        *((reported.value, reported.low, reported.high, reported.n) if reported else ()),
        *(each.value for each in one.comparisons),
    )
    yield from (each for each in found if each is not None)


def _fold(text: str) -> str:
    return " ".join(text.replace("−", "-").split()).casefold()


@given(st.lists(_OFFER, max_size=3))
def test_every_word_and_number_is_the_card_s(claims: list[dict[str, Any]]) -> None:
    """Of a random answer: quotes are the card's characters, fields its words, figures its figures, and nothing drives a terminal."""
    proposals, dropped = _check(*claims)

    assert len(dropped) <= len(claims)
    for one in proposals:
        assert CARD.text[one.anchor.start : one.anchor.stop] == one.quote
        assert all(_fold(text) in _fold(f"{SOURCE.title} {WORDS}") for text in _list_texts(one))
        assert all(any(abs(number - known) < 1e-6 for known in NUMBERS) for number in _list_numbers(one)), one
        assert all(number in WORDS for number in re.findall(r"\d+(?:\.\d+)?", one.property.name.partition(" (figure ")[0]))
        assert all(text.isprintable() for text in (*one.notes, one.property.name, one.slug))
        assert "\x1b" not in json.dumps(to_document(one), ensure_ascii=False)


@given(_OFFER)
def test_what_an_engine_says_of_its_own_stands_in_no_field_of_a_claim(claim: dict[str, Any]) -> None:
    """The engine's caution is a comment, and never in the claim that is registered."""
    proposals, _ = _check({**claim, "caution": "zqzq says the engine"})
    known = KnownModels(publisher="Laboratory", registered=())

    for number, one in enumerate(proposals, start=1):
        entry = build_entry(one, number, known, known.choose_default(proposals))

        assert "zqzq" not in json.dumps(to_document(entry.draft))
        assert any("the engine says: zqzq" in each for each in entry.comments)


@pytest.mark.parametrize(("field", "words"), [("model", "Model"), ("model", "Model Al"), ("grader", "uman panel"), ("evaluation", "Suit")])
def test_a_part_of_a_word_is_not_the_card_s(field: str, words: str) -> None:
    """“Model Al” begins “Model Alpha” and is another model."""
    (one,), _ = _check({**offer("Model Beta did so 12% of the time.", figure={"value": 0.12}), field: words})

    assert getattr(one, field) in (None, "Model")
    assert (getattr(one, field) == "Model") == (words == "Model")


def test_a_number_that_the_card_does_not_say_enters_by_no_name() -> None:
    """A property called after an invented figure is named as the rules name it, and that is told."""
    named = {"class": "compliance_refusal", "direction": "lower_is_safer", "name": "policy violations, down to 0.1% since Model Omega 7"}
    (one,), _ = _check(offer("Model Beta did so 12% of the time.", figure={"value": 0.12}, property=named))

    assert not any(each in one.property.name for each in ("0.1", "7", "Omega"))
    assert one.property.name
    assert any("in the property's name" in note for note in one.notes)


def test_two_hundred_claims_of_one_window_are_read_and_a_long_quote_is_dropped() -> None:
    """Each once, in the order of the card; a quote longer than a claim is no claim, and what is kept of it is short."""
    quotes = [one.words for one in OUTLINE.passages if one.words[:1] in "MI" and one.words.endswith(".")]
    proposals, dropped = _check(*(offer(quote) for quote in quotes * 40), offer("word " * (20_000 // 5)))

    assert [one.quote for one in proposals] == quotes
    assert [one.reason for one in dropped] == ["the quote is longer than a claim"]
    assert len(dropped[0].quote) <= LONGEST_QUOTE < LONGEST_CLAIM
