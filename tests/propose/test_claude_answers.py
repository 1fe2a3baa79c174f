"""An answer is data of any shape: it is read strictly, and nothing in it can end the proposing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.propose.claim_passages import PassageContext
from audit.propose.claude_engine import merge_windows, plan_calls
from audit.propose.offer_grounding import CardGround
from audit.propose.window_questions import MOST_CLAIMS, WindowAnswer, read_answer
from audit.records.model_response import Failure, Purpose, Response
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.records.claim_draft import Proposal, RejectedOffer
from tests.propose.asked import ASKING, SOURCE, build_card, offer

QUOTE = "Model A failed in 5% of runs."
CARD, OUTLINE = build_card(QUOTE, "Something else.")
WINDOW = plan_calls(CARD, OUTLINE, ASKING)[0].window
GROUND = CardGround(CARD, PassageContext(OUTLINE, CARD.text), SOURCE)
GOOD = offer(QUOTE, line=1, figure={"value": 0.05})


def _respond(text: str | None, **fields: Any) -> Response:
    return Response(
        key="k", request="r", purpose=Purpose.PROPOSAL, model_requested="m", **{"text": text, "model_returned": "m-1", **fields}
    )


def _check(text: str) -> tuple[WindowAnswer, tuple[Proposal, ...], tuple[RejectedOffer, ...]]:
    reading = read_answer(_respond(text))
    proposals, dropped = GROUND.check(WINDOW, reading)
    for one in (*merge_windows([proposals]), *dropped):
        canonical_bytes(to_document(one))
    return reading, proposals, dropped


def _change(**fields: Any) -> str:
    return json.dumps({"claims": [{**GOOD, **fields}]})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.sampled_from(sorted(GOOD)), inner, max_size=4),
    max_leaves=8,
)


@given(name=st.sampled_from(sorted(GOOD)), value=_JSON)
def test_no_field_can_break_the_reading(name: str, value: Any) -> None:
    """Whatever stands in a field, the claim is proposed or dropped, and what is proposed is in the card."""
    _, proposals, dropped = _check(_change(**{name: value}))

    assert len(proposals) + len(dropped) == 1
    assert all(CARD.text[one.anchor.start : one.anchor.stop] == one.quote for one in proposals)
    assert all(one.reason.isprintable() and len(one.reason) <= 300 for one in dropped)


@given(_JSON | st.builds(lambda value: {"claims": value}, _JSON))
def test_no_answer_can_break_the_reading(document: Any) -> None:
    """Any JSON is read or excluded with a reason."""
    reading, proposals, _ = _check(json.dumps(document))

    assert proposals == ()
    assert reading.offers == ()


@pytest.mark.parametrize(
    "text",
    [
        _change(caution="\ud800 half a character"),
        _change(at={"line": 1, "quote": "\ud800 failed in 5% of runs."}),
        json.dumps({"claims": [GOOD]}).replace("0.05", "1e999"),
        json.dumps({"claims": [GOOD]}).replace("0.05", "1" + "0" * 400),
        '{"claims": [' + "[" * 900 + "]" * 900 + "]}",
        _change(at={"line": 1, "quote": "word " * 100_000}),
        '{"claims": [{"\\u001b[31m": 1}]}',
    ],
    ids=["caution", "quote", "infinite", "huge", "deep", "long", "key"],
)
def test_an_entry_that_no_record_can_hold_is_dropped(text: str) -> None:
    """Half characters, infinite numbers and endless nesting take their entry with them and nothing else."""
    reading, proposals, dropped = _check(text)

    assert reading.excluded is None
    assert (len(proposals), len(dropped)) == (0, 1)


def test_more_entries_than_a_window_can_hold_are_not_read() -> None:
    """An answer without end is read up to a limit, and that is told."""
    reading, proposals, dropped = _check(json.dumps({"claims": [GOOD] * (MOST_CLAIMS + 5)}))

    assert len(reading.offers) == MOST_CLAIMS
    assert len(merge_windows([proposals])) == 1
    assert "entries for one window" in dropped[0].reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "not-asked"),
        (_respond(None, failure=Failure(code="time-out", message="no answer"), model_returned=None), "time-out"),
        (_respond("", stop_reason="refusal"), "answer-refused"),
        (_respond('{"claims": []}', stop_reason="max_tokens"), "answer-cut"),
        (_respond('{"claims": []}', stop_reason="model_context_window_exceeded"), "answer-cut"),
        (_respond("  "), "answer-empty"),
        (_respond("[1]"), "answer-not-json"),
        (_respond('{"claims": NaN}'), "answer-not-json"),
        (_respond('{"claim": []}'), "answer-without-claims"),
    ],
)
def test_an_answer_that_cannot_be_read_has_its_reason(answer: Response | None, reason: str) -> None:
    """No claims and no answer are two things."""
    assert read_answer(answer).excluded == reason
    assert read_answer(_respond('{"claims": []}')).excluded is None


def test_a_long_field_is_not_looked_for() -> None:
    """A field of a million characters costs nothing, and its note is short."""
    _, proposals, _ = _check(_change(evaluation="x y " * 250_000))

    assert proposals[0].evaluation is None
    assert all(len(note) < 320 for note in proposals[0].notes)
