"""A terminal of our own: `caveat` runs in it as in a window, and what it draws is read back."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from pathlib import Path
from typing import Self

from tests.forkserver import ForkedCommand

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CLEAR = "\x1b[2J"
_PATIENCE_S = 60


class Terminal:
    """One call of `caveat` in a terminal, 80 columns wide and 50 lines high."""

    def __init__(self, commands: Path, folder: Path, *arguments: str, columns: int = 80, lines: int = 50, **environment: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        own = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "VISUAL", "EDITOR", "NO_COLOR")}
        own |= {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
        self._process = ForkedCommand(commands, arguments, folder=folder, environment=own, terminal=slave)
        os.close(slave)
        self._columns, self._seen = columns, ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        os.close(self._master)

    @property
    def raw(self) -> str:
        """Everything it drew since the last key, as it came."""
        return self._seen

    @property
    def screen(self) -> str:
        """What stands on the screen: what was drawn since it was cleared, without colours."""
        return _ESCAPES.sub("", self._seen.rpartition(_CLEAR)[2]).replace("\r", "")

    def wait_for(self, words: str) -> str:
        """Read until *words* stand on the screen, and return it."""
        end = time.monotonic() + _PATIENCE_S
        while words not in self.screen:
            if not self._read(max(0.0, end - time.monotonic())):
                raise AssertionError(f"{words!r} never came; the screen:\n{self.screen}")
        while self._read(0.05):
            pass
        return self.screen

    def press(self, keys: str, words: str) -> str:
        """Press *keys* and wait until *words* stand on the screen."""
        self._seen = ""
        os.write(self._master, keys.encode())
        return self.wait_for(words)

    def resize(self, *, lines: int) -> str:
        """Make the window lower or higher, and return what is drawn then."""
        self._seen = ""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, self._columns, 0, 0))
        return self.wait_for("q leave")

    def kill(self) -> None:
        """End it at once, as a machine that stops would."""
        self._process.kill()

    def wait(self) -> int:
        """Return its exit code, when it has ended by itself."""
        while self._read(1.0):
            pass
        return self._process.wait(_PATIENCE_S)

    def _read(self, seconds: float) -> bool:
        """Take what is there, waiting at most so long; False where nothing came."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # what Linux says when the other end is closed
            return False
        self._seen += self._decoder.decode(data)
        return bool(data)
