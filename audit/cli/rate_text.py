"""How a naturalness audit looks in a terminal and as JSON."""

from pathlib import Path
from typing import Any

from rich.console import Console

from audit.blinding import Drawn
from audit.cli.warnings_text import print_warnings
from audit.records.rating_sheet import SampleSide
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.records.estimates import Measure
from registry.records.module_findings import Naturalness, RaterResult
from registry.report.numbers import format_number, format_p

_SHARE = Unit(low=0.0, high=1.0)
_NUMBERS = ("decided", "undecided", "right", "said test", "p")


def summarise_sheets(drawn: Drawn, folder: Path, digest: str) -> dict[str, Any]:
    """Return what was written as the document `caveat/rating-sheets/1`; the key itself stays in its file."""
    return {
        "schema": "caveat/rating-sheets/1",
        "folder": str(folder),
        "key": digest,
        "seed": drawn.key.seed,
        "raters": list(drawn.key.raters),
        "items_test": _count(drawn, SampleSide.TEST),
        "items_deploy": _count(drawn, SampleSide.DEPLOY),
        "warnings": [{"code": one.code, "message": one.message} for one in drawn.remarks],
    }


def print_sheets(console: Console, drawn: Drawn, folder: Path, digest: str) -> None:
    """Print what was drawn and what to do with it."""
    test, deploy = _count(drawn, SampleSide.TEST), _count(drawn, SampleSide.DEPLOY)
    console.print(
        f"{test} items of the test side, of {drawn.key.drawn_from_test}; {deploy} of deployment, of {drawn.key.drawn_from_deploy}"
    )
    console.print(show(f"sheets: {', '.join(f'{folder}/{name}/' for name in drawn.key.raters)}"))
    console.print(show(f"key, not for raters: {folder}/key.json, SHA-256 {digest}"))
    for one in drawn.remarks:
        console.print(show(f"warning: {one.code}: {one.message}"))
    console.print(show(f"Next: give each rater the folder with their name, then: caveat audit rate answers {folder}/key.json ANSWERS..."))


def _count(drawn: Drawn, side: SampleSide) -> int:
    return sum(item.side is side for item in drawn.key.items)


def print_naturalness(console: Console, found: Naturalness) -> None:
    """Print the answer, one line for each rater, the agreement, the cues, then the warnings."""
    console.print(_say_answer(found), style="bold")
    what = "balanced accuracy" if found.balanced else "accuracy"
    console.print(show(f"{what} of persons together, where chance is 50 %: {_describe(found.accuracy)}"))
    console.print(f"{found.items_test} items of the test side and {found.items_deploy} of deployment, intervals at {share(found.level)}\n")
    columns = ("rater", "", "decided", "undecided", "right", "said test", what, "p")
    console.print(build_table(columns, [_describe_rater(one, balanced=found.balanced) for one in found.raters], numbers=_NUMBERS))
    for method in dict.fromkeys(one.against_chance.method for one in found.raters):
        console.print(f"p: {method}")
    console.print()
    for agreement in found.agreement:
        value = _describe_plain(agreement.measure)
        console.print(
            show(f"{agreement.statistic}: {value} ({agreement.raters} persons, {agreement.items} items that two or more decided on)")
        )
    if found.cues:
        console.print(show(f"cues named by persons: {', '.join(f'{note.cue} {note.count}' for note in found.cues)}"))
    print_warnings(console, found.warnings)


def _say_answer(found: Naturalness) -> str:
    if found.distinguishable is None:
        return "Whether raters can tell the sides apart cannot be said."
    if found.distinguishable:
        return "Raters can tell the test side from deployment."
    return "Raters are not shown to tell the test side from deployment; the interval says how well they still might."


def _describe(measure: Measure) -> str:
    if measure.value is None:
        return f"none. {measure.reason}"
    if measure.low is None or measure.high is None:
        return f"{_SHARE.score(measure.value, 0.5)}. {measure.reason}"
    return _describe_short(measure)


def _describe_short(measure: Measure) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return "–"
    return f"{_SHARE.score(measure.value, 0.5)} ({_SHARE.numbers(measure.low, measure.high, 0.5)})"


def _describe_plain(measure: Measure) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return f"{'none' if measure.value is None else format_number(measure.value)}. {measure.reason}"
    return f"{format_number(measure.value)} ({format_number(measure.low)} to {format_number(measure.high)})"


def _describe_rater(one: RaterResult, *, balanced: bool) -> tuple[str, ...]:
    accuracy = one.balanced_accuracy if balanced else one.accuracy
    counts = (str(one.rated), str(one.unrated), str(one.correct), str(one.said_test))
    return (
        one.rater,
        one.kind.value,
        *counts,
        _describe_short(accuracy),
        format_p(one.against_chance.p),
    )
