"""A run folder seen through a part of its design."""

from collections.abc import Iterator

from audit.replay.store import RunStore
from audit.skills.plan import Selection
from registry.records.response import Cell, Purpose, Response


class PartStore(RunStore):
    """The same store; of the design and the replay's responses, it gives only those of a selection."""

    def __init__(self, store: RunStore, selection: Selection) -> None:
        super().__init__(store._connection, store.path)  # noqa: SLF001 (one connection: the whole store and its part see the same)
        self._selection = selection
        self._keys = {key for _, key in self.list_cells()}

    def list_cells(self, *, by_name: bool = False) -> Iterator[tuple[Cell, str]]:
        """Give the selected cells with the keys of their calls, in the order of planning or of names."""
        return (one for one in super().list_cells(by_name=by_name) if self._selection.holds(one[0]))

    def count_cells(self) -> int:
        """Return the number of selected cells."""
        return sum(1 for _ in self.list_cells())

    def list_responses(self, purpose: Purpose) -> Iterator[Response]:
        """Give the latest outcome of every call made for *purpose*, of the replay's only the selected ones."""
        for response in super().list_responses(purpose):
            if purpose is not Purpose.REPLAY or response.key in self._keys:
                yield response
