"""The contrasts of one skill by task, and of many skills by skill: interval, tests and effect size over the units that are independent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.contamination.tables import (
    PATTERNS,
    Arms,
    Score,
    Scored,
    Settings,
    average_units,
    estimate_contrast,
    list_differences,
    list_task_rows,
)
from audit.sources.contamination import Skill
from audit.statistics.multiplicity import holm_p
from audit.statistics.paired import cohens_d, paired_t, wilcoxon_signed_rank
from audit.statistics.ratio import fieller
from registry.records.contamination import HIGHEST, LOWEST, Effect, Mitigation, PatternEffect, Published
from registry.records.estimate import SpecEstimate
from registry.records.measure import Measure

CONTRASTS: Mapping[str, Arms] = {
    "B−A": ("B", "A"),
    "D−A": ("D", "A"),
    "B−D": ("B", "D"),
    "C−A": ("C", "A"),
    "B−C": ("B", "C"),
    "D−E": ("D", "E"),
    "E−A": ("E", "A"),
}
"""What is compared: the skill, the skill in a realistic context, what this context changes; the skill's own text, its references; the
skill within the realistic context, and that context without it."""

MITIGATED = ("D−E", "D−A", "B−A")
"""The contrasts that a mitigation is made of."""

COMPOSITE = (LOWEST, HIGHEST)

NO_BASELINE = "not identified: no baseline was run in the realistic context, so D−A changes the context together with the skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rows of one set of units, and the same rows with only what the judge saw whole (None when nobody says what it saw)."""

    unit: str
    rows: Sequence[Scored]
    seen_whole: Sequence[Scored] | None


def read_skill(skill: Skill, composite: Score, seen_whole: Score | None, *, tasks: frozenset[str] | None = None) -> Reading:
    """Return the rows of one skill; the task is the unit."""
    return Reading(
        unit="task",
        rows=list_task_rows(skill, composite, tasks=tasks),
        seen_whole=None if seen_whole is None else list_task_rows(skill, seen_whole, tasks=tasks),
    )


def average_skills(readings: Mapping[str, Reading], arms: Arms, settings: Settings, range_: tuple[float, float] = COMPOSITE) -> Reading:
    """Return one row per skill and arm of a contrast: means over the tasks that the skill has under both arms.

    A skill without such a task is left out. The spread of these means holds that of tasks and runs too, so the skill is the only cluster.
    """
    whole = [one.seen_whole for one in readings.values()]
    return Reading(
        unit="skill",
        rows=_average({name: one.rows for name, one in readings.items()}, arms, settings, range_),
        seen_whole=None
        if None in whole
        else _average({name: one.seen_whole or () for name, one in readings.items()}, arms, settings, range_),
    )


def _average(rows: Mapping[str, Sequence[Scored]], arms: Arms, settings: Settings, range_: tuple[float, float]) -> list[Scored]:
    found = {name: estimate_contrast(one, arms, settings, range_) for name, one in rows.items()}
    return [row for name, spec in found.items() if not isinstance(spec, str) for row in average_units(spec, arms, name)]


def build_effect(name: str, reading: Reading, settings: Settings, published: Published | None) -> Effect:
    """Return the contrast *name* of one skill or of many, its place under Holm still open."""
    arms = CONTRASTS[name]
    spec = estimate_contrast(reading.rows, arms, settings, COMPOSITE)
    measure, units = measure_contrast(spec)
    differences = np.array([] if isinstance(spec, str) else list(list_differences(spec).values()))
    seen, seen_units = _measure_seen_whole(reading, arms, settings)
    return Effect(
        name=name,
        arms=arms,
        unit="skill" if reading.unit == "skill" else "task",
        units=units,
        measure=measure,
        method="" if isinstance(spec, str) or measure.low is None else spec.ed.method,
        paired_t=paired_t(differences),
        wilcoxon=wilcoxon_signed_rank(differences),
        cohens_d=cohens_d(differences, level=settings.level),
        p_holm=None,
        p_holm_all=None,
        within_margin=_is_within(measure, settings.margin),
        under_exclusions=None if isinstance(spec, str) else spec.ed_under_exclusions,
        seen_whole=seen,
        seen_whole_units=seen_units,
        published=published,
    )


def measure_contrast(spec: SpecEstimate | str) -> tuple[Measure, int]:
    """Return the contrast with its interval, and the units it rests on; without one, the reason."""
    if isinstance(spec, str):
        return Measure(value=None, reason=spec), 0
    ed = spec.ed
    reason = None if ed.low is not None else ed.reason or "no variance"
    return Measure(value=round(ed.value, 12) + 0.0, low=ed.low, high=ed.high, reason=reason), spec.n.tasks


def _measure_seen_whole(reading: Reading, arms: Arms, settings: Settings) -> tuple[Measure, int]:
    if reading.seen_whole is None:
        return Measure(value=None, reason="nobody says how much of a response the judge saw"), 0
    spec = estimate_contrast(reading.seen_whole, arms, settings, COMPOSITE)
    if isinstance(spec, str):
        return Measure(value=None, reason=f"no {reading.unit} has a response on both arms that the judge saw whole"), 0
    return measure_contrast(spec)


def _is_within(measure: Measure, margin: float) -> bool | None:
    if measure.low is None or measure.high is None:
        return None
    return -margin <= measure.low and measure.high <= margin


def contrast_patterns(skill: Skill, settings: Settings) -> Iterator[PatternEffect]:
    """Give every contrast of the shares of patterns found, for conditions under which they were looked for."""
    for name, score in PATTERNS.items():
        rows = list_task_rows(skill, score)
        known = {row.arm for row in rows if row.score is not None}
        for contrast, arms in CONTRASTS.items():
            if known.issuperset(arms):
                measure, tasks = measure_contrast(estimate_contrast(rows, arms, settings, (0.0, 1.0)))
                yield PatternEffect(property=name, contrast=contrast, tasks=tasks, measure=measure)


def adjust_by_holm(effects: Sequence[Effect], kept: Sequence[bool]) -> list[Effect]:
    """Return the effects of one contrast over all skills with p after Holm, over the skills *kept* and over all."""
    every = dict(_adjust(enumerate(effects)))
    inner = dict(_adjust((place, one) for place, one in enumerate(effects) if kept[place]))
    return [replace(one, p_holm=inner.get(place), p_holm_all=every.get(place)) for place, one in enumerate(effects)]


def _adjust(effects: Iterable[tuple[int, Effect]]) -> Iterable[tuple[int, float | None]]:
    listed = list(effects)
    return zip([place for place, _ in listed], holm_p([one.paired_t.p for _, one in listed]), strict=True)


def build_mitigation(differences: Mapping[str, Mapping[str, float]], settings: Settings, published: float | None) -> Mitigation | None:
    """Return how much of B−A is gone in the realistic context, from the differences by contrast and unit; None without one of both.

    Within that context the skill's effect is D−E; where no such baseline was run, D−A describes context and skill together.
    """
    descriptive = _divide(differences["D−A"], differences["B−A"], settings)
    if descriptive is None:
        return None
    identified = _divide(differences["D−E"], differences["B−A"], settings) or Measure(value=None, reason=NO_BASELINE)
    return Mitigation(identified=identified, descriptive=descriptive, published=published)


def _divide(numerators: Mapping[str, float], denominators: Mapping[str, float], settings: Settings) -> Measure | None:
    """Return 1 less the ratio of means over the units that have both; None when there is none."""
    common = [unit for unit in numerators if unit in denominators]
    if not common:
        return None
    numerator, denominator = (np.array([one[unit] for unit in common]) for one in (numerators, denominators))
    return _take_from_one(fieller(numerator, denominator, level=settings.level))


def find_differences(reading: Reading, name: str, settings: Settings) -> dict[str, float]:
    """Return the contrast *name* of each unit; empty without one."""
    spec = estimate_contrast(reading.rows, CONTRASTS[name], settings, COMPOSITE)
    return {} if isinstance(spec, str) else list_differences(spec)


def _take_from_one(ratio: Measure) -> Measure:
    value = None if ratio.value is None else 1 - ratio.value
    if ratio.low is None or ratio.high is None:
        return Measure(value=value, reason=ratio.reason)
    return Measure(value=value, low=1 - ratio.high, high=1 - ratio.low, reason=ratio.reason)
