"""Checks of proofs, signed checkpoints, consistency proofs and signatures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from registry.codec.statement_encoding import PublicationExtra, decode_published, decode_statement, leaf_hash
from registry.errors import Fault, InputError
from registry.records.log_seal import Checkpoint, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.statement import Publication, Statement
from registry.report.published_file import PdfSignature
from registry.seal.merkle_tree import is_consistent, root_from_inclusion, root_of
from registry.seal.signed_notes import (
    ConsistencyProof,
    SignedNote,
    TlogProof,
    VerifiedLine,
    parse_consistency,
    parse_note,
    parse_proof,
    verify_note,
)
from registry.verify.verification_keys import KnownKey, Trust, VerificationMeans, find_log

if TYPE_CHECKING:
    from registry.store.ledger import Ledger


class CheckAnswer(StrEnum):
    """What one check came to."""

    YES = "yes"
    NO = "no"
    NOT_CHECKED = "not_checked"


class CheckName(StrEnum):
    """What is checked, in the order in which it is printed; docs/verifying.md says of each what it proves."""

    LOG = "log"
    ROWS = "rows"
    GUARDS = "guards"
    CHECKPOINTS = "checkpoints"
    BUNDLE = "bundle"
    SAFE = "safe"
    SIGNATURE = "signature"
    BYTES = "bytes"
    RECORD = "record"
    ENTRIES = "entries"
    AUTHORS = "authors"
    PUBLISHED = "published"
    INCLUSION = "inclusion"
    CHECKPOINT = "checkpoint"
    WITNESSES = "witnesses"
    TIME_ANCHOR = "time-anchor"
    CONSISTENCY = "consistency"
    LOCK = "lock"
    REGISTRY = "registry"
    KEYS = "keys"
    CURRENT = "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question put to a file."""

    name: CheckName
    answer: CheckAnswer
    note: str
    """What was compared, or why it could not be."""
    rests_on_given_key: bool = False
    """Whether a key that the user gave with `--key` is what the answer rests on."""


def yes(name: CheckName, note: str, *, rests_on_given_key: bool = False) -> Check:
    """Return the check *name*, in order."""
    return Check(name=name, answer=CheckAnswer.YES, note=note, rests_on_given_key=rests_on_given_key)


def no(name: CheckName, note: str) -> Check:
    """Return the check *name*, found wrong."""
    return Check(name=name, answer=CheckAnswer.NO, note=note)


def not_checked(name: CheckName, note: str) -> Check:
    """Return the check *name*, which could not be made, with the reason."""
    return Check(name=name, answer=CheckAnswer.NOT_CHECKED, note=note)


# The proof of a file. What a signature rests on is one chain (decision of 2026-11-22): a key
# that the reader got elsewhere signs a checkpoint; the checkpoint holds the root; the root holds
# every entry; a publication entry holds the digests of file and record; the record proves that what
# it quotes stands in the log. So one line of text, the verifier key, checks a PDF offline. Without
# a key a reader learns only that things agree with each other, and the answer says so.

PROOF_SUFFIX = ".tlog-proof"
MISSING = f"no proof here: put the file NAME{PROOF_SUFFIX} next to it, or name it with --proof"
"""What the checks of a proof say where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationProof:
    """A proof as it was read; nothing in it is checked yet."""

    proof: TlogProof
    note: SignedNote
    said: PublicationExtra
    statement: Statement
    publication: Publication

    @property
    def checkpoint(self) -> Checkpoint:
        """The log at the size that the proof is for."""
        return self.note.checkpoint

    @property
    def entry(self) -> int:
        """Number of the publication's entry."""
        return self.proof.index + 1

    @property
    def at(self) -> datetime:
        """When it was published, by the log's word."""
        return self.statement.at


def read_proof(data: bytes, *, where: str) -> PublicationProof:
    """Return the proof in *data*.

    Raises:
        InputError: `bad-proof`, `bad-note`: it is none, it is not in its one form, or not of a publication.
    """
    try:
        # Proofs have one encoding; whatever else is refused.
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(_fault(where, f"it is not text in UTF-8: {error.reason}")) from error
    proof = parse_proof(text, where=where)
    published = decode_published(proof.extra, where=where)
    statement = decode_statement(published.statement, where=f"{where}, statement")
    # Another statement in the log, however well proven, says nothing about a file.
    if not isinstance(statement.payload, Publication):
        raise InputError(_fault(where, f"its statement is a {statement.kind.replace('_', ' ')}, no publication"))
    note = parse_note(proof.note, where=where)
    return PublicationProof(proof=proof, note=note, said=published, statement=statement, publication=statement.payload)


def check_inclusion(read: PublicationProof) -> Check:
    """Whether the publication is in the log at the root of the checkpoint (RFC 6962 section 2.1.1)."""
    checkpoint = read.checkpoint
    # Computed from the statement as it stands in the proof: a field that is added later breaks no
    # old proof.
    root = _find_root(read.said.statement, read.proof.index, checkpoint.size, list(read.proof.path))
    if root != checkpoint.root:
        note = f"entry {read.entry} with its path does not give the root of the checkpoint at {checkpoint.size} entries"
        return no(CheckName.INCLUSION, note)
    # A publication names the log that the supplement was made from, which must be older.
    if not read.publication.log_size < read.entry:
        return no(CheckName.INCLUSION, f"made of {read.publication.log_size} entries, it cannot be entry {read.entry}")
    at = f"{read.at:%Y-%m-%d %H:%M} UTC"
    note = f"the publication in the proof, by {read.statement.actor}, is entry {read.entry} of {at}, "
    note += f"of {checkpoint.size} entries in {checkpoint.origin}"
    return yes(CheckName.INCLUSION, note)


def check_consistency(read: PublicationProof) -> Check:
    """Whether the log that the supplement was made from is the beginning of the checkpoint's (RFC 6962 section 2.1.2)."""
    old, checkpoint = read.said.consistency, read.checkpoint
    # Otherwise the proof would show the history of another supplement.
    if old.size != read.publication.log_size:
        note = f"the proof begins at {old.size} entries, the supplement was made of {read.publication.log_size}"
        return no(CheckName.CONSISTENCY, note)
    if not _is_consistent(read):
        note = f"the log as of entry {old.size} is not shown to be the beginning of the log at {checkpoint.size} entries"
        return no(CheckName.CONSISTENCY, note)
    note = f"the log as of entry {old.size}, of which it was made, is the beginning of the log at {checkpoint.size} entries"
    return yes(CheckName.CONSISTENCY, note)


def find_signer(read: PublicationProof) -> KeyEvent | None:
    """Return the key event that the proof brings for the signature of its file, where it is proven under the same checkpoint."""
    signer = read.said.signer
    # Under the same checkpoint, which a known key signed or did not.
    if signer is None or _find_root(signer.statement, signer.entry - 1, read.checkpoint.size, signer.nodes) != read.checkpoint.root:
        return None
    payload = decode_statement(signer.statement, where=f"entry {signer.entry}").payload
    return payload if isinstance(payload, KeyEvent) else None


def _is_consistent(read: PublicationProof) -> bool:
    old, checkpoint = read.said.consistency, read.checkpoint
    try:
        # Hexadecimal of a foreign file.
        roots = bytes.fromhex(old.root), bytes.fromhex(checkpoint.root)
        return is_consistent(old.size, roots[0], checkpoint.size, roots[1], old.nodes)
    except ValueError:
        return False


def _find_root(statement: str, index: int, size: int, path: list[bytes]) -> str | None:
    """The root that a statement gives at a place of a log; None where the path cannot be one."""
    try:
        # A path of the wrong length is no path.
        return root_from_inclusion(bytes.fromhex(leaf_hash(statement.encode())), index, size, path).hex()
    except ValueError:
        return None


def _fault(where: str, text: str) -> Fault:
    return Fault("bad-proof", where, text)


# Whether keys that are known here signed. Keys that a file brings prove nothing about who made it.


def check_signature(signature: PdfSignature | None, trust: Trust, *, proof: PublicationProof | None) -> Check:
    """Return whether a key that may sign for the log's keeper signed exactly this file.

    Args:
        signature: what the file carries; None where it carries none.
        trust: keys that are known here.
        proof: the file's, where its checkpoint is signed by a known key: then the log itself may say who has the key. Else None.
    """
    # A missing signature is no fault: the proof can show who published the file.
    if signature is None:
        return not_checked(CheckName.SIGNATURE, "the PDF is not signed; its proof, where it has one, shows who published it")
    if not signature.is_intact:
        return no(CheckName.SIGNATURE, "; ".join(signature.problems))
    fingerprint = signature.fingerprint or ""
    at = f" on {signature.at:%Y-%m-%d %H:%M} UTC by its own clock" if signature.at else ""
    description = f"signed{at} with the key {fingerprint[:16]}, which calls itself {signature.subject}"
    # A key given here, or one that the log itself recorded, under a checkpoint that is trusted.
    document = trust.find_document(fingerprint) or _find_proven(fingerprint, proof)
    # The log is trusted and does not know the key, so someone else signed.
    if document is None and proof is not None:
        return no(CheckName.SIGNATURE, f"{description}: its publication is proven, and this key is none that the log recorded with it")
    if document is None:
        return _describe_unknown_signer(description, trust)
    # Revoked or replaced keys count only for what they signed before.
    objection = document.find_objection(at=signature.at)
    if objection is not None:
        return no(CheckName.SIGNATURE, f"{description}: {objection}")
    return yes(CheckName.SIGNATURE, f"{description}; key {document.source}", rests_on_given_key=document.is_given)


def check_checkpoint(note: SignedNote, trust: Trust, *, origin: str | None, at: datetime | None) -> Check:
    """Return whether a key that is known here, and may sign for this log, signed *note*.

    Args:
        origin: the log that it must be of, as what is checked says; None where nothing says.
        at: when it was signed, as far as something says; it decides about keys that were revoked from a day on.
    """
    checkpoint = note.checkpoint
    # A valid checkpoint of another log is no evidence for this one.
    if origin is not None and checkpoint.origin != origin:
        return no(CheckName.CHECKPOINT, f"it is a checkpoint of the log {checkpoint.origin}; expected one of {origin}")
    # Only keys that bear the log's name may sign for it (C2SP tlog-checkpoint).
    lines = verify_note(note, trust.list_log_keys(checkpoint.origin))
    # One invalid line in the log's name is enough: no honest log writes it.
    if any(not line.is_valid for line in lines):
        return no(
            CheckName.CHECKPOINT, f"the signature in the name of {checkpoint.origin} is not valid: the checkpoint was altered, or forged"
        )
    if not lines:
        return _describe_unknown(note, trust)
    objections = [why for line in lines if (why := _find_objection(line, note, trust, at))]
    # One sound signature is enough: after a rotation the old key signs together with the new one.
    if len(objections) == len(lines):
        return no(CheckName.CHECKPOINT, objections[0])
    sound = [line for line in lines if not _find_objection(line, note, trust, at)]
    # A log that signed two histories is not believed at all, its old files included (decision of
    # 2026-11-22). The cost: honest early files lose their yes.
    if fork := trust.forks.get(checkpoint.origin):
        return no(CheckName.CHECKPOINT, f"a key of {checkpoint.origin} signed it, and that log is not to be believed: {fork}")
    sources = ", ".join(dict.fromkeys(f"{line.algorithm.value}, key {_describe_source(line, trust)}" for line in sound))
    is_given = any(trust.is_given(line.vkey) for line in sound)
    return yes(
        CheckName.CHECKPOINT,
        f"{checkpoint.origin} at {checkpoint.size} entries, root {checkpoint.root}, signed ({sources})",
        rests_on_given_key=is_given,
    )


def check_witnesses(note: SignedNote, trust: Trust) -> Check:
    """Return how many witnesses that are known here cosigned *note*."""
    lines = verify_note(note, trust.list_witness_keys(note.checkpoint.origin))
    # A cosignature that does not verify was altered or forged.
    broken = [line.name for line in lines if not line.is_valid]
    if broken:
        return no(CheckName.WITNESSES, f"the cosignature of {', '.join(broken)} is not valid")
    sound = [line for line in lines if not _find_objection(line, note, trust, line.at)]
    if sound:
        witnesses = ", ".join(f"{line.name}{_describe_time(line.at)}" for line in sound)
        is_given = any(trust.is_given(line.vkey) for line in sound)
        return yes(CheckName.WITNESSES, f"cosigned by {witnesses}: they saw no other history of this log", rests_on_given_key=is_given)
    others = _list_others(note)
    # Without their keys cosignatures cannot be checked, but the reader learns whose to ask for.
    if others:
        listed = ", ".join(others[:6])
        whose = "its" if len(others) == 1 else "their"
        return not_checked(CheckName.WITNESSES, f"cosigned in the name of {listed}; {whose} keys are not known here; give them with --key")
    return not_checked(CheckName.WITNESSES, "no witness cosigned it: whether the log shows others another history cannot be seen from here")


def _describe_unknown(note: SignedNote, trust: Trust) -> Check:
    origin = note.checkpoint.origin
    names = ", ".join(dict.fromkeys(f"{line.name}+{line.key_id.hex()}" for line in note.lines[:6]))
    # The log's keys are known and none signed: that is a no, not a missing key.
    if trust.list_log_keys(origin):
        problem = f"no key of {origin} that is known here signed it; its signatures are of {names}. If the log has a new key, give that"
        return no(CheckName.CHECKPOINT, problem)
    # A registry whose key entries were altered vouches for no key.
    if why := trust.contradicted.get(origin):
        problem = f"signed by {names}; the registry here contradicts itself on the keys of {origin} ({why}), so give one with --key"
        return not_checked(CheckName.CHECKPOINT, problem)
    others = sorted({key.vkey.name for key in trust.keys if key.vkey is not None})
    return not_checked(CheckName.CHECKPOINT, f"signed by {names}, and nothing here says who has that key; {describe_others(others)}")


def describe_others(names: Sequence[str]) -> str:
    """Return what to do where no key of a log is known, and *names* are those with known keys."""
    if not names:
        return "give it with --key"
    more = f" and {len(names) - 3} others" if len(names) > 3 else ""
    return f"the keys known here are of {', '.join(names[:3])}{more}: give this log's with --key"


def _find_objection(line: VerifiedLine, note: SignedNote, trust: Trust, at: datetime | None) -> str | None:
    vkey = trust.find_vkey(line.vkey)
    return None if vkey is None else vkey.find_objection(size=note.checkpoint.size, at=at)


def _describe_source(line: VerifiedLine, trust: Trust) -> str:
    vkey = trust.find_vkey(line.vkey)
    return "" if vkey is None else f"{vkey.fingerprint[:16]} {vkey.source}"


def _list_others(note: SignedNote) -> Sequence[str]:
    origin = note.checkpoint.origin
    return list(dict.fromkeys(line.name for line in note.lines if line.name != origin))


def _describe_time(at: datetime | None) -> str:
    return "" if at is None else f" on {at:%Y-%m-%d %H:%M} UTC"


def _find_proven(fingerprint: str, proof: PublicationProof | None) -> KnownKey | None:
    """The key that signed, where the log under a checkpoint that is trusted recorded it as one for documents."""
    event: KeyEvent | None = None if proof is None else find_signer(proof)
    if proof is None or event is None or proof.said.signer is None:
        return None
    # A key for checkpoints signs no documents, and a revoked one signs nothing.
    if event.key != fingerprint or event.purpose is not KeyPurpose.DOCUMENT or event.event is KeyEventKind.REVOKE:
        return None
    source = f"recorded by the log itself in entry {proof.said.signer.entry}; a file cannot show whether it was revoked since"
    return KnownKey(fingerprint=fingerprint, source=source)


def _describe_unknown_signer(text: str, trust: Trust) -> Check:
    # Document keys are known, and this is none of them.
    if any(key.vkey is None for key in trust.keys):
        return no(CheckName.SIGNATURE, f"{text}: none of the document keys that are known here")
    return not_checked(CheckName.SIGNATURE, f"{text}, and nothing here says who has that key; give its certificate with --key")


# Files that are no supplement: a proof, a signed checkpoint, a consistency proof.

_LARGEST_BYTES = 17_000_000
_PUBLISHED = b'{"consistency":'
"""Canonical JSON sorts its keys: what the proof of a publication begins with."""


def check_proof(data: bytes, means: VerificationMeans, *, where: str) -> tuple[Check, ...]:
    """Return the checks of a proof without its file; raises InputError where it is none."""
    text = _decode(_limit(data, where), where)
    proof = parse_proof(text, where=where)
    # Publications have their own form of extra data; any other proof is of one entry.
    if proof.extra is None or not proof.extra.startswith(_PUBLISHED):
        return _check_entry(proof, means, where=where)
    read = read_proof(data, where=where)
    file = f"{read.publication.subject}.{read.publication.format.value}, sha256 {read.publication.sha256}"
    return (
        # The file itself is missing, so its digest cannot be compared.
        not_checked(CheckName.PUBLISHED, f"it is of {file}; verify that file, with this next to it"),
        check_inclusion(read),
        check_checkpoint(read.note, means.trust, origin=means.origin, at=read.at),
        check_witnesses(read.note, means.trust),
        check_consistency(read),
    )


def _check_entry(proof: TlogProof, means: VerificationMeans, *, where: str) -> tuple[Check, ...]:
    """The checks of what `caveat admin log prove ENTRY` writes: its extra data is the statement itself."""
    note = parse_note(proof.note, where=where)
    statement = None if proof.extra is None else decode_statement(proof.extra, where=f"{where}, extra")
    return (
        _check_statement(proof, statement, note.checkpoint),
        # The statement's own date decides about keys that were revoked from a day on.
        check_checkpoint(note, means.trust, origin=means.origin, at=None if statement is None else statement.at),
        check_witnesses(note, means.trust),
        check_root(note.checkpoint, means.ledger),
    )


def _check_statement(proof: TlogProof, statement: Statement | None, checkpoint: Checkpoint) -> Check:
    if statement is None or proof.extra is None:
        # A proof without the statement shows that some leaf stands there, and not what it says.
        return not_checked(CheckName.INCLUSION, f"it does not say what entry {proof.index + 1} is; who has the statement can check it")
    try:
        root = root_from_inclusion(bytes.fromhex(leaf_hash(proof.extra)), proof.index, checkpoint.size, list(proof.path)).hex()
    except ValueError:
        root = ""
    what = f"{statement.kind.replace('_', ' ')} by {statement.actor} of {statement.at:%Y-%m-%d %H:%M} UTC"
    if root != checkpoint.root:
        return no(CheckName.INCLUSION, f"the {what} with its path does not give the root of the checkpoint at {checkpoint.size} entries")
    return yes(CheckName.INCLUSION, f"entry {proof.index + 1} of {checkpoint.origin} is the {what} in the proof")


def check_note(data: bytes, means: VerificationMeans, *, proof: bytes | None, where: str, stamp: bytes | None = None) -> tuple[Check, ...]:
    """Return the checks of a signed checkpoint; raises InputError where it is none.

    Args:
        proof: a consistency proof that begins with it; None where there is none.
        stamp: the time stamp next to it; None where there is none.
    """
    from registry.verify.time_anchor_checks import check_note_anchor  # noqa: PLC0415  (which imports this module)

    text = _decode(_limit(data, where), where)
    note = parse_note(text, where=where)
    leads = None if proof is None else parse_consistency(_decode(_limit(proof, where), where), where=f"proof of {where}")
    return (
        check_checkpoint(note, means.trust, origin=means.origin, at=None),
        check_witnesses(note, means.trust),
        *check_note_anchor(text, stamp, means.stamp_certificates),
        # With a consistency proof the older checkpoint is compared with the newer, else with the
        # registry.
        check_root(note.checkpoint, means.ledger) if leads is None else _follow(note.checkpoint, leads, means),
    )


def check_consistency_note(data: bytes, means: VerificationMeans, *, where: str) -> tuple[Check, ...]:
    """Return the checks of a consistency proof, which has no root to begin with: the registry here may know it.

    Raises:
        InputError: it is none.
    """
    leads = parse_consistency(_decode(_limit(data, where), where), where=where)
    note = parse_note(leads.note, where=where)
    return (
        check_checkpoint(note, means.trust, origin=means.origin, at=None),
        check_witnesses(note, means.trust),
        _begin(note.checkpoint, leads, means),
    )


def _begin(checkpoint: Checkpoint, leads: ConsistencyProof, means: VerificationMeans) -> Check:
    place = None if means.ledger is None else find_log(means.ledger, checkpoint.origin)
    # Only a registry knows the root from which the proof begins.
    if means.ledger is None or place is None:
        note = f"it leads on from {leads.old} entries: give the checkpoint that you have of these, and this as --proof"
        return not_checked(CheckName.CONSISTENCY, note)
    from registry.store.log_seals import find_root  # noqa: PLC0415

    with means.ledger.view(log=place.log) as view:
        # Fewer entries than the proof begins at: nothing to compare.
        if view.log_size < leads.old:
            return not_checked(
                CheckName.CONSISTENCY, f"it leads on from {leads.old} entries, the registry here has {view.log_size} of this log"
            )
        root = find_root(view, leads.old)
    return _follow(Checkpoint(origin=checkpoint.origin, size=leads.old, root=root), leads, means)


def _follow(old: Checkpoint, leads: ConsistencyProof, means: VerificationMeans) -> Check:
    """Whether the checkpoint that a proof leads to is signed by a known key, and goes on from *old*."""
    note = parse_note(leads.note, where="proof")
    new = note.checkpoint
    # A proof between other sizes or logs says nothing about this checkpoint.
    if (old.origin, old.size) != (new.origin, leads.old):
        problem = f"the proof leads on from {leads.old} entries of {new.origin}, the checkpoint is of {old.size} of {old.origin}"
        return no(CheckName.CONSISTENCY, problem)
    # Both are signed in the log's name, so this is evidence against the log.
    if not is_consistent(old.size, bytes.fromhex(old.root), new.size, bytes.fromhex(new.root), list(leads.path)):
        return no(
            CheckName.CONSISTENCY, f"the log at {new.size} entries does not go on from the one at {old.size}: two histories of one log"
        )
    signed = check_checkpoint(note, means.trust, origin=means.origin, at=None)
    problem = f"the log at {new.size} entries goes on from the one at {old.size}"
    # The path may be right and lead to a checkpoint that anyone could have made.
    if signed.answer is not CheckAnswer.YES:
        return not_checked(CheckName.CONSISTENCY, f"{problem}, but for the checkpoint that it leads to: {signed.note}")
    return yes(CheckName.CONSISTENCY, problem)


def check_root(checkpoint: Checkpoint, ledger: "Ledger | None") -> Check:
    """Return whether the log of the registry here, its own or one that it took over, has this root at this size."""
    if ledger is None:
        return not_checked(CheckName.CONSISTENCY, "no registry here to hold it against; give one with --registry")
    place = find_log(ledger, checkpoint.origin)
    if place is None:
        return not_checked(CheckName.CONSISTENCY, f"the registry here has no log {checkpoint.origin}")
    with ledger.view(log=place.log) as view:
        if view.log_size < checkpoint.size:
            note = f"it is of {checkpoint.size} entries, the registry here has {view.log_size} of this log"
            # The registry's own log was cut. A log taken over from elsewhere may simply be older.
            return no(CheckName.CONSISTENCY, f"{note}: it was cut") if place.log is None else not_checked(CheckName.CONSISTENCY, note)
        leaves = list(view.leaves(1, checkpoint.size + 1))
    root = root_of(leaves).hex()  # from the leaves themselves: the subtrees that are kept of them may be those of before they were changed
    if root != checkpoint.root:
        note = f"the registry here has the root {root} at {checkpoint.size} entries, this one {checkpoint.root}: two histories of one log"
        return no(CheckName.CONSISTENCY, note)
    return yes(CheckName.CONSISTENCY, f"the registry here has the same root at {checkpoint.size} entries")


def _limit(data: bytes, where: str) -> bytes:
    # A limit before parsing.
    if len(data) > _LARGEST_BYTES:
        raise InputError(Fault("file-too-large", where, f"it has {len(data):,} bytes, which no proof has"))
    return data


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(Fault("bad-note", where, f"it is not text in UTF-8: {error.reason}")) from error
