"""How the link between recognition and ED looks in a terminal."""

from rich.console import Console

from audit.cli.warnings_text import print_warnings
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import Measure
from registry.records.module_findings import LinkGroup, RecognitionLink, RecognitionLinks


def print_links(console: Console, found: RecognitionLinks) -> None:
    """Print ED of both groups and their difference for each specification, then what is not known, then the warnings."""
    console.print(show(f"Recognition and ED: {found.interpretation}"), style="bold")
    console.print(show(f"mentions from {found.source}; intervals at {share(found.level)}; δ {found.margin:g}\n"))
    unit = Unit(low=found.range[0], high=found.range[1])
    for one in found.links:
        name = one.spec if one.judge is None else f"{one.spec}, judge {one.judge}"
        console.print(show(name))
        console.print(
            build_table(("test-side responses", "responses", "tasks", "contexts", "ED"), _list_rows(one, unit), numbers=("responses",))
        )
        console.print(show(f"difference, over {one.tasks} tasks with both: {_describe(one.difference, unit)}"))
        if one.unknown or one.deploy_mentioned:
            console.print(f"not known: {one.unknown} test-side responses; deployment responses that mention a test: {one.deploy_mentioned}")
    print_warnings(console, found.warnings)


def _list_rows(one: RecognitionLink, unit: Unit) -> list[tuple[str, ...]]:
    groups: tuple[tuple[str, LinkGroup], ...] = (("mention a test", one.mentioned), ("do not", one.not_mentioned))
    return [(name, str(each.responses), str(each.tasks), str(each.contexts), _describe(each.ed, unit)) for name, each in groups]


def _describe(measure: Measure, unit: Unit) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    if measure.low is None or measure.high is None:
        return f"{unit.difference(measure.value)}, no interval: {measure.reason}"
    return f"{unit.difference(measure.value)} ({unit.differences(measure.low, measure.high)})"
