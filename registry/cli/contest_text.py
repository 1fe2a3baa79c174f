"""A contestation in a terminal and as JSON: what is contested beside its rival, the steps, and the replays under the rival."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from registry.cli.output import build_table
from registry.cli.spec_text import compare_specs, print_changes
from registry.codec.documents import to_document
from registry.records.dossier import AuditFile, ContestationFile
from registry.records.verdict import ReadingVerdict
from registry.registration.objections import get_contestation
from registry.report.contested import describe_state, name_actor
from registry.report.leading import find_leading

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested:
    """A contestation with everything that its page shows."""

    file: ContestationFile
    changes: Sequence[dict[str, Any]] | None
    """From what is contested to the rival, field by field; None without a rival, or where `untold` says why not."""
    untold: str | None
    replays: Sequence[AuditFile]
    """Under the rival, in log order."""
    leading: dict[str, ReadingVerdict | None]
    """By claim revision that was replayed, the outcome that counts for it; None without one."""


def collect_contestation(view: "View", name: str) -> Contested:
    """Return the contestation *name* with its rival's differences and replays; raises NotFoundError."""
    file = get_contestation(view, name)
    said = file.contestation.payload
    changes, untold = None, None
    if said.rival is not None and not said.target.startswith("CLM-"):
        changes, untold = compare_specs(view, said.target, said.rival)
    found = [audit for one in file.replays if (audit := view.find_audit(one.payload.audit)) is not None]
    leading: dict[str, ReadingVerdict | None] = {}
    for claim in dict.fromkeys(one.audit.payload.claim for one in found):
        outcome = find_leading(view.dossier(claim))[1]
        leading[claim] = outcome.payload.classification.primary if outcome else None
    return Contested(file=file, changes=changes, untold=untold, replays=found, leading=leading)


def build_contestation_table(files: Sequence[ContestationFile]) -> "Table":
    """Return a listing, one line each."""
    rows = [
        (one.contestation.payload.contestation, one.contestation.payload.target, one.contestation.payload.by,
         f"{one.contestation.entry.at:%Y-%m-%d}", f"{describe_state(one)}{'; with a rival' if one.contestation.payload.rival else ''}")
        for one in files
    ]  # fmt: skip
    return build_table(("contestation", "of", "by", "opened", "stands"), rows)


def summarise_contestation(file: ContestationFile) -> dict[str, Any]:
    """Return a contestation of a listing as a document."""
    said = file.contestation
    return {**to_document(said.payload), "opened": to_document(said.entry)["at"], "owner": file.owner, "state": file.state.value}


def build_document(found: Contested) -> dict[str, Any]:
    """Return what `caveat contest show --json` prints."""
    steps = [{**to_document(one.payload), "by": one.entry.actor, "at": to_document(one.entry)["at"], "entry": one.entry.seq}
             for one in found.file.events]  # fmt: skip
    return {
        "schema": "caveat/contestation-file/1",
        **summarise_contestation(found.file),
        "steps": steps,
        "changes": found.changes,
        "not_compared": found.untold,
        "replays": [_summarise_replay(one, found) for one in found.replays],
    }


def print_contestation(console: "Console", found: Contested) -> None:
    """Print a contestation as a person reads it."""
    file, said = found.file, found.file.contestation.payload
    console.print(f"{said.contestation} contests {said.target}: {describe_state(file)}", style="bold")
    rows = [("owner", file.owner), ("by", f"{said.by}, {file.contestation.entry.at:%Y-%m-%d}, entry {file.contestation.entry.seq}")]
    console.print(build_table(("", ""), [*rows, ("grounds", said.grounds), ("rival", said.rival or "none offered")]))
    for step in file.events:
        to = f", to {step.payload.to}" if step.payload.to else ""
        head = f"{step.entry.at:%Y-%m-%d} {step.payload.step.value} by {name_actor(file, step.entry.actor)}{to}, entry {step.entry.seq}"
        console.print(f"{head}: {step.payload.note}")
    if said.rival:
        console.print(f"\nfrom {said.target} to its rival {said.rival}", style="bold")
        if found.changes is not None:
            print_changes(console, found.changes)
        else:
            console.print(found.untold or f"what is contested is a claim; see caveat spec show {said.rival}")
        console.print("\nreplays under the rival", style="bold")
        for one in found.replays:
            console.print(_describe_replay(one, found))
        if not found.replays:
            console.print(f"none; an audit file with `contestation: {said.contestation}` makes one")


def describe_outcome(primary: ReadingVerdict | None) -> str:
    """Return class, standing and mode of an outcome; `no outcome` without one."""
    if primary is None:
        return "no outcome"
    return " · ".join(one.value.replace("_", " ") for one in (primary.class_, primary.standing, primary.mode) if one)


def _describe_replay(file: AuditFile, found: Contested) -> str:
    claim = file.audit.payload.claim
    here, counts = _find_primary(file), found.leading[claim]
    beside = f"; what counts for the claim: {describe_outcome(counts)}"
    return f"{file.audit.payload.audit} of {claim} by {file.audit.payload.auditor}: {describe_outcome(here)}{beside}"


def _summarise_replay(file: AuditFile, found: Contested) -> dict[str, Any]:
    audit, here, counts = file.audit.payload, _find_primary(file), found.leading[file.audit.payload.claim]
    outcomes = {"outcome": to_document(here) if here else None, "counts": to_document(counts) if counts else None}
    return {"audit": audit.audit, "claim": audit.claim, "auditor": audit.auditor, **outcomes}


def _find_primary(file: AuditFile) -> ReadingVerdict | None:
    return file.restrictions[-1].payload.classification.primary if file.restrictions else None
