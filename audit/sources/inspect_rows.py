"""Samples of one log become rows; each is scored, or has the one reason why it is not."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.sources.accounts import Tally
from audit.sources.inspect_header import as_text
from audit.sources.inspect_sample import Sample, Scored
from audit.sources.inspect_score import LETTERS, Numbers, convert
from audit.sources.pairing import TARGET
from audit.sources.port import Row
from audit.sources.raw import FaultList
from registry.errors import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What holds for every row of a file."""

    name: str
    scorer: str | None
    arm: str | None
    """None: the sample's own."""
    arm_field: str | None
    context: str
    """Where no field says it."""
    context_field: str | None


def build_rows(samples: Sequence[Sample], frame: Frame, numbers: Numbers, tally: Tally, faults: FaultList) -> list[Row]:
    """Return one row for each of *samples*, counted in *tally*; what makes that impossible goes to *faults*."""
    rows = []
    for sample in samples:
        place = f"sample {sample.task_id}, epoch {sample.epoch}"
        arm = frame.arm or sample.arm
        context = sample.context if frame.context_field else frame.context
        if arm is None or context is None:
            lacking = frame.arm_field if arm is None else frame.context_field
            faults.add(_find_nothing(f"{frame.name}, {place}", lacking))
            continue
        scored = sample.scores.get(frame.scorer or "")
        value, reason = _decide(sample, scored, numbers, place)
        tally.add(place, reason)
        rows.append(
            Row(
                task_id=sample.task_id,
                arm=arm,
                context_id=context,
                sample=sample.epoch,
                family=sample.family,
                text=sample.text,
                score=value,
                excluded_reason=reason,
                stop_reason=sample.stop_reason,
                truncated="yes" if sample.limit else None,
                extras=_list_extras(sample, scored, frame.scorer),
                file=frame.name,
                place=place,
            )
        )
    return rows


def _find_nothing(where: str, lacking: str | None) -> Fault:
    if lacking is None:
        advice = "write ARM=PATH, or say with --arm-field where the log has it"
        return Fault(code="arm-missing", where=where, found="nothing says which arm the response belongs to", advice=advice)
    advice = "name task_args.X, metadata.X (of the log), sample.metadata.X, tags.PREFIX, model or task"
    return Fault(code="unknown-field", where=where, found=f"no single value stands at {lacking}", advice=advice)


def _decide(sample: Sample, scored: Scored | None, numbers: Numbers, place: str) -> tuple[float | None, str | None]:
    """Return the score, or why there is none; an invalid or broken response has none, whatever a scorer said of it."""
    if sample.invalidated_by is not None:
        return None, "invalidated"
    if sample.error is not None:
        return None, "sample-error"
    if scored is None:
        return None, "not-scored"
    number = numbers.read(scored.value, place)
    if number is None:
        return None, "not-scored"
    return (None, "score-nan") if math.isnan(number) else (number, None)


def _list_extras(sample: Sample, scored: Scored | None, scorer: str | None) -> Mapping[str, str | float | None]:
    asked = sample.asked
    extras: dict[str, Any] = {
        "scorer": scorer,
        "score_reason": scored.reason if scored else None,
        "score_edits": float(scored.edits) if scored and scored.edits else None,
        "limit": sample.limit,
        "model": sample.model,
        "request_id": " ".join(asked.request_ids) or None if asked else None,
        "started_at": sample.started_at,
        "working_s": sample.working_s,
        "input_tokens": sample.input_tokens,
        "output_tokens": sample.output_tokens,
        TARGET: sample.target_sha256,
        "system_sha256": sample.system_sha256,
    }
    for name, other in sample.scores.items():
        if name != scorer:
            entries = other.value.items() if isinstance(other.value, dict) else [("", other.value)]
            extras.update({f"score:{name}{'.' if key else ''}{key}": _as_extra(value) for key, value in entries})
    return extras


def _as_extra(value: object) -> str | float | None:
    number = convert(value, LETTERS)
    return number if number is not None else as_text(value[:200]) if isinstance(value, str) else None
