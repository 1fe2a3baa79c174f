"""Addresses of pages and files: absolute ones name a page, and a page links to others by relative ones."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from registry.records.model_version import ModelRef

# Addresses are written with these characters alone, so that an address, a file name and a link are the same text on every host and disk.
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_OTHER = re.compile(r"[^a-z0-9._-]+")
_SUBJECT = re.compile(r"(?:CLM|CRD)-[A-Z0-9]+-\d{4}-\d+-[0-9A-Z](?:@[1-9]\d*)?")
_REST = re.compile(r"[?#]")
_NAMED = re.compile(r"(?:CLM|CRD|AUD|CON|CTX|PRP|SCF|CUE|MTH)-[A-Z0-9]+-\d{4}-\d+-[0-9A-Z](?:@[1-9]\d*)?")


class LinkStyle(StrEnum):
    """How links to pages end."""

    CLEAN = "clean"
    """In a slash, for a web host."""
    FILES = "files"
    """In `index.html`, so that a folder opens from a disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """What pages depend on besides the records: the same settings give the same bytes."""

    links: LinkStyle = LinkStyle.CLEAN
    base: str | None = None
    """The address at which the site is published, without a slash at its end; feeds and citations name it. None: not known."""
    has_search: bool = False
    """Whether a server answers searches: facets can then be combined."""
    contact: str | None = None
    """Whom to write to about takedowns and security, `mailto:…` or `https:…`; None: not configured."""
    has_index: bool = False
    """Whether a site of files has an index that its search page loads."""
    quorum: int = 0
    """Cosignatures that a checkpoint needs before it is published."""
    as_of: int | None = None
    """The entry that lists state; None for pages as of the entry that the page `/status/` next to them names."""


SEARCH = "/search/"
"""The search of a site of files."""
SEARCH_SCRIPT = "/search/search.js"
VERIFIER = "/verify.html"
"""The page that checks files in the browser."""


def write_segment(text: str) -> str:
    """Return *text* as one part of an address: itself if it is plain, else its plain letters and a digest, so that no two texts meet."""
    if _PLAIN.fullmatch(text) and ".." not in text:
        return text
    plain = _OTHER.sub("-", text.lower()).strip("-.")[:60]
    return f"{plain}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def find_subject_page(name: str) -> str | None:
    """Return the page of the claim or card *name*, with or without `@n`; None for what has no page of its own. *name* may be forged."""
    bare = name.partition("#")[0]
    return f"/{bare}/" if _SUBJECT.fullmatch(bare) else None


def find_page(name: str) -> str | None:
    """Return the page of whatever a statement names: a claim, card, audit, objection or definition. *name* may be forged."""
    return f"/{name}/" if _NAMED.fullmatch(name) else None


def find_model_page(model: ModelRef) -> str:
    """Return the page of a model version."""
    return f"/models/{write_segment(model.developer)}/{write_segment(model.name)}/{write_segment(model.version)}/"


def find_authority_page(code: str) -> str:
    """Return the page of an authority."""
    return f"/authorities/{code}/"


def find_list_page(facet: str | None = None, value: str | None = None, number: int = 1) -> str:
    """Return a page of the list of claims: of all, or of those with one value of one facet."""
    stem = "/claims/" if facet is None or value is None else f"/claims/by-{facet}/{write_segment(value)}/"
    return stem if number == 1 else f"{stem}{number}/"


def find_file_path(address: str) -> str:
    """Return where the page or file at *address* lies in a site's folder."""
    return f"{address[1:]}index.html" if address.endswith("/") else address[1:]


def find_address(path: str) -> str:
    """Return the address of the page or file at *path* in a site's folder."""
    return f"/{path.removesuffix('index.html')}" if path == "index.html" or path.endswith("/index.html") else f"/{path}"


class Linker:
    """Gives links from one page to others."""

    def __init__(self, here: str, settings: PageSettings, *, is_anywhere: bool = False) -> None:
        """Give links as seen from the page *here*; with *is_anywhere* from any address, so that they start at the root."""
        self.here = here
        self.settings = settings
        self._is_anywhere = is_anywhere
        self._folder = here[1:].split("/")[:-1]

    def __call__(self, address: str) -> str:
        """Return the relative link to *address*, which may have a query or a fragment."""
        if self._is_anywhere:
            return f"{urlsplit(self.settings.base or '').path}{address}"
        path = _REST.split(address, maxsplit=1)[0]
        *folders, name = path[1:].split("/")
        shared = 0
        for here, there in zip(self._folder, folders, strict=False):
            if here != there:
                break
            shared += 1
        # `posixpath.relpath` gives the same and takes ten times as long, and a page has hundreds of links.
        steps = [".."] * (len(self._folder) - shared) + folders[shared:]
        if name or self.settings.links is LinkStyle.FILES:
            steps.append(name or "index.html")
        else:
            steps = [*(steps or ["."]), ""]
        return "/".join(steps) + address[len(path) :]

    def find_subject(self, name: str) -> str | None:
        """Return the link to a claim or card; None for what has no page. Without `@n` it leads to the newest revision."""
        address = find_subject_page(name)
        return None if address is None else self(address)

    def write_absolute(self, address: str) -> str:
        """Return *address* below the base of the site, or as it is where no base is known."""
        return f"{self.settings.base or ''}{address}"
