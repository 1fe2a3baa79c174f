"""Every kind of page in a real browser: no violation of accessibility rules, no message, no request to elsewhere, nothing cut off."""

import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.given_out import inside
from tests.cli.test_verify_published import read_vkey
from tests.report.layout import measure_overflow
from tests.web.conftest import open_ledger
from web.pages.addresses import PageSettings
from web.pages.security import find_headers
from web.site.site_export import export_site

FIRST = "CLM-AISI-2026-0001-S"
PAGES = (
    "/", "/claims/", "/models/", "/authorities/AISI/", "/changes/", "/status/", f"/{FIRST}/", f"/{FIRST}@1/", f"/{FIRST}/history/",
    f"/{FIRST}/diff/1..2/", "/CLM-AISI-2026-0002-Q/", "/CLM-AISI-2026-0004-M/", "/404.html", "CARD", "MODEL",
)  # fmt: skip

_IN_BOTH_SCHEMES = ("/", "/claims/", f"/{FIRST}/", "CARD")


class _Handler(SimpleHTTPRequestHandler):
    """A plain web host that sends the headers of `_headers`."""

    def end_headers(self) -> None:
        for name, value in find_headers(self.path).items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(_built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The site of the registry, at an address of this machine."""
    place = tmp_path_factory.mktemp("site")
    with inside(_built):
        ledger = open_ledger(_built)
        with ledger.view() as view:
            export_site(view, place, PageSettings(base="https://claims.example.org"), open_view=ledger.view)
        ledger.close()
    host = ThreadingHTTPServer(("127.0.0.1", 0), lambda *arguments: _Handler(*arguments, directory=str(place)))
    thread = threading.Thread(target=host.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{host.server_address[1]}", place
    host.shutdown()
    host.server_close()
    thread.join()


def find_address(place: Path, page: str) -> str:
    """Return the address of a page; of the one card and the one model version where *page* is their kind."""
    if page == "CARD":
        return next(f"/{path.name}/" for path in sorted(place.glob("CRD-*")) if "@" not in path.name)
    if page == "MODEL":
        return next(f"/{path.parent.relative_to(place)}/" for path in sorted(place.glob("models/*/*/*/index.html")))
    return page


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    """One tab for all pages; the accessibility checker is a script, which the policy of the pages forbids."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_asks_for_nothing_elsewhere(site: tuple[str, Path], tab: Any, name: str) -> None:
    """At the width of a screen and of a phone; and in the dark scheme."""
    from axe_playwright_python.sync_playwright import Axe

    host, place = site
    messages: list[str] = []
    requests: list[str] = []
    on_message = lambda message: messages.append(message.text)  # noqa: E731
    on_request = lambda request: requests.append(request.url)  # noqa: E731
    tab.on("console", on_message)
    tab.on("request", on_request)
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(host + find_address(place, name))
    found = []
    # Colours are the same on all pages.
    for scheme in ("light", "dark") if name in _IN_BOTH_SCHEMES else ("light",):
        tab.emulate_media(color_scheme=scheme)
        violations = Axe().run(tab).response["violations"]
        found += [(scheme, one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in violations]
    wide = measure_overflow(tab, 320)
    tab.remove_listener("console", on_message)
    tab.remove_listener("request", on_request)

    assert found == []
    assert wide[:3] == []
    assert messages == []
    assert {url for url in requests if not url.startswith(host)} == set()
    assert len(requests) <= 6


def test_a_page_works_under_its_own_policy(site: tuple[str, Path], browser: Any) -> None:
    """Style and fonts are loaded, and the browser reports no violation of the policy."""
    host, _ = site
    context = browser.new_context()
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(f"{host}/{FIRST}/")
    family = page.evaluate("getComputedStyle(document.body).fontFamily")
    loaded = page.evaluate("document.fonts.ready.then(fonts => fonts.size)")
    context.close()

    assert "Source Sans 3" in family
    assert loaded == 4
    assert messages == []


def test_the_verifier_of_a_site_checks_a_published_file(
    site: tuple[str, Path],
    _built: Path,  # noqa: PT019  (its files are the ones that are checked)
    browser: Any,
) -> None:
    """Under the headers of the site, which keep it apart from everything else there."""
    host, _ = site
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{host}/verify.html")
    page.set_input_files("#files", [str(path) for path in (_built / "out").glob("*.html") if path.name.startswith("CLM-")])
    page.fill("#keys", read_vkey(_built))
    page.click("button")
    page.wait_for_selector("#result h2")
    title = page.inner_text("#result h2")
    context.close()

    assert title.startswith("PASS")


def test_every_link_of_a_page_can_be_reached_by_keyboard(site: tuple[str, Path], tab: Any) -> None:
    """The first leads past the head to the content."""
    host, _ = site
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(f"{host}/claims/")
    count = tab.locator("a[href]").count()
    tab.keyboard.press("Tab")
    first = tab.evaluate("document.activeElement.textContent")
    reached = 1
    while reached < count:
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.tagName") != "A":
            break
        reached += 1

    assert first == "Skip to the content"
    assert reached == count
