"""Answers that a server keeps: only for one size of the log, and never more than a limit."""

from pathlib import Path

from starlette.testclient import TestClient

from registry.store.ledger import Ledger
from tests.cli.given_out import run
from web.pages.addresses import PageSettings
from web.server.answer_cache import AnswerCache, KeptAnswer
from web.server.application import RegistryServer, ServerSettings
from web.shelf.shelf_file import Shelf


def build(size: int) -> KeptAnswer:
    return KeptAnswer(body=b"x" * size, media_type="text/plain", headers={}, status=200, state="l-1", is_final=True)


def test_the_answers_that_were_asked_for_longest_ago_make_room() -> None:
    cache = AnswerCache(most_bytes=10_000)
    for name in "abc":
        cache.keep((f"/{name}/", "", False), build(2_000))
    assert cache.find(("/a/", "", False)) is not None
    cache.keep(("/d/", "", False), build(2_000))
    assert [name for name in "abcd" if cache.find((f"/{name}/", "", False))] == ["a", "c", "d"]
    # One answer in the place of another does not count twice.
    for _ in range(10):
        cache.keep(("/a/", "", False), build(2_000))
    assert len(cache) == 3


def test_an_entry_of_the_log_empties_it() -> None:
    cache = AnswerCache()
    cache.follow(7)
    cache.keep(("/", "", False), build(1))
    cache.follow(7)
    assert len(cache) == 1
    cache.follow(8)
    assert cache.find(("/", "", False)) is None


def test_a_kept_answer_is_the_one_that_a_new_server_makes(folder: Path, ledger: Ledger, tmp_path: Path) -> None:
    """With all headers, by path, query and preference; a new entry is on the page at once."""
    settings = ServerSettings(pages=PageSettings(has_search=True), hosts=frozenset({"testserver"}))
    claim, json_ = "/CLM-AISI-2026-0002-Q/", {"Accept": "application/json"}
    asked = [(path, {}) for path in ("/", "/claims/?form=prevalence", "/api/1/claims?form=prevalence", "/api/1/claims", claim, "/cards/")]

    def answer(server: RegistryServer, times: int) -> list[tuple[int, bytes, dict[str, str]]]:
        client = TestClient(server.build_application())
        answers = [client.get(path, headers=headers) for _ in range(times) for path, headers in (*asked, (claim, json_))]
        return [(one.status_code, one.content, dict(one.headers)) for one in answers]

    server = RegistryServer(ledger, Shelf(ledger, tmp_path / "shelf.db"), settings)
    first, again = answer(server, 1), answer(server, 1)
    assert first == again
    assert len({body for _, body, _ in first}) == len(first)
    tag = first[2][2]["etag"]
    assert TestClient(server.build_application()).get("/api/1/claims?form=prevalence", headers={"If-None-Match": tag}).status_code == 304
    run("claim", "withdraw", claim.strip("/"), "--reason", "retracted", "--yes")

    later = answer(server, 2)
    assert b"ithdrawn" in later[4][1]
    assert b"withdrawn" in later[3][1]
    fresh = RegistryServer(ledger, Shelf(ledger, tmp_path / "fresh.db"), settings)
    assert later == answer(fresh, 1) * 2
    for one in (server, fresh):
        one.close()
