"""Write the man pages of `caveat` and all its commands from their help: `make man`, or `python tools/man_pages.py FOLDER`."""

import inspect
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click

_HEADER = '.TH "{name}" "1" "" "caveat {version}" "Caveat"\n'
_LISTED = "  "
"""How a line begins that Click keeps as it is: an example, or a line of a list."""


def list_commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield *command* and everything below it, each with its context; hidden ones are left out."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from list_commands(inner, click.Context(inner, info_name=name, parent=context))


def write_page(command: click.Command, context: click.Context) -> str:
    """Return the man page of one command in roff."""
    name = context.command_path.replace(" ", "-")
    summary, _, description = inspect.cleandoc(command.help or "").partition("\n")
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [
        _HEADER.format(name=name.upper(), version=version("caveat")),
        f".SH NAME\n{_escape(name)} \\- {_escape(summary.rstrip('.'))}\n",
        f".SH SYNOPSIS\n.B {_escape(context.command_path)}\n{_escape(usage)}\n",
        f".SH DESCRIPTION\n{_write_text(description or summary)}",
    ]
    listed = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    options = [record for param in listed if (record := param.get_help_record(context)) is not None]
    if options:
        parts.append(".SH OPTIONS\n" + "".join(f".TP\n.B {_escape(flags)}\n{_escape(text)}\n" for flags, text in options))
    if isinstance(command, click.Group):
        inner = [(each, command.get_command(context, each)) for each in command.list_commands(context)]
        rows = [(f"{name}-{each}(1)", child.get_short_help_str(200)) for each, child in inner if child is not None and not child.hidden]
        parts.append(".SH COMMANDS\n" + "".join(f".TP\n.B {_escape(each)}\n{_escape(text)}\n" for each, text in rows))
    if command.epilog:
        parts.append(".SH EXAMPLES\n" + _write_text(command.epilog.replace("Examples:\n", "")))
    parts.append(".SH EXIT STATUS\n0: yes or done. 1: the answer is no. 2: bad input, nothing recorded. 3: not possible here.\n")
    return "".join(parts)


def _write_text(text: str) -> str:
    r"""Return help as paragraphs; what follows a `\\b` keeps its lines."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        kept = "\b" in block or any(line.startswith(_LISTED) for line in block.splitlines())
        lines = [_escape(line) for line in block.replace("\b", "").splitlines() if line.strip()]
        if not lines:
            continue
        blocks.append(".PP\n.nf\n" + "\n".join(lines) + "\n.fi\n" if kept else ".PP\n" + "\n".join(lines) + "\n")
    return "".join(blocks)


def _escape(text: str) -> str:
    """Return *text* so that roff prints it as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    # A line that begins with a dot or an apostrophe would be a request.
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


def main(folder: Path) -> int:
    """Write all pages into *folder*; return how many."""
    from registry.cli.main import cli  # noqa: PLC0415  (of this checkout)

    folder.mkdir(parents=True, exist_ok=True)
    pages = 0
    for command, context in list_commands(cli, click.Context(cli, info_name="caveat")):
        name = context.command_path.replace(" ", "-")
        (folder / f"{name}.1").write_text(write_page(command, context), encoding="utf-8")
        pages += 1
    return pages


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    count = main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist/man/man1"))
    sys.stdout.write(f"{count} man pages\n")
