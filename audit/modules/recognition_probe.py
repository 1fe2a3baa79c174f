"""A probe from its files to its answers: responses, transcripts and labelled passages read, then the calls in order."""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from audit.errors import TableError
from audit.modules.recognition_classifier import read_class
from audit.modules.recognition_passages import ResponsePassage, ResponseText
from audit.modules.recognition_rates import (
    Find,
    LabelledText,
    PassageAnswer,
    ResponseMention,
    ask_label,
    assess_classifier,
    plan_passages,
    plan_prompts,
    read_passages,
    read_prompts,
)
from audit.records.model_response import ReplayCell, Response
from audit.replay.run_store import Call, RunStore
from audit.sources.score_columns import FaultList
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import parse_document, read_text, replacing
from registry.errors import Fault, InputError
from registry.present.answers import write_cell
from registry.records.module_findings import ClassifierAccuracy
from registry.records.replay_run import Probe

# Sources of passages: a run folder, a file of transcripts, and a file of labelled passages.

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
    label: Literal["aware", "aware_but_informed", "not_aware", "monitoring_only", "task_content", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFile:
    """Everything of one file."""

    said: tuple[ResponseText, ...]
    unread: tuple[str, ...]
    """Columns that were not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """Everything of one file of labelled passages."""

    texts: tuple[LabelledText, ...]
    sha256: str
    unread: tuple[str, ...]


def read_run(store: RunStore) -> tuple[list[ResponseText], int]:
    """Return every response of a run as it was asked for in the contexts as they are, and how many had a cue taken out."""
    texts: list[ResponseText] = []
    ablated = 0

    # Many responses share a request; its text is written once.
    @lru_cache(maxsize=4096)
    def find_prompt(request: str) -> str:
        return _write_prompt(store.get_request(request))

    for cell, key in store.list_cells():
        # Edited contexts are another question. Their responses would mix into the rates of the unedited
        # ones.
        if cell.cue_removed is not None:
            ablated += 1
            continue
        texts.append(_read_response(cell, store.find_response(key), find_prompt))
    return texts, ablated


def _read_response(cell: ReplayCell, response: Response | None, find_prompt: Callable[[str], str]) -> ResponseText:
    if response is None:
        # A missing response stays in the design with its reason, so that the rates state their base.
        return ResponseText(cell=cell, reasoning=None, output=None, failure=NOT_ANSWERED)
    if response.failure is not None:
        return ResponseText(cell=cell, reasoning=None, output=None, failure=response.failure.code)
    return ResponseText(
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


def read_texts(path: Path) -> TranscriptFile:
    """Return the transcripts in a JSONL file, one object a line: `text`, optional the other fields of `TextRow`.

    Raises:
        TableError: with every fault: a line that is no object, a field of another kind, a response that occurs twice.
    """
    rows, unread, _ = _read_rows(path, TextRow)
    counted: Counter[tuple[str, ...]] = Counter()
    faults, seen, texts = FaultList(), set[ReplayCell](), list[ResponseText]()
    for place, row in rows:
        task = row.task_id if row.task_id is not None else place
        key = (task, row.arm, row.spec or "", row.context_id)
        sample = row.sample if row.sample is not None else counted[key]
        counted[key] += 1
        cell = ReplayCell(task_id=task, arm=row.arm, context_id=row.context_id, sample=sample, spec=row.spec)
        # Two responses of one cell would count as one; `sample` tells them apart.
        if cell in seen:
            problem = f"task {task}, arm {row.arm}, context {row.context_id}, sample {sample} is in an earlier line"
            faults.add(Fault("duplicate-row", f"{path}, {place}", problem))
        seen.add(cell)
        texts.append(ResponseText(cell=cell, reasoning=row.reasoning, output=row.text, prompt=row.prompt, model=row.model))
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    return TranscriptFile(said=tuple(texts), unread=unread)


def read_labels(path: Path) -> LabelFile:
    """Return the labelled passages in a JSONL file: `text` and `label`.

    `aware` and `aware_but_informed` are positives; `not_aware`, `monitoring_only`, `task_content` and `none` are negatives.

    Raises:
        TableError: with every fault.
    """
    rows, unread, sha256 = _read_rows(path, LabelRow)
    texts = tuple(LabelledText(text=row.text, is_recognition=row.label in ("aware", "aware_but_informed")) for _, row in rows)
    return LabelFile(texts=texts, sha256=sha256, unread=unread)


def _read_rows(path: Path, noun: type[Row]) -> tuple[list[tuple[str, Row]], tuple[str, ...], str]:
    """The lines of *path* with their places, the columns that *noun* does not have, and the digest of the text."""
    content = read_text(path, largest=LARGEST_BYTES)
    dataclass_fields: Sequence[str] = tuple(noun.__dataclass_fields__)  # type: ignore[attr-defined]  # Row is one of the two above
    faults, rows, unread = FaultList(), list[tuple[str, Row]](), dict[str, None]()
    for place, line in _list_lines(content):
        where = f"{path}, {place}"
        try:
            document = _parse_line(line, where)
            unread |= dict.fromkeys(name for name in document if name not in dataclass_fields)
            rows.append((place, from_document(noun, {name: document[name] for name in dataclass_fields if name in document}, where=where)))
        except InputError as error:
            for fault in error.faults:
                faults.add(fault)
    if not rows and not faults.faults:
        faults.add(Fault("table-empty", str(path), "the file has no rows"))
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    return rows, tuple(unread), hashlib.sha256(content.encode()).hexdigest()


def _list_lines(content: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield f"line {number}", line


def _parse_line(line: str, where: str) -> dict[str, Any]:
    if not line.lstrip().startswith("{"):
        raise InputError(Fault("not-json", where, "expected one JSON object a line"))
    document = parse_document(line, where=where)
    return document if isinstance(document, dict) else {}


# What a probe writes for other commands.


def write_mentions(path: Path, mentions: Sequence[ResponseMention]) -> None:
    """Write one row for each response: 1 where it mentions a test, 0 where it does not, and the reason where that is not known.

    Raises:
        InputError: the file cannot be written.
    """
    names = ("task_id", "arm", "spec", "context_id", "sample", "mentioned", "excluded_reason")
    rows = [
        (
            *(mention.cell.task_id, mention.cell.arm, mention.cell.spec or "", mention.cell.context_id, str(mention.cell.sample)),
            "" if mention.mentioned is None else str(int(mention.mentioned)),
            mention.unknown or "",
        )
        for mention in mentions
    ]
    write_rows(path, names, rows)


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV file with *names* as its head, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        with replacing(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([write_cell(field) for field in row] for row in rows)
    except OSError as error:
        raise InputError(Fault("file-not-accessible", str(path), error.strerror or str(error))) from error


# The order of a probe: labelled passages where there are any, then every passage, then the prompts of
# recognised passages.
#
# Calls go through the engine of the replay and are kept in the store of a run folder. So an interrupted
# probe continues where it stopped, and the same probe again makes no call.

Ask = Callable[[Iterable[Call], int], object]
"""Sends the calls that have no outcome yet, of which there are as many as said at most, and puts what comes back into the store: the
engine with endpoint, budget and progress. Calls are made as they are read: their bodies together would be larger than all texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAnswers:
    """What came of the calls."""

    found: tuple[PassageAnswer, ...]
    accuracy: ClassifierAccuracy | None
    classifiers: tuple[str, ...]
    """What answered, as the endpoint returned it."""


def plan_first(passages: Iterable[ResponsePassage], labels: LabelFile | None, probe: Probe) -> Iterator[Call]:
    """Give the calls that are known before anything is asked, each once: labelled passages first, then the others."""
    labelled = (ask_label(text.text, probe) for text in labels.texts) if labels else iter(())
    seen: set[bytes] = set()
    for call in chain(labelled, plan_passages(passages, probe)):
        # Bytes take half the memory of the hexadecimal text.
        key = bytes.fromhex(call.key)
        if key not in seen:
            seen.add(key)
            yield call


def probe_passages(
    store: RunStore,
    passages: Sequence[ResponsePassage],
    probe: Probe,
    ask: Ask,
    *,
    labels: tuple[str, LabelFile] | None = None,
    level: float = 0.95,
) -> ProbeAnswers:
    """Ask for what is not in *store* yet, and return what all of it says.

    Args:
        labels: name of the labelled set, and its passages.
        level: of the intervals of the classifier's errors.
    """
    models: set[str] = set()

    def find(key: str) -> Response | None:
        answer = store.find_response(key)
        models.update([answer.model_returned] if answer is not None and answer.model_returned is not None else [])
        return answer

    # The same words in one channel share a call.
    texts = len({(passage.channel, passage.text) for passage in passages if passage.absent is None})
    ask(plan_first(passages, labels[1] if labels else None, probe), texts + (len(labels[1].texts) if labels else 0))
    prompts = read_passages(passages, probe, find)
    second = plan_prompts(prompts, probe)
    # The second round depends on the classes of the first.
    if second:
        ask(second, len(second))
        prompts = read_prompts(prompts, probe, find)
    accuracy = None if labels is None else _assess(find, labels[0], labels[1], probe, level=level)
    return ProbeAnswers(found=tuple(prompts), accuracy=accuracy, classifiers=tuple(sorted(models)))


def _assess(find: Find, name: str, labels: LabelFile, probe: Probe, *, level: float) -> ClassifierAccuracy:
    readings = [read_class(find(ask_label(text.text, probe).key), text.text) for text in labels.texts]
    return assess_classifier(labels.texts, readings, source=(name, labels.sha256), level=level)
