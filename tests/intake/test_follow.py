"""What counts as the same words, as another spelling, and as another claim."""

import re
from collections import Counter
from dataclasses import replace
from textwrap import wrap

import pytest

from registry.intake.card_reader import read_card, split_pages
from registry.intake.quote_anchor import AnchoredText, NearestFinder
from registry.intake.revision.passage_changes import Follower, find_text_changes
from registry.records.system_card import MatchResult
from tests.gold import SHARED, needs_shared, read_gold
from tests.intake.test_follow_laws import follow, make_card

_BEFORE = "## Results\n\nWe ran the evaluation in May. "
_NAMES = ("Lumen", "Opal", "Quartz", "Beryl", "Topaz", "Garnet", "Zircon")
_AFTER = " Details are in the appendix of this card.\n\n## Limits\n\nSamples were small in every setting.\n"


def follow_sentence(old: str, new: str) -> tuple[MatchResult, tuple[str, ...]]:
    """Follow a sentence that became another one at the same place."""
    found = follow(f"{_BEFORE}{old}{_AFTER}", f"{_BEFORE}{new}{_AFTER}", old)
    return found.match_result, found.differs


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("Covert behaviour was rare.", "Covert behavior was rare.", "behaviour → behavior"),
        ("We analysed and generalised it.", "We analyzed and generalized it.", "analysed → analyzed"),
        ("Responses were labelled by hand.", "Responses were labeled by hand.", "labelled → labeled"),
        ("It is sceptical of our programme.", "It is skeptical of our program.", "sceptical → skeptical"),
        ("The evaluaton shows no sabotage.", "The evaluation shows no sabotage.", "evaluaton → evaluation"),
        ("It cannot be ruled out here.", "It can not be ruled out here.", "cannot → can not"),
        ("It passed 1000 tests of misuse.", "It passed 1,000 tests of misuse.", "1000 → 1,000"),
        ("It refused 5 percent of them all.", "It refused 5% of them all.", "percent → %"),
        ("During red teaming it refused.", "During red-teaming it refused.", "red teaming → red-teaming"),
        ("In tests, it never lied.", "In tests it never lied.", "tests, it → tests it"),
        ("High-Risk requests were refused.", "High-risk requests were refused.", "Risk → risk"),
    ],
)
def test_another_spelling_is_told_and_is_no_alarm(old: str, new: str, differs: str) -> None:
    """The passage is reworded in its spelling alone, and the spelling is named."""
    match_result, found = follow_sentence(old, new)

    assert match_result is MatchResult.REWORDED
    assert differs in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The model refused 92% of the requests.", "The model refused 82% of the requests."),
        ("The model refused 92% of the requests.", "The model refused 9.2% of the requests."),
        ("Gains were -5 points on the test.", "Gains were 5 points on the test."),
        ("It took 1-5 attempts on each task.", "It took 1, 5 attempts on each task."),
        ("The rate was <1% in all settings.", "The rate was >1% in all settings."),
        ("The 95% interval is [44, 71] here.", "The 95% interval is [42, 73] here."),
        ("The model scored:85 on this test.", "The model scored:95 on this test."),
        ("We measured llama3 with its tools.", "We measured llama4 with its tools."),
        ("Claude Opus 4.7 was the most honest.", "Claude Opus 4.8 was the most honest."),
        ("The model never lied to its users.", "The model lied to its users."),
        ("The model is unable to self-replicate.", "The model is able to self-replicate."),
        ("The model was unable to hide this.", "The model was enable to hide this."),
        ("Sabotage is likely in this setting.", "Sabotage is unlikely in this setting."),
        ("We saw an increase in refusals here.", "We saw a decrease in refusals here."),
        ("The model shows a causal effect.", "The model shows a casual effect."),
        ("The earlier model refused to answer.", "The earlier models refused to answer."),
        ("The judge was biased in both arms.", "The judge was based in both arms."),
        ("This was a typical case of misuse.", "This was atypical case of misuse."),
        ("The setup is typical of real usage.", "The setup is atypical of real usage."),
        ("It filled the forms for its users.", "It filed the forms for its users."),
        ("Non-refusals were rare in testing.", "Refusals were rare in testing."),
    ],
)
def test_another_meaning_is_never_spelling(old: str, new: str) -> None:
    """A number, sign, name, negation, plural or another real word makes another claim."""
    assert follow_sentence(old, new) == (MatchResult.REWORDED, ())
    assert follow_sentence(new, old) == (MatchResult.REWORDED, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It refused **at least 90 %** of requests.", "It refused at least 90 % of requests."),
        ("It doesn’t deceive – as measured – here.", "It doesn't deceive - as measured - here."),
        ("Misuse was rare.[^12] It never schemed.", "Misuse was rare.[^11] It never schemed."),
        ("Misuse was rare.12 It never schemed.", "Misuse was rare.11 It never schemed."),
        ("The evalua-\ntion of sabotage is new.", "The evaluation of sabotage is new."),
        ("During red-\nteaming it was honest.", "During red-teaming it was honest."),
        ("S A F E T Y  L E V E L three applies.", "SAFETY LEVEL three applies."),
        ("The ﬁrst eﬀect was small in size.", "The first effect was small in size."),
    ],
)
def test_another_layout_is_unchanged(old: str, new: str) -> None:
    """Markup, quotation marks, dashes, footnote marks, hyphenation, letter-spacing and ligatures are not words."""
    assert follow_sentence(old, new) == (MatchResult.UNCHANGED, ())


def test_half_a_sentence_keeps_its_half() -> None:
    """A quotation is carried over as far as it went, though the sentence around it changed."""
    quote = "refused 92 % of harmful requests"
    old = f"{_BEFORE}In May the model {quote} and schemed in no case.{_AFTER}"
    new = f"{_BEFORE}In our final run of June the model {quote}, but schemed in 3 of 50 cases.{_AFTER}"

    found = follow(old, new, quote)

    assert found.match_result is MatchResult.UNCHANGED
    assert found.anchor is not None
    assert found.anchor.exact == quote


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("In this setting the model {} in our tests.", "In this setting the model never {} in our tests."),
        ("In this setting the model never {} in our tests.", "In this setting the model {} in our tests."),
        ("In this setting the model {} in our tests.", "In this setting the model hasn't ever {} in our tests."),
    ],
)
def test_a_negation_before_a_quoted_half_turns_it(old: str, new: str) -> None:
    """The quoted words stand, and say the opposite: that is no passage unchanged."""
    quote = "schemed against its overseers"

    found = follow(f"{_BEFORE}{old.format(quote)}{_AFTER}", f"{_BEFORE}{new.format(quote)}{_AFTER}", quote)

    assert (found.match_result, found.differs) == (MatchResult.REWORDED, ())


def test_what_is_added_to_a_quoted_sentence_belongs_to_it() -> None:
    """A whole sentence that was quoted and goes on is another sentence."""
    old, new = "The model was honest in all tests.", "The model was honest in all tests that we could repeat."

    found = follow(f"{_BEFORE}{old}{_AFTER}", f"{_BEFORE}{new}{_AFTER}", old)

    assert found.match_result is MatchResult.REWORDED
    assert found.anchor is not None
    assert found.anchor.exact == new


def test_a_sentence_split_in_two_is_found_as_both() -> None:
    """One sentence became two: the passage is both, in other words."""
    old = "The model refused 92 % of harmful requests, and it completed 4 % of restricted tasks in our tests."
    new = "The model refused 92 % of harmful requests. It completed 4 % of restricted tasks in our tests."

    found = follow(f"{_BEFORE}{old}{_AFTER}", f"{_BEFORE}{new}{_AFTER}", old)

    assert found.match_result is MatchResult.REWORDED
    assert found.anchor is not None
    assert found.anchor.exact == new


def test_rows_of_a_table_meet_their_own_rows() -> None:
    """A row with another figure is reworded, and its neighbours, which have the same figures, are not taken for it."""
    rows = ["| Lumen 1 | 24 | 37.5 % |", "| Lumen 2 | 24 | 70.8 % |", "| Lumen 3 | 24 | 37.5 % |"]
    table = "## Table\n\n| Model | Tasks | Share |\n|---|---|---|\n{}\n"
    old = table.format("\n".join(rows))
    new = table.format("\n".join([rows[0].replace("37.5", "41.7"), rows[1], "| Lumen 2b | 24 | 37.5 % |", rows[2]]))

    match_results = [follow(old, new, row) for row in rows]

    assert [one.match_result for one in match_results] == [MatchResult.REWORDED, MatchResult.UNCHANGED, MatchResult.UNCHANGED]
    assert match_results[0].anchor is not None
    assert match_results[0].anchor.exact == "| Lumen 1 | 24 | 41.7 % |"


@needs_shared
def test_the_gold_quotes_of_a_real_revision() -> None:
    """Of the 22 quotes of the Fable 5 card, 18 survive its revision, 2 are reworded (in their spelling), 2 are gone."""
    old, new = (read_card(SHARED / f"cards/anthropic-claude-fable-5{version}.md") for version in (".v2026-06-09", ""))
    anchored, nearest, follower = AnchoredText(old), NearestFinder(old.text), Follower(old, new)
    quotes = [one["quote"] for one in read_gold() if one["id"].startswith("F5-")]
    there = [quote if quote in old.text else getattr(nearest.find(quote), "passage", "") for quote in quotes]

    found = [follower.follow(anchored.find(quote)) for quote in there]

    assert Counter(one.match_result for one in found) == {MatchResult.UNCHANGED: 18, MatchResult.REWORDED: 2, MatchResult.GONE: 2}
    assert [one.differs for one in found if one.match_result is MatchResult.REWORDED] == [("behaviour → behavior",)] * 2
    kept = [one.anchor.exact for one in found if one.anchor]
    assert kept == [quote for quote in quotes if quote in new.text]


@needs_shared
def test_a_real_pdf_set_anew_has_no_news() -> None:
    """With every paragraph run on and broken at another width, headings and rows included, each gold quote stands where it stood."""
    old = replace(read_card(SHARED / "cards/anthropic-claude-haiku-4.5.pdf"), headings=())
    text = "\f".join("\n".join(wrap(" ".join(page.split()), 63)) for page in old.text.split("\f"))
    anchored, follower = AnchoredText(old), Follower(old, replace(old, text=text, pages=split_pages(text)))
    quotes = [one for one in read_gold() if one["id"].startswith("H45-")]

    found = Counter(follower.follow(anchored.find(one["quote"], page=one["page"])).match_result for one in quotes)

    assert found == {MatchResult.UNCHANGED: len(quotes)}


@needs_shared
def test_every_changed_figure_of_a_real_card_is_seen_and_nothing_else() -> None:
    """One figure in eight is changed: just those passages are reworded, all others unchanged, and each figure is listed."""
    old = read_card(SHARED / "cards/meta-llama-4.md")
    figures = list(re.finditer(r"(?<![\w./])\d+\.\d+(?![\w.])", old.text))[::8]
    text = old.text
    for found in figures:
        text = f"{text[: found.start()]}{(int(text[found.start()]) + 1) % 10}{text[found.start() + 1 :]}"
    follower = Follower(old, replace(old, text=text))
    anchored = AnchoredText(old)

    followed = {
        passage.start: follower.follow(anchored.place(passage.start, passage.stop))
        for passage in follower.old_outline.passages
        if len(passage.words) > 20
    }
    # One of the figures is the version of a model in the head of a table: an alarm for all rows below it.
    below = {start for start, passage in followed.items() if passage.heads}
    match_results = {start: passage.match_result for start, passage in followed.items() if start not in below}

    touched = {passage.start for passage in follower.old_outline.passages for one in figures if passage.start <= one.start() < passage.stop}
    assert len(figures) > 5
    assert {followed[start].heads for start in below} == {("column head: Llama 3.1 70B → Llama 4.1 70B",)}
    assert {
        start for start, match_result in match_results.items() if match_result is not MatchResult.UNCHANGED
    } == touched & match_results.keys()
    assert {passage.match_result for start, passage in followed.items() if start in touched} == {MatchResult.REWORDED}
    assert len(find_text_changes(follower).figures) == len(touched)


def test_what_was_reworded_beside_a_long_new_chapter_is_found() -> None:
    """Sentences that were edited are followed however many new ones were put in before or after them."""
    edited = [f"In audit number {name} the model refused most of the harmful requests that testers made." for name in _NAMES]
    anew = [f"For audit number {name} our model declined most harmful requests that outside testers made." for name in _NAMES]
    chapter = [
        f"Chapter text {at} speaks of the {_NAMES[at % 7]} model and of requests that testers made {at * 7} times." for at in range(2_000)
    ]

    for there in ([*chapter, *anew], [*anew, *chapter]):
        old, new = ("\n\n".join(["## Results", *sentences, "## Limits", "Samples were small."]) for sentences in (edited, there))
        follower = Follower(make_card(old), make_card(new))
        found = [follower.follow(AnchoredText(follower.old).find(one)) for one in edited]
        assert [one.anchor and one.anchor.exact.rstrip(".") for one in found] == [one.rstrip(".") for one in anew]


def test_a_figure_under_a_short_title_is_no_title() -> None:
    """The first sentence below a heading of one letter has its changed figure told; the numbers of headings are places."""
    old = "# 2 A\n\nThe model refused 92% of the requests.\n\n# 3 B\n\nSamples were small.\n"
    follower = Follower(make_card(old), make_card(old.replace("92%", "82%").replace("# 3 B", "# 4 B")))

    assert [one.numbers for one in find_text_changes(follower).figures] == ["92 → 82"]


TABLE = (
    "## Results\n\nTable 1: Scores on the test.\n\n"
    "| Model | Alpha | Beta |\n|---|---|---|\n| Heron 2 | 71.2 | 63.0 |\n| Heron 1 | 50.1 | 40.2 |\n\nText.\n"
)
ROW = "| Heron 2 | 71.2 | 63.0 |"
WIDER = TABLE.replace("|---|", "|---|---|", 1)


@pytest.mark.parametrize(
    "new",
    [
        WIDER.replace("Beta |", "Beta | Gamma |").replace("63.0 |", "63.0 | 12.5 |").replace("40.2 |", "40.2 | 9.9 |"),
        WIDER.replace("| Alpha", "| Gamma | Alpha").replace("| 71.2", "| 12.5 | 71.2").replace("| 50.1", "| 9.9 | 50.1"),
        TABLE.replace("Alpha | Beta", "Beta | Alpha").replace("71.2 | 63.0", "63.0 | 71.2").replace("50.1 | 40.2", "40.2 | 50.1"),
    ],
    ids=["column added", "column added before", "columns exchanged"],
)
def test_the_same_cells_under_the_same_heads_are_unchanged(new: str) -> None:
    """A new column gives the older figures no other meaning, and its own are no changed figures."""
    follower = Follower(make_card(TABLE), make_card(new))

    passage = follow(TABLE, new, ROW)

    assert (passage.match_result, passage.heads) == (MatchResult.UNCHANGED, ())
    assert find_text_changes(follower).figures == ()


@pytest.mark.parametrize(
    ("new", "change"),
    [
        (TABLE.replace("Beta", "Deployment"), "column head: Beta → Deployment"),
        (TABLE.replace("on the test", "in deployment"), "caption: Scores on the test. → Scores in deployment."),
        (TABLE.replace(" Beta |", "").replace("|---|", "|", 1).replace(" 63.0 |", "").replace(" 40.2 |", ""), "column removed: Beta"),
    ],
)
def test_a_changed_head_or_caption_alarms_the_rows_below(new: str, change: str) -> None:
    """The words of the row may be the same: they are said of something else."""
    passage = follow(TABLE, new, ROW)

    assert (passage.match_result, passage.differs, passage.heads) == (MatchResult.REWORDED, (), (change,))


def test_a_changed_cell_is_a_changed_figure_beside_a_new_column() -> None:
    """Only the figure under the older head is listed."""
    new = WIDER.replace("Beta |", "Beta | Gamma |").replace("63.0 |", "63.5 | 12.5 |").replace("40.2 |", "40.2 | 9.9 |")

    changes = find_text_changes(Follower(make_card(TABLE), make_card(new)))

    assert [figure.numbers for figure in changes.figures] == ["63.0 → 63.5"]
    assert follow(TABLE, new, ROW).match_result is MatchResult.REWORDED


def test_a_changed_number_of_a_caption_alarms_nothing() -> None:
    """“Table 2” for “Table 1” says nothing of the figures."""
    assert follow(TABLE, TABLE.replace("Table 1", "Table 2"), ROW).match_result is MatchResult.UNCHANGED
