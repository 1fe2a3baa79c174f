"""From a context, a task and a policy to the body of one request of the Messages API.

Nothing here is looked up, drawn or timed: the same three give the same body, and so the same digest, on every machine.
"""

import re
import string
from collections.abc import Iterable, Mapping
from typing import cast

from registry.codec.canonical import Json
from registry.errors import Fault, InputError
from registry.records.block import Block, Parts
from registry.records.replay import Policy, Task
from registry.records.spec import ContextItem, ContextSpec
from registry.registration.contexts import join_texts, list_parts

LETTERS = string.ascii_uppercase
"""What the options of a task are called, in order."""

OPTIONS = "{options}"
_PLACEHOLDER = re.compile(r"\{task\}|\{options\}")


def compose_request(spec: ContextSpec, item: ContextItem, task: Task, policy: Policy, *, where: str) -> dict[str, Json]:
    """Return the request body that asks *task* in the context *item* of *spec*, an edited one or as it is.

    What the policy leaves open is left out, so that the endpoint's default holds; an empty system prompt is left out too.

    Args:
        where: what the context is, as its user knows it.

    Raises:
        InputError: with every fault: system prompt or template is not known, a block has no text for the task, or the task's options
            would not be shown.
    """
    faults = list(_find_unknown_parts(item, where))
    texts: dict[str, str] = {}
    for place, parts in list_parts(item):
        try:
            texts[place] = _compose_text(parts, spec.blocks or {}, task, where=f"{where}.{place}")
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    asked = {place: text for place, text in texts.items() if place != "system"}
    faults.extend(_find_hidden_options(asked.values(), task, where))
    if faults:
        raise InputError(faults)
    turns = [(turn.role.value, _fill(asked[f"messages[{number}]"], task)) for number, turn in enumerate(item.messages)]
    messages: list[Json] = [{"role": role, "content": text} for role, text in (*turns, ("user", _fill(asked["template"], task))) if text]
    body: dict[str, Json] = {"model": policy.model, "max_tokens": policy.max_tokens, "messages": messages}
    if texts["system"]:
        body["system"] = texts["system"]
    if item.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": cast("Json", tool.input_schema)} for tool in item.tools
        ]
    return {**body, **_compose_parameters(policy)}


def find_field(task: Task, name: str) -> str | None:
    """Return the task's value of the field *name*, None without one; the field `id` is the task's identifier."""
    return task.id if name == "id" else (task.fields or {}).get(name)


def format_options(task: Task) -> str:
    """Return the options of *task*, one a line, with their letters: `A) …`; empty when it has none."""
    return "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, task.options, strict=False))


def _find_unknown_parts(item: ContextItem, where: str) -> Iterable[Fault]:
    for name, parts, advice in (
        ("system", item.system, 'write it down, or system: "" when there is none'),
        ("template", item.template, 'write it down; "{task}" alone when the prompt is sent as it is'),
    ):
        if parts is None:
            found = "is not known, so the context cannot be replayed"
            yield Fault(code="context-not-known", where=f"{where}.{name}", found=found, advice=advice)


def _compose_text(parts: Parts, blocks: Mapping[str, Block], task: Task, *, where: str) -> str:
    """Return the text of *parts* for *task*; placeholders are left in it."""
    return parts if isinstance(parts, str) else join_texts([_select_text(name, blocks[name], task, where=where) for name in parts])


def _select_text(name: str, block: Block, task: Task, *, where: str) -> str:
    if block.by is None:
        return block.text or ""
    value = find_field(task, block.by.field)
    text = block.by.fallback if value is None else block.by.texts.get(value, block.by.fallback)
    if text is None:
        said = f"{block.by.field} is {value!r}" if value is not None else f"has no field {block.by.field!r}"
        found = f"task {task.id!r} {said}: the block {name!r} has no text for it, and no fallback"
        advice = f"its texts are for {', '.join([*block.by.texts][:10]) or 'nothing'}; add one, or a fallback"
        raise InputError(Fault(code="no-variant", where=where, found=found, advice=advice))
    return text


def _find_hidden_options(texts: Iterable[str], task: Task, where: str) -> Iterable[Fault]:
    """A model that does not see what it is to choose from is scored on guesses."""
    if not task.options or any(OPTIONS in text for text in texts):
        return
    hidden = [option for option in task.options if option not in task.prompt]
    if hidden:
        found = f"task {task.id!r} has options, and neither the template nor its prompt shows {hidden[0]!r}"
        advice = "write {options} into the template, or the options into the prompts"
        yield Fault(code="options-not-shown", where=f"{where}.template", found=found, advice=advice)


def _fill(text: str, task: Task) -> str:
    """Return *text* with the prompt and options in it, in one pass: what a prompt itself holds is never taken for a place."""

    def put(found: re.Match[str]) -> str:
        if found[0] == OPTIONS:
            return format_options(task) if task.options else OPTIONS
        return task.prompt

    return _PLACEHOLDER.sub(put, text)


def _compose_parameters(policy: Policy) -> dict[str, Json]:
    """Return what the policy says of sampling; what it leaves open is not sent."""
    said: dict[str, Json] = {
        "temperature": policy.temperature,
        "top_p": policy.top_p,
        "top_k": policy.top_k,
        "stop_sequences": list(policy.stop_sequences) or None,
        "thinking": cast("Json", policy.thinking),
        "output_config": None if policy.effort is None else {"effort": policy.effort},
        "service_tier": policy.service_tier,
    }
    return {name: value for name, value in said.items() if value is not None}
