"""`caveat audit`: new, lock, import, show, list, order, deviate, explore and table; scores or logs as one checked table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from audit.cli.analysis_options import FILE, TABLE, arm_options, parse_where, plan_options
from registry.cli.application import AUDIT, CLAIM, App, as_of_option, examples, pass_app, reason_option
from registry.cli.main import LazyGroup
from registry.codec.file_io import replacing
from registry.errors import ConflictError, Fault, InputError
from registry.present.blocks import Block, Verbatim
from registry.records.analysis_plan import DECISIVE, LockedItem
from registry.records.record import Identifier
from registry.records.replay_run import Provenance

if TYPE_CHECKING:
    from audit.cli.audit_draft import NamedContexts
    from audit.protocol.evidence_basis import ScoredTable
    from audit.records.model_response import ImportedLog
    from audit.sources.log_rows import LogOptions, LogRow
    from audit.statistics.responses import ScoreTable
    from registry.records.claim import ClaimRevision
    from registry.records.claim_draft import AuditDraft
    from registry.records.dossier import AuditFile
    from registry.records.specification import PropertySpec, Scorer
    from registry.store.log_writer import Writer
    from registry.store.registry_view import View

# `caveat audit table`, and what `caveat audit conclude` is given: scores or logs as one checked table.

# What `caveat audit conclude` is given, whatever it is, as one checked table with what it says of itself.

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
    return tuple(source.path for source in split), LogOptions(
        arms={source.path: source.arm for source in split if source.arm},
        specs={source.path: source.spec for source in split if source.spec},
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
        refuse_options(paths, reading, what="a run folder, because its plan says arms, contexts and scorer")
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
    for name in (field.name for field in fields(Provenance) if field.name not in _OF_DATA):
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


def _split(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    faults = []
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not (sign and name and value):
            expected = f"expected something like {example}, found {text!r}"
            faults.append(Fault("bad-option", option, expected, advice=f"write {option} {example}"))
        elif name in found and found[name] != value:
            said = f"{name} is given both {found[name]} and {value}"
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


@examples(
    "audit table test=eval.eval deploy=agent.eval -o scores.csv",
    "audit table test=a.jsonl deploy=b.jsonl --scorer exact_match -o scores.csv",
    "audit table runs --arm C=test --arm D=deploy -o scores.csv",
)
@click.command()
@click.argument("sources", metavar="[ARM=]LOG...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", required=True, type=_OUT, help="The CSV file to write.")
@click.option("--range", "range_", nargs=2, type=float, metavar="LOW HIGH", help="Refuse scores outside; default: any number.")
@reading_options
@pass_app
def table(app: App, /, *, sources: tuple[str, ...], output: Path, range_: tuple[float, float] | None, **options: Any) -> None:
    """Convert logs to one score table.

    LOGs are of Inspect, lm-evaluation-harness, Every Eval Ever, or a folder of skill-contamination runs; docs/logs.md describes them.
    Every response is accounted for.
    """
    from audit.cli.score_presenter import present_accounts
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
    app.answer(document, present_accounts(imported))
    app.say(f"wrote {built.rows} rows to {output}")


def _refuse_input(output: Path, paths: "Sequence[str]") -> None:
    if any(output.absolute() == Path(path).absolute() for path in paths):
        raise InputError(Fault("bad-option", f"-o {output}", "is one of the logs, and would be overwritten", advice="name another file"))


def _write(output: Path, rows: "Sequence[LogRow]") -> None:
    """Write beside the place and move there: a table is whole or not there."""
    from audit.sources.log_import import write_rows

    with replacing(output) as file:
        write_rows(rows, file)


# `caveat audit`: from a claim to what stands of it, with deviations from the lock and explorations.

# `caveat audit`: from a claim to what stands of it.

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(cls=LazyGroup, entry_points="caveat.commands.audit")
def audit() -> None:
    """Plan, lock, run, score and conclude audits."""


@examples("audit new CLM-LAB-2026-0001-E > audit.yaml", "audit new CLM-LAB-2026-0001-E --replay replay")
@audit.command()
@click.argument("claim_id", type=CLAIM)
@click.option(
    "--replay",
    "folder",
    metavar="DIR",
    type=_FOLDER,
    help="Write the files of a live replay into DIR instead: audit, replay, tasks, contexts.",
)
@as_of_option
@pass_app
def new(app: App, *, claim_id: Identifier, folder: Path | None) -> None:
    """Print an audit file for a claim, to fill in.

    With --replay DIR, Caveat also writes the files of a replay. What you must fill in is empty, and refused until you do. Contexts that
    the claim names are taken from the registry.
    """
    from audit.cli.audit_draft import compose_draft
    from audit.protocol.audit_record import get_claim, get_property

    with app.view() as view:
        claim = get_claim(view, str(claim_id))
        body = get_property(view, claim)
        contexts = _find_contexts(view, claim) if folder else None
    if folder is not None and contexts is not None:
        _write_replay(app, folder, claim, body, contexts)
        return
    draft = compose_draft(claim, body)
    if app.json:
        from registry.cli.terminal_output import print_json
        from registry.codec.file_io import parse_document

        print_json(cast("dict[str, Any]", parse_document(draft, where="audit new")))
    else:
        click.echo(draft, nl=False)


@examples("audit lock audit.yaml", "audit lock audit.yaml --seal")
@audit.command()
@click.argument("file", type=FILE)
@click.option("--seal", is_flag=True, help="Seal the context files of the replay first: the lock holds their commitments, no texts.")
@pass_app
def lock(app: App, *, file: Path, seal: bool) -> None:
    """Fix a plan before its run; a lock cannot be changed.

    Fixed are the claim's revision, limit θ, direction, margin, level and interval method. As far as FILE or the claim names them:
    contexts, tasks, scoring, cues, model, budget, stopping and exclusion rules, and the replay file with all its files. Caveat names
    what is not fixed, here and in the supplement.
    """
    from audit.cli.audit_draft import read_draft
    from audit.cli.audit_presenter import present_lock, warn_requested, warn_unnamed
    from audit.protocol.audit_record import count_locks, get_claim, open_audit

    draft, _ = read_draft(file, locked=True)
    if seal:
        _seal_replay(app, file, draft)
    with app.ledger.write(actor=app.config.authority) as writer:
        opened, is_new = open_audit(writer, draft, auditor=app.config.authority, locked=True, folder=file.parent)
        others, waiting = count_locks(writer, opened)
        claim = get_claim(writer, opened.audit.payload.claim)
    if others:
        app.say(f"warning: {others} other locked audits of this claim, {waiting} without an outcome; the supplement counts them")
    if opened.lock and not opened.lock.payload.endpoint_names:
        app.say(warn_unnamed(claim.model, opened.lock.payload))
    elif opened.lock and opened.lock.payload.model not in (None, *opened.lock.payload.endpoint_names):
        app.say(warn_requested(opened.lock.payload))
    for name in opened.lock.payload.unfixed if opened.lock else ():
        app.say(f"warning: not fixed before the replay: {name}; the supplement will say so")
    app.report(present_lock(opened, is_new=is_new))


def _seal_replay(app: App, file: Path, draft: "AuditDraft") -> None:
    from audit.cli.run_session import seal_replay

    if draft.replay is None:
        found = "the audit file names no replay, so there are no context files to seal"
        raise InputError(Fault("bad-option", "--seal", found, advice="name the replay file in it (replay: replay.yaml)"))
    seal_replay(app, file.parent / draft.replay)


@examples("audit open audit.yaml")
@audit.command("open")
@click.argument("file", type=FILE)
@pass_app
def open_(app: App, /, *, file: Path) -> None:
    """Open an audit without a lock, to record findings in it.

    caveat analyze ablation, caveat analyze judge and caveat audit rate answers record their findings with --audit AUD-…. caveat audit
    conclude of the same FILE takes them into account. A locked audit is open already.
    """
    from audit.protocol.audit_record import open_audit

    draft = _read_draft(app, file)
    with app.ledger.write(actor=app.config.authority) as writer:
        opened, is_new = open_audit(writer, draft, auditor=app.config.authority, locked=False, folder=file.parent)
    name, claim = opened.audit.payload.audit, opened.audit.payload.claim
    app.answer(
        {"schema": "caveat/audit-open/1", "audit": name, "claim": claim, "new": is_new},
        f"{'Opened' if is_new else 'Open already:'} {name} for {claim}, without a lock.\n"
        f"Next: record findings with --audit {name}, then: caveat audit conclude {file} [TABLE...]",
    )


@examples("audit evidence AUD-LAB-2026-0001-1 published.yaml")
@audit.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("file", type=FILE)
@pass_app
def evidence(app: App, *, audit_id: Identifier, file: Path) -> None:
    """Record reported evidence in an open audit.

    FILE lists evidence that was published or measured elsewhere, as `evidence:` in an audit file (caveat admin schema evidence). The audit
    has no lock: what is reported can restrict a claim and never establish a verdict. The same evidence again changes nothing.
    """
    from audit.protocol.audit_record import add_evidence
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.claim_draft import EvidenceDraft

    draft = from_document(EvidenceDraft, read_document(file), where=str(file))
    with app.ledger.write(actor=app.config.authority) as writer:
        added = add_evidence(writer, audit_id.bare, draft.evidence)
    entries = [statement.entry.seq for statement in added]
    done = f"Recorded {len(added)} of {len(draft.evidence)} in {audit_id.bare}." if added else "Nothing is new; nothing was recorded."
    app.answer(
        {"schema": "caveat/audit-evidence/1", "audit": audit_id.bare, "entries": entries},
        f"{done}\nNext: caveat audit conclude {audit_id.bare}",
    )


@examples(
    "audit conclude AUD-LAB-2026-0001-1 replay.run",
    "audit conclude AUD-LAB-2026-0001-1 scores.csv --run-date 2026-11-21T12:00Z",
    "audit conclude audit.yaml test=eval.eval deploy=agent.eval",
)
@audit.command()
@click.argument("target", metavar="AUDIT|FILE")
@click.argument("sources", metavar="[[ARM=]SOURCE]...", nargs=-1)
@click.option(
    "--run-date", "started", metavar="DATE", help="When the first response was made, ISO 8601; a replay needs it, unless its logs say so."
)
@arm_options
@reading_options
@click.option("--withhold-prompts", is_flag=True, help="Of a run folder's contexts, record the digests and not the texts.")
@click.option("--provenance", type=FILE, help="YAML file: endpoint, model_returned, accessed, sampling … (caveat admin schema provenance).")
@pass_app
def conclude(app: App, /, *, target: str, sources: tuple[str, ...], **options: Any) -> None:
    """Import the scores of an audit and give its verdict.

    AUDIT is a locked or open audit; FILE is an audit file; its audit is opened without a lock. A SOURCE is a score table, a
    scored run folder, or a log with its arm (ARM=LOG, or ARM/SPEC=LOG for one of several P_deploy specifications). docs/logs.md
    describes the logs.

    Scores of a run that began after the lock have the basis replay. Other scores, and an audit file without SOURCE, have the basis
    reported: they can restrict a claim and never establish a verdict.
    """
    from audit.cli.audit_presenter import present_concluded
    from audit.protocol.audit_record import conclude as record
    from audit.protocol.audit_record import list_reporting

    with app.ledger.write(actor=app.config.authority) as writer:
        file, draft = _open_target(app, writer, target)
        evidence = _read_evidence(writer, file, sources, options) if sources else None
        scored = _build_scored(evidence, file, options, draft) if evidence else None
        concluded = record(writer, file, scored)
        items = list_reporting(writer, concluded)
    imported = evidence.imported if evidence else None
    for line in describe_warnings(imported, now=app.config.now()) if imported else ():
        app.say(line)
    for departure in concluded.found:
        app.say(f"warning: deviates from the lock: {departure.item.words}: {departure.done}; planned: {departure.planned}")
    if concluded.found:
        app.say(f"explain it: caveat audit deviate {concluded.audit} {concluded.found[0].item.value} --reason …")
    app.report(present_concluded(concluded, imported, items=items))


@examples("audit list", "audit list --as-of 2026-11-01 --json")
@audit.command("list")
@as_of_option
@pass_app
def list_(app: App) -> None:
    """List audits with their verdicts."""
    from audit.cli.audit_presenter import build_audit_table, summarise_audit

    with app.view(by_clock=True) as view:
        audits, today = list(view.list_audits()), view.today
    app.answer(
        {"schema": "caveat/audits/1", "audits": [summarise_audit(file, today=today) for file in audits]},
        [build_audit_table(audits, today=today) if audits else "No audits. Next: caveat audit new CLAIM > audit.yaml"],
    )


@examples("audit show AUD-LAB-2026-0001-1", "audit show AUD-LAB-2026-0001-1 --json")
@audit.command()
@click.argument("audit_id", type=AUDIT)
@as_of_option
@pass_app
def show(app: App, *, audit_id: Identifier) -> None:
    """Show one audit: lock, runs, evidence, verdict."""
    from audit.cli.audit_presenter import present_audit
    from audit.protocol.audit_record import get_audit, get_claim
    from registry.cli.spec_presenter import present_disputes
    from registry.codec.canonical_documents import to_document
    from registry.report.claim_outcome import find_asked_now
    from registry.report.minimum_reporting import build_audit_items

    with app.view(by_clock=True) as view:
        file = get_audit(view, audit_id.bare)
        dossier = view.dossier(file.audit.payload.claim)
        asked_now = find_asked_now(file, view.list_endpoint_names(), get_claim(view, file.audit.payload.claim).model)
    outcome = file.restrictions[-1] if file.restrictions else None
    document = {
        "schema": "caveat/audit-show/1",
        **to_document(file),
        "runs_under_lock": [to_document(history) for history in file.history],
        "checklist": [to_document(audit_item) for audit_item in build_audit_items(dossier, file, outcome)],
        "asked_now": to_document(asked_now) if asked_now else None,
    }

    def text() -> Iterator[Block]:
        yield from present_disputes(dossier.objections)
        yield from present_audit(file, dossier, asked_now)

    app.answer(document, text())


@examples("audit order tasks.csv --audit AUD-LAB-2026-0001-1", "audit order tasks.txt --seed 7")
@audit.command()
@click.argument("tasks", type=FILE)
@click.option("--audit", "audit_id", metavar="AUD-…", type=AUDIT, help="Take the seed of this audit's plan.")
@click.option("--seed", metavar="N", type=int, help="The plan's seed, where no audit is named; default: 0.")
@pass_app
def order(app: App, *, tasks: Path, audit_id: Identifier | None, seed: int | None) -> None:
    """Print task ids in the order of the plan.

    Use it for a replay that may stop early. TASKS is a CSV, JSONL or Parquet file with a column task_id, or a text file with one id a
    line. The order is that of SHA-256 of "seed:task_id", so it does not depend on other tasks. With a column family, families come in
    the order of "seed:family", and their tasks stay together.
    """
    from audit.protocol.audit_record import get_audit
    from audit.sources.score_table import read_task_families
    from audit.statistics.mean_intervals import order_tasks

    if audit_id is not None and seed is not None:
        raise click.UsageError("give --audit or --seed, not both")
    families = read_task_families(tasks)
    ids = list(families)
    if audit_id is not None:
        with app.view() as view:
            file = get_audit(view, audit_id.bare)
        seed = (file.lock or file.audit).payload.plan.seed
    fixed = seed or 0
    ordered = [ids[place] for place in order_tasks(ids, seed=fixed, families=[family or task for task, family in families.items()])]
    app.answer({"schema": "caveat/task-order/1", "seed": fixed, "tasks": ordered}, [Verbatim("\n".join(ordered))])


def _find_contexts(view: "View", claim: "ClaimRevision") -> "NamedContexts":
    """Return the contexts that *claim* names and that the registry holds the texts of."""
    from audit.cli.audit_draft import NamedContexts
    from registry.records.record import parse_identifier
    from registry.records.specification import ContextSpec

    def find_slug(reference: str) -> str | None:
        named = parse_identifier(reference)
        spec = view.find_spec(named.bare, named.revision)
        body = view.open_spec(spec.payload) if spec is not None else None
        return spec.payload.slug if spec is not None and isinstance(body, ContextSpec) and body.contexts else None

    deploy = {slug: deploy_context for deploy_context in claim.deploy_contexts if (slug := find_slug(deploy_context))}
    test = claim.test_context or ""
    return NamedContexts(test=test if test and find_slug(test) else "", deploy=deploy if len(deploy) == len(claim.deploy_contexts) else {})


def _write_replay(app: App, folder: Path, claim: "ClaimRevision", body: "PropertySpec", contexts: "NamedContexts") -> None:
    from audit.cli.audit_draft import write_replay

    written = [str(path) for path in write_replay(folder, claim, body, contexts)]
    app.answer(
        {"schema": "caveat/audit-new/1", "claim": claim.reference, "files": written},
        "\n".join(written) + f"\nNext: fill them in; caveat audit run {folder}/replay.yaml --dry-run says what is missing.\n"
        f"Then: caveat audit lock {folder}/audit.yaml, write the AUD-… that it prints into replay.yaml, and run without --dry-run.",
    )


def _open_target(app: App, writer: "Writer", target: str) -> "tuple[AuditFile, AuditDraft | None]":
    """Return the audit that *target* names, or the one that the file describes, recorded if it is not yet."""
    from audit.protocol.audit_record import get_audit, open_audit

    if target.startswith("AUD-"):
        return get_audit(writer, AUDIT.convert(target, None, None).bare), None
    path = Path(target)
    if not path.is_file():
        found = "is neither an audit (AUD-…) nor a file"
        raise InputError(Fault("file-not-readable", target, found, advice="caveat audit list shows the audits"))
    draft = _read_draft(app, path)
    return open_audit(writer, draft, auditor=app.config.authority, locked=False, folder=path.parent)[0], draft


def _read_draft(app: App, path: Path) -> "AuditDraft":
    """Return the audit in *path*; what its template left open counts as not stated, and that is said."""
    from audit.cli.audit_draft import read_draft

    draft, left_open = read_draft(path, locked=False)
    if left_open:
        app.say(f"not filled in, so not stated: {', '.join(left_open)}")
    return draft


def _read_evidence(writer: "Writer", file: "AuditFile", sources: tuple[str, ...], options: dict[str, Any]) -> "ImportedEvidence":
    from audit.protocol.audit_record import get_claim, get_property
    from registry.registration.specification_registration import find_locked_procedure, find_procedure

    claim = get_claim(writer, file.audit.payload.claim)
    low, high = get_property(writer, claim).range
    locked = find_locked_procedure(writer, file.lock.payload) if file.lock else None
    scorer = locked or find_procedure(writer, claim)
    evidence = read_evidence(*build_reading(sources, options), low=low, high=high, scorer=scorer)
    if evidence.audits and file.audit.payload.audit not in evidence.audits:
        found = f"the replay answers to {', '.join(evidence.audits)}"
        advice = f"caveat audit conclude {evidence.audits[0]} {sources[0]}"
        raise ConflictError(Fault("wrong-audit", file.audit.payload.audit, found, advice=advice))
    return evidence


def _build_scored(evidence: "ImportedEvidence", file: "AuditFile", options: dict[str, Any], draft: "AuditDraft | None") -> "ScoredTable":
    from audit.protocol.evidence_basis import ScoredTable
    from audit.replay.replay_provenance import withhold_prompts
    from audit.score.run_evidence import count_unanswered
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.replay_run import Provenance

    stated = draft.provenance if draft else Provenance()
    if options["provenance"]:
        stated = from_document(Provenance, read_document(options["provenance"]), where=str(options["provenance"]))
    provenance = settle_provenance(stated, evidence)
    return ScoredTable(
        table=evidence.table,
        source=evidence.source,
        started_at=settle_beginning(_parse_date(options["started"], file, evidence.started_at), evidence, written=options["started"]),
        is_dated_by_data=evidence.started_at is not None,
        provenance=withhold_prompts(provenance) if options["withhold_prompts"] else provenance,
        test_arm=options["test"],
        deploy_arm=options["deploy"],
        unanswered=count_unanswered(evidence.imported) if evidence.imported else 0,
    )


def _parse_date(text: str | None, file: "AuditFile", logged: datetime | None) -> datetime | None:
    """Return the moment written in *text*, in UTC.

    A date without a time is its first second, and refused on the day of the lock, unless the logs say the time (*logged*).
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        found = f"{text!r} is not an ISO 8601 date or time such as 2026-11-21 or 2026-11-21T12:00:00Z"
        raise InputError(Fault("bad-date", "--run-date", found)) from error
    # Its first second lies before the lock, and scores once recorded as post hoc stay so.
    if file.lock and logged is None and len(text) <= len("2026-11-21") and moment.date() == file.lock.entry.at.date():
        found = f"{text} is the day of the lock, made at {file.lock.entry.at:%H:%M:%S} UTC; without a time, it is open which came first"
        raise InputError(Fault("bad-date", "--run-date", found, advice=f"give the time too: {text}T12:00:00Z"))
    return moment


# `caveat audit deviate`: what was done otherwise than a lock says, told or explained.


@examples(
    'audit deviate AUD-LAB-2026-0001-1 budget --done "900 calls" -m "retries after a timeout"',
    'audit deviate AUD-LAB-2026-0001-1 tasks -m "two tasks were withdrawn"',
)
@click.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("item", type=click.Choice([locked_item.value for locked_item in LockedItem]))
@click.option("--done", metavar="TEXT", help="What was done; without it, the departure that was found and not explained is meant.")
@click.option("--planned", metavar="TEXT", help="What was planned; default: what the lock says.")
@reason_option("The reason.")
@pass_app
def deviate(app: App, /, *, audit_id: Identifier, item: str, done: str | None, planned: str | None, reason: str) -> None:
    """Record or explain a deviation from a locked plan.

    The lock itself never changes. Scores of other tasks, contexts, scoring or models than the locked ones restrict a claim and never
    establish a verdict, whatever the reason. Supplements print every deviation.
    """
    from audit.protocol.audit_record import deviate as record
    from registry.codec.canonical_documents import to_document

    kind = LockedItem(item)
    with app.ledger.write(actor=app.config.authority) as writer:
        deviation, is_new = record(writer, audit_id.bare, kind, planned=planned, done=done, why=reason)
        has_outcome = bool((file := writer.find_audit(audit_id.bare)) and file.restrictions)
    if is_new and done is not None and kind in DECISIVE:
        app.say(
            "warning: its outcome stays as it was recorded; the supplement says that you recorded this later"
            if has_outcome
            else "warning: an outcome from such scores will be reported, not established: lock another audit for what is really done"
        )
    document = {
        "schema": "caveat/audit-deviate/1",
        "new": is_new,
        "entry": deviation.entry.seq,
        "deviation": to_document(deviation.payload),
    }
    payload = deviation.payload
    app.answer(
        document,
        f"{'Recorded' if is_new else 'Recorded already'} as entry {deviation.entry.seq}: {payload.item.words} of {payload.audit}\n"
        f"  planned  {payload.planned}\n  done     {payload.done}\n  why      {payload.reason}",
    )


# `caveat audit explore`: scores looked at with settings that were not fixed before.


@examples(
    'audit explore AUD-LAB-2026-0001-1 scores.csv --question "Does the effect depend on the language?"',
    'audit explore AUD-LAB-2026-0001-1 scores.csv --question "English only" --where language=en',
)
@click.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("tables", metavar="TABLE|RUN...", nargs=-1, required=True, type=TABLE)
@click.option("--question", metavar="TEXT", required=True, help="What is looked for.")
@arm_options
@click.option("--score", metavar="COLUMN", default="score", show_default=True, help="The column of scores.")
@click.option(
    "--where",
    metavar="COLUMN=VALUE[,VALUE...]",
    multiple=True,
    callback=lambda _context, _parameter, values: parse_where(values),
    help="Keep only rows with one of these values in COLUMN, any column of the file. May be repeated.",
)
@plan_options("contexts")
@click.option("--interval", type=click.Choice(["closed_form", "guaranteed", "anytime"]), help="How intervals are made.")
@plan_options("margin", "level")
@click.option("--epsilon", metavar="NUMBER", type=float, help="ε of nED.")
@plan_options("replicates", "seed")
@pass_app
def explore(
    app: App,
    /,
    *,
    audit_id: Identifier,
    tables: tuple[Path, ...],
    question: str,
    test: str,
    deploy: str,
    score: str,
    where: dict[str, tuple[str, ...]],
    **options: Any,
) -> None:
    """Analyse scores with any settings, and record that.

    No verdict rests on an exploration. Settings that you do not give are those of the audit's plan. The audit needs no lock (caveat
    audit open FILE). The scores count as known from then on: under a later lock they are post hoc. Supplements list explorations in a
    section of their own.
    """
    from audit.cli.audit_presenter import present_exploration
    from audit.protocol.audit_record import explore as record
    from audit.protocol.audit_record import get_range
    from audit.protocol.evidence_basis import ScoredTable
    from audit.sources.score_table import read_table
    from registry.codec.canonical_documents import to_document
    from registry.records.analysis_plan import ContextDesign, IntervalMethod

    chosen = {name: kind(value) for name, kind in (("contexts", ContextDesign), ("interval", IntervalMethod)) if (value := options[name])}
    with app.ledger.write(actor=app.config.authority) as writer:
        low, high = get_range(writer, audit_id.bare)
        table = read_table(tables, low=low, high=high, score=score, where=where)
        # What was looked at is the whole table: choosing rows from it shows them all first.
        whole = read_table(tables, low=low, high=high, score=score) if where else None
        scored = ScoredTable(table=table, source=", ".join(map(str, tables)), started_at=None, test_arm=test, deploy_arm=deploy)
        exploration, is_new = record(writer, audit_id.bare, scored, question=question, options={**options, **chosen}, whole=whole)
    document = {
        "schema": "caveat/audit-explore/1",
        "new": is_new,
        "entry": exploration.entry.seq,
        "exploration": to_document(exploration.payload),
    }
    app.answer(document, present_exploration(exploration, is_new=is_new))
