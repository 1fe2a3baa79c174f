"""The PostgreSQL servers of test runs that were killed do not stay in memory."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.postgres import remove_leftovers

_OWNER = """
import sys, tempfile
from pathlib import Path
from tests.postgres import _PREFIX, _own
folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=sys.argv[1]))
owner = _own(folder)
print(folder, flush=True)
sys.stdin.read()
"""


def test_the_folder_of_a_server_is_removed_once_its_run_was_killed_and_not_before() -> None:
    command = [sys.executable, "-c", _OWNER, tempfile.gettempdir()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        folder = Path(run.stdout.readline().strip())
        remove_leftovers()
        assert folder.is_dir()
        run.send_signal(signal.SIGKILL)
    remove_leftovers()
    assert not folder.exists()
