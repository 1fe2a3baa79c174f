"""The patterns that define a match, with their files, and the matches made anew, on the page; all of it is shown as data."""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from audit.cli.contamination_figures import element
from audit.cli.contamination_matches import KINDS, describe_rematch
from audit.cli.contamination_tables import Cell, build_section, build_table
from audit.sources.skill_study_records import ContaminationStudy, TaskPatterns
from registry.report.numbers import format_items

_DIGITS = 12


def write_rematch(study: ContaminationStudy) -> Element:
    """Return what matching anew gave, with every difference."""
    rows = [
        (
            item.skill,
            item.task_id,
            str(item.run),
            item.arm,
            KINDS[item.kind],
            _write_code(item.pattern),
            *("found" if matched else "not found" for matched in (item.recorded, item.matched)),
        )
        for item in study.rematch.differ
    ]
    columns = ("Skill", "Task", "Run", "Arm", "Kind", "Pattern", "Recorded", "Here")
    lines = [element("p", line) for line in describe_rematch(study.rematch)]
    return build_section("Patterns matched anew", *lines, build_table(columns, rows, class_="wide") if rows else None)


def write_pattern_sources(study: ContaminationStudy) -> Element:
    """Return the appendix with every pattern as its file writes it, by skill, with file and digest."""
    text = "Regular expressions as the files write them, and where the study says that they come from."
    skills: dict[str, list[TaskPatterns]] = {}
    for item in study.patterns:
        skills.setdefault(item.skill, []).append(item)
    return build_section("Pattern sources", element("p", text), *(_write_skill(name, tasks) for name, tasks in skills.items()))


def _write_skill(name: str, tasks: Sequence[TaskPatterns]) -> Element:
    count = sum(len(task.patterns) for task in tasks)
    files = {task.file: task.sha256 for task in tasks if task.file is not None}
    digests = [f"{file}, SHA-256 {digest[:_DIGITS] if digest else 'unknown'}" for file, digest in files.items()]
    origin = "; ".join(digests) or "no file names them"
    rows = [row for task in tasks for row in _list_rows(task)]
    table = build_table(("Task", "Kind", "Pattern", "Responses", "Found"), rows, class_="wide")
    origins = [element("li", f"{task.task_id}: {_join(source.url, source.description)}") for task in tasks for source in task.sources]
    return element(
        "details",
        element("summary", f"{name}: {format_items(count, 'pattern')}"),
        element("p", origin, class_="quiet"),
        table,
        element("ul", *origins) if origins else None,
    )


def _list_rows(task: TaskPatterns) -> Iterator[Sequence[Cell]]:
    if not task.patterns:
        yield (task.task_id, element("td", f"none: {task.reason}", colspan="4"))
    for item in task.patterns:
        kind = KINDS[item.kind] + (", as written: no regular expression" if item.literal else "")
        yield (task.task_id, kind, _write_code(item.pattern), str(item.responses), str(item.found))


def _write_code(pattern: str) -> Element:
    return element("td", element("code", pattern))


def _join(url: str, description: str | None) -> str:
    return url if description is None else f"{url} ({description})"
