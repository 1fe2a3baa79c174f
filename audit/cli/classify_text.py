"""How a classification without a registry looks in a terminal and as JSON."""

from typing import Any

from rich.console import Console

from audit.cli.estimate_text import print_estimate
from audit.run import Outcome
from audit.wording import Unit
from registry.cli.output import build_table, show
from registry.codec.documents import to_document
from registry.records.case import Case
from registry.records.claim import Relation
from registry.records.classification import ClaimClass, ItemStatus, Mode, ReadingVerdict, Standing
from registry.report.checklist import build_case_items, count_items


def summarise_outcome(case: Case, outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as the document `caveat/classification/1`: readings, claim before and after, estimate, checklist."""
    document = to_document(outcome.classification)
    return {
        "schema": document["schema"],
        "verdict": outcome.restricted.verdict,
        "readings": document["readings"],
        "inversion_margin": document["inversion_margin"],
        "original_claim": outcome.restricted.original,
        "restricted_claim": outcome.restricted.restricted,
        "estimate": None if outcome.estimate is None else to_document(outcome.estimate),
        "checklist": [to_document(one) for one in build_case_items(case, outcome.estimate)],
    }


def print_outcome(console: Console, case: Case, outcome: Outcome) -> None:
    """Print the verdict, the claim before and after, why, the numbers, and what is missing."""
    text, primary = outcome.restricted, outcome.classification.primary
    console.print(show(text.verdict), style="bold")
    console.print(show(f"\noriginal claim\n  {text.original}\n\nrestricted claim\n  {text.restricted}"))
    console.print(show(f"\nwhy\n  {primary.why}"))
    _print_margin(console, case, outcome)
    rows = [_describe_reading(one) for one in outcome.classification.readings]
    console.print()
    console.print(build_table(("reading", "class", "standing", "basis", "direction"), rows))
    if len(primary.specs) > 1:
        several = any(one.judge for one in primary.specs)
        specs = [
            (
                one.spec,
                *((one.judge or "–",) if several else ()),
                one.class_.value,
                _describe_standing(one.standing, one.mode, one.candidate),
            )
            for one in primary.specs
        ]
        console.print()
        console.print(build_table(("P_deploy specification", *(("judge",) if several else ()), "class", "standing"), specs))
    if outcome.estimate is not None:
        console.print()
        print_estimate(console, outcome.estimate)
    if text.resolves:
        console.print("\nwhat would resolve it", style="bold")
        for resolves in text.resolves:
            console.print(show(f"  {resolves}"))
    items = build_case_items(case, outcome.estimate)
    console.print(f"\nminimum reporting: {count_items(items)}", style="bold")
    if missing := [(one.item, one.note) for one in items if one.status is ItemStatus.MISSING]:
        console.print(build_table(("item", "why"), missing))


def _print_margin(console: Console, case: Case, outcome: Outcome) -> None:
    margin = outcome.classification.inversion_margin
    if margin is None:
        return
    low, high = case.claim.property.range
    unit = Unit(low=low, high=high)
    console.print(f"\ninversion margin Φ_test − θ = {unit.difference(margin, 0.0)}")
    if not outcome.classification.primary.not_met_in_test:
        verb = "suppresses the behaviour" if case.claim.effective_relation is Relation.AT_MOST else "raises the score"
        console.print(f"  an evaluation that {verb} by more than {unit.difference(abs(margin), 0.0)} would already flip this claim")


def _describe_reading(one: ReadingVerdict) -> tuple[str, str, str, str, str]:
    standing = _describe_standing(one.standing, one.mode, one.candidate)
    return one.form.value.replace("_", " "), one.class_.value, standing, one.basis.value, one.direction.value if one.direction else "–"


def _describe_standing(standing: Standing | None, mode: Mode | None, candidate: ClaimClass | None) -> str:
    if mode is not None:
        return mode.value + (f", candidate {candidate.value}" if candidate else "")
    return standing.value.replace("_", " ") if standing else "–"
