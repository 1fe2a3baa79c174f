"""How `caveat audit logs` answers: what was assumed, with the option that changes it, then the verdict and the file to open."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.cli.analysis_presenter import describe_design, summarise_design
from audit.cli.log_audit_files import LogAuditDraft
from audit.cli.log_audit_session import LogAudit
from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer
from registry.present.blocks import Block, Subtitle, Table, Title, Verbatim
from registry.records.statement import OutputFormat
from registry.report.claim_outcome import describe_disagreement

BASIS = "Reported evidence: the plan was written after the logs, so the verdict is provisional at most."
_UNREGISTERED = "CLM-…"
"""A claim in words in a dry run, which registers none."""


def present_log_audit(draft: LogAuditDraft, done: LogAudit, *, registry: str, home: Path | None) -> Answer:
    """Present what was assumed, recorded and written.

    Args:
        registry: which one, and who speaks in it.
        home: the folder of a registry that this command made; None for a configured one.
    """
    concluded = done.concluded
    document = _summarise(draft, registry=registry, files=done.files) | {
        "dry_run": False,
        "new": concluded.is_new,
        "claim": done.claim,
        "audit": concluded.audit,
        "verdict": concluded.restriction.text.verdict,
        "opposed": to_document(done.opposed) if done.opposed else None,
        "restriction": to_document(concluded.restriction),
        "supplement": [str(file.path) for file in done.supplement],
    }

    def text() -> Iterator[Block]:
        yield from _present_assumptions(draft)
        yield ""
        again = "" if concluded.is_new else " (recorded before; nothing changed)"
        yield f"{concluded.audit} of {done.claim}{again}"
        if done.opposed is not None:
            yield describe_disagreement(concluded.audit, concluded.restriction.classification.primary.verdict, done.opposed)
        yield Title(concluded.restriction.text.verdict)
        yield BASIS
        if (asked := concluded.restriction.asked) is not None and not asked.is_bound:
            yield f"Who was asked: {asked.text}"
        yield Subtitle("Files")
        yield Verbatim("\n".join(f"  {path}" for path in (*done.files, *(file.path for file in done.supplement))))
        yield f"Registry: {registry}"
        if done.supplement:
            yield f"\nOpen {done.supplement[0].path}"
        yield "For a verdict that is not provisional, lock a plan before the next run:"
        yield Verbatim(f"  {'' if home is None else f'cd {home} && '}caveat audit new {done.claim.partition('@')[0]} > plan.yaml")

    return Answer(document, text())


def present_forecast(draft: LogAuditDraft, *, registry: str, folder: Path, formats: Sequence[OutputFormat], width: float) -> Answer:
    """Present what a call without --dry-run would assume and write; nothing was recorded or written."""
    audit = draft.compose_audit(draft.registered or _UNREGISTERED, width=width)
    texts = {folder / "claims.yaml": draft.claims} if draft.claims else {}
    texts[folder / "audit.yaml"] = audit
    document = _summarise(draft, registry=registry, files=tuple(texts)) | {
        "dry_run": True,
        "new": False,
        "claim": draft.registered,
        "audit": None,
        "verdict": None,
        "opposed": None,
        "restriction": None,
        "supplement": [],
    }

    def text() -> Iterator[Block]:
        yield from _present_assumptions(draft)
        for path, content in texts.items():
            yield Subtitle(str(path))
            yield Verbatim(content.rstrip())
        names = ", ".join(format_.value.upper() for format_ in formats)
        yield f"\nSupplement: {names} in {folder / 'supplements'}"
        yield f"Registry: {registry}"
        yield "Dry run: nothing was recorded or written."

    return Answer(document, text())


def _summarise(draft: LogAuditDraft, *, registry: str, files: Sequence[Path]) -> dict[str, Any]:
    return {
        "schema": "caveat/audit-logs/1",
        "registry": registry,
        "model": to_document(draft.model),
        "assumptions": [
            {"name": assumption.name, "value": assumption.value, "option": assumption.option} for assumption in draft.assumptions
        ],
        "design": summarise_design(draft.design),
        "files": [str(path) for path in files],
    }


def _present_assumptions(draft: LogAuditDraft) -> Iterator[Block]:
    if (shortfall := describe_design(draft.design)) is not None:
        yield shortfall
    yield Subtitle("Assumed")
    yield Table(("", "value", "change with"), [(entry.name, entry.value, entry.option or "–") for entry in draft.assumptions])
