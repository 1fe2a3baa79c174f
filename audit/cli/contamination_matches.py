"""What matching the patterns anew gave, in sentences and in a terminal."""

from rich.console import Console

from audit.sources.skill_study_records import ContaminationStudy, PatternDifference, Rematch
from registry.cli.terminal_output import show
from registry.report.numbers import format_count, format_items

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


def print_patterns(console: Console, study: ContaminationStudy) -> None:
    """Print where the patterns come from, what matching them anew gave, and the first differences."""
    files = {item.file for item in study.patterns if item.file is not None}
    count = sum(len(item.patterns) for item in study.patterns)
    patterns = f"{format_items(count, 'pattern')} from {format_items(len(files), 'file')}; results.json and the page list them with digests"
    console.print("\n" + (patterns if count else "No patterns: no file names any"), style="bold")
    for line in describe_rematch(study.rematch):
        console.print(show(line))
    for difference in study.rematch.differ[:_MOST_LINES]:
        console.print(show("  " + _describe_difference(difference)))
    if len(study.rematch.differ) > _MOST_LINES:
        console.print(f"  and {format_count(len(study.rematch.differ) - _MOST_LINES)} more, in results.json")


def _describe_difference(item: PatternDifference) -> str:
    was, is_ = ("found" if matched else "not found" for matched in (item.recorded, item.matched))
    place = f"{item.skill}, {item.task_id}, run {item.run}, arm {item.arm}"
    return f"{place}: recorded {was}, here {is_}: {KINDS[item.kind]} {item.pattern}"
