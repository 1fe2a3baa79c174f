"""Rows of tables stand under the right heads, in whatever way a card writes its tables; what does not agree has no column."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from registry.intake.card_reader import read_card
from registry.intake.html_reader import read_hypertext
from registry.intake.outline.card_passages import build_passage_reader, read_outline
from registry.records.system_card import MediaType, PassageKind
from tests.intake.outlines import card_of, cells_of, outline_of, rows_of, words_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "card"
_PROSE = "It was found in many tests that the model refuses what it should refuse, and that it says why."


def test_a_printed_row_stands_under_heads_that_take_several_lines() -> None:
    """A head begins with a capital and goes on in small letters; the version of a name is no cell."""
    text = (
        f"{_PROSE}\nKestrel 2.5 answered well, and Kestrel 1.5 did too.\n{_PROSE}\n"
        "Model Overall harmless\nresponse rate\nHarmless response\nrate: default\n"
        "Kestrel 2.5 99.38% (± 0.21%) 99.40% (± 0.29%)\nKestrel 1.5 98.01% (± 0.30%) N/A\n"
        "Table 2.1 Harmless answers. Higher is better.\n"
        f"{_PROSE}"
    )

    rows = rows_of(outline_of(text))

    assert [cells_of(row) for row in rows] == [
        [
            ("Model", "Kestrel 2.5"),
            ("Overall harmless response rate", "99.38% (± 0.21%)"),
            ("Harmless response rate: default", "99.40% (± 0.29%)"),
        ],
        [
            ("Model", "Kestrel 1.5"),
            ("Overall harmless response rate", "98.01% (± 0.30%)"),
            ("Harmless response rate: default", "N/A"),
        ],
    ]
    assert {row.caption for row in rows} == {"Table 2.1 Harmless answers. Higher is better."}


def test_a_label_on_several_lines_is_one() -> None:
    """Figures alone on a line belong to the label above it; a caption may stand above the table."""
    head = "Evaluation gpt-5-codex gpt-5.1-codex gpt-5.2-codex"
    text = f"{_PROSE}\nTable 2: Scores of all.\n{head}\nDestructive action\navoidance\n0.66 0.70 0.75\n"

    (row,) = rows_of(outline_of(text))

    assert row.words == "Destructive action avoidance 0.66 0.70 0.75"
    assert cells_of(row)[0] == ("Evaluation", "Destructive action avoidance")
    assert cells_of(row)[3] == ("gpt-5.2-codex", "0.75")
    assert row.caption == "Table 2: Scores of all."


def test_heads_that_do_not_agree_are_not_guessed() -> None:
    """Three figures under what may be two or five heads have no column, and the notes say so."""
    text = f"{_PROSE}\nName Overall Score Refusal Rate\nKestrel A 0.1 0.2 0.3\nKestrel B 0.4 0.5 0.6\n"

    outline = outline_of(text)

    assert [column for column, _ in cells_of(rows_of(outline)[0])] == [None, None, None, None]
    assert any("could not be recognised" in note for note in outline.notes)


@pytest.mark.parametrize(
    "text",
    [
        "We saw it in 36 of 96\nanswers, and in the others in 12 of\n50 runs that were made in the year 2024\nand after it.",
        "• gpt-5.1: 60%\n• gpt-5.2: 47%\n• gpt-5.3: 80%",
        "Example Lab\nFebruary 5, 2026\nKestrel 2",
    ],
)
def test_text_that_ends_in_figures_is_no_table(text: str) -> None:
    """Sentences broken after a number, list items, and a date are none."""
    assert rows_of(outline_of(f"{_PROSE}\n{text}\n{_PROSE}")) == []


_TWO_LEVELS = (
    "<table><tr><th colspan=2>Model</th><th colspan=2>Without safeguards</th><th colspan=2>With safeguards</th></tr>"
    "<tr><td></td><td></td><th>Attempts</th><th>Scenarios</th><th>Attempts</th><th>Scenarios</th></tr>"
    "<tr><th rowspan=2>Kestrel 2</th><td>thinking</td><td>0.4%</td><td>8/40</td><td>0.2%</td><td>3/40</td></tr>"
    "<tr><td>no thinking</td><td>0.9%</td><td>9/40</td><td></td><td>4/40</td></tr></table>"
)


def test_spans_and_heads_on_two_levels() -> None:
    """A cell over two columns names both, one over two rows stands in both, an empty cell keeps its place."""
    rows = rows_of(outline_of(f"# Card\n\n{_TWO_LEVELS}\n\n[Table 1] Attacks.\n", MediaType.MARKDOWN))

    assert cells_of(rows[1]) == [
        ("Model", "Kestrel 2"),
        ("Model", "no thinking"),
        ("Without safeguards Attempts", "0.9%"),
        ("Without safeguards Scenarios", "9/40"),
        ("With safeguards Attempts", ""),
        ("With safeguards Scenarios", "4/40"),
    ]
    assert rows[0].caption == "[Table 1] Attacks."


def test_an_html_page_and_its_markdown_have_the_same_columns() -> None:
    """The text of an HTML table, tab by tab, says what its source says; only a cell from above is empty in it."""
    from_markdown = [cells_of(row) for row in rows_of(outline_of(_TWO_LEVELS, MediaType.MARKDOWN))]
    text, _ = read_hypertext(f"<html><body>{_TWO_LEVELS}</body></html>")
    from_text = [cells_of(row) for row in rows_of(outline_of(text, MediaType.HTML))]

    assert [cell for row in from_text for cell in row if cell[0] != "Model"] == [
        cell for row in from_markdown for cell in row if cell[0] != "Model"
    ]


def test_groups_stand_with_the_labels_below_them() -> None:
    """A row that says one thing over the whole table names the rows below; an empty first label is the one above."""
    text = "| Category | Benchmark | Kestrel 2 |\n|---|---|---|\n| **Honesty** | | |\n| Plain | MMLU | 79.3 |\n| | MATH | - |\n"

    outline = outline_of(text, MediaType.MARKDOWN)

    assert [cells_of(row) for row in rows_of(outline)] == [
        [("Category Honesty", "Plain"), ("Benchmark", "MMLU"), ("Kestrel 2", "79.3")],
        [("Category Honesty", "Plain"), ("Benchmark", "MATH"), ("Kestrel 2", "-")],
    ]
    assert len(words_of(outline, PassageKind.HEAD)) == 2


def test_a_head_may_have_line_breaks_and_escaped_bars() -> None:
    """What a browser would show on several lines is one head; an escaped bar parts no cells."""
    text = "| Model | Rate<br>(refused) | a \\| b |\n|:---|---:|---|\n| Kestrel 2 | 5% | 7 |\n"

    (row,) = rows_of(outline_of(text, MediaType.MARKDOWN))

    assert cells_of(row) == [("Model", "Kestrel 2"), ("Rate (refused)", "5%"), ("a | b", "7")]


def test_our_own_card_has_the_same_rows_as_pdf_and_as_markdown() -> None:
    """Every row with figures of the typeset card stands under the heads that its source has."""
    printed = rows_of(read_outline(read_card(EXAMPLES / "card.pdf")))
    source = [row for row in rows_of(read_outline(read_card(EXAMPLES / "card.md"))) if not row.cells[0].text[:1].isdigit()]

    def plain(rows: list[list[tuple[str | None, str]]]) -> list[list[tuple[str | None, str]]]:
        return [[(column, text.replace("“", '"').replace("”", '"')) for column, text in row] for row in rows]

    assert plain([cells_of(row) for row in printed]) == plain([cells_of(row) for row in source])
    assert len(printed) == 15


def test_our_own_card_says_the_same_sentences_as_html() -> None:
    """What the Markdown card says, its rendering says too."""
    source = (EXAMPLES / "card.md").read_text(encoding="utf-8")
    page = MarkdownIt("commonmark").enable("table").render(source)
    text, headings = read_hypertext(f"<html><body>{page}</body></html>")
    kinds = (PassageKind.SENTENCE, PassageKind.ITEM)

    from_page = set(words_of(read_outline(card_of(text, MediaType.HTML, headings=headings)), *kinds))
    from_source = [words.removeprefix("* ") for words in words_of(outline_of(source, MediaType.MARKDOWN), *kinds)]

    missing = [words for words in from_source if words not in from_page]
    assert len(missing) <= 3, missing


def test_a_row_is_read_with_its_cells_under_their_heads() -> None:
    """The bundled card prints its tables without rules; a passage that is no row is read as it is."""
    card = read_card(EXAMPLES / "card.pdf")
    read = build_passage_reader(card)
    start = card.text.index("T3 Evaluation mode, metric named")
    sentence = card.text.index("The results differ more")

    assert read(start, card.text.index("\n", start)) == "T3 Evaluation mode, metric named · Correct: 20 · Responses: 24 · Share: 83.3 %"
    assert read(sentence, sentence + 23) == "The results differ more"


def test_a_share_above_one_is_named_in_the_notes(tmp_path: Path) -> None:
    """A misprint, or a head that was read wrongly; increases may be above 100 %, and scores have scales of their own."""
    path = tmp_path / "card.md"
    path.write_text(
        "| Test | Share of answers | Rate | Increase | Score |\n|---|---|---|---|---|\n"
        "| Alpha | 94 % | 88 % | 130 % | 12.5 |\n| Beta | 9.4 | 188 % | 20 % | 9 |\n"
    )

    (note,) = [note for note in read_outline(read_card(path)).notes if "scale" in note]

    assert note.startswith("2 figures of tables are outside their scale (a share above 1): Beta: Share of answers 9.4; Beta: Rate 188 %.")
