"""How much a test tries: a little each time, much more in `make soak`."""

import os

IS_SOAK = os.environ.get("CAVEAT_SOAK") == "1"
"""Whether this run is to try as much as `make soak` does."""


def choose(usual: int, soak: int) -> int:
    """Return how many instants or examples are tried."""
    return soak if IS_SOAK else usual
