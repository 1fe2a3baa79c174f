"""Blocks as HTML and in a terminal: hostile text is shown and does nothing, and both say the same."""

from html.parser import HTMLParser

import pytest

from registry.cli.terminal_output import print_blocks
from registry.present.blocks import (
    Block,
    Branch,
    Checks,
    Facts,
    IntervalFigure,
    IntervalLine,
    Quotation,
    Remark,
    Subtitle,
    Table,
    Title,
    Verbatim,
)
from registry.present.html_fragment import render_fragment

HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e\" onload='x' [bold]{{ 7 }}"
SHOWN = "<script>alert(1)</script>[U+001B][2J[U+202E]\" onload='x' [bold]{{ 7 }}"
BLOCKS = {
    "sentence": HOSTILE,
    "title": Title(HOSTILE),
    "subtitle": Subtitle(HOSTILE),
    "remark": Remark(HOSTILE),
    "verbatim": Verbatim(HOSTILE),
    "quotation": Quotation(HOSTILE),
    "facts": Facts([(HOSTILE, HOSTILE)]),
    "table": Table((HOSTILE, "n"), [(HOSTILE, "1")], numbers=("n",)),
    "checks": Checks([(HOSTILE, "yes")]),
    "tree": Branch(HOSTILE, HOSTILE, (Branch(HOSTILE),)),
    "figure": IntervalFigure([IntervalLine(HOSTILE, 0.1, -0.1, 0.3)], 0.2, HOSTILE),
}


class Page(HTMLParser):
    """Collects elements with their attributes, the text, and what is left open."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element and its attributes."""
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        """Note what is closed."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect the text."""
        self.text += data


def read(*blocks: Block) -> Page:
    page = Page()
    page.feed(str(render_fragment(blocks)))
    page.close()
    assert page.open == []
    return page


@pytest.mark.parametrize("name", BLOCKS)
def test_hostile_text_is_text_in_html(name: str) -> None:
    """No element and no attribute comes from a text; control and direction characters are made visible."""
    page = read(BLOCKS[name])
    assert SHOWN in page.text
    assert "script" not in page.tags
    assert {key for key, _ in page.attributes} & {"onload", "style", "id"} == set()
    assert not any(character in page.text for character in "\x1b\u202e")


@pytest.mark.parametrize("name", BLOCKS)
def test_hostile_text_is_visible_in_a_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No control or direction character of a text reaches the terminal, in any kind of block, and no markup is read."""
    print_blocks([BLOCKS[name]])
    printed = capsys.readouterr().out
    assert "[U+001B]" in printed
    assert not any(character in printed for character in "\x1b\u202e")


def test_tables_have_header_cells_with_a_scope() -> None:
    """Named columns and the names of facts are header cells, and numbers carry a class."""
    page = str(render_fragment([Table(("name", "n"), [("a", "1")], numbers=("n",)), Facts([("claim", "b")])]))
    assert page.count('<th scope="col">') == 2
    assert '<td class="number">1</td>' in page
    assert '<th scope="row">claim</th><td>b</td>' in page


def test_titles_and_headings_follow_the_level_of_the_page() -> None:
    """A fragment begins at the level that the page gives; parts are one deeper."""
    assert str(render_fragment([Title("a"), Subtitle("b")], level=3)) == "<h3>a</h3>\n<h4>b</h4>"


def test_lines_become_paragraphs_and_an_indented_line_is_a_detail() -> None:
    """Line breaks of a terminal make paragraphs; empty lines make none."""
    assert str(render_fragment(["\nfirst\n  second\n"])) == '<p>first</p>\n<p class="detail">second</p>'


def test_an_interval_figure_is_drawn_on_one_axis() -> None:
    """The largest end lies at the end of the axis in HTML and in a terminal, and 0 in the middle."""
    figure = IntervalFigure([IntervalLine("a", 0.5, 0.0, 1.0), IntervalLine("b", None, None, None)], 0.2, "−1 to +1")
    page = str(render_fragment([figure]))
    assert figure.reach == 1.0
    assert 'x1="200.0" x2="400.0"' in page
    assert page.count("<circle") == 1
    assert IntervalFigure([], 0.0, "").reach == 1.0


def test_a_terminal_draws_an_interval_figure_with_its_axis(capsys: pytest.CaptureFixture[str]) -> None:
    """Interval, value, margin and zero each have their mark, and rows without a value have none."""
    print_blocks([IntervalFigure([IntervalLine("a", 0.5, 0.1, 1.0), IntervalLine("bb", None, None, None)], 0.2, "−1 to +1")])
    first, second, axis = capsys.readouterr().out.splitlines()
    assert first.startswith("a   ")
    assert (first.count("◆"), first.count("┆"), first.count("│")) == (1, 2, 1)
    assert "◆" not in second
    assert axis.strip() == "−1 to +1"
