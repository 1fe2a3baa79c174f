"""States of lists of claims: a digest that differs where a list may show something else, made without making the list.

A list shows rows, which follow from the pages of their claims, and counts of facets. So its state is a digest of the states of these pages
and of the counts. One number for each claim shows whether its row may differ, so that the state of a long list takes a millisecond.
"""

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from web.facets import FACETS, LONGEST, ClaimFilter
from web.shelf.bit_sets import Numbers, ShelfState

_DIGITS = 16
"""Hexadecimal digits of 64 bits."""


class ListStates:
    """States of lists at one entry of the log."""

    def __init__(self, state: ShelfState, pages: Mapping[str, str]) -> None:
        """Take the claims of *state*, and the states of their *pages* by claim, `CLM-…`."""
        self._state = state
        self._listed: tuple[ClaimFilter, Numbers] | None = None
        # Of a claim without a page nothing is known, so it has no number of its own.
        marks = (hashlib.sha256(pages.get(claim, "").encode()).hexdigest()[:_DIGITS] for claim in state.list_claims())
        self._marks = np.fromiter((int(mark, 16) for mark in marks), dtype=np.uint64, count=len(state.seqs))

    def find_state(self, wanted: ClaimFilter, *, skip: int = 0, limit: int = LONGEST, most: int = 0) -> str:
        """Return the state of a list; see `web.facets.ListStateFinder`."""
        # The pages of one list are asked for one after the other.
        if self._listed is None or self._listed[0] != wanted:
            self._listed = (wanted, self._state.find_listed(wanted))
        places = self._listed[1][skip : skip + limit]
        digest = hashlib.sha256(f"{len(self._listed[1])} ".encode())
        digest.update(self._state.seqs[places].tobytes())
        digest.update(self._marks[places].tobytes())
        if most:
            facets = self._state.select(wanted, limit=0).facets
            counted = [[(value.value, value.count) for value in facets.list_most(name, most)[0]] for name in FACETS]
            digest.update(json.dumps(counted).encode())
        return digest.hexdigest()[:24]
