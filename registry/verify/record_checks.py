"""Checks of a supplement's record: that it agrees with itself, with its entries and with the order of lock and run."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from registry.codec.canonical_documents import Json, canonical_bytes, to_document
from registry.codec.statement_encoding import EntryReference, check_openings, find_misfit, list_entries, list_named, public_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.analysis_plan import Lock
from registry.records.audit_case import Result
from registry.records.claim import ClaimRevision
from registry.records.dossier import Inclusion, Recorded
from registry.records.record import Identifier
from registry.records.replay_run import Run
from registry.records.statement import OutputFormat
from registry.records.supplement import AnySupplement, AuditPart, CardSupplement, ChangeReport, ClaimState, SpecPart, SpecRole, Supplement
from registry.report.claim_change import is_newly_inverted
from registry.report.claim_outcome import describe_own_verdict, join_leading
from registry.report.pdf_reading import decode_text
from registry.report.statement_backing import Backings
from registry.report.supplement_reading import find_record, open_pdf, parse_subject, read_supplement
from registry.seal.merkle_tree import root_from_nodes
from registry.verify.proof_checks import Check, CheckName, no, not_checked, yes

# The record that a file carries, as it stands there.

_DRAWN_BY = re.compile(rb'<meta name="generator" content="([^"]{1,200})">')
_HEAD_BYTES = 4_000
_DRAWN_WITH = "Caveat, templates "
# Case does not matter in a file's name.
_NAMED = re.compile(r"(?<![A-Z0-9])((?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,12}-[0-9A-Z])(?:@([1-9][0-9]{0,8}))?", re.IGNORECASE)
"""A claim or card in the name of a file, with or without its revision; how the rest is called is the user's affair."""
_MOST_LISTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementInFile:
    """A supplement with the file that it was found in."""

    data: bytes
    format: OutputFormat
    supplement: AnySupplement
    subject: Identifier | None
    """The claim or card, with its revision; None for a change report, which is about neither."""
    document: Json
    """The record as the file has it, also fields that are missing."""
    is_canonical: bool
    """Whether the record stands there in its one canonical form."""
    file: str = ""
    """The name of the file, without its folder; empty where it has none."""

    @property
    def name(self) -> str:
        """What the supplement is called: `CLM-…@n`, `CRD-…@n`, `changes-…`."""
        return self.supplement.identifier.partition("#")[0]

    @property
    def named(self) -> Identifier:
        """The claim or card, with its revision; raises ValueError for a change report."""
        if self.subject is None:
            raise ValueError(f"{self.name} is about no one claim or card")
        return self.subject

    @property
    def public(self) -> Json:
        """The record without what a rendering adds to it: openings, and what superseded it."""
        return public_document(self.document)

    @property
    def digest(self) -> str:
        """The record digest, which all renderings share: SHA-256 of the canonical JSON of `public`, hexadecimal."""
        return hashlib.sha256(canonical_bytes(self.public)).hexdigest()


def read_carried(data: bytes, *, where: str) -> SupplementInFile:
    """Return what *data* carries; raises InputError as `registry.report.supplement_reading.read_supplement`."""
    supplement = read_supplement(data, where=where)
    named = parse_subject(supplement, where=where)
    subject = None if named is None else replace(named, digest=None)
    # The text of the record itself, not what reading it makes of it.
    text = find_record(data, where=where)
    document = json.loads(text)
    canonical = canonical_bytes(document)
    format_ = detect_format(data)
    # HTML writes `<` as an escape, so that the record cannot close its script element.
    written = canonical.replace(b"<", b"\\u003c") if format_ is OutputFormat.HTML else canonical
    return SupplementInFile(
        data=data,
        format=format_,
        supplement=supplement,
        subject=subject,
        document=document,
        is_canonical=written == text,
        file=Path(where).name,
    )


def detect_format(data: bytes) -> OutputFormat:
    """Return in what form *data* is, by its first bytes."""
    # By content: a renamed file is still what it is.
    if data.startswith(b"%PDF-"):
        return OutputFormat.PDF
    return OutputFormat.JSON if data.lstrip()[:1] == b"{" else OutputFormat.HTML


def find_template(embedded: SupplementInFile) -> str | None:
    """Return the digest of the templates that the file says drew it, hexadecimal; None where it does not say, as JSON never does."""
    if embedded.format is OutputFormat.PDF:
        # A PDF says it in its information dictionary.
        with open_pdf(embedded.data, where="PDF") as opened:
            creator = opened.pdf.follow(opened.pdf.trailer.get("Info"), "Creator")
            text = "" if creator is None else decode_text(creator)
    else:
        # In the head only: a quoted text further down could say it, too.
        match = _DRAWN_BY.search(embedded.data[:_HEAD_BYTES])
        text = match[1].decode() if match else ""
    return text.removeprefix(_DRAWN_WITH) if text.startswith(_DRAWN_WITH) else None


def check_record(embedded: SupplementInFile) -> Check:
    """Whether the file carries one record, in the form that its digest is of."""
    # One form of everything that is signed or sealed (decision of 2026-11-22): a flipped bit cannot
    # hide in slack. The cost: a record that someone formatted anew is refused.
    if not embedded.is_canonical:
        note = "its record is not in canonical JSON (RFC 8785): Caveat wrote no such file"
        return no(CheckName.RECORD, note)
    # A file under another claim's name would mislead whoever reads the list of a folder.
    if other := find_other_name(embedded):
        return no(CheckName.RECORD, other)
    # Reading fills absent fields with defaults, so a taken-out field shows only here.
    if differing := list(_list_differences(to_document(embedded.supplement), embedded.document, "")):
        more = f"; and {len(differing) - _MOST_LISTED} more" if len(differing) > _MOST_LISTED else ""
        return no(CheckName.RECORD, f"it is not a whole record: {'; '.join(differing[:_MOST_LISTED])}{more}")
    supplement = embedded.supplement
    opened = supplement.openings if isinstance(supplement, Supplement) else ()
    # Openings lie outside the record digest, so each is checked against its commitment.
    if isinstance(supplement, Supplement) and (faults := check_openings(supplement)):
        return no(CheckName.RECORD, "; ".join(f"{fault.where}: {fault.found}" for fault in faults[:3]))
    remarks = f"; CONFIDENTIAL: {len(opened)} sealed specifications are shown, each the one that was committed to" if opened else ""
    superseded = None if isinstance(supplement, ChangeReport) else supplement.superseded
    # The notice lies outside the digest, too, and only a registry can confirm it.
    if superseded is not None:
        remarks += f"; a notice before it, outside that digest, says that {superseded.name} superseded it: only a registry knows"
    return yes(CheckName.RECORD, f"carries the record of {supplement.identifier}, sha256 {embedded.digest}{remarks}")


def find_other_name(embedded: SupplementInFile) -> str | None:
    """Return that the file is called after another claim, card or revision than its record is of; None where its name agrees."""
    # All names in the file name count: the wrong one may stand anywhere.
    for claim, revision in _NAMED.findall(embedded.file):
        called = f"{claim.upper()}@{revision}" if revision else claim.upper()
        name = embedded.name if revision else embedded.name.partition("@")[0]
        if called != name:
            return f"the file is called {called}, and its record is of {embedded.name}: it was renamed, or put in the place of another"
    return None


def _list_differences(whole: Json, document: Json, path: str) -> Iterator[str]:
    """Give each field that *document* lacks, or has written otherwise, beside the record that was read from it."""
    # Both sides of each pair are walked, so that the first differing path can be named.
    if isinstance(whole, dict) and isinstance(document, dict):
        yield from (f"{path}{name} is missing" for name in whole if name not in document)
        for name, value in document.items():
            if name in whole:
                yield from _list_differences(whole[name], value, f"{path}{name}.")
    elif isinstance(whole, list) and isinstance(document, list) and len(whole) == len(document):
        for position, (item, other) in enumerate(zip(whole, document, strict=True)):
            yield from _list_differences(item, other, f"{path.removesuffix('.')}[{position}].")
    # Numbers can be written in several ways; canonical bytes compare them as one.
    elif canonical_bytes(whole) != canonical_bytes(document):
        yield f"{path.removesuffix('.')} is written in another way than Caveat writes it"


# Signatures of authors. The operator asserts the first key of each authority, and the old key signs
# the next (decision of 2026-11-22). So the reader should compare fingerprints.

_KEYS = "the log names these keys, and the operator of the registry the first of each authority: compare fingerprints with the authority"


def check_authors(embedded: SupplementInFile) -> Check:
    """Return whether every signature is its author's, and how many statements rest on the word of the registry's operator only."""
    # Signatures are part of the inclusion; without it they cannot be tied to entries.
    if embedded.supplement.inclusion is None:
        return not_checked(CheckName.AUTHORS, "the proof that its entries are in the log was taken out, and with it every signature")
    try:
        backings = Backings(embedded.supplement)
        faults = list(backings.find_faults())
        groups = backings.list_groups()
    except CaveatError as error:
        return no(CheckName.AUTHORS, f"{error.faults[0].where}: {error.faults[0].found}")
    if faults:
        more = f"; and {len(faults) - _MOST_LISTED} more" if len(faults) > _MOST_LISTED else ""
        return no(CheckName.AUTHORS, "; ".join(f"{fault.code}: {fault.where}: {fault.found}" for fault in faults[:_MOST_LISTED]) + more)
    signed = [group for group in groups if group.is_signed]
    asserted = sum(backed_group.count for backed_group in groups if not backed_group.is_signed)
    # No signature is no fault: then the operator alone asserts the statements.
    if not signed:
        return not_checked(CheckName.AUTHORS, f"no statement is signed: all {asserted} are asserted by the registry's operator")
    signers = "; ".join(
        f"{backed_group.count} of {backed_group.authority} by key {', '.join(key[:16] for key in backed_group.keys)}"
        for backed_group in signed
    )
    rest = f"; {asserted} more asserted by the registry's operator" if asserted else ""
    return yes(CheckName.AUTHORS, f"signed by their authors: {signers}{rest}; {_KEYS}")


# What a supplement copies from the statements in it is compared with them, part by part. What it
# composes (reasons, names, titles) is not covered: whoever published the file vouches for that, or
# a registry that composes it anew (decision of 2026-11-22). The cost: a card's rows are composed.


def list_contradictions(supplement: AnySupplement) -> tuple[str, ...]:
    """Return each part that says something else than the statement it is copied from, in words; empty where none does.

    A change report quotes no statement: of it the order of its entries, and what follows from its own numbers, is looked at.
    """
    # A change report quotes no statement, so its own numbers are checked.
    if isinstance(supplement, ChangeReport):
        return tuple(_check_changes(supplement))
    if isinstance(supplement, CardSupplement):
        card = supplement.card
        return tuple(_check_identifier(supplement.identifier, f"{card.card}@{card.revision}", card.entry.leaf))
    claim = supplement.claim
    return (
        *_check_identifier(supplement.identifier, claim.payload.reference, claim.entry.leaf),
        *_check_verdict(supplement),
        *_check_parties(supplement),
        *_check_card(supplement),
        *(problem for part in supplement.specs for problem in _check_spec(part)),
        *_check_property(supplement),
        *_check_history(supplement),
    )


def _check_identifier(text: str, reference: str, leaf: str) -> Iterator[str]:
    # The identifier carries the beginning of the leaf, which ties it to its entry.
    if text != (expected := f"{reference}#{leaf[:16]}"):
        yield f"identifier: it says {text}, its entry is {expected}"


def _check_verdict(supplement: Supplement) -> Iterator[str]:
    own = describe_own_verdict(supplement.audit) if supplement.audit else None
    # Notes that the outcome expired or that audits disagree, and a graver outcome of the family, come before the words recorded.
    if own is not None and supplement.verdict != (expected := join_leading(supplement.family, supplement.claim.payload, own)):
        yield f"verdict: it says {supplement.verdict[:100]!r}, its records {(expected or '')[:100]!r}"


def _check_parties(supplement: Supplement) -> Iterator[str]:
    pairs = [("claimant", supplement.claimant.code, supplement.claim.entry.actor)]
    if supplement.audit is not None:
        pairs.append(("audit.auditor", supplement.audit.auditor.code, supplement.audit.opening.payload.auditor))
    for part, text, recorded in pairs:
        if text != recorded:
            yield f"{part}: it says {text}, recorded was {recorded}"


def _check_card(supplement: Supplement) -> Iterator[str]:
    card = supplement.card
    # A supplement with another card's title would mislead about the source.
    if card is not None and (text := f"{card.card}@{card.revision}") != supplement.claim.payload.card:
        yield f"card: it says {text}, the claim quotes {supplement.claim.payload.card or 'none'}"


def _check_spec(part: SpecPart) -> Iterator[str]:
    if part.version is None:
        return
    version = part.version.payload
    if part.reference != (recorded := f"{version.spec}@{version.version}"):
        yield f"specs: it says {part.reference}, but the statement given with it is {recorded}"
    if part.owner is not None and part.owner.code != version.owner:
        yield f"owner of {part.reference}: it says {part.owner.code}, recorded was {version.owner}"


def _check_property(supplement: Supplement) -> Iterator[str]:
    wanted = supplement.claim.payload.property
    part = next((spec for spec in supplement.specs if spec.role is SpecRole.PROPERTY), None)
    if part is not None and part.reference != wanted:
        yield f"property: the specification shown is {part.reference}, the claim is of {wanted}"
    elif part is not None and part.version is not None:
        # A revealed body replaces the commitment.
        body = part.reveal.payload.opening.body if part.reveal else part.version.payload.body
        if supplement.property != body:
            yield f"property: it is not the body of {wanted} as recorded"


def _check_history(supplement: Supplement) -> Iterator[str]:
    numbers = [revision.payload.revision for revision in supplement.history]
    claim = supplement.claim.payload
    # A missing revision would hide that the claim once said something else.
    if numbers != list(range(1, claim.revision + 1)) or any(revision.payload.claim != claim.claim for revision in supplement.history):
        revisions = ", ".join(map(str, numbers[:20])) or "none"
        expected = f"of revision {claim.revision} each from 1 belongs there, once, in order"
        yield f"history: it shows revisions {revisions} of {claim.claim}; {expected}"
    elif supplement.history[-1] != supplement.claim:
        yield f"history: its last revision is not the claim {claim.reference} that is shown"


def _check_changes(report: ChangeReport) -> Iterator[str]:
    yield from (f"{name} occurs twice" for name, times in Counter(change.claim for change in report.changes).items() if times > 1)
    for claim_change in report.changes:
        for state, last in ((claim_change.before, report.since), (claim_change.after, report.log_size)):
            if state is not None:
                yield from _check_state(claim_change.claim, state, last)
        # An entry outside the two ends cannot have changed anything between them.
        outside = [entry.seq for entry in claim_change.entries if not report.since < entry.seq <= report.log_size]
        if outside:
            yield f"{claim_change.claim}: entry {outside[0]} is not between {report.since} and {report.log_size}"
        # Derived from the classes in the same record, so it must agree with them.
        if claim_change.newly_inverted != is_newly_inverted(claim_change.before, claim_change.after):
            yield f"{claim_change.claim}: newly inverted is {claim_change.newly_inverted}, which its classes do not say"


def _check_state(claim: str, state: ClaimState, last: int) -> Iterator[str]:
    reference, _, digest = state.identifier.partition("#")
    if reference.partition("@")[0] != claim or digest != state.claim_entry.leaf[:16]:
        yield f"{claim}: {state.identifier} is not what its entry {state.claim_entry.seq} is called"
    for entry in (state.claim_entry, state.outcome_entry):
        # A state cannot rest on an entry that came after it.
        if entry is not None and entry.seq > last:
            yield f"{claim}: entry {entry.seq} cannot have been known at entry {last}"


# Whether limit and direction were fixed before the replay, from the entries that the record quotes.


def check_lock(supplement: AnySupplement, *, is_proven: bool) -> Check:
    """Return whether the lock is before the runs, in the log and in time, and fixes what the claim says.

    Args:
        is_proven: whether the entries that the record quotes are those of the log; else order and time are the record's own word.
    """
    if isinstance(supplement, CardSupplement):
        return not_checked(CheckName.LOCK, "a card supplement quotes no lock; verify the supplement of each claim")
    if isinstance(supplement, ChangeReport):
        return not_checked(CheckName.LOCK, "a change report quotes no lock; verify the supplements of its claims")
    audit = supplement.audit
    if audit is None:
        return not_checked(CheckName.LOCK, "this revision of the claim has not been audited, so there is nothing to fix before")
    if audit.lock is None:
        note = "nothing was locked: it is not shown that θ and direction were fixed before the scores were seen"
        return not_checked(CheckName.LOCK, note)
    return _check_locked(audit.lock, audit, supplement.claim, is_proven=is_proven)


def _check_locked(lock: Recorded[Lock], audit: AuditPart, claim: Recorded[ClaimRevision], *, is_proven: bool) -> Check:
    # Terms and order are both checked, so that all faults are named at once.
    faults = [*_check_terms(lock, claim), *_check_order(lock, audit)]
    if faults:
        return no(CheckName.LOCK, "; ".join(faults))
    payload = lock.payload
    theta = "no θ" if payload.theta is None else f"θ {payload.relation or ''} {payload.theta:g}".replace("  ", " ")
    lock_text = (
        f"{theta} and {payload.direction.value.replace('_', ' ')} locked in entry {lock.entry.seq} of {lock.entry.at:%Y-%m-%d %H:%M} UTC"
    )
    # A lock without a run shows nothing yet.
    if not audit.runs:
        return not_checked(CheckName.LOCK, f"{lock_text}; no replay is recorded under it")
    # Unproven entries could have any number and date.
    if not is_proven:
        return not_checked(CheckName.LOCK, f"{lock_text}, as the record has it; its entries are not proven, so this shows nothing")
    return yes(CheckName.LOCK, f"{lock_text}, before {_describe_run(audit.runs[0])}{_describe_deviations(audit)}")


def _check_terms(lock: Recorded[Lock], claim: Recorded[ClaimRevision]) -> Iterator[str]:
    """Give everything in which the lock is not of this claim as it was then."""
    locked, claimed = lock.payload, claim.payload
    if locked.claim != claimed.reference:
        yield f"the lock in entry {lock.entry.seq} is of {locked.claim}, the supplement of {claimed.reference}"
    # A claim registered after its lock could have been chosen to fit it.
    if lock.entry.seq <= claim.entry.seq:
        yield f"the claim is of entry {claim.entry.seq}, its lock of entry {lock.entry.seq} before it"
    for name, item, other in (
        ("θ", locked.theta, claimed.theta),
        ("relation", locked.relation, claimed.relation),
        ("direction", locked.direction, claimed.direction),
    ):
        if item != other:
            yield f"{name} is {other} in the claim, and {item} was locked"


def _check_order(lock: Recorded[Lock], audit: AuditPart) -> Iterator[str]:
    """Give everything that does not follow its lock."""
    # A lock of another audit fixed other things.
    if lock.payload.audit != audit.opening.payload.audit:
        yield f"the lock is of {lock.payload.audit}, the audit is {audit.opening.payload.audit}"
    for run in audit.runs:
        yield from _check_run(lock, run)
    if audit.result is not None:
        yield from _check_result(audit.result, {run.entry.seq for run in audit.runs})


def _check_run(lock: Recorded[Lock], run: Recorded[Run]) -> Iterator[str]:
    if run.payload.audit != lock.payload.audit:
        yield f"the run in entry {run.entry.seq} is of {run.payload.audit}"
    # The order in the log is what the tree proves.
    if run.entry.seq <= lock.entry.seq:
        yield f"the run is entry {run.entry.seq}, its lock entry {lock.entry.seq} after it"
    # The run's own date can be earlier than its entry, so it is compared with the lock, too.
    if run.payload.started_at < lock.entry.at:
        began, fixed = f"{run.payload.started_at:%Y-%m-%d %H:%M:%S}", f"{lock.entry.at:%Y-%m-%d %H:%M:%S}"
        yield f"the run in entry {run.entry.seq} began {began}, before the lock of {fixed}"


def _check_result(result: Recorded[Result], runs: set[int]) -> Iterator[str]:
    # The result must come from a run of this audit that was recorded before it.
    if result.payload.run not in runs or result.entry.seq <= result.payload.run:
        yield f"the result in entry {result.entry.seq} is of run {result.payload.run}, which is none of this audit's before it"


def _describe_run(run: Recorded[Run]) -> str:
    return f"the run of entry {run.entry.seq}, begun {run.payload.started_at:%Y-%m-%d %H:%M} UTC by its own word"


def _describe_deviations(audit: AuditPart) -> str:
    count = len(audit.deviations)
    if not count:
        return "; no deviation from it is recorded"
    return f"; {count} {'deviation' if count == 1 else 'deviations'} from it {'is' if count == 1 else 'are'} recorded, and shown"


# Inclusion: whether the named entries stand in the log, at the root that the record names. It needs
# no network and no key. Who keeps the log is shown by a signed checkpoint only.
#
# One proof covers all entries, by complete subtrees, which do not depend on the log's size.
# Payloads are hashed as they stand in the file's JSON, with the statement's salt. Entries named
# without their statement prove number and leaf alone (decision of 2026-11-22). It costs 0.5 to 7 ms
# a claim, and 17 kB for a card of 500 claims.


@dataclass(frozen=True, slots=True, kw_only=True)
class InclusionResult:
    """What the proof of a supplement comes to."""

    entries: tuple[int, ...]
    """Numbers of the entries that stand in the log, each with the leaf that the supplement gives it; ascending."""
    recomputed: tuple[int, ...]
    """Those whose statement the supplement holds: kind, actor, time and every word of it are the ones that were logged. Of the others
    the number and the leaf are proven, and nothing that is told of them."""


def check_inclusion(supplement: AnySupplement, *, document: Json = None) -> InclusionResult:
    """Return what the inclusion of *supplement* proves.

    Every leaf with a statement in the supplement is computed from it; with the other leaves, as they are named, and the nodes
    given, the root must come out (RFC 6962 section 2.1).

    Args:
        document: the JSON that *supplement* was read from; payloads are hashed as they are in it. Without it they are written again.

    Raises:
        InputError: there is no proof (`proof-missing`), an entry does not fit (`entry-not-proven`, one fault each), an entry is reported
            twice and differently (`entry-inconsistent`), or the root does not come out (`history-differs`).
    """
    inclusion = supplement.inclusion
    if inclusion is None:
        problem = "it contains no proof that its entries are in the log: it is older than such proofs, or the proof was removed"
        raise InputError(Fault("proof-missing", "inclusion", problem))
    entries = list_entries(supplement)
    # From the document itself: hashing a decoded payload would depend on this version's fields.
    named = list(list_named(supplement, document))
    faults = list(_find_faults(named, inclusion, supplement.log_size))
    # Every fault is named before the root is computed, which would only say that something is
    # wrong.
    if faults:
        raise InputError(faults)
    # Leaves are counted from 0, entries from 1.
    root = _compute_root({seq - 1: bytes.fromhex(entry.leaf) for seq, entry in entries.items()}, inclusion)
    if root != inclusion.root:
        problem = f"the entries and nodes give the root {root}, the supplement names {inclusion.root}"
        raise InputError(Fault("history-differs", "inclusion", problem))
    return InclusionResult(
        entries=tuple(entries), recomputed=tuple(sorted({reference.entry.seq for reference in named if reference.recorded}))
    )


def _find_faults(named: Sequence[EntryReference], inclusion: Inclusion, log_size: int) -> Iterator[Fault]:
    if inclusion.size != log_size:
        yield _fault("inclusion", f"the proof is of {inclusion.size} entries, the supplement of {log_size}")
    yield from _find_unopened({reference.entry.seq for reference in named if reference.recorded}, inclusion)
    openings = {opening.entry: opening for opening in inclusion.openings}
    for reference in named:
        where = f"entry {reference.entry.seq}"
        # Numbers outside the log would be proven by nothing.
        if not 1 <= reference.entry.seq <= inclusion.size:
            yield _fault(where, f"the log is said to have {inclusion.size} entries")
        # The leaf is used as bytes, so it must be 32 of them.
        elif not _is_digest(reference.entry.leaf):
            yield _fault(where, f"its leaf {reference.entry.leaf!r} is not a SHA-256 in hexadecimal")
        elif reference.recorded and reference.entry.seq in openings and (misfit := find_misfit(reference, openings[reference.entry.seq])):
            yield _fault(where, misfit)


def _find_unopened(wanted: set[int], inclusion: Inclusion) -> Iterator[Fault]:
    """There is one opening for each entry whose payload stands in the record, in log order, and no other."""
    opened = [opening.entry for opening in inclusion.openings]
    # A statement without its salt could be altered unnoticed.
    for seq in sorted(wanted.difference(opened)):
        yield _fault(f"entry {seq}", "its salt is missing, so its hash cannot be computed")
    # An opening of something that is not shown would disclose it.
    for seq in sorted(set(opened) - wanted):
        yield _fault(f"entry {seq}", "it is opened, but its payload is missing")
    # One order, one form.
    if opened != sorted(set(opened)):
        yield _fault("inclusion.openings", "they are not in log order, once each")


def _compute_root(leaves: dict[int, bytes], inclusion: Inclusion) -> str:
    try:
        return root_from_nodes(leaves, inclusion.nodes, inclusion.size).hex()
    except ValueError as error:
        raise InputError(_fault("inclusion.nodes", f"they do not lead to a root: {error}")) from error


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _fault(where: str, text: str) -> Fault:
    return Fault("entry-not-proven", where, text)
