"""Figures of what single conditions of a skill-contamination study add, skill by skill."""

from xml.etree.ElementTree import Element

from audit.cli.contamination_figures import Line, Row, draw_intervals
from audit.cli.contamination_tables import build_figure, build_section
from audit.contamination.published_figures import format_measure
from audit.sources.skill_study_records import HIGHEST, LOWEST, ContaminationStudy, Effect, PatternEffect, SkillContrasts
from registry.records.estimates import Measure
from registry.report.numbers import format_items

UNIT = "points of the composite score"
NET_NEGATIVE = "net_negative"
"""Category of the skills of which the study asks whether contamination outweighs what they help."""


def find_effect(skill: SkillContrasts, name: str) -> Effect | None:
    """Return the contrast of *skill*; None when it was not tried under both conditions."""
    return next((one for one in skill.effects if one.name == name), None)


def list_effects(study: ContaminationStudy, name: str) -> list[tuple[SkillContrasts, Effect]]:
    """Return the skills that have the contrast, from the lowest to the highest value, left-out ones last."""
    found = [(one, effect) for one in study.skills if (effect := find_effect(one, name)) is not None and effect.measure.value is not None]
    return sorted(found, key=lambda pair: (pair[0].left_out is not None, pair[1].measure.value or 0.0, pair[0].skill))


def draw_within(study: ContaminationStudy) -> Element | None:
    """Return B−D, and D−E where that baseline was run; None when no skill was tried in a realistic context."""
    rows = []
    has_baseline = False
    for skill, effect in list_effects(study, "B−D"):
        within = find_effect(skill, "D−E")
        has_baseline = has_baseline or within is not None
        lines = (Line(measure=effect.measure), *([] if within is None else [Line(measure=within.measure, is_open=True)]))
        rows.append(Row(label=skill.skill, note=_name_left_out(skill), lines=lines, published=None, quiet=skill.left_out is not None))
    if not rows:
        return None
    figure = draw_intervals(
        rows, margin=study.margin, title="The skill alone against the skill in a realistic context", unit=f"B−D, {UNIT}"
    )
    text = "Filled circle: B−D, compared directly, task by task. Below 0: the skill alone scores lower than in the realistic context."
    if has_baseline:
        text += " Open square: D−E, the skill within the realistic context against that context without it."
    return build_section("The skill alone against the realistic context", build_figure(figure, text))


def draw_references(study: ContaminationStudy) -> Element | None:
    """Return the skills that were tried without their references; None without any."""
    rows = []
    for skill, effect in list_effects(study, "B−C"):
        whole, own = find_effect(skill, "B−A"), find_effect(skill, "C−A")
        if whole is None or own is None:
            continue
        lines = (Line(measure=whole.measure), Line(measure=own.measure, is_open=True))
        note = f"references, B−C: {format_measure(effect.measure)}"
        rows.append(Row(label=skill.skill, note=note, lines=lines, published=None, quiet=skill.left_out is not None))
    if not rows:
        return None
    figure = draw_intervals(rows, margin=study.margin, title="With and without the references", unit=f"against the baseline A, {UNIT}")
    text = (
        "Skills whose references may hide what their own text does not show. Filled circle: B−A, the whole skill. Open square: C−A, "
        "without its references. Their difference, B−C, is what the references add; it is compared directly, and stands below the name."
    )
    return build_section("What the references add", build_figure(figure, text))


def draw_net_negative(study: ContaminationStudy) -> Element | None:
    """Return B−A of the skills of the category net_negative, with what their intervals say; None without one."""
    pairs = [(skill, effect) for skill, effect in list_effects(study, "B−A") if skill.test_category == NET_NEGATIVE]
    if not pairs:
        return None
    rows = [
        Row(label=skill.skill, note=tell_net(effect.measure), lines=(Line(measure=effect.measure),), published=None)
        for skill, effect in pairs
    ]
    figure = draw_intervals(rows, margin=study.margin, title="Skills that may harm more than they help", unit=f"B−A, {UNIT}")
    below = sum(effect.measure.high is not None and effect.measure.high < 0 for _, effect in pairs)
    asked = f"{len(pairs)} skill{' is' if len(pairs) == 1 else 's are'} in the study for this question."
    text = f"{asked} {below} of {len(pairs)} intervals lie below 0. B−A is the net of both; no condition parts help from harm."
    return build_section("Does contamination outweigh the benefit?", build_figure(figure, text))


def tell_net(measure: Measure) -> str:
    """Return in a few words what the interval of B−A says of help and harm."""
    if measure.low is None or measure.high is None:
        return "no interval"
    if measure.high < 0:
        return "net harm"
    return "net help" if measure.low > 0 else "not told apart from 0"


def draw_patterns(study: ContaminationStudy) -> Element | None:
    """Return the shares of patterns found, skill by skill; None where none were looked for."""
    figures = []
    for name in dict.fromkeys(one.property for skill in study.skills for one in skill.patterns):
        rows = [row for skill in study.skills if (row := _build_pattern_row(skill, name)) is not None]
        if rows:
            margin = study.margin / (HIGHEST - LOWEST)
            figure = draw_intervals(rows, margin=margin, title=name, unit="against the baseline A, share of the patterns of a task")
            text = f"{name[:1].upper()}{name[1:]}. Filled circle: B−A; open square: D−A. By task; not adjusted for their number."
            figures.append(build_figure(figure, text))
    return build_section("Patterns, skill by skill", *figures) if figures else None


def _build_pattern_row(skill: SkillContrasts, name: str) -> Row | None:
    known = {one.contrast: one for one in skill.patterns if one.property == name}
    first: PatternEffect | None = known.get("B−A")
    if first is None or first.measure.value is None:
        return None
    second = known.get("D−A")
    lines = (Line(measure=first.measure), *([] if second is None else [Line(measure=second.measure, is_open=True)]))
    return Row(
        label=skill.skill, note=f"{format_items(first.tasks, 'task')}", lines=lines, published=None, quiet=skill.left_out is not None
    )


def _name_left_out(skill: SkillContrasts) -> str:
    return "" if skill.left_out is None else f"left out ({skill.left_out.replace('_', ' ')})"
