"""What `caveat gate` answers: the findings by level, and whether they let it fail."""

from collections.abc import Iterator

from interchange.gate.gate_finding import GateFinding, GateReport, Level
from registry.present.answers import Answer
from registry.present.blocks import Block, Remark, Table, Title


def describe_gate(report: GateReport, written: str | None) -> Answer:
    """Return the answer on the findings.

    Args:
        written: the file that they were written to too; None for none.
    """
    document = {
        "schema": "caveat/gate-report/1",
        "passed": not report.failing,
        "fail_on": report.fail_on.value,
        "checked": list(report.checked),
        "findings": [_describe(finding, report) for finding in report.findings],
        "file": written,
    }
    return Answer(document, _present(report, written))


def _describe(finding: GateFinding, report: GateReport) -> dict[str, object]:
    place = finding.place
    return {
        "rule": finding.rule.value,
        "level": finding.level.value,
        "claim": finding.claim,
        "message": finding.message,
        "path": None if place is None else place.path,
        "line": None if place is None else place.line,
        "page": None if place is None else place.page,
        "waived": None if finding.waiver is None else finding.waiver.why,
        "known": finding.is_known,
        "fails": report.is_failing(finding),
    }


def _present(report: GateReport, written: str | None) -> Iterator[Block]:
    failing = report.failing
    count = len(report.checked)
    claims = f"{count:,} registered claim{'' if count == 1 else 's'}"
    yield Title(f"{'FAIL' if failing else 'PASS'}: {len(failing):,} of {len(report.findings):,} findings count; {claims} checked")
    order = sorted(report.findings, key=lambda finding: -finding.level.rank)
    rows = [(_mark(finding), finding.rule.value, str(finding.place or "–"), finding.message) for finding in order]
    if rows:
        yield Table(("level", "rule", "where", "finding"), rows)
    if any(finding.waiver is not None for finding in report.findings):
        yield Remark("Waived findings are listed with their level in brackets; a waiver changes nothing in the registry.")
    if written is not None:
        yield Remark(f"Written to {written}")


def _mark(finding: GateFinding) -> str:
    level: Level = finding.level
    if finding.waiver is not None:
        return f"({level})"
    return f"{level}, known" if finding.is_known else level.value
