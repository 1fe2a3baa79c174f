"""Files: read strictly and with every size bounded, and written durably, whole or not at all."""

import json
import logging
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, TextIO

import orjson

from registry.codec.canonical_documents import Json, format_path
from registry.errors import ConflictError, Fault, InputError, UnavailableError

LOG = logging.getLogger("caveat.files")
"""Which files are read and written, by name: shown by `caveat -v`, never their content."""

# The one writer of files that must not be lost: complete or not at all, and on the disk when it
# returns.
#
# A file is written under another name, synced and renamed. Then its folder is synced, since a power
# cut may otherwise undo the rename. Several files are renamed only when all of them are on the
# disk, so a full disk changes nothing.


def name_part(path: Path) -> Path:
    """Return where *path* is written before it takes its place."""
    # In the same folder: a rename between file systems is not atomic.
    return path.with_name(f".{path.name}.part")


def replace_file(path: Path, data: bytes) -> None:
    """Write *data* to *path*, as `replace_files`."""
    replace_files([(path, data)])


def replace_files(files: Iterable[tuple[Path, bytes]]) -> None:
    """Write every file, or none of them: an error before the last one is on the disk leaves all as they were.

    Raises:
        OSError: with the name of the file that could not be written.
    """
    paths: list[Path] = []
    try:
        for path, data in files:
            paths.append(path)
            write_part(path, data)
        put_in_place(paths)
    except BaseException:
        for path in paths:
            name_part(path).unlink(missing_ok=True)
        raise


def create_file(path: Path, data: bytes, *, mode: int) -> None:
    """Write *data* to the new file *path* with the permissions *mode*, from its first byte on.

    Raises:
        FileExistsError: there is a file at *path*; it stays as it is. A rename would replace it, so the file is linked instead.
        OSError: with the name of the file that could not be written.
    """
    _write_with_mode(path, data, mode)
    part = name_part(path)
    try:
        # link fails if the target exists, and rename would replace it.
        os.link(part, path)
    finally:
        part.unlink()
    sync(path.parent)


def replace_private(path: Path, data: bytes) -> None:
    """Write *data* to *path* as `replace_file`, readable by its owner only from its first byte on."""
    _write_with_mode(path, data, 0o600)
    put_in_place([path])


def _write_with_mode(path: Path, data: bytes, mode: int) -> None:
    part = name_part(path)
    # A leftover of an earlier crash could have other permissions.
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    os.close(descriptor)
    write_part(path, data)


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Give a text stream, and put what was written to it at *path* when the block ends without an error.

    A device or a pipe at *path* is written to as it is: it cannot be replaced.

    Raises:
        OSError: with the name of *path*; what was there before stays.
    """
    # A pipe or device cannot be renamed over.
    is_special = path.exists() and not path.is_file()
    part = path if is_special else name_part(path)
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
            stream.flush()
            if not is_special:
                os.fsync(stream.fileno())
        if not is_special:
            put_in_place([path])
    except OSError as error:
        _drop(part, path)
        if error.filename is None or error.filename == str(part):
            error.filename = str(path)  # a full disk is reported without a name
        raise
    except BaseException:
        _drop(part, path)
        raise


def _drop(part: Path, path: Path) -> None:
    if part != path:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def put_in_place(paths: Sequence[Path]) -> None:
    """Rename what was written for each of *paths*, which is on the disk, and sync their folders before and after."""
    # Before the renames: the new names must be durable before the old file goes away.
    sync_folders(paths)
    for path in paths:
        os.replace(name_part(path), path)  # noqa: PTH105  (the point is that it is atomic)
        LOG.info("wrote %s", path)
    sync_folders(paths)


def write_part(path: Path, data: bytes) -> None:
    """Write *data* under the other name of *path* and sync it; raises OSError with the name of *path*."""
    part = name_part(path)
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk is told without a name


def sync_folders(paths: Iterable[Path]) -> None:
    """Sync the folders that *paths* lie in, each once."""
    for folder in dict.fromkeys(path.parent for path in paths):
        sync(folder)


def sync(path: Path) -> None:
    """Wait until the file or folder at *path* is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Locks between processes. They are the system's, on an open file, so that a killed process holds nothing.


def lock_file(file: int | BinaryIO | TextIO, *, where: str, is_waiting: bool = False) -> bool:
    """Lock an open file or folder for this process; return False where another process holds it.

    Args:
        file: open; the lock ends when it is closed.
        where: what is locked, for messages.
        is_waiting: wait until the other process lets go.

    Raises:
        UnavailableError: `system-not-supported`: the system has no such locks, as Windows has not.
    """
    try:
        import fcntl  # noqa: PLC0415  (of POSIX alone; the one module that imports it)
    except ImportError as error:
        problem = f"{sys.platform} has no locks (flock) that keep two processes from writing at once"
        raise UnavailableError(Fault("system-not-supported", where, problem)) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


# Files that people write: YAML 1.2 or JSON, read strictly and with limits on size.

LARGEST_FILE_BYTES = 20_000_000
LARGEST_YAML_BYTES = 2_000_000
"""YAML is read at about 500 kB/s, JSON a hundred times faster: larger documents have to be JSON."""
# A limit well below Python's recursion limit, so that deep files give a fault with a place.
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
        # The size is checked before reading, so a huge file costs nothing.
        size = path.stat().st_size
        if size > largest:
            raise InputError(Fault("file-too-large", str(path), f"{size:,} bytes; at most {largest:,} are read"))
        LOG.info("read %s (%s bytes)", path, f"{size:,}")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(Fault("file-not-readable", str(path), error.strerror or str(error))) from error
    except UnicodeDecodeError as error:
        raise InputError(Fault("not-utf-8", str(path), f"byte {error.start} is not UTF-8", advice="save the file as UTF-8")) from error


def write_file(path: Path, content: bytes | str) -> None:
    """Write *content* to *path*, text as UTF-8 with its line ends as they are; an OSError names the file, also that of a full disk."""
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    # Output may be a pipe.
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
    """Return the document written in *text*, JSON if it begins like JSON, else YAML; raises InputError."""
    # JSON first for a file that looks like it: it is read about a hundred times faster than YAML.
    document = _parse_json(text, where) if text.lstrip()[:1] in ("{", "[") else _parse_yaml(text, where)
    faults = list(_find_faults(document, where, (), 0))
    if faults:
        raise InputError(faults)
    return document


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def complete_days(document: Json, names: frozenset[str]) -> Json:
    """Return *document* with each day that a key of *names* has, such as `2027-01-12`, as the time at which it begins (UTC)."""
    if isinstance(document, Mapping):
        return {
            # YAML gives a day as a date, JSON and CSV as text.
            name: f"{value}T00:00:00Z" if name in names and _DAY.fullmatch(str(value)) else complete_days(value, names)
            for name, value in document.items()
        }
    return [complete_days(value, names) for value in document] if isinstance(document, list) else document


def _parse_json(text: str, where: str) -> Json:
    try:
        loaded: Json = json.loads(text, object_pairs_hook=_duplicates_refuser(where))
    except json.JSONDecodeError as error:
        if _looks_like_flow_yaml(text):
            return _parse_yaml(text, where)
        place = f"{where}, line {error.lineno}, column {error.colno}"
        raise InputError(Fault("not-json", place, error.msg)) from error
    except ValueError as error:
        raise InputError(Fault("not-json", where, str(error).partition(";")[0])) from error
    except RecursionError as error:
        raise InputError(Fault("too-deep", where, f"nested deeper than {LARGEST_DEPTH} levels")) from error
    return loaded


def check_line(text: bytes, *, where: str) -> None:
    """Refuse one line of JSON with a key twice in one object, or with U+0000; what is no JSON at all is left for its reader to report."""
    # A key that is read twice is kept once. Where nothing is escaped by number, the document written
    # again then has fewer quotation marks; this is found four times as fast as by asking for each object.
    if b"\\u" not in text:
        with suppress(orjson.JSONDecodeError):
            if orjson.dumps(orjson.loads(text)).count(b'"') == text.count(b'"'):
                return
    try:
        document: Json = json.loads(text, object_pairs_hook=_duplicates_refuser(where))
    except (ValueError, RecursionError):
        return
    if b"\\u0000" in text and (faults := list(_find_faults(document, where, (), 0))):
        raise InputError(faults)


def _duplicates_refuser(where: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    # JSON parsers keep the last of two equal keys. A person would not notice which value counted.
    def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            names = Counter(name for name, _ in pairs)
            twice = next(name for name, count in names.items() if count > 1)
            raise InputError(Fault("duplicate", where, f"the key {twice!r} occurs twice in one object"))
        return seen

    return refuse_duplicates


def _looks_like_flow_yaml(text: str) -> bool:
    """YAML may begin with a flow collection too: `{margin: 0.05}`."""
    return '"' not in text.split(":", 1)[0]


def _parse_yaml(text: str, where: str) -> Json:
    if len(text) > LARGEST_YAML_BYTES:
        problem = f"{len(text):,} characters of YAML; at most {LARGEST_YAML_BYTES:,} are read"
        raise InputError(Fault("file-too-large", where, problem, advice="split it, or write it as JSON, which may be larger"))
    from ruamel.yaml import YAML  # noqa: PLC0415  (40 ms that `--help` need not pay)
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    try:
        _refuse_references(YAML(typ="safe", pure=True), text, where)
        loaded: Json = YAML(typ="safe", pure=True).load(StringIO(text))
    except MarkedYAMLError as error:
        raise InputError(_yaml_fault(error, where)) from error
    except (YAMLError, ValueError, TypeError) as error:
        raise InputError(Fault("not-yaml", where, str(error).partition("\n")[0].partition(";")[0])) from error
    except RecursionError as error:
        raise InputError(Fault("too-deep", where, f"nested deeper than {LARGEST_DEPTH} levels")) from error
    return loaded


def _refuse_references(yaml: Any, text: str, where: str) -> None:
    """A few lines of anchors can stand for gigabytes (a YAML bomb); tags can name any type. Neither is needed here."""
    # The event stream is checked before anything is built, so a YAML bomb never expands.
    for event in yaml.parse(StringIO(text)):
        line = f"{where}, line {event.start_mark.line + 1}"
        if getattr(event, "anchor", None):
            raise InputError(
                Fault(
                    "yaml-not-supported", line, f"anchors and aliases are not read (found {event.anchor!r})", advice="write the value out"
                )
            )
        tag = getattr(event, "tag", None)
        if tag and str(tag) != "!":
            raise InputError(Fault("yaml-not-supported", line, f"tags are not read (found {tag})", advice="remove the tag"))


_YAML_PROBLEMS = (
    (r"expected ',' or '[\]}]', but got '<stream end>'|expected the node content, but found '<stream end>'", "a bracket is never closed"),
    (r"expected ',' or '([\]}])', but got", "expected a comma or {0}"),
    (
        r"mapping values are not allowed",
        "a colon is not allowed here; indent the line like the one above, or put the text in quotation marks",
    ),
    (r"character '\\t' that cannot start", "found a tab; indent with spaces"),
    (r"character '(.)' that cannot start", "a text cannot begin with {0}; put it in quotation marks"),
    (r"unexpected end of stream", "a quotation mark is never closed"),
    (r"expected <block end>", "the line is indented differently from those above"),
    (r"could not find expected ':'", "the line above has no colon after its key"),
    (r"expected the node content, but found '(.+)'", "expected a value, found {0}"),
)
"""What the parser says, and the same in words that do not need its grammar."""


def _yaml_fault(error: Any, where: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where
    problem = str(error.problem or error.context).splitlines()[0]
    code = "duplicate" if "duplicate key" in problem else "not-yaml"
    for pattern, words in _YAML_PROBLEMS:
        if match := re.search(pattern, problem):
            # The opening bracket is where it must be mended, and not the end of the file.
            opened = f"; it is opened in line {error.context_mark.line + 1}" if "bracket" in words and error.context_mark else ""
            return Fault(code, place, words.format(*match.groups()) + opened)
    return Fault(code, place, problem)


def _find_faults(value: Any, where: str, path: tuple[int | str, ...], depth: int) -> Iterator[Fault]:
    place = f"{where}, {format_path(path)}" if path else where
    if depth > LARGEST_DEPTH:
        yield Fault("too-deep", place, f"nested deeper than {LARGEST_DEPTH} levels")
    # Canonical JSON has no NaN and no infinity.
    elif isinstance(value, float) and not math.isfinite(value):
        yield Fault("not-finite", place, f"{value} is not a number that can be recorded")
    elif isinstance(value, str):
        yield from _find_broken(value, place)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield Fault("not-valid", place, f"the key {key!r} is not a text", advice="put it in quotation marks")
            yield from _find_broken(str(key), place)
            yield from _find_faults(item, where, (*path, str(key)), depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _find_faults(item, where, (*path, position), depth + 1)


def _find_broken(text: str, place: str) -> Iterator[Fault]:
    """Lone surrogates are no characters, and no database keeps U+0000."""
    if "\0" in text or not (text.isascii() or _SURROGATE.search(text) is None):
        yield Fault("not-valid", place, "has U+0000 or a lone surrogate, which no record can hold", advice="remove it from the text")


# New files that appear complete or not at all, and never replace another one.


@contextmanager
def new_file(path: Path, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Give a stream with bytes that become the new file *path*, on the disk, when the block ends well.

    Raises:
        ConflictError: `file-exists`.
    """
    refuse_existing(path)
    with working_folder(path) as folder:
        part = folder / "part"
        with naming_file(path), part.open("xb") as stream:
            yield stream
        place_new_file(part, path, mode=mode)


@contextmanager
def working_folder(path: Path) -> Iterator[Path]:
    """Give a new folder next to *path*, for what is not whole yet; it is removed with all that is left in it.

    A process that is killed leaves it behind: its name says what it was for, and no one reads it.
    """
    with TemporaryDirectory(prefix=f".{path.name}.", suffix=".part", dir=path.parent) as name:
        yield Path(name)


def place_new_file(part: Path, path: Path, *, mode: int = 0o600) -> None:
    """Let *part*, a whole file in a folder next to it, become the new file *path*, written through to the disk.

    Raises:
        ConflictError: `file-exists`: it was made meanwhile.
    """
    part.chmod(mode)
    sync(part)
    try:
        # As in `create_file`: a link never replaces a file that someone created meanwhile.
        path.hardlink_to(part)
    except FileExistsError as error:
        raise _exists(path) from error
    part.unlink()
    sync(path.parent)


def refuse_existing(path: Path) -> None:
    """Refuse to write over *path*; raises ConflictError `file-exists`."""
    if os.path.lexists(path):
        raise _exists(path)


def _exists(path: Path) -> ConflictError:
    return ConflictError(Fault("file-exists", os.fspath(path), "there is a file of this name already, and nothing is written over"))
