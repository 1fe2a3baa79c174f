"""Every text that a reader of Caveat meets, with its place: pages, help, errors, messages, answers, templates and the record."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click
from jinja2 import Environment, nodes

from registry.cli.main import cli
from registry.errors import find_entry, list_explanations
from tests.docs.codes import read_source
from tests.docs.commands import list_commands
from tests.docs.tools import load_tool

ROOT = Path(__file__).parents[2]
Texts = Iterator[tuple[str, str]]
"""Places with their texts."""

_READABILITY = load_tool("readability")
_MESSAGES = {"Fault", "UsageError", "say"}
_UNREAD = ("audit/propose/",)
"""Rooms in which most texts are search patterns; their commands and messages are covered by help, errors and messages."""
_PROMPTS = (
    "audit/modules/rating_judge.py",
    "audit/records/rating_sheet.py",
    "audit/modules/recognition_classifier.py",
    "audit/score/judge_requests.py",
)
"""Modules with texts for models: a change of words is a change of the measurement."""
_PATTERN = re.compile(r"\\[bswdSWD(.\[]|\(\?|\[\^|^\s*<|xpacket|CREATE TABLE|SELECT |CASE |INSERT INTO |UPDATE fleet")
"""Regular expressions, markup and SQL."""
_WORD_LIST = re.compile(r"(?:[a-z]+ ){24,}[a-z]+")
_CODE = re.compile(r"`[^`]+`")
_BLOCK = re.compile(r"</?(?:p|li|ul|ol|dd|dt|td|th|tr|div|h\d|caption|figcaption|section|details|summary|title|br|text|desc)\b[^>]*>")
_HEADING = re.compile(r"<(h[1-6]|summary)\b[^>]*>(.*?)</\1>", re.DOTALL)


@cache
def read_commands() -> dict[tuple[str, ...], click.Command]:
    """Every group and command by its path."""
    commands: dict[tuple[str, ...], click.Command] = {(): cli}
    for path in list_commands()[1:]:
        group = commands[path[:-1]]
        assert isinstance(group, click.Group)
        command = group.get_command(click.Context(group), path[-1])
        assert command is not None
        commands[path] = command
    return commands


def list_pages() -> Texts:
    """The paragraphs of README and of every page that is written by hand."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        if page.name not in _READABILITY.GENERATED:
            for paragraph in _READABILITY.read_markdown(page.read_text(encoding="utf-8")):
                yield page.relative_to(ROOT).as_posix(), paragraph


def list_help() -> Texts:
    """The help of each command and of each of its options."""
    for path, command in read_commands().items():
        # What a paragraph of its own lines shows, such as lines for a shell, is no sentence.
        paragraphs = (paragraph for paragraph in (command.help or "").split("\n\n") if not paragraph.startswith("\b"))
        yield " ".join(("caveat", *path)), "\n\n".join(paragraphs)
        for param in command.params:
            if isinstance(param, click.Option) and param.help:
                yield f"{' '.join(('caveat', *path))} {param.opts[-1]}", param.help


def list_errors() -> Texts:
    """Meaning and advice of each code of the catalogue."""
    for entry in filter(None, map(find_entry, list_explanations())):
        yield entry.code, entry.meaning
        yield f"{entry.code}, next", entry.advice or ""


def list_messages() -> Texts:
    """What commands print besides their answers: the findings and advice of errors, wrong usage, and notices."""
    for name, module in read_source(ROOT).items():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _MESSAGES:
                for part in (*node.args, *(keyword.value for keyword in node.keywords)):
                    yield f"{name}:{part.lineno}", join_strings(part)


def list_strings() -> Texts:
    """Each text in the code of two words or more: verdicts, wordings, presenters, findings. Not patterns, docstrings and prompts."""
    for name, module in read_source(ROOT).items():
        if not name.startswith((*_UNREAD, *_PROMPTS)):
            skipped = {id(node) for node in _walk_skipped(module)}
            for node in ast.walk(module):
                if id(node) not in skipped and isinstance(node, ast.Constant | ast.JoinedStr):
                    text = join_strings(node)
                    if " " in text.strip() and not _PATTERN.search(text) and not _WORD_LIST.fullmatch(text):
                        yield f"{name}:{node.lineno}", text


def list_docstrings() -> Texts:
    """The docstring of each public function and method; code spans and the names of arguments are no words."""
    names = re.compile(r"`[^`]+`|\*\w+\*|^\s*\w+(?=: )", re.MULTILINE)
    for name, module in read_source(ROOT).items():
        if not name.startswith(_UNREAD):
            for node in ast.walk(module):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                    yield f"{name}:{node.lineno}", names.sub("CODE", ast.get_docstring(node) or "")


def _walk_skipped(module: ast.Module) -> Iterator[ast.AST]:
    """Docstrings, lists of words that are split, and the parts of a text with names filled in."""
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield from node.values
        elif isinstance(node, ast.Attribute) and node.attr == "split":
            yield node.value


def join_strings(node: ast.AST) -> str:
    """The constant parts of a text, a word for each that is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join("X" if isinstance(part, ast.FormattedValue) else str(getattr(part, "value", "")) for part in node.values)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.BinOp):
        return "".join(map(join_strings, ast.iter_child_nodes(node)))
    return ""


def list_record() -> Texts:
    """The meaning of each type and field of a supplement's record, which is in the docstrings of records."""
    for number, line in enumerate((ROOT / "docs/record.md").read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith(("#", "Values:")):
            yield f"docs/record.md:{number}", _CODE.sub("CODE", line.rsplit(" | ", 1)[-1].removesuffix(" |"))


def list_templates() -> Texts:
    """The words of each template, block by block; of alternatives first all first ones, then all last ones."""
    for name, tree in _parse_templates().items():
        for branch in (0, -1):
            for block in _BLOCK.split(_join_template(tree, branch)):
                text = " ".join(re.sub(r"<[^>]*>", " ", block).split())
                if text:
                    yield name, text
        for constant in tree.find_all(nodes.Const):
            if isinstance(constant.value, str) and " " in constant.value.strip():
                yield f"{name}:{constant.lineno}", constant.value


@cache
def _parse_templates() -> dict[str, nodes.Template]:
    environment = Environment(autoescape=True)
    paths = sorted((ROOT / "report_templates").rglob("*.j2"))
    return {path.relative_to(ROOT).as_posix(): environment.parse(path.read_text(encoding="utf-8")) for path in paths}


def _join_template(node: nodes.Node, branch: int) -> str:
    """The text below *node*, a word for each expression; of alternatives that at *branch*."""
    match node:
        case nodes.TemplateData(data=text) | nodes.Const(value=text):
            return str(text)
        case nodes.CondExpr():
            return _join_template(node.expr1 if branch == 0 or node.expr2 is None else node.expr2, branch)
        case nodes.Expr():
            return "X"
        case nodes.Output(nodes=children):
            return "".join(_join_template(child, branch) for child in children)
        case nodes.If():
            branches = [node.body, *(alternative.body for alternative in node.elif_), node.else_]
            return "".join(_join_template(child, branch) for child in branches[branch])
    return "".join(_join_template(child, branch) for child in node.iter_child_nodes() if isinstance(child, nodes.Stmt))


def list_headings() -> Texts:
    """The headings of pages and of templates, and the titles of the sections of a supplement."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if page.name not in (*_READABILITY.GENERATED, "errors.md"):
            text = _READABILITY.FENCE.sub("", page.read_text(encoding="utf-8"))
            for heading in re.findall(r"^#+ +(.+?)(?: *\{#.*\})?$", text, re.MULTILINE):
                yield page.relative_to(ROOT).as_posix(), re.sub(r"`([^`]*)`", "CODE", heading)
    for name, tree in _parse_templates().items():
        for branch in (0, -1):
            for _, heading in _HEADING.findall(_join_template(tree, branch)):
                yield name, " ".join(re.sub(r"<[^>]*>", " ", heading).split())


SOURCES: dict[str, Callable[[], Texts]] = {
    "pages": list_pages,
    "help": list_help,
    "errors": list_errors,
    "messages": list_messages,
    "strings": list_strings,
    "docstrings": list_docstrings,
    "record": list_record,
    "templates": list_templates,
    "headings": list_headings,
}
"""Where texts come from; a further source of words is one more entry."""
