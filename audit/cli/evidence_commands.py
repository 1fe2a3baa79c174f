"""`caveat audit table`, and what `caveat audit import` is given: scores or logs as one checked table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from registry.cli.application import App, pass_app
from registry.codec.file_io import replacing
from registry.errors import Fault, InputError
from registry.records.replay_run import Provenance

if TYPE_CHECKING:
    from audit.records.model_response import ImportedLog
    from audit.sources.log_rows import LogOptions, LogRow
    from audit.statistics.responses import ScoreTable
    from registry.records.specification import Scorer

# What `caveat audit import` is given, whatever it is, as one checked table with what it says of itself.

Command = TypeVar("Command", bound=Callable[..., object])

_MATTERS = "May be repeated."

_OF_DATA = ("models_returned", "unnamed_responses", "run")
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


def reading_options(command: Command) -> Command:
    """Give *command* what may be said of logs: what `build_reading` takes."""
    options = (
        click.option("--scorer", metavar="NAME", help="Which scorer or metric of a log (or column of a table) gives the scores."),
        click.option("--key", metavar="NAME", help="Which entry of a score that is an object; of the harness: which filter."),
        click.option("--value", "values", metavar="TEXT=NUMBER", multiple=True, help=f"What a text is as a score, such as C=1. {_MATTERS}"),
        click.option("--arm-field", metavar="FIELD", help="Where a log says the arm itself, such as metadata.condition."),
        click.option("--arm", "arm_names", metavar="VALUE=ARM", multiple=True, help=f"Which arm a value of --arm-field is. {_MATTERS}"),
        click.option("--context-field", metavar="FIELD", help="Where a log says the context; default: one context per file."),
        click.option("--task-field", metavar="FIELD", help="Where a log says the task; default: the sample's identifier."),
        click.option("--family-field", metavar="FIELD", help="Where a log says the family of a task; default: none are declared."),
        click.option("--unfinished", is_flag=True, help="Take a log also when it says that it did not finish."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def build_reading(sources: Sequence[str], options: Mapping[str, Any]) -> "tuple[tuple[str, ...], LogOptions]":
    """Return the paths that *sources* name, and what the user says of them.

    Args:
        sources: `PATH`, `ARM=PATH` or `ARM/SPEC=PATH`; a file whose name holds `=` is taken as it is.
        options: what `reading_options` gives.

    Raises:
        InputError: an option or a source is not of its form.
    """
    from audit.sources.log_import import split_sources
    from audit.sources.log_rows import LogOptions

    split = split_sources(sources)
    values = {name: _parse_number(name, text) for name, text in _split(options["values"], "--value", "C=1").items()}
    return tuple(one.path for one in split), LogOptions(
        arms={one.path: one.arm for one in split if one.arm},
        specs={one.path: one.spec for one in split if one.spec},
        arm_field=options["arm_field"],
        arm_names=_split(options["arm_names"], "--arm", "evaluation=test"),
        context_field=options["context_field"],
        task_field=options["task_field"],
        family_field=options["family_field"],
        scorer=options["scorer"],
        key=options["key"],
        values=values,
        unfinished=options["unfinished"],
    )


def read_evidence(
    paths: Sequence[str], reading: "LogOptions", *, low: float, high: float, scorer: "Scorer | None" = None
) -> ImportedEvidence:
    """Return what the files hold as one table, through the checks that every table gets.

    Args:
        paths: score tables, logs of one format, or run folders.
        low: lowest possible score.
        high: highest possible score.
        scorer: whose scores of a run folder are taken; None for its replay's own.

    Raises:
        TableError: with every fault; nothing is taken by halves.
        ConflictError: a run folder that is not finished or not scored.
    """
    from audit.score.run_evidence import is_run, read_runs
    from audit.sources.log_import import read_logs, refuse_options

    if any(map(is_run, paths)):
        refuse_options(paths, reading, what="a run folder, whose plan says arms, contexts and scorer")
        run = read_runs(paths, low=low, high=high, unfinished=reading.unfinished, scorer=scorer)
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
        provenance=imported.provenance if imported else _describe_models(paths, reading),
        started_at=datetime.fromisoformat(imported.started_at) if imported and imported.started_at else None,
        imported=imported,
    )


def _describe_models(paths: Sequence[str], reading: "LogOptions") -> Provenance:
    """Return which models answered, as far as score tables say."""
    from audit.sources.score_table import read_models

    names, unnamed = read_models(list(map(Path, paths)), score=reading.scorer)
    return Provenance(model_returned="; ".join(names) or None, models_returned=names, unnamed_responses=unnamed)


def settle_beginning(moment: datetime | None, evidence: ImportedEvidence, *, written: str | None) -> datetime | None:
    """Return when the first response was made: as the logs say, else as it was *given*.

    Raises:
        InputError: the two contradict each other; a date *written* without a time needs to be the day alone.
    """
    logged = evidence.started_at
    if logged is None or moment is None:
        return logged or moment
    is_day = len(written or "") <= len("2026-11-21")
    if (moment.date() != logged.date()) if is_day else (abs(moment - logged) > _SAME_MOMENT):
        found = f"{written} is given, and the logs say that the first response was made at {logged:%Y-%m-%dT%H:%M:%SZ}"
        raise InputError(Fault("run-date-differs", "--run-date", found))
    return logged


def settle_provenance(stated: Provenance, evidence: ImportedEvidence) -> Provenance:
    """Return what the logs say, completed by what the user states, with a line of accounts for each log.

    Raises:
        InputError: the two say different things of one.
    """
    from audit.sources.log_rows import summarise_accounts

    logged = evidence.provenance
    faults = []
    for name in ("imported", "replayed", "scorer_reads_response", "near_duplicates", *_OF_DATA):
        if getattr(stated, name) != getattr(Provenance(), name):
            found = "expected nothing: what was read of tables, logs and run folders is recorded by their import"
            faults.append(Fault("not-valid", f"provenance, {name}", found, advice="leave the key out"))
    merged: dict[str, Any] = {}
    for name in (one.name for one in fields(Provenance) if one.name not in _OF_DATA):
        said, found = getattr(stated, name), getattr(logged, name)
        if said is not None and found is not None and said != found:
            differing = f"{said!r} is stated, and the logs say {found!r}"
            faults.append(Fault("provenance-differs", f"provenance, {name}", differing))
        merged[name] = said if found is None else found
    if faults:
        raise InputError(faults)
    if evidence.imported is not None:
        merged["imported"] = summarise_accounts(evidence.imported)
    return Provenance(**merged, **{name: getattr(logged, name) for name in _OF_DATA})


def describe_warnings(imported: "ImportedLog", *, now: datetime) -> "list[str]":
    """Return what a person should be told of an import before its outcome: responses left out, counts that differ, several models.

    Args:
        imported: the accounts.
        now: the registry's clock, with which the logs' own is compared.
    """
    said = []
    if imported.started_at is not None and datetime.fromisoformat(imported.started_at) > now + _SAME_MOMENT:
        said.append(f"warning: the logs date their first response at {imported.started_at}, which is still to come: a clock was wrong")
    for file in imported.files:
        missing = 0 if file.declared is None else file.declared - file.found
        if missing:
            said.append(f"warning: {file.name} states {file.declared} responses and has {file.found}")
        said += [f"warning: {file.name}: {warning}" for warning in file.warnings]
        said += [f"{file.name}: {one.count} without a score: {one.reason}" for one in file.left_out if one.is_row]
        said += [f"{file.name}: {one.count} not taken: {one.reason}" for one in file.left_out if not one.is_row]
    model = imported.provenance.model_returned or imported.provenance.model_requested or ""
    if "; " in model:
        said.append(f"warning: the logs name several models: {model}; a difference between models is not one between contexts")
    return said


def _split(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    faults = []
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not (sign and name and value):
            expected = f"expected something like {example}, found {text!r}"
            faults.append(Fault("bad-option", option, expected, advice=f"write {option} {example}"))
        elif name in found and found[name] != value:
            said = f"{name} stands for {found[name]} and for {value}"
            faults.append(Fault("bad-option", option, said, advice="keep one of them"))
        found[name] = value
    if faults:
        raise InputError(faults)
    return found


def _parse_number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number - number != 0:  # neither NaN nor infinite
        raise InputError(Fault("bad-option", f"--value {name}", f"{text!r} is not a number", advice="write for example --value C=1"))
    return number


# `caveat audit table`: the logs of other infrastructure as one score table, with its accounts.

_OUT = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.command()
@click.argument("sources", metavar="[ARM=]LOG...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", required=True, type=_OUT, help="The CSV file to write.")
@click.option("--range", "range_", nargs=2, type=float, metavar="LOW HIGH", help="Refuse scores outside; default: any number.")
@reading_options
@pass_app
def table(app: App, /, *, sources: tuple[str, ...], output: Path, range_: tuple[float, float] | None, **options: Any) -> None:
    """Turn logs into one score table, and account for every response.

    \b
    caveat audit table test=eval.eval deploy=agent.eval -o scores.csv
    caveat audit table test=samples_a.jsonl deploy=samples_b.jsonl --scorer exact_match --key strict-match -o scores.csv
    caveat audit table runs --scorer composite --arm C=test --arm D=deploy -o scores.csv

    LOGs are of Inspect, lm-evaluation-harness, Every Eval Ever, or a folder of skill-contamination runs; docs/logs.md tells of each.
    """
    from audit.cli.score_presenter import print_accounts
    from audit.errors import LARGEST_SCORE
    from audit.sources.log_import import build_row_table, read_rows
    from registry.codec.canonical_documents import to_document

    paths, reading = build_reading(sources, options)
    _refuse_input(output, paths)
    rows, imported = read_rows(paths, reading)
    low, high = range_ or (-LARGEST_SCORE, LARGEST_SCORE)
    built = build_row_table(rows, imported, low=low, high=high)
    _write(output, rows)
    document = {"schema": "caveat/audit-table/1", "table": str(output), "rows": built.rows, "imported": to_document(imported)}
    app.report(document, lambda console: print_accounts(console, imported))
    app.say(f"wrote {built.rows} rows to {output}")


def _refuse_input(output: Path, paths: "Sequence[str]") -> None:
    if any(output.absolute() == Path(path).absolute() for path in paths):
        raise InputError(Fault("bad-option", f"-o {output}", "is one of the logs, and would be overwritten", advice="name another file"))


def _write(output: Path, rows: "Sequence[LogRow]") -> None:
    """Write beside the place and move there: a table is whole or not there."""
    from audit.sources.log_import import write_rows

    with replacing(output) as file:
        write_rows(rows, file)
