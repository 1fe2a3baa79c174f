"""How a classification without a registry looks in a terminal and as JSON."""

from typing import Any

from rich.console import Console

from audit.cli.estimate_text import print_estimate
from audit.run import Outcome
from registry.report.units import Unit, share
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.records.audit_case import Case
from registry.records.claim import Relation
from registry.records.verdict import ItemStatus, ReadingVerdict, SpecVerdict
from registry.report.checklist import build_case_items, count_items
from registry.report.wording import format_verdict, get_words


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
        "conditions_not_checked": document["conditions_not_checked"],
        "checklist": [to_document(one) for one in build_case_items(case, outcome.estimate)],
    }


def print_outcome(console: Console, case: Case, outcome: Outcome) -> None:
    """Print the verdict, the claim before and after, why, and the numbers."""
    text, primary = outcome.restricted, outcome.classification.primary
    console.print(show(text.verdict), style="bold")
    console.print(show(f"\noriginal claim\n  {text.original}\n\nrestricted claim\n  {text.restricted}"))
    console.print(show(f"\nwhy\n  {primary.why}"))
    _print_margin(console, case, outcome)
    rows = [describe_reading(one) for one in outcome.classification.readings]
    console.print()
    console.print(build_table(("reading", "verdict", "TRACE label", "basis", "sign of ED"), rows))
    print_conditions(console, primary)
    if len(primary.specs) > 1:
        several = any(one.judge for one in primary.specs)
        specs = [
            (
                one.spec,
                *((one.judge or "–",) if several else ()),
                get_words(one.verdict),
                describe_label(one),
                "–" if one.level is None else share(one.level),
            )
            for one in primary.specs
        ]
        console.print()
        console.print(build_table(("P_deploy specification", *(("judge",) if several else ()), "verdict", "TRACE label", "level"), specs))
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


def describe_reading(one: ReadingVerdict) -> tuple[str, str, str, str, str]:
    """Return a reading as a row: form, verdict with its standing, TRACE label, basis, sign of ED."""
    verdict = format_verdict(one.verdict, one.verdict_standing)
    return one.form.value.replace("_", " "), verdict, describe_label(one), one.basis.value, one.direction.value if one.direction else "–"


def describe_label(one: ReadingVerdict | SpecVerdict) -> str:
    """TRACE's class with its standing or mode."""
    return " · ".join(get_words(part) for part in (one.class_, one.standing or one.mode) if part is not None)


def print_conditions(console: Console, primary: ReadingVerdict) -> None:
    """Print what an established verdict requires and what of it is met, where the verdict could be established."""
    if not primary.conditions:
        return
    console.print()
    rows = [(get_words(one.condition), get_words(one.status), one.note) for one in primary.conditions]
    console.print(build_table(("condition of an established verdict", "status", "why"), rows))
