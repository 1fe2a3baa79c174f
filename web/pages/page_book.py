"""All pages of a registry as of one entry: which there are, in which state each is, and the bytes of each.

A page is a function of the records, the templates and the settings. So a server and a folder of files have the same bytes for it, and a
page needs to be made again only if its state differs.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from registry.codec.statement_encoding import list_entries
from registry.errors import Fault, NotFoundError
from registry.folder.supplement_publishing import SupplementCollector
from registry.records.dossier import Recorded
from registry.records.model_version import ModelRef
from registry.records.record import Identifier, Kind, parse_identifier
from registry.records.statement import Publication
from registry.records.supplement import CardSupplement, Supplement
from registry.registration.claim_search import ClaimQuery, read_claims, search_claims
from registry.report.html_rendering import read_template, site_template_digest
from registry.store.dossiers import TrailEntry
from registry.store.registry_view import View
from registry.store.supplement_states import find_states
from registry.verify.verification_page import read_page
from web.facets import FACETS, BuildListStates, ClaimFilter, ClaimSource, ListStateFinder
from web.pages import claim_pages, comparison_pages, list_pages, log_pages, model_pages, record_pages, selection_feeds
from web.pages.addresses import (
    SEARCH,
    SEARCH_SCRIPT,
    VERIFIER,
    Linker,
    PageSettings,
    find_authority_page,
    find_list_page,
    find_model_page,
    write_segment,
)
from web.pages.assets import list_assets
from web.pages.feeds import MEDIA_TYPES
from web.pages.record_states import PREFIXES, RecordStates, find_record
from web.pages.site_description import OPENAPI, REGISTRY, ROBOTS, SECURITY, find_description
from web.pages.supplement_files import MEDIA_TYPES as FILE_TYPES
from web.pages.supplement_files import Download, SupplementFolder, list_downloads
from web.tiles import log_files

TOGETHER = 50
"""Claims of which everything is read at once."""
HTML = "text/html; charset=utf-8"
JSON = "application/json"
CSV = "text/csv; charset=utf-8"

_TRAILS = ("/history/", *(f"/{name}" for name in MEDIA_TYPES))
"""Pages of a claim or card that list entries about it."""
_PLAIN = "text/plain; charset=utf-8"
_SCRIPT = "text/javascript; charset=utf-8"
_BYTES = "application/octet-stream"
SUBJECTS = ("/CLM-", "/CRD-", "/api/1/claims/CLM-", "/api/1/cards/CRD-")

_CONSTANT = frozenset({"/errors/", "/404.html", OPENAPI, ROBOTS, SEARCH, SEARCH_SCRIPT})
"""Pages and files in which nothing comes from the entries of the log."""
STATIC_FACETS = tuple(name for name in FACETS if name not in ("card", "model", "version", "authority"))
"""Facets of which each value has a page of its own. Cards, models and authorities have pages anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page or file."""

    address: str
    body: bytes
    media_type: str
    state: str
    """Another state means that the bytes may differ; the same state means that they do not."""
    is_erased: bool = False
    """Whether it says that what was here was erased."""


class PlannedPage(NamedTuple):
    """A page that exists, before it is made. A tuple: a site has a hundred thousand."""

    address: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierPlan:
    """The states of claims and cards that did not change since an earlier plan of the same log."""

    changed: Collection[str]
    """The only claims and cards, `CLM-…` and `CRD-…`, that may have changed."""
    states: Mapping[str, str]
    """Of the others; see `find_states`."""
    find_page: Callable[[str], str | None]
    """Gives the state of the page of one of the others at an address; None where there is none."""
    read_spreadsheet: Callable[[], bytes | None]
    """Gives the spreadsheet of all claims as it was; None where it is not there as it was written."""


def name_templates(settings: PageSettings) -> str:
    """Return the digest of everything but the records that shapes a page: templates and settings."""
    return hashlib.sha256(f"{site_template_digest()}\n{settings!r}".encode()).hexdigest()[:12]


class PageBook:
    """The pages of *view*; `find` makes one, `plan` lists all."""

    def __init__(
        self,
        view: View,
        settings: PageSettings,
        claims: ClaimSource,
        supplements: SupplementFolder | None = None,
        *,
        searches_texts: bool = False,
        build_list_states: BuildListStates | None = None,
    ) -> None:
        """Make the pages of *view*; published files in *supplements* are downloads.

        Args:
            searches_texts: as in `SupplementCollector`, for many pages at once.
            build_list_states: gives states of lists, which stay while their claims do; without it each list changes with the log.
        """
        self._build_list_states = build_list_states
        self._searches_texts = searches_texts
        self.view = view
        self.settings = settings
        self._claims = claims
        self._supplements = supplements
        self._collector: SupplementCollector | None = None
        self._supplement: tuple[str, Supplement | CardSupplement] | None = None
        self._body: tuple[str, bytes] | None = None
        self._trail: tuple[str, tuple[TrailEntry, ...]] | None = None
        self._expected: dict[str, int] = {}
        self._gathered: range | None = None
        self._newest: dict[str, str] = {}
        self._files: dict[str, list[Recorded[Publication]]] | None = None
        self._earlier: EarlierPlan | None = None
        self.states: Mapping[str, str] = {}
        """Of all claims and cards, after `plan`; see `find_states`."""

    @cached_property
    def list_state(self) -> str:
        """The state of every page that lists something, or depends on the log as a whole."""
        return f"l-{self.view.log_size}-{self._templates}"

    @cached_property
    def _templates(self) -> str:
        return name_templates(self.settings)

    @cached_property
    def _erased(self) -> frozenset[int]:
        return self.view.list_erased()

    @cached_property
    def _models(self) -> Mapping[str, ModelRef]:
        """Every model version, by its page."""
        return {find_model_page(model): model for model in model_pages.list_models(self.view)}

    @cached_property
    def _codes(self) -> tuple[str, ...]:
        return model_pages.list_codes(self.view)

    @cached_property
    def _used_properties(self) -> frozenset[str]:
        """The properties of which a list of claims has a page."""
        return frozenset(value.value for value in self._claims.select(ClaimFilter(), limit=1).facets["property"])

    # What there is.

    def plan(self, earlier: EarlierPlan | None = None) -> Iterator[PlannedPage]:
        """Yield every page with its state, those of one claim or card together; after an *earlier* plan only what is not the same there.

        Then `states` has the states of all claims and cards.
        """
        self._earlier = earlier
        # By address; lists follow from the pages of their claims.
        subjects: dict[str, str] = {}
        for page in self._plan_subjects(earlier):
            subjects[page.address] = page.state
            yield page

        def find_subject(address: str) -> str | None:
            return subjects.get(address) or (None if earlier is None else earlier.find_page(address))

        yield from self._plan_records(lambda name: find_subject(f"/{name}/") or self.find_state(name))
        for address in list_assets():
            yield PlannedPage(address, "immutable")
        for address in (*self._list_fixed(), *log_files.list_addresses(self.view, quorum=self.settings.quorum)):
            yield PlannedPage(address, self.find_address_state(address))
        yield from self._plan_lists(find_subject)

    def _plan_subjects(self, earlier: EarlierPlan | None) -> Iterator[PlannedPage]:
        """Yield the pages of claims and cards."""
        if earlier is None:
            states = self.states = find_states(self.view)
            files = self._files = self._list_publications()
        else:
            names = {name for bare in earlier.changed for name in self._list_revisions(bare)}
            states = find_states(self.view, names, earlier.states)
            self.states = {**earlier.states, **states}
            files = {bare: listed for bare in earlier.changed if (listed := self._find_files(bare))}
        newest = self._newest = _find_newest(states)
        for name in sorted(states, key=_order):
            state = self._name_state(name, states, newest, files)
            for address in _list_subject_pages(name, is_newest=newest[name.partition("@")[0]] == name):
                yield PlannedPage(address, self._name_page_state(address, state))
            yield from (PlannedPage(address, state) for address in self._list_files(name, files))

    def _plan_lists(self, find_subject: Callable[[str], str | None]) -> Iterator[PlannedPage]:
        """Yield the lists of claims, and the pages and feeds of models, which change with their claims.

        Args:
            find_subject: gives the state of the page of a claim at an address.
        """
        build = self._build_list_states
        claims = {bare for name in self.states if (bare := name.partition("@")[0]).startswith(Kind.CLAIM.value)}
        lists, trails = (
            None if build is None else build({claim: find_subject(f"/{claim}{ending}") or "" for claim in claims})
            for ending in ("/", "/feed.atom")
        )

        def plan(address: str, states: ListStateFinder | None, wanted: ClaimFilter, *parts: object, **asked: int) -> PlannedPage:
            found = None if states is None else states.find_state(wanted, **asked)
            marked = hashlib.sha256(f"{found} {parts}".encode()).hexdigest()[:24]
            return PlannedPage(address, self.list_state if found is None else f"l-{marked}-{self._templates}")

        for facet, value, number in self._list_claim_lists():
            wanted = ClaimFilter(chosen={} if facet is None or value is None else {facet: (value,)})
            # The first page counts all facets.
            most = list_pages.MOST_VALUES if number == 1 else 0
            address = find_list_page(facet, value, number)
            yield plan(address, lists, wanted, skip=(number - 1) * list_pages.ROWS, limit=list_pages.ROWS, most=most)
        followed = [("/claims/", ClaimFilter()), *((find_authority_page(code), choose_authority(code)) for code in self._codes)]
        lineage = self._mark_models()
        for address, model in self._models.items():
            wanted = ClaimFilter(chosen=model_pages.choose_model(model))
            yield plan(address, lists, wanted, lineage)
            followed.append((address, wanted))
        for page, wanted in followed:
            for feed in MEDIA_TYPES:
                yield plan(f"{page}{feed}", trails, wanted, limit=selection_feeds.MOST_CLAIMS)

    def _mark_models(self) -> str:
        """Return a digest of the statements on model versions: the page of one shows its relatives."""
        view = self.view
        recorded: tuple[Recorded[Any], ...] = (*view.list_models(), *view.list_model_events(), *view.list_endpoint_statements())
        text = f"{[statement.entry.leaf for statement in recorded]} {list(self._models)}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _plan_records(self, find_claim_state: Callable[[str], str]) -> Iterator[PlannedPage]:
        records = RecordStates(self.view)
        for address, name in records.list_addresses():
            yield PlannedPage(address, self._name_record_state(records, name, find_claim_state))

    def _name_record_state(self, records: RecordStates, name: str, find_claim_state: Callable[[str], str]) -> str:
        used = "-used" if name.partition("@")[0] in self._used_properties else ""
        return f"c-{records.find_state(name, find_claim_state)}{used}-{self._templates}"

    def _list_files(self, name: str, files: Mapping[str, list[Recorded[Publication]]]) -> Iterator[str]:
        """Yield the addresses of the published files of the revision *name* that are at hand, and of their proofs."""
        listed = [one for one in files.get(name.partition("@")[0], ()) if one.payload.subject == name]
        for download in self._find_downloads(listed):
            yield f"/{download.name}"
            if download.proof is not None:
                yield f"/{download.proof}"

    def _find_downloads(self, publications: Iterable[Recorded[Publication]]) -> list[Download]:
        there = (download for _, download in list_downloads(self._supplements, publications, self._erased) if download is not None)
        return list({download.name: download for download in there}.values())

    def _list_revisions(self, bare: str) -> list[str]:
        if bare.startswith(Kind.CARD.value):
            card = self.view.find_card(bare)
            count = card.payload.revision if card else 0
        else:
            count = self.view.count_revisions(bare)
        return [f"{bare}@{number}" for number in range(1, count + 1)]

    def _list_fixed(self) -> Iterator[str]:
        """Yield the pages and files that are few, or show the log as a whole."""
        yield from ("/", "/cards/", "/models/", "/authorities/", "/changes/", "/errors/", "/status/", "/404.html")
        yield from ("/feed.atom", "/feed.json", "/claims.csv", "/api/1/index.json", VERIFIER, *self._list_descriptions())
        if self.settings.has_index:
            yield from (SEARCH, SEARCH_SCRIPT)
        yield from (find_authority_page(code) for code in self._codes)
        yield from comparison_pages.list_addresses(self.view)

    def _list_descriptions(self) -> Iterator[str]:
        """Yield the files that describe the site to programs."""
        yield from (OPENAPI, ROBOTS, REGISTRY)
        if self.settings.contact is not None:
            yield SECURITY

    def _list_claim_lists(self) -> Iterator[tuple[str | None, str | None, int]]:
        """Yield each page of a list of claims: facet and value, None for the list of all, and its number."""
        everything = self._claims.select(ClaimFilter(), limit=1)
        yield from ((None, None, number) for number in list_pages.number_pages(everything.total))
        for facet in STATIC_FACETS:
            for value in everything.facets[facet]:
                yield from ((facet, value.value, number) for number in list_pages.number_pages(value.count, of_value=True))

    def _list_publications(self) -> dict[str, list[Recorded[Publication]]]:
        files: dict[str, list[Recorded[Publication]]] = {}
        for publication in self.view.list_publications():
            files.setdefault(publication.payload.subject.partition("@")[0], []).append(publication)
        return files

    def _name_state(self, name: str, states: dict[str, str], newest: dict[str, str], files: dict[str, list[Recorded[Publication]]]) -> str:
        bare = name.partition("@")[0]
        # An older revision says by what it is superseded. Files are no part of the state of a supplement, but the page lists them.
        listed = files.get(bare, [])
        last = listed[-1].entry.seq if listed else 0
        there = " ".join(download.name for download in self._find_downloads(listed))
        digest = hashlib.sha256(f"{states[name]}\n{states[newest[bare]]}\n{last}\n{there}".encode()).hexdigest()
        return f"c-{digest[:24]}-{self._templates}"

    def _name_page_state(self, address: str, state: str) -> str:
        # They have entries of other claims too, such as one that this claim took the place of.
        if not address.endswith(_TRAILS):
            return state
        return f"{state}-{self.view.find_last_named(parse_identifier(address.split('/')[1]))}"

    # One page.

    def expect(self, addresses: Iterable[str]) -> None:
        """Say which pages will be asked for, in this order: what claims rest on is then read for many of them at once."""
        named = (_parse_subject(address, self.view).subject for address in addresses if address.startswith(SUBJECTS))
        names = dict.fromkeys(self._name_exactly(subject) for subject in named)
        self._expected = {name: place for place, name in enumerate(names)}
        self._gathered = None

    def find(self, address: str, *, state: str | None = None) -> Page:
        """Return the page at *address*.

        Args:
            state: that of the page, where it is known.

        Raises:
            NotFoundError: there is none, with what may have been meant; or what it shows was erased.
            InputError: it names a claim or card by a text that is no identifier.
        """
        assets = list_assets()
        if address in assets:
            kind = "text/css; charset=utf-8" if address.endswith(".css") else "font/woff2"
            return Page(address=address, body=assets[address], media_type=kind, state="immutable")
        if address == VERIFIER:
            return Page(address=address, body=read_page().content, media_type=HTML, state=self.find_address_state(address))
        if address.startswith(SUBJECTS):
            return self._find_subject(address, state)
        if address.startswith(PREFIXES):
            return self._find_record(address, state)
        made = self._find_listed(address)
        if made is None:
            raise NotFoundError(Fault("address-not-found", address, "no page of this registry has this address"))
        body, media_type = made
        return Page(address=address, body=body, media_type=media_type, state=self.find_address_state(address))

    def find_address_state(self, address: str) -> str:
        """Return the state of the page at *address* without making it; raises as `find`, but a list that is not there has a state too."""
        if address in list_assets() or log_files.is_immutable(address):
            return "immutable"
        if address == VERIFIER:
            return f"v-{read_page().sha256[:24]}"
        if address.startswith(SUBJECTS):
            state = self.find_state(self._name_exactly(_parse_subject(address, self.view).subject))
            return self._name_page_state(address, state)
        if address.startswith(PREFIXES):
            name, _ = self._parse_record(address)
            return self._name_record_state(RecordStates(self.view, [name]), name, self.find_state)
        return f"t-{self._templates}" if address in _CONSTANT else self.list_state

    def _parse_record(self, address: str) -> tuple[str, str]:
        """Return the name of the audit, objection or definition at *address*, and what follows it: `/` or `.json`."""
        first = address[1:].partition("/")[0]
        written, dot, ending = first.partition(".")
        try:
            identifier = parse_identifier(written)
        except ValueError as error:
            raise NotFoundError(Fault("address-not-found", written, str(error), advice=self.view.suggest(written))) from error
        name = find_record(self.view, identifier)
        if name is None or str(identifier) != written:
            advice = self.view.suggest(identifier.bare)
            raise NotFoundError(Fault("not-registered", written, "nothing has this identifier here", advice=advice))
        rest = f"{dot}{ending}{address[1 + len(first) :]}"
        # A file belongs to one version of a definition.
        if rest != "/" and not (rest == ".json" and identifier.revision is not None):
            raise NotFoundError(Fault("address-not-found", address, "it has no page of this kind"))
        return name, rest

    def _find_record(self, address: str, state: str | None) -> Page:
        name, rest = self._parse_record(address)
        state = state or self.find_address_state(address)
        link = Linker(f"/{name}/", self.settings)
        if rest == ".json":
            return Page(address=address, body=record_pages.write_record(self.view, name), media_type=JSON, state=state)
        is_used = name.partition("@")[0] in self._used_properties
        body, is_erased = record_pages.render_record(self.view, name, link, is_used=is_used)
        return Page(address=address, body=body, media_type=HTML, state=state, is_erased=is_erased)

    def _find_listed(self, address: str) -> tuple[bytes, str] | None:
        link = Linker(address, self.settings)
        fixed: dict[str, Callable[[], tuple[bytes, str]]] = {
            "/": lambda: (list_pages.render_front(self.view, self._claims, link), HTML),
            "/cards/": lambda: (model_pages.render_cards(self.view, link), HTML),
            "/models/": lambda: (model_pages.render_models(self.view, self._claims, link), HTML),
            "/authorities/": lambda: (model_pages.render_authorities(self.view, link), HTML),
            "/changes/": lambda: (log_pages.render_changes(self.view, link), HTML),
            "/errors/": lambda: (log_pages.render_errors(self.view, link), HTML),
            "/status/": lambda: (log_pages.render_status(self.view, self._claims, link), HTML),
            "/404.html": lambda: (log_pages.render_missing(self.view, link), HTML),
            "/claims.csv": lambda: (self._write_spreadsheet(), CSV),
            "/api/1/index.json": lambda: (log_pages.render_index(self.view, self._claims, link), JSON),
        }
        if self.settings.has_index:
            fixed[SEARCH] = lambda: (list_pages.render_index_search(self.view, link), HTML)
            fixed[SEARCH_SCRIPT] = lambda: (read_template("web/search.js").encode(), _SCRIPT)
        if address in fixed:
            return fixed[address]()
        if (described := find_description(self.view, self.settings, address) or self._find_file(address, link)) is not None:
            return described
        parts = address.strip("/").split("/")
        match parts:
            case ["claims", *rest] if address.endswith("/"):
                return self._find_claim_list(rest, link)
            case ["models", _, _, _] if address in self._models:
                return model_pages.render_model(self.view, self._claims, self._models[address], link), HTML
            case ["authorities", code] if address.endswith("/") and code in self._codes:
                return model_pages.render_authority(self.view, self._claims, code, link), HTML
            case _:
                pass
        return None

    def _write_spreadsheet(self) -> bytes:
        earlier, view = self._earlier, self.view
        if earlier is not None and (before := earlier.read_spreadsheet()) is not None:
            changed = [name for name in earlier.changed if name.startswith(Kind.CLAIM.value)]
            updated = list_pages.update_spreadsheet(before, read_claims(view, changed, log=view.log_origin), earlier.changed)
            if updated is not None:
                return updated
        return list_pages.render_spreadsheet(search_claims(view, ClaimQuery(), log=view.log_origin))

    def _find_selection_feed(self, page: str, link: Linker) -> tuple[bytes, str] | None:
        """Return the feed of all claims, or of those of a model version or authority, whose page is *page*."""
        wanted, title = None, self.view.log_origin
        if page == "/claims/":
            wanted = ClaimFilter()
        elif page in self._models:
            wanted, title = ClaimFilter(chosen=model_pages.choose_model(self._models[page])), str(self._models[page])
        elif (code := page.removeprefix("/authorities/").removesuffix("/")) in self._codes:
            wanted, title = (choose_authority(code) if page == find_authority_page(code) else None), code
        if wanted is None:
            return None
        body = selection_feeds.render_selection_feed(self.view, self._claims, wanted, link, title=title, page=page)
        return body, MEDIA_TYPES[link.here.rpartition("/")[2]]

    def _find_file(self, address: str, link: Linker) -> tuple[bytes, str] | None:
        """Return a feed, a comparison of two logs, or a file of the log for programs."""
        if address.startswith(comparison_pages.INDEX) and address.endswith("/"):
            body = comparison_pages.find_comparison(self.view, address, link)
            return None if body is None else (body, HTML)
        page, slash, feed = address.rpartition("/")
        if feed in MEDIA_TYPES:
            if page == "":
                return log_pages.render_feed(self.view, link), MEDIA_TYPES[feed]
            return self._find_selection_feed(f"{page}{slash}", link)
        body = log_files.find_file(self.view, address, quorum=self.settings.quorum)
        return None if body is None else (body, _PLAIN if address.endswith(log_files.CHECKPOINT) else _BYTES)

    def _find_claim_list(self, parts: list[str], link: Linker) -> tuple[bytes, str] | None:
        number = 1
        if parts and parts[-1].isascii() and parts[-1].isdecimal() and len(parts) in (1, 3):
            number = int(parts[-1][:9])
            parts = parts[:-1]
            # The first page has no number, so that no page has two addresses.
            if number == 1:
                return None
        facet, value = None, None
        if parts:
            if len(parts) != 2 or not parts[0].startswith("by-"):
                return None
            facet = parts[0].removeprefix("by-")
            values = self._claims.select(ClaimFilter(), limit=1).facets[facet] if facet in STATIC_FACETS else ()
            value = next((known.value for known in values if write_segment(known.value) == parts[1]), None)
            if value is None:
                return None
        body = list_pages.render_list(self.view, self._claims, link, facet=facet, value=value, number=number)
        return None if body is None else (body, HTML)

    # Claims and cards.

    def _find_subject(self, address: str, state: str | None) -> Page:
        parsed = _parse_subject(address, self.view)
        subject = parsed.subject
        name = self._name_exactly(subject)
        state = state or self._name_page_state(address, self.find_state(name))
        # The newest revision has two addresses, one after the other.
        if parsed.rest == "/" and self._body is not None and self._body[0] == name:
            return Page(address=address, body=self._body[1], media_type=HTML, state=state)
        if parsed.rest.startswith(".") and parsed.rest.endswith(tuple(FILE_TYPES)) and parsed.rest not in claim_pages.CITATIONS:
            return self._find_download(address, name, state)
        try:
            supplement = self._collect(name)
        except NotFoundError as error:
            if error.code != "body-erased" or parsed.rest != "/":
                raise
            # What is left of it: a page that says so, where its address was given away.
            link = Linker(f"/{name}/", self.settings)
            own = [one for one in self._read_trail(subject.bare) if getattr(one.payload, "successor", None) != subject.bare]
            body = log_pages.render_erased(self.view, name, error.faults, own, link)
            return Page(address=address, body=body, media_type=HTML, state=state, is_erased=True)
        body, media_type = claim_pages.render(
            self.view,
            supplement,
            parsed.rest,
            settings=self.settings,
            files=tuple(list_downloads(self._supplements, self._find_files(subject.bare), self._erased)),
            has_erased=bool(self._erased),
            trail=lambda: self._read_trail(subject.bare),
            address=address,
        )
        if parsed.rest == "/":
            self._body = (name, body)
        return Page(address=address, body=body, media_type=media_type, state=state)

    def _find_download(self, address: str, name: str, state: str) -> Page:
        """Return a published file of the revision *name*, or its proof."""
        published = {one.payload.subject: None for one in self._find_files(name.partition("@")[0])}
        wanted = address[1:]
        if name in published and self._supplements is not None:
            for download in self._find_downloads(self._find_files(name.partition("@")[0])):
                if wanted in (download.name, download.proof):
                    ending = next(end for end in reversed(FILE_TYPES) if wanted.endswith(end))
                    return Page(address=address, body=self._supplements.read(wanted), media_type=FILE_TYPES[ending], state=state)
        found = "no published file of this name is here"
        raise NotFoundError(Fault("address-not-found", address, found, advice=f"the page of {name} lists the files that there are"))

    def _name_exactly(self, subject: Identifier) -> str:
        """Return `CLM-…@n` or `CRD-…@n`: the newest revision where none is named."""
        if (newest := self._newest.get(subject.bare)) is not None and _order(newest)[1] >= (subject.revision or 1):
            return newest if subject.revision is None else f"{subject.bare}@{subject.revision}"
        if subject.kind is Kind.CLAIM:
            count = self.view.count_revisions(subject.bare)
            if subject.revision is None and count:
                return f"{subject.bare}@{count}"
            if subject.revision is not None and 1 <= subject.revision <= count:
                return f"{subject.bare}@{subject.revision}"
            if not count and self.view.claim_exists(subject.bare):
                found = "the identifier is reserved, and no claim is registered under it"
                raise NotFoundError(Fault("not-registered", subject.bare, found))
            # With what may have been meant.
            return self.view.dossier(str(subject)).current.payload.reference
        card = self.view.find_card(str(subject))
        if card is None:
            raise NotFoundError(
                Fault("not-registered", str(subject), "no card has this identifier here", advice=self.view.suggest(subject.bare))
            )
        return f"{card.payload.card}@{card.payload.revision}"

    def find_state(self, name: str) -> str:
        """Return the state of the pages of `CLM-…@n` or `CRD-…@n`."""
        bare = name.partition("@")[0]
        newest = self._name_exactly(parse_identifier(bare))
        states = find_states(self.view, {name, newest})
        return self._name_state(name, states, {bare: newest}, {bare: files} if (files := self._find_files(bare)) else {})

    def _find_files(self, bare: str) -> list[Recorded[Publication]]:
        if self._files is not None:
            return self._files.get(bare, [])
        # Asked for by the state of a page and by the page.
        return self.view.recall(("publications", bare), lambda: list(self.view.list_publications(bare)))

    def _read_trail(self, bare: str) -> tuple[TrailEntry, ...]:
        # History and feeds are made one after the other.
        if self._trail is None or self._trail[0] != bare:
            self._trail = (bare, self.view.trail(parse_identifier(bare)))
        return self._trail[1]

    def _collect(self, name: str) -> Supplement | CardSupplement:
        """Return the supplement of *name* as its page shows it: it does not depend on entries that have nothing to do with it."""
        if self._supplement is not None and self._supplement[0] == name:
            return self._supplement[1]
        if self._collector is None:
            # A page names the objections with an erased text, and shows everything else.
            self._collector = SupplementCollector(self.view, is_proven=False, skips_erased=True, searches_texts=self._searches_texts)
        place = self._expected.get(name)
        if place is not None and (self._gathered is None or place not in self._gathered):
            names = list(self._expected)[place : place + TOGETHER]
            self._gathered = range(place, place + len(names))
            self._collector.gather(map(parse_identifier, names))
        supplement = self._collector.collect(parse_identifier(name)).supplement
        if not isinstance(supplement, Supplement | CardSupplement):
            raise TypeError(f"{name} is neither a claim nor a card")
        # The last of its own entries takes the place of the size of the log: then the page stays as it is while the log grows. A proof
        # would end at the present size, so it is left to the published files.
        last = max(list_entries(supplement).values(), key=lambda entry: entry.seq)
        superseded = supplement.superseded and replace(supplement.superseded, log_size=last.seq)
        shown = replace(supplement, log_size=last.seq, made_at=last.at, superseded=superseded)
        # The pages of one claim are made one after the other.
        self._supplement = (name, shown)
        return shown


def choose_authority(code: str) -> ClaimFilter:
    """Return the filter that claims of the authority *code* pass."""
    return ClaimFilter(chosen={"authority": (code,)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _SubjectAddress:
    subject: Identifier
    rest: str
    """What follows the identifier, such as `/history/` or `.bib`."""


def _parse_subject(address: str, view: View) -> _SubjectAddress:
    text = re.sub(r"^/api/1/\w+", "", address)
    first = text[1:].partition("/")[0]
    name, dot, ending = first.partition(".")
    rest = f"{dot}{ending}{text[1 + len(first) :]}"
    try:
        subject = parse_identifier(name, Kind.CLAIM, Kind.CARD)
    except ValueError as error:
        raise NotFoundError(Fault("address-not-found", name, str(error), advice=view.suggest(name))) from error
    if str(subject) != name:
        raise NotFoundError(Fault("address-not-found", address, f"the identifier is written {subject}"))
    if subject.digest is not None and subject.kind is Kind.CLAIM:
        # Another digest than the recorded one is refused there.
        view.dossier(str(subject))
    return _SubjectAddress(subject=subject, rest=f"api{rest}" if address.startswith("/api/") else rest)


def _find_newest(states: dict[str, str]) -> dict[str, str]:
    return {name.partition("@")[0]: name for name in sorted(states, key=_order)}


def _order(name: str) -> tuple[str, int]:
    bare, _, revision = name.partition("@")
    return bare, int(revision)


def _list_subject_pages(name: str, *, is_newest: bool) -> Iterator[str]:
    bare, _, revision = name.partition("@")
    yield f"/{name}/"
    if is_newest:
        yield from (f"/{bare}/{feed}" for feed in MEDIA_TYPES)
    if bare.startswith("CRD-"):
        yield from (f"/{bare}/diff/{int(revision) - 1}..{revision}/",) if int(revision) > 1 else ()
        if is_newest:
            yield from (f"/{bare}/", f"/{bare}/coverage/", f"/api/1/cards/{bare}.json")
        return
    yield from (f"/{name}{ending}" for ending in claim_pages.CITATIONS)
    if int(revision) > 1:
        yield f"/{bare}/diff/{int(revision) - 1}..{revision}/"
    if is_newest:
        yield from (f"/{bare}/", f"/{bare}/history/", f"/{bare}/audits/", f"/{bare}/contest/", f"/api/1/claims/{bare}.json")
