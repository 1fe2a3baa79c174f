"""Whether a table gives shares without the per cent sign."""

import re
from collections.abc import Sequence

from audit.propose.quantity import Quantity, Unit
from registry.records.passage import Passage

# Metrics that are shares, and benchmarks of capability that are reported in per cent.
_SHARES = re.compile(
    r"%|per\s?cent|\bacc(?:uracy)?\b|accuracy|\bpass@\d|\bEM\b|/em\b|exact\smatch|\bF1\b|/f1\b|\banls\b|\brates?\b|\bsuccess\b|\bcorrect\b|\brecall\b|\bprecision\b|\bresolved\b|\bwin\b|"
    r"\b(?:MMLU|GPQA|MATH|GSM-?8K|MGSM|AIME|HumanEval|MBPP|SWE-?[Bb]ench|LiveCodeBench|BBH|ARC|HellaSwag|TruthfulQA|SimpleQA|IFEval|MMMU|DROP|TriviaQA|HLE|BoolQ|PIQA|WinoGrande|"
    r"CommonsenseQA|OpenBookQA|SQuAD|RACE|AGIEval|C-?Eval|CMMLU|MathVista|ChartQA|DocVQA)\w*",
)  # fmt: skip
_OTHER_SCALES = re.compile(r"\b(?:Elo|rating|chrF|BLEU|perplexity|ppl|seconds|ms|tokens|score\s?\(0|MT-?Bench|CO2)\b", re.IGNORECASE)


def is_in_per_cent(passage: Passage, found: Sequence[Quantity]) -> bool:
    """Whether the bare numbers of a row are per cents: some are above 1, none above 100, and row, heads or caption name a share."""
    bare = [one.value for one in found if one.unit is Unit.SCORE and one.value is not None]
    if not bare or max(bare) <= 1 or max(bare) > 100 or min(bare) < 0:  # noqa: PLR2004 - per cent
        return False
    told = " ".join((passage.words, passage.caption or "", *(cell.column or "" for cell in passage.cells)))
    return bool(_SHARES.search(told)) and not _OTHER_SCALES.search(told)
