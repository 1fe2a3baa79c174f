"""The registry over HTTP: the same bytes as a site of files, and an answer by name for what cannot be answered."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from registry.present.answer_formats import AnswerFormat
from registry.records.record import Kind, format_identifier
from registry.store.ledger import Ledger
from tests.cli.given_out import run
from web.cli.answer_formats import list_formats
from web.pages.addresses import PageSettings
from web.pages.security import POLICY
from web.server.application import RegistryServer, ServerSettings
from web.server.run import ServeRequest, check_request
from web.shelf.shelf_file import Shelf
from web.site.site_export import build_book

FIRST = "CLM-AISI-2026-0001-S"
SECOND = "CLM-AISI-2026-0002-Q"
ABSENT = format_identifier(Kind.CLAIM, "AISI", 2026, 9)
FORMATS = {format_.schema: format_ for format_ in list_formats()}


def build_client(ledger: Ledger, tmp_path: Path, settings: PageSettings) -> TestClient:
    server = RegistryServer(ledger, Shelf(ledger, tmp_path / "shelf.db"), ServerSettings(pages=settings, hosts=frozenset({"localhost"})))
    return TestClient(server.build_application(), base_url="http://localhost", follow_redirects=False)


@pytest.fixture
def client(ledger: Ledger, tmp_path: Path) -> Iterator[TestClient]:
    with build_client(ledger, tmp_path, PageSettings(has_search=True)) as client:
        yield client


def validate(document: Any) -> None:
    from jsonschema import Draft202012Validator

    format_: AnswerFormat = FORMATS[document["schema"]]
    Draft202012Validator(format_.build_schema()).validate(document)


def test_every_page_has_the_bytes_of_the_site(ledger: Ledger, tmp_path: Path) -> None:
    """With the same settings, whether facets are read from the shelf or counted from all claims."""
    for settings in (PageSettings(), PageSettings(has_search=True, base="https://claims.example.org")):
        with build_client(ledger, tmp_path, settings) as client, ledger.view() as view:
            book = build_book(view, settings)
            planned = list(book.plan())
            assert len(planned) > 60
            book.expect(page.address for page in planned)
            for page in planned:
                answer = client.get(page.address)
                made = book.find(page.address, state=page.state)
                assert answer.status_code == 200, page.address
                assert answer.content == made.body, page.address
                assert answer.headers["content-type"] == made.media_type
                # A server names the state of a list by the size of the log, which it knows without looking at their claims.
                state = book.list_state if page.state.startswith("l-") else page.state
                assert answer.headers["etag"] == f'"{state}"'


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/claims", "/claims/"),
        ("/claims?verdict=contradicted", "/claims/?verdict=contradicted"),
        (f"/{FIRST}", f"/{FIRST}/"),
        (f"/{FIRST.lower()}@1", f"/{FIRST}@1/"),
        (f"/{FIRST}/history", f"/{FIRST}/history/"),
        ("/claims/caf%C3%A9%20%3F", "/claims/caf%C3%A9%20%3F/"),
    ],
)
def test_an_address_without_its_slash_or_capitals_leads_on(client: TestClient, path: str, target: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.headers["location"]) == (308, target)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/nothing/", 404, "address-not-found"),
        ("/CLM-AISI-2026-0001-X/", 404, "address-not-found"),
        (f"/{FIRST}@9/", 404, "revision-not-found"),
        (f"/{ABSENT}/", 404, "not-registered"),
        (f"/{FIRST}/diff/1..7/", 404, "revision-not-found"),
        (f"/{FIRST}/diff/x/", 404, "address-not-found"),
        ("/claims/?verdikt=contradicted", 400, "bad-query"),
        ("/claims/?limit=0", 400, "bad-query"),
        ("/claims/?limit=2&limit=3", 400, "bad-query"),
        ("/claims/?after=5", 400, "bad-query"),
        ("/claims/?as_of=99999&after=4", 400, "bad-query"),
        ("/changes/?since=x", 400, "bad-query"),
        ("/cards/?verdict=contradicted", 400, "bad-query"),
        ("/claims/0/", 404, "address-not-found"),
        ("/claims/1/", 404, "address-not-found"),
        ("/claims/by-verdict/holds/", 404, "address-not-found"),
        ("/%00/", 400, "bad-query"),
        ("/%2e%2e/%2e%2e/etc/passwd", 404, "address-not-found"),
        ("/api/1/entries?after=99999", 400, "bad-query"),
    ],
)
def test_what_cannot_be_answered_is_named(client: TestClient, path: str, status: int, code: str) -> None:
    """As a problem for programs (RFC 9457), and as a page for people."""
    problem = client.get(path, headers={"Accept": "application/json"})
    page = client.get(path)

    assert (problem.status_code, page.status_code) == (status, status)
    if not path.startswith("/api/"):
        assert page.headers["content-type"].startswith("text/html")
        assert code in page.text
    assert problem.headers["content-type"] == "application/problem+json"
    document = problem.json()
    assert (document["status"], document["title"], document["type"]) == (status, code, f"/errors/#{code}")


def test_a_mistyped_identifier_is_answered_with_the_one_that_was_meant(client: TestClient) -> None:
    assert FIRST in client.get("/CLM-AISI-2026-0001-X/").text


def test_other_methods_and_other_hosts_are_refused(client: TestClient) -> None:
    posted = client.post("/claims/", content=b"x")
    foreign = client.get("/", headers={"Host": "evil.example"})

    assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD")
    assert foreign.status_code == 421


def test_every_answer_has_the_policy_that_forbids_scripts(client: TestClient) -> None:
    for path in ("/", f"/{FIRST}/", "/nothing/", "/api/1/claims", "/claims", "/feed.atom"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in headers


def test_head_has_the_headers_alone(client: TestClient) -> None:
    whole, bare = client.get(f"/{FIRST}/"), client.head(f"/{FIRST}/")

    assert bare.content == b""
    assert bare.headers["content-length"] == str(len(whole.content))
    assert bare.headers["etag"] == whole.headers["etag"]


def test_a_page_that_the_reader_has_is_not_sent_again_although_the_log_has_grown(folder: Path, client: TestClient) -> None:
    tags = {path: client.get(path).headers["etag"] for path in (f"/{SECOND}/", "/claims/")}
    run("claim", "withdraw", "CLM-AISI-2026-0003-O", "--reason", "retracted", "--yes")

    again = {path: client.get(path, headers={"If-None-Match": tag}) for path, tag in tags.items()}

    assert again[f"/{SECOND}/"].status_code == 304
    assert again[f"/{SECOND}/"].content == b""
    assert again["/claims/"].status_code == 200


def test_new_entries_appear_without_a_restart(folder: Path, client: TestClient) -> None:
    before = client.get("/api/1/claims?lifecycle=withdrawn").json()
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")

    after = client.get("/api/1/claims?lifecycle=withdrawn").json()

    assert (before["count"], after["count"]) == (0, 1)
    assert after["items"][0]["claim"] == f"{SECOND}@1"


def test_a_walk_through_a_list_sees_one_state(folder: Path, client: TestClient) -> None:
    """What is recorded while a program reads page after page is on none of them."""
    page = client.get("/api/1/claims?limit=1").json()
    seen = [page["items"][0]["claim"]]
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")
    while page["next"]:
        page = client.get(page["next"]).json()
        validate(page)
        seen += [item["claim"] for item in page["items"]]
        assert {item["status"]["lifecycle"] for item in page["items"]} <= {"registered", "published"}

    assert len(seen) == len(set(seen)) == 4
    assert page["log"]["size"] < client.get("/api/1/claims").json()["log"]["size"]


def test_documents_have_their_declared_formats(client: TestClient) -> None:
    for path in ("/api/1/claims?verdict=contradicted&q=model", "/api/1/entries?after=3&limit=5", "/api/1/index.json"):
        validate(client.get(path).json())


def test_the_log_is_followed_by_entry_numbers(client: TestClient) -> None:
    page = client.get("/api/1/entries?limit=5").json()
    numbers = [entry["entry"]["seq"] for entry in page["entries"]]
    while page["next"]:
        page = client.get(page["next"]).json()
        numbers += [entry["entry"]["seq"] for entry in page["entries"]]

    assert numbers == list(range(1, page["log"]["size"] + 1))


def test_the_record_of_a_claim_is_its_supplement(client: TestClient) -> None:
    record = client.get(f"/api/1/claims/{FIRST}").json()

    assert record["schema"] == "caveat/supplement/1"
    assert record["identifier"].startswith(f"{FIRST}@2#")
    assert client.get(f"/api/1/claims/{FIRST}@1").json()["identifier"].startswith(f"{FIRST}@1#")


def test_filters_narrow_and_words_must_all_occur(client: TestClient) -> None:
    contradicted = client.get("/api/1/claims?verdict=contradicted").json()
    either = client.get("/api/1/claims?verdict=contradicted&verdict=not_audited").json()
    words = client.get("/api/1/claims?q=model+REFUSED").json()
    hostile = client.get("/api/1/claims", params={"q": 'open "quotation mark AND NOT ('}).json()

    assert [item["claim"] for item in contradicted["items"]] == [f"{FIRST}@2"]
    # A facet's counts ignore its own selection.
    assert {value["value"]: value["count"] for value in contradicted["facets"]["verdict"]} == {"contradicted": 1, "not_audited": 3}
    assert either["count"] == 4
    assert [item["claim"] for item in words["items"]] == [f"{SECOND}@1"]
    assert hostile["count"] == 0


def test_changes_since_an_entry_name_the_claims_that_changed(folder: Path, ledger: Ledger, client: TestClient) -> None:
    with ledger.view() as view:
        size = view.log_size
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")

    page = client.get(f"/changes/?since={size}").text

    assert f"{SECOND}@1" in page
    assert f"{FIRST}@2" not in page


def test_every_page_can_be_read_as_it_was(folder: Path, ledger: Ledger, client: TestClient) -> None:
    """Links stay in the state that was chosen: they are relative."""
    with ledger.view() as view:
        size = view.log_size
    before = {path: client.get(path).content for path in ("/", "/claims/", f"/{SECOND}/", "/claims/?lifecycle=withdrawn", "/models/")}
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")

    assert {path: client.get(f"/as-of/{size}{path}").content for path in before} == before
    assert client.get(f"/{SECOND}/").content != before[f"/{SECOND}/"]
    assert client.get(f"/as-of/{size}").headers["location"] == f"/as-of/{size}/"
    assert client.get(f"/as-of/{size + 50}/").status_code == 400
    # A list names its entry where the address does not: in a walk that goes on in an earlier state.
    assert f"As of entry {size}." in client.get(f"/claims/?as_of={size}&after={size}").text
    assert "As of the entry that the page Status names." in client.get("/claims/").text


def test_a_list_is_exported_for_a_spreadsheet(client: TestClient) -> None:
    """With the columns of `caveat claim list --csv`, and no cell that a spreadsheet would compute."""
    whole, one = client.get("/claims.csv"), client.get("/claims.csv?verdict=contradicted")

    assert whole.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(whole.content.decode("utf-8-sig").strip().splitlines()) == 5
    assert one.content.decode("utf-8-sig").splitlines()[1].split(",")[1] == f"{FIRST}@2"


def test_a_program_gets_the_record_at_the_address_of_the_page(client: TestClient) -> None:
    record = client.get(f"/{FIRST}/", headers={"Accept": "application/json"})

    assert record.json()["schema"] == "caveat/supplement/1"
    assert record.headers["vary"] == client.get(f"/{FIRST}/").headers["vary"] == "Accept"


def test_another_address_than_loopback_needs_encryption() -> None:
    from registry.errors import InputError

    open_ = ServeRequest(host="0.0.0.0", port=8017, base=None, certificate=None, is_behind_proxy=False)  # noqa: S104  (what is refused)
    with pytest.raises(InputError):
        check_request(open_)
    check_request(ServeRequest(host="127.0.0.1", port=8017, base=None, certificate=None, is_behind_proxy=False))


def test_an_erased_claim_is_gone_and_says_so(folder: Path, client: TestClient, tmp_path: Path) -> None:
    """From its page, from searches, and from the file behind them."""
    name = "CLM-AISI-2026-0004-M"
    assert client.get("/api/1/claims?q=alert").json()["count"] == 1
    assert "alert(1)" in client.get(f"/{name}/").text
    from tests.cli.given_out import ask

    (entry,) = [entry["entry"]["seq"] for entry in ask("claim", "history", name)["entries"] if entry["entry"]["kind"] == "claim_revision"]
    run("admin", "log", "erase", str(entry), "--reason", "a name", "--yes")

    assert client.get(f"/{name}/").status_code == 410
    assert client.get("/api/1/claims?q=alert").json()["count"] == 0
    assert json.loads(client.get(f"/api/1/entries?after={entry - 1}&limit=1").content)["entries"][0]["statement"] is None
    assert b"alert" not in (tmp_path / "shelf.db").read_bytes()
