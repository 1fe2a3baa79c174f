"""Anchors a checkpoint in time: asks a time-stamping authority (RFC 3161), examines its answer and records it."""

import base64
import hashlib
from dataclasses import dataclass

from registry.errors import AnswerNoError, CaveatError, Fault, InputError, UnavailableError
from registry.exchange.http_requests import NoAnswerError, check_address, post
from registry.records.log_seal import TimeAnchor
from registry.records.record import Record
from registry.records.statement import Entry
from registry.seal.signed_notes import strip_cosignatures
from registry.seal.time_stamps import LARGEST_BYTES, TimeStamp, build_request, find_objection, read_stamp
from registry.store.ledger import Ledger
from registry.store.log_seals import StoredCheckpoint

_TIMEOUT_S = 30
"""Seconds for the whole exchange; an authority answers in less than one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredCheckpoint(Record):
    """A time stamp that was recorded."""

    anchor: TimeAnchor
    entry: int
    is_verified: bool
    """Whether a certificate that the user gave vouches for it."""
    stamp: bytes
    """The authority's answer: the bytes of `NAME.note.tsr`."""


def anchor_checkpoint(
    ledger: Ledger, checkpoint: StoredCheckpoint, url: str, *, actor: str, certificates: tuple[bytes, ...], timeout_s: float = _TIMEOUT_S
) -> AnchoredCheckpoint:
    """Return the time stamp of the authority at *url* over *checkpoint*, and record it.

    Args:
        actor: the authority that it is recorded for.
        certificates: those that must vouch for the stamp, DER; none: the stamp is recorded, and nothing vouches for it yet.
        timeout_s: seconds for the whole exchange.

    Raises:
        AnswerNoError: `time-stamp-wrong`: the answer is not one to this request, or no certificate vouches for it.
        InputError: *url* is no address.
        UnavailableError: `time-stamp-refused`: the authority cannot be reached, or grants no stamp.
    """
    address = check_address(
        url, option="--tsa", what="a time-stamping authority", advice="write its address, such as https://tsa.example.org/tsr"
    )
    note = strip_cosignatures(checkpoint.note)
    request = build_request(note.encode())
    answer = _ask(address, request.content, timeout_s)
    try:
        stamp = read_stamp(answer, where=address)
    except InputError as error:
        raise _refused(address, error.faults[0].found) from error
    digest = hashlib.sha256(note.encode()).hexdigest()
    _refuse_other_answer(stamp, digest, request.nonce, address)
    if certificates and (objection := find_objection(answer, certificates, where=address)):
        raise _wrong(address, f"none of the certificates in --tsa-cert vouches for the stamp: {objection}")
    anchor = TimeAnchor(
        size=checkpoint.checkpoint.size, root=checkpoint.checkpoint.root, note=note, sha256=digest, stamped_at=stamp.at,
        policy=stamp.policy, serial=stamp.serial, authority=address, answer=base64.b64encode(answer).decode(),
    )  # fmt: skip
    with ledger.write(actor=actor) as writer:
        entry: Entry = writer.append(anchor)
    return AnchoredCheckpoint(anchor=anchor, entry=entry.seq, is_verified=bool(certificates), stamp=answer)


def _ask(address: str, request: bytes, timeout_s: float) -> bytes:
    try:
        answer = post(address, request, content_type="application/timestamp-query", most=LARGEST_BYTES, timeout_s=timeout_s)
    except NoAnswerError as error:
        raise _refused(address, str(error)) from error
    if answer.status != 200:
        raise _refused(address, f"it answers {answer.status}")
    return answer.content


def _refuse_other_answer(stamp: TimeStamp, digest: str, nonce: int, address: str) -> None:
    """Refuse a stamp over something else, or one that was given before: RFC 3161, section 2.2, asks for both."""
    if stamp.sha256 != digest:
        raise _wrong(address, f"the stamp is over {stamp.sha256}, and the checkpoint's note has the SHA-256 {digest}")
    if stamp.nonce != nonce:
        raise _wrong(address, "the stamp does not repeat the nonce of the request, so it may be an old one")


def _refused(address: str, found: str) -> CaveatError:
    return UnavailableError(Fault("time-stamp-refused", address, found, advice="nothing was recorded; try again, or ask another"))


def _wrong(address: str, found: str) -> CaveatError:
    return AnswerNoError(Fault("time-stamp-wrong", address, found, advice="nothing was recorded; ask another authority"))
