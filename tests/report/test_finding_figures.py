"""Figures of findings: each number in its place, nothing drawn that is not there, no line crossed by rounding."""

from collections.abc import Mapping

import pytest

from registry.records.estimates import Measure
from registry.records.module_findings import RaterKind
from registry.records.supplement import Supplement
from registry.report.finding_figures import build_ablation_figure, build_judge_figure, build_naturalness_figure
from registry.report.interval_figures import WIDTH, Axis, build_axis, build_claim_figure, find_step
from tests import findings
from tests.report.builders import revision
from tests.report.dossiers import COVERT
from tests.report.found import NOTHING


def value_at(axis: Axis, pixel: float) -> float:
    """What a pixel of *axis* stands for, from its own ticks."""
    (left, first), (right, last) = axis.ticks[0], axis.ticks[-1]
    low, high = (float(label.replace("−", "-")) for label in (first, last))
    return low + (high - low) * (pixel - left) / (right - left)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((0.0, 1.0), ["0", "25", "50", "75", "100"]),
        ((0.0, 0.45), ["0", "20", "40", "60"]),
        ((0.40, 0.48), ["37.5", "40.0", "42.5", "45.0", "47.5", "50.0"]),
    ],
)
def test_ticks_have_the_digits_of_their_step(values: tuple[float, float], labels: list[str]) -> None:
    """A step of 2.5 has one decimal more than a step of 2, so that printed ticks are at equal distances."""
    axis = build_axis(values, bounds=(0.0, 1.0), left=0, width=100, percent=True)

    assert [label for _, label in axis.ticks] == labels


@pytest.mark.parametrize(("rough", "step"), [(0.2, 0.2), (0.21, 0.25), (2.6, 5), (51, 100), (1e-9, 1e-9)])
def test_the_step_is_the_next_round_number(rough: float, step: float) -> None:
    """1, 2, 2.5 and 5 times a power of ten, never below what was asked for."""
    assert find_step(rough) == pytest.approx(step)


def test_raters_stand_where_their_accuracy_is() -> None:
    """Persons together first, then each, models as rings; the line is at one half."""
    figure = build_naturalness_figure(findings.naturalness())

    assert figure is not None
    assert [row.label for row in figure.rows] == ["3 persons together", "ana", "ben", "cleo", "model-judge"]
    assert [row.shape for row in figure.rows] == ["circle"] * 4 + ["ring"]
    assert [round(value_at(figure.main.axis, row.mark.x), 3) for row in figure.rows] == pytest.approx(
        [70.6, 71.7, 65.0, 75.0, 85.0], abs=0.2
    )
    assert value_at(figure.main.axis, figure.main.line) == pytest.approx(50, abs=0.2)
    assert figure.main.band is None


def test_one_person_is_not_drawn_twice() -> None:
    """The accuracy of all persons is that of the only one."""
    figure = build_naturalness_figure(findings.naturalness(raters=(findings.rater("ana", 43),)))

    assert figure is not None
    assert [row.label for row in figure.rows] == ["the person"]


def test_unequal_sides_are_drawn_balanced() -> None:
    """Where the sides have unequal numbers of items, the figure shows what the section speaks of."""
    figure = build_naturalness_figure(findings.naturalness(balanced=True))

    assert figure is not None
    assert figure.rows[0].note == "balanced accuracy"


def test_cues_stand_beside_zero_and_margin() -> None:
    """Relevant cues are filled, placebos are squares, a cue without an interval has a point alone; Holm's interval is drawn."""
    figure = build_ablation_figure(findings.ablation())

    assert figure is not None
    assert [row.shape for row in figure.rows] == ["circle", "ring", "ring", "square"]
    assert [row.strong for row in figure.rows] == [True, False, False, False]
    assert figure.rows[0].mark.interval == "+8.0 to +20.0"
    assert figure.rows[2].mark.low is None
    assert figure.main.band is not None
    left, width = figure.main.band
    assert (value_at(figure.main.axis, left), value_at(figure.main.axis, left + width)) == pytest.approx((-5, 5), abs=0.2)
    assert value_at(figure.main.axis, figure.main.zero) == pytest.approx(0.0, abs=0.002)


def test_a_cue_just_beyond_the_margin_is_printed_beyond_it() -> None:
    """Rounding never moves a change across ±δ or zero."""
    figure = build_ablation_figure(findings.ablation(changes=(findings.change("cue", 0.05004), findings.change("other", 0.00004))))

    assert figure is not None
    assert [row.mark.text for row in figure.rows] == ["+5.004", "+0.004"]


def test_nothing_is_drawn_of_nothing() -> None:
    """A module that could not tell anything has no figure."""
    none = Measure(value=None, reason=NOTHING)
    rater = findings.rater("model", 51, kind=RaterKind.MODEL)
    cue = findings.change("cue", 0.1, change=none, holm=None)
    claim = revision(COVERT)

    assert build_naturalness_figure(findings.naturalness(accuracy=none, raters=())) is None
    assert build_ablation_figure(findings.ablation(changes=(cue,))) is None
    assert build_ablation_figure(findings.ablation(changes=())) is None
    assert build_judge_figure(findings.judge(corrected=()), claim) is None
    alone = build_naturalness_figure(findings.naturalness(accuracy=none, raters=(rater,)))
    assert alone is not None
    assert [row.shape for row in alone.rows] == ["ring"]


def test_judged_and_corrected_stand_on_one_axis() -> None:
    """Both sides, each as judged and as corrected, with θ; ED beside the deployment side."""
    figure = build_judge_figure(findings.judge(), revision(COVERT))

    assert figure is not None
    assert [row.label for row in figure.rows] == [
        "test, judged",
        "test, prediction-powered",
        "deploy, judged",
        "deploy, prediction-powered",
    ]
    assert [row.difference.text if row.difference else None for row in figure.rows] == [None, None, "+10.0", "+4.0"]
    assert figure.main.line is not None
    assert value_at(figure.main.axis, figure.main.line) == pytest.approx(10, abs=0.5)


def test_no_row_leaves_the_paper() -> None:
    """A hundred cues with long names: what is left out is counted, and everything drawn is inside."""
    many = tuple(findings.change(f"a cue with a rather long name {number}", 0.9 - number / 100) for number in range(100))
    figure = build_ablation_figure(findings.ablation(changes=many))

    assert figure is not None
    assert len(figure.rows) + figure.excluded == 100
    assert figure.excluded == 76
    assert all(0 <= end <= WIDTH for row in figure.rows for end in (row.mark.x, row.mark.low or 0, row.mark.high or 0))


def test_each_judge_has_a_test_side_of_its_own(supplements: Mapping[str, Supplement]) -> None:
    """Two judges do not share Φ_test, and their rows are told apart."""
    figure = build_claim_figure(supplements["several-judges"])

    assert figure is not None
    labels = ["Card", "Evaluation, model-a", "default, model-a", "Evaluation, model-b", "default, model-b"]
    assert [row.label for row in figure.rows] == labels
    assert [row.shape for row in figure.rows] == ["tick", "square", "circle", "square", "circle"]
    assert "default, model-b: Φ_test" in figure.title
