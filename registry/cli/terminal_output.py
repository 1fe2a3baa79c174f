"""Answers on standard output: JSON for programs, blocks rendered as text for people."""

import errno
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text
from rich.tree import Tree

from registry.cli.standard_streams import can_encode
from registry.present.answers import render_json, show
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


def print_json(document: Mapping[str, Any]) -> None:
    """Print *document* as `render_json` writes it."""
    # The shell can close standard output, and then nothing would be printed or said.
    _check_open()
    sys.stdout.write(_escape_missing(render_json(document)) + "\n")
    sys.stdout.flush()


def _escape_missing(text: str) -> str:
    """The JSON *text* with characters that standard output cannot show as escapes, so that programs read the same document."""
    if text.isascii():
        return text
    # An escape is the same document; a question mark would be another one.
    missing = {ord(character): json.dumps(character)[1:-1] for character in set(text) if not can_encode(character, sys.stdout)}
    return text.translate(missing) if missing else text


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print *blocks* to standard output, without markup, as wide as the terminal (100 columns when piped)."""
    _check_open()
    # Piped output has no width of its own; a fixed one makes it the same everywhere.
    width = None if sys.stdout.isatty() else 100
    # Markup and highlighting are off: texts of cards contain brackets. Without a height, Rich takes every `TERM=dumb` to be 80 columns
    # wide, also where a table needs more.
    console = _CarefulConsole(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width, height=25, soft_wrap=False)
    for block in blocks:
        _print_block(console, block)


def _check_open() -> None:
    """Python has no standard output where the shell closed it (`>&-`); the answer would be lost without a word."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


_LABEL = re.compile(r"\s*(?:[\w-]+: +|\S+ {2,})?")
"""What stands before the text of a line: its indent, and one word with a colon or set apart by spaces."""


# Terminal safety lies here and not in each command (decision of 2026-11-21): everything that
# reaches a stream passes through it. The cost is that tests walk the whole tree of commands.
class _CarefulConsole(Console):
    """Shows what texts hide, whether or not the presenter that yields them thought of it, and wraps a line under its own text."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print *objects*; a text too long for a line goes on under its beginning, not under its indent or label."""
        if len(objects) == 1 and isinstance(objects[0], str) and not options.get("no_wrap"):
            objects = ("\n".join(self._hang(line) for line in show(objects[0]).split("\n")),)
        super().print(*objects, **options)

    def _hang(self, line: str) -> str:
        match = _LABEL.match(line)
        label = match[0] if match else ""
        # A label longer than half the line leaves no room for its text.
        if len(line) <= self.width or len(label) > self.width / 2:
            return line
        pieces = [piece.plain.rstrip() for piece in Text(line[len(label) :]).wrap(self, self.width - len(label))]
        return label + f"\n{' ' * len(label)}".join(pieces)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return *text* to be printed, its control and direction characters made visible."""
        return super().render_str(show(text), **options)


_COMMAND = re.compile(r"\s*(?:Next: )?caveat [a-z]")
"""Begins a line that is a command to be copied."""


def _print_unwrapped(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True, no_wrap=True, overflow="ignore", crop=False)


def _print_block(console: Console, block: Block) -> None:  # noqa: C901, PLR0912  (one case for each kind of block)
    match block:
        case str():
            for is_command, lines in groupby(block.split("\n"), key=lambda line: _COMMAND.match(line) is not None):
                if is_command:
                    _print_unwrapped(console, "\n".join(lines))
                else:
                    console.print("\n".join(lines))
        case Title():
            console.print(block.text, style="bold")
        case Subtitle():
            console.print(f"\n{block.text}", style="bold")
        case Remark():
            console.print(block.text, style="dim")
        case Verbatim():
            _print_unwrapped(console, block.text)
        case Quotation():
            for line in _quote(block.text, console.width):
                console.print(line, no_wrap=True)
        case Facts():
            _print_grid(console, ("", ""), block.rows)
        case Table():
            _print_grid(console, block.columns, block.rows, block.numbers, spare=block.spare)
        case Checks():
            rows = list(block.rows)
            # Checks belong to the line before them.
            _print_grid(console, [""] * len(rows[0]), rows, indent=2)
        case Branch():
            console.print(_grow(block))
        case IntervalFigure():
            for line in _draw(block):
                console.print(line, no_wrap=True, crop=False)


_UNBROKEN = re.compile(
    r"^caveat .*"
    r"|\b[A-Z]{3}-[A-Z][A-Z0-9]*-\d{4}-\d{4,}-[0-9A-Z](?:@\d+)?"
    r"|\bcaveat\.log/[A-Z0-9]+/[0-9a-f]+"
    r"|\b[0-9a-f]{16}\b"
    r"|\b\d{4}-\d\d-\d\d\b"
    r"|(?<![\w.-])[a-z0-9]{1,24}(?:[-_][a-z0-9]{1,24}){1,4}(?![\w.-])",
    re.MULTILINE,
)
"""What is copied from a table must stay on one line: a command, an identifier, the name of a log, the short form of a key, a date, and a
name of several words such as `browsecomp-accuracy`."""


_LEAST = 12
"""A column of words is not made narrower than its longest word, or this where that is longer, in characters."""
_NARROWEST = 6
"""What a column of words gives way to where identifiers and numbers would be broken otherwise."""


def _print_grid(
    console: Console,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str] = (),
    *,
    spare: Sequence[str] = (),
    indent: int = 0,
) -> None:
    """Print a table; without column names, only its rows. It is wider than the terminal only where an identifier would be broken."""
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), show_header=any(columns))
    cells = [[show(cell) for cell in row] for row in rows]
    heads = [show(column) for column in columns]
    are_numbers = [column in numbers for column in columns]
    room = console.width - indent - 2 * (len(heads) - 1)
    # A column that can be spared goes before words are broken, the last first.
    if spare and sum(_list_least([heads, *cells], are_numbers)[0]) > room:
        at = list(columns).index(spare[-1])
        kept = [[*row[:at], *row[at + 1 :]] for row in (columns, *cells)]
        _print_grid(console, kept[0], kept[1:], numbers, spare=spare[:-1], indent=indent)
        return
    widths = _fit([heads, *cells], are_numbers, room)
    for head, column, width in zip(heads, columns, widths, strict=True):
        grid.add_column(head, justify="right" if column in numbers else "left", overflow="fold", width=width)
    for row in cells:
        grid.add_row(*map(Text, row))
    width = console.width
    # Rich would break identifiers rather than print beyond the edge.
    console.width = max(width, sum(widths) + 2 * (len(widths) - 1) + indent)
    console.print(Padding(grid, (0, 0, 0, indent)), crop=False)
    console.width = width


def _fit(rows: Sequence[Sequence[str]], are_numbers: Sequence[bool], room: int) -> list[int]:
    """Return the width of each column of *rows* so that all fit into *room* characters: columns of words give way, to a limit."""
    widths, floors = _list_least(rows, are_numbers)
    most = _list_most(rows)
    spare = room - sum(widths)
    for place in sorted(range(len(widths)), key=lambda place: -widths[place]):
        less = min(max(-spare, 0), widths[place] - floors[place])
        widths[place] -= less
        spare += less
    # The columns that lack least come first, so that what they leave goes to the others.
    wanting = sorted(range(len(widths)), key=lambda place: most[place] - widths[place])
    for rank, place in enumerate(wanting):
        more = min(most[place] - widths[place], max(spare, 0) // (len(wanting) - rank))
        widths[place] += more
        spare -= more
    return widths


def _list_least(rows: Sequence[Sequence[str]], are_numbers: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Return for each column of *rows* the width in which it is easily read, and the one below which something would be broken."""
    texts = list(zip(*rows, strict=True))
    # Numbers are never broken, nor what is copied.
    unbroken = [
        whole if is_number else max(map(_count_unbroken, column))
        for whole, is_number, column in zip(_list_most(rows), are_numbers, texts, strict=True)
    ]
    words = [max(map(_count_longest, column)) for column in texts]
    easy, floors = (
        [max(fixed, min(longest, limit)) for fixed, longest in zip(unbroken, words, strict=True)] for limit in (_LEAST, _NARROWEST)
    )
    return easy, floors


def _list_most(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return for each column of *rows* the width that it would have without limits."""
    return [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)]


def _count_unbroken(cell: str) -> int:
    """Return the length of the longest identifier or command in *cell*."""
    return max((len(match[0]) for match in _UNBROKEN.finditer(cell)), default=0)


def _count_longest(cell: str) -> int:
    return max(map(cell_len, cell.split()), default=0)


_BAR = "  │ "
"""Before each line of a quotation, so that no text can look like a line of ours."""


def _quote(text: str, width: int) -> list[str]:
    """Return the lines of *text*, each behind a bar and none wider than *width*."""
    room = max(width - len(_BAR), 20)
    lines = [piece for line in show(text).split("\n") for piece in (textwrap.wrap(line, room, drop_whitespace=False) or [""])]
    return [f"{_BAR}{line.rstrip()}".rstrip() for line in lines]


def _grow(branch: Branch, tree: Tree | None = None) -> Tree:
    label = Text(show(branch.label), style="bold").append(show(branch.note), style="not bold")
    grown = Tree(label) if tree is None else tree.add(label)
    for below in branch.branches:
        _grow(below, grown)
    return grown


_AXIS = 41
"""Columns of an interval figure, odd, so that 0 can stand in the middle."""


def _draw(figure: IntervalFigure) -> list[str]:
    """Return one line for each row, its interval drawn between the ends of the axis, then the axis."""
    width = max((len(row.label) for row in figure.rows), default=0)
    return [*(f"{row.label:<{width}}  {_draw_row(row, figure)}" for row in figure.rows), f"{'':<{width}}  {figure.axis}"]


def _draw_row(row: IntervalLine, figure: IntervalFigure) -> str:
    def place(value: float) -> int:
        return round((value / figure.reach + 1) / 2 * (_AXIS - 1))

    cells = [" "] * _AXIS
    if row.low is not None and row.high is not None:
        cells[place(row.low) : place(row.high) + 1] = "─" * (place(row.high) - place(row.low) + 1)
    cells[place(-figure.margin)] = cells[place(figure.margin)] = "┆"
    cells[place(0.0)] = "│"
    if row.value is not None:
        cells[place(row.value)] = "◆"
    return "".join(cells)
