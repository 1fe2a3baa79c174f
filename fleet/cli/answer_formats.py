"""The documents of `caveat fleet`, from which the JSON Schemas are made."""

from typing import Any

from registry.present.answer_formats import AnswerFormat, answer, group

_FAULT = group(code=str, where=str, found=str, advice=str | None)
_SPENT = group(calls=int, input_tokens=int, output_tokens=int, usd=float | None)


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the commands of a fleet."""
    worker = group(
        worker=str, version=str, kinds=list[str], slots=int, slices=int, silent_s=float, message=str | None, differs=str | None,
        is_draining=bool, is_alive=bool,
    )  # fmt: skip
    parked = group(slice=int, messages=list[dict[str, Any]])
    run = group(
        run=str, kind=str, state=str, session=int, calls=int, answered=int, failures=dict[str, int], late=int, under_way=int, slices=int,
        slices_done=int, slices_held=int, parked=list[parked], spent=_SPENT, held=_SPENT, stopped=_FAULT | None,
    )  # fmt: skip
    piece = group(label=str, messages=list[dict[str, str]])
    pieces = group(run=str, kind=str, state=str, pieces=int, done=int, failed=int, slices_held=int, parked=list[piece])
    quota = group(endpoint=str, key=str, rate=float | None, paused_s=float)
    backlog = group(waiting=dict[str, int], running=dict[str, int], stalled=dict[str, int])
    return (
        answer("fleet-created", "fleet init", address=str, engine=str, lease_s=float, new=bool),
        answer(
            "fleet", "fleet show", address=str, engine=str, lease_s=float, runs=list[run], piece_runs=list[pieces],
            workers=list[worker], quotas=list[quota],
            queue=backlog, ignored_jobs=int,
        ),
        answer("fleet-state", ("fleet pause", "fleet resume"), run=str, state=str, changed=bool),
        answer("fleet-drained", "fleet drain", workers=list[str]),
        answer("fleet-fetched", "fleet fetch", run=str, folder=str, new_outcomes=int),
    )  # fmt: skip
