"""Which bare numbers of a table are shares given without the per cent sign."""

import re
from collections.abc import Sequence
from dataclasses import replace

from audit.propose.about.row import find_cell
from audit.propose.figures.quantity import Quantity, Unit
from registry.records.passage import Passage

# Metrics that are shares, and benchmarks of capability that are reported in per cent.
_SHARES = re.compile(
    r"(?i:%|per\s?cent|\bacc(?:uracy)?\b|accuracy|\bpass@\d|/em\b|exact\smatch|\bF1\b|/f1\b|\banls\b|\brates?\b|\bsuccess\b|\bcorrect\b|\brecall\b|\bprecision\b|\bresolved\b"
    r"|\bwin\b|\btop-\d)|\bEM\b|\bBBQ\b|"
    r"\b(?:MMLU|GPQA|MATH|GSM-?8K|MGSM|AIME|HumanEval|MBPP|SWE-?[Bb]ench|LiveCodeBench|BBH|ARC|HellaSwag|TruthfulQA|SimpleQA|IFEval|MMMU|DROP|TriviaQA|HLE|BoolQ|PIQA|WinoGrande|"
    r"CommonsenseQA|OpenBookQA|SQuAD|RACE|AGIEval|C-?Eval|CMMLU|MathVista|ChartQA|DocVQA)\w*",
)  # fmt: skip
_OUT_OF = re.compile(r"\b(?:out\sof|max(?:imum)?\.?(?:\sof)?)\s?\d|\bpoints?\b|\(0\s?[-–—]\s?\d", re.IGNORECASE)
_SIGN = re.compile(r"%|\bper\s?cent(?:age)?\b", re.IGNORECASE)
_OTHER_SCALES = re.compile(r"\b(?:Elo|rating|chrF|BLEU|perplexity|ppl|seconds|ms|tokens|score\s?\(0|MT-?Bench|CO2)\b", re.IGNORECASE)


def read_units(passage: Passage, found: Sequence[Quantity]) -> list[Quantity]:
    """Return *found* with the bare numbers that are per cents read as shares.

    Where a head says "%", those of its column are, and no others. Otherwise all are where row, heads or caption name a share
    and the numbers run above 1 and not above 100.
    """
    columns = [_find_head(passage, one) for one in found]
    if any(_SIGN.search(column) for column in columns):
        return [_read_as_per_cent(one) if _SIGN.search(column) else one for one, column in zip(found, columns, strict=True)]
    if not _is_in_per_cent(passage, [one for one, column in zip(found, columns, strict=True) if not _is_marked(column)]):
        return list(found)
    return [one if _is_marked(column) else _read_as_per_cent(one) for one, column in zip(found, columns, strict=True)]


def _is_marked(column: str) -> bool:
    """Whether a head names a scale of its own: "Score (out of 100)", "Elo"."""
    return bool(_OUT_OF.search(column) or _OTHER_SCALES.search(column))


def _find_head(passage: Passage, one: Quantity) -> str:
    cell = find_cell(passage, one.start)
    return (cell.column or "") if cell is not None else ""


def _is_in_per_cent(passage: Passage, found: Sequence[Quantity]) -> bool:
    bare = [one.value for one in found if one.unit is Unit.SCORE and one.value is not None]
    if not bare or max(bare) <= 1 or max(bare) > 100 or min(bare) < 0:
        return False
    told = " ".join(
        (passage.words, passage.caption or "", *(column for cell in passage.cells if not _is_marked(column := cell.column or "")))
    )
    return bool(_SHARES.search(told)) and not _OTHER_SCALES.search(told)


def _read_as_per_cent(one: Quantity) -> Quantity:
    if one.unit is not Unit.SCORE or one.value is None:
        return one
    low, high = (None if end is None else round(end / 100, 10) for end in (one.low, one.high))
    return replace(one, unit=Unit.SHARE, value=round(one.value / 100, 10), low=low, high=high)
