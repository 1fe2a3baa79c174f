"""The tables of the page of a skill-contamination study, and what its sections are made of."""

from collections.abc import Iterable, Iterator, Sequence
from xml.etree.ElementTree import Element

from audit.cli.contamination_figures import element
from audit.cli.contamination_text import describe_absent, describe_figures, write_count, write_interval, write_points
from audit.contamination.published_figures import format_plain
from audit.contamination.skill_contrasts import NO_BASELINE
from audit.sources.skill_study_records import Aggregate, ContaminationStudy, Effect, Mitigation, SkillContrasts
from registry.records.estimates import Measure
from registry.report.numbers import format_count, format_number, format_p, format_range, format_signed

Cell = str | Element


def build_section(title: str, *children: Element | None) -> Element:
    """Return one section of the page."""
    return element("section", element("h2", title), *children, class_="part")


def build_figure(drawn: Element, text: str) -> Element:
    """Return a drawing with its caption."""
    return element("figure", drawn, element("figcaption", text))


def build_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], class_: str | None = None) -> Element:
    """Return a table; a cell that is an element stands as it is."""
    head = element("thead", element("tr", *(element("th", name, scope="col") for name in columns)))
    body = [element("tr", *(cell if isinstance(cell, Element) else element("td", cell) for cell in row)) for row in rows]
    return element("table", head, element("tbody", *body), class_=class_)


def write_measure(measure: Measure) -> str:
    """Return a number with its interval, or why there is none."""
    if measure.value is None:
        return f"none: {measure.reason}"
    bounds = "no interval" if measure.low is None or measure.high is None else format_range(measure.low, measure.high, signed=True)
    return f"{format_signed(measure.value)} {bounds}"


def write_pooled(study: ContaminationStudy) -> Element:
    """Return the table of means over skills, with the mitigation below each."""
    rows = [row for aggregate in study.aggregates for row in _list_pooled(aggregate)]
    columns = ("Skills", "Contrast", "n", "Published", "Here", "Interval", "p (t)", "p (W)", "d", "Over responses seen whole")
    text = "The skill is the unit: its tasks and runs are averaged first. W: Wilcoxon."
    return build_section("Means over skills", element("p", text), build_table(columns, rows, class_="wide"))


def _list_pooled(aggregate: Aggregate) -> Iterator[Sequence[Cell]]:
    name = "kept by the study" if aggregate.name == "kept" else "all"
    for one in aggregate.effects:
        yield (
            name,
            one.name,
            str(one.units),
            write_points(one.published.delta if one.published else None),
            write_points(one.measure.value),
            write_interval(one.measure),
            format_p(one.paired_t.p),
            format_p(one.wilcoxon.p),
            write_measure(one.cohens_d),
            _write_seen_whole(one),
        )
    if aggregate.mitigation is not None:
        yield (name, element("td", _tell_mitigation(aggregate.mitigation), colspan="9"))


def _tell_mitigation(one: Mitigation) -> str:
    if is_without_baseline(one):
        told = (
            "Mitigation 1 − (D−A)/(B−A): not identified, no baseline in the realistic context. Context and skill together, ratio of means"
        )
        return f"{told}: {format_plain(one.descriptive)}"
    return f"Mitigation 1 − (D−E)/(B−A), a ratio of means: {format_plain(one.identified)}"


def is_without_baseline(one: Mitigation) -> bool:
    """Whether mitigation is not identified because the realistic context was never run without the skill."""
    return one.identified.value is None and one.identified.reason == NO_BASELINE


def write_properties(kept: Aggregate) -> Element:
    """Return the table of dimensions and patterns."""
    rows = [
        (
            one.property.replace("_", " "),
            one.contrast,
            f"{one.range[0]:g} to {one.range[1]:g}",
            str(one.skills),
            write_measure(one.measure),
        )
        for one in kept.properties
    ]
    text = "The judge's four dimensions, and the patterns that were looked for; means over the kept skills, not adjusted for their number."
    return build_section(
        "Dimension by dimension", element("p", text), build_table(("Property", "Contrast", "Range", "Skills", "Here"), rows, class_="wide")
    )


def write_skills(study: ContaminationStudy) -> Element:
    """Return the table of every contrast of every skill."""
    rows = [row for skill in study.skills for row in _list_contrasts(skill)]
    columns = (
        "Skill",
        "",
        "Published",
        "p then, t / W",
        "d then",
        "Here",
        "p by task, t / W",
        "Holm",
        "d by task",
        "Seen whole by the judge",
    )
    text = "W: Wilcoxon. Published p-values come from the normal curve over pairs of runs. *: left out of the aggregates by the study."
    return build_section("Every skill", element("p", text), build_table(columns, rows, class_="wide dense"))


def _list_contrasts(skill: SkillContrasts) -> Iterator[Sequence[Cell]]:
    """Give one row per contrast; the first carries the name of the skill beside them all."""
    for position, one in enumerate(skill.effects):
        printed = one.published
        name = element(
            "th",
            skill.skill + (" *" if skill.left_out else ""),
            rowspan=len(skill.effects) + (skill.mitigation is not None),
            scope="rowgroup",
        )
        yield (
            *((name,) if position == 0 else ()),
            one.name,
            write_points(printed.delta if printed else None),
            "–" if printed is None else f"{format_p(printed.t_p)} / {format_p(printed.wilcoxon_p)}",
            write_points(printed.cohens_d if printed else None),
            write_measure(one.measure),
            f"{format_p(one.paired_t.p)} / {format_p(one.wilcoxon.p)}",
            format_p(one.p_holm),
            write_measure(one.cohens_d),
            _write_seen_whole(one),
        )
    if skill.mitigation is not None:
        text = _tell_mitigation(skill.mitigation)
        printed_ratio = "–" if skill.mitigation.published is None else format_number(skill.mitigation.published)
        yield ("", printed_ratio, element("td", text, colspan="7"))


def _write_seen_whole(one: Effect) -> str:
    if not one.seen_whole_units:
        return "none" if one.seen_whole.value is None else write_measure(one.seen_whole)
    return f"{write_measure(one.seen_whole)}, {one.seen_whole_units} {one.unit}{'' if one.seen_whole_units == 1 else 's'}"


def write_inventory(study: ContaminationStudy) -> Element:
    """Return what was read: counts per arm, exclusions, skills left out, notes."""
    inventory = study.inventory
    rows = [
        (
            f"{one.arm} {one.condition}",
            str(one.skills),
            str(one.responses),
            str(one.excluded),
            write_count(one.beyond_judge),
            write_count(one.at_token_limit),
            write_count(one.cached),
            write_count(one.judge_cached),
        )
        for one in inventory.arms
    ]
    columns = (
        "Arm",
        "Skills",
        "Responses",
        "Without a score",
        "Longer than the judge saw",
        "At the token limit",
        "From a cache",
        "Judged from a cache",
    )
    lines = [f"{one.skill}, task {one.task_id}, run {one.run}, arm {one.arm}: no score, {one.reason}" for one in inventory.exclusions]
    lines += [f"{one.skill}: left out of the aggregates by the study ({one.reason})" for one in inventory.left_out]
    lines += [f"{one.where}: {one.message}" for one in inventory.notes]
    lines += describe_absent(study.absent)
    return build_section(
        "What was read", build_table(columns, rows), element("ul", *(element("li", line) for line in lines)) if lines else None
    )


def write_states(study: ContaminationStudy) -> Element | None:
    """Return the table of earlier states; None without any."""
    if not study.states:
        return None
    rows = [
        (
            one.skill,
            one.state,
            f"{one.scored_at[:16]} → {one.scored_at_now[:16]}",
            str(one.compared),
            write_count(one.texts_changed),
            str(one.scores_changed),
            write_count(one.rescored),
            str(one.failed),
            *(f"{write_points(then)} → {write_points(now)}" for then, now in one.deltas.values()),
        )
        for one in study.states
    ]
    columns = (
        "Skill",
        "State",
        "Scored",
        "Compared",
        "Texts differ",
        "Scores differ",
        "Same text, other score",
        "Failed then",
        "B−A",
        "D−A",
    )
    text = "The present files replaced these. Points then and now; a change after the result was seen is for the reader to weigh."
    return build_section("States on record", element("p", text), build_table(columns, rows, class_="wide"))


def write_files(study: ContaminationStudy) -> Element:
    """Return part by part how many published figures were recomputed, how many compared with a copy alone, how many agree."""
    parts: list[Element] = []
    if study.compatibility is not None:
        found = study.compatibility
        parts.append(element("p", describe_figures(found.total)))
        rows = [
            (name, *map(format_count, (one.recomputed, one.reproduced, one.copied, one.copies_agree)))
            for name, one in found.by_part.items()
        ]
        columns = ("Part", "Recomputed here", "Of these, agree", "Compared with a copy alone", "Of these, agree")
        parts.append(build_table(columns, rows))
        if found.differ:
            lines = [f"{one.path}: published {one.published:g}, found {one.recomputed}" for one in found.differ[:50]]
            parts.append(element("ul", *(element("li", line) for line in lines)))
    names = element("p", f"{len(study.files)} files were read; their SHA-256 stand in results.json.", class_="quiet")
    return build_section("The published figures, compared" if study.compatibility is not None else "Files", *parts, names)
