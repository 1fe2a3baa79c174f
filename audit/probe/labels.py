"""How the classifier and the recall filter do on passages that people labelled."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from audit.probe.answer import Reading
from audit.probe.patterns import is_candidate
from audit.statistics.judge_correction import HitCounts, JudgeAccuracy
from audit.statistics.mean_intervals import clopper_pearson
from registry.records.estimates import Measure
from registry.records.module_findings import ClassifierAccuracy, RecognitionClass, UnclassifiedPassages


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A passage with what a person says of it."""

    text: str
    is_recognition: bool


def assess_classifier(
    labelled: Sequence[LabelledText], readings: Sequence[Reading], *, source: tuple[str, str], level: float
) -> ClassifierAccuracy:
    """Return the errors of the classifier on *labelled* passages, whose *readings* come in the same order.

    A passage without a class is counted apart: it is neither right nor wrong, as in the rates that are corrected.

    Args:
        source: name and SHA-256 of the file of labels.
        level: nominal coverage of the intervals.
    """
    counts = Counter(
        (one.is_recognition, reading.value == RecognitionClass.AWARE.value)
        for one, reading in zip(labelled, readings, strict=True)
        if reading.value is not None
    )
    reasons = Counter(reading.excluded for reading in readings if reading.excluded is not None)
    marked = Counter((one.is_recognition, is_candidate(one.text)) for one in labelled)
    hit, missed, cleared, false = counts[True, True], counts[True, False], counts[False, False], counts[False, True]
    return ClassifierAccuracy(
        source=source[0],
        sha256=source[1],
        labelled=len(labelled),
        excluded=tuple(UnclassifiedPassages(reason=reason, count=count) for reason, count in sorted(reasons.items())),
        true_positives=hit,
        false_negatives=missed,
        true_negatives=cleared,
        false_positives=false,
        sensitivity=measure_rate(hit, hit + missed, level=level, of="labelled positive with a class"),
        specificity=measure_rate(cleared, cleared + false, level=level, of="labelled negative with a class"),
        filter_recall=measure_rate(marked[True, True], marked[True, True] + marked[True, False], level=level, of="labelled positive"),
        filter_precision=measure_rate(marked[True, True], marked[True, True] + marked[False, True], level=level, of="marked passage"),
    )


def find_accuracy(found: ClassifierAccuracy | None) -> JudgeAccuracy | None:
    """Return what the correction needs; None where the labelled set has no positive, or no negative, with a class."""
    if found is None:
        return None
    positives, negatives = found.true_positives + found.false_negatives, found.true_negatives + found.false_positives
    if not positives or not negatives:
        return None
    return JudgeAccuracy(
        sensitivity=HitCounts(right=found.true_positives, cases=positives),
        specificity=HitCounts(right=found.true_negatives, cases=negatives),
    )


def measure_rate(hits: int, cases: int, *, level: float, of: str) -> Measure:
    """Return the share with its exact binomial interval; None with its reason where there is no case *of* the kind."""
    if not cases:
        return Measure(value=None, reason=f"there is no {of}")
    limits = clopper_pearson(successes=hits, trials=cases, level=level)
    return Measure(value=hits / cases, low=limits.low, high=limits.high)
