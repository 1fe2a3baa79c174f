"""How many examples a law is tried on where an example costs more than most."""

from hypothesis import settings


def scale(count: int) -> int:
    """Return *count* under the profile `ci`, which gives a law 100 examples, and in proportion fewer or more under the others."""
    return max(1, count * settings.default.max_examples // 100)
