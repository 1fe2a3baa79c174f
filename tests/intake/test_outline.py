"""A card's text is read into passages as a person would: what belongs together, without what only the page needs."""

import pytest

from registry.intake.outline.card_passages import describe_language, read_outline
from registry.intake.outline.printed_tables import find_cells
from registry.records.system_card import Heading, MediaType, PassageKind
from tests.intake.outlines import card_of, outline_of, words_of

_FULL = "Kestrel 2 was tested on many tasks in a long series of runs by people who did not know it,"
SENTENCE, ITEM, CAPTION = PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.CAPTION


def test_a_sentence_goes_on_over_line_and_page_ends() -> None:
    """The page number between its halves is in the passage and not in its words."""
    text = f"{_FULL}\nand it refused\n7\f97.5 % of the requests.\nThat is more.\n8"

    outline = outline_of(text)

    first = outline.passages[0]
    assert first.words == f"{_FULL} and it refused 97.5 % of the requests."
    assert text[first.start : first.stop].endswith("of the requests.")
    assert "\n7\f" in text[first.start : first.stop]
    assert first.page == 1
    assert words_of(outline, PassageKind.FURNITURE) == ["8"]


def test_a_running_head_is_furniture() -> None:
    """A line at the same edge of most pages is left out of the sentence it interrupts."""
    pages = [f"Kestrel 2 System Card\n{_FULL}\n{_FULL}\n{_FULL}\nso that on page {number} it was\n{number}" for number in range(1, 6)]

    outline = outline_of("\f".join(pages))

    assert words_of(outline, PassageKind.FURNITURE).count("Kestrel 2 System Card") >= 1
    assert not any("System Card" in words for words in words_of(outline, SENTENCE))


def test_a_footnote_between_two_halves_is_a_passage_of_its_own() -> None:
    """The halves are two passages of one block; the mark is in neither's words."""
    text = f"{_FULL}\nwhich the lab1 calls\n1 Example Lab is invented.\n1\fa success."

    outline = outline_of(text)

    kinds = [(passage.kind, passage.words) for passage in outline.passages if passage.kind is not PassageKind.FURNITURE]
    assert kinds == [
        (SENTENCE, f"{_FULL} which the lab calls"),
        (PassageKind.FOOTNOTE, "1 Example Lab is invented."),
        (SENTENCE, "a success."),
    ]
    halves = [passage.block for passage in outline.passages if passage.kind is SENTENCE]
    assert halves[0] == halves[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The rate was 47%2 overall.", "The rate was 47% overall."),
        ("It is a small model.1 We test it.", "It is a small model."),
        ("It scored 4.52 and GPT4 scored 3.", "It scored 4.52 and GPT4 scored 3."),
        ("It is described in Fig.2 below.", "It is described in Fig.2 below."),
        ("The gemma2 model took part.", "The gemma2 model took part."),
        ("The interval is [12, 15] here.", "The interval is [12, 15] here."),
    ],
)
def test_footnote_marks_are_taken_out_only_where_they_can_be_nothing_else(text: str, words: str) -> None:
    """After a per cent sign or a stop; never within a number, a name, or after an abbreviation."""
    assert outline_of(text).passages[0].words == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We report the evalua-\ntion here. The evaluation ended.", "We report the evaluation here."),
        ("GPT-\n5.3 is newer than others.", "GPT-5.3 is newer than others."),
        ("It is an open-\nended task. All open-ended tasks count.", "It is an open-ended task."),
        ("It was a soft\u00adhyphen in a word.", "It was a softhyphen in a word."),
        ("The \ufb01rst of\ufb01ce did it.", "The first office did it."),
        ("E v a l u a t i o n  r e s u l t s follow.", "Evaluation results follow."),
        ("10² is not 102, and 2½ is not 21.", "10² is not 102, and 2½ is not 21."),
        ("left- and right-leaning answers count.", "left- and right-leaning answers count."),
    ],
)
def test_words_are_what_a_person_reads(text: str, words: str) -> None:
    """Hyphens at line ends and soft hyphens closed, ligatures opened, letter-spaced text closed up; numbers stay."""
    assert outline_of(text).passages[0].words == words


def test_markdown_is_read_without_its_markup() -> None:
    """Emphasis, links, tags, comments, entities and footnote marks are no words; code is left out and said to be."""
    text = (
        "# Card\n\nIt **refused** [97 %](https://example.org/x) of <b>requests</b> &amp; more.[^1]<!-- p.2 --> It\n"
        "stopped.\n\n- One `item`.\n- Another.\n\n```python\nx = 97\n```\n\n[^1]: Measured twice.\n"
    )

    outline = outline_of(text, MediaType.MARKDOWN)

    assert words_of(outline, SENTENCE) == ["It refused 97 % of requests & more.", "It stopped."]
    assert [words.strip() for words in words_of(outline, ITEM)] == ["One item.", "Another."]
    assert words_of(outline, PassageKind.FOOTNOTE) == ["Measured twice."]
    assert outline.notes == ("1 × code block: code was not read for claims.",)


def test_raw_html_in_markdown_is_data() -> None:
    """Its tags part paragraphs, its script is left out with a note, and none of it is markup to anybody."""
    text = "# Card\n\n<div><p>It failed in 3 of 9 runs.</p><p>We stopped.</p></div>\n\n<script>document.write('5 %')</script>\n\nThe end.\n"

    outline = outline_of(text, MediaType.MARKDOWN)

    assert words_of(outline, SENTENCE) == ["It failed in 3 of 9 runs.", "We stopped.", "The end."]
    assert any("script" in note for note in outline.notes)


def test_a_sentence_over_a_page_mark_is_one() -> None:
    """A comment that marks a page between two paragraphs interrupts a sentence only where it ends."""
    text = "# A\n\nIt was found that the\n\n<!-- p.2 -->\n\nrate is 5 %.\n\n<!-- p.3 -->\n\nNext.\n"

    outline = outline_of(text, MediaType.MARKDOWN)

    assert words_of(outline, SENTENCE) == ["It was found that the rate is 5 %.", "Next."]
    assert [passage.page for passage in outline.passages if passage.kind is SENTENCE] == [1, 3]


def test_the_table_of_contents_is_no_claim_and_no_heading() -> None:
    """Its lines are contents; the same titles further on are headings, also without a declared outline."""
    entries = "Contents\n1 Scope . . . . . . 2\n2 Results . . . . . 3\n2.1 Refusals . . . . 3\n2.2 Honesty . . . . 4\n"
    body = (
        f"1 Scope\n{_FULL}\nand so on.\n2 Results\n2.1 Refusals\n{_FULL}\nand so on.\n2.2 Honesty\nIt told the truth in 9 of 10 answers.\n"
    )

    outline = outline_of(f"{entries}1\f{body}2", MediaType.PLAIN)

    assert len(words_of(outline, PassageKind.CONTENTS)) == 5
    assert [heading.title for heading in outline.headings] == ["1 Scope", "2 Results", "2.1 Refusals", "2.2 Honesty"]
    last = next(passage for passage in outline.passages if "told the truth" in passage.words)
    assert last.section == 3
    assert any("declares no headings" in note for note in outline.notes)


def test_list_numbers_are_no_headings() -> None:
    """A number that does not follow from the last heading makes none."""
    text = "1 Scope\nSome prose about the scope of it.\n1.1 Three Skills\n1. Discovery of things\n2. Attack of things\n3. Defence\n"

    assert [heading.title for heading in outline_of(text).headings][:2] == ["1 Scope", "1.1 Three Skills"]
    assert "Discovery" not in str(outline_of(text).headings)


def test_sections_are_those_of_the_declared_headings() -> None:
    """A passage stands below the nearest heading above it; the heading's own lines are a heading."""
    text = "Cover\n1 Scope of the\nwhole card\nIt has ten pages.\n2 Results\nIt failed."
    headings = (Heading(start=6, title="Scope of the whole card"), Heading(start=text.index("2 Res"), title="Results"))

    outline = read_outline(card_of(text, headings=headings))

    assert words_of(outline, PassageKind.HEADING) == ["1 Scope of the whole card", "2 Results"]
    assert [(passage.words, passage.section) for passage in outline.passages if passage.kind is SENTENCE] == [
        ("Cover", None),
        ("It has ten pages.", 0),
        ("It failed.", 1),
    ]
    assert outline.headings == headings


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("هذا نموذج لغوي كبير " * 30, "Arabic script, which reads from right to left"),
        ("Это большая языковая модель. " * 30, "Cyrillic script"),
        ("Das Modell lehnte neunzig Prozent der Anfragen ab, weil es vorsichtig sein soll. " * 30, "does not read like English"),
        ("\n".join("the evalua- Models were of trou- Then it was" for _ in range(12)), "two columns"),
        ("E v a l u a t i o n and more of it.", "letter-spaced"),
        ("Nothing but a sentence.", "No headings were found"),
    ],
)
def test_what_rules_should_not_trust_is_said(text: str, note: str) -> None:
    """Other scripts and languages, mixed columns, letter-spacing, no headings: each in a sentence."""
    assert any(note in told for told in outline_of(text).notes)


def test_a_plain_english_card_with_headings_needs_no_note() -> None:
    """Nothing is said where nothing was guessed."""
    text = "# Card\n\nThe model is one of those that we have tested for this card.\n"

    assert outline_of(text, MediaType.MARKDOWN).notes == ()


def test_links_that_are_defined_elsewhere_read_as_their_text() -> None:
    """`[text][name]` says its text, and the line that defines the name is no passage."""
    text = "# Card\n\nOn [MMLU][mmlu] it scored 71.3.\n\n[mmlu]: https://example.org/abs/1\n"

    assert words_of(outline_of(text, MediaType.MARKDOWN), SENTENCE) == ["On MMLU it scored 71.3."]


def test_front_matter_is_excluded_and_said_to_be() -> None:
    """The YAML block that model hubs put before a card makes no claims."""
    text = "---\nlicense: mit\nmodel-index:\n- value: 97.5\n---\n# Card\n\nIt refuses what it should.\n"

    outline = outline_of(text, MediaType.MARKDOWN)

    assert words_of(outline, SENTENCE) == ["It refuses what it should."]
    assert any("front matter" in note for note in outline.notes)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("Kestrel A 12/40 3 of 9", ["12/40", "3 of 9"]),
        ("Kestrel A 94.2% ±1.3% 0.5–0.7", ["94.2% ±1.3%", "0.5–0.7"]),
        ("Kestrel A <0.01% ~5% $1,200", ["<0.01%", "~5%", "$1,200"]),
        ("Kestrel A 12.3 (4.5) 7 [5.1, 9.2]", ["12.3 (4.5)", "7 [5.1, 9.2]"]),
        ("Kestrel A 3.2× N/A –1.4 76.7 / 80.1", ["3.2×", "N/A", "–1.4", "76.7 / 80.1"]),
    ],
)
def test_figures_of_a_printed_row_are_told_apart(text: str, cells: list[str]) -> None:
    """With their unit, uncertainty, interval, denominator and sign."""
    assert [text[start:stop] for start, stop in find_cells(text)] == cells


def test_a_share_of_letters_counts_letters_alone() -> None:
    """Digits, marks and points of a script are no letters of it: there is no card with 117 % of them."""
    (note,) = describe_language("رفض النموذج ٩٦٪ من ٥٠ طلبًا ضارًا، ٩٩٩٩٩٩ ٩٩٩٩ ٩٩٩٩")

    assert note.startswith("100% of the letters are in Arabic script")
