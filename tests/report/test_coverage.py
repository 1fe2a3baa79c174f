"""How far the claims of a card are known, by section."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.codec.canonical_documents import from_document, to_document
from registry.intake.outline.passage_sentences import PassageReader
from registry.records.claim_status import Lifecycle
from registry.records.supplement import Coverage
from registry.records.system_card import CardText, MatchResult, MediaType
from registry.report.card_coverage import PassageHistory, build_coverage
from tests.report.builders import SHA, Log, card
from tests.report.covered import LENGTH, TEXT, cover, dossier_at, full, headed_card, omission, place, say, sighted, span, survey
from tests.report.dossiers import degraded, inverted


def names(coverage: Coverage) -> list[str | None]:
    return [one.title for one in coverage.sections]


def test_without_a_survey_what_was_proposed_is_unknown_and_not_zero() -> None:
    """None, in every section and in all."""
    coverage = cover([dossier_at(11)], PassageHistory())

    assert (coverage.total.proposed, coverage.total.unreviewed, coverage.surveyed_by) == (None, None, ())
    assert [one.counts.proposed for one in coverage.sections] == [None]
    assert coverage.total.registered == 1


def test_a_survey_that_proposed_nothing_is_a_zero() -> None:
    """It was looked, and nothing was found."""
    coverage = cover([], say([survey()]))

    assert (coverage.total.proposed, coverage.total.unreviewed, coverage.surveyed_by) == (0, 0, ("rules 1",))


def test_each_passage_and_claim_counts_in_the_section_where_it_begins() -> None:
    """The nearest heading at or above; above the first there is a section without a title."""
    coverage = cover([dossier_at(11), dossier_at(21, claim=2)], say([survey(5, 10, 11, 19, 20)], [omission(10)]))

    assert names(coverage) == [None, "1 Introduction", "2 Safeguards"]
    assert [one.counts.proposed for one in coverage.sections] == [1, 3, 1]
    assert [one.counts.registered for one in coverage.sections] == [0, 1, 1]
    assert [one.counts.excluded for one in coverage.sections] == [0, 1, 0]
    assert [one.counts.unreviewed for one in coverage.sections] == [1, 1, 1]
    assert coverage.silent_sections == 3


@pytest.mark.parametrize(
    ("start", "stop", "unreviewed"),
    [
        (span(11)[0], span(11)[1], 0),
        (span(11)[1] - 1, span(11)[1] + 5, 0),
        (span(11)[1], span(11)[1] + 5, 1),
        (span(11)[0] - 5, span(11)[0] + 1, 0),
        (span(11)[0] - 5, span(11)[0], 1),
        (span(11)[0] + 3, span(11)[0] + 4, 0),
    ],
)
def test_one_character_in_common_decides_a_passage(start: int, stop: int, unreviewed: int) -> None:
    """Passages that only touch do not overlap."""
    proposed = replace(survey(), passages=((start, stop),))

    assert cover([dossier_at(11)], say([proposed])).total.unreviewed == unreviewed


def test_an_undecided_passage_is_told_with_its_words_page_and_section() -> None:
    """So that a person can go there."""
    (one,) = cover([], say([survey(20)])).unreviewed

    assert (one.start, one.stop) == span(20)
    assert one.quote == TEXT[one.start : one.stop]
    assert (one.section, one.page) == ("2 Safeguards", one.start // 1_800 + 1)


def test_a_claim_of_another_revision_counts_where_it_was_found_in_this_one() -> None:
    """By its passage match, else where its words stand exactly once; a passage that is gone has no place."""
    dossiers = [
        dossier_at(11, passage_matches=[sighted(21)]),
        dossier_at(12, claim=2, passage_matches=[sighted(None, claim=2, match_result=MatchResult.GONE)]),
        dossier_at(13, claim=3),
    ]

    coverage = cover(dossiers, say([survey(11, 21, of=2)]), number=2)

    assert [(one.title, one.is_placed, one.counts.registered) for one in coverage.sections] == [
        ("1 Introduction", True, 1),
        ("2 Safeguards", True, 1),
        (None, False, 1),
    ]
    assert [one.start for one in coverage.unreviewed] == [span(11)[0]]


def test_the_latest_passage_match_of_the_current_revision_counts() -> None:
    """What was found of an earlier wording places nothing."""
    found = [sighted(11), sighted(21), replace(sighted(31), claim="CLM-EXAMPLE-2026-0001-X@2")]

    assert names(cover([dossier_at(40, passage_matches=found)], PassageHistory(), number=2)) == ["2 Safeguards"]


def test_a_survey_of_another_revision_says_nothing_of_this_one() -> None:
    """Its positions mean nothing here."""
    assert cover([], say([survey(11, of=1)]), number=2).total.proposed is None


def test_what_was_excluded_of_another_revision_stays_excluded_where_its_words_stand_once() -> None:
    """The reason holds for the same words; for words that stand twice no one knows for which."""
    said = say([survey(11, 12, of=2)], [omission(11), omission(12)])
    twice = TEXT + TEXT[span(12)[0] : span(12)[1]]

    assert [one.start for one in cover([], said, number=2).unreviewed] == []
    assert [one.start for one in cover([], said, number=2, text=twice).unreviewed] == [span(12)[0]]
    assert cover([], said, number=2, text=None).total.excluded == 0


def test_outcomes_count_as_audited_and_those_that_take_something_back_as_restricted() -> None:
    """A degraded and an inverted claim are both; one that no one audited is neither."""
    total = cover([inverted(), degraded(), dossier_at(11, claim=9)], PassageHistory()).total

    assert (total.registered, total.audited, total.restricted) == (3, 2, 2)


def test_several_engines_are_told_once_each_and_their_passages_together() -> None:
    """The same passage proposed twice is one."""
    coverage = cover([], say([survey(11, 12), survey(12, 13, by="claude model-1"), survey(11)]))

    assert coverage.surveyed_by == ("rules 1", "claude model-1")
    assert coverage.total.proposed == 3


def test_a_passage_in_which_others_lie_hides_none_of_them() -> None:
    """An engine that quotes a paragraph of four sentences does not decide three of them with the first."""
    paragraph = replace(survey(by="claude model-1"), passages=(span(11, 4),))

    coverage = cover([dossier_at(11)], say([survey(11, 12, 13), paragraph]))

    assert (coverage.total.proposed, coverage.total.unreviewed) == (3, 2)


def test_a_card_without_headings_is_told_by_its_pages() -> None:
    """A PDF without bookmarks has pages at least."""
    coverage = build_coverage(card(Log()), [], say([survey(0, 100)]), text=TEXT)

    assert [(one.title, one.page) for one in coverage.sections] == [(None, 1), (None, 100 * LENGTH // 1_800 + 1)]


def test_an_erased_text_is_said_and_counts_stay() -> None:
    """What was proposed is known by its place."""
    coverage = cover([], say([survey(11)]), text=None)

    assert coverage.total.unreviewed == 1
    assert "erased" in coverage.unreviewed[0].quote


def test_a_claim_that_is_only_reserved_is_not_counted() -> None:
    """It has no text yet."""
    reserved = replace(dossier_at(11), revisions=())

    assert cover([reserved], PassageHistory()).total.registered == 0


@pytest.mark.parametrize("event", [Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED])
def test_a_claim_that_no_longer_stands_is_still_counted_and_still_decides_its_passage(event: Lifecycle) -> None:
    """Somebody registered it, and its outcome stands with it."""
    one = dossier_at(11)
    ended = replace(one, status=replace(one.status, lifecycle=event))

    assert (cover([ended], say([survey(11)])).total.registered, cover([ended], say([survey(11)])).total.unreviewed) == (1, 0)


def test_passages_are_told_as_a_person_reads_them_beside_their_exact_words() -> None:
    """A hyphen at a line end belongs to the line; the record keeps what the file has."""
    text = "It occurs in 0 of 192 re-\nsponses.\nIt occurs in 5 of all responses of a multiple-\nchoice test."
    cuts = [(0, 35), (36, len(text))]
    left = replace(omission(0), anchor=replace(place(0), start=36, stop=len(text), exact=text[36:]), quote=text[36:])
    reader = PassageReader(CardText(sha256=SHA, size_bytes=1, media_type=MediaType.PDF, text=text, pages=(), extractor="test 1"))

    coverage = build_coverage(card(Log()), [], say([replace(survey(), passages=tuple(cuts))], [left]), text=text, read=reader.read_words)

    assert [(one.quote, one.readable) for one in coverage.unreviewed] == [(text[:35], "It occurs in 0 of 192 responses.")]
    assert coverage.omissions[0].payload.quote == text[36:]
    assert "\n" not in coverage.omitted[0]


def test_a_coverage_reads_back_as_it_was_written() -> None:
    """It is part of a supplement's record."""
    coverage = full()

    assert from_document(Coverage, to_document(coverage), where="coverage") == coverage


spans = st.tuples(st.integers(0, 5_000), st.integers(1, 400)).map(lambda one: (one[0], one[0] + one[1]))


@given(st.sets(spans, max_size=14), st.lists(spans, max_size=6), st.lists(spans, max_size=6))
def test_the_counts_are_those_that_comparing_every_character_gives(
    proposed: set[tuple[int, int]], claimed: list[tuple[int, int]], omitted: list[tuple[int, int]]
) -> None:
    """Whatever passages overlap, lie within each other, touch, or cross a heading."""
    dossiers = []
    for number, (start, stop) in enumerate(claimed, start=1):
        anchor = replace(place(0), start=start, stop=stop, exact=TEXT[start:stop])
        dossiers.append(dossier_at(0, claim=number, anchor=anchor))
    left = [replace(omission(0), anchor=replace(place(0), start=start, stop=stop, exact=TEXT[start:stop])) for start, stop in omitted]

    coverage = cover(dossiers, say([replace(survey(), passages=tuple(sorted(proposed)))], left))

    characters = {one: set(range(*one)) for one in [*proposed, *claimed, *omitted]}
    inner = [one for one in sorted(proposed) if not any(characters[other] < characters[one] for other in proposed)]
    decided = set().union(*(characters[one] for one in [*claimed, *omitted]))
    unreviewed = [one for one in inner if not characters[one] & decided]
    titles = [None] + [one.title for one in headed_card(Log()).payload.headings]
    starts = [0] + [one.start for one in headed_card(Log()).payload.headings]
    expected: dict[str | None, Counter[str]] = defaultdict(Counter)
    for name, found in (("proposed", inner), ("registered", claimed), ("excluded", omitted), ("unreviewed", unreviewed)):
        for start, _ in found:
            expected[titles[max(number for number, begin in enumerate(starts) if begin <= start)]][name] += 1
    assert [(one.start, one.stop) for one in coverage.unreviewed] == unreviewed
    assert {one.title for one in coverage.sections} == set(expected)
    for section in coverage.sections:
        for name in ("proposed", "registered", "excluded", "unreviewed"):
            assert getattr(section.counts, name) == expected[section.title][name]


numbers = st.lists(st.integers(0, 1_199), max_size=12, unique=True)


@given(numbers, numbers, numbers)
def test_sections_sum_up_to_the_whole_and_every_proposed_passage_is_decided_or_not(
    proposed: list[int], claimed: list[int], omitted: list[int]
) -> None:
    """Nothing is lost between the sections, and nothing counted twice."""
    dossiers = [dossier_at(number, claim=place + 1) for place, number in enumerate(claimed)]
    coverage = cover(dossiers, say([survey(*sorted(proposed))], [omission(number) for number in omitted]))

    for name in ("proposed", "registered", "audited", "restricted", "undetermined", "excluded", "unreviewed"):
        assert sum(getattr(one.counts, name) for one in coverage.sections) == getattr(coverage.total, name)
    assert {one.start // LENGTH for one in coverage.unreviewed} == set(proposed) - set(claimed) - set(omitted)
    assert coverage.total.proposed == len(proposed)
    assert len(coverage.sections) + coverage.silent_sections >= len(headed_card(Log()).payload.headings)
