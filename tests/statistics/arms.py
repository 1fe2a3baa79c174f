"""Score tables of several arms, and contrasts asked of them, for tests."""

import numpy as np

from audit.modules.arm_contrasts import contrast
from audit.records.contrast_result import Contrast, ContrastKind, ContrastRequest, Contrasts
from registry.records.analysis_plan import ContextDesign, Plan
from tests.statistics.tables import Row, build_table

DIFFERENCE, DOUBLE = ContrastKind.DIFFERENCE, ContrastKind.DIFFERENCE_IN_DIFFERENCES
RATIO, MITIGATION = ContrastKind.RATIO, ContrastKind.MITIGATION
ALL = (
    ContrastRequest(kind=DIFFERENCE, arms=("B", "A")),
    ContrastRequest(kind=DOUBLE, arms=("B", "A", "D", "E")),
    ContrastRequest(kind=RATIO, arms=("B", "A")),
    ContrastRequest(kind=MITIGATION, arms=("D", "B", "A", "E")),
)


def make_rows(seed: int, *, arms: str = "ABDE", tasks: int = 24, contexts: int = 6, samples: int = 2, lost: float = 0.0) -> list[Row]:
    """Graded scores of a study with effects of tasks, contexts and arms; *lost* is the share of excluded responses."""
    rng = np.random.default_rng(seed)
    level = dict(zip("ABDE", (0.25, 0.65, 0.45, 0.3), strict=True))
    task, reacts = rng.normal(0, 0.1, tasks), rng.normal(0, 0.05, (tasks, 4))
    rows: list[Row] = []
    for place, arm in enumerate(arms):
        shift = rng.normal(0, 0.04, contexts)
        for i in range(tasks):
            for c in range(contexts):
                for k in range(samples):
                    score = np.clip(level[arm] + task[i] + reacts[i, place] + shift[c] + rng.normal(0, 0.1), 0, 1)
                    rows.append((f"t{i:02}", arm, f"{arm}{c}", str(k), None if rng.random() < lost else round(float(score), 3)))
    return rows


def ask(
    rows: list[Row], *asked: ContrastRequest, contexts: ContextDesign = ContextDesign.RANDOM, level: float = 0.95, pointwise: bool = False
) -> Contrasts:
    return contrast(build_table(rows), Plan(contexts=contexts, level=level), asked or ALL, range_=(0, 1), pointwise=pointwise)


def only(rows: list[Row], kind: ContrastKind, *arms: str, contexts: ContextDesign = ContextDesign.RANDOM) -> Contrast:
    return ask(rows, ContrastRequest(kind=kind, arms=arms), contexts=contexts).contrasts[0]


def ends(found: Contrast) -> tuple[float, float]:
    assert found.measure.low is not None
    assert found.measure.high is not None
    return found.measure.low, found.measure.high
