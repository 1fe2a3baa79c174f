"""Request bodies in a run folder's database: each once, and each long text of theirs once, by its digest."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any, cast

from registry.codec.canonical import Json

_LONG = 64
"""Characters from which a text of a request is kept once, by its digest."""


def keep_body(write: sqlite3.Connection, sha256: str, body: Mapping[str, Json]) -> None:
    """Keep the request *body*, whose digest is *sha256*; the same again changes nothing."""
    if write.execute("SELECT 1 FROM request WHERE sha256 = ?", (sha256,)).fetchone():
        return
    texts: dict[str, str] = {}
    folded = json.dumps(_fold(body, texts), ensure_ascii=False, separators=(",", ":"))
    write.executemany("INSERT INTO text VALUES (?, ?) ON CONFLICT DO NOTHING", texts.items())
    write.execute("INSERT INTO request VALUES (?, ?)", (sha256, folded))


def find_body(read: sqlite3.Connection, sha256: str) -> dict[str, Any] | None:
    """Return the request body with this digest, whole; None when none has it."""
    row = read.execute("SELECT folded FROM request WHERE sha256 = ?", (sha256,)).fetchone()
    return None if row is None else cast("dict[str, Any]", _unfold(read, json.loads(row[0])))


def _fold(value: Any, texts: dict[str, str]) -> Any:
    """Return *value* with its long texts replaced by their digests, which go into *texts*; a key that begins with $ gets another."""
    if isinstance(value, str) and len(value) >= _LONG:
        sha256 = hashlib.sha256(value.encode()).hexdigest()
        texts[sha256] = value
        return {"$text": sha256}
    if isinstance(value, Mapping):
        return {f"${key}" if key.startswith("$") else key: _fold(one, texts) for key, one in value.items()}
    return [_fold(one, texts) for one in value] if isinstance(value, (list, tuple)) else value


def _unfold(read: sqlite3.Connection, value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$text"}:
            return read.execute("SELECT content FROM text WHERE sha256 = ?", (value["$text"],)).fetchone()[0]
        return {key.removeprefix("$") if key.startswith("$$") else key: _unfold(read, one) for key, one in value.items()}
    return [_unfold(read, one) for one in value] if isinstance(value, list) else value
