"""How a scored run, and the accounts of an import, look in a terminal and as JSON."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from audit.records.model_response import ImportedFile, ImportedLog
from audit.score.run_evidence import Side, SideCounts, describe_sides, name_side, remark_sides
from audit.score.scorers import remark_scorer
from registry.codec.canonical_documents import to_document
from registry.present.blocks import Block, Table
from registry.records.replay_run import Provenance, Task
from registry.records.specification import Scorer

# How a scored run looks, in a terminal and as a document.

_MOST_REMARKS = 10
"""Remarks of one kind that are printed; all stand in the document."""


def summarise_scored(
    written: Mapping[str, Path], scorer: Scorer, digest: str, tallies: Mapping[Side, SideCounts], tasks: Collection[Task], *, changed: int
) -> dict[str, Any]:
    """Return what was scored as the document that `--json` prints."""
    remarks = [*remark_sides(tallies), *remark_scorer(scorer, list(tasks))]
    return {
        "schema": "caveat/score/1",
        "scorer": to_document(scorer),
        "scorer_sha256": digest,
        "changed": changed,
        "files": {name: str(path) for name, path in written.items()},
        "sides": list(describe_sides(tallies)),
        "warnings": [{"code": remark.code, "message": remark.message} for remark in remarks],
    }


def present_scored(
    document: Mapping[str, Any], tallies: Mapping[Side, SideCounts], run: Path | None, judging: Sequence[str] = ()
) -> Iterator[Block]:
    """Present counts and mean of each side, what to know of them and of a judge, where the table is, and what comes next.

    *run* is the folder that used it as its own scorer, which an audit can import; None for another scorer's.
    """
    columns = ("arm", "rows", "scored", "excluded", "mean")
    rows = [
        (name_side(side), f"{tally.rows:,}", f"{tally.scored:,}", _describe_excluded(tally), _describe_mean(tally))
        for side, tally in tallies.items()
    ]
    yield Table(columns, rows, numbers=("rows", "scored", "mean"))
    yield from _present_notes(tallies)
    yield from judging
    yield from _present_warnings(document["warnings"])
    table = document["files"]["table"]
    fresh = f"{document['changed']:,} scores are new" if document["changed"] else "No score is new"
    yield f"{fresh}. Table: {', '.join(document['files'].values())}"
    range_ = _name_range(document["scorer"])
    whole = f", or caveat audit conclude {' or '.join(document['audits']) or 'AUD-…'} {quote(str(run))}" if run else ""
    cues = f", caveat analyze ablation {quote(table)}{range_}" if any(edit for _, _, edit in tallies) else ""
    yield f"Next: caveat analyze estimate {quote(table)}{range_}{cues}{whole}"


def _name_range(scorer: Mapping[str, Any]) -> str:
    """The option that says which scores are possible, where these are not those from 0 to 1 that every command expects."""
    dimensions = scorer.get("dimensions") or [{"name": "mean", "low": 0, "high": 1}]
    scored = next((dimension for dimension in dimensions if dimension["name"] == scorer.get("score")), dimensions[0])
    return "" if (scored["low"], scored["high"]) == (0, 1) else f" --range {scored['low']} {scored['high']}"


def _describe_excluded(tally: SideCounts) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(tally.excluded.items())) or "none"


def _describe_mean(tally: SideCounts) -> str:
    return "none" if tally.mean is None else f"{tally.mean:.4f}"


def _present_notes(tallies: Mapping[Side, SideCounts]) -> Iterator[Block]:
    """Refusals, cut and empty answers go to the scorer as they are, and are counted."""
    for side, tally in tallies.items():
        counts = ((tally.cut, "truncated"), (tally.refused, "refused"), (tally.empty, "empty"))
        parts = [f"{count:,} {what}" for count, what in counts if count]
        if parts:
            yield f"{name_side(side)}: of {tally.answered:,} answers, {', '.join(parts)}; the scorer gets them as they are"


def _present_warnings(warnings: list[dict[str, str]]) -> Iterator[Block]:
    for code in dict.fromkeys(warning["code"] for warning in warnings):
        same = [warning["message"] for warning in warnings if warning["code"] == code]
        for message in same[:_MOST_REMARKS]:
            yield f"warning: {code}: {message}"
        if len(same) > _MOST_REMARKS:
            yield f"warning: {code}: and {len(same) - _MOST_REMARKS:,} more like these (--json lists all)"


# How the accounts of an import look in a terminal.


def present_accounts(imported: ImportedLog) -> Iterator[Block]:
    """Present per file what was declared, found and scored; then exclusions, warnings, and what the logs say of the run."""
    rows = [
        (
            Path(file.name).name,
            file.arm or ("by column" if file.format.startswith("table") else "by field"),
            "–" if file.declared is None else str(file.declared),
            *map(str, _count(file)),
        )
        for file in imported.files
    ]
    yield Table(("file", "arm", "declared", "found", "scored", "excluded"), rows, numbers=("declared", "found", "scored", "excluded"))
    for file in imported.files:
        yield from _present_file(file, several=len(imported.files) > 1)
    yield from describe_origin(imported)


def _count(file: ImportedFile) -> tuple[int, int, int]:
    return file.found, file.scored, sum(responses.count for responses in file.excluded if responses.is_row)


def _present_file(file: ImportedFile, *, several: bool) -> Iterator[Block]:
    lines = [
        f"{responses.count} {'without a score' if responses.is_row else 'not taken'}: {responses.reason} ({', '.join(responses.examples)}"
        f"{', …' if responses.count > len(responses.examples) else ''})"
        for responses in file.excluded
    ]
    lines += (*(f"warning: {warning}" for warning in file.warnings), *file.notes)
    if lines and several:
        yield f"\n{Path(file.name).name} ({file.format})"
    for line in lines:
        yield f"  - {line}"


def describe_origin(imported: ImportedLog) -> Sequence[str]:
    """Return what the logs say of model and date, and what they do not."""
    provenance: Provenance = imported.provenance
    model = provenance.model_returned or provenance.model_requested or "not stated"
    began = imported.started_at or "not stated; give --run-date for a locked audit"
    return ("", f"model: {model}", f"first response: {began}", f"scores: {provenance.judge or 'scorer not stated'}")
