"""Archives as Inspect writes them, and as no one should: made byte by byte."""

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

STORED, DEFLATE, ZSTANDARD = 0, 8, 93


@dataclass(frozen=True, kw_only=True)
class Member:
    """One member; what is None follows from the content."""

    name: str
    content: bytes
    method: int = ZSTANDARD
    frames: int = 1
    packed: bytes | None = None
    size: int | None = None
    checksum: int | None = None
    flags: int = 0


def pack(member: Member) -> bytes:
    if member.packed is not None:
        return member.packed
    if member.method == ZSTANDARD:
        length = -(-len(member.content) // member.frames) or 1
        pieces = [member.content[start : start + length] for start in range(0, len(member.content), length)] or [b""]
        return b"".join(zstandard.ZstdCompressor().compress(piece) for piece in pieces)
    if member.method == DEFLATE:
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return packer.compress(member.content) + packer.flush()
    return member.content


def build_archive(members: Sequence[Member]) -> bytes:
    """A zip archive of *members*, stated as they ask for."""
    body, directory = b"", b""
    for member in members:
        name, packed = member.name.encode(), pack(member)
        size = len(member.content) if member.size is None else member.size
        checksum = zlib.crc32(member.content) if member.checksum is None else member.checksum
        fields = (20, member.flags, member.method, 0, 0x21, checksum, len(packed), size, len(name), 0)
        directory += struct.pack("<4s2B5H3I5H2I", b"PK\x01\x02", 20, 3, *fields, 0, 0, 0, 0, len(body)) + name
        body += struct.pack("<4s5H3I2H", b"PK\x03\x04", *fields) + name + packed
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + end


def build_header(samples: int = 2, epochs: int = 1, **changes: Any) -> dict[str, Any]:
    """A header as Inspect writes it, with what a reader looks at."""
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-11-21T12:00:00+00:00",
            "task": "sums",
            "dataset": {"samples": samples, "sample_ids": [f"s{number}" for number in range(samples)]},
            "model": "lab/m",
            "config": {"epochs": epochs},
        },
        "results": {"total_samples": samples * epochs, "completed_samples": samples * epochs},
    } | changes


def build_sample(identifier: Any = "s0", value: Any = "C", epoch: int = 1, **changes: Any) -> dict[str, Any]:
    """A sample as Inspect writes it, scored by `match`."""
    return {"id": identifier, "epoch": epoch, "input": "1+1", "target": "2", "scores": {"match": {"value": value}}} | changes


def list_members(header: dict[str, Any], samples: Sequence[dict[str, Any]], **packing: Any) -> list[Member]:
    """The members of an archive of *samples*."""
    named = {f"samples/{one.get('id')}_epoch_{one.get('epoch')}.json": one for one in samples}
    documents = {**named, "header.json": header}
    return [Member(name=name, content=json.dumps(document).encode(), **packing) for name, document in documents.items()]


def write_log(folder: Path, *samples: dict[str, Any], header: dict[str, Any] | None = None, name: str = "log.eval", **packing: Any) -> Path:
    """The path of an archive of *samples*."""
    path = folder / name
    path.write_bytes(build_archive(list_members(header or build_header(len(samples)), samples, **packing)))
    return path
