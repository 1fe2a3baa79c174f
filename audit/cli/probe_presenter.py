"""How verbalised recognition looks in a terminal, as JSON, and as a table of passages."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.cli.analysis_presenter import present_warnings
from audit.modules.recognition_passages import VERSION, CandidateCount, ResponsePassage, find_families, find_hits
from audit.modules.recognition_probe import write_rows
from audit.modules.recognition_rates import PassageAnswer
from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer
from registry.present.blocks import Block, Table, Title
from registry.records.estimates import Measure
from registry.records.module_findings import ClassifierAccuracy, GroupRate, Recognition, RecognitionClass
from registry.report.number_format import Unit, share

_SHARE = Unit(low=0.0, high=1.0)
_NO_RATE = "Marked only by patterns: candidates, not recognition. These counts are no rate of recognition."
_COLUMNS = (
    *("task_id", "arm", "spec", "context_id", "sample", "channel", "families", "marked", "class", "excluded_reason"),
    *("quote", "start", "stop"),
)
_AROUND = 60


def present_candidates(evaluation: str, counts: Sequence[CandidateCount]) -> Answer:
    """Present the passages that patterns mark, counted by arm and channel."""
    document = {
        "schema": "caveat/probe-candidates/1",
        "evaluation": evaluation,
        "patterns": VERSION,
        "is_rate_of_recognition": False,
        "groups": [to_document(count) for count in counts],
    }
    return Answer(document, _list_candidates_blocks(evaluation, counts))


def _list_candidates_blocks(evaluation: str, counts: Sequence[CandidateCount]) -> Iterator[Block]:
    """Yield how many passages are marked, by arm and channel."""
    yield Title(_NO_RATE)
    yield f"{evaluation}; patterns {VERSION}\n"
    rows = [
        (
            candidate_count.arm if candidate_count.spec is None else f"{candidate_count.arm}, {candidate_count.spec}",
            candidate_count.channel.value,
            str(candidate_count.responses),
            str(candidate_count.present),
            str(candidate_count.candidates) if candidate_count.present else "unavailable",
            ", ".join(f"{name} {count}" for name, count in candidate_count.families.items()),
        )
        for candidate_count in counts
    ]
    columns = ("arm", "channel", "responses", "with a text", "marked", "by")
    yield Table(columns, rows, numbers=columns[2:5])


def present_recognition(recognition: Recognition) -> Iterator[Block]:
    """Present rates, differences, the classifier's errors, quotes, then the warnings."""
    yield Title(f"Verbalised recognition in {recognition.evaluation}, as {recognition.classifier} classified it")
    yield "Rates belong to this evaluation, not to a model. Mention rates are not ED.\n"
    if recognition.groups:
        yield from _present_rates(recognition)
        yield from _present_classes(recognition)
    yield from _present_differences(recognition)
    yield from _present_accuracy(recognition.accuracy)
    for example in recognition.examples:
        cell = f"{example.arm}, task {example.task_id}, context {example.context_id}, sample {example.sample}"
        yield f"{example.class_.value}, {example.channel.value} ({cell}): “{example.quote}”"
    yield from present_warnings(recognition.warnings)


def _present_rates(recognition: Recognition) -> Iterator[Block]:
    corrected = () if recognition.accuracy is None else ("corrected",)
    columns = ("arm", "channel", "texts", "classified", "recognised", *corrected, "bounds")
    rows = [_describe_group(group, is_corrected=bool(corrected)) for group in recognition.groups]
    yield Table(columns, rows, numbers=columns[2:4])
    yield (
        f"recognised: aware or aware_but_informed; intervals at {share(recognition.level)}, contexts {recognition.contexts}; "
        "bounds: if none, or every, text without a class were"
    )
    for rate in recognition.groups:
        if rate.excluded:
            reasons = ", ".join(f"{exclusion.count} {exclusion.reason}" for exclusion in rate.excluded)
            yield f"without a class: {_name(rate)}, {rate.channel.value}: {reasons}"


def _present_differences(recognition: Recognition) -> Iterator[Block]:
    for difference in recognition.differences:
        name = difference.channel.value if difference.spec is None else f"{difference.channel.value}, {difference.spec}"
        known = difference.corrected if difference.difference.value is not None else None
        corrected = "" if known is None else f"; corrected {_describe(known, signed=True)}"
        sides = f"{recognition.test} − {recognition.deploy}, {name}"
        yield f"{sides}: {_describe(difference.difference, signed=True)}{corrected} (difference of mention rates, not ED)"


def _describe_group(group_rate: GroupRate, *, is_corrected: bool) -> tuple[str, ...]:
    bounds = group_rate.under_exclusions
    corrected = "–" if group_rate.corrected is None or not group_rate.present else _describe(group_rate.corrected)
    return (
        _name(group_rate),
        group_rate.channel.value,
        f"{group_rate.present} of {group_rate.responses}",
        str(group_rate.classified),
        _describe(group_rate.recognised) if group_rate.present else "unavailable",
        *([corrected] if is_corrected else []),
        "–" if bounds is None else _SHARE.numbers(bounds.low, bounds.high, 0.0),
    )


def _name(group_rate: GroupRate) -> str:
    return group_rate.arm if group_rate.spec is None else f"{group_rate.arm}, {group_rate.spec}"


def _present_classes(recognition: Recognition) -> Iterator[Block]:
    rows = [
        (
            _name(group),
            group.channel.value,
            *("not known" if class_.count is None else str(class_.count) for class_ in group.classes),
            f"{group.recognised_candidates} of {group.recognised_count}",
        )
        for group in recognition.groups
        if group.classes
    ]
    if rows:
        columns = ("arm", "channel", *(recognition_class.value for recognition_class in RecognitionClass), "marked too")
        yield Table(columns, rows, numbers=columns[2:])
    untold = sum(rate.told_unknown for rate in recognition.groups)
    if untold:
        yield f"of {untold} recognised passages it is not known whether the prompt itself says that it is a test"


def _present_accuracy(accuracy: ClassifierAccuracy | None) -> Iterator[Block]:
    if accuracy is None:
        yield "Not corrected: the classifier's errors were not measured (--labels)."
        return
    excluded = ", ".join(f"{exclusion.reason} {exclusion.count}" for exclusion in accuracy.excluded)
    lines = (
        f"on {accuracy.labelled} labelled passages of {accuracy.source}{f', without a class: {excluded}' if excluded else ''}:",
        f"  sensitivity {accuracy.true_positives}/{accuracy.true_positives + accuracy.false_negatives}: {_describe(accuracy.sensitivity)}",
        f"  specificity {accuracy.true_negatives}/{accuracy.true_negatives + accuracy.false_positives}: {_describe(accuracy.specificity)}",
        f"  recall filter: recall {_describe(accuracy.filter_recall)}, precision {_describe(accuracy.filter_precision)}",
    )
    yield from lines


def _describe(measure: Measure, *, signed: bool = False) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    value = _SHARE.difference(measure.value) if signed else _SHARE.score(measure.value, 0.0)
    if measure.low is None or measure.high is None:
        return f"{value}, no interval: {measure.reason}"
    return f"{value} ({_SHARE.differences(measure.low, measure.high) if signed else _SHARE.numbers(measure.low, measure.high, 0.0)})"


def write_passages(path: Path, passages: Sequence[ResponsePassage], passage_answers: Sequence[PassageAnswer]) -> None:
    """Write the passages that are marked, recognised, or without a class though they hold a text, as CSV.

    Raises:
        InputError: the file cannot be written.
    """
    by_passage = {(passage_answer.passage.cell, passage_answer.passage.channel): passage_answer for passage_answer in passage_answers}
    rows = [_describe_passage(passage, by_passage.get((passage.cell, passage.channel))) for passage in passages if passage.absent is None]
    write_rows(path, _COLUMNS, [row for row in rows if row is not None])


def _describe_passage(response_passage: ResponsePassage, passage_answer: PassageAnswer | None) -> tuple[str, ...] | None:
    families = find_families(response_passage.text)
    class_ = passage_answer.class_ if passage_answer else None
    if not families and (passage_answer is None or class_ is RecognitionClass.NONE):
        return None
    cell, hit = response_passage.cell, next(find_hits(response_passage.text), None)
    start, stop = (passage_answer.reading.start, passage_answer.reading.stop) if passage_answer else (None, None)
    return (
        *(cell.task_id, cell.arm, cell.spec or "", cell.context_id, str(cell.sample), response_passage.channel.value, ";".join(families)),
        "" if hit is None else " ".join(response_passage.text[max(0, hit.start - _AROUND) : hit.stop + _AROUND].split()),
        "" if class_ is None else class_.value,
        (passage_answer.reading.excluded or "") if passage_answer else "",
        "" if start is None else response_passage.text[start:stop],
        "" if start is None else str(start),
        "" if stop is None else str(stop),
    )
