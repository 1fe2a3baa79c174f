"""Standard output and standard error of one call: a reader that stops listening does not change the exit code."""

import codecs
import io
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _PatientFile(io.RawIOBase):
    """Writes to an open descriptor, and drops what comes after its reader left or it could take no more."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._name = name
        self._is_dropping = False

    def writable(self) -> bool:
        """Whether it can be written to: yes."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, which stays open when this is closed."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._descriptor)

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write *data*; return how much of it was taken. A full disk is an OSError that names the stream."""
        count = memoryview(data).nbytes
        if self._is_dropping:
            return count
        try:
            return os.write(self._descriptor, data)
        except BrokenPipeError:
            # The reader left. What the command still writes is taken and dropped, so that its exit
            # code stays that of its answer.
            self._is_dropping = True
            return count
        except OSError as error:
            self._is_dropping = True  # what is still buffered would fail again when Python ends
            raise OSError(error.errno, error.strerror, self._name) from error


@contextmanager
def keep_streams() -> Iterator[None]:
    """Let standard output and standard error outlive their readers, and show characters that their encoding lacks as escapes.

    Streams that are not open files (in tests, or closed by the shell) stay as they are.
    """
    before = sys.stdout, sys.stderr
    # Both streams, since either can be a closed pipe.
    sys.stdout, sys.stderr = _wrap(before[0], "standard output"), _wrap(before[1], "standard error")
    try:
        yield
    finally:
        # The exit code is decided; an error while flushing must not change it.
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        sys.stdout, sys.stderr = before


def can_encode(character: str, stream: TextIO) -> bool:
    """Whether *stream* has *character* in its encoding."""
    try:
        character.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _wrap(stream: TextIO, name: str) -> TextIO:
    try:
        descriptor = stream.fileno()
        stream.flush()
    except (AttributeError, OSError, ValueError):  # closed by the shell; or no open file
        return stream
    # UTF-8 and its like have every character; other encodings show escapes instead of failing.
    is_unicode = codecs.lookup(stream.encoding).name.startswith("utf")
    errors = (stream.errors or "strict") if is_unicode else "backslashreplace"
    raw = io.BufferedWriter(_PatientFile(descriptor, name))
    # Errors appear at once, also where standard error is a file.
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors=errors, line_buffering=raw.isatty() or name == "standard error")


# Log messages, off unless `caveat -v` asks for them.


class _VisibleFormatter(logging.Formatter):
    """Makes control characters visible: file names and model names come from outside."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        from registry.present.answers import show

        return show(super().format(record)).replace("\n", "[U+000A]")


def log_to_stderr() -> None:
    """Send what Caveat logs to standard error; libraries log nothing there, since their messages may hold keys of endpoints."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_VisibleFormatter("%(relativeCreated)d ms %(name)s: %(message)s"))
    logger = logging.getLogger("caveat")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
