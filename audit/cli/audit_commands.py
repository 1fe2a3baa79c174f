"""`caveat audit`: new, lock, conclude, show, list, order, deviate, explore and table."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from audit.cli.analysis_options import FILE, TABLE, arm_options, parse_where, plan_options
from audit.cli.imported_evidence import ImportedEvidence, describe_warnings, read_evidence, settle_beginning, settle_provenance
from audit.cli.table_reading import build_reading, reading_options, settle_mapping
from registry.cli.application import (
    ALL_LOGS,
    AUDIT,
    CLAIM,
    App,
    as_of_option,
    examples,
    logs_option,
    pass_app,
    reason_option,
    record,
    refusing,
    yes_option,
)
from registry.cli.list_options import ListOutput, list_options
from registry.cli.main import LazyGroup
from registry.codec.file_io import replacing
from registry.errors import CaveatError, ConflictError, Fault, InputError
from registry.present.blocks import Block, Verbatim
from registry.records.analysis_plan import DECISIVE, LockedItem
from registry.records.audit_case import AuditWithdrawal
from registry.records.record import Identifier
from registry.records.replay_run import Provenance
from registry.report.supplement_wording import DESIGN_RULE

if TYPE_CHECKING:
    from audit.cli.audit_draft import DraftReading, NamedContexts, TrafficDraft
    from audit.protocol.evidence_basis import ScoredTable
    from audit.sources.log_rows import LogRow
    from registry.records.audit_case import Evidence
    from registry.records.claim import ClaimRevision
    from registry.records.claim_draft import AuditDraft
    from registry.records.dossier import AuditFile
    from registry.records.specification import PropertySpec
    from registry.store.log_writer import Writer

# `caveat audit table`: the logs of other infrastructure as one score table, with its accounts.

_OUT = click.Path(dir_okay=False, writable=True, path_type=Path)


@examples(
    "audit table results.xlsx --map task=prompt_id,arm=condition,score=passed --arms test=Eval,deploy=Prod -o scores.csv",
    "audit table test=eval.eval deploy=agent.eval -o scores.csv",
    "audit table runs --arms test=C,deploy=D -o scores.csv",
)
@click.command()
@click.argument("sources", metavar="[ARM=]TABLE|LOG...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", required=True, type=_OUT, help="The CSV file to write.")
@click.option("--range", "range_", nargs=2, type=float, metavar="LOW HIGH", help="Refuse scores outside; default: any number.")
@reading_options
@click.option("--yes", is_flag=True, help="Take the columns that Caveat guesses, without asking.")
@pass_app
def table(app: App, /, *, sources: tuple[str, ...], output: Path, range_: tuple[float, float] | None, yes: bool, **options: Any) -> None:
    """Convert your own table, or logs, to a score table.

    A TABLE is XLSX, CSV (commas, semicolons or tabs), JSON Lines or Parquet with your own column names; docs/tables.md describes it.
    Without --map, Caveat guesses the columns, shows them, and asks. LOGs are of Inspect, lm-evaluation-harness, Every Eval Ever, or a
    folder of skill-contamination runs; docs/logs.md describes them. Every response is accounted for.
    """
    from audit.cli.score_presenter import present_accounts
    from audit.errors import LARGEST_SCORE
    from audit.sources.log_import import build_row_table, read_rows
    from registry.codec.canonical_documents import to_document

    paths, reading = build_reading(sources, options)
    _refuse_input(output, paths)
    reading = settle_mapping(app, paths, reading, _list_words(sources, output, range_, options), yes=yes)
    rows, imported = read_rows(paths, reading)
    low, high = range_ or (-LARGEST_SCORE, LARGEST_SCORE)
    built = build_row_table(rows, imported, low=low, high=high)
    _write(output, rows)
    document = {"schema": "caveat/audit-table/1", "table": str(output), "rows": built.rows, "imported": to_document(imported)}
    app.answer(document, present_accounts(imported))
    app.say(f"wrote {built.rows} rows to {output}")


def _list_words(sources: "Sequence[str]", output: Path, range_: tuple[float, float] | None, options: Mapping[str, Any]) -> list[str]:
    """Return the words of this call of `caveat audit table`, but for those that `settle_mapping` adds."""
    words = ["caveat", "audit", "table", *sources]
    words += ["--range", *(f"{limit:g}" for limit in range_)] if range_ else []
    words += ["--sheet", options["sheet"]] if options["sheet"] else []
    words += [word for column, values in options["where"].items() for word in ("--where", f"{column}={','.join(values)}")]
    words += [word for text in options["values"] for word in ("--score-values", text)]
    return [*words, "-o", str(output)]


def _refuse_input(output: Path, paths: "Sequence[str]") -> None:
    if any(output.absolute() == Path(path).absolute() for path in paths):
        raise InputError(Fault("bad-option", f"-o {output}", "is one of the sources, and would be overwritten", advice="name another file"))


def _write(output: Path, rows: "Sequence[LogRow]") -> None:
    """Write beside the place and move there: a table is whole or not there."""
    from audit.sources.log_import import write_rows

    with replacing(output) as file:
        write_rows(rows, file)


# `caveat audit`: from a claim to what stands of it, with deviations from the lock and explorations.

# `caveat audit`: from a claim to what stands of it.

_REPLAY = click.Path(path_type=Path)


class _AuditFile(click.Path):
    """An audit file; the identifier of a claim in its place leads to the command that writes one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of the file; the identifier of a claim ends the command with what makes one."""
        if str(value).startswith("CLM-"):
            self.fail(f"{value} is a claim and no file; write its audit file first: caveat audit new {value} > audit.yaml", param, ctx)
        return super().convert(value, param, ctx)


_AUDIT_FILE = _AuditFile(exists=True, dir_okay=False, path_type=Path)


@click.group(cls=LazyGroup, entry_points="caveat.commands.audit")
def audit() -> None:
    """Plan, lock, run, score and conclude audits."""


@examples(
    "audit new CLM-LAB-2026-0001-E > audit.yaml",
    "audit new CLM-LAB-2026-0001-E --replay live",
    "audit new CLM-LAB-2026-0001-E --replay live --from-traffic sample.jsonl --source production --sampler sampler.py",
)
@audit.command()
@click.argument("claim_id", type=CLAIM)
@click.option(
    "--replay",
    "replay",
    metavar="DIR|FILE",
    type=_REPLAY,
    help="DIR: write the files of a live replay there (audit, replay, tasks, contexts). FILE: fill in what this replay file says.",
)
@click.option(
    "--from-traffic", "traffic", metavar="FILE", type=FILE, help="With --replay DIR: take the conversations that FILE lists as tasks."
)
@click.option("--source", type=click.Choice(["production", "public_log"]), help="With --from-traffic: where the conversations come from.")
@click.option("--sampler", metavar="FILE", type=FILE, help="With --from-traffic: what chose the conversations; its digest is recorded.")
@click.option("--seed", type=int, default=0, show_default=True, help="With --from-traffic: draws the answer that is cut.")
@as_of_option
@pass_app
def new(app: App, /, *, claim_id: Identifier, replay: Path | None, **options: Any) -> None:
    """Print an audit file for a claim, to fill in.

    With --replay DIR, Caveat also writes the files of a replay. What you must fill in is empty, and refused until you do. Contexts that
    the claim names are taken from the registry. With --replay FILE, Caveat fills in what that replay says: tasks, contexts, samples,
    scorer, model, sampling, budget, and how the deployment contexts were made. A … is left for what only you can say.

    With --from-traffic, the tasks are conversations that were sampled with known probabilities. Each is cut before an answer; both sides
    continue the same words, the deployment side as they were and the test side in the evaluation's frame. docs/prefixes.md describes it.
    """
    from audit.cli.audit_draft import compose_draft, find_contexts, read_known
    from audit.protocol.audit_record import get_claim, get_property
    from audit.replay.replay_file import read_replay

    traffic = _read_traffic(replay, options)
    with app.view() as view:
        claim = get_claim(view, str(claim_id))
        body = get_property(view, claim)
        contexts = find_contexts(view, claim)
        is_file = replay is not None and (replay.is_file() or replay.suffix in (".yaml", ".yml", ".json"))
        known = read_known(replay, read_replay(replay, view, owner=app.config.authority)) if replay and is_file else None
    if replay is not None and known is None:
        _write_replay(app, replay, claim, body, contexts, traffic=traffic)
        return
    draft = compose_draft(claim, body, replay=known)
    if app.json:
        from registry.cli.terminal_output import print_json
        from registry.codec.file_io import parse_document

        print_json(cast("dict[str, Any]", parse_document(draft, where="audit new")))
    else:
        click.echo(draft, nl=False)


@examples("audit lock audit.yaml --dry-run", "audit lock audit.yaml", "audit lock audit.yaml --seal --yes")
@audit.command()
@click.argument("file", type=_AUDIT_FILE)
@click.option("--seal", is_flag=True, help="Seal the context files of the replay first: the lock holds their commitments, no texts.")
@click.option("--dry-run", is_flag=True, help="Report all faults of FILE at once; record nothing.")
@click.option("--endpoint-name", metavar="NAME", help="Record first that endpoints return the claim's model version as NAME.")
@yes_option
@pass_app
def lock(app: App, *, file: Path, seal: bool, dry_run: bool, endpoint_name: str | None, yes: bool) -> None:
    """Fix a plan before its run; a lock cannot be changed.

    Fixed are the claim's revision, limit θ, direction, margin, level and interval method. As far as FILE or the claim names them:
    contexts, tasks, scoring, cues, model, budget, stopping and exclusion rules, and the replay file with all its files. Caveat names
    what is not fixed, here and in the supplement. On a terminal you are asked to confirm; scripts give --yes.

    A run establishes a verdict only if its responses name the claim's model version. If no such endpoint name is recorded, you are asked
    whether the model of the plan is it; scripts give --endpoint-name. It is recorded as caveat model endpoint does.
    """
    from audit.cli.audit_draft import inspect_draft
    from audit.cli.audit_presenter import list_lock_warnings, present_lock
    from audit.protocol.audit_record import count_locks, get_claim

    if seal and dry_run:
        raise click.UsageError("--dry-run records nothing, and --seal records commitments; give one of them")
    reading = inspect_draft(file, locked=True)

    def work(writer: "Writer") -> "tuple[AuditFile, bool, tuple[int, int], ClaimRevision]":
        if endpoint_name is not None and reading.draft is not None:
            _state_name(app, writer, reading.draft.claim, endpoint_name)
        opened, is_new = _open_reading(writer, reading, auditor=app.config.authority, locked=True, folder=file.parent)
        return opened, is_new, count_locks(writer, opened), get_claim(writer, opened.audit.payload.claim)

    if not dry_run and not reading.faults:
        if endpoint_name is None and not yes and app.is_interactive:
            endpoint_name = _ask_name(*record(app, work, dry_run=True))
        app.confirm(f"Lock the plan in {file.name} for good?", yes=yes)
    if seal and reading.draft is not None and not reading.faults:
        _seal_replay(app, file, reading.draft)
    opened, is_new, (others, waiting), claim = record(app, work, dry_run=dry_run)
    if others:
        audits = "1 other locked audit" if others == 1 else f"{others} other locked audits"
        app.say(f"warning: {audits} of this claim, {waiting} without an outcome; the supplement counts {'it' if others == 1 else 'them'}")
    for warning in list_lock_warnings(file, claim.model, opened):
        app.say(f"warning: {warning}")
    named = reading.draft.replay if reading.draft else None
    app.report(present_lock(opened, is_new=is_new, dry_run=dry_run, replay=file.parent / named if named else None))


def _ask_name(opened: "AuditFile", _is_new: bool, _counts: "tuple[int, int]", claim: "ClaimRevision") -> str | None:  # noqa: FBT001
    """Ask whether the model of the plan is the claim's, where no name says so; return its name, or None."""
    planned = opened.lock.payload if opened.lock else None
    if planned is None or planned.endpoint_names or planned.model is None:
        return None
    question = f"No endpoint name is recorded for {claim.model}. Record that endpoints return it as {planned.model}?"
    return planned.model if click.confirm(question, err=True) else None


def _state_name(app: App, writer: "Writer", claim_id: str, name: str) -> None:
    """Record *name* as an endpoint name of the claim's model version; a name that is recorded already changes nothing."""
    from audit.protocol.audit_record import get_claim
    from registry.registration.model_lineage import state_endpoint

    claim_model = get_claim(writer, claim_id).model
    if name not in {endpoint_name.name for endpoint_name in writer.list_endpoint_names(claim_model)}:
        reason = f"Stated when the plan for {claim_id} was locked"
        entry = state_endpoint(writer, claim_model, name, actor=app.config.authority, reason=reason).entry
        app.say(f"endpoint name: endpoints return {claim_model} as {name} (entry {entry})")


def _open_reading(writer: "Writer", reading: "DraftReading", *, auditor: str, locked: bool, folder: Path) -> "tuple[AuditFile, bool]":
    """Return the audit of a file and whether it is new; raises InputError with the faults of the file and of all it refers to."""
    from audit.protocol.audit_record import open_audit

    faults = list(reading.faults)
    if reading.draft is not None:
        try:
            opened = open_audit(writer, reading.draft, auditor=auditor, locked=locked, folder=folder)
        except CaveatError as error:
            # An error that is about more than the file, such as a plan that is locked already, keeps its kind.
            if not faults:
                raise
            faults += error.faults
        else:
            if not faults:
                return opened
    raise InputError(list(dict.fromkeys(faults)))


def _seal_replay(app: App, file: Path, draft: "AuditDraft") -> None:
    from audit.cli.run_session import seal_replay

    if draft.replay is None:
        problem = "the audit file names no replay, so there are no context files to seal"
        raise InputError(Fault("bad-option", "--seal", problem, advice="name the replay file in it (replay: replay.yaml)"))
    seal_replay(app, file.parent / draft.replay)


@examples("audit open audit.yaml --dry-run", "audit open audit.yaml")
@audit.command("open")
@click.argument("file", type=_AUDIT_FILE)
@click.option("--dry-run", is_flag=True, help="Report all faults of FILE at once; record nothing.")
@pass_app
def open_(app: App, /, *, file: Path, dry_run: bool) -> None:
    """Open an audit without a lock, to record findings in it.

    caveat analyze ablation, caveat analyze judge and caveat audit rate answers record their findings with --audit AUD-…. caveat audit
    conclude of the same FILE takes them into account. A locked audit is open already.
    """
    from audit.cli.audit_draft import inspect_draft

    reading = inspect_draft(file, locked=False)
    _describe_blanks(app, reading.blanks)

    def work(writer: "Writer") -> "tuple[AuditFile, bool]":
        return _open_reading(writer, reading, auditor=app.config.authority, locked=False, folder=file.parent)

    opened, is_new = record(app, work, dry_run=dry_run)
    name, claim = opened.audit.payload.audit, opened.audit.payload.claim
    document = {"schema": "caveat/audit-open/1", "audit": None if dry_run and is_new else name, "claim": claim, "new": is_new}
    if dry_run:
        app.answer({**document, "dry_run": True}, f"{file} has no faults: an audit of {claim}. Nothing was recorded.")
        return
    app.answer(
        {**document, "dry_run": False},
        f"{'Opened' if is_new else 'Open already:'} {name} for {claim}, without a lock.\n"
        f"Next: record findings with --audit {name}, then: caveat audit conclude {file} [TABLE...]",
    )


@examples(
    "audit evidence AUD-LAB-2026-0001-1 published.yaml",
    "audit evidence AUD-LAB-2026-0001-1 result.dsse.json --key evaluator.pem",
)
@audit.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("file", type=FILE)
@click.option("--key", "keys", multiple=True, metavar="VKEY|FILE",
              help="FILE is an in-toto attestation: the signer's public key (PEM or verifier key).")  # fmt: skip
@click.option("--subject", type=FILE, help="With --key: the file that the attestation must be about.")
@pass_app
def evidence(app: App, *, audit_id: Identifier, file: Path, keys: tuple[str, ...], subject: Path | None) -> None:
    """Record reported evidence in an open audit.

    FILE lists evidence that was published or measured elsewhere, as `evidence:` in an audit file (caveat admin schema evidence). The audit
    has no lock: what is reported can restrict a claim and never establish a verdict. The same evidence again changes nothing.

    With --key, FILE is a signed in-toto attestation (eval-result v0.2 or test-result v0.1, in DSSE). Its signature is checked with the key,
    which you got from the signer. Its content stays the signer's word: it is recorded in words, and a result that it calls passed is none
    here. Fields that are not read are listed.
    """
    from audit.protocol.audit_record import add_evidence

    if subject is not None and not keys:
        raise click.UsageError("--subject goes with --key")
    pieces, unread = _read_attested(file, keys, subject) if keys else (_read_reported(file), ())
    with app.ledger.write(actor=app.config.authority) as writer:
        added = add_evidence(writer, audit_id.bare, pieces)
    entries = [statement.entry.seq for statement in added]
    done = f"Recorded {len(added)} of {len(pieces)} in {audit_id.bare}." if added else "Nothing is new; nothing was recorded."
    if unread:
        app.say(f"not read: {', '.join(unread)}")
    app.answer(
        {"schema": "caveat/audit-evidence/1", "audit": audit_id.bare, "entries": entries, "unread": list(unread)},
        f"{done}\nNext: caveat audit conclude {audit_id.bare}",
    )


def _read_reported(file: Path) -> "tuple[Evidence, ...]":
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.claim_draft import EvidenceDraft

    return from_document(EvidenceDraft, read_document(file), where=str(file)).evidence


def _read_attested(file: Path, keys: Sequence[str], subject: Path | None) -> "tuple[tuple[Evidence, ...], tuple[str, ...]]":
    import hashlib

    from audit.sources.attestation import read_attestation
    from registry.codec.file_io import read_text
    from registry.seal.dsse_envelopes import read_envelope_keys

    digest = None if subject is None else hashlib.sha256(subject.read_bytes()).hexdigest()
    attestation = read_attestation(read_text(file), read_envelope_keys(keys), where=str(file), subject=digest)
    return (attestation.evidence,), attestation.unread


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
    from audit.protocol.audit_record import find_opposed, list_reporting

    with app.ledger.write(actor=app.config.authority) as writer:
        file, draft = _open_target(app, writer, target)
        evidence = _read_evidence(writer, file, sources, options) if sources else None
        scored = _build_scored(evidence, file, options, draft) if evidence else None
        concluded = record(writer, file, scored)
        items = list_reporting(writer, concluded)
        opposed = find_opposed(writer, concluded)
    imported = evidence.imported if evidence else None
    for line in describe_warnings(imported, now=app.config.now()) if imported else ():
        app.say(line)
    for departure in concluded.found:
        app.say(f"warning: deviates from the lock: {departure.item.words}: {departure.done}; planned: {departure.planned}")
    if concluded.found:
        app.say(f"explain it: caveat audit deviate {concluded.audit} {concluded.found[0].item.value} --reason …")
    app.report(present_concluded(concluded, imported, items=items, opposed=opposed))


@examples("audit list", "audit list --as-of 2026-11-01 --json")
@audit.command("list")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput) -> None:
    """List audits with their verdicts.

    Columns: log, audit, claim, auditor, locked_at, verdict, verdict_standing, class, standing, mode, basis, valid_until, expired,
    withdrawn, outcome.
    """
    from audit.cli.audit_presenter import describe_listed, list_audit_columns, summarise_audit
    from registry.present.listings import Listing

    rows = []
    for log, view in app.views(by_clock=True):
        files = view.list_audits()
        counted = view.find_counted(file.audit.payload.claim for file in files)
        rows += [
            {
                "log": log,
                **summarise_audit(file, counted, today=view.today),
                "outcome": describe_listed(file, counted, today=view.today),
            }
            for file in files
        ]
    listing = Listing(
        document={"schema": "caveat/audits/1"}, field="audits", rows=rows,
        describe=lambda row: {name: value for name, value in row.items() if name != "outcome"},
        columns=list_audit_columns(is_all=app.log == ALL_LOGS), none="No audits. Next: caveat audit new CLAIM > audit.yaml",
    )  # fmt: skip
    output.report(listing)


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
    from registry.report.claim_outcome import find_current_identity
    from registry.report.minimum_reporting import build_audit_items

    with app.view(by_clock=True) as view:
        file = get_audit(view, audit_id.bare)
        dossier = view.dossier(file.audit.payload.claim)
        asked_now = find_current_identity(file, view.list_endpoint_names(), get_claim(view, file.audit.payload.claim).model)
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


def _read_traffic(replay: Path | None, options: Mapping[str, Any]) -> "TrafficDraft | None":
    from audit.cli.audit_draft import TrafficDraft
    from audit.replay.traffic_file import read_traffic
    from registry.records.specification import ContextSource
    from registry.registration.context_specification import digest_file

    path, source, sampler = (options[name] for name in ("traffic", "source", "sampler"))
    if path is None:
        if source or sampler:
            raise click.UsageError("--source and --sampler go with --from-traffic")
        return None
    if replay is None or replay.is_file() or source is None:
        raise click.UsageError("--from-traffic needs a new folder (--replay DIR) and --source")
    sample = read_traffic(path, seed=options["seed"])
    digest = None if sampler is None else digest_file(sampler)
    return TrafficDraft(sample=sample, source=ContextSource(source), seed=options["seed"], sampler=digest)


def _write_replay(
    app: App, folder: Path, claim: "ClaimRevision", body: "PropertySpec", contexts: "NamedContexts", *, traffic: "TrafficDraft | None"
) -> None:
    from audit.cli.audit_draft import write_replay

    written = [str(path) for path in write_replay(folder, claim, body, contexts, traffic=traffic)]
    rule = DESIGN_RULE if traffic is None else traffic.sample.describe(seed=traffic.seed, sampler=traffic.sampler)
    app.answer(
        {"schema": "caveat/audit-new/1", "claim": claim.reference, "files": written},
        f"{rule}\n" + "\n".join(written) + f"\nNext: fill them in; caveat audit run {folder}/replay.yaml --dry-run says what is missing.\n"
        f"Then: caveat audit lock {folder}/audit.yaml, write the AUD-… that it prints into replay.yaml, and run without --dry-run.",
    )


def _open_target(app: App, writer: "Writer", target: str) -> "tuple[AuditFile, AuditDraft | None]":
    """Return the audit that *target* names, or the one that the file describes, recorded if it is not yet."""
    from audit.protocol.audit_record import get_audit, open_audit

    if target.startswith("AUD-"):
        return get_audit(writer, AUDIT.convert(target, None, None).bare), None
    path = Path(target)
    if not path.is_file():
        problem = "is neither an audit (AUD-…) nor a file"
        is_claim = target.startswith("CLM-")
        new = f"caveat audit logs test=LOG deploy=LOG --claim {target}; with a plan of your own: caveat audit new {target} > audit.yaml"
        advice = new if is_claim else "caveat audit list shows the audits"
        raise InputError(Fault("file-not-readable", target, problem, advice=advice))
    draft = _read_draft(app, path)
    return open_audit(writer, draft, auditor=app.config.authority, locked=False, folder=path.parent)[0], draft


def _read_draft(app: App, path: Path) -> "AuditDraft":
    """Return the audit in *path*; what its template left open counts as not stated, and that is said."""
    from audit.cli.audit_draft import read_draft

    draft, left_open = read_draft(path, locked=False)
    _describe_blanks(app, left_open)
    return draft


def _describe_blanks(app: App, blanks: "Sequence[str]") -> None:
    if blanks:
        app.say(f"not filled in, so not stated: {', '.join(blanks)}")


def _read_evidence(writer: "Writer", file: "AuditFile", sources: tuple[str, ...], options: dict[str, Any]) -> ImportedEvidence:
    from audit.protocol.audit_record import get_claim, get_property
    from registry.records.analysis_plan import IntervalMethod
    from registry.registration.specification_registration import find_locked_procedure, find_procedure

    claim = get_claim(writer, file.audit.payload.claim)
    low, high = get_property(writer, claim).range
    locked = find_locked_procedure(writer, file.lock.payload) if file.lock else None
    scorer = locked or find_procedure(writer, claim)
    plan = (file.lock or file.audit).payload.plan
    seed = plan.seed if plan.interval is IntervalMethod.ANYTIME else None
    evidence = read_evidence(*build_reading(sources, options), low=low, high=high, scorer=scorer, prefix_seed=seed)
    if evidence.audits and file.audit.payload.audit not in evidence.audits:
        problem = f"the replay answers to {', '.join(evidence.audits)}"
        advice = f"caveat audit conclude {evidence.audits[0]} {sources[0]}"
        raise ConflictError(Fault("wrong-audit", file.audit.payload.audit, problem, advice=advice))
    return evidence


def _build_scored(evidence: ImportedEvidence, file: "AuditFile", options: dict[str, Any], draft: "AuditDraft | None") -> "ScoredTable":
    from audit.protocol.evidence_basis import ScoredTable
    from audit.replay.replay_provenance import withhold_prompts
    from audit.score.run_evidence import count_unanswered
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document

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
        problem = f"{text!r} is not an ISO 8601 date or time such as 2026-11-21 or 2026-11-21T12:00:00Z"
        raise InputError(Fault("bad-date", "--run-date", problem)) from error
    # Its first second lies before the lock, and scores once recorded as post hoc stay so.
    if file.lock and logged is None and len(text) <= len("2026-11-21") and moment.date() == file.lock.entry.at.date():
        problem = f"{text} is the day of the lock, made at {file.lock.entry.at:%H:%M:%S} UTC; without a time, it is open which came first"
        raise InputError(Fault("bad-date", "--run-date", problem, advice=f"give the time too: {text}T12:00:00Z"))
    return moment


@examples('audit withdraw AUD-LAB-2026-0001-1 -m "the scores were of another model" --yes')
@audit.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@reason_option("Why; it stays in the record.")
@yes_option
@pass_app
def withdraw(app: App, *, audit_id: Identifier, reason: str, yes: bool) -> None:
    """Withdraw an audit of yours. You cannot undo this.

    The audit stays in the log and is listed as withdrawn, with the reason. A verdict that favours the claim no longer counts. An
    adverse one is shown, as provisional, until another audit has a verdict; that is provisional too, and names the withdrawn audit.
    On a terminal you are asked to confirm; scripts give --yes.
    """
    with refusing("--reason"):
        withdrawal = AuditWithdrawal(audit=audit_id.bare, reason=reason)
    app.confirm(f"Withdraw {audit_id.bare} for good?", yes=yes)
    with app.ledger.write(actor=app.config.authority) as writer:
        entry = writer.append(withdrawal)
        claim = writer.find_audited([withdrawal.audit])[withdrawal.audit]
    app.answer(
        {"schema": "caveat/audit-withdraw/1", "audit": withdrawal.audit, "entry": entry.seq},
        f"{withdrawal.audit}: withdrawn, recorded as entry {entry.seq}.\nNext: caveat claim show {claim}",
    )


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
