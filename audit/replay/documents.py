"""The documents of a run folder: which replay it holds, and the tasks that were asked, whole."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from audit.replay.store import RunStore
from registry.codec.documents import from_document, to_document
from registry.errors import Fault, NotFoundError
from registry.records.replay import Replay, Task, TasksFile

_REPLAY, _TASKS = "replay", "tasks"
_NAME = "run-name"


def put_replay(store: RunStore, replay: Replay, tasks: Sequence[Task]) -> None:
    """Keep what the run folder is for; the same again changes nothing.

    A replay may grow: more samples, arms, tasks or budget, another scorer. Each version stays, and the latest counts. What was asked
    already cannot change under it: the store refuses a cell that is planned with another request.
    """
    put_version(store, _REPLAY, to_document(replay))
    put_version(store, _TASKS, to_document(TasksFile(tasks=tuple(tasks))))


def put_version(store: RunStore, name: str, document: dict[str, Any]) -> None:
    """Keep *document* as the latest of those called *name*; when it is that already, nothing changes."""
    known = list_versions(store, name)
    if not known or known[-1] != document:
        store.put_document(f"{name}-{len(known) + 1}" if known else name, document)


def list_versions(store: RunStore, name: str) -> list[dict[str, Any]]:
    """Return every document that was kept as *name*, the latest last."""
    found: list[dict[str, Any]] = []
    while (document := store.find_document(f"{name}-{len(found) + 1}" if found else name)) is not None:
        found.append(document)
    return found


def name_run(store: RunStore, draw: Callable[[], str]) -> str:
    """Return the random name of the run in this folder, made by *draw* and written down if it has none yet."""
    known = find_name(store)
    if known is None:
        known = draw()
        store.put_document(_NAME, {"run": known})
    return known


def find_name(store: RunStore) -> str | None:
    """Return the random name of the run in this folder; None before it was entered in a log."""
    document = store.find_document(_NAME)
    return None if document is None else str(document["run"])


def _find_latest(store: RunStore, name: str) -> dict[str, Any] | None:
    known = list_versions(store, name)
    return known[-1] if known else None


def get_replay(store: RunStore) -> Replay:
    """Return the replay that the folder holds; raises NotFoundError."""
    document = _find_latest(store, _REPLAY)
    if document is None:
        raise _missing(store, "replay")
    return from_document(Replay, document, where=f"{store.path}, replay")


def get_tasks(store: RunStore) -> dict[str, Task]:
    """Return the tasks that were asked, by identifier; raises NotFoundError."""
    document = _find_latest(store, _TASKS)
    if document is None:
        raise _missing(store, "tasks")
    return {task.id: task for task in from_document(TasksFile, document, where=f"{store.path}, tasks").tasks}


def list_states(store: RunStore, *names: str) -> Iterator[tuple[Replay, tuple[Task, ...], list[dict[str, Any]]]]:
    """Give every replay that the folder was for with every file of tasks and every document called one of *names*, latest first.

    Which versions went together is not kept, so each is given with each; the latest of all are the replay as it stands now. A folder
    that holds no replay, no tasks or no document of such a name gives none.

    Raises:
        InputError: what is kept is no replay, or no tasks.
    """
    kept = [[*reversed(list_versions(store, name))] for name in (_REPLAY, _TASKS, *names)]
    for replay, tasks, *others in product(*kept):
        yield (
            from_document(Replay, replay, where=f"{store.path}, replay"),
            from_document(TasksFile, tasks, where=f"{store.path}, tasks").tasks,
            others,
        )


def _missing(store: RunStore, what: str) -> NotFoundError:
    found = f"the folder holds no {what}: the run was never planned to its end"
    return NotFoundError(
        Fault(code="run-not-found", where=str(store.path), found=found, advice="run it again: caveat audit run REPLAY -o DIR")
    )
