"""Context specifications: files whose blocks name texts, and the rules for contexts that can be composed."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import from_document, json_schema
from registry.codec.file_io import read_document, read_text
from registry.errors import Fault, InputError, suggest
from registry.records.specification import ContextBlock, ContextEdit, ContextItem, ContextSpec, Parts, Turn, TurnRole

# What a context distribution must satisfy so that its contexts can be composed, and which versions
# its edits derive.
#
# These rules need no task and no model. They are checked before anything is replayed, so an invalid
# specification is never registered.

TASK = "{task}"
"""Stands in a template or a turn where the task's prompt goes."""

PLACEBO = "placebo"
"""How the name of a placebo begins, so that a score table says of itself which of its edits are placebos."""


def list_parts(item: ContextItem) -> list[tuple[str, Parts]]:
    """Return what *item* is composed of, with its place: system prompt, turns, template; without what is not known."""
    turns = [(f"messages[{number}]", turn.content) for number, turn in enumerate(item.messages)]
    places = [("system", item.system), *turns, ("template", item.template)]
    return [(place, parts) for place, parts in places if parts is not None]


def list_names(item: ContextItem) -> list[str]:
    """Return the names of the blocks that *item* is composed of, in order; a name that occurs twice is given twice."""
    return list(item.block_names)


def join_texts(texts: Iterable[str]) -> str:
    """Return the texts of blocks joined by an empty line; line breaks at their ends go, and so do texts that are empty then."""
    # An empty block must not leave a visible gap: the model could take the gap for a cue.
    stripped = (text.strip("\r\n") for text in texts)
    return "\n\n".join(text for text in stripped if text)


def derive(spec: ContextSpec, edit: ContextEdit) -> tuple[ContextItem, ...]:
    """Return the versions of those contexts which hold a block that *edit* takes out or replaces, each under the id that it has.

    Text that is written out in a context is never touched. A turn of which no block is left is taken out with them.
    """
    # Only contexts that contain an edited block get a new version, so an edit never creates an
    # identical copy.
    touched = _list_touched(edit)
    return tuple(_edit_item(item, edit) for item in spec.contexts if touched.intersection(list_names(item)))


def check_contexts(spec: ContextSpec, *, where: str) -> None:
    """Refuse a specification with contexts that cannot be composed; *where* is what its user calls it.

    Raises:
        InputError: with every fault.
    """
    faults = list(find_context_faults(spec, where=where))
    if faults:
        raise InputError(faults)


def find_context_faults(spec: ContextSpec, *, where: str) -> Iterator[Fault]:
    """Give everything that is wrong with *spec* before any task is known; contexts that are only described have no faults."""
    yield from _check_labels([item.id for item in spec.contexts], f"{where}, contexts", "context")
    yield from _check_labels([edit.name for edit in spec.edits], f"{where}, edits", "edit")
    unknown = [*_find_unknown(spec, where)]
    yield from unknown
    # Without the named blocks nothing can be composed, so further checks would only produce
    # consequences of this fault.
    if unknown:
        return
    blocks = spec.blocks or {}
    broken = {item.id: list(_check_item(item, blocks, f"{where}, contexts[{item.id}]")) for item in spec.contexts}
    for faults in broken.values():
        yield from faults
    for edit in spec.edits:
        place = f"{where}, edits[{edit.name}]"
        yield from _check_edit(spec, edit, place)
        for item in derive(spec, edit):
            # What was wrong before the edit is told once, at the context itself.
            yield from () if broken[item.id] else _check_item(item, blocks, f"{place}, as it makes contexts[{item.id}]")


def list_texts(block: ContextBlock) -> list[str]:
    """Return every text that *block* can be: one, or that of each variant, the fallback last."""
    if block.by is None:
        return [block.text or ""]
    return [*block.by.texts.values(), *([] if block.by.fallback is None else [block.by.fallback])]


def _list_touched(edit: ContextEdit) -> set[str]:
    return {*edit.remove, *(edit.replace or {})}


def _edit_item(item: ContextItem, edit: ContextEdit) -> ContextItem:
    turns = [(turn, _edit_parts(turn.content, edit)) for turn in item.messages]
    # A turn that becomes empty is removed, since an empty message is not valid. One that was empty
    # before is kept and reported.
    kept = tuple(Turn(role=turn.role, content=content) for turn, content in turns if content or not turn.content)
    system = None if item.system is None else _edit_parts(item.system, edit)
    template = None if item.template is None else _edit_parts(item.template, edit)
    return replace(item, system=system, messages=kept, template=template)


def _edit_parts(parts: Parts, edit: ContextEdit) -> Parts:
    if isinstance(parts, str):
        return parts
    instead = edit.replace or {}
    return tuple(instead.get(name, name) for name in parts if name not in edit.remove)


def _check_labels(names: Sequence[str], where: str, noun: str) -> Iterator[Fault]:
    """Names become columns of a score table, which refuses empty and padded ones, and takes equal ones for the same."""
    for name, count in Counter(names).items():
        if not name.strip():
            yield Fault("id-empty", where, f"a {noun} has an empty name")
        elif name != name.strip():
            yield Fault("bad-name", where, f"{name!r} begins or ends with white space")
        if count > 1:
            yield Fault("duplicate", where, f"{count} {noun}s are called {name!r}")


def _find_unknown(spec: ContextSpec, where: str) -> Iterator[Fault]:
    """Give a fault for each place that names a block which is not there."""
    blocks = spec.blocks or {}
    for item in spec.contexts:
        for place, parts in list_parts(item):
            if not isinstance(parts, str):
                yield from _name_unknown(parts, blocks, f"{where}, contexts[{item.id}].{place}")
    for edit in spec.edits:
        named = {"remove": edit.remove, "replace": (*(edit.replace or {}), *(edit.replace or {}).values())}
        for key, names in named.items():
            yield from _name_unknown(names, blocks, f"{where}, edits[{edit.name}].{key}")


def _name_unknown(names: Iterable[str], known: Mapping[str, ContextBlock], where: str) -> Iterator[Fault]:
    for name in dict.fromkeys(names):
        if name not in known:
            listed = f"the blocks are: {', '.join([*known][:20])}" if known else "the specification has no blocks"
            advice = suggest(name, known)
            yield Fault("unknown-name", where, f"no block is called {name!r}; {listed}", advice=advice)


def _check_item(item: ContextItem, blocks: Mapping[str, ContextBlock], where: str) -> Iterator[Fault]:
    # A variant without the task would send a context with no question, and its responses would be
    # scored all the same.
    if item.template is not None and not _always_holds(item.template, blocks):
        problem = "holds no {task}, or not in each of its variants; the task would not be asked"
        yield Fault("task-placeholder-missing", f"{where}.template", problem)
    for number, turn in enumerate(item.messages):
        if not turn.content:
            yield Fault("not-valid", f"{where}.messages[{number}]", "the turn says nothing", advice="remove the turn")
    # A rule of the Messages API, checked before any call is paid for.
    if item.messages and item.messages[0].role is not TurnRole.USER:
        problem = "the conversation begins with the assistant; the Messages API takes only one that the user begins"
        yield Fault("not-valid", f"{where}.messages[0]", problem, advice="begin with a turn of the user")
    for name, count in Counter(tool.name for tool in item.tools).items():
        if count > 1:
            yield Fault("not-valid", f"{where}.tools", f"{count} tools are called {name!r}", advice="keep one")


def _always_holds(parts: Parts, blocks: Mapping[str, ContextBlock]) -> bool:
    """Whether `{task}` stands in the text, or in every variant of at least one of its blocks."""
    if isinstance(parts, str):
        return TASK in parts
    # One block suffices, but each of its variants must contain the task, because the variant
    # depends on the task.
    return any(all(TASK in text for text in list_texts(blocks[name])) for name in parts)


def _check_edit(spec: ContextSpec, edit: ContextEdit, where: str) -> Iterator[Fault]:
    blocks = spec.blocks or {}
    for name in sorted(set(edit.remove).intersection(edit.replace or {})):
        yield Fault("not-valid", where, f"the block {name!r} is both removed and replaced", advice="keep one of the two")
    yield from _check_cues(edit, blocks, where)
    before = {item.id: item for item in spec.contexts}
    derived = derive(spec, edit)
    # An edit without effect would add an arm that measures nothing.
    if not derived:
        problem = f"no context holds {_join(sorted(_list_touched(edit)))}, so nothing is derived"
        yield Fault("edit-changes-nothing", where, problem, advice="name a block that a context is composed of")
    for item in derived:
        if _list_material(before[item.id], blocks) == _list_material(item, blocks):
            problem = f"leaves the context {item.id!r} as it is: what it takes out is empty, or what it puts in says the same"
            yield Fault("edit-changes-nothing", where, problem, advice="change the blocks, or leave the edit out")


def _check_cues(edit: ContextEdit, blocks: Mapping[str, ContextBlock], where: str) -> Iterator[Fault]:
    """A placebo that touches a cue measures the cue; an ablation that touches none measures nothing but editing."""
    names = dict.fromkeys((*edit.remove, *(edit.replace or {}), *(edit.replace or {}).values()))
    cues = {name: cue for name in names if (cue := blocks[name].cue) is not None}
    if edit.placebo and cues:
        problem = f"is a placebo, and yet touches {_join([f'{name} (cue: {cue})' for name, cue in cues.items()])}"
        yield Fault("placebo-on-cue", where, problem)
    if not edit.placebo and not cues:
        problem = f"touches no cue: {_join([*names])} carries none"
        advice = "name the cue of the block (cue: …), or say placebo: true"
        yield Fault("edit-without-cue", where, problem)
    # Score tables know placebos by their name only.
    if edit.placebo is not edit.name.casefold().startswith(PLACEBO):
        problem = f"{'is' if edit.placebo else 'is not'} a placebo; in a score table, a cue is a placebo if its name begins so"
        advice = f"call it placebo-{edit.name}" if edit.placebo else "rename it, or set placebo: true"
        yield Fault("placebo-name", where, problem, advice=advice)


def _list_material(item: ContextItem, blocks: Mapping[str, ContextBlock]) -> list[object]:
    """Return what *item* says, place by place, without the names of its blocks and without those that say nothing."""
    material: list[object] = []
    for _, parts in list_parts(item):
        texts = (
            [parts] if isinstance(parts, str) else [(blocks[part].text, blocks[part].by) for part in parts if any(list_texts(blocks[part]))]
        )
        if texts:
            material.append(texts)
    return material


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)


# A context specification as a person writes it. Blocks may name the file that contains their text.

LARGEST_TEXT_BYTES = 2_000_000


def read_context_spec(path: Path) -> tuple[ContextSpec, dict[str, str]]:
    """Return the context specification in *path*, and the SHA-256 of each text file that it names, by name.

    A block's `file: NAME` becomes its `text`, and `files: {value: NAME}` of its variants become their `texts`; where they come from is
    written into the block's `source`. Files are in the folder of *path* or below it.

    Raises:
        InputError: with every fault of the document, of the files, and of what is composed from them.
    """
    document = read_document(path)
    faults: list[Fault] = []
    texts = _Texts(path, faults)
    filled = texts.fill(document)
    # Missing files first: composing with empty texts would add misleading faults.
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
    block, variants = (schema["$defs"][name] for name in ("ContextBlock", "Variants"))
    text: dict[str, Any] = {"type": "string"}
    block["properties"]["file"] = {**text, "title": "File", "description": "Name of a file in the same folder that holds the text"}
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
        # Links are resolved before the comparison, or a link could lead out of the folder.
        inside = not Path(name).is_absolute() and path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not name or not inside:
        problem = f"{name!r} leads out of the folder of this file" if name else "the name of a file is empty"
        raise InputError(Fault("path-outside-folder", where, problem))
    return path


def digest_file(path: Path) -> str:
    """Return the SHA-256 of the file's bytes, hexadecimal; raises InputError where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(Fault("file-not-readable", str(path), error.strerror or str(error))) from error


class _Texts:
    """The text files of one specification, read on the way through its document."""

    def __init__(self, path: Path, faults: list[Fault]) -> None:
        self._path = path
        self._faults = faults
        self.digests: dict[str, str] = {}

    def fill(self, document: Any) -> Any:
        """Return *document* with texts where it names files; what has another shape is left for the record to refuse."""
        blocks = document.get("blocks") if isinstance(document, Mapping) else None
        # Shape errors are left to the record, which reports them with their path.
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
            self._faults.append(Fault("not-valid", where, f"has both a text ({key}) and a file ({other})", advice="keep one of them"))

    def _read(self, name: object, where: str, sources: list[str]) -> str:
        """Return the text of the file *name*; an empty one after a fault."""
        try:
            path, text = _read_beside(self._path.parent, name, where=where)
        except InputError as error:
            self._faults.extend(error.faults)
            return ""
        # The digest is kept with the text, so that a later change of the file can be noticed.
        self.digests[str(name)] = digest_file(path)
        sources.append(f"{name}, sha256 {self.digests[str(name)]}")
        return text


def _read_beside(folder: Path, name: object, *, where: str) -> tuple[Path, str]:
    if not isinstance(name, str):
        raise InputError(Fault("not-valid", where, f"expected the name of a file; found {name!r}"[:200]))
    path = find_beside(folder, name, where=where)
    text = read_text(path, largest=LARGEST_TEXT_BYTES)
    if "\0" in text:
        raise InputError(Fault("not-valid", str(path), "has U+0000, which no record can hold", advice="remove it from the text"))
    return path, text
