"""How a scored run, and the accounts of an import, look in a terminal and as JSON."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console

from audit.records.model_response import ImportedFile, ImportedLog
from audit.score.run_evidence import Side, SideCounts, name_side, remark_sides, summarise
from audit.score.scorers import remark_scorer
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.records.replay_definition import Task
from registry.records.replay_run import Provenance
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
        "sides": list(summarise(tallies)),
        "warnings": [{"code": remark.code, "message": remark.message} for remark in remarks],
    }


def print_scored(
    console: Console, document: Mapping[str, Any], tallies: Mapping[Side, SideCounts], run: Path | None, judging: Sequence[str] = ()
) -> None:
    """Print counts and mean of each side, what to know of them and of a judge, where the table is, and what comes next.

    *run* is the folder whose own scorer it was, which an audit can import; None for another scorer's.
    """
    columns = ("arm", "rows", "scored", "excluded", "mean")
    rows = [
        (name_side(side), f"{tally.rows:,}", f"{tally.scored:,}", _tell_excluded(tally), _tell_mean(tally))
        for side, tally in tallies.items()
    ]
    console.print(build_table(columns, rows, numbers=("rows", "scored", "mean")))
    _print_notes(console, tallies)
    for line in judging:
        console.print(show(line))
    _print_warnings(console, document["warnings"])
    table = document["files"]["table"]
    fresh = f"{document['changed']:,} scores are new" if document["changed"] else "No score is new"
    console.print(show(f"{fresh}. Table: {', '.join(document['files'].values())}"))
    range_ = _name_range(document["scorer"])
    whole = f", or caveat audit import {' or '.join(document['audits']) or 'AUD-…'} {quote(str(run))}" if run else ""
    cues = f", caveat ablation {quote(table)}{range_}" if any(edit for _, _, edit in tallies) else ""
    console.print(show(f"Next: caveat estimate {quote(table)}{range_}{cues}{whole}"))


def _name_range(scorer: Mapping[str, Any]) -> str:
    """The option that says which scores are possible, where these are not those from 0 to 1 that every command expects."""
    dimensions = scorer.get("dimensions") or [{"name": "mean", "low": 0, "high": 1}]
    scored = next((dimension for dimension in dimensions if dimension["name"] == scorer.get("score")), dimensions[0])
    return "" if (scored["low"], scored["high"]) == (0, 1) else f" --range {scored['low']} {scored['high']}"


def _tell_excluded(tally: SideCounts) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(tally.excluded.items())) or "none"


def _tell_mean(tally: SideCounts) -> str:
    return "none" if tally.mean is None else f"{tally.mean:.4f}"


def _print_notes(console: Console, tallies: Mapping[Side, SideCounts]) -> None:
    """Refusals, cut and empty answers go to the scorer as they are, and are counted."""
    for side, tally in tallies.items():
        parts = [f"{count:,} {what}" for count, what in ((tally.cut, "cut"), (tally.refused, "refused"), (tally.empty, "empty")) if count]
        if parts:
            console.print(show(f"{name_side(side)}: of {tally.answered:,} answers, {', '.join(parts)}; the scorer gets them as they are"))


def _print_warnings(console: Console, warnings: list[dict[str, str]]) -> None:
    for code in dict.fromkeys(warning["code"] for warning in warnings):
        same = [one["message"] for one in warnings if one["code"] == code]
        for message in same[:_MOST_REMARKS]:
            console.print(show(f"warning: {code}: {message}"))
        if len(same) > _MOST_REMARKS:
            console.print(f"warning: {code}: and {len(same) - _MOST_REMARKS:,} more like these (--json lists all)")


# How the accounts of an import look in a terminal.


def print_accounts(console: Console, imported: ImportedLog) -> None:
    """Print per file what was declared, found and scored; then what was left out, what must be known, and what the logs say of the run."""
    rows = [
        (Path(file.name).name, file.arm or "by field", "–" if file.declared is None else str(file.declared), *map(str, _count(file)))
        for file in imported.files
    ]
    console.print(
        build_table(("file", "arm", "declared", "found", "scored", "excluded"), rows, numbers=("declared", "found", "scored", "excluded"))
    )
    for file in imported.files:
        _print_file(console, file, several=len(imported.files) > 1)
    for line in describe_origin(imported):
        console.print(show(line))


def _count(file: ImportedFile) -> tuple[int, int, int]:
    return file.found, file.scored, sum(one.count for one in file.left_out if one.is_row)


def _print_file(console: Console, file: ImportedFile, *, several: bool) -> None:
    lines = [
        f"{one.count} {'without a score' if one.is_row else 'not taken'}: {one.reason} ({', '.join(one.examples)}"
        f"{', …' if one.count > len(one.examples) else ''})"
        for one in file.left_out
    ]
    lines += (*(f"warning: {warning}" for warning in file.warnings), *file.notes)
    if lines and several:
        console.print(show(f"\n{Path(file.name).name} ({file.format})"))
    for line in lines:
        console.print(show(f"  - {line}"))


def describe_origin(imported: ImportedLog) -> Sequence[str]:
    """Return what the logs say of model and date, and what they do not."""
    provenance: Provenance = imported.provenance
    model = provenance.model_returned or provenance.model_requested or "the logs do not say"
    began = imported.started_at or "the logs do not say; give --run-date for a locked audit"
    return ("", f"model: {model}", f"first response: {began}", f"scores: {provenance.judge or 'the logs do not say by what'}")
