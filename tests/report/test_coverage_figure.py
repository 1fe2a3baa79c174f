"""The bars that show how much of a card is covered."""

import re
from dataclasses import replace
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from registry.records.supplement import Coverage, PassageCounts, SectionCoverage
from registry.report.card_coverage import CoverageBar, build_coverage_figure
from registry.report.html_rendering import _draw, _environment
from registry.report.interval_figures import WIDTH
from tests.report.covered import full

NOTHING = PassageCounts(proposed=0, registered=0, audited=0, restricted=0, excluded=0, unreviewed=0)


def coverage(total: PassageCounts, *sections: PassageCounts) -> Coverage:
    told = tuple(SectionCoverage(title=f"Section {number}", page=number, counts=one) for number, one in enumerate(sections, start=1))
    return Coverage(surveyed_by=("rules 1",), total=total, sections=told, silent_sections=0, omissions=(), unreviewed=())


def counts(restricted: int = 0, audited: int = 0, registered: int = 0, excluded: int = 0, unreviewed: int | None = 0) -> PassageCounts:
    """Counts of which each next one holds the one before, as the record says; as supplements had them before undetermined was told."""
    return PassageCounts(
        proposed=None if unreviewed is None else unreviewed + excluded,
        registered=restricted + audited + registered,
        audited=restricted + audited,
        restricted=restricted,
        excluded=excluded,
        unreviewed=unreviewed,
    )


def test_a_card_of_which_nothing_is_known_has_no_figure() -> None:
    """An empty bar would look like a full one."""
    assert build_coverage_figure(coverage(NOTHING)) is None


def test_each_claim_stands_once_by_the_furthest_it_came() -> None:
    """Of ten claims three are restricted, and four more audited: three, four and three."""
    figure = build_coverage_figure(coverage(counts(3, 4, 3, 2, 5)))
    assert figure is not None

    assert [(one.key, one.count) for one in figure.whole.segments] == [
        ("restricted", 3),
        ("audited", 4),
        ("registered", 3),
        ("excluded", 2),
        ("unreviewed", 5),
    ]
    assert figure.title == (
        "Claims: 3 restricted; 4 audited, not restricted; 3 not audited. Passages: 2 excluded with their reason; 5 proposed and unreviewed."
    )


def test_an_outcome_that_settles_nothing_is_not_told_as_one_that_cleared_the_claim() -> None:
    """Of four claims that are audited and not restricted, three are undetermined."""
    figure = build_coverage_figure(coverage(replace(counts(0, 4, 3), undetermined=3)))
    assert figure is not None

    assert [(one.key, one.count) for one in figure.whole.segments] == [("undetermined", 3), ("unrestricted", 1), ("registered", 3)]
    assert [words for _, words, _ in figure.legend] == ["inconclusive 3", "supported 1", "not audited 3"]
    assert "3 inconclusive; 1 supported" in figure.title


def test_the_legend_names_what_is_drawn_and_nothing_else() -> None:
    """A colour for something that is not there sends a reader looking for it."""
    figure = build_coverage_figure(full())
    assert figure is not None

    assert [state for state, _, _ in figure.legend] == [one.key for one in figure.whole.segments]


def test_without_a_survey_the_bar_has_an_open_end_and_says_so() -> None:
    """What no one searched for is not zero."""
    figure = build_coverage_figure(coverage(counts(registered=3, unreviewed=None)))
    assert figure is not None

    assert [(one.key, one.count, one.text) for one in figure.whole.segments] == [("registered", 3, "3"), ("unknown", None, "?")]
    assert [state for state, _, _ in figure.legend][-1] == "unknown"
    assert "unreviewed is not known" in figure.title


def test_of_many_sections_the_fullest_are_drawn_in_the_order_of_the_card() -> None:
    """The rest stand in the table, and their number is told."""
    sizes = [1, 9, 2, 8, 3]
    figure = build_coverage_figure(coverage(counts(unreviewed=sum(sizes)), *(counts(unreviewed=size) for size in sizes)), most=3)
    assert figure is not None

    assert [one.label for one in figure.sections] == ["Section 2", "Section 4", "Section 5"]
    assert figure.excluded == 2


def test_the_drawing_has_a_title_and_a_description_and_every_count_in_words() -> None:
    """A reader who does not see it is told the same."""
    figure = build_coverage_figure(full())
    svg = _draw(_environment(None), "coverage", f=figure, key="k")

    assert re.search(r'<svg [^>]*role="img" aria-labelledby="k-title k-desc"', svg)
    assert '<title id="k-title">Claims: 0 restricted' in svg
    assert "unreviewed" in svg
    assert "<script" not in svg


parts = st.integers(0, 400)


@given(st.tuples(parts, parts, parts, parts, st.none() | parts), st.lists(st.tuples(parts, parts, parts, parts, parts), max_size=8))
def test_bars_stay_within_the_figure_and_what_is_there_is_seen(
    total: tuple[int, int, int, int, int | None], sections: list[tuple[int, int, int, int, int]]
) -> None:
    """Segments follow each other, none is narrower than two pixels, none leaves the page, and labels of the legend do not overlap."""
    figure = build_coverage_figure(coverage(counts(*total), *(counts(*one) for one in sections if any(one))))
    assume(figure is not None)
    assert figure is not None

    for bar in (figure.whole, *figure.sections):
        check_bar(bar)
    for (_, words, left), (_, _, right) in pairwise(figure.legend):
        assert left + 16 + 4.6 * len(words) <= right


def check_bar(bar: CoverageBar) -> None:
    """Assert that the segments of *bar* stand side by side on the page."""
    for one, other in pairwise(bar.segments):
        assert abs(one.x + one.width - other.x) < 0.05
    for one in bar.segments:
        assert one.width >= 2
        assert one.x >= 0
        assert one.x + one.width <= WIDTH + 0.1
