"""Every kind of page in a real browser: no violation of accessibility rules, no message, no request to elsewhere, nothing cut off."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from registry.records.record import Kind, format_identifier
from tests.cli.given_out import inside
from tests.cli.test_verify_published import read_vkey
from tests.report.layout import measure_overflow
from tests.soaking import IS_SOAK
from tests.web.conftest import open_ledger
from web.pages.addresses import PageSettings
from web.pages.security import find_headers
from web.site.site_export import export_site

FIRST = "CLM-AISI-2026-0001-S"
AUDIT = format_identifier(Kind.AUDIT, "AISI", 2026, 1)
_EVERY_PAGE = (
    "/", "/claims/", "/models/", "/authorities/AISI/", "/changes/", "/status/", "/errors/", "/404.html", f"/{FIRST}/", f"/{FIRST}@1/",
    f"/{FIRST}/history/", f"/{FIRST}/diff/1..2/", f"/{FIRST}/audits/", f"/{FIRST}/contest/", "/CLM-AISI-2026-0002-Q/",
    "/CLM-AISI-2026-0004-M/", f"/{AUDIT}/", "/CON-AISI-2026-0002-R/", "/CTX-AISI-2026-0001-J/", "/CTX-AISI-2026-0002-H/",
    "/CUE-AISI-2026-0001-X/", "/MTH-AISI-2026-0001-F/", "/SCF-AISI-2026-0001-S/", "/PRP-AISI-2026-0001-I/", "/CRD-AISI-2026-0001-1/",
    "/CRD-AISI-2026-0001-1/coverage/", "/CRD-AISI-2026-0001-1/diff/1..2/", "MODEL", "COMPARISON",
)  # fmt: skip
"""One page of each kind, and those with texts that try to leave their place."""
_ALIKE = frozenset({"/models/", "/errors/", f"/{FIRST}/", "/CLM-AISI-2026-0002-Q/", "/SCF-AISI-2026-0001-S/", "/PRP-AISI-2026-0001-I/"})
"""Pages of which another one has all parts: only `make soak` opens them, and every page in every scheme."""
PAGES = tuple(page for page in _EVERY_PAGE if IS_SOAK or page not in _ALIKE)

_IN_ALL_SCHEMES = _EVERY_PAGE if IS_SOAK else (f"/{FIRST}@1/", "COMPARISON")
"""Colours come from one style sheet: these pages have all of them."""
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


class _Handler(SimpleHTTPRequestHandler):
    """A plain web host that sends the headers of `_headers`."""

    def end_headers(self) -> None:
        for name, value in find_headers(self.path).items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(_rich: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The site of the registry, at an address of this machine."""
    place = tmp_path_factory.mktemp("site")
    with inside(_rich):
        ledger = open_ledger(_rich)
        with ledger.view() as view:
            settings = PageSettings(base="https://claims.example.org")
            export_site(view, place, settings, open_view=ledger.view, supplements=_rich / "out")
        ledger.close()
    host = ThreadingHTTPServer(("127.0.0.1", 0), lambda *arguments: _Handler(*arguments, directory=str(place)))
    thread = threading.Thread(target=host.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{host.server_address[1]}", place
    host.shutdown()
    host.server_close()
    thread.join()


def find_address(place: Path, page: str) -> str:
    """Return the address of a page; of the last model version and of the one comparison where *page* is their kind."""
    patterns = {"MODEL": "models/*/*/*/index.html", "COMPARISON": "compare/*/*/*/*/index.html"}
    if page not in patterns:
        return page
    return f"/{max(place.glob(patterns[page])).parent.relative_to(place)}/"


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    """One tab for all pages; the accessibility checker is a script, which the policy of the pages forbids."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    yield page
    context.close()


def find_violations(tab: Any) -> list[tuple[str, list[str]]]:
    """Return the accessibility rules that the page in *tab* breaks, each with the first places."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(tab, options={"runOnly": {"type": "tag", "values": list(_RULES)}}).response["violations"]
    return [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in violations]


@contextmanager
def listen(tab: Any) -> Iterator[tuple[list[str], list[str]]]:
    """Give the messages of the console and the addresses that are asked for meanwhile."""
    messages: list[str] = []
    requests: list[str] = []
    heard: tuple[tuple[str, Callable[[Any], None]], ...] = (
        ("console", lambda message: messages.append(message.text)),
        ("pageerror", lambda error: messages.append(str(error))),
        ("request", lambda request: requests.append(request.url)),
    )
    for event, hear in heard:
        tab.on(event, hear)
    yield messages, requests
    for event, hear in heard:
        tab.remove_listener(event, hear)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_fits_and_asks_for_nothing_elsewhere(site: tuple[str, Path], tab: Any, name: str) -> None:
    """On a screen and on a phone of 320 px, which is a screen at 400 %; in the dark scheme and with forced colours; on paper."""
    host, place = site
    tab.emulate_media(media="screen", color_scheme="light", forced_colors="none")
    tab.set_viewport_size({"width": 1280, "height": 900})
    with listen(tab) as (messages, requests):
        tab.goto(host + find_address(place, name))
        found = {"light": find_violations(tab)}
        if name in _IN_ALL_SCHEMES:
            tab.emulate_media(color_scheme="dark")
            found["dark"] = find_violations(tab)
            tab.emulate_media(color_scheme="light", forced_colors="active")
            found["forced colours"] = find_violations(tab)
            tab.emulate_media(forced_colors="none")
        wide = {width: measure_overflow(tab, width)[:3] for width in (1280, 320)}
        if name in _IN_ALL_SCHEMES:
            found["320 px"] = find_violations(tab)
        tab.emulate_media(media="print")
        wide["paper"] = measure_overflow(tab, 720)[:3]
        hidden = tab.evaluate("getComputedStyle(document.querySelector('.site-head')).display")

    assert found == {scheme: [] for scheme in found}
    assert wide == {width: [] for width in wide}
    assert hidden == "none"
    assert messages == []
    assert {url for url in requests if not url.startswith(host)} == set()
    # The page, its style and four fonts.
    assert len(requests) <= 6


def test_pages_are_the_same_without_scripts(site: tuple[str, Path], browser: Any) -> None:
    host, _ = site
    texts = []
    for has_scripts in (True, False):
        context = browser.new_context(java_script_enabled=has_scripts)
        page = context.new_page()
        page.goto(f"{host}/{FIRST}@1/")
        texts.append(page.inner_text("main"))
        context.close()

    assert texts[0] == texts[1]
    assert "Contradicted" in texts[0]


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


def test_a_published_file_is_shown_apart_and_without_scripts(site: tuple[str, Path], browser: Any) -> None:
    """Under its own policy: its style is inside, and it reaches no page of the site."""
    host, place = site
    (name,) = [path.name for path in place.glob("CLM-*@1.html")]
    context = browser.new_context()
    page = context.new_page()
    with listen(page) as (messages, requests):
        page.goto(f"{host}/{name}")
        origin = page.evaluate("self.origin")
        family = page.evaluate("getComputedStyle(document.body).fontFamily")
    context.close()

    assert origin == "null"
    assert "Source Sans 3" in family
    assert messages == []
    assert [url for url in requests if not url.startswith(("data:", f"{host}/{name}"))] == []


def test_the_verifier_of_a_site_checks_a_published_file(
    site: tuple[str, Path],
    _rich: Path,  # noqa: PT019  (its files are the ones that are checked)
    browser: Any,
) -> None:
    """Under the headers of the site, which keep it apart from everything else there."""
    host, _ = site
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{host}/verify.html")
    page.set_input_files("#files", [str(path) for path in (_rich / "out").glob("*.html") if path.name.startswith("CLM-")])
    page.fill("#keys", read_vkey(_rich))
    page.click("button")
    page.wait_for_selector("#result h2")
    title = page.inner_text("#result h2")
    context.close()

    assert title.startswith("PASS")


@pytest.mark.parametrize("name", ["/claims/", f"/{FIRST}@1/", "/CTX-AISI-2026-0001-J/"])
def test_everything_of_a_page_can_be_reached_by_keyboard(site: tuple[str, Path], tab: Any, name: str) -> None:
    """The first key leads past the head to the content, and each place shows that it has the focus."""
    host, _ = site
    tab.emulate_media(media="screen", color_scheme="light", forced_colors="none")
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(host + name)
    count = tab.locator("a[href], summary").count()
    tab.keyboard.press("Tab")
    first = tab.evaluate("document.activeElement.textContent")
    reached = 1
    outlines = set()
    while reached < count:
        tab.keyboard.press("Tab")
        tag = tab.evaluate("document.activeElement.tagName")
        if tag not in ("A", "SUMMARY"):
            break
        # What is closed is opened by the keyboard, too.
        if tag == "SUMMARY":
            tab.keyboard.press("Enter")
        outlines.add(tab.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
        reached += 1

    assert first == "Skip to the content"
    assert reached == count
    assert "none" not in outlines


def test_a_build_without_chromium_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Elsewhere the tests are skipped, and say what they need."""
    from tests import browser

    monkeypatch.setattr(browser, "CHROMIUM", tmp_path / "chromium")
    for build, outcome in (("1", pytest.fail.Exception), ("", pytest.skip.Exception)):
        monkeypatch.setenv("CI", build)
        with pytest.raises(outcome, match="chromium"), browser.open_browser():
            pass
