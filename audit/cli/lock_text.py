"""What a lock fixes, and what it leaves open, as a person reads it."""

import shlex
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from registry.cli.terminal_output import build_table
from registry.codec.canonical_documents import to_document
from registry.records.analysis_plan import Lock, LockedSpec
from registry.records.dossier import AuditFile
from registry.records.model_version import ModelRef
from registry.registration.model_lineage import write_model

_SHOWN = 16
"""Hexadecimal digits of a digest on a screen; documents hold all 64."""


def summarise_lock(opened: AuditFile, *, is_new: bool) -> dict[str, Any]:
    """Return what `caveat audit lock` answers, as a document."""
    audit, recorded = opened.audit.payload, opened.lock
    lock = recorded.payload if recorded else None
    return {
        "schema": "caveat/audit-lock/1",
        "audit": audit.audit,
        "claim": audit.claim,
        "new": is_new,
        "locked_at": f"{recorded.entry.at:%Y-%m-%dT%H:%M:%SZ}" if recorded else None,
        "entry": recorded.entry.seq if recorded else None,
        "lock": to_document(lock) if lock else None,
        "not_fixed": list(lock.unfixed) if lock else [],
    }


def list_fixed(lock: Lock) -> Iterator[tuple[str, str]]:
    """Give each thing that *lock* fixes with what it says; what it leaves open is not among them."""
    yield "claim", lock.claim
    if lock.relation is not None:
        yield "θ", f"{lock.relation.value} {'not published' if lock.theta is None else f'{lock.theta:g}'}"
    yield "direction", lock.direction.value.replace("_", " ")
    yield from _list_plan(lock)
    specs = [("test contexts", lock.test), ("scoring", lock.scoring)]
    specs += [(f"deployment contexts ({one.name})", one) for one in lock.deploy] + [("cues", one) for one in lock.cues]
    yield from ((name, _name(one)) for name, one in specs if one is not None)
    if lock.tasks is not None:
        yield "tasks", f"{lock.tasks.count}, SHA-256 {lock.tasks.sha256[:_SHOWN]}"
    if lock.replay is not None:
        yield "replay", f"SHA-256 {lock.replay[:_SHOWN]} of {', '.join(lock.replay_parts or ())}"
    worded = (
        ("model", lock.model),
        ("endpoint names", ", ".join(lock.endpoint_names)),
        ("budget", lock.budget),
        ("stopping rule", lock.stopping_rule),
        ("exclusion rules", lock.exclusion_rules),
    )
    yield from ((name, text) for name, text in worded if text)


def warn_unnamed(model: ModelRef, lock: Lock) -> str:
    """Return the warning that nothing will show who was asked, with the command that states a name."""
    command = f'caveat model endpoint {write_model(model)} {shlex.quote(lock.model) if lock.model else "NAME"} --reason "…"'
    return (
        f"warning: no endpoint name is stated for {model}, so nothing will show that it was asked, and the outcome establishes nothing. "
        f"Before the run: {command}, and lock again"
    )


def warn_requested(lock: Lock) -> str:
    """Return the warning that the plan asks for a name that is none of those that count when it is returned."""
    names = ", ".join(lock.endpoint_names)
    return f"warning: the plan asks for {lock.model}; what the endpoint returns counts only if it is one of {names}"


def _list_plan(lock: Lock) -> Iterator[tuple[str, str]]:
    plan = lock.plan
    yield "margin, ε, level", f"{plan.margin:g}, {plan.epsilon:g}, {plan.level:g}"
    drawn = f"contexts {plan.contexts.value}, seed {plan.seed}, {plan.replicates} replicates"
    yield "intervals", f"{plan.interval.value.replace('_', ' ')}, {drawn}"
    yield "recognition floor", f"{plan.recognition_floor:g}"
    yield "limit on raters", f"{plan.rater_limit:g}"
    if lock.plan.valid_until is not None:
        yield "valid until", lock.plan.valid_until.isoformat()
    if plan.tasks is not None and lock.tasks is None:
        yield "number of tasks", str(plan.tasks)


def _name(spec: LockedSpec) -> str:
    return f"{spec.spec}, {'sealed, commitment' if spec.is_sealed else 'SHA-256'} {spec.sha256[:_SHOWN]}"


def print_lock(console: Console, opened: AuditFile, *, is_new: bool) -> None:
    """Print what was fixed, and what comes next."""
    name, recorded = opened.audit.payload.audit, opened.lock
    if recorded is None:
        return
    said = "Locked" if is_new else "Locked already:"
    console.print(f"{said} {name} for {recorded.payload.claim} at {recorded.entry.at:%Y-%m-%dT%H:%M:%SZ}, entry {recorded.entry.seq}.")
    console.print(build_table(("fixed", "as"), list(list_fixed(recorded.payload))))
    console.print(
        f"Next: run the replay, then: caveat audit import {name} scores.csv --run-date DATE\n"
        f"Or live: audit: {name} in replay.yaml, caveat audit run replay.yaml, caveat score, caveat audit import {name} replay.run"
    )
