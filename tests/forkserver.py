"""`caveat` as a process without its start: a server that has loaded all modules forks one process for each command.

Such a process has its own working folder, environment, standard streams, caches and exit code, like any other; only the half second to a
second in which Python loads the modules is saved. Where the start itself is what a test looks at, the test starts the real command.
"""

import atexit
import fcntl
import gc
import importlib
import marshal
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_CLIENT = """\
#!{python} -IS
import _socket, marshal, os, sys
server = _socket.socket(_socket.AF_UNIX)
server.connect({address!r})
request = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ), False))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(request).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
while request:
    request = request[server.send(request):]
server.recv(4)
code = server.recv(1)
os._exit(code[0] if code else 70)
"""
_USUAL = (
    "init --code EXAMPLE",
    "card add CARD --publisher Example",
    "claim propose CRD-EXAMPLE-2026-0001-J",
    "claim add CLAIMS",
    "claim list",
    "claim show CLM-EXAMPLE-2026-0001-T",
    "claim show CLM-EXAMPLE-2026-0001-T --json",
    "report CLM-EXAMPLE-2026-0001-T --html --json -o out",
    "verify out/CLM-EXAMPLE-2026-0001-T@1.html",
    "admin log check",
)
_LOADED_LATE = (
    "alembic.command",
    "pikepdf",
    "pyarrow.parquet",
    "pyhanko.sign.signers",
    "rich.console",
    "rich.progress",
    "rich.table",
    "scipy.optimize",
    "scipy.stats",
    "sqlalchemy.dialects.sqlite",
)
"""Libraries that a command loads when it needs them."""


class ForkedCommand:
    """A `caveat` that was forked for the holder of a terminal, which becomes its controlling terminal."""

    def __init__(self, commands: Path, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], terminal: int) -> None:
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(str(commands.parent / "socket"))
        request = marshal.dumps((list(arguments), str(folder), dict(environment), True))
        socket.send_fds(self._server, [len(request).to_bytes(8, "big")], [terminal] * 3)
        self._server.sendall(request)
        self._pid = int.from_bytes(self._server.recv(4), sys.byteorder)
        self._code: int | None = None

    def kill(self) -> None:
        """End it at once, as a machine that stops would, unless it has ended."""
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)
            self.wait()

    def wait(self, timeout_s: float = 60) -> int:
        """Return its exit code when it has ended; -9 of one that was killed."""
        if self._code is None:
            self._server.settimeout(timeout_s)
            code = self._server.recv(1)
            self._code = code[0] if code else -signal.SIGKILL
            self._server.close()
        return self._code


@contextmanager
def run_fork_server(folder: Path) -> Iterator[Path]:
    """Yield a folder with an executable `caveat`, to be put first on PATH; the server runs until the end.

    Args:
        folder: an empty folder.
    """
    address = folder / "socket"
    commands = folder / "bin"
    commands.mkdir()
    command = commands / "caveat"
    command.write_text(_CLIENT.format(python=sys.executable, address=str(address)), encoding="utf-8")
    command.chmod(0o755)
    environment = os.environ | {"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, __file__, str(address)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=_ROOT
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == b"ready\n", "the server that forks `caveat` did not start"
            yield commands
        finally:
            server.terminate()


def _serve(address: str) -> None:
    """Fork a process for each command that is sent to *address*."""
    _load_modules()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)  # noqa: T201  (whoever started it waits for this)
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _load_modules() -> None:
    """Load all of Caveat, as the installed command would find it, and the libraries that it loads late."""
    from caveat_command import find_standard_library, put_installation_first

    sys.path[:] = put_installation_first(sys.path, str(_ROOT), find_standard_library())
    import audit
    import registry

    for package in (registry, audit):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in _LOADED_LATE:
        importlib.import_module(name)
    # Documents that the documentation prints are validated, too; made here, the schemas serve all commands.
    sys.path.append(str(_ROOT))
    from tests.answers import get_formats, get_validator, watch_answers

    for schema in get_formats():
        get_validator(schema)
    watch_answers()
    from tests.cheap_commands import share_statements, skip_syncs

    share_statements()
    skip_syncs()
    _warm_caches()


def _warm_caches() -> None:
    """Run commands that most pages run, so that their statements, formats and templates are compiled once."""
    card, claims = (str(_ROOT / "examples" / "card" / name) for name in ("card.md", "claims.yaml"))
    here = Path.cwd()
    streams = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("wb") as nowhere:
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)
        os.chdir(folder)
        for command in _USUAL:
            assert _call([{"CARD": card, "CLAIMS": claims}.get(word, word) for word in command.split()]) in (0, 3), command
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(here)


def _answer(connection: socket.socket) -> None:
    """Become the process of one command, send its exit code and end."""
    code = 70
    try:
        head, streams, _, _ = socket.recv_fds(connection, 8, 3)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        size = int.from_bytes(head, "big")
        request = b""
        while len(request) < size:
            request += connection.recv(size - len(request))
        connection.send(os.getpid().to_bytes(4, sys.byteorder))
        arguments, folder, environment, holds_terminal = marshal.loads(request)  # noqa: S302  (from our own client)
        if holds_terminal:  # so that Ctrl-C is a signal
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        code = _run(arguments, folder, environment)
    finally:
        connection.send(bytes([code]))
        os._exit(code)


def _run(arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Run `caveat` as the last thing of a process and return its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    try:
        return _call(arguments)
    finally:
        atexit._run_exitfuncs()


def _call(arguments: list[str]) -> int:
    from registry.cli.main import main

    sys.argv = ["caveat", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _serve(sys.argv[1])
