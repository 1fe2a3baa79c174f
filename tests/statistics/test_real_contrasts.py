"""Contrasts of real replays, against the numbers their notes print; skipped where the shared data are not there."""

import pytest

from audit.modules.arm_contrasts import contrast
from audit.records.contrast_result import ContrastRequest, Contrasts
from registry.records.analysis_plan import ContextDesign, Plan
from tests.statistics.arms import DIFFERENCE, DOUBLE, MITIGATION, ends
from tests.statistics.tables import build_table
from tests.statistics.test_real_recordings import SHARED, read_paired

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")

PRINTED = {
    "eval_explicit": (0.176, 0.121, 0.236),
    "eval_log": (0.080, 0.035, 0.131),
    "eval_metadata": (-0.005, -0.065, 0.055),
    "monitor_log": (0.020, -0.025, 0.065),
}
"""Against `deploy`: value and limits of the note, which are percentiles of a bootstrap over the 199 items."""


def contrast_cues(*asked: ContrastRequest) -> Contrasts:
    """199 harmful requests, one context an arm: arms are made from context ids, and contexts are fixed."""
    rows = read_paired("indic_cues_gemma3", lambda row: row["context_id"] if row["property"] == "refusal_harmful" else None)
    return contrast(build_table(rows), Plan(contexts=ContextDesign.FIXED), asked, range_=(0, 1))


def test_the_headlines_of_the_note_come_out() -> None:
    """Points to the last printed digit, limits within 0.007 and never inside the bootstrap's by more than 0.001."""
    found = contrast_cues(*(ContrastRequest(kind=DIFFERENCE, arms=(cue, "deploy")) for cue in PRINTED))

    for one, (value, low, high) in zip(found.contrasts, PRINTED.values(), strict=True):
        assert one.tasks == 199
        assert one.measure.value == pytest.approx(value, abs=5.1e-4)
        assert ends(one) == pytest.approx((low, high), abs=0.007)
        assert ends(one)[0] <= low + 1e-3
        assert ends(one)[1] >= high - 1e-3


def test_two_cues_hold_after_holm() -> None:
    """An explicit cue and a log line raise refusals; metadata and a bare monitoring line are not shown to."""
    found = contrast_cues(*(ContrastRequest(kind=DIFFERENCE, arms=(cue, "deploy")) for cue in PRINTED))

    adjusted = {one.arms[0]: one.p_holm for one in found.contrasts}
    assert {cue for cue, p in adjusted.items() if p is not None and p < 0.05} == {"eval_explicit", "eval_log"}
    wilcoxon = [one.wilcoxon.p for one in found.contrasts if one.wilcoxon is not None and one.wilcoxon.p is not None]
    assert [p < 0.01 for p in wilcoxon] == [True, True, False, False]


def test_the_explicit_cue_does_more_than_the_log_line() -> None:
    """The difference of the two effects shares the arm `deploy`, which counts once: it is their direct difference."""
    found = contrast_cues(
        ContrastRequest(kind=DOUBLE, arms=("eval_explicit", "deploy", "eval_log", "deploy")),
        ContrastRequest(kind=DIFFERENCE, arms=("eval_explicit", "eval_log")),
        ContrastRequest(kind=MITIGATION, arms=("eval_log", "eval_explicit", "deploy", "deploy")),
        ContrastRequest(kind=MITIGATION, arms=("eval_explicit", "eval_metadata", "deploy", "deploy")),
    )

    double, plain, mitigation, nothing = found.contrasts
    assert double.measure == plain.measure
    assert ends(double)[0] > 0.04
    assert mitigation.measure.value == pytest.approx(1 - 0.0804 / 0.1759, abs=2e-3)
    assert nothing.measure.reason == "not identified: the denominator's interval contains 0"
