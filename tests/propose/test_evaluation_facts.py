"""How a figure was measured, in the words of the card."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from audit.propose.evaluation_facts import describe_evaluation, find_benchmark, find_elicitation, find_grader, find_size, find_test
from registry.records.system_card import PassageKind
from tests.propose.written import lay_out, row, sentence, write


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("It solved 12 tasks of SWE-bench Verified at once.", "SWE-bench Verified"),
        ("On CyBench it solved 9/20.", "CyBench"),
        ("We use HarborQA and report F1.", "HarborQA"),
        ("The Agent Misuse benchmark has 19 scenarios.", "Agent Misuse benchmark"),
        ("GPQA Diamond rose to 70%.", "GPQA Diamond"),
        ("The evaluation is described below.", None),
        ("This benchmark is saturated.", None),
        ("We ran our evaluations twice.", None),
    ],
)
def test_benchmarks_are_known_by_their_names(words: str, name: str | None) -> None:
    """A name has a form of its own; a noun for any test is none."""
    assert find_benchmark(words) == name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("In our unprompted evaluation it never did so.", "unprompted evaluation"),
        ("This is an earlier version of this automated behavioural audit.", "automated behavioural audit"),
        ("It achieved a perfect score on this evaluation.", None),
        ("One evaluation was repeated.", None),
        ("9% showed signs of evaluation awareness.", None),
        ("We distinguish our evaluations from deployment.", None),
    ],
)
def test_evaluations_in_small_letters_need_words_of_their_own(words: str, name: str | None) -> None:
    """What stands between an article and the noun is the name; nothing between them is no name."""
    assert find_test(words) == name


@pytest.mark.parametrize(
    ("words", "n", "introduced"),
    [
        ("We ran over 830 transcripts through it.", 830, 830),
        ("It did so in 3 of 14 scenarios.", 14, None),
        ("The estimate is 161 (n = 67).", 67, 67),
        ("The suite has 1,251 problems.", 1251, None),
        ("We took 10 attempts per scenario.", None, None),
        ("It found 132 errors.", None, None),
        ("It passed 40 tasks per day.", None, None),
    ],
)
def test_sizes_are_counts_of_what_is_asked(words: str, n: int | None, introduced: int | None) -> None:
    """Tries per task are no size; in a sentence above, a word must introduce the number."""
    assert (find_size(words), find_size(words, must_introduce=True)) == (n, introduced)


@pytest.mark.parametrize(
    ("words", "grader"),
    [
        ("Responses were graded by a panel of three experts.", "a panel of three experts"),
        ("Transcripts were scored by Claude Sonnet 4 for realism.", "Claude Sonnet 4"),
        ("We used an LLM judge.", "an LLM judge"),
        ("Human raters read each answer.", "Human raters"),
        ("The task is model-graded.", "model-graded"),
        ("Answers pass if unit tests do.", "unit tests"),
        ("A deterministic extractor reads the letter.", "A deterministic extractor"),
        ("We use GPT-4.1 as the judge.", "GPT-4.1"),
        ("Grader awareness rose in training.", None),
        ("It was evaluated with extended thinking.", None),
        ("We graded nothing.", None),
    ],
)
def test_graders_are_quoted(words: str, grader: str | None) -> None:
    """Who graded is said in the card's words; how the model ran is not a grader."""
    assert find_grader(words) == grader


@pytest.mark.parametrize(
    ("words", "elicitation"),
    [
        ("It reached 36% (pass@1) without tools.", "pass@1; without tools"),
        ("The best-of-10 score with extended thinking is 0.9.", "best-of-10; with extended thinking"),
        ("Over about 10 hours of manual red-teaming they found one.", "about 10 hours of manual red-teaming"),
        ("The attack success rate at k=100 is 4%.", "k=100"),
        ("A helpful-only version was prompted at temperature 1.0.", "helpful-only version; prompted; temperature 1.0"),
        ("It refused 98% of requests.", None),
    ],
)
def test_elicitation_is_all_that_is_said(words: str, elicitation: str | None) -> None:
    """Attempts, effort, tools and safeguards are listed in their order."""
    assert find_elicitation(words) == elicitation


def test_of_several_benchmarks_the_last_before_the_figure_counts() -> None:
    """A sentence about two tests gives each its own."""
    words = "It reached 70% on HarborQA after 60%; on CyBench it reached 45%."
    around, (first,) = write(words)

    assert describe_evaluation(first, around=around, at=words.index("45%")).evaluation == "CyBench"


def test_a_benchmark_right_after_its_figure_is_its_own() -> None:
    """The two figures of "45% on CyBench and 70% on HarborQA" are two evaluations, whatever stands in parentheses between."""
    words = "It reached 45% (30%, 40%) on CyBench, 70% on HarborQA."
    around, (first,) = write(words)

    found = [describe_evaluation(first, around=around, at=words.index(one)).evaluation for one in ("45%", "70%")]

    assert found == ["CyBench", "HarborQA"]


def test_a_caption_that_is_a_paragraph_names_nothing() -> None:
    """A name is short; of a long caption only an evaluation it speaks of is taken."""
    caption = "To see whether the training had worked, we built a small set of sessions in which files are in danger and looked at them."
    passage = replace(row(["Avoidance", "0.88"], ["Metric", "Aster"]), caption=caption)

    assert describe_evaluation(passage, around=lay_out(passage)).evaluation is None


def test_the_column_names_the_evaluation_of_a_row_of_models() -> None:
    """Columns may be different benchmarks."""
    passage = row(["GPT-4.1", "9.3", "74.6"], ["Model", "AIME 2024", "MATH-500"])
    around = lay_out(passage)

    assert [describe_evaluation(passage, around=around, at=passage.words.index(one)).evaluation for one in ("9.3", "74.6")] == [
        "AIME 2024",
        "MATH-500",
    ]


def test_words_of_different_cells_do_not_run_together() -> None:
    """A grader's name ends with its cell."""
    passage = row(["Exam, scored by a script", "9", "37%"], ["Context", "Correct", "Share"])
    around = lay_out(passage)

    assert describe_evaluation(passage, around=around, at=None).grader == "a script"


def test_the_section_names_it_where_nothing_nearer_does() -> None:
    """The title of the section stands in, unless it says nothing."""
    around, (first,) = write("It refused 98%.", titles=("Card", "2.1 Malicious coding"), section=1)
    plain, (second,) = write("It refused 98%.", titles=("Card", "2 Results"), section=1)

    assert describe_evaluation(first, around=around).evaluation == "Malicious coding"
    assert describe_evaluation(second, around=plain).evaluation is None


def test_what_no_sentence_states_is_none() -> None:
    """Nothing is invented."""
    passage = sentence("It refused 98%.")
    facts = describe_evaluation(passage, around=lay_out(passage))

    assert (facts.evaluation, facts.n, facts.grader, facts.elicitation) == (None, None, None, None)


PARTS = [
    "graded by",
    "human raters",
    "SWE-bench",
    "with",
    "tools",
    "pass@1",
    "over",
    "30 tasks",
    "our",
    "audit",
    "(",
    ";",
    "n=5",
    "the",
    "Claude Opus 4",
]


@given(lists(sampled_from(PARTS), max_size=12))
def test_facts_are_words_of_the_card(parts: list[str]) -> None:
    """Each fact stands in the card as it is given."""
    words = " ".join(parts)
    around, (first,) = write(words, titles=("Card",))

    facts = describe_evaluation(first, around=around)

    for fact in (facts.evaluation, facts.grader, *(facts.elicitation or "").split("; ")):
        assert fact is None or fact in words


@pytest.mark.parametrize(
    ("words", "figure", "n"),
    [
        ("It warned in 16 of 16 responses and refused 37% overall.", "37%", None),
        ("It refused 2% of 640 requests and 9% in anger.", "9%", None),
        ("It refused 2% of 640 requests and 9% in anger.", "2%", 640),
        ("Of 640 prompts it refused 9%.", "9%", 640),
    ],
)
def test_the_whole_of_another_figure_is_no_size(*, words: str, figure: str, n: int | None) -> None:
    """A wrong n is worse than none."""
    around, (first,) = write(words)

    assert describe_evaluation(first, around=around, at=words.index(figure)).n == n


def test_a_sentence_with_its_own_shares_gives_no_size_to_another() -> None:
    """Nor does one that gives several sizes."""
    around, passages = write(
        "We ran 40 scenarios and it failed in 12% of them.",
        "We sampled 500 transcripts of one kind and 200 transcripts of another.",
        "It hid 3%.",
    )

    assert describe_evaluation(passages[-1], around=around, at=7).n is None


def test_a_row_has_the_size_of_its_own_column() -> None:
    """A head such as Responses says how much was asked; two such heads leave it open."""
    plain = row(["T1", "24", "37%"], ["Table", "Responses", "Rate"])
    double = row(["T1", "9", "24", "37%"], ["Table", "Questions", "Responses", "Rate"])

    assert [describe_evaluation(one, around=lay_out(one), at=one.words.index("37%")).n for one in (plain, double)] == [24, None]


def test_how_the_model_was_asked_is_read_off_the_figures_own_column() -> None:
    """What stands over the next column is not said of this one."""
    passage = row(["Aster", "9%", "2%"], ["Model", "Attacks with tools", "Attacks without tools"])
    around = lay_out(passage)

    assert [describe_evaluation(passage, around=around, at=passage.words.index(one)).elicitation for one in ("9%", "2%")] == [
        "with tools",
        "without tools",
    ]


def test_a_list_items_label_is_its_evaluation() -> None:
    """What stands before the colon names it, unless it is a sentence or a model."""
    items = [
        sentence(words, kind=PassageKind.ITEM) for words in ("• Screening evasion: it scored 0.4.", "• GPT-4.1: 40%", "• We ran it: 4%")
    ]

    assert [describe_evaluation(one, around=lay_out(one, titles=())).evaluation for one in items] == ["Screening evasion", None, None]


def test_a_caption_that_is_a_sentence_names_no_evaluation() -> None:
    """A name has no verb."""
    titles = ("Card", "Dual use")
    rows = [
        row(["Aster", "9%"], ["Model", "Rate"], caption=one, section=1)
        for one in ("Table 1: Harbour test", "Table 1: Aster performed worse")
    ]

    assert [describe_evaluation(one, around=lay_out(one, titles=titles)).evaluation for one in rows] == ["Harbour test", "Dual use"]


def test_a_benchmark_named_for_another_figure_is_not_this_ones() -> None:
    """What stands below is not read yet, and a sentence with a figure named its benchmark for that; going on with it is another thing."""
    words = ("It won 4%.", "Aster reached 61.2 on HarborQA.", "This fell to 3%.", "Aster lost 9% of games.")
    around, passages = write(*words, titles=("Card",))

    found = [describe_evaluation(one, around=around, at=len(one.words) - 3).evaluation for one in passages]

    assert found == [None, "HarborQA", "HarborQA", None]


def test_a_number_with_a_comma_is_whole() -> None:
    """Three thousand attempts are not none."""
    assert find_elicitation("It held in 3,000 attempts.") == "3,000 attempts"


def test_a_number_before_a_word_for_a_test_is_no_name() -> None:
    """Rows are numbered."""
    assert [find_benchmark(one) for one in ("T3 Evaluation mode, metric named", "H1 Benchmark", "Harbour Benchmark")] == [
        None,
        None,
        "Harbour Benchmark",
    ]
