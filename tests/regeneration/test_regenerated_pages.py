"""The list and the feed of a regenerated folder: every link finds its file, and what they say is what the supplements say."""

import json
import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree as ET

import pikepdf
import pytest
from selectolax.lexbor import LexborHTMLParser

from registry.codec.canonical_documents import from_json
from registry.folder.folder_document import Folder, FolderFile, FolderItem, SupersededFiles, SupplementDigest
from registry.folder.folder_pages import render_feed, render_index
from registry.records.claim_status import Dispute, Lifecycle, Staleness, Status
from registry.records.statement import OutputFormat
from registry.records.verdict import ClaimClass, RestrictionStatus, Standing
from tests.regeneration.folders import COVERT, SCHEMING, Regenerated

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script> \u202egnp.exe \x07 ]]> &amp; “quoted”"
ROOT = "0" * 64


def list_links(path: Path) -> set[str]:
    """Return where the relative links of a page, a feed or a PDF lead."""
    if path.suffix == ".pdf":
        with pikepdf.open(path) as opened:
            notes = [note for page in opened.pages for note in page.get("/Annots", [])]
            found = {str(note.A.URI) for note in notes if "/A" in note and "/URI" in note.A}
    elif path.suffix == ".xml":
        found = {one.get("href", "") for one in read_feed(path.read_bytes()).iter(f"{ATOM}link")}
    else:
        found = {one.attributes["href"] or "" for one in LexborHTMLParser(path.read_bytes()).css("a[href], link[href]")}
    return {one for one in found if not re.match(r"[a-z]+:", one)}


def find_broken(folder: Path) -> list[tuple[str, str]]:
    """Return each link that leads nowhere, with the file that it stands in; anchors are followed too."""
    broken = []
    for path in [*folder.glob("*.html"), *folder.glob("*.xml"), *folder.glob("*.pdf")]:
        for link in list_links(path):
            target, anchor = urldefrag(link)
            # The other forms of a supplement lie in the folder only if they were asked for.
            if path.suffix == ".html" and target.endswith((".pdf", ".json")):
                continue
            aim = folder / unquote(target) if target else path
            if not aim.is_file() or (anchor and LexborHTMLParser(aim.read_bytes()).css_first(f'[id="{anchor}"]') is None):
                broken.append((path.name, link))
    return broken


def revise_card(folder: Regenerated) -> None:
    """Add a revision of the card in which a sentence is gone, and follow its claims."""
    home = folder.path.parent
    text = (home / "card.md").read_text("utf-8").replace("We observed one case of covert action.", "")
    (home / "newer.md").write_text(text, "utf-8")
    card = folder.find("CRD").stem.partition("@")[0]
    told = folder.caveat("card", "add", "newer.md", "--publisher", "LAB", "--revises", card, "--reason", "erratum")
    assert told.code == 0, told.err


def test_every_link_finds_its_file(folder: Regenerated) -> None:
    """Of the list, the feed, the supplements of all revisions and the change report, without a server."""
    folder.regenerate("--publish", "--yes")
    revise_card(folder)
    folder.withdraw(SCHEMING)

    told = folder.regenerate()

    pages = {path.name for path in folder.path.glob("*.html")}
    linked = {link for page in pages for link in list_links(folder.path / page)}
    assert told.code == 0, told.err
    assert any(name.startswith("changes-") for name in pages)
    assert {folder.find(COVERT, "html").name, "feed.xml"} <= linked
    assert any(".entry-" in link for link in linked)
    assert find_broken(folder.path) == []


@pytest.mark.slow
def test_every_link_of_the_pdf_files_finds_its_file(folder: Regenerated) -> None:
    """As in HTML: a PDF leads to PDF files."""
    folder.withdraw(SCHEMING)

    told = folder.regenerate(formats=("--pdf",))

    assert told.code == 0, told.err
    assert any(list_links(path) for path in folder.path.glob("*.pdf"))
    assert find_broken(folder.path) == []


def test_every_file_stands_in_the_list(folder: Regenerated) -> None:
    """Also those that were superseded, with what took their place and why."""
    folder.regenerate("--publish", "--yes")
    folder.withdraw()
    folder.regenerate()

    links = list_links(folder.path / "index.html")
    files = {name for name in folder.read() if not name.startswith((".", "index", "supplements"))}
    page = (folder.path / "index.html").read_text("utf-8")
    assert files <= links
    assert re.search(rf"superseded by {folder.find(COVERT).stem} as of entry \d+, because a claim was withdrawn \(entry \d+\)", page)


def test_the_list_says_what_the_supplements_say(folder: Regenerated) -> None:
    """Verdict, class, ED in points and status of the audited claim, and an anchor for every claim."""
    supplement = json.loads(folder.find(SCHEMING).read_bytes())
    page = LexborHTMLParser((folder.path / "index.html").read_bytes())

    rows = {one.attributes["id"]: one.text(deep=True) for one in page.css("tr[id^=CLM]")}
    (row,) = (text for name, text in rows.items() if name.startswith(SCHEMING))
    reading = supplement["audit"]["outcome"]["payload"]["classification"]["readings"][0]
    assert len(rows) == 3
    assert reading["class"] in row
    assert f"{supplement['status']['restriction']}" in row
    estimate = supplement["audit"]["outcome"]["payload"]["estimate"]["specs"][0]["ed"]["value"]
    assert row.index(reading["verdict"].replace("_", " ")) < row.index("TRACE: "), "the verdict comes first"
    assert f"{100 * abs(estimate):.1f}" in row
    assert sum("not audited" in text for text in rows.values()) == 2


def test_list_and_feed_are_the_same_for_the_same_folder(folder: Regenerated) -> None:
    """They are made of the manifest and of which proofs are there, and of nothing else."""
    folder.withdraw()
    folder.regenerate()
    known = from_json(Folder, (folder.path / "supplements.json").read_bytes(), where="manifest")

    assert render_index(known, proofs=frozenset()) == (folder.path / "index.html").read_bytes()
    assert render_feed(known) == (folder.path / "feed.xml").read_bytes()


def read_feed(feed: bytes) -> ET.Element:
    return ET.fromstring(feed)  # noqa: S314  (our own)


def build_item(name: str, **changes: object) -> FolderItem:
    """An item of a folder."""
    status = Status(
        lifecycle=Lifecycle.PUBLISHED,
        dispute=Dispute.UNDISPUTED,
        staleness=Staleness.CURRENT,
        restriction=RestrictionStatus.UNAUDITED,
    )
    told = SupplementDigest(
        made_at=datetime.fromisoformat("2026-11-22T05:00:00Z"),
        title=HOSTILE,
        card="CRD-AISI-2026-0001-J@1",
        model=HOSTILE,
        status=status,
        class_=ClaimClass.INVERTED,
        standing=Standing.CANDIDATE,
        ed=0.351234,
        low=0.1,
        high=0.6,
        level=0.95,
    )
    file = FolderFile(format=OutputFormat.HTML, path=f"{name}.html", sha256="0" * 64, size_bytes=1)
    old = FolderFile(format=OutputFormat.HTML, path=f"{name}.entry-3.html", sha256="1" * 64, size_bytes=1)
    earlier = (SupersededFiles(log_size=3, files=(old,), by=9, why=HOSTILE),)
    known: dict[str, object] = {"name": name, "state": "0" * 64, "record": "0" * 64, "template": "0" * 64, "log_size": 9}
    return FolderItem(**(known | {"files": (file,), "earlier": earlier, "why": HOSTILE, "summary": told} | changes))  # type: ignore[arg-type]


def test_text_of_others_is_never_markup() -> None:
    """Quotes, models and reasons are escaped, and what is hidden in them is shown."""
    folder = Folder(log_origin="caveat.log/AISI/0", log_size=9, root=ROOT, began=3, items=(build_item("CLM-AISI-2026-0001-S@1"),))

    page = render_index(folder, proofs=frozenset()).decode()
    feed = render_feed(folder)

    assert "<script" not in page
    assert "\u202e" not in page
    assert "[U+202E]" in page
    assert "[U+0007]" in page
    assert b"[U+202E]" in feed
    assert HOSTILE.partition(" ")[0] in (read_feed(feed).findtext(f"{ATOM}entry/{ATOM}summary") or "")


def test_a_page_is_sound_html() -> None:
    """Identifiers stand once, headings do not leap, each table has a caption and headers with their scope."""
    names = [f"CLM-AISI-2026-000{number}-S@{revision}" for number in range(1, 6) for revision in (1, 2)]
    folder = Folder(log_origin="caveat.log/AISI/0", log_size=9, root=ROOT, began=0, items=tuple(map(build_item, names)))
    page = LexborHTMLParser(render_index(folder, proofs=frozenset({f"{names[1]}.html.tlog-proof"})))

    ids = [one.attributes["id"] for one in page.css("[id]")]
    levels = [int(one.tag[1]) for one in page.css("h1, h2, h3, h4")]
    assert len(ids) == len(set(ids))
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert all(table.css_first("caption") is not None for table in page.css("table"))
    assert all(header.attributes.get("scope") in ("col", "row") for header in page.css("th"))
    assert [one.text() for one in page.css("a[href$=tlog-proof]")] == ["proof"]
    assert page.css_first("html").attributes["lang"] == "en"
    assert page.css("script") == []


def test_the_feed_is_atom() -> None:
    """What RFC 4287 requires of a feed and of each entry is there; identifiers are all different, and belong to subject and entry."""
    names = [f"CLM-AISI-2026-000{number}-S@1" for number in range(1, 6)]
    folder = Folder(log_origin="caveat.log/AISI/0", log_size=9, root=ROOT, began=3, items=tuple(map(build_item, names)))
    later = Folder(
        log_origin="caveat.log/AISI/0",
        log_size=12,
        root=ROOT,
        began=3,
        items=(*map(build_item, names[:4]), build_item(names[4], log_size=12)),
    )

    first, second = (read_feed(render_feed(one)) for one in (folder, later))

    assert first.tag == f"{ATOM}feed"
    for one in (first, *first.iter(f"{ATOM}entry")):
        assert all(len(one.findall(ATOM + name)) == 1 for name in ("id", "title", "updated"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", one.findtext(f"{ATOM}updated") or "")
        assert (one.findtext(f"{ATOM}id") or "").startswith("urn:uuid:")
    assert first.findtext(f"{ATOM}author/{ATOM}name") == "caveat.log/AISI/0"
    assert [one.get("href") for one in first.findall(f"{ATOM}link") if one.get("rel") == "self"] == ["feed.xml"]
    before, after = ({one.findtext(f"{ATOM}id") for one in feed.iter(f"{ATOM}entry")} for feed in (first, second))
    assert (len(before), len(after), len(before & after)) == (5, 5, 4)
    assert first.findtext(f"{ATOM}id") == second.findtext(f"{ATOM}id")


def test_a_folder_that_is_new_has_no_news() -> None:
    """What was there from the beginning is listed and not announced."""
    items = (build_item("CLM-AISI-2026-0001-S@1", earlier=(), why=None),)

    feed = read_feed(render_feed(Folder(log_origin="caveat.log/AISI/0", log_size=9, root=ROOT, began=9, items=items)))

    assert list(feed.iter(f"{ATOM}entry")) == []
