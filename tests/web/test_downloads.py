"""Published files as downloads, on a site and on a server; and that an erased text is in none of what they offer."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from registry.store.ledger import Ledger
from tests.cli.given_out import ask, run
from tests.web.test_site import read
from web.pages.addresses import LinkStyle, PageSettings
from web.pages.security import SUPPLEMENT_POLICY
from web.pages.supplement_files import SupplementFolder
from web.server.application import RegistryServer, ServerSettings
from web.shelf.shelf_file import Shelf
from web.site.site_check import check_site
from web.site.site_export import build_book, export_site

FIRST = "CLM-AISI-2026-0001-S"
SECOND = "CLM-AISI-2026-0002-Q"
SETTINGS = PageSettings(has_search=True, base="https://claims.example.org")


@pytest.fixture
def client(folder: Path, ledger: Ledger, tmp_path: Path) -> Iterator[TestClient]:
    chosen = ServerSettings(pages=SETTINGS, hosts=frozenset({"localhost"}), supplements=SupplementFolder(folder / "out"))
    server = RegistryServer(ledger, Shelf(ledger, tmp_path / "shelf.db"), chosen)
    with TestClient(server.build_application(), base_url="http://localhost", follow_redirects=False) as client:
        yield client


def write(ledger: Ledger, place: Path, supplements: Path | None) -> None:
    with ledger.view() as view:
        export_site(view, place, PageSettings(links=LinkStyle.FILES), open_view=ledger.view, supplements=supplements)


def test_published_files_are_part_of_a_site(folder: Path, ledger: Ledger, tmp_path: Path) -> None:
    """Byte for byte, with their proofs; a file that is not what the log recorded is left out."""
    write(ledger, tmp_path / "site", folder / "out")
    names = (f"{SECOND}@1.html", f"{SECOND}@1.json", f"{SECOND}@1.json.tlog-proof")

    for name in names:
        assert (tmp_path / "site" / name).read_bytes() == (folder / "out" / name).read_bytes()
    page = (tmp_path / "site" / SECOND / "index.html").read_text("utf-8")
    assert all(f'href="../{name}"' in page for name in names)
    assert check_site(ledger, tmp_path / "site").faults == ()

    (folder / "out" / f"{SECOND}@1.json").write_text("{}", encoding="utf-8")
    write(ledger, tmp_path / "altered", folder / "out")
    assert not (tmp_path / "altered" / f"{SECOND}@1.json").exists()
    assert (tmp_path / "altered" / f"{SECOND}@1.html").exists()
    write(ledger, tmp_path / "none", None)
    assert not list((tmp_path / "none").glob("*.tlog-proof"))


def test_published_files_are_served_apart_from_the_pages(folder: Path, ledger: Ledger, client: TestClient) -> None:
    shown, saved = client.get(f"/{SECOND}@1.html"), client.get(f"/{SECOND}@1.json")

    assert shown.content == (folder / "out" / f"{SECOND}@1.html").read_bytes()
    assert shown.headers["content-security-policy"] == SUPPLEMENT_POLICY
    assert saved.json()["schema"] == "caveat/supplement/1"
    assert saved.headers["content-disposition"] == f'attachment; filename="{SECOND}@1.json"'
    assert saved.headers["content-security-policy"].startswith("sandbox")
    assert client.get(f"/{SECOND}@1.json.tlog-proof").headers["content-type"] == "text/plain; charset=utf-8"
    for absent in (f"/{SECOND}@1.pdf", f"/{FIRST}@1.json", f"/{SECOND}@2.json", f"/{SECOND}@1.json.pdf"):
        assert client.get(absent).status_code == 404


def test_every_page_of_a_server_with_files_has_the_bytes_of_the_site(folder: Path, ledger: Ledger, client: TestClient) -> None:
    with ledger.view() as view:
        book = build_book(view, SETTINGS, folder / "out")
        planned = [page for page in book.plan() if SECOND in page.address]
        assert len(planned) > 10
        for page in planned:
            assert client.get(page.address).content == book.find(page.address, state=page.state).body, page.address


def test_a_saved_search_has_a_feed(client: TestClient) -> None:
    """With the entries about the claims that pass now; the page of the search announces it."""
    feed = client.get("/claims/feed.json?verdict=contradicted")
    items = feed.json()["items"]

    assert feed.headers["content-type"] == "application/feed+json"
    assert {item["title"].partition(":")[0] for item in items} == {FIRST}
    assert f"{FIRST}: restriction by AISI" in {item["title"] for item in items}
    assert feed.json()["feed_url"] == "https://claims.example.org/claims/feed.json?verdict=contradicted"
    assert 'href="feed.atom?verdict=contradicted"' in client.get("/claims/?verdict=contradicted").text
    assert client.get("/claims/feed.atom?verdict=contradicted").text.startswith("<?xml")
    assert client.get("/claims/feed.atom?verdikt=contradicted").status_code == 400
    assert client.get("/claims/feed.atom?verdict=contradicted&limit=3").status_code == 400


def _add_words(folder: Path) -> list[int]:
    """Record a claim and an objection with one rare word each, and publish what shows them; return their entries."""
    run("contest", "open", SECOND, "--reason", "the Quokka was not asked")
    document = json.loads(Path("revised.json").read_text("utf-8"))
    document["claims"] = [{"quote": "The Zebrafish never lies", "quote_status": "paraphrase", "form": "existence", "property": "scheming"}]
    Path("zebrafish.json").write_text(json.dumps(document), encoding="utf-8")
    (claim,) = ask("claim", "add", "zebrafish.json")["added"]
    for name in (SECOND, claim):
        run("report", name, "--json", "-o", "out", "--publish", "--yes")
    wanted = ((SECOND, "objection"), (claim.partition("@")[0], "claim_revision"))
    return [
        entry["entry"]["seq"]
        for name, kind in wanted
        for entry in ask("claim", "history", name)["entries"]
        if entry["entry"]["kind"] == kind
    ]


def test_an_erased_word_is_in_nothing_that_a_site_or_server_offers(
    folder: Path, ledger: Ledger, client: TestClient, tmp_path: Path
) -> None:
    """Pages, feeds, answers, searches, lists for spreadsheets, published files, and the file behind searches: by their bytes."""
    # The file behind searches leaves out the letters that the word before begins with, too.
    words = (b"quokka", b"zebrafish", b"rafish")
    entries = _add_words(folder)

    def list_offers() -> Iterator[tuple[str, bytes]]:
        with ledger.view() as view:
            planned = [page.address for page in build_book(view, SETTINGS, folder / "out").plan()]
        searches = [f"/{page}?q={word}" for word in ("quokka", "zebrafish") for page in ("api/1/claims", "claims/")]
        more = ("/api/1/entries?limit=500", "/claims.csv", "/claims/feed.atom?lifecycle=registered", "/changes/?since=1")
        for address in (*planned, *searches, *more):
            yield address, client.get(quote(address, safe="/?=&@.~%")).content
        for name, data in read(tmp_path / "site").items():
            yield f"site: {name}", data
        for path in tmp_path.glob("shelf.db*"):
            yield f"shelf: {path.name}", path.read_bytes()

    def find_words() -> set[str]:
        # A search repeats the word that was asked for.
        return {name for name, data in list_offers() if any(word in data.lower() for word in words) and "q=" not in name}

    write(ledger, tmp_path / "site", folder / "out")
    before = find_words()
    for entry in entries:
        run("admin", "log", "erase", str(entry), "--reason", "a name", "--yes")
    write(ledger, tmp_path / "site", folder / "out")

    assert len(entries) == 2
    assert before >= {f"/{SECOND}/", "/CON-AISI-2026-0002-R/", f"site: {SECOND}/index.html", "/claims.csv", "/feed.atom"}
    assert [name for name in before if name.startswith("shelf")]
    assert [name for name in before if name.startswith("site: CLM") and "entry-" in name and name.endswith(".json")]
    assert find_words() == set()
    assert client.get("/api/1/claims?q=zebrafish").json()["count"] == 0
    assert check_site(ledger, tmp_path / "site").faults == ()
    digest = hashlib.sha256((tmp_path / "site" / f"{SECOND}@1.html").read_bytes()).hexdigest()
    assert digest == hashlib.sha256((folder / "out" / f"{SECOND}@1.html").read_bytes()).hexdigest()
