"""Proofs that one entry stands in a log, as files that anybody can check: C2SP tlog-proof@v1.

Only one form is read: canonical base64, no leading zeros, line feeds alone, nothing after the note.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import Fault, InputError
from registry.seal.note import LARGEST_NOTE, parse_note

LARGEST_PROOF = 16_777_216
"""Characters; the extra data carries a statement and a consistency proof."""
_MAGIC = "c2sp.org/tlog-proof@v1"
_LONGEST_PATH = 63
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class TlogProof:
    """An entry's place, its audit path and the checkpoint that it leads to; nothing in it is checked yet."""

    index: int
    """Of the leaf, from 0: entry `index + 1`."""
    path: tuple[bytes, ...]
    """Siblings from below, 32 bytes each."""
    note: str
    """The signed note, word for word."""
    extra: bytes | None
    """What its maker added; nothing signs it. None where the file has no such line."""


def format_proof(index: int, path: Sequence[bytes], note: str, extra: bytes | None = None) -> str:
    """Return the file's text.

    Raises:
        InputError: `bad-proof` or `bad-note`: what is given could not be read again.
    """
    added = [] if extra is None else [f"extra {b64encode(extra).decode()}"]
    lines = [_MAGIC, *added, f"index {index}", *(b64encode(one).decode() for one in path)]
    text = "\n".join(lines) + "\n\n" + note
    parse_proof(text, where="the proof to write")
    return text


def parse_proof(text: str, *, where: str) -> TlogProof:
    """Return the proof written in *text*.

    Raises:
        InputError: `bad-proof`: it is none, or not in the one form that is read here; `bad-note`: its checkpoint is not.
    """
    if len(text) > LARGEST_PROOF:
        raise _bad_proof(where, f"it has {len(text)} characters, at most {LARGEST_PROOF} are read")
    head, blank, note = text.partition("\n\n")
    if not blank or len(note) > LARGEST_NOTE:
        raise _bad_proof(where, "there is no checkpoint after an empty line")
    lines = head.split("\n")
    if lines.pop(0) != _MAGIC:
        raise _bad_proof(where, f"its first line is not {_MAGIC}")
    extra = _parse_extra(lines, where=where)
    index = _INDEX.fullmatch(lines.pop(0)) if lines else None
    if index is None or len(lines) > _LONGEST_PATH:
        raise _bad_proof(where, f"expected a line such as `index 41` (no leading zeros), then at most {_LONGEST_PATH} hashes")
    path = tuple(_decode(line, where=f"{where}, hash {number}", length=32) for number, line in enumerate(lines, 1))
    size = parse_note(note, where=where).checkpoint.size
    if int(index[1]) >= size:
        raise _bad_proof(where, f"the log of its checkpoint has {size} entries, and none with index {index[1]}")
    return TlogProof(index=int(index[1]), path=path, note=note, extra=extra)


def _parse_extra(lines: list[str], *, where: str) -> bytes | None:
    if not lines or not lines[0].startswith("extra "):
        return None
    return _decode(lines.pop(0).removeprefix("extra "), where=f"{where}, extra", length=None)


def _decode(text: str, *, where: str, length: int | None) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        data = b""
    if not data or b64encode(data).decode() != text or (length is not None and len(data) != length):
        raise _bad_proof(where, "is not canonical base64" + ("" if length is None else f" of {length} bytes"))
    return data


def _bad_proof(where: str, found: str) -> InputError:
    return InputError(Fault(code="bad-proof", where=where, found=found, advice="get the proof again, byte for byte, from who gave it out"))
