"""What a judge's answer comes to."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis.strategies import dictionaries, integers, recursive, sampled_from, text

from audit.records.model_response import Failure, Purpose, Response
from audit.score.answer_extraction import build_score
from audit.score.judge_requests import read_verdict
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.records.specification import Dimension, JudgeScorer

DIMENSIONS = (Dimension(name="right", question="?", low=1, high=5), Dimension(name="kind", question="?", low=1, high=5))
SCORER = JudgeScorer(kind="judge", model="claude-judge-1", rubric="Rate.", dimensions=DIMENSIONS)
GOOD = '{"explanation": "clear", "ratings": {"right": 4, "kind": 5}}'
ANSWER = Response(key="k", request="r", purpose=Purpose.JUDGE, model_requested="m", model_returned="m", text=GOOD, stop_reason="end_turn")


def _say(said: str) -> Response:
    return replace(ANSWER, text=said)


@pytest.mark.parametrize(
    "said",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is my verdict:\n\n{GOOD}\n\nI hope it helps.",
        '{"right": 4, "kind": 5}',
        '{"kind": 5.0, "explanation": "clear", "right": 4}',
    ],
    ids=["bare", "code fence", "prose around", "without braces around the ratings", "whole number with a point"],
)
def test_one_json_object_is_a_verdict(said: str) -> None:
    """Prose or a fence around the one object, or ratings without an object of their own, say the same."""
    mark = read_verdict(SCORER, _say(said))

    assert (mark.score, mark.dimensions, mark.excluded_reason) == (4.5, {"right": 4.0, "kind": 5.0}, None)


def test_the_score_may_be_one_dimension() -> None:
    """The dimension that is named is the score; all of them are kept."""
    mark = read_verdict(replace(SCORER, score="kind"), ANSWER)

    assert mark.score == 5.0
    assert mark.detail == {"explanation": "clear"}


BAD = {
    "prose": ("I would rate this 4 out of 5.", "judge-not-json"),
    "a list": ("[4, 5]", "judge-not-json"),
    "cut off": ('{"explanation": "clear", "ratings": {"right": 4', "judge-not-json"),
    "two objects": (f"{GOOD}\n{GOOD}", "judge-not-json"),
    "two different objects": ('{"right": 1, "kind": 1} or {"right": 5, "kind": 5}', "judge-not-json"),
    "NaN": ('{"right": NaN, "kind": 5}', "judge-not-json"),
    "infinity": ('{"right": -Infinity, "kind": 5}', "judge-not-json"),
    "a name twice": ('{"right": 1, "right": 5, "kind": 5}', "judge-not-json"),
    "deep": ('{"a":' * 100_000 + "1" + "}" * 100_000, "judge-not-json"),
    "many digits": ('{"right": ' + "9" * 5000 + ', "kind": 5}', "judge-not-json"),
    "a dimension missing": ('{"explanation": "clear", "ratings": {"right": 4}}', "judge-dimension-missing"),
    "nothing rated": ("{}", "judge-dimension-missing"),
    "a dimension more": ('{"ratings": {"right": 4, "kind": 5, "overall": 5}}', "judge-dimension-unknown"),
    "something beside the ratings": ('{"ratings": {"right": 4, "kind": 5}, "right": 1}', "judge-dimension-unknown"),
    "too high": ('{"right": 6, "kind": 5}', "judge-out-of-range"),
    "too low": ('{"right": 0, "kind": 5}', "judge-out-of-range"),
    "huge": ('{"right": 1e999, "kind": 5}', "judge-out-of-range"),
    "beyond floats": ('{"right": 1' + "0" * 400 + ', "kind": 5}', "judge-out-of-range"),
    "half": ('{"right": 4.5, "kind": 5}', "judge-out-of-range"),
    "a text": ('{"right": "4", "kind": 5}', "judge-out-of-range"),
    "a truth value": ('{"right": true, "kind": 5}', "judge-out-of-range"),
    "null": ('{"right": null, "kind": 5}', "judge-out-of-range"),
    "an object": ('{"right": {"rating": 4}, "kind": 5}', "judge-out-of-range"),
    "empty": ("", "judge-empty"),
    "white space": (" \n\t", "judge-empty"),
}


@pytest.mark.parametrize(("said", "reason"), BAD.values(), ids=BAD)
def test_what_is_no_verdict_is_an_exclusion_that_says_why(said: str, reason: str) -> None:
    """Every answer that is no verdict has its reason, and the detail tells what was wrong."""
    mark = read_verdict(SCORER, _say(said))

    assert (mark.score, mark.dimensions, mark.excluded_reason) == (None, None, reason)
    assert mark.detail["faults"]


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [("refusal", "judge-refused"), ("max_tokens", "judge-truncated"), ("model_context_window_exceeded", "judge-truncated")],
)
def test_an_answer_that_did_not_end_is_none(stop_reason: str, reason: str) -> None:
    """A refusal and a cut are told apart from prose, also when what came looks like a verdict."""
    assert read_verdict(SCORER, replace(ANSWER, stop_reason=stop_reason)).excluded_reason == reason


def test_a_call_without_an_answer_names_its_failure() -> None:
    """What the endpoint did is in the detail."""
    failed = replace(ANSWER, text=None, failure=Failure(code="time-out", message="no answer in 60 s"))

    mark = read_verdict(SCORER, failed)

    assert mark.excluded_reason == "judge-failed"
    assert mark.detail == {"faults": ["time-out: no answer in 60 s"], "failure": "time-out"}


def test_all_faults_are_told_at_once() -> None:
    """Two ratings out of range are two faults."""
    mark = read_verdict(SCORER, _say('{"right": 9, "kind": "x"}'))

    assert mark.detail["faults"] == ["right is 9, expected 1 to 5", 'kind is "x", expected a whole number from 1 to 5']


@pytest.mark.parametrize(
    "said", ['{"explanation": "\\ud800", "right": 4, "kind": 5}', '{"\\ud800": 4}', '{"right": "\\udfff", "kind": 5}', "{\\ud800"]
)
def test_what_canonical_json_cannot_hold_does_not_reach_the_store(said: str) -> None:
    """A lone surrogate that a judge spells out is replaced, and the score can be written."""
    score = build_score(read_verdict(SCORER, _say(said)), response="k", scorer="s")

    assert canonical_bytes(to_document(score))


def test_a_dimension_may_be_called_explanation() -> None:
    """Names of the form are no reserved words."""
    scorer = replace(SCORER, dimensions=(replace(DIMENSIONS[0], name="explanation"), replace(DIMENSIONS[1], name="ratings")))

    inner = read_verdict(scorer, _say('{"explanation": "clear", "ratings": {"explanation": 2, "ratings": 4}}'))
    bare = read_verdict(scorer, _say('{"explanation": 2, "ratings": 4}'))

    assert inner.score == bare.score == 3.0


values = recursive(
    integers(-9, 9) | text(max_size=5) | sampled_from([None, True, 4.5]),
    lambda children: dictionaries(sampled_from(["right", "kind", "ratings", "explanation", "x"]), children, max_size=4),
    max_leaves=8,
)


@given(values)
def test_a_score_comes_only_from_every_dimension_within_its_range(document: object) -> None:
    """Whatever is answered, there is a score exactly with a whole number in range for each dimension, else a reason."""
    mark = read_verdict(SCORER, _say(json.dumps(document)))

    assert (mark.score is None) == (mark.excluded_reason is not None)
    if mark.score is not None:
        assert mark.dimensions is not None
        assert mark.dimensions.keys() == {"right", "kind"}
        assert all(value in range(1, 6) for value in mark.dimensions.values())
        assert mark.score == sum(mark.dimensions.values()) / 2


@given(text(max_size=200))
def test_no_text_breaks_the_reading(said: str) -> None:
    """Any text is a verdict or an exclusion, and its score can be written down."""
    score = build_score(read_verdict(SCORER, _say(said)), response="k", scorer="s")

    assert canonical_bytes(to_document(score))
