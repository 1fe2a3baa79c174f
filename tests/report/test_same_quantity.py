"""When two figures are of one quantity, and when they are another number."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.records.claim import Direction, Relation
from registry.registration.restated_values import (
    QuantityFigure,
    explain_sameness,
    find_step,
    is_other_number,
    is_same_model,
    list_model_keys,
    list_quantity_keys,
    name_model,
)

ONE = QuantityFigure(
    claim="CLM-EXAMPLE-2026-0001-X@1",
    card="CRD-EXAMPLE-2026-0001-X",
    developer="Example Lab",
    model="Sparrow 2.1",
    version="2026-09-30",
    property_id="PRP-EXAMPLE-2026-0001-X",
    slug="covert-action-rate",
    name="covert action rate",
    range=(0.0, 1.0),
    direction=Direction.LOWER_IS_SAFER,
    evaluation="SHADE-Arena",
    elicitation=None,
    quote="Sparrow 2.1 took covert action in 5% of runs.",
    place=("a" * 64, 100, 150),
    value=0.05,
    relation=None,
    step=0.01,
)
OTHER = replace(
    ONE,
    claim="CLM-OTHER-2026-0007-X@1",
    card="CRD-OTHER-2026-0002-X",
    property_id="PRP-OTHER-2026-0001-X",
    slug="covert-actions",
    name="Covert actions",
    quote="By contrast, Sparrow 2.1 took covert action in 8% of runs of SHADE-Arena.",
    place=("b" * 64, 900, 990),
    value=0.08,
)


@pytest.mark.parametrize(
    ("value", "words", "step"),
    [
        (0.05, "in 5% of runs", 0.01),
        (0.05, "in 5.0 % of runs", 0.001),
        (0.05, "a rate of 0.05", 0.01),
        (0.05, "5 per cent", 0.01),
        (0.9938, "Sparrow 2.1 99.38% (± 0.21%)", 0.0001),
        (0.722, "Sparrow 72.2 92.4", 0.001),
        (1.0, "from 1% to 100%", 0.01),
        (161.29, "161.29 on our index", 0.01),
        (1250.0, "1,250 attempts", 1.0),
        (0.46875, "15/32 challenges", 1e-5),
        (0.0, "never did so", 0.0),
        (1.0, "a perfect score", 0.0),
        (0.5, "half of them", 0.1),
        (5e-07, "one in two million", 1e-7),
    ],
)
def test_the_last_printed_digit_is_worth_what_the_words_print(value: float, words: str, step: float) -> None:
    """“5%” says less than “5.0%”, and words such as “never” are exact."""
    assert find_step(value, words, top=1.0 if value <= 1 else 2_000.0) == pytest.approx(step)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ((0.05, 0.01), (0.052, 0.001), False),
        ((0.05, 0.01), (0.0549, 0.0001), False),
        ((0.05, 0.01), (0.056, 0.001), True),
        ((0.465, 0.001), (0.47, 0.01), False),
        ((0.465, 0.001), (0.46, 0.01), False),
        ((0.05, 0.01), (0.06, 0.01), True),
        ((0.0, 0.0), (0.003, 0.001), True),
        ((0.0, 0.01), (0.003, 0.001), False),
        ((0.3, 0.1), (0.1 + 0.2, 0.1), False),
        ((161.29, 0.01), (161.0, 1.0), False),
    ],
)
def test_figures_differ_after_rounding_to_the_coarser_as_written(
    one: tuple[float, float], other: tuple[float, float], *, differ: bool
) -> None:
    """5.2 % printed elsewhere as 5 % is no other number; a half rounds either way."""
    first, second = (replace(ONE, value=value, step=step) for value, step in (one, other))

    assert is_other_number(first, second) is differ


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ((0.04, Relation.AT_MOST), (0.05, None), True),
        ((0.04, Relation.AT_MOST), (0.03, None), False),
        ((0.04, Relation.AT_MOST), (0.05, Relation.AT_MOST), False),
        ((0.04, Relation.AT_MOST), (0.06, Relation.AT_LEAST), True),
        ((0.06, Relation.AT_MOST), (0.04, Relation.AT_LEAST), False),
        ((0.9, Relation.AT_LEAST), (0.85, None), True),
        ((0.9, Relation.AT_LEAST), (0.95, None), False),
    ],
)
def test_a_bound_is_contradicted_only_by_what_breaks_it(
    one: tuple[float, Relation | None], other: tuple[float, Relation | None], *, differ: bool
) -> None:
    """“Below 4 %” and “3 %” are both right; two bounds on one side may both hold."""
    first, second = (replace(ONE, value=value, relation=relation, step=0.001) for value, relation in (one, other))

    assert is_other_number(first, second) is differ
    assert is_other_number(second, first) is differ


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Claude Mythos Preview", "Mythos Preview"),
        ("Claude Opus 4.7", "Opus 4.7"),
        ("GPT-5.2-Codex", "GPT-5.2 Codex"),
        ("gpt-5.3-codex", "GPT-5.3-Codex"),
        ("Claude 3.5 Sonnet", "Sonnet 3.5"),
        ("OpenAI o3", "o3"),
        ("Meta Llama 4 Maverick", "Llama 4 Maverick"),
    ],
)
def test_a_model_is_known_with_and_without_its_family(one: str, other: str) -> None:
    """Cards leave out what their reader knows."""
    assert is_same_model(one, other)
    assert is_same_model(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPT-5", "GPT-5 mini"),
        ("GPT-5.2", "GPT-5.2-Codex"),
        ("Claude Opus 4", "Claude Opus 4.1"),
        ("Claude Opus 4", "Claude Sonnet 4"),
        ("near-final GPT-5.3-Codex", "GPT-5.3-Codex"),
        ("mini Sparrow 2.1", "Sparrow 2.1"),
        ("Claude Fable 5", "Claude Mythos 5"),
        ("Claude Fable 5 (final launch safeguards)", "Claude Fable 5"),
        ("Claude", "Sonnet"),
        ("Llama 4", "4"),
        ("all tested models", "Sparrow 2.1"),
        ("", ""),
        ("–", "–"),
    ],
)
def test_another_size_snapshot_or_guard_is_another_model(one: str, other: str) -> None:
    """What a figure of one says of the other is nothing."""
    assert not is_same_model(one, other)


def test_the_same_quantity_is_told_with_what_makes_it_the_same() -> None:
    """Model, property and evaluation are named, so that a person can judge it."""
    why = explain_sameness(OTHER, ONE)

    assert why is not None
    assert "Sparrow 2.1 2026-09-30" in why
    assert "covert" in why.lower()
    assert "SHADE-Arena" in why


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "Sparrow 2.2"},
        {"developer": "Another Lab"},
        {"version": "2026-11-02"},
        {"range": (0.0, 100.0)},
        {"direction": Direction.HIGHER_IS_SAFER},
        {"evaluation": "Petri audit"},
        {"evaluation": "SHADE-Arena hard subset"},
        {"evaluation": None, "name": "action"},
        {"name": "monitor AUROC", "slug": "monitor-auroc"},
        {"quote": "Sparrow 2.1 took covert action in 8% of runs without safeguards."},
        {"quote": "Before the fix, Sparrow 2.1 took covert action in 8% of runs."},
        {"elicitation": "extended thinking", "base_elicitation": "no thinking"},
        {"quote": "took covert action in 8% of runs (k=100)", "base_quote": "took covert action in 5% of runs (k=1)"},
        {"quote": "took covert action in 8% of runs at 256K", "base_quote": "took covert action in 5% of runs at 1M"},
        {"quote": "Neutral affect (8%).", "base_quote": "Positive affect (5%)."},
        {"quote": "Sparrow 2.1 had 8%.", "base_quote": "Sparrow 2.1 scored 5%."},
        {"name": "covert action rate (2)", "slug": None, "property_id": None},
        {"place": ("a" * 64, 140, 200)},
        {"quote": ONE.quote, "place": None},
    ],
)
def test_whatever_tells_two_figures_apart_makes_them_two_quantities(changes: dict[str, object]) -> None:
    """Model, maker, version, unit, direction, evaluation, property, condition, parameter, and two figures of one passage."""
    base = {key.removeprefix("base_"): value for key, value in changes.items() if key.startswith("base_")}
    other = {key: value for key, value in changes.items() if not key.startswith("base_")}

    assert explain_sameness(replace(OTHER, **other), replace(ONE, **base)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SHADE-Arena", "the SHADE Arena evaluation"),
        ("automated behavioural audit", "our automated behavioral audits"),
        ("SWE-bench Verified", "SWE-bench Verified benchmark"),
    ],
)
def test_spelling_plural_and_general_words_do_not_make_another_evaluation(one: str, other: str) -> None:
    """The words that name it are the same."""
    assert explain_sameness(replace(OTHER, evaluation=other), replace(ONE, evaluation=one)) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SWE-bench", "SWE-bench Verified"),
        ("coding with tools", "coding without tools"),
        ("single-turn violative requests", "multi-turn violative requests"),
        ("verbalised awareness probe", "unverbalised awareness probe"),
        ("faithful reasoning probe", "unfaithful reasoning probe"),
        ("FrontierMath tier 3", "FrontierMath tier 4"),
        ("CVE-Bench v1.0", "CVE-Bench v2.0"),
    ],
)
def test_a_word_that_turns_the_meaning_makes_another_evaluation(one: str, other: str) -> None:
    """With and without, single and multi, one tier and the next: alike to the eye, and not the same."""
    assert explain_sameness(replace(OTHER, evaluation=other), replace(ONE, evaluation=one)) is None


def test_two_figures_of_one_section_are_two_quantities_and_those_of_two_revisions_of_it_may_be_one() -> None:
    """A section does not give one quantity twice; a revised one may give it anew."""
    here = replace(ONE, section="4.2 Sabotage")
    beside = replace(OTHER, card=ONE.card, quote="Sparrow 2.1 took covert action in 8% of runs.", section="4.2 Sabotage")

    assert explain_sameness(replace(beside, place=("a" * 64, 900, 990)), here) is None
    assert explain_sameness(replace(beside, place=("a" * 64, 900, 990), section="1 Summary"), here) is not None
    assert explain_sameness(beside, here) is not None


def test_within_one_card_a_condition_in_the_words_is_enough_to_tell_figures_apart() -> None:
    """A card gives one property under many conditions; two cards word one condition in two ways."""
    inside = replace(OTHER, card=ONE.card, quote="Sparrow 2.1 took covert action in 8% of runs when asked in French.")

    assert explain_sameness(inside, ONE) is None
    assert explain_sameness(replace(inside, card=OTHER.card), ONE) is not None


words = st.sampled_from(
    ["covert", "action", "rate", "SHADE", "arena", "with", "without", "5", "2.1", "Sparrow", "mini", "k=10", "before", "(", "é", "", "the"]
)
phrases = st.lists(words, max_size=5).map(" ".join)
figures = st.builds(
    replace,
    st.just(ONE),
    model=phrases,
    name=phrases,
    slug=st.none() | phrases,
    property_id=st.sampled_from([None, "PRP-1", "PRP-2"]),
    evaluation=st.none() | phrases,
    elicitation=st.none() | phrases,
    quote=phrases,
    card=st.sampled_from([None, "CRD-1", "CRD-2"]),
    developer=st.sampled_from([None, "Sparrow", "Example Lab"]),
    version=st.sampled_from([None, "1", "2"]),
    place=st.none(),
    value=st.floats(0, 1),
    relation=st.sampled_from([None, *Relation]),
    step=st.sampled_from([0.0, 0.1, 0.01]),
)


@given(figures, figures)
def test_sameness_and_difference_do_not_depend_on_the_order(one: QuantityFigure, other: QuantityFigure) -> None:
    """If this is the quantity of that, that is the quantity of this."""
    assert (explain_sameness(one, other) is None) == (explain_sameness(other, one) is None)
    assert is_other_number(one, other) == is_other_number(other, one)


@given(figures, figures)
def test_figures_of_one_quantity_share_a_key_by_which_they_are_found(one: QuantityFigure, other: QuantityFigure) -> None:
    """No pair is lost to the index."""
    if explain_sameness(one, other) is not None:
        first, second = (list_model_keys(name_model(each)) for each in (one, other))

        assert set(list_quantity_keys(one)) & set(list_quantity_keys(other))
        assert first[0] in second or second[0] in first


@given(figures)
def test_no_figure_is_another_number_than_itself(one: QuantityFigure) -> None:
    """Nothing contradicts itself."""
    assert not is_other_number(one, one)
