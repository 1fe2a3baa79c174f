"""Files that people write: YAML 1.2 or JSON, read strictly and with every size bounded."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from registry.atomic import replace_file
from registry.codec.canonical import Json
from registry.codec.documents import format_path
from registry.errors import Fault, InputError

LARGEST_FILE_BYTES = 20_000_000
LARGEST_YAML_BYTES = 500_000
"""YAML is read at about 100 kB/s, JSON a hundred times faster: larger documents have to be JSON."""
LARGEST_DEPTH = 40
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_document(path: Path, *, largest: int = LARGEST_FILE_BYTES) -> Json:
    """Return the document in the YAML or JSON file *path*; `-` is not special here.

    Raises:
        InputError: unreadable, larger than *largest* bytes, not UTF-8, not YAML, with anchors, aliases, tags, duplicate keys, NaN or
            infinity, or nested deeper than 40 levels.
    """
    text = read_text(path, largest=largest)
    return parse_document(text, where=str(path))


def read_text(path: Path, *, largest: int = LARGEST_FILE_BYTES) -> str:
    """Return the UTF-8 text of *path*, without a byte order mark; raises InputError as `read_document`."""
    try:
        size = path.stat().st_size
        if size > largest:
            raise InputError(_fault("file-too-large", str(path), f"{size:,} bytes; at most {largest:,} are read"))
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(_fault("file-not-readable", str(path), error.strerror or str(error))) from error
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is not UTF-8"
        raise InputError(_fault("not-utf-8", str(path), found, "save the file as UTF-8")) from error


def write_file(path: Path, content: bytes | str) -> None:
    """Write *content* to *path*, text as UTF-8 with its line ends as they are; an OSError names the file, also that of a full disk."""
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        with naming_file(path):
            path.write_bytes(data)
    else:
        replace_file(path, data)


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Name *path* in an OSError of the block that names no file: writing to a full disk raises such an error."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def parse_document(text: str, *, where: str) -> Json:
    """Return the document written in *text*, JSON if it begins like JSON, YAML otherwise; raises InputError."""
    document = _parse_json(text, where) if text.lstrip()[:1] in ("{", "[") else _parse_yaml(text, where)
    faults = list(_find_faults(document, where, (), 0))
    if faults:
        raise InputError(faults)
    return document


def _parse_json(text: str, where: str) -> Json:
    try:
        loaded: Json = json.loads(text, object_pairs_hook=_duplicates_refuser(where))
    except json.JSONDecodeError as error:
        if _looks_like_flow_yaml(text):
            return _parse_yaml(text, where)
        place = f"{where}, line {error.lineno}, column {error.colno}"
        raise InputError(_fault("not-json", place, error.msg)) from error
    except ValueError as error:
        raise InputError(_fault("not-json", where, str(error).partition(";")[0])) from error
    except RecursionError as error:
        raise InputError(_fault("too-deep", where, f"nested deeper than {LARGEST_DEPTH} levels")) from error
    return loaded


def check_line(text: bytes, *, where: str) -> None:
    """Refuse one line of JSON with a key twice in one object, or with U+0000; what is no JSON at all is left for its reader to tell."""
    try:
        document: Json = json.loads(text, object_pairs_hook=_duplicates_refuser(where))
    except (ValueError, RecursionError):
        return
    if b"\\u0000" in text and (faults := list(_find_faults(document, where, (), 0))):
        raise InputError(faults)


def _duplicates_refuser(where: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            names = Counter(name for name, _ in pairs)
            twice = next(name for name, count in names.items() if count > 1)
            raise InputError(_fault("duplicate-key", where, f"the key {twice!r} stands twice in one object"))
        return seen

    return refuse_duplicates


def _looks_like_flow_yaml(text: str) -> bool:
    """YAML may begin with a flow collection too: `{margin: 0.05}`."""
    return '"' not in text.split(":", 1)[0]


def _parse_yaml(text: str, where: str) -> Json:
    if len(text) > LARGEST_YAML_BYTES:
        found = f"{len(text):,} characters of YAML; at most {LARGEST_YAML_BYTES:,} are read"
        raise InputError(_fault("file-too-large", where, found, "split it, or write it as JSON, which may be larger"))
    from ruamel.yaml import YAML  # noqa: PLC0415  (40 ms that `--help` need not pay)
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    try:
        _refuse_references(YAML(typ="safe", pure=True), text, where)
        loaded: Json = YAML(typ="safe", pure=True).load(StringIO(text))
    except MarkedYAMLError as error:
        raise InputError(_yaml_fault(error, where)) from error
    except (YAMLError, ValueError, TypeError) as error:
        raise InputError(_fault("not-yaml", where, str(error).partition("\n")[0].partition(";")[0])) from error
    except RecursionError as error:
        raise InputError(_fault("too-deep", where, f"nested deeper than {LARGEST_DEPTH} levels")) from error
    return loaded


def _refuse_references(yaml: Any, text: str, where: str) -> None:
    """A few lines of anchors can stand for gigabytes (a YAML bomb); tags can name any type. Neither is needed here."""
    for event in yaml.parse(StringIO(text)):
        line = f"{where}, line {event.start_mark.line + 1}"
        if getattr(event, "anchor", None):
            raise InputError(
                _fault("yaml-reference", line, f"anchors and aliases are not read (found {event.anchor!r})", "write the value out")
            )
        tag = getattr(event, "tag", None)
        if tag and str(tag) != "!":
            raise InputError(_fault("yaml-tag", line, f"tags are not read (found {tag})", "remove the tag"))


def _yaml_fault(error: Any, where: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where
    problem = str(error.problem or error.context).splitlines()[0]
    code = "duplicate-key" if "duplicate key" in problem else "not-yaml"
    return _fault(code, place, problem)


def _find_faults(value: Any, where: str, path: tuple[int | str, ...], depth: int) -> Iterator[Fault]:
    place = f"{where}, {format_path(path)}" if path else where
    if depth > LARGEST_DEPTH:
        yield _fault("too-deep", place, f"nested deeper than {LARGEST_DEPTH} levels")
    elif isinstance(value, float) and not math.isfinite(value):
        yield _fault("not-finite", place, f"{value} is not a number that can be recorded", "leave the key out if it is unknown")
    elif isinstance(value, str):
        yield from _find_broken(value, place)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield _fault("not-valid", place, f"the key {key!r} is not a text", "put it in quotation marks")
            yield from _find_broken(str(key), place)
            yield from _find_faults(item, where, (*path, str(key)), depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _find_faults(item, where, (*path, position), depth + 1)


def _find_broken(text: str, place: str) -> Iterator[Fault]:
    """Lone surrogates are no characters, and no database keeps U+0000."""
    if "\0" in text or not (text.isascii() or _SURROGATE.search(text) is None):
        yield _fault("not-valid", place, "has U+0000 or a lone surrogate, which no record can hold", "remove it from the text")


def _fault(code: str, where: str, found: str, advice: str | None = None) -> Fault:
    return Fault(code=code, where=where, found=found, advice=advice)
