"""How a skill-contamination study, its parts and its pattern matches look in a terminal and as JSON."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from audit.cli.analysis_presenter import present_warnings
from audit.records.model_response import ReplayCell
from audit.skills.study_file import StudyFile
from audit.skills.study_recording import ConditionProgress
from audit.sources.skill_study_records import (
    AbsentContrast,
    Aggregate,
    ContaminationStudy,
    FigureCount,
    Inventory,
    PatternDifference,
    Rematch,
    SkillContrasts,
)
from registry.present.blocks import Block, Subtitle, Table, Title
from registry.present.listings import Column, Listing
from registry.records.estimates import Measure
from registry.report.number_format import Unit, format_count, format_items, format_p, format_range, format_signed, share

# What a skill study is made of and how far it is, for people and for programs.

_COUNTS = ("planned", "answered", "failed", "matched", "judged")


def summarise_listing(
    file: StudyFile, planned: Collection[ReplayCell], stages: Mapping[str, Sequence[ConditionProgress]], folder: Path
) -> dict[str, Any]:
    """Return the document of `caveat analyze skills list`.

    Args:
        planned: one cell for each sample of each task under each condition: the study's, and those that the run folder holds beyond it.
    """
    calls = Counter((cell.task_id.partition("/")[0], cell.arm) for cell in planned)
    skills = []
    for name, entry in file.study.skills.items():
        arms = sorted(arm for skill, arm in calls if skill == name)
        done = {progress.arm: progress for progress in stages.get(name, ())}
        skills.append(
            {
                "name": name,
                "risk_level": entry.risk_level.value,
                "test_category": entry.test_category,
                "structural_score": entry.structural_score,
                "excluded": entry.excluded,
                "chars": file.texts[name].chars,
                "references": len(file.texts[name].digests) - 1,
                "tasks": len(file.tasks[name].tasks),
                "conditions": [{"arm": arm, "calls": calls[name, arm], **_count(done.get(arm))} for arm in arms],
            }
        )
    return {
        "schema": "caveat/skill-list/1",
        "study": file.study.name,
        "path": str(file.path),
        "folder": str(folder),
        "model": file.study.policy.model,
        "judge": None if file.judge is None else file.judge.model,
        "samples": file.study.samples,
        "skills": skills,
    }


def build_skill_listing(document: Mapping[str, Any], *, is_arranged: bool) -> Listing[Mapping[str, Any]]:
    """Return the document of `caveat analyze skills list` as a list; with chosen columns or order as a plain table."""

    def add(item: Mapping[str, Any], name: str) -> int:
        return sum(condition[name] for condition in item["conditions"])

    columns: tuple[Column[Mapping[str, Any]], ...] = (
        Column(name="skill", read=lambda item: item["name"]),
        Column(name="risk", read=lambda item: item["risk_level"]),
        Column(name="category", read=lambda item: item["test_category"]),
        Column(name="score", read=lambda item: item["structural_score"], is_number=True),
        Column(name="tasks", read=lambda item: item["tasks"], is_number=True),
        Column(name="arms", read=lambda item: "".join(condition["arm"] for condition in item["conditions"])),
        Column(name="calls", read=lambda item: add(item, "calls"), is_number=True),
        Column(name="answered", read=lambda item: add(item, "answered"), is_number=True),
        Column(name="patterns", read=lambda item: add(item, "matched"), is_number=True),
        Column(name="judged", read=lambda item: add(item, "judged"), is_number=True),
        Column(name="excluded", read=lambda item: item["excluded"], is_shown=False),
    )
    return Listing(
        document={name: value for name, value in document.items() if name != "skills"}, field="skills", rows=document["skills"],
        describe=dict, columns=columns, none="No skills.", present=None if is_arranged else lambda _: present_listing(document),
    )  # fmt: skip


def present_listing(document: Mapping[str, Any]) -> Iterator[Block]:
    """Present the listing: one row per skill, and what was excluded and why."""
    judge = f"judge {document['judge']}" if document["judge"] else "no judge, patterns only"
    yield Title(f"{document['study']}: model {document['model']}, {judge}, samples: {document['samples']}")
    columns = ("skill", "risk, category", "score", "tasks", "arms", "answered", "patterns", "judged")
    rows = [
        (
            item["name"] + (" *" if item["excluded"] else ""),
            f"{item['risk_level']}, {item['test_category']}",
            f"{item['structural_score']:g}",
            str(item["tasks"]),
            "".join(condition["arm"] for condition in item["conditions"]),
            _describe_answered(item["conditions"]),
            *(_sum(item["conditions"], name) for name in ("matched", "judged")),
        )
        for item in document["skills"]
    ]
    yield Table(columns, rows, numbers=("score", "tasks", "answered", "patterns", "judged"))
    for item in document["skills"]:
        if item["excluded"]:
            yield f"* {item['name']}: excluded from the means over skills ({item['excluded']})"
    cells = [item for skill in document["skills"] for item in skill["conditions"]]
    is_whole = all(cell["answered"] == cell["calls"] for cell in cells)
    run = f"--run {quote(document['folder'])}"
    verb = f"analyze {quote(document['path'])} {run}" if is_whole else f"generate {quote(document['path'])} --dry-run"
    yield f"Next: caveat analyze skills {verb}"


def summarise_scored(file: StudyFile, stages: Mapping[str, Sequence[ConditionProgress]], folder: Path) -> dict[str, Any]:
    """Return the document of `caveat analyze skills score`, without what was new in it."""
    return {
        "schema": "caveat/skill-scores/1",
        "study": file.study.name,
        "path": str(file.path),
        "folder": str(folder),
        "judge": None if file.judge is None else file.judge.model,
        "skills": [
            {"name": name, "conditions": [{"arm": progress.arm, **_count(progress)} for progress in stage]}
            for name, stage in stages.items()
        ],
    }


def present_scored(document: Mapping[str, Any]) -> Iterator[Block]:
    """Present what is scored so far, by skill."""
    columns = ("skill", *_COUNTS)
    rows = [(item["name"], *(_sum(item["conditions"], name) for name in _COUNTS)) for item in document["skills"]]
    yield Table(columns, rows, numbers=_COUNTS)
    yield from document["judging"]
    if document["judge"] is None:
        yield "The study names no judge: there are patterns, and no composite score."
    yield f"new: {document['patterns_changed']:,} pattern scores, {document['verdicts_new']:,} verdicts"
    yield f"Next: caveat analyze skills analyze {quote(document['path'])} --run {quote(document['folder'])} -o DIR"


def _count(stage: ConditionProgress | None) -> dict[str, int]:
    return {name: 0 if stage is None else getattr(stage, name) for name in _COUNTS}


def _describe_answered(conditions: Sequence[Mapping[str, Any]]) -> str:
    failed = sum(condition["failed"] for condition in conditions)
    count = f"{_sum(conditions, 'answered')} of {_sum(conditions, 'calls')}"
    return f"{count}, {failed:,} failed" if failed else count


def _sum(conditions: Sequence[Mapping[str, Any]], name: str) -> str:
    return f"{sum(condition[name] for condition in conditions):,}"


# What matching the patterns anew gave, in sentences and in a terminal.

KINDS = {"expected": "expected", "anti": "anti-pattern"}
_MOST_LINES = 10


def describe_rematch(rematch: Rematch) -> list[str]:
    """Return in sentences how many patterns were matched anew, how many results differ from the recorded ones, and what was not matched."""
    results = f"{format_items(rematch.searches, 'result')} in {format_items(rematch.responses, 'response')}"
    lines = [f"Patterns matched anew: {results}."] if rematch.responses else []
    if rematch.compared is None:
        lines.append(f"Nothing was compared with recorded matches: {rematch.reason}.")
    else:
        count = "None differs" if not rematch.differ else f"{format_count(len(rematch.differ))} of {format_count(rematch.compared)} differ"
        lines.append(f"{count} from what the study records{'; the match made here counts' if rematch.differ else ''}.")
    for left in rematch.unmatched:
        copied = f"; the recorded results of {format_count(left.copied)} are used as they are" if left.copied else ""
        lines.append(f"Not matched here: {format_items(left.responses, 'response')} ({left.reason}){copied}.")
    return lines


def present_patterns(study: ContaminationStudy) -> Iterator[Block]:
    """Present where the patterns come from, what matching them anew gave, and the first differences."""
    files = {item.file for item in study.patterns if item.file is not None}
    count = sum(len(item.patterns) for item in study.patterns)
    patterns = f"{format_items(count, 'pattern')} from {format_items(len(files), 'file')}; results.json and the page list them with digests"
    yield Subtitle("" + (patterns if count else "No patterns: no file names any"))
    yield from describe_rematch(study.rematch)
    for difference in study.rematch.differ[:_MOST_LINES]:
        yield "  " + _describe_difference(difference)
    if len(study.rematch.differ) > _MOST_LINES:
        yield f"  and {format_count(len(study.rematch.differ) - _MOST_LINES)} more, in results.json"


def _describe_difference(item: PatternDifference) -> str:
    was, is_ = ("found" if matched else "not found" for matched in (item.recorded, item.matched))
    place = f"{item.skill}, {item.task_id}, run {item.run}, arm {item.arm}"
    return f"{place}: recorded {was}, here {is_}: {KINDS[item.kind]} {item.pattern}"


# How a skill-contamination study looks in a terminal.

_PUBLISHED = ("published", "p then")
_COLUMNS = ("", "published", "p then", "ours", "interval", "p", "Holm")
_NUMBERS = ("published", "p then", "ours", "interval", "p", "Holm", "skills", "responses", "no score", "cut for the judge")
_NAMES = {"kept": "Means over the {n} skills that the study kept, by skill", "all": "Means over all {n} skills, by skill"}


def present_study(study: ContaminationStudy) -> Iterator[Block]:
    """Present what was read, the contrasts, what changes, and what to keep in mind."""
    yield from _present_inventory(study.inventory)
    margin = Unit(low=study.range[0], high=study.range[1]).given_difference(study.margin)
    yield f"intervals at {share(study.level)}, margin ±{margin}, scores from 1 to 5; conditional on these conditions"
    if any(effect.measure.value is not None for skill in study.skills for effect in skill.effects):
        yield from _present_contrasts(study)
    else:
        yield from _present_patterns(study)
    yield from _present_changes(study)
    yield from _present_states(study)
    if study.compatibility is not None:
        compatibility = study.compatibility
        yield Subtitle("" + describe_figures(compatibility.total))
        for difference in compatibility.differ[:10]:
            yield f"  {difference.path}: published {difference.published:g}, found {difference.recomputed}"
    yield from present_patterns(study)
    yield from describe_absent(study.absent)
    for note in study.inventory.notes:
        yield f"note: {note.kind}: {note.where}: {note.message}"
    yield from present_warnings(study.warnings)


def _present_inventory(inventory: Inventory) -> Iterator[Block]:
    made = f" by {', '.join(inventory.generators)}" if inventory.generators else ""
    judged = f", judged by {', '.join(inventory.judges)}" if inventory.judges else ""
    pairs = ((inventory.skills, "skill"), (inventory.tasks, "task"), (inventory.responses, "response"))
    counts = ", ".join(format_items(count, noun) for count, noun in pairs)
    yield Title(f"{counts}{made}{judged}")
    rows = [
        (f"{arm.arm} {arm.condition}", str(arm.skills), str(arm.responses), str(arm.excluded), write_count(arm.beyond_judge))
        for arm in inventory.arms
    ]
    yield Table(("arm", "skills", "responses", "no score", "cut for the judge"), rows, numbers=_NUMBERS)


def _present_aggregate(aggregate: Aggregate) -> Iterator[Block]:
    yield Subtitle("" + _NAMES[aggregate.name].format(n=aggregate.skills))
    columns = ("", "published", "ours", "interval", "p", "skills", "seen whole by the judge")
    rows = [
        (
            effect.name,
            write_points(effect.published.delta if effect.published else None),
            write_points(effect.measure.value),
            write_interval(effect.measure),
            format_p(effect.paired_t.p),
            str(effect.units),
            _write_seen_whole(effect.seen_whole) if effect.seen_whole_units else "none",
        )
        for effect in aggregate.effects
    ]
    yield _build_table(columns, rows)


def _build_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return the table without the columns about published figures where nothing was published."""
    kept = [place for place, name in enumerate(columns) if name not in _PUBLISHED or any(row[place] not in ("", "–") for row in rows)]
    return Table([columns[place] for place in kept], [[row[place] for place in kept] for row in rows], numbers=_NUMBERS)


def _write_seen_whole(measure: Measure) -> str:
    return write_points(measure.value) + ("" if measure.low is None else f" {write_interval(measure)}")


def _present_contrasts(study: ContaminationStudy) -> Iterator[Block]:
    for aggregate in study.aggregates:
        if aggregate.effects:
            yield from _present_aggregate(aggregate)
    yield Subtitle("The skill against the baseline (B−A), by task")
    yield _build_table(_COLUMNS, [_list_cells(skill, "B−A") for skill in study.skills])
    if any(skill.excluded for skill in study.skills):
        yield "* excluded from the aggregates by the study; not in the family of Holm's rule"


def _present_patterns(study: ContaminationStudy) -> Iterator[Block]:
    """What there is where no judge gave a score."""
    rows = [
        (
            skill.skill,
            pattern.property,
            pattern.contrast,
            str(pattern.tasks),
            write_points(pattern.measure.value),
            write_interval(pattern.measure),
        )
        for skill in study.skills
        for pattern in skill.patterns
    ]
    if rows:
        yield Subtitle("Shares of patterns found, by task; no response has a composite score")
        numbers = ("tasks", "ours", "interval")
        yield Table(("skill", "", "contrast", *numbers), rows, numbers=numbers)


def _list_cells(skill: SkillContrasts, name: str) -> Sequence[str]:
    label = f"{skill.skill} *" if skill.excluded else skill.skill
    effect = next((contrast for contrast in skill.effects if contrast.name == name), None)
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


def _present_changes(study: ContaminationStudy) -> Iterator[Block]:
    if not study.changes:
        return
    yield Subtitle("What changes")
    for change in study.changes:
        yield f"{change.about}\n  published: {change.published}\n  here:      {change.ours}\n  why:       {change.why}"


def _present_states(study: ContaminationStudy) -> Iterator[Block]:
    if not study.states:
        return
    yield Subtitle("Earlier states on record")
    rows = [
        (
            f"{state.skill} ({state.state})",
            state.scored_at[:10],
            write_count(state.texts_changed),
            str(state.scores_changed),
            str(state.compared),
            *(f"{write_points(then)} → {write_points(now)}" for then, now in state.deltas.values()),
        )
        for state in study.states
    ]
    yield Table(("skill", "scored", "texts changed", "scores changed", "of", "B−A", "D−A"), rows, numbers=("of",))


def write_points(value: float | None) -> str:
    """Return a difference, never rounded to 0 unless it is 0; a dash without one."""
    return "–" if value is None else format_signed(value)


def write_interval(measure: Measure) -> str:
    """Return the interval, or `none`."""
    return "none" if measure.low is None or measure.high is None else format_range(measure.low, measure.high, signed=True)


def describe_figures(count: FigureCount) -> str:
    """Return how many published figures were recomputed and agree, and apart from them how many were compared with a copy only."""
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
