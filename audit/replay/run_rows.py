"""A run folder as a score table with families and templates, and its prompts as samples for blind raters."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.errors import DesignError
from audit.records.model_response import ReplayCell, Response
from audit.records.rating_sheet import RatingSample, SampleSide
from audit.replay.replay_provenance import CONTEXTS
from audit.replay.run_store import RunStore, Score, get_replay, get_tasks, list_versions
from registry.codec.canonical_documents import from_document, to_document
from registry.codec.file_io import replacing
from registry.errors import Fault
from registry.intake.text_similarity import find_repeats
from registry.records.specification import ContextItem, ContextSpec

# Families of tasks and templates of contexts. Tasks of one family, and contexts made from one template, depend on each
# other, so the statistics need both as columns of the score table.


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedClusters:
    """What tasks and contexts depend on, by name, and what tasks weigh."""

    families: Mapping[str, str]
    """By the id of the task; tasks without a family are not in it."""
    templates: Mapping[tuple[str, str], str]
    """By arm and context id."""
    weights: Mapping[str, float]
    """By the id of the task; empty where all weigh the same."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the score table that have anything to say."""
        named = {"family": self.families, "template": self.templates, "weight": self.weights}
        return tuple(name for name, values in named.items() if values)

    def list_values(self, cell: ReplayCell) -> tuple[str | float | None, ...]:
        """Return the values of `columns` for a response."""
        values = {
            "family": self.families.get(cell.task_id),
            "template": self.templates.get((cell.arm, cell.context_id)),
            "weight": self.weights.get(cell.task_id),
        }
        return tuple(values[name] for name in self.columns)


NONE = NamedClusters(families={}, templates={}, weights={})


def read_clusters(store: RunStore) -> NamedClusters:
    """Return the families, templates and weights that the run in *store* was planned with.

    Raises:
        NotFoundError: the folder holds no replay, or no tasks.
    """
    replay, specs = get_replay(store), read_contexts(store)
    tasks = get_tasks(store).values()
    return NamedClusters(
        families={task.id: task.family for task in tasks if task.family},
        weights={task.id: task.weight for task in tasks if task.weight is not None},
        templates={
            (arm.arm, item.id): item.made_from
            for arm in replay.arms
            if arm.context in specs
            for item in specs[arm.context].contexts
            if item.made_from
        },
    )


def read_contexts(store: RunStore) -> dict[str, ContextSpec]:
    """Return the contexts of the run by name; the latest count, as the latest replay does."""
    versions = list_versions(store, CONTEXTS)
    latest = versions[-1] if versions else {}
    return {name: from_document(ContextSpec, document, where=f"{store.path}, {name}") for name, document in latest.items()}


def find_repeated_contexts(store: RunStore) -> tuple[tuple[str, str], ...]:
    """Return the contexts of each side with the same words as another one of it and no common template, after the one that they repeat.

    Requests that are the same to the byte are refused before a run. One more space makes another request, and no other context.
    """
    specs, repeats = read_contexts(store), []
    arms = dict.fromkeys((arm.arm, arm.spec) for arm in get_replay(store).arms)
    for side in arms:
        names = dict.fromkeys(arm.context for arm in get_replay(store).arms if (arm.arm, arm.spec) == side and arm.context in specs)
        listed = [(specs[name], item) for name in names for item in specs[name].contexts]
        for first, second in find_repeats([_write_words(spec, item) for spec, item in listed]):
            items = listed[first][1], listed[second][1]
            if items[0].made_from is None or items[0].made_from != items[1].made_from:
                repeats.append((items[0].id, items[1].id))
    return tuple(dict.fromkeys(repeats))


def _write_words(spec: ContextSpec, item: ContextItem) -> str:
    """Return what makes *item* another context than others: all texts and tools that the model sees, and the scaffold."""
    blocks = [to_document((spec.blocks or {}).get(name)) for name in item.block_names]
    seen = replace(item, id="", made_from=None, cues=())
    return json.dumps([to_document(seen), blocks], ensure_ascii=False)


# A run folder as a score table: one row for every scoring of every response. Failed calls are rows with the reason for
# their exclusion, because leaving them out would change the sample without a trace.
#
# Rows are ordered by their names. The same responses and scores make the same bytes, in whatever order they arrived.

COLUMNS = (
    *("task_id", "arm", "spec", "context_id", "cue_removed", "sample", "judge", "judge_repeat", "score", "excluded_reason"),
    *("stop_reason", "truncated", "settled", "refused", "model_returned", "request_id", "response", "at"),
)
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Stop reasons of answers that ended before they were over."""
_BEHIND = COLUMNS.index("stop_reason")
PATTERN_COLUMNS = (
    *("task_id", "arm", "spec", "context_id", "cue_removed", "sample", "response"),
    *("kind", "pattern", "matched", "start", "end", "text", "literal", "flags"),
)
NOT_SCORED = "not-scored"
"""Reason of a row whose response is there and was not scored yet."""

Value = str | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One scoring of one response, or a response that has none."""

    cell: ReplayCell
    response: Response
    score: Score | None
    """None after a failed call, and before the scoring."""
    judge: str | None
    """The model that judged, or would have; None for a deterministic scorer."""

    @property
    def value(self) -> float | None:
        """The score; None exactly when there is a reason."""
        return None if self.score is None else self.score.score

    @property
    def excluded_reason(self) -> str | None:
        """Why there is no score: the code of the failed call, the scorer's reason, or that it is not scored yet."""
        if self.response.failure is not None:
            return self.response.failure.code
        return NOT_SCORED if self.score is None else self.score.excluded_reason


def list_rows(store: RunStore, scorer: str, *, judge: str | None = None) -> Iterator[TableRow | ReplayCell]:
    """Give the rows of the table by the scorer with the digest *scorer*; a cell with a call that was never answered is given as it is.

    Args:
        store: the run folder's.
        scorer: digest of the scorer.
        judge: model that the scorer asks, for rows that no judge saw; None for a deterministic scorer.
    """
    # Rows that no judge rated are repeated for each judge: results are computed judge by judge, and an exclusion
    # belongs to all of them.
    judges: Sequence[str | None] = (store.list_judges(scorer) or [judge]) if judge is not None else [None]
    for cell, key in store.list_cells(by_name=True):
        response = store.find_response(key)
        if response is None:
            # A cell without an outcome is not a row: nothing is known of it. The caller counts it as open.
            yield cell
            continue
        scores = [] if response.failure else store.find_scores(scorer, key)
        for score in scores:
            named = [score.judge] if score.judge is not None else judges
            yield from (TableRow(cell=cell, response=response, score=score, judge=name) for name in named)
        if not scores:
            yield from (TableRow(cell=cell, response=response, score=None, judge=name) for name in judges)


def is_never_settled(_: TableRow) -> bool:
    """Return False: the score of a truncated response may have been another."""
    return False


def write_table(
    rows: Iterable[TableRow | ReplayCell],
    path: Path,
    *,
    dimensions: Sequence[str] = (),
    marks: Sequence[str] = (),
    is_settled: Callable[[TableRow], bool] = is_never_settled,
    clusters: NamedClusters = NONE,
) -> None:
    """Write the rows that have a response to *path* as CSV, whole or not at all.

    Args:
        rows: as `list_rows` gives them; cells without a response are excluded.
        path: the file; one that is there is replaced.
        dimensions: names of ratings or rates that get columns of their own; one that is a column already is called `dimension_NAME`.
        marks: names of what a scorer notes of every response, 1 or 0, such as whether a judge saw all of it; columns at the end.
        is_settled: whether the score of a truncated response can no longer change, as its scorer declares.
        clusters: families of tasks and templates of contexts; columns at the end where any is named.
    """
    names = [f"dimension_{name}" if name in (*COLUMNS, *marks) else name for name in dimensions]
    header = (*COLUMNS[:_BEHIND], *names, *COLUMNS[_BEHIND:], *marks, *clusters.columns)
    values = (
        (*_build_values(row, dimensions, is_settled), *_mark(row, marks), *clusters.list_values(row.cell))
        for row in rows
        if isinstance(row, TableRow)
    )
    _write(path, header, values)


def write_patterns(rows: Iterable[TableRow | ReplayCell], path: Path) -> None:
    """Write one row for every pattern test of *rows* to *path* as CSV, whole or not at all."""
    tests = ((row, test) for row in rows if isinstance(row, TableRow) for test in list_tests(row.score))
    _write(path, PATTERN_COLUMNS, ((*_place(row.cell), row.response.key, *_test_values(test)) for row, test in tests))


def list_tests(score: Score | None) -> Iterator[dict[str, object]]:
    """Give what a pattern scorer found for each pattern; nothing for other scorers."""
    patterns = (score.detail or {}).get("patterns") if score else None
    if isinstance(patterns, list | tuple):
        yield from (pattern for pattern in patterns if isinstance(pattern, dict))


def _build_values(row: TableRow, dimensions: Sequence[str], is_settled: Callable[[TableRow], bool]) -> tuple[Value, ...]:
    response, score = row.response, row.score
    moment = response.received_at or response.sent_at
    rated = (score.dimensions if score else None) or {}
    return (
        *_place(row.cell),
        row.judge,
        None if score is None or score.repeat is None else str(score.repeat),
        row.value,
        row.excluded_reason,
        *(rated.get(name) for name in dimensions),
        response.stop_reason,
        None if response.failure else str(int(response.stop_reason in CUT)),
        # Empty where the answer was not truncated: the question does not arise.
        None if response.stop_reason not in CUT else str(int(is_settled(row))),
        None if response.failure else str(int(response.stop_reason == "refusal")),
        response.model_returned,
        response.attempts[-1].request_id if response.attempts else None,
        response.key,
        None if moment is None else moment.isoformat(),
    )


def _mark(row: TableRow, marks: Sequence[str]) -> Iterator[Value]:
    detail = (row.score.detail if row.score else None) or {}
    yield from (str(int(bool(detail[name]))) if name in detail else None for name in marks)


def _place(cell: ReplayCell) -> tuple[Value, ...]:
    return cell.task_id, cell.arm, cell.spec, cell.context_id, cell.cue_removed, str(cell.sample)


def _test_values(test: dict[str, object]) -> Iterator[Value]:
    for name in PATTERN_COLUMNS[PATTERN_COLUMNS.index("kind") :]:
        value = test.get(name)
        yield str(int(value)) if isinstance(value, bool) else None if value is None else str(value)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        # `repr` writes the shortest text that reads back as the same float, so the table loses no bit of a score.
        writer.writerows(["" if value is None else repr(value) if isinstance(value, float) else value for value in row] for row in rows)


# The prompts of a replay as samples for blind raters: exactly what the model was sent, with nothing about its origin.


def list_samples(store: RunStore, *, test: str, deploy: str, spec: str | None = None) -> list[RatingSample]:
    """Return the prompt of every task in every context of the two sides, each once, ordered by side, context and task.

    Versions of contexts that edits derive are excluded: raters are asked about the distributions themselves.

    Args:
        test: the test-like arm.
        deploy: the deployment-continuous arm.
        spec: the specification of P_deploy; None where there is only one.

    Raises:
        DesignError: an arm has no cell, or there are several specifications and none is chosen, or another one.
    """
    sides = {test: SampleSide.TEST, deploy: SampleSide.DEPLOY}
    samples: dict[tuple[SampleSide, str, str], RatingSample] = {}
    specs: dict[str, None] = {}
    # Both lists are in the order of planning. They are read side by side because the key of a cell does not lead to its
    # request.
    for (cell, _), call in zip(store.list_cells(), store.list_calls(), strict=True):
        side = sides.get(cell.arm)
        if side is None or cell.cue_removed is not None:
            continue
        specs |= {cell.spec: None} if side is SampleSide.DEPLOY and cell.spec else {}
        # Samples of one cell have the same prompt, which is rated once.
        place = (side, cell.context_id, cell.task_id)
        if place in samples or (side is SampleSide.DEPLOY and spec is not None and cell.spec != spec):
            continue
        samples[place] = RatingSample(side=side, text=render_prompt(call.body), task_id=cell.task_id, context_id=cell.context_id)
    _check(store, {sample.side for sample in samples.values()}, sides, [*specs], spec)
    return [samples[place] for place in sorted(samples, key=lambda sample_place: (sample_place[0].value, *sample_place[1:]))]


def render_prompt(body: Mapping[str, Any]) -> str:
    """Return the request *body* as a person reads it: system prompt, tools, turns, each under a heading of its own."""
    return "\n\n".join(f"[{heading}]\n{text}" for heading, text in _list_parts(body))


def _list_parts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if body.get("system"):
        yield "system prompt", str(body["system"])
    if body.get("tools"):
        yield "tools", "\n".join(f"{item['name']}: {item['description']}" for item in body["tools"])
    for turn in body["messages"]:
        yield str(turn["role"]), str(turn["content"])


def _check(store: RunStore, sample_sides: set[SampleSide], sides: Mapping[str, SampleSide], specs: list[str], spec: str | None) -> None:
    where = str(store.path.parent)
    faults = []
    if len(specs) > 1 and spec is None:
        problem = f"the deployment side has {len(specs)} specifications: {', '.join(specs)}"
        faults.append(Fault("choice-needed", where, problem, advice="name the one to be rated with --spec"))
    elif spec is not None and spec not in specs:
        problem = f"no deployment context is of the specification {spec!r}; there {'are ' + ', '.join(specs) if specs else 'is none'}"
        faults.append(Fault("unknown-name", where, problem))
    for arm, side in sides.items():
        if side not in sample_sides and not faults:
            problem = f"no call of the run is of the arm {arm!r}"
            faults.append(Fault("unknown-name", where, problem))
    if faults:
        raise DesignError(faults)
