"""One process at a time in a run folder; a killed one holds nothing."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.replay.store import RunStore
from registry.errors import ConflictError, Fault

_NAME = "run.lock"


@contextmanager
def hold_run(store: RunStore) -> Iterator[None]:
    """Hold the run folder of *store* until the context ends.

    The lock is the system's, on an open file: it ends with the process, however that ends.

    Raises:
        ConflictError: another process (or another run in this one) holds it.
    """
    path = Path(store.path).parent / _NAME
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            found = "another process is sending calls for it"
            advice = "wait until that one has ended, or stop it with Ctrl-C"
            raise ConflictError(Fault(code="run-busy", where=str(path.parent), found=found, advice=advice)) from error
        yield
