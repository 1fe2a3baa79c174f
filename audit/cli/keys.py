"""One key from the terminal. What is typed ahead waits for its turn: `click.getchar` would take up to 32 characters for one key."""

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

LEFT, RIGHT = ("\x1b[D", "\x1bOD"), ("\x1b[C", "\x1bOC")
LEAVE = "q"
REDRAW = ""
"""No key: the terminal got another size, or the command was stopped and goes on."""
_ESCAPE_S = 0.05
"""How long the rest of an arrow key may take to follow its first byte; the escape key alone is followed by nothing."""
_LONGEST = 16


def read_key() -> str:
    """Wait for a key and return it: a character, or the sequence of an arrow key.

    Ctrl-C, Ctrl-D and a closed terminal are `q`; `REDRAW` where the terminal must be drawn again first.
    """
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        with _watch() as changed:
            if changed in select.select([terminal, changed], [], [])[0]:
                return REDRAW
        return _read(terminal)
    except KeyboardInterrupt:
        return LEAVE
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextmanager
def _watch() -> Iterator[int]:
    """Give what can be read as soon as the terminal must be drawn again; a signal alone would not end a wait (PEP 475)."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    handlers = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGWINCH, signal.SIGCONT)}
    try:
        yield reader
    finally:
        for one, handler in handlers.items():
            signal.signal(one, handler)
        signal.set_wakeup_fd(woken)
        os.close(reader)
        os.close(writer)


def _read(terminal: int) -> str:
    try:
        first = os.read(terminal, 1)
        if first in (b"", b"\x04"):
            return LEAVE
        rest = _read_sequence(terminal) if first == b"\x1b" else _read_character(terminal, first[0])
    except OSError:  # the terminal is gone
        return LEAVE
    return (first + rest).decode("utf-8", "replace")


def _read_sequence(terminal: int) -> bytes:
    """Return what follows the escape character: `[` or `O`, parameters, and one letter or `~`."""
    rest = b""
    while len(rest) < _LONGEST and select.select([terminal], [], [], _ESCAPE_S)[0]:
        byte = os.read(terminal, 1)
        rest += byte
        if not byte or (len(rest) > 1 and byte[0] >= 0x40) or (rest not in (b"[", b"O") and len(rest) == 1):
            break
    return rest


def _read_character(terminal: int, first: int) -> bytes:
    """Return the bytes of a character in UTF-8 after its first."""
    more = 3 if first >= 0xF0 else 2 if first >= 0xE0 else 1 if first >= 0xC0 else 0
    return b"".join(os.read(terminal, 1) for _ in range(more))
