"""How the audit trail, a check of the log and the logs of a registry look in a terminal and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from registry.cli.backing_text import Backed, name_backing, print_legend, shorten_backing
from registry.cli.history_text import describe
from registry.cli.output import build_table
from registry.codec.documents import to_document
from registry.registration.key_registration import trusted_vkeys
from registry.seal.note import parse_note
from registry.store.integrity import CheckedCheckpoint, LogReport, tell_given_out
from registry.store.ledger import Ledger
from registry.store.logs import LogSummary
from registry.store.seals import list_checkpoints
from registry.store.trail import Trace


def summarise_trace(one: Trace, backed: Backed) -> dict[str, Any]:
    """Return an entry with its payload, or with the entry that says why it was erased, and who stands behind it, as a document."""
    erased = None if one.erased_by is None else {"entry": one.erased_by.entry.seq, "why": one.erased_by.payload.why}
    payload = None if one.payload is None else to_document(one.payload)
    backing = name_backing(backed[one.entry.seq])
    return {"entry": to_document(one.entry), "payload": payload, "erased": erased, "backed_by": backing}


def print_trail(console: Console, traces: Sequence[Trace], backed: Backed) -> None:
    """Print log entries, one line each, and who stands behind them."""
    rows = [
        (
            str(one.entry.seq),
            f"{one.entry.at:%Y-%m-%d %H:%M}",
            one.entry.actor,
            shorten_backing(backed[one.entry.seq]),
            one.entry.kind.value,
            _tell(one),
        )
        for one in traces
    ]
    print_legend(console)
    console.print(build_table(("entry", "at", "by", "backed by", "kind", "what"), rows, numbers=("entry",)))


def summarise_report(report: LogReport) -> dict[str, Any]:
    """Return what a check found, as a document."""
    checkpoints = [
        {
            "size": one.checkpoint.size,
            "root": one.checkpoint.root,
            "fits": one.fits,
            "signed": one.is_signed,
            "cosigned_by": _list_witnesses(report, one),
            "here": one.at is not None,
        }
        for one in report.checkpoints
    ]
    parts = {"origin": report.origin, "entries": report.entries, "erased": report.erased, "root": report.root}
    return {**parts, "checkpoints": checkpoints, "given_out_since": report.given_out_since, "lacks_nodes": report.lacks_nodes}


def print_report(console: Console, report: LogReport, rows: int | None) -> None:
    """Print a check that found nothing wrong, with what it rests on."""
    one = report.erased == 1
    console.print(f"{report.origin or 'the log'}: {_count(report.entries, 'entry', 'entries')}, gapless, every leaf fits its text")
    if report.erased:
        console.print(f"  the text of {report.erased} {'is' if one else 'are'} erased, and {'an entry says' if one else 'entries say'} why")
    console.print(f"  root      {report.root}")
    if rows is None:
        console.print("  rows      not compared with their statements")
    else:
        console.print(f"  rows      {rows:,} are what their statements give")
    if report.lacks_nodes:
        console.print("  subtrees  none is kept: nothing rests on them, proofs are slower; the next entry makes them anew")
    if report.given_out_since:
        console.print(f"  WARNING: {tell_given_out(report)}", soft_wrap=True)
    elif not report.checkpoints:
        console.print("  NO checkpoint: nothing but these entries themselves says that they are what they were; caveat log checkpoint")
    for checked in report.checkpoints:
        console.print(f"  checkpoint at {checked.checkpoint.size}: fits, {_tell_signed(report, checked)}")


def summarise_log(ledger: Ledger, one: LogSummary) -> dict[str, Any]:
    """Return a log with its last checkpoint and the keys that verify it, as a document."""
    with ledger.view(log=None if one.is_own else one.origin) as view:
        checkpoints = list_checkpoints(view)
        vkeys = [str(key) for key in trusted_vkeys(view)] if one.is_own else [one.vkey] if one.vkey else []
    last = checkpoints[-1] if checkpoints else None
    lines = parse_note(last.note, where="checkpoint").lines if last else ()
    return {
        "origin": one.origin,
        "own": one.is_own,
        "entries": one.size,
        "checkpoint": last.checkpoint.size if last else None,
        "cosigned_by": sorted({line.name for line in lines} - {one.origin}),
        "vkeys": vkeys,
    }


def build_logs_table(logs: Sequence[dict[str, Any]]) -> Table:
    """Return logs, one line each; keys by their identifiers, which `caveat key show` and `--json` have whole."""
    rows = [
        (
            one["origin"],
            "own" if one["own"] else "taken over",
            f"{one['entries']:,}",
            "none" if one["checkpoint"] is None else f"at {one['checkpoint']:,}",
            ", ".join(one["cosigned_by"]) or "nobody",
            ", ".join(vkey.split("+")[1] for vkey in one["vkeys"]) or "none",
        )
        for one in logs
    ]
    return build_table(("log", "", "entries", "checkpoint", "cosigned by", "keys"), rows, numbers=("entries",))


def _tell(one: Trace) -> str:
    if one.payload is not None:
        return describe(one.payload)
    if one.erased_by is None:
        return "(its text is gone, and no entry says why)"
    return f"(text erased by entry {one.erased_by.entry.seq}: {one.erased_by.payload.why})"


def _tell_signed(report: LogReport, checked: CheckedCheckpoint) -> str:
    signed = {True: "signed by the log", False: "NOT signed by the log", None: "no key here to say who signed it"}[checked.is_signed]
    witnesses = _list_witnesses(report, checked)
    kept = "" if checked.at is not None else " (brought along)"
    return f"{signed}, {'cosigned by ' + ', '.join(witnesses) if witnesses else 'cosigned by nobody known here'}{kept}"


def _list_witnesses(report: LogReport, checked: CheckedCheckpoint) -> list[str]:
    return sorted({line.name for line in checked.lines if line.is_valid and line.name != report.origin})


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
