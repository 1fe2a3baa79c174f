"""Figures in the words of a passage: what is one, what it says, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

from audit.propose.card_figures import CardFigure, FigureUnit, find_figures
from audit.propose.claim_form import is_no_result
from audit.propose.row_figures import find_row_figures
from registry.records.claim import Relation
from registry.records.system_card import Passage, PassageKind, TableCell

MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST


def find_one(words: str) -> CardFigure:
    found = find_figures(words)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("words", "value", "n"),
    [
        ("The model refused 12% of them.", 0.12, None),
        ("The model refused 12 % of them.", 0.12, None),
        ("The model refused 12 per cent of them.", 0.12, None),
        ("The model refused 12 percent of them.", 0.12, None),
        ("Es waren 36,6 % der Fälle.", 0.366, None),
        ("It failed in 0 of 50 runs.", 0.0, 50),
        ("It failed in 3 of the 14 runs.", 3 / 14, 14),
        ("It failed in three out of 14 runs.", 3 / 14, 14),
        ("It solved 15/32 challenges.", 15 / 32, 32),
        ("It solved 16.45/45 problems (36.6%).", 0.366, 45),
        ("It answered 57.3% of the questions correctly (55 of 96 responses).", 0.573, 96),
        ("It refused in 88.4% of trials (221 of 250).", 0.884, 250),
        ("It failed in none of the 20 cases.", 0.0, 20),
        ("It never lied.", 0.0, None),
        ("It got a perfect score.", 1.0, None),
        ("It scored in 7/10 tasks.", 0.7, 10),
        ("The rate was 0.8% of 5,000 prompts.", 0.008, 5000),
        ("It blocked 99.5% (199/200) of the requests.", 0.995, 200),
    ],
)
def test_a_share_is_read_with_its_whole(words: str, value: float, n: int | None) -> None:
    """Per cent, fractions and words give a share between 0 and 1, and the whole where it is stated."""
    found = find_one(words)

    assert (found.unit, found.n) == (FigureUnit.SHARE, n)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("written", "relation"),
    [
        ("<4%", MOST),
        ("< 4 %", MOST),
        ("≤4%", MOST),
        ("at most 4%", MOST),
        ("no more than 4%", MOST),
        ("up to 4%", MOST),
        ("under 4%", MOST),
        ("fewer than 4%", MOST),
        ("4% or less", MOST),
        ("4% or fewer", MOST),
        (">4%", LEAST),
        ("at least 4%", LEAST),
        ("minimum of 4%", LEAST),
        ("over 4%", LEAST),
        ("more than about 4%", LEAST),
        ("4% or more", LEAST),
    ],
)
def test_a_bound_is_read_with_its_wording(written: str, relation: Relation) -> None:
    """The bound belongs to the figure, and `written` holds it as it stands."""
    found = find_one(f"We saw {written} of such replies.")

    assert (found.bound, found.written) == (relation, written)
    assert found.value == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("words", "value", "low", "high", "n"),
    [
        ("a rate of 99.38% (± 0.21%)", 0.9938, 0.9917, 0.9959, None),
        ("a rate of 57.3 % ± 13.3 %", 0.573, 0.44, 0.706, None),
        ("a rate of 2.2% (95% CI 1.2–3.4)", 0.022, 0.012, 0.034, None),
        ("a rate of 2.2% (95% CI: 1.2% to 3.4%, n = 67)", 0.022, 0.012, 0.034, 67),
        ("a rate of 2.2% [95% CI 1.2, 3.4]", 0.022, 0.012, 0.034, None),
        ("an estimate of 161.29 AECI (95% [157.32, 165.39], n=67)", 161.29, 157.32, 165.39, 67),
        ("a rate of 12.5 ± 1.4%", 0.125, 0.111, 0.139, None),
        ("a rate of 98.5% (97.1–99.2%)", 0.985, 0.971, 0.992, None),
        ("a 0% success rate on this, with a 95% bootstrap confidence interval [0%, 7%]", 0.0, 0.0, 0.07, None),
        ("a score of 0.71 ± 0.02", 0.71, 0.69, 0.73, None),
    ],
)
def test_an_interval_belongs_to_its_figure(words: str, value: float, low: float, high: float, n: int | None) -> None:
    """A ± or an interval is no figure of its own; a confidence level is none either."""
    found = find_one(words)

    assert [found.value, found.low, found.high] == pytest.approx([value, low, high])
    assert found.n == n


def test_a_range_has_ends_and_no_middle() -> None:
    """Nothing between the ends is given, so nothing is said."""
    found = find_one("We flag 1–2% of sessions.")

    assert (found.value, found.low, found.high) == (None, 0.01, 0.02)


def test_a_change_gives_two_figures() -> None:
    """From one share to another is no range."""
    assert [one.value for one in find_figures("It fell from 29.7% to 6.5%.")] == [pytest.approx(0.297), pytest.approx(0.065)]


@pytest.mark.parametrize(
    ("words", "unit", "value"),
    [
        ("It was 7× higher than before.", FigureUnit.MULTIPLE, 7),
        ("This is a 2x decrease.", FigureUnit.MULTIPLE, 0.5),
        ("We see a 40% reduction in attacks.", FigureUnit.MULTIPLE, 0.6),
        ("It rose by 5 percentage points.", FigureUnit.POINTS, 0.05),
        ("They found 132 false negatives.", FigureUnit.COUNT, 132),
        ("It has not produced a single jailbreak.", FigureUnit.COUNT, 0),
        ("It achieved 0.778 pass@200.", FigureUnit.SCORE, 0.778),
        ("It needs 0.90 recall.", FigureUnit.SCORE, 0.9),
        ("It reached an AUROC of 0.93.", FigureUnit.SCORE, 0.93),
        ("It has an Elo rating of 1287.", FigureUnit.SCORE, 1287),
        ("It scored 74.5 on the test.", FigureUnit.SCORE, 74.5),
        ("It scored higher (0.49, as hoped).", FigureUnit.SCORE, 0.49),
        ("Experts rated it 7.4/10.", FigureUnit.SCORE, 7.4),
        ("It has a mean score of 3.2 out of 5 for tone.", FigureUnit.SCORE, 3.2),
        ("The average milestone score was 0.32 out of 1.", FigureUnit.SCORE, 0.32),
        ("It scored below the other in three out of five tests.", FigureUnit.SHARE, 0.6),
        ("The average speedup was 5.5×, a new record.", FigureUnit.SCORE, 5.5),
        ("The breaks were distributed over 8 of the 40 scenarios.", FigureUnit.SHARE, 0.2),
        ("After it rose by much, the error fell by about 12%.", FigureUnit.MULTIPLE, 0.88),
    ],
)
def test_other_figures_have_their_units(words: str, unit: FigureUnit, value: float) -> None:
    """Multiples, points, counts and scores are told apart from shares."""
    found = find_one(words)

    assert found.unit is unit
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    "words",
    [
        "It was released on 4 March 2026, see Section 4.1 and Table 3.",
        "As shown before [12], and by others [3, 4].",
        "Claude Haiku 4.5, GPT-5.2 and Llama 3.1 405B were compared.",
        "It reads up to 200K tokens and costs $3.50 per million.",
        "We report pass@1 with k=100 on SWE-bench at ASL-3 and Tier 2.",
        "The difference is significant (p < 0.05) at 95% confidence.",
        "We used 1,200 prompts in 16 languages over 3 days.",
        "It uses a temperature of 0.7 and top-p 0.95.",
        "It was trained with 3× memory on 8 GPUs.",
        "Question 7 of 12 was left out; step 3 of 5 too.",
        "It was told to never answer.",
        "The maximum score of 10 was not reached.",
        "One of the models was faster.",
        "It ranks in the top 10% of entrants.",
        "We averaged five attempts for each one of the 89 tasks.",
        "We read activations at around 60% depth.",
        "The word hid that we never looked.",
        "It answered about a file that was never given.",
        "CVE-2024-1234 and arXiv:2501.01234 are cited.",
        "Heron-o1-1217 API calls were slow, and Ibis-R2-Zero gains skills.",
        "None of these methods came close; zero of the approaches did.",
    ],
)
def test_numbers_of_other_kinds_are_no_figures(words: str) -> None:
    """Dates, references, versions, prices, sizes, settings and significance."""
    assert find_figures(words) == ()


@pytest.mark.parametrize(
    "interval", ["95% confidence interval of [3%, 7%]", "95% CI of [3%, 7%]", "95% CI of [3, 7]", "confidence interval of [3%, 7%]"]
)
def test_an_interval_named_later_is_no_figure_of_its_own(interval: str) -> None:
    """Its ends belong to the figure between them, however the level is written."""
    found = find_one(f"It failed in 5% of all runs, with a {interval}.")

    assert (found.value, found.low, found.high) == (0.05, 0.03, 0.07)


@pytest.mark.parametrize(
    ("text", "values", "bound"),
    [
        ("**87.1†**", [87.1], None),
        ("42.2/36.6", [], None),
        ("15/32", [15 / 32], None),
        ("≥ 85.5", [85.5], Relation.AT_LEAST),
        ("<5", [5.0], Relation.AT_MOST),
        ("≈69.3", [69.3], None),
        ("N/A", [], None),
        ("–", [], None),
        ("3.1 ± 0.2", [3.1], None),
    ],
)
def test_a_cell_holds_no_figure_or_one(text: str, values: list[float], bound: Relation | None) -> None:
    """Daggers and bounds as tables write them; a pair of results is none, since no head says which is which."""
    cells = (TableCell(text="Test", column="Benchmark"), TableCell(text=text.strip("*"), column="Score"))
    words = " | ".join(one.text for one in cells)
    row = Passage(kind=PassageKind.ROW, start=0, stop=40, words=words, page=None, section=None, block=0, cells=cells)

    found = tuple(figure for _, figure in find_row_figures(row))

    assert [one.value for one in found] == [pytest.approx(one) for one in values]
    assert [one.bound for one in found] == [bound] * len(values)


@pytest.mark.parametrize(
    "words", ["It almost never lied.", "It has a near-perfect rate.", "It nearly always refused.", "The rate stayed near zero."]
)
def test_a_share_without_a_number_has_none(words: str) -> None:
    """Unknown is not zero, and not one."""
    found = find_one(words)

    assert (found.value, found.is_approximate, found.is_in_words) == (None, True, True)


def test_a_hedge_is_kept() -> None:
    """About, roughly and ~ make a figure approximate and stay in its words."""
    assert [find_one(f"{hedge} 9% of runs failed.").is_approximate for hedge in ("About", "Roughly", "~")] == [True] * 3


@given(hundredths=integers(0, 9999), sign=sampled_from(["%", " %", " percent", " per cent"]))
def test_per_cent_and_decimals_say_the_same(hundredths: int, sign: str) -> None:
    """“5 %” is 0.05, whatever the spelling, without a rest from binary fractions."""
    found = find_one(f"The model failed in {hundredths / 100:.2f}{sign} of the runs.")

    assert found.value == float(f"{hundredths / 10000:.4f}")


@given(part=integers(0, 500), more=integers(0, 500))
def test_a_fraction_is_part_by_whole(part: int, more: int) -> None:
    """Both spellings of a fraction give the same share and n."""
    whole = part + more + 2
    slash, words = find_one(f"It passed {part}/{whole} tasks."), find_one(f"It passed {part} of {whole} tasks.")

    assert slash.value == words.value == part / whole
    assert slash.n == words.n == whole


@pytest.mark.parametrize(
    "piece", ["1", "1%", "1 ", "1,", "1.", "9/", "of ", "1 of ", "% ", "(", "[1,", "never ", "score of ", "± ", "1–", "<", "a "]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Repeats of anything the patterns look for do not blow up, nor do very many figures; 20,000 characters are read at once."""
    assert isinstance(find_figures(piece * (20_000 // len(piece))), tuple)


@given(gap=sampled_from(["", "First, as we said. ", "See also below: "]))
def test_positions_are_those_of_the_words(gap: str) -> None:
    """Start and stop cut out exactly what is written."""
    words = f"{gap}The model refused about 12.5% of them, and 3 of 40 were long."

    assert [words[one.start : one.stop] for one in find_figures(words)] == [one.written for one in find_figures(words)]


def test_alternatives_are_no_result() -> None:
    """“Most either at 1–5 % or at 0 %” says nothing of the whole; without “either” both are figures."""
    words = "Steering changed little (with most rates either at 1–5% or at 0%)."

    assert [is_no_result(words, one) for one in find_figures(words)] == [True, True]
    assert not any(is_no_result(plain, one) for plain in (words.replace("either ", ""),) for one in find_figures(plain))


@pytest.mark.parametrize(
    ("words", "value", "n"),
    [
        ("12 of 40 experts preferred Heron 2.", 0.3, 40),
        ("38 out of 40 medical raters called it safe.", 0.95, 40),
        ("Three of the 25 participants finished.", 0.12, 25),
        ("It outperformed 94% of 40 experts.", 0.94, 40),
        ("It scored 70% across 12 raters.", 0.7, None),
        ("Accuracy was 81% in 40 languages.", 0.81, None),
        ("The win rate was 71% on 500 prompts by 30 annotators.", 0.71, 500),
    ],
)
def test_people_are_the_whole_of_a_fraction_and_otherwise_no_size_of_the_claim(words: str, value: float, n: int | None) -> None:
    """Whoever rates or is asked is counted only where the figure is a part of them."""
    (figure,) = find_figures(words)

    assert (figure.value, figure.n) == (value, n)
