"""The file that `caveat analyze classify` reads: a claim, its plan, and evidence in the unit of the property it is about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import Json, from_document, json_schema
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.audit_case import Case, Evidence, PublishedFigure

# Published figures in the unit of their property. A figure that the unit or the range does not allow is
# refused.
#
# A converted figure keeps the words of its source in `stated`. Units that are not listed below
# (`problems`, `coefficient`) are left as they are.

_SHARE_WORDS = frozenset({"share", "fraction", "proportion"})
_PER_CENT_WORDS = frozenset({"%", "per cent", "percent"})
_POINT_WORDS = frozenset({"percentage point", "percentage points", "pp"})
_SCALE_WORDS = frozenset({f"{unit} of the scale" for unit in (*_PER_CENT_WORDS, *_POINT_WORDS)})
_SCORE_POINT_WORDS = frozenset({"point", "points", "points of the scale"})

_SCALE_SENTENCE = re.compile(
    r"(?P<value>\d+(?:\.\d+)?) (?P<unit>percentage )?points? (?:of|on) (?:the |a )?"
    r"(?P<low>\d+(?:\.\d+)?)(?: to |-|–)(?P<high>\d+(?:\.\d+)?) scale"
)
"""As in `24 points of the 0 to 15 scale`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _FigureUnit:
    """What a unit means: how its numbers become those of the declared unit, and what they may be there."""

    unit: str
    low: float
    high: float
    advice: str
    factor: float = 1.0


def settle_evidence(evidence: Sequence[Evidence], range_: tuple[float, float], *, where: str) -> tuple[Evidence, ...]:
    """Return the evidence with every figure in the unit of a property with *range_*.

    Args:
        where: how messages call the list, such as `case.yaml, evidence`.

    Raises:
        InputError: with every figure that its unit or the range does not allow.
    """
    faults: list[Fault] = []
    settled = []
    for position, entry in enumerate(evidence):
        place = f"{where}[{position}]"
        finding = None
        if entry.finding is not None:
            finding_faults = list(_check_finding(entry.finding, range_, where=f"{place}.finding"))
            faults += finding_faults
            # A faulty figure is not converted: its faults quote it as it was written.
            finding = entry.finding if finding_faults else _convert(entry.finding, range_)
        faults += _check_summary(entry.summary or "", where=f"{place}.summary")
        settled.append(replace(entry, finding=finding))
    if faults:
        raise InputError(faults)
    return tuple(settled)


def _read_unit(finding: PublishedFigure, range_: tuple[float, float]) -> _FigureUnit | None:
    """Return what the unit of *finding* means for a property with *range_*; None for a unit of its own."""
    low, high = range_
    width, is_share = high - low, range_ == (0.0, 1.0)
    most = float("inf") if finding.n is None else finding.n
    share = _FigureUnit(unit="share", low=-1, high=1, advice="write 0.24 for 24 %, or give the unit `per cent`")
    # A difference of shares can be negative, so the limits are −100 % to 100 %.
    per_cent = _FigureUnit(unit="share", low=-1, high=1, factor=0.01, advice="check the figure: a share is at most 100 %")
    of_shares = _FigureUnit(unit="percentage points", low=-100, high=100, advice="check the figure: shares differ by at most 100 points")
    of_scale = _FigureUnit(
        unit="points", low=-width, high=width, factor=width / 100, advice="check the figure: the scale is 100 % of itself"
    )
    mistaken = "give the unit that the source means, such as `percentage points` or `percentage points of the scale`"
    points = _FigureUnit(unit="points", low=-width, high=width, advice=mistaken)
    score = _FigureUnit(unit="score", low=low, high=high, advice="write it in the unit of the range, or correct the range of the property")
    count = _FigureUnit(unit="count", low=0, high=most, advice="a count lies between 0 and n; for a rate give the unit `share`")
    readings = {
        **dict.fromkeys(_SHARE_WORDS, share),
        **dict.fromkeys(_PER_CENT_WORDS, per_cent),
        **dict.fromkeys(_POINT_WORDS, of_shares),
        # "Per cent of the scale" and percentage points are the same where the scale is a share.
        **dict.fromkeys(_SCALE_WORDS, of_shares if is_share else of_scale),
        **dict.fromkeys(_SCORE_POINT_WORDS, points),
        "score": score,
        "count": count,
    }
    return readings.get(" ".join(finding.unit.lower().split()))


def _check_finding(finding: PublishedFigure, range_: tuple[float, float], *, where: str) -> Iterator[Fault]:
    reading = _read_unit(finding, range_)
    if reading is None:
        return
    for name, value in (("value", finding.value), ("low", finding.low), ("high", finding.high)):
        # A figure outside the range is most often in another unit, such as "24 points of the 0 to 15
        # scale" for 24 %. Refusing it keeps the mistake out of the verdict's sentences.
        if value is not None and not reading.low <= value * reading.factor <= reading.high:
            span = f"{reading.low / reading.factor:g} to {reading.high / reading.factor:g}"
            problem = f"expected {span} {finding.unit} for a property of the range [{range_[0]:g}, {range_[1]:g}], found {value:g}"
            yield Fault("out-of-range", f"{where}.{name}", problem, advice=reading.advice)


def _convert(finding: PublishedFigure, range_: tuple[float, float]) -> PublishedFigure:
    reading = _read_unit(finding, range_)
    if reading is None or (reading.factor == 1.0 and reading.unit == finding.unit):
        return finding
    if reading.factor == 1.0:
        return replace(finding, unit=reading.unit)
    return replace(
        finding,
        value=_scale(finding.value, reading.factor),
        low=None if finding.low is None else _scale(finding.low, reading.factor),
        high=None if finding.high is None else _scale(finding.high, reading.factor),
        unit=reading.unit,
        stated=finding.stated or _quote(finding),
    )


def _scale(value: float, factor: float) -> float:
    # Twelve decimals: 0.24 × 15 is 3.6, and not 3.5999999999999996.
    return round(value * factor, 12)


def _quote(finding: PublishedFigure) -> str:
    interval = "" if finding.low is None or finding.high is None else f" ({finding.low:g} to {finding.high:g})"
    return f"{finding.value:g}{interval} {finding.unit}"


def _check_summary(summary: str, *, where: str) -> Iterator[Fault]:
    """A sentence may name a scale of its own: more points than that scale has are a unit mistaken for another."""
    for match in _SCALE_SENTENCE.finditer(summary):
        most = 100.0 if match["unit"] else float(match["high"]) - float(match["low"])
        if float(match["value"]) > most:
            problem = f"“{match[0]}”, and that scale has {most:g} points"
            advice = "say it in the unit of the source, such as percentage points, or in points of the scale"
            yield Fault("out-of-range", where, problem, advice=advice)


DEFAULT_PROPERTY_NAME = "score"


def read_case(path: Path) -> tuple[Case, Path | None]:
    """Return the case in the YAML or JSON file *path*, and its score table if it names one.

    The table's path is taken relative to the file. A key that is null counts as absent.

    Raises:
        InputError: with every fault and its path inside the file.
    """
    document = read_document(path)
    # An audit file looks like a case, and names its claim in the place of the claim's facts.
    if isinstance(document, dict) and document.get("schema") == "caveat/audit/1":
        advice = f"conclude it in its registry: caveat audit conclude {path}; for a case file: caveat analyze classify --schema"
        raise InputError(Fault("not-valid", f"{path}, schema", "this is an audit file; expected a case without a registry", advice=advice))
    case, scores = _parse(document, where=str(path))
    return case, None if scores is None else path.parent / scores


def parse_case(document: Json, *, where: str) -> Case:
    """Return the case in *document*, the content of a case file that names no score table.

    Raises:
        InputError: with every fault and its path inside the document; scores are named, which only a file can.
    """
    case, scores = _parse(document, where=where)
    if scores is not None:
        problem = "a table is named, and there is no file that its path could be relative to"
        raise InputError(Fault("not-valid", f"{where}, scores", problem, advice="read the scores, and give them to classify"))
    return case


def _parse(content: Json, *, where: str) -> tuple[Case, str | None]:
    # A person's file may spell "not given" as null, everywhere.
    document = _drop_nulls(content)
    if not isinstance(document, dict):
        raise InputError(Fault("not-valid", where, "expected keys such as claim and evidence", advice="caveat admin schema case"))
    scores = document.pop("scores", None)
    faults = list(_check_scores(scores, where))
    try:
        case = from_document(Case, _complete(document), where=where)
    except InputError as error:
        raise InputError([*error.faults, *faults]) from error
    # Numbers and evidence are checked only after the structure is valid, and their faults are reported
    # together.
    faults += _check_numbers(case, where)
    try:
        case = replace(case, evidence=settle_evidence(case.evidence, case.claim.property.range, where=f"{where}, evidence"))
    except InputError as error:
        faults += error.faults
    if faults:
        raise InputError(faults)
    return case, scores


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file; it allows what `read_case` fills in: null for absent, a bare number as reported figure."""
    schema = json_schema(Case)
    definitions = schema["$defs"]
    # The schema must accept what `_complete` fills in. Otherwise an editor would mark valid files as
    # wrong.
    definitions["PropertySpec"]["required"].remove("name")
    definitions["CaseClaim"]["properties"]["reported"]["anyOf"].append({"type": "number"})
    schema["properties"]["scores"] = {"type": "string", "description": "Score table (CSV, JSONL or Parquet), relative to this file."}
    for part in (schema, *definitions.values()):
        for name, value in part.get("properties", {}).items():
            if name not in part.get("required", ()):
                part["properties"][name] = _allow_null(value)
    return schema


def _allow_null(value: dict[str, Any]) -> dict[str, Any]:
    null = {"type": "null"}
    if null in value.get("anyOf", ()):
        return value
    return {"anyOf": [value, null]}


def _drop_nulls(value: Json) -> Any:
    """Null means absent, wherever a key has it."""
    if isinstance(value, dict):
        return {key: _drop_nulls(item) for key, item in value.items() if item is not None}
    return [_drop_nulls(item) for item in value] if isinstance(value, list) else value


def _complete(document: dict[str, Any]) -> dict[str, Any]:
    """Write out what the file may leave short."""
    claim = document.get("claim")
    if not isinstance(claim, dict):
        return document
    claim = dict(claim)
    reported = claim.get("reported")
    # Python's booleans are integers; `reported: true` is a fault and not the figure 1.
    if isinstance(reported, (int, float)) and not isinstance(reported, bool):
        claim["reported"] = {"value": reported}
    if isinstance(claim.get("property"), dict):
        claim["property"] = {"name": DEFAULT_PROPERTY_NAME, **claim["property"]}
    return {**document, "claim": claim}


def _check_scores(scores: Any, where: str) -> Iterator[Fault]:
    if scores is not None and not (isinstance(scores, str) and scores.strip()):
        yield Fault("not-valid", f"{where}, scores", f"expected the path of a score table, found {scores!r}")


def _check_numbers(case: Case, where: str) -> Iterator[Fault]:
    """A threshold or a figure outside the range of the score is in another unit, most often per cent."""
    low, high = case.claim.property.range
    reported = case.claim.reported
    numbers = {"theta": case.claim.theta}
    if reported is not None:
        numbers |= {"reported": reported.value, "reported.low": reported.low, "reported.high": reported.high}
    for name, value in numbers.items():
        if value is not None and not low <= value <= high:
            problem = f"{value:g} lies outside the range [{low:g}, {high:g}] of the property"
            advice = "write it in the unit of the range, 0.1 for 10 % of [0, 1]; or correct claim.property.range"
            yield Fault("out-of-range", f"{where}, claim.{name}", problem, advice=advice)
