"""What programs can ask for. Each operation is declared once: the router, the check of parameters and `/openapi.json` read it here."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from web.facets import FACETS, LABELS

JSON = "application/json"
LINES = "application/jsonl"
PARQUET = "application/vnd.apache.parquet"
CSV_TYPE = "text/csv"
HTML_TYPE = "text/html"

LARGEST_PAGE = 500
"""Items of one answer."""
LONGEST_WAIT_S = 25
"""How long a request may wait for new entries: proxies give up after thirty seconds."""
LARGEST_NUMBER = 10**15 - 1
LONGEST_WORDS = 500
MOST_WORDS = 32
_API = "/api/1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A part of an address that the reader chooses."""

    name: str
    about: str
    minimum: int = 0
    maximum: int | None = None
    """Of a number; None for a text."""
    is_repeated: bool = False
    default: int | None = None
    longest: int = 200
    """Characters of a text."""
    example: str | None = None

    @property
    def is_number(self) -> bool:
        """Whether its values are whole numbers."""
        return self.maximum is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that can be asked for."""

    name: str
    path: str
    """With `{…}` for each part that the reader chooses."""
    about: str
    parameters: tuple[Parameter, ...] = ()
    """Of the query; those of the path are in `PATH_PARAMETERS`."""
    answer: str | None = None
    """The name of the format, such as `web-claims`; None for what is no JSON document."""
    media_type: str = JSON
    is_static: bool = False
    """Whether a site of files has it too."""
    is_file: bool = False
    """Whether it is a complete file of any length, sent while it is made."""
    statuses: tuple[int, ...] = ()
    """Answers besides those that every operation has."""

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the parts of the path that the reader chooses."""
        return tuple(re.findall(r"{(\w+)}", self.path))


_AFTER = Parameter(name="after", about="Only what comes after this entry of the log.", maximum=LARGEST_NUMBER)
_LIMIT = Parameter(name="limit", about="At most so many items.", minimum=1, maximum=LARGEST_PAGE, default=100)
_PAGED = (_AFTER, _LIMIT)
_WAIT = Parameter(
    name="wait", about="Seconds to wait for an entry after `after` where there is none yet.", maximum=LONGEST_WAIT_S, default=0
)
_SEARCH = (
    *(Parameter(name=facet, about=f"{LABELS[facet]}; of several values any will do.", is_repeated=True) for facet in FACETS),
    Parameter(name="q", about="Words that must all occur in quotation, identifier or model.", longest=LONGEST_WORDS),
    Parameter(name="limit", about="At most so many claims.", minimum=1, maximum=LARGEST_PAGE, default=100),
    Parameter(name="as_of", about="The size of the log at the first page of this walk.", maximum=LARGEST_NUMBER),
    Parameter(name="after", about="The entry that the page before ended with.", maximum=LARGEST_NUMBER),
)
_SINCE = Parameter(name="since", about="Only what changed after this entry of the log.", maximum=LARGEST_NUMBER)

PATH_PARAMETERS: Mapping[str, Parameter] = {
    "claim": Parameter(name="claim", about="A claim, or one revision of it.", example="CLM-AISI-2026-0001-S"),
    "card": Parameter(name="card", about="A card, or one revision of it.", example="CRD-AISI-2026-0001-F"),
    "audit": Parameter(name="audit", about="An audit.", example="AUD-AISI-2026-0001-K"),
    "objection": Parameter(name="objection", about="An objection.", example="CON-AISI-2026-0001-3"),
    "spec": Parameter(name="spec", about="A specification, or one version of it.", example="PRP-AISI-2026-0001-P"),
    "developer": Parameter(name="developer", about="The developer of a model.", example="LAB"),
    "model": Parameter(name="model", about="The name of a model.", example="M"),
    "version": Parameter(name="version", about="The version of a model.", example="1"),
    "authority": Parameter(name="authority", about="The code of an authority.", example="AISI"),
    "entry": Parameter(name="entry", about="The number of an entry of the log.", example="1"),
    "sha256": Parameter(name="sha256", about="The SHA-256 of a published file.", example="0" * 64),
    "log": Parameter(name="log", about="The last part of the name of a log.", example="0" * 16),
    "span": Parameter(name="span", about="Two revisions, such as `1..2`.", example="1..2"),
}
"""The parts of paths that the reader chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Things that are read in the same way: a list, each thing, its history, what changed, and a proof."""

    name: str
    noun: str
    key: str
    """What names one in a path."""
    answer: str
    kinds: tuple[str, ...] = ()
    """The kinds of statement that register one: they are listed."""
    has_history: bool = True
    has_difference: bool = False
    has_proof: bool = True
    is_static: bool = False


RESOURCES = (
    Resource(name="claims", noun="claim", key="{claim}", answer="supplement", has_difference=True, is_static=True),
    Resource(name="cards", noun="card", key="{card}", answer="card-supplement", kinds=("card",), has_difference=True, is_static=True),
    Resource(name="audits", noun="audit", key="{audit}", answer="web-audit", kinds=("audit",)),
    Resource(name="objections", noun="objection", key="{objection}", answer="web-objection", kinds=("objection",)),
    Resource(name="specs", noun="spec", key="{spec}", answer="web-spec", kinds=("spec_version",), has_difference=True),
    Resource(name="models", noun="model", key="{developer}/{model}/{version}", answer="web-model"),
    Resource(name="authorities", noun="authority", key="{authority}", answer="web-authority", kinds=("authority",)),
    Resource(name="publications", noun="publication", key="{sha256}", answer="web-publication", kinds=("publication",), has_history=False),
    Resource(name="logs", noun="log", key="{authority}/{log}", answer="web-log", has_history=False, has_proof=False),
    Resource(name="entries", noun="entry", key="{entry}", answer="web-entry", has_history=False),
)
"""Everything that has an address below `/api/1/`."""


def _list_of(resource: Resource) -> Iterator[Operation]:
    stem, noun = f"{_API}{resource.name}", resource.noun
    named = f"{stem}/{resource.key}"
    if resource.kinds:
        about = f"The {resource.name}, in the order of the log."
        yield Operation(name=f"list_{resource.name}", path=stem, about=about, parameters=_PAGED, answer="web-records")
    yield Operation(
        name=f"read_{noun}", path=named, about=f"One {noun}.", answer=resource.answer, is_static=resource.is_static, statuses=(410,)
    )
    if resource.has_history:
        about = f"All entries of the log about one {noun}."
        yield Operation(name=f"read_{noun}_history", path=f"{named}/history", about=about, parameters=_PAGED, answer="web-history")
    if resource.has_difference:
        about = f"What differs between two revisions of one {noun}."
        yield Operation(
            name=f"read_{noun}_difference", path=f"{named}/diff/{{span}}", about=about, answer="web-difference", statuses=(410,)
        )
    if resource.has_proof:
        about = f"The proof that the entries about one {noun} are in the log."
        yield Operation(name=f"read_{noun}_proof", path=f"{named}/proof", about=about, answer="web-proof", statuses=(410,))


def _list_searches() -> Iterator[Operation]:
    about = "Claims that pass filters, the latest first, with exact counts of all facets."
    yield Operation(name="list_claims", path=f"{_API}claims", about=about, parameters=_SEARCH, answer="web-claims")
    about = "Entries of the log, in order; with `wait`, the request waits for the next one."
    yield Operation(name="list_entries", path=f"{_API}entries", about=about, parameters=(*_PAGED, _WAIT), answer="web-entries")
    about = "All model versions: those that are registered, and those that only claims name."
    yield Operation(name="list_models", path=f"{_API}models", about=about, answer="web-records")
    yield Operation(name="list_logs", path=f"{_API}logs", about="The logs that are kept here.", answer="web-logs")
    yield Operation(
        name="read_index", path=f"{_API}index.json", about="All claims, with their records.", answer="web-index", is_static=True
    )
    yield Operation(name="read_status", path=f"{_API}status", about="The state of log and server.", answer="web-status")


def _list_files() -> Iterator[Operation]:
    about = "The log up to its last checkpoint, as `caveat admin bundle read` takes it."
    since = Parameter(name="since", about="Leave out so many entries, which you have.", maximum=LARGEST_NUMBER, default=0)
    yield Operation(name="read_bundle", path=f"{_API}bundle", about=about, parameters=(since,), media_type=LINES, is_file=True)
    about = "All claims as of one entry, one to a line."
    yield Operation(name="read_claim_lines", path=f"{_API}claims.jsonl", about=about, media_type=LINES, is_file=True)
    about = "All claims as of one entry, as a table for data frames."
    yield Operation(name="read_claim_table", path=f"{_API}claims.parquet", about=about, media_type=PARQUET, is_file=True)


def _list_pages() -> Iterator[Operation]:
    """Yield the pages and files for people that take parameters on a server. Without any they are pages of a site."""
    yield Operation(
        name="search", path="/claims/", about="The search for people.", parameters=_SEARCH, media_type=HTML_TYPE, is_static=True
    )
    about = "The claims of a search for a spreadsheet."
    yield Operation(name="export", path="/claims.csv", about=about, parameters=_SEARCH[:-3], media_type=CSV_TYPE, is_static=True)
    about = "The latest entries about the claims that pass a search now, as a feed."
    for form in ("atom", "json"):
        media_type = "application/atom+xml" if form == "atom" else "application/feed+json"
        yield Operation(
            name=f"follow_{form}", path=f"/claims/feed.{form}", about=about, parameters=_SEARCH[:-3], media_type=media_type, is_static=True
        )
    about = "The claims that changed, and the entries."
    yield Operation(name="compare", path="/changes/", about=about, parameters=(_SINCE,), media_type=HTML_TYPE, is_static=True)


@cache
def list_operations() -> tuple[Operation, ...]:
    """Return every operation; where two could match a path, the first does."""
    resources = (operation for resource in RESOURCES for operation in _list_of(resource))
    return (*_list_searches(), *_list_files(), *resources, *_list_pages())


@cache
def _compile() -> tuple[tuple[re.Pattern[str], Operation], ...]:
    return tuple((re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(one.path))), one) for one in list_operations())


def find_operation(path: str) -> tuple[Operation, dict[str, str]] | None:
    """Return the operation at *path* with what the path names; None where it is a page without parameters, or nothing.

    The static form of an address, `…/CLM-….json`, is that of the operation too.
    """
    written = path.removesuffix(".json") if path.startswith(_API) and path != f"{_API}index.json" else path
    for pattern, operation in _compile():
        if (match := pattern.fullmatch(written)) is not None:
            return operation, match.groupdict()
    return None
