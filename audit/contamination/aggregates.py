"""Statements on skills: pooled contrasts, correlations and groups, each with the skill as the unit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audit.contamination.effects import (
    COMPOSITE,
    CONTRASTS,
    Reading,
    average_skills,
    build_effect,
    build_mitigation,
    find_differences,
    measure_contrast,
    read_skill,
)
from audit.contamination.published import find_figure
from audit.contamination.tables import PROPERTIES, Scored, Settings, estimate_contrast, list_task_rows, read_composite
from audit.sources.contamination import Skill
from audit.statistics.correlation import pearson, spearman
from registry.records.contamination import Aggregate, Correlation, Group, PropertyEffect, Published
from registry.records.measure import Measure

ACROSS = ("B−A", "D−A", "B−D")
"""The contrasts that every skill can have."""

_MEANS = {"B−A": "mean_delta_skill_only", "D−A": "mean_delta_realistic"}
_CORRELATIONS = {
    "B−A": ("correlation_structural_behavioral",),
    "D−A": ("realistic_context", "correlation_structural_realistic"),
}
_GROUPED: tuple[tuple[Literal["risk_level", "test_category"], str], ...] = (
    ("risk_level", "by_risk_level"),
    ("test_category", "by_test_category"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Skills with their rows, and what was published of them."""

    name: Literal["kept", "all"]
    skills: Sequence[Skill]
    readings: Mapping[str, Reading]
    """By skill."""
    published: Mapping[str, object] | None
    """None where the study's aggregates were made of other skills."""


def build_aggregate(sample: Sample, settings: Settings) -> Aggregate:
    """Return everything that is said of the skills of *sample* together."""
    pooled = {name: average_skills(sample.readings, CONTRASTS[name], settings) for name in CONTRASTS}
    differences = {name: find_differences(reading, name, settings) for name, reading in pooled.items()}
    return Aggregate(
        name=sample.name,
        skills=len(sample.skills),
        effects=tuple(
            build_effect(name, pooled[name], settings, _find_mean(sample, name)) for name in CONTRASTS if len(differences[name]) > 1
        ),
        mitigation=build_mitigation(
            differences,
            settings,
            find_figure(sample.published, "summary", "realistic_context", "mean_mitigation_ratio"),
        ),
        correlations=tuple(_correlate(sample, name, differences[name], settings) for name in _CORRELATIONS),
        groups=(*_group_skills(sample, pooled, settings), *_group_tasks(sample, settings)),
        properties=tuple(_contrast_properties(sample, settings)),
    )


def _find_mean(sample: Sample, contrast: str) -> Published | None:
    if contrast not in _MEANS:
        return None
    delta = find_figure(sample.published, "summary", "realistic_context", _MEANS[contrast])
    return None if delta is None else Published(delta=delta)


def _correlate(sample: Sample, contrast: str, differences: Mapping[str, float], settings: Settings) -> Correlation:
    scores = {skill.name: skill.structural_score for skill in sample.skills}
    x = np.array([scores[name] for name in differences])
    y = np.array(list(differences.values()))
    linear, ranked = pearson(x, y, level=settings.level), spearman(x, y, level=settings.level)
    return Correlation(
        contrast=contrast,
        skills=len(differences),
        pearson=linear.measure,
        pearson_p=linear.test.p,
        spearman=ranked.measure,
        spearman_p=ranked.test.p,
        published=find_figure(sample.published, "summary", *_CORRELATIONS[contrast]),
    )


def _group_skills(sample: Sample, pooled: Mapping[str, Reading], settings: Settings) -> Iterator[Group]:
    for by, printed in _GROUPED:
        for group in dict.fromkeys(getattr(skill, by) for skill in sample.skills):
            names = {skill.name for skill in sample.skills if getattr(skill, by) == group}
            for contrast in ACROSS:
                rows = [row for row in pooled[contrast].rows if row.unit in names]
                figure = find_figure(sample.published, "summary", printed, group, "mean_delta") if contrast == "B−A" else None
                measure, skills = _measure_group(rows, contrast, settings)
                yield Group(by=by, name=group, skills=skills, contrast=contrast, measure=measure, published=figure)


def _group_tasks(sample: Sample, settings: Settings) -> Iterator[Group]:
    for type_ in dict.fromkeys(task.type_ for skill in sample.skills for task in skill.tasks):
        readings = {}
        for skill in sample.skills:
            tasks = frozenset(task.task_id for task in skill.tasks if task.type_ == type_)
            if tasks:
                readings[skill.name] = read_skill(skill, read_composite, None, tasks=tasks)
        for contrast in ACROSS:
            rows = average_skills(readings, CONTRASTS[contrast], settings).rows
            figure = find_figure(sample.published, "summary", "by_task_type", type_, "mean_delta") if contrast == "B−A" else None
            measure, skills = _measure_group(rows, contrast, settings)
            yield Group(by="task_type", name=type_, skills=skills, contrast=contrast, measure=measure, published=figure)


def _measure_group(rows: Sequence[Scored], contrast: str, settings: Settings) -> tuple[Measure, int]:
    measure, skills = _measure(rows, contrast, settings)
    return (Measure(value=None, reason="one skill is not a group"), 1) if skills == 1 else (measure, skills)


def _measure(rows: Sequence[Scored], contrast: str, settings: Settings, range_: tuple[float, float] = COMPOSITE) -> tuple[Measure, int]:
    return measure_contrast(estimate_contrast(rows, CONTRASTS[contrast], settings, range_))


def _contrast_properties(sample: Sample, settings: Settings) -> Iterator[PropertyEffect]:
    for name, (score, range_) in PROPERTIES.items():
        readings = {skill.name: Reading(unit="task", rows=list_task_rows(skill, score), seen_whole=None) for skill in sample.skills}
        for contrast in ACROSS:
            pooled = average_skills(readings, CONTRASTS[contrast], settings, range_)
            measure, skills = _measure(pooled.rows, contrast, settings, range_)
            yield PropertyEffect(property=name, contrast=contrast, range=range_, skills=skills, measure=measure)
