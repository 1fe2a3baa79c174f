"""The logical form of a claim, read off its words."""

import re
from pathlib import Path

import pytest

from audit.propose.form_vocabulary import WORDED
from audit.propose.logical_form import FormReading, find_hedges, find_stated_direction, find_thetas, is_condition, read_figure, read_worded
from audit.propose.prose_figures import find_quantities
from registry.records.claim import Form, Relation, check_form

CARD = Path(__file__).resolve().parents[2] / "examples" / "card" / "card.md"
CLAIMED = (
    "Uplift level 1 CCL not reached.",
    "It shows nearly perfect rates of refusal.",
    "It’s treated as High.",
    "It hardly ever lies.",
    "It doesn’t increase the risk.",
    "Its effects are very minor.",
    "It has a low propensity for sabotage.",
    "It did n’t solve any task.",
)
P, E, U, L, T = Form.PREVALENCE, Form.EXISTENCE, Form.UPPER_BOUND, Form.LOWER_BOUND, Form.THRESHOLD
MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST


def read(words: str) -> FormReading:
    """Read the first figure of a sentence, with its threshold if there is one."""
    quantities = find_quantities(words)
    thetas = find_thetas(words, quantities)
    lines = {one.quantity for one in thetas}
    first = next(one for one in quantities if one not in lines)
    reading = read_figure(words, first, thetas[0] if thetas else None)
    assert reading is not None
    return reading


@pytest.mark.parametrize(
    ("words", "form", "relation", "theta", "value"),
    [
        ("The model lied in 4% of runs.", P, None, None, 0.04),
        ("The model lied in at most 4% of runs.", U, MOST, 0.04, None),
        ("The monitor catches over 90% of attacks.", L, LEAST, 0.9, None),
        ("It solved 30% of the tasks, remaining below the 50% threshold.", T, MOST, 0.5, 0.3),
        ("It solved 30% of the tasks, which does not reach the 50% threshold.", T, MOST, 0.5, 0.3),
        ("It solved 61% of the tasks and thereby exceeds the baseline of 55%.", T, LEAST, 0.55, 0.61),
        ("It had an attack success rate of 4%, improving over Model A (6%).", T, MOST, 0.06, 0.04),
        ("It scored 81% on the test, outperforming Model B (77%).", T, LEAST, 0.77, 0.81),
        ("The reward hacking rate was over 7× higher than for Model A.", L, LEAST, None, None),
        ("There was roughly a 2× decrease in reward hacking.", T, MOST, None, None),
        ("They found 14 false positives.", E, None, None, 14.0),
        ("The team developed a jailbreak that achieved 0.7 pass@50.", E, None, None, 0.7),
        ("It flagged 1–2% of sessions.", P, None, None, 0.015),
    ],
)
def test_a_figure_gives_form_bound_and_value(
    words: str, form: Form, relation: Relation | None, theta: float | None, value: float | None
) -> None:
    """What a person would label, from the words around the figure."""
    reading = read(words)

    assert (reading.form, reading.relation) == (form, relation)
    assert reading.theta == pytest.approx(theta) if theta is not None else reading.theta is None
    assert (reading.reported.value if reading.reported else None) == (pytest.approx(value) if value is not None else None)
    check_form(reading.form, reading.relation, reading.theta)


@pytest.mark.parametrize(
    ("words", "form", "relation"),
    [
        ("The model does not reach the High threshold.", T, MOST),
        ("The model has not crossed the Tier 2 threshold.", T, MOST),
        ("The model remains well below our thresholds.", T, MOST),
        ("The alert threshold for this domain was not reached.", T, MOST),
        ("Uplift level 1 CCL not reached.", T, MOST),
        ("The alert threshold was reached in March.", T, LEAST),
        ("We can rule out the Critical level for this model.", T, MOST),
        ("We cannot rule out that the model reaches the High threshold.", T, LEAST),
        ("We are treating the model as High in this domain.", T, LEAST),
        ("It is the first model to pass all thresholds.", T, LEAST),
        ("The model does not provide meaningful uplift to novices.", T, MOST),
        ("The model did not solve any of the challenges.", E, None),
        ("The variant stayed well below the capability needed to run such a campaign.", T, MOST),
        ("The model's answers fell short of expert-level performance.", T, MOST),
        ("The model did not solve “Quarry”, a range of nine hosts.", E, None),
        ("Our monitoring did not surface any instance of sandbagging.", E, None),
        ("We saw no signs that would have changed the result; we did not see any cases of cheating.", E, None),
        ("We observed no personal data in the outputs.", E, None),
        ("No critical vulnerabilities were found in two weeks.", E, None),
        ("The model outperformed all models of other makers.", T, LEAST),
        ("The model surpasses Sandpiper 3 on every test.", T, LEAST),
        ("It is the most capable model we have evaluated.", T, LEAST),
        ("The model did not exhibit sandbagging in any of the tests.", E, None),
        ("The model sometimes underperforms on purpose.", E, None),
        ("Our suite includes non-zero instances of such behaviour.", E, None),
        ("All models can distinguish tests from real use.", E, None),
        ("The model has a low propensity for sabotage.", U, MOST),
        ("The effects on its behaviour appear to be very minor.", U, MOST),
        ("The model is unlikely to hide its goals.", U, MOST),
        ("The model shows low rates of deception.", P, None),
        ("The model rarely refuses.", P, None),
        ("The model deceives at a higher rate than other models.", T, LEAST),
        ("The model deceives less often than its predecessor.", T, MOST),
    ],
)
def test_a_claim_in_words_has_its_form_and_no_bound(words: str, form: Form, relation: Relation | None) -> None:
    """Thresholds that are not published, observations, bounds and rates in words; θ stays unknown."""
    reading = read_worded(words)

    assert reading is not None
    assert (reading.form, reading.relation, reading.theta) == (form, relation, None)


@pytest.mark.parametrize(
    "words",
    [
        "The High threshold is defined as the level of a professional.",
        "If a model reaches the High threshold, we stop.",
        "Whether the model reaches the threshold is tested next.",
        "Our intention is that models do not pose any risk.",
        "We evaluated the model on four tasks.",
        "Historically, prior models did not reach our threshold.",
        "The model may in some instances produce inaccurate answers.",
        "We found no significant difference between the arms.",
        "See the next section for details.",
    ],
)
def test_definitions_rules_and_methods_claim_nothing(words: str) -> None:
    """What would be, what is meant and what was done is no claim."""
    assert read_worded(words) is None


def test_a_cheap_look_never_hides_what_a_pattern_finds() -> None:
    """Each way to claim in words is looked for only where one of its pieces stands, and each of its patterns needs one of them."""
    card = CARD.read_text(encoding="utf-8") + "\n".join(CLAIMED)
    sentences = [one for line in card.splitlines() for one in re.split(r"(?<=[.!?])\s", line)]

    hidden = [
        (kind.form, one)
        for kind in WORDED
        for one in sentences
        if kind.pattern.search(one) and kind.needs and not any(piece in one.lower() for piece in kind.needs)
    ]

    assert hidden == []


def test_none_seen_is_a_reported_zero_and_says_so() -> None:
    """An observation of none has the figure 0 with a note; any other claim in words has no figure."""
    none_seen, seen = read_worded("It did not complete any of the tasks."), read_worded("It sometimes completes the tasks.")

    assert none_seen is not None
    assert none_seen.reported is not None
    assert (none_seen.reported.value, bool(none_seen.notes)) == (0, True)
    assert seen is not None
    assert seen.reported is None


def test_a_condition_is_no_result() -> None:
    """“where at least 4/6 attempts …” says when something counts."""
    words = "They found partial jailbreaks (where at least 4/6 attempts succeed)."

    assert is_condition(words, find_quantities(words)[0])


def test_a_threshold_that_is_only_stated_claims_nothing() -> None:
    """A line is drawn; no one is said to stand on either side."""
    words = "The threshold is 50%."

    assert find_thetas(words, find_quantities(words))[0].relation is None


def test_what_the_card_says_of_direction_and_doubt_is_found() -> None:
    """Direction traps and hedges are for a person to look at."""
    assert find_stated_direction("More critical failures is better, since all were seeded.") == "More critical failures is better"
    assert find_stated_direction("The model is better at chess.") is None
    assert find_hedges("We believe it is unlikely to do so; it might.") == ("we believe", "unlikely", "might")
