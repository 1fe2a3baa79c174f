"""Figures that others report: read as the file gives them, and what is not read is named."""

import json
from pathlib import Path

import pytest

from audit.errors import TableError
from audit.sources.reported_figures import FigureFormat, read_figures
from registry.errors import CaveatError


def _write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


EVAL_RESULTS = """\
- dataset:
    id: cais/hle
    task_id: default
    revision: abc
  value: 20.9
  date: "2025-01-15"
  notes: no-tools
  surprise: 1
- dataset: {id: a/b, task_id: x}
  value: about half
"""
README = """\
---
license: mit
model-index:
- name: Example 7B
  results:
  - task: {type: text-generation}
    dataset: {name: MMLU, type: cais/mmlu}
    metrics:
    - {type: acc, value: 0.61, name: accuracy}
    - {type: acc, value: '0.62', name: accuracy (5-shot), stderr: 0.01}
---
# Example 7B

A model.
"""


def test_results_and_model_index_of_the_hub_are_read_with_what_was_left_out(tmp_path: Path) -> None:
    results = read_figures(_write(tmp_path, "hle.yaml", EVAL_RESULTS))
    assert results.format is FigureFormat.EVAL_RESULTS
    assert [(figure.evaluation, figure.value, figure.model) for figure in results.figures] == [("cais/hle default", 20.9, None)]
    assert results.unread == ("[0].surprise", "[1].value is no number")

    index = read_figures(_write(tmp_path, "README.md", README))
    assert index.format is FigureFormat.MODEL_INDEX
    found = [(figure.metric, figure.evaluation, figure.value, figure.model) for figure in index.figures]
    assert found == [("accuracy", "MMLU", 0.61, "Example 7B"), ("accuracy (5-shot)", "MMLU", 0.62, "Example 7B")]
    assert index.unread == ("model-index[0].results[0].metrics[1].stderr",)


def test_figures_of_a_bom_are_texts_and_a_per_cent_sign_makes_them_no_number(tmp_path: Path) -> None:
    metrics = [
        {"type": "accuracy", "value": "0.5", "slice": "MMLU", "confidenceInterval": {"lowerBound": "0.4", "upperBound": "0.6"}},
        {"type": "accuracy", "value": "26 %"},
    ]
    component = {"name": "Example", "version": "2", "supplier": {"name": "Lab"}}
    card = {**component, "modelCard": {"quantitativeAnalysis": {"performanceMetrics": metrics}}}
    bom = read_figures(_write(tmp_path, "bom.json", {"bomFormat": "CycloneDX", "components": [card]}))

    (figure,) = bom.figures
    assert (figure.value, figure.low, figure.high, figure.evaluation) == (0.5, 0.4, 0.6, "MMLU")
    assert (figure.developer, figure.model, figure.version) == ("Lab", "Example", "2")
    assert bom.unread == ("components[0].modelCard.quantitativeAnalysis.performanceMetrics[1].value is no number",)


@pytest.mark.parametrize(
    "content",
    [
        "[]", "{}", "just words", {"bomFormat": "CycloneDX"}, {"schema_version": "0.3.0", "evaluation_results": []},
        {"schema_version": "0.3.0", "evaluation_results": [{"score_details": {"score": "NaN"}}]}, {"model-index": ["x"]},
        [{"dataset": {"id": "a"}, "value": True}], '{"evaluation_results": 1',
    ],
)  # fmt: skip
def test_a_file_without_figures_is_refused(content: object, tmp_path: Path) -> None:
    with pytest.raises(CaveatError):
        read_figures(_write(tmp_path, "file.json", content))


def test_hostile_shapes_are_no_figures_and_no_crash(tmp_path: Path) -> None:
    shapes: list[object] = [None, 1, "x", [], {}, [[]], {"score": "1e999"}]
    for shape in shapes:
        document = {
            "schema_version": "0.3.0",
            "evaluation_results": [{"score_details": shape, "metric_config": shape}],
            "model_info": shape,
        }
        with pytest.raises(TableError):
            read_figures(_write(tmp_path, "file.json", document))
