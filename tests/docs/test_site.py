"""The documentation as a site: it builds without a warning, needs no other host, and its generated page is up to date."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.tools import load_tool

ROOT = Path(__file__).parents[2]
GUIDES = (
    *("for-labs", "for-auditors", "for-regulators", "for-institutes", "index", "getting-started", "tutorial-real-model", "threat-model"),
    *("contesting", "contexts", "exchanging", "preregistration", "publishing", "renewing", "replay", "sealing", "updating"),
    *("cards", "contamination", "coverage", "judge", "keys", "limitations", "log", "probe", "proposing", "rating", "revisions"),
    *("scoring", "skills"),
)
EXEMPT = ("answers", "commands", "errors", "record")
"""Pages that are generated, and the reference of error codes."""
PLAIN = sorted({page.stem for page in (ROOT / "docs").glob("*.md")} - set(EXEMPT))
_LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^\"\s>]+", re.IGNORECASE)
_CODE = re.compile(r"<(pre|code|script)\b.*?</\1>", re.DOTALL)
_FENCE = re.compile(r"^```.*?^```$\n", re.MULTILINE | re.DOTALL)
_FETCHED = re.compile(r"(?:@import\s+|url\()\s*[\"']?(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a link or an anchor that leads nowhere, or a page outside the navigation, fails."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("the package mkdocs-material is not installed (pip install --group docs)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_needs_no_other_host(site: Path) -> None:
    """No page loads a script, style, font or image from elsewhere, and search has its index as a script, as file:// needs it."""
    pages = sorted(site.rglob("*.html"))
    styles = sorted(site.rglob("*.css"))
    loaded = [hit for page in pages for hit in _LOADED.findall(page.read_text(encoding="utf-8"))]
    fetched = [style.name for style in styles if _FETCHED.search(style.read_text(encoding="utf-8"))]

    assert len(pages) > 40
    assert [hit for hit in loaded if 'rel="canonical"' not in hit] == []
    assert fetched == []
    assert (site / "search/search_index.js").read_text(encoding="utf-8").startswith("var __index")
    assert "assets/iframe-worker.js" in (site / "index.html").read_text(encoding="utf-8")


def test_a_link_out_of_docs_leads_to_its_page_on_the_site(site: Path) -> None:
    """Pages from outside docs/ are on the site, and links from and to docs/ fit."""
    assert 'href="project/benchmarks/COVERAGE.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert 'href="../decisions.html"' in (site / "project/ARCHITECTURE.html").read_text(encoding="utf-8")


def test_lists_of_the_source_are_lists_on_the_site(site: Path) -> None:
    """No mark of a list, a table or a link is left as text: the parser reads lists and code inside items as other renderers do."""
    marks = re.compile(r"\n(?:[*-]|\d+\.) \S.{0,40}|<p>(?:\||```).{0,40}|\w\]\(.{0,40}")
    pages = {page.name: _CODE.sub("", page.read_text(encoding="utf-8")) for page in sorted(site.rglob("*.html"))}

    assert {name: marks.findall(text) for name, text in pages.items() if marks.search(text)} == {}


def test_every_error_code_has_a_permanent_address(site: Path) -> None:
    """Each heading of the errors page is an anchor with the code itself."""
    codes = re.findall(r"^### `([\w-]+)`$", (ROOT / "docs/errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    page = (site / "errors.html").read_text(encoding="utf-8")

    assert len(codes) > 100
    assert [code for code in codes if f'id="{code}"' not in page] == []


def test_the_page_of_the_record_is_up_to_date() -> None:
    """docs/record.md is what tools/record_dictionary.py writes; CAVEAT_UPDATE_DOCS=1 renews it."""
    page = ROOT / "docs/record.md"
    wanted = load_tool("record_dictionary").build_page()
    if os.environ.get("CAVEAT_UPDATE_DOCS"):
        page.write_text(wanted, encoding="utf-8")

    assert page.read_text(encoding="utf-8") == wanted


@pytest.mark.parametrize("name", PLAIN)
def test_a_page_keeps_the_style(name: str) -> None:
    """Six words a heading, two dialect markers per 1,000 words, 5 % long and 30 % passive sentences at most; a guide has 150 lines."""
    text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    tool = load_tool("readability")
    figures = tool.measure(tool.read_markdown(text))
    prose = _FENCE.sub("", text)
    headings = re.findall(r"^#+ (?:\d+\. )?(.+)$", prose, re.MULTILINE)

    assert name not in GUIDES or len(prose.splitlines()) <= 150
    assert [heading for heading in headings if len(heading.split()) > 6] == []
    assert 1000 * figures.markers <= 2 * figures.words
    assert figures.long <= 0.05 * figures.sentences
    assert figures.passive <= 0.30 * figures.sentences


def test_the_measures_count_what_they_name() -> None:
    """A dialect marker, a long sentence, a passive sentence and one that addresses the reader are each counted once; code is not."""
    tool = load_tool("readability")
    long = " ".join(["word"] * 31)
    code = "```text\nsomebody told you\n```"
    page = f"# Nobody\n\nNobody came to us. The plan was locked early.\n\n* You run it `told`.\n\n{code}\n\n{long.capitalize()}.\n"
    figures = tool.measure(tool.read_markdown(page))

    assert (figures.sentences, figures.markers, figures.long, figures.passive, figures.you) == (4, 1, 1, 1, 1)
