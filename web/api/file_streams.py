"""Complete files of any length, made while they are sent: the log as a bundle, and all claims as JSON Lines or Parquet."""

from collections.abc import Iterable, Iterator
from itertools import chain

import orjson

from registry.cli.claim_list_command import describe_listed_claim
from registry.errors import Fault, UnavailableError
from registry.exchange.bundle_transfer import find_last_note, stream_bundle
from registry.registration.claim_search import stream_claims
from registry.store.registry_view import View

_CHUNK_BYTES = 65_536


def join_chunks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *parts* joined to chunks, so that a line is not a packet."""
    joined = bytearray()
    for part in parts:
        joined += part
        if len(joined) >= _CHUNK_BYTES:
            yield bytes(joined)
            joined.clear()
    if joined:
        yield bytes(joined)


def write_bundle(view: View, *, since: int) -> Iterator[bytes]:
    """Return the log up to its last signed checkpoint as a bundle, without the texts of cards: these belong to others.

    Raises:
        NotFoundError: no checkpoint was signed.
        InputError: nothing comes after *since*.
    """
    # Whether statements of EXAMPLE may be seen is decided before the server starts.
    return join_chunks(stream_bundle(view, find_last_note(view).note, since=since, example=True))


def write_claim_lines(view: View) -> Iterator[bytes]:
    """Return every claim as a line of JSON, in log order."""
    return join_chunks(_list_lines(view))


def _list_lines(view: View) -> Iterator[bytes]:
    for claim in chain.from_iterable(stream_claims(view, log=view.log_origin)):
        yield orjson.dumps({"schema": "caveat/web-claim-line/1", "log_size": view.log_size, **describe_listed_claim(claim)}) + b"\n"


def write_claim_table(view: View) -> Iterator[bytes]:
    """Return every claim as a table in Parquet, with the columns of `caveat claim list`.

    Raises:
        UnavailableError: pyarrow is not installed.
    """
    try:
        from web.api.claim_table import write_table  # noqa: PLC0415  (it takes a while to load, and only this needs it)
    except ImportError as error:
        found = "tables in Parquet need the library pyarrow, which this server does not have"
        raise UnavailableError(Fault("part-not-installed", "pyarrow", found, advice="ask for /api/1/claims.jsonl")) from error
    return write_table(view)
