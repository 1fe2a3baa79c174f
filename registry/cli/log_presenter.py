"""Log entries, histories, signatures and keys in a terminal and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import time
from typing import Any

from registry.cli.claim_presenter import shorten
from registry.codec.canonical_documents import to_document
from registry.errors import Fault, NotFoundError
from registry.present.blocks import Block, Subtitle, Verbatim
from registry.present.listings import Column, Listing, build_table
from registry.records.claim import ClaimRevision
from registry.records.dossier import Dossier
from registry.records.record import Payload
from registry.records.statement import Entry
from registry.registration.key_registration import KeyState, trusted_vkeys
from registry.registration.log_survey import ListedAuthority
from registry.seal.signed_notes import parse_note
from registry.seal.signing_keys import Backing, format_certificate, format_fingerprint
from registry.store.dossiers import TrailEntry
from registry.store.ledger import Ledger
from registry.store.log_integrity import CheckedCheckpoint, LogReport, describe_published
from registry.store.log_reader import LogSummary
from registry.store.log_seals import list_checkpoints
from registry.store.statement_kind import kind_of
from registry.verify.proof_checks import Check

# Who stands behind a statement.

Backed = Mapping[int, Backing | None]
"""By number of the entry; None where its signature is wrong."""

_SHORT = {Backing.AUTHOR: "author", Backing.OPERATOR: "operator", Backing.WITHDRAWN: "operator (key revoked)", None: "WRONG"}
_LONG = {
    Backing.AUTHOR: "signed by its author",
    Backing.OPERATOR: "asserted by the registry's operator",
    Backing.WITHDRAWN: "signed with a key that was revoked since: asserted by the registry's operator",
    None: "its signature is WRONG: caveat admin log check",
}
_LEGEND = "author: signed with a key of the authority that it names; operator: asserted by the registry's operator"


def name_backing(backing: Backing | None) -> str:
    """Return who is behind a statement, as one word of a document."""
    return "wrong" if backing is None else backing.value


def list_backed(dossier: Dossier) -> Iterator[tuple[str, Entry]]:
    """Yield the statements that a claim and its audits rest on, with what they are."""
    if dossier.revisions:
        yield "claim", dossier.current.entry
    for file in dossier.audits:
        yield f"audit {file.audit.payload.audit}", file.audit.entry
        if file.lock is not None:
            yield "its lock", file.lock.entry
        if file.restrictions:
            yield "its outcome", file.restrictions[-1].entry
    for endpoint in dossier.model_endpoints:
        yield f"endpoint name {endpoint.payload.name}", endpoint.entry
    for objection in dossier.objections:
        yield f"objection {objection.objection.payload.objection}", objection.objection.entry


def present_backed(dossier: Dossier, backed: Backed) -> Iterator[Block]:
    """Present who is behind each statement that a claim and its audits rest on."""
    listed = list(list_backed(dossier))
    if listed:
        yield Subtitle("signers")
    for what, entry in listed:
        yield f"  {what} by {entry.actor}, entry {entry.seq}: {_LONG[backed[entry.seq]]}"


# Entries and revisions.


def describe(payload: Payload) -> str:
    """Return the gist of a payload on one line; what is made only of identifiers is not shortened."""
    kind = kind_of(payload)
    return shorten(kind.describe(payload)) if kind.is_shortened else kind.describe(payload)


def compare_revisions(dossier: Dossier, old: int, new: int) -> tuple[ClaimRevision, ClaimRevision, list[tuple[str, Any, Any]]]:
    """Return two revisions and the fields in which they differ, as documents.

    Raises:
        NotFoundError: there is no such revision.
    """
    # One revision has nothing to compare; numbers that do not exist are named below.
    if len(dossier.revisions) == 1:
        problem = "has only one revision, so there is nothing to compare"
        raise NotFoundError(Fault("revision-not-found", dossier.claim, problem))
    revisions = {revision.payload.revision: revision.payload for revision in dossier.revisions}
    for wanted in (old, new):
        if wanted not in revisions:
            known = f"revisions 1 to {len(revisions)}" if revisions else "no revision yet, it is only reserved"
            raise NotFoundError(Fault("revision-not-found", f"{dossier.claim}@{wanted}", f"{dossier.claim} has {known}"))
    before, after = to_document(revisions[old]), to_document(revisions[new])
    # Number and reason differ by nature.
    rows = [(key, before[key], after[key]) for key in after if key not in ("revision", "why") and before[key] != after[key]]
    return revisions[old], revisions[new], rows


def show_value(value: object) -> str:
    """Return the *value* of a field for a person: parts of a record by name, what is None as “not stated”."""
    if value is None:
        return "not stated"
    # An anchor has many fields; a reader needs its place.
    if isinstance(value, dict) and "occurrences" in value:
        return _show_anchor(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {show_value(part)}" for name, part in value.items() if part is not None)
    if isinstance(value, list):
        return ", ".join(map(show_value, value)) or "none"
    return str(value)


def _show_anchor(anchor: dict[str, Any]) -> str:
    """Return where a passage stands; its words are the quote, and the file is that of the card."""
    places = (f"page {anchor['page']}" if anchor["page"] else "", anchor["section"] or "")
    return ", ".join(filter(None, (*places, f"characters {anchor['start']:,} to {anchor['stop']:,}", f"found at {anchor['level']}")))


# The audit trail, checks of the log, and the logs of a registry.


def summarise_trace(trail_entry: TrailEntry, backed: Backed) -> dict[str, Any]:
    """Return an entry with its payload, or with the entry that says why it was erased, and who is behind it, as a document."""
    erased = None if trail_entry.erased_by is None else {"entry": trail_entry.erased_by.entry.seq, "why": trail_entry.erased_by.payload.why}
    payload = None if trail_entry.payload is None else to_document(trail_entry.payload)
    backing = name_backing(backed[trail_entry.entry.seq])
    return {"entry": to_document(trail_entry.entry), "payload": payload, "erased": erased, "backed_by": backing}


def build_trail_listing(document: Mapping[str, Any], traces: Sequence[TrailEntry], backed: Backed, *, none: str) -> Listing[TrailEntry]:
    """Return log entries as a list, and who is behind each."""
    columns: tuple[Column[TrailEntry], ...] = (
        Column(name="entry", read=lambda trace: trace.entry.seq, is_number=True),
        Column(name="at", read=lambda trace: trace.entry.at, show=lambda trace: f"{trace.entry.at:%Y-%m-%d %H:%M}"),
        Column(name="by", read=lambda trace: trace.entry.actor),
        Column(
            name="backed_by",
            is_spare=True,
            read=lambda trace: name_backing(backed[trace.entry.seq]),
            show=lambda trace: _SHORT[backed[trace.entry.seq]],
        ),
        Column(name="kind", read=lambda trace: trace.entry.kind),
        Column(name="what", read=_describe),
    )

    def present(rows: Sequence[TrailEntry]) -> Iterator[Block]:
        yield _LEGEND
        yield build_table(columns, rows)

    return Listing(
        document=document, field="entries", rows=traces, describe=lambda trace: summarise_trace(trace, backed), columns=columns, none=none,
        present=present,
    )  # fmt: skip


def summarise_report(report: LogReport) -> dict[str, Any]:
    """Return what a check found, as a document."""
    checkpoints = [
        {
            "size": checkpoint.checkpoint.size,
            "root": checkpoint.checkpoint.root,
            "fits": checkpoint.fits,
            "signed": checkpoint.is_signed,
            "cosigned_by": _list_witnesses(report, checkpoint),
            "here": checkpoint.at is not None,
        }
        for checkpoint in report.checkpoints
    ]
    parts = {"origin": report.origin, "entries": report.entries, "erased": report.erased, "root": report.root}
    return {**parts, "checkpoints": checkpoints, "published_since": report.given_out_since, "lacks_nodes": report.lacks_nodes}


def summarise_check(check: Check | None) -> dict[str, str] | None:
    """Return a check as a document; None where it was not asked for."""
    return None if check is None else {"name": check.name.value, "answer": check.answer.value, "note": check.note}


def present_report(report: LogReport, rows: int | None, anchors: Check | None) -> Iterator[Block]:
    """Present a check that found nothing wrong, with what it rests on."""
    is_one = report.erased == 1
    yield f"{report.origin or 'the log'}: {_count(report.entries, 'entry', 'entries')}, no gaps, every entry hash matches its text"
    if report.erased:
        yield f"  the text of {report.erased} {'is' if is_one else 'are'} erased, and {'an entry says' if is_one else 'entries say'} why"
    yield f"  root      {report.root}"
    if rows is None:
        yield "  rows      not compared with their statements"
    else:
        yield f"  rows      {rows:,} are what their statements give"
    if report.lacks_nodes:
        yield "  subtrees  none is kept: nothing rests on them, proofs are slower; the next entry makes them anew"
    # Published files name roots that no kept checkpoint covers.
    if report.given_out_since:
        yield f"  WARNING: {describe_published(report)}"
    elif not report.checkpoints:
        yield "  NO checkpoint: nothing but these entries themselves says that they are what they were; caveat admin log checkpoint"
    for checked in report.checkpoints:
        yield f"  checkpoint at {checked.checkpoint.size}: fits, {_describe_signed(report, checked)}"
    if anchors is not None:
        yield f"  time-anchor  {anchors.answer.value}: {anchors.note}"


def summarise_log(ledger: Ledger, log_summary: LogSummary) -> dict[str, Any]:
    """Return a log with its last checkpoint and the keys that verify it, as a document."""
    with ledger.view(log=None if log_summary.is_own else log_summary.origin) as view:
        checkpoints = list_checkpoints(view)
        vkeys = [str(key) for key in trusted_vkeys(view)] if log_summary.is_own else [log_summary.vkey] if log_summary.vkey else []
    last = checkpoints[-1] if checkpoints else None
    lines = parse_note(last.note, where="checkpoint").lines if last else ()
    return {
        "origin": log_summary.origin,
        "own": log_summary.is_own,
        "entries": log_summary.size,
        "checkpoint": last.checkpoint.size if last else None,
        # The log's own name is its signature, and no witness.
        "cosigned_by": sorted({line.name for line in lines} - {log_summary.origin}),
        "vkeys": vkeys,
    }


def list_log_columns() -> tuple[Column[dict[str, Any]], ...]:
    """Return the columns of a list of logs; keys by their identifiers, which `caveat admin key show` and `--json` have whole."""
    return (
        Column(name="name", read=lambda log: str(log["name"])),
        Column(name="log", read=lambda log: str(log["origin"])),
        Column(name="kind", read=lambda log: "own" if log["own"] else "imported"),
        Column(name="entries", read=lambda log: int(log["entries"]), show=lambda log: f"{log['entries']:,}", is_number=True),
        Column(name="checkpoint", read=lambda log: log["checkpoint"], show=_describe_checkpoint),
        Column(name="cosigned_by", read=lambda log: ", ".join(log["cosigned_by"]) or None, is_shown=False),
        Column(name="keys", read=lambda log: ", ".join(vkey.split("+")[1] for vkey in log["vkeys"]), is_shown=False),
    )  # fmt: skip


def _describe_checkpoint(log: dict[str, Any]) -> str:
    if log["checkpoint"] is None:
        return "none"
    witnesses = ", ".join(log["cosigned_by"])
    return f"at {log['checkpoint']:,}, {f'cosigned by {witnesses}' if witnesses else 'no witness'}"


def _describe(trail_entry: TrailEntry) -> str:
    if trail_entry.payload is not None:
        return describe(trail_entry.payload)
    if trail_entry.erased_by is None:
        # A missing text without an erasure was removed by someone.
        return "(its text is gone, and no entry says why)"
    return f"(text erased by entry {trail_entry.erased_by.entry.seq}: {trail_entry.erased_by.payload.why})"


def _describe_signed(report: LogReport, checked: CheckedCheckpoint) -> str:
    signed = {True: "signed by the log", False: "NOT signed by the log", None: "no key here to say who signed it"}[checked.is_signed]
    witnesses = _list_witnesses(report, checked)
    kept = "" if checked.at is not None else " (brought along)"
    return f"{signed}, {'cosigned by ' + ', '.join(witnesses) if witnesses else 'cosigned by no known witness'}{kept}"


def _list_witnesses(report: LogReport, checked: CheckedCheckpoint) -> list[str]:
    return sorted({line.name for line in checked.lines if line.is_valid and line.name != report.origin})


def _count(number: int, text: str, many: str) -> str:
    return f"{number:,} {text if number == 1 else many}"


# Keys.


def describe_state(state: KeyState) -> dict[str, Any]:
    """Return a key and its status, for `--json`."""
    event, revoked = state.added.payload, state.revoked
    since = revoked.payload.untrusted_from if revoked else None
    return {
        "fingerprint": state.fingerprint,
        "purpose": event.purpose.value,
        "algorithm": event.algorithm.value,
        "authority": state.added.entry.actor,
        "in_force": state.in_force,
        "added": state.added.entry.seq,
        "replaced": state.replaced.entry.seq if state.replaced else None,
        "revoked": revoked.entry.seq if revoked else None,
        "untrusted_from": since.isoformat() if since else None,
        "vkey": event.vkey,
        "certificate": event.certificate,
        "public": event.public,
    }


def build_key_listing(keys: Sequence[tuple[str, KeyState]], here: Mapping[str, str]) -> Listing[tuple[str, KeyState]]:
    """Return *keys*, each with the origin of its log, as a list, with the file of each secret that is here."""

    def find_secret(row: tuple[str, KeyState]) -> str | None:
        return here.get(row[1].fingerprint)

    columns: tuple[Column[tuple[str, KeyState]], ...] = (
        Column(name="log", read=lambda row: row[0], is_shown=False),
        Column(name="key", read=lambda row: row[1].fingerprint[:16]),
        Column(name="signs", read=lambda row: row[1].added.payload.purpose),
        Column(name="algorithm", read=lambda row: row[1].added.payload.algorithm),
        Column(name="entry", read=lambda row: row[1].added.entry.seq),
        Column(name="authority", read=lambda row: row[1].added.entry.actor, is_shown=False),
        Column(name="status", read=lambda row: _describe_standing(row[1])),
        Column(name="secret", read=find_secret, show=lambda row: find_secret(row) or "–"),
        Column(name="fingerprint", read=lambda row: row[1].fingerprint, is_shown=False),
    )

    def present(rows: Sequence[tuple[str, KeyState]]) -> Iterator[Block]:
        for origin in dict.fromkeys(origin for origin, _ in rows):
            yield f"Keys of {origin}"
            yield build_table(columns, [row for row in rows if row[0] == origin])

    return Listing(
        document={"schema": "caveat/keys/1"}, field="keys", rows=keys, columns=columns, present=present,
        describe=lambda row: {"log": row[0], **describe_state(row[1]), "secret": find_secret(row)},
        none="The log names no key: caveat admin key add makes one.",
    )  # fmt: skip


def build_authority_listing(rows: Sequence[ListedAuthority]) -> Listing[ListedAuthority]:
    """Return authorities as a list."""

    def describe(listed: ListedAuthority) -> dict[str, Any]:
        payload = listed.authority.payload
        return {
            "log": listed.log, "code": payload.code, "name": payload.name, "role": payload.role.value, "entry": listed.authority.entry.seq,
            "keys": [{"key": state.fingerprint, "purpose": state.added.payload.purpose.value} for state in listed.keys],
            "claims": listed.claims, "audits": listed.audits, "concluded": listed.concluded,
        }  # fmt: skip

    columns: tuple[Column[ListedAuthority], ...] = (
        Column(name="log", read=lambda listed: listed.log, is_spare=True),
        Column(name="code", read=lambda listed: listed.authority.payload.code),
        Column(name="name", read=lambda listed: listed.authority.payload.name),
        Column(name="role", read=lambda listed: listed.authority.payload.role),
        Column(name="since", read=lambda listed: listed.authority.entry.at, is_shown=False),
        Column(name="keys", read=_list_keys_of, show=lambda listed: ", ".join(_list_purposes(listed)) or "none"),
        Column(name="claims", read=lambda listed: listed.claims, is_number=True),
        Column(name="audits", read=lambda listed: listed.audits, is_number=True),
        Column(name="concluded", read=lambda listed: listed.concluded, is_number=True),
    )
    return Listing(
        document={"schema": "caveat/authorities/1"}, field="authorities", rows=rows, describe=describe, columns=columns,
        none="No authorities.",
    )  # fmt: skip


def _list_keys_of(listed: ListedAuthority) -> str | None:
    return ", ".join(f"{state.added.payload.purpose.value} {state.fingerprint[:8]}" for state in listed.keys) or None


def _list_purposes(listed: ListedAuthority) -> Iterator[str]:
    yield from dict.fromkeys(state.added.payload.purpose.value for state in listed.keys)


def present_shown(states: Sequence[KeyState], *, is_public_only: bool) -> Iterator[Block]:
    """Present each key with its fingerprint in groups and what others verify with, or the last only."""
    for state in states:
        if not is_public_only:
            yield from _present_head(state)
        yield from _present_public(state)


def _present_head(state: KeyState) -> Iterator[Block]:
    event, entry, standing = state.added.payload, state.added.entry, _describe_standing(state)
    yield f"{event.purpose.value.capitalize()} key of {entry.actor}, {event.algorithm.value}, by entry {entry.seq}: {standing}"
    yield "  fingerprint (SHA-256 of the public key)"
    for line in format_fingerprint(state.fingerprint).splitlines():
        yield f"    {line}"
    yield "  certificate" if event.certificate else "  verifier key"


def _present_public(state: KeyState) -> Iterator[Block]:
    payload = state.added.payload
    text = payload.vkey or payload.public or format_certificate(payload.certificate or "").rstrip("\n")
    # Verifier keys and certificates are never wrapped, so that they can be copied.
    yield Verbatim(text)


def _describe_standing(state: KeyState) -> str:
    if state.revoked is not None:
        since = state.revoked.payload.untrusted_from
        # A whole day needs no time.
        day = "" if since is None else f" from {since:%Y-%m-%d}" + ("" if since.time() == time() else f" {since:%H:%M}")
        return f"revoked{day} (entry {state.revoked.entry.seq})"
    return f"replaced by entry {state.replaced.entry.seq}" if state.replaced else "in force"
