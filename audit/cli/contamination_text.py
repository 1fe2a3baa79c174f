"""How a skill-contamination study looks in a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from audit.cli.contamination_matches import print_patterns
from audit.cli.warnings_text import print_warnings
from audit.sources.skill_study_records import AbsentContrast, Aggregate, ContaminationStudy, FigureCount, Inventory, SkillContrasts
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import Measure
from registry.report.numbers import format_items, format_p, format_range, format_signed

_PUBLISHED = ("published", "p then")
_COLUMNS = ("", "published", "p then", "ours", "interval", "p", "Holm")
_NUMBERS = (
    "published",
    "p then",
    "ours",
    "interval",
    "p",
    "Holm",
    "skills",
    "responses",
    "no score",
    "cut for the judge",
)
_NAMES = {"kept": "Means over the {n} skills that the study kept, by skill", "all": "Means over all {n} skills, by skill"}


def print_study(console: Console, study: ContaminationStudy) -> None:
    """Print what was read, the contrasts, what changes, and what to keep in mind."""
    _print_inventory(console, study.inventory)
    margin = Unit(low=study.range[0], high=study.range[1]).given_difference(study.margin)
    console.print(f"intervals at {share(study.level)}, margin ±{margin}, scores from 1 to 5; conditional on these conditions")
    if any(effect.measure.value is not None for one in study.skills for effect in one.effects):
        _print_contrasts(console, study)
    else:
        _print_patterns(console, study)
    _print_changes(console, study)
    _print_states(console, study)
    if study.compatibility is not None:
        found = study.compatibility
        console.print("\n" + describe_figures(found.total), style="bold")
        for one in found.differ[:10]:
            console.print(show(f"  {one.path}: published {one.published:g}, found {one.recomputed}"))
    print_patterns(console, study)
    for line in describe_absent(study.absent):
        console.print(show(line))
    for note in study.inventory.notes:
        console.print(show(f"note: {note.kind}: {note.where}: {note.message}"))
    print_warnings(console, study.warnings)


def _print_inventory(console: Console, inventory: Inventory) -> None:
    made = f" by {', '.join(inventory.generators)}" if inventory.generators else ""
    judged = f", judged by {', '.join(inventory.judges)}" if inventory.judges else ""
    pairs = ((inventory.skills, "skill"), (inventory.tasks, "task"), (inventory.responses, "response"))
    counts = ", ".join(format_items(count, noun) for count, noun in pairs)
    console.print(show(f"{counts}{made}{judged}"), style="bold")
    rows = [
        (f"{one.arm} {one.condition}", str(one.skills), str(one.responses), str(one.excluded), write_count(one.beyond_judge))
        for one in inventory.arms
    ]
    console.print(build_table(("arm", "skills", "responses", "no score", "cut for the judge"), rows, numbers=_NUMBERS))


def _print_aggregate(console: Console, aggregate: Aggregate) -> None:
    console.print("\n" + _NAMES[aggregate.name].format(n=aggregate.skills), style="bold")
    columns = ("", "published", "ours", "interval", "p", "skills", "seen whole by the judge")
    rows = [
        (
            one.name,
            write_points(one.published.delta if one.published else None),
            write_points(one.measure.value),
            write_interval(one.measure),
            format_p(one.paired_t.p),
            str(one.units),
            _write_seen_whole(one.seen_whole) if one.seen_whole_units else "none",
        )
        for one in aggregate.effects
    ]
    console.print(_build_table(columns, rows))


def _build_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return the table without the columns about published figures where nothing was published."""
    kept = [place for place, name in enumerate(columns) if name not in _PUBLISHED or any(row[place] not in ("", "–") for row in rows)]
    return build_table([columns[place] for place in kept], [[row[place] for place in kept] for row in rows], numbers=_NUMBERS)


def _write_seen_whole(measure: Measure) -> str:
    return write_points(measure.value) + ("" if measure.low is None else f" {write_interval(measure)}")


def _print_contrasts(console: Console, study: ContaminationStudy) -> None:
    for aggregate in study.aggregates:
        if aggregate.effects:
            _print_aggregate(console, aggregate)
    console.print("\nThe skill against the baseline (B−A), by task", style="bold")
    console.print(_build_table(_COLUMNS, [_list_cells(one, "B−A") for one in study.skills]))
    if any(one.left_out for one in study.skills):
        console.print("* left out of the aggregates by the study; not in the family of Holm's rule")


def _print_patterns(console: Console, study: ContaminationStudy) -> None:
    """What there is where no judge gave a score."""
    rows = [
        (skill.skill, one.property, one.contrast, str(one.tasks), write_points(one.measure.value), write_interval(one.measure))
        for skill in study.skills
        for one in skill.patterns
    ]
    if rows:
        console.print("\nShares of patterns found, by task; no response has a composite score", style="bold")
        numbers = ("tasks", "ours", "interval")
        console.print(build_table(("skill", "", "contrast", *numbers), rows, numbers=numbers))


def _list_cells(skill: SkillContrasts, name: str) -> Sequence[str]:
    label = f"{skill.skill} *" if skill.left_out else skill.skill
    effect = next((one for one in skill.effects if one.name == name), None)
    if effect is None:
        return (label, "", "", "no such contrast", "", "", "")
    printed = effect.published
    return (
        label,
        write_points(printed.delta if printed else None),
        format_p(printed.t_p if printed else None),
        write_points(effect.measure.value),
        write_interval(effect.measure),
        format_p(effect.paired_t.p),
        format_p(effect.p_holm),
    )


def _print_changes(console: Console, study: ContaminationStudy) -> None:
    if not study.changes:
        return
    console.print("\nWhat changes", style="bold")
    for one in study.changes:
        console.print(show(f"{one.about}\n  published: {one.published}\n  here:      {one.ours}\n  why:       {one.why}"))


def _print_states(console: Console, study: ContaminationStudy) -> None:
    if not study.states:
        return
    console.print("\nEarlier states on record", style="bold")
    rows = [
        (
            f"{one.skill} ({one.state})",
            one.scored_at[:10],
            write_count(one.texts_changed),
            str(one.scores_changed),
            str(one.compared),
            *(f"{write_points(then)} → {write_points(now)}" for then, now in one.deltas.values()),
        )
        for one in study.states
    ]
    console.print(build_table(("skill", "scored", "texts changed", "scores changed", "of", "B−A", "D−A"), rows, numbers=("of",)))


def write_points(value: float | None) -> str:
    """Return a difference, never rounded to 0 unless it is 0; a dash without one."""
    return "–" if value is None else format_signed(value)


def write_interval(measure: Measure) -> str:
    """Return the interval, or `none`."""
    return "none" if measure.low is None or measure.high is None else format_range(measure.low, measure.high, signed=True)


def describe_figures(count: FigureCount) -> str:
    """Return how many published figures were recomputed and agree, and apart from them how many were compared with a copy alone."""
    recomputed = f"{count.reproduced:,} of {count.recomputed:,} published figures that were recomputed here agree to their last digit."
    if not count.copied:
        return recomputed
    copies = f"{count.copied:,} more {'was' if count.copied == 1 else 'were'} only compared with a copy in the files"
    return f"{recomputed} {copies}: {count.copies_agree:,} agree{'s' if count.copies_agree == 1 else ''}."


def describe_absent(absent: Iterable[AbsentContrast]) -> list[str]:
    """Return which contrasts do not exist, and why, one line for each reason."""
    names: dict[tuple[str, str | None], list[str]] = {}
    for contrast in absent:
        names.setdefault((contrast.of, contrast.measure.reason), []).append(contrast.contrast)
    return [
        f"no {'mean over skills of ' if of == 'mean' else ''}{', '.join(contrasts)}: {reason}" for (of, reason), contrasts in names.items()
    ]


def write_count(count: int | None) -> str:
    """Return a count; `unknown` where nothing says it."""
    return "unknown" if count is None else f"{count:,}"
