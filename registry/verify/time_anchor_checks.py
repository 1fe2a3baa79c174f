"""The check `time-anchor`: whether a time stamp is over a checkpoint, and a certificate that the user gives vouches for it."""

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

from registry.errors import CaveatError, InputError
from registry.records.dossier import Recorded
from registry.records.log_seal import TimeAnchor
from registry.seal import merkle_tree as tree
from registry.seal.signed_notes import parse_note, strip_cosignatures
from registry.seal.time_stamps import TimeStamp, find_objection, has_time_stamps, read_stamp
from registry.verify.proof_checks import Check, CheckName, no, not_checked, yes

if TYPE_CHECKING:
    from registry.store.ledger import Ledger
    from registry.store.registry_view import View

_NAME = CheckName.TIME_ANCHOR
_NO_LIBRARY = "time stamps are read with the library rfc3161-client: pip install 'caveat[anchors]'"
_NO_CERTIFICATE = "nothing here says who signed it; give the authority's root certificate with --tsa-cert"


def check_note_anchor(note: str, stamp: bytes | None, certificates: tuple[bytes, ...]) -> tuple[Check, ...]:
    """Return the check of the time stamp next to a checkpoint; nothing where there is none and the user asks for none.

    Args:
        note: the signed note; cosignatures that were added after the stamp change nothing.
        stamp: `NAME.tsr`; None where it is not there.
        certificates: those that the user trusts to sign stamps, DER.
    """
    if stamp is None:
        return (not_checked(_NAME, "no time stamp here: put NAME.tsr next to the checkpoint"),) if certificates else ()
    if not has_time_stamps():
        return (not_checked(_NAME, _NO_LIBRARY),)
    try:
        content = read_stamp(stamp, where="time stamp")
    except InputError as error:
        return (no(_NAME, error.faults[0].found),)
    # The stamp is over the note as its log signed it; someone else's may be over the file as it is.
    digests = {hashlib.sha256(text.encode()).hexdigest() for text in (note, strip_cosignatures(note))}
    if content.sha256 not in digests:
        return (no(_NAME, f"the time stamp is over {content.sha256}, which is not the SHA-256 of this checkpoint"),)
    return (_judge(content, stamp, certificates),)


def _judge(stamp: TimeStamp, content: bytes, certificates: tuple[bytes, ...]) -> Check:
    what = f"stamped {_describe(stamp)}"
    if not certificates:
        return not_checked(_NAME, f"{what}; {_NO_CERTIFICATE}")
    if objection := find_objection(content, certificates, where="time stamp"):
        return no(_NAME, f"{what}, and none of the certificates in --tsa-cert vouches for it: {objection}")
    return yes(_NAME, f"this checkpoint existed by {stamp.at:%Y-%m-%d %H:%M:%S} UTC: {what}, by an authority that --tsa-cert vouches for")


def _describe(stamp: TimeStamp) -> str:
    return f"{stamp.at:%Y-%m-%d %H:%M:%S} UTC, policy {stamp.policy}, serial {stamp.serial}"


def check_recorded_anchors(ledger: "Ledger", certificates: tuple[bytes, ...], *, log: str | None = None) -> tuple[Check, ...]:
    """Return the check of the time stamps that a log recorded; nothing where there is none and the user asks for none.

    Args:
        log: the log, as `Ledger.view` takes it; None for the registry's own.
    """
    from registry.store.log_seals import list_time_anchors  # noqa: PLC0415  (SQLAlchemy: files need no registry)

    try:
        with ledger.view(log=log) as view:
            anchors = list_time_anchors(view)
            if not anchors:
                return (not_checked(_NAME, "no time stamp is recorded: caveat admin log anchor"),) if certificates else ()
            if not has_time_stamps():
                return (not_checked(_NAME, _NO_LIBRARY),)
            wrong = _find_contradictions(view, anchors)
    # Of altered entries nothing can be read; the check of the log names them.
    except CaveatError as error:
        return (not_checked(_NAME, f"{error.faults[0].where}: {error.faults[0].found}"),)
    return (no(_NAME, wrong[0]) if wrong else _judge_all(anchors, certificates),)


def _find_contradictions(view: "View", anchors: tuple[Recorded[TimeAnchor], ...]) -> list[str]:
    """Return what does not agree: each stamp with its entry, and the note in it with the log. Roots come from the entry hashes."""
    leaves = list(view.leaves(1, view.log_size + 1))
    levels = tree.list_levels(leaves)
    wrong = []
    for anchor in anchors:
        size = anchor.payload.size
        root = tree.root_at(size, lambda level, index: levels[level][index]).hex() if size <= len(leaves) else None
        if (problem := _find_problem(anchor.payload, view.log_origin, root)) is not None:
            wrong.append(f"entry {anchor.entry.seq}: {problem}")
    return wrong


def _find_problem(anchor: TimeAnchor, origin: str, root: str | None) -> str | None:
    try:
        checkpoint = parse_note(anchor.note, where="note").checkpoint
        stamp = read_stamp(base64.b64decode(anchor.answer, validate=True), where="answer")
    except (InputError, binascii.Error) as error:
        return f"it cannot be read: {error.faults[0].found if isinstance(error, InputError) else error}"
    if (checkpoint.origin, checkpoint.size) != (origin, anchor.size) or not checkpoint.root == anchor.root == root:
        return f"its checkpoint of {anchor.size} entries is not one of this log"
    if hashlib.sha256(anchor.note.encode()).hexdigest() != anchor.sha256 or stamp.sha256 != anchor.sha256:
        return "the stamp is over another text than the note in the entry"
    if (stamp.at, stamp.policy, stamp.serial) != (anchor.stamped_at, anchor.policy, anchor.serial):
        return f"the stamp says {_describe(stamp)}, and its entry says something else"
    return None


def _judge_all(anchors: tuple[Recorded[TimeAnchor], ...], certificates: tuple[bytes, ...]) -> Check:
    """One stamp that a given certificate vouches for is enough: others may be of authorities that the user does not know."""
    last = max(anchors, key=lambda anchor: (anchor.payload.size, anchor.entry.seq)).payload
    count = f"{len(anchors)} time stamp{'s' if len(anchors) > 1 else ''}"
    if not certificates:
        at = f"the last over {last.size} entries, {last.stamped_at:%Y-%m-%d %H:%M:%S} UTC"
        return not_checked(_NAME, f"{count} recorded, {at}; {_NO_CERTIFICATE}")
    objections = {
        anchor.entry.seq: find_objection(base64.b64decode(anchor.payload.answer), certificates, where=f"entry {anchor.entry.seq}")
        for anchor in anchors
    }
    verified = [anchor.payload for anchor in anchors if objections[anchor.entry.seq] is None]
    if not verified:
        return no(_NAME, f"none of the certificates in --tsa-cert vouches for {count}: {next(iter(objections.values()))}")
    best = max(verified, key=lambda anchor: (anchor.size, -anchor.stamped_at.timestamp()))
    note = f"the log had its first {best.size} entries by {best.stamped_at:%Y-%m-%d %H:%M:%S} UTC"
    return yes(_NAME, f"{note}; --tsa-cert vouches for {len(verified)} of {count}")
