"""The study as a whole: every skill by task, all skills by skill, and beside them what was published."""

import difflib
from collections.abc import Iterator, Mapping, Sequence

from audit.contamination.aggregates import Sample, build_aggregate
from audit.contamination.changes import Found, list_changes
from audit.contamination.effects import (
    CONTRASTS,
    MITIGATED,
    Reading,
    adjust_by_holm,
    build_effect,
    build_mitigation,
    contrast_patterns,
    find_differences,
    read_skill,
)
from audit.contamination.inventory import compare_states, take_inventory
from audit.contamination.patterns import compare_matches, list_patterns
from audit.contamination.published import compare_published, find_figure
from audit.contamination.tables import Settings, choose_seen_whole, read_composite
from audit.errors import DesignError
from audit.sources.contamination import Recording, Skill
from registry.errors import Fault
from registry.records.contamination import (
    ARMS,
    HIGHEST,
    LOWEST,
    AbsentContrast,
    Aggregate,
    ContaminationStudy,
    Effect,
    Mitigation,
    Published,
    SkillContrasts,
    TaskRow,
)
from registry.records.estimate import EstimateWarning
from registry.records.measure import Measure

ENOUGH_TASKS = 20
"""Tasks below which no verdict is given (statistics.md section 3)."""

_TESTS = {"B−A": "statistics", "D−A": "statistics_realistic"}
_DELTAS = {
    "B−A": ("mean_delta_composite",),
    "D−A": ("mean_delta_composite_realistic",),
    "C−A": ("hidden_contamination", "skill_md_only_delta"),
    "B−C": ("hidden_contamination", "ref_attribution"),
}


def build_study(recording: Recording, settings: Settings, *, names: Sequence[str] = ()) -> ContaminationStudy:
    """Return the study over the skills called *names*, over all without any.

    Published aggregates stand beside ours only where both are made of the same skills. The figures of the compatibility column are
    always compared for the whole recording.

    Raises:
        DesignError: a name that no skill has.
    """
    check_names(recording, names)
    skills = tuple(skill for skill in recording.skills if not names or skill.name in names)
    seen_whole = choose_seen_whole(recording.facts.visible_chars, is_whole=recording.facts.is_seen_whole)
    readings = {skill.name: read_skill(skill, read_composite, seen_whole) for skill in skills}
    contrasts = _contrast_skills(skills, readings, recording.published, settings)
    whole = len(skills) == len(recording.skills)
    aggregates = _aggregate(skills, readings, recording.published if whole else None, settings)
    found = Found(
        inventory=take_inventory(recording, skills),
        skills=contrasts,
        aggregates=aggregates,
        states=compare_states(recording, skills, settings),
    )
    return ContaminationStudy(
        level=settings.level,
        margin=settings.margin,
        range=(LOWEST, HIGHEST),
        family=_name_family(contrasts),
        selected=tuple(names) or None,
        inventory=found.inventory,
        skills=contrasts,
        aggregates=aggregates,
        compatibility=compare_published(recording),
        changes=tuple(list_changes(found, recording.published if whole else None)),
        states=found.states,
        warnings=tuple(_list_warnings(contrasts, aggregates)),
        absent=tuple(_list_absent(skills, contrasts, aggregates)),
        patterns=tuple(list_patterns(recording, skills)),
        rematch=compare_matches(skills),
        files=recording.files,
    )


def check_names(recording: Recording, names: Sequence[str]) -> None:
    """Refuse names that no skill of *recording* has, all at once."""
    known = [skill.name for skill in recording.skills]
    faults = []
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            advice = f"did you mean {close[0]}?" if close else "leave --skill out to see all"
            faults.append(Fault(code="unknown-skill", where="--skill", found=f"no skill is called {name!r}", advice=advice))
    if faults:
        raise DesignError(faults)


def _contrast_skills(
    skills: Sequence[Skill], readings: Mapping[str, Reading], published: Mapping[str, object] | None, settings: Settings
) -> tuple[SkillContrasts, ...]:
    effects: dict[str, list[Effect]] = {skill.name: [] for skill in skills}
    for name, arms in CONTRASTS.items():
        tried = [skill for skill in skills if all(skill.find(arm) for arm in arms)]
        made = [build_effect(name, readings[skill.name], settings, _find_tests(published, skill, name)) for skill in tried]
        for skill, effect in zip(tried, adjust_by_holm(made, [skill.left_out is None for skill in tried]), strict=True):
            effects[skill.name].append(effect)
    return tuple(
        SkillContrasts(
            skill=skill.name,
            structural_score=skill.structural_score,
            risk_level=skill.risk_level,
            test_category=skill.test_category,
            left_out=skill.left_out,
            tasks=tuple(_build_row(skill, task.task_id, published) for task in skill.tasks),
            effects=tuple(effects[skill.name]),
            mitigation=_mitigate(skill, readings[skill.name], published, settings),
            patterns=tuple(contrast_patterns(skill, settings)),
        )
        for skill in skills
    )


def _find_tests(published: Mapping[str, object] | None, skill: Skill, contrast: str) -> Published | None:
    if contrast not in _DELTAS:
        return None
    delta = find_figure(published, "skills", skill.name, *_DELTAS[contrast])
    if delta is None:
        return None
    found = {name: find_figure(published, "skills", skill.name, _TESTS.get(contrast, ""), name) for name in _FIGURES.values()}
    count = found["n_comparisons"]
    return Published(
        delta=delta, n=None if count is None else int(count), **{ours: found[name] for ours, name in _FIGURES.items() if ours != "n"}
    )


_FIGURES = {
    "n": "n_comparisons",
    "t": "paired_t_stat",
    "t_p": "paired_t_p",
    "wilcoxon_w": "wilcoxon_w",
    "wilcoxon_p": "wilcoxon_p",
    "cohens_d": "cohens_d",
}


def _build_row(skill: Skill, task_id: str, published: Mapping[str, object] | None) -> TaskRow:
    task = next(one for one in skill.tasks if one.task_id == task_id)
    means: dict[str, float | None] = {}
    for arm in ARMS:
        scores = [one.composite for one in skill.find(arm) if one.task_id == task_id and one.composite is not None]
        if skill.find(arm):
            means[arm] = sum(scores) / len(scores) if scores else None
    return TaskRow(
        task_id=task_id,
        task_type=task.type_,
        language=task.language,
        means=means,
        published_delta=find_figure(published, "skills", skill.name, "tasks", task_id, "delta_composite"),
    )


def _mitigate(skill: Skill, reading: Reading, published: Mapping[str, object] | None, settings: Settings) -> Mitigation | None:
    return build_mitigation(
        {name: find_differences(reading, name, settings) for name in MITIGATED},
        settings,
        find_figure(published, "skills", skill.name, "statistics_realistic", "mitigation_ratio"),
    )


def _aggregate(
    skills: Sequence[Skill],
    readings: Mapping[str, Reading],
    published: Mapping[str, object] | None,
    settings: Settings,
) -> tuple[Aggregate, ...]:
    kept = [skill for skill in skills if skill.left_out is None]
    samples = [Sample(name="kept", skills=kept, readings={one.name: readings[one.name] for one in kept}, published=published)]
    if len(kept) < len(skills):
        samples.append(Sample(name="all", skills=skills, readings=readings, published=None))
    return tuple(build_aggregate(sample, settings) for sample in samples)


def _name_family(contrasts: Sequence[SkillContrasts]) -> str:
    kept = sum(one.left_out is None for one in contrasts)
    return f"one family per contrast: the paired t of each of the {kept} skills that the study kept (and, apart, of all {len(contrasts)})"


def _list_absent(skills: Sequence[Skill], contrasts: Sequence[SkillContrasts], aggregates: Sequence[Aggregate]) -> Iterator[AbsentContrast]:
    """Give each contrast that no skill has, or that has no mean over the kept skills, with the reason."""
    tried = {arm for skill in skills for arm in ARMS if skill.find(arm)}
    for name, arms in CONTRASTS.items():
        effects = [(skill, effect) for skill in contrasts for effect in skill.effects if effect.name == name]
        missing = [f"{arm} {ARMS[arm]}" for arm in arms if arm not in tried]
        if not effects:
            reason = f"no response under {' or '.join(missing)}" if missing else "no skill was tried under both conditions"
            yield AbsentContrast(contrast=name, of="skill", measure=Measure(value=None, reason=reason))
        elif not any(effect.name == name for effect in aggregates[0].effects):
            count = sum(skill.left_out is None and effect.measure.value is not None for skill, effect in effects)
            reason = (
                "no kept skill has a score under both conditions" if count == 0 else "one skill has it, and a mean over skills needs two"
            )
            yield AbsentContrast(contrast=name, of="mean", measure=Measure(value=None, reason=reason))


def _list_warnings(contrasts: Sequence[SkillContrasts], aggregates: Sequence[Aggregate]) -> Iterator[EstimateWarning]:
    message = "Every statement is conditional on these conditions: each is one fixed harness, and other harnesses were not sampled."
    yield EstimateWarning(code="conditions-fixed", message=message)
    tasks = [effect.units for one in contrasts for effect in one.effects if effect.units] or [len(one.tasks) for one in contrasts]
    if tasks and min(tasks) < ENOUGH_TASKS:
        count = f"{min(tasks)}" if min(tasks) == max(tasks) else f"{min(tasks)} to {max(tasks)}"
        message = f"No verdict on a skill: each has {count} tasks, fewer than {ENOUGH_TASKS}; there are intervals only."
        yield EstimateWarning(code="few-tasks", message=message)
    if len(contrasts) == 1:
        message = "One skill: there is no mean over skills, no correlation and no group, and nothing here is a statement on other skills."
        yield EstimateWarning(code="one-skill", message=message)
    elif aggregates and aggregates[0].skills < ENOUGH_TASKS:
        message = f"No verdict on skills either: {aggregates[0].skills} of them, fewer than {ENOUGH_TASKS}."
        yield EstimateWarning(code="few-skills", message=message)
