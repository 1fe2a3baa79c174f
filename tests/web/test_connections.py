"""The server at the other end of a socket: bytes that are no request, requests that never end, and too many connections."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from tests.web.conftest import open_ledger
from tests.web.test_server import FIRST
from web.server.connections import build_protocol
from web.server.limits import Limits
from web.server.run import ServeRequest, build_config, build_server

LIMITS = Limits(reads=0, connections=5)


@pytest.fixture(scope="module")
def port(_built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server in a thread, as `caveat serve` runs it, but less patient."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    ledger = open_ledger(_built)
    wanted = ServeRequest(host="127.0.0.1", port=port, base=None, certificate=None, is_behind_proxy=False, limits=LIMITS)
    config = build_config(build_server(ledger, wanted).build_application(), wanted)
    config.timeout_keep_alive = 1
    config.http = build_protocol(LIMITS, longest_request_s=0.5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.02)
    yield port
    server.should_exit = True
    thread.join()
    ledger.close()


def send(port: int, *parts: bytes) -> bytes:
    """Send *parts*, and return everything that comes before the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
        received = b""
        while more := connection.recv(65536):
            received += more
    return received


def ask(port: int, target: bytes, more: bytes = b"", method: bytes = b"GET") -> bytes:
    return send(port, method + b" " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + b"\r\n")


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"/../../etc/passwd", 404),
        (b"/%2e%2e/%2e%2e/etc/passwd", 404),
        (b"/claims/%00", 400),
        (b"/claims/%c0%ae%c0%ae/", 400),
        (b"/claims/%zz/", 404),
        (b"http://evil.example/", 400),
        (b"//evil.example/", 404),
        (b"*", 400),
        (b"/" + b"a" * 8200, 414),
        (b"/api/1/claims?q=" + b"a" * 8200, 414),
        (b"/%F0%9F%92%A9/", 404),
        (b"/claims/?limit=<script>", 400),
    ],
)
def test_an_address_that_no_page_has_is_answered_by_name(port: int, target: bytes, status: int) -> None:
    answer = ask(port, target, b"Accept: application/json\r\n")

    assert answer.startswith(b"HTTP/1.1 %d" % status)
    assert b"Traceback" not in answer


def test_what_is_no_request_is_refused_and_the_connection_ends(port: int) -> None:
    for data in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET", b"GET / HTTP/1.1", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b"):
        assert send(port, data + b"\r\n\r\n").startswith(b"HTTP/1.1 400"), data
    many = b"".join(b"X-%d: %s\r\n" % (number, b"a" * 100) for number in range(300))
    assert ask(port, b"/", many)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431")


def test_a_foreign_host_and_a_body_are_refused(port: int) -> None:
    foreign = send(port, b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    body = send(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
    chunked = send(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    written = ask(port, b"/api/1/claims", b"Content-Length: 0\r\n", method=b"DELETE")

    assert foreign.startswith(b"HTTP/1.1 421")
    assert body.startswith(b"HTTP/1.1 413")
    assert chunked.startswith(b"HTTP/1.1 413")
    assert written.startswith(b"HTTP/1.1 405")


def test_a_request_that_never_ends_is_not_waited_for(port: int) -> None:
    """Neither the first of a connection nor a later one; a whole request is answered."""
    head = b"GET /status/ HTTP/1.1\r\nHost: localhost\r\n"

    assert send(port, head) == b""
    assert send(port) == b""
    assert send(port, head + b"\r\n", head).count(b"HTTP/1.1 200") == 1


def test_one_address_has_so_many_connections_and_gets_others_when_these_end(port: int) -> None:
    held = []
    for _ in range(LIMITS.connections):
        # The server ends a connection that asks nothing, so each asks at once.
        connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        held.append(connection)
        connection.sendall(b"GET /errors/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    refused = send(port)
    for connection in held:
        connection.close()
    # The server sees the end of a connection a moment later.
    answers = (ask(port, b"/errors/") for _ in range(100))

    assert refused.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"Retry-After: 1" in refused
    assert any(answer.startswith(b"HTTP/1.1 200") for answer in answers)


def test_requests_one_after_the_other_on_a_connection_are_all_answered(port: int) -> None:
    one = b"GET /api/1/claims/%s/history HTTP/1.1\r\nHost: localhost\r\n\r\n" % FIRST.encode()
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

    assert send(port, one * 4 + last).count(b"HTTP/1.1 200") == 5


def test_a_file_is_sent_in_pieces_whose_end_is_marked(port: int) -> None:
    """A reader knows that nothing is missing, although no length was named."""
    answer = ask(port, b"/api/1/claims.jsonl")

    assert b"transfer-encoding: chunked" in answer.lower()
    assert answer.endswith(b"0\r\n\r\n")
