"""Whether the log is still what was recorded: looked at a stretch at a time, so that `/status/` can say so."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from registry.errors import AlteredError, CaveatError, Fault
from registry.store.ledger import Ledger
from registry.store.log_seals import find_root, list_checkpoints
from registry.store.registry_view import View

_STRETCH = 500
_MOST_FAULTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFault:
    """Something that is not as it was recorded."""

    fault: Fault
    since: datetime
    """When it was first seen."""


class LogInspection:
    """Goes through the log again and again. This is no proof, as who runs a server can change it: it is for those who run it."""

    def __init__(self, ledger: Ledger, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._lock = threading.Lock()
        self._place = 0
        self._faults: dict[str, KnownFault] = {}
        self._seen: set[str] = set()
        self.is_complete = False
        """Whether every entry was looked at since the start."""

    def list_faults(self) -> tuple[KnownFault, ...]:
        """Return what is not as it was recorded, the first seen first."""
        return tuple(self._faults.values())

    def add(self, error: AlteredError) -> None:
        """Take note of what a request came upon."""
        for fault in error.faults[:_MOST_FAULTS]:
            self._seen.add(fault.where)
            if len(self._faults) < _MOST_FAULTS:
                self._faults.setdefault(fault.where, KnownFault(fault=fault, since=self._clock()))

    def look(self) -> None:
        """Look at the next stretch of the log; at its end compare the last checkpoint, and begin again."""
        with self._lock:
            try:
                with self._ledger.view() as view:
                    self._look_at(view)
            # What cannot be read now is looked at later; requests say why.
            except CaveatError:
                return

    def _look_at(self, view: View) -> None:
        stop = min(view.log_size, self._place + _STRETCH)
        try:
            for _ in view.entries(self._place + 1, stop + 1):
                pass
        except AlteredError:
            self._look_one_by_one(view, stop)
        self._place = stop
        if stop < view.log_size:
            return
        checkpoints = list_checkpoints(view)
        if checkpoints and find_root(view, checkpoints[-1].checkpoint.size) != checkpoints[-1].checkpoint.root:
            found = "the entries give another root than the one that was signed"
            self.add(AlteredError(Fault("history-differs", f"checkpoint at {checkpoints[-1].checkpoint.size}", found)))
        # What was repaired is not seen again.
        self._faults = {where: known for where, known in self._faults.items() if where in self._seen}
        self._seen.clear()
        self._place, self.is_complete = 0, True

    def _look_one_by_one(self, view: View, stop: int) -> None:
        for number in range(self._place + 1, stop + 1):
            try:
                for _ in view.entries(number, number + 1):
                    pass
            except AlteredError as error:
                self.add(error)
