"""Claims that need review in a terminal and as JSON: each cause once, with the claims it touches and what resolves it."""

from collections.abc import Iterator, Sequence
from typing import Any

from registry.cli.claim_presenter import describe_short, shorten
from registry.codec.canonical_documents import to_document
from registry.present.blocks import Block, Subtitle, Table, Verbatim
from registry.present.listings import Column, Listing
from registry.registration.claim_search import write_plain, write_verdict
from registry.registration.stale_causes import CauseGroup, Steps
from registry.registration.stale_claims import Remedy, RemedyStep, StaleClaims, name_cause
from registry.store.claim_listing import ClaimSummary

_SETTLES = {
    Remedy.AUDIT: "a new audit resolves it",
    Remedy.REVISION: "a new revision resolves it",
    Remedy.PERSON: "a person decides",
}
_CALLED = {Remedy.AUDIT: "a new audit", Remedy.REVISION: "a new revision", Remedy.PERSON: "only a person"}
_FEW = 20
"""Claims that are listed under one cause, unless more are asked for."""

_Row = tuple[ClaimSummary, tuple[RemedyStep, ...]]


def build_stale_listing(
    stale_claims: StaleClaims, steps: Steps, groups: Sequence[CauseGroup], *, log_size: int, limit: int | None
) -> Listing[_Row]:
    """Return the claims that need review as a list.

    Args:
        steps: every claim with what resolves each of its causes.
        groups: every cause with the claims that it touches.
        limit: at most so many claims are listed: under each cause for a person, in all for a program.
    """
    document = {
        "schema": "caveat/stale/1",
        "log_size": log_size,
        "count": len(stale_claims.claims),
        "confirmed": stale_claims.confirmed,
        "by_cause": {kind.value: number for kind, number in stale_claims.count_kinds().items()},
        "by_remedy": {remedy.value: number for remedy, number in stale_claims.count_remedies().items()},
        "causes": [_summarise_group(group) for group in groups],
        "has_more": limit is not None and limit < len(stale_claims.claims),
    }
    columns: tuple[Column[_Row], ...] = (
        Column(name="claim", read=lambda row: f"{row[0].claim}@{row[0].revision}"),
        Column(name="model", read=lambda row: write_plain(row[0].model)),
        Column(name="verdict", read=lambda row: write_verdict(row[0])),
        Column(name="staleness", read=lambda row: row[0].status.staleness),
        Column(name="causes", read=lambda row: "; ".join(name_cause(step.cause) for step in row[1])),
        Column(name="commands", read=lambda row: "\n".join(command for step in row[1] for command in step.commands)),
        Column(name="quote", read=lambda row: row[0].quote, show=lambda row: shorten(row[0].quote or "(text erased)")),
    )
    return Listing(
        document=document,
        field="claims",
        rows=steps,
        describe=_summarise,
        columns=columns,
        none="No claim is stale, or may be.",
        present=lambda _rows: _present(stale_claims, groups, limit or _FEW),
    )


def _present(stale_claims: StaleClaims, groups: Sequence[CauseGroup], limit: int) -> Iterator[Block]:
    """Yield counts, then each cause with the claims that it touches and what resolves it."""
    total, confirmed = len(stale_claims.claims), stale_claims.confirmed
    yield f"{_count_claims(total)} may no longer hold: {total - confirmed:,} to review, {confirmed:,} confirmed stale."
    yield f"  resolved by: {_list_remedies(stale_claims)}"
    for group in groups:
        yield Subtitle(f"{group.kind.value}: {group.text} (entry {group.entry})")
        yield f"{_count_claims(len(group.claims))}; {_SETTLES[group.remedy]}:"
        for command in group.commands:
            # A command is never wrapped, so that it can be copied.
            yield Verbatim(f"  {command}")
        rows = [
            (name, describe_short(claim.status, name), shorten(claim.quote or "(text erased)"))
            for name, claim in ((f"{claim.claim}@{claim.revision}", claim) for claim in group.claims[:limit])
        ]
        yield Table(("claim", "status", "quote"), rows)
        if limit < len(group.claims):
            yield f"{len(group.claims) - limit:,} more are not shown: --limit {len(group.claims)}"
    yield '\nA person may decide any cause: caveat stale confirm CLM-… --cause KIND --reason "…", or dismiss.'


def _list_remedies(stale_claims: StaleClaims) -> str:
    """Return how many claims each remedy resolves whole; the others need several."""
    settled = stale_claims.count_remedies()
    # A claim with causes of several kinds is resolved by no single remedy.
    several = len(stale_claims.claims) - sum(settled.values())
    parts = [f"{_CALLED[remedy]} {number:,}" for remedy, number in settled.items()]
    return ", ".join([*parts, *([f"several of these {several:,}"] if several else [])])


def _summarise(row: _Row) -> dict[str, Any]:
    claim, steps = row
    return {
        **to_document(claim),
        "steps": [
            {"kind": step.cause.kind.value, "what": step.cause.what, "remedy": step.remedy.value, "commands": list(step.commands)}
            for step in steps
        ],
    }


def _summarise_group(group: CauseGroup) -> dict[str, Any]:
    return {
        "kind": group.kind.value,
        "what": group.what,
        "text": group.text,
        "entry": group.entry,
        "remedy": group.remedy.value,
        "claims": [f"{claim.claim}@{claim.revision}" for claim in group.claims],
        "commands": list(group.commands),
    }


def _count_claims(number: int) -> str:
    return "1 claim" if number == 1 else f"{number:,} claims"
