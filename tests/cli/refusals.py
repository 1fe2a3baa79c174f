"""What the attacks on the command have in common: what a refusal looks like, how long the log is, and a disk that is full."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Answer, Caveat


def size_of(caveat: Caveat) -> int:
    """Return the number of log entries."""
    return int(caveat("admin", "log", "show", "--json").document["size"])


def check_refusal(answer: Answer, *codes: str) -> None:
    """Check that *answer* is a refusal in the family's words, with one of *codes* if any are given."""
    assert answer.code in (2, 3), answer
    assert "internal-error" not in answer.err
    assert answer.out == ""
    # "code: place" where the message has the title of the code between them.
    message = re.sub(r"error\[([^\]]+)\]: [^\n]*\n  --> ", r"\1: ", answer.err)
    assert not codes or any(code in text for code in codes for text in (message, answer.err)), answer.err


LIMITED = """
import resource, sys
from registry.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.argv = ["caveat", *sys.argv[1:]]
main()
"""


def run_limited(folder: Path, limit: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `caveat` where no file may grow beyond *limit* bytes, as on a full disk."""
    command = [sys.executable, "-c", LIMITED.format(limit=limit), *arguments]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, env=environ)
