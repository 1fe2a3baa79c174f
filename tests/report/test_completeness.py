"""What a claim states of how its figure came about, item by item."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.completeness import StatedFacts, build_stated, check_completeness, count_missing
from registry.records.claim import Form, Reported
from registry.records.specification import ScoringMethod, ScoringSpec, SpecKind, SpecVersion
from registry.records.verdict import Completeness, CompletenessItem, ItemStatus
from tests.report.builders import Log, context_spec, revision

NOTHING = StatedFacts(form=Form.THRESHOLD, theta=None, reported=None, evaluation=None, grader=None, elicitation=None, version=None)
EVERYTHING = StatedFacts(
    form=Form.THRESHOLD,
    theta=0.1,
    reported=Reported(value=0.05, low=0.01, high=0.11, n=1_200),
    evaluation="SHADE-Arena",
    grader="two people, blind",
    elicitation="10 attempts, safeguards off",
    version="2026-03-06",
)
SCORING = SpecVersion(
    spec="SCF-EXAMPLE-2026-0001-X",
    kind=SpecKind.SCORING,
    slug="covert",
    version=2,
    owner="EXAMPLE",
    body=ScoringSpec(name="covert action", method=ScoringMethod.JUDGE, description="A judge reads the transcript."),
    why="a clearer question",
)


def find(items: tuple[Completeness, ...], item: CompletenessItem) -> Completeness:
    return next(one for one in items if one.item is item)


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("stated", [NOTHING, EVERYTHING])
def test_every_item_is_told_once_and_in_order(stated: StatedFacts, form: Form) -> None:
    """Seven items, in the order of the list, each with a note: whatever is stated."""
    items = check_completeness(replace(stated, form=form))

    assert [one.item for one in items] == list(CompletenessItem)
    assert all(one.note for one in items)


def test_a_claim_that_states_everything_misses_nothing() -> None:
    """Each item is reported with what is stated of it."""
    items = check_completeness(EVERYTHING)

    assert {one.status for one in items} == {ItemStatus.REPORTED}
    assert count_missing(items) == (0, 7)
    assert [one.note for one in items] == [
        "SHADE-Arena",
        "n = 1,200",
        "two people, blind",
        "10 attempts, safeguards off",
        "2026-03-06",
        "θ = 0.1",
        "[0.01, 0.11]",
    ]


def test_a_threshold_that_states_nothing_misses_all_but_the_uncertainty_of_a_figure_it_does_not_give() -> None:
    """An interval belongs to a figure; everything else could have been stated."""
    items = check_completeness(NOTHING)

    assert count_missing(items) == (6, 6)
    assert find(items, CompletenessItem.UNCERTAINTY).status is ItemStatus.NOT_APPLICABLE


@pytest.mark.parametrize("form", [Form.EXISTENCE, Form.PREVALENCE])
def test_only_thresholds_and_bounds_have_a_theta_to_state(form: Form) -> None:
    """What has no θ does not miss it."""
    items = check_completeness(replace(NOTHING, form=form))

    assert find(items, CompletenessItem.THRESHOLD).status is ItemStatus.NOT_APPLICABLE


def test_a_rate_without_a_figure_still_misses_its_sample_size_and_an_observation_does_not() -> None:
    """“Rarely” was counted in something; “was seen once” was not."""
    sizes = [
        find(check_completeness(replace(NOTHING, form=form)), CompletenessItem.SAMPLE_SIZE).status
        for form in (Form.EXISTENCE, Form.PREVALENCE, Form.UPPER_BOUND)
    ]

    assert sizes == [ItemStatus.NOT_APPLICABLE, ItemStatus.MISSING, ItemStatus.MISSING]


@pytest.mark.parametrize(
    "version",
    [
        *(
            "",
            "  ",
            "-",
            "–",
            "?",
            "n/a",
            "N/A",
            "None",
            "unknown",
            "Unknown.",
            "not stated",
            "is not disclosed",
            "TBD",
            "no version stated",
        ),
        *("a near-final model snapshot", "an early, unreleased checkpoint", "near-final snapshot (without safeguards)", "final", "preview"),
        *("latest", "m-latest", "claude_latest", "the newest snapshot", "most  recent", "current", "Production", "main"),
    ],
)
def test_a_version_that_names_no_version_is_missing(version: str) -> None:
    """Words put there because something had to be, and names that move, are not a version."""
    assert find(check_completeness(replace(EVERYTHING, version=version)), CompletenessItem.VERSION).status is ItemStatus.MISSING


@pytest.mark.parametrize("version", ["1", "1.0", "2026-03-06", "after anti-scheming training", "stable 2.1", "main-7f3a", "unknown-3b"])
def test_a_version_that_names_one_is_reported(version: str) -> None:
    """A snapshot, a date or a description of the one model that was meant."""
    assert find(check_completeness(replace(EVERYTHING, version=version)), CompletenessItem.VERSION).status is ItemStatus.REPORTED


@pytest.mark.parametrize("field", ["evaluation", "grader", "elicitation"])
@pytest.mark.parametrize("words", [None, "", "not stated", "Unknown", "—"])
def test_words_that_state_nothing_count_as_missing(field: str, words: str | None) -> None:
    """A field filled with “not stated” states as much as an empty one."""
    items = check_completeness(replace(EVERYTHING, **{field: words}))  # type: ignore[arg-type]

    assert find(items, CompletenessItem(field)).status is ItemStatus.MISSING


def test_a_relative_bound_is_told_in_words_and_misses_its_number() -> None:
    """“Half of another model's rate” is no θ before that rate is known."""
    item = find(check_completeness(replace(NOTHING, relative_to="half of Mallard's rate")), CompletenessItem.THRESHOLD)

    assert item.status is ItemStatus.MISSING
    assert "half of Mallard's rate" in item.note


@pytest.mark.parametrize(("low", "high", "note"), [(0.02, None, "at least 0.02"), (None, 0.03, "at most 0.03")])
def test_a_bound_on_one_side_is_an_uncertainty_and_says_which_side(low: float | None, high: float | None, note: str) -> None:
    """The rule of three gives one end, and that is something stated."""
    item = find(check_completeness(replace(EVERYTHING, reported=Reported(value=0.025, low=low, high=high))), CompletenessItem.UNCERTAINTY)

    assert (item.status, item.note) == (ItemStatus.REPORTED, note)


def test_a_sample_size_of_nothing_is_missing() -> None:
    """No figure comes from no trials."""
    item = find(check_completeness(replace(EVERYTHING, reported=Reported(value=0.0, n=0))), CompletenessItem.SAMPLE_SIZE)

    assert item.status is ItemStatus.MISSING


def test_a_registered_scoring_function_is_a_grader_and_a_test_context_an_elicitation() -> None:
    """What a claim names by reference is stated, with what it is called."""
    context = context_spec(Log(), 1, SpecKind.TEST_CONTEXT, "The publisher's prompts").payload
    items = check_completeness(build_stated(revision("It did so in 5 %."), scoring=SCORING, test_context=context))

    assert find(items, CompletenessItem.GRADER).note == "scoring function SCF-EXAMPLE-2026-0001-X@2 (covert action, judge)"
    assert find(items, CompletenessItem.ELICITATION).note.startswith(f"test context {context.spec}@1 (The publisher's prompts, 3 contexts")


def test_a_sealed_scoring_function_is_stated_as_sealed() -> None:
    """A commitment names the grader without showing it, and says so."""
    sealed = replace(SCORING, body=None, commitment="0" * 64)

    item = find(check_completeness(build_stated(revision("It did so in 5 %."), scoring=sealed)), CompletenessItem.GRADER)

    assert item.note == "scoring function SCF-EXAMPLE-2026-0001-X@2 (sealed)"


def test_words_and_definition_are_both_told() -> None:
    """What the claim says stands before what its definition is called."""
    claim = revision("It did so in 5 %.", grader="a model, checked by people")

    item = find(check_completeness(build_stated(claim, scoring=SCORING)), CompletenessItem.GRADER)

    assert item.note.startswith("a model, checked by people; scoring function SCF-")


@given(
    st.sampled_from(Form),
    st.none() | st.text(max_size=40),
    st.none() | st.text(max_size=40),
    st.none() | st.builds(Reported, value=st.floats(0, 1), n=st.none() | st.integers(-3, 10**12)),
)
def test_saying_more_never_makes_a_claim_less_complete(
    form: Form, grader: str | None, version: str | None, reported: Reported | None
) -> None:
    """Naming the evaluation takes at most one from what is missing, and adds nothing to it."""
    stated = replace(NOTHING, form=form, grader=grader, version=version, reported=reported)

    before, after = check_completeness(stated), check_completeness(replace(stated, evaluation="SHADE-Arena"))

    assert count_missing(before)[0] - count_missing(after)[0] == 1
    assert count_missing(before)[1] == count_missing(after)[1]
