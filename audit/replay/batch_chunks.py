"""Calls in chunks of one batch each, and what the run folder knows of them: written down before it is submitted, accepted, closed."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from audit.replay.store import Call, Intent, RunStore
from registry.codec.canonical import Json, canonical_bytes

MOST_REQUESTS = 100_000
"""In one batch, says the Messages API."""
MOST_BYTES = 240 * 2**20
"""Of one submission as we count it; the API takes 256 MB."""
_ENVELOPE = 160
"""Bytes that a request takes beside its body: custom id, names, brackets."""
_DIGITS = 60
"""Of a key in a custom id, which has at most 64 characters; the rest tells two submissions of one call apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Calls that were, or were about to be, submitted as one batch."""

    number: int
    """From 1, in the run folder."""
    at: str
    """When they were written down, ISO 8601, UTC: the time of their intents."""
    endpoint: str
    """Base address that they were meant for."""
    keys: tuple[str, ...]
    batch: str | None = None
    """Identifier that the endpoint gave; None: it is not known whether it accepted them."""

    @property
    def name(self) -> str:
        """Name of its documents in the store."""
        return f"batch-{self.number:06}"

    @property
    def custom_ids(self) -> dict[str, str]:
        """By custom id, the key of the call that it stands for."""
        tag = hashlib.sha256(f"{self.number} {self.at} {self.keys[0]}".encode()).hexdigest()[: 64 - _DIGITS]
        return {f"{key[:_DIGITS]}{tag}": key for key in self.keys}

    def find_open(self, store: RunStore) -> dict[str, Intent]:
        """Return by key those of its intents that have no outcome yet."""
        mine = set(self.keys)
        return {one.key: one for one in store.list_lost() if one.at == self.at and one.key in mine}


def split_calls(calls: Iterable[Call], *, most: int, most_bytes: int) -> Iterator[list[Call]]:
    """Give *calls* in chunks of at most *most* requests and about *most_bytes* as they are sent, each call once."""
    chunk: list[Call] = []
    seen: set[bytes] = set()
    size = 0
    for call in calls:
        key = bytes.fromhex(call.key)
        if key in seen:
            continue
        seen.add(key)
        more = count_bytes(call.body)
        if chunk and (len(chunk) >= most or size + more > most_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append(call)
        size += more
    if chunk:
        yield chunk


def count_bytes(body: Mapping[str, Json]) -> int:
    """Return about how many bytes *body* takes in a submission."""
    return len(canonical_bytes(dict(body))) + _ENVELOPE


def write_chunk(store: RunStore, calls: Sequence[Call], *, number: int, endpoint: str, at: datetime) -> tuple[Chunk, list[Intent]]:
    """Write down that *calls* are about to be submitted as one batch: the chunk first, so that no intent is without one."""
    chunk = Chunk(number=number, at=at.isoformat(), endpoint=endpoint, keys=tuple(call.key for call in calls))
    store.put_document(chunk.name, {"at": chunk.at, "endpoint": chunk.endpoint, "keys": list(chunk.keys)})
    return chunk, store.intend(calls, at=chunk.at)


def write_accepted(store: RunStore, chunk: Chunk, *, batch: str, created_at: datetime, adopted: bool) -> None:
    """Write down the identifier that the endpoint gave *chunk*; with *adopted*, found again after the answer was lost."""
    store.put_document(f"{chunk.name}-accepted", {"adopted": adopted, "created_at": created_at.isoformat(), "id": batch})


def write_closed(store: RunStore, chunk: Chunk, *, reason: str, counts: Mapping[str, int]) -> None:
    """Write down that nothing more will come of *chunk*."""
    store.put_document(f"{chunk.name}-closed", {"counts": dict(counts), "reason": reason})


def list_open_chunks(store: RunStore) -> tuple[list[Chunk], int]:
    """Return the chunks of which something may still come, oldest first, and how many chunks there have been."""
    found, number = [], 1
    while (document := store.find_document(f"batch-{number:06}")) is not None:
        chunk = Chunk(number=number, at=document["at"], endpoint=document["endpoint"], keys=tuple(document["keys"]))
        accepted = store.find_document(f"{chunk.name}-accepted")
        if store.find_document(f"{chunk.name}-closed") is None:
            batch = None if accepted is None else accepted["id"]
            found.append(Chunk(number=number, at=chunk.at, endpoint=chunk.endpoint, keys=chunk.keys, batch=batch))
        number += 1
    return found, number - 1
