"""The documents of a run folder: which replay it holds, and the tasks that were asked, whole."""

from collections.abc import Sequence

from audit.replay.store import RunStore
from registry.codec.documents import from_document, to_document
from registry.errors import Fault, NotFoundError
from registry.records.replay import Replay, Task, TasksFile

_REPLAY, _TASKS = "replay", "tasks"


def put_replay(store: RunStore, replay: Replay, tasks: Sequence[Task]) -> None:
    """Keep what the run folder is for; the same again changes nothing.

    Raises:
        ConflictError: the folder is for another replay, or for other tasks.
    """
    store.put_document(_REPLAY, to_document(replay))
    store.put_document(_TASKS, to_document(TasksFile(tasks=tuple(tasks))))


def get_replay(store: RunStore) -> Replay:
    """Return the replay that the folder holds; raises NotFoundError."""
    document = store.find_document(_REPLAY)
    if document is None:
        raise _missing(store, "replay")
    return from_document(Replay, document, where=f"{store.path}, replay")


def get_tasks(store: RunStore) -> dict[str, Task]:
    """Return the tasks that were asked, by identifier; raises NotFoundError."""
    document = store.find_document(_TASKS)
    if document is None:
        raise _missing(store, "tasks")
    return {task.id: task for task in from_document(TasksFile, document, where=f"{store.path}, tasks").tasks}


def _missing(store: RunStore, what: str) -> NotFoundError:
    found = f"the folder holds no {what}: the run was never planned to its end"
    return NotFoundError(
        Fault(code="run-not-found", where=str(store.path), found=found, advice="run it again: caveat audit run REPLAY -o DIR")
    )
