"""A submission whose answer was lost is found again at the endpoint, so that nothing is submitted, and paid, twice."""

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from audit.model import Endpoint
from audit.replay.batch_calls import BatchView, read_results
from audit.replay.batch_chunks import Chunk

_SKEW = timedelta(hours=1)
"""How far the endpoint's clock may be behind ours."""
_LOOKED_AT = 20
"""Results of a batch that are looked at for one of ours; one is enough, unless the endpoint mixes batches up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a look at the endpoint's list of batches found of one chunk."""

    found: BatchView | None
    """The chunk's batch."""
    undecided: int
    """Batches still being worked on that may be it: whose a batch is shows only in its results."""

    @property
    def is_conclusive(self) -> bool:
        """Whether the batch is found, or is not there."""
        return self.found is not None or not self.undecided


def find_earliest(chunk: Chunk) -> datetime:
    """Return the time from which batches may be that of *chunk*, by any clock that is not far behind ours."""
    return datetime.fromisoformat(chunk.at) - _SKEW


async def search_chunk(endpoint: Endpoint, chunk: Chunk, listed: Iterable[BatchView], *, known: set[str]) -> Search:
    """Look for the batch that *chunk* was submitted as, among those of its size.

    Args:
        listed: the endpoint's batches since `find_earliest`.
        known: batches that are known to be something else; what is found to be so is added.

    Raises:
        ModelError: results could not be read.
    """
    undecided = 0
    for view in listed:
        if view.id in known or view.total != len(chunk.keys):
            continue
        if view.ended_at is None:
            undecided += 1
        elif not view.is_archived and await _is_its(endpoint, view, chunk):
            return Search(found=view, undecided=undecided)
        else:
            known.add(view.id)
    return Search(found=None, undecided=undecided)


async def _is_its(endpoint: Endpoint, view: BatchView, chunk: Chunk) -> bool:
    ids = chunk.custom_ids
    looked_at = 0
    async with aclosing(read_results(endpoint, view.id)) as lines:
        async for line in lines:
            if line is not None and line["custom_id"] in ids:
                return True
            looked_at += 1
            if looked_at >= _LOOKED_AT:
                break
    return False
