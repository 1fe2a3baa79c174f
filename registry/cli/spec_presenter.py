"""Specifications in a terminal: a context distribution composed, and two versions compared word by word."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from registry.codec.canonical_documents import to_document
from registry.present.blocks import Block, Quotation
from registry.records.specification import ContextBlock, ContextEdit, ContextItem, ContextSpec, Parts, SpecVersion
from registry.registration.context_specification import derive, list_names, list_texts
from registry.report.quoted_text import RunChange, build_redline
from registry.report.status_account import describe_state

if TYPE_CHECKING:
    from registry.records.dossier import ObjectionFile, Recorded
    from registry.records.specification import Reveal
    from registry.store.registry_view import View

_LONGEST_KEPT = 160
"""Characters of an unchanged stretch that a comparison shows."""
_MARKS = {RunChange.KEPT: "{}", RunChange.REMOVED: "[-{}-]", RunChange.ADDED: "{{+{}+}}"}


def present_context_spec(version: SpecVersion, spec: ContextSpec, reference: str) -> Iterator[Block]:
    """Present *spec* with every context composed from its blocks, and what its edits derive."""
    yield f"{reference}  {version.kind.value} {_line(version.slug)} of {version.owner}"
    yield _line(spec.name)
    yield f"  {_line(spec.description)}"
    for label, text in (("construction", spec.construction), ("source", spec.source and spec.source.words), ("why", version.why)):
        if text:
            yield f"  {label}: {_line(text)}"
    for item in spec.contexts:
        yield f"\ncontext {_line(item.id)}"
        yield from _list_context(item, spec.blocks or {})
    for name, block in (spec.blocks or {}).items():
        yield from _list_block(name, block, spec)
    for edit in spec.edits:
        derived = ", ".join(item.id for item in derive(spec, edit))
        yield f"\nedit {_line(edit.name)}{' (placebo)' if edit.placebo else ''}: {_describe_edit(edit)}"
        suffix = f"; {edit.description}" if edit.description else ""
        yield f"  {_line(f'derives {derived}{suffix}')}"


def present_changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Present what the fields in *changes* (field, before, after) went through: `[-taken out-]`, `{+put in+}`."""
    if not changes:
        yield "no difference"
    for change in changes:
        before = dict(_flatten(change["field"], change["before"]))
        # Nested fields are compared one by one, so that a small change in a long list shows.
        after = dict(_flatten(change["field"], change["after"]))
        for place in dict.fromkeys((*before, *after)):
            if before.get(place) != after.get(place):
                yield _line(place)
                yield Quotation(_compare(before.get(place), after.get(place)))


def compare_specs(view: "View", earlier: str, later: str) -> tuple[list[dict[str, Any]] | None, str | None]:
    """Return what differs from *earlier* to *later* (`…@n`, registered), field by field; None where one is sealed, with the reason."""
    bodies = {name: view.find_opened(name) for name in (earlier, later)}
    # The commitment of a sealed version hides its text, so nothing can be compared.
    sealed = [name for name, body in bodies.items() if body is None]
    if sealed:
        is_are = "is sealed: its text is" if len(sealed) == 1 else "are sealed: their texts are"
        return None, f"{' and '.join(sealed)} {is_are} not in the log, and cannot be compared before it is revealed"
    before, after = (to_document(bodies[name]) for name in (earlier, later))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return [{"field": key, "before": before.get(key), "after": after.get(key)} for key in keys], None


def describe_disclosure(version: SpecVersion, revealed: "Recorded[Reveal] | None", reference: str) -> str:
    """Return what is known of a sealed version: its commitment, and since when its text is public."""
    head = f"{reference}  {version.kind.value} {_line(version.slug)} of {version.owner}: sealed, commitment {version.commitment}"
    if revealed is None:
        return f"{head}\nIts text is not in the log; its owner can show it: caveat spec reveal SEAL-FILE"
    why = f": {_line(revealed.payload.why)}" if revealed.payload.why else ""
    return f"{head}\nrevealed by {revealed.entry.actor} on {revealed.entry.at:%Y-%m-%d}, entry {revealed.entry.seq}{why}"


def present_disputes(disputes: "Sequence[ObjectionFile]") -> Iterator[Block]:
    """Present each of *disputes* in one line."""
    for dispute in disputes:
        payload = dispute.objection.payload
        opened = f"{dispute.objection.entry.at:%Y-%m-%d}"
        yield f"contested: {payload.objection} by {payload.by} since {opened}, {describe_state(dispute)}: {_line(payload.grounds)}"


def _line(text: str) -> str:
    """Return *text* in one line, so that none of its lines can look like one of ours."""
    return " ".join(text.split())


def _list_context(item: ContextItem, blocks: Mapping[str, ContextBlock]) -> Iterator[Block]:
    yield from _list_parts("system prompt", item.system, blocks)
    for turn in item.messages:
        yield from _list_parts(turn.role.value, turn.content, blocks)
    yield from _list_parts("user, with the task", item.template, blocks)
    for tool in item.tools:
        yield f"  tool {_line(tool.name)}: {_line(tool.description)}"
    for label, text in (("scaffold", item.scaffold), ("cues outside blocks", ", ".join(item.cues))):
        if text:
            yield f"  {label}: {_line(text)}"


def _list_parts(label: str, parts: Parts | None, blocks: Mapping[str, ContextBlock]) -> Iterator[Block]:
    if not parts:
        yield f"  {label}: {'not known' if parts is None else 'none'}"
        return
    yield f"  {label}"
    if isinstance(parts, str):
        yield Quotation(parts)
        return
    for name in parts:
        block = blocks.get(name)
        yield f"  ┌ {_line(name)}{f' · cue: {_line(block.cue)}' if block and block.cue else ''}"
        if block and block.by:
            yield Quotation(f"(by the task's {_line(block.by.field)}: see block {_line(name)})")
        elif block and block.text:
            yield Quotation(block.text.strip("\r\n"))


def _list_block(name: str, block: ContextBlock, spec: ContextSpec) -> Iterator[Block]:
    """Yield what the contexts do not show of a block: where it is used, what it is, and texts that no context shows."""
    users = [item.id for item in spec.contexts if name in list_names(item)]
    edits = [edit.name for edit in spec.edits if name in (edit.replace or {}).values()]
    used = ", ".join([*(f"context {user}" for user in users), *(f"edit {edit}" for edit in edits)])
    yield f"\nblock {_line(name)}: {f'in {_line(used)}' if used else 'not used'}"
    for label, text in (("cue", block.cue), ("what", block.description), ("source", block.source)):
        if text:
            yield f"  {label}: {_line(text)}"
    if block.by is not None:
        labels = [f"{block.by.field} {value}" for value in block.by.texts]
        for label, text in zip((*labels, f"any other {block.by.field}, or none"), list_texts(block), strict=False):
            yield f"  {_line(label)}"
            yield Quotation(text.strip("\r\n"))
        if block.by.fallback is None:
            yield f"  no fallback: a task with another {_line(block.by.field)} cannot be asked"
    elif not users:
        yield Quotation((block.text or "").strip("\r\n"))


def _describe_edit(edit: ContextEdit) -> str:
    removed = [f"takes out {', '.join(edit.remove)}"] if edit.remove else []
    replaced = [f"puts {new} in the place of {old}" for old, new in (edit.replace or {}).items()]
    return _line("; ".join([*removed, *replaced]))


def _flatten(place: str, value: Any) -> Iterator[tuple[str, str]]:
    """Give the texts of a document with their places; what has an id or a name is found by it, wherever it stands."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(f"{place}.{key}", inner)
    elif isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value):
        for number, inner in enumerate(value):
            label = (inner.get("id") or inner.get("name") if isinstance(inner, Mapping) else None) or number
            yield from _flatten(f"{place}[{label}]", inner)
    elif isinstance(value, list) and value:
        yield place, ", ".join(map(str, value))
    elif value not in (None, []):
        yield place, str(value)


def _compare(before: str | None, after: str | None) -> str:
    runs = build_redline(before or "", after or "")
    return "".join(_MARKS[run.change].format(_shorten(run.text) if run.change is RunChange.KEPT else run.text) for run in runs)


def _shorten(text: str) -> str:
    """Return *text* without its middle where that is long: an unchanged page around one changed word."""
    half = _LONGEST_KEPT // 2
    return text if len(text) <= _LONGEST_KEPT else f"{text[:half]} … {text[-half:]}"
