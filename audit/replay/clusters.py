"""Families of tasks and templates of contexts, as the documents of a run folder name them."""

from collections.abc import Mapping
from dataclasses import dataclass

from audit.replay.documents import get_replay, get_tasks, list_versions
from audit.replay.replayed import CONTEXTS
from audit.replay.store import RunStore
from registry.codec.documents import from_document
from registry.records.response import Cell
from registry.records.spec import ContextSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedClusters:
    """What tasks and contexts depend on, by name."""

    families: Mapping[str, str]
    """By the id of the task; tasks without a family are not in it."""
    templates: Mapping[tuple[str, str], str]
    """By arm and context id."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the score table that have anything to say."""
        return (*(("family",) if self.families else ()), *(("template",) if self.templates else ()))

    def list_values(self, cell: Cell) -> tuple[str | None, ...]:
        """Return the values of `columns` for a response."""
        values = {"family": self.families.get(cell.task_id), "template": self.templates.get((cell.arm, cell.context_id))}
        return tuple(values[name] for name in self.columns)


NONE = NamedClusters(families={}, templates={})


def read_clusters(store: RunStore) -> NamedClusters:
    """Return the families and templates that the run in *store* was planned with.

    Raises:
        NotFoundError: the folder holds no replay, or no tasks.
    """
    replay, versions = get_replay(store), list_versions(store, CONTEXTS)
    specs = {
        name: from_document(ContextSpec, one, where=f"{store.path}, {name}") for name, one in (versions[-1] if versions else {}).items()
    }
    return NamedClusters(
        families={task.id: task.family for task in get_tasks(store).values() if task.family},
        templates={
            (arm.arm, item.id): item.made_from
            for arm in replay.arms
            if arm.context in specs
            for item in specs[arm.context].contexts
            if item.made_from
        },
    )
