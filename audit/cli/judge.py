"""`caveat judge`: how far a judge's scores vary, err and depend on the context."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE, arm_options, audit_option, build_plan, plan_options, table_options
from registry.cli.application import App, pass_app
from registry.records.record import Identifier

if TYPE_CHECKING:
    from audit.judge.question import Question
    from audit.sources.score_columns import ColumnSelection
    from audit.statistics.judge_correction import JudgeAccuracy
    from audit.statistics.responses import ScoreTable, TextColumn

_PLAN = ("contexts", "margin", "level")
_HITS = "[test=|deploy=]RIGHT/CASES"


@click.command()
@click.option(
    "--labels", "files", metavar="FILE", multiple=True, type=FILE, help="A person's labels of some of the responses. May be repeated."
)
@click.option("--label-column", metavar="COLUMN", help="The column of the tables that holds a person's labels.")
@click.option(
    "--sensitivity", "sensitivities", metavar=_HITS, multiple=True, help="Positives that the judge called positive, measured elsewhere."
)
@click.option(
    "--specificity", "specificities", metavar=_HITS, multiple=True, help="Negatives that the judge called negative, measured elsewhere."
)
@click.option("--rescored", metavar="COLUMN", help="Second scores of the same responses, the context hidden or swapped.")
@click.option(
    "--mark",
    "marks",
    metavar="COLUMN",
    multiple=True,
    help="A column of 0 and 1, such as truncated, whose rate must not differ. May be repeated.",
)
@arm_options
@table_options
@plan_options(*_PLAN)
@audit_option
@pass_app
def judge(app: App, /, *, tables: tuple[Path, ...], audit: Identifier | None, **options: Any) -> None:
    """Say how far a judge's scores vary, err, and depend on the context, for each judge in score tables.

    Repeats of one judge (column judge_repeat) give its noise. A person's labels of a random subset of both sides give its errors and
    corrected Φ and ED, beside the judged ones; sensitivity and specificity measured elsewhere do so for binary scores. Labels, second
    scores and marks are checks of invariance against the margin: a judge that errs otherwise on one side than on the other makes a
    difference of its own.
    """
    from audit.cli.judge_text import print_reports, summarise_reports
    from audit.cli.record import record_findings
    from audit.judge.station import examine
    from audit.sources.score_table import read_columns

    low, high = options["range_"] or (0.0, 1.0)
    accuracy = parse_accuracy(options["sensitivities"], options["specificities"])
    plan = build_plan({**{name: options[name] for name in _PLAN}, "replicates": 0})
    table, columns = read_columns(tables, _select(options), low=low, high=high)
    question = _build_question(table, columns, options, accuracy)
    reports = examine(table, plan, question, range_=(low, high), test=options["test"], deploy=options["deploy"])
    record_findings(app, audit, reports, source=", ".join(path.name for path in (*tables, *options["files"])))
    app.report(summarise_reports(reports), lambda console: print_reports(console, reports))


def _select(options: dict[str, Any]) -> "ColumnSelection":
    from audit.sources.score_columns import ColumnSelection

    if options["files"] and options["label_column"]:
        raise click.UsageError("give --labels or --label-column, not both")
    asked = tuple(name for name in (options["label_column"], options["rescored"], *options["marks"]) if name is not None)
    if options["score"] in (options["label_column"], options["rescored"]):
        raise click.UsageError(f"{options['score']} is the column of scores; set against itself it would always agree")
    return ColumnSelection(score=options["score"], where=options["where"], also=asked)


def _build_question(
    table: "ScoreTable", columns: "dict[str, TextColumn]", options: dict[str, Any], accuracy: "tuple[JudgeAccuracy, JudgeAccuracy] | None"
) -> "Question":
    from audit.judge.question import Question
    from audit.sources.score_table import parse_marks, parse_numbers, read_labels

    files, column, again = options["files"], options["label_column"], options["rescored"]
    labels = read_labels(files, table) if files else None
    if column is not None:
        labels = parse_numbers(columns[column], name=column, low=table.low, high=table.high)
    return Question(
        labels=labels,
        label_source=column or ", ".join(path.name for path in files) or "label",
        rescored=parse_numbers(columns[again], name=again, low=table.low, high=table.high) if again is not None else None,
        rescored_column=again or "rescored",
        marks={name: parse_marks(columns[name], name=name) for name in options["marks"]},
        accuracy=accuracy,
    )


def parse_accuracy(sensitivities: tuple[str, ...], specificities: tuple[str, ...]) -> "tuple[JudgeAccuracy, JudgeAccuracy] | None":
    """Return what is known of the judge on the test and on the deployment side; one object twice where both share it; None without.

    Raises:
        InputError: a text is no `RIGHT/CASES`, a side is named twice or left out, or one of the two is missing.
    """
    from audit.statistics.judge_correction import JudgeAccuracy
    from registry.errors import Fault, InputError

    if not sensitivities and not specificities:
        return None
    found: list[Any] = []
    faults: list[Fault] = []
    for option, texts in (("--sensitivity", sensitivities), ("--specificity", specificities)):
        try:
            found.append(_parse_hits(option, texts))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(dict.fromkeys(faults))
    (test, deploy), (test_negative, deploy_negative) = found
    first = JudgeAccuracy(sensitivity=test, specificity=test_negative)
    shared = test is deploy and test_negative is deploy_negative
    if (test is deploy) != (test_negative is deploy_negative):
        advice = "give both once for both sides, or both for each side"
        raise InputError(
            Fault(code="bad-accuracy", where="--sensitivity, --specificity", found="only one of them is by side", advice=advice)
        )
    return first, first if shared else JudgeAccuracy(sensitivity=deploy, specificity=deploy_negative)


def _parse_hits(option: str, texts: tuple[str, ...]) -> Any:
    """Return the hits of the test and of the deployment side, the same object where one text holds for both."""
    import re

    from audit.statistics.judge_correction import HitCounts
    from registry.errors import Fault, InputError

    advice = f"write {option} 45/50 for both sides, or {option} test=45/50 {option} deploy=40/50"
    by_side: dict[str, HitCounts] = {}
    for text in texts:
        match = re.fullmatch(r"(?:(test|deploy)=)?([0-9]{1,9})/([0-9]{1,9})", text.strip())
        right, cases = (int(match[2]), int(match[3])) if match else (0, 0)
        if match is None or not 0 <= right <= cases or not cases:
            found = f"expected right calls out of cases, such as 45/50, found {text!r}"
            raise InputError(Fault(code="bad-accuracy", where=option, found=found, advice=advice))
        side = match[1] or "both"
        if side in by_side:
            raise InputError(Fault(code="bad-accuracy", where=option, found=f"{side} is given twice", advice=advice))
        by_side[side] = HitCounts(right=right, cases=cases)
    if set(by_side) == {"both"}:
        return by_side["both"], by_side["both"]
    if set(by_side) == {"test", "deploy"}:
        return by_side["test"], by_side["deploy"]
    found = f"expected one value for both sides, or one for each, found {', '.join(texts) or 'none'}"
    raise InputError(Fault(code="bad-accuracy", where=option, found=found, advice=advice))
