"""Heads on several lines, captions above tables, years of benchmarks, and pages whose table is an image."""

import io
from pathlib import Path

import pikepdf

from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.system_card import CardText, PassageKind
from tests.intake.pdf_files import build_pdf, build_table_pdf


def read(folder: Path, data: bytes) -> CardText:
    (folder / "card.pdf").write_bytes(data)
    return read_card(folder / "card.pdf")


def list_rows(card: CardText) -> list[tuple[tuple[str | None, str], ...]]:
    rows = (passage for passage in read_outline(card).passages if passage.kind is PassageKind.ROW)
    return [tuple((cell.column, cell.text) for cell in row.cells) for row in rows]


def test_what_begins_with_a_hyphen_goes_on_with_the_head_above(tmp_path: Path) -> None:
    """A date or a size below a name is no figure of a row."""
    lines = [
        [(200, "GPT-4o"), (300, "Gemma-3"), (400, "Tern-2")],
        [(200, "-2024-11-20"), (300, "-27B-IT"), (400, "-70B")],
        [(60, "MMLU"), (200, "87.2"), (300, "82.6"), (400, "88.9")],
        [(60, "GSM8K"), (200, "91.5"), (300, "90.4"), (400, "94.4")],
        [(60, "MATH"), (200, "62.1"), (300, "60.3"), (400, "71.8")],
    ]

    rows = list_rows(read(tmp_path, build_table_pdf(lines)))

    assert [text for _, text in rows[0]] == ["MMLU", "87.2", "82.6", "88.9"]
    assert [column for column, _ in rows[0][1:]] == ["GPT-4o-2024-11-20", "Gemma-3-27B-IT", "Tern-2-70B"]


def test_numbers_among_names_below_a_head_end_the_names(tmp_path: Path) -> None:
    """“0513” between “Large-1022” and “mini” is a version; a row without a label that has mostly figures stays one."""
    lines = [
        [(200, "Ibis-3.5-"), (300, "Heron-4o"), (400, "Tern")],
        [(200, "Large-1022"), (300, "0513"), (400, "mini")],
        [(60, "MMLU"), (200, "88.3"), (300, "87.2"), (400, "85.2")],
        [(200, "88.9"), (300, "88.0"), (400, "N/A")],
        [(60, "DROP"), (200, "83.7"), (300, "91.6"), (400, "90.2")],
    ]

    rows = list_rows(read(tmp_path, build_table_pdf(lines)))

    assert [column for column, _ in rows[0][1:]] == ["Ibis-3.5-Large-1022", "Heron-4o 0513", "Tern mini"]
    assert [text for _, text in rows[1]][-3:] == ["88.9", "88.0", "N/A"]


def test_a_caption_above_belongs_to_the_table_below_it(tmp_path: Path) -> None:
    """Also where another table follows, whose caption is then below the first."""
    table = [[(60, name), (200, f"{value}.2"), (300, f"{value}.9")] for name, value in (("MMLU", 61), ("GSM8K", 72), ("MATH", 53))]
    heads = [(200, "Tern-2"), (300, "Tern-3")]
    lines = [[(60, "Table 1: First models.")], heads, *table, [(60, "Table 2: Second models.")], heads, *table]

    outline = read_outline(read(tmp_path, build_table_pdf(lines)))

    captions = [passage.caption for passage in outline.passages if passage.kind is PassageKind.ROW]
    assert captions == ["Table 1: First models."] * 3 + ["Table 2: Second models."] * 3


def test_the_year_of_a_benchmark_is_no_footnote_mark(tmp_path: Path) -> None:
    """“AIME’24” keeps its year."""
    (tmp_path / "card.txt").write_text("Tern-2 scores 85.7 on AIME’24 and 81.5 on AIME’25 in our tests.\n", encoding="utf-8")

    assert "AIME’24" in read_outline(read_card(tmp_path / "card.txt")).passages[0].words


def test_a_page_with_a_large_image_and_little_text_is_told(tmp_path: Path) -> None:
    """A table may be in the image, and no figure of it is read."""
    document = pikepdf.open(io.BytesIO(build_pdf(["A page of text only, without a picture.", "Table 3: results of Tern-2."])))
    image = pikepdf.Stream(document, b"\x80")
    image.Type, image.Subtype = pikepdf.Name.XObject, pikepdf.Name.Image
    image.Width = image.Height = 1
    image.ColorSpace, image.BitsPerComponent = pikepdf.Name.DeviceGray, 8
    page = document.pages[1]
    page.Resources.XObject = pikepdf.Dictionary(I1=document.make_indirect(image))
    page.contents_add(pikepdf.Stream(document, b"q 400 0 0 400 80 200 cm /I1 Do Q"))
    stream = io.BytesIO()
    document.save(stream, static_id=True)

    warnings = read(tmp_path, stream.getvalue()).warnings

    assert "Page 2: a large image and little text; the image may be a table or chart, and no figure in it was read." in warnings


def test_heads_that_are_not_above_their_figures_count_if_there_is_one_for_each(tmp_path: Path) -> None:
    """A title of a group between heads and rows names the rows below it."""
    rows = [[(60, name), (300, f"{value}.2"), (360, f"{value}.9")] for name, value in (("Tern-8B", 61), ("Ibis-7B", 72), ("Wren-9B", 53))]
    heads, group = [(60, "Model INCLUDE PolyMath")], [(60, "Thinking")]

    found = list_rows(read(tmp_path, build_table_pdf([heads, group, *rows])))
    unclear = list_rows(read(tmp_path, build_table_pdf([[(60, "Model INCLUDE")], *rows])))

    assert [column for column, _ in found[0]] == ["Model Thinking", "INCLUDE", "PolyMath"]
    assert [text for _, text in found[1]] == ["Ibis-7B", "72.2", "72.9"]
    assert {column for column, _ in unclear[0][1:]} == {None}
