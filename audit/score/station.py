"""A run's responses become scores by a deterministic scorer: no call is made, and the same again changes nothing."""

from collections.abc import Callable, Mapping

from audit.replay.store import RunStore
from audit.score.mark import build_score
from audit.score.scorers import Deterministic, build_marker, check_scorable, digest_scorer
from registry.codec.documents import to_document
from registry.errors import Fault, InputError
from registry.records.replay import Task
from registry.records.score import Score
from registry.records.scorer import Scorer

_BATCH = 500
"""Scores in one transaction."""


def keep_scorer(store: RunStore, scorer: Scorer) -> str:
    """Keep the document of *scorer* in the run folder, so that its scores can be read without the file; return its digest."""
    digest = digest_scorer(scorer)
    store.put_document(f"scorer-{digest}", to_document(scorer))
    return digest


def score_run(
    store: RunStore, scorer: Deterministic, tasks: Mapping[str, Task], *, advance: Callable[[int], None] = lambda _more: None
) -> int:
    """Score every answered response of the replay, and return how many scores are new or differ from the one that counted.

    An earlier score of the same scorer stays in the folder; the latest counts. Failed calls get no score: the table excludes them by
    the code of their failure.

    Args:
        store: the run folder's.
        scorer: what to score by.
        tasks: by identifier, those that were asked.
        advance: is told how many more cells are done.

    Raises:
        InputError: the scorer or a task cannot be what scoring needs, or two tasks that are scored differently share a response.
    """
    check_scorable(scorer, list(tasks.values()))
    mark, digest = build_marker(scorer), keep_scorer(store, scorer)
    seen: dict[str, Task] = {}
    batch: list[Score] = []
    changed = 0
    for cell, key in store.list_cells():
        task = tasks[cell.task_id]
        response = store.find_response(key)
        if response is not None and response.text is not None and _is_first(seen, key, task, store):
            score = build_score(mark(task, response.text), response=key, scorer=digest)
            if store.find_scores(digest, key) != [score]:
                batch.append(score)
        if len(batch) >= _BATCH:
            changed += _flush(store, batch)
        advance(1)
    return changed + _flush(store, batch)


def _flush(store: RunStore, batch: list[Score]) -> int:
    count = len(batch)
    store.add_scores(batch)
    batch.clear()
    return count


def _is_first(seen: dict[str, Task], key: str, task: Task, store: RunStore) -> bool:
    """Tell whether *key* comes for the first time; two tasks may share a response only if they are scored alike."""
    other = seen.setdefault(key, task)
    if other is task:
        return True
    if (other.options, other.answer, other.expected, other.anti) != (task.options, task.answer, task.expected, task.anti):
        found = f"tasks {other.id} and {task.id} ask the same and are scored differently, so their shared responses have no one score"
        raise InputError(Fault(code="task-not-scorable", where=str(store.path), found=found, advice="give them different prompts"))
    return False
