"""The tasks of a replay, the request that a task makes in a context, and every call the design consists of."""

import csv
import hashlib
import math
import re
import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import cast

from audit.errors import DesignError
from audit.records.model_response import Purpose, ReplayCell
from audit.replay.run_store import Call, PlannedCall, build_call
from audit.statistics.mean_intervals import order_tasks
from registry.codec.canonical_documents import MOST_FAULTS, Json, from_document, from_json
from registry.codec.file_io import check_line, read_document, read_text
from registry.errors import Fault, InputError, suggest
from registry.records.replay_run import Arm, Policy, Replay, Task, TaskPrefix, TasksFile
from registry.records.specification import ContextBlock, ContextEdit, ContextItem, ContextSpec, Parts
from registry.registration.context_specification import derive, find_context_faults, join_texts, list_parts

# From a context, a task and a policy to the body of one Messages request.
#
# Nothing here is looked up, drawn at random or timed: the same three give the same body, and so the same digest, on
# every machine. Contexts are composed from blocks, and edits derive versions of them. `{task}` and `{options}` are
# filled in templates and turns only; a system prompt is sent as it is written. Cost: no placeholder in system prompts.

LETTERS = string.ascii_uppercase
"""What the options of a task are called, in order."""

OPTIONS = "{options}"
SYSTEM = "{system}"
"""As a whole system prompt: that of the task's own conversation."""
_PLACEHOLDER = re.compile(r"\{task\}|\{options\}")


def compose_request(spec: ContextSpec, item: ContextItem, task: Task, policy: Policy, *, where: str) -> dict[str, Json]:
    """Return the request body that asks *task* in the context *item* of *spec*, an edited one or as it is.

    What the policy leaves open is excluded, so that the endpoint's default holds; an empty system prompt is excluded too.

    Args:
        where: what the context is, as its user knows it.

    Raises:
        InputError: with every fault: system prompt or template is not known, a block has no text for the task, or the task's options
            would not be shown.
    """
    # Faults are collected in stages. Each stage needs what the one before has found to be sound.
    faults = [*_find_unknown_parts(item, where), *_find_missing_prefix(item, task, where)]
    texts: dict[str, str] = {}
    for place, parts in list_parts(item):
        try:
            texts[place] = _compose_text(parts, spec.blocks or {}, task, where=f"{where}.{place}")
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    message_texts = {place: text for place, text in texts.items() if place != "system"}
    faults.extend(_find_hidden_options(message_texts.values(), task, where))
    if faults:
        raise InputError(faults)
    turns = [(turn.role.value, _fill(message_texts[f"messages[{number}]"], task)) for number, turn in enumerate(item.messages)]
    prefix = task.prefix or TaskPrefix()
    if item.system == SYSTEM:
        texts["system"] = prefix.system
    # The turns of a real conversation are sent as they are: braces in them are no placeholders.
    past = [(turn.role.value, str(turn.content)) for turn in prefix.messages]
    # A turn without text is left out.
    messages: list[Json] = [
        {"role": role, "content": text} for role, text in (*turns, *past, ("user", _fill(message_texts["template"], task))) if text
    ]
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
        ("template", item.template, 'write it down; just "{task}" when the prompt is sent as it is'),
    ):
        # None means that the author of the context does not know the text (for example of a published study). It
        # differs from "", which says that there was none, and an unknown prompt cannot be replayed.
        if parts is None:
            yield Fault("context-not-known", f"{where}.{name}", "is not known, so the context cannot be replayed", advice=advice)


def _find_missing_prefix(item: ContextItem, task: Task, where: str) -> Iterator[Fault]:
    if item.system == SYSTEM and task.prefix is None:
        problem = f"task {task.id!r} has no conversation of its own, and the system prompt is that of the conversation"
        yield Fault("prefix-missing", f"{where}.system", problem)


def _compose_text(parts: Parts, blocks: Mapping[str, ContextBlock], task: Task, *, where: str) -> str:
    """Return the text of *parts* for *task*; placeholders are left in it."""
    return parts if isinstance(parts, str) else join_texts([_select_text(name, blocks[name], task, where=where) for name in parts])


def _select_text(name: str, block: ContextBlock, task: Task, *, where: str) -> str:
    if block.by is None:
        return block.text or ""
    value = find_field(task, block.by.field)
    # A missing variant without a fallback is an error: an empty block would change the context of some tasks without a
    # message.
    text = block.by.fallback if value is None else block.by.texts.get(value, block.by.fallback)
    if text is None:
        reason = f"{block.by.field} is {value!r}" if value is not None else f"has no field {block.by.field!r}"
        problem = f"task {task.id!r} {reason}: the block {name!r} has no text for it, and no fallback"
        advice = f"its texts are for {', '.join([*block.by.texts][:10]) or 'nothing'}; add one, or a fallback"
        raise InputError(Fault("no-variant", where, problem, advice=advice))
    return text


def _find_hidden_options(texts: Iterable[str], task: Task, where: str) -> Iterable[Fault]:
    """A model that does not see what it is to choose from is scored on guesses."""
    if not task.options or any(OPTIONS in text for text in texts):
        return
    # Options that the author wrote into the prompt are as good as the placeholder.
    hidden = [option for option in task.options if option not in task.prompt]
    if hidden:
        problem = f"task {task.id!r} has options, and neither the template nor its prompt shows {hidden[0]!r}"
        yield Fault("options-not-shown", f"{where}.template", problem)


def _fill(text: str, task: Task) -> str:
    """Return *text* with the prompt and options in it, in one pass: what a prompt itself holds is never taken for a place."""

    def put(match: re.Match[str]) -> str:
        if match[0] == OPTIONS:
            # Without options the braces are text of the author's own and stay.
            return format_options(task) if task.options else OPTIONS
        return task.prompt

    # One pass over the template. With two, a prompt that contains "{options}" would be filled again.
    return _PLACEHOLDER.sub(put, text)


def _compose_parameters(policy: Policy) -> dict[str, Json]:
    """Return what the policy says of sampling; what it leaves open is not sent."""
    parameters: dict[str, Json] = {
        "temperature": policy.temperature,
        "top_p": policy.top_p,
        "top_k": policy.top_k,
        "stop_sequences": list(policy.stop_sequences) or None,
        "thinking": cast("Json", policy.thinking),
        "output_config": None if policy.effort is None else {"effort": policy.effort},
        "service_tier": policy.service_tier,
        "seed": policy.seed,
        "top_logprobs": policy.top_logprobs,
        "extra": cast("Json", policy.extra),
    }
    # A parameter that is left out has the endpoint's default. Writing our own default would ask for something that the
    # plan does not contain. Provenance states for each parameter whether it was set, default or not settable.
    return {name: value for name, value in parameters.items() if value is not None}


# The tasks of a replay, from a file that a person wrote or a program exported.

LARGEST_BYTES = 200_000_000
_OPTION = re.compile(r"option_([a-z])")
_NAMED = ("id", "prompt", "answer", "expected", "anti", "family", "weight", "note")
"""Columns of a CSV file that are keys of a task; `expected` and `anti` hold one regular expression each."""

Placed = tuple[str, Task]
"""A task with the place where it stands."""


def read_tasks(path: Path) -> tuple[Task, ...]:
    """Return the tasks in *path*, in its order: JSONL and CSV are recognised by their names, any other file is YAML or JSON.

    Raises:
        InputError: with every fault, its file and line (or place in the document): no tasks, a task that does not fit, an identifier
            twice, options without the right one.
    """
    readers: dict[str, Callable[[Path], list[Placed]]] = {".jsonl": _read_lines, ".ndjson": _read_lines, ".csv": _read_csv}
    placed = readers.get(path.suffix.lower(), _read_file)(path)
    faults = list(find_task_faults(placed))
    if not placed:
        faults.append(Fault("table-empty", str(path), "the file has no tasks"))
    if faults:
        raise InputError(faults)
    return tuple(task for _, task in placed)


def place_tasks(tasks: Sequence[Task], *, where: str) -> list[Placed]:
    """Return *tasks* with their places in a list called *where*."""
    return [(f"{where}, tasks[{number}]", task) for number, task in enumerate(tasks)]


def find_task_faults(placed: Sequence[Placed]) -> Iterator[Fault]:
    """Give what is wrong with tasks beyond the shape of each."""
    weighted = [task for _, task in placed if task.weight is not None]
    if weighted and len(weighted) < len(placed):
        problem = f"{len(weighted)} of {len(placed)} tasks have a weight"
        yield _fault(placed[0][0], problem, "give every task a weight, or none")
    first: dict[str, str] = {}
    for where, task in placed:
        # Scores are paired across arms by this identifier, so two tasks must not share one.
        if task.id in first:
            yield Fault("duplicate", where, f"the id {task.id!r} is also at {first[task.id]}")
        first.setdefault(task.id, where)
        yield from _check_task(task, where)


def _check_task(task: Task, where: str) -> Iterator[Fault]:
    if not task.id.strip():
        yield Fault("id-empty", where, "the task has no id")
    # Padding is refused and not stripped: the identifier is fixed in locks and digests as it is written.
    elif task.id != task.id.strip():
        yield Fault("bad-name", where, f"{task.id!r} begins or ends with white space")
    if task.family is not None and (not task.family or task.family != task.family.strip()):
        yield Fault("bad-name", where, f"the family {task.family!r} is empty, or begins or ends with white space")
    if not task.prompt.strip():
        yield _fault(where, f"task {task.id!r} has no prompt", "write down what is asked")
    if task.weight is not None and not 0 < task.weight < math.inf:
        yield _fault(where, f"the weight of task {task.id!r} is a number above 0, found {task.weight:g}", "write 1 over its probability")
    if task.prefix is not None and any(not isinstance(turn.content, str) for turn in task.prefix.messages):
        yield _fault(where, f"task {task.id!r} names blocks in its conversation", "write its turns out as texts")
    if "id" in (task.fields or {}):
        yield _fault(where, "a field is called `id`, which always means the task's own id", "give the field another name")
    yield from (_fault(where, f"task {task.id!r}: {option}", None) for option in _check_options(task))


def _check_options(task: Task) -> Iterator[str]:
    if not task.options:
        return
    if not 2 <= len(task.options) <= len(LETTERS):
        yield f"a choice is between 2 and {len(LETTERS)} options, found {len(task.options)}"
    elif task.answer is not None and task.answer.strip().upper() not in tuple(LETTERS[: len(task.options)]):
        yield f"the answer is the letter of an option, A to {LETTERS[len(task.options) - 1]}, found {task.answer!r}"
    # With equal options, two letters would be the same answer and one of them would be scored as wrong.
    if len(set(task.options)) < len(task.options):
        yield "two options are the same"
    if not all(option.strip() for option in task.options):
        yield "an option is empty"


def _read_file(path: Path) -> list[Placed]:
    document = read_document(path, largest=LARGEST_BYTES)
    return place_tasks(from_document(TasksFile, document, where=str(path)).tasks, where=str(path))


def _read_lines(path: Path) -> list[Placed]:
    """One task a line; empty lines are skipped."""
    placed: list[Placed] = []
    faults: list[Fault] = []
    # Only a line feed ends a line. `str.splitlines` would also split at U+2028 and others, which JSON strings may
    # contain unescaped.
    for number, line in enumerate(read_text(path, largest=LARGEST_BYTES).split("\n"), 1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            check_line(line.encode(), where=where)
            placed.append((where, from_json(Task, line, where=where)))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return placed


def _read_csv(path: Path) -> list[Placed]:
    """One task a row; columns that are no key of a task are its fields, and an empty cell says nothing."""
    text = read_text(path, largest=LARGEST_BYTES)
    if "\0" in text:
        raise InputError(_fault(str(path), "has U+0000, which no record can hold", "remove it from the text"))
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        header = next(lines, [])
        faults = list(_check_header(header, path))
        placed = []
        # A row may span several lines. `line_num` is the last line read so far.
        for row in lines:
            where = f"{path}, line {lines.line_num}"
            if row and len(row) != len(header):
                faults.append(Fault("row-broken", where, f"the row that ends here has {len(row)} fields, the header {len(header)}"))
            elif row:
                placed.append((where, dict(zip(header, row, strict=True))))
    except csv.Error as error:
        raise InputError(Fault("row-broken", f"{path}, line {lines.line_num}", str(error))) from error
    if faults:
        raise InputError(faults)
    return [(where, _build_task(cells)) for where, cells in placed]


def _check_header(header: Sequence[str], path: Path) -> Iterator[Fault]:
    for name in ("id", "prompt"):
        if name not in header:
            problem = f"the column is missing; the file has {', '.join(header) or 'none'}"
            yield Fault("column-missing", f"{path}, column {name}", problem, advice="name the columns in the first line")
    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            yield Fault("duplicate-column", f"{path}, column {name}", "occurs twice")
        if not name.strip():
            yield Fault("column-missing", f"{path}, line 1", "a column has no name", advice="name it, or remove it")
    # Letters are assigned by position, so a missing column would shift the answer key.
    letters = sorted(option[1] for name in header if (option := _OPTION.fullmatch(name)))
    if letters != list(LETTERS.lower()[: len(letters)]):
        problem = f"options are option_a, option_b and so on without a gap; found {', '.join(f'option_{letter}' for letter in letters)}"
        yield Fault("column-missing", f"{path}, line 1", problem, advice="name the columns in order")


def _build_task(cells: dict[str, str]) -> Task:
    letters = sorted(name for name in cells if _OPTION.fullmatch(name))
    options = [cells[name] for name in letters]
    # Tasks may have fewer options than the table has columns. Only trailing empty cells are dropped; an empty cell in
    # the middle is reported as an empty option.
    while options and not options[-1]:
        options.pop()
    fields = {name: value for name, value in cells.items() if value and name not in _NAMED and name not in letters}
    return Task(
        id=cells["id"],
        prompt=cells["prompt"],
        fields=fields or None,
        options=tuple(options),
        answer=cells.get("answer") or None,
        expected=tuple(filter(None, [cells.get("expected")])),
        anti=tuple(filter(None, [cells.get("anti")])),
        family=cells.get("family") or None,
        weight=_parse_weight(cells["weight"]) if cells.get("weight") else None,
        note=cells.get("note") or None,
    )


def _parse_weight(text: str) -> float:
    """Return the number in *text*; what is none is refused with the task, as a weight that is not above 0."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _fault(where: str, text: str, advice: str | None) -> Fault:
    return Fault("not-valid", where, text, advice=advice)


# The calls of a replay: every task in every context of every arm, in the original and under each edit, as often as it
# is sampled.


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArmSide:
    """One entry of `arms` with what it stands for."""

    arm: Arm
    spec: ContextSpec
    tasks: tuple[Task, ...]
    edits: tuple[ContextEdit, ...]

    def list_versions(self) -> Iterator[tuple[str | None, ContextItem]]:
        """Give the contexts as they are, then under each edit."""
        yield from ((None, item) for item in self.spec.contexts)
        yield from ((edit.name, item) for edit in self.edits for item in derive(self.spec, edit))


@dataclass(frozen=True, slots=True, kw_only=True)
class _DesignCell:
    """One task in one version of a context: a cell without its sample."""

    cell: ReplayCell
    call: Call
    context: str
    """Id of the context that it is made from; for a task with a conversation the cell has an id of its own."""
    has_prefix: bool

    @property
    def place(self) -> str:
        """The context with its arm and edit, in words."""
        return _name_place(self.cell, self.context)


def build_design(replay: Replay, tasks: Sequence[Task], contexts: Mapping[str, ContextSpec]) -> list[PlannedCall]:
    """Return the calls of *replay* with the cells that they fill, in the order in which they are to be made.

    The order is that of SHA-256 over seed and key: arms, contexts and tasks are mixed, so that an endpoint which changes in the
    meantime changes under all of them alike. More samples add calls and change none; they are mixed in.

    Args:
        contexts: by what `Arm.context` calls it, the context specification; each arm's is there.

    Raises:
        DesignError: with every fault, so far as one does not hide another.
    """
    # Three stages of refusal: tasks and arms, then the composed requests, then requests that coincide. A fault of an
    # early stage would produce many false ones in a later stage.
    faults = list(find_task_faults(place_tasks(tasks, where=replay.tasks)))
    sides = [_build_side(number, arm, tasks, contexts[arm.context], faults) for number, arm in enumerate(replay.arms)]
    faults.extend(_check_arms(sides))
    _refuse(faults)
    cells = _ask(replay, sides, faults)
    _refuse(faults)
    _refuse(list(_find_coinciding(cells)))
    # Samples are added last. Each has its own call, so raising the number of samples leaves all existing calls as they
    # are.
    planned = [
        PlannedCall(cell=replace(cell.cell, sample=sample), call=_sample_call(cell.call, sample * len(same) + place))
        for same in _group_requests(cells)
        for place, cell in enumerate(same)
        for sample in range(replay.samples)
    ]
    # A hash instead of a random generator: the place of a call depends on the seed and its own key only. More samples
    # or tasks do not reorder the others, and the first calls of a run that stops early are a random part of the design.
    return sorted(planned, key=lambda call: hashlib.sha256(f"{replay.seed}:{call.call.key}".encode()).digest())


def order_for_stopping(planned: Sequence[PlannedCall], tasks: Sequence[Task], *, seed: int) -> list[PlannedCall]:
    """Return *planned* task by task, in the order of an analysis plan with *seed*: a run that stops has complete tasks to count.

    Within a task the calls stay in the order of the design, which mixes arms and contexts.
    """
    ordered = order_tasks([task.id for task in tasks], seed=seed, families=[task.family or task.id for task in tasks])
    places = {tasks[place].id: number for number, place in enumerate(ordered)}
    return sorted(planned, key=lambda call: places[call.cell.task_id])


def _sample_call(call: Call, sample: int) -> Call:
    """Return *call* for sample *sample* of its request; a seed moves with it, or all samples would be the same answer."""
    seed = call.body.get("seed")
    if not isinstance(seed, int):
        return replace(call, index=sample)
    return build_call({**call.body, "seed": seed + sample}, index=sample, purpose=call.purpose)


def _refuse(faults: Sequence[Fault]) -> None:
    """Raise what was found, each fault once: two arms may share a file, and many tasks a block."""
    unique_faults = list(dict.fromkeys(faults))
    if len(unique_faults) > MOST_FAULTS:
        more = f"and {len(unique_faults) - MOST_FAULTS:,} more faults like these"
        unique_faults = [*unique_faults[:MOST_FAULTS], Fault("more-faults", unique_faults[0].where, more)]
    if unique_faults:
        raise DesignError(unique_faults)


def _build_side(number: int, arm: Arm, tasks: Sequence[Task], spec: ContextSpec, faults: list[Fault]) -> _ArmSide:
    where = f"arms[{number}]"
    faults.extend(find_context_faults(spec, where=arm.context))
    if not spec.contexts:
        faults.append(Fault("context-not-known", where, f"{arm.context} only describes its contexts; there is none to replay"))
    known = {edit.name: edit for edit in spec.edits}
    faults.extend(_name_unknown_edits(arm.edits or (), known, f"{where}.edits"))
    edits = tuple(known[name] for name in dict.fromkeys(arm.edits or ()) if name in known)
    if not arm.arm.strip() or arm.arm != arm.arm.strip():
        faults.append(Fault("bad-name", f"{where}.arm", f"{arm.arm!r} is empty, or begins or ends with white space"))
    return _ArmSide(arm=arm, spec=spec, tasks=_choose_tasks(arm, tasks, where, faults), edits=edits)


def _name_unknown_edits(names: Sequence[str], known: Mapping[str, ContextEdit], where: str) -> Iterator[Fault]:
    for name in dict.fromkeys(names):
        if name not in known:
            problem = f"no edit is called {name!r}; there {'are ' + ', '.join(known) if known else 'is none'}"
            yield Fault("unknown-name", where, problem, advice=suggest(name, known))


def _choose_tasks(arm: Arm, tasks: Sequence[Task], where: str, faults: list[Fault]) -> tuple[Task, ...]:
    """Return the tasks of *arm*; a value that no task has is a fault, for it would make an arm smaller without a word."""
    chosen = list(tasks)
    for field, values in (arm.where or {}).items():
        # The values of all tasks, not of those that an earlier field left: otherwise the second field of `where` would
        # report values that do exist.
        known = {value for task in tasks if (value := find_field(task, field)) is not None}
        for value in values:
            if value not in known:
                listed = ", ".join(sorted(known)[:10]) or "nothing, for no task has the field"
                problem = f"no task has the value {value!r} in the field {field!r}; there is {listed}"
                faults.append(Fault("unknown-name", f"{where}.where", problem))
        chosen = [task for task in chosen if find_field(task, field) in values]
    if not chosen:
        problem = f"no task is left for the arm {arm.arm!r}"
        faults.append(Fault("arm-without-task", where, problem))
    return tuple(chosen)


def _check_arms(sides: Sequence[_ArmSide]) -> Iterator[Fault]:
    """Give what the score table of this replay would be refused for, before it is paid."""
    by_arm: dict[str, list[_ArmSide]] = {}
    for side in sides:
        by_arm.setdefault(side.arm.arm, []).append(side)
    for name, same in by_arm.items():
        named = [side for side in same if side.arm.spec is not None]
        # Test rows are shared by all specifications of P_deploy, so a test arm cannot belong to one of them.
        if name == "test" and named:
            problem = f"names the specification {named[0].arm.spec!r}, and the test arm belongs to every one"
            yield Fault("spec-on-test", f"arm {name}", problem)
        if 0 < len(named) < len(same):
            problem = "one entry of the arm names its specification, another does not"
            yield Fault("spec-missing", f"arm {name}", problem)
        tasks = _list_ids(same)
        others = _list_ids([side for side in sides if side.arm.arm != name])
        # ED compares the same tasks under two contexts. An arm without a common task could be paid for and never
        # compared.
        if tasks and others and not tasks & others:
            problem = f"arm {name!r} shares no task with any other, so nothing can be compared"
            yield Fault("no-common-task", f"arm {name}", problem)


def _list_ids(sides: Sequence[_ArmSide]) -> set[str]:
    return {task.id for side in sides for task in side.tasks}


def _ask(replay: Replay, sides: Sequence[_ArmSide], faults: list[Fault]) -> list[_DesignCell]:
    """Return every task in every version of every context, composed; a cell that is planned twice is a fault."""
    design_cells: dict[ReplayCell, _DesignCell] = {}
    systems: dict[Json, Json] = {}
    for side in sides:
        for edit, item in side.list_versions():
            where = f"{side.arm.context}, contexts[{item.id}]"
            for task in side.tasks:
                cell = _name_cell(side.arm, edit, item, task)
                # Two entries of one arm may contain a context of the same name. Their responses would have the same key
                # in the score table.
                if cell in design_cells:
                    problem = f"context {item.id!r} is in two entries of the arm {cell.arm!r} that both ask task {task.id!r}"
                    advice = "give the contexts of one arm different ids, or part the tasks with `where`"
                    faults.append(Fault("duplicate", where, problem, advice=advice))
                    continue
                try:
                    body = compose_request(side.spec, item, task, replay.policy, where=where)
                    if "system" in body:
                        # All bodies share one string for each system prompt. A copy for each task would hold thousands
                        # of long texts in memory.
                        body["system"] = systems.setdefault(body["system"], body["system"])
                    call = build_call(body, index=0, purpose=Purpose.REPLAY)
                    design_cells[cell] = _DesignCell(cell=cell, call=call, context=item.id, has_prefix=task.prefix is not None)
                except InputError as error:
                    faults.extend(error.faults)
    return list(design_cells.values())


def _name_cell(arm: Arm, edit: str | None, item: ContextItem, task: Task, sample: int = 0) -> ReplayCell:
    # A conversation is part of the context, so each of these tasks has contexts of its own.
    context_id = item.id if task.prefix is None else f"{item.id}/{task.id}"
    return ReplayCell(task_id=task.id, arm=arm.arm, context_id=context_id, sample=sample, spec=arm.spec, cue_removed=edit)


def list_cells(replay: Replay, tasks: Sequence[Task], contexts: Mapping[str, ContextSpec]) -> Iterator[ReplayCell]:
    """Give the cells that the design of *replay* has, without composing a request; an entry of an arm without its context gives none."""
    for number, arm in enumerate(replay.arms):
        if arm.context in contexts:
            # A design with faults was never planned, so what they are does not matter here.
            side = _build_side(number, arm, tasks, contexts[arm.context], [])
            for edit, item in side.list_versions():
                yield from (_name_cell(arm, edit, item, task, sample) for task in side.tasks for sample in range(replay.samples))


def _find_coinciding(design_cells: Sequence[_DesignCell]) -> Iterator[Fault]:
    """Give a fault for each two contexts, or tasks, that send the very same request: one response would count as two."""
    pairs: dict[tuple[str, str], list[ReplayCell]] = {}
    # The store keeps one response per call. If two cells shared it, it would enter the statistics twice, as if it were
    # two independent observations.
    for first, *others in _group_requests(design_cells):
        for second in others:
            same = first.place == second.place
            # Two people begin with the same words: two conversations, and each gets a response of its own.
            if same and first.has_prefix and second.has_prefix:
                continue
            names = (f"task {first.cell.task_id}", f"task {second.cell.task_id}") if same else (first.place, second.place)
            pairs.setdefault(names, []).append(second.cell)
    for (before, after), cells in pairs.items():
        tasks = f"task {cells[0].task_id!r}" + (f" and {len(cells) - 1} more" if len(cells) > 1 else "")
        problem = f"{before} and {after} send the very same request, so that one response would count twice ({tasks})"
        yield Fault("identical-requests", after, problem)


def _group_requests(design_cells: Iterable[_DesignCell]) -> Collection[list[_DesignCell]]:
    """Return the cells that send the same request, together."""
    by_request: dict[str, list[_DesignCell]] = {}
    for design_cell in design_cells:
        by_request.setdefault(design_cell.call.request, []).append(design_cell)
    return by_request.values()


def _name_place(cell: ReplayCell, context: str) -> str:
    spec = f" ({cell.spec})" if cell.spec else ""
    edit = f" under the edit {cell.cue_removed}" if cell.cue_removed else ""
    return f"context {context} of arm {cell.arm}{spec}{edit}"
