"""How verbalised recognition looks in a terminal, as JSON, and as a table of passages."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from audit.cli.shared_presentation import print_warnings, write_cell
from audit.modules.recognition_passages import VERSION, CandidateCount, ResponsePassage, find_families, find_hits
from audit.modules.recognition_rates import PassageAnswer, ResponseMention
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.codec.file_io import replacing
from registry.errors import Fault, InputError
from registry.records.estimates import Measure
from registry.records.module_findings import ClassifierAccuracy, GroupRate, Recognition, RecognitionClass
from registry.report.number_format import Unit, share

_SHARE = Unit(low=0.0, high=1.0)
_NO_RATE = "Marked by patterns alone: candidates, not recognition. These counts are no rate of recognition."
_COLUMNS = (
    *("task_id", "arm", "spec", "context_id", "sample", "channel", "families", "marked", "class", "excluded_reason"),
    *("quote", "start", "stop"),
)
_AROUND = 60


def summarise_candidates(evaluation: str, counts: Sequence[CandidateCount]) -> dict[str, Any]:
    """Return the document `caveat/probe-candidates/1`."""
    return {
        "schema": "caveat/probe-candidates/1",
        "evaluation": evaluation,
        "patterns": VERSION,
        "is_rate_of_recognition": False,
        "groups": [to_document(one) for one in counts],
    }


def print_candidates(console: Console, evaluation: str, counts: Sequence[CandidateCount]) -> None:
    """Print how many passages are marked, by arm and channel."""
    console.print(show(_NO_RATE), style="bold")
    console.print(show(f"{evaluation}; patterns {VERSION}\n"))
    rows = [
        (
            one.arm if one.spec is None else f"{one.arm}, {one.spec}",
            one.channel.value,
            str(one.responses),
            str(one.present),
            str(one.candidates) if one.present else "unavailable",
            ", ".join(f"{name} {count}" for name, count in one.families.items()),
        )
        for one in counts
    ]
    columns = ("arm", "channel", "responses", "with a text", "marked", "by")
    console.print(build_table(columns, rows, numbers=columns[2:5]))


def print_recognition(console: Console, found: Recognition) -> None:
    """Print rates, differences, the classifier's errors, quotes, then the warnings."""
    console.print(show(f"Verbalised recognition in {found.evaluation}, as {found.classifier} classified it"), style="bold")
    console.print("Rates belong to this evaluation, not to a model. Mention rates are not ED.\n")
    if found.groups:
        _print_rates(console, found)
        _print_classes(console, found)
    _print_differences(console, found)
    _print_accuracy(console, found.accuracy)
    for example in found.examples:
        cell = f"{example.arm}, task {example.task_id}, context {example.context_id}, sample {example.sample}"
        console.print(show(f"{example.class_.value}, {example.channel.value} ({cell}): “{example.quote}”"))
    print_warnings(console, found.warnings)


def _print_rates(console: Console, found: Recognition) -> None:
    corrected = () if found.accuracy is None else ("corrected",)
    columns = ("arm", "channel", "texts", "classified", "recognised", *corrected, "bounds")
    rows = [_describe_group(one, is_corrected=bool(corrected)) for one in found.groups]
    console.print(build_table(columns, rows, numbers=columns[2:4]))
    console.print(
        f"recognised: aware or aware_but_told; intervals at {share(found.level)}, contexts {found.contexts}; "
        "bounds: if none, or every, text without a class were"
    )
    for one in found.groups:
        if one.excluded:
            reasons = ", ".join(f"{each.count} {each.reason}" for each in one.excluded)
            console.print(show(f"without a class: {_name(one)}, {one.channel.value}: {reasons}"))


def _print_differences(console: Console, found: Recognition) -> None:
    for one in found.differences:
        name = one.channel.value if one.spec is None else f"{one.channel.value}, {one.spec}"
        known = one.corrected if one.difference.value is not None else None
        corrected = "" if known is None else f"; corrected {_describe(known, signed=True)}"
        sides = f"{found.test} − {found.deploy}, {name}"
        console.print(show(f"{sides}: {_describe(one.difference, signed=True)}{corrected} (difference of mention rates, not ED)"))


def _describe_group(one: GroupRate, *, is_corrected: bool) -> tuple[str, ...]:
    bounds = one.under_exclusions
    corrected = "–" if one.corrected is None or not one.present else _describe(one.corrected)
    return (
        _name(one),
        one.channel.value,
        f"{one.present} of {one.responses}",
        str(one.classified),
        _describe(one.recognised) if one.present else "unavailable",
        *([corrected] if is_corrected else []),
        "–" if bounds is None else _SHARE.numbers(bounds.low, bounds.high, 0.0),
    )


def _name(one: GroupRate) -> str:
    return one.arm if one.spec is None else f"{one.arm}, {one.spec}"


def _print_classes(console: Console, found: Recognition) -> None:
    rows = [
        (
            _name(one),
            one.channel.value,
            *("not known" if each.count is None else str(each.count) for each in one.classes),
            f"{one.recognised_candidates} of {one.recognised_count}",
        )
        for one in found.groups
        if one.classes
    ]
    if rows:
        columns = ("arm", "channel", *(one.value for one in RecognitionClass), "marked too")
        console.print(build_table(columns, rows, numbers=columns[2:]))
    untold = sum(one.told_unknown for one in found.groups)
    if untold:
        console.print(f"of {untold} recognised passages it is not known whether the prompt itself says that it is a test")


def _print_accuracy(console: Console, one: ClassifierAccuracy | None) -> None:
    if one is None:
        console.print("Not corrected: the classifier's errors were not measured (--labels).")
        return
    excluded = ", ".join(f"{each.reason} {each.count}" for each in one.excluded)
    lines = (
        f"on {one.labelled} labelled passages of {one.source}{f', without a class: {excluded}' if excluded else ''}:",
        f"  sensitivity {one.true_positives}/{one.true_positives + one.false_negatives}: {_describe(one.sensitivity)}",
        f"  specificity {one.true_negatives}/{one.true_negatives + one.false_positives}: {_describe(one.specificity)}",
        f"  recall filter: recall {_describe(one.filter_recall)}, precision {_describe(one.filter_precision)}",
    )
    for line in lines:
        console.print(show(line))


def _describe(one: Measure, *, signed: bool = False) -> str:
    if one.value is None:
        return f"none: {one.reason}"
    value = _SHARE.difference(one.value) if signed else _SHARE.score(one.value, 0.0)
    if one.low is None or one.high is None:
        return f"{value}, no interval: {one.reason}"
    return f"{value} ({_SHARE.differences(one.low, one.high) if signed else _SHARE.numbers(one.low, one.high, 0.0)})"


def write_mentions(path: Path, mentions: Sequence[ResponseMention]) -> None:
    """Write one row for each response: 1 where it mentions a test, 0 where it does not, and the reason where that is not known.

    Raises:
        InputError: the file cannot be written.
    """
    names = ("task_id", "arm", "spec", "context_id", "sample", "mentioned", "excluded_reason")
    rows = [
        (
            *(one.cell.task_id, one.cell.arm, one.cell.spec or "", one.cell.context_id, str(one.cell.sample)),
            "" if one.mentioned is None else str(int(one.mentioned)),
            one.unknown or "",
        )
        for one in mentions
    ]
    _write_rows(path, names, rows)


def write_passages(path: Path, passages: Sequence[ResponsePassage], found: Sequence[PassageAnswer]) -> None:
    """Write the passages that are marked, recognised, or without a class though they hold a text, as CSV.

    Raises:
        InputError: the file cannot be written.
    """
    by_passage = {(one.passage.cell, one.passage.channel): one for one in found}
    rows = [_describe_passage(one, by_passage.get((one.cell, one.channel))) for one in passages if one.absent is None]
    _write_rows(path, _COLUMNS, [row for row in rows if row is not None])


def _write_rows(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    try:
        with replacing(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([write_cell(field) for field in row] for row in rows)
    except OSError as error:
        raise InputError(Fault(code="file-not-accessible", where=str(path), found=error.strerror or str(error))) from error


def _describe_passage(one: ResponsePassage, found: PassageAnswer | None) -> tuple[str, ...] | None:
    families = find_families(one.text)
    class_ = found.class_ if found else None
    if not families and (found is None or class_ is RecognitionClass.NONE):
        return None
    cell, hit = one.cell, next(find_hits(one.text), None)
    start, stop = (found.reading.start, found.reading.stop) if found else (None, None)
    return (
        *(cell.task_id, cell.arm, cell.spec or "", cell.context_id, str(cell.sample), one.channel.value, ";".join(families)),
        "" if hit is None else " ".join(one.text[max(0, hit.start - _AROUND) : hit.stop + _AROUND].split()),
        "" if class_ is None else class_.value,
        (found.reading.excluded or "") if found else "",
        "" if start is None else one.text[start:stop],
        "" if start is None else str(start),
        "" if stop is None else str(stop),
    )
