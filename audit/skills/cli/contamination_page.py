"""The page and result files of a skill-contamination study: sections, tables, patterns; no script, no network."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup

from audit.contamination.published_figures import format_measure, format_plain
from audit.contamination.skill_contrasts import NO_BASELINE
from audit.skills.cli.contamination_figures import FigureRow, FigureValue, ScatterDot, draw_intervals, draw_scatter, element
from audit.skills.cli.skill_study_presenter import (
    KINDS,
    describe_absent,
    describe_figures,
    describe_rematch,
    write_count,
    write_interval,
    write_points,
)
from audit.sources.skill_run_folder import StudyRecording
from audit.sources.skill_study_records import (
    DIMENSIONS,
    HIGHEST,
    LOWEST,
    Aggregate,
    ContaminationStudy,
    Effect,
    Mitigation,
    PatternEffect,
    SkillContrasts,
    TaskPatterns,
)
from registry.codec.canonical_documents import to_document
from registry.codec.file_io import write_file
from registry.configuration import find_resource
from registry.present.answers import render_json, show, write_cell
from registry.present.blocks import Block, Remark, Table, Title
from registry.present.html_fragment import render_fragment
from registry.records.estimates import Measure
from registry.report.font_subset import build_font_faces
from registry.report.number_format import format_count, format_items, format_number, format_p, format_range, format_signed, share

# The tables of the page of a skill-contamination study, and what its sections are made of.

_DIGITS = 12


def build_section(title: str, *parts: Element | Iterable[Block]) -> Markup:
    """Return one section of the page: figures as they are, and blocks rendered."""
    return Markup('<section class="part">{}</section>').format(Markup("").join([render_fragment([Title(title)]), *map(_render, parts)]))


def _render(part: Element | Iterable[Block]) -> Markup:
    # What is drawn is escaped by ElementTree.
    return Markup(tostring(part, encoding="unicode", method="html")) if isinstance(part, Element) else render_fragment(part)  # noqa: S704


def build_figure(drawn: Element, text: str) -> Element:
    """Return a drawing with its caption."""
    return element("figure", drawn, element("figcaption", text))


def write_measure(measure: Measure) -> str:
    """Return a number with its interval, or why there is none."""
    if measure.value is None:
        return f"none: {measure.reason}"
    bounds = "no interval" if measure.low is None or measure.high is None else format_range(measure.low, measure.high, signed=True)
    return f"{format_signed(measure.value)} {bounds}"


def _list_pooled(study: ContaminationStudy) -> Iterator[Block]:
    """Yield the table of means over skills, with the mitigation of each."""
    names = {aggregate.name: "kept by the study" if aggregate.name == "kept" else "all" for aggregate in study.aggregates}
    rows = [
        (
            names[aggregate.name],
            effect.name,
            str(effect.units),
            write_points(effect.published.delta if effect.published else None),
            write_points(effect.measure.value),
            write_interval(effect.measure),
            format_p(effect.paired_t.p),
            format_p(effect.wilcoxon.p),
            write_measure(effect.cohens_d),
            _write_seen_whole(effect),
        )
        for aggregate in study.aggregates
        for effect in aggregate.effects
    ]
    yield "The skill is the unit: its tasks and runs are averaged first. W: Wilcoxon."
    columns = ("Skills", "Contrast", "n", "Published", "Here", "Interval", "p (t)", "p (W)", "d", "Over responses seen whole")
    yield Table(columns, rows)
    for aggregate in study.aggregates:
        if aggregate.mitigation is not None:
            yield f"{names[aggregate.name]}: {_describe_mitigation(aggregate.mitigation)}"


def _describe_mitigation(mitigation: Mitigation) -> str:
    if is_without_baseline(mitigation):
        reason = "not identified, no baseline in the realistic context. Context and skill together, ratio of means"
        return f"Mitigation 1 − (D−A)/(B−A): {reason}: {format_plain(mitigation.descriptive)}"
    return f"Mitigation 1 − (D−E)/(B−A), a ratio of means: {format_plain(mitigation.identified)}"


def is_without_baseline(mitigation: Mitigation) -> bool:
    """Whether mitigation is not identified because the realistic context was never run without the skill."""
    return mitigation.identified.value is None and mitigation.identified.reason == NO_BASELINE


def _list_properties(kept: Aggregate) -> Iterator[Block]:
    """Yield the table of dimensions and patterns."""
    yield "The judge's four dimensions, and the patterns that were looked for; means over the kept skills, not adjusted for their number."
    rows = [
        (
            effect.property.replace("_", " "),
            effect.contrast,
            f"{effect.range[0]:g} to {effect.range[1]:g}",
            str(effect.skills),
            write_measure(effect.measure),
        )
        for effect in kept.properties
    ]
    yield Table(("Property", "Contrast", "Range", "Skills", "Here"), rows)


def _list_skills(study: ContaminationStudy) -> Iterator[Block]:
    """Yield the table of every contrast of every skill, then the mitigation of each."""
    yield "W: Wilcoxon. Published p-values come from the normal curve over pairs of runs. *: excluded from the aggregates by the study."
    names = {skill.skill: skill.skill + (" *" if skill.excluded else "") for skill in study.skills}
    columns = ("Skill", "Contrast", "Published", "p then, t / W", "d then", "Here", "p by task, t / W", "Holm", "d by task", _SEEN_WHOLE)
    rows = [(names[skill.skill], *_list_contrast_cells(effect)) for skill in study.skills for effect in skill.effects]
    yield Table(columns, rows)
    ratios = [
        (names[skill.skill], "–" if mitigation.published is None else format_number(mitigation.published), _describe_mitigation(mitigation))
        for skill in study.skills
        if (mitigation := skill.mitigation) is not None
    ]
    if ratios:
        yield Table(("Skill", "Published", "Mitigation"), ratios)


def _list_contrast_cells(effect: Effect) -> Sequence[str]:
    printed = effect.published
    return (
        effect.name,
        write_points(printed.delta if printed else None),
        "–" if printed is None else f"{format_p(printed.t_p)} / {format_p(printed.wilcoxon_p)}",
        write_points(printed.cohens_d if printed else None),
        write_measure(effect.measure),
        f"{format_p(effect.paired_t.p)} / {format_p(effect.wilcoxon.p)}",
        format_p(effect.p_holm),
        write_measure(effect.cohens_d),
        _write_seen_whole(effect),
    )


def _write_seen_whole(effect: Effect) -> str:
    if not effect.seen_whole_units:
        return "none" if effect.seen_whole.value is None else write_measure(effect.seen_whole)
    return f"{write_measure(effect.seen_whole)}, {format_items(effect.seen_whole_units, effect.unit)}"


def _list_inventory(study: ContaminationStudy) -> Iterator[Block]:
    """Yield what was read: counts per arm, exclusions, skills left out, notes."""
    inventory = study.inventory
    columns = ("Arm", "Skills", "Responses", "Without a score", *_ARM_COUNTS)
    rows = [
        (
            f"{arm.arm} {arm.condition}",
            *(str(count) for count in (arm.skills, arm.responses, arm.excluded)),
            *(write_count(count) for count in (arm.beyond_judge, arm.at_token_limit, arm.cached, arm.judge_cached)),
        )
        for arm in inventory.arms
    ]
    yield Table(columns, rows, numbers=columns[1:])
    for exclusion in inventory.exclusions:
        yield f"{exclusion.skill}, task {exclusion.task_id}, run {exclusion.run}, arm {exclusion.arm}: no score, {exclusion.reason}"
    yield from (f"{out.skill}: excluded from the aggregates by the study ({out.reason})" for out in inventory.excluded)
    yield from (f"{note.where}: {note.message}" for note in inventory.notes)
    yield from describe_absent(study.absent)


def _list_states(study: ContaminationStudy) -> Iterator[Block]:
    """Yield the table of earlier states."""
    yield "The present files replaced these. Points then and now; a change after the result was seen is for the reader to weigh."
    rows = [
        (
            state.skill,
            state.state,
            f"{state.scored_at[:16]} → {state.scored_at_now[:16]}",
            str(state.compared),
            write_count(state.texts_changed),
            str(state.scores_changed),
            write_count(state.rescored),
            str(state.failed),
            *(f"{write_points(then)} → {write_points(now)}" for then, now in state.deltas.values()),
        )
        for state in study.states
    ]
    counts = ("Compared", "Texts differ", "Scores differ", "Same text, other score", "Failed then")
    yield Table(("Skill", "State", "Scored", *counts, "B−A", "D−A"), rows, numbers=counts)


def _list_files(study: ContaminationStudy) -> Iterator[Block]:
    """Yield part by part how many published figures were recomputed, how many compared with a copy alone, how many agree."""
    if study.compatibility is not None:
        compatibility = study.compatibility
        yield describe_figures(compatibility.total)
        rows = [
            (name, *map(format_count, (count.recomputed, count.reproduced, count.copied, count.copies_agree)))
            for name, count in compatibility.by_part.items()
        ]
        columns = ("Part", "Recomputed here", "Of these, agree", "Compared only with a copy", "Of the copies, agree")
        yield Table(columns, rows, numbers=columns[1:])
        yield from (
            f"{difference.path}: published {difference.published:g}, found {difference.recomputed}"
            for difference in compatibility.differ[:50]
        )
    yield Remark(f"{len(study.files)} files were read; their SHA-256 are in results.json.")


_SEEN_WHOLE = "Seen whole by the judge"
_ARM_COUNTS = ("Longer than the judge saw", "At the token limit", "From a cache", "Judged from a cache")


# The patterns that define a match, with their files, and the matches made anew, on the page; all of it is shown as data.


def _list_rematch(study: ContaminationStudy) -> Iterator[Block]:
    """Yield what matching anew gave, with every difference."""
    yield from describe_rematch(study.rematch)
    rows = [
        (
            *(item.skill, item.task_id, str(item.run), item.arm, KINDS[item.kind], item.pattern),
            *("found" if matched else "not found" for matched in (item.recorded, item.matched)),
        )
        for item in study.rematch.differ
    ]
    if rows:
        yield Table(("Skill", "Task", "Run", "Arm", "Kind", "Pattern", "Recorded", "Here"), rows)


def _write_pattern_sources(study: ContaminationStudy) -> Markup:
    """Return the appendix with every pattern as its file writes it, by skill, with file and digest."""
    skills: dict[str, list[TaskPatterns]] = {}
    for item in study.patterns:
        skills.setdefault(item.skill, []).append(item)
    # Folded: the appendix is longer than the rest of the page.
    parts = [
        Markup("<details><summary>{}</summary>{}</details>").format(
            show(f"{name}: {format_items(sum(len(task.patterns) for task in tasks), 'pattern')}"), render_fragment(_list_sources(tasks))
        )
        for name, tasks in skills.items()
    ]
    text = "Regular expressions as the files write them, and where the study says that they come from."
    title = render_fragment([Title("Pattern sources"), text])
    return Markup('<section class="part">{}</section>').format(Markup("").join([title, *parts]))


def _list_sources(tasks: Sequence[TaskPatterns]) -> Iterator[Block]:
    files = {task.file: task.sha256 for task in tasks if task.file is not None}
    digests = [f"{file}, SHA-256 {digest[:_DIGITS] if digest else 'unknown'}" for file, digest in files.items()]
    yield Remark("; ".join(digests) or "no file names them")
    yield Table(("Task", "Kind", "Pattern", "Responses", "Found"), [row for task in tasks for row in _list_rows(task)])
    for task in tasks:
        for source in task.sources:
            yield f"{task.task_id}: {source.url}{f' ({source.description})' if source.description else ''}"


def _list_rows(task: TaskPatterns) -> Iterator[Sequence[str]]:
    if not task.patterns:
        yield (task.task_id, f"none: {task.reason}", "", "", "")
    for item in task.patterns:
        kind = KINDS[item.kind] + (", as written: no regular expression" if item.literal else "")
        yield (task.task_id, kind, item.pattern, str(item.responses), str(item.found))


# Figures of what single conditions of a skill-contamination study add, skill by skill.

UNIT = "points of the composite score"
NET_NEGATIVE = "net_negative"
"""Category of the skills of which the study asks whether contamination outweighs what they help."""


def find_effect(skill: SkillContrasts, name: str) -> Effect | None:
    """Return the contrast of *skill*; None when it was not tried under both conditions."""
    return next((effect for effect in skill.effects if effect.name == name), None)


def list_effects(study: ContaminationStudy, name: str) -> list[tuple[SkillContrasts, Effect]]:
    """Return the skills that have the contrast, from the lowest to the highest value, left-out ones last."""
    pairs = [
        (skill, effect) for skill in study.skills if (effect := find_effect(skill, name)) is not None and effect.measure.value is not None
    ]
    return sorted(pairs, key=lambda pair: (pair[0].excluded is not None, pair[1].measure.value or 0.0, pair[0].skill))


def draw_within(study: ContaminationStudy) -> Markup | None:
    """Return B−D, and D−E where that baseline was run; None when no skill was tried in a realistic context."""
    rows = []
    has_baseline = False
    for skill, effect in list_effects(study, "B−D"):
        within = find_effect(skill, "D−E")
        has_baseline = has_baseline or within is not None
        lines = (FigureValue(measure=effect.measure), *([] if within is None else [FigureValue(measure=within.measure, is_open=True)]))
        rows.append(FigureRow(label=skill.skill, note=_name_excluded(skill), lines=lines, published=None, quiet=skill.excluded is not None))
    if not rows:
        return None
    figure = draw_intervals(
        rows, margin=study.margin, title="The skill by itself against the skill in a realistic context", unit=f"B−D, {UNIT}"
    )
    text = "Filled circle: B−D, compared directly, task by task. Below 0: the skill by itself scores lower than in the realistic context."
    if has_baseline:
        text += " Open square: D−E, the skill within the realistic context against that context without it."
    return build_section("The skill against the realistic context", build_figure(figure, text))


def draw_references(study: ContaminationStudy) -> Markup | None:
    """Return the skills that were tried without their references; None without any."""
    rows = []
    for skill, effect in list_effects(study, "B−C"):
        whole, own = find_effect(skill, "B−A"), find_effect(skill, "C−A")
        if whole is None or own is None:
            continue
        lines = (FigureValue(measure=whole.measure), FigureValue(measure=own.measure, is_open=True))
        note = f"references, B−C: {format_measure(effect.measure)}"
        rows.append(FigureRow(label=skill.skill, note=note, lines=lines, published=None, quiet=skill.excluded is not None))
    if not rows:
        return None
    figure = draw_intervals(rows, margin=study.margin, title="With and without the references", unit=f"against the baseline A, {UNIT}")
    text = (
        "Skills with references that may hide what their own text does not show. Filled circle: B−A, the whole skill. Open square: C−A, "
        "without its references. Their difference, B−C, is what the references add; it is compared directly, and is below the name."
    )
    return build_section("What the references add", build_figure(figure, text))


def draw_net_negative(study: ContaminationStudy) -> Markup | None:
    """Return B−A of the skills of the category net_negative, with what their intervals say; None without one."""
    pairs = [(skill, effect) for skill, effect in list_effects(study, "B−A") if skill.test_category == NET_NEGATIVE]
    if not pairs:
        return None
    rows = [
        FigureRow(label=skill.skill, note=describe_net(effect.measure), lines=(FigureValue(measure=effect.measure),), published=None)
        for skill, effect in pairs
    ]
    figure = draw_intervals(rows, margin=study.margin, title="Skills that may harm more than they help", unit=f"B−A, {UNIT}")
    below = sum(effect.measure.high is not None and effect.measure.high < 0 for _, effect in pairs)
    coverage = f"{len(pairs)} skill{' is' if len(pairs) == 1 else 's are'} in the study for this question."
    text = f"{coverage} {below} of {len(pairs)} intervals lie below 0. B−A is the net of both; no condition parts help from harm."
    return build_section("Does contamination outweigh the benefit?", build_figure(figure, text))


def describe_net(measure: Measure) -> str:
    """Return in a few words what the interval of B−A says of help and harm."""
    if measure.low is None or measure.high is None:
        return "no interval"
    if measure.high < 0:
        return "net harm"
    return "net help" if measure.low > 0 else "not distinguishable from 0"


def draw_patterns(study: ContaminationStudy) -> Markup | None:
    """Return the shares of patterns found, skill by skill; None where none were looked for."""
    figures = []
    for name in dict.fromkeys(pattern.property for skill in study.skills for pattern in skill.patterns):
        rows = [row for skill in study.skills if (row := _build_pattern_row(skill, name)) is not None]
        if rows:
            margin = study.margin / (HIGHEST - LOWEST)
            figure = draw_intervals(rows, margin=margin, title=name, unit="against the baseline A, share of the patterns of a task")
            text = f"{name[:1].upper()}{name[1:]}. Filled circle: B−A; open square: D−A. By task; not adjusted for their number."
            figures.append(build_figure(figure, text))
    return build_section("Patterns, skill by skill", *figures) if figures else None


def _build_pattern_row(skill: SkillContrasts, name: str) -> FigureRow | None:
    known = {pattern.contrast: pattern for pattern in skill.patterns if pattern.property == name}
    first: PatternEffect | None = known.get("B−A")
    if first is None or first.measure.value is None:
        return None
    second = known.get("D−A")
    lines = (FigureValue(measure=first.measure), *([] if second is None else [FigureValue(measure=second.measure, is_open=True)]))
    return FigureRow(
        label=skill.skill, note=f"{format_items(first.tasks, 'task')}", lines=lines, published=None, quiet=skill.excluded is not None
    )


def _name_excluded(skill: SkillContrasts) -> str:
    return "" if skill.excluded is None else f"excluded ({skill.excluded.replace('_', ' ')})"


# A skill-contamination study as one self-contained HTML page; no script, no network. Every text is escaped by construction.

_STYLE = """
main { max-width: 60rem; }
.part figure { margin: 0.6em 0 0; }
.part svg { display: block; width: 100%; height: auto; font-family: "Source Sans 3", sans-serif; }
figcaption { color: var(--quiet); font-size: 0.9em; padding-top: 0.5em; line-height: 1.4; }
.lead { font-size: 1.42em; line-height: 1.28; margin-top: 0.7em; }
.lead + .quiet { margin-top: 0.6em; }
.part table { table-layout: auto; font-size: 0.85em; } .part td, .part th { padding-right: 0.7em; }
.part td { overflow-wrap: anywhere; white-space: pre-wrap; } .part td.number { text-align: right; white-space: nowrap; }
@media (max-width: 46rem) { .part table { min-width: 42rem; } .part svg { min-width: 640px; } }
details { margin: 0.5em 0; } summary { cursor: pointer; font-weight: 600; }
.fig-band-line { stroke: var(--hair); } .fig-faint { opacity: 0.45; } .fig-printed { stroke: var(--degraded); }
"""

_NAMES = {"risk_level": "Risk level", "test_category": "Test category", "task_type": "Task type"}


def build_page(study: ContaminationStudy) -> str:
    """Return the page; the same study gives the same bytes."""
    kept = study.aggregates[0] if study.aggregates else None
    parts = [
        _write_head(study),
        _write_changes(study),
        _draw_forest(study),
        _draw_contexts(study),
        draw_within(study),
        draw_references(study),
        draw_net_negative(study),
        *(
            []
            if kept is None
            else [
                _draw_correlations(study, kept),
                _draw_groups(study, kept),
                build_section("Means over skills", _list_pooled(study)),
                build_section("Dimension by dimension", _list_properties(kept)),
            ]
        ),
        draw_patterns(study),
        build_section("Every skill", _list_skills(study)),
        build_section("What was read", _list_inventory(study)),
        build_section("States on record", _list_states(study)) if study.states else None,
        build_section("Patterns matched anew", _list_rematch(study)),
        build_section("Files" if study.compatibility is None else "The published figures, compared", _list_files(study)),
        _write_pattern_sources(study),
    ]
    title = "Skill contamination, read again" if has_published(study) else "Skill contamination"
    body = Markup("").join(part if isinstance(part, Markup) else _render(part) for part in parts if part is not None)
    style = element("style", _build_style(str(body)))
    head = element("head", element("meta", charset="utf-8"), _build_policy(), element("title", title), style)
    head.append(element("meta", name="viewport", content="width=device-width, initial-scale=1"))
    page = Markup('<!DOCTYPE html>\n<html lang="en">{}<body><main>{}</main></body></html>\n').format(_render(head), body)
    return str(page)


def has_published(study: ContaminationStudy) -> bool:
    """Whether a published figure is next to any of ours."""
    return study.compatibility is not None or any(effect.published is not None for skill in study.skills for effect in skill.effects)


def _build_policy() -> Element:
    from registry.report.html_rendering import SECURITY_POLICY  # Jinja2, which this page does without

    return element("meta", http_equiv="Content-Security-Policy", content=SECURITY_POLICY)


def _build_style(body: str) -> str:
    folder = find_resource("report_templates")
    return "\n".join([build_font_faces(body), *((folder / name).read_text("utf-8") for name in ("base.css", "screen.css")), _STYLE])


def _write_head(study: ContaminationStudy) -> Element:
    inventory = study.inventory
    facts = (
        ("Skills", str(inventory.skills)),
        ("Tasks", format_count(inventory.tasks)),
        ("Responses", format_count(inventory.responses)),
        ("Generated by", ", ".join(inventory.generators) or "unknown"),
        ("Judged by", ", ".join(inventory.judges) or "unknown"),
    )
    lead = next((change for change in study.changes), None)
    return element(
        "header",
        element(
            "div",
            element("span", "Caveat", class_="brand-name"),
            element("span", f"skill contamination{', read again' if has_published(study) else ''}", class_="brand-kind"),
            class_="brand",
        ),
        element(
            "div",
            *(element("div", element("div", name, class_="label"), element("div", value), class_="fact") for name, value in facts),
            class_="facts",
        ),
        None if lead is None else element("p", f"{_capitalise(lead.about)}: {lead.ours}; published: {lead.published}.", class_="lead"),
        *(element("p", warning.message, class_="quiet") for warning in study.warnings),
    )


def _write_changes(study: ContaminationStudy) -> Markup | None:
    rows = [(change.about, change.published, change.ours, change.why) for change in study.changes]
    if not rows:
        return None
    text = f"Intervals at {share(study.level)}. Holm: {study.family}."
    return build_section("What changes", [text, Table(("", "Published", "Here", "Why"), rows)])


def _draw_forest(study: ContaminationStudy) -> Markup | None:
    pairs = list_effects(study, "B−A")
    if not pairs:
        return None
    rows = [
        FigureRow(
            label=skill.skill,
            note=_note(skill, effect),
            lines=(FigureValue(measure=effect.measure),),
            published=effect.published.delta if effect.published else None,
            quiet=skill.excluded is not None,
        )
        for skill, effect in pairs
    ]
    figure = draw_intervals(rows, margin=study.margin, title="The skill against the baseline, by skill", unit=f"B−A, {UNIT}")
    diamond = " Diamond: as published." if has_published(study) else ""
    text = f"Circle and line: here, with the interval by task.{diamond} Band: the margin δ. An arrow: the interval goes on."
    return build_section("The skill against the baseline (B−A)", build_figure(figure, text))


def _note(skill: SkillContrasts, effect: Effect) -> str:
    by_task = f"p by task {format_p(effect.paired_t.p)}"
    if skill.excluded is not None:
        return f"excluded ({skill.excluded.replace('_', ' ')}); {by_task}"
    printed = effect.published.t_p if effect.published else None
    then = "" if printed is None else f"p then {format_p(printed)}; "
    return f"{format_items(effect.units, 'task')}; {then}{by_task}"


def _draw_contexts(study: ContaminationStudy) -> Markup | None:
    rows = []
    for skill, effect in list_effects(study, "B−A"):
        realistic = find_effect(skill, "D−A")
        if realistic is not None:
            lines = (FigureValue(measure=effect.measure), FigureValue(measure=realistic.measure, is_open=True))
            rows.append(FigureRow(label=skill.skill, note="", lines=lines, published=None, quiet=skill.excluded is not None))
    if not rows:
        return None
    figure = draw_intervals(
        rows, margin=study.margin, title="The skill by itself and in a realistic context, by skill", unit=f"against the baseline A, {UNIT}"
    )
    has_baseline = any(find_effect(skill, "D−E") is not None for skill in study.skills)
    apart = (
        "the effect of the context without the skill, E−A, is in the table"
        if has_baseline
        else "no baseline was run in the realistic context"
    )
    text = (
        "Filled circle: B−A, the skill by itself. Open square: D−A, the skill in a realistic context. Both are against the plain baseline: "
        f"{apart}, so the difference of the two is not only mitigation."
    )
    return build_section("The skill by itself and in a realistic context", build_figure(figure, text))


def _draw_correlations(study: ContaminationStudy, kept: Aggregate) -> Markup | None:
    known = {contrasts.skill: contrasts for contrasts in study.skills if contrasts.excluded is None}
    figures: list[Element] = []
    for correlation in kept.correlations:
        effects = [(skill, effect) for skill in known.values() if (effect := find_effect(skill, correlation.contrast)) is not None]
        dots = [ScatterDot(x=skill.structural_score, measure=effect.measure, label=skill.skill) for skill, effect in effects]
        if len(dots) < 2:
            continue
        printed = "" if correlation.published is None else f"; published {format_number(correlation.published)} without an interval"
        coefficients = f"Pearson {format_plain(correlation.pearson)}, Spearman {format_plain(correlation.spearman)}"
        caption = f"{correlation.contrast}: {coefficients}, {format_items(correlation.skills, 'skill')}{printed}."
        text = f"{caption} A name that would cover another is not printed."
        scatter = draw_scatter(
            dots,
            title=f"Structural score and {correlation.contrast}",
            x_name="structural contamination score of the skill",
            unit=f"{correlation.contrast}, points",
        )
        figures.append(build_figure(scatter, text))
    return build_section("Structural score and behavioural change", *figures) if figures else None


def _draw_groups(study: ContaminationStudy, kept: Aggregate) -> Markup | None:
    drawn: list[Element] = []
    for by, name in _NAMES.items():
        rows = []
        for group in dict.fromkeys(summary.name for summary in kept.groups if summary.by == by and summary.skills > 1):
            groups = {summary.contrast: summary for summary in kept.groups if summary.by == by and summary.name == group}
            first = groups["B−A"]
            lines = (FigureValue(measure=first.measure), FigureValue(measure=groups["D−A"].measure, is_open=True))
            rows.append(
                FigureRow(
                    label=group.replace("_", " "), note=f"{format_items(first.skills, 'skill')}", lines=lines, published=first.published
                )
            )
        single = [
            summary.name.replace("_", " ")
            for summary in kept.groups
            if summary.by == by and summary.contrast == "B−A" and summary.skills == 1
        ]
        if rows:
            figure = draw_intervals(rows, margin=study.margin, title=name, unit=f"against the baseline A, {UNIT}")
            left = f" Not shown, for one skill is not a group: {', '.join(single)}." if single else ""
            diamond = "; diamond: B−A as published" if has_published(study) else ""
            text = f"{name}. Filled circle: B−A; open square: D−A{diamond}. The skill is the unit.{left}"
            drawn.append(build_figure(figure, text))
        elif single:
            drawn.append(element("p", f"{name}: {', '.join(single)}. Each has one skill, and one skill is not a group.", class_="quiet"))
    return build_section("Groups of skills and types of task", *drawn) if drawn else None


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


# The files of a skill-contamination study: results.json, contrasts.csv, scores.csv and contamination.html.

_SCORES = ("task_id", "arm", "context_id", "sample", "score", "excluded_reason", "skill", "task_type", "response_chars", *DIMENSIONS)
_CONTRASTS = (
    "skill",
    "contrast",
    "unit",
    "units",
    "points",
    "low",
    "high",
    "t",
    "p_t",
    "p_holm",
    "p_holm_all",
    "wilcoxon",
    "p_wilcoxon",
    "cohens_d",
    "seen_whole",
    "seen_whole_low",
    "seen_whole_high",
    "seen_whole_units",
    "published",
    "published_n",
    "published_t",
    "published_p_t",
    "published_w",
    "published_p_w",
    "published_d",
    "reason",
)


def write_results(study: ContaminationStudy, recording: StudyRecording, folder: Path) -> list[Path]:
    """Write the four files into *folder*, made if need be, and return their paths.

    Raises:
        OSError: the file system refuses. What was in the folder before is whole.
    """
    texts = {
        "results.json": render_json(to_document(study)) + "\n",
        "contrasts.csv": _write_csv(_CONTRASTS, _list_contrast_rows(study)),
        "scores.csv": _write_csv(_SCORES, _list_scores(study, recording)),
        "contamination.html": build_page(study),
    }
    folder.mkdir(parents=True, exist_ok=True)
    parts = {folder / name: folder / f".{name}.part" for name in texts}
    try:
        for part, text in zip(parts.values(), texts.values(), strict=True):
            write_file(part, text)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return list(parts)


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([write_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return buffer.getvalue()


def _list_scores(study: ContaminationStudy, recording: StudyRecording) -> Iterable[Sequence[object]]:
    """Give one row per response, tasks named with their skill so that they are unique; columns that no score table has come last."""
    wanted = {contrasts.skill for contrasts in study.skills}
    for skill in recording.skills:
        types = {task.task_id: task.type_ for task in skill.tasks}
        for response in skill.responses if skill.name in wanted else ():
            scores = [response.dimensions.get(name) for name in DIMENSIONS]
            key = (f"{skill.name}/{response.task_id}", response.arm, response.arm, response.run)
            yield (*key, response.composite, response.excluded, skill.name, types[response.task_id], response.chars, *scores)


def _list_contrast_rows(study: ContaminationStudy) -> Iterable[Sequence[object]]:
    for skill in study.skills:
        yield from (_list_cells(skill.skill, effect) for effect in skill.effects)
    for aggregate in study.aggregates:
        name = "(mean over the skills that the study kept)" if aggregate.name == "kept" else "(mean over all skills)"
        yield from (_list_cells(name, effect) for effect in aggregate.effects)


def _list_cells(name: str, effect: Effect) -> Sequence[object]:
    published = effect.published
    printed = (
        (None,) * 7
        if published is None
        else (published.delta, published.n, published.t, published.t_p, published.wilcoxon_w, published.wilcoxon_p, published.cohens_d)
    )
    return (
        name,
        effect.name,
        effect.unit,
        effect.units,
        effect.measure.value,
        effect.measure.low,
        effect.measure.high,
        effect.paired_t.statistic,
        effect.paired_t.p,
        effect.p_holm,
        effect.p_holm_all,
        effect.wilcoxon.statistic,
        effect.wilcoxon.p,
        effect.cohens_d.value,
        effect.seen_whole.value,
        effect.seen_whole.low,
        effect.seen_whole.high,
        effect.seen_whole_units,
        *printed,
        effect.measure.reason,
    )
