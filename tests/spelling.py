"""Words that no two tasks share: tasks that are nearly the same would need a family."""

import hashlib


def spell(value: object) -> str:
    """Return 64 letters that are others for each *value*."""
    return hashlib.sha256(str(value).encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
