"""Columns of tables in PDFs, from the positions of words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.intake.card_reader import read_card
from registry.intake.column_layout import PlacedLine, PlacedWord, set_tabs
from registry.intake.outline.card_passages import read_outline
from registry.records.system_card import Passage, PassageKind
from tests.intake.pdf_files import build_table_pdf

Lines = list[list[tuple[float, str]]]

_PLAIN: Lines = [
    [(72, "Benchmark"), (260, "Model A"), (340, "Model B"), (420, "Model C")],
    [(72, "Refusals"), (268, "71.2"), (348, "82.2"), (428, "90.7")],
    [(72, "Jailbreaks withstood"), (268, "98.0"), (428, "99.8")],
    [(72, "Honest answers"), (268, "61.0"), (348, "63.5"), (428, "70.1")],
]


def read_rows(tmp_path: Path, lines: Lines) -> list[Passage]:
    path = tmp_path / "card.pdf"
    path.write_bytes(build_table_pdf(lines))
    return [passage for passage in read_outline(read_card(path)).passages if passage.kind is PassageKind.ROW]


def cells(row: Passage) -> list[tuple[str, str | None]]:
    return [(cell.text, cell.column) for cell in row.cells]


def test_each_figure_has_the_head_above_it(tmp_path: Path) -> None:
    first = read_rows(tmp_path, _PLAIN)[0]
    assert cells(first) == [("Refusals", "Benchmark"), ("71.2", "Model A"), ("82.2", "Model B"), ("90.7", "Model C")]


def test_an_empty_cell_moves_no_figure_to_another_model(tmp_path: Path) -> None:
    second = read_rows(tmp_path, _PLAIN)[1]
    assert cells(second) == [("Jailbreaks withstood", "Benchmark"), ("98.0", "Model A"), ("", "Model B"), ("99.8", "Model C")]


def test_a_head_on_several_lines_is_read_whole(tmp_path: Path) -> None:
    lines: Lines = [
        [(72, "Model"), (260, "Malicious"), (340, "Dual-use")],
        [(260, "requests"), (340, "requests")],
        [(260, "refused"), (340, "answered")],
        [(72, "Alpha 2"), (268, "69.4"), (348, "88.8")],
        [(72, "Alpha 1"), (268, "66.9"), (348, "97.5")],
    ]
    assert cells(read_rows(tmp_path, lines)[0]) == [
        ("Alpha 2", "Model"),
        ("69.4", "Malicious requests refused"),
        ("88.8", "Dual-use requests answered"),
    ]


def test_a_head_over_two_columns_counts_for_both(tmp_path: Path) -> None:
    lines: Lines = [
        [(265, "Standard prompts in English"), (450, "Other")],
        [(72, "Model"), (260, "refused"), (340, "answered"), (450, "mean")],
        [(72, "Alpha 2"), (268, "69.4"), (348, "88.8"), (450, "5.10")],
        [(72, "Alpha 1"), (268, "66.9"), (348, "97.5"), (450, "5.20")],
    ]
    assert [column for _, column in cells(read_rows(tmp_path, lines)[0])] == [
        "Model",
        "Standard prompts in English refused",
        "Standard prompts in English answered",
        "Other mean",
    ]


def test_a_line_between_rows_names_those_below_it(tmp_path: Path) -> None:
    lines: Lines = [*_PLAIN[:2], [(72, "Agents")], *_PLAIN[3:]]
    rows = read_rows(tmp_path, lines)
    assert [row.cells[0].column for row in rows] == ["Benchmark", "Benchmark Agents"]


def test_a_table_without_heads_has_no_columns(tmp_path: Path) -> None:
    assert [column for _, column in cells(read_rows(tmp_path, _PLAIN[1:])[0])] == [None, None, None, None]


def test_figures_in_running_text_make_no_table(tmp_path: Path) -> None:
    lines: Lines = [
        [(72, "In 2025 the model refused 71.2 % of 400 requests, and 98.0 % in the second round.")],
        [(72, "In 2026 it refused 82.2 % of 410 requests, and 99.7 % when it was asked again.")],
    ]
    path = tmp_path / "card.pdf"
    path.write_bytes(build_table_pdf(lines))
    assert "\t" not in read_card(path).text


@pytest.mark.parametrize("shift", [0, 40])
def test_a_quotation_of_a_row_is_found_with_single_spaces(tmp_path: Path, shift: int) -> None:
    from registry.intake.quote_anchor import AnchoredText

    path = tmp_path / "card.pdf"
    path.write_bytes(build_table_pdf([[(left + shift, text) for left, text in line] for line in _PLAIN]))
    card = read_card(path)
    anchor = AnchoredText(card).find("Refusals 71.2 82.2 90.7")
    assert card.text[anchor.start : anchor.stop] == "Refusals\t71.2\t82.2\t90.7"


_WORD = st.sampled_from(["Model", "A", "71.2", "-", "98 %", "N/A", "rate", "(± 0.2)", "12/15", "Table 3", "."])


@given(st.lists(st.lists(st.tuples(st.floats(0, 500), _WORD), max_size=7), max_size=8))
def test_tabs_change_nothing_but_white_space(page: list[list[tuple[float, str]]]) -> None:
    lines = []
    for number, line in enumerate(page):
        text, words, at = " ".join(word for _, word in line), [], 0
        for left, word in line:
            words.append(PlacedWord(at, at + len(word), left, left + 5 * len(word)))
            at += len(word) + 1
        lines.append(PlacedLine(text, tuple(words), 800 - 14.0 * number, 10))
    for line, text in zip(lines, set_tabs(lines), strict=True):
        assert text.split() == line.text.split()


def place(words: str, centres: list[float], bottom: float) -> PlacedLine:
    """Return a line whose words have their middle at *centres*, one point and a half apart at least."""
    placed, at = [], 0
    for word, centre in zip(words.split(), centres, strict=True):
        placed.append(PlacedWord(at, at + len(word), centre - 2.4 * len(word), centre + 2.4 * len(word)))
        at += len(word) + 1
    return PlacedLine(words, tuple(placed), bottom, 10)


@pytest.mark.parametrize(
    ("first", "is_divided"),
    [([230.0, 282.0, 322.0, 357.0], True), ([240.0, 275.0, 317.0, 354.0], False)],
)
def test_heads_set_as_close_as_words_are_divided_where_each_is_over_its_column(first: list[float], is_divided: bool) -> None:  # noqa: FBT001 - drawn
    """Else the words are one head over all columns, as of "Large models in English" over four sizes."""
    columns = [230.0, 282.0, 322.0, 357.0]
    lines = [
        place("Ibis-3.5- Heron-4o Plover Tern", first, 730),
        place("Large-1022 0513 V3 R1", columns, 716),
        place("MMLU 88.3 87.2 88.5 85.2", [90.0, *columns], 702),
        place("DROP 83.7 91.6 83.9 90.2", [90.0, *columns], 688),
    ]

    assert (set_tabs(lines)[0] == "\tIbis-3.5-\tHeron-4o\tPlover\tTern") is is_divided
