"""The search page of a site of files, in a browser that keeps its policy; and what an erasure leaves of it."""

import functools
import gzip
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from registry.errors import InputError
from registry.store.ledger import Ledger
from tests.cli.given_out import run
from web.pages.addresses import LinkStyle, PageSettings
from web.site import search_index
from web.site.site_check import check_site
from web.site.site_export import ExportResult, export_site

SETTINGS = PageSettings(links=LinkStyle.CLEAN, base="https://claims.example.org", has_index=True)
CLAIM = "CLM-AISI-2026-0003-O"


def write(ledger: Ledger, place: Path) -> ExportResult:
    with ledger.view() as view:
        return export_site(view, place, SETTINGS, open_view=ledger.view)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def site(ledger: Ledger, tmp_path: Path) -> Path:
    write(ledger, tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site at a file server on the loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def list_results(browser: Any, address: str, words: str) -> tuple[list[str], list[str]]:
    """Return where the results of a search lead, and what the console and the policy complain about."""
    from playwright.sync_api import expect

    page, complaints = browser.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if not request.url.startswith((address, "data:")) else None)
    page.goto(f"{address}/search/?q={words}")
    expect(page.locator("#state")).to_have_text(re.compile(r"^(\d+ claim|No claim)"))
    links = [link.get_attribute("href") for link in page.locator("#results a").all()]
    page.close()
    return links, complaints


def test_a_search_finds_a_claim_in_a_browser(browser: Any, ledger: Ledger, site: Path, address: str) -> None:
    """With its own policy, without a complaint of the browser; and no longer once its text was erased."""
    assert list_results(browser, address, "covert") == ([f"{address}/{CLAIM}/"], [])
    assert list_results(browser, address, "zyzzyva") == ([], [])
    assert check_site(ledger, site).faults == ()
    before = {path for path in site.rglob("*.pf_fragment") if b"covert" in gzip.decompress(path.read_bytes())}
    assert before
    with ledger.view() as view:
        claim = view.find_claim(CLAIM)
    assert claim is not None
    run("admin", "log", "erase", str(claim.entry.seq), "--reason", "a name", "--yes")

    write(ledger, site)

    assert list_results(browser, address, "covert") == ([], [])
    assert not [path for path in before if path.exists()]
    assert not [path for path in (site / search_index.FOLDER).rglob("*") if path.is_file() and b"covert" in _unpack(path)]
    assert check_site(ledger, site).faults == ()


def _unpack(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def test_an_index_stays_while_its_claims_are_the_same(ledger: Ledger, site: Path) -> None:
    run("model", "add", "LAB/M/2")
    before = {path: path.stat().st_mtime_ns for path in (site / search_index.FOLDER).rglob("*")}

    assert write(ledger, site).written > 0

    assert {path: path.stat().st_mtime_ns for path in (site / search_index.FOLDER).rglob("*")} == before


def test_only_the_search_page_has_a_script(site: Path) -> None:
    """Its policy allows WebAssembly there, in the page and in the headers of the host."""
    scripts = [path.relative_to(site).as_posix() for path in site.rglob("*.html") if b"<script" in path.read_bytes()]
    assert sorted(scripts) == ["search/index.html", "verify.html"]
    headers = (site / "_headers").read_text()
    assert headers.count("wasm-unsafe-eval") == 1
    assert headers.index("/search/") < headers.index("wasm-unsafe-eval")


def test_too_many_claims_are_refused(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "MOST_CLAIMS", 2)
    with ledger.view() as view, pytest.raises(InputError) as caught:
        search_index.refuse_many(view)
    assert "--no-search" in str(caught.value.faults[0].advice)
