"""Tables whose rows were lost when a page became plain text, and heads whose columns nothing but their words shows."""

import pytest

from registry.intake.card_reader import find_hashed
from registry.intake.outline.card_passages import read_outline
from registry.intake.outline.printed_tables import align_heads, split_names
from registry.records.system_card import MediaType, Outline, PassageKind
from tests.intake.outlines import card_of, cells_of, outline_of, rows_of, words_of

_PROSE = "The following results were measured with the same prompts and the same sampling for all of the models."


def read_rows(text: str) -> list[list[tuple[str | None, str]]]:
    """Return column and text of the cells of each row of a plain text."""
    return [cells_of(row) for row in rows_of(outline_of(text, MediaType.PLAIN))]


def test_a_cell_on_each_line_is_a_row_with_the_heads_of_the_first_block() -> None:
    """A title of a group above a label is no head, and a sign for none is a cell."""
    text = (
        f"{_PROSE}\n\nCategory\nBenchmark\n Kestrel-7B\n Ibis-8B-Instruct\n\nGeneral\n MMLU (5-shot)\n 68.2\n 70.5\n\n"
        f"IFEval\n 78.8\n 76.5\n\nMath\n GSM8K (5-shot)\n -\n 81.4\n\n{_PROSE}\n"
    )

    rows = read_rows(text)

    assert [[cell for _, cell in row] for row in rows] == [
        ["MMLU (5-shot)", "68.2", "70.5"],
        ["IFEval", "78.8", "76.5"],
        ["GSM8K (5-shot)", "-", "81.4"],
    ]
    assert {tuple(column for column, _ in row) for row in rows} == {("Benchmark", "Kestrel-7B", "Ibis-8B-Instruct")}


def test_heads_that_do_not_fit_give_rows_without_columns() -> None:
    """Heads on several lines each are more lines than columns, and nothing says which belong together."""
    heads = "Benchmark\nKestrel\n2.5 Pro\n(final)\nIbis\n3 High\nHeron\n4 Sonnet\n"
    text = f"{_PROSE}\n\n{heads}\nMMLU\n86.4\n83.0\n81.0\n\nGPQA\n69.0\n75.6\n70.4\n\nAIME\n88.0\n83.0\n86.7\n\n{_PROSE}\n"

    rows = read_rows(text)

    assert [row[0][1] for row in rows] == ["MMLU", "GPQA", "AIME"]
    assert {column for row in rows for column, _ in row[1:]} == {None}


def test_names_and_figures_of_a_chart_are_no_table() -> None:
    """Runs of different length are what a picture leaves."""
    text = f"{_PROSE}\n\nKestrel\n57.1\n43.2\n\nIbis\n17.6\n\nHeron\n51.3\n28.1\n15.4\n\n{_PROSE}\n"

    assert read_rows(text) == []


def test_several_rows_on_one_line_are_parted_by_their_figures() -> None:
    """The version of a name is one figure too many, or too few, and belongs to the name."""
    text = (
        f"{_PROSE}\n\nBenchmark MMLU-Pro GPQA LiveCode\n\n"
        "Kestrel-5 (High) 87.1 85.4 84.6 Ibis 4 86.6 87.7 81.9 Heron 2.5 Pro 86.2 84.4 80.1\n\n"
        f"Open models\n\nTern-15B 77.3 71.3 72.8\n\n{_PROSE}\n"
    )

    rows = read_rows(text)

    assert [[cell for _, cell in row] for row in rows] == [
        ["Kestrel-5 (High)", "87.1", "85.4", "84.6"],
        ["Ibis 4", "86.6", "87.7", "81.9"],
        ["Heron 2.5 Pro", "86.2", "84.4", "80.1"],
        ["Tern-15B", "77.3", "71.3", "72.8"],
    ]
    assert {tuple(column for column, _ in row) for row in rows} == {("Benchmark", "MMLU-Pro", "GPQA", "LiveCode")}


def test_heads_on_the_line_of_their_rows_are_taken_from_the_first_label() -> None:
    """“Model ELO Win rate” is above the columns, and the rest of the label names the first row."""
    text = f"{_PROSE}\n\nModel ELO Win rate Kestrel 1227 78.6 Ibis 1185 73.6 Heron 1091 60.6\n\n{_PROSE}\n"

    rows = read_rows(text)

    assert rows[0] == [("Model", "Kestrel"), ("ELO", "1227"), ("Win rate", "78.6")]
    assert [row[0][1] for row in rows] == ["Kestrel", "Ibis", "Heron"]


def test_tables_of_bars_and_of_tabs_are_read_in_plain_text() -> None:
    """A saved page may keep the marks of Markdown, and a copied table has tabs."""
    bars = f"# Card\n\n## Results\n\n{_PROSE}\n\n| Benchmark | Ibis 2 | Heron |\n|---|---|---|\n| MMLU | **71.2** | 68.1 |\n"
    tabs = f"{_PROSE}\n\nBenchmark\tIbis 2\tHeron\nMMLU\t71.2\t68.1\nGSM8K\t80.1\t77.7\n"

    assert cells_of(rows_of(outline_of_page(bars))[0]) == [("Benchmark", "MMLU"), ("Ibis 2", "71.2"), ("Heron", "68.1")]
    assert read_rows(tabs)[1] == [("Benchmark", "GSM8K"), ("Ibis 2", "80.1"), ("Heron", "77.7")]


def outline_of_page(text: str) -> Outline:
    """Return the outline of a plain text with the headings that its hash marks show."""
    return read_outline(card_of(text, MediaType.PLAIN, headings=find_hashed(text)))


def test_hash_marks_are_headings_of_a_plain_text_from_two_marks_on() -> None:
    """One mark begins comments and rows: it counts at the top only."""
    page = "# Ibis 2\n\n## Limits\n\nIbis 2 may invent sources.\n\n# load the model\nmodel = load()\n\n## Results\n"
    rows = "Ibis 2\n\n# Total Params 72B 71B\n# Activated Params 7B 7B\n"

    assert [heading.title for heading in find_hashed(page)] == ["Ibis 2", "Limits", "Results"]
    assert find_hashed(rows) == ()
    assert words_of(outline_of_page(page), PassageKind.HEADING)[1].endswith("Limits")


def test_an_empty_row_of_heads_leaves_them_to_the_next() -> None:
    """Converters that find no heads write an empty row for them."""
    text = "# Ibis\n\n| | | |\n|---|---|---|\n| | Ibis-early | Ibis-final |\n| should refuse | 0.83 | 0.98 |\n"

    row = rows_of(outline_of(text, MediaType.MARKDOWN))[0]

    assert cells_of(row) == [(None, "should refuse"), ("Ibis-early", "0.83"), ("Ibis-final", "0.98")]


@pytest.mark.parametrize(
    ("lines", "count", "names"),
    [
        # Words above one another, with a row of words below them.
        (["Ibis2-72B Heron-V3 Tern-8B", "Base Base Base"], 3, ("Ibis2-72B Base", "Heron-V3 Base", "Tern-8B Base")),
        (["Ibis-3.5- Heron Tern", "Large-1022 0513 V3"], 3, ("Ibis-3.5- Large-1022", "Heron 0513", "Tern V3")),
        # A bracket or a hyphen goes on inside the cell above it.
        (
            ["Ibis-o1 Heron-R1 Tern-Beta", "(Think) Kite2.5-Pro Wren-8B"],
            5,
            ("Ibis-o1", "Heron-R1", "Tern-Beta (Think)", "Kite2.5-Pro", "Wren-8B"),
        ),
        # Versions, sizes and variants belong to the name before them.
        (["Benchmark Ibis 3.7 Sonnet Heron 20B Tern"], 3, ("Ibis 3.7 Sonnet", "Heron 20B", "Tern")),
        # Plain words go on with a name that has a hyphen, a figure, or several capitals.
        (["Index MMLU-Pro GPQA Diamond HLE LiveCode Hard"], 4, ("MMLU-Pro", "GPQA Diamond", "HLE", "LiveCode Hard")),
    ],
)
def test_heads_are_split_by_their_words(lines: list[str], count: int, names: tuple[str, ...]) -> None:
    columns = align_heads(lines, count)

    assert columns is not None
    assert columns.names == names


def test_heads_without_a_figure_count_although_their_lines_were_read_across() -> None:
    """No name of a model is among them, and the label of the row names it."""
    lines = [
        "Model Overall harmless Harmless response Harmless response",
        "response rate rate: standard rate: extended",
        "thinking thinking",
    ]

    columns = align_heads(lines, 3)

    assert columns is not None
    assert columns.label == "Model"
    assert columns.is_guessed


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        # Two lines of several heads whose words may be above one another.
        (["AIME 2024 MATH-500", "GPQA LiveCode Codeforces", "Diamond Bench", "pass@1 cons@64 pass@1 pass@1 pass@1 rating"], 6),
        (["Ibis-3.5- Heron Tern", "Large-1022 0513 mini"], 3),
        # Cells of another row are no heads.
        (["91.8 (79.3)", "40.8 (17.7)", "32.7 (9.8)"], 3),
        # The head of the labels between others shows that two levels were mixed.
        (["Ibis Heron Benchmark / Model Edge", "Flash (21B)", "Core 7B 70B Kite-2 Wren-4"], 7),
    ],
)
def test_heads_that_could_be_another_models_are_not_guessed(lines: list[str], count: int) -> None:
    assert align_heads(lines, count) is None


def test_names_in_one_cell_are_split_only_into_as_many_as_asked() -> None:
    assert split_names("AIME 2024 AIME 2025 MATH", 3) == ["AIME 2024", "AIME 2025", "MATH"]
    assert split_names("AIME 2024 AIME 2025 MATH", 4) == []
