"""What a server does with requests that cannot be answered, and with a registry that cannot be read: an answer by name, never a guess."""

import asyncio
import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from registry.errors import UnavailableError
from registry.store.ledger import Ledger
from tests.cli.given_out import run
from tests.web.test_server import FIRST, SECOND, validate
from web.pages.addresses import PageSettings
from web.server.application import RegistryServer, ServerSettings
from web.server.limits import LimitedApplication, Limits, count_by
from web.server.log_watch import LogWatch
from web.shelf.shelf_file import Shelf

THIRD = "CLM-AISI-2026-0003-O"


@pytest.fixture
def ledger(folder: Path) -> Iterator[Ledger]:
    """Open as the server opens it, but with less patience."""
    opened = Ledger.open(f"sqlite:///{folder / 'caveat.db'}", clock=lambda: datetime.now(UTC), salt=lambda: "0" * 32, wait_ms=50)
    yield opened
    opened.close()


@pytest.fixture
def server(ledger: Ledger, tmp_path: Path) -> RegistryServer:
    settings = ServerSettings(pages=PageSettings(has_search=True), hosts=frozenset({"localhost"}))
    return RegistryServer(ledger, Shelf(ledger, tmp_path / "shelf.db"), settings)


@pytest.fixture
def client(server: RegistryServer) -> Iterator[TestClient]:
    with TestClient(server.build_application(), base_url="http://localhost", follow_redirects=False) as client:
        yield client


# Addresses and methods.


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "GETT"])
def test_a_method_that_writes_is_refused_with_those_that_are_allowed(client: TestClient, method: str) -> None:
    answer = client.request(method, "/api/1/claims")

    assert (answer.status_code, answer.headers["allow"], answer.json()["title"]) == (405, "GET, HEAD", "method-not-allowed")


def test_another_digest_or_a_path_outside_is_no_address(client: TestClient) -> None:
    for path, status in (
        (f"/{FIRST}@2%230000000000000000/", 404),
        ("/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/..%2f..%2fetc/passwd", 404),
        ("/claims/%00", 400),
        ("/claims/%0a", 400),
        ("/claims/%c0%ae%c0%ae/", 400),
        ("/claims/%5c..%5c", 400),
        ("/" + "a/" * 2000, 404),
        ("/claims/?q=%ff", 400),
        ("/claims/?q=%22!%22", 400),
        ("/claims/?" + "&".join(f"q{number}=1" for number in range(500)), 400),
    ):
        answer = client.get(path, headers={"Accept": "application/json"})
        assert answer.status_code == status, path
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_part_of_a_page_is_the_whole_page(client: TestClient) -> None:
    whole = client.get(f"/{FIRST}/")
    part = client.get(f"/{FIRST}/", headers={"Range": "bytes=0-10"})

    assert (part.status_code, part.content) == (200, whole.content)


# Limits.


class Requests:
    """Requests from one address after the other, at a time that the test sets."""

    def __init__(self, limits: Limits) -> None:
        self.now = 0.0
        self.application = LimitedApplication(self._answer, limits, lambda: self.now)
        self.asked = 0

    async def _answer(self, _scope: Any, _receive: Any, send: Any) -> None:
        self.asked += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def ask(self, address: str = "192.0.2.1", path: bytes = b"/", headers: Any = (), method: str = "GET") -> tuple[int, dict[str, str]]:
        """Return status and headers of the answer to one request."""
        scope = {"type": "http", "client": (address, 1), "raw_path": path, "query_string": b"", "headers": list(headers), "method": method}
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.application(scope, None, send))  # type: ignore[arg-type]
        return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_an_address_may_ask_so_often_in_a_second_and_each_answer_says_what_is_left() -> None:
    requests = Requests(Limits(reads=5))
    answers = [requests.ask() for _ in range(6)]

    assert [status for status, _ in answers] == [200] * 5 + [429]
    assert answers[1][1] == {"ratelimit-policy": '"read";q=5;w=1', "ratelimit": '"read";r=3;t=1'}
    assert answers[5][1]["retry-after"] == "1"
    assert requests.ask("192.0.2.2")[0] == 200
    requests.now = 0.4
    assert [requests.ask()[0] for _ in range(3)] == [200, 200, 429]


def test_a_network_of_version_6_is_one_reader_and_version_4_in_it_an_address() -> None:
    assert count_by("2001:db8::1") == count_by("2001:db8::ffff") == "2001:db8::/64"
    assert count_by("2001:db8:0:1::1") != count_by("2001:db8::1")
    assert count_by("::ffff:192.0.2.1") == "192.0.2.1"


def test_only_a_server_behind_a_proxy_believes_whom_a_request_names() -> None:
    """And then the last part, which the proxy adds: what comes before is the reader's word."""
    alone, behind = Requests(Limits(reads=1)), Requests(Limits(reads=1, is_behind_proxy=True))
    first, second = [(b"x-forwarded-for", b"192.0.2.7, 198.51.100.1")], [(b"x-forwarded-for", b"192.0.2.7, 198.51.100.2")]

    assert [alone.ask(headers=headers)[0] for headers in (first, second)] == [200, 429]
    assert [behind.ask(headers=headers)[0] for headers in (first, second, first)] == [200, 200, 429]


def test_what_is_too_large_is_refused_before_it_is_read() -> None:
    requests = Requests(Limits())

    assert requests.ask(path=b"/" + b"a" * 8192)[0] == 414
    assert requests.ask(headers=[(b"x", b"a" * 16384)])[0] == 431
    for headers in ([(b"content-length", b"5")], [(b"transfer-encoding", b"chunked")]):
        status, answered = requests.ask(headers=headers)
        assert (status, answered["connection"]) == (413, "close")
    assert requests.asked == 0
    assert requests.ask(headers=[(b"content-length", b"0")])[0] == 200


def test_so_many_requests_of_one_address_run_at_a_time() -> None:
    waiting = asyncio.Event()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await waiting.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask_all() -> list[int]:
        application, statuses = LimitedApplication(answer, Limits(reads=0, connections=2), lambda: 0.0), []

        async def send(message: Any) -> None:
            statuses.extend([message["status"]] if "status" in message else [])

        scope = {"type": "http", "client": ("192.0.2.1", 1), "headers": [], "method": "GET"}
        tasks = [asyncio.create_task(application(dict(scope), None, send)) for _ in range(3)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        waiting.set()
        await asyncio.gather(*tasks)
        return statuses

    assert asyncio.run(ask_all()) == [429, 200, 200]


def test_a_question_that_takes_too_long_is_stopped_and_the_next_one_has_its_own_time(ledger: Ledger) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with ledger.view(query_limit_s=0.05) as view:
        with pytest.raises(UnavailableError) as stopped:
            view.driver_rows(endless)
        assert stopped.value.code == "too-broad"
        assert view.count_claims() == 4
    # Without a limit nothing is stopped: the connection is used again.
    with ledger.view() as view:
        assert view.driver_rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT count(*) FROM n")


def test_a_search_that_takes_too_long_shows_no_part_of_its_answer(server: RegistryServer, client: TestClient) -> None:
    class Slow:
        def read(self, _view: Any) -> Any:
            raise sqlite3.OperationalError("interrupted")

    server._shelf = Slow()  # type: ignore[assignment]
    answer = client.get("/api/1/claims?q=model")

    assert (answer.status_code, answer.json()["title"]) == (503, "too-broad")
    assert "claims.jsonl" in answer.json()["advice"]
    assert "retry-after" in answer.headers


# Waiting for entries.


def test_a_program_waits_for_the_next_entry_and_gets_it(folder: Path, client: TestClient) -> None:
    import threading

    size = client.get("/api/1/status").json()["log"]["size"]
    writer = threading.Timer(0.3, run, ("claim", "withdraw", SECOND, "--reason", "retracted", "--yes"))
    writer.start()
    answer = client.get(f"/api/1/entries?after={size}&wait=25").json()
    writer.join()

    assert [entry["entry"]["kind"] for entry in answer["entries"]] == ["claim_event"]
    assert client.get("/api/1/entries?after=2&limit=1&wait=25").json()["entries"][0]["entry"]["seq"] == 3


def test_any_number_of_waiting_requests_look_at_the_log_once_and_block_no_other() -> None:
    looks = 0

    def look() -> int:
        nonlocal looks
        looks += 1
        return 7 if looks < 3 else 8

    async def wait_all() -> None:
        watch = LogWatch(look)
        await asyncio.gather(*(watch.wait(7, 20) for _ in range(500)))

    asyncio.run(wait_all())
    assert looks == 3


# A registry that cannot be read.


@contextmanager
def lock_whole(folder: Path, ledger: Ledger) -> Iterator[None]:
    """Hold the database alone, as a repair does."""
    ledger.release()
    holder = sqlite3.connect(folder / "caveat.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    yield
    holder.close()


@contextmanager
def migrate_half(folder: Path, _ledger: Ledger) -> Iterator[None]:
    with sqlite3.connect(folder / "caveat.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    yield
    with sqlite3.connect(folder / "caveat.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '0001'")


@pytest.mark.parametrize(("break_", "code"), [(lock_whole, "registry-busy"), (migrate_half, "registry-not-current")])
def test_while_the_registry_cannot_be_read_known_pages_say_of_which_entry_they_are(
    folder: Path, ledger: Ledger, client: TestClient, break_: Callable[..., Any], code: str
) -> None:
    before = client.get(f"/{FIRST}/")
    size = client.get("/api/1/status").json()["log"]["size"]
    with break_(folder, ledger):
        page, other, document = client.get(f"/{FIRST}/"), client.get(f"/{SECOND}/"), client.get("/api/1/claims")
    after = client.get(f"/{FIRST}/")

    assert page.status_code == 200
    assert f"cannot be read now ({code}). This page shows it as of entry {size}." in page.text
    assert page.text.replace(page.text[page.text.index('\n<div class="banner"') : page.text.index("</div>") + 6], "") == before.text
    assert (page.headers["cache-control"], "etag" in page.headers) == ("no-store", False)
    assert (other.status_code, document.status_code) == (503, 503)
    assert (document.json()["title"], document.headers["retry-after"]) == (code, "5")
    assert after.content == before.content


def test_a_damaged_file_for_searches_is_made_again(folder: Path, client: TestClient, tmp_path: Path) -> None:
    client.get("/api/1/claims")
    (tmp_path / "shelf.db").write_bytes(b"no database" * 1000)
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")

    withdrawn = client.get("/api/1/claims?lifecycle=withdrawn&q=model").json()
    assert [item["claim"] for item in withdrawn["items"]] == [f"{SECOND}@1"]


@contextmanager
def fill_disk() -> Iterator[None]:
    """Let no file of this process grow: SQLite then gets the errors of a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_on_a_full_disk_lists_are_those_of_the_last_good_entry_and_pages_are_new(folder: Path, client: TestClient) -> None:
    before = client.get("/api/1/claims").json()
    client.get("/claims/?lifecycle=withdrawn")
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")
    with fill_disk():
        claims, page, claim = client.get("/api/1/claims"), client.get("/claims/?lifecycle=withdrawn"), client.get(f"/{SECOND}/")
    after = client.get("/api/1/claims?lifecycle=withdrawn").json()

    assert claims.json() == before
    assert f"cannot be read now (search-unavailable). This page shows it as of entry {before['log']['size']}." in page.text
    assert "withdrawn" in claim.text
    assert "cannot be read now" not in claim.text
    assert after["count"] == 1


# An altered entry.


def alter(folder: Path, kind: str, name: str) -> int:
    """Change the text of the entry of one *kind* that names *name*, past the guards, and return its number."""
    with sqlite3.connect(folder / "caveat.db") as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'body'").fetchall():
            database.execute(f'DROP TRIGGER "{trigger}"')
        wanted = "SELECT entry.seq FROM entry JOIN body USING (log, seq) WHERE kind = ? AND json LIKE ?"
        (number,) = database.execute(wanted, (kind, f"%{name}%")).fetchone()
        database.execute('UPDATE body SET json = replace(json, \'"salt":"\', \'"salt":"f\') WHERE seq = ?', (number,))
    return int(number)


def test_pages_that_rest_on_an_altered_entry_name_it_and_others_go_on(folder: Path, client: TestClient) -> None:
    assert client.get("/status/").status_code == 200
    number = alter(folder, "claim_revision", THIRD)
    ways = (f"/{THIRD}/", f"/api/1/claims/{THIRD}", f"/api/1/claims/{THIRD}/history", f"/api/1/entries/{number}", "/api/1/entries")
    altered = {path: client.get(path, headers={"Accept": "application/json"}) for path in ways}

    for path, answer in altered.items():
        assert (answer.status_code, answer.json()["title"]) == (500, "entry-altered"), path
        assert answer.json()["where"] == f"entry {number}"
    assert f"entry {number}" in client.get(f"/{THIRD}/").text
    for path in (f"/{FIRST}/", f"/{SECOND}/", "/errors/", "/models/", f"/api/1/entries?after={number}"):
        assert client.get(path).status_code == 200, path
    status, page = client.get("/api/1/status").json(), client.get("/status/")
    validate(status)
    assert [fault["where"] for fault in status["faults"]] == [f"entry {number}"]
    assert "Altered entries" in page.text
    assert f"entry {number}" in page.text


def test_a_server_starts_on_an_altered_registry_and_says_so_before_anyone_asks_for_the_page(
    folder: Path, ledger: Ledger, tmp_path: Path
) -> None:
    from web.server.run import ServeRequest, build_server

    number = alter(folder, "restriction", FIRST)
    server = build_server(ledger, ServeRequest(host="localhost", port=1, base=None, certificate=None, is_behind_proxy=False))
    with TestClient(server.build_application(), base_url="http://localhost") as client:
        status = client.get("/api/1/status").json()
        assert [fault["where"] for fault in status["faults"]] == [f"entry {number}"]
        assert status["is_complete"]
        assert client.get("/status/").status_code == 200
        assert client.get(f"/{SECOND}/").status_code == 200
        assert client.get(f"/{FIRST}/").status_code == 500
