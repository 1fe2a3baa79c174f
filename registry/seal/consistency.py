"""That one checkpoint's log goes on from a smaller one, as a file: the request by which C2SP tlog-witness asks for a cosignature.

A line `old SIZE`, the nodes of the consistency proof (RFC 6962 section 2.1.2) in base64, a line each, an empty line, and the signed
checkpoint. Read in one form only, so that no two files say the same.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import Fault, InputError
from registry.seal.note import LARGEST_NOTE, parse_note

_OLD = re.compile(r"old (0|[1-9][0-9]{0,18})")
_LONGEST_PATH = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyProof:
    """What is said to lead from the first *old* entries of a log to a checkpoint; nobody has checked it yet."""

    old: int
    """Number of entries that it begins with, at most those of the checkpoint."""
    path: tuple[bytes, ...]
    """32 bytes each; empty for 0 entries and for as many as the checkpoint has."""
    note: str
    """The signed note, word for word."""


def format_consistency(old: int, path: Sequence[bytes], note: str) -> str:
    """Return the file's text.

    Raises:
        InputError: `bad-proof` or `bad-note`: what is given could not be read again.
    """
    lines = [f"old {old}", *(b64encode(one).decode() for one in path)]
    text = "\n".join(lines) + "\n\n" + note
    parse_consistency(text, where="the proof to write")
    return text


def is_consistency(text: str) -> bool:
    """Whether *text* begins as such a file does."""
    return text.startswith("old ")


def parse_consistency(text: str, *, where: str) -> ConsistencyProof:
    """Return the proof written in *text*.

    Raises:
        InputError: `bad-proof`: it is none, or not in the one form that is read here; `bad-note`: its checkpoint is not.
    """
    if len(text) > LARGEST_NOTE + 64 * (_LONGEST_PATH + 1):
        raise _bad_proof(where, f"it has {len(text)} characters, more than any such proof")
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    old = _OLD.fullmatch(lines[0])
    if not blank or old is None:
        raise _bad_proof(where, "expected a line such as `old 41`, hashes, an empty line and a checkpoint")
    if len(lines) - 1 > _LONGEST_PATH:
        raise _bad_proof(where, f"it has {len(lines) - 1} hashes, at most {_LONGEST_PATH} are possible")
    path = tuple(_decode(line, where=f"{where}, hash {number}") for number, line in enumerate(lines[1:], 1))
    size = parse_note(note, where=where).checkpoint.size
    if int(old[1]) > size:
        raise _bad_proof(where, f"it begins with {old[1]} entries, its checkpoint has {size}")
    return ConsistencyProof(old=int(old[1]), path=path, note=note)


def _decode(line: str, *, where: str) -> bytes:
    try:
        data = b64decode(line, validate=True)
    except ValueError:
        data = b""
    if len(data) != 32 or b64encode(data).decode() != line:
        raise _bad_proof(where, "is not the canonical base64 of 32 bytes")
    return data


def _bad_proof(where: str, found: str) -> InputError:
    advice = "get it again, byte for byte: caveat log prove --since SIZE writes one"
    return InputError(Fault(code="bad-proof", where=where, found=found, advice=advice))
