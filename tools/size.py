"""Measure the code against its budgets, and fail where one is exceeded. A budget changes only with a reason in ARCHITECTURE.md."""

import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("registry", "audit")
COMMENTED = ("audit/statistics", "audit/replay", "registry/store", "registry/report")
"""Rooms whose code decides something, so that its comments say why."""

MODULES = 336
# The goal was 85,000 lines and was not reached: "Budgets" in ARCHITECTURE.md and "Size" in docs/decisions.md say why, step by step.
LINES = 125_000
COMMENTS_PER_100 = 6.0
FUNCTION_LINES = 60
LEVELS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure and its budget."""

    what: str
    value: float
    budget: float
    at_least: bool = False
    """The budget is a minimum."""

    @property
    def is_met(self) -> bool:
        """Whether the budget is kept."""
        return self.value >= self.budget if self.at_least else self.value <= self.budget


def list_modules(*folders: str) -> list[Path]:
    """Return the modules below *folders*, without `__init__.py`."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py")


def count_lines(paths: list[Path]) -> int:
    """Return all lines, empty ones and comments included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def count_comments(paths: list[Path]) -> float:
    """Return lines with a comment per 100 lines with code."""
    comments = code = 0
    for path in paths:
        lines: dict[bool, set[int]] = {True: set(), False: set()}
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                continue
            is_comment = token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:"))
            lines[is_comment].update(range(token.start[0], token.end[0] + 1))
        comments += len(lines[True])
        code += len(lines[False])
    return 100 * comments / max(code, 1)


def list_definitions(paths: list[Path]) -> Iterator[tuple[Path, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every class and function with its module."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def measure_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    first = node.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if has_docstring else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def count_levels() -> int:
    """Return the levels of the longest import plan of a package."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return max(len(contract["layers"]) for contract in contracts if contract["type"] == "layers")


def measure() -> tuple[list[Figure], list[str]]:
    """Return all figures, and what is named where one is exceeded."""
    modules = list_modules(*PACKAGES)
    definitions = list(list_definitions(modules))
    names = Counter(node.name for _, node in definitions if isinstance(node, ast.ClassDef))
    twice = sorted(name for name, count in names.items() if count > 1)
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {measure_function(node)} lines"
        for path, node in definitions
        if not isinstance(node, ast.ClassDef) and measure_function(node) > FUNCTION_LINES
    ]
    figures = [
        Figure(what="modules of registry and audit", value=len(modules), budget=MODULES),
        Figure(what="lines of registry and audit", value=count_lines(modules), budget=LINES),
        Figure(
            what=f"comments per 100 source lines in {', '.join(COMMENTED)}",
            value=round(count_comments(list_modules(*COMMENTED)), 1),
            budget=COMMENTS_PER_100,
            at_least=True,
        ),
        Figure(what="class names used more than once", value=len(twice), budget=0),
        Figure(what=f"functions above {FUNCTION_LINES} lines", value=len(long), budget=0),
        Figure(what="levels of the longest import plan", value=count_levels(), budget=LEVELS),
    ]
    return figures, [f"class {name} is defined {names[name]} times" for name in twice] + long


def main() -> int:
    """Print the figures; return 1 where a budget is exceeded."""
    figures, named = measure()
    for figure in figures:
        limit = "at least" if figure.at_least else "at most"
        print(f"{'ok  ' if figure.is_met else 'OVER'}  {figure.what}: {figure.value:,} ({limit} {figure.budget:,})")  # noqa: T201
    for line in named:
        print(f"      {line}")  # noqa: T201
    return 0 if all(figure.is_met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
