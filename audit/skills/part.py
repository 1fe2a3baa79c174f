"""A run folder seen through a part of its design."""

from collections.abc import Iterator

from audit.replay.store import RunStore
from audit.skills.plan import Selection
from registry.records.response import Purpose, Response


class PartStore(RunStore):
    """The same store; of the replay's responses, it gives only those of a selection."""

    def __init__(self, store: RunStore, selection: Selection) -> None:
        super().__init__(store._connection, store.path)  # noqa: SLF001 (one connection: the whole store and its part see the same)
        self._keys = {key for cell, key in store.list_cells() if selection.holds(cell)}

    def list_responses(self, purpose: Purpose) -> Iterator[Response]:
        """Give the latest outcome of every call made for *purpose*, of the replay's only the selected ones."""
        for response in super().list_responses(purpose):
            if purpose is not Purpose.REPLAY or response.key in self._keys:
                yield response
