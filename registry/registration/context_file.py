"""A context specification as a person writes it: blocks may name the file that their text stands in."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.codec.documents import from_document, json_schema
from registry.codec.files import read_document, read_text
from registry.errors import Fault, InputError
from registry.records.spec import ContextSpec
from registry.registration.contexts import find_context_faults

LARGEST_TEXT_BYTES = 2_000_000


def read_context_spec(path: Path) -> tuple[ContextSpec, dict[str, str]]:
    """Return the context specification in *path*, and the SHA-256 of each text file that it names, by name.

    A block's `file: NAME` becomes its `text`, and `files: {value: NAME}` of its variants become their `texts`; where they come from is
    written into the block's `source`. Files stand in the folder of *path* or below it.

    Raises:
        InputError: with every fault of the document, of the files, and of what is composed from them.
    """
    document = read_document(path)
    faults: list[Fault] = []
    texts = _Texts(path, faults)
    filled = texts.fill(document)
    if faults:
        raise InputError(faults)
    spec = from_document(ContextSpec, filled, where=str(path))
    faults.extend(find_context_faults(spec, where=str(path)))
    if faults:
        raise InputError(faults)
    return spec, texts.digests


def context_schema() -> dict[str, Any]:
    """Return the JSON Schema of a context specification as it is written: with the files that `read_context_spec` takes."""
    schema = json_schema(ContextSpec)
    block, variants = (schema["$defs"][name] for name in ("Block", "Variants"))
    text: dict[str, Any] = {"type": "string"}
    block["properties"]["file"] = {**text, "title": "File", "description": "Name of a file beside this one that holds the text"}
    files = {"type": "object", "additionalProperties": text, "title": "Files", "description": "By value, the name of a file with the text"}
    variants["properties"]["files"] = files
    variants["required"] = [name for name in variants["required"] if name != "texts"]
    variants["anyOf"] = [{"required": ["texts"]}, {"required": ["files"]}]
    return schema


def find_beside(folder: Path, name: str, *, where: str) -> Path:
    """Return the path of the file *name* in *folder* or below it, links followed; it need not be there.

    Raises:
        InputError: the name leads out of the folder: what is read here may be sent to a model, so a file from a stranger must not
            reach for others.
    """
    path = folder / name
    try:
        inside = not Path(name).is_absolute() and path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not name or not inside:
        found = f"{name!r} leads out of the folder that this file stands in" if name else "the name of a file is empty"
        raise InputError(
            Fault(code="file-outside", where=where, found=found, advice="put the file beside this one, or in a folder below it")
        )
    return path


def digest_file(path: Path) -> str:
    """Return the SHA-256 of the file's bytes, hexadecimal; raises InputError where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(Fault(code="file-not-readable", where=str(path), found=error.strerror or str(error))) from error


class _Texts:
    """The text files of one specification, read on the way through its document."""

    def __init__(self, path: Path, faults: list[Fault]) -> None:
        self._path = path
        self._faults = faults
        self.digests: dict[str, str] = {}

    def fill(self, document: Any) -> Any:
        """Return *document* with texts where it names files; what has another shape is left for the record to refuse."""
        blocks = document.get("blocks") if isinstance(document, Mapping) else None
        if not isinstance(blocks, Mapping):
            return document
        return {**document, "blocks": {name: self._fill_block(name, block) for name, block in blocks.items()}}

    def _fill_block(self, name: str, block: Any) -> Any:
        if not isinstance(block, Mapping):
            return block
        where = f"{self._path}, blocks.{name}"
        filled = dict(block)
        sources: list[str] = []
        if "file" in filled:
            self._set_text(filled, "text", "file", where)
            filled["text"] = self._read(filled.pop("file"), f"{where}.file", sources)
        by = filled.get("by")
        if isinstance(by, Mapping) and isinstance(by.get("files"), Mapping):
            filled["by"] = self._fill_variants(by, f"{where}.by", sources)
        if sources:
            filled["source"] = "; ".join([str(filled["source"]), *sources] if filled.get("source") else sources)
        return filled

    def _fill_variants(self, by: Mapping[str, Any], where: str, sources: list[str]) -> dict[str, Any]:
        filled = {key: value for key, value in by.items() if key != "files"}
        texts = filled.get("texts", {})
        if not isinstance(texts, Mapping):
            return filled
        merged = dict(texts)
        for value, name in by["files"].items():
            self._set_text(merged, value, f"files.{value}", f"{where}.files")
            merged[value] = self._read(name, f"{where}.files.{value}", sources)
        return {**filled, "texts": merged}

    def _set_text(self, texts: Mapping[str, Any], key: str, other: str, where: str) -> None:
        if texts.get(key) is not None:
            found = f"has both a text ({key}) and a file ({other})"
            self._faults.append(Fault(code="not-valid", where=where, found=found, advice="keep one of them"))

    def _read(self, name: object, where: str, sources: list[str]) -> str:
        """Return the text of the file *name*; an empty one after a fault."""
        try:
            path, text = _read_beside(self._path.parent, name, where=where)
        except InputError as error:
            self._faults.extend(error.faults)
            return ""
        self.digests[str(name)] = digest_file(path)
        sources.append(f"{name}, sha256 {self.digests[str(name)]}")
        return text


def _read_beside(folder: Path, name: object, *, where: str) -> tuple[Path, str]:
    if not isinstance(name, str):
        raise InputError(Fault(code="not-valid", where=where, found=f"expected the name of a file; found {name!r}"[:200]))
    path = find_beside(folder, name, where=where)
    text = read_text(path, largest=LARGEST_TEXT_BYTES)
    if "\0" in text:
        found = "has U+0000, which no record can hold"
        raise InputError(Fault(code="not-valid", where=str(path), found=found, advice="remove it from the text"))
    return path, text
