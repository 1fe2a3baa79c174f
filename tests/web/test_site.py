"""A registry as a folder of files: links, increments, interruptions, and the comparison with the registry."""

import base64
import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from registry.errors import CaveatError, ConflictError
from registry.store.ledger import Ledger
from registry.verify.verification_page import read_page
from tests.cli.given_out import ask, run
from tests.cli.scenario import CARD
from tests.report.hostile import HOSTILE
from tests.web.conftest import open_ledger
from tests.web.test_log_tiles import read_root
from web.pages.addresses import LinkStyle, PageSettings
from web.shelf import shelf_file
from web.shelf.shelf_file import hold_claims
from web.site import site_export
from web.site.site_check import check_site
from web.site.site_export import export_site, read_manifest
from web.tiles.log_files import write_prefix

FILES = PageSettings(links=LinkStyle.FILES)
NO_HELP = "a second process could not write pages, so this one wrote them all: it took up to twice as long"
FIRST = "CLM-AISI-2026-0001-S"
SECOND = "CLM-AISI-2026-0002-Q"


def write(ledger: Ledger, place: Path, settings: PageSettings = FILES, *, as_of: int | None = None) -> site_export.ExportResult:
    with ledger.view(as_of) as view:
        return export_site(view, place, settings, open_view=ledger.view)


def read(place: Path) -> dict[str, bytes]:
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def _written(_built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site") / "site"
    ledger = open_ledger(_built)
    write(ledger, place)
    ledger.close()
    return place


@pytest.fixture
def site(_written: Path, tmp_path: Path) -> Path:
    """A copy of the site, written for a disk."""
    return Path(shutil.copytree(_written, tmp_path / "site"))


def test_every_link_leads_to_a_page_and_every_file_is_the_one_of_the_registry(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """In a folder for a disk, and in one for a web host."""
    write(ledger, tmp_path / "hosted", PageSettings(links=LinkStyle.CLEAN, base="https://claims.example.org/registry"))

    for place in (site, tmp_path / "hosted"):
        report = check_site(ledger, place)
        assert report.faults == ()
        assert report.links > 500


def test_an_export_that_finds_nothing_new_writes_nothing(ledger: Ledger, site: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}

    again = write(ledger, site)

    assert (again.written, again.removed) == (0, 0)
    assert again.unchanged > 50
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


def test_an_entry_about_one_claim_leaves_the_pages_of_the_others_as_they_are(
    folder: Path, ledger: Ledger, site: Path, tmp_path: Path
) -> None:
    """And lists that it is not in: none of them contains the size of the log."""
    before = read(tmp_path / "site")
    run("claim", "withdraw", "CLM-AISI-2026-0003-O", "--reason", "retracted", "--yes")

    done = write(ledger, tmp_path / "site")
    after = read(tmp_path / "site")

    changed = {name for name in after if before.get(name) != after[name]}
    assert {name for name in changed if name.startswith("CLM-")} >= {"CLM-AISI-2026-0003-O/index.html"}
    assert not [name for name in changed if FIRST in name or SECOND in name]
    # The first claim is the one with a verdict of its own, and the other has none.
    lists = {name for name in after if name.startswith("claims/by-")}
    assert changed & lists >= {"claims/by-lifecycle/withdrawn/index.html", "claims/by-lifecycle/registered/index.html"}
    assert len(changed & lists) < len(lists)
    assert changed >= {"index.html", "status/index.html", "changes/index.html", "claims.csv"}
    assert done.written == len(changed - {"manifest.json"})
    # A folder that was kept up to date is the one that is written from nothing.
    write(ledger, tmp_path / "anew")
    assert after == read(tmp_path / "anew")


def test_a_site_that_is_kept_up_to_date_is_the_one_that_is_written_from_nothing(
    folder: Path, ledger: Ledger, site: Path, tmp_path: Path
) -> None:
    """After each kind of statement that changes pages of claims or cards which it does not name itself."""
    shutil.copytree(site, tmp_path / "kept")
    claims = [claim["claim"] for claim in ask("claim", "list")["claims"]]
    (folder / "card2.md").write_text(CARD.replace("92%", "93%"), encoding="utf-8")
    steps = (
        ("contest", "answer", "CON-AISI-2026-0001-T", "--reason", "It is measured as the card says"),
        ("card", "add", "card2.md", "--publisher", "LAB", "--revises", ask("card", "list")["cards"][0]["card"], "--reason", "a new figure"),
        ("model", "update", "LAB/M/1", "LAB/M/2", "--reason", "the successor"),
        ("contest", "open", claims[1], "--reason", "the scorer"),
        ("claim", "supersede", "CLM-AISI-2026-0003-O", FIRST, "--reason", "the same", "--yes"),
    )
    sizes = []
    for place, step in enumerate(steps):
        run(*step)
        sizes.append(write(ledger, tmp_path / "kept").log_size)
        # Some are compared together: what one left behind is still there after the next.
        if place % 2 == 0:
            write(ledger, tmp_path / f"anew{place}")
            assert read(tmp_path / "kept") == read(tmp_path / f"anew{place}"), step
    # A step that the command refuses would show nothing.
    assert len(set(sizes)) >= 4


def test_a_site_as_of_an_earlier_entry_is_the_one_that_was_written_then(folder: Path, ledger: Ledger, tmp_path: Path) -> None:
    with ledger.view() as view:
        size = view.log_size
    write(ledger, tmp_path / "then")
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")

    write(ledger, tmp_path / "now", as_of=size)

    assert read(tmp_path / "now") == read(tmp_path / "then")


@pytest.mark.parametrize("after", ["parts", "journal", "half of the names"])
def test_an_interrupted_export_leaves_the_old_site_or_the_new_one(
    folder: Path, ledger: Ledger, site: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    place = site
    old = read(place)
    run("claim", "withdraw", SECOND, "--reason", "retracted", "--yes")
    shutil.copytree(place, site.parent / "new")
    write(ledger, site.parent / "new")

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if after == "parts":
            patch.setattr(site_export, "replace_file", stop)
        elif after == "journal":
            settle = site_export.settle
            patch.setattr(site_export, "settle", lambda where: stop() if (where / site_export.JOURNAL).exists() else settle(where))
        else:
            count, replace = iter(range(100)), site_export.os.replace
            patch.setattr(
                site_export.os,
                "replace",
                lambda one, other: (
                    stop() if next(count) == 5 and ".part" in str(one) and other.name != site_export.JOURNAL else replace(one, other)
                ),
            )
        with pytest.raises(KeyboardInterrupt):
            write(ledger, place)
    if after == "parts":
        assert {name: data for name, data in read(place).items() if ".part" not in name} == old

    site_export.settle(place)

    assert read(place) == (old if after == "parts" else read(site.parent / "new"))


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda site: (site / "index.html").write_text("<a href='https://evil.example/'>x</a>"), "site-damaged"),
        (lambda site: (site / "cards/index.html").unlink(), "site-damaged"),
        (lambda site: (site / "stranger.html").write_text("x"), "site-damaged"),
        (
            lambda site: (site / "index.html").write_bytes((site / "index.html").read_bytes().replace(b"cards/index", b"cars/index")),
            "link-broken",
        ),
    ],
)
def test_the_check_names_what_is_wrong(ledger: Ledger, site: Path, tmp_path: Path, damage: object, found: str) -> None:
    assert callable(damage)
    damage(tmp_path / "site")

    report = check_site(ledger, tmp_path / "site")

    assert found in {fault.code for fault in report.faults}


def test_a_page_that_is_exchanged_together_with_its_digest_is_found(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """Who can write the folder can write the manifest too: only the registry decides."""
    import hashlib

    page = tmp_path / "site" / FIRST / "index.html"
    page.write_bytes(page.read_bytes().replace(b"Contradicted", b"Holds"))
    manifest = read_manifest(tmp_path / "site")
    assert manifest is not None
    manifest["files"][f"{FIRST}/index.html"]["sha256"] = hashlib.sha256(page.read_bytes()).hexdigest()
    (tmp_path / "site" / "manifest.json").write_text(json.dumps(manifest))

    assert [fault.where for fault in check_site(ledger, tmp_path / "site").faults] == [f"{FIRST}/index.html"]


def test_a_folder_of_something_else_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    """Nothing in it is touched, whatever it is called."""
    (tmp_path / "thesis.tex").write_text("x")
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / ".thesis.tex.part").write_text("x")

    with pytest.raises(CaveatError) as error:
        write(ledger, tmp_path)

    assert error.value.code == "file-in-the-way"
    assert (tmp_path / "drafts" / ".thesis.tex.part").exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["thesis.tex"]


def test_a_first_export_that_was_interrupted_is_completed_by_the_next(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(site_export.os, "sync", stop)
        with pytest.raises(KeyboardInterrupt):
            write(ledger, tmp_path / "site")
    assert list((tmp_path / "site").rglob(".*.part"))

    write(ledger, tmp_path / "site")
    write(ledger, tmp_path / "anew")

    assert read(tmp_path / "site") == read(tmp_path / "anew")


def test_a_forged_manifest_removes_nothing_outside_the_folder(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    manifest = read_manifest(tmp_path / "site")
    assert manifest is not None
    manifest["files"]["../precious.txt"] = {"sha256": "0" * 64, "state": "x"}
    (tmp_path / "site" / "manifest.json").write_text(json.dumps(manifest))

    with pytest.raises(CaveatError):
        write(ledger, tmp_path / "site")

    assert (tmp_path / "precious.txt").exists()


def test_a_manifest_with_a_state_that_is_none_is_refused(ledger: Ledger, site: Path) -> None:
    manifest = read_manifest(site)
    assert manifest is not None
    manifest["states"][f"{FIRST}@1"] = "no digest"
    (site / "manifest.json").write_text(json.dumps(manifest))

    with pytest.raises(ConflictError, match="not the manifest"):
        write(ledger, site)


def test_a_spreadsheet_that_is_not_as_it_was_written_is_written_anew(folder: Path, ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """Its rows are not taken over, and a page that is gone is made again."""
    (site / "claims.csv").write_bytes((site / "claims.csv").read_bytes().replace(b"registered", b"published"))
    (site / SECOND / "index.html").unlink()
    run("claim", "withdraw", "CLM-AISI-2026-0003-O", "--reason", "retracted", "--yes")
    write(ledger, site)

    write(ledger, tmp_path / "anew")
    assert read(site) == read(tmp_path / "anew")


def test_an_older_registry_does_not_take_a_site_back(ledger: Ledger, site: Path, tmp_path: Path) -> None:

    with pytest.raises(CaveatError) as error:
        write(ledger, tmp_path / "site", as_of=10)

    assert error.value.code == "folder-ahead"


def test_hostile_texts_stay_texts_on_every_page(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """No element, address or hidden character of a quotation or an objection gets out of its place."""
    pages = {name: data.decode() for name, data in read(tmp_path / "site").items() if name.endswith((".html", ".atom"))}

    assert sum("alert(1)" in page for page in pages.values()) > 5
    # The page that checks files is the same for every registry.
    assert pages.pop("verify.html") == read_page().content.decode()
    for name, page in pages.items():
        assert "<script" not in page, name
        assert "<img" not in page, name
        assert "style=" not in page, name
        assert not set("\u202e\u200b\ufeff\x1b") & set(page), name


def test_the_files_of_the_log_lead_to_its_checkpoint(folder: Path, ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """Hashes of the leaves and statements, as an independent client reads them; a bundle with an erased statement is left out."""
    with ledger.view() as view:
        log = site / write_prefix(view.log_origin).strip("/")
    note = (log / "checkpoint").read_text().split("\n")
    size, root = int(note[1]), base64.b64decode(note[2])

    assert read_root(size, lambda path: (log / path).read_bytes()) == root
    assert (log / f"tile/entries/000.p/{size}").is_file()
    entries = ask("claim", "history", "CLM-AISI-2026-0004-M")["entries"]
    run("admin", "log", "erase", str(entries[0]["entry"]["seq"]), "--reason", "a name", "--yes")
    write(ledger, tmp_path / "site")
    assert not list(log.glob("tile/entries/*"))
    assert list(log.glob("tile/0/*"))


def test_no_page_loads_anything_from_elsewhere(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    import re

    for name, data in read(tmp_path / "site").items():
        if name.endswith((".html", ".css")):
            assert not re.search(rb"""(?:src|href|action)=["']?https?:|url\(["']?(?:https?:|//)|@import""", data), name


def test_an_erased_quotation_leaves_every_page(folder: Path, ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """The address of the claim stays, and says that the text was erased."""
    entries = [entry for entry in ask("claim", "history", "CLM-AISI-2026-0004-M")["entries"] if entry["entry"]["kind"] == "claim_revision"]
    run("admin", "log", "erase", str(entries[0]["entry"]["seq"]), "--reason", "a name", "--yes")

    write(ledger, tmp_path / "site")

    left = read(tmp_path / "site")
    assert not [name for name, data in left.items() if b"evil.example/x.png" in data and b"CON-" not in data]
    assert "erased" in left["CLM-AISI-2026-0004-M/index.html"].decode()
    assert check_site(ledger, tmp_path / "site").faults == ()


def test_an_erased_objection_is_named_on_the_page_of_its_claim_and_the_rest_stays(
    folder: Path, ledger: Ledger, site: Path, tmp_path: Path
) -> None:
    (entry,) = [entry["entry"]["seq"] for entry in ask("claim", "history", FIRST)["entries"] if entry["entry"]["kind"] == "objection"]
    before = (site / FIRST / "index.html").read_text("utf-8")
    run("admin", "log", "erase", str(entry), "--reason", "a name", "--yes")

    write(ledger, site)

    page = (site / FIRST / "index.html").read_text("utf-8")
    for part in ("CON-AISI-2026-0001-T", "Contradicted", "a name", 'id="status"', "How to cite"):
        assert part in page
    assert "alert(1)" in before
    assert "alert(1)" not in page
    objection = (site / "CON-AISI-2026-0001-T" / "index.html").read_text("utf-8")
    assert "text erased" in objection
    assert "alert(1)" not in objection
    assert check_site(ledger, site).faults == ()
    # A folder that was kept up to date is the one that is written from nothing.
    write(ledger, tmp_path / "anew")
    assert read(site) == read(tmp_path / "anew")


def test_feeds_are_valid_and_keep_their_names(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """Of the registry, and of each claim and card; an entry has one name wherever the site is published."""
    from xml.etree import ElementTree as ET

    write(ledger, tmp_path / "hosted", PageSettings(base="https://claims.example.org"))
    atom = "{http://www.w3.org/2005/Atom}"
    for name in ("feed.atom", f"{FIRST}/feed.atom", f"{ask('card', 'list')['cards'][0]['card']}/feed.atom"):
        here, hosted = (ET.fromstring((place / name).read_bytes()) for place in (site, tmp_path / "hosted"))  # noqa: S314  (our own)
        names = [entry.findtext(f"{atom}id") for entry in here.iter(f"{atom}entry")]
        assert names == [entry.findtext(f"{atom}id") for entry in hosted.iter(f"{atom}entry")]
        assert len(set(names)) == len(names) > 0
        assert all(link.get("href", "").startswith("https://claims.example.org/") for link in hosted.iter(f"{atom}link"))
        feed = json.loads((tmp_path / "hosted" / name.replace(".atom", ".json")).read_bytes())
        assert feed["version"] == "https://jsonfeed.org/version/1.1"
        assert [item["id"] for item in feed["items"]] == names


def test_citations_name_exactly_one_text(ledger: Ledger, tmp_path: Path) -> None:
    write(ledger, tmp_path / "site", PageSettings(base="https://claims.example.org"))
    place = tmp_path / "site"

    csl = json.loads((place / f"{FIRST}@1.csl.json").read_bytes())[0]
    datacite = json.loads((place / f"{FIRST}@1.datacite.json").read_bytes())
    bibtex = (place / f"{FIRST}@1.bib").read_text()

    assert csl["id"] == datacite["alternateIdentifiers"][0]["alternateIdentifier"]
    assert "identifiers" not in datacite
    assert csl["id"].startswith(f"{FIRST}@1#")
    assert csl["URL"] == f"https://claims.example.org/{FIRST}@1/"
    assert f"number = {{{FIRST}@1\\#" in bibtex
    hostile = (place / "CLM-AISI-2026-0004-M@1.bib").read_text()
    # Braces of a quotation cannot end the entry: what is not escaped is balanced.
    bare = hostile.replace("\\\\", "").replace("\\{", "").replace("\\}", "").replace("\\textbackslash{}", "")
    assert bare.count("{") == bare.count("}")
    assert HOSTILE not in hostile


def test_the_command_writes_checks_and_refuses_to_publish_an_example(folder: Path, tmp_path: Path) -> None:
    written = ask("site", "-o", str(tmp_path / "site"))
    checked = ask("site", "check", str(tmp_path / "site"))

    assert written["written"] == checked["files"] > 50
    assert checked["faults"] == []


def test_a_page_of_a_claim_is_small(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """At most 15 kB compressed, without a script; style and fonts are shared."""
    import gzip

    assert len(gzip.compress((tmp_path / "site" / FIRST / "index.html").read_bytes())) < 15_000


def test_two_processes_write_the_site_that_one_writes(ledger: Ledger, site: Path, tmp_path: Path) -> None:
    """Also if the other one cannot read the registry; then the result says so."""
    for name, database, said in (("shared", ledger.url, []), ("single", f"sqlite:///{tmp_path / 'nowhere.db'}", [NO_HELP])):
        with ledger.view() as view:
            done = export_site(view, tmp_path / name, FILES, open_view=ledger.view, database=database, many=1)
        assert read(tmp_path / name) == read(site)
        assert list(done.warnings) == said


def test_the_command_warns_where_no_second_process_could_help(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    export, nowhere = site_export.export_site, f"sqlite:///{tmp_path / 'nowhere.db'}"
    monkeypatch.setattr(site_export, "export_site", lambda *given, **named: export(*given, **{**named, "database": nowhere, "many": 1}))

    assert ask("site", "-o", str(tmp_path / "site"))["warnings"] == [NO_HELP]
    assert f"warning: {NO_HELP}" in capsys.readouterr().err


def test_a_site_with_claims_from_the_search_file_is_the_one_that_reads_them(folder: Path, ledger: Ledger, site: Path) -> None:
    """Also after an erasure, for which the file is made anew, and as of an earlier entry."""

    def compare(as_of: int | None = None) -> None:
        with ledger.view(as_of) as view:
            export_site(view, site.parent / f"kept{as_of}", FILES, open_view=ledger.view, claims=partial(hold_claims, ledger))
            export_site(view, site.parent / f"read{as_of}", FILES, open_view=ledger.view)
        assert read(site.parent / f"kept{as_of}") == read(site.parent / f"read{as_of}")

    with ledger.view() as view:
        size = view.log_size
        claim = view.find_claim("CLM-AISI-2026-0003-O")
    assert claim is not None
    compare()
    run("admin", "log", "erase", str(claim.entry.seq), "--reason", "a name", "--yes")
    compare()
    compare(size - 2)


def test_a_site_needs_no_place_for_a_search_file(ledger: Ledger, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_place: str) -> Path:
        raise PermissionError("no folder can be written")

    monkeypatch.setattr(shelf_file, "find_shelf", refuse)
    with ledger.view() as view:
        export_site(view, site.parent / "other", FILES, open_view=ledger.view, claims=partial(hold_claims, ledger))

    assert read(site.parent / "other") == read(site)
