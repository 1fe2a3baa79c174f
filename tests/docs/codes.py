"""Finds every error and warning code in the source, however the room that raises it makes its faults."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_KEYWORDS = ("code", "excluded", "excluded_reason", "absent", "failure")
"""What a code is called where it is given by name: those of exclusions are codes that a user meets in a table."""
_CODE = re.compile(r"[a-z]+(?:-[a-z0-9]+)+")
_WORD = re.compile(r"[a-z]+")
"""A code of one word, which only a name says to be one."""
_MAKER = re.compile(r"fault|refus|remark|warning|_exclude", re.IGNORECASE)
"""A function so called takes a code first, even where its definition does not say so (an exception's arguments)."""


@cache
def read_source(root: Path) -> dict[str, ast.Module]:
    """Every module of our packages but `caveat` below *root* by its path: parsed once, because it takes seconds."""
    rooms = ("registry", "audit", "fleet", "interchange", "monitoring", "web")
    paths = [path for room in rooms for path in sorted((root / room).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def find_codes(root: Path) -> dict[str, str]:
    """Return each code that our packages below *root* can raise, with the file and line of one place."""
    modules = read_source(root)
    walked = {name: list(_walk(module)) for name, module in modules.items()}
    constants = {name: dict(_find_constants(module)) for name, module in modules.items()}
    found: dict[str, str] = {}
    for name, nodes in walked.items():
        makers = dict(_find_functions_with((node for node, _ in nodes), "code"))
        for node, function in nodes:
            for value in (*_find_code_values(node, makers), *_find_returned(node, function), *_find_looped(node, function)):
                for code in _spell(_resolve(value, constants, name)):
                    found.setdefault(code, f"{name}:{value.lineno}")
            for value in _find_named(node):
                resolved = _resolve(value, constants, name)
                if isinstance(resolved, ast.Constant) and _WORD.fullmatch(str(resolved.value)):
                    found.setdefault(str(resolved.value), f"{name}:{value.lineno}")
    return found


def _walk(node: ast.AST, function: ast.FunctionDef | None = None) -> Iterator[tuple[ast.AST, ast.FunctionDef | None]]:
    """Give every node below *node* with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef) else function
        yield child, inner
        yield from _walk(child, inner)


def _find_constants(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Give the names in capitals that the module gives a text, with the text: a code may stand under such a name."""
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from ((one.id, node.value) for one in node.targets if isinstance(one, ast.Name) and one.id.isupper())


def _resolve(value: ast.expr, constants: dict[str, dict[str, ast.expr]], module: str) -> ast.expr:
    """Return the text that a name in capitals stands for: the module's own, or the one that it can have imported; else *value*."""
    name = _get_name(value)
    known = constants[module] if name in constants[module] else next((one for one in constants.values() if name in one), {})
    return known.get(name, value)


def _get_name(value: ast.expr) -> str:
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


def _find_returned(node: ast.AST, function: ast.FunctionDef | None) -> Iterator[ast.expr]:
    """Give what a function that finds a reason returns."""
    if isinstance(node, ast.Return) and node.value is not None and function is not None and function.name.endswith("_reason"):
        yield node.value


def _find_looped(node: ast.AST, function: ast.FunctionDef | None) -> Iterator[ast.expr]:
    """Give the codes of a table of tuples that a loop takes apart into `code` and other names."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Tuple):
        return
    names = [getattr(one, "id", "") for one in node.target.elts]
    if "code" not in names:
        return
    tables = [one.value for one in ast.walk(function or node) if isinstance(one, ast.Assign | ast.AnnAssign) and _assigns(one, node.iter)]
    for table in (*tables, node.iter):
        rows = table.elts if isinstance(table, ast.Tuple | ast.List) else []
        yield from (row.elts[names.index("code")] for row in rows if isinstance(row, ast.Tuple) and len(row.elts) == len(names))


def _assigns(node: ast.Assign | ast.AnnAssign, name: ast.expr) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(one, ast.Name) and one.id == _get_name(name) for one in targets)


def _find_functions_with(nodes: Iterable[ast.AST], argument: str) -> Iterator[tuple[str, int]]:
    """Give the functions among *nodes* that take *argument*, with its position as a call counts."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and argument in (names := _list_arguments(node)):
            yield node.name, names.index(argument)


def _list_arguments(function: ast.FunctionDef) -> list[str]:
    return [one.arg for one in function.args.args if one.arg not in ("self", "cls")]


def _find_code_values(node: ast.AST, makers: dict[str, int]) -> Iterator[ast.expr]:
    """Give the expressions of *node* that stand where a code stands."""
    if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == "code" for one in node.targets):
        yield node.value
    elif isinstance(node, ast.Call):
        yield from _find_named(node)
        called = _get_called(node)
        position = makers.get(called, 0 if _MAKER.search(called) else None)
        if position is not None and position < len(node.args):
            yield node.args[position]


def _find_named(node: ast.AST) -> Iterator[ast.expr]:
    """Give what a call passes under the name of a code, and the first argument of a fault."""
    if isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg in _KEYWORDS)
        yield from node.args[:1] if _get_called(node) == "Fault" else ()


def _get_called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _spell(value: ast.expr) -> Iterator[str]:
    """Give the codes that *value* can be."""
    if isinstance(value, ast.IfExp):
        yield from _spell(value.body)
        yield from _spell(value.orelse)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield from _CODE.findall(value.value) if _CODE.fullmatch(value.value) else ()
