"""Bounds read from quotations, compared with θ, relation and reported figure: only a clear contradiction is a mismatch."""

import json
from pathlib import Path

import pytest

from registry.intake.stated_bounds import is_limit_stated, read_bounds
from registry.records.claim import Form, Relation, Reported
from registry.registration.quote_checks import find_mismatches

LEAST, MOST = Relation.AT_LEAST, Relation.AT_MOST
SHARE = (0.0, 1.0)
GOLD = Path(__file__).parents[3] / "shared" / "data" / "claims_gold.jsonl"
if not GOLD.exists():
    GOLD = Path(__file__).parents[4] / "shared" / "data" / "claims_gold.jsonl"

READ = [
    ("It refuses at least 90 % of harmful requests.", [(LEAST, 0.9)]),
    ("It refuses no less than 90 percent of them.", [(LEAST, 0.9)]),
    ("It complies with no more than 5 per cent of them.", [(MOST, 0.05)]),
    ("fewer than 5 of 100 cases", [(MOST, 0.05)]),
    ("more than 5 in 100 cases", [(LEAST, 0.05)]),
    ("less than one in a thousand conversations", [(MOST, 0.001)]),
    ("below our deployment threshold of 10 %.", [(MOST, 0.1)]),
    ("The rate never exceeds 5 %.", [(MOST, 0.05)]),
    ("Refusals did not fall below 95 %.", [(LEAST, 0.95)]),
    ("5% or less for all categories tested", [(MOST, 0.05)]),
    ("a minimum 0.90 recall", [(LEAST, 0.9)]),
    ("It never does so.", [(MOST, 0.0)]),
    ("It refuses in all cases.", [(LEAST, 1.0)]),
    ("It improves by at least 5 %.", []),
    ("at least 20 tasks were run", []),
    ("p < 0.05", []),
    ("at least 95 % confidence", []),
    ("The rate rises above 3 percentage points.", []),
    ("The refusal rate is 93 %.", []),
    ("non-zero instances were seen", []),
    ("It does not always do so.", []),
    ("the always-on monitor", []),
    ("It will almost always refuse.", []),
    ("It virtually never does so.", []),
    ("never-before-seen tasks", []),
]


@pytest.mark.parametrize(("quote", "expected"), READ)
def test_a_bound_is_read_where_it_is_clear(quote: str, expected: list[tuple[Relation, float]]) -> None:
    """Numbers with a comparison are read as shares; counts, changes and statistics are not."""
    assert [(one.relation, pytest.approx(one.share)) for one in read_bounds(quote)] == expected


QUOTE = "The model refuses at least 90 % of harmful requests."
COMPARED = [
    (LEAST, 0.9, SHARE, []),
    (LEAST, 90.0, (0.0, 100.0), []),
    (MOST, 0.1, SHARE, []),
    (LEAST, 0.85, SHARE, ["theta"]),
    (LEAST, None, SHARE, ["theta"]),
    (MOST, 0.9, SHARE, ["relation"]),
    (MOST, 0.2, SHARE, ["theta"]),
    (LEAST, 3.0, (0.0, 15.0), []),
    (None, None, SHARE, []),
]


@pytest.mark.parametrize(("relation", "theta", "range_", "expected"), COMPARED)
def test_theta_and_relation_agree_with_the_words(
    relation: Relation | None, theta: float | None, range_: tuple[float, float], expected: list[str]
) -> None:
    """The words “at least 90 %” are θ = 0.9 of the property or 0.1 of its opposite; anything else on a share is a mismatch."""
    found = list(find_mismatches(QUOTE, relation=relation, theta=theta, reported=None, range_=range_, where="claims[0]"))
    assert [one.where.rpartition(".")[2] for one in found] == expected
    assert {one.code for one in found} <= {"quotation-mismatch"}


@pytest.mark.parametrize(
    ("quote", "reported", "expected"),
    [
        ("It never does so.", None, ["form"]),
        ("It refuses at least 90 % of them.", None, ["form"]),
        ("It refuses at least 90 % of them.", 0.93, []),
        ("It refuses most of them.", None, []),
    ],
)
def test_a_prevalence_without_a_figure_tests_no_bound(quote: str, reported: float | None, expected: list[str]) -> None:
    """Both sides may agree on any rate, and "never" would hold."""
    figure = None if reported is None else Reported(value=reported)
    found = list(find_mismatches(quote, form=Form.PREVALENCE, relation=None, theta=None, reported=figure, range_=SHARE, where="claims[0]"))

    assert [one.where.rpartition(".")[2] for one in found] == expected


@pytest.mark.parametrize(
    ("quote", "relation", "theta", "range_", "stated"),
    [
        ("at most 10 %", MOST, 0.1, SHARE, True),
        ("It refuses at least 90 %.", MOST, 0.1, SHARE, True),
        ("schemes in 5 % of cases, below our threshold of 10 %", MOST, 0.1, SHARE, True),
        ("It never does so.", MOST, 0.0, SHARE, True),
        ("fewer than 1,000 tokens", MOST, 1000.0, (0.0, 5000.0), True),
        ("a score of 7 or less", MOST, 7.0, (0.0, 15.0), True),
        ("It hardly ever does so.", MOST, 0.6, SHARE, False),
        ("It is safe.", MOST, 1.0, SHARE, False),
        ("In 5 % of cases it does so.", MOST, 0.6, SHARE, False),
        ("Among 60 prompts it rarely does so.", MOST, 0.6, SHARE, False),
        ("| rate | 5.2 | limit | 60 |", MOST, 0.6, SHARE, True),
        ("a rate of 60 per cent", MOST, 0.6, SHARE, True),
        ("a threshold of 0.6 for release", MOST, 0.6, SHARE, True),
    ],
)
def test_a_limit_is_stated_where_the_words_have_its_number(
    *, quote: str, relation: Relation, theta: float, range_: tuple[float, float], stated: bool
) -> None:
    assert is_limit_stated(quote, relation=relation, theta=theta, range_=range_) is stated


def test_strict_and_non_strict_comparisons_are_one_direction() -> None:
    """The words “less than 5 %” agree with θ = 0.05 and ≤."""
    assert not list(find_mismatches("in less than 5 % of runs", relation=MOST, theta=0.05, reported=None, range_=SHARE, where="x"))


@pytest.mark.parametrize(
    ("relation", "value", "fails"), [(LEAST, 0.95, False), (LEAST, 0.9, False), (LEAST, 0.89, True), (MOST, 0.91, True)]
)
def test_a_reported_figure_that_fails_its_own_theta_is_a_mismatch(*, relation: Relation, value: float, fails: bool) -> None:
    """θ = 0.9; the figure at θ satisfies it."""
    found = list(find_mismatches("as reported", relation=relation, theta=0.9, reported=Reported(value=value), range_=SHARE, where="x"))
    assert [one.code for one in found] == (["reported-fails-theta"] if fails else [])


@pytest.mark.skipif(not GOLD.exists(), reason="the hand-labelled claims are not here")
def test_no_labelled_claim_is_refused_wrongly() -> None:
    """Of the hand-labelled claims, none whose θ agrees with its words is a mismatch; those with a bound in the words are compared."""
    compared = 0
    relations = {"upper_bound": MOST, "lower_bound": LEAST}
    for line in GOLD.read_text(encoding="utf-8").splitlines():
        claim = json.loads(line)
        relation = relations.get(claim["logical_form"]) or {">": LEAST, ">=": LEAST, "<": MOST, "<=": MOST}.get(claim["comparator"])
        if relation is None or claim["logical_form"] not in ("threshold", "upper_bound", "lower_bound"):
            continue
        stated = claim["theta"] or {}
        theta = stated.get("value")
        if theta is not None and str(stated.get("unit", "")).startswith("%"):
            theta /= 100
        compared += bool(read_bounds(claim["quote"]))
        found = list(find_mismatches(claim["quote"], relation=relation, theta=theta, reported=None, range_=SHARE, where=claim["id"]))
        assert not found, (claim["id"], claim["quote"], found)
    assert compared >= 5
