"""Write the reference of docs/python.md from the docstrings of the package `caveat`: `python tools/python_page.py`."""

import dataclasses
import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "python.md"
START = "<!-- Below: written by tools/python_page.py from the docstrings. -->\n"
_WIDTH = 100
_PLACE = re.compile(r"(?<![/\w])(?:audit|registry|caveat|collections|pathlib|datetime|typing)\.(?:\w+\.)*(?=[A-Za-z])")
_ARGUMENT = re.compile(r"^    (\*{0,2}\w+): ")


def write_reference() -> str:
    """Return the reference: functions, then the class that they return, then records, then errors."""
    import caveat  # noqa: PLC0415  (of this checkout)

    names = [name for name in caveat.__all__ if name != "__version__"]
    values = {name: getattr(caveat, name) for name in names}
    functions = [name for name in names if inspect.isfunction(values[name])]
    errors = [name for name in names if name not in functions and issubclass(values[name], Exception)]
    records = [name for name in names if name not in functions and name not in errors and name != "Registry"]
    parts = ["## Functions\n", *(describe_function(name, values[name]) for name in functions)]
    parts += ["## The open registry\n", describe_class("Registry", values["Registry"])]
    parts += ["## Records\n", *(describe_record(name, values[name]) for name in records)]
    parts += ["## Exceptions\n", *(describe_error(name, values[name]) for name in errors)]
    return "\n".join(parts)


def describe_function(name: str, function: Any, *, level: int = 3) -> str:
    """Return the section of a function or method: signature, what it returns, arguments, errors."""
    signature = _format_signature(name.rpartition(".")[2], function)
    return f"{'#' * level} `{name}`\n\n```text\n{signature}\n```\n\n{_format_docstring(function)}\n"


def describe_class(name: str, class_: Any) -> str:
    """Return the section of a class with its public properties and methods."""
    parts = [f"{_format_docstring(class_)}\n"]
    for attribute, value in vars(class_).items():
        if attribute.startswith("_"):
            continue
        if isinstance(value, property):
            parts.append(f"### `{name}.{attribute}`\n\n{_format_docstring(value)}\n")
        else:
            parts.append(describe_function(f"{name}.{attribute}", value))
    return "\n".join(parts)


def describe_record(name: str, class_: Any) -> str:
    """Return the section of a frozen record: its first sentence and the names of its fields."""
    fields = [field.name for field in dataclasses.fields(class_) if not field.name.startswith("_")]
    more = [key for key, value in vars(class_).items() if not key.startswith("_") and key not in fields and _is_member(value)]
    text = f"### `{name}`\n\n{_format_docstring(class_)}\n\nFields: {_list_names(fields)}.\n"
    return text + (f"\nFurther: {_list_names(more)}.\n" if more else "")


def describe_error(name: str, class_: Any) -> str:
    """Return the section of an error with its exit code."""
    code = f" `exit_code` {class_.exit_code}." if hasattr(class_, "exit_code") else ""
    return f"### `{name}`\n\n{_format_docstring(class_)}{code}\n"


def _is_member(value: Any) -> bool:
    return isinstance(value, property) or inspect.isfunction(value)


def _list_names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _format_signature(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    shown = signature.replace(parameters=[each for each in signature.parameters.values() if each.name != "self"])
    text = f"{name}{shown}"
    if len(text) > _WIDTH:
        # One argument a line, as a formatter writes it.
        keyword = [each for each in shown.parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY]
        plain = [each for each in shown.parameters.values() if each not in keyword]
        rows = [str(each) for each in plain] + (["*", *map(str, keyword)] if keyword else [])
        text = f"{name}(\n" + "".join(f"    {row},\n" for row in rows) + f"){str(shown.replace(parameters=[]))[2:]}"
    return _PLACE.sub("", text).replace("'", '"')


def _format_docstring(value: Any) -> str:
    """Return a docstring in Google's form as Markdown: `Args:` and `Raises:` as lists."""
    lines = []
    for line in inspect.cleandoc(value.__doc__ or "").splitlines():
        if line in ("Args:", "Raises:"):
            lines.append("Arguments:\n" if line == "Args:" else "Raises:\n")
        elif match := _ARGUMENT.match(line):
            lines.append(f"* `{match[1]}`: {line[match.end() :]}")
        else:
            lines.append(re.sub(r"^ {8,}", "  ", line))
    return re.sub(r"\*(\w+)\*", r"`\1`", "\n".join(lines)).strip()


def read_page() -> tuple[str, str]:
    """Return the page in two parts: what a person wrote, and the reference."""
    written, _, reference = PAGE.read_text(encoding="utf-8").partition(START)
    return written, reference


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(read_page()[0] + START + "\n" + write_reference(), encoding="utf-8")
