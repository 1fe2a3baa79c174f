"""What became of a claims file, in a terminal and as JSON."""

from collections.abc import Iterator
from typing import Any

from registry.registration.claims_file_registration import RegistrationResult

_MOST = 20


def summarise_added(outcome: RegistrationResult, *, dry_run: bool) -> dict[str, Any]:
    """Return the document that `caveat claim add --json` prints."""
    return {
        "schema": "caveat/claim-add/1",
        "dry_run": dry_run,
        "added": list(outcome.added),
        "revised": list(outcome.revised),
        "unchanged": outcome.unchanged,
        "restates": [{"claim": one.claim, "other": one.other} for one in outcome.related],
        "left_out": {"added": outcome.left_out, "unchanged": outcome.left_out_unchanged},
        "proposed": None if outcome.proposed is None else {"added": outcome.proposed, "unchanged": outcome.proposed_unchanged},
    }


def print_added(console: Any, outcome: RegistrationResult, *, dry_run: bool) -> None:
    """Print what was recorded, or what would be, and the first references."""
    for line in _sentences(outcome, dry_run=dry_run):
        console.print(line)
    references = (*outcome.added, *outcome.revised)
    for reference in references[:_MOST]:
        console.print(f"  {reference}")
    if len(references) > _MOST:
        console.print("  … caveat claim list shows them all")
    for one in outcome.related[:_MOST]:
        console.print(f"  {one.claim} restates {one.other}")
    if len(outcome.related) > _MOST:
        console.print(f"  … and {len(outcome.related) - _MOST} more relations")


def _sentences(outcome: RegistrationResult, *, dry_run: bool) -> Iterator[str]:
    """Give a sentence for each thing that the file speaks of; claims always."""
    added = len(outcome.added)
    yield f"{_count(added, 'claim', dry_run=dry_run)} added, {len(outcome.revised)} revised, {outcome.unchanged} unchanged."
    if outcome.left_out or outcome.left_out_unchanged:
        yield f"{_count(outcome.left_out, 'passage', dry_run=dry_run)} left out, {outcome.left_out_unchanged} unchanged."
    if outcome.proposed is not None:
        count = _count(outcome.proposed, "proposed passage", dry_run=dry_run)
        yield f"{count} recorded, {outcome.proposed_unchanged} unchanged."


def _count(number: int, noun: str, *, dry_run: bool) -> str:
    verb = "would be" if dry_run else "was" if number == 1 else "were"
    return f"{number} {noun if number == 1 else f'{noun}s'} {verb}"
