"""Patterns: what matches, what it costs, and what a reader must know of the patterns themselves."""

import json
import os
import re
import string
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from, text

from audit.pattern_search import search_pattern
from audit.score.answer_extraction import build_pattern_marker, check_patterns, remark_patterns
from registry.records.replay_run import Task
from registry.records.specification import PatternScore, PatternScorer

SHARED = Path(os.environ.get("CAVEAT_SHARED", Path(__file__).parents[2].parent / "shared" / "data"))
STUDY = SHARED / "skill-eval"
PIECES = [
    "a",
    "b",
    "A",
    ".",
    "\\.",
    "[ab]",
    "(a|b)",
    "a+",
    "b?",
    "\\w",
    "\\s",
    "^",
    "$",
    "{i}",
    "{e}",
    "a{2}",
    "{1,2}",
    "\\{",
    "[{d}]",
    "(?i)",
    "(",
]


def task(**fields: object) -> Task:
    return Task(**{"id": "t", "prompt": "Write it.", **fields})  # type: ignore[arg-type]


def read_study() -> Iterator[tuple[Task, str, dict[str, bool], dict[str, object]]]:
    """Give a task, an output, the published match of each of its patterns, and the published record."""
    for path in sorted((STUDY / "scores").glob("*.json")):
        scores = json.loads(path.read_text())
        outputs = json.loads((STUDY / "generations" / path.name).read_text())
        texts = {(one["task_id"], run["run_index"]): run for one in outputs["tasks"] for run in one["runs"]}
        for one in scores["tasks"]:
            for run in one["runs"]:
                for condition, scored in run.items():
                    if isinstance(scored, dict) and scored.get("patterns"):
                        found = scored["patterns"]
                        expected = tuple(row["pattern"] for row in found["expected_results"])
                        anti = tuple(row["pattern"] for row in found["anti_results"])
                        said = texts[one["task_id"], run["run_index"]][condition]["output"]
                        yield task(id=one["task_id"], expected=expected, anti=anti), said, found


@pytest.mark.skipif(not STUDY.is_dir(), reason="the shared data are not here")
def test_all_pattern_tests_of_the_published_study_come_out_as_published() -> None:
    """11,718 tests in 1,074 outputs, and both rates of each output."""
    mark = build_pattern_marker(PatternScorer(kind="pattern"))
    tests = outputs = 0
    for one, said, published in read_study():
        marked = mark(one, said)
        rows = marked.detail["patterns"]
        assert [row["matched"] for row in rows] == [row["matched"] for row in (*published["expected_results"], *published["anti_results"])]
        assert marked.dimensions["expected_rate"] == pytest.approx(published["expected_hit_rate"], abs=5e-5)
        assert marked.dimensions["anti_rate"] == pytest.approx(published["anti_pattern_hit_rate"], abs=5e-5)
        tests, outputs = tests + len(rows), outputs + 1

    assert (tests, outputs) == (11_718, 1_074)


@given(lists(sampled_from(PIECES), min_size=1, max_size=6).map("".join), text(alphabet="abA.{}ide12 \n", max_size=30))
def test_a_pattern_means_what_it_means_to_re(pattern: str, said: str) -> None:
    """Match and place are those of Python's re.search; what re refuses is looked for as it is written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            match = re.search(pattern, said)
        except re.error:
            match = re.search(re.escape(pattern), said)

    found = search_pattern(pattern, said, kind="expected", time_limit_s=5)

    assert (found.start, found.end) == ((match.start(), match.end()) if match else (None, None))


def test_each_pattern_is_reported_with_its_match_and_place() -> None:
    """Kind, match, place and flags of every pattern, in their written order."""
    marked = build_pattern_marker(PatternScorer(kind="pattern"))(task(expected=("wor.d", "(?i)HELLO"), anti=("bye",)), "hello world")

    rows = marked.detail["patterns"]
    assert [(row["pattern"], row["kind"], row["matched"], row["start"], row["end"], row["text"], row["flags"]) for row in rows] == [
        ("wor.d", "expected", True, 6, 11, "world", ""),
        ("(?i)HELLO", "expected", True, 0, 5, "hello", "i"),
        ("bye", "anti", False, None, None, None, ""),
    ]


@pytest.mark.parametrize(
    ("score", "said", "expected"),
    [
        (PatternScore.HIT_RATE, "one", 0.5),
        (PatternScore.HIT_RATE, "one two", 1.0),
        (PatternScore.HIT_RATE, "", 0.0),
        (PatternScore.ALL_EXPECTED, "one", 0.0),
        (PatternScore.ALL_EXPECTED, "one two", 1.0),
        (PatternScore.ANY_EXPECTED, "one", 1.0),
        (PatternScore.ANY_EXPECTED, "", 0.0),
        (PatternScore.ANY_ANTI, "one bad", 1.0),
        (PatternScore.ANY_ANTI, "one", 0.0),
        (PatternScore.NO_ANTI, "one bad", 0.0),
        (PatternScore.NO_ANTI, "", 1.0),
    ],
)
def test_what_the_matches_come_to(score: PatternScore, said: str, expected: float) -> None:
    """Two expected patterns and one anti-pattern under each way of scoring; an empty answer is searched like any other."""
    marked = build_pattern_marker(PatternScorer(kind="pattern", score=score))(task(expected=("one", "two"), anti=("bad",)), said)

    assert marked.score == expected


def test_patterns_of_the_task_come_before_those_of_the_scorer() -> None:
    """The scorer's patterns are for tasks without their own, kind by kind."""
    scorer = PatternScorer(kind="pattern", expected=("general",), anti=("never",))

    marked = build_pattern_marker(scorer)(task(expected=("own",)), "own never")

    assert marked.dimensions == {"expected_rate": 1.0, "anti_rate": 1.0}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a|a)*$"])
def test_a_pattern_that_explodes_makes_an_exclusion_that_names_it(pattern: str) -> None:
    """The search ends near its time limit; what was found before is kept."""
    scorer = PatternScorer(kind="pattern", time_limit_s=0.2)
    marked = build_pattern_marker(scorer)(task(expected=("a", pattern)), "ab" * 15 + "a" * 3000 + "!")

    assert (marked.score, marked.excluded_reason, marked.detail["timed_out"]) == (None, "pattern-time-out", pattern)
    assert len(marked.detail["patterns"]) == 1


def test_nested_repetition_ends_in_time_or_with_an_answer() -> None:
    """The textbook (a+)+$ takes Python's re.search ages on this text; here it ends either way, and never matches."""
    marked = build_pattern_marker(PatternScorer(kind="pattern", time_limit_s=0.2))(task(expected=("(a+)+$",)), "a" * 40 + "b")

    assert marked.score == 0.0 or marked.excluded_reason == "pattern-time-out"


@pytest.mark.parametrize("pattern", ["require(", "[open", "*star", "a{2,1}", "(?P<n>a)(?P<n>b)", "\\p{L}"])
def test_what_is_no_regular_expression_is_looked_for_as_it_is_written(pattern: str) -> None:
    """As in the published study; the report says so."""
    one = task(expected=(pattern,))

    found = search_pattern(pattern, f"x {pattern} y", kind="expected", time_limit_s=1)

    assert (found.matched, found.literal, found.start) == (True, True, 2)
    assert [remark.code for remark in remark_patterns(PatternScorer(kind="pattern"), [one])] == ["pattern-literal"]


@pytest.mark.parametrize("brace", ["i", "d", "s", "e", "e<=1", "i,d"])
def test_braces_in_code_are_no_licence_to_err(brace: str) -> None:
    """The library would read `f{e}` as "f with errors"; here it is the text of an f-string."""
    found = search_pattern(f"f{{{brace}}}", "f", kind="expected", time_limit_s=1)

    assert not found.matched


def test_patterns_that_match_their_own_prompt_are_told() -> None:
    """An anti-pattern in the prompt makes a response that repeats it guilty; an expected one makes it right."""
    one = task(prompt="Do not use require('x'); use import.", expected=("import", "from 'y'"), anti=(r"require\(", "eval"))

    remarks = list(remark_patterns(PatternScorer(kind="pattern"), [one]))

    assert [remark.code for remark in remarks] == ["prompt-echo", "prompt-echo"]
    assert "expected 'import'" in remarks[0].message
    assert "anti 'require" in remarks[1].message


def test_a_pattern_that_matches_an_empty_answer_is_told() -> None:
    """`a*` matches any text, so it says nothing."""
    (remark,) = remark_patterns(PatternScorer(kind="pattern"), [task(expected=("a*",))])

    assert remark.code == "pattern-matches-empty"


def test_empty_patterns_and_tasks_without_patterns_are_refused_all_at_once() -> None:
    """Each with its place."""
    scorer = PatternScorer(kind="pattern", score=PatternScore.NO_ANTI, expected=(" ",))
    tasks = [task(id="a", anti=("x", "")), task(id="b", expected=("y",))]

    faults = list(check_patterns(scorer, tasks))

    assert [(fault.code, fault.where) for fault in faults] == [
        ("pattern-empty", "scoring, expected[0]"),
        ("pattern-empty", "task a, anti[1]"),
        ("task-not-scorable", "task b"),
    ]


@given(text(alphabet=string.printable, max_size=60))
def test_a_long_text_behind_never_unmatches(said: str) -> None:
    """What is expected and was found stays found when the response goes on."""
    mark = build_pattern_marker(PatternScorer(kind="pattern"))

    before = mark(task(expected=("ab", "c")), f"ab {said}")

    assert (before.score or 0) <= (mark(task(expected=("ab", "c")), f"ab {said} c").score or 0)
