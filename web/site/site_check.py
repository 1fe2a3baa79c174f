"""The check of a site's folder: every file is the page of the registry that it should be, and every link leads somewhere."""

import hashlib
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from registry.errors import Fault, InputError
from registry.store.ledger import Ledger
from registry.store.log_seals import find_root
from web.pages.addresses import LinkStyle, PageSettings, find_file_path
from web.pages.page_book import PageBook
from web.pages.security import is_download
from web.site import search_index
from web.site.page_files import HEADERS
from web.site.site_export import JOURNAL, MANIFEST, build_book, read_manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What a check of a site found."""

    log_size: int
    """Entries that the site was written from."""
    newer: int
    """Entries that the registry has had since."""
    pages: int
    links: int
    faults: tuple[Fault, ...]


class _LinkReader(HTMLParser):
    """Reads what a page links to and loads, and the fragments that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fragments: set[str] = set()

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element's links and its identifier."""
        for name, value in attrs:
            if name in ("href", "src", "action") and value:
                self.links.append(value)
            if name == "id" and value:
                self.fragments.add(value)


def check_site(ledger: Ledger, folder: Path) -> SiteReport:
    """Compare the site in *folder* with the registry as it was when the site was written.

    Raises:
        InputError: *folder* has no site, or that of another registry.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(
            Fault("file-not-readable", str(folder / MANIFEST), "there is no site here", advice="write one: caveat site -o DIR")
        )
    if (folder / JOURNAL).exists():
        raise InputError(Fault("site-damaged", str(folder), "the last export was interrupted", advice="run it again: caveat site -o DIR"))
    log, chosen = manifest["log"], manifest["settings"]
    settings = PageSettings(
        links=LinkStyle(chosen["links"]),
        base=chosen["base"],
        contact=chosen["contact"],
        quorum=chosen["quorum"],
        has_index=chosen["search"],
    )
    with ledger.view() as now:
        newer = now.log_size - log["size"]
        if newer < 0 or now.log_origin != log["origin"] or find_root(now, log["size"]) != log["root"]:
            raise InputError(Fault("folder-of-another-log", str(folder), f"it is a site of the log {log['origin']}"))
    with ledger.view(log["size"]) as view:
        # The site has the published files itself.
        book = build_book(view, settings, folder if chosen["files"] else None)
        faults = [*_compare(book, folder, manifest["files"]), *_list_strangers(folder, manifest["files"])]
    links, broken = _follow(folder, manifest["files"])
    return SiteReport(log_size=log["size"], newer=newer, pages=len(manifest["files"]), links=links, faults=(*faults, *broken))


def _compare(book: PageBook, folder: Path, files: dict[str, dict[str, str]]) -> Iterator[Fault]:
    planned = {find_file_path(page.address): page for page in book.plan()}
    book.expect(page.address for page in planned.values())
    index = search_index.name_records(search_index.list_records(book.view, book.settings)) if book.settings.has_index else None
    for path, known in files.items():
        place = folder / path
        if not place.is_file():
            yield Fault("site-damaged", path, "the file is missing")
            continue
        data = place.read_bytes()
        if hashlib.sha256(data).hexdigest() != known["sha256"]:
            yield Fault("site-damaged", path, "the file was changed since it was written")
        elif path.startswith(f"{search_index.FOLDER}/"):
            if known["state"] != index:
                yield Fault("site-damaged", path, "the index is not that of the claims of the registry")
        elif path != HEADERS and path not in planned:
            yield Fault("site-damaged", path, "the registry has no page of this address")
        # The pages of this release: another release makes others, and says so by their state.
        elif (
            path != HEADERS
            and planned[path].state == known["state"]
            and book.find(planned[path].address, state=known["state"]).body != data
        ):
            yield Fault("site-damaged", path, "the page is not the one that the registry gives")
        elif path != HEADERS and planned[path].state != known["state"]:
            yield Fault("site-damaged", path, "it was made by another release, or with other settings")


def _list_strangers(folder: Path, files: dict[str, dict[str, str]]) -> Iterator[Fault]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in files and name != MANIFEST:
            yield Fault("site-damaged", name, "the file is no part of the site")


def _follow(folder: Path, files: dict[str, dict[str, str]]) -> tuple[int, list[Fault]]:
    """Return how many links the pages have, and those that lead nowhere or to another host."""
    read: dict[str, _LinkReader] = {}
    for path in files:
        # A published file may name others that are not published.
        if path.endswith(".html") and not is_download(f"/{path}") and (folder / path).is_file():
            read[path] = _LinkReader()
            read[path].feed((folder / path).read_text("utf-8"))
    count, faults = 0, []
    for path, reader in read.items():
        for link in reader.links:
            count += 1
            if (found := _find_broken(path, link, files, read)) is not None:
                faults.append(Fault("link-broken", f"{path}: {link[:200]}", found))
    return count, faults


def _find_broken(path: str, link: str, files: dict[str, dict[str, str]], read: dict[str, _LinkReader]) -> str | None:
    parts = urlsplit(link)
    if link == "data:,":
        # The empty icon, so that browsers do not ask for one.
        return None
    if parts.scheme or parts.netloc:
        return "it leads to another host"
    target = path
    if parts.path:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path)))
        # A link to a folder leads to its page.
        if parts.path.endswith("/") or parts.path in (".", ".."):
            target = "index.html" if target == "." else f"{target}/index.html"
    if target not in files:
        return "there is no such file"
    if parts.fragment and target in read and parts.fragment not in read[target].fragments:
        return "the page has no such part"
    return None
