"""Figures that others report about a model, in their formats: Every Eval Ever, CycloneDX, and Hugging Face.

Caveat has not checked them. They become proposals for a person: no score, no verdict, no claim by themselves.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from audit.errors import TableError
from registry.codec.file_io import parse_document, read_text
from registry.errors import Fault
from registry.records.record import Record

_LARGEST_BYTES = 5_000_000
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
"""The YAML at the head of a README on the Hub."""


class FigureFormat(StrEnum):
    """Whose format a file is in."""

    EVERY_EVAL_EVER = "every-eval-ever"
    """The aggregate of a run, `UUID.json`."""
    CYCLONEDX = "cyclonedx"
    """`quantitativeAnalysis.performanceMetrics` of a model card."""
    EVAL_RESULTS = "hugging-face-eval-results"
    """`.eval_results/*.yaml`."""
    MODEL_INDEX = "hugging-face-model-index"
    """`model-index` in the front matter of a README, or as a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFigure(Record):
    """One figure as the file gives it."""

    metric: str
    evaluation: str | None
    """Benchmark, dataset or slice."""
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    developer: str | None = None
    model: str | None = None
    version: str | None = None
    range: tuple[float, float] | None = None
    """None where the file does not state it."""
    lower_is_better: bool | None = None
    place: str
    """Path in the file, such as `evaluation_results[0]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureFile(Record):
    """What was read of one file."""

    name: str
    sha256: str
    format: FigureFormat
    figures: tuple[ReportedFigure, ...]
    unread: tuple[str, ...] = ()
    """Fields that the reader does not know, by path; and values that are no number."""


def read_figures(path: Path) -> FigureFile:
    """Return the figures of the file at *path*.

    Raises:
        InputError: it cannot be read, or is neither JSON nor YAML.
        TableError: `not-valid`: it is in none of the formats, or has no figure.
    """
    text = read_text(path, largest=_LARGEST_BYTES)
    front = _FRONT_MATTER.match(text)
    document = parse_document(front[1] if front else text, where=str(path))
    format_ = _find_format(document)
    if format_ is None:
        problem = "it is no aggregate of Every Eval Ever, no CycloneDX model card, no .eval_results file and no model-index"
        raise TableError(Fault("not-valid", str(path), problem))
    unread: list[str] = []
    figures = tuple(_READERS[format_](document, unread))
    if not figures:
        problem = "; ".join([f"it is {format_.value}, and has no figure", *unread[:5]])
        raise TableError(Fault("not-valid", str(path), problem))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return FigureFile(name=path.name, sha256=digest, format=format_, figures=figures, unread=tuple(dict.fromkeys(unread)))


def _find_format(document: Any) -> FigureFormat | None:
    if isinstance(document, list) and document and all(isinstance(item, Mapping) and "dataset" in item for item in document):
        return FigureFormat.EVAL_RESULTS
    if not isinstance(document, Mapping):
        return None
    if isinstance(document.get("evaluation_results"), list) and "schema_version" in document:
        return FigureFormat.EVERY_EVAL_EVER
    if document.get("bomFormat") == "CycloneDX":
        return FigureFormat.CYCLONEDX
    return FigureFormat.MODEL_INDEX if isinstance(document.get("model-index"), list) else None


class _Part:
    """One object of a file: its values by type, and the fields that were not asked for."""

    def __init__(self, value: Any, place: str) -> None:
        self._value: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        self._asked: set[str] = set()
        self.place = place

    def get(self, name: str) -> Any:
        self._asked.add(name)
        return self._value.get(name)

    def part(self, name: str) -> "_Part":
        return _Part(self.get(name), f"{self.place}.{name}".lstrip("."))

    def parts(self, name: str) -> "list[_Part]":
        items = self.get(name)
        place = f"{self.place}.{name}".lstrip(".")
        return [_Part(item, f"{place}[{number}]") for number, item in enumerate(items)] if isinstance(items, list) else []

    def text(self, name: str) -> str | None:
        value = self.get(name)
        return " ".join(value.split()) or None if isinstance(value, str) else None

    def number(self, name: str) -> float | None:
        return _parse_number(self.get(name))

    def count(self, name: str) -> int | None:
        value = self.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def list_unread(self, *known: str) -> Iterator[str]:
        """Yield the paths of fields that were not asked for; *known* are read elsewhere, or say nothing of a figure."""
        yield from (f"{self.place}.{name}".lstrip(".") for name in self._value if name not in self._asked and name not in known)


def _parse_number(value: Any) -> float | None:
    """Return a number, or the number that a text is; CycloneDX writes figures as texts. A per cent sign makes it no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read_every_eval(document: Any, unread: list[str]) -> Iterator[ReportedFigure]:
    whole = _Part(document, "")
    info = whole.part("model_info")
    details = info.part("additional_details")
    for result in whole.parts("evaluation_results"):
        score, metric = result.part("score_details"), result.part("metric_config")
        value = score.number("score")
        if value is None:
            unread.append(f"{score.place}.score is no number")
            continue
        doubt = score.part("uncertainty")
        interval = doubt.part("confidence_interval")
        ends = (metric.number("min_score"), metric.number("max_score"))
        source = result.part("source_data").text("dataset_name")
        setting = metric.text("evaluation_description")
        direction = metric.get("lower_is_better")
        yield ReportedFigure(
            metric=result.text("evaluation_name") or "score",
            evaluation=", ".join(filter(None, (source, setting))) or None,
            value=value,
            low=interval.number("lower"),
            high=interval.number("upper"),
            n=doubt.count("num_samples"),
            developer=info.text("developer"),
            model=info.text("name"),
            version=details.text("version"),
            range=(ends[0], ends[1]) if ends[0] is not None and ends[1] is not None and ends[0] < ends[1] else None,
            lower_is_better=direction if isinstance(direction, bool) else None,
            place=result.place,
        )
        unread.extend(result.list_unread("evaluation_result_id", "evaluation_timestamp"))
    unread.extend(whole.list_unread(
        "schema_version", "evaluation_id", "evaluation_timestamp", "retrieved_timestamp", "source_metadata", "eval_library",
    ))  # fmt: skip


def _read_cyclonedx(document: Any, unread: list[str]) -> Iterator[ReportedFigure]:
    whole = _Part(document, "")
    for component in (whole.part("metadata").part("component"), *whole.parts("components")):
        metrics = component.part("modelCard").part("quantitativeAnalysis").parts("performanceMetrics")
        supplier = component.part("supplier").text("name") or component.text("publisher")
        for metric in metrics:
            value = metric.number("value")
            if value is None:
                unread.append(f"{metric.place}.value is no number")
                continue
            interval = metric.part("confidenceInterval")
            yield ReportedFigure(
                metric=metric.text("type") or "score", evaluation=metric.text("slice"), value=value, low=interval.number("lowerBound"),
                high=interval.number("upperBound"), developer=supplier, model=component.text("name"), version=component.text("version"),
                place=metric.place,
            )  # fmt: skip
            unread.extend(metric.list_unread())


def _read_eval_results(document: Any, unread: list[str]) -> Iterator[ReportedFigure]:
    for number, item in enumerate(document):
        entry = _Part(item, f"[{number}]")
        value, dataset = entry.number("value"), entry.part("dataset")
        if value is None:
            unread.append(f"{entry.place}.value is no number")
            continue
        evaluation = " ".join(filter(None, (dataset.text("id"), dataset.text("task_id"))))
        yield ReportedFigure(metric="score", evaluation=evaluation or None, value=value, place=entry.place)
        unread.extend(entry.list_unread("date", "source", "notes"))
        unread.extend(dataset.list_unread("revision"))


def _read_model_index(document: Any, unread: list[str]) -> Iterator[ReportedFigure]:
    for model in _Part(document, "").parts("model-index"):
        for result in model.parts("results"):
            dataset = result.part("dataset")
            evaluation = dataset.text("name") or dataset.text("type")
            for metric in result.parts("metrics"):
                value = metric.number("value")
                if value is None:
                    unread.append(f"{metric.place}.value is no number")
                    continue
                yield ReportedFigure(
                    metric=metric.text("name") or metric.text("type") or "score", evaluation=evaluation, value=value,
                    model=model.text("name"), place=metric.place,
                )  # fmt: skip
                unread.extend(metric.list_unread("type", "config", "args", "verified", "verifyToken"))
            unread.extend(result.list_unread("task", "source"))


_READERS = {
    FigureFormat.EVERY_EVAL_EVER: _read_every_eval,
    FigureFormat.CYCLONEDX: _read_cyclonedx,
    FigureFormat.EVAL_RESULTS: _read_eval_results,
    FigureFormat.MODEL_INDEX: _read_model_index,
}
