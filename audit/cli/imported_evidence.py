"""What `caveat audit conclude` is given, whatever it is, as one checked table with its own statements on model, time and scorer."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.errors import Fault, InputError
from registry.records.replay_run import Provenance

if TYPE_CHECKING:
    from audit.records.model_response import ImportedLog
    from audit.sources.log_rows import LogOptions
    from audit.statistics.responses import ScoreTable
    from registry.records.specification import Scorer

_OF_DATA = ("models_returned", "unnamed_responses", "run", "repeated_contexts", "doubts", "scorer", "other_scorers")
"""What only the responses themselves say of where they came from."""

_SAME_MOMENT = timedelta(minutes=1)
"""Two statements of one moment, of which one may be rounded to the minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedEvidence:
    """Checked scores, and what their files say of how they came to be."""

    table: "ScoreTable"
    source: str
    """File names, as the report prints them."""
    provenance: Provenance = Provenance()
    """What the files state; what they do not is None."""
    started_at: datetime | None = None
    """When the first response was made; None when the files do not say."""
    imported: "ImportedLog | None" = None
    """The accounts of an import of logs; None for tables."""
    audits: tuple[str, ...] = ()
    """The audits that a replay says it answers to."""


def read_evidence(
    paths: Sequence[str],
    reading: "LogOptions",
    *,
    low: float,
    high: float,
    scorer: "Scorer | None" = None,
    prefix_seed: int | None = None,
) -> ImportedEvidence:
    """Return what the files hold as one table, through the checks that every table gets.

    Args:
        paths: score tables, logs of one format, or run folders.
        low: lowest possible score.
        high: highest possible score.
        scorer: the one that gave the scores which are taken; None for its replay's own.
        prefix_seed: as `read_run`.

    Raises:
        TableError: with every fault; nothing is taken by halves.
        ConflictError: a run folder that is not finished or not scored.
    """
    from audit.score.run_evidence import is_run, read_runs
    from audit.sources.log_import import read_logs, refuse_options

    if any(map(is_run, paths)):
        refuse_options(paths, reading, what="a run folder, because its plan says arms, contexts and scorer")
        run = read_runs(paths, low=low, high=high, unfinished=reading.unfinished, scorer=scorer, prefix_seed=prefix_seed)
        begun = datetime.fromisoformat(run.imported.started_at) if run.imported.started_at else None
        return ImportedEvidence(
            table=run.table,
            source=run.source,
            provenance=run.imported.provenance,
            started_at=begun,
            imported=run.imported,
            audits=run.audits,
        )
    read = read_logs(paths, reading, low=low, high=high)
    imported = read.imported
    return ImportedEvidence(
        table=read.table,
        source=read.source,
        provenance=imported.provenance if imported else _describe_table(paths, reading, doubts=read.table.doubts),
        started_at=datetime.fromisoformat(imported.started_at) if imported and imported.started_at else None,
        imported=imported,
    )


def _describe_table(paths: Sequence[str], reading: "LogOptions", *, doubts: tuple[str, ...]) -> Provenance:
    """Return which models answered, as far as score tables say, with the *doubts* about them."""
    from audit.sources.score_table import read_models

    names, unnamed = read_models(list(map(Path, paths)), score=reading.scorer)
    return Provenance(
        model_returned="; ".join(names) or None,
        models_returned=names,
        unnamed_responses=unnamed,
        scorer=reading.scorer or "score",
        doubts=doubts,
    )


def settle_beginning(moment: datetime | None, evidence: ImportedEvidence, *, written: str | None) -> datetime | None:
    """Return when the first response was made: as the logs say, else *moment*.

    Raises:
        InputError: the two contradict each other; a date *written* without a time needs to be only the day.
    """
    logged = evidence.started_at
    if logged is None or moment is None:
        return logged or moment
    is_day = len(written or "") <= len("2026-11-21")
    if (moment.date() != logged.date()) if is_day else (abs(moment - logged) > _SAME_MOMENT):
        problem = f"{written} is given, and the logs say that the first response was made at {logged:%Y-%m-%dT%H:%M:%SZ}"
        raise InputError(Fault("run-date-differs", "--run-date", problem))
    return logged


def settle_provenance(stated: Provenance, evidence: ImportedEvidence) -> Provenance:
    """Return what the logs say, completed by what the user states, with a line of accounts for each log.

    Raises:
        InputError: the two say different things of one.
    """
    from audit.sources.log_rows import describe_accounts

    logged = evidence.provenance
    faults = []
    for name in ("imported", "replayed", "scorer_reads_response", "near_duplicates", *_OF_DATA):
        if getattr(stated, name) != getattr(Provenance(), name):
            problem = "expected nothing: what was read of tables, logs and run folders is recorded by their import"
            faults.append(Fault("not-valid", f"provenance, {name}", problem, advice="leave the key out"))
    merged: dict[str, Any] = {}
    for name in (field.name for field in fields(Provenance) if field.name not in _OF_DATA):
        stated_value, logged_value = getattr(stated, name), getattr(logged, name)
        if stated_value is not None and logged_value is not None and stated_value != logged_value:
            differing = f"{stated_value!r} is stated, and the logs say {logged_value!r}"
            faults.append(Fault("provenance-differs", f"provenance, {name}", differing))
        merged[name] = stated_value if logged_value is None else logged_value
    if faults:
        raise InputError(faults)
    if evidence.imported is not None:
        merged["imported"] = describe_accounts(evidence.imported)
    return Provenance(**merged, **{name: getattr(logged, name) for name in _OF_DATA})


def describe_warnings(imported: "ImportedLog", *, now: datetime) -> "list[str]":
    """Return what a person should know of an import before its outcome: responses excluded, counts that differ, several models.

    Args:
        imported: the accounts.
        now: the registry's clock, with which the logs' own is compared.
    """
    texts = []
    if imported.started_at is not None and datetime.fromisoformat(imported.started_at) > now + _SAME_MOMENT:
        texts.append(f"warning: the logs date their first response at {imported.started_at}, which is still to come: a clock was wrong")
    for file in imported.files:
        missing = 0 if file.declared is None else file.declared - file.found
        if missing:
            texts.append(f"warning: {file.name} states {file.declared} responses and has {file.found}")
        texts += [f"warning: {file.name}: {warning}" for warning in file.warnings]
        texts += [f"{file.name}: {responses.count} without a score: {responses.reason}" for responses in file.excluded if responses.is_row]
        texts += [f"{file.name}: {responses.count} not taken: {responses.reason}" for responses in file.excluded if not responses.is_row]
    model = imported.provenance.model_returned or imported.provenance.model_requested or ""
    if "; " in model:
        texts.append(f"warning: the logs name several models: {model}; a difference between models is not one between contexts")
    return texts
