"""Finds every error and warning code in the source, however the room that raises it makes its faults."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_CODE = re.compile(r"[a-z]+(?:-[a-z0-9]+)+")
_MAKER = re.compile(r"fault|refus|remark|warning", re.IGNORECASE)
"""A function so called takes a code first, even where its definition does not say so (an exception's arguments)."""


def find_codes(root: Path) -> dict[str, str]:
    """Return each code that `registry` or `audit` below *root* can raise, with the file and line of one place."""
    paths = [path for room in ("registry", "audit") for path in sorted((root / room).rglob("*.py"))]
    modules = {str(path.relative_to(root)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    calls = [node for module in modules.values() for node in ast.walk(module) if isinstance(node, ast.Call)]
    found: dict[str, str] = {}
    for name, module in modules.items():
        makers = dict(_find_functions_with(module, "code"))
        for node, function in _walk(module):
            for value in _find_code_values(node, makers):
                for code in _spell(value, function, calls):
                    found.setdefault(code, f"{name}:{value.lineno}")
    return found


def _walk(node: ast.AST, function: ast.FunctionDef | None = None) -> Iterator[tuple[ast.AST, ast.FunctionDef | None]]:
    """Give every node below *node* with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef) else function
        yield child, inner
        yield from _walk(child, inner)


def _find_functions_with(module: ast.AST, argument: str) -> Iterator[tuple[str, int]]:
    """Give the functions that take *argument*, with its position as a call counts."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and argument in (names := _list_arguments(node)):
            yield node.name, names.index(argument)


def _list_arguments(function: ast.FunctionDef) -> list[str]:
    return [one.arg for one in function.args.args if one.arg not in ("self", "cls")]


def _find_code_values(node: ast.AST, makers: dict[str, int]) -> Iterator[ast.expr]:
    """Give the expressions of *node* that stand where a code stands."""
    if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == "code" for one in node.targets):
        yield node.value
    elif isinstance(node, ast.Call):
        yield from (one.value for one in node.keywords if one.arg == "code")
        called = _get_called(node)
        position = makers.get(called, 0 if _MAKER.search(called) else None)
        if position is not None and position < len(node.args):
            yield node.args[position]


def _get_called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _spell(value: ast.expr, function: ast.FunctionDef | None, calls: list[ast.Call]) -> Iterator[str]:
    """Give the codes that *value* can be."""
    if isinstance(value, ast.IfExp):
        yield from _spell(value.body, function, calls)
        yield from _spell(value.orelse, function, calls)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield from _CODE.findall(value.value) if _CODE.fullmatch(value.value) else ()
    elif isinstance(value, ast.JoinedStr) and function is not None:
        yield from _spell_composed(value, function, calls)


def _spell_composed(value: ast.JoinedStr, function: ast.FunctionDef, calls: list[ast.Call]) -> Iterator[str]:
    """Give the codes that an f-string such as `f"{what}-not-found"` comes to, from the words that callers of *function* give."""
    names = [part.value.id for part in value.values if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name)]
    arguments = _list_arguments(function)
    if len(names) != 1 or names[0] not in arguments:
        return
    position = arguments.index(names[0])
    for call in calls:
        if _get_called(call) == function.name and position < len(call.args):
            given = call.args[position]
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield "".join(part.value if isinstance(part, ast.Constant) else given.value for part in value.values)  # type: ignore[misc]
