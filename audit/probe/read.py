"""Where the probe's passages come from: a run folder, a file of transcripts, and a file of labelled passages."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from audit.errors import TableError
from audit.probe.labels import LabelledText
from audit.probe.passage import Said
from audit.records.model_response import ReplayCell, Response
from audit.replay.run_store import RunStore
from audit.sources.score_columns import FaultList
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import parse_document, read_text
from registry.errors import Fault, InputError

LARGEST_BYTES = 500_000_000
NOT_ANSWERED = "not-answered"
"""Reason of a response of the design that was never asked for, or was lost in flight."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """One line of a file of transcripts."""

    text: str
    """What the model answered; may be empty."""
    reasoning: str | None = None
    arm: str = "texts"
    task_id: str | None = None
    """None: every line is a task of its own."""
    context_id: str = "one"
    spec: str | None = None
    sample: int | None = None
    """None: counted from 0 within task, arm, specification and context."""
    prompt: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One line of a file of labelled passages."""

    text: str
    label: Literal["aware", "aware_but_told", "not_aware", "monitoring_only", "task_content", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Everything of one file."""

    said: tuple[Said, ...]
    unread: tuple[str, ...]
    """Columns that were not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Everything of one file of labelled passages."""

    texts: tuple[LabelledText, ...]
    sha256: str
    unread: tuple[str, ...]


def read_run(store: RunStore) -> tuple[list[Said], int]:
    """Return every response of a run as it was asked for in the contexts as they are, and how many had a cue taken out."""
    said: list[Said] = []
    ablated = 0

    @lru_cache(maxsize=4096)
    def find_prompt(request: str) -> str:
        return _write_prompt(store.get_request(request))

    for cell, key in store.list_cells():
        if cell.cue_removed is not None:
            ablated += 1
            continue
        said.append(_read_response(cell, store.find_response(key), find_prompt))
    return said, ablated


def _read_response(cell: ReplayCell, response: Response | None, find_prompt: Callable[[str], str]) -> Said:
    if response is None:
        return Said(cell=cell, reasoning=None, output=None, failure=NOT_ANSWERED)
    if response.failure is not None:
        return Said(cell=cell, reasoning=None, output=None, failure=response.failure.code)
    return Said(
        cell=cell,
        reasoning=response.thinking,
        output=response.text,
        prompt=find_prompt(response.request),
        model=response.model_returned,
    )


def _write_prompt(body: dict[str, Any]) -> str:
    """System prompt and messages in their order, each under its role; blocks that are no text as JSON."""
    parts = [("system", body["system"])] if body.get("system") else []
    parts += [(message.get("role", "message"), message.get("content")) for message in body.get("messages", [])]
    return "\n\n".join(f"[{role}]\n{_write_content(content)}" for role, content in parts)


def _write_content(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content]
    return "\n".join(
        block["text"] if isinstance(block, dict) and isinstance(block.get("text"), str) else json.dumps(block, ensure_ascii=False)
        for block in blocks
    )


def read_texts(path: Path) -> Texts:
    """Return the transcripts in a JSONL file, one object a line: `text`, optional the other fields of `TextRow`.

    Raises:
        TableError: with every fault: a line that is no object, a field of another kind, a response that stands twice.
    """
    rows, unread, _ = _read_rows(path, TextRow)
    counted: Counter[tuple[str, ...]] = Counter()
    faults, seen, said = FaultList(), set[ReplayCell](), list[Said]()
    for place, row in rows:
        task = row.task_id if row.task_id is not None else place
        key = (task, row.arm, row.spec or "", row.context_id)
        sample = row.sample if row.sample is not None else counted[key]
        counted[key] += 1
        cell = ReplayCell(task_id=task, arm=row.arm, context_id=row.context_id, sample=sample, spec=row.spec)
        if cell in seen:
            found = f"task {task}, arm {row.arm}, context {row.context_id}, sample {sample} stands in an earlier line"
            faults.add(Fault(code="row-repeated", where=f"{path}, {place}", found=found, advice="number the responses with sample"))
        seen.add(cell)
        said.append(Said(cell=cell, reasoning=row.reasoning, output=row.text, prompt=row.prompt, model=row.model))
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    return Texts(said=tuple(said), unread=unread)


def read_labels(path: Path) -> Labels:
    """Return the labelled passages in a JSONL file: `text` and `label`.

    `aware` and `aware_but_told` are positives; `not_aware`, `monitoring_only`, `task_content` and `none` are negatives.

    Raises:
        TableError: with every fault.
    """
    rows, unread, sha256 = _read_rows(path, LabelRow)
    texts = tuple(LabelledText(text=row.text, is_recognition=row.label in ("aware", "aware_but_told")) for _, row in rows)
    return Labels(texts=texts, sha256=sha256, unread=unread)


def _read_rows(path: Path, noun: type[Row]) -> tuple[list[tuple[str, Row]], tuple[str, ...], str]:
    """The lines of *path* with their places, the columns that *noun* does not have, and the digest of the text."""
    content = read_text(path, largest=LARGEST_BYTES)
    known: Sequence[str] = tuple(noun.__dataclass_fields__)  # type: ignore[attr-defined]  # Row is one of the two above
    faults, rows, unread = FaultList(), list[tuple[str, Row]](), dict[str, None]()
    for place, line in _list_lines(content):
        where = f"{path}, {place}"
        try:
            document = _parse_line(line, where)
            unread |= dict.fromkeys(name for name in document if name not in known)
            rows.append((place, from_document(noun, {name: document[name] for name in known if name in document}, where=where)))
        except InputError as error:
            for fault in error.faults:
                faults.add(fault)
    if not rows and not faults.faults:
        faults.add(Fault(code="table-empty", where=str(path), found="the file has no rows"))
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    return rows, tuple(unread), hashlib.sha256(content.encode()).hexdigest()


def _list_lines(content: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield f"line {number}", line


def _parse_line(line: str, where: str) -> dict[str, Any]:
    if not line.lstrip().startswith("{"):
        found = "expected one JSON object a line"
        raise InputError(Fault(code="line-not-json", where=where, found=found, advice="write JSONL: one object on each line"))
    document = parse_document(line, where=where)
    return document if isinstance(document, dict) else {}
