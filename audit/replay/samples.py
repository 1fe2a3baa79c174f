"""The prompts of a replay as samples for blind raters: what the model was sent, without a word on where it comes from."""

from collections.abc import Iterator, Mapping
from typing import Any

from audit.errors import DesignError
from audit.replay.store import RunStore
from registry.errors import Fault
from registry.records.rating import Sample, Side


def list_samples(store: RunStore, *, test: str, deploy: str, spec: str | None = None) -> list[Sample]:
    """Return the prompt of every task in every context of the two sides, each once, ordered by side, context and task.

    Versions of contexts that edits derive are left out: raters are asked about the distributions themselves.

    Args:
        test: the test-like arm.
        deploy: the deployment-continuous arm.
        spec: the specification of P_deploy; None where there is one alone.

    Raises:
        DesignError: an arm has no cell, or there are several specifications and none is chosen, or another one.
    """
    sides = {test: Side.TEST, deploy: Side.DEPLOY}
    found: dict[tuple[Side, str, str], Sample] = {}
    specs: dict[str, None] = {}
    # Both come in the order of planning; the key of a cell alone does not lead to its request.
    for (cell, _), call in zip(store.list_cells(), store.list_calls(), strict=True):
        side = sides.get(cell.arm)
        if side is None or cell.cue_removed is not None:
            continue
        specs |= {cell.spec: None} if side is Side.DEPLOY and cell.spec else {}
        place = (side, cell.context_id, cell.task_id)
        if place in found or (side is Side.DEPLOY and spec is not None and cell.spec != spec):
            continue
        found[place] = Sample(side=side, text=render_prompt(call.body), task_id=cell.task_id, context_id=cell.context_id)
    _check(store, {one.side for one in found.values()}, sides, [*specs], spec)
    return [found[place] for place in sorted(found, key=lambda one: (one[0].value, *one[1:]))]


def render_prompt(body: Mapping[str, Any]) -> str:
    """Return the request *body* as a person reads it: system prompt, tools, turns, each under a heading of its own."""
    return "\n\n".join(f"[{heading}]\n{text}" for heading, text in _list_parts(body))


def _list_parts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body.get("system"):
        yield "system prompt", str(body["system"])
    if body.get("tools"):
        yield "tools", "\n".join(f"{one['name']}: {one['description']}" for one in body["tools"])
    for turn in body["messages"]:
        yield str(turn["role"]), str(turn["content"])


def _check(store: RunStore, there: set[Side], sides: Mapping[str, Side], specs: list[str], spec: str | None) -> None:
    where = str(store.path.parent)
    faults = []
    if len(specs) > 1 and spec is None:
        found = f"the deployment side has {len(specs)} specifications: {', '.join(specs)}"
        faults.append(Fault(code="spec-not-chosen", where=where, found=found, advice="name the one to be rated with --spec"))
    elif spec is not None and spec not in specs:
        found = f"no deployment context is of the specification {spec!r}; there {'are ' + ', '.join(specs) if specs else 'is none'}"
        faults.append(Fault(code="unknown-spec", where=where, found=found, advice="leave --spec out, or name one of them"))
    for arm, side in sides.items():
        if side not in there and not faults:
            found = f"no call of the run is of the arm {arm!r}"
            faults.append(
                Fault(code="unknown-arm", where=where, found=found, advice="name the arms that are the two sides (--test, --deploy)")
            )
    if faults:
        raise DesignError(faults)
