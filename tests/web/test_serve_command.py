"""`caveat serve` as a process: it answers over HTTP, follows the registry, and ends when it is interrupted."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.given_out import run


def _ask(port: int, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(process.communicate()[1].decode())


def test_the_server_answers_follows_the_registry_and_ends(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from caveat_command import main; main()", "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            _wait(port, process)
            status, page = _ask(port, "/CLM-AISI-2026-0001-S/")
            run("claim", "withdraw", "CLM-AISI-2026-0002-Q", "--reason", "retracted", "--yes")
            _, later = _ask(port, "/claims/?lifecycle=withdrawn")
            missing, _ = _ask(port, "/%2e%2e/%2e%2e/etc/passwd")
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)

    assert (status, missing) == (200, 404)
    assert b"Contradicted" in page
    assert b"CLM-AISI-2026-0002-Q@1" in later
    assert b"Traceback" not in errors
    assert process.returncode in (0, 130, -signal.SIGINT)


def test_two_processes_answer_at_one_address(folder: Path) -> None:
    """Each connection reaches one of them, all have the same bytes, one that is killed is named, and both end with the command."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from caveat_command import main; main()", "serve", "--processes", "2", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            _wait(port, process)
            answers = {_ask(port, "/claims/") for _ in range(20)}
            # The first process is stopped, so the second one answers.
            process.send_signal(signal.SIGSTOP)
            others = {_ask(port, "/claims/") for _ in range(3)}
            process.send_signal(signal.SIGCONT)
            (second,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
            os.kill(int(second), signal.SIGKILL)
            others |= {_ask(port, "/claims/") for _ in range(3)}
        finally:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)

    assert len(answers) == 1
    assert answers == others
    assert b"Traceback" not in errors
    assert f"process {second} ended with -9; the others go on without it".encode() in errors
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


def test_other_machines_are_refused_without_encryption(folder: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-c", "from caveat_command import main; main()", "serve", "--host", "0.0.0.0"],  # noqa: S104  (what is refused)
        cwd=folder, capture_output=True, check=False,
    )  # fmt: skip

    assert refused.returncode == 2
    assert b"--tls" in refused.stderr
