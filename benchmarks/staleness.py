"""How long it takes to tell which of 10,000 claims no longer stand, and what of their supplements changed, beside the list without status.

A registry with claims about one model version of which a tenth became stale on one day: half of them because another version took the
place of theirs, half because a definition has a newer version; a tenth of all are audited, and a hundred more were dismissed by a person.
The peer is the same registry's list of claims read with the same columns and no status.

Run: python benchmarks/staleness.py [CLAIMS]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.bulk_import_store import MODEL, build_claim, open_ledger, settle
from registry.records.analysis_plan import Lock, Plan
from registry.records.audit_case import Audit, Independence
from registry.records.claim import Direction, Form
from registry.records.claim_status import CauseKind, ReviewedCause, StalenessReview, StalenessVerdict
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelVersion
from registry.records.record import Kind
from registry.records.specification import ContextSpec, SpecKind, SpecVersion
from registry.records.verdict import (
    Basis,
    ClaimClass,
    Classification,
    ReadingVerdict,
    RestrictedClaim,
    Restriction,
    Verdict,
    VerdictStanding,
)
from registry.store.claim_listing import list_heads
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.supplement_states import find_states

OLD, NEW, KEPT = (replace(MODEL, version=version) for version in ("1", "2", "kept"))
DISMISSED = 100


def fill(ledger: Ledger, phi: str, count: int) -> None:
    """Record *count* claims of which a tenth are stale, a tenth audited and a few dismissed, and what made them so."""
    tenth, dismissed = count // 10, min(DISMISSED, count // 40)
    of_old, changed = tenth // 2 + dismissed, tenth + dismissed
    with ledger.write(actor="EXAMPLE") as writer:
        context = add_context(writer, 1)
        names = writer.allocate(Kind.CLAIM, "EXAMPLE", count)
        said = []
        for number, name in enumerate(names):
            made = replace(build_claim(name, phi, number), card=None, anchor=None, model=OLD if number < of_old else KEPT, note="a")
            made = replace(made, quote_status=made.quote_status.PARAPHRASE, source="a paper")
            said.append(replace(made, deploy_contexts=(context,)) if of_old <= number < changed else made)
        writer.append_many(said)
        for name in names[::10]:
            add_audit(writer, f"{name}@1")
        writer.append_many([ModelVersion(model=OLD), ModelVersion(model=NEW), ModelVersion(model=KEPT)])
        writer.append(ModelEvent(model=NEW, event=ModelEventKind.FOLLOW, predecessor=OLD, descent=Descent.SUCCESSOR))
        add_context(writer, 2, context.partition("@")[0])
        cause = (ReviewedCause(kind=CauseKind.SUCCESSOR, what=str(NEW)),)
        writer.append_many(
            [
                StalenessReview(claim=f"{name}@1", verdict=StalenessVerdict.DISMISSED, causes=cause, why="looked")
                for name in names[:dismissed]
            ]
        )


def add_context(writer: Writer, version: int, name: str | None = None) -> str:
    name = name or writer.allocate(Kind.CONTEXT, "EXAMPLE")[0]
    body = ContextSpec(name="support", description="customer support")
    known = {"spec": name, "kind": SpecKind.DEPLOY_CONTEXT, "slug": "support", "owner": "EXAMPLE", "why": "wider"}
    writer.append(SpecVersion(version=version, body=body, **known))  # type: ignore[arg-type]
    return f"{name}@{version}"


def add_audit(writer: Writer, claim: str) -> None:
    (name,) = writer.allocate(Kind.AUDIT, "EXAMPLE")
    reading = ReadingVerdict(
        form=Form.PREVALENCE,
        class_=ClaimClass.DEGRADED,
        standing=None,
        verdict=Verdict.DOES_NOT_CARRY_OVER,
        verdict_standing=VerdictStanding.PROVISIONAL,
        point_class=None,
        mode=None,
        basis=Basis.REPORTED,
        direction=None,
        why="the figures differ",
        resolves=None,
        rule="prevalence-degraded",
    )
    text = RestrictedClaim(original="a", restricted="b", surviving=(), withdrawn=(), resolves=(), verdict="c")
    classified = Classification(readings=(reading,), inversion_margin=None)
    writer.append_many(
        [
            Audit(audit=name, claim=claim, auditor="EXAMPLE", independence=Independence.SELF),
            Lock(
                audit=name,
                claim=claim,
                plan=Plan(margin=0.05, epsilon=0.01),
                relation=None,
                theta=None,
                direction=Direction.LOWER_IS_SAFER,
                deploy_specs=("default",),
            ),
            Restriction(audit=name, claim=claim, classification=classified, text=text, basis=Basis.REPORTED),
        ]
    )


def measure(read: Callable[[], int]) -> tuple[int, float, float]:
    """Return how many were read, and the least time and CPU time of three."""
    times = []
    for _ in range(3):
        started, cpu = time.perf_counter(), time.process_time()
        found = read()
        times.append((time.perf_counter() - started, time.process_time() - cpu))
    return found, min(one for one, _ in times), min(one for _, one in times)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as folder:
        ledger = open_ledger(f"sqlite:///{Path(folder, 'store.db')}")
        fill(ledger, settle(ledger), count)
        names = []

        def stale() -> int:
            with ledger.view() as view:
                return sum(1 for _ in view.list_stale())

        def listed() -> int:
            with ledger.view() as view:
                return sum(1 for _ in view.list_claims())

        def plain() -> int:
            with ledger.view() as view:
                return len(list_heads(view))

        def states() -> int:
            with ledger.view() as view:
                return len(find_states(view))

        def some() -> int:
            with ledger.view() as view:
                return len(find_states(view, names))

        with ledger.view() as view:
            names = [f"{one.claim}@1" for one, _ in zip(view.list_stale(), range(20), strict=False)]
        for what, read, target in (
            ("stale claims of all, with causes", stale, "1 s for 10,000"),
            ("claims with status", listed, ""),
            ("peer: the same claims without status", plain, ""),
            ("states of all supplements", states, "1 s for 10,000"),
            ("states of 20 that are asked for", some, ""),
        ):
            found, wall, cpu = measure(read)
            print(f"{what:<38} {found:>7,}   {wall:>7.3f} s   {cpu:>7.3f} s CPU   {f'target {target}' if target else ''}".rstrip())
        ledger.close()


if __name__ == "__main__":
    main()
