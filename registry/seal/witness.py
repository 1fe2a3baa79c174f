"""A witness' word on another log's checkpoint: C2SP tlog-cosignature.

Whether the log really goes on from what the witness saw before is for the caller to check first.
"""

from datetime import datetime

from registry.seal.note import Signer, parse_note, sign_line


def cosign(note_text: str, key: Signer, *, at: datetime) -> str:
    """Return one signature line, with its newline, to be added to the note.

    Args:
        note_text: the signed note as its log gave it out.
        key: the witness', Ed25519 (cosignature/v1) or ML-DSA-44.
        at: when the witness checked the log, whole seconds.

    Raises:
        InputError: `bad-note`: *note_text* is no signed note of a checkpoint.
    """
    return sign_line(key, parse_note(note_text, where="the note to cosign").text, at=at)
