"""Blocks as a fragment of HTML: escaped, with classes instead of styles, without script and without identifiers of its own.

A page that includes a fragment brings the style sheet. Tables have header cells with a scope, so that a screen reader can name each cell.
"""

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from registry.present.answers import show
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

_WIDTH = 400
"""Units of the axis of an interval figure."""


def render_fragment(blocks: Iterable[Block], *, level: int = 2) -> Markup:
    """Return the HTML of *blocks*, one element or more for each.

    Args:
        level: of the headings of titles, 1 to 5; headings of parts are one level deeper.
    """
    return Markup("\n").join(rendered for block in blocks if (rendered := _render(block, level)))


def _render(block: Block, level: int) -> Markup:  # noqa: C901, PLR0911  (one case for each kind of block)
    match block:
        case str():
            return Markup("\n").join(_render_line(line) for line in block.split("\n") if line.strip())
        case Title():
            return _wrap(f"h{level}", block.text)
        case Subtitle():
            return _wrap(f"h{level + 1}", block.text)
        case Remark():
            return _wrap("p", block.text, class_="quiet")
        case Verbatim():
            return Markup("<pre>{}</pre>").format(_wrap("code", block.text))
        case Quotation():
            return _wrap("blockquote", block.text)
        case Facts():
            rows = [_wrap("tr", _wrap("th", name, scope="row") + _wrap("td", value)) for name, value in block.rows]
            return _wrap("table", _wrap("tbody", *rows), class_="facts")
        case Checks():
            return _wrap("table", _wrap("tbody", *(_render_row(row) for row in block.rows)), class_="checks")
        case Table():
            return _render_table(block)
        case Branch():
            return _wrap("ul", _render_branch(block), class_="tree")
        case IntervalFigure():
            return _render_figure(block)


def _wrap(name: str, *contents: str, **attributes: str) -> Markup:
    """Return an element; text is escaped, and an element inside it stays what it is."""
    # `Markup` marks what is escaped already; hidden characters are made visible as in a terminal.
    inner = Markup("").join(content if isinstance(content, Markup) else escape(show(content)) for content in contents)
    written = Markup("").join(Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, inner)


def _render_line(line: str) -> Markup:
    # An indented line is a detail of the line before it.
    return _wrap("p", line.strip(), **({"class_": "detail"} if line.startswith("  ") else {}))


def _render_row(cells: Sequence[str], columns: Sequence[str] = (), numbers: Sequence[str] = ()) -> Markup:
    is_number = [name in numbers for name in columns] or [False] * len(cells)
    return _wrap(
        "tr", *(_wrap("td", cell, **({"class_": "number"} if right else {})) for cell, right in zip(cells, is_number, strict=True))
    )


def _render_table(table: Table) -> Markup:
    # A column without a name has no header for a screen reader to read.
    head = _wrap("tr", *(_wrap("th", name, scope="col") if name else _wrap("td", "") for name in table.columns))
    body = [_render_row(row, table.columns, table.numbers) for row in table.rows]
    return _wrap("table", _wrap("thead", head), _wrap("tbody", *body))


def _render_branch(branch: Branch) -> Markup:
    below = [_wrap("ul", *map(_render_branch, branch.branches))] if branch.branches else []
    # HTML closes up the two spaces that part the pieces of a note in a terminal.
    pieces = "".join(f" · {piece}" for piece in branch.note.split("  ") if piece)
    return _wrap("li", _wrap("strong", branch.label), pieces, *below)


def _render_figure(figure: IntervalFigure) -> Markup:
    rows = [_wrap("tr", _wrap("th", row.label, scope="row"), _wrap("td", _draw(row, figure))) for row in figure.rows]
    return _wrap("table", _wrap("caption", figure.axis.strip()), _wrap("tbody", *rows), class_="intervals")


def _draw(row: IntervalLine, figure: IntervalFigure) -> Markup:
    """Return the interval of *row* as a drawing: axis, margin, line and point."""

    def place(value: float) -> str:
        return f"{(value / figure.reach + 1) / 2 * _WIDTH:.1f}"

    marks = [_line("margin", place(end), place(end)) for end in (-figure.margin, figure.margin)]
    marks.append(_line("zero", place(0.0), place(0.0)))
    if row.low is not None and row.high is not None:
        marks.append(_wrap("line", class_="interval", x1=place(row.low), x2=place(row.high), y1="10", y2="10"))
    if row.value is not None:
        marks.append(_wrap("circle", class_="value", cx=place(row.value), cy="10", r="4"))
    return _wrap("svg", *marks, viewBox=f"0 0 {_WIDTH} 20", class_="interval-row", role="img", aria_label=row.label)


def _line(name: str, start: str, stop: str) -> Markup:
    return _wrap("line", class_=name, x1=start, x2=stop, y1="0", y2="20")
