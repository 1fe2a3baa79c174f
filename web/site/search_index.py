"""The search of a site of files: an index that a browser loads in parts. The only importer of Pagefind.

It has the same words as the search of the server: quotation, identifier and model of each claim. A claim with an erased text is not in it.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from registry.errors import Fault, InputError, UnavailableError
from registry.report.supplement_wording import format_verdict, name_model
from registry.store.claim_listing import ClaimSummary
from registry.store.registry_view import View
from web.pages.addresses import LinkStyle, PageSettings, find_file_path

FOLDER = "pagefind"
MOST_CLAIMS = 30_000
"""A reader's browser loads an index in proportion to the claims; beyond this, a server answers faster."""


class SearchRecord(NamedTuple):
    """What is found of one claim."""

    page: str
    title: str
    quote: str
    verdict: str
    model: str


def list_records(view: View, settings: PageSettings) -> list[SearchRecord]:
    """Return what is found, in log order."""
    return [_build_record(summary, settings) for summary in view.list_claims() if summary.quote is not None]


def _build_record(summary: ClaimSummary, settings: PageSettings) -> SearchRecord:
    address = f"/{summary.claim}/"
    gravest = summary.status.gravest
    return SearchRecord(
        page=(find_file_path(address) if settings.links is LinkStyle.FILES else address[1:]),
        title=f"{summary.claim}@{summary.revision}",
        quote=(summary.quote or "")[:300],
        verdict=format_verdict(gravest.verdict, gravest.standing) if gravest else "not audited",
        model=name_model(summary.model),
    )


def name_records(records: Iterable[SearchRecord]) -> str:
    """Return the state of an index of *records*."""
    return f"p-{hashlib.sha256(json.dumps(list(records)).encode()).hexdigest()[:24]}"


def refuse_many(view: View) -> None:
    """Refuse an index that is too large for a browser, or cannot be made here."""
    if (count := view.count_claims()) > MOST_CLAIMS:
        found = f"the registry has {count:,} claims, and a site has an index of up to {MOST_CLAIMS:,}"
        raise InputError(
            Fault("bad-option", "--search", found, advice="use --no-search: the site has lists; caveat serve searches any number")
        )
    try:
        import pagefind.index  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        found = f"this needs the library {error.name}, which is not installed here"
        raise UnavailableError(Fault("part-not-installed", "pagefind", found, advice="pip install 'caveat[site]'")) from error


def build_index(records: Iterable[SearchRecord]) -> Mapping[str, bytes]:
    """Return the files of an index of *records*, by their path in the site."""
    # In a thread of its own: the caller may have an event loop already.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(_build_index(list(records)))).result()


async def _build_index(records: list[SearchRecord]) -> dict[str, bytes]:
    from pagefind.index import IndexConfig, PagefindIndex  # noqa: PLC0415

    async with PagefindIndex(config=IndexConfig(force_language="en", write_playground=False)) as index:
        for record in records:
            await index.add_custom_record(
                url=f"/{record.page}", content=f"{record.quote} {record.title} {record.model}", language="en", meta=record._asdict()
            )
        return {f"{FOLDER}/{file['path']}": file["content"] for file in await index.get_files() if _is_needed(file["path"])}


def _is_needed(path: str) -> bool:
    """Whether the search page loads it; Pagefind's own pages and styles are not."""
    return "ui" not in path.rpartition("/")[2] and "highlight" not in path and "component" not in path
