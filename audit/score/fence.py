"""Texts of others inside a request: data between two lines with a mark, which nothing in them can close."""

import hashlib
import json


def fence(name: str, mark: str, text: str) -> str:
    """Return *text* between two lines that carry *name* and *mark*."""
    return f"<<<{name} {mark}\n{text}\n{name} {mark}>>>"


def find_mark(*texts: str) -> str:
    """Return a mark that none of *texts* holds: their own digest, so that whoever wrote them could not have known it."""
    content, turn = json.dumps(texts), 0
    while any((mark := hashlib.sha256(f"{turn}:{content}".encode()).hexdigest()[:24]) in text for text in texts):
        turn += 1
    return mark
