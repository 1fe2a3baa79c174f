"""The gate's findings as SARIF 2.1.0 and as JUnit XML, and the fingerprints of an earlier SARIF file."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from interchange.gate.gate_finding import RULES, DraftPlace, GateFinding, GateReport, Rule
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "caveatClaim/v1"
# What XML 1.0 cannot hold, even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_sarif(report: GateReport | None, *, version: str, exit_code: int, has_baseline: bool = False, fault: str | None = None) -> bytes:
    """Return the findings as SARIF.

    Args:
        report: None where the gate could not be evaluated; *fault* then says why.
        version: of Caveat.
        exit_code: with which the command ends.
        has_baseline: whether findings were compared with an earlier file.
    """
    order = list(RULES)
    invocation: dict[str, Any] = {"executionSuccessful": report is not None, "exitCode": exit_code}
    if fault is not None:
        invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": fault}}]
    run = {
        "tool": {"driver": {"name": "caveat gate", "version": version, "rules": [_describe_rule(rule) for rule in order]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [] if report is None else [_describe_result(item, order, has_baseline=has_baseline) for item in report.findings],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def _describe_rule(rule: Rule) -> dict[str, Any]:
    text = RULES[rule]
    return {"id": rule.value, "shortDescription": {"text": text.text}, "defaultConfiguration": {"level": text.level.value}}


def _describe_result(finding: GateFinding, order: Sequence[Rule], *, has_baseline: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule.value,
        "ruleIndex": order.index(finding.rule),
        "level": finding.level.value,
        "message": {"text": _add_page(finding)},
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
    }
    if finding.place is not None:
        result["locations"] = [{"physicalLocation": _locate(finding.place)}]
    if has_baseline:
        result["baselineState"] = "unchanged" if finding.is_known else "new"
    if finding.waiver is not None:
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": f"{finding.waiver.why} (until {finding.waiver.until})"}
        ]
    return result


def _add_page(finding: GateFinding) -> str:
    page = finding.place.page if finding.place is not None else None
    return finding.message if page is None else f"{finding.message} (page {page})"


def _locate(place: DraftPlace) -> dict[str, Any]:
    artifact: dict[str, Any] = {"uri": _write_uri(place.path)}
    if not place.path.startswith("/"):
        artifact["uriBaseId"] = "%SRCROOT%"
    location: dict[str, Any] = {"artifactLocation": artifact}
    # A PDF has no lines; a region that were invented would point nowhere.
    return location if place.line is None else location | {"region": {"startLine": place.line}}


def _write_uri(path: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415  (needed here alone)

    return quote(path)


def read_baseline(path: Path) -> frozenset[str]:
    """Return the fingerprints in an earlier SARIF file of the gate; raises InputError for another file."""
    document: Any = read_document(path)
    fingerprints: set[str] = set()
    try:
        for run in document["runs"]:
            for result in run["results"]:
                fingerprints.add(str(result["partialFingerprints"][_FINGERPRINT]))
    except (KeyError, TypeError) as error:
        problem = "it is no SARIF file of caveat gate"
        raise InputError(Fault("gate-baseline", str(path), problem)) from error
    return frozenset(fingerprints)


def write_junit(report: GateReport | None, *, fault: str | None = None) -> bytes:
    """Return the findings as JUnit XML: a test case for each claim and rule, as the xunit plugin of Jenkins reads it."""
    findings = () if report is None else report.findings
    failing = 0 if report is None else len(report.failing)
    skipped = sum(finding.waiver is not None for finding in findings)
    cases = [_build_case(finding, report) for finding in findings if report is not None]
    named = {finding.claim for finding in findings}
    cases += [_build_case_of("no-finding", claim) for claim in (() if report is None else report.checked) if claim not in named]
    if report is None:
        case = _build_case_of("not-evaluated", "caveat gate")
        ET.SubElement(case, "error", message=_clean(fault or "not evaluated"))
        cases.append(case)
    counts = {"tests": len(cases), "failures": failing, "errors": int(report is None), "skipped": skipped}
    suite = ET.Element("testsuite", {"name": "caveat gate", **{name: str(count) for name, count in counts.items()}})
    suite.extend(cases)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _build_case_of(rule: str, name: str) -> ET.Element:
    return ET.Element("testcase", {"classname": rule, "name": _clean(name)})


def _build_case(finding: GateFinding, report: GateReport) -> ET.Element:
    case = _build_case_of(finding.rule.value, finding.name)
    message = _clean(_add_page(finding))
    if finding.waiver is not None:
        ET.SubElement(case, "skipped").text = _clean(f"{message}; allowed until {finding.waiver.until}: {finding.waiver.why}")
    elif report.is_failing(finding):
        ET.SubElement(case, "failure", {"type": finding.level.value, "message": message}).text = _clean(str(finding.place or ""))
    else:
        known = "; known from the baseline" if finding.is_known else ""
        ET.SubElement(case, "system-out").text = f"{finding.level}: {message}{known}"
    return case


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
