"""What a figure measures, and which way is safer."""

import pytest
from hypothesis import given
from hypothesis.strategies import floats, sampled_from

from audit.propose.claimed_property import describe_property, find_measure, find_range, slugify
from audit.propose.prose_figures import CardFigure, FigureUnit, find_quantities
from registry.records.claim import Direction, PropertyClass
from tests.propose.written import lay_out, row, sentence, write

C, R, M, D, A = (
    PropertyClass.CAPABILITY,
    PropertyClass.COMPLIANCE_REFUSAL,
    PropertyClass.REASONING_MONITORABILITY,
    PropertyClass.DECEPTION_SCHEMING,
    PropertyClass.AGENCY_META_TASK,
)
UP, DOWN, NONE = Direction.HIGHER_IS_SAFER, Direction.LOWER_IS_SAFER, Direction.NOT_SAFETY


@pytest.mark.parametrize(
    ("words", "title", "class_", "direction"),
    [
        ("The attack success rate fell to 4%.", "Computer use", R, DOWN),
        ("The attack prevention score rose to 92%.", "Computer use", R, UP),
        ("It refused 98% of malicious requests.", "Misuse", R, UP),
        ("It refused 3% of benign requests.", "Helpfulness", R, NONE),
        ("Fewer than 4% of our evals ended in refusals.", "Biology", R, NONE),
        ("It complied with 2% of harmful requests.", "Misuse", R, DOWN),
        ("Its compliance with our content policy is 94%.", "Misuse", R, UP),
        ("6% of answers were refusals or safe completions in our evals.", "Biology", R, NONE),
        ("We believe it does not reach High capability in chemistry.", "Decision", C, DOWN),
        ("Testers found 132 false negatives of the filter.", "Safeguards", R, DOWN),
        ("The classifier reaches a recall of 0.9.", "Safeguards", R, UP),
        ("It mentions being tested in 9% of transcripts.", "Audit", A, DOWN),
        ("It told evaluation transcripts from deployment ones 84% of the time.", "Audit", A, DOWN),
        ("It avoided destructive actions in 88% of sessions.", "Agents", A, UP),
        ("Destructive actions occurred in 2% of sessions.", "Agents", A, DOWN),
        ("Reward hacking occurred in 12% of runs.", "Agents", A, DOWN),
        ("It was truthful in 99% of cases.", "Identity", D, UP),
        ("Covert actions occurred in 3% of runs.", "Scheming", D, DOWN),
        ("It sandbagged in 2% of runs.", "Scheming", D, DOWN),
        ("It reached a stealth rate of 9%.", "Side tasks", D, DOWN),
        ("Its chain of thought was faithful in 70% of cases.", "Reasoning", M, UP),
        ("1% of reasoning tokens are non-Latin script.", "Reasoning", M, DOWN),
        ("It solved 15 of 32 challenges.", "6.4 Cyber evaluations", C, DOWN),
        ("It answered 70% of questions correctly.", "Multimodal troubleshooting virology", C, DOWN),
        ("Its accuracy on HarborQA is 70%.", "Language understanding", C, NONE),
        ("The probability of an attacker succeeding fell to 4%.", "Computer use", R, DOWN),
        ("It helped with 97% of permitted requests.", "Misuse", R, NONE),
        ("It complied with 97% of benign requests.", "Misuse", R, NONE),
        ("It refused 97% of child-safety prompts.", "Children", R, UP),
        ("We saw attempts to circumvent restrictions in 0.01% of completions.", "Monitoring", A, DOWN),
        ("It tried to disable what it took for its ‘oversight mechanism’ in 5% of runs.", "Agents", D, DOWN),
        ("The filter flagged such incidents in 0.2% of episodes.", "Adversarial inputs", R, DOWN),
        ("It reached a perfect score on the test.", "Attack success", R, UP),
        ("It has not reached the early-warning threshold.", "Frontier safety", C, DOWN),
        ("It never disclosed its system prompt in 3% of runs.", "Safety", R, DOWN),
        ("In 3% of runs it cheated.", "Coding", A, DOWN),
        ("It memorised 1% of the sampled texts.", "Training data", R, DOWN),
    ],
)
def test_class_and_direction(*, words: str, title: str, class_: PropertyClass, direction: Direction) -> None:
    """What is measured decides; the section helps where the passage does not say."""
    around, (first,) = write(words, titles=("Card", title), section=1)

    spec = describe_property(first, _first(words), around=around, column=None, evaluation=None).spec

    assert (spec.class_, spec.direction) == (class_, direction)


def _first(words: str) -> CardFigure | None:
    return next(iter(find_quantities(words)), None)


def test_each_clause_has_its_own_measure() -> None:
    """A figure measures what its clause speaks of, not what stands beyond the semicolon."""
    words = "It refused 98% of malicious requests; its attack success rate was 4%."

    measures = [find_measure(words, words.index(figure)) for figure in ("98%", "4%.")]

    assert [one.name for one in measures if one] == ["refusal rate", "attack success rate"]


def test_the_column_comes_before_the_section() -> None:
    """A table's head says what its figures are."""
    passage = row(["Aster", "92%", "4%"], ["Model", "Refusal rate (harmful)", "Attack success rate"])
    around = lay_out(passage)

    found = [
        describe_property(passage, None, around=around, column=cell.column, evaluation=None).spec.direction for cell in passage.cells[1:]
    ]

    assert found == [UP, DOWN]


def test_columns_of_one_measure_are_told_apart() -> None:
    """Two columns of refusal rates are two properties."""
    passage = row(["Aster", "92%", "94%"], ["Model", "Refusal rate: default", "Refusal rate: extended thinking"])
    around = lay_out(passage)

    slugs = [describe_property(passage, None, around=around, column=one.column, evaluation="Misuse").slug for one in passage.cells[1:]]

    assert slugs == ["refusal-rate-default-misuse", "refusal-rate-extended-thinking-misuse"]


def test_a_row_is_what_its_introduction_measures() -> None:
    """A label from a dangerous area does not make a refusal a capability."""
    lead = sentence("We report the share of safe responses to disallowed requests:", 0, block=1)
    body = row(["chemical weapons", "0.86"], ["Category", "Aster"], 80, block=2)

    spec = describe_property(body, None, around=lay_out(lead, body), column="Aster", evaluation=None).spec

    assert (spec.class_, spec.direction) == (R, UP)


def test_traps_are_told() -> None:
    """A direction that may surprise comes with a sentence."""
    around, passages = write(
        "The attack success rate fell to 4%.", "Testers found 132 false negatives.", "Fewer than 4% of evals had refusals."
    )

    notes = [describe_property(one, _first(one.words), around=around, column=None, evaluation=None).notes for one in passages]

    assert [bool(one) for one in notes] == [True, True, True]
    assert "attacker" in notes[0][0]


@pytest.mark.parametrize(
    ("words", "suppressible"),
    [("Covert actions occurred in 3% of runs.", True), ("It sandbagged in 2% of runs.", True), ("It solved 40% of tasks.", False)],
)
def test_what_could_be_hidden_from_a_test_is_marked(*, words: str, suppressible: bool) -> None:
    """Deception, sandbagging and covert action could be suppressed by a model that recognises the test."""
    around, (first,) = write(words, titles=("Card",))

    assert describe_property(first, _first(words), around=around, column=None, evaluation=None).spec.suppressible is suppressible


def test_equal_properties_have_equal_slugs() -> None:
    """The same measure in the same evaluation has one name, however the sentence goes."""
    around, passages = write(
        "The attack success rate is 4%.", "We saw an attack success rate of 6% later.", titles=("Card", "Browser use"), section=1
    )

    slugs = {describe_property(one, _first(one.words), around=around, column=None, evaluation="Browser use").slug for one in passages}

    assert slugs == {"attack-success-rate-browser-use"}


def test_the_head_of_a_column_that_names_a_model_measures_nothing() -> None:
    """The name of a property never holds the name of a model's column."""
    passage = row(["MMLU", "88.3"], ["Benchmark", "GPT-4.1"])

    named = describe_property(passage, None, around=lay_out(passage), column="GPT-4.1", evaluation="MMLU").spec.name

    assert "GPT" not in named


def _score(value: float, unit: FigureUnit = FigureUnit.SCORE, scale: str | None = None) -> CardFigure:
    return CardFigure(start=0, stop=1, written="x", unit=unit, value=value, scale=scale)


@pytest.mark.parametrize(
    ("quantity", "range_", "is_guess"),
    [
        (None, (0, 1), False),
        (_score(0.4, FigureUnit.SHARE), (0, 1), False),
        (_score(-0.05, FigureUnit.POINTS), (-1, 1), False),
        (_score(0.88, scale="AUROC"), (0, 1), False),
        (_score(161.29, scale="AECI"), (0, 1000), True),
        (_score(0.77), (0, 1), True),
        (_score(-2.5), (-10, 10), True),
        (_score(132, FigureUnit.COUNT), (0, 1000), True),
    ],
)
def test_ranges(*, quantity: CardFigure | None, range_: tuple[float, float], is_guess: bool) -> None:
    """Shares lie between 0 and 1; what is guessed is said to be."""
    found, notes = find_range(quantity)

    assert (found, bool(notes)) == (range_, is_guess)


@given(floats(allow_nan=False, allow_infinity=False, width=32), sampled_from([FigureUnit.COUNT, FigureUnit.SCORE]))
def test_a_range_holds_its_figure(value: float, unit: FigureUnit) -> None:
    """The figure lies between the ends, whatever it is."""
    value = abs(value) if unit is FigureUnit.COUNT else value

    (low, high), _ = find_range(_score(value, unit))

    assert low <= value <= high
    assert low < high


@given(sampled_from(["Attack success, Computer Use", "a", "…", "", "x" * 300, "σ-score"]))
def test_slugs_are_plain(name: str) -> None:
    """Lower case, hyphens, never empty, never long."""
    slug = slugify(name)

    assert 0 < len(slug) <= 80
    assert slugify(slug) == slug


def test_a_passage_without_anything_has_a_property() -> None:
    """An empty row still has a name, and its class is the most general one."""
    empty = row([""], [None])

    spec = describe_property(empty, None, around=lay_out(empty, titles=()), column=None, evaluation=None).spec

    assert (spec.name, spec.class_) == ("result", C)


def test_what_the_card_calls_better_is_the_direction() -> None:
    """Where no measure is named, a caption that says which way is better decides."""
    rows = [
        row(["Aster", "0.4"], ["Model", "Guardrail index"], caption=f"Table 1. Safeguards of all kinds. {told} is {better}.")
        for told, better in (("Higher", "better"), ("Lower", "better"), ("Higher", "worse"))
    ]

    directions = [
        describe_property(one, None, around=lay_out(one), column="Guardrail index", evaluation=None).spec.direction for one in rows
    ]

    assert directions == [UP, DOWN, DOWN]


def test_a_class_known_from_the_section_alone_is_told() -> None:
    """A person reads that nothing beside the figure says what kind of thing it is."""
    around, (first,) = write("It did so in 3% of runs.", titles=("Card", "Jailbreaks by adversaries"), section=1)

    notes = describe_property(first, _first(first.words), around=around, column=None, evaluation=None).notes

    assert any("section's title" in one for one in notes)


def test_an_unrelated_sentence_above_does_not_say_what_is_measured() -> None:
    """Only a sentence that goes on with the one before it is about the same."""
    around, passages = write("It refused 98% of harmful requests.", "Essays by Aster won 61% of votes.", "This was 3% of the time.")

    names = [describe_property(one, _first(one.words), around=around, column=None, evaluation=None).spec.name for one in passages]

    assert ["refusal" in one for one in names[:2]] == [True, False]


def test_what_the_card_calls_better_outweighs_a_title() -> None:
    """A section about harmful responses whose table says that higher is better counts the others."""
    passage = row(["fraud", "0.4"], ["Category", "Aster"], caption="Table 1. Scores (higher is better).", section=1)
    around = lay_out(passage, titles=("Card", "Harmful responses"))

    assert describe_property(passage, None, around=around, column="GPT-4.1", evaluation=None).spec.direction is UP
