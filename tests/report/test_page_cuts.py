"""What an HTML page contains and what it leaves out: fonts cut to its characters, links to rendered formats, each thing said once."""

import base64
import io
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from fontTools.ttLib import TTFont

from registry.configuration import find_resource
from registry.records.statement import OutputFormat
from registry.records.supplement import Supplement
from registry.report.font_subset import COMMON, FACES, build_font_faces, cut_font, list_characters
from registry.report.html_rendering import render_html
from registry.report.page_one import strip_status
from registry.report.published_file import drop_neighbours, read_neighbours

FONTS = find_resource("report_templates/fonts")


def list_embedded(css: str) -> list[set[int]]:
    """Return the code points of each font inside *css*."""
    fonts = [base64.b64decode(data) for data in re.findall(r"data:font/woff2;base64,([^\"]+)", css)]
    return [set(TTFont(io.BytesIO(data)).getBestCmap()) for data in fonts]


def test_a_page_of_common_characters_has_the_bundled_cut() -> None:
    """It needs no cutting of its own, and is a seventh of what the whole fonts would be."""
    css = build_font_faces("<p>Φ_deploy was 64.6 %, “at most” 50 %</p>")

    assert all(points <= COMMON for points in list_embedded(css))
    assert len(css) < 80_000


def test_another_character_that_a_font_has_is_put_in_and_nothing_else() -> None:
    """The Polish letter is in every face; what the page does not print is not."""
    embedded = list_embedded(build_font_faces("<p>Łódź</p>"))

    assert all({ord(letter) for letter in "Łódź"} <= points for points in embedded)
    assert not any(ord("q") in points for points in embedded)


def test_what_is_in_a_script_or_only_in_a_tag_is_not_printed() -> None:
    """The record inside a page may have any character."""
    assert build_font_faces('<p class="Ł">a</p><script type="application/json">"Ł"</script>') == build_font_faces("<p>a</p>")


def test_cutting_gives_the_same_bytes_each_time() -> None:
    """Also without the time of day in the header of the font."""
    file = FONTS / "IBMPlexMono-Regular.ttf"

    assert cut_font(file, frozenset({65, 66})) == cut_font(file, frozenset({66, 65}))


@pytest.mark.parametrize("name", [name for _, name, _, _ in FACES])
def test_the_bundled_cut_has_the_common_characters_of_its_font(name: str) -> None:
    """`write_common_fonts` writes it anew after a change."""
    assert list_characters(f"{name}.woff2") == list_characters(f"{name}.ttf") & COMMON


@pytest.mark.parametrize("neighbours", [(), (OutputFormat.PDF,), (OutputFormat.PDF, OutputFormat.JSON)])
def test_a_page_links_to_the_formats_that_were_rendered_with_it(
    neighbours: tuple[OutputFormat, ...], supplements: Mapping[str, Supplement]
) -> None:
    """No link leads nowhere, and a check reads from the file which links it has."""
    page = render_html(supplements["inverted"], neighbours)
    contents = page.partition(b"<nav")[2].partition(b"</nav>")[0].decode()

    assert re.findall(r">(PDF|JSON)</a>", contents) == [one.value.upper() for one in neighbours]
    assert read_neighbours(page) == neighbours
    assert drop_neighbours(page) == drop_neighbours(render_html(supplements["inverted"]))


def test_status_words_of_the_badge_are_not_repeated_below_it() -> None:
    """A reason that says more stays."""
    assert strip_status("That it holds in deployment: not supported.") == "That it holds in deployment."
    assert (
        strip_status("That it holds in deployment: suspended until a replay.") == "That it holds in deployment: suspended until a replay."
    )


def test_a_quoted_row_of_a_table_is_printed_with_its_cells_apart(supplements: Mapping[str, Supplement]) -> None:
    """On page one, marked as a row; the record keeps the words of the card."""
    row = replace(supplements["unaudited"], readable="T3 Evaluation mode · Correct: 20 · Share: 83.3 %")
    page = render_html(row).decode().partition('<script type="application/json"')[0]

    assert "“T3 Evaluation mode · Correct: 20 · Share: 83.3 %”" in page
    assert "row of a table" in page
